"""Decisions within a stated gap: what the classifier promises about them."""

import re
import warnings

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.exceptions import NotFittedError

from fairkernel import FairKernelClassifier
from fairkernel.estimators.out_of_fold import FoldMoments
from fairkernel.exceptions import (
    ContinuousSensitiveWarning,
    DecisionGapWarning,
    MissingSensitiveWarning,
    SensitiveColumnWarning,
)
from fairkernel.metrics import interval, odds_difference, opportunity_difference, statistical_disparity

N = 900
RNG = np.random.default_rng(0)
S = np.where(RNG.random(N) < 0.35, "b", "a")
X = RNG.normal(size=(N, 3)) + 0.7 * (S == "b")[:, None]
Y = (X[:, 0] + 0.5 * X[:, 1] + 0.7 * RNG.normal(size=N) > 0.6).astype(int)
THREE = np.array(["a", "b", "c"])[np.digitize(X[:, 1] + 0.6 * RNG.normal(size=N), [0.0, 0.9])]
MEASURES = {
    "parity": statistical_disparity,
    "opportunity": opportunity_difference,
    "odds": odds_difference,
}


def fit(X=X, y=Y, s=S, *, gap=0.1, weight=None, **options):
    options = {"n_features": 60, "disparity_kept": 1.0, "random_state": 0, **options}
    return FairKernelClassifier(max_decision_gap=gap, **options).fit(X, y, sensitive_features=s, sample_weight=weight)


def known(model, s):
    return {"sensitive_features": s} if model.aware else {}


@pytest.fixture(scope="module", params=[False, True], ids=["blind", "aware"])
def model(request):
    return fit(aware=request.param)


# The gap ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("criterion", MEASURES)
@pytest.mark.parametrize("aware", [False, True])
@pytest.mark.parametrize("s", [S, THREE], ids=["two groups", "three groups"])
def test_the_out_of_fold_gap_of_every_pair_is_within_the_tolerance(s, aware, criterion):
    found = fit(s=s, gap=0.15, aware=aware, criterion=criterion)
    gap = found.decision_gap_["out_of_fold"]
    assert gap.estimate <= 0.15 + 1e-12
    assert gap.low <= gap.estimate <= gap.high


@pytest.mark.parametrize("criterion", MEASURES)
def test_the_training_gap_is_that_of_the_decisions_on_the_training_rows(criterion):
    for aware in (False, True):
        found = fit(s=THREE, gap=0.15, aware=aware, criterion=criterion)
        decided = found.predict(X, **known(found, THREE))
        measured = interval(MEASURES[criterion], Y, decided, sensitive_features=THREE)
        assert found.decision_gap_["training"].estimate == pytest.approx(measured.estimate, abs=1e-12)
        if criterion != "odds":  # whose intervals stand for two strata at once
            np.testing.assert_allclose(found.decision_gap_["training"][1:3], measured[1:3], atol=1e-9)


def test_the_out_of_fold_gap_is_that_of_scores_refitted_without_the_fold(model):
    """From scratch: five classifiers, each fitted on the other folds with the rule's own features and multipliers."""
    options = {"n_features": 60, "disparity_kept": 1.0, "random_state": 0}
    options |= {"aware": model.aware, "max_decision_gap": 0.1}
    folds = FoldMoments.of(FairKernelClassifier(**options), X, Y, sensitive_features=S)
    decided = np.empty(N, dtype=bool)
    for f in range(5):
        out = folds.fold == f
        part = folds.total - folds.parts[f]
        a = folds.model._path(part, None, attributes=not model.aware)
        scores = part.target_mean + (folds.phi[out] - part.feature_mean) @ a.coefficients(1.0, 1.0)[:, :1]
        if model.aware:
            likeness = (S[out][:, None] == ["a", "b"]) / np.asarray(folds.total.attribute_mean)
        else:
            alike = a.coefficients(model.likeness_alpha_, 1.0)[:, 1:]
            likeness = part.attribute_mean + (folds.phi[out] - part.feature_mean) @ alike
            likeness = likeness / np.asarray(part.attribute_mean)
        decided[out] = model.rule_.margin(scores[:, 0], likeness) >= 0
    gap = statistical_disparity(None, decided.astype(int), sensitive_features=S)
    assert model.decision_gap_["out_of_fold"].estimate == pytest.approx(gap, abs=1e-9)


