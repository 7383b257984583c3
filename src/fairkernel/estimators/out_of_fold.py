"""Out-of-fold scores of a whole grid from one feature pass: folds are subtracted from the moments, never refitted."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import reduce
from operator import add
from typing import Any

import numpy as np
from sklearn.base import clone, is_classifier
from sklearn.model_selection import check_cv

from ..moments import Moments
from ..rows import TrainingRows
from ..sensitive import Sensitive
from ._base import number_of_components
from ._ridge import FairKernelRidge


@dataclass(frozen=True)
class OutOfFoldScores:
    """Scores of every training row by models that did not see its target.

    A score is linear in ``disparity_kept``, so its two ends give every level between.

    Parameters
    ----------
    n_components, alphas : list
        The grid.
    parity, plain : ndarray of shape (n, n_components, alphas, targets)
        Scores at ``disparity_kept`` 0 and 1.
    targets : ndarray of shape (n, targets)
        What the scores were fitted to: y, or 0/1 columns for a classifier.
    sensitive : Sensitive
    weight : ndarray of shape (n,)
    fold : ndarray of int, shape (n,)
        The fold each row was held out in.
    """

    n_components: list
    alphas: list
    parity: np.ndarray
    plain: np.ndarray
    targets: np.ndarray
    sensitive: Sensitive
    weight: np.ndarray
    fold: np.ndarray

    def at(self, disparity_kept: float) -> np.ndarray:
        """Scores of shape (n, n_components, alphas, targets) at one level."""
        return self.parity + disparity_kept * (self.plain - self.parity)


def out_of_fold_scores(
    estimator: FairKernelRidge,
    X: Any,
    y: Any,
    *,
    sensitive_features: Any = None,
    sample_weight: Any = None,
    n_components: Sequence = (None,),
    alphas: Sequence[float] = (1.0,),
    cv: Any = 5,
) -> OutOfFoldScores:
    """Score a grid of components and penalties, at every level of disparity, by cross-validation.

    The feature map is built once, from the inputs and groups of all rows passed; targets of a fold never reach
    the models that score it.

    Parameters
    ----------
    estimator : FairKernelRegressor or FairKernelClassifier
        Supplies the kernel and everything else; it is not changed.
    X : array-like of shape (n, p)
    y : array-like of shape (n,) or (n, targets)
    sensitive_features : array-like of shape (n,) or (n, columns)
    sample_weight : array-like of shape (n,), optional
        Rows of weight zero are left out of the result.
    n_components : sequence of int, float or None
    alphas : sequence of float
    cv : int or cross-validation splitter, default=5
        As in scikit-learn: stratified for a classifier.

    Returns
    -------
    OutOfFoldScores

    Examples
    --------
    >>> from fairkernel import FairKernelRegressor
    >>> rng = np.random.default_rng(0)
    >>> s = np.repeat([0, 1], 50)
    >>> X = rng.normal(size=(100, 2)) + s[:, None]
    >>> found = out_of_fold_scores(
    ...     FairKernelRegressor(random_state=0), X, X.sum(axis=1), sensitive_features=s, alphas=[0.1, 1.0]
    ... )
    >>> found.at(0.5).shape
    (100, 1, 2, 1)
    """
    folds = FoldMoments.of(estimator, X, y, sensitive_features=sensitive_features, sample_weight=sample_weight, cv=cv)
    return folds.scores(estimator, n_components, alphas)


@dataclass(frozen=True)
class FoldMoments:
    """One feature pass over the training rows, and the moments of each fold.

    Parameters
    ----------
    rows : TrainingRows
    phi : ndarray of shape (n, m)
    targets : ndarray of shape (n, targets)
    fold : ndarray of int, shape (n,)
    parts : list of Moments
        One per fold.
    """

    rows: TrainingRows
    phi: np.ndarray
    targets: np.ndarray
    fold: np.ndarray
    parts: list[Moments]

    @classmethod
    def of(
        cls,
        estimator: FairKernelRidge,
        X: Any,
        y: Any,
        *,
        sensitive_features: Any = None,
        sample_weight: Any = None,
        cv: Any = 5,
    ) -> "FoldMoments":
        """Build the features and split the moments.

        Parameters
        ----------
        estimator, X, y, sensitive_features, sample_weight, cv
            As in ``out_of_fold_scores``.

        Returns
        -------
        FoldMoments
        """
        model = clone(estimator)
        model._validate_params()
        rows = model._training_rows(X, y, sensitive_features, sample_weight)
        phi = model._learn_features(rows)
        fold = _folds(cv, rows, is_classifier(model))
        empty = model._no_moments(rows, phi)
        parts = [model._add_rows(empty, rows, phi, fold == f) for f in range(fold.max() + 1)]
        return cls(rows, phi, model._targets(rows).astype(phi.dtype, copy=False), fold, parts)

    def scores(
        self, estimator: FairKernelRidge, n_components: Sequence = (None,), alphas: Sequence[float] = (1.0,)
    ) -> OutOfFoldScores:
        """Score every row by models of the other folds.

        Parameters
        ----------
        estimator : FairKernelRegressor or FairKernelClassifier
            Says how the moments are solved; its kernel must be the one the features were built with.
        n_components : sequence of int, float or None
        alphas : sequence of float

        Returns
        -------
        OutOfFoldScores
        """
        model = clone(estimator)
        total = reduce(add, self.parts)
        shape = (len(self.phi), len(n_components), len(alphas), self.targets.shape[1])
        parity, plain = np.empty(shape), np.empty(shape)
        for f, part in enumerate(self.parts):
            held_out = self.fold == f
            size = len(self.phi) - int(held_out.sum())
            model._show(self.rows, self.phi, ~held_out)
            parity[held_out], plain[held_out] = _grid_scores(
                model, total - part, size, self.phi[held_out], n_components, alphas
            )
        return OutOfFoldScores(
            list(n_components),
            list(alphas),
            parity,
            plain,
            self.targets,
            self.rows.sensitive,
            self.rows.weight,
            self.fold,
        )


def new_row_scores(
    estimator: FairKernelRidge,
    X: Any,
    y: Any,
    X_new: Any,
    *,
    sensitive_features: Any = None,
    n_components: Sequence = (None,),
    alphas: Sequence[float] = (1.0,),
) -> tuple[np.ndarray, np.ndarray]:
    """Scores of new rows over the same grid, from one fit.

    Parameters
    ----------
    estimator : FairKernelRegressor or FairKernelClassifier
    X, y, sensitive_features
        Training rows.
    X_new : array-like of shape (n_new, p)
    n_components : sequence of int, float or None
    alphas : sequence of float

    Returns
    -------
    parity, plain : ndarray of shape (n_new, n_components, alphas, targets)
        Scores at ``disparity_kept`` 0 and 1.
    """
    model = clone(estimator)
    model._validate_params()
    rows = model._training_rows(X, y, sensitive_features, None)
    moments = model._learn_moments(rows, model._learn_features(rows))
    phi = model._features(model._check_new_rows(X_new))
    return _grid_scores(model, moments, len(rows.X), phi, n_components, alphas)


def _grid_scores(
    model: FairKernelRidge,
    training: Moments,
    n_training: int,
    phi: np.ndarray,
    n_components: Sequence,
    alphas: Sequence[float],
) -> tuple[np.ndarray, np.ndarray]:
    """Scores of some rows by models of the training moments, at parity and plain."""
    a = _grid_coefficients(model, training, [number_of_components(k, n_training) for k in n_components], alphas)
    # The unpenalised intercept: score = mean y + (φ − mean φ) a.
    scores = phi @ a - training.feature_mean @ a
    scores = scores.reshape(len(phi), 2, len(n_components), len(alphas), -1) + training.target_mean
    return scores[:, 0], scores[:, 1]


def _folds(cv: Any, rows: TrainingRows, classifier: bool) -> np.ndarray:
    """The fold of each row; every row is held out exactly once."""
    labels = rows.y if rows.y.ndim == 1 else rows.y[:, 0]
    fold = np.full(len(rows.X), -1)
    for f, (_, held_out) in enumerate(check_cv(cv, labels, classifier=classifier).split(rows.X, labels)):
        if (fold[held_out] >= 0).any():
            raise ValueError(
                f"cv={cv!r} holds some rows out more than once; out-of-fold scores need a partition of the rows."
            )
        fold[held_out] = f
    if (fold < 0).any():
        raise ValueError(
            f"cv={cv!r} never holds out {(fold < 0).sum()} rows; out-of-fold scores need a partition of the rows."
        )
    return fold


def _grid_coefficients(model: FairKernelRidge, training: Moments, ks: list, alphas: Sequence[float]) -> np.ndarray:
    """Coefficients of shape (m, 2 · ks · alphas · targets): parity first, then plain."""
    nested = model.objective == "discrepancy" and model.n_moments == 1
    largest = None if None in ks else max(ks)
    # Components of largest variance are nested: one solve serves every k.
    shared = model._path(training, largest) if nested else None
    paths = [shared or model._path(training, k) for k in ks]
    blocks = [
        path.coefficients(alpha, kept, k)
        for kept in (0.0, 1.0)
        for path, k in zip(paths, ks, strict=True)
        for alpha in alphas
    ]
    return np.concatenate(blocks, axis=1)
