"""The two methods "likelihood", through the estimators."""

import math
import threading
import warnings
from dataclasses import replace
from types import SimpleNamespace

import joblib
import numpy as np
import pytest

import bayesing as bs
from bayesing.couplings import CouplingOptions, Strength
from bayesing.couplings.likelihood import _error_at_zero, _find, _Seeds, _unseen, draws_of, fit_couplings
from bayesing.learning import posterior
from bayesing.strength.likelihood import _draws, _mean_coupling

from samples import ENDLESS, FREE, draw_exactly, ferromagnet, in_turn, random_model, random_spins, stats
from slow import Posterior, pack

n, N, GAMMA = 8, 250, 0.6
X = draw_exactly(random_model(n, 0.8, seed=3, field=0.5), N, np.random.default_rng(0)).astype(np.int8)
UPPER = np.triu_indices(n, 1)


def machine(gamma=GAMMA, **options):
    return bs.BoltzmannMachine("likelihood", gamma=gamma, **options)


@pytest.fixture(scope="module")
def fitted():
    return machine().fit(X)


def theta(bm):
    return pack(bm.couplings_, bm.fields_)


def test_the_mode_with_errors_and_a_certificate(fitted):
    exact = Posterior.of(X, GAMMA)
    best = exact.mode()
    deviations = exact.deviations(best)
    z = (theta(fitted) - best) / deviations
    assert np.sqrt(np.mean(z**2)) < 0.15 and np.abs(z).max() < 0.5
    assert pack(fitted.coupling_errors_, fitted.field_errors_) == pytest.approx(deviations, rel=0.15)
    assert fitted.penalty_ == n / GAMMA and fitted.gamma_ == GAMMA
    assert fitted.certificate_.passed and fitted.certificate_.unseen is not None


def test_a_laplace_prior_gives_zeros():
    exact = Posterior.of(X, GAMMA, laplace=True)
    bm = machine(prior="laplace").fit(X)
    J, slope = bm.couplings_[UPPER], exact.slope(theta(bm))[:-n]
    zero = J == 0
    assert bm.penalty_ == pytest.approx(exact.xi) and 0 < zero.sum() < len(J) and bm.certificate_.passed
    room = 0.5 / exact.deviations(theta(bm))[:-n].min()
    assert np.abs(slope[zero]).max() < exact.xi + room
    assert slope[~zero] == pytest.approx(exact.xi * np.sign(J[~zero]), abs=room)


def test_without_a_prior_averages_are_those_of_the_data():
    bm = machine(1e6).fit(X)
    assert bm.certificate_.passed and bm.certificate_.pull_means < 0.35 and bm.certificate_.pull_pairs < 0.35
    model, C = bm.model_, np.cov(X.T, bias=True)
    error = np.sqrt((1 - X.mean(axis=0) ** 2) / N)
    assert np.abs((model.means() - X.mean(axis=0)) / error).max() < 0.35
    found = model.correlations() - np.outer(model.means(), model.means())
    assert np.abs((found - C) / np.outer(error, error) / np.sqrt(N))[UPPER].max() < 0.35


def test_another_order_of_the_spins(fitted):
    order = np.random.default_rng(1).permutation(n)
    other = machine().fit(X[:, order])
    z = (other.couplings_ - fitted.couplings_[np.ix_(order, order)]) / (other.coupling_errors_ + np.eye(n))
    assert np.abs(z).max() < 0.4 and np.sqrt(np.mean(z**2)) < 0.15
    assert np.abs((other.fields_ - fitted.fields_[order]) / other.field_errors_).max() < 0.4


def test_another_sign_of_a_spin(fitted):
    sign = np.ones(n, np.int8)
    sign[2] = -1
    other = machine().fit(X * sign)
    z = (other.couplings_ - np.outer(sign, sign) * fitted.couplings_) / (other.coupling_errors_ + np.eye(n))
    assert np.abs(z).max() < 0.4 and np.sqrt(np.mean(z**2)) < 0.15
    assert np.abs((other.fields_ - sign * fitted.fields_) / other.field_errors_).max() < 0.4


