"""
Does the model predict?
=======================

A Boltzmann machine is fitted to some samples, and its correlations are compared with those of others, which it has
not seen: of pairs, and of triplets, which no coupling was fitted to.
"""

# %%
# Half of the samples for the fit. Up to 15 spins the correlations of the model are exact; of more they come from
# samples. The true model has a chi^2 of 1, up to its error; the fitted one, whose couplings have errors, has more.

import matplotlib.pyplot as plt

import bayesing as bs
from bayesing import plots
from bayesing.prediction import predict

sim = bs.simulate(n_spins=30, n_samples=2000, J=0.9, H=0.3, sweeps=4, seed=0)
bm = bs.BoltzmannMachine(method="pseudolikelihood").fit(sim.spins[:1000])
prediction = predict(bm.model_, sim.spins[1000:])
truth = predict(bs.IsingModel(sim.couplings, sim.fields), sim.spins[1000:])
for name, found in (("fitted", prediction), ("true", truth)):
    print(
        f"{name} model: chi^2 of pairs {found.pairs.chi2:.2f} ± {found.pairs.chi2_error:.2f}, of triplets "
        f"{found.triplets.chi2:.2f} ± {found.triplets.chi2_error:.2f}"
    )

figure, axes = plt.subplots(1, 2, figsize=(9.2, 4.2), layout="constrained")
for ax, order in zip(axes, (2, 3), strict=True):
    plots.predicted_correlations(ax, prediction, order)
plt.show()
