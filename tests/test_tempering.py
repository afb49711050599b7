import joblib
import numpy as np
import pytest
from scipy.special import gammaln
from scipy.stats import ks_2samp

import bayesing as bs
from bayesing.sampling import tempering
from bayesing.sampling._gibbs import generator_states
from bayesing.sampling.tempering import LADDERS, _Ladders, _Record

from samples import random_model, worst_p_value


def test_samples_agree_with_enumeration():
    model = random_model(10, 1.2, seed=3)
    result = bs.parallel_tempering(model, 160_000, seed=0)
    assert result.equilibrated
    assert worst_p_value(result.spins, model, ladders=LADDERS) > 0.001


def test_diagnostics():
    result = bs.parallel_tempering(random_model(64, 1.2, seed=1), 200, seed=0)
    assert result.spins.shape == (200, 64) and result.spins.dtype == np.int8
    assert set(np.unique(result.spins)) == {-1, 1}
    assert result.betas[0] == 0 and result.betas[-1] == 1 and (np.diff(result.betas) > 0).all()
    assert len(result.swap_rates) == len(result.betas) - 1
    assert np.ptp(result.swap_rates) < 0.15 and 0.5 < result.swap_rates.mean() < 0.8  # about uniform
    assert result.equilibrated and result.r_hat < 1.05 and result.round_trips >= LADDERS
    assert result.autocorrelation_time >= 1 and result.thin >= result.autocorrelation_time


def test_no_warning_at_equilibrium_and_one_where_it_is_out_of_reach():
    bs.parallel_tempering(random_model(20, 1.0), 20, seed=0)  # a warning would be an error
    hard = random_model(200, 5.0, seed=2, field=0.0)
    with pytest.warns(bs.NotEquilibratedWarning, match=r"R-hat is .* Raise max_rounds"):
        result = bs.parallel_tempering(hard, 20, max_rounds=128, seed=0)
    assert not result.equilibrated and len(result.spins) == 20


def ferromagnet(n, J0, field):
    couplings = np.full((n, n), J0 / n)
    np.fill_diagonal(couplings, 0)
    return bs.IsingModel(couplings, field)


@pytest.mark.parametrize(("n", "J0", "field"), [(100, 2.0, 0.004), (64, 3.0, 0.01)])
def test_both_modes_of_a_ferromagnet_are_visited_in_the_right_proportion(n, J0, field):
    """Exact: the number of up spins k has weight binom(n, k) exp(J0 M^2 / 2n + field M), M = 2k - n."""
    M = 2.0 * np.arange(n + 1) - n
    log_weights = gammaln(n + 1) - gammaln(np.arange(n + 1) + 1) - gammaln(n - np.arange(n + 1) + 1)
    log_weights += J0 * M**2 / (2 * n) + field * M
    p = np.exp(log_weights - log_weights.max())
    exact = (p[M > 0].sum() + 0.5 * p[M == 0].sum()) / p.sum()
    runs = [
        bs.parallel_tempering(ferromagnet(n, J0, field), 16, seed=seed).spins.sum(axis=1)
        for seed in range(40)
    ]
    found = np.mean([(m > 0).mean() + 0.5 * (m == 0).mean() for m in runs])
    error = np.sqrt(exact * (1 - exact) / (16 * 40))
    assert abs(found - exact) < 4 * error
    assert 0.6 < exact < 0.95


def test_without_fields_samples_are_flipped_at_random():
    spins = bs.parallel_tempering(ferromagnet(40, 3.0, 0.0), 1600, seed=0).spins
    up = (spins.sum(axis=1) > 0).mean()
    assert abs(up - 0.5) < 4 * 0.5 / np.sqrt(1600)


def test_round_trips_go_from_beta_one_to_zero_and_back():
    model = random_model(4, 0.5)
    single = np.float32
    ladders = _Ladders(
        model.couplings.astype(single),
        model.fields.astype(single),
        np.linspace(0, 1, 3),
        generator_states(3, np.random.default_rng(0)),
    )
    counted = []
    # Copy 0 starts at beta = 0: up is half a journey. Then down and up again is a whole one; copy 2 goes down only.
    for order in ([0, 1, 2], [1, 0, 2], [1, 2, 0], [1, 0, 2], [0, 1, 2], [1, 0, 2], [1, 2, 0]):
        ladders.at = np.array([order])
        counted.append(ladders._journeys())
    assert counted == [0, 0, 0, 0, 0, 0, 1]


def series(rng, shift=0.0):
    return rng.normal(size=(8, 200)) + shift * np.arange(8)[:, None]


@pytest.mark.parametrize("bad", [None, 0, 1, 2])
def test_every_series_counts(bad):
    rng = np.random.default_rng(0)
    record = _Record(
        tuple(series(rng, shift=2.0 if k == bad else 0.0) for k in range(3)),
        np.zeros(2),
        LADDERS,
        np.empty((0, 4)),
    )
    assert record.equilibrated() == (bad is None)
    assert (record.r_hat() > 1.5) == (bad is not None)
    assert (record.autocorrelation_time() > 5) == (bad is not None)
    few = _Record(record.series, record.rejections, LADDERS - 1, record.spins)
    assert not few.equilibrated()


