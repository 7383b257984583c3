"""Moments: the additive sufficient statistics every solve starts from.

One symmetric matrix holds them all. With the row r = [φ − φ₀ | 1 | y − y₀ | group indicators | numeric s],

    T = Σ_i w_i r_i r_iᵀ

contains the scatter of φ, its cross-products with the targets and with the sensitive attributes, and every group's
weight and mean. T is a sum over rows: batches are added, workers' parts are merged, folds are subtracted.
The origin (φ₀, y₀) is a fixed point near the mean; it costs nothing and saves the digits a large mean would eat.
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from .backend import like, namespace, to_numpy

Array = Any
ROWS_AT_A_TIME = 8192  # the stacked rows [φ | 1 | y | s] are a copy: keep it small


@dataclass(frozen=True)
class Moments:
    """Weighted sums of products of [φ − φ₀ | 1 | y − y₀ | groups | numeric s] over rows.

    Parameters
    ----------
    n_features, n_targets, n_groups, n_numeric : int
        Widths of the blocks of the row.
    origin : array of shape (n_features + n_targets,)
        φ₀ and y₀.
    total : array of shape (width, width)
        T, in float64.
    by_group : array of shape (n_groups, n_features + 1, n_features + 1), or None
        The same for [φ − φ₀ | 1], one group at a time; only second-moment methods need it.
    strata : tuple of tuple of int
        Groups to compare with each other. The numeric columns come in one block per stratum, zero outside it.

    Examples
    --------
    >>> import numpy as np
    >>> phi = np.array([[1.0], [3.0], [5.0]])
    >>> codes = np.array([0, 1, 1])
    >>> m = Moments.empty(phi, np.zeros((3, 1)), n_groups=2, n_numeric=0)
    >>> m = m.update(phi, np.zeros((3, 1)), codes, np.empty((3, 0)))
    >>> m.group_means.tolist()
    [[1.0], [4.0]]
    """

    n_features: int
    n_targets: int
    n_groups: int
    n_numeric: int
    origin: Array
    total: Array
    by_group: Array | None = None
    strata: tuple[tuple[int, ...], ...] = ()

    @classmethod
    def empty(
        cls,
        phi: Array,
        targets: Array,
        *,
        n_groups: int,
        n_numeric: int,
        second_moments: bool = False,
        strata: tuple[tuple[int, ...], ...] | None = None,
    ) -> "Moments":
        """No rows yet; the origin is the mean of the rows shown here, which are not counted."""
        xp = namespace(phi)
        m, q = phi.shape[1], targets.shape[1]
        width = m + 1 + q + n_groups + n_numeric
        f64 = xp.float64
        origin = xp.concat(
            [xp.mean(xp.astype(phi, f64, copy=False), axis=0), xp.mean(like(targets, phi, dtype=f64), axis=0)], axis=0
        )
        # Rows lose the origin in their own type, so it has to be a number of that type.
        origin = xp.astype(xp.astype(origin, phi.dtype), f64)
        by_group = like(np.zeros((n_groups, m + 1, m + 1)), phi, dtype=f64) if second_moments else None
        total = like(np.zeros((width, width)), phi, dtype=f64)
        return cls(m, q, n_groups, n_numeric, origin, total, by_group, strata or (tuple(range(n_groups)),))

    def update(
        self, phi: Array, targets: Array, codes: np.ndarray, numeric: np.ndarray, weight: np.ndarray | None = None
    ) -> "Moments":
        """The moments with more rows.

        Parameters
        ----------
        phi : array of shape (n, n_features)
            float32 or float64; products are formed in this type and accumulated in float64.
        targets : array of shape (n, n_targets)
        codes : ndarray of int, shape (n,)
            Group of each row; a row with code −1 is in none.
        numeric : ndarray of shape (n, n_numeric)
        weight : ndarray of shape (n,), optional

        Returns
        -------
        Moments
        """
        xp = namespace(phi)
        total, by_group = self.total, self.by_group
        for part in _slices(phi.shape[0]):
            root = None if weight is None else like(np.sqrt(weight[part]), phi)[:, None]
            rows = self._rows(phi[part, ...], targets[part, ...], codes[part], numeric[part])
            # √w on both sides keeps the product symmetric, which BLAS computes in half the time.
            rows = rows if root is None else rows * root
            total = total + xp.astype(rows.T @ rows, xp.float64, copy=False)
            if by_group is not None:
                by_group = by_group + self._group_products(rows[:, : self.n_features + 1], codes[part])
        return replace(self, total=total, by_group=by_group)

    def _rows(self, phi: Array, targets: Array, codes: np.ndarray, numeric: np.ndarray) -> Array:
        xp = namespace(phi)
        origin = xp.astype(self.origin, phi.dtype)
        indicators = codes[:, None] == np.arange(self.n_groups)[None, :]
        return xp.concat(
            [
                phi - origin[None, : self.n_features],
                like(np.ones((len(codes), 1)), phi),
                like(targets, phi) - origin[None, self.n_features :],
                like(np.concatenate([indicators, numeric], axis=1), phi),
            ],
            axis=1,
        )

    def _group_products(self, rows: Array, codes: np.ndarray) -> Array:
        xp = namespace(rows)
        members = (
            xp.take(rows, like(np.flatnonzero(codes == g), rows, dtype=xp.int64), axis=0) for g in range(self.n_groups)
        )
        return xp.astype(xp.stack([part.T @ part for part in members]), xp.float64)

    def __add__(self, other: "Moments") -> "Moments":
        return self._combine(other, 1.0)

    def __sub__(self, other: "Moments") -> "Moments":
        return self._combine(other, -1.0)

    def _combine(self, other: "Moments", sign: float) -> "Moments":
        xp = namespace(self.total)
        if self._widths != other._widths:
            raise ValueError(
                "moments of {} features, {} targets, {} groups and {} numbers ".format(*self._widths)
                + "do not combine with {}, {}, {} and {}: ".format(*other._widths)
                + "use one feature map and one list of groups for all parts."
            )
        if not bool(xp.all(self.origin == other.origin)):
            raise ValueError("moments with different origins do not combine: start every part from the same empty one.")
        by_group = None
        if self.by_group is not None or other.by_group is not None:
            by_group = self._require_by_group() + sign * other._require_by_group()
        return replace(self, total=self.total + sign * other.total, by_group=by_group)

    # The blocks of T, named ---------------------------------------------------------------------------------------

    @property
    def _widths(self) -> tuple[int, int, int, int]:
        return self.n_features, self.n_targets, self.n_groups, self.n_numeric

    @property
    def _ones(self) -> int:
        return self.n_features

    @property
    def _targets(self) -> slice:
        return slice(self.n_features + 1, self.n_features + 1 + self.n_targets)

    @property
    def _groups(self) -> slice:
        return slice(self._targets.stop, self._targets.stop + self.n_groups)

    @property
    def _numeric(self) -> slice:
        return slice(self._groups.stop, self._groups.stop + self.n_numeric)

    @property
    def weight(self) -> float:
        """Σ w."""
        return float(self.total[self._ones, self._ones])

    @property
    def feature_mean(self) -> Array:
        """Mean of φ, shape (n_features,)."""
        return self.origin[: self.n_features] + self.total[: self.n_features, self._ones] / self.weight

    @property
    def target_mean(self) -> Array:
        """Mean of y, shape (n_targets,)."""
        return self.origin[self.n_features :] + self.total[self._targets, self._ones] / self.weight

    def _centred(self, left: slice, right: slice) -> Array:
        sums = self.total[self._ones, :]
        return self.total[left, right] - sums[left][:, None] * sums[right][None, :] / self.weight

    @property
    def scatter(self) -> Array:
        """C = Σ w (φ − mean)(φ − mean)ᵀ."""
        features = slice(0, self.n_features)
        return self._centred(features, features)

    @property
    def cross(self) -> Array:
        """b = Σ w (φ − mean)(y − mean)ᵀ, shape (n_features, n_targets)."""
        return self._centred(slice(0, self.n_features), self._targets)

    @property
    def target_scatter(self) -> Array:
        """Σ w (y − mean)(y − mean)ᵀ."""
        return self._centred(self._targets, self._targets)

    @property
    def group_weight(self) -> Array:
        """Σ w per group."""
        return self.total[self._groups, self._ones]

    @property
    def group_means(self) -> Array:
        """Mean of φ in each group, shape (n_groups, n_features)."""
        sums = self.total[self._groups, : self.n_features]
        return self.origin[None, : self.n_features] + sums / self.group_weight[:, None]

    @property
    def attribute_cross(self) -> Array:
        """Σ w (s − mean)(φ − mean)ᵀ for every group indicator and numeric column s, a row each."""
        return self._centred(slice(self._groups.start, self._numeric.stop), slice(0, self.n_features))

    @property
    def attribute_mean(self) -> Array:
        """Mean of every group indicator and numeric column s."""
        return self.total[self._groups.start : self._numeric.stop, self._ones] / self.weight

    @property
    def standardising(self) -> Array:
        """T of shape (attributes, attributes): E[s | x] @ T is p(group | x)/π and the standardised E[s | x].

        A numeric column is standardised within its stratum, and divided by the stratum's share of the weight.
        """
        share, each = to_numpy(self.attribute_mean[: self.n_groups]), self.n_numeric // len(self.strata)
        T = np.zeros((self.n_groups + self.n_numeric,) * 2)
        T[range(self.n_groups), range(self.n_groups)] = 1.0 / share
        deviation = np.sqrt(np.maximum(to_numpy(self.numeric_variance), 0.0)) if self.n_numeric else np.empty(0)
        for i, cells in enumerate(self.strata):
            inside = share[list(cells)].sum()
            for j in range(i * each, (i + 1) * each):
                column, scale = self.n_groups + j, inside * (deviation[j] if deviation[j] > 0 else 1.0)
                T[column, column] = 1.0 / scale
                # The column is zero outside its stratum: its mean inside is its mean divided by the share.
                T[list(cells), column] = -float(self.attribute_mean[column]) / inside / scale
        return like(T, self.total)

    @property
    def numeric_covariance(self) -> Array:
        """Covariance of each numeric column with φ within its stratum, shape (n_numeric, n_features)."""
        return self._within_strata(slice(0, self.n_features))

    @property
    def numeric_variance(self) -> Array:
        """Variance of each numeric sensitive column within its stratum."""
        xp = namespace(self.total)
        return xp.linalg.diagonal(self._within_strata(self._numeric))

    def _within_strata(self, right: slice) -> Array:
        """Σ w (s − mean of s)(r − mean of r)ᵀ / Σ w over each numeric column's own stratum."""
        xp, each = namespace(self.total), self.n_numeric // len(self.strata)
        groups, numeric = self.total[self._groups, :], self.total[self._numeric, :]
        parts = []
        for i, cells in enumerate(self.strata):
            # The rows of a stratum are those of its cells.
            sums = sum((groups[cell, :] for cell in cells[1:]), start=groups[cells[0], :])
            block = numeric[i * each : (i + 1) * each, :]
            weight = sums[self._ones]
            outer = block[:, self._ones][:, None] * sums[right][None, :] / weight
            parts.append((block[:, right] - outer) / weight)
        return xp.concat(parts, axis=0)

    @property
    def group_second_moments(self) -> Array:
        """Σ_{i in g} w φ φᵀ about zero, not about the mean, shape (n_groups, n_features, n_features)."""
        shift, m = self.origin[: self.n_features], self.n_features
        part = self._require_by_group()
        sums, weight = part[:, :m, m], part[:, m, m]
        # φ = (φ − φ₀) + φ₀
        return (
            part[:, :m, :m]
            + sums[:, :, None] * shift[None, None, :]
            + shift[None, :, None] * sums[:, None, :]
            + weight[:, None, None] * (shift[:, None] * shift[None, :])[None, ...]
        )

    @property
    def group_covariances(self) -> Array:
        """Covariance of φ within each group about the group's own mean."""
        part, m = self._require_by_group(), self.n_features
        sums, weight = part[:, :m, m], part[:, m, m]
        mean = sums / weight[:, None]
        return part[:, :m, :m] / weight[:, None, None] - mean[:, :, None] * mean[:, None, :]

    def _require_by_group(self) -> Array:
        if self.by_group is None:
            raise ValueError("these moments keep no second moments per group: start them with second_moments=True.")
        return self.by_group


def _slices(n: int) -> Iterator[slice]:
    return (slice(start, min(start + ROWS_AT_A_TIME, n)) for start in range(0, n, ROWS_AT_A_TIME))
