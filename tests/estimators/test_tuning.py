"""kernel="auto": what is compared is compared exactly, and what is chosen is what is used."""

import re

import numpy as np
import pytest

from fairkernel import FairFeatureEmbedding, FairKernelClassifier, FairKernelRegressor
from fairkernel.estimators.tuning import BUDGET, tune
from fairkernel.exceptions import ContinuousSensitiveWarning
from fairkernel.kernels import ColumnScaled, Kernel, Sum
from fairkernel.rows import read_training_rows

RNG = np.random.default_rng(0)
N, P = 240, 6
X = RNG.normal(size=(N, P))
S = np.where(X[:, 1] + RNG.normal(size=N) > 0.3, "b", "a")
Y = np.sin(2.0 * X[:, 0]) + 0.1 * RNG.normal(size=N)  # one column of six matters, and not linearly
LABEL = (Y > 0).astype(int)


def rows_of(X=X, y=Y, s=S, weight=None):
    return read_training_rows(FairKernelRegressor(), X, y, s, weight, continuous=True)


def search(budget=BUDGET, X=X, y=Y, s=S, weight=None):
    rows = rows_of(X, y, s, weight)
    return tune(rows, rows.y.reshape(len(rows.y), -1), budget, 0)


def left_out_one_by_one(chosen, X, y, weight):
    """Squared error of kernel ridge refitted without each row, as a share of the variance."""
    K, share = chosen.kernel(X, X), weight / weight.sum()
    squared = np.empty(len(y))
    for i in range(len(y)):
        rest = np.arange(len(y)) != i
        w = weight[rest]
        # [K + γ W⁻¹, 1; 1ᵀ, 0] [α; intercept] = [y; 0]: kernel ridge with an unpenalised intercept.
        system = np.zeros((len(y), len(y)))
        system[:-1, :-1] = K[np.ix_(rest, rest)] + chosen.alpha * np.diag(1.0 / w)
        system[-1, :-1] = system[:-1, -1] = 1.0
        solution = np.linalg.solve(system, np.append(y[rest], 0.0))
        squared[i] = (K[i, rest] @ solution[:-1] + solution[-1] - y[i]) ** 2
    return share @ squared / (share @ (y - share @ y) ** 2)


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("budget", [1, 4])
def test_the_loss_is_that_of_leaving_out_one_row_after_the_other(budget, weighted):
    n = 80  # as many landmarks as rows: the features are exact
    weight = RNG.uniform(0.5, 2.0, n) if weighted else np.ones(n)
    chosen = search(budget, X[:n], Y[:n], S[:n], weight)
    assert chosen.loss == pytest.approx(left_out_one_by_one(chosen, X[:n], Y[:n], weight), rel=1e-6)


def test_columns_that_do_not_matter_get_small_scales():
    chosen = search(4)
    assert isinstance(chosen.kernel, ColumnScaled)
    scales = np.array(chosen.kernel.scales)
    assert scales.argmax() == 0
    assert scales[0] == 1.0
    assert scales[1:].max() < 0.35
    losses = dict(chosen.tried)
    assert chosen.loss == min(losses.values())
    assert chosen.loss < 0.6 * losses["exponential"]  # where all columns count the same


def test_a_whole_number_of_settings_gives_the_same_answer_every_time():
    first, second = search(), search()
    assert first == second
    assert len(first.tried) == BUDGET
    assert len(search(1).tried) == 1


def test_more_settings_are_the_same_ones_and_then_others():
    few, all_of_them = search(5), search(1000)
    assert all_of_them.tried[:5] == few.tried
    assert all_of_them.loss <= few.loss
    assert len({label for label, _ in all_of_them.tried}) == len(all_of_them.tried) == 21


def test_seconds_end_the_search_after_the_setting_that_spends_them():
    assert len(search(1e-9).tried) == 1
    assert search(60.0).tried == search(1000).tried


def test_more_rows_than_are_looked_at_give_the_same_answer_every_time(monkeypatch):
    monkeypatch.setattr("fairkernel.estimators.tuning.ROWS", 100)
    assert search(3) == search(3)
    assert search(3).loss != search(1000).loss


def test_groups_have_no_part_in_the_choice_but_for_their_landmarks():
    renamed = search(4, s=np.where(S == "a", "z", "k"))
    assert renamed.tried == search(4).tried


def test_rows_without_any_spread_are_no_obstacle():
    chosen = search(1000, X=np.ones((20, 3)), y=np.arange(20.0), s=["a", "b"] * 10)
    assert np.isfinite(chosen.loss)
    flat = search(3, y=np.zeros(N))
    assert np.isfinite(flat.loss)


