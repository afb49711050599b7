"""Chains that follow a model, against enumeration."""

from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from scipy.special import softmax
from scipy.stats import chisquare, t

import bayesing as bs
from bayesing.ising import all_states
from bayesing.learning.population import (
    REJECTION,
    SHARE,
    Group,
    Population,
    _exchange,
    _longest_step,
    _turn,
    worth,
)
from bayesing.sampling._gibbs import GROUP, Chains, generator_states

from samples import in_turn, random_model
from slow import features, pack


def competing(field=-0.12, seed=0):
    """Ten spins, all up or all down for the most part, and the one ten times as often as the other."""
    rng = np.random.default_rng(seed)
    J = np.triu(0.35 + 0.1 * rng.normal(size=(10, 10)), 1)
    return bs.IsingModel(J + J.T, field + 0.1 * rng.normal(size=10))


def population(model, seed=0, groups=16, run=in_turn, **options):
    rates = np.arctanh(0.9 * model.means())
    seeds = np.random.SeedSequence(seed)
    return Population(model.couplings, model.fields, rates, seeds, run, groups, **options)


def exact(model):
    return pack(model.correlations(), model.means())


def worst(found, expected):
    """Smallest p-value of averages (groups, features), from the spread of independent groups, times their number."""
    found = np.array(found)
    error = found.std(axis=0, ddof=1) / np.sqrt(len(found))
    assert error.max() < 0.1
    return len(expected) * 2 * t.sf(np.abs(found.mean(axis=0) - expected) / error, len(found) - 1).min()


def averages(people, times=1, thin=1, burn=0):
    return [features(spins.T).mean(axis=0) for spins, _ in people.collect(times, thin, burn)]


def test_a_fresh_start_is_at_equilibrium():
    model = competing()
    assert 0.02 < (1 + model.means().mean()) / 2 < 0.2
    people = population(model, groups=32, sweeps=4)
    assert worst(averages(people), exact(model)) > 0.001
    assert worst(averages(people, times=8, thin=4, burn=4), exact(model)) > 0.001


def test_a_fresh_start_draws_with_weights():
    """Without a sweep these alone make samples of the model out of independent spins."""
    model = random_model(4, 1.0, seed=3, field=0.6)
    people = population(model, groups=64, sweeps=0)
    assert worst(averages(people), exact(model)) > 0.001


def test_exponents_are_those_of_the_spins():
    model = competing()
    for group in population(model, groups=2).groups:
        spins, exponents = group.collect(2, 45, 45)
        own = group.chains.base.astype(float) @ spins
        expected = -model.energy(spins.T.astype(np.int8)) - own
        assert exponents.ravel() == pytest.approx(expected, abs=1e-4)


def test_the_levels_below():
    for group in population(random_model(10, 2.0, seed=1), groups=2, lower=24).groups:
        assert group.betas[0] == 0 and group.betas[-1] == 1 and (np.diff(group.betas) > 0).all()
        assert (np.diff(group.starts) > 0).all() and group.starts[-2] == 24 and len(group.top) == GROUP
        assert sorted(group.at) == list(range(24 + GROUP))


def test_every_other_group_starts_from_uniform_spins():
    bases = [group.chains.base for group in population(competing(), groups=4).groups]
    assert all(base.any() for base in bases[::2]) and not any(base.any() for base in bases[1::2])


def test_chains_drawn_anew_follow_a_change_of_the_model():
    """Without a sweep, and between states that sweeps do not travel between."""
    before, after = competing(), competing(field=-0.05)
    assert np.abs(exact(after) - exact(before)).max() > 0.2
    people = population(before, groups=32, sweeps=4)
    people.change(after.couplings, after.fields)
    assert worst(averages(people), exact(after)) > 0.001
    for group in people.groups:
        assert group.chains.exponents == pytest.approx(group.chains.exact_exponents(), abs=1e-4)


def test_chains_stay_where_the_change_is_too_large():
    before = competing()
    people = population(before, groups=2)
    spins = people.states()
    people.change(before.couplings, before.fields + 3)
    assert all((a == b).all() for a, b in zip(spins, people.states(), strict=True))
    people.change(before.couplings, before.fields)
    people.change(before.couplings, before.fields + 0.05)
    assert not all((a == b).all() for a, b in zip(spins, people.states(), strict=True))


def test_coming_back():
    before, after = competing(), competing(field=0.3)
    people = population(before, groups=2)
    spins = people.states()
    exponents = [group.chains.exponents.copy() for group in people.groups]
    people.change(after.couplings, after.fields)
    people.advance(3)
    people.come_back(before.couplings, before.fields, spins)
    for group, s, u in zip(people.groups, spins, exponents, strict=True):
        assert (group.chains.spins == s).all() and group.chains.exponents == pytest.approx(u, abs=1e-5)


SMALL, BASE = random_model(3, 1.5, seed=2, field=0.5), np.array([0.4, -0.6, 0.2])


def level(beta, model=SMALL, base=BASE):
    """All states of three spins, their probabilities at beta, and what beta multiplies."""
    states = all_states(3)
    exponents = -model.energy(states) - states @ base
    return states, softmax(states @ base + beta * exponents), exponents


