import math
import pickle
import warnings

import joblib
import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.stats import norm

import bayesing as bs
from bayesing import _permutation
from bayesing._permutation import permutation_test
from bayesing._told import GroupStrength, strength_of, told_by, without_prior
from bayesing.comparison import learned
from bayesing.differences import Difference, StrengthDifference
from bayesing.inference import infer_couplings
from bayesing.mixture import WIDTHS

from groups import NAMES, frame, group, network
from samples import draw_exactly, random_model, stats, with_gaps


@pytest.fixture(scope="module")
def changed():
    """A coupling that is there in a alone, one that is stronger in a, and the field of a spin that differs."""
    return frame(group(1500, 1, J02=0.7, J34=0.9)), frame(group(900, 2, J34=0.2))


@pytest.fixture(scope="module")
def found(changed):
    return bs.compare(*changed)


def test_what_differs_is_found_with_its_sign(found):
    edges = found.edges(fdr=0.05)
    assert {(edge.name_i, edge.name_j) for edge in edges} == {("sleep", "worry"), ("panic", "guilt")}
    for edge in edges:
        assert abs(edge.difference - 0.7) < 3 * edge.error < 0.6
        assert edge.probability > 0.99 and edge.J_a > edge.J_b
        assert found.false_sign_rates[edge.i, edge.j] < 1e-3
        assert (found.couplings[0][edge.i, edge.j], found.couplings[1][edge.i, edge.j]) == edge[4:6]
    assert found.groups == ("a", "b") and found.names == tuple(NAMES) and found.left_out == ()
    assert found.test is None and found.trusted
    for matrix in (found.differences, found.errors, found.probabilities, found.false_sign_rates):
        assert_allclose(matrix, matrix.T)
        assert not np.diag(matrix).any()
    pairs = np.triu_indices(len(NAMES), 1)
    assert (found.false_sign_rates[pairs] >= 1 - found.probabilities[pairs]).all()


def test_differences_lie_within_their_errors(found):
    true = (network(J02=0.7, J34=0.9).couplings - network(J34=0.2).couplings)[np.triu_indices(7, 1)]
    upper = np.triu_indices(7, 1)
    z = (found.differences[upper] - true) / found.errors[upper]
    assert np.abs(z).max() < 3.5


def test_other_groups_other_signs(changed, found):
    turned = bs.compare(*changed[::-1])
    assert_allclose(turned.differences, -found.differences, atol=1e-12)
    assert_allclose(turned.errors, found.errors)
    assert_allclose(turned.probabilities, found.probabilities)
    assert turned.strength.value == pytest.approx(-found.strength.value)
    assert turned.strength.interval() == pytest.approx([-end for end in found.strength.interval()[::-1]])
    assert [field.z for field in turned.fields] == pytest.approx([-field.z for field in found.fields])


def test_a_group_does_not_differ_from_itself(changed):
    same = bs.compare(changed[0], changed[0])
    assert not same.differences.any() and same.edges() == [] and same.differing_fields() == []
    assert same.strength.value == 0 and {field.p_value for field in same.fields} == {1.0}
    low, high = same.strength.interval(0.9)
    assert low < 0 < high


def test_machines_and_data_give_the_same(changed, found):
    fitted = [bs.BoltzmannMachine(prior="sparse").fit(x) for x in changed]
    other = bs.compare(*fitted)
    assert_allclose(other.differences, found.differences)
    assert other.strength == found.strength and other.fields == found.fields
    assert_allclose(other.couplings[0], fitted[0].couplings_)
    arrays = bs.compare(*(stats(x.to_numpy()) for x in changed))
    assert_allclose(arrays.differences, found.differences)
    assert arrays.names == tuple(f"x{i}" for i in range(7))


@pytest.mark.parametrize("method", [method.name for method in bs.couplings.METHODS])
@pytest.mark.filterwarnings("ignore::bayesing.BayesingWarning")  # baselines fail their check
def test_all_methods_find_a_strong_difference(changed, method):
    fitted = [bs.BoltzmannMachine(method).fit(x) for x in changed]
    found = bs.compare(*fitted)
    assert {(0, 2), (3, 4)} <= {(edge.i, edge.j) for edge in found.edges(fdr=0.05)}
    with_errors = all(bm.field_errors_ is not None for bm in fitted)
    assert all((field.error is None) != with_errors for field in found.fields)
    assert with_errors or found.differing_fields() == []


