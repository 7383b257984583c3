"""What must not matter: the order of rows, the names of groups, a weight or a repeated row, units, the array library.

Predictions are compared to 1e-8 and features to 1e-7 of their largest value: exact features keep a direction as long as
its residual exceeds 1e-12 of k(x, x), and which tiny direction is left out depends on the order of the rows.
"""

import array_api_strict
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose
from tests.helpers import relative, several_groups, two_groups, with_signs_of

from fairkernel import FairFeatureEmbedding, FairKernelClassifier, FairKernelRegressor
from fairkernel.backend import cholesky, eigh, identity, solve, solve_triangular, to_numpy
from fairkernel.features import build_features
from fairkernel.kernels import RBF, Laplacian, Linear, Polynomial, Sigmoid

PREDICTION, FEATURE = 1e-8, 1e-7
SEEDS = st.integers(0, 10**6)
KEPT = st.sampled_from([0.0, 0.25, 1.0])
SOME = settings(max_examples=25)
K_COMPONENTS = 3

pytestmark = pytest.mark.filterwarnings("ignore::fairkernel.exceptions.ContinuousSensitiveWarning")


def regress(X, s, y, X_new, weight=None, **options):
    options = {"features": "exact"} | options
    model = FairKernelRegressor(**options).fit(X, y, sensitive_features=s, sample_weight=weight)
    return model.predict(X_new)


def classify(X, s, y, X_new, weight=None, **options):
    options = {"features": "exact"} | options
    labels = np.digitize(y, [-0.5, 0.8])
    model = FairKernelClassifier(**options).fit(X, labels, sensitive_features=s, sample_weight=weight)
    return model.decision_function(X_new)


def embed(X, s, y, X_new, weight=None, **options):
    options = {"features": "exact"} | options
    model = FairFeatureEmbedding(K_COMPONENTS, **options).fit(X, sensitive_features=s, sample_weight=weight)
    return model.transform(X_new)


def assert_same_scores(left, right, **options):
    """Left and right are (X, s, y, X_new[, weight])."""
    for outputs in (regress, classify):
        assert relative(outputs(*left, **options), outputs(*right, **options)) < PREDICTION, outputs.__name__


def assert_same_features(left, right, **options):
    expected = embed(*right, **options)
    assert relative(with_signs_of(embed(*left, **options), expected), expected) < FEATURE


@pytest.fixture(scope="module")
def data():
    """Three groups and new rows; the first eigenvalues are well apart, so that single features are determined."""
    X, s, y = several_groups(n=50, seed=3)
    values = FairFeatureEmbedding(K_COMPONENTS + 1, features="exact").fit(X, sensitive_features=s).eigenvalues_
    assert (values[:-1] / values[1:]).min() > 1.02
    return X, s, y, several_groups(n=20, seed=4)[0]


@pytest.fixture(scope="module")
def pair():
    """Two groups, for Eq. 6 as printed."""
    return *two_groups(30, 20, seed=5), two_groups(10, 10, seed=6)[0]


# Order ------------------------------------------------------------------------------------------------------


@SOME
@given(seed=SEEDS, kept=KEPT)
def test_the_order_of_rows_does_not_matter(data, seed, kept):
    X, s, y, X_new = data
    order = np.random.default_rng(seed).permutation(len(X))
    moved = X[order], s[order], y[order], X_new
    assert_same_scores(moved, data, disparity_kept=kept)
    assert_same_features(moved, data)


@SOME
@given(seed=SEEDS)
def test_the_order_of_rows_does_not_matter_for_the_printed_objective(pair, seed):
    X, s, y, X_new = pair
    order = np.random.default_rng(seed).permutation(len(X))
    moved, still = (X[order], s[order], y[order], X_new), (X, s, y, X_new)
    assert_same_features(moved, still, objective="printed")


