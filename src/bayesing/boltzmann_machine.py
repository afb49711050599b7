"""The estimator of couplings and fields, in scikit-learn's clothes."""

from __future__ import annotations

import math
import warnings
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator
from sklearn.utils.validation import check_is_fitted, validate_data

from .arguments import Seed, count, number
from .conditionals import fit_fields, log_conditional
from .couplings._record import Couplings, no_couplings
from .couplings.exact import fit_exact
from .couplings.mean_field import independent_pair, naive_mean_field, tap
from .couplings.pseudolikelihood import PseudolikelihoodCouplings, fit_couplings
from .couplings.spectral import Posterior, posterior
from .exceptions import BoundWarning, NotConvergedWarning
from .generator import sample
from .ising import IsingModel
from .moments import stability_of
from .priors import check_prior_name
from .replica import NEAR
from .sampling.anneal import annealed_importance_sampling
from .spins import as_spins
from .strength.pseudolikelihood import fit_pseudolikelihood
from .strength.spectral import fit_spectral
from .threads import threads_for
from .types import Array, Spins

if TYPE_CHECKING:
    import pandas as pd


WITHOUT_PRIOR = {
    "naive_mean_field": naive_mean_field,
    "tap": tap,
    "independent_pair": independent_pair,
    "exact": fit_exact,
}
METHODS = ("auto", "pseudolikelihood", "spectral", *WITHOUT_PRIOR)
QUICK = "spectral"  # the method for data of any size: one decomposition of a matrix
THOROUGH = "pseudolikelihood"  # the method for strong couplings and for many samples: a search
SEARCHING = (THOROUGH, "exact")  # methods whose every step goes through all samples

STRONG = 0.5  # a standardised coupling from which "spectral", an expansion in weak ones, is worse
BIASED = 0.2  # its bias relative to its errors from which it is worse, because samples are many
_MOST_SPINS = 5000  # for pseudo-likelihood, whose search holds some twenty matrices
_PAIRS, _TARGETS = 8000, 8  # gamma of pseudo-likelihood is taken from so many couplings, and spins, at least
_SAMPLES = 20_000  # or 100 n are enough for gamma, which is then as uncertain as the couplings are few
_SLOPE = 1e-1  # per sample, times sqrt(N): ten times what the search stops at


class Strength(NamedTuple):
    """gamma with its standard error, and a bound it hit, if any."""

    gamma: float
    error: float = 0.0
    bound: float | None = None

    @property
    def expected(self) -> float:
        """The mean of gamma, not below 0, given estimate and error: larger where they are of the same size."""
        if not 0 < self.error < math.inf:
            return self.gamma
        a = self.gamma / self.error
        density = math.exp(-(a**2) / 2) / math.sqrt(2 * math.pi)
        return self.gamma + self.error * density / (0.5 + math.erf(a / math.sqrt(2)) / 2)

    def widen(self, errors: Array) -> Array:
        """Errors of couplings given gamma, with ``expected`` in its place: one prior exchanged for another."""
        n = errors.shape[1]
        if self.gamma == 0 or self.expected == self.gamma:
            return errors
        variance = errors**2
        return np.asarray(np.sqrt(variance / (1 - variance * (n / self.gamma - n / self.expected))))


class Coupling(NamedTuple):
    """One coupling, between the columns i < j, with its standard error."""

    i: int
    j: int
    name_i: str
    name_j: str
    J: float
    error: float


