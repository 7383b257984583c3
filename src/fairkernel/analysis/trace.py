"""The whole trade-off from one feature pass: every penalty, level and tolerance, scored out of fold."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from sklearn.base import clone, is_classifier

from ..estimators._ridge import FairKernelRidge
from ..estimators.out_of_fold import FoldMoments
from ._frontier_others import other_rows
from ._frontier_rows import OURS, decision_rows, score_rows
from .frontier_result import Frontier

LEVELS = tuple(np.linspace(0.0, 1.0, 11).tolist())
NONE = -1  # the kernel of rows that have none
TOLERANCES = 40  # from none to the gap of the plain decisions
AROUND = (0.1, 0.3, 1.0, 3.0, 10.0)  # times the estimator's own penalty


def frontier(
    estimator: FairKernelRidge,
    X: Any,
    y: Any,
    *,
    sensitive_features: Any = None,
    sample_weight: Any = None,
    cv: Any = 5,
    alphas: Sequence[float] | None = None,
    disparity_kept: Sequence[float] | None = None,
    max_decision_gap: Sequence[float | None] | None = None,
    thresholds: Sequence[float] | None = None,
    kernels: Sequence[Any] | None = None,
    others: Sequence[Any] = (),
) -> Frontier:
    """Error against disparity of every setting, out of fold, from one factorisation per fold.

    The feature map is built once (and, with ``kernel="auto"``, tuned once); folds are subtracted from the moments.
    Every figure is of rows that the scores were not fitted to, but choosing among many settings by these figures
    flatters the one that is chosen: measure it again on rows kept apart.

    Parameters
    ----------
    estimator : FairKernelClassifier or FairKernelRegressor
        Supplies the kernel, the criterion and whether groups are known when decisions are made (``aware``). It is not
        changed.
    X : array-like of shape (n, p)
    y : array-like of shape (n,)
        Two classes, or numbers.
    sensitive_features : array-like of shape (n,) or (n, columns)
    sample_weight : array-like of shape (n,), optional
    cv : int or cross-validation splitter, default=5
    alphas : sequence of float, optional
        Ridge penalties; by default five around the estimator's (with ``kernel="auto"``, around the tuned one).
    disparity_kept : sequence of float, optional
        Levels of the scores' disparity. By default 0, 0.1, …, 1 with plain decisions, and 1 with tolerances.
    max_decision_gap : sequence of float or None, optional
        Tolerances on the gap of decisions, classifiers only; None stands for the plain threshold. By default None and
        40 values from 0 to the gap of the plain decisions. An empty sequence is the same as (None,).
    thresholds : sequence of float, optional
        Thresholds of the scores, classifiers only; by default the estimator's. Higher ones say yes less often, which
        leaves less room for a disparity.
    kernels : sequence, optional
        Kernels to trace, each named or given as ``kernel`` of the estimator is; by default the estimator's. A column
        of the table numbers them.
    others : sequence of estimator or of (name, estimator)
        Any scikit-learn classifiers (regressors), fitted on the same folds for comparison, a row each. Those whose
        ``fit`` or ``predict`` takes ``sensitive_features`` are given them.

    Returns
    -------
    Frontier

    Examples
    --------
    >>> from fairkernel import FairKernelClassifier, frontier
    >>> from fairkernel.datasets import make_two_groups
    >>> data = make_two_groups(600, random_state=0)
    >>> found = frontier(
    ...     FairKernelClassifier(random_state=0),
    ...     data.data,
    ...     data.target,
    ...     sensitive_features=data.sensitive_features,
    ...     alphas=[1.0],
    ...     max_decision_gap=[0.05, 0.1],
    ... )
    >>> len(found), found.best(max_disparity=0.11).max_decision_gap
    (3, 0.1)
    """
    if not isinstance(estimator, FairKernelRidge):
        raise TypeError(
            f"estimator must be a FairKernelClassifier or FairKernelRegressor, got {type(estimator).__name__}; other "
            "estimators go into others=[...]."
        )
    classifier = is_classifier(estimator)
    if not classifier:
        _refuse_decisions(max_decision_gap=max_decision_gap, thresholds=thresholds)
    tolerances = _tolerances(max_decision_gap) if classifier else (None,)
    wanted: dict[str, Any] = {"max_decision_gap": 1.0} if classifier and tolerances != (None,) else {}
    if classifier and not wanted:
        wanted = {"max_decision_gap": None, "aware": False}
    given = {"sensitive_features": sensitive_features, "sample_weight": sample_weight}
    levels = _checked("disparity_kept", LEVELS if disparity_kept is None else disparity_kept, 0.0, 1.0)
    tables: list[dict[str, np.ndarray]] = []
    models: list[FairKernelRidge] = []
    for kernel in [estimator.kernel] if kernels is None else _some(kernels):
        folds = FoldMoments.of(clone(estimator).set_params(kernel=kernel, **wanted), X, y, cv=cv, **given)
        _refuse_unclear(folds, classifier)
        penalties = _penalties(alphas, folds.model)
        if classifier:
            rule_levels = (1.0,) if disparity_kept is None else levels
            table = decision_rows(folds, penalties, _thresholds(thresholds, estimator), levels, rule_levels, tolerances)
        else:
            table = score_rows(folds, penalties, levels)
        tables.append({"kernel": np.where(table["model"] == OURS, len(models), NONE), **table})
        models.append(folds.model)
    # The constant's row, which comes last, is that of the last kernel.
    parts = [{name: column[:-1] for name, column in table.items()} for table in tables[:-1]] + tables[-1:]
    if others:
        compared = other_rows(others, X, y, sensitive_features, sample_weight, folds)
        parts.append({"kernel": np.full(len(compared["model"]), NONE), **compared})
    table = {name: np.concatenate([part[name] for part in parts]) for name in ("model", *parts[0])}
    task = "classification" if classifier else "regression"
    return Frontier(table, task, estimator, tuple(models), (X, y, given))


def _refuse_decisions(**given: Any) -> None:
    for name in (name for name, value in given.items() if value is not None):
        raise ValueError(f"{name} is about decisions, but a regressor makes none; leave it out.")


def _some(kernels: Sequence[Any]) -> list:
    if isinstance(kernels, str) or not len(found := list(kernels)):
        raise ValueError(f"kernels must be a sequence of kernels, at least one; got {kernels!r}.")
    return found


def _thresholds(thresholds: Sequence[float] | None, estimator: FairKernelRidge) -> tuple[float, ...]:
    found = _checked("thresholds", [estimator.threshold] if thresholds is None else thresholds, 0.0, 1.0)
    for threshold in (found[0], found[-1]):  # the ends are left out, as the estimator says
        clone(estimator).set_params(threshold=threshold)._validate_params()
    return found


def _tolerances(max_decision_gap: Sequence[float | None] | None) -> Any:
    """The tolerances, (None,) where there are none, or how many are to be spread over the plain gap."""
    if max_decision_gap is None:
        return TOLERANCES
    given = tuple(max_decision_gap) or (None,)
    numbers = _checked("max_decision_gap", [t for t in given if t is not None], 0.0, 1.0, empty=True)
    return ((None,) if None in given else ()) + numbers


def _penalties(alphas: Sequence[float] | None, model: FairKernelRidge) -> tuple[float, ...]:
    if alphas is None:
        return tuple(float(model.alpha_ * factor) for factor in AROUND)
    return _checked("alphas", alphas, 0.0, np.inf)


def _checked(name: str, values: Any, low: float, high: float, *, empty: bool = False) -> tuple[float, ...]:
    numbers = np.asarray(list(values), dtype=float)
    if numbers.ndim != 1 or not (len(numbers) or empty) or not ((numbers >= low) & (numbers <= high)).all():
        raise ValueError(f"{name} must be a sequence of numbers from {low:g} to {high:g}; got {values!r}.")
    return tuple(np.unique(numbers).tolist())


def _refuse_unclear(folds: FoldMoments, classifier: bool) -> None:
    if classifier and len(folds.rows.classes) > 2:
        raise ValueError(
            f"a frontier is of yes-or-no decisions, but y has {len(folds.rows.classes)} classes: compare one class "
            "with the rest, as y == label."
        )
    if not classifier and folds.targets.shape[1] > 1:
        raise ValueError(f"a frontier is of one target, but y has {folds.targets.shape[1]}: pass one column of y.")
