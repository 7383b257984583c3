"""Fair PCA: its theorems first, then other libraries, then the guarantees every estimator here gives."""

import warnings

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from sklearn import config_context
from sklearn.decomposition import PCA
from sklearn.exceptions import ConvergenceWarning, NotFittedError
from sklearn.linear_model import Ridge, RidgeClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from fairkernel.baselines.fair_pca import FairPCA
from fairkernel.exceptions import RankWarning, SensitiveColumnWarning
from fairkernel.solve.level_losses import Losses, fewer_fractions, least_rank, level_several, level_two

RNG = np.random.default_rng(0)


def different_groups(n_groups=2, columns=6, rows=40, seed=0):
    """Groups that vary in directions of their own, about means of their own."""
    rng = np.random.default_rng(seed)
    s = np.repeat(np.arange(n_groups), rows + 7 * np.arange(n_groups))
    spread = rng.normal(size=(n_groups, columns, columns)) * rng.random(columns) ** 2
    X = np.einsum("ij,ijk->ik", rng.normal(size=(len(s), columns)), spread[s]) + rng.normal(size=(n_groups, columns))[s]
    order = rng.permutation(len(s))
    return X[order], s[order]


def rows_with_covariance(*covariances):
    """Rows whose groups have exactly these covariances, about different means."""
    X, s = [], []
    for g, S in enumerate(covariances):
        values, vectors = np.linalg.eigh(np.asarray(S, dtype=float))
        root = vectors * np.sqrt(np.clip(values, 0.0, None) * len(values))
        X += [root.T + g, -root.T + g]
        s += [g] * 2 * len(values)
    return np.vstack(X), np.array(s)


def covariance(X):
    return np.cov(X.T, bias=True).reshape(X.shape[1], X.shape[1])


def own_best(X, d):
    return np.linalg.eigvalsh(covariance(X))[-d:].sum()


def losses_of(P, X, s, d):
    return np.array([own_best(X[s == g], d) - np.sum(covariance(X[s == g]) * P) for g in np.unique(s)])


def map_of(model):
    """P, from what transform keeps: 1 − λ = (1 − kept)²."""
    return model.components_.T @ np.diag(1.0 - (1.0 - model.kept_) ** 2) @ model.components_


def largest_loss(P, X, s, d):
    return losses_of(P, X, s, d).max()


def projector(V):
    return V.T @ V


X, S = different_groups()
X3, S3 = different_groups(3, seed=1)
UNIT = float(np.trace(covariance(X)))


# Theorems ------------------------------------------------------------------------------------------------------------


@given(seed=st.integers(0, 10_000), columns=st.integers(2, 8), share=st.floats(0, 1))
def test_two_groups_lose_equally_and_the_map_is_a_projector_of_rank_d(seed, columns, share):
    X, s = different_groups(columns=columns, seed=seed)
    d = 1 + int(share * (columns - 1))
    model = FairPCA(d).fit(X, sensitive_features=s)
    unit = np.trace(covariance(X))
    assert model.rank_ == d
    assert_allclose(model.components_ @ model.components_.T, np.eye(d), atol=1e-13)
    assert_array_equal(model.kept_, 1.0)
    assert_allclose(model.losses_[0], model.losses_[1], atol=1e-12 * unit)
    assert model.gap_ <= 1e-12 * unit


@pytest.mark.parametrize(("X", "s"), [(X, S), (X3, S3), different_groups(5, seed=2)])
@pytest.mark.parametrize("d", [1, 2, 4])
def test_the_weights_certify_the_largest_loss(X, s, d):
    model = FairPCA(d).fit(X, sensitive_features=s)
    w = np.array([model.weights_[g] for g in model.groups_])
    combined = sum(w_g * covariance(X[s == g]) for w_g, g in zip(w, model.groups_, strict=True))
    alpha = np.array([own_best(X[s == g], d) for g in model.groups_])
    bound = w @ alpha - np.linalg.eigvalsh(combined)[-d:].sum()
    unit = np.trace(covariance(X))
    assert w.min() >= 0
    assert_allclose(w.sum(), 1.0)
    assert_allclose(model.max_loss_ - bound, model.gap_, atol=1e-13 * unit)
    assert model.gap_ <= 1e-8 * unit
    assert_allclose(np.trace(map_of(model)), d, atol=1e-9)
    assert_allclose(list(model.losses_.values()), losses_of(map_of(model), X, s, d), atol=1e-12 * unit)


