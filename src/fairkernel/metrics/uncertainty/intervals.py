"""Confidence intervals of the metrics: signed differences first, then folded to the absolute value."""

from collections.abc import Callable
from inspect import signature
from typing import Any, NamedTuple

import numpy as np
from scipy.stats import norm, t

from .. import disparity
from .._inputs import (
    ScoreRows,
    continuous_scores,
    effective_size,
    group_scores,
    read_class_rows,
    read_errors,
    require_sensitive,
)
from .._scores import correlations, covariances, distribution_pairs, group_means, mean_and_variance
from ..counts import GroupCounts
from ..disparity import DistributionDisparity
from .bootstrap import Bootstrap

# The rates whose largest pair each metric of decisions is.
RATES = {
    "statistical_disparity": ("positive",),
    "opportunity_difference": ("true_positive",),
    "odds_difference": ("true_positive", "false_positive"),
}
SHARES = ("error_rate", "positive_rate")
# Of scores and a continuous attribute: what is measured of each column, and the most it can be.
DEPENDENCES = {"correlation_disparity": (correlations, 1.0), "covariance_disparity": (covariances, np.inf)}
SCORES = ("mean_disparity", "distribution_disparity", *DEPENDENCES)
BOOTSTRAP_ONLY = ("distribution_disparity", *DEPENDENCES)


class Interval(NamedTuple):
    """An estimate with a confidence interval.

    Attributes
    ----------
    estimate : float
    low, high : float
        Ends of the interval.
    level : float
        Its confidence level.
    method : str
        "analytic" or "bootstrap".
    """

    estimate: float
    low: float
    high: float
    level: float
    method: str


def interval(
    metric: Callable | str,
    y_true: Any,
    y_pred: Any,
    *,
    sensitive_features: Any = None,
    level: float = 0.95,
    method: str = "auto",
    n_resamples: int = 1000,
    random_state: Any = None,
    sample_weight: Any = None,
    pos_label: Any = None,
) -> Any:
    """Confidence interval of a metric.

    Parameters
    ----------
    metric : function of `fairkernel.metrics` or its name
        Any but `pairwise_disparity`.
    y_true, y_pred, sensitive_features, sample_weight, pos_label
        As the metric takes them; one that it does not take is refused.
    level : float
        Probability that the interval covers the true value.
    method : {"auto", "analytic", "bootstrap"}
        Analytic: Wilson for shares, Newcombe's Wilson hybrid for differences of rates, Welch for differences
        of means. Bootstrap: rows drawn again within each group (and class, for opportunity and odds). "auto" is
        analytic but for `distribution_disparity`, `correlation_disparity` and `covariance_disparity`, which have the
        bootstrap only.
    n_resamples : int
        Bootstrap resamples.
    random_state : int, RandomState or None
        Seed of the bootstrap.

    Returns
    -------
    Interval
        For `distribution_disparity` a `DistributionDisparity` of two intervals.

    Notes
    -----
    The largest difference between groups is an absolute value, pushed upward near parity. Intervals are
    therefore made for the signed differences, for all pairs at once (Bonferroni; the bootstrap uses the
    largest deviation of any pair), and folded at zero: they contain 0 when the rows cannot tell the groups
    apart. Near zero, and with many groups, they cover more often than `level`. The bootstrap cannot see what
    never happened: with no positive in any group its interval is [0, 0]; the analytic one is not.

    Examples
    --------
    >>> from fairkernel.metrics import statistical_disparity
    >>> found = interval(statistical_disparity, None, [1, 0] * 20 + [1, 1, 0, 0] * 10,
    ...                  sensitive_features=["a"] * 40 + ["b"] * 40)
    >>> found.estimate, found.low, round(found.high, 3)
    (0.0, 0.0, 0.209)
    """
    name = _metric_name(metric)
    check_level(level)
    for parameter, given in (("sensitive_features", sensitive_features), ("pos_label", pos_label)):
        if given is not None and parameter not in signature(getattr(disparity, name)).parameters:
            raise TypeError(f"{name} takes no {parameter}, and neither does its interval: leave it out.")
    if method not in ("auto", "analytic", "bootstrap"):
        raise ValueError(f"method must be 'auto', 'analytic' or 'bootstrap'; got {method!r}.")
    if method == "analytic" and name in BOOTSTRAP_ONLY:
        raise ValueError(f"{name} has no analytic interval: pass method='bootstrap', or 'auto'.")
    if method == "auto":
        method = "bootstrap" if name in BOOTSTRAP_ONLY else "analytic"
    bootstrap = Bootstrap(level, n_resamples, random_state) if method == "bootstrap" else None
    if name in SCORES:
        read = continuous_scores if name in DEPENDENCES else group_scores
        scores = read(y_true, y_pred, sensitive_features, sample_weight)
        return _score_interval(name, scores, level, bootstrap)
    if name in SHARES:
        if name == "error_rate":
            share, weight = read_errors(y_true, y_pred, sample_weight)
        else:
            rows = read_class_rows(y_true, y_pred, None, sample_weight, pos_label)
            share, weight = rows.predicted, rows.weight
        estimate = float(np.average(share, weights=weight))
        if bootstrap is None:
            return share_interval(estimate, effective_size(weight), level)
        return _around(estimate, bootstrap.share(share, weight), level, 1.0)
    require_sensitive(sensitive_features)
    rows = read_class_rows(y_true, y_pred, sensitive_features, sample_weight, pos_label)
    counts = GroupCounts.from_rows(rows)
    if bootstrap is None:
        return rate_difference_interval(counts, RATES[name], level)
    half = bootstrap.rates(rows, counts, RATES[name])
    return _around(counts.difference(*RATES[name]), half, level, 1.0)


