"""Moments are sums over rows: added, merged, subtracted and weighted they count the same rows."""

from itertools import pairwise

import array_api_strict
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose
from tests.helpers import moments_of, relative

from fairkernel.moments import ROWS_AT_A_TIME, Moments
from fairkernel.solve import RidgePath, exact_embedding, gap_directions, orthonormal_directions

STATISTICS = (
    "feature_mean",
    "target_mean",
    "scatter",
    "cross",
    "target_scatter",
    "group_weight",
    "group_means",
    "numeric_covariance",
    "numeric_variance",
    "group_second_moments",
    "group_covariances",
)


def rows(n=200, m=6, groups=3, seed=0, offset=0.0):
    """φ, y, codes and one numeric attribute."""
    rng = np.random.default_rng(seed)
    codes = rng.permutation(np.arange(n) % groups)
    phi = offset + rng.normal(size=(n, m)) @ rng.normal(size=(m, m)) + codes[:, None]
    y = phi @ rng.normal(size=(m, 2)) / m + rng.normal(size=(n, 2))
    return phi, y, codes, rng.gamma(2.0, size=(n, 1)) + codes[:, None]


def of(data, part=slice(None), *, start=None, weight=None):
    """Moments of some of the rows, from a given start."""
    phi, y, codes, numeric = data
    if start is None:
        start = empty(data)
    w = None if weight is None else weight[part]
    return start.update(phi[part], y[part], codes[part], numeric[part], w)


def empty(data, **options):
    phi, y, codes, numeric = data
    options = {"n_groups": int(codes.max()) + 1, "n_numeric": numeric.shape[1], "second_moments": True} | options
    return Moments.empty(phi, y, **options)


def assert_same(found, expected, tolerance=1e-10):
    assert_allclose(found.weight, expected.weight, rtol=1e-12)
    for name in STATISTICS:
        assert relative(getattr(found, name), getattr(expected, name)) < tolerance, name


def solved(moments, alpha=0.3, kept=0.2):
    """Coefficients and intercept of the ridge path with this much disparity kept."""
    G = gap_directions(moments.group_means, moments.numeric_covariance, moments.numeric_variance)
    Q = orthonormal_directions(G, np.trace(moments.scatter) / moments.weight)
    path = RidgePath.on(exact_embedding(moments.scatter, Q), moments.scatter, moments.cross, Q)
    a = path.coefficients(alpha, kept)
    return np.vstack([a, moments.target_mean - moments.feature_mean @ a])


# What each statistic is -------------------------------------------------------------------------------------


@pytest.mark.parametrize("weighted", [False, True])
def test_statistics_are_what_numpy_computes_from_the_rows(weighted):
    phi, y, codes, numeric = data = rows()
    w = np.random.default_rng(1).random(len(phi)) + 0.1 if weighted else np.ones(len(phi))
    found = of(data, weight=w if weighted else None)
    scale = w.sum()

    def covariance(a, b):
        a, b = a - np.average(a, axis=0, weights=w), b - np.average(b, axis=0, weights=w)
        return (w[:, None] * a).T @ b

    assert_allclose(found.weight, scale, rtol=1e-14)
    assert_allclose(found.feature_mean, np.average(phi, axis=0, weights=w), rtol=1e-12)
    assert_allclose(found.target_mean, np.average(y, axis=0, weights=w), rtol=1e-12)
    assert relative(found.scatter, covariance(phi, phi)) < 1e-13
    assert relative(found.cross, covariance(phi, y)) < 1e-13
    assert relative(found.target_scatter, covariance(y, y)) < 1e-13
    assert relative(found.numeric_covariance, covariance(numeric, phi) / scale) < 1e-13
    assert_allclose(found.numeric_variance, np.diag(covariance(numeric, numeric)) / scale, rtol=1e-12)
    assert_allclose(found.group_weight, np.bincount(codes, weights=w), rtol=1e-14)
    for g in range(3):
        part, v = phi[codes == g], w[codes == g]
        assert_allclose(found.group_means[g], np.average(part, axis=0, weights=v), rtol=1e-12)
        assert relative(found.group_second_moments[g], (v[:, None] * part).T @ part) < 1e-13
        assert relative(found.group_covariances[g], np.cov(part.T, aweights=v, ddof=0)) < 1e-13


