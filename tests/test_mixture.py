"""The mixture prior: against numerical integration, by hand, in limits, and on numbers that it has drawn itself."""

import math

import numpy as np
import pytest
from scipy import integrate, stats

from bayesing.mixture import (
    WIDTHS,
    Mixture,
    best_normal,
    discoveries,
    grid,
    learn_edges,
    learn_grid,
    mixed,
)

PRIOR = Mixture(np.array([0.5, 0.2, 0.3]), np.array([0.0, 0.4, -0.1]), np.array([0.0, 0.04, 0.25]))
B, Q = np.array([0.3, -0.7, 0.01]), np.array([5.0, 12.0, 80.0])
RNG = np.random.default_rng(0)


def integral(b, q, weight=lambda J: 1.0, low=-np.inf, high=np.inf):
    """Of weight(J) P(b | J) over the two normals of the prior."""

    def density(J):
        parts = zip(PRIOR.weights[1:], PRIOR.centres[1:], PRIOR.variances[1:], strict=True)
        prior = sum(w * stats.norm.pdf(J, m, math.sqrt(v)) for w, m, v in parts)
        return weight(J) * prior * stats.norm.pdf(b, J, 1 / math.sqrt(q))

    return integrate.quad(density, max(low, -6), min(high, 6), points=[0], limit=200)[0]


@pytest.mark.parametrize("k", range(3))
def test_the_posterior_is_that_of_bayes(k):
    found, b, q = PRIOR.given(B, Q), B[k], Q[k]
    at_zero = PRIOR.weights[0] * stats.norm.pdf(b, 0, 1 / math.sqrt(q))
    there = integral(b, q)
    total = at_zero + there
    mean = integral(b, q, lambda J: J) / total
    assert found.probabilities[k] == pytest.approx(there / total, rel=1e-6)
    assert found.mean[k] == pytest.approx(mean, rel=1e-6)
    square = integral(b, q, lambda J: J**2) / total
    assert found.variance[k] == pytest.approx(square - mean**2, rel=1e-6)
    above, below = integral(b, q, low=0.0) / total, integral(b, q, high=0.0) / total
    assert found.false_signs[k] == pytest.approx(1 - max(above, below), rel=1e-6)
    assert found.false_signs_of(np.full(3, 0.1))[k] == pytest.approx(1 - above, rel=1e-6)
    assert found.false_signs_of(np.full(3, -0.1))[k] == pytest.approx(1 - below, rel=1e-6)


def test_the_likelihood_is_that_of_all_numbers():
    by_hand = [
        math.log(PRIOR.weights[0] * stats.norm.pdf(b, 0, 1 / math.sqrt(q)) + integral(b, q))
        for b, q in zip(B, Q, strict=True)
    ]
    assert PRIOR.given(B, Q).log_likelihood == pytest.approx(sum(by_hand), rel=1e-8)


def test_a_site_gives_back_mean_and_variance():
    """A normal likelihood times exp(-tau J^2/2 + nu J)."""
    b, q = np.array([0.3, -1.2, 0.01]), Q
    found = PRIOR.given(b, q)
    tau, nu = found.site()
    assert 1 / (q + tau) == pytest.approx(found.variance)
    assert (q * b + nu) / (q + tau) == pytest.approx(found.mean)
    wide = PRIOR.given(B[1:2], Q[1:2])  # 0 or not: wider than the likelihood, and no site is as wide
    assert wide.variance > 1 / Q[1] and wide.site()[0] == pytest.approx(1e-3 * Q[1])


def test_half_a_new_site():
    tau, nu = mixed((np.array([4.0]), np.array([3.0])), (np.array([1.0]), np.array([-1.0])), 0.5)
    assert tau == pytest.approx(2.0) and nu == pytest.approx(1.0)
    tau, nu = mixed((np.array([16.0]), np.array([3.0])), (np.array([1.0]), np.array([-1.0])), 0.25)
    assert tau == pytest.approx(2.0) and nu == pytest.approx(0.0)
    tau, nu = mixed((np.array([1.0]), np.array([3.0])), (np.array([16.0]), np.array([-1.0])), 0.25)
    assert tau == pytest.approx(8.0) and nu == pytest.approx(0.0)  # what was before counts for more


def test_draws_have_the_moments_of_the_posterior():
    found, rng = PRIOR.given(B, Q), np.random.default_rng(1)
    drawn = np.array([found.draw(rng) for _ in range(20_000)])
    error = np.sqrt(found.variance / len(drawn))
    assert np.abs(drawn.mean(axis=0) - found.mean).max() < 4 * error.max()
    assert np.mean(drawn != 0, axis=0) == pytest.approx(found.probabilities, abs=4 * 0.5 / math.sqrt(20_000))
    assert drawn.var(axis=0) == pytest.approx(found.variance, rel=0.06)


def drawn_numbers(weights, p, seed, centre=0.0, width=0.4):
    """Numbers of a sparse network: some are there, around ± centre; and what data say of them."""
    rng = np.random.default_rng(seed)
    there = rng.random(p) < weights[1]
    sign = rng.choice([-1, 1], p) if len(weights) == 2 else 1
    J = there * (sign * centre + width * rng.normal(size=p))
    q = rng.uniform(30, 200, p)
    return J, J + rng.normal(size=p) / np.sqrt(q), q


