"""At least one test per row of the trust table: what the library must do with each kind of input."""

import time
import tracemalloc
import warnings

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
import scipy.sparse
from sklearn.exceptions import NotFittedError
from sklearn.utils._param_validation import InvalidParameterError

from fairkernel import FairFeatureEmbedding, FairKernelClassifier, FairKernelRegressor
from fairkernel.exceptions import (
    ContinuousSensitiveWarning,
    DecisionGapWarning,
    IndefiniteKernelWarning,
    MissingSensitiveWarning,
    RankWarning,
    SensitiveColumnWarning,
    SmallGroupWarning,
)
from fairkernel.kernels import RBF

N = 60
RNG = np.random.default_rng(0)
X = RNG.normal(size=(N, 3))
S = np.array(["a", "b"])[np.arange(N) % 2]
Y = (X[:, 0] + 0.5 * RNG.normal(size=N) > 0).astype(int)
EACH = pytest.mark.parametrize("Estimator", [FairFeatureEmbedding, FairKernelRegressor, FairKernelClassifier])


def fit(Estimator, X=X, y=Y, s=S, *, weight=None, **parameters):
    return Estimator(**{"random_state": 0, **parameters}).fit(X, y, sensitive_features=s, sample_weight=weight)


def scores(model, X):
    if hasattr(model, "decision_function"):
        return model.decision_function(X)
    return model.transform(X) if hasattr(model, "transform") else model.predict(X)


@EACH
def test_row_01_one_group_is_refused(Estimator):
    with pytest.raises(
        ValueError, match=r"sensitive_features has one group only \('a'\): a disparity needs at least two groups"
    ):
        fit(Estimator, s=["a"] * N)


def with_gaps(gap):
    """Labels of S with a gap in rows 3 and 8."""
    return [gap if i in (3, 8) else label for i, label in enumerate(S.tolist())]


MISSING = {
    "nan in a list": lambda: with_gaps(np.nan),
    "None in a list": lambda: with_gaps(None),
    "nan in an object array": lambda: np.array(with_gaps(np.nan), dtype=object),
    "None in an object array": lambda: np.array(with_gaps(None), dtype=object),
    "the text np.array makes of nan": lambda: np.array(with_gaps(np.nan)),
    "nan in a float array": lambda: np.where(np.isin(np.arange(N), (3, 8)), np.nan, np.arange(N) % 2),
    "float32 nan": lambda: np.where(np.isin(np.arange(N), (3, 8)), np.nan, np.arange(N) % 2).astype(np.float32),
    "NaT in a list": lambda: with_gaps(pd.NaT),
    "datetime64 NaT in a list": lambda: with_gaps(np.datetime64("NaT")),
    "pandas.NA in a list": lambda: with_gaps(pd.NA),
    "pandas text": lambda: pd.Series(with_gaps(None)),
    "pandas object": lambda: pd.Series(with_gaps(np.nan), dtype=object),
    "pandas string": lambda: pd.Series(with_gaps(pd.NA), dtype="string"),
    "pandas category": lambda: pd.Series(with_gaps(None), dtype="category"),
    "bare pandas category": lambda: pd.Categorical(with_gaps(None)),
    "pandas nullable integer": lambda: pd.Series(
        [{"a": 0, "b": 1}.get(v, pd.NA) for v in with_gaps(None)], dtype="Int64"
    ),
    "pandas nullable boolean": lambda: pd.Series(
        [{"a": False, "b": True}.get(v, pd.NA) for v in with_gaps(None)], dtype="boolean"
    ),
    "pandas frame": lambda: pd.DataFrame({"sex": with_gaps(None)}),
    "polars text": lambda: pl.Series(with_gaps(None)),
    "polars number": lambda: pl.Series([{"a": 0, "b": 1}.get(v) for v in with_gaps(None)]),
    "polars nan": lambda: pl.Series([{"a": 0.0, "b": 1.0}.get(v, float("nan")) for v in with_gaps(None)]),
    "polars frame": lambda: pl.DataFrame({"sex": with_gaps(None)}),
    "pyarrow array": lambda: pa.array(with_gaps(None)),
    "pyarrow chunks": lambda: pa.chunked_array([with_gaps(None)[:5], with_gaps(None)[5:]]),
    "pyarrow table": lambda: pa.table({"sex": with_gaps(None)}),
    "pyarrow dictionary": lambda: pa.array(with_gaps(None)).dictionary_encode(),
    "masked text": lambda: np.ma.array(S, mask=np.isin(np.arange(N), (3, 8))),
    "masked number": lambda: np.ma.array(np.arange(N) % 2, mask=np.isin(np.arange(N), (3, 8))),
    "empty text": lambda: with_gaps(""),
}


