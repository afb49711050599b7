"""
Where do the data lie?
======================

Spins are simulated in the paramagnet and in the spin glass, and placed in the phase diagram of the model of
Sherrington and Kirkpatrick. The eigenvalues of their correlations tell the two apart as well.
"""

# %%
# Two data sets, with their standard errors. The axes are compressed, so that the whole plane is in the picture.

import matplotlib.pyplot as plt

import bayesing as bs
from bayesing import plots

weak = bs.simulate(n_spins=300, n_samples=120, J=0.8, H=0.0, seed=0)
strong = bs.simulate(n_spins=100, n_samples=300, J=1.4, H=0.1, sweeps=30, seed=0)
estimates = [bs.EmpiricalBayes().fit(sim.spins) for sim in (weak, strong)]

figure, axes = plt.subplots(1, 2, figsize=(9.2, 4.2), layout="constrained")
for ax, eb in zip(axes, estimates, strict=True):
    plots.phase_diagram(ax, eb)
    print(f"J = {eb.J_:.2f} ± {eb.J_error_:.2f}: {eb.regime_}")
plt.show()

# %%
# Eigenvalues of the correlation matrix, against those of independent spins. In the paramagnet the spectrum that the
# inferred J predicts is known (dashed); nothing was fitted to the histogram.

figure, axes = plt.subplots(1, 2, figsize=(9.2, 4.2), layout="constrained")
for ax, sim, eb in zip(axes, (weak, strong), estimates, strict=True):
    plots.correlation_spectrum(ax, sim.spins, gamma=eb.gamma_)
plt.show()

# %%
# The paper's evidence is a function of J and of H. Lines are 1, 2, 4, ... standard deviations from its maximum.

figure, ax = plt.subplots(figsize=(4.6, 4.2), layout="constrained")
plots.evidence_surface(ax, bs.EmpiricalBayes(method="plefka").fit(weak.spins))
plt.show()
