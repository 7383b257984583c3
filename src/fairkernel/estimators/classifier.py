"""Fair kernel classification by thresholded regression."""

from typing import Any

import numpy as np
from sklearn.base import ClassifierMixin, _fit_context
from sklearn.metrics import accuracy_score
from sklearn.utils.validation import check_is_fitted

from ..rows import TrainingRows
from ._decisions import Decisions
from ._parameters import DECISION, RIDGE, SHARED
from .decision_rule import DecisionRule
from .out_of_fold import FoldMoments
from .tuning import BUDGET

PLAIN = {"max_decision_gap": None, "threshold": 0.5}  # decisions as they come with any number of classes


class FairKernelClassifier(ClassifierMixin, Decisions):
    """Kernel ridge classifier whose mean scores keep a chosen share of the groups' disparity.

    Regression on 0/1 labels and a threshold, 0.5 as in the paper; with more than two classes one score per class
    and the largest wins. Parity of mean SCORES is not parity of decisions: read ``fairness_report`` on new rows.

    Parameters
    ----------
    n_components : int, float or None, default=None
        Number of embedding features (the paper's FKR-F²E); None is all of them (FKRR).
    alpha : float, default=1.0
        Ridge penalty, the paper's γ.
    disparity_kept : float, default=0.0
        ρ in [0, 1]: 0 gives every group the same mean score on the training rows, 1 is plain kernel ridge.
    max_decision_gap : float, default=None
        Largest gap of DECISIONS, between 0 and 1: the criterion's rates (positive rates for parity) differ by no more
        than this out of fold. Of a continuous attribute it bounds |cov(decision, attribute)| / deviation: where
        decisions follow it linearly, about the difference of their rate per standard deviation, not the one between
        extremes. None is the plain threshold. The rule starts from the scores of
        ``disparity_kept``; 1 leaves them unconstrained, which usually costs least.
    threshold : float, default=0.5
        Score from which on a plain decision is positive, between 0 and 1; two classes only. Where a wrong positive
        costs as much as c wrong negatives it is c / (1 + c).
    aware : bool, default=False
        With ``max_decision_gap``: whether the groups are known when decisions are made. True gives every group its own
        threshold and needs ``predict(X, sensitive_features=s)``; False shifts each score by how group-like the row
        looks, and needs X alone.
    kernel : str, callable or Kernel, default="rbf"
        As in FairFeatureEmbedding; "auto" searches kernel, column scales and ``alpha`` by leave-one-out error on
        the rows passed to fit, and ``chosen_`` says what it took.
    tuning_budget : int or float, default=6
        Of ``kernel="auto"``: a whole number of settings (the same answer every time), or seconds as a float.
    criterion : {"parity", "opportunity", "odds"}, default="parity"
        Whose means and decisions are to agree: the groups' over all rows, over the rows of the positive class, or
        within every class.
    missing_sensitive : {"error", "group", "ignore"}, default="error"
        Missing values in sensitive_features are refused, are a group of their own, or leave the row to the loss alone.
    sensitive_feature_ids : list of str or int, default=None
        Columns of X to read as sensitive_features and to leave out of the inputs: X then carries the groups wherever
        it goes, through pipelines, scorers and cross-validation.
    gamma, degree, coef0, kernel_params, objective, features, n_features, n_moments : see FairFeatureEmbedding
    rank_tolerance, random_state : see FairFeatureEmbedding

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        Of two, the second is the positive one, whose score, rate and probability is meant throughout: the larger label,
        so "reject" of "hire" and "reject".
    coef_ : ndarray of shape (n_landmarks, n_scores)
        The scores are k(x, landmarks) @ coef_ + intercept_; one score for two classes.
    intercept_, mean_gap_ : ndarray of shape (n_scores,)
    alpha_ : float
        The penalty used.
    chosen_, chosen_for_groups_ : Chosen or None
        What ``kernel="auto"`` took and tried: for the scores and, where decisions depend on how group-like a row looks,
        for that; the kernel is then their sum.
    decision_gap_ : dict
        With ``max_decision_gap``: the measured gap with its 95% interval on the "training" rows, "out_of_fold" and,
        after ``measure_decision_gap``, "held_out"; of an ``adapted`` model, on the rows it was "adapted" to. The rule
        is chosen on the out-of-fold scores (or the rows adapted to), so the gap there is within the tolerance by
        choice; among other people it is that give or take sampling, as the interval says.
    n_components_, eigenvalues_, rank_, groups_, landmark_indices_ : see FairKernelRegressor
    approximation_error_by_group_, features_chosen_, embedding_chosen_ : see FairKernelRegressor
    witness_coef_, witness_intercept_, n_features_in_, feature_names_in_ : see FairKernelRegressor

    Examples
    --------
    >>> import numpy as np
    >>> from fairkernel import FairKernelClassifier
    >>> rng = np.random.default_rng(0)
    >>> s = np.repeat(["a", "b"], 100)
    >>> X = rng.normal(size=(200, 2)) + (s == "b")[:, None]
    >>> y = np.where(X[:, 0] + X[:, 1] > 1, "yes", "no")
    >>> model = FairKernelClassifier(n_components=20, random_state=0).fit(X, y, sensitive_features=s)
    >>> model.predict(X[:3]).shape, bool(model.mean_gap_[0] < 1e-12)
    ((3,), True)
    """

    _parameter_constraints: dict = {**SHARED, **RIDGE, **DECISION}  # noqa: RUF012

    # Where decisions need the groups, they are routed as they are to fit.
    __metadata_request__predict = {"sensitive_features": True}  # noqa: RUF012
    __metadata_request__predict_proba = {"sensitive_features": True}  # noqa: RUF012
    __metadata_request__decision_function = {"sensitive_features": True}  # noqa: RUF012
    __metadata_request__score = {"sensitive_features": True}  # noqa: RUF012

    def __init__(
        self,
        n_components: int | float | None = None,
        *,
        alpha: float = 1.0,
        disparity_kept: float = 0.0,
        max_decision_gap: float | None = None,
        aware: bool = False,
        threshold: float = 0.5,
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
        self.max_decision_gap = max_decision_gap
        self.aware = aware
        self.threshold = threshold

    @_fit_context(prefer_skip_nested_validation=True)
    def fit(
        self, X: Any, y: Any, *, sensitive_features: Any = None, sample_weight: Any = None
    ) -> "FairKernelClassifier":
        """Fit the scores.

        Parameters
        ----------
        X : array-like of shape (n, p)
        y : array-like of shape (n,)
            Any two labels, or more (one score per class).
        sensitive_features : array-like of shape (n,) or (n, columns)
            Required unless ``sensitive_feature_ids`` is set. Not needed to predict unless ``aware=True``.
        sample_weight : array-like of shape (n,), optional
            Weighs the loss and the group means alike.

        Returns
        -------
        FairKernelClassifier
        """
        rows = self._training_rows(X, y, sensitive_features, sample_weight)
        self.classes_ = rows.classes
        self.rule_: DecisionRule | None = None
        self._refuse_undecidable(rows)
        phi = self._learn_features(rows)
        if self.max_decision_gap is None:
            self._fit_scores(rows, self._learn_moments(rows, phi))
        else:
            self._fit_decisions(FoldMoments.split(self, rows, phi), self.max_decision_gap)
        self._fitted = True
        return self

    def _refuse_undecidable(self, rows: TrainingRows) -> None:
        for name, what in (("max_decision_gap", "bounds the gap"), ("threshold", "is the threshold")):
            if len(rows.classes) > 2 and getattr(self, name) != PLAIN[name]:
                raise ValueError(
                    f"{name}={getattr(self, name)!r} {what} of yes-or-no decisions, but y has {len(rows.classes)} "
                    f"classes. Fit one class against the rest, or leave {name}={PLAIN[name]!r}."
                )
        if self.aware and rows.sensitive.numeric_names:
            raise ValueError(
                f"aware=True gives every group its own threshold, but {rows.sensitive.numeric_names[0]!r} is "
                "continuous: bin it, or use aware=False."
            )

    def decision_function(self, X: Any, *, sensitive_features: Any = None) -> np.ndarray:
        """Score minus threshold for two classes (positive: the second class), one score per class for more.

        Parameters
        ----------
        X : array-like of shape (n, p)
        sensitive_features : array-like of shape (n,) or (n, columns), optional
            Needed where ``aware=True``, not looked at otherwise.

        Returns
        -------
        ndarray of shape (n,) or (n, n_classes)
        """
        check_is_fitted(self)
        if len(self.classes_) > 2:
            return self._scores(X)
        return self._margin(X, self._codes_to_decide_by(X, sensitive_features))

    def predict(self, X: Any, *, sensitive_features: Any = None) -> np.ndarray:
        """Class of each row.

        Parameters
        ----------
        X : array-like of shape (n, p)
        sensitive_features : array-like of shape (n,) or (n, columns), optional
            Needed where ``aware=True``, not looked at otherwise.

        Returns
        -------
        ndarray of shape (n,)
        """
        scores = self.decision_function(X, sensitive_features=sensitive_features)
        return self.classes_[(scores >= 0).astype(int) if scores.ndim == 1 else scores.argmax(axis=1)]

    def predict_proba(self, X: Any, *, sensitive_features: Any = None) -> np.ndarray:
        """Probabilities that agree with ``predict``: calibrated out of fold where there is a decision rule.

        With ``max_decision_gap`` they are the share of positives at each margin, monotone. Without it they are scores
        clipped to [0, 1], not calibrated. Of two classes the second has at least ``threshold`` exactly where the
        decision is positive.

        Parameters
        ----------
        X : array-like of shape (n, p)
        sensitive_features : array-like of shape (n,) or (n, columns), optional
            Needed where ``aware=True``, not looked at otherwise.

        Returns
        -------
        ndarray of shape (n, n_classes)
        """
        check_is_fitted(self)
        if self.rule_ is not None:
            positive = self.rule_.probability(self.decision_function(X, sensitive_features=sensitive_features))[:, None]
            return np.hstack([1.0 - positive, positive])
        scores = self._scores(X)
        if len(self.classes_) == 2:
            positive = np.clip(scores, 0.0, 1.0)
            return np.hstack([1.0 - positive, positive])
        # One-hot targets and a free intercept make each row's scores sum to one, so some class is positive.
        clipped = np.clip(scores, 0.0, None)
        return clipped / clipped.sum(axis=1, keepdims=True)

    def score(self, X: Any, y: Any, sample_weight: Any = None, *, sensitive_features: Any = None) -> float:
        """Accuracy.

        Parameters
        ----------
        X : array-like of shape (n, p)
        y : array-like of shape (n,)
        sample_weight : array-like of shape (n,), optional
        sensitive_features : array-like of shape (n,) or (n, columns), optional
            Needed where ``aware=True``, not looked at otherwise.

        Returns
        -------
        float
        """
        predicted = self.predict(X, sensitive_features=sensitive_features)
        return float(accuracy_score(y, predicted, sample_weight=sample_weight))

    def _targets(self, rows: TrainingRows) -> np.ndarray:
        # Two classes need one score: that of the second label.
        columns = np.arange(1, 2) if len(rows.classes) == 2 else np.arange(len(rows.classes))
        return rows.y[:, None] == columns[None, :]
