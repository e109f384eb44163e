"""Finite difference weight generation (Fornberg 1988/1998)."""

from __future__ import annotations

import numpy as np


def fd_weights(order: int, nodes, x0: float = 0.0) -> np.ndarray:
    """Finite difference weights via Fornberg's algorithm.

    Parameters
    ----------
    order : derivative order ``m``.
    nodes : 1D array of grid node locations (need not be uniform or sorted).
    x0 : point at which the derivative is approximated.

    Returns
    -------
    weights : array with ``weights[i]`` the coefficient multiplying ``u(nodes[i])``.
    """
    nodes = np.asarray(nodes, dtype=float)
    n = nodes.size - 1
    if order > n:
        raise ValueError(
            f"Need at least {order + 1} nodes for a derivative of order {order}, got {nodes.size}."
        )
    C = np.zeros((n + 1, order + 1))
    C[0, 0] = 1.0
    c1 = 1.0
    c4 = nodes[0] - x0
    for i in range(1, n + 1):
        mn = min(i, order)
        c2 = 1.0
        c5 = c4
        c4 = nodes[i] - x0
        for j in range(i):
            c3 = nodes[i] - nodes[j]
            c2 *= c3
            if j == i - 1:
                for k in range(mn, 0, -1):
                    C[i, k] = c1 * (k * C[i - 1, k - 1] - c5 * C[i - 1, k]) / c2
                C[i, 0] = -c1 * c5 * C[i - 1, 0] / c2
            for k in range(mn, 0, -1):
                C[j, k] = (c4 * C[j, k] - k * C[j, k - 1]) / c3
            C[j, 0] = c4 * C[j, 0] / c3
        c1 = c2
    return C[:, order]


def central_stencil_half_width(derivative_order: int, accuracy_order: int) -> int:
    """Half-width of the minimal centered stencil for a given derivative and
    accuracy order (e.g. derivative_order=1, accuracy_order=2 -> 1, i.e. 3 points)."""
    if derivative_order < 1:
        raise ValueError("derivative_order must be >= 1")
    if accuracy_order < 1 or accuracy_order % 2 != 0:
        raise ValueError("accuracy_order must be a positive even integer for central stencils")
    return (derivative_order + accuracy_order - 1) // 2


def periodic_central_weights(derivative_order: int, accuracy_order: int) -> np.ndarray:
    """Weights for the minimal-width central FD stencil (unit grid spacing)
    approximating ``d^derivative_order / dx^derivative_order``.

    Index ``k`` of the returned array corresponds to grid offset ``k - half_width``.
    """
    half_width = central_stencil_half_width(derivative_order, accuracy_order)
    offsets = np.arange(-half_width, half_width + 1, dtype=float)
    return fd_weights(derivative_order, offsets, x0=0.0)
