"""Limits, gradients, invariances and error sentences of the prejudice remover."""

import hypothesis.strategies as st
import numpy as np
import pandas as pd
import pytest
import sklearn
from hypothesis import given, settings
from numpy.testing import assert_allclose, assert_array_equal
from scipy.optimize import approx_fprime, minimize
from scipy.special import expit
from sklearn.exceptions import ConvergenceWarning, NotFittedError
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import cross_validate

from fairkernel.baselines import PrejudiceRemover, _prejudice_objective
from fairkernel.baselines._prejudice_objective import PrejudiceObjective
from fairkernel.exceptions import SensitiveColumnWarning
from fairkernel.rows import read_training_rows

VARIANTS = ["two_vectors", "marginal", "one_vector"]


def make_rows(n=300, p=4, n_groups=2, seed=0):
    rng = np.random.default_rng(seed)
    s = np.arange(n) % n_groups
    X = rng.normal(size=(n, p))
    X[:, 0] += s
    y = (X[:, :2].sum(axis=1) + rng.normal(size=n) > 0.5).astype(int)
    return X, y, s


def make_problem(eta, *, n_groups=3, shared=False, alpha=0.7, seed=0):
    X, y, s = make_rows(n_groups=n_groups, seed=seed)
    weight = np.random.default_rng(seed).uniform(0.5, 2.0, size=len(X))
    rows = read_training_rows(PrejudiceRemover(), X, y, s, weight)
    return PrejudiceObjective.of(rows, eta, alpha, shared=shared)


def probabilities(model, X, s):
    return model.predict_proba(X, sensitive_features=s)[:, 1]


def rate_gap(model, X, s):
    p = probabilities(model, X, s)
    rates = [p[s == g].mean() for g in np.unique(s)]
    return max(rates) - min(rates)


# Limits of η.


@pytest.mark.parametrize("n_groups", [2, 3])
@pytest.mark.parametrize("alpha", [0.1, 1.0, 30.0])
def test_without_a_price_each_group_has_the_logistic_regression_of_its_own(alpha, n_groups):
    X, y, s = make_rows(n_groups=n_groups)
    model = PrejudiceRemover(0.0, alpha=alpha).fit(X, y, sensitive_features=s)
    for g in range(n_groups):
        Z = np.column_stack([X, np.ones(len(X))])[s == g]
        alone = LogisticRegression(C=1 / alpha, fit_intercept=False, solver="newton-cholesky", tol=1e-12)
        w = alone.fit(Z, y[s == g]).coef_[0]
        assert_allclose(np.append(model.coef_[g], model.intercept_[g]), w, atol=1e-10)


def test_without_a_price_one_vector_is_the_logistic_regression_of_all_rows():
    X, y, s = make_rows()
    model = PrejudiceRemover(0.0, variant="one_vector", alpha=2.0).fit(X, y, sensitive_features=s)
    Z = np.column_stack([X, np.ones(len(X))])
    pooled = LogisticRegression(C=0.5, fit_intercept=False, solver="newton-cholesky", tol=1e-12).fit(Z, y)
    assert_allclose(np.append(model.coef_[0], model.intercept_), pooled.coef_[0], atol=1e-10)


@pytest.mark.parametrize("variant", ["two_vectors", "one_vector"])
@pytest.mark.parametrize("n_groups", [2, 3])
def test_the_objective_rises_and_the_prejudice_index_falls_with_eta(variant, n_groups):
    X, y, s = make_rows(n_groups=n_groups)
    fits = [
        PrejudiceRemover(eta, variant=variant).fit(X, y, sensitive_features=s)
        for eta in (0.0, 0.1, 0.5, 1.0, 5.0, 30.0, 300.0)
    ]
    objective = np.array([fit.objective_ for fit in fits])
    index = np.array([fit.prejudice_index_ for fit in fits])
    assert (np.diff(objective) > 0).all()
    assert (np.diff(index) < 0).all()
    # By the envelope theorem the slope of the objective lies between the indices at the two ends.
    slope = np.diff(objective) / np.diff([fit.eta for fit in fits])
    assert (slope <= index[:-1]).all()
    assert (slope >= index[1:]).all()


