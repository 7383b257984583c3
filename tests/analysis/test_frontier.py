"""The frontier: every figure equals refitting from scratch, and what it hands back is what it measured."""

import warnings

import numpy as np
import pytest
from sklearn.dummy import DummyClassifier
from sklearn.linear_model import LinearRegression, LogisticRegression
from sklearn.metrics import r2_score
from sklearn.model_selection import KFold

from fairkernel import FairKernelClassifier, FairKernelRegressor, frontier
from fairkernel.baselines import MeanMatchedRidge
from fairkernel.datasets import make_two_groups
from fairkernel.exceptions import DecisionGapWarning
from fairkernel.kernels import Exponential, Linear
from fairkernel.metrics import error_rate, interval, mean_disparity, parity_noise_floor, statistical_disparity

DATA = make_two_groups(300, random_state=0)
X, Y, S = DATA.data, DATA.target, DATA.sensitive_features
CV = KFold(3, shuffle=True, random_state=0)
RNG = np.random.default_rng(0)
Z = X @ RNG.normal(size=X.shape[1]) + RNG.normal(size=len(X))  # a number to predict


def exact_classifier(**options):
    return FairKernelClassifier(kernel="rbf", gamma=0.1, features="exact", random_state=0, **options)


def out_of_fold(model, target, method):
    found = np.empty(len(X))
    for train, test in CV.split(X):
        model.fit(X[train], target[train], sensitive_features=S[train])
        found[test] = getattr(model, method)(X[test])
    return found


@pytest.fixture(scope="module")
def found():
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DecisionGapWarning)
        return frontier(exact_classifier(), X, Y, sensitive_features=S)


def test_twenty_random_settings_equal_refitting_from_scratch():
    alphas, levels = np.logspace(-1, 1.5, 30), np.linspace(0, 1, 100)
    many = frontier(
        exact_classifier(), X, Y, sensitive_features=S, cv=CV, alphas=alphas, disparity_kept=levels, max_decision_gap=[]
    )
    assert len(many) == 30 * 100 + 1
    for row in RNG.choice(3000, 20, replace=False):
        setting = {name: many.table[name][row] for name in ("alpha", "disparity_kept")}
        scores = out_of_fold(exact_classifier(**setting), Y, "decision_function")
        decided = (scores >= 0).astype(int)
        assert many.table["error"][row] == pytest.approx(error_rate(Y, decided), abs=1e-6)
        assert many.table["disparity"][row] == pytest.approx(
            statistical_disparity(Y, decided, sensitive_features=S), abs=1e-6
        )
        assert many.table["positive_rate"][row] == pytest.approx(decided.mean(), abs=1e-6)


@pytest.mark.parametrize("criterion", ["parity", "opportunity", "odds"])
@pytest.mark.parametrize("aware", [False, True])
def test_a_refitted_setting_measures_out_of_fold_what_the_table_says(aware, criterion):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DecisionGapWarning)
        model = FairKernelClassifier(
            kernel=Exponential(0.3), n_features=40, aware=aware, criterion=criterion, random_state=0
        )
        grid = {"alphas": [0.3, 3.0], "thresholds": [0.4, 0.5], "max_decision_gap": [None, 0.03, 0.1]}
        many = frontier(model, X, Y, sensitive_features=S, **grid)
        assert len(many) == 2 * 2 * (11 + 2) + 1
        for row in np.flatnonzero(np.isfinite(many.table["max_decision_gap"])):
            refitted = many.refit(int(row))
            held_out = refitted.decision_gap_["out_of_fold"]
            assert refitted.threshold == many.table["threshold"][row]
            assert many.table["disparity"][row] == pytest.approx(held_out.estimate, abs=1e-9)
            assert many.table["disparity_low"][row] == pytest.approx(held_out.low, abs=1e-9)
            assert many.table["disparity_high"][row] == pytest.approx(held_out.high, abs=1e-9)


def test_figures_and_bounds_are_those_of_the_metrics(found):
    scores = None
    row = int(np.flatnonzero(np.isnan(found.table["max_decision_gap"]) & np.isfinite(found.table["alpha"]))[0])
    table = {name: column[row] for name, column in found.table.items()}
    from fairkernel.estimators.out_of_fold import out_of_fold_scores

    scores = out_of_fold_scores(exact_classifier(), X, Y, sensitive_features=S, alphas=[table["alpha"]])
    decided = (scores.at(table["disparity_kept"])[:, 0, 0, 0] >= 0.5).astype(int)
    error = interval("error_rate", Y, decided)
    gap = interval("statistical_disparity", Y, decided, sensitive_features=S)
    assert (table["error"], table["error_low"], table["error_high"]) == pytest.approx(error[:3], abs=1e-9)
    assert (table["disparity"], table["disparity_low"], table["disparity_high"]) == pytest.approx(gap[:3], abs=1e-9)
    floor = parity_noise_floor(np.unique(S, return_counts=True)[1], decided.mean())
    assert table["noise_floor"] == pytest.approx(floor, abs=0.002)  # interpolated between rates


