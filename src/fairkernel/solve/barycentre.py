"""From the groups' score distributions to one: the Wasserstein barycentre of their quantile functions.

With F_g the distribution of the scores in group g and Q_g its inverse, the distribution nearest to all of them, each
weighed by its share of the rows, has the quantile function Q̄ = Σ_g (n_g/n) Q_g. The score f of a row of group g moves
to (1 − t) f + t Q̄(F_g(f)), which is increasing in f: the order within a group stays, and t = 1 gives every group Q̄.
"""

from dataclasses import dataclass

import numpy as np


@dataclass(frozen=True, eq=False)
class Barycentre:
    """Score distributions of the groups, and the way from each to their barycentre.

    F_g runs through the middle of its steps and is linear between them, so that Q_g(F_g(f)) = f at every score seen
    and a tie moves as one.

    Parameters
    ----------
    values : tuple of ndarray
        Distinct scores of each group, ascending.
    levels : tuple of ndarray
        F_g at each of them: the share of the group's weight below, plus half the share at the score.
    shares : ndarray of shape (groups,)
        n_g / n.

    Examples
    --------
    >>> import numpy as np
    >>> scores, codes = np.array([1.0, 2.0, 3.0, 5.0, 6.0, 7.0]), np.array([0, 0, 0, 1, 1, 1])
    >>> found = Barycentre.of(scores, codes)
    >>> found.moved(scores, codes, 0.5).tolist()
    [2.0, 3.0, 4.0, 4.0, 5.0, 6.0]
    >>> found.moved(scores, codes, 1.0).tolist()
    [3.0, 4.0, 5.0, 3.0, 4.0, 5.0]
    """

    values: tuple[np.ndarray, ...]
    levels: tuple[np.ndarray, ...]
    shares: np.ndarray

    @classmethod
    def of(cls, scores: np.ndarray, codes: np.ndarray, weight: np.ndarray | None = None) -> "Barycentre":
        """Learn the distributions.

        Parameters
        ----------
        scores : ndarray of shape (n,)
        codes : ndarray of int, shape (n,)
            Group of each row, 0, 1, …, each with at least one row; a row with code −1 is in none.
        weight : ndarray of shape (n,), optional
            Positive.

        Returns
        -------
        Barycentre
        """
        weight = np.ones(len(scores)) if weight is None else weight
        values, levels, totals = [], [], []
        for g in range(int(codes.max()) + 1):
            distinct, at = np.unique(scores[codes == g], return_inverse=True)
            steps = np.bincount(at, weight[codes == g])
            values.append(distinct)
            levels.append((np.cumsum(steps) - steps / 2) / steps.sum())
            totals.append(steps.sum())
        return cls(tuple(values), tuple(levels), np.array(totals) / sum(totals))

    def quantile(self, level: np.ndarray) -> np.ndarray:
        """Q̄ at each level.

        Parameters
        ----------
        level : ndarray
            Between 0 and 1.

        Returns
        -------
        ndarray
        """
        groups = zip(self.shares, self.levels, self.values, strict=True)
        return sum(share * np.interp(level, levels, values) for share, levels, values in groups)

    def moved(self, scores: np.ndarray, codes: np.ndarray, t: float) -> np.ndarray:
        """(1 − t) f + t Q̄(F_g(f)) for every row.

        A score beyond the ones its group showed is shifted by as much as the nearest of them.

        Parameters
        ----------
        scores : ndarray of shape (n,)
        codes : ndarray of int, shape (n,)
            Group of each row; a row with code −1 stays where it is.
        t : float
            0 moves nothing, 1 all the way.

        Returns
        -------
        ndarray of shape (n,)
        """
        shift = np.zeros(len(scores))
        for g, (values, levels) in enumerate(zip(self.values, self.levels, strict=True)):
            seen = np.clip(scores[codes == g], values[0], values[-1])
            shift[codes == g] = self.quantile(np.interp(seen, values, levels)) - seen
        return scores + t * shift
