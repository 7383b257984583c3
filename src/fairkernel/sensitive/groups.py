"""The only reader of ``sensitive_features``: any container in, group numbers and numeric columns out.

Nothing is dropped, filled or renamed in silence: what cannot be read exactly is an error that lists the rows.
"""

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from ..exceptions import ContinuousSensitiveWarning, MissingSensitiveWarning, SmallGroupWarning, warn
from .columns import Column, is_date, is_missing, is_number, numbered, read_columns

MANY_LEVELS = 10  # a numeric column with more distinct values is continuous, not a set of groups
MISSING_GROUP = "missing"  # the label of the group that missing="group" opens
NO_GROUP = -1  # the code of a row that missing="ignore" leaves out of the constraint
FEWEST_ROWS = 3  # a group with fewer is warned about, however few components are used
ROWS_LISTED = 5
OF_ESTIMATORS = (
    "Leave these rows out, or keep them as a group of their own with missing_sensitive='group', or for the loss alone "
    "with missing_sensitive='ignore'."
)


@dataclass(frozen=True)
class Sensitive:
    """Sensitive attributes as arrays.

    Parameters
    ----------
    codes : ndarray of shape (n,)
        Group number of each row; −1 for a row whose value is missing, where these are ignored.
    groups : tuple
        Label of each group in sorted order: a value, or a tuple of values when there are several
        categorical columns (intersections are kept apart).
    numeric : ndarray of shape (n, q)
        Continuous columns as given, not centred; zero in a row without a group, which adds to no sum.
    names, numeric_names : tuple of str
        Names of the categorical and of the continuous columns.
    order : tuple of str
        Names of all columns as they came.
    """

    codes: np.ndarray
    groups: tuple
    numeric: np.ndarray
    names: tuple[str, ...]
    numeric_names: tuple[str, ...]
    order: tuple[str, ...] = ()

    @property
    def n_rows(self) -> int:
        return len(self.codes)

    @property
    def known(self) -> np.ndarray:
        """Which rows have a group."""
        return self.codes != NO_GROUP

    @property
    def represented(self) -> np.ndarray:
        """Group of each row as features see it: rows without one are represented as well as any group is."""
        return np.where(self.known, self.codes, len(self.groups))

    @property
    def counts(self) -> np.ndarray:
        """Rows per group."""
        return np.bincount(self.codes[self.known], minlength=len(self.groups))

    @property
    def occurring(self) -> "Sensitive":
        """The same attributes, with the groups that have a row numbered anew."""
        used = np.flatnonzero(self.counts)
        number = np.full(len(self.groups) + 1, NO_GROUP)  # the last is that of rows without a group
        number[used] = np.arange(len(used))
        return replace(self, codes=number[self.codes], groups=tuple(self.groups[g] for g in used))

    def take(self, rows: np.ndarray) -> "Sensitive":
        """The same attributes for some of the rows; the groups keep their numbers."""
        return replace(self, codes=self.codes[rows], numeric=self.numeric[rows])


def read_sensitive(
    sensitive_features: Any,
    *,
    n_rows: int | None = None,
    missing: str = "error",
    rows_like: Any = None,
    min_groups: int = 2,
    fitted: Sensitive | None = None,
    way_out: str = OF_ESTIMATORS,
) -> Sensitive:
    """Read sensitive attributes from a list, an array or a data frame.

    Parameters
    ----------
    sensitive_features : array-like of shape (n,) or (n, columns)
        Categories, numbers, or a mix; NumPy, pandas, polars, pyarrow or plain lists. Numeric columns with
        more than 10 distinct values are continuous; everything else is categorical.
    n_rows : int, optional
        The number of rows expected.
    missing : {"error", "group", "ignore"}
        Whether missing values raise, form a group of their own labelled ``"missing"`` (categories only), or leave
        their row without a group. A row with a gap in any column is without a group.
    rows_like : object, optional
        The X these attributes belong to; if both carry a pandas index, the indices must be equal.
    min_groups : int
        Fewest groups accepted when there is no continuous column.
    fitted : Sensitive, optional
        What was read of other rows: the columns are matched with it by name, and keep the kinds they had there, which a
        few new rows would decide otherwise.
    way_out : str
        What the error about missing values advises: not every caller has the parameter ``missing_sensitive``.

    Returns
    -------
    Sensitive

    Examples
    --------
    >>> s = read_sensitive(["b", "a", "b", "a"])
    >>> s.groups, s.codes.tolist(), s.counts.tolist()
    (('a', 'b'), [1, 0, 1, 0], [2, 2])
    """
    if sensitive_features is None:
        raise TypeError(
            "sensitive_features is missing: pass one value per row, as fit(X, y, sensitive_features=s), "
            "or name columns of X with sensitive_feature_ids."
        )
    check_same_index(rows_like, sensitive_features, "sensitive_features")
    columns = read_columns(sensitive_features)
    length = len(columns[0].codes)
    if n_rows is not None and length != n_rows:
        raise ValueError(f"sensitive_features has {length} rows but X has {n_rows}: pass one value per row of X.")
    order = tuple(column.name for column in columns)
    if fitted is not None:
        columns = _matched(columns, fitted)
    known = np.ones(length, dtype=bool)
    if missing == "ignore":
        columns, known = _known_rows(columns)
    columns = _settle_missing(columns, missing, way_out)
    if fitted is None:
        numbers = [column for column in columns if _is_continuous(column)]
        categorical = [column for column in columns if column not in numbers]
        _refuse_identifiers(categorical)
    else:
        categorical, numbers = columns[: len(fitted.names)], columns[len(fitted.names) :]
        _refuse_other_than_numbers(numbers)
    codes, groups = _intersections(categorical, int(known.sum()))
    if not numbers and len(groups) < min_groups:
        raise ValueError(
            f"sensitive_features has one group only ({groups[0]!r}): a disparity needs at least two groups."
        )
    every_code, numeric = np.full(length, NO_GROUP), np.zeros((length, len(numbers)))
    every_code[known] = codes
    for j, column in enumerate(numbers):
        numeric[known, j] = column.numbers()
    return Sensitive(
        every_code,
        groups,
        numeric,
        tuple(column.name for column in categorical),
        tuple(column.name for column in numbers),
        order,
    )


