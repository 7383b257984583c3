"""Intervals: known formulas first, then coverage in simulated worlds whose disparity is known."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import binomtest, ttest_ind

from fairkernel.metrics import (
    DistributionDisparity,
    Interval,
    correlation_disparity,
    covariance_disparity,
    distribution_disparity,
    error_rate,
    fairness_report,
    interval,
    mean_disparity,
    odds_difference,
    opportunity_difference,
    pairwise_disparity,
    positive_rate,
    statistical_disparity,
)

ANALYTIC = (statistical_disparity, opportunity_difference, odds_difference, error_rate, positive_rate, mean_disparity)


OF_ALL_ROWS = (error_rate, positive_rate)  # take no groups


def groups_for(metric, s):
    return {} if metric in OF_ALL_ROWS else {"sensitive_features": s}


def draw(n=240, seed=0, groups=("a", "b", "c")):
    random = np.random.default_rng(seed)
    s = random.choice(groups, n)
    y = random.integers(0, 2, n)
    p = np.where(random.random(n) < 0.6, y, random.random(n) < 0.2 + 0.3 * (s == groups[0])).astype(int)
    return y, p, s


def table(*successes_and_sizes):
    """Predictions and groups with the given numbers of positives."""
    p = np.concatenate([np.arange(n) < k for k, n in successes_and_sizes]).astype(int)
    return p, np.repeat(np.arange(len(successes_and_sizes)), [n for _, n in successes_and_sizes])


@pytest.mark.parametrize(("k", "n"), [(0, 12), (3, 12), (12, 12), (250, 1000)])
@pytest.mark.parametrize("level", [0.8, 0.95])
def test_shares_have_wilsons_interval(k, n, level):
    expected = binomtest(k, n).proportion_ci(level, method="wilson")
    wrong = (np.arange(n) < k).astype(int)
    for found in (
        interval(error_rate, np.zeros(n, int), wrong, level=level),
        interval(positive_rate, None, wrong, level=level),
    ):
        assert found[:3] == pytest.approx((k / n, expected.low, expected.high), abs=1e-12)
        assert found[3:] == (level, "analytic")


@pytest.mark.parametrize(
    ("first", "second", "low", "high"),
    [
        # Newcombe (1998), Statistics in Medicine 17, 873-890, table II, method 10.
        ((56, 70), (48, 80), 0.0524, 0.3339),
        ((9, 10), (3, 10), 0.1705, 0.8090),
        ((10, 10), (0, 20), 0.6791, 1.0000),
    ],
)
def test_two_groups_have_newcombes_interval(first, second, low, high):
    p, s = table(first, second)
    for swapped in (s, 1 - s):
        found = interval(statistical_disparity, None, p, sensitive_features=swapped)
        assert found[1:3] == pytest.approx((low, high), abs=5e-5)


def test_difference_of_means_has_welchs_interval():
    random = np.random.default_rng(1)
    f = np.concatenate([random.normal(2, 1, 12), random.normal(0, 3, 40)])
    s = np.repeat([0, 1], [12, 40])
    expected = ttest_ind(f[:12], f[12:], equal_var=False).confidence_interval(0.9)
    found = interval(mean_disparity, None, f, sensitive_features=s, level=0.9)
    assert found[:3] == pytest.approx((f[:12].mean() - f[12:].mean(), expected.low, expected.high))


def test_an_interval_across_zero_is_folded_to_start_at_zero():
    p, s = table((20, 40), (22, 44), (21, 40))
    found = interval(statistical_disparity, None, p, sensitive_features=s)
    pairs = fairness_report(p, p, sensitive_features=s)["pairs"]
    assert found.low == 0.0
    assert found.high == pytest.approx(max(max(-pair["low"], pair["high"]) for pair in pairs))
    assert found.estimate == pytest.approx(0.025)


def test_an_interval_away_from_zero_keeps_its_sign_and_its_lower_end():
    p, s = table((2, 40), (30, 40), (31, 40))
    found = interval(statistical_disparity, None, p, sensitive_features=s)
    pairs = fairness_report(p, p, sensitive_features=s)["pairs"]
    assert found.low == pytest.approx(max(-pair["high"] for pair in pairs))
    assert found.low > 0.4
    assert found.high == pytest.approx(max(-pair["low"] for pair in pairs))


@given(st.integers(0, 10_000), st.sampled_from(ANALYTIC))
def test_intervals_hold_their_estimate_and_grow_with_the_level(seed, metric):
    y, p, s = draw(seed=seed)
    found = [interval(metric, y, p, **groups_for(metric, s), level=level) for level in (0.5, 0.9, 0.99)]
    estimate = metric(y, p, **groups_for(metric, s))
    for one in found:
        assert one.estimate == pytest.approx(estimate)
        assert 0 <= one.low <= one.estimate <= one.high <= 1
    lows, highs = [one.low for one in found], [one.high for one in found]
    assert lows == sorted(lows, reverse=True)
    assert highs == sorted(highs)


@pytest.mark.parametrize("metric", ANALYTIC)
@pytest.mark.parametrize("method", ["analytic", "bootstrap"])
def test_the_scale_of_the_weights_changes_nothing(metric, method):
    y, p, s = draw()
    weight = np.random.default_rng(2).choice([1.0, 2.0, 4.0], 240)
    more = {**groups_for(metric, s), "method": method, "n_resamples": 20, "random_state": 0}
    once = interval(metric, y, p, sample_weight=weight, **more)
    assert interval(metric, y, p, sample_weight=8 * weight, **more)[:3] == pytest.approx(once[:3])
    equal = interval(metric, y, p, sample_weight=np.full(240, 3.0), **more)
    assert equal[:3] == pytest.approx(interval(metric, y, p, **more)[:3])


def test_unequal_weights_widen_the_interval():
    y, p, _ = draw()
    weight = np.where(np.arange(240) % 2, 0.1, 1.0)
    plain = interval(error_rate, y, p)
    weighted = interval(error_rate, y, p, sample_weight=weight)
    assert weighted.high - weighted.low > 1.2 * (plain.high - plain.low)


@pytest.mark.parametrize("metric", [statistical_disparity, mean_disparity, error_rate, opportunity_difference])
def test_bootstrap_and_formula_agree_on_many_rows(metric):
    y, p, s = draw(4000, groups=("a", "b"))
    formula = interval(metric, y, p, **groups_for(metric, s))
    again = interval(metric, y, p, **groups_for(metric, s), method="bootstrap", n_resamples=600, random_state=0)
    assert again.method == "bootstrap"
    width = formula.high - formula.low
    assert again.low == pytest.approx(formula.low, abs=0.1 * width)
    assert again.high == pytest.approx(formula.high, abs=0.1 * width)


def test_the_same_seed_gives_the_same_bootstrap():
    y, p, s = draw()
    more = {"sensitive_features": s, "method": "bootstrap", "n_resamples": 30}
    first, second, third = (interval(odds_difference, y, p, random_state=seed, **more) for seed in (1, 1, 2))
    assert first == second != third


def test_a_group_with_one_positive_row_never_loses_it_to_a_resample():
    y = np.array([1, 0, 0, 0, 0, 0] + [1, 0] * 10)
    p, s = np.arange(26) % 2, np.repeat(["a", "b"], [6, 20])
    for metric in (opportunity_difference, odds_difference):
        found = interval(metric, y, p, sensitive_features=s, method="bootstrap", n_resamples=50, random_state=0)
        assert found.low <= found.estimate == metric(y, p, sensitive_features=s)


def test_distribution_disparity_has_two_intervals():
    _, p, s = draw()
    f = p + np.random.default_rng(3).normal(size=240)
    found = interval(distribution_disparity, None, f, sensitive_features=s, method="bootstrap", random_state=0)
    assert isinstance(found, DistributionDisparity)
    for one, estimate in zip(found, distribution_disparity(None, f, sensitive_features=s), strict=True):
        assert isinstance(one, Interval)
        assert one.estimate == estimate
        assert 0 <= one.low < estimate < one.high


@pytest.mark.parametrize("metric", [distribution_disparity, correlation_disparity, covariance_disparity])
def test_without_a_method_what_has_no_formula_is_resampled(metric):
    random = np.random.default_rng(0)
    f = random.normal(size=100)
    s = random.integers(0, 2, 100) if metric is distribution_disparity else random.normal(size=100)
    more = {"sensitive_features": s, "n_resamples": 20, "random_state": 0}
    found = interval(metric, None, f, **more)
    assert found == interval(metric, None, f, method="bootstrap", **more)
    assert (found.ks if metric is distribution_disparity else found).method == "bootstrap"


def test_the_name_of_a_metric_serves_as_well_as_the_function():
    y, p, s = draw()
    by_name = interval("odds_difference", y, p, sensitive_features=s)
    assert by_name == interval(odds_difference, y, p, sensitive_features=s)


def test_groups_that_never_vary_have_an_interval_without_width():
    found = interval(mean_disparity, None, [1.0, 1.0, 3.0, 3.0], sensitive_features=["a", "a", "b", "b"])
    assert found[:3] == (2.0, 2.0, 2.0)


def test_no_positive_at_all_still_leaves_room_for_a_disparity():
    p, s = table((0, 30), (0, 30))
    found = interval(statistical_disparity, None, p, sensitive_features=s)
    assert found.low == 0.0
    assert found.high == pytest.approx(binomtest(0, 30).proportion_ci(method="wilson").high)


# ---- coverage: the share of simulated worlds whose interval holds the true value


def coverage(truth, worlds, **options):
    found = [interval(y_true=None, y_pred=p, sensitive_features=s, **options) for p, s in worlds]
    return np.mean([one.low <= truth <= one.high for one in found])


def rate_worlds(rates, sizes, replications, seed=0):
    random = np.random.default_rng(seed)
    return [table(*zip(random.binomial(sizes, rates), sizes, strict=True)) for _ in range(replications)]


@pytest.mark.parametrize(
    ("rates", "sizes"),
    [((0.3, 0.3), (60, 90)), ((0.12, 0.16), (60, 200)), ((0.2, 0.5), (50, 80)), ((0.05, 0.05), (80, 80))],
)
def test_analytic_interval_of_sd_covers_as_often_as_it_says(rates, sizes):
    covered = coverage(np.ptp(rates), rate_worlds(rates, sizes, 1500), metric=statistical_disparity, pos_label=1)
    assert 0.935 <= covered <= 0.99


def test_several_groups_are_covered_at_parity_and_away_from_it():
    for rates in ((0.3, 0.3, 0.3, 0.3), (0.2, 0.3, 0.5)):
        worlds = rate_worlds(rates, (60, 80, 100, 120)[: len(rates)], 1500)
        assert coverage(np.ptp(rates), worlds, metric=statistical_disparity, pos_label=1) >= 0.94


@pytest.mark.parametrize("rates", [(0.3, 0.3), (0.2, 0.5)])
def test_bootstrap_interval_of_sd_covers_as_often_as_it_says(rates):
    covered = coverage(
        np.ptp(rates),
        rate_worlds(rates, (80, 120), 150),
        metric=statistical_disparity,
        method="bootstrap",
        n_resamples=120,
        random_state=0,
    )
    assert 0.905 <= covered <= 0.995


def score_worlds(shift, sizes, replications, seed=0):
    random = np.random.default_rng(seed)
    s = np.repeat([0, 1], sizes)
    return [(random.normal(size=len(s)) * (1 + s) + shift * s, s) for _ in range(replications)]


@pytest.mark.parametrize("shift", [0.0, 0.3, 2.0])
def test_interval_of_the_mean_disparity_covers_as_often_as_it_says(shift):
    covered = coverage(shift, score_worlds(shift, (15, 60), 1500), metric=mean_disparity)
    assert 0.935 <= covered <= 0.985


@pytest.mark.parametrize("shift", [0.0, 1.0])
def test_bootstrap_of_distances_covers_at_least_as_often_as_it_says(shift):
    random = np.random.default_rng(0)
    s = np.repeat([0, 1], [60, 90])
    # Uniform on [0, 1] and on [shift/4, 1 + shift/4]: KS and W1 are both shift/4.
    more = {"sensitive_features": s, "method": "bootstrap", "n_resamples": 100, "random_state": 0}
    found = [interval(distribution_disparity, None, random.random(150) + s * shift / 4, **more) for _ in range(120)]
    for name in ("ks", "w1"):
        covered = [getattr(one, name).low <= shift / 4 <= getattr(one, name).high for one in found]
        assert np.mean(covered) >= 0.91


def test_bootstrap_of_a_correlation_covers_as_often_as_it_says():
    random = np.random.default_rng(1)
    covered = []
    for _ in range(150):
        s = random.normal(size=150)
        f = 0.6 * s + 0.8 * random.normal(size=150)
        more = {"sensitive_features": s, "method": "bootstrap", "n_resamples": 120, "random_state": 0}
        found = interval(correlation_disparity, None, f, **more)
        covered.append(found.low <= 0.6 <= found.high)
    assert 0.88 <= np.mean(covered) <= 0.995


def test_bootstrap_of_a_covariance_covers_as_often_as_it_says():
    random = np.random.default_rng(3)
    covered = []
    for _ in range(150):
        s = 40 + 12 * random.normal(size=150)
        f = 3 * (s - 40) / 12 + 4 * random.normal(size=150)
        found = interval(covariance_disparity, None, f, sensitive_features=s, n_resamples=120, random_state=0)
        covered.append(found.low <= 3 <= found.high)
    assert 0.88 <= np.mean(covered) <= 0.995


@pytest.mark.slow
@pytest.mark.parametrize("method", ["analytic", "bootstrap"])
@pytest.mark.parametrize("metric", [opportunity_difference, odds_difference])
def test_odds_and_opportunity_are_covered(metric, method):
    random = np.random.default_rng(2)
    n, covered = 400, []
    true_rate, false_rate = np.array([0.8, 0.65]), np.array([0.2, 0.25])
    for _ in range(600):
        s, y = random.integers(0, 2, n), random.integers(0, 2, n)
        p = (random.random(n) < np.where(y, true_rate[s], false_rate[s])).astype(int)
        found = interval(metric, y, p, sensitive_features=s, method=method, n_resamples=200, random_state=0)
        covered.append(found.low <= 0.15 <= found.high)
    # Bonferroni over two rates of which only one is the largest covers more than it must.
    assert 0.93 <= np.mean(covered) <= (0.998 if metric is odds_difference else 0.985)


@pytest.mark.slow
@pytest.mark.parametrize("gap", [0.0, 0.02, 0.1])
def test_sd_of_the_size_of_the_credit_split_is_covered(gap):
    worlds = rate_worlds((0.12, 0.12 + gap), (4225, 814), 1000, seed=3)
    assert 0.935 <= coverage(gap, worlds, metric=statistical_disparity) <= 0.985


# ---- refusals


@pytest.mark.parametrize(
    ("metric", "more", "error", "message"),
    [
        (pairwise_disparity, {}, ValueError, "metric must be one of statistical_disparity, .*as a function or a name"),
        ("gap", {}, ValueError, "metric must be one of .*; got 'gap'"),
        (statistical_disparity, {"level": 95}, ValueError, "level must lie between 0 and 1, both left out; got 95"),
        (
            statistical_disparity,
            {"method": "exact"},
            ValueError,
            "method must be 'auto', 'analytic' or 'bootstrap'; got 'exact'",
        ),
        (
            statistical_disparity,
            {"n_resamples": 0, "method": "bootstrap"},
            ValueError,
            "n_resamples must be .* 1; got 0",
        ),
        (
            statistical_disparity,
            {"n_resamples": 10.5, "method": "bootstrap"},
            ValueError,
            "n_resamples must be a whole number, at least 1; got 10.5",
        ),
        (statistical_disparity, {"level": "0.9"}, ValueError, "level must lie between 0 and 1.*; got '0.9'"),
        (error_rate, {}, TypeError, "error_rate takes no sensitive_features, and neither does its interval"),
        (positive_rate, {}, TypeError, "positive_rate takes no sensitive_features"),
        (mean_disparity, {"pos_label": 1}, TypeError, "mean_disparity takes no pos_label, and neither"),
        (statistical_disparity, {"sensitive_features": None}, TypeError, "sensitive_features is missing"),
        (
            distribution_disparity,
            {"method": "analytic"},
            ValueError,
            "distribution_disparity has no analytic interval: pass method='bootstrap'",
        ),
        (correlation_disparity, {"method": "analytic"}, ValueError, "correlation_disparity has no analytic interval"),
        (mean_disparity, {"sensitive_features": ["a", "b", "b", "b"]}, ValueError, "group 'a' has one row: its spread"),
    ],
)
def test_refusals_say_what_is_valid(metric, more, error, message):
    options = {"sensitive_features": ["a", "b", "a", "b"]} | more
    with pytest.raises(error, match=message):
        interval(metric, [0, 1, 1, 0], [0, 1, 0, 1], **options)


def test_a_function_that_only_shares_the_name_is_refused():
    def statistical_disparity(y_true, y_pred, *, sensitive_features):
        return 0.0

    with pytest.raises(ValueError, match="metric must be one of"):
        interval(statistical_disparity, [0, 1], [0, 1], sensitive_features=["a", "b"])
