"""Warnings of their own category, so that a user can silence or escalate each one by name."""


class FairKernelWarning(UserWarning):
    """Base of every warning this library raises."""


class SmallGroupWarning(FairKernelWarning):
    """A group has so few rows that its mean, and so its parity, is mostly noise."""


class ContinuousSensitiveWarning(FairKernelWarning):
    """A numeric sensitive column has many levels and is treated as continuous."""


class SensitiveColumnWarning(FairKernelWarning):
    """A column of X restates a sensitive attribute."""


class IndefiniteKernelWarning(FairKernelWarning):
    """The kernel has negative eigenvalues, which were clipped to zero."""


class RankWarning(FairKernelWarning):
    """More components were asked for than the data supports."""
