"""
Votes of the United States Senate
=================================

Senators vote yea or nay, hundreds of times. Who is coupled to whom? From a file of votes to a network of senators.
The data are real and come with bayesing: 272 roll calls of 84 voters of the 109th Senate (2005 and 2006). A row is a
roll call, a column a senator. The parties are in the names, and no fit looks at them.
"""

# %%
# A file of votes
# ---------------
#
# The file has a line for each roll call: its number, and a yes or no from every senator.

import tempfile
import warnings
from pathlib import Path
from textwrap import fill

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd

import bayesing as bs
from bayesing import plots
from bayesing.prediction import predict

shipped = bs.load_senate109(missing="drop")
table = pd.DataFrame(np.where(shipped.spins > 0, "yes", "no"), columns=shipped.names)
folder = tempfile.TemporaryDirectory()
path = Path(folder.name) / "votes.csv"
table.to_csv(path, index_label="roll call")
print(table.iloc[:3, :4])

# %%
# This is where your own work would begin. Yes and no are recognised, and the column of numbers is left out. ``votes``
# is the same as a data frame, +1 for yes and -1 for no. Data frames are welcome wherever data are asked for, and the
# names of their columns are kept.

senate = bs.read_spins(path, drop_columns="roll call")
folder.cleanup()
print(senate)
votes = pd.DataFrame(senate.spins, columns=senate.names)
party = np.array([name.split("(")[1][0] for name in senate.names])
print(votes.shape, {letter: int(np.sum(party == letter)) for letter in "DR"})

# %%
# How strong are the couplings?
# -----------------------------
#
# The question has one number J for an answer if couplings are many, weak, and as often positive as negative. A fit
# looks whether data are of this kind. These are not: it gives a number, and a warning not to believe it. It has also
# noticed that roll calls which follow each other are alike, so that they are not independent.

with warnings.catch_warnings(record=True, action="always") as said:
    eb = bs.EmpiricalBayes(random_state=0).fit(votes)
print(f"J = {eb.J_:.1f} by {eb.method_}: {eb.regime_}\n")
for warning in said:
    print(fill(str(warning.message), 100))

# %%
# Two pictures show what is meant. The first has the eigenvalues of the correlation matrix. Those of independent
# voters would lie under the curve. Two of them stand far out and hold most of what varies. In the direction of the
# first the parties vote against each other, in that of the second all vote alike.

figure, ax = plt.subplots(layout="constrained")
plots.correlation_spectrum(ax, votes)
plt.show()

eigenvalues, vectors = np.linalg.eigh(np.corrcoef(senate.spins.T))
for k in (-1, -2):
    signs = {letter: float(np.mean(np.sign(vectors[party == letter, k]))) for letter in "DR"}
    print(
        f"{eigenvalues[k] / len(party):.0%} of the variance; mean sign D {signs['D']:+.2f}, R {signs['R']:+.2f}"
    )

# %%
# The second has the number of yeas. If senators decided alone, each with her own share of yeas, it would be near 49
# in every roll call. It is anything from 0 to all 84: senators go together.

yeas = (senate.spins > 0).sum(axis=1)
by_chance = np.random.default_rng(0).random((10_000, len(party))) < (senate.spins > 0).mean(axis=0)
bins = np.arange(0, 88, 4)
figure, ax = plt.subplots(figsize=(6.4, 3.6), layout="constrained")
ax.hist(yeas, bins, density=True, color="0.8", label="votes")
ax.hist(by_chance.sum(axis=1), bins, density=True, histtype="step", linewidth=1.8, label="each alone")
ax.set(xlabel="number of yeas", ylabel="density")
ax.legend()
plt.show()

# %%
# Which couplings?
# ----------------
#
# This question has an answer whether or not couplings are weak. The sparse prior allows for couplings that are 0: how
# many, and how strong the others are, is inferred from the same votes, not chosen. ``series=True`` says that rows are
# in the order of time: 272 roll calls count for as many independent ones as they are worth. The fit says which method
# it took and why. At the end the model is checked: do samples of it look like the votes? In the answer a spin is a
# vote, an active one a yea, and conditionals are the probabilities of one vote given all others, which faster methods
# look at.

bm = bs.BoltzmannMachine(prior="sparse", series=True, random_state=0).fit(votes)
print(fill(f"{bm.method_}: {bm.reason_}.", 100))
print(f"{len(votes)} roll calls are worth {bm.effective_samples_:.0f} independent ones.")
print(fill(bm.check_.sentence, 100))

