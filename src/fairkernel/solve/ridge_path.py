"""Step 2: ridge regression for every penalty, every number of components and every level of disparity.

Scores are spanned by the embedding H (no gap) and the gap directions Q (all of the gap). H diagonalises the scatter,
so for penalty γ the normal equations

    [ QᵀCQ + γI   QᵀCH  ] [u]   [Qᵀb]
    [ HᵀCQ        E + γI] [v] = [Hᵀb]        E = diag(e_1, …, e_k)

reduce to an r×r system for u (r is the number of gap directions). The gap of the score depends on u alone: the
unconstrained solution has u = u₀, exact parity u = 0, and u = ρ u₀ keeps the share ρ of every group difference.
"""

from dataclasses import dataclass
from typing import Any

from ..backend import eigh, identity, namespace, solve
from .types import Embedding

Array = Any


@dataclass(frozen=True)
class RidgePath:
    """All ridge solutions on the span of an embedding and the gap directions.

    Parameters
    ----------
    H : array of shape (m, k)
        Orthonormal directions with diagonal HᵀCH.
    e : array of shape (k,)
        That diagonal, descending.
    Q : array of shape (m, r)
        Orthonormal gap directions, orthogonal to H; r = 0 leaves the embedding alone.
    QCQ, HCQ : array of shape (r, r), (k, r)
    Qb, Hb : array of shape (r, q), (k, q)
        b = Σ w (φ − mean)(y − mean)ᵀ in these coordinates.
    """

    H: Array
    e: Array
    Q: Array
    QCQ: Array
    HCQ: Array
    Qb: Array
    Hb: Array

    @classmethod
    def on(cls, embedding: Embedding, scatter: Array, cross: Array, gap_directions: Array) -> "RidgePath":
        """Prepare the path for an embedding.

        Parameters
        ----------
        embedding : Embedding
            If its directions do not diagonalise C they are rotated within their span, which changes no prediction.
        scatter : array of shape (m, m)
        cross : array of shape (m, q)
        gap_directions : array of shape (m, r)

        Returns
        -------
        RidgePath
        """
        xp = namespace(scatter)
        H, Q = embedding.directions, gap_directions
        CH, CQ = scatter @ H, scatter @ Q
        HCH = H.T @ CH
        e = xp.linalg.diagonal(HCH)
        off = HCH - identity(e.shape[0], e) * e[:, None]
        if e.shape[0] and float(xp.max(xp.abs(off))) > 1e-9 * float(xp.max(e)):
            e, rotation = eigh((HCH + HCH.T) / 2)
            H, CH = H @ rotation, CH @ rotation
        return cls(H, e, Q, Q.T @ CQ, H.T @ CQ, Q.T @ cross, H.T @ cross)

    def coefficients(
        self, alpha: float, disparity_kept: float = 0.0, k: int | None = None, without: Array | None = None
    ) -> Array:
        """Coefficients of the score on φ.

        Parameters
        ----------
        alpha : float
            Ridge penalty γ of Eq. 13.
        disparity_kept : float
            ρ in [0, 1]: 0 is parity of mean scores, 1 the unconstrained ridge.
        k : int, optional
            Use the first k components only.
        without : array of shape (k, d), optional
            Orthonormal N, in coordinates of these components: directions of the embedding not to use.

        Returns
        -------
        array of shape (m, q)
        """
        k = self.e.shape[0] if k is None else k
        H, Hb, HCQ = self.H[:, :k], self.Hb[:k, :], self.HCQ[:k, :]
        if self.Q.shape[1] == 0 or disparity_kept == 0.0:
            return H @ self._filtered(Hb, alpha, without)
        u = disparity_kept * self._gap_part(alpha, k, None, without)
        return self.Q @ u + H @ self._filtered(Hb - HCQ @ u, alpha, without)

    def penalised(self, alpha: float, penalty: Array, k: int | None = None) -> Array:
        """Coefficients of the score on φ when its gap is penalised instead of set: FKRR's raw form.

        Parameters
        ----------
        alpha : float
        penalty : array of shape (r, r)
            μ QᵀGGᵀQ: what the penalty on the score adds to the normal equations in the coordinates u.
        k : int, optional
            Use the first k components only.

        Returns
        -------
        array of shape (m, q)
        """
        k = self.e.shape[0] if k is None else k
        u = self._gap_part(alpha, k, penalty)
        return self.Q @ u + self.H[:, :k] @ self._filtered(self.Hb[:k, :] - self.HCQ[:k, :] @ u, alpha)

    def _filtered(self, right: Array, alpha: float, without: Array | None = None) -> Array:
        """(E + γI)⁻¹ times the right-hand side, among the v with Nᵀv = 0."""
        F = 1.0 / (self.e[: right.shape[0]] + alpha)[:, None]
        if without is None or without.shape[1] == 0:
            return F * right
        FN = F * without
        return F * right - FN @ solve(without.T @ FN, FN.T @ right)

    def _gap_part(self, alpha: float, k: int, penalty: Array | None, without: Array | None = None) -> Array:
        """u of the unconstrained (or penalised) solution: the embedding is eliminated first."""
        Hb, HCQ = self.Hb[:k, :], self.HCQ[:k, :]
        FHCQ = self._filtered(HCQ, alpha, without)
        S = self.QCQ + alpha * identity(self.Q.shape[1], self.e) - HCQ.T @ FHCQ
        return solve(S if penalty is None else S + penalty, self.Qb - FHCQ.T @ Hb)
