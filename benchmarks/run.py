"""``make bench``: time and memory, always as ratios measured in one run."""

import argparse
import json
import os
import platform
import sys
import warnings
from contextlib import nullcontext
from dataclasses import asdict, replace
from datetime import UTC, datetime
from pathlib import Path

import numpy
import scipy
import sklearn
from cases import CASES
from lines import Sizes
from rows import load_rows
from threadpoolctl import threadpool_info, threadpool_limits
from timing import CLOCKS

import fairkernel
from fairkernel.exceptions import SensitiveColumnWarning

QUICK = Sizes(ladder=(250, 500), n=2000, n_features=200, seconds=0.5, rounds=5)
VERDICT = {True: "met", False: "MISSED", None: "-"}


def main(arguments=None):
    options = _parser().parse_args(arguments)
    # The paper keeps the sensitive attribute among the inputs; the warning that says so is right and expected.
    warnings.simplefilter("ignore", SensitiveColumnWarning)
    with threadpool_limits(options.threads) if options.threads else nullcontext():
        rows, sizes = load_rows(), replace(QUICK if options.quick else Sizes(), clock=options.clock)
        about = {**machine(), "clock": options.clock, "rows": rows.source}
        print(*(f"{key}: {value}" for key, value in about.items()), sep="\n", flush=True)
        lines = []
        for name in options.only or CASES:
            print(f"measuring {name} ...", file=sys.stderr, flush=True)
            lines += CASES[name](rows, sizes)
    print("", *table(lines), "", verdict(lines), sep="\n")
    if options.json:
        # What was not measured is null: JSON has no NaN.
        plain = [{k: None if v != v else v for k, v in asdict(line).items()} for line in lines]
        report = {"about": about, "lines": plain}
        Path(options.json).write_text(json.dumps(report, indent=1, allow_nan=False) + "\n", encoding="utf-8")


def machine():
    """What the times depend on, in words."""
    affinity = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()
    pools = {f"{p['internal_api']} {p['version'] or ''}".strip(): p["num_threads"] for p in threadpool_info()}
    libraries = {"fairkernel": fairkernel, "numpy": numpy, "scipy": scipy, "scikit-learn": sklearn}
    return {
        "date": datetime.now(UTC).strftime("%Y-%m-%d %H:%M UTC"),
        "machine": f"{_processor()}, {affinity} cores, {platform.system()}",
        "threads": ", ".join(f"{name}: {threads}" for name, threads in pools.items()),
        "load": f"{os.getloadavg()[0]:.1f} at the start (others' work on the same cores)",
        "versions": ", ".join(f"{name} {library.__version__}" for name, library in libraries.items())
        + f", Python {platform.python_version()}",
    }


def _processor():
    cpuinfo = Path("/proc/cpuinfo")
    named = cpuinfo.read_text().splitlines() if cpuinfo.exists() else []
    return next((line.split(":")[1].strip() for line in named if line.startswith("model name")), platform.machine())


def table(lines):
    """Aligned rows, a heading first."""
    heading = ("", "ours", "", "rival", "", "unit", "ratio", "", "target", "")
    cells = [
        (
            line.what, line.ours_is, _number(line.ours), line.rival_is, _number(line.rival), line.unit,
            _number(line.ratio), line.ratio_is, line.target, VERDICT[line.met],
        )
        for line in lines
    ]  # fmt: skip
    widths = [max(map(len, column)) for column in zip(heading, *cells, strict=True)]
    right = {2, 4, 6}
    return [
        "  ".join(c.rjust(w) if i in right else c.ljust(w) for i, (c, w) in enumerate(zip(row, widths, strict=True)))
        .rstrip()
        for row in (heading, *cells)
    ]  # fmt: skip


def _number(value):
    return f"{value:.0f}" if value >= 100 else f"{value:.3g}"


def verdict(lines):
    judged = [line for line in lines if line.met is not None]
    missed = [line.what.strip() for line in judged if not line.met]
    if not judged:
        return "No target is judged at these sizes."
    return "; missed: ".join([f"{len(judged) - len(missed)} of {len(judged)} targets met", *missed])


def _parser():
    parser = argparse.ArgumentParser(prog="benchmarks/run.py", description=__doc__)
    add = parser.add_argument
    add("--quick", action="store_true", help="small sizes: shows that it runs, judges no target")
    add("--only", action="append", choices=CASES, metavar="NAME", help=f"one of {', '.join(CASES)}; may be repeated")
    add("--json", metavar="OUT", help="write every number to a file")
    add("--threads", type=int, metavar="N", help="threads of the linear algebra (default: what the environment gives)")
    add("--clock", choices=CLOCKS, default="wall", help="cpu: processor time, for --threads 1 on a busy machine")
    return parser


if __name__ == "__main__":
    main()
