"""A frontier as plain values, for its text, its page and its plot."""

import math
import re
from collections.abc import Sequence
from typing import Any

import numpy as np
from sklearn.base import is_classifier

from ..estimators._ridge import FairKernelRidge
from ..rows import TrainingRows
from ._frontier_rows import CONSTANT, OURS

SETTING = ("alpha", "threshold", "disparity_kept", "distribution_parity", "max_decision_gap")
WORDS = ("model", "kernel", "groups")  # columns of text; the others are of numbers
FORMS = {"alpha": "z.3g", "max_decision_gap": "z.4f"}
DIGITS = 4  # of figures
LONGEST = 24  # characters of a kernel; ``kernels`` has them in full
COMPARED = {"error": ("positive rates", "decision"), "r2": ("mean scores", "score")}
WITHIN = {
    "error": {"parity": "", "opportunity": " within the positive class", "odds": " within a class"},
    "r2": {"parity": "", "opportunity": " within the highest bin of y", "odds": " within a bin of y"},
}


def in_words(model: FairKernelRidge, rows: TrainingRows) -> dict[str, str]:
    """What the disparity is, which depends on what the groups are, and which class is the positive one.

    Parameters
    ----------
    model : FairKernelClassifier or FairKernelRegressor
    rows : TrainingRows

    Returns
    -------
    dict of str to str
    """
    score = "error" if is_classifier(model) else "r2"
    rates, one = COMPARED[score]
    what = [f"largest difference of {rates} between groups"] if len(rows.sensitive.groups) > 1 else []
    what += [f"largest |covariance| of {one} and standardised attribute"] if rows.sensitive.numeric_names else []
    named = {"positive": repr(rows.classes.tolist()[1])} if is_classifier(model) else {}
    return {"disparity": " or ".join(what) + WITHIN[score][model.criterion], **named}


def to_show(
    table: dict[str, np.ndarray],
    worth: np.ndarray,
    models: Sequence[FairKernelRidge],
    what: dict[str, str],
    n_rows: int,
) -> dict[str, Any]:
    """What there is to show.

    Parameters
    ----------
    table : dict of str to ndarray
        Of the frontier.
    worth : ndarray of int
        Rows that no row equals or beats in both score and disparity.
    models : sequence of FairKernelClassifier or FairKernelRegressor
        One for every kernel, with its feature map.
    what : dict of str to str
        What the figures are of, by name; "disparity" at least.
    n_rows : int
        Most settings to have as cells; the constant and the other estimators always are.

    Returns
    -------
    dict
        "sentences"; "headers" (with whether a column is of numbers) and "cells"; "score", "disparity" (what it is), and
        "points" and "pareto" (the settings worth having), with the figures of a row each.
    """
    score = "error" if "error" in table else "r2"
    ours = table["model"] == OURS
    kept = worth[ours[worth]]
    taken = kept[np.unique(np.linspace(0, len(kept) - 1, min(n_rows, len(kept))).round().astype(int))]
    less = "less error" if score == "error" else "a higher R²"
    bounds = f"out of fold, with [95% intervals]{'' if f'{score}_low' in table else ' of the disparity'}"
    thinned = "" if len(taken) == len(kept) else f" ({len(taken)} of {len(kept)} shown; to_frame() has all)"
    columns = _columns(table, [*taken, *np.flatnonzero(~ours)], models, score)
    return {
        "sentences": [
            f"{ours.sum()} settings, {len(kept)} of them worth having: no row has both {less} and less "
            f"disparity{thinned}",
            "; ".join([bounds, *(f"{name}: {words}" for name, words in what.items())]),
        ],
        "headers": [(name.replace("_", " ").replace("r2", "R²"), name not in WORDS) for name in columns],
        "cells": [list(row) for row in zip(*columns.values(), strict=True)],
        "score": score,
        "disparity": what["disparity"],
        "points": _points(table, np.arange(len(ours)), score),
        "pareto": _points(table, kept, score),
    }


def as_text(found: dict[str, Any]) -> str:
    """The sentences and the cells in columns: numbers to the right.

    Parameters
    ----------
    found : dict
        From ``to_show``.

    Returns
    -------
    str
    """
    rows = [[name for name, _ in found["headers"]], *found["cells"]]
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    aligns = [str.rjust if numeric else str.ljust for _, numeric in found["headers"]]
    lines = [
        "  ".join(align(cell, width) for cell, width, align in zip(row, widths, aligns, strict=True)).rstrip()
        for row in rows
    ]
    return "\n".join([*found["sentences"], *lines])


def _columns(
    table: dict[str, np.ndarray], rows: list[int], models: Sequence[FairKernelRidge], score: str
) -> dict[str, list[str]]:
    """Cells by column, for the columns that hold anything in these rows."""
    columns = {"row": list(map(str, rows)), "model": [str(table["model"][row]) for row in rows]}
    if len(models) > 1:
        names = [f"{number} {_short(model)}" for number, model in enumerate(models)]
        columns["kernel"] = ["" if (number := table["kernel"][row]) < 0 else names[number] for row in rows]
    columns["groups"] = [_groups(table, row) for row in rows]
    for name in (name for name in SETTING if name in table):
        columns[name] = [_number(table[name][row], FORMS.get(name, "z.3f")) for row in rows]
    columns[score] = _figures(table, score, rows, DIGITS)
    # Scores have the unit of y: as many decimals as its size leaves room for.
    largest = float(np.nanmax(table["disparity_high"]))
    size = 0 if score == "error" or not largest else math.floor(math.log10(largest)) + 1
    decimals = min(max(0, DIGITS - size), 2 * DIGITS)
    columns["disparity"] = _figures(table, "disparity", rows, decimals)
    for name in (name for name in ("positive_rate", "noise_floor") if name in table):
        columns[name] = _figures(table, name, rows, DIGITS)
    return {name: cells for name, cells in columns.items() if any(cells)}


def _figures(table: dict[str, np.ndarray], name: str, rows: list[int], decimals: int) -> list[str]:
    bounds = [f"{name}_low", f"{name}_high"] if f"{name}_low" in table else []
    cells = []
    for row in rows:
        value, *ends = (_number(table[part][row], f"z.{decimals}f") for part in (name, *bounds))
        cells.append(f"{value} [{', '.join(ends)}]" if ends else value)
    return cells


def _number(value: float, form: str) -> str:
    return "" if np.isnan(value) else format(value, form)


def _groups(table: dict[str, np.ndarray], row: int) -> str:
    if table["model"][row] == CONSTANT:
        return "–"  # there is nothing to know them for
    return "aware" if table["aware"][row] else "blind"


def _short(model: FairKernelRidge) -> str:
    """The kernel as it was asked for, its numbers rounded."""
    name = model.kernel if isinstance(model.kernel, str) else repr(model.kernel_)
    name = re.sub(r"\d+\.\d+(e[-+]?\d+)?", lambda number: f"{float(number[0]):.3g}", name)
    return name if len(name) <= LONGEST else name[: LONGEST - 1] + "…"


def _points(table: dict[str, np.ndarray], rows: np.ndarray, score: str) -> list[dict[str, Any]]:
    names = ["model", "aware", "disparity", "disparity_low", "disparity_high", score]
    names += [name for name in (f"{score}_low", f"{score}_high", "noise_floor") if name in table]
    columns = (table[name][rows].tolist() for name in names)
    return [dict(zip(names, cells, strict=True)) for cells in zip(*columns, strict=True)]
