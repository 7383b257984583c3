"""Checks of X, weights and columns: what is wrong, in which column, in which row, and the way out."""

import warnings

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
import scipy.sparse
from sklearn.base import BaseEstimator

from fairkernel.exceptions import SensitiveColumnWarning
from fairkernel.validation import check_rows, check_weight, take_columns, warn_of_restating_columns, with_cells_of

RNG = np.random.default_rng(0)
X = RNG.normal(size=(40, 3))
NONE = np.empty((40, 0))


class Anything(BaseEstimator):
    pass


FRAMES = {
    "pandas": lambda columns: pd.DataFrame(columns),
    "polars": lambda columns: pl.DataFrame(columns),
    "pyarrow": lambda columns: pa.table(columns),
}


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_floats_keep_their_precision_and_are_not_copied(dtype):
    rows = X.astype(dtype)
    checked = check_rows(Anything(), rows, reset=True)
    assert checked.dtype == dtype
    assert np.shares_memory(checked, rows)


@pytest.mark.parametrize("dtype", [np.int32, bool, object, np.float16])
def test_other_numbers_become_float64(dtype):
    assert check_rows(Anything(), (X > 0).astype(dtype), reset=True).dtype in (np.float64, np.float32)


@pytest.mark.parametrize("frame", FRAMES.values(), ids=FRAMES)
def test_names_of_a_frame_are_remembered(frame):
    estimator = Anything()
    checked = check_rows(estimator, frame({"u": X[:, 0], "v": X[:, 1]}), reset=True)
    np.testing.assert_array_equal(checked, X[:, :2])
    assert estimator.feature_names_in_.tolist() == ["u", "v"]


@pytest.mark.parametrize("frame", FRAMES.values(), ids=FRAMES)
def test_every_column_that_is_no_number_is_listed(frame):
    with pytest.raises(ValueError, match=r"not numbers: 'colour', 'size'; encode them first.*OneHotEncoder"):
        check_rows(Anything(), frame({"u": [1.0, 2.0], "colour": ["r", "g"], "size": ["s", "l"]}), reset=True)


@pytest.mark.parametrize(
    "column",
    [pd.Categorical(["r", "g"]), pd.to_datetime(["2020-01-01", "2020-01-02"]), pd.array(["r", None], dtype="string")],
    ids=["categorical", "date", "string"],
)
def test_columns_of_categories_dates_and_strings_are_no_numbers(column):
    with pytest.raises(ValueError, match="not numbers: 'c'; encode them"):
        check_rows(Anything(), pd.DataFrame({"u": [1.0, 2.0], "c": column}), reset=True)


def test_boolean_and_nullable_columns_are_numbers():
    frame = pd.DataFrame(
        {"b": [True, False], "i": pd.array([1, 2], dtype="Int64"), "o": pd.Series([1, 2.5], dtype=object)}
    )
    np.testing.assert_array_equal(check_rows(Anything(), frame, reset=True), [[1, 1, 1], [0, 2, 2.5]])


@pytest.mark.parametrize(
    "rows", [np.array([[1.0, 2.0], [3.0, "red"]], dtype=object), [[1.0, 2.0], [3.0, "red"]]], ids=["array", "list"]
)
def test_text_in_an_array_is_found(rows):
    with pytest.raises(ValueError, match=r"column 1 holds 'red' in row 1; encode (text|it) first.*OneHotEncoder"):
        check_rows(Anything(), rows, reset=True)


@pytest.mark.parametrize(("cell", "kind"), [(np.nan, "NaN"), (np.inf, "infinity"), (-np.inf, "infinity")])
@pytest.mark.parametrize("frame", [None, *FRAMES.values()], ids=["array", *FRAMES])
def test_cells_that_are_not_finite_are_found_and_counted(cell, kind, frame):
    rows = X.copy()
    rows[[7, 9], 2] = cell
    column = "2" if frame is None else "'w'"
    passed = rows if frame is None else frame(dict(zip("uvw", rows.T, strict=True)))
    with pytest.raises(
        ValueError, match=rf"X contains {kind}: column {column}, row 7 \(2 such cells in all\)\. Impute"
    ):
        check_rows(Anything(), passed, reset=True)


