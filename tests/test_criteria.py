import warnings

import array_api_strict
import numpy as np
import pandas as pd
import pytest

from fairkernel import FairFeatureEmbedding, FairKernelClassifier, FairKernelRegressor
from fairkernel.criteria import cells_of
from fairkernel.estimators.out_of_fold import out_of_fold_scores
from fairkernel.exceptions import ContinuousSensitiveWarning, FairKernelWarning, MissingSensitiveWarning
from fairkernel.moments import Moments
from fairkernel.sensitive import read_sensitive
from fairkernel.solve import gap_directions

RNG = np.random.default_rng(0)
N = 240
S = RNG.integers(0, 3, N)
X = RNG.normal(size=(N, 3)) + 0.6 * S[:, None]
SCORE = X[:, 0] + X[:, 1] ** 2 + 0.3 * RNG.normal(size=N)
Y = np.where(SCORE > np.median(SCORE), "yes", "no")


def spread(scores, s=S):
    means = [scores[s == g].mean(axis=0) for g in np.unique(s)]
    return np.ptp(means, axis=0).max()


def classifier(criterion, **options):
    return FairKernelClassifier(criterion=criterion, random_state=0, **options).fit(X, Y, sensitive_features=S)


def test_opportunity_levels_the_scores_of_the_positive_class_alone():
    scores = classifier("opportunity").decision_function(X)
    assert spread(scores[Y == "yes"], S[Y == "yes"]) < 1e-10
    assert spread(scores[Y == "no"], S[Y == "no"]) > 1e-3


def test_odds_levels_the_scores_within_every_class():
    scores = classifier("odds").decision_function(X)
    for label in ("yes", "no"):
        assert spread(scores[Y == label], S[Y == label]) < 1e-10
    assert spread(scores) > 1e-3  # base rates differ, so the means over all rows do


def test_parity_does_not_level_the_scores_within_classes():
    scores = classifier("parity").decision_function(X)
    assert spread(scores) < 1e-10
    assert spread(scores[Y == "yes"], S[Y == "yes"]) > 1e-3


@pytest.mark.parametrize("criterion", ["opportunity", "odds"])
def test_the_share_kept_is_the_share_of_every_gap(criterion):
    plain, half = (classifier(criterion, disparity_kept=kept) for kept in (1.0, 0.5))
    assert half.mean_gap_ == pytest.approx(0.5 * plain.mean_gap_)
    yes = Y == "yes"
    gaps = [np.diff([m.decision_function(X[yes & (S == g)]).mean() for g in range(3)]) for m in (plain, half)]
    np.testing.assert_allclose(gaps[1], 0.5 * gaps[0], atol=1e-10)


def test_the_reported_gap_is_the_largest_within_a_stratum():
    model = classifier("odds", disparity_kept=0.7)
    scores = model.decision_function(X)
    assert model.mean_gap_[0] == pytest.approx(max(spread(scores[Y == c], S[Y == c]) for c in ("yes", "no")))


def test_every_class_of_several_is_a_stratum_of_odds():
    y = np.array(["p", "q", "r"])[np.digitize(SCORE, np.quantile(SCORE, [1 / 3, 2 / 3]))]
    model = FairKernelClassifier(criterion="odds", random_state=0).fit(X, y, sensitive_features=S)
    for label in "pqr":
        assert spread(model.decision_function(X[y == label]), S[y == label]) < 1e-10
    with pytest.raises(ValueError, match="criterion='opportunity' looks at the positive one of two classes; y has 3"):
        FairKernelClassifier(criterion="opportunity").fit(X, y, sensitive_features=S)


def test_strata_of_a_numeric_outcome_are_bins_of_equal_numbers_of_rows():
    cells = cells_of("odds", read_sensitive(np.zeros(100, dtype=int), min_groups=1), np.arange(100.0))
    assert np.bincount(cells.codes).tolist() == [25, 25, 25, 25]
    highest = cells_of("opportunity", read_sensitive(np.zeros(100, dtype=int), min_groups=1), np.arange(100.0))
    assert np.flatnonzero(highest.codes == 0).tolist() == list(range(75, 100))


@pytest.mark.parametrize("criterion", ["opportunity", "odds"])
def test_the_regressor_levels_its_predictions_within_the_bins(criterion):
    model = FairKernelRegressor(criterion=criterion, random_state=0).fit(X, SCORE, sensitive_features=S)
    cells = cells_of(criterion, read_sensitive(S), SCORE)
    predicted = model.predict(X)
    for stratum in cells.strata:
        means = [predicted[cells.codes == cell].mean() for cell in stratum]
        assert np.ptp(means) < 1e-10


@pytest.mark.parametrize("y", [Y, SCORE], ids=["classes", "numbers"])
def test_the_embedding_levels_its_features_within_the_strata(y):
    embedding = FairFeatureEmbedding(4, criterion="odds", random_state=0)
    Z = embedding.fit(X, y, sensitive_features=S).transform(X)
    numbers, classes = (np.unique(y, return_inverse=True)[1], np.unique(y)) if y is Y else (y, None)
    cells = cells_of("odds", read_sensitive(S), numbers, classes)
    for stratum in cells.strata:
        assert np.ptp([Z[cells.codes == cell].mean(axis=0) for cell in stratum], axis=0).max() < 1e-10
    with pytest.raises(ValueError, match="criterion='odds' compares groups of equal outcome: pass y"):
        embedding.fit(X, sensitive_features=S)


