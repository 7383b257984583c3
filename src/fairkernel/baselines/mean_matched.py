"""FRR: a representation with equal group means, then ridge. Our reconstruction, not McNamara's algorithm.

The comparison this library reproduces cites McNamara, Ong and Williamson (2017) for "FRR" and does not say how it
was computed; no code is public. This file is what the cited abstract supports: a data producer learns z = f(x), a
data user trains on z, and the fairness of whatever is trained is a property of f. With m the overall mean, C the
covariance and d = mean_p(x) − mean_u(x), each variant moves x by as little as its rule allows:

    V1   z = m + (I − a vvᵀ)(x − m),  v = d/‖d‖             orthogonal; no group at prediction
    V2   z = x − a (mean of x's group − m)                  least distortion of all; needs the group at prediction
    V3   z = m + (I − a ddᵀC⁺/(dᵀC⁺d))(x − m)               least distortion of linear maps without the group

The mean gap of z is (1 − a) d. With more than two groups vvᵀ and ddᵀC⁺/(dᵀC⁺d) become the projections along the
span D of all mean differences.
"""

from numbers import Real
from typing import Any

import numpy as np
import scipy.linalg
from sklearn.base import BaseEstimator, ClassifierMixin, OneToOneFeatureMixin, TransformerMixin, _fit_context
from sklearn.metrics import accuracy_score
from sklearn.utils._param_validation import Interval, StrOptions
from sklearn.utils.validation import check_is_fitted

from ..backend import eigh
from ..rows import TrainingRows, numbers_of_fitted_groups, read_training_rows
from ..solve import gap_directions, orthonormal_directions
from ..validation import check_rows

THRESHOLD = 0.5


