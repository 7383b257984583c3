"""FairKernelRegressor: the contract of the regressor."""

import pickle
from pathlib import Path

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from sklearn.base import clone
from sklearn.kernel_ridge import KernelRidge
from sklearn.linear_model import LinearRegression, Ridge

from fairkernel import FairFeatureEmbedding, FairKernelRegressor
from fairkernel.exceptions import ContinuousSensitiveWarning, RankWarning
from fairkernel.kernels import RBF, Linear

RNG = np.random.default_rng(0)
N = 150
S = np.where(RNG.random(N) < 0.4, "b", "a")
X = RNG.normal(size=(N, 3)) + 0.8 * (S == "b")[:, None]
Y = np.sin(X[:, 0]) + X[:, 1] + 0.5 * (S == "b") + 0.1 * RNG.normal(size=N)
NEW = RNG.normal(size=(25, 3))


def fit(X=X, y=Y, s=S, *, weight=None, **parameters):
    model = FairKernelRegressor(**{"random_state": 0, **parameters})
    return model.fit(X, y, sensitive_features=s, sample_weight=weight)


def gap(scores, s=S):
    means = np.array([scores[s == g].mean(axis=0) for g in np.unique(s)])
    return means.max(axis=0) - means.min(axis=0)


# What disparity_kept means


@pytest.mark.parametrize("kernel", ["linear", "poly", "rbf", "laplacian"])
def test_no_disparity_kept_gives_equal_mean_scores(kernel):
    model = fit(kernel=kernel)
    assert gap(model.predict(X)) < 1e-7
    assert model.mean_gap_ < 1e-7


@pytest.mark.parametrize("s", [S, np.arange(N) % 4], ids=["two groups", "four groups"])
@pytest.mark.parametrize("n_components", [None, 6])
def test_the_kept_share_of_every_group_difference_is_exact(s, n_components):
    rows = X + 0.3 * (np.arange(N) % 4)[:, None]
    full = fit(rows, s=s, n_components=n_components, disparity_kept=1.0)
    means = np.array([full.predict(rows)[s == g].mean() for g in np.unique(s)])
    for kept in (0.0, 0.25, 0.5, 0.9):
        part = fit(rows, s=s, n_components=n_components, disparity_kept=kept)
        kept_means = np.array([part.predict(rows)[s == g].mean() for g in np.unique(s)])
        np.testing.assert_allclose(kept_means - kept_means[0], kept * (means - means[0]), atol=1e-8)
        assert part.mean_gap_ == pytest.approx(kept * full.mean_gap_, abs=1e-8)


def test_the_mean_gap_attribute_is_the_gap_of_the_training_scores():
    model = fit(disparity_kept=0.7)
    assert model.mean_gap_ == pytest.approx(gap(model.predict(X)), abs=1e-9)


def test_several_groups_have_all_pairs_at_zero():
    s = np.array(["x", "y", "z"])[np.arange(N) % 3]
    assert gap(fit(X + (np.arange(N) % 3)[:, None], s=s).predict(X + (np.arange(N) % 3)[:, None]), s) < 1e-9


def test_the_kept_share_of_the_covariance_with_a_continuous_attribute_is_exact():
    age = 40 + 10 * X[:, 1] + RNG.normal(size=N)

    def covariance(kept):
        with pytest.warns(ContinuousSensitiveWarning):
            model = fit(s=age, disparity_kept=kept)
        value = np.mean((age - age.mean()) * model.predict(X)) / age.std()
        assert model.mean_gap_ == pytest.approx(abs(value), abs=1e-9)
        return value

    assert covariance(0.0) == pytest.approx(0.0, abs=1e-10)
    assert covariance(0.3) == pytest.approx(0.3 * covariance(1.0), abs=1e-9)
    assert abs(covariance(1.0)) > 0.1


def test_the_unit_of_a_continuous_attribute_does_not_matter():
    age = 40 + 10 * X[:, 1] + RNG.normal(size=N)
    with pytest.warns(ContinuousSensitiveWarning):
        years, months = fit(s=age, disparity_kept=0.5), fit(s=12 * age - 300, disparity_kept=0.5)
    np.testing.assert_allclose(years.predict(NEW), months.predict(NEW), atol=1e-9)


