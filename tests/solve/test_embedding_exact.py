"""The exact embedding: zero gap, then largest variance."""

import array_api_strict
import numpy as np
import pytest
from numpy.testing import assert_allclose
from tests.helpers import projector, relative

from fairkernel.solve import exact_embedding


def problem(m=8, r=2, rank=None, seed=0):
    """A scatter matrix C and orthonormal gap directions Q."""
    rng = np.random.default_rng(seed)
    root = rng.normal(size=(m, m if rank is None else rank))
    return root @ root.T, np.linalg.qr(rng.normal(size=(m, r)))[0]


@pytest.mark.parametrize("r", [0, 1, 3])
def test_directions_are_orthonormal_and_carry_no_gap(r):
    C, Q = problem(r=r)
    H = exact_embedding(C, Q).directions
    assert H.shape == (8, 8 - r)
    assert_allclose(H.T @ H, np.eye(8 - r), atol=1e-13)
    assert_allclose(Q.T @ H, np.zeros((r, 8 - r)), atol=1e-14)


@pytest.mark.parametrize("r", [0, 1, 3])
def test_variances_are_diagonal_descending_and_reported(r):
    C, Q = problem(r=r)
    found = exact_embedding(C, Q)
    assert_allclose(found.directions.T @ C @ found.directions, np.diag(found.eigenvalues), atol=1e-12)
    assert (np.diff(found.eigenvalues) < 0).all()


def test_directions_are_the_eigenvectors_of_the_projected_scatter():
    C, Q = problem()
    outside = np.eye(8) - Q @ Q.T
    values, vectors = np.linalg.eigh(outside @ C @ outside)
    found = exact_embedding(C, Q)
    assert_allclose(found.eigenvalues, values[::-1][:6], rtol=1e-11)
    for j in range(6):
        assert_allclose(abs(found.directions[:, j] @ vectors[:, 7 - j]), 1.0, rtol=1e-10)


def test_no_other_directions_of_zero_gap_have_more_variance():
    C, Q = problem()
    H = exact_embedding(C, Q).first(3).directions
    rng = np.random.default_rng(1)
    outside = np.eye(8) - Q @ Q.T
    for _ in range(100):
        other = np.linalg.qr(outside @ rng.normal(size=(8, 3)))[0]
        assert np.trace(other.T @ C @ other) < np.trace(H.T @ C @ H)


def test_no_gap_direction_gives_plain_principal_components():
    C, Q = problem(r=0)
    found = exact_embedding(C, Q)
    assert_allclose(found.eigenvalues, np.linalg.eigvalsh(C)[::-1], rtol=1e-11)
    assert "equal means already: plain kernel PCA" in found.reason


@pytest.mark.parametrize(("rank", "r", "expected"), [(3, 0, 3), (3, 1, 3), (8, 1, 7), (8, 8, 0), (5, 4, 4)])
def test_rank_counts_the_directions_of_positive_variance(rank, r, expected):
    C, Q = problem(rank=rank, r=r)
    found = exact_embedding(C, Q)
    assert found.rank == expected
    assert found.directions.shape == (8, expected)
    assert (found.eigenvalues > 0).all()


def test_a_gap_within_the_range_of_a_singular_scatter_costs_one_direction():
    C, _ = problem(rank=3)
    Q = np.linalg.eigh(C)[1][:, -1:]
    assert exact_embedding(C, Q).rank == 2


@pytest.mark.parametrize("scale", [1e-20, 1.0, 1e20])
def test_the_scale_of_the_scatter_does_not_matter(scale):
    C, Q = problem(rank=5)
    found, expected = exact_embedding(scale * C, Q), exact_embedding(C, Q)
    assert found.rank == expected.rank
    assert_allclose(found.eigenvalues, scale * expected.eigenvalues, rtol=1e-10)
    assert_allclose(projector(found.directions), projector(expected.directions), atol=1e-10)


def test_constant_features_have_no_direction():
    found = exact_embedding(np.zeros((4, 4)), np.eye(4)[:, :1])
    assert found.rank == 0
    assert found.directions.shape == (4, 0)


@pytest.mark.parametrize(("r", "sentence"), [(1, "(1 gap direction removed)"), (2, "(2 gap directions removed)")])
def test_the_reason_says_how_many_gap_directions_were_removed(r, sentence):
    reason = exact_embedding(*problem(r=r)).reason
    assert reason.startswith(f"{8 - r} directions of zero mean gap and positive variance")
    assert reason.endswith(sentence)


@pytest.mark.parametrize("r", [0, 2])
def test_a_strict_array_library_gives_the_same_embedding(r):
    C, Q = problem(r=r)
    found = exact_embedding(array_api_strict.asarray(C), array_api_strict.asarray(Q))
    expected = exact_embedding(C, Q)
    assert relative(np.asarray(found.eigenvalues), expected.eigenvalues) < 1e-12
    assert_allclose(np.abs(np.asarray(found.directions).T @ expected.directions), np.eye(8 - r), atol=1e-10)
