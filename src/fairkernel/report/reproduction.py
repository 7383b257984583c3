"""The paper's Table I and ours as Markdown and CSV."""

import csv
import io
from collections.abc import Mapping, Sequence
from typing import Any

HEADERS = (
    "method",
    "SD published",
    "SD ours",
    "error published",
    "error ours",
    "positive rate",
    "noise floor",
    "error − constant",
)
LEGEND = (
    "Cells are mean ± standard deviation over the run's shuffles. ✓: within one published deviation of the "
    "published mean; ▽: lower than that; △: higher. Noise floor: the SD expected of a predictor with exact parity at "
    "this positive rate and these group sizes. The last column is the paired difference in error to predicting the "
    "majority class, with a 95% corrected resampled interval (Nadeau and Bengio, 2003). FRR is our reconstruction: its "
    "paper's construction could not be read."
)
CLOSEST = (
    "For each rival, every setting of a wide grid is read off the test rows of a few shuffles and the one nearest to "
    "the published pair is shown. Distance: the larger of the two differences in published deviations. This looks at "
    "test rows on purpose: it is evidence about how a cell may have come about, never a way to choose a setting."
)
FORMULA_STARTS = ("=", "+", "-", "@", "\t", "\r")  # a spreadsheet would run a cell that begins so


def table_cells(rows: Sequence[Any]) -> list[list[str]]:
    """One table of Table I, ours beside the published number, as text.

    Parameters
    ----------
    rows : sequence of Row
        See ``fairkernel.experiments.paper.Row``; those of figures are left out.

    Returns
    -------
    list of list of str
        One list per method, in the order of ``HEADERS``.
    """
    return [_cells(row) for row in rows if not row.method.startswith("Figure")]


def _cells(row: Any) -> list[str]:
    published = row.published
    return [
        row.method,
        _pair(published.sd, published.sd_deviation) if published else "",
        _pair(row.sd.mean, row.sd.deviation) + (_mark(row, 0) if published else ""),
        _pair(published.error, published.error_deviation) if published else "",
        _pair(row.error.mean, row.error.deviation) + (_mark(row, 1) if published else ""),
        f"{row.positive_rate:.4f}",
        f"{row.noise_floor:.4f}",
        "" if row.against_constant is None else _difference(row.against_constant),
    ]


def _markdown(headers: Sequence[str], cells: Sequence[Sequence[str]]) -> str:
    lines = [headers, ["---"] * len(headers), *cells]
    return "\n".join("| " + " | ".join(line) + " |" for line in lines)


def reproduction_markdown(
    tables: Mapping[str, Sequence[Any]],
    closest: Sequence[Any],
    findings: Sequence[Any],
    run: Mapping[str, str],
    figures: Sequence[str],
) -> str:
    """REPRODUCTION.md.

    Parameters
    ----------
    tables : mapping of title to rows
    closest : sequence of Closest
    findings : sequence of Finding
    run : mapping of str to str
        Command, time, versions: what made the numbers.
    figures : sequence of str
        File names of the figures.

    Returns
    -------
    str
    """
    parts = [
        "# Table I, reproduced",
        "Written by the command below; do not edit. Every hyper-parameter is chosen on training rows.",
        "\n".join(f"* {name}: {text}" for name, text in run.items()),
        LEGEND,
    ]
    for title, rows in tables.items():
        parts += [f"## {title}", _markdown(HEADERS, table_cells(rows)), verdict(rows)]
    if figures:
        parts += ["## Figures", *(f"![{name}]({name})" for name in figures)]
    if closest:
        parts += [
            "## Can a setting of the rival's family give the published cell?",
            CLOSEST,
            _markdown(*closest_cells(closest)),
        ]
    parts.append("## What we found")
    parts += [f"### {finding.title}\n\n{finding.text}" for finding in findings]
    return "\n\n".join(filter(None, parts)) + "\n"


def closest_cells(closest: Sequence[Any]) -> tuple[list[str], list[list[str]]]:
    """The nearest setting of each rival, as text.

    Parameters
    ----------
    closest : sequence of Closest
        See ``fairkernel.experiments.closest.Closest``.

    Returns
    -------
    headers, cells
    """
    headers = ["table", "method", "SD, error of the nearest setting", "distance", "verdict", "nearest setting"]
    cells = []
    for found in closest:
        hit = "this setting gives the cell" if found.deviations <= 1 else f"none of {found.n_settings} settings does"
        figures = f"{found.sd:.4f}, {found.error:.4f}"
        cells.append([found.table, found.method, figures, f"{found.deviations:.2f}", hit, found.settings])
    return headers, cells


def _pair(mean: float, deviation: float) -> str:
    return f"{mean:.4f} ± {deviation:.4f}" if deviation == deviation else f"{mean:.4f}"


def _difference(found: Any) -> str:
    if found.low != found.low:
        return f"{found.mean:+.4f}"
    return f"{found.mean:+.4f} [{found.low:+.4f}, {found.high:+.4f}]"


def _mark(row: Any, which: int) -> str:
    ours, published = (row.sd, row.error)[which].mean, (row.published.sd, row.published.error)[which]
    if row.within_one_deviation()[which]:
        return " ✓"
    return " ▽" if ours < published else " △"


def verdict(rows: Sequence[Any]) -> str:
    """Whether the paper's method beats the constant predictor, in a sentence.

    Parameters
    ----------
    rows : sequence of Row

    Returns
    -------
    str
        Empty where one of the two was not run.
    """
    row = next((row for row in rows if row.method == "FKR-F2E"), None)
    if row is None or row.against_constant is None:
        return ""
    found = row.against_constant
    if found.high < 0:
        says = "has lower error than the constant predictor"
    elif found.low > 0:
        says = "has higher error than the constant predictor"
    else:
        says = "cannot be told from the constant predictor by its error"
    beside = "below" if row.sd.mean < row.noise_floor else "above"
    return (
        f"FKR-F2E {says}: paired difference {_difference(found)} over {row.trials} shuffles, at SD "
        f"{row.sd.mean:.4f} ({beside} its noise floor of {row.noise_floor:.4f}; the constant's SD is 0)."
    )


def trials_csv(trials: Sequence[Mapping[str, Any]]) -> str:
    """Every trial, one line per method.

    Parameters
    ----------
    trials : sequence of dict
        As ``fairkernel.experiments.trial.run_trial`` returns them.

    Returns
    -------
    str
        Text cells that a spreadsheet would take for a formula are prefixed with an apostrophe.
    """
    columns = ("sd", "error", "positive_rate", "mean_gap", "cv_sd", "cv_error", "seconds", "settings")
    file = io.StringIO()
    writer = csv.writer(file, lineterminator="\n")
    writer.writerow(("table", "shuffle", "method", *columns))
    for trial in trials:
        for method, result in trial["results"].items():
            cells = (trial["table"], trial["shuffle"], method, *(result[column] for column in columns[:-1]))
            settings = " ".join(f"{name}={value}" for name, value in sorted(result["settings"].items()))
            writer.writerow([_safe(cell) for cell in (*cells, settings)])
    return file.getvalue()


def _safe(cell: Any) -> Any:
    return "'" + cell if isinstance(cell, str) and cell.startswith(FORMULA_STARTS) else cell
