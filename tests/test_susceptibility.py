from dataclasses import replace

import numpy as np
import pytest

import bayesing as bs
from bayesing.strength.susceptibility import _collective, fit_susceptibility

from samples import random_spins, with_gaps


def fits(n, N, K, **settings):
    sets = [bs.simulate(n, N, sweeps=3, seed=seed, **settings).spins for seed in range(K)]
    return [bs.EmpiricalBayes("susceptibility", mean_coupling=True).fit(X) for X in sets]


def test_the_formula():
    X = bs.simulate(41, 30, J=0.7, H=0.2, seed=1).spins
    m = bs.SpinMoments.of(X)
    eb = bs.EmpiricalBayes("susceptibility").fit(X)
    assert eb.gamma_ == pytest.approx(41 / 40 * (1 / m.r - 1 / m.chi_sg))
    assert (eb.J0_, eb.J0_error_) == (0, 0)
    other = bs.EmpiricalBayes("susceptibility", mean_coupling=True).fit(X)
    assert other.J0_ == pytest.approx(1 / (1 - m.q) - 1 / m.chi_lin)


@pytest.mark.parametrize("N", [20, 400])
@pytest.mark.parametrize("prior", ["gaussian", "laplace"])
def test_unbiased_whatever_N_fields_and_prior(N, prior):
    """Where the paper's method is off by more than 0.1. gamma itself: J has the bias of a square root."""
    h = np.random.default_rng(5).normal(-0.5, 0.7, 120)
    gammas = [eb.gamma_ for eb in fits(120, N, 25, J=0.5, H=h, prior=prior)]
    error = np.std(gammas, ddof=1) / 5
    assert abs(np.mean(gammas) - 0.25) < 3 * error + 2 * 0.25 / 120


def test_mean_coupling_and_field():
    found = fits(150, 300, 20, J=0.5, H=0.15, J0=0.4)
    for name, truth in (("J0_", 0.4), ("H_", 0.15)):
        values = np.array([getattr(eb, name) for eb in found])
        error = values.std(ddof=1) / np.sqrt(20)
        assert abs(values.mean() - truth) < 3 * error + 0.02


def test_flipping_spins_in_every_sample_changes_nothing():
    X = bs.simulate(30, 50, J=0.8, H=0.3, seed=2).spins
    flipped = X * np.where(np.arange(30) % 3 == 0, -1, 1).astype(np.int8)
    a, b = (fit_susceptibility(bs.SpinMoments.of(x)) for x in (X, flipped))
    assert a.gamma == b.gamma and a.gamma_error == b.gamma_error


def test_noise_below_r_is_zero_with_an_error():
    m = bs.SpinMoments.of(bs.simulate(50, 20, J=0.0, seed=1).spins)
    assert m.chi_sg < m.r
    fit = fit_susceptibility(m)
    assert fit.gamma == 0 and 0.5 * 2 / 20 < fit.gamma_error < 2 * 2 / 20


@pytest.mark.parametrize(
    ("X", "message"),
    [
        (random_spins(3, 5), "needs at least 4 samples: found 3"),
        (np.tile(random_spins(1, 6), (5, 1)), "spins that vary: found r = 0"),
        (np.ones((5, 4)), "spins that vary"),
    ],
)
def test_data_that_say_nothing(X, message):
    with pytest.raises(ValueError, match=message):
        fit_susceptibility(bs.SpinMoments.of(X))


def test_before_it_is_clipped_gamma_goes_on_smoothly_below_0():
    """Where noise makes chi_sg small or negative 1/chi_sg would jump: it is continued by its tangent at r/2."""
    moments = bs.SpinMoments.of(random_spins(30, 6))
    r = moments.r

    def unclipped(chi):
        return fit_susceptibility(replace(moments, chi_sg=chi)).unclipped * 5 / 6

    assert unclipped(2 * r) == pytest.approx(1 / (2 * r)) and unclipped(0.7 * r) == pytest.approx(
        (1 - 1 / 0.7) / r
    )
    assert unclipped(0.5 * r) == pytest.approx(-1 / r) and unclipped(-r) == pytest.approx((1 - 8) / r)
    assert fit_susceptibility(replace(moments, chi_sg=-r)).gamma == 0


