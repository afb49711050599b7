"""Spectra and saddles against dense matrices and the equations that they solve."""

import math

import numpy as np
import pytest

from bayesing import spectrum
from bayesing.exceptions import InputError
from bayesing.spectrum import (
    Spectrum,
    correlations_of,
    saddle,
    samples_correlations,
    spectrum_from,
    without_direction,
)

from samples import random_spins


@pytest.mark.parametrize("at_a_time", [7, 40, 2**21])
def test_both_matrices_of_correlations_follow_their_definitions(at_a_time, monkeypatch):
    """Spins standardised 1, 2 or all at a time; steps of 2 do not divide 7."""
    monkeypatch.setattr(spectrum, "_STANDARDISED", at_a_time)
    X = random_spins(20, 7).astype(float)
    m = X.mean(axis=0)
    Z = (X - m) / X.std(axis=0)
    assert correlations_of(X.T @ X, 20, m) == pytest.approx(np.corrcoef(X.T))
    assert samples_correlations(X, m) == pytest.approx(Z @ Z.T / 20)
    if at_a_time == 7:  # fewer than samples: one spin at a time
        assert samples_correlations(X[:, :1], m[:1]) == pytest.approx(np.outer(Z[:, 0], Z[:, 0]) / 20)


def test_a_direction_is_projected_out():
    rng = np.random.default_rng(0)
    A = rng.normal(size=(5, 5))
    u = rng.normal(size=5)
    u /= np.linalg.norm(u)
    P = np.eye(5) - np.outer(u, u)
    assert without_direction(A @ A.T, u) == pytest.approx(P @ A @ A.T @ P)


@pytest.mark.parametrize("N", [5, 7, 8, 30])
def test_the_spectrum_of_either_matrix_has_all_directions(N):
    """Eigenvalues, how often each, and gamma/g = n_all/n/(1 - q)^2; a small negative one is rounding."""
    X = random_spins(N, 7).astype(float)
    X[0] = -X[1]  # no spin is constant
    m = X.mean(axis=0)
    whole = np.linalg.eigvalsh(correlations_of(X.T @ X, N, m))
    d = whole if N > 7 else np.linalg.eigvalsh(samples_correlations(X, m))
    d[0] = -abs(d[0])
    found = spectrum_from(d, N, 7, 0, 9, 0.25)
    every = np.repeat(found.d, found.w.astype(int))
    assert np.sort(every) == pytest.approx(np.maximum(whole, 0), abs=1e-8 if N <= 7 else 2 * abs(d[0]))
    assert found.n == 7 and found.nu == N - 1 and found.d.min() == 0
    assert found.scale == pytest.approx(9 / 7 / 0.75**2)
    assert spectrum_from(d, N, 7, 0, 9, 1.0).scale == math.inf


@pytest.mark.parametrize("N", [6, 30])
def test_without_a_direction_the_others_are_stretched_to_mean_one(N):
    d = np.array([0.0, 0.0, 0.5, 1.0, 1.5, 3.0]) if N == 6 else np.array([0.0, 0.2, 0.3, 0.5, 1.0, 1.5, 3.0])
    found = spectrum_from(d, N, 7, 1, 9, 0.25)
    assert found.n == 6 and found.w @ found.d == pytest.approx(6)
    stretch = 6 / d.sum()
    assert np.sort(found.d)[-4:] == pytest.approx(stretch * np.array([0.5, 1.0, 1.5, 3.0]))
    assert found.scale == pytest.approx(9 / 6 * (stretch / 0.75) ** 2)


def test_a_direction_is_not_projected_out_of_nothing():
    assert spectrum_from(np.array([0.0, 0.3, 0.9]), 10, 3, 1, 3, 0.1).n == 2  # two are left
    for d in ([0.0, 0.6], [0.0, 0.0, 0.0]):  # one, and two that do not vary
        with pytest.raises(InputError, match="mean coupling cannot be told"):
            spectrum_from(np.array(d), 10, len(d), 1, 3, 0.1)
    assert spectrum_from(np.array([0.0, 0.0, 0.0]), 10, 3, 0, 3, 0.1).n == 3


@pytest.mark.parametrize("g", [1e-6, 0.3, 50.0])
@pytest.mark.parametrize("nu", [3.0, 200.0])
def test_the_saddle_solves_its_equations(g, nu):
    s = Spectrum(np.array([0.1, 0.7, 2.5, 0.0]), np.array([3.0, 2.0, 1.0, 4.0]), nu)
    at, ag = saddle(g, s), nu / 10 * g
    assert s.w @ at.c / 10 == pytest.approx(1, rel=1e-12)
    assert ag * at.c**2 + (at.lam - ag * s.d) * at.c == pytest.approx(1, rel=1e-9)
    assert (at.c > 0).all() and at.j == pytest.approx(ag * (s.d - at.c))
    assert at.c == pytest.approx(1 / (at.lam - at.j), rel=1e-6)