def test_parts_by_group_add_up_to_the_whole():
    phi = rows()[0]
    found = of(rows())
    assert relative(found.group_second_moments.sum(axis=0), phi.T @ phi) < 1e-13
    share = found.group_weight / found.weight
    between = found.group_means - found.feature_mean
    total = np.tensordot(share, found.group_covariances, 1) + (share[:, None] * between).T @ between
    assert relative(total, found.scatter / found.weight) < 1e-13


# Sums over rows ---------------------------------------------------------------------------------------------


@given(cuts=st.lists(st.integers(0, 200), max_size=5), weighted=st.booleans())
def test_counting_in_chunks_equals_counting_all(cuts, weighted):
    data = rows()
    w = np.random.default_rng(1).random(200) if weighted else None
    found = empty(data)
    edges = [0, *sorted(cuts), 200]
    for a, b in pairwise(edges):
        found = of(data, slice(a, b), start=found, weight=w)
    assert_same(found, of(data, weight=w))
    assert relative(solved(found), solved(of(data, weight=w))) < 1e-10


def test_more_rows_than_are_taken_at_a_time_are_all_counted():
    phi = rows(n=2 * ROWS_AT_A_TIME + 7, m=2)[0]
    found = of(rows(n=len(phi), m=2))
    assert found.weight == len(phi)
    assert relative(found.scatter, np.cov(phi.T, ddof=0) * len(phi)) < 1e-12
    assert relative(found.group_second_moments.sum(axis=0), phi.T @ phi) < 1e-12


@given(worker=st.lists(st.integers(0, 3), min_size=200, max_size=200), order=st.permutations(range(4)))
def test_merging_in_any_order_counts_every_row_once(worker, order):
    data = rows()
    parts = [of(data, np.flatnonzero(np.array(worker) == j)) for j in range(4)]
    merged = parts[order[0]]
    for j in order[1:]:
        merged = merged + parts[j]
    assert_same(merged, of(data))
    assert_same((parts[0] + parts[1]) + (parts[2] + parts[3]), parts[3] + (parts[1] + (parts[0] + parts[2])))


@given(fold=st.integers(0, 4), seed=st.integers(0, 10**6))
def test_subtracting_a_fold_is_refitting_on_the_remaining_rows(fold, seed):
    data = rows(seed=seed)
    held_out = np.arange(200) % 5 == fold
    remaining = of(data) - of(data, np.flatnonzero(held_out))
    # The refit has an origin of its own: only the rows are the same.
    refit = of(tuple(block[~held_out] for block in data))
    assert_same(remaining, refit, 1e-9)
    phi = np.hstack([data[0], np.ones((200, 1))])
    assert relative(solved(remaining), solved(refit)) < 1e-8
    assert relative(phi @ solved(remaining), phi @ solved(refit)) < 1e-8


@given(repeats=st.lists(st.integers(0, 4), min_size=191, max_size=191))
def test_a_weight_is_a_row_repeated(repeats):
    data = rows()
    repeats = np.array([*repeats, *[1] * 9])  # the last nine rows keep every group alive
    start = empty(data)
    repeated = tuple(np.repeat(block, repeats, axis=0) for block in data)
    assert_same(of(data, start=start, weight=repeats.astype(float)), of(repeated, start=start))


def test_the_rows_that_set_the_origin_are_not_counted():
    start = empty(rows())
    assert start.weight == 0
    assert not start.total.any()
    assert not start.by_group.any()


def test_the_origin_changes_no_statistic():
    data = rows()
    elsewhere = Moments.empty(data[0][:3] + 5, data[1][:3] - 7, n_groups=3, n_numeric=1, second_moments=True)
    assert_same(of(data, start=elsewhere), of(data))


# Digits -----------------------------------------------------------------------------------------------------


def test_a_large_mean_costs_no_digits():
    near, far = rows(), rows(offset=1e6)
    phi, y = far[:2]
    exact = tuple(block - block.mean(axis=0) for block in (phi, y))
    first_rows = Moments.empty(phi[:20], y[:20], n_groups=3, n_numeric=1, second_moments=True)
    found = of(far, slice(0, 90), start=first_rows) + of(far, slice(90, None), start=first_rows)
    # φ itself carries about 1e-10 of its spread at a mean of 1e6.
    assert relative(found.scatter, exact[0].T @ exact[0]) < 1e-10
    assert relative(found.cross, exact[0].T @ exact[1]) < 1e-10
    assert relative(found.group_covariances, of(near).group_covariances) < 1e-8
    centred = found.group_means - found.group_means.mean(axis=0)
    near_means = of(near).group_means
    assert relative(centred, near_means - near_means.mean(axis=0)) < 1e-8


