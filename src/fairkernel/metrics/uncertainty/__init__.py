"""How sure a measured figure is: intervals, the noise floor of exact parity, means over repeated splits."""

from .._inputs import ScoreRows
from .bootstrap import Bootstrap
from .intervals import Interval, distribution_interval, interval, largest_gap_interval, share_bounds
from .noise_floor import parity_noise_floor
from .repeated_splits import SplitMean, mean_over_splits

__all__ = [
    "Bootstrap",
    "Interval",
    "ScoreRows",
    "SplitMean",
    "distribution_interval",
    "interval",
    "largest_gap_interval",
    "mean_over_splits",
    "parity_noise_floor",
    "share_bounds",
]