@SOME
@given(seed=SEEDS, kept=KEPT)
def test_the_order_of_columns_does_not_matter(data, seed, kept):
    X, s, y, X_new = data
    order = np.random.default_rng(seed).permutation(X.shape[1])
    moved = X[:, order], s, y, X_new[:, order]
    assert_same_scores(moved, data, disparity_kept=kept)
    assert_same_features(moved, data)


# Groups -----------------------------------------------------------------------------------------------------


@SOME
@given(names=st.permutations(["a", "b", "c"]), kept=KEPT)
def test_the_names_of_groups_do_not_matter(data, names, kept):
    X, s, y, X_new = data
    renamed = X, np.array(names)[s], y, X_new
    assert_same_scores(renamed, data, disparity_kept=kept)
    assert_same_features(renamed, data)


@pytest.mark.parametrize("kind", [int, float, bool, str, object], ids=lambda kind: kind.__name__)
@pytest.mark.parametrize("objective", ["discrepancy", "printed"])
def test_swapping_two_groups_does_not_matter(pair, kind, objective):
    X, s, y, X_new = pair
    swapped, still = (X, (1 - s).astype(kind), y, X_new), (X, s, y, X_new)
    assert_same_scores(swapped, still, objective=objective)
    assert_same_features(swapped, still, objective=objective)


def test_splitting_one_attribute_into_two_columns_with_the_same_cells_does_not_matter(data):
    X, s, y, X_new = data
    columns = np.column_stack([np.where(s == 0, "x", "y"), np.where(s == 2, "u", "v")])
    assert_same_scores((X, columns, y, X_new), data, disparity_kept=0.25)


@SOME
@given(unit=st.floats(1e-3, 1e3), origin=st.floats(-1e3, 1e3), sign=st.sampled_from([-1.0, 1.0]), kept=KEPT)
def test_the_unit_and_the_origin_of_a_numeric_attribute_do_not_matter(data, unit, origin, sign, kept):
    X, _, y, X_new = data
    age = 40 + 10 * X[:, 0] + 5 * np.cos(np.arange(len(X)))
    given_in = sign * unit * (age + origin)
    assert_same_scores((X, given_in, y, X_new), (X, age, y, X_new), disparity_kept=kept)
    assert_same_features((X, given_in, y, X_new), (X, age, y, X_new))


def test_the_order_of_several_attributes_does_not_matter(data):
    X, s, y, X_new = data
    age = 40 + 10 * X[:, 0] + 5 * np.cos(np.arange(len(X)))
    both = np.empty((len(X), 2), dtype=object)
    both[:, 0], both[:, 1] = np.array(["a", "b", "c"])[s], age
    assert_same_scores((X, both[:, ::-1], y, X_new), (X, both, y, X_new), disparity_kept=0.25)


# Weights ----------------------------------------------------------------------------------------------------


def some_weights(seed, n):
    """Small integers; every group keeps rows because the first ten of a random order are kept."""
    return np.random.default_rng(seed).choice([0, 1, 1, 2, 3], size=n)


@SOME
@given(seed=SEEDS, kept=KEPT)
def test_a_weight_is_a_row_repeated(data, seed, kept):
    X, s, y, X_new = data
    w = some_weights(seed, len(X))
    repeated = tuple(np.repeat(block, w, axis=0) for block in (X, s, y))
    assert_same_scores((X, s, y, X_new, w.astype(float)), (*repeated, X_new), disparity_kept=kept)
    assert_same_features((X, s, y, X_new, w.astype(float)), (*repeated, X_new))


@SOME
@given(seed=SEEDS)
def test_a_weight_is_a_row_repeated_for_the_printed_objective_and_for_second_moments(pair, seed):
    X, s, y, X_new = pair
    w = some_weights(seed, len(X))
    repeated = tuple(np.repeat(block, w, axis=0) for block in (X, s, y))
    weighted = X, s, y, X_new, w.astype(float)
    assert_same_features(weighted, (*repeated, X_new), objective="printed", rank_tolerance=1e-6)
    assert (
        relative(
            regress(*weighted, n_components=3, n_moments=2), regress(*repeated, X_new, n_components=3, n_moments=2)
        )
        < 1e-6
    )


