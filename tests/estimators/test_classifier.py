"""FairKernelClassifier: the contract of the classifier."""

import pickle
from pathlib import Path

import numpy as np
import pandas as pd
import polars as pl
import pytest
from sklearn.base import clone, is_classifier
from sklearn.linear_model import RidgeClassifier

from fairkernel import FairKernelClassifier, FairKernelRegressor
from fairkernel.exceptions import ContinuousSensitiveWarning, SensitiveColumnWarning, SmallGroupWarning

RNG = np.random.default_rng(0)
N = 150
S = np.where(RNG.random(N) < 0.4, "b", "a")
X = RNG.normal(size=(N, 3)) + 0.8 * (S == "b")[:, None]
Y = (X[:, 0] + 0.5 * (S == "b") + 0.5 * RNG.normal(size=N) > 0.5).astype(int)
THREE = np.array(["low", "mid", "top"])[np.digitize(X[:, 0], [-0.3, 0.8])]
NEW = 2.0 * RNG.normal(size=(200, 3))


def fit(X=X, y=Y, s=S, *, weight=None, **parameters):
    model = FairKernelClassifier(**{"random_state": 0, **parameters})
    return model.fit(X, y, sensitive_features=s, sample_weight=weight)


def gap(scores, s=S):
    means = np.array([scores[s == g].mean(axis=0) for g in np.unique(s)])
    return means.max(axis=0) - means.min(axis=0)


# Labels

TWO_LABELS = {
    "0 and 1": [0, 1],
    "-1 and 1": [-1, 1],
    "floats": [2.0, 5.0],
    "text": ["no", "yes"],
    "text, other order": ["approve", "Deny"],
    "booleans": [False, True],
    "objects": np.array(["no", "yes"], dtype=object),
    "unsigned": np.array([3, 200], dtype=np.uint8),
}


@pytest.mark.parametrize("labels", TWO_LABELS.values(), ids=TWO_LABELS)
def test_any_two_labels_give_the_same_classifier(labels):
    labels = np.sort(np.asarray(labels))
    model = fit(y=labels[Y])
    assert model.classes_.dtype == labels.dtype
    np.testing.assert_array_equal(model.classes_, labels)
    np.testing.assert_array_equal(model.predict(NEW), labels[fit().predict(NEW)])
    np.testing.assert_array_equal(model.decision_function(NEW), fit().decision_function(NEW))


@pytest.mark.parametrize(
    "container",
    [
        list,
        tuple,
        pd.Series,
        pl.Series,
        lambda y: pd.Series(y, dtype="category"),
        lambda y: pd.DataFrame({"y": y})["y"],
    ],
)
def test_labels_come_in_any_container(container):
    y = np.array(["no", "yes"])[Y]
    np.testing.assert_array_equal(fit(y=container(y)).predict(NEW), fit(y=y).predict(NEW))


def test_swapping_the_labels_mirrors_the_scores():
    np.testing.assert_allclose(fit(y=1 - Y).decision_function(NEW), -fit().decision_function(NEW), atol=1e-9)


# Scores, decisions, probabilities


def test_two_classes_are_the_regression_on_zeros_and_ones_cut_at_one_half():
    scores = FairKernelRegressor(random_state=0).fit(X, Y, sensitive_features=S).predict(NEW)
    np.testing.assert_allclose(fit().decision_function(NEW), scores - 0.5, atol=1e-12)
    np.testing.assert_array_equal(fit().predict(NEW), (scores >= 0.5).astype(int))


def test_all_disparity_kept_and_a_linear_kernel_is_ridge_classification():
    ours = fit(kernel="linear", disparity_kept=1.0, alpha=2.0)
    # RidgeClassifier regresses on -1 and 1.
    theirs = RidgeClassifier(alpha=2.0).fit(X, Y)
    np.testing.assert_allclose(2 * ours.decision_function(NEW), theirs.decision_function(NEW), atol=1e-9)
    np.testing.assert_array_equal(ours.predict(NEW), theirs.predict(NEW))