def check_group_sizes(sensitive: Sensitive, present: np.ndarray) -> None:
    """Refuse groups of one row or none.

    Parameters
    ----------
    sensitive : Sensitive
    present : ndarray of bool, shape (n,)
        Rows with positive weight.
    """
    counts = np.bincount(sensitive.codes[present & sensitive.known], minlength=len(sensitive.groups))
    for label, count in zip(sensitive.groups, counts, strict=True):
        if count == 0:
            raise ValueError(
                f"sensitive_features: every row of group {label!r} has zero weight; leave it out of the data."
            )
        if count == 1:
            raise ValueError(
                f"sensitive_features: group {label!r} has 1 row; at least 2 are needed to speak of a group. "
                "Merge it with another group or leave the row out."
            )


def warn_of_small_groups(sensitive: Sensitive, n_components: int | None) -> None:
    """Say so when a group is too small for its mean to mean much.

    Parameters
    ----------
    sensitive : Sensitive
        Of the rows that count.
    n_components : int or None
        Components used; None for all of them.
    """
    for label, count in zip(sensitive.groups, sensitive.counts.tolist(), strict=True):
        if count < max(n_components or 0, FEWEST_ROWS):
            than = f", fewer than the {n_components} components used" if n_components and count < n_components else ""
            warn(
                f"group {label!r} has {count} rows{than}: its mean is mostly noise and parity will not carry over to "
                "new rows.",
                SmallGroupWarning,
            )


def check_same_index(left: Any, right: Any, name: str, left_name: str = "X") -> None:
    """Refuse two pandas objects whose rows are labelled differently.

    Parameters
    ----------
    left, right : object
        Compared only when both carry a pandas index.
    name, left_name : str
        The parameters to name in the error.
    """
    a, b = getattr(left, "index", None), getattr(right, "index", None)
    if a is None or b is None or not (hasattr(a, "equals") and hasattr(b, "equals")):
        return
    if len(a) == len(b) and not a.equals(b):
        raise ValueError(
            f"the index of {name} differs from the index of {left_name}: rows would be matched by position. "
            f"Align them first ({name}.loc[{left_name}.index]) or pass {name}.to_numpy() if the order is right."
        )


def _gaps(columns: list[Column]) -> list[np.ndarray]:
    """Which levels of each column stand for an empty cell."""
    return [np.array([is_missing(level) for level in column.levels], dtype=bool) for column in columns]


def _known_rows(columns: list[Column]) -> tuple[list[Column], np.ndarray]:
    """The columns over the rows without a gap, and which rows these are."""
    gone = _gaps(columns)
    known = ~np.any([gaps[column.codes] for column, gaps in zip(columns, gone, strict=True)], axis=0)
    if known.all():
        return columns, known
    count = int((~known).sum())
    if not known.any():
        raise ValueError(
            f"sensitive_features is missing in all {count} rows: missing_sensitive='ignore' needs rows whose group is "
            "known."
        )
    warn(
        f"sensitive_features is missing in {count} of {len(known)} rows: they count for the loss and not for the "
        "constraint, so the gap of the groups they belong to is not controlled among them.",
        MissingSensitiveWarning,
    )
    return [_rows_of(column, known) for column in columns], known


def _rows_of(column: Column, rows: np.ndarray) -> Column:
    """Some rows of a column, with the levels that occur there."""
    used, codes = np.unique(column.codes[rows], return_inverse=True)
    return Column(column.name, [column.levels[i] for i in used], codes.reshape(-1), column.labels)


