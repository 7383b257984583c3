"""Step 1 of the paper as a transformer."""

from typing import Any

import numpy as np
from sklearn.base import ClassNamePrefixFeaturesOutMixin, TransformerMixin, _fit_context
from sklearn.utils.multiclass import type_of_target
from sklearn.utils.validation import check_is_fitted

from ..criteria import Cells, cells_of
from ..rows import TrainingRows
from ..sensitive import MANY_LEVELS, warn_of_small_groups
from ._base import ROWS_PER_COMPONENT, FairKernelEstimator, largest_gap, number_of_components
from ._parameters import SHARED
from .stability import SpanStability, span_stability


class FairFeatureEmbedding(ClassNamePrefixFeaturesOutMixin, TransformerMixin, FairKernelEstimator):
    """Features in kernel space on which demographic groups have equal training means.

    Step 1 of FKR-F²E: functions f_j(x) = Σ_i α_ij k(x, x_i) of unit norm, mutually orthogonal, with the least mean
    discrepancy between groups (Eq. 3-9 of [1]_). The objective is rank one, so infinitely many sets of functions
    attain its minimum 0; this class takes those of largest variance. Equal training means are not equal
    distributions: measure what a predictor does with them.

    Parameters
    ----------
    n_components : int, float or None, default=None
        Number of features k; a float is a share of the training rows; None is n / 250 as in the paper, at least 1.
    kernel : str, callable or Kernel, default="rbf"
        "linear", "poly", "sigmoid", "rbf", "laplacian", "precomputed", a function of two blocks of rows, or a kernel
        object such as ``RBF(0.1) + Linear()`` from ``fairkernel.kernels``.
    gamma : float, default=None
        Kernel scale; None is 1 / (number of columns).
    degree : float, default=3
        Degree of the polynomial kernel.
    coef0 : float, default=1.0
        Additive constant of the polynomial and sigmoid kernels.
    kernel_params : dict, default=None
        Keyword arguments of a callable kernel.
    objective : {"discrepancy", "printed"}, default="discrepancy"
        Eq. 3 itself, or Eq. 6 as printed and symmetrised: a different, indefinite matrix whose least eigenvectors
        have a gap (two groups only).
    criterion : {"parity", "opportunity", "odds"}, default="parity"
        Which means are to agree: the groups' over all rows, over the rows of the positive class (the larger of two
        labels), or within every class. For a numeric y (fractions, or floats of more than ten values)
        the classes are four bins of equal numbers of rows.
    features : {"landmarks", "exact", "fourier"}, default="landmarks"
        How the kernel becomes finitely many numbers: group-weighted randomly pivoted Cholesky, the same to numerical
        rank, or random Fourier features (which keep no training rows).
    n_features : int or "auto", default="auto"
        How many. "auto" stops when every group is represented to 0.1%, between 500 and 2000 landmarks (fewer when the
        rank is lower); ``features_chosen_`` says what it took.
    n_moments : {1, 2}, default=1
        2 also picks, among twice as many candidates, the directions in which the groups' variances differ least.
    rank_tolerance : float, default=1e-10
        Share of the largest eigenvalue below which ``objective="printed"`` regards a direction as outside the
        kernel's range.
    missing_sensitive : {"error", "group", "ignore"}, default="error"
        What to do about missing values in sensitive_features: refuse them, make the missing categories a group of
        their own, or let the row count for the loss (the variance, here) and not for the constraint. With several
        columns, a row with a gap in any of them is ignored.
    sensitive_feature_ids : list of str or int, default=None
        Columns of X to read as sensitive_features and to leave out of the inputs.
    random_state : int, RandomState instance or None, default=None
        Draws landmarks or frequencies.

    Attributes
    ----------
    coef_ : ndarray of shape (n_landmarks, n_components)
        The paper's α on the landmark rows.
    eigenvalues_ : ndarray of shape (n_components,)
        Objective "discrepancy": n times the variance of each feature, descending. "printed": the paper's λ,
        ascending.
    mean_gap_ : ndarray of shape (n_components,)
        Largest training gap between group means, per feature.
    witness_coef_ : ndarray of shape (n_landmarks, n_witnesses)
        ``witness(X)`` is k(x, landmarks) @ witness_coef_ + witness_intercept_.
    witness_intercept_ : ndarray of shape (n_witnesses,)
    rank_ : int
        How many directions there are to choose from.
    groups_ : tuple
        Labels of the groups.
    landmark_indices_ : ndarray of int or None
        Training rows the features are built on; the fitted object holds these rows.
    approximation_error_by_group_ : dict
        Share of k(x, x) the features miss, on average per group (Fourier: root mean square error of k).
    features_chosen_, embedding_chosen_ : str
        What was chosen, in a sentence each.
    n_features_in_ : int
    feature_names_in_ : ndarray of str

    References
    ----------
    .. [1] A. Okray, H. Hu, C. Lan, "Fair Kernel Regression via Fair Feature Embedding in Kernel Space", 2019.

    Examples
    --------
    >>> import numpy as np
    >>> from fairkernel import FairFeatureEmbedding
    >>> rng = np.random.default_rng(0)
    >>> s = np.repeat(["a", "b"], 50)
    >>> X = rng.normal(size=(100, 3)) + (s == "b")[:, None]
    >>> Z = FairFeatureEmbedding(n_components=2, random_state=0).fit_transform(X, sensitive_features=s)
    >>> Z.shape, bool(abs(Z[s == "a"].mean(axis=0) - Z[s == "b"].mean(axis=0)).max() < 1e-10)
    ((100, 2), True)
    """

    _parameter_constraints: dict = SHARED

    @_fit_context(prefer_skip_nested_validation=True)
    def fit(
        self, X: Any, y: Any = None, *, sensitive_features: Any = None, sample_weight: Any = None
    ) -> "FairFeatureEmbedding":
        """Learn the features.

        Parameters
        ----------
        X : array-like of shape (n, p)
        y : array-like of shape (n,), optional
            Labels or numbers; needed unless ``criterion="parity"``.
        sensitive_features : array-like of shape (n,) or (n, columns)
            Required unless ``sensitive_feature_ids`` is set.
        sample_weight : array-like of shape (n,), optional
            A weight of 2 is the row twice, 0 the row absent.

        Returns
        -------
        FairFeatureEmbedding
        """
        rows = self._training_rows(X, y, sensitive_features, sample_weight)
        phi = self._learn_features(rows)
        moments = self._learn_moments(rows, phi)
        found = self._embed(moments, self._k(len(rows.X)))
        warn_of_small_groups(rows.sensitive, found.directions.shape[1])
        directions = _fix_signs(found.directions, phi)
        self.coef_ = np.asarray(self._features.lift(directions))
        self.eigenvalues_ = np.asarray(found.eigenvalues)
        self.mean_gap_ = largest_gap(directions, moments)
        self._learn_witness(moments)
        self._fitted = True
        return self

    def _training_rows(self, X: Any, y: Any, sensitive_features: Any, sample_weight: Any) -> TrainingRows:
        return super()._training_rows(X, None if self.criterion == "parity" else y, sensitive_features, sample_weight)

    def _k(self, n_rows: int) -> int:
        k = number_of_components(self.n_components, n_rows)
        return max(1, n_rows // ROWS_PER_COMPONENT) if k is None else k

    def _targets(self, rows: TrainingRows) -> np.ndarray:
        return np.empty((len(rows.X), 0))

    def _cells(self, rows: TrainingRows) -> Cells:
        if self.criterion == "parity":
            return cells_of("parity", rows.sensitive)
        if rows.y.ndim == 2 and not rows.y.shape[1]:
            return cells_of(self.criterion, rows.sensitive)  # which says that y is missing
        classes, numbers = np.unique(rows.y, return_inverse=True)
        many = rows.y.dtype.kind == "f" and len(classes) > MANY_LEVELS
        if many or type_of_target(rows.y).startswith("continuous"):
            return cells_of(self.criterion, rows.sensitive, rows.y, None, rows.weight)
        return cells_of(self.criterion, rows.sensitive, numbers, classes)

    def transform(self, X: Any) -> np.ndarray:
        """Features of new rows, <φ(x), η_j> = Σ_i α_ij k(x, x_i) (Eq. 8).

        Parameters
        ----------
        X : array-like of shape (n, p)

        Returns
        -------
        ndarray of shape (n, n_components)
        """
        check_is_fitted(self)
        X = self._check_new_rows(X)
        return self._evaluate(X, self.coef_).astype(X.dtype, copy=False)

    def span_stability(
        self,
        X: Any,
        *,
        sensitive_features: Any = None,
        y: Any = None,
        sample_weight: Any = None,
        n_resamples: int = 20,
        random_state: Any = None,
    ) -> SpanStability:
        """How far the span of the features turns when the rows are drawn again.

        The objective (Eq. 3) leaves any k directions without a gap equally good; the rule of largest variance is what
        makes the answer unique, and an eigenvalue gap what makes it stable. Embeds these rows with the parameters of
        this estimator, fitted or not, builds the kernel features once, and resamples within the groups.

        Parameters
        ----------
        X, sensitive_features, y, sample_weight
            As in ``fit``.
        n_resamples : int, default=20
        random_state : int, RandomState instance or None, default=None
            Draws the resamples; landmarks are drawn with the estimator's own.

        Returns
        -------
        SpanStability
            Principal angles in degrees, beside those of directions chosen without the rule.

        Examples
        --------
        >>> from fairkernel.datasets import make_two_groups
        >>> data = make_two_groups(n_samples=600, random_state=0)
        >>> model = FairFeatureEmbedding(n_components=5, random_state=0)
        >>> print(model.span_stability(data.data, sensitive_features=data.sensitive_features, random_state=0))
        over 20 resamples the span of 5 components turns by 9.1° on average and 18.5° at most (any other components
        without a gap: 85.1° and 90.0°), the gap by 17.5°; e_k / e_k+1 = 1.85
        """
        return span_stability(
            self,
            X,
            y,
            sensitive_features=sensitive_features,
            sample_weight=sample_weight,
            n_resamples=n_resamples,
            random_state=random_state,
        )

    @property
    def _n_features_out(self) -> int:
        return self.coef_.shape[1]

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.transformer_tags.preserves_dtype = ["float64", "float32"]
        return tags


def _fix_signs(directions: np.ndarray, phi: np.ndarray) -> np.ndarray:
    """Make each feature's largest training value positive: eigenvectors come with either sign."""
    values = phi @ directions
    largest = values[np.abs(values).argmax(axis=0), np.arange(values.shape[1])]
    return directions * np.where(largest < 0, -1.0, 1.0)
