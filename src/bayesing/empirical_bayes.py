"""The estimator of the hyperparameters, in scikit-learn's clothes."""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable
from contextlib import suppress
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator
from sklearn.utils.validation import check_is_fitted, validate_data

from .arguments import Seed, numbers
from .diagnosis import Phase, at_bound, diagnose, regime
from .exceptions import BoundWarning, LaplaceWarning, SaturationWarning
from .moments import SpinMoments, largest_pair_sum, moments_of
from .priors import check_prior_name, laplace_equals_gaussian, xi
from .replica import NEAR, field, field_error, mean_coupling, site_fields, stability
from .spins import as_spins
from .strength.inversion import fit_inversion
from .strength.plefka import PlefkaFit, evidence, fit_plefka, plefka_errors
from .strength.pseudolikelihood import PseudolikelihoodFit, fit_pseudolikelihood
from .strength.pseudolikelihood import score_at as regression_score
from .strength.spectral import SpectralFit, fit_spectral
from .strength.spectral import score_at as spectral_score
from .strength.susceptibility import fit_susceptibility
from .threads import threads_for
from .types import Spins

if TYPE_CHECKING:
    from .calibration import Interval, Progress

METHODS = ("auto", "plefka", "susceptibility", "spectral", "inversion", "pseudolikelihood")
FROM_MOMENTS = ("auto", "plefka", "susceptibility")  # methods that do not need the spins themselves
FIELDS = ("auto", "uniform", "sites")
EVIDENCE = {
    "spectral": "curve",
    "plefka": "surface",
}  # methods with an evidence, and what it is: see evidence_kind_

_LARGEST_SPECTRUM = 5000  # min(n, N) up to which an eigendecomposition is a matter of a minute
_RUNAWAY, _FEW = 1.2, 12  # J over that of "pseudolikelihood", of so many spins
_MOST_WORK, _TARGETS = 1e10, 64  # multiplications for regressions of all spins; beyond, so many random ones


class Estimate(NamedTuple):
    """What every method gives."""

    gamma: float
    gamma_error: float
    H: float
    H_error: float
    J0: float = 0.0
    J0_error: float = 0.0
    bound: float | None = None


