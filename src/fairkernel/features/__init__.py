"""Finite feature maps with <φ(x), φ(z)> ≈ k(x, z)."""

from .build import build_features
from .map import FeatureMap, Features

__all__ = ["FeatureMap", "Features", "build_features"]