@pytest.mark.parametrize("y", [Y, THREE], ids=["two classes", "three classes"])
@pytest.mark.parametrize("parameters", [{}, {"n_components": 5}, {"kernel": "linear", "alpha": 0.0}], ids=str)
def test_probabilities_are_probabilities_and_agree_with_the_prediction(y, parameters):
    model = fit(y=y, **parameters)
    probability = model.predict_proba(NEW)
    assert probability.shape == (200, len(model.classes_))
    assert probability.min() >= 0.0
    assert probability.max() <= 1.0
    np.testing.assert_allclose(probability.sum(axis=1), 1.0, rtol=1e-12)
    chosen = probability[np.arange(200), np.searchsorted(model.classes_, model.predict(NEW))]
    np.testing.assert_array_equal(chosen, probability.max(axis=1))


def test_a_score_of_one_half_is_a_yes():
    # Rows on both sides of zero, once with each label: every score is exactly the mean.
    rows, y, s = np.zeros((8, 2)) + 1.0, np.array([0, 1] * 4), np.repeat(["a", "b"], 4)
    model = fit(rows, y, s)
    np.testing.assert_array_equal(model.decision_function(rows), 0.0)
    np.testing.assert_array_equal(model.predict(rows), 1)


def test_three_classes_are_one_regression_each_and_the_largest_wins():
    model = fit(y=THREE)
    assert model.classes_.tolist() == ["low", "mid", "top"]
    scores = model.decision_function(NEW)
    assert scores.shape == (200, 3)
    for j, label in enumerate(model.classes_):
        alone = FairKernelRegressor(random_state=0).fit(X, (label == THREE).astype(float), sensitive_features=S)
        np.testing.assert_allclose(scores[:, j], alone.predict(NEW), atol=1e-9)
    np.testing.assert_array_equal(model.predict(NEW), model.classes_[scores.argmax(axis=1)])
    np.testing.assert_allclose(scores.sum(axis=1), 1.0, atol=1e-9)


def test_every_class_score_has_equal_group_means():
    model = fit(y=THREE)
    assert gap(model.decision_function(X)).max() < 1e-9
    assert model.mean_gap_.shape == (3,)
    np.testing.assert_allclose(model.mean_gap_, 0.0, atol=1e-9)


@pytest.mark.parametrize("y", [Y, THREE], ids=["two classes", "three classes"])
def test_the_kept_share_of_the_gap_is_exact(y):
    full, half = fit(y=y, disparity_kept=1.0), fit(y=y, disparity_kept=0.5)
    np.testing.assert_allclose(half.mean_gap_, 0.5 * full.mean_gap_, rtol=1e-8)
    np.testing.assert_allclose(gap(half.decision_function(X)), half.mean_gap_, atol=1e-9)
    assert np.max(full.mean_gap_) > 0.05


def test_several_groups_have_all_pairs_at_zero():
    s = np.arange(N) % 4
    rows = X + s[:, None]
    assert gap(fit(rows, s=s).decision_function(rows), s) < 1e-9


def test_a_continuous_attribute_has_no_covariance_with_the_score():
    age = 40 + 10 * X[:, 1] + RNG.normal(size=N)
    with pytest.warns(ContinuousSensitiveWarning):
        scores = fit(s=age).decision_function(X)
    assert np.mean((age - age.mean()) * scores) / age.std() == pytest.approx(0.0, abs=1e-10)


def test_it_learns_something_worth_having():
    assert np.mean(fit(disparity_kept=1.0).predict(X) == Y) > 0.8
    assert np.mean(fit().predict(X) == Y) > np.mean(Y == 0) - 0.02


def test_score_is_accuracy():
    model = fit()
    assert model.score(X, Y) == np.mean(model.predict(X) == Y)
    assert is_classifier(model)


# Weights and groups


def test_weights_are_duplicated_rows():
    weight = RNG.integers(1, 4, N)
    weighted = fit(weight=weight.astype(float))
    repeated = fit(np.repeat(X, weight, axis=0), np.repeat(Y, weight), np.repeat(S, weight))
    np.testing.assert_allclose(weighted.decision_function(NEW), repeated.decision_function(NEW), atol=1e-6)


