"""Mean-matched ridge (our reconstruction of FRR): identities first, then other libraries, then guarantees."""

import itertools

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from sklearn import config_context
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import LogisticRegression, Ridge, RidgeClassifier
from sklearn.model_selection import cross_validate
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from fairkernel import FairKernelClassifier
from fairkernel.baselines.mean_matched import MeanMatchedRidge

VARIANTS = ("V1", "V2", "V3")


def shifted_groups(n=120, columns=5, n_groups=2, seed=0):
    rng = np.random.default_rng(seed)
    s = rng.permutation(np.arange(n) % (n_groups + 1) % n_groups)  # unequal sizes
    X = (
        rng.normal(size=(n, columns)) @ rng.normal(size=(columns, columns))
        + 0.6 * rng.normal(size=(n_groups, columns))[s]
    )
    y = (X[:, 0] + X[:, 1] + 0.5 * s + rng.normal(size=n) > 0.3).astype(int)
    return X, s, y


X, S, Y = shifted_groups()
X3, S3, Y3 = shifted_groups(n_groups=3, seed=1)
M, D = X.mean(axis=0), X[S == 1].mean(axis=0) - X[S == 0].mean(axis=0)
C = np.cov(X.T, bias=True)


def fitted(variant="V1", X=X, s=S, y=Y, **parameters):
    return MeanMatchedRidge(variant=variant, **parameters).fit(X, y, sensitive_features=s)


def gaps(values, s):
    means = np.array([values[s == g].mean(axis=0) for g in np.unique(s)])
    return means[1:] - means[0]


# The representation --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("variant", VARIANTS)
@pytest.mark.parametrize(("X", "s", "y"), [(X, S, Y), (X3, S3, Y3)])
def test_group_means_of_z_are_equal(variant, X, s, y):
    assert_allclose(gaps(fitted(variant, X, s, y).transform(X, sensitive_features=s), s), 0.0, atol=1e-12)


@pytest.mark.parametrize("variant", VARIANTS)
@given(a=st.floats(0, 1))
def test_the_mean_gap_of_z_is_one_minus_a_of_that_of_x(variant, a):
    Z = fitted(variant, gap_removed=a).transform(X, sensitive_features=S)
    assert_allclose(gaps(Z, S), (1 - a) * D[None, :], atol=1e-12)


@pytest.mark.parametrize("variant", VARIANTS)
def test_the_overall_mean_stays(variant):
    assert_allclose(fitted(variant).transform(X, sensitive_features=S).mean(axis=0), M, atol=1e-12)


def test_v1_is_the_orthogonal_projection_of_its_formula():
    v = D / np.linalg.norm(D)
    model = fitted("V1")
    assert_allclose(model.matching_, np.eye(5) - np.outer(v, v), atol=1e-14)
    assert_allclose(model.matching_ @ model.matching_, model.matching_, atol=1e-14)
    assert_allclose(model.matching_, model.matching_.T, atol=1e-15)
    assert np.linalg.matrix_rank(model.matching_) == 4
    assert np.linalg.norm(model.matching_, 2) <= 1 + 1e-14  # 1-Lipschitz
    Z = model.transform(X)
    assert_allclose(model.transform(Z), Z, atol=1e-13)


def test_v2_subtracts_the_group_mean_and_adds_the_overall_one():
    assert_allclose(fitted("V2").transform(X, sensitive_features=S), X - np.outer(S - S.mean(), D), atol=1e-13)


def test_v3_is_the_projection_of_its_formula_and_orthogonal_in_c():
    W, inverse = fitted("V3").matching_, np.linalg.inv(C)
    assert_allclose(W, np.eye(5) - np.outer(D, D @ inverse) / (D @ inverse @ D), atol=1e-12)
    assert_allclose(W @ W, W, atol=1e-12)
    assert_allclose(W @ C, C @ W.T, atol=1e-12)


