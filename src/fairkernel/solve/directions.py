"""Which differences between groups are to vanish: the columns of G."""

from typing import Any

from ..backend import eigh, namespace

Array = Any
EQUAL_MEANS = 1e-12  # ‖δ‖² below this share of the mean variance: the groups have equal means


def gap_directions(
    group_means: Array,
    numeric_covariance: Array,
    numeric_variance: Array,
    strata: tuple[tuple[int, ...], ...] | None = None,
) -> Array:
    """Directions whose score must not differ: group-mean differences and covariances with numeric attributes.

    With two groups this is the one column δ = mean_u φ − mean_p φ of Eq. 3; G groups give G − 1 columns and each
    numeric attribute one more. Other criteria ask for the same within strata.

    Parameters
    ----------
    group_means : array of shape (groups, m)
    numeric_covariance : array of shape (numeric, m)
    numeric_variance : array of shape (numeric,)
    strata : tuple of tuple of int, optional
        Groups to compare with each other; by default all.

    Returns
    -------
    array of shape (m, groups - strata + numeric)

    Examples
    --------
    >>> import numpy as np
    >>> gap_directions(np.array([[1.0, 2.0], [0.0, 5.0]]), np.empty((0, 2)), np.empty(0))
    array([[ 1.],
           [-3.]])
    """
    xp = namespace(group_means)
    strata = strata or (tuple(range(group_means.shape[0])),)
    between = [group_means[cells[0], :] - group_means[cell, :] for cells in strata for cell in cells[1:]]
    # Per standard deviation of s, so that its unit (years or months) does not matter.
    deviation = xp.sqrt(numeric_variance)
    with_numeric = numeric_covariance / xp.where(deviation > 0, deviation, xp.ones_like(deviation))[:, None]
    return xp.concat([xp.stack(between), with_numeric] if between else [with_numeric], axis=0).T


def orthonormal_directions(G: Array, mean_variance: float) -> Array:
    """Orthonormal basis Q of span(G), without the directions in which the groups do not differ.

    Parameters
    ----------
    G : array of shape (m, r)
    mean_variance : float
        trace(C) / Σw, the scale against which a difference counts as none.

    Returns
    -------
    array of shape (m, at most r)
    """
    xp = namespace(G)
    if G.shape[1] == 0:
        return G
    Q, R = xp.linalg.qr(G)
    # ‖δ‖² are the eigenvalues of GᵀG = RᵀR; taken from R Rᵀ they come with a basis inside span(Q).
    values, vectors = eigh(R @ R.T)
    kept = int(xp.sum(xp.astype(values > EQUAL_MEANS * mean_variance, xp.int64)))
    return Q @ vectors[:, :kept]