@pytest.mark.parametrize("d", [1, 2, 3, 5])
def test_no_group_loses_more_than_under_pooled_pca_or_under_maps_nearby(d):
    model = FairPCA(d).fit(X, sensitive_features=S)
    assert model.max_loss_ < largest_loss(projector(PCA(d).fit(X).components_), X, S, d)
    for size in (1e-4, 1e-2, 1.0):
        for _ in range(200):
            V = np.linalg.qr(model.components_.T + size * RNG.normal(size=(X.shape[1], d)))[0]
            assert model.max_loss_ <= largest_loss(V @ V.T, X, S, d) + 1e-12


def test_groups_of_equal_covariance_get_ordinary_principal_components_and_lose_nothing():
    X, s = rows_with_covariance(*[np.diag([5.0, 3.0, 2.0, 1.0])] * 2)
    model = FairPCA(2).fit(X, sensitive_features=s)
    assert_allclose(np.abs(model.components_), np.eye(4)[:2], atol=1e-14)
    assert model.max_loss_ < 1e-14
    one_group = X - np.array([X[s == g].mean(axis=0) for g in (0, 1)])[s]
    assert_allclose(projector(model.components_), projector(PCA(2).fit(one_group).components_), atol=1e-13)


def test_repeating_one_group_changes_nothing_though_it_changes_pooled_components():
    rows = np.concatenate([np.arange(len(X)), np.repeat(np.flatnonzero(S == 1), 9)])
    once, often = (FairPCA(2).fit(X[r], sensitive_features=S[r]) for r in (np.arange(len(X)), rows))
    assert_allclose(often.components_, once.components_, atol=1e-12)
    assert_allclose(often.max_loss_, once.max_loss_, rtol=1e-12)
    pooled, pooled_often = (projector(PCA(2).fit(X[r]).components_) for r in (np.arange(len(X)), rows))
    assert np.abs(pooled - pooled_often).max() > 0.01


@pytest.mark.parametrize(("X", "s"), [(X, S), (X3, S3)])
def test_rotating_the_rows_rotates_the_map(X, s):
    R = np.linalg.qr(RNG.normal(size=(X.shape[1], X.shape[1])))[0]
    plain, rotated = (FairPCA(2, tol=1e-9).fit(Z, sensitive_features=s) for Z in (X, X @ R))
    assert_allclose(rotated.max_loss_, plain.max_loss_, atol=1e-8 * np.trace(covariance(X)))
    # The loss is flat at its optimum: eight digits of it leave four of the map.
    assert_allclose(map_of(rotated), R.T @ map_of(plain) @ R, atol=1e-12 if len(plain.groups_) == 2 else 1e-3)


@pytest.mark.parametrize(("X", "s"), [(X, S), (X3, S3)])
def test_all_dimensions_lose_nothing(X, s):
    model = FairPCA(X.shape[1]).fit(X, sensitive_features=s)
    assert_allclose(list(model.losses_.values()), 0.0, atol=1e-12)
    assert model.n_iter_ == 1
    assert_allclose(model.inverse_transform(model.transform(X)), X, atol=1e-12)


# Where eigenvalues of C_w cross --------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("a", "b", "d", "loss"),
    [
        ([1, 0], [0, 1], 1, 0.5),
        ([2, 1, 0], [2, 0, 1], 2, 0.5),
        ([1, 1, 0, 0], [0, 0, 1, 1], 2, 1.0),  # all four eigenvalues meet
        ([1, 1, 1, 0, 0, 0], [0, 0, 0, 1, 1, 1], 3, 1.5),
        ([1, 1, 1, 0, 0, 0], [0, 0, 0, 1, 1, 1], 1, 0.5),
        ([3, 1, 0, 0], [0, 0, 1, 1], 2, 1.0),
        ([9, 4, 0], [9, 0, 1], 2, 4 / 5),  # weights (1/5, 4/5)
    ],
)
def test_crossing_eigenvalues_are_split_so_that_losses_are_equal_and_the_rank_stays(a, b, d, loss):
    X, s = rows_with_covariance(np.diag(a), np.diag(b))
    model = FairPCA(d).fit(X, sensitive_features=s)
    assert model.rank_ == d
    assert_array_equal(model.kept_, 1.0)
    assert_allclose(list(model.losses_.values()), loss, atol=1e-12)
    assert model.gap_ < 1e-12


def test_a_turned_crossing_has_the_same_losses():
    R = np.linalg.qr(np.random.default_rng(5).normal(size=(5, 5)))[0]
    X, s = rows_with_covariance(R @ np.diag([5, 2, 1, 0, 0]) @ R.T, R @ np.diag([5, 0, 0, 1, 2]) @ R.T)
    model = FairPCA(2).fit(X, sensitive_features=s)
    assert model.rank_ == 2
    assert_allclose(list(model.losses_.values()), 1.0, atol=1e-11)


