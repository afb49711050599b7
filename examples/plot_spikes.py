"""
Spike trains: which cells are coupled?
======================================

From a file of spike times to a network of cells. The recording is simulated, so that the truth is known. It has what
recordings have: cells that are mostly silent, few couplings, and a memory. Taken as independent samples, its bins
show many couplings that are not there. Taken as a series, they hardly do.
"""

# %%
# A recording
# -----------
#
# 20 cells in bins of 20 ms, for two minutes. About one pair in eight is coupled. Most of these cells excite each
# other, some inhibit each other. The model is written for cells that are 0 (silent) or 1 (fire): when a cell fires,
# the log odds that its neighbour fires change by omega, and tau are the log odds of a cell when all others are
# silent. For spins, which are -1 and +1, the same couplings are J = omega/4.
#
# In each bin 8 cells, chosen at random, are drawn anew, and the others go on with what they did. So a bin is much
# like the one before it. What is kept is a file with a line for each spike: the time in seconds and the number of the
# cell, as spike sorters write them.

import tempfile
import warnings
from pathlib import Path
from textwrap import fill

import matplotlib.pyplot as plt
import numpy as np

import bayesing as bs
from bayesing import plots

n_cells, n_bins, width = 20, 6000, 0.02
rng = np.random.default_rng(2)
coupled = np.triu(rng.random((n_cells, n_cells)) < 0.12, 1)
omega = coupled * rng.choice([1.2, 1.6, 2.0, -1.6], (n_cells, n_cells), p=[0.3, 0.3, 0.2, 0.2])
truth = bs.IsingModel.from_zero_one(omega + omega.T, rng.uniform(-3, -2, n_cells))


def recording(model, n_bins, n_changes, rng, start=100):
    """Whether each cell fires in each bin, after some bins in which the start is forgotten."""
    s = np.full(model.n_spins, -1.0)
    fires = np.empty((start + n_bins, model.n_spins), dtype=bool)
    for row in fires:
        for i in rng.integers(model.n_spins, size=n_changes):
            p = 1 / (1 + np.exp(-2 * (model.couplings[i] @ s + model.fields[i])))
            s[i] = 1 if rng.random() < p else -1
        row[:] = s > 0
    return fires[start:]


fires = recording(truth, n_bins, 8, rng)
bins, cells = np.nonzero(fires)
folder = tempfile.TemporaryDirectory()
path = Path(folder.name) / "spikes.csv"
lines = np.column_stack([width * (bins + rng.random(len(bins))), cells])
np.savetxt(path, lines, fmt=("%.4f", "%d"), delimiter=",", header="time,cell", comments="")
print("\n".join(path.read_text().splitlines()[:4]))
print(f"{len(lines)} spikes; {np.count_nonzero(omega)} of {n_cells * (n_cells - 1) // 2} pairs are coupled")

# %%
# From spike times to words
# -------------------------
#
# This is where your own work would begin: a file is read, and the spike times of each cell become one array.
# ``from_spike_trains`` counts in bins. A row is a bin, a column is a cell, and +1 means that the cell fired at least
# once. pynapple's TsGroup and neo's SpikeTrains can be given as they are.

times, numbers = np.loadtxt(path, delimiter=",", skiprows=1).T
folder.cleanup()
trains = {f"cell {i}": times[numbers == i] for i in range(n_cells)}
data = bs.from_spike_trains(trains, bin=width, t_stop=n_bins * width)
print(data)
for note in data.notes:
    print(note)

# %%
# The memory
# ----------
#
# How alike are two bins that are 1, 2, 3, ... bins apart? The dotted line is where the past counts as forgotten.

figure, ax = plt.subplots(layout="constrained")
plots.autocorrelation(ax, data.spins)
plt.show()

# %%
# Fitted as they are, such data give a warning.

with warnings.catch_warnings(record=True, action="always") as said:
    naive = bs.BoltzmannMachine(prior="sparse", random_state=0).fit(data)
for warning in said:
    print(fill(str(warning.message), 100))

# %%
# Two fits
# --------
#
# ``series=True`` is what the warning advises. All bins are still used, and they count as the number of independent
# bins that would say as much. The sparse prior gives each pair a probability that it is coupled. ``edges(fdr=0.05)``
# is the list of couplings of which 5% are expected to be false.

bm = bs.BoltzmannMachine(prior="sparse", series=True, random_state=0).fit(data)
print(f"{n_bins} bins are worth {bm.effective_samples_:.0f} independent ones")
for name, fit in (("as independent bins", naive), ("as a series", bm)):
    edges = fit.edges(fdr=0.05)
    true = sum(truth.couplings[e.i, e.j] != 0 for e in edges)
    print(f"{name}: {len(edges)} edges, {true} of them true and {len(edges) - true} false")

# %%
# Bins that repeat each other make chance look certain. As a series, nearly all of these false edges are gone, and no
# true one is lost. Here are the most probable edges, as omega, with what they are in truth.

for e in bm.edges(fdr=0.05, encoding="01")[:5]:
    print(f"{e.name_i}, {e.name_j}: {e.J:+.1f} ± {e.error:.1f}; in truth {omega[e.i, e.j]:+.1f}")

# %%
# The network of these edges. Red lines join cells that excite each other, blue lines cells that inhibit each other.

figure, ax = plt.subplots(figsize=(8, 6), layout="constrained")
plots.coupling_network(ax, bm, k=len(bm.edges(fdr=0.05)))
plt.show()

# %%
# All pairs, as J, with bars of one standard error. Pairs that are not coupled are at 0 on the horizontal axis. Above
# and below it the left picture has what is only chance.

figure, axes = plt.subplots(1, 2, figsize=(10, 4.8), sharex=True, sharey=True, layout="constrained")
upper = np.triu_indices(n_cells, 1)
for ax, name, fit in zip(axes, ("as independent bins", "as a series"), (naive, bm), strict=True):
    ax.axline((0, 0), slope=1, color="0.5", linewidth=1)
    ax.errorbar(
        truth.couplings[upper],
        fit.couplings_[upper],
        fit.coupling_errors_[upper],
        fmt=".",
        alpha=0.5,
        elinewidth=0.6,
    )
    ax.set_title(name)
    ax.set_xlabel("coupling $J_{ij}$ of the model")
axes[0].set_ylabel("estimate ± standard error")
plt.show()

# %%
# Does the model look like the data?
# ----------------------------------
#
# The fit saw how often each cell fires, and how it depends on the others. It was not asked how many cells fire
# together. Samples of the model can be counted, and compared with the recording and with independent cells of the
# same rates. First the check that every fit has, in words.

print(fill(bm.check_.sentence, 100))


def shares(spins):
    """The share of rows with 0, 1, 2, ... active cells."""
    return np.bincount((spins > 0).sum(axis=1), minlength=n_cells + 1) / len(spins)


independent = rng.random((20_000, n_cells)) < (data.spins > 0).mean(axis=0)
figure, ax = plt.subplots(layout="constrained")
plots.active_counts(
    ax,
    data=shares(data.spins),
    model=shares(bm.sample(20_000, seed=0)),
    independent=shares(independent),
    n_data=round(bm.effective_samples_),
)
ax.set_xlabel("number of cells that fire in a bin")
plt.show()

# %%
# Bins in which all cells are silent, and bins in which many fire, are far more frequent than they would be with
# independent cells. The model of pairs has them, too. With data of an experiment this is a test that a model of pairs
# may fail. Here it has to pass, because the data were made by such a model.
#
# A coupling is not a synapse. A cell that was not recorded, or a stimulus that all cells see, makes couplings, too.

# sphinx_gallery_thumbnail_number = 2