@pytest.mark.parametrize("variant", ["two_vectors", "one_vector"])
@pytest.mark.parametrize("n_groups", [2, 3])
def test_a_high_price_equalises_mean_probabilities(variant, n_groups):
    X, y, s = make_rows(n_groups=n_groups)
    free, dear = (PrejudiceRemover(eta, variant=variant).fit(X, y, sensitive_features=s) for eta in (0.0, 1e6))
    assert rate_gap(free, X, s) > 0.15
    assert rate_gap(dear, X, s) < 1e-5
    assert dear.prejudice_index_ < 1e-8
    assert np.ptp(probabilities(dear, X, s)) > 0.5  # not by giving everybody the same probability


def test_equal_mean_probabilities_are_not_equal_decisions():
    rng = np.random.default_rng(0)
    s = np.arange(1000) % 2
    X = rng.normal(size=(1000, 1))
    y = np.where(s == 0, X[:, 0] > 0.5, rng.random(1000) < 0.3)  # x tells nothing about group 1
    model = PrejudiceRemover(1e6).fit(X, y, sensitive_features=s)
    decisions = model.predict(X, sensitive_features=s)
    assert rate_gap(model, X, s) < 1e-5
    assert abs(decisions[s == 1].mean() - decisions[s == 0].mean()) > 0.2


# The prejudice index.


def mutual_information(p, s, weight):
    """Σ_{ŷ,s} P(ŷ, s) ln [P(ŷ, s) / (P(ŷ) P(s))] of a label drawn with probability p."""
    joint = np.array([[weight[s == g] @ q[s == g] for g in np.unique(s)] for q in (1 - p, p)]) / weight.sum()
    independent = joint.sum(axis=1, keepdims=True) * joint.sum(axis=0, keepdims=True)
    return float((joint * np.log(joint / independent)).sum())


@pytest.mark.parametrize("n_groups", [2, 3])
@pytest.mark.parametrize("variant", ["two_vectors", "one_vector"])
def test_the_prejudice_index_is_n_times_the_mutual_information(variant, n_groups):
    X, y, s = make_rows(n_groups=n_groups)
    weight = np.random.default_rng(1).uniform(0.5, 2.0, size=len(X))
    model = PrejudiceRemover(1.0, variant=variant).fit(X, y, sensitive_features=s, sample_weight=weight)
    information = mutual_information(probabilities(model, X, s), s, weight)
    assert model.prejudice_index_ > 1.0
    assert_allclose(model.prejudice_index_, weight.sum() * information, rtol=1e-10)


@given(st.integers(0, 10_000), st.integers(2, 5), st.booleans())
@settings(max_examples=60)
def test_the_prejudice_index_is_never_negative(seed, n_groups, shared):
    problem = make_problem(1.0, n_groups=n_groups, shared=shared, seed=seed % 50)
    w = np.random.default_rng(seed).normal(size=problem.n_parameters) * 10.0 ** (
        seed % 12 - 10
    )  # rates from equal but for rounding to 0 and 1
    assert problem.prejudice_index(w) >= 0.0
    assert 0.0 <= problem.prejudice_index(np.zeros_like(w)) < 1e-12


def test_rates_that_are_equal_but_for_rounding_do_not_make_the_prejudice_index_negative():
    for seed in (58, *range(20)):  # the raw sum of 58 is negative with a common BLAS
        problem = make_problem(1.0, n_groups=2, seed=seed)
        w = 1e-7 * np.random.default_rng(seed).normal(size=problem.n_parameters)
        assert 0.0 <= problem.prejudice_index(w) < 1e-9


@pytest.mark.parametrize("variant", ["two_vectors", "one_vector"])
def test_the_objective_is_the_one_that_is_written_down(variant):
    X, y, s = make_rows(n_groups=3)
    eta, alpha = 4.0, 0.3
    model = PrejudiceRemover(eta, alpha=alpha, variant=variant).fit(X, y, sensitive_features=s)
    p = probabilities(model, X, s)
    likelihood = (y * np.log(p) + (1 - y) * np.log(1 - p)).sum()
    squares = (model.coef_**2).sum() + (model.intercept_**2).sum()
    assert_allclose(model.objective_, -likelihood + eta * model.prejudice_index_ + alpha / 2 * squares, rtol=1e-12)


# Derivatives.


def central_differences(problem, w, step=1e-5):
    values = [[problem.value_and_gradient(w + h)[0] for h in sign * step * np.eye(len(w))] for sign in (1, -1)]
    return np.subtract(*values) / (2 * step)


