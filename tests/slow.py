"""Slow twins: every moment straight from its definition, with loops."""

from itertools import combinations, permutations, product

import numpy as np
from scipy.optimize import minimize
from scipy.special import logsumexp


def pair_averages(X):
    N, n = X.shape
    d = np.zeros((n, n))
    for i in range(n):
        for j in range(n):
            for a in range(N):
                d[i, j] += int(X[a, i]) * int(X[a, j]) / N
    return d


def M(X):
    N, n = X.shape
    return sum(int(X[a, i]) for a in range(N) for i in range(n)) / (n * N)


def C(X, k):
    n = X.shape[1]
    d = pair_averages(X)
    return 2 / (n * (n - 1)) * sum(d[i, j] ** k for i, j in combinations(range(n), 2))


def Omega(X):
    n = X.shape[1]
    d, C1 = pair_averages(X), C(X, 1)
    omega = [sum(d[i, j] for j in range(n) if j != i) / (n - 1) - C1 for i in range(n)]
    return sum(value**2 for value in omega) / n


def q(X):
    """m^2 averaged over distinct samples a, b."""
    N, n = X.shape
    X = X.astype(int)
    terms = [X[a, i] * X[b, i] for i in range(n) for a, b in permutations(range(N), 2)]
    return sum(terms) / len(terms)


def r(X):
    """(1 - m^2)^2 = 1 - 2 m^2 + m^4 averaged over distinct samples."""
    N, n = X.shape
    X = X.astype(int)
    terms = [
        1 - 2 * X[a, i] * X[b, i] + X[a, i] * X[b, i] * X[c, i] * X[d, i]
        for i in range(n)
        for a, b, c, d in permutations(range(N), 4)
    ]
    return sum(terms) / len(terms)


def chi_sg(X):
    """(1/n) sum_ij c_ij^2, c_ij^2 = <ss>^2 - 2 <ss><s><s> + <s>^2<s>^2, averaged over distinct samples."""
    N, n = X.shape
    X = X.astype(int)
    total = 0
    tuples = list(permutations(range(N), 4))
    for i in range(n):
        for j in range(n):
            x, y = X[:, i], X[:, j]
            total += sum(
                x[a] * y[a] * x[b] * y[b] - 2 * x[a] * y[a] * x[b] * y[c] + x[a] * x[b] * y[c] * y[d]
                for a, b, c, d in tuples
            )
    return total / (n * len(tuples))


def chi_lin(X):
    """(1/n) sum_ij c_ij, c_ij = <ss> - <s><s>, averaged over distinct samples."""
    N, n = X.shape
    X = X.astype(int)
    pairs = list(permutations(range(N), 2))
    total = sum(X[a, i] * X[a, j] - X[a, i] * X[b, j] for i in range(n) for j in range(n) for a, b in pairs)
    return total / (n * len(pairs))


# Moments of data with missing cells (NaN): each spin and each pair from the rows that have it


def common_rows(X, i, j):
    return [(int(row[i]), int(row[j])) for row in X if not np.isnan(row[i]) and not np.isnan(row[j])]


def available_means(X):
    """d_ij of the pairs that were ever observed together."""
    n = X.shape[1]
    rows = {(i, j): common_rows(X, i, j) for i, j in permutations(range(n), 2)}
    return {pair: sum(x * y for x, y in found) / len(found) for pair, found in rows.items() if found}


def available_paper(X):
    """M, C1, C2 and Omega."""
    n = X.shape[1]
    singles = [column[~np.isnan(column)] for column in X.T]
    M = np.mean([sum(map(int, cells)) / len(cells) for cells in singles if len(cells)])
    d = available_means(X)
    C1, C2 = (np.mean([value**k for value in d.values()]) for k in (1, 2))
    omega = []
    for i in range(n):
        mine = [value for (a, _), value in d.items() if a == i]
        if mine:
            omega.append(np.mean(mine) - C1)
    return M, C1, C2, np.mean(np.square(omega))


