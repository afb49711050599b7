"""
Votes of the Senate
===================

Couplings between the members of the 109th United States Senate, from 272 roll calls: who votes with whom, beyond what
their parties and everybody else explain.
"""

# %%
# A Laplace prior makes most couplings exactly 0. The order of the rows comes from the couplings alone: the two blocks
# are the two parties.

import matplotlib.pyplot as plt
import pandas as pd

import bayesing as bs
from bayesing import plots

votes = bs.load_senate109()
X = pd.DataFrame(votes.spins, columns=votes.names)
bm = bs.BoltzmannMachine(prior="laplace").fit(X)

figure, ax = plt.subplots(figsize=(5.2, 5.2), layout="constrained")
plots.coupling_matrix(ax, bm)
plt.show()

# %%
# The strongest couplings: mostly members from the same state.

figure, ax = plt.subplots(figsize=(6.4, 5.2), layout="constrained")
plots.coupling_network(ax, bm, k=40)
plt.show()

# %%
# Two eigenvalues of the correlation matrix lie far beyond what independent votes would have.

figure, ax = plt.subplots(figsize=(4.6, 4.2), layout="constrained")
plots.correlation_spectrum(ax, X)
plt.show()
