"""Other estimators on a frontier: the same folds, groups and weights, marked for what they do with them."""

import warnings

import numpy as np
import pandas as pd
import pytest
import sklearn
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.calibration import CalibratedClassifierCV
from sklearn.ensemble import BaggingClassifier
from sklearn.linear_model import LinearRegression, LogisticRegression, Ridge
from sklearn.metrics import r2_score
from sklearn.model_selection import GridSearchCV, KFold
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer, StandardScaler
from sklearn.svm import SVC

from fairkernel import FairFeatureEmbedding, FairKernelClassifier, FairKernelRegressor, frontier
from fairkernel.baselines import MeanMatchedRidge, PenalisedKernelRegressor, PrejudiceRemover
from fairkernel.datasets import make_two_groups

DATA = make_two_groups(240, random_state=0)
X, Y, S = DATA.data, DATA.target, DATA.sensitive_features
RNG = np.random.default_rng(0)
Z = X[:, 0] + RNG.normal(size=len(X))
W = RNG.integers(1, 9, len(X)) * np.where(X[:, 0] > 1, 5.0, 1.0)
CV = KFold(3, shuffle=True, random_state=0)
PLAIN = {"alphas": [1.0], "max_decision_gap": [None], "disparity_kept": [1.0], "cv": CV}
BLIND = FairKernelClassifier(n_features=30, random_state=0)


def rows_of(others, weight=None, model=BLIND, target=Y, **options):
    grid = PLAIN if target is Y else {"alphas": [1.0], "disparity_kept": [1.0], "cv": CV}
    options = {"sensitive_features": S, "sample_weight": weight} | options
    many = frontier(model, options.pop("X", X), target, others=others, **options, **grid)
    return {name: column[2:] for name, column in many.table.items()}


def error_by_hand(make, weight, *, known=False):
    """Weighted error of refitting on the same folds, ``make`` given the training rows' numbers and weights."""
    wrong = np.empty(len(X), dtype=bool)
    for train, test in CV.split(X):
        model = make(train)
        wrong[test] = model.predict(X[test], **({"sensitive_features": S[test]} if known else {})) != Y[test]
    return np.average(wrong, weights=weight)


# Weights ------------------------------------------------------------------------------------------------------------


def test_weights_reach_the_steps_of_a_pipeline_and_what_a_search_fits():
    found = rows_of(
        {
            "bare": LogisticRegression(),
            "pipeline": make_pipeline(FunctionTransformer(), LogisticRegression()),
            "search": GridSearchCV(make_pipeline(FunctionTransformer(), LogisticRegression()), {}),
            "nested": make_pipeline(FunctionTransformer(), make_pipeline(FunctionTransformer(), LogisticRegression())),
        },
        W,
    )
    weighted = error_by_hand(lambda t: LogisticRegression().fit(X[t], Y[t], sample_weight=W[t]), W)
    assert weighted != pytest.approx(error_by_hand(lambda t: LogisticRegression().fit(X[t], Y[t]), W), abs=1e-4)
    assert found["error"] == pytest.approx([weighted] * 4, abs=1e-12)


NEAR = KNeighborsClassifier()


@pytest.mark.parametrize("other", [NEAR, make_pipeline(StandardScaler(), NEAR), GridSearchCV(NEAR, {})])
def test_an_estimator_that_takes_no_weights_is_refused_with_weights_by_name(other):
    with pytest.raises(ValueError, match=r"others: 'near' would be fitted without the weights .* leave it out"):
        rows_of([("near", other)], W)
    assert len(rows_of([("near", other)])["error"]) == 1


def test_one_weight_for_all_rows_is_that_of_each():
    each = rows_of(LogisticRegression(), np.full(len(X), 2.0))
    np.testing.assert_array_equal(rows_of(LogisticRegression(), 2.0)["error"], each["error"])


