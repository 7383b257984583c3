"""Warnings of their own category, so that a user can silence or escalate each one by name."""

import sys
import warnings

BETWEEN = {"fairkernel", "sklearn"}  # scikit-learn wraps fit and transform


def warn(text: str, category: type[Warning]) -> None:
    """Warn at the line of the user's code that called the library.

    Parameters
    ----------
    text : str
    category : type of Warning
    """
    level, frame = 1, sys._getframe()
    while frame.f_back is not None and frame.f_globals.get("__name__", "").partition(".")[0] in BETWEEN:
        level, frame = level + 1, frame.f_back
    warnings.warn(text, category, stacklevel=level)


class FairKernelWarning(UserWarning):
    """Base of every warning this library raises."""


class SmallGroupWarning(FairKernelWarning):
    """A group has so few rows that its mean, and so its parity, is mostly noise."""


class AbsentGroupWarning(FairKernelWarning):
    """A group that fit saw has no row among new ones, so that a measured gap is one of the others alone."""


class ContinuousSensitiveWarning(FairKernelWarning):
    """A numeric sensitive column has many levels and is treated as continuous."""


class MissingSensitiveWarning(FairKernelWarning):
    """Rows without a sensitive value count for the loss and not for the constraint."""


class SensitiveColumnWarning(FairKernelWarning):
    """A column of X restates a sensitive attribute."""


class IndefiniteKernelWarning(FairKernelWarning):
    """The kernel has negative eigenvalues, which were clipped to zero."""


class KernelScaleWarning(FairKernelWarning):
    """The kernel sees no row as similar to any other, so nothing carries over to new rows."""


class RankWarning(FairKernelWarning):
    """More components were asked for than the data supports."""


class DecisionGapWarning(FairKernelWarning):
    """A tolerance on the gap of decisions is out of reach, or too small to be verified."""
