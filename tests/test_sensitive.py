"""sensitive_features: whatever the container, the same groups; whatever cannot be read exactly, an error."""

import datetime
import decimal
import warnings
from pathlib import Path

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from fairkernel.exceptions import ContinuousSensitiveWarning, MissingSensitiveWarning, SmallGroupWarning
from fairkernel.sensitive import check_group_sizes, check_same_index, read_sensitive, warn_of_small_groups

TEXT = ["b", "a", "b", "a", "a", "b"]
NUMBERS = [1, 0, 1, 0, 0, 1]

TEXT_CONTAINERS = {
    "list": list,
    "tuple": tuple,
    "numpy text": np.array,
    "numpy bytes as text": lambda v: np.array(v, dtype="S1").astype(str),
    "numpy object": lambda v: np.array(v, dtype=object),
    "list of numpy text": lambda v: list(np.array(v)),
    "numpy column": lambda v: np.array(v)[:, None],
    "list of lists": lambda v: [[cell] for cell in v],
    "pandas series": pd.Series,
    "pandas object series": lambda v: pd.Series(v, dtype=object),
    "pandas string series": lambda v: pd.Series(v, dtype="string"),
    "pandas categorical series": lambda v: pd.Series(v, dtype="category"),
    "pandas ordered, unused level": lambda v: pd.Series(pd.Categorical(v, ["z", "b", "a"], ordered=True)),
    "pandas categorical": pd.Categorical,
    "pandas index": pd.Index,
    "pandas frame": lambda v: pd.DataFrame({"sex": v}),
    "pandas frame, numbered columns": lambda v: pd.DataFrame(np.array(v)[:, None]),
    "polars series": pl.Series,
    "polars categorical": lambda v: pl.Series(v, dtype=pl.Categorical),
    "polars enum": lambda v: pl.Series(v, dtype=pl.Enum(["b", "a"])),
    "polars frame": lambda v: pl.DataFrame({"sex": v}),
    "polars lazy frame": lambda v: pl.LazyFrame({"sex": v}),
    "pyarrow array": pa.array,
    "pyarrow dictionary": lambda v: pa.array(v).dictionary_encode(),
    "pyarrow chunks": lambda v: pa.chunked_array([v[:2], v[2:]]),
    "pyarrow table": lambda v: pa.table({"sex": v}),
}

NUMBER_CONTAINERS = {
    "list": list,
    "list of floats": lambda v: [float(cell) for cell in v],
    "list of decimals": lambda v: [decimal.Decimal(cell) for cell in v],
    **{
        f"numpy {kind}": lambda v, kind=kind: np.array(v, dtype=kind)
        for kind in ("i1", "u2", "i4", "i8", "f2", "f4", "f8")
    },
    "numpy boolean": lambda v: np.array(v, dtype=bool),
    "numpy object": lambda v: np.array(v, dtype=object),
    "masked array without a mask": np.ma.array,
    "pandas": pd.Series,
    "pandas nullable integer": lambda v: pd.Series(v, dtype="Int64"),
    "pandas nullable boolean": lambda v: pd.Series(v, dtype="boolean"),
    "pandas category of numbers": lambda v: pd.Series(v, dtype="category"),
    "polars integer": pl.Series,
    "polars float32": lambda v: pl.Series(v, dtype=pl.Float32),
    "polars boolean": lambda v: pl.Series(v).cast(pl.Boolean),
    "pyarrow": pa.array,
    "pyarrow chunks": lambda v: pa.chunked_array([v[:4], v[4:]]),
    "pyarrow boolean": lambda v: pa.array(v).cast(pa.bool_()),
}


@pytest.mark.parametrize("container", TEXT_CONTAINERS)
def test_text_groups_are_the_same_in_every_container(container):
    read = read_sensitive(TEXT_CONTAINERS[container](TEXT))
    assert read.groups == ("a", "b")
    assert read.codes.tolist() == [1, 0, 1, 0, 0, 1]
    assert read.codes.dtype == np.int64
    assert read.counts.tolist() == [3, 3]
    assert read.numeric.shape == (6, 0)


