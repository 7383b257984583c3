"""Gap directions: what they measure, and when there are none."""

import array_api_strict
import numpy as np
import pytest
from numpy.testing import assert_allclose
from tests.helpers import gap_vector, moments_of, projector, relative, several_groups, two_groups

from fairkernel.solve import gap_directions, orthonormal_directions

NO_COVARIANCE, NO_VARIANCE = np.empty((0, 6)), np.empty(0)


def directions_of(phi, s, numeric=None):
    m = moments_of(phi, np.zeros((len(s), 1)), s, numeric=numeric)
    return gap_directions(m.group_means, m.numeric_covariance, m.numeric_variance)


def test_two_groups_have_the_one_direction_of_their_mean_difference():
    phi, s, _ = two_groups()
    G = directions_of(phi, s)
    assert G.shape == (4, 1)
    assert_allclose(G[:, 0], phi.T @ gap_vector(s), rtol=1e-12)


@pytest.mark.parametrize("groups", [3, 5])
def test_the_directions_measure_every_pair_of_groups(groups):
    phi, s, _ = several_groups(groups=groups)
    G = directions_of(phi, s)
    assert G.shape == (4, groups - 1)
    a = np.random.default_rng(0).normal(size=4)
    means = np.array([(phi @ a)[s == g].mean() for g in range(groups)])
    assert_allclose(a @ G, means[0] - means[1:], rtol=1e-11)


def test_a_numeric_attribute_is_measured_by_the_covariance_per_standard_deviation():
    phi, s, _ = several_groups()
    age = np.random.default_rng(1).normal(40, 10, size=len(s)) + 5 * phi[:, 0]
    a = np.random.default_rng(0).normal(size=4)
    G = directions_of(phi, np.zeros_like(s), age[:, None])
    assert G.shape == (4, 1)
    expected = np.cov(phi @ a, age, ddof=0)[0, 1] / age.std()
    assert_allclose(a @ G, [expected], rtol=1e-11)


def test_the_unit_of_a_numeric_attribute_does_not_matter():
    phi, s, _ = several_groups()
    years = np.random.default_rng(1).normal(40, 10, size=(len(s), 1)) + 5 * phi[:, :1]
    assert_allclose(directions_of(phi, s, 12 * years + 3), directions_of(phi, s, years), rtol=1e-10)


def test_a_constant_numeric_attribute_adds_a_direction_of_zero_length():
    G = gap_directions(np.eye(2, 6), np.zeros((1, 6)), np.zeros(1))
    assert np.isfinite(G).all()
    assert orthonormal_directions(G, 1.0).shape == (6, 1)


def test_the_basis_is_orthonormal_and_spans_the_directions():
    G = np.random.default_rng(0).normal(size=(6, 3)) * [1e-3, 1.0, 1e3]
    Q = orthonormal_directions(G, 1.0)
    assert_allclose(Q.T @ Q, np.eye(3), atol=1e-13)
    assert_allclose(projector(Q), projector(G), atol=1e-9)


def test_dependent_directions_count_once():
    G = np.random.default_rng(0).normal(size=(6, 2))
    Q = orthonormal_directions(np.column_stack([G, G @ [[1.0], [-2.0]], G[:, :1]]), 1.0)
    assert Q.shape == (6, 2)
    assert_allclose(projector(Q), projector(G), atol=1e-12)


@pytest.mark.parametrize(("length", "kept"), [(0.0, 0), (9e-7, 0), (1.1e-6, 1), (1.0, 1)])
def test_a_difference_counts_if_its_square_exceeds_1e_12_of_the_mean_variance(length, kept):
    G = np.eye(6)[:, :1] * length
    assert orthonormal_directions(G, 1.0).shape == (6, kept)
    assert orthonormal_directions(1e3 * G, 1e6).shape == (6, kept)  # the scale of φ does not matter


def test_no_attribute_gives_no_direction():
    G = gap_directions(np.ones((1, 6)), NO_COVARIANCE, NO_VARIANCE)
    assert orthonormal_directions(G, 1.0).shape == (6, 0)


def test_more_groups_than_features_leave_no_more_than_all_directions():
    G = np.random.default_rng(0).normal(size=(3, 7))
    assert_allclose(projector(orthonormal_directions(G, 1.0)), np.eye(3), atol=1e-12)


def test_a_strict_array_library_gives_the_same_directions():
    rng = np.random.default_rng(0)
    parts = rng.normal(size=(3, 6)), rng.normal(size=(2, 6)), np.array([4.0, 0.0])
    expected = gap_directions(*parts)
    G = gap_directions(*map(array_api_strict.asarray, parts))
    Q = orthonormal_directions(G, 1.0)
    assert type(Q) is type(G)
    assert relative(np.asarray(G), expected) < 1e-14
    assert_allclose(projector(np.asarray(Q)), projector(orthonormal_directions(expected, 1.0)), atol=1e-12)
