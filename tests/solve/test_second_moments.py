"""Matched second moments: the means stay equal and the variances come closer."""

import array_api_strict
import numpy as np
import pytest
from numpy.testing import assert_allclose
from tests.helpers import moments_of, projector, relative

from fairkernel.solve import exact_embedding, gap_directions, matched_second_moments, orthonormal_directions


def unequal_spread(groups=2, n=600, m=12, seed=0):
    """Groups that differ in mean, and in every other column in spread; the columns' pooled variances descend."""
    rng = np.random.default_rng(seed)
    s = np.arange(n) % groups
    spread = 1.0 + s[:, None] * np.tile([1.5, 0.0], m // 2)[None, :]
    phi = rng.normal(size=(n, m)) * spread / np.sqrt((spread**2).mean(axis=0)) * np.linspace(3, 1, m)
    return phi + 0.3 * s[:, None] * rng.normal(size=m), s


class Case:
    def __init__(self, groups=2, **options):
        self.phi, self.s = unequal_spread(groups, **options)
        m = moments_of(self.phi, np.zeros((len(self.s), 1)), self.s)
        G = gap_directions(m.group_means, m.numeric_covariance, m.numeric_variance)
        Q = orthonormal_directions(G, np.trace(m.scatter) / m.weight)
        self.scatter, self.covariances, self.weight = m.scatter, m.group_covariances, m.group_weight
        self.candidates = exact_embedding(m.scatter, Q)

    def matched(self, k, candidates=None):
        candidates = self.candidates.first(2 * k) if candidates is None else candidates
        return matched_second_moments(candidates, self.covariances, self.weight, k)

    def worst_log_ratio(self, directions):
        """Largest |log(variance in a group / pooled variance)| of the features."""
        features = self.phi @ directions
        share = self.weight / self.weight.sum()
        variance = np.array([features[self.s == g].var(axis=0) for g in range(len(share))])
        return np.abs(np.log(variance / (share @ variance))).max()

    def misfit(self, directions):
        """Σ_g (n_g/n) ‖W_g - I‖² on the span, whitened by the pooled covariance."""
        share = self.weight / self.weight.sum()
        within = np.array([directions.T @ S @ directions for S in self.covariances])
        root = np.linalg.cholesky(np.tensordot(share, within, 1))
        whiten = np.linalg.inv(root)
        off = np.array([whiten @ W @ whiten.T - np.eye(len(root)) for W in within])
        return (share * (off**2).sum(axis=(1, 2))).sum()


@pytest.mark.parametrize("groups", [2, 3])
@pytest.mark.parametrize("k", [2, 4])
def test_variances_of_the_groups_are_closer_than_before(groups, k):
    case = Case(groups)
    before, after = case.candidates.first(k).directions, case.matched(k).directions
    assert case.worst_log_ratio(before) > 0.4
    assert case.worst_log_ratio(after) < 0.33 * case.worst_log_ratio(before)
    assert case.misfit(after) < 0.2 * case.misfit(before)


@pytest.mark.parametrize("groups", [2, 3])
def test_means_of_the_groups_stay_equal(groups):
    case = Case(groups)
    features = case.phi @ case.matched(4).directions
    means = np.array([features[case.s == g].mean(axis=0) for g in range(groups)])
    assert np.abs(means - means[0]).max() < 1e-12


def test_directions_are_orthonormal_within_the_candidates():
    case = Case()
    H = case.matched(4).directions
    assert_allclose(H.T @ H, np.eye(4), atol=1e-12)
    inside = projector(case.candidates.first(8).directions)
    assert_allclose(inside @ H, H, atol=1e-12)


@pytest.mark.parametrize("groups", [2, 4])
def test_eigenvalues_are_the_least_squared_misfits_ascending(groups):
    case = Case(groups)
    found = case.matched(5)
    assert (np.diff(found.eigenvalues) >= 0).all()
    assert found.eigenvalues[0] >= 0
    # vᵀ Σ_g share_g (W_g - I)² v over whitened v: their sum over any 5 directions of the candidates is larger.
    H = case.candidates.first(10).directions
    share = case.weight / case.weight.sum()
    within = np.array([H.T @ S @ H for S in case.covariances])
    whiten = np.linalg.inv(np.linalg.cholesky(np.tensordot(share, within, 1)))
    off = np.array([whiten @ W @ whiten.T - np.eye(H.shape[1]) for W in within])
    values = np.linalg.eigvalsh(np.einsum("g,gij,gjk->ik", share, off, off))
    assert_allclose(found.eigenvalues, values[:5], rtol=1e-9, atol=1e-14)


def test_two_groups_get_the_eigenvectors_of_the_whitened_difference_with_smallest_absolute_eigenvalue():
    # Σ share_g (W_g - I)² = share_u share_p (W_u - W_p)², since the pooled W is I.
    case = Case(n=500)
    H = case.candidates.first(8).directions
    share = case.weight / case.weight.sum()
    within = np.array([H.T @ S @ H for S in case.covariances])
    values, vectors = np.linalg.eigh(np.tensordot(share, within, 1))
    whiten = vectors / np.sqrt(values)
    difference, axes = np.linalg.eigh(whiten.T @ (within[0] - within[1]) @ whiten)
    order = np.argsort(np.abs(difference))[:4]
    found = case.matched(4)
    assert_allclose(found.eigenvalues, share[0] * share[1] * difference[order] ** 2, rtol=1e-8)
    assert_allclose(projector(found.directions), projector(H @ whiten @ axes[:, order]), atol=1e-8)


def test_equal_covariances_have_no_misfit():
    case = Case()
    case.covariances = np.stack([case.scatter, case.scatter]) / len(case.s)
    assert case.matched(3).eigenvalues.max() < 1e-25


def test_candidates_without_variance_are_left_out():
    case = Case()
    flat = np.diag([1.0] * 10 + [0.0] * 2)
    case.covariances = flat @ case.covariances @ flat
    everything = exact_embedding(np.eye(12), np.empty((12, 0)))
    found = case.matched(12, everything)
    assert found.rank == 10
    assert found.directions.shape == (12, 10)
    assert np.abs(found.directions[10:]).max() < 1e-12
    assert found.reason.startswith("the 10 of 10 directions of zero mean gap")


def test_a_strict_array_library_gives_the_same_directions():
    case = Case(3)
    expected = case.matched(4)
    strict = type(expected)(*map(array_api_strict.asarray, (case.candidates.directions[:, :8], np.ones(8))), 8, "")
    given = array_api_strict.asarray(case.covariances), array_api_strict.asarray(case.weight)
    found = matched_second_moments(strict, *given, 4)
    assert relative(np.asarray(found.eigenvalues), expected.eigenvalues) < 1e-9
    assert_allclose(projector(np.asarray(found.directions)), projector(expected.directions), atol=1e-9)