def test_a_continuous_attribute_is_uncorrelated_with_the_score_within_every_stratum():
    age = X[:, 0] + RNG.normal(size=N)
    frame = pd.DataFrame({"group": S.astype(str), "age": age})
    with pytest.warns(ContinuousSensitiveWarning):
        model = FairKernelClassifier(criterion="odds", random_state=0).fit(X, Y, sensitive_features=frame)
    scores = model.decision_function(X)
    for label in ("yes", "no"):
        rows = label == Y
        assert abs(np.cov(scores[rows], age[rows])[0, 1]) < 1e-10
        assert spread(scores[rows], S[rows]) < 1e-10


def test_weights_are_repeated_rows_also_for_the_bins():
    weight = RNG.integers(1, 4, N)
    weighted, repeated = (FairKernelRegressor(criterion="odds", kernel="linear", random_state=0) for _ in range(2))
    weighted.fit(X, SCORE, sensitive_features=S, sample_weight=weight)
    repeated.fit(np.repeat(X, weight, axis=0), np.repeat(SCORE, weight), sensitive_features=np.repeat(S, weight))
    np.testing.assert_allclose(weighted.predict(X), repeated.predict(X), atol=1e-9)


def test_folds_are_subtracted_under_every_criterion():
    found = out_of_fold_scores(FairKernelClassifier(criterion="odds", random_state=0), X, Y, sensitive_features=S, cv=3)
    train = found.fold != 1
    model = FairKernelClassifier(criterion="odds", features="exact").fit(
        X[train], Y[train], sensitive_features=S[train]
    )
    expected = model.decision_function(X[~train]) + 0.5
    np.testing.assert_allclose(found.parity[~train, 0, 0, 0], expected, atol=1e-8)


def test_rows_outside_the_strata_count_for_the_loss_and_not_for_the_groups():
    phi, y = RNG.normal(size=(30, 2)), RNG.normal(size=(30, 1))
    codes = np.where(np.arange(30) < 10, -1, np.arange(30) % 2)
    m = Moments.empty(phi, y, n_groups=2, n_numeric=0).update(phi, y, codes, np.empty((30, 0)))
    assert m.weight == 30
    np.testing.assert_allclose(m.group_means, [phi[codes == g].mean(axis=0) for g in (0, 1)])


# Rows whose group is not known


UNKNOWN = np.arange(N) % 5 == 0
GAPS = np.where(UNKNOWN, None, S.astype(str))


def ignoring(Estimator, y, s=GAPS, **options):
    with pytest.warns(MissingSensitiveWarning, match="missing in 48 of 240 rows"):
        return Estimator(missing_sensitive="ignore", random_state=0, **options).fit(X, y, sensitive_features=s)


@pytest.mark.parametrize("criterion", ["parity", "opportunity", "odds"])
@pytest.mark.parametrize(("y", "classes"), [(Y, np.unique(Y)), (SCORE, None)], ids=["classes", "numbers"])
def test_cells_of_rows_with_a_group_are_those_without_the_others(criterion, y, classes):
    outcome = y if classes is None else np.searchsorted(classes, y)
    with pytest.warns(MissingSensitiveWarning):
        read = read_sensitive(GAPS, missing="ignore")
    found = cells_of(criterion, read, outcome, classes)
    alone = cells_of(criterion, read_sensitive(GAPS[~UNKNOWN]), outcome[~UNKNOWN], classes)
    assert (found.codes[UNKNOWN] == -1).all()
    assert found.strata == alone.strata
    np.testing.assert_array_equal(found.codes[~UNKNOWN], alone.codes)


@pytest.mark.parametrize("numeric", [False, True], ids=["groups", "groups and a number"])
def test_gap_directions_are_those_of_the_rows_whose_group_is_known(numeric):
    phi, age = RNG.normal(size=(N, 4)) + S[:, None], X[:, 0] + RNG.normal(size=N)
    frame = pd.DataFrame({"group": GAPS} | ({"age": age} if numeric else {}))
    directions = []
    for rows, option in ((np.arange(N), "ignore"), (np.flatnonzero(~UNKNOWN), "error")):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", FairKernelWarning)
            cells = cells_of("parity", read_sensitive(frame.iloc[rows], missing=option))
        empty = Moments.empty(phi, phi[:, :0], n_groups=3, n_numeric=int(numeric), strata=cells.strata)
        m = empty.update(phi[rows], phi[rows, :0], cells.codes, cells.numeric)
        directions.append(gap_directions(m.group_means, m.numeric_covariance, m.numeric_variance, m.strata))
    np.testing.assert_allclose(*directions, atol=1e-13)


