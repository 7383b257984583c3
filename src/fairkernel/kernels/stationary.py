"""Kernels of the distance between two rows."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.spatial.distance import cdist

from ..backend import namespace
from .base import Kernel, check_gamma

Array = Any


@dataclass(frozen=True)
class RBF(Kernel):
    """exp(-gamma ||x - z||²)."""

    gamma: Any = None  # a number; None until resolve() knows the number of columns

    def __post_init__(self) -> None:
        check_gamma(self.gamma)

    def __call__(self, X: Array, Z: Array) -> Array:
        return namespace(X).exp(-self.gamma * _squared_distances(X, Z))

    def diag(self, X: Array) -> Array:
        return namespace(X).ones_like(X[:, 0])

    def slope(self, X: Array, Z: Array) -> Array:
        """W with ∂k(x, z)/∂x = −W (x − z)."""
        return 2.0 * self.gamma * self(X, Z)


@dataclass(frozen=True)
class Exponential(Kernel):
    """exp(-gamma ||x - z||): rougher than RBF, and often better on tables."""

    gamma: Any = None  # a number; None until resolve() knows the number of columns

    def __post_init__(self) -> None:
        check_gamma(self.gamma)

    def __call__(self, X: Array, Z: Array) -> Array:
        xp = namespace(X)
        return xp.exp(-self.gamma * xp.sqrt(_squared_distances(X, Z)))

    def diag(self, X: Array) -> Array:
        return namespace(X).ones_like(X[:, 0])

    def slope(self, X: Array, Z: Array) -> Array:
        """W with ∂k(x, z)/∂x = −W (x − z); 0 where x = z, at the kernel's kink."""
        xp = namespace(X)
        distance = xp.sqrt(_squared_distances(X, Z))
        apart = distance > 0
        return xp.where(apart, self.gamma * xp.exp(-self.gamma * distance) / xp.where(apart, distance, 1.0), 0.0)


def _squared_distances(X: Array, Z: Array) -> Array:
    xp = namespace(X)
    # ‖x‖² + ‖z‖² − 2x·z cancels when the columns have a large mean; distances do not depend on it.
    centre = xp.mean(Z, axis=0)
    X, Z = X - centre, Z - centre
    size = xp.sum(X * X, axis=1)[:, None], xp.sum(Z * Z, axis=1)[None, :]
    square = size[0] + size[1] - 2.0 * (X @ Z.T)
    # Rounding leaves tiny squared distances, of either sign, between equal rows: a root would make them large.
    rounding = 8.0 * float(xp.finfo(X.dtype).eps) * (size[0] + size[1])
    return xp.where(square > rounding, square, 0.0)


@dataclass(frozen=True)
class Laplacian(Kernel):
    """exp(-gamma ||x - z||_1)."""

    gamma: Any = None  # a number; None until resolve() knows the number of columns

    def __post_init__(self) -> None:
        check_gamma(self.gamma)

    def __call__(self, X: Array, Z: Array) -> Array:
        return namespace(X).exp(-self.gamma * _manhattan(X, Z))

    def diag(self, X: Array) -> Array:
        return namespace(X).ones_like(X[:, 0])


def _manhattan(X: Array, Z: Array) -> Array:
    if isinstance(X, np.ndarray):
        return cdist(X, Z, "cityblock").astype(X.dtype, copy=False)
    # Column by column, so that no (rows, rows, columns) array is formed.
    xp = namespace(X)
    total = xp.abs(X[:, None, 0] - Z[None, :, 0])
    for j in range(1, X.shape[1]):
        total = total + xp.abs(X[:, None, j] - Z[None, :, j])
    return total
