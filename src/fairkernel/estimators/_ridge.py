"""Step 2 for the regressor and the classifier: ridge regression on the embedding."""

from functools import reduce
from numbers import Integral
from operator import add
from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from ..kernels import Kernel
from ..moments import Moments
from ..rows import TrainingRows, numbers_of_fitted_groups
from ..sensitive import warn_of_small_groups
from ..solve import RidgePath
from ..validation import take_columns
from ._base import FairKernelEstimator, largest_gap, number_of_components
from ._parameters import RIDGE, SHARED
from .tuning import BUDGET, tune

TUNED_FEATURES = 500


class FairKernelRidge(FairKernelEstimator):
    """Scores f(x) = intercept + Σ_i c_i k(x, x_i) from one path of ridge solutions."""

    _parameter_constraints: dict = {**SHARED, **RIDGE}  # noqa: RUF012

    def __init__(
        self,
        n_components: int | float | None = None,
        *,
        alpha: float = 1.0,
        disparity_kept: float = 0.0,
        tuning_budget: float = BUDGET,
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
        self.tuning_budget = tuning_budget

    def _show(self, rows: TrainingRows, phi: np.ndarray, part: Any = slice(None)) -> None:
        """Told before ``_path`` which rows its moments are of; for solves that need more than moments."""

    def _path(self, moments: Moments, n_components: int | None, *, attributes: bool = False) -> RidgePath:
        """Every penalty and every disparity level, for one number of components or all of them.

        With ``attributes`` the sensitive attributes are right-hand sides after the targets.
        """
        found = self._embed(moments, n_components)
        # The printed features keep whatever gap they have; the exact ones get the gap back through Q.
        Q = self._gap_directions(moments) if self.objective == "discrepancy" else np.empty((moments.n_features, 0))
        self.eigenvalues_ = np.asarray(found.eigenvalues)
        cross = np.concatenate([moments.cross, moments.attribute_cross.T], axis=1) if attributes else moments.cross
        return RidgePath.on(found, moments.scatter, cross, Q)

    def _fit_scores(self, rows: TrainingRows, moments: Moments, *, attributes: bool = False) -> np.ndarray:
        """Learn the scores and, with ``attributes``, how group-like a row looks; coefficients of both on φ."""
        path = self._path(moments, number_of_components(self.n_components, len(rows.X)), attributes=attributes)
        q = moments.n_targets
        a = self._coefficients(path, moments)[:, :q]
        self.n_components_ = path.e.shape[0]
        warn_of_small_groups(rows.sensitive, None if self.n_components is None else self.n_components_)
        self.coef_ = np.asarray(self._features.lift(a))
        self.intercept_ = np.asarray(moments.target_mean - moments.feature_mean @ a)
        self.mean_gap_ = largest_gap(a, moments)
        self._learn_witness(moments)
        if not attributes:
            return a
        alike = path.coefficients(self.likeness_alpha_, 1.0)[:, q:] @ moments.standardising
        self.likeness_coef_ = np.asarray(self._features.lift(alike))
        self.likeness_intercept_ = np.asarray(
            moments.attribute_mean @ moments.standardising - moments.feature_mean @ alike
        )
        return np.concatenate([a, alike], axis=1)

    def _coefficients(self, path: RidgePath, moments: Moments) -> np.ndarray:
        return path.coefficients(self.alpha_, self.disparity_kept)

    def _choose_kernel(self, rows: TrainingRows) -> tuple[Kernel, int | str]:
        self.alpha_, self.chosen_, self.chosen_for_groups_ = self.alpha, None, None
        if not (isinstance(self.kernel, str) and self.kernel == "auto"):
            return super()._choose_kernel(rows)
        searches = [self._targets(rows)]
        if self._needs_likeness:
            cells = self._cells(rows)
            searches.append(np.hstack([cells.codes[:, None] == np.arange(cells.n_cells), cells.numeric]))
        budget: Any = self.tuning_budget  # settings for each search, or seconds for all of them
        budget = budget if isinstance(budget, Integral) else budget / len(searches)
        found = [tune(rows, targets, budget, self.random_state) for targets in searches]
        self.chosen_, self.alpha_ = found[0], found[0].alpha
        self.chosen_for_groups_ = found[1] if self._needs_likeness else None
        # The features of a sum of kernels are those of both, so one solve still serves every right-hand side.
        kernel = reduce(add, [chosen.kernel for chosen in found])
        # Rough kernels never meet the tolerance of "auto", and their ridge smooths away what more landmarks would add.
        return kernel, min(TUNED_FEATURES, len(rows.X)) if self.n_features == "auto" else self.n_features

    @property
    def _needs_likeness(self) -> bool:
        """Whether decisions depend on how group-like a row looks."""
        return False

    def _new_groups(self, X: Any, sensitive_features: Any, n_rows: int) -> np.ndarray:
        """Numbers of new rows' groups, which ``aware=True`` needs."""
        sensitive_features = self._given_or_among(X, sensitive_features)
        if sensitive_features is None:
            raise TypeError(
                f"{type(self).__name__} with aware=True needs sensitive_features: one value per row, when predicting "
                "too, for instance predict(X, sensitive_features=s)."
            )
        return numbers_of_fitted_groups(self, sensitive_features, n_rows=n_rows, rows_like=X)

    def _given_or_among(self, X: Any, sensitive_features: Any) -> Any:
        """Sensitive attributes of new rows: as passed, or else from the columns of X, or None."""
        if sensitive_features is None and self.sensitive_feature_ids is not None and self._has_sensitive_columns(X):
            return take_columns(X, self.sensitive_feature_ids, required=False)[1]
        return sensitive_features

    def _scores(self, X: Any) -> np.ndarray:
        """Scores of shape (n, targets)."""
        check_is_fitted(self)
        return self._evaluate(self._check_new_rows(X), self.coef_) + self.intercept_
