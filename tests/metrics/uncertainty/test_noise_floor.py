"""The floor is what exact parity shows: enumeration for small groups, the normal limit for large ones."""

import io
import os
import zipfile
from itertools import product
from pathlib import Path

import numpy as np
import pytest
from scipy.stats import binom, norm

from fairkernel.metrics import parity_noise_floor


def enumerate_ranges(sizes, rate):
    """Every outcome of binomial counts: its largest difference of shares and its probability."""
    outcomes = np.array(list(product(*(range(n + 1) for n in sizes))))
    chance = np.prod([binom.pmf(outcomes[:, g], n, rate) for g, n in enumerate(sizes)], axis=0)
    return np.ptp(outcomes / np.array(sizes), axis=1), chance


@pytest.mark.parametrize("sizes", [(1, 1), (7, 7), (3, 11), (4, 5, 6), (2, 3, 4, 5)])
@pytest.mark.parametrize("rate", [0.03, 0.5, 0.8])
def test_expectation_equals_full_enumeration(sizes, rate):
    ranges, chance = enumerate_ranges(sizes, rate)
    assert parity_noise_floor(sizes, rate) == pytest.approx(ranges @ chance, abs=1e-12)


@pytest.mark.parametrize("rate", [1e-17, 1e-16, 1e-14, 1e-10, 1e-7])
@pytest.mark.parametrize("sizes", [(9000, 3000), (12556, 2444)])
def test_rates_that_are_zero_but_for_rounding_have_a_floor_of_twice_the_rate(sizes, rate):
    # At most one positive, in either group: E|X/n - Y/m| = E X/n + E Y/m.
    assert parity_noise_floor(sizes, rate) == pytest.approx(2 * rate, rel=1e-2, abs=1e-14)
    assert parity_noise_floor(sizes, 1 - rate) == pytest.approx(2 * rate, rel=1e-2, abs=1e-12)


@pytest.mark.parametrize(("sizes", "rate"), [((20, 30), 0.3), ((9, 10, 11), 0.5)])
def test_quantile_leaves_the_right_share_above_it(sizes, rate):
    ranges, chance = enumerate_ranges(sizes, rate)
    floor = parity_noise_floor(sizes, rate, quantile=0.9)
    assert chance[ranges < floor - 1e-9].sum() <= 0.905
    assert chance[ranges <= floor + 1e-9].sum() >= 0.895


def test_large_groups_reach_the_normal_limit():
    sizes, rate = np.array([200_000, 100_000]), 0.3
    deviation = np.sqrt(rate * (1 - rate) * (1 / sizes).sum())
    assert parity_noise_floor(sizes, rate) == pytest.approx(np.sqrt(2 / np.pi) * deviation, rel=1e-4)
    assert parity_noise_floor(sizes, rate, quantile=0.95) == pytest.approx(norm.ppf(0.975) * deviation, rel=0.02)


def test_more_groups_show_more_chance_disparity():
    floors = [parity_noise_floor([100] * groups, 0.2) for groups in (2, 3, 6)]
    assert floors == sorted(floors)
    assert floors[0] < floors[2] / 1.5


@pytest.mark.parametrize("rate", [0, 1])
def test_no_noise_where_everyone_gets_the_same(rate):
    assert parity_noise_floor([5, 50], rate) == 0.0
    assert parity_noise_floor([5, 50], rate, quantile=0.95) == 0.0


def test_swapping_the_labels_changes_nothing():
    assert parity_noise_floor([8, 30], 0.2) == pytest.approx(parity_noise_floor([8, 30], 0.8), abs=1e-12)


def test_the_same_sizes_always_give_the_same_quantile():
    assert parity_noise_floor([40, 50], 0.2, quantile=0.9) == parity_noise_floor([40, 50], 0.2, quantile=0.9)


@pytest.mark.data
def test_credit_test_split_has_a_floor_of_one_percent_at_rate_twelve_percent():
    with zipfile.ZipFile(Path(os.environ["FAIRKERNEL_DATA"]) / "creditcarddefault.zip") as archive:
        s = np.loadtxt(io.BytesIO(archive.read("creditcarddefault.csv")), delimiter=",", usecols=2)
        with archive.open("creditdefault_index.csv") as lines:
            train = np.array(next(lines).split(b","), dtype=int)
    test = np.setdiff1d(np.arange(len(s)), train)
    sizes = np.unique(s[test], return_counts=True)[1]
    assert parity_noise_floor(sizes, 0.12) == pytest.approx(0.010, abs=3e-4)
    assert parity_noise_floor(sizes, 0.0045) < 0.0021


@pytest.mark.parametrize(
    ("sizes", "rate", "more", "message"),
    [
        ([10], 0.5, {}, r"n_per_group must be the sizes .* of two or more groups; got \[10\]"),
        ([10, 0], 0.5, {}, "n_per_group must be the sizes"),
        ([10, np.nan], 0.5, {}, "n_per_group must be the sizes"),
        (10, 0.5, {}, "n_per_group must be the sizes"),
        ([10, 10], 1.5, {}, "rate must be a probability between 0 and 1; got 1.5"),
        ([10, 10], np.nan, {}, "rate must be a probability between 0 and 1; got nan"),
        ([10, 10], 0.5, {"quantile": 1}, "quantile must lie between 0 and 1, both left out; got 1"),
    ],
)
def test_refusals_say_what_is_valid(sizes, rate, more, message):
    with pytest.raises(ValueError, match=message):
        parity_noise_floor(sizes, rate, **more)
