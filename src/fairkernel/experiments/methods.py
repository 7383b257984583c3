"""How each kind of method chooses its settings on training rows and predicts the test rows."""

from collections.abc import Callable
from itertools import product
from typing import Any

import numpy as np
from sklearn.linear_model import RidgeClassifier
from sklearn.model_selection import StratifiedKFold
from sklearn.pipeline import Pipeline, make_pipeline

from ..baselines import FairPCA, MeanMatchedRidge, PrejudiceRemover
from ..estimators import FairKernelClassifier
from .context import FOLDS, Outcome, Rows, Trial, error_and_sd
from .spec import DIMENSIONS, ETAS, LEVELS, PENALTIES, ROWS_PER_COMPONENT, Method, kernels_of

FINAL_FEATURES = 500
FLR_TOLERANCE = 1e-4  # the Newton steps that follow reach the same minimum, several times faster
PUBLISHED_ETAS = (5.0, 15.0, 30.0)  # the values of the prejudice remover's own paper


class KernelPCARidge(FairKernelClassifier):
    """Ridge on the leading kernel principal components, with no regard to groups: a yardstick."""

    def _gap_directions(self, moments: Any) -> np.ndarray:
        return np.empty((moments.n_features, 0))


def _mean_gap(scores: np.ndarray, s: np.ndarray) -> float:
    return float(abs(scores[s == 1].mean() - scores[s == 0].mean()))


def run_kernel(method: Method, trial: Trial) -> Outcome:
    """Search kernels × components × penalties × levels on fold moments, refit the chosen setting.

    Parameters
    ----------
    method : Method
    trial : Trial

    Returns
    -------
    Outcome
    """
    estimator_type = TYPES[method.kind]
    rows, published = trial.rows, trial.rule.published and method.family == "paper" and not method.searched
    n, p = rows.X.shape
    kernels = (trial.table.published_kernel,) if published else kernels_of(method, trial.table, p)
    per_component = ROWS_PER_COMPONENT[:1] if published else method.rows_per_component
    levels = (0.0,) if method.objective == "printed" else method.levels
    candidates = [
        (kernel, per, alpha, level)
        for kernel in kernels
        for per in per_component
        for alpha in PENALTIES
        for level in levels
    ]
    figures = [_figures(trial, estimator_type, method.objective, *candidate) for candidate in candidates]
    error, sd = np.array(figures).T
    best = trial.rule.choose(error, sd)
    kernel, per, alpha, level = candidates[best]
    k = None if per is None else max(1, n // per)
    model = estimator_type(
        k,
        alpha=alpha,
        disparity_kept=level,
        objective=method.objective,
        n_features=FINAL_FEATURES,
        random_state=trial.seed,
        **kernel.keywords(),
    ).fit(rows.X, rows.y, sensitive_features=rows.s)
    scores = model.decision_function(rows.X_test)
    settings = {**kernel.keywords(), "n_components": k, "alpha": alpha, "disparity_kept": level}
    return Outcome(settings, scores >= 0, _mean_gap(scores, rows.s_test), float(error[best]), float(sd[best]))


def _figures(
    trial: Trial, estimator_type: type, objective: str, kernel: Any, per: Any, alpha: float, level: float
) -> tuple:
    components = (*ROWS_PER_COMPONENT, None)
    extra = () if per in components else (per,)
    error, sd = trial.cross_validated(kernel, estimator_type, objective, extra)
    at = (*components, *extra).index(per), PENALTIES.index(alpha), 0 if objective == "printed" else LEVELS.index(level)
    return error[at], sd[at]


def run_flr(method: Method, trial: Trial) -> Outcome:
    """Prejudice remover: its own table's η with the published rule, a wide grid otherwise; one weight vector or two.

    Parameters
    ----------
    method : Method
    trial : Trial

    Returns
    -------
    Outcome
    """
    etas = PUBLISHED_ETAS if trial.rule.published else ETAS
    variants = ("two_vectors",) if trial.rule.published else ("two_vectors", "one_vector")
    candidates = [{"variant": variant, "eta": eta} for variant, eta in product(variants, etas)]
    return _search(trial, candidates, lambda settings: PrejudiceRemover(tol=FLR_TOLERANCE, **settings))


def run_frr(method: Method, trial: Trial) -> Outcome:
    """Mean-matched ridge, our reconstruction: three variants and six penalties.

    Parameters
    ----------
    method : Method
    trial : Trial

    Returns
    -------
    Outcome
    """
    variants = ("V1",) if trial.rule.published else ("V1", "V2", "V3")
    candidates = [{"variant": variant, "alpha": alpha} for variant, alpha in product(variants, PENALTIES)]
    return _search(trial, candidates, lambda settings: MeanMatchedRidge(**settings))


def run_fpca(method: Method, trial: Trial) -> Outcome:
    """Fair PCA and ridge on its components.

    Parameters
    ----------
    method : Method
    trial : Trial

    Returns
    -------
    Outcome
    """
    p = trial.blind_rows.X.shape[1]
    candidates = [{"n_components": d} for d in DIMENSIONS if d < p]
    return _search(trial, candidates, lambda settings: make_pipeline(FairPCA(**settings), RidgeClassifier(alpha=1.0)))


def run_constant(method: Method, trial: Trial) -> Outcome:
    """The majority class of the training rows.

    Parameters
    ----------
    method : Method
    trial : Trial

    Returns
    -------
    Outcome
    """
    majority = int(trial.rows.y.mean() >= 0.5)
    return Outcome({"class": majority}, np.full(len(trial.rows.y_test), majority), 0.0)


def _search(trial: Trial, candidates: list[dict], make: Callable[[dict], Any]) -> Outcome:
    """Choose by cross-validation on training rows without s among the inputs, refit, predict."""
    rows = trial.blind_rows
    held_out = np.empty((len(rows.y), len(candidates)), dtype=bool)
    for train, test in StratifiedKFold(FOLDS).split(rows.X, rows.y):
        fold = Rows(rows.X[train], rows.y[train], rows.s[train], rows.X[test], rows.y[test], rows.s[test])
        for j, settings in enumerate(candidates):
            held_out[test, j] = decide(make(settings), fold)[0]
    error, sd = error_and_sd(held_out, rows.y, rows.s)
    best = trial.rule.choose(error, sd)
    predicted, mean_gap = decide(make(candidates[best]), rows)
    return Outcome(candidates[best], predicted, mean_gap, float(error[best]), float(sd[best]))


def decide(model: Any, rows: Rows) -> tuple[np.ndarray, float]:
    """Fit on the training rows, decide on the test rows.

    Parameters
    ----------
    model : classifier or Pipeline
    rows : Rows

    Returns
    -------
    decisions : ndarray of bool
    mean_gap : float
        Of the scores.
    """
    if isinstance(model, Pipeline):
        model.fit(rows.X, rows.y, **{f"{model.steps[0][0]}__sensitive_features": rows.s})
        known = {}
    else:
        # Some variants predict with a weight vector or a mean per group; the others do not look at it.
        model.fit(rows.X, rows.y, sensitive_features=rows.s)
        known = {"sensitive_features": rows.s_test}
    scores = model.decision_function(rows.X_test, **known)
    return model.predict(rows.X_test, **known).astype(bool), _mean_gap(scores, rows.s_test)


TYPES = {"kernel": FairKernelClassifier, "kernel_pca": KernelPCARidge}
RUN: dict[str, Callable[[Method, Trial], Outcome]] = {
    "kernel": run_kernel,
    "kernel_pca": run_kernel,
    "flr": run_flr,
    "frr": run_frr,
    "fpca": run_fpca,
    "constant": run_constant,
}
