"""The disparity that chance alone shows when the rates are exactly equal."""

from collections.abc import Sequence

import numpy as np
from scipy.stats import binom
from sklearn.utils import check_random_state

# Counts further from their mean than so many deviations and so many more have a probability below 1e-15 (Bernstein).
DEVIATIONS, BEYOND = 9.0, 40.0
DRAWS = 50_000
SEED = 0  # the same sizes always give the same floor


def parity_noise_floor(
    n_per_group: Sequence[float] | np.ndarray, rate: float, *, quantile: float | None = None
) -> float:
    """Statistical disparity to expect under exact parity, from the sizes of the groups alone.

    Parameters
    ----------
    n_per_group : sequence of numbers
        Rows (or effective sample sizes, rounded) of two or more groups.
    rate : float
        The positive rate that all groups share.
    quantile : float, optional
        Instead of the expectation, the value that the disparity stays below with this probability, from
        50,000 seeded draws.

    Returns
    -------
    float

    Notes
    -----
    With F_g the distribution function of group g's rate, the largest pair max - min has the expectation
    ∫ [1 - Π F_g(x) - Π (1 - F_g(x))] dx, here evaluated exactly for binomial counts. For two large groups it
    tends to sqrt(2/π) times the standard deviation of the difference.

    Examples
    --------
    >>> round(parity_noise_floor([1, 1], 0.5), 12)
    0.5
    >>> round(parity_noise_floor([4225, 814], 0.12), 4)
    0.0099
    """
    sizes = np.rint(np.asarray(n_per_group, dtype=float))
    if sizes.ndim != 1 or len(sizes) < 2 or not (np.isfinite(sizes) & (sizes >= 1)).all():
        raise ValueError(f"n_per_group must be the sizes (at least 1) of two or more groups; got {n_per_group!r}.")
    sizes = sizes.astype(np.int64)
    if not 0 <= rate <= 1:
        raise ValueError(f"rate must be a probability between 0 and 1; got {rate!r}.")
    if quantile is None:
        return _expected_range(sizes, rate)
    if not 0 < quantile < 1:
        raise ValueError(f"quantile must lie between 0 and 1, both left out; got {quantile!r}.")
    draws = check_random_state(SEED).binomial(sizes, rate, size=(DRAWS, len(sizes))) / sizes
    return float(np.quantile(np.ptp(draws, axis=1), quantile))


def _expected_range(sizes: np.ndarray, rate: float) -> float:
    supports, functions = [], []
    for n in sizes:
        # Not SciPy's quantiles: their search for a root fails, with a warning, where the rate is 0 but for rounding.
        reach = DEVIATIONS * np.sqrt(n * rate * (1 - rate)) + BEYOND
        counts = np.arange(max(0, int(n * rate - reach)), min(n, int(n * rate + reach) + 1) + 1)
        supports.append(counts / n)
        functions.append(np.append(0.0, binom.cdf(counts, n, rate)))
    grid = np.unique(np.concatenate(supports))
    every, none = np.ones(len(grid) - 1), np.ones(len(grid) - 1)
    for support, function in zip(supports, functions, strict=True):
        # F is constant between neighbouring points of the grid: its value at the left one.
        at = function[np.searchsorted(support, grid[:-1], side="right")]
        every, none = every * at, none * (1 - at)
    return float(np.diff(grid) @ (1 - every - none))
