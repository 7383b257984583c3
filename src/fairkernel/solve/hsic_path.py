"""Ridge solutions without the directions in which the groups' score distributions differ beyond the mean.

How far the distributions of a score f differ is measured by HSIC with −|f − f'| on scores and a linear kernel on the
attributes: the sum, over contrasts c of the rows (a group against all; a centred number), of

    ∫ D_c(u)² du,    D_c(u) = Σ_i c_i [f_i ≤ u]

For a group D_c is F_g − F, so this is the squared gap of decisions over all thresholds; no bandwidth has to be chosen.
Its gradient on φ is −2 Σ_i Σ_c c_i D_c(f_i) φ_i. Removing that one direction from the embedding, the one that matters
to this score, costs less accuracy than removing directions in which the embedding differs whether the score uses them
or not; the gradient at the new score is the next one.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np

from ..backend import like, namespace, to_numpy
from .ridge_path import RidgePath

Array = Any
NEGLIGIBLE = 1e-9  # length of what is left of a direction, against its own, when it lies among those removed


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
    return phi.T @ like((contrasts * middle[at]).sum(axis=1), phi)


@dataclass(frozen=True, eq=False)
class HsicPath(RidgePath):
    """A ridge path each of whose solutions has its own HSIC directions removed.

    Parameters
    ----------
    H, e, Q, QCQ, HCQ, Qb, Hb : array
        As of ``RidgePath``.
    phi : array of shape (n, m)
        The rows the path was made from.
    contrasts : ndarray of shape (n, contrasts)
    n_directions : int
        How many to remove, for each target.
    """

    phi: Array
    contrasts: np.ndarray
    n_directions: int

    @classmethod
    def along(cls, path: RidgePath, phi: Array, contrasts: np.ndarray, n_directions: int) -> "HsicPath":
        """The path with directions removed.

        Parameters
        ----------
        path : RidgePath
        phi, contrasts, n_directions
            As of the class.

        Returns
        -------
        HsicPath
        """
        return cls(path.H, path.e, path.Q, path.QCQ, path.HCQ, path.Qb, path.Hb, phi, contrasts, n_directions)

    def coefficients(
        self, alpha: float, disparity_kept: float = 0.0, k: int | None = None, without: Array | None = None
    ) -> Array:
        """Coefficients of the score on φ.

        Parameters
        ----------
        alpha, disparity_kept, k
            As in ``RidgePath.coefficients``.
        without : array of shape (k, d), optional
            By default the ``directions`` of this penalty and this k.

        Returns
        -------
        array of shape (m, q)
        """
        return super().coefficients(alpha, disparity_kept, k, self.directions(alpha, k) if without is None else without)

    def directions(self, alpha: float, k: int | None = None) -> Array:
        """The directions removed, orthonormal, in coordinates of the first k components.

        Each is taken at the score of equal means that the ones before it leave.

        Parameters
        ----------
        alpha : float
        k : int, optional

        Returns
        -------
        array of shape (k, at most n_directions · targets)
        """
        xp = namespace(self.phi)
        H = self.H[:, :k]
        N = H[:0, :].T
        for _ in range(self.n_directions):
            scores = self.phi @ xp.astype(self.coefficients(alpha, 0.0, k, N), self.phi.dtype, copy=False)
            for f in to_numpy(scores).T:
                n = H.T @ xp.astype(hsic_gradient(self.phi, f, self.contrasts), H.dtype, copy=False)
                left = n - N @ (N.T @ n)
                left = left - N @ (N.T @ left)  # once more: the first pass loses digits
                length = float(xp.linalg.vector_norm(left))
                if length > NEGLIGIBLE * float(xp.linalg.vector_norm(n)):
                    N = xp.concat([N, left[:, None] / length], axis=1)
        return N
