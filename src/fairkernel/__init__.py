"""Predictions and representations in a kernel space in which demographic groups look alike."""

from . import baselines, datasets, kernels, metrics
from .analysis import explain_gap, frontier
from .estimators import FairFeatureEmbedding, FairKernelClassifier, FairKernelRegressor

__version__ = "0.1.0"

__all__ = [
    "FairFeatureEmbedding",
    "FairKernelClassifier",
    "FairKernelRegressor",
    "__version__",
    "baselines",
    "datasets",
    "explain_gap",
    "frontier",
    "kernels",
    "metrics",
]
