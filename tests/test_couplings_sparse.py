"""The sparse prior: messages against the inverse of the whole curvature, and networks that are known."""

import warnings

import numpy as np
import pytest

import bayesing as bs
from bayesing.conditionals import curvature, slope
from bayesing.couplings import Strength, _sparse
from bayesing.couplings._sparse import _Rows, fit_completed, fit_sparse, sparse_couplings
from bayesing.couplings.pseudolikelihood import fit_couplings

from samples import in_turn, random_spins, stats

UPPER = np.triu_indices(30, 1)


def network(n, degree, size, seed, field=0.2):
    """A random graph with couplings of both signs, and unequal fields."""
    rng = np.random.default_rng([3, seed])
    J = np.triu(rng.random((n, n)) < degree / (n - 1), 1) * rng.choice([-size, size], (n, n))
    return bs.IsingModel(J + J.T, rng.normal(field, 0.2, n))


def sampled(model, N, seed=0):
    return bs.sample(model, N, sampler="anneal", sweeps=20, seed=seed)


MODEL = network(30, 3, 0.5, 1)
X = sampled(MODEL, 800)
EDGES = MODEL.couplings[UPPER] != 0


def sparse(X, method="pseudolikelihood", **parameters):
    return bs.BoltzmannMachine(method, prior="sparse", random_state=0, **parameters).fit(X)


@pytest.fixture(scope="module")
def machine():
    return sparse(X)


# The parts of a step


def whole_curvature(X, J, b, tau):
    """Of half the pseudo-likelihood with sites, in all couplings i < j and fields b, row by row."""
    n = X.shape[1]
    z = X - X.mean(axis=0)
    f = z @ J + b
    pairs = list(zip(*np.triu_indices(n, 1), strict=True))
    place = {pair: k for k, pair in enumerate(pairs)}
    H = np.zeros((len(pairs) + n, len(pairs) + n))
    for i in range(n):
        at = [place[min(i, j), max(i, j)] if j != i else len(pairs) + i for j in range(n)]
        F = z.copy()
        F[:, i] = 1.0
        H[np.ix_(at, at)] += F.T @ (curvature(f[:, [i]]) * F) / 2
    H[np.diag_indices(len(pairs))] += tau[np.triu_indices(n, 1)]
    H[np.arange(len(pairs), len(H)), np.arange(len(pairs), len(H))] += 0.5
    return H


def settings(n, seed):
    """Spins, couplings, fields and sites that have nothing to do with each other."""
    rng = np.random.default_rng(seed)
    J = np.triu(rng.normal(0, 0.15, (n, n)), 1)
    tau = np.triu(np.exp(rng.normal(3, 2, (n, n))), 1)
    return J + J.T, rng.normal(0.3, 0.2, n), tau + tau.T


def test_messages_lead_to_the_variances_of_the_whole_curvature():
    """Rows see each other by numbers alone, which is nearly exact: within 2% for 9 spins."""
    S = random_spins(200, 9, seed=4)
    J, b, tau = settings(9, 5)
    rows = _Rows(S, in_turn)
    sent = rows.messages(J, b, tau, None, False)
    for _ in range(5):
        sent = rows.messages(J, b, tau, sent.r, False)
    upper = np.triu_indices(9, 1)
    found = 1 / (sent.r + sent.r.T + tau)[upper]
    exact = np.diag(np.linalg.inv(whole_curvature(S, J, b, tau)))[: len(found)]
    assert found == pytest.approx(exact, rel=0.02)
    assert found.max() / found.min() > 5  # a factor of 2 would be seen


def test_the_short_way_has_the_same_precisions_where_spins_are_independent():
    """80 spins, 120 samples: that others are uncertain takes a quarter of the precision away, by both ways."""
    n, N = 80, 120
    rows, tau = _Rows(random_spins(N, n, seed=0), in_turn), np.where(np.eye(n) == 1, 0.0, 20.0)
    J, b, upper = np.zeros((n, n)), np.arctanh(rows.d * N / (N + 1)), np.triu_indices(n, 1)
    sent = rows.messages(J, b, tau, None, False)
    for _ in range(5):
        sent = rows.messages(J, b, tau, sent.r, False)
    f = rows.z @ J + b
    short, alone = rows._diagonal(f, tau).r, curvature(f).T @ rows.z**2 / 2
    long, short, alone = ((r + r.T)[upper] for r in (sent.r, short, alone))
    assert np.median(short / long) == pytest.approx(1, abs=0.03) and np.std(short / long) < 0.06
    assert np.median(short / alone) < 0.8


