"""Dense references: the paper's formulas written with n×n matrices, and small data to compare the library on.

Letters are the paper's: K, c, M, A, α, γ; c_i = 1/n_u for s_i = 0 and -1/n_p for s_i = 1, so cᵀf = mean_u f - mean_p f.
"""

import numpy as np

from fairkernel.features import Features, build_features
from fairkernel.kernels import make_kernel
from fairkernel.moments import Moments


def two_groups(n_u: int = 25, n_p: int = 15, columns: int = 4, seed: int = 0):
    """Rows in the paper's order (first unprotected), with a gap in X and in y."""
    rng = np.random.default_rng(seed)
    s = np.repeat([0, 1], [n_u, n_p])
    X = rng.normal(size=(n_u + n_p, columns)) + 0.7 * s[:, None]
    y = np.sin(X[:, 0]) + X[:, 1] * X[:, -1] + 0.5 * s + 0.1 * rng.normal(size=len(s))
    return X, s, y


def several_groups(n: int = 60, groups: int = 3, columns: int = 4, seed: int = 0):
    """Rows in random order, every group with at least two."""
    rng = np.random.default_rng(seed)
    s = rng.permutation(np.concatenate([np.repeat(np.arange(groups), 2), rng.integers(groups, size=n - 2 * groups)]))
    X = rng.normal(size=(n, columns)) + 0.8 * s[:, None] * rng.normal(size=columns)
    y = np.cos(X[:, 0]) + X[:, 1] + 0.5 * s + 0.1 * rng.normal(size=n)
    return X, s, y


def rbf(X: np.ndarray, Z: np.ndarray, gamma: float) -> np.ndarray:
    """From the differences themselves, not from the expansion the library uses."""
    return np.exp(-gamma * ((X[:, None, :] - Z[None, :, :]) ** 2).sum(axis=2))


def exact_features(X: np.ndarray, s: np.ndarray, gamma: float = 0.5) -> Features:
    """φ with φφᵀ = K to rounding."""
    kernel = make_kernel("rbf", X.shape[1], gamma=gamma)
    weight = np.ones(len(X))
    return build_features(kernel, X, s, weight, kind="exact", rng=np.random.RandomState(0))


def moments_of(phi, targets, s, *, numeric=None, weight=None, second_moments=True) -> Moments:
    """The moments of all rows at once."""
    numeric = np.empty((len(s), 0)) if numeric is None else numeric
    empty = Moments.empty(
        phi, targets, n_groups=int(s.max()) + 1, n_numeric=numeric.shape[1], second_moments=second_moments
    )
    return empty.update(phi, targets, s, numeric, weight)


def on_all_rows(estimator, n: int) -> np.ndarray:
    """The paper's α with one entry per training row: zero where the row is no landmark."""
    coef = estimator.coef_.reshape(len(estimator.coef_), -1)
    alpha = np.zeros((n, coef.shape[1]))
    alpha[estimator.landmark_indices_] = coef
    return alpha


# The paper's matrices ---------------------------------------------------------------------------------------


def gap_vector(s: np.ndarray) -> np.ndarray:
    """c."""
    return np.where(s == 0, 1.0 / (s == 0).sum(), -1.0 / (s == 1).sum())


def centring(n: int) -> np.ndarray:
    """H = I - 11ᵀ/n."""
    return np.eye(n) - np.full((n, n), 1.0 / n)


def M_exact(K: np.ndarray, s: np.ndarray) -> np.ndarray:
    """Eq. 18 with the products of ones that Eq. 17 needs."""
    K_u, K_p = K[s == 0], K[s == 1]
    n_u, n_p = len(K_u), len(K_p)
    ones = np.ones
    cross = K_u.T @ ones((n_u, n_p)) @ K_p
    return (
        K_u.T @ ones((n_u, n_u)) @ K_u / n_u**2
        - (cross + cross.T) / (n_u * n_p)
        + K_p.T @ ones((n_p, n_p)) @ K_p / n_p**2
    )


def M_printed(K: np.ndarray, s: np.ndarray) -> np.ndarray:
    """Eq. 18 letter by letter."""
    K_u, K_p = K[s == 0], K[s == 1]
    n_u, n_p = len(K_u), len(K_p)
    ones = np.ones((n_u, n_p))
    return K_u.T @ K_u / n_u**2 - 2.0 / (n_u * n_p) * K_u.T @ ones @ K_p + K_p.T @ K_p / n_p**2


def D_printed(s: np.ndarray) -> np.ndarray:
    """D with sym(M_printed) = K D K."""
    a, b = (s == 0) / (s == 0).sum(), (s == 1) / (s == 1).sum()
    return np.diag(a**2 + b**2) - np.outer(a, b) - np.outer(b, a)


def without_gap(K: np.ndarray, c: np.ndarray) -> np.ndarray:
    """K~ = K - dd^T / (c^T d), d = Kc: the kernel with the mean difference projected out."""
    d = K @ c
    return K - np.outer(d, d) / (c @ d)


def maximal_variance(K: np.ndarray, c: np.ndarray, k: int) -> tuple[np.ndarray, np.ndarray]:
    """A (n × k) and the e_j of rule T1: the zero-gap features of largest variance."""
    H = centring(len(K))
    e, v = np.linalg.eigh(H @ without_gap(K, c) @ H)
    e, v = e[::-1][:k], v[:, ::-1][:, :k]
    beta = v / np.sqrt(e)
    return beta - np.outer(c, c @ K @ beta) / (c @ K @ c), e


# Kernel ridge with an unpenalised intercept: the same formulas on centred K and y ---------------------------


def centred(K: np.ndarray, K_new: np.ndarray | None = None, weight: np.ndarray | None = None) -> np.ndarray:
    """HKH, or the rows of new points against it, with weighted means."""
    w = np.full(len(K), 1.0) if weight is None else weight
    w = w / w.sum()
    rows = K if K_new is None else K_new
    return rows - (rows @ w)[:, None] - (w @ K)[None, :] + w @ K @ w


def fair_ridge(K: np.ndarray, y: np.ndarray, s: np.ndarray, lam: float, mu: float) -> np.ndarray:
    """α = (K + λI + μ H K_s H K)⁻¹ y with K_s = ssᵀ, solved as it stands."""
    s = s - s.mean()
    return np.linalg.solve(K + lam * np.eye(len(K)) + mu * np.outer(s, s) @ K, y)


def shrinkage(K: np.ndarray, s: np.ndarray, lam: float) -> float:
    """q with s~ᵀf_μ = s~ᵀf_0 / (1 + μq)."""
    s = s - s.mean()
    return float(s @ K @ np.linalg.solve(K + lam * np.eye(len(K)), s))


# Comparing --------------------------------------------------------------------------------------------------


def with_signs_of(found: np.ndarray, expected: np.ndarray) -> np.ndarray:
    """Columns turned to agree with those expected: eigenvectors come with either sign."""
    return found * np.where((found * expected).sum(axis=0) < 0, -1.0, 1.0)


def projector(columns: np.ndarray) -> np.ndarray:
    """Onto the span of the columns."""
    Q = np.linalg.qr(columns)[0]
    return Q @ Q.T


def relative(found, expected) -> float:
    """Largest error as a share of the largest entry expected."""
    found, expected = np.asarray(found), np.asarray(expected)
    assert found.shape == expected.shape
    return float(np.abs(found - expected).max() / np.abs(expected).max())