# What the data alone say


def test_a_gaussian_prior_is_taken_back():
    """Normal likelihood and normal prior: the posterior is known, and so is what the prior added."""
    b, q, precision = np.array([0.4, -0.3, 0.2]), np.array([90.0, 250.0, 1e-9]), 40.0
    J, errors = q * b / (q + precision), 1 / np.sqrt(q + precision)
    told, known = without_prior(J, errors, precision)
    assert_allclose(told[:2], b[:2])
    assert_allclose(known, [90, 250, 0], atol=1e-9)
    assert told[2] == 0
    told, known = without_prior(J, np.array([0.1, 0.0, math.inf]), 0.0)
    assert_allclose(known, [100, 0, 0])
    assert told.tolist() == [J[0], 0, 0]


def test_the_two_priors_agree_on_what_the_data_say(changed):
    """Many samples: what the data say hardly depends on how it was pulled."""
    found = [
        bs.compare(*(bs.BoltzmannMachine(**how).fit(x) for x in changed)) for how in ({}, {"prior": "sparse"})
    ]
    i, j = zip((0, 2), (3, 4), strict=True)
    first, second = (each.differences[i, j] for each in found)
    assert np.abs(first - second).max() < found[0].errors[i, j].max()
    assert found[0].strength.J_a == pytest.approx(found[1].strength.J_a, rel=0.03)


def test_small_groups_are_on_the_scale_of_large_ones():
    """Uncertain neighbours flatten conditionals: couplings would be too small by 8%, for 80 samples of 15 spins."""
    raw, told = [], []
    for seed in range(30):
        model = random_model(15, 0.8, seed)
        data = stats(draw_exactly(model, 80, np.random.default_rng(seed)))
        answer = infer_couplings(data, "pseudolikelihood", "sparse")
        true = model.couplings.ravel()
        for slopes, b in ((raw, answer.couplings.told), (told, told_by(answer)[0])):
            slopes.append(b.ravel() @ true / (true @ true))
    error = np.std(told) / math.sqrt(30)
    assert np.mean(raw) < 1 - 3 * error
    assert abs(np.mean(told) - 1) < 3 * error < 0.06


def slow_twin(d, q):
    """Sizes by the definition: EM on weights of normals around 0, 40 zeros at the quantiles of the noise added."""
    noise = norm.ppf((np.arange(40) + 0.5) / 40) / math.sqrt(np.median(q))
    variances = [0.0, *WIDTHS**2]
    weights = np.full(len(variances), 1 / len(variances))
    data = [*zip(d, q, strict=True), *((x, np.median(q)) for x in noise)]
    for _ in range(300):
        total = np.zeros(len(variances))
        for x, precision in data:
            density = weights * norm.pdf(x, scale=np.sqrt(1 / precision + np.array(variances)))
            total += density / density.sum()
        weights = total / len(data)
    means, deviations = [], []
    for x, precision in zip(d, q, strict=True):
        share = weights * norm.pdf(x, scale=np.sqrt(1 / precision + np.array(variances)))
        share /= share.sum()
        shrunk = np.array([v / (v + 1 / precision) for v in variances])
        mean = share @ shrunk * x
        means.append(mean)
        deviations.append(math.sqrt(share @ (shrunk / precision + (shrunk * x) ** 2) - mean**2))
    return np.array(means), np.array(deviations)


def test_differences_are_those_of_a_mixture_with_some_zeros():
    rng = np.random.default_rng(3)
    q = rng.uniform(50, 150, 60)
    d = np.where(np.arange(60) < 6, 0.5, 0.0) + rng.normal(size=60) / np.sqrt(q)
    size, differs = learned(d, q)
    means, deviations = slow_twin(d, q)
    assert_allclose(size.mean, means, atol=2e-3)
    assert_allclose(np.sqrt(size.variance), deviations, atol=2e-3)
    assert differs.probabilities[:6].mean() > 0.8 and (differs.probabilities[6:] < 0.5).all()


def test_the_difference_has_the_noise_of_both_groups(changed, found):
    """By definition, from what each fit was told: the point of a difference is not J_a - J_b."""
    fitted = [bs.BoltzmannMachine(prior="sparse").fit(x).answer_ for x in changed]
    q_a, q_b = (answer.couplings.precisions[0, 2] for answer in fitted)
    assert found.errors[0, 2] == pytest.approx(math.sqrt(1 / q_a + 1 / q_b), rel=0.15)