@pytest.mark.parametrize("shared", [False, True])
@pytest.mark.parametrize("eta", [0.0, 5.0, 100.0])
def test_the_gradient_is_that_of_finite_differences(eta, shared):
    problem = make_problem(eta, shared=shared)
    w = np.random.default_rng(3).normal(size=problem.n_parameters)
    _, gradient = problem.value_and_gradient(w)
    assert_allclose(gradient, central_differences(problem, w), rtol=1e-6, atol=1e-6)


@pytest.mark.parametrize("shared", [False, True])
@pytest.mark.parametrize("eta", [0.0, 5.0, 100.0])
def test_the_hessian_is_that_of_finite_differences(eta, shared):
    problem = make_problem(eta, shared=shared)
    w = np.random.default_rng(3).normal(size=problem.n_parameters)
    numerical = approx_fprime(w, lambda v: problem.value_and_gradient(v)[1], 1e-7)
    assert_allclose(problem.hessian(w), numerical, rtol=1e-4, atol=1e-3)


def released_gradient(problem, w):
    """The gradient as the released code forms it: each row's derivative through q_s and r, summed over its group."""
    vectors = w.reshape(len(problem.Z), -1)
    p = [expit(Z @ v) for Z, v in zip(problem.Z, vectors, strict=True)]
    q = [p_s.mean() for p_s in p]
    r = np.concatenate(p).mean()
    dp = [(p_s * (1 - p_s))[:, None] * Z for p_s, Z in zip(p, problem.Z, strict=True)]
    dr = np.concatenate(dp).mean(axis=0)
    blocks = []
    for Z, y, p_s, q_s, dp_s, v in zip(problem.Z, problem.y, p, q, dp, vectors, strict=True):
        slope = np.log(q_s / r) - np.log((1 - q_s) / (1 - r))
        through_q = ((p_s - q_s) / (q_s * (1 - q_s))).sum() * dp_s.mean(axis=0)
        through_r = ((p_s - r) / (r * (1 - r))).sum() * dr
        index = slope * dp_s.sum(axis=0) + through_q - through_r
        blocks.append(-(y - p_s) @ Z + problem.eta * index + problem.alpha * v)
    return np.concatenate(blocks)


def unweighted_problem(eta, n_groups):
    X, y, s = make_rows(n_groups=n_groups)
    return PrejudiceObjective.of(read_training_rows(PrejudiceRemover(), X, y, s), eta, 1.0, shared=False)


@pytest.mark.parametrize("n_groups", [2, 3])
def test_the_released_gradient_has_an_extra_term_and_only_that(n_groups):
    eta = 5.0
    problem = unweighted_problem(eta, n_groups)
    w = np.random.default_rng(0).normal(size=problem.n_parameters)
    _, gradient = problem.value_and_gradient(w)
    released = released_gradient(problem, w)
    q, r = problem.rates(problem.scores(w))
    dr = np.concatenate(
        [(expit(m) * expit(-m))[:, None] * Z for m, Z in zip(problem.scores(w), problem.Z, strict=True)]
    ).mean(axis=0)
    extra = [-eta * n_s * (q_s - r) / (r * (1 - r)) * dr for n_s, q_s in zip(problem.group_weight, q, strict=True)]
    assert_allclose(released - gradient, np.concatenate(extra), rtol=1e-9, atol=1e-9)
    slope = central_differences(problem, w)
    assert_allclose(gradient, slope, rtol=1e-6, atol=1e-6)
    assert np.linalg.norm(released - slope) > 0.05 * np.linalg.norm(slope)
    # The groups' terms cancel, so that only the model with a single vector would be spared.
    assert_allclose(np.sum(extra, axis=0), 0.0, atol=1e-9)


def test_without_a_price_the_released_gradient_is_right():
    problem = unweighted_problem(0.0, 2)
    w = np.random.default_rng(0).normal(size=problem.n_parameters)
    assert_allclose(released_gradient(problem, w), problem.value_and_gradient(w)[1], rtol=1e-10)


def test_the_released_gradient_does_not_vanish_at_the_minimum():
    X, y, s = make_rows()
    model = PrejudiceRemover(5.0).fit(X, y, sensitive_features=s)
    w = np.column_stack([model.coef_, model.intercept_]).ravel()
    problem = unweighted_problem(5.0, 2)
    assert np.abs(problem.value_and_gradient(w)[1]).max() < 1e-9
    assert np.abs(released_gradient(problem, w)).max() > 1.0