def test_the_same_seed_gives_the_same_bits(fitted):
    once = fitted.posterior(3, seed=1)
    for n_jobs in (1, 2):
        with joblib.parallel_config(n_jobs=n_jobs):
            again = machine().fit(X)
            drawn = again.posterior(3, seed=1)
        assert (theta(again) == theta(fitted)).all() and again.certificate_ == fitted.certificate_
        assert (drawn.couplings == once.couplings).all() and (drawn.fields == once.fields).all()
    assert (theta(machine(random_state=1).fit(X)) != theta(fitted)).all()
    assert (fitted.posterior(3, seed=2).couplings != once.couplings).any()
    strengths = []
    for n_jobs in (1, 2, None):
        with joblib.parallel_config(n_jobs=n_jobs):
            strengths.append(bs.EmpiricalBayes("likelihood").fit(X).gamma_)
    assert strengths[0] == strengths[1] == strengths[2]
    assert bs.EmpiricalBayes("likelihood", random_state=1).fit(X).gamma_ != strengths[0]


def test_sums_and_products_are_enough(fitted):
    found = machine().fit(stats(X).without_rows())
    assert (theta(found) == theta(fitted)).all() and found.certificate_.unseen is None


def test_draws(fitted):
    drawn = fitted.posterior(60, seed=0)
    assert drawn.couplings.shape == (60, n, n) and drawn.fields.shape == (60, n)
    assert drawn.couplings == pytest.approx(drawn.couplings.transpose(0, 2, 1), abs=1e-12)
    spread = drawn.couplings.std(axis=0)[UPPER] / fitted.coupling_errors_[UPPER]
    assert np.sqrt(np.mean(spread**2)) == pytest.approx(1, abs=0.15)
    spread = drawn.fields.std(axis=0) / fitted.field_errors_
    assert np.sqrt(np.mean(spread**2)) == pytest.approx(1, abs=0.2)
    z = (drawn.couplings.mean(axis=0) - fitted.couplings_)[UPPER] / fitted.coupling_errors_[UPPER]
    assert np.sqrt(np.mean(z**2)) < 0.5


def test_draws_of_rows_that_are_worth_less_are_further_from_the_mode():
    """Of rows that are worth a quarter: the same draws, twice as far in all couplings and fields."""
    found = fit_couplings(stats(X[:100]), CouplingOptions(strength=Strength(GAMMA), seed=0))
    plain, wide = (draws_of(found, "likelihood", "gaussian", 3, 0, worth) for worth in (1.0, 0.25))
    assert wide.couplings - found.matrix == pytest.approx(2 * (plain.couplings - found.matrix))
    assert wide.fields - found.fields == pytest.approx(2 * (plain.fields - found.fields))


def test_draws_of_a_constant_spin_are_those_of_the_prior():
    bm = machine(0.9).fit(np.insert(X[:, :3], 1, 1, axis=1))
    assert not bm.couplings_[1].any() and bm.coupling_errors_[1, 0] == pytest.approx(np.sqrt(0.9 / 4))
    drawn = bm.posterior(300, seed=0)
    spread = drawn.couplings[:, 1, [0, 2, 3]].std()
    assert spread == pytest.approx(np.sqrt(0.9 / 4), rel=4 / np.sqrt(2 * 900))
    x, middle = np.linspace(-1, 8, 3001), np.log(2 * N + 1) / 2 - N / (N + 1)
    p = np.exp(-((x - middle) ** 2) / 2) / (1 + np.exp(-2 * x)) ** N
    mean = np.average(x, weights=p)
    deviation = np.sqrt(np.average((x - mean) ** 2, weights=p))
    b = drawn.fields[:, 1] + drawn.couplings[:, 1, [0, 2, 3]] @ X[:, :3].mean(axis=0)
    assert b.mean() == pytest.approx(mean, abs=4 * deviation / np.sqrt(300))
    assert b.std() == pytest.approx(deviation, rel=4 / np.sqrt(600))
    assert abs(np.corrcoef(b, drawn.couplings[:, 1, 0])[0, 1]) < 4 / np.sqrt(300)
    assert drawn.fields.std(axis=0) == pytest.approx(bm.field_errors_, rel=0.3)
    sums = drawn.fields[:, [0, 2, 3]] + drawn.couplings[:, [0, 2, 3], 1]  # what the data know
    alone = machine(0.9 * 3 / 4).fit(X[:, :3])
    assert sums.std(axis=0) == pytest.approx(alone.field_errors_, rel=0.3)
    assert np.abs(sums.mean(axis=0) - alone.fields_).max() < 0.3 * alone.field_errors_.min()
    assert drawn.couplings == pytest.approx(drawn.couplings.transpose(0, 2, 1), abs=1e-12)