@pytest.mark.filterwarnings("ignore::fairkernel.exceptions.SmallGroupWarning")  # two rows are missing
@pytest.mark.parametrize("kind", MISSING)
def test_row_02_missing_sensitive_values_are_an_error_or_a_group(kind):
    sentence = (
        r"sensitive_features has missing values: '\w+': 2 missing \(first rows 3, 8\)\. "
        "Leave these rows out, or keep them as a group of their own with missing_sensitive='group'"
    )
    with pytest.raises(ValueError, match=sentence):
        fit(FairKernelRegressor, s=MISSING[kind]())
    kept = fit(FairKernelRegressor, s=MISSING[kind](), missing_sensitive="group")
    assert len(kept.groups_) == 3
    assert kept.groups_[-1] == "missing"
    means = [kept.predict(X)[rows].mean() for rows in ([3, 8], np.setdiff1d(np.flatnonzero(S == "a"), 8))]
    assert means[0] == pytest.approx(means[1], abs=1e-9)
    with pytest.warns(MissingSensitiveWarning, match="sensitive_features is missing in 2 of 60 rows: they count for"):
        ignored = fit(FairKernelRegressor, s=MISSING[kind](), missing_sensitive="ignore")
    assert len(ignored.groups_) == 2
    means = [ignored.predict(X)[np.setdiff1d(np.flatnonzero(S == g), (3, 8))].mean() for g in "ab"]
    assert means[0] == pytest.approx(means[1], abs=1e-9)


def aware_regressor(**options):
    return fit(FairKernelRegressor, aware=True, distribution_parity=1.0, **options)


def aware_classifier(**options):
    return fit(FairKernelClassifier, aware=True, max_decision_gap=0.4, **options)


AWARE = pytest.mark.parametrize("aware", [aware_regressor, aware_classifier])


@AWARE
@pytest.mark.parametrize(("s", "listed"), [(np.where(np.arange(N) < 2, "c", S), "'c'"), (["A", "a"] * 30, "'A'")])
def test_row_03_a_group_that_fit_did_not_see_is_listed(aware, s, listed):
    with pytest.raises(ValueError, match=f"groups that fit did not see: {listed}; it saw 'a', 'b'"):
        aware().predict(X, sensitive_features=s)


@AWARE
def test_row_03_numbers_that_became_text_are_listed(aware):
    model = aware(s=np.arange(N) % 2)
    with pytest.raises(ValueError, match=r"did not see: '0', '1'; it saw 0, 1\. Labels match in type too"):
        model.predict(X, sensitive_features=(np.arange(N) % 2).astype(str))


@AWARE
def test_row_03_one_group_alone_is_predicted_as_among_others(aware):
    model = aware()
    alone = model.predict(X[S == "b"], sensitive_features=["b"] * 30)
    np.testing.assert_allclose(alone, model.predict(X, sensitive_features=S)[S == "b"], atol=1e-12)


@AWARE
def test_row_02_and_07_groups_of_new_rows_are_never_guessed(aware):
    with pytest.raises(TypeError, match="with aware=True needs sensitive_features: one value per row"):
        aware().predict(X)
    with pytest.raises(ValueError, match=r"sensitive_features has missing values: .*2 missing \(first rows 3, 8\)"):
        aware().predict(X, sensitive_features=with_gaps(None))


@EACH
def test_row_04_a_tiny_group_is_said_and_one_row_is_refused(Estimator):
    with pytest.raises(
        ValueError,
        match=r"group 'rare' has 1 row; at least 2 are needed.*Merge it with another group or leave the row out",
    ):
        fit(Estimator, s=np.where(np.arange(N) < 1, "rare", "many"))
    with pytest.warns(SmallGroupWarning, match="group 'rare' has 3 rows, fewer than the 5 components used"):
        fit(Estimator, s=np.where(np.arange(N) < 3, "rare", "many"), n_components=5)


@pytest.mark.parametrize("aware", [False, True])
def test_row_04_a_tiny_group_has_a_decision_rule_with_a_wide_interval(aware):
    s = np.where(np.arange(N) < 4, "rare", "many")
    with pytest.warns(DecisionGapWarning, match="below the sampling floor"):
        model = fit(FairKernelClassifier, s=s, max_decision_gap=0.1, aware=aware)
    gap = model.decision_gap_["out_of_fold"]
    assert gap.high - gap.low > 0.3


