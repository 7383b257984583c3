"""The rivals of the paper's comparison, one per file."""

from .fair_pca import FairPCA
from .mean_matched import MeanMatchedRidge
from .penalised import PenalisedKernelRegressor
from .prejudice_remover import PrejudiceRemover

__all__ = ["FairPCA", "MeanMatchedRidge", "PenalisedKernelRegressor", "PrejudiceRemover"]