# Strength


def test_strength_without_noise():
    rng = np.random.default_rng(4)
    J, q = rng.normal(0, 0.2, 300), rng.uniform(60, 180, 300)
    seen = [strength_of(J + rng.normal(size=300) / np.sqrt(q), q, 25) for _ in range(400)]
    gammas, true = np.array([found.gamma for found in seen]), 25 * np.mean(J**2)
    error = gammas.std()
    assert abs(gammas.mean() - true) < 4 * error / 20  # with the noise it would be larger by 0.25
    # Errors of these couplings are independent, and those said allow for some correlation.
    said = np.mean([found.error for found in seen])
    assert error < said < 1.25 * error
    zero = [strength_of(rng.normal(size=300) / np.sqrt(q), q, 25) for _ in range(400)]
    assert np.std([found.gamma for found in zero]) == pytest.approx(
        np.mean([f.error for f in zero]), rel=0.15
    )


def test_intervals_of_the_strength():
    far = StrengthDifference(GroupStrength(1.0, 0.02), GroupStrength(0.25, 0.01))
    assert (far.J_a, far.J_b, far.value) == (1.0, 0.5, 0.5)
    assert far.error == pytest.approx(
        math.hypot(0.02 / 2, 0.01 / 1), rel=0.01
    )  # the delta method: dJ = dgamma/2J
    low, high = far.interval(0.9)
    assert (low, high) == pytest.approx((0.5 - 1.645 * far.error, 0.5 + 1.645 * far.error), abs=1e-3)
    none = StrengthDifference(GroupStrength(-0.01, 0.02), GroupStrength(0.0, 0.02))
    assert none.value == 0 and none.interval()[0] == -math.sqrt(0.02 * 1.6448536269514722)
    with pytest.raises(ValueError, match="level"):
        far.interval(1.5)


def test_the_interval_covers_the_difference_of_strength():
    """Groups of unequal size, 40 pairs: 90% give or take 3 errors."""
    a, b = network(), network(J12=0.0, J34=0.0)
    upper = np.triu_indices(7, 1)
    true = [math.sqrt(7 * np.mean(model.couplings[upper] ** 2)) for model in (a, b)]
    rng, hits = np.random.default_rng(5), 0
    for _ in range(40):
        found = bs.compare(draw_exactly(a, 200, rng), draw_exactly(b, 600, rng)).strength
        low, high = found.interval(0.9)
        hits += low <= true[0] - true[1] <= high
    assert 30 <= hits


# No difference, and permutations


def test_no_difference_is_hardly_ever_declared():
    rng, model = np.random.default_rng(6), network()
    alarms, fields = 0, []
    for _ in range(40):
        found = bs.compare(draw_exactly(model, 150, rng), draw_exactly(model, 600, rng))
        alarms += bool(found.edges(fdr=0.05))
        fields += [field.z for field in found.fields]
    assert alarms <= 5
    assert 0.7 < np.std(fields) < 1.15


def test_permutations_of_exchangeable_groups():
    rng, model = np.random.default_rng(7), network()
    tests = [
        permutation_test(
            stats(draw_exactly(model, 60, rng)), stats(draw_exactly(model, 120, rng)), 19, seed, None
        )
        for seed in range(40)
    ]
    for name in ("p_value", "p_value_strength"):
        p = np.array([getattr(test, name) for test in tests])
        assert abs(p.mean() - 0.5) < 4 * math.sqrt(1 / 12 / 40)  # uniform from 1/20 to 1
        assert (p <= 0.05).sum() <= 7 and p.min() >= 1 / 20


def test_missing_cells_are_drawn_from_one_model_of_both_groups(changed, monkeypatch):
    a, b = (with_gaps(np.asarray(group)[:400], 0.1, seed) for seed, group in enumerate(changed))
    fitted, dealt = [], []
    inferred, statistics = _permutation.infer_couplings, _permutation._statistics
    monkeypatch.setattr(
        _permutation, "infer_couplings", lambda data, **how: fitted.append(data) or inferred(data, **how)
    )
    monkeypatch.setattr(
        _permutation, "_statistics", lambda both, *how: dealt.append(both) or statistics(both, *how)
    )
    test = permutation_test(stats(a), stats(b), 19, 3, None)
    assert test.p_value == 1 / 20 and test.largest > 5
    rows = np.concatenate([a, b])
    (data,) = fitted
    np.testing.assert_array_equal(data.spins(), np.nan_to_num(rows))
    drawn, there = dealt[0].spins(), ~np.isnan(rows)
    assert not dealt[0].missing and (drawn[there] == rows[there]).all()
    assert all(each is dealt[0] for each in dealt)  # cells are drawn once


