"""The only place that knows array libraries apart from NumPy."""

from .linalg import cholesky, eigh, solve, solve_triangular
from .namespace import empty_like, identity, like, namespace, to_numpy

__all__ = ["cholesky", "eigh", "empty_like", "identity", "like", "namespace", "solve", "solve_triangular", "to_numpy"]
