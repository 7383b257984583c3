"""FPCA: principal components whose average loss is the same for every group (Samadi et al. 2018).

With S_g the covariance of group g about its own mean and α_g the sum of its d largest eigenvalues, a map P
(0 ⪯ P ⪯ I, tr P = d) costs group g

    loss_g(P) = α_g − <S_g, P> ≥ 0,

what its rows lose against principal components of their own. Fair PCA minimises max_g loss_g. By minimax that is

    max over weights w of  g(w) = Σ w_g α_g − (sum of the d largest eigenvalues of C_w),    C_w = Σ w_g S_g,

a concave function of one number per group, whose slopes at w are the losses of the top-d projector of C_w. So:
(1) find w; (2) mix the projectors seen there until the losses are level; (3) turn the mixture back into a projector.
"""

from numbers import Integral, Real
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator, ClassNamePrefixFeaturesOutMixin, TransformerMixin, _fit_context
from sklearn.utils import check_array
from sklearn.utils._param_validation import Interval, StrOptions
from sklearn.utils.validation import check_is_fitted

from ..backend import eigh
from ..exceptions import RankWarning, warn
from ..rows import TrainingRows, read_training_rows
from ..solve.level_losses import Losses, least_rank, level_several, level_two, on_principal_axes
from ..validation import check_rows


