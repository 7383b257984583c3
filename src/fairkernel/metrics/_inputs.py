"""What the metrics accept: refuse first, then hand plain arrays to the formulas."""

import numbers
import warnings
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..backend.namespace import to_numpy
from ..exceptions import ContinuousSensitiveWarning
from ..sensitive import Sensitive, check_same_index, read_sensitive

ROWS_LISTED = 5
# Labels whose positive one is beyond doubt, even where the rows at hand show only the other.
CONVENTIONAL = ({0, 1}, {-1, 1})


@dataclass(frozen=True)
class ClassRows:
    """Rows of positive weight of a two-class problem; `truth` and `predicted` say "is the positive label"."""

    truth: np.ndarray | None
    predicted: np.ndarray
    weight: np.ndarray
    labels: tuple  # (negative label or None where no row shows it, positive label)
    codes: np.ndarray
    groups: tuple


@dataclass(frozen=True)
class ScoreRows:
    """Rows of positive weight with a numeric prediction."""

    values: np.ndarray
    weight: np.ndarray
    sensitive: Sensitive


def read_class_rows(
    y_true: Any, y_pred: Any, sensitive_features: Any, sample_weight: Any, pos_label: Any, min_groups: int = 2
) -> ClassRows:
    """Read two-class labels and groups; without `sensitive_features` all rows form one group."""
    predicted, truth = read_labels(y_pred, "y_pred"), None
    if y_true is not None:
        truth = read_labels(y_true, "y_true")
        check_rows_match(y_true, truth, "y_true", y_pred, predicted)
    weight = read_weight(sample_weight, len(predicted), y_pred)
    codes, groups = np.zeros(len(predicted), dtype=np.int64), ("all rows",)
    if sensitive_features is not None:
        sensitive = read_groups(sensitive_features, y_true, y_pred, len(predicted), min_groups)
        codes, groups = sensitive.codes, sensitive.groups
    kept = weight > 0
    seen = [predicted[kept]] if truth is None else [predicted[kept], truth[kept]]
    labels = settle_labels(seen, pos_label)
    return ClassRows(
        None if truth is None else truth[kept] == labels[1],
        predicted[kept] == labels[1],
        weight[kept],
        labels,
        codes[kept],
        groups,
    )


def read_errors(y_true: Any, y_pred: Any, sample_weight: Any) -> tuple[np.ndarray, np.ndarray]:
    """Which rows of positive weight are predicted wrongly, and their weights."""
    truth, predicted = read_labels(y_true, "y_true"), read_labels(y_pred, "y_pred")
    check_rows_match(y_true, truth, "y_true", y_pred, predicted)
    _refuse_two_kinds([truth, predicted])
    weight = read_weight(sample_weight, len(predicted), y_pred)
    return (truth != predicted)[weight > 0], weight[weight > 0]


def group_scores(y_true: Any, y_pred: Any, sensitive_features: Any, sample_weight: Any) -> ScoreRows:
    """Read numeric predictions of groups, every one of which must have rows."""
    hint = "For class labels use statistical_disparity, opportunity_difference or odds_difference."
    rows = _score_rows(y_true, y_pred, sensitive_features, sample_weight, hint)
    refuse_continuous(rows.sensitive)
    for group, count in zip(rows.sensitive.groups, rows.sensitive.counts, strict=True):
        if not count:
            raise ValueError(f"group {group!r} has no rows with positive weight: no mean can be told for it.")
    return rows


def continuous_scores(y_true: Any, y_pred: Any, sensitive_features: Any, sample_weight: Any) -> ScoreRows:
    """Read numeric predictions and continuous attributes, every one of which must vary."""
    hint = "Of two class labels pass which rows have the positive one, as y_pred == label."
    rows = _score_rows(y_true, y_pred, sensitive_features, sample_weight, hint)
    if rows.sensitive.names:
        raise ValueError(
            f"sensitive_features: {', '.join(map(repr, rows.sensitive.names))} holds groups, "
            "not a continuous attribute. Use mean_disparity or distribution_disparity, "
            "and pass continuous columns alone."
        )
    for name, values in zip(rows.sensitive.numeric_names, rows.sensitive.numeric.T, strict=True):
        if np.ptp(values) == 0:
            raise ValueError(f"sensitive_features: {name!r} is constant in the rows with positive weight.")
    return rows


