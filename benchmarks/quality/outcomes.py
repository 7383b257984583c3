"""What a comparison writes: one JSON line per table, split, method and knob, so that a run can be resumed."""

import json
import time
from pathlib import Path

import numpy as np


def timed(task):
    """What a task returned, and its seconds."""
    start = time.perf_counter()
    found = task()
    return found, time.perf_counter() - start


def decision_figures(probability, y, s):
    """Errors and positive decisions per group, in expectation where decisions are drawn at random.

    Counts rather than shares: the folds of a repeat are pooled, for SD on few rows is mostly noise.

    Parameters
    ----------
    probability : ndarray of shape (n,)
        Of deciding 1; 0 or 1 for deterministic decisions.
    y : ndarray of shape (n,)
        0 or 1.
    s : ndarray of shape (n,)

    Returns
    -------
    dict
    """
    groups = np.unique(s).tolist()
    return {
        "errors": float(np.sum(probability * (1 - y) + (1 - probability) * y)),
        "rows": {group: int(np.sum(s == group)) for group in groups},
        "positives": {group: float(probability[s == group].sum()) for group in groups},
    }


def pooled(lines):
    """Error, SD and positive rate of the rows of several lines together.

    Parameters
    ----------
    lines : list of dict
        Of ``decision_figures``.

    Returns
    -------
    error, sd, positive_rate : float
    """
    rows, positives = (
        {g: sum(line[key].get(g, 0) for line in lines) for g in lines[0][key]} for key in ("rows", "positives")
    )
    rates, n = [positives[group] / rows[group] for group in rows], sum(rows.values())
    return sum(line["errors"] for line in lines) / n, max(rates) - min(rates), sum(positives.values()) / n


class Lines:
    """A file of results that grows by whole lines.

    Parameters
    ----------
    path : str or Path
    """

    def __init__(self, path):
        self.path = Path(path)
        self.lines = read_lines(self.path) if self.path.exists() else []

    def missing(self, table, split, method, knobs):
        """The knobs that are not in the file."""
        done = [line["knob"] for line in self.lines if _key(line) == (table, split, method)]
        return [knob for knob in knobs if knob not in done]

    def append(self, **line):
        """Write one line."""
        self.lines.append(line)
        with self.path.open("a", encoding="utf-8") as file:
            file.write(json.dumps(line) + "\n")


def _key(line):
    return line["table"], line["split"], line["method"]


def read_lines(*paths):
    """The lines of some files, a torn last one left out."""
    found = []
    for path in paths:
        text = Path(path).read_text(encoding="utf-8")
        found += [json.loads(line) for line in text[: text.rfind("\n") + 1].splitlines()]
    return found