@EACH
def test_row_05_many_numbers_are_continuous_and_identifiers_are_refused(Estimator):
    with pytest.warns(
        ContinuousSensitiveWarning,
        match=r"numeric with \d+ distinct values and is treated as continuous\. Bin it, or pass strings",
    ):
        fit(Estimator, s=RNG.integers(18, 80, N))
    with pytest.raises(
        ValueError,
        match=r"60 distinct values in 60 rows and looks like an identifier.*Pass the column that holds the group",
    ):
        fit(Estimator, s=[f"id-{i}" for i in range(N)])


@EACH
def test_row_06_lengths_that_differ_are_refused(Estimator):
    with pytest.raises(ValueError, match="sensitive_features has 59 rows but X has 60: pass one value per row of X"):
        fit(Estimator, s=S[:-1])


@EACH
def test_row_06_a_misaligned_pandas_index_is_refused(Estimator):
    frame, s = pd.DataFrame(X, columns=list("uvw")), pd.Series(S)
    with pytest.raises(
        ValueError, match=r"index of sensitive_features differs from the index of X.*\.loc\[X\.index\].*to_numpy\(\)"
    ):
        fit(Estimator, frame, s=s[::-1])
    fit(Estimator, frame, s=s)


def test_row_06_a_misaligned_index_of_y_is_refused():
    frame, y = pd.DataFrame(X, columns=list("uvw")), pd.Series(Y)
    with pytest.raises(ValueError, match=r"index of y differs from the index of X"):
        fit(FairKernelRegressor, frame, y[::-1], pd.Series(S))


def test_row_06_y_and_the_attributes_must_agree_when_X_has_no_index():
    with pytest.raises(ValueError, match="index"):
        fit(FairKernelRegressor, X, pd.Series(Y)[::-1], pd.Series(S))


def test_row_06_a_misaligned_index_of_the_weights_is_refused():
    frame = pd.DataFrame(X, columns=list("uvw"))
    with pytest.raises(ValueError, match="index of sample_weight differs"):
        fit(FairKernelRegressor, frame, weight=pd.Series(np.arange(1.0, N + 1))[::-1])


@EACH
def test_row_07_forgotten_sensitive_features_are_a_type_error_in_our_own_words(Estimator):
    with pytest.raises(
        TypeError,
        match=rf"{Estimator.__name__}\.fit\(\) needs sensitive_features: one value per row.*sensitive_feature_ids",
    ):
        Estimator().fit(X, Y)


@EACH
@pytest.mark.parametrize("ids", [None, [0]])
def test_row_08_sparse_rows_are_a_clear_type_error(Estimator, ids):
    rows = scipy.sparse.csr_array(X)
    with pytest.raises(TypeError, match=r"[Ss]parse.*toarray\(\)"):
        Estimator(sensitive_feature_ids=ids).fit(rows, Y, **({} if ids else {"sensitive_features": S}))


@EACH
@pytest.mark.parametrize("frame", [pd.DataFrame, pl.DataFrame, pa.table])
def test_row_09_text_in_a_frame_names_the_column_and_the_way_out(Estimator, frame):
    rows = frame({"income": X[:, 0], "colour": ["red", "blue"] * 30})
    with pytest.raises(
        ValueError, match=r"X has columns that are not numbers: 'colour'; encode them first.*OneHotEncoder"
    ):
        fit(Estimator, rows)


@EACH
def test_row_09_text_in_an_array_names_the_cell_and_the_way_out(Estimator):
    rows = X.astype(object)
    rows[4, 1] = "red"
    with pytest.raises(ValueError, match=r"column 1 holds 'red' in row 4; encode (text|it) first.*OneHotEncoder"):
        fit(Estimator, rows)


@pytest.mark.parametrize("cell", [{}, [1, 2], object()], ids=["dict", "list", "object"])
def test_row_09_objects_name_the_column(cell):
    # scikit-learn's checks ask for a TypeError here; the sentence has to name the column all the same.
    rows = X.astype(object)
    rows[4, 1] = cell
    with pytest.raises((TypeError, ValueError), match="column 1"):
        fit(FairKernelRegressor, rows)
    frame = pd.DataFrame({"u": X[:, 0], "odd": pd.Series([cell] * N, dtype=object)})
    with pytest.raises((TypeError, ValueError), match="'odd'"):
        fit(FairKernelRegressor, frame)


@EACH
@pytest.mark.parametrize(("cell", "kind"), [(np.nan, "NaN"), (np.inf, "infinity")])
def test_row_10_cells_that_are_not_finite_are_named(Estimator, cell, kind):
    rows = X.copy()
    rows[5, 2] = cell
    with pytest.raises(ValueError, match=rf"X contains {kind}: column 2, row 5 \(1 such cells? in all\)\. Impute"):
        fit(Estimator, rows)
    with pytest.raises(ValueError, match=rf"X contains {kind}: column 'w', row 5"):
        fit(Estimator, pd.DataFrame(rows, columns=list("uvw")))
    model = fit(Estimator)
    with pytest.raises(ValueError, match=rf"X contains {kind}: column 2, row 5"):
        scores(model, rows)