def test_the_held_out_gap_is_measured_when_asked_for(model):
    new, rng = RNG.normal(size=(400, 3)), np.random.default_rng(1)
    s = rng.choice(["a", "b"], 400)
    found = model.measure_decision_gap(new, sensitive_features=s)
    decided = model.predict(new, **known(model, s))
    expected = interval(statistical_disparity, None, decided, sensitive_features=s)
    assert found.estimate == pytest.approx(expected.estimate, abs=1e-12)
    np.testing.assert_allclose(found[1:3], expected[1:3], atol=1e-9)
    assert model.decision_gap_["held_out"] == found


def test_a_fit_forgets_what_was_measured_before():
    found = fit()
    found.measure_decision_gap(X, sensitive_features=S)
    found.fit(X, Y, sensitive_features=S)
    assert "held_out" not in found.decision_gap_
    found.set_params(max_decision_gap=None).fit(X, Y, sensitive_features=S)
    assert not hasattr(found, "decision_gap_")


def test_a_bound_that_binds_nothing_leaves_the_plain_decisions(model):
    loose = fit(gap=1.0, aware=model.aware)
    plain = fit(gap=None)
    np.testing.assert_array_equal(loose.predict(X, **known(loose, S)), plain.predict(X))
    assert not loose.rule_.multipliers.any()


@pytest.mark.parametrize("threshold", [0.3, 0.7])
def test_a_threshold_is_where_plain_decisions_turn_and_where_the_rule_starts(threshold, model):
    plain = fit(gap=None, threshold=threshold)
    scores = fit(gap=None).decision_function(X) + 0.5
    np.testing.assert_allclose(plain.decision_function(X), scores - threshold, atol=1e-12)
    np.testing.assert_array_equal(plain.predict_proba(X)[:, 1] >= threshold, plain.predict(X) == 1)
    loose = fit(gap=1.0, threshold=threshold, aware=model.aware)
    np.testing.assert_array_equal(loose.predict(X, **known(loose, S)), plain.predict(X))
    strict = fit(gap=0.05, threshold=threshold, aware=model.aware)
    decided = strict.predict(X, **known(strict, S)) == 1
    assert strict.decision_gap_["out_of_fold"].estimate <= 0.05 + 1e-12
    np.testing.assert_array_equal(strict.predict_proba(X, **known(strict, S))[:, 1] >= threshold, decided)


def test_a_higher_threshold_says_yes_less_often(model):
    rates = [fit(gap=0.1, threshold=t, aware=model.aware).predict(X, **known(model, S)).mean() for t in (0.3, 0.5, 0.7)]
    assert rates == sorted(rates, reverse=True)
    assert rates[0] > rates[2]


def test_a_smaller_tolerance_moves_no_further_from_parity_out_of_fold():
    for aware in (False, True):
        gaps = [fit(gap=gap, aware=aware).decision_gap_["out_of_fold"].estimate for gap in (0.3, 0.2, 0.1)]
        assert gaps == sorted(gaps, reverse=True)


def test_groups_that_are_known_get_a_threshold_each():
    found = fit(aware=True)
    scores = fit(gap=None).decision_function(X)
    decided = found.predict(X, sensitive_features=S)
    for group in "ab":
        of_group = S == group
        assert scores[of_group & (decided == 1)].min() > scores[of_group & (decided == 0)].max()
    shift = found.decision_function(X, sensitive_features=S) - scores
    assert np.ptp(shift[S == "a"]) < 1e-12
    assert np.ptp(shift[S == "b"]) < 1e-12
    # t ± λ/π: the shifts of the two groups are to each other as minus the inverse of their shares.
    ratio = shift[S == "a"].mean() / shift[S == "b"].mean()
    assert ratio == pytest.approx(-(S == "b").mean() / (S == "a").mean(), rel=1e-9)


