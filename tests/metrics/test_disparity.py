"""Disparities against their definitions, fairlearn, scikit-learn and SciPy."""

import warnings

import fairlearn.metrics as fairlearn
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
import sklearn
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import ks_2samp, wasserstein_distance
from sklearn.dummy import DummyClassifier
from sklearn.metrics import make_scorer, zero_one_loss

from fairkernel import FairKernelClassifier
from fairkernel.exceptions import FairKernelWarning
from fairkernel.metrics import (
    correlation_disparity,
    covariance_disparity,
    distribution_disparity,
    error_rate,
    mean_disparity,
    odds_difference,
    opportunity_difference,
    pairwise_disparity,
    positive_rate,
    statistical_disparity,
)

OF_DECISIONS = (statistical_disparity, opportunity_difference, odds_difference)
OF_SCORES = (mean_disparity, distribution_disparity)


def draw(n=200, seed=0, groups=("a", "b", "c")):
    random = np.random.default_rng(seed)
    s = random.choice(groups, n)
    y = random.integers(0, 2, n)
    p = np.where(random.random(n) < 0.6, y, random.random(n) < 0.2 + 0.3 * (s == groups[0])).astype(int)
    return y, p, s, random.uniform(0.5, 2.0, n)


datasets = st.integers(0, 10_000).map(lambda seed: draw(120, seed))


def test_statistical_disparity_is_the_papers_SD():
    y, p, s, _ = draw(groups=(0, 1))
    SD = abs(p[s == 1].mean() - p[s == 0].mean())
    assert statistical_disparity(y, p, sensitive_features=s) == pytest.approx(SD, abs=1e-15)


@pytest.mark.parametrize("weighted", [False, True])
def test_decision_metrics_agree_with_fairlearn(weighted):
    y, p, s, w = draw()
    more = {"sensitive_features": s, "sample_weight": w if weighted else None}
    assert statistical_disparity(y, p, **more) == pytest.approx(fairlearn.demographic_parity_difference(y, p, **more))
    assert odds_difference(y, p, **more) == pytest.approx(fairlearn.equalized_odds_difference(y, p, **more))
    assert opportunity_difference(y, p, **more) == pytest.approx(fairlearn.equal_opportunity_difference(y, p, **more))
    weight = more["sample_weight"]
    assert positive_rate(y, p, sample_weight=weight) == pytest.approx(
        fairlearn.selection_rate(y, p, sample_weight=weight)
    )


def test_intersections_of_two_columns_agree_with_fairlearn():
    y, p, s, _ = draw()
    both = pd.DataFrame({"race": s, "sex": np.tile(["f", "m"], 100)})
    assert statistical_disparity(y, p, sensitive_features=both) == pytest.approx(
        fairlearn.demographic_parity_difference(y, p, sensitive_features=both)
    )


def test_error_rate_agrees_with_scikit_learn_for_any_number_of_classes():
    random = np.random.default_rng(3)
    y, p, w = random.integers(0, 4, 100), random.integers(0, 4, 100), random.random(100)
    assert error_rate(y, p) == pytest.approx(zero_one_loss(y, p))
    assert error_rate(y, p, w) == pytest.approx(zero_one_loss(y, p, sample_weight=w))


def test_distances_agree_with_scipy():
    random = np.random.default_rng(4)
    s = np.repeat([0, 1], [70, 90])
    f = np.round(random.normal(size=160) + s, 1)  # rounding makes ties, within and between groups
    w = random.uniform(0.5, 2, 160)
    ks, w1 = distribution_disparity(None, f, sensitive_features=s)
    assert ks == pytest.approx(ks_2samp(f[s == 0], f[s == 1]).statistic, abs=1e-12)
    assert w1 == pytest.approx(wasserstein_distance(f[s == 0], f[s == 1]), abs=1e-12)
    weighted = distribution_disparity(None, f, sensitive_features=s, sample_weight=w)
    expected = wasserstein_distance(f[s == 0], f[s == 1], w[s == 0], w[s == 1])
    assert weighted.w1 == pytest.approx(expected, abs=1e-12)


def test_weighted_ks_equals_ks_of_duplicated_rows():
    random = np.random.default_rng(5)
    s, f, times = np.tile([0, 1], 30), random.normal(size=60), random.integers(1, 5, 60)
    twice, group = np.repeat(f, times), np.repeat(s, times)
    weighted = distribution_disparity(None, f, sensitive_features=s, sample_weight=times)
    assert weighted.ks == pytest.approx(ks_2samp(twice[group == 0], twice[group == 1]).statistic, abs=1e-12)


