"""The rival of regression.py: the same barycentre on boosted trees with the best of eight settings.

    OMP_NUM_THREADS=1 python benchmarks/quality/regression_rival.py --out rival.jsonl [--splits 10]

The barycentre is learned, as ours is, from out-of-fold predictions; what differs is the model that makes them.
"""

import argparse
import sys
from functools import lru_cache
from itertools import product

import numpy as np
from boosted import TREES
from outcomes import Lines, timed
from regression import CONTINUOUS, SHARES, dealt_at_random, number_figures, numeric_split
from sklearn.base import clone
from sklearn.ensemble import HistGradientBoostingRegressor
from sklearn.model_selection import GridSearchCV, cross_val_predict
from tables import NUMERIC, SPLITS

from fairkernel.solve import Barycentre

METHODS = {"barycentre, trees": False, "barycentre, trees with s": True}  # name → s among the inputs


@lru_cache(maxsize=8)
def tuned_trees(name, split, with_s):
    """Unfitted trees of least five-fold squared error, and the seconds it took to find them."""
    rows, _, _ = numeric_split(name, split, with_s)
    search = GridSearchCV(HistGradientBoostingRegressor(random_state=0), TREES, cv=5, refit=False)
    _, seconds = timed(lambda: search.fit(rows.X, rows.y))
    return clone(search.estimator).set_params(**search.best_params_), seconds


def predictions(name, split, with_s):
    """Out-of-fold predictions of the training rows, predictions of the test rows, and seconds."""
    rows, _, _ = numeric_split(name, split, with_s)
    model, tuning = tuned_trees(name, split, with_s)
    held_out, folds = timed(lambda: cross_val_predict(model, rows.X, rows.y, cv=5))
    fitted, fit = timed(lambda: model.fit(rows.X, rows.y))
    return held_out, fitted.predict(rows.X_test), tuning, folds + fit


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--out", required=True)
    parser.add_argument("--splits", type=int, default=10)
    options = parser.parse_args()
    lines = Lines(options.out)
    for split, name, (method, with_s) in product(SPLITS[: options.splits], (*NUMERIC, CONTINUOUS), METHODS.items()):
        missing = lines.missing(name, split, method, SHARES)
        if not missing:
            continue
        rows, groups, groups_test = numeric_split(name, split, with_s)
        held_out, predicted, tuning, fit = predictions(name, split, with_s)
        number = {group: i for i, group in enumerate(np.unique(groups))}
        codes, codes_test = (np.array([number[group] for group in each]) for each in (groups, groups_test))
        barycentre = Barycentre.of(held_out, codes)
        for knob in missing:
            moved = barycentre.moved(predicted, codes_test, knob)
            lines.append(
                table=name, split=split, method=method, knob=knob, aware=True, shared_seconds=tuning, fit_seconds=fit,
                ks_floor=dealt_at_random(moved, groups_test, split), **number_figures(moved, rows.y_test, groups_test),
            )  # fmt: skip
        sys.stderr.write(f"{name} {split} {method}\n")


if __name__ == "__main__":
    main()
