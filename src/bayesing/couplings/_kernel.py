r"""The kernel 1/(1 + a x y) of positive numbers as a product of narrow matrices.

It is smooth in the logarithms u = ln x: given y, its nearest poles lie at :math:`u = -\ln(a y) \pm i \pi`. Lagrange
polynomials :math:`\ell_p` at r Chebyshev nodes :math:`z_p` of the range of u, of width W, interpolate it in both,

.. math::

    \frac{1}{1 + a x_k x_l} = \sum_{pq} \ell_p(x_k) \frac{1}{1 + a z_p z_q} \ell_q(x_l) + O(\rho^{-r}), \qquad
    \rho = b + \sqrt{1 + b^2}, \quad b = 2 \pi/W .

26 nodes are enough for numbers that differ by a factor of 50, however many there are.
"""

from __future__ import annotations

import math

import numpy as np

from ..types import Array

_ERROR = 1e-13  # of the kernel, relative to 1


def interpolation(x: Array) -> tuple[Array, Array]:
    """The nodes z (r), and the polynomials at the numbers x > 0, (len(x), r)."""
    u = np.log(x)
    middle, half = (u.max() + u.min()) / 2, (u.max() - u.min()) / 2
    if half == 0:
        return np.asarray(x[:1]), np.ones((len(x), 1))
    b = math.pi / half
    r = 2 + math.ceil(-math.log(_ERROR) / math.asinh(b))
    if r >= len(x):
        return x, np.eye(len(x))
    angles = math.pi * (np.arange(r) + 0.5) / r
    nodes, weights = np.cos(angles), np.where(np.arange(r) % 2, -1.0, 1.0) * np.sin(angles)
    away = ((u - middle) / half)[:, None] - nodes
    hit = away == 0
    away[hit] = 1.0
    terms = weights / away  # the barycentric form
    values = np.where(hit.any(axis=1)[:, None], hit, terms / terms.sum(axis=1, keepdims=True))
    return np.exp(middle + half * nodes), values
