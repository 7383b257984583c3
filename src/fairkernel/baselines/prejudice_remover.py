"""FLR: logistic regression that pays for the mutual information between its label and the group."""

from numbers import Integral, Real
from typing import Any

import numpy as np
from scipy.special import expit, log_expit, logsumexp
from sklearn.base import BaseEstimator, ClassifierMixin, _fit_context
from sklearn.metrics import accuracy_score
from sklearn.utils._param_validation import Interval, StrOptions
from sklearn.utils.validation import check_is_fitted

from ..rows import TrainingRows, numbers_of_fitted_groups, read_training_rows
from ..validation import check_rows
from ._prejudice_objective import PrejudiceObjective, lowest_minimum


class PrejudiceRemover(ClassifierMixin, BaseEstimator):
    """Logistic regression with the prejudice index as a penalty (FLR, [1]_).

    Minimises, with z = [x, 1] and p_i = σ(w_{s_i}·z_i) the probability of the second class,

        -Σ_i [y_i ln p_i + (1 - y_i) ln(1 - p_i)]  +  η R  +  λ/2 Σ_s |w_s|²,

        R = Σ_s n_s KL(q_s ‖ r)  =  n I(Ŷ; S)  in nats,

    where q_s is the mean probability in group s, r the mean over all rows and Ŷ a label drawn at random with
    probability p. All terms are sums over rows, so that η compares across numbers of rows only in this convention.
    There may be more than two groups. R is zero when all groups have the same mean PROBABILITY; the rates of
    thresholded predictions may still differ. Standardise X: the penalty treats all columns, and the constant, alike.

    Parameters
    ----------
    eta : float, default=1.0
        η, the price of one nat of R. 0 is logistic regression, on each group by itself unless
        ``variant="one_vector"``.
    alpha : float, default=1.0
        λ, the ridge penalty, called C in the released code. It is not scikit-learn's C but its inverse: at η = 0
        the model is ``LogisticRegression(C=1 / alpha, fit_intercept=False)`` on [x, 1].
    variant : {"two_vectors", "marginal", "one_vector"}, default="two_vectors"
        "two_vectors": one weight vector per group, chosen by the group of the row, which predictions therefore need.
        "marginal": the same fit, but p(x) = Σ_s (n_s / n) σ(w_s·z), which needs no group. The objective does not
        constrain these probabilities: their disparity need not fall with η, and may rise.
        "one_vector": one weight vector for all groups, no group needed.
    max_iter : int, default=1000
        Most iterations of L-BFGS-B for each η on the way and each starting point.
    tol : float, default=1e-7
        The fit has converged when no partial derivative exceeds ``tol`` times the total weight.
    missing_sensitive : {"error", "group"}, default="error"
        What to do about missing categories in sensitive_features.

    Attributes
    ----------
    coef_ : ndarray of shape (n_groups, p), or (1, p) if variant="one_vector"
        w_s without its last entry, in the order of ``groups_``.
    intercept_ : ndarray of shape (n_groups,) or (1,)
        The last entry of w_s, penalised as the others are.
    objective_ : float
        What was minimised, at the solution.
    prejudice_index_ : float
        R on the training rows, for the probabilities of the objective. ("marginal" predicts with others.)
    n_iter_ : int
        Iterations of L-BFGS-B, over all η on the way and all starting points.
    groups_ : tuple
        Labels of the groups.
    group_shares_ : ndarray of shape (n_groups,)
        n_s / n by weight.
    classes_ : ndarray of shape (2,)
    n_features_in_ : int
    feature_names_in_ : ndarray of str

    Notes
    -----
    The problem is not convex for η > 0. It is solved by continuation in η from the solution at η = 0, which is unique,
    and also from that solution directly and from w = 0, where R = 0; the lowest objective is kept. Newton steps
    finish what function values no longer resolve. Nothing is drawn at random.

    The gradient is Σ_{i in s} z_i [(p_i - y_i) + η L_s p_i (1 - p_i)] + λ w_s with L_s = logit q_s - logit r. The
    gradient of the released code has a further term in each group, left from the derivative through r, which
    vanishes only when summed over all rows; results differ for that reason.

    References
    ----------
    .. [1] T. Kamishima, S. Akaho, H. Asoh, J. Sakuma, "Fairness-Aware Classifier with Prejudice Remover
       Regularizer", ECML PKDD 2012.

    Examples
    --------
    >>> import numpy as np
    >>> from fairkernel.baselines import PrejudiceRemover
    >>> rng = np.random.default_rng(0)
    >>> s = np.repeat(["a", "b"], 100)
    >>> X = rng.normal(size=(200, 2)) + (s == "b")[:, None]
    >>> y = np.where(X.sum(axis=1) + rng.normal(size=200) > 1, "yes", "no")
    >>> for eta in (0.0, 10.0, 1000.0):
    ...     model = PrejudiceRemover(eta).fit(X, y, sensitive_features=s)
    ...     p = model.predict_proba(X, sensitive_features=s)[:, 1]
    ...     print(eta, round(model.prejudice_index_, 2), round(float(p[s == "b"].mean() - p[s == "a"].mean()), 2))
    0.0 18.57 0.42
    10.0 0.3 0.05
    1000.0 0.0 0.0
    """

    # Routed without a user's set_..._request: groups are part of what this classifier learns and predicts from.
    __metadata_request__fit = {"sensitive_features": True}  # noqa: RUF012
    __metadata_request__predict = {"sensitive_features": True}  # noqa: RUF012
    __metadata_request__predict_proba = {"sensitive_features": True}  # noqa: RUF012
    __metadata_request__decision_function = {"sensitive_features": True}  # noqa: RUF012
    __metadata_request__score = {"sensitive_features": True}  # noqa: RUF012

    _parameter_constraints: dict = {  # noqa: RUF012
        "eta": [Interval(Real, 0, None, closed="left")],
        "alpha": [Interval(Real, 0, None, closed="neither")],
        "variant": [StrOptions({"two_vectors", "marginal", "one_vector"})],
        "max_iter": [Interval(Integral, 1, None, closed="left")],
        "tol": [Interval(Real, 0, None, closed="neither")],
        "missing_sensitive": [StrOptions({"error", "group"})],
    }

    def __init__(
        self,
        eta: float = 1.0,
        *,
        alpha: float = 1.0,
        variant: str = "two_vectors",
        max_iter: int = 1000,
        tol: float = 1e-7,
        missing_sensitive: str = "error",
    ) -> None:
        self.eta = eta
        self.alpha = alpha
        self.variant = variant
        self.max_iter = max_iter
        self.tol = tol
        self.missing_sensitive = missing_sensitive

    @_fit_context(prefer_skip_nested_validation=True)
    def fit(self, X: Any, y: Any, *, sensitive_features: Any = None, sample_weight: Any = None) -> "PrejudiceRemover":
        """Fit the weight vectors.

        Parameters
        ----------
        X : array-like of shape (n, p)
        y : array-like of shape (n,)
            Any two labels.
        sensitive_features : array-like of shape (n,) or (n, columns)
            Required: two groups or more.
        sample_weight : array-like of shape (n,), optional
            Weighs the likelihood and the prejudice index alike: 2 is the row twice, 0 the row absent.

        Returns
        -------
        PrejudiceRemover
        """
        rows = read_training_rows(self, X, y, sensitive_features, sample_weight)
        _check(rows)
        problem = PrejudiceObjective.of(rows, self.eta, self.alpha, shared=self.variant == "one_vector")
        w, self.n_iter_ = lowest_minimum(problem, self.max_iter, self.tol)
        self.objective_, _ = problem.value_and_gradient(w)
        self.prejudice_index_ = problem.prejudice_index(w)
        vectors = w.reshape(problem.n_vectors, -1)
        self.coef_, self.intercept_ = vectors[:, :-1], vectors[:, -1]
        self.classes_, self.groups_ = rows.classes, rows.sensitive.groups
        self.group_shares_ = problem.group_weight / problem.group_weight.sum()
        return self

    def decision_function(self, X: Any, *, sensitive_features: Any = None) -> np.ndarray:
        """logit p(x): positive for the second class.

        Parameters
        ----------
        X : array-like of shape (n, p)
        sensitive_features : array-like of shape (n,) or (n, columns), optional
            Required if variant="two_vectors", not used otherwise.

        Returns
        -------
        ndarray of shape (n,)
        """
        check_is_fitted(self)
        rows_like, X = X, check_rows(self, X, reset=False)
        scores = X @ self.coef_.T + self.intercept_
        if self.variant == "one_vector":
            return scores[:, 0]
        if self.variant == "marginal":
            # p / (1 - p) with p = Σ_s (n_s / n) σ(w_s·z) and 1 - σ(m) = σ(-m).
            shares = self.group_shares_
            return logsumexp(log_expit(scores), axis=1, b=shares) - logsumexp(log_expit(-scores), axis=1, b=shares)
        return scores[np.arange(len(X)), self._groups_of(sensitive_features, len(X), rows_like)]

    def predict_proba(self, X: Any, *, sensitive_features: Any = None) -> np.ndarray:
        """Probability of each class.

        Parameters
        ----------
        X : array-like of shape (n, p)
        sensitive_features : array-like of shape (n,) or (n, columns), optional
            Required if variant="two_vectors", not used otherwise.

        Returns
        -------
        ndarray of shape (n, 2)
        """
        scores = self.decision_function(X, sensitive_features=sensitive_features)
        return np.column_stack([expit(-scores), expit(scores)])

    def predict(self, X: Any, *, sensitive_features: Any = None) -> np.ndarray:
        """Class of each row: the second where p(x) >= 0.5.

        Parameters
        ----------
        X : array-like of shape (n, p)
        sensitive_features : array-like of shape (n,) or (n, columns), optional
            Required if variant="two_vectors", not used otherwise.

        Returns
        -------
        ndarray of shape (n,)
        """
        scores = self.decision_function(X, sensitive_features=sensitive_features)
        return self.classes_[(scores >= 0).astype(int)]

    def score(self, X: Any, y: Any, sample_weight: Any = None, *, sensitive_features: Any = None) -> float:
        """Accuracy.

        Parameters
        ----------
        X : array-like of shape (n, p)
        y : array-like of shape (n,)
        sample_weight : array-like of shape (n,), optional
        sensitive_features : array-like of shape (n,) or (n, columns), optional
            Required if variant="two_vectors", not used otherwise.

        Returns
        -------
        float
        """
        predicted = self.predict(X, sensitive_features=sensitive_features)
        return accuracy_score(y, predicted, sample_weight=sample_weight)

    def _groups_of(self, sensitive_features: Any, n_rows: int, rows_like: Any) -> np.ndarray:
        """Number of each new row's group among the groups of the fit."""
        if sensitive_features is None:
            raise TypeError(
                "variant='two_vectors' predicts with the weight vector of each row's group: pass sensitive_features, "
                "for instance predict(X, sensitive_features=s), or fit variant='one_vector' or 'marginal'."
            )
        return numbers_of_fitted_groups(self, sensitive_features, n_rows=n_rows, rows_like=rows_like)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_class = False
        return tags


def _check(rows: TrainingRows) -> None:
    """Refuse more than two classes and columns the solver cannot square."""
    if len(rows.classes) > 2:
        raise ValueError(
            f"Only binary classification is supported. The type of the target is multiclass: y has {len(rows.classes)} "
            "classes. Compare one class with the rest."
        )
    with np.errstate(over="ignore"):
        if not np.isfinite(np.square(rows.X, dtype=np.float64).sum()):
            raise ValueError(
                f"X holds values up to {np.abs(rows.X).max():.3g}, whose squares overflow: scale the columns."
            )
