"""What claims a probability is right as often as it says: rank histograms in small; docs/trust.md has large ones."""

import importlib
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

import bayesing as bs

BENCHMARKS = Path(__file__).parents[1] / "benchmarks"
UNLIKELY = 1e-3  # p-value of a histogram that is not flat
AT = {"n": 9, "N": 150, "J": 0.6, "H": 0.1, "spread": 0.4}  # away from symmetric points
WRONG = 1.3  # a factor of errors that every test here notices


@pytest.fixture
def imported(monkeypatch):
    """Import a part of the benchmark, as a script beside it does."""
    monkeypatch.syspath_prepend(str(BENCHMARKS))
    return importlib.import_module


@pytest.fixture
def histogram(imported):
    """A histogram of quantiles, one row a data set."""
    ranks = imported("trust_ranks")

    def of(quantiles):
        rows = [ranks.row_of("", "", k, np.atleast_1d(at)) for k, at in enumerate(quantiles)]
        return ranks.histograms(rows)["", ""]

    return of


# The machinery


def test_ranks_of_exact_draws_are_uniform(imported):
    settings = SimpleNamespace(
        at={"n": 5, "N": 30, "J": 0.8, "H": 0.1, "spread": 0.8}, draws=1500, wrong=WRONG, repeats=150
    )
    rows = list(imported("trust_oracle").oracle(settings, 0))
    found = imported("trust_ranks").histograms(rows)
    for quantity in "Jh":
        assert found["exact draws", quantity].p > UNLIKELY
        assert found["exact mean and deviation", quantity].p > UNLIKELY
    narrow, shifted = found["errors 1.3 times too small", "J"], found["estimates half an error too high", "J"]
    assert narrow.p < 1e-6 and narrow.words == "too confident"
    assert shifted.p < 1e-6 and shifted.words.endswith("truth below")


def test_the_exact_posterior_is_that_of_a_grid(imported):
    """Two spins, against sums over a lattice of J and both fields."""
    oracle, rng = imported("trust_oracle"), np.random.default_rng(0)
    spins = np.array([[1, 1], [1, -1], [1, 1], [-1, -1], [1, 1], [1, 1]], np.int8)
    variances = np.array([0.4, 1.0, 0.7])
    found = oracle.Exact.of(spins, np.diag(1 / variances), np.zeros(3), 20_000, rng)
    x = np.linspace(-4, 4, 81)
    theta = np.stack(np.meshgrid(x, x, x, indexing="ij"), -1).reshape(-1, 3)
    exponents = np.stack([theta @ np.array([a * b, a, b]) for a, b in spins.tolist()]).sum(axis=0)
    Z = sum(np.exp(theta @ np.array([a * b, a, b])) for a in (-1, 1) for b in (-1, 1))
    p = np.exp(exponents - len(spins) * np.log(Z) - (theta**2 / variances / 2).sum(axis=1))
    mean = p @ theta / p.sum()
    deviation = np.sqrt(p @ (theta - mean) ** 2 / p.sum())
    error = deviation / np.sqrt(found.effective)
    assert found.effective > 10_000
    assert (np.abs(found.mean - mean) < 4 * error).all()
    assert found.deviation == pytest.approx(deviation, rel=4 / np.sqrt(found.effective))


def test_ranks_count_draws_below(imported):
    ranks, rng = imported("trust_ranks").ranks, np.random.default_rng(0)
    draws = np.array([[0.0, 1.0], [2.0, 3.0], [4.0, 5.0]])
    assert (4 * ranks(np.array([3.0, 0.0]), draws, rng)).tolist() == [2.5, 0.5]
    tied = 4 * ranks(np.zeros(4000), np.zeros((3, 4000)), rng)  # a truth of 0 among draws of 0
    assert np.bincount(tied.astype(int)) == pytest.approx(np.full(4, 1000), abs=4 * np.sqrt(750))


def test_histograms_know_what_flat_ones_vary_by(imported, histogram):
    """p-values of flat histograms are uniform, and ranks that are there k times count as one."""
    rng = np.random.default_rng(0)
    for copies in (1, 3):
        found = [histogram(np.repeat(rng.random((30, 40)), copies, axis=1)) for _ in range(60)]
        assert np.mean([h.effect for h in found]) == pytest.approx(copies, rel=0.15)
        assert 0.35 < np.mean([h.p for h in found]) < 0.65  # 4 errors of 1/sqrt(12 * 60)
        outside = [np.mean((h.total < low) | (h.total > high)) for h in found for low, high in [_band(h)]]
        assert np.mean(outside) < 0.03
    assert found[0].inside(0.9)[1] == pytest.approx(np.sqrt(0.09 / 1200), rel=0.5)