def test_draws_that_leave_the_data_warn(fitted, monkeypatch):
    monkeypatch.setattr(posterior, "_DRIFT", -1.0)
    monkeypatch.setattr(posterior, "_FAR", 0.0)
    with pytest.warns(bs.exceptions.NotConvergedWarning, match="left the data"):
        fitted.posterior(1)


COPIES = np.hstack([random_spins(50, 4), random_spins(50, 2)])
STAIRS = np.where(np.arange(40)[:, None] >= 6 * np.arange(6) + 3, 1, -1).astype(np.int8)
ODD = {
    "constant spins": np.hstack([random_spins(50, 4), np.ones((50, 2), np.int8)]),
    "copies": COPIES,
    "mirror images": np.hstack([COPIES, -COPIES[:, :1]]),
    "separable": np.random.default_rng(1).permutation(STAIRS),  # in their order rows would remember
    "fewer samples than spins": random_spins(6, 12),
    "two spins": random_spins(40, 2),
    "two samples": ENDLESS,
    "all up or all down": np.tile(np.where(np.arange(30) % 2, 1, -1)[:, None], (1, 9)).astype(np.int8),
    "one row": np.ones((20, 4), np.int8),
    "one spin that varies": np.hstack([np.ones((30, 3), np.int8), random_spins(30, 1)]),
}


@pytest.mark.filterwarnings("ignore::bayesing.CopiesWarning")
@pytest.mark.filterwarnings("ignore::bayesing.CheckWarning")  # where a given gamma is far too small
@pytest.mark.parametrize("prior", ["gaussian", "laplace"])
@pytest.mark.parametrize("spins", ODD.values(), ids=ODD)
def test_odd_data_have_finite_couplings(spins, prior):
    for gamma in (0.5, 1e6):
        bm = machine(gamma, prior=prior).fit(spins)
        assert np.isfinite(theta(bm)).all() and np.isfinite(bm.coupling_errors_).all()
        assert (bm.coupling_errors_ + np.eye(len(bm.fields_)) > 0).all()
        if len(stats(spins).varying) > 1:
            assert bm.certificate_.passed and np.isfinite(bm.field_errors_).all()
        else:
            assert not bm.couplings_.any() and bm.certificate_ is None


@pytest.mark.filterwarnings("ignore::bayesing.CopiesWarning")
@pytest.mark.filterwarnings("ignore::bayesing.AnotherKindWarning")  # of stairs
@pytest.mark.parametrize("name", ["copies", "separable", "fewer samples than spins", "constant spins"])
def test_odd_data_have_a_finite_strength(name):
    bm, eb = machine("auto").fit(ODD[name]), bs.EmpiricalBayes("likelihood").fit(ODD[name])
    for value in (bm.gamma_, eb.gamma_, eb.gamma_error_, eb.J_error_, eb.H_error_):
        assert 0 < value < np.inf
    assert np.isfinite(eb.H_) and np.isfinite(theta(bm)).all()


def test_what_has_no_answer():
    with pytest.raises(bs.exceptions.InputError, match=r'gamma must be "auto" or from 1e-08.*: found 0'):
        machine(0).fit(X)
    for estimator in (machine("auto"), bs.EmpiricalBayes("likelihood")):
        with pytest.raises(bs.exceptions.InputError, match="needs at least 4 samples: found 2"):
            estimator.fit(ENDLESS)
    for name in ("one row", "one spin that varies"):
        for estimator in (machine("auto"), bs.EmpiricalBayes("likelihood")):
            with pytest.raises(bs.exceptions.InputError, match="at least 2 spins"):
                estimator.fit(ODD[name])
        with pytest.raises(bs.exceptions.InputError, match="nothing to draw"):
            machine(0.5).fit(ODD[name]).posterior()


