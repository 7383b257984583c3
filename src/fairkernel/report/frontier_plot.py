"""Error (or R²) against disparity: every setting, the ones worth having with their intervals, the constant, others."""

import math
from typing import Any

from .plots import DPI, import_figure

WIDTH, HEIGHT, LINE = 7.5, 4.6, 0.19  # of the figure, and of a line of its legend
# Shapes and fills carry the meaning; colour only helps.
SETTING = {"marker": ".", "markersize": 4, "color": "0.72", "linestyle": "none"}
WORTH = {"marker": "o", "markersize": 5.5, "color": "#1b4f8a", "linestyle": "none", "zorder": 4}
FRONT = {"color": "#1b4f8a", "linewidth": 1.3, "zorder": 3}
CONSTANT = {"marker": "+", "markersize": 16, "markeredgewidth": 2.0, "color": "black", "linestyle": "none", "zorder": 6}
OTHER = {"color": "#b3541e", "markerfacecolor": "white", "markersize": 8, "linestyle": "none", "zorder": 5}
FLOOR = {"facecolor": "0.93", "edgecolor": "0.55", "hatch": "////", "linewidth": 0.5}
OTHERS = ("s", "^", "D", "v", "P", "X", "*", "<", ">")  # from the tenth on, numbers
LABELS = {"error": "error rate", "r2": "R²"}
INTERVALS = 12  # drawn for at most so many settings, evenly spaced, so that bars do not hide each other
ASIDE = 0.5  # by how much of their range points that are worse than those worth having may stretch the plot


def frontier_figure(found: dict[str, Any]) -> Any:
    """Draw a frontier.

    Parameters
    ----------
    found : dict
        ``score`` ("error" or "r2") and ``disparity`` (what it is); ``points`` and ``pareto`` (the settings worth
        having), each with ``model``, ``aware``, ``disparity`` and the score with their bounds, and perhaps
        ``noise_floor``. Names are shown as they are.

    Returns
    -------
    matplotlib.figure.Figure
    """
    score, worth, points = found["score"], found["pareto"], found["points"]
    figure = import_figure()(figsize=(WIDTH, HEIGHT), dpi=DPI, layout="constrained")
    axes = figure.add_subplot()
    settings = [point for point in points if point["model"] == "fairkernel"]
    others = [point for point in points if point["model"] not in ("fairkernel", "constant")]
    low, high = _range(points, worth or settings or points, score)
    marks: list[tuple[Any, str]] = []

    def draw(some: list[dict[str, Any]], label: str, **look: Any) -> None:
        if some:
            mark = axes.plot([point["disparity"] for point in some], [point[score] for point in some], **look)[0]
            out = sum(not low <= point[score] <= high for point in some)
            aside = "" if not out else ", off the plot" if len(some) == 1 else f" ({out} of them off the plot)"
            value = f" at {some[0][score]:.3f}" if out and len(some) == 1 else ""
            marks.append((mark, label + value + aside))

    draw(settings, f"{len(settings)} settings", **SETTING)
    axes.plot([point["disparity"] for point in worth], [point[score] for point in worth], **FRONT)
    for aware, fill in ((True, WORTH["color"]), (False, "white")):
        known = [point for point in worth if point["aware"] == aware]
        draw(known, f"worth having, groups {'' if aware else 'not '}known", markerfacecolor=fill, **WORTH)
    for point in worth[:: max(1, -(-len(worth) // INTERVALS))]:
        _bars(axes, point, score, WORTH["color"])
    draw([point for point in points if point["model"] == "constant"], "constant prediction", **CONSTANT)
    for i, point in enumerate(others):
        marker = OTHERS[i] if i < len(OTHERS) else f"${i + 1}$"
        draw([point], f"{point['model']} ({'aware' if point['aware'] else 'blind'})", marker=marker, **OTHER)
        _bars(axes, point, score, OTHER["color"])
    if ends := sorted((point[score], point["noise_floor"]) for point in worth if "noise_floor" in point):
        floor = axes.fill_betweenx([end for end, _ in ends], 0, [floor for _, floor in ends], **FLOOR)
        marks.append((floor, "noise floor: expected by chance under parity"))
    axes.set_ylim(low, high)
    axes.set_xlim(left=-0.02 * axes.get_xlim()[1])
    axes.set_xlabel(f"disparity out of fold: {found['disparity']}", parse_math=False)
    axes.set_ylabel(f"{LABELS[score]} out of fold")
    axes.grid(linewidth=0.4, color="0.88")
    axes.spines[["top", "right"]].set_visible(False)
    _legend(figure, marks)
    return figure


def _range(points: list[dict[str, Any]], worth: list[dict[str, Any]], score: str) -> tuple[float, float]:
    """Of scores: those worth having with their bounds, all that are better, and what is worse if it is not far off."""
    ends = [point.get(f"{score}{end}", point[score]) for point in worth for end in ("_low", "", "_high")]
    low, high = min(ends), max(ends)
    reach = ASIDE * (high - low or 1.0)
    least, most = (-math.inf, high + reach) if score == "error" else (low - reach, math.inf)
    near = [point[score] for point in points if least <= point[score] <= most]
    low, high = min(low, *near), max(high, *near)
    margin = 0.05 * (high - low or 1.0)
    return low - margin, high + margin


def _legend(figure: Any, marks: list[tuple[Any, str]]) -> None:
    """Below the plot, where it hides no mark, and as high as it is."""
    handles, labels = zip(*marks, strict=True)
    figure.set_figheight(HEIGHT + LINE * -(-len(labels) // 2))
    # The labels come later: matplotlib would leave out one that starts with "_".
    numbers = list(map(str, range(len(labels))))
    legend = figure.legend(handles, numbers, loc="outside lower center", ncols=2, fontsize=8.5, frameon=False)
    for text, label in zip(legend.get_texts(), labels, strict=True):
        text.set_parse_math(False)
        text.set_text(label)


def _bars(axes: Any, point: dict[str, Any], score: str, color: Any) -> None:
    def reach(name: str) -> list[list[float]] | None:
        if f"{name}_low" not in point:
            return None
        # Rounding must not make a distance negative.
        down, up = point[name] - point[f"{name}_low"], point[f"{name}_high"] - point[name]
        return [[max(0.0, down)], [max(0.0, up)]]

    axes.errorbar(
        point["disparity"],
        point[score],
        xerr=reach("disparity"),
        yerr=reach(score),
        fmt="none",
        ecolor=color,
        elinewidth=0.6,
        capsize=2,
        zorder=3,
    )