def test_large_finite_values_are_not_mistaken_for_infinity():
    rows = np.full((4, 2), 1e308)
    np.testing.assert_array_equal(check_rows(Anything(), rows, reset=True), rows)


def test_missing_cells_of_nullable_columns_are_found():
    frame = pd.DataFrame({"u": [1.0, 2.0], "v": pd.array([1, pd.NA], dtype="Int64")})
    with pytest.raises(ValueError, match="contains NaN: column 'v', row 1"):
        check_rows(Anything(), frame, reset=True)


@pytest.mark.parametrize("kind", [scipy.sparse.csr_array, scipy.sparse.csc_matrix])
def test_sparse_rows_are_a_type_error_with_the_way_out(kind):
    with pytest.raises(TypeError, match=r"[Ss]parse.*toarray\(\)"):
        check_rows(Anything(), kind(X), reset=True)


# Weights


def test_no_weight_is_one_each_and_a_number_is_that_number_each():
    np.testing.assert_array_equal(check_weight(None, X), np.ones(40))
    np.testing.assert_array_equal(check_weight(2.0, X), np.full(40, 2.0))


@pytest.mark.parametrize("container", [list, np.array, pd.Series, pl.Series, lambda w: np.array(w, dtype=np.int32)])
def test_weights_are_float64_whatever_they_come_in(container):
    weight = check_weight(container([1, 2] * 20), X)
    assert weight.dtype == np.float64
    np.testing.assert_array_equal(weight, [1, 2] * 20)


def test_weights_are_float64_beside_float32_rows():
    assert check_weight(np.ones(40, dtype=np.float32), X.astype(np.float32)).dtype == np.float64


@pytest.mark.parametrize(
    ("weight", "sentence"),
    [
        (np.r_[-1.0, np.ones(39)], r"[Nn]egative.*sample_weight"),
        (np.zeros(40), r"(?i)sample.weight.*(zero|non-zero)"),
        (np.r_[np.nan, np.ones(39)], "sample_weight contains NaN"),
        (np.r_[np.inf, np.ones(39)], "sample_weight contains infinity"),
        (np.ones(39), r"sample_weight.*\(39,\).*\(40,\)"),
        (np.ones((40, 1)), "(?i)sample.weight"),
    ],
)
def test_weights_that_are_no_weights_are_refused(weight, sentence):
    with pytest.raises(ValueError, match=sentence):
        check_weight(weight, X)


# Columns named as sensitive


@pytest.mark.parametrize("frame", FRAMES.values(), ids=FRAMES)
def test_columns_are_taken_out_by_name_in_the_order_asked_for(frame):
    inputs, sensitive = take_columns(frame({"u": [1, 2], "s": [3, 4], "t": [5, 6]}), ["t", "s"], required=True)
    assert type(inputs) is type(sensitive)
    assert [
        list(frame.columns) if not isinstance(frame, pa.Table) else frame.column_names for frame in (inputs, sensitive)
    ] == [
        ["u"],
        ["t", "s"],
    ]


def test_columns_are_taken_out_by_position():
    inputs, sensitive = take_columns(X, [2, 0], required=True)
    np.testing.assert_array_equal(inputs, X[:, [1]])
    np.testing.assert_array_equal(sensitive, X[:, [2, 0]])


def test_columns_that_are_absent_later_are_not_needed():
    inputs, sensitive = take_columns(pd.DataFrame({"u": [1, 2]}), ["s"], required=False)
    assert list(inputs.columns) == ["u"]
    assert sensitive is None


@pytest.mark.parametrize("ids", [[3], [-4], ["u"], [1.0], [None]])
def test_what_is_no_position_is_refused(ids):
    with pytest.raises(
        ValueError, match=r"sensitive_feature_ids=.* must be column positions of an array of shape \(40, 3\)"
    ):
        take_columns(X, ids, required=True)


