"""
The evidence of the couplings' strength
=======================================

Spins of a Boltzmann machine with couplings of standard deviation J/sqrt(n) are simulated, and J is inferred
from them: first the whole curve of the evidence, then the estimate for several J.
"""

# %%
# One data set. The estimate lies a little above the maximum of the evidence, since it is corrected for what the
# evidence leaves out.

import matplotlib.pyplot as plt

import bayesing as bs
from bayesing import plots

sim = bs.simulate(n_spins=200, n_samples=80, J=0.6, H=0.0, seed=1)
eb = bs.EmpiricalBayes().fit(sim.spins)
print(f"J = {eb.J_:.3f} ± {eb.J_error_:.3f}, H = {eb.H_:+.3f} ± {eb.H_error_:.3f}, {eb.regime_}")

figure, ax = plt.subplots(layout="constrained")
plots.evidence_curve(ax, eb, J_true=0.6)
plt.show()

# %%
# Several J, three data sets each. From J = 1 on, in the spin glass, the estimates are approximate. (Slower annealing
# brings the samples closer to equilibrium there.)

grid = [0.0, 0.2, 0.4, 0.6, 0.8, 1.0, 1.2]
estimates = [
    [bs.EmpiricalBayes().fit(bs.simulate(200, 80, J=J, sweeps=4, seed=seed).spins).J_ for seed in range(3)]
    for J in grid
]

figure, ax = plt.subplots(layout="constrained")
plots.recovery(ax, grid, estimates)
plt.show()
