"""Decisions whose rates differ by no more than a tolerance: one line of thresholds, walked once.

The best decisions under a bound on the gap shift each row's score by how group-like the row is,

    d(x) = 1[ f(x) − t − c v(x) ≥ 0 ],     v(x) = Σ_j θ_j ( p(cell_j | x)/π_j − p(cell_0 | x)/π_0 ),

with one θ_j per difference of rates that is to vanish. θ is where all of them do; c in [0, ∞) leads there from the
plain decisions. Every row changes sides at one c = (f − t)/v, so the rates along the whole line are cumulated sums.
"""

from dataclasses import dataclass

import numpy as np
from scipy.optimize import least_squares
from scipy.special import expit

SMOOTHING = (0.5, 0.1, 0.02, 0.004, 0.0008)  # widths of the softened decisions, in deviations of f, on the way to hard
ROUNDING = 1e-12  # cumulated sums of weights: a gap of zero is zero to this


@dataclass(frozen=True)
class Compared:
    """Which rates are to agree: those of cells within each stratum; the numeric ones are to be zero.

    Parameters
    ----------
    strata : tuple of tuple of int
        Numbers of the cells, which come first among the columns.
    n_numeric : int
        Columns after them: covariances of the decision with a continuous attribute.

    Examples
    --------
    >>> two_of_three = Compared(((0, 1, 2),), 0)
    >>> rates = np.array([0.5, 0.3, 0.2])
    >>> two_of_three.contrasts(rates), round(two_of_three.gap(rates).item(), 6)
    (array([-0.2, -0.3]), 0.3)
    """

    strata: tuple[tuple[int, ...], ...]
    n_numeric: int = 0

    @property
    def n_cells(self) -> int:
        return sum(map(len, self.strata))

    def contrasts(self, columns: np.ndarray) -> np.ndarray:
        """The differences that are to vanish, shape (..., differences)."""
        between = [columns[..., cell] - columns[..., cells[0]] for cells in self.strata for cell in cells[1:]]
        numeric = columns[..., self.n_cells : self.n_cells + self.n_numeric]
        return np.concatenate([np.stack(between, axis=-1), numeric], axis=-1) if between else numeric

    def gap(self, rates: np.ndarray) -> np.ndarray:
        """The largest of them over all pairs of cells in a stratum."""
        apart = [np.ptp(rates[..., list(cells)], axis=-1) for cells in self.strata]
        numeric = np.abs(rates[..., self.n_cells : self.n_cells + self.n_numeric])
        return np.max([*apart, *np.moveaxis(numeric, -1, 0)], axis=0)


def rates_along(u: np.ndarray, v: np.ndarray, weights: np.ndarray, levels: np.ndarray) -> np.ndarray:
    """Σ_i weights_i 1[u_i − c v_i ≥ 0] for every level c.

    Parameters
    ----------
    u, v : ndarray of shape (n,)
    weights : ndarray of shape (n, q)
    levels : ndarray of shape (L,)
        Ascending.

    Returns
    -------
    ndarray of shape (L, q)

    Examples
    --------
    >>> rates_along(np.array([1.0, -1.0]), np.array([2.0, -2.0]), np.array([[1.0], [10.0]]), np.array([0.0, 0.4, 0.6]))
    array([[ 1.],
           [ 1.],
           [10.]])
    """
    flip = np.divide(u, v, out=np.zeros_like(u), where=v != 0)
    # A row is on the positive side from its first level to its last; the sums are of what enters less what has left.
    first = np.where(v < 0, np.searchsorted(levels, flip, side="left"), 0)
    last = np.where(v > 0, np.searchsorted(levels, flip, side="right"), len(levels))
    never = (v == 0) & (u < 0)
    first[never] = last[never] = 0
    ends = np.concatenate([first, last])
    change = [np.bincount(ends, np.concatenate([w, -w]), len(levels) + 1)[:-1] for w in weights.T]
    return np.cumsum(np.stack(change, axis=1), axis=0)


