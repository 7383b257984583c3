"""What a kernel is: a symmetric function of two rows, evaluated on blocks of rows."""

import numbers
from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from ..backend import namespace

Array = Any


class Kernel(ABC):
    """A symmetric function of two rows, evaluated on blocks of rows."""

    is_psd = True  # False: nothing guarantees non-negative eigenvalues, so the features clip them
    is_function_of_rows = True  # False: X is no table of rows, so there is nothing to combine it with

    @abstractmethod
    def __call__(self, X: Array, Z: Array) -> Array:
        """Gram block of shape (rows of X, rows of Z)."""

    @abstractmethod
    def diag(self, X: Array) -> Array:
        """k(x, x) for every row."""

    def resolve(self, n_columns: int) -> "Kernel":
        """The same kernel with ``gamma=None`` replaced by 1 / n_columns."""
        if getattr(self, "gamma", 0) is None:
            return replace(self, gamma=1.0 / n_columns)  # type: ignore[type-var]
        return self

    def take(self, X: Array, rows: Array) -> Array:
        """What ``self(X, ·)`` needs in order to evaluate against some training rows."""
        return namespace(X).take(X, rows, axis=0)

    def __add__(self, other: "Kernel") -> "Sum":
        return Sum(self, other) if isinstance(other, Kernel) else NotImplemented

    def __mul__(self, other: "Kernel | float") -> "Kernel":
        return Product(self, other) if isinstance(other, Kernel) else Scaled(self, float(other))

    __rmul__ = __mul__


def check(name: str, value: Any, valid: str, is_valid: Callable[[float], bool]) -> None:
    """Refuse a parameter that is no number or not a valid one."""
    if not isinstance(value, numbers.Real) or not is_valid(float(value)):
        raise ValueError(f"kernel: {name} must be {valid}, got {value!r}.")


def check_gamma(gamma: Any) -> None:
    """Refuse a scale that is not positive; None waits for the number of columns."""
    if gamma is not None:
        check("gamma", gamma, "a finite number > 0, or None for 1 / (number of columns)", lambda g: 0 < g < np.inf)


def check_coef0(coef0: Any) -> None:
    """Refuse a constant that is not finite."""
    check("coef0", coef0, "a finite number", np.isfinite)


@dataclass(frozen=True)
class _Pair(Kernel):
    left: Kernel
    right: Kernel

    def __post_init__(self) -> None:
        if not (self.left.is_function_of_rows and self.right.is_function_of_rows):
            raise ValueError(
                "kernel: a precomputed kernel cannot be part of a sum or product; combine the Gram matrices yourself."
            )

    @property
    def is_psd(self) -> bool:  # type: ignore[override]
        return self.left.is_psd and self.right.is_psd

    def resolve(self, n_columns: int) -> Kernel:
        return replace(self, left=self.left.resolve(n_columns), right=self.right.resolve(n_columns))


class Sum(_Pair):
    """k₁(x, z) + k₂(x, z)."""

    def __call__(self, X: Array, Z: Array) -> Array:
        return self.left(X, Z) + self.right(X, Z)

    def diag(self, X: Array) -> Array:
        return self.left.diag(X) + self.right.diag(X)


class Product(_Pair):
    """k₁(x, z) k₂(x, z)."""

    def __call__(self, X: Array, Z: Array) -> Array:
        return self.left(X, Z) * self.right(X, Z)

    def diag(self, X: Array) -> Array:
        return self.left.diag(X) * self.right.diag(X)


@dataclass(frozen=True)
class Scaled(Kernel):
    """weight · k(x, z) with a non-negative weight."""

    kernel: Kernel
    weight: float

    def __post_init__(self) -> None:
        if not 0 <= self.weight < float("inf"):
            raise ValueError(f"kernel: the weight of a kernel must be a number >= 0, got {self.weight!r}.")

    @property
    def is_psd(self) -> bool:  # type: ignore[override]
        return self.kernel.is_psd

    def resolve(self, n_columns: int) -> Kernel:
        return replace(self, kernel=self.kernel.resolve(n_columns))

    def __call__(self, X: Array, Z: Array) -> Array:
        return self.weight * self.kernel(X, Z)

    def diag(self, X: Array) -> Array:
        return self.weight * self.kernel.diag(X)
