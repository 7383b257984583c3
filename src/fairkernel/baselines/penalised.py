"""FKRR with its raw penalty μ (Pérez-Suay et al. 2017), for those who compare.

    min_f Σ_i (f(x_i) − y_i)² + α ‖f‖² + μ fᵀ H K_s H f

with a linear kernel K_s on s in {0, 1}. ``FairKernelRegressor`` is the same family: with two groups, μ keeps the share
ρ = 1/(1 + μq) of the disparity, where q depends on the data, the kernel and α; that is why ρ is the knob there.
"""

from numbers import Real
from typing import Any

import numpy as np
from sklearn.utils._param_validation import Interval, StrOptions

from ..estimators import FairKernelRegressor
from ..estimators._parameters import SHARED
from ..moments import Moments
from ..solve import RidgePath

_WITHOUT = (  # parameters of the regressor that have no meaning beside μ
    "n_components",
    "disparity_kept",
    "distribution_parity",
    "aware",
    "hsic_rounds",
    "tuning_budget",
    "objective",
    "criterion",
    "n_moments",
    "rank_tolerance",
)


class PenalisedKernelRegressor(FairKernelRegressor):
    """Kernel ridge regression with FKRR's penalty μ on the covariance of prediction and sensitive attribute.

    Parameters
    ----------
    mu : float, default=1.0
        μ in the convention above: squared errors and squared covariances are sums over rows. Others in use:
        μ/n² on the same term, and (1/n) Σ loss with HSIC/n², for which α = n λ' and μ = μ'/n.
    alpha : float, default=1.0
        Ridge penalty.
    kernel, gamma, degree, coef0, kernel_params, features, n_features : see FairKernelRegressor
    missing_sensitive, sensitive_feature_ids, random_state : see FairKernelRegressor

    Attributes
    ----------
    share_kept_ : float
        Mean gap of this fit over that of μ = 0 (of the first target).
    coef_, intercept_, mean_gap_, rank_, groups_, landmark_indices_ : see FairKernelRegressor

    Examples
    --------
    >>> import numpy as np
    >>> from fairkernel.baselines import PenalisedKernelRegressor
    >>> rng = np.random.default_rng(0)
    >>> s = np.repeat([0, 1], 100)
    >>> X = rng.normal(size=(200, 2)) + s[:, None]
    >>> for mu in (0.0, 0.1, 10.0):
    ...     model = PenalisedKernelRegressor(mu, random_state=0).fit(X, X.sum(axis=1), sensitive_features=s)
    ...     print(mu, round(model.share_kept_, 3))
    0.0 1.0
    0.1 0.388
    10.0 0.006
    """

    _parameter_constraints: dict = {  # noqa: RUF012
        **{
            name: valid
            for name, valid in FairKernelRegressor._parameter_constraints.items()
            if name not in _WITHOUT
        },
        "kernel": SHARED["kernel"],
        "mu": [Interval(Real, 0, None, closed="left")],
        "missing_sensitive": [StrOptions({"error", "group"})],  # the covariance below is over all rows
    }

    def __init__(
        self,
        mu: float = 1.0,
        *,
        alpha: float = 1.0,
        kernel: Any = "rbf",
        gamma: float | None = None,
        degree: float = 3,
        coef0: float = 1.0,
        kernel_params: dict | None = None,
        features: str = "landmarks",
        n_features: int | str = "auto",
        missing_sensitive: str = "error",
        sensitive_feature_ids: Any = None,
        random_state: Any = None,
    ) -> None:
        super().__init__(
            alpha=alpha,
            kernel=kernel,
            gamma=gamma,
            degree=degree,
            coef0=coef0,
            kernel_params=kernel_params,
            features=features,
            n_features=n_features,
            missing_sensitive=missing_sensitive,
            sensitive_feature_ids=sensitive_feature_ids,
            random_state=random_state,
        )
        self.mu = mu

    def _coefficients(self, path: RidgePath, moments: Moments) -> np.ndarray:
        cross = moments.attribute_cross @ path.Q
        # Two indicators count one covariance twice: halved, two groups give s in {0, 1} with a linear kernel.
        share = np.r_[np.full(moments.n_groups, 0.5), np.ones(moments.n_numeric)]
        a = path.penalised(self.alpha, self.mu * (cross.T * share) @ cross)
        plain = path.coefficients(self.alpha, 1.0)
        gaps = [np.linalg.norm(path.Q.T @ coefficients[:, 0]) for coefficients in (a, plain)]
        self.share_kept_ = float(gaps[0] / gaps[1]) if gaps[1] else 1.0
        return a
