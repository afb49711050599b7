"""The data object: everything once, by one definition, exact under merging."""

import pickle

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import bayesing as bs
from bayesing import packed

import slow
from samples import gappy_arrays, random_spins, spin_arrays, stats, with_gaps

MOMENTS = ("n", "N", "M", "C1", "C2", "Omega", "q", "r", "chi_sg", "chi_lin")


def moments(data):
    return [getattr(data.moments, name) for name in MOMENTS]


@pytest.mark.parametrize(("N", "n"), [(7, 12), (30, 5), (12, 12)])
def test_sums_and_products_follow_their_definitions(N, n):
    X = random_spins(N, n)
    data = stats(X)
    x = X.astype(int)
    assert data.sums.tolist() == x.sum(axis=0).tolist()
    assert (data.gram == (x.T @ x if N > n else x @ x.T)).all()
    assert (data.cross == x.T @ x).all()
    assert (data.spins() == X).all()
    assert data.magnetisations == pytest.approx(X.mean(axis=0))
    assert data.covariance() == pytest.approx(np.cov(X.T, bias=True))
    assert moments(data) == [getattr(bs.SpinMoments.of(X), name) for name in MOMENTS]
    assert data.overlap == pytest.approx(slow.q(X))


@pytest.mark.parametrize("N", [20, 90])
def test_the_spectrum_is_that_of_the_spins_that_vary(N):
    X = random_spins(N, 31).copy()
    X[:, [4, 9]] = 1, -1
    data = stats(X)
    Y = np.delete(X, [4, 9], axis=1).astype(float)
    m = Y.mean(axis=0)
    Z = (Y - m) / np.sqrt(1 - m**2)
    d = np.linalg.eigvalsh(Z.T @ Z / N)
    found = data.spectrum
    assert np.sort(np.repeat(found.d, found.w.astype(int))) == pytest.approx(d, abs=1e-9)
    assert (found.n, found.nu) == (29, N - 1)
    assert found.scale == pytest.approx(31 / 29 / (1 - max(slow.q(Y.astype(int)), 0)) ** 2)
    V = data.eigenvectors
    D = Z.T @ Z / N
    assert pytest.approx(V * found.d[: V.shape[1]], abs=1e-9) == D @ V
    assert V.T @ V == pytest.approx(np.eye(V.shape[1]), abs=1e-9)


@pytest.mark.parametrize("first", ["eigenvectors", "spectrum"])
@pytest.mark.parametrize("N", [20, 90])
def test_eigenvalues_and_eigenvectors_take_one_decomposition_if_vectors_come_first(first, N, monkeypatch):
    calls = []
    for name in ("eigh", "eigvalsh"):
        real = getattr(np.linalg, name)
        monkeypatch.setattr(np.linalg, name, lambda D, real=real, name=name: calls.append(name) or real(D))
    data = stats(random_spins(N, 31))
    _ = getattr(data, first), data.spectrum, data.eigenvectors, data.spectrum
    assert calls == (["eigh"] if first == "eigenvectors" else ["eigvalsh", "eigh"])


@given(spin_arrays, st.data())
@settings(deadline=None, max_examples=60)
def test_merging_equals_concatenation(rows, data):
    X = np.array(rows, np.int8)
    cuts = sorted(data.draw(st.lists(st.integers(0, len(X)), max_size=3)))
    pieces = [piece for piece in np.split(X, cuts) if len(piece)]
    parts = [bs.SpinStatistics.of(piece, min_samples=1) for piece in pieces]
    whole = stats(X)
    added = sum(parts)
    folded = sum((part.without_rows() for part in parts[1:]), parts[0].without_rows())
    for merged in (added, folded, bs.SpinStatistics.of_batches(pieces)):
        assert moments(merged) == moments(whole)
        assert (merged.gram == whole.gram).all() and (merged.sums == whole.sums).all()
    assert (added.spins() == X).all()
    assert moments(parts[0] + parts[0]) == moments(
        stats(np.vstack([pieces[0]] * 2))
    )  # parts stay as they were


