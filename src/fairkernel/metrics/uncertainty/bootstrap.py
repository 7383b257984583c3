"""Half-widths of intervals from rows drawn again.

A metric ‖D‖ (largest pair, KS, W1) is pushed upward near zero, and so are its resamples: a percentile
interval for it would never reach 0. The signed D* - D has no such push, and by the triangle inequality
| ‖D*‖ - ‖D‖ | <= ‖D* - D‖: ‖D‖ plus or minus the quantile of ‖D* - D‖ covers at least as often as asked.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from sklearn.utils import check_random_state

from .._inputs import ClassRows, ScoreRows
from .._scores import distribution_pairs, group_means
from ..counts import GroupCounts, cell_sums


@dataclass(frozen=True)
class Bootstrap:
    """How to resample, and at which level to cut."""

    level: float
    n_resamples: int
    random_state: Any

    def __post_init__(self) -> None:
        if not isinstance(self.n_resamples, int | np.integer) or self.n_resamples < 1:
            raise ValueError(f"n_resamples must be a whole number, at least 1; got {self.n_resamples!r}.")

    def quantile(self, deviation: Callable[[np.ndarray], Any], weight: np.ndarray, strata: np.ndarray) -> Any:
        """Quantile of ``deviation(weight of the resample)``, rows drawn again within each stratum."""
        random = check_random_state(self.random_state)
        order = np.argsort(strata, kind="stable")
        sizes = np.bincount(strata)
        starts = np.cumsum(sizes) - sizes
        deviations = []
        for _ in range(self.n_resamples):
            drawn = [start + random.randint(n, size=n) for start, n in zip(starts, sizes, strict=True) if n]
            times = np.bincount(order[np.concatenate(drawn)], minlength=len(weight))
            deviations.append(deviation(weight * times))
        return np.quantile(deviations, self.level, axis=0)

    def rates(self, rows: ClassRows, counts: GroupCounts, kinds: tuple[str, ...]) -> float:
        """Largest stray of a difference of rates, over kinds and pairs."""
        found = [counts.rates(kind) for kind in kinds]
        # Rates within a class keep their denominators: a resample could lose a class of a small group.
        strata = rows.codes if kinds == ("positive",) or rows.truth is None else rows.codes * 2 + rows.truth

        def deviation(weight):
            again = replace(counts, weight=cell_sums(rows, weight))
            # (r*_a - r_a) - (r*_b - r_b) is largest for the pair at the ends of r* - r.
            return max(np.ptp(again.rates(kind) - rate) for kind, rate in zip(kinds, found, strict=True))

        return self.quantile(deviation, rows.weight, strata)

    def share(self, share: np.ndarray, weight: np.ndarray) -> float:
        """Stray of one weighted proportion."""
        found = np.average(share, weights=weight)
        strata = np.zeros(len(share), dtype=np.int64)
        return self.quantile(lambda again: abs(np.average(share, weights=again) - found), weight, strata)

    def means(self, rows: ScoreRows) -> float:
        """Largest stray of a difference of means."""
        found = group_means(rows, rows.weight)
        return self.quantile(
            lambda weight: np.ptp(group_means(rows, weight) - found), rows.weight, rows.sensitive.codes
        )

    def distributions(self, rows: ScoreRows) -> np.ndarray:
        """Largest KS and W1 distances by which F_a - F_b strays from itself."""
        pairs = distribution_pairs(rows)
        found = [pair.steps(rows.weight) for pair in pairs]

        def deviation(weight):
            strays = [pair.distances(pair.steps(weight) - steps) for pair, steps in zip(pairs, found, strict=True)]
            return np.max(strays, axis=0)

        return self.quantile(deviation, rows.weight, rows.sensitive.codes)

    def dependences(self, rows: ScoreRows, measure: Callable[[ScoreRows, np.ndarray], np.ndarray]) -> float:
        """Largest stray of a covariance or correlation with a continuous column."""
        found = measure(rows, rows.weight)
        return self.quantile(
            lambda weight: np.abs(measure(rows, weight) - found).max(), rows.weight, rows.sensitive.codes
        )