def test_float32_rows_are_accumulated_in_float64():
    start = Moments.empty(np.zeros((1, 1), np.float32), np.zeros((1, 0), np.float32), n_groups=1, n_numeric=0)
    one = np.zeros(1, dtype=int)

    def count(moments, value):
        phi = np.full((1, 1), value, dtype=np.float32)
        return moments.update(phi, np.empty((1, 0), np.float32), one, np.empty((1, 0)))

    found = count(start, 1e4)
    for _ in range(100):
        found = count(found, 1.0)
    # float32 would stay at 1e8, whose next number is 1e8 + 8.
    assert found.total[0, 0] == 1e8 + 100
    assert found.total.dtype == np.float64


@pytest.mark.parametrize("offset", [0.0, 100.0])
def test_float32_rows_give_the_statistics_to_float32_rounding(offset):
    phi, y, codes, numeric = rows(n=20_000, offset=offset)
    phi, y = phi.astype(np.float32), y.astype(np.float32)
    found = moments_of(phi, y, codes, numeric=numeric)
    expected = moments_of(phi.astype(float), y.astype(float), codes, numeric=numeric)
    eps = np.finfo(np.float32).eps
    for name in ("scatter", "cross", "group_covariances", "numeric_covariance"):
        assert relative(getattr(found, name), getattr(expected, name)) < 50 * eps, name
    assert relative(solved(found), solved(expected)) < 1e-4


def test_float32_means_are_as_exact_as_the_spread_not_as_the_offset():
    phi, y, codes, numeric = rows(offset=1e6)
    phi, y = phi.astype(np.float32), y.astype(np.float32)
    found = moments_of(phi, y, codes, numeric=numeric)
    spread = phi.astype(float).std(axis=0)
    assert (np.abs(found.feature_mean - phi.astype(float).mean(axis=0)) < 1e-5 * spread).all()
    assert (np.abs(found.target_mean - y.astype(float).mean(axis=0)) < 1e-5 * y.astype(float).std(axis=0)).all()


# Refusals ---------------------------------------------------------------------------------------------------


def test_parts_of_different_origin_do_not_combine():
    data = rows()
    other = tuple(block[:100] for block in data)
    with pytest.raises(ValueError, match="different origins do not combine: start every part from the same empty one"):
        of(data) + of(other)
    with pytest.raises(ValueError, match="different origins"):
        of(data) - of(other)


def test_parts_of_different_width_do_not_combine():
    with pytest.raises(ValueError, match=r"moments of 6 features.* do not combine with 5"):
        of(rows()) + of(rows(m=5))


def test_parts_of_equal_width_whose_columns_mean_different_things_do_not_combine():
    two_groups_two_numbers = empty(rows(groups=3), n_groups=2, n_numeric=2)
    three_groups_one_number = empty(rows(groups=3))
    assert two_groups_two_numbers.total.shape == three_groups_one_number.total.shape
    with pytest.raises(ValueError, match="do not combine"):
        two_groups_two_numbers + three_groups_one_number


def test_parts_with_and_without_second_moments_do_not_combine():
    data = rows()
    with_parts, without = empty(data), empty(data, second_moments=False)
    assert (without + without).by_group is None
    for left, right in ((with_parts, without), (without, with_parts)):
        with pytest.raises(ValueError, match="second_moments"):
            left + right


@pytest.mark.parametrize("name", ["group_second_moments", "group_covariances"])
def test_second_moments_that_were_not_kept_are_refused(name):
    data = rows()
    with pytest.raises(ValueError, match="keep no second moments per group: start them with second_moments=True"):
        getattr(of(data, start=empty(data, second_moments=False)), name)


# Other array libraries --------------------------------------------------------------------------------------


@pytest.mark.parametrize("weighted", [False, True])
def test_a_strict_array_library_gives_the_same_moments(weighted):
    phi, y, codes, numeric = rows()
    w = np.random.default_rng(1).random(len(phi)) if weighted else None
    strict = moments_of(array_api_strict.asarray(phi), array_api_strict.asarray(y), codes, numeric=numeric, weight=w)
    expected = moments_of(phi, y, codes, numeric=numeric, weight=w)
    for name in STATISTICS:
        found = getattr(strict + strict - strict, name)
        assert type(found) is type(strict.total)
        assert relative(np.asarray(found), getattr(expected, name)) < 1e-12, name