def test_of_several_groups_the_largest_pair_counts():
    s = np.repeat(["a", "b", "c"], 2)
    f = np.array([0.0, 2.0, 4.0, 6.0, 10.0, 12.0])
    assert mean_disparity(None, f, sensitive_features=s) == 10.0
    assert distribution_disparity(None, f, sensitive_features=s) == (1.0, 10.0)
    assert statistical_disparity(None, f > 3, sensitive_features=s) == 1.0


@given(datasets)
def test_the_largest_pair_of_all_pairs_is_the_disparity(data):
    y, p, s, w = data
    more = {"sensitive_features": s, "sample_weight": w}
    pairs = pairwise_disparity(y, p, **more)
    assert len(pairs) == 3
    assert max(map(abs, pairs.values())) == pytest.approx(statistical_disparity(y, p, **more))
    rates = {g: np.average(p[s == g], weights=w[s == g]) for g in "abc"}
    assert pairs == pytest.approx({(a, b): rates[a] - rates[b] for a, b in pairs})


@given(datasets, st.randoms(use_true_random=False))
def test_row_order_changes_nothing(data, random):
    order = list(range(120))
    random.shuffle(order)
    shuffled = [values[order] for values in data]
    for metric in (*OF_DECISIONS, *OF_SCORES):
        (y, p, s, w), (y2, p2, s2, w2) = data, shuffled
        before = metric(y, p, sensitive_features=s, sample_weight=w)
        assert metric(y2, p2, sensitive_features=s2, sample_weight=w2) == pytest.approx(before, abs=1e-12)


@given(datasets, st.permutations(["x", "y", "z"]))
def test_renaming_groups_changes_no_disparity(data, names):
    y, p, s, w = data
    renamed = np.array(names)[np.searchsorted(["a", "b", "c"], s)]
    for metric in (*OF_DECISIONS, *OF_SCORES):
        before = metric(y, p, sensitive_features=s, sample_weight=w)
        assert metric(y, p, sensitive_features=renamed, sample_weight=w) == pytest.approx(before, abs=1e-12)


@given(datasets)
def test_swapping_the_labels_keeps_sd_and_turns_the_pairs_around(data):
    y, p, s, _ = data
    assert statistical_disparity(y, 1 - p, sensitive_features=s) == pytest.approx(
        statistical_disparity(y, p, sensitive_features=s)
    )
    before = pairwise_disparity(y, p, sensitive_features=s)
    swapped = pairwise_disparity(y, p, sensitive_features=s, pos_label=0)
    assert swapped == pytest.approx({pair: -gap for pair, gap in before.items()})
    assert odds_difference(1 - y, 1 - p, sensitive_features=s) == pytest.approx(
        odds_difference(y, p, sensitive_features=s)
    )


@given(datasets, st.integers(0, 100))
def test_integer_weights_equal_duplicated_rows(data, seed):
    y, p, s, _ = data
    times = np.random.default_rng([seed, 1]).integers(0, 4, 120)  # not the stream of the data
    y2, p2, s2 = (np.repeat(values, times) for values in (y, p, s))
    for metric in (*OF_DECISIONS, *OF_SCORES):
        expected = metric(y2, p2, sensitive_features=s2)
        found = metric(y, p, sensitive_features=s, sample_weight=times)
        assert found == pytest.approx(expected, abs=1e-12)


@pytest.mark.parametrize("metric", [*OF_SCORES, statistical_disparity])
def test_a_constant_prediction_has_no_disparity(metric):
    _, _, s, w = draw()
    assert np.max(metric(None, np.ones(200), sensitive_features=s, sample_weight=w)) == pytest.approx(0, abs=1e-12)


def test_a_constant_prediction_of_zeros_has_positive_rate_zero():
    assert positive_rate(None, [0, 0, 0]) == 0.0
    assert positive_rate(None, [-1, -1]) == 0.0
    assert positive_rate(None, [True, True]) == 1.0
    assert positive_rate(["no", "yes"], ["no", "no"]) == 0.0


def test_a_single_label_is_positive_by_convention_and_the_larger_of_two_otherwise():
    assert positive_rate(None, [1, 1, 1]) == 1.0
    assert positive_rate([1, 0, 1], [1, 1, 1]) == 1.0
    assert positive_rate([1, 2, 1], [1, 1, 1]) == 0.0
    with pytest.raises(ValueError, match="every row has the label 2: which label counts as positive cannot be told"):
        positive_rate(None, [2, 2, 2])