def test_groups_and_a_continuous_attribute_hold_together():
    age = 40 + 10 * X[:, 1] + RNG.normal(size=N)
    with pytest.warns(ContinuousSensitiveWarning):
        scores = fit(s=pd.DataFrame({"age": age, "sex": S})).predict(X)
    assert gap(scores) < 1e-9
    assert np.mean((age - age.mean()) * scores) / age.std() == pytest.approx(0.0, abs=1e-9)


def test_less_disparity_costs_training_error():
    errors = [np.mean((fit(disparity_kept=kept, alpha=0.1).predict(X) - Y) ** 2) for kept in (1.0, 0.6, 0.3, 0.0)]
    assert np.all(np.diff(errors) > 0)


# Limits


def test_all_disparity_kept_is_kernel_ridge_with_an_intercept():
    ours = fit(disparity_kept=1.0, features="exact", gamma=0.5, alpha=0.3)
    # An unpenalised intercept is what centring the kernel and the targets gives.
    centre = np.eye(N) - 1.0 / N
    K = RBF(0.5)(X, X)
    theirs = KernelRidge(alpha=0.3, kernel="precomputed").fit(centre @ K @ centre, Y - Y.mean())
    k_new = (RBF(0.5)(NEW, X) - K.mean(axis=0)) @ centre
    np.testing.assert_allclose(ours.predict(NEW), k_new @ theirs.dual_coef_ + Y.mean(), atol=1e-8)


def test_a_linear_kernel_is_ridge():
    ours = fit(kernel="linear", disparity_kept=1.0, alpha=2.0)
    np.testing.assert_allclose(ours.predict(NEW), Ridge(alpha=2.0).fit(X, Y).predict(NEW), atol=1e-9)


def test_no_penalty_on_a_linear_kernel_is_least_squares():
    ours = fit(kernel="linear", disparity_kept=1.0, alpha=0.0)
    np.testing.assert_allclose(ours.predict(NEW), LinearRegression().fit(X, Y).predict(NEW), atol=1e-8)


def test_an_infinite_penalty_leaves_the_mean():
    np.testing.assert_allclose(fit(alpha=1e12).predict(NEW), Y.mean(), atol=1e-6)


def test_two_steps_are_the_embedding_followed_by_ridge():
    Z = FairFeatureEmbedding(n_components=6, random_state=0).fit(X, sensitive_features=S)
    ridge = Ridge(alpha=0.7).fit(Z.transform(X), Y)
    ours = fit(n_components=6, alpha=0.7)
    np.testing.assert_allclose(ours.predict(NEW), ridge.predict(Z.transform(NEW)), atol=1e-7)


def test_two_printed_steps_are_the_printed_embedding_followed_by_ridge():
    options = {"objective": "printed", "n_components": 6, "features": "exact", "random_state": 0}
    Z = FairFeatureEmbedding(**options).fit(X, sensitive_features=S)
    ridge = Ridge(alpha=0.7).fit(Z.transform(X), Y)
    np.testing.assert_allclose(fit(alpha=0.7, **options).predict(NEW), ridge.predict(Z.transform(NEW)), atol=1e-6)


def test_as_many_components_as_the_rank_are_all_components():
    everything = fit(kernel="poly", alpha=0.5)
    some = fit(kernel="poly", alpha=0.5, n_components=everything.rank_)
    np.testing.assert_allclose(some.predict(NEW), everything.predict(NEW), atol=1e-9)
    assert some.n_components_ == everything.n_components_ == everything.rank_


def test_more_components_than_the_rank_are_clipped_and_the_line_is_shown():
    with pytest.warns(
        RankWarning, match="n_components=40 is more than the rank 2 that the data supports; using 2"
    ) as caught:
        model = FairKernelRegressor(40, kernel="linear").fit(X, Y, sensitive_features=S)
    assert Path(caught[0].filename).name == Path(__file__).name
    assert model.n_components_ == 2


