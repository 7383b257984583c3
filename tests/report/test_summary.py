"""Trials to rows, rows to sentences."""

import json

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from fairkernel.report.summary import corrected_interval, describe_choices, sentences, show_interval, summarise


def row_of(summary, method):
    return next(row for row in summary["rows"] if row["method"] == method)


def test_rows_come_in_the_order_of_the_trials(summary, trials):
    assert [row["method"] for row in summary["rows"]] == [trial["method"] for trial in trials[:5]]


def test_estimates_are_means_over_splits(summary):
    row = row_of(summary, "plain kernel ridge")
    assert row["statistical_disparity"]["estimate"] == pytest.approx(0.30)
    assert row["error"]["estimate"] == pytest.approx(0.11)
    assert row["group_positive_rates"] == pytest.approx({"a": 0.45, "b": 0.75})
    assert row["noise_floor"] == pytest.approx(0.05)


def test_without_overlap_the_interval_is_that_of_the_t_test():
    values = [0.21, 0.25, 0.22, 0.27]
    low, high = stats.t.interval(0.9, len(values) - 1, np.mean(values), stats.sem(values))
    found = corrected_interval(values, 0.0, 0.9)
    assert (found["low"], found["high"]) == pytest.approx((low, high))


def test_overlap_widens_the_interval_by_the_correction_of_nadeau_and_bengio():
    values = [0.21, 0.25, 0.22, 0.27]
    naive, corrected = (corrected_interval(values, ratio, 0.95) for ratio in (0.0, 1 / 3))
    ratio = (corrected["high"] - corrected["low"]) / (naive["high"] - naive["low"])
    assert ratio == pytest.approx(np.sqrt((1 / 4 + 1 / 3) / (1 / 4)))


@given(st.lists(st.floats(0, 1), min_size=2, max_size=30), st.floats(0, 3), st.floats(0.5, 0.999))
def test_an_interval_holds_its_estimate_and_stays_between_zero_and_one(values, ratio, level):
    found = corrected_interval(values, ratio, level)
    assert 0 <= found["low"] <= found["estimate"] <= found["high"] <= 1


def test_one_split_has_no_interval():
    with pytest.raises(ValueError, match="an interval over splits needs at least 2 splits; got 1"):
        corrected_interval([0.1], 1 / 3, 0.95)


def test_the_same_value_in_every_split_is_shown_without_interval():
    assert show_interval(corrected_interval([0.1, 0.1, 0.1], 1 / 3, 0.95)) == "0.100"


def test_a_disparity_is_compared_with_its_floor(summary):
    assert {row["method"]: row["beside_floor"] for row in summary["rows"]} == {
        "constant": "constant",
        "plain kernel ridge": "above",
        "disparity_kept 0": "within",
        "FKR-F²E exact": "within",
        "FKR-F²E as printed": "above",
    }


def test_the_first_sentence_has_the_disparities_their_floors_and_the_errors(summary):
    first, _ = sentences(summary)
    for part in (
        "Plain kernel ridge has a measured disparity (SD) of 0.300 [",
        "which is above the 0.050 that chance alone would show",
        "disparity_kept 0 has a measured disparity (SD) of 0.050 [",
        "which cannot be told from the 0.040 that chance alone would show",
        "the error goes from 0.110 to 0.190.",
    ):
        assert part in first


def test_the_second_sentence_compares_with_the_constant(summary):
    _, second = sentences(summary, ["denied", "approved"])
    assert second.startswith("Predicting approved for everyone has no disparity and an error of 0.200: ")
    assert "lies below that is found only for plain kernel ridge, and" in second
    assert second.endswith("disparity_kept 0 predicts approved for 70.0% of the rows.")


@pytest.mark.parametrize(
    ("errors", "verdict"),
    [
        ((0.3, 0.3, 0.3, 0.3), "no model has an interval of the error below that"),
        ((0.1, 0.1, 0.1, 0.1), "the interval of every model's error lies below that"),
        ((0.1, 0.1, 0.3, 0.1), "found only for plain kernel ridge, disparity_kept 0 and FKR-F²E as printed"),
    ],
)
def test_the_second_sentence_says_which_models_err_less(trials, errors, verdict):
    changed = [
        trial | {"error": errors[i % 5 - 1]} if trial["family"] != "constant" else trial
        for i, trial in enumerate(trials)
    ]
    assert verdict in sentences(summarise(changed, n_train=75, n_test=25))[1]


def test_a_model_that_treats_everyone_alike_is_said_to(trials):
    alike = {"positive_rate": 1.0, "statistical_disparity": 0.0}
    changed = [trial | alike if trial["disparity_kept"] == 0 else trial for trial in trials]
    first, _ = sentences(summarise(changed, n_train=75, n_test=25))
    assert "of 0.000, as everyone gets the same label" in first


def test_no_text_promises_more_than_a_measurement(summary):
    texts = " ".join([*sentences(summary), *summary["notes"]]).lower()
    assert "measured disparity" in texts
    for word in ("unbiased", "debias", "fair ", "fairness", "guarantee"):
        assert word not in texts


def test_the_notes_name_the_sizes_and_the_level(trials):
    notes = " ".join(summarise(trials, n_train=75, n_test=25, level=0.9)["notes"])
    for part in ("mean over 3 stratified splits (75 training, 25 test rows)", "90% corrected", "√(1/3 + 25/75)"):
        assert part in notes


def test_choices_are_counted_the_most_frequent_first():
    chosen = [
        {"split": i, "kernel": k, "alpha": a} for i, (k, a) in enumerate([("rbf", 1.0), ("rbf", 0.3), ("rbf", 0.3)])
    ]
    assert describe_choices(chosen) == {"kernel": "rbf in 3 of 3 splits", "alpha": "0.3 in 2 of 3 splits, 1 in 1"}


def test_a_summary_is_plain_data(summary):
    assert json.loads(json.dumps(summary, allow_nan=False)) == summary
