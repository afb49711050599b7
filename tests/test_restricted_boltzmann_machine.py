import pickle
import warnings

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer
from sklearn.utils.estimator_checks import check_estimator
from sklearn.utils.validation import check_is_fitted, validate_data

import bayesing as bs
from bayesing.exceptions import NotConvergedWarning, Setting
from bayesing.export import SavedRestricted
from bayesing.learning.restricted_size import RestrictedAnswer, fit_size

from samples import stats

RNG = np.random.default_rng(1)
TRUTH = bs.RestrictedModel(RNG.normal(0, 0.6, (12, 2)), RNG.normal(0.1, 0.2, 12), [0.2, -0.1])
X = TRUTH.sample(800, seed=3)


@pytest.fixture(scope="module")
def rbm():
    return bs.RestrictedBoltzmannMachine(n_hidden=2, random_state=0).fit(X)


def test_attributes_are_those_of_the_fit(rbm):
    seed = int(np.random.SeedSequence(0).generate_state(1)[0])
    found = fit_size(stats(X), 2, seed)
    assert (rbm.hidden_couplings_ == found.model.weights).all() and rbm.hidden_couplings_.shape == (12, 2)
    assert (rbm.hidden_coupling_errors_ == found.weight_errors).all()
    assert (rbm.fields_ == found.model.fields).all() and (rbm.field_errors_ == found.field_errors).all()
    assert (rbm.hidden_fields_ == found.model.hidden_fields).all() and rbm.hidden_field_errors_.shape == (2,)
    assert rbm.gamma_.shape == (2,) and rbm.log_evidence_ == found.log_evidence
    assert rbm.evidence_by_n_hidden_ == {2: rbm.log_evidence_}
    assert rbm.log_partition_ == pytest.approx(rbm.model_.log_partition()) and rbm.log_partition_error_ == 0
    assert rbm.method_ == "enumeration" and rbm.reason_ == "as asked" and rbm.answer_.model is rbm.model_
    assert rbm.n_features_in_ == 12 and not hasattr(rbm, "feature_names_in_")


def test_what_it_does_with_data(rbm):
    assert rbm.transform(X) == pytest.approx(np.tanh(rbm.hidden_fields_ + X @ rbm.hidden_couplings_))
    assert (rbm.fit_transform(X) == rbm.transform(X)).all()
    assert rbm.get_feature_names_out().tolist() == ["hidden0", "hidden1"]
    log_likelihood = rbm.model_.log_likelihood(X)
    assert rbm.score_samples(X) == pytest.approx(log_likelihood)
    assert rbm.score(X) == pytest.approx(log_likelihood.mean())
    other = TRUTH.sample(5000, seed=8)
    assert -0.06 < rbm.score(other) - TRUTH.log_likelihood(other).mean() < 0  # 38 parameters, 800 samples
    drawn = rbm.sample(20_000, seed=1)
    assert drawn.shape == (20_000, 12) and drawn.dtype == np.int8
    assert np.abs(drawn.mean(axis=0) - rbm.model_.means()).max() < 4 / np.sqrt(20_000)
    assert (drawn == rbm.sample(20_000, seed=1)).all()


def test_loadings_are_the_largest_weights(rbm):
    top = rbm.loadings(1, k=3)
    order = np.argsort(-np.abs(rbm.hidden_couplings_[:, 1]))[:3]
    assert [loading.i for loading in top] == order.tolist() and top[0].name == f"x{order[0]}"
    assert [loading.weight for loading in top] == rbm.hidden_couplings_[order, 1].tolist()
    assert [loading.error for loading in top] == rbm.hidden_coupling_errors_[order, 1].tolist()
    assert len(rbm.loadings(0, k=100)) == 12
    with pytest.raises(bs.InputError, match="one of 2 hidden units, from 0: found unit=2"):
        rbm.loadings(2)


def test_auto_finds_the_number_of_units_and_says_so():
    rbm = bs.RestrictedBoltzmannMachine(1).fit(pd.DataFrame(X, columns=[f"item{i}" for i in range(12)]))
    assert len(rbm.hidden_fields_) == 2 and sorted(rbm.evidence_by_n_hidden_) == [0, 1, 2, 3, 4]
    assert rbm.log_evidence_ == max(rbm.evidence_by_n_hidden_.values())
    assert rbm.loadings(0, k=1)[0].name.startswith("item") and rbm.feature_names_in_[0] == "item0"
    said = f"gamma = {rbm.gamma_[0]:.2f}, {rbm.gamma_[1]:.2f}"
    assert repr(rbm).endswith(f"12 spins, 2 hidden units (the evidence is largest), {said}")
    assert repr(bs.RestrictedBoltzmannMachine(3)) == "RestrictedBoltzmannMachine(n_hidden=3)"