@pytest.mark.parametrize(("share", "k"), [(0.1, 15), (0.001, 1)])
def test_components_as_a_share_of_the_rows(share, k):
    assert fit(n_components=share).n_components_ == k


def test_precomputed_is_the_kernel_it_was_computed_with():
    rows = fit(kernel="rbf", gamma=0.5, disparity_kept=0.4, features="exact")
    gram = FairKernelRegressor(kernel="precomputed", disparity_kept=0.4, features="exact")
    gram.fit(RBF(0.5)(X, X), Y, sensitive_features=S)
    np.testing.assert_allclose(gram.predict(RBF(0.5)(NEW, X)), rows.predict(NEW), atol=1e-5)


def test_a_kernel_object_is_its_name():
    np.testing.assert_array_equal(fit(kernel=RBF(0.5)).predict(NEW), fit(kernel="rbf", gamma=0.5).predict(NEW))


def test_a_sum_of_kernels_is_the_concatenation_of_its_features():
    ours = fit(kernel=Linear() + 4.0 * Linear(), disparity_kept=1.0)
    theirs = Ridge(alpha=1.0).fit(np.hstack([X, 2 * X]), Y)
    np.testing.assert_allclose(ours.predict(NEW), theirs.predict(np.hstack([NEW, 2 * NEW])), atol=1e-9)


# Several outputs


@pytest.mark.parametrize("kept", [0.0, 0.5, 1.0])
@pytest.mark.parametrize("n_components", [None, 5])
def test_several_outputs_are_separate_fits(kept, n_components):
    targets = np.column_stack([Y, Y**2, -X[:, 2]])
    together = fit(y=targets, disparity_kept=kept, n_components=n_components)
    assert together.predict(NEW).shape == (25, 3)
    assert together.mean_gap_.shape == together.intercept_.shape == (3,)
    for j in range(3):
        alone = fit(y=targets[:, j], disparity_kept=kept, n_components=n_components)
        np.testing.assert_allclose(together.predict(NEW)[:, j], alone.predict(NEW), atol=1e-9)
        assert together.mean_gap_[j] == pytest.approx(alone.mean_gap_, abs=1e-9)


def test_one_output_in_a_column_keeps_its_column():
    assert fit(y=Y[:, None]).predict(NEW).shape == (25, 1)
    assert fit(y=Y).predict(NEW).shape == (25,)


# Weights


@pytest.mark.parametrize(
    "parameters",
    [
        {},
        {"n_components": 6},
        {"disparity_kept": 0.5},
        {"objective": "printed", "n_components": 4},
        {"n_moments": 2, "n_components": 4},
    ],
    ids=str,
)
def test_weights_are_duplicated_rows(parameters):
    weight = RNG.integers(1, 4, N)
    weighted = fit(weight=weight.astype(float), **parameters)
    repeated = fit(np.repeat(X, weight, axis=0), np.repeat(Y, weight), np.repeat(S, weight), **parameters)
    np.testing.assert_allclose(weighted.predict(NEW), repeated.predict(NEW), atol=1e-6)


def test_weighted_group_means_agree():
    weight = RNG.uniform(0.1, 3.0, N)
    scores = fit(weight=weight).predict(X)
    a, b = (np.average(scores[S == g], weights=weight[S == g]) for g in "ab")
    assert a == pytest.approx(b, abs=1e-9)


# Invariances


def test_row_order_changes_nothing():
    order = RNG.permutation(N)
    np.testing.assert_allclose(fit(X[order], Y[order], S[order]).predict(NEW), fit().predict(NEW), atol=1e-7)


def test_renaming_and_swapping_groups_changes_nothing():
    swapped = fit(s=np.where(S == "a", 7, 3), disparity_kept=0.5)
    np.testing.assert_allclose(swapped.predict(NEW), fit(disparity_kept=0.5).predict(NEW), atol=1e-9)


