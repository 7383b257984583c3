"""What every feature map is: a raw block of numbers per row, times a basis."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..kernels import Kernel

Array = Any


@dataclass(frozen=True, eq=False)
class KernelBlock:
    """x → k(x, landmarks)."""

    kernel: Kernel
    landmarks: Array

    def __call__(self, X: Array) -> Array:
        return self.kernel(X, self.landmarks)


@dataclass(frozen=True, eq=False)
class FeatureMap:
    """φ(x) = raw(x) B, with <φ(x), φ(z)> ≈ k(x, z).

    ``raw`` is k(x, landmarks) or the random Fourier block. A linear function of φ is evaluated as
    ``raw(x) @ (B a)``, so predicting never forms φ.

    Parameters
    ----------
    raw : callable
        Rows to a block of shape (rows, n_raw).
    basis : array of shape (n_raw, n_features), or None
        B; None is the identity.
    n_features : int
    landmarks : ndarray of int, or None
        Training rows the kernel is evaluated against.
    """

    raw: Callable[[Array], Array]
    basis: Array | None
    n_features: int
    landmarks: np.ndarray | None = None

    def __call__(self, X: Array) -> Array:
        block = self.raw(X)
        return block if self.basis is None else block @ self.basis

    def lift(self, directions: Array) -> Array:
        """Coefficients on the raw block of linear functions given on φ: the paper's α (Eq. 4)."""
        return directions if self.basis is None else self.basis @ directions


@dataclass(frozen=True, eq=False)
class Features:
    """A feature map, the training rows under it, and how well it stands in for the kernel.

    Parameters
    ----------
    map : FeatureMap
    training : array of shape (n, n_features)
    error_by_group : ndarray of shape (groups,)
        Share of the kernel's diagonal that the features miss, on average over each group's rows.
    how : str
        One sentence: what was chosen and why it stopped there.
    clipped_share : float
        Share of the absolute spectrum that was negative and set to zero.
    """

    map: FeatureMap
    training: Array
    error_by_group: np.ndarray
    how: str
    clipped_share: float = 0.0
