import joblib
import numpy as np
import pytest

import bayesing as bs
from bayesing.sampling._gibbs import GROUP, generator_states
from bayesing.sampling.anneal import anneal, schedule

import slow
from samples import random_model, worst_p_value


def test_the_default_schedule_is_35_sweeps():
    betas = schedule(0.03, sweeps=1, final_sweeps=1)
    np.testing.assert_allclose(betas, [*(0.03 * k for k in range(1, 34)), 1, 1])


def test_other_schedules():
    np.testing.assert_allclose(schedule(0.25, 2, 0), [0.25, 0.25, 0.5, 0.5, 0.75, 0.75, 1, 1])
    np.testing.assert_allclose(schedule(1.0, 1, 3), [1, 1, 1, 1])
    np.testing.assert_allclose(schedule(0.4, 1, 0), [0.4, 0.8, 1])
    assert len(schedule(1 / 49, 1, 0)) == 49 and len(schedule(0.9995, 1, 0)) == 2


@pytest.mark.parametrize("arguments", [(0.0, 1, 1), (-0.1, 1, 1), (1.5, 1, 1), (0.1, 0, 1), (0.1, 1, -1)])
def test_bad_schedules(arguments):
    with pytest.raises(ValueError, match="must be"):
        schedule(*arguments)


@pytest.mark.parametrize(
    "betas", [[], [0.5, 0.4, 1.0], [0.5], [-0.1, 1.0], [0.5, np.nan, 1.0], [[0.5, 1.0]], [0.5, 1.1]]
)
def test_schedules_must_rise_to_one(betas):
    with pytest.raises(ValueError, match="betas must"):
        anneal(random_model(3, 0.5), 2, betas)


def test_schedules_may_be_lists_and_start_at_zero():
    assert anneal(random_model(3, 0.5), 2, [0, 1], seed=0).spins.shape == (2, 3)
    with pytest.raises(ValueError, match="betas must be real numbers"):
        anneal(random_model(3, 0.5), 2, ["a", 1.0])
    with pytest.raises(ValueError, match="found list"):
        anneal([[0.0]], 2, [1.0])


@pytest.mark.parametrize("n_chains", [0, -1, 2.5])
def test_bad_numbers_of_chains(n_chains):
    with pytest.raises(ValueError, match="n_chains"):
        bs.annealed_importance_sampling(random_model(3, 0.5), n_chains)


@pytest.mark.parametrize("base", [None, np.linspace(-1.5, 1, 37)])
def test_chains_and_weights_equal_their_slow_twin(base):
    model, betas, n_chains = random_model(37, 0.9), schedule(0.2, 1, 1), 3
    result = anneal(model, n_chains, betas, 5, base)
    states = generator_states(n_chains, np.random.default_rng(5))
    for c in range(n_chains):
        spins, exponents = slow.gibbs(model, states[:, c], betas, base)
        np.testing.assert_array_equal(result.spins[c], spins)
        steps = np.diff(np.concatenate([[0.0], betas]))
        assert result.log_weights[c] == pytest.approx(steps @ exponents, abs=1e-3)


def test_slow_annealing_agrees_with_enumeration():
    model = random_model(9, 0.5, seed=1)
    result = bs.annealed_importance_sampling(model, 120_000, sweeps=20, seed=2)
    assert worst_p_value(result.spins, model) > 0.001


def test_weighted_samples_agree_with_enumeration_where_annealing_alone_does_not():
    model = random_model(10, 1.2, seed=3)
    result = bs.annealed_importance_sampling(model, 120_000, beta_step=0.1, final_sweeps=0, seed=4)
    assert worst_p_value(result.spins, model, np.exp(result.log_weights)) > 0.001
    assert worst_p_value(result.spins, model) < 1e-6


@pytest.mark.parametrize("beta_step", [0.03, 0.25])
def test_the_partition_function(beta_step):
    model = random_model(8, 1.2, seed=5)
    result = bs.annealed_importance_sampling(model, 50_000, beta_step=beta_step, seed=6)
    assert abs(result.log_partition - model.log_partition()) < 4 * result.log_partition_error
    weights = np.exp(result.log_weights + 8 * np.log(2) - model.log_partition())  # mean 1 if unbiased for Z
    assert abs(weights.mean() - 1) < 4 * weights.std() / np.sqrt(len(weights))
    assert 0.1 < weights.std()
    assert result.log_partition_error == pytest.approx(
        weights.std(ddof=1) / (np.sqrt(50_000) * weights.mean())
    )
    expected = weights.sum() ** 2 / (weights**2).sum()
    assert result.effective_sample_size == pytest.approx(expected, rel=1e-9)
    assert 0.1 * len(weights) < expected < len(weights)


