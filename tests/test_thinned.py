"""The mean of estimates by thinned data sets, with errors for all rows."""

import math
from dataclasses import replace

import numpy as np
import pytest

import bayesing as bs
from bayesing.couplings import Strength
from bayesing.replica import mean_coupling, mean_field
from bayesing.series import Memory
from bayesing.strength import Estimate
from bayesing.strength._method import Evidence
from bayesing.thinned import Thinned, _agreed, _mean_evidence, _with_samples

from samples import random_spins, stats, with_gaps

STARTS = (0, 2, 4)
RHO = np.array([1, 0.7, 0.5, 0.3, 0.2, 0.12, 0.05, 0.0])
MEMORY = Memory(9, RHO, RHO**2, (240,))
THINNED = Thinned(MEMORY, STARTS, tuple(stats(random_spins(40, 9, seed=k)) for k in range(3)))
FOUND = [
    Estimate(0.2, 0.10, 0.1, 0.05, 0.3, 0.20),
    Estimate(0.5, 0.20, 0.4, 0.10, 0.2, 0.10, bound=3.0, case="zero"),
    Estimate(0.2, 0.10, 0.1, 0.05, 0.4, 0.40, bound=2.0),
]


def test_means_of_estimates():
    found = THINNED.averaged(FOUND)
    assert (found.gamma, found.H, found.J0) == pytest.approx((0.3, 0.2, 0.3))
    assert found.bound == 3.0 and found.case == "interior" and found.evidence is None
    share = math.sqrt(MEMORY.variance_of_mean(0.3, STARTS))
    assert 0.3 < share < 0.9 and found.gamma_error == pytest.approx(share * math.sqrt(0.02))


def test_errors_of_fields_and_mean_couplings_are_those_of_the_effective_samples():
    found, m = THINNED.averaged(FOUND), THINNED.parts[0].moments
    one = math.sqrt(0.02)
    J0 = [mean_coupling(_with_samples(m, N), 0.3)[1] for N in (m.N, MEMORY.effective)]
    before = mean_field(m, 0.3, one, 0.3, J0[0])[1]
    after = mean_field(_with_samples(m, MEMORY.effective_for_means), 0.3, found.gamma_error, 0.3, J0[1])[1]
    assert J0[1] < 0.95 * J0[0] and after < before
    assert found.J0_error == pytest.approx(J0[1] / J0[0] * math.sqrt(0.07))
    assert found.H_error == pytest.approx(after / before * math.sqrt(0.005))
    without = THINNED.averaged([replace(each, J0=0.0, J0_error=0.0) for each in FOUND])
    after = mean_field(_with_samples(m, MEMORY.effective_for_means), 0.3, found.gamma_error)[1]
    assert without.J0_error == 0
    assert without.H_error == pytest.approx(after / mean_field(m, 0.3, one)[1] * math.sqrt(0.005))


def test_errors_do_not_grow_and_infinite_ones_stay():
    """Parts of more rows than all are worth, as no thinned data have them: errors are not larger than theirs."""
    many = replace(THINNED, parts=tuple(stats(random_spins(3000, 9, seed=k)) for k in range(3)))
    found = many.averaged(FOUND)
    assert (found.H_error, found.J0_error) == pytest.approx((math.sqrt(0.005), math.sqrt(0.07)))
    endless = THINNED.averaged([replace(each, gamma_error=math.inf) for each in FOUND])
    assert (endless.H_error, endless.J0_error) == pytest.approx((math.sqrt(0.005), math.sqrt(0.07)))
    assert endless.gamma_error == math.inf


def test_strengths_of_a_prior():
    found = THINNED.averaged_strength([Strength(0.2, 0.1), Strength(0.6, 0.3, 7.0), Strength(0.4, 0.1, 8.0)])
    share = math.sqrt(MEMORY.variance_of_mean(0.4, STARTS))
    assert found == pytest.approx((0.4, share * math.sqrt(0.11 / 3), 7.0))


def test_variances_for_simulated_ensembles():
    m = THINNED.parts[0].moments
    after = mean_field(_with_samples(m, MEMORY.effective_for_means), 0.3, 0.0)[1]
    of_couplings, of_means = THINNED.variances(0.3)
    assert of_couplings == MEMORY.variance_of_mean(0.3, STARTS)
    assert of_means == pytest.approx((after / mean_field(m, 0.3, 0.0)[1]) ** 2)


def test_moments_as_of_other_numbers_of_samples():
    m = stats(with_gaps(random_spins(40, 5), 0.2)).moments
    found = _with_samples(m, 100.0)
    assert found.N == 100 and found.N_pair == pytest.approx(2.5 * m.N_pair)
    assert found.counts == pytest.approx(2.5 * m.counts) and found.q == m.q
    assert _with_samples(stats(random_spins(40, 5)).moments, 100.0).N_pair == 100


def test_what_all_say():
    assert _agreed(["zero", "zero"]) == "zero" and _agreed(["zero", "infinite"]) == "interior"
    assert _agreed([None, None]) is None
    one, two = (Evidence("curve", lambda H, gamma, k=k: k * np.asarray(gamma)) for k in (1.0, 4.0))
    assert _mean_evidence([one, two]).at(0.0, [2.0, 4.0]) == pytest.approx([5, 10])
    assert _mean_evidence([one, None]) is None


def test_rows_that_do_not_remember_are_not_thinned():
    rows = np.random.default_rng(0).choice(np.array([-1, 1], np.int8), (200, 8))
    assert bs.SpinStatistics.of(rows).memory.lag == 1
    assert Thinned.of(bs.SpinStatistics.of(rows)) is None
    held = Thinned.of(bs.SpinStatistics.of(np.repeat(rows, 2, axis=0)))
    assert held.memory.lag == 2 and len(held.parts) == len(held.starts) == 2