@pytest.mark.parametrize("container", NUMBER_CONTAINERS)
def test_two_numbers_are_two_groups_in_every_container(container):
    read = read_sensitive(NUMBER_CONTAINERS[container](NUMBERS))
    assert read.groups == (0, 1)
    assert read.codes.tolist() == NUMBERS
    assert read.numeric.shape == (6, 0)


@pytest.mark.parametrize("container", ["list of numpy text", "numpy text", "numpy object"])
def test_labels_read_as_python_values_so_that_messages_show_what_the_user_wrote(container):
    assert repr(read_sensitive(TEXT_CONTAINERS[container](TEXT)).groups) == "('a', 'b')"


@pytest.mark.parametrize(
    "container",
    [
        list,
        np.array,
        lambda v: np.array(v, dtype=np.float32),
        lambda v: np.array(v, dtype=object),
        pd.Series,
        lambda v: pd.Series(v, dtype="Int64"),
        pl.Series,
        pa.array,
        lambda v: pa.chunked_array([v[:5], v[5:]]),
        lambda v: pa.table({"age": v}),
    ],
)
def test_a_number_with_many_levels_is_continuous_in_every_container_and_said_so(container):
    ages = [18, 20, 23, 31, 40, 41, 52, 60, 61, 75, 80, 90]
    with pytest.warns(ContinuousSensitiveWarning, match="numeric with 12 distinct values and is treated as continuous"):
        read = read_sensitive(container(ages))
    np.testing.assert_array_equal(read.numeric, np.array(ages, dtype=float)[:, None])
    assert read.numeric.dtype == np.float64
    assert read.groups == ("all",)
    assert read.codes.tolist() == [0] * 12
    assert read.names == ()
    assert len(read.numeric_names) == 1


def test_ten_numeric_levels_are_groups_and_eleven_are_continuous():
    assert len(read_sensitive(np.arange(40) % 10).groups) == 10
    with pytest.warns(ContinuousSensitiveWarning, match="11 distinct"):
        assert read_sensitive(np.arange(44) % 11).groups == ("all",)


@pytest.mark.parametrize(
    "container",
    [
        lambda v: pd.Series(v, dtype="category"),
        pd.Categorical,
        lambda v: pa.array(v).dictionary_encode(),
        lambda v: pa.chunked_array([pa.array(v).dictionary_encode()]),
        lambda v: pl.Series(v).cast(pl.String).cast(pl.Categorical),
    ],
)
def test_numbers_declared_categorical_stay_groups(container):
    assert len(read_sensitive(container(np.arange(48) % 12)).groups) == 12


def test_numbers_given_as_text_stay_groups():
    assert read_sensitive((np.arange(48) % 12).astype(str)).groups == tuple(sorted(map(str, range(12))))


def test_several_categorical_columns_are_intersections_kept_apart():
    frame = pd.DataFrame({"sex": list("fmfmfm"), "race": ["x", "x", "y", "y", "x", "y"]})
    read = read_sensitive(frame)
    assert read.groups == (("f", "x"), ("f", "y"), ("m", "x"), ("m", "y"))
    assert read.codes.tolist() == [0, 2, 1, 3, 0, 3]
    assert read.names == ("sex", "race")


def test_an_intersection_that_does_not_occur_is_not_a_group():
    assert read_sensitive(np.array([["f", "x"], ["m", "y"], ["f", "x"]])).groups == (("f", "x"), ("m", "y"))


@pytest.mark.parametrize("container", [pd.DataFrame, pl.DataFrame, pa.table])
def test_a_mix_of_groups_and_numbers_keeps_both(container):
    ages = np.linspace(18.0, 80.0, 12)
    frame = container({"age": ages, "sex": ["f", "m"] * 6})
    with pytest.warns(ContinuousSensitiveWarning, match="column 'age'"):
        read = read_sensitive(frame)
    assert read.groups == ("f", "m")
    assert (read.names, read.numeric_names) == (("sex",), ("age",))
    np.testing.assert_array_equal(read.numeric[:, 0], ages)


def test_two_continuous_columns_stand_side_by_side():
    values = np.random.default_rng(0).normal(size=(30, 2))
    with pytest.warns(ContinuousSensitiveWarning):
        read = read_sensitive(values)
    np.testing.assert_array_equal(read.numeric, values)
    assert read.numeric_names == ("sensitive_feature_0", "sensitive_feature_1")


