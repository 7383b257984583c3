"""The barycentre of the groups' score distributions, and the way there."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from numpy.testing import assert_allclose, assert_array_equal
from scipy.stats import ks_2samp, wasserstein_distance

from fairkernel.solve import Barycentre


def two(n_a=40, n_b=40, seed=0):
    rng = np.random.default_rng(seed)
    codes = rng.permutation(np.repeat([0, 1], [n_a, n_b]))
    return np.where(codes == 0, rng.normal(size=len(codes)), 3.0 + rng.gamma(2.0, 2.0, size=len(codes))), codes


def test_t_zero_moves_nothing():
    scores, codes = two()
    assert_array_equal(Barycentre.of(scores, codes).moved(scores, codes, 0.0), scores)


def test_t_one_gives_groups_of_one_size_the_same_scores():
    scores, codes = two()
    moved = Barycentre.of(scores, codes).moved(scores, codes, 1.0)
    assert_allclose(np.sort(moved[codes == 0]), np.sort(moved[codes == 1]), atol=1e-12)


@pytest.mark.parametrize("sizes", [(40, 60), (300, 17), (1000, 2)])
def test_t_one_leaves_groups_of_other_sizes_half_a_step_apart(sizes):
    scores, codes = two(*sizes)
    moved = Barycentre.of(scores, codes).moved(scores, codes, 1.0)
    assert ks_2samp(scores[codes == 0], scores[codes == 1]).statistic > 0.6
    # The two distribution functions have steps of 1/n_a and 1/n_b around the same curve.
    assert ks_2samp(moved[codes == 0], moved[codes == 1]).statistic <= 0.5 * (1 / sizes[0] + 1 / sizes[1]) + 1e-12


@pytest.mark.parametrize("groups", [2, 3, 5])
def test_the_quantiles_of_the_barycentre_are_the_weighted_mean_of_the_groups(groups):
    rng = np.random.default_rng(1)
    codes = np.concatenate([np.arange(groups), rng.integers(groups, size=200)])
    scores = rng.normal(size=len(codes)) * (1 + codes) + codes
    found, level = Barycentre.of(scores, codes), np.linspace(0, 1, 101)
    share = np.bincount(codes) / len(codes)
    # Hazen's rule is linear between the middles of the steps.
    expected = sum(share[g] * np.quantile(scores[codes == g], level, method="hazen") for g in range(groups))
    assert_allclose(found.quantile(level), expected, atol=1e-12)


def test_no_other_distribution_is_nearer_to_the_groups():
    scores, codes = two()
    target = np.sort(Barycentre.of(scores, codes).moved(scores, codes, 1.0)[codes == 0])

    def cost(quantiles):
        """Σ_g (n_g/n) W2², between groups of one size."""
        return sum(0.5 * np.mean((np.sort(scores[codes == g]) - quantiles) ** 2) for g in (0, 1))

    rng = np.random.default_rng(0)
    for _ in range(20):
        assert cost(target) < cost(np.sort(target + 0.1 * rng.normal(size=len(target))))


@pytest.mark.parametrize("t", [0.0, 0.3, 1.0])
def test_one_group_is_its_own_barycentre(t):
    scores = np.random.default_rng(0).normal(size=50)
    new = np.linspace(-9, 9, 30)
    found = Barycentre.of(scores, np.zeros(50, dtype=int))
    assert_allclose(found.moved(new, np.zeros(30, dtype=int), t), new, atol=1e-12)


def test_groups_of_equal_distributions_stay():
    scores = np.tile(np.random.default_rng(0).normal(size=50), 2)
    codes = np.repeat([0, 1], 50)
    assert_allclose(Barycentre.of(scores, codes).moved(scores, codes, 1.0), scores, atol=1e-12)


@given(
    hnp.arrays(float, 30, elements=st.floats(-100, 100)),
    hnp.arrays(float, 20, elements=st.floats(-200, 200)),
    st.floats(0, 1),
)
def test_the_order_within_a_group_is_kept_also_for_new_rows(scores, new, t):
    codes = np.arange(30) % 3
    found = Barycentre.of(scores, codes)
    for g in range(3):
        moved = found.moved(np.sort(new), np.full(20, g), t)
        assert (np.diff(moved) >= -1e-9).all()


def test_distinct_scores_stay_distinct():
    scores, codes = two(30, 7)
    for t in (0.5, 1.0):
        moved = Barycentre.of(scores, codes).moved(scores, codes, t)
        for g in (0, 1):
            order = np.argsort(scores[codes == g])
            assert (np.diff(moved[codes == g][order]) > 0).all()


@pytest.mark.parametrize("t", [0.25, 0.5, 0.9])
def test_the_distance_to_the_barycentre_is_one_minus_t_of_what_it_was(t):
    scores, codes = two(50, 30)
    found = Barycentre.of(scores, codes)
    part, whole = found.moved(scores, codes, t), found.moved(scores, codes, 1.0)
    for g in (0, 1):
        before, after = (wasserstein_distance(f[codes == g], whole[codes == g]) for f in (scores, part))
        assert before > 0.1
        assert after == pytest.approx((1 - t) * before)


def test_weights_are_duplicated_rows():
    scores, codes = two(25, 15)
    scores[:6] = scores[0]  # with ties
    weight = np.random.default_rng(0).integers(1, 5, len(scores))
    weighted = Barycentre.of(scores, codes, weight.astype(float))
    repeated = Barycentre.of(np.repeat(scores, weight), np.repeat(codes, weight))
    new = np.linspace(-5, 20, 60)
    for g in (0, 1):
        assert_allclose(weighted.moved(new, np.full(60, g), 1.0), repeated.moved(new, np.full(60, g), 1.0), atol=1e-12)


def test_ties_move_as_one_to_the_middle_of_their_levels():
    scores, codes = np.array([0.0, 0, 0, 0, 1, 2, 3, 4]), np.repeat([0, 1], 4)
    moved = Barycentre.of(scores, codes).moved(scores, codes, 1.0)
    # Half of group 0's way is at level 0.5, where group 1 is at 2.5.
    assert_allclose(moved[:4], 0.5 * 0.0 + 0.5 * 2.5)
    assert_allclose(moved[4:], 0.5 * scores[4:])


def test_a_score_beyond_its_group_is_shifted_like_the_nearest_one_seen():
    scores, codes = two()
    found = Barycentre.of(scores, codes)
    for g in (0, 1):
        ends = np.array([scores[codes == g].min(), scores[codes == g].max()])
        shift = found.moved(ends, np.array([g, g]), 1.0) - ends
        beyond = ends + np.array([-7.0, 7.0])
        assert_allclose(found.moved(beyond, np.array([g, g]), 1.0) - beyond, shift, atol=1e-12)


def test_rows_without_a_group_neither_count_nor_move():
    scores, codes = two()
    outside = np.append(codes, [-1, -1])
    with_them = Barycentre.of(np.append(scores, [99.0, -99.0]), outside)
    assert_array_equal(with_them.shares, Barycentre.of(scores, codes).shares)
    moved = with_them.moved(np.append(scores, [99.0, -99.0]), outside, 1.0)
    assert_array_equal(moved[:-2], Barycentre.of(scores, codes).moved(scores, codes, 1.0))
    assert moved[-2:].tolist() == [99.0, -99.0]
