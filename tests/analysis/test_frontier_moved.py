"""A regressor that knows the groups: its frontier is of moved scores, as refitting and moving by hand gives them."""

import numpy as np
import pytest
from sklearn.metrics import r2_score
from sklearn.model_selection import KFold

from fairkernel import FairKernelClassifier, FairKernelRegressor, frontier
from fairkernel.datasets import make_two_groups
from fairkernel.estimators._distributions import _random_halves
from fairkernel.metrics import interval, mean_disparity

DATA = make_two_groups(240, random_state=0, task="regression", gap=1.0)
X, Y, S = DATA.data, DATA.target, DATA.sensitive_features
CV = KFold(3, shuffle=True, random_state=0)
EXACT = {"kernel": "rbf", "gamma": 0.1, "features": "exact", "random_state": 0}


def aware(**options):
    return FairKernelRegressor(aware=True, **{"disparity_kept": 1.0, **EXACT, **options})


def held_out_scores(groups, weight, **setting):
    scores = np.empty(len(X))
    for train, test in CV.split(X):
        model = FairKernelRegressor(**EXACT, **setting)
        model.fit(X[train], Y[train], sensitive_features=groups[train], sample_weight=weight[train])
        scores[test] = model.predict(X[test])
    return scores


def halves_of(groups):
    half = _random_halves(np.unique(groups, return_inverse=True)[1])
    return [(np.flatnonzero(half != h), np.flatnonzero(half == h)) for h in (0, 1)]


def moved_by_hand(scores, groups, weight, t):
    """The scores of a half go to the mean of the other half's quantiles, at the level they have in their group."""
    moved = scores.copy()
    for train, test in halves_of(groups):
        ranks = {}
        for g in np.unique(groups):
            mine = train[groups[train] == g]
            mine = mine[np.argsort(scores[mine])]
            cumulated = np.cumsum(weight[mine])
            ranks[g] = scores[mine], (cumulated - weight[mine] / 2) / cumulated[-1], cumulated[-1]
        total = sum(size for *_, size in ranks.values())
        for i in test:
            values, levels, _ = ranks[groups[i]]
            nearest = min(max(scores[i], values[0]), values[-1])
            level = np.interp(nearest, values, levels)
            target = sum(size / total * np.interp(level, at, v) for v, at, size in ranks.values())
            moved[i] = scores[i] + t * (target - nearest)
    return moved


@pytest.mark.parametrize("weighted", [False, True])
def test_every_setting_equals_refitting_every_fold_and_moving_each_half(weighted):
    rng = np.random.default_rng(0)
    groups = np.where(rng.random(len(X)) < 0.3, "c", S.astype(str))
    weight = rng.integers(1, 4, len(X)).astype(float) if weighted else np.ones(len(X))
    many = frontier(
        aware(),
        X,
        Y,
        sensitive_features=groups,
        sample_weight=weight,
        cv=CV,
        alphas=[0.3, 3.0],
        disparity_kept=[0.0, 0.4, 1.0],
        distribution_parity=[0.0, 0.3, 1.0],
    )
    assert len(many) == 2 * 3 * 3 + 1
    assert many.table["aware"].tolist() == [True] * 18 + [False]
    scores = {}
    for row in range(18):
        setting = {name: many.table[name][row] for name in ("alpha", "disparity_kept")}
        key = tuple(setting.values())
        scores[key] = scores[key] if key in scores else held_out_scores(groups, weight, **setting)
        moved = moved_by_hand(scores[key], groups, weight, many.table["distribution_parity"][row])
        assert many.table["r2"][row] == pytest.approx(r2_score(Y, moved, sample_weight=weight), abs=1e-6)
        bounds = []
        for _, half in halves_of(groups):
            known = {"sensitive_features": groups[half], "sample_weight": weight[half]}
            bounds.append(interval("mean_disparity", Y[half], moved[half], **known))
            assert bounds[-1].estimate == mean_disparity(Y[half], moved[half], **known)
        assert many.table["disparity"][row] == pytest.approx(np.mean([b.estimate for b in bounds]), abs=1e-6)
        # Student's t and n − 1 against the normal and n.
        assert many.table["disparity_high"][row] == pytest.approx(np.mean([b.high for b in bounds]), rel=0.04)