# Several groups ------------------------------------------------------------------------------------------------------


def test_three_groups_that_pull_evenly_need_a_fractional_map():
    directions = [np.array([np.cos(t), np.sin(t)]) for t in np.pi * np.arange(3) / 3]
    X, s = rows_with_covariance(*[np.outer(v, v) for v in directions])
    model = FairPCA(1).fit(X, sensitive_features=s)
    assert_allclose(map_of(model), np.eye(2) / 2, atol=1e-8)
    assert_allclose(model.kept_, 1.0 - np.sqrt(0.5), atol=1e-8)
    assert_allclose(list(model.losses_.values()), 0.5, atol=1e-8)
    assert (model.rank_, model.transform(X).shape) == (2, (len(X), 2))


@pytest.mark.parametrize(
    ("X", "s", "d"),
    [(X, S, 2), (X3, S3, 2), (*rows_with_covariance(*np.eye(3)[:, :, None] * np.eye(3)[:, None, :]), 1)],
)
def test_the_rows_lose_what_losses_say(X, s, d):
    model = FairPCA(d).fit(X, sensitive_features=s)
    for g in model.groups_:
        member = X[s == g] - X[s == g].mean(axis=0)
        lost = member - model.inverse_transform(model.transform(member + model.mean_)) + model.mean_
        total = np.trace(covariance(member))
        assert_allclose((lost**2).sum(axis=1).mean(), model.losses_[g] + total - own_best(member, d), rtol=1e-12)


@pytest.mark.parametrize(("n_groups", "more"), [(2, 0), (3, 1), (5, 1), (6, 2)])
@pytest.mark.parametrize("d", [1, 3])
def test_the_rank_exceeds_d_by_no_more_than_the_groups_allow(n_groups, more, d):
    for seed in range(3):
        X, s = different_groups(n_groups, columns=7, seed=seed)
        model = FairPCA(d).fit(X, sensitive_features=s)
        assert d <= model.rank_ <= d + more
        assert model.gap_ <= 1e-8 * np.trace(covariance(X))


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("d", [1, 3])
def test_cutting_planes_and_the_root_agree_on_two_groups(seed, d):
    X, s = different_groups(seed=seed)
    S = np.stack([covariance(X[s == g]) for g in (0, 1)])
    losses = Losses.of(S / np.trace(S.mean(axis=0)), d)
    root, planes = level_two(losses), level_several(losses, 1e-9, 200)
    assert_allclose(planes.bound, root.bound, atol=1e-9)
    basis, share = least_rank(planes, losses)
    assert_array_equal(share, np.ones(d))
    assert_allclose(losses.of_map(basis, share).max(), root.bound, atol=1e-8)


@pytest.mark.parametrize("n_groups", [2, 3, 6])
def test_fewer_fractions_raise_no_loss_and_keep_the_trace_even_away_from_the_optimum(n_groups):
    X, s = different_groups(n_groups, columns=8, seed=4)
    losses = Losses.of(np.stack([covariance(X[s == g]) for g in range(n_groups)]), 3)
    for seed in range(10):
        rng = np.random.default_rng(seed)
        basis, share = np.linalg.qr(rng.normal(size=(8, 8)))[0], np.full(8, 3 / 8)
        reduced, left = fewer_fractions(basis, share, losses)
        r = (left < 1.0).sum()
        assert r * (r + 1) // 2 <= n_groups
        assert_allclose(left.sum(), 3.0, atol=1e-10)
        fall = losses.of_map(basis, share) - losses.of_map(reduced, left)
        assert_allclose(fall, fall[0], atol=1e-9)
        assert fall[0] >= -1e-9


def test_two_equal_groups_among_three_count_once():
    X, s = rows_with_covariance(np.diag([2, 1, 0]), np.diag([2, 0, 1]), np.diag([2, 0, 1]))
    model = FairPCA(2).fit(X, sensitive_features=s)
    assert_allclose(list(model.losses_.values()), 0.5, atol=1e-8)


def multiplicative_weights(S, alpha, d, rounds, rate):
    """The method of the published code: the better of the last projector and the average of all."""
    w, P_sum = np.full(len(S), 1 / len(S)), 0
    for _ in range(rounds):
        V = np.linalg.eigh(np.tensordot(w, S, 1))[1][:, -d:]
        loss = alpha - np.einsum("ij,gij->g", V @ V.T, S)
        P_sum = P_sum + V @ V.T
        w = w * np.exp(rate * loss)
        w /= w.sum()
    return min(loss.max(), (alpha - np.einsum("ij,gij->g", P_sum / rounds, S)).max())