def test_the_constant_has_its_row(found):
    row = {name: column[found.table["model"] == "constant"] for name, column in found.table.items()}
    assert row["disparity"] == [0.0]
    assert row["error"] == pytest.approx(min(Y.mean(), 1 - Y.mean()))
    assert row["positive_rate"][0] in (0.0, 1.0)


def test_pareto_holds_the_settings_that_nothing_beats(found):
    kept, error, disparity = found.pareto(), found.table["error"], found.table["disparity"]
    beaten = [
        ((error <= e) & (disparity <= d) & ((error < e) | (disparity < d))).any()
        for e, d in zip(error, disparity, strict=True)
    ]
    worth = set(zip(kept.table["error"], kept.table["disparity"], strict=True))
    assert worth == {pair for pair, lost in zip(zip(error, disparity, strict=True), beaten, strict=True) if not lost}
    assert (np.diff(kept.table["disparity"]) > 0).all()
    assert (np.diff(kept.table["error"]) < 0).all()


def test_best_has_the_least_error_within_the_bound_and_is_fitted_on_all_rows(found):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DecisionGapWarning)
        model = found.best(0.1)
    ours = np.isfinite(found.table["alpha"]) & (found.table["disparity"] <= 0.1)
    assert (model.predict(X) == Y).mean() > 0.5
    at = (found.table["alpha"] == model.alpha) & (found.table["disparity_kept"] == model.disparity_kept)
    same = np.isnan(found.table["max_decision_gap"]) if model.max_decision_gap is None else None
    at &= same if same is not None else found.table["max_decision_gap"] == model.max_decision_gap
    assert found.table["error"][at & ours].min() == found.table["error"][ours].min()


def test_the_default_has_levels_and_tolerances_up_to_the_plain_gap(found):
    table = found.table
    plain = np.isnan(table["max_decision_gap"]) & np.isfinite(table["alpha"])
    assert plain.sum() == 5 * 11
    assert np.isfinite(table["max_decision_gap"]).sum() == 5 * 40
    for alpha in np.unique(table["alpha"][plain]):
        most = table["disparity"][plain & (table["alpha"] == alpha) & (table["disparity_kept"] == 1.0)]
        assert np.nanmax(table["max_decision_gap"][table["alpha"] == alpha]) == pytest.approx(most)


def test_weights_of_two_are_rows_counted_twice_in_every_figure():
    weight = RNG.integers(1, 3, len(X)).astype(float)
    once = frontier(
        exact_classifier(), X, Y, sensitive_features=S, sample_weight=weight, cv=CV, alphas=[1.0], max_decision_gap=[]
    )
    scores = out_of_fold_weighted(weight)
    decided = scores >= 0
    assert once.table["error"][0] == pytest.approx(np.average(decided != Y, weights=weight), abs=1e-9)
    assert once.table["positive_rate"][0] == pytest.approx(np.average(decided, weights=weight), abs=1e-9)


def out_of_fold_weighted(weight):
    found = np.empty(len(X))
    for train, test in CV.split(X):
        model = exact_classifier(disparity_kept=0.0)
        model.fit(X[train], Y[train], sensitive_features=S[train], sample_weight=weight[train])
        found[test] = model.decision_function(X[test])
    return found


def test_several_groups_and_a_continuous_attribute_have_a_frontier():
    three = np.where(X[:, 0] > 0.5, "c", np.where(S == S[0], "a", "b"))
    model = FairKernelClassifier(kernel=Exponential(0.3), n_features=40, random_state=0)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for attribute in (three, RNG.normal(size=len(X)) + X[:, 0]):
            many = frontier(model, X, Y, sensitive_features=attribute, alphas=[1.0], max_decision_gap=[None, 0.2])
            asked = many.table["max_decision_gap"] == 0.2
            assert many.table["disparity"][asked] <= 0.2
            assert (many.table["disparity_high"] >= many.table["disparity"] - 1e-12).all()


