"""The line of decisions against brute force, and the rule against the best there is: a linear program."""

from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from scipy.optimize import linprog

from fairkernel.solve.decision import Compared, DecisionLine, levels_between_flips, parity_direction, rates_along

HALVES = st.integers(-6, 6).map(lambda i: i / 2)  # ties and zeros on purpose


def sample(n=400, groups=2, seed=0):
    """Scores that are probabilities, groups, and the rates' weights."""
    rng = np.random.default_rng(seed)
    codes = rng.integers(groups, size=n)
    codes[:groups] = range(groups)
    f = np.clip(0.4 + 0.12 * codes + 0.25 * rng.normal(size=n), 0.01, 0.99)
    member = np.eye(groups)[codes]
    return f, codes, member / member.mean(axis=0), member / member.sum(axis=0)


@given(arrays(float, 7, elements=HALVES), arrays(float, 7, elements=HALVES), st.integers(0, 9))
def test_rates_along_the_line_are_those_of_each_level_by_itself(u, v, seed):
    rng = np.random.default_rng(seed)
    weights, levels = rng.normal(size=(7, 2)), np.unique(rng.choice([0.0, 0.5, 1.0, 2.0, 3.0], 4))
    expected = [weights.T @ (u - c * v >= 0) for c in levels]
    np.testing.assert_allclose(rates_along(u, v, weights, levels), expected, atol=1e-12)


@given(arrays(float, 6, elements=HALVES), arrays(float, 6, elements=HALVES))
def test_levels_meet_every_set_of_decisions_that_an_interval_of_levels_has(u, v):
    met = {tuple(u - c * v >= 0) for c in levels_between_flips(u, v)}
    flips = np.unique([0.0, *[a / b for a, b in zip(u, v, strict=True) if b and a / b > 0]])
    between = [*(flips[:-1] + np.diff(flips) / 2), flips[-1] + 1.0]
    assert {tuple(u - c * v >= 0) for c in (0.0, *between)} == met


def test_rows_at_the_threshold_change_sides_at_once():
    u, v = np.array([0.0, 0.0, 1.0]), np.array([1.0, -1.0, -1.0])
    met = {tuple(u - c * v >= 0) for c in levels_between_flips(u, v)}
    assert met == {(True, True, True), (False, True, True)}


def test_a_denominator_near_zero_makes_no_level_infinite():
    levels = levels_between_flips(np.array([1.0, 1.0]), np.array([1e-320, 2.0]))
    assert np.isfinite(levels).all()


@pytest.mark.parametrize("seed", range(5))
def test_two_known_groups_get_the_best_pair_of_thresholds(seed):
    """Brute force: no pair of thresholds within the tolerance has less expected error."""
    f, codes, likeness, weights = sample(n=60, seed=seed)
    found = DecisionLine.of(f - 0.5, likeness, weights, Compared(((0, 1),)))
    cuts = [np.concatenate([[-1.0], np.sort(f[codes == g])]) for g in (0, 1)]
    pairs = []
    for cut in product(*cuts):
        decided = f > np.array(cut)[codes]
        rates = decided @ weights
        pairs.append((abs(rates[0] - rates[1]), np.where(decided, 1 - f, f).mean()))
    pairs = np.array(pairs)
    for tolerance in (0.02, 0.05, 0.1, 0.2):
        at, reached = found.within(tolerance)
        assert reached
        decided = f - 0.5 - found.levels[at] * (Compared(((0, 1),)).contrasts(likeness) @ found.theta) >= 0
        assert found.gaps[at] <= tolerance + 1e-12
        best = pairs[pairs[:, 0] <= found.gaps[at] + 1e-12, 1].min()
        rates = decided @ weights
        # Where the last row taken has turned the gap round, a row may stand between the rule and the best pair.
        turned = (rates[1] - rates[0]) * found.theta[0] < 0
        assert np.where(decided, 1 - f, f).mean() <= best + turned / len(f) + 1e-12


@pytest.mark.parametrize("tolerance", [0.02, 0.1])
def test_unknown_groups_come_within_a_row_of_the_linear_program(tolerance):
    """The rows are all of the population, p(y | x) and p(s | x) are known: randomised decisions bound any others."""
    rng = np.random.default_rng(3)
    n = 300
    group = np.clip(rng.beta(0.6, 0.6, size=n), 0.02, 0.98)
    f = np.clip(0.35 + 0.3 * group + 0.2 * rng.normal(size=n), 0.01, 0.99)
    member = np.column_stack([1 - group, group])
    weights = member / member.sum(axis=0)
    compared = Compared(((0, 1),))
    found = DecisionLine.of(f - 0.5, member / member.mean(axis=0), weights, compared)
    at, reached = found.within(tolerance)
    decided = f - 0.5 - found.levels[at] * (compared.contrasts(member / member.mean(axis=0)) @ found.theta) >= 0
    gain = (2 * f - 1) / n
    contrast = compared.contrasts(weights)[:, 0]
    program = linprog(-gain, A_ub=[contrast, -contrast], b_ub=[tolerance] * 2, bounds=(0, 1))
    assert reached
    assert gain @ decided <= -program.fun + 1e-12
    assert gain @ decided >= -program.fun - 2 / n


@pytest.mark.parametrize("groups", [3, 5])
def test_several_groups_reach_every_tolerance_for_every_pair(groups):
    f, codes, likeness, weights = sample(n=3000, groups=groups)
    compared = Compared((tuple(range(groups)),))
    line = DecisionLine.of(f - 0.5, likeness, weights, compared)
    v = compared.contrasts(likeness) @ line.theta
    for tolerance in (0.01, 0.05, 0.1):
        at, reached = line.within(tolerance)
        assert reached
        decided = f - 0.5 - line.levels[at] * v >= 0
        rates = [decided[codes == g].mean() for g in range(groups)]
        assert max(rates) - min(rates) <= tolerance + 1e-12
        np.testing.assert_allclose(line.rates[at], rates, atol=1e-12)


def test_the_direction_of_several_differences_is_where_all_of_them_vanish():
    f, _, likeness, weights = sample(n=20_000, groups=3)
    compared = Compared(((0, 1, 2),))
    V, W = compared.contrasts(likeness), compared.contrasts(weights)
    theta = parity_direction(f - 0.5, V, W)
    plain = W.T @ (f >= 0.5)
    left = W.T @ (f - 0.5 - V @ theta >= 0)
    assert np.abs(left).max() < 0.03 * np.abs(plain).max()


def test_within_takes_the_first_level_and_says_when_there_is_none():
    line = DecisionLine(np.ones(1), np.array([0.0, 1.0, 2.0]), np.zeros((3, 2)), np.array([0.3, 0.1, 0.2]))
    assert line.within(0.3) == (0, True)
    assert line.within(0.15) == (1, True)
    assert line.within(0.05) == (1, False)


def test_strata_are_compared_within_themselves_and_numbers_with_zero():
    compared = Compared(((0, 1), (2, 3)), n_numeric=1)
    rates = np.array([0.9, 0.8, 0.2, 0.5, -0.4])
    np.testing.assert_allclose(compared.contrasts(rates), [-0.1, 0.3, -0.4])
    assert compared.gap(rates) == pytest.approx(0.4)
    assert compared.gap(rates[None, :]).shape == (1,)