def test_booleans_are_groups_and_never_numbers():
    assert read_sensitive([True, False, True]).groups == (False, True)


def test_zero_and_the_text_zero_are_different_groups():
    assert set(read_sensitive([0, "0", 0, "0"]).groups) == {0, "0"}


@pytest.mark.parametrize("ids", [[f"person {i}" for i in range(30)], pd.Series([f"{i:08x}" for i in range(30)])])
def test_text_that_looks_like_an_identifier_is_refused(ids):
    with pytest.raises(
        ValueError, match=r"30 distinct values in 30 rows and looks like an identifier.*Pass the column"
    ):
        read_sensitive(ids)


@pytest.mark.parametrize(
    "dates",
    [
        np.array(["2020-01-01", "2021-01-01"] * 3, dtype="M8[D]"),
        np.array([1, 2] * 3, dtype="m8[D]"),
        [datetime.date(2020, 1, 1), datetime.date(2021, 1, 1)] * 3,
        [np.datetime64("2020-01-01"), np.datetime64("2021-01-01")] * 3,
        pd.Series(pd.to_datetime(["2020-01-01", "2021-01-01"] * 3)),
        pl.Series([datetime.datetime(2020, 1, 1), datetime.datetime(2021, 1, 1)] * 3),
        pa.array([datetime.date(2020, 1, 1), datetime.date(2021, 1, 1)] * 3),
    ],
    ids=["M8", "m8", "date objects", "datetime64 objects", "pandas", "polars", "pyarrow"],
)
def test_dates_are_refused_with_the_way_out(dates):
    with pytest.raises(ValueError, match=r"holds dates; turn it into .*groups"):
        read_sensitive(dates)


def test_dates_after_an_empty_cell_are_dates_all_the_same():
    # A datetime64 in nanoseconds turns into a plain integer when converted carelessly.
    dates = [None, np.datetime64("2020-01-01", "ns"), np.datetime64("2021-01-01", "ns")] * 2
    with pytest.raises(ValueError, match="holds dates"):
        read_sensitive(dates, missing="group")


@pytest.mark.parametrize("infinity", [np.inf, -np.inf])
def test_infinite_values_are_refused(infinity):
    with pytest.raises(ValueError, match="column 'sensitive_feature' has infinite values"):
        read_sensitive([0.0, 1.0, infinity])


@pytest.mark.parametrize(
    ("values", "sentence"),
    [
        (None, "sensitive_features is missing: pass one value per row"),
        ([], "sensitive_features is empty"),
        (pd.DataFrame({"sex": []}), "sensitive_features is empty"),
        ("women", r"0 dimensions: pass shape \(n,\) or \(n, columns\)"),
        (np.zeros((4, 2, 2)), "3 dimensions"),
        ([["a"], ["b", "c"]], "neither text nor numbers"),
        ([{}, {}], "neither text nor numbers"),
    ],
)
def test_what_is_no_column_of_values_is_refused(values, sentence):
    with pytest.raises((TypeError, ValueError), match=sentence):
        read_sensitive(values)


def test_a_wrong_number_of_rows_says_both_numbers():
    with pytest.raises(ValueError, match="sensitive_features has 6 rows but X has 7: pass one value per row of X"):
        read_sensitive(TEXT, n_rows=7)


def test_one_group_is_refused_by_name_unless_allowed():
    with pytest.raises(ValueError, match="one group only \\('a'\\): a disparity needs at least two"):
        read_sensitive(["a", "a"])
    assert read_sensitive(["a", "a"], min_groups=1).groups == ("a",)


def test_one_constant_number_beside_a_continuous_column_is_no_reason_to_refuse():
    with pytest.warns(ContinuousSensitiveWarning):
        read = read_sensitive(np.column_stack([np.arange(30), np.zeros(30)]))
    assert read.numeric.shape == (30, 1)


# Missing cells: the containers are in test_trust.py, row 2


@pytest.mark.parametrize("text", ["", " ", "nan", "NaN", "NaT", "None", "<NA>", "null"])
def test_the_text_of_an_empty_cell_is_missing(text):
    with pytest.raises(ValueError, match=r"'sensitive_feature': 2 missing \(first rows 1, 3\)"):
        read_sensitive(["a", text, "b", text])