def _score_rows(y_true: Any, y_pred: Any, sensitive_features: Any, sample_weight: Any, hint: str) -> ScoreRows:
    values = read_numbers(y_pred, "y_pred", hint)
    check_rows_match(y_true, y_true, "y_true", y_pred, values)
    weight = read_weight(sample_weight, len(values), y_pred)
    sensitive = _read_sensitive(sensitive_features, y_true, y_pred, len(values), 2)
    kept = np.flatnonzero(weight > 0)
    return ScoreRows(values[kept], weight[kept], sensitive.take(kept))


def read_groups(sensitive_features: Any, y_true: Any, y_pred: Any, n_rows: int, min_groups: int = 2) -> Sensitive:
    """Read sensitive attributes that must be groups."""
    sensitive = _read_sensitive(sensitive_features, y_true, y_pred, n_rows, min_groups)
    refuse_continuous(sensitive)
    return sensitive


def refuse_continuous(sensitive: Sensitive) -> None:
    """Groups are compared by rates and means; a continuous attribute has neither."""
    if sensitive.numeric_names:
        raise ValueError(
            f"sensitive_features: {', '.join(map(repr, sensitive.numeric_names))} is continuous and forms "
            "no groups. Bin it into groups, or measure the dependence on it with correlation_disparity or "
            "covariance_disparity."
        )


def require_sensitive(sensitive_features: Any) -> None:
    """Refuse a metric of groups without groups."""
    if sensitive_features is None:
        raise TypeError(
            "sensitive_features is missing: pass one value per row, as metric(y_true, y_pred, sensitive_features=s)."
        )


def _read_sensitive(sensitive_features, y_true, y_pred, n_rows, min_groups):
    require_sensitive(sensitive_features)
    rows_like = y_pred if hasattr(y_pred, "iloc") else y_true
    with warnings.catch_warnings():
        # Each metric says itself what a continuous attribute means for it.
        warnings.simplefilter("ignore", ContinuousSensitiveWarning)
        sensitive = read_sensitive(
            sensitive_features,
            rows_like=rows_like,
            min_groups=min_groups,
            way_out="Leave these rows out, or give them a label of their own, such as 'missing'.",
        )
    if sensitive.n_rows != n_rows:
        raise ValueError(
            f"sensitive_features has {sensitive.n_rows} rows but y_pred has {n_rows}: pass one value per row."
        )
    return sensitive


def check_rows_match(y_true: Any, truth: Any, name: str, y_pred: Any, predicted: np.ndarray) -> None:
    """Refuse a companion of `y_pred` of another length or with another pandas index."""
    if y_true is None:
        return
    if len(truth) != len(predicted):
        raise ValueError(f"{name} has {len(truth)} rows but y_pred has {len(predicted)}: pass one value per row.")
    check_same_index(y_pred, y_true, name, "y_pred")


def read_column(values: Any, name: str) -> np.ndarray:
    """One column of text, numbers or booleans without gaps."""
    gaps = np.ma.getmaskarray(values).reshape(-1) if isinstance(values, np.ma.MaskedArray) else None
    # A list is read cell by cell: np.asarray(["a", None, 1]) would turn the gap and the number into text.
    array = np.array(values, dtype=object) if isinstance(values, list | tuple) else _as_array(values)
    if array.ndim != 1 or not array.size:
        raise ValueError(
            f"{name} must be one non-empty column of shape (n_rows,); got shape {array.shape}. "
            "Pass predict(X), not predict_proba(X), and one output at a time."
        )
    if gaps is None:
        gaps = _gaps(array)
    if gaps.any():
        rows = ", ".join(map(str, np.flatnonzero(gaps)[:ROWS_LISTED]))
        raise ValueError(
            f"{name} has {int(gaps.sum())} missing or infinite values (first rows {rows}): leave these rows out."
        )
    return _one_kind(array, name) if array.dtype.kind == "O" else array


def _as_array(values: Any) -> np.ndarray:
    # Data frame columns are not arrays to the backend; torch and CuPy know the way to the host.
    return to_numpy(values) if hasattr(values, "__dlpack__") else np.asarray(values)


