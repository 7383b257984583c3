"""What a model does to groups, what less of it would cost, and why."""

from .frontier_result import Frontier
from .gap import explain_gap
from .gap_explanation import GapExplanation
from .trace import frontier

__all__ = ["Frontier", "GapExplanation", "explain_gap", "frontier"]
