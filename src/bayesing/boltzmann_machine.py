"""The estimator of couplings and fields, in scikit-learn's clothes."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike

from ._estimator import show
from ._exports import CouplingExports
from ._html import card
from .allowed import check_couplings
from .arguments import Seed
from .conditionals import fields_of, log_conditional
from .edges import FDR
from .entropy import entropy_of, log_partition_of, multi_information_of
from .generator import sample
from .inference import infer_couplings
from .ising import IsingModel
from .sampling.missing import log_conditionals_shown, padded, shown
from .statistics import SpinStatistics
from .types import Array, Heard, Spins

if TYPE_CHECKING:
    from .centrality import Centrality
    from .check import Check
    from .learning.certificate import Certificate

_MOST_SHOWN = 500  # spins up to which a line counts edges, which takes as many steps as there are pairs
_STRONGEST = 5  # couplings in a notebook


class BoltzmannMachine(CouplingExports):
    """Which couplings are behind these spins? Infer all J_ij and fields h_i from binary data, with errors.

    The strength of the prior, and so of the regularisation, is inferred from the same data: there is nothing to
    cross-validate. Rows are taken to be independent samples, in the estimates and in their errors, unless they are a
    ``series``.

    Parameters
    ----------
    method : str
        "auto" (see *Which method when*), or the name of one of :data:`bayesing.couplings.METHODS`.
    prior : {"gaussian", "laplace", "sparse"}
        Prior of the couplings, of variance gamma/n. "sparse" says which couplings (edges of the network) there are,
        each with a probability; its shape is inferred, too. "laplace" makes weak couplings exactly 0.
    gamma : "auto" or float
        Strength of the couplings. "auto" infers it by the method's own evidence.
    n_hidden : int or "auto"
        Number of hidden units, common causes that act on many spins at once; "auto" is as many as the evidence tells.
    series : bool
        Whether rows are in the order of time. If they remember those before them, the strength of the couplings is
        that of thinned data (:mod:`bayesing.thinned`), and all rows count as the ``effective_samples_`` they are
        worth.
    random_state : int, Generator or None
        Of methods that draw random numbers. None is a fixed choice.

    Attributes
    ----------
    couplings_ : array (n, n)
        Symmetric, 0 on the diagonal. Formed when asked for.
    coupling_errors_ : array (n, n)
        Their standard errors; that of gamma matters where it is of the size of gamma itself.
    edge_probabilities_ : array (n, n) or None
        With the sparse prior: that a coupling is not 0; that its sign is right, where a warning says so.
    false_sign_rates_ : array (n, n)
        Probability that a coupling is 0, or has the other sign.
    fields_ : array (n,)
        Fields, with a prior of variance 1 around those of independent spins (:mod:`bayesing.conditionals`).
    field_errors_ : array (n,) or None
        Their standard errors, of methods that have them.
    hidden_couplings_, hidden_coupling_errors_ : array
        Couplings of the spins to the hidden units, the strongest unit first, and their standard errors.
    hidden_fields_ : array
        Fields of the hidden units.
    check_ : bayesing.check.Check or None
        Whether samples of the model look like the data (``passed``), and a ``sentence``. None beyond 5000 spins.
    certificate_ : bayesing.learning.certificate.Certificate or None
        Whether the search of the true likelihood has arrived.
    gamma_ : float or None
        Strength of the prior; :class:`EmpiricalBayes` tells that of the couplings. None for methods without a prior.
    penalty_ : float or None
        Of half the squares J_ij^2 or, for the Laplace prior, of absolute values: n/gamma or sqrt(2n/gamma) for
        the likelihood, and twice that for the pseudo-likelihood.
    model_ : IsingModel
        Couplings and fields as a model; hidden units, if there are any, are its last spins.
    effective_samples_ : float
        Independent rows that would say as much of couplings: N, unless rows of a series remember.
    method_, reason_ : str
        The method used, and why.
    n_features_in_, feature_names_in_
        As everywhere in scikit-learn; names where the data had any.

    Examples
    --------
    >>> import bayesing as bs
    >>> sim = bs.simulate(n_spins=50, n_samples=500, J=0.6, seed=0)
    >>> bm = bs.BoltzmannMachine().fit(sim.spins)
    >>> best = bm.strongest(1)[0]
    >>> print(f"J_{best.i},{best.j} = {best.J:.2f} ± {best.error:.2f}; in truth {sim.couplings[best.i, best.j]:.2f}")
    J_3,19 = -0.25 ± 0.05; in truth -0.24
    """

    def __init__(
        self,
        method: str = "auto",
        prior: str = "gaussian",
        gamma: Any = "auto",
        n_hidden: Any = 0,
        series: bool = False,
        random_state: Any = None,
    ) -> None:
        self.method = method
        self.prior = prior
        self.gamma = gamma
        self.n_hidden = n_hidden
        self.series = series
        self.random_state = random_state

    def fit(
        self, X: ArrayLike | SpinStatistics, y: Any = None, *, progress: Heard | None = None
    ) -> BoltzmannMachine:
        """Infer couplings and fields from ``X``: rows are samples, columns spins (±1, 0/1 or bool).

        ``X`` may also be a :class:`SpinData`, or a :class:`SpinStatistics` of data that were never in memory at once;
        or a list of arrays, each a run of its own, such as a trial. Dask arrays and data frames are computed block by
        block.
        ``progress`` is called with how much is done and of how much, by methods that take long.
        """
        check_couplings(self.method, self.prior, self.gamma, self.n_hidden)
        data = SpinStatistics.of(X)
        self._answer = infer_couplings(
            data, self.method, self.prior, self.gamma, self.random_state, progress, self.n_hidden, self.series
        )
        show((*self._remember(X, data), *self._answer.warnings))
        return self

    @property
    def couplings_(self) -> Array:
        """J_ij."""
        return self._fitted.matrices[0]

    @property
    def coupling_errors_(self) -> Array:
        """Standard errors of J_ij."""
        return self._fitted.matrices[1]

    @property
    def edge_probabilities_(self) -> Array | None:
        """P(J_ij != 0) with the sparse prior, None with others."""
        return self._fitted.probabilities

    @property
    def false_sign_rates_(self) -> Array:
        """Probability that J_ij does not have the sign it is given."""
        return self._fitted.false_signs

    @property
    def fields_(self) -> Array:
        """h_i."""
        return self._fitted.couplings.fields

    @property
    def field_errors_(self) -> Array | None:
        """Standard errors of h_i, of methods that have them."""
        return self._fitted.field_errors

    @property
    def effective_samples_(self) -> float:
        """Independent rows that would say as much of couplings: N, unless rows of a series remember."""
        return self._fitted.effective_samples

    @property
    def certificate_(self) -> Certificate | None:
        """How well samples of the fit reproduce means and pairs of the data, of methods that sample."""
        return self._fitted.certificate

    @property
    def hidden_couplings_(self) -> Array:
        """W_ia, couplings of the spins to the hidden units (n, k)."""
        return self._fitted.hidden.couplings

    @property
    def hidden_coupling_errors_(self) -> Array:
        """Standard errors of W_ia."""
        return self._fitted.hidden.errors

    @property
    def hidden_fields_(self) -> Array:
        """c_a, fields of the hidden units (k,)."""
        return self._fitted.hidden.fields

    @property
    def check_(self) -> Check | None:
        """Whether samples of the model look like the data; None beyond 5000 spins."""
        return self._fitted.check

    def check(self, X: ArrayLike | SpinStatistics) -> Check:
        """Whether samples of the model look like other data than those of the fit."""
        from .check import check, thorough

        data = self._meet_again(X)
        worth = data.memory.worth if self.series else 1.0
        return check(self.model_, data, thorough(data.n), fields_of(data.sums, data.counts), worth)

    @property
    def gamma_(self) -> float | None:
        """Strength of the couplings; None for methods without a prior."""
        strength = self._fitted.strength
        return None if strength is None else strength.gamma

    @property
    def penalty_(self) -> float | None:
        """Of methods with a penalty."""
        return self._fitted.couplings.penalty

    @property
    def model_(self) -> IsingModel:
        """Couplings and fields as a model; hidden units are its last spins."""
        return self._fitted.model

    @property
    def is_cheap_(self) -> bool:
        """Whether more samples would cost little: the method does not search through them."""
        return not self._fitted.method.searches

    def score(self, X: ArrayLike, y: Any = None) -> float:
        """Mean log pseudo-likelihood of ``X`` per spin and sample: the mean of ln P(s_i | other spins).

        Of rows with missing cells, it is of the cells that are there, given the others that are.
        """
        data, model = self._meet_again(X), self.model_
        if data.missing or model.n_spins > data.n:
            spins = padded(data.spins(), model.n_spins)
            return float(log_conditionals_shown(model, spins).mean())
        s = data.spins().astype(np.float64)
        return float(log_conditional(s, s @ self.couplings_ + self.fields_).mean())

    def log_likelihood(self, X: ArrayLike, n_chains: int = 1000, seed: Seed = None) -> tuple[float, float]:
        """Mean log likelihood of ``X`` per sample in nats, and the standard error that ln Z gives it.

        Up to 20 spins it is exact, with the error 0. Beyond, ln Z is from annealed importance sampling with
        ``n_chains`` chains. Of rows with missing cells, it is that of the cells that are there.
        """
        data, model = self._meet_again(X), self.model_
        spins = padded(data.spins(), model.n_spins)
        log_partition, error = log_partition_of(model, n_chains, seed, self._fitted.base)
        if not data.missing and model.n_spins == data.n:
            return -float(model.energy(spins).mean()) - log_partition, error
        found = shown(model, spins, 0 if seed is None else seed)
        return float(found.log_weights.mean()) - log_partition, math.hypot(error, found.error)

    def impute(self, X: ArrayLike, seed: Seed = None) -> Array:
        """Probabilities of +1 of the missing cells (NaN) of ``X``, given the others of their row; (samples, n).

        Cells that are there have 0 or 1. Up to 10 missing cells in a row it is exact.
        """
        data, model = self._meet_again(X, keep_empty=True), self.model_
        found = shown(model, padded(data.spins(), model.n_spins), 0 if seed is None else seed)
        return found.up[:, : data.n]

    def entropy(self, n_chains: int = 1000, seed: Seed = None) -> tuple[float, float]:
        """Entropy of the fitted model in nats, and its standard error: exact up to 20 spins, as in log_likelihood."""
        k = self._fitted.n_hidden
        return entropy_of(self.model_, n_chains, seed, self._fitted.base, k)

    def multi_information(self, n_chains: int = 1000, seed: Seed = None) -> tuple[float, float]:
        """How much less entropy the fitted model has than independent spins with its means, and the standard error.

        In nats, 0 without couplings; exact up to 20 spins, as in log_likelihood.
        """
        k = self._fitted.n_hidden
        return multi_information_of(self.model_, n_chains, seed, self._fitted.base, k)

    def sample(self, n_samples: int, seed: Seed = None, beta: float = 1.0) -> Spins:
        """Spins drawn from the model at equilibrium, int8 (n_samples, n); ``beta`` is an inverse temperature."""
        spins = sample(self.model_, n_samples, seed=seed, beta=beta)
        return np.ascontiguousarray(spins[:, : self.n_features_in_])

    def centrality(self, n_draws: int = 100, level: float = 0.9, seed: Seed = None) -> Centrality:
        """How central each spin is: strength, expected influence and predictability, with intervals from draws."""
        from .centrality import centrality_of  # where it is needed, for kernels take time to load

        return centrality_of(self._fitted, self.names(), n_draws, level, seed)

    def _line(self) -> str:
        found = ""
        if self.n_features_in_ <= _MOST_SHOWN:
            best = self.strongest(1)[0]
            found = (
                f", {len(self.edges())} {self._told} of {self._pairs} pairs, "
                f"{best.name_i}-{best.name_j} the strongest ({best.J:+.2g} ± {best.error:.2g}),"
            )
        return f"{self.n_features_in_} spins{found} by {self._fitted.summary}"

    def _card(self, title: str) -> str:
        answer, n = self._fitted, self.n_features_in_
        facts = [("data", f"{answer.n_samples} samples of {n} spins"), ("method", answer.summary)]
        if self.check_ is not None:
            facts.append(("check", self.check_.sentence))
        if n > _MOST_SHOWN:
            return card(title, facts)
        wrong = "false" if self.edge_probabilities_ is not None else "wrong"
        share = f"{len(self.edges())} of {self._pairs} pairs (about {100 * FDR:g}% of them expected to be {wrong})"
        rows = [
            (each.name_i, each.name_j, f"{each.J:+.3f} ± {each.error:.3f}", f"{each.probability:.3f}")
            for each in self.strongest(_STRONGEST)
        ]
        return card(title, [*facts, (self._told, share)], ("strongest", "", "J", "probability"), rows)

    @property
    def _told(self) -> str:
        """What :meth:`edges` are: without a sparse prior no coupling is 0."""
        return "edges" if self.edge_probabilities_ is not None else "clear signs"

    @property
    def _pairs(self) -> int:
        return self.n_features_in_ * (self.n_features_in_ - 1) // 2
