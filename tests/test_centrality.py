"""Centralities against enumeration, a slow twin and limits; draws against the curvature that they stand for."""

import math
from types import SimpleNamespace

import joblib
import numpy as np
import pytest

import bayesing as bs
from bayesing.centrality import (
    Node,
    _Followers,
    _variances,
    centrality,
    independent_draws,
    joint_draws,
    mixture_draws,
    predictability,
)
from bayesing.conditionals import curvature
from bayesing.ising import all_states
from bayesing.mixture import Mixture

from samples import draw_exactly, random_model, random_spins, without_noise

MODEL = random_model(6, 1.3, seed=4, field=0.6)
NAMES = list("abcdef")
DRAW = MODEL.couplings, MODEL.fields


def entropy(p):
    p = p[p > 0]
    return -float(p @ np.log(p))


def exact(model):
    """1 - H(s_i | rest)/H(s_i) with H(s_i | rest) = H(all) - H(rest), from the table of all states."""
    states = all_states(model.n_spins)
    p = np.exp(-model.energy(states) - model.log_partition())
    found = []
    for i in range(model.n_spins):
        flipped = states.copy()
        flipped[:, i] *= -1
        together = p + np.exp(-model.energy(flipped) - model.log_partition())
        rest = together[states[:, i] > 0]
        up = p[states[:, i] > 0].sum()
        found.append(1 - (entropy(p) - entropy(rest)) / entropy(np.array([up, 1 - up])))
    return np.array(found)


def slow(J, h, spins):
    """The definition, a sample and a spin at a time."""
    found = []
    for i in range(len(h)):
        tanhs = [math.tanh(h[i] + sum(J[i][j] * s[j] for j in range(len(h)))) for s in spins]
        entropies = [entropy(np.array([1 + t, 1 - t]) / 2) for t in [*tanhs, sum(tanhs) / len(tanhs)]]
        found.append(1 - sum(entropies[:-1]) / len(tanhs) / entropies[-1])
    return np.array(found)


def repeated(draw, times):
    return (draw for _ in range(times))


def test_predictability_is_that_of_enumeration():
    found = predictability(*DRAW, without_noise(MODEL, 500_000))
    assert found == pytest.approx(exact(MODEL), abs=2e-5)
    assert exact(MODEL).min() > 0.02 and np.ptp(exact(MODEL)) > 0.1


def test_predictability_is_that_of_the_slow_twin():
    """On samples of something else, where model and means of the samples do not fit."""
    model, spins = random_model(7, 1.1, seed=2, field=0.8), random_spins(31, 7)
    assert predictability(model.couplings, model.fields, spins) == pytest.approx(
        slow(model.couplings, model.fields, spins.tolist()), abs=1e-12
    )


def test_predictability_has_limits():
    h, spins = np.array([-2.0, 0.3, 30.0, -400.0]), random_spins(50, 4)
    assert predictability(np.zeros((4, 4)), h, spins) == pytest.approx(0, abs=1e-12)
    pair = np.array([[0.0, 20.0], [20.0, 0.0]])
    both = np.array([[1, 1], [-1, -1], [-1, -1]], np.int8)
    assert predictability(pair, np.array([0.4, -0.7]), both) == pytest.approx(1, abs=1e-12)
    rng = np.random.default_rng(0)
    for scale in (0.01, 1, 100):
        J = scale * rng.normal(size=(4, 4))
        assert (predictability(J, h, spins) >= 0).all() and (predictability(J, h, spins) <= 1).all()


def test_two_spins_by_hand():
    """s_1 = ±1 makes the local field of s_0 h ± J."""
    J, h = 0.8, 0.3
    spins = np.array([[1, 1], [1, -1], [-1, -1], [-1, -1]], np.int8)
    found = predictability(np.array([[0, J], [J, 0]]), np.array([h, -0.1]), spins)[0]
    p = [1 / (1 + math.exp(-2 * (h + s * J))) for s in (1, -1)]

    def H(x):
        return -x * math.log(x) - (1 - x) * math.log(1 - x)

    assert found == pytest.approx(1 - (H(p[0]) + 3 * H(p[1])) / 4 / H((p[0] + 3 * p[1]) / 4))