# Columns that restate an attribute


def restating(X, codes, numeric=NONE, names=None):
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        warn_of_restating_columns(X, codes, numeric, names)
    assert {warning.category for warning in caught} <= {SensitiveColumnWarning}
    return [str(warning.message) for warning in caught]


CODES = np.arange(40) % 3


@pytest.mark.parametrize(
    "column", [CODES, -7.5 * CODES + 3, CODES == 1, np.exp(CODES)], ids=["codes", "affine", "one level", "any function"]
)
def test_a_column_that_the_group_determines_is_named(column):
    (message,) = restating(np.column_stack([X, column]), CODES)
    assert message.startswith("X column 3 restates the sensitive attribute")
    assert "Drop it" in message


def test_several_columns_are_named_in_one_warning():
    (message,) = restating(np.column_stack([CODES, X, CODES == 2]), CODES, names=["race", "u", "v", "w", "black"])
    assert message.startswith("X column 'race', 'black' restates")


@pytest.mark.parametrize("sign", [1.0, -0.01])
def test_a_column_that_is_a_linear_function_of_a_number_is_named(sign):
    age = RNG.uniform(18, 80, 40)
    (message,) = restating(np.column_stack([X, sign * age + 5]), np.zeros(40, dtype=int), age[:, None])
    assert message.startswith("X column 3 restates")


def test_columns_that_only_go_with_the_attribute_are_not_named():
    age = RNG.uniform(18, 80, 40)
    close = np.column_stack([X, CODES + 0.01 * RNG.normal(size=40), age + 0.1 * RNG.normal(size=40)])
    assert restating(close, CODES, age[:, None]) == []


def test_one_row_that_differs_is_enough_not_to_restate():
    column = CODES.astype(float)
    column[37] += 1.0
    assert restating(column[:, None], CODES) == []


def test_a_difference_after_the_first_thousand_rows_counts():
    codes = np.arange(3000) % 2
    column = codes.astype(float)
    column[2500] = 0.5
    assert restating(column[:, None], codes, np.empty((3000, 0))) == []


def test_a_constant_column_restates_nothing():
    assert restating(np.ones((40, 2)), CODES, RNG.uniform(size=(40, 1))) == []


# Cells of other rows


@pytest.mark.parametrize("kind", [pd.DataFrame, pl.DataFrame, pa.table])
def test_columns_read_from_other_rows_keep_kind_order_and_the_other_columns(kind):
    frame = kind({"number": [1.5, 2.5, 3.5], "text": ["a", "b", "c"], "whole": [1, 2, 3]})
    changed = with_cells_of(frame, np.array([2, 0, 1]), [0, 1])
    assert type(changed) is type(frame)
    assert [list(map(str, changed[name])) for name in ("number", "text", "whole")] == [
        ["3.5", "1.5", "2.5"],
        ["c", "a", "b"],
        ["1", "2", "3"],
    ]
    assert str(frame["number"][0]) == "1.5"


def test_pandas_keeps_its_index_types_and_numbers_for_names():
    frame = pd.DataFrame({0: pd.Categorical(["u", "v", "u"]), 1: [1, 2, 3]}, index=[7, 5, 6])
    changed = with_cells_of(frame, np.array([1, 1, 1]), [0])
    expected = pd.DataFrame({0: pd.Categorical(["v", "v", "v"], ["u", "v"]), 1: [1, 2, 3]}, index=[7, 5, 6])
    pd.testing.assert_frame_equal(changed, expected)


def test_an_array_read_from_other_rows_is_a_copy():
    before = np.arange(6).reshape(3, 2)
    after = with_cells_of(before, np.array([2, 2, 0]), [1])
    np.testing.assert_array_equal(after, [[0, 5], [2, 5], [4, 1]])
    np.testing.assert_array_equal(before, np.arange(6).reshape(3, 2))
    np.testing.assert_array_equal(with_cells_of(before, np.array([2, 2, 0]), []), before)
