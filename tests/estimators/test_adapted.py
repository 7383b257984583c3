"""Models whose decisions or distributions are set anew on rows without labels."""

import pickle
from contextlib import nullcontext

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.exceptions import NotFittedError

from fairkernel import FairKernelClassifier, FairKernelRegressor
from fairkernel.exceptions import (
    AbsentGroupWarning,
    ContinuousSensitiveWarning,
    DecisionGapWarning,
    MissingSensitiveWarning,
)
from fairkernel.metrics import (
    distribution_disparity,
    interval,
    odds_difference,
    opportunity_difference,
    statistical_disparity,
)

MEASURES = {"parity": statistical_disparity, "opportunity": opportunity_difference, "odds": odds_difference}
GROUPS = np.array(["a", "b", "c"])


def draw(n, seed, shift=0.7, shares=(0.5, 0.3, 0.2)):
    """Three groups, whose inputs lie ``shift`` apart."""
    rng = np.random.default_rng(seed)
    g = rng.choice(3, n, p=shares)
    X = rng.normal(size=(n, 3)) + shift * g[:, None]
    y = (X[:, 0] + 0.5 * X[:, 1] + 0.7 * rng.normal(size=n) > 0.6).astype(int)
    return X, y, GROUPS[g]


X, Y, S = draw(900, 0)
NEW, NEW_Y, NEW_S = draw(700, 1, shift=1.1, shares=(0.2, 0.2, 0.6))  # another population


def fit(X=X, y=Y, s=S, *, gap=0.1, **options):
    options = {"n_features": 60, "disparity_kept": 1.0, "random_state": 0, **options}
    return FairKernelClassifier(max_decision_gap=gap, **options).fit(X, y, sensitive_features=s)


def decided(model, X=NEW, s=NEW_S):
    return model.predict(X, sensitive_features=s if model.aware else None)


# Decisions ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("criterion", MEASURES)
@pytest.mark.parametrize("aware", [False, True])
def test_the_gap_of_every_pair_among_the_rows_is_within_the_tolerance(aware, criterion):
    tolerance = 0.18 if criterion == "odds" else 0.15  # its cells are smaller, and chance shows more
    model = fit(aware=aware, criterion=criterion, gap=tolerance)
    found = model.adapted(NEW, NEW_Y, sensitive_features=NEW_S)

    def gap(model):
        return MEASURES[criterion](NEW_Y, decided(model), sensitive_features=NEW_S)

    assert gap(found) <= tolerance + 1e-12 < gap(model)
    assert found.decision_gap_["adapted"].estimate == pytest.approx(gap(found), abs=1e-12)
    assert list(found.decision_gap_) == ["adapted"]


def test_labels_are_not_needed_for_parity_and_make_no_difference_to_it():
    model = fit(aware=True)
    with_labels, without = (model.adapted(NEW, y, sensitive_features=NEW_S) for y in (1 - NEW_Y, None))
    np.testing.assert_array_equal(with_labels.rule_.multipliers, without.rule_.multipliers)


@pytest.mark.parametrize("tolerance", [0.0, 0.03, 0.2])
def test_thresholds_of_two_groups_are_the_nearest_to_the_plain_one_within_the_tolerance(tolerance):
    """Every pair of thresholds on the line t + c/π_a, t − c/π_b, tried one after the other."""
    two, new_two = S != "c", NEW_S != "c"
    batch, s = NEW[new_two], NEW_S[new_two]
    model = fit(X[two], Y[two], S[two], aware=True)
    plain = fit(X[two], Y[two], S[two], gap=None).decision_function(batch)
    pull = np.where(s == "a", -1 / (S[two] == "a").mean(), 1 / (S[two] == "b").mean())
    rates = {c: [(plain - c * pull >= 0)[s == g].mean() for g in "ab"] for c in np.linspace(-0.3, 0.3, 60001)}
    within = [abs(c) for c, (a, b) in rates.items() if abs(a - b) <= tolerance + 1e-12]
    with pytest.warns(DecisionGapWarning) if tolerance == 0.0 else nullcontext():
        found = model.adapted(batch, sensitive_features=s, max_decision_gap=tolerance)
    if within:
        nearest = plain - np.sign(found.rule_.multipliers[0]) * min(within) * pull >= 0
        np.testing.assert_array_equal(decided(found, batch, s) == 1, nearest)
    else:
        least = min(abs(a - b) for a, b in rates.values())
        assert found.decision_gap_["adapted"].estimate == pytest.approx(least, abs=1e-12)