def test_the_rule_that_sees_groups_costs_no_more_than_the_one_that_does_not():
    errors = {aware: np.mean(fit(gap=0.05, aware=aware).predict(X, **({"sensitive_features": S} if aware else {})) != Y)
              for aware in (False, True)}  # fmt: skip
    plain = np.mean(fit(gap=None).predict(X) != Y)
    assert plain - 0.005 <= errors[True] <= errors[False]


def test_a_continuous_attribute_is_uncorrelated_with_the_decisions_out_of_fold():
    age = 30 + 10 * (X[:, 0] + RNG.normal(size=N))
    with pytest.warns(ContinuousSensitiveWarning):
        found = fit(s=age, gap=0.05)
    plain = np.abs(np.cov(fit(gap=None).predict(X), age)[0, 1]) / age.std()
    assert found.decision_gap_["out_of_fold"].estimate <= 0.05 + 1e-12
    assert np.abs(np.cov(found.predict(X), age)[0, 1]) / age.std() < 0.5 * plain


def test_rows_without_a_group_count_for_the_loss_alone():
    s = S.astype(object)
    s[:100] = None
    with pytest.warns(MissingSensitiveWarning):
        found = fit(s=s, missing_sensitive="ignore")
    decided = found.predict(X)[100:]
    measured = statistical_disparity(None, decided, sensitive_features=S[100:])
    assert found.decision_gap_["training"].estimate == pytest.approx(measured, abs=1e-12)


# What must not matter -----------------------------------------------------------------------------------------


def test_the_same_seed_gives_the_same_decisions(model):
    again = fit(aware=model.aware)
    np.testing.assert_array_equal(
        again.decision_function(X, **known(again, S)), model.decision_function(X, **known(model, S))
    )


def test_the_groups_names_do_not_matter(model):
    renamed = fit(s=np.where(S == "a", "z", "k"), aware=model.aware)
    np.testing.assert_allclose(
        renamed.decision_function(X, **known(renamed, np.where(S == "a", "z", "k"))),
        model.decision_function(X, **known(model, S)),
        atol=1e-8,
    )


def test_the_scale_of_the_weights_does_not_matter(model):
    # The penalty is in units of the weights.
    heavier = fit(weight=np.full(N, 3.0), alpha=3.0, aware=model.aware)
    assert heavier.decision_gap_["out_of_fold"].estimate <= 0.1 + 1e-12
    if model.aware:  # the penalty of the group score comes from a grid that does not move along
        found, expected = (each.decision_function(X, sensitive_features=S) for each in (heavier, model))
        np.testing.assert_allclose(found, expected, atol=1e-8)


def test_a_row_of_weight_zero_is_absent():
    weight = np.ones(N)
    weight[:50] = 0.0
    found, without = fit(weight=weight), fit(X[50:], Y[50:], S[50:])
    np.testing.assert_allclose(found.decision_function(X), without.decision_function(X), atol=1e-9)


# Probabilities ------------------------------------------------------------------------------------------------


def test_probabilities_agree_with_the_decisions_and_rise_with_the_margin(model):
    margin = model.decision_function(X, **known(model, S))
    positive = model.predict_proba(X, **known(model, S))[:, 1]
    decided = model.predict(X, **known(model, S))
    np.testing.assert_array_equal(positive >= 0.5, decided == 1)
    order = np.argsort(margin)
    assert (np.diff(positive[order]) >= 0).all()
    np.testing.assert_allclose(model.predict_proba(X, **known(model, S)).sum(axis=1), 1.0)