def test_a_spin_turned_round_keeps_strength_and_predictability():
    sign = np.array([1, -1, 1, 1, -1, 1])
    spins = draw_exactly(MODEL, 200, np.random.default_rng(0)).astype(np.int8)
    turned = MODEL.couplings * np.outer(sign, sign), MODEL.fields * sign
    assert predictability(*turned, spins * sign) == pytest.approx(predictability(*DRAW, spins))
    a, b = (centrality([draw], spins, NAMES) for draw in (DRAW, turned))
    assert b.strength == pytest.approx(a.strength) and np.abs(b.influence - a.influence).max() > 0.1


def test_draws_without_width_leave_the_error_of_sampling():
    """Values are those of enumeration, and errors what 500 samples of the model leave."""
    spins = draw_exactly(MODEL, 500, np.random.default_rng(1)).astype(np.int8)
    found = centrality(repeated(DRAW, 400), spins, NAMES)
    rng = np.random.default_rng(2)
    apart = [predictability(*DRAW, draw_exactly(MODEL, 500, rng)) for _ in range(400)]
    assert found.predictability_error == pytest.approx(np.std(apart, axis=0), rel=0.25)
    # Some draws in a row have much the same samples: they count as a tenth of their number.
    assert np.abs(
        found.predictability - exact(MODEL)
    ).max() < 4 * found.predictability_error.max() / math.sqrt(40)
    for values, errors, interval, sums in (
        (found.strength, found.strength_error, found.strength_interval, np.abs(MODEL.couplings).sum(axis=0)),
        (found.influence, found.influence_error, found.influence_interval, MODEL.couplings.sum(axis=0)),
    ):
        assert values == pytest.approx(sums) and errors == pytest.approx(0, abs=1e-12)
        assert interval == pytest.approx(np.column_stack([sums, sums]))


def test_every_draw_has_samples_of_its_own_model():
    """Chains that start from samples of free spins arrive at those of the draw, and come back."""
    free = (2 * np.random.default_rng(0).integers(0, 2, (4000, 6)) - 1).astype(np.int8)
    chains = _Followers(free, np.random.default_rng(0))
    wrong = predictability(*DRAW, free)
    for _ in range(5):
        chains.predictability(*DRAW)
    right = np.mean([chains.predictability(*DRAW) for _ in range(20)], axis=0)
    assert np.abs(right - exact(MODEL)).max() < 0.01 < np.abs(wrong - exact(MODEL)).max() / 3
    other = bs.IsingModel(-0.5 * MODEL.couplings, -MODEL.fields)
    for _ in range(5):
        chains.predictability(other.couplings, other.fields)
    back = np.mean([chains.predictability(other.couplings, other.fields) for _ in range(20)], axis=0)
    assert np.abs(back - exact(other)).max() < 0.01


def test_values_are_means_and_intervals_hold_one_more_draw():
    """Couplings of one pair are 1, 2, ..., 19, of either sign in turn: 5% and 95% are the first and the last."""
    size = np.random.default_rng(0).permutation(np.arange(1.0, 20))
    pairs = np.array([[[0.0, x], [x, 0.0]] for x in size * (-1) ** size])
    found = centrality(zip(pairs, np.zeros((19, 2)), strict=True), random_spins(5, 2), ["a", "b"])
    assert found.strength.tolist() == [10, 10] and found.level == 0.9
    assert found.influence == pytest.approx([-10 / 19] * 2)
    assert found.strength_interval == pytest.approx(np.array([[1, 19], [1, 19]]))
    assert found.influence_interval == pytest.approx(np.array([[-19, 18], [-19, 18]]))
    assert found.strength_error == pytest.approx([np.std(size, ddof=1)] * 2)
    half = centrality(zip(pairs, np.zeros((19, 2)), strict=True), random_spins(5, 2), ["a", "b"], level=0.5)
    assert half.strength_interval == pytest.approx(np.array([[5, 15], [5, 15]]))


def some_fit(n=5, seed=3):
    rng = np.random.default_rng(seed)
    model = random_model(n, 0.9, seed=seed, field=0.7)
    errors = np.triu(rng.uniform(0.05, 0.2, (n, n)), 1)
    return model.couplings, errors + errors.T, model.fields, draw_exactly(model, 4000, rng).astype(np.int8)


