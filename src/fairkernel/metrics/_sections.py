"""Parts that the reports of both tasks share, in plain Python values."""

from itertools import combinations
from typing import Any

import numpy as np
from scipy.stats import t

from ._inputs import ScoreRows
from ._scores import mean_and_variance
from .uncertainty.bootstrap import Bootstrap
from .uncertainty.intervals import Interval, distribution_interval, mean_difference_interval, mean_differences

SMALL_GROUP = 30  # a rate of one half is then known to about ±0.17 only


def text(label: Any) -> str:
    """A group or class label as text; intersections are joined."""
    return " & ".join(map(str, label)) if isinstance(label, tuple) else str(label)


def names_of(groups: tuple) -> list[str]:
    """Groups as text; those that would read alike (0 and "0", or "a & b" twice) as Python writes them."""
    texts = [text(group) for group in groups]
    names = [repr(group) if texts.count(name) > 1 else name for group, name in zip(groups, texts, strict=True)]
    return names if len(set(names)) == len(names) else list(map(repr, groups))


def plain(found: Interval) -> dict:
    """An interval as a dictionary; its level stands once, at the top of the report."""
    return {"estimate": found.estimate, "low": found.low, "high": found.high}


def figures(found: dict, level: float) -> str:
    """An estimate with its interval in words."""
    if found["low"] is None:
        return f"{found['estimate']:.4g} (no interval)"
    return f"{found['estimate']:.4g} ({level:.0%} interval {found['low']:.4g} to {found['high']:.4g})"


def pairs_section(groups: tuple, values: np.ndarray, low: np.ndarray | None, high: np.ndarray | None) -> list[dict]:
    """Signed difference of every pair, with simultaneous bounds where there are any."""
    names = names_of(groups)
    return [
        {
            "groups": [names[a], names[b]],
            "difference": float(values[a] - values[b]),
            "low": None if low is None else float(low[a, b]),
            "high": None if high is None else float(high[a, b]),
        }
        for a, b in combinations(range(len(groups)), 2)
    ]


def score_section(rows: ScoreRows, bootstrap: Bootstrap, undefined: dict[str, str]) -> dict:
    """Means and distributions of numeric predictions; reasons for what is left out go to `undefined`."""
    level, groups = bootstrap.level, rows.sensitive.groups
    mean, variance, n = mean_and_variance(rows)
    low = high = None
    difference = {"estimate": float(np.ptp(mean)), "low": None, "high": None}
    try:
        low, high = mean_differences(rows, level)
        difference = plain(mean_difference_interval(rows, level))
    except ValueError as reason:
        undefined["interval of mean_disparity"] = str(reason)
    distribution = distribution_interval(rows, bootstrap)
    half = t.ppf((1 + level) / 2, np.maximum(n - 1, 1)) * np.sqrt(variance)
    return {
        "groups": [
            {
                "group": name,
                "n_rows": int(rows.sensitive.counts[g]),
                "weight": float(rows.weight[rows.sensitive.codes == g].sum()),
                "n_effective": float(n[g]),
                "mean_prediction": {
                    "estimate": float(mean[g]),
                    "low": float(mean[g] - half[g]) if n[g] > 1 else None,
                    "high": float(mean[g] + half[g]) if n[g] > 1 else None,
                },
            }
            for g, name in enumerate(names_of(groups))
        ],
        "mean_disparity": difference,
        "pairs": pairs_section(groups, mean, low, high),
        "ks": plain(distribution.ks),
        "w1": plain(distribution.w1),
        "distinguishable_from_parity": None if difference["low"] is None else difference["low"] > 0,
    }


def size_notes(report: dict) -> list[str]:
    """What the sizes of the groups, and weights, mean for the numbers above."""
    notes = [
        f"Group {group['group']} counts as {group['n_effective']:.0f} rows: what is measured in it is mostly noise."
        for group in report["groups"]
        if group["n_effective"] < SMALL_GROUP
    ]
    if report["n_effective"] < report["n_rows"] * (1 - 1e-9):
        notes.append(
            f"Rows are weighted: intervals rest on the effective size {report['n_effective']:.0f} "
            f"of {report['n_rows']} rows."
        )
    return notes
