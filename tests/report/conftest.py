"""A small summary that every report test can draw or print."""

import pytest

from fairkernel.report.summary import summarise


def make_trials(groups=("a", "b")):
    """Three splits of four methods, with exact round numbers."""
    rows = {  # method → (family, disparity_kept, disparity, error, positive rate, floor)
        "constant": ("constant", None, (0.0, 0.0, 0.0), (0.2, 0.2, 0.2), 1.0, 0.0),
        "plain kernel ridge": ("ridge", 1.0, (0.28, 0.30, 0.32), (0.1, 0.11, 0.12), 0.6, 0.05),
        "disparity_kept 0": ("ridge", 0.0, (0.02, 0.05, 0.08), (0.15, 0.19, 0.23), 0.7, 0.04),
        "FKR-F²E exact": ("embedding", None, (0.03, 0.05, 0.07), (0.18, 0.19, 0.20), 0.7, 0.04),
        "FKR-F²E as printed": ("printed", None, (0.10, 0.12, 0.14), (0.17, 0.19, 0.21), 0.7, 0.04),
    }
    return [
        {
            "split": split,
            "method": method,
            "family": family,
            "disparity_kept": kept,
            "statistical_disparity": disparity[split],
            "error": error[split],
            "positive_rate": rate,
            "group_positive_rates": {groups[0]: rate - disparity[split] / 2, groups[1]: rate + disparity[split] / 2},
            "noise_floor": floor,
        }
        for split in range(3)
        for method, (family, kept, disparity, error, rate, floor) in rows.items()
    ]


@pytest.fixture
def trials():
    return make_trials()


@pytest.fixture
def summary(trials):
    return summarise(trials, n_train=75, n_test=25)
