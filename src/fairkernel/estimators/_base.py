"""What the three estimators share: rows in, moments out, one solve, scores by blocks of rows."""

import math
from numbers import Integral
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.utils import check_random_state

from ..backend import to_numpy
from ..criteria import Cells, cells_of
from ..exceptions import RankWarning, warn
from ..features import build_features
from ..kernels import Kernel, Precomputed, make_kernel
from ..moments import Moments
from ..rows import TrainingRows, read_training_rows
from ..solve import (
    Embedding,
    exact_embedding,
    gap_directions,
    matched_second_moments,
    orthonormal_directions,
    printed_embedding,
)
from ..validation import check_rows, take_columns
from ._parameters import refuse_conflicts
from ._witness import WitnessMixin

ROWS_AT_A_TIME = 16_384  # scored together: bounds the kernel block, not the answer
ROWS_PER_COMPONENT = 250  # the paper's k = n / 250


class FairKernelEstimator(WitnessMixin, BaseEstimator):
    """Base of the embedding, the regressor and the classifier."""

    # Routed without a user's set_fit_request: groups are part of what these estimators learn from.
    __metadata_request__fit = {"sensitive_features": True}  # noqa: RUF012

    def __init__(
        self,
        n_components: int | float | None = None,
        *,
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
        self.n_components = n_components
        self.kernel = kernel
        self.gamma = gamma
        self.degree = degree
        self.coef0 = coef0
        self.kernel_params = kernel_params
        self.objective = objective
        self.criterion = criterion
        self.features = features
        self.n_features = n_features
        self.n_moments = n_moments
        self.rank_tolerance = rank_tolerance
        self.missing_sensitive = missing_sensitive
        self.sensitive_feature_ids = sensitive_feature_ids
        self.random_state = random_state

    # Rows in ------------------------------------------------------------------------------------------------------

    _reading: dict = {}  # noqa: RUF012  what validate_data is asked of X and y

    def _training_rows(self, X: Any, y: Any, sensitive_features: Any, sample_weight: Any) -> TrainingRows:
        refuse_conflicts(self)
        self._forget()
        X, sensitive_features = self._without_sensitive_columns(X, sensitive_features)
        if self._is_precomputed:
            _refuse_unless_square(X)
        return read_training_rows(
            self,
            X,
            y,
            sensitive_features,
            sample_weight,
            continuous=True,
            inputs=not self._is_precomputed,
            **self._reading,
        )

    def _forget(self) -> None:
        """Drop what a previous fit has learned: not every fit learns the same."""
        for name in [name for name in vars(self) if name.endswith("_") and not name.startswith("_")]:
            delattr(self, name)
        self._fitted = False  # a fit that stops on its way leaves some of what it learned behind

    def __sklearn_is_fitted__(self) -> bool:
        return getattr(self, "_fitted", False)

    def _without_sensitive_columns(self, X: Any, sensitive_features: Any) -> tuple[Any, Any]:
        if self.sensitive_feature_ids is None:
            if sensitive_features is None:
                raise TypeError(
                    f"{type(self).__name__}.fit() needs sensitive_features: one value per row, for instance "
                    "fit(X, y, sensitive_features=s); or name columns of X with sensitive_feature_ids."
                )
            return X, sensitive_features
        if sensitive_features is not None:
            raise ValueError(
                "sensitive_features and sensitive_feature_ids are both given: pass the values or name columns of X."
            )
        return take_columns(X, self.sensitive_feature_ids, required=True)

    def _targets(self, rows: TrainingRows) -> np.ndarray:
        """What the scores are fitted to, one column each; the embedding has none."""
        return rows.y

    def _check_new_rows(self, X: Any) -> np.ndarray:
        if self.sensitive_feature_ids is not None and self._has_sensitive_columns(X):
            X, _ = take_columns(X, self.sensitive_feature_ids, required=False)
        return check_rows(self, X, reset=False)

    def _has_sensitive_columns(self, X: Any) -> bool:
        """Whether new rows can come with the columns of ``sensitive_feature_ids``, which are not needed."""
        return hasattr(X, "columns") or np.shape(X)[1:] != (self.n_features_in_,)

    @property
    def _is_precomputed(self) -> bool:
        return isinstance(self.kernel, Precomputed) or (isinstance(self.kernel, str) and self.kernel == "precomputed")

    def _cells(self, rows: TrainingRows) -> Cells:
        """The groups within strata that the criterion compares."""
        classes = rows.classes if len(rows.classes) else None
        return cells_of(self.criterion, rows.sensitive, rows.y, classes, rows.weight)

    # Moments ------------------------------------------------------------------------------------------------------

    def _learn_features(self, rows: TrainingRows) -> np.ndarray:
        """Build the feature map on the training rows and return them under it."""
        kernel, self._asked_features = self._choose_kernel(rows)
        X = rows.X[:, rows.positions] if isinstance(kernel, Precomputed) else rows.X
        features = build_features(
            kernel,
            X,
            rows.sensitive.represented,
            rows.weight,
            kind=self.features,
            n_features=self._asked_features,
            rng=check_random_state(self.random_state),
        )
        self._features, self._gram_columns = features.map, rows.positions if isinstance(kernel, Precomputed) else None
        self.kernel_ = kernel
        self.features_chosen_ = features.how
        self.n_kernel_features_ = features.map.n_features
        self.groups_ = rows.sensitive.groups
        errors = features.error_by_group[: len(self.groups_)].tolist()
        self.approximation_error_by_group_ = dict(zip(self.groups_, errors, strict=True))
        landmarks = features.map.landmarks
        self.landmark_indices_ = None if landmarks is None else rows.positions[landmarks]
        return features.training

    def _choose_kernel(self, rows: TrainingRows) -> tuple[Kernel, int | str]:
        """The kernel, all of its parameters numbers, and how many features are to stand in for it."""
        kernel = make_kernel(
            self.kernel,
            rows.X.shape[1],
            kernel_params=self.kernel_params,
            gamma=self.gamma,
            degree=self.degree,
            coef0=self.coef0,
        )
        return kernel, self.n_features

    def _no_moments(self, rows: TrainingRows, phi: np.ndarray) -> Moments:
        """Moments of no rows, with their origin at the mean of the training rows."""
        cells = self._cells(rows)
        return Moments.empty(
            phi,
            self._targets(rows),
            n_groups=cells.n_cells,
            n_numeric=cells.numeric.shape[1],
            second_moments=self.objective == "printed" or self.n_moments == 2,
            strata=cells.strata,
        )

    def _add_rows(self, moments: Moments, rows: TrainingRows, phi: np.ndarray, part: Any = slice(None)) -> Moments:
        """The moments with some of the training rows added."""
        weight, cells = rows.weight[part], self._cells(rows)
        return moments.update(
            phi[part],
            self._targets(rows)[part].astype(phi.dtype, copy=False),
            cells.codes[part],
            cells.numeric[part],
            # Unit weights are passed as none: the products are then formed without a copy.
            None if (weight == 1.0).all() else weight,
        )

    def _learn_moments(self, rows: TrainingRows, phi: np.ndarray) -> Moments:
        return self._add_rows(self._no_moments(rows, phi), rows, phi)

    # Solve --------------------------------------------------------------------------------------------------------

    def _gap_directions(self, moments: Moments) -> np.ndarray:
        """Q, an orthonormal basis of the directions whose gap is to vanish."""
        G = gap_directions(moments.group_means, moments.numeric_covariance, moments.numeric_variance, moments.strata)
        return orthonormal_directions(G, float(np.trace(moments.scatter)) / moments.weight)

    def _embed(self, moments: Moments, n_components: int | None) -> Embedding:
        """The k directions of step 1; all of them when ``n_components`` is None."""
        if self.objective == "printed":
            if moments.n_numeric:
                raise ValueError(
                    "objective='printed' is Eq. 6 of the paper, which has two groups and no continuous attribute; use "
                    "objective='discrepancy'."
                )
            found = printed_embedding(
                moments.group_second_moments,
                moments.group_means,
                moments.group_weight,
                rank_tolerance=self.rank_tolerance,
            )
        else:
            found = exact_embedding(moments.scatter, self._gap_directions(moments))
        k = _clip_to_rank(n_components, found.rank)
        if self.n_moments == 2 and found.rank:
            if moments.n_groups < 2:
                raise ValueError(
                    "n_moments=2 compares the variances of groups, and sensitive_features holds continuous columns "
                    "only: bin them, or use n_moments=1."
                )
            if n_components is None:
                # Beyond half the rows of the smallest group its covariance is mostly noise, and any choice arbitrary.
                k = max(1, min(found.rank, int(min(moments.group_weight)) // 2) // 2)
            # Half of the candidates are given up for the choice.
            found = matched_second_moments(found.first(2 * k), moments.group_covariances, moments.group_weight, k)
        self.rank_, self.embedding_chosen_ = found.rank, found.reason
        return found.first(k)

    # Scores -------------------------------------------------------------------------------------------------------

    def _evaluate(self, X: np.ndarray, coefficients: np.ndarray) -> np.ndarray:
        """raw(x) @ coefficients for every row, a block of rows at a time."""
        if self._gram_columns is not None:
            X = X[:, self._gram_columns]
        blocks = (X[i : i + ROWS_AT_A_TIME] for i in range(0, len(X), ROWS_AT_A_TIME))
        with np.errstate(over="ignore", invalid="ignore"):  # looked at right below
            scores = np.concatenate([to_numpy(self._features.raw(block) @ coefficients) for block in blocks])
        if not np.isfinite(scores).all():
            raise ValueError(
                f"kernel {self.kernel_!r} overflows on these rows: scale their columns as those of the training rows."
            )
        return scores

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.pairwise = self._is_precomputed
        return tags


def number_of_components(n_components: Any, n_rows: int) -> int | None:
    """k from an int, a share of the rows, or None for all.

    Parameters
    ----------
    n_components : int, float or None
    n_rows : int

    Returns
    -------
    int or None
    """
    if n_components is None or isinstance(n_components, Integral):
        return None if n_components is None else int(n_components)
    return max(1, math.floor(float(n_components) * n_rows))


def largest_gap(directions: np.ndarray, moments: Moments) -> np.ndarray:
    """Largest training gap of each score φ·a: over pairs of groups in a stratum, and |Cov(score, s)|/sd(s).

    Parameters
    ----------
    directions : array of shape (m, q)
    moments : Moments

    Returns
    -------
    ndarray of shape (q,)
    """
    means = moments.group_means @ directions
    between = np.max([np.ptp(means[list(cells)], axis=0) for cells in moments.strata], axis=0)
    if not moments.n_numeric:
        return between
    deviation = np.sqrt(moments.numeric_variance)[:, None]
    covariance = np.abs(moments.numeric_covariance @ directions) / np.where(deviation > 0, deviation, 1.0)
    return np.maximum(between, covariance.max(axis=0))


def _clip_to_rank(n_components: int | None, rank: int) -> int:
    if n_components is None or n_components <= rank:
        return rank if n_components is None else n_components
    warn(
        f"n_components={n_components} is more than the rank {rank} that the data supports; using {rank}.",
        RankWarning,
    )
    return rank


def _refuse_unless_square(gram: Any) -> None:
    shape = np.shape(gram)
    if len(shape) == 2 and shape[0] != shape[1]:
        raise ValueError(
            f"kernel='precomputed' needs a square Gram matrix at fit, one column per training row; got {shape}."
        )