def test_rows_of_weight_zero_are_absent():
    weight = np.where(np.arange(len(X)) % 5, 1.0, 0.0)
    present = weight > 0
    grid = PLAIN | {"cv": 3}
    model = LogisticRegression()
    given = frontier(BLIND, X, Y, sensitive_features=S, sample_weight=weight, others=model, **grid)
    left_out = frontier(BLIND, X[present], Y[present], sensitive_features=S[present], others=model, **grid)
    assert given.table["error"][-1] == left_out.table["error"][-1]


def test_with_metadata_routing_the_requests_are_followed():
    with sklearn.config_context(enable_metadata_routing=True):
        asks = make_pipeline(FunctionTransformer(), LogisticRegression().set_fit_request(sample_weight=True))
        found = rows_of({"asks": asks, "ours": make_pipeline(FunctionTransformer(), MeanMatchedRidge(variant="V2"))})
        assert found["aware"].tolist() == [False, True]
        weighted = error_by_hand(lambda t: LogisticRegression().fit(X[t], Y[t], sample_weight=W[t]), W)
        assert rows_of({"asks": asks}, W)["error"] == pytest.approx(weighted, abs=1e-12)
        with pytest.raises(ValueError, match="'does not' would be fitted without the weights"):
            rows_of({"does not": make_pipeline(LogisticRegression())}, W)


# Groups -------------------------------------------------------------------------------------------------------------


def test_aware_is_what_depends_on_the_groups():
    others = {
        "classifier": FairKernelClassifier(n_features=30, random_state=0),
        "with a rule": FairKernelClassifier(max_decision_gap=0.5, n_features=30, random_state=0),
        "with known groups": FairKernelClassifier(max_decision_gap=0.05, aware=True, n_features=30, random_state=0),
        "one vector": PrejudiceRemover(10.0, variant="one_vector"),
        "marginal": PrejudiceRemover(10.0, variant="marginal"),
        "two vectors": PrejudiceRemover(10.0),
        "V1": MeanMatchedRidge(variant="V1"),
        "V2": MeanMatchedRidge(variant="V2"),
        "V2 in a pipeline": make_pipeline(StandardScaler(), MeanMatchedRidge(variant="V2")),
        "V1 in a pipeline": make_pipeline(StandardScaler(), MeanMatchedRidge(variant="V1")),
        "groups to fit": make_pipeline(FairFeatureEmbedding(10, random_state=0), LogisticRegression()),
    }
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        found = rows_of(others)
    aware = [name for name, known in zip(found["model"], found["aware"], strict=True) if known]
    assert aware == ["with known groups", "two vectors", "V2", "V2 in a pipeline"]
    by_hand = error_by_hand(
        lambda t: MeanMatchedRidge(variant="V2").fit(X[t], Y[t], sensitive_features=S[t]), None, known=True
    )
    assert found["error"][list(found["model"]).index("V2")] == pytest.approx(by_hand)


def test_regressors_that_do_not_know_the_groups_are_not_told():
    options = {"n_features": 30, "random_state": 0}
    others = [FairKernelRegressor(**options), PenalisedKernelRegressor(**options)]
    others += [make_pipeline(StandardScaler(), FairKernelRegressor(**options))]
    others += [FairKernelRegressor(aware=True, distribution_parity=1.0, **options)]
    found = rows_of(dict(zip("abcd", others, strict=True)), target=Z, model=FairKernelRegressor(random_state=0))
    assert found["aware"].tolist() == [False, False, False, True]
    assert np.isnan(found["distribution_parity"]).all()


class Optional(ClassifierMixin, BaseEstimator):
    """Takes groups to predict, and may look at them."""

    def __init__(self, looks=True):
        self.looks = looks

    def fit(self, X, y):
        self.classes_ = np.unique(y)
        return self

    def predict(self, X, sensitive_features=None):
        told = self.looks and sensitive_features is not None
        return self.classes_[(sensitive_features == "b").astype(int) if told else np.zeros(len(X), dtype=int)]


def test_groups_that_are_taken_and_not_looked_at_leave_a_model_blind():
    assert rows_of({"looks": Optional(), "does not": Optional(looks=False)})["aware"].tolist() == [True, False]


