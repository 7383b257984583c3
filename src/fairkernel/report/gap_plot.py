"""The gap between two groups' mean scores: a bar per column, and where the scores of both groups lie."""

import textwrap
from typing import Any

import numpy as np

from .plots import DPI, import_figure

# Fill, hatch and line style carry the meaning; colour only helps.
WIDENS = {"facecolor": "#1b4f8a", "edgecolor": "black", "linewidth": 0.8}
NARROWS = {"facecolor": "white", "edgecolor": "black", "linewidth": 0.8, "hatch": "////"}
FIRST = {"color": "#1b4f8a", "linestyle": "-", "linewidth": 1.8}
SECOND = {"color": "#b3541e", "linestyle": (0, (4, 2)), "linewidth": 1.8}
LETTERS = 26  # a longer name goes on over several lines and ends in dots after so many:
LINES_OF_COLUMN, LINES_OF_GROUP, LINES_OF_TITLE = 8, 2, 3
BINS = (5, 24)  # fewest and most; between them the root of the smaller group's rows
ROUNDING = 1e-12  # scores that differ by less than this share of themselves are equal
PLACE = 0.34  # inches of a bar and the space around it


def gap_figure(found: dict[str, Any]) -> Any:
    """Draw an explained gap.

    Parameters
    ----------
    found : dict
        ``sentence``, ``how``, ``score_name``; ``parts``, each with ``name``, ``contribution`` and ``standard_error``;
        ``groups``, both with ``name``, ``mean``, ``scores`` and ``shares``. Names are shown as they are.

    Returns
    -------
    matplotlib.figure.Figure
    """
    names = [_wrapped(part["name"], LETTERS, LINES_OF_COLUMN) for part in found["parts"]]
    # In units of a bar's place: names of several lines get more room.
    rooms = np.array([max(1.0, 0.5 * (name.count("\n") + 1) + 0.2) for name in names])
    size = (10.0, 2.6 + max(1.4, PLACE * rooms.sum()))
    figure = import_figure()(figsize=size, dpi=DPI, layout="constrained")
    title = _wrapped(found["sentence"], 100, LINES_OF_TITLE)
    figure.suptitle(title, fontsize=11, x=0.01, ha="left", parse_math=False)
    left, right = figure.subplots(1, 2, width_ratios=[3, 2])
    _draw_parts(left, found, names, np.cumsum(rooms) - rooms / 2)
    _draw_scores(right, found)
    for axes in (left, right):
        axes.spines[["top", "right"]].set_visible(False)
    return figure


def _draw_parts(axes: Any, found: dict[str, Any], names: list[str], places: np.ndarray) -> None:
    sign = 1.0 if found["groups"][0]["mean"] >= found["groups"][1]["mean"] else -1.0
    for place, part in zip(places, found["parts"], strict=True):
        look = WIDENS if sign * part["contribution"] >= 0 else NARROWS
        axes.barh(place, part["contribution"], xerr=part["standard_error"] or None, capsize=2.5, height=0.62, **look)
    axes.axvline(0.0, color="black", linewidth=0.8)
    axes.set_yticks(places, names, fontsize=9, parse_math=False)
    axes.invert_yaxis()
    axes.margins(x=0.08)
    axes.set_xlabel(f"contribution to the gap ({found['how']})\nfilled: widens it, hatched: narrows it")
    axes.grid(axis="x", linewidth=0.4, color="0.88")
    axes.set_axisbelow(True)


def _draw_scores(axes: Any, found: dict[str, Any]) -> None:
    groups = found["groups"]
    edges = _edges(groups[0]["scores"], groups[1]["scores"])
    steps = []
    for group, look in zip(groups, (FIRST, SECOND), strict=True):
        heights, _ = np.histogram(group["scores"], bins=edges, weights=group["shares"])
        steps.append(axes.stairs(heights, edges, **look))
        axes.axvline(group["mean"], **{**look, "linewidth": 1.0})
    axes.set_xlabel(f"{found['score_name']} (upright lines: means)", parse_math=False)
    axes.set_ylabel("share of the group's rows")
    axes.set_ylim(bottom=0)
    # Above the panel, where it hides no line. From labels of the steps themselves matplotlib drops those like "_a".
    names = [_wrapped(group["name"], LETTERS, LINES_OF_GROUP) for group in groups]
    place = {"loc": "lower left", "bbox_to_anchor": (0, 1), "borderaxespad": 0}
    legend = axes.legend(steps, names, fontsize=8.5, frameon=False, **place)
    for text in legend.get_texts():
        text.set_parse_math(False)


def _edges(first: np.ndarray, second: np.ndarray) -> np.ndarray:
    """Bins for the scores of both groups; those of a constant score, whatever rounding has made of it."""
    bins = int(np.clip(np.sqrt(min(len(first), len(second))), *BINS))
    both = np.concatenate([first, second])
    lowest, highest = float(both.min()), float(both.max())
    size = max(abs(lowest), abs(highest))
    if highest - lowest <= ROUNDING * size:
        lowest, highest = lowest - 0.5 * max(1.0, size), highest + 0.5 * max(1.0, size)
    return np.histogram_bin_edges(both, bins, range=(lowest, highest))


def _wrapped(text: str, letters: int, most: int) -> str:
    lines = textwrap.wrap(text, letters) or ["''"]
    return "\n".join([*lines[: most - 1], lines[most - 1][: letters - 1] + "…"] if len(lines) > most else lines)
