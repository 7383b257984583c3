"""Kernels against scikit-learn's, and the algebra of sums and products."""

import pickle

import numpy as np
import pytest
from scipy.spatial.distance import cdist
from sklearn.base import clone
from sklearn.gaussian_process.kernels import Matern
from sklearn.metrics.pairwise import PAIRWISE_KERNEL_FUNCTIONS, pairwise_kernels
from sklearn.model_selection import GridSearchCV

from fairkernel import FairKernelRegressor
from fairkernel.kernels import (
    NAMED,
    RBF,
    ColumnScaled,
    Exponential,
    Laplacian,
    Linear,
    Polynomial,
    Precomputed,
    Product,
    Scaled,
    Sigmoid,
    Sum,
    UserFunction,
    make_kernel,
)

PARAMETERS = {"gamma": None, "degree": 3, "coef0": 1}
RNG = np.random.default_rng(0)
X, Z = RNG.normal(size=(30, 4)), RNG.normal(size=(17, 4))
KERNELS = [
    Linear(),
    Polynomial(0.3, 2, 0.5),
    Polynomial(0.3, 5),
    Sigmoid(0.2, -0.1),
    RBF(0.7),
    Laplacian(0.4),
    Exponential(0.6),
    ColumnScaled(Exponential(0.6), np.array([0.0, 0.5, 1.0, 2.0])),
    RBF(0.7) + Linear(),
    RBF(0.7) * Polynomial(0.1, 2),
    3.0 * Laplacian(0.4) + RBF(1.0) * Linear(),
    UserFunction(lambda A, B, power=1: (A @ B.T) ** power, {"power": 3}),
]


def by_text(kernel):
    return type(kernel).__name__


@pytest.mark.parametrize("name", sorted(set(NAMED) - {"precomputed", "exponential"}))
def test_named_kernel_with_default_parameters_is_scikit_learns(name):
    ours = make_kernel(name, X.shape[1], **PARAMETERS)(X, Z)
    np.testing.assert_allclose(ours, pairwise_kernels(X, Z, metric=name), rtol=1e-12, atol=1e-14)


@pytest.mark.parametrize(
    ("name", "parameters"),
    [
        ("poly", {"gamma": 0.3, "degree": 1, "coef0": 0.0}),
        ("poly", {"gamma": 2.0, "degree": 7, "coef0": 0.25}),
        ("poly", {"gamma": 0.5, "degree": 0, "coef0": 2.0}),
        ("sigmoid", {"gamma": 0.05, "coef0": -2.0}),
        ("rbf", {"gamma": 3.0}),
        ("laplacian", {"gamma": 0.01}),
    ],
)
def test_named_kernel_with_its_own_parameters_is_scikit_learns(name, parameters):
    ours = make_kernel(name, X.shape[1], **{**PARAMETERS, **parameters})(X, Z)
    np.testing.assert_allclose(ours, pairwise_kernels(X, Z, metric=name, **parameters), rtol=1e-11)


@pytest.mark.parametrize("gamma", [None, 0.01, 3.0])
def test_the_exponential_kernel_is_a_matern_kernel_of_smoothness_one_half(gamma):
    ours = make_kernel("exponential", 4, **{**PARAMETERS, "gamma": gamma})(X, Z)
    np.testing.assert_allclose(ours, Matern(length_scale=1 / (gamma or 1 / 4), nu=0.5)(X, Z), rtol=1e-11)


def test_a_row_has_exponential_kernel_one_with_itself_however_far_from_the_origin():
    np.testing.assert_array_equal(np.diag(Exponential(1.0)(X + 1e6, X + 1e6)), 1.0)


def test_scaled_columns_are_the_kernel_of_columns_multiplied_first():
    scales = np.array([0.0, 0.5, 1.0, 2.0])
    np.testing.assert_allclose(ColumnScaled(RBF(0.7), scales)(X, Z), RBF(0.7)(X * scales, Z * scales))


