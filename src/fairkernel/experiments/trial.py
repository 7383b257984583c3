"""One trial: one published shuffle of one table, every method, hyper-parameters from training rows only."""

import time
from typing import Any

import numpy as np

from .context import Outcome, Rows, Trial, error_and_sd, quietly, read_rows
from .methods import RUN, TYPES
from .selection import Rule
from .spec import Method, Table


def run_trial(table: Table, methods: tuple[Method, ...], shuffle: int, select: str) -> dict[str, Any]:
    """Run every method on one shuffle.

    Parameters
    ----------
    table : Table
    methods : tuple of Method
    shuffle : int
        Which of the table's shuffles, from 0; also the seed of whatever is drawn.
    select : str
        See ``Rule.parse``.

    Returns
    -------
    dict
        "table", "shuffle", "seed" and "results": one dict per method with its settings, error, SD, positive rate, mean
        gap and seconds.
    """
    rows = read_rows(table, shuffle, include_sensitive=True)
    types = tuple({TYPES[method.kind] for method in methods if method.kind in TYPES})
    trial = Trial(rows, read_rows(table, shuffle, include_sensitive=False), table, Rule.parse(select), shuffle, types)
    results = {}
    with quietly():
        for method in methods:
            start = time.perf_counter()
            outcome = RUN[method.kind](method, trial)
            results[method.name] = {**_measured(outcome, rows), "seconds": time.perf_counter() - start}
    return {"table": table.name, "shuffle": shuffle, "seed": shuffle, "results": results}


def _measured(outcome: Outcome, rows: Rows) -> dict[str, Any]:
    predicted = outcome.predicted.astype(bool)
    error, sd = error_and_sd(predicted, rows.y_test, rows.s_test)
    return {
        "settings": outcome.settings,
        "cv_error": outcome.cv_error,
        "cv_sd": outcome.cv_sd,
        "error": float(error),
        "sd": float(sd),
        "positive_rate": float(np.mean(predicted)),
        "mean_gap": outcome.mean_gap,
    }
