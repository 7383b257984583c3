"""Regression with equal distributions: the barycentre where groups are known, the HSIC direction where they are not."""

import numpy as np
import pandas as pd
import pytest
import sklearn
from sklearn.base import clone
from sklearn.model_selection import GridSearchCV, KFold
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from fairkernel import FairFeatureEmbedding, FairKernelRegressor
from fairkernel.criteria import cells_of
from fairkernel.estimators.out_of_fold import out_of_fold_scores
from fairkernel.exceptions import ContinuousSensitiveWarning, MissingSensitiveWarning, SmallGroupWarning
from fairkernel.metrics import distribution_disparity
from fairkernel.sensitive import read_sensitive
from fairkernel.solve import group_contrasts

RNG = np.random.default_rng(0)
N = 400


def draw(n):
    """Groups that differ in mean and in spread."""
    s = np.array(["a", "b", "b"])[RNG.integers(0, 3, n)]
    X = RNG.normal(size=(n, 3)) * np.where(s == "b", 2.0, 1.0)[:, None] + (s == "b")[:, None]
    return X, X[:, 0] + np.sin(X[:, 1]) + 0.3 * RNG.normal(size=n), s


X, Y, S = draw(N)
NEW, _, GROUP = draw(3000)
AWARE = {"aware": True, "distribution_parity": 1.0, "disparity_kept": 1.0}


def fit(X=X, y=Y, s=S, *, weight=None, **parameters):
    model = FairKernelRegressor(**{"random_state": 0, "gamma": 0.1, **parameters})
    return model.fit(X, y, sensitive_features=s, sample_weight=weight)


def ks(scores, s=GROUP):
    return distribution_disparity(None, scores, sensitive_features=s).ks


# Aware


def test_full_parity_makes_the_distributions_of_new_rows_agree():
    blind, aware = fit(disparity_kept=1.0), fit(**AWARE)
    assert ks(blind.predict(NEW)) > 0.2
    assert ks(aware.predict(NEW, sensitive_features=GROUP)) < 0.1


@pytest.mark.parametrize("kept", [0.0, 1.0])
def test_no_parity_is_the_blind_model(kept):
    aware = fit(aware=True, disparity_kept=kept)
    expected = fit(disparity_kept=kept).predict(NEW)
    # The moments are sums over folds, which round otherwise than the sum over all rows.
    np.testing.assert_allclose(aware.predict(NEW, sensitive_features=GROUP), expected, atol=1e-8)


def test_predictions_lie_on_the_line_from_the_score_to_the_barycentre():
    none, half, full = (
        fit(**{**AWARE, "distribution_parity": t}).predict(NEW, sensitive_features=GROUP) for t in (0.0, 0.5, 1.0)
    )
    np.testing.assert_allclose(half, (none + full) / 2, atol=1e-10)


def test_the_order_within_a_group_is_kept():
    before, after = fit(disparity_kept=1.0).predict(NEW), fit(**AWARE).predict(NEW, sensitive_features=GROUP)
    for g in "ab":
        order = np.argsort(before[GROUP == g])
        assert (np.diff(after[GROUP == g][order]) > 0).all()


def test_a_constant_shift_between_groups_is_taken_out_whole():
    s = np.arange(N) % 2
    rows, y = X[:, :1] * 0 + RNG.normal(size=(N, 1)), 5.0 * s
    with pytest.warns(match="restates the sensitive attribute"):
        model = fit(np.column_stack([rows, s]), y, s, kernel="linear", alpha=1e-6, **AWARE)
    predicted = model.predict(np.column_stack([rows, s]), sensitive_features=s)
    np.testing.assert_allclose(predicted, 2.5, atol=0.01)


def test_the_barycentre_is_that_of_out_of_fold_scores():
    model = fit(**AWARE)
    plain = fit(disparity_kept=1.0)
    spread = {g: np.ptp(plain.predict(X)[g == S]) for g in "ab"}
    found = {g: np.ptp(values) for g, values in zip("ab", model.barycentres_[0].values, strict=True)}
    assert model.groups_ == ("a", "b")
    assert len(model.barycentres_) == 1
    assert [len(values) for values in model.barycentres_[0].values] == [(g == S).sum() for g in "ab"]
    assert all(found[g] != pytest.approx(spread[g], rel=1e-6) for g in "ab")


