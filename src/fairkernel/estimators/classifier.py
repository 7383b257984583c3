"""Fair kernel classification by thresholded regression."""

from typing import Any

import numpy as np
from sklearn.base import ClassifierMixin, _fit_context

from ..rows import TrainingRows
from ._parameters import RIDGE, SHARED
from ._ridge import FairKernelRidge

THRESHOLD = 0.5


class FairKernelClassifier(ClassifierMixin, FairKernelRidge):
    """Kernel ridge classifier whose mean scores keep a chosen share of the groups' disparity.

    Regression on 0/1 labels and a threshold of 0.5, as in the paper; with more than two classes one score per class
    and the largest wins. Parity of mean SCORES is not parity of decisions: read ``fairness_report`` on new rows.

    Parameters
    ----------
    n_components : int, float or None, default=None
        Number of embedding features (the paper's FKR-F²E); None is all of them (FKRR).
    alpha : float, default=1.0
        Ridge penalty, the paper's γ.
    disparity_kept : float, default=0.0
        ρ in [0, 1]: 0 gives every group the same mean score on the training rows, 1 is plain kernel ridge.
    max_decision_gap : None
        A tolerance on the gap of decisions; not in this version.
    aware : bool, default=False
        Group-specific thresholds; not in this version.
    kernel, gamma, degree, coef0, kernel_params, objective, criterion, features, n_features : see FairFeatureEmbedding
    n_moments, rank_tolerance, missing_sensitive, sensitive_feature_ids, random_state : see FairFeatureEmbedding

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
    coef_ : ndarray of shape (n_landmarks, n_scores)
        The scores are k(x, landmarks) @ coef_ + intercept_; one score for two classes.
    intercept_, mean_gap_ : ndarray of shape (n_scores,)
    n_components_, eigenvalues_, rank_, groups_, landmark_indices_ : see FairKernelRegressor
    approximation_error_by_group_, features_chosen_, embedding_chosen_ : see FairKernelRegressor
    n_features_in_, feature_names_in_ : see FairKernelRegressor

    Examples
    --------
    >>> import numpy as np
    >>> from fairkernel import FairKernelClassifier
    >>> rng = np.random.default_rng(0)
    >>> s = np.repeat(["a", "b"], 100)
    >>> X = rng.normal(size=(200, 2)) + (s == "b")[:, None]
    >>> y = np.where(X[:, 0] + X[:, 1] > 1, "yes", "no")
    >>> model = FairKernelClassifier(n_components=20, random_state=0).fit(X, y, sensitive_features=s)
    >>> model.predict(X[:3]).shape, bool(model.mean_gap_[0] < 1e-12)
    ((3,), True)
    """

    _parameter_constraints: dict = {  # noqa: RUF012
        **SHARED,
        **RIDGE,
        "max_decision_gap": "no_validation",
        "aware": ["boolean"],
    }

    def __init__(
        self,
        n_components: int | float | None = None,
        *,
        alpha: float = 1.0,
        disparity_kept: float = 0.0,
        max_decision_gap: float | None = None,
        aware: bool = False,
        kernel: Any = "rbf",
        gamma: float | None = None,
        degree: float = 3,
        coef0: float = 1.0,
        kernel_params: dict | None = None,
        objective: str = "discrepancy",
        criterion: str = "parity",
        features: str = "landmarks",
        n_features: int | str = "auto",
        n_moments: int = 1,
        rank_tolerance: float = 1e-10,
        missing_sensitive: str = "error",
        sensitive_feature_ids: Any = None,
        random_state: Any = None,
    ) -> None:
        super().__init__(
            n_components,
            alpha=alpha,
            disparity_kept=disparity_kept,
            kernel=kernel,
            gamma=gamma,
            degree=degree,
            coef0=coef0,
            kernel_params=kernel_params,
            objective=objective,
            criterion=criterion,
            features=features,
            n_features=n_features,
            n_moments=n_moments,
            rank_tolerance=rank_tolerance,
            missing_sensitive=missing_sensitive,
            sensitive_feature_ids=sensitive_feature_ids,
            random_state=random_state,
        )
        self.max_decision_gap = max_decision_gap
        self.aware = aware

    @_fit_context(prefer_skip_nested_validation=True)
    def fit(
        self, X: Any, y: Any, *, sensitive_features: Any = None, sample_weight: Any = None
    ) -> "FairKernelClassifier":
        """Fit the scores.

        Parameters
        ----------
        X : array-like of shape (n, p)
        y : array-like of shape (n,)
            Any two labels, or more (one score per class).
        sensitive_features : array-like of shape (n,) or (n, columns)
            Required unless ``sensitive_feature_ids`` is set. Not needed to predict.
        sample_weight : array-like of shape (n,), optional
            Weighs the loss and the group means alike.

        Returns
        -------
        FairKernelClassifier
        """
        if self.max_decision_gap is not None or self.aware:
            raise NotImplementedError(
                f"max_decision_gap={self.max_decision_gap!r}, aware={self.aware!r}: decision rules arrive with the "
                "frontier issue; this version has the fixed threshold 0.5 (max_decision_gap=None, aware=False)."
            )
        rows = self._training_rows(X, y, sensitive_features, sample_weight)
        self.classes_ = rows.classes
        self._fit_scores(rows)
        return self

    def decision_function(self, X: Any) -> np.ndarray:
        """Score minus 0.5 for two classes, one score per class for more.

        Parameters
        ----------
        X : array-like of shape (n, p)

        Returns
        -------
        ndarray of shape (n,) or (n, n_classes)
        """
        scores = self._scores(X)
        return scores[:, 0] - THRESHOLD if len(self.classes_) == 2 else scores

    def predict(self, X: Any) -> np.ndarray:
        """Class of each row.

        Parameters
        ----------
        X : array-like of shape (n, p)

        Returns
        -------
        ndarray of shape (n,)
        """
        scores = self.decision_function(X)
        return self.classes_[(scores >= 0).astype(int) if scores.ndim == 1 else scores.argmax(axis=1)]

    def predict_proba(self, X: Any) -> np.ndarray:
        """Scores clipped to [0, 1]: consistent with ``predict``, not calibrated.

        Parameters
        ----------
        X : array-like of shape (n, p)

        Returns
        -------
        ndarray of shape (n, n_classes)
        """
        scores = self._scores(X)
        if len(self.classes_) == 2:
            positive = np.clip(scores, 0.0, 1.0)
            return np.hstack([1.0 - positive, positive])
        # One-hot targets and a free intercept make each row's scores sum to one, so some class is positive.
        clipped = np.clip(scores, 0.0, None)
        return clipped / clipped.sum(axis=1, keepdims=True)

    def _targets(self, rows: TrainingRows) -> np.ndarray:
        # Two classes need one score: that of the second label.
        columns = np.arange(1, 2) if len(rows.classes) == 2 else np.arange(len(rows.classes))
        return rows.y[:, None] == columns[None, :]