@pytest.mark.parametrize("kernel", [RBF(0.7), Exponential(0.6)], ids=by_text)
def test_gradient_agrees_with_finite_differences(kernel):
    scaled, c, h = ColumnScaled(kernel, np.array([0.0, 0.5, 1.0, 2.0])), RNG.normal(size=len(Z)), 1e-6
    found = scaled.gradient(X, Z, c)
    for j, step in enumerate(h * np.eye(4)):
        slope = (scaled(X + step, Z) @ c - scaled(X - step, Z) @ c) / (2 * h)
        np.testing.assert_allclose(found[:, j], slope, atol=1e-8)


def test_the_exponential_kernels_gradient_is_zero_at_its_kink():
    np.testing.assert_array_equal(ColumnScaled(Exponential(1.0), np.ones(4)).gradient(Z[:1], Z[:1], np.ones(1)), 0.0)


@pytest.mark.parametrize("scales", [[-1.0, 1, 1, 1], [np.nan, 1, 1, 1], [[1.0, 1, 1, 1]]])
def test_scales_that_are_no_scales_are_refused(scales):
    with pytest.raises(ValueError, match="scales must be finite numbers >= 0, one per column"):
        ColumnScaled(RBF(1.0), np.array(scales))


def test_one_scale_per_column_is_needed():
    with pytest.raises(ValueError, match="4 scales for 5 columns"):
        ColumnScaled(RBF(1.0), np.ones(4)).resolve(5)


def test_a_fractional_degree_is_scikit_learns_where_the_base_is_positive():
    A, B = np.abs(X), np.abs(Z)
    ours = make_kernel("poly", 4, gamma=None, degree=2.5, coef0=1.0)(A, B)
    np.testing.assert_allclose(ours, pairwise_kernels(A, B, metric="poly", degree=2.5), rtol=1e-12)


def test_every_kernel_name_but_the_exponential_is_one_of_scikit_learns():
    assert set(NAMED) - {"precomputed", "exponential"} <= set(PAIRWISE_KERNEL_FUNCTIONS)


def test_gamma_none_is_one_over_the_columns_everywhere_in_an_expression():
    kernel = make_kernel(2.0 * (RBF() * Polynomial() + Sigmoid()), 4, **PARAMETERS)
    np.testing.assert_array_equal(kernel(X, Z), (2.0 * (RBF(0.25) * Polynomial(0.25) + Sigmoid(0.25)))(X, Z))


def test_a_kernel_objects_own_parameters_win_over_the_estimators():
    assert make_kernel(RBF(0.5), 4, gamma=9.0, degree=2, coef0=3.0) == RBF(0.5)


@pytest.mark.parametrize("kernel", KERNELS, ids=by_text)
def test_diag_is_the_diagonal_of_the_gram_matrix(kernel):
    np.testing.assert_allclose(kernel.diag(X), np.diagonal(kernel(X, X)), rtol=1e-12)


@pytest.mark.parametrize("kernel", KERNELS, ids=by_text)
def test_the_gram_matrix_is_symmetric(kernel):
    gram = kernel(X, X)
    np.testing.assert_allclose(gram, gram.T, rtol=1e-13)


@pytest.mark.parametrize("kernel", [k for k in KERNELS if k.is_psd], ids=by_text)
def test_a_kernel_that_says_psd_has_no_negative_eigenvalue(kernel):
    spectrum = np.linalg.eigvalsh(kernel(X, X))
    assert spectrum[0] > -1e-12 * spectrum[-1]


@pytest.mark.parametrize("kernel", [Sigmoid(0.5, 1.0), Polynomial(0.5, 3, -2.0)])
def test_a_kernel_with_negative_eigenvalues_does_not_say_psd(kernel):
    spectrum = np.linalg.eigvalsh(kernel(X, X))
    assert spectrum[0] < -1e-3 * spectrum[-1]
    assert not kernel.is_psd