@given(margin=st.floats(-2, 2))
def test_probability_is_at_least_a_half_exactly_where_the_margin_is_not_negative(model, margin):
    assert (model.rule_.probability(np.array([margin])) >= 0.5) == (margin >= 0)


def test_probabilities_are_calibrated_on_new_rows_where_the_rule_moves_nothing():
    rng = np.random.default_rng(5)
    n = 20_000
    new_s = np.where(rng.random(n) < 0.35, "b", "a")
    new = rng.normal(size=(n, 3)) + 0.7 * (new_s == "b")[:, None]
    truth = new[:, 0] + 0.5 * new[:, 1] + 0.7 * rng.normal(size=n) > 0.6
    positive = fit(gap=1.0).predict_proba(new)[:, 1]
    bins = np.digitize(positive, np.linspace(0, 1, 6)[1:-1])
    for b in range(5):
        inside = bins == b
        assert abs(positive[inside].mean() - truth[inside].mean()) < 0.08


# What is said -------------------------------------------------------------------------------------------------


def test_a_tolerance_below_the_sampling_floor_is_said():
    with pytest.warns(DecisionGapWarning, match=r"max_decision_gap=0.001 is below the sampling floor of 0.0\d+"):
        fit(gap=0.001)


def test_a_tolerance_out_of_reach_is_said_and_the_nearest_rule_used():
    # The decision is the group: blind to it, but X tells.
    x = np.where(S == "a", 0.0, 1.0)[:, None]
    y = (S == "b").astype(int)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        found = fit(x, y, gap=0.0, kernel="linear", criterion="parity")
    assert found.decision_gap_["out_of_fold"].estimate == 0.0  # everyone alike: the constant reaches it
    assert any("below the sampling floor" in str(w.message) for w in caught) or found.predict(x).std() == 0


def test_three_classes_are_refused():
    y = np.digitize(X[:, 0], [-0.5, 0.5])
    with pytest.raises(ValueError, match=r"max_decision_gap=0.1 bounds the gap of yes-or-no decisions, but y has 3"):
        fit(y=y)


def test_aware_without_a_tolerance_says_what_it_is_for():
    with pytest.raises(ValueError, match=re.escape("which matters to max_decision_gap only: set a tolerance")):
        fit(gap=None, aware=True)


def test_aware_with_a_continuous_attribute_is_refused():
    age = 30 + 10 * RNG.random(N)
    with (
        pytest.warns(ContinuousSensitiveWarning),
        pytest.raises(ValueError, match=r"aware=True gives every group its own threshold, but .* is continuous"),
    ):
        fit(s=age, aware=True)


def test_aware_predictions_need_groups_that_were_seen():
    found = fit(aware=True)
    sentence = "with aware=True needs sensitive_features: one value per row, when predicting too"
    with pytest.raises(TypeError, match=sentence):
        found.predict(X)
    with pytest.raises(ValueError, match="groups that fit did not see: 'c'; it saw 'a', 'b'"):
        found.predict(X[:3], sensitive_features=["a", "c", "b"])


def test_aware_predictions_read_the_groups_from_the_columns_they_were_learned_from():
    frame = pd.DataFrame(X, columns=["u", "v", "w"]).assign(group=S)
    options = {"max_decision_gap": 0.1, "aware": True, "disparity_kept": 1.0, "n_features": 60, "random_state": 0}
    found = FairKernelClassifier(sensitive_feature_ids=["group"], **options).fit(frame, Y)
    np.testing.assert_array_equal(found.predict(frame), fit(aware=True).predict(X, sensitive_features=S))
    np.testing.assert_array_equal(
        found.predict(frame.drop(columns="group"), sensitive_features=S), found.predict(frame)
    )


def test_a_threshold_is_refused_where_there_is_no_single_score():
    labels = np.digitize(X[:, 0], [0.0, 1.0])
    with pytest.raises(ValueError, match=r"threshold=0.7 is the threshold of yes-or-no decisions, but y has 3 classes"):
        fit(y=labels, gap=None, threshold=0.7)
    with pytest.raises(ValueError, match=r"'threshold' parameter .* must be a float in the range \(0.0, 1.0\). Got 1"):
        fit(gap=None, threshold=1)