@pytest.mark.parametrize(("X", "s", "y"), [(X, S, Y), (X3, S3, Y3)])
def test_v3_moves_rows_least_among_linear_maps_without_gap(X, s, y):
    model = fitted("V3", X, s, y)
    D, C, rng = gaps(X, s).T, np.cov(X.T, bias=True), np.random.default_rng(0)
    still = np.eye(5) - D @ np.linalg.pinv(D)
    for size in (1e-3, 1e-1, 1.0):
        A = np.eye(5) - model.matching_ + size * rng.normal(size=(5, 5)) @ still  # another with no gap
        assert_allclose((np.eye(5) - A) @ D, 0.0, atol=1e-12)
        assert np.trace(A @ C @ A.T) > model.distortion_


def test_distortions_are_those_of_the_formulas_and_in_order():
    v, d2, share = D / np.linalg.norm(D), D @ D, S.mean()
    v1, v2, v3 = (fitted(variant).distortion_ for variant in VARIANTS)
    assert_allclose(v1, v @ C @ v)
    assert_allclose(v2, share * (1 - share) * d2)
    assert_allclose(v3, d2 / (D @ np.linalg.solve(C, D)))
    assert v2 <= v3 <= v1


@pytest.mark.parametrize("variant", VARIANTS)
def test_groups_of_equal_means_are_left_as_they_are(variant):
    level = X - np.array([X[S == g].mean(axis=0) for g in (0, 1)])[S]
    assert_allclose(fitted(variant, level).transform(level, sensitive_features=S), level, atol=1e-13)


def test_v3_stands_repeated_columns():
    model = fitted("V3", np.column_stack([X, X[:, 0]]))
    Z = model.transform(np.column_stack([X, X[:, 0]]))
    assert_allclose(gaps(Z, S), 0.0, atol=1e-10)
    assert_allclose(Z[:, 0], Z[:, 5], atol=1e-10)


# What any decision on z inherits -------------------------------------------------------------------------------------


def test_no_decision_on_a_discrete_z_has_more_disparity_than_the_total_variation():
    rng = np.random.default_rng(3)
    corners = np.array([[0, 0], [0, 1], [1, 0], [1, 1], [2, 1]], dtype=float)
    s = np.arange(400) % 2
    X = corners[np.where(s == 0, rng.choice(5, 400, p=[0.4, 0.3, 0.1, 0.1, 0.1]), rng.choice(5, 400))]
    Z = fitted("V1", X, s, rng.integers(0, 2, 400)).transform(X)
    values, at = np.unique(Z.round(9), axis=0, return_inverse=True)
    P = np.array([np.bincount(at.reshape(-1)[s == g], minlength=len(values)) / (s == g).sum() for g in (0, 1)])
    total_variation = np.abs(P[1] - P[0]).sum() / 2
    rules = np.array(list(itertools.product([0, 1], repeat=len(values))))
    disparity = np.abs(rules @ (P[1] - P[0]))
    balanced_error = ((rules @ P[0]) + (1 - rules @ P[1])) / 2  # of reading s off z
    assert_allclose(disparity.max(), total_variation)
    assert_allclose(balanced_error.min(), (1 - total_variation) / 2)
    assert 0 < total_variation < 1
    y = X[:, 0] > rng.random(400)
    decided = fitted("V1", X, s, y).predict(X)
    assert abs(decided[s == 1].mean() - decided[s == 0].mean()) <= total_variation + 1e-12


@pytest.mark.parametrize("variant", VARIANTS)
@pytest.mark.parametrize("a", [0.0, 0.3, 1.0])
def test_the_gap_of_a_linear_score_is_bounded_by_its_norm_times_the_gap_of_z(variant, a):
    model = fitted(variant, gap_removed=a)
    scores = model.decision_function(X, sensitive_features=S)
    gap = abs(gaps(scores, S)[0])
    assert_allclose(gap, model.mean_gap_[0], atol=1e-13)
    assert gap <= np.linalg.norm(model.coef_) * (1 - a) * np.linalg.norm(D) + 1e-12


@pytest.mark.parametrize("variant", VARIANTS)
@pytest.mark.parametrize("alpha", [0.0, 1.0, 1e4])
@pytest.mark.parametrize(("X", "s", "y"), [(X, S, Y), (X3, S3, Y3)])
def test_mean_scores_are_equal_at_every_penalty(variant, alpha, X, s, y):
    model = fitted(variant, X, s, y, alpha=alpha)
    assert model.mean_gap_.max() < 1e-12
    assert_allclose(gaps(model.decision_function(X, sensitive_features=s), s), 0.0, atol=1e-12)