@pytest.mark.parametrize(
    ("kernel", "psd"),
    [
        (Polynomial(1.0, 3, 0.0), True),
        (Polynomial(1.0, 2.5, 1.0), False),
        (RBF(1.0) + Sigmoid(1.0), False),
        (RBF(1.0) * Linear(), True),
        (2.0 * Sigmoid(1.0), False),
        (2.0 * RBF(1.0), True),
        (UserFunction(len), False),
        (Precomputed(), False),
    ],
)
def test_psd_is_inherited_by_sums_products_and_multiples(kernel, psd):
    assert kernel.is_psd is psd


def test_sums_products_and_multiples_are_those_of_the_numbers():
    a, b = RBF(0.3), Laplacian(0.2)
    np.testing.assert_allclose((a + b)(X, Z), a(X, Z) + b(X, Z), rtol=1e-15)
    np.testing.assert_allclose((a * b)(X, Z), a(X, Z) * b(X, Z), rtol=1e-15)
    np.testing.assert_allclose((2.5 * a)(X, Z), 2.5 * a(X, Z), rtol=1e-15)
    np.testing.assert_array_equal((a * 2.5)(X, Z), (2.5 * a)(X, Z))


def test_expressions_have_the_type_they_are_written_with():
    assert isinstance(RBF() + Linear(), Sum)
    assert isinstance(RBF() * Linear(), Product)
    assert isinstance(2 * RBF(), Scaled)
    assert RBF(0.1) + Linear() == RBF(0.1) + Linear()
    assert RBF(0.1) + Linear() != RBF(0.1) * Linear()


@pytest.mark.parametrize("weight", [-1.0, np.nan, np.inf])
def test_a_weight_that_is_not_a_non_negative_number_is_refused(weight):
    with pytest.raises(ValueError, match="weight of a kernel must be a number >= 0"):
        weight * RBF()


@pytest.mark.parametrize("combine", [lambda k: k + RBF(), lambda k: Linear() * k])
def test_a_precomputed_kernel_takes_no_part_in_expressions(combine):
    with pytest.raises(ValueError, match="cannot be part of a sum or product; combine the Gram matrices yourself"):
        combine(Precomputed())


def test_a_sum_with_a_number_is_refused_when_it_is_written():
    with pytest.raises(TypeError):
        RBF() + 1


@pytest.mark.parametrize(
    ("make", "named"),
    [
        (lambda: RBF(-1.0), "gamma"),
        (lambda: RBF("wide"), "gamma"),
        (lambda: Laplacian(0.0), "gamma"),
        (lambda: Polynomial(1.0, -1), "degree"),
        (lambda: Polynomial(np.nan), "gamma"),
        (lambda: Sigmoid(1.0, np.inf), "coef0"),
    ],
)
def test_a_kernel_object_refuses_parameters_out_of_range_by_name(make, named):
    with pytest.raises((TypeError, ValueError), match=named):
        make()


def test_a_callable_gets_blocks_of_rows_and_its_parameters():
    def kernel(A, B, *, scale):
        assert A.ndim == B.ndim == 2
        return scale * (A @ B.T)

    made = make_kernel(kernel, 4, kernel_params={"scale": 3.0}, **PARAMETERS)
    np.testing.assert_array_equal(made(X, Z), 3.0 * (X @ Z.T))
    many = RNG.normal(size=(300, 4))
    np.testing.assert_allclose(made.diag(many), 3.0 * (many**2).sum(axis=1), rtol=1e-13)


@pytest.mark.parametrize(
    "wrong", [lambda A, B: 1.0, lambda A, B: A @ A.T, lambda A, B: (A @ B.T)[:, 0], lambda A, B: None]
)
def test_a_callable_that_returns_the_wrong_shape_is_told_the_right_one(wrong):
    with pytest.raises(ValueError, match=r"kernel: the callable returned.*shape \(30, 17\).*pairwise_kernels"):
        UserFunction(wrong)(X, Z)


