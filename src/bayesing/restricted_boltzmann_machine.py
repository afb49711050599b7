"""The estimator of hidden causes, in scikit-learn's clothes."""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, NamedTuple, Self

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import TransformerMixin
from sklearn.utils.validation import check_is_fitted

from ._estimator import SpinEstimator, show
from ._html import card
from .arguments import Seed, count, hidden_units, seed_sequence
from .exceptions import BayesingWarning, InputError, Setting
from .learning.restricted_size import MOST_UNITS, RestrictedAnswer, fit_best_size, fit_size
from .order import order_of
from .restricted import RestrictedModel
from .sampling.restricted import draw_restricted
from .sampling.restricted_missing import MOST_UNITS as MOST_SUMMED
from .sampling.restricted_missing import hidden_means_shown, log_weights_shown
from .statistics import SpinStatistics
from .types import Array, Heard, Spins
from .words import on_order

if TYPE_CHECKING:
    from .export import SavedRestricted

OfRows = Callable[[RestrictedModel, Spins], Array]

_STRONGEST = 5  # weights of a unit in a notebook
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
    learned by Markov chains. Rows are taken to be independent samples. Up to 12 hidden units cells may be missing
    (NaN), at random given those that are there.

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
        size = hidden_units(self.n_hidden)
        data = SpinStatistics.of(X)
        data.check_variation()
        _check_gaps(data, size or 0)
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
        said = self._remember(X, data)
        if size is not None and size > data.n:
            said += (_many_units(size, data.n),)
        show((*said, *answer.warnings, *on_order(order_of(data), data, series=False, can=False)))
        return self

    def transform(self, X: ArrayLike | SpinStatistics) -> Array:
        """Mean of each hidden unit given the spins of each sample, from -1 to 1, (N, k)."""
        return self._of_rows(X, True, RestrictedModel.hidden_means, hidden_means_shown)

    def get_feature_names_out(self, input_features: Any = None) -> Any:
        """Names of the columns that ``transform`` makes: hidden0, hidden1, ..."""
        return np.array([f"hidden{a}" for a in range(self._fitted.model.n_hidden)], dtype=object)

    def score_samples(self, X: ArrayLike | SpinStatistics) -> Array:
        """ln P of each sample, in nats; of the cells that are there, where some are missing."""
        return self._log_likelihood(X, True)

    def score(self, X: ArrayLike | SpinStatistics, y: Any = None) -> float:
        """Mean of ln P over the samples, in nats; its error is ``log_partition_error_`` where ln Z has one.

        Samples in which all cells are missing do not count.
        """
        return float(self._log_likelihood(X, False).mean())

    def _log_likelihood(self, X: Any, keep_empty: bool) -> Array:
        weights = self._of_rows(X, keep_empty, RestrictedModel.log_weights, log_weights_shown)
        return np.asarray(weights - self.log_partition_)

    def _of_rows(self, X: Any, keep_empty: bool, complete: OfRows, shown: OfRows) -> Array:
        """A function of complete rows, and another one of those with missing cells."""
        data, model = self._meet_again(X, keep_empty), self.model_
        spins = data.spins()
        if not data.missing:
            return complete(model, spins)
        _check_gaps(data, model.n_hidden)
        gaps = (spins == 0).any(axis=1)
        found = shown(model, spins[gaps])
        values = np.empty((len(spins), *found.shape[1:]))
        values[gaps] = found
        if not gaps.all():
            values[~gaps] = complete(model, spins[~gaps])
        return values

    def sample(self, n_samples: int, seed: Seed = None, beta: float = 1.0) -> Spins:
        """Spins drawn from the fitted model, int8 (n_samples, n); exact and independent up to 20 hidden units.

        ``beta`` is the inverse temperature: weights and fields are so many times as large.
        """
        model = self.model_.at(beta)
        if model.is_exact:
            return model.sample(n_samples, seed)
        return draw_restricted(model, self._fitted.base, n_samples, seed)

    def loadings(self, unit: int, k: int = 10) -> list[Loading]:
        """The k variables that a hidden unit is coupled to most strongly, the strongest first, with errors."""
        W, errors, names = self.hidden_couplings_, self.hidden_coupling_errors_, self.names()
        unit = count("unit", unit, 0)
        if unit >= W.shape[1]:
            raise InputError(f"unit must be one of {W.shape[1]} hidden units, from 0: found unit={unit}.")
        order = np.argsort(-np.abs(W[:, unit]), kind="stable")[: count("k", k, 1)]
        return [Loading(int(i), names[i], float(W[i, unit]), float(errors[i, unit])) for i in order]

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the whole fit to an .npz file: weights, fields, errors, scales, ln Z, names, and how it was found."""
        from .export import SavedRestricted, save_restricted
        from .files import writing

        names = self.names() if hasattr(self, "feature_names_in_") else None
        kept = SavedRestricted(self._fitted, names, self.get_params(deep=False))
        with writing(path, force=True) as file:
            save_restricted(file, kept)

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> Self:
        """Read what :meth:`save` wrote. It transforms, scores and samples as before. Nothing is unpickled."""
        from .export import load_restricted

        saved = load_restricted(path)
        return cls(**saved.parameters)._restored(saved)

    def _restored(self, saved: SavedRestricted) -> Self:
        self._answer = saved.answer
        self._recall(len(saved.answer.model.fields), saved.names)
        return self

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

    def _card(self, title: str) -> str:
        n, k = self.hidden_couplings_.shape
        facts = [("model", f"{n} spins, {k} hidden units ({self.reason_})"), ("method", self.method_)]
        if self.log_evidence_ is not None:
            facts.append(("log evidence", f"{self.log_evidence_:.1f} nats"))
        rows = [
            (
                f"hidden{a}",
                f"{self.gamma_[a]:.3g}",
                ", ".join(f"{x.name} ({x.weight:+.2f})" for x in strongest),
            )
            for a in range(min(k, MOST_UNITS))
            for strongest in [self.loadings(a, _STRONGEST)]
        ]
        return card(title, facts, ("unit", "gamma", "strongest weights") if rows else (), rows)

    def _line(self) -> str:
        n, k = self.hidden_couplings_.shape
        found = f"{n} spins, {k} hidden {'unit' if k == 1 else 'units'} ({self.reason_})"
        if k:
            scales = ", ".join(f"{g:.2f}" for g in self.gamma_[:MOST_UNITS])
            found += f", gamma = {scales}{', ...' if k > MOST_UNITS else ''}"
        return found


def _many_units(k: int, n: int) -> BayesingWarning:
    """What is said where there are more hidden units than spins."""
    return BayesingWarning(
        f"There are more hidden units than spins (columns), {k} and {n}. They may describe the data well, but they "
        "are not causes that the data can tell apart; units without use have a gamma_ near 0. To find causes, take ",
        Setting("n_hidden", "auto"),
        ".",
    )


def _check_gaps(data: SpinStatistics, k: int) -> None:
    """An error where cells are missing, and hidden states are too many to go through."""
    if data.missing and k > MOST_SUMMED:
        raise InputError(
            f"RestrictedBoltzmannMachine can use rows with missing cells for up to {MOST_SUMMED} hidden units: found "
            f"{k}, and {data.missing} missing cells of {data.N} x {data.n}. Take ",
            Setting("n_hidden", MOST_SUMMED),
            " or fewer, or leave out such rows or columns first.",
        )
