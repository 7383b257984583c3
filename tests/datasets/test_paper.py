import io
import urllib.request

import numpy as np
import pandas as pd
import pytest

from fairkernel.datasets import fetch_communities_crime, fetch_compas, fetch_credit_default
from fairkernel.datasets.fetch import SOURCES, read_source

pytestmark = pytest.mark.data

TABLES = {"credit": fetch_credit_default, "crime": fetch_communities_crime, "compas": fetch_compas}
SENSITIVE_PLACE = {"credit": 2, "crime": 0, "compas": 14}
SHAPES = {"credit": (20000, 23), "crime": (1993, 100), "compas": (16000, 15)}


@pytest.fixture(scope="module")
def tables():
    return {name: fetch_table() for name, fetch_table in TABLES.items()}


@pytest.fixture(autouse=True)
def closed_network(monkeypatch):
    def urlopen(*_, **__):
        raise AssertionError("the network was touched")

    monkeypatch.setattr(urllib.request, "urlopen", urlopen)


each = pytest.mark.parametrize("name", TABLES)


@each
def test_shapes_and_labels_are_as_published(tables, name):
    bunch = tables[name]
    assert bunch.data.shape == SHAPES[name]
    assert set(bunch.target) == set(bunch.sensitive_features) == {0, 1}
    assert not bunch.frame.isna().any(axis=None)
    assert bunch.feature_names == list(bunch.data.columns)


@each
def test_the_sensitive_attribute_is_an_input_in_its_published_place(tables, name):
    bunch = tables[name]
    place = bunch.data.iloc[:, SENSITIVE_PLACE[name]]
    np.testing.assert_array_equal(place, bunch.sensitive_features)
    assert place.name == bunch.sensitive_features.name


@each
def test_without_the_sensitive_attribute_the_other_inputs_are_the_same(tables, name):
    blind, seeing = TABLES[name](include_sensitive=False), tables[name]
    attribute = seeing.sensitive_features.name
    assert blind.feature_names == [column for column in seeing.feature_names if column != attribute]
    np.testing.assert_array_equal(blind.data, seeing.data.drop(columns=attribute))
    np.testing.assert_array_equal(blind.sensitive_features, seeing.sensitive_features)
    assert f"    {attribute}: the sensitive attribute (include_sensitive=False)" in blind.DESCR


@each
def test_arrays_hold_what_the_frame_holds(tables, name):
    plain = TABLES[name](as_frame=False)
    assert plain.frame is None
    np.testing.assert_array_equal(plain.data, tables[name].data)
    np.testing.assert_array_equal(plain.target, tables[name].target)
    np.testing.assert_array_equal(plain.sensitive_features, tables[name].sensitive_features)


@each
def test_the_50_splits_share_no_row_between_training_and_test_and_use_every_row(tables, name):
    bunch = tables[name]
    assert len(bunch.splits) == 50
    for train, test in bunch.splits:
        assert np.intersect1d(train, test).size == 0
        np.testing.assert_array_equal(np.union1d(train, test), np.arange(len(bunch.target)))


def test_credit_trains_on_15000_places_of_which_some_repeat(tables):
    for train, test in tables["credit"].splits:
        assert len(train) == 15000
        assert 14950 <= len(np.unique(train)) <= 14970
        assert len(test) == 20000 - len(np.unique(train))


@pytest.mark.parametrize(("name", "n_train"), [("crime", 1494), ("compas", 12000)])
def test_the_other_shuffles_train_on_three_quarters_without_repeats(tables, name, n_train):
    for train, test in tables[name].splits:
        assert len(train) == len(np.unique(train)) == n_train
        assert len(test) == len(np.unique(test))


def test_splits_start_as_the_published_files_start(tables):
    assert tables["credit"].splits[0][0][:3].tolist() == [16287, 1375, 15302]
    # the first line of these files holds the first row of each shuffle, counted from 1
    assert [train[0] + 1 for train, _ in tables["crime"].splits[:3]] == [887, 565, 1801]
    assert [train[0] + 1 for train, _ in tables["compas"].splits[:3]] == [9854, 10852, 9674]