def test_the_model_itself_stays_as_it_was():
    model = fit(aware=True)
    before, gaps, rule = decided(model), dict(model.decision_gap_), model.rule_
    found = model.adapted(NEW, sensitive_features=NEW_S, max_decision_gap=0.3)
    np.testing.assert_array_equal(decided(model), before)
    assert (model.decision_gap_, model.rule_, model.max_decision_gap) == (gaps, rule, 0.1)
    assert found.max_decision_gap == clone(found).max_decision_gap == 0.3
    np.testing.assert_array_equal(decided(pickle.loads(pickle.dumps(found))), decided(found))


def test_a_bound_that_binds_nothing_gives_the_plain_decisions():
    found = fit(aware=True).adapted(NEW, sensitive_features=NEW_S, max_decision_gap=1.0)
    np.testing.assert_array_equal(decided(found), fit(gap=None).predict(NEW))


@pytest.mark.parametrize("aware", [False, True])
def test_probabilities_agree_with_the_new_decisions(aware):
    found = fit(aware=aware).adapted(NEW, sensitive_features=NEW_S)
    probability = found.predict_proba(NEW, sensitive_features=NEW_S)[:, 1]
    np.testing.assert_array_equal(probability >= 0.5, decided(found) == 1)


def test_a_weight_of_two_is_the_row_twice_and_of_zero_no_row():
    model, weight = fit(aware=True), np.arange(len(NEW)) % 3
    weighted = model.adapted(NEW, sensitive_features=NEW_S, sample_weight=weight)
    often = np.repeat(np.arange(len(NEW)), weight)
    repeated = model.adapted(NEW[often], sensitive_features=NEW_S[often])
    np.testing.assert_allclose(weighted.rule_.multipliers, repeated.rule_.multipliers, atol=1e-12)


def test_many_rows_without_labels_bring_the_gap_of_the_population_to_the_tolerance():
    """From 300 labelled rows alone the gap of other rows is the tolerance give or take their sampling."""
    people, others = draw(20_000, 2), draw(20_000, 3)
    misses = {"fit": [], "adapted": []}
    for seed in range(8):
        sample, labels, groups = draw(300, 10 + seed)
        model = fit(sample, labels, groups, aware=True, gap=0.1)
        adapted = model.adapted(people[0], sensitive_features=people[2])
        for name, found in (("fit", model), ("adapted", adapted)):
            gap = statistical_disparity(None, decided(found, others[0], others[2]), sensitive_features=others[2])
            misses[name].append(abs(gap - 0.1))
    assert max(misses["adapted"]) < 0.03  # two samples, of 4,000 rows in the smallest group
    assert np.mean(misses["fit"]) > 3 * np.mean(misses["adapted"])


def test_a_few_rows_that_are_decided_as_a_whole_are_bounded_without_a_word_of_chance():
    found = fit(aware=True).adapted(NEW[:80], sensitive_features=NEW_S[:80])
    assert found.decision_gap_["adapted"].estimate <= 0.1 + 1e-12


def test_a_tolerance_that_so_few_rows_cannot_show_is_said():
    with pytest.warns(DecisionGapWarning, match="0.001 is not reached: the least gap on these rows"):
        fit(aware=True).adapted(NEW[:31], sensitive_features=NEW_S[:31], max_decision_gap=0.001)


def test_there_must_be_a_rule_to_move():
    with pytest.raises(ValueError, match=r"adapted\(\) moves the decision rule of max_decision_gap.* has none"):
        fit(gap=None).adapted(NEW, sensitive_features=NEW_S)
    with pytest.raises(ValueError, match=r"'max_decision_gap' parameter of adapted must be .* Got 1.5"):
        fit().adapted(NEW, sensitive_features=NEW_S, max_decision_gap=1.5)


# Rows that fit has not seen are read as those of fit ----------------------------------------------------------


