"""Means, correlations and distributions of numeric predictions, as functions of the rows' weights."""

from dataclasses import dataclass
from itertools import combinations

import numpy as np

from ._inputs import ScoreRows


def group_means(rows: ScoreRows, weight: np.ndarray) -> np.ndarray:
    """Weighted mean prediction of each group."""
    codes, n_groups = rows.sensitive.codes, len(rows.sensitive.groups)
    return np.bincount(codes, weight * rows.values, n_groups) / np.bincount(codes, weight, n_groups)


def mean_and_variance(rows: ScoreRows) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Mean of each group, variance of that mean (NaN for one row) and effective size."""
    codes, n_groups = rows.sensitive.codes, len(rows.sensitive.groups)
    mean = group_means(rows, rows.weight)
    total = np.bincount(codes, rows.weight, n_groups)
    n = total**2 / np.bincount(codes, rows.weight**2, n_groups)
    spread = np.bincount(codes, rows.weight * (rows.values - mean[codes]) ** 2, n_groups) / total
    # The unbiased variance of a row is spread · n/(n-1); of the mean, that over n.
    return mean, np.divide(spread, n - 1, out=np.full(n_groups, np.nan), where=n > 1), n


def covariances(rows: ScoreRows, weight: np.ndarray) -> np.ndarray:
    """Weighted covariance of the prediction with each continuous column, standardised; 0 where either is constant."""
    share = weight / weight.sum()
    s = rows.sensitive.numeric - share @ rows.sensitive.numeric
    deviation = np.sqrt(share @ s**2)
    # Centring leaves a constant prediction with rounding errors, which must not pass for a dependence.
    varies = (np.ptp(rows.values) > 0) & (deviation > 0)
    covariance = (share * (rows.values - share @ rows.values)) @ s
    return np.divide(covariance, deviation, out=np.zeros_like(deviation), where=varies)


def correlations(rows: ScoreRows, weight: np.ndarray) -> np.ndarray:
    """Weighted correlation of the prediction with each continuous column; 0 where either is constant."""
    share = weight / weight.sum()
    deviation = np.sqrt(share @ (rows.values - share @ rows.values) ** 2)
    found = covariances(rows, weight)
    return np.clip(found / deviation, -1, 1) if deviation > 0 else np.zeros_like(found)


@dataclass(frozen=True, eq=False)
class DistributionPair:
    """Two groups on the common grid of their values, where F_a - F_b is linear in the steps of the rows.

    `first` and `second` are row numbers; `order` sorts the two together, `last` marks the last of tied
    values (where a distribution function has taken its whole step), `gaps` lie between distinct values.
    """

    first: np.ndarray
    second: np.ndarray
    order: np.ndarray
    last: np.ndarray
    gaps: np.ndarray

    def steps(self, weight: np.ndarray) -> np.ndarray:
        """Step of F_a - F_b at each row."""
        a, b = weight[self.first], weight[self.second]
        return np.concatenate([a / a.sum(), -b / b.sum()])

    def distances(self, steps: np.ndarray) -> tuple[float, float]:
        """KS and W1, the largest and the integrated absolute value, of the function with these steps."""
        difference = np.abs(np.cumsum(steps[self.order])[self.last])
        return float(difference.max()), float(difference[:-1] @ self.gaps)


def distribution_pairs(rows: ScoreRows) -> list[DistributionPair]:
    """Every pair of groups, ready for any weights."""
    members = [np.flatnonzero(rows.sensitive.codes == g) for g in range(len(rows.sensitive.groups))]
    pairs = []
    for first, second in combinations(members, 2):
        both = rows.values[np.concatenate([first, second])]
        order = np.argsort(both, kind="stable")
        last = np.append(np.flatnonzero(np.diff(both[order]) > 0), len(both) - 1)
        pairs.append(DistributionPair(first, second, order, last, np.diff(both[order][last])))
    return pairs