# Regression ---------------------------------------------------------------------------------------------------------


def test_every_level_of_a_regressor_equals_refitting_from_scratch():
    regressor = FairKernelRegressor(kernel="rbf", gamma=0.1, features="exact", random_state=0)
    many = frontier(regressor, X, Z, sensitive_features=S, cv=CV, alphas=[0.3, 3.0], disparity_kept=[0.0, 0.3, 1.0])
    assert len(many) == 2 * 3 + 1
    for row in range(6):
        setting = {name: many.table[name][row] for name in ("alpha", "disparity_kept")}
        scores = out_of_fold(regressor.set_params(**setting), Z, "predict")
        assert many.table["r2"][row] == pytest.approx(r2_score(Z, scores), abs=1e-6)
        gap = interval("mean_disparity", Z, scores, sensitive_features=S)
        assert many.table["disparity"][row] == pytest.approx(
            mean_disparity(Z, scores, sensitive_features=S), abs=1e-6
        )
        # Student's t and n − 1 against the normal and n: the same to a percent of the width at this size.
        width = gap.high - gap.low
        assert many.table["disparity_high"][row] == pytest.approx(gap.high, abs=0.02 * width)


def test_the_constant_of_a_regressor_explains_nothing_and_has_no_gap():
    many = frontier(FairKernelRegressor(random_state=0), X, Z, sensitive_features=S, alphas=[1.0])
    row = many.table["model"] == "constant"
    assert many.table["r2"][row] == pytest.approx(0.0, abs=1e-12)
    assert many.table["disparity"][row] == pytest.approx(0.0, abs=1e-12)
    best = many.best(0.5)
    assert isinstance(best, FairKernelRegressor)
    assert best.predict(X).shape == (len(X),)


@pytest.mark.parametrize("name", ["max_decision_gap", "thresholds"])
def test_a_regressor_makes_no_decisions(name):
    with pytest.raises(ValueError, match=f"{name} is about decisions, but a regressor makes none"):
        frontier(FairKernelRegressor(), X, Z, sensitive_features=S, **{name: [0.1]})


# Others -------------------------------------------------------------------------------------------------------------


def test_other_estimators_stand_on_the_same_folds():
    others = [LogisticRegression(), ("never", DummyClassifier()), MeanMatchedRidge(variant="V2")]
    many = frontier(
        exact_classifier(), X, Y, sensitive_features=S, cv=CV, alphas=[1.0], max_decision_gap=[], others=others
    )
    table = {name: column[-3:] for name, column in many.table.items()}
    assert table["model"].tolist() == ["LogisticRegression", "never", "MeanMatchedRidge"]
    assert table["aware"].tolist() == [False, False, True]
    decided = np.empty(len(X), dtype=int)
    for train, test in CV.split(X):
        decided[test] = LogisticRegression().fit(X[train], Y[train]).predict(X[test])
    assert table["error"][0] == pytest.approx(error_rate(Y, decided))
    assert table["disparity"][0] == pytest.approx(statistical_disparity(Y, decided, sensitive_features=S))


def test_others_of_the_wrong_kind_are_refused():
    with pytest.raises(ValueError, match="'LinearRegression' does not go with a frontier of classifiers"):
        frontier(exact_classifier(), X, Y, sensitive_features=S, others=[LinearRegression()])
    with pytest.raises(TypeError, match="'str' is a str, which has no fit and predict"):
        frontier(exact_classifier(), X, Y, sensitive_features=S, others=["logistic"])


def test_others_are_never_the_best_nor_refitted():
    many = frontier(exact_classifier(), X, Y, sensitive_features=S, alphas=[1.0], others=[LogisticRegression()])
    assert isinstance(many.best(1.0), FairKernelClassifier)
    with pytest.raises(ValueError, match="is 'LogisticRegression', which is no setting of the estimator"):
        many.refit(len(many) - 1)


# What is asked -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        ({"alphas": [-1.0]}, "alphas must be a sequence of numbers from 0 to inf"),
        ({"alphas": []}, "alphas must be a sequence"),
        ({"disparity_kept": [0.5, 1.5]}, "disparity_kept must be a sequence of numbers from 0 to 1"),
        ({"max_decision_gap": [2.0]}, "max_decision_gap must be a sequence of numbers from 0 to 1"),
        ({"thresholds": [-0.1]}, "thresholds must be a sequence of numbers from 0 to 1"),
        ({"thresholds": [0.5, 1.0]}, "'threshold' parameter .* in the range"),
    ],
)
def test_grids_out_of_range_are_refused(options, sentence):
    with pytest.raises(ValueError, match=sentence):
        frontier(exact_classifier(), X, Y, sensitive_features=S, **options)


