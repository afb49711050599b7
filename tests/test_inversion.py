"""The inverse correlation matrix without its noise, against Wishart matrices and against the definition."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

import bayesing as bs
from bayesing.strength.inversion import _error, fit_inversion, without_noise

from samples import stats


def test_the_noise_of_an_inverse_wishart_matrix_is_taken_out():
    """The mean over covariances of Gaussian data, away from symmetric points, is that without noise, to 1%."""
    rng = np.random.default_rng(0)
    n, nu, draws = 3, 13, 200_000
    mixing = rng.normal(size=(n, n)) + 2 * np.eye(n)
    omega = np.linalg.inv(mixing.T @ mixing)
    weights = np.triu(rng.uniform(0.5, 2, (n, n)), 1)
    X = rng.normal(size=(draws, nu, n)) @ mixing
    W = np.linalg.inv(X.transpose(0, 2, 1) @ X)
    diagonal = np.einsum("kii->ki", W)
    squares = np.sum(weights * W**2, axis=(1, 2))
    products = np.sum(weights * diagonal[:, :, None] * diagonal[:, None, :], axis=(1, 2))
    batches = np.array(
        [
            without_noise(a.mean(), b.mean(), nu - n)
            for a, b in zip(squares.reshape(100, -1), products.reshape(100, -1), strict=True)
        ]
    )
    exact = np.sum(weights * omega**2), np.sum(weights * np.outer(np.diag(omega), np.diag(omega)))
    error = np.std(batches, axis=0) / 10
    assert (np.abs(batches.mean(axis=0) - exact) < 3 * error).all() and (
        error < 0.005 * np.array(exact)
    ).all()
    assert nu**2 * squares.mean() > 2 * exact[0]  # what it would be without


def test_gamma_from_the_definition():
    """Weights (v_i v_j)^2 and spins that are not standardised."""
    X = bs.simulate(12, 60, J=0.7, H=0.4, seed=1, sweeps=3).spins.astype(float)
    N, n = X.shape
    p = N - 1 - n
    W = np.linalg.inv((X - X.mean(0)).T @ (X - X.mean(0)))
    v = 1 - X.mean(0) ** 2
    pairs = [(i, j) for i in range(n) for j in range(n) if i != j]
    w = np.array([(v[i] * v[j]) ** 2 for i, j in pairs])
    squares = w @ [W[i, j] ** 2 for i, j in pairs]
    products = w @ [W[i, i] * W[j, j] for i, j in pairs]
    expected = n * without_noise(squares, products, p)[0] / w.sum()
    assert expected > 0.1
    assert_allclose(fit_inversion(stats(X.astype(np.int8))).gamma, expected, rtol=1e-10)


@pytest.mark.parametrize(("J", "H", "J0"), [(0.5, 0.0, 0.0), (0.7, 0.4, 0.0), (0.5, 0.1, 0.5)])
def test_it_finds_the_strength_of_the_couplings(J, H, J0):
    fits = [
        fit_inversion(stats(bs.simulate(80, 400, J=J, H=H, J0=J0, seed=k, sweeps=4).spins)) for k in range(20)
    ]
    gamma, errors = np.array([(fit.gamma, fit.gamma_error) for fit in fits]).T
    # The leading order in 1/n: measured to be 1% too high in J at n = 80.
    assert np.sqrt(gamma.mean()) == pytest.approx(J, abs=0.02 * J + 3 * gamma.std() / np.sqrt(20) / (2 * J))
    assert 0.5 < np.std((gamma - gamma.mean()) / errors, ddof=1) < 1.5  # 1 ± 3 standard errors


def test_constant_columns_count_as_spins():
    X = bs.simulate(20, 100, J=0.8, seed=1, sweeps=3).spins
    fit = fit_inversion(stats(X))
    wider = fit_inversion(stats(np.hstack([X, np.ones((100, 10), np.int8)])))
    assert_allclose([wider.gamma, wider.gamma_error], [1.5 * fit.gamma, 1.5 * fit.gamma_error])
    assert wider.unclipped == pytest.approx(1.5 * fit.unclipped) and fit.unclipped > 0.3


def test_bad_data():
    X = bs.simulate(10, 15, J=0.3, seed=1, sweeps=3).spins
    fit_inversion(stats(X))
    with pytest.raises(ValueError, match="needs at least 15 samples of 10 spins that vary: found 14"):
        fit_inversion(stats(X[:14]))
    X = bs.simulate(10, 50, J=0.3, seed=1, sweeps=3).spins.copy()
    X[:, 3] = -X[:, 7]
    with pytest.raises(ValueError, match="found a singular correlation matrix"):
        fit_inversion(stats(X))


def wishart(omega, p, draws, rng):
    """gamma of inverse covariances of Gaussian data with this inverse covariance, without weights."""
    n = len(omega)
    root = np.linalg.cholesky(np.linalg.inv(omega)).T
    off = ~np.eye(n, dtype=bool)
    found = []
    for _ in range(draws):
        X = rng.normal(size=(n + p, n)) @ root
        W = np.linalg.inv(X.T @ X)
        products = np.outer(np.diag(W), np.diag(W))
        found.append(n * without_noise((W**2)[off].mean(), products[off].mean(), p)[0])
    return np.array(found)


@pytest.mark.parametrize(("g", "n", "p"), [(0.0, 100, 120), (0.3, 50, 1000)])
def test_the_error_is_the_spread_over_wishart_matrices(g, n, p):
    """600 draws know a spread to 3%, and the formula is a little too small; couplings stay the same."""
    rng = np.random.default_rng(2)
    J = np.triu(rng.normal(0, np.sqrt(g / n), (n, n)), 1)
    J *= np.sqrt(g / (2 * np.sum(J**2) / n)) if g else 0  # exactly as strong as they should be
    found = wishart((1 + g) * np.eye(n) - J - J.T, p, 600, rng)
    expected = np.sqrt(_error(g, 1.0, n, p, n**2) ** 2 - 4 * g**2 / n**2)
    assert found.std() == pytest.approx(expected, rel=0.13)


def test_the_error_that_is_left_is_the_spread_of_the_couplings():
    """Their mean square over pairs that count, in units of r."""
    assert _error(0.6, 0.5, 40, 10**12, 700.0) == pytest.approx(2 * 0.6 / np.sqrt(700))
