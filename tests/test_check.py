"""Do samples of a model look like the data? Against exact averages, on models that are right and on wrong ones."""

import json
import math
import warnings
from contextlib import nullcontext
from dataclasses import replace

import numpy as np
import pytest
from joblib import cpu_count, effective_n_jobs, parallel_config

import bayesing as bs
import bayesing.check as module
from bayesing.check import Effort, _at_rest, _chains_from, _counts, _shown, check, quick, thorough
from bayesing.conditionals import independent_fields
from bayesing.couplings import METHODS
from bayesing.entropy import annealed
from bayesing.exceptions import Setting
from bayesing.sampling.missing import shown
from bayesing.statistics import SpinStatistics
from bayesing.threads import chains_for

from commands import run_here
from samples import random_model, repeated

MODEL = random_model(9, 0.8, seed=3)
X = bs.sample(MODEL, 3000, seed=0)
STATS = SpinStatistics.of(X)


def look(model, stats=STATS, effort=None):
    return check(model, stats, effort or thorough(stats.n), independent_fields(stats.sums, stats.N))


def bursts(N=8000, n=40, seed=0):
    rng = np.random.default_rng(seed)
    rate = np.where(rng.random(N) < 0.02, 0.2, 0.01)
    return np.where(rng.random((N, n)) < rate[:, None], 1, -1).astype(np.int8)


def test_the_true_model_passes_and_its_likelihood_is_exact():
    found = look(MODEL)
    assert found.passed and "Samples look like the data" in found.sentence
    for value in (found.means, found.pairs, found.counts):
        assert 0.4 < value < 1.6
    exact = -float(MODEL.energy(X).mean()) - MODEL.log_partition()
    assert found.log_likelihood == pytest.approx(exact) and found.log_likelihood_error == 0
    p = (1 + X.mean(axis=0)) / 2
    alone = np.where(X > 0, np.log(p), np.log(1 - p)).sum(axis=1).mean()
    assert found.independent == pytest.approx(alone) and found.gain == pytest.approx(exact - alone)
    assert found.active_at_rest == pytest.approx((9 + MODEL.means().sum()) / 2)
    assert found.active == pytest.approx(found.active_at_rest, abs=4 * found.active_error)
    assert found.active_in_data == pytest.approx((X > 0).sum(axis=1).mean())
    assert found.active_in_data_error == pytest.approx((X > 0).sum(axis=1).std() / math.sqrt(3000))


@pytest.mark.parametrize("seed", range(8))
def test_errors_are_standard_errors(seed):
    """Root mean squares of the true model are 1, but for chance."""
    model = random_model(12, 0.6, seed=seed)
    stats = SpinStatistics.of(bs.sample(model, 1500, seed=seed))
    found = look(model, stats, Effort(2048, 64, 0.02))
    assert found.passed
    assert 0.3 < found.means < 1.8 and 0.7 < found.pairs < 1.3


@pytest.mark.parametrize(
    ("couplings", "fields", "words"),
    [
        (MODEL.couplings, MODEL.fields + 0.2, "active spins of 9, the data"),
        (-MODEL.couplings, np.arctanh(X.mean(axis=0)) - (-MODEL.couplings @ X.mean(axis=0)), ""),
        (1.6 * MODEL.couplings, MODEL.fields, ""),
        (np.zeros((9, 9)), np.arctanh(X.mean(axis=0)), "other means and correlations than the data"),
    ],
    ids=["fields", "sign", "too strong", "independent"],
)
def test_wrong_models_fail(couplings, fields, words):
    found = look(bs.IsingModel(couplings, fields))
    assert not found.passed and words in found.sentence and "o not use these couplings" in found.sentence


