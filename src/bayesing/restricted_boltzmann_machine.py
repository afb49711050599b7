"""The estimator of hidden causes, in scikit-learn's clothes."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import TransformerMixin
from sklearn.utils.validation import check_is_fitted

from ._estimator import SpinEstimator, show
from .arguments import Seed, count, seed_sequence
from .exceptions import InputError, Setting
from .learning.restricted_size import MOST_UNITS, RestrictedAnswer, fit_best_size, fit_size
from .order import order_of
from .restricted import RestrictedModel
from .sampling.restricted import draw_restricted
from .statistics import SpinStatistics
from .types import Array, Heard, Spins
from .words import on_order

_MOST_A_SPIN = 10  # hidden units: more than any data tell


class Loading(NamedTuple):
    """How strongly a variable is coupled to a hidden unit, with the standard error."""

    i: int
    name: str
    weight: float
    error: float


class RestrictedBoltzmannMachine(TransformerMixin, SpinEstimator):
    """Which hidden causes are behind these spins? A restricted Boltzmann machine with weights of a learned scale.

    Each hidden unit is a spin that is coupled to all visible ones. The prior of its weights has a variance gamma/n
    that is inferred from the same data, and so is the number of units, if asked: there is nothing to
    cross-validate. Up to 12 hidden units the likelihood is exact, as are samples and ln Z up to 20. More are
    learned by Markov chains. Rows are taken to be independent samples.

    Parameters
    ----------
    n_hidden : int or "auto"
        Number of hidden units; 0 are independent spins. "auto" takes the number of largest evidence, up to 12.
    random_state : int, Generator or None
        Of the starts of the search and of samples of the model. None is a fixed choice.

    Attributes
    ----------
    hidden_couplings_ : array (n, k)
        Weights between spins and hidden units. Units are sorted, the strongest first; the weights of a unit have a
        sum that is not negative.
    hidden_coupling_errors_ : array (n, k)
        Their standard errors.
    fields_, field_errors_ : array (n,)
        Fields of the spins, and their standard errors.
    hidden_fields_, hidden_field_errors_ : array (k,)
        Fields of the hidden units, and their standard errors.
    gamma_ : array (k,)
        Scale of each unit's weights: their prior variance is gamma/n.
    log_evidence_ : float or None
        Logarithm of the evidence of this number of units; None if it is not known, as for units that are learned by
        chains.
    evidence_by_n_hidden_ : dict
        Log evidence of each number of hidden units that was tried.
    log_partition_, log_partition_error_ : float
        ln Z, and its standard error, which is 0 where ln Z is exact.
    model_ : bayesing.restricted.RestrictedModel
        Weights and fields as a model.
    method_, reason_ : str
        "enumeration" of hidden states or "chains", and why there are so many units.
    n_features_in_, feature_names_in_
        As everywhere in scikit-learn; names where the data had any.

    Examples
    --------
    >>> import numpy as np
    >>> import bayesing as bs
    >>> rng = np.random.default_rng(0)
    >>> cause = rng.choice([-1, 1], (1000, 1))  # moves the first 6 of 10 variables
    >>> X = np.where(rng.random((1000, 10)) < 0.5 + 0.35 * cause * (np.arange(10) < 6), 1, -1)
    >>> rbm = bs.RestrictedBoltzmannMachine("auto").fit(X)
    >>> print(rbm.transform(X).shape, f"{abs(np.corrcoef(rbm.transform(X)[:, 0], cause[:, 0])[0, 1]):.2f}")
    (1000, 1) 0.97
    >>> sorted(loading.name for loading in rbm.loadings(0, k=6))
    ['x0', 'x1', 'x2', 'x3', 'x4', 'x5']
    """

    _answer: RestrictedAnswer

    def __init__(self, n_hidden: Any = 8, random_state: Any = None) -> None:
        self.n_hidden = n_hidden
        self.random_state = random_state

    def fit(
        self, X: ArrayLike | SpinStatistics, y: Any = None, *, progress: Heard | None = None
    ) -> RestrictedBoltzmannMachine:
        """Infer weights and fields from ``X``: rows are samples, columns spins (±1, 0/1 or bool).

        ``progress`` is called with how much is done and of how much.
        """
        size = _check_size(self.n_hidden)
        data = _complete(SpinStatistics.of(X))
        data.check_variation()
        seed = int(seed_sequence(self.random_state).generate_state(1)[0])
        if size is None:
            answer = fit_best_size(data, seed, progress)
        elif size > _MOST_A_SPIN * data.n:
            raise InputError(
                f"n_hidden must be at most {_MOST_A_SPIN} for each spin (column), {_MOST_A_SPIN * data.n} here: "
                f"found n_hidden={size}."
            )
        else:
            answer = fit_size(data, size, seed, progress)
        self._answer = answer
        self._remember(X, data)
        show((*answer.warnings, *on_order(order_of(data), data, series=False, can=False)))
        return self

    def __sklearn_tags__(self) -> Any:
        """What scikit-learn is told: no NaN, please."""
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = False
        return tags

    def transform(self, X: ArrayLike | SpinStatistics) -> Array:
        """Mean of each hidden unit given the spins of each sample, from -1 to 1, (N, k)."""
        return self.model_.hidden_means(_complete(self._meet_again(X)).spins())

    def get_feature_names_out(self, input_features: Any = None) -> Any:
        """Names of the columns that ``transform`` makes: hidden0, hidden1, ..."""
        return np.array([f"hidden{a}" for a in range(self._fitted.model.n_hidden)], dtype=object)

    def score_samples(self, X: ArrayLike | SpinStatistics) -> Array:
        """ln P of each sample, in nats."""
        spins = _complete(self._meet_again(X)).spins()
        return np.asarray(self.model_.log_weights(spins) - self.log_partition_)

    def score(self, X: ArrayLike | SpinStatistics, y: Any = None) -> float:
        """Mean of ln P over the samples, in nats; its error is ``log_partition_error_`` where ln Z has one."""
        return float(self.score_samples(X).mean())

    def sample(self, n_samples: int, seed: Seed = None) -> Spins:
        """Spins drawn from the fitted model, int8 (n_samples, n); exact and independent up to 20 hidden units."""
        if self.model_.is_exact:
            return self.model_.sample(n_samples, seed)
        return draw_restricted(self.model_, self._fitted.base, n_samples, seed)

    def loadings(self, unit: int, k: int = 10) -> list[Loading]:
        """The k variables that a hidden unit is coupled to most strongly, the strongest first, with errors."""
        W, errors, names = self.hidden_couplings_, self.hidden_coupling_errors_, self.names()
        unit = count("unit", unit, 0)
        if unit >= W.shape[1]:
            raise InputError(f"unit must be one of {W.shape[1]} hidden units, from 0: found unit={unit}.")
        order = np.argsort(-np.abs(W[:, unit]), kind="stable")[: count("k", k, 1)]
        return [Loading(int(i), names[i], float(W[i, unit]), float(errors[i, unit])) for i in order]

    @property
    def hidden_couplings_(self) -> Array:
        """W_ia."""
        return self._fitted.model.weights

    @property
    def hidden_coupling_errors_(self) -> Array:
        """Standard errors of W_ia."""
        return self._fitted.weight_errors

    @property
    def fields_(self) -> Array:
        """h_i."""
        return self._fitted.model.fields

    @property
    def field_errors_(self) -> Array:
        """Standard errors of h_i."""
        return self._fitted.field_errors

    @property
    def hidden_fields_(self) -> Array:
        """c_a."""
        return self._fitted.model.hidden_fields

    @property
    def hidden_field_errors_(self) -> Array:
        """Standard errors of c_a."""
        return self._fitted.hidden_field_errors

    @property
    def gamma_(self) -> Array:
        """Scale of each unit's weights."""
        return self._fitted.gamma

    @property
    def log_evidence_(self) -> float | None:
        """Of this number of hidden units, if it is known."""
        return self._fitted.log_evidence

    @property
    def evidence_by_n_hidden_(self) -> dict[int, float]:
        """Log evidence of each number of hidden units that was tried."""
        return self._fitted.evidences

    @property
    def log_partition_(self) -> float:
        """Ln Z."""
        return self._fitted.log_partition

    @property
    def log_partition_error_(self) -> float:
        """Its standard error."""
        return self._fitted.log_partition_error

    @property
    def model_(self) -> RestrictedModel:
        """Weights and fields as a model."""
        return self._fitted.model

    @property
    def method_(self) -> str:
        """How the likelihood was summed: by "enumeration" of hidden states, or by "chains"."""
        return self._fitted.method

    @property
    def reason_(self) -> str:
        """Why there are so many hidden units."""
        return self._fitted.reason

    @property
    def answer_(self) -> RestrictedAnswer:
        """All of it as one record."""
        return self._fitted

    @property
    def _fitted(self) -> RestrictedAnswer:
        check_is_fitted(self, "_answer")
        return self._answer

    def __repr__(self, N_CHAR_MAX: int = 700) -> str:
        call = str(super().__repr__(N_CHAR_MAX))
        if not hasattr(self, "_answer"):
            return call
        n, k = self.hidden_couplings_.shape
        found = f"{call}: {n} spins, {k} hidden {'unit' if k == 1 else 'units'} ({self.reason_})"
        if k:
            scales = ", ".join(f"{g:.2f}" for g in self.gamma_[:MOST_UNITS])
            found += f", gamma = {scales}{', ...' if k > MOST_UNITS else ''}"
        return found


def _check_size(n_hidden: Any) -> int | None:
    """The number of hidden units, or None for "auto"."""
    if isinstance(n_hidden, str) and n_hidden == "auto":
        return None
    try:
        return count("n_hidden", n_hidden, 0)
    except ValueError as error:
        raise InputError(
            f'n_hidden must be a whole number that is not negative, or "auto": found n_hidden={n_hidden!r}.'
        ) from error


def _complete(data: SpinStatistics) -> SpinStatistics:
    """The data themselves, or an error where cells are missing."""
    if data.missing:
        raise InputError(
            f"RestrictedBoltzmannMachine cannot use rows with missing cells: found {data.missing} of {data.N} x "
            f"{data.n}. BoltzmannMachine can, with ",
            Setting("n_hidden", 1),
            " or more. Or leave out such rows or columns first.",
        )
    return data
