"""Could any setting of the family reach the cells of Table I that dominance.py leaves open? Chosen on test rows.

    OMP_NUM_THREADS=1 python benchmarks/quality/hindsight.py --table crime [--trials 50] [--batch] [--leak | --rivals]

Every setting (kernel, penalty, threshold, tolerance on the gap) is fitted on the training rows of every shuffle and
measured on the test rows, decided alone or, with ``--batch``, as a batch (dominance.py says what that is). Of those
whose mean SD is at most the cell's, the least mean error is shown. This looks at test rows on purpose: no fixed setting
of the family does better. A rule may choose another setting on every shuffle, so it is no bound on rules, but evidence
where even this falls short.
"""

import argparse
import warnings

import numpy as np
from dominance import ALPHAS, THRESHOLDS, TOLERANCES, cells_of, models_of, read_rerun
from joblib import Parallel, delayed
from scipy import special
from sklearn.ensemble import ExtraTreesClassifier, HistGradientBoostingClassifier, RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import cross_val_predict
from threadpoolctl import threadpool_limits

from fairkernel.estimators.out_of_fold import FoldMoments, new_row_scores
from fairkernel.exceptions import FairKernelWarning
from fairkernel.experiments.context import error_and_sd, read_rows
from fairkernel.experiments.spec import CRIME_WITH_LEAK, TABLES
from fairkernel.solve.decision import Compared, DecisionLine

RIVALS = [
    *(LogisticRegression(C=C, max_iter=3000) for C in (0.003, 0.01, 0.03, 0.1, 1.0)),
    *(HistGradientBoostingClassifier(learning_rate=0.05, max_leaf_nodes=7, max_iter=n) for n in (60, 120, 240)),
    ExtraTreesClassifier(300, min_samples_leaf=2, max_features=0.3, random_state=0),
    RandomForestClassifier(300, min_samples_leaf=2, random_state=0),
]
AVERAGED = (1, 6, 8)  # the second logistic regression and the middle boosted trees with the extra trees
CLIP = 1e-3  # probabilities of trees reach 0


def test_figures(table, shuffle, batch):
    """SD and error of every setting on the test rows, shape (kernels, alphas, thresholds, tolerances, 2)."""
    warnings.simplefilter("ignore", FairKernelWarning)
    with threadpool_limits(1):
        rows = read_rows(table, shuffle, include_sensitive=True)
        return np.array([_of_kernel(model, rows, batch) for model in models_of(rows, shuffle)])


def _of_kernel(model, rows, batch):
    known = {"sensitive_features": rows.s}
    folds = FoldMoments.of(model, rows.X, rows.y, **known)
    held_out = folds.scores(folds.model, alphas=ALPHAS).plain[:, 0, :, 0]
    new = new_row_scores(model, rows.X, rows.y, rows.X_test, alphas=ALPHAS, **known)[1][:, 0, :, 0]
    return _of_scores(held_out, new, rows, batch)


def rival_figures(table, shuffle, batch):
    """The same for thresholds per group on the probabilities of other scorers, shape (scorers, thresholds, …, 2)."""
    with threadpool_limits(1):
        rows = read_rows(table, shuffle, include_sensitive=True)
        columns = [
            (
                cross_val_predict(model, rows.X, rows.y, cv=5, method="predict_proba")[:, 1],
                model.fit(rows.X, rows.y).predict_proba(rows.X_test)[:, 1],
            )
            for model in RIVALS
        ]
        held_out, new = (np.stack(part, axis=1) for part in zip(*columns, strict=True))
        average = [special.logit(np.clip(p[:, AVERAGED], CLIP, 1 - CLIP)).mean(axis=1) for p in (held_out, new)]
        held_out, new = (np.column_stack([p, special.expit(z)]) for p, z in zip((held_out, new), average, strict=True))
        return _of_scores(held_out, new, rows, batch)


def _of_scores(held_out, new, rows, batch):
    groups = np.unique(rows.s)
    member, member_new = (s[:, None] == groups for s in (rows.s, rows.s_test))
    compared, share = Compared((tuple(range(len(groups))),)), member.mean(axis=0)
    if batch:
        held_out, member = new, member_new
    weights = member / member.sum(axis=0)
    found = np.empty((held_out.shape[1], len(THRESHOLDS), len(TOLERANCES), 2))
    for j in range(held_out.shape[1]):
        for k, threshold in enumerate(THRESHOLDS):
            line = DecisionLine.of(held_out[:, j] - threshold, member / share, weights, compared)
            at = [line.within(tolerance)[0] for tolerance in TOLERANCES]
            distinct, where = np.unique(at, return_inverse=True)
            shifts = compared.contrasts(member_new / share) @ (line.theta[:, None] * line.levels[distinct])
            error, sd = error_and_sd(new[:, j, None] - threshold - shifts >= 0, rows.y_test, rows.s_test)
            found[j, k] = np.stack([sd, error], axis=1)[where]
    return found


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--table", choices=TABLES, required=True)
    parser.add_argument("--trials", type=int, default=50)
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--rerun", help="results.jsonl of fairkernel reproduce: its cells as well")
    parser.add_argument("--leak", action="store_true", help="Crime with the column that gives the label away")
    parser.add_argument("--rivals", action="store_true", help="logistic regression and trees in place of ours")
    parser.add_argument("--batch", action="store_true", help="thresholds set on the test rows, without their labels")
    options = parser.parse_args()
    table = CRIME_WITH_LEAK if options.leak else TABLES[options.table]
    figures = rival_figures if options.rivals else test_figures
    work = Parallel(n_jobs=options.jobs)(delayed(figures)(table, k, options.batch) for k in range(options.trials))
    mean = np.mean(work, axis=0).reshape(-1, 2)
    rerun = read_rerun(options.rerun, options.trials) if options.rerun else {}
    print("| cells | method | SD | error | least error at that SD, in hindsight | reached |")
    print("|" + " --- |" * 6)
    for (kind, name, method), (sd, error) in cells_of(rerun).items():
        allowed = mean[mean[:, 0] <= sd]
        if name == options.table and len(allowed):
            least = allowed[allowed[:, 1].argmin()]
            reached = "yes" if least[1] <= error else "no"
            print(f"| {kind} | {method} | {sd:.4f} | {error:.4f} | {least[1]:.4f} at {least[0]:.4f} | {reached} |")


if __name__ == "__main__":
    main()
