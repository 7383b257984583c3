"""explain_gap: parts that add up, exact where the score is a sum over columns, estimates elsewhere."""

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
import scipy.sparse
from sklearn.base import clone
from sklearn.compose import make_column_transformer
from sklearn.ensemble import HistGradientBoostingClassifier, RandomForestRegressor
from sklearn.inspection import permutation_importance
from sklearn.linear_model import LinearRegression, LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler
from sklearn.svm import LinearSVC

import fairkernel
from fairkernel import FairKernelClassifier, FairKernelRegressor, explain_gap
from fairkernel.analysis import gap as gap_module
from fairkernel.exceptions import MissingSensitiveWarning
from fairkernel.kernels import Linear, Polynomial

RNG = np.random.default_rng(0)
N = 200
S = np.where(RNG.random(N) < 0.4, "b", "a")
X = RNG.normal(size=(N, 4)) + np.outer(S == "b", [1.0, -0.5, 0.0, 0.3])
Y = 2 * X[:, 0] + X[:, 1] ** 2 + 0.1 * RNG.normal(size=N)
LABEL = np.where(Y > Y.mean(), "yes", "no")


def regressor(X=X, s=S, **parameters):
    model = FairKernelRegressor(**{"kernel": "linear", "disparity_kept": 1.0, "random_state": 0, **parameters})
    return model.fit(X, Y, sensitive_features=s)


def explain(model, X=X, s=S, **options):
    return explain_gap(model, X, sensitive_features=s, **{"random_state": 0, **options})


def by_name(found):
    return dict(zip(found.columns["name"], found.columns["contribution"], strict=True))


def difference(values, s=S, weight=None):
    weight = np.ones(len(s)) if weight is None else weight
    return np.average(values[s == "b"], weights=weight[s == "b"], axis=0) - np.average(
        values[s == "a"], weights=weight[s == "a"], axis=0
    )


def interacting(X):
    return np.asarray(X)[:, 0] * np.asarray(X)[:, 1]


class Interacting:
    def predict(self, X):
        return interacting(X)


# Rows


@pytest.mark.parametrize("kernel", ["linear", "rbf"])
@pytest.mark.parametrize("kept", [0.0, 1.0])
def test_rows_sum_to_the_gap(kernel, kept):
    model = regressor(kernel=kernel, disparity_kept=kept)
    found = explain(model)
    np.testing.assert_allclose(found.gap, abs(difference(model.predict(X))), atol=1e-12)
    np.testing.assert_allclose(found.rows["contribution"].sum(), found.gap, atol=1e-12)
    np.testing.assert_array_equal(found.rows["group"], S)
    np.testing.assert_allclose(found.rows["score"], model.predict(X))


def test_a_row_contributes_its_distance_from_the_mean_score():
    found = explain(regressor(), groups=("b", "a"))
    share = np.where(S == "b", 1 / np.sum(S == "b"), -1 / np.sum(S == "a"))
    np.testing.assert_allclose(found.rows["coefficient"], share)
    score = found.rows["score"]
    np.testing.assert_allclose(found.rows["contribution"], share * (score - score.mean()))


# Columns of a score that is a sum over columns


def test_linear_columns_are_weights_times_differences_of_means_and_sum_to_the_gap():
    model = regressor()
    w = X[model.landmark_indices_].T @ model.coef_
    found = explain(model, groups=("b", "a"))
    assert found.exact
    np.testing.assert_allclose([by_name(found)[f"x{j}"] for j in range(4)], w * difference(X), atol=1e-12)
    np.testing.assert_allclose(found.columns["contribution"].sum(), found.gap, atol=1e-12)
    assert abs(found.interaction) < 1e-12
    np.testing.assert_array_equal(found.columns["standard_error"], np.zeros(4))


def test_columns_of_a_score_without_a_gap_cancel():
    found = explain(regressor(disparity_kept=0.0))
    assert found.exact
    assert abs(found.gap) < 1e-12
    assert np.abs(found.columns["contribution"]).max() > 0.1
    assert abs(found.columns["contribution"].sum()) < 1e-12


