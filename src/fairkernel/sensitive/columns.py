"""What a container of sensitive attributes holds: its columns, each as distinct values and which row has which."""

import datetime
import numbers
from dataclasses import dataclass
from typing import Any

import narwhals.stable.v2 as nw
import numpy as np

MISSING_TEXT = {"", "nan", "NaN", "NaT", "None", "<NA>", "null"}  # what np.asarray and str() make of an empty cell


@dataclass(frozen=True, eq=False)
class Column:
    """A column as its distinct values and, for each row, which of them it holds."""

    name: str
    levels: list
    codes: np.ndarray
    labels: bool = False  # declared categorical by its container: never read as numbers

    @property
    def is_numeric(self) -> bool:
        return not self.labels and all(map(is_number, self.levels))

    def numbers(self) -> np.ndarray:
        return np.array(self.levels, dtype=float)[self.codes]


def read_columns(sensitive_features: Any) -> list[Column]:
    """The columns of a list, an array or a data frame.

    Parameters
    ----------
    sensitive_features : array-like of shape (n,) or (n, columns)

    Returns
    -------
    list of Column
    """
    if isinstance(sensitive_features, np.ma.MaskedArray):
        # A masked cell is a missing cell, whatever lies beneath the mask.
        sensitive_features = sensitive_features.tolist()
    native = nw.from_native(sensitive_features, pass_through=True, allow_series=True)
    if isinstance(native, nw.LazyFrame):
        native = native.collect()
    if isinstance(native, nw.Series):
        columns = [_series_column(native.name or "sensitive_feature", native)]
    elif isinstance(native, nw.DataFrame):
        columns = [_series_column(str(series.name), series) for series in native.iter_columns()]
    else:
        columns = _array_columns(sensitive_features)
    if not columns or not len(columns[0].codes):
        raise ValueError("sensitive_features is empty: pass one value per row.")
    return columns


def _series_column(name: str, series: Any) -> Column:
    labels = isinstance(series.dtype, nw.Categorical | nw.Enum)
    if series.dtype.is_numeric() and not series.is_null().any():
        return _column(name, series.to_numpy())
    missing = series.is_null().to_list()
    cells = [None if gone else cell for cell, gone in zip(series.to_list(), missing, strict=True)]
    return _column(name, np.array(cells, dtype=object), labels)


def _array_columns(values: Any) -> list[Column]:
    if hasattr(values, "to_pylist"):  # pyarrow
        labels = str(values.type).startswith("dictionary")
        return [_column("sensitive_feature", np.array(values.to_pylist(), dtype=object), labels)]
    if hasattr(values, "categories") and hasattr(values, "codes"):  # a bare pandas.Categorical
        return [_column("sensitive_feature", np.array(values, dtype=object), labels=True)]
    # A list is read cell by cell: np.asarray(["a", nan]) would turn the gap into the text 'nan'.
    array = np.array(values, dtype=object) if isinstance(values, list | tuple) else np.asarray(values)
    if array.ndim == 1:
        return [_column("sensitive_feature", array)]
    if array.ndim == 2:
        return [_column(name, array[:, j]) for j, name in enumerate(numbered(array.shape[1]))]
    raise ValueError(f"sensitive_features has {array.ndim} dimensions: pass shape (n,) or (n, columns).")


def numbered(count: int) -> list[str]:
    """What the columns of an array are called.

    Parameters
    ----------
    count : int

    Returns
    -------
    list of str
    """
    return [f"sensitive_feature_{j}" for j in range(count)]


def _column(name: str, cells: np.ndarray, labels: bool = False) -> Column:
    if cells.dtype.kind in "mM":
        raise ValueError(
            f"sensitive_features: column {name!r} holds dates; turn it into an age (a number) or into named groups."
        )
    if cells.dtype.kind in "biufUS":
        levels, codes = np.unique(cells, return_inverse=True)
        return Column(name, levels.tolist(), codes.reshape(-1).astype(np.int64), labels)
    number: dict = {}
    try:
        codes = np.fromiter((number.setdefault(cell, len(number)) for cell in cells), np.int64, count=len(cells))
    except TypeError:
        raise ValueError(
            f"sensitive_features: column {name!r} holds values that are neither text nor numbers."
        ) from None
    # NumPy scalars become what the user wrote, for labels that read well in messages; not dates, which would become
    # integers and pass for numbers.
    written = [level.item() if isinstance(level, np.generic) and not is_date(level) else level for level in number]
    return Column(name, written, codes, labels)


def is_number(level: Any) -> bool:
    """Whether a value is a number, which True and False are not.

    Parameters
    ----------
    level : object

    Returns
    -------
    bool
    """
    return isinstance(level, numbers.Real) and not isinstance(level, bool | np.bool_)


def is_date(level: Any) -> bool:
    """Whether a value is a date or a span of time.

    Parameters
    ----------
    level : object

    Returns
    -------
    bool
    """
    return isinstance(level, datetime.date | datetime.timedelta | np.datetime64 | np.timedelta64)


def is_missing(level: Any) -> bool:
    """Whether a value stands for an empty cell.

    Parameters
    ----------
    level : object

    Returns
    -------
    bool
    """
    if level is None or isinstance(level, str):
        return level is None or level.strip() in MISSING_TEXT
    # NaN, NaT and decimal NaN differ from themselves; pandas.NA has no truth value.
    try:
        return bool(level != level)
    except TypeError:
        return True