def stacked(draws):
    return tuple(map(np.array, zip(*draws, strict=True)))


def test_independent_draws_are_normal_symmetric_and_independent():
    J, e, h, _ = some_fit()
    D, upper = 4000, np.triu_indices(5, 1)
    couplings, fields = stacked(independent_draws(J, e, h, None, D, np.random.default_rng(0)))
    assert (couplings == couplings.transpose(0, 2, 1)).all() and (np.einsum("kii->ki", couplings) == 0).all()
    assert (fields == h).all()
    z = ((couplings - J)[:, *upper]) / e[upper]
    assert np.abs(z.mean(axis=0)).max() < 4 / math.sqrt(D)
    assert np.abs(z.std(axis=0) - 1).max() < 4 / math.sqrt(2 * D)
    assert np.abs(np.corrcoef(z.T) - np.eye(10)).max() < 4.5 / math.sqrt(D)


@pytest.mark.parametrize("known", [False, True])
def test_fields_make_up_for_couplings(known):
    J, e, h, spins = some_fit()
    d, D = spins.mean(axis=0), 4000
    errors = np.full(5, 0.3) if known else None
    couplings, fields = stacked(independent_draws(J, e, h, errors, D, np.random.default_rng(0), d))
    b = fields + couplings @ d
    part = np.sqrt(e**2 @ d**2)
    assert (part > 0.05).all() and (part < 0.25).all()
    left = np.sqrt(0.3**2 - part**2) if known else np.zeros(5)
    assert b.std(axis=0) == pytest.approx(left, rel=4 / math.sqrt(2 * D), abs=1e-12)
    assert fields.std(axis=0) == pytest.approx(np.full(5, 0.3) if known else part, rel=4 / math.sqrt(2 * D))
    assert np.abs(b.mean(axis=0) - h - J @ d).max() < 4 * 0.3 / math.sqrt(D)
    alone = stacked(independent_draws(J, e, h, np.full(5, 0.3), D, np.random.default_rng(0)))[1]
    assert alone.std(axis=0) == pytest.approx(0.3, rel=4 / math.sqrt(2 * D))


def covariance_by_inversion(J, h, spins, N, gamma):
    """Of all entries i <= j of a symmetric matrix A, from the Hessian of the form, a basis matrix at a time."""
    s, n = spins.astype(float), len(h)
    w = curvature(s @ J + h).mean(axis=0)
    D = np.cov(s.T, bias=True) / np.sqrt(np.outer(w, w))
    prior = 0.0 if gamma is None else n / gamma / w.mean() ** 2
    i, j = np.triu_indices(n)
    basis = np.zeros((len(i), n, n))
    basis[np.arange(len(i)), i, j] = basis[np.arange(len(i)), j, i] = 1
    hessian = np.array(
        [[prior / 2 * np.trace(a @ b) + N / 2 * np.trace(a @ D @ b) for a in basis] for b in basis]
    )
    return np.linalg.inv(hessian)[np.ix_(i < j, i < j)]


@pytest.mark.parametrize("gamma", [0.4, None])
def test_joint_draws_are_correlated_as_the_curvature_says(gamma):
    J, e, h, spins = some_fit()
    D, N, upper = 20_000, 60, np.triu_indices(5, 1)
    couplings, _ = stacked(joint_draws(J, e, h, spins, N, gamma, D, np.random.default_rng(0)))
    assert (couplings == couplings.transpose(0, 2, 1)).all() and (np.einsum("kii->ki", couplings) == 0).all()
    noise = (couplings - J)[:, *upper]
    assert np.abs(noise.mean(axis=0) / e[upper]).max() < 4 / math.sqrt(D)
    assert noise.std(axis=0) == pytest.approx(e[upper], rel=4 / math.sqrt(2 * D))
    exact = covariance_by_inversion(J, h, spins, N, gamma)
    root = np.sqrt(np.diag(exact))
    expected = exact / np.outer(root, root)
    assert np.abs(np.corrcoef(noise.T) - expected).max() < 4.5 / math.sqrt(D)
    assert np.abs(expected - np.eye(10)).max() > 0.2


