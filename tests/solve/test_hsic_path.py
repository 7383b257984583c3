"""HSIC directions: the measure against its definition and SciPy, its gradient, and the constrained ridge."""

import array_api_strict
import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.stats import energy_distance
from tests.helpers import moments_of, relative

from fairkernel.solve import (
    Embedding,
    HsicPath,
    RidgePath,
    exact_embedding,
    gap_directions,
    group_contrasts,
    hsic_gradient,
    orthonormal_directions,
)

N, M = 80, 7
RNG = np.random.default_rng(0)
CODES = RNG.integers(0, 3, N)
PHI = RNG.normal(size=(N, M)) * (1 + 0.5 * CODES[:, None] * (np.arange(M) < 3)) + 0.4 * CODES[:, None]
AGE = PHI[:, :1] ** 2 + RNG.normal(size=(N, 1))
Y = PHI[:, :1] + np.sin(PHI[:, 1:2]) + 0.1 * RNG.normal(size=(N, 1))
ONES, ALL = np.ones(N), ((0, 1, 2),)
NONE = np.empty((N, 0))


def contrasts(codes=CODES, strata=None, numeric=None, weight=None):
    strata = (tuple(range(codes.max() + 1)),) if strata is None else strata
    numeric = np.empty((len(codes), 0)) if numeric is None else numeric
    return group_contrasts(codes, strata, numeric, np.ones(len(codes)) if weight is None else weight)


def hsic(scores, C):
    """Σ_c ∫ D_c(u)² du."""
    order = np.argsort(scores)
    D = np.cumsum(C[order], axis=0)[:-1]
    return (D**2).sum(axis=1) @ np.diff(scores[order])


@pytest.mark.parametrize("numeric", [NONE, AGE], ids=["groups", "groups and a number"])
def test_the_integral_is_HSIC_with_minus_the_distance_on_scores(numeric):
    f, C = Y[:, 0], contrasts(numeric=numeric)
    K, L = -np.abs(f[:, None] - f[None, :]), C @ C.T
    assert hsic(f, C) == pytest.approx(0.5 * (K * L).sum())


def test_for_two_groups_it_is_the_energy_distance():
    s, f = CODES % 2, Y[:, 0]
    share = s.mean() * (1 - s.mean())
    # SciPy's is the root of 2 ∫ (F_a − F_b)².
    expected = share * energy_distance(f[s == 0], f[s == 1]) ** 2 / 2
    assert hsic(f, contrasts(s, ((0, 1),))) == pytest.approx(expected)


@pytest.mark.parametrize(
    "C",
    [
        contrasts(),
        contrasts(numeric=AGE),
        contrasts(weight=RNG.uniform(0.5, 2, N)),
        contrasts(np.where(RNG.random(N) < 0.3, -1, CODES)),
        contrasts(CODES + 3 * (Y[:, 0] > 0), ((0, 1, 2), (3, 4, 5))),
        contrasts(0 * CODES, ((0,),), AGE),
    ],
    ids=["groups", "mix", "weights", "rows outside", "strata", "number alone"],
)
def test_the_gradient_is_that_of_the_integral(C):
    a, h = RNG.normal(size=M), 1e-7
    numeric = [(hsic(PHI @ (a + h * e), C) - hsic(PHI @ (a - h * e), C)) / (2 * h) for e in np.eye(M)]
    assert_allclose(-2 * hsic_gradient(PHI, PHI @ a, C), numeric, rtol=1e-5, atol=1e-7)


def test_contrasts_sum_to_zero_over_the_rows_and_leave_rows_outside_alone():
    outside = RNG.random(N) < 0.3
    codes = np.where(outside, -1, CODES)
    C = contrasts(codes, numeric=np.where(outside[:, None], 0.0, AGE))
    assert C.shape == (N, 4)
    assert np.abs(C.sum(axis=0)).max() < 1e-15
    assert not C[outside].any()
    assert_allclose(C[~outside], contrasts(CODES[~outside], numeric=AGE[~outside], weight=ONES[~outside]), atol=1e-16)


def test_the_unit_of_a_number_does_not_matter():
    assert_allclose(contrasts(numeric=12 * AGE + 100), contrasts(numeric=AGE), atol=1e-14)


def test_a_constant_number_and_an_absent_cell_add_nothing():
    C = contrasts(CODES % 2, ((0, 1, 2),), np.full((N, 1), 3.0))
    assert C.shape == (N, 3)
    assert not C[:, 2].any()


def test_weights_are_duplicated_rows():
    weight = RNG.integers(1, 4, N)
    weighted = hsic_gradient(PHI, Y[:, 0], contrasts(numeric=AGE, weight=weight.astype(float)))
    again = contrasts(np.repeat(CODES, weight), ALL, np.repeat(AGE, weight, axis=0), np.ones(weight.sum()))
    repeated = hsic_gradient(np.repeat(PHI, weight, axis=0), np.repeat(Y[:, 0], weight), again)
    assert_allclose(weighted, repeated, atol=1e-12)


def test_tied_rows_have_no_order():
    f = np.round(Y[:, 0])
    order = RNG.permutation(N)
    C = contrasts()
    assert_allclose(hsic_gradient(PHI[order], f[order], C[order]), hsic_gradient(PHI, f, C), atol=1e-14)


# The path -------------------------------------------------------------------------------------------------------------


