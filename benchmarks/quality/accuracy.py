"""How accurate is ``kernel="auto"`` without any constraint? Error beside boosted trees and recursive feature machines.

    OMP_NUM_THREADS=1 python benchmarks/quality/accuracy.py --out accuracy.jsonl [--method NAME ...] [--splits 4]
    python benchmarks/quality/accuracy.py --table accuracy.jsonl

Ours has its defaults. The trees have the best of eight settings (``boosted.py``). ``xrfm`` (Radhakrishnan, Beaglehole,
Pandit, Belkin 2024; ``pip install xrfm``, left out where it is not installed) has the best of eight on a fifth of the
training rows, which is also where it picks its rounds, and its trees split at 4000 rows: its cost is cubic in a leaf.
"""

import argparse
import sys
from collections import defaultdict
from itertools import product

import numpy as np
from boosted import tuned_trees
from outcomes import Lines, read_lines, timed
from sklearn.model_selection import train_test_split
from tables import CLASSES, SPLITS, read_split

from fairkernel import FairKernelClassifier

NEAR = 0.005
BANDWIDTHS, PENALTIES, DIAGONAL = (3.0, 10.0), (1e-2, 1.0), (True, False)
LEAF = 4000


def ours(name, split, rows):
    """Kernel ridge with a tuned kernel, all of the disparity kept."""
    model = FairKernelClassifier(kernel="auto", disparity_kept=1.0, random_state=split)
    model.fit(rows.X, rows.y, sensitive_features=rows.s)
    return model.predict(rows.X_test), str(model.chosen_)


def trees(name, split, rows):
    """Boosted trees."""
    model, _ = tuned_trees(name, split)
    return model.fit(rows.X, rows.y).predict(rows.X_test), repr(model)


def recursive_feature_machine(name, split, rows):
    """The best of eight xRFMs on a fifth of the training rows."""
    import torch
    from xrfm import xRFM

    X, X_val, y, y_val = train_test_split(rows.X, rows.y, test_size=0.2, stratify=rows.y, random_state=split)
    found = []
    for bandwidth, penalty, diagonal in product(BANDWIDTHS, PENALTIES, DIAGONAL):
        torch.manual_seed(split)
        settings = {
            "model": {
                "kernel": "l2", "bandwidth": bandwidth, "exponent": 1.0, "diag": diagonal, "bandwidth_mode": "constant",
            },
            "fit": {"reg": penalty, "iters": 3, "return_best_params": True, "get_agop_best_model": True,
                    "early_stop_rfm": False},
        }  # fmt: skip
        model = xRFM(settings, device="cpu", max_leaf_size=LEAF, tuning_metric="accuracy", verbose=False)
        as_float = (np.ascontiguousarray(A, dtype=np.float32) for A in (X, X_val))
        parts = [next(as_float), y.astype(np.int64), next(as_float), y_val.astype(np.int64)]
        model.fit(*parts)
        error = float(np.mean(np.asarray(model.predict(parts[2])).ravel() != y_val))
        found.append((error, len(found), (bandwidth, penalty, diagonal), model))
    _, _, setting, model = min(found)
    return np.asarray(model.predict(rows.X_test.astype(np.float32))).ravel(), repr(setting)


METHODS = {"fairkernel": ours, "trees": trees, "xrfm": recursive_feature_machine}


def summary(lines):
    """Markdown: mean error over the splits, and ours less the better rival's, paired, with its standard error."""
    cells = defaultdict(dict)
    for line in lines:
        cells[line["table"], line["method"]][line["split"]] = line
    methods = [method for method in METHODS if any(of == method for _, of in cells)]
    yield f"| table | splits | {' | '.join(methods)} | ours − the better one | within {NEAR:g} | seconds |"
    yield "|" + " --- |" * (len(methods) + 5)
    for table in dict.fromkeys(table for table, _ in cells):
        of = {method: cells[table, method] for method in methods if (table, method) in cells}
        splits = sorted(set.intersection(*(set(parts) for parts in of.values())))
        errors = {method: np.array([parts[split]["error"] for split in splits]) for method, parts in of.items()}
        shown = [f"{errors[method].mean():.4f}" if method in errors else "" for method in methods]
        rivals = [method for method in errors if method != "fairkernel"]
        more = errors["fairkernel"] - errors[min(rivals, key=lambda method: errors[method].mean())]
        spread = more.std(ddof=1) / np.sqrt(len(more)) if len(more) > 1 else np.nan
        seconds = ", ".join(f"{np.mean([parts[s]['seconds'] for s in splits]):.1f}" for parts in of.values())
        near = "yes" if more.mean() <= NEAR else "no"
        shown += [f"{more.mean():+.4f} ({spread:.4f})", near, seconds]
        yield f"| {table} | {len(splits)} | {' | '.join(shown)} |"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    what = parser.add_mutually_exclusive_group(required=True)
    what.add_argument("--out")
    what.add_argument("--table", metavar="FILE")
    parser.add_argument("--method", nargs="+", choices=METHODS, default=list(METHODS))
    parser.add_argument("--only", nargs="+", choices=CLASSES, default=list(CLASSES))
    parser.add_argument("--splits", type=int, default=4)
    options = parser.parse_args()
    if options.table:
        print(*summary(read_lines(options.table)), sep="\n")
        return
    lines = Lines(options.out)
    for split, name, method in product(SPLITS[: options.splits], options.only, options.method):
        if not lines.missing(name, split, method, [None]):
            continue
        rows = read_split(name, split)
        (predicted, settings), seconds = timed(lambda m=method, n=name, s=split, r=rows: METHODS[m](n, s, r))
        error = float(np.mean(predicted != rows.y_test))
        lines.append(table=name, split=split, method=method, knob=None, error=error, settings=settings, seconds=seconds)
        sys.stderr.write(f"{name} {split} {method}: {error:.4f} in {seconds:.1f} s\n")


if __name__ == "__main__":
    main()