@pytest.mark.parametrize(
    "model",
    [
        regressor(kernel=2.0 * Linear() + Linear()),
        regressor(kernel=Polynomial(degree=1)),
        LinearRegression().fit(X, Y),
        make_pipeline(StandardScaler(), LogisticRegression()).fit(X, LABEL),
        LinearSVC().fit(X, LABEL),
        HistGradientBoostingClassifier(max_leaf_nodes=2, max_iter=30).fit(X, LABEL),  # stumps
    ],
    ids=lambda model: type(model).__name__,
)
def test_every_sum_over_columns_is_recognised(model):
    found = explain(model)
    assert found.exact
    np.testing.assert_allclose(found.columns["contribution"].sum(), found.gap, atol=1e-9)


@pytest.mark.parametrize(
    "model",
    [
        regressor(kernel="rbf"),
        regressor(kernel="poly", degree=2),
        regressor(kernel="rbf", gamma=1e-3),
        RandomForestRegressor(10, random_state=0).fit(X, Y),
    ],
    ids=lambda model: str(getattr(model, "kernel_", model)),
)
def test_no_other_score_is_called_exact(model):
    assert not explain(model, n_repeats=2).exact


def test_the_classifier_is_explained_by_its_decision_function():
    model = FairKernelClassifier(kernel="linear", disparity_kept=1.0, random_state=0)
    model.fit(X, LABEL, sensitive_features=S)
    found = explain(model)
    assert found.exact
    assert found.score_name == "decision_function"
    np.testing.assert_allclose(found.rows["score"], model.decision_function(X))


def test_float32_rows_are_explained_as_exactly():
    assert explain(regressor(X.astype(np.float32)), X.astype(np.float32)).exact


# Columns by permutation


def test_parts_and_interaction_sum_to_the_gap():
    found = explain(regressor(kernel="rbf"), n_repeats=3)
    np.testing.assert_allclose(found.columns["contribution"].sum() + found.interaction, found.gap, atol=1e-14)


def test_permutation_estimates_what_the_exact_decomposition_gives(monkeypatch):
    model = regressor()
    exact = by_name(explain(model))
    monkeypatch.setattr(gap_module, "_effects_of_columns", lambda *_: None)
    found = explain(model, n_repeats=50)
    errors = dict(zip(found.columns["name"], found.columns["standard_error"], strict=True))
    for name, contribution in by_name(found).items():
        assert abs(contribution - exact[name]) < 4 * errors[name]
    assert 0 < max(errors.values()) < 0.1 * max(map(abs, exact.values()))


def test_permutation_importance_of_the_gap_is_the_same_estimate():
    model = regressor(kernel="rbf")
    found = explain(model, groups=("b", "a"), n_repeats=60)
    theirs = permutation_importance(
        model, X, Y, scoring=lambda model, X, _: difference(model.predict(X)), n_repeats=60, random_state=1
    )
    for name, ours, error in zip(*found.columns.values(), strict=True):
        assert abs(ours - theirs.importances_mean[int(name[1])]) < 4 * np.sqrt(2) * error


def test_standard_errors_shrink_with_the_root_of_the_repeats():
    few, many = (explain(Interacting(), n_repeats=n).columns["standard_error"].max() for n in (20, 320))
    np.testing.assert_allclose(few / many, 4.0, rtol=0.5)


def test_a_column_the_score_does_not_read_contributes_nothing():
    parts = by_name(explain(Interacting()))
    assert parts["x2"] == parts["x3"] == 0.0


def test_a_column_alike_in_both_groups_contributes_about_nothing():
    # x2 does not differ between the groups, though the score reads it.
    found = explain(regressor(kernel="rbf", gamma=0.1), n_repeats=30)
    assert abs(by_name(found)["x2"]) < 0.1 * max(map(abs, by_name(found).values()))


