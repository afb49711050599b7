"""Against enumeration: of all states, of two models side by side, or of magnetisations where all spins are alike."""

import numpy as np
import pytest
from scipy.special import entr, gammaln, logsumexp

import bayesing as bs
from bayesing import entropy
from bayesing.entropy import entropy_of, entropy_of_means, log_partition_of, multi_information_of
from bayesing.ising import all_states
from bayesing.sampling.anneal import anneal, schedule

from samples import random_model

QUANTITIES = [log_partition_of, entropy_of, multi_information_of]


def side_by_side(*models):
    """One model of all their spins, whose couplings do not reach from one to another: everything adds up."""
    n = sum(model.n_spins for model in models)
    couplings, start = np.zeros((n, n)), 0
    for model in models:
        part = slice(start, start + model.n_spins)
        couplings[part, part] = model.couplings
        start = part.stop
    return bs.IsingModel(couplings, np.concatenate([model.fields for model in models]))


PARTS = [random_model(15, 0.8, seed=1, field=0.5), random_model(14, 1.0, seed=2)]
LARGE = side_by_side(*PARTS)
RARE_PARTS = [
    bs.IsingModel(random_model(14, 0.5, seed).couplings, np.linspace(-3, -1, 14)) for seed in (3, 4)
]
RARE = side_by_side(*RARE_PARTS)


def exact(quantity, parts):
    return sum(quantity(part)[0] for part in parts)


def base_of(parts):
    return np.arctanh(np.concatenate([part.means() for part in parts]))


def test_all_follow_the_definition_for_few_spins():
    model = random_model(7, 0.9, seed=2)
    states = all_states(7)
    p = np.exp(-model.energy(states) - model.log_partition())
    independent = np.prod((1 + states * (p @ states)) / 2, axis=1)
    assert model.entropy() == pytest.approx(-(p @ np.log(p)), rel=1e-12)
    assert entropy_of(model) == (model.entropy(), 0.0)
    assert log_partition_of(model) == (model.log_partition(), 0.0)
    value, error = multi_information_of(model)
    assert value == pytest.approx(p @ np.log(p / independent), rel=1e-9) and value > 0.1 and error == 0


def test_no_couplings():
    free = bs.IsingModel(np.zeros((25, 25)), np.linspace(-2, 2, 25))
    p = (1 + np.tanh(free.fields)) / 2
    assert entropy_of_means(np.tanh(free.fields)) == pytest.approx((entr(p) + entr(1 - p)).sum())
    for quantity, expected in zip(
        QUANTITIES, [None, entropy_of_means(np.tanh(free.fields)), 0.0], strict=True
    ):
        value, error = quantity(free, seed=0, base=free.fields)
        expected = np.log(2 * np.cosh(free.fields)).sum() if expected is None else expected
        assert abs(value - expected) < 4 * error + 1e-5 and error < 0.01
    assert entropy_of_means(np.array([1.0, -1.0, 1 + 1e-16])) == 0


@pytest.mark.parametrize("quantity", QUANTITIES)
@pytest.mark.parametrize("parts", [PARTS, RARE_PARTS], ids=["glassy", "rare"])
def test_values_and_errors_of_many_spins(quantity, parts):
    """Twelve seeds, with a base and without one: errors are neither too small nor too large."""
    model, expected, base = side_by_side(*parts), exact(quantity, parts), base_of(parts)
    z, errors = [], []
    for seed in range(12):
        for start in (None, base):
            value, error = quantity(model, n_chains=400, seed=seed, base=start)
            z.append((value - expected) / error)
            errors.append(error)
    assert np.abs(z).max() < 4 and abs(np.mean(z)) < 4 / np.sqrt(24) and 0.6 < np.std(z) < 1.5
    assert 0 < max(errors) < 0.1


@pytest.mark.parametrize(("quantity", "factor"), [*zip(QUANTITIES, [5, 1.2, 1.2], strict=True)])
def test_the_base_makes_rare_spins_precise(quantity, factor):
    without = quantity(RARE, seed=0)[1]
    assert factor * quantity(RARE, seed=0, base=base_of(RARE_PARTS))[1] < without


def test_a_base_that_is_no_good_does_no_harm():
    """Half of the chains are lost, no more."""
    base = 3 * np.where(np.arange(29) % 2, 1, -1)
    value, error = log_partition_of(LARGE, seed=1, base=base)
    assert abs(value - exact(log_partition_of, PARTS)) < 4 * error
    assert error < 2 * log_partition_of(LARGE, seed=1)[1]


