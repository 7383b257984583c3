"""The report repeats the metrics in plain values and says what stands out."""

import json
import re

import numpy as np
import pandas as pd
import pytest
from sklearn.metrics import r2_score, root_mean_squared_error

from fairkernel.metrics import (
    distribution_disparity,
    error_rate,
    fairness_report,
    interval,
    mean_disparity,
    odds_difference,
    opportunity_difference,
    pairwise_disparity,
    parity_noise_floor,
    positive_rate,
    statistical_disparity,
)


def draw(n=400, seed=0):
    random = np.random.default_rng(seed)
    s = random.choice(["a", "b", "c"], n)
    y = random.integers(0, 2, n)
    p = np.where(random.random(n) < 0.6, y, random.random(n) < 0.2 + 0.5 * (s == "a")).astype(int)
    return y, p, s, random.uniform(0.5, 2, n)


def amounts(n=400, seed=0):
    _, _, s, w = draw(n, seed)
    random = np.random.default_rng(seed + 1)
    y = random.normal(size=n) + (s == "a")
    return y, 0.7 * y + 0.3 * random.normal(size=n), s, w


def notes(report):
    return " ".join(report["notes"])


def assert_plain(value):
    """Exactly the types of JSON: a NumPy number is a float to isinstance, but not here."""
    assert type(value) in (dict, list, str, int, float, bool, type(None)), repr(value)
    if type(value) in (dict, list):
        for inner in value.values() if type(value) is dict else value:
            assert_plain(inner)


@pytest.mark.parametrize("weighted", [False, True])
def test_reports_are_plain_values_that_survive_json(weighted):
    (y, p, s, w), (t, f, _, _) = draw(), amounts()
    weight = w if weighted else None
    for report in (
        fairness_report(y, p, sensitive_features=s, y_score=f, sample_weight=weight),
        fairness_report(t, f, sensitive_features=s, sample_weight=weight),
    ):
        assert_plain(report)
        assert json.loads(json.dumps(report, allow_nan=False)) == report


@pytest.mark.parametrize("weighted", [False, True])
def test_classification_report_repeats_the_metrics(weighted):
    y, p, s, w = draw()
    weight = w if weighted else None
    more = {"sensitive_features": s, "sample_weight": weight}
    report = fairness_report(y, p, **more)
    assert report["task"] == "classification"
    assert (report["negative_label"], report["positive_label"]) == ("0", "1")
    for metric in (statistical_disparity, opportunity_difference, odds_difference):
        found = interval(metric, y, p, **more)
        assert report[metric.__name__] == pytest.approx({"estimate": found[0], "low": found[1], "high": found[2]})
    for name, metric in {"error": error_rate, "positive_rate": positive_rate}.items():
        found = interval(metric, y, p, sample_weight=weight)
        assert report[name] == pytest.approx({"estimate": found[0], "low": found[1], "high": found[2]})
    pairs = {tuple(pair["groups"]): pair["difference"] for pair in report["pairs"]}
    assert pairs == pytest.approx(pairwise_disparity(y, p, **more))
    assert all(pair["low"] < pair["difference"] < pair["high"] for pair in report["pairs"])


def test_group_table_describes_each_group():
    y, p, s, w = draw()
    report = fairness_report(y, p, sensitive_features=s, sample_weight=w)
    assert [row["group"] for row in report["groups"]] == ["a", "b", "c"]
    for row in report["groups"]:
        mine = s == row["group"]
        assert row["n_rows"] == mine.sum()
        assert row["weight"] == pytest.approx(w[mine].sum())
        assert row["n_effective"] == pytest.approx(w[mine].sum() ** 2 / (w[mine] ** 2).sum())
        assert row["base_rate"] == pytest.approx(np.average(y[mine], weights=w[mine]))
        expected = interval(error_rate, y[mine], p[mine], sample_weight=w[mine])
        assert row["error"] == pytest.approx({"estimate": expected[0], "low": expected[1], "high": expected[2]})
        assert row["positive_rate"]["estimate"] == pytest.approx(np.average(p[mine], weights=w[mine]))
        hit, false = mine & (y == 1), mine & (y == 0)
        assert row["true_positive_rate"] == pytest.approx(np.average(p[hit], weights=w[hit]))
        assert row["false_positive_rate"] == pytest.approx(np.average(p[false], weights=w[false]))


