"""Ridge solutions without the direction in which the groups' score distributions differ beyond the mean.

How far the distributions of a score f differ is measured by HSIC with −|f − f'| on scores and a linear kernel on the
attributes: the sum, over contrasts c of the rows (a group against all; a centred number), of

    ∫ D_c(u)² du,    D_c(u) = Σ_i c_i [f_i ≤ u]

For a group D_c is F_g − F, so this is the squared gap of decisions over all thresholds; no bandwidth has to be chosen.
For f = φa its gradient is −2g with g = Σ_i Σ_c c_i D_c(f_i) φ_i, and since it doubles when f does, gᵀa is −½ of it:
a score that uses nothing of its own direction g has groups of equal distributions. Removing that one direction, which
matters to this score, costs far less accuracy than removing all those in which the embedding differs.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np

from ..backend import like, namespace, to_numpy
from .ridge_path import RidgePath

Array = Any
EQUAL = 1e-12  # a difference of distribution functions below this is rounding


def group_contrasts(
    codes: np.ndarray, strata: tuple[tuple[int, ...], ...], numeric: np.ndarray, weight: np.ndarray
) -> np.ndarray:
    """Columns c of contrasts, each summing to zero over the rows.

    Within its stratum, a group has √(share) · (its rows' mean − all rows' mean), a number (s − mean)/(sd · weight).

    Parameters
    ----------
    codes : ndarray of int, shape (n,)
        Cell of each row, −1 outside.
    strata : tuple of tuple of int
    numeric : ndarray of shape (n, strata · columns)
        One block per stratum, zero outside it.
    weight : ndarray of shape (n,)

    Returns
    -------
    ndarray of shape (n, contrasts)
    """
    columns, each = [], numeric.shape[1] // len(strata)
    for i, cells in enumerate(strata):
        inside = weight * np.isin(codes, cells)
        total = inside.sum()
        for cell in cells if len(cells) > 1 else ():
            members = weight * (codes == cell)
            if size := members.sum():  # a fold can lack a cell
                columns.append(np.sqrt(size / total) * (members / size - inside / total))
        for s in numeric[:, i * each : (i + 1) * each].T:
            centred = inside * (s - inside @ s / total) / total
            deviation = np.sqrt(centred @ s)
            columns.append(centred / deviation if deviation else 0.0 * centred)
    return np.stack(columns, axis=1)


def hsic_gradient(phi: Array, scores: np.ndarray, contrasts: np.ndarray) -> Array:
    """Σ_i Σ_c c_i D_c(f_i) φ_i: minus half the gradient of HSIC with respect to the score's coefficients on φ.

    Parameters
    ----------
    phi : array of shape (n, m)
    scores : ndarray of shape (n,)
    contrasts : ndarray of shape (n, contrasts)

    Returns
    -------
    array of shape (m,)
    """
    values, at = np.unique(scores, return_inverse=True)
    steps = np.stack([np.bincount(at, c, len(values)) for c in contrasts.T], axis=1)
    middle = np.cumsum(steps, axis=0) - steps / 2  # D jumps at f_i: tied rows share the mean of both sides
    middle[np.abs(middle) < EQUAL] = 0.0
    return phi.T @ like((contrasts * middle[at]).sum(axis=1), phi)


@dataclass(frozen=True, eq=False)
class HsicPath(RidgePath):
    """A ridge path each of whose solutions has the HSIC direction of its target's score removed.

    Parameters
    ----------
    H, e, Q, QCQ, HCQ, Qb, Hb : array
        As of ``RidgePath``.
    phi : array of shape (n, m)
        The rows the path was made from.
    contrasts : ndarray of shape (n, contrasts)
    rounds : int
        How often the direction is taken; 0 removes none.
    """

    phi: Array
    contrasts: np.ndarray
    rounds: int

    @classmethod
    def along(cls, path: RidgePath, phi: Array, contrasts: np.ndarray, rounds: int) -> "HsicPath":
        """The path with directions removed.

        Parameters
        ----------
        path : RidgePath
        phi, contrasts, rounds
            As of the class.

        Returns
        -------
        HsicPath
        """
        return cls(path.H, path.e, path.Q, path.QCQ, path.HCQ, path.Qb, path.Hb, phi, contrasts, rounds)

    def coefficients(
        self, alpha: float, disparity_kept: float = 0.0, k: int | None = None, without: Array | None = None
    ) -> Array:
        """Coefficients of the score on φ.

        Parameters
        ----------
        alpha, disparity_kept, k
            As in ``RidgePath.coefficients``.
        without : array of shape (k, d), optional
            By default the ``direction`` of each target at this penalty and this k.

        Returns
        -------
        array of shape (m, q)
        """
        if without is not None:
            return super().coefficients(alpha, disparity_kept, k, without)
        xp = namespace(self.H)
        columns = []
        for target in range(self.Hb.shape[1]):
            found = super().coefficients(alpha, disparity_kept, k, self.direction(target, alpha, k))
            columns.append(found[:, target : target + 1])
        return xp.concat(columns, axis=1)

    def direction(self, target: int, alpha: float, k: int | None = None) -> Array:
        """The direction g removed for one target, of unit length, in coordinates of the first k components.

        g depends on the score, which depends on g. Starting from the score of equal means, each round takes g at the
        mean of the scores so far: at the last of them alone it would swing from one side to the other.

        Parameters
        ----------
        target : int
        alpha : float
        k : int, optional

        Returns
        -------
        array of shape (k, 1), or (k, 0) where the distributions are equal
        """
        xp = namespace(self.phi)
        H = self.H[:, :k]
        none = N = H[:0, :].T
        mean = self.coefficients(alpha, 0.0, k, none)[:, target]
        for taken in range(1, self.rounds + 1):
            f = to_numpy(self.phi @ xp.astype(mean, self.phi.dtype, copy=False))
            n = H.T @ xp.astype(hsic_gradient(self.phi, f, self.contrasts), H.dtype, copy=False)
            length = float(xp.linalg.vector_norm(n))
            if length == 0.0:
                return none
            N = n[:, None] / length
            mean = mean + (self.coefficients(alpha, 0.0, k, N)[:, target] - mean) / (taken + 1)
        return N
