"""From moments to directions and coefficients: small dense problems, arrays in, arrays out."""

from .barycentre import Barycentre
from .directions import gap_directions, orthonormal_directions
from .embedding_exact import exact_embedding
from .embedding_printed import printed_embedding
from .hsic_path import HsicPath, group_contrasts, hsic_gradient
from .ridge_path import RidgePath
from .second_moments import matched_second_moments
from .types import Embedding
from .witness import witness_directions

__all__ = [
    "Barycentre",
    "Embedding",
    "HsicPath",
    "RidgePath",
    "exact_embedding",
    "gap_directions",
    "group_contrasts",
    "hsic_gradient",
    "matched_second_moments",
    "orthonormal_directions",
    "printed_embedding",
    "witness_directions",
]
