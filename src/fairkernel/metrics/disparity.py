"""How far apart groups are: in rates for decisions, in means and distributions for scores.

Every function takes ``(y_true, y_pred, *, sensitive_features)`` as scikit-learn's and fairlearn's metrics do;
those that need no truth accept ``y_true=None``. With several groups the largest pair counts.
"""

from itertools import combinations
from typing import Any, NamedTuple

import numpy as np

from ._inputs import continuous_scores, group_scores, read_class_rows, read_errors, require_sensitive
from ._scores import correlations, covariances, distribution_pairs, group_means
from .counts import GroupCounts


class DistributionDisparity(NamedTuple):
    """Largest distances between two groups' distributions of predictions.

    Attributes
    ----------
    ks : float
        Kolmogorov-Smirnov.
    w1 : float
        Wasserstein-1, in the unit of the predictions.
    """

    ks: Any
    w1: Any


def statistical_disparity(
    y_true: Any, y_pred: Any, *, sensitive_features: Any, sample_weight: Any = None, pos_label: Any = None
) -> float:
    """Largest difference of positive rates between two groups, the paper's SD.

    SD = |P(ŷ = 1 | s = 1) - P(ŷ = 1 | s = 0)| for two groups.

    Parameters
    ----------
    y_true : array-like of shape (n,) or None
        Only used to learn the labels.
    y_pred : array-like of shape (n,)
        Predicted labels of two classes.
    sensitive_features : array-like of shape (n,) or (n, columns)
        Groups; intersections when there are several columns.
    sample_weight : array-like of shape (n,), optional
    pos_label : label, optional
        Default: the larger of the two labels in `y_true` and `y_pred`. Where they show one label only it is 1 if that
        label is 0, 1 or −1 (so all of [1, 1, 1] are positive), and must be passed otherwise.

    Returns
    -------
    float
        Between 0 and 1. A constant prediction has 0.

    Examples
    --------
    >>> statistical_disparity(None, [1, 0, 1, 1], sensitive_features=["a", "a", "b", "b"])
    0.5
    """
    return _counts(y_true, y_pred, sensitive_features, sample_weight, pos_label).difference("positive")


def pairwise_disparity(
    y_true: Any, y_pred: Any, *, sensitive_features: Any, sample_weight: Any = None, pos_label: Any = None
) -> dict[tuple, float]:
    """Signed difference of positive rates for every pair of groups.

    Parameters
    ----------
    y_true, y_pred, sensitive_features, sample_weight, pos_label
        As in `statistical_disparity`.

    Returns
    -------
    dict
        ``{(group_a, group_b): rate_a - rate_b}`` with the groups in sorted order.

    Examples
    --------
    >>> pairwise_disparity(None, [1, 0, 1, 1], sensitive_features=["a", "a", "b", "b"])
    {('a', 'b'): -0.5}
    """
    counts = _counts(y_true, y_pred, sensitive_features, sample_weight, pos_label)
    rates = dict(zip(counts.groups, counts.rates("positive").tolist(), strict=True))
    return {(a, b): rates[a] - rates[b] for a, b in combinations(counts.groups, 2)}


def opportunity_difference(
    y_true: Any, y_pred: Any, *, sensitive_features: Any, sample_weight: Any = None, pos_label: Any = None
) -> float:
    """Largest difference of true positive rates between two groups.

    Parameters
    ----------
    y_true, y_pred, sensitive_features, sample_weight, pos_label
        As in `statistical_disparity`; `y_true` is needed.

    Returns
    -------
    float

    Examples
    --------
    >>> opportunity_difference([1, 1, 1, 0], [1, 0, 1, 1], sensitive_features=["a", "a", "b", "b"])
    0.5
    """
    return _counts(y_true, y_pred, sensitive_features, sample_weight, pos_label).difference("true_positive")


def odds_difference(
    y_true: Any, y_pred: Any, *, sensitive_features: Any, sample_weight: Any = None, pos_label: Any = None
) -> float:
    """Largest difference of true or of false positive rates between two groups.

    Parameters
    ----------
    y_true, y_pred, sensitive_features, sample_weight, pos_label
        As in `statistical_disparity`; `y_true` is needed.

    Returns
    -------
    float

    Examples
    --------
    >>> odds_difference([1, 0, 1, 0], [1, 0, 1, 1], sensitive_features=["a", "a", "b", "b"])
    1.0
    """
    counts = _counts(y_true, y_pred, sensitive_features, sample_weight, pos_label)
    return counts.difference("true_positive", "false_positive")


def positive_rate(y_true: Any, y_pred: Any, *, sample_weight: Any = None, pos_label: Any = None) -> float:
    """Share of rows predicted positive, to be read beside every disparity: a constant prediction has none.

    Parameters
    ----------
    y_true, y_pred, sample_weight, pos_label
        As in `statistical_disparity`.

    Returns
    -------
    float

    Examples
    --------
    >>> positive_rate(None, ["no", "yes", "no", "no"])
    0.25
    """
    rows = read_class_rows(y_true, y_pred, None, sample_weight, pos_label)
    return float(np.average(rows.predicted, weights=rows.weight))


