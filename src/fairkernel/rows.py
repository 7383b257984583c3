"""What ``fit`` was given, read and checked once for every estimator: the rows that count, with their groups."""

import warnings
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator, is_classifier
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import _num_samples, column_or_1d

from .exceptions import AbsentGroupWarning, ContinuousSensitiveWarning, MissingSensitiveWarning, warn
from .sensitive import NO_GROUP, Sensitive, check_group_sizes, check_same_index, is_missing, read_sensitive
from .validation import check_rows, check_weight, column_names, warn_of_restating_columns

LISTED = 5  # groups named in an error


@dataclass(frozen=True)
class TrainingRows:
    """Rows that count (positive weight).

    Parameters
    ----------
    X : ndarray of shape (n, p)
    y : ndarray of shape (n,), (n, targets) or, where fit has no y, (n, 0)
        For a classifier, the number of each row's class.
    sensitive : Sensitive
        Groups of two rows each at least.
    weight : ndarray of shape (n,)
    classes : ndarray
        Labels in sorted order; empty unless the estimator is a classifier.
    positions : ndarray of int, shape (n,)
        Where each row stands in what the user passed.
    n_passed : int
        How many rows that were.
    """

    X: np.ndarray
    y: np.ndarray
    sensitive: Sensitive
    weight: np.ndarray
    classes: np.ndarray
    positions: np.ndarray
    n_passed: int


def read_training_rows(
    estimator: BaseEstimator,
    X: Any,
    y: Any,
    sensitive_features: Any,
    sample_weight: Any = None,
    *,
    continuous: bool = False,
    inputs: bool = True,
    **options: Any,
) -> TrainingRows:
    """Read what ``fit`` was given.

    Parameters
    ----------
    estimator : estimator
        Its ``missing_sensitive``, if it has one, says what to do about missing categories.
    X : array-like of shape (n, p)
    y : array-like of shape (n,) or (n, targets), or None
    sensitive_features : array-like of shape (n,) or (n, columns)
    sample_weight : array-like of shape (n,), optional
        A row of weight zero is absent: it counts for no group, no class and no kernel.
    continuous : bool, default=False
        Whether numeric columns with many values are welcome, or groups only.
    inputs : bool, default=True
        Whether the columns of X are inputs; those of a Gram matrix are not.
    **options : dict
        Passed to ``sklearn.utils.validation.validate_data``, for instance ``y_numeric=True``.

    Returns
    -------
    TrainingRows
    """
    if sensitive_features is None:
        raise TypeError(
            f"{type(estimator).__name__}.fit() needs sensitive_features: one value per row, for instance "
            "fit(X, y, sensitive_features=s)."
        )
    rows_like, names = X, column_names(X)
    check_same_index(rows_like, y, "y")
    check_same_index(rows_like, sample_weight, "sample_weight")
    if getattr(rows_like, "index", None) is None:  # otherwise each is compared with X
        check_same_index(y, sensitive_features, "sensitive_features", "y")
    if is_classifier(estimator):
        _refuse_missing_labels(y)
    checked = check_rows(estimator, X, y, reset=True, ensure_min_samples=2, **options)
    X, y = checked if isinstance(checked, tuple) else (checked, np.empty((len(checked), 0)))
    if options.get("y_numeric") and y.dtype.kind not in "biuf":
        raise ValueError(f"y holds values of type {y.dtype}, but {type(estimator).__name__} needs numbers in y.")
    read = _read_any if continuous else read_groups
    sensitive = read(estimator, sensitive_features, n_rows=len(X), rows_like=rows_like)
    estimator._attributes = sensitive.take(np.arange(0))
    weight = check_weight(sample_weight, X)
    present, n_passed = np.flatnonzero(weight), len(X)
    classes = np.empty(0)
    if is_classifier(estimator):
        check_classification_targets(y)
        classes, y = _class_codes(y, present)
    check_group_sizes(sensitive, weight > 0)
    if len(present) < len(X):
        X, y, sensitive, weight = X[present], y[present], sensitive.take(present), weight[present]
    if inputs:
        known = sensitive.known
        warn_of_restating_columns(X[known], sensitive.codes[known], sensitive.numeric[known], names)
    return TrainingRows(X, y, sensitive, weight, classes, present, n_passed)