@pytest.mark.parametrize("Estimator", [FairKernelRegressor, FairKernelClassifier])
def test_row_11_nan_in_y_is_refused(Estimator):
    y = Y.astype(float)
    y[3] = np.nan
    with pytest.raises(ValueError, match="Input y contains NaN"):
        fit(Estimator, y=y)


@pytest.mark.parametrize("gap", [np.nan, None, pd.NA, pd.NaT], ids=["nan", "None", "NA", "NaT"])
def test_row_11_a_gap_among_labels_is_said_to_be_one(gap):
    y = np.array(["no", "yes"], dtype=object)[Y]
    y[3] = gap
    with pytest.raises(ValueError, match=r"y .*(NaN|missing|None)"):
        fit(FairKernelClassifier, y=y)


@pytest.mark.parametrize("label", [1.0, 1, "yes"])
def test_row_11_one_class_is_refused_as_it_was_written(label):
    with pytest.raises(ValueError, match=rf"y has one class only \({label!r}\): a classifier needs at least two"):
        fit(FairKernelClassifier, y=np.full(N, label))


def test_row_11_any_two_labels_are_accepted():
    decided = fit(FairKernelClassifier).predict(X)
    for labels in ([-1, 1], ["no", "yes"], [False, True], [10.0, 20.0]):
        np.testing.assert_array_equal(
            fit(FairKernelClassifier, y=np.array(labels)[Y]).predict(X), np.array(labels)[decided]
        )


def test_row_11_three_classes_are_one_score_each():
    model = fit(FairKernelClassifier, y=np.array(["p", "q", "r"])[np.arange(N) % 3])
    assert model.classes_.tolist() == ["p", "q", "r"]
    assert model.decision_function(X).shape == (N, 3)


@pytest.mark.parametrize("labels", [["no", "yes"], [-1, 1], [2.0, 5.0]])
def test_row_11_decisions_take_any_two_labels_and_refuse_three(labels):
    numbered, named = (
        fit(FairKernelClassifier, y=y, max_decision_gap=0.3) for y in (Y, np.array(labels)[Y])
    )  # fmt: skip
    np.testing.assert_array_equal(named.predict(X), np.array(labels)[numbered.predict(X)])
    with pytest.raises(ValueError, match="bounds the gap of yes-or-no decisions, but y has 3 classes"):
        fit(FairKernelClassifier, y=np.arange(N) % 3, max_decision_gap=0.3)


def test_row_11_numbers_are_no_classes_and_text_is_no_number():
    with pytest.raises(ValueError, match=r"continuous.*classifier"):
        fit(FairKernelClassifier, y=X[:, 0])
    with pytest.raises(ValueError, match=r"\by\b.*(numbers|numeric|string)|could not convert.*\by\b"):
        fit(FairKernelRegressor, y=S)


@EACH
@pytest.mark.parametrize("criterion", ["opportunity", "odds"])
def test_row_12_a_class_missing_inside_a_group_is_named(Estimator, criterion):
    y = np.where(S == "b", 0, Y)
    if Estimator is FairKernelRegressor:
        y = np.where(S == "b", 0.0, np.linspace(1, 2, N))
    with pytest.raises(ValueError, match=rf"criterion='{criterion}': group '[ab]' has no rows with y .*Merge groups"):
        fit(Estimator, y=y, criterion=criterion)


@pytest.mark.parametrize("criterion", ["opportunity", "odds"])
def test_row_12_nor_has_a_class_missing_inside_a_group_a_decision_rule(criterion):
    with pytest.raises(ValueError, match=rf"criterion='{criterion}': group 'b' has no rows with y .*Merge groups"):
        fit(FairKernelClassifier, y=np.where(S == "b", 0, Y), criterion=criterion, max_decision_gap=0.3)


@EACH
def test_row_13_a_constant_column_changes_nothing(Estimator):
    plain, wide = (fit(Estimator, rows, gamma=0.5) for rows in (X, np.column_stack([X, np.full(N, 7.0)])))
    assert wide.rank_ == plain.rank_
    np.testing.assert_allclose(scores(wide, np.column_stack([X, np.full(N, 7.0)])), scores(plain, X), atol=1e-6)


