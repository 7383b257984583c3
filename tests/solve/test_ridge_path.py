"""The ridge path against direct constrained solutions (KKT systems), for every k, penalty and share kept."""

import array_api_strict
import numpy as np
import pytest
from numpy.testing import assert_allclose
from tests.helpers import moments_of, relative, several_groups, two_groups

from fairkernel.solve import Embedding, RidgePath, exact_embedding, gap_directions, orthonormal_directions


def two():
    phi, s, y = two_groups(30, 20, columns=7)
    return phi, s, None, y[:, None]


def four():
    phi, s, y = several_groups(groups=4, columns=7)
    return phi, s, None, y[:, None]


def continuous():
    phi, s, y = several_groups(columns=7)
    age = np.random.default_rng(1).gamma(3.0, size=(len(s), 2)) + phi[:, :2]
    return phi, np.zeros_like(s), age, y[:, None]


def mixed_with_several_targets():
    phi, s, age, y = continuous()
    groups = several_groups(columns=7)[1]
    return phi, groups, age[:, :1], np.column_stack([y, phi[:, 2:4] + age, np.ones(len(s))])


SETTINGS = [two, four, continuous, mixed_with_several_targets]


class Problem:
    """Moments and what is derived from them, for one setting."""

    def __init__(self, setting):
        self.phi, self.s, self.numeric, self.y = setting()
        m = moments_of(self.phi, self.y, self.s, numeric=self.numeric)
        self.C, self.b = m.scatter, m.cross
        self.G = gap_directions(m.group_means, m.numeric_covariance, m.numeric_variance)
        self.Q = orthonormal_directions(self.G, np.trace(self.C) / m.weight)
        self.embedding = exact_embedding(self.C, self.Q)
        self.path = RidgePath.on(self.embedding, self.C, self.b, self.Q)

    def direct(self, k, alpha, target):
        """min wᵀ(C + αI)w - 2bᵀw over span(H_k, Q) subject to Gᵀw = target, as one KKT system."""
        B = np.hstack([self.embedding.directions[:, :k], self.Q])
        constraint = B.T @ self.Q
        r = self.Q.shape[1]
        # G = QR, so Gᵀw = target is Qᵀw = R⁻ᵀ target.
        target = np.linalg.solve((self.Q.T @ self.G).T, target)
        inner = B.T @ (self.C + alpha * np.eye(len(self.C))) @ B
        system = np.block([[inner, constraint], [constraint.T, np.zeros((r, r))]])
        return B @ np.linalg.solve(system, np.vstack([B.T @ self.b, target]))[: B.shape[1]]

    def unconstrained(self, k, alpha):
        B = np.hstack([self.embedding.directions[:, :k], self.Q])
        return B @ np.linalg.solve(B.T @ (self.C + alpha * np.eye(len(self.C))) @ B, B.T @ self.b)


@pytest.fixture(scope="module", params=SETTINGS, ids=lambda setting: setting.__name__)
def problem(request):
    return Problem(request.param)


@pytest.mark.parametrize("kept", [0.0, 1e-3, 0.4, 1.0])
@pytest.mark.parametrize("alpha", [1e-3, 1.0, 1e3])
def test_every_solution_is_the_constrained_minimum(problem, alpha, kept):
    for k in (1, 2, problem.path.e.shape[0]):
        gap = problem.G.T @ problem.unconstrained(k, alpha)
        expected = problem.direct(k, alpha, kept * gap)
        assert relative(problem.path.coefficients(alpha, kept, k), expected) < 1e-9


@pytest.mark.parametrize("alpha", [1e-3, 10.0])
def test_keeping_all_disparity_with_all_components_is_plain_ridge(problem, alpha):
    expected = np.linalg.solve(problem.C + alpha * np.eye(len(problem.C)), problem.b)
    assert relative(problem.path.coefficients(alpha, 1.0), expected) < 1e-10


def test_every_difference_keeps_exactly_its_share(problem):
    for k in (2, None):
        full = problem.G.T @ problem.path.coefficients(0.5, 1.0, k)
        for kept in (0.9, 0.3, 0.01):
            assert_allclose(problem.G.T @ problem.path.coefficients(0.5, kept, k), kept * full, rtol=1e-9, atol=1e-13)


