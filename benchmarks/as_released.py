"""What the paper's released code computes, written anew from a description of it: a rival in speed, not a method.

Its result solves neither the paper's Eq. 3 nor its Eq. 6: the matrix it decomposes is not symmetric, only the lower
triangle is read, and so the features change when the rows are permuted. ``fairkernel`` never computes this
(``objective="printed"`` is Eq. 6). Memory grows with n², time with n³.
"""

import numpy as np
from sklearn.metrics.pairwise import polynomial_kernel

ROWS_PER_COMPONENT = 250  # its default, k = n / 250


def as_released_features(X, is_protected, n_components=None, *, degree=3, coef0=1.0):
    """Features of the rows passed; there is no map for new rows.

    Parameters
    ----------
    X : ndarray of shape (n, p)
    is_protected : ndarray of bool, shape (n,)
    n_components : int, optional
        n / 250 by default, at least 1.
    degree, coef0 : float
        Of the polynomial kernel with gamma = 1/p.

    Returns
    -------
    ndarray of shape (n, n_components)
    """
    gram = polynomial_kernel(X, degree=degree, coef0=coef0)
    k = max(1, len(X) // ROWS_PER_COMPONENT) if n_components is None else n_components
    return gram @ as_released_directions(gram, is_protected, k)


def as_released_directions(gram, is_protected, k):
    """The α it solves for: Euclid-orthonormal, not K-orthonormal.

    Parameters
    ----------
    gram : ndarray of shape (n, n)
    is_protected : ndarray of bool, shape (n,)
    k : int

    Returns
    -------
    ndarray of shape (n, k)
    """
    B = released_matrix(gram, is_protected)
    # B is not symmetric and eigh reads its lower triangle: these are eigenvectors of tril(B) + tril(B, -1)ᵀ.
    return np.linalg.eigh(B)[1][:, :k]


def released_matrix(gram, is_protected):
    """B = pinv(K) M.

    Parameters
    ----------
    gram : ndarray of shape (n, n)
    is_protected : ndarray of bool, shape (n,)

    Returns
    -------
    ndarray of shape (n, n)
    """
    return np.linalg.pinv(gram) @ scaled_M(gram, is_protected)


def scaled_M(gram, is_protected):
    """n_p² times the printed M of Eq. 6, divided by its largest entry: where that is negative, all signs flip.

    Parameters
    ----------
    gram : ndarray of shape (n, n)
    is_protected : ndarray of bool, shape (n,)

    Returns
    -------
    ndarray of shape (n, n)
    """
    K_p, K_u = gram[is_protected], gram[~is_protected]
    n_p, n_u = len(K_p), len(K_u)
    # K_uᵀ 1 1ᵀ K_p from column sums: cheaper than with matrices of ones, and that favours this rival.
    cross = np.outer(K_u.sum(axis=0), K_p.sum(axis=0))
    M = n_p**2 * (K_u.T @ K_u / n_u**2 - 2 / (n_u * n_p) * cross + K_p.T @ K_p / n_p**2)
    return M / M.max()
