"""Step 2 for the regressor and the classifier: ridge regression on the embedding."""

from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from ..moments import Moments
from ..rows import TrainingRows
from ..sensitive import warn_of_small_groups
from ..solve import RidgePath
from ._base import FairKernelEstimator, largest_gap, number_of_components
from ._parameters import RIDGE, SHARED


class FairKernelRidge(FairKernelEstimator):
    """Scores f(x) = intercept + Σ_i c_i k(x, x_i) from one path of ridge solutions."""

    _parameter_constraints: dict = {**SHARED, **RIDGE}  # noqa: RUF012

    def __init__(
        self,
        n_components: int | float | None = None,
        *,
        alpha: float = 1.0,
        disparity_kept: float = 0.0,
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
        self.alpha = alpha
        self.disparity_kept = disparity_kept

    def _show(self, rows: TrainingRows, phi: np.ndarray, part: Any = slice(None)) -> None:
        """Told before ``_path`` which rows its moments are of; for solves that need more than moments."""

    def _path(self, moments: Moments, n_components: int | None) -> RidgePath:
        """Every penalty and every disparity level, for one number of components or all of them."""
        found = self._embed(moments, n_components)
        # The printed features keep whatever gap they have; the exact ones get the gap back through Q.
        Q = self._gap_directions(moments) if self.objective == "discrepancy" else np.empty((moments.n_features, 0))
        self.eigenvalues_ = np.asarray(found.eigenvalues)
        return RidgePath.on(found, moments.scatter, moments.cross, Q)

    def _fit_scores(self, rows: TrainingRows) -> None:
        moments = self._learn_moments(rows, self._learn_features(rows))
        path = self._path(moments, number_of_components(self.n_components, len(rows.X)))
        a = self._coefficients(path, moments)
        self.n_components_ = path.e.shape[0]
        warn_of_small_groups(rows.sensitive, None if self.n_components is None else self.n_components_)
        self.coef_ = np.asarray(self._features.lift(a))
        self.intercept_ = np.asarray(moments.target_mean - moments.feature_mean @ a)
        self.mean_gap_ = largest_gap(a, moments)

    def _coefficients(self, path: RidgePath, moments: Moments) -> np.ndarray:
        return path.coefficients(self.alpha, self.disparity_kept)

    def _scores(self, X: Any) -> np.ndarray:
        """Scores of shape (n, targets)."""
        check_is_fitted(self)
        return self._evaluate(self._check_new_rows(X), self.coef_) + self.intercept_