@pytest.mark.parametrize("variant", VARIANTS)
def test_another_linear_model_on_z_has_equal_mean_scores_too(variant):
    Z = fitted(variant).transform(X, sensitive_features=S)
    assert_allclose(gaps(LogisticRegression().fit(Z, Y).decision_function(Z), S), 0.0, atol=1e-10)
    plain = LogisticRegression().fit(X, Y).decision_function(X)
    assert abs(gaps(plain, S)[0]) > 0.1


# The ridge -----------------------------------------------------------------------------------------------------------


def constrained_ridge(alpha):
    """w = w₀ − G d (dᵀw₀)/(dᵀG d), the ridge with dᵀw = 0."""
    G = np.linalg.inv((X - M).T @ (X - M) + alpha * np.eye(5))
    w = G @ (X - M).T @ (Y - Y.mean())
    return w - G @ D * (D @ w) / (D @ G @ D)


@pytest.mark.parametrize("alpha", [0.1, 1.0, 30.0])
def test_ridge_on_v1_is_ridge_constrained_to_no_gap(alpha):
    model = fitted("V1", alpha=alpha)
    assert_allclose(model.coef_[0] @ model.matching_, constrained_ridge(alpha), atol=1e-12)


def test_without_penalty_v1_v3_and_constrained_least_squares_agree():
    for model in (fitted("V1", alpha=0.0), fitted("V3", alpha=0.0)):
        assert_allclose(model.coef_[0] @ model.matching_, constrained_ridge(0.0), atol=1e-12)


@pytest.mark.parametrize("alpha", [0.1, 10.0])
@pytest.mark.parametrize(("X", "s", "y"), [(X, S, Y), (X3, S3, Y3)])
def test_v1_is_fair_kernel_ridge_with_the_linear_kernel(alpha, X, s, y):
    kernel = FairKernelClassifier(kernel="linear", alpha=alpha, features="exact").fit(X, y, sensitive_features=s)
    assert_allclose(fitted("V1", X, s, y, alpha=alpha).decision_function(X), kernel.decision_function(X), atol=1e-9)


@pytest.mark.parametrize("variant", ["V1", "V3"])
def test_ridge_without_penalty_undoes_an_incomplete_matching(variant):
    plain = Ridge(alpha=0.0).fit(X, Y).predict(X) - 0.5
    assert_allclose(fitted(variant, gap_removed=0.5, alpha=0.0).decision_function(X), plain, atol=1e-10)
    penalised = fitted(variant, gap_removed=0.5, alpha=50.0)
    assert np.abs(penalised.decision_function(X) - (Ridge(alpha=50.0).fit(X, Y).predict(X) - 0.5)).max() > 1e-3


@pytest.mark.parametrize("variant", VARIANTS)
def test_nothing_removed_is_scikit_learns_ridge(variant):
    model = fitted(variant, gap_removed=0.0, alpha=2.0)
    other = RidgeClassifier(alpha=2.0).fit(X, Y)
    assert_allclose(2 * model.decision_function(X, sensitive_features=S), other.decision_function(X), atol=1e-12)
    assert_array_equal(model.predict(X, sensitive_features=S), other.predict(X))


def test_several_classes_get_one_score_each():
    y = np.array(["low", "mid", "top"])[np.digitize(X[:, 0], [-1, 1])]
    model = fitted("V3", y=y, alpha=0.5)
    Z = model.transform(X)
    expected = Ridge(alpha=0.5).fit(Z, y[:, None] == model.classes_).predict(Z)
    assert_allclose(model.decision_function(X), expected, atol=1e-12)
    assert_array_equal(model.predict(X), model.classes_[expected.argmax(axis=1)])
    assert model.mean_gap_.shape == (3,)