@pytest.mark.parametrize(
    ("ones", "prediction", "error", "rate"), [(100, "no", 0.25, 0.0), (300, "yes", 0.25, 1.0), (200, "yes", 0.5, 1.0)]
)
def test_constant_row_is_the_majority_class(ones, prediction, error, rate):
    y = np.where(np.arange(400) < ones, "yes", "no")
    report = fairness_report(y, y[::-1], sensitive_features=np.tile(["a", "b"], 200))
    assert report["constant"] == {
        "prediction": prediction,
        "error": error,
        "statistical_disparity": 0.0,
        "positive_rate": rate,
    }


def test_floor_uses_the_sizes_and_the_positive_rate():
    y, p, s, _ = draw()
    floor = fairness_report(y, p, sensitive_features=s, level=0.9)["noise_floor"]
    sizes = np.unique(s, return_counts=True)[1]
    assert floor["positive_rate"] == pytest.approx(p.mean())
    assert floor["expected"] == pytest.approx(parity_noise_floor(sizes, p.mean()))
    assert floor["quantile"] == pytest.approx(parity_noise_floor(sizes, p.mean(), quantile=0.9))


def test_a_gap_is_told_from_noise_and_noise_is_not():
    y, p, s, _ = draw()
    gap = fairness_report(y, p, sensitive_features=s)
    assert gap["distinguishable_from_parity"] is True
    assert re.search(
        r"measured statistical disparity is 0\.\d+ \(95% interval .*, more than 0\.\d+, which exact", notes(gap)
    )
    none = fairness_report(y, np.tile([0, 1], 200), sensitive_features=np.repeat(["a", "b"], 200))
    assert none["distinguishable_from_parity"] is False
    assert "these rows cannot tell it from parity, nor show parity" in notes(none)


def test_exact_parity_is_called_distinguishable_about_as_seldom_as_the_level_says():
    random = np.random.default_rng(5)
    s = np.repeat(["a", "b"], [70, 110])
    y = np.tile([0, 1], 90)
    called = [
        fairness_report(y, random.random(180) < 0.3, sensitive_features=s)["distinguishable_from_parity"]
        for _ in range(100)
    ]
    assert 0 < np.mean(called) <= 0.11


def test_a_missing_class_is_left_out_with_the_reason():
    y = np.array([1, 0] * 50 + [0] * 50)
    p = np.tile([1, 0, 1], 50)
    report = fairness_report(y, p, sensitive_features=np.repeat(["a", "b"], [100, 50]))
    assert report["opportunity_difference"] is None
    assert report["odds_difference"] is None
    assert report["undefined"].keys() == {"opportunity_difference", "odds_difference"}
    assert "group 'b' has no rows of class 1 in y_true" in report["undefined"]["opportunity_difference"]
    assert report["groups"][1]["true_positive_rate"] is None
    assert report["groups"][1]["false_positive_rate"] == pytest.approx(p[100:].mean())
    assert "opportunity difference is left out: group 'b' has no rows of class 1" in notes(report)


def test_notes_say_when_the_prediction_is_constant_or_no_better():
    y, _, s, _ = draw()
    everyone = fairness_report(y, np.ones(400, int), sensitive_features=s)
    assert "All rows receive the same prediction" in notes(everyone)
    assert "is not distinguishably below the" in notes(everyone)
    perfect = fairness_report(y, y, sensitive_features=s)
    assert "distinguishably below" not in notes(perfect)


