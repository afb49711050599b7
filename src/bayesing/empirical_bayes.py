"""The estimator of the hyperparameters, in scikit-learn's clothes."""

from __future__ import annotations

import math
import warnings
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator
from sklearn.utils.validation import check_is_fitted, validate_data

from .exceptions import BoundWarning, LaplaceWarning
from .hyper.plefka import evidence, fit_plefka
from .moments import SpinMoments, largest_pair_sum, moments_of
from .priors import check_prior_name, laplace_equals_gaussian, xi
from .spins import Spins, as_spins

METHODS = ("plefka",)


class EmpiricalBayes(BaseEstimator):
    """How strong are the couplings behind these spins? Infer gamma = J^2 and H from binary data.

    Parameters
    ----------
    method : {"plefka"}
        "plefka" is the paper's closed form (Yasuda and Obuchi, arXiv:1906.06002). Its answer depends on the
        number of samples: it is meant for about N = 0.4 n where H = 0, and for N of a few tens or less
        where not.
    prior : {"gaussian", "laplace"}
        Prior of the couplings, of variance gamma/n. "plefka" gives the Gaussian result for both and warns
        (:class:`LaplaceWarning`) where the condition for that is violated; see :mod:`bayesing.priors`.
    mean_coupling : bool
        Whether to estimate a mean coupling J0/n. "plefka" cannot.
    random_state : int, Generator or None
        For methods that draw random numbers. "plefka" does not.

    Attributes
    ----------
    gamma_, J_, H_ : float
        The estimates; J is the square root of gamma. Infinite where the evidence has no maximum.
    J0_ : float
        Mean coupling; 0.0 unless estimated.
    case_ : {"zero", "interior", "infinite"}
        Where the evidence has its maximum in gamma.
    method_ : str
        The method used.
    moments_ : SpinMoments
        What the data were reduced to.
    n_features_in_, feature_names_in_
        As everywhere in scikit-learn; names where the data had any.

    Examples
    --------
    >>> import bayesing as bs
    >>> sim = bs.simulate(n_spins=200, n_samples=80, J=0.5, seed=0)
    >>> eb = bs.EmpiricalBayes().fit(sim.spins)
    >>> print(f"J = {eb.J_:.2f}, {eb.case_}")
    J = 0.50, interior
    """

    def __init__(
        self,
        method: str = "plefka",
        prior: str = "gaussian",
        mean_coupling: bool = False,
        random_state: Any = None,
    ) -> None:
        self.method = method
        self.prior = prior
        self.mean_coupling = mean_coupling
        self.random_state = random_state

    def fit(self, X: ArrayLike, y: Any = None) -> EmpiricalBayes:
        """Infer the hyperparameters from ``X``: rows are samples, columns spins (±1, 0/1 or bool)."""
        self._check_parameters()
        spins = as_spins(X)
        self._fit(moments_of(spins), spins)
        validate_data(self, X, skip_check_array=True)  # records the number and names of the columns
        return self

    def fit_moments(self, moments: SpinMoments) -> EmpiricalBayes:
        """Infer the hyperparameters from moments, for data that were never in memory at once."""
        self._check_parameters()
        if not isinstance(moments, SpinMoments):
            raise ValueError(
                f"Expected SpinMoments, as from SpinMoments.of(X) or MomentAccumulator.moments(): found "
                f"{type(moments).__name__}."
            )
        self._fit(moments, None)
        self.n_features_in_ = moments.n
        if hasattr(self, "feature_names_in_"):
            del self.feature_names_in_
        return self

    def evidence(self, H: ArrayLike, gamma: ArrayLike) -> NDArray[np.float64]:
        """L_EB(H, gamma), per spin and sample, for arrays that broadcast; NaN where it does not exist."""
        check_is_fitted(self)
        return evidence(H, gamma, self.moments_)

    def _check_parameters(self) -> None:
        if not isinstance(self.method, str) or self.method not in METHODS:
            raise ValueError(f"method must be one of {', '.join(METHODS)}: found {self.method!r}.")
        check_prior_name(self.prior)
        if self.mean_coupling:
            raise ValueError(
                f'mean_coupling must be False with method="plefka", which cannot estimate it: found '
                f"{self.mean_coupling!r}."
            )

    def _fit(self, moments: SpinMoments, spins: Spins | None) -> None:
        result = fit_plefka(moments)
        self.moments_ = moments
        self.method_ = "plefka"
        self.case_ = result.case
        self.gamma_, self.J_ = result.gamma, math.sqrt(result.gamma)
        self.H_, self.J0_ = result.H, 0.0
        if result.case == "infinite":
            warnings.warn(
                "The evidence grows without bound in gamma, which is infinite, that is, unknown: the second "
                f"order of the expansion is not enough for N = {moments.N} samples of n = {moments.n} spins.",
                BoundWarning,
                stacklevel=3,
            )
        elif self.prior == "laplace":
            self._check_laplace(moments, spins)

    def _check_laplace(self, moments: SpinMoments, spins: Spins | None) -> None:
        n, N, M = moments.n, moments.N, moments.M
        largest = N * (1 + M**2)  # |d_ij| is at most 1
        if laplace_equals_gaussian(self.gamma_, n, largest):
            return
        if spins is not None:
            largest = largest_pair_sum(spins, M**2)
            if laplace_equals_gaussian(self.gamma_, n, largest):
                return
        bound = "up to " if spins is None else ""
        warnings.warn(
            "The Laplace prior gives the Gaussian result, which is what is reported, if xi = sqrt(2n/gamma) "
            f"> N max |d_ij - M^2|: found {xi(self.gamma_, n):.3g} and {bound}{largest:.3g}. "
            "Fewer samples meet the condition; otherwise take gamma as approximate.",
            LaplaceWarning,
            stacklevel=4,
        )
