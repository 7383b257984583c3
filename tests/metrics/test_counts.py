"""Counts add, subtract and weigh rows as if all had been counted at once."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from sklearn.metrics import confusion_matrix

from fairkernel.metrics import GroupCounts

SUMS = ("rows", "weight", "weight_squared")
KINDS = ("positive", "error", "base", "true_positive", "false_positive")


def draw(n=300, seed=0):
    random = np.random.default_rng(seed)
    return {
        "y_true": random.integers(0, 2, n),
        "y_pred": random.integers(0, 2, n),
        "sensitive_features": random.choice(["a", "b", "c"], n),
        "sample_weight": random.uniform(0.5, 2.0, n),
    }


def count(data, rows=slice(None), **more):
    cut = {name: values[rows] for name, values in data.items()}
    return GroupCounts.from_predictions(cut.pop("y_true"), cut.pop("y_pred"), **cut, **more)


def assert_same(left, right):
    assert left.groups == right.groups
    for name in SUMS:
        np.testing.assert_allclose(getattr(left, name), getattr(right, name), rtol=1e-12, atol=1e-12)


@given(cuts=st.lists(st.integers(1, 299), min_size=1, max_size=4, unique=True), order=st.randoms())
def test_merging_counts_equals_counting_all_in_any_order(cuts, order):
    data = draw()
    parts = [count(data, rows) for rows in np.split(np.arange(300), sorted(cuts))]
    order.shuffle(parts)
    total = parts[0]
    for part in parts[1:]:
        total = total + part
    assert_same(total, count(data))


def test_merging_keeps_groups_that_only_one_chunk_has():
    one = GroupCounts.from_predictions([1, 0], [1, 1], sensitive_features=["b", "b"])
    other = GroupCounts.from_predictions([0], [0], sensitive_features=["a"])
    total = one + other
    assert total.groups == ("a", "b")
    assert total.rows.sum((1, 2)).tolist() == [1, 2]


def test_groups_that_do_not_compare_still_merge():
    one = GroupCounts.from_predictions([1, 0], [1, 1], sensitive_features=["b", "b"])
    other = GroupCounts.from_predictions([0], [0], sensitive_features=[3])
    assert (one + other).groups == (3, "b") == (other + one).groups


def test_subtracting_a_fold_equals_counting_the_remaining_rows():
    data = draw()
    assert_same(count(data) - count(data, slice(100)), count(data, slice(100, None)))


def test_a_group_subtracted_away_has_no_rate_rather_than_a_rounding_error():
    data = {
        "y_true": np.array([1, 0, 1, 1, 1]),
        "y_pred": np.array([1, 0, 1, 1, 1]),
        "sensitive_features": np.array(["a", "b", "c", "c", "c"]),
        "sample_weight": np.array([1.0, 1.0, 0.1, 0.2, 0.3]),
    }
    assert (0.1 + 0.2 + 0.3) - (0.2 + 0.3) - 0.1 > 0
    left = count(data) - count(data, slice(3, 5)) - count(data, slice(2, 3))
    assert left.groups == ("a", "b", "c")
    with pytest.raises(ValueError, match=r"group 'c' has no rows with positive weight: it has no rates"):
        left.rates("positive")


@given(times=hnp.arrays(np.int64, 40, elements=st.integers(1, 4)))
def test_integer_weights_equal_duplicated_rows(times):
    data = draw(40)
    data.pop("sample_weight")
    data["sensitive_features"] = np.tile(["a", "b"], 20)
    data["y_true"] = np.repeat([0, 1], 20)
    weighted = count(data | {"sample_weight": times})
    duplicated = count({name: np.repeat(values, times) for name, values in data.items()})
    for kind in KINDS:
        np.testing.assert_allclose(weighted.rates(kind), duplicated.rates(kind), rtol=1e-12)


def test_rows_of_weight_zero_are_absent():
    data = draw()
    absent = np.arange(300) % 3 == 0
    assert_same(count(data | {"sample_weight": data["sample_weight"] * ~absent}), count(data, ~absent))


def test_rates_follow_from_the_confusion_matrix():
    data = draw()
    counts = count({name: data[name] for name in ("y_true", "y_pred", "sensitive_features")})
    for g, group in enumerate(counts.groups):
        mine = data["sensitive_features"] == group
        (tn, fp), (fn, tp) = confusion_matrix(data["y_true"][mine], data["y_pred"][mine])
        expected = {
            "positive": (tp + fp) / mine.sum(),
            "error": (fp + fn) / mine.sum(),
            "base": (tp + fn) / mine.sum(),
            "true_positive": tp / (tp + fn),
            "false_positive": fp / (fp + tn),
        }
        assert {kind: counts.rates(kind)[g] for kind in KINDS} == pytest.approx(expected)


def test_pooled_counts_give_the_rates_of_all_rows():
    data = draw()
    weight = data["sample_weight"]
    pooled = count(data).pooled()
    assert pooled.rates("positive")[0] == pytest.approx(np.average(data["y_pred"], weights=weight))


def test_effective_sizes_are_rows_for_equal_weights_whatever_the_scale():
    data = draw() | {"sample_weight": np.full(300, 7.0)}
    counts = count(data)
    np.testing.assert_allclose(counts.effective_sizes(), counts.rows.sum((1, 2)))
    np.testing.assert_allclose(counts.effective_sizes("true_positive"), counts.rows[:, 1].sum(1))


def test_effective_size_matches_the_variance_of_a_weighted_proportion():
    random = np.random.default_rng(1)
    weight = random.exponential(size=60)
    n = GroupCounts.from_predictions(
        None, np.arange(60) % 2, sensitive_features=None, sample_weight=weight
    ).effective_sizes()[0]
    draws = (random.random((40_000, 60)) < 0.3) @ weight / weight.sum()
    assert draws.var() == pytest.approx(0.3 * 0.7 / n, rel=0.03)


def test_a_chunk_that_shows_only_zeros_merges_with_the_others():
    chunk = GroupCounts.from_predictions([0, 0], [0, 0], sensitive_features=["a", "b"])
    other = GroupCounts.from_predictions([1, 0], [1, 1], sensitive_features=["a", "b"])
    assert (chunk + other).labels == (0, 1)
    assert (chunk + other).rates("positive").tolist() == [0.5, 0.5]


def test_refusals_name_what_does_not_fit():
    one = GroupCounts.from_predictions([1, 0], [1, 1], sensitive_features=["a", "b"])
    text = GroupCounts.from_predictions(["no", "yes"], ["no", "yes"], sensitive_features=["a", "b"])
    no_truth = GroupCounts.from_predictions(None, [1, 1], sensitive_features=["a", "b"])
    with pytest.raises(ValueError, match=r"counts of different labels cannot be combined: .*'yes'"):
        one + text
    with pytest.raises(ValueError, match="counts with and without true labels cannot be combined"):
        one - no_truth
    with pytest.raises(ValueError, match="cannot subtract counts of rows that are not in the total"):
        one - (one + one)
    with pytest.raises(ValueError, match="cannot subtract counts of rows that are not in the total"):
        one - GroupCounts.from_predictions([1], [1], sensitive_features=["z"])
    with pytest.raises(ValueError, match=r"kind must be one of positive, error, .*; got 'recall'"):
        one.rates("recall")
    with pytest.raises(ValueError, match="the error rate needs y_true; got None"):
        no_truth.rates("error")
    with pytest.raises(ValueError, match="one group only \\('a'\\): a disparity needs at least two groups"):
        GroupCounts.from_predictions([1], [1], sensitive_features=["a"]).difference("positive")
    with pytest.raises(TypeError):
        one + 1
    with pytest.raises(TypeError):
        one - 1