def test_a_gap_that_two_columns_carry_together_is_interaction():
    z = RNG.choice([-1.0, 1.0], size=4000)
    s = np.tile(["a", "b"], 2000)
    rows = np.column_stack([z, np.where(s == "b", z, -z)])  # neither column differs, their product does
    found = explain(Interacting(), rows, s)
    np.testing.assert_allclose(found.gap, 2.0)
    np.testing.assert_allclose(found.columns["contribution"], [2.0, 2.0], atol=0.1)
    np.testing.assert_allclose(found.interaction, -2.0, atol=0.2)


def test_the_same_seed_gives_the_same_bits():
    one, two, other = (explain(Interacting(), random_state=seed) for seed in (3, 3, 4))
    np.testing.assert_array_equal(one.columns["contribution"], two.columns["contribution"])
    assert not np.array_equal(one.columns["contribution"], other.columns["contribution"])


# Groups and weights


def test_of_several_groups_the_two_furthest_apart_are_taken():
    s = np.array(["p", "q", "r"])[np.arange(N) % 3]
    rows = X + np.outer(np.arange(N) % 3 == 1, [3.0, 0, 0, 0]) - np.outer(np.arange(N) % 3 == 2, [3.0, 0, 0, 0])
    model = LinearRegression().fit(rows, rows[:, 0])
    found = explain(model, rows, s)
    assert found.groups == ("q", "r")
    assert found.gap == pytest.approx(found.means[0] - found.means[1])
    assert (found.rows["contribution"][s == "p"] == 0.0).all()
    chosen = explain(model, rows, s, groups=("r", "p"))
    assert chosen.groups == ("r", "p")
    assert chosen.gap < 0
    np.testing.assert_allclose(chosen.rows["contribution"].sum(), chosen.gap)


def test_turning_the_groups_round_turns_every_sign():
    one, two = explain(regressor(), groups=("a", "b")), explain(regressor(), groups=["b", "a"])
    assert one.gap == -two.gap
    np.testing.assert_allclose(one.columns["contribution"], -two.columns["contribution"])