def make_rugged_rows(seed):
    """Nearly separable rows and a negligible penalty: the objective has several minima."""
    rng = np.random.default_rng(seed)
    s = rng.integers(0, 2, 60 + 20 * (seed % 10))
    X = rng.normal(size=(len(s), 4))
    X[:, :3] += (0.3, 1.0, 3.0)[seed % 3] * s[:, None]
    y = X.sum(axis=1) + rng.normal(size=len(s)) * rng.choice([0.1, 1.0, 3.0]) > 1.0
    return X, y.astype(int), s


# In the first two only the start from w = 0, in the next only that from η = 0 leads to the lowest minimum found.
@pytest.mark.parametrize(("seed", "eta"), [(7, 30.0), (69, 300.0), (9, 300.0), (51, 300.0), (7, 3.0)])
def test_no_random_start_finds_a_lower_objective(seed, eta):
    X, y, s = make_rugged_rows(seed)
    rows = read_training_rows(PrejudiceRemover(), X, y, s)
    problem = PrejudiceObjective.of(rows, eta, 0.01, shared=True)
    model = PrejudiceRemover(eta, alpha=0.01, variant="one_vector").fit(X, y, sensitive_features=s)
    starts = 3 * np.random.default_rng(0).normal(size=(20, problem.n_parameters))
    rivals = [minimize(problem.value_and_gradient, w, jac=True, method="L-BFGS-B").fun for w in starts]
    assert model.objective_ < min(rivals) + 1e-6


# Variants.


def test_marginal_is_the_two_vectors_fit_averaged_over_the_groups():
    X, y, s = make_rows(n_groups=3)
    weight = np.random.default_rng(0).uniform(0.5, 2.0, size=len(X))
    two, marginal = (
        PrejudiceRemover(3.0, variant=v).fit(X, y, sensitive_features=s, sample_weight=weight)
        for v in ("two_vectors", "marginal")
    )
    assert_array_equal(two.coef_, marginal.coef_)
    by_group = np.column_stack([probabilities(two, X, np.full(len(X), g)) for g in range(3)])
    shares = np.bincount(s, weight) / weight.sum()
    assert_allclose(marginal.predict_proba(X)[:, 1], by_group @ shares, rtol=1e-12)


def test_the_objective_does_not_constrain_marginal_probabilities():
    X, y, s = make_rows()
    free, dear = (PrejudiceRemover(eta, variant="marginal").fit(X, y, sensitive_features=s) for eta in (0.0, 1e6))
    assert rate_gap(dear, X, s) > 0.9 * rate_gap(free, X, s) > 0.1
    assert dear.prejudice_index_ < 1e-8


def test_two_vectors_predicts_with_the_vector_of_the_rows_group():
    X, y, _ = make_rows()
    s = np.array(["b", "a"])[np.arange(len(X)) % 2]
    model = PrejudiceRemover(1.0).fit(X, y, sensitive_features=s)
    assert model.groups_ == ("a", "b")
    only_b = model.decision_function(X[:5], sensitive_features=["b"] * 5)
    assert_allclose(only_b, X[:5] @ model.coef_[1] + model.intercept_[1])


@pytest.mark.parametrize("variant", VARIANTS)
def test_the_second_class_is_predicted_from_one_half(variant):
    X, y, s = make_rows()
    labels = np.array(["no", "yes"])[y]
    model = PrejudiceRemover(1.0, variant=variant).fit(X, labels, sensitive_features=s)
    p = probabilities(model, X, s)
    predicted = model.predict(X, sensitive_features=s)
    assert_array_equal(predicted, np.where(p >= 0.5, "yes", "no"))
    assert model.score(X, labels, sensitive_features=s) == np.mean(predicted == labels)


def test_a_probability_of_one_half_is_the_second_class():
    X, y, s = make_rows()
    model = PrejudiceRemover().fit(X, y, sensitive_features=s)
    model.coef_, model.intercept_ = np.zeros((2, 4)), np.zeros(2)
    assert model.predict(X[:2], sensitive_features=s[:2]).tolist() == [1, 1]


