"""The witness function: how group-like each row is."""

from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from ..moments import Moments
from ..solve import witness_directions


class WitnessMixin:
    """Evaluates d(x) = <φ(x) − mean φ, δ> on new rows; δ comes from the moments of the training rows."""

    _features: Any  # these three are FairKernelEstimator's
    _evaluate: Any
    _check_new_rows: Any

    def _learn_witness(self, moments: Moments) -> None:
        delta = witness_directions(
            moments.group_means,
            moments.group_weight,
            moments.numeric_covariance,
            moments.numeric_variance,
            moments.strata,
        )
        self.witness_coef_ = np.asarray(self._features.lift(delta))
        self.witness_intercept_ = -np.asarray(moments.feature_mean @ delta)

    def witness(self, X: Any) -> np.ndarray:
        """How group-like each row is: the function whose mean tells the groups apart best.

        d(x) = <φ(x) − mean φ, δ> with δ the difference of the groups' means of φ: the witness function of the maximum
        mean discrepancy, in which a score has to be orthogonal for its mean gap to vanish. Its own gap is ‖δ‖², the
        squared discrepancy.

        Parameters
        ----------
        X : array-like of shape (n, p)
            The groups of these rows are not needed.

        Returns
        -------
        ndarray of shape (n,) or (n, columns)
            Mean 0 over the training rows. Two groups: positive means like ``groups_[1]``. More groups: one column per
            group, positive means like that group rather than like all rows. A continuous attribute: positive means like
            rows of high values. With ``criterion="odds"`` these columns come once per class; continuous attributes
            come after the groups.
        """
        check_is_fitted(self)
        found = self._evaluate(self._check_new_rows(X), self.witness_coef_) + self.witness_intercept_
        return found[:, 0] if found.shape[1] == 1 else found