def test_permutations_see_a_difference_for_any_number_of_workers(changed):
    heard, answers = [], []
    for n_jobs in (1, 2):
        with joblib.parallel_config(n_jobs=n_jobs):
            found = bs.compare(*changed, permutations=19, seed=3, progress=lambda *x: heard.append(x))
        answers.append(found.test)
    test = answers[0]
    assert answers[0] == answers[1] and (19, 19) in heard
    assert test.p_value == 1 / 20 and test.permutations == 19 and test.largest > 5
    assert "p = 0.05 (19 permutations)" in found.sentence
    other = bs.compare(*changed, permutations=19, seed=4).test
    assert (other.largest, other.strength) == (test.largest, test.strength)


# Fields


def test_fields_have_p_values(changed, found):
    bm_a, bm_b = (bs.BoltzmannMachine(prior="sparse").fit(x) for x in changed)
    for field in found.fields:
        error = math.hypot(bm_a.field_errors_[field.i], bm_b.field_errors_[field.i])
        assert field.difference == pytest.approx(bm_a.fields_[field.i] - bm_b.fields_[field.i])
        assert field.z == pytest.approx(field.difference / error) and field.error == pytest.approx(error)
        assert field.p_value == pytest.approx(2 * norm.sf(abs(field.z)))


def test_a_field_that_differs():
    model = network()
    other = bs.IsingModel(model.couplings, model.fields + 0.5 * (np.arange(7) == 3))
    rng = np.random.default_rng(8)
    found = bs.compare(frame(draw_exactly(other, 1500, rng)), frame(draw_exactly(model, 1500, rng)))
    field, *rest = found.differing_fields(fdr=0.05)
    assert field.name == "panic" and rest == [] and abs(field.difference - 0.5) < 3 * field.error
    assert found.edges() == []


# Lists, words and frames


def test_lists(found):
    pairs = list(found.pairs())
    assert [(pair.i, pair.j) for pair in pairs] == [(i, j) for i in range(7) for j in range(i + 1, 7)]
    assert pairs[1] == next(edge for edge in found.edges() if edge.j == 2) and isinstance(
        pairs[1], Difference
    )
    flags = found.edge_flags(fdr=0.05)
    assert [pair for pair, flag in zip(pairs, flags, strict=True) if flag] == sorted(found.edges(fdr=0.05))
    table = found.to_frame(fdr=0.05)
    assert [*table.columns] == [*Difference._fields, "differs"] and table[
        "differs"
    ].tolist() == flags.tolist()
    assert len(found.edges(fdr=1)) == 21 and len(found.edges(fdr=0.001)) == 2
    with pytest.raises(ValueError, match="fdr"):
        found.edges(fdr=2)


def test_words(found):
    assert found.sentence.startswith("2 of 21 couplings of 7 spins differ between a and b")
    assert repr(found).startswith("<Comparison of a minus b: 2 of 21")
    assert pickle.loads(pickle.dumps(found)).sentence == found.sentence


def test_more_than_two_groups(changed, found, monkeypatch):
    fits = []
    original = bs.comparison.infer_couplings
    monkeypatch.setattr(
        "bayesing.comparison.infer_couplings", lambda *a, **k: fits.append(1) or original(*a, **k)
    )
    groups = {"one": changed[0], "two": changed[1], 3: frame(group(800, 9, J34=0.2))}
    answers = bs.compare_groups(groups)
    assert list(answers) == [("one", "two"), ("one", "3"), ("two", "3")] and len(fits) == 3
    assert_allclose(answers["one", "two"].differences, found.differences)
    assert answers["two", "3"].edges() == [] and answers["two", "3"].groups == ("two", "3")
    with pytest.raises(bs.InputError, match="at least 2 groups"):
        bs.compare_groups({"one": changed[0]})


# Data of another kind


