"""The paper's estimator, against the enumerated replicated system and against its own evidence."""

from itertools import product

import numpy as np
import pytest
from scipy.optimize import brentq
from scipy.special import logsumexp

import bayesing as bs
from bayesing.strength import plefka

from samples import random_spins

# Central differences of eighth order on the points -4 h, ..., 4 h.
FIRST = np.array([1 / 280, -4 / 105, 1 / 5, -4 / 5, 0, 4 / 5, -1 / 5, 4 / 105, -1 / 280])
SECOND = np.array([-1 / 560, 8 / 315, -1 / 5, 8 / 5, -205 / 72, 8 / 5, -1 / 5, 8 / 315, -1 / 560])


class ReplicatedSystem:
    """All states of tau replicas of n spins, with the Hamiltonian of Eq. 20 written out term by term."""

    def __init__(self, X, tau):
        self.N, self.n = X.shape
        self.tau = tau
        states = np.array(list(product([-1, 1], repeat=self.n * tau))).reshape(-1, self.n, tau)
        self.total = states.sum(axis=(1, 2))
        self.interaction = np.zeros(len(states))  # E_int: the Hamiltonian is -lambda * total + gamma * E_int
        for i in range(self.n):
            for j in range(i + 1, self.n):
                d_ij = np.mean(X[:, i].astype(float) * X[:, j])
                bond = states[:, i] * states[:, j]
                self.interaction -= self.N / self.n * d_ij * bond.sum(axis=1)
                for a in range(tau):
                    for b in range(a + 1, tau):
                        self.interaction -= bond[:, a] * bond[:, b] / self.n

    def gibbs_free_energy(self, m, gamma):
        """Eq. 21 at H = 0, with the extremum over lambda found by bisection."""

        def excess(field):
            log_weights = field * self.total - gamma * self.interaction
            weights = np.exp(log_weights - log_weights.max())
            return (weights @ self.total) / weights.sum() - self.n * self.tau * m

        field = brentq(excess, -30, 30, xtol=1e-14)
        log_z = logsumexp(field * self.total - gamma * self.interaction)
        return field * self.n * self.tau * m - log_z


@pytest.mark.parametrize("n", [3, 4])
@pytest.mark.parametrize("tau", [1, 2, 3, 4])
def test_expansion_coefficients_are_derivatives_of_the_enumerated_free_energy(n, tau):
    N = 7
    X = random_spins(N, n, seed=3)
    moments = bs.SpinMoments.of(X)
    assert moments.Omega > 1e-3  # the d_ij are not uniform
    system, h = ReplicatedSystem(X, tau), 0.004
    for m in (-0.7, -0.25, 0.4, 0.85):
        values = np.array([system.gibbs_free_energy(m, k * h) for k in range(-4, 5)]) / (n * N)
        np.testing.assert_allclose(values[4], tau / N * plefka.e(m), rtol=1e-10)
        np.testing.assert_allclose(plefka.phi1(m, moments, tau), FIRST @ values / h, rtol=1e-6)
        np.testing.assert_allclose(plefka.phi2(m, moments, tau), SECOND @ values / (2 * h**2), rtol=1e-6)


def paper_Phi(m, n, N, C1, C2):
    """Eq. 25 as printed."""
    return (n - 1) * N * C1 / (2 * n) * m**2 - (n - 1) * N / (4 * n) * (
        C2 + (N + 1) / N * (m**4 - 1 / (N + 1))
    )


def paper_phi2(m, n, N, C1, C2, Omega):
    """Eq. 26 as printed."""
    return (
        (n - 1) ** 2 * N**2 * Omega / (2 * n**2) * m**2 * (1 - m**2)
        + (n - 1) * N**2 * C2 / (4 * n**2) * (1 - m**2) ** 2
        - (n - 1) * N * (N + 1) * C1 / (2 * n**2) * m**2 * (1 - m**2) ** 2
        - (n - 1) * (N + 1) / (4 * n**2) * (n - N - 3) * m**4 * (1 - m**2) ** 2
        - (n - 1) * (N + 1) / (8 * n**2) * (1 - m**4) ** 2
    )


@pytest.mark.parametrize("m", [-0.8, -0.1, 0.0, 0.3, 0.95])
def test_minus_N_replicas_give_the_printed_formulas(m):
    k = bs.SpinMoments.of(random_spins(17, 9))
    np.testing.assert_allclose(plefka.Phi(m, k), paper_Phi(m, k.n, k.N, k.C1, k.C2), rtol=1e-13)
    np.testing.assert_allclose(plefka.phi2(m, k), paper_phi2(m, k.n, k.N, k.C1, k.C2, k.Omega), rtol=1e-12)
    np.testing.assert_allclose(plefka.phi2(m, k, tau=-17), plefka.phi2(m, k), rtol=1e-15)