def error_rate(y_true: Any, y_pred: Any, sample_weight: Any = None) -> float:
    """Share of rows predicted wrongly; any number of classes.

    Parameters
    ----------
    y_true, y_pred : array-like of shape (n,)
        Class labels.
    sample_weight : array-like of shape (n,), optional

    Returns
    -------
    float

    Examples
    --------
    >>> error_rate([0, 1, 2, 1], [0, 1, 1, 1])
    0.25
    """
    wrong, weight = read_errors(y_true, y_pred, sample_weight)
    return float(np.average(wrong, weights=weight))


def mean_disparity(y_true: Any, y_pred: Any, *, sensitive_features: Any, sample_weight: Any = None) -> float:
    """Largest difference of mean prediction between two groups, in the unit of the prediction.

    Parameters
    ----------
    y_true : array-like of shape (n,) or None
        Not used; accepted so that the function serves as a scorer.
    y_pred : array-like of shape (n,)
        Numeric predictions or scores.
    sensitive_features : array-like of shape (n,) or (n, columns)
        Groups. For continuous attributes see `correlation_disparity`.
    sample_weight : array-like of shape (n,), optional

    Returns
    -------
    float

    Examples
    --------
    >>> mean_disparity(None, [1.0, 2.0, 4.0, 5.0], sensitive_features=["a", "a", "b", "b"])
    3.0
    """
    rows = group_scores(y_true, y_pred, sensitive_features, sample_weight)
    return float(np.ptp(group_means(rows, rows.weight)))


def distribution_disparity(
    y_true: Any, y_pred: Any, *, sensitive_features: Any, sample_weight: Any = None
) -> DistributionDisparity:
    """Largest distances between two groups' distributions of predictions.

    KS = max |F_a - F_b| has no unit; W1 = ∫ |F_a - F_b|, the mean distance predictions would have to move,
    has the unit of the prediction. Each is the largest over all pairs, not always the same pair.

    Parameters
    ----------
    y_true, y_pred, sensitive_features, sample_weight
        As in `mean_disparity`.

    Returns
    -------
    DistributionDisparity
        With fields `ks` and `w1`.

    Examples
    --------
    >>> distribution_disparity(None, [1.0, 2.0, 4.0, 5.0], sensitive_features=["a", "a", "b", "b"])
    DistributionDisparity(ks=1.0, w1=3.0)
    """
    rows = group_scores(y_true, y_pred, sensitive_features, sample_weight)
    ks, w1 = zip(*(pair.distances(pair.steps(rows.weight)) for pair in distribution_pairs(rows)), strict=True)
    return DistributionDisparity(max(ks), max(w1))


def correlation_disparity(y_true: Any, y_pred: Any, *, sensitive_features: Any, sample_weight: Any = None) -> float:
    """Largest absolute correlation between the prediction and a continuous sensitive attribute.

    Only linear dependence shows: a prediction that depends on the square of s may have 0. A constant
    prediction has 0.

    Parameters
    ----------
    y_true, y_pred, sample_weight
        As in `mean_disparity`.
    sensitive_features : array-like of shape (n,) or (n, columns)
        Continuous columns only.

    Returns
    -------
    float
        Between 0 and 1.

    Examples
    --------
    >>> age = [20, 25, 30, 35, 40, 45, 50, 55, 60, 65, 70, 75]
    >>> correlation_disparity(None, [2.0 * a for a in age], sensitive_features=age)
    1.0
    """
    rows = continuous_scores(y_true, y_pred, sensitive_features, sample_weight)
    return float(np.abs(correlations(rows, rows.weight)).max())


def covariance_disparity(y_true: Any, y_pred: Any, *, sensitive_features: Any, sample_weight: Any = None) -> float:
    """Largest absolute covariance between the prediction and a continuous sensitive attribute of deviation 1.

    What ``max_decision_gap`` bounds for a continuous attribute, and ``mean_gap_`` reports. Decisions (or scores) that
    depend linearly on a normal attribute differ by about this much per standard deviation of it. It is not the
    difference between extreme values of the attribute, which is several times as large; and dependence that is not
    linear may not show at all.

    Parameters
    ----------
    y_true, sample_weight
        As in `mean_disparity`.
    y_pred : array-like of shape (n,)
        Decisions as 0 and 1, or numeric predictions.
    sensitive_features : array-like of shape (n,) or (n, columns)
        Continuous columns only.

    Returns
    -------
    float
        In the unit of the prediction; at most its standard deviation, so 0.5 for decisions. A constant prediction
        has 0.

    Examples
    --------
    >>> age = [20, 25, 30, 35, 40, 45, 50, 55, 60, 65, 70, 75]
    >>> round(covariance_disparity(None, [int(a >= 50) for a in age], sensitive_features=age), 3)
    0.435
    """
    rows = continuous_scores(y_true, y_pred, sensitive_features, sample_weight)
    return float(np.abs(covariances(rows, rows.weight)).max())


def _counts(y_true, y_pred, sensitive_features, sample_weight, pos_label):
    require_sensitive(sensitive_features)
    return GroupCounts.from_rows(read_class_rows(y_true, y_pred, sensitive_features, sample_weight, pos_label))
