"""Parameters the estimators share: their constraints, and the combinations that have no meaning."""

from numbers import Integral, Real
from typing import Any

from sklearn.utils._param_validation import Interval, StrOptions

from ..kernels import NAMED, Kernel

SHARED: dict[str, list] = {
    "n_components": [None, Interval(Integral, 1, None, closed="left"), Interval(Real, 0, 1, closed="neither")],
    "kernel": [StrOptions(set(NAMED)), Kernel, callable],
    "gamma": [None, Interval(Real, 0, None, closed="neither")],
    "degree": [Interval(Real, 0, None, closed="left")],
    "coef0": [Interval(Real, None, None, closed="neither")],
    "kernel_params": [None, dict],
    "objective": [StrOptions({"discrepancy", "printed"})],
    "criterion": [StrOptions({"parity", "opportunity", "odds"})],
    "features": [StrOptions({"landmarks", "exact", "fourier"})],
    "n_features": [StrOptions({"auto"}), Interval(Integral, 1, None, closed="left")],
    "n_moments": [Interval(Integral, 1, 2, closed="both")],
    "rank_tolerance": [Interval(Real, 0, 1, closed="neither")],
    "missing_sensitive": [StrOptions({"error", "group", "ignore"})],
    "sensitive_feature_ids": [None, "array-like", str, Integral],
    "random_state": ["random_state"],
}

RIDGE: dict[str, list] = {
    "alpha": [Interval(Real, 0, None, closed="left")],
    "disparity_kept": [Interval(Real, 0, 1, closed="both")],
    "kernel": [StrOptions({*NAMED, "auto"}), Kernel, callable],
    "tuning_budget": [Interval(Integral, 1, None, closed="left"), Interval(Real, 0, None, closed="neither")],
}

DECISION: dict[str, list] = {
    "max_decision_gap": [None, Interval(Real, 0, 1, closed="both")],
    "aware": ["boolean"],
    "threshold": [Interval(Real, 0, 1, closed="neither")],
}


def refuse_conflicts(estimator: Any) -> None:
    """Refuse combinations that have no meaning.

    Parameters
    ----------
    estimator : estimator
    """
    if getattr(estimator, "aware", False) and getattr(estimator, "max_decision_gap", 0.0) is None:
        raise ValueError(
            "aware=True says that the groups are known when decisions are made, which matters to max_decision_gap "
            "only: set a tolerance, as max_decision_gap=0.05, or leave aware=False."
        )
    if isinstance(estimator.kernel, str) and estimator.kernel == "auto" and estimator.features == "fourier":
        raise ValueError(
            "kernel='auto' learns scales from landmarks, so it does not go with features='fourier'; use "
            "features='landmarks', or name a kernel."
        )
    if estimator.criterion != "parity" and estimator.n_moments == 2:
        raise ValueError(
            f"n_moments=2 matches variances of whole groups; it does not go with criterion={estimator.criterion!r}."
        )
    if estimator.objective != "printed":
        return
    if estimator.criterion != "parity":
        raise ValueError(
            f"criterion={estimator.criterion!r} goes with objective='discrepancy'; objective='printed' is Eq. 6, which "
            "compares two groups over all rows."
        )
    if estimator.n_moments == 2:
        raise ValueError(
            "n_moments=2 matches second moments under objective='discrepancy'; objective='printed' has no such step."
        )
    if getattr(estimator, "disparity_kept", 0.0) != 0.0:
        raise ValueError(
            f"disparity_kept={estimator.disparity_kept!r} has no meaning with objective='printed', whose features keep "
            "the gap they have; use objective='discrepancy'."
        )