def test_a_rule_is_set_on_rows_of_every_group():
    few = NEW_S != "c"
    for given in ({"X": NEW[few], "sensitive_features": NEW_S[few]}, {"X": NEW, "sample_weight": few.astype(float)}):
        with pytest.raises(ValueError, match=r"no row \(of positive weight\) of 'c', which fit saw"):
            fit().adapted(**{"sensitive_features": NEW_S, **given})


def test_a_gap_is_measured_among_the_groups_there_are_and_the_others_are_named():
    few = NEW_S != "a"
    for aware in (False, True):
        model = fit(aware=aware)
        with pytest.warns(AbsentGroupWarning, match=r"no row \(of positive weight\) of 'a', which fit saw"):
            found = model.measure_decision_gap(NEW[few], sensitive_features=NEW_S[few])
        rows = decided(model, NEW[few], NEW_S[few])
        expected = interval(statistical_disparity, None, rows, sensitive_features=NEW_S[few])
        np.testing.assert_allclose(found[:3], expected[:3], atol=1e-9)
    with pytest.raises(ValueError, match=r"no row .* of 'a', 'c', which fit saw.* Pass rows of two groups"):
        fit().measure_decision_gap(NEW[NEW_S == "b"], sensitive_features=NEW_S[NEW_S == "b"])


@pytest.mark.parametrize("method", ["adapted", "measure_decision_gap"])
def test_groups_that_fit_did_not_see_are_refused(method):
    with pytest.raises(ValueError, match="groups that fit did not see: 'd'; it saw 'a', 'b', 'c'"):
        getattr(fit(), method)(NEW, sensitive_features=np.where(NEW_S != "c", NEW_S, "d"))
    with pytest.raises(TypeError, match="sensitive_features is missing"):
        getattr(fit(), method)(NEW)


@pytest.mark.parametrize("method", ["adapted", "measure_decision_gap"])
def test_labels_are_needed_where_the_criterion_looks_at_them(method):
    model = fit(criterion="odds", gap=0.2)
    with pytest.raises(ValueError, match="criterion='odds' compares groups of equal outcome: pass y"):
        getattr(model, method)(NEW, sensitive_features=NEW_S)
    with pytest.raises(ValueError, match=r"y has labels that fit did not see: -1, 2; it saw 0, 1\."):
        getattr(model, method)(NEW, 3 * NEW_Y - 1, sensitive_features=NEW_S)
    with pytest.raises(ValueError, match="y has 699 rows but X has 700"):
        getattr(model, method)(NEW, NEW_Y[:-1], sensitive_features=NEW_S)


def test_groups_come_from_the_columns_of_X_that_fit_took_them_from():
    frame, new = (pd.DataFrame(A, columns=["u", "v", "w"]).assign(group=s) for A, s in ((X, S), (NEW, NEW_S)))
    options = {"n_features": 60, "disparity_kept": 1.0, "random_state": 0, "aware": True}
    model = FairKernelClassifier(max_decision_gap=0.1, sensitive_feature_ids=["group"], **options).fit(frame, Y)
    expected = fit(aware=True)
    assert model.measure_decision_gap(new) == expected.measure_decision_gap(NEW, sensitive_features=NEW_S)
    found = model.adapted(new)
    np.testing.assert_array_equal(found.predict(new), decided(expected.adapted(NEW, sensitive_features=NEW_S)))


@pytest.mark.parametrize("named", [False, True])
def test_a_continuous_attribute_stays_one_however_few_values_it_takes(named):
    age = np.round(40 + 8 * X[:, 0] + 10 * np.random.default_rng(0).normal(size=len(X)))
    new_age = np.where(NEW[:, 0] > 0, 50.0, 30.0)
    if named:
        age, new_age = pd.DataFrame({"sex": S, "age": age}), pd.DataFrame({"age": new_age, "sex": NEW_S})
    with pytest.warns(ContinuousSensitiveWarning):
        model = fit(s=age)
    found = model.measure_decision_gap(NEW, sensitive_features=new_age)
    values = new_age["age"].to_numpy() if named else new_age
    sexes = statistical_disparity(None, decided(model), sensitive_features=NEW_S) if named else 0.0
    expected = max(abs((decided(model) * _standardised(values)).mean()), sexes)
    assert found.estimate == pytest.approx(expected, abs=1e-12)
    adapted = model.adapted(NEW, sensitive_features=new_age)
    assert adapted.decision_gap_["adapted"].estimate <= 0.1 + 1e-12
    broken = new_age.assign(age="old") if named else np.full(len(NEW), "old")
    with pytest.raises(ValueError, match="was continuous when fit saw it, and now holds values that are no finite"):
        model.measure_decision_gap(NEW, sensitive_features=broken)


