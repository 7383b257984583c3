import numpy as np
import pytest
from scipy import stats

from fairkernel.metrics import mean_over_splits


def test_without_overlap_the_interval_is_student_s():
    values = np.random.default_rng(0).normal(size=12)
    found = mean_over_splits(values, test_share=0.0)
    low, high = stats.t.interval(0.95, 11, loc=values.mean(), scale=stats.sem(values))
    assert (found.low, found.high) == pytest.approx((low, high))


def test_overlap_widens_the_interval_by_nadeau_and_bengio_s_factor():
    values = np.random.default_rng(1).normal(size=50)
    plain, corrected = mean_over_splits(values, 0.0), mean_over_splits(values, 0.25)
    factor = np.sqrt((1 / 50 + 1 / 3) / (1 / 50))
    assert (corrected.high - corrected.low) / (plain.high - plain.low) == pytest.approx(factor)


def test_one_split_has_no_interval():
    found = mean_over_splits([0.3], 0.25)
    assert found.mean == 0.3
    assert np.isnan([found.deviation, found.low, found.high]).all()


def test_the_interval_covers_the_mean_of_overlapping_splits_where_the_naive_one_does_not():
    # The figure is the mean of a quarter of 200 rows; its splits overlap, as train/test splits do.
    rng, covered, naive = np.random.default_rng(2), 0, 0
    for _ in range(300):
        population = rng.normal(size=200)
        values = [population[rng.permutation(200)[:50]].mean() for _ in range(30)]
        corrected, plain = mean_over_splits(values, 0.25), mean_over_splits(values, 0.0)
        covered += corrected.low <= 0 <= corrected.high
        naive += plain.low <= 0 <= plain.high
    assert covered / 300 > 0.9
    assert naive / 300 < 0.6


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"test_share": 25}, "test_share=25 must be the share of rows that a split holds out, at least 0 and below 1"),
        ({"test_share": 1.0}, "test_share=1.0 must be"),
        ({"test_share": -0.1}, "test_share=-0.1 must be"),
        ({"test_share": float("nan")}, "test_share=nan must be"),
        ({"test_share": "0.25"}, "test_share='0.25' must be"),
        ({"level": 95}, "level must lie between 0 and 1, both left out; got 95"),
        ({"level": "0.9"}, "level must lie between 0 and 1, both left out; got '0.9'"),
        ({"values": []}, r"values must be one figure per split, at least one; got shape \(0,\)"),
        ({"values": [[0.1, 0.2]]}, r"values must be one figure per split, at least one; got shape \(1, 2\)"),
        ({"values": ["a", "b"]}, "values must be numbers, one per split; got"),
        ({"values": [0.1, np.nan, 0.3]}, "values: nan in split 1 is no finite number: leave these splits out"),
    ],
)
def test_what_has_no_interval_is_refused_with_what_is_valid(change, message):
    with pytest.raises(ValueError, match=message):
        mean_over_splits(**({"values": [0.1, 0.2, 0.3], "test_share": 0.25} | change))
