"""witness(X): how group-like each row is, against the formulas with n×n matrices."""

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.metrics.pairwise import laplacian_kernel, polynomial_kernel, rbf_kernel
from tests.helpers import gap_vector, several_groups, two_groups

from fairkernel import FairFeatureEmbedding, FairKernelClassifier, FairKernelRegressor
from fairkernel.exceptions import ContinuousSensitiveWarning

X, S, Y = two_groups()
NEW = two_groups(seed=1)[0]
GRAMS = {"rbf": rbf_kernel, "laplacian": laplacian_kernel, "poly": polynomial_kernel}
MODELS = {
    "embedding": FairFeatureEmbedding(n_components=3, random_state=0),
    "regressor": FairKernelRegressor(random_state=0),
    "classifier": FairKernelClassifier(random_state=0),
}


def fitted(which="regressor", X=X, s=S, y=Y, weight=None, **parameters):
    model = clone(MODELS[which]).set_params(**{"features": "exact", **parameters})
    y = (y > 0.5).astype(int) if which == "classifier" else y
    return model.fit(X, y, sensitive_features=s, sample_weight=weight)


@pytest.mark.parametrize("which", MODELS)
@pytest.mark.parametrize("kernel", GRAMS)
def test_witness_is_the_n_by_n_formula(which, kernel):
    d = -GRAMS[kernel](NEW, X) @ gap_vector(S)
    d -= np.mean(-GRAMS[kernel](X, X) @ gap_vector(S))
    np.testing.assert_allclose(fitted(which, kernel=kernel).witness(NEW), d, atol=1e-9)


def test_witness_gap_is_the_squared_mean_discrepancy():
    found, K, c = fitted().witness(X), rbf_kernel(X), gap_vector(S)
    np.testing.assert_allclose(found[S == 1].mean() - found[S == 0].mean(), c @ K @ c, rtol=1e-10)


def test_witness_is_positive_for_rows_like_the_second_group():
    found = fitted().witness(np.vstack([X[S == 0].mean(axis=0), X[S == 1].mean(axis=0)]))
    assert found[0] < 0 < found[1]


def test_swapping_the_groups_turns_the_sign():
    np.testing.assert_allclose(fitted(s=1 - S).witness(NEW), -fitted().witness(NEW), atol=1e-12)


@pytest.mark.parametrize("which", MODELS)
def test_its_weighted_training_mean_is_zero(which):
    weight = np.random.default_rng(2).uniform(0.2, 3.0, len(X))
    assert abs(np.average(fitted(which, weight=weight).witness(X), weights=weight)) < 1e-13


def test_weights_are_duplicated_rows():
    times = np.random.default_rng(2).integers(1, 4, len(X))
    repeated = fitted(X=np.repeat(X, times, axis=0), s=np.repeat(S, times), y=np.repeat(Y, times))
    np.testing.assert_allclose(fitted(weight=times.astype(float)).witness(NEW), repeated.witness(NEW), atol=1e-8)


def test_several_groups_have_a_column_each_and_the_weighted_sum_is_zero():
    rows, s, y = several_groups()
    found, K = fitted(X=rows, s=s, y=y).witness(rows), rbf_kernel(rows)
    means = np.array([K[:, s == g].mean(axis=1) for g in range(3)])
    d = (means - K.mean(axis=1)).T
    np.testing.assert_allclose(found, d - d.mean(axis=0), atol=1e-9)
    np.testing.assert_allclose(found @ np.bincount(s), 0.0, atol=1e-9)


def test_a_continuous_attribute_gives_the_covariance_function_per_standard_deviation():
    age = 40 + 10 * X[:, 0] + np.random.default_rng(3).normal(size=len(X))
    with pytest.warns(ContinuousSensitiveWarning):
        model = fitted(s=age)
    found, K, z = model.witness(X), rbf_kernel(X), (age - age.mean()) / age.std()
    d = K @ z / len(z)
    np.testing.assert_allclose(found, d - d.mean(), atol=1e-9)
    np.testing.assert_allclose(found @ z / len(z), z @ K @ z / len(z) ** 2, rtol=1e-9)
    assert model.groups_ == ("all",)


def test_groups_come_before_a_continuous_attribute():
    mixed = pd.DataFrame({"s": S, "age": X[:, 0] + np.random.default_rng(3).normal(size=len(X))})
    with pytest.warns(ContinuousSensitiveWarning):
        found = fitted(s=mixed).witness(NEW)
    np.testing.assert_allclose(found[:, 0], fitted().witness(NEW), atol=1e-12)
    assert found.shape == (len(NEW), 2)


def test_under_odds_there_is_one_column_per_class():
    label = (Y > 0.5).astype(int)
    found, K = fitted("classifier", criterion="odds").witness(X), rbf_kernel(X)
    d = np.column_stack(
        [K[:, (S == 1) & (label == c)].mean(axis=1) - K[:, (S == 0) & (label == c)].mean(axis=1) for c in (0, 1)]
    )
    np.testing.assert_allclose(found, d - d.mean(axis=0), atol=1e-9)


def test_rows_drawn_alike_have_a_witness_of_zero():
    rows, s = np.vstack([X, X]), np.repeat([0, 1], len(X))
    assert np.abs(fitted(X=rows, s=s, y=np.tile(Y, 2)).witness(NEW)).max() < 1e-12


def test_a_score_of_no_gap_is_orthogonal_to_the_witness():
    model, K = fitted(), rbf_kernel(X)
    alpha = np.zeros(len(X))
    alpha[model.landmark_indices_] = model.coef_
    assert abs(alpha @ K @ -gap_vector(S)) < 1e-10


def test_coefficients_are_attributes_and_precomputed_gives_the_same():
    model = fitted(features="landmarks", n_features=20)
    by_hand = model.kernel_(NEW, X[model.landmark_indices_]) @ model.witness_coef_ + model.witness_intercept_
    np.testing.assert_allclose(model.witness(NEW), by_hand[:, 0], atol=1e-13)
    gram = fitted(X=rbf_kernel(X), kernel="precomputed")
    np.testing.assert_allclose(gram.witness(rbf_kernel(NEW, X)), fitted().witness(NEW), atol=1e-9)


def test_fourier_features_come_close():
    exact, fourier = fitted().witness(NEW), fitted(features="fourier", n_features=4000).witness(NEW)
    assert np.corrcoef(exact, fourier)[0, 1] > 0.99


def test_before_fit_and_with_other_columns_it_refuses():
    with pytest.raises(NotFittedError):
        MODELS["regressor"].witness(X)
    with pytest.raises(ValueError, match="X has 3 features, but FairKernelRegressor is expecting 4"):
        fitted().witness(X[:, :3])