def test_two_records_in_one():
    rng = np.random.default_rng(0)
    a = _Record((rng.normal(size=(2, 10)),), np.array([0.1]), 3, np.zeros((0, 2)))
    b = _Record((rng.normal(size=(2, 30)),), np.array([0.5]), 4, np.ones((5, 2)))
    both = a.then(b)
    np.testing.assert_array_equal(both.series[0], np.hstack([a.series[0], b.series[0]]))
    assert both.rejections == pytest.approx(0.4) and (both.round_trips, both.n_rounds) == (7, 40)
    assert both.spins is b.spins


@pytest.mark.parametrize("field", [0.0, 0.4])
def test_records_follow_the_samples_at_beta_one(field):
    model = random_model(30, 1.0, field=field) if field else bs.IsingModel(random_model(30, 1.0).couplings)
    J, h = model.couplings.astype(np.float32), model.fields.astype(np.float32)
    betas = np.linspace(0, 1, 6)
    ladders = _Ladders(J, h, betas, generator_states(24, np.random.default_rng(1)))
    record = ladders.run(150, thin=1)
    energies, overlaps, alignments = record.series
    for t in (0, 70, 149):
        spins = record.spins[t]
        np.testing.assert_allclose(energies[:, t], model.energy(spins), rtol=1e-4, atol=1e-3)
        np.testing.assert_allclose(alignments[:, t], spins @ model.fields, rtol=1e-5, atol=1e-5)
        q = (spins[::2].astype(float) * spins[1::2]).mean(axis=1)
        np.testing.assert_allclose(overlaps[:, t], q if field else q**2, atol=1e-6)
    assert (record.rejections > 0).all() and (record.rejections < 1).all()


def test_adapted_temperatures_have_equal_rejections():
    betas, rejections = np.array([0.0, 0.5, 1.0]), np.array([0.6, 0.2])
    adapted = tempering._equal_rejection(betas, rejections)
    np.testing.assert_allclose(adapted, [0, 0.4 / 0.6 * 0.5, 1])


def test_couplings_too_large_for_any_ladder():
    with pytest.raises(ValueError, match="too large to sample"):
        bs.parallel_tempering(random_model(10, 1e6), 5, seed=0)


def overlaps(model, seed):
    """|q| between samples of one run that come from different ladders."""
    spins = (
        bs.parallel_tempering(model, 960, seed=seed).spins.astype(float).reshape(-1, LADDERS, model.n_spins)
    )
    a, b = spins[:, : LADDERS // 2], spins[:, LADDERS // 2 :]
    return np.abs((a * b).mean(axis=2)).ravel()


def test_two_runs_agree_on_the_overlap_distribution_in_the_spin_glass_phase():
    model = random_model(64, 1.5, seed=4, field=0.0)
    first, second = overlaps(model, 0), overlaps(model, 1)
    assert first.std() > 0.1  # broad, as in a spin glass
    assert ks_2samp(first, second).pvalue > 0.001


def test_energy_agrees_with_long_plain_gibbs_sampling():
    model = random_model(64, 0.8, seed=5)
    tempered = model.energy(bs.parallel_tempering(model, 1600, seed=0).spins)
    gibbs = model.energy(bs.annealed_importance_sampling(model, 1600, final_sweeps=500, seed=1).spins)
    error = np.hypot(tempered.std(), gibbs.std()) / np.sqrt(1600)
    assert abs(tempered.mean() - gibbs.mean()) < 4 * error


def test_seeds_and_threads():
    model = random_model(20, 1.0)
    one, again, other = (bs.parallel_tempering(model, 50, seed=seed) for seed in (1, 1, 2))
    with joblib.parallel_config(n_jobs=2):
        threads = bs.parallel_tempering(model, 50, seed=1)
    for same in (again, threads):
        np.testing.assert_array_equal(one.spins, same.spins)
        np.testing.assert_array_equal(one.betas, same.betas)
    assert (one.spins != other.spins).any()


@pytest.mark.parametrize("n_samples", [1, 17])
def test_any_number_of_samples(n_samples):
    assert bs.parallel_tempering(random_model(2, 1.0), n_samples, seed=0).spins.shape == (n_samples, 2)


def test_no_couplings_and_no_fields():
    result = bs.parallel_tempering(bs.IsingModel(np.zeros((4, 4))), 400, seed=0)
    assert result.equilibrated and abs(result.spins.mean()) < 4 / np.sqrt(1600)


@pytest.mark.parametrize("arguments", [(0, 500), (-3, 500), (5, 0), (5, 127), (2.5, 500)])
def test_bad_counts(arguments):
    with pytest.raises(ValueError, match=r"n_samples|max_rounds"):
        bs.parallel_tempering(random_model(3, 0.5), *arguments)


def test_anything_but_a_model_is_declined():
    with pytest.raises(ValueError, match=r"IsingModel.*found ndarray"):
        bs.parallel_tempering(np.zeros((3, 3)), 5)
