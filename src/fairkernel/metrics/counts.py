"""Two-class metrics as functions of sums that merge: chunks, folds and workers add up to the whole."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from ._inputs import ClassRows, read_class_rows

# Cells are (truth, prediction). A rate is the event's share of the weight in the cells it is conditioned on.
_ALL = [[1, 1], [1, 1]]
_EVENT_GIVEN = {
    "positive": ([[0, 1], [0, 1]], _ALL),
    "error": ([[0, 1], [1, 0]], _ALL),
    "base": ([[0, 0], [1, 1]], _ALL),
    "true_positive": ([[0, 0], [0, 1]], [[0, 0], [1, 1]]),
    "false_positive": ([[0, 1], [0, 0]], [[1, 1], [0, 0]]),
}


@dataclass(frozen=True, eq=False)
class GroupCounts:
    """Sums per group from which every two-class metric follows.

    Parameters
    ----------
    groups : tuple
        Group labels, sorted.
    labels : tuple
        (negative label or None where no row shows it, positive label).
    rows : ndarray of shape (groups, truths, 2)
        Rows per group, true class and predicted class. Where the truth is not known there is one "truth".
    weight, weight_squared : ndarray of shape (groups, truths, 2)
        Sums of the weights and of their squares over the same cells.

    Notes
    -----
    Rows of zero weight are absent. The effective sample size of a weighted proportion is
    n_eff = (Σw)²/Σw², the size at which an unweighted one has the same variance: weights say how much a row
    stands for, so doubling them all changes no interval, while doubling the rows does.

    Examples
    --------
    >>> first = GroupCounts.from_predictions([1, 0, 1], [1, 0, 0], sensitive_features=["a", "a", "b"])
    >>> second = GroupCounts.from_predictions([0, 1], [1, 1], sensitive_features=["b", "b"])
    >>> both = first + second
    >>> both.groups, both.rates("positive").tolist()
    (('a', 'b'), [0.5, 0.6666666666666666])
    """

    groups: tuple
    labels: tuple
    rows: np.ndarray
    weight: np.ndarray
    weight_squared: np.ndarray

    @classmethod
    def from_predictions(
        cls,
        y_true: Any,
        y_pred: Any,
        *,
        sensitive_features: Any,
        sample_weight: Any = None,
        pos_label: Any = None,
        min_groups: int = 1,
    ) -> "GroupCounts":
        """Count predictions.

        Parameters
        ----------
        y_true : array-like of shape (n,) or None
            True labels; None leaves only what needs no truth.
        y_pred : array-like of shape (n,)
            Predicted labels.
        sensitive_features : array-like of shape (n,) or (n, columns), or None
            Groups; None takes all rows as one group.
        sample_weight : array-like of shape (n,), optional
        pos_label : label, optional
            Default: the larger of the two labels. Chunks that may show one label only need it, unless labels are 0 and
            1, or −1 and 1.
        min_groups : int
            Fewest groups accepted; a chunk may hold one.

        Returns
        -------
        GroupCounts
        """
        return cls.from_rows(
            read_class_rows(y_true, y_pred, sensitive_features, sample_weight, pos_label, min_groups)
        )

    @classmethod
    def from_rows(cls, rows: ClassRows) -> "GroupCounts":
        """Count rows already read.

        Parameters
        ----------
        rows : ClassRows

        Returns
        -------
        GroupCounts
        """
        sums = (cell_sums(rows, values) for values in (None, rows.weight, rows.weight**2))
        return cls(rows.groups, rows.labels, *sums)

    def rates(self, kind: str) -> np.ndarray:
        """Rate of each group.

        Parameters
        ----------
        kind : {"positive", "error", "base", "true_positive", "false_positive"}

        Returns
        -------
        ndarray of shape (groups,)
        """
        event, given = self._masks(kind)
        total = (self.weight * given).sum((1, 2))
        self._refuse_empty(total, kind)
        return (self.weight * event).sum((1, 2)) / total

    def effective_sizes(self, kind: str = "positive") -> np.ndarray:
        """Effective sample size (Σw)²/Σw² behind each group's rate.

        Parameters
        ----------
        kind : str
            As in `rates`.

        Returns
        -------
        ndarray of shape (groups,)
        """
        _, given = self._masks(kind)
        total = (self.weight * given).sum((1, 2))
        self._refuse_empty(total, kind)
        return total**2 / (self.weight_squared * given).sum((1, 2))

    def difference(self, *kinds: str) -> float:
        """Largest difference of a rate between two groups, over the kinds given.

        Parameters
        ----------
        *kinds : str
            As in `rates`.

        Returns
        -------
        float
        """
        if len(self.groups) < 2:
            raise ValueError(f"one group only ({self.groups[0]!r}): a disparity needs at least two groups.")
        return max(float(np.ptp(self.rates(kind))) for kind in kinds)

    def pooled(self) -> "GroupCounts":
        """All groups as one.

        Returns
        -------
        GroupCounts
        """
        return GroupCounts(("all rows",), self.labels, *(sums.sum(0, keepdims=True) for sums in self._sums()))

    def __add__(self, other: "GroupCounts") -> "GroupCounts":
        if not isinstance(other, GroupCounts):
            return NotImplemented
        labels = self._merged_labels(other)
        groups = _sorted_union(self.groups, other.groups)
        pairs = zip(self._spread_over(groups), other._spread_over(groups), strict=True)
        return GroupCounts(groups, labels, *(mine + theirs for mine, theirs in pairs))

    def __sub__(self, other: "GroupCounts") -> "GroupCounts":
        if not isinstance(other, GroupCounts):
            return NotImplemented
        labels = self._merged_labels(other)
        if set(other.groups) <= set(self.groups):
            pairs = zip(self._sums(), other._spread_over(self.groups), strict=True)
            left = GroupCounts(self.groups, labels, *(mine - theirs for mine, theirs in pairs))
            if (left.rows >= 0).all():
                # Where no row is left the weight is zero, not a rounding error that would make a rate.
                left.weight[left.rows == 0] = left.weight_squared[left.rows == 0] = 0
                return left
        raise ValueError("cannot subtract counts of rows that are not in the total: the parts do not belong to it.")

    def _sums(self):
        return self.rows, self.weight, self.weight_squared

    def _spread_over(self, groups):
        """The sums placed among more groups; groups not counted here have zeros."""
        at = [groups.index(group) for group in self.groups]
        for sums in self._sums():
            wide = np.zeros((len(groups), *sums.shape[1:]), dtype=sums.dtype)
            wide[at] = sums
            yield wide

    def _merged_labels(self, other):
        if self.rows.shape[1] != other.rows.shape[1]:
            raise ValueError("counts with and without true labels cannot be combined: give y_true to all or to none.")
        negatives = {label for label in (self.labels[0], other.labels[0]) if label is not None}
        if self.labels[1] != other.labels[1] or len(negatives) > 1:
            raise ValueError(
                f"counts of different labels cannot be combined: {self.labels} and {other.labels}. "
                "Pass pos_label to both."
            )
        return next(iter(negatives), None), self.labels[1]

    def _masks(self, kind):
        if kind not in _EVENT_GIVEN:
            raise ValueError(f"kind must be one of {', '.join(_EVENT_GIVEN)}; got {kind!r}.")
        truths = self.rows.shape[1]
        if truths == 1 and kind != "positive":
            raise ValueError(f"the {kind} rate needs y_true; got None.")
        event, given = _EVENT_GIVEN[kind]
        return np.array(event)[:truths], np.array(given)[:truths]

    def _refuse_empty(self, total, kind):
        for group, given, everything in zip(self.groups, total, self.weight.sum((1, 2)), strict=True):
            if not everything:
                raise ValueError(f"group {group!r} has no rows with positive weight: it has no rates.")
            if not given:
                missing = self.labels[1] if kind == "true_positive" else self.labels[0]
                shown = "the negative class" if missing is None else f"class {missing!r}"
                raise ValueError(
                    f"group {group!r} has no rows of {shown} in y_true: its {kind.replace('_', ' ')} rate "
                    "is not defined. Use more rows, merge the group, or report statistical_disparity, "
                    "which needs no class."
                )


def cell_sums(rows: ClassRows, values: np.ndarray | None) -> np.ndarray:
    """Sum values (None counts rows) over the cells (group, truth, prediction)."""
    truths = 1 if rows.truth is None else 2
    truth = 0 if rows.truth is None else rows.truth.astype(np.int64)
    cell = (rows.codes * truths + truth) * 2 + rows.predicted
    return np.bincount(cell, values, len(rows.groups) * truths * 2).reshape(len(rows.groups), truths, 2)


def _sorted_union(mine, theirs):
    union = {*mine, *theirs}
    try:
        return tuple(sorted(union))
    except TypeError:
        return tuple(sorted(union, key=lambda group: (type(group).__name__, str(group))))