def test_groups_may_be_intersections():
    two = pd.DataFrame({"s": S, "t": np.tile([0, 1], N // 2)})
    found = explain(regressor(), s=two)
    assert found.groups[0] in [("a", 0), ("a", 1), ("b", 0), ("b", 1)]
    assert found.rows["group"][0] == (S[0], 0)
    again = explain(regressor(), s=two, groups=(("a", 0), ("b", 1)))
    assert again.groups == (("a", 0), ("b", 1))


def test_weights_are_duplicated_rows():
    times = RNG.integers(0, 3, N)
    model = regressor()
    weighted = explain(model, sample_weight=times.astype(float))
    repeated = explain(model, np.repeat(X, times, axis=0), np.repeat(S, times))
    np.testing.assert_allclose(weighted.gap, repeated.gap)
    np.testing.assert_allclose(weighted.columns["contribution"], repeated.columns["contribution"], atol=1e-12)
    np.testing.assert_allclose(weighted.rows["contribution"].sum(), weighted.gap)


def test_integer_weights_are_duplicated_rows_in_expectation():
    times = np.where(X[:, 0] + X[:, 1] > 1, 4, RNG.integers(0, 2, N))  # which rows are read matters
    c = times * np.where(S == "b", 1 / times[S == "b"].sum(), -1 / times[S == "a"].sum())
    gap, share = c @ interacting(X), times / times.sum()
    # Column 0 read from every row with its share of the weight.
    expected = gap - c @ (X[:, 1] * (share @ X[:, 0])), gap - c @ (X[:, 0] * (share @ X[:, 1]))
    weighted = explain(Interacting(), sample_weight=times, groups=("b", "a"), n_repeats=400)
    repeated = explain(
        Interacting(), np.repeat(X, times, axis=0), np.repeat(S, times), groups=("b", "a"), n_repeats=400
    )
    for found in (weighted, repeated):
        errors = dict(zip(found.columns["name"], found.columns["standard_error"], strict=True))
        for j in (0, 1):
            assert abs(by_name(found)[f"x{j}"] - expected[j]) < 4 * errors[f"x{j}"]


def test_rows_of_weight_zero_are_absent():
    kept = RNG.random(N) < 0.6
    wild = np.where(kept[:, None], X, 1e6 * X[::-1])

    found = explain(Interacting(), wild, sample_weight=kept)
    without = explain(Interacting(), wild[kept], S[kept])
    np.testing.assert_allclose(found.columns["contribution"], without.columns["contribution"])
    np.testing.assert_allclose(found.rows["contribution"][kept], without.rows["contribution"])
    assert not found.rows["contribution"][~kept].any()

    def additive_where_kept(rows):
        return rows[:, 0] + rows[:, 1] + np.where(np.abs(rows[:, 0]) > 100, rows[:, 0] * rows[:, 1], 0.0)

    assert explain(None, np.where(kept[:, None], X, 200.0), score=additive_where_kept, sample_weight=kept).exact


def test_weights_of_one_permute():
    donors = gap_module._donors(np.ones(50), np.random.RandomState(0))
    np.testing.assert_array_equal(np.sort(donors), np.arange(50))


def test_rows_are_read_as_often_as_their_weight_says():
    weight = np.array([0.0, 1.0, 0.0, 2.5, 0.5, 0.0])
    rng = np.random.RandomState(0)
    drawn = np.array([gap_module._donors(weight, rng) for _ in range(4000)])
    np.testing.assert_array_equal(drawn[:, weight == 0], np.tile([0, 2, 5], (4000, 1)))
    for place in (1, 3, 4):
        np.testing.assert_allclose(
            np.bincount(drawn[:, place], minlength=6) / 4000, weight / weight.sum(), atol=4 * 0.5 / np.sqrt(4000)
        )


def test_rows_without_a_group_count_for_neither():
    s = S.astype(object)
    s[:30] = None
    with pytest.warns(MissingSensitiveWarning):
        model = regressor(s=s, missing_sensitive="ignore")
    with pytest.warns(MissingSensitiveWarning, match="missing in 30 of 200 rows: they count for neither of the two"):
        found = explain(model, s=s)
    np.testing.assert_allclose(abs(found.gap), abs(difference(model.predict(X)[30:], S[30:])))
    assert found.rows["group"].tolist() == s.tolist()
    assert not found.rows["contribution"][:30].any()
    np.testing.assert_allclose(found.rows["contribution"].sum(), found.gap)
    np.testing.assert_allclose(found.columns["contribution"].sum(), found.gap)


@pytest.mark.parametrize("container", [np.array, list, tuple, pd.Series])
def test_the_pair_comes_in_any_container(container):
    assert explain(regressor(), groups=container(["b", "a"])).groups == ("b", "a")


def test_intersections_may_be_lists():
    two = pd.DataFrame({"s": S, "t": np.tile([0, 1], N // 2)})
    assert explain(regressor(), s=two, groups=[["a", 0], ["b", 1]]).groups == (("a", 0), ("b", 1))


# Containers and names


@pytest.mark.parametrize("container", [pd.DataFrame, pl.DataFrame, pa.table])
def test_data_frames_keep_their_names_and_kind(container):
    columns = dict(zip(["age", "pay", "$rent_", "<b>"], X.T, strict=True))
    frame = container(columns)
    model = FairKernelRegressor(kernel="linear", disparity_kept=1.0, random_state=0)
    found = explain(model.fit(frame, Y, sensitive_features=S), frame)
    np.testing.assert_allclose(found.columns["contribution"], explain(regressor()).columns["contribution"], atol=1e-9)
    assert set(found.columns["name"]) == set(columns)


def test_an_index_of_its_own_changes_nothing():
    frame = pd.DataFrame(X, columns=list("uvwx"), index=RNG.permutation(N))
    model = regressor(frame, pd.Series(S, index=frame.index))
    found = explain(model, frame, pd.Series(S, index=frame.index))
    np.testing.assert_allclose(found.columns["contribution"], explain(regressor()).columns["contribution"], atol=1e-9)


def test_names_come_from_the_model_where_rows_have_none():
    frame = pd.DataFrame(X, columns=list("uvwx"))
    model = regressor(frame)
    with pytest.warns(UserWarning, match="does not have valid feature names"):
        found = explain(model, X)
    assert set(found.columns["name"]) == set("uvwx")


def test_text_columns_are_explained_before_they_are_encoded():
    frame = pd.DataFrame({"pay": X[:, 0], "town": np.where(RNG.random(N) < 0.2 + 0.5 * (S == "b"), "in", "out")})
    frame["town"] = frame["town"].astype("category")
    encode = make_column_transformer((OneHotEncoder(), ["town"]), remainder="passthrough")
    linear = make_pipeline(encode, LogisticRegression()).fit(frame, LABEL)
    forest = make_pipeline(encode, RandomForestRegressor(10, random_state=0)).fit(frame, Y)
    assert explain(linear, frame).exact
    found = explain(forest, frame, n_repeats=2)
    assert not found.exact
    assert set(found.columns["name"]) == {"pay", "town"}


def test_the_sensitive_column_of_a_model_that_leaves_it_out_contributes_nothing():
    frame = pd.DataFrame(X, columns=list("uvwx")).assign(group=(S == "b").astype(float))
    model = FairKernelRegressor(kernel="linear", sensitive_feature_ids=["group"], random_state=0).fit(frame, Y)
    assert abs(by_name(explain(model, frame))["group"]) < 1e-12


def test_groups_may_be_columns_of_X():
    frame = pd.DataFrame(X, columns=list("uvwx")).assign(group=S)
    plain = FairKernelClassifier(kernel="linear", sensitive_feature_ids=["group"], random_state=0)
    aware = clone(plain).set_params(max_decision_gap=0.1, aware=True)
    for model in (plain.fit(frame, LABEL), aware.fit(frame, LABEL)):
        found, given = explain(model, frame, None), explain(model, frame, S)
        assert found.gap == given.gap
        np.testing.assert_array_equal(found.columns["contribution"], given.columns["contribution"])
        assert by_name(found)["group"] == pytest.approx(0.0, abs=1e-12)
        with pytest.raises(TypeError, match=r"sensitive_features is missing.*or an X with the columns of the model's"):
            explain(model, frame.drop(columns="group").to_numpy(), None)


def test_what_groups_add_is_no_part_of_a_single_column():
    model = FairKernelClassifier(kernel="linear", disparity_kept=1.0, max_decision_gap=0.1, aware=True, random_state=0)
    found = explain(model.fit(X[:, :1], LABEL, sensitive_features=S), X[:, :1])
    assert not found.exact
    assert abs(found.interaction) > 1e-3


def test_a_score_of_ones_own_is_explained():
    model = LinearRegression().fit(X, np.column_stack([Y, -Y]))
    found = explain(model, score=lambda rows: model.predict(rows)[:, 1])
    np.testing.assert_allclose(found.gap, explain(LinearRegression().fit(X, Y)).gap)
    assert found.score_name == "score"
    assert explain(None, score=interacting).score_name == "interacting"


def test_a_model_that_needs_groups_to_predict_is_explained_with_them_held():
    model = FairKernelClassifier(kernel="linear", disparity_kept=1.0, max_decision_gap=0.1, aware=True, random_state=0)
    model.fit(X, LABEL, sensitive_features=S)
    found = explain(model)
    again = explain(model, score=lambda rows: model.decision_function(rows, sensitive_features=S))
    np.testing.assert_array_equal(found.columns["contribution"], again.columns["contribution"])
    assert found.score_name == "decision_function"
    np.testing.assert_allclose(found.rows["contribution"].sum(), found.gap)
    np.testing.assert_allclose(found.columns["contribution"].sum() + found.interaction, found.gap)
    assert not found.exact
    assert found.interaction * found.columns["contribution"].sum() < 0  # the thresholds work against the columns


def test_probabilities_are_those_of_the_second_class():
    model = HistGradientBoostingClassifier(max_iter=5).fit(X, LABEL)

    class OnlyProbabilities:
        predict_proba = staticmethod(model.predict_proba)

    found = explain(OnlyProbabilities(), n_repeats=2)
    np.testing.assert_allclose(found.rows["score"], model.predict_proba(X)[:, 1])


def test_a_constant_score_has_no_gap_and_no_parts():
    found = explain(None, score=lambda rows: np.full(len(rows), 0.1))
    assert found.exact
    assert abs(found.gap) < 1e-15
    np.testing.assert_array_equal(found.columns["contribution"], np.zeros(4))


@pytest.mark.parametrize("container", [np.asarray, pd.DataFrame, pl.DataFrame])
def test_one_column_carries_all_of_the_gap(container):
    found = explain(None, container(X[:, :1]), score=lambda rows: np.asarray(rows)[:, 0] ** 2)
    assert found.exact
    np.testing.assert_allclose(found.columns["contribution"], [found.gap], atol=1e-12)


# What it refuses


@pytest.mark.parametrize(
    ("options", "error", "match"),
    [
        ({"s": None}, TypeError, r"sensitive_features is missing.*explain_gap\(model, X, sensitive_features=s\)"),
        ({"s": S[:-1]}, ValueError, "sensitive_features has 199 rows but X has 200"),
        ({"s": np.repeat("a", N)}, ValueError, "one group only"),
        ({"s": RNG.normal(size=N)}, ValueError, "is continuous and forms no groups"),
        ({"groups": ("a", "c")}, ValueError, r"groups=\('a', 'c'\) must be two different labels out of 'a', 'b'"),
        ({"s": [None, *S[1:]]}, ValueError, "missing values: .*Leave these rows out, give them a label of their own"),
        ({"groups": ("a", "a")}, ValueError, "two different labels"),
        ({"groups": "ab"}, ValueError, "groups='ab' must be two different labels"),
        ({"n_repeats": 1}, ValueError, "n_repeats must be an integer of at least 2; got 1"),
        ({"n_repeats": 2.5}, ValueError, "n_repeats must be an integer of at least 2; got 2.5"),
        ({"score": "predict"}, TypeError, "score must be a function of X"),
        ({"score": lambda X: X}, ValueError, r"returns shape \(200, 4\) for 200 rows"),
        ({"score": lambda X: np.repeat("no", len(X))}, ValueError, "returns labels such as 'no'"),
        ({"score": lambda X: np.full(len(X), np.nan)}, ValueError, "is not finite in 200 rows"),
        ({"sample_weight": -np.ones(N)}, ValueError, "Negative values"),
        ({"sample_weight": (S == "b").astype(float)}, ValueError, "every row of group 'a' has zero weight"),
        ({"X": X[:, 0]}, ValueError, r"X must be a table of shape \(n, p\); got shape \(200,\)"),
    ],
)
def test_bad_inputs_are_refused_with_what_to_do(options, error, match):
    with pytest.raises(error, match=match):
        explain(LinearRegression().fit(X, Y), **options)


def test_models_without_a_score_and_gram_matrices_are_refused():
    with pytest.raises(TypeError, match="StandardScaler and has none of decision_function, predict_proba, predict"):
        explain(StandardScaler().fit(X))
    gram = X @ X.T
    with pytest.raises(ValueError, match="X is a Gram matrix for this model"):
        explain(regressor(gram, kernel="precomputed"), gram)
    with pytest.raises(TypeError, match="dense data is required"):
        explain(LinearRegression().fit(X, Y), scipy.sparse.csr_array(X))


def test_misaligned_rows_are_refused():
    frame = pd.DataFrame(X, columns=list("uvwx"))
    with pytest.raises(ValueError, match="index of sensitive_features differs"):
        explain(regressor(frame), frame, pd.Series(S, index=frame.index[::-1]))
    with pytest.raises(ValueError, match="index of sample_weight differs"):
        explain(regressor(frame), frame, sample_weight=pd.Series(np.ones(N), index=frame.index[::-1]))


def test_it_is_a_public_name():
    assert fairkernel.explain_gap is explain_gap
