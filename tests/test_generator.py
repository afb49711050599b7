import numpy as np
import pytest

import bayesing as bs


def test_shapes_types_and_seeds():
    one, two = (bs.simulate(n_spins=7, n_samples=5, J=0.5, H=0.1, seed=3) for _ in range(2))
    assert one.spins.shape == (5, 7) and one.spins.dtype == np.int8 and set(np.unique(one.spins)) <= {-1, 1}
    np.testing.assert_array_equal(one.spins, two.spins)
    np.testing.assert_array_equal(one.couplings, two.couplings)
    assert (bs.simulate(7, 5, J=0.5, H=0.1, seed=4).spins != one.spins).any()
    for seed in (np.random.SeedSequence(3), np.random.default_rng(3)):
        np.testing.assert_array_equal(bs.simulate(7, 5, J=0.5, H=0.1, seed=seed).spins, one.spins)


@pytest.mark.parametrize("prior", ["gaussian", "laplace"])
def test_couplings_have_the_right_mean_and_variance(prior):
    n, J, J0 = 400, 0.7, 3.0
    couplings = bs.simulate(n, 1, J=J, J0=J0, prior=prior, seed=0).couplings
    np.testing.assert_array_equal(couplings, couplings.T)
    assert not np.diag(couplings).any()
    pairs = couplings[np.triu_indices(n, 1)]
    kurtosis = {"gaussian": 3, "laplace": 6}[prior]
    assert abs(pairs.mean() - J0 / n) < 4 * pairs.std() / np.sqrt(len(pairs))
    assert abs(pairs.var() * n / J**2 - 1) < 4 * np.sqrt((kurtosis - 1) / len(pairs))


def test_no_couplings_give_independent_spins_with_mean_tanh_H():
    H, N = np.array([-1.0, 0.0, 0.3, 2.0]), 40_000
    X = bs.simulate(4, N, J=0.0, H=H, seed=1).spins.astype(float)
    errors = (X.mean(axis=0) - np.tanh(H)) / np.sqrt((1 - np.tanh(H) ** 2) / N)
    assert np.abs(errors).max() < 4
    covariance = np.cov(X.T)
    scaled = covariance / np.sqrt(np.outer(np.diag(covariance), np.diag(covariance)))
    assert np.abs(scaled[np.triu_indices(4, 1)]).max() < 4.5 / np.sqrt(N)


@pytest.mark.parametrize("sampler", ["anneal", "temper"])
def test_samples_of_a_given_model(sampler):
    model = bs.IsingModel([[0.0, 0.8], [0.8, 0.0]], [0.5, -0.2])
    N = 40_000
    X = bs.sample(model, N, sampler, sweeps=5, seed=0).astype(float)
    assert X.shape == (N, 2)
    assert abs((X[:, 0] * X[:, 1]).mean() - model.correlations()[0, 1]) < 4.5 * 1.5 / np.sqrt(N)
    assert np.abs(X.mean(axis=0) - model.means()).max() < 4.5 * 1.5 / np.sqrt(N)
    np.testing.assert_array_equal(bs.sample(model, 9, sampler, seed=1), bs.sample(model, 9, sampler, seed=1))


def test_sample_passes_its_settings_on():
    model = bs.IsingModel([[0.0, 0.8], [0.8, 0.0]], [0.5, -0.2])
    direct = bs.annealed_importance_sampling(model, 50, beta_step=0.2, sweeps=2, final_sweeps=3, seed=4).spins
    np.testing.assert_array_equal(bs.sample(model, 50, "anneal", 0.2, 2, 3, seed=4), direct)
    np.testing.assert_array_equal(
        bs.sample(model, 50, seed=4), bs.parallel_tempering(model, 50, seed=4).spins
    )


def test_couplings_and_spins_have_streams_of_their_own():
    sim = bs.simulate(9, 5, J=0.6, H=0.1, seed=8)
    rng = np.random.default_rng(8).spawn(2)[1]
    model = bs.IsingModel(sim.couplings, sim.fields)
    np.testing.assert_array_equal(bs.sample(model, 5, "anneal", seed=rng), sim.spins)
    assert model.couplings is sim.couplings  # read-only, so not copied


def test_simulate_with_tempering():
    sim = bs.simulate(30, 40, J=1.1, H=0.2, sampler="temper", seed=0)
    assert sim.spins.shape == (40, 30)
    np.testing.assert_array_equal(sim.couplings, bs.simulate(30, 1, J=1.1, H=0.2, seed=0).couplings)


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"n_spins": 1}, "n_spins=1"),
        ({"n_samples": 0}, "n_samples=0"),
        ({"J": -0.1}, "J=-0.1"),
        ({"J": np.nan}, "J=nan"),
        ({"J": 1e200}, r"J=1e\+200"),
        ({"J": "strong"}, "J must be a number: found 'strong'"),
        ({"n_spins": 5.0}, r"n_spins must be a whole number: found 5\.0"),
        ({"sweeps": 1.5}, r"sweeps must be a whole number: found 1\.5"),
        ({"seed": -1}, "seed must be.* found -1"),
        ({"seed": "x"}, "seed must be.* found 'x'"),
        ({"J0": np.inf}, "J0=inf"),
        ({"H": [0.0, 0.1]}, r"shape \(2,\)"),
        ({"H": np.nan}, "fields must be finite"),
        ({"prior": "cauchy"}, "cauchy"),
        ({"sampler": "guess"}, "guess"),
        ({"beta_step": 0}, "beta_step"),
    ],
)
def test_bad_settings(settings, message):
    with pytest.raises(ValueError, match=message):
        bs.simulate(**{"n_spins": 5, "n_samples": 4, "J": 0.5} | settings)
