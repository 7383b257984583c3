"""Fair kernel regression (FKR-F²E and the FKRR family)."""

from typing import Any

import numpy as np
from sklearn.base import MultiOutputMixin, RegressorMixin, _fit_context

from ..rows import TrainingRows
from ._ridge import FairKernelRidge


class FairKernelRegressor(MultiOutputMixin, RegressorMixin, FairKernelRidge):
    """Kernel ridge regression whose mean scores keep a chosen share of the groups' disparity.

    ``n_components=k`` is the paper's FKR-F²E: ridge regression on the k-component embedding (Eq. 13-15 of [1]_).
    ``n_components=None`` takes all components, which is fair kernel ridge regression (FKRR, [2]_) with its penalty μ
    expressed as the share ρ of the disparity that is kept. The intercept is not penalised.

    Parameters
    ----------
    n_components : int, float or None, default=None
        Number of embedding features; a float is a share of the training rows; None is all of them.
    alpha : float, default=1.0
        Ridge penalty, the paper's γ.
    disparity_kept : float, default=0.0
        ρ in [0, 1]: 0 gives every group the same mean score on the training rows, 1 is plain kernel ridge.
    kernel : str, callable or Kernel, default="rbf"
        As in FairFeatureEmbedding; "auto" searches kernel, column scales and ``alpha`` by leave-one-out error on
        the rows passed to fit, and ``chosen_`` says what it took.
    tuning_budget : int or float, default=12
        Of ``kernel="auto"``: a whole number of settings (the same answer every time), or seconds as a float.
    gamma, degree, coef0, kernel_params, objective, criterion, features, n_features : see FairFeatureEmbedding
    n_moments, rank_tolerance, missing_sensitive, sensitive_feature_ids, random_state : see FairFeatureEmbedding

    Attributes
    ----------
    coef_ : ndarray of shape (n_landmarks,) or (n_landmarks, n_targets)
        The prediction is k(x, landmarks) @ coef_ + intercept_.
    intercept_ : float or ndarray of shape (n_targets,)
    mean_gap_ : float or ndarray of shape (n_targets,)
        Largest training gap between the groups' mean scores.
    n_components_ : int
        Number of components used.
    alpha_ : float
        The penalty used.
    chosen_ : Chosen or None
        What ``kernel="auto"`` took and tried.
    eigenvalues_, rank_, groups_, landmark_indices_, approximation_error_by_group_ : see FairFeatureEmbedding
    witness_coef_, witness_intercept_, features_chosen_, embedding_chosen_ : see FairFeatureEmbedding
    n_features_in_, feature_names_in_ : see FairFeatureEmbedding

    References
    ----------
    .. [1] A. Okray, H. Hu, C. Lan, "Fair Kernel Regression via Fair Feature Embedding in Kernel Space", 2019.
    .. [2] A. Pérez-Suay et al., "Fair Kernel Learning", 2017.

    Examples
    --------
    >>> import numpy as np
    >>> from fairkernel import FairKernelRegressor
    >>> rng = np.random.default_rng(0)
    >>> s = np.repeat([0, 1], 100)
    >>> X = rng.normal(size=(200, 2)) + s[:, None]
    >>> y = X.sum(axis=1)
    >>> for kept in (0.0, 0.5, 1.0):
    ...     model = FairKernelRegressor(disparity_kept=kept, random_state=0).fit(X, y, sensitive_features=s)
    ...     print(kept, round(float(model.mean_gap_), 2))
    0.0 0.0
    0.5 0.83
    1.0 1.66
    """

    _reading: dict = {"multi_output": True, "y_numeric": True}  # noqa: RUF012

    @_fit_context(prefer_skip_nested_validation=True)
    def fit(
        self, X: Any, y: Any, *, sensitive_features: Any = None, sample_weight: Any = None
    ) -> "FairKernelRegressor":
        """Fit the scores.

        Parameters
        ----------
        X : array-like of shape (n, p)
        y : array-like of shape (n,) or (n, targets)
        sensitive_features : array-like of shape (n,) or (n, columns)
            Required unless ``sensitive_feature_ids`` is set. Not needed to predict.
        sample_weight : array-like of shape (n,), optional
            Weighs the loss and the group means alike.

        Returns
        -------
        FairKernelRegressor
        """
        rows = self._training_rows(X, y, sensitive_features, sample_weight)
        self._fit_scores(rows, self._learn_moments(rows, self._learn_features(rows)))
        if rows.y.ndim == 1:
            self.coef_, self.intercept_ = self.coef_[:, 0], self.intercept_[0]
            self.mean_gap_ = self.mean_gap_[0]
        return self

    def predict(self, X: Any) -> np.ndarray:
        """Scores of new rows.

        Parameters
        ----------
        X : array-like of shape (n, p)

        Returns
        -------
        ndarray of shape (n,) or (n, targets)
        """
        return self._scores(X)

    def _targets(self, rows: TrainingRows) -> np.ndarray:
        return rows.y.reshape(len(rows.y), -1)