@pytest.mark.parametrize(("name", "error"), [("credit", 0.2288), ("crime", 0.1442), ("compas", 0.2282)])
def test_the_constant_classifier_errs_as_measured_on_the_published_splits(tables, name, error):
    y = tables[name].target.to_numpy()
    errors = [np.mean(y[test] != round(y[train].mean())) for train, test in tables[name].splits]
    assert np.mean(errors) == pytest.approx(error, abs=5e-5)


# stored numbers: rows and rates that the description must state
@pytest.mark.parametrize(
    ("name", "lines"),
    [
        ("credit", ["all     20000  0.2288", "0       16732  0.2238", "1        3268  0.2546"]),
        ("crime", ["all      1993  0.1450", "0        1750  0.0846", "1         243  0.5802"]),
        ("compas", ["all     16000  0.2277", "0        5691  0.2309", "1       10309  0.2259"]),
    ],
)
def test_the_description_states_base_rates_and_every_column(tables, name, lines):
    bunch = tables[name]
    for line in lines:
        assert f"    {line}\n" in bunch.DESCR
    for column in [*bunch.feature_names, bunch.target.name]:
        assert f"    {column}: " in bunch.DESCR
    members = bunch.sensitive_features == 1
    assert [f"{members.sum()}", f"{bunch.target[members].mean():.4f}"] == lines[2].split()[1:]


def test_the_crime_rate_that_leaks_the_label_is_dropped_unless_asked_for(tables):
    published = fetch_communities_crime(drop_leak=False)
    assert "ViolentCrimesPerPop" not in tables["crime"].feature_names
    assert "    ViolentCrimesPerPop: leaks the label" in tables["crime"].DESCR
    assert published.feature_names == [*tables["crime"].feature_names, "ViolentCrimesPerPop"]
    np.testing.assert_array_equal(published.data["ViolentCrimesPerPop"] >= 0.5, published.target == 1)
    assert "THE LABEL LEAKS" in published.DESCR


def test_no_other_crime_input_decides_the_label(tables):
    bunch = tables["crime"]
    assert bunch.data.corrwith(bunch.target).abs().max() < 0.6


def test_crime_names_line_up_with_the_rows_uci_published_first(tables):
    # UCI: Lakewood, Lynchburg and Aberdeen, whose shares of African-American residents are .02, .51 and .49
    uci = {
        0: {"population": 0.19, "householdsize": 0.33, "racePctWhite": 0.9, "racePctAsian": 0.12,
            "racePctHisp": 0.17, "agePct12t21": 0.34, "pctUrban": 1, "MedNumBR": 0.5,
            "PctForeignBorn": 0.12, "PctSameState85": 0.64, "LandArea": 0.12,
            "PopDens": 0.26, "PctUsePubTrans": 0.2, "LemasPctOfficDrugUn": 0.32, "race": 0},
        33: {"population": 0.09, "racePctWhite": 0.58, "racePctAsian": 0.04, "MedNumBR": 0.5,
             "LemasPctOfficDrugUn": 0.6, "race": 1},
        2: {"householdsize": 0.42, "racePctWhite": 0.56, "agePct65up": 0.32, "PopDens": 0.21, "race": 0},
    }  # fmt: skip
    for row, cells in uci.items():
        assert tables["crime"].data.loc[row, list(cells)].to_dict() == pytest.approx(cells)
    assert set(tables["crime"].data["MedNumBR"]) == {0, 0.5, 1}


