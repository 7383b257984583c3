"""What a fitted model does to groups, and why."""

from .gap import explain_gap
from .gap_explanation import GapExplanation

__all__ = ["GapExplanation", "explain_gap"]