# Guarantees ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("variant", VARIANTS)
@given(weight=st.lists(st.integers(0, 3), min_size=30, max_size=30))
def test_weights_are_repeated_rows(variant, weight):
    s, y = np.arange(30) % 2, np.arange(30) // 2 % 2
    weight = np.array(weight) + np.where(np.arange(30) < 8, 1, 0)
    rows = np.repeat(np.arange(30), weight)
    weighted = MeanMatchedRidge(variant=variant).fit(X[:30], y, sensitive_features=s, sample_weight=weight)
    repeated = fitted(variant, X[rows], s[rows], y[rows])
    scores, expected = (m.decision_function(X[:30], sensitive_features=s) for m in (weighted, repeated))
    assert_allclose(scores, expected, atol=1e-9)
    assert_allclose(weighted.distortion_, repeated.distortion_, rtol=1e-9)


@pytest.mark.parametrize("variant", VARIANTS)
def test_order_of_rows_and_names_of_groups_do_not_matter(variant):
    order = np.random.default_rng(0).permutation(len(X3))
    names = np.array(["c", "a", "b"])[S3]
    plain = fitted(variant, X3, S3, Y3).decision_function(X3, sensitive_features=S3)
    moved = fitted(variant, X3[order], S3[order], Y3[order]).decision_function(X3, sensitive_features=S3)
    renamed = fitted(variant, X3, names, Y3).decision_function(X3, sensitive_features=names)
    assert_allclose(moved, plain, atol=1e-12)
    assert_allclose(renamed, plain, atol=1e-12)


@pytest.mark.parametrize("variant", VARIANTS)
def test_the_same_fit_gives_the_same_bits(variant):
    assert_array_equal(fitted(variant).coef_, fitted(variant).coef_)


@pytest.mark.parametrize("variant", VARIANTS)
def test_single_precision_rows_are_scored_closely(variant):
    single = fitted(variant, X.astype(np.float32))
    Z = single.transform(X.astype(np.float32), sensitive_features=S)
    assert Z.dtype == np.float32
    assert_allclose(Z, fitted(variant).transform(X, sensitive_features=S), atol=1e-4)


@pytest.mark.parametrize("variant", VARIANTS)
def test_groups_pass_through_a_pipeline(variant):
    scaled = StandardScaler().fit_transform(X)
    expected = fitted(variant, scaled).decision_function(scaled, sensitive_features=S)
    with config_context(enable_metadata_routing=True):
        pipe = make_pipeline(StandardScaler(), MeanMatchedRidge(variant=variant)).fit(X, Y, sensitive_features=S)
        assert_allclose(pipe.decision_function(X, sensitive_features=S), expected, atol=1e-12)
        on_z = make_pipeline(MeanMatchedRidge(variant=variant), LogisticRegression())
        on_z.fit(X, Y, sensitive_features=S)
        assert_allclose(gaps(on_z.decision_function(X, sensitive_features=S), S), 0.0, atol=1e-10)


@pytest.mark.parametrize("variant", VARIANTS)
def test_the_score_is_the_accuracy_of_predictions_that_see_the_groups(variant):
    labels, weight = np.array(["no", "yes"])[Y], np.arange(len(Y)) % 3
    model = fitted(variant, y=labels)
    right = model.predict(X, sensitive_features=S) == labels
    assert model.score(X, labels, sensitive_features=S) == pytest.approx(right.mean())
    expected = np.average(right, weights=weight)
    assert model.score(X, labels, sample_weight=weight, sensitive_features=S) == pytest.approx(expected)


@pytest.mark.parametrize("variant", VARIANTS)
def test_groups_reach_every_step_of_cross_validation_by_routing(variant):
    model = MeanMatchedRidge(variant=variant)
    with config_context(enable_metadata_routing=True):
        found = cross_validate(model, X, Y, params={"sensitive_features": S}, cv=3, error_score="raise")
    assert (found["test_score"] > 0.6).all()


def test_frames_keep_their_names():
    frame = pd.DataFrame(X, columns=list("abcde"))
    model = MeanMatchedRidge().set_output(transform="pandas").fit(frame, Y, sensitive_features=S)
    assert list(model.transform(frame).columns) == list("abcde")
    with pytest.raises(ValueError, match="feature names should match"):
        model.predict(frame[list("edcba")])


# Inputs --------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("variant", VARIANTS)
def test_constant_columns_give_a_constant_score(variant):
    model = fitted(variant, np.ones((20, 2)), np.arange(20) % 2, np.arange(20) % 4 == 0)
    assert_allclose(model.decision_function(np.ones((2, 2)), sensitive_features=[0, 1]), -0.25)


