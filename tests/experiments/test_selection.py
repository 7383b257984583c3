import numpy as np
import pytest

from fairkernel.experiments.selection import Rule

ERROR = np.array([0.30, 0.20, 0.20, 0.25])
SD = np.array([0.00, 0.30, 0.10, 0.02])


def test_error_takes_the_lowest_error_and_breaks_ties_by_disparity():
    assert Rule.parse("error").choose(ERROR, SD) == 2


def test_a_bound_excludes_settings_above_it():
    assert Rule.parse("error subject to SD <= 0.05").choose(ERROR, SD) == 3


def test_without_a_setting_within_the_bound_the_smallest_disparity_is_taken():
    assert Rule.parse("error subject to SD <= 0.01").choose(ERROR[1:], SD[1:]) == 2


def test_published_is_marked_and_has_no_bound():
    rule = Rule.parse("published")
    assert rule.published
    assert rule.max_sd == np.inf


@pytest.mark.parametrize("bound", ["-1", "1.5"])
def test_a_bound_that_is_no_difference_of_rates_is_refused(bound):
    with pytest.raises(ValueError, match="SD is a difference of rates, so x must lie between 0 and 1"):
        Rule.parse(f"error subject to SD <= {bound}")


@pytest.mark.parametrize("text", ["test error", "error subject to SD <= x", "error subject to SD < 0.1", ""])
def test_another_text_is_refused_with_the_valid_rules(text):
    with pytest.raises(ValueError, match="is not a rule; valid are 'error', 'published' and"):
        Rule.parse(text)