def test_the_disparity_is_stored_with_intervals_for_rows_seen_and_not_seen():
    rows = draw(3 * N)  # halves of as few as N rows show too much by chance
    unmoved, moved = (fit(*rows, **{**AWARE, "distribution_parity": t}).distribution_disparity_ for t in (0.0, 1.0))
    assert set(moved) == {"training", "out_of_fold"}
    for place in moved:
        for name in ("ks", "w1"):
            before, after = getattr(unmoved[place], name), getattr(moved[place], name)
            assert after.low <= after.estimate <= after.high
            assert after.high < before.low
    scores = fit(*rows, disparity_kept=1.0).predict(rows[0])
    assert unmoved["training"].ks.estimate == pytest.approx(ks(scores, rows[2]))
    # A barycentre that had seen the row would show half a step of the two distribution functions.
    assert moved["out_of_fold"].ks.estimate > 0.5 * (1 / (rows[2] == "a").sum() + 1 / (rows[2] == "b").sum())


def test_the_disparity_out_of_fold_is_no_smaller_than_that_of_new_rows():
    stored, new = [], []
    for _ in range(6):
        rows, targets, s = draw(300)
        model = fit(rows, targets, s, **AWARE)
        stored.append(model.distribution_disparity_["out_of_fold"])
        others = [draw(300) for _ in range(5)]
        predicted = [(model.predict(Z, sensitive_features=g), g) for Z, _, g in others]
        new += [distribution_disparity(None, f, sensitive_features=g) for f, g in predicted]
    for name in ("ks", "w1"):
        found = np.mean([getattr(disparity, name).estimate for disparity in stored])
        expected = np.mean([getattr(disparity, name) for disparity in new])
        assert expected < found < 2 * expected  # halves: fewer rows, so chance shows more


def test_each_target_has_a_barycentre():
    targets = np.column_stack([Y, -(X[:, 2] ** 2)])
    together = fit(y=targets, **AWARE)
    assert together.predict(NEW, sensitive_features=GROUP).shape == (3000, 2)
    assert len(together.distribution_disparity_["training"]) == 2
    # The folds are spread over the levels of the first target.
    np.testing.assert_allclose(
        together.predict(NEW, sensitive_features=GROUP)[:, 0],
        fit(**AWARE).predict(NEW, sensitive_features=GROUP),
        atol=1e-9,
    )


def test_row_order_changes_nothing():
    order = RNG.permutation(N)
    one, two = fit(**AWARE), fit(X[order], Y[order], S[order], **AWARE)
    np.testing.assert_allclose(
        one.predict(NEW, sensitive_features=GROUP), two.predict(NEW, sensitive_features=GROUP), atol=1e-6
    )


def test_weights_are_honoured():
    weight = np.where(S == "a", 3.0, 1.0)
    shares = fit(weight=weight, **AWARE).barycentres_[0].shares
    assert shares[0] == pytest.approx(3 * (S == "a").sum() / weight.sum())


def test_sorted_rows_leave_every_group_in_every_fold():
    order = np.argsort(S, kind="stable")
    assert np.isfinite(fit(X[order], Y[order], S[order], **AWARE).predict(NEW, sensitive_features=GROUP)).all()


def test_a_group_of_two_rows_is_enough_and_said():
    s = np.where(np.arange(N) < 2, "rare", S)
    with pytest.warns(SmallGroupWarning, match="'rare' has 2 rows"):
        model = fit(s=s, **AWARE)
    assert np.isfinite(model.predict(X, sensitive_features=s)).all()


def test_named_columns_of_X_are_read_at_predict_too():
    frame = pd.DataFrame(X, columns=list("uvw")).assign(sex=S)
    model = FairKernelRegressor(gamma=0.1, sensitive_feature_ids=["sex"], random_state=0, **AWARE).fit(frame, Y)
    expected = fit(**AWARE).predict(X, sensitive_features=S)
    np.testing.assert_allclose(model.predict(frame), expected, atol=1e-10)
    np.testing.assert_allclose(model.predict(frame[list("uvw")], sensitive_features=S), expected, atol=1e-10)
    with pytest.raises(TypeError, match="with aware=True needs sensitive_features"):
        model.predict(frame[list("uvw")])


