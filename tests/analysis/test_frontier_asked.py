"""What frontier is asked: one value or several, the same folds throughout, and refusals before anything is traced."""

import warnings

import numpy as np
import pytest
from sklearn.model_selection import KFold, ShuffleSplit

from fairkernel import FairKernelClassifier, FairKernelRegressor, frontier
from fairkernel.baselines import PenalisedKernelRegressor
from fairkernel.datasets import make_two_groups

DATA = make_two_groups(200, random_state=0)
X, Y, S = DATA.data, DATA.target, DATA.sensitive_features
Z = X[:, 0] + np.random.default_rng(0).normal(size=len(X))
PLAIN = {"alphas": [1.0], "max_decision_gap": [None], "disparity_kept": [0.0, 1.0]}
KNOWN = {"sensitive_features": S}


def classifier(**options):
    return FairKernelClassifier(**{"n_features": 30, "random_state": 0, **options})


def regressor(**options):
    return FairKernelRegressor(**{"n_features": 30, "random_state": 0, **options})


# Grids --------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "value"),
    [("alphas", 0.1), ("disparity_kept", np.float32(0.5)), ("max_decision_gap", 0.25), ("thresholds", 0.5)],
)
def test_one_value_is_a_grid_of_one(name, value):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        one = frontier(classifier(), X, Y, **KNOWN, **PLAIN | {name: value})
        several = frontier(classifier(), X, Y, **KNOWN, **PLAIN | {name: [float(value)]})
    for column, values in several.table.items():
        np.testing.assert_array_equal(one.table[column], values)


@pytest.mark.parametrize("values", [{0.0, 0.5}, (i / 2 for i in range(2)), {"a": 0.0, "b": 0.5}.values()])
def test_any_iterable_is_a_grid(values):
    found = frontier(classifier(), X, Y, **KNOWN, **PLAIN | {"disparity_kept": values})
    assert sorted(set(found.table["disparity_kept"][:-1])) == [0.0, 0.5]


@pytest.mark.parametrize("wrong", ["0.1", [None], [np.nan], [np.inf], [[0.1, 0.2]], {"a": 1}])
def test_what_is_no_grid_is_refused_by_name(wrong):
    with pytest.raises(ValueError, match="alphas must be a sequence of numbers from 0 to inf, or one; got"):
        frontier(classifier(), X, Y, alphas=wrong, **KNOWN)


# Folds --------------------------------------------------------------------------------------------------------------


def same_folds(cv):
    kernels = ["rbf", "rbf", "rbf"]
    table = frontier(classifier(), X, Y, cv=cv, kernels=kernels, **KNOWN, **PLAIN).table
    return [table["error"][table["kernel"] == number].tolist() for number in range(3)]


@pytest.mark.parametrize("cv", [KFold(4, shuffle=True), (pair for pair in KFold(4).split(X))], ids=["shuffled", "once"])
def test_every_kernel_is_held_to_the_same_folds(cv):
    first, second, third = same_folds(cv)
    assert first == second == third


def test_splits_that_overlap_are_still_refused():
    with pytest.raises(ValueError, match="holds some rows out more than once"):
        frontier(classifier(), X, Y, cv=ShuffleSplit(3, test_size=0.5, random_state=0), **KNOWN, **PLAIN)


# Conflicts, refused before anything is traced -----------------------------------------------------------------------


@pytest.mark.parametrize(("model", "target"), [(classifier(aware=True), Y), (regressor(aware=True), Z)])
def test_known_groups_do_not_go_with_a_continuous_attribute(model, target):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        with pytest.raises(ValueError, match=r"aware=True .* [Bb]in"):
            frontier(model, X, target, sensitive_features=X[:, 1] + 1.0)


@pytest.mark.parametrize(
    ("model", "sentence"),
    [
        (regressor(distribution_parity=0.5), "set aware=True and pass them to predict"),
        (regressor(aware=True, criterion="odds"), "aware=True levels the distributions over all rows"),
        (regressor(hsic_rounds=1, objective="printed"), "goes beyond equal means"),
    ],
)
def test_what_fit_would_refuse_is_refused_here(model, sentence):
    with pytest.raises(ValueError, match=sentence):
        frontier(model, X, Z, **KNOWN)