@pytest.mark.parametrize("estimator", [FairKernelRegressor, FairKernelClassifier])
def test_auto_is_the_estimator_with_the_kernel_and_penalty_it_says(estimator):
    y = Y if estimator is FairKernelRegressor else LABEL
    auto = estimator(kernel="auto", tuning_budget=6, random_state=0).fit(X, y, sensitive_features=S)
    assert auto.kernel_ == auto.chosen_.kernel
    named = estimator(kernel=auto.kernel_, alpha=auto.alpha_, n_features=auto.n_kernel_features_, random_state=0)
    np.testing.assert_array_equal(named.fit(X, y, sensitive_features=S).predict(X), auto.predict(X))
    assert named.chosen_ is None
    assert named.alpha_ == auto.alpha_


def test_auto_beats_the_default_kernel_where_one_column_matters():
    new = RNG.normal(size=(2000, P))
    truth = np.sin(2.0 * new[:, 0])
    errors = {}
    for kernel in ("auto", "rbf"):
        model = FairKernelRegressor(kernel=kernel, disparity_kept=1.0, random_state=0).fit(X, Y, sensitive_features=S)
        errors[kernel] = np.mean((model.predict(new) - truth) ** 2)
    assert errors["auto"] < 0.5 * errors["rbf"]


def test_what_was_chosen_is_said_in_a_sentence():
    text = str(search(4))
    assert re.match(r"Exponential\(gamma=0\.\d+\) on columns with learned scales, alpha=", text)
    assert "the least of 4 settings in" in text


def test_decisions_that_shift_by_how_group_like_a_row_is_have_a_kernel_that_looks_at_the_groups_as_well():
    options = {"kernel": "auto", "tuning_budget": 4, "max_decision_gap": 0.1, "random_state": 0}
    blind = FairKernelClassifier(**options).fit(X, LABEL, sensitive_features=S)
    assert isinstance(blind.kernel_, Sum)
    assert blind.kernel_ == blind.chosen_.kernel + blind.chosen_for_groups_.kernel
    # Column 1 tells the groups apart, column 0 the labels.
    assert np.argmax(blind.chosen_for_groups_.kernel.scales) == 1
    assert np.argmax(blind.chosen_.kernel.scales) == 0
    aware = FairKernelClassifier(aware=True, **options).fit(X, LABEL, sensitive_features=S)
    assert isinstance(aware.kernel_, Kernel)
    assert aware.chosen_for_groups_ is None
    assert aware.kernel_ == blind.chosen_.kernel


def test_a_continuous_attribute_is_tuned_for_as_well():
    with pytest.warns(ContinuousSensitiveWarning):
        found = FairKernelClassifier(kernel="auto", tuning_budget=2, max_decision_gap=0.2, random_state=0).fit(
            X, LABEL, sensitive_features=X[:, 1] + 0.1 * RNG.normal(size=N)
        )
    assert np.argmax(found.chosen_for_groups_.kernel.scales) == 1


def test_several_targets_count_the_same_whatever_their_scale():
    both = np.column_stack([Y, 1000.0 * X[:, 2] ** 2])
    model = FairKernelRegressor(kernel="auto", tuning_budget=4, random_state=0).fit(X, both, sensitive_features=S)
    assert set(np.argsort(model.chosen_.kernel.scales)[-2:]) == {0, 2}


def test_what_auto_does_not_go_with_is_refused():
    with pytest.raises(ValueError, match="kernel='auto' learns scales from landmarks, so it does not"):
        FairKernelRegressor(kernel="auto", features="fourier").fit(X, Y, sensitive_features=S)
    with pytest.raises(ValueError, match="The 'kernel' parameter of FairFeatureEmbedding"):
        FairFeatureEmbedding(kernel="auto").fit(X, sensitive_features=S)
    for budget in (0, -1.0, "long"):
        with pytest.raises(ValueError, match="The 'tuning_budget' parameter of FairKernelRegressor"):
            FairKernelRegressor(kernel="auto", tuning_budget=budget).fit(X, Y, sensitive_features=S)


def test_a_common_factor_of_the_weights_changes_nothing():
    rng = np.random.default_rng(0)
    X, s = rng.normal(size=(200, 3)), np.arange(200) % 2
    y, weight = np.sin(2 * X[:, 0]) + 0.1 * rng.normal(size=200), rng.uniform(0.5, 2.0, 200)
    models = [
        FairKernelRegressor(kernel="auto", tuning_budget=3, random_state=0).fit(
            X, y, sensitive_features=s, sample_weight=factor * weight
        )
        for factor in (1.0, 1 / 200)
    ]
    assert models[1].alpha_ == pytest.approx(models[0].alpha_ / 200)
    np.testing.assert_allclose(*(model.predict(X) for model in models), atol=1e-6)