class EmpiricalBayes(BaseEstimator):
    """How strong are the couplings behind these spins? Infer gamma = J^2 and H from binary data.

    Rows are taken to be independent samples, in the estimates and in their errors.

    Parameters
    ----------
    method : {"auto", "spectral", "susceptibility", "inversion", "pseudolikelihood", "plefka"}
        "spectral" maximises the evidence summed over all ring diagrams, from the eigenvalues of the correlation
        matrix, and is the most precise; "susceptibility" is a closed form in moments, unbiased for any N and
        any fields; both hold up to the spin glass (J = 1 where H = 0). "inversion" inverts the correlation
        matrix, for N of several n, and "pseudolikelihood" regresses each spin on the others; they go on
        beyond. "plefka" is the paper's closed form (Yasuda and Obuchi, arXiv:1906.06002), whose answer depends
        on N. "auto" takes "spectral"; "susceptibility" for moments, for a Laplace prior and where both n and N
        are above 5000; "plefka" for fewer than 4 samples; and "inversion" at the spin glass and beyond (1 - gamma r
        < 0.05 where N >= 3n, < 0.3 where N >= 10n). ``reason_`` says why.
    prior : {"gaussian", "laplace"}
        Prior of the couplings, of variance gamma/n. "susceptibility" and "inversion" hold for both. "plefka"
        gives the Gaussian result for both and warns (:class:`LaplaceWarning`) where the condition for that is
        violated.
    mean_coupling : bool
        Whether to estimate a mean coupling J0/n, with "spectral", "susceptibility" or "inversion".
    random_state : int, Generator or None
        For "pseudolikelihood" of many spins, which uses 64 random ones.

    Attributes
    ----------
    gamma_, J_, H_ : float
        The estimates; J is the square root of gamma. With "plefka" they are infinite where the evidence has no
        maximum.
    gamma_error_, J_error_, H_error_ : float
        Standard errors: over data sets of the same size and strength, with other couplings.
    J0_, J0_error_ : float
        Mean coupling; 0.0 unless estimated.
    at_distance_ : float
        1 - gamma r, the distance to the spin glass: 1 without couplings, negative inside.
    regime_ : str
        The same in words, and what it means for the estimate.
    method_, reason_ : str
        The method used, and why.
    case_ : {"zero", "interior", "infinite"} or None
        "plefka" only: where the evidence has its maximum in gamma.
    moments_ : SpinMoments
        Moments of the data.
    n_features_in_, feature_names_in_
        As everywhere in scikit-learn; names where the data had any.

    Examples
    --------
    >>> import bayesing as bs
    >>> sim = bs.simulate(n_spins=200, n_samples=80, J=0.5, seed=0)
    >>> eb = bs.EmpiricalBayes().fit(sim.spins)
    >>> print(f"J = {eb.J_:.2f} ± {eb.J_error_:.2f} by {eb.method_}; {eb.regime_}")
    J = 0.49 ± 0.02 by spectral; paramagnet
    """

    def __init__(
        self,
        method: str = "auto",
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
        if self.method not in FROM_MOMENTS:
            raise ValueError(
                f'method="{self.method}" needs the spins themselves: use fit(X), or "susceptibility" for moments.'
            )
        self._fit(moments, None)
        self.n_features_in_ = moments.n
        if hasattr(self, "feature_names_in_"):
            del self.feature_names_in_
        return self

    def evidence(self, H: ArrayLike, gamma: ArrayLike) -> NDArray[np.float64]:
        """Log evidence per spin and sample, for arrays that broadcast.

        "plefka": L_EB(H, gamma) of the paper, NaN where it does not exist. "spectral": a function of gamma
        alone, whatever H, relative to gamma = 0; ``gamma_`` lies above its maximum, since it is corrected for
        what is left out of it.
        """
        check_is_fitted(self)
        if isinstance(self._record, PlefkaFit):
            return evidence(H, gamma, self.moments_)
        if isinstance(self._record, SpectralFit):
            strengths = np.broadcast_arrays(numbers("H", H), numbers("gamma", gamma, least=0))[1]
            curve = np.vectorize(self._record.evidence, otypes=[float])(strengths)
            return np.asarray(curve / (self.moments_.n * self.moments_.N))
        raise ValueError(f'method="{self.method_}" has no evidence to show: use "spectral" or "plefka".')

    @property
    def evidence_kind_(self) -> str | None:
        """What :meth:`evidence` is: a "curve" in gamma, a "surface" over H and gamma, or None where there is none."""
        check_is_fitted(self)
        return EVIDENCE.get(self.method_)

    def interval(
        self,
        level: float = 0.9,
        n_simulations: int = 200,
        seed: Seed = 0,
        fields: str = "auto",
        statistic: Callable[[Spins], Any] | None = None,
        progress: Progress | None = None,
    ) -> Interval:
        """Intervals of J and H that cover, and the estimates without bias, by simulation of such data.

        Data sets of the same size are simulated at trial values, and the test whether they look like ours is
        inverted: see :mod:`bayesing.calibration`. What is looked at is the method's own estimate or score; where
        "auto" was asked for and the spin glass is near, the scores of both "spectral" and "pseudolikelihood".

        ``fields`` says whether the simulated fields are "uniform" or fitted to the single "sites"; "auto" decides by
        their spread. ``statistic`` is any function of spins that changes with J, one number or several, in place of
        the method's. ``progress`` is called with the number of simulations done and of all. They run in parallel
        under ``joblib.parallel_config(n_jobs=...)``.

        >>> import bayesing as bs
        >>> eb = bs.EmpiricalBayes().fit(bs.simulate(60, 50, J=0.6, H=0.2, seed=1).spins)
        >>> found = eb.interval(n_simulations=60)
        >>> found.J[0] < 0.6 < found.J[1] and found.H[0] < 0.2 < found.H[1]
        True
        """
        from .calibration import Point, Setting, calibrate, see  # and with it the samplers

        check_is_fitted(self)
        if fields not in FIELDS:
            raise ValueError(f"fields must be one of {', '.join(FIELDS)}: found {fields!r}.")
        m = self.moments_
        if m.N < 4:
            raise ValueError(f"An interval needs at least 4 samples: found {m.N}.")
        gamma, gamma_error, H, H_error = self._start()
        if statistic is not None and self._spins is None:
            raise ValueError("statistic needs the spins themselves: use fit(X) instead of fit_moments.")
        looked_at: Callable[[Any], Any] = statistic or self._statistic(gamma)
        sites, differ = site_fields(m, gamma, self.J0_)
        pattern = None
        if fields == "sites" or (fields == "auto" and differ):
            pattern, H = tuple((sites - sites.mean()).tolist()), float(sites.mean())
        observed = np.append(looked_at(m), m.M) if self._spins is None else see(looked_at, self._spins)
        setting = Setting(m.n, m.N, stability(m), self.J0_, pattern)
        start, error = Point(gamma, H), Point(gamma_error, H_error)
        found = calibrate(looked_at, observed, setting, start, error, level, n_simulations, seed, progress)
        if math.isinf(found.J[1]):
            self._warn(f"{found.note[0].upper()}{found.note[1:]}.", SaturationWarning)
        return found

    def _start(self) -> tuple[float, float, float, float]:
        """First estimates with as little bias as possible, each with its error."""
        m = self.moments_
        gamma, error, H, H_error = self.gamma_, self.gamma_error_, self.H_, self.H_error_
        if self.method_ in ("plefka", "pseudolikelihood"):
            other = fit_susceptibility(m) if self._spins is None else fit_spectral(self._spins)
            gamma, error = other.gamma, other.gamma_error
            H, H_error = field(m, gamma), field_error(m, gamma, error)
        error = error if error < 1 else 1.0
        H_error = H_error if math.isfinite(H_error) else 1.0
        if 1 - gamma * stability(m) < NEAR:  # the formulas for errors end here
            error *= 3
        return gamma, error, H, H_error

    def _statistic(self, gamma: float) -> Callable[[Any], Any]:
        """What rises with the gamma of the data it is computed from, and needs no search."""
        least = 1 / self.moments_.N  # a score needs gamma > 0
        spectral = partial(spectral_score, gamma=max(gamma, least), without_mean=self.mean_coupling)
        if self.method == "auto" and self.at_distance_ < NEAR and self._spins is not None:
            own = fit_pseudolikelihood(self._spins, _TARGETS, 0, gamma)
            return partial(_both_scores, spectral, max(own.gamma, least))
        if self.method_ == "spectral":
            return spectral
        if isinstance(self._record, PseudolikelihoodFit):
            return partial(regression_score, gamma=max(self._record.gamma, least), n_targets=_TARGETS)
        return {"plefka": _angle, "susceptibility": _susceptibility, "inversion": _inversion}[self.method_]

    def _check_parameters(self) -> None:
        if not isinstance(self.method, str) or self.method not in METHODS:
            raise ValueError(f"method must be one of {', '.join(METHODS)}: found {self.method!r}.")
        check_prior_name(self.prior)
        if self.mean_coupling and self.method in ("plefka", "pseudolikelihood"):
            raise ValueError(
                f'mean_coupling must be False with method="{self.method}", which cannot estimate it: found '
                f"{self.mean_coupling!r}."
            )
        if self.prior == "laplace" and self.method in ("spectral", "pseudolikelihood"):
            raise ValueError(
                f'prior must be "gaussian" with method="{self.method}": found "laplace". '
                '"susceptibility" and "inversion" hold for both.'
            )

    def _fit(self, moments: SpinMoments, spins: Spins | None) -> None:
        varying = int(np.count_nonzero(np.abs(moments.magnetisations) < 1))
        if varying < 2:
            raise ValueError(
                f"Expected at least 2 spins (columns) that vary between samples: found {varying} of {moments.n}, "
                "which says nothing about couplings."
            )
        method, reason = self._choose(moments, spins)
        record, estimate = self._estimate(method, moments, spins)
        if self.method == "auto" and method == "spectral" and _prefers_inversion(moments, estimate):
            with suppress(ValueError):  # of columns that follow from others
                record, estimate = self._estimate("inversion", moments, spins)
                method, reason = "inversion", "the most precise at the spin glass, with many samples"
        if method in ("spectral", "inversion") and self._runs_away(estimate, moments, spins):
            record, estimate = self._estimate("pseudolikelihood", moments, spins)
            method, reason = "pseudolikelihood", "deep in the spin glass, where the others run away"
        self._record, self._spins = record, spins
        self.moments_ = moments
        self.method_, self.reason_ = method, reason
        self.case_ = record.case if isinstance(record, PlefkaFit) else None
        self.gamma_, self.gamma_error_ = estimate.gamma, estimate.gamma_error
        self.J_, self.J_error_ = (
            math.sqrt(estimate.gamma),
            _error_of_root(estimate.gamma, estimate.gamma_error),
        )
        self.H_, self.H_error_ = estimate.H, estimate.H_error
        self.J0_, self.J0_error_ = estimate.J0, estimate.J0_error
        self._diagnose(estimate.bound)
        if self.prior == "laplace" and method == "plefka" and self.case_ != "infinite":
            self._check_laplace(moments, spins)

    def _choose(self, moments: SpinMoments, spins: Spins | None) -> tuple[str, str]:
        """The method and the reason: a rule on n, N and the parameters."""
        if self.method != "auto":
            return self.method, "as asked"
        if moments.N < 4:
            if self.mean_coupling:
                raise ValueError(f"mean_coupling=True needs at least 4 samples: found {moments.N}.")
            return "plefka", "the only method for fewer than 4 samples"
        if spins is None:
            return "susceptibility", "the most precise method that needs moments only"
        if self.prior == "laplace":
            return "susceptibility", "it holds for couplings of any prior"
        if min(moments.n, moments.N) > _LARGEST_SPECTRUM:
            return "susceptibility", f"an eigendecomposition beyond {_LARGEST_SPECTRUM} would take long"
        return "spectral", "the most precise method at every N"

    def _runs_away(self, estimate: Estimate, moments: SpinMoments, spins: Spins | None) -> bool:
        """Whether J is far above that of the regressions of a few spins.

        Deep in the spin glass a mode that hardly moves makes "spectral" and "inversion" several times too large, in
        one data set of three. "pseudolikelihood" is a fifth too large there, in all of them.
        """
        known = self.method != "auto" or estimate.bound is not None or self.mean_coupling
        if known or spins is None or estimate.gamma * stability(moments) < 1:
            return False
        with threads_for(moments.n):
            return estimate.gamma > _RUNAWAY**2 * fit_pseudolikelihood(spins, _FEW, 0).gamma

    def _estimate(self, method: str, moments: SpinMoments, spins: Spins | None) -> tuple[Any, Estimate]:
        """Run one method: its own record, and what all have in common."""
        if method == "plefka":
            plefka = fit_plefka(moments)
            gamma_error, H_error = plefka_errors(plefka, moments)
            return plefka, Estimate(plefka.gamma, gamma_error, plefka.H, H_error)
        if method == "susceptibility":
            closed = fit_susceptibility(moments, self.mean_coupling)
            return closed, Estimate(
                closed.gamma, closed.gamma_error, closed.H, closed.H_error, closed.J0, closed.J0_error
            )
        assert spins is not None
        if method in ("spectral", "inversion"):
            fit = fit_spectral(spins, self.mean_coupling) if method == "spectral" else fit_inversion(spins)
            J0, J0_error = mean_coupling(moments, fit.gamma) if self.mean_coupling else (0.0, 0.0)
            H = field(moments, fit.gamma, J0)
            H_error = field_error(moments, fit.gamma, fit.gamma_error, J0, J0_error)
            bound = fit.bound if isinstance(fit, SpectralFit) else None
            return fit, Estimate(fit.gamma, fit.gamma_error, H, H_error, J0, J0_error, bound)
        n, N = moments.n, moments.N
        few = None if n * n * N * min(n, N) <= _MOST_WORK else _TARGETS
        with threads_for(n):
            composite = fit_pseudolikelihood(spins, few, self.random_state)
        return composite, Estimate(
            composite.gamma, composite.gamma_error, composite.H, composite.H_error, bound=composite.bound
        )

    def _diagnose(self, bound: float | None) -> None:
        """Where the data lie relative to the spin glass, in a number, in words, and in a warning if need be."""
        m = self.moments_
        estimate = Estimate(self.gamma_, self.gamma_error_, self.H_, self.H_error_, bound=bound)
        self.diagnosis_ = found = diagnose(estimate, _Behaviour(self.method_), m)
        self.at_distance_, self.regime_ = found.distance, regime(found, self.method_)
        if self.case_ == "infinite":
            self._warn(
                "The evidence grows without bound in gamma, which is infinite, that is, unknown: the second "
                f"order of the expansion is not enough for N = {m.N} samples of n = {m.n} spins.",
                BoundWarning,
            )
        elif bound:
            self._warn(at_bound(bound, self.method_), BoundWarning)
        elif found.phase is Phase.EDGE:
            self._warn(
                f'The data lie {self.regime_}. Try "spectral" or, with many samples, "inversion".',
                SaturationWarning,
            )

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
        self._warn(
            "The Laplace prior gives the Gaussian result, which is what is reported, if xi = sqrt(2n/gamma) "
            f"> N max |d_ij - M^2|: found {xi(self.gamma_, n):.3g} and {bound}{largest:.3g}. "
            "Fewer samples meet the condition; otherwise take gamma as approximate.",
            LaplaceWarning,
        )

    def _warn(self, message: str, category: type[Warning]) -> None:
        warnings.warn(message, category, stacklevel=5)


class _Behaviour:
    def __init__(self, method: str) -> None:
        self.saturates = method in ("plefka", "susceptibility")
        self.biased = method in ("plefka", "pseudolikelihood")


def _both_scores(spectral: Callable[[Spins], float], gamma: float, spins: Spins) -> tuple[float, float]:
    """Their errors are opposite in the spin glass, so that together they say much more than each alone."""
    return spectral(spins), regression_score(spins, gamma, _TARGETS)


def _angle(data: Spins | SpinMoments) -> float:
    return fit_plefka(data if isinstance(data, SpinMoments) else moments_of(data)).angle


def _susceptibility(data: Spins | SpinMoments) -> float:
    return fit_susceptibility(data if isinstance(data, SpinMoments) else moments_of(data)).unclipped


def _inversion(spins: Spins) -> float:
    return fit_inversion(spins).unclipped


def _prefers_inversion(moments: SpinMoments, spectral: Estimate) -> bool:
    """Where "inversion" is more precise than "spectral", as measured in docs/accuracy.md."""
    n, N = moments.n, moments.N
    distance = 1 - spectral.gamma * stability(moments)
    return spectral.bound is None and distance < (0.3 if N >= 10 * n else 0.05 if N >= 3 * n else -math.inf)


def _error_of_root(gamma: float, error: float) -> float:
    """Standard error of sqrt(gamma): half the length of its image, so that it stays finite at 0."""
    if math.isinf(error):
        return math.inf
    return (math.sqrt(gamma + error) - math.sqrt(max(gamma - error, 0.0))) / 2
