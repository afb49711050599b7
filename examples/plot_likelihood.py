"""
A model that looks like its data
================================

Two fits of the same votes, by pseudo-likelihood and by the true likelihood. Both find the pairs of senators that go
together. Only one of them, when it is asked for new votes, gives votes like those of the Senate.
"""

# %%
# Two fits
# --------
#
# Three quarters of the roll calls are fitted, the rest is for later. The true likelihood takes seconds, because it
# samples the model again and again while it learns. At the end it draws fresh samples, and says how far they are from
# the data: a *certificate*.

import math

import matplotlib.pyplot as plt
import numpy as np

import bayesing as bs
from bayesing import plots

senate = bs.load_senate109()
order = np.random.default_rng(0).permutation(len(senate.spins))
train, test = np.split(senate.spins[order], [3 * len(order) // 4])

by_conditionals = bs.BoltzmannMachine("pseudolikelihood").fit(train)
by_likelihood = bs.BoltzmannMachine("likelihood", random_state=0).fit(train)
print(by_likelihood.certificate_.sentence)

# %%
# New votes
# ---------
#
# How many of the 84 voters say yea? The Senate mostly divides, and sometimes agrees. Samples by pseudo-likelihood do
# not: conditional probabilities, one senator given all others, know nothing of the weights of whole states.

bins = np.arange(0, 88, 4)
figure, axes = plt.subplots(1, 2, figsize=(10, 3.6), layout="constrained", sharey=True)
for ax, bm in zip(axes, (by_conditionals, by_likelihood), strict=True):
    yeas = (bm.sample(5000, seed=0) > 0).sum(axis=1)
    ax.hist((train > 0).sum(axis=1), bins, density=True, color="0.8", label="votes")
    ax.hist(yeas, bins, density=True, histtype="step", linewidth=1.8, label="samples of the model")
    ax.set(xlabel="number of yeas", title=bm.method_)
axes[0].set_ylabel("density")
axes[0].legend()
plt.show()

# %%
# Held-out votes
# --------------
#
# The log likelihood of votes that no fit has seen, in nats a roll call. Independent voters, each with her own rate,
# are the line to beat. The multi-information is what the votes share: how many bits fewer they take together.

rates = np.clip(train.mean(axis=0), -1 + 1 / len(train), 1 - 1 / len(train))
independent = float(np.log((1 + test * rates) / 2).sum(axis=1).mean())
print(f"independent voters {independent:.1f}")
for bm in (by_conditionals, by_likelihood):
    value, error = bm.log_likelihood(test, seed=0)
    print(f"{bm.method_} {value:.2f} ± {error:.2f}")
shared, error = by_likelihood.multi_information(n_chains=4000, seed=0)
print(f"multi-information {shared / math.log(2):.1f} ± {error / math.log(2):.1f} bits a roll call")

# %%
# The couplings
# -------------
#
# The matrix shows two blocks, the parties, which the fit did not know.

figure, ax = plt.subplots(figsize=(7.5, 6.5), layout="constrained")
named = bs.BoltzmannMachine("likelihood", random_state=0).fit(senate)
plots.coupling_matrix(ax, named)
plt.show()

party = np.array([name.split("(")[1][0] for name in senate.names])
upper = np.triu_indices(len(party), 1)
same = party[upper[0]] == party[upper[1]]
J = named.couplings_[upper]
print(f"mean coupling inside a party {J[same].mean():+.3f}, between parties {J[~same].mean():+.3f}")

# %%
# Intervals of anything
# ---------------------
#
# Draws from the posterior are whole sets of couplings and fields, each as probable as the data make it. Whatever is
# computed from couplings can be computed from each draw, and so has an interval.

draws = named.posterior(60, seed=0).couplings[:, *upper]
inside, between = draws[:, same].mean(axis=1), draws[:, ~same].mean(axis=1)
low, high = np.quantile(inside - between, [0.05, 0.95])
print(f"inside less between: {low:.3f} to {high:.3f} (90% interval)")

# %%
# The most probable matrix lies below this interval. It is no contradiction: the mode is more shrunken than a typical
# draw, as the most probable point of a ball in many dimensions is its centre, where hardly any of its volume is.
