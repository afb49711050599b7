"""Chains of what is missing, against the exact averages given what is there."""

import numpy as np
import pytest

from bayesing.learning import clamped
from bayesing.learning.clamped import Clamped, observed
from bayesing.learning.phases import LEAST_LEFT, Data, Lost, around, variances_of_pairs
from bayesing.threads import workers

from samples import draw_exactly, in_turn, random_model, stats
from slow import given, moments_given

MODEL = random_model(6, 1.5, seed=2, field=0.6)
OTHER = random_model(
    6, 1.2, seed=5, field=0.5
)  # another one: averages are to be those of the model looked at


def gappy(model, N, share, seed=0, hidden=0):
    """Spins without the hidden units, 0 where a cell is missing; the third row shows nothing."""
    rng = np.random.default_rng(seed)
    X = draw_exactly(model, N, rng).astype(np.int8)[:, : model.n_spins - hidden]
    X[rng.random(X.shape) < share] = 0
    if share:
        X[2] = 0
    return X


def joint(model, k, seed=0):
    """The same with its last k spins not coupled to each other."""
    J = model.couplings.copy()
    J[-k:, -k:] = 0
    return type(model)(J, model.fields)


def source(X, seed=0, centres=None):
    return Clamped(X, np.random.SeedSequence(seed), centres)


def looks_at(found, model, count):
    """Halves of several looks, after the first, which starts from independent cells."""
    found.look(model.couplings, model.fields, in_turn)
    return [found.look(model.couplings, model.fields, in_turn) for _ in range(count)]


def with_means(states, model, k):
    """States with the means of the last k spins, given the others, in their place."""
    states = states.copy()
    states[:, -k:] = np.tanh(states[:, :-k] @ model.couplings[:-k, -k:] + model.fields[-k:])
    return states


def exact_data(model, X, d, k=0):
    """Means less d, and second moments around d; hidden units by their means."""
    rows = X[(X != 0).any(axis=1)]
    if not k:
        means, products = moments_given(model, rows)
    else:
        found = [given(model, np.pad(row, (0, k)))[:2] for row in rows]
        found = [(with_means(states, model, k), p) for states, p in found]
        means = sum(p @ states for states, p in found)
        products = sum((states.T * p) @ states for states, p in found)
    return means / len(rows) - d, around(d, means / len(rows), products / len(rows))


def assert_within_errors(halves, name, exact, least):
    """Averages of chains, of either half, within their standard errors, which are below ``least``."""
    values = np.array([getattr(data, name) for data in halves])
    error = values.std(axis=0, ddof=1) / np.sqrt(len(values))
    off = values.mean(axis=0) - exact
    z = off / np.maximum(error, 1e-6)
    assert np.abs(z).max() < 5 and np.sqrt(np.mean(z**2)) < 1.8
    assert error.max() < least


def test_averages_given_what_is_there():
    X = gappy(OTHER, 60, 0.35)
    found = source(X)
    halves = [half for look in looks_at(found, MODEL, 40) for half in look]
    shift, C = exact_data(MODEL, X, found.d)
    assert_within_errors(halves, "shift", shift, 0.002)
    assert_within_errors(halves, "C", C, 0.002)
    assert np.abs(shift).max() > 0.05  # the model is not that of the data
    both = Data.both(*looks_at(found, MODEL, 1)[0])
    assert both.N == 59 and both.mean == pytest.approx(found.d + both.shift)
    assert (both.counts == (X != 0).sum(axis=0)).all()
    assert found.d == pytest.approx(X.sum(axis=0) / (X != 0).sum(axis=0))


def test_halves_are_of_different_chains_and_averages_of_many_looks():
    X = gappy(OTHER, 60, 0.35)
    found = source(X)
    a, b = looks_at(found, MODEL, 1)[0]
    assert np.abs(a.C - b.C).max() > 1e-4 and a.lost is b.lost
    both = Data.both(a, b)
    assert both.C == pytest.approx((a.C + b.C) / 2) and both.shift == pytest.approx((a.shift + b.shift) / 2)
    _, C = exact_data(MODEL, X, found.d)
    single = np.std([look.C - C for pair in looks_at(found, MODEL, 6) for look in pair])
    averaged = np.std([found.averaged(MODEL.couplings, MODEL.fields, in_turn).C - C for _ in range(3)])
    assert averaged < 0.5 * single  # of 16 times as many


def test_complete_rows_are_their_own_averages():
    X = gappy(OTHER, 50, 0.0)
    a, b = source(X).look(MODEL.couplings, MODEL.fields, in_turn)
    plain = Data.of(stats(X))
    assert a is b and a.lost is None and (a.left == 1).all()
    assert a.C == pytest.approx(plain.C) and a.mean == pytest.approx(plain.mean) and a.N == plain.N
    assert a.rates == pytest.approx(plain.rates) and a.middle == pytest.approx(plain.middle)
    assert isinstance(observed(stats(X), np.random.SeedSequence(0)), Data)
    gaps = np.where(X == 0, np.nan, X).astype(float)
    gaps[3, 2] = np.nan
    assert isinstance(observed(stats(gaps), np.random.SeedSequence(0)), Clamped)