def _standardised(values):
    return (values - values.mean()) / values.std()


def test_several_columns_are_told_apart_by_their_names():
    age = 40 + 8 * X[:, 0] + 10 * np.random.default_rng(0).normal(size=len(X))
    with pytest.warns(ContinuousSensitiveWarning):
        model = fit(s=pd.DataFrame({"sex": S, "age": age}))
    with pytest.raises(ValueError, match="has columns 'sex', 'years', but fit saw 'sex', 'age': pass the same"):
        model.measure_decision_gap(NEW, sensitive_features=pd.DataFrame({"sex": NEW_S, "years": NEW[:, 0]}))


def test_rows_without_a_group_are_left_out_where_fit_left_them_out():
    gone = np.arange(len(S)) % 9 == 0
    with pytest.warns(MissingSensitiveWarning):
        model = fit(s=np.where(gone, None, S.astype(object)), missing_sensitive="ignore")
    new_gone = np.arange(len(NEW)) % 7 == 0
    with pytest.warns(MissingSensitiveWarning, match="missing in 100 of 700 rows"):
        found = model.measure_decision_gap(NEW, sensitive_features=np.where(new_gone, None, NEW_S.astype(object)))
    kept = ~new_gone
    expected = interval(statistical_disparity, None, decided(model)[kept], sensitive_features=NEW_S[kept])
    assert found.estimate == pytest.approx(expected.estimate, abs=1e-12)


def test_a_few_rows_of_many_groups_are_no_identifiers():
    """Twelve groups in twelve rows: too many to learn from, and no reason not to decide."""
    many = np.array([f"region {g:02d}" for g in np.arange(len(X)) % 12])
    model = fit(s=many, aware=True, gap=0.5)
    assert model.predict(X[:12], sensitive_features=many[:12]).shape == (12,)


# Distributions ------------------------------------------------------------------------------------------------


def ks(model):
    return distribution_disparity(None, model.predict(NEW, sensitive_features=NEW_S), sensitive_features=NEW_S).ks


def regressor(**options):
    options = {"aware": True, "distribution_parity": 1.0, "disparity_kept": 1.0, "n_features": 60, **options}
    return FairKernelRegressor(random_state=0, **options).fit(X, X[:, 0] + np.sin(X[:, 1]), sensitive_features=S)


def test_distributions_agree_among_the_rows():
    model = regressor()
    found = model.adapted(NEW, sensitive_features=NEW_S)
    assert ks(found) < 0.02 < 0.1 < ks(model)  # the smallest group has 135 rows
    assert found.distribution_disparity_["adapted"].ks.estimate == pytest.approx(ks(found), abs=1e-12)
    assert "adapted" not in model.distribution_disparity_
    scores = regressor(distribution_parity=0.0)
    np.testing.assert_allclose(
        scores.adapted(NEW, sensitive_features=NEW_S).predict(NEW, sensitive_features=NEW_S),
        scores.predict(NEW, sensitive_features=NEW_S),
        atol=1e-12,
    )


def test_the_order_within_a_group_stays():
    model = regressor()
    found = model.adapted(NEW, sensitive_features=NEW_S)
    for group in GROUPS:
        rows = NEW_S == group
        before, after = (m.predict(NEW[rows], sensitive_features=NEW_S[rows]) for m in (model, found))
        np.testing.assert_array_equal(np.argsort(before, kind="stable"), np.argsort(after, kind="stable"))


