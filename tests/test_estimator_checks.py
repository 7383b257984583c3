"""scikit-learn's whole check battery, with no expected failure.

The checks call ``fit(X, y)``; production code refuses to fit without groups. These subclasses, which exist only here,
supply two groups; everything else is the estimator itself.
"""

import numpy as np
import pytest
from sklearn.utils.estimator_checks import parametrize_with_checks
from sklearn.utils.validation import _num_samples

from fairkernel import FairFeatureEmbedding, FairKernelClassifier, FairKernelRegressor


def groups_by_content(X):
    """Two groups that depend on a row's content alone, so that a repeated or moved row keeps its group."""
    n = _num_samples(X)
    if np.iscomplexobj(np.asarray(X)):
        return np.arange(n) % 2
    try:
        rows = np.asarray(X, dtype=float).reshape(n, -1)
        groups = np.floor(1000 * np.nan_to_num(rows.sum(axis=1), posinf=0.0, neginf=0.0)).astype(int) % 2
    except (TypeError, ValueError):  # sparse, text, ragged: the estimator itself has to refuse them
        groups = np.zeros(n, dtype=int)
    return groups if min(groups.sum(), n - groups.sum()) >= 2 else np.arange(n) % 2


class _EmbeddingWithGroups(FairFeatureEmbedding):
    def fit(self, X, y=None, *, sensitive_features=None, sample_weight=None):
        return super().fit(X, y, sensitive_features=groups_by_content(X), sample_weight=sample_weight)


class _RegressorWithGroups(FairKernelRegressor):
    def fit(self, X, y, *, sensitive_features=None, sample_weight=None):
        return super().fit(X, y, sensitive_features=groups_by_content(X), sample_weight=sample_weight)


class _ClassifierWithGroups(FairKernelClassifier):
    def fit(self, X, y, *, sensitive_features=None, sample_weight=None):
        return super().fit(X, y, sensitive_features=groups_by_content(X), sample_weight=sample_weight)


@parametrize_with_checks(
    [
        _EmbeddingWithGroups(),
        _RegressorWithGroups(),
        _RegressorWithGroups(n_components=10, kernel="linear"),
        _RegressorWithGroups(hsic_rounds=1),
        _ClassifierWithGroups(),
        _ClassifierWithGroups(n_components=10),
    ]
)
@pytest.mark.filterwarnings("ignore::fairkernel.exceptions.FairKernelWarning")
def test_scikit_learn_check_passes(estimator, check):
    check(estimator)
