import warnings

import numpy as np
import pytest
from scipy.integrate import quad
from scipy.stats import laplace, norm

import bayesing as bs
from bayesing.priors import Prior, laplace_equals_gaussian, xi

from samples import stats

BOTH = pytest.mark.parametrize("name", ["gaussian", "laplace"])


@BOTH
def test_density_has_mass_one_and_variance_gamma_over_n(name):
    prior = Prior(name, gamma=0.7, n=3)

    def density(J):
        return np.exp(prior.log_density(J))

    assert quad(density, -20, 20, points=[0])[0] == pytest.approx(1, rel=1e-8)
    variance = quad(lambda J: J**2 * density(J), -20, 20, points=[0])[0]
    assert variance == pytest.approx(0.7 / 3, rel=1e-8) == prior.variance


def test_densities_are_scipys():
    J = np.linspace(-1, 1, 7)
    np.testing.assert_allclose(Prior("gaussian", 0.5, 10).log_density(J), norm(scale=0.05**0.5).logpdf(J))
    np.testing.assert_allclose(
        Prior("laplace", 0.5, 10).log_density(J), laplace(scale=1 / xi(0.5, 10)).logpdf(J)
    )


@BOTH
def test_draws_have_the_moments_of_the_prior(name):
    size, prior = 200_000, Prior(name, gamma=0.7, n=30)
    J = prior.draw(size, np.random.default_rng(0)) / np.sqrt(prior.variance)
    kurtosis = {"gaussian": 3, "laplace": 6}[name]
    assert abs(J.mean()) < 4 / np.sqrt(size)
    assert abs((J**2).mean() - 1) < 4 * np.sqrt((kurtosis - 1) / size)
    eighth = {"gaussian": 105, "laplace": 40320 / 16}[name]
    assert abs((J**4).mean() - kurtosis) < 4 * np.sqrt((eighth - kurtosis**2) / size)


def test_two_spins_are_enough():
    assert Prior("gaussian", 1.0, 2).variance == 0.5


@BOTH
def test_gamma_zero_means_no_couplings(name):
    assert not Prior(name, 0.0, 5).draw(10, np.random.default_rng(0)).any()
    with pytest.raises(ValueError, match="point mass"):
        Prior(name, 0.0, 5).log_density(0.0)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("cauchy", 1.0, 5), "gaussian, laplace: found 'cauchy'"),
        (("gaussian", -1.0, 5), "found -1.0"),
        (("gaussian", float("nan"), 5), "found nan"),
        (("gaussian", 1.0, 1), "n must be at least 2"),
    ],
)
def test_bad_priors(arguments, message):
    with pytest.raises(ValueError, match=message):
        Prior(*arguments)


def average_over_prior(name, gamma, n, A):
    """E[exp(J A)] over one coupling, by quadrature."""
    prior = Prior(name, gamma, n)
    return quad(lambda J: np.exp(prior.log_density(J) + J * A), -30, 30, points=[0], limit=200)[0]


def test_averaging_over_a_coupling_gives_the_two_forms_of_the_derivation():
    """Laplace: 1/(1 - A^2/xi^2) while |A| < xi; Gaussian: exp(A^2/xi^2). They agree for small A/xi."""
    gamma, n = 0.5, 9
    scale = xi(gamma, n)
    for A in (-0.5 * scale, 0.1 * scale, 0.6 * scale):
        u = A**2 / scale**2
        assert average_over_prior("laplace", gamma, n, A) == pytest.approx(1 / (1 - u), rel=1e-7)
        assert average_over_prior("gaussian", gamma, n, A) == pytest.approx(np.exp(u), rel=1e-7)
    small = 0.01 * scale
    ratio = average_over_prior("laplace", gamma, n, small) / average_over_prior("gaussian", gamma, n, small)
    assert ratio == pytest.approx(1 + 0.5e-8, abs=2e-9)


def test_condition_on_xi():
    assert xi(0.5, 100) == 20
    assert xi(0.0, 100) == np.inf
    assert laplace_equals_gaussian(0.5, 100, 19.9) and not laplace_equals_gaussian(0.5, 100, 20.0)
    assert laplace_equals_gaussian(0.0, 100, 1e9)


def laplace_fit(X):
    with warnings.catch_warnings(record=True) as record:
        warnings.simplefilter("always")
        eb = bs.EmpiricalBayes(method="plefka", prior="laplace").fit(X)
    return eb, any(issubclass(w.category, bs.LaplaceWarning) for w in record)


@pytest.mark.filterwarnings("ignore::bayesing.SaturationWarning", "ignore::bayesing.AnotherKindWarning")
def test_warning_exactly_where_the_fitted_gamma_violates_the_condition():
    """The same data with fewer and fewer samples: the condition is met in the end, and both occur."""
    spins = bs.simulate(n_spins=80, n_samples=60, J=0.9, H=0.1, prior="laplace", seed=2).spins
    seen = set()
    for N in (3, 6, 10, 20, 40, 60):
        eb, warned = laplace_fit(spins[:N])
        if eb.case_ == "infinite":
            continue
        holds = laplace_equals_gaussian(eb.gamma_, 80, stats(spins[:N]).largest_pair_sum(eb.moments_.M**2))
        assert holds == (not warned)
        seen.add(holds)
        assert eb.gamma_ == bs.EmpiricalBayes(method="plefka").fit(spins[:N]).gamma_
    assert seen == {True, False}
