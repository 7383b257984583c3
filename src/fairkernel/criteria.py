"""Which rows are compared with which: a criterion turns groups and outcomes into cells within strata.

Parity compares the groups over all rows. Equal opportunity compares them among the rows of the positive class,
equalised odds within every class. For a numeric outcome the strata are bins of equal numbers of rows, and opportunity
looks at the highest one.
"""

from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from .sensitive import Sensitive

BINS = 4  # strata of a numeric outcome
OUTSIDE = -1  # the cell of a row that the criterion does not look at


@dataclass(frozen=True)
class Cells:
    """Groups within strata.

    Parameters
    ----------
    codes : ndarray of int, shape (n,)
        Cell of each row; −1 for rows that count for the loss alone.
    strata : tuple of tuple of int
        The cells to compare with each other.
    numeric : ndarray of shape (n, strata · numeric attributes)
        Continuous attributes, one block per stratum, zero outside it.
    """

    codes: np.ndarray
    strata: tuple[tuple[int, ...], ...]
    numeric: np.ndarray

    @property
    def n_cells(self) -> int:
        return sum(map(len, self.strata))

    def rate_weights(self, weight: np.ndarray) -> np.ndarray:
        """Columns W with Wᵀd = the rates of decisions d: each cell's mean, then covariances with standardised numbers.

        Parameters
        ----------
        weight : ndarray of shape (n,)
            Rows' weights.

        Returns
        -------
        ndarray of shape (n, cells + numeric columns)
        """
        columns = [weight * (self.codes == cell) for cell in range(self.n_cells)]
        each = self.numeric.shape[1] // len(self.strata)
        for i, cells in enumerate(self.strata):
            inside = weight * np.isin(self.codes, cells)
            for s in self.numeric.T[i * each : (i + 1) * each]:
                centred = s - inside @ s / inside.sum()
                deviation = np.sqrt(inside @ centred**2 / inside.sum())
                columns.append(inside * centred / (deviation if deviation > 0 else 1.0))
        totals = [np.abs(column).sum() for column in columns[: self.n_cells]]
        totals += [sum(totals[cell] for cell in cells) for cells in self.strata for _ in range(each)]
        return np.stack(columns, axis=1) / np.array(totals)

    def take(self, rows: np.ndarray) -> "Cells":
        """The same cells for some of the rows."""
        return Cells(self.codes[rows], self.strata, self.numeric[rows])


def cells_of(
    criterion: str,
    sensitive: Sensitive,
    outcome: np.ndarray | None = None,
    classes: np.ndarray | None = None,
    weight: np.ndarray | None = None,
) -> Cells:
    """The cells of a criterion.

    Parameters
    ----------
    criterion : {"parity", "opportunity", "odds"}
    sensitive : Sensitive
    outcome : ndarray of shape (n,), optional
        Class numbers, or numbers; not needed for parity.
    classes : ndarray, optional
        Labels of the classes; None for a numeric outcome.
    weight : ndarray of shape (n,), optional
        Rows' weights, for the bins of a numeric outcome.

    Returns
    -------
    Cells

    Examples
    --------
    >>> from fairkernel.sensitive import read_sensitive
    >>> s, y = read_sensitive(list("abababab")), np.array([0, 0, 0, 0, 1, 1, 1, 1])
    >>> cells_of("opportunity", s, y, np.array(["no", "yes"])).codes.tolist()
    [-1, -1, -1, -1, 0, 1, 0, 1]
    >>> cells_of("odds", s, y, np.array(["no", "yes"])).strata
    ((0, 1), (2, 3))
    """
    n_groups = len(sensitive.groups)
    if criterion == "parity":
        return Cells(sensitive.codes, (tuple(range(n_groups)),), sensitive.numeric)
    if outcome is None:
        raise ValueError(f"criterion={criterion!r} compares groups of equal outcome: pass y.")
    # Rows without a group take no part, not even in the bins of a numeric outcome.
    known, stratum = sensitive.known, np.full(sensitive.n_rows, OUTSIDE)
    stratum[known], names = _strata(
        criterion, np.asarray(outcome)[known], classes, None if weight is None else weight[known]
    )
    codes = np.where(stratum >= 0, stratum * n_groups + sensitive.codes, OUTSIDE)
    counts = np.bincount(codes[codes >= 0], minlength=len(names) * n_groups).reshape(len(names), n_groups)
    for row, name in zip(counts, names, strict=True):
        for group, count in zip(sensitive.groups, row, strict=True):
            if count == 0:
                raise ValueError(
                    f"criterion={criterion!r}: group {group!r} has no rows with {name}, so there is nothing to compare "
                    "there. Merge groups, or use criterion='parity'."
                )
    strata = tuple(tuple(range(i * n_groups, (i + 1) * n_groups)) for i in range(len(names)))
    blocks = [np.where((stratum == i)[:, None], sensitive.numeric, 0.0) for i in range(len(names))]
    return Cells(codes, strata, np.concatenate(blocks, axis=1))


def _strata(
    criterion: str, outcome: np.ndarray, classes: np.ndarray | None, weight: np.ndarray | None
) -> tuple[np.ndarray, list[str]]:
    """Stratum of each row (−1 outside) and a name for each stratum."""
    if outcome.ndim != 1:
        raise ValueError(f"criterion={criterion!r} needs one outcome per row; y has shape {outcome.shape}.")
    if classes is not None:
        stratum, names = outcome.astype(np.int64), [f"y = {label!r}" for label in classes.tolist()]
    else:
        # The inverse of the distribution function: a row of weight 2 is the row twice.
        edges = np.quantile(outcome, np.linspace(0, 1, BINS + 1), method="inverted_cdf", weights=weight)
        stratum = np.searchsorted(edges[1:-1], outcome, side="left")
        names = [f"y in [{low:g}, {high:g}]" for low, high in pairwise(edges)]
        kept = np.unique(stratum)  # repeated values can leave a bin empty
        stratum, names = np.searchsorted(kept, stratum), [names[i] for i in kept]
    if criterion == "odds":
        return stratum, names
    if classes is not None and len(classes) > 2:
        raise ValueError(
            f"criterion='opportunity' looks at the positive one of two classes; y has {len(classes)}. "
            "Use criterion='odds'."
        )
    last = len(names) - 1
    return np.where(stratum == last, 0, OUTSIDE), names[last:]
