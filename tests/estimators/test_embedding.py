"""FairFeatureEmbedding: the contract of the transformer."""

import pickle
import warnings
from pathlib import Path

import numpy as np
import pandas as pd
import polars as pl
import pytest
from sklearn.base import clone
from sklearn.decomposition import KernelPCA
from sklearn.exceptions import NotFittedError

from fairkernel import FairFeatureEmbedding
from fairkernel.exceptions import ContinuousSensitiveWarning, RankWarning, SmallGroupWarning

RNG = np.random.default_rng(0)
N = 120
S = np.where(RNG.random(N) < 0.4, "b", "a")
X = RNG.normal(size=(N, 3)) + 0.8 * (S == "b")[:, None]
NEW = RNG.normal(size=(25, 3))


def embed(X=X, s=S, *, weight=None, **parameters):
    model = FairFeatureEmbedding(**{"n_components": 5, "random_state": 0, **parameters})
    return model.fit(X, sensitive_features=s, sample_weight=weight)


def gaps(Z, s):
    means = np.array([Z[s == g].mean(axis=0) for g in np.unique(s)])
    return means.max(axis=0) - means.min(axis=0)


def test_every_feature_has_the_same_training_mean_in_both_groups():
    model = embed()
    assert gaps(model.transform(X), S).max() < 1e-12
    np.testing.assert_allclose(model.mean_gap_, 0.0, atol=1e-12)


@pytest.mark.parametrize("kernel", ["linear", "poly", "rbf", "laplacian"])
@pytest.mark.parametrize("features", ["landmarks", "exact"])
def test_parity_of_means_holds_for_every_kernel(kernel, features):
    model = embed(kernel=kernel, features=features, n_components=2)
    Z = model.transform(X)
    assert gaps(Z, S).max() < 1e-7 * np.abs(Z).max()


def test_parity_of_means_holds_for_fourier_features():
    assert gaps(embed(features="fourier", n_features=100).transform(X), S).max() < 1e-12


def test_every_pair_of_several_groups_has_the_same_means():
    s = np.array(["x", "y", "z", "w"])[np.arange(N) % 4]
    rows = X + (np.arange(N) % 4)[:, None]
    model = embed(rows, s)
    assert gaps(model.transform(rows), s).max() < 1e-11
    assert model.groups_ == ("w", "x", "y", "z")


def test_intersections_of_two_attributes_have_the_same_means():
    two = pd.DataFrame({"sex": S, "race": np.where(X[:, 0] > 0.5, "p", "q")})
    Z = embed(s=two).transform(X)
    assert gaps(Z, (two["sex"] + two["race"]).to_numpy()).max() < 1e-11


def test_a_continuous_attribute_has_no_covariance_with_any_feature():
    age = X[:, 1] * 10 + 40 + RNG.normal(size=N)
    with pytest.warns(ContinuousSensitiveWarning):
        model = embed(s=age)
    Z = model.transform(X)
    assert np.abs((age - age.mean()) @ Z).max() / (N * age.std()) < 1e-12
    np.testing.assert_allclose(model.mean_gap_, 0.0, atol=1e-12)


def test_groups_and_a_continuous_attribute_hold_together():
    age = X[:, 1] * 10 + 40 + RNG.normal(size=N)
    with pytest.warns(ContinuousSensitiveWarning):
        Z = embed(s=pd.DataFrame({"sex": S, "age": age})).transform(X)
    assert gaps(Z, S).max() < 1e-12
    assert np.abs((age - age.mean()) @ Z).max() / (N * age.std()) < 1e-12


def test_eigenvalues_are_n_times_the_variances_descending():
    model = embed()
    Z = model.transform(X)
    np.testing.assert_allclose(model.eigenvalues_, N * Z.var(axis=0), rtol=1e-8)
    assert np.all(np.diff(model.eigenvalues_) <= 0)


def test_features_are_uncorrelated():
    Z = embed().transform(X)
    correlation = np.corrcoef(Z.T)
    np.testing.assert_allclose(correlation, np.eye(5), atol=1e-8)


def test_without_a_gap_the_features_are_those_of_kernel_pca():
    # Every row occurs once in each group.
    rows, s = np.concatenate([X[:50], X[:50]]), np.repeat(["a", "b"], 50)
    ours = embed(rows, s, gamma=0.5, features="exact", n_components=4)
    theirs = KernelPCA(4, kernel="rbf", gamma=0.5, eigen_solver="dense").fit(rows)
    assert "plain kernel PCA" in ours.embedding_chosen_
    a = ours.transform(NEW) - ours.transform(rows).mean(axis=0)
    b = theirs.transform(NEW)
    np.testing.assert_allclose(a @ a.T, b @ b.T, atol=1e-7)


