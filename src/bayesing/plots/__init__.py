"""Pictures. Every function takes an Axes, draws into it and returns it, in the colours of the style in use.

They are drawn for light and for dark backgrounds, for readers who do not tell red from green, and to be read at the
width of a telephone.
"""

from ._compared import compared_networks
from ._couplings import coupling_matrix, order_of
from ._evidence import evidence_curve, evidence_surface, recovery
from ._hidden import hidden_evidence, hidden_loadings
from ._network import coupling_network
from ._phases import phase_diagram
from ._prediction import predicted_correlations
from ._spectrum import correlation_spectrum
from ._time import autocorrelation, means_over_time

__all__ = [
    "autocorrelation",
    "compared_networks",
    "correlation_spectrum",
    "coupling_matrix",
    "coupling_network",
    "evidence_curve",
    "evidence_surface",
    "hidden_evidence",
    "hidden_loadings",
    "means_over_time",
    "order_of",
    "phase_diagram",
    "predicted_correlations",
    "recovery",
]
