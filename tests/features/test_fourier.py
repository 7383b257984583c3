"""Random Fourier features."""

import numpy as np
import pytest

from fairkernel import FairKernelRegressor
from fairkernel.features.fourier import fourier_features, pair_error_by_group
from fairkernel.kernels import RBF, Laplacian, Linear, Polynomial, Sigmoid

X = np.random.default_rng(0).normal(size=(60, 3))


def draw(kernel, n_features, seed=0, X=X):
    return fourier_features(kernel, X, n_features, np.random.RandomState(seed))


@pytest.mark.parametrize("kernel", [RBF(0.4), Laplacian(0.3)])
def test_inner_products_approach_the_kernel_with_more_features(kernel):
    errors = []
    for count in (200, 20_000):
        phi = draw(kernel, count)(X)
        errors.append(np.abs(phi @ phi.T - kernel(X, X)).mean())
    assert errors[1] < 0.01
    # A hundred times as many features: ten times as close.
    assert errors[0] / errors[1] == pytest.approx(10.0, rel=0.4)


@pytest.mark.parametrize("kernel", [RBF(0.4), Laplacian(0.3)])
def test_the_diagonal_is_one_for_any_number_of_features(kernel):
    np.testing.assert_allclose((draw(kernel, 10)(X) ** 2).sum(axis=1), 1.0, rtol=1e-12)


@pytest.mark.parametrize(("asked", "given"), [(1, 2), (2, 2), (7, 8), (64, 64)])
def test_an_odd_number_of_features_is_rounded_up(asked, given):
    feature_map = draw(RBF(0.4), asked)
    assert feature_map.n_features == given
    assert feature_map(X).shape == (60, given)


@pytest.mark.parametrize("kernel", [Linear(), Polynomial(1.0), Sigmoid(1.0), RBF(1.0) + Laplacian(1.0)])
def test_a_kernel_without_a_known_density_is_refused_with_the_way_out(kernel):
    with pytest.raises(ValueError, match=r"rbf or laplacian.*use features='landmarks'"):
        draw(kernel, 10)


def test_float32_rows_have_float32_features():
    phi, wide = draw(RBF(0.4), 50, X=X.astype(np.float32))(X.astype(np.float32)), draw(RBF(0.4), 50)(X)
    assert phi.dtype == np.float32
    np.testing.assert_allclose(phi, wide, atol=1e-5)


def test_the_map_and_the_estimator_hold_no_training_row():
    feature_map = draw(RBF(0.4), 10)
    assert feature_map.landmarks is None
    s, y = np.tile(["a", "b"], 30), X[:, 0]
    model = FairKernelRegressor(features="fourier", n_features=50, random_state=0).fit(X, y, sensitive_features=s)
    assert model.landmark_indices_ is None
    held = model.__dict__["_features"].raw.__dict__
    assert not any(np.shares_memory(value, X) for value in held.values() if isinstance(value, np.ndarray))


def test_the_pair_error_of_each_group_is_the_error_on_that_groups_pairs():
    kernel, codes = RBF(0.4), np.repeat([0, 1], [40, 20])
    phi = draw(kernel, 100)(X)
    spoiled = phi.copy()
    spoiled[codes == 1] *= 1.5  # doubles and a bit every inner product of the second group
    errors = pair_error_by_group(kernel, X, phi, codes, np.random.RandomState(0))
    worse = pair_error_by_group(kernel, X, spoiled, codes, np.random.RandomState(0))
    assert worse[0] == errors[0]
    assert worse[1] > 2 * errors[1]
    exact = np.sqrt(np.mean((phi[codes == 1] @ phi[codes == 1].T - kernel(X[codes == 1], X[codes == 1])) ** 2))
    assert errors[1] == pytest.approx(exact)  # twenty rows: every pair is looked at
