"""The printed embedding: Eq. 6 symmetrised, within the range of K."""

import array_api_strict
import numpy as np
import pytest
import scipy.linalg
from numpy.testing import assert_allclose
from tests.helpers import M_printed, moments_of, relative, two_groups

from fairkernel.solve import printed_embedding


def parts(phi, s, weight=None):
    m = moments_of(phi, np.zeros((len(s), 1)), s, weight=weight)
    return m.group_second_moments, m.group_means, m.group_weight


@pytest.mark.parametrize(("n_u", "n_p"), [(25, 15), (15, 25), (30, 4)])
def test_it_is_the_generalised_eigenproblem_of_eq_6(n_u, n_p):
    # The features are the kernel's own (linear kernel of 4 columns), so both pencils have rank 4.
    phi, s, _ = two_groups(n_u, n_p)
    found = printed_embedding(*parts(phi, s))
    K = phi @ phi.T
    M = M_printed(K, s)
    f = phi @ found.directions  # f = Kα, with α = φ (φᵀφ)⁻¹ η
    alpha = phi @ np.linalg.solve(phi.T @ phi, found.directions)
    assert_allclose(K @ alpha, f, atol=1e-11)
    assert relative((M + M.T) / 2 @ alpha, f * found.eigenvalues) < 1e-10


def test_eigenvalues_ascend_and_exactly_one_is_negative():
    phi, s, _ = two_groups(columns=6)
    values = printed_embedding(*parts(phi, s)).eigenvalues
    assert (np.diff(values) > 0).all()
    assert (values < 0).sum() == 1


def test_directions_are_orthonormal():
    phi, s, _ = two_groups()
    H = printed_embedding(*parts(phi, s)).directions
    assert_allclose(H.T @ H, np.eye(4), atol=1e-12)


def test_the_order_of_the_groups_does_not_matter():
    phi, s, _ = two_groups()
    found, swapped = printed_embedding(*parts(phi, s)), printed_embedding(*parts(phi, 1 - s))
    assert_allclose(found.eigenvalues, swapped.eigenvalues, rtol=1e-10)
    assert_allclose(np.abs(found.directions.T @ swapped.directions), np.eye(4), atol=1e-9)


def test_a_weight_is_a_row_repeated():
    phi, s, _ = two_groups()
    w = np.random.default_rng(0).integers(1, 4, size=len(s))
    found = printed_embedding(*parts(phi, s, w.astype(float)))
    expected = printed_embedding(*parts(np.repeat(phi, w, axis=0), np.repeat(s, w)))
    assert_allclose(found.eigenvalues, expected.eigenvalues, rtol=1e-10)


def test_directions_outside_the_range_of_K_are_left_out():
    phi, s, _ = two_groups(columns=3)
    wide = np.column_stack([phi, phi @ [1.0, 1.0, 0.0], np.zeros(len(s))])
    found = printed_embedding(*parts(wide, s))
    assert found.rank == 3
    assert found.directions.shape == (5, 3)
    spanned = np.linalg.svd(wide)[2][:3]
    assert_allclose(np.linalg.norm(spanned @ found.directions, axis=0), np.ones(3), rtol=1e-10)
    assert found.reason.endswith("rank 3 at tolerance 1e-10")


def test_the_rank_tolerance_decides_what_the_printed_objective_picks():
    # Eq. 6 prefers the smallest features, so a direction of tiny variance comes second or is outside: nothing between.
    phi, s, _ = two_groups(columns=3)
    wide = np.column_stack([phi, 1e-4 * np.random.default_rng(0).normal(size=len(s))])
    loose = printed_embedding(*parts(wide, s), rank_tolerance=1e-10)
    tight = printed_embedding(*parts(wide, s), rank_tolerance=1e-6)
    assert (loose.rank, tight.rank) == (4, 3)
    assert abs(loose.directions[3, 1]) > 0.99
    assert np.abs(tight.directions[3]).max() < 1e-3


@pytest.mark.parametrize("scale", [1e-9, 1e9])
def test_the_scale_of_the_features_does_not_matter(scale):
    phi, s, _ = two_groups(columns=3)
    wide = np.column_stack([phi, phi @ [1.0, 1.0, 0.0]])
    found, expected = printed_embedding(*parts(scale * wide, s)), printed_embedding(*parts(wide, s))
    assert found.rank == expected.rank == 3
    assert_allclose(found.eigenvalues, scale**2 * expected.eigenvalues, rtol=1e-9)


def test_dense_scipy_solves_the_same_pencil():
    phi, s, _ = two_groups(30, 20, columns=5)
    u, p = phi[s == 0], phi[s == 1]
    M = u.T @ u / 30**2 + p.T @ p / 20**2
    cross = np.outer(u.mean(axis=0), p.mean(axis=0))
    expected = scipy.linalg.eigvalsh(M - cross - cross.T)
    assert_allclose(printed_embedding(*parts(phi, s)).eigenvalues, expected, rtol=1e-10)


def test_more_than_two_groups_are_refused():
    with pytest.raises(
        ValueError, match=r"Eq. 6 of the paper, which has two groups; got 3. Use objective='discrepancy'"
    ):
        printed_embedding(np.zeros((3, 2, 2)), np.zeros((3, 2)), np.ones(3))


def test_a_strict_array_library_gives_the_same_embedding():
    phi, s, _ = two_groups()
    given = parts(phi, s)
    found = printed_embedding(*map(array_api_strict.asarray, given))
    expected = printed_embedding(*given)
    assert relative(np.asarray(found.eigenvalues), expected.eigenvalues) < 1e-11
    assert_allclose(np.abs(np.asarray(found.directions).T @ expected.directions), np.eye(4), atol=1e-9)
