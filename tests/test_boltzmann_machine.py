import pickle
import warnings
from copy import copy
from dataclasses import replace

import numpy as np
import pandas as pd
import polars as pl
import pytest
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.utils.estimator_checks import check_estimator
from sklearn.utils.validation import check_is_fitted, validate_data

import bayesing as bs
from bayesing import choice
from bayesing.couplings import Strength, spectral
from bayesing.couplings.pseudolikelihood import fit_couplings
from bayesing.couplings.spectral import posterior
from bayesing.edges import Coupling, limit_for
from bayesing.entropy import entropy_of_means
from bayesing.ising import all_states
from bayesing.sampling.anneal import anneal, schedule
from bayesing.strength.pseudolikelihood import fit_pseudolikelihood
from bayesing.strength.spectral import fit_spectral

from samples import random_model, random_spins, stats

SIM = bs.simulate(30, 200, J=0.7, H=0.2, seed=2, sweeps=5)
METHODS = ["pseudolikelihood", "spectral", "naive_mean_field", "tap", "independent_pair"]


def fit(X=SIM.spins, **parameters):
    return bs.BoltzmannMachine(**parameters).fit(X)


def fit_unchecked(X=SIM.spins, **parameters):
    """By methods without a prior, whose models often fail their check."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", bs.CheckWarning)
        return fit(X, **parameters)


@pytest.mark.parametrize("method", METHODS)
def test_every_method_has_the_same_attributes(method):
    bm = fit_unchecked(method=method)
    assert bm.method_ == method and bm.reason_ == "as asked" and bm.n_features_in_ == 30
    assert (bm.couplings_ == bm.couplings_.T).all() and (np.diag(bm.couplings_) == 0).all()
    upper = np.triu_indices(30, 1)
    assert (bm.coupling_errors_[upper] > 0).all() and bm.coupling_errors_.shape == (30, 30)
    assert np.corrcoef(bm.couplings_[upper], SIM.couplings[upper])[0, 1] > 0.5
    assert bm.fields_.shape == (30,) and abs(bm.fields_.mean() - 0.2) < (0.1 if bm.gamma_ else 0.3)
    assert (bm.gamma_ is None) == (method not in ("pseudolikelihood", "spectral"))
    assert (bm.penalty_ is None) == (method != "pseudolikelihood")
    assert (bm.model_.couplings == bm.couplings_).all() and (bm.model_.fields == bm.fields_).all()


def test_gamma_is_that_of_the_methods_own_evidence():
    bm = fit(method="pseudolikelihood")
    assert bm.gamma_ == fit_pseudolikelihood(stats(SIM.spins)).gamma and bm.penalty_ == 2 * 30 / bm.gamma_
    assert (bm.couplings_ == fit_couplings(stats(SIM.spins), bm.gamma_).matrix).all()
    bm = fit(method="spectral")
    assert bm.gamma_ == pytest.approx(fit_spectral(stats(SIM.spins)).gamma, rel=1e-12)
    assert bm.couplings_ == pytest.approx(posterior(stats(SIM.spins), bm.gamma_).rows()[0], abs=1e-12)
    assert fit(method="spectral", gamma=0.3).gamma_ == 0.3
    assert fit(method="pseudolikelihood", gamma=0.3).penalty_ == 200


def test_laplace():
    bm = fit(prior="laplace", gamma=0.49)
    assert bm.method_ == "pseudolikelihood" and "Laplace" in bm.reason_
    assert bm.penalty_ == pytest.approx(2 * np.sqrt(60 / 0.49))
    zero = bm.couplings_[np.triu_indices(30, 1)] == 0
    assert 0.1 < zero.mean() < 0.9 and (bm.coupling_errors_[np.triu_indices(30, 1)] > 0).all()


def test_auto_takes_the_better_method():
    weak = fit()
    assert weak.method_ == "spectral" and "many and weak" in weak.reason_
    glass = fit(bs.simulate(60, 300, J=1.0, seed=2, sweeps=5).spins)
    assert glass.method_ == "pseudolikelihood" and "spin glass" in glass.reason_
    couplings = np.zeros((12, 12))
    couplings[0, 1] = couplings[1, 0] = 0.85
    pair = fit(bs.sample(bs.IsingModel(couplings, 0.2), 500, sampler="anneal", seed=0))
    assert pair.method_ == "pseudolikelihood" and "a coupling is strong" in pair.reason_
    rare = np.kron(np.eye(5), np.full((5, 5), 0.35)) - 0.35 * np.eye(25)
    groups = fit(bs.sample(bs.IsingModel(rare, -0.5), 2000, seed=0))
    assert groups.method_ == "pseudolikelihood" and "not of many weak couplings" in groups.reason_
    assert fit(gamma=3.0).method_ == "pseudolikelihood"  # by what gamma means for the distance
    few = bs.simulate(15, 5000, J=0.6, H=0.3, seed=0, sweeps=10)
    many, some = fit(few.spins), fit(few.spins[:300])
    assert (
        many.method_ == "pseudolikelihood" and "many samples" in many.reason_ and some.method_ == "spectral"
    )
    error = np.linalg.norm(many.couplings_ - few.couplings)
    assert error < 0.9 * np.linalg.norm(fit(few.spins, method="spectral").couplings_ - few.couplings)


def test_auto_where_pseudolikelihood_would_take_long(monkeypatch):
    monkeypatch.setattr(choice, "MOST_SPINS", 20)
    monkeypatch.setattr(choice, "MOST_LEARNT", 20)
    with pytest.warns(bs.CheckWarning, match="other means and correlations"):
        bm = fit(bs.simulate(30, 200, J=1.4, seed=2, sweeps=5).spins)
    assert bm.method_ == "spectral" and "take long" in bm.reason_


def test_few_spins_will_do_for_gamma(monkeypatch):
    monkeypatch.setattr(choice, "_PAIRS", 8 * 30)
    one, two = (fit(method="pseudolikelihood", random_state=3) for _ in range(2))
    assert one.gamma_ == two.gamma_ == fit_pseudolikelihood(stats(SIM.spins), 8, 3).gamma
    assert fit(method="pseudolikelihood").gamma_ == fit(method="pseudolikelihood").gamma_ != one.gamma_


def test_some_samples_will_do_for_gamma(monkeypatch):
    """Spread over all of the data, and not for the couplings."""
    X = bs.simulate(12, 6000, J=0.7, H=0.2, seed=1, sweeps=5).spins
    whole = fit(X, method="pseudolikelihood")
    monkeypatch.setattr(choice, "_SAMPLES", 2000)
    part = fit(X, method="pseudolikelihood")
    assert part.gamma_ == fit_pseudolikelihood(stats(X[::3])).gamma != whole.gamma_
    assert part.gamma_ == pytest.approx(whole.gamma_, rel=0.05)
    assert part.couplings_ == pytest.approx(whole.couplings_, abs=0.002)


@pytest.mark.parametrize("method", ["pseudolikelihood", "spectral"])
def test_strongest_is_the_top_of_the_sorted_matrix(method, monkeypatch):
    monkeypatch.setattr(spectral, "_ROWS", 4)
    monkeypatch.setattr(spectral, "_TILE", 7)
    monkeypatch.setattr(spectral, "_STRIPES", 3)
    monkeypatch.setattr(spectral, "_DENSE", 10)
    bm = fit(method=method)
    i, j = np.triu_indices(30, 1)
    order = np.argsort(-np.abs(bm.couplings_[i, j]))[:7]
    top = bm.strongest(7)
    assert [(c.i, c.j) for c in top] == list(zip(i[order], j[order], strict=True))
    for c in top:
        assert c.J == pytest.approx(bm.couplings_[c.i, c.j]) and (c.name_i, c.name_j) == (
            f"x{c.i}",
            f"x{c.j}",
        )
        assert c.error == pytest.approx(bm.coupling_errors_[c.i, c.j])
    assert len(bm.strongest(10_000)) == 435
    edges = list(bm.pairs())
    assert [(c.i, c.j) for c in edges] == list(zip(i, j, strict=True))
    rounding = 1e-6 * bm.coupling_errors_.max()  # of single precision
    assert [c.J for c in edges] == pytest.approx(bm.couplings_[i, j], abs=rounding)
    assert bm.edges(0.3) == sorted(
        (c for c in edges if c.probability > limit_for(bm.answer_, 0.3)),
        key=lambda c: (-c.probability, -abs(c.J)),
    )


@pytest.mark.parametrize("dense", [10, 100])
def test_spectral_forms_a_matrix_of_few_spins_once_and_none_of_many(dense, monkeypatch):
    monkeypatch.setattr(spectral, "_DENSE", dense)
    bm = fit(method="spectral")
    bm.strongest(3)
    assert ("_dense" in bm._answer.couplings.__dict__) == (dense == 100)
    assert bm.couplings_ is bm.couplings_


def test_batches_give_the_same_to_the_last_bit():
    X = SIM.spins
    assert len(X) > X.shape[1]
    folded = bs.SpinStatistics.of_batches(np.array_split(X, 5))
    once, again = fit(X, method="spectral"), fit(folded, method="spectral")
    assert (again.couplings_ == once.couplings_).all() and (again.fields_ == once.fields_).all()
    assert (again.coupling_errors_ == once.coupling_errors_).all() and again.gamma_ == once.gamma_
    assert fit(folded).method_ == "spectral" and "enough" in fit(folded).reason_
    with pytest.raises(ValueError, match='method="pseudolikelihood" needs all rows at once'):
        fit(bs.SpinStatistics.of(X).without_rows(), method="pseudolikelihood")
    for method in ("naive_mean_field", "tap", "independent_pair"):
        once, again = (fit_unchecked(data, method=method) for data in (X, folded))
        assert (again.couplings_ == once.couplings_).all()


def test_score_is_the_mean_log_conditional():
    bm = fit(method="pseudolikelihood")
    X = SIM.spins[:5]
    total = 0.0
    for s in X.astype(float):
        for i in range(30):
            total += -np.log(1 + np.exp(-2 * s[i] * (bm.fields_[i] + bm.couplings_[i] @ s)))
    assert bm.score(X) == pytest.approx(total / 150)
    assert bm.score((X + 1) // 2) == bm.score(X)


def test_few_spins_are_enumerated():
    X = bs.sample(random_model(9, 0.8, seed=1), 300, sampler="anneal", seed=0)
    bm = fit(X, method="exact")
    states = all_states(9)
    p = np.exp(-bm.model_.energy(states) - bm.model_.log_partition())
    exact = -bm.model_.energy(X).mean() - bm.model_.log_partition()
    assert bm.log_likelihood(X) == (pytest.approx(exact, rel=1e-12), 0.0)
    assert bm.entropy() == (pytest.approx(-(p @ np.log(p))), 0.0)
    # The likelihood is maximal: data and model have the same averages, and so the same mean exponent.
    assert bm.entropy()[0] == pytest.approx(-exact, abs=1e-6)
    independent = np.prod((1 + states * X.mean(axis=0)) / 2, axis=1)
    assert bm.multi_information() == (pytest.approx(p @ np.log(p / independent), abs=1e-6), 0.0)


def test_many_spins_are_sampled():
    bm = fit(method="pseudolikelihood")
    long = anneal(bm.model_, 20_000, schedule(0.01, 1, 100), 0, averages=True)
    weights = np.exp(long.log_weights - long.log_weights.max())
    entropy = long.log_partition - np.average(long.averages.exponents, weights=weights)
    means = np.average(long.averages.spins, axis=0, weights=weights)
    expected = {
        "log_likelihood": -bm.model_.energy(SIM.spins).mean() - long.log_partition,
        "entropy": entropy,
        "multi_information": entropy_of_means(means) - entropy,
    }
    for name, value in expected.items():
        arguments = (SIM.spins,) if name == "log_likelihood" else ()
        found, error = getattr(bm, name)(*arguments, seed=1)
        assert abs(found - value) < 4 * error < 0.2, name
        assert (found, error) == getattr(bm, name)(*arguments, seed=1)


def test_the_start_of_the_chains_is_that_of_the_data():
    """Rare spins, one of them constant. Machines pickled before there was a base start from uniform spins."""
    couplings = random_model(24, 0.3).couplings
    X = bs.sample(bs.IsingModel(couplings, np.linspace(-2.5, -1, 24)), 400, seed=0)
    X[:, 3] = -1
    bm = fit(X, method="pseudolikelihood", gamma=0.1)
    assert np.tanh(bm.answer_.base) == pytest.approx(X.mean(axis=0), abs=0.01)
    value, error = bm.log_likelihood(X, seed=0)
    old = copy(bm)
    old._answer = replace(bm.answer_, base=None)
    without, its_error = old.log_likelihood(X, seed=0)
    assert error < its_error / 4 and abs(value - without) < 4 * its_error
    assert bm.multi_information(seed=0)[1] < old.multi_information(seed=0)[1] / 2


def test_sample():
    bm = fit()
    X = bm.sample(50, seed=0)
    assert X.shape == (50, 30) and X.dtype == np.int8
    assert (X == bm.sample(50, seed=0)).all()


@pytest.mark.parametrize("frame", [pd.DataFrame, pl.DataFrame])
def test_names(frame):
    bm = fit(frame(dict(zip("abcdef", random_spins(90, 6).T, strict=True))), method="pseudolikelihood")
    table = bm.to_frame()
    assert list(table.columns) == [*Coupling._fields, "edge"] and len(table) == 15
    row = table[(table.name_i == "b") & (table.name_j == "e")].iloc[0]
    assert (row.i, row.j) == (1, 4)
    assert row.J == bm.couplings_[1, 4] and row.error == bm.coupling_errors_[1, 4]
    assert bm.strongest(1)[0].name_i in "abcdef"


def test_without_pandas(monkeypatch):
    fitted = fit()
    monkeypatch.setitem(__import__("sys").modules, "pandas", None)
    with pytest.raises(ImportError, match=r"pip install 'bayesing\[data\]'"):
        fitted.to_frame()


def test_repr():
    assert repr(bs.BoltzmannMachine(prior="laplace")) == "BoltzmannMachine(prior='laplace')"
    text = repr(fit(method="pseudolikelihood", gamma=0.25))
    assert text.endswith(
        " by pseudolikelihood (as asked), couplings expected to be about 0.091, penalty 240, check passed"
    )
    assert ": 30 spins, 113 clear signs of 435 pairs, x12-x15 the strongest (-0.27 ± 0.068), by" in text
    with pytest.warns(bs.CheckWarning):
        bm = fit(method="tap")
    assert "J =" not in repr(bm) and repr(bm).endswith("check NOT PASSED")


def test_no_couplings_is_said_and_has_errors():
    X = bs.simulate(60, 50, J=0.0, H=0.3, seed=2).spins
    with pytest.warns(bs.BoundWarning, match="show no couplings"):
        bm = fit(X)
    assert bm.gamma_ == 0 and not bm.couplings_.any() and bm.method_ == "spectral"
    error = bm.coupling_errors_[0, 1]
    expected = fit_spectral(stats(X)).gamma_error * np.sqrt(
        2 / np.pi
    )  # the mean of half a normal distribution
    assert error == pytest.approx(np.sqrt(expected / 60)) and bm.coupling_errors_[3, 3] == 0
    assert np.tanh(bm.fields_).mean() == pytest.approx(X.mean(), rel=0.1)
    conditionals = [
        fit_pseudolikelihood(stats(bs.simulate(60, 50, J=0.0, seed=k).spins)).gamma for k in range(9)
    ]
    seed = conditionals.index(0.0)
    with pytest.warns(bs.BoundWarning, match="show no couplings"):
        bm = fit(bs.simulate(60, 50, J=0.0, seed=seed).spins, method="pseudolikelihood")
    assert bm.penalty_ == np.inf and not bm.couplings_.any()


def test_a_gamma_that_is_hardly_known_widens_errors():
    """As if gamma were its mean, a truncated normal distribution's, by numerical integration."""
    gamma, error = 0.03, 0.05
    x = np.linspace(0, 1, 100_001)
    weight = np.exp(-((x - gamma) ** 2) / (2 * error**2))
    strength = Strength(gamma, error)
    assert strength.expected == pytest.approx((x @ weight) / weight.sum(), rel=1e-3)
    information = np.array([[0.0, 5.0, 1e6]])  # what the data say of three couplings
    given = np.sqrt(1 / (information + 3 / gamma))
    assert strength.widen(given, 3) == pytest.approx(np.sqrt(1 / (information + 3 / strength.expected)))
    assert Strength(gamma, gamma / 6).widen(given, 3) == pytest.approx(given, rel=1e-6)