def test_notes_name_small_groups_and_effective_size():
    y, p, s, w = draw()
    s = np.where(np.arange(400) < 12, "few", s)
    report = fairness_report(y, p, sensitive_features=s, sample_weight=w)
    assert "Group few counts as 1" in notes(report)
    assert re.search(r"intervals rest on the effective size \d+ of 400 rows", notes(report))
    assert "effective size" not in notes(fairness_report(y, p, sensitive_features=s))


def test_scores_behind_labels_are_described_too():
    y, p, s, _ = draw()
    _, f, _, _ = amounts()
    scores = fairness_report(y, p, sensitive_features=s, y_score=f)["scores"]
    assert scores["mean_disparity"]["estimate"] == pytest.approx(mean_disparity(None, f, sensitive_features=s))
    assert (scores["ks"]["estimate"], scores["w1"]["estimate"]) == distribution_disparity(None, f, sensitive_features=s)
    assert [row["n_rows"] for row in scores["groups"]] == np.unique(s, return_counts=True)[1].tolist()


def test_scores_of_a_group_of_one_row_are_noted():
    report = fairness_report([1, 0, 1], [1, 0, 0], sensitive_features=["a", "a", "b"], y_score=[0.8, 0.1, 0.4])
    assert report["scores"]["mean_disparity"]["low"] is None
    assert "interval of mean disparity is left out: group 'b' has one row" in notes(report)


def test_intersections_are_named_by_their_parts():
    y, p, s, _ = draw()
    both = pd.DataFrame({"race": s, "sex": np.tile(["f", "m"], 200)})
    report = fairness_report(y, p, sensitive_features=both)
    assert [row["group"] for row in report["groups"]][:2] == ["a & f", "a & m"]


@pytest.mark.parametrize(
    ("groups", "names"),
    [
        ([("a & b", "c"), ("a", "b & c"), ("a", "d")], ["('a', 'b & c')", "a & d", "('a & b', 'c')"]),
        ([0, "0", "x"], ["0", "'0'", "x"]),
        ([0, "0", "'0'"], ["0", "'0'", '"\'0\'"']),
    ],
)
def test_groups_that_would_read_alike_are_told_apart(groups, names):
    y, p, _, _ = draw()
    t, f, _, _ = amounts()
    s = pd.DataFrame([group if isinstance(group, tuple) else (group,) for group in groups] * 200)[:400]
    for report in (
        fairness_report(y, p, sensitive_features=s),
        fairness_report(y, p, sensitive_features=s, y_score=f)["scores"],
        fairness_report(t, f, sensitive_features=s),
    ):
        assert sorted(row["group"] for row in report["groups"]) == sorted(names)
        assert {name for pair in report["pairs"] for name in pair["groups"]} == set(names)


@pytest.mark.parametrize("weighted", [False, True])
def test_regression_report_repeats_the_metrics(weighted):
    y, f, s, w = amounts()
    weight = w if weighted else None
    more = {"sensitive_features": s, "sample_weight": weight}
    report = fairness_report(y, f, **more)
    assert report["task"] == "regression"
    assert report["r2"] == pytest.approx(r2_score(y, f, sample_weight=weight))
    assert report["rmse"] == pytest.approx(root_mean_squared_error(y, f, sample_weight=weight))
    mean = interval(mean_disparity, y, f, **more)
    assert report["mean_disparity"] == pytest.approx({"estimate": mean[0], "low": mean[1], "high": mean[2]})
    assert report["target_mean_disparity"] == pytest.approx(mean_disparity(None, y, **more))
    again = interval(distribution_disparity, y, f, **more, method="bootstrap", n_resamples=200, random_state=0)
    for name in ("ks", "w1"):
        found = getattr(again, name)
        assert report[name] == {"estimate": found.estimate, "low": found.low, "high": found.high}
    average = np.average(y, weights=weight)
    assert report["constant"] == pytest.approx(
        {
            "prediction": average,
            "r2": 0.0,
            "rmse": np.sqrt(np.average((y - average) ** 2, weights=weight)),
            "mean_disparity": 0.0,
        }
    )
    first = s == "a"
    assert report["groups"][0]["mean_target"] == pytest.approx(
        np.average(y[first], weights=None if weight is None else w[first])
    )
    assert report["groups"][0]["rmse"] == pytest.approx(
        root_mean_squared_error(y[first], f[first], sample_weight=None if weight is None else w[first])
    )
    assert report["distinguishable_from_parity"] is True
    assert "in the unit of the prediction" in notes(report)