def test_blind_decisions_do_not_look_at_groups_that_are_passed():
    found = fit()
    np.testing.assert_array_equal(found.predict(X), found.predict(X, sensitive_features=S[::-1]))


def test_the_sensitive_attribute_among_the_inputs_is_said():
    with pytest.warns(SensitiveColumnWarning):
        fit(np.column_stack([X, S == "b"]), aware=True)


# How far the measured gap can be trusted -----------------------------------------------------------------------


def people(n, seed):
    """Rows of a population that can be drawn from without end."""
    rng = np.random.default_rng(seed)
    s = np.where(rng.random(n) < 0.35, "b", "a")
    x = rng.normal(size=(n, 3)) + 0.7 * (s == "b")[:, None]
    return x, (x[:, 0] + 0.5 * x[:, 1] + 0.7 * rng.normal(size=n) > 0.6).astype(int), s


@pytest.mark.slow
@pytest.mark.parametrize("aware", [False, True])
@pytest.mark.parametrize("criterion", ["parity", "opportunity"])
@pytest.mark.parametrize("gap", [0.1, 0.2])
def test_intervals_of_held_out_gaps_cover_the_gap_of_the_population(gap, criterion, aware):
    x, y, s = people(1500, 1)
    model = fit(x, y, s, gap=gap, criterion=criterion, aware=aware)
    x, y, s = people(400_000, 2)
    truth = model.measure_decision_gap(x, y, sensitive_features=s).estimate
    rng, covered = np.random.default_rng(3), []
    for _ in range(1000):
        some = rng.choice(len(x), 1000)
        found = model.measure_decision_gap(x[some], y[some], sensitive_features=s[some])
        covered.append(found.low <= truth <= found.high)
    assert 0.93 <= np.mean(covered) <= 0.97


@pytest.mark.parametrize("aware", [False, True])
def test_three_groups_of_scores_in_narrow_clusters_reach_the_tolerance(aware):
    """Nearly separable classes: the scores lie in two heaps, and the rule has to cut through one of them."""
    rng = np.random.default_rng(0)
    g = np.arange(3000) % 3
    y = (rng.random(3000) < np.array([0.05, 0.3, 0.6])[g]).astype(int)
    inputs = 3 * y[:, None] + 0.25 * rng.normal(size=(3000, 3))
    found = fit(inputs, y, np.array(list("abc"))[g], gap=0.05, aware=aware)
    assert found.decision_gap_["out_of_fold"].estimate <= 0.05 + 1e-12


@pytest.mark.parametrize("criterion", ["opportunity", "odds"])
def test_a_group_with_one_positive_row_cannot_be_held_out(criterion):
    kept = (S == "a") | (Y == 0)
    kept[np.flatnonzero(~kept)[0]] = True
    with pytest.raises(ValueError, match=rf"without fold \d of 5 no row that criterion='{criterion}' looks at is left"):
        fit(X[kept], Y[kept], S[kept], criterion=criterion, gap=0.3)


def test_advice_fits_the_model_it_is_given_for():
    age = 40 + 8 * X[:, 0]
    with pytest.warns() as said:
        fit(s=age, gap=0.001)
    texts = [str(w.message) for w in said if w.category is DecisionGapWarning]
    assert any("below the sampling floor" in text for text in texts)
    assert not any("aware=True" in text for text in texts)


def test_a_fit_that_was_refused_leaves_no_model_behind():
    model = FairKernelClassifier(max_decision_gap=0.1)
    with pytest.raises(ValueError, match="one group only"):
        model.fit(X, Y, sensitive_features=np.full(N, "a"))
    for call in (model.predict, model.decision_function):
        with pytest.raises(NotFittedError):
            call(X)
