"""Array namespaces: which library an array belongs to, and how to cross over."""

from typing import Any

import numpy as np
from array_api_compat import array_namespace, device, is_torch_array

Array = Any  # any array that follows the Python array API standard


def namespace(*arrays: Array) -> Any:
    """The array API namespace the arrays share.

    Parameters
    ----------
    *arrays : array

    Returns
    -------
    module

    Examples
    --------
    >>> import numpy as np
    >>> namespace(np.zeros(2)).sum(np.ones(3)).item()
    3.0
    """
    return array_namespace(*arrays)


def like(values: Any, reference: Array, *, dtype: Any = None) -> Array:
    """Bring host values to the library, device and (by default) data type of a reference array.

    Parameters
    ----------
    values : array-like
        NumPy array or sequence.
    reference : array
    dtype : dtype, optional
        Data type of ``reference``'s library; its own by default.

    Returns
    -------
    array
    """
    xp = array_namespace(reference)
    return xp.asarray(values, dtype=reference.dtype if dtype is None else dtype, device=device(reference))


def empty_like(shape: tuple[int, ...], reference: Array) -> Array:
    """Uninitialised array of a given shape in the library, device and data type of a reference.

    Parameters
    ----------
    shape : tuple of int
    reference : array

    Returns
    -------
    array
    """
    return array_namespace(reference).empty(shape, dtype=reference.dtype, device=device(reference))


def identity(size: int, reference: Array) -> Array:
    """Identity matrix in the library, device and data type of a reference array.

    Parameters
    ----------
    size : int
    reference : array

    Returns
    -------
    array of shape (size, size)
    """
    return like(np.eye(size), reference)


def to_numpy(array: Array) -> np.ndarray:
    """Copy an array to the host.

    Parameters
    ----------
    array : array

    Returns
    -------
    ndarray
    """
    if is_torch_array(array):
        return array.detach().cpu().numpy()
    if hasattr(array, "get"):  # CuPy refuses an implicit copy to the host
        return array.get()
    return np.asarray(array)
