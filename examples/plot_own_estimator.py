"""
An estimator of your own, without its bias
==========================================

You have an estimator of your own, or one from another package. It is biased, and has no error. Give it to
``interval``: data sets of the same size are simulated at several J, your estimator is applied to each of them, and
the J that would have produced your number comes back, with an interval. The estimator need not be good. It is enough
that it changes with J.
"""

# %%
# Here is a simple one. Correlations of weakly coupled spins are about as large as the couplings, so that their
# spread, times the square root of n, should be J. It is not: noise adds to every correlation, and so do paths by way
# of other spins.

import matplotlib.pyplot as plt
import numpy as np

import bayesing as bs


def spread_of_correlations(spins):
    correlations = np.corrcoef(spins.T)
    n = len(correlations)
    return np.sqrt(n) * correlations[np.triu_indices(n, 1)].std()


truth = 0.5
sim = bs.simulate(n_spins=40, n_samples=150, J=truth, H=0.1, sweeps=4, seed=1)
print(f"true J = {truth}, the estimator says {spread_of_correlations(sim.spins):.2f}")

# %%
# ``statistic`` is any function of an array of ±1. The result is the estimate without bias, and an interval that
# covers.

eb = bs.EmpiricalBayes().fit(sim.spins)
found = eb.interval(level=0.9, n_simulations=150, statistic=spread_of_correlations, seed=0)
print(
    f"calibrated: J = {found.J_corrected:.2f}, with 90% confidence from {found.J[0]:.2f} to {found.J[1]:.2f}"
)

# %%
# An estimator that is a class is used in the same way: ``statistic=lambda spins: MyEstimator().fit(spins).J_``.
# Several numbers at once are fine, too; together they tell more. Here is how the calibrated estimate does on other
# data, beside the one that it comes from. About one interval in ten may miss the truth: those of 84 of 90 such data
# sets hold it.

strengths = np.linspace(0.25, 0.65, 9)
plain, calibrated, low, high = [], [], [], []
for k, J in enumerate(strengths):
    other = bs.simulate(n_spins=40, n_samples=150, J=J, H=0.1, sweeps=4, seed=10 + k)
    eb = bs.EmpiricalBayes().fit(other.spins)
    interval = eb.interval(n_simulations=80, statistic=spread_of_correlations, seed=0)
    plain.append(spread_of_correlations(other.spins))
    calibrated.append(interval.J_corrected)
    low.append(interval.J[0])
    high.append(interval.J[1])

figure, ax = plt.subplots(figsize=(5, 4.2), layout="constrained")
ax.plot([0.2, 0.75], [0.2, 0.75], color="0.6", lw=1)
ax.plot(strengths, plain, "o", color="tab:orange", label="the estimator itself")
middle = np.array(calibrated)
errors = [middle - low, np.array(high) - middle]
ax.errorbar(strengths, middle, errors, fmt="s", color="tab:blue", capsize=3, label="calibrated, 90%")
ax.set(xlabel="true J", ylabel="estimate")
ax.legend()
plt.show()