@pytest.mark.parametrize("Estimator", [FairKernelRegressor, FairKernelClassifier])
@pytest.mark.parametrize("value", [0.0, 3.0])
@pytest.mark.parametrize("kernel", ["linear", "poly", "rbf", "laplacian", "sigmoid"])
@pytest.mark.parametrize("n_moments", [1, 2])
def test_row_13_when_every_row_is_the_same_the_mean_is_predicted(Estimator, value, kernel, n_moments):
    model = fit(Estimator, np.full((N, 3), value), kernel=kernel, n_moments=n_moments)
    assert model.rank_ == 0
    shift = 0.5 if Estimator is FairKernelClassifier else 0.0
    np.testing.assert_allclose(scores(model, X[:0:-1] * 0 + value) + shift, Y.mean(), atol=1e-12)


@pytest.mark.parametrize("value", [0.0, 3.0])
@pytest.mark.parametrize("kernel", ["linear", "rbf"])
def test_row_13_when_every_row_is_the_same_the_embedding_says_rank_zero(value, kernel):
    with pytest.warns(RankWarning, match="rank 0"):
        model = fit(FairFeatureEmbedding, np.full((N, 3), value), kernel=kernel, n_components=2)
    assert model.rank_ == 0
    assert model.transform(X).shape == (N, 0)


@EACH
@pytest.mark.parametrize(
    ("rows", "named"),
    [
        (np.column_stack([X, S == "b"]), "3"),
        (pd.DataFrame(X, columns=list("uvw")).assign(sex=2.0 * (S == "b") - 1), "'sex'"),
        (pl.DataFrame({"u": X[:, 0], "sex": S == "b"}), "'sex'"),
        (pa.table({"u": X[:, 0], "sex": (S == "b").astype(float)}), "'sex'"),
        (np.column_stack([X, S == "b"]).astype(np.float32), "3"),
    ],
    ids=["array", "pandas", "polars", "pyarrow", "float32"],
)
def test_row_14_the_attribute_among_the_columns_is_allowed_and_said(Estimator, rows, named):
    with pytest.warns(
        SensitiveColumnWarning, match=rf"^X column {named} restates the sensitive attribute: .*depend on it.*Drop it"
    ) as caught:
        model = fit(Estimator, rows)
    assert len(caught) == 1
    assert model.n_features_in_ == rows.shape[1]


@EACH
def test_row_14_also_for_three_groups_and_for_a_number(Estimator):
    three, age = np.arange(N) % 3, RNG.uniform(18, 80, N)
    with pytest.warns(SensitiveColumnWarning, match="^X column 1 restates"):
        fit(Estimator, np.column_stack([X[:, 0], 10 - 4.0 * three]), s=np.array(["x", "y", "z"])[three])
    with pytest.warns(SensitiveColumnWarning, match="^X column 0 restates"), pytest.warns(ContinuousSensitiveWarning):
        fit(Estimator, np.column_stack([age / 10, X]), s=age)


@EACH
def test_row_14_no_warning_without_a_reason(Estimator):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        fit(Estimator, np.column_stack([X, np.ones(N), (S == "b") + 0.1 * X[:, 0]]))


@EACH
@pytest.mark.parametrize("features", ["landmarks", "exact"])
def test_row_15_duplicate_rows_work_and_the_rank_is_reported(Estimator, features):
    rows, s = np.repeat(X[:6], 10, axis=0), S  # each of six rows in both groups
    model = fit(Estimator, rows, s=s, features=features)
    assert model.rank_ == 5  # six distinct rows less their mean; the groups have none to tell them apart
    assert np.isfinite(scores(model, X)).all()


@EACH
@pytest.mark.parametrize("k", [30, 500])
def test_row_16_too_many_components_are_clipped_with_the_rank(Estimator, k):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", SmallGroupWarning)
        with pytest.warns(
            RankWarning, match=rf"n_components={k} is more than the rank 2 that the data supports; using 2"
        ):
            model = fit(Estimator, kernel="linear", n_components=k)
    assert model.rank_ == 2


def test_row_16_one_mistake_is_one_warning():
    with pytest.warns(RankWarning) as caught:
        fit(FairKernelRegressor, kernel="linear", n_components=500)
    assert [warning.category for warning in caught] == [RankWarning]


@EACH
def test_row_17_an_indefinite_kernel_is_clipped_with_the_share(Estimator):
    with pytest.warns(
        IndefiniteKernelWarning,
        match=r"indefinite on these rows: \d+\.\d% of its absolute spectrum is negative and was clipped",
    ):
        model = fit(Estimator, kernel="sigmoid")
    assert np.isfinite(scores(model, X)).all()
    bad = X @ X.T
    bad -= 3.0 * np.outer(X[:, 0], X[:, 0])
    with pytest.warns(IndefiniteKernelWarning, match="absolute spectrum is negative"):
        fit(Estimator, bad, kernel="precomputed")