@pytest.mark.parametrize("method", ["spectral", "pseudolikelihood"])
def test_errors_are_wider_where_gamma_is_hardly_known(method):
    weak = bs.simulate(30, 14, J=0.4, seed=6).spins
    free = fit(weak, method=method)
    fixed = fit(weak, method=method, gamma=free.gamma_)
    assert free.couplings_ == pytest.approx(fixed.couplings_) and free.gamma_ > 0
    assert (free.coupling_errors_ >= fixed.coupling_errors_).all()
    assert free.coupling_errors_[0, 1] > 1.02 * fixed.coupling_errors_[0, 1]
    top = free.strongest(1)[0]
    assert top.error == pytest.approx(free.coupling_errors_[top.i, top.j])


@pytest.mark.filterwarnings("ignore::bayesing.CopiesWarning")
def test_the_largest_gamma_is_said():
    copies = np.repeat(bs.simulate(5, 40, J=0.0, seed=1).spins, 8, axis=1)
    flips = np.random.default_rng(0).random(copies.shape) < 0.02
    with pytest.warns(bs.CheckWarning), pytest.warns(bs.BoundWarning, match="too small"):
        fit(np.where(flips, -copies, copies), method="spectral")


def test_a_search_that_does_not_end_is_said(monkeypatch):
    monkeypatch.setattr("bayesing.couplings._newton._MOST_STEPS", 1)
    with pytest.warns(bs.CheckWarning), pytest.warns(bs.NotConvergedWarning, match="slope of"):
        fit(method="pseudolikelihood", gamma=0.5)


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        (
            {"method": "magic"},
            "method must be one of auto, spectral, likelihood, pseudolikelihood, .*: found 'magic'",
        ),
        ({"prior": "uniform"}, "prior must be one of gaussian, laplace, sparse: found 'uniform'"),
        ({"prior": "laplace", "method": "spectral"}, 'prior must be "gaussian" with method="spectral"'),
        ({"prior": "laplace", "method": "tap"}, 'prior must be "gaussian" with method="tap"'),
        ({"gamma": "large"}, "gamma must be a number: found 'large'"),
        ({"gamma": -1}, 'gamma must be "auto" or from 1e-08 to 1e\\+08: found -1'),
        ({"gamma": 0}, 'gamma must be "auto" or from 1e-08 to 1e\\+08: found 0'),
        ({"gamma": 5e-324}, 'gamma must be "auto" or from 1e-08'),  # which was NaN
        ({"gamma": 1e15}, 'gamma must be "auto" or from 1e-08'),  # whose couplings were all rounding errors
        ({"gamma": 0.5, "method": "exact"}, 'gamma must be "auto" with method="exact"'),
        ({"method": "exact"}, "n up to 16: found n = 30"),
    ],
)
def test_wrong_parameters(parameters, message):
    with pytest.raises(ValueError, match=message):
        fit(**parameters)