def available_unbiased(X):
    """q, r, chi_sg and chi_lin: averages over distinct rows of each pair, over pairs with four rows."""
    n = X.shape[1]
    squares, plain = {}, {}
    q = []
    for i in range(n):
        for j in range(n):
            rows = common_rows(X, i, j)
            if len(rows) < 4:
                continue
            terms = [
                (
                    a[0] * a[1] * b[0] * b[1] - 2 * a[0] * a[1] * b[0] * c[1] + a[0] * b[0] * c[1] * d[1],
                    a[0] * a[1] - a[0] * b[1],
                    a[0] * b[1],
                )
                for a, b, c, d in permutations(rows, 4)
            ]
            squares[i, j], plain[i, j], product = np.mean(terms, axis=0)
            if i == j:
                q.append(product)
    r = np.mean([value for (i, j), value in squares.items() if i == j])
    sums = []
    for values in (squares, plain):
        on = [value for (i, j), value in values.items() if i == j]
        off = [value for (i, j), value in values.items() if i != j]
        sums.append(np.mean(on) + (n - 1) * np.mean(off))
    return np.mean(q), r, *sums


# Gibbs sampling, one spin of one chain at a time


class Xoshiro:
    """xoshiro128++ of one chain (Blackman and Vigna's reference in Python's integers), as numbers in [-1, 1)."""

    def __init__(self, state):
        self.state = [int(word) for word in state]

    def word(self):
        s = self.state
        result = (self.rotate((s[0] + s[3]) % 2**32, 7) + s[0]) % 2**32
        t = (s[1] << 9) % 2**32
        s[2] ^= s[0]
        s[3] ^= s[1]
        s[1] ^= s[2]
        s[0] ^= s[3]
        s[2] ^= t
        s[3] = self.rotate(s[3], 11)
        return result

    @staticmethod
    def rotate(x, k):
        return ((x << k) | (x >> (32 - k))) % 2**32

    def uniform(self):
        return (self.word() >> 8) / 2**23 - 1


def gibbs(model, state, betas, base=None):
    """Spins of one chain after sequential sweeps at each of ``betas``, and what beta multiplies before each sweep."""
    n, rng = model.n_spins, Xoshiro(state)
    base = np.zeros(n) if base is None else base
    fields = model.fields - base
    S = np.array([-1 if rng.uniform() < -np.tanh(base[i]) else 1 for i in range(n)])
    exponents = []
    for beta in betas:
        exponents.append(fields @ S + sum(model.couplings[i, :i] @ S[:i] * S[i] for i in range(n)))
        for i in range(n):
            field = fields[i] + model.couplings[i] @ S
            S[i] = 1 if rng.uniform() < np.tanh(base[i] + beta * field) else -1
    return S, exponents


# The true posterior of couplings and fields, by enumeration


def features(S):
    """s_i s_j, i < j, and then s_i, of every row."""
    S = np.asarray(S, float)
    i, j = np.triu_indices(S.shape[1], 1)
    return np.hstack([S[:, i] * S[:, j], S])


def pack(J, h):
    """Couplings i < j and then fields, as one vector."""
    return np.concatenate([J[np.triu_indices(len(h), 1)], h])


def unpack(theta, n):
    J = np.zeros((n, n))
    J[np.triu_indices(n, 1)] = theta[:-n]
    return J + J.T, theta[-n:]