def test_variances_of_fields():
    """Those of b by itself, and of the sum over couplings by the inverse of the whole."""
    S = random_spins(300, 7, seed=6)
    J, b, tau = settings(7, 7)
    rows = _Rows(S, in_turn)
    sent = rows.messages(J, b, tau, None, False)
    for _ in range(5):
        sent = rows.messages(J, b, tau, sent.r, False)
    d, z = S.mean(axis=0), S - S.mean(axis=0)
    covariance = np.linalg.inv(whole_curvature(S, J, b, tau))
    pairs = list(zip(*np.triu_indices(7, 1), strict=True))
    own = 1 / (curvature(z @ J + b).sum(axis=0) + 1)
    for i in range(7):
        weights = np.array([d[j + k - i] if i in (j, k) else 0.0 for j, k in pairs])
        exact = own[i] + weights @ covariance[: len(pairs), : len(pairs)] @ weights
        assert sent.of_fields[i] == pytest.approx(exact, rel=0.02)


def test_the_correlation_of_influences_by_its_definition():
    S = random_spins(150, 6, seed=8)
    J, b, tau = settings(6, 9)
    rows = _Rows(S, in_turn)
    before = rows.messages(J, b, tau, None, False).r
    rho = rows.messages(J, b, tau, before, True).rho
    z = S - S.mean(axis=0)
    f = z @ J + b
    influence = np.empty((6, 150, 6))
    for i in range(6):
        F = z.copy()
        F[:, i] = 1.0
        D = tau[i] + before[:, i]
        D[i] = 0.5
        A = F.T @ (curvature(f[:, [i]]) * F) / 2 + np.diag(D)
        influence[i] = slope(S, f)[:, [i]] * (F @ np.linalg.inv(A))
    for i, j in ((0, 1), (2, 5), (4, 3)):
        x, y = influence[i, :, j], influence[j, :, i]
        assert rho[i, j] == pytest.approx(x @ y / np.sqrt(x @ x * (y @ y)), abs=1e-4)


def test_without_sites_of_its_own_the_first_step_is_the_gaussian_prior():
    found = fit_sparse(X, 30 / 0.8, in_turn)
    gaussian = fit_couplings(stats(X), 0.8)
    assert found.first.J == pytest.approx(gaussian.matrix[UPPER], abs=2e-3)
    ratio = np.sqrt(found.first.variances) / gaussian.errors[UPPER]  # by two approximations
    assert np.median(ratio) == pytest.approx(1, abs=0.03) and np.abs(ratio - 1).max() < 0.3
    ratio = np.sqrt(found.first.of_fields) / gaussian.field_errors
    assert np.median(ratio) == pytest.approx(1, abs=0.05) and np.abs(ratio - 1).max() < 0.2


def test_it_ends_where_the_mode_has_the_means_of_the_mixture():
    found = fit_sparse(X, 30 / 0.8, in_turn)
    other = fit_sparse(X, 30 / 0.1, in_turn)
    assert found.change < 2e-3 and not found.is_dense and found.steps < 12
    # Where it began does not matter.
    assert other.size.mean == pytest.approx(found.size.mean, abs=0.01)


def test_the_short_way_for_many_spins(monkeypatch):
    rows = fit_sparse(X, 30 / 0.8, in_turn)
    monkeypatch.setattr(_sparse, "MOST_ROWS", 10)
    short = fit_sparse(X, 30 / 0.8, in_turn)
    assert np.corrcoef(short.size.mean, rows.size.mean)[0, 1] > 0.99
    assert np.median(short.size.q / rows.size.q) == pytest.approx(1, abs=0.2)


# What users see


