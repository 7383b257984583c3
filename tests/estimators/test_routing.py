"""Groups and weights reach the estimators through scikit-learn's pipelines and searches, fold by fold."""

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
import sklearn
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.metrics import roc_auc_score
from sklearn.model_selection import GridSearchCV, KFold, cross_val_predict, cross_val_score, cross_validate
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from fairkernel import FairFeatureEmbedding, FairKernelClassifier, FairKernelRegressor

RNG = np.random.default_rng(0)
N = 90
S = np.where(RNG.random(N) < 0.4, "b", "a")
X = RNG.normal(size=(N, 3)) + 0.8 * (S == "b")[:, None]
TARGET = X[:, 0] + 0.3 * RNG.normal(size=N)
Y = (TARGET > 0).astype(int)
WEIGHT = np.arange(1.0, N + 1)
CV = KFold(3, shuffle=True, random_state=0)


@pytest.fixture
def routing():
    with sklearn.config_context(enable_metadata_routing=True):
        yield


class SpyRegressor(FairKernelRegressor):
    """Remembers what each fit was given; the first column of X numbers the rows."""

    seen: list

    def fit(self, X, y, *, sensitive_features=None, sample_weight=None):
        type(self).seen.append((np.asarray(X)[:, 0].astype(int), np.asarray(y), sensitive_features, sample_weight))
        return super().fit(X, y, sensitive_features=sensitive_features, sample_weight=sample_weight)


@pytest.fixture
def spy():
    SpyRegressor.seen = []
    return SpyRegressor(n_components=3)


NUMBERED = np.column_stack([np.arange(N), X])
SIDES = {
    "array": np.asarray,
    "list": list,
    "pandas": pd.Series,
    "pandas frame": lambda s: pd.DataFrame({"sex": s}),
    "polars": pl.Series,
    "pyarrow table": lambda s: pa.table({"sex": s}),
}


@pytest.mark.parametrize("container", SIDES)
def test_each_fold_gets_the_groups_and_weights_of_its_own_rows(routing, spy, container):
    spy.set_fit_request(sample_weight=True).set_score_request(sample_weight=True)
    params = {"sensitive_features": SIDES[container](S), "sample_weight": WEIGHT}
    cross_validate(spy, NUMBERED, TARGET, params=params, cv=CV, error_score="raise")
    assert len(spy.seen) == 3
    for (rows, y, s, weight), (train, _) in zip(spy.seen, CV.split(X), strict=True):
        np.testing.assert_array_equal(rows, train)
        np.testing.assert_array_equal(y, TARGET[train])
        assert np.array(s).ravel().tolist() == S[train].tolist()
        np.testing.assert_array_equal(weight, WEIGHT[train])


def test_no_request_has_to_be_set_for_the_groups(routing, spy):
    cross_validate(spy, NUMBERED, TARGET, params={"sensitive_features": S}, cv=CV, error_score="raise")
    assert [fit[3] for fit in spy.seen] == [None] * 3


@pytest.mark.parametrize(
    ("estimator", "y"),
    [(FairKernelClassifier(random_state=0), Y), (FairKernelRegressor(random_state=0), TARGET)],
    ids=["classifier", "regressor"],
)
def test_a_grid_search_over_a_pipeline_is_the_loop_written_by_hand(routing, estimator, y):
    pipeline = make_pipeline(StandardScaler(), estimator)
    name = type(estimator).__name__.lower()
    grid = {f"{name}__alpha": [0.01, 100.0], f"{name}__disparity_kept": [0.0, 1.0]}
    search = GridSearchCV(pipeline, grid, cv=CV, error_score="raise").fit(X, y, sensitive_features=S)

    for row, setting in enumerate(search.cv_results_["params"]):
        by_hand = []
        for train, test in CV.split(X):
            scaler = StandardScaler().fit(X[train])
            model = sklearn.clone(estimator).set_params(**{key.split("__")[1]: value for key, value in setting.items()})
            model.fit(scaler.transform(X[train]), y[train], sensitive_features=S[train])
            by_hand.append(model.score(scaler.transform(X[test]), y[test]))
        assert search.cv_results_["mean_test_score"][row] == pytest.approx(np.mean(by_hand), rel=1e-9)
    assert search.predict(X).shape == (N,)


def test_a_grid_search_over_a_pipeline_routes_weights_too(routing):
    def pipeline(alpha=1.0):
        regressor = FairKernelRegressor(alpha=alpha, random_state=0)
        regressor.set_fit_request(sample_weight=True).set_score_request(sample_weight=True)
        return make_pipeline(StandardScaler().set_fit_request(sample_weight=True), regressor)

    grid = {"fairkernelregressor__alpha": [0.1, 10.0]}
    search = GridSearchCV(pipeline(), grid, cv=CV, error_score="raise")
    search.fit(X, TARGET, sensitive_features=S, sample_weight=WEIGHT)
    alone = pipeline(search.best_params_["fairkernelregressor__alpha"])
    alone.fit(X, TARGET, sensitive_features=S, sample_weight=WEIGHT)
    np.testing.assert_allclose(search.predict(X), alone.predict(X), rtol=1e-12)


def test_an_embedding_inside_a_pipeline_gets_the_groups(routing):
    embedding = FairFeatureEmbedding(n_components=4, random_state=0)
    pipeline = make_pipeline(StandardScaler(), embedding, Ridge()).fit(X, TARGET, sensitive_features=S)
    scores = pipeline.predict(X)
    assert scores[S == "a"].mean() == pytest.approx(scores[S == "b"].mean(), abs=1e-10)