def test_keeping_nothing_leaves_no_gap_between_any_groups(problem):
    f = problem.phi @ problem.path.coefficients(0.5, 0.0)
    means = np.array([f[problem.s == g].mean(axis=0) for g in np.unique(problem.s)])
    assert np.abs(means - means[0]).max() < 1e-12
    if problem.numeric is not None:
        age = problem.numeric - problem.numeric.mean(axis=0)
        assert np.abs(age.T @ f).max() < 1e-10


def test_coefficients_are_linear_in_the_share_kept(problem):
    none, all_of_it = (problem.path.coefficients(0.5, kept, 3) for kept in (0.0, 1.0))
    for kept in (0.2, 0.7):
        found = problem.path.coefficients(0.5, kept, 3)
        assert relative(found, (1 - kept) * none + kept * all_of_it) < 1e-12


def test_a_tiny_share_is_next_to_none(problem):
    assert relative(problem.path.coefficients(0.5, 1e-12), problem.path.coefficients(0.5, 0.0)) < 1e-9


def test_without_gap_directions_the_share_has_no_effect():
    given = Problem(two)
    path = RidgePath.on(given.embedding, given.C, given.b, given.Q[:, :0])
    assert_allclose(path.coefficients(0.5, 1.0), path.coefficients(0.5, 0.0), rtol=0)
    assert_allclose(path.coefficients(0.5, 1.0, 3), given.path.coefficients(0.5, 0.0, 3), rtol=1e-12)


def test_targets_are_solved_independently():
    given = Problem(mixed_with_several_targets)
    together = given.path.coefficients(0.5, 0.3)
    for j in range(given.y.shape[1]):
        alone = RidgePath.on(given.embedding, given.C, given.b[:, j : j + 1], given.Q)
        assert_allclose(together[:, j : j + 1], alone.coefficients(0.5, 0.3), rtol=1e-10, atol=1e-14)


def test_a_constant_target_has_no_coefficients():
    given = Problem(mixed_with_several_targets)
    assert np.abs(given.path.coefficients(0.5, 1.0)[:, -1]).max() < 1e-12


def test_directions_that_do_not_diagonalise_the_scatter_are_rotated_within_their_span():
    given = Problem(four)
    rotation = np.linalg.qr(np.random.default_rng(0).normal(size=(4, 4)))[0]
    oblique = Embedding(given.embedding.directions[:, :4] @ rotation, np.ones(4), 4, "rotated")
    path = RidgePath.on(oblique, given.C, given.b, given.Q)
    assert_allclose(path.H.T @ given.C @ path.H, np.diag(path.e), atol=1e-10)
    for kept in (0.0, 0.5):
        assert relative(path.coefficients(0.1, kept), given.path.coefficients(0.1, kept, 4)) < 1e-10


def test_no_components_predict_the_mean():
    given = Problem(two)
    nothing = RidgePath.on(given.embedding.first(0), given.C, given.b, given.Q)
    assert_allclose(nothing.coefficients(0.5, 0.0), np.zeros((7, 1)))
    q = given.Q[:, 0]
    only_the_gap = q[:, None] * (q @ given.b) / (q @ given.C @ q + 0.5)
    assert_allclose(nothing.coefficients(0.5, 1.0), only_the_gap, rtol=1e-12)


@pytest.mark.parametrize("setting", SETTINGS)
def test_a_strict_array_library_gives_the_same_path(setting):
    given = Problem(setting)
    C, b, Q, H, e = map(
        array_api_strict.asarray, (given.C, given.b, given.Q, given.embedding.directions, given.embedding.eigenvalues)
    )
    path = RidgePath.on(Embedding(H, e, given.embedding.rank, ""), C, b, Q)
    for k, kept in ((None, 0.0), (None, 0.3), (2, 0.3)):
        found = path.coefficients(0.5, kept, k)
        assert type(found) is type(C)
        assert relative(np.asarray(found), given.path.coefficients(0.5, kept, k)) < 1e-11
