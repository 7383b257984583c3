"""``fairkernel reproduce``: the paper's experiment, resumable."""

import argparse
import os
import shlex
import time
from pathlib import Path
from typing import Any

from ..experiments.findings import findings
from ..experiments.paper import figure_points, summarise
from ..experiments.reproduce import PUBLISHED_SHUFFLES, Configuration, closest_settings, reproduce
from ..report import html, plots, reproduction
from .terminal import Progress, console_on, prepare_folder, require, whole, write


def add_arguments(subparsers: Any) -> None:
    """Arguments of ``fairkernel reproduce``."""
    text = "run the paper's experiment: Table I beside the published one, both figures, what holds"
    parser = subparsers.add_parser("reproduce", help=text, description=text[0].upper() + text[1:] + ". Resumable.")
    standard = Configuration()
    parser.add_argument("--data", nargs="+", default=standard.tables, metavar="TABLE", help="credit, crime, compas")
    parser.add_argument(
        "--methods",
        nargs="+",
        default=standard.methods,
        metavar="METHOD",
        help=f"rows of Table I: {' '.join(map(shlex.quote, standard.methods))} (default: all)",
    )
    parser.add_argument("--trials", type=int, default=standard.trials, metavar="N", help="default: %(default)s")
    parser.add_argument(
        "--select",
        default=standard.select,
        metavar="RULE",
        help="how settings are chosen on training rows: 'published' (those under Table I where stated, else lowest "
        "error), 'error', or 'error subject to SD <= x' (default: %(default)s)",
    )
    parser.add_argument("--objective", choices=("discrepancy", "printed"), default=standard.objective)
    parser.add_argument("--keep-leak", action="store_true", help="keep Crime's column that the label is a function of")
    parser.add_argument("--no-figures", dest="figures", action="store_false", help="leave Figures 1 and 2 out")
    parser.add_argument(
        "--seed", type=whole(at_least=0), metavar="S", help="draw the shuffles instead of taking the published ones"
    )
    parser.add_argument("--jobs", type=whole(at_least=1), default=os.cpu_count() or 1, metavar="N")
    parser.add_argument(
        "--out", type=Path, default=Path("fairkernel-reproduction"), metavar="DIR", help="default: %(default)s"
    )
    parser.set_defaults(command=run_reproduction)


def run_reproduction(arguments: argparse.Namespace) -> None:
    """Trials into a results file, then tables, figures and REPRODUCTION.md."""
    require("reproduce", "jinja2", "matplotlib", "rich")
    console = console_on()
    configuration = Configuration(
        tables=tuple(arguments.data),
        methods=tuple(arguments.methods),
        trials=arguments.trials,
        select=arguments.select,
        objective=arguments.objective,
        keep_leak=arguments.keep_leak,
        figures=arguments.figures,
        seed=arguments.seed,
    )
    prepare_folder(arguments.out)
    start = time.perf_counter()
    with Progress(console_on(stderr=True), len(configuration.keys()), "trials") as progress:
        trials = reproduce(
            configuration,
            arguments.out / "results.jsonl",
            jobs=arguments.jobs,
            on_trial=lambda done, _: progress.to(done),
        )
    tables = {name: summarise(configuration.table(name), trials) for name in configuration.tables}
    files = {"trials.csv": reproduction.trials_csv(trials).encode(), **_figures(tables.get("crime", []))}
    run = {
        "command": f"`{_command(arguments, configuration)}`",
        "trials": f"{configuration.trials} {'published' if configuration.seed is None else 'random'} shuffles; "
        f"settings: {configuration.select}",
        "versions": ", ".join(f"{name} {number}" for name, number in configuration.header()["versions"].items()),
    }
    closest = closest_settings(configuration, jobs=arguments.jobs)
    titled = {configuration.table(name).title: rows for name, rows in tables.items()}
    found = findings(min(configuration.trials, PUBLISHED_SHUFFLES), configuration.tables)
    images = [name for name in files if name.endswith(".png")]
    files["REPRODUCTION.md"] = reproduction.reproduction_markdown(titled, closest, found, run, images).encode()
    headers, cells = reproduction.closest_cells(closest)
    page = {
        "tables": {
            title: {"cells": reproduction.table_cells(rows), "verdict": reproduction.verdict(rows)}
            for title, rows in titled.items()
        },
        "headers": reproduction.HEADERS,
        "legend": reproduction.LEGEND,
        "closest": [headers, *cells] if closest else [],
        "closest_legend": reproduction.CLOSEST,
        "findings": found,
        "run": run,
    }
    files["reproduction.html"] = html.render_reproduction(page, [files[name] for name in images]).encode()
    for name, content in files.items():
        write(arguments.out / name, content)
    seconds = time.perf_counter() - start
    for title, rows in titled.items():
        _print_table(console, title, rows)
    console.print(f"{len(trials)} trials, {seconds:.0f} s in this run with {arguments.jobs} jobs")
    for name in ("results.jsonl", *files):
        console.print(f"wrote {arguments.out / name}", soft_wrap=True)


def _command(arguments: argparse.Namespace, configuration: Configuration) -> str:
    standard, parts = Configuration(), ["fairkernel reproduce"]
    if configuration.tables != standard.tables:
        parts += ["--data", *configuration.tables]
    if configuration.methods != standard.methods:
        parts += ["--methods", *(shlex.quote(name) for name in configuration.methods)]
    parts += ["--trials", str(configuration.trials), "--select", shlex.quote(configuration.select)]
    if configuration.objective != standard.objective:
        parts += ["--objective", configuration.objective]
    parts += [] if configuration.seed is None else ["--seed", str(configuration.seed)]
    parts += ["--keep-leak"] * configuration.keep_leak + ["--no-figures"] * (not configuration.figures)
    return " ".join(parts)


def _figures(rows: list) -> dict[str, bytes]:
    """Figures 1 and 2 as PNG and SVG, if their methods were run."""
    files = {}
    constant = next((row.error.mean for row in rows if row.method == "Constant"), None)
    for number, title, axis in (
        (1, "FKR-F²E on Communities Crime with four kernels", "kernel"),
        (2, "FKR-F²E on Communities Crime against the number of components", "k (n training rows)"),
    ):
        points = figure_points(rows, f"Figure {number}")
        if points and constant is not None:
            for kind in ("png", "svg"):
                drawn = plots.sensitivity_plot(points, title=title, axis=axis, constant_error=constant, kind=kind)
                files[f"figure-{number}.{kind}"] = drawn
    return files


def _print_table(console: Any, title: str, rows: list) -> None:
    from rich.table import Table

    table = Table(box=None, padding=(0, 1, 0, 0), pad_edge=False, title=title, title_justify="left")
    table.add_column("method", no_wrap=True)
    for header in ("SD\npublished", "SD\nours", "error\npublished", "error\nours", "positive\nrate", "floor\nof SD"):
        table.add_column(header, justify="right", no_wrap=True)
    for row in rows:
        if not row.method.startswith("Figure"):
            published = row.published
            table.add_row(
                row.method,
                f"{published.sd:.4f}" if published else "",
                f"{row.sd.mean:.4f}",
                f"{published.error:.4f}" if published else "",
                f"{row.error.mean:.4f}",
                f"{row.positive_rate:.4f}",
                f"{row.noise_floor:.4f}",
            )
    console.print()
    console.print(table)
    console.print()
