"""Group-weighted, accelerated randomly pivoted Cholesky.

Rows are drawn with probability proportional to what the landmarks so far miss of them, w_i (k(x_i, x_i) − ‖φ(x_i)‖²)
(Chen, Epperly, Tropp, Webber 2023), several at a time with rejection (Epperly, Tropp, Webber 2024: the same law as one
at a time). The weight w_i = 1/(rows of i's group) gives a group of 0.5% the same say as the other 99.5%.
"""

from typing import Any

import numpy as np

from ..backend import empty_like, identity, like, namespace, solve_triangular, to_numpy
from ..kernels import Kernel
from .map import FeatureMap, KernelBlock

Array = Any
ROUNDING = 4096  # times machine epsilon: a residual below this share of k(x, x) is the factor's rounding error
BLOCK = 96  # rows proposed at a time: large enough for matrix products, small enough to waste few


def pivoted_cholesky(
    kernel: Kernel,
    X: Array,
    row_weight: np.ndarray,
    *,
    limit: int,
    enough: Any,
    rng: np.random.RandomState,
) -> tuple[FeatureMap, Array, np.ndarray]:
    """Choose landmarks until there are ``limit``, nothing is left, or ``enough(count, residual)``.

    Parameters
    ----------
    kernel : Kernel
        Positive semi-definite.
    X : array of shape (n, p)
    row_weight : ndarray of shape (n,)
        1 / (weight of the row's group), times the row's own weight.
    limit : int
    enough : callable
        Number of landmarks and residual diagonal to whether to stop.
    rng : RandomState

    Returns
    -------
    map : FeatureMap
    training : array of shape (n, m)
    residual : ndarray of shape (n,)
        k(x_i, x_i) − ‖φ(x_i)‖².
    """
    xp = namespace(X)
    n = X.shape[0]
    diagonal = to_numpy(kernel.diag(X)).astype(np.float64)
    residual, floor = diagonal.copy(), ROUNDING * float(xp.finfo(X.dtype).eps) * diagonal
    # One row per feature: a finished part is contiguous, and rows never reached cost no memory.
    factor = empty_like((limit, n), X)
    chosen: list[int] = []
    while len(chosen) < limit and not enough(len(chosen), residual):
        mass = np.cumsum(row_weight * np.where(residual > floor, residual, 0.0))
        if mass[-1] <= 0.0:
            break
        size = min(BLOCK, limit - len(chosen))
        # Inverse transform on the cumulated mass: k copies of a row act as one row of weight k.
        proposed = np.searchsorted(mass, rng.random_sample(size) * mass[-1], side="right")
        done = factor[: len(chosen), :]
        block, at = _gram_among(kernel, X, done, proposed), like(proposed, X, dtype=xp.int64)
        accepted, lower = _reject(block, residual[proposed], floor[proposed], rng)
        # Recomputed, so freer of rounding; without this a row of pure rounding error would be proposed for ever.
        residual[proposed] = np.maximum(np.diagonal(block), 0.0)
        if not accepted:
            continue
        rows = xp.take(at, like(accepted, X, dtype=xp.int64))
        columns = kernel(X, kernel.take(X, rows)) - done.T @ xp.take(done, rows, axis=1)
        new = solve_triangular(like(lower, X), columns.T)
        factor[len(chosen) : len(chosen) + len(accepted), :] = new
        residual = np.maximum(residual - to_numpy(xp.sum(new * new, axis=0)), 0.0)
        chosen.extend(proposed[accepted].tolist())
        # A landmark is reproduced exactly; what rounding leaves must not be drawn again.
        residual[chosen] = 0.0
    return _finish(kernel, X, factor[: len(chosen), :], np.array(chosen, dtype=np.int64), residual)


def _gram_among(kernel: Kernel, X: Array, done: Array, rows: np.ndarray) -> np.ndarray:
    """What is left of the kernel between the proposed rows."""
    xp = namespace(X)
    at = like(rows, X, dtype=xp.int64)
    part = xp.take(done, at, axis=1)
    among = kernel(xp.take(X, at, axis=0), kernel.take(X, at)) - part.T @ part
    return to_numpy(among).astype(np.float64)


def _reject(
    block: np.ndarray, proposal: np.ndarray, floor: np.ndarray, rng: np.random.RandomState
) -> tuple[list[int], np.ndarray]:
    """Accept proposal i with probability (what the accepted ones leave of it) / (what it was drawn for)."""
    block = block.copy()
    accepted: list[int] = []
    columns = []
    for i, uniform in enumerate(rng.random_sample(len(block))):
        left = block[i, i]
        if left <= floor[i] or uniform * proposal[i] > left:
            continue
        column = block[:, i] / np.sqrt(left)
        block -= np.outer(column, column)
        accepted.append(i)
        columns.append(column)
    lower = np.tril(np.array(columns).T[accepted]) if accepted else np.empty((0, 0))
    return accepted, lower


def _finish(
    kernel: Kernel, X: Array, factor: Array, chosen: np.ndarray, residual: np.ndarray
) -> tuple[FeatureMap, Array, np.ndarray]:
    xp = namespace(X)
    at = like(chosen, X, dtype=xp.int64)
    landmarks = kernel.take(X, at)
    # φ(landmarks) is lower triangular, so φ(x) = k(x, landmarks) L⁻ᵀ.
    lower = xp.tril(xp.take(factor, at, axis=1).T)
    basis = solve_triangular(lower, identity(len(chosen), X), transpose=True)
    return FeatureMap(KernelBlock(kernel, landmarks), basis, len(chosen), chosen), factor.T, residual
