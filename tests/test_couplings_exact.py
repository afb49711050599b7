import numpy as np
import pytest
from scipy.optimize import linprog

import bayesing as bs
from bayesing.couplings.exact import _rarest_pair, fit_exact
from bayesing.ising import all_states
from bayesing.statistics import Folded

from samples import random_model, random_spins, stats


def uniform(n, coupling, field):
    return bs.IsingModel(coupling * (1 - np.eye(n)), field)


def probabilities(model):
    states = all_states(model.n_spins)
    return np.exp(-model.energy(states) - model.log_partition())


def counted(counts):
    """The data object of samples that show every state as many times as ``counts`` says."""
    n = len(counts).bit_length() - 1
    states = all_states(n).astype(int)
    folded = Folded(counts @ states, (states.T * counts) @ states)
    return bs.SpinStatistics(int(counts.sum()), n, None, folded)


def has_maximum(counts):
    """Unless there is a function of the averages that is 0 in all states seen, and not above 0 in any other."""
    states = all_states(len(counts).bit_length() - 1)
    i, j = np.triu_indices(states.shape[1], 1)
    features = np.hstack([states[:, i] * states[:, j], states, np.ones((len(states), 1))])
    seen = counts > 0
    if seen.all():
        return True
    unseen = features[~seen]
    bounds = np.repeat([0.0, 1.0], len(unseen))
    found = linprog(
        unseen.sum(axis=0),
        A_ub=np.vstack([unseen, -unseen]),
        b_ub=bounds,
        A_eq=features[seen],
        b_eq=np.zeros(seen.sum()),
        bounds=(None, None),
    )
    return found.fun > -1e-6


def test_the_model_has_the_averages_of_the_data():
    X = random_spins(60, 5, seed=4)
    fit = fit_exact(stats(X))
    model = bs.IsingModel(fit.matrix, fit.fields)
    assert model.means() == pytest.approx(X.mean(axis=0), abs=1e-6)
    assert model.correlations() == pytest.approx(X.T.astype(float) @ X / len(X), abs=1e-6)


def test_many_samples_give_the_truth():
    model = random_model(7, 0.8, seed=3)
    fit = fit_exact(stats(bs.sample(model, 20_000, sampler="anneal", sweeps=5, seed=0)))
    upper = np.triu_indices(7, 1)
    z = ((fit.matrix - model.couplings)[upper]) / fit.errors[upper]
    assert np.abs(z).max() < 3.5 and 0.5 < z.std() < 1.5


@pytest.mark.parametrize(
    "model",
    [
        uniform(10, 0.05, -1.7),  # rare spins
        uniform(10, 0.05, 1.7),
        uniform(6, 0.3, -2.5),
        uniform(12, 1 / 3, 0.0),  # next to all spins point one way, or the other
        uniform(8, 0.5, -0.5),
        random_model(9, 2.0, seed=1, field=1.5),
    ],
)
def test_counts_without_noise_give_the_model(model):
    """A billion samples that show every state as often as the model says, but for rounding."""
    N = 10**9
    fit = fit_exact(counted(np.rint(N * probabilities(model)).astype(int)))
    assert np.abs(fit.matrix - model.couplings).max() < 0.3 * fit.errors.max() < 0.1
    assert fit.fields == pytest.approx(model.fields, abs=0.01)


def test_rare_spins():
    """Some pair is up together in 33 of 200,000 samples: enough for couplings with errors."""
    model = uniform(10, 0.05, -1.7)
    data = counted(np.random.default_rng(0).multinomial(200_000, probabilities(model)))
    fit = fit_exact(data)
    upper = np.triu_indices(10, 1)
    z = (fit.matrix - model.couplings)[upper] / fit.errors[upper]
    assert np.abs(z).max() < 3.5 and 0.7 < z.std() < 1.3
    found = bs.IsingModel(fit.matrix, fit.fields)
    assert found.means() == pytest.approx(data.magnetisations, abs=1e-9)
    assert found.correlations() == pytest.approx(data.cross / data.N, abs=1e-9)


@pytest.mark.parametrize("N", [100, 10_000, 1_000_000])
def test_a_pair_seen_once(N):
    """Two spins, each state in as many samples as given: J = ln(N++ N-- / N+- N-+)/4, with error sqrt(sum 1/N)/4."""
    fit = fit_exact(counted(np.array([N - 4, 1, 2, 1])))
    assert fit.matrix[0, 1] == pytest.approx(np.log((N - 4) / 2) / 4, rel=1e-6)
    assert fit.errors[0, 1] == pytest.approx(np.sqrt(1 / (N - 4) + 2.5) / 4, rel=1e-6)
    with pytest.raises(ValueError, match="has no maximum"):
        fit_exact(counted(np.array([N - 3, 1, 2, 0])))


@pytest.mark.parametrize(
    ("n", "N", "J"),
    [(3, 20, 1.0), (4, 40, 1.5), (5, 100, 1.5), (6, 300, 1.8), (3, 100_000, 3.0), (5, 10**7, 3.0)],
)
def test_a_maximum_is_found_where_there_is_one_and_nowhere_else(n, N, J):
    """Against linear programming, for data on the bounds and near them."""
    outcomes = []
    for seed in range(20):
        p = probabilities(random_model(n, J, seed, field=1.0 if N > 1000 else 0.3))
        counts = np.random.default_rng(seed).multinomial(N, p / p.sum())
        exists = has_maximum(counts)
        try:
            fit = fit_exact(counted(counts))
        except bs.exceptions.InputError:
            outcomes.append((exists, False))
            continue
        outcomes.append((exists, True))
        correlations = bs.IsingModel(fit.matrix, fit.fields).correlations()
        assert correlations == pytest.approx(counted(counts).cross / N, abs=1e-7)
    assert set(outcomes) == {(True, True), (False, False)}


@pytest.mark.parametrize("flips", [(1, 1, 1), (1, -1, 1), (-1, 1, 1), (-1, -1, 1)])
def test_the_rarest_state_of_a_pair_is_counted(flips):
    X = random_spins(40, 3, seed=1) * np.array(flips)
    counts = [
        ((X[:, i] == a) & (X[:, j] == b)).sum()
        for i in range(3)
        for j in range(i)
        for a in (1, -1)
        for b in (1, -1)
    ]
    assert _rarest_pair(stats(X)) == min(counts) > 0


def test_a_combination_that_never_varies():
    """All pairs show all their states, but the three spins never agree; one sample in which they do is enough."""
    counts = np.array([0, 30, 40, 50, 60, 70, 80, 0])
    with pytest.raises(ValueError, match="has no maximum"):
        fit_exact(counted(counts))
    counts[0] = 1
    assert np.abs(fit_exact(counted(counts)).matrix).max() < 3


@pytest.mark.parametrize(
    ("X", "message"),
    [
        (random_spins(30, 17), "n up to 16: found n = 17"),
        (random_spins(4, 6), "has no maximum"),
        (np.insert(random_spins(40, 4), 2, 1, axis=1), "has no maximum"),
        (np.hstack([random_spins(40, 3), random_spins(40, 3)]), "has no maximum"),
    ],
)
def test_what_has_no_answer(X, message):
    with pytest.raises(ValueError, match=message):
        fit_exact(stats(X))