@pytest.mark.parametrize("text", ["N", "no", "na ve", "unknown", "nanny", "0"])
def test_other_text_is_a_group_of_its_own(text):
    assert text in read_sensitive(["a", text]).groups


def test_only_the_first_five_missing_rows_are_listed():
    with pytest.raises(ValueError, match=r"7 missing \(first rows 2, 3, 4, 5, 6\)"):
        read_sensitive(["a", "b"] + [None] * 7)


def test_missing_cells_as_a_group_change_no_other_row():
    read = read_sensitive(["b", None, "a", np.nan, "b"], missing="group")
    assert read.groups == ("a", "b", "missing")
    assert read.codes.tolist() == [1, 2, 0, 2, 1]


def test_missing_cells_among_numbers_are_a_group_beside_the_numbers():
    read = read_sensitive([1.0, np.nan, 0.0, np.nan, 1.0], missing="group")
    assert read.groups == (0.0, 1.0, "missing")
    assert read.codes.tolist() == [1, 2, 0, 2, 1]


def test_missing_cells_in_one_of_two_columns_make_intersections():
    frame = pd.DataFrame({"sex": ["f", None, "m"], "race": ["x", "x", "y"]})
    assert read_sensitive(frame, missing="group").groups == (("f", "x"), ("m", "y"), ("missing", "x"))


def test_a_group_called_missing_is_not_merged_with_the_empty_cells():
    with pytest.raises(ValueError, match="already has a group 'missing' beside its empty cells; rename"):
        read_sensitive(["missing", None, "a"], missing="group")


def test_empty_cells_of_a_continuous_column_cannot_be_a_group():
    ages = [*map(float, range(20)), np.nan]
    with pytest.raises(ValueError, match=r"is continuous and has missing values.*Leave the rows out or bin the column"):
        read_sensitive(ages, missing="group")


def test_rows_with_empty_cells_can_be_left_without_a_group():
    with pytest.warns(MissingSensitiveWarning, match="missing in 2 of 6 rows: they count for the loss") as caught:
        read = read_sensitive(["b", None, "a", np.nan, "b", "a"], missing="ignore")
    assert len(caught) == 1
    assert read.groups == ("a", "b")
    assert read.codes.tolist() == [1, -1, 0, -1, 1, 0]
    assert read.known.tolist() == [True, False, True, False, True, True]
    assert read.counts.tolist() == [2, 2]
    check_group_sizes(read, np.ones(6, dtype=bool))


def test_a_gap_in_any_column_leaves_the_row_without_a_group():
    frame = pd.DataFrame({"sex": ["f", None, "m", "m"], "race": ["x", "only here", "x", None]})
    with pytest.warns(MissingSensitiveWarning, match="missing in 2 of 4 rows"):
        read = read_sensitive(frame, missing="ignore")
    assert read.groups == (("f", "x"), ("m", "x"))
    assert read.codes.tolist() == [0, -1, 1, -1]


def test_empty_cells_of_a_continuous_column_leave_the_row_without_a_group():
    ages = np.where(np.arange(30) % 7 == 0, np.nan, np.arange(30.0))
    with pytest.warns(MissingSensitiveWarning, match="5 of 30"), pytest.warns(ContinuousSensitiveWarning):
        read = read_sensitive(ages, missing="ignore")
    assert read.codes.tolist() == np.where(np.isnan(ages), -1, 0).tolist()
    np.testing.assert_array_equal(read.numeric[:, 0], np.nan_to_num(ages))


def test_empty_cells_decide_neither_between_numbers_and_groups_nor_on_identifiers():
    levels = [*map(float, range(10)), np.nan] * 4  # ten numbers and the gap are eleven levels
    with pytest.warns(MissingSensitiveWarning):
        assert read_sensitive(levels, missing="ignore").groups == tuple(map(float, range(10)))
    names = [f"id-{i}" for i in range(20)] + [None] * 30
    with pytest.warns(MissingSensitiveWarning), pytest.raises(ValueError, match="20 distinct values in 20 rows"):
        read_sensitive(names, missing="ignore")


def test_without_empty_cells_nothing_is_ignored_and_nothing_said():
    assert read_sensitive(TEXT, missing="ignore").codes.tolist() == read_sensitive(TEXT).codes.tolist()


