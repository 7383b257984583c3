"""Rows of a frontier from out-of-fold scores: sums along a line of decisions, or quadratics of a line of scores."""

from itertools import product
from typing import Any

import numpy as np

from ..criteria import Cells
from ..estimators._distributions import _moved_out_of_fold, _random_halves
from ..estimators.decision_rule import LEVEL, compared_in, effective_sizes, sampling_floor
from ..estimators.out_of_fold import FoldMoments, OutOfFoldScores
from ..estimators.tuning import ALPHAS, penalties
from ..metrics.uncertainty import largest_gap_interval, share_bounds
from ..solve.decision import DecisionLine, rates_along

FLOOR_POINTS = 41  # rates at which a noise floor is computed; it is interpolated between them
OURS, CONSTANT = "fairkernel", "constant"  # models
DECISION_SETTING = ("alpha", "threshold", "disparity_kept", "max_decision_gap")  # columns of the table
SCORE_SETTING = ("alpha", "disparity_kept", "distribution_parity")


class Sums:
    """What is summed over the rows decided positively, and the columns of the table that follow.

    Parameters
    ----------
    cells : Cells
    truth : ndarray of bool, shape (n,)
    weight : ndarray of shape (n,)
    """

    def __init__(self, cells: Cells, truth: np.ndarray, weight: np.ndarray) -> None:
        self.compared, self.cells = compared_in(cells), cells
        self.sizes = effective_sizes(cells, weight)
        self.n_effective = float(weight.sum() ** 2 / (weight**2).sum())
        share = weight / weight.sum()
        self.base = float(share @ truth)
        rates = cells.rate_weights(weight)
        numeric = rates[:, self.compared.n_cells :]
        # Rows that each of the numeric columns is about: those of its stratum.
        inside = [np.isin(cells.codes, stratum).sum() for stratum in cells.strata]
        self.n = np.repeat(inside, numeric.shape[1] // len(cells.strata))
        self.weights = np.hstack([rates, numeric**2, ((1 - 2.0 * truth) * share)[:, None], share[:, None]])
        self.floors = [_Floor(list(stratum), self.sizes, bool(numeric.size)) for stratum in cells.strata]

    def columns(self, sums: np.ndarray) -> dict[str, np.ndarray]:
        """Figures of decisions from their sums.

        Parameters
        ----------
        sums : ndarray of shape (settings, columns of ``weights``)

        Returns
        -------
        dict of str to ndarray of shape (settings,)
        """
        cells, numbers = self.compared.n_cells, self.compared.n_numeric
        numeric, squares = sums[:, cells : cells + numbers], sums[:, cells + numbers : cells + 2 * numbers]
        errors = np.sqrt(np.maximum(squares - numeric**2 / self.n, 0.0))
        error, positive = np.clip(sums[:, -2] + self.base, 0.0, 1.0), np.clip(sums[:, -1], 0.0, 1.0)
        rates = np.clip(sums[:, :cells], 0.0, 1.0)
        low, high = largest_gap_interval(rates, self.sizes, self.cells.strata, LEVEL, numeric=(numeric, errors))
        error_low, error_high = share_bounds(error, self.n_effective, LEVEL)
        return {
            "error": error,
            "error_low": error_low,
            "error_high": error_high,
            "disparity": self.compared.gap(sums),
            "disparity_low": low,
            "disparity_high": high,
            "positive_rate": positive,
            "noise_floor": np.max([floor(rates) for floor in self.floors], axis=0),
        }


class _Floor:
    """The disparity that chance shows within a stratum whose cells all have the rate they have together.

    Parameters
    ----------
    stratum : list of int
    sizes : ndarray of shape (cells,)
        Effective numbers of rows.
    numeric : bool
        Whether decisions are compared with numbers, too.
    """

    def __init__(self, stratum: list[int], sizes: np.ndarray, numeric: bool) -> None:
        self.stratum, self.sizes = stratum, sizes[stratum]
        # In this angle √(p (1 − p)) is a sine, where in p it is steep at both ends.
        self.angles = np.linspace(0.0, np.pi / 2, FLOOR_POINTS)
        grid = np.sin(self.angles) ** 2
        self.floors = np.array([sampling_floor(self.sizes, rate, numeric) for rate in grid.tolist()])

    def __call__(self, rates: np.ndarray) -> np.ndarray:
        """Floors of settings from the rates of all cells, shape (settings, cells)."""
        pooled = np.average(rates[:, self.stratum], axis=1, weights=self.sizes)
        return np.interp(np.arcsin(np.sqrt(np.clip(pooled, 0.0, 1.0))), self.angles, self.floors)


def decision_rows(
    folds: FoldMoments, alphas: tuple, thresholds: tuple, levels: tuple, rule_levels: tuple, tolerances: Any
) -> dict[str, np.ndarray]:
    """Every penalty × threshold × (levels with plain decisions, rule levels × tolerances), and the constant.

    Parameters
    ----------
    folds : FoldMoments
    alphas, thresholds, levels, rule_levels : tuple of float
    tolerances : tuple of float or None, or int
        A number spreads as many tolerances from zero to the gap of the plain decisions.

    Returns
    -------
    dict of str to ndarray
    """
    model, rows = folds.model, folds.rows
    cells, truth = model._cells(rows), rows.y == 1
    sums = Sums(cells, truth, rows.weight)
    searched = () if model.aware or tolerances == (None,) else penalties(rows.weight)
    found = folds.scores(model, [model.n_components], (*alphas, *searched), likeness=bool(searched))
    alike = found.likeness_losses(cells)[0] if searched else None
    settings: list[tuple] = []
    totals: list[np.ndarray] = []
    for (j, alpha), threshold in product(enumerate(alphas), thresholds):
        u, v = found.parity[:, 0, j, 0] - threshold, found.parity[:, 0, j, 0] - found.plain[:, 0, j, 0]
        if isinstance(tolerances, int) or None in tolerances:
            totals.append(rates_along(u, v, sums.weights, np.asarray(levels)))
            settings += [(False, alpha, threshold, level, np.nan) for level in levels]
        if tolerances == (None,):
            continue
        for level in rule_levels:
            line = DecisionLine.of(
                u - level * v, _likeness(folds, found, alike, j, level), sums.weights, sums.compared
            )
            asked = _spread(tolerances, line) if isinstance(tolerances, int) else list(filter(_is_number, tolerances))
            totals.append(line.rates[[line.within(tolerance)[0] for tolerance in asked]])
            settings += [(model.aware, alpha, threshold, level, tolerance) for tolerance in asked]
    constant = (truth @ rows.weight >= rows.weight.sum() / 2) * sums.weights.sum(axis=0)
    constant[: sums.compared.n_cells] = constant[-1] = np.round(constant[-1])  # its rates are 0 or 1, not nearly so
    names = np.array([OURS] * len(settings) + [CONSTANT], dtype=object)
    columns = zip(*settings, (False, *[np.nan] * 4), strict=True)
    return {
        "model": names,
        **{name: np.array(column) for name, column in zip(("aware", *DECISION_SETTING), columns, strict=True)},
        **sums.columns(np.vstack([*totals, constant])),
    }


def _likeness(folds: FoldMoments, found: OutOfFoldScores, losses: Any, j: int, level: float) -> np.ndarray:
    """How group-like each row is, as the classifier would have it at penalty j."""
    if losses is None:
        model, rows = folds.model, folds.rows
        model._cell_shares = np.asarray(folds.total.attribute_mean)
        return model._likeness_of(rows.sensitive.codes, found.at(level)[:, 0, j, 0])
    assert found.likeness is not None
    candidates = [j, *range(len(losses) - len(ALPHAS), len(losses))]  # the classifier's: its own penalty and the grid
    return found.likeness[:, 0, min(candidates, key=losses.__getitem__)]


def _is_number(tolerance: float | None) -> bool:
    return tolerance is not None


def _spread(count: int, line: DecisionLine) -> list[float]:
    return np.linspace(0.0, float(line.gaps[0]), count).tolist()


def score_rows(folds: FoldMoments, alphas: tuple, levels: tuple, moves: tuple) -> dict[str, np.ndarray]:
    """Every setting of a regressor, and the constant: figures are quadratic along a line of scores.

    Parameters
    ----------
    folds : FoldMoments
    alphas, levels : tuple of float
    moves : tuple of float
        Values of ``distribution_parity``, for each penalty and level; none where groups are not known.

    Returns
    -------
    dict of str to ndarray
    """
    model, rows, target = folds.model, folds.rows, folds.targets[:, 0]
    found = folds.scores(model, [model.n_components], alphas)
    measure = ScoreSums(model._cells(rows), target, rows.weight)
    settings: list[tuple] = []
    parts: list[dict[str, np.ndarray]] = []
    for j, alpha in enumerate(alphas):
        if not moves:
            parity, plain = found.parity[:, 0, j, 0], found.plain[:, 0, j, 0]
            parts.append(measure.columns(parity, plain - parity, np.asarray(levels)))
            settings += [(False, alpha, level, np.nan) for level in levels]
            continue
        for level in levels:
            parts.append(measure.moved_columns(found.at(level)[:, 0, j, 0], rows.sensitive.codes, np.asarray(moves)))
            settings += [(True, alpha, level, move) for move in moves]
    mean = np.full(len(target), np.average(target, weights=rows.weight))
    parts.append(measure.columns(mean, np.zeros_like(mean), np.zeros(1)))
    columns = zip(*settings, (False, *[np.nan] * 3), strict=True)
    return {
        "model": np.array([OURS] * len(settings) + [CONSTANT], dtype=object),
        **{name: np.array(column) for name, column in zip(("aware", *SCORE_SETTING), columns, strict=True)},
        **{name: np.concatenate([part[name] for part in parts]) for name in parts[0]},
    }


class ScoreSums:
    """Figures of the scores f + ρ g for many ρ at once.

    Parameters
    ----------
    cells : Cells
    target, weight : ndarray of shape (n,)
    """

    def __init__(self, cells: Cells, target: np.ndarray, weight: np.ndarray) -> None:
        self.compared, self.cells, self.target, self.weight = compared_in(cells), cells, target, weight
        self.share, self.sizes = weight / weight.sum(), effective_sizes(cells, weight)
        self.W = cells.rate_weights(weight)
        self.variance = float(self.share @ (target - self.share @ target) ** 2)

    def columns(self, f: np.ndarray, g: np.ndarray, levels: np.ndarray) -> dict[str, np.ndarray]:
        """R², and the largest gap of means with its interval.

        Parameters
        ----------
        f, g : ndarray of shape (n,)
        levels : ndarray of shape (L,)

        Returns
        -------
        dict of str to ndarray of shape (L,)
        """
        powers = np.stack([np.ones_like(levels), levels, levels**2], axis=1)
        residual = f - self.target
        mse = powers @ np.array([self.share @ v for v in (residual**2, 2 * residual * g, g**2)])
        means = powers[:, :2] @ np.stack([f @ self.W, g @ self.W])
        n = self.compared.n_cells
        squares = powers @ np.stack([v @ self.W[:, :n] for v in (f**2, 2 * f * g, g**2)])
        variances = np.maximum(squares - means[:, :n] ** 2, 0.0) / self.sizes
        low, high = self._interval(means, variances, f, g, levels)
        return {
            "r2": 1.0 - mse / self.variance if self.variance else np.full(len(levels), np.nan),
            "rmse": np.sqrt(np.maximum(mse, 0.0)),
            "disparity": self.compared.gap(means),
            "disparity_low": low,
            "disparity_high": high,
        }

    def moved_columns(self, scores: np.ndarray, codes: np.ndarray, moves: np.ndarray) -> dict[str, np.ndarray]:
        """The same for scores that are moved toward the groups' barycentre, each half of the rows by the other half's.

        The gap is the mean of the halves'. Over all rows, or over folds, it would be close to zero whatever new rows
        show: ranked among all others, a group has the mean rank of all. Over 25 draws of 400 rows with
        ``distribution_parity=1`` folds gave .003, where 20,000 new rows showed .100 (and 400 new rows .107).

        Parameters
        ----------
        scores : ndarray of shape (n,)
            Out of fold.
        codes : ndarray of int, shape (n,)
            Group of each row; −1 stays where it is.
        moves : ndarray of shape (T,)

        Returns
        -------
        dict of str to ndarray of shape (T,)
        """
        half = _random_halves(codes)
        way = _moved_out_of_fold(scores, codes, self.weight, half, 1.0) - scores
        found, parts = self.columns(scores, way, moves), []
        for rows in (np.flatnonzero(half == h) for h in (0, 1)):
            part = ScoreSums(self.cells.take(rows), self.target[rows], self.weight[rows])
            parts.append(part.columns(scores[rows], way[rows], moves))
        gaps = [name for name in found if name.startswith("disparity")]
        return found | {name: (parts[0][name] + parts[1][name]) / 2 for name in gaps}

    def _interval(
        self, means: np.ndarray, variances: np.ndarray, f: np.ndarray, g: np.ndarray, levels: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray]:
        """Normal bounds of every difference of means, all at once, folded at zero."""
        n = self.compared.n_cells
        values = [means[:, a] - means[:, b] for a, b in _pairs(self.cells.strata)]
        errors = [np.sqrt(variances[:, a] + variances[:, b]) for a, b in _pairs(self.cells.strata)]
        for k in range(n, self.W.shape[1]):
            terms = self.W[:, k, None] * (f[:, None] + g[:, None] * levels)
            values.append(means[:, k])
            errors.append(np.sqrt(np.maximum((terms**2).sum(axis=0) - means[:, k] ** 2 / len(f), 0.0)))
        return largest_gap_interval(
            np.empty((len(levels), 0)), np.empty(0), (), LEVEL, numeric=(np.stack(values, 1), np.stack(errors, 1))
        )


def _pairs(strata: tuple) -> list[tuple[int, int]]:
    return [(a, b) for cells in strata for i, a in enumerate(cells) for b in cells[i + 1 :]]
