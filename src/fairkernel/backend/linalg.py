"""Dense linear algebra with one spelling for every array library.

SciPy serves NumPy arrays (it is faster and has triangular solves); the array API's ``linalg`` serves the rest.
"""

import scipy.linalg
from array_api_compat import is_numpy_array

from .namespace import Array, namespace


def eigh(matrix: Array) -> tuple[Array, Array]:
    """Eigenvalues in DESCENDING order and matching eigenvectors of a symmetric matrix.

    Parameters
    ----------
    matrix : array of shape (m, m)

    Returns
    -------
    values : array of shape (m,)
    vectors : array of shape (m, m)

    Examples
    --------
    >>> import numpy as np
    >>> eigh(np.diag([1.0, 3.0]))[0]
    array([3., 1.])
    """
    xp = namespace(matrix)
    if not matrix.shape[0]:  # LAPACK refuses what is a perfectly good problem without features
        return xp.sum(matrix, axis=1), matrix
    if is_numpy_array(matrix):
        values, vectors = scipy.linalg.eigh(matrix, driver="evd", check_finite=False)
    else:
        values, vectors = xp.linalg.eigh(matrix)
    return xp.flip(values, axis=0), xp.flip(vectors, axis=1)


def cholesky(matrix: Array) -> Array:
    """Lower triangular factor.

    Parameters
    ----------
    matrix : array of shape (m, m)

    Returns
    -------
    array of shape (m, m)
    """
    return namespace(matrix).linalg.cholesky(matrix)


def solve(matrix: Array, rhs: Array) -> Array:
    """Solve a general square system.

    Parameters
    ----------
    matrix : array of shape (m, m)
    rhs : array of shape (m, q)

    Returns
    -------
    array of shape (m, q)
    """
    return namespace(matrix).linalg.solve(matrix, rhs)


def solve_triangular(lower: Array, rhs: Array, *, transpose: bool = False) -> Array:
    """Solve ``L x = rhs`` or ``L' x = rhs`` for lower triangular L.

    Parameters
    ----------
    lower : array of shape (m, m)
    rhs : array of shape (m, q)
    transpose : bool

    Returns
    -------
    array of shape (m, q)
    """
    if is_numpy_array(lower):
        return scipy.linalg.solve_triangular(lower, rhs, lower=True, trans=int(transpose), check_finite=False)
    xp = namespace(lower)
    if hasattr(xp.linalg, "solve_triangular"):
        return xp.linalg.solve_triangular(lower.mT if transpose else lower, rhs, upper=transpose)
    return xp.linalg.solve(xp.matrix_transpose(lower) if transpose else lower, rhs)
