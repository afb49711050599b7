import numpy as np
import pytest

import bayesing as bs
from bayesing.conditionals import middle_of_fields
from bayesing.couplings import spectral
from bayesing.couplings._kernel import interpolation
from bayesing.couplings.spectral import fit_couplings, posterior
from bayesing.spectrum import Spectrum, saddle
from bayesing.strength.spectral import fit_spectral

from samples import stats


def data(n=60, N=40, J=0.7, H=0.3, seed=3):
    return bs.simulate(n, N, J=J, H=H, seed=seed, sweeps=3).spins


@pytest.mark.parametrize("N", [20, 90])
def test_the_posterior_forms_only_what_is_asked_for(N):
    """Against dense matrices with all n eigenvectors; a constant spin among them."""
    X = data(n=41, N=N).copy()
    X[:, 7] = 1
    fit = fit_spectral(stats(X))
    known = posterior(stats(X), fit.gamma)
    mean, deviation = known.rows()
    kept = np.arange(41) != 7
    Y = X[:, kept].astype(float)
    m = Y.mean(axis=0)
    v = 1 - m**2
    Z = (Y - m) / np.sqrt(v)
    d, V = np.linalg.eigh(Z.T @ Z / N)
    g = fit.gamma / fit.spectrum.scale
    at = saddle(g, Spectrum(np.maximum(d, 0), np.ones(40), N - 1))
    K = g / 40 / (1 + (N - 1) / 40 * g * np.outer(at.c, at.c))
    off = ~np.eye(40, dtype=bool)
    standardised = (V * at.j) @ V.T
    variance = V**2 @ K @ (V**2).T  # in standardised units, with a prior of variance g/40
    q = np.mean((N * m**2 - 1) / (N - 1))
    assert g / 40 == pytest.approx(fit.gamma / 41 * (1 - max(q, 0)) ** 2)
    own = 1 / (1 / variance - 40 / g + 41 / fit.gamma / np.outer(v, v))  # with that of the model
    standardised *= own / variance
    spread = np.sqrt(own / np.outer(v, v))
    assert mean[np.ix_(kept, kept)][off] == pytest.approx(
        (standardised / np.sqrt(np.outer(v, v)))[off], abs=1e-8
    )
    assert deviation[np.ix_(kept, kept)][off] == pytest.approx(spread[off], rel=1e-6)
    largest = fit_couplings(stats(X), fit.gamma).largest
    assert largest == pytest.approx(np.abs(standardised[off]).max())
    assert (mean[7] == 0).all() and np.delete(deviation[7], 7) == pytest.approx(np.sqrt(fit.gamma / 41))
    assert (np.diag(mean) == 0).all() and (np.diag(deviation) == 0).all()
    some = known.rows([30, 7, 2])
    assert some[0] == pytest.approx(mean[[30, 7, 2]]) and some[1] == pytest.approx(deviation[[30, 7, 2]])


@pytest.mark.parametrize(("n", "N", "left"), [(31, 25, 0.1), (31, 200, 0.2), (200, 200, 0.1)])
def test_fields_are_the_best_given_the_couplings(n, N, left):
    """The slope of the pseudo-likelihood in every field, in standard errors; a constant spin among them.

    Local fields are not quite Gaussian. What is left falls with n at the same N; without their variance it is 1.
    """
    X = data(n=n, N=N).copy()
    X[:, 4] = -1
    known = fit_couplings(stats(X), 0.5)
    S = X.astype(float)
    J = known.rows()[0]
    f = S @ J + known.fields
    pull = known.fields + J @ S.mean(axis=0) - middle_of_fields(X.sum(axis=0), N)
    slopes = (S - np.tanh(f)).sum(axis=0) - pull
    curvatures = (1 - np.tanh(f) ** 2).sum(axis=0) + 1
    assert np.sqrt(np.mean(slopes**2 / curvatures)) < left
    assert known.fields[4] < -1