def test_rates_are_those_of_the_cells_that_are_there():
    X = gappy(OTHER, 80, 0.5)
    data = Data.both(*source(X).look(MODEL.couplings, MODEL.fields, in_turn))
    sums, counts = X.sum(axis=0), (X != 0).sum(axis=0)
    assert data.rates == pytest.approx(np.arctanh(sums / (counts + 1)))
    assert data.middle == pytest.approx(np.arctanh(sums / (counts + 1)) - sums / (counts + 1))
    assert data.precision == 1.0


def test_rows_that_show_nothing_change_nothing():
    X = gappy(OTHER, 40, 0.4)
    X = X[(X != 0).any(axis=1)]
    more = np.insert(X, [0, 7, 7, len(X)], 0, axis=0)
    for centres in (None, np.array([0.2])):
        n = 6 if centres is None else 7
        J, h = np.zeros((n, n)), np.linspace(-0.5, 0.4, n)
        J[:5, 1:6] = OTHER.couplings[:5, 1:6]
        J = np.triu(J, 1) + np.triu(J, 1).T
        one, other = (source(x, centres=centres).look(J, h, in_turn)[0] for x in (X, more))
        assert one.N == other.N and (one.C == other.C).all() and (one.shift == other.shift).all()
        assert (one.left == other.left).all()


def test_hidden_units_of_complete_rows_are_summed_over(monkeypatch):
    monkeypatch.setattr(clamped, "_AT_A_TIME", 80)  # 13 rows at a time
    model, X = joint(MODEL, 2), gappy(OTHER, 50, 0.0, hidden=2)
    found = source(X, centres=np.array([0.3, -0.2]))
    a, b = found.look(model.couplings, model.fields, in_turn)
    assert a is b and a.hidden == 2 and a.n == 6 and a.lost is None
    shift, C = exact_data(model, X, found.d, k=2)
    assert found.d[-2:].tolist() == [0.3, -0.2] and found.d[:4] == pytest.approx(X.mean(axis=0))
    assert a.shift == pytest.approx(shift, abs=1e-6) and a.C == pytest.approx(C, abs=1e-6)
    # What matters of it, the products with the units themselves, are the same as with their means.
    means, products = moments_given(model, np.pad(X, ((0, 0), (0, 2))))
    raw = around(found.d, means / 50, products / 50)
    i, j = a.pairs
    assert a.C[i, j] == pytest.approx(raw[i, j], abs=1e-6) and (4, 5) not in list(zip(i, j, strict=True))
    assert len(i) == 6 + 8
    assert a.precision.tolist() == [1, 1, 1, 1, 0.1, 0.1]
    assert not a.rates[-2:].any() and not a.middle[-2:].any() and a.rates[:4].all()


def test_hidden_units_of_rows_with_missing_cells():
    model, X = joint(MODEL, 2), gappy(OTHER, 60, 0.3, hidden=2)
    found = source(X, centres=np.array([0.3, -0.2]))
    halves = [half for look in looks_at(found, model, 40) for half in look]
    shift, C = exact_data(model, X, found.d, k=2)
    assert_within_errors(halves, "shift", shift, 0.002)
    assert_within_errors(halves, "C", C, 0.002)
    assert (halves[0].counts == [*(X != 0).sum(axis=0), 59, 59]).all()


@pytest.mark.parametrize("k", [0, 2])
def test_what_missing_cells_take_away(k):
    """In any basis: the sum over rows of the variances of y_k y_l, and y_k, given what is there."""
    model, X = joint(MODEL, 2) if k else MODEL, gappy(OTHER, 60, 0.4, hidden=k)
    found = source(X, centres=np.array([0.3, -0.2])[:k] if k else None)
    V = np.linalg.qr(np.random.default_rng(0).normal(size=(6, 6)))[0]
    W, c = np.zeros((6, 6)), np.zeros(6)
    rows = X[(X != 0).any(axis=1)]
    for row in rows:
        states, p, _ = given(model, np.pad(row, (0, k)))
        z = (with_means(states, model, k) if k else states) - found.d
        y = z @ V
        products = y[:, :, None] * y[:, None, :]
        mean = np.einsum("s,skl->kl", p, products)
        W += np.einsum("s,skl->kl", p, (products - mean) ** 2) / len(rows)
        c += p @ (y - p @ y) ** 2 / len(rows)
    W[np.diag_indices(6)] /= 2
    lost = [look[0].lost.fourth(V) for look in looks_at(found, model, 30)]
    for values, exact in ((np.array([w for w, _ in lost]), W), (np.array([c for _, c in lost]), c)):
        error = values.std(axis=0, ddof=1) / np.sqrt(30)
        z = (values.mean(axis=0) - exact) / error
        assert np.abs(z).max() < 5 and np.sqrt(np.mean(z**2)) < 1.8 and (error < 0.03 * exact).all()


