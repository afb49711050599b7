"""What a user sees in Python: lines, notebooks, errors before a fit, single samples, and temperatures."""

import html.parser
import inspect
import warnings

import numpy as np
import pandas as pd
import pytest
import scipy.sparse
from sklearn import config_context
from sklearn.base import clone
from sklearn.exceptions import NotFittedError

import bayesing as bs

from samples import random_model, random_restricted, random_spins, worst_p_value

X = bs.simulate(8, 300, J=0.7, H=0.2, seed=0).spins
HOSTILE = ["<script>alert(1)</script>", "\x1b[2J", "a & b", *"cdefg"]
FRAME = pd.DataFrame(X, columns=HOSTILE)
ESTIMATORS = [bs.EmpiricalBayes, bs.BoltzmannMachine, bs.RestrictedBoltzmannMachine]


def fitted(kind, X=FRAME):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", bs.BayesingWarning)
        how = {"n_hidden": 1} if kind is bs.RestrictedBoltzmannMachine else {}
        method = {"method": "pseudolikelihood"} if kind is bs.BoltzmannMachine else {}
        return kind(**how, **method).fit(X)


class Outline(html.parser.HTMLParser):
    """Tags that are opened and closed, and texts."""

    def __init__(self, page):
        super().__init__()
        self.open, self.tags, self.texts = [], set(), []
        self.feed(page)

    def handle_starttag(self, tag, attrs):
        self.open.append(tag)
        self.tags.add(tag)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        self.texts.append(data)


@pytest.mark.parametrize("kind", ESTIMATORS)
def test_notebooks_show_the_result_and_before_the_fit_what_scikit_learn_shows(kind):
    before = kind()
    bundle = before._repr_mimebundle_()
    assert repr(before) == f"{kind.__name__}()" == bundle["text/plain"]
    assert "sk-container" in bundle["text/html"] and "sk-container" in before._repr_html_()
    after = fitted(kind)
    bundle = after._repr_mimebundle_()
    assert bundle["text/plain"] == repr(after) and bundle["text/html"] == after._repr_html_()
    page = Outline(bundle["text/html"])
    assert page.open == [] and "script" not in page.tags and "\x1b" not in bundle["text/html"]
    assert "\x1b" not in repr(after) and "\n" not in repr(after)
    assert repr(clone(after)) == repr(clone(after)) and "sk-container" in clone(after)._repr_html_()
    with config_context(display="text"):
        assert not hasattr(after, "_repr_html_") and list(after._repr_mimebundle_()) == ["text/plain"]


def test_the_numbers_are_in_what_is_shown():
    eb, bm, rbm = map(fitted, ESTIMATORS)
    assert f"J = {eb.J_:.3g} ± {eb.J_error_:.2g}, H = {eb.H_:+.3g}" in repr(eb)
    assert f"{eb.J_:.4f} ± {eb.J_error_:.4f}" in eb._repr_html_() and eb.regime_ in eb._repr_html_()
    best = bm.strongest(1)[0]
    assert f"{len(bm.edges())} clear signs of 28 pairs" in repr(
        bm
    ) and f"({best.J:+.2g} ± {best.error:.2g})" in repr(bm)
    texts = Outline(bm._repr_html_()).texts
    assert f"{best.J:+.3f} ± {best.error:.3f}" in texts and bm.check_.sentence in texts
    assert any(name in texts for name in (best.name_i, r"\x1b[2J"))
    texts = Outline(rbm._repr_html_()).texts
    assert f"{rbm.gamma_[0]:.3g}" in texts and any(rbm.loadings(0, 1)[0].name in text for text in texts)


def test_a_line_of_many_spins_does_not_count_edges(monkeypatch):
    bm = fitted(bs.BoltzmannMachine)
    monkeypatch.setattr("bayesing.boltzmann_machine._MOST_SHOWN", 7)
    assert ": 8 spins by pseudolikelihood" in repr(bm) and "strongest" not in bm._repr_html_()


def test_models_say_what_they_are_in_a_line():
    model = random_model(7, 0.5, 1)
    J = model.couplings[np.triu_indices(7, 1)]
    expected = f"21 couplings, of size {np.sqrt((J**2).mean()):.3g}, from {J.min():.3g} to {J.max():.3g}; fields from"
    assert expected in repr(model) and repr(model).startswith("<IsingModel of 7 spins: ")
    page = Outline(model._repr_html_())
    assert page.open == [] and f"{J[np.argmax(np.abs(J))]:+.4g}" in page.texts
    few = bs.IsingModel([[0, 0.5, 0], [0.5, 0, 0], [0, 0, 0]])
    assert repr(few).endswith("3 spins: 1 of 3 couplings, of size 0.289, from 0 to 0.5; no fields>")
    assert repr(bs.IsingModel([[0.0]])) == "<IsingModel of 1 spins: 0 couplings; no fields>"
    assert "2 hidden ones with weights of size" in repr(random_restricted(4, 2))
    assert "0 hidden ones; fields" in repr(bs.RestrictedModel(np.empty((3, 0)), np.ones(3), []))


@pytest.mark.parametrize("kind", ESTIMATORS)
def test_nothing_is_there_before_the_fit(kind):
    own = [name for name in dir(kind) if name.endswith("_") and not name.startswith("_")]
    assert len(own) > 10
    for name in (*own, "n_features_in_", "feature_names_in_"):
        with pytest.raises(NotFittedError, match=f"This {kind.__name__} instance is not fitted yet"):
            getattr(kind(), name)
        assert not hasattr(kind(), name)
    for name, method in inspect.getmembers(kind, inspect.isfunction):
        takes = inspect.signature(method).parameters
        if name in (
            "sample",
            "score",
            "entropy",
            "posterior",
            "edges",
            "fields",
            "to_frame",
            "to_bqm",
            "transform",
        ):
            given = [X if each == "X" else 3 for each in list(takes)[1:2] if each in ("X", "n_samples")]
            with pytest.raises(NotFittedError):
                getattr(kind(), name)(*given)