def test_intervals_cover():
    """90% of 3540 couplings, whose errors are correlated a little: twice the binomial error, thrice over."""
    sim = bs.simulate(60, 150, J=0.7, H=0.2, seed=3, sweeps=5)
    i, j = np.triu_indices(60, 1)
    mean, deviation = posterior(stats(sim.spins), 0.49).rows()
    inside = np.abs(mean - sim.couplings)[i, j] < 1.645 * deviation[i, j]
    assert abs(inside.mean() - 0.9) < 6 * np.sqrt(0.09 / len(i))
    assert np.corrcoef(mean[i, j], sim.couplings[i, j])[0, 1] > 0.5  # a sign would make it negative


def test_many_samples_of_weak_couplings_give_the_truth():
    sim = bs.simulate(12, 20_000, J=0.2, H=0.2, seed=1, sweeps=3)
    mean, deviation = posterior(stats(sim.spins), 0.04).rows()
    i, j = np.triu_indices(12, 1)
    z = ((mean - sim.couplings) / np.where(deviation > 0, deviation, 1))[i, j]
    assert np.abs(z).max() < 4 and 0.6 < z.std() < 1.4


def test_spins_that_hardly_vary_have_couplings_no_stronger_than_the_prior_allows():
    """Better by far than with a prior of standardised couplings, whose scale for these spins is 1/v."""
    H = np.linspace(-2.0, 2.0, 60)
    sim = bs.simulate(60, 300, J=0.7, H=H, seed=1, sweeps=5)
    known = posterior(stats(sim.spins), 0.49)
    mean, deviation = known.rows()
    assert deviation.max() < np.sqrt(0.49 / 60) and np.linalg.norm(mean - sim.couplings) < np.linalg.norm(
        sim.couplings
    )
    upper = np.triu_indices(60, 1)
    inside = np.abs(mean - sim.couplings)[upper] < 1.645 * deviation[upper]
    assert abs(inside.mean() - 0.9) < 6 * np.sqrt(0.09 / len(inside))


def test_the_bias_is_that_of_pairs_by_themselves():
    """Against the exact covariance of two spins: without fields, and to first order with them."""
    for h, J, rel in (((0.0, 0.0), 0.1, 0.01), ((0.4, 0.3), 0.01, 0.05)):
        model = bs.IsingModel(np.array([[0, J], [J, 0]]), np.array(h))
        m = model.means()
        v = 1 - m**2
        rho = (model.correlations()[0, 1] - m.prod()) / np.sqrt(v.prod())
        taken = (
            rho / (1 - rho**2) / np.sqrt(v.prod())
        )  # what the posterior makes of it, from infinitely many samples
        assert taken - J == pytest.approx(2 * m.prod() * J**2 + 2 / 3 * v.prod() * J**3, rel=rel)
    known = posterior(stats(data()), 0.5)
    mean, deviation = known.rows()
    v = 1 - data().mean(axis=0) ** 2
    squares = [
        4 * (1 - v[i]) * (1 - v[j]) * mean[i, j] ** 4 + 4 / 9 * (v[i] * v[j]) ** 2 * mean[i, j] ** 6
        for i in range(len(mean))
        for j in range(i)
    ]
    variance = [deviation[i, j] ** 2 for i in range(len(mean)) for j in range(i)]
    bias = fit_couplings(stats(data()), 0.5).bias
    assert bias == pytest.approx(np.sqrt(np.mean(squares) / np.mean(variance)))


def test_wrong_input():
    with pytest.raises(ValueError, match="gamma > 0: found 0"):
        posterior(stats(data()), 0.0)
    with pytest.raises(ValueError, match="found 1 of 3"):
        posterior(stats(np.array([[1, 1, 1], [1, 1, -1], [1, 1, -1]], np.int8)), 1.0)