@pytest.mark.parametrize(("variant", "n_vectors"), [("two_vectors", 3), ("marginal", 3), ("one_vector", 1)])
def test_fitted_attributes_have_the_documented_shapes(variant, n_vectors):
    X, y, s = make_rows(n_groups=3)
    model = PrejudiceRemover(variant=variant).fit(X, y, sensitive_features=s)
    assert model.coef_.shape == (n_vectors, 4)
    assert model.intercept_.shape == (n_vectors,)
    assert model.groups_ == (0, 1, 2)
    assert model.classes_.tolist() == [0, 1]
    assert model.group_shares_.sum() == pytest.approx(1.0)
    assert model.n_iter_ >= 1


# Invariances.


@pytest.mark.parametrize("variant", VARIANTS)
@given(seed=st.integers(0, 30))
@settings(max_examples=5)
def test_the_order_of_rows_does_not_matter(variant, seed):
    X, y, s = make_rows(n=120, seed=seed)
    order = np.random.default_rng(seed).permutation(len(X))
    one = PrejudiceRemover(5.0, variant=variant).fit(X, y, sensitive_features=s)
    other = PrejudiceRemover(5.0, variant=variant).fit(X[order], y[order], sensitive_features=s[order])
    assert_allclose(other.coef_, one.coef_, atol=1e-7)


def test_renaming_groups_reorders_the_vectors():
    X, y, s = make_rows(n_groups=3)
    one = PrejudiceRemover(5.0).fit(X, y, sensitive_features=s)
    renamed = np.array(["z", "x", "y"])[s]
    other = PrejudiceRemover(5.0).fit(X, y, sensitive_features=renamed)
    assert other.groups_ == ("x", "y", "z")
    assert_allclose(other.coef_, one.coef_[[1, 2, 0]], atol=1e-8)
    assert_allclose(other.objective_, one.objective_, rtol=1e-12)


@pytest.mark.parametrize("variant", VARIANTS)
def test_swapping_the_classes_negates_the_vectors(variant):
    X, y, s = make_rows()
    one = PrejudiceRemover(5.0, variant=variant).fit(X, y, sensitive_features=s)
    other = PrejudiceRemover(5.0, variant=variant).fit(X, 1 - y, sensitive_features=s)
    assert_allclose(other.coef_, -one.coef_, atol=1e-8)
    assert_allclose(other.intercept_, -one.intercept_, atol=1e-8)


@pytest.mark.parametrize("variant", VARIANTS)
def test_weights_are_repeated_rows(variant):
    X, y, s = make_rows(n=120)
    times = np.random.default_rng(0).integers(0, 4, size=len(X))
    weighted = PrejudiceRemover(5.0, variant=variant).fit(X, y, sensitive_features=s, sample_weight=times)
    X, y, s = (np.repeat(a, times, axis=0) for a in (X, y, s))
    repeated = PrejudiceRemover(5.0, variant=variant).fit(X, y, sensitive_features=s)
    assert_allclose(weighted.coef_, repeated.coef_, atol=1e-8)
    assert_allclose(weighted.group_shares_, repeated.group_shares_)
    assert_allclose(weighted.prejudice_index_, repeated.prejudice_index_, rtol=1e-8)