def test_it_finds_the_network(machine):
    P = machine.edge_probabilities_[UPPER]
    assert (P[EDGES] > 0.5).mean() > 0.95 and (P[~EDGES] < 0.5).mean() > 0.99
    relative = {
        prior: np.linalg.norm(
            bs.BoltzmannMachine("pseudolikelihood", prior=prior).fit(X).couplings_ - MODEL.couplings
        )
        for prior in ("gaussian", "laplace", "sparse")
    }
    assert relative["sparse"] < 0.7 * min(relative["gaussian"], relative["laplace"])
    z = ((machine.couplings_ - MODEL.couplings)[UPPER] / machine.coupling_errors_[UPPER])[EDGES]
    assert 0.8 < z.std() < 1.25 and abs(z.mean()) < 3 / np.sqrt(EDGES.sum())
    of_fields = (machine.fields_ - MODEL.fields) / machine.field_errors_
    assert 0.7 < np.sqrt(np.mean(of_fields**2)) < 1.35
    assert machine.gamma_ == pytest.approx(30 * np.mean(MODEL.couplings[UPPER] ** 2), rel=0.2)


def test_edges_by_probability(machine):
    edges = machine.edges(fdr=0.05)
    P = np.array([edge.probability for edge in edges])
    assert (np.diff(P) <= 0).all() and np.mean(1 - P) <= 0.05
    assert {(e.i, e.j) for e in machine.edges(fdr=0.01)} <= {(e.i, e.j) for e in edges}
    for edge in edges[:5]:
        assert edge.J == machine.couplings_[edge.i, edge.j]
        assert edge.probability == machine.edge_probabilities_[edge.i, edge.j]
    frame = machine.to_frame(fdr=0.05)
    assert frame["edge"].sum() == len(edges) and len(frame) == len(EDGES)
    assert set(frame.columns[-2:]) == {"probability", "edge"}
    assert all((frame["J"] == 0) | (frame["probability"] >= 0))
    with pytest.raises(ValueError, match="fdr must be a finite number from 0 to 1"):
        machine.edges(fdr=5)


def test_false_sign_rates(machine):
    rates = machine.false_sign_rates_[UPPER]
    assert (rates >= 0).all() and (rates <= 1).all()
    assert rates[EDGES].mean() < 0.05 < 0.4 < rates[~EDGES].mean()
    assert (rates >= 1 - machine.edge_probabilities_[UPPER]).all()  # a coupling that is 0 has no sign
    false = (np.sign(machine.couplings_) != np.sign(MODEL.couplings))[UPPER].sum()
    assert abs(rates.sum() - false) < 4 * np.sqrt((rates * (1 - rates)).sum())
    gaussian = bs.BoltzmannMachine("pseudolikelihood").fit(X)
    assert gaussian.edge_probabilities_ is None
    one = gaussian.false_sign_rates_[0, 1]
    z = abs(gaussian.couplings_[0, 1]) / gaussian.coupling_errors_[0, 1]
    from scipy.stats import norm

    assert one == pytest.approx(norm.sf(z))
    wrong = np.sign(gaussian.couplings_) != np.sign(MODEL.couplings)
    there = np.array([(e.i, e.j) for e in gaussian.edges(fdr=0.05) if MODEL.couplings[e.i, e.j]])
    assert wrong[tuple(there.T)].mean() < 0.05


def test_a_spin_that_is_turned_turns_its_couplings(machine):
    turned = X.copy()
    turned[:, 4] *= -1
    other = sparse(turned)
    sign = np.ones(30)
    sign[4] = -1
    assert other.couplings_ == pytest.approx(machine.couplings_ * np.outer(sign, sign), abs=5e-3)
    assert other.edge_probabilities_ == pytest.approx(machine.edge_probabilities_, abs=0.02)


def test_dense_couplings_are_those_of_the_gaussian_prior():
    sim = bs.simulate(30, 300, J=0.6, H=0.2, sweeps=5, seed=3)
    with pytest.warns(bs.NotSparseWarning, match="Couplings are those of a Gaussian prior"):
        found = sparse(sim.spins)
    gaussian = bs.BoltzmannMachine("pseudolikelihood", random_state=0).fit(sim.spins)
    assert found.couplings_ == pytest.approx(gaussian.couplings_, abs=2e-3)
    assert found.fields_ == pytest.approx(gaussian.fields_, abs=5e-3)
    assert found.gamma_ == gaussian.gamma_
    right = [sim.couplings[e.i, e.j] * e.J > 0 for e in found.edges(fdr=0.05)]
    assert len(right) > 10 and np.mean(right) > 0.9