@pytest.mark.parametrize("criterion", ["parity", "odds"])
def test_scores_are_level_among_rows_whose_group_is_known_and_the_others_are_learnt_from(criterion):
    model = ignoring(FairKernelRegressor, SCORE, criterion=criterion)
    known = cells_of(criterion, read_sensitive(GAPS[~UNKNOWN]), SCORE[~UNKNOWN])
    predicted = model.predict(X)[~UNKNOWN]
    for stratum in known.strata:
        assert np.ptp([predicted[known.codes == cell].mean() for cell in stratum]) < 1e-9
    other = ignoring(FairKernelRegressor, np.where(UNKNOWN, SCORE + 5, SCORE), criterion=criterion)
    assert np.abs(other.predict(X) - model.predict(X)).mean() > 0.1


@pytest.mark.parametrize("Estimator", [FairFeatureEmbedding, FairKernelRegressor, FairKernelClassifier])
def test_what_stands_in_an_empty_cell_does_not_matter(Estimator):
    score = "transform" if Estimator is FairFeatureEmbedding else "predict"
    y = Y if Estimator is FairKernelClassifier else SCORE
    models = [ignoring(Estimator, y, np.where(UNKNOWN, gap, GAPS)) for gap in (None, np.nan, "", "nan")]
    for model in models[1:]:
        np.testing.assert_array_equal(getattr(model, score)(X), getattr(models[0], score)(X))


def test_a_number_missing_in_some_rows_is_uncorrelated_with_the_score_in_the_others():
    age = np.where(UNKNOWN, np.nan, X[:, 0] + RNG.normal(size=N))
    with pytest.warns(ContinuousSensitiveWarning):
        scores = ignoring(FairKernelRegressor, SCORE, age).predict(X)
    assert abs(np.cov(scores[~UNKNOWN], age[~UNKNOWN])[0, 1]) < 1e-10


@pytest.mark.parametrize("options", [{}, {"kernel": "sigmoid", "gamma": 1.0}, {"features": "fourier"}])
@pytest.mark.filterwarnings("ignore::fairkernel.exceptions.IndefiniteKernelWarning")
def test_features_represent_rows_without_a_group_too(options):
    model = ignoring(FairKernelRegressor, SCORE, n_features=60, **options)
    assert set(model.approximation_error_by_group_) == {"0", "1", "2"}
    if model.landmark_indices_ is not None:
        assert UNKNOWN[model.landmark_indices_].sum() >= 5


def test_when_every_group_is_known_ignoring_changes_nothing():
    one, two = (FairKernelRegressor(missing_sensitive=m, random_state=0) for m in ("ignore", "error"))
    one.fit(X, SCORE, sensitive_features=S)
    two.fit(X, SCORE, sensitive_features=S)
    np.testing.assert_array_equal(one.predict(X), two.predict(X))


def test_folds_are_subtracted_where_groups_are_missing():
    with pytest.warns(MissingSensitiveWarning):
        found = out_of_fold_scores(
            FairKernelRegressor(missing_sensitive="ignore", random_state=0), X, SCORE, sensitive_features=GAPS, cv=3
        )
    train = found.fold != 1
    with pytest.warns(MissingSensitiveWarning):
        model = FairKernelRegressor(missing_sensitive="ignore", features="exact").fit(
            X[train], SCORE[train], sensitive_features=GAPS[train]
        )
    np.testing.assert_allclose(found.parity[~train, 0, 0, 0], model.predict(X[~train]), atol=1e-8)


def test_strata_run_on_another_array_library():
    phi, numeric = RNG.normal(size=(40, 3)), RNG.normal(size=(40, 1))
    codes = np.arange(40) % 4
    strata, split = ((0, 1), (2, 3)), np.where((codes < 2)[:, None], numeric, 0.0)
    blocks = np.concatenate([split, numeric - split], axis=1)
    strict = array_api_strict.asarray(phi)
    found = []
    for rows in (phi, strict):
        none = rows[:, :0]
        m = Moments.empty(rows, none, n_groups=4, n_numeric=2, strata=strata).update(rows, none, codes, blocks)
        found.append(np.asarray(m.numeric_covariance))
    np.testing.assert_allclose(*found, atol=1e-14)
    for stratum, row in zip(strata, found[0], strict=True):
        members = np.isin(codes, stratum)
        expected = np.cov(numeric[members, 0], phi[members].T, ddof=0)[0, 1:]
        np.testing.assert_allclose(row, expected, atol=1e-12)


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        ({"objective": "printed"}, "criterion='odds' goes with objective='discrepancy'"),
        ({"n_moments": 2}, "n_moments=2 matches variances of whole groups"),
    ],
)
def test_what_has_no_meaning_within_strata_is_refused(options, sentence):
    with pytest.raises(ValueError, match=sentence):
        classifier("odds", **options)


def test_several_targets_have_no_strata():
    with pytest.raises(ValueError, match="criterion='odds' needs one outcome per row"):
        FairKernelRegressor(criterion="odds").fit(X, np.column_stack([SCORE, SCORE]), sensitive_features=S)
