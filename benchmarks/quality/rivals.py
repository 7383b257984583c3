"""fairlearn's reductions and thresholds on the tables and splits of ours.py, their knobs swept.

    pip install fairlearn
    OMP_NUM_THREADS=1 python benchmarks/quality/rivals.py --out rivals.jsonl [--method NAME ...] [--table NAME ...]

Blind: ExponentiatedGradient with DemographicParity on logistic regression and on boosted trees; its knob is the bound
on the difference. Aware: ThresholdOptimizer on boosted trees, its knob is ``tol``, with and without s among the inputs.
Boosted trees have, on every split, the settings of least five-fold error out of eight (``boosted.py``). Randomised
decisions count with their probabilities. The plain models stand beside them, as the end that every knob leads to.
"""

import argparse
import warnings

import numpy as np
from boosted import tuned_trees
from fairlearn.postprocessing import ThresholdOptimizer
from fairlearn.reductions import DemographicParity, ExponentiatedGradient
from outcomes import Lines, decision_figures, timed
from sklearn.linear_model import LogisticRegression
from tables import FAIR, SPLITS, read_split

KNOBS = (0.005, 0.01, 0.02, 0.03, 0.05, 0.07, 0.1, 0.13, 0.16, 0.2, 0.3)
FEW = (0.01, 0.03, 0.07, 0.13, 0.2, 0.3)  # of a method that takes a minute for each


def logistic(rows, key):
    """Logistic regression; nothing to tune that moves it on these tables."""
    return LogisticRegression(max_iter=2000), 0.0


def trees(rows, key):
    """Boosted trees with the best of eight settings, and the seconds it took to find it."""
    name, split, include_sensitive = key
    return tuned_trees(name, split, include_sensitive=include_sensitive)


def majority(base, rows, key, knob):
    """The class of most training rows."""
    return np.full(len(rows.y_test), float(rows.y.mean() >= 0.5)), 0.0, 0.0


def plain(base, rows, key, knob):
    """The model without regard to groups."""
    model, tuning = base(rows, key)
    _, fit = timed(lambda: model.fit(rows.X, rows.y))
    return model.predict(rows.X_test).astype(float), tuning, fit


def exponentiated_gradient(base, rows, key, knob):
    """Agarwal et al. 2018."""
    model, tuning = base(rows, key)
    mitigator = ExponentiatedGradient(model, DemographicParity(difference_bound=knob))
    _, fit = timed(lambda: mitigator.fit(rows.X, rows.y, sensitive_features=rows.s))
    return mitigator._pmf_predict(rows.X_test)[:, 1], tuning, fit


def thresholds(base, rows, key, knob):
    """Hardt et al. 2016 as fairlearn has it: a randomised threshold per group."""
    model, tuning = base(rows, key)
    optimizer = ThresholdOptimizer(
        estimator=model, constraints="demographic_parity", predict_method="predict_proba", tol=knob
    )
    _, fit = timed(lambda: optimizer.fit(rows.X, rows.y, sensitive_features=rows.s))
    return optimizer._pmf_predict(rows.X_test, sensitive_features=rows.s_test)[:, 1], tuning, fit


METHODS = {  # name → (decisions use s, s among the inputs, base, how, knobs)
    "constant": (False, False, None, majority, (None,)),
    "logistic": (False, False, logistic, plain, (None,)),
    "trees": (False, False, trees, plain, (None,)),
    "trees with s": (True, True, trees, plain, (None,)),
    "ExponentiatedGradient, logistic": (False, False, logistic, exponentiated_gradient, KNOBS),
    "ExponentiatedGradient, trees": (False, False, trees, exponentiated_gradient, FEW),
    "ThresholdOptimizer, trees": (True, False, trees, thresholds, KNOBS),
    "ThresholdOptimizer, trees with s": (True, True, trees, thresholds, KNOBS),
}


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--out", required=True)
    parser.add_argument("--method", nargs="+", choices=METHODS, default=list(METHODS))
    parser.add_argument("--table", nargs="+", choices=FAIR, default=list(FAIR))
    parser.add_argument("--splits", type=int, default=len(SPLITS))
    options = parser.parse_args()
    warnings.simplefilter("ignore")  # fairlearn's and scikit-learn's about each other
    lines = Lines(options.out)
    for split in SPLITS[: options.splits]:
        for name in options.table:
            for method in options.method:
                aware, include_sensitive, base, how, knobs = METHODS[method]
                key = name, split, include_sensitive
                rows = read_split(name, split, include_sensitive=include_sensitive)
                for knob in lines.missing(name, split, method, knobs):
                    probability, tuning, fit = how(base, rows, key, knob)
                    figures = decision_figures(np.asarray(probability, dtype=float), rows.y_test, rows.s_test)
                    lines.append(
                        table=name, split=split, method=method, aware=aware, knob=knob, shared_seconds=tuning,
                        fit_seconds=fit, **figures,
                    )  # fmt: skip
                print(method, name, split, flush=True)


if __name__ == "__main__":
    main()
