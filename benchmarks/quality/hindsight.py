"""Could any setting of the family reach the cells of Table I that dominance.py leaves open? Chosen on test rows.

    OMP_NUM_THREADS=1 python benchmarks/quality/hindsight.py --table crime [--trials 50] [--leak]

Every setting (kernel, penalty, threshold, tolerance on the gap) is fitted on the training rows of every shuffle and
measured on the test rows; of those whose mean SD is at most the cell's, the least mean error is shown. This looks at
test rows on purpose: it is a bound on what a rule could have chosen, and evidence where even that falls short.
"""

import argparse
import warnings

import numpy as np
from dominance import ALPHAS, METHODS, THRESHOLDS, TOLERANCES, models_of
from joblib import Parallel, delayed
from threadpoolctl import threadpool_limits

from fairkernel.estimators.decision_rule import compared_in
from fairkernel.estimators.out_of_fold import FoldMoments, new_row_scores
from fairkernel.exceptions import FairKernelWarning
from fairkernel.experiments.context import error_and_sd, read_rows
from fairkernel.experiments.paper import PUBLISHED
from fairkernel.experiments.spec import CRIME_WITH_LEAK, TABLES
from fairkernel.solve.decision import DecisionLine


def test_figures(table, shuffle):
    """SD and error of every setting on the test rows, shape (kernels, alphas, thresholds, tolerances, 2)."""
    warnings.simplefilter("ignore", FairKernelWarning)
    with threadpool_limits(1):
        rows = read_rows(table, shuffle, include_sensitive=True)
        return np.array([_of_kernel(model, rows) for model in models_of(rows, shuffle)])


def _of_kernel(model, rows):
    known = {"sensitive_features": rows.s}
    folds = FoldMoments.of(model, rows.X, rows.y, **known)
    held_out = folds.scores(folds.model, alphas=ALPHAS).plain[:, 0, :, 0]
    new = new_row_scores(model, rows.X, rows.y, rows.X_test, alphas=ALPHAS, **known)[1][:, 0, :, 0]
    cells, groups = folds.model._cells(folds.rows), np.unique(rows.s)
    compared, weights = compared_in(cells), cells.rate_weights(folds.rows.weight)
    share = np.array([(rows.s == group).mean() for group in groups])
    alike, alike_new = ((s[:, None] == groups) / share for s in (rows.s, rows.s_test))
    found = np.empty((len(ALPHAS), len(THRESHOLDS), len(TOLERANCES), 2))
    for j in range(len(ALPHAS)):
        for k, threshold in enumerate(THRESHOLDS):
            line = DecisionLine.of(held_out[:, j] - threshold, alike, weights, compared)
            at = [line.within(tolerance)[0] for tolerance in TOLERANCES]
            distinct, where = np.unique(at, return_inverse=True)
            shifts = compared.contrasts(alike_new) @ (line.theta[:, None] * line.levels[distinct])
            decided = new[:, j, None] - threshold - shifts >= 0
            error, sd = error_and_sd(decided, rows.y_test, rows.s_test)
            found[j, k] = np.stack([sd, error], axis=1)[where]
    return found


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--table", choices=TABLES, required=True)
    parser.add_argument("--trials", type=int, default=50)
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--leak", action="store_true", help="Crime with the column that gives the label away")
    options = parser.parse_args()
    table = CRIME_WITH_LEAK if options.leak else TABLES[options.table]
    work = Parallel(n_jobs=options.jobs)(delayed(test_figures)(table, shuffle) for shuffle in range(options.trials))
    mean = np.mean(work, axis=0).reshape(-1, 2)
    print("| method | SD | error | least error at that SD, in hindsight | reached |", "|" + " --- |" * 5, sep="\n")
    for method in METHODS:
        cell = PUBLISHED[options.table, method]
        allowed = mean[mean[:, 0] <= cell.sd]
        least = allowed[allowed[:, 1].argmin()]
        reached = "yes" if least[1] <= cell.error else "no"
        print(f"| {method} | {cell.sd:.4f} | {cell.error:.4f} | {least[1]:.4f} at {least[0]:.4f} | {reached} |")


if __name__ == "__main__":
    main()