@pytest.mark.parametrize("estimator", [machine(), machine("auto"), bs.EmpiricalBayes("likelihood")])
def test_progress(estimator):
    told = []
    estimator.fit(X, progress=lambda done, of: told.append((done, of)))
    shares = [done for done, _ in told]
    assert {of for _, of in told} == {1.0} and len(told) > 5
    assert shares == sorted(shares) and shares[0] >= 0 and shares[-1] == 1


@pytest.mark.parametrize("estimator", [machine(), bs.EmpiricalBayes("likelihood")])
def test_an_interrupt_leaves_no_thread_behind(estimator):
    def stop(done, of):
        if done > 0.3:
            raise KeyboardInterrupt

    before = threading.active_count()
    with pytest.raises(KeyboardInterrupt):
        estimator.fit(X, progress=stop)
    assert threading.active_count() == before


def test_the_strength_is_that_of_the_couplings():
    sim = bs.simulate(n_spins=30, n_samples=300, J=0.7, H=0.2, seed=1)
    eb = bs.EmpiricalBayes("likelihood").fit(sim.spins)
    realised = np.sqrt(30 * np.mean(sim.couplings[np.triu_indices(30, 1)] ** 2))
    assert abs(eb.J_ - realised) < 3 * eb.J_error_ < 0.3
    assert abs(eb.H_ - 0.2) < 3 * eb.H_error_ + 0.05 and 0 < eb.H_error_ < 0.1


def test_the_mean_coupling_is_that_of_all_pairs():
    """n times the mean of each draw; draws differ, and so would other couplings of the same strength."""
    k, columns, gamma = 4, 6, 12.0
    upper = np.triu(np.random.default_rng(0).normal(0.2, 0.5, (5, k, k)), 1)
    means = columns * upper[:, *np.triu_indices(k, 1)].mean(axis=1)
    found = _mean_coupling(upper + upper.transpose(0, 2, 1), columns, gamma)
    share = 1 - means.var() / (2 * gamma / columns)  # of the data in it
    assert 0.1 < share < 0.9
    assert found == pytest.approx((means.mean(), math.sqrt(means.var() + 2 * gamma / columns), share))


def test_a_mean_that_the_prior_pulls_to_zero_is_said():
    """Of J0 = 0.5 alone 0.09 is left: couplings look weak, and so the prior of their mean is narrow."""
    X = ferromagnet(64, 400, 0.5, 0, H=0.1)
    with pytest.warns(bs.AnotherKindWarning, match="of the say in it. Closed forms have no such prior"):
        eb = bs.EmpiricalBayes("likelihood", mean_coupling=True, random_state=0).fit(X)
    assert eb.J0_ < 0.3 and bs.EmpiricalBayes("spectral", mean_coupling=True).fit(X).J0_ > 0.35


@pytest.mark.parametrize(("share", "times"), [(0.9, 1), (0.25, 1), (0.125, 2), (0.01, 4), (0.0, 4)])
def test_data_that_say_little_have_more_draws(share, times):
    """Up to four times as many; what stands on the diagonal is of no coupling."""
    lam = 2.0
    K = np.full((5, 5), (1 - math.sqrt(share)) / lam)
    np.fill_diagonal(K, 0.0)
    mode = SimpleNamespace(h=np.zeros(5), metric=SimpleNamespace(lam=lam, K=K))
    assert _draws(mode) == pytest.approx(times * posterior.DRAWS, abs=1)


def test_spins_without_couplings():
    eb = bs.EmpiricalBayes("likelihood").fit(FREE)
    assert eb.J_ < 3 * eb.J_error_ and 0 < eb.J_error_ < 0.5


def test_couplings_that_vanish():
    """Two spins whose correlation is less than its standard error: gamma is 0, and has an error."""
    eb = bs.EmpiricalBayes("likelihood").fit(ODD["two spins"])
    assert eb.gamma_ == 0 and 0 < eb.gamma_error_ < 0.5 and 0 < eb.H_error_ < 0.5
    with pytest.warns(bs.exceptions.BoundWarning, match="no couplings"):
        bm = machine("auto").fit(ODD["two spins"])
    assert bm.gamma_ == 0 and not bm.couplings_.any() and 0 < bm.coupling_errors_[0, 1] < 0.5


