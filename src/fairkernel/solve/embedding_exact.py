"""Step 1 as its objective reads (Eq. 3): zero mean discrepancy, largest variance.

The objective (mean_u f − mean_p f)² is rank one, so every η orthogonal to δ attains 0 and "the k least eigenvectors"
are any k of them. Among these we take the ones of largest variance, which makes the answer unique: kernel PCA of the
kernel with δ projected out.
"""

from typing import Any

from ..backend import eigh, namespace
from .types import Embedding

Array = Any


def exact_embedding(scatter: Array, gap_directions: Array) -> Embedding:
    """Maximise Σ_j η_jᵀ C η_j subject to ηᵀη = I and Qᵀη = 0.

    Parameters
    ----------
    scatter : array of shape (m, m)
        C = Σ w (φ − mean)(φ − mean)ᵀ.
    gap_directions : array of shape (m, r)
        Orthonormal Q; r = 0 gives plain centred kernel PCA.

    Returns
    -------
    Embedding
        ``eigenvalues`` are e_j = Σ w (feature j − its mean)², descending. The eigenvalue λ of Eq. 6's exact
        counterpart is 0 for every direction.

    Examples
    --------
    >>> import numpy as np
    >>> found = exact_embedding(np.diag([9.0, 4.0, 1.0]), np.array([[1.0], [0.0], [0.0]]))
    >>> found.eigenvalues, found.rank
    (array([4., 1.]), 2)
    """
    xp = namespace(scatter)
    m, r = gap_directions.shape
    if r:
        # The last m − r columns of a complete QR are a basis of the complement: Qᵀη = 0 to rounding, whatever e_j.
        complement = xp.linalg.qr(gap_directions, mode="complete")[0][:, r:]
        inner = complement.T @ scatter @ complement
    else:
        complement, inner = None, scatter
    values, vectors = eigh((inner + inner.T) / 2)
    largest = float(values[0]) if values.shape[0] else 0.0
    tolerance = m * float(xp.finfo(scatter.dtype).eps) * max(largest, float(xp.linalg.trace(scatter)) / max(m, 1))
    rank = int(xp.sum(xp.astype(values > tolerance, xp.int64)))
    directions = vectors[:, :rank] if complement is None else complement @ vectors[:, :rank]
    reason = (
        f"{rank} directions of zero mean gap and positive variance, largest variance first ({r} gap direction"
        f"{'' if r == 1 else 's'} removed)"
        if r
        else f"the groups have equal means already: plain kernel PCA, {rank} directions of positive variance"
    )
    return Embedding(directions, values[:rank], rank, reason)
