"""Plots of a summary, as the bytes of a PNG; they read in black and white."""

import io
from typing import Any

# Shapes and fills carry the meaning; colour only helps.
LOOKS = {
    "constant": {"marker": "+", "markersize": 16, "markeredgewidth": 2.0, "color": "black"},  # hides no other mark
    "ridge": {"marker": "o", "markersize": 7, "color": "#1b4f8a", "markerfacecolor": "#1b4f8a"},
    "embedding": {"marker": "s", "markersize": 8, "color": "#b3541e", "markerfacecolor": "white"},
    "printed": {"marker": "^", "markersize": 9, "color": "#5b3a8e", "markerfacecolor": "#cfc3e6"},
}
SIZE, DPI = (7.5, 5.2), 150


def tradeoff_png(summary: dict, title: str) -> bytes:
    """Error against disparity, with intervals, the noise floor and the constant prediction.

    Parameters
    ----------
    summary : dict
        From :func:`fairkernel.report.summary.summarise`.
    title : str
        Shown as it is, whatever characters it holds.

    Returns
    -------
    bytes
    """
    figure_class = import_figure()
    figure = figure_class(figsize=SIZE, dpi=DPI, layout="constrained")
    axes = figure.add_subplot()
    _draw_floor(axes, summary["rows"])
    _draw_family(axes, [row for row in summary["rows"] if row["family"] == "ridge"])
    for row in summary["rows"]:
        if row["family"] != "ridge":
            _draw_point(axes, row, label=row["method"])
    constant = next(row for row in summary["rows"] if row["family"] == "constant")
    axes.axhline(constant["error"]["estimate"], color="black", linewidth=0.8, linestyle=(0, (1, 3)), zorder=1)
    axes.set_xlim(left=-0.02 * axes.get_xlim()[1])
    axes.set_xlabel("statistical disparity (SD): largest difference of positive rates between groups")
    axes.set_ylabel("error rate")
    axes.set_title(title, loc="left", fontsize=11, parse_math=False)
    axes.grid(linewidth=0.4, color="0.88")
    axes.spines[["top", "right"]].set_visible(False)
    axes.legend(loc="upper right", fontsize=8.5, framealpha=1.0, edgecolor="0.8")
    file = io.BytesIO()
    figure.savefig(file, format="png")
    return file.getvalue()


def sensitivity_plot(points: list[dict], *, title: str, axis: str, constant_error: float, kind: str = "png") -> bytes:
    """Disparity and error of one method in several configurations, side by side: the paper's Figures 1 and 2.

    Parameters
    ----------
    points : list of dict
        "name", "noise_floor", and "sd" and "error", each with "estimate", "low" and "high".
    title, axis : str
        Shown as they are.
    constant_error : float
        Error of the constant prediction, drawn as a line.
    kind : {"png", "svg"}

    Returns
    -------
    bytes
    """
    figure_class = import_figure()
    figure = figure_class(figsize=(9.0, 4.2), dpi=DPI, layout="constrained")
    figure.suptitle(title, fontsize=11, x=0.01, ha="left", parse_math=False)
    left, right = figure.subplots(1, 2)
    places = range(len(points))
    for axes, name, label in ((left, "sd", "statistical disparity (SD)"), (right, "error", "error rate")):
        estimates = [point[name]["estimate"] for point in points]
        reach = [_reach(point[name]) for point in points]
        axes.errorbar(
            places,
            estimates,
            yerr=[[down[0] for down, _ in reach], [up[0] for _, up in reach]],
            fmt="o",
            color="black",
            capsize=3,
            linewidth=0.9,
            label="mean over shuffles, 95% interval",
        )
        axes.set_xticks(places, [point["name"] for point in points])
        axes.set_xlim(-0.5, len(points) - 0.5)
        axes.set_xlabel(axis)
        axes.set_ylabel(label)
        axes.grid(axis="y", linewidth=0.4, color="0.88")
        axes.spines[["top", "right"]].set_visible(False)
    left.plot(places, [p["noise_floor"] for p in points], "_", markersize=22, color="0.45", label="noise floor")
    left.set_ylim(bottom=0)
    right.axhline(constant_error, color="black", linewidth=0.9, linestyle=(0, (1, 3)), label="constant prediction")
    # Below the panels, where it hides no mark.
    marks: dict[str, Any] = {}
    for axes in (left, right):
        handles, labels = axes.get_legend_handles_labels()
        marks.update(zip(labels, handles, strict=True))
    figure.legend(marks.values(), marks.keys(), loc="outside lower center", ncols=3, fontsize=8, frameon=False)
    file = io.BytesIO()
    # The date would make the same figure another file.
    figure.savefig(file, format=kind, metadata={"Date": None} if kind == "svg" else None)
    return file.getvalue()


def import_figure() -> Any:
    """matplotlib's Figure, or an error that says how to get it.

    Returns
    -------
    type
    """
    try:
        # Not pyplot: no window system, no global state.
        from matplotlib.figure import Figure
    except ImportError as error:
        raise ImportError('plots need matplotlib, which is not installed: pip install "fairkernel[app]"') from error
    return Figure


def _draw_floor(axes: Any, rows: list[dict]) -> None:
    """Each row has its own floor, by its positive rate; between rows the band is interpolated."""
    ends = sorted((row["error"]["estimate"], row["noise_floor"]) for row in rows)
    axes.fill_betweenx(
        [error for error, _ in ends],
        0,
        [floor for _, floor in ends],
        facecolor="0.93",
        edgecolor="0.55",
        hatch="////",
        linewidth=0.5,
        label="noise floor: SD expected by chance under parity",
    )


def _draw_family(axes: Any, rows: list[dict]) -> None:
    x = [row["statistical_disparity"]["estimate"] for row in rows]
    y = [row["error"]["estimate"] for row in rows]
    axes.plot(x, y, color=LOOKS["ridge"]["color"], linewidth=1.2, zorder=2)
    for i, row in enumerate(rows):
        _draw_point(axes, row, label="kernel ridge, by disparity_kept" if i == 0 else None)
        axes.annotate(
            f"{row['disparity_kept']:g}",
            (x[i], y[i]),
            xytext=(5, 5),
            textcoords="offset points",
            fontsize=8.5,
            color=LOOKS["ridge"]["color"],
            bbox={"boxstyle": "square,pad=0.1", "facecolor": "white", "edgecolor": "none", "alpha": 0.8},
            zorder=5,
        )


def _draw_point(axes: Any, row: dict, label: str | None) -> None:
    x, y = row["statistical_disparity"], row["error"]
    look = LOOKS[row["family"]]
    axes.errorbar(
        x["estimate"],
        y["estimate"],
        xerr=_reach(x),
        yerr=_reach(y),
        fmt="none",
        ecolor=look["color"],
        elinewidth=0.7,
        capsize=2.5,
        zorder=3,
    )
    axes.plot(x["estimate"], y["estimate"], linestyle="none", label=label, zorder=4, **look)


def _reach(found: dict[str, float]) -> list[list[float]]:
    """Distances down and up from the estimate, which rounding must not make negative."""
    down, up = found["estimate"] - found["low"], found["high"] - found["estimate"]
    return [[max(0.0, down)], [max(0.0, up)]]