@pytest.mark.parametrize("tau", [None, 1, 3])
@pytest.mark.parametrize("m", [-0.8, -0.1, 0.3, 0.95])
def test_slopes_are_derivatives(m, tau):
    k, h = bs.SpinMoments.of(random_spins(17, 9)), 1e-30
    for function, slope in ((plefka.phi1, plefka.phi1_slope), (plefka.phi2, plefka.phi2_slope)):
        complex_step = function(m + 1j * h, k, tau).imag / h
        np.testing.assert_allclose(slope(m, k, tau), complex_step, rtol=1e-12)


def test_entropy():
    assert plefka.e(1.0) == plefka.e(-1.0) == 0
    np.testing.assert_allclose(plefka.e(0.0), -np.log(2))
    np.testing.assert_allclose(plefka.e(0.6), 0.8 * np.log(0.8) + 0.2 * np.log(0.2))


def test_closed_form_without_magnetisation():
    """At M = 0, gamma_hat = n (N C_2 - 1) / (2 N^2 C_2 - N - 1)."""
    X = np.vstack([random_spins(9, 12), -random_spins(9, 12)])
    m = bs.SpinMoments.of(X)
    assert m.M == 0
    fit = plefka.fit_plefka(m)
    np.testing.assert_allclose(fit.gamma, m.n * (m.N * m.C2 - 1) / (2 * m.N**2 * m.C2 - m.N - 1), rtol=1e-13)
    assert fit.H == 0


@pytest.mark.parametrize(
    ("n", "N", "J", "H"), [(61, 25, 0.6, 0.3), (40, 90, 0.4, -0.5), (75, 8, 0.7, 0.4), (50, 20, 0.5, 0.05)]
)
def test_the_estimate_is_the_stationary_point_of_the_evidence(n, N, J, H):
    sim = bs.simulate(n_spins=n, n_samples=N, J=J, H=H, seed=4)
    eb = bs.EmpiricalBayes(method="plefka").fit(sim.spins)
    assert eb.case_ == "interior" and abs(eb.H_) > 0.02
    np.testing.assert_allclose(
        plefka.extremum(eb.H_, np.array([eb.gamma_]), eb.moments_), eb.moments_.M, rtol=1e-9
    )
    d = 1e-3
    by_H = np.array([eb.evidence(eb.H_ + k * d, eb.gamma_) for k in range(-4, 5)]) @ FIRST / d
    by_gamma = np.array([eb.evidence(eb.H_, eb.gamma_ * (1 + k * d)) for k in range(-4, 5)]) @ FIRST / d
    away = abs(eb.evidence(eb.H_, 1.1 * eb.gamma_) - eb.evidence(eb.H_, eb.gamma_))
    assert abs(by_H) < 1e-9
    assert abs(by_gamma) < 1e-5 * away
    assert eb.evidence(eb.H_, eb.gamma_) > max(eb.evidence(eb.H_, eb.gamma_ * np.array([0.9, 1.1])))


def test_evidence_without_couplings_is_that_of_independent_spins():
    m = bs.SpinMoments.of(random_spins(17, 9))
    H = np.array([-1.3, 0.0, 0.4, 25.0])
    np.testing.assert_allclose(plefka.evidence(H, 0.0, m), H * m.M - np.logaddexp(H, -H), rtol=1e-12)


def test_evidence_approximates_the_average_of_the_likelihood_over_the_prior():
    """For weak couplings, (1/nN) ln E[P(D | H, J)] by brute force: exact Z, quadrature over 3 couplings."""
    X = random_spins(4, 3, seed=3)
    N, n = X.shape
    moments, H = bs.SpinMoments.of(X), 0.3
    nodes, weights = np.polynomial.hermite_e.hermegauss(10)
    weights = weights / weights.sum()

    def exact(gamma):
        total = []
        for a, b, c in product(range(10), repeat=3):
            x, y, z = np.sqrt(gamma / n) * nodes[[a, b, c]]
            model = bs.IsingModel([[0, x, y], [x, 0, z], [y, z, 0]], H)
            log_likelihood = -model.energy(X).sum() - N * model.log_partition()
            total.append(log_likelihood + np.log(weights[a] * weights[b] * weights[c]))
        return logsumexp(total) / (n * N)

    gammas = np.array([0.02, 0.04])
    errors = [exact(gamma) - float(plefka.evidence(H, gamma, moments)) for gamma in gammas]
    effect = exact(gammas[1]) - float(plefka.evidence(H, 0.0, moments))
    assert abs(errors[1]) < 0.02 * abs(effect)
    assert 6 < errors[1] / errors[0] < 10  # what is left out is of third order in gamma


