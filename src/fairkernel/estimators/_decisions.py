"""Decisions within a stated gap: the rule of a classifier, what it is compared by, and rows it has not seen."""

from copy import copy
from typing import Any

import numpy as np
from sklearn.utils import _safe_indexing
from sklearn.utils._param_validation import validate_parameter_constraints
from sklearn.utils.validation import _num_samples, check_is_fitted

from ..criteria import Cells, cells_of
from ..metrics import Interval
from ..rows import NewRows, read_new_rows
from ._parameters import DECISION
from ._ridge import FairKernelRidge
from .decision_rule import DecisionRule, choose_rule, decision_gap, moved_rule
from .out_of_fold import FoldMoments
from .tuning import penalties


class Decisions(FairKernelRidge):
    """What ``max_decision_gap`` adds to thresholded scores.

    Expects the parameters ``max_decision_gap``, ``aware`` and ``threshold``, and ``rule_``, None where there is none.
    """

    max_decision_gap: float | None
    aware: bool
    threshold: float
    rule_: DecisionRule | None
    classes_: np.ndarray

    def measure_decision_gap(
        self, X: Any, y: Any = None, *, sensitive_features: Any = None, sample_weight: Any = None
    ) -> Interval:
        """Gap of the decisions on rows that were held out, also kept as ``decision_gap_["held_out"]``.

        Parameters
        ----------
        X : array-like of shape (n, p)
        y : array-like of shape (n,), optional
            True labels; opportunity and odds need them.
        sensitive_features : array-like of shape (n,) or (n, columns)
            As fit saw them; groups without a row are left out of the comparison, with a warning. Not needed where X has
            the columns of ``sensitive_feature_ids``.
        sample_weight : array-like of shape (n,), optional

        Returns
        -------
        Interval
            The gap of the criterion, with its 95% interval.
        """
        rows, cells = self._compared_rows(X, y, sensitive_features, sample_weight, every_group=False)
        decisions = self._margin(_safe_indexing(X, rows.positions), rows.sensitive.codes) >= 0
        measured = decision_gap(decisions, cells, rows.weight)
        self.decision_gap_ = {**getattr(self, "decision_gap_", {}), "held_out": measured}
        return measured

    def adapted(
        self,
        X: Any,
        y: Any = None,
        *,
        sensitive_features: Any = None,
        sample_weight: Any = None,
        max_decision_gap: float | None = None,
    ) -> Any:
        """A copy of this model whose decisions keep within the gap among the rows passed.

        The scores stay; what is subtracted from them is chosen anew, on these rows in place of the out-of-fold scores.
        Parity needs no labels, so these may be rows whose outcome is not known yet: a larger sample, the people who
        apply now, or a batch that is decided as a whole, within which the gap is then what was asked for. Among other
        rows it is that give or take the sampling of both.

        Parameters
        ----------
        X : array-like of shape (n, p)
            Rows that fit has not seen: on its own rows the scores are too good.
        y : array-like of shape (n,), optional
            True labels; opportunity and odds need them.
        sensitive_features : array-like of shape (n,) or (n, columns)
            As fit saw them: every group, and no other. Not needed where X has the columns of
            ``sensitive_feature_ids``.
        sample_weight : array-like of shape (n,), optional
        max_decision_gap : float, optional
            Another tolerance than that of the model.

        Returns
        -------
        FairKernelClassifier
            Its ``decision_gap_`` holds the gap on these rows, as "adapted". Probabilities keep the calibration of
            fit, by margin, and agree with the new decisions.
        """
        rows, cells = self._compared_rows(X, y, sensitive_features, sample_weight)
        if self.rule_ is None:
            raise ValueError(
                f"adapted() moves the decision rule of max_decision_gap, and this {type(self).__name__} has none: fit "
                "with max_decision_gap, where 1.0 leaves the decisions as they are."
            )
        validate_parameter_constraints(DECISION, {"max_decision_gap": max_decision_gap}, caller_name="adapted")
        tolerance = self.rule_.tolerance if max_decision_gap is None else float(max_decision_gap)
        scores, likeness = self._scores_and_likeness(_safe_indexing(X, rows.positions), rows.sensitive.codes)
        found = copy(self)
        found.max_decision_gap = tolerance
        found.rule_ = moved_rule(self.rule_, scores, likeness, cells, rows.weight, tolerance, aware=self.aware)
        decisions = found.rule_.margin(scores, likeness) >= 0
        found.decision_gap_ = {"adapted": decision_gap(decisions, cells, rows.weight)}
        return found

    def _fit_decisions(self, folds: FoldMoments, tolerance: float) -> None:
        """Choose the rule on out-of-fold scores, then score all rows."""
        rows, cells = folds.rows, self._cells(folds.rows)
        grid = [self.alpha_, *penalties(rows.weight)]
        found = folds.scores(self, [self.n_components], grid, likeness=self._needs_likeness)
        best = 0
        if self.chosen_ is not None:  # tuned: the penalty is chosen once more, on the features the scores are made of
            best = int(found.losses(self.disparity_kept)[0].argmin())
            self.alpha_ = grid[best]
        held_out = found.at(self.disparity_kept)[:, 0, best, 0]
        self._cell_shares = np.asarray(folds.total.attribute_mean)
        if found.likeness is None:
            likeness = self._likeness_of(rows.sensitive.codes, held_out)
        else:
            best = int(found.likeness_losses(cells)[0].argmin())
            self.likeness_alpha_, likeness = grid[best], found.likeness[:, 0, best]
        a = self._fit_scores(rows, folds.total, attributes=self._needs_likeness)
        truth = rows.y == 1
        self.rule_ = rule = choose_rule(
            held_out,
            likeness,
            cells,
            truth,
            rows.weight,
            threshold=self.threshold,
            tolerance=tolerance,
            aware=self.aware,
        )
        margins = {"out_of_fold": rule.margin(held_out, likeness)}
        scores, alike = (folds.phi @ a[:, :1] + self.intercept_)[:, 0], folds.phi @ a[:, 1:]
        if self.aware:
            margins["training"] = rule.margin(scores, self._likeness_of(rows.sensitive.codes, scores))
        else:
            margins["training"] = rule.margin(scores, alike + self.likeness_intercept_)
        self.decision_gap_ = {name: decision_gap(margin >= 0, cells, rows.weight) for name, margin in margins.items()}

    @property
    def _needs_likeness(self) -> bool:
        return self.max_decision_gap is not None and not self.aware

    def _likeness_of(self, codes: np.ndarray, scores: np.ndarray) -> np.ndarray:
        """p(cell | x, s)/π of rows whose group is known: the stratum is left to chance, the group is not."""
        positive = np.clip(scores, 0.0, 1.0)[:, None]
        strata = {"parity": np.ones_like(positive), "opportunity": positive}.get(
            self.criterion, np.hstack([1.0 - positive, positive])
        )
        member = codes[:, None] == np.arange(len(self.groups_))
        return (strata[:, :, None] * member[:, None, :]).reshape(len(codes), -1) / self._cell_shares

    def _codes_to_decide_by(self, X: Any, sensitive_features: Any) -> np.ndarray:
        """Groups of new rows where decisions look at them; empty where they do not."""
        looked_at = self.rule_ is not None and self.aware
        return self._new_groups(X, sensitive_features, _num_samples(X)) if looked_at else np.empty(0, dtype=np.int64)

    def _scores_and_likeness(self, X: Any, codes: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """What the rule is made of, for new rows; only aware decisions look at ``codes``, their groups."""
        checked = self._check_new_rows(X)
        if not self.aware:
            found = self._evaluate(checked, np.hstack([self.coef_, self.likeness_coef_]))
            return found[:, 0] + self.intercept_[0], found[:, 1:] + self.likeness_intercept_
        scores = (self._evaluate(checked, self.coef_) + self.intercept_)[:, 0]
        return scores, self._likeness_of(codes, scores)

    def _margin(self, X: Any, codes: np.ndarray) -> np.ndarray:
        """What two-class decisions compare with zero."""
        if self.rule_ is None:
            return self._scores(X)[:, 0] - self.threshold
        return self.rule_.margin(*self._scores_and_likeness(X, codes))

    def _compared_rows(
        self, X: Any, y: Any, sensitive_features: Any, sample_weight: Any, *, every_group: bool = True
    ) -> tuple[NewRows, Cells]:
        """Rows whose decisions are compared, and their cells."""
        check_is_fitted(self)
        if len(self.classes_) > 2:
            raise ValueError(
                f"the gap is one of yes-or-no decisions, but y had {len(self.classes_)} classes. Fit one class against "
                "the rest."
            )
        given = self._given_or_among(X, sensitive_features)
        labels = None if self.criterion == "parity" else y
        rows = read_new_rows(self, X, labels, given, sample_weight, every_group=every_group)
        return rows, cells_of(self.criterion, rows.sensitive.occurring, rows.outcome, self.classes_, rows.weight)