def test_several_targets_and_weights():
    targets = np.column_stack([X[:, 0], X[:, 1] ** 2])
    options = {"aware": True, "distribution_parity": 1.0, "disparity_kept": 1.0, "n_features": 60, "random_state": 0}
    model = FairKernelRegressor(**options).fit(X, targets, sensitive_features=S)
    weight = np.arange(len(NEW)) % 3
    weighted = model.adapted(NEW, sensitive_features=NEW_S, sample_weight=weight)
    often = np.repeat(np.arange(len(NEW)), weight)
    repeated = model.adapted(NEW[often], sensitive_features=NEW_S[often])
    assert len(weighted.distribution_disparity_["adapted"]) == 2
    np.testing.assert_allclose(
        *(m.predict(NEW, sensitive_features=NEW_S) for m in (weighted, repeated)), rtol=1e-9, atol=1e-9
    )


def test_distributions_need_groups():
    with pytest.raises(ValueError, match=r"adapted\(\) moves each group's scores.*fit with aware=True"):
        regressor(aware=False, distribution_parity=0.0).adapted(NEW, sensitive_features=NEW_S)
    few = NEW_S != "c"
    with pytest.raises(ValueError, match=r"no row \(of positive weight\) of 'c', which fit saw"):
        regressor().adapted(NEW[few], sensitive_features=NEW_S[few])
    with pytest.raises(TypeError, match="sensitive_features is missing"):
        regressor().adapted(NEW)


# What else new rows can be ------------------------------------------------------------------------------------


@pytest.mark.parametrize("method", ["adapted", "measure_decision_gap"])
def test_columns_are_matched_by_name(method):
    rng = np.random.default_rng(0)
    s = pd.DataFrame({"sex": rng.integers(0, 2, len(X)), "race": rng.integers(0, 2, len(X))})
    inputs = X + 1.2 * s.to_numpy() @ np.array([[1.0, 0, 0], [0, 2.0, 0]])
    model = fit(inputs, Y, s, aware=True, gap=0.2)
    swapped = s[["race", "sex"]]
    np.testing.assert_array_equal(decided(model, inputs, s), decided(model, inputs, swapped))
    both = [getattr(model, method)(inputs, sensitive_features=given) for given in (s, swapped)]
    if method == "adapted":
        both = [found.decision_gap_ for found in both]
    assert both[0] == both[1]
    with pytest.raises(ValueError, match="has columns 'a', 'b', but fit saw 'sex', 'race': pass the same columns"):
        getattr(model, method)(inputs, sensitive_features=s.set_axis(["a", "b"], axis=1))


@pytest.mark.parametrize("method", ["adapted", "measure_decision_gap"])
def test_rows_are_matched_by_their_index(method):
    frame = pd.DataFrame(X, columns=["u", "v", "w"])
    model = fit(frame)
    reversed_ = pd.Series(np.arange(1.0, len(X) + 1))[::-1]
    with pytest.raises(ValueError, match="the index of sample_weight differs from the index of X"):
        getattr(model, method)(frame, sensitive_features=S, sample_weight=reversed_)
    with pytest.raises(ValueError, match="the index of sensitive_features differs from the index of y"):
        getattr(fit(criterion="odds", gap=0.3), method)(X, pd.Series(Y), sensitive_features=pd.Series(S)[::-1])


@pytest.mark.parametrize("method", ["adapted", "measure_decision_gap"])
def test_a_cell_whose_rows_have_no_weight_is_empty(method):
    model = fit(criterion="opportunity", gap=0.3)
    weight = 1.0 - ((NEW_S == "c") & (NEW_Y == 1))
    with pytest.raises(ValueError, match="group 'c' has no rows with y = 1"):
        getattr(model, method)(NEW, NEW_Y, sensitive_features=NEW_S, sample_weight=weight)


@pytest.mark.parametrize("method", ["adapted", "measure_decision_gap"])
def test_an_attribute_that_does_not_vary_has_no_gap_to_measure(method):
    with pytest.warns(ContinuousSensitiveWarning):
        model = fit(s=40 + 8 * X[:, 0] + np.arange(len(X)) % 7)
    with pytest.raises(ValueError, match="is 40 in every row, so nothing can depend on it"):
        getattr(model, method)(NEW, sensitive_features=np.full(len(NEW), 40.0))