def test_the_disparity_of_moved_scores_is_about_what_new_rows_show():
    new = make_two_groups(20_000, random_state=999, task="regression", gap=1.0)
    said, shown = [], []
    for seed in range(8):
        rows = make_two_groups(300, random_state=seed, task="regression", gap=1.0)
        model = FairKernelRegressor(aware=True, disparity_kept=1.0, n_features=30, random_state=0)
        known = {"sensitive_features": rows.sensitive_features}
        many = frontier(model, rows.data, rows.target, alphas=1.0, distribution_parity=1.0, **known)
        said.append(many.table["disparity"][0])
        known = {"sensitive_features": new.sensitive_features}
        shown.append(mean_disparity(new.target, many.refit(0).predict(new.data, **known), **known))
    assert 1.0 < np.mean(said) / np.mean(shown) < 3.0  # halves are smaller, so a little more


def test_by_default_the_way_to_the_barycentre_is_traced_from_equal_means_and_from_unconstrained_scores():
    many = frontier(aware(disparity_kept=0.7), X, Y, sensitive_features=S, alphas=2.0)
    assert many.table["distribution_parity"][:-1] == pytest.approx(np.tile(np.linspace(0, 1, 11), 2))
    assert many.table["disparity_kept"][:-1].tolist() == [0.0] * 11 + [1.0] * 11
    assert np.isnan(many.table["distribution_parity"][-1])  # the constant


def test_what_is_handed_back_is_the_model_of_the_row():
    many = frontier(aware(), X, Y, sensitive_features=S, alphas=[1.0, 5.0], disparity_kept=[0.5, 1.0])
    model = many.refit(25)
    row = {name: many.table[name][25] for name in ("alpha", "disparity_kept", "distribution_parity")}
    assert {name: getattr(model, name) for name in row} == row
    assert model.aware is True
    by_hand = aware(**row).fit(X, Y, sensitive_features=S)
    np.testing.assert_allclose(
        model.predict(X, sensitive_features=S), by_hand.predict(X, sensitive_features=S), atol=1e-9
    )
    best = many.best(0.2)
    assert best.aware
    assert best.distribution_parity > 0


def test_rows_without_a_group_stay_where_they_are():
    groups = S.astype(object)
    groups[::7] = None
    with pytest.warns(UserWarning, match="missing in 35 of 240 rows"):
        many = frontier(
            aware(missing_sensitive="ignore"), X, Y, sensitive_features=groups, alphas=1.0, distribution_parity=[0, 1]
        )
    assert np.isfinite(many.table["r2"]).all()


def test_a_blind_frontier_moves_nothing():
    many = frontier(FairKernelRegressor(random_state=0), X, Y, sensitive_features=S, alphas=1.0)
    assert np.isnan(many.table["distribution_parity"]).all()
    assert not many.table["aware"].any()
    model = many.refit(3)
    assert (model.aware, model.distribution_parity, model.disparity_kept) == (False, 0.0, pytest.approx(0.3))


def test_distribution_parity_is_refused_where_nothing_is_moved():
    known = {"sensitive_features": S, "distribution_parity": [1.0]}
    with pytest.raises(ValueError, match=r"distribution_parity moves each group's scores.* aware=False"):
        frontier(FairKernelRegressor(), X, Y, **known)
    with pytest.raises(ValueError, match="distribution_parity moves the scores of a regressor"):
        frontier(FairKernelClassifier(), X, Y > 0, **known)
    with pytest.raises(ValueError, match="distribution_parity must be a sequence of numbers from 0 to 1"):
        frontier(aware(), X, Y, sensitive_features=S, distribution_parity=[2.0])