def test_the_error_where_couplings_vanish_is_of_the_information_of_all_pairs():
    """Half the square of N W/n of each pair; what stands on the diagonal is of no pair."""
    W = np.random.default_rng(0).uniform(0.1, 1.0, (5, 5))
    W += W.T
    information = sum((30 * W[i, j] / 7) ** 2 / 2 for i in range(5) for j in range(i))
    mode = SimpleNamespace(metric=SimpleNamespace(N=30, W=W))
    assert _error_at_zero(mode, 7) == pytest.approx(information**-0.5)


def test_the_strength_of_a_sparse_fit_is_that_of_its_couplings():
    """n times their mean square, as large as they probably are."""
    J = np.zeros((8, 8))
    J[[0, 2, 4], [1, 3, 5]] = 0.6, -0.6, 0.7
    rows = draw_exactly(bs.IsingModel(J + J.T, 0.2), 500, np.random.default_rng(2)).astype(np.int8)
    bm = bs.BoltzmannMachine("likelihood", prior="sparse", random_state=0).fit(rows)
    assert (bm.edge_probabilities_[UPPER] > 0.5).sum() == 3
    mean_square = np.mean(bm.couplings_[UPPER] ** 2 + bm.coupling_errors_[UPPER] ** 2)
    assert bm.gamma_ == pytest.approx(8 * mean_square)
    assert bm.gamma_ == pytest.approx(8 * np.mean(J[UPPER] ** 2), rel=0.3)


@pytest.mark.parametrize(
    ("judged", "searches"),
    [
        ([(0.1, True)], 1),
        ([(4.0, False), (0.1, True)], 2),  # lost, and found at the second try
        ([(4.0, False), (5.0, False), (0.1, True)], 2),  # lost twice: no more tries, and the better one
    ],
)
def test_a_search_that_is_lost_begins_once_more(monkeypatch, judged, searches):
    begun, verdicts = [], iter(judged)

    def find_mode(source, gamma, n, seed, run, *more):
        begun.append(seed)
        return SimpleNamespace(J=np.zeros((n, n)), h=np.zeros(n), gamma=1.0, settled=True, k=len(begun)), None

    def certify(*arguments):
        size, agreed = next(verdicts)
        found = SimpleNamespace(means=size, pairs=size, agreed=agreed, within=lambda errors: size < errors)
        return found, None

    monkeypatch.setattr("bayesing.learning.mode.find_mode", find_mode)
    monkeypatch.setattr("bayesing.learning.certificate.certify", certify)
    source = SimpleNamespace(averaged=lambda J, h, run: None)
    mode, found, *_ = _find(stats(X), source, GAMMA, None, None, _Seeds.of(0), in_turn)
    assert len(begun) == len({seed.spawn_key for seed in begun}) == searches
    assert found.means == min(size for size, _ in judged[:searches])
    assert mode.k == 1 + [size for size, _ in judged].index(found.means)


def test_bursts_are_no_pairwise_model():
    """All cells are active together at times: couplings that give this make a state that the data never show."""
    rng = np.random.default_rng(0)
    rate = np.where(rng.random((4000, 1)) < 0.02, 0.225, 0.015)
    bursts = rng.random((4000, 40)) < rate
    with pytest.warns(bs.UnseenStatesWarning, match="No pairwise model .* [0-9.]+ are in a state far"):
        bm = bs.BoltzmannMachine("likelihood", random_state=1).fit(bursts)
    assert bm.certificate_.has_another_state and not bm.certificate_.stays


def test_rows_with_a_constant_sum():
    """As where one of four answers is chosen: a hard bound, but the model is finite, and there is no false alarm."""
    chosen = np.eye(4, dtype=int)[np.random.default_rng(0).integers(0, 4, 300)]
    for prior in ("gaussian", "laplace"):
        bm = bs.BoltzmannMachine("likelihood", prior=prior).fit(chosen)
        assert bm.certificate_.passed and bm.certificate_.stays
        assert np.abs(bm.couplings_).max() < 10 and bm.couplings_[np.triu_indices(4, 1)].max() < -0.5
        with pytest.warns(
            bs.UnseenStatesWarning, match="fixed by design"
        ):  # with a prior that holds couplings
            bm = bs.BoltzmannMachine("likelihood", prior=prior, gamma=2.0).fit(chosen)
        assert bm.certificate_.passed and not bm.certificate_.has_another_state
    with pytest.warns(bs.AnotherKindWarning, match="Without the prior's pull"):
        assert np.isfinite(bs.EmpiricalBayes("likelihood").fit(chosen).J_error_)