def _settle_missing(columns: list[Column], missing: str, way_out: str) -> list[Column]:
    """Raise for missing values, or give them a level of their own."""
    gone = _gaps(columns)
    rows = [np.flatnonzero(gaps[column.codes]) for column, gaps in zip(columns, gone, strict=True)]
    if not any(map(len, rows)):
        return columns
    if missing == "group":
        return [_with_missing_level(column, gaps) for column, gaps in zip(columns, gone, strict=True)]
    listed = "; ".join(
        f"{column.name!r}: {len(at)} missing (first rows {', '.join(map(str, at[:ROWS_LISTED]))})"
        for column, at in zip(columns, rows, strict=True)
        if len(at)
    )
    raise ValueError(f"sensitive_features has missing values: {listed}. {way_out}")


def _with_missing_level(column: Column, gaps: np.ndarray) -> Column:
    if not gaps.any():
        return column
    known = [level for level, gap in zip(column.levels, gaps, strict=True) if not gap]
    if len(known) > MANY_LEVELS and all(map(is_number, known)):
        raise ValueError(
            f"sensitive_features: column {column.name!r} is continuous and has missing values; these cannot be a "
            "group of their own. Leave the rows out or bin the column."
        )
    if MISSING_GROUP in known:
        raise ValueError(
            f"sensitive_features: column {column.name!r} already has a group {MISSING_GROUP!r} beside its empty cells; "
            "rename one of the two."
        )
    position = np.where(gaps, len(known), np.cumsum(~gaps) - 1)
    return Column(column.name, [*known, MISSING_GROUP], position[column.codes], column.labels)


def _is_continuous(column: Column) -> bool:
    if not column.is_numeric:
        return False
    if not np.isfinite(np.array(column.levels, dtype=float)).all():
        raise ValueError(f"sensitive_features: column {column.name!r} has infinite values.")
    if len(column.levels) <= MANY_LEVELS:
        return False
    warn(
        f"sensitive_features: column {column.name!r} is numeric with {len(column.levels)} distinct values and is "
        "treated as continuous. Bin it, or pass strings, to compare groups.",
        ContinuousSensitiveWarning,
    )
    return True


def _matched(columns: list[Column], fitted: Sensitive) -> list[Column]:
    """The columns in the order of the fitted ones, categories first: by name, or by position where one has no names."""
    given = [column.name for column in columns]
    if len(given) == len(fitted.order) and set(given) != set(fitted.order):
        if len(given) == 1 or any(names == numbered(len(given)) for names in (given, list(fitted.order))):
            given = list(fitted.order)
    if set(given) != set(fitted.order) or len(given) != len(fitted.order):
        raise ValueError(
            f"sensitive_features has columns {', '.join(map(repr, given))}, but fit saw "
            f"{', '.join(map(repr, fitted.order))}: pass the same columns, so named."
        )
    by_name = dict(zip(given, columns, strict=True))
    return [by_name[name] for name in (*fitted.names, *fitted.numeric_names)]


def _refuse_other_than_numbers(columns: list[Column]) -> None:
    for column in columns:
        if not column.is_numeric or not np.isfinite(np.array(column.levels, dtype=float)).all():
            raise ValueError(
                f"sensitive_features: column {column.name!r} was continuous when fit saw it, and now holds values that "
                "are no finite numbers."
            )


def _refuse_identifiers(categorical: list[Column]) -> None:
    for column in categorical:
        levels, n = len(column.levels), len(column.codes)
        if levels > MANY_LEVELS and levels > n / 2 and not any(map(is_date, column.levels)):
            raise ValueError(
                f"sensitive_features: column {column.name!r} has {levels} distinct values in {n} rows and looks like "
                "an identifier, not a set of groups. Pass the column that holds the group."
            )


def _intersections(categorical: list[Column], length: int) -> tuple[np.ndarray, tuple]:
    """Number the combinations of values that occur."""
    if not categorical:
        return np.zeros(length, dtype=np.int64), ("all",)
    per_column = [_sorted_levels(column) for column in categorical]
    if len(per_column) == 1:
        return per_column[0]
    combined = np.column_stack([codes for codes, _ in per_column])
    present, codes = np.unique(combined, axis=0, return_inverse=True)
    groups = tuple(
        tuple(levels[number] for number, (_, levels) in zip(row, per_column, strict=True)) for row in present
    )
    return codes.reshape(-1).astype(np.int64), groups


def _sorted_levels(column: Column) -> tuple[np.ndarray, tuple]:
    levels = column.levels
    if any(map(is_date, levels)):
        raise ValueError(
            f"sensitive_features: column {column.name!r} holds dates; turn it into a number (age) or into named groups."
        )
    try:
        order = sorted(range(len(levels)), key=levels.__getitem__)
    except TypeError:
        order = sorted(range(len(levels)), key=lambda i: (type(levels[i]).__name__, str(levels[i])))
    rank = np.empty(len(levels), dtype=np.int64)
    rank[order] = np.arange(len(levels))
    return rank[column.codes], tuple(levels[i] for i in order)