def test_row_17_a_gram_matrix_with_nothing_positive_is_refused():
    with pytest.raises(ValueError, match="no positive eigenvalue"):
        fit(FairKernelRegressor, -(X @ X.T), kernel="precomputed")


def test_row_17_a_fractional_degree_of_a_negative_number_is_explained():
    with pytest.raises(ValueError, match=r"(?i)degree=2.5.*(nan|not finite|negative)"):
        fit(FairKernelRegressor, kernel="poly", degree=2.5)


@EACH
def test_row_18_too_many_rows_for_n_by_n_are_refused_before_allocating(Estimator):
    n = 100_000
    rows, s = np.zeros((n, 1)), np.arange(n) % 2
    rows[:, 0] = np.arange(n)
    tracemalloc.start()
    start = time.perf_counter()
    with pytest.raises(ValueError, match=r"n = 100000 rows.*74\.5 GiB.*use features='landmarks'"):
        fit(Estimator, rows, s, s, features="exact")
    elapsed, peak = time.perf_counter() - start, tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 50e6
    assert elapsed < 2.0


@EACH
@pytest.mark.parametrize("scale", [1e60, 1e200, 1e300])
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_row_19_overflow_says_scale_the_columns(Estimator, scale, dtype):
    rows = (X * min(scale, 1e30 if dtype is np.float32 else scale)).astype(dtype)
    with pytest.raises(ValueError, match=r"overflows on these rows.*scale the columns of X.*StandardScaler"):
        fit(Estimator, rows, kernel="poly", degree=6)


@pytest.mark.parametrize("kernel", ["rbf", "sigmoid", "linear", "laplacian"])
@pytest.mark.parametrize("features", ["landmarks", "exact", "fourier"])
def test_row_19_no_kernel_turns_huge_columns_into_nan(kernel, features):
    if features == "fourier" and kernel in ("sigmoid", "linear"):
        pytest.skip("refused for another reason")
    try:
        model = fit(FairKernelRegressor, X * 1e200, kernel=kernel, features=features, n_features=50)
    except ValueError as error:
        assert "scale the columns" in str(error)  # noqa: PT017 (either is right: refuse, or predict numbers)
    else:
        assert np.isfinite(model.predict(X * 1e200)).all()


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_row_19_degree_six_on_columns_in_the_millions_is_exact_or_refused(dtype):
    rows = (X * 1e6).astype(dtype)
    try:
        model = fit(FairKernelRegressor, rows, kernel="poly", degree=6, coef0=0.0, alpha=1e72)
    except ValueError as error:
        assert "scale the columns" in str(error)  # noqa: PT017
    else:
        # (c x·z)⁶ = c⁶ (x·z)⁶: the same problem with the penalty scaled alike.
        small = fit(FairKernelRegressor, kernel="poly", degree=6, coef0=0.0, alpha=1.0)
        np.testing.assert_allclose(model.predict(rows), small.predict(X), atol=1e-6)


def test_row_19_new_rows_that_overflow_are_refused_not_scored_nan():
    model = fit(FairKernelRegressor, kernel="poly", degree=6)
    with pytest.raises(ValueError, match="scale"):
        model.predict(X * 1e200)


@EACH
def test_row_20_a_gram_matrix_must_be_square_and_symmetric(Estimator):
    gram = RBF(0.5)(X, X)
    with pytest.raises(
        ValueError, match=r"kernel='precomputed' needs a square Gram matrix at fit.*got (shape )?\(60, 40\)"
    ):
        fit(Estimator, gram[:, :40], kernel="precomputed")
    with pytest.raises(ValueError, match=r"square Gram matrix.*got (shape )?\(60, 120\)"):
        fit(Estimator, np.hstack([gram, gram]), kernel="precomputed")
    gram[3, 4] += 0.5
    with pytest.raises(ValueError, match=r"Gram matrix is not symmetric \(largest difference 0.5\)"):
        fit(Estimator, gram, kernel="precomputed")


def test_row_20_rows_of_zero_weight_do_not_excuse_a_gram_matrix_that_is_not_square():
    gram, weight = RBF(0.5)(X, X), np.r_[np.ones(50), np.zeros(10)]
    for wrong in (gram[:, :55], np.hstack([gram, gram])):
        with pytest.raises(ValueError, match=rf"square Gram matrix.*\(60, {wrong.shape[1]}\)"):
            fit(FairKernelRegressor, wrong, kernel="precomputed", weight=weight)


