"""The paper's Table I, and ours beside it."""

from typing import Any, NamedTuple

import numpy as np

from ..metrics import SplitMean, mean_over_splits, parity_noise_floor
from .context import read_rows
from .spec import FIGURE_1, FIGURE_2, TABLE_METHODS, Table

TEST_SHARE = 0.25
ORDER = [method.name for method in (*TABLE_METHODS, *FIGURE_1, *FIGURE_2)]


class Published(NamedTuple):
    """A pair of cells of Table I: mean and deviation over 50 trials."""

    sd: float
    sd_deviation: float
    error: float
    error_deviation: float


PUBLISHED = {
    ("credit", "FKR-F2E"): Published(0.0021, 0.0017, 0.2277, 0.0050),
    ("credit", "FKRR"): Published(0.0079, 0.0011, 0.2001, 0.0054),
    ("credit", "FLR"): Published(0.0779, 0.0571, 0.2412, 0.0469),
    ("credit", "FRR"): Published(0.0186, 0.0016, 0.2914, 0.0186),
    ("credit", "FPCA"): Published(0.1716, 0.0149, 0.4025, 0.0382),
    ("crime", "FKR-F2E"): Published(0.0392, 0.0267, 0.1384, 0.0125),
    ("crime", "FKRR"): Published(0.0968, 0.0722, 0.1208, 0.0054),
    ("crime", "FLR"): Published(0.0898, 0.0971, 0.1166, 0.0189),
    ("crime", "FRR"): Published(0.3062, 0.0452, 0.1102, 0.0128),
    ("crime", "FPCA"): Published(0.0859, 0.0479, 0.1731, 0.0089),
    ("compas", "FKR-F2E"): Published(0.0025, 0.0018, 0.2307, 0.0057),
    ("compas", "FKRR"): Published(0.0041, 0.0013, 0.2190, 0.0089),
    ("compas", "FLR"): Published(0.0408, 0.0162, 0.2428, 0.0917),
    ("compas", "FRR"): Published(0.0182, 0.0042, 0.2276, 0.0040),
    ("compas", "FPCA"): Published(0.2806, 0.0182, 0.3204, 0.1032),
}


class Row(NamedTuple):
    """One method on one table, over all shuffles.

    Attributes
    ----------
    table, method : str
    trials : int
    sd, error : SplitMean
    positive_rate : float
        Mean over shuffles.
    noise_floor : float
        Expected SD of a predictor with exact parity, this positive rate and these test rows.
    against_constant : SplitMean or None
        Paired difference in error to the constant predictor; negative is better than it.
    published : Published or None
    """

    table: str
    method: str
    trials: int
    sd: SplitMean
    error: SplitMean
    positive_rate: float
    noise_floor: float
    against_constant: SplitMean | None
    published: Published | None

    def within_one_deviation(self) -> tuple[bool, bool]:
        """Whether SD and error lie within one published deviation of the published means."""
        p = self.published
        if p is None:
            raise ValueError(f"{self.method} on {self.table} has no published cell.")
        return abs(self.sd.mean - p.sd) <= p.sd_deviation, abs(self.error.mean - p.error) <= p.error_deviation


def summarise(table: Table, trials: list[dict[str, Any]]) -> list[Row]:
    """Average a table's trials, method by method.

    Parameters
    ----------
    table : Table
    trials : list of dict
        As ``run_trial`` returns them.

    Returns
    -------
    list of Row
    """
    of_table = [trial for trial in trials if trial["table"] == table.name]
    if not of_table:
        return []
    s_test = read_rows(table, of_table[0]["shuffle"], include_sensitive=True).s_test
    sizes = np.bincount(s_test.astype(int)).tolist()
    constant = _series(of_table, "Constant", "error") if "Constant" in of_table[0]["results"] else None
    rows = []
    for method in sorted(of_table[0]["results"], key=_place):
        error = _series(of_table, method, "error")
        rate = float(_series(of_table, method, "positive_rate").mean())
        rows.append(
            Row(
                table.name,
                method,
                len(of_table),
                mean_over_splits(_series(of_table, method, "sd"), TEST_SHARE),
                mean_over_splits(error, TEST_SHARE),
                rate,
                parity_noise_floor(sizes, rate),
                None if constant is None or method == "Constant" else mean_over_splits(error - constant, TEST_SHARE),
                PUBLISHED.get((table.name, method.partition(",")[0])),
            )
        )
    return rows


def _place(method: str) -> tuple[int, str]:
    """Where a method stands in the table: results read from a file come in alphabetical order."""
    return (ORDER.index(method) if method in ORDER else len(ORDER)), method


def _series(trials: list[dict[str, Any]], method: str, figure: str) -> np.ndarray:
    return np.array([trial["results"][method][figure] for trial in trials])


def figure_points(rows: list[Row], prefix: str) -> list[dict[str, Any]]:
    """What a figure shows: one point per method whose name starts with the figure's.

    Parameters
    ----------
    rows : list of Row
    prefix : str
        "Figure 1" or "Figure 2".

    Returns
    -------
    list of dict
        "name", "noise_floor", and "sd" and "error" with "estimate", "low" and "high".
    """

    def ends(found: SplitMean) -> dict[str, float]:
        # One shuffle has no interval.
        low, high = (found.mean, found.mean) if np.isnan(found.low) else (found.low, found.high)
        return {"estimate": found.mean, "low": max(0.0, low), "high": min(1.0, high)}

    return [
        {
            "name": row.method.removeprefix(prefix + ": "),
            "noise_floor": row.noise_floor,
            "sd": ends(row.sd),
            "error": ends(row.error),
        }
        for row in rows
        if row.method.startswith(prefix)
    ]