def chains_at(beta, rng):
    """Exact samples at each beta of the array."""
    seeds = generator_states(len(beta), rng)
    chains = Chains(
        *(x.astype(np.float32) for x in (SMALL.couplings, SMALL.fields)), seeds, BASE.astype("f4")
    )
    for value in np.unique(beta):
        states, p, _ = level(value)
        chosen = beta == value
        chains.spins[:, chosen] = states[rng.choice(8, chosen.sum(), p=p)].T
    chains.exponents = chains.exact_exponents()
    return chains


def agrees(spins, beta):
    _, p, _ = level(beta)
    numbers = ((spins.T > 0) @ np.array([4, 2, 1])).astype(int)
    order = ((all_states(3) > 0) @ np.array([4, 2, 1])).astype(int)
    counts = np.bincount(numbers, minlength=8)[order]
    return chisquare(counts, p * counts.sum()).pvalue


@pytest.mark.parametrize("value", [0.0, 0.5, 1.0])
def test_turning_leaves_the_distribution_as_it_is(value):
    beta = np.full(100_000, value)
    chains = chains_at(beta, np.random.default_rng(3))
    before = chains.spins.copy()
    _turn(*chains.arrays, beta.astype(np.float32))
    turned = (chains.spins != before).all(axis=0)
    assert ((chains.spins == before).all(axis=0) | turned).all()
    states, p, _ = level(value)
    mirrored = p[[int(np.flatnonzero((states == -s).all(axis=1))[0]) for s in states]]
    expected = np.minimum(p, mirrored).sum()
    assert turned.mean() == pytest.approx(expected, abs=4 * np.sqrt(expected / 100_000))
    assert agrees(chains.spins, value) > 0.001
    assert chains.exponents == pytest.approx(chains.exact_exponents(), abs=1e-5)


@pytest.mark.parametrize("sizes", [(30_000, 30_000, 90_000), (90_000, 30_000, 50_000)])
def test_exchanges_leave_all_distributions_as_they_are(sizes):
    betas = np.array([0.0, 0.4, 1.0])
    rng = np.random.default_rng(4)
    chains = chains_at(np.repeat(betas, sizes), rng)
    starts = np.concatenate([[0], np.cumsum(sizes)])
    at = np.arange(starts[-1])
    rejections, attempts = np.zeros(2), np.zeros(2)
    for parity in (0, 1):
        uniforms = rng.uniform(-1, 1, (2, len(at))).astype(np.float32)
        _exchange(at, starts, betas, chains.exponents, uniforms, parity, rejections, attempts)
        assert attempts[parity] == 1
    assert sorted(at) == list(range(len(at)))
    for k in range(3):
        here = at[starts[k] : starts[k + 1]]
        assert (here < starts[k]).any() or (here >= starts[k + 1]).any()
        assert agrees(chains.spins[:, here], betas[k]) > 0.001
    for k in range(2):
        (_, p, u), (_, q, _) = level(betas[k]), level(betas[k + 1])
        rejected = 1 - np.exp(np.minimum((betas[k + 1] - betas[k]) * (u[:, None] - u), 0))
        expected = p @ rejected @ q
        error = np.sqrt(p @ rejected**2 @ q - expected**2) / np.sqrt(min(sizes[k : k + 2]))
        assert rejections[k] == pytest.approx(expected, abs=4 * error) and expected > 5 * error


def test_rejections_are_made_equal():
    model = random_model(10, 3.0, seed=5)
    group = Group(model.couplings, model.fields, np.zeros(10), np.random.SeedSequence(1))
    group.start_afresh(2)
    for _ in range(4):
        group.advance(60)
        group.retune()
    group.advance(300)
    rates = group.rejections / group.attempts
    assert np.ptp(rates) < 0.12 and 0.5 * REJECTION < rates.mean() < 1.3 * REJECTION


def test_the_share_that_weights_are_worth():
    w = np.random.default_rng(0).exponential(size=50) * 10.0 ** np.random.default_rng(1).normal(size=50)
    assert worth(np.log(w) + 700) == pytest.approx(sum(w) ** 2 / sum(w**2) / 50, rel=1e-9)
    assert worth(np.full(9, -3.0)) == pytest.approx(1)
    assert worth(np.array([0.0, -1000, -1000, -1000])) == pytest.approx(1 / 4)


def test_the_longest_step():
    exponents = 5 * np.random.default_rng(0).normal(size=300)
    step = _longest_step(exponents, 1.0)
    assert 0.01 < step < 0.5 and worth(step * exponents) == pytest.approx(SHARE, abs=1e-4)
    assert _longest_step(exponents, step / 2) == step / 2
    assert _longest_step(1e9 * exponents, 1.0) == 1e-3


def test_the_same_bits_for_any_number_of_threads():
    model = competing()

    def bits(run, seed=5):
        people = population(model, seed, groups=3, run=run)
        people.change(model.couplings, model.fields + 0.05)
        people.advance(5)
        people.retune()
        return [spins for spins, _ in people.collect(2, 3, 4)]

    def in_threads(n):
        def run(tasks):
            with ThreadPoolExecutor(n) as pool:
                return list(pool.map(lambda task: task(), tasks))

        return run

    once = bits(in_turn)
    for n in (1, 2, 3):
        assert all((a == b).all() for a, b in zip(once, bits(in_threads(n)), strict=True))
    assert not all((a == b).all() for a, b in zip(once, bits(in_turn, 6), strict=True))