@EACH
def test_row_20_new_rows_of_the_wrong_width_are_refused(Estimator):
    gram = RBF(0.5)(X, X)
    model = fit(Estimator, gram, kernel="precomputed")
    with pytest.raises(ValueError, match=r"40 features, but .* is expecting 60"):
        scores(model, gram[:, :40])


@EACH
@pytest.mark.parametrize("frame", [pd.DataFrame, pl.DataFrame, pa.table])
def test_row_21_columns_in_another_order_or_with_other_names_are_refused(Estimator, frame):
    u, v, w = X.T
    model = fit(Estimator, frame({"u": u, "v": v, "w": w}))
    with pytest.raises(ValueError, match="same order as they were in fit"):
        scores(model, frame({"v": v, "u": u, "w": w}))
    with pytest.raises(ValueError, match="unseen at fit time:\n- z"):
        scores(model, frame({"u": u, "v": v, "z": w}))
    with pytest.raises(ValueError, match="now missing:\n- w"):
        scores(model, frame({"u": u, "v": v}))


@EACH
@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("n_components", 0),
        ("n_components", 1.5),
        ("n_components", "all"),
        ("kernel", "gauss"),
        ("kernel", None),
        ("gamma", 0.0),
        ("gamma", -1.0),
        ("gamma", "scale"),
        ("degree", -1),
        ("coef0", np.nan),
        ("coef0", np.inf),
        ("kernel_params", [1]),
        ("objective", "mean"),
        ("criterion", "equality"),
        ("features", "nystroem"),
        ("n_features", 0),
        ("n_features", "all"),
        ("n_moments", 3),
        ("rank_tolerance", 0.0),
        ("missing_sensitive", "drop"),
        ("random_state", "seed"),
    ],
)
def test_row_22_parameters_out_of_range_are_refused_at_fit(Estimator, name, value):
    model = Estimator(**{name: value})  # no complaint yet
    with pytest.raises(InvalidParameterError, match=f"The '{name}' parameter of {Estimator.__name__} must be"):
        model.fit(X, Y, sensitive_features=S)


@pytest.mark.parametrize("Estimator", [FairKernelRegressor, FairKernelClassifier])
@pytest.mark.parametrize(
    ("name", "value"), [("alpha", -1.0), ("alpha", np.nan), ("disparity_kept", 1.1), ("disparity_kept", -0.1)]
)
def test_row_22_ridge_parameters_out_of_range_are_refused_at_fit(Estimator, name, value):
    with pytest.raises(InvalidParameterError, match=f"The '{name}' parameter"):
        fit(Estimator, **{name: value})


@pytest.mark.parametrize(
    ("parameters", "sentence"),
    [
        ({"kernel_params": {"power": 2}}, r"kernel_params=\{'power': 2\} goes with a callable kernel only"),
        ({"features": "fourier", "kernel": "poly"}, "features='fourier' needs a kernel.*use features='landmarks'"),
        ({"objective": "printed", "n_moments": 2}, "n_moments=2 .*objective='discrepancy'"),
        ({"objective": "printed", "disparity_kept": 0.5}, "disparity_kept=0.5 has no meaning with objective='printed'"),
    ],
)
def test_row_22_parameters_that_contradict_each_other_are_refused(parameters, sentence):
    with pytest.raises(ValueError, match=sentence):
        fit(FairKernelRegressor, **parameters)


@EACH
def test_row_23_several_columns_with_empty_cells_are_listed_with_counts(Estimator):
    frame = pd.DataFrame({"sex": S, "race": ["p", "q"] * 30, "age": np.arange(N) % 4.0})
    frame.loc[[2, 5], "sex"] = None
    frame.loc[10:16, "age"] = np.nan
    sentence = r"'sex': 2 missing \(first rows 2, 5\); 'age': 7 missing \(first rows 10, 11, 12, 13, 14\)"
    with pytest.raises(ValueError, match=sentence):
        fit(Estimator, s=frame)


@EACH
def test_row_23_a_row_with_an_empty_cell_in_any_column_can_be_left_out_of_the_constraint(Estimator):
    frame = pd.DataFrame({"sex": S, "urban": np.arange(N) % 4 < 2})
    frame.loc[[2, 5], "sex"] = None
    frame["urban"] = frame["urban"].astype(object).where(np.arange(N) >= 3, None)
    with pytest.warns(MissingSensitiveWarning, match="sensitive_features is missing in 4 of 60 rows") as caught:
        model = fit(Estimator, s=frame, missing_sensitive="ignore")
    assert len(caught) == 1
    assert len(model.groups_) == 4