def levels_between_flips(u: np.ndarray, v: np.ndarray) -> np.ndarray:
    """Zero, and one c in every interval of c > 0 within which no row changes sides.

    Parameters
    ----------
    u, v : ndarray of shape (n,)

    Returns
    -------
    ndarray, ascending
    """
    with np.errstate(over="ignore"):
        flips = np.divide(u, v, out=np.zeros_like(u), where=v != 0)
    # A row with u = 0 changes sides at once: c = 0 is an edge as well.
    edges = np.unique(np.append(flips[(flips > 0) & np.isfinite(flips)], 0.0))
    return np.concatenate([[0.0], (edges[:-1] + edges[1:]) / 2, [2 * edges[-1] or 1.0]])


def parity_direction(u: np.ndarray, V: np.ndarray, weights: np.ndarray) -> np.ndarray:
    """θ at which all differences of rates vanish.

    Parameters
    ----------
    u : ndarray of shape (n,)
        f − t.
    V : ndarray of shape (n, q)
        How much each difference of rates pulls at a row.
    weights : ndarray of shape (n, q)
        The differences of rates are weightsᵀ d.

    Returns
    -------
    ndarray of shape (q,)
        For a single difference its sign, for only the direction counts.
    """
    if V.shape[1] == 1:
        return np.sign(weights.T @ (u >= 0))
    counts = np.abs(weights).sum(axis=1)
    mean = np.average(u, weights=counts)
    theta, spread = np.zeros(V.shape[1]), float(np.sqrt(np.average((u - mean) ** 2, weights=counts))) or 1.0
    for width in SMOOTHING:
        h = width * spread

        def differences(theta: np.ndarray, h: float = h) -> np.ndarray:
            return weights.T @ expit((u - V @ theta) / h)

        def slopes(theta: np.ndarray, h: float = h) -> np.ndarray:
            soft = expit((u - V @ theta) / h)
            return -(weights * (soft * (1 - soft) / h)[:, None]).T @ V

        theta = least_squares(differences, theta, jac=slopes).x
    return theta


@dataclass(frozen=True)
class DecisionLine:
    """Rates and gaps of the decisions 1[u − c v ≥ 0] at every level c.

    Parameters
    ----------
    theta : ndarray of shape (q,)
    levels : ndarray of shape (L,)
    rates : ndarray of shape (L, columns of the weights)
    gaps : ndarray of shape (L,)
    """

    theta: np.ndarray
    levels: np.ndarray
    rates: np.ndarray
    gaps: np.ndarray

    @classmethod
    def of(cls, u: np.ndarray, likeness: np.ndarray, weights: np.ndarray, compared: Compared) -> "DecisionLine":
        """Walk the line.

        Parameters
        ----------
        u : ndarray of shape (n,)
        likeness : ndarray of shape (n, K)
            p(cell | x)/π of every cell, then the expected value of every standardised numeric attribute.
        weights : ndarray of shape (n, at least K)
            Column k sums a row's decision into the rate of cell k; further columns are summed as well.
        compared : Compared

        Returns
        -------
        DecisionLine
        """
        V = compared.contrasts(likeness)
        theta = parity_direction(u, V, compared.contrasts(weights))
        v = V @ theta
        levels = levels_between_flips(u, v)
        rates = rates_along(u, v, weights, levels)
        return cls(theta, levels, rates, compared.gap(rates))

    def within(self, tolerance: float) -> tuple[int, bool]:
        """Position of the smallest c whose gap is within the tolerance, and whether there is one.

        Parameters
        ----------
        tolerance : float

        Returns
        -------
        position : int
            Where the gap is least, if it is above the tolerance all along the line.
        reached : bool
        """
        allowed = self.gaps <= tolerance + ROUNDING
        return (int(allowed.argmax()), True) if allowed.any() else (int(self.gaps.argmin()), False)

