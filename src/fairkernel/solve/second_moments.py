"""Directions in which the groups' variances agree as well as their means."""

from typing import Any

from ..backend import eigh, identity, namespace
from .types import Embedding

Array = Any


def matched_second_moments(candidates: Embedding, group_covariances: Array, group_weight: Array, k: int) -> Embedding:
    """Among candidate directions of equal means, the k in which the groups' covariances differ least.

    With the candidates whitened by the pooled covariance, group g's covariance becomes W_g, and the k least
    eigenvectors of Σ_g (n_g/n) (W_g − I)² are taken. For two groups these are the eigenvectors of W_u − W_p with the
    smallest absolute eigenvalues.

    Parameters
    ----------
    candidates : Embedding
        More than k directions, of zero mean gap.
    group_covariances : array of shape (groups, m, m)
    group_weight : array of shape (groups,)
    k : int

    Returns
    -------
    Embedding
        Orthonormal directions; ``eigenvalues`` are the squared misfit of the whitened variances, ascending.
    """
    xp = namespace(group_covariances)
    share = group_weight / xp.sum(group_weight)
    H = candidates.directions
    within = xp.stack([H.T @ group_covariances[g, ...] @ H for g in range(share.shape[0])])
    pooled = xp.sum(share[:, None, None] * within, axis=0)
    variances, axes = eigh((pooled + pooled.T) / 2)
    kept = int(xp.sum(xp.astype(variances > 1e-12 * variances[0], xp.int64)))
    whiten = axes[:, :kept] / xp.sqrt(variances[:kept])[None, :]
    misfit = 0.0 * identity(kept, H)
    for g in range(share.shape[0]):
        W = whiten.T @ within[g, ...] @ whiten - identity(kept, H)
        misfit = misfit + share[g] * (W @ W)
    values, vectors = eigh((misfit + misfit.T) / 2)
    k = min(k, kept)
    least = xp.flip(vectors, axis=1)[:, :k]
    # Whitening makes the directions oblique; the span is what counts, so it gets an orthonormal basis (Eq. 5).
    directions = xp.linalg.qr(H @ (whiten @ least))[0]
    reason = f"the {k} of {kept} directions of zero mean gap in which the groups' variances differ least"
    return Embedding(directions, xp.flip(values, axis=0)[:k], k, reason)
