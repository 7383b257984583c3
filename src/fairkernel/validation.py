"""Checks of X, y and weights: scikit-learn's, with errors that name the column and the row."""

from collections.abc import Sequence
from typing import Any

import narwhals.stable.v2 as nw
import numpy as np
import scipy.sparse
from sklearn.base import BaseEstimator
from sklearn.utils.validation import _check_sample_weight, validate_data

from .exceptions import SensitiveColumnWarning, warn

FLOATS = [np.float64, np.float32]


def check_rows(estimator: BaseEstimator, X: Any, y: Any = "no_validation", *, reset: bool, **options: Any) -> Any:
    """``sklearn.utils.validation.validate_data`` with cells that can be found.

    Parameters
    ----------
    estimator : estimator
    X : array-like of shape (n, p)
    y : array-like, optional
    reset : bool
        Whether this is fit (remember the columns) or later (compare with them).
    **options : dict
        Passed to ``validate_data``.

    Returns
    -------
    X or (X, y)
    """
    refuse_sparse(X)
    _refuse_text_columns(X)
    try:
        # Cells that are not finite are looked up below; y keeps scikit-learn's own check.
        checked = validate_data(estimator, X, y, reset=reset, dtype=FLOATS, ensure_all_finite=False, **options)
    except (TypeError, ValueError) as error:
        if found := _first_cell_that_is_no_number(X):
            raise type(error)(f"{error}: {found}; encode text first, {_ENCODER}") from error
        if "could not convert" in str(error):
            raise ValueError(f"{error}: y holds text, but numbers are needed in y.") from error
        raise
    with_y = isinstance(checked, tuple)
    _refuse_non_finite(checked[0] if with_y else checked, column_names(X))
    return checked


def refuse_sparse(X: Any) -> None:
    """Kernels here are dense: say so before anything else does.

    Parameters
    ----------
    X : object
    """
    if scipy.sparse.issparse(X):
        raise TypeError("Sparse data was passed for X, but dense data is required: pass X.toarray().")


_ENCODER = "for instance with sklearn.preprocessing.OneHotEncoder in a ColumnTransformer."


def _refuse_text_columns(X: Any) -> None:
    frame = nw.from_native(X, pass_through=True)
    if not isinstance(frame, nw.DataFrame):
        return
    text = [str(series.name) for series in frame.iter_columns() if not _is_numeric(series)]
    if text:
        raise ValueError(
            f"X has columns that are not numbers: {', '.join(map(repr, text))}; encode them first, {_ENCODER}"
        )


def _is_numeric(series: Any) -> bool:
    if series.dtype == nw.Object:  # pandas' catch-all: scikit-learn converts it if it holds numbers only
        return not any(isinstance(cell, str) for cell in series.to_list())
    return series.dtype.is_numeric() or series.dtype == nw.Boolean


def _first_cell_that_is_no_number(X: Any) -> str:
    names = column_names(X)
    array = np.asarray(X, dtype=object)
    if array.ndim != 2:
        return ""
    for i, j in np.ndindex(*array.shape):
        try:
            float(array[i, j])
        except (TypeError, ValueError):
            return f"column {j if names is None else repr(names[j])} holds {array[i, j]!r} in row {i}"
    return ""


def column_names(X: Any) -> list[str] | None:
    """Names of a data frame's columns; None for arrays.

    Parameters
    ----------
    X : data frame or array

    Returns
    -------
    list of str or None
    """
    frame = nw.from_native(X, pass_through=True)
    # narwhals wants text for names; pandas also has numbers.
    columns = getattr(X, "columns", None) if frame is X else frame.columns
    return None if columns is None else [str(name) for name in columns]


def _refuse_non_finite(X: np.ndarray, names: Sequence | None) -> None:
    # The sum is finite unless a cell is not (or an overflow makes the exact look necessary).
    with np.errstate(all="ignore"):
        if np.isfinite(X.sum()):
            return
    bad = np.argwhere(~np.isfinite(X))
    if not len(bad):
        return
    row, column = bad[0]
    kind = "NaN" if np.isnan(X[row, column]) else "infinity"
    raise ValueError(
        f"Input X contains {kind}: column {repr(names[column]) if names is not None else column}, row {row} "
        f"({len(bad)} such cells in all). Impute or leave out these rows first."
    )


def check_weight(sample_weight: Any, X: np.ndarray) -> np.ndarray:
    """Weights as float64; zero means the row is absent, a negative weight is an error.

    Parameters
    ----------
    sample_weight : array-like of shape (n,), number or None
    X : ndarray of shape (n, p)

    Returns
    -------
    ndarray of shape (n,)
    """
    return _check_sample_weight(sample_weight, X, dtype=np.float64, ensure_non_negative=True)


