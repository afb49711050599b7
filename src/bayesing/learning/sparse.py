r"""Couplings of which many are 0, on the true likelihood: expectation propagation beside the chains.

The prior, a mixture (:mod:`bayesing.mixture`), has been learned on the pseudo-likelihood, and so has the precision q
with which the data tell each coupling (:mod:`bayesing.couplings._sparse`). What the true likelihood adds is where the
couplings are: the mode under the sites :math:`\exp(-\tau J^2/2 + \nu J)` follows from the slopes of the chains, on a
quadratic likelihood (:mod:`~bayesing.learning.quadratic`). There a step of the length t leads to
:math:`(J_{\text{moved}} + t \nu)/(1 + t \tau)`. Each coupling is counted once, and

.. math:: b = [J (q + \tau) - \nu]/q

is what the data alone say of it. Given b and q, sites are found anew with every mode. Chains know the likelihood of
all rows. If a row is worth w independent ones, they get sites that are 1/w as strong.

Chains start from the couplings of the pseudo-likelihood: strong ones are right there, and the quadratic likelihood
would take long to find them. Where its model has other means than the data, because conditionals do not see how much
each of several states weighs, chains start from the mode of the Gaussian prior. The precisions q are not to be
believed then, sites stay what they are, and which couplings there are is what the pseudo-likelihood says.
"""

from __future__ import annotations

from functools import partial

import numpy as np

from ..ising import symmetric
from ..mixture import MixturePosterior, mixed
from ..types import Array
from .newton import Pair
from .quadratic import Quadratic

_DAMPING = 0.5  # share of the new site


class Sparse:
    """A mixture with sites for all pairs i < j, and what it says of them: ``known``."""

    def __init__(self, known: MixturePosterior, b: Array, worth: float = 1.0) -> None:
        self.known, self.worth = known, worth
        self.site = self.used = known.site()
        self.start: Pair = (symmetric(known.mean, len(b)), b)
        self.started = True

    def refuse(self) -> None:
        """Hear that chains cannot start from ``start``."""
        self.started = False

    def mode(
        self, quadratic: Quadratic, G: Array, g: Array, J: Array, b: Array, start: Array, gamma: float
    ) -> Pair:
        """Couplings and fields at the mode; then sites are made anew."""
        self.used = self.site
        tau, nu = (symmetric(part / self.worth, len(J)) for part in self.used)
        found = quadratic.mode(G, g, J, b, start, partial(_shrunk, tau, nu))
        if self.started:
            self._learn(found[0][np.triu_indices(len(J), 1)])
        return found

    def _learn(self, J: Array) -> None:
        (tau, nu), q = self.site, self.known.q
        self.known = self.known.prior.given((J * (q + tau) - nu) / q, q)
        self.site = mixed(self.known.site(), self.site, _DAMPING)

    def pull(self, J: Array, gamma: float) -> Array:
        """The slope of the log prior, by the sites of the last mode."""
        tau, nu = (symmetric(part / self.worth, len(J)) for part in self.used)
        return nu - tau * J


def _shrunk(tau: Array, nu: Array, moved: Array, t: Array) -> Array:
    """Couplings after a step of these lengths, under sites."""
    return np.asarray((moved + t * nu) / (1 + t * tau))