def test_v2_says_that_it_needs_groups_to_predict():
    for method in ("predict", "transform", "decision_function"):
        with pytest.raises(
            TypeError, match="moves each row by the mean of its group: pass sensitive_features when pre"
        ):
            getattr(fitted("V2"), method)(X)


def test_v2_scores_rows_of_a_single_group():
    model = fitted("V2")
    one = model.decision_function(X[S == 1], sensitive_features=S[S == 1])
    assert_allclose(one, model.decision_function(X, sensitive_features=S)[S == 1], atol=1e-14)


@pytest.mark.parametrize(("strangers", "named"), [(np.array([0, 2]), "2"), (np.array(["0", "1"]), "'0', '1'")])
def test_v2_lists_groups_it_has_not_seen(strangers, named):
    with pytest.raises(ValueError, match=f"groups that fit did not see: {named}; it saw 0, 1"):
        fitted("V2").predict(X[:2], sensitive_features=strangers)


@pytest.mark.parametrize(
    ("X", "s", "y", "error", "sentence"),
    [
        (X, None, Y, TypeError, r"MeanMatchedRidge.fit\(\) needs sensitive_features"),
        (X, np.zeros(len(X)), Y, ValueError, r"one group only \(0.0\)"),
        (X, np.arange(len(X)) == 3, Y, ValueError, "group True has 1 row; at least 2"),
        (X, np.where(S == 0, np.nan, 1.0), Y, ValueError, "sensitive_features has missing values"),
        (X, X[:, 0], Y, ValueError, "is numeric with many distinct values, and MeanMatchedRidge compares groups"),
        (X, S, np.ones(len(X)), ValueError, r"y has one class only \(.*1\.0"),
        (X * 1e200, S, Y, ValueError, "the covariance of X overflows: scale the columns first"),
    ],
)
@pytest.mark.parametrize("variant", VARIANTS)
def test_what_cannot_be_read_is_an_error(variant, X, s, y, error, sentence):
    with pytest.raises(error, match=sentence):
        fitted(variant, X, s, y)


@pytest.mark.parametrize("parameters", [{"variant": "V4"}, {"gap_removed": 1.5}, {"alpha": -1.0}])
def test_parameters_out_of_range_are_refused(parameters):
    with pytest.raises(ValueError, match=f"The '{next(iter(parameters))}' parameter of MeanMatchedRidge must be"):
        MeanMatchedRidge(**parameters).fit(X, Y, sensitive_features=S)


def test_missing_groups_can_be_a_group_of_their_own():
    s = np.where(S == 0, "a", "b").astype(object)
    s[:20] = None
    model = fitted("V2", s=s, missing_sensitive="group")
    assert model.groups_ == ("a", "b", "missing")
    assert_allclose(model.predict(X, sensitive_features=s), (model.decision_function(X, sensitive_features=s) >= 0))


def test_an_unfitted_model_says_so():
    for method in ("predict", "transform", "decision_function"):
        with pytest.raises(NotFittedError):
            getattr(MeanMatchedRidge(), method)(X)


def test_it_says_that_it_is_a_reconstruction():
    assert "our reconstruction" in " ".join(MeanMatchedRidge.__doc__.lower().split())


# The paper's rivals on its Crime table -------------------------------------------------------------------------------


@pytest.mark.data
@pytest.mark.parametrize(("variant", "error", "disparity"), [("V1", 0.137, 0.032), ("V2", 0.131, 0.044)])
def test_crime_figures_stand(variant, error, disparity):
    from fairkernel.datasets import fetch_communities_crime

    table = fetch_communities_crime(include_sensitive=False, as_frame=False)
    found = []
    for train, test in table.splits[:20]:
        scaler = StandardScaler().fit(table.data[train])
        s = table.sensitive_features
        model = fitted(variant, scaler.transform(table.data[train]), s[train], table.target[train])
        decided = model.predict(scaler.transform(table.data[test]), sensitive_features=s[test])
        rates = [decided[s[test] == g].mean() for g in (0, 1)]
        found.append([(decided != table.target[test]).mean(), abs(rates[1] - rates[0])])
    assert_allclose(np.mean(found, axis=0), [error, disparity], atol=0.0015)
