"""The models compared, in the paper's settings for Credit: polynomial kernel of degree 4, coef0 0.1, gamma 1/p."""

from sklearn.kernel_approximation import Nystroem
from sklearn.linear_model import Ridge
from sklearn.pipeline import make_pipeline

from fairkernel import FairFeatureEmbedding, FairKernelClassifier

POLYNOMIAL = {"degree": 4, "coef0": 0.1}
ROWS_PER_COMPONENT = 250  # k = n / 250
N_FEATURES = 500


def fair_embedding(n_features=N_FEATURES):
    return FairFeatureEmbedding(kernel="polynomial", n_features=n_features, random_state=0, **POLYNOMIAL)


def fair_classifier(n_rows, n_features=N_FEATURES):
    k = max(1, n_rows // ROWS_PER_COMPONENT)
    return FairKernelClassifier(k, kernel="polynomial", n_features=n_features, random_state=0, **POLYNOMIAL)


def nystroem_ridge(n_columns, n_features=N_FEATURES):
    """scikit-learn's way to as many features of the same kernel, without any fairness."""
    # Nystroem passes gamma on as it is: unlike the kernel function it has no default of 1/p for it.
    features = Nystroem("polynomial", gamma=1 / n_columns, n_components=n_features, random_state=0, **POLYNOMIAL)
    return make_pipeline(features, Ridge(1.0))
