"""A kernel of scaled columns: the scales say how much the kernel listens to each column."""

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from ..backend import like, namespace
from .base import Kernel

Array = Any


@dataclass(frozen=True)
class ColumnScaled(Kernel):
    """A kernel of columns that are multiplied by scales first: k(x∘a, z∘a)."""

    kernel: Kernel
    scales: Any  # a_j >= 0; any sequence, kept as a tuple so that equal kernels compare equal

    def __post_init__(self) -> None:
        scales = np.asarray(self.scales, dtype=float)
        if scales.ndim != 1 or not (np.isfinite(scales).all() and (scales >= 0).all()):
            raise ValueError(f"kernel: scales must be finite numbers >= 0, one per column; got {self.scales!r}.")
        object.__setattr__(self, "scales", tuple(scales.tolist()))

    @property
    def is_psd(self) -> bool:  # type: ignore[override]
        return self.kernel.is_psd

    def resolve(self, n_columns: int) -> Kernel:
        if len(self.scales) != n_columns:
            raise ValueError(f"kernel: {len(self.scales)} scales for {n_columns} columns; pass one scale per column.")
        return replace(self, kernel=self.kernel.resolve(n_columns))

    def __call__(self, X: Array, Z: Array) -> Array:
        return self.kernel(self._scaled(X), self._scaled(Z))

    def diag(self, X: Array) -> Array:
        return self.kernel.diag(self._scaled(X))

    def _scaled(self, X: Array) -> Array:
        return X * like(np.array(self.scales), X)[None, :]

    def gradient(self, X: Array, Z: Array, coefficients: Array) -> Array:
        """∂f/∂x at the rows of X for f(x) = Σ_i c_i k(x, z_i), shape (rows of X, columns)."""
        W = self.kernel.slope(self._scaled(X), self._scaled(Z)) * coefficients[None, :]  # type: ignore[attr-defined]
        towards = namespace(X).sum(W, axis=1)[:, None] * X - W @ Z
        return -(like(np.array(self.scales), X) ** 2)[None, :] * towards