def test_the_scores_are_k_of_x_and_landmarks_times_coef():
    model = embed(gamma=0.5)
    by_hand = model.kernel_(NEW, X[model.landmark_indices_]) @ model.coef_
    np.testing.assert_allclose(model.transform(NEW), by_hand, atol=1e-10)


def test_rows_scored_together_or_one_by_one_score_the_same():
    model = embed()
    np.testing.assert_allclose(np.vstack([model.transform(row[None]) for row in NEW]), model.transform(NEW), atol=1e-12)


def test_rows_scored_in_blocks_score_the_same(monkeypatch):
    model = embed()
    whole = model.transform(NEW)
    monkeypatch.setattr("fairkernel.estimators._base.ROWS_AT_A_TIME", 4)
    np.testing.assert_allclose(model.transform(NEW), whole, atol=1e-12)


# n_components


@pytest.mark.parametrize(("n", "k"), [(60, 1), (499, 1), (500, 2), (1100, 4)])
def test_components_none_is_one_per_250_rows_and_at_least_one(n, k):
    rows = RNG.normal(size=(n, 5))
    model = embed(rows, np.arange(n) % 2, n_components=None)
    assert model.coef_.shape[1] == k


@pytest.mark.parametrize(("share", "k"), [(0.05, 6), (0.001, 1), (0.099, 11), (np.float32(0.099), 11)])
def test_components_as_a_share_of_the_rows(share, k):
    assert embed(n_components=share).transform(NEW).shape == (25, k)


@pytest.mark.parametrize("k", [3, np.int64(3)])
def test_components_as_a_number(k):
    assert embed(n_components=k).transform(NEW).shape == (25, 3)


@pytest.mark.parametrize("k", [50, np.int32(50), 0.4])
def test_more_components_than_the_rank_are_clipped_and_said(k):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", SmallGroupWarning)
        with pytest.warns(
            RankWarning, match=r"n_components=\d+ is more than the rank 2 that the data supports; using 2"
        ):
            model = embed(kernel="linear", n_components=k)
    assert model.rank_ == 2  # three columns less the gap direction
    assert model.transform(NEW).shape == (25, 2)


def test_the_rank_warning_points_at_the_line_that_called_fit():
    model = FairFeatureEmbedding(n_components=20, kernel="linear")
    for fit in (model.fit, model.fit_transform):
        with pytest.warns(RankWarning) as caught:
            fit(X, sensitive_features=S)
        assert Path(caught[0].filename).name == Path(__file__).name


@pytest.mark.parametrize("k", [6, np.int64(6), 0.05])
def test_the_small_group_warning_points_at_the_line_that_called_fit(k):
    s = np.where(np.arange(N) < 4, "few", "many")
    with pytest.warns(SmallGroupWarning, match="group 'few' has 4 rows, fewer than the 6 components") as caught:
        FairFeatureEmbedding(n_components=k).fit(X, sensitive_features=s)
    assert Path(caught[0].filename).name == Path(__file__).name


# Weights


def test_weights_are_duplicated_rows():
    weight = RNG.integers(1, 4, N).astype(float)
    weighted = embed(weight=weight)
    repeated = embed(np.repeat(X, weight.astype(int), axis=0), np.repeat(S, weight.astype(int)))
    np.testing.assert_allclose(weighted.eigenvalues_, repeated.eigenvalues_, rtol=1e-8)
    np.testing.assert_allclose(weighted.transform(NEW), repeated.transform(NEW), atol=1e-6)


def test_weighted_group_means_agree():
    weight = RNG.uniform(0.1, 3.0, N)
    Z = embed(weight=weight).transform(X)
    means = [np.average(Z[S == g], axis=0, weights=weight[S == g]) for g in "ab"]
    np.testing.assert_allclose(means[0], means[1], atol=1e-12)


def test_a_common_factor_in_all_weights_changes_no_direction():
    one, ten = embed(), embed(weight=np.full(N, 10.0))
    np.testing.assert_allclose(one.transform(NEW), ten.transform(NEW), atol=1e-6)


# Objectives


def test_printed_features_have_a_gap_and_ascending_eigenvalues():
    model = embed(objective="printed", features="exact")
    assert model.mean_gap_[0] > 1e-3
    assert np.all(np.diff(model.eigenvalues_) >= 0)
    assert model.eigenvalues_[0] < 0 < model.eigenvalues_[1]


def test_printed_refuses_three_groups():
    with pytest.raises(ValueError, match=r"objective='printed' is Eq. 6 of the paper, which has two groups; got 3"):
        embed(s=np.arange(N) % 3, objective="printed")


def test_printed_does_not_ignore_a_continuous_attribute():
    mixed = pd.DataFrame({"sex": S, "age": X[:, 0] + RNG.normal(size=N)})
    with pytest.warns(ContinuousSensitiveWarning), pytest.raises(ValueError, match=r"objective='printed'.*two groups"):
        embed(s=mixed, objective="printed")