def test_some_of_many_rows_tell_what_is_lost(monkeypatch):
    """Every so manieth incomplete row, and the share of all rows that are incomplete."""
    X = gappy(OTHER, 300, 0.1)
    monkeypatch.setattr(clamped, "FISHER", 50)
    found = source(X)
    lost = [look[0].lost for look in looks_at(found, MODEL, 40)]
    assert found.B == 150 and lost[0].first.shape == (6, 50) and lost[0].share == 150 / 299
    incomplete = X[((X == 0).any(axis=1)) & (X != 0).any(axis=1)]
    exact = np.zeros(6)
    for row in incomplete[::3]:
        states, p, _ = given(MODEL, row)
        exact += p @ (states - p @ states) ** 2 / 50 * 150 / 299
    values = np.array([each.fourth(np.eye(6))[1] for each in lost])
    error = values.std(axis=0, ddof=1) / np.sqrt(40)
    assert np.abs((values.mean(axis=0) - exact) / error).max() < 4 and (error < 0.2 * exact).all()


def test_pairs_of_several_looks_are_joined():
    X = gappy(OTHER, 60, 0.35)
    found = source(X)
    parts = [look[0].lost for look in looks_at(found, MODEL, 3)]
    B = parts[0].first.shape[1]
    every, some = Lost.joined(parts, 3 * B), Lost.joined(parts, B + 1)
    assert every.first.shape == (6, 3 * B) and some.first.shape == (6, 2 * B) and Lost.joined([], 1) is None
    V = np.eye(6)
    for joined, used in ((every, parts), (some, parts[1:])):
        for k in (0, 1):
            assert joined.fourth(V)[k] == pytest.approx(
                np.mean([part.fourth(V)[k] for part in used], axis=0), abs=1e-6
            )
    assert found.averaged(MODEL.couplings, MODEL.fields, in_turn).lost.first.shape == (6, 8 * B)


def test_the_share_that_is_left():
    """1 - lost/full of every pair, at the means of the model; not below what chance may hide."""
    X = gappy(OTHER, 120, 0.3)
    found = source(X)
    looks = [Data.both(*look) for look in looks_at(found, MODEL, 30)]
    left = np.mean([data.left for data in looks], axis=0)
    rows = X[(X != 0).any(axis=1)]
    means, products = moments_given(MODEL, rows)
    m = means / len(rows)
    full = variances_of_pairs(m, products / len(rows) - np.outer(m, m))
    lost = np.zeros((6, 6))
    for row in rows:
        states, p, _ = given(MODEL, row)
        z = states - found.d
        for i in range(6):
            for j in range(6):
                x = z[:, i] * z[:, j]
                lost[i, j] += (p @ x**2 - (p @ x) ** 2) / len(rows)
    off = ~np.eye(6, dtype=bool)
    assert left[off] == pytest.approx((1 - lost / full)[off], abs=0.03)
    assert 0.3 < left[off].mean() < 0.7
    upside_down = Lost(looks[0].lost.first, -looks[0].lost.first, found.d, 1.0, 2)
    assert Data(119, found.d, looks[0].C, looks[0].shift, lost=upside_down).left.min() == LEAST_LEFT


def test_the_same_bits_for_any_number_of_threads():
    X = gappy(OTHER, 200, 0.3, hidden=2)
    model = joint(MODEL, 2)
    for centres, J, h in (
        (None, MODEL.couplings[:4, :4], MODEL.fields[:4]),
        (np.array([0.3, -0.2]), model.couplings, model.fields),
    ):
        one, two = source(X, centres=centres), source(X, centres=centres)
        for _ in range(2):
            a = one.look(J, h, in_turn)
            with workers() as run:
                b = two.look(J, h, run)
            for x, y in zip(a, b, strict=True):
                assert (x.C == y.C).all() and (x.shift == y.shift).all()
                assert (x.lost.first == y.lost.first).all()
        other = source(X, seed=1, centres=centres).look(J, h, in_turn)
        assert (other[0].C != a[0].C).any()


def test_chains_of_a_row():
    """An even number, so many that their noise is small beside that of the free phase."""
    X = gappy(OTHER, 60, 0.35)
    assert source(X).copies == 64
    many = np.tile(X, (100, 1))
    found = source(many)
    assert found.copies == 4 and found.B == 100 * ((X == 0).any(axis=1) & (X != 0).any(axis=1)).sum()
    assert source(np.where(X == 0, 1, X)).copies == 0


def test_rows_are_completed_as_the_chains_have_them():
    X = gappy(OTHER, 60, 0.35)
    found = source(X)
    found.look(MODEL.couplings, MODEL.fields, in_turn)
    whole = found.completed(3)
    assert len(whole) == 3 and len(found.completed(1000)) == found.copies
    rows = X[(X != 0).any(axis=1)]
    complete = (rows != 0).all(axis=1)
    order = np.concatenate([rows[complete], rows[~complete]])
    for spins in whole:
        assert (np.abs(spins) == 1).all() and (spins[order != 0] == order[order != 0]).all()
    assert (whole[0] != whole[1]).any()