def test_estimators_of_other_libraries_are_refused_in_their_place():
    with pytest.raises(TypeError, match=r"got LogisticRegression; other estimators go into others=\[...\]"):
        frontier(LogisticRegression(), X, Y, sensitive_features=S)


def test_three_classes_and_several_targets_are_refused():
    with pytest.raises(ValueError, match="y has 3 classes: compare one class with the rest"):
        frontier(exact_classifier(), X, np.arange(len(X)) % 3, sensitive_features=S, max_decision_gap=[])
    with pytest.raises(ValueError, match="y has 2: pass one column"):
        frontier(FairKernelRegressor(random_state=0), X, np.column_stack([Z, Z]), sensitive_features=S)


def test_a_bound_out_of_reach_says_what_is_within(found):
    with pytest.raises(ValueError, match="max_disparity must be a number >= 0; got -1"):
        found.best(-1)
    plain = frontier(
        exact_classifier(), X, Y, sensitive_features=S, alphas=[1.0], disparity_kept=[1.0], max_decision_gap=[]
    )
    with pytest.raises(ValueError, match=r"no setting has so small an out-of-fold disparity; the least is 0\.\d+"):
        plain.best(1e-6)


def test_the_estimator_is_not_changed():
    model = exact_classifier()
    frontier(model, X, Y, sensitive_features=S, alphas=[1.0], max_decision_gap=[0.1])
    assert not hasattr(model, "kernel_")
    assert model.max_decision_gap is None


def test_with_kernel_auto_the_kernel_is_tuned_once_and_kept():
    model = FairKernelClassifier(kernel="auto", tuning_budget=2, random_state=0)
    many = frontier(model, X, Y, sensitive_features=S, max_decision_gap=[0.1])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DecisionGapWarning)
        best = many.best(0.2)
    (model,) = many.models
    assert best.kernel == model.kernel_
    assert len(model.chosen_.tried) == len(model.chosen_for_groups_.tried) == 2


def test_several_kernels_are_their_frontiers_put_together():
    kernels = ["linear", Exponential(0.3)]
    grid = {"sensitive_features": S, "alphas": [0.3, 3.0], "max_decision_gap": [0.1]}
    both = frontier(FairKernelClassifier(n_features=40, random_state=0), X, Y, kernels=kernels, **grid)
    assert both.table["kernel"].tolist() == [0, 0, 1, 1, -1]
    assert both.kernels == (Linear(), Exponential(0.3))
    for number, kernel in enumerate(kernels):
        alone = frontier(FairKernelClassifier(kernel=kernel, n_features=40, random_state=0), X, Y, **grid)
        for name in ("error", "disparity", "positive_rate", "alpha"):
            np.testing.assert_array_equal(both.table[name][both.table["kernel"] == number], alone.table[name][:2])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DecisionGapWarning)
        assert both.refit(3).kernel == Exponential(0.3)
        assert both.refit(0).kernel == Linear()
    assert "kernel" in repr(both)
    for wrong in ("linear", []):
        with pytest.raises(ValueError, match="kernels must be a sequence of kernels, at least one"):
            frontier(exact_classifier(), X, Y, sensitive_features=S, kernels=wrong)


# What is shown -------------------------------------------------------------------------------------------------------


def test_text_shows_every_column_of_an_honest_row(found):
    text = repr(found)
    for word in ("disparity", "noise floor", "positive rate", "constant", "blind", "["):
        assert word in text


def test_the_frame_holds_the_table(found):
    frame = found.to_frame()
    assert list(frame.columns) == list(found.table)
    assert len(frame) == len(found)


def test_names_are_escaped_in_the_page():
    many = frontier(
        exact_classifier(),
        X,
        Y,
        sensitive_features=S,
        alphas=[1.0],
        max_decision_gap=[],
        others=[("</td><script>alert(1)</script>", LogisticRegression())],
    )
    page = many._repr_html_()
    assert "<script>" not in page
    assert "&lt;script&gt;" in page


def test_the_plot_names_what_it_shows(found):
    figure = found.plot()
    legend = [text.get_text() for text in figure.legends[0].get_texts()]
    assert any("worth having" in text for text in legend)
    assert any("constant prediction" in text for text in legend)
    assert "largest difference of positive rates" in figure.axes[0].get_xlabel()