def test_second_moments_agree_better_when_asked_for():
    rows = X * np.where(S == "b", 2.0, 1.0)[:, None]

    def misfit(n_moments):
        Z = embed(rows, n_moments=n_moments, gamma=0.2).transform(rows)
        deviation = np.array([Z[S == g].std(axis=0) for g in "ab"]) / Z.std(axis=0)
        return np.abs(np.diff(deviation, axis=0)).max()

    assert gaps(embed(rows, n_moments=2, gamma=0.2).transform(rows), S).max() < 1e-10
    assert misfit(2) < 0.5 * misfit(1)


# scikit-learn's habits


def test_pandas_output_has_names():
    frame = pd.DataFrame(X, columns=["u", "v", "w"], index=np.arange(N) + 7)
    model = FairFeatureEmbedding(n_components=2, random_state=0).set_output(transform="pandas")
    Z = model.fit_transform(frame, sensitive_features=S)
    assert list(Z.columns) == ["fairfeatureembedding0", "fairfeatureembedding1"]
    assert list(Z.columns) == model.get_feature_names_out().tolist()
    pd.testing.assert_index_equal(Z.index, frame.index)
    np.testing.assert_array_equal(Z.to_numpy(), model.set_output(transform="default").transform(frame))


def test_polars_in_and_out():
    frame = pl.DataFrame(X, schema=["u", "v", "w"])
    model = embed(frame, pl.Series(S), n_components=2).set_output(transform="polars")
    assert model.feature_names_in_.tolist() == ["u", "v", "w"]
    assert isinstance(model.transform(frame), pl.DataFrame)
    np.testing.assert_allclose(model.transform(frame).to_numpy(), embed(n_components=2).transform(X), atol=1e-10)


def test_attributes_are_those_of_the_contract():
    model = embed()
    assert model.n_features_in_ == 3
    assert model.groups_ == ("a", "b")
    assert model.coef_.shape == (len(model.landmark_indices_), 5)
    assert model.eigenvalues_.shape == model.mean_gap_.shape == (5,)
    assert list(model.approximation_error_by_group_) == ["a", "b"]
    assert model.rank_ >= 5
    assert "landmarks" in model.features_chosen_
    assert "zero mean gap" in model.embedding_chosen_


def test_cloning_keeps_parameters_and_forgets_the_fit():
    model = embed(kernel="laplacian", gamma=0.3)
    again = clone(model)
    assert again.get_params() == model.get_params()
    with pytest.raises(NotFittedError):
        again.transform(X)


def test_pickling_keeps_every_bit():
    model = embed()
    np.testing.assert_array_equal(pickle.loads(pickle.dumps(model)).transform(NEW), model.transform(NEW))


def test_the_same_seed_gives_the_same_bits():
    one, two = embed(n_features=40, random_state=3), embed(n_features=40, random_state=3)
    np.testing.assert_array_equal(one.coef_, two.coef_)
    np.testing.assert_array_equal(one.landmark_indices_, two.landmark_indices_)


def test_an_integer_seed_is_not_used_up_by_fitting():
    model = FairFeatureEmbedding(n_components=3, n_features=40, random_state=3)
    first = model.fit(X, sensitive_features=S).transform(NEW)
    np.testing.assert_array_equal(model.fit(X, sensitive_features=S).transform(NEW), first)


def test_signs_do_not_depend_on_the_order_of_rows():
    order = RNG.permutation(N)
    np.testing.assert_allclose(embed(X[order], S[order]).transform(NEW), embed().transform(NEW), atol=1e-6)


def test_renaming_and_swapping_groups_changes_nothing():
    renamed = np.where(S == "a", "z", "a")
    np.testing.assert_allclose(embed(s=renamed).transform(NEW), embed().transform(NEW), atol=1e-8)


def test_float32_in_gives_float32_out_close_to_float64():
    model = embed(X.astype(np.float32))
    Z, wide = model.transform(NEW.astype(np.float32)), embed().transform(NEW)
    assert Z.dtype == np.float32
    np.testing.assert_allclose(Z, wide, atol=2e-3 * np.abs(wide).max())
    assert np.abs(model.mean_gap_).max() < 1e-5


def test_float32_with_a_large_mean_is_still_close_to_float64():
    Z = embed((X + 1000.0).astype(np.float32)).transform((NEW + 1000.0).astype(np.float32))
    wide = embed().transform(NEW)
    np.testing.assert_allclose(Z, wide, atol=2e-2 * np.abs(wide).max())


def test_fit_transform_is_fit_then_transform():
    Z = FairFeatureEmbedding(n_components=4, random_state=0).fit_transform(X, sensitive_features=S)
    np.testing.assert_allclose(Z, embed(n_components=4).transform(X), atol=1e-12)


def test_the_page_shown_in_a_notebook_names_the_estimator():
    assert "FairFeatureEmbedding" in embed()._repr_html_()