def test_the_exponent_rises_to_that_of_the_model():
    """From all rows of the data, chains of a model that is too strong, and of one that is too weak."""
    for factor in (1.5, 0.5):
        model = bs.IsingModel(factor * MODEL.couplings, MODEL.fields)
        spins, rise = _chains_from(STATS, model, len(X), independent_fields(STATS.sums, STATS.N))
        before, after = -model.energy(X), -model.energy(spins.T.astype(np.int8))
        spread = math.sqrt((before.var() + after.var()) / 2)
        assert rise == pytest.approx((after.mean() - before.mean()) / spread, rel=1e-4)
        assert (rise > 0.1) == (factor > 1) and (rise < -0.1) == (factor < 1)


def test_annealed_chains_count_by_their_weights():
    """Annealed in four steps, so that weights matter, against enumeration."""
    model = random_model(14, 1.2, seed=0, field=0.8)
    spins = bs.sample(model, 500, seed=0)
    stats = SpinStatistics.of(spins)
    found = check(model, stats, Effort(64, 20_000, 0.3), np.zeros(14))
    exact = (14 + model.means().sum()) / 2
    assert abs(found.active_at_rest - exact) < 3 * found.active_at_rest_error
    assert found.active_at_rest_error < 0.15
    off = annealed(model, 20_000, 0, np.zeros(14), 1, 0.3).spins.sum(axis=1).mean() / 2 + 7 - exact
    assert abs(off) > 5 * found.active_at_rest_error  # what chains without weights would say


def test_the_number_of_active_spins_has_the_error_of_chains_with_weights():
    """14 spins that are mostly alike: a wide distribution, and chains that differ in weight."""
    model, effort, base = bs.IsingModel(0.15 * (1 - np.eye(14)), 0.05), Effort(64, 500, 0.3), np.zeros(14)
    found = annealed(model, effort.annealed, module._SEED, base, 1, effort.beta_step)
    active = (14 + found.spins.sum(axis=1)) / 2
    mean = np.average(active, weights=found.shares)
    variance = np.average((active - mean) ** 2, weights=found.shares)
    at_rest = _at_rest(model, 14, effort, base, 1.0)
    assert variance > 10 and 1 < 500 * found.shares @ found.shares < 400
    assert at_rest.active == pytest.approx(mean)
    assert at_rest.active_error == pytest.approx(math.sqrt(variance * np.sum(found.shares**2)))
    assert abs(mean - (14 + model.means().sum()) / 2) < 4 * at_rest.active_error
    wider = _at_rest(model, 14, effort, base, 10.0)  # than what the chains show
    assert wider.active_error == pytest.approx(10 * math.sqrt(np.sum(found.shares**2)))


def test_every_part_can_fail_alone():
    right = look(MODEL)
    for change, words in (
        ({"means": 3.1}, "other means"),
        ({"pairs": 2.1}, "other means"),
        ({"counts": 5.1}, "not their distribution of the number of active spins"),
        ({"active": 1.2 * right.active_in_data}, "active spins of 9"),
        ({"active_at_rest": 0.8 * right.active_in_data, "active_at_rest_error": 0.01}, "active spins of 9"),
        ({"log_likelihood": right.independent - 0.1}, "less probable under this fit than under independent"),
        ({"rise": 0.4}, "move away from the data"),
    ):
        wrong = replace(right, **change)
        assert right.passed and not wrong.passed and words in wrong.sentence
    unsure = replace(right, active_at_rest=0.8 * right.active_in_data, active_at_rest_error=0.6)
    assert unsure.passed
    assert replace(right, counts=None).passed and "number active" not in replace(right, counts=None).sentence


def test_a_common_cause_is_named_as_a_remedy():
    right = look(MODEL)
    wrong = replace(right, counts=5.1)
    advice = "number of active spins. Think of a common cause: n_hidden=1. In all:"
    assert not wrong.passed and advice in wrong.sentence
    assert "Think of a common cause: --hidden 1. In all:" in wrong.worded(Setting.in_shell)
    assert "Think of another common cause: n_hidden=3." in replace(wrong, n_hidden=2).sentence
    assert right.n_hidden == 0 and right.worded(Setting.in_shell) == right.sentence


