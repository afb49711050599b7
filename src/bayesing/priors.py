r"""Priors of the couplings, both with mean 0 and variance gamma/n (Eqs. 8 and 9 of the paper).

Gaussian: :math:`P(J_{ij}) = \sqrt{n/(2\pi\gamma)} \exp(-n J_{ij}^2/(2\gamma))`, an L2 penalty.
Laplace: :math:`P(J_{ij}) = (\xi/2) \exp(-\xi |J_{ij}|)` with :math:`\xi = \sqrt{2n/\gamma}`, an L1 penalty.

**When the Laplace prior gives the Gaussian result.** Averaging over Laplace couplings leaves, per pair,
:math:`-\ln\{1 - A_{ij}^2/\xi^2\}` with :math:`A_{ij} = \sum_a S_i^a S_j^a + N d_{ij}`; the Gaussian prior
leaves its first order, :math:`A_{ij}^2/\xi^2 = \gamma A_{ij}^2/(2n)`. The two agree while

.. math:: \xi > \max_{i<j} |A_{ij}|,

the paper's assumption (with the absolute value that its sign-less print leaves out), and to the extent that
:math:`A_{ij}^2/\xi^2` is small. At tau = -N replicas, with every spin at the magnetisation M about which the
method expands, :math:`A_{ij} = N (d_{ij} - M^2)`. That is what :func:`laplace_equals_gaussian` tests.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Literal, get_args

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .arguments import count
from .texts import did_you_mean

PriorName = Literal["gaussian", "laplace"]


@dataclass(frozen=True)
class Prior:
    """Distribution of one coupling in a system of ``n`` spins: mean 0, variance ``gamma / n``.

    >>> Prior("laplace", gamma=0.5, n=100).variance
    0.005
    """

    name: PriorName
    gamma: float
    n: int

    def __post_init__(self) -> None:
        check_prior_name(self.name)
        if not (self.gamma >= 0 and math.isfinite(self.gamma)):
            raise ValueError(f"gamma must be a finite number, 0 or more: found {self.gamma}.")
        count("n", self.n, 2)

    @property
    def variance(self) -> float:
        """Variance of one coupling, gamma/n."""
        return self.gamma / self.n

    def log_density(self, couplings: ArrayLike) -> NDArray[np.float64]:
        """Logarithm of the density at each of ``couplings``; it needs gamma > 0."""
        if self.gamma == 0:
            raise ValueError("The prior of gamma = 0 is a point mass and has no density: take gamma > 0.")
        J = np.asarray(couplings, dtype=np.float64)
        if self.name == "gaussian":
            return -0.5 * math.log(2 * math.pi * self.variance) - J**2 / (2 * self.variance)
        inverse_scale = xi(self.gamma, self.n)
        return math.log(inverse_scale / 2) - inverse_scale * np.abs(J)

    def draw(self, size: int, rng: np.random.Generator) -> NDArray[np.float64]:
        """Independent couplings."""
        if self.name == "gaussian":
            return rng.normal(0.0, math.sqrt(self.variance), size)
        return rng.laplace(0.0, math.sqrt(self.variance / 2), size)


def check_prior_name(name: str) -> None:
    """Raise a ValueError unless ``name`` is one of the priors."""
    if name not in get_args(PriorName):
        names = get_args(PriorName)
        raise ValueError(
            f"prior must be one of {', '.join(names)}: found {name!r}.{did_you_mean(name, names)}"
        )


def xi(gamma: float, n: int) -> float:
    """Inverse scale of the Laplace prior, sqrt(2n/gamma); infinite at gamma = 0."""
    return math.sqrt(2 * n / gamma) if gamma > 0 else math.inf


def laplace_equals_gaussian(gamma: float, n: int, largest_pair_sum: float) -> bool:
    """Whether ``xi > max |A_ij|``, given that maximum, ``N max_{i<j} |d_ij - M^2|``.

    >>> laplace_equals_gaussian(gamma=0.25, n=200, largest_pair_sum=39.0)
    True
    """
    return xi(gamma, n) > largest_pair_sum