def test_batches_keep_rows_only_where_they_are_the_least():
    X = random_spins(40, 10)
    few, many = (bs.SpinStatistics.of_batches(np.array_split(X[:N], 4)) for N in (10, 40))
    assert few.rows is not None and (few.spins() == X[:10]).all()
    assert many.rows is None and many.has_data
    with pytest.raises(ValueError, match="The rows themselves are needed"):
        many.spins()


def test_small_batches_are_folded_together(monkeypatch):
    """Row by row, products are formed for as many rows at a time as there are spins."""
    products = []
    real = packed.PackedSpins.spins_gram
    monkeypatch.setattr(
        packed.PackedSpins, "spins_gram", lambda self: products.append(len(self)) or real(self)
    )
    X = random_spins(100, 9)
    data = bs.SpinStatistics.of_batches(row[None] for row in X)
    assert products == [10] * 10 and moments(data) == moments(stats(X))


@pytest.mark.parametrize("N", [5, 40])
def test_nobody_can_write_into_what_is_shared(N):
    data = stats(random_spins(N, 9))
    for array in (data.sums, data.gram, data.cross, data.varying, data.correlations, data.rows.words):
        with pytest.raises(ValueError, match="read-only"):
            array[0] = 0


def test_pickles_hold_the_data_and_what_is_small():
    data = stats(random_spins(600, 100))
    bits = len(pickle.dumps(data))
    _ = data.moments, data.spectrum, data.eigenvectors, data.rows.transposed, data.kept
    assert len(pickle.dumps(data)) < bits + 5000
    again = pickle.loads(pickle.dumps(data))
    assert (again.gram == data.gram).all() and moments(again) == moments(data)


def test_batches_may_be_empty():
    X = random_spins(20, 5)
    data = bs.SpinStatistics.of_batches([X[:0], X[:7], X[:0], X[7:]])
    assert moments(data) == moments(stats(X))


@pytest.mark.parametrize("columns", [[True, False, True, True, False], slice(1, 4), [4, 0]])
def test_columns_by_mask_slice_or_number(columns):
    X = random_spins(20, 5)
    data = stats(pd.DataFrame(X, columns=list("abcde")))
    chosen = np.arange(5)[columns]
    part = data.select(columns)
    assert part.n == len(chosen) and part.names == tuple("abcde"[j] for j in chosen)
    assert (part.spins() == X[:, chosen]).all() and (data.take(3).spins() == X[3:4]).all()


@pytest.mark.parametrize("copies", [2, 3])
def test_a_mean_coupling_needs_more_than_one_direction(copies):
    X = np.repeat(random_spins(40, 1), copies, axis=1)
    with pytest.raises(ValueError, match="A mean coupling cannot be told from others"):
        bs.EmpiricalBayes("spectral", mean_coupling=True).fit(X)


def doubled(rows, times):
    """Statistics of rows seen 2^times times over."""
    data = stats(rows).without_rows()
    for _ in range(times):
        data = data + data
    return data


def test_more_samples_than_float32_can_count():
    data = doubled([[1, 1], [1, 1], [1, 1], [1, -1]], 23) + bs.SpinStatistics.of([[1, -1]], min_samples=1)
    m, N = data.moments, 2**25 + 1
    assert m.N == N
    assert m.C1 == m.magnetisations[1] == (2**24 - 1) / N
    assert m.C2 == ((2**24 - 1) / N) ** 2


def test_more_samples_than_int64_products_can_hold():
    rows = [[1, 1, -1], [1, 1, 1], [1, -1, 1], [1, 1, 1]]
    m = doubled(rows, 31).moments  # N = 2^33: s^4, n N^2 and the Gram sums exceed 64 bits
    few = doubled(rows, 12).moments
    assert m.N == 2**33
    for name in ("M", "C1", "C2", "Omega"):
        assert getattr(m, name) == getattr(few, name)
    for name in ("q", "r", "chi_sg", "chi_lin"):
        assert getattr(m, name) == pytest.approx(getattr(few, name), abs=3e-3)
    assert m.r == pytest.approx(0.375, abs=1e-8)


