import csv
import io
import urllib.request

import numpy as np
import pandas as pd
import pytest

from fairkernel.datasets import fetch_compas_two_years
from fairkernel.datasets.fetch import SOURCES, read_source

pytestmark = pytest.mark.data


@pytest.fixture(scope="module")
def raw():
    """The file as pandas reads it: an oracle for the csv reading of the loader."""
    return pd.read_csv(io.BytesIO(read_source(SOURCES["compas_two_years"])), keep_default_na=False)


@pytest.fixture(autouse=True)
def closed_network(monkeypatch):
    def urlopen(*_, **__):
        raise AssertionError("the network was touched")

    monkeypatch.setattr(urllib.request, "urlopen", urlopen)


def test_the_usual_filter_keeps_the_6172_rows_that_propublica_keeps(raw):
    days = pd.to_numeric(raw["days_b_screening_arrest"])
    kept = raw[
        days.between(-30, 30) & (raw["is_recid"] != -1) & (raw["c_charge_degree"] != "O") & (raw["score_text"] != "N/A")
    ]
    bunch = fetch_compas_two_years()
    assert len(kept) == len(bunch.data) == 6172
    np.testing.assert_array_equal(bunch.target, kept["two_year_recid"])
    np.testing.assert_array_equal(bunch.sensitive_features, kept["race"])
    np.testing.assert_array_equal(bunch.data["age"], kept["age"])
    np.testing.assert_array_equal(bunch.data["male"] == 1, kept["sex"] == "Male")
    np.testing.assert_array_equal(bunch.data["charge_felony"] == 1, kept["c_charge_degree"] == "F")


def test_the_first_condition_alone_removes_all_1042_rows(raw):
    days = pd.to_numeric(raw["days_b_screening_arrest"])
    assert (~days.between(-30, 30)).sum() == 7214 - 6172 == 1042
    assert days.isna().sum() == 307
    assert "the first condition alone removes all 1042 rows" in fetch_compas_two_years().DESCR


def test_without_the_filter_all_7214_rows_come(raw):
    bunch = fetch_compas_two_years(usual_filter=False)
    assert len(bunch.data) == len(raw) == 7214
    np.testing.assert_array_equal(bunch.data["priors_count"], raw["priors_count"])
    assert "Rows: 7214." in bunch.DESCR


def test_nothing_that_identifies_a_person_is_loaded(raw):
    bunch = fetch_compas_two_years(usual_filter=False, sensitive="both", include_sensitive=True)
    identifying = raw[["name", "first", "last", "dob", "c_case_number", "r_case_number", "vr_case_number"]]
    cells = set(identifying.to_numpy().ravel()) - {""}
    held = {value for value in bunch.frame.to_numpy().ravel() if isinstance(value, str)}
    assert held.isdisjoint(cells)
    assert held == set(raw["race"]) | set(raw["sex"])
    assert not set(identifying.columns) & set(bunch.frame.columns)
    assert "id" not in bunch.frame.columns


def test_every_column_of_the_file_is_an_input_or_left_out_with_a_reason(raw):
    text = fetch_compas_two_years().DESCR
    # groups of columns that the description names together
    together = {"c_jail_in", "c_jail_out", "c_offense_date", "c_arrest_date", "c_days_from_compas",
                "in_custody", "out_custody", "screening_date", "v_screening_date", "compas_screening_date",
                "days_b_screening_arrest", "v_type_of_assessment"}  # fmt: skip
    header = next(csv.reader(io.StringIO(read_source(SOURCES["compas_two_years"]).decode())))
    for column in header:
        assert column in text or column in together or column.startswith(("r_", "vr_")), column


def test_no_input_decides_the_target():
    bunch = fetch_compas_two_years()
    assert bunch.data.corrwith(bunch.target).abs().max() < 0.5


@pytest.mark.parametrize(
    ("line", "rows", "rate"),
    [("African-American", 3175, 0.5231), ("Caucasian", 2103, 0.3909), ("Hispanic", 509, 0.3713),
     ("Other", 343, 0.3615), ("Asian", 31, 0.2581), ("Native American", 11, 0.4545)],
)  # fmt: skip
def test_the_description_states_group_sizes_and_base_rates(line, rows, rate):
    bunch = fetch_compas_two_years()
    members = bunch.sensitive_features == line
    assert (members.sum(), round(bunch.target[members].mean(), 4)) == (rows, rate)
    assert f"    {line:<16}  {rows:>6}  {rate:.4f}\n" in bunch.DESCR


def test_sex_leaves_the_inputs_when_it_is_the_sensitive_attribute():
    by_sex = fetch_compas_two_years(sensitive="sex")
    assert by_sex.sensitive_features.value_counts().to_dict() == {"Male": 4997, "Female": 1175}
    assert "male" not in by_sex.feature_names
    assert "male" in fetch_compas_two_years(sensitive="sex", include_sensitive=True).feature_names


def test_both_attributes_come_as_two_columns():
    both = fetch_compas_two_years(sensitive="both")
    assert list(both.sensitive_features.columns) == ["race", "sex"]
    assert fetch_compas_two_years(sensitive="both", as_frame=False).sensitive_features.shape == (6172, 2)
    assert "African-American / Female" in both.DESCR


def test_included_race_columns_rebuild_race():
    bunch = fetch_compas_two_years(include_sensitive=True)
    columns = [column for column in bunch.feature_names if column.startswith("race_")]
    assert (bunch.data[columns].sum(axis=1) == 1).all()
    rebuilt = bunch.data[columns].idxmax(axis=1)
    assert len(columns) == bunch.sensitive_features.nunique() == 6
    assert (rebuilt.groupby(bunch.sensitive_features).nunique() == 1).all()


def test_an_unknown_attribute_is_refused_with_the_known_ones():
    with pytest.raises(ValueError, match=r"sensitive must be one of \['race', 'sex', 'both'\], got 'age'"):
        fetch_compas_two_years(sensitive="age")
    with pytest.raises(ValueError, match=r"sensitive must be one of .*, got \['race'\]"):
        fetch_compas_two_years(sensitive=["race"])