def test_averages_over_sweeps_are_those_of_the_chains():
    """Without a sweep at beta = 1 but the last one, they are the spins at the end, and their exponents."""
    base = np.linspace(-1, 1, 29)
    sample = anneal(LARGE, 300, schedule(0.1, 1, 0), 1, base, averages=True)
    assert (sample.averages.spins == sample.spins).all()
    assert sample.averages.exponents == pytest.approx(-LARGE.energy(sample.spins), abs=1e-3)
    more = anneal(LARGE, 300, schedule(0.1, 1, 3), 1, base, averages=True)
    assert (more.log_weights == sample.log_weights).all()
    assert set(np.unique(more.averages.spins)) == {-1.0, -0.5, 0.0, 0.5, 1.0}
    again = anneal(LARGE, 300, schedule(0.1, 1, 3), 1, base)
    assert again.averages is None and (again.spins == more.spins).all()


def two_phases(n, J, h):
    """All spins alike, and the sums over their magnetisations: ln Z, entropy, and entropy of independent spins."""
    M = np.arange(-n, n + 1, 2)
    up = (n + M) / 2
    exponents = J * (M**2 - n) / 2 + h * M
    terms = gammaln(n + 1) - gammaln(up + 1) - gammaln(n - up + 1) + exponents
    log_partition = logsumexp(terms)
    p = np.exp(terms - log_partition)
    found = log_partition - p @ exponents
    model = bs.IsingModel(J * (1 - np.eye(n)), h)
    return model, [log_partition, found, entropy_of_means(np.full(n, p @ M / n)) - found]


@pytest.mark.parametrize("rates", [-0.9, 0.9])
def test_a_phase_that_the_base_does_not_see(rates):
    """Nearly all spins up is likelier than down by a factor of 130; chains that start down stay there."""
    model, expected = two_phases(40, 0.055, 0.07)
    base = np.full(40, np.arctanh(rates))
    near = anneal(model, 500, schedule(0.005, 1, 0), 0, base)
    missed = abs(near.log_partition - expected[0]) > 4 * near.log_partition_error
    assert missed == (rates < 0)
    for quantity, value in zip(QUANTITIES, expected, strict=True):
        for seed in range(3):
            found, error = quantity(model, seed=seed, base=base)
            assert abs(found - value) < 4 * error < 0.8


def test_a_phase_that_the_base_does_not_see_and_does_not_point_to():
    """The same beside free spins whose alignment with the base hides it, and rare ones that make the base precise."""
    model, (log_partition, _, _) = two_phases(40, 0.055, 0.07)
    model = side_by_side(model, bs.IsingModel(np.zeros((240, 240)), np.repeat([0.0, -4.0], [200, 40])))
    base = np.concatenate([np.full(40, -0.5), np.tile([1.2, -1.2], 100), np.full(40, -4.0)])
    expected = log_partition + 200 * np.log(2) + 40 * np.log(2 * np.cosh(4))
    near = anneal(model, 500, schedule(0.005, 1, 0), 0, base)
    value, error = log_partition_of(model, seed=0, base=base)
    assert near.log_partition < expected - 5 and near.log_partition_error < error
    assert abs(value - expected) < 4 * error < 0.8


def test_the_noise_of_the_means_makes_no_multi_information(monkeypatch):
    """Free spins, 50 chains near the base, one sweep: without the correction values would be -25/100 on average."""
    monkeypatch.setattr(entropy, "SWEEPS", 0)
    free = bs.IsingModel(np.zeros((25, 25)), np.linspace(-1, 1, 25))
    values = [multi_information_of(free, 100, seed, free.fields)[0] for seed in range(40)]
    assert abs(np.mean(values)) < 4 * np.std(values) / np.sqrt(40) < 0.06


@pytest.mark.parametrize("quantity", QUANTITIES)
@pytest.mark.parametrize("model", [PARTS[0], LARGE])
def test_seeds_and_wrong_arguments(quantity, model):
    assert quantity(model, 8, seed=3, base=np.zeros(model.n_spins)) == quantity(
        model, 8, seed=3, base=np.zeros(model.n_spins)
    )
    with pytest.raises(ValueError, match="n_chains must be at least 4: found n_chains=3"):
        quantity(model, 3)
    with pytest.raises(ValueError, match="seed must be"):
        quantity(model, seed="x")
