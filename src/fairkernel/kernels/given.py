"""Kernels that come from the user: a function, or a Gram matrix."""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from ..backend import like, namespace, to_numpy
from .base import Kernel

Array = Any
_ROW_BY_ROW = (
    "Wrap a function f of two single rows as lambda X, Z: sklearn.metrics.pairwise.pairwise_kernels(X, Z, metric=f)."
)
DIAGONAL_BLOCK = 128  # rows of a callable's Gram matrix formed at a time when only its diagonal is wanted


@dataclass(frozen=True)
class UserFunction(Kernel):
    """A user's function of two blocks of rows (and optional keyword parameters)."""

    function: Callable
    params: dict = field(default_factory=dict)
    is_psd = False

    def __call__(self, X: Array, Z: Array) -> Array:
        try:
            block = self.function(X, Z, **self.params)
        except (TypeError, ValueError, IndexError) as error:
            raise ValueError(f"kernel: the callable failed on two blocks of rows ({error}). {_ROW_BY_ROW}") from error
        shape = getattr(block, "shape", None)
        if shape != (X.shape[0], Z.shape[0]):
            raise ValueError(
                f"kernel: the callable returned {'shape ' + str(shape) if shape is not None else type(block).__name__} "
                f"for blocks of {X.shape[0]} and {Z.shape[0]} rows; it must return one number per pair of rows, shape "
                f"{(X.shape[0], Z.shape[0])}. {_ROW_BY_ROW}"
            )
        return block

    def diag(self, X: Array) -> Array:
        blocks = (X[i : i + DIAGONAL_BLOCK, ...] for i in range(0, X.shape[0], DIAGONAL_BLOCK))
        return like(np.concatenate([np.diagonal(to_numpy(self(block, block))) for block in blocks]), X)


@dataclass(frozen=True)
class Precomputed(Kernel):
    """X already holds k(x, training row), one column per training row."""

    is_psd = False
    is_function_of_rows = False

    def __call__(self, X: Array, Z: Array) -> Array:
        return namespace(X).take(X, Z, axis=1)

    def diag(self, X: Array) -> Array:
        return namespace(X).linalg.diagonal(X)

    def take(self, X: Array, rows: Array) -> Array:
        return rows
