"""Other estimators on a frontier's folds, for comparison."""

import inspect
from collections.abc import Sequence
from typing import Any

import numpy as np
from sklearn.base import clone, is_classifier
from sklearn.utils import _safe_indexing

from ..estimators.out_of_fold import FoldMoments
from ._frontier_rows import DECISION_SETTING, SCORE_SETTING, ScoreSums, Sums


def other_rows(
    others: Sequence[Any], X: Any, y: Any, sensitive_features: Any, sample_weight: Any, folds: FoldMoments
) -> dict[str, np.ndarray]:
    """A row of the table for each estimator, fitted and scored on the same folds.

    Parameters
    ----------
    others : sequence of estimator or of (name, estimator)
    X, y, sensitive_features, sample_weight
        As passed to ``frontier``.
    folds : FoldMoments

    Returns
    -------
    dict of str to ndarray
    """
    classifier, rows = is_classifier(folds.model), folds.rows
    cells, parts = folds.model._cells(rows), []
    y = np.asarray(y)
    for entry in others:
        name, other = entry if isinstance(entry, tuple) else (type(entry).__name__, entry)
        _refuse_unless_alike(name, other, classifier)
        predicted, aware = np.empty(len(rows.positions), dtype=y.dtype if classifier else float), False
        for f in range(folds.fold.max() + 1):
            train, test = rows.positions[folds.fold != f], rows.positions[folds.fold == f]
            model = clone(other).fit(
                _safe_indexing(X, train), y[train], **_taken(other, "fit", sensitive_features, sample_weight, train)
            )
            known = _taken(other, "predict", sensitive_features, None, test)
            aware = bool(known)
            predicted[folds.fold == f] = model.predict(_safe_indexing(X, test), **known)
        if classifier:
            sums = Sums(cells, rows.y == 1, rows.weight)
            found = sums.columns(((predicted == rows.classes[1]) @ sums.weights)[None, :])
        else:
            measure = ScoreSums(cells, folds.targets[:, 0], rows.weight)
            found = measure.columns(predicted, np.zeros_like(predicted), np.zeros(1))
        setting = dict.fromkeys(DECISION_SETTING if classifier else SCORE_SETTING, np.array([np.nan]))
        parts.append({"model": np.array([name], dtype=object), "aware": np.array([aware]), **setting, **found})
    return {name: np.concatenate([part[name] for part in parts]) for name in parts[0]} if parts else {}


def _taken(other: Any, method: str, sensitive_features: Any, sample_weight: Any, rows: np.ndarray) -> dict[str, Any]:
    """The keyword arguments that a method takes, for some of the rows."""
    given = {"sensitive_features": sensitive_features, "sample_weight": sample_weight}
    takes = inspect.signature(getattr(other, method)).parameters
    return {
        name: _safe_indexing(values, rows) for name, values in given.items() if values is not None and name in takes
    }


def _refuse_unless_alike(name: str, other: Any, classifier: bool) -> None:
    if not (hasattr(other, "fit") and hasattr(other, "predict")):
        raise TypeError(f"others: {name!r} is a {type(other).__name__}, which has no fit and predict.")
    if is_classifier(other) != classifier:
        wanted = "classifiers" if classifier else "regressors"
        raise ValueError(f"others: {name!r} does not go with a frontier of {wanted}.")
