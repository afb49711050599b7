"""All that the benchmarks take from inside the library, in one place, and fits that do not warn."""

from __future__ import annotations

import math
import warnings
from functools import lru_cache
from typing import Any

import numpy as np

import bayesing as bs
from bayesing.calibration import Ensemble, Point, _draw
from bayesing.check import check, quick, thorough
from bayesing.conditionals import fields_of, independent_fields
from bayesing.couplings.pseudolikelihood import maximise
from bayesing.diagnosis import MEAN, diagnose, doubts
from bayesing.entropy import log_partition_of
from bayesing.learning.mode import Learner
from bayesing.learning.phases import Data
from bayesing.sampling.restricted import anneal_restricted
from bayesing.strength import METHODS
from bayesing.strength.plefka import fit_plefka
from bayesing.strength.pseudolikelihood import score_per_spin
from bayesing.strength.spectral import SpectralFit, fit_spectral, score_per_pair
from bayesing.threads import workers
from bayesing.weak import signs_of
from bayesing.weighted import WeightedRows


def method_names() -> tuple[str, ...]:
    """Methods that infer J, without "auto", which takes one of them."""
    return tuple(method.name for method in METHODS)


def fitted(spins: np.ndarray, method: str = "auto", **parameters: Any) -> bs.EmpiricalBayes:
    """J and H by one method. Its warnings are left out: what they say is what a benchmark measures."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", bs.BayesingWarning)
        return bs.EmpiricalBayes(method, random_state=0, **parameters).fit(spins)


def uncorrected(spins: np.ndarray) -> float:
    """J at the maximum of the evidence of "spectral", without the correction for what is left out of it."""
    return math.sqrt(fit_spectral(bs.SpinStatistics.of(spins)).gamma_uncorrected)


def spectral_score(spins: np.ndarray, gamma: float) -> float:
    """Slope of the evidence of "spectral" in ln gamma."""
    return score_per_pair(bs.SpinStatistics.of(spins), gamma)


def regression_score(spins: np.ndarray, gamma: float, n_targets: int) -> float:
    """Slope of the evidence of "pseudolikelihood" in ln gamma."""
    return score_per_spin(bs.SpinStatistics.of(spins), gamma, n_targets)


def plefka_angle(spins: np.ndarray) -> float:
    """The paper's estimate of gamma as an angle, which goes on where gamma is infinite."""
    return fit_plefka(bs.SpinMoments.of(spins)).angle


def equilibrium(n: int, N: int, r: float, at: Point, seed: np.random.SeedSequence) -> np.ndarray:
    """A data set of given gamma and H as calibration simulates it, with r expected of the data."""
    return _draw(Ensemble(n, N, r=r), at, seed)[0]


def without_penalty(spins: np.ndarray) -> np.ndarray:
    """Couplings of largest pseudo-likelihood."""
    return maximise(WeightedRows.of(spins), 0.0)[0]


def gamma_at_mode(spins: np.ndarray) -> float:
    """The gamma that the mode of the true posterior tells by itself, without draws around it."""
    stats = bs.SpinStatistics.of(spins)
    with workers() as run:
        learner = Learner(Data.of(stats.kept), None, np.random.SeedSequence(0), run, stats.n)
        learner.approach(lambda share: None)
    return learner.gamma


def log_likelihood(model: bs.IsingModel, spins: np.ndarray, n_chains: int) -> tuple[float, float]:
    """Mean log likelihood of complete samples under a model, and its error by annealed importance sampling."""
    base = fields_of(spins.sum(axis=0, dtype=np.int64), len(spins))
    log_partition, error = log_partition_of(model, n_chains, 0, base)
    return -float(model.energy(spins).mean()) - log_partition, error


# What the cost of looking at an estimate is measured by


def spectral_alone(spins: np.ndarray) -> object:
    """The estimate of "spectral", from the data to its error, and nothing about it."""
    return fit_spectral(bs.SpinStatistics.of(spins))


def diagnosis_again(eb: bs.EmpiricalBayes) -> object:
    """All that is done to say whether the estimate can be trusted, once the data have been fitted."""
    answer, stats = eb._fitted, eb._data
    fit = fit_once(stats)
    return diagnose(answer.estimate, answer.method, stats.moments, doubts(signs_of(stats, fit, MEAN)))


@lru_cache(maxsize=1)
def fit_once(stats: bs.SpinStatistics) -> SpectralFit:
    """The fit that the diagnosis looks at."""
    return fit_spectral(stats)


def check_again(bm: bs.BoltzmannMachine, spins: np.ndarray) -> object:
    """The comparison of a fit with its data once more, as far as it is more work than the fit itself."""
    stats = bs.SpinStatistics.of(spins)
    effort = quick(stats.n, stats.N) if bm.is_cheap_ else thorough(stats.n)
    return check(bm.model_, stats, effort, bm._fitted.base)


def restricted_log_partition(model: bs.RestrictedModel, spins: np.ndarray) -> tuple[float, float]:
    """ln Z and its standard error: exact up to 20 hidden units, else by annealing from the means of some spins."""
    if model.is_exact:
        return model.log_partition(), 0.0
    base = independent_fields(spins.sum(axis=0), len(spins))
    _, value, error = anneal_restricted(model, base, n_chains=2000, temperatures=2000, seed=0)
    return value, error
