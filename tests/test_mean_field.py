import numpy as np
import pytest

import bayesing as bs
from bayesing.couplings import mean_field
from bayesing.couplings.exact import fit_exact
from bayesing.couplings.mean_field import independent_pair, naive_mean_field, tap
from bayesing.ising import all_states

from samples import draw_exactly, random_model, random_spins, stats


def infinite_data(model, total=2**22):
    """Every state as often as the model says, so that averages are exact to rounding."""
    states = all_states(model.n_spins).astype(np.int8)
    exponents = -model.energy(states)
    p = np.exp(exponents - exponents.max())
    return np.repeat(states, np.round(total * p / p.sum()).astype(int), axis=0)


@pytest.mark.parametrize("method", [naive_mean_field, tap, independent_pair])
def test_weak_couplings_are_recovered_to_higher_order(method):
    """Halve the couplings: what is wrong with them falls by 4 (TAP: by 8), that is, relative errors by 2 or more."""
    upper = np.triu_indices(6, 1)
    errors, fields = [], []
    for J in (0.3, 0.15):
        model = random_model(6, J, seed=5, field=0.3)
        found = method(stats(infinite_data(model)))
        errors.append(np.sqrt(np.mean((found.matrix - model.couplings)[upper] ** 2)))
        assert np.corrcoef(found.matrix[upper], model.couplings[upper])[0, 1] > 0.98
        fields.append(np.sqrt(np.mean((found.fields - model.fields) ** 2)))
    for error in (errors, fields):
        assert error[1] < error[0] / (6 if method is tap else 3)


def test_tap_is_better_than_naive_mean_field_in_a_field():
    model = random_model(6, 0.3, seed=5, field=0.6)
    X = stats(infinite_data(model))
    one, two = (np.abs(method(X).matrix - model.couplings).max() for method in (naive_mean_field, tap))
    assert two < one / 2


def test_one_pair_is_exact():
    model = bs.IsingModel([[0.0, 0.7], [0.7, 0.0]], [0.3, -0.5])
    X = infinite_data(model)
    found, exact = independent_pair(stats(X)), fit_exact(stats(X))
    for fit in (found, exact):
        assert fit.matrix[0, 1] == pytest.approx(0.7, abs=1e-4)
        assert fit.fields == pytest.approx([0.3, -0.5], abs=1e-4)
    assert found.errors[0, 1] == pytest.approx(exact.errors[0, 1], rel=1e-3)


@pytest.mark.parametrize("method", [naive_mean_field, tap, independent_pair, fit_exact])
def test_errors_are_those_of_other_samples(method):
    """100 data sets: the spread of each coupling over its error, 15 of them with standard errors of 1/sqrt(200)."""
    model = random_model(6, 0.4, seed=1)
    upper = np.triu_indices(6, 1)
    fits = [method(stats(bs.sample(model, 400, sampler="anneal", sweeps=3, seed=k))) for k in range(100)]
    J, errors = (np.array([getattr(fit, name)[upper] for fit in fits]) for name in ("matrix", "errors"))
    ratio = J.std(axis=0, ddof=1) / errors.mean(axis=0)
    assert abs(ratio.mean() - 1) < 4 / np.sqrt(200 * 15) + 0.05  # and what C being Gaussian leaves out
    assert (fits[0].matrix == fits[0].matrix.T).all() and (np.diag(fits[0].matrix) == 0).all()
    assert (np.diag(fits[0].errors) == 0).all()


@pytest.mark.parametrize("method", ["naive_mean_field", "tap"])
@pytest.mark.parametrize("X", [random_spins(8, 10), np.hstack([random_spins(50, 4), random_spins(50, 4)])])
def test_too_few_samples_or_duplicates_are_said(method, X):
    with pytest.raises(ValueError, match=rf'method="{method}" inverts .* rank'):
        getattr(mean_field, method)(stats(X))


def test_independent_pairs_are_finite_for_any_data():
    X = np.array([[1, 1, 1], [1, -1, 1]], np.int8)
    found = independent_pair(stats(X))
    assert np.isfinite(found.matrix).all() and np.isfinite(found.fields).all()


def test_the_four_states_of_a_pair_are_counted_and_half_a_sample_added():
    X = random_spins(13, 3, seed=4)
    found = independent_pair(stats(X))
    for i in range(3):
        for j in range(3):
            if i != j:
                pp, pm, mp, mm = (
                    np.sum((X[:, i] == a) & (X[:, j] == b)) + 0.5 for a in (1, -1) for b in (1, -1)
                )
                assert found.matrix[i, j] == pytest.approx(np.log(pp * mm / pm / mp) / 4)
                assert found.errors[i, j] == pytest.approx(np.sqrt(1 / pp + 1 / pm + 1 / mp + 1 / mm) / 4)


def test_errors_of_an_inverse_covariance_are_those_of_wishart_matrices():
    """Var Q_ij = (Q_ii Q_jj + Q_ij^2)/N, of couplings so strong that the second term counts."""
    model = random_model(3, 1.2, seed=2)
    X = draw_exactly(model, 500, np.random.default_rng(0))
    Q = np.linalg.inv(np.cov(X.T, bias=True))
    variance = (np.outer(np.diag(Q), np.diag(Q)) + Q**2) / 500
    np.fill_diagonal(variance, 0)
    assert (Q**2 > 0.2 * np.outer(np.diag(Q), np.diag(Q))).sum() > 3
    assert naive_mean_field(stats(X)).errors == pytest.approx(np.sqrt(variance))