@pytest.mark.parametrize("labels", [("no", "yes"), (-1, 1), (1, 2), (False, True), (0.0, 1.0)])
def test_the_larger_label_is_positive(labels):
    y, p, s, _ = draw()
    named = np.array(labels)
    expected = pairwise_disparity(y, p, sensitive_features=s)
    assert pairwise_disparity(named[y], named[p], sensitive_features=s) == pytest.approx(expected)
    lists = pairwise_disparity(named[y].tolist(), named[p].tolist(), sensitive_features=s.tolist())
    assert lists == pytest.approx(expected)


@pytest.mark.parametrize("container", [pd.Series, pl.Series, pa.array, list, lambda v: pd.Series(v, dtype=object)])
def test_every_container_gives_the_same_numbers(container):
    y, p, s, w = draw()
    boxed = [container(values.tolist()) for values in (y, p, s, w)]
    for metric in (*OF_DECISIONS, *OF_SCORES):
        expected = metric(y, p, sensitive_features=s, sample_weight=w)
        assert metric(*boxed[:2], sensitive_features=boxed[2], sample_weight=boxed[3]) == expected


def test_nullable_and_categorical_pandas_columns_are_read():
    y, p, s, _ = draw()
    expected = odds_difference(y, p, sensitive_features=s)
    assert odds_difference(pd.Series(y, dtype="Int64"), pd.Series(p, dtype="boolean"), sensitive_features=s) == expected
    words = pd.Series(np.array(["no", "yes"])[p], dtype="category")
    assert statistical_disparity(None, words, sensitive_features=s) == statistical_disparity(
        None, p, sensitive_features=s
    )


def test_arrays_of_other_libraries_are_read():
    strict = pytest.importorskip("array_api_strict")
    y, p, s, _ = draw()
    found = odds_difference(strict.asarray(y), strict.asarray(p), sensitive_features=s)
    assert found == odds_difference(y, p, sensitive_features=s)


def test_metrics_serve_as_scikit_learn_scorers_with_routed_groups():
    y, _, s, _ = draw()
    model = DummyClassifier(strategy="uniform", random_state=0).fit(np.zeros((200, 1)), y)
    with sklearn.config_context(enable_metadata_routing=True):
        scorer = make_scorer(statistical_disparity, greater_is_better=False).set_score_request(sensitive_features=True)
        score = scorer(model, np.zeros((200, 1)), y, sensitive_features=s)
    expected = statistical_disparity(y, model.predict(np.zeros((200, 1))), sensitive_features=s)
    assert score == -expected
    assert expected > 0


def test_correlation_agrees_with_numpy_and_takes_the_largest_column():
    random = np.random.default_rng(6)
    s = random.normal(size=(80, 2))
    f = 0.3 * s[:, 0] - 0.8 * s[:, 1] + random.normal(size=80)
    expected = max(abs(np.corrcoef(f, s[:, j])[0, 1]) for j in (0, 1))
    assert correlation_disparity(None, f, sensitive_features=s) == pytest.approx(expected)
    times = random.integers(0, 4, 80)
    duplicated = correlation_disparity(None, np.repeat(f, times), sensitive_features=np.repeat(s, times, axis=0))
    assert correlation_disparity(None, f, sensitive_features=s, sample_weight=times) == pytest.approx(duplicated)


@pytest.mark.parametrize("weighted", [False, True])
def test_covariance_is_with_the_standardised_attribute_and_takes_the_largest_column(weighted):
    random = np.random.default_rng(8)
    age, income = 40 + 12 * random.normal(size=90), np.exp(random.normal(size=90))
    f = 0.02 * age - 0.5 * np.log(income) + random.normal(size=90)
    times = random.integers(0, 4, 90) if weighted else np.ones(90, int)
    rows = np.repeat(np.arange(90), times)
    expected = max(
        abs(np.mean((f[rows] - f[rows].mean()) * (s[rows] - s[rows].mean())) / s[rows].std()) for s in (age, income)
    )
    found = covariance_disparity(None, f, sensitive_features=np.column_stack([age, income]), sample_weight=times)
    assert found == pytest.approx(expected)


@pytest.mark.parametrize("weighted", [False, True])
def test_covariance_of_decisions_is_what_a_classifier_reports_of_a_continuous_attribute(weighted):
    random = np.random.default_rng(9)
    X = random.normal(size=(300, 3))
    age = 40 + 10 * X[:, 0] + 5 * random.normal(size=300)
    y = (X.sum(axis=1) + random.normal(size=300) > 0).astype(int)
    weight = random.integers(0, 3, 300).astype(float) if weighted else None
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", FairKernelWarning)
        model = FairKernelClassifier(max_decision_gap=0.05, random_state=0).fit(X, y, sensitive_features=age)
        measured = model.measure_decision_gap(X, sensitive_features=age, sample_weight=weight)
    found = covariance_disparity(None, model.predict(X), sensitive_features=age, sample_weight=weight)
    assert found == pytest.approx(measured.estimate, abs=1e-12)
    assert found > 0.01


