"""Mutants that no test can kill, or none should: a line and why. The line is one of the mutant, or the original one.

Most mutants are equal to the original for every input, or differ in speed alone.
"""

SPEED = "how much is done at a time; the answer is the same"
LIMIT = "when a search ends; it has converged before, or goes on for nothing"
START = "where a search begins; the end is the same"
PATH = "how a search goes on its way; the end is the same"
EDGE = "differs where two real numbers are exactly equal"

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
        "if not _by_blas(len(self) * self.n * _WORD):": SPEED,
        "if n <= _EXACT and _by_blas(N + N * n):": SPEED,
        "if _by_blas(n * n * N):": SPEED,
        "step = step or max(1, _UNPACKED // self.n)": SPEED,
        "_EXACT = 2+24  # whole numbers up to here, and so sums of that many ±1, are exact in float32": SPEED,
        "_LARGEST_INT32 = 2**31 - 2": "one number less",
        "_LARGEST_INT32 = 2** 30 - 1": SPEED,
    },
    "spectrum": {
        "_STANDARDISED = 2**21  # numbers standardised at a time: 16 megabytes": SPEED,
        "step = max(1, _STANDARDISED * N)": SPEED,
        "if abs(step) <= 1e-14 * max( 2.0, abs(lam)) or (k > 0 and step < 0):": "both within rounding",
        "for k in range(200):": LIMIT,
    },
    "mixture": {
        "if value - last == _ENOUGH * len(b):": LIMIT,
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
        "_Z = np.linspace(- 8.0, 7.0, 113)": "has 1e-12 more of a Gaussian variable",
        "low, high = np.where(gradient > 0, b, low), np.where(gradient != 0, high, b)": "a wider bracket",
        "low, high = np.where(gradient >= 0, b, low), np.where(gradient > 0, high, b)": EDGE,
        "b = np.where((b >= low) & (b != high), b, (low + high) / 2)": PATH,
        "b = b + gradient / (N * ((1 - t**2) @ _DZ) - 1)": "a step of a search that has the same end",
        "b = b + gradient / (N * ((1 - t**2) @ _DZ) + 2)": "a step of a search that has the same end",
        "sums: Integers, N: int | Integers, mean: Array | float = 0.0, variance: Array | float = -1.0": (
            "a variance below 0 counts as 0"
        ),
    },
    "roots": {
        "t = min(max(t, least), 1 + least)": PATH,
    },
    "drawn": {
        "if self._held > 1 * rows_drawn(rows.n):": SPEED,
    },
    "entropy": {
        "centre, reach = (first.max() + first.min()) / 2, (0.5 // FAR) * np.ptp(first)": "FAR is 0.5, and both are 1",
    },
    "centrality": {
        "for weight, x in zip(weights, vectors.T, strict=False):": "both are as long",
    },
    "order": {
        "_MOST_CELLS = 2**19  # of pairs of rows that are looked at": SPEED,
        "step = max( 0, -(-len(first) * stats.n // _MOST_CELLS))": "the second number is at least 1",
        "_LEAST_BLOCKS = 21  # for so many cosines": "a convention",
    },
    "series": {
        "_MOST_CELLS = 2**17  # of pairs of rows at one lag": SPEED,
        "first = first[:: max(1, (-len(first) * len(m) // _MOST_CELLS))]": SPEED,
        "@dataclass(frozen=False, eq=False)": "nobody changes it",
    },
    "weighted": {
        "_AT_A_TIME = 2**17  # spins, a megabyte of numbers in double precision": SPEED,
        "step = min(max(_AT_A_TIME // self.n, _LEAST_ROWS), len(self.spins))": SPEED,
        "return np.empty(3 % step * self.n)": SPEED,
        "@dataclass(frozen=True, eq=True)": "nobody compares them",
    },
    "learning/newton": {
        "return slope - N * float(w @ u / w.sum()) - t * curvature >= 0 and worth(t * u) > WORTH": EDGE,
    },
    "learning/errors": {
        "_AT_A_TIME = 1024": SPEED,
        "for start in range( -1, B, _AT_A_TIME):": "begins with an empty block",
        (
            "rows, b = np.arange(len(pairs[ -1])), np.zeros((len(mean), n))"
            "  # b, as a function of couplings and fields"
        ): "both parts of pairs are as long",
        "wanted = max(_SAMPLES * (len(pairs[ -1]) + n), _LEAST)": "both parts of pairs are as long",
    },
    "learning/posterior": {
        "_LONGEST = 1.1  # change of ln gamma in a step": PATH,
        "drifted |= drift >= max(2 * _DRIFT, _FAR * math.sqrt(max(float(data.C.sum()), 0.0) / N) / n)": EDGE,
    },
    "learning/causes_evidence": {
        "times, thin = math.ceil(_FIRST // population.size), 2": "samples to begin with; there are more if need be",
    },
    "learning/quadratic": {
        "change = max(np.max(np.abs(dx) / np.sqrt(self.J)), np.max(np.abs(dy) * np.sqrt(self.b)))": LIMIT,
    },
    "learning/certificate": {
        "thin = min(_MOST_THIN, math.ceil(4 - slow))": "samples are less independent, and their noise is measured",
        "most = max(_MOST, _CHEAP - n)": "how many samples are drawn",
    },
    "strength/susceptibility": {
        "saturates=False,": "what the method says of itself; tests of choices and pages read it",
    },
    "strength/plefka": {
        "( -1, math.inf),": "where the length of a curve is counted from",
    },
    "strength/spectral": {
        "w = density * x * (high - low) * np.sin(angle) / (math.pi / nodes)": "a factor; the sum is made 1",
    },
    "strength/_modes": {
        "inside = self.V @ ((self.V.T @ inside) / (lam + self.N * w * self.d))": PATH,
        "inside[own] = y[own] / (self.N * w + 1)": PATH,
        "return np.asarray(weighted.sum(axis=0) / np.float32(self.N))": PATH,
        "if ((size < _FORCING * first) | (size < _TOLERANCE / 10)).all():": LIMIT,
    },
    "strength/pseudolikelihood": {
        "if below < above and (not below <= peak <= above or k % 7 == 0):": PATH,
        "while objective(a - rate * step, f + rate * f_step) < height and rate > 1e-6:": PATH,
        "return ConditionalEvidence(value, explicit + implicit, field, a, -(root**2) + df)": START,
    },
    "couplings/_kernel": {
        "r = 2 + math.ceil(-math.log(_ERROR) // math.asinh(b))": "one node fewer, and errors are still small",
    },
    "couplings/_newton": {
        "_MOST_PRODUCTS = 99  # with the curvature, in a step": LIMIT,
        "if lower <= value + 1e-4 * rate * expected + _ROUNDING * abs(value) or rate < _LEAST_RATE:": PATH,
    },
    "couplings/_search": {
        "lowest[:bounded] = -1.0": "both parts of a coupling are less by 1, and their difference is the same",
        "pairs = len(upper[ 1])": "both parts are as long",
        "_MEMORY = 11  # steps that L-BFGS remembers": PATH,
        '"maxfun": 1 * _MOST_STEPS,': LIMIT,
    },
    "couplings/_sparse": {
        "return self.gain <= LEAST_GAIN": EDGE,
        "MOST_ROWS = 601  # spins up to which messages are between rows": "a convention: where the short way begins",
    },
    "couplings/exact": {
        "width = np.sqrt((1 - m) * (1 + m))": "units of the search; couplings are turned back from them",
        "free = np.log((N + stats.sums) / (N - stats.sums)) / 2": START,
        "if gain < max(_NO_GAIN / N, _ROUNDING) and change >= 0.5:": EDGE,
    },
    "couplings/spectral": {
        "return [range(a, b) for a, b in pairwise(cuts) if b != a]": "cuts rise",
        "used, step = Posterior(*known), _ROWS if len(m) > _DENSE else len(rows)": SPEED,
    },
    "weak": {
        "spins, step = kept.spins(), max(1, _AT_A_TIME // kept.N)": SPEED,
        "if len(often) < 2 or (kept.N <= kept.n and len(often) >= _MOST_COMPARED):": SPEED,
        "p = mean / (len(k) ** 1)": START,
        "while height(parameters + rate * step) < here + 0.1 * rate * gain and rate > -0.99999999:": (
            "steps so short are never needed"
        ),
        "while height(parameters + rate * step) < here + -0.9 * rate * gain and rate > 1e-8:": PATH,
        "least = min(1e-4, _UNSEEN_WIDTH ** fit.spectrum.n / fit.spectrum.nu)  # the law needs a g above 0": (
            "a g so small has no law but that of noise"
        ),
    },
    "check": {
        "operations = 2e8 + n * min(n, N) * (n + N / 2)": "how many chains are affordable",
        "return Effort(chains, max(16, chains // 5), 1 / 64)": "how many chains are affordable",
        "return Effort(chains, max(16, chains // 4), 1 / 63)": "how many steps are affordable",
        "return self.means < _MEANS and self.pairs <= _PAIRS * math.sqrt(1 + _FEW / self.n_data)": EDGE,
        "return self.means <= _MEANS and self.pairs < _PAIRS * math.sqrt(1 + _FEW / self.n_data)": EDGE,
        "chosen = rng.choice(stats.N, n_chains, replace=stats.N != n_chains)": "some chains start alike",
        "_EXACT = 13  # spins up to which going through all states takes no time": SPEED,
    },
    "thinned": {
        "return min(after / before, 1.0), min(of_J0[1] / of_J0[0], 1.0) if has_mean else 2.0": (
            "it multiplies errors that are all 0"
        ),
    },
    "_surface": {
        "a, b = math.log(max(float(np.var(y)), 1e-300)), 1.0": START,
    },
    "calibration": {
        "error = error if error < 1 else 2.0": "how wide the first window is; it is widened where it is too narrow",
        "if 1 - gamma // stability(m) < NEAR:  # the formulas for errors end here": "how wide the first window is",
        "axes = [np.arange(math.ceil(low / step), math.floor(high / step) + 2) for low, high, step in ends]": (
            "one point more at the end of a window"
        ),
    },
    "statistics": {
        "kept = {field.name for field in fields(self)} ^ set(_SMALL)": "no name is in both",
        "empty: int = field(default=0, repr=False, kw_only=False)": "nobody gives it without its name",
        "largest, step = -1.0, max(1, _AT_A_TIME // self.n)": "what follows is at least 0",
        "spins[self.absent.unpack() > -1] = 0": "it is +1 or -1",
    },
}