def test_names_that_do_not_exist_are_said_not_to():
    bm = fitted(bs.BoltzmannMachine)
    for name in ("coupling_", "nonsense"):
        with pytest.raises(
            AttributeError, match=f"'BoltzmannMachine' object has no attribute '{name}'"
        ) as caught:
            getattr(bm, name)
        assert not isinstance(caught.value, NotFittedError)
    assert not hasattr(fitted(bs.BoltzmannMachine, X), "feature_names_in_")


@pytest.mark.parametrize("kind", ESTIMATORS)
def test_spin_data_are_taken_as_they_are(kind):
    data = bs.SpinData.of((X + 1) // 2, tuple("abcdefgh"))
    a, b = fitted(kind, data), fitted(kind, pd.DataFrame(X, columns=list("abcdefgh")))
    assert a.names() == b.names() == list("abcdefgh") and repr(a) == repr(b)
    if hasattr(a, "score"):
        assert a.score(data) == a.score(pd.DataFrame(X, columns=list("abcdefgh")))


def test_one_sample_needs_no_second_dimension():
    bm, rbm = fitted(bs.BoltzmannMachine, X), fitted(bs.RestrictedBoltzmannMachine, X)
    for row in (X[3], X[3].tolist(), tuple(X[3].tolist())):
        assert bm.log_likelihood(row) == bm.log_likelihood(X[3:4]) and bm.score(row) == bm.score(X[3:4])
        assert bm.model_.energy(row) == bm.model_.energy(X[3:4]) and bm.impute(row).shape == (1, 8)
        assert rbm.score_samples(row) == rbm.score_samples(X[3:4]) and rbm.transform(row).shape == (1, 1)
        assert rbm.model_.log_likelihood(row) == rbm.model_.log_likelihood(X[3:4])
    gaps = X[3].astype(float)
    gaps[2] = np.nan
    assert bm.log_likelihood(gaps) == bm.log_likelihood(gaps[None])
    named = fitted(bs.BoltzmannMachine)
    assert named.log_likelihood(FRAME.iloc[3]) == named.log_likelihood(FRAME[3:4])
    with pytest.raises(ValueError, match=r"features|spins"):
        bm.score(X[3, :5])
    with pytest.raises(ValueError, match="2-D array"):
        bs.BoltzmannMachine().fit(X[3])


@pytest.mark.parametrize("beta", [0.0, 0.5, 2.0])
def test_samples_at_another_temperature(beta):
    model = random_model(5, 0.6, 3, field=0.2)
    spins = bs.sample(model, 4000, seed=1, beta=beta)
    assert worst_p_value(spins, bs.IsingModel(beta * model.couplings, beta * model.fields), ladders=16) > 1e-3
    assert worst_p_value(spins, model, ladders=16) < 1e-6
    annealed = bs.sample(model, 4000, "anneal", sweeps=10, seed=1, beta=beta)
    assert worst_p_value(annealed, model.at(beta)) > 1e-3


def test_samples_of_fits_at_another_temperature():
    bm, rbm = fitted(bs.BoltzmannMachine, X), fitted(bs.RestrictedBoltzmannMachine, X)
    assert worst_p_value(bm.sample(4000, seed=1, beta=0.3), bm.model_.at(0.3), ladders=16) > 1e-3
    spins = rbm.sample(20_000, seed=1, beta=0.3)
    model = rbm.model_
    expected = bs.RestrictedModel(0.3 * model.weights, 0.3 * model.fields, 0.3 * model.hidden_fields).means()
    assert np.abs(spins.mean(axis=0) - expected).max() < 5 / np.sqrt(20_000)
    assert np.abs(model.means() - expected).max() > 0.05
    assert (bm.sample(10, seed=2) == bm.sample(10, seed=2, beta=1.0)).all()
    for draw in (bm.sample, rbm.sample):
        with pytest.raises(ValueError, match="beta must be a finite number from 0"):
            draw(10, beta=-1)
    with pytest.raises(ValueError, match="Expected an IsingModel"):
        bs.sample(np.eye(3), 10, beta=2)
    with pytest.raises(ValueError, match="Did you mean 'temper'"):
        bs.sample(bm.model_, 10, "tempering")


@pytest.mark.parametrize("kind", [scipy.sparse.csr_array, scipy.sparse.coo_matrix, scipy.sparse.csc_matrix])
def test_models_from_sparse_couplings(kind):
    J = random_model(6, 0.5).couplings * (np.random.default_rng(0).random((6, 6)) < 0.3)
    J = J + J.T
    model = bs.IsingModel(kind(J), 0.1)
    assert (model.couplings == J).all() and model.couplings.dtype == np.float64
    with pytest.raises(ValueError, match="symmetric"):
        bs.IsingModel(kind(np.triu(J + np.eye(6, k=1))))


def test_data_say_what_they_are_in_a_line():
    data = bs.SpinData.of(random_spins(50, 4), ("a", "b", "c", "\x1b[2J"))
    assert repr(data) == "<SpinData of 50 samples of 4 spins, encoded ±1: a, b, c, ...>"
    gaps = np.where(np.eye(50, 4) > 0, np.nan, random_spins(50, 4))
    assert repr(bs.SpinData.of(gaps)) == "<SpinData of 50 samples of 4 spins, encoded ±1, 4 cells missing>"


def test_a_large_model_is_shown_without_its_couplings(monkeypatch):
    monkeypatch.setattr("bayesing.ising._MOST_LISTED", 4)
    assert "strongest" not in random_model(5, 0.5)._repr_html_()
