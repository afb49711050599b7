import joblib
import numpy as np
import pytest
from scipy.stats import ks_2samp

import bayesing as bs
from bayesing.sampling.tempering import LADDERS

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
        result = bs.parallel_tempering(hard, 20, max_rounds=64, seed=0)
    assert not result.equilibrated and len(result.spins) == 20


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


@pytest.mark.parametrize("arguments", [(0, 10), (-3, 10), (5, 0), (2.5, 10)])
def test_bad_counts(arguments):
    with pytest.raises(ValueError, match=r"n_samples|max_rounds"):
        bs.parallel_tempering(random_model(3, 0.5), *arguments)