def test_an_embedding_is_cross_validated_inside_a_pipeline(routing):
    pipeline = make_pipeline(FairFeatureEmbedding(n_components=4, random_state=0), LogisticRegression())
    scores = cross_val_score(pipeline, X, Y, params={"sensitive_features": S}, cv=CV, error_score="raise")
    assert np.isfinite(scores).all()


def test_a_pipeline_with_two_consumers_feeds_both(routing):
    steps = FairFeatureEmbedding(n_components=6, random_state=0), FairKernelClassifier(random_state=0)
    assert make_pipeline(*steps).fit(X, Y, sensitive_features=S).predict(X).shape == (N,)


@pytest.mark.parametrize("method", ["predict", "decision_function", "predict_proba"])
def test_cross_val_predict_routes_the_groups(routing, method):
    model = FairKernelClassifier(random_state=0)
    scores = cross_val_predict(model, X, Y, params={"sensitive_features": S}, cv=CV, method=method)
    assert len(scores) == N


def test_a_gram_matrix_is_cut_on_both_sides(routing):
    gram = X @ X.T
    options = {"params": {"sensitive_features": S}, "cv": CV, "error_score": "raise"}
    from_gram = cross_val_score(FairKernelRegressor(kernel="precomputed"), gram, TARGET, **options)
    from_rows = cross_val_score(FairKernelRegressor(kernel="linear"), X, TARGET, **options)
    np.testing.assert_allclose(from_gram, from_rows, rtol=1e-8)


def test_forgotten_groups_are_an_error_of_fit(routing):
    with pytest.raises(TypeError, match=r"FairKernelClassifier.fit\(\) needs sensitive_features"):
        cross_validate(FairKernelClassifier(), X, Y, cv=CV, error_score="raise")


def test_attributes_named_as_columns_need_no_routing():
    frame = pd.DataFrame(X, columns=list("uvw")).assign(sex=S)
    model = FairKernelRegressor(sensitive_feature_ids=["sex"], random_state=0)
    by_name = cross_val_score(model, frame, TARGET, cv=CV, error_score="raise")
    with sklearn.config_context(enable_metadata_routing=True):
        routed = cross_val_score(
            FairKernelRegressor(random_state=0), X, TARGET, params={"sensitive_features": S}, cv=CV, error_score="raise"
        )
    np.testing.assert_allclose(by_name, routed, rtol=1e-9)


# Without routing


def test_a_plain_pipeline_takes_the_groups_by_the_name_of_the_step():
    pipeline = make_pipeline(StandardScaler(), FairKernelClassifier(random_state=0))
    pipeline.fit(X, Y, fairkernelclassifier__sensitive_features=S)
    alone = FairKernelClassifier(random_state=0).fit(StandardScaler().fit_transform(X), Y, sensitive_features=S)
    np.testing.assert_array_equal(
        pipeline.decision_function(X), alone.decision_function(StandardScaler().fit_transform(X))
    )


def test_a_plain_grid_search_passes_the_groups_fold_by_fold(spy):
    GridSearchCV(spy, {"alpha": [0.1]}, cv=CV, refit=False, error_score="raise").fit(
        NUMBERED, TARGET, sensitive_features=S
    )
    for (rows, _, s, _), (train, _) in zip(spy.seen, CV.split(X), strict=True):
        np.testing.assert_array_equal(rows, train)
        np.testing.assert_array_equal(s, S[train])


def test_a_plain_grid_search_over_a_pipeline_passes_the_groups():
    pipeline = make_pipeline(StandardScaler(), FairKernelRegressor(random_state=0))
    search = GridSearchCV(pipeline, {"fairkernelregressor__alpha": [0.1, 10.0]}, cv=CV, error_score="raise")
    search.fit(X, TARGET, fairkernelregressor__sensitive_features=S)
    assert np.isfinite(search.cv_results_["mean_test_score"]).all()


def test_a_plain_pipeline_transforms_with_an_embedding():
    pipeline = make_pipeline(FairFeatureEmbedding(n_components=3, random_state=0), Ridge())
    scores = pipeline.fit(X, TARGET, fairfeatureembedding__sensitive_features=S).predict(X)
    assert scores[S == "a"].mean() == pytest.approx(scores[S == "b"].mean(), abs=1e-10)


def test_aware_decisions_are_scored_where_X_carries_the_groups():
    """Scorers hand predict no groups: with sensitive_feature_ids they need not."""
    s = np.where(X[:, 1] + RNG.normal(size=N) > 0, "b", "a")
    frame = pd.DataFrame(X, columns=[f"x{j}" for j in range(X.shape[1])]).assign(group=s)
    options = {"max_decision_gap": 0.5, "aware": True, "disparity_kept": 1.0, "random_state": 0}
    model = FairKernelClassifier(sensitive_feature_ids=["group"], **options)
    scores = cross_val_score(model, frame, Y, scoring="roc_auc", cv=CV)
    predicted = cross_val_predict(model, frame, Y, cv=CV)
    for k, (train, test) in enumerate(CV.split(X)):
        own = FairKernelClassifier(**options).fit(X[train], Y[train], sensitive_features=s[train])
        known = {"sensitive_features": s[test]}
        assert scores[k] == pytest.approx(roc_auc_score(Y[test], own.decision_function(X[test], **known)))
        np.testing.assert_array_equal(predicted[test], own.predict(X[test], **known))