def test_joint_draws_without_data_or_couplings_are_independent():
    J, e, h, spins = some_fit()
    couplings, _ = stacked(joint_draws(J, e, h, spins, 60, 0.0, 4000, np.random.default_rng(0)))
    correlations = np.corrcoef((couplings - J)[:, *np.triu_indices(5, 1)].T)
    assert np.abs(correlations - np.eye(10)).max() < 4.5 / math.sqrt(4000)


def test_joint_draws_know_the_local_fields():
    J, e, h, spins = some_fit()
    d, D, N = spins.mean(axis=0), 4000, 60
    couplings, fields = stacked(joint_draws(J, e, h, spins, N, 0.4, D, np.random.default_rng(0)))
    b = fields + couplings @ d
    w = curvature(spins @ J + h).mean(axis=0)
    assert b.std(axis=0) == pytest.approx(1 / np.sqrt(N * w + 1), rel=4 / math.sqrt(2 * D))
    assert np.abs(np.corrcoef(b.T, couplings[:, 0, 1:].T)[:5, 5:]).max() < 4.5 / math.sqrt(D)


def test_draws_from_mixtures_have_their_probabilities_means_and_fields():
    """Four of five spins vary: a coupling is there as often as is probable, and the data know the local fields."""
    _, _, h, spins = some_fit()
    prior = Mixture(np.array([0.5, 0.5]), np.zeros(2), np.array([0.0, 0.2]))
    q = np.array([20.0, 40.0, 60.0, 30.0, 50.0, 25.0])
    edges = prior.given(np.array([0.1, -0.6, 0.3, 0.0, 0.8, -0.2]), q)
    pairs, D, N = (np.array([0, 0, 0, 1, 1, 3]), np.array([1, 3, 4, 3, 4, 4])), 8000, 60  # spin 2 has none
    J, precisions = np.zeros((5, 5)), np.zeros((5, 5))
    J[pairs], precisions[pairs] = edges.mean, q
    J, precisions = J + J.T, precisions + precisions.T
    found = SimpleNamespace(matrix=J, precisions=precisions, edges=edges)
    couplings, fields = stacked(mixture_draws(found, h, spins, N, D, np.random.default_rng(0)))
    assert (couplings == couplings.transpose(0, 2, 1)).all() and not couplings[:, 2].any()
    drawn = couplings[:, *pairs]
    P = edges.probabilities
    assert np.abs(np.mean(drawn != 0, axis=0) - P).max() < 4 * 0.5 / math.sqrt(D)
    assert np.abs((drawn.mean(axis=0) - edges.mean) / np.sqrt(edges.variance / D)).max() < 4
    assert np.abs(np.corrcoef(drawn.T) - np.eye(6)).max() < 4.5 / math.sqrt(D)
    d, w = spins.mean(axis=0), curvature(spins @ J + h).mean(axis=0)
    b = fields + couplings @ d
    assert b.std(axis=0) == pytest.approx(1 / np.sqrt(N * w + 1), rel=4 / math.sqrt(2 * D))
    assert np.abs((b.mean(axis=0) - h - J @ d) / b.std(axis=0)).max() < 4 / math.sqrt(D)


def test_variances_follow_the_definition():
    V = np.linalg.eigh(random_model(7, 1, seed=1).couplings)[1]
    c = np.linspace(0.1, 3, 7)
    K = 1 / (0.3 + np.add.outer(c, c))
    slow = np.einsum("ik,jl,kl->ij", V**2, V**2, K) + np.einsum("ik,jk,il,jl,kl->ij", V, V, V, V, K)
    assert _variances(V, K) == pytest.approx(slow, rel=1e-7)


def test_joint_draws_of_a_constant_spin():
    rng = np.random.default_rng(0)
    spins = np.hstack([random_spins(200, 4), np.ones((200, 1), np.int8)])
    J, e = np.zeros((5, 5)), 0.1 * (1 - np.eye(5))
    for gamma in (0.3, None):
        couplings, fields = stacked(joint_draws(J, e, np.full(5, 0.4), spins, 200, gamma, 500, rng))
        assert couplings[:, 4, :4].std() == pytest.approx(0.1, rel=0.1) and np.isfinite(fields).all()


