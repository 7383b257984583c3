"""Errors and disparities of predictions, with intervals and the noise that exact parity would show.

A metric near zero is a measurement on these rows, not a certificate; every number has an interval, and a
constant prediction, which has no disparity at all, belongs beside it.
"""

from .counts import GroupCounts
from .disparity import (
    DistributionDisparity,
    correlation_disparity,
    covariance_disparity,
    distribution_disparity,
    error_rate,
    mean_disparity,
    odds_difference,
    opportunity_difference,
    pairwise_disparity,
    positive_rate,
    statistical_disparity,
)
from .report import fairness_report
from .uncertainty import Interval, SplitMean, interval, mean_over_splits, parity_noise_floor

__all__ = [
    "DistributionDisparity",
    "GroupCounts",
    "Interval",
    "SplitMean",
    "correlation_disparity",
    "covariance_disparity",
    "distribution_disparity",
    "error_rate",
    "fairness_report",
    "interval",
    "mean_disparity",
    "mean_over_splits",
    "odds_difference",
    "opportunity_difference",
    "pairwise_disparity",
    "parity_noise_floor",
    "positive_rate",
    "statistical_disparity",
]