def test_columns_that_are_the_attribute_are_no_inputs_of_the_others():
    frame = pd.DataFrame(X, columns=list("abcde")).assign(group=(S == "b") + 0.0)
    model = FairKernelClassifier(n_features=30, random_state=0, sensitive_feature_ids=["group"])
    others = {"regression": LogisticRegression(), "V2": MeanMatchedRidge(variant="V2")}
    among = rows_of(others, model=model, X=frame, sensitive_features=None)
    beside = rows_of(others)
    for name in ("error", "disparity", "aware"):
        np.testing.assert_array_equal(among[name], beside[name])


def test_a_precomputed_kernel_is_cut_to_the_training_rows():
    gram = X @ X.T
    model = FairKernelClassifier(kernel="precomputed", random_state=0, n_features=30)
    found = rows_of(SVC(kernel="precomputed"), model=model, X=gram)
    by_hand = error_by_hand(lambda t: SVC(kernel="linear").fit(X[t], Y[t]), None)
    assert found["error"] == pytest.approx(by_hand, abs=0.02)


def test_targets_of_one_column_are_a_target():
    found = rows_of(LinearRegression(), target=Z[:, None], model=FairKernelRegressor(random_state=0))
    predicted = np.empty(len(X))
    for train, test in CV.split(X):
        predicted[test] = LinearRegression().fit(X[train], Z[train]).predict(X[test])
    assert found["r2"] == pytest.approx(r2_score(Z, predicted))


# Names --------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("others", "names"),
    [
        (LogisticRegression(), ["LogisticRegression"]),
        (BaggingClassifier(LogisticRegression(), 2), ["BaggingClassifier"]),  # unfitted, it has no length
        ({"lr": LogisticRegression()}, ["lr"]),
        ([LogisticRegression(), ("lr", LogisticRegression())], ["LogisticRegression", "lr"]),
        ([SVC(), LogisticRegression(), SVC(C=2)], ["SVC 1", "LogisticRegression", "SVC 2"]),
        ([make_pipeline(StandardScaler(), SVC()), SVC(C=2)], ["SVC 1", "SVC 2"]),
        ((), []),
        ({}, []),
    ],
)
def test_others_are_named(others, names):
    assert rows_of(others)["model"].tolist() == names


@pytest.mark.parametrize(
    ("others", "error", "sentence"),
    [
        ([(None, LogisticRegression())], TypeError, r"a named estimator is \(name, estimator\), the name a str; got"),
        ([("a", LogisticRegression(), 1)], TypeError, r"a named estimator is \(name, estimator\)"),
        ({1: LogisticRegression()}, TypeError, r"a named estimator is \(name, estimator\)"),
        ([("fairkernel", SVC())], ValueError, "'fairkernel' is the name of a row that the table has anyway"),
        ([("constant", SVC())], ValueError, "'constant' is the name of a row that the table has anyway"),
        ([("a", SVC()), ("a", LogisticRegression())], ValueError, "'a' is the name of another one of them"),
        ([("SVC", SVC()), SVC()], ValueError, "'SVC' is the name of another one of them"),
        (SVC, TypeError, r"SVC is a class; pass an estimator, SVC\(\)"),
        ("SVC", TypeError, "others must be an estimator, a sequence"),
        (7, TypeError, "others must be an estimator, a sequence"),
        ([("a", None)], TypeError, "'a' is a NoneType, which has no fit and predict"),
        (Ridge(), ValueError, "'Ridge' does not go with a frontier of classifiers"),
    ],
)
def test_what_cannot_be_compared_is_refused_before_anything_is_traced(others, error, sentence, monkeypatch):
    monkeypatch.setattr("fairkernel.analysis.trace.FoldMoments", None)
    with pytest.raises(error, match=sentence):
        rows_of(others)


@pytest.mark.parametrize("other", [BaggingClassifier(random_state=0), CalibratedClassifierCV()])
def test_estimators_that_wrap_nothing_yet_are_compared(other):
    assert rows_of([other])["model"].tolist() == [type(other).__name__]