def test_missing_cells_add_no_bias_and_errors_say_what_they_cost():
    """A fifth missing completely at random, against the same data without gaps: n = 60, N = 120, K = 150 sets."""
    K, whole, gaps, errors = 150, [], [], []
    for seed in range(K):
        X = bs.simulate(60, 120, J=0.4, H=0.2, seed=seed, sweeps=5).spins
        Y = with_gaps(X, 0.2, seed)
        whole.append(fit_susceptibility(bs.SpinMoments.of(X)).unclipped)
        fit = fit_susceptibility(bs.SpinMoments.of(Y))
        gaps.append(fit.unclipped)
        errors.append(fit.gamma_error)
    apart = np.subtract(gaps, whole)
    assert abs(apart.mean()) < 3 * apart.std() / np.sqrt(K)
    spread = np.std(gaps, ddof=1)
    assert spread > 1.2 * np.std(whole, ddof=1)  # so that errors of complete data would be too small
    assert np.sqrt(np.mean(np.square(errors))) == pytest.approx(
        spread, rel=0.15
    )  # 6% is the error of a spread


def test_the_field_and_the_mean_coupling_know_of_missing_cells():
    found = []
    for seed in range(60):
        X = bs.simulate(60, 150, J=0.3, H=0.25, J0=0.3, seed=seed, sweeps=5).spins
        eb = bs.EmpiricalBayes("susceptibility", mean_coupling=True).fit(with_gaps(X, 0.3, seed))
        found.append([eb.J0_ - 0.3, eb.J0_error_, eb.H_ - 0.25, eb.H_error_])
    J0, J0_error, H, H_error = np.transpose(found)
    for apart, error in ((J0, J0_error), (H, H_error)):
        assert abs(apart.mean()) < 3 * apart.std() / np.sqrt(60) + 0.02
        assert np.sqrt(np.mean(error**2)) == pytest.approx(apart.std(), rel=0.3)


def test_too_few_rows_in_common_say_so():
    X = np.array([[1, np.nan], [np.nan, 1], [1, -1], [-1, 1], [1, np.nan], [np.nan, -1], [-1, -1]])
    with pytest.raises(ValueError, match="4 samples in which two spins were both observed: found fewer"):
        bs.EmpiricalBayes("susceptibility").fit(X)


def plain(**changes):
    """Moments of which all that matters is set."""
    return replace(bs.SpinMoments.of(random_spins(30, 6)), **changes)


def test_the_error_without_couplings_is_that_of_independent_overlaps():
    """chi_sg is a quadratic form of overlaps g_ab ~ N(0, n), a < b: twice the squares of its coefficients."""
    N = 5
    pairs = [(a, b) for a in range(N) for b in range(a)]
    same, one, none = 2 / (5 * 4), -2 / (5 * 4 * 3), 4 / (5 * 4 * 3 * 2)
    form = [[(none, one, same)[len({*p} & {*q})] for q in pairs] for p in pairs]
    found = fit_susceptibility(plain(n=10**9, N=N, r=0.8, chi_sg=0.8))
    assert found.gamma_error == pytest.approx(np.sqrt(2 * np.sum(np.square(form))) / 0.8, rel=1e-6)


def test_what_all_spins_do_together_is_taken_out_with_its_noise():
    """x = chi_lin - (1 - q) has the error s: x^2 is too large by s^2 on average, and varies as by quadrature."""
    m = plain(n=7, N=11, r=0.5, q=0.3, chi_lin=2.0, chi_sg=1.9)
    share, s = (0.5 / 0.7**2) ** 2 / 7, np.sqrt(2 / 10) * 2.0
    z, w = np.polynomial.hermite_e.hermegauss(20)
    squares = (2.0 - 0.7 + s * z) ** 2
    mean = w @ squares / w.sum()
    spread = np.sqrt(w @ (squares - mean) ** 2 / w.sum())
    assert _collective(m) == pytest.approx((share * (2 * 1.3**2 - mean), share * spread))
    found, without = (
        fit_susceptibility(m, True),
        fit_susceptibility(replace(m, chi_sg=1.9 - _collective(m)[0])),
    )
    chi = 1.9 - _collective(m)[0]
    assert found.gamma == without.gamma and chi > m.r
    assert found.gamma_error**2 - without.gamma_error**2 == pytest.approx((share * spread) ** 2 / chi**4)


def test_noise_that_leaves_no_variance_is_refused():
    with pytest.raises(ValueError, match=r"spins that vary: found r = -0\.1"):
        fit_susceptibility(plain(r=-0.1))
