"""Intervals for figures averaged over repeated train/test splits of one table."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from scipy.stats import t as student_t


class SplitMean(NamedTuple):
    """Mean over splits with its interval.

    Attributes
    ----------
    mean, deviation : float
        Over the splits.
    low, high : float
        Ends of the corrected interval.
    """

    mean: float
    deviation: float
    low: float
    high: float


def mean_over_splits(values: Sequence[float] | np.ndarray, test_share: float, *, level: float = 0.95) -> SplitMean:
    """Mean over repeated splits with the corrected resampled t interval.

    Splits of one table share rows, so deviation/√J is too small. Nadeau and Bengio (2003) put 1/J + n_test/n_train
    in the place of 1/J.

    Parameters
    ----------
    values : array-like of shape (J,)
        One figure per split; for a comparison, paired differences.
    test_share : float
        n_test / (n_train + n_test).
    level : float, default=0.95

    Returns
    -------
    SplitMean

    Examples
    --------
    >>> found = mean_over_splits([0.1, 0.2, 0.3], test_share=0.25)
    >>> round(found.mean, 3), round(found.low, 3), round(found.high, 3)
    (0.2, -0.151, 0.551)
    """
    values = np.asarray(values, dtype=float)
    mean, deviation = float(values.mean()), float(values.std(ddof=1)) if len(values) > 1 else float("nan")
    if len(values) < 2:
        return SplitMean(mean, deviation, float("nan"), float("nan"))
    variance = deviation**2 * (1 / len(values) + test_share / (1 - test_share))
    half = float(student_t.ppf((1 + level) / 2, len(values) - 1)) * variance**0.5
    return SplitMean(mean, deviation, mean - half, mean + half)
