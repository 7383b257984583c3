"""Which way a group lies: the directions whose score says how like the group a row is."""

from typing import Any

from ..backend import namespace

Array = Any


def witness_directions(
    group_means: Array,
    group_weight: Array,
    numeric_covariance: Array,
    numeric_variance: Array,
    strata: tuple[tuple[int, ...], ...],
) -> Array:
    """Directions δ from the other rows to each group, stratum by stratum, then one per numeric attribute.

    Two groups have opposite directions and get one column, δ = mean φ of the second − mean φ of the first: minus the
    δ of Eq. 3. More groups get a column each, δ_g = mean φ of the group − mean φ of the stratum. A numeric attribute
    gets Cov(φ, s) / sd(s).

    Parameters
    ----------
    group_means : array of shape (groups, m)
    group_weight : array of shape (groups,)
    numeric_covariance : array of shape (numeric, m)
    numeric_variance : array of shape (numeric,)
    strata : tuple of tuple of int
        Groups that are compared with each other.

    Returns
    -------
    array of shape (m, columns)

    Examples
    --------
    >>> import numpy as np
    >>> means, weight = np.array([[0.0], [3.0], [6.0]]), np.array([2.0, 1.0, 1.0])
    >>> none = np.empty((0, 1)), np.empty(0)
    >>> witness_directions(means, weight, *none, strata=((0, 1, 2),))
    array([[-2.25,  0.75,  3.75]])
    >>> witness_directions(means[:2], weight[:2], *none, strata=((0, 1),))
    array([[3.]])
    """
    xp, parts = namespace(group_means), []
    for cells in strata:
        means = xp.stack([group_means[cell, :] for cell in cells])
        if len(cells) == 2:
            parts.append(means[1:, :] - means[:1, :])
        elif len(cells) > 2:
            weight = xp.stack([group_weight[cell] for cell in cells])[:, None]
            parts.append(means - xp.sum(weight * means, axis=0)[None, :] / xp.sum(weight))
    deviation = xp.sqrt(numeric_variance)
    parts.append(numeric_covariance / xp.where(deviation > 0, deviation, xp.ones_like(deviation))[:, None])
    return xp.concat(parts, axis=0).T
