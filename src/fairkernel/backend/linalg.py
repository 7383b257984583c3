"""Dense linear algebra with one spelling for every array library.

All of it is NumPy's or the array library's own, none SciPy's: the wheels of NumPy and SciPy each bring an OpenBLAS with
threads of its own, which keep spinning after a call. Alternating between them halves the speed of a fit on two cores.
"""

from .namespace import Array, identity, namespace

SOLVED_DIRECTLY = 48  # rows of a triangle given to the general solver; above it, halves and a matrix product


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
    xp, m = namespace(lower), lower.shape[0]
    if hasattr(xp.linalg, "solve_triangular"):
        return xp.linalg.solve_triangular(lower.mT if transpose else lower, rhs, upper=transpose)
    if transpose:
        return solve_triangular(lower, identity(m, lower)).T @ rhs
    if m <= SOLVED_DIRECTLY:
        return xp.linalg.solve(lower, rhs)
    top = solve_triangular(lower[: m // 2, : m // 2], rhs[: m // 2, :])
    bottom = solve_triangular(lower[m // 2 :, m // 2 :], rhs[m // 2 :, :] - lower[m // 2 :, : m // 2] @ top)
    return xp.concat([top, bottom], axis=0)