class FairPCA(ClassNamePrefixFeaturesOutMixin, TransformerMixin, BaseEstimator):
    """Linear dimension reduction with the least worst-off group, counted in reconstruction loss.

    Each group's loss is what its rows lose against principal components of their own, on average. The largest loss
    is as small as it can be, up to ``gap_``. For two groups the map is a projector of rank ``n_components`` and both
    losses are equal; with more groups the best map can need more dimensions (one with three to five groups, two with
    six to nine).
    Equal LOSS is not equal reconstruction error, and neither is parity of what a predictor does with the
    components: measure that. Columns are not scaled here; put a ``StandardScaler`` before.

    Parameters
    ----------
    n_components : int, default=2
        The dimension d; clipped, with a warning, to the rank of the variation within groups.
    tol : float, default=1e-8
        Largest duality gap accepted with three groups or more, as a share of the groups' mean total variance. Two
        groups are solved to rounding.
    max_iter : int, default=1000
        Most cutting planes with three groups or more.
    missing_sensitive : {"error", "group"}, default="error"
        What to do about missing categories in sensitive_features.

    Attributes
    ----------
    components_ : ndarray of shape (rank_, n_features_in_)
        Orthonormal rows.
    kept_ : ndarray of shape (rank_,)
        What is kept of each component: 1, or less where the best map is fractional (three groups or more).
    mean_ : ndarray of shape (n_features_in_,)
        Mean of all training rows: the only mean ``transform`` uses, for a new row comes without its group.
    losses_ : dict
        Average loss of each group.
    max_loss_, gap_ : float
        The largest loss, and how far it can be above the least possible.
    weights_ : dict
        The weights w that certify ``gap_``.
    rank_ : int
        Rank of the map, and the number of columns ``transform`` returns.
    n_iter_ : int
        Number of matrices C_w that were decomposed.
    groups_ : tuple
    n_features_in_ : int
    feature_names_in_ : ndarray of str

    References
    ----------
    .. [1] S. Samadi, U. Tantipongpipat, J. Morgenstern, M. Singh, S. Vempala, "The Price of Fair PCA: One Extra
       Dimension", 2018.
    .. [2] U. Tantipongpipat, S. Samadi, M. Singh, J. Morgenstern, S. Vempala, "Multi-Criteria Dimensionality
       Reduction with Applications to Fairness", 2019.

    Examples
    --------
    >>> import numpy as np
    >>> from fairkernel.baselines import FairPCA
    >>> rng = np.random.default_rng(0)
    >>> s = np.repeat(["a", "b"], 100)
    >>> X = rng.normal(size=(200, 4)) * np.where(s[:, None] == "a", [3, 2, 1, 1], [1, 1, 2, 3])
    >>> model = FairPCA(2).fit(X, sensitive_features=s)
    >>> {g: round(loss, 3) for g, loss in model.losses_.items()}, model.gap_ < 1e-12
    ({'a': 2.722, 'b': 2.722}, True)
    """

    # Routed without a user's set_fit_request: groups are part of what is learnt from.
    __metadata_request__fit = {"sensitive_features": True}  # noqa: RUF012

    _parameter_constraints: dict = {  # noqa: RUF012
        "n_components": [Interval(Integral, 1, None, closed="left")],
        "tol": [Interval(Real, 1e-9, None, closed="left")],  # the linear programs are solved to 1e-10
        "max_iter": [Interval(Integral, 1, None, closed="left")],
        "missing_sensitive": [StrOptions({"error", "group"})],
    }

    def __init__(
        self, n_components: int = 2, *, tol: float = 1e-8, max_iter: int = 1000, missing_sensitive: str = "error"
    ) -> None:
        self.n_components = n_components
        self.tol = tol
        self.max_iter = max_iter
        self.missing_sensitive = missing_sensitive

    @_fit_context(prefer_skip_nested_validation=True)
    def fit(self, X: Any, y: Any = None, *, sensitive_features: Any = None, sample_weight: Any = None) -> "FairPCA":
        """Learn the components.

        Parameters
        ----------
        X : array-like of shape (n, p)
        y : ignored
        sensitive_features : array-like of shape (n,) or (n, columns)
            Categories, required. Not needed to transform.
        sample_weight : array-like of shape (n,), optional
            A weight of 2 is the row twice, 0 the row absent.

        Returns
        -------
        FairPCA
        """
        rows = read_training_rows(self, X, None, sensitive_features, sample_weight)
        groups = rows.sensitive.groups
        S = _group_covariances(rows)
        # Traces of about one, so that tolerances mean the same for every unit of X.
        scale = float(np.trace(S, axis1=1, axis2=2).mean()) or 1.0
        losses = Losses.of(S / scale, _clip_to_rank(self.n_components, S.sum(axis=0)))
        found = level_two(losses) if len(groups) == 2 else level_several(losses, self.tol, self.max_iter)
        basis, share = least_rank(found, losses)
        basis = on_principal_axes(basis, share, losses.combined(found.weights))
        reached = losses.of_map(basis, share)

        self.components_, self.rank_ = basis.T, basis.shape[1]
        # The rows' loss under Q = I − √(I − P) is the linear loss of P: ‖A − AQ‖² = <AᵀA, I − P>.
        self.kept_ = 1.0 - np.sqrt(1.0 - share)
        self.mean_ = np.average(rows.X, axis=0, weights=rows.weight)
        self.groups_ = groups
        self.losses_ = dict(zip(groups, (scale * reached).tolist(), strict=True))
        self.weights_ = dict(zip(groups, found.weights.tolist(), strict=True))
        self.max_loss_ = scale * float(reached.max())
        self.gap_ = scale * max(0.0, float(reached.max()) - found.bound)
        self.n_iter_ = found.n_decompositions
        return self

    def transform(self, X: Any) -> np.ndarray:
        """Components of new rows, z = kept · components (x − mean).

        Parameters
        ----------
        X : array-like of shape (n, p)

        Returns
        -------
        ndarray of shape (n, rank_)
        """
        check_is_fitted(self)
        X = check_rows(self, X, reset=False)
        return ((X - self.mean_) @ (self.components_.T * self.kept_)).astype(X.dtype, copy=False)

    def inverse_transform(self, Z: Any) -> np.ndarray:
        """Rows as the components reconstruct them.

        Parameters
        ----------
        Z : array-like of shape (n, rank_)

        Returns
        -------
        ndarray of shape (n, p)
        """
        check_is_fitted(self)
        return check_array(Z, dtype=[np.float64, np.float32]) @ self.components_ + self.mean_

    @property
    def _n_features_out(self) -> int:
        return self.components_.shape[0]

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.transformer_tags.preserves_dtype = ["float64", "float32"]
        return tags


def _group_covariances(rows: TrainingRows) -> np.ndarray:
    """S_g, each group about its own mean."""
    members = [rows.sensitive.codes == g for g in range(len(rows.sensitive.groups))]
    with np.errstate(over="ignore", invalid="ignore"):
        S = [np.cov(rows.X[m], rowvar=False, ddof=0, aweights=rows.weight[m]) for m in members]
    if not np.isfinite(S).all():
        raise ValueError("the covariance of X overflows: scale the columns first, for instance with StandardScaler.")
    p = rows.X.shape[1]
    return np.reshape(S, (-1, p, p))  # np.cov makes a number of one column


def _clip_to_rank(n_components: int, scatter: np.ndarray) -> int:
    values = eigh(scatter)[0]
    rank = max(1, int((values > len(values) * np.finfo(float).eps * values[0]).sum()))
    if n_components > rank:
        warn(
            f"n_components={n_components} is more than the rank {rank} of the variation within groups; using {rank}.",
            RankWarning,
        )
    return min(n_components, rank)