def test_intervals_hold_the_truth():
    """Of 15 x 24 true values 90% on average. Intervals of half the width would hold 59%, of twice the width 99.9%."""
    inside = []
    for seed in range(15):
        sim = bs.simulate(n_spins=24, n_samples=300, J=0.6, H=0.3, sampler="temper", seed=seed)
        bm = bs.BoltzmannMachine("spectral").fit(sim.spins)
        spins, rng = bm.sample(1000, seed=0), np.random.default_rng(seed)
        many = bs.sample(bs.IsingModel(sim.couplings, sim.fields), 4000, seed=1)
        truth = {
            "strength": np.abs(sim.couplings).sum(axis=0),
            "influence": sim.couplings.sum(axis=0),
            "predictability": predictability(sim.couplings, sim.fields, many),
        }
        fit = bm.couplings_, bm.coupling_errors_, bm.fields_
        for draws in (
            joint_draws(*fit, spins, 300, bm.gamma_, 100, rng),
            independent_draws(*fit, None, 100, rng, spins.mean(axis=0)),
        ):
            found = centrality(draws, spins, bm.names())
            for quantity, value in truth.items():
                low, high = getattr(found, f"{quantity}_interval").T
                inside.append(np.mean((low < value) & (value < high)))
    shares = np.reshape(inside, (15, 6)).mean(axis=0)
    assert (shares > 0.8).all() and (shares < 0.98).all()


def test_rows_and_frame():
    rng = np.random.default_rng(0)
    J, e, h, spins = some_fit()
    found = centrality(independent_draws(J, e, h, None, 30, rng), spins[:100], list("vwxyz"))
    rows = list(found.rows())
    assert [row.name for row in rows] == list("vwxyz") and [row.i for row in rows] == [0, 1, 2, 3, 4]
    frame = found.to_frame()
    assert list(frame.columns) == list(Node._fields) and len(frame) == 5
    for quantity in ("strength", "influence", "predictability"):
        low, high = getattr(found, f"{quantity}_interval").T
        for suffix, values in (
            ("", getattr(found, quantity)),
            ("_error", getattr(found, f"{quantity}_error")),
            ("_low", low),
            ("_high", high),
        ):
            assert frame[quantity + suffix].tolist() == values.tolist()
            assert [getattr(row, quantity + suffix) for row in rows] == values.tolist()
        assert (low < getattr(found, quantity)).all() and (getattr(found, quantity) < high).all()


def test_the_same_seed_gives_the_same_numbers_for_any_number_of_threads():
    J, e, h, spins = some_fit()

    def run(seed):
        draws = independent_draws(J, e, h, None, 5, np.random.default_rng(0))
        return centrality(draws, spins[:600], list("vwxyz"), seed=seed).predictability.tolist()

    with joblib.parallel_config(n_jobs=2):
        two = run(None)
    assert run(None) == two == run(0) != run(1)


def test_draws_are_taken_one_at_a_time():
    """The spins that were given stay as they are, and so do the draws."""
    J, h, spins = MODEL.couplings.copy(), MODEL.fields.copy(), random_spins(300, 6)
    before = spins.copy()
    centrality(repeated((J, h), 2), spins, NAMES)
    assert (J == MODEL.couplings).all() and (h == MODEL.fields).all() and (spins == before).all()


def test_wrong_input():
    spins = random_spins(10, 6)
    with pytest.raises(ValueError, match=r"level must be between 0 and 1: found 90"):
        centrality([DRAW], spins, NAMES, level=90)
    with pytest.raises(ValueError, match=r"Expected samples of 5 spins \(columns\), one for each name"):
        centrality([DRAW], spins, NAMES[:5])
    with pytest.raises(ValueError, match=r"at least one draw"):
        centrality([], spins, NAMES)
    all_draws = np.zeros((6, 6, 6)), np.zeros((6, 6))
    with pytest.raises(ValueError, match=r"Write zip\(\*draws\)"):
        centrality([all_draws], spins, NAMES)
    with pytest.raises(ValueError, match=r"n_draws must be at least 1"):
        next(independent_draws(*DRAW[:1], np.ones((6, 6)), DRAW[1], None, 0, np.random.default_rng(0)))