def test_credit_names_line_up_with_the_rows_uci_published_first(tables):
    # UCI ids 1, 2, 9 and 10; education 2 (university), 2, 3 (high school), 3 became 0, 0, 1, 1
    uci = np.array([
        [20000, 2, 0, 1, 24, 2, 2, -1, -1, -2, -2, 3913, 3102, 689, 0, 0, 0, 0, 689, 0, 0, 0, 0, 1],
        [120000, 2, 0, 2, 26, -1, 2, 0, 0, 0, 2, 2682, 1725, 2682, 3272, 3455, 3261,
         0, 1000, 1000, 1000, 0, 2000, 1],
        [140000, 2, 1, 1, 28, 0, 0, 2, 0, 0, 0, 11285, 14096, 12108, 12211, 11793, 3719,
         3329, 0, 432, 1000, 1000, 1000, 0],
        [20000, 1, 1, 2, 35, -2, -2, -2, -2, -1, -1, 0, 0, 0, 0, 13007, 13912, 0, 0, 0, 13007, 1122, 0, 0],
    ])  # fmt: skip
    np.testing.assert_array_equal(tables["credit"].frame.iloc[[0, 1, 8, 9]], uci)
    months = [f"{column}{month}" for column in ("BILL_AMT", "PAY_AMT") for month in range(1, 7)]
    status = [f"PAY_{month}" for month in (0, 2, 3, 4, 5, 6)]  # UCI's own gap: there is no PAY_1
    order = ["LIMIT_BAL", "SEX", "EDUCATION", "MARRIAGE", "AGE", *status, *months]
    assert tables["credit"].feature_names == order


def test_the_ranges_of_credit_columns_fit_their_names(tables):
    data = tables["credit"].data
    assert set(data["SEX"]) == {1, 2}
    assert data["AGE"].between(21, 79).all()
    assert (data.filter(like="PAY_AMT") >= 0).all(axis=None)
    assert data[["PAY_0", "PAY_2", "PAY_3", "PAY_4", "PAY_5", "PAY_6"]].isin(range(-2, 9)).all(axis=None)
    assert tables["credit"].frame.duplicated().sum() == 31


def test_the_compas_label_carries_no_signal_and_half_the_rows_repeat(tables):
    bunch = tables["compas"]
    assert bunch.data.corrwith(bunch.target).abs().max() < 0.012
    assert len(bunch.frame.drop_duplicates()) == 9827
    assert len(bunch.data.drop_duplicates()) == 8274
    for first, second in [("decile_score", "decile_score_1"), ("priors_count", "priors_count_1")]:
        np.testing.assert_array_equal(bunch.data[first], bunch.data[second])
    assert "carries no signal" in bunch.DESCR
    assert "9827 distinct rows, 8274 without the label" in bunch.DESCR


def test_compas_shuffles_put_equal_inputs_on_both_sides_and_these_share_labels(tables):
    bunch = tables["compas"]
    same = bunch.data.groupby(bunch.feature_names).ngroup().to_numpy()
    repeated = [np.isin(same[test], same[train]).mean() for train, test in bunch.splits]
    assert np.mean(repeated) == pytest.approx(0.65, abs=0.005)
    n, ones = np.bincount(same), np.bincount(same, bunch.target)
    agreeing = (ones * (ones - 1) + (n - ones) * (n - ones - 1)).sum() / (n * (n - 1)).sum()
    by_chance = bunch.target.mean() ** 2 + (1 - bunch.target.mean()) ** 2
    assert (round(agreeing, 2), round(by_chance, 2)) == (0.69, 0.65)
    assert "65 percent of the test rows" in bunch.DESCR
    assert "69 percent of cases, 65 by chance" in bunch.DESCR


def test_half_of_the_compas_rows_are_propublicas_under_the_same_names(tables):
    ours = tables["compas"].data.astype(np.int64)
    theirs = pd.read_csv(io.BytesIO(read_source(SOURCES["compas_two_years"])))
    theirs = theirs.rename(columns={"decile_score.1": "decile_score_1", "priors_count.1": "priors_count_1"})
    theirs["sex"] = theirs["sex"] == "Male"
    names = [column for column in ours.columns if column != "race"]
    theirs = theirs[[*names, "race"]].dropna().astype(dict.fromkeys(names, np.int64))
    unique = theirs.drop_duplicates().drop_duplicates(names, keep=False)  # one race under these values
    assert len(ours.merge(theirs[names].drop_duplicates(), on=names)) == 8201
    matched = ours.merge(unique, on=names, suffixes=("", "_name"))
    counts = matched.groupby("race")["race_name"].value_counts(normalize=True)
    assert counts[1, "African-American"] + counts[1, "Hispanic"] > 0.95
    assert counts[0, "Caucasian"] > 0.92