class Posterior:
    """N samples with given averages of the features; J_ij ~ N(0, gamma/n) or the Laplace prior.

    h_i + sum_j J_ij d_j ~ N(b0_i - tanh b0_i, 1) with the means d, where tanh b0_i is d_i with one more sample of 0.
    """

    def __init__(self, averages, N, n, gamma, laplace=False):
        self.averages, self.N, self.n = averages, N, n
        self.states = features(list(product([-1, 1], repeat=n)))
        self.xi = np.sqrt(2 * n / gamma) if laplace else 0.0
        lam = 0.0 if laplace else n / gamma
        d = averages[-n:]
        m = N * d / (N + 1)
        b = np.array([J @ d + h for J, h in (unpack(unit, n) for unit in np.eye(len(averages)))])
        self.prior_mode = np.append(np.zeros(n * (n - 1) // 2), np.arctanh(m) - m)
        self.precision = np.diag(np.repeat([lam, 0.0], [n * (n - 1) // 2, n])) + b @ b.T

    @classmethod
    def of(cls, X, gamma, laplace=False):
        return cls(features(X).mean(axis=0), *np.shape(X), gamma, laplace)

    def probabilities(self, theta):
        exponents = self.states @ theta
        return np.exp(exponents - logsumexp(exponents))

    def smooth(self, theta):
        """The logarithm of the posterior without what of the prior has an edge, up to a constant."""
        likelihood = self.N * (theta @ self.averages - logsumexp(theta @ self.states.T, axis=-1))
        off = theta - self.prior_mode
        return likelihood - np.sum(off @ self.precision * off, axis=-1) / 2

    def slope(self, theta):
        likelihood = self.N * (self.averages - self.probabilities(theta) @ self.states)
        return likelihood - self.precision @ (theta - self.prior_mode)

    def curvature(self, theta):
        p = self.probabilities(theta)
        mean = p @ self.states
        return self.N * ((self.states.T * p) @ self.states - np.outer(mean, mean)) + self.precision

    def deviations(self, theta):
        """Standard deviations of the posterior, if it were a Gaussian with the curvature at theta."""
        return np.sqrt(np.diag(np.linalg.inv(self.curvature(theta))))

    def mode(self):
        """Couplings are differences of two numbers, none below 0, so that also the Laplace prior has slopes."""
        pairs, size = len(self.averages) - self.n, len(self.averages)

        def cost(x):
            theta = x[:size] - np.append(x[size:], np.zeros(self.n))
            slope = self.slope(theta)
            edge = self.xi * (x[:pairs].sum() + x[size:].sum())
            return edge - self.smooth(theta), np.concatenate(
                [self.xi - slope[:pairs], -slope[pairs:], self.xi + slope[:pairs]]
            )

        least = 0 if self.xi else None
        bounds = [(least, None)] * pairs + [(None, None)] * self.n + [(0, None if self.xi else 0)] * pairs
        options = {"maxiter": 10_000, "maxfun": 100_000, "ftol": 1e-15, "gtol": 1e-7}
        found = minimize(cost, np.zeros(size + pairs), jac=True, bounds=bounds, options=options)
        return found.x[:size] - np.append(found.x[size:], np.zeros(self.n))


class ObservedPosterior(Posterior):
    """The same for rows with missing cells, 0 in ``X``: what is missing is summed over, row by row."""

    def __init__(self, X, gamma):
        X = np.asarray(X)
        n, counts = X.shape[1], (X != 0).sum(axis=0)
        pairs = n * (n - 1) // 2
        super().__init__(np.append(np.zeros(pairs), X.sum(axis=0) / counts), len(X), n, gamma)
        m = X.sum(axis=0) / (counts + 1)
        self.prior_mode = np.append(np.zeros(pairs), np.arctanh(m) - m)
        spins = np.array(list(product([-1, 1], repeat=n)))
        fits = ((X[:, None] == 0) | (X[:, None] == spins)).all(axis=2)  # rows and states
        self.forbidden = np.where(fits, 0.0, -np.inf)

    def smooth(self, theta):
        """For one theta."""
        shown = logsumexp(self.states @ theta + self.forbidden, axis=1).sum()
        off = theta - self.prior_mode
        return shown - self.N * logsumexp(self.states @ theta) - off @ self.precision @ off / 2

    def _given(self, theta):
        """Probabilities of all states given what each row shows."""
        exponents = self.states @ theta + self.forbidden
        return np.exp(exponents - logsumexp(exponents, axis=1, keepdims=True))

    def slope(self, theta):
        shown = (self._given(theta) @ self.states).sum(axis=0)
        model = self.N * self.probabilities(theta) @ self.states
        return shown - model - self.precision @ (theta - self.prior_mode)

    def curvature(self, theta):
        p = self._given(theta)
        means = p @ self.states
        lost = (self.states.T * p.sum(axis=0)) @ self.states - means.T @ means
        return super().curvature(theta) - lost


class JointPosterior:
    """Of spins of which the last k are hidden; couplings i < j that may be there, and then fields, as one vector.

    h_i + sum_j J_ij d_j has the prior N(beta_i, 1) of a spin that is seen, and N(0, 10) of a hidden one.
    """

    def __init__(self, X, d, lam):
        self.X, self.d, self.n, self.k = X, np.asarray(d, float), len(d), len(d) - X.shape[1]
        seen = X.shape[1]
        self.pairs = [(i, j) for i, j in combinations(range(self.n), 2) if i < seen]
        self.lam = np.array([lam[i, j] for i, j in self.pairs])
        self.states = np.array(list(product([-1.0, 1.0], repeat=self.n)))
        counts = (X != 0).sum(axis=0)
        m = X.sum(axis=0) / (counts + 1)
        self.middle = np.append(np.arctanh(m) - m, np.zeros(self.k))
        self.precision = np.append(np.ones(seen), np.full(self.k, 0.1))
        self.fits = np.array([((row == 0) | (self.states[:, :seen] == row)).all(axis=1) for row in X])

    def pack(self, J, h):
        return np.append([J[pair] for pair in self.pairs], h)

    def unpack(self, theta):
        J = np.zeros((self.n, self.n))
        for (i, j), value in zip(self.pairs, theta, strict=False):
            J[i, j] = J[j, i] = value
        return J, theta[-self.n :]

    def exponents(self, theta):
        J, h = self.unpack(theta)
        return self.states @ h + np.einsum("si,ij,sj->s", self.states, J, self.states) / 2

    def log_likelihood(self, theta):
        found = self.exponents(theta)
        shown = logsumexp(np.where(self.fits, found, -np.inf), axis=1)
        return shown.sum() - len(self.X) * logsumexp(found)

    def log_posterior(self, theta):
        J, h = self.unpack(theta)
        off = h + J @ self.d - self.middle
        return self.log_likelihood(theta) - self.lam @ theta[: -self.n] ** 2 / 2 - self.precision @ off**2 / 2

    def fisher(self, theta):
        """N times that of the spins that are seen: covariances of the features given these, over all states."""
        p = np.exp(self.exponents(theta) - logsumexp(self.exponents(theta)))
        s = self.states
        features = np.column_stack([s[:, i] * s[:, j] for i, j in self.pairs] + [s])
        total, means = 0.0, p @ features
        seen = s[:, : self.n - self.k]
        for state in np.unique(seen, axis=0):
            some = (seen == state).all(axis=1)
            mean = p[some] @ features[some] / p[some].sum()
            total = total + p[some].sum() * np.outer(mean - means, mean - means)
        return len(self.X) * total

    def lost(self, theta):
        """Covariances of the features, with the means of hidden units, given what each row shows."""
        J, h = self.unpack(theta)
        s, seen = self.states.copy(), self.n - self.k
        s[:, seen:] = np.tanh(s @ J[:, seen:] + h[seen:])  # hidden units are not coupled to each other
        features = np.column_stack([s[:, i] * s[:, j] for i, j in self.pairs] + [s])
        weights = np.where(self.fits, np.exp(self.exponents(theta)), 0.0)
        p = weights / weights.sum(axis=1, keepdims=True)
        means = p @ features
        return (features.T * p.sum(axis=0)) @ features - means.T @ means

    def prior(self):
        """The precision matrix of the prior."""
        b = np.array(
            [h + J @ self.d for J, h in (self.unpack(unit) for unit in np.eye(len(self.pairs) + self.n))]
        )
        return np.diag(np.append(self.lam, np.zeros(self.n))) + (b * self.precision) @ b.T

    def mode(self, start):
        options = {"gtol": 1e-4, "maxiter": 2000}
        return minimize(lambda x: -self.log_posterior(x), start, options=options, method="BFGS").x


# Rows with missing cells under a model, state by state


def states_of(row):
    """All states that a row may be, cells that are missing (0) being anything."""
    return np.array(list(product(*[[-1, 1] if cell == 0 else [int(cell)] for cell in row])), float)


def exponents(model, states):
    """h_i s_i and J_ij s_i s_j added up, pair by pair."""
    n = model.n_spins
    pairs = [(i, j, model.couplings[i, j]) for i, j in combinations(range(n), 2)]
    return np.array([model.fields @ s + sum(J * s[i] * s[j] for i, j, J in pairs) for s in states])


def given(model, row):
    """These states, their probabilities, and the logarithm of the sum of their weights."""
    states = states_of(row)
    found = exponents(model, states)
    total = logsumexp(found)
    return states, np.exp(found - total), total


def moments_given(model, X):
    """Sums over rows of the averages of s_i and s_i s_j, given what each row shows."""
    found = [given(model, row)[:2] for row in X]
    means = sum(p @ states for states, p in found)
    return means, sum((states.T * p) @ states for states, p in found)
