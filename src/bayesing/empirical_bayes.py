"""The estimator of the strength of the couplings, in scikit-learn's clothes."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from numpy.typing import ArrayLike

from ._estimator import MethodEstimator, show
from ._html import card
from .allowed import check_strength
from .arguments import Seed
from .diagnosis import Diagnosis
from .exceptions import InputError, SaturationWarning, Setting
from .inference import StrengthAnswer, infer_strength
from .moments import SpinMoments
from .statistics import SpinStatistics
from .strength import METHODS, Options
from .texts import quoted_names
from .types import Array, Heard, Spins

if TYPE_CHECKING:
    from .calibration import Interval


class EmpiricalBayes(MethodEstimator[StrengthAnswer]):
    """How strong are the couplings behind these spins? Infer gamma = J^2 and H from binary data.

    Rows are taken to be independent samples, in the estimates and in their errors, unless they are a ``series``.

    Parameters
    ----------
    method : str
        "auto", which decides by the rules of the page *Which method when* and says why (``reason_``), or the name of
        one of :data:`bayesing.strength.METHODS`.
    prior : {"gaussian", "laplace"}
        Prior of the couplings, of variance gamma/n. Not every method holds for both.
    mean_coupling : bool
        Whether to estimate a mean coupling J0/n, with methods that can.
    series : bool
        Whether rows are in the order of time. If they remember those before them, a few thinned data sets are fitted,
        and their estimates averaged (:mod:`bayesing.thinned`).
    random_state : int, Generator or None
        For methods that look at some random spins of many.
    keep_data : bool
        Whether a pickle of the fitted estimator contains the data, as bits. Without them ``interval`` works after
        unpickling for methods that look at moments or eigenvalues alone, and not with a ``statistic`` of yours.

    Attributes
    ----------
    gamma_, J_, H_ : float
        The estimates; J is the square root of gamma. Those of the paper's method are infinite where the evidence has
        no maximum.
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
    diagnosis_ : bayesing.diagnosis.Diagnosis
        What the words are made from: phase, distance, whether to trust the estimate, and if not, why.
    case_ : {"zero", "interior", "infinite"} or None
        Where the evidence has its maximum in gamma, if the method is the paper's.
    evidence_kind_ : {"curve", "surface"} or None
        Whether :meth:`evidence` is a function of gamma alone, or of H and gamma; None where there is none.
    moments_ : SpinMoments
        Moments of the data; those of a thinned data set, if rows of a series remember.
    effective_samples_ : float
        Independent rows that would say as much of couplings: N, unless rows of a series remember.
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
        series: bool = False,
        random_state: Any = None,
        keep_data: bool = False,
    ) -> None:
        self.method = method
        self.prior = prior
        self.mean_coupling = mean_coupling
        self.series = series
        self.random_state = random_state
        self.keep_data = keep_data

    def fit(
        self, X: ArrayLike | SpinStatistics, y: Any = None, *, progress: Heard | None = None
    ) -> EmpiricalBayes:
        """Infer the hyperparameters from ``X``: rows are samples, columns spins (±1, 0/1 or bool).

        ``X`` may also be a :class:`SpinData`, or a :class:`SpinStatistics` of data that were never in memory at once;
        or a list of arrays, each a run of its own, such as a trial. Dask arrays and data frames are computed block by
        block.
        ``progress`` is called with how much is done and of how much, by methods that take long.
        """
        check_strength(self.method, Options(self.prior, self.mean_coupling))
        data = SpinStatistics.of(X)
        self._answer = infer_strength(
            data, self.method, self.prior, self.mean_coupling, self.random_state, progress, self.series
        )
        self._data = data
        show((*self._remember(X, data), *self._answer.warnings))
        return self

    @property
    def gamma_(self) -> float:
        """gamma = J^2."""
        return self._fitted.estimate.gamma

    @property
    def gamma_error_(self) -> float:
        """Its standard error."""
        return self._fitted.estimate.gamma_error

    @property
    def J_(self) -> float:
        """The square root of gamma."""
        return self._fitted.estimate.J

    @property
    def J_error_(self) -> float:
        """Its standard error."""
        return self._fitted.estimate.J_error

    @property
    def H_(self) -> float:
        """The field of the spins that vary; their mean field, where fields differ."""
        return self._fitted.estimate.H

    @property
    def H_error_(self) -> float:
        """Its standard error."""
        return self._fitted.estimate.H_error

    @property
    def J0_(self) -> float:
        """The mean coupling, times n; 0 unless estimated."""
        return self._fitted.estimate.J0

    @property
    def J0_error_(self) -> float:
        """Its standard error."""
        return self._fitted.estimate.J0_error

    @property
    def moments_(self) -> SpinMoments:
        """Moments of the data."""
        return self._fitted.moments

    @property
    def effective_samples_(self) -> float:
        """Independent rows that would say as much of couplings: N, unless rows of a series remember."""
        return self._fitted.effective_samples

    @property
    def case_(self) -> str | None:
        """Where the evidence has its maximum in gamma, if the method knows."""
        return self._fitted.estimate.case

    @property
    def diagnosis_(self) -> Diagnosis:
        """Where the data lie, and whether the estimate can be trusted."""
        return self._fitted.diagnosis

    @property
    def at_distance_(self) -> float:
        """The distance to the spin glass, 1 - gamma r."""
        return self._fitted.diagnosis.distance

    @property
    def regime_(self) -> str:
        """Where the data lie, in words."""
        return self._fitted.regime

    @property
    def evidence_kind_(self) -> str | None:
        """Whether the evidence is a "curve" in gamma or a "surface" in H and gamma; None where there is none."""
        found = self._fitted.estimate.evidence
        return None if found is None else found.kind

    def evidence(self, H: ArrayLike, gamma: ArrayLike) -> Array:
        """Log evidence per spin and sample, for arrays that broadcast.

        A curve (``evidence_kind_``) depends on gamma alone, whatever H, and is relative to gamma = 0; ``gamma_`` lies
        above its maximum, since it is corrected for what is left out of it. The paper's evidence is a surface,
        L_EB(H, gamma), NaN where it does not exist.
        """
        found = self._fitted.estimate.evidence
        if found is None:
            others = quoted_names([method.name for method in METHODS if method.evidence])
            raise InputError(Setting("method", self.method_), f" has no evidence to show: take {others}.")
        return found.at(H, gamma)

    def interval(
        self,
        level: float = 0.9,
        n_simulations: int = 200,
        seed: Seed = 0,
        fields: str = "auto",
        statistic: Callable[[Spins], Any] | None = None,
        progress: Heard | None = None,
    ) -> Interval:
        """Intervals of J and H that cover, and the estimates without bias, by simulation of such data.

        Data sets of the same size are simulated at trial values, and the test whether they look like ours is
        inverted: see :mod:`bayesing.calibration`. What is looked at is the method's own estimate or score; where
        "auto" was asked for and the spin glass is near, the scores of two methods together.

        ``fields`` says whether the simulated fields are "uniform" or fitted to the single "sites"; "auto" decides by
        their spread. ``statistic`` is any function of spins (0 where a cell is missing) that changes with J, one
        number or several, in place of the method's. ``progress`` is called with the number of simulations done and
        of all. They run in parallel under ``joblib.parallel_config(n_jobs=...)``.

        >>> import bayesing as bs
        >>> eb = bs.EmpiricalBayes().fit(bs.simulate(60, 50, J=0.6, H=0.2, seed=1).spins)
        >>> found = eb.interval(n_simulations=60)
        >>> found.J[0] < 0.6 < found.J[1] and found.H[0] < 0.2 < found.H[1]
        True
        """
        from .calibration import interval_of  # and with it the samplers

        answer = self._fitted
        found = interval_of(answer, self._data, level, n_simulations, seed, fields, statistic, progress)
        if found.is_open:
            show([SaturationWarning(f"{found.note[0].upper()}{found.note[1:]}.")])
        return found

    def _line(self) -> str:
        found = f"J = {self.J_:.3g} ± {self.J_error_:.2g}, H = {self.H_:+.3g} ± {self.H_error_:.2g}"
        return f"{found} by {self.method_} ({self.reason_}); {self.regime_}"

    def _card(self, title: str) -> str:
        moments = self.moments_
        facts = [
            ("data", f"{moments.N} samples of {moments.n} spins, mean spin {moments.M:+.3f}"),
            ("J", f"{self.J_:.4f} ± {self.J_error_:.4f} (couplings have variance J²/n)"),
            ("H", f"{self.H_:+.4f} ± {self.H_error_:.4f}"),
        ]
        if self.J0_ or self.mean_coupling:
            facts.append(("J0", f"{self.J0_:+.4f} ± {self.J0_error_:.4f} (couplings have mean J0/n)"))
        facts += [("regime", self.regime_), ("method", f"{self.method_} ({self.reason_})")]
        return card(title, facts)

    def __getstate__(self) -> dict[str, Any]:
        state: dict[str, Any] = dict(super().__getstate__())  # a copy: it is the estimator's own
        if "_data" in state and not self.keep_data:
            state["_data"] = state["_data"].summary()
        return state
