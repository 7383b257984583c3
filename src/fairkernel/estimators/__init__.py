"""Where scikit-learn's conventions meet the solvers."""

from .classifier import FairKernelClassifier
from .embedding import FairFeatureEmbedding
from .regressor import FairKernelRegressor
from .stability import SpanStability

__all__ = ["FairFeatureEmbedding", "FairKernelClassifier", "FairKernelRegressor", "SpanStability"]