def test_names_and_encodings_must_agree():
    one = stats(pd.DataFrame({"a": [1, -1], "b": [-1, 1]}))
    assert one.names == ("a", "b") and (one + one).names == ("a", "b")
    with pytest.raises(ValueError, match="the same columns as before, 'b' as number 2: found 'c'"):
        _ = one + stats(pd.DataFrame({"a": [1, -1], "c": [-1, 1]}))
    with pytest.raises(ValueError, match=r"the same encoding as before, ±1: found 0/1"):
        _ = one + stats([[0, 1], [1, 1]])
    with pytest.raises(ValueError, match=r"2 spins \(columns\), as before: found 3"):
        _ = one + stats(random_spins(5, 3))
    with pytest.raises(TypeError):
        _ = one + np.ones((2, 2))
    ones = bs.SpinStatistics.of([[1, 1]], min_samples=1)
    assert (ones + stats([[0, 1], [1, 1]])).encoding == "0/1" and (one + ones).encoding == "±1"
    with pytest.raises(ValueError, match="at least one batch"):
        bs.SpinStatistics.of_batches([])
    with pytest.raises(ValueError, match="n_samples=1"):
        _ = ones.moments


@pytest.mark.parametrize("N", [5, 40])
def test_some_spins_and_some_samples(N):
    X = random_spins(N, 9)
    columns = np.array([7, 2, 3])
    for data in (stats(X), stats(X).without_rows()):
        part = data.select(columns)
        assert moments(part) == moments(stats(X[:, columns]))
    again = stats(X)
    _ = again.cross
    assert (again.select(columns).cross == stats(X[:, columns]).cross).all()
    assert (stats(X).take(slice(1, 4)).spins() == X[1:4]).all()


def test_a_summary_knows_what_was_computed_and_holds_no_data():
    data = stats(random_spins(3000, 20))
    _ = data.moments, data.spectrum
    summary = pickle.loads(pickle.dumps(data.summary()))
    assert not summary.has_data and moments(summary) == moments(data)
    assert (summary.spectrum.d == data.spectrum.d).all()
    assert len(pickle.dumps(summary)) < 3000


@pytest.mark.parametrize(("N", "n", "offset"), [(7, 12, 0.2), (30, 5, 0.0), (4, 2, 0.1)])
@pytest.mark.parametrize("block", [5, 30, 2**17])
def test_largest_pair_sum(monkeypatch, N, n, offset, block):
    monkeypatch.setattr("bayesing.statistics._AT_A_TIME", block)
    X = random_spins(N, n)
    d = slow.pair_averages(X)
    expected = max(N * abs(d[i, j] - offset) for i in range(n) for j in range(i))
    assert stats(X).largest_pair_sum(offset) == pytest.approx(expected, rel=1e-6)


# Bits