def test_em_climbs_to_where_no_weight_is_better():
    """At the maximum no part explains data better than the mixture does: mean of N(b | part)/P(b) at most 1."""
    J, b, q = drawn_numbers((0.9, 0.1), 2000, 2)
    found, last = grid(), -np.inf
    for _ in range(5):
        found = learn_grid(b, q, found, steps=3)
        value = found.given(b, q).log_likelihood
        assert value > last
        last = value
    found = learn_grid(b, q, grid(), steps=20_000)
    assert found.weights.sum() == pytest.approx(1)
    ratio = found.given(b, q).shares.mean(axis=0) / np.maximum(found.weights, 1e-300)
    used = found.weights > 1e-3
    assert ratio[used] == pytest.approx(1, abs=0.02) and ratio.max() < 1.1
    assert found.given(b, q).mean_square == pytest.approx(np.mean(J**2), rel=0.1)


def test_probabilities_are_as_often_right_as_they_say():
    """5000 numbers, 8% of which are there, in five shapes; each share is known to 2 or 3 standard errors."""
    for seed, settings in enumerate(
        [{}, {"centre": 0.4, "width": 0.05}, {"centre": 0.3, "width": 0.05, "weights": (0.92, 0.08, 0.0)}]
    ):
        weights = settings.pop("weights", (0.92, 0.08))
        J, b, q = drawn_numbers(weights, 5000, 3 + seed, **settings)
        P = learn_edges(b, q).given(b, q).probabilities
        for low, high in ((0.0, 0.2), (0.2, 0.8), (0.8, 1.0)):
            here = (low <= P) & (low < high) & (high >= P)
            error = math.sqrt(float((P * (1 - P))[here].sum()))
            assert abs((J != 0)[here].sum() - P[here].sum()) < 3 * error + 1
        chosen = discoveries(P, 0.05)
        share = np.mean(J[chosen] == 0)
        assert chosen.sum() > 200 and 0.02 < share < 0.09


def test_positive_numbers_are_noticed():
    """Three of four normals are tried; unequal weights win where all numbers are positive, and there alone."""
    _, b, q = drawn_numbers((0.9, 0.1, 0.0), 1000, 7, centre=0.4, width=0.05)
    found = learn_edges(b, q)
    assert found.weights[1] > 20 * found.weights[2] and found.centres[1] == pytest.approx(0.4, abs=0.03)
    _, b, q = drawn_numbers((0.9, 0.1), 1000, 7, centre=0.4, width=0.05)
    found = learn_edges(b, q)
    assert len(found.weights) == 3 and found.weights[1] == found.weights[2]
    _, b, q = drawn_numbers((0.9, 0.1), 1000, 8)
    found = learn_edges(b, q)
    assert len(found.weights) == 2 and math.sqrt(found.variances[1]) == pytest.approx(0.4, rel=0.2)


def test_nothing_is_there_where_data_do_not_tell():
    """Noise alone, and numbers that are all there but weak: no discoveries, and no false ones among many."""
    rng, q = np.random.default_rng(9), np.full(300, 20.0)
    for width in (0.0, 0.1):
        b = width * rng.normal(size=300) + rng.normal(size=300) / math.sqrt(20)
        P = learn_edges(b, q).given(b, q).probabilities
        assert P.max() < 0.95 and not discoveries(P, 0.05).any()


def test_the_best_normal():
    """Against a grid of variances; 0 where noise explains all."""
    _, b, q = drawn_numbers((0.5, 0.5), 400, 10)
    values = [stats.norm.logpdf(b, 0, np.sqrt(1 / q + v)).sum() for v in np.linspace(0, 0.5, 5001)]
    assert best_normal(b, q) == pytest.approx(max(values), abs=1e-3)
    quiet = 0.3 / np.sqrt(q)
    at_zero = stats.norm.logpdf(quiet, 0, np.sqrt(1 / q)).sum()
    assert best_normal(quiet, q) == pytest.approx(at_zero, abs=1e-6)


def test_discoveries_are_the_largest_set_that_is_allowed():
    """All sets of the most probable ones, one by one; none of them more probably false, unless half may be."""
    P = np.random.default_rng(11).beta(0.5, 0.5, 60)
    for fdr in (0.0, 0.01, 0.1, 0.4, 1.0):
        chosen = discoveries(P, fdr)
        order = np.sort(P)[::-1]
        sizes = [
            k for k in range(1, 61) if np.mean(1 - order[:k]) <= fdr and (order[k - 1] > 0.5 or fdr >= 0.5)
        ]
        assert chosen.sum() == max(sizes, default=0)
        assert not chosen.any() or P[chosen].min() >= P[~chosen].max(initial=0)


def test_widths_rise_from_errors_to_large_couplings():
    assert WIDTHS[0] == 0.01 and WIDTHS[-1] == pytest.approx(1.28)
    assert grid().weights.sum() == pytest.approx(1) and grid().variances[0] == 0
    assert np.sqrt(grid().variances[1:]) == pytest.approx(WIDTHS) and not grid().centres.any()


def test_a_share_of_false_ones_is_not_spent_on_what_is_more_probably_not_there():
    """A hundred certain ones would allow five false ones; all of them at one half and beyond, if asked so."""
    p = np.array([1.0] * 100 + [0.6, 0.4, 0.01])
    assert discoveries(p, 0.05).tolist() == [True] * 101 + [False] * 2
    assert discoveries(p, 1.0).all() and not discoveries(np.array([0.5, 0.4]), 0.49).any()