def test_no_couplings_have_no_variance_in_the_partition_function_but_that_of_the_fields():
    result = bs.annealed_importance_sampling(bs.IsingModel(np.zeros((5, 5))), 10, seed=0)
    assert (result.log_weights == 0).all()
    assert result.log_partition == pytest.approx(5 * np.log(2))
    assert result.effective_sample_size == pytest.approx(10)
    assert result.log_partition_error == 0


RARE = bs.IsingModel(random_model(12, 0.6, seed=7).couplings, np.linspace(-3.5, -0.5, 12))


def test_the_partition_function_from_independent_spins():
    """Strong unequal fields: unbiased with any base, and more precise with that of the means than without one."""
    exact, means = RARE.log_partition(), RARE.means()
    bases = {"none": None, "means": np.arctanh(means), "fields": RARE.fields, "wrong": np.linspace(1, -1, 12)}
    errors = {}
    for name, base in bases.items():
        result = bs.annealed_importance_sampling(RARE, 20_000, beta_step=0.1, seed=3, base=base)
        assert abs(result.log_partition - exact) < 4 * result.log_partition_error, name
        assert worst_p_value(result.spins, RARE, np.exp(result.log_weights)) > 0.001, name
        errors[name] = result.log_partition_error
    assert errors["wrong"] > errors["none"] > 15 * errors["means"] and errors["fields"] > errors["means"]


def test_a_base_of_zeros_is_none():
    one = bs.annealed_importance_sampling(RARE, 300, seed=1)
    two = bs.annealed_importance_sampling(RARE, 300, seed=1, base=np.zeros(12))
    np.testing.assert_array_equal(one.spins, two.spins)
    np.testing.assert_array_equal(one.log_weights, two.log_weights)
    assert one.base is None and two.log_partition == pytest.approx(one.log_partition, abs=1e-12)


def test_independent_spins_have_no_variance_from_their_own_fields():
    fields = np.linspace(-6, 6, 9)
    result = bs.annealed_importance_sampling(bs.IsingModel(np.zeros((9, 9)), fields), 50, seed=0, base=fields)
    assert (result.log_weights == 0).all() and result.log_partition_error == 0
    assert result.log_partition == pytest.approx(np.log(2 * np.cosh(fields)).sum(), rel=1e-7)


@pytest.mark.parametrize(
    ("base", "message"),
    [
        (0.5, r"base must have shape \(3,\), a field for every spin: found shape \(\)"),
        ([0.1, 0.2], r"found shape \(2,\)"),
        ([0.1, np.inf, 0.2], r"base must be finite.*found inf at base\[1\]"),
        (["a", "b", "c"], "base must be real numbers"),
    ],
)
def test_bad_bases(base, message):
    with pytest.raises(ValueError, match=message):
        bs.annealed_importance_sampling(random_model(3, 0.5), 2, base=base)


@pytest.mark.parametrize("n_chains", [1, 3, GROUP + 1])
def test_shapes(n_chains):
    result = bs.annealed_importance_sampling(random_model(5, 0.5), n_chains, seed=0)
    assert result.spins.shape == (n_chains, 5) and result.spins.dtype == np.int8
    assert set(np.unique(result.spins)) <= {-1, 1} and result.spins.flags.c_contiguous
    assert result.log_weights.shape == (n_chains,)


def test_the_number_of_threads_changes_nothing():
    model = random_model(50, 0.8)
    one = bs.annealed_importance_sampling(model, 3 * GROUP + 7, seed=1)
    with joblib.parallel_config(n_jobs=2):
        two = bs.annealed_importance_sampling(model, 3 * GROUP + 7, seed=1)
    np.testing.assert_array_equal(one.spins, two.spins)
    np.testing.assert_array_equal(one.log_weights, two.log_weights)


def test_strong_ferromagnet_in_a_field_points_along_it():
    n = 45
    couplings = np.full((n, n), 3.0 / n)
    np.fill_diagonal(couplings, 0)
    spins = bs.annealed_importance_sampling(bs.IsingModel(couplings, -0.5), 200, seed=0).spins
    assert spins.mean() < -0.98
