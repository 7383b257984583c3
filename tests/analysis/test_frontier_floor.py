"""The noise floor of a frontier is of the rates the criterion compares, within each class it compares them in."""

import warnings

import numpy as np
import pytest
from sklearn.model_selection import KFold

from fairkernel import FairKernelClassifier, frontier
from fairkernel.datasets import make_two_groups
from fairkernel.metrics import parity_noise_floor

DATA = make_two_groups(300, base_rate=0.25, random_state=0)
X, Y, S = DATA.data, DATA.target, DATA.sensitive_features
CV = KFold(3, shuffle=True, random_state=0)
STRATA = {"parity": [Y >= 0], "opportunity": [Y == 1], "odds": [Y == 0, Y == 1]}


def decisions(threshold, attribute, criterion="parity"):
    decided = np.empty(len(X), dtype=bool)
    for train, test in CV.split(X):
        model = FairKernelClassifier(
            kernel="rbf", gamma=0.1, features="exact", threshold=threshold, disparity_kept=1.0, criterion=criterion
        )
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            model.fit(X[train], Y[train], sensitive_features=attribute[train])
        decided[test] = model.predict(X[test]) == 1
    return decided


def traced(thresholds, attribute, criterion="parity"):
    model = FairKernelClassifier(kernel="rbf", gamma=0.1, features="exact", criterion=criterion)
    options = {"alphas": [1.0], "max_decision_gap": [], "disparity_kept": [1.0], "thresholds": thresholds, "cv": CV}
    return frontier(model, X, Y, sensitive_features=attribute, **options).table


@pytest.mark.parametrize("criterion", STRATA)
def test_the_floor_is_at_the_rate_of_the_rows_that_are_compared(criterion):
    thresholds = [0.1, 0.25, 0.5, 0.8]
    table = traced(thresholds, S, criterion)
    for row, threshold in enumerate(thresholds):
        decided = decisions(threshold, S, criterion)
        floors = [
            parity_noise_floor(np.unique(S[inside], return_counts=True)[1], decided[inside].mean())
            for inside in STRATA[criterion]
        ]
        assert table["noise_floor"][row] == pytest.approx(max(floors), abs=0.002)  # interpolated between rates


def test_the_floor_is_what_decisions_of_equal_chances_show():
    table = traced([0.3], S, "odds")
    decided, rng, shown = decisions(0.3, S, "odds"), np.random.default_rng(0), []
    for _ in range(2000):
        gaps = []
        for inside in STRATA["odds"]:
            drawn = rng.random(inside.sum()) < decided[inside].mean()
            gaps.append(abs(drawn[S[inside] == "a"].mean() - drawn[S[inside] == "b"].mean()))
        shown.append(gaps)
    # Of each class the expectation; the largest of two expectations is below the expectation of the largest.
    assert table["noise_floor"][0] == pytest.approx(np.mean(shown, axis=0).max(), rel=0.06)


def test_a_continuous_attribute_has_a_floor_of_its_own():
    age = np.random.default_rng(0).normal(size=len(X))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        table = traced([0.3], age)
    decided, rng = decisions(0.3, age), np.random.default_rng(0)
    standardised = (age - age.mean()) / age.std()
    shown = [abs(np.mean(rng.permutation(standardised) * decided)) for _ in range(4000)]
    assert table["noise_floor"][0] == pytest.approx(np.mean(shown), rel=0.05)