def test_groups_reach_the_model_through_a_pipeline_and_a_search():
    with sklearn.config_context(enable_metadata_routing=True):
        model = make_pipeline(StandardScaler(), FairKernelRegressor(random_state=0, **AWARE))
        model.fit(X, Y, sensitive_features=S)
        assert model.predict(NEW, sensitive_features=GROUP).shape == (3000,)
        search = GridSearchCV(FairKernelRegressor(random_state=0, **AWARE), {"alpha": [0.1, 1.0]}, cv=KFold(3))
        search.fit(X, Y, sensitive_features=S)
        assert 0 < search.best_score_ < 1
        assert search.score(X, Y, sensitive_features=S) > 0


def test_the_score_is_R2_of_the_predictions():
    aware, blind = fit(**AWARE), fit()
    residual = Y - aware.predict(X, sensitive_features=S)
    assert aware.score(X, Y, sensitive_features=S) == pytest.approx(1 - (residual**2).mean() / Y.var())
    assert blind.score(X, Y) == blind.score(X, Y, sensitive_features=S)


def test_rows_without_a_group_count_for_the_score_and_not_for_the_barycentre():
    s = np.where(np.arange(N) % 10 == 0, None, S)
    with pytest.warns(MissingSensitiveWarning, match="missing in 40 of 400 rows"):
        model = fit(s=s, missing_sensitive="ignore", **AWARE)
    assert [len(v) for v in model.barycentres_[0].values] == [(s == g).sum() for g in "ab"]
    with pytest.raises(ValueError, match=r"missing in 40 rows \(the first is row 0\): an aware prediction needs"):
        model.predict(X, sensitive_features=s)


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        ({"distribution_parity": 0.5}, r"distribution_parity=0\.5 .*set aware=True.*blind.*n_moments=2"),
        ({**AWARE, "criterion": "odds"}, "aware=True levels the distributions over all rows; criterion='odds'"),
        ({"hsic_rounds": 1, "objective": "printed"}, "hsic_rounds=1 goes beyond equal means"),
    ],
)
def test_what_does_not_go_together_is_refused(options, sentence):
    with pytest.raises(ValueError, match=sentence):
        fit(**options)


def test_a_continuous_attribute_has_no_barycentre():
    sentence = "is numeric with many distinct values, and aware=True moves the scores of groups"
    with pytest.warns(ContinuousSensitiveWarning), pytest.raises(ValueError, match=sentence):
        fit(s=X[:, 0] + RNG.normal(size=N), **AWARE)


def test_a_blind_model_refuses_groups_at_predict():
    with pytest.raises(ValueError, match="with aware=False predictions do not depend on it"):
        fit().predict(X, sensitive_features=S)


def test_a_fit_keeps_no_training_features_and_a_refit_forgets_the_barycentres():
    model = fit(hsic_rounds=1, **AWARE)
    assert not {"_folds", "_shown"} & set(vars(model))
    model.set_params(aware=False, distribution_parity=0.0).fit(X, Y, sensitive_features=S)
    assert clone(model).get_params()["hsic_rounds"] == 1
    np.testing.assert_allclose(model.predict(NEW), fit(hsic_rounds=1, disparity_kept=1.0).predict(NEW), atol=0)
    assert not hasattr(model, "barycentres_")
    assert not hasattr(model, "distribution_disparity_")


# Blind


@pytest.mark.parametrize("parameters", [{}, {"n_components": 20}, {"kernel": "laplacian"}])
def test_one_round_brings_the_distributions_closer_and_leaves_the_means_equal(parameters):
    before, after = fit(**parameters), fit(hsic_rounds=1, **parameters)
    assert after.mean_gap_ < 1e-9
    assert ks(after.predict(NEW)) < ks(before.predict(NEW))