class MeanMatchedRidge(OneToOneFeatureMixin, ClassifierMixin, TransformerMixin, BaseEstimator):
    """Ridge classifier on a representation in which groups have equal training means.

    Our reconstruction of "FRR", not McNamara's algorithm: the module says what is known. ``transform`` gives the
    representation z, on which any model can be trained instead; its linear scores then have the gap of z's means,
    which is zero for ``gap_removed=1``. Equal means are not equal distributions, nor equal decisions. Columns are
    not scaled here; put a ``StandardScaler`` before, for the first variant and the penalty depend on units.

    Parameters
    ----------
    variant : {"V1", "V2", "V3"}, default="V1"
        "V1" projects orthogonally to the mean differences; "V2" moves every group onto the overall mean and needs
        ``sensitive_features`` at prediction; "V3" is the linear map that moves rows least without them.
    gap_removed : float, default=1.0
        a in [0, 1]. Below 1 the maps "V1" and "V3" can be inverted, and a ridge of small penalty undoes them.
    alpha : float, default=1.0
        Ridge penalty; the intercept is not penalised.
    missing_sensitive : {"error", "group"}, default="error"
        What to do about missing categories in sensitive_features.

    Attributes
    ----------
    matching_ : ndarray of shape (n_features_in_, n_features_in_)
        The linear part of x ↦ z; the identity for "V2".
    mean_ : ndarray of shape (n_features_in_,)
        m.
    group_means_ : ndarray of shape (n_groups, n_features_in_)
        Mean of x in each group.
    coef_ : ndarray of shape (n_scores, n_features_in_)
        Weights on z; one score for two classes.
    intercept_ : ndarray of shape (n_scores,)
    mean_gap_ : ndarray of shape (n_scores,)
        Largest training gap between the groups' mean scores.
    distortion_ : float
        Mean of ‖x − z‖² over the training rows.
    classes_ : ndarray of shape (n_classes,)
    groups_ : tuple
    n_features_in_ : int
    feature_names_in_ : ndarray of str

    References
    ----------
    .. [1] D. McNamara, C. S. Ong, R. C. Williamson, "Provably Fair Representations", 2017. What is here was built
       from its abstract alone.

    Examples
    --------
    >>> import numpy as np
    >>> from fairkernel.baselines import MeanMatchedRidge
    >>> rng = np.random.default_rng(0)
    >>> s = np.repeat(["a", "b"], 100)
    >>> X = rng.normal(size=(200, 3)) + (s == "b")[:, None]
    >>> y = np.where(X[:, 0] + X[:, 1] > 1, "yes", "no")
    >>> model = MeanMatchedRidge().fit(X, y, sensitive_features=s)
    >>> Z = model.transform(X)
    >>> bool(np.allclose(Z[s == "a"].mean(axis=0), Z[s == "b"].mean(axis=0))), bool(model.mean_gap_[0] < 1e-12)
    (True, True)
    """

    # Routed without a user's request: groups are part of what is learnt from and, for V2, of what z is.
    __metadata_request__fit = {"sensitive_features": True}  # noqa: RUF012
    __metadata_request__transform = {"sensitive_features": True}  # noqa: RUF012
    __metadata_request__predict = {"sensitive_features": True}  # noqa: RUF012
    __metadata_request__decision_function = {"sensitive_features": True}  # noqa: RUF012
    __metadata_request__score = {"sensitive_features": True}  # noqa: RUF012

    _parameter_constraints: dict = {  # noqa: RUF012
        "variant": [StrOptions({"V1", "V2", "V3"})],
        "gap_removed": [Interval(Real, 0, 1, closed="both")],
        "alpha": [Interval(Real, 0, None, closed="left")],
        "missing_sensitive": [StrOptions({"error", "group"})],
    }

    def __init__(
        self, *, variant: str = "V1", gap_removed: float = 1.0, alpha: float = 1.0, missing_sensitive: str = "error"
    ) -> None:
        self.variant = variant
        self.gap_removed = gap_removed
        self.alpha = alpha
        self.missing_sensitive = missing_sensitive

    @_fit_context(prefer_skip_nested_validation=True)
    def fit(self, X: Any, y: Any, *, sensitive_features: Any = None, sample_weight: Any = None) -> "MeanMatchedRidge":
        """Learn the representation and the ridge on it.

        Parameters
        ----------
        X : array-like of shape (n, p)
        y : array-like of shape (n,)
            Any two labels, or more (one score per class).
        sensitive_features : array-like of shape (n,) or (n, columns)
            Categories, required.
        sample_weight : array-like of shape (n,), optional
            Weighs the means, the covariance and the loss alike; 2 is the row twice, 0 the row absent.

        Returns
        -------
        MeanMatchedRidge
        """
        rows = read_training_rows(self, X, y, sensitive_features, sample_weight)
        codes = rows.sensitive.codes
        self.classes_, self.groups_ = rows.classes, rows.sensitive.groups
        self._learn_representation(rows)
        Z = self._represent(rows.X, codes)
        self.distortion_ = float(np.average(((rows.X - Z) ** 2).sum(axis=1), weights=rows.weight))

        # Two classes need one score: that of the second label.
        columns = np.arange(1, 2) if len(self.classes_) == 2 else np.arange(len(self.classes_))
        targets = (rows.y[:, None] == columns).astype(float)
        W, self.intercept_ = _ridge(Z, targets, rows.weight, self.alpha)
        self.coef_ = W.T
        means = _group_means(Z @ W, codes, rows.weight)
        self.mean_gap_ = means.max(axis=0) - means.min(axis=0)
        return self

    def _learn_representation(self, rows: TrainingRows) -> None:
        p = rows.X.shape[1]
        with np.errstate(over="ignore", invalid="ignore"):
            self.mean_ = np.average(rows.X, axis=0, weights=rows.weight)
            self.group_means_ = _group_means(rows.X, rows.sensitive.codes, rows.weight)
            centred = (rows.X - self.mean_) * np.sqrt(rows.weight / rows.weight.sum())[:, None]
            C = centred.T @ centred
        if not np.isfinite(C).all():
            raise ValueError(
                "the covariance of X overflows: scale the columns first, for instance with StandardScaler."
            )
        self.matching_ = np.eye(p)
        if self.variant == "V2":
            return
        D = gap_directions(self.group_means_, np.empty((0, p)), np.empty(0))
        D = orthonormal_directions(D, float(np.trace(C)))
        if self.variant == "V1":
            removed = D @ D.T
        else:
            CD = scipy.linalg.pinvh(C) @ D
            removed = D @ np.linalg.solve(D.T @ CD, CD.T)
        self.matching_ -= self.gap_removed * removed

    def fit_transform(
        self, X: Any, y: Any = None, *, sensitive_features: Any = None, sample_weight: Any = None
    ) -> np.ndarray:
        """Fit, then represent the same rows.

        Parameters
        ----------
        X, y, sensitive_features, sample_weight
            As in ``fit``.

        Returns
        -------
        ndarray of shape (n, p)
        """
        fitted = self.fit(X, y, sensitive_features=sensitive_features, sample_weight=sample_weight)
        return fitted.transform(X, sensitive_features=sensitive_features)

    def transform(self, X: Any, *, sensitive_features: Any = None) -> np.ndarray:
        """The representation z.

        Parameters
        ----------
        X : array-like of shape (n, p)
        sensitive_features : array-like of shape (n,) or (n, columns), optional
            Required by variant "V2", which moves a row by its group; the others do not look at it.

        Returns
        -------
        ndarray of shape (n, p)
        """
        check_is_fitted(self)
        rows_like, X = X, check_rows(self, X, reset=False)
        Z = self._represent(X, self._group_numbers(sensitive_features, len(X), rows_like))
        return Z.astype(X.dtype, copy=False)

    def decision_function(self, X: Any, *, sensitive_features: Any = None) -> np.ndarray:
        """Score minus 0.5 for two classes, one score per class for more.

        Parameters
        ----------
        X : array-like of shape (n, p)
        sensitive_features : array-like, optional
            As in ``transform``.

        Returns
        -------
        ndarray of shape (n,) or (n, n_classes)
        """
        check_is_fitted(self)
        rows_like, X = X, check_rows(self, X, reset=False)
        Z = self._represent(X, self._group_numbers(sensitive_features, len(X), rows_like))
        scores = Z @ self.coef_.T + self.intercept_
        return scores[:, 0] - THRESHOLD if len(self.classes_) == 2 else scores

    def predict(self, X: Any, *, sensitive_features: Any = None) -> np.ndarray:
        """Class of each row.

        Parameters
        ----------
        X : array-like of shape (n, p)
        sensitive_features : array-like, optional
            As in ``transform``.

        Returns
        -------
        ndarray of shape (n,)
        """
        scores = self.decision_function(X, sensitive_features=sensitive_features)
        return self.classes_[(scores >= 0).astype(int) if scores.ndim == 1 else scores.argmax(axis=1)]

    def score(self, X: Any, y: Any, sample_weight: Any = None, *, sensitive_features: Any = None) -> float:
        """Accuracy.

        Parameters
        ----------
        X : array-like of shape (n, p)
        y : array-like of shape (n,)
        sample_weight : array-like of shape (n,), optional
        sensitive_features : array-like, optional
            As in ``transform``.

        Returns
        -------
        float
        """
        predicted = self.predict(X, sensitive_features=sensitive_features)
        return float(accuracy_score(y, predicted, sample_weight=sample_weight))

    def _represent(self, X: np.ndarray, codes: np.ndarray | None) -> np.ndarray:
        if self.variant == "V2":
            return X - self.gap_removed * (self.group_means_ - self.mean_)[codes]
        return self.mean_ + (X - self.mean_) @ self.matching_.T

    def _group_numbers(self, sensitive_features: Any, n_rows: int, rows_like: Any) -> np.ndarray | None:
        """For the variant that needs them."""
        if self.variant != "V2":
            return None
        if sensitive_features is None:
            raise TypeError(
                "MeanMatchedRidge(variant='V2') moves each row by the mean of its group: pass sensitive_features when "
                "predicting and transforming too, or use variant='V1' or 'V3', which do without."
            )
        return numbers_of_fitted_groups(self, sensitive_features, n_rows=n_rows, rows_like=rows_like)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.transformer_tags.preserves_dtype = ["float64", "float32"]
        # With few columns, the direction given up may be the one that tells the classes apart.
        tags.classifier_tags.poor_score = self.variant != "V2"
        return tags


def _group_means(values: np.ndarray, codes: np.ndarray, weight: np.ndarray) -> np.ndarray:
    return np.array(
        [np.average(values[codes == g], axis=0, weights=weight[codes == g]) for g in range(codes.max() + 1)]
    )


def _ridge(Z: np.ndarray, targets: np.ndarray, weight: np.ndarray, alpha: float) -> tuple[np.ndarray, np.ndarray]:
    """Weights and intercept that minimise Σ w (target − zᵀW − b)² + α‖W‖²; of least norm where α = 0."""
    z_mean, t_mean = np.average(Z, axis=0, weights=weight), np.average(targets, axis=0, weights=weight)
    root = np.sqrt(weight / weight.sum())[:, None]
    centred = (Z - z_mean) * root
    e, U = eigh(centred.T @ centred)
    kept = e > len(e) * np.finfo(float).eps * e[0]  # the matched direction has no variance left
    b = U[:, kept].T @ (centred.T @ ((targets - t_mean) * root))
    W = U[:, kept] @ (b / (e[kept] + alpha / weight.sum())[:, None])
    return W, t_mean - z_mean @ W