def _gaps(array: np.ndarray) -> np.ndarray:
    if array.dtype.kind == "f":
        return ~np.isfinite(array)
    if array.dtype.kind == "O":
        return np.array([_is_gap(cell) for cell in array])
    return np.zeros(len(array), dtype=bool)


def _is_gap(cell: Any) -> bool:
    # pandas.NA has no truth value, so it is known by its name; NaN and NaT differ from themselves.
    if cell is None or type(cell).__name__ == "NAType":
        return True
    return bool(cell != cell or (isinstance(cell, numbers.Real) and abs(cell) == np.inf))


def _one_kind(array: np.ndarray, name: str) -> np.ndarray:
    cells = array.tolist()
    for kind in (str, bool | np.bool_, numbers.Real):
        if all(isinstance(cell, kind) for cell in cells):
            return np.array(cells)
    kinds = ", ".join(sorted({type(cell).__name__ for cell in cells}))
    raise ValueError(f"{name} mixes values of type {kinds}: pass one kind of label, or numbers only.")


def read_labels(values: Any, name: str) -> np.ndarray:
    """One column of class labels; scores are refused, because a rate of scores would read as 0.0."""
    array = read_column(values, name)
    if array.dtype.kind == "f" and (array != np.round(array)).any():
        raise ValueError(
            f"{name} holds scores (such as {array[array != np.round(array)][0]:.6g}), not class labels. "
            "Threshold them first, or use mean_disparity or distribution_disparity."
        )
    return array


def read_numbers(values: Any, name: str, hint: str = "Pass one number per row.") -> np.ndarray:
    """One column of finite numbers."""
    array = read_column(values, name)
    if array.dtype.kind not in "biuf":
        raise ValueError(f"{name} must be numbers; got values such as {str(array[0])!r}. {hint}")
    return array.astype(np.float64)


def read_weight(sample_weight: Any, n_rows: int, y_pred: Any) -> np.ndarray:
    """Non-negative weights, one per row, not all zero."""
    if sample_weight is None:
        return np.ones(n_rows)
    check_same_index(y_pred, sample_weight, "sample_weight", "y_pred")
    weight = read_numbers(sample_weight, "sample_weight")
    if len(weight) != n_rows:
        raise ValueError(f"sample_weight has {len(weight)} rows but y_pred has {n_rows}: pass one weight per row.")
    if (weight < 0).any():
        rows = np.flatnonzero(weight < 0)
        raise ValueError(f"sample_weight has {len(rows)} negative values (first row {rows[0]}): weights must be >= 0.")
    if not weight.any():
        raise ValueError("sample_weight is zero in every row: at least one row must count.")
    return weight


def effective_size(weight: np.ndarray) -> float:
    """(Σw)²/Σw²: the number of unweighted rows whose mean has the same variance."""
    return float(weight.sum() ** 2 / (weight @ weight))


def settle_labels(columns: list[np.ndarray], pos_label: Any = None) -> tuple:
    """Return (negative or None, positive) label of a two-class problem.

    Where the rows show a single label the larger of two cannot be told: 1 is then positive beside 0 or −1, and
    whatever else must be told.
    """
    _refuse_two_kinds(columns)
    seen = set().union(*(np.unique(column).tolist() for column in columns))
    known = seen if pos_label is None else seen | {pos_label}
    if len(known) > 2:
        shown = ", ".join(repr(label) for label in sorted(known, key=lambda label: (str(type(label)), label))[:6])
        raise ValueError(
            f"two class labels are needed; got {len(known)} ({shown}{', ...' if len(known) > 6 else ''}). "
            "Compare one class with the rest, as y_pred == label, or use mean_disparity for numbers."
        )
    if pos_label is None:
        pos_label = _positive_label(seen)
    return next(iter(known - {pos_label}), None), pos_label


def _refuse_two_kinds(columns: list[np.ndarray]) -> None:
    if len({column.dtype.kind in "US" for column in columns}) > 1:
        raise ValueError("y_true and y_pred use different kinds of labels, text and numbers: encode both alike.")


def _positive_label(seen: set) -> Any:
    if len(seen) == 2:
        return max(seen)
    if any(seen <= pair for pair in CONVENTIONAL):
        return 1
    raise ValueError(
        f"every row has the label {next(iter(seen))!r}: which label counts as positive cannot be told. Pass pos_label."
    )
