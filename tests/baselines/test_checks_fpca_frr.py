"""scikit-learn's whole check battery on FairPCA and MeanMatchedRidge, with no expected failure.

The checks know nothing of groups; these subclasses, which exist only here, supply two. Everything else is the
estimator itself.
"""

import numpy as np
import pytest
from sklearn.utils.estimator_checks import parametrize_with_checks
from sklearn.utils.validation import _num_samples

from fairkernel.baselines.fair_pca import FairPCA
from fairkernel.baselines.mean_matched import MeanMatchedRidge


def groups_of(X):
    """Two groups that depend on a row's content alone, so that a repeated or moved row keeps its group."""
    n = _num_samples(X)
    try:
        rows = np.asarray(X, dtype=float).reshape(n, -1)
    except (TypeError, ValueError):  # sparse, text, ragged: the estimator itself has to refuse them
        return np.zeros(n, dtype=int)
    return np.floor(1000 * np.nan_to_num(rows.sum(axis=1), posinf=0.0, neginf=0.0)).astype(int) % 2


def training_groups_of(X):
    """The same, unless that leaves fewer than two rows in a group."""
    if np.iscomplexobj(np.asarray(X)):
        return np.arange(_num_samples(X)) % 2
    groups = groups_of(X)
    return groups if min(groups.sum(), len(groups) - groups.sum()) >= 2 else np.arange(len(groups)) % 2


class _FairPCAWithGroups(FairPCA):
    def fit(self, X, y=None, *, sensitive_features=None, sample_weight=None):
        return super().fit(X, y, sensitive_features=training_groups_of(X), sample_weight=sample_weight)


class _RidgeWithGroups(MeanMatchedRidge):
    def fit(self, X, y, *, sensitive_features=None, sample_weight=None):
        return super().fit(X, y, sensitive_features=training_groups_of(X), sample_weight=sample_weight)

    def transform(self, X, *, sensitive_features=None):
        return super().transform(X, sensitive_features=groups_of(X))

    def decision_function(self, X, *, sensitive_features=None):
        return super().decision_function(X, sensitive_features=groups_of(X))


@parametrize_with_checks(
    [
        _FairPCAWithGroups(),
        _FairPCAWithGroups(n_components=1),
        _RidgeWithGroups(),
        _RidgeWithGroups(variant="V2"),
        _RidgeWithGroups(variant="V3"),
    ]
)
@pytest.mark.filterwarnings("ignore::fairkernel.exceptions.FairKernelWarning")
def test_scikit_learn_check_passes(estimator, check):
    check(estimator)
