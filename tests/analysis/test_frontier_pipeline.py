"""A pipeline that ends in a fair estimator: prepared once, traced on the prepared rows, handed back as a pipeline."""

import numpy as np
import pandas as pd
import pytest
from sklearn.compose import make_column_transformer
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import KFold
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler

from fairkernel import FairKernelClassifier, FairKernelRegressor, frontier
from fairkernel.datasets import make_two_groups

DATA = make_two_groups(240, random_state=0, as_frame=True)
X, Y, S = DATA.data.assign(town=np.where(DATA.data["x2"] > 0, "A", "B")), DATA.target, DATA.sensitive_features
COLUMNS = [(OneHotEncoder(sparse_output=False), ["town"]), (StandardScaler(), ["x0", "x1"])]
PREPARE = make_column_transformer(*COLUMNS)
FEW = {"alphas": [1.0], "disparity_kept": [0.0, 1.0], "max_decision_gap": [None], "sensitive_features": S}
CV = KFold(3, shuffle=True, random_state=0)


def classifier(**options):
    return FairKernelClassifier(n_features=30, random_state=0, **options)


def test_the_frontier_is_that_of_the_prepared_rows():
    pipeline = make_pipeline(PREPARE, classifier())
    many = frontier(pipeline, X, Y, cv=CV, **FEW)
    by_hand = frontier(classifier(), make_column_transformer(*COLUMNS).fit_transform(X), Y, cv=CV, **FEW)
    for name, column in by_hand.table.items():
        np.testing.assert_array_equal(many.table[name], column)
    assert not hasattr(pipeline[0], "transformers_")  # what was passed is not changed


def test_what_is_handed_back_takes_rows_as_they_were_passed():
    many = frontier(make_pipeline(PREPARE, classifier()), X, Y, **FEW)
    model = many.refit(1)
    assert isinstance(model, Pipeline)
    assert [name for name, _ in model.steps] == ["columntransformer", "fairkernelclassifier"]
    Z = make_column_transformer(*COLUMNS).fit_transform(X)
    by_hand = classifier(disparity_kept=1.0).fit(Z, Y, sensitive_features=S)
    np.testing.assert_allclose(model.decision_function(X), by_hand.decision_function(Z), atol=1e-9)
    assert isinstance(many.best(1.0), Pipeline)


def test_known_groups_are_handed_through():
    model = FairKernelRegressor(aware=True, n_features=30, random_state=0)
    many = frontier(make_pipeline(PREPARE, model), X, X["x0"] + X["x1"], sensitive_features=S, alphas=1.0)
    assert many.best(9.0).predict(X, sensitive_features=S).shape == (len(X),)


def test_others_get_the_rows_as_they_were_passed():
    other = make_pipeline(make_column_transformer(*COLUMNS), LogisticRegression())
    many = frontier(make_pipeline(PREPARE, classifier()), X, Y, cv=CV, others={"lr": other}, **FEW)
    wrong = np.empty(len(X), dtype=bool)
    for train, test in CV.split(X):
        wrong[test] = other.fit(X.iloc[train], Y.iloc[train]).predict(X.iloc[test]) != Y.iloc[test]
    assert many.table["error"][-1] == pytest.approx(wrong.mean())


def test_a_pipeline_of_one_step_prepares_nothing():
    many = frontier(Pipeline([("fair", classifier())]), DATA.data, Y, **FEW)
    assert many.refit(0).predict(DATA.data).shape == (len(X),)


def test_rows_in_another_order_are_noticed_before_the_index_is_lost():
    with pytest.raises(ValueError, match="the index of sensitive_features differs from the index of X"):
        frontier(make_pipeline(PREPARE, classifier()), X, Y, **FEW | {"sensitive_features": S[::-1]})
    with pytest.raises(ValueError, match="the index of y differs from the index of X"):
        frontier(make_pipeline(PREPARE, classifier()), X, pd.Series(Y)[::-1], **FEW)


def test_a_pipeline_that_ends_in_another_estimator_belongs_to_the_others():
    with pytest.raises(TypeError, match="got LogisticRegression; other estimators go into others"):
        frontier(make_pipeline(PREPARE, LogisticRegression()), X, Y, **FEW)


def test_rows_of_weight_zero_do_not_prepare():
    weight, far = np.ones(len(X)), X.copy()
    weight[:5], far.iloc[:5, :2] = 0.0, 1e6  # x0 and x1
    weighted = frontier(make_pipeline(PREPARE, classifier()), far, Y, sample_weight=weight, **FEW)
    few = FEW | {"sensitive_features": S[5:]}
    without = frontier(make_pipeline(PREPARE, classifier()), X[5:], Y[5:], **few)
    np.testing.assert_allclose(weighted.table["error"], without.table["error"], atol=1e-12)