def _read_any(estimator: BaseEstimator, sensitive_features: Any, *, n_rows: int, rows_like: Any) -> Sensitive:
    return read_sensitive(
        sensitive_features,
        n_rows=n_rows,
        missing=getattr(estimator, "missing_sensitive", "error"),
        rows_like=rows_like,
    )


def read_groups(estimator: BaseEstimator, sensitive_features: Any, *, n_rows: int, rows_like: Any) -> Sensitive:
    """Read sensitive attributes of which none is continuous.

    Parameters
    ----------
    estimator : estimator
    sensitive_features : array-like of shape (n,) or (n, columns)
    n_rows, rows_like
        As in ``read_sensitive``.

    Returns
    -------
    Sensitive
    """
    with warnings.catch_warnings():
        # Continuous columns are refused below: a warning that they are accepted would mislead.
        warnings.simplefilter("ignore", ContinuousSensitiveWarning)
        sensitive = _read_any(estimator, sensitive_features, n_rows=n_rows, rows_like=rows_like)
    if sensitive.numeric_names:
        raise ValueError(
            f"sensitive_features: column {sensitive.numeric_names[0]!r} is numeric with many distinct values, and "
            f"{type(estimator).__name__} compares groups. Bin the column, or pass strings."
        )
    return sensitive


def read_new_groups(estimator: BaseEstimator, sensitive_features: Any, *, n_rows: int, rows_like: Any) -> Sensitive:
    """Read the sensitive attributes of new rows as ``fit`` read those of its own: same groups, same kinds of column.

    Parameters
    ----------
    estimator : estimator
        Fitted. What its ``missing_sensitive`` allowed at fit is allowed here.
    sensitive_features : array-like of shape (n,) or (n, columns)
    n_rows, rows_like
        As in ``read_sensitive``.

    Returns
    -------
    Sensitive
        Its groups are ``estimator.groups_``.
    """
    new = read_sensitive(
        sensitive_features,
        n_rows=n_rows,
        missing=getattr(estimator, "missing_sensitive", "error"),
        rows_like=rows_like,
        min_groups=1,
        fitted=estimator._attributes,
    )
    number = {label: position for position, label in enumerate(estimator.groups_)}
    unseen = [label for label in new.groups if label not in number]
    if unseen:
        listed = ", ".join(map(repr, unseen[:LISTED])) + (", …" if len(unseen) > LISTED else "")
        raise ValueError(
            f"sensitive_features has groups that fit did not see: {listed}; it saw "
            f"{', '.join(map(repr, estimator.groups_))}. Labels match in type too (0 is not '0'). Leave these rows "
            "out, or fit on rows of these groups."
        )
    codes = np.append([number[label] for label in new.groups], NO_GROUP)[new.codes]  # −1 is the last of them
    return replace(new, codes=codes, groups=estimator.groups_)


def numbers_of_fitted_groups(
    estimator: BaseEstimator, sensitive_features: Any, *, n_rows: int, rows_like: Any
) -> np.ndarray:
    """Number of each new row's group among ``estimator.groups_``, for predictions that depend on it.

    Parameters
    ----------
    estimator : estimator
        Fitted.
    sensitive_features : array-like of shape (n,) or (n, columns)
    n_rows, rows_like
        As in ``read_sensitive``.

    Returns
    -------
    ndarray of int, shape (n,)
    """
    with warnings.catch_warnings():
        # What fit may ignore is refused here.
        warnings.simplefilter("ignore", MissingSensitiveWarning)
        new = read_new_groups(estimator, sensitive_features, n_rows=n_rows, rows_like=rows_like)
    if gaps := int((~new.known).sum()):
        raise ValueError(
            f"sensitive_features is missing in {gaps} rows (the first is row {int(np.argmin(new.known))}): an aware "
            "prediction needs the group of every row."
        )
    return new.codes


@dataclass(frozen=True)
class NewRows:
    """Rows that a fitted estimator is measured on or adapted to: those of positive weight whose group is known.

    Parameters
    ----------
    sensitive : Sensitive
        Every group that fit saw, and no other.
    weight : ndarray of shape (n,)
    outcome : ndarray of int, shape (n,), or None
        Number of each row's class.
    positions : ndarray of int, shape (n,)
        Where each row stands in what the user passed.
    """

    sensitive: Sensitive
    weight: np.ndarray
    outcome: np.ndarray | None
    positions: np.ndarray