def test_the_order_of_rows_and_the_encoding_do_not_matter(rbm):
    shuffled = np.random.default_rng(0).permutation(X)
    other = bs.RestrictedBoltzmannMachine(2, random_state=0).fit((shuffled + 1) // 2)
    assert (other.hidden_couplings_ == rbm.hidden_couplings_).all()
    assert (other.transform(X > 0) == rbm.transform(X)).all()


def test_a_flipped_spin_flips_its_weights(rbm):
    flipped = X * np.where(np.arange(12) == 4, -1, 1)
    other = bs.RestrictedBoltzmannMachine(2, random_state=0).fit(flipped)
    assert other.score(flipped) == pytest.approx(rbm.score(X), abs=1e-3)
    assert np.abs(other.hidden_couplings_[4]) == pytest.approx(np.abs(rbm.hidden_couplings_[4]), rel=0.02)
    assert other.fields_[4] == pytest.approx(-rbm.fields_[4], abs=0.01)


def test_no_units_are_independent_spins():
    rbm = bs.RestrictedBoltzmannMachine(0).fit(X)
    assert rbm.transform(X).shape == (800, 0) and repr(rbm).endswith("12 spins, 0 hidden units (as asked)")
    m = (X.sum(axis=0)) / 801
    expected = np.log((1 + m * X) / 2).sum(axis=1)
    assert rbm.score_samples(X) == pytest.approx(expected, abs=1e-3)


def test_more_units_than_spins_and_constant_spins():
    few = np.column_stack([X[:200, :3], np.ones(200)])
    with pytest.warns(
        bs.BayesingWarning, match=r'more hidden units than spins .*, 5 and 4\. .*n_hidden="auto"\.$'
    ):
        rbm = bs.RestrictedBoltzmannMachine(5).fit(few)
    assert rbm.hidden_couplings_.shape == (4, 5)
    # A constant spin: the weights are held by their prior alone.
    assert np.abs(rbm.hidden_couplings_[3]).max() < 0.2 and rbm.fields_[3] > 1.5


@pytest.mark.parametrize("n_hidden", [-1, 2.5, "many", None, [3]])
def test_wrong_numbers_of_units(n_hidden):
    for machine in (bs.RestrictedBoltzmannMachine(n_hidden), bs.BoltzmannMachine(n_hidden=n_hidden)):
        with pytest.raises(bs.InputError, match=r'whole number .* not negative, or "auto": found n_hidden='):
            machine.fit(X)


def test_wrong_data(rbm):
    with pytest.raises(bs.InputError, match=r"at most 10 for each spin .*, 120 here: found n_hidden=121"):
        bs.RestrictedBoltzmannMachine(121).fit(X)
    with pytest.raises(bs.InputError, match="that vary between samples: found 0 of 3"):
        bs.RestrictedBoltzmannMachine(1).fit(np.ones((5, 3)))
    with pytest.raises(bs.InputError, match="rows themselves are needed"):
        bs.RestrictedBoltzmannMachine(1).fit(stats(X).without_rows())
    with pytest.raises(ValueError, match="expecting 12 features"):
        rbm.transform(X[:, :4])
    with pytest.raises(NotFittedError):
        bs.RestrictedBoltzmannMachine().transform(X)
    assert not hasattr(bs.RestrictedBoltzmannMachine(), "gamma_")


def many_units():
    """As chains give it, which take minutes: ln Z with an error, and a warning."""
    n, k = 25, 22
    model = bs.RestrictedModel(RNG.normal(0, 0.3, (n, k)), RNG.normal(0.1, 0.2, n), RNG.normal(0, 0.1, k))
    lost = NotConvergedWarning("Chains are short. Take ", Setting("n_hidden", 3), ".")
    errors = RNG.random((n, k)), RNG.random(n), RNG.random(k)
    answer = RestrictedAnswer(
        model,
        RNG.random(k),
        *errors,
        RNG.random(n),
        17.5,
        0.25,
        {0: -3.5, k: -2.25},
        "chains",
        "as asked",
        (lost,),
    )
    seed = np.random.default_rng(0)
    return (
        bs.RestrictedBoltzmannMachine()
        ._restored(SavedRestricted(answer, None, {}))
        .set_params(random_state=seed)
    )


MACHINES = {
    "named": lambda: bs.RestrictedBoltzmannMachine(2, random_state=0).fit(
        pd.DataFrame(X, columns=list("abcdefghijkl"))
    ),
    "missing": lambda: bs.RestrictedBoltzmannMachine(1).fit(
        np.where(RNG.random((300, 7)) < 0.1, np.nan, X[:300, :7])
    ),
    "chains": many_units,
}


@pytest.mark.parametrize("kind", MACHINES)
def test_a_machine_comes_back_whole(kind, tmp_path):
    rbm = MACHINES[kind]()
    data = bs.sample(
        bs.IsingModel(np.zeros((rbm.n_features_in_,) * 2), np.full(rbm.n_features_in_, 0.2)), 20, seed=2
    )
    data = pd.DataFrame(data, columns=rbm.names()) if kind == "named" else data
    rbm.save(tmp_path / "rbm.npz")
    again = bs.RestrictedBoltzmannMachine.load(tmp_path / "rbm.npz")
    seeded = rbm.random_state if isinstance(rbm.random_state, int) else None
    assert again.get_params() == rbm.get_params() | {"random_state": seeded}
    assert again.names() == rbm.names() and again.n_features_in_ == rbm.n_features_in_
    assert hasattr(again, "feature_names_in_") == hasattr(rbm, "feature_names_in_")
    arrays = ("hidden_couplings_", "hidden_coupling_errors_", "fields_", "field_errors_", "hidden_fields_")
    for name in (*arrays, "hidden_field_errors_", "gamma_"):
        assert np.array_equal(getattr(again, name), getattr(rbm, name)), name
    for name in (
        "log_partition_",
        "log_partition_error_",
        "log_evidence_",
        "evidence_by_n_hidden_",
        "method_",
        "reason_",
    ):
        assert getattr(again, name) == getattr(rbm, name), name
    assert again._line() == rbm._line()
    assert [(type(w), str(w)) for w in again.answer_.warnings] == [
        (type(w), str(w)) for w in rbm.answer_.warnings
    ]
    assert (again.transform(data) == rbm.transform(data)).all() and again.score(data) == rbm.score(data)
    assert (again.sample(30, seed=1) == rbm.sample(30, seed=1)).all()
    assert again.loadings(0, 3) == rbm.loadings(0, 3)


def test_files_that_are_no_machine_are_refused_in_a_sentence(rbm, tmp_path):
    path = tmp_path / "rbm.npz"
    for change, message in (
        (
            {"about": None},
            r"rbm.npz: expected a restricted Boltzmann machine that was saved, found hidden_couplings, ",
        ),
        ({"gamma": np.ones(3)}, r"damaged \(errors of shapes"),
        ({"fields": np.ones(3)}, r"damaged \(fields and hidden_fields must have shapes"),
        ({"about": np.array('{"format": 1}')}, r"damaged \('log_partition'\)"),
    ):
        rbm.save(path)
        with np.load(path) as old:
            whole = {name: old[name] for name in old.files} | change
        np.savez(path, **{name: array for name, array in whole.items() if array is not None})
        with pytest.raises(bs.InputError, match=message):
            bs.RestrictedBoltzmannMachine.load(path)
    bs.BoltzmannMachine("naive_mean_field").fit(X).save(path)
    with pytest.raises(
        bs.InputError, match="expected a restricted Boltzmann machine that was saved, found couplings"
    ):
        bs.RestrictedBoltzmannMachine.load(path)
    rbm.save(path)
    with pytest.raises(bs.InputError, match="expected a fit that was saved, found hidden_couplings"):
        bs.BoltzmannMachine.load(path)
    with np.load(path, allow_pickle=False) as arrays:  # plain arrays, for other programs
        assert all(arrays[name].dtype.kind in "fU" for name in arrays.files)
    with pytest.raises(NotFittedError):
        bs.RestrictedBoltzmannMachine().save(tmp_path / "other.npz")
    assert not (tmp_path / "other.npz").exists()


def test_clone_pickle_and_pipelines(rbm):
    assert clone(rbm).get_params() == {"n_hidden": 2, "random_state": 0}
    again = pickle.loads(pickle.dumps(rbm))
    assert (again.hidden_couplings_ == rbm.hidden_couplings_).all() and repr(again) == repr(rbm)
    frame = pd.DataFrame(X, columns=[f"item{i}" for i in range(12)])
    pipe = make_pipeline(FunctionTransformer(), bs.RestrictedBoltzmannMachine(1)).set_output(
        transform="pandas"
    )
    assert pipe.fit_transform(frame).columns.tolist() == ["hidden0"]


WITH_NAN = {"ensure_all_finite": "allow-nan"}


class Binarised(bs.RestrictedBoltzmannMachine):
    """Spins by comparison with the median of each column, so that the checks' random numbers are welcome."""

    def _spins(self, X, **kwargs):
        table = validate_data(self, X, **WITH_NAN, **kwargs)
        return np.where(np.isnan(table), np.nan, table > np.nanmedian(table, axis=0))

    def fit(self, X, y=None):
        super().fit(self._spins(X, ensure_min_samples=2, ensure_min_features=2))
        validate_data(self, X, **WITH_NAN)  # the names of the columns, which the comparison dropped
        return self

    def _again(self, method, X):
        check_is_fitted(self)
        table = validate_data(self, X, reset=False, **WITH_NAN)
        spins = np.where(np.isnan(table), np.nan, table > 0)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", UserWarning)  # of names that the comparison dropped
            return method(spins)

    def transform(self, X):
        return self._again(super().transform, X)

    def score_samples(self, X):
        return self._again(super().score_samples, X)

    def score(self, X, y=None):
        return self._again(super().score, X)


@pytest.mark.filterwarnings("ignore::bayesing.BayesingWarning")
def test_the_conventions_of_scikit_learn():
    results = check_estimator(Binarised(n_hidden=2), on_skip=None)
    assert len(results) > 35
    assert [r["check_name"] for r in results if r["status"] not in ("passed", "skipped")] == []