def extrema(H, gamma, moments):
    """All solutions m of the extremum condition, by scanning."""
    theta = np.linspace(-10, 10, 400_001)
    m = np.tanh(theta)
    g = H - theta + plefka.phi1_slope(m, moments) * gamma + plefka.phi2_slope(m, moments) * gamma**2
    return m[:-1][np.sign(g[1:]) != np.sign(g[:-1])]


def test_evidence_ends_where_its_branch_folds():
    moments, H = bs.SpinMoments.of(random_spins(25, 19, p=0.35)), 0.3
    gammas = np.linspace(0, 3, 3001)
    m = plefka.extremum(H, gammas, moments)
    last = int(np.flatnonzero(np.isfinite(m))[-1])
    assert 0 < last < 3000
    assert np.isfinite(m[: last + 1]).all() and np.isnan(m[last + 1 :]).all()
    assert np.abs(np.diff(m[: last + 1])).max() < 0.05  # one continuous branch
    before, after = extrema(H, gammas[last], moments), extrema(H, gammas[last + 1], moments)
    assert len(before) == 3 and len(after) == 1
    assert np.abs(before - m[last]).min() < 1e-4  # it was an extremum until the end, and then
    assert np.abs(after - m[last]).min() > 0.3  # there is none left near by
    assert np.isnan(plefka.evidence(H, 3.0, moments))


def test_without_a_field_the_branch_is_m_zero_at_every_gamma():
    moments = bs.SpinMoments.of(bs.simulate(100, 100, J=0.9, H=0.2, seed=0).spins)
    gammas = np.linspace(0, 0.5, 501)
    assert extrema(0.0, gammas[-1], moments).max() > 0.2  # m = 0 has become unstable on the way
    assert (plefka.extremum(0.0, gammas, moments) == 0).all()
    assert np.isfinite(plefka.evidence(0.0, gammas, moments)).all()


def test_tiny_fields_follow_the_branch_of_small_ones():
    moments = bs.SpinMoments.of(bs.simulate(100, 100, J=0.9, H=0.2, seed=0).spins)
    gammas = np.array([0.4, 0.5])  # beyond the bifurcation
    reference = plefka.extremum(1e-7, gammas, moments)
    assert reference.min() > 0.1
    for H in (1e-10, 1e-14, 1e-17):
        np.testing.assert_allclose(plefka.extremum(H, gammas, moments), reference, atol=1e-5)
        np.testing.assert_allclose(plefka.extremum(-H, gammas, moments), -reference, atol=1e-5)


def test_a_narrow_fold_is_not_stepped_over():
    """Next to a cusp: the branch ends at gamma = 0.02588, and goes on from another sheet."""
    moments = bs.SpinMoments(
        19, 1000, 0.07242105263157894, 0.028444444444444446, 0.007760654970760234, 0.001762848602988954,
        None, None, None, None, np.zeros(19),
    )  # fmt: skip
    m = plefka.extremum(0.04207819932397106, np.linspace(0, 0.0767, 5001), moments)
    last = np.linspace(0, 0.0767, 5001)[np.isfinite(m)][-1]
    assert last == pytest.approx(0.02588, abs=2e-5) and np.isnan(m[-1])


def test_a_strong_field_and_couplings_can_leave_the_branch_of_the_evidence():
    """The estimate then solves the paper's equations on another branch; H_hat may even change its sign."""
    sim = bs.simulate(n_spins=300, n_samples=30, J=1.0, H=0.2, seed=3)
    eb = bs.EmpiricalBayes(method="plefka").fit(sim.spins)
    solutions = extrema(eb.H_, eb.gamma_, eb.moments_)
    assert np.abs(solutions - eb.moments_.M).min() < 1e-4
    assert abs(plefka.extremum(eb.H_, np.array([eb.gamma_]), eb.moments_)[0] - eb.moments_.M) > 0.1


def test_evidence_broadcasts_and_ignores_order():
    m = bs.SpinMoments.of(random_spins(17, 9))
    H, gamma = np.array([[0.1], [-0.4]]), np.array([0.3, 0.0, 0.2, 0.3])
    table = plefka.evidence(H, gamma, m)
    assert table.shape == (2, 4)
    for i, k in product(range(2), range(4)):
        np.testing.assert_allclose(table[i, k], plefka.evidence(H[i, 0], gamma[k], m), rtol=1e-12)


@pytest.mark.parametrize(
    ("H", "gamma"), [(np.nan, 0.1), (np.inf, 0.1), (0.0, -0.1), (0.0, np.inf), (0.0, np.nan), (0.0, 1e300)]
)
def test_evidence_rejects_impossible_arguments(H, gamma):
    with pytest.raises(ValueError, match="must be finite"):
        plefka.evidence(H, gamma, bs.SpinMoments.of(random_spins(5, 4)))


# Cases, each reached by constructed data.