def test_annealed_chains_see_the_weight_of_states_that_chains_from_the_data_do_not():
    """A ferromagnet of 30 spins in a small field, whose data are from one of its two states alone."""
    J = np.full((30, 30), 1.6 / 30) - 1.6 / 30 * np.eye(30)
    model = bs.IsingModel(J, 0.001)
    both = bs.sample(model, 2000, seed=0)
    up = SpinStatistics.of(both[both.mean(axis=1) > 0.3])
    found = look(model, up)
    assert not found.passed
    assert found.active_at_rest < 0.8 * found.active < 1.1 * found.active_in_data


def test_bursts_need_annealed_chains():
    """Couplings by pseudo-likelihood have a state with all spins active, which chains from the data never reach."""
    X = bursts()
    with pytest.warns(bs.CheckWarning, match="do not use these couplings|Do not use these couplings"):
        bm = bs.BoltzmannMachine("pseudolikelihood").fit(X)
    assert not bm.check_.passed and bm.check_.gain < -1
    assert "NOT PASSED" in repr(bm)


def test_counts_are_compared_in_bins():
    rng = np.random.default_rng(0)
    same = [_counts(rng.binomial(30, 0.3, 1000), rng.binomial(30, 0.3, 2000)) for _ in range(40)]
    assert np.sqrt(np.mean(np.square(same))) == pytest.approx(1, abs=0.15)
    assert _counts(rng.binomial(30, 0.35, 1000), rng.binomial(30, 0.3, 2000)) > 3
    assert _counts(np.zeros(50), np.zeros(60, int)) == 0


def test_without_rows_chains_start_from_independent_spins():
    folded = STATS.without_rows()
    found = look(MODEL, folded)
    assert found.passed and found.counts is None and found.rise == 0
    assert not look(bs.IsingModel(1.6 * MODEL.couplings, MODEL.fields), folded).passed


def test_constant_spins_do_not_fail():
    Y = np.hstack([X[:40], np.ones((40, 3), np.int8)])
    assert bs.BoltzmannMachine("spectral").fit(Y).check_.passed


def test_effort_has_bounds():
    assert quick(50, 500).chains == 192 and quick(4000, 100).chains == 32
    assert thorough(20).chains == 2**14 and thorough(1000).chains == 2048
    assert quick(300, 300).chains * 40 * 300**2 < 2e9


def test_it_is_the_same_every_time():
    assert look(MODEL) == look(MODEL)


def test_other_data():
    bm = bs.BoltzmannMachine("exact").fit(X)
    assert bm.check_.passed and bm.check(bs.sample(MODEL, 500, seed=9)).passed
    assert not bm.check(-X).passed
    with pytest.raises(ValueError, match=r"expecting 9|Expected 9"):
        bm.check(X[:, :5])


def test_every_method_is_checked():
    for method in METHODS:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", bs.CheckWarning)
            bm = bs.BoltzmannMachine(method.name).fit(X)
        assert np.isfinite([bm.check_.means, bm.check_.pairs, bm.check_.log_likelihood]).all()


def test_auto_moves_on_where_the_check_fails():
    X = bursts()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", bs.BayesingWarning)
        bm = bs.BoltzmannMachine(random_state=1).fit(X)
    assert bm.method_ == "likelihood" and "by pseudolikelihood do not look like the data" in bm.reason_
    assert bm.check_.active == pytest.approx(bm.check_.active_in_data, rel=0.2)


def test_beyond_what_can_be_sampled_there_is_no_check(monkeypatch):
    monkeypatch.setattr("bayesing.choice.MOST_CHECKED", 8)
    bm = bs.BoltzmannMachine("spectral").fit(X)
    assert bm.check_ is None and "check" not in repr(bm)