# %%
# They do: about 1 standard error, or less, is what a model has that is right. Every coupling has a probability to be
# there at all. If a twentieth of those that we name may be false, this many can be named. The most probable ones are
# those of the two senators of one state.

edges = bm.edges(fdr=0.05)
false = sum(1 - c.probability for c in edges)
upper = np.triu_indices(len(senate.names), 1)
J = bm.couplings_[upper]
print(f"{len(edges)} of {len(J)} couplings are there; {false:.1f} of these are expected to be false")
for c in edges[:5]:
    print(f"{c.J:+.2f} ± {c.error:.2f}, probability {c.probability:.3f}  {c.name_i}, {c.name_j}")

# %%
# The matrix puts voters side by side that belong together, by a clustering of the couplings alone. The parties come
# apart, the Democrats first, but for five Republicans who are placed with them: Chafee, Collins, DeWine, Snowe and
# Specter.

figure, ax = plt.subplots(figsize=(7.5, 6.5), layout="constrained")
plots.coupling_matrix(ax, bm)
plt.show()

# %%
# The strongest forty as a network. All of them are positive, and only one joins senators of different parties.

figure, ax = plt.subplots(figsize=(9, 7), layout="constrained")
plots.coupling_network(ax, bm, k=40)
plt.show()

# %%
# Inside a party couplings are positive on average. Between the parties weak ones of either sign cancel. So there is
# no one strength of all couplings: this is what the warning was about.

same = party[upper[0]] == party[upper[1]]
print(f"mean coupling inside a party {J[same].mean():+.3f}, between parties {J[~same].mean():+.3f}")
print(f"edges between parties: {sum(party[c.i] != party[c.j] for c in edges)} of {len(edges)}")

# %%
# Does the model predict votes it has not seen?
# ---------------------------------------------
#
# Three quarters of the roll calls, chosen at random, fit a model; the others test it. The score is the mean logarithm
# of the probability of a vote given all others. A coin would have -0.69, and who knows only each senator's share of
# yeas is hardly better. The model is far better.

rows = np.random.default_rng(0).permutation(len(votes))
train, test = votes.iloc[rows[:204]], votes.iloc[rows[204:]]
model = bs.BoltzmannMachine(prior="sparse", random_state=0).fit(train)
alone = np.log((1 + test * train.mean().clip(-0.99, 0.99)) / 2).to_numpy().mean()
print(f"shares of yeas {alone:.2f}, model {model.score(test):.2f}")

# %%
# A harder question is whether samples of the model look like the unseen votes as a whole. They do, as far as 68 roll
# calls can tell: correlations of two senators follow the diagonal, and so do those of three, to which no coupling was
# fitted. In brackets is what a perfect model would have, which for the correlation is less than 1 by the noise in so
# few roll calls; the numbers before them are within about an error or two of it. The check can be made with unseen
# votes as well.

prediction = predict(model.model_, test, n_samples=1000, seed=0)
figure, axes = plt.subplots(1, 2, figsize=(10, 5), layout="constrained")
for order, ax in zip((2, 3), axes, strict=True):
    plots.predicted_correlations(ax, prediction, order)
plt.show()

print(fill(model.check(test).sentence, 100))

# %%
# What the numbers mean, and what not
# -----------------------------------
#
# * **Rows are taken to be independent samples.** Roll calls are not quite: amendments to one bill follow each
#   other. The deviations of a vote from the mean are correlated with those of the next one, and hardly with
#   those of the one after it. So there is somewhat less information than 272 independent rows would have, and
#   errors are somewhat too small.

deviations = senate.spins - senate.spins.mean(axis=0)
alike = deviations @ deviations.T / np.sum(deviations**2, axis=1).mean()
print(
    f"correlation with the next roll call {np.diag(alike, 1).mean():.2f}, the second {np.diag(alike, 2).mean():.2f}"
)
print(f"{len(np.unique(senate.spins, axis=0))} of {len(votes)} roll calls are different")

# %%
# * **A coupling is not an influence.** That two senators of a state vote alike beyond what all others tell
#   need not mean that they talk to each other. Voters that are left out, and the questions themselves, couple
#   those that are in.
# * **J is no property of the Senate** here: the fit says so itself.
# * **Missing votes are left out** before the data are made: see :func:`bayesing.load_senate109`.

# The third picture is also that of the landing page.
# sphinx_gallery_thumbnail_number = 3
