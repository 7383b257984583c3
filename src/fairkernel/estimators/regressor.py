"""Fair kernel regression (FKR-F²E and the FKRR family)."""

from numbers import Integral, Real
from typing import Any

import numpy as np
from sklearn.base import MultiOutputMixin, RegressorMixin, _fit_context
from sklearn.metrics import r2_score
from sklearn.utils._param_validation import Interval
from sklearn.utils.validation import check_is_fitted

from ..moments import Moments
from ..rows import TrainingRows
from ..solve import HsicPath, RidgePath, group_contrasts
from ._distributions import Distributions
from ._parameters import RIDGE, SHARED
from .out_of_fold import FoldMoments
from .tuning import BUDGET


class FairKernelRegressor(MultiOutputMixin, RegressorMixin, Distributions):
    """Kernel ridge regression whose mean scores keep a chosen share of the groups' disparity.

    ``n_components=k`` is the paper's FKR-F²E: ridge regression on the k-component embedding (Eq. 13-15 of [1]_).
    ``n_components=None`` takes all components, which is fair kernel ridge regression (FKRR, [2]_) with its penalty μ
    expressed as the share ρ of the disparity that is kept. The intercept is not penalised.

    Equal means are not equal distributions. Where the group of a new row is known and may be used, ``aware=True``
    moves the scores of each group toward the Wasserstein barycentre of the groups' distributions ([3]_); the usual
    scores to start from are then the unconstrained ones, ``disparity_kept=1``. Where it is not, ``hsic_rounds``
    leaves out the direction in which the groups' scores differ beyond the mean, and ``n_moments=2`` all those in which
    the groups' variances differ, whether the score needs them or not (which costs far more accuracy).

    Parameters
    ----------
    n_components : int, float or None, default=None
        Number of embedding features; a float is a share of the training rows; None is all of them.
    alpha : float, default=1.0
        Ridge penalty, the paper's γ.
    disparity_kept : float, default=0.0
        ρ in [0, 1]: 0 gives every group the same mean score on the training rows, 1 is plain kernel ridge.
    distribution_parity : float, default=0.0
        t in [0, 1], with ``aware=True``: 0 leaves the scores as they are, 1 gives every group the same distribution;
        between them the distance to the barycentre is 1 - t of what it was.
    aware : bool, default=False
        Whether predictions use the groups of new rows: ``predict(X, sensitive_features=s)``.
    hsic_rounds : int, default=0
        For models that do not see the group: how often the direction along which the distance between the groups'
        score distributions (HSIC; also with a continuous attribute) falls fastest is taken, before it is left out.
        One round takes most of what can be had; each further one brings the distributions closer and costs accuracy.
    kernel : str, callable or Kernel, default="rbf"
        As in FairFeatureEmbedding; "auto" searches kernel, column scales and ``alpha`` by leave-one-out error on
        the rows passed to fit, and ``chosen_`` says what it took.
    tuning_budget : int or float, default=6
        Of ``kernel="auto"``: a whole number of settings (the same answer every time), or seconds as a float.
    gamma, degree, coef0, kernel_params, objective, criterion, features, n_features : see FairFeatureEmbedding
    n_moments, rank_tolerance, missing_sensitive, sensitive_feature_ids, random_state : see FairFeatureEmbedding

    Attributes
    ----------
    coef_ : ndarray of shape (n_landmarks,) or (n_landmarks, n_targets)
        The score is k(x, landmarks) @ coef_ + intercept_, and the prediction unless ``aware=True``.
    intercept_ : float or ndarray of shape (n_targets,)
    mean_gap_ : float or ndarray of shape (n_targets,)
        Largest training gap between the groups' mean scores.
    barycentres_ : tuple of Barycentre
        One per target, with ``aware=True``.
    distribution_disparity_ : dict
        With ``aware=True``: KS and W1 of the predictions with 95% intervals, on the "training" rows and "out_of_fold":
        of two halves of the rows, scored by models that have not seen them, each moved by the barycentre of the other
        half (half as many rows: a little more than as many new ones would show). Of an ``adapted`` model, on the rows
        it was "adapted" to, where they are small by construction. For several targets, a list of them.
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
    .. [3] E. Chzhen et al., "Fair Regression with Wasserstein Barycenters", 2020.

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
    >>> aware = FairKernelRegressor(aware=True, distribution_parity=1.0, disparity_kept=1.0, random_state=0)
    >>> aware = aware.fit(X, y, sensitive_features=s)
    >>> aware.predict(X[:2], sensitive_features=s[:2]).shape
    (2,)
    >>> {place: round(found.ks.estimate, 2) for place, found in aware.distribution_disparity_.items()}
    {'training': 0.09, 'out_of_fold': 0.23}
    """

    _parameter_constraints: dict = {  # noqa: RUF012
        **SHARED,
        **RIDGE,
        "distribution_parity": [Interval(Real, 0, 1, closed="both")],
        "aware": ["boolean"],
        "hsic_rounds": [Interval(Integral, 0, None, closed="left")],
    }
    # As in fit: no user's set_predict_request is needed.
    __metadata_request__predict = {"sensitive_features": True}  # noqa: RUF012
    __metadata_request__score = {"sensitive_features": True}  # noqa: RUF012
    _reading: dict = {"multi_output": True, "y_numeric": True}  # noqa: RUF012

    def __init__(
        self,
        n_components: int | float | None = None,
        *,
        alpha: float = 1.0,
        disparity_kept: float = 0.0,
        distribution_parity: float = 0.0,
        aware: bool = False,
        hsic_rounds: int = 0,
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
            alpha=alpha,
            disparity_kept=disparity_kept,
            tuning_budget=tuning_budget,
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
        self.distribution_parity = distribution_parity
        self.aware = aware
        self.hsic_rounds = hsic_rounds

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
            Required unless ``sensitive_feature_ids`` is set. Not needed to predict unless ``aware=True``.
        sample_weight : array-like of shape (n,), optional
            Weighs the loss, the group means and the groups' distributions alike.

        Returns
        -------
        FairKernelRegressor
        """
        self._refuse_conflicts_of_distributions()
        rows = self._training_rows(X, y, sensitive_features, sample_weight)
        self._fit_scores(rows, self._learn_moments(rows, self._learn_features(rows)))
        self.__dict__.pop("_shown", None)  # features of the training rows, which only the solve needed
        if self.aware:
            self._fit_barycentres(self.__dict__.pop("_folds"))
        if rows.y.ndim == 1:
            self.coef_, self.intercept_ = self.coef_[:, 0], self.intercept_[0]
            self.mean_gap_ = self.mean_gap_[0]
        self._fitted = True
        return self

    def predict(self, X: Any, *, sensitive_features: Any = None) -> np.ndarray:
        """Predictions for new rows.

        Parameters
        ----------
        X : array-like of shape (n, p)
        sensitive_features : array-like of shape (n,) or (n, columns), optional
            Groups of these rows, which ``aware=True`` needs (unless X has the columns of ``sensitive_feature_ids``)
            and no other model takes.

        Returns
        -------
        ndarray of shape (n,) or (n, targets)
        """
        check_is_fitted(self)
        if not self.aware:
            if sensitive_features is not None:
                raise ValueError(
                    "sensitive_features was passed to predict, but with aware=False predictions do not depend on it: "
                    "leave it out, or fit with aware=True."
                )
            return self._scores(X)
        scores = self._scores(X)
        codes = self._new_groups(X, sensitive_features, len(scores))
        return self._moved(scores.reshape(len(scores), -1), codes).reshape(scores.shape)

    def score(self, X: Any, y: Any, sample_weight: Any = None, *, sensitive_features: Any = None) -> float:
        """R² of the predictions, as of every regressor in scikit-learn.

        Parameters
        ----------
        X : array-like of shape (n, p)
        y : array-like of shape (n,) or (n, targets)
        sample_weight : array-like of shape (n,), optional
        sensitive_features : array-like of shape (n,) or (n, columns), optional
            Groups of these rows; only ``aware=True`` looks at them.

        Returns
        -------
        float
        """
        predicted = self.predict(X, sensitive_features=sensitive_features if self.aware else None)
        return r2_score(y, predicted, sample_weight=sample_weight)

    def _targets(self, rows: TrainingRows) -> np.ndarray:
        return rows.y.reshape(len(rows.y), -1)

    # Blind --------------------------------------------------------------------------------------------------------

    def _show(self, rows: TrainingRows, phi: np.ndarray, part: Any = slice(None)) -> None:
        if self.hsic_rounds:
            cells, weight = self._cells(rows), rows.weight[part]
            contrasts = group_contrasts(cells.codes[part], cells.strata, cells.numeric[part], weight)
            self._shown = phi[part], contrasts

    def _path(self, moments: Moments, n_components: int | None, *, attributes: bool = False) -> RidgePath:
        path = super()._path(moments, n_components, attributes=attributes)
        return HsicPath.along(path, *self._shown, self.hsic_rounds) if self.hsic_rounds else path

    # Groups known -------------------------------------------------------------------------------------------------

    def _refuse_conflicts_of_distributions(self) -> None:
        if self.distribution_parity and not self.aware:
            raise ValueError(
                f"distribution_parity={self.distribution_parity!r} moves each group's scores, which needs the groups "
                "of new rows: set aware=True and pass them to predict. A blind model brings the distributions closer "
                "with n_moments=2 or hsic_rounds."
            )
        if self.hsic_rounds and self.objective == "printed":
            raise ValueError(
                f"hsic_rounds={self.hsic_rounds!r} goes beyond equal means, which objective='printed' does "
                "not give; use objective='discrepancy'."
            )
        if self.aware and self.criterion != "parity":
            raise ValueError(
                f"aware=True levels the distributions over all rows; criterion={self.criterion!r} compares rows of "
                "equal outcome, which is not known of new rows. Use criterion='parity'."
            )

    def _learn_moments(self, rows: TrainingRows, phi: np.ndarray) -> Moments:
        self._show(rows, phi)
        if not self.aware:
            return super()._learn_moments(rows, phi)
        if rows.sensitive.numeric_names:
            raise ValueError(
                f"sensitive_features: column {rows.sensitive.numeric_names[0]!r} is numeric with many distinct values, "
                "and aware=True moves the scores of groups. Bin the column, or use aware=False."
            )
        # The moments of all rows are the sum of the folds', which the out-of-fold scores need.
        self._folds = FoldMoments.split(self, rows, phi)
        return self._folds.total
