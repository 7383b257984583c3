"""Error (or R²) against disparity: every setting, the ones worth having with their intervals, the constant, others."""

from typing import Any

from .plots import DPI, import_figure

# Shapes and fills carry the meaning; colour only helps.
SETTING = {"marker": ".", "markersize": 4, "color": "0.72", "linestyle": "none"}
WORTH = {"marker": "o", "markersize": 5.5, "color": "#1b4f8a", "linewidth": 1.3}
CONSTANT = {"marker": "+", "markersize": 16, "markeredgewidth": 2.0, "color": "black", "linestyle": "none"}
OTHERS = ("s", "^", "D", "v", "P", "X", "*", "<", ">")
LABELS = {"error": "error rate", "r2": "R²"}
RATES = {
    "parity": "largest difference of positive rates",
    "opportunity": "largest difference of true positive rates",
    "odds": "largest difference of rates within a class",
}
INTERVALS = 12  # drawn for at most so many settings, evenly spaced, so that bars do not hide each other


def frontier_figure(found: dict[str, Any]) -> Any:
    """Draw a frontier.

    Parameters
    ----------
    found : dict
        ``score`` ("error" or "r2"), ``criterion``; ``points`` and ``pareto``, each with ``model``, ``aware``,
        ``disparity`` and the score with their bounds. Names are shown as they are.

    Returns
    -------
    matplotlib.figure.Figure
    """
    score, worth = found["score"], found["pareto"]
    figure = import_figure()(figsize=(7.5, 5.2), dpi=DPI, layout="constrained")
    axes = figure.add_subplot()
    ours = [point for point in found["points"] if point["model"] == "fairkernel"]
    axes.plot([p["disparity"] for p in ours], [p[score] for p in ours], label=f"{len(ours)} settings", **SETTING)
    kept = [p for p in worth if p["model"] in ("fairkernel", "constant")]
    knows = "groups known when deciding" if any(p["aware"] for p in ours) else "groups not known when deciding"
    axes.plot(
        [p["disparity"] for p in kept], [p[score] for p in kept], label=f"fairkernel, worth having ({knows})", **WORTH
    )
    for point in kept[:: max(1, -(-len(kept) // INTERVALS))]:
        _bars(axes, point, score, WORTH["color"])
    for point in found["points"]:
        if point["model"] == "constant":
            axes.plot(point["disparity"], point[score], label="constant prediction", zorder=5, **CONSTANT)
    others = [p for p in found["points"] if p["model"] not in ("fairkernel", "constant")]
    for i, point in enumerate(others):
        label = f"{point['model']} ({'aware' if point['aware'] else 'blind'})"
        look = {"marker": OTHERS[i % len(OTHERS)], "color": "#b3541e", "markerfacecolor": "white", "markersize": 8}
        axes.plot(point["disparity"], point[score], linestyle="none", label=label, zorder=4, **look)
        _bars(axes, point, score, "#b3541e")
    rates = RATES[found["criterion"]] if score == "error" else "largest difference of mean scores"
    axes.set_xlabel(f"disparity out of fold: {rates} between groups", parse_math=False)
    axes.set_ylabel(f"{LABELS[score]} out of fold")
    axes.set_xlim(left=-0.02 * axes.get_xlim()[1])
    axes.grid(linewidth=0.4, color="0.88")
    axes.spines[["top", "right"]].set_visible(False)
    legend = axes.legend(loc="best", fontsize=8.5, framealpha=1.0, edgecolor="0.8")
    for text in legend.get_texts():
        text.set_parse_math(False)
    return figure


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
