"""What a fit leaves behind: tables, networks and whole fits as files, and objects of other libraries.

A :class:`Fit` is what all of it is made from. :func:`write` chooses the format by the ending of the file:

- .csv and .parquet have a row for every pair, or the matrix. Names in a .csv are written so that a spreadsheet does
  not
  run them (:mod:`bayesing.texts`), and :func:`read_couplings` gives them back as they were;
- .graphml and .gexf have the edges that are there, for programs that draw networks;
- .json has nodes and all pairs, as networkx and D3 read them;
- .npz has the whole fit, and never a pickle. That of a restricted Boltzmann machine is written by
  :func:`save_restricted`.
"""

from __future__ import annotations

from ._draws import inference_data_of
from ._fit import Choices, Fit
from ._graph import networkx_of
from ._restricted import SavedRestricted, load_restricted, save_restricted
from ._saved import Saved, load, save
from ._table import read_couplings, write_fields
from ._write import ENDINGS, check_choices, check_size, write

__all__ = [
    "ENDINGS",
    "Choices",
    "Fit",
    "Saved",
    "SavedRestricted",
    "check_choices",
    "check_size",
    "inference_data_of",
    "load",
    "load_restricted",
    "networkx_of",
    "read_couplings",
    "save",
    "save_restricted",
    "write",
    "write_fields",
]