def test_per_standard_deviation_of_a_normal_attribute_linear_rates_differ_by_the_covariance():
    random = np.random.default_rng(10)
    s = random.normal(size=200_000)
    decisions = random.random(200_000) < np.clip(0.5 + 0.1 * s, 0, 1)
    found = covariance_disparity(None, decisions, sensitive_features=s)
    near = [decisions[np.abs(s - at) < 0.1].mean() for at in (0.0, 1.0)]
    assert found == pytest.approx(near[1] - near[0], abs=0.02)
    assert found == pytest.approx(0.1, abs=0.005)


def test_text_labels_are_told_how_to_be_compared_with_a_continuous_attribute():
    with pytest.raises(ValueError, match="pass which rows have the positive one, as y_pred == label"):
        covariance_disparity(None, ["no", "yes"] * 10, sensitive_features=np.arange(20.0))


def test_a_constant_prediction_has_no_correlation():
    random = np.random.default_rng(7)
    for constant in random.random(20):  # of some, the weighted mean is off by a rounding error
        weight = random.random(20)
        found = correlation_disparity(
            None, np.full(20, constant), sensitive_features=np.arange(20.0), sample_weight=weight
        )
        assert found == 0.0
        assert covariance_disparity(None, np.full(20, constant), sensitive_features=np.arange(20.0)) == 0.0


@pytest.mark.parametrize("metric", OF_DECISIONS)
@pytest.mark.parametrize(
    ("change", "error", "message"),
    [
        (
            {"y_pred": [0.2, 0.7, 0.3, 0.9]},
            ValueError,
            "y_pred holds scores .such as 0.2., not class labels.*mean_disparity",
        ),
        ({"y_true": [0.5, 1, 0, 1]}, ValueError, "y_true holds scores"),
        ({"y_pred": [0, 1, 2, 1]}, ValueError, r"two class labels are needed; got 3 \(0, 1, 2\)"),
        ({"pos_label": 7}, ValueError, r"two class labels are needed; got 3 \(0, 1, 7\)"),
        ({"y_pred": [0, 1, np.nan, 1]}, ValueError, r"y_pred has 1 missing or infinite values \(first rows 2\)"),
        ({"y_pred": [0, 1, None, 1]}, ValueError, "y_pred has 1 missing or infinite values"),
        ({"y_pred": ["a", "b", None, "b"]}, ValueError, "y_pred has 1 missing or infinite values"),
        ({"y_true": pd.array([0, 1, None, 1], dtype="Int64")}, ValueError, "y_true has 1 missing"),
        (
            {"y_pred": np.ma.array([0, 1, 0, 1], mask=[0, 0, 0, 1])},
            ValueError,
            r"y_pred has 1 missing.*\(first rows 3\)",
        ),
        ({"y_pred": [0, 1, 0]}, ValueError, "y_true has 4 rows but y_pred has 3"),
        ({"sensitive_features": ["a", "b"]}, ValueError, "sensitive_features has 2 rows but y_pred has 4"),
        ({"sensitive_features": ["a"] * 4}, ValueError, r"one group only \('a'\)"),
        ({"sensitive_features": None}, TypeError, "sensitive_features is missing: pass one value per row, as metric"),
        (
            {"sensitive_features": ["a", None, "b", "b"]},
            ValueError,
            r"sensitive_features has missing values: .*1 missing \(first rows 1\)\. Leave these rows out, or give them "
            r"a label of their own, such as 'missing'\.$",
        ),
        ({"y_pred": [["0", "1"]] * 4}, ValueError, r"y_pred must be one non-empty column.*got shape \(4, 2\)"),
        ({"y_pred": []}, ValueError, r"y_pred must be one non-empty column.*got shape \(0,\)"),
        ({"y_pred": ["a", "b", "a", "b"]}, ValueError, "y_true and y_pred use different kinds of labels"),
        ({"y_pred": ["a", 1, "a", 1]}, ValueError, "y_pred mixes values of type int, str"),
        ({"sample_weight": [1, -1, 1, 1]}, ValueError, r"sample_weight has 1 negative values \(first row 1\)"),
        ({"sample_weight": [0, 0, 0, 0]}, ValueError, "sample_weight is zero in every row"),
        ({"sample_weight": [1, 1]}, ValueError, "sample_weight has 2 rows but y_pred has 4"),
        ({"sample_weight": ["x"] * 4}, ValueError, "sample_weight must be numbers; got values such as 'x'"),
        ({"sample_weight": [0, 1, 0, 1]}, ValueError, "group 'a' has no rows with positive weight"),
    ],
)
def test_decision_metrics_refuse_wrong_input(metric, change, error, message):
    good = {"y_true": [0, 0, 1, 1], "y_pred": [0, 1, 0, 1], "sensitive_features": ["a", "b", "a", "b"]}
    assert metric(good["y_true"], good["y_pred"], sensitive_features=good["sensitive_features"]) == 1.0
    data = good | change
    with pytest.raises(error, match=message):
        metric(data.pop("y_true"), data.pop("y_pred"), **data)


