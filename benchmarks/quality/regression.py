"""Regression with equal distributions: what each way costs in R², on ten splits of three tables.

    OMP_NUM_THREADS=1 python benchmarks/quality/regression.py --out regression.jsonl
    python benchmarks/quality/regression.py --table regression.jsonl [rival.jsonl ...]

Blind: mean parity by degrees, matched second moments, the HSIC direction by rounds. Aware: the way to the barycentre,
without and with s among the inputs. The kernel, its scale and the penalty are those of least five-fold error on the
training rows, unconstrained, the same for every method. The third table has a continuous attribute, years of
education: its groups for the figures, and for the aware methods, are the rows below, at and above twelve years. What
is written is that of outcomes.py, and ``ks_floor``: the KS that the test rows show when dealt to groups at random.
"""

import argparse
import sys
import warnings
from collections import defaultdict
from functools import lru_cache

import numpy as np
from outcomes import Lines, read_lines, timed
from sklearn.metrics import r2_score
from sklearn.model_selection import KFold, StratifiedShuffleSplit
from tables import NUMERIC, SPLITS, TEST_SHARE, prepared, read_split

from fairkernel import FairKernelRegressor
from fairkernel.datasets import load_wages
from fairkernel.estimators.out_of_fold import FoldMoments
from fairkernel.exceptions import ContinuousSensitiveWarning, SensitiveColumnWarning
from fairkernel.metrics import distribution_disparity, mean_disparity

CONTINUOUS = "wages_by_education"
TWELVE_YEARS = (12, 13)
KERNELS = ("rbf", "laplacian")
SCALES = (0.03, 0.1, 0.3)  # gamma times the number of columns
FIXED = {"n_features": 300, "random_state": 0}
ALPHAS = np.logspace(-1, 2, 7).tolist()
SHARES = (0.0, 0.25, 0.5, 0.75, 1.0)
METHODS = {  # name → (s among the inputs, the knob's values, a knob's parameters)
    "mean parity, kernel ridge": (False, SHARES, lambda kept: {"disparity_kept": kept}),
    "second moments, kernel ridge": (False, (5, 20, None), lambda k: {"n_moments": 2, "n_components": k}),
    "HSIC direction, kernel ridge": (False, (1, 2, 4, 8), lambda r: {"hsic_rounds": r}),
    "barycentre, kernel ridge": (False, SHARES, lambda t: barycentre(t)),
    "barycentre, kernel ridge with s": (True, SHARES, lambda t: barycentre(t)),
}


def main(arguments=None):
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    what = parser.add_mutually_exclusive_group(required=True)
    what.add_argument("--out")
    what.add_argument("--table", nargs="+", metavar="FILE")
    parser.add_argument("--splits", type=int, default=10)
    options = parser.parse_args(arguments)
    if options.table:
        sys.stdout.write(summary(read_lines(*options.table)))
        return
    lines = Lines(options.out)
    for split in SPLITS[: options.splits]:
        for name in (*NUMERIC, CONTINUOUS):
            for method, (with_s, knobs, _) in METHODS.items():
                if name == CONTINUOUS and method.startswith("second moments"):
                    continue  # there are no groups whose variances could be compared
                for knob in lines.missing(name, split, method, knobs):
                    lines.append(**measure(name, split, method, knob, with_s))


def barycentre(t):
    """The way from unconstrained scores to the barycentre."""
    return {"aware": True, "distribution_parity": t, "disparity_kept": 1.0}


def measure(name, split, method, knob, with_s):
    """The line of one method at one knob."""
    rows, groups, groups_test = numeric_split(name, split, with_s)
    settings, tuning = tuned(name, split, with_s)
    model = FairKernelRegressor(**settings, **METHODS[method][2](knob), **FIXED)
    s = groups if model.aware else rows.s
    given = {"sensitive_features": groups_test} if model.aware else {}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ContinuousSensitiveWarning)
        warnings.simplefilter("ignore", SensitiveColumnWarning)
        _, fit = timed(lambda: model.fit(rows.X, rows.y, sensitive_features=s))
    predicted, predict = timed(lambda: model.predict(rows.X_test, **given))
    figures = number_figures(predicted, rows.y_test, groups_test)
    sys.stderr.write(f"{name} {split} {method} {knob}: {figures}\n")
    return {
        "table": name, "split": split, "method": method, "knob": knob, "aware": bool(model.aware or with_s), **figures,
        "ks_floor": dealt_at_random(predicted, groups_test, split), "shared_seconds": tuning, "fit_seconds": fit,
        "predict_seconds": predict, "settings": settings,
    }  # fmt: skip