def test_few_couplings_among_many():
    """Three edges of 435: next to no variance, and yet they are found."""
    J = np.zeros((30, 30))
    for i, j in ((2, 9), (5, 20), (11, 28)):
        J[i, j] = J[j, i] = 0.6
    S = sampled(bs.IsingModel(J, 0.1), 1000)
    found = sparse(S)
    assert {(e.i, e.j) for e in found.edges()} == {(2, 9), (5, 20), (11, 28)}


def test_no_couplings_no_edges():
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", bs.BayesingWarning)
        found = sparse(np.random.default_rng(1).choice([-1, 1], (400, 20), p=[0.3, 0.7]))
    assert found.edges() == [] and found.edge_probabilities_.max() < 0.5


def test_a_strength_of_0_has_no_couplings_but_what_the_network_shows():
    """Next to 0 is not 0: couplings of independent spins are small then."""
    S = random_spins(300, 8, seed=2)
    none, few = (sparse_couplings(stats(S), Strength(gamma)) for gamma in (0.0, 1e-6))
    assert not none.matrix.any() and none.strength.gamma == 0
    assert few.matrix.any() and np.abs(few.matrix).max() < 0.05 and few.strength.gamma == pytest.approx(0.01)


@pytest.mark.parametrize("seed", range(1, 7))
def test_all_numbers_are_finite_where_there_are_no_couplings(seed):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", bs.BayesingWarning)
        found = sparse(bs.simulate(n_spins=6, n_samples=300, J=0.0, seed=seed).spins)
    for numbers in (found.couplings_, found.coupling_errors_, found.fields_, found.edge_probabilities_):
        assert np.isfinite(numbers).all()
    assert (found.coupling_errors_[np.triu_indices(6, 1)] > 0).all() and np.isfinite(
        found.false_sign_rates_
    ).all()


def test_rare_positive_blocks():
    """Items that are rarely active, in blocks: positive couplings are told from none, and none is negative."""
    J = np.kron(np.eye(4), np.full((5, 5), 0.35))
    np.fill_diagonal(J, 0)
    S = bs.sample(bs.IsingModel(J, -0.5), 4000, seed=5)
    assert (S > 0).mean() < 0.06
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", bs.NotSparseWarning)
        found = sparse(S)
    edges = found.edges(fdr=0.05)
    true = sum(J[e.i, e.j] > 0 for e in edges)
    assert true >= 0.9 * 40 and true >= 0.85 * len(edges)


def test_constant_spins_and_two_spins():
    with_constant = np.insert(X, 7, 1, axis=1)
    found = sparse(with_constant)
    kept = np.delete(np.arange(31), 7)
    assert (found.couplings_[7] == 0).all() and (found.edge_probabilities_[7] == 0).all()
    assert (np.delete(found.false_sign_rates_[7], 7) == 1).all()
    assert np.isfinite(found.field_errors_).all()
    alone = sparse(X)
    assert found.couplings_[np.ix_(kept, kept)] == pytest.approx(alone.couplings_, abs=5e-3)
    S = sampled(bs.IsingModel([[0, 0.7], [0.7, 0]], 0.2), 500)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", bs.BayesingWarning)
        two = sparse(S)
    assert two.couplings_[0, 1] == pytest.approx(0.7, abs=0.2)


def test_wrong_input():
    with pytest.raises(ValueError, match='gamma must be "auto" with prior="sparse"'):
        sparse(X, gamma=0.3)
    with pytest.raises(ValueError, match="prior must be one of gaussian, laplace, sparse: found 'cauchy'"):
        bs.BoltzmannMachine(prior="cauchy").fit(X)
    with pytest.raises(ValueError, match='prior must be "gaussian" with method="spectral": found "sparse"'):
        bs.BoltzmannMachine("spectral", prior="sparse").fit(X)
    with pytest.raises(ValueError, match="prior must be one of gaussian, laplace: found 'sparse'"):
        bs.EmpiricalBayes(prior="sparse").fit(X)
    batches = bs.SpinStatistics.of(X).without_rows()
    for method in ("pseudolikelihood", "likelihood"):
        with pytest.raises(ValueError, match="needs all rows at once"):
            sparse(batches, method)


