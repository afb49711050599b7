"""Mutants that no test can kill, or none should: a line and why. The line is one of the mutant, or the original one.

Most mutants are equal to the original for every input, or differ in speed alone.
"""

SPEED = "how much is done at a time; the answer is the same"

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
        "if abs(step) <= 1e-14 * max( 2.0, abs(lam)) or (k > 0 and step < 0):": "both within rounding",
    },
}