def _band(h):
    return (end * h.number * h.shares for end in h.band)


def test_coverage_follows_from_bins(histogram):
    at = np.array([[0.01, 0.3, 0.5, 0.7, 0.96]] * 5)
    found = histogram(at)
    assert found.inside(0.5)[0] == 3 / 5 and found.inside(0.9)[0] == 3 / 5 and found.above[0] == 3 / 5
    assert np.isnan(found.inside(0.53)[0])


# What fits say


def flat_if_right(histogram, quantiles, sets):
    """Quantiles for errors times some number are flat for 1, and not for 1/1.3."""
    h, broken = (histogram([quantiles(k, factor) for k in range(sets)]) for factor in (1.0, 1 / WRONG))
    assert h.p > UNLIKELY
    inside, error = h.inside(0.9)
    assert abs(inside - 0.9) < 4 * error
    assert broken.p < UNLIKELY and abs(broken.inside(0.9)[0] - 0.9) > 4 * error


@pytest.mark.parametrize("gamma", ["auto", 0.36])
@pytest.mark.parametrize("method", ["spectral", "pseudolikelihood", "likelihood"])
def test_errors_of_couplings_and_fields(imported, histogram, method, gamma):
    couplings, data, ranks = (imported(f"trust_{name}") for name in ("couplings", "data", "ranks"))
    fits = {}

    def quantiles(seed, factor):
        if seed not in fits:
            truth, rng = couplings.known(AT, seed)
            bm = data.fitted(data.spins_of(truth, AT["N"], rng), method=method, gamma=gamma)
            fits[seed] = truth, bm
        truth, bm = fits[seed]
        J, error = data.pairs(bm.couplings_), data.pairs(bm.coupling_errors_)
        at = ranks.along(J, ranks.quantiles(data.pairs(truth.couplings), J, factor * error))
        if bm.field_errors_ is None:
            return at
        return np.append(at, ranks.quantiles(truth.fields, bm.fields_, factor * bm.field_errors_))

    flat_if_right(histogram, quantiles, 12 if method == "likelihood" else 24)


def test_draws_of_the_posterior(imported):
    settings = SimpleNamespace(sets=[{**AT, "n": 7}], repeats=12, thin=3)
    rows = list(imported("trust_couplings").draws(settings, 0, "given", 0))
    together = [row | {"case": "", "quantity": ""} for row in rows]
    h = imported("trust_ranks").histograms(together)["", ""]
    inside, error = h.inside(0.9)
    assert len(rows) == 2 * 12 and h.number == 12 * (21 + 7)
    assert h.p > UNLIKELY and abs(inside - 0.9) < 4 * error < 0.08


def test_errors_of_gamma_and_H(imported, histogram):
    strength, ranks = imported("trust_strength"), imported("trust_ranks")
    at = {"n": 40, "N": 120, "J": 0.6, "H": 0.2}
    fits = [bs.EmpiricalBayes("spectral").fit(strength.spins_at(at, seed)) for seed in range(160)]
    for truth, found in (
        (at["J"] ** 2, [(eb.gamma_, eb.gamma_error_) for eb in fits]),
        (at["H"], [(eb.H_, eb.H_error_) for eb in fits]),
    ):
        mean, error = np.array(found).T
        h = histogram(ranks.quantiles(truth, mean, error))
        inside, of_inside = h.inside(0.5)
        assert abs(inside - 0.5) < 3 * of_inside < 0.13
        assert h.p > UNLIKELY
        z = (truth - mean) / error
        assert np.sqrt(np.mean(z**2)) == pytest.approx(1, abs=4 / np.sqrt(2 * 160))


def test_probabilities_of_edges_and_signs(imported):
    settings = SimpleNamespace(
        sets=[{"prior": "sparse", "edges": 0.15, "n": 20, "N": 400, "J": 0.8, "H": 0.1, "spread": 0.3}],
        methods={"sparse": ["pseudolikelihood"]},
        repeats=8,
    )
    rows = list(imported("trust_probabilities").probabilities(settings, 0, 0))
    for what in ("edge", "sign is wrong"):
        here = [row for row in rows if row["case"].startswith(what)]
        assert sum(row["number"] for row in here) == 8 * 190
        for part in (here, [row for row in here if 1 <= row["bin"] <= 10]):  # those that are not certain, too
            said, true, variance = (sum(row[name] for row in part) for name in ("said", "true", "variance"))
            assert abs(true - said) < 3.5 * np.sqrt(variance) < 0.4 * said
