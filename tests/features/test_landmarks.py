"""Group-weighted randomly pivoted Cholesky."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fairkernel.features.landmarks import BLOCK, pivoted_cholesky
from fairkernel.kernels import RBF, Laplacian, Linear, Polynomial

X = np.random.default_rng(0).normal(size=(120, 3))
EVEN = np.ones(len(X)) / len(X)


def factorise(kernel, X, weight=None, *, limit=None, enough=None, seed=0):
    weight = np.ones(len(X)) / len(X) if weight is None else weight
    limit = len(X) if limit is None else limit
    never = lambda count, residual: False  # noqa: E731
    return pivoted_cholesky(kernel, X, weight, limit=limit, enough=enough or never, rng=np.random.RandomState(seed))


@pytest.mark.parametrize("kernel", [RBF(0.5), Laplacian(0.3), Linear(), Polynomial(0.5, 3)])
def test_at_full_rank_the_features_reproduce_the_gram_matrix(kernel):
    _, training, residual = factorise(kernel, X)
    gram = kernel(X, X)
    np.testing.assert_allclose(training @ training.T, gram, atol=1e-9 * gram.max())
    assert residual.max() < 1e-9 * gram.max()


@pytest.mark.parametrize("limit", [5, 40, 120])
def test_the_map_applied_to_training_rows_gives_the_training_features(limit):
    feature_map, training, _ = factorise(RBF(0.5), X, limit=limit)
    np.testing.assert_allclose(feature_map(X), training, atol=1e-7)


def test_new_rows_have_nystroems_inner_products():
    feature_map, _, _ = factorise(RBF(0.5), X, limit=30)
    new, S = np.random.default_rng(1).normal(size=(20, 3)), X[feature_map.landmarks]
    kernel = RBF(0.5)
    nystroem = kernel(new, S) @ np.linalg.solve(kernel(S, S), kernel(S, new))
    np.testing.assert_allclose(feature_map(new) @ feature_map(new).T, nystroem, atol=1e-9)


def test_landmarks_are_distinct_rows_and_exactly_as_many_as_allowed():
    feature_map, training, _ = factorise(RBF(0.5), X, limit=50)
    assert len(set(feature_map.landmarks.tolist())) == 50
    assert training.shape == (120, 50)
    assert feature_map.n_features == 50


def test_the_residual_is_what_the_features_miss_of_the_diagonal():
    _, training, residual = factorise(RBF(0.5), X, limit=25)
    np.testing.assert_allclose(residual, 1.0 - (training**2).sum(axis=1), atol=1e-12)
    assert residual.min() >= 0.0
    assert residual.max() > 1e-3


def test_the_mean_residual_falls_with_every_landmark_drawn():
    seen = []
    factorise(
        RBF(0.5),
        np.random.default_rng(2).normal(size=(900, 3)),
        limit=500,
        enough=lambda count, residual: bool(seen.append(residual.mean())),
    )
    assert len(seen) > 500 / BLOCK
    assert np.all(np.diff(seen) <= 1e-15)
    assert seen[-1] < 0.5 * seen[1]


def test_it_stops_as_soon_as_enough_says_so():
    feature_map, _, _ = factorise(RBF(0.5), X, enough=lambda count, residual: residual.mean() < 0.1)
    assert 0 < feature_map.n_features < 120


@pytest.mark.parametrize(("kernel", "rank"), [(Linear(), 3), (Polynomial(1.0, 2), 10)])
def test_a_kernel_of_low_rank_stops_at_its_rank(kernel, rank):
    assert factorise(kernel, X)[0].n_features == rank


def test_duplicate_rows_add_no_landmark():
    repeated = np.repeat(X[:7], 30, axis=0)
    feature_map, training, _ = factorise(RBF(0.5), repeated)
    assert feature_map.n_features == 7
    assert len(np.unique(repeated[feature_map.landmarks], axis=0)) == 7
    np.testing.assert_allclose(training @ training.T, RBF(0.5)(repeated, repeated), atol=1e-10)


def test_all_rows_equal_need_one_landmark():
    feature_map, training, residual = factorise(RBF(1.0), np.ones((40, 3)))
    assert feature_map.n_features == 1
    np.testing.assert_allclose(training, 1.0)
    np.testing.assert_array_equal(residual, 0.0)


def test_a_kernel_that_is_zero_everywhere_needs_none():
    feature_map, training, _ = factorise(Linear(), np.zeros((40, 3)))
    assert feature_map.n_features == 0
    assert training.shape == (40, 0)


def test_weights_by_group_serve_a_minority_that_even_weights_miss():
    rng = np.random.default_rng(3)
    # Half a percent of the rows, far from the others.
    rows = np.concatenate([rng.normal(size=(1990, 5)), rng.normal(size=(10, 5)) + 20.0])
    minority = np.arange(2000) >= 1990
    by_group = np.where(minority, 1 / 10, 1 / 1990)
    share_missed = {}
    for name, weight in [("even", np.ones(2000) / 2000), ("group", by_group)]:
        _, _, residual = factorise(RBF(0.2), rows, weight, limit=100)
        share_missed[name] = residual[minority].mean()
    assert share_missed["group"] < 0.05
    assert share_missed["even"] > 5 * share_missed["group"]


def test_rows_of_large_residual_are_drawn_more_often():
    # k(x, x) = x² is 100 times larger for the last row: it comes first in 100 of 199 draws.
    rows = np.eye(100)
    rows[-1, -1] = 10.0
    first = [factorise(Linear(), rows, limit=1, seed=seed)[0].landmarks[0] for seed in range(400)]
    assert np.mean(np.array(first) == 99) == pytest.approx(100 / 199, abs=0.08)


def test_the_same_seed_draws_the_same_bits():
    one, two = factorise(RBF(0.5), X, limit=40, seed=4), factorise(RBF(0.5), X, limit=40, seed=4)
    np.testing.assert_array_equal(one[0].landmarks, two[0].landmarks)
    np.testing.assert_array_equal(one[1], two[1])
    assert not np.array_equal(one[0].landmarks, factorise(RBF(0.5), X, limit=40, seed=5)[0].landmarks)


def test_float32_rows_have_float32_features_that_reproduce_the_gram_matrix():
    _, training, _ = factorise(RBF(0.5), X.astype(np.float32))
    assert training.dtype == np.float32
    np.testing.assert_allclose(training @ training.T, RBF(0.5)(X, X), atol=5e-3)


@settings(max_examples=25)
@given(st.integers(1, 40), st.integers(1, 4), st.integers(0, 10_000))
def test_no_choice_of_landmarks_overestimates_the_kernel(limit, columns, seed):
    rows = np.random.default_rng(seed).normal(size=(40, columns))
    _, training, _ = factorise(RBF(1.0), rows, limit=limit, seed=seed)
    assert np.linalg.eigvalsh(RBF(1.0)(rows, rows) - training @ training.T)[0] > -1e-8