def test_columns_are_matched_by_name(changed, found):
    a, b = changed
    with pytest.warns(bs.LeftOutWarning, match=r"age \(not in b\), sex \(not in a\)"):
        other = bs.compare(
            a.assign(age=np.resize([1, -1], len(a))), b[NAMES[::-1]].assign(sex=np.resize([1, -1], len(b)))
        )
    assert other.left_out == (("age", "not in b"), ("sex", "not in a")) and other.names == tuple(NAMES)
    assert_allclose(other.differences, found.differences, atol=1e-3)
    fitted = [bs.BoltzmannMachine(prior="sparse").fit(x) for x in (a, b[NAMES[::-1]])]
    assert_allclose(bs.compare(*fitted).differences, found.differences, atol=1e-3)


@pytest.mark.filterwarnings("ignore::bayesing.NotSparseWarning")
def test_a_constant_item_is_left_out(changed):
    a, b = changed
    b = b.assign(worry=1)
    with pytest.warns(bs.LeftOutWarning, match=r"worry \(constant in b\)"):
        found = bs.compare(a, b)
    assert found.left_out == (("worry", "constant in b"),)
    assert found.names == ("sleep", "mood", "panic", "guilt", "anger", "hope")
    assert [(edge.name_i, edge.name_j) for edge in found.edges()] == [("panic", "guilt")]
    for how in ({"prior": "sparse"}, {}):
        with pytest.warns(bs.LeftOutWarning, match="worry"):
            fitted = bs.compare(*(bs.BoltzmannMachine(**how).fit(x) for x in (a, b)))
        assert fitted.names == found.names
    with pytest.warns(bs.LeftOutWarning):
        assert bs.compare(a, b, permutations=9).test.p_value == 0.1


@pytest.mark.parametrize(
    ("a", "b", "words"),
    [
        (group(50, 1), group(3, 1), "Group b has too few samples: expected at least 4, found 3"),
        (group(50, 1), group(50, 1)[:, :5], "found 7 in a, 5 in b, and not all of them have names"),
        (frame(group(50, 1)), frame(group(50, 1), list("opqrstu")), "columns that all groups have: found 0"),
        (frame(group(50, 1), list("aabcdef")), frame(group(50, 2)), "found 'a' twice in group a"),
        (np.ones((9, 3), int), group(50, 1)[:, :3], "Group a has too few columns that vary"),
        (group(50, 1), 3 * group(50, 1), "Group b: "),
        (
            np.array([[1, 1, 1, -1], [1, 1, -1, 1]] * 5),
            np.array([[1, -1, 1, 1], [-1, 1, 1, 1]] * 5),
            "at least 2 columns that vary in both a and b: found 0 of 4",
        ),
    ],
)
@pytest.mark.filterwarnings("ignore::bayesing.BayesingWarning")
def test_one_sentence_for_bad_groups(a, b, words):
    with pytest.raises(bs.InputError, match=words) as caught:
        bs.compare(a, b)
    assert "\n" not in str(caught.value)


def test_what_cannot_be_compared(changed):
    a, b = changed
    sparse = bs.BoltzmannMachine(prior="sparse").fit(a)
    with pytest.raises(bs.InputError, match="found both"):
        bs.compare(sparse, b)
    with pytest.raises(bs.InputError, match="Permutations need the data"):
        bs.compare(sparse, sparse, permutations=9)
    laplace = bs.BoltzmannMachine(prior="laplace").fit(b)
    with pytest.raises(bs.InputError, match=r'Group b: the Laplace prior .* Fit with prior="sparse"'):
        bs.compare(sparse, laplace)
    with pytest.raises(ValueError, match="permutations"):
        bs.compare(a, b, permutations=-1)
    free = bs.simulate(n_spins=7, n_samples=60, J=0.0, seed=1).spins
    with pytest.warns(bs.BoundWarning):
        none = bs.BoltzmannMachine("spectral").fit(free)
    assert none.gamma_ == 0
    with pytest.raises(bs.InputError, match="Group a: the strength of the prior was inferred to be 0"):
        bs.compare(none, none)


def test_a_failed_check_is_handed_on():
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", bs.BayesingWarning)  # of the fits themselves
        bad = bs.BoltzmannMachine("naive_mean_field").fit(group(500, 1, J12=1.5, J23=1.5, J34=1.5, J45=1.5))
        good = bs.BoltzmannMachine("naive_mean_field").fit(group(500, 2))
    assert not bad.check_.passed
    with pytest.warns(bs.CheckWarning, match="Group a: "):
        found = bs.compare(bad, good)
    assert not found.trusted and found.checks == (bad.check_, good.check_)
    assert "do not look like its data" in found.sentence