def test_several_outputs_are_separate_fits():
    targets = np.column_stack([Y, -(X[:, 2] ** 2)])
    together = fit(y=targets, hsic_rounds=2).predict(NEW)
    for j in (0, 1):
        np.testing.assert_allclose(together[:, j], fit(y=targets[:, j], hsic_rounds=2).predict(NEW), atol=1e-8)


def test_under_another_criterion_the_distributions_come_closer_within_the_strata():
    cells = cells_of("odds", read_sensitive(S), Y)
    contrasts = group_contrasts(cells.codes, cells.strata, cells.numeric, np.ones(N))

    def distance(r):
        order = np.argsort(scores := fit(criterion="odds", hsic_rounds=r).predict(X))
        return (np.cumsum(contrasts[order], axis=0)[:-1] ** 2).sum(axis=1) @ np.diff(scores[order])

    assert distance(1) < distance(0)


def test_several_rounds_bring_them_closer_still():
    w1 = [
        distribution_disparity(None, fit(hsic_rounds=r).predict(X), sensitive_features=S).w1 for r in (0, 1, 4)
    ]
    assert w1[2] < w1[1] < w1[0]


def test_the_kept_share_of_the_mean_gap_is_exact_beside_a_direction():
    full = fit(hsic_rounds=2, disparity_kept=1.0)
    assert fit(hsic_rounds=2, disparity_kept=0.3).mean_gap_ == pytest.approx(0.3 * full.mean_gap_)


def test_a_continuous_attribute_has_a_direction_too():
    age = X[:, 0] ** 2 + RNG.normal(size=N)
    thirds = np.digitize(age, np.quantile(age, [1 / 3, 2 / 3])).astype(str)
    with pytest.warns(ContinuousSensitiveWarning):
        before, after = (fit(s=age, alpha=0.1, hsic_rounds=r).predict(X) for r in (0, 2))
    assert ks(after, thirds) < 0.8 * ks(before, thirds)


@pytest.mark.parametrize("alpha", [0.1, 2.0])
@pytest.mark.parametrize("kept", [0.0, 0.6])
def test_subtracting_a_fold_equals_refitting_on_the_other_rows(alpha, kept):
    found = out_of_fold_scores(
        FairKernelRegressor(hsic_rounds=2, random_state=0),
        X[:150],
        Y[:150],
        sensitive_features=S[:150],
        n_components=[5, None],
        alphas=[0.1, 2.0],
        cv=KFold(3),
    )
    for train, test in KFold(3).split(X[:150]):
        for i, k in enumerate((5, None)):
            model = FairKernelRegressor(
                k, alpha=alpha, disparity_kept=kept, hsic_rounds=2, features="exact", random_state=0
            ).fit(X[train], Y[train], sensitive_features=S[train])
            j = [0.1, 2.0].index(alpha)
            np.testing.assert_allclose(found.at(kept)[test, i, j, 0], model.predict(X[test]), atol=1e-7)


def test_weights_are_duplicated_rows_for_the_direction():
    weight = RNG.integers(1, 4, N)
    weighted = fit(weight=weight.astype(float), hsic_rounds=2)
    repeated = fit(np.repeat(X, weight, axis=0), np.repeat(Y, weight), np.repeat(S, weight), hsic_rounds=2)
    np.testing.assert_allclose(weighted.predict(NEW), repeated.predict(NEW), atol=1e-5)


def test_rows_without_a_group_do_not_shape_the_direction():
    s = np.where(np.arange(N) % 4 == 0, None, S)
    other = np.where(np.arange(N) % 4 == 0, "", S)
    with pytest.warns(MissingSensitiveWarning):
        one, two = (fit(s=v, missing_sensitive="ignore", hsic_rounds=1).predict(NEW) for v in (s, other))
    np.testing.assert_array_equal(one, two)
    assert np.abs(one - fit(hsic_rounds=1).predict(NEW)).max() > 1e-3


def test_second_moments_need_groups():
    for Estimator in (FairFeatureEmbedding, FairKernelRegressor):
        with (
            pytest.warns(ContinuousSensitiveWarning),
            pytest.raises(ValueError, match="n_moments=2 compares the variances of groups"),
        ):
            Estimator(n_moments=2).fit(X, Y, sensitive_features=X[:, 0] + RNG.normal(size=N))
