"""Fair PCA by plain multiplicative weights: the public method that FairPCA is measured against.

Every step decomposes C_w = Σ_g w_g S_g, looks at the losses of its top-d projector, loss_g(P) = α_g − <S_g, P>,
and moves weight to the groups that lose most: w_g ← w_g exp(step · loss_g), normalised. The answer is the average of
the projectors seen, whose rank is not d, or the last of them, whichever has the smaller largest loss.
"""

from dataclasses import dataclass

import numpy as np


@dataclass(frozen=True)
class Map:
    """P and the losses of the groups, in the order of their sorted labels."""

    P: np.ndarray
    losses: np.ndarray

    @property
    def max_loss(self):
        return float(self.losses.max())


def multiplicative_weights(X, s, n_components, *, n_steps, step):
    """The map after n_steps.

    Parameters
    ----------
    X : ndarray of shape (n, p)
    s : ndarray of shape (n,)
    n_components, n_steps : int
    step : float

    Returns
    -------
    Map
    """
    S = np.array([np.cov(X[s == g], rowvar=False, ddof=0) for g in np.unique(s)])
    alpha = np.linalg.eigvalsh(S)[:, -n_components:].sum(axis=1)

    def losses(P):
        return alpha - S.reshape(len(S), -1) @ P.ravel()

    w = np.full(len(S), 1 / len(S))
    total = np.zeros_like(S[0])
    for _ in range(n_steps):
        V = np.linalg.eigh(np.tensordot(w, S, axes=1))[1][:, -n_components:]
        P = V @ V.T
        total += P
        w = w * np.exp(step * losses(P))
        w /= w.sum()
    found = [Map(P, losses(P)) for P in (P, total / n_steps)]
    return min(found, key=lambda one: one.max_loss)
