import numpy as np
import pytest
from sklearn.model_selection import KFold, PredefinedSplit, ShuffleSplit, StratifiedKFold

from fairkernel import FairKernelClassifier, FairKernelRegressor
from fairkernel.estimators.out_of_fold import new_row_scores, out_of_fold_scores

RNG = np.random.default_rng(0)
N = 150
S = RNG.integers(0, 3, N)
X = RNG.normal(size=(N, 4)) + 0.5 * S[:, None]
Y = X[:, 0] ** 2 + X[:, 1] + 0.1 * RNG.normal(size=N)


@pytest.mark.parametrize("options", [{}, {"n_moments": 2}, {"kernel": "poly", "gamma": 0.2}])
@pytest.mark.parametrize("kept", [0.0, 0.3, 1.0])
def test_subtracting_a_fold_equals_refitting_on_the_other_rows(options, kept):
    found = out_of_fold_scores(
        FairKernelRegressor(random_state=0, **options),
        X,
        Y,
        sensitive_features=S,
        n_components=[5, None],
        alphas=[0.1, 2.0],
        cv=KFold(3),
    )
    for train, test in KFold(3).split(X):
        for i, k in enumerate((5, None)):
            model = FairKernelRegressor(
                k, alpha=2.0, disparity_kept=kept, features="exact", random_state=0, **options
            ).fit(X[train], Y[train], sensitive_features=S[train])
            np.testing.assert_allclose(found.at(kept)[test, i, 1, 0], model.predict(X[test]), atol=1e-8)


def test_sample_weights_are_used_and_absent_rows_left_out():
    weight = RNG.integers(0, 3, N).astype(float)
    kept = weight > 0
    found = out_of_fold_scores(
        FairKernelRegressor(random_state=0), X, Y, sensitive_features=S, sample_weight=weight, cv=KFold(3)
    )
    assert len(found.fold) == kept.sum()
    train = found.fold != 0
    model = FairKernelRegressor(disparity_kept=0.0, features="exact").fit(
        X[kept][train], Y[kept][train], sensitive_features=S[kept][train], sample_weight=weight[kept][train]
    )
    np.testing.assert_allclose(found.parity[~train, 0, 0, 0], model.predict(X[kept][~train]), atol=1e-8)


def test_every_fold_has_its_share_of_every_class_in_every_group():
    labels = np.array(["p", "q", "r"])[RNG.integers(0, 3, N)]
    found = out_of_fold_scores(FairKernelClassifier(random_state=0), X, labels, sensitive_features=S, cv=5)
    assert found.parity.shape == (N, 1, 1, 3)
    np.testing.assert_allclose(found.plain.sum(axis=-1), 1.0, atol=1e-9)
    for s in range(3):
        for label in "pqr":
            counts = np.bincount(found.fold[(s == S) & (labels == label)], minlength=5)
            assert np.ptp(counts) <= 1


def test_a_splitter_of_scikit_learn_deals_the_rows_as_it_does():
    labels = np.array(["p", "q", "r"])[RNG.integers(0, 3, N)]
    cv = StratifiedKFold(5)
    found = out_of_fold_scores(FairKernelClassifier(random_state=0), X, labels, sensitive_features=S, cv=cv)
    for f, (_, test) in enumerate(cv.split(X, labels)):
        assert (found.fold[test] == f).all()


def test_targets_of_a_fold_do_not_reach_the_models_that_score_it():
    cv, model = KFold(3), FairKernelRegressor(random_state=0)
    before = out_of_fold_scores(model, X, Y, sensitive_features=S, cv=cv)
    changed = Y.copy()
    changed[before.fold == 1] += 100.0
    after = out_of_fold_scores(model, X, changed, sensitive_features=S, cv=cv)
    same = before.fold == 1
    np.testing.assert_allclose(after.plain[same], before.plain[same], atol=1e-9)
    assert np.abs(after.plain[~same] - before.plain[~same]).min() > 1.0


def test_new_rows_are_scored_as_by_the_fitted_estimator():
    parity, plain = new_row_scores(
        FairKernelRegressor(random_state=0), X, Y, X[:20] + 0.1, sensitive_features=S, n_components=[7], alphas=[0.5]
    )
    for kept, scores in ((0.0, parity), (1.0, plain)):
        model = FairKernelRegressor(7, alpha=0.5, disparity_kept=kept, random_state=0).fit(X, Y, sensitive_features=S)
        np.testing.assert_allclose(scores[:, 0, 0, 0], model.predict(X[:20] + 0.1), atol=1e-9)


def test_the_estimator_is_not_changed():
    model = FairKernelRegressor(random_state=0)
    out_of_fold_scores(model, X, Y, sensitive_features=S)
    assert not hasattr(model, "kernel_")


@pytest.mark.parametrize(
    ("cv", "sentence"),
    [
        (ShuffleSplit(3, test_size=0.9, random_state=0), "holds some rows out more than once"),
        (ShuffleSplit(1, test_size=0.5, random_state=0), "never holds out 75 rows"),
    ],
)
def test_splits_that_are_no_partition_are_refused(cv, sentence):
    with pytest.raises(ValueError, match=sentence):
        out_of_fold_scores(FairKernelRegressor(), X, Y, sensitive_features=S, cv=cv)


def test_a_fold_that_takes_a_whole_group_away_is_refused():
    s = np.repeat(["a", "b"], 30)
    X = np.random.default_rng(0).normal(size=(60, 2)) + (s == "b")[:, None]
    with pytest.raises(ValueError, match="without fold 1 of 2 no row is left of group 'a'"):
        out_of_fold_scores(FairKernelRegressor(), X, X[:, 0], sensitive_features=s, cv=KFold(2))


def test_splits_that_are_written_out_count_the_rows_without_weight():
    rng = np.random.default_rng(0)
    X, s, weight = rng.normal(size=(90, 2)), np.arange(90) % 2, np.ones(90)
    weight[rng.permutation(90)[:20]] = 0
    splits = list(KFold(3, shuffle=True, random_state=0).split(X))
    found = out_of_fold_scores(
        FairKernelRegressor(random_state=0), X, X[:, 0], sensitive_features=s, sample_weight=weight, cv=splits
    )
    fold = np.empty(90, dtype=int)
    for f, (_, held_out) in enumerate(splits):
        fold[held_out] = f
    np.testing.assert_array_equal(found.fold, fold[weight > 0])


def test_splits_may_be_masks_count_from_the_end_or_be_predefined():
    rng = np.random.default_rng(0)
    X, s, weight = rng.normal(size=(90, 2)), np.arange(90) % 2, np.ones(90)
    weight[rng.permutation(90)[:20]] = 0
    rows = np.arange(90)
    half = rows // 3 % 2 == 0
    given = {"sensitive_features": s, "sample_weight": weight}
    ways = [
        [(rows[~half], rows[half]), (rows[half], rows[~half])],
        [(~half, half), (half, ~half)],
        [(rows[~half], rows[half] - 90), (rows[half], rows[~half] - 90)],
        PredefinedSplit(np.where(half, 0, 1)),
    ]
    folds = [out_of_fold_scores(FairKernelRegressor(random_state=0), X, X[:, 0], cv=cv, **given).fold for cv in ways]
    for fold in folds:
        np.testing.assert_array_equal(fold, np.where(half, 0, 1)[weight > 0])
    wrong = [(rows[~half], np.append(rows[half], 95)), (rows[half], rows[~half])]
    with pytest.raises(IndexError):
        out_of_fold_scores(FairKernelRegressor(), X, X[:, 0], cv=wrong, **given)