def test_case_infinite():
    m = bs.SpinMoments.of([[1, 1, -1, -1], [1, -1, 1, -1]])
    assert m.M == 0 and m.C2 == 1 / 3 < (m.N + 1) / (2 * m.N**2)
    fit = plefka.fit_plefka(m)
    assert (fit.case, fit.gamma, fit.H) == ("infinite", np.inf, 0.0)
    assert fit.phi2 < 0


def test_case_infinite_with_a_field_has_the_limit_of_the_field():
    m = bs.SpinMoments.of(
        [[1, -1, -1, -1, -1], [-1, -1, 1, 1, 1], [1, 1, 1, 1, 1], [1, 1, 1, -1, 1], [1, -1, -1, 1, 1]]
    )
    fit = plefka.fit_plefka(m)
    assert fit.case == "infinite" and fit.phi2 < 0
    assert np.sign(plefka.phi1_slope(m.M, m)) != np.sign(plefka.phi2_slope(m.M, m))  # the second order wins
    large = 1e6
    field = np.arctanh(m.M) - plefka.phi1_slope(m.M, m) * large - plefka.phi2_slope(m.M, m) * large**2
    assert abs(field) > 1e9 and fit.H == np.sign(field) * np.inf


def test_case_zero():
    m = bs.SpinMoments.of([[1, 1, 1, -1], [-1, -1, -1, -1], [-1, 1, 1, 1]])
    assert m.M == 0 and (m.N + 1) / (2 * m.N**2) < m.C2 <= 1 / m.N
    fit = plefka.fit_plefka(m)
    assert (fit.case, fit.gamma, fit.H) == ("zero", 0.0, 0.0)
    assert fit.phi2 > 0 and fit.Phi >= 0


def test_case_zero_with_a_field_is_that_of_independent_spins():
    m = bs.SpinMoments.of([[-1, 1, 1, -1], [1, 1, 1, -1], [-1, 1, -1, 1]])
    fit = plefka.fit_plefka(m)
    assert (fit.case, fit.gamma) == ("zero", 0.0)
    assert fit.H == pytest.approx(np.arctanh(1 / 6), rel=1e-12)


def test_rounding_does_not_decide_the_case():
    """phi2(M) = 0 < Phi(M) in exact arithmetic, then Phi(M) = 0 < phi2(M): both are "zero"."""
    for X in (
        [[-1, -1, 1], [-1, -1, -1], [-1, 1, -1], [-1, -1, -1], [1, 1, 1]],
        [[1, 1, -1, 1, 1, -1], [1, 1, -1, -1, 1, 1]],
    ):
        fit = plefka.fit_plefka(bs.SpinMoments.of(X))
        assert (fit.case, fit.gamma) == ("zero", 0.0)
        assert 0.0 in (fit.Phi, fit.phi2) and fit.Phi + fit.phi2 > 0


def test_case_interior():
    fit = plefka.fit_plefka(
        bs.SpinMoments.of(bs.simulate(n_spins=50, n_samples=20, J=0.6, H=0.2, seed=0).spins)
    )
    assert fit.case == "interior"
    assert fit.gamma == -fit.Phi / (2 * fit.phi2) > 0


@pytest.mark.parametrize("value", [-1, 1])
def test_constant_data_are_an_error(value):
    with pytest.raises(ValueError, match="says nothing about couplings"):
        plefka.fit_plefka(bs.SpinMoments.of(np.full((4, 3), value)))


def test_errors_are_infinite_where_a_nearby_estimate_is():
    """phi2 vanishes a step away from these moments; the estimate itself is finite."""
    rows = ["----", "----", "--++", "--++", "-+-+", "-++-", "-+++", "++-+", "++++"]
    X = np.array([[1 if c == "+" else -1 for c in row] for row in rows])
    with pytest.warns(bs.BoundWarning, match="say too little about gamma_error, H_error"):
        eb = bs.EmpiricalBayes("plefka").fit(X)
    assert np.isfinite(eb.gamma_) and eb.gamma_error_ == eb.H_error_ == np.inf


def test_errors_of_independent_spins_are_their_spread():
    """300 sets, which know a spread to 4%; gamma before it is clipped at 0."""
    rng, found = np.random.default_rng(3), []
    for _ in range(300):
        m = bs.SpinMoments.of(rng.choice(np.array([-1, 1], np.int8), (60, 40)))
        fit = plefka.fit_plefka(m)
        found.append((-fit.Phi / (2 * fit.phi2), fit.H, *plefka.plefka_errors(fit, m)))
    gamma, H, gamma_error, H_error = np.transpose(found)
    assert gamma.std() == pytest.approx(np.median(gamma_error), rel=0.12)
    assert H.std() == pytest.approx(np.median(H_error), rel=0.12)