@pytest.mark.parametrize("method", ["adapted", "measure_decision_gap"])
def test_three_classes_have_no_gap_of_decisions(method):
    model = fit(y=np.arange(len(X)) % 3, gap=None)
    with pytest.raises(ValueError, match="the gap is one of yes-or-no decisions, but y had 3 classes"):
        getattr(model, method)(NEW, sensitive_features=NEW_S)


def test_the_interval_of_a_continuous_attribute_counts_the_rows_that_count():
    age, new_age = (40 + 8 * A[:, 0] + np.arange(len(A)) % 7 for A in (X, NEW))
    with pytest.warns(ContinuousSensitiveWarning):
        model = fit(s=age)
    kept = np.arange(len(NEW)) % 3 > 0
    weighted = model.measure_decision_gap(NEW, sensitive_features=new_age, sample_weight=kept.astype(float))
    left_out = model.measure_decision_gap(NEW[kept], sensitive_features=new_age[kept])
    np.testing.assert_allclose(weighted[:3], left_out[:3], atol=1e-12)


def test_distributions_of_one_row_a_group_are_refused():
    first = [np.flatnonzero(NEW_S == group)[0] for group in GROUPS]
    with pytest.raises(ValueError, match="group 'a' has 1 row here, which has no distribution"):
        regressor().adapted(NEW[first], sensitive_features=NEW_S[first])


def test_a_model_whose_bound_was_taken_away_keeps_the_rule_it_was_fitted_with():
    model = fit(aware=True)
    found = model.set_params(max_decision_gap=None).adapted(NEW, sensitive_features=NEW_S)
    assert found.decision_gap_["adapted"].estimate <= 0.1 + 1e-12


def test_distributions_of_a_few_rows_of_many_groups():
    many = np.array([f"region {g:02d}" for g in np.arange(len(X)) % 12])
    options = {"aware": True, "distribution_parity": 1.0, "disparity_kept": 1.0, "n_features": 60, "random_state": 0}
    model = FairKernelRegressor(**options).fit(X, X[:, 0], sensitive_features=many)
    found = model.adapted(X[:24], sensitive_features=many[:24])
    assert found.distribution_disparity_["adapted"].ks.estimate <= 0.5  # two rows a group: steps of one half


def test_columns_without_names_are_matched_by_position():
    rng = np.random.default_rng(0)
    s = pd.DataFrame({"sex": rng.integers(0, 2, len(X)), "race": rng.integers(0, 2, len(X))})
    inputs = X + 1.2 * s.to_numpy() @ np.array([[1.0, 0, 0], [0, 2.0, 0]])
    expected = fit(inputs, Y, s, aware=True, gap=0.2).predict(inputs, sensitive_features=s)
    for at_fit, later in ((s, s.to_numpy()), (s.to_numpy(), s), (s.to_numpy().tolist(), s.to_numpy())):
        model = fit(inputs, Y, at_fit, aware=True, gap=0.2)
        np.testing.assert_array_equal(model.predict(inputs, sensitive_features=later), expected)
    age = 40 + 8 * X[:, 0] + np.arange(len(X)) % 7
    mixed = pd.DataFrame({"age": age, "sex": s["sex"]})
    with pytest.warns(ContinuousSensitiveWarning):
        model = fit(s=mixed)
    by_name, by_position = (model.measure_decision_gap(X, sensitive_features=m) for m in (mixed, mixed.to_numpy()))
    assert by_name == by_position


def test_one_row_of_a_group_is_measured_with_an_interval_that_says_how_little_that_is():
    few = (NEW_S != "c") | (np.cumsum(NEW_S == "c") == 1)
    found = fit().measure_decision_gap(NEW[few], sensitive_features=NEW_S[few])
    assert found.high - found.low > 0.5


def test_a_fit_that_stops_on_its_way_leaves_no_model_behind():
    model = FairKernelClassifier(max_decision_gap=0.0, aware=True, n_features=60, random_state=0)
    with pytest.raises(DecisionGapWarning):
        model.fit(X, Y, sensitive_features=S)  # warnings are errors here
    with pytest.raises(NotFittedError):
        model.predict(X, sensitive_features=S)
