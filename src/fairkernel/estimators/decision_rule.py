"""Decisions within a stated gap: the rule chosen on out-of-fold scores, and what it measured."""

from dataclasses import dataclass, replace

import numpy as np
from sklearn.isotonic import IsotonicRegression

from ..criteria import Cells
from ..exceptions import DecisionGapWarning, warn
from ..metrics import Interval, parity_noise_floor
from ..metrics.uncertainty import largest_gap_interval
from ..solve.decision import Compared, DecisionLine

LEVEL = 0.95  # of the intervals that are stored


@dataclass(frozen=True)
class DecisionRule:
    """1[f(x) − t − contrasts(likeness(x)) · multipliers ≥ 0], with probabilities that agree with it.

    Parameters
    ----------
    threshold : float
        t.
    tolerance : float
        What the multipliers were chosen for.
    multipliers : ndarray of shape (differences,)
        c θ of ``fairkernel.solve.decision``.
    compared : Compared
    margins, probabilities : ndarray
        Knots of the calibration: share of positives by margin, monotone.
    """

    threshold: float
    tolerance: float
    multipliers: np.ndarray
    compared: Compared
    margins: np.ndarray
    probabilities: np.ndarray

    def margin(self, scores: np.ndarray, likeness: np.ndarray) -> np.ndarray:
        """What is compared with zero.

        Parameters
        ----------
        scores : ndarray of shape (n,)
        likeness : ndarray of shape (n, attributes)

        Returns
        -------
        ndarray of shape (n,)
        """
        return scores - self.threshold - self.compared.contrasts(likeness) @ self.multipliers

    def probability(self, margin: np.ndarray) -> np.ndarray:
        """Calibrated probability of the positive class, at least the threshold exactly where the decision is positive.

        Parameters
        ----------
        margin : ndarray of shape (n,)

        Returns
        -------
        ndarray of shape (n,)
        """
        calibrated = np.interp(margin, self.margins, self.probabilities)
        above, below = np.nextafter(self.threshold, [1.0, 0.0])
        return np.where(margin >= 0, np.maximum(calibrated, above), np.minimum(calibrated, below))


def choose_rule(
    scores: np.ndarray,
    likeness: np.ndarray,
    cells: Cells,
    truth: np.ndarray,
    weight: np.ndarray,
    *,
    threshold: float,
    tolerance: float,
    aware: bool,
) -> DecisionRule:
    """The rule nearest to the plain decisions whose out-of-fold gap is within the tolerance.

    Parameters
    ----------
    scores : ndarray of shape (n,)
        Out of fold.
    likeness : ndarray of shape (n, attributes)
        Out of fold where the groups are not known at prediction.
    cells : Cells
    truth : ndarray of bool, shape (n,)
    weight : ndarray of shape (n,)
    threshold : float
        Of the plain decisions.
    tolerance : float
    aware : bool
        Whether the likeness is that of known groups.

    Returns
    -------
    DecisionRule
    """
    u = scores - threshold
    multipliers, rates = _multipliers(u, likeness, cells, weight, tolerance, aware=aware, which="out-of-fold gap")
    warn_below_floor(tolerance, rates, cells, weight)
    compared = compared_in(cells)
    margin = u - compared.contrasts(likeness) @ multipliers
    calibration = IsotonicRegression(y_min=0.0, y_max=1.0).fit(margin, truth, sample_weight=weight)
    knots = calibration.X_thresholds_, calibration.y_thresholds_
    return DecisionRule(threshold, tolerance, multipliers, compared, *knots)


def moved_rule(
    rule: DecisionRule,
    scores: np.ndarray,
    likeness: np.ndarray,
    cells: Cells,
    weight: np.ndarray,
    tolerance: float,
    *,
    aware: bool,
) -> DecisionRule:
    """The same threshold and calibration, the multipliers chosen on other rows.

    Parameters
    ----------
    rule : DecisionRule
    scores, likeness, cells, weight, tolerance, aware
        As in ``choose_rule``, of rows the scores were not fitted to.

    Returns
    -------
    DecisionRule
    """
    u = scores - rule.threshold
    # Chance says nothing against a bound on the very rows that are decided, so the sampling floor does not matter here.
    multipliers, _ = _multipliers(u, likeness, cells, weight, tolerance, aware=aware, which="gap on these rows")
    return replace(rule, tolerance=tolerance, multipliers=multipliers)


