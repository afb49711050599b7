"""
Symptoms: a network from a questionnaire
========================================

From a file of answers to a network of symptoms. The questionnaire is simulated, so that the true network is known.
It has what questionnaires have: columns that are not items, groups of symptoms that go together, and missing answers.
The words are those of network analysis in psychology. What a physicist calls a spin is an item here, a coupling is an
edge weight, and a field is a threshold.
"""

# %%
# A file of answers
# -----------------
#
# 900 persons answer 15 questions with yes or no. The symptoms form three groups: mood, body and anxiety. Inside a
# group many pairs of symptoms are connected. Only three edges, the bridges, lead from one group to another. Edge
# weights and thresholds are those of variables that are 0 (no) and 1 (yes), as in IsingFit and bgms. A weight of 1
# means: if one symptom is there, the log odds of the other one grow by 1.

import csv
import tempfile
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np

import bayesing as bs
from bayesing import plots

groups = {
    "mood": ["sad", "no joy", "guilt", "hopeless", "crying"],
    "body": ["insomnia", "tired", "appetite", "slow", "pain"],
    "anxiety": ["worry", "tense", "panic", "restless", "avoids"],
}
items = [item for group in groups.values() for item in group]
group_of = {item: name for name, group in groups.items() for item in group}
bridges = [("sad", "tired"), ("insomnia", "worry"), ("hopeless", "avoids")]

rng = np.random.default_rng(5)
weights = np.zeros((15, 15))
for i in range(len(items)):
    for j in range(i):
        same = group_of[items[i]] == group_of[items[j]]
        if (same and rng.random() < 0.75) or (items[j], items[i]) in bridges:
            weights[i, j] = weights[j, i] = rng.uniform(0.8, 1.5)
truth = bs.IsingModel.from_zero_one(weights, rng.uniform(-2.8, -2.0, 15))
answers = bs.sample(truth, 900, seed=1) > 0
missing = rng.random(answers.shape) < 0.06

folder = tempfile.TemporaryDirectory()
path = Path(folder.name) / "symptoms.csv"
with path.open("w", newline="", encoding="utf-8") as file:
    table = csv.writer(file)
    table.writerow(["person", "age", *items])
    for k, (row, gaps) in enumerate(zip(answers, missing, strict=True)):
        words = ["" if gap else "yes" if yes else "no" for yes, gap in zip(row, gaps, strict=True)]
        table.writerow([f"P{k:03}", rng.integers(18, 80), *words])

print("\n".join(path.read_text(encoding="utf-8").splitlines()[:4]))

# %%
# Read it
# -------
#
# This is where your own work would begin. A file of SPSS (.sav) or R (.rds) is read in the same way. ``person`` and
# ``age`` are not items, so they are left out. Empty cells are missing answers, and they stay missing.

data = bs.read_spins(path, drop_columns="person, age")
print(data)
for note in data.notes:
    print(note)
complete = np.all(data.spins != 0, axis=1).mean()
print(f"{complete:.0%} of the persons answered every question")

# %%
# Fit the network
# ---------------
#
# To keep only complete persons would throw most of the answers away. The fit uses every answer that was given. With
# ``prior="sparse"`` some edges may be missing from the network. How many, and how strong the others are, is learned
# from the answers. There is no penalty to choose.

net = bs.BoltzmannMachine(prior="sparse", random_state=0).fit(data)
print(f"method: {net.method_}")
print(net.check_.sentence)

# %%
# The sentence above compares samples of the fitted network with the answers. A right network differs from the data by
# about 1 standard error.
#
# Which edges are there?
# ----------------------
#
# Every pair has a probability that the edge exists. ``edges(fdr=0.05)`` is the longest list of edges of which at most
# 5% are expected to be false. The most probable edges come first. ``encoding="01"`` gives the weights as IsingFit and
# bgms do.