def test_a_class_whose_rows_have_no_weight_is_no_class():
    weight = (THREE != "mid").astype(float)
    assert fit(y=THREE, weight=weight).classes_.tolist() == ["low", "top"]


def test_a_group_of_two_rows_is_said_even_without_a_number_of_components():
    # trust.md, row 4: with all components used, two rows are fewer than the components.
    s = np.where(np.arange(N) < 2, "few", "many")
    with pytest.warns(SmallGroupWarning, match="group 'few' has 2 rows"):
        fit(s=s)


@pytest.mark.parametrize("kind", ["float", "numpy integer"])
def test_a_small_group_is_said_however_the_number_of_components_is_written(kind):
    s = np.where(np.arange(N) < 4, "few", "many")
    k = 15 / N if kind == "float" else np.int64(15)
    with pytest.warns(SmallGroupWarning, match="group 'few' has 4 rows, fewer than the 15 components"):
        fit(s=s, n_components=k)


def test_warnings_point_at_the_line_that_called_fit():
    s = np.where(np.arange(N) < 4, "few", "many")
    with pytest.warns(SmallGroupWarning) as small:
        FairKernelClassifier(10).fit(X, Y, sensitive_features=s)
    with pytest.warns(SensitiveColumnWarning) as restated:
        FairKernelClassifier().fit(np.column_stack([X, S == "b"]), Y, sensitive_features=S)
    for caught in (small, restated):
        assert Path(caught[0].filename).name == Path(__file__).name


# scikit-learn's habits


def test_attributes_are_those_of_the_contract():
    model = fit(n_components=6)
    assert model.coef_.shape == (len(model.landmark_indices_), 1)
    assert model.intercept_.shape == model.mean_gap_.shape == (1,)
    assert model.eigenvalues_.shape == (6,)
    assert model.n_components_ == 6 <= model.rank_
    assert model.groups_ == ("a", "b")
    by_hand = model.kernel_(NEW, X[model.landmark_indices_]) @ model.coef_ + model.intercept_
    np.testing.assert_allclose(model.decision_function(NEW), by_hand[:, 0] - 0.5, atol=1e-10)


def test_refitting_forgets_the_previous_fit():
    model = fit(y=THREE, n_components=4)
    again = model.set_params(n_components=None).fit(X, Y, sensitive_features=S)
    assert set(vars(again)) == set(vars(fit()))
    np.testing.assert_array_equal(again.decision_function(NEW), fit().decision_function(NEW))


def test_cloning_and_pickling():
    model = fit(y=THREE)
    assert clone(model).get_params() == model.get_params()
    again = pickle.loads(pickle.dumps(model))
    np.testing.assert_array_equal(again.predict_proba(NEW), model.predict_proba(NEW))
    np.testing.assert_array_equal(again.predict(NEW), model.predict(NEW))


def test_the_same_seed_gives_the_same_bits():
    one, two = fit(n_features=40, random_state=5), fit(n_features=40, random_state=5)
    np.testing.assert_array_equal(one.decision_function(NEW), two.decision_function(NEW))


def test_float32_is_bounded_against_float64():
    narrow = fit(X.astype(np.float32)).decision_function(NEW.astype(np.float32))
    np.testing.assert_allclose(narrow, fit().decision_function(NEW), atol=5e-3)


def test_read_only_input_is_left_alone():
    passed = [X.copy(), Y.copy(), S.copy()]
    for array in passed:
        array.flags.writeable = False
    fit(*passed).predict(passed[0])


def test_sensitive_columns_of_a_frame_are_left_out_of_the_inputs_and_not_needed_to_predict():
    frame = pd.DataFrame({"u": X[:, 0], "sex": S, "v": X[:, 1], "w": X[:, 2]})
    model = FairKernelClassifier(sensitive_feature_ids=["sex"], random_state=0).fit(frame, Y)
    np.testing.assert_array_equal(model.predict(frame), model.predict(frame[["u", "v", "w"]]))
    np.testing.assert_allclose(model.decision_function(frame), fit().decision_function(X), atol=1e-10)


def test_the_page_shown_in_a_notebook_names_the_estimator():
    assert "FairKernelClassifier" in fit()._repr_html_()
