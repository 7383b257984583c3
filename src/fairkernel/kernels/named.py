"""The one place that turns a name into a kernel."""

from typing import Any

from .base import Kernel
from .dot import Linear, Polynomial, Sigmoid
from .given import Precomputed, UserFunction
from .stationary import RBF, Exponential, Laplacian

NAMED: dict[str, tuple[type[Kernel], tuple[str, ...]]] = {
    "linear": (Linear, ()),
    "poly": (Polynomial, ("gamma", "degree", "coef0")),
    "polynomial": (Polynomial, ("gamma", "degree", "coef0")),
    "sigmoid": (Sigmoid, ("gamma", "coef0")),
    "rbf": (RBF, ("gamma",)),
    "exponential": (Exponential, ("gamma",)),
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
