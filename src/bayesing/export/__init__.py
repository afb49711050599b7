"""What a fit leaves behind: tables, networks and whole fits as files, and objects of other libraries.

A :class:`Fit` is what all of it is made from. :func:`write` chooses the format by the ending of the file:

- .csv and .parquet have a row for every pair, or the matrix. Names in a .csv are written so that a spreadsheet does
  not
  run them (:mod:`bayesing.texts`), and :func:`read_couplings` gives them back as they were;
- .graphml and .gexf have the edges that are there, for programs that draw networks;
- .json has nodes and all pairs, as networkx and D3 read them;
- .npz has the whole fit, and never a pickle.
"""

from __future__ import annotations

from ._draws import inference_data_of
from ._fit import Choices, Fit
from ._graph import networkx_of
from ._saved import Saved, load, save
from ._table import read_couplings, write_fields
from ._write import ENDINGS, check_choices, check_size, write

__all__ = [
    "ENDINGS",
    "Choices",
    "Fit",
    "Saved",
    "check_choices",
    "check_size",
    "inference_data_of",
    "load",
    "networkx_of",
    "read_couplings",
    "save",
    "write",
    "write_fields",
]
