"""What an embedding solver returns."""

from dataclasses import dataclass
from typing import Any

Array = Any


@dataclass(frozen=True)
class Embedding:
    """Orthonormal directions η_1, η_2, … in feature coordinates, best first.

    Parameters
    ----------
    directions : array of shape (m, rank)
        Columns η_j with ηᵀη = I (Eq. 5 and the orthogonality of Eq. 9).
    eigenvalues : array of shape (rank,)
        What the solver ordered the directions by; its docstring says what that is.
    rank : int
        Number of directions there are.
    reason : str
        Why these and why so many, in one sentence.
    """

    directions: Array
    eigenvalues: Array
    rank: int
    reason: str

    def first(self, k: int) -> "Embedding":
        """The k best directions."""
        return Embedding(self.directions[:, :k], self.eigenvalues[:k], min(k, self.rank), self.reason)