class BoltzmannMachine(BaseEstimator):
    """Which couplings are behind these spins? Infer all J_ij and fields h_i from binary data, with errors.

    The strength of the prior, and so of the regularisation, is inferred from the same data: there is nothing to
    cross-validate. Rows are taken to be independent samples, in the estimates and in their errors.

    Parameters
    ----------
    method : {"auto", "pseudolikelihood", "spectral", "naive_mean_field", "tap", "independent_pair", "exact"}
        "pseudolikelihood" is the most probable matrix given the conditionals of all spins; "spectral" the mean of
        a posterior that holds where couplings are many and weak, from one eigendecomposition. "auto" takes
        "spectral" where it is far from the spin glass (1 - gamma r > 0.2), no coupling is strong
        (J_ij sqrt(v_i v_j) below 0.5 in absolute value, v = 1 - m^2) and its bias is below a fifth of the errors,
        and "pseudolikelihood" elsewhere. The others are classical baselines without a prior; "exact" is maximum
        likelihood, for up to 16 spins.
    prior : {"gaussian", "laplace"}
        Prior of the couplings, of variance gamma/n. "laplace" makes weak couplings exactly 0, with
        "pseudolikelihood".
    gamma : "auto" or float
        Strength of the couplings. "auto" infers it by the method's own evidence.
    random_state : int, Generator or None
        Which spins gamma of "pseudolikelihood" is taken from, for more than 89: 80 of 100, 8 of 1000. None is a
        fixed choice.

    Attributes
    ----------
    couplings_ : array (n, n)
        Symmetric, 0 on the diagonal. Formed when asked for.
    coupling_errors_ : array (n, n)
        Their standard errors; that of gamma matters where it is of the size of gamma itself.
    fields_ : array (n,)
        Fields, with a prior N(0, 1).
    gamma_ : float or None
        Strength of the couplings; None for methods without a prior.
    penalty_ : float or None
        With "pseudolikelihood": lambda = 2n/gamma of lambda/2 sum J_ij^2, or for the Laplace prior lambda = 2
        sqrt(2n/gamma) of lambda times the sum of absolute values.
    model_ : IsingModel
        Couplings and fields as a model to sample from.
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
        random_state: Any = None,
    ) -> None:
        self.method = method
        self.prior = prior
        self.gamma = gamma
        self.random_state = random_state

    def fit(self, X: ArrayLike, y: Any = None) -> BoltzmannMachine:
        """Infer couplings and fields from ``X``: rows are samples, columns spins (±1, 0/1 or bool)."""
        given = self._check_parameters()
        spins = as_spins(X)
        self._fit(spins, given)
        validate_data(self, X, skip_check_array=True)  # records the number and names of the columns
        return self

    @property
    def couplings_(self) -> Array:
        """J_ij."""
        return self._matrices()[0]

    @property
    def coupling_errors_(self) -> Array:
        """Standard errors of J_ij."""
        return self._matrices()[1]

    @property
    def is_cheap_(self) -> bool:
        """Whether more samples would cost little: the method decomposes one matrix, or none, and does not search."""
        check_is_fitted(self)
        return self.method_ not in SEARCHING

    @property
    def fields_(self) -> Array:
        """h_i."""
        return self._record.fields

    @property
    def model_(self) -> IsingModel:
        """Couplings and fields as a model."""
        return IsingModel(self.couplings_, self.fields_)

    def score(self, X: ArrayLike, y: Any = None) -> float:
        """Mean log pseudo-likelihood of ``X`` per spin and sample: the mean of ln P(s_i | other spins)."""
        s = self._spins(X).astype(np.float64)
        return float(log_conditional(s, s @ self.couplings_ + self.fields_).mean())

    def log_likelihood(self, X: ArrayLike, n_chains: int = 1000, seed: Seed = None) -> tuple[float, float]:
        """Mean log likelihood of ``X`` per sample, and its standard error.

        ln Z is from annealed importance sampling with ``n_chains`` chains, and so is the error.
        """
        model = self.model_
        annealed = annealed_importance_sampling(model, n_chains, beta_step=0.01, seed=seed)
        value = -float(model.energy(self._spins(X)).mean()) - annealed.log_partition
        return value, annealed.log_partition_error

    def sample(self, n_samples: int, seed: Seed = None) -> Spins:
        """Spins drawn from the fitted model at equilibrium, int8 (n_samples, n)."""
        check_is_fitted(self)
        return sample(self.model_, n_samples, seed=seed)

    def names(self) -> list[str]:
        """Names of the spins: those of the columns of the data, or x0, x1, ..."""
        check_is_fitted(self)
        if hasattr(self, "feature_names_in_"):
            return [str(name) for name in self.feature_names_in_]
        return [f"x{i}" for i in range(self.n_features_in_)]

    def strongest(self, k: int = 10) -> list[Coupling]:
        """The k couplings of largest absolute value, the first the largest; no n x n matrix is formed."""
        check_is_fitted(self)
        k = count("k", k, 1)
        i, j, J, error = (np.empty(0) for _ in range(4))
        for rows, mean, deviation in self._blocks():
            row, column = np.nonzero(np.arange(self.n_features_in_) > rows[:, None])
            found = rows[row], column, mean[row, column], deviation[row, column]
            i, j, J, error = (np.append(a, b) for a, b in zip((i, j, J, error), found, strict=True))
            order = np.argsort(-np.abs(J), kind="stable")[:k]
            i, j, J, error = i[order], j[order], J[order], error[order]
        names = self.names()
        return [
            Coupling(int(a), int(b), names[int(a)], names[int(b)], float(value), float(spread))
            for a, b, value, spread in zip(i, j, J, error, strict=True)
        ]

    def edges(self) -> Iterator[Coupling]:
        """Every coupling i < j, row by row."""
        check_is_fitted(self)
        names = self.names()
        for rows, mean, deviation in self._blocks():
            for k, i in enumerate(rows.tolist()):
                for j in range(i + 1, self.n_features_in_):
                    yield Coupling(i, j, names[i], names[j], float(mean[k, j]), float(deviation[k, j]))

    def to_frame(self) -> pd.DataFrame:
        """A pandas data frame with a row for every coupling i < j: indices, names, J and its error."""
        try:
            import pandas as pd
        except ImportError as error:
            raise ImportError("to_frame needs pandas: pip install 'bayesing[data]'.") from error
        check_is_fitted(self)
        i, j = np.triu_indices(self.n_features_in_, 1)
        names = np.array(self.names(), dtype=object)
        return pd.DataFrame(
            {
                "i": i,
                "j": j,
                "name_i": names[i],
                "name_j": names[j],
                "J": self.couplings_[i, j],
                "error": self.coupling_errors_[i, j],
            }
        )

    def __repr__(self, N_CHAR_MAX: int = 700) -> str:
        call = str(super().__repr__(N_CHAR_MAX))
        if not hasattr(self, "method_"):
            return call
        strength = (
            "" if self.gamma_ is None else f", J = {math.sqrt(self.gamma_):.3g} (gamma = {self.gamma_:.3g})"
        )
        penalty = "" if self.penalty_ is None else f", penalty {self.penalty_:.3g}"
        return f"{call}: {self.n_features_in_} spins by {self.method_} ({self.reason_}){strength}{penalty}"

    def _check_parameters(self) -> float | None:
        """gamma, if it is given."""
        if not isinstance(self.method, str) or self.method not in METHODS:
            raise ValueError(f"method must be one of {', '.join(METHODS)}: found {self.method!r}.")
        check_prior_name(self.prior)
        if self.prior == "laplace" and self.method not in ("auto", "pseudolikelihood"):
            raise ValueError(
                f'prior must be "gaussian" with method="{self.method}": found "laplace". '
                'Only "pseudolikelihood" has a Laplace prior.'
            )
        if isinstance(self.gamma, str) and self.gamma == "auto":
            return None
        if self.method in WITHOUT_PRIOR:
            raise ValueError(
                f'gamma must be "auto" with method="{self.method}", which has no prior: found {self.gamma!r}.'
            )
        gamma = number("gamma", self.gamma, least=0)
        if gamma == 0:
            raise ValueError('gamma must be "auto" or above 0: found 0, which leaves no couplings to infer.')
        return gamma

    def _fit(self, spins: Spins, given: float | None) -> None:
        method, reason, record, strength = self._infer(spins, given)
        self._record, self._strength = record, strength
        self._dense: tuple[Array, Array] | None = None
        self.method_, self.reason_ = method, reason
        self.gamma_ = None if strength is None else strength.gamma
        self.penalty_ = None
        if isinstance(record, PseudolikelihoodCouplings):
            self.penalty_ = record.penalty
            if record.slope * math.sqrt(len(spins)) > _SLOPE:
                self._warn(
                    f"The search for the couplings ended with a slope of {record.slope:.1g} per sample, above "
                    "its tolerance: gamma may be far too large for the data.",
                    NotConvergedWarning,
                )
        elif method == "pseudolikelihood":
            self.penalty_ = math.inf
        if strength is not None and strength.bound:
            self._warn(
                f"gamma = {strength.bound:.3g} is the largest that {method} tries, and too small. Columns that are "
                "nearly copies of each other have this effect.",
                BoundWarning,
            )
        elif self.gamma_ == 0:
            self._warn(
                "The data show no couplings: gamma and all couplings are 0. Their errors allow for couplings as "
                "strong as the error of gamma does.",
                BoundWarning,
            )

    def _infer(
        self, spins: Spins, given: float | None
    ) -> tuple[str, str, Couplings | Posterior, Strength | None]:
        """The method, why it was chosen, what it found, and gamma."""
        if self.method in WITHOUT_PRIOR:
            return self.method, "as asked", WITHOUT_PRIOR[self.method](spins), None
        if self.method == "spectral":
            return "spectral", "as asked", *self._spectral(spins, given)
        reason = "as asked"
        if self.method == "auto" and self.prior == "laplace":
            reason = "the method for a Laplace prior"
        elif self.method == "auto":
            record, strength = self._spectral(spins, given)
            verdict, strong = _judge(spins, record, strength)
            if not strong:
                return "spectral", verdict, record, strength
            reason = verdict
        return "pseudolikelihood", reason, *self._pseudolikelihood(spins, given)

    def _spectral(self, spins: Spins, given: float | None) -> tuple[Couplings | Posterior, Strength]:
        if given is None:
            fit = fit_spectral(spins)
            strength = Strength(fit.gamma, fit.gamma_error, fit.bound)
        else:
            strength = Strength(given)
        return _absent(spins, strength) or posterior(spins, strength.gamma), strength

    def _pseudolikelihood(self, spins: Spins, given: float | None) -> tuple[Couplings, Strength]:
        if given is None:
            seed = 0 if self.random_state is None else self.random_state
            n_targets = max(_TARGETS, _PAIRS // spins.shape[1])
            most = max(_SAMPLES, 100 * spins.shape[1])
            some = spins[:: -(-len(spins) // most)]
            with threads_for(spins.shape[1]):
                fit = fit_pseudolikelihood(some, n_targets, seed)
            strength = Strength(fit.gamma, fit.gamma_error, fit.bound)
        else:
            strength = Strength(given)
        with threads_for(spins.shape[1]):
            return _absent(spins, strength) or fit_couplings(spins, strength.gamma, self.prior), strength  # type: ignore[arg-type]

    def _matrices(self) -> tuple[Array, Array]:
        if self._dense is None:
            mean, deviation = self._record.rows()
            if self._strength is not None:
                deviation = self._strength.widen(deviation)
            self._dense = (mean + mean.T) / 2, (deviation + deviation.T) / 2  # equal up to rounding
        return self._dense

    def _blocks(self) -> Iterator[tuple[NDArray[np.intp], Array, Array]]:
        """All rows of couplings, some at a time: their numbers, couplings and errors."""
        check_is_fitted(self)
        for rows, mean, deviation in self._record.blocks():
            yield rows, mean, deviation if self._strength is None else self._strength.widen(deviation)

    def _spins(self, X: ArrayLike) -> Spins:
        check_is_fitted(self)
        validate_data(self, X, reset=False, skip_check_array=True)
        return as_spins(X, min_samples=1)

    def _warn(self, message: str, category: type[Warning]) -> None:
        warnings.warn(message, category, stacklevel=4)


def _absent(spins: Spins, strength: Strength) -> Couplings | None:
    """No couplings, where gamma is 0."""
    if strength.gamma > 0:
        return None
    return no_couplings(fit_fields(spins), math.sqrt(strength.expected / spins.shape[1]))


def _judge(spins: Spins, record: Couplings | Posterior, strength: Strength) -> tuple[str, bool]:
    """What the posterior of "spectral" says of itself, in words, and whether couplings are too strong for it."""
    n = spins.shape[1]
    if n > _MOST_SPINS:
        return f"beyond {_MOST_SPINS} spins pseudo-likelihood would take long", False
    distance = 1 - strength.gamma * stability_of(spins)
    if distance <= NEAR:
        return f"near the spin glass, 1 - gamma r = {distance:.2f}", True
    if isinstance(record, Posterior):
        largest, bias = record.doubts()
        if largest >= STRONG:
            return f"a coupling is strong, {largest:.2f} when standardised", True
        if bias >= BIASED:
            return f"so many samples show what expansions leave out, {bias:.2f} errors", True
    return f"couplings are many and weak, 1 - gamma r = {distance:.2f}", False
