"""Random Fourier features (Rahimi and Recht 2007): cos and sin of random projections. They hold no training rows."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from ..backend import like, namespace, to_numpy
from ..kernels import RBF, Kernel, Laplacian
from .map import FeatureMap

Array = Any
PAIRS_CHECKED = 2000


def fourier_features(kernel: Kernel, X: Array, n_features: int, rng: np.random.RandomState) -> FeatureMap:
    """The map x → sqrt(2/m) [cos(Ωx), sin(Ωx)] with Ω drawn from the kernel's spectral density.

    Parameters
    ----------
    kernel : RBF or Laplacian
    X : array of shape (n, p)
    n_features : int
        Rounded up to an even number.
    rng : RandomState

    Returns
    -------
    FeatureMap
    """
    half = -(-n_features // 2)
    if isinstance(kernel, RBF):  # exp(-γ‖u‖²) is the characteristic function of N(0, 2γ I)
        omega = np.sqrt(2.0 * kernel.gamma) * rng.standard_normal((X.shape[1], half))
    elif isinstance(kernel, Laplacian):  # exp(-γ‖u‖₁) is that of independent Cauchy variables of scale γ
        omega = kernel.gamma * rng.standard_cauchy((X.shape[1], half))
    else:
        raise ValueError(
            f"features='fourier' needs a kernel of x - z with a known spectral density (rbf or laplacian), "
            f"got {kernel!r}; use features='landmarks'."
        )
    return FeatureMap(FourierBlock(like(omega, X)), None, 2 * half)


@dataclass(frozen=True, eq=False)
class FourierBlock:
    """x → sqrt(2/m) [cos(Ωx), sin(Ωx)]."""

    omega: Array

    def __call__(self, X: Array) -> Array:
        xp = namespace(X)
        angle = X @ self.omega
        return xp.concat([xp.cos(angle), xp.sin(angle)], axis=1) / self.omega.shape[1] ** 0.5


def pair_error_by_group(
    kernel: Kernel, X: Array, training: Array, codes: np.ndarray, rng: np.random.RandomState
) -> np.ndarray:
    """Root mean square of k(x, z) − <φ(x), φ(z)> over random pairs within each group.

    Parameters
    ----------
    kernel : Kernel
    X : array of shape (n, p)
    training : array of shape (n, m)
    codes : ndarray of shape (n,)
    rng : RandomState

    Returns
    -------
    ndarray of shape (groups,)
    """
    xp = namespace(X)
    errors = []
    side = int(np.sqrt(PAIRS_CHECKED))
    for code in range(int(codes.max()) + 1):
        members = np.flatnonzero(codes == code)
        left = like(rng.choice(members, size=min(side, len(members)), replace=False), X, dtype=xp.int64)
        exact = kernel(xp.take(X, left, axis=0), xp.take(X, left, axis=0))
        phi = xp.take(training, left, axis=0)
        errors.append(np.sqrt(np.mean(to_numpy(exact - phi @ phi.T) ** 2)))
    return np.array(errors)
