import numpy as np
import pytest
from sklearn.base import clone
from sklearn.metrics.pairwise import rbf_kernel
from sklearn.utils.estimator_checks import parametrize_with_checks
from tests.test_estimator_checks import groups_by_content

from fairkernel import FairKernelRegressor
from fairkernel.baselines import PenalisedKernelRegressor
from fairkernel.exceptions import ContinuousSensitiveWarning

RNG = np.random.default_rng(0)
N = 80
S = RNG.integers(0, 2, N)
X = RNG.normal(size=(N, 3)) + 0.7 * S[:, None]
Y = X[:, 0] ** 2 + X[:, 1] + 0.1 * RNG.normal(size=N)
NEW = RNG.normal(size=(20, 3))
LAMBDA, GAMMA = 0.7, 0.3


def dense(mu, G):
    """α = (Kc + λI + μ G Kc)⁻¹ yc, f(x) = mean y + kc(x)ᵀα, with a centred kernel for the free intercept."""
    H = np.eye(N) - 1 / N
    K, new = rbf_kernel(X, gamma=GAMMA), rbf_kernel(NEW, X, gamma=GAMMA)
    centred = H @ K @ H
    alpha = np.linalg.solve(centred + LAMBDA * np.eye(N) + mu * G @ centred, H @ Y)
    return Y.mean() + (new - K.mean(axis=0)) @ H @ alpha


def fit(mu, s=S, **options):
    return PenalisedKernelRegressor(mu, alpha=LAMBDA, gamma=GAMMA, features="exact", **options).fit(
        X, Y, sensitive_features=s
    )


@pytest.mark.parametrize("mu", [0.0, 0.01, 1.0, 50.0])
def test_two_groups_solve_the_papers_system(mu):
    s = S - S.mean()
    np.testing.assert_allclose(fit(mu).predict(NEW), dense(mu, np.outer(s, s)), atol=1e-8)


def test_a_continuous_attribute_solves_the_papers_system():
    age = RNG.normal(size=N) + X[:, 0]
    with pytest.warns(ContinuousSensitiveWarning):
        model = fit(0.3, s=age)
    centred = age - age.mean()
    np.testing.assert_allclose(model.predict(NEW), dense(0.3, np.outer(centred, centred)), atol=1e-8)


def test_three_groups_penalise_half_the_delta_kernel():
    s = RNG.integers(0, 3, N)
    indicators = (s[:, None] == np.arange(3)) - np.bincount(s) / N
    np.testing.assert_allclose(fit(0.4, s=s).predict(NEW), dense(0.4, indicators @ indicators.T / 2), atol=1e-8)


@pytest.mark.parametrize("mu", [0.05, 2.0])
def test_the_share_kept_is_the_knob_of_the_regressor(mu):
    model = fit(mu)
    same = FairKernelRegressor(alpha=LAMBDA, gamma=GAMMA, features="exact", disparity_kept=model.share_kept_)
    np.testing.assert_allclose(same.fit(X, Y, sensitive_features=S).predict(NEW), model.predict(NEW), atol=1e-9)
    # ρ = 1 / (1 + μ q) with one q for all μ
    q = [(1 / fit(m).share_kept_ - 1) / m for m in (mu, 10 * mu)]
    assert q[0] == pytest.approx(q[1], rel=1e-6)


def test_a_large_penalty_is_parity_and_none_is_kernel_ridge():
    assert fit(1e9).mean_gap_ < 1e-8
    plain = FairKernelRegressor(alpha=LAMBDA, gamma=GAMMA, features="exact", disparity_kept=1.0)
    np.testing.assert_allclose(fit(0.0).predict(NEW), plain.fit(X, Y, sensitive_features=S).predict(NEW), atol=1e-10)


def test_it_is_cloned_with_its_own_parameters():
    assert clone(PenalisedKernelRegressor(3.0, kernel="linear")).get_params()["mu"] == 3.0
    assert "disparity_kept" not in PenalisedKernelRegressor().get_params()


class _WithGroups(PenalisedKernelRegressor):
    def fit(self, X, y, *, sensitive_features=None, sample_weight=None):
        return super().fit(X, y, sensitive_features=groups_by_content(X), sample_weight=sample_weight)


@parametrize_with_checks([_WithGroups()])
@pytest.mark.filterwarnings("ignore::fairkernel.exceptions.FairKernelWarning")
def test_scikit_learn_check_passes(estimator, check):
    check(estimator)