def test_regression_notes_say_when_nothing_is_learned():
    y, _, s, _ = amounts()
    noise = np.random.default_rng(9).normal(size=400)
    report = fairness_report(y, noise, sensitive_features=s)
    assert report["distinguishable_from_parity"] is False
    assert "The interval reaches zero" in notes(report)
    assert "for everyone, which has no disparity" in notes(report)


def test_a_group_of_one_row_leaves_the_interval_out_with_the_reason():
    report = fairness_report([1.5, 2.5, 3.5], [1.0, 2.0, 4.0], sensitive_features=["a", "a", "b"])
    assert report["mean_disparity"] == {"estimate": 2.5, "low": None, "high": None}
    assert "group 'b' has one row" in report["undefined"]["interval of mean_disparity"]
    assert report["groups"][1]["mean_prediction"] == {"estimate": 4.0, "low": None, "high": None}
    assert report["distinguishable_from_parity"] is None
    assert "2.5 (no interval)" in notes(report)
    json.dumps(report, allow_nan=False)


def test_a_constant_target_has_no_r2():
    report = fairness_report([1.5] * 4, [1.0, 2.0, 4.0, 3.0], sensitive_features=["a", "a", "b", "b"])
    assert report["r2"] is None
    assert "y_true is constant" in report["undefined"]["r2"]


def test_whole_numbers_are_amounts_only_when_told_so():
    ages, guess, s = [20, 30, 40, 50], [21.5, 33.0, 39.0, 45.0], ["a", "b", "a", "b"]
    with pytest.raises(ValueError, match=r"y_true has 4 distinct whole or text values.*pass task='regression'"):
        fairness_report(ages, guess, sensitive_features=s)
    assert fairness_report(ages, guess, sensitive_features=s, task="regression")["task"] == "regression"


@pytest.mark.parametrize(
    ("change", "error", "message"),
    [
        ({"y_true": None}, TypeError, "y_true is missing: a report compares errors and disparities"),
        ({"sensitive_features": None}, TypeError, "sensitive_features is missing"),
        ({"level": 95}, ValueError, "level must lie between 0 and 1, both left out; got 95"),
        ({"task": "ranking"}, ValueError, "task must be 'auto', 'classification' or 'regression'; got 'ranking'"),
        ({"y_pred": [0.1, 0.9, 0.2, 0.8]}, ValueError, "y_pred holds scores"),
        (
            {"y_true": [0.5, 1.5, 2.5, 3.5], "pos_label": 1},
            ValueError,
            "y_score and pos_label belong to classification",
        ),
        ({"y_score": [0.5, 0.5]}, ValueError, "y_score has 2 rows but y_pred has 4"),
        ({"n_resamples": 0, "y_score": [0.1, 0.2, 0.3, 0.4]}, ValueError, "n_resamples must be .* 1; got 0"),
        ({"task": "regression", "y_true": list("abab")}, ValueError, "y_true must be numbers; got values such as 'a'"),
    ],
)
def test_refusals_say_what_is_valid(change, error, message):
    data = {"y_true": [0, 1, 0, 1], "y_pred": [0, 1, 1, 1], "sensitive_features": ["a", "b", "a", "b"]} | change
    with pytest.raises(error, match=message):
        fairness_report(data.pop("y_true"), data.pop("y_pred"), **data)


def test_a_continuous_attribute_is_refused():
    age = np.arange(40.0)
    with pytest.raises(ValueError, match="is continuous and forms no groups"):
        fairness_report(age % 2, age % 2, sensitive_features=age)
    with pytest.raises(ValueError, match="is continuous and forms no groups"):
        fairness_report(age + 0.5, age, sensitive_features=age)
