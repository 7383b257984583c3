import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fairkernel.datasets import make_two_groups

N = 200_000
FIVE_DEVIATIONS = 5 * 2 / np.sqrt(N * 0.3)  # of a difference of group means whose variables have variance < 4


def gap_of(values, bunch):
    in_b = bunch.sensitive_features == "b"
    return values[in_b].mean(axis=0) - values[~in_b].mean(axis=0)


@pytest.mark.parametrize("task", ["classification", "regression"])
@pytest.mark.parametrize("gap", [-0.3, 0.0, 0.25])
def test_the_gap_of_a_large_sample_is_the_gap_asked_for(task, gap):
    made = make_two_groups(N, gap=gap, base_rate=0.4, signal=1.5, proxy=0.7, task=task, random_state=0)
    assert gap_of(made.target, made) == pytest.approx(gap, abs=FIVE_DEVIATIONS)
    assert made.target.mean() == pytest.approx(0.4, abs=FIVE_DEVIATIONS)
    expected = [1.5 * gap, 0.7, 0, 0, 0]
    np.testing.assert_allclose(gap_of(made.data, made), expected, atol=FIVE_DEVIATIONS)


def test_given_the_target_only_the_proxy_column_differs_between_groups():
    made = make_two_groups(N, gap=0.3, proxy=1.0, random_state=1)
    for label in (0, 1):
        of_label = made.target == label
        in_b = made.sensitive_features[of_label] == "b"
        rows = made.data[of_label]
        difference = rows[in_b].mean(axis=0) - rows[~in_b].mean(axis=0)
        np.testing.assert_allclose(difference, [0, 1, 0, 0, 0], atol=2 * FIVE_DEVIATIONS)


@given(n=st.integers(10, 300), share=st.floats(0.1, 0.9), seed=st.integers(0, 2**32 - 1))
def test_group_sizes_are_exact_and_the_seed_fixes_every_row(n, share, seed):
    first, second = (make_two_groups(n, share_b=share, gap=0.1, random_state=seed) for _ in range(2))
    assert np.sum(first.sensitive_features == "b") == round(share * n)
    np.testing.assert_array_equal(first.data, second.data)
    np.testing.assert_array_equal(first.target, second.target)
    np.testing.assert_array_equal(first.sensitive_features, second.sensitive_features)


def test_groups_stand_in_random_places():
    made = make_two_groups(1000, share_b=0.5, random_state=0)
    assert 150 < np.sum(made.sensitive_features[:500] == "b") < 350


def test_frames_hold_what_arrays_hold():
    plain, framed = (make_two_groups(50, as_frame=as_frame, random_state=3) for as_frame in (False, True))
    assert list(framed.frame.columns) == ["x0", "x1", "x2", "x3", "x4", "group", "y"]
    np.testing.assert_array_equal(framed.data, plain.data)


def test_the_description_states_the_population():
    text = make_two_groups(100, gap=0.2, base_rate=0.5, share_b=0.3, random_state=0).DESCR
    assert "E[y | a] = 0.44, E[y | b] = 0.64, gap 0.2" in text


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"gap": 0.9, "share_b": 0.5, "base_rate": 0.8}, r"rates of 0.35 and 1.25, .* a smaller gap"),
        ({"share_b": 0}, "share_b=0 leaves a group without rows"),
        ({"share_b": 1.0}, "share_b=1.0 leaves a group without rows"),
        ({"n_samples": 1}, "n_samples=1 with share_b=0.3 leaves a group without rows"),
        ({"n_samples": 100.5}, "n_samples must be a whole number, got 100.5"),
        ({"n_samples": "100"}, "n_samples must be a whole number, got '100'"),
        ({"n_features": 2.5}, "n_features must be a whole number, got 2.5"),
        ({"n_features": 1}, "n_features must be at least 2 .*, got 1"),
        ({"task": "ranking"}, "task must be 'classification' or 'regression', got 'ranking'"),
    ],
)
def test_parameters_that_make_no_population_are_refused(parameters, message):
    with pytest.raises(ValueError, match=message):
        make_two_groups(**{"random_state": 0, **parameters})