def test_a_class_missing_in_a_group_names_group_and_class():
    y, p, s = ["no", "yes", "no", "no"], ["no", "yes", "yes", "no"], ["a", "a", "b", "b"]
    with pytest.raises(ValueError, match="group 'b' has no rows of class 'yes' in y_true: its true positive rate"):
        opportunity_difference(y, p, sensitive_features=s)
    with pytest.raises(ValueError, match="group 'b' has no rows of class 'no' in y_true: its false positive rate"):
        odds_difference(["no", "yes", "yes", "yes"], p, sensitive_features=s)
    with pytest.raises(ValueError, match="the true_positive rate needs y_true; got None"):
        opportunity_difference(None, p, sensitive_features=s)


def test_one_label_only_needs_to_be_told_which_is_positive():
    with pytest.raises(
        ValueError, match=r"every row has the label 'no': which label counts as positive.*Pass pos_label"
    ):
        positive_rate(None, ["no", "no"])
    assert positive_rate(None, ["no", "no"], pos_label="yes") == 0.0


def test_a_continuous_attribute_is_refused_where_groups_are_needed_and_the_other_way_round():
    age, f = np.arange(20.0), np.arange(20.0)
    message = "is continuous and forms no groups.*correlation_disparity"
    with pytest.raises(ValueError, match=message):
        statistical_disparity(None, f > 3, sensitive_features=age)
    for metric in OF_SCORES:
        with pytest.raises(ValueError, match=message):
            metric(None, f, sensitive_features=age)
    with pytest.raises(ValueError, match=r"holds groups, not a continuous attribute\. Use mean_disparity"):
        correlation_disparity(None, f, sensitive_features=["a", "b"] * 10)
    with pytest.raises(ValueError, match="is constant in the rows with positive weight"):
        correlation_disparity(None, f, sensitive_features=age, sample_weight=(age == 3).astype(float))


@pytest.mark.parametrize("metric", OF_SCORES)
@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"y_pred": ["x", "y", "x", "y"]}, "y_pred must be numbers; got values such as 'x'.*use statistical_disparity"),
        ({"y_pred": [1.0, np.inf, 2.0, 3.0]}, r"y_pred has 1 missing or infinite values \(first rows 1\)"),
        ({"y_pred": [[1.0, 2.0]] * 4}, "y_pred must be one non-empty column.*one output at a time"),
        ({"y_true": [1.0]}, "y_true has 1 rows but y_pred has 4"),
        ({"sample_weight": [1, 0, 1, 0]}, "group 'b' has no rows with positive weight: no mean"),
    ],
)
def test_score_metrics_refuse_wrong_input(metric, change, message):
    data = {"y_true": None, "y_pred": [1.0, 2.0, 3.0, 4.0], "sensitive_features": ["a", "b", "a", "b"]} | change
    with pytest.raises(ValueError, match=message):
        metric(data.pop("y_true"), data.pop("y_pred"), **data)


def test_pandas_rows_in_another_order_are_refused():
    p = pd.Series([0, 1, 0, 1])
    s = pd.Series(["a", "b", "a", "b"])
    with pytest.raises(ValueError, match="the index of sensitive_features differs"):
        statistical_disparity(None, p, sensitive_features=s[::-1])
    with pytest.raises(ValueError, match="the index of y_true differs"):
        odds_difference(p[::-1], p, sensitive_features=s)
    with pytest.raises(ValueError, match="the index of y_true differs"):
        error_rate(p[::-1], p)
    with pytest.raises(ValueError, match="the index of sample_weight differs"):
        mean_disparity(None, p, sensitive_features=s, sample_weight=pd.Series([1, 2, 3, 4], index=[3, 2, 1, 0]))
