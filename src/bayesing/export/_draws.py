"""Draws from the posterior as an InferenceData of ArviZ, for its plots and summaries."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from itertools import combinations
from typing import Any

import numpy as np

from .. import __version__
from ..couplings.likelihood import PosteriorDraws


def inference_data_of(draws: PosteriorDraws, names: Sequence[str], about: dict[str, Any]) -> Any:
    """Couplings ``J`` of the pairs i < j and fields ``h``, as one chain; in ArviZ 1.0 or later it is a DataTree."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", FutureWarning)  # on its own plans
            import arviz
    except ImportError as error:
        raise ImportError("to_inference_data needs ArviZ: pip install arviz.") from error
    i, j = np.triu_indices(len(names), 1)
    posterior = {"J": draws.couplings[None, :, i, j], "h": draws.fields[None]}
    coords = {"spin": list(names), "pair": [f"{a}, {b}" for a, b in combinations(names, 2)]}
    dims = {"J": ["pair"], "h": ["spin"]}
    if hasattr(arviz, "InferenceData"):
        attrs = {k: v for k, v in about.items() if v is not None} | {
            "inference_library": "bayesing",
            "inference_library_version": __version__,
        }
        return arviz.from_dict(posterior=posterior, coords=coords, dims=dims, attrs=attrs)
    return arviz.from_dict({"posterior": posterior}, coords=coords, dims=dims)
