"""fairkernel's frontier on the tables and splits of the rivals: one call on the training rows, read on the test rows.

    OMP_NUM_THREADS=1 python benchmarks/quality/ours.py --out ours.jsonl [--method NAME ...] [--table NAME ...]

The rule is stated beforehand and the same for all tables: ``frontier`` with ``kernel="auto"`` on the training rows
gives 100 tolerances; for each bound of a few, ``best(max_disparity=bound)`` chooses by the training rows alone and is
fitted on them; its decisions on the test rows are measured. Seconds: tuning and the 100-point frontier, shared by all
bounds; then each refit. What is written: outcomes.py.
"""

import argparse
import warnings

import numpy as np
from outcomes import Lines, decision_figures, timed
from tables import FAIR, SPLITS, read_split

from fairkernel import FairKernelClassifier, frontier
from fairkernel.estimators.tuning import BUDGET
from fairkernel.exceptions import DecisionGapWarning, SensitiveColumnWarning

BOUNDS = (0.005, 0.01, 0.02, 0.03, 0.05, 0.07, 0.1, 0.13, 0.16, 0.2, 0.3)
POINTS = 100


def fairkernel(name, split, knobs, aware, include_sensitive=False, budget=BUDGET):
    """One frontier per split, a refitted model per bound."""
    rows = read_split(name, split, include_sensitive=include_sensitive)
    model = FairKernelClassifier(kernel="auto", tuning_budget=budget, aware=aware, random_state=split)
    fit = {"sensitive_features": rows.s}
    tolerances = np.linspace(0.0, 0.3, POINTS - 1).tolist()
    found, shared = timed(lambda: frontier(model, rows.X, rows.y, max_decision_gap=[None, *tolerances], **fit))
    for bound in knobs:
        best, seconds = timed(lambda bound=bound: found.best(bound))
        known = {"sensitive_features": rows.s_test} if aware else {}
        decided, predict = timed(lambda best=best, known=known: best.predict(rows.X_test, **known))
        yield {
            "knob": bound, "probability": decided.astype(float), "shared_seconds": shared, "fit_seconds": seconds,
            "predict_seconds": predict,
            "settings": {n: getattr(best, n) for n in ("alpha", "disparity_kept", "max_decision_gap")},
        }  # fmt: skip


METHODS = {
    "fairkernel, blind": (False, {"aware": False}),
    "fairkernel, blind, 12 settings": (False, {"aware": False, "budget": 12}),
    "fairkernel, aware": (True, {"aware": True}),
    "fairkernel, aware, with s": (True, {"aware": True, "include_sensitive": True}),
}


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--out", required=True)
    parser.add_argument("--method", nargs="+", choices=METHODS, default=list(METHODS))
    parser.add_argument("--table", nargs="+", choices=FAIR, default=list(FAIR))
    parser.add_argument("--splits", type=int, default=len(SPLITS))
    options = parser.parse_args()
    warnings.simplefilter("ignore", DecisionGapWarning)
    warnings.simplefilter("ignore", SensitiveColumnWarning)
    lines = Lines(options.out)
    for method in options.method:
        aware, arguments = METHODS[method]
        for name in options.table:
            for split in SPLITS[: options.splits]:
                missing = lines.missing(name, split, method, BOUNDS)
                rows = read_split(name, split)
                for found in fairkernel(name, split, missing, **arguments) if missing else ():
                    figures = decision_figures(found.pop("probability"), rows.y_test, rows.s_test)
                    lines.append(table=name, split=split, method=method, aware=aware, **found, **figures)
                print(method, name, split, flush=True)


if __name__ == "__main__":
    main()
