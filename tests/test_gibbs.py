"""The sweep that all samplers share: exact transition probabilities, and a slow twin spin by spin."""

import threading
from itertools import product

import joblib
import numpy as np
import pytest
from threadpoolctl import threadpool_info

from bayesing.ising import IsingModel
from bayesing.sampling import _gibbs
from bayesing.sampling._gibbs import Chains, draw, generator_states, update

import slow
from samples import random_model


def states_for(n_chains, seed=0):
    return generator_states(n_chains, np.random.default_rng(seed))


def test_generators_are_xoshiro128_plus_plus():
    states = states_for(5)
    twins = [slow.Xoshiro(states[:, c]) for c in range(5)]
    out = np.empty((40, 5), np.float32)
    draw(states, out)
    np.testing.assert_array_equal(out, [[twin.uniform() for twin in twins] for _ in range(40)])
    np.testing.assert_array_equal(states.T, [twin.state for twin in twins])
    assert slow.Xoshiro([1, 2, 3, 4]).word() == 641  # the reference: rotl(1 + 4, 7) + 1


def test_uniform_numbers_are_uniform():
    out = np.empty((1000, 1000), np.float32)
    draw(states_for(1000), out)
    assert out.min() >= -1 and out.max() < 1
    counts = np.histogram(out, bins=64, range=(-1, 1))[0]
    expected = out.size / 64
    chi2 = ((counts - expected) ** 2 / expected).sum()
    assert abs(chi2 - 63) < 4.5 * np.sqrt(2 * 63)
    for a, b in [(out[:-1], out[1:]), (out[:, :-1], out[:, 1:])]:  # along a chain, and between chains
        assert abs(3 * np.mean(a * b)) < 4.5 / np.sqrt(a.size)


def test_generators_of_the_first_chains_do_not_depend_on_their_number():
    np.testing.assert_array_equal(states_for(9)[:, :4], states_for(4))


def test_tanh():
    x = np.linspace(-15, 15, 300_001, dtype=np.float32)
    exact = np.tanh(x.astype(float))
    assert np.abs(np.array([_gibbs._tanh(value) for value in x[::30]]) - exact[::30]).max() < 4e-7
    assert _gibbs._tanh(np.float32(20)) == 1 and _gibbs._tanh(np.float32(-20)) == -1
    assert _gibbs._tanh(np.float32(1e15)) == 1


def blas_threads():
    return [pool["num_threads"] for pool in threadpool_info() if pool["user_api"] == "blas"]


def test_blas_is_limited_until_the_last_of_overlapping_calls_has_ended():
    before = blas_threads()
    with _gibbs._one_blas_thread:
        with _gibbs._one_blas_thread:
            assert set(blas_threads()) == {1}
        assert set(blas_threads()) == {1}
    assert blas_threads() == before


def test_groups_run_on_as_many_threads_as_joblib_allows():
    barrier = threading.Barrier(2)
    with joblib.parallel_config(n_jobs=2):
        if _gibbs.cpu_count() > 1:
            assert sorted(_gibbs.in_threads([lambda: barrier.wait(10), lambda: barrier.wait(10)])) == [0, 1]


@pytest.mark.parametrize(("n", "chains"), [(2, 1), (3, 2), (31, 3), (32, 1), (33, 5), (70, 4), (101, 2)])
@pytest.mark.parametrize("J", [0.7, 2.0])
def test_sweeps_equal_their_slow_twin(n, chains, J):
    """Blocks, corrections inside them, generators, the start and the running exponents, all at once."""
    model = random_model(n, J, seed=n)
    betas = np.array([0.3, 0.9, 1.0, 0.55])
    states = states_for(chains, seed=1)
    twins = [slow.gibbs(model, states[:, c], betas) for c in range(chains)]
    fast = Chains(model.couplings.astype(np.float32), model.fields.astype(np.float32), states)
    for t, beta in enumerate(betas):
        np.testing.assert_allclose(fast.exponents, [twin[1][t] for twin in twins], rtol=1e-5, atol=1e-4)
        fast.sweep(np.full(chains, beta, np.float32))
    np.testing.assert_array_equal(fast.spins.T, [twin[0] for twin in twins])
    np.testing.assert_allclose(fast.exponents, -model.energy(fast.spins.T), rtol=1e-5, atol=1e-4)
    np.testing.assert_allclose(fast.exact_exponents(), -model.energy(fast.spins.T), rtol=1e-5)


def test_every_chain_has_its_own_beta():
    model, betas = random_model(40, 1.0), np.array([0.0, 0.4, 1.0, 0.4], np.float32)
    states = states_for(4)
    fast = Chains(model.couplings.astype(np.float32), model.fields.astype(np.float32), states)
    for _ in range(3):
        fast.sweep(betas)
    for c, beta in enumerate(betas):
        np.testing.assert_array_equal(fast.spins[:, c], slow.gibbs(model, states[:, c], [beta] * 3)[0])