@pytest.mark.parametrize(("X", "s"), [(X, S), (X3, S3)])
def test_multiplicative_weights_approach_the_same_loss_from_above(X, s):
    model = FairPCA(2).fit(X, sensitive_features=s)
    S = np.stack([covariance(X[s == g]) for g in model.groups_])
    alpha = np.array([own_best(X[s == g], 2) for g in model.groups_])
    short, long = (multiplicative_weights(S, alpha, 2, rounds, 0.3) for rounds in (20, 2000))
    assert model.max_loss_ - model.gap_ <= long + 1e-12
    assert long < short
    assert long < 1.01 * model.max_loss_


def test_too_few_cutting_planes_are_said():
    with pytest.warns(ConvergenceWarning, match=r"max_iter=3 cutting planes leave a duality gap of .* Raise max_iter"):
        model = FairPCA(2, max_iter=3).fit(X3, sensitive_features=S3)
    best = FairPCA(2).fit(X3, sensitive_features=S3)
    assert model.n_iter_ == 3
    assert 0.0 < model.max_loss_ - best.max_loss_ <= model.gap_


# New rows and prediction ---------------------------------------------------------------------------------------------


def test_new_rows_are_centred_by_the_mean_of_all_rows():
    model = FairPCA(3).fit(X, sensitive_features=S)
    assert_allclose(model.mean_, X.mean(axis=0), atol=1e-14)
    assert_allclose(model.transform(X[:5]), (X[:5] - X.mean(axis=0)) @ model.components_.T, atol=1e-13)


@pytest.mark.parametrize("alpha", [0.1, 10.0])
def test_ridge_classifier_on_top_is_ridge_on_zero_one_labels_with_threshold_a_half(alpha):
    y = (X[:, 0] + RNG.normal(size=len(X)) > 0.5).astype(int)
    with config_context(enable_metadata_routing=True):
        model = make_pipeline(StandardScaler(), FairPCA(2), RidgeClassifier(alpha=alpha))
        model.fit(X, y, sensitive_features=S)
    Z = FairPCA(2).fit_transform(StandardScaler().fit_transform(X), sensitive_features=S)
    scores = Ridge(alpha=alpha).fit(Z, y).predict(Z)
    assert_array_equal(model.predict(X), scores >= 0.5)
    assert_allclose(model.decision_function(X), 2 * scores - 1, atol=1e-10)


def test_frames_keep_their_names_and_give_named_components():
    frame = pd.DataFrame(X, columns=[f"x{j}" for j in range(X.shape[1])])
    model = FairPCA(2).set_output(transform="pandas").fit(frame, sensitive_features=pd.Series(S))
    Z = model.transform(frame)
    assert list(Z.columns) == ["fairpca0", "fairpca1"]
    assert list(model.feature_names_in_) == list(frame.columns)
    with pytest.raises(ValueError, match="feature names should match"):
        model.transform(frame[frame.columns[::-1]])


# Guarantees ----------------------------------------------------------------------------------------------------------


@given(weight=st.lists(st.integers(0, 3), min_size=20, max_size=20))
def test_weights_are_repeated_rows(weight):
    s = np.arange(20) % 2
    weight = np.array(weight) + np.where(np.arange(20) < 8, 1, 0)
    rows = np.repeat(np.arange(20), weight)
    weighted = FairPCA(2).fit(X[:20], sensitive_features=s, sample_weight=weight)
    repeated = FairPCA(2).fit(X[rows], sensitive_features=s[rows])
    assert_allclose(weighted.mean_, repeated.mean_, atol=1e-12)
    assert_allclose(weighted.max_loss_, repeated.max_loss_, atol=1e-10)
    assert_allclose(map_of(weighted), map_of(repeated), atol=1e-6)


@pytest.mark.parametrize(("X", "s"), [(X, S), (X3, S3)])
def test_order_of_rows_and_names_of_groups_do_not_matter(X, s):
    order = RNG.permutation(len(X))
    plain = FairPCA(2).fit(X, sensitive_features=s)
    moved = FairPCA(2).fit(X[order], sensitive_features=s[order])
    renamed = FairPCA(2).fit(X, sensitive_features=np.array(["c", "b", "a"])[s])
    unit = np.trace(covariance(X))
    for other in (moved, renamed):
        assert_allclose(other.max_loss_, plain.max_loss_, atol=2e-8 * unit)
        assert_allclose(map_of(other), map_of(plain), atol=1e-3)
    assert_allclose(renamed.losses_["c"], plain.losses_[0], atol=2e-8 * unit)
    assert renamed.groups_ == tuple(sorted(renamed.losses_))


