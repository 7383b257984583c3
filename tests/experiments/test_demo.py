"""The demonstration's numbers, on a small synthetic table."""

import json
from copy import deepcopy

import numpy as np
import pytest
from sklearn.kernel_ridge import KernelRidge
from sklearn.metrics.pairwise import rbf_kernel
from sklearn.model_selection import StratifiedShuffleSplit
from sklearn.preprocessing import KernelCenterer, StandardScaler

from fairkernel import FairKernelClassifier
from fairkernel.datasets import make_two_groups
from fairkernel.experiments.demo import DemoSettings, run_demo
from fairkernel.metrics import error_rate, parity_noise_floor, statistical_disparity

SETTINGS = DemoSettings(n_splits=3, kernels=("rbf",), alphas=(0.3, 3.0), n_components=(5, 10))


@pytest.fixture(scope="module")
def table():
    return make_two_groups(240, gap=0.35, share_b=0.4, random_state=3)


@pytest.fixture(scope="module")
def found(table):
    return run_demo(table, SETTINGS)


def trials_of(found, method):
    return [trial for trial in found["trials"] if trial["method"] == method]


def splits_of(table, settings=SETTINGS):
    strata = [f"{y}{s}" for y, s in zip(table.target, table.sensitive_features, strict=True)]
    splitter = StratifiedShuffleSplit(settings.n_splits, test_size=settings.test_share, random_state=settings.seed)
    return list(splitter.split(table.data, strata))


def scaled(table, train, test):
    scaler = StandardScaler().fit(table.data[train])
    return scaler.transform(table.data[train]), scaler.transform(table.data[test])


def test_every_split_has_one_trial_of_every_model(found):
    methods = [
        "constant",
        "plain kernel ridge",
        "disparity_kept 0.75",
        "disparity_kept 0.5",
        "disparity_kept 0.25",
        "disparity_kept 0",
        "FKR-F²E exact",
        "FKR-F²E as printed",
    ]
    assert [(t["split"], t["method"]) for t in found["trials"]] == [(i, m) for i in range(3) for m in methods]


def test_the_constant_has_no_disparity_and_errs_on_the_minority(table, found):
    minority = min(table.target.mean(), 1 - table.target.mean())
    for trial in trials_of(found, "constant"):
        assert trial["statistical_disparity"] == 0.0
        assert trial["error"] == pytest.approx(minority, abs=1 / found["n_test"])
        assert trial["noise_floor"] == 0.0


def test_plain_kernel_ridge_is_that_of_scikit_learn(table, found):
    """With as many landmarks as rows the features are exact, and centring gives scikit-learn's ridge an intercept."""
    y, s = table.target, table.sensitive_features
    for (train, test), chosen, trial in zip(
        splits_of(table), found["chosen"], trials_of(found, "plain kernel ridge"), strict=True
    ):
        seen, unseen = scaled(table, train, test)
        gamma = 1 / seen.shape[1]
        centre = KernelCenterer().fit(rbf_kernel(seen, gamma=gamma))
        ridge = KernelRidge(alpha=chosen["alpha"], kernel="precomputed")
        ridge.fit(centre.transform(rbf_kernel(seen, gamma=gamma)), y[train] - y[train].mean())
        scores = ridge.predict(centre.transform(rbf_kernel(unseen, seen, gamma=gamma))) + y[train].mean()
        predicted = (scores >= 0.5).astype(int)
        assert trial["error"] == error_rate(y[test], predicted)
        assert trial["statistical_disparity"] == statistical_disparity(
            None, predicted, sensitive_features=s[test], pos_label=1
        )


@pytest.mark.parametrize(("method", "objective"), [("FKR-F²E exact", "discrepancy"), ("FKR-F²E as printed", "printed")])
def test_a_row_is_the_estimator_it_names(table, found, method, objective):
    y, s = table.target, table.sensitive_features
    (train, test), chosen, trial = splits_of(table)[0], found["chosen"][0], trials_of(found, method)[0]
    seen, unseen = scaled(table, train, test)
    model = FairKernelClassifier(
        chosen["n_components"],
        alpha=chosen["embedding_alpha"],
        objective=objective,
        n_features=SETTINGS.n_features,
        random_state=0,
    )
    predicted = model.fit(seen, y[train], sensitive_features=s[train]).predict(unseen)
    rates = {group: float(predicted[s[test] == group].mean()) for group in ("a", "b")}
    assert trial["group_positive_rates"] == pytest.approx(rates)
    assert trial["statistical_disparity"] == pytest.approx(abs(rates["a"] - rates["b"]))
    assert trial["error"] == pytest.approx(np.mean(predicted != y[test]))
    sizes = [int((s[test] == group).sum()) for group in ("a", "b")]
    assert trial["noise_floor"] == parity_noise_floor(sizes, float(predicted.mean()))


def test_less_disparity_is_kept_where_less_is_asked_for(found):
    means = [
        np.mean([t["statistical_disparity"] for t in trials_of(found, method)])
        for method in ("plain kernel ridge", "disparity_kept 0.5", "disparity_kept 0")
    ]
    assert means[0] > means[1] > means[2]


def test_the_same_seed_gives_the_same_numbers_with_any_number_of_jobs(table, found):
    assert run_demo(table, SETTINGS, n_jobs=2) == found


def test_another_seed_gives_other_numbers(table, found):
    other = run_demo(table, DemoSettings(**(found["settings"] | {"seed": 1})))
    assert other["trials"] != found["trials"]


def test_the_settings_are_chosen_without_the_test_rows(table):
    settings = DemoSettings(**(vars(SETTINGS) | {"n_splits": 1}))
    [(_, test)] = splits_of(table, settings)
    before = run_demo(table, settings)
    disturbed = deepcopy(table)
    disturbed.data[test] = np.random.default_rng(0).normal(50, 30, size=disturbed.data[test].shape)
    after = run_demo(disturbed, settings)
    assert after["chosen"] == before["chosen"]
    assert after["trials"] != before["trials"]


def test_groups_are_counted(table, found):
    base = {g: table.target[table.sensitive_features == g].mean() for g in ("a", "b")}
    assert [(g["group"], g["n_rows"], g["n_test"]) for g in found["groups"]] == [("a", 144, 36), ("b", 96, 24)]
    assert {g["group"]: g["base_rate"] for g in found["groups"]} == pytest.approx(base)


def test_on_split_is_called_once_per_split(table):
    calls = []
    run_demo(table, SETTINGS, on_split=lambda: calls.append(None))
    assert len(calls) == SETTINGS.n_splits


def test_the_result_is_plain_data(found):
    assert json.loads(json.dumps(found["trials"], allow_nan=False)) == found["trials"]
