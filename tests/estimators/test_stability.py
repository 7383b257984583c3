"""span_stability: angles between the span of all rows and those of resamples."""

import numpy as np
import pandas as pd
import pytest
from scipy.stats import ortho_group

from fairkernel import FairFeatureEmbedding
from fairkernel.estimators import stability
from fairkernel.estimators.stability import principal_angles
from fairkernel.exceptions import ContinuousSensitiveWarning
from fairkernel.kernels import RBF, Linear

RNG = np.random.default_rng(0)
N = 600
S = np.where(RNG.random(N) < 0.4, "b", "a")
X = RNG.normal(size=(N, 5)) * [4.0, 3.0, 1.0, 0.9, 0.8] + 8.0 * np.outer(S == "b", [0, 0, 1, 0, 0])


def stable(X=X, s=S, *, n_resamples=8, random_state=0, weight=None, y=None, **parameters):
    model = FairFeatureEmbedding(**{"n_components": 2, "kernel": "linear", "random_state": 0, **parameters})
    return model.span_stability(
        X, sensitive_features=s, y=y, sample_weight=weight, n_resamples=n_resamples, random_state=random_state
    )


# Angles


def test_angles_are_those_a_rotation_was_given():
    t = np.radians([50.0, 20.0])
    B = np.zeros((5, 2))
    B[[0, 1], [0, 1]], B[[2, 3], [0, 1]] = np.cos(t), np.sin(t)
    turn = ortho_group.rvs(5, random_state=1)
    np.testing.assert_allclose(principal_angles(turn @ np.eye(5)[:, :2], turn @ B), [50.0, 20.0], atol=1e-10)


def test_angles_do_not_depend_on_the_basis_of_a_span():
    A, B = (np.linalg.qr(RNG.normal(size=(6, 3)))[0] for _ in range(2))
    turned = A @ ortho_group.rvs(3, random_state=2), B @ ortho_group.rvs(3, random_state=3)
    np.testing.assert_allclose(principal_angles(*turned), principal_angles(A, B), atol=1e-10)


def test_a_span_without_columns_is_lost_altogether():
    np.testing.assert_array_equal(principal_angles(np.eye(3)[:, :2], np.empty((3, 0))), [90.0, 90.0])


def test_a_span_that_grew_has_lost_nothing():
    np.testing.assert_allclose(principal_angles(np.eye(3)[:, 1:2], np.eye(3)[:, :2]), [0.0], atol=1e-10)
    assert principal_angles(np.empty((3, 0)), np.eye(3)).shape == (0,)


# The report


def test_a_resample_with_every_row_once_turns_nothing(monkeypatch):
    monkeypatch.setattr(stability, "_times_drawn", lambda codes, rng: np.ones(len(codes)))
    for kernel in ("linear", "rbf"):
        found = stable(kernel=kernel)
        assert found.angles.max() < 1e-6
        assert found.without_rule.max() > 30.0


def test_angles_are_those_of_embeddings_refitted_from_scratch(monkeypatch):
    drawn = [stability._times_drawn(np.unique(S, return_inverse=True)[1], np.random.RandomState(i)) for i in range(3)]
    queue = iter(drawn)
    monkeypatch.setattr(stability, "_times_drawn", lambda codes, rng: next(queue))
    found = stable(n_resamples=3)

    def directions(times):
        # A linear kernel's function is x ↦ x·w: the span is that of the w.
        rows = np.repeat(X, times.astype(int), axis=0)
        model = FairFeatureEmbedding(2, kernel="linear", features="exact", random_state=0)
        model.fit(rows, sensitive_features=np.repeat(S, times.astype(int)))
        return np.linalg.qr(rows[model.landmark_indices_].T @ model.coef_)[0]

    again = [principal_angles(directions(np.ones(N)), directions(times)) for times in drawn]
    np.testing.assert_allclose(found.angles, again, atol=1e-5)


def test_every_cell_keeps_its_number_of_rows_and_no_group_is_lost():
    codes = np.repeat([0, 1, -1], [40, 3, 7])
    for seed in range(20):
        times = stability._times_drawn(codes, np.random.RandomState(seed))
        assert [times[codes == c].sum() for c in (0, 1, -1)] == [40, 3, 7]
    assert times.max() > 1
    assert times.min() == 0


def test_the_rule_holds_the_span_and_its_absence_does_not():
    found = stable()
    assert found.angles.shape == found.without_rule.shape == (8, 2)
    assert found.largest < 15.0 < 60.0 < found.without_rule.max()
    assert found.without_rule.mean() > 5 * found.mean
    assert found.largest == found.angles.max()
    assert found.mean == found.angles.mean()


def test_arbitrary_frames_have_no_gap():
    model = FairFeatureEmbedding(2, kernel="linear", random_state=0)
    rows = model._training_rows(X, None, S, None)
    moments = model._learn_moments(rows, model._learn_features(rows))
    frame = stability._frame_without_gap(model._gap_directions(moments), 3, np.random.RandomState(0))
    np.testing.assert_allclose(np.diff(moments.group_means @ frame, axis=0), 0.0, atol=1e-12)
    np.testing.assert_allclose(frame.T @ frame, np.eye(3), atol=1e-12)