def read_new_rows(
    estimator: BaseEstimator,
    X: Any,
    y: Any,
    sensitive_features: Any,
    sample_weight: Any = None,
    *,
    every_group: bool = True,
) -> NewRows:
    """Read what a method that compares groups among new rows was given, as ``fit`` reads its own.

    Parameters
    ----------
    estimator : estimator
        Fitted.
    X : array-like of shape (n, p)
        Not checked: predicting does that.
    y : array-like of shape (n,), optional
        Labels that fit saw.
    sensitive_features : array-like of shape (n,) or (n, columns)
    sample_weight : array-like of shape (n,), optional
    every_group : bool, default=True
        Whether every group must have a row; otherwise two must, and the others are warned about.

    Returns
    -------
    NewRows
    """
    if sensitive_features is None:
        raise TypeError("sensitive_features is missing: pass one value per row, as fit saw them.")
    n = _num_samples(X)
    for given, name in ((y, "y"), (sample_weight, "sample_weight")):
        check_same_index(X, given, name)
    if getattr(X, "index", None) is None:
        check_same_index(y, sensitive_features, "sensitive_features", "y")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", MissingSensitiveWarning)  # what fit says of these rows is not so here
        sensitive = read_new_groups(estimator, sensitive_features, n_rows=n, rows_like=X)
    weight = check_weight(sample_weight, np.empty((n, 0)))
    if gone := int((~sensitive.known).sum()):
        warn(
            f"sensitive_features is missing in {gone} of {n} rows: the comparison leaves them out.",
            MissingSensitiveWarning,
        )
    kept = np.flatnonzero((weight > 0) & sensitive.known)
    sensitive = sensitive.take(kept)
    _refuse_incomparable(sensitive, every_group)
    return NewRows(sensitive, weight[kept], None if y is None else _outcome(estimator, y, n, kept), kept)


def _refuse_incomparable(sensitive: Sensitive, every_group: bool) -> None:
    """Groups without rows have no rate, and a constant has no covariance: neither is a gap of zero."""
    absent = [label for label, count in zip(sensitive.groups, sensitive.counts, strict=True) if count == 0]
    named = ", ".join(map(repr, absent[:LISTED])) + (", …" if len(absent) > LISTED else "")
    if absent and (every_group or len(sensitive.groups) - len(absent) < 2):
        raise ValueError(
            f"sensitive_features has no row (of positive weight) of {named}, which fit saw, so there is nothing to "
            f"compare. Pass rows of {'every group' if every_group else 'two groups at least'}."
        )
    if absent:
        warn(
            f"sensitive_features has no row (of positive weight) of {named}, which fit saw: the measured gap is one of "
            "the other groups.",
            AbsentGroupWarning,
        )
    for name, values in zip(sensitive.numeric_names, sensitive.numeric.T, strict=True):
        if np.ptp(values) == 0:
            raise ValueError(
                f"sensitive_features: column {name!r} is {values[0]:g} in every row, so nothing can depend on it. Pass "
                "rows in which it varies."
            )


def _outcome(estimator: BaseEstimator, y: Any, n: int, kept: np.ndarray) -> np.ndarray:
    labels = column_or_1d(y)
    if len(labels) != n:
        raise ValueError(f"y has {len(labels)} rows but X has {n}: pass one label per row of X.")
    classes, labels = estimator.classes_, labels[kept]
    if unseen := sorted(set(labels.tolist()) - set(classes.tolist()), key=repr):
        raise ValueError(
            f"y has labels that fit did not see: {', '.join(map(repr, unseen[:LISTED]))}; it saw "
            f"{', '.join(map(repr, classes.tolist()))}."
        )
    return np.searchsorted(classes, labels)


def _refuse_missing_labels(y: Any) -> None:
    labels = np.asarray(y)
    if labels.dtype != object or labels.ndim != 1:
        return  # scikit-learn looks for NaN among numbers
    # Text such as "nan" is a label here: classes may be called anything.
    if gaps := [i for i, label in enumerate(labels) if not isinstance(label, str) and is_missing(label)]:
        raise ValueError(
            f"Input y contains NaN: {len(gaps)} missing labels, the first in row {gaps[0]}. Leave them out."
        )


def _class_codes(y: np.ndarray, present: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Classes among the rows present, and the class number of every row (any number where absent)."""
    classes = np.unique(y[present])
    if len(classes) < 2:
        raise ValueError(f"y has one class only ({classes.tolist()[0]!r}): a classifier needs at least two classes.")
    return classes, np.searchsorted(classes, y)