def _multipliers(
    u: np.ndarray,
    likeness: np.ndarray,
    cells: Cells,
    weight: np.ndarray,
    tolerance: float,
    *,
    aware: bool,
    which: str,
) -> tuple[np.ndarray, np.ndarray]:
    """c θ of the smallest c within the tolerance, with a warning where there is none, and the rates there."""
    line = DecisionLine.of(u, likeness, cells.rate_weights(weight), compared_in(cells))
    at, reached = line.within(tolerance)
    if not reached:
        known = "" if aware or cells.numeric.shape[1] else " Where the groups are known at prediction, use aware=True."
        warn(
            f"max_decision_gap={tolerance:g} is not reached: the least {which} of the rules tried is "
            f"{line.gaps[at]:.3g}, and that rule is used. Raise max_decision_gap, or merge small groups.{known}",
            DecisionGapWarning,
        )
    return line.levels[at] * line.theta, line.rates[at]


def compared_in(cells: Cells) -> Compared:
    """The rates a criterion compares.

    Parameters
    ----------
    cells : Cells

    Returns
    -------
    Compared
    """
    return Compared(cells.strata, cells.numeric.shape[1])


def warn_below_floor(tolerance: float, rates: np.ndarray, cells: Cells, weight: np.ndarray) -> None:
    """Say so when chance alone shows more than the tolerance in as many rows.

    Parameters
    ----------
    tolerance : float
    rates : ndarray
        Out-of-fold rate of each cell, then of the numeric attributes.
    cells : Cells
    weight : ndarray of shape (n,)
    """
    sizes = effective_sizes(cells, weight)
    floor = 0.0
    for stratum in map(list, cells.strata):
        pooled = float(np.clip(np.average(rates[stratum], weights=sizes[stratum]), 0.0, 1.0))
        floor = max(floor, sampling_floor(sizes[stratum], pooled, bool(cells.numeric.shape[1])))
    if tolerance < floor:
        warn(
            f"max_decision_gap={tolerance:g} is below the sampling floor of {floor:.3g}: decisions of exactly "
            "equal rates would show more than the tolerance in as many rows as these, so that it cannot be verified. "
            "Raise it, or judge the model on more rows.",
            DecisionGapWarning,
        )


def sampling_floor(sizes: np.ndarray, rate: float, numeric: bool) -> float:
    """The gap that chance shows within a stratum whose cells all have one rate.

    Parameters
    ----------
    sizes : ndarray of shape (cells,)
        Effective numbers of rows.
    rate : float
    numeric : bool
        Whether decisions are compared with a continuous attribute, too.

    Returns
    -------
    float
    """
    between = parity_noise_floor(sizes, rate) if len(sizes) > 1 else 0.0
    # The mean of n products of a decision with an unrelated standardised number is N(0, p(1 − p)/n).
    with_numbers = float(np.sqrt(2 / np.pi * rate * (1 - rate) / sizes.sum())) if numeric else 0.0
    return max(between, with_numbers)


def decision_gap(decisions: np.ndarray, cells: Cells, weight: np.ndarray) -> Interval:
    """The measured gap of some decisions, with its interval.

    Parameters
    ----------
    decisions : ndarray of bool, shape (n,)
    cells : Cells
    weight : ndarray of shape (n,)

    Returns
    -------
    Interval
    """
    W = cells.rate_weights(weight)
    rates = decisions @ W
    compared = compared_in(cells)
    # Σ a_i over the n rows of a stratum with a_i = n W_i d_i: the standard error of its mean, numeric attributes only.
    terms = W[:, compared.n_cells :] * decisions[:, None]
    inside = [np.isin(cells.codes, stratum).sum() for stratum in map(list, cells.strata)]
    n = np.repeat(inside, terms.shape[1] // len(cells.strata))
    errors = np.sqrt(np.maximum((terms**2).sum(axis=0) - terms.sum(axis=0) ** 2 / n, 0.0))
    low, high = largest_gap_interval(
        rates[: compared.n_cells],
        effective_sizes(cells, weight),
        cells.strata,
        LEVEL,
        numeric=(rates[compared.n_cells :], errors),
    )
    return Interval(float(compared.gap(rates)), float(low), float(high), LEVEL, "analytic")


def effective_sizes(cells: Cells, weight: np.ndarray) -> np.ndarray:
    """(Σw)²/Σw² of every cell.

    Parameters
    ----------
    cells : Cells
    weight : ndarray of shape (n,)

    Returns
    -------
    ndarray of shape (cells,)
    """
    sums = [weight[cells.codes == cell] for cell in range(cells.n_cells)]
    return np.array([w.sum() ** 2 / (w**2).sum() for w in sums])