@pytest.mark.filterwarnings("default::bayesing.BayesingWarning")
def test_the_shell_says_it(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    np.save("x.npy", bursts(4000, 30))
    result = run_here("couplings", "x.npy", "-o", "J.csv", "--method", "pseudolikelihood")
    assert "  check    " in result.stdout and "o not use these couplings" in result.stdout
    assert "o not use these couplings" in result.stderr
    result = run_here("couplings", "x.npy", "-o", "K.csv", "--method", "pseudolikelihood", "--json")
    answer = json.loads(result.stdout)
    assert answer["check"]["passed"] is False and answer["warnings"][0] == answer["check"]["sentence"]
    result = run_here("fit", "x.npy", "--method", "spectral", "--json")
    answer = json.loads(result.stdout)
    assert answer["trusted"] is False and answer["reasons"][0]["quantity"] == "mean correlation"
    assert "not to be believed" in answer["regime"] and "not to be believed" in answer["warnings"][0]
    result = run_here("fit", "x.npy", "--method", "spectral")
    assert "Correlations are positive on average" in result.stdout


def test_rows_beside_hidden_units_count_as_often_as_they_occur():
    """The mean over all rows of the exponent of what they show, one row at a time."""
    model, rows = random_model(6, 0.8, seed=3), repeated(R=9, n=5)
    exponent, _ = _shown(model, bs.SpinStatistics.of(rows))
    each = [shown(model, np.append(row, 0)[None].astype(np.int8)).log_weights[0] for row in rows]
    assert exponent == pytest.approx(np.mean(each), rel=1e-12)


def test_chains_of_many_spins_run_on_all_cores():
    for n_spins, asked, cores in ((501, None, cpu_count()), (500, None, 1), (501, 1, 1)):
        with parallel_config(n_jobs=asked) if asked else nullcontext(), chains_for(n_spins):
            assert effective_n_jobs(None) == cores


def test_errors_of_pairs_are_those_of_their_products(monkeypatch):
    """Two sets of spins with means far from 0; the four states of a pair, with the mean moments of both."""
    strong = random_model(5, 0.9, seed=1, field=0.8)
    data, other = (bs.sample(strong, N, seed=seed) for N, seed in ((900, 1), (700, 2)))
    monkeypatch.setattr(module, "_chains_from", lambda *arguments: (other.T.astype(np.float32), 0.0))
    found = look(strong, SpinStatistics.of(data))
    z = []
    for i in range(5):
        for j in range(i):
            C = [np.cov(x[:, i], x[:, j], bias=True)[0, 1] for x in (data, other)]
            m, c = [(data[:, k].mean() + other[:, k].mean()) / 2 for k in (i, j)], sum(C) / 2
            states = np.array([(s, t) for s in (-1, 1) for t in (-1, 1)])
            p = [(1 + s * m[0] + t * m[1] + s * t * (c + m[0] * m[1])) / 4 for s, t in states]
            product = (states[:, 0] - m[0]) * (states[:, 1] - m[1])
            variance = p @ product**2 - (p @ product) ** 2
            z.append((C[1] - C[0]) / math.sqrt(variance * (1 / 900 + 1 / 700)))
    assert found.pairs == pytest.approx(math.sqrt(np.mean(np.square(z))), rel=1e-4)


def test_a_model_without_any_exponent_does_not_rise():
    assert _chains_from(STATS, bs.IsingModel(np.zeros((9, 9))), 64, np.zeros(9))[1] == 0


def test_counts_in_standard_errors():
    """Three values, the last of which is rare, so that there are three bins."""
    model, data = np.repeat([0.0, 1.0, 2.0], [30, 62, 8]), np.repeat([0, 1, 2], [25, 23, 2])
    p, q = np.array([0.3, 0.62, 0.08]), np.array([0.5, 0.46, 0.04])
    variance = (p + q) / 2 * (1 - (p + q) / 2)
    expected = math.sqrt(np.mean((p - q) ** 2 / variance))
    assert _counts(model, data) == pytest.approx(expected / math.sqrt(1 / 100 + 1 / 50))
    assert _counts(model, data, 0.5) == pytest.approx(expected / math.sqrt(1 / 100 + 1 / 25))
