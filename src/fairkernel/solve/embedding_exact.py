"""Step 1 as its objective reads (Eq. 3): zero mean discrepancy, largest variance.

The objective (mean_u f − mean_p f)² is rank one, so every η orthogonal to δ attains 0 and "the k least eigenvectors"
are any k of them. Among these we take the ones of largest variance, which makes the answer unique: kernel PCA of the
kernel with δ projected out.
"""

from typing import Any

from ..backend import eigh, identity, namespace
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
    Q, (m, r) = gap_directions, gap_directions.shape
    trace = float(xp.linalg.trace(scatter))
    CQ = scatter @ Q
    # P C P − trace(C) Q Qᵀ with P = I − Q Qᵀ: the gap directions become the r least eigenvectors, far below the
    # others, so that one eigendecomposition gives η with Qᵀη = 0 to rounding however small e_j is.
    outer = CQ @ Q.T
    inner = scatter - outer - outer.T + Q @ (Q.T @ CQ - trace * identity(r, scatter)) @ Q.T
    values, vectors = eigh((inner + inner.T) / 2)
    tolerance = float(xp.finfo(scatter.dtype).eps) * max(m * float(xp.max(values)) if m else 0.0, trace)
    rank = int(xp.sum(xp.astype(values > tolerance, xp.int64)))
    directions = vectors[:, :rank]
    reason = (
        f"{rank} directions of zero mean gap and positive variance, largest variance first ({r} gap direction"
        f"{'' if r == 1 else 's'} removed)"
        if r
        else f"the groups have equal means already: plain kernel PCA, {rank} directions of positive variance"
    )
    return Embedding(directions, values[:rank], rank, reason)