def numeric_split(name, split, with_s):
    """Rows, and the groups of the training and the test rows that figures and aware methods look at."""
    if name != CONTINUOUS:
        rows = read_split(name, split, include_sensitive=with_s)
        return rows, rows.s, rows.s_test
    wages = load_wages(as_frame=True)
    years, y = wages.data["educ"].to_numpy(), wages.target.to_numpy()
    groups = np.array(["below", "twelve", "above"])[np.digitize(years, TWELVE_YEARS)]
    splitter = StratifiedShuffleSplit(1, test_size=TEST_SHARE, random_state=split)
    train, test = next(splitter.split(groups, groups))
    X = wages.data if with_s else wages.data.drop(columns="educ")
    rows = prepared(X, y, years, train, test)
    return rows, groups[train], groups[test]


@lru_cache(maxsize=4)
def tuned(name, split, with_s):
    """The setting of least five-fold error, unconstrained, and the seconds it took to find."""
    rows, groups, _ = numeric_split(name, split, with_s)
    folds = KFold(5, shuffle=True, random_state=split)

    def search():
        found = []
        for kernel in KERNELS:
            for scale in SCALES:
                model = FairKernelRegressor(kernel=kernel, gamma=scale / rows.X.shape[1], **FIXED)
                with warnings.catch_warnings():
                    warnings.simplefilter("ignore", SensitiveColumnWarning)
                    moments = FoldMoments.of(model, rows.X, rows.y, sensitive_features=groups, cv=folds)
                scores = moments.scores(model, alphas=ALPHAS).plain[:, 0, :, 0]
                for alpha, f in zip(ALPHAS, scores.T, strict=True):
                    found.append((r2_score(rows.y, f), {"kernel": kernel, "gamma": model.gamma, "alpha": alpha}))
        return max(found, key=lambda each: each[0])[1]

    return timed(search)


def number_figures(predicted, y, groups):
    """R², and how far apart the groups' predictions are."""
    apart = distribution_disparity(None, predicted, sensitive_features=groups)
    gap = mean_disparity(None, predicted, sensitive_features=groups)
    return {"r2": float(r2_score(y, predicted)), "ks": float(apart.ks), "w1": float(apart.w1), "mean_gap": float(gap)}


def dealt_at_random(predicted, groups, seed, times=50):
    """Mean KS of the predictions when the groups are dealt to the rows at random."""
    rng = np.random.default_rng(seed)
    dealt = (rng.permutation(groups) for _ in range(times))
    return float(np.mean([distribution_disparity(None, predicted, sensitive_features=s).ks for s in dealt]))


def summary(lines):
    """Markdown: means over the splits with their standard errors."""
    cells = defaultdict(list)
    for line in lines:
        cells[line["table"], line["method"], line["knob"]].append(line)
    out = ["| table | method | knob | R² | KS | KS at random | W1 | mean gap |", "|---|---|---|---|---|---|---|---|"]
    for (table, method, knob), of_cell in cells.items():
        figures = [_mean([line.get(name) for line in of_cell]) for name in ("r2", "ks", "ks_floor", "w1", "mean_gap")]
        out.append(f"| {table} | {method} | {'' if knob is None else knob} | {' | '.join(figures)} |")
    return "\n".join(out) + "\n"


def _mean(values):
    if None in values:
        return ""
    spread = np.std(values, ddof=1) / np.sqrt(len(values)) if len(values) > 1 else 0.0
    return f"{np.mean(values):.3f} ± {spread:.3f}"


if __name__ == "__main__":
    main()