def test_scikit_learns_row_by_row_callable_fails_with_the_way_out():
    # scikit-learn's own callables take two rows: the most likely mistake.
    with pytest.raises(ValueError, match="pairwise_kernels"):
        UserFunction(lambda x, z: x @ z)(X, Z)


def test_a_precomputed_kernel_hands_out_the_columns_it_is_asked_for():
    gram = X @ X.T
    kernel, rows = Precomputed(), np.array([4, 0, 9])
    np.testing.assert_array_equal(kernel(gram, kernel.take(gram, rows)), gram[:, rows])
    np.testing.assert_array_equal(kernel.diag(gram), np.diagonal(gram))


def test_kernel_params_without_a_callable_are_refused():
    with pytest.raises(
        ValueError, match=r"kernel_params=\{'degree': 2\} goes with a callable kernel only.*set gamma, degree"
    ):
        make_kernel("poly", 4, kernel_params={"degree": 2}, **PARAMETERS)


def test_an_unknown_name_lists_the_valid_ones():
    with pytest.raises(ValueError, match="kernel='gauss' is unknown; valid names are 'linear', 'poly'"):
        make_kernel("gauss", 4, **PARAMETERS)


def test_what_is_no_kernel_at_all_is_refused_by_type():
    with pytest.raises(TypeError, match="a name, a callable or a fairkernel kernel, got int"):
        make_kernel(3, 4, **PARAMETERS)


def test_a_kernel_class_in_place_of_a_kernel_says_to_make_one():
    with pytest.raises((TypeError, ValueError), match=r"RBF\(\)"):
        make_kernel(RBF, 4, **PARAMETERS)(X, Z)


@pytest.mark.parametrize("kernel", KERNELS[:-1], ids=by_text)
def test_kernels_are_cloned_and_pickled_to_equals(kernel):
    assert clone(kernel, safe=False) == kernel
    again = pickle.loads(pickle.dumps(kernel))
    assert again == kernel
    np.testing.assert_array_equal(again(X, Z), kernel(X, Z))


def test_kernels_cannot_be_changed_once_made():
    with pytest.raises(AttributeError):
        RBF(0.1).gamma = 0.2


@pytest.mark.parametrize("kernel", [k for k in KERNELS if not isinstance(k, UserFunction)], ids=by_text)
def test_float32_in_gives_float32_out_close_to_float64(kernel):
    block = kernel(X.astype(np.float32), Z.astype(np.float32))
    assert block.dtype == np.float32
    np.testing.assert_allclose(block, kernel(X, Z), rtol=2e-4, atol=1e-5)


@pytest.mark.parametrize(("offset", "dtype"), [(1e7, np.float64), (1e3, np.float32)])
def test_rbf_keeps_its_digits_when_the_columns_have_a_large_mean(offset, dtype):
    # Years, incomes, time stamps: ‖x‖² + ‖z‖² − 2x·z cancels unless both are shifted first.
    A, B = (X + offset).astype(dtype), (Z + offset).astype(dtype)
    exact = np.exp(-0.5 * cdist(A.astype(float), B.astype(float), "sqeuclidean"))
    np.testing.assert_allclose(RBF(0.5)(A, B), exact, atol=1e-3)


def test_equal_rows_have_rbf_one():
    rows = np.repeat(X[:3] * 1e4, 5, axis=0)
    gram = RBF(1.0)(rows, rows)
    np.testing.assert_allclose(gram[:5, :5], 1.0, atol=1e-6)
    assert gram.max() <= 1.0


def test_a_grid_search_runs_over_kernel_objects():
    rng = np.random.default_rng(1)
    A, s = rng.normal(size=(60, 2)), np.tile(["a", "b"], 30)
    y = A[:, 0] * A[:, 1]
    grid = [Linear(), RBF(1.0), Polynomial(1.0, 2) + Linear()]
    search = GridSearchCV(FairKernelRegressor(alpha=1e-3), {"kernel": grid}, cv=3).fit(A, y, sensitive_features=s)
    assert search.best_params_["kernel"] == grid[2]