def test_rows_of_which_no_group_is_known_are_refused():
    with pytest.raises(ValueError, match="missing in all 3 rows: missing_sensitive='ignore' needs rows whose group"):
        read_sensitive([None, np.nan, ""], missing="ignore")


@pytest.mark.parametrize(
    ("values", "sentence"),
    [(["a", "a", None], "one group only \\('a'\\)"), (["a", "a", "b", None], "group 'b' has 1 row")],
)
def test_the_groups_that_are_left_must_be_groups(values, sentence):
    with pytest.warns(MissingSensitiveWarning), pytest.raises(ValueError, match=sentence):
        check_group_sizes(read_sensitive(values, missing="ignore"), np.ones(len(values), dtype=bool))


# Index, sizes, selection


def test_two_pandas_indices_must_agree():
    X = pd.DataFrame({"u": range(6)})
    with pytest.raises(ValueError, match=r"index of sensitive_features differs.*sensitive_features.loc\[X.index\]"):
        read_sensitive(pd.Series(TEXT)[::-1], rows_like=X)
    assert read_sensitive(pd.Series(TEXT), rows_like=X).n_rows == 6
    assert read_sensitive(pd.Series(TEXT)[::-1].to_numpy(), rows_like=X).n_rows == 6


def test_objects_without_an_index_are_matched_by_position():
    check_same_index(np.zeros(2), pd.Series([1, 2], index=[8, 9]), "y")
    check_same_index([1, 2], [3, 4], "y")


def test_a_group_of_one_present_row_is_refused_and_zero_weight_rows_are_absent():
    read = read_sensitive(["a", "a", "b", "b"])
    check_group_sizes(read, np.ones(4, dtype=bool))
    with pytest.raises(ValueError, match="group 'b' has 1 row; at least 2"):
        check_group_sizes(read, np.array([True, True, True, False]))
    with pytest.raises(ValueError, match="every row of group 'b' has zero weight"):
        check_group_sizes(read, np.array([True, True, False, False]))


def test_a_group_smaller_than_the_components_is_said():
    read = read_sensitive(["a"] * 5 + ["b"] * 3)
    with pytest.warns(SmallGroupWarning, match="group 'b' has 3 rows, fewer than the 4 components"):
        warn_of_small_groups(read, 4)


def test_some_rows_keep_their_group_numbers():
    part = read_sensitive(["a", "b", "c", "c"]).take(np.array([2, 1]))
    assert part.groups == ("a", "b", "c")
    assert part.codes.tolist() == [2, 1]
    assert part.numeric.shape == (2, 0)


def test_reading_does_not_modify_what_was_passed():
    values = np.array(["b", "a", "b"], dtype=object)
    values.flags.writeable = False
    read_sensitive(values)
    frame = pd.DataFrame({"age": np.arange(20.0)})
    before = frame.copy()
    with pytest.warns(ContinuousSensitiveWarning):
        read_sensitive(frame)
    pd.testing.assert_frame_equal(frame, before)


def test_the_warning_points_at_the_line_that_passed_the_values():
    from fairkernel import FairFeatureEmbedding

    X = np.random.default_rng(0).normal(size=(30, 2))
    for fit in (FairFeatureEmbedding().fit, FairFeatureEmbedding().fit_transform):
        with pytest.warns(ContinuousSensitiveWarning) as caught:
            fit(X, sensitive_features=np.arange(30.0))
        assert Path(caught[0].filename).name == Path(__file__).name


@given(hnp.arrays(np.int64, st.integers(2, 40), elements=st.integers(0, 4)), st.randoms(use_true_random=False))
def test_reordering_rows_reorders_the_codes_and_nothing_else(values, random):
    order = list(range(len(values)))
    random.shuffle(order)
    read, moved = read_sensitive(values, min_groups=1), read_sensitive(values[order], min_groups=1)
    assert moved.groups == read.groups
    np.testing.assert_array_equal(moved.codes, read.codes[order])


@given(st.lists(st.sampled_from(["x", "yy", "Z", "é", "=1+1", "<b>"]), min_size=2, max_size=30))
def test_codes_and_groups_give_back_what_was_passed(values):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        read = read_sensitive(values, min_groups=1)
    assert [read.groups[code] for code in read.codes] == values
    assert list(read.groups) == sorted(set(values))
