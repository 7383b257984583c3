"""Directions towards the groups."""

import numpy as np
import pytest

from fairkernel.solve import gap_directions, witness_directions

RNG = np.random.default_rng(0)
MEANS, WEIGHT = RNG.normal(size=(4, 6)), RNG.uniform(1, 3, 4)
COVARIANCE, VARIANCE = RNG.normal(size=(2, 6)), np.array([4.0, 0.25])
NONE = np.empty((0, 6)), np.empty(0)
ALL = (tuple(range(4)),)


def test_two_groups_have_minus_the_direction_of_equation_3():
    ours = witness_directions(MEANS[:2], WEIGHT[:2], *NONE, ((0, 1),))
    np.testing.assert_array_equal(ours, -gap_directions(MEANS[:2], *NONE))


def test_directions_of_several_groups_cancel_when_weighted():
    ours = witness_directions(MEANS, WEIGHT, *NONE, ALL)
    assert ours.shape == (6, 4)
    np.testing.assert_allclose(ours @ WEIGHT, 0.0, atol=1e-13)


@pytest.mark.parametrize("strata", [ALL, ((0, 1), (2, 3)), ((0, 1, 3),)])
def test_they_span_what_the_gap_directions_span(strata):
    numeric = (COVARIANCE, VARIANCE)
    ours, gaps = witness_directions(MEANS, WEIGHT, *numeric, strata), gap_directions(MEANS, *numeric, strata)
    rank = np.linalg.matrix_rank(gaps)
    assert np.linalg.matrix_rank(ours) == np.linalg.matrix_rank(np.column_stack([ours, gaps])) == rank


def test_an_attribute_without_variance_has_the_direction_zero():
    ours = witness_directions(MEANS[:1], WEIGHT[:1], np.zeros((1, 6)), np.zeros(1), ((0,),))
    np.testing.assert_array_equal(ours, np.zeros((6, 1)))