edges = net.edges(fdr=0.05, encoding="01")
true = sum(weights[e.i, e.j] != 0 for e in edges)
print(f"{len(edges)} edges found, {true} of them true; the true network has {np.count_nonzero(weights) // 2}")
print(f"expected to be false: {sum(1 - e.probability for e in edges):.1f}\n")
for e in edges[:6]:
    print(
        f"{e.name_i:9} {e.name_j:9} weight {e.J:.1f} ± {e.error:.1f} (truth {weights[e.i, e.j]:.1f}), "
        f"probability {e.probability:.3f}"
    )

# %%
# Bridges between groups are of special interest, because a change in one group may spread along them. Look at their
# probabilities. A list is made longer until 5% of it are expected to be false, so the last edge of a list may well be
# that false one.

for e in edges:
    if group_of[e.name_i] != group_of[e.name_j]:
        print(f"{e.name_i} and {e.name_j}: probability {e.probability:.3f}")

# %%
# The network
# -----------
#
# Thicker lines are stronger edges. The groups stand apart, although neither the fit nor the picture knows of them.
# The thinnest line is the false edge.

figure, ax = plt.subplots(figsize=(8, 6), layout="constrained")
plots.coupling_network(ax, net, k=len(edges))
ax.set_title(f"{len(edges)} edges at a false discovery rate of 5%")
plt.show()

# %%
# Thresholds
# ----------
#
# A threshold is the log odds of a symptom in a person who has none of the others. Bars are one standard error.

thresholds = net.fields(encoding="01")
true_thresholds = truth.to_zero_one()[1]
inside = sum(abs(t.field - true_thresholds[t.i]) < 2 * t.error for t in thresholds)
print(f"{inside} of {len(thresholds)} true thresholds are within two standard errors of the estimate")
for t in thresholds[:3]:
    print(f"{t.name:9} {t.field:+.2f} ± {t.error:.2f} (truth {true_thresholds[t.i]:+.2f})")

# %%
# Which symptoms are central?
# ---------------------------
#
# Expected influence is the sum of the edge weights of a symptom. Predictability is the share of its variation that
# the other symptoms explain. Both have intervals. Where two intervals overlap widely, the order of the two symptoms
# is not known.

central = net.centrality(seed=0)
order = np.argsort(central.influence)
figure, axes = plt.subplots(1, 2, figsize=(9, 4.6), sharey=True, layout="constrained")
for ax, name, scale in ((axes[0], "influence", 4), (axes[1], "predictability", 1)):  # weights of 0/1 are 4 J
    value, ends = scale * getattr(central, name), scale * getattr(central, f"{name}_interval")
    bars = np.abs(ends - value[:, None]).T
    ax.errorbar(value[order], np.arange(15), xerr=bars[:, order], fmt="o", markersize=4)
    ax.set_xlabel(f"{'expected ' * (name == 'influence')}{name}, 90% interval")
axes[0].plot(weights.sum(axis=0)[order], np.arange(15), "x", color="0.5", label="truth")
axes[0].set_yticks(np.arange(15), [items[i] for i in order])
axes[0].legend()
plt.show()

# %%
# Take it with you
# ----------------
#
# The edges as a table for a spreadsheet or for R, and everything in one HTML page, from Python or from the command
# line.
#
# .. code-block:: console
#
#    $ bayesing couplings symptoms.csv --drop-columns person,age --prior sparse --encoding 01 -o edges.csv
#    $ bayesing report symptoms.csv --drop-columns person,age --prior sparse -o report.html

net.export(path.with_name("edges.csv"), encoding="01")
print("\n".join(path.with_name("edges.csv").read_text(encoding="utf-8").splitlines()[:4]))
folder.cleanup()

# %%
# What the network means, and what not
# ------------------------------------
#
# * **An edge is not a cause.** It says that two symptoms go together among persons who are alike in all other items.
#   A cause that was not asked for makes edges, too (``n_hidden="auto"`` looks for one).
# * **Answers were missing by chance here.** If sad persons skip the question about sadness, no method that looks at
#   the answers alone can know it.
# * **The network is one of differences between persons.** It need not be the network of one person over time.