@pytest.mark.parametrize("unit", [1e-8, 1e8])
def test_the_unit_of_x_scales_the_losses_and_leaves_the_components(unit):
    plain, scaled = (FairPCA(2).fit(f * X, sensitive_features=S) for f in (1.0, unit))
    assert_allclose(scaled.max_loss_, unit**2 * plain.max_loss_, rtol=1e-10)
    assert_allclose(scaled.components_, plain.components_, atol=1e-9)


def test_the_same_fit_gives_the_same_bits():
    one, two = (FairPCA(2).fit(X3, sensitive_features=S3) for _ in range(2))
    assert_array_equal(one.components_, two.components_)
    assert one.losses_ == two.losses_


def test_single_precision_rows_come_back_in_single_precision_and_close():
    model = FairPCA(2).fit(X.astype(np.float32), sensitive_features=S)
    Z = model.transform(X.astype(np.float32))
    assert Z.dtype == np.float32
    assert_allclose(Z, FairPCA(2).fit(X, sensitive_features=S).transform(X), atol=1e-4)


# Inputs --------------------------------------------------------------------------------------------------------------


def test_more_components_than_the_groups_vary_in_are_clipped_and_said():
    flat = np.column_stack([X[:, :2], X[:, :1] - X[:, 1:2], np.ones(len(X))])
    with pytest.warns(RankWarning, match="n_components=4 is more than the rank 2 of the variation within groups; usi"):
        model = FairPCA(4).fit(flat, sensitive_features=S)
    assert (model.rank_, model.transform(flat).shape) == (2, (len(X), 2))
    assert_allclose(list(model.losses_.values()), 0.0, atol=1e-12)


def test_one_column_survives_the_default_number_of_components():
    with pytest.warns(RankWarning, match="n_components=2 is more than the rank 1"):
        assert FairPCA().fit(X[:, :1], sensitive_features=S).components_.tolist() == [[1.0]]


def test_constant_columns_lose_nothing():
    model = FairPCA(1).fit(np.ones((10, 3)), sensitive_features=np.arange(10) % 2)
    assert_allclose(model.transform(np.ones((2, 3))), 0.0)
    assert model.losses_ == {0: 0.0, 1: 0.0}


@pytest.mark.parametrize(
    ("X", "s", "error", "sentence"),
    [
        (X, None, TypeError, r"FairPCA.fit\(\) needs sensitive_features: one value per row"),
        (X, np.zeros(len(X)), ValueError, r"one group only \(0.0\)"),
        (X, np.arange(len(X)) == 3, ValueError, "group True has 1 row; at least 2"),
        (X, np.where(S == 0, np.nan, 1.0), ValueError, "sensitive_features has missing values"),
        (X, RNG.normal(size=len(X)), ValueError, "is numeric with many distinct values, and FairPCA compares groups"),
        (X, S[1:], ValueError, f"sensitive_features has {len(X) - 1} rows but X has {len(X)}"),
        (X * 1e200, S, ValueError, "the covariance of X overflows: scale the columns first"),
        (np.where(X == X[3, 1], np.nan, X), S, ValueError, "contains NaN: column 1, row 3"),
    ],
)
def test_what_cannot_be_read_is_an_error(X, s, error, sentence):
    with pytest.raises(error, match=sentence):
        FairPCA(2).fit(X, sensitive_features=s)


@pytest.mark.parametrize(
    "parameters",
    [{"n_components": 0}, {"n_components": 0.5}, {"tol": 1e-12}, {"max_iter": 0}, {"missing_sensitive": "x"}],
)
def test_parameters_out_of_range_are_refused(parameters):
    with pytest.raises(ValueError, match=f"The '{next(iter(parameters))}' parameter of FairPCA must be"):
        FairPCA(**parameters).fit(X, sensitive_features=S)


def test_missing_groups_can_be_a_group_of_their_own():
    s = np.where(S == 0, "a", "b").astype(object)
    s[:20] = None
    model = FairPCA(2, missing_sensitive="group").fit(X, sensitive_features=s)
    assert set(model.losses_) == {"a", "b", "missing"}


def test_a_column_that_restates_the_group_is_said():
    with pytest.warns(SensitiveColumnWarning, match="X column 6 restates the sensitive attribute"):
        FairPCA(2).fit(np.column_stack([X, S]), sensitive_features=S)


def test_an_unfitted_model_says_so():
    for method in ("transform", "inverse_transform"):
        with pytest.raises(NotFittedError):
            getattr(FairPCA(), method)(X)


def test_an_ordinary_fit_warns_of_nothing():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        FairPCA(2).fit(X3, sensitive_features=S3).transform(X3)
