"""Features of kernels that may be indefinite: φ(x) = k(x, S) U₊ L₊^(-1/2) on landmarks S."""

from typing import Any

import numpy as np

from ..backend import eigh, like, namespace, to_numpy
from ..kernels import Kernel
from .map import FeatureMap, KernelBlock

Array = Any
INDEFINITE_TOLERANCE = 1e-6  # of the largest eigenvalue, where some are negative


def clipped_eigenfeatures(
    kernel: Kernel, X: Array, codes: np.ndarray, *, limit: int, rng: np.random.RandomState
) -> tuple[FeatureMap, Array, np.ndarray, float]:
    """Eigenvectors of the landmarks' Gram matrix, negative eigenvalues set to zero.

    Parameters
    ----------
    kernel : Kernel
    X : array of shape (n, p)
    codes : ndarray of shape (n,)
        Group of each row; the landmarks are spread evenly over the groups.
    limit : int
        Number of landmarks.
    rng : RandomState

    Returns
    -------
    map : FeatureMap
    training : array of shape (n, m)
    residual : ndarray of shape (n,)
        \\|k(x_i, x_i) − ‖φ(x_i)‖²\\|.
    clipped_share : float
        Share of the absolute spectrum that was negative.
    """
    xp = namespace(X)
    chosen = spread_over_groups(codes, limit, rng)
    at = like(chosen, X, dtype=xp.int64)
    landmarks = kernel.take(X, at)
    block = kernel(X, landmarks)
    gram = xp.take(block, at, axis=0)
    if not bool(xp.all(xp.isfinite(block))):
        raise ValueError(
            f"kernel {kernel!r} gives values that are not finite (NaN or infinite) on these rows: scale the columns "
            "of X, and take a whole degree where the base can be negative."
        )
    asymmetry = float(xp.max(xp.abs(gram - gram.T)))
    rounding = float(xp.finfo(X.dtype).eps)
    if asymmetry > rounding**0.5 * max(float(xp.max(xp.abs(gram))), 1e-300):
        raise ValueError(
            f"kernel: the Gram matrix is not symmetric (largest difference {asymmetry:.3g}); a kernel has "
            "k(x, z) = k(z, x)."
        )
    values, vectors = eigh((gram + gram.T) / 2)
    spectrum = to_numpy(values)
    # Rounding noise around zero is not indefiniteness.
    negative = -spectrum[spectrum < -max(1e-10, 100 * rounding) * np.abs(spectrum).max()].sum()
    # Tiny positive eigenvalues of an indefinite matrix are as arbitrary as the negative ones beside them, and
    # dividing by their roots would blow up on new rows.
    tolerance = max(len(spectrum) * rounding, INDEFINITE_TOLERANCE if negative else 0.0)
    rank = int(np.sum(spectrum > tolerance * np.abs(spectrum).max()))
    if rank == 0:
        raise ValueError("kernel: the Gram matrix has no positive eigenvalue, so it has no feature space.")
    basis = vectors[:, :rank] / xp.sqrt(values[:rank])[None, :]
    training = block @ basis
    residual = np.abs(to_numpy(kernel.diag(X)) - to_numpy(xp.sum(training * training, axis=1)))
    share = float(negative / np.abs(spectrum).sum())
    return FeatureMap(KernelBlock(kernel, landmarks), basis, rank, chosen), training, residual, share


def spread_over_groups(codes: np.ndarray, limit: int, rng: np.random.RandomState) -> np.ndarray:
    """Rows drawn without replacement, as evenly over the groups as their sizes allow.

    Parameters
    ----------
    codes : ndarray of shape (n,)
    limit : int
    rng : RandomState

    Returns
    -------
    ndarray of int
        Sorted.
    """
    if limit >= len(codes):
        return np.arange(len(codes))
    order = rng.permutation(len(codes))
    # The j-th row of every group comes before the (j+1)-th of any.
    turn = np.empty(len(codes), dtype=np.int64)
    for code in np.unique(codes):
        members = order[codes[order] == code]
        turn[members] = np.arange(len(members))
    return np.sort(order[np.argsort(turn[order], kind="stable")][:limit])