class Case:
    def __init__(self, targets=Y, rounds=3, phi=PHI, codes=CODES):
        m = self.moments = moments_of(phi, targets, codes)
        G = gap_directions(m.group_means, m.numeric_covariance, m.numeric_variance)
        self.Q = orthonormal_directions(G, np.trace(m.scatter) / m.weight)
        self.embedding = exact_embedding(m.scatter, self.Q)
        self.plain = RidgePath.on(self.embedding, m.scatter, m.cross, self.Q)
        self.path = HsicPath.along(self.plain, phi, contrasts(codes), rounds)

    def remaining(self, alpha, k=None):
        """Ridge on the span that is left, made from scratch."""
        V = self.path.direction(0, alpha, k)
        left = self.embedding.directions[:, :k] @ np.linalg.qr(V, mode="complete")[0][:, V.shape[1] :]
        embedding = Embedding(left, np.empty(0), left.shape[1], "")
        return RidgePath.on(embedding, self.moments.scatter, self.moments.cross, self.Q)


@pytest.mark.parametrize("kept", [0.0, 0.4, 1.0])
@pytest.mark.parametrize("alpha", [0.01, 1.0, 30.0])
@pytest.mark.parametrize("k", [None, 4])
def test_solutions_are_ridge_on_the_span_that_is_left(kept, alpha, k):
    case = Case()
    expected = case.remaining(alpha, k).coefficients(alpha, kept)
    assert_allclose(case.path.coefficients(alpha, kept, k), expected, atol=1e-10)


def test_any_directions_can_be_left_out_of_a_path():
    case, V = Case(), np.linalg.qr(RNG.normal(size=(5, 2)))[0]
    assert case.plain.H.shape[1] == 5
    a = case.plain.coefficients(0.5, 0.0, None, V)
    assert np.abs(V.T @ (case.plain.H.T @ a)).max() < 1e-12


def test_the_direction_is_of_unit_length_and_the_means_stay_equal():
    case = Case()
    V = case.path.direction(0, 0.5)
    assert np.linalg.norm(V) == pytest.approx(1.0)
    a = case.path.coefficients(0.5)
    assert np.abs(V.T @ (case.plain.H.T @ a)).max() < 1e-12
    assert np.ptp(case.moments.group_means @ a) < 1e-12


def test_one_round_takes_the_gradient_at_the_score_of_equal_means():
    case = Case(rounds=1)
    g = hsic_gradient(PHI, (PHI @ case.plain.coefficients(0.5))[:, 0], contrasts())
    n = case.plain.H.T @ g
    assert_allclose(case.path.direction(0, 0.5)[:, 0], n / np.linalg.norm(n), atol=1e-12)


def test_each_round_brings_the_distributions_closer_and_costs_training_error():
    phi = RNG.normal(size=(400, 12))
    codes = np.arange(400) % 2
    phi[:, 0] *= 1 + 2 * codes
    y = phi[:, :1] + phi[:, 1:6].sum(axis=1, keepdims=True)
    apart, error = [], []
    for rounds in (0, 1, 3, 10, 30):
        case = Case(y, rounds, phi, codes)
        f = (phi @ case.path.coefficients(0.1))[:, 0]
        apart.append(hsic(f, contrasts(codes)))
        error.append(np.var(y[:, 0] - f))
    assert (np.diff(apart) < 0).all()
    assert (np.diff(error) > 0).all()
    assert apart[-1] < 0.1 * apart[0]


def test_minus_half_of_the_measure_is_the_score_in_its_own_direction():
    a = RNG.normal(size=M)
    assert hsic_gradient(PHI, PHI @ a, contrasts()) @ a == pytest.approx(-0.5 * hsic(PHI @ a, contrasts()))


def test_no_rounds_are_the_plain_path():
    case = Case(rounds=0)
    for kept in (0.0, 0.5):
        assert_allclose(case.path.coefficients(0.3, kept), case.plain.coefficients(0.3, kept), atol=0)


def test_every_target_has_a_direction_of_its_own():
    targets = np.column_stack([Y[:, 0], PHI[:, 2] - PHI[:, 4]])
    together = Case(targets).path.coefficients(0.5, 0.3)
    for j in (0, 1):
        assert_allclose(together[:, j : j + 1], Case(targets[:, [j]]).path.coefficients(0.5, 0.3), atol=1e-10)


def test_groups_of_equal_distributions_have_no_direction():
    case = Case(np.tile(Y, (2, 1)), 3, np.tile(PHI, (2, 1)), np.repeat([0, 1], N))
    assert case.path.direction(0, 0.5).shape[1] == 0
    assert_allclose(case.path.coefficients(0.5), case.plain.coefficients(0.5), atol=0)


def test_a_strict_array_library_gives_the_same_coefficients():
    case, xp = Case(), array_api_strict
    arrays = (case.plain.H, case.plain.e, case.Q, case.plain.QCQ, case.plain.HCQ, case.plain.Qb, case.plain.Hb)
    strict = HsicPath.along(RidgePath(*map(xp.asarray, arrays)), xp.asarray(PHI), contrasts(), 2)
    expected = HsicPath.along(case.plain, PHI, contrasts(), 2)
    for kept in (0.0, 0.5):
        assert relative(np.asarray(strict.coefficients(0.5, kept)), expected.coefficients(0.5, kept)) < 1e-10