def test_a_regressor_without_levels_has_no_frontier():
    with pytest.raises(TypeError, match="got PenalisedKernelRegressor; other estimators go into others"):
        frontier(PenalisedKernelRegressor(), X, Z, **KNOWN)


def test_the_printed_features_have_one_level_and_can_be_refitted():
    many = frontier(classifier(objective="printed"), X, Y, alphas=1.0, max_decision_gap=[None, 1.0], **KNOWN)
    assert many.table["disparity_kept"][:-1].tolist() == [0.0, 0.0]
    assert many.refit(0).objective == many.refit(1).objective == "printed"
    with pytest.raises(ValueError, match=r"disparity_kept=0\.5 has no meaning with objective='printed'"):
        frontier(classifier(objective="printed"), X, Y, disparity_kept=[0.0, 0.5], **KNOWN)


@pytest.mark.parametrize("wrong", ["rbf", [], 3.0])
def test_kernels_are_a_sequence(wrong):
    with pytest.raises(ValueError, match="kernels must be a sequence of kernels, at least one"):
        frontier(classifier(), X, Y, kernels=wrong, **KNOWN)


# What is handed back ------------------------------------------------------------------------------------------------


def scaled_dot(A, B, scale=1.0):
    return scale * A @ B.T


def test_a_callable_kernel_with_parameters_can_be_refitted():
    model = classifier(kernel=scaled_dot, kernel_params={"scale": 0.3})
    many = frontier(model, X, Y, **KNOWN, **PLAIN)
    by_hand = classifier(kernel=scaled_dot, kernel_params={"scale": 0.3}, disparity_kept=1.0)
    by_hand.fit(X, Y, sensitive_features=S)
    np.testing.assert_allclose(many.refit(1).decision_function(X), by_hand.decision_function(X), atol=1e-9)
    assert many.best(1.0).kernel_params is None


def test_a_named_kernel_with_parameters_is_refitted_with_them():
    model = classifier(kernel="poly", gamma=0.2, degree=2, coef0=0.5)
    by_hand = classifier(kernel="poly", gamma=0.2, degree=2, coef0=0.5, disparity_kept=1.0)
    by_hand.fit(X, Y, sensitive_features=S)
    found = frontier(model, X, Y, **KNOWN, **PLAIN).refit(1)
    np.testing.assert_allclose(found.decision_function(X), by_hand.decision_function(X), atol=1e-9)


def test_a_bound_is_any_real_number():
    many = frontier(classifier(), X, Y, **KNOWN, **PLAIN)
    assert many.best(np.float32(1.0)).alpha == many.best(1).alpha == 1.0
    for wrong in ("0.1", None, np.nan):
        with pytest.raises(ValueError, match="max_disparity must be a number >= 0; got"):
            many.best(wrong)


@pytest.mark.parametrize("wrong", ["x", 0.0, -1, 3, None])
def test_a_row_is_a_number_of_the_table(wrong):
    many = frontier(classifier(), X, Y, **KNOWN, **PLAIN)
    with pytest.raises(ValueError, match=r"row must be the number of a row of the table, from 0 to 2; got"):
        many.refit(wrong)


@pytest.mark.parametrize(
    ("model", "target", "grid", "advice"),
    [
        (classifier(), Y, PLAIN, "smaller values to max_decision_gap or disparity_kept"),
        (regressor(), Z, {}, "smaller values to disparity_kept"),
        (regressor(aware=True), Z, {}, "larger values to distribution_parity"),
    ],
)
def test_a_bound_out_of_reach_names_what_this_estimator_has(model, target, grid, advice):
    with pytest.raises(ValueError, match=f"Raise max_disparity, or add {advice}."):
        frontier(model, X, target, **KNOWN, **grid).best(1e-9)
