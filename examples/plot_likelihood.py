"""
A model that looks like its data
================================

Two fits of the same votes, by pseudo-likelihood and by the true likelihood. Both find the pairs of senators that go
together. Only one of them, when it is asked for new votes, gives votes like those of the Senate, and the other one
says that it does not.
"""

# %%
# Two fits
# --------
#
# Three quarters of the roll calls are fitted, the rest is for later. Pseudo-likelihood is fast: it asks how one
# senator votes, given all others, and never how probable a roll call is as a whole. After the fit the model is
# checked. Samples of it are compared with the data, and where they differ too much there is a warning. In its words a
# spin is a vote, and an active one a yea.

import math
import warnings
from textwrap import fill

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd

import bayesing as bs
from bayesing import plots

senate = bs.load_senate109(missing="drop")
votes = pd.DataFrame(senate.spins, columns=senate.names)
order = np.random.default_rng(0).permutation(len(votes))
train, test = votes.iloc[order[:204]], votes.iloc[order[204:]]

with warnings.catch_warnings(record=True, action="always") as said:
    by_conditionals = bs.BoltzmannMachine("pseudolikelihood").fit(train)
for warning in said:
    print(fill(str(warning.message), 100))

# %%
# Who does not ask for a method gets the true likelihood here. It takes seconds, because it samples the model again
# and again while it learns. Its model passes the check.

by_likelihood = bs.BoltzmannMachine(random_state=0).fit(train)
print(fill(f"{by_likelihood.method_}: {by_likelihood.reason_}.", 100))
print(fill(by_likelihood.check_.sentence, 100))

# %%
# Its search has a *certificate* besides: whether it has arrived, by fresh samples that do not start from the data.

print(fill(by_likelihood.certificate_.sentence, 100))

# %%
# New votes
# ---------
#
# How many of the 84 voters say yea? The Senate mostly divides, and sometimes agrees on yea. Samples by
# pseudo-likelihood agree far too often, and nearly as often on nay, which the Senate hardly ever does: how one
# senator votes, given all others, does not tell how often all of them are on one side.

counts = {"votes": (train > 0).sum(axis=1)}
for bm in (by_conditionals, by_likelihood):
    counts[bm.method_] = (bm.sample(5000, seed=0) > 0).sum(axis=1)

bins = np.arange(0, 88, 4)
figure, axes = plt.subplots(1, 2, figsize=(10, 3.6), layout="constrained", sharey=True)
for ax, method in zip(axes, ("pseudolikelihood", "likelihood"), strict=True):
    ax.hist(counts["votes"], bins, density=True, color="0.8", label="votes")
    ax.hist(counts[method], bins, density=True, histtype="step", linewidth=1.8, label="samples of the model")
    ax.set(xlabel="number of yeas", title=method)
axes[0].set_ylabel("density")
axes[0].legend()
plt.show()

for name, yeas in counts.items():
    print(f"{name}: fewer than 12 yeas in {np.mean(yeas < 12):.1%}, 76 or more in {np.mean(yeas >= 76):.1%}")

# %%
# Held-out votes
# --------------
#
# The log likelihood of votes that no fit has seen, in nats a roll call. Independent voters, each with her own rate,
# are the line to beat. The multi-information is what the votes share: how many bits fewer they take together.

rates = np.clip(train.mean(), -1 + 1 / len(train), 1 - 1 / len(train))
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
# The matrix shows two blocks, the parties, which the fit did not know. Only Chafee (R) and Nelson of Nebraska (D) are
# placed with the other party, and Feingold (D) is at the border.

figure, ax = plt.subplots(figsize=(7.5, 6.5), layout="constrained")
plots.coupling_matrix(ax, by_likelihood)
plt.show()

party = np.array([name.split("(")[1][0] for name in senate.names])
upper = np.triu_indices(len(party), 1)
same = party[upper[0]] == party[upper[1]]
J = by_likelihood.couplings_[upper]
print(f"mean coupling inside a party {J[same].mean():+.3f}, between parties {J[~same].mean():+.3f}")

# %%
# Intervals of anything
# ---------------------
#
# Draws from the posterior are whole sets of couplings and fields, each as probable as the data make it. Whatever is
# computed from couplings can be computed from each draw, and so has an interval.

draws = by_likelihood.posterior(60, seed=0).couplings[:, *upper]
inside, between = draws[:, same].mean(axis=1), draws[:, ~same].mean(axis=1)
low, high = np.quantile(inside - between, [0.05, 0.95])
print(f"inside less between: {low:.3f} to {high:.3f} (90% interval)")

# %%
# The most probable matrix lies below this interval. It is no contradiction: the mode is more shrunken than a typical
# draw, as the most probable point of a ball in many dimensions is its centre, where hardly any of its volume is.
