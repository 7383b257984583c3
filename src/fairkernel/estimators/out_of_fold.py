"""Out-of-fold scores of a whole grid from one feature pass: folds are subtracted from the moments, never refitted."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property, reduce
from numbers import Integral
from operator import add
from typing import Any

import numpy as np
from sklearn.base import clone, is_classifier
from sklearn.model_selection import PredefinedSplit, check_cv

from ..criteria import Cells
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
    likeness : ndarray of shape (n, n_components, alphas, attributes), or None
        How group-like each row looks: p(cell | x)/π for every cell, then the expected standardised numeric attributes.
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
    likeness: np.ndarray | None
    targets: np.ndarray
    sensitive: Sensitive
    weight: np.ndarray
    fold: np.ndarray

    def at(self, disparity_kept: float) -> np.ndarray:
        """Scores of shape (n, n_components, alphas, targets) at one level."""
        return self.parity + disparity_kept * (self.plain - self.parity)

    def losses(self, disparity_kept: float) -> np.ndarray:
        """Mean squared error of shape (n_components, alphas), every target in units of its variance."""
        return _relative_error(self.at(disparity_kept), self.targets, self.weight)

    def likeness_losses(self, cells: Cells) -> np.ndarray:
        """The same for the sensitive attributes, as standardised ones."""
        assert self.likeness is not None
        W = cells.rate_weights(self.weight)
        # W is w·s standardised and divided by Σw; as a target for the likeness it wants 1/Σw where that has 1/n_g.
        targets = W * self.weight.sum() / self.weight[:, None]
        return _relative_error(self.likeness, targets, self.weight)


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
        A number deals the rows out so that every fold has its share of each group and of each level of y.

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
    model : FairKernelRegressor or FairKernelClassifier
        Holds the feature map.
    rows : TrainingRows
    phi : ndarray of shape (n, m)
    targets : ndarray of shape (n, targets)
    fold : ndarray of int, shape (n,)
    parts : list of Moments
        One per fold.
    """

    model: FairKernelRidge
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
        return cls.split(model, rows, model._learn_features(rows), cv=cv)

    @classmethod
    def split(cls, model: FairKernelRidge, rows: TrainingRows, phi: np.ndarray, *, cv: Any = 5) -> "FoldMoments":
        """Split the moments of rows whose features are there already.

        Parameters
        ----------
        model : FairKernelRegressor or FairKernelClassifier
        rows : TrainingRows
        phi : ndarray of shape (n, m)
            The rows under the model's feature map.
        cv : int or cross-validation splitter

        Returns
        -------
        FoldMoments
        """
        fold = _folds(cv, rows, is_classifier(model))
        _refuse_emptied_cells(model, rows, fold)
        empty = model._no_moments(rows, phi)
        parts = [model._add_rows(empty, rows, phi, fold == f) for f in range(fold.max() + 1)]
        return cls(model, rows, phi, model._targets(rows).astype(phi.dtype, copy=False), fold, parts)

    @cached_property
    def total(self) -> Moments:
        """The moments of all rows."""
        return reduce(add, self.parts)

    def scores(
        self,
        estimator: FairKernelRidge,
        n_components: Sequence = (None,),
        alphas: Sequence[float] = (1.0,),
        *,
        likeness: bool = False,
    ) -> OutOfFoldScores:
        """Score every row by models of the other folds.

        Parameters
        ----------
        estimator : FairKernelRegressor or FairKernelClassifier
            Says how the moments are solved; its kernel must be the one the features were built with.
        n_components : sequence of int, float or None
        alphas : sequence of float
        likeness : bool, default=False
            Whether to predict the sensitive attributes as well, from the same solve.

        Returns
        -------
        OutOfFoldScores
        """
        model, total, n = clone(estimator), self.total, len(self.phi)
        shape = n, len(n_components), len(alphas)
        attributes = total.n_groups + total.n_numeric
        parity, plain = (np.empty((*shape, self.targets.shape[1])) for _ in range(2))
        alike = np.empty((*shape, attributes)) if likeness else None
        for f, part in enumerate(self.parts):
            held_out = self.fold == f
            size = n - int(held_out.sum())
            model._show(self.rows, self.phi, ~held_out)
            found = _grid_scores(
                model, total - part, size, self.phi[held_out], n_components, alphas, likeness=likeness
            )
            parity[held_out], plain[held_out] = found[:2]
            if alike is not None:
                alike[held_out] = found[2]
        return OutOfFoldScores(
            list(n_components),
            list(alphas),
            parity,
            plain,
            alike,
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
    return _grid_scores(model, moments, len(rows.X), phi, n_components, alphas)[:2]


def _grid_scores(
    model: FairKernelRidge,
    training: Moments,
    n_training: int,
    phi: np.ndarray,
    n_components: Sequence,
    alphas: Sequence[float],
    *,
    likeness: bool = False,
) -> tuple[np.ndarray, np.ndarray, np.ndarray | None]:
    """Scores of some rows by models of the training moments, at parity and plain, and their likeness to the groups."""
    ks = [number_of_components(k, n_training) for k in n_components]
    shape, q = (len(ks), len(alphas)), training.n_targets
    a = _grid_coefficients(model, training, ks, alphas, likeness=likeness)
    # The unpenalised intercept: score = mean y + (φ − mean φ) a.
    scores = (phi @ a - training.feature_mean @ a).reshape(len(phi), 2, *shape, -1)
    parity, plain = (scores[:, i, ..., :q] + training.target_mean for i in (0, 1))
    if not likeness:
        return parity, plain, None
    return parity, plain, (scores[:, 1, ..., q:] + training.attribute_mean) @ training.standardising


def _relative_error(scores: np.ndarray, targets: np.ndarray, weight: np.ndarray) -> np.ndarray:
    variance = np.average((targets - np.average(targets, axis=0, weights=weight)) ** 2, axis=0, weights=weight)
    squared = np.average((scores - targets[:, None, None, :]) ** 2, axis=0, weights=weight)
    return (squared / np.where(variance > 0, variance, 1.0)).mean(axis=-1)


def _folds(cv: Any, rows: TrainingRows, classifier: bool) -> np.ndarray:
    """The fold of each row; every row is held out exactly once."""
    labels, n = rows.y if rows.y.ndim == 1 else rows.y[:, 0], len(rows.X)
    fold = np.full(n, -1)
    if isinstance(cv, Integral):
        if not 2 <= int(cv) <= n:
            raise ValueError(
                f"cross-validation needs a cv from 2 folds to as many as there are rows, or a splitter; got {cv!r} for "
                f"{n} rows."
            )
        # Dealt in turn, so that each fold has its share of every group and of every level of y.
        fold[np.lexsort((labels, rows.sensitive.codes))] = np.arange(n) % int(cv)
        return fold
    splits = check_cv(cv, labels, classifier=classifier).split(rows.X, labels)
    for f, (_, held_out) in enumerate(splits):
        if isinstance(cv, PredefinedSplit) or not hasattr(cv, "split"):
            # Written out by the caller, who counts the rows of weight zero as well.
            mask = np.zeros(rows.n_passed, dtype=bool)
            mask[held_out] = True
            held_out = mask[rows.positions]
        if (fold[held_out] >= 0).any():
            raise ValueError(
                f"cv={type(cv).__name__} holds some rows out more than once; out-of-fold scores need a partition."
            )
        fold[held_out] = f
    if (fold < 0).any():
        raise ValueError(
            f"cv={type(cv).__name__} never holds out {(fold < 0).sum()} rows; out-of-fold scores need a partition."
        )
    return fold


def _refuse_emptied_cells(model: FairKernelRidge, rows: TrainingRows, fold: np.ndarray) -> None:
    """Each fold is scored by a model of the other folds, which must have rows of every cell."""
    cells = model._cells(rows)
    for f in range(fold.max() + 1):
        left = np.bincount(cells.codes[(fold != f) & (cells.codes >= 0)], minlength=cells.n_cells)
        if left.all():
            continue
        group = rows.sensitive.groups[int(left.argmin()) % len(rows.sensitive.groups)]
        among = "" if model.criterion == "parity" else f" that criterion={model.criterion!r} looks at"
        raise ValueError(
            f"cross-validation: without fold {f + 1} of {fold.max() + 1} no row{among} is left of group {group!r}, so "
            "that nothing can be compared. Merge small groups, or (where there is a cv) deal the rows out otherwise."
        )


def _grid_coefficients(
    model: FairKernelRidge, training: Moments, ks: list, alphas: Sequence[float], *, likeness: bool
) -> np.ndarray:
    """Coefficients of shape (m, 2 · ks · alphas · columns): parity first, then plain.

    The columns are the targets and, where likeness is wanted, the sensitive attributes.
    """
    nested = model.objective == "discrepancy" and model.n_moments == 1
    largest = None if None in ks else max(ks)
    # Components of largest variance are nested: one solve serves every k.
    shared = model._path(training, largest, attributes=likeness) if nested else None
    paths = [shared or model._path(training, k, attributes=likeness) for k in ks]
    blocks = [
        path.coefficients(alpha, kept, k)
        for kept in (0.0, 1.0)
        for path, k in zip(paths, ks, strict=True)
        for alpha in alphas
    ]
    return np.concatenate(blocks, axis=1)