@pytest.mark.parametrize("prior", ["gaussian", "laplace"])
def test_rare_spins_have_bounded_couplings(prior):
    rare = np.random.default_rng(2).random((5000, 20)) < 1e-3
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", bs.BayesingWarning)
        bm = bs.BoltzmannMachine("likelihood", prior=prior).fit(rare)
    assert np.abs(bm.couplings_).max() < 5 and np.abs(bm.fields_).max() < 10


def test_rare_spins_with_couplings_have_some():
    """Little is known of them: the closed form, which needs no search, is off by its own error."""
    sim = bs.simulate(30, 4000, J=0.5, H=-1.8, seed=1, sweeps=3)
    eb, closed = (bs.EmpiricalBayes(method).fit(sim.spins) for method in ("likelihood", "susceptibility"))
    assert eb.gamma_ == pytest.approx(closed.gamma_, abs=2 * closed.gamma_error_)
    assert abs(eb.gamma_ - 0.25) < 3 * eb.gamma_error_ and 0.02 < eb.gamma_
    assert abs(eb.H_ + 1.8) < 3 * eb.H_error_ < 0.6


def test_rare_spins_without_couplings_have_none():
    """A prior of fields around 0 would be made up for by couplings: gamma was 4, and H half of what it is."""
    p, size, samples = 2e-3, 20, 5000
    rare = np.random.default_rng(2).random((samples, size)) < p
    eb = bs.EmpiricalBayes("likelihood").fit(rare)
    error = 1 / np.sqrt(4 * p * (1 - p) * samples * size)
    assert eb.gamma_ < 2 * eb.gamma_error_
    assert abs(eb.H_ - np.log(p / (1 - p)) / 2) < 3 * error and eb.H_error_ == pytest.approx(error, rel=0.3)


def test_what_draws_need():
    with pytest.raises(ValueError, match='posterior needs method="likelihood": found spectral'):
        bs.BoltzmannMachine("spectral").fit(X).posterior(1)
    with pytest.raises(ValueError, match=r'posterior needs prior="gaussian", .*: found laplace'):
        machine(prior="laplace").fit(X).posterior(1)


def test_extremes_that_the_data_never_show(fitted):
    certificate = fitted.certificate_
    assert certificate.stays and not certificate.has_another_state
    tail = replace(certificate, unseen=6.0, far=0.0)
    assert not tail.stays and not tail.has_another_state
    text = str(bs.exceptions.UnseenStatesWarning(*_unseen(N, tail)))
    assert "6 have clearly more or fewer active spins than any of the data" in text
    assert text.endswith("common causes that drive many spins at once: n_hidden=1 adds one.")
    far = replace(certificate, far=6.0)
    assert far.has_another_state
    assert str(bs.exceptions.UnseenStatesWarning(*_unseen(N, far))).endswith(
        "explain this: n_hidden=1 adds one."
    )


def test_a_random_state_of_old():
    one, other = (machine(random_state=np.random.RandomState(3)).fit(X) for _ in range(2))
    assert (theta(one) == theta(other)).all()


def test_a_strength_whose_draws_leave_the_data_warns(monkeypatch):
    monkeypatch.setattr(posterior, "_DRIFT", -1.0)
    monkeypatch.setattr(posterior, "_FAR", 0.0)
    lost = pytest.warns(bs.AnotherKindWarning, match="left the data for states")
    with lost, pytest.warns(bs.exceptions.NotConvergedWarning, match="gamma is that of the mode alone"):
        eb = bs.EmpiricalBayes("likelihood").fit(X)
    assert not eb.diagnosis_.trusted
    assert 0 < eb.gamma_ < np.inf and 0 < eb.gamma_error_ < np.inf and np.isfinite(eb.H_)