@SOME
@given(seed=SEEDS)
def test_a_weight_draws_the_same_landmarks_as_the_row_repeated(data, seed):
    X, s, y, X_new = data
    w = some_weights(seed, len(X))
    repeated = tuple(np.repeat(block, w, axis=0) for block in (X, s, y))
    options = {"features": "landmarks", "n_features": 12, "random_state": seed}
    assert_same_scores((X, s, y, X_new, w.astype(float)), (*repeated, X_new), **options)


def test_a_row_of_weight_zero_may_hold_anything(data):
    X, s, y, X_new = data
    w = np.ones(len(X))
    w[[4, 9, 30]] = 0.0
    elsewhere = X.copy(), s.copy(), y.copy()
    elsewhere[0][[4, 9, 30]], elsewhere[1][[4, 9, 30]], elsewhere[2][[4, 9, 30]] = 1e3, 0, 1e6
    assert_same_scores((*elsewhere, X_new, w), (X, s, y, X_new, w), disparity_kept=0.25)
    assert_same_features((*elsewhere, X_new, w), (X, s, y, X_new, w))


@SOME
@given(factor=st.floats(0.1, 10.0), kept=KEPT)
def test_a_common_factor_of_weights_and_penalty_does_not_matter(data, factor, kept):
    X, s, y, X_new = data
    w = np.random.default_rng(0).random(len(X)) + 0.5
    found = regress(X, s, y, X_new, factor * w, alpha=factor * 0.7, disparity_kept=kept)
    assert relative(found, regress(X, s, y, X_new, w, alpha=0.7, disparity_kept=kept)) < PREDICTION


# Scales -----------------------------------------------------------------------------------------------------


@SOME
@given(scale=st.floats(1e-3, 1e3), shift=st.floats(-1e3, 1e3), kept=KEPT)
def test_predictions_move_with_the_targets(data, scale, shift, kept):
    X, s, y, X_new = data
    expected = scale * regress(X, s, y, X_new, disparity_kept=kept) + shift
    assert_allclose(
        regress(X, s, scale * y + shift, X_new, disparity_kept=kept), expected, rtol=1e-8, atol=1e-8 * scale
    )


@SOME
@given(shift=st.floats(-100.0, 100.0), kept=KEPT)
def test_moving_all_rows_does_not_matter_to_a_kernel_of_differences(data, shift, kept):
    X, s, y, X_new = data
    # ‖x‖² + ‖z‖² - 2x·z loses digits with the square of the shift: 1e4 · 1e-16 here.
    found = regress(X + shift, s, y, X_new + shift, disparity_kept=kept)
    assert relative(found, regress(X, s, y, X_new, disparity_kept=kept)) < 1e-7


@pytest.mark.parametrize("outputs", [regress, classify, embed])
def test_float32_rows_give_float32_digits(data, outputs):
    X, s, y, X_new = data
    single = outputs(
        X.astype(np.float32), s, y, X_new.astype(np.float32), features="landmarks", n_features=20, random_state=0
    )
    double = outputs(X, s, y, X_new, features="landmarks", n_features=20, random_state=0)
    assert relative(with_signs_of(single, double) if single.ndim > 1 else single, double) < 2e-3


@pytest.mark.parametrize("outputs", [regress, classify, embed])
def test_the_same_seed_gives_the_same_bits(data, outputs):
    X, s, y, X_new = data
    options = {"features": "landmarks", "n_features": 15, "random_state": 7}
    assert (outputs(X, s, y, X_new, **options) == outputs(X, s, y, X_new, **options)).all()
    assert (outputs(X, s, y, X_new, **options) != outputs(X, s, y, X_new, **options | {"random_state": 8})).any()


# The array library ------------------------------------------------------------------------------------------