def test_row_23_decisions_compare_every_pair_of_intersections():
    frame = pd.DataFrame({"sex": S, "urban": np.arange(N) % 4 < 2})
    model = fit(FairKernelClassifier, s=frame, max_decision_gap=0.4)
    decided, groups = model.predict(X), frame["sex"] + frame["urban"].astype(str)
    rates = pd.Series(decided).groupby(groups).mean()
    assert model.decision_gap_["training"].estimate == pytest.approx(rates.max() - rates.min())
    assert model.decision_gap_["out_of_fold"].estimate <= 0.4 + 1e-12


@EACH
@pytest.mark.parametrize("features", ["landmarks", "exact", "fourier"])
def test_row_24_a_weight_of_zero_is_the_row_absent(Estimator, features):
    absent = np.arange(N) % 7 == 0
    options = {"features": features, "n_features": 30, "n_components": 4}
    zero = fit(Estimator, weight=(~absent).astype(float), **options)
    gone = fit(Estimator, X[~absent], Y[~absent], S[~absent], **options)
    np.testing.assert_array_equal(scores(zero, X), scores(gone, X))
    assert zero.rank_ == gone.rank_
    if features != "fourier":
        assert not absent[zero.landmark_indices_].any()


def test_row_24_an_absent_row_takes_its_outlier_its_label_and_its_group_ratio_along():
    rows, y = X.copy(), Y.astype(float)
    rows[0], y[0] = 1e9, -1e9
    zero = fit(FairKernelRegressor, rows, y, weight=np.r_[0.0, np.ones(N - 1)])
    np.testing.assert_array_equal(
        zero.predict(X), fit(FairKernelRegressor, X[1:], Y[1:].astype(float), S[1:]).predict(X)
    )


@pytest.mark.parametrize("Estimator", [FairKernelRegressor, FairFeatureEmbedding])
def test_row_24_an_absent_row_of_a_gram_matrix_is_absent(Estimator):
    weight = np.r_[0.0, np.ones(N - 2), 0.0]
    gram, kept = RBF(0.5)(X, X), slice(1, N - 1)
    zero = fit(Estimator, gram, kernel="precomputed", weight=weight)
    gone = fit(Estimator, gram[kept, kept], Y[kept], S[kept], kernel="precomputed")
    np.testing.assert_allclose(scores(zero, gram), scores(gone, gram[:, kept]), atol=1e-9)


@pytest.mark.parametrize("aware", [False, True])
def test_row_24_an_absent_row_has_no_say_in_decisions(aware):
    absent = np.arange(N) % 7 == 0
    options = {"max_decision_gap": 0.3, "aware": aware}
    zero = fit(FairKernelClassifier, weight=(~absent).astype(float), **options)
    gone = fit(FairKernelClassifier, X[~absent], Y[~absent], S[~absent], **options)
    known = {"sensitive_features": S} if aware else {}
    np.testing.assert_array_equal(zero.decision_function(X, **known), gone.decision_function(X, **known))


@EACH
def test_row_24_negative_weights_are_refused(Estimator):
    with pytest.raises(ValueError, match=r"[Nn]egative.*sample_weight"):
        fit(Estimator, weight=np.r_[-1.0, np.ones(N - 1)])


@EACH
def test_row_24_weights_that_leave_too_little_are_refused(Estimator):
    with pytest.raises(ValueError, match=r"(?i)sample.weight.*(zero|non-zero)"):
        fit(Estimator, weight=np.zeros(N))
    with pytest.raises(ValueError, match="every row of group 'b' has zero weight; leave it out of the data"):
        fit(Estimator, weight=(S == "a").astype(float))
    with pytest.raises(ValueError, match="group 'b' has 1 row"):
        fit(Estimator, weight=((S == "a") | (np.arange(N) == 1)).astype(float))


@EACH
def test_row_25_too_few_rows_and_wrong_shapes_have_scikit_learns_messages(Estimator):
    with pytest.raises(ValueError, match=r"Found array with 0 sample\(s\)"):
        fit(Estimator, X[:0], Y[:0], S[:0])
    with pytest.raises(ValueError, match=r"Found array with 1 sample\(s\)|1 sample"):
        fit(Estimator, X[:1], Y[:1], S[:1])
    with pytest.raises(ValueError, match="Expected 2D array, got 1D array instead"):
        fit(Estimator, X[:, 0])
    with pytest.raises(ValueError, match="Found array with dim 3"):
        fit(Estimator, X[:, :, None])
    with pytest.raises(ValueError, match=r"0 feature\(s\)"):
        fit(Estimator, X[:, :0])


@EACH
def test_row_25_what_is_not_fitted_says_so(Estimator):
    with pytest.raises(NotFittedError, match=f"This {Estimator.__name__} instance is not fitted yet"):
        scores(Estimator(), X)
