"""Features of kernels that may be indefinite."""

import numpy as np
import pytest

from fairkernel.features.clipped import clipped_eigenfeatures, spread_over_groups
from fairkernel.kernels import RBF, Precomputed, Sigmoid, UserFunction

X = np.random.default_rng(0).normal(size=(80, 3))
CODES = np.arange(80) % 2


def clipped(kernel, X, *, codes=CODES, limit=80, seed=0):
    return clipped_eigenfeatures(kernel, X, codes, limit=limit, rng=np.random.RandomState(seed))


def test_on_all_rows_the_features_are_the_positive_part_of_the_gram_matrix():
    kernel = Sigmoid(0.5, 1.0)
    _, training, _, _ = clipped(kernel, X)
    values, vectors = np.linalg.eigh(kernel(X, X))
    positive = (vectors * np.clip(values, 0.0, None)) @ vectors.T
    np.testing.assert_allclose(training @ training.T, positive, atol=1e-5)


def test_the_clipped_share_is_that_of_the_absolute_spectrum():
    kernel = Sigmoid(0.5, 1.0)
    values = np.linalg.eigvalsh(kernel(X, X))
    share = clipped(kernel, X)[3]
    assert share == pytest.approx(-values[values < 0].sum() / np.abs(values).sum(), rel=1e-6)
    assert 0.01 < share < 0.5


def test_the_residual_is_the_error_on_the_diagonal():
    kernel = Sigmoid(0.5, 1.0)
    _, training, residual, _ = clipped(kernel, X, limit=30)
    np.testing.assert_allclose(residual, np.abs(kernel.diag(X) - (training**2).sum(axis=1)), atol=1e-12)


def test_nothing_is_clipped_of_a_callable_that_is_positive():
    kernel = UserFunction(lambda A, B: RBF(0.5)(A, B))
    _, training, residual, share = clipped(kernel, X)
    assert share == 0.0
    assert residual.max() < 1e-6
    np.testing.assert_allclose(training @ training.T, kernel(X, X), atol=1e-6)


@pytest.mark.parametrize("limit", [20, 80])
def test_the_map_applied_to_training_rows_gives_the_training_features(limit):
    feature_map, training, _, _ = clipped(Sigmoid(0.5, 1.0), X, limit=limit)
    np.testing.assert_allclose(feature_map(X), training, atol=1e-12)


def test_a_precomputed_gram_matrix_gives_the_features_of_its_kernel():
    gram = RBF(0.5)(X, X)
    _, from_gram, _, _ = clipped(Precomputed(), gram, limit=40)
    _, from_rows, _, _ = clipped(UserFunction(lambda A, B: RBF(0.5)(A, B)), X, limit=40)
    np.testing.assert_allclose(from_gram @ from_gram.T, from_rows @ from_rows.T, atol=1e-8)


def test_a_gram_matrix_that_is_not_symmetric_is_refused_with_the_difference():
    gram = X @ X.T
    gram[3, 5] += 0.25
    with pytest.raises(ValueError, match=r"Gram matrix is not symmetric \(largest difference 0.25\)"):
        clipped(Precomputed(), gram)


@pytest.mark.parametrize(
    "gram", [np.zeros((80, 80)), -(X @ X.T), -np.eye(80)], ids=["zero", "negative", "minus identity"]
)
def test_a_gram_matrix_without_a_positive_eigenvalue_is_refused(gram):
    # The spectrum of a negative matrix still has rounding errors above zero: these are no features.
    with pytest.raises(ValueError, match="no positive eigenvalue"):
        clipped(Precomputed(), gram)


def test_a_kernel_that_gives_nan_is_refused_for_what_it_is():
    gram = X @ X.T
    gram[4, 2] = gram[2, 4] = np.nan
    with pytest.raises(ValueError, match=r"(?i)nan|not finite|not a number"):
        clipped(Precomputed(), gram)


@pytest.mark.parametrize(
    "kernel", [Sigmoid(0.05, 1.0), UserFunction(lambda A, B: A @ B.T)], ids=["sigmoid", "callable"]
)
def test_rounding_in_float32_is_neither_asymmetry_nor_indefiniteness(kernel):
    rows, codes = np.random.default_rng(1).normal(size=(300, 20)), np.arange(300) % 2
    narrow, wide = (clipped(kernel, rows.astype(dtype), codes=codes, limit=300) for dtype in (np.float32, np.float64))
    assert narrow[1].dtype == np.float32
    assert narrow[3] == pytest.approx(wide[3], abs=1e-3)
    gram = wide[1] @ wide[1].T
    # As a share of the largest eigenvalue: what float32 cannot tell from rounding is left out.
    assert np.linalg.norm(narrow[1] @ narrow[1].T - gram, 2) < 1e-3 * np.linalg.norm(gram, 2)


def test_a_positive_kernel_in_float32_is_not_said_to_be_clipped():
    rows, codes = np.random.default_rng(1).normal(size=(300, 20)).astype(np.float32), np.arange(300) % 2
    assert clipped(UserFunction(lambda A, B: A @ B.T), rows, codes=codes, limit=300)[3] == 0.0


def test_new_rows_score_alike_in_float32_and_float64():
    rng = np.random.default_rng(1)
    rows, new = rng.normal(size=(300, 20)), rng.normal(size=(50, 20))
    feature_maps = (
        clipped(UserFunction(lambda A, B: A @ B.T), rows.astype(d), codes=np.arange(300) % 2, limit=300)[0]
        for d in (np.float32, np.float64)
    )
    narrow, wide = (features(new.astype(np.float32)) for features in feature_maps)
    np.testing.assert_allclose(narrow @ narrow.T, wide @ wide.T, atol=1e-2)


def test_landmarks_are_spread_over_the_groups_as_evenly_as_their_sizes_allow():
    codes = np.repeat([0, 1, 2], [100, 30, 4])
    chosen = spread_over_groups(codes, 34, np.random.RandomState(0))
    assert np.bincount(codes[chosen]).tolist() == [15, 15, 4]
    assert len(set(chosen.tolist())) == 34
    assert np.all(np.diff(chosen) > 0)


def test_as_many_landmarks_as_rows_are_all_rows_in_order():
    np.testing.assert_array_equal(spread_over_groups(CODES, 80, np.random.RandomState(0)), np.arange(80))


def test_which_rows_are_spread_depends_on_the_seed_alone():
    draws = [spread_over_groups(CODES, 10, np.random.RandomState(seed)).tolist() for seed in (0, 0, 1)]
    assert draws[0] == draws[1] != draws[2]