def test_a_shift_and_scale_of_y_carry_through():
    np.testing.assert_allclose(fit(y=3 * Y + 100).predict(NEW), 3 * fit().predict(NEW) + 100, atol=1e-8)


# sensitive_feature_ids


FRAME = pd.DataFrame({"u": X[:, 0], "sex": S, "v": X[:, 1], "w": X[:, 2]})
INPUTS = FRAME[["u", "v", "w"]]


@pytest.mark.parametrize("ids", [["sex"], "sex", ("sex",), np.array(["sex"])], ids=["list", "name", "tuple", "array"])
@pytest.mark.parametrize("container", [pd.DataFrame, pl.DataFrame, pa.table], ids=["pandas", "polars", "pyarrow"])
def test_named_columns_are_read_as_attributes_and_left_out_of_the_inputs(ids, container):
    model = FairKernelRegressor(sensitive_feature_ids=ids, random_state=0).fit(container(FRAME), Y)
    assert model.n_features_in_ == 3
    assert model.feature_names_in_.tolist() == ["u", "v", "w"]
    assert model.groups_ == ("a", "b")
    reference = fit().predict(X)
    np.testing.assert_allclose(model.predict(container(FRAME)), reference, atol=1e-12)
    np.testing.assert_allclose(model.predict(container(INPUTS)), reference, atol=1e-12)


@pytest.mark.parametrize("ids", [[1], 1, [-3], np.array([1])], ids=str)
@pytest.mark.parametrize("container", [np.asarray, np.ndarray.tolist], ids=["array", "list"])
def test_column_positions_are_read_as_attributes_and_left_out_of_the_inputs(ids, container):
    rows = np.column_stack([X[:, 0], S == "b", X[:, 1:]])
    model = FairKernelRegressor(sensitive_feature_ids=ids, random_state=0).fit(container(rows), Y)
    assert model.n_features_in_ == 3
    reference = fit(s=S == "b").predict(X)
    np.testing.assert_allclose(model.predict(container(rows)), reference, atol=1e-12)
    np.testing.assert_allclose(model.predict(container(X)), reference, atol=1e-12)


def test_positions_name_the_columns_of_a_frame_whose_names_are_numbers():
    frame = pd.DataFrame(np.column_stack([X[:, 0], S == "b", X[:, 1:]]))
    model = FairKernelRegressor(sensitive_feature_ids=[1], random_state=0).fit(frame, Y)
    np.testing.assert_allclose(model.predict(frame), fit(s=S == "b").predict(X), atol=1e-12)


def test_two_sensitive_columns_are_intersections():
    frame = FRAME.assign(race=np.where(np.arange(N) % 3, "p", "q"))
    model = FairKernelRegressor(sensitive_feature_ids=["sex", "race"]).fit(frame, Y)
    assert model.groups_ == (("a", "p"), ("a", "q"), ("b", "p"), ("b", "q"))


@pytest.mark.parametrize(
    ("ids", "rows", "sentence"),
    [
        (["gender"], FRAME, r"X has no column \['gender'\]; its columns are \['u', 'sex', 'v', 'w'\]"),
        ([9], X, r"must be column positions of an array of shape \(150, 3\) \(names need a data frame\)"),
        (["sex"], X, "names need a data frame"),
        ([0, 1, 2], X, "0 feature"),
    ],
)
def test_columns_that_are_not_there_are_named(ids, rows, sentence):
    with pytest.raises(ValueError, match=sentence):
        FairKernelRegressor(sensitive_feature_ids=ids).fit(rows, Y)


def test_values_and_column_names_together_are_refused():
    with pytest.raises(ValueError, match="sensitive_features and sensitive_feature_ids are both given"):
        FairKernelRegressor(sensitive_feature_ids=["sex"]).fit(FRAME, Y, sensitive_features=S)


# scikit-learn's habits