def test_a_search_that_is_stopped_says_so(monkeypatch):
    monkeypatch.setattr(_sparse, "_MOST_STEPS", 1)
    with pytest.warns(bs.NotConvergedWarning, match="was stopped after 1 steps"):
        sparse(X)


# On the true likelihood


def test_the_likelihood_is_better_still(machine):
    found = sparse(X, "likelihood")
    assert found.certificate_.passed and found.check_.passed
    error = np.linalg.norm(found.couplings_ - MODEL.couplings)
    assert error < 1.02 * np.linalg.norm(machine.couplings_ - MODEL.couplings)
    P = found.edge_probabilities_[UPPER]
    assert (P[EDGES] > 0.5).mean() > 0.95 and (P[~EDGES] < 0.5).mean() > 0.99
    z = ((found.couplings_ - MODEL.couplings)[UPPER] / found.coupling_errors_[UPPER])[EDGES]
    assert 0.75 < z.std() < 1.25


@pytest.mark.filterwarnings("ignore::bayesing.MemoryWarning")  # votes in sequence
def test_the_likelihood_takes_over_where_samples_do_not_look_like_the_data():
    """The Senate: conditionals do not see how much each party weighs."""
    senate = bs.load_senate109(missing="drop")
    with pytest.warns(bs.CheckWarning):
        sparse(senate)
    found = sparse(senate, "auto")
    assert found.method_ == "likelihood" and found.check_.passed
    names = {frozenset((e.name_i, e.name_j)) for e in found.edges()[:4]}
    assert frozenset(("COLLINS (R ME)", "SNOWE (R ME)")) in names
    assert found.edges() and (np.abs([e.J for e in found.edges()]) > 0).all()


def test_dense_couplings_of_the_likelihood():
    sim = bs.simulate(20, 300, J=0.6, H=0.2, sweeps=5, seed=4)
    with pytest.warns(bs.NotSparseWarning):
        found = sparse(sim.spins, "likelihood")
    gaussian = bs.BoltzmannMachine("likelihood", random_state=0).fit(sim.spins)
    assert found.couplings_ == pytest.approx(gaussian.couplings_)
    assert found.penalty_ == gaussian.penalty_ and found.edge_probabilities_.max() > 0.9


def test_completed_rows_tell_what_the_cells_that_are_there_say():
    """Slopes of completed rows, q (b - J), are those of the cells that are there, l q (b_l - J)."""
    few = [X[:300, :8], X[300:600, :8]]
    fits = [fit_sparse(spins, 20.0, in_turn) for spins in few]
    rng = np.random.default_rng(0)
    J, left, d = rng.normal(0, 0.1, 28), rng.uniform(0.4, 0.9, 28), X[:600, :8].mean(axis=0)
    found = fit_completed(few, J, left, d, 20.0, in_turn)
    b, q = (np.mean([getattr(fit.size, name) for fit in fits], axis=0) for name in "bq")
    assert left * q * (found.size.b - J) == pytest.approx(q * (b - J))
    assert 1 / found.size.q == pytest.approx(1 / (left * q) + (1 - left) / (2 * q * left**2))
    assert (found.edges.b == found.size.b).all() and found.of_fields == pytest.approx(
        np.mean([fit.of_fields for fit in fits], axis=0) / left.mean()
    )
    couplings = np.zeros((8, 8))
    couplings[np.triu_indices(8, 1)] = found.size.mean
    couplings += couplings.T
    centred = [fit.b - couplings @ spins.mean(axis=0) for fit, spins in zip(fits, few, strict=True)]
    assert found.b - couplings @ d == pytest.approx(np.mean(centred, axis=0))
    whole = fit_completed(few[:1], J, np.ones(28), few[0].mean(axis=0), 20.0, in_turn)
    assert whole.size.b == pytest.approx(fits[0].size.b) and whole.size.q == pytest.approx(fits[0].size.q)
