"""Kernels k(x, z), their sums and products, and the one place that turns a name into a kernel.

Parameters mean what they mean in ``sklearn.metrics.pairwise``; ``gamma=None`` is one over the number of columns.

>>> import numpy as np
>>> X = np.array([[0.0, 1.0], [2.0, 0.0]])
>>> (Linear() + 2.0 * RBF(gamma=0.5)).resolve(2)(X, X).round(3)
array([[3.   , 0.164],
       [0.164, 6.   ]])
"""

import numbers
from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from scipy.spatial.distance import cdist

from .backend import like, namespace, to_numpy

Array = Any
_ROW_BY_ROW = (
    "Wrap a function f of two single rows as lambda X, Z: sklearn.metrics.pairwise.pairwise_kernels(X, Z, metric=f)."
)
DIAGONAL_BLOCK = 128  # rows of a callable's Gram matrix formed at a time when only its diagonal is wanted


class Kernel(ABC):
    """A symmetric function of two rows, evaluated on blocks of rows."""

    is_psd = True  # False: nothing guarantees non-negative eigenvalues, so the features clip them

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


def _check(name: str, value: Any, valid: str, is_valid: Callable[[float], bool]) -> None:
    if not isinstance(value, numbers.Real) or not is_valid(float(value)):
        raise ValueError(f"kernel: {name} must be {valid}, got {value!r}.")


def _check_gamma(gamma: Any) -> None:
    if gamma is not None:
        _check("gamma", gamma, "a finite number > 0, or None for 1 / (number of columns)", lambda g: 0 < g < np.inf)


def _check_coef0(coef0: Any) -> None:
    _check("coef0", coef0, "a finite number", np.isfinite)


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
        _check_gamma(self.gamma)
        _check("degree", self.degree, "a finite number >= 0", lambda d: 0 <= d < np.inf)
        _check_coef0(self.coef0)

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
        _check_gamma(self.gamma)
        _check_coef0(self.coef0)

    def __call__(self, X: Array, Z: Array) -> Array:
        return namespace(X).tanh(self.gamma * (X @ Z.T) + self.coef0)

    def diag(self, X: Array) -> Array:
        xp = namespace(X)
        return xp.tanh(self.gamma * xp.sum(X * X, axis=1) + self.coef0)


@dataclass(frozen=True)
class RBF(Kernel):
    """exp(-gamma ||x - z||²)."""

    gamma: Any = None  # a number; None until resolve() knows the number of columns

    def __post_init__(self) -> None:
        _check_gamma(self.gamma)

    def __call__(self, X: Array, Z: Array) -> Array:
        xp = namespace(X)
        # ‖x‖² + ‖z‖² − 2x·z cancels when the columns have a large mean; distances do not depend on it.
        centre = xp.mean(Z, axis=0)
        X, Z = X - centre, Z - centre
        square = xp.sum(X * X, axis=1)[:, None] + xp.sum(Z * Z, axis=1)[None, :] - 2.0 * (X @ Z.T)
        # Rounding leaves tiny negative squared distances between equal rows.
        return xp.exp(-self.gamma * xp.clip(square, min=0.0))

    def diag(self, X: Array) -> Array:
        return namespace(X).ones_like(X[:, 0])


@dataclass(frozen=True)
class Laplacian(Kernel):
    """exp(-gamma ||x - z||_1)."""

    gamma: Any = None  # a number; None until resolve() knows the number of columns

    def __post_init__(self) -> None:
        _check_gamma(self.gamma)

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

    def __call__(self, X: Array, Z: Array) -> Array:
        return namespace(X).take(X, Z, axis=1)

    def diag(self, X: Array) -> Array:
        return namespace(X).linalg.diagonal(X)

    def take(self, X: Array, rows: Array) -> Array:
        return rows


@dataclass(frozen=True)
class _Pair(Kernel):
    left: Kernel
    right: Kernel

    def __post_init__(self) -> None:
        if isinstance(self.left, Precomputed) or isinstance(self.right, Precomputed):
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


NAMED: dict[str, tuple[type[Kernel], tuple[str, ...]]] = {
    "linear": (Linear, ()),
    "poly": (Polynomial, ("gamma", "degree", "coef0")),
    "polynomial": (Polynomial, ("gamma", "degree", "coef0")),
    "sigmoid": (Sigmoid, ("gamma", "coef0")),
    "rbf": (RBF, ("gamma",)),
    "laplacian": (Laplacian, ("gamma",)),
    "precomputed": (Precomputed, ()),
}


def make_kernel(kernel: Any, n_columns: int, *, kernel_params: dict | None = None, **parameters: Any) -> Kernel:
    """Turn a name, a callable or a kernel into a kernel whose parameters are all numbers.

    Parameters
    ----------
    kernel : str, callable or Kernel
        A name of ``NAMED``, a function of two blocks of rows, or a kernel object such as
        ``RBF(0.1) + Linear()``.
    n_columns : int
        Columns of X, for ``gamma=None``.
    kernel_params : dict, optional
        Keyword arguments of a callable.
    **parameters : float
        gamma, degree and coef0; a named kernel takes the ones it has.

    Returns
    -------
    Kernel

    Examples
    --------
    >>> make_kernel("rbf", 4, gamma=None, degree=3, coef0=1.0)
    RBF(gamma=0.25)
    """
    if kernel_params and (isinstance(kernel, str | Kernel) or not callable(kernel)):
        raise ValueError(
            f"kernel_params={kernel_params!r} goes with a callable kernel only, but kernel={kernel!r}; "
            "set gamma, degree and coef0 instead."
        )
    if isinstance(kernel, Kernel):
        return kernel.resolve(n_columns)
    if isinstance(kernel, str):
        if kernel not in NAMED:
            raise ValueError(f"kernel={kernel!r} is unknown; valid names are {', '.join(map(repr, NAMED))}.")
        kind, names = NAMED[kernel]
        return kind(**{name: parameters[name] for name in names}).resolve(n_columns)
    if isinstance(kernel, type) and issubclass(kernel, Kernel):
        raise TypeError(f"kernel={kernel.__name__} is a class: make a kernel of it, kernel={kernel.__name__}().")
    if callable(kernel):
        return UserFunction(kernel, dict(kernel_params or {}))
    raise TypeError(f"kernel must be a name, a callable or a fairkernel kernel, got {type(kernel).__name__}.")
