"""Mutants that no test can kill, or none should: a line and why. The line is one of the mutant, or the original one.

Most mutants are equal to the original for every input, or differ in speed alone.
"""

SPEED = "how much is done at a time; the answer is the same"
LIMIT = "when a search ends; it has converged before, or goes on for nothing"
START = "where a search begins; the end is the same"

EXPLAINED = {
    "available": {
        "n_pairs, found = max(int(partners.sum()), 1), partners != 0": "numbers of partners are not negative",
        "_AT_A_TIME = 2**17  # pairs: one megabyte of float64": SPEED,
    },
    "moments": {
        "_CONVERTED = 2**17  # numbers converted at a time: one megabyte of float64, which stays in cache": SPEED,
    },
    "packed": {
        "_UNPACKED = 2**20  # spins unpacked at a time: one megabyte": SPEED,
        "_FOR_BLAS = 2**32  # multiplications that take BLAS less time than it takes to load Numba": SPEED,
        "if not _by_blas(len(self) * self.n / _WORD):": SPEED,
    },
    "spectrum": {
        "_STANDARDISED = 2**21  # numbers standardised at a time: 16 megabytes": SPEED,
        "step = max(1, _STANDARDISED * N)": SPEED,
        "if abs(step) <= 1e-14 * max( 2.0, abs(lam)) or (k > 0 and step < 0):": "both within rounding",
        "for k in range(200):": LIMIT,
    },
    "mixture": {
        "if value - last < _ENOUGH / 10 / len(b):": LIMIT,
        "centres, variances = np.array([0.0, size, -size]), np.array([0.0, 1.0, 1.0]) * (size / 4) ** 2": START,
        "clear = np.abs(b)[np.abs(b) * np.sqrt(q) > _CLEAR]": START,
    },
    "restricted": {
        "_AT_A_TIME = 2**20  # numbers of a block of states or rows: 8 megabytes": SPEED,
        "step = min(2**k, max(1, _AT_A_TIME // max(width, k, 1)))": SPEED,
    },
    "conditionals": {
        "return -np.logaddexp(0.0, -2 / s * f)": "s is +1 or -1",
        "end = np.abs(x).max(axis=1) + np.log(2 * N + 1) / 2 / 1": "a bracket that has the root as well",
        "end = np.abs(x).max(axis=1) + np.log(2 * N + 1) / 2 + 0": "a bracket that has the root as well",
        "end = np.abs(x).max(axis=1) + np.log(2 * N + 1) ** 2 + 1": "a wider bracket",
        "_Z = np.linspace(- 6.0, 7.0, 113)": "leaves out 1e-9 of a Gaussian variable",
        "low, high = np.where(gradient > 0, b, low), np.where(gradient != 0, high, b)": "a wider bracket",
        "b = b + gradient / (N * ((1 - t**2) @ _DZ) - 1)": "a step of a search that has the same end",
        "b = b + gradient / (N * ((1 - t**2) @ _DZ) + 2)": "a step of a search that has the same end",
        "sums: Integers, N: int | Integers, mean: Array | float = 0.0, variance: Array | float = -1.0": (
            "a variance below 0 counts as 0"
        ),
    },
}