def test_attributes_are_those_of_the_contract():
    model = fit(n_components=6)
    assert model.coef_.shape == model.landmark_indices_.shape
    assert np.ndim(model.intercept_) == np.ndim(model.mean_gap_) == 0
    assert model.eigenvalues_.shape == (6,)
    assert model.n_components_ == 6 <= model.rank_
    assert model.groups_ == ("a", "b")
    assert set(model.approximation_error_by_group_) == {"a", "b"}
    by_hand = model.kernel_(NEW, X[model.landmark_indices_]) @ model.coef_ + model.intercept_
    np.testing.assert_allclose(model.predict(NEW), by_hand, atol=1e-10)


def test_refitting_forgets_the_previous_fit():
    model = fit(y=np.column_stack([Y, Y]), s=np.arange(N) % 3, kernel="laplacian", n_components=4)
    model.set_params(kernel="rbf", n_components=None, features="exact")
    again = model.fit(INPUTS, Y, sensitive_features=S)
    fresh = FairKernelRegressor(features="exact", random_state=0).fit(INPUTS, Y, sensitive_features=S)
    assert set(vars(again)) == set(vars(fresh))
    np.testing.assert_array_equal(again.predict(INPUTS), fresh.predict(INPUTS))
    nameless = again.fit(X, Y, sensitive_features=S)
    assert not hasattr(nameless, "feature_names_in_")


def test_a_failed_fit_says_why_every_time():
    model = fit()
    for _ in range(2):
        with pytest.raises(ValueError, match="one group only"):
            model.fit(X, Y, sensitive_features=["a"] * N)


def test_cloning_and_pickling():
    model = fit(kernel=RBF(0.3) + Linear(), disparity_kept=0.2)
    assert clone(model).get_params() == model.get_params()
    np.testing.assert_array_equal(pickle.loads(pickle.dumps(model)).predict(NEW), model.predict(NEW))


def test_the_same_seed_gives_the_same_bits():
    one, two = fit(n_features=40, random_state=5), fit(n_features=40, random_state=5)
    np.testing.assert_array_equal(one.predict(NEW), two.predict(NEW))
    assert not np.array_equal(one.predict(NEW), fit(n_features=40, random_state=6).predict(NEW))


@pytest.mark.parametrize(
    "parameters",
    [{}, {"features": "fourier", "n_features": 50}, {"objective": "printed", "n_components": 3}, {"n_moments": 2}],
    ids=str,
)
def test_nothing_the_user_passed_is_modified(parameters):
    passed = [X.copy(), Y.copy(), S.copy(), np.ones(N)]
    for array in passed:
        array.flags.writeable = False
    rows, y, s, weight = passed
    fit(rows, y, s, weight=weight, **parameters).predict(rows)
    for array, before in zip(passed, [X, Y, S, np.ones(N)], strict=True):
        np.testing.assert_array_equal(array, before)


@pytest.mark.parametrize("parameters", [{}, {"n_components": 5}, {"disparity_kept": 0.5}], ids=str)
def test_float32_is_bounded_against_float64(parameters):
    narrow = fit(X.astype(np.float32), Y.astype(np.float32), **parameters)
    np.testing.assert_allclose(narrow.predict(NEW.astype(np.float32)), fit(**parameters).predict(NEW), atol=5e-3)


def test_float32_rows_keep_parity_to_their_precision():
    narrow = fit(X.astype(np.float32), Y.astype(np.float32))
    assert gap(narrow.predict(X.astype(np.float32))) < 1e-4


def test_columns_in_any_memory_order_give_the_same_scores():
    np.testing.assert_allclose(fit(np.asfortranarray(X)).predict(NEW), fit().predict(NEW), atol=1e-9)


def test_integers_are_numbers():
    rows = np.round(X * 10).astype(int)
    np.testing.assert_array_equal(fit(rows).predict(rows), fit(rows.astype(float)).predict(rows.astype(float)))


def test_the_page_shown_in_a_notebook_shows_the_parameters_that_were_set():
    page = FairKernelRegressor(disparity_kept=0.25)._repr_html_()
    assert "FairKernelRegressor" in page
    assert "disparity_kept" in page
    assert repr(FairKernelRegressor(disparity_kept=0.25)) == "FairKernelRegressor(disparity_kept=0.25)"