def take_columns(X: Any, ids: Sequence, *, required: bool) -> tuple[Any, Any]:
    """Split X into its inputs and the sensitive columns named by ``sensitive_feature_ids``.

    Parameters
    ----------
    X : data frame or array of shape (n, p)
    ids : sequence of str or int
        Column names of a data frame or positions in an array.
    required : bool
        True at fit. Later the sensitive columns may be absent, for they are not needed.

    Returns
    -------
    inputs, sensitive
        ``sensitive`` is None when the columns are absent.
    """
    refuse_sparse(X)
    ids = np.atleast_1d(np.asarray(ids, dtype=object)).tolist()
    frame = nw.from_native(X, pass_through=True)
    if isinstance(frame, nw.DataFrame):
        columns = [series.name for series in frame.iter_columns()]
        missing = [name for name in ids if name not in columns]
        if missing and required:
            raise ValueError(
                f"sensitive_feature_ids={ids!r}: X has no column {missing!r}; its columns are {columns!r}."
            )
        sensitive = [columns.index(name) for name in ids if name in columns]
        inputs = [j for j, name in enumerate(columns) if name not in ids]
        return frame[:, inputs].to_native(), None if missing else frame[:, sensitive].to_native()
    array = np.asarray(X)
    if array.ndim != 2 or not all(
        isinstance(j, int | np.integer) and -array.shape[1] <= j < array.shape[1] for j in ids
    ):
        raise ValueError(
            f"sensitive_feature_ids={ids!r} must be column positions of an array of shape {array.shape} "
            "(names need a data frame)."
        )
    return np.delete(array, ids, axis=1), array[:, ids]


def with_cells_of(X: Any, rows: np.ndarray, columns: Sequence[int]) -> Any:
    """X with some columns read from other rows: with a permutation, these columns lose their ties to everything else.

    Parameters
    ----------
    X : data frame or array of shape (n, p)
        Comes back as the same kind of container.
    rows : ndarray of int, shape (n,)
        The row that each cell of these columns is read from.
    columns : sequence of int

    Returns
    -------
    data frame or array of shape (n, p)

    Examples
    --------
    >>> with_cells_of(np.array([[1, 10], [2, 20]]), np.array([1, 0]), [0])
    array([[ 2, 10],
           [ 1, 20]])
    """
    frame = nw.from_native(X, pass_through=True)
    if isinstance(frame, nw.DataFrame):
        return frame.with_columns(*(frame[:, j][rows] for j in columns)).to_native()
    changed = X.copy()
    changed[:, columns] = X[np.ix_(rows, np.asarray(columns, dtype=np.intp))]
    return changed


def warn_of_restating_columns(X: np.ndarray, codes: np.ndarray, numeric: np.ndarray, names: Sequence | None) -> None:
    """Say so when a column of X restates a sensitive attribute.

    Parameters
    ----------
    X : ndarray of shape (n, p)
    codes : ndarray of shape (n,)
        Group of each row.
    numeric : ndarray of shape (n, q)
    names : sequence of str or None
    """
    found = _constant_within_groups(X, codes)
    for s in numeric.T:
        with np.errstate(divide="ignore", invalid="ignore"):
            centred = X - X.mean(axis=0)
            cosine = (s - s.mean()) @ centred / np.sqrt(((s - s.mean()) ** 2).sum() * (centred**2).sum(axis=0))
        found |= np.abs(cosine) > 1 - 1e-9
    if found.any():
        listed = ", ".join(repr(names[j]) if names is not None else str(j) for j in np.flatnonzero(found).tolist())
        warn(
            f"X column {listed} restates the sensitive attribute: the score may depend on it directly, and new rows "
            "must carry it. Drop it for a predictor that does not see the attribute.",
            SensitiveColumnWarning,
        )


def _constant_within_groups(X: np.ndarray, codes: np.ndarray) -> np.ndarray:
    # A first look at few rows clears nearly every column; only the suspects are checked in full.
    n_groups = int(codes.max()) + 1
    if n_groups < 2:
        return np.zeros(X.shape[1], dtype=bool)
    suspect = X.max(axis=0) > X.min(axis=0)
    for rows in (slice(0, 1000), slice(None)):
        for g in range(n_groups):
            members = X[rows][codes[rows] == g][:, suspect]
            if len(members):
                spread = np.zeros(X.shape[1], dtype=bool)
                spread[suspect] = (members != members[0]).any(axis=0)
                suspect &= ~spread
    return suspect