def test_wrong_data():
    with pytest.raises(ValueError, match="at least 4 samples: found 3"):
        fit(SIM.spins[:3])
    with pytest.raises(ValueError, match="that vary between samples: found 0 of 3"):
        fit(np.ones((5, 3)))
    with pytest.raises(ValueError, match="expecting 30 features"):
        fit().score(SIM.spins[:, :4])
    with pytest.raises(NotFittedError):
        bs.BoltzmannMachine().score(SIM.spins)
    with pytest.raises(ValueError, match="k must be at least 1"):
        fit().strongest(0)
    assert not hasattr(bs.BoltzmannMachine(), "couplings_")


def test_a_failed_fit_leaves_the_last_one():
    bm = fit()
    before = bm.couplings_
    with pytest.raises(ValueError):
        bm.fit(np.ones((5, 3)))
    assert bm.couplings_ is before and bm.n_features_in_ == 30


def test_clone_and_pickle():
    bm = fit(random_state=3)
    assert clone(bm).get_params() == bm.get_params()
    again = pickle.loads(pickle.dumps(bm))
    assert (again.couplings_ == bm.couplings_).all() and repr(again) == repr(bm)


WITH_NAN = {"ensure_all_finite": "allow-nan"}


def binarised(table):
    return np.where(np.isnan(table), np.nan, table > np.nanmedian(table, axis=0))


class Binarised(bs.BoltzmannMachine):
    """Spins by comparison with the median of each column, so that the checks' random numbers are welcome."""

    def fit(self, X, y=None):
        table = validate_data(self, X, ensure_min_samples=2, ensure_min_features=2, **WITH_NAN)
        super().fit(binarised(table))
        validate_data(self, X, **WITH_NAN)  # the names of the columns, which the comparison dropped
        return self

    def score(self, X, y=None):
        check_is_fitted(self)
        table = validate_data(self, X, reset=False, **WITH_NAN)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", UserWarning)  # of names that the comparison dropped
            return super().score(binarised(table))


@pytest.mark.filterwarnings("ignore::bayesing.BayesingWarning")
def test_the_conventions_of_scikit_learn():
    results = check_estimator(Binarised(), on_skip=None)
    assert len(results) > 30
    assert [r["check_name"] for r in results if r["status"] not in ("passed", "skipped")] == []
