"""Step 1 as printed (Eq. 6 and 18): a different, indefinite matrix, kept under its own name.

The printed M replaces (Σ f_i)² by Σ f_i². Its symmetric part has exactly one negative eigenvalue, whose eigenvector
has a large non-zero gap; the next ones are the directions of smallest second moment, that is of least information.
"""

from typing import Any

from ..backend import eigh, namespace
from .types import Embedding

Array = Any


def printed_embedding(
    group_second_moments: Array, group_means: Array, group_weight: Array, *, rank_tolerance: float = 1e-10
) -> Embedding:
    """Least eigenvectors of sym(M) α = λ K α for two groups.

    Parameters
    ----------
    group_second_moments : array of shape (2, m, m)
        K_gᵀK_g in feature coordinates: Σ_{i in g} w φφᵀ about zero.
    group_means : array of shape (2, m)
    group_weight : array of shape (2,)
        n_u and n_p.
    rank_tolerance : float
        Share of K's largest eigenvalue below which a direction is outside range(K). It matters here: the
        least eigenvectors lie where K is smallest.

    Returns
    -------
    Embedding
        ``eigenvalues`` are the paper's λ, ascending.
    """
    xp = namespace(group_second_moments)
    if group_means.shape[0] != 2:
        raise ValueError(
            f"objective='printed' is Eq. 6 of the paper, which has two groups; got {group_means.shape[0]}. "
            "Use objective='discrepancy'."
        )
    n_u, n_p = group_weight[0], group_weight[1]
    mean_u, mean_p = group_means[0, :], group_means[1, :]
    cross = mean_u[:, None] * mean_p[None, :]
    # Eq. 6, symmetrised: in feature coordinates K is the identity and K_uᵀ1 = n_u mean_u.
    M = group_second_moments[0, ...] / n_u**2 - (cross + cross.T) + group_second_moments[1, ...] / n_p**2
    spectrum, basis = eigh(xp.sum(group_second_moments, axis=0))
    rank = int(xp.sum(xp.astype(spectrum > rank_tolerance * xp.max(xp.abs(spectrum)), xp.int64)))
    basis = basis[:, :rank]
    inner = basis.T @ M @ basis
    values, vectors = eigh((inner + inner.T) / 2)
    reason = f"least eigenvectors of the printed matrix within range(K), rank {rank} at tolerance {rank_tolerance:g}"
    return Embedding(basis @ xp.flip(vectors, axis=1), xp.flip(values, axis=0), rank, reason)