def check_level(level: Any) -> None:
    """Refuse a level that is no probability strictly between 0 and 1."""
    if not isinstance(level, float | np.floating) or not 0 < level < 1:
        raise ValueError(f"level must lie between 0 and 1, both left out; got {level!r}.")


def share_interval(share: float, n_effective: float, level: float) -> Interval:
    """Wilson's interval of one proportion."""
    low, high = share_bounds(np.array(share), n_effective, level)
    return Interval(share, float(low), float(high), level, "analytic")


def share_bounds(share: np.ndarray, n_effective: float, level: float) -> tuple[np.ndarray, np.ndarray]:
    """Wilson's bounds of many proportions."""
    return _wilson(share, np.array(n_effective), norm.ppf((1 + level) / 2))


def rate_difference_interval(counts: GroupCounts, kinds: tuple[str, ...], level: float) -> Interval:
    """Interval of the largest difference of the given rates between two groups."""
    estimate = counts.difference(*kinds)
    bounds = [fold(*rate_differences(counts, kind, level, len(kinds))) for kind in kinds]
    low, high = np.max(bounds, axis=0)
    return Interval(estimate, float(low), float(high), level, "analytic")


def rate_differences(counts: GroupCounts, kind: str, level: float, n_kinds: int = 1) -> tuple[np.ndarray, np.ndarray]:
    """Newcombe's hybrid of two Wilson intervals for rate_a - rate_b, simultaneous over all pairs."""
    rate = counts.rates(kind)
    return _newcombe(rate, counts.effective_sizes(kind), _level_of_each(level, len(rate), n_kinds))


