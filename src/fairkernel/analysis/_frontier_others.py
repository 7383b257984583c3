"""Other estimators on a frontier's folds, for comparison: whatever they take of groups and weights, they are given."""

import inspect
from collections import Counter
from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np
from sklearn import get_config
from sklearn.base import clone, is_classifier
from sklearn.pipeline import Pipeline
from sklearn.utils import _safe_indexing
from sklearn.utils.metadata_routing import get_routing_for_object
from sklearn.utils.metaestimators import _safe_split

from ..estimators.out_of_fold import FoldMoments
from ._frontier_rows import CONSTANT, DECISION_SETTING, OURS, SCORE_SETTING, ScoreSums, Sums

GROUPS, WEIGHT = "sensitive_features", "sample_weight"


def named_others(others: Any, classifier: bool, weighted: bool) -> dict[str, Any]:
    """The estimators by name, refused where they cannot be compared.

    Parameters
    ----------
    others : estimator, sequence of estimator or of (name, estimator), or dict of str to estimator
        Those without a name have that of their class (pipelines, of their last step), numbered where there are several.
    classifier : bool
        What they are to be.
    weighted : bool
        Whether the rows have weights, which they must take then.

    Returns
    -------
    dict of str to estimator
    """
    pairs = list(map(_pair, _entries(others)))
    counts, numbers = Counter(_class_name(other) for name, other in pairs if name is None), Counter[str]()
    found: dict[str, Any] = {}
    for name, other in pairs:
        if name is None:
            name = _class_name(other)
            numbers[name] += 1
            name = f"{name} {numbers[name]}" if counts[name] > 1 else name
        _refuse_unless_comparable(name, other, classifier, weighted)
        if name in (OURS, CONSTANT) or name in found:
            whose = "another one of them" if name in found else "a row that the table has anyway"
            raise ValueError(f"others: {name!r} is the name of {whose}; pass (name, estimator) with a name of its own.")
        found[name] = other
    return found


def other_rows(
    others: dict[str, Any], X: Any, y: Any, sensitive_features: Any, weighted: bool, folds: FoldMoments
) -> dict[str, np.ndarray]:
    """A row of the table for each estimator, fitted and scored on the same folds.

    Parameters
    ----------
    others : dict of str to estimator
    X, y, sensitive_features
        As passed to ``frontier``.
    weighted : bool
        Whether the rows have weights.
    folds : FoldMoments

    Returns
    -------
    dict of str to ndarray
    """
    classifier, rows = is_classifier(folds.model), folds.rows
    # Columns that the estimator knows as the attribute are no inputs of the others either.
    X, groups = folds.model._without_sensitive_columns(X, sensitive_features)
    y, cells, parts = np.ravel(y), folds.model._cells(rows), []
    for name, other in others.items():
        predicted, aware = np.empty(len(rows.positions), dtype=y.dtype if classifier else float), False
        for f in range(folds.fold.max() + 1):
            held_out = folds.fold == f
            train, test = rows.positions[~held_out], rows.positions[held_out]
            known = {GROUPS: _safe_indexing(groups, train)} | ({WEIGHT: rows.weight[~held_out]} if weighted else {})
            model = clone(other)
            options = {key: values for given, values in known.items() for key in _keywords(model, given)}
            model.fit(*_safe_split(model, X, y, train), **options)
            X_test, _ = _safe_split(model, X, None, test, train)
            predicted[held_out], depends = _predictions(model, X_test, _safe_indexing(groups, test))
            aware |= depends
        if classifier:
            sums = Sums(cells, rows.y == 1, rows.weight)
            found = sums.columns(((predicted == rows.classes[1]) @ sums.weights)[None, :])
        else:
            measure = ScoreSums(cells, folds.targets[:, 0], rows.weight)
            found = measure.columns(predicted, np.zeros_like(predicted), np.zeros(1))
        setting = dict.fromkeys(DECISION_SETTING if classifier else SCORE_SETTING, np.array([np.nan]))
        parts.append({"model": np.array([name], dtype=object), "aware": np.array([aware]), **setting, **found})
    return {name: np.concatenate([part[name] for part in parts]) for name in parts[0]}


# What is named ------------------------------------------------------------------------------------------------------


def _entries(others: Any) -> list:
    if hasattr(others, "fit"):
        return [others]
    if isinstance(others, Mapping):
        return list(others.items())
    if isinstance(others, str) or not isinstance(others, Iterable):
        raise TypeError(
            f"others must be an estimator, a sequence of estimators or of (name, estimator), or a dict; got {others!r}."
        )
    return list(others)


def _pair(entry: Any) -> tuple[str | None, Any]:
    if not isinstance(entry, tuple):
        return None, entry
    if len(entry) != 2 or not isinstance(entry[0], str):
        raise TypeError(f"others: a named estimator is (name, estimator), the name a str; got {entry!r}.")
    return entry


def _refuse_unless_comparable(name: str, other: Any, classifier: bool, weighted: bool) -> None:
    if isinstance(other, type):
        raise TypeError(f"others: {other.__name__} is a class; pass an estimator, {other.__name__}().")
    if not (hasattr(other, "fit") and hasattr(other, "predict")):
        raise TypeError(f"others: {name!r} is a {type(other).__name__}, which has no fit and predict.")
    if is_classifier(other) != classifier:
        wanted = "classifiers" if classifier else "regressors"
        raise ValueError(f"others: {name!r} does not go with a frontier of {wanted}.")
    if weighted and not _keywords(other, WEIGHT):
        way_out = (
            "ask for them with set_fit_request(sample_weight=True)"
            if get_config()["enable_metadata_routing"]
            else "leave it out, or compare without sample_weight"
        )
        raise ValueError(
            f"others: {name!r} would be fitted without the weights of the rows, for {_class_name(other)}.fit is not "
            f"known to take sample_weight: {way_out}."
        )


# What is given ------------------------------------------------------------------------------------------------------


def _keywords(model: Any, given: str) -> list[str]:
    """Under which keywords ``fit`` hands something to the estimator and its parts; none if nothing takes it."""
    parameters = inspect.signature(model.fit).parameters
    if given in parameters:
        return [given]
    if get_config()["enable_metadata_routing"]:
        return [given] if get_routing_for_object(model).consumes("fit", [given]) else []
    if isinstance(model, Pipeline):
        parts = {name: _keywords(step, given) for name, step in model.steps if hasattr(step, "fit")}
        if given == WEIGHT and not parts[model.steps[-1][0]]:
            return []  # the weights of the preparation alone would not be those of what is predicted
        return [f"{name}__{key}" for name, keys in parts.items() for key in keys]
    passes_on = any(parameter.kind is inspect.Parameter.VAR_KEYWORD for parameter in parameters.values())
    inner = getattr(model, "estimator", None)
    return _keywords(inner, given) if passes_on and hasattr(inner, "fit") else []


def _predictions(model: Any, X: Any, groups: Any) -> tuple[np.ndarray, bool]:
    """Predictions, and whether they depend on the groups: a model that takes them need not look at them."""
    last = _last(model)
    if GROUPS not in inspect.signature(last.predict).parameters or not getattr(last, "aware", True):
        return model.predict(X), False
    predicted = model.predict(X, **{GROUPS: groups})
    try:
        blind = model.predict(X)
    except (TypeError, ValueError):
        return predicted, True  # cannot do without
    return predicted, not np.array_equal(predicted, blind)


def _class_name(other: Any) -> str:
    return type(_last(other)).__name__


def _last(model: Any) -> Any:
    """The estimator that predicts: of a pipeline, the last step."""
    return _last(model.steps[-1][1]) if isinstance(model, Pipeline) else model