def test_the_eigenvalue_ratio_tells_where_the_span_is_held():
    held, torn = stable(n_components=2), stable(n_components=3)
    assert held.eigenvalue_ratio > 4.0
    assert torn.eigenvalue_ratio < 1.4
    assert 2 * held.largest < torn.largest
    model = FairFeatureEmbedding(5, kernel="linear", random_state=0)
    with pytest.warns(UserWarning, match="rank 4"):
        e = model.fit(X, sensitive_features=S).eigenvalues_
    np.testing.assert_allclose(held.eigenvalue_ratio, e[1] / e[2])


def test_the_whole_space_without_the_gap_turns_as_the_gap_does():
    found = stable(n_components=4)  # five columns, one gap direction
    np.testing.assert_allclose(found.angles, found.without_rule, atol=1e-5)
    np.testing.assert_allclose(found.angles[:, :1], found.gap_angles, atol=1e-5)
    np.testing.assert_allclose(found.angles[:, 1:], 0.0, atol=1e-5)
    assert np.isinf(found.eigenvalue_ratio)


def test_a_gap_that_rows_hardly_tell_turns_more():
    blurred = X.copy()
    blurred[:, 2] -= 7.0 * (S == "b")
    assert stable(blurred).gap_angles.mean() > 2 * stable().gap_angles.mean()


def test_equal_means_have_no_gap_direction_to_turn(monkeypatch):
    monkeypatch.setattr(stability, "_times_drawn", lambda codes, rng: np.ones(len(codes)))
    found = stable(np.vstack([X, X]), np.repeat(["a", "b"], N))
    assert found.gap_angles.shape == (8, 0)
    assert "the gap" not in str(found)


def test_more_rows_turn_less():
    times = np.repeat(np.arange(N), 20)
    assert stable(X[times], S[times]).mean < 0.4 * stable().mean


def test_a_direction_that_a_resample_lacks_is_lost():
    # One row holds all of the last direction: a third of the resamples do not draw it.
    rows = np.zeros((40, 3))
    rows[:, 0], rows[0, 1], rows[:, 2] = np.linspace(-1, 1, 40), 9.0, RNG.normal(size=40)
    found = stable(rows, np.tile(["a", "b"], 20), n_resamples=20)
    assert (found.angles[:, 0] == 90.0).any()
    assert np.isfinite(found.angles).all()


def test_the_same_seed_gives_the_same_bits_and_fit_is_left_alone():
    one, two, other = stable(), stable(), stable(random_state=1)
    np.testing.assert_array_equal(one.angles, two.angles)
    np.testing.assert_array_equal(one.without_rule, two.without_rule)
    assert not np.array_equal(one.angles, other.angles)
    model = FairFeatureEmbedding(2, random_state=0).fit(X, sensitive_features=S)
    before = model.coef_.copy()
    model.span_stability(X[:50], sensitive_features=S[:50], n_resamples=1)
    np.testing.assert_array_equal(model.coef_, before)


def test_other_criteria_attributes_weights_and_kernels_work():
    label = (X[:, 0] > 0).astype(int)
    assert stable(criterion="odds", y=label).angles.shape == (8, 2)
    assert stable(criterion="opportunity", y=X[:, 0] + X[:, 1]).angles.shape == (8, 2)
    assert stable(kernel=RBF(0.1) + Linear(), features="exact").largest < 90.0
    assert stable(weight=RNG.uniform(0.5, 2.0, N)).largest < 90.0
    assert stable(X.astype(np.float32)).largest == pytest.approx(stable().largest, abs=0.1)
    with pytest.warns(ContinuousSensitiveWarning):
        mixed = stable(s=pd.DataFrame({"s": S, "age": X[:, 1] + RNG.normal(size=N)}))
    assert mixed.angles.shape == (8, 2)


def test_the_sentence_names_the_figures():
    found = stable()
    assert f"turns by {found.mean:.1f}° on average and {found.largest:.1f}° at most" in str(found)
    assert "over 8 resamples the span of 2 components" in str(found)
    assert f"e_k / e_k+1 = {found.eigenvalue_ratio:.3g}" in str(found)
    assert "the span of 1 component turns" in str(stable(n_components=1))


# What it refuses


@pytest.mark.parametrize("n", [0, -1, 2.5, "20"])
def test_the_number_of_resamples_is_checked(n):
    with pytest.raises(ValueError, match=r"n_resamples must be an integer of at least 1; got"):
        stable(n_resamples=n)


@pytest.mark.parametrize("parameters", [{"objective": "printed"}, {"n_moments": 2}])
def test_choices_without_the_variance_rule_are_refused(parameters):
    with pytest.raises(ValueError, match=r"rule of largest variance, which .* does not use; set"):
        stable(**parameters)


def test_missing_groups_and_rows_that_look_alike_are_refused():
    with pytest.raises(TypeError, match="needs sensitive_features"):
        stable(s=None)
    with pytest.raises(ValueError, match="no direction without a gap"):
        stable(np.ones((20, 2)), np.tile(["a", "b"], 10))
