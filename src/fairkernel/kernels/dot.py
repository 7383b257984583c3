"""Kernels of the dot product x·z."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from ..backend import namespace
from .base import Kernel, check, check_coef0, check_gamma

Array = Any


@dataclass(frozen=True)
class Linear(Kernel):
    """x·z."""

    def __call__(self, X: Array, Z: Array) -> Array:
        return X @ Z.T

    def diag(self, X: Array) -> Array:
        return namespace(X).sum(X * X, axis=1)


@dataclass(frozen=True)
class Polynomial(Kernel):
    """(gamma x·z + coef0)^degree."""

    gamma: Any = None  # a number; None until resolve() knows the number of columns
    degree: float = 3
    coef0: float = 1.0

    def __post_init__(self) -> None:
        check_gamma(self.gamma)
        check("degree", self.degree, "a finite number >= 0", lambda d: 0 <= d < np.inf)
        check_coef0(self.coef0)

    @property
    def is_psd(self) -> bool:  # type: ignore[override]
        # A fractional degree or a negative constant has no feature space.
        return self.coef0 >= 0 and float(self.degree).is_integer()

    def __call__(self, X: Array, Z: Array) -> Array:
        return self._power(self.gamma * (X @ Z.T) + self.coef0)

    def diag(self, X: Array) -> Array:
        return self._power(self.gamma * namespace(X).sum(X * X, axis=1) + self.coef0)

    def _power(self, base: Array) -> Array:
        if not float(self.degree).is_integer():
            return base**self.degree
        # Repeated squaring: several times faster than a floating-point power.
        result, degree = None, int(self.degree)
        while degree:
            if degree % 2:
                result = base if result is None else result * base
            degree //= 2
            base = base * base if degree else base
        return namespace(base).ones_like(base) if result is None else result


@dataclass(frozen=True)
class Sigmoid(Kernel):
    """tanh(gamma x·z + coef0): indefinite, kept because the paper uses it on COMPAS."""

    gamma: Any = None  # a number; None until resolve() knows the number of columns
    coef0: float = 1.0
    is_psd = False

    def __post_init__(self) -> None:
        check_gamma(self.gamma)
        check_coef0(self.coef0)

    def __call__(self, X: Array, Z: Array) -> Array:
        return namespace(X).tanh(self.gamma * (X @ Z.T) + self.coef0)

    def diag(self, X: Array) -> Array:
        xp = namespace(X)
        return xp.tanh(self.gamma * xp.sum(X * X, axis=1) + self.coef0)