@pytest.mark.parametrize(("N", "n"), [(1, 2), (3, 64), (64, 65), (130, 7), (200, 300), (513, 128)])
def test_packing_is_undone(N, n):
    X = random_spins(N, n)
    bits = packed.PackedSpins.of(X)
    assert bits.words.shape == (N, -(-n // 64)) and len(bits) == N
    assert (bits.unpack() == X).all() and (np.concatenate(list(bits.blocks(7))) == X).all()
    assert (packed.PackedSpins.of(X > 0).words == bits.words).all()
    some = np.array([n - 1, 0])
    assert (bits.columns(some).unpack() == X[:, some]).all()
    assert (bits.sums() == X.sum(axis=0, dtype=int)).all()


@pytest.mark.parametrize("blas", [True, False])
@pytest.mark.parametrize(
    ("N", "n"), [(1, 2), (5, 64), (70, 130), (130, 70), (9, 2100), (2100, 9), (40, 40_000)]
)
def test_gram_matrices_by_counting_bits_and_by_blas(N, n, blas, monkeypatch):
    """Lengths below, at and above the words, vectors, blocks and chunks of the kernel."""
    monkeypatch.setattr(packed, "_by_blas", lambda multiplications: blas)
    X = random_spins(N, n)
    bits, x = packed.PackedSpins.of(X), X.astype(np.int64)
    assert (bits.samples_gram() == x @ x.T).all()
    if n < 5000:
        assert (bits.spins_gram() == x.T @ x).all()
        assert (bits.sums() == x.sum(axis=0)).all()


def test_rows_longer_than_float32_can_count_are_left_to_the_kernel(monkeypatch):
    X = random_spins(3, 130)
    monkeypatch.setattr(packed, "_by_blas", lambda multiplications: True)
    monkeypatch.setattr(packed, "_EXACT", 100)
    monkeypatch.setattr(packed, "_product", None)
    assert (packed.PackedSpins.of(X).samples_gram() == X.astype(int) @ X.T).all()


# Missing cells


def pieces_of(data):
    """Everything that must agree between ways to the same data."""
    return [
        data.N,
        data.missing,
        *(
            getattr(data, name).tolist()
            for name in ("sums", "counts", "cross", "pair_counts", "pair_sums", "varying", "magnetisations")
        ),
        data.covariance().tolist(),
    ]


@pytest.mark.parametrize(("N", "n"), [(7, 12), (30, 5), (130, 70)])
def test_sums_and_products_of_available_cases(N, n):
    X = with_gaps(random_spins(N, n), 0.25)
    X[:, 1], X[:, 2] = np.nan, np.where(np.isnan(X[:, 2]), np.nan, 1)
    X[1:, 3], X[0, 3] = np.nan, -1
    for data in (stats(X), stats(X).without_rows()):
        assert data.missing == np.isnan(X).sum() and data.moments.missing == data.missing
        assert data.counts.tolist() == (~np.isnan(X)).sum(axis=0).tolist()
        assert data.sums.tolist() == np.nansum(X, axis=0).tolist()
        assert data.magnetisations == pytest.approx(np.nansum(X, axis=0) / np.maximum(data.counts, 1))
        assert not set(data.varying) & {1, 2, 3} and set(data.varying) == {0, *range(4, n)}
        assert data.pair_counts.diagonal().tolist() == data.counts.tolist()
        assert data.pair_sums.diagonal().tolist() == data.sums.tolist()
        assert data.active is None and data.kept.missing == np.isnan(X[:, data.varying]).sum()
    x, y = X[:, [0, 4]][~np.isnan(X[:, [0, 4]]).any(axis=1)].T
    assert stats(X).covariance()[0, 4] == pytest.approx(np.mean(x * y) - x.mean() * y.mean())
    assert (stats(X).spins() == np.nan_to_num(X)).all()
    q = [np.nan if np.isnan(c).sum() > N - 2 else slow.q(c[~np.isnan(c)][:, None]) for c in X.T]
    assert stats(X).overlap == pytest.approx(np.nanmean(q))


def test_complete_data_know_that_they_are():
    X = random_spins(20, 7)
    for data in (stats(X), stats(X).without_rows(), stats(X.astype(float))):
        assert data.missing == 0 and data.absent is None and (data.counts == 20).all()
        assert (data.pair_counts == 20).all() and (data.pair_sums == data.sums[:, None]).all()
        assert data.folded is None or data.folded.pair_counts is None
        assert moments(data) == moments(stats(X))


@given(gappy_arrays, st.data())
@settings(deadline=None, max_examples=60)
def test_merging_equals_concatenation_with_missing_cells(rows, data):
    X = np.array(rows)
    cuts = sorted(data.draw(st.lists(st.integers(0, len(X)), max_size=3)))
    pieces = [piece for piece in np.split(X, cuts) if len(piece)]
    parts = [bs.SpinStatistics.of(piece, min_samples=1) for piece in pieces]
    whole = stats(X)
    added = sum(parts)
    folded = sum((part.without_rows() for part in parts[1:]), parts[0].without_rows())
    blank = np.full((2, X.shape[1]), np.nan)
    batches = bs.SpinStatistics.of_batches([blank, *pieces, blank])
    for merged in (added, folded, batches, pickle.loads(pickle.dumps(batches))):
        assert pieces_of(merged) == pieces_of(whole)
        assert moments(merged) == moments(whole)
    assert (added.spins() == np.nan_to_num(X)).all() and (added.absent is None) == (not np.isnan(X).any())


@given(gappy_arrays)
@settings(deadline=None, max_examples=40)
def test_zero_and_one_are_minus_and_plus_one_and_blank_rows_change_nothing(rows):
    X = np.array(rows)
    expected = pieces_of(stats(X))
    if (X == -1).any():
        assert pieces_of(stats((X + 1) / 2)) == expected
    blank = np.insert(X, [0, 1, len(X)], np.nan, axis=0)
    assert pieces_of(stats(blank)) == expected and pieces_of(stats(bs.SpinData.of(blank))) == expected


def test_some_spins_and_some_samples_with_missing_cells():
    X = with_gaps(random_spins(40, 9), 0.2)
    X[:, 6:8] = random_spins(40, 2)
    columns = np.array([7, 2, 3])
    known = stats(X)
    _ = known.cross
    for data in (stats(X), known, stats(X).without_rows()):
        assert pieces_of(data.select(columns)) == pieces_of(stats(X[:, columns]))
        whole = data.select([6, 7])
        assert whole.missing == 0 and (whole.gram == stats(X[:, 6:8]).gram).all() and whole.absent is None
    part = stats(X).take([3, 1, 3])
    assert (part.spins() == np.nan_to_num(X[[3, 1, 3]])).all()
    complete = np.flatnonzero(~np.isnan(X).any(axis=1))
    assert stats(X).take(complete).absent is None


def test_a_summary_knows_that_cells_are_missing():
    data = stats(with_gaps(random_spins(3000, 20), 0.1))
    _ = data.moments
    summary = pickle.loads(pickle.dumps(data.summary()))
    assert summary.missing == data.missing > 0 and (summary.counts == data.counts).all()
    assert moments(summary) == moments(data) and len(pickle.dumps(summary)) < 3000


@pytest.mark.parametrize("N", [5, 40])
def test_what_needs_complete_rows_says_so(N):
    data = stats(with_gaps(random_spins(N, 9), 0.2))
    for look in (
        lambda: data.gram,
        lambda: data.correlations,
        lambda: data.spectrum,
        lambda: data.spectrum_without_mean,
        lambda: data.eigenvectors,
        lambda: data.largest_pair_sum(0.0),
    ):
        with pytest.raises(bs.exceptions.InputError, match=r'missing cells of .*missing="drop-samples"'):
            look()


def test_copies_among_missing_cells():
    """By the rows that both have: enough of them, in which the spin varies."""
    rng = np.random.default_rng(0)
    X = rng.choice([-1.0, 1.0], (60, 8))
    X[:, 5] = -X[:, 2]
    X[:, 6] = X[:, 1]
    X[:45, 6] = np.nan  # 15 rows, fewer than 10 + 2 log2(8) = 16
    X[:, 7] = np.where(rng.random(60) < 0.5, 1, np.nan)
    X[0, 7], X[0, 4], X[1:, 4] = (
        np.nan,
        -1,
        1,
    )  # both are +1 wherever both are seen, and spin 4 varies elsewhere
    X[1, 7], X[1, 4] = -1, np.nan
    data = stats(with_gaps(X, 0.05))
    assert {4, 7} <= set(data.varying)
    assert data.copies == ((2, 5, -1),) == data.without_rows().copies


@pytest.mark.parametrize(
    ("X", "message"),
    [
        (np.full((3, 2), np.nan), "at least 2 sample.*a cell that is not missing: found n_samples=0 of 3"),
        ([[None, None], [1, None]], "found n_samples=1 of 2"),
    ],
)
def test_nothing_but_missing_cells(X, message):
    with pytest.raises(bs.exceptions.InputError, match=message):
        stats(X)


def test_one_observed_cell_in_each_row_says_nothing_of_couplings():
    data = stats([[1, np.nan], [np.nan, 1], [-1, np.nan]])
    assert data.counts.tolist() == [2, 1] and data.varying.tolist() == [0]
    assert data.moments.chi_sg is None
    with pytest.raises(bs.exceptions.ConstantSpinsError):
        _ = data.kept


def test_a_run_may_have_no_rows():
    X = random_spins(20, 4)
    found = stats([X[:0], X[:8], X[8:]])
    assert found.N == 20 and (found.sums == stats(X).sums).all() and sum(found.runs) == 20


def test_rows_that_are_held_twice_have_products_that_remember():
    rows = np.random.default_rng(0).choice(np.array([-1, 1], np.int8), (200, 8))
    found = stats(np.repeat(rows, 2, axis=0)).memory
    assert found.stride == 2 and len(found.of_products) == 4
    assert found.of_products[:3] == pytest.approx([1, 0.5, 0], abs=0.15)