@pytest.mark.parametrize("factor", [1.0, 1.001, 40.0, 1e5])
@pytest.mark.parametrize("a", [1e-3, 2.0, 1e4])
def test_the_kernel_is_a_product_of_narrow_matrices(factor, a):
    x = 0.3 * np.exp(np.random.default_rng(0).uniform(0, np.log(factor), 300))
    z, L = interpolation(x)
    assert len(z) < 70 and (x.min() <= z).all() and (z <= x.max()).all()
    error = L @ (1 / (1 + a * np.outer(z, z))) @ L.T - 1 / (1 + a * np.outer(x, x))
    assert np.abs(error).max() < 1e-12


def test_the_kernel_of_few_numbers_and_at_a_node():
    few = np.array([0.5, 7.0, 2.0])
    z, L = interpolation(few)
    assert (z == few).all() and (L == np.eye(3)).all()
    nodes, _ = interpolation(np.linspace(1, 40, 100))
    again, L = interpolation(np.concatenate([nodes[5:6], np.linspace(1, 40, 100)]))
    assert again == pytest.approx(nodes) and L[0] == pytest.approx(np.eye(len(nodes))[5], abs=1e-12)


@pytest.mark.parametrize("N", [25, 300])
@pytest.mark.parametrize("constant", [[], [0, 9, 40]])
def test_walks_through_many_spins_find_what_a_matrix_has(N, constant, monkeypatch):
    """Strongest, edges, fields, bias: in bands, tiles and stripes that do not divide 41, with constant spins."""
    X = data(n=41, N=N, H=0.4).copy()
    X[:, constant] = 1
    whole = fit_couplings(stats(X), 0.6)
    for name, value in {"_DENSE": 10, "_ROWS": 4, "_TILE": 7, "_STRIPES": 3}.items():
        monkeypatch.setattr(spectral, name, value)
    parts = fit_couplings(stats(X), 0.6)
    J, error = whole.rows()
    rounding = 1e-6 * error.max()
    assert parts.fields == pytest.approx(whole.fields, abs=1e-5)
    assert (parts.largest, parts.bias) == pytest.approx((whole.largest, whole.bias), rel=1e-5)
    seen = np.zeros((41, 41), dtype=int)
    for stripe in parts.over(list):
        for rows, mean, deviation in stripe:
            first = rows[0]
            assert mean == pytest.approx(J[rows, first:], abs=rounding)
            assert deviation == pytest.approx(error[rows, first:], abs=rounding)
            seen[rows, first:] += 1
    assert (seen[np.triu_indices(41, 1)] == 1).all()
    assert [band.rows.tolist() for stripe in parts.over(list) for band in stripe] == [
        band.rows.tolist() for band in parts.bands()
    ]


def test_no_couplings_of_many_spins(monkeypatch):
    X = np.random.default_rng(1).choice([-1, 1], size=(500, 20))
    dense = bs.BoltzmannMachine("spectral", random_state=0)
    with pytest.warns(bs.BoundWarning, match="no couplings"):
        dense.fit(X)
    monkeypatch.setattr(spectral, "_DENSE", 10)
    many = bs.BoltzmannMachine("spectral", random_state=0)
    with pytest.warns(bs.BoundWarning, match="no couplings"):
        many.fit(X)
    assert isinstance(many.answer_.couplings, spectral.SpectralCouplings) and many.gamma_ == 0
    assert not many.couplings_.any() and many.fields_ == pytest.approx(dense.fields_)
    assert many.coupling_errors_ == pytest.approx(dense.coupling_errors_)
    assert many.edges(0.2) == [] and {c.J for c in many.strongest(3)} == {0.0}


def test_a_matrix_that_would_not_fit_is_refused(monkeypatch):
    bm = bs.BoltzmannMachine("spectral", gamma=0.5).fit(data())
    monkeypatch.setattr("bayesing.inference.MOST_DENSE", 50)
    with pytest.raises(ValueError, match=r"at most 50 spins .*: found 60.*strongest"):
        _ = bm.couplings_
    assert len(bm.strongest(3)) == 3
