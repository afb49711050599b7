"""Chains of a known model, as rows in the order of time."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from typing import Any

import numba
import numpy as np

import bayesing as bs

from front import Settings

BEFORE = 4000  # rows that are forgotten


@numba.njit(cache=True)
def _rows(J, h, N, drawn, before, drift, seed):  # type: ignore[no-untyped-def]
    """Rows between which so many spins, chosen at random, are ``drawn`` anew; fields rise by 2 ``drift`` in all."""
    np.random.seed(seed)  # noqa: NPY002
    n = len(h)
    s = np.where(np.random.random(n) < 0.5, 1.0, -1.0)  # noqa: NPY002
    f = J @ s
    rows = np.empty((N, n), np.int8)
    for t in range(-before, N):
        now = drift * (2 * max(t, 0) / N - 1)
        for _ in range(drawn):
            i = np.random.randint(n)  # noqa: NPY002
            new = 1.0 if np.random.random() < 1 / (1 + np.exp(-2 * (f[i] + h[i] + now))) else -1.0  # noqa: NPY002
            if new != s[i]:
                for j in range(n):
                    f[j] += J[j, i] * (new - s[i])
                s[i] = new
        if t >= 0:
            for j in range(n):
                rows[t, j] = np.int8(s[j])
    return rows


def chain(model: bs.IsingModel, N: int, share: float, seed: int, drift: float = 0.0) -> np.ndarray:
    """Rows between which a share of the spins, or more than all of them, are drawn anew."""
    drawn = max(1, round(share * model.n_spins))
    return _rows(model.couplings, model.fields, N, drawn, BEFORE, drift, seed)


def model(n: int, J: float, H: float, spread: float, seed: int) -> bs.IsingModel:
    """Couplings of variance J^2/n, and fields that differ by ``spread`` unless H is 0."""
    rng = np.random.default_rng([91, n, round(100 * J), round(100 * H), seed])
    upper = np.triu(rng.normal(0, J / np.sqrt(n), (n, n)), 1)
    fields = np.zeros(n) if H == 0 else rng.normal(H, spread, n)
    return bs.IsingModel(upper + upper.T, fields)


def cells_of(s: Settings) -> Iterator[tuple[Any, ...]]:
    """n, N, J, H and the share of the spins that are drawn anew."""
    return itertools.product(s.n, s.N, s.J, s.H, s.shares)