def largest_gap_interval(
    rates: np.ndarray,
    sizes: np.ndarray,
    strata: tuple[tuple[int, ...], ...],
    level: float,
    numeric: tuple[np.ndarray, np.ndarray] | None = None,
) -> tuple[np.ndarray, np.ndarray]:
    """Bounds of the largest difference of rates within strata, for many predictions at once.

    Parameters
    ----------
    rates : ndarray of shape (..., cells)
    sizes : ndarray of shape (cells,)
        Effective numbers of rows.
    strata : tuple of tuple of int
        Cells to compare with each other.
    level : float
    numeric : pair of ndarray of shape (..., numbers), optional
        Covariances that belong to the same gap, and their standard errors.

    Returns
    -------
    low, high : ndarray of shape (...)
    """
    values, errors = numeric if numeric is not None else (np.empty((*rates.shape[:-1], 0)),) * 2
    pairs = sum(len(cells) * (len(cells) - 1) // 2 for cells in strata) + values.shape[-1]
    each = 1 - (1 - level) / max(pairs, 1)
    bounds = []
    for cells in strata:
        if len(cells) > 1:
            signed = _newcombe(rates[..., list(cells)], sizes[list(cells)], each)
            pair = np.triu_indices(len(cells), 1)
            bounds.append(_folded(*(bound[..., pair[0], pair[1]] for bound in signed)))
    if values.shape[-1]:
        half = norm.ppf((1 + each) / 2) * errors
        bounds.append(_folded(values - half, values + half))
    low, high = (np.max(ends, axis=0) for ends in zip(*bounds, strict=True))
    return low, high


def _newcombe(rate: np.ndarray, n: np.ndarray, level: float) -> tuple[np.ndarray, np.ndarray]:
    """Bounds of rate_a - rate_b for all pairs along the last axis."""
    low, high = _wilson(rate, n, norm.ppf((1 + level) / 2))
    down, up = rate - low, high - rate
    signed = rate[..., :, None] - rate[..., None, :]
    lower = signed - np.hypot(down[..., :, None], up[..., None, :])
    return lower, signed + np.hypot(up[..., :, None], down[..., None, :])


def _folded(low: np.ndarray, high: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Bounds of max |d| along the last axis."""
    nearest = np.where((low <= 0) & (high >= 0), 0.0, np.minimum(np.abs(low), np.abs(high)))
    return nearest.max(axis=-1), np.maximum(np.abs(low), np.abs(high)).max(axis=-1)


def mean_difference_interval(rows: ScoreRows, level: float) -> Interval:
    """Interval of the largest difference of means between two groups."""
    estimate = float(np.ptp(group_means(rows, rows.weight)))
    low, high = fold(*mean_differences(rows, level))
    return Interval(estimate, low, high, level, "analytic")


def mean_differences(rows: ScoreRows, level: float) -> tuple[np.ndarray, np.ndarray]:
    """Welch's interval for mean_a - mean_b, simultaneous over all pairs."""
    mean, variance, n = mean_and_variance(rows)
    if (n <= 1).any():
        group = rows.sensitive.groups[int(np.argmax(n <= 1))]
        raise ValueError(f"group {group!r} has one row: its spread, and so an interval, cannot be told from it.")
    squared = variance[:, None] + variance
    # Two groups that never vary have a difference without error, whatever the degrees of freedom.
    share = np.divide(variance[:, None], squared, out=np.ones_like(squared), where=squared > 0)
    freedom = 1 / (share**2 / (n - 1)[:, None] + (1 - share) ** 2 / (n - 1))
    half = t.ppf((1 + _level_of_each(level, len(n))) / 2, freedom) * np.sqrt(squared)
    signed = mean[:, None] - mean
    return signed - half, signed + half


def fold(low: np.ndarray, high: np.ndarray) -> tuple[float, float]:
    """Bounds of max |d| from simultaneous bounds of every d."""
    pair = np.triu_indices(len(low), 1)
    nearest, farthest = _folded(low[pair], high[pair])
    return float(nearest), float(farthest)


def distribution_interval(rows: ScoreRows, bootstrap: Bootstrap) -> DistributionDisparity:
    """Intervals of the largest KS and W1 distances."""
    ks, w1 = np.max([pair.distances(pair.steps(rows.weight)) for pair in distribution_pairs(rows)], axis=0)
    half = bootstrap.distributions(rows)
    return DistributionDisparity(_around(ks, half[0], bootstrap.level, 1.0), _around(w1, half[1], bootstrap.level))


def _score_interval(name: str, rows: ScoreRows, level: float, bootstrap: Bootstrap | None) -> Any:
    if bootstrap is None:
        return mean_difference_interval(rows, level)
    if name == "distribution_disparity":
        return distribution_interval(rows, bootstrap)
    if name == "mean_disparity":
        return _around(np.ptp(group_means(rows, rows.weight)), bootstrap.means(rows), level)
    measure, largest = DEPENDENCES[name]
    return _around(np.abs(measure(rows, rows.weight)).max(), bootstrap.dependences(rows, measure), level, largest)


def _wilson(rate, n, z):
    centre, half = rate + z**2 / (2 * n), z * np.sqrt(rate * (1 - rate) / n + (z / (2 * n)) ** 2)
    scale = 1 + z**2 / n
    # At rates of 0 and 1 one bound is the rate itself, but for rounding.
    low, high = np.maximum((centre - half) / scale, 0), np.minimum((centre + half) / scale, 1)
    return np.minimum(low, rate), np.maximum(high, rate)


def _level_of_each(level, n_groups, n_kinds=1):
    return 1 - (1 - level) / (n_kinds * n_groups * (n_groups - 1) / 2)


def _around(estimate, half, level, largest=np.inf):
    return Interval(
        float(estimate),
        max(0.0, float(estimate - half)),
        min(largest, float(estimate + half)),
        level,
        "bootstrap",
    )


def _metric_name(metric):
    known = (*RATES, *SHARES, *SCORES)
    name = metric if isinstance(metric, str) else getattr(metric, "__name__", repr(metric))
    if name not in known or (callable(metric) and metric is not getattr(disparity, name)):
        raise ValueError(f"metric must be one of {', '.join(known)}, as a function or a name; got {metric!r}.")
    return name