def test_chains_go_on_with_another_model():
    """Parameters that change in place, with a base: as new chains of that model, started where the old ones stood."""
    n, states = 70, states_for(4)
    base = np.random.default_rng(3).normal(size=n).astype(np.float32)
    first, second = random_model(n, 0.6, seed=1), random_model(n, 1.1, seed=2)
    single = [(m.couplings.astype(np.float32), m.fields.astype(np.float32)) for m in (first, second)]
    betas = np.array([0.0, 0.3, 0.8, 1.0], np.float32)
    chains = Chains(single[0][0].copy(), single[0][1], states, base)
    chains.sweep(betas)
    fresh = Chains(single[1][0].copy(), single[1][1], chains.states, base)
    fresh.spins[...], fresh.states[...] = chains.spins, chains.states
    chains.change(*single[1])
    np.testing.assert_allclose(
        chains.exponents, -second.energy(chains.spins.T) - base @ chains.spins, rtol=1e-4, atol=1e-3
    )
    for _ in range(2):
        chains.sweep(betas)
        fresh.sweep(betas)
    np.testing.assert_array_equal(chains.spins, fresh.spins)


def test_chains_start_as_independent_spins_in_their_base():
    base = np.array([-1.5, 0.0, 0.4, 2.0], np.float32)
    chains = Chains(np.zeros((4, 4), np.float32), np.zeros(4, np.float32), states_for(20_000), base)
    for _ in range(2):  # and stay so at beta = 0
        error = np.sqrt((1 - np.tanh(base) ** 2) / 20_000)
        assert (np.abs(chains.spins.mean(axis=1) - np.tanh(base)) < 4 * error).all()
        chains.sweep(np.zeros(20_000, np.float32))


# Exact, on three spins: probabilities are read off the kernel by bisection of the injected uniform numbers.

MODEL = IsingModel([[0.0, 0.9, -0.5], [0.9, 0.0, 0.3], [-0.5, 0.3, 0.0]], [0.4, -0.7, 0.2])
STATES = np.array(list(product([-1, 1], repeat=3)))
BETA = 0.7
BASE = np.array([-0.3, 0.6, 0.1], np.float32)  # fields of the independent spins at beta = 0


def updated(state, uniforms):
    """State after one pass of the kernel over all three spins with these uniform numbers."""
    spins = np.array(state, np.float32)[:, None]
    J = MODEL.couplings.astype(np.float32)
    fields = MODEL.fields.astype(np.float32)
    arguments = J @ spins, J, fields - BASE, BASE, np.full(1, BETA, np.float32)
    update(spins, *arguments, np.array(uniforms, np.float32)[:, None], np.zeros(1))
    return spins[:, 0].astype(int)


def probability_up(state, forced):
    """Probability that the spin after those that are ``forced`` becomes +1 in the sweep."""
    i = len(forced)
    low, high = -1.0, 1.0
    for _ in range(26):
        middle = (low + high) / 2
        uniforms = [*(-2.0 if spin > 0 else 2.0 for spin in forced), middle, *[0.0] * (2 - i)]
        low, high = (middle, high) if updated(state, uniforms)[i] > 0 else (low, middle)
    return (1 + low) / 2


def boltzmann():
    weights = np.exp(-BETA * MODEL.energy(STATES) + (1 - BETA) * (STATES @ BASE))
    return weights / weights.sum()


def sweep_matrix():
    matrix = np.zeros((8, 8))
    for a, start in enumerate(STATES):
        for b, end in enumerate(STATES):
            up = [probability_up(start, end[:i]) for i in range(3)]
            matrix[a, b] = np.prod([p if spin > 0 else 1 - p for p, spin in zip(up, end, strict=True)])
    return matrix


def test_single_site_updates_obey_detailed_balance():
    """The first spin of a sweep: p(s) T(s -> s') = p(s') T(s' -> s) for all pairs that differ there."""
    p = boltzmann()
    for rest in product([-1, 1], repeat=2):
        down, up = (-1, *rest), (1, *rest)
        a, b = (int(np.flatnonzero((STATES == state).all(axis=1))[0]) for state in (down, up))
        flow_up, flow_down = p[a] * probability_up(down, ()), p[b] * (1 - probability_up(up, ()))
        assert flow_up == pytest.approx(flow_down, rel=2e-6)
        conditional = p[b] / (p[a] + p[b])
        assert probability_up(down, ()) == pytest.approx(conditional, rel=2e-6)


def test_a_sweep_leaves_the_boltzmann_distribution_invariant():
    matrix, p = sweep_matrix(), boltzmann()
    np.testing.assert_allclose(matrix.sum(axis=1), 1, rtol=1e-12)
    np.testing.assert_allclose(p @ matrix, p, rtol=2e-6)
    uniform = np.full(8, 1 / 8)
    assert np.abs(uniform @ matrix - uniform).max() > 0.01  # and not any other