KERNELS = [
    Linear(),
    Polynomial(0.5, 3, 1.0),
    Polynomial(0.5, 0, 1.0),
    Sigmoid(0.1, 0.2),
    RBF(0.5),
    Laplacian(0.5),
    RBF(0.5) + 2.0 * Linear(),
    RBF(0.5) * Linear(),
]


@pytest.mark.parametrize("kernel", KERNELS, ids=repr)
def test_kernels_do_not_depend_on_the_array_library(kernel):
    X, Z = np.random.default_rng(0).normal(size=(2, 9, 4))
    X_strict, Z_strict = array_api_strict.asarray(X), array_api_strict.asarray(Z)
    assert relative(np.asarray(kernel(X_strict, Z_strict)), kernel(X, Z)) < 1e-13
    assert relative(np.asarray(kernel.diag(X_strict)), kernel.diag(X)) < 1e-13
    rows = np.array([5, 0, 5])
    taken = kernel(X_strict, kernel.take(Z_strict, array_api_strict.asarray(rows)))
    assert relative(np.asarray(taken), kernel(X, kernel.take(Z, rows))) < 1e-13


def test_linear_algebra_does_not_depend_on_the_array_library():
    rng = np.random.default_rng(0)
    root, rhs = rng.normal(size=(5, 5)), rng.normal(size=(5, 2))
    matrix = root @ root.T + np.eye(5)
    lower = np.linalg.cholesky(matrix)
    strict = array_api_strict.asarray
    pairs = [
        (eigh(strict(matrix))[0], eigh(matrix)[0]),
        (cholesky(strict(matrix)), lower),
        (solve(strict(matrix), strict(rhs)), np.linalg.inv(matrix) @ rhs),
        (solve_triangular(strict(lower), strict(rhs)), np.linalg.inv(lower) @ rhs),
        (solve_triangular(strict(lower), strict(rhs), transpose=True), np.linalg.inv(lower).T @ rhs),
        (solve_triangular(lower, rhs, transpose=True), np.linalg.inv(lower).T @ rhs),
        (identity(3, strict(matrix)), np.eye(3)),
    ]
    for found, expected in pairs:
        assert relative(to_numpy(found), expected) < 1e-11
    values, vectors = eigh(strict(matrix))
    assert (np.diff(to_numpy(values)) < 0).all()
    assert_allclose(matrix @ to_numpy(vectors), to_numpy(vectors) * to_numpy(values), atol=1e-11)


@pytest.mark.parametrize("kernel", [RBF(0.5), Polynomial(0.5, 2, 1.0)], ids=repr)
@pytest.mark.parametrize("options", [{"kind": "exact"}, {"n_features": 7}], ids=["exact", "landmarks"])
def test_features_do_not_depend_on_the_array_library(kernel, options):
    X, s, _ = several_groups(n=30)
    X_new = array_api_strict.asarray(X[:5] + 0.1)

    def build(rows):
        return build_features(kernel, rows, s, np.ones(len(s)), rng=np.random.RandomState(0), **options)

    found, expected = build(array_api_strict.asarray(X)), build(X)
    assert (found.map.landmarks == expected.map.landmarks).all()
    assert relative(np.asarray(found.training), expected.training) < 1e-7
    assert relative(np.asarray(found.map(X_new)), expected.map(X[:5] + 0.1)) < 1e-6
    assert_allclose(found.error_by_group, expected.error_by_group, atol=1e-10)


def test_fourier_features_do_not_depend_on_the_array_library():
    X, s, _ = several_groups(n=30)

    def build(rows):
        given = {"kind": "fourier", "n_features": 64, "rng": np.random.RandomState(0)}
        return build_features(RBF(0.5), rows, s, np.ones(len(s)), **given)

    found, expected = build(array_api_strict.asarray(X)), build(X)
    assert relative(np.asarray(found.training), expected.training) < 1e-12
    assert_allclose(found.error_by_group, expected.error_by_group, rtol=1e-9)
