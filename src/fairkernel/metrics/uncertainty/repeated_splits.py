"""Intervals for figures averaged over repeated train/test splits of one table."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from scipy.stats import t as student_t

from .intervals import check_level


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
        One figure per split; for a comparison, paired differences. A single one has no interval (NaN).
    test_share : float
        n_test / (n_train + n_test), from 0 (splits that share no rows) to below 1.
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
    values = _read_values(values)
    check_level(level)
    if not isinstance(test_share, float | int | np.floating) or not 0 <= test_share < 1:
        raise ValueError(
            f"test_share={test_share!r} must be the share of rows that a split holds out, at least 0 and below 1, such "
            "as 0.25."
        )
    mean, deviation = float(values.mean()), float(values.std(ddof=1)) if len(values) > 1 else float("nan")
    if len(values) < 2:
        return SplitMean(mean, deviation, float("nan"), float("nan"))
    variance = deviation**2 * (1 / len(values) + test_share / (1 - test_share))
    half = float(student_t.ppf((1 + level) / 2, len(values) - 1)) * variance**0.5
    return SplitMean(mean, deviation, mean - half, mean + half)


def _read_values(values: Sequence[float] | np.ndarray) -> np.ndarray:
    try:
        read = np.asarray(values, dtype=float)
    except (TypeError, ValueError):
        raise ValueError(f"values must be numbers, one per split; got {values!r}.") from None
    if read.ndim != 1 or not len(read):
        raise ValueError(f"values must be one figure per split, at least one; got shape {read.shape}.")
    if not np.isfinite(read).all():
        gaps = np.flatnonzero(~np.isfinite(read))
        raise ValueError(f"values: {read[gaps[0]]} in split {gaps[0]} is no finite number: leave these splits out.")
    return read