def test_several_columns_compare_their_intersections():
    X, y, s = make_rows(n_groups=4)
    columns = pd.DataFrame({"sex": np.array(["f", "m"])[s // 2], "old": s % 2})
    split = PrejudiceRemover(5.0).fit(X, y, sensitive_features=columns)
    flat = PrejudiceRemover(5.0).fit(X, y, sensitive_features=s)
    assert split.groups_ == (("f", 0), ("f", 1), ("m", 0), ("m", 1))
    assert_allclose(split.coef_, flat.coef_)
    assert_array_equal(
        split.predict(X[:7], sensitive_features=columns[:7]), flat.predict(X[:7], sensitive_features=s[:7])
    )


def test_a_group_with_one_class_only_is_fitted():
    X, y, s = make_rows()
    y[s == 0] = 0
    model = PrejudiceRemover(1.0).fit(X, y, sensitive_features=s)
    assert np.isfinite(model.coef_).all()
    assert probabilities(model, X, s)[s == 0].max() < 0.5


def test_separable_rows_with_a_small_penalty_stay_finite():
    X, _, s = make_rows()
    model = PrejudiceRemover(1e4, alpha=1e-8).fit(X, X[:, 1] > 0, sensitive_features=s)
    assert np.isfinite(model.coef_).all()
    assert np.isfinite(model.objective_)


def test_a_problem_too_large_for_newton_steps_is_solved_by_the_gradient_alone(monkeypatch):
    X, y, s = make_rows()
    polished = PrejudiceRemover(5.0).fit(X, y, sensitive_features=s)
    monkeypatch.setattr(_prejudice_objective, "HESSIAN_SIDE", 1)
    plain = PrejudiceRemover(5.0).fit(X, y, sensitive_features=s)
    assert not np.array_equal(plain.coef_, polished.coef_)
    assert_allclose(plain.coef_, polished.coef_, atol=1e-4)


def test_single_precision_rows_are_computed_with_in_double():
    X, y, s = make_rows()
    single = X.astype(np.float32)
    one = PrejudiceRemover(5.0).fit(single, y, sensitive_features=s)
    assert_array_equal(one.coef_, PrejudiceRemover(5.0).fit(single.astype(float), y, sensitive_features=s).coef_)


def test_refitting_forgets():
    X, y, s = make_rows(n_groups=3)
    model = PrejudiceRemover(2.0)
    model.fit(X[:, :2], y, sensitive_features=s)
    again = model.fit(X, y, sensitive_features=s % 2)
    fresh = PrejudiceRemover(2.0).fit(X, y, sensitive_features=s % 2)
    assert_array_equal(again.coef_, fresh.coef_)
    assert again.groups_ == (0, 1)


def test_groups_reach_every_step_of_cross_validation_by_routing():
    X, y, s = make_rows()
    with sklearn.config_context(enable_metadata_routing=True):
        found = cross_validate(PrejudiceRemover(1.0), X, y, params={"sensitive_features": s}, cv=3, error_score="raise")
    assert (found["test_score"] > 0.6).all()


# What it refuses.


def fit(X=None, y=None, s=None, w=None, **parameters):
    X0, y0, s0 = make_rows(n=60)
    X, y, s = X0 if X is None else X, y0 if y is None else y, s0 if s is None else s
    return PrejudiceRemover(**parameters).fit(X, y, sensitive_features=s, sample_weight=w)


def test_missing_groups_at_fit_are_asked_for():
    X, y, _ = make_rows()
    with pytest.raises(TypeError, match=r"PrejudiceRemover\.fit\(\) needs sensitive_features: one value per row"):
        PrejudiceRemover().fit(X, y)


@pytest.mark.parametrize("method", ["predict", "predict_proba", "decision_function"])
def test_missing_groups_at_prediction_are_asked_for(method):
    with pytest.raises(TypeError, match=r"pass sensitive_features, for instance predict\(X, sensitive_features=s\)"):
        getattr(fit(), method)(np.zeros((3, 4)))


@pytest.mark.parametrize("variant", ["marginal", "one_vector"])
def test_the_blind_variants_do_not_read_groups_at_prediction(variant):
    model = fit(variant=variant)
    X = np.zeros((3, 4))
    assert_array_equal(model.predict(X), model.predict(X, sensitive_features=["never", "seen", "before"]))


@pytest.mark.parametrize("unseen", [["0", "1", "1"], [0, 2, 1]])
def test_unseen_groups_at_prediction_are_listed(unseen):
    expected = "'0', '1'" if "0" in unseen else "2"
    with pytest.raises(ValueError, match=f"groups that fit did not see: {expected}; it saw 0, 1. Labels match"):
        fit().predict(np.zeros((3, 4)), sensitive_features=unseen)


def test_one_group_of_those_seen_is_enough_at_prediction():
    assert fit().predict(np.zeros((3, 4)), sensitive_features=[1, 1, 1]).shape == (3,)


def test_too_few_groups_at_prediction_are_an_error():
    with pytest.raises(ValueError, match="sensitive_features has 2 rows but X has 3"):
        fit().predict(np.zeros((3, 4)), sensitive_features=[0, 1])


def test_missing_values_are_an_error_or_a_group():
    s = [None if i < 5 else "ab"[i % 2] for i in range(60)]
    with pytest.raises(ValueError, match=r"sensitive_features has missing values: .*5 missing \(first rows 0, 1"):
        fit(s=s)
    model = fit(s=s, missing_sensitive="group")
    assert model.groups_ == ("a", "b", "missing")
    assert model.predict(np.zeros((2, 4)), sensitive_features=[None, "a"]).shape == (2,)


NAN = np.where(np.arange(240).reshape(60, 4) == 9, np.nan, 1.0)
SENTENCES = {  # what is wrong → (arguments, the sentence)
    "one group": ({"s": np.zeros(60)}, "sensitive_features has one group only"),
    "one row in a group": ({"s": np.arange(60) == 3}, "group True has 1 row; at least 2 are needed"),
    "continuous groups": (
        {"s": np.linspace(0, 1, 60)},
        "numeric with many distinct values, and PrejudiceRemover compares",
    ),
    "lengths of X and groups": ({"s": np.arange(59) % 2}, "sensitive_features has 59 rows but X has 60"),
    "lengths of X and y": ({"y": np.arange(59) % 2}, "inconsistent numbers of samples"),
    "one class": ({"y": np.ones(60)}, r"y has one class only \(.*1.0.*\): a classifier needs at least two"),
    "three classes": ({"y": np.arange(60) % 3}, "Only binary classification is supported.*y has 3 classes"),
    "NaN in X": ({"X": NAN}, "Input X contains NaN: column 1, row 2"),
    "NaN in y": ({"y": np.where(np.arange(60) == 2, np.nan, 1.0)}, "Input y contains NaN"),
    "text in X": ({"X": np.full((60, 4), "a")}, "column 0 holds 'a' in row 0; encode text first"),
    "overflow": ({"X": make_rows(n=60)[0] * 1e200}, "X holds values up to .*e.200, whose squares overflow: scale"),
    "negative weights": ({"w": -np.ones(60)}, "Negative values in data"),
    "no weights": ({"w": np.zeros(60)}, "at least one non-zero"),
    "a group without weight": ({"w": np.arange(60) % 2}, "every row of group 0 has zero weight"),
    "a class without weight": ({"w": make_rows(n=60)[1]}, "y has one class only"),
    "eta": ({"eta": -1.0}, "'eta' parameter of PrejudiceRemover must be a float in the range"),
    "alpha": ({"alpha": 0.0}, "'alpha' parameter of PrejudiceRemover must be a float in the range"),
    "variant": ({"variant": "three_vectors"}, "'variant' parameter of PrejudiceRemover must be a str among"),
}


@pytest.mark.parametrize("case", SENTENCES)
def test_the_error_says_what_is_wrong(case):
    arguments, sentence = SENTENCES[case]
    with pytest.raises(ValueError, match=sentence):
        fit(**arguments)


@pytest.mark.parametrize("which", ["y", "sensitive_features"])
def test_a_misaligned_index_is_an_error(which):
    X, y, s = make_rows(n=60)
    backwards = np.arange(60)[::-1]
    given_ = {"y": pd.Series(y), "sensitive_features": pd.Series(s)}
    given_[which] = given_[which].reindex(backwards)
    with pytest.raises(ValueError, match=f"the index of {which} differs from the index of X"):
        PrejudiceRemover().fit(pd.DataFrame(X), **given_)


def test_a_column_that_restates_the_group_is_named():
    X, y, s = make_rows(n=60)
    X[:, 2] = 3.0 * s
    with pytest.warns(SensitiveColumnWarning, match="X column 2 restates the sensitive attribute") as caught:
        PrejudiceRemover().fit(X, y, sensitive_features=s)
    assert caught[0].filename == __file__


def test_constant_columns_are_accepted():
    X, y, s = make_rows(n=60)
    X[:, 2] = 7.0
    assert np.isfinite(PrejudiceRemover().fit(X, y, sensitive_features=s).coef_).all()


def test_stopping_early_is_said_with_the_reason():
    X, y, s = make_rows()
    with pytest.warns(ConvergenceWarning, match=r"did not converge at eta=50.0: .*ITERATIONS REACHED LIMIT") as caught:
        PrejudiceRemover(50.0, max_iter=1, tol=1e-300).fit(X, y, sensitive_features=s)
    assert caught[0].filename == __file__


def test_an_unfitted_model_says_so():
    with pytest.raises(NotFittedError):
        PrejudiceRemover().predict(np.zeros((2, 4)), sensitive_features=[0, 1])
