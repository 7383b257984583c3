"""The whole trade-off from one feature pass: every penalty, level and tolerance, scored out of fold."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from numbers import Real
from typing import Any

import numpy as np
from sklearn.base import clone, is_classifier
from sklearn.model_selection import PredefinedSplit
from sklearn.pipeline import Pipeline
from sklearn.utils import _safe_indexing
from sklearn.utils.validation import _num_samples

from ..estimators._ridge import FairKernelRidge
from ..estimators.out_of_fold import FoldMoments
from ..sensitive import check_same_index
from ..validation import check_weight
from ._frontier_others import named_others, other_rows
from ._frontier_rows import OURS, decision_rows, score_rows
from ._frontier_shown import in_words
from .frontier_result import Frontier

LEVELS = tuple(np.linspace(0.0, 1.0, 11).tolist())
NONE = -1  # the kernel of rows that have none
TOLERANCES = 40  # from none to the gap of the plain decisions
AROUND = (0.1, 0.3, 1.0, 3.0, 10.0)  # times the estimator's own penalty


def frontier(
    estimator: FairKernelRidge | Pipeline,
    X: Any,
    y: Any,
    *,
    sensitive_features: Any = None,
    sample_weight: Any = None,
    cv: Any = 5,
    alphas: Sequence[float] | float | None = None,
    disparity_kept: Sequence[float] | float | None = None,
    distribution_parity: Sequence[float] | float | None = None,
    max_decision_gap: Sequence[float | None] | float | None = None,
    thresholds: Sequence[float] | float | None = None,
    kernels: Sequence[Any] | None = None,
    others: Any = (),
) -> Frontier:
    """Error against disparity of every setting, out of fold, from one factorisation per fold.

    The feature map is built once (and, with ``kernel="auto"``, tuned once); folds are subtracted from the moments.
    Every figure is of rows that the scores were not fitted to, but choosing among many settings by these figures
    flatters the one that is chosen: measure it again on rows kept apart.

    Parameters
    ----------
    estimator : FairKernelClassifier or FairKernelRegressor
        Supplies the kernel, the criterion and whether groups are known when it is used (``aware``). It is not changed.
        Or a pipeline that ends in one: its earlier steps are fitted once, without y and weights, on ALL rows passed
        (of positive weight), so that the held-out rows are not quite unseen by them; ``best`` and ``refit`` return a
        pipeline.
    X : array-like of shape (n, p)
    y : array-like of shape (n,)
        Two classes, or numbers.
    sensitive_features : array-like of shape (n,) or (n, columns)
    sample_weight : array-like of shape (n,), optional
    cv : int or cross-validation splitter, default=5
        The folds are dealt out once: every kernel, and every one of the others, is held to the same ones.
    alphas : float or sequence of float, optional
        Ridge penalties; by default five around the estimator's (with ``kernel="auto"``, around the tuned one).
    disparity_kept : float or sequence of float, optional
        Levels of the scores' disparity. By default 0, 0.1, …, 1 with plain decisions and for a regressor that does not
        know the groups, 1 (unconstrained scores) with tolerances, and 0 and 1 with ``distribution_parity``.
    distribution_parity : float or sequence of float, optional
        How far the scores of each group are moved to the groups' barycentre, regressors with ``aware=True`` only; by
        default 0, 0.1, …, 1. Each half of the rows is moved as the other half's out-of-fold scores say.
    max_decision_gap : float or sequence of float or None, optional
        Tolerances on the gap of decisions, classifiers only; None stands for the plain threshold. By default None and
        40 values from 0 to the gap of the plain decisions. An empty sequence is the same as (None,).
    thresholds : float or sequence of float, optional
        Thresholds of the scores, classifiers only; by default the estimator's. Higher ones say yes less often, which
        leaves less room for a disparity.
    kernels : sequence, optional
        Kernels to trace, each named or given as ``kernel`` of the estimator is; by default the estimator's. A column
        of the table numbers them.
    others : estimator, sequence of estimator or of (name, estimator), or dict of str to estimator
        Any scikit-learn classifiers (regressors), fitted on the same folds for comparison, a row each. What takes
        ``sensitive_features`` is given them (in a pipeline, whichever steps do), and is marked aware where its
        predictions depend on them. With ``sample_weight``, all of them must take it. Columns of X that are the
        estimator's ``sensitive_feature_ids`` come as ``sensitive_features``. Where the estimator is a pipeline, they
        get X as it was passed.

    Returns
    -------
    Frontier

    Examples
    --------
    >>> from fairkernel import FairKernelClassifier, frontier
    >>> from fairkernel.datasets import make_two_groups
    >>> data = make_two_groups(600, random_state=0)
    >>> found = frontier(
    ...     FairKernelClassifier(random_state=0),
    ...     data.data,
    ...     data.target,
    ...     sensitive_features=data.sensitive_features,
    ...     alphas=[1.0],
    ...     max_decision_gap=[0.05, 0.1],
    ... )
    >>> len(found), found.best(max_disparity=0.11).max_decision_gap
    (3, 0.1)
    """
    given = {"sensitive_features": sensitive_features, "sample_weight": sample_weight}
    last = estimator.steps[-1][1] if isinstance(estimator, Pipeline) else estimator
    grid = _Grid.of(
        last,
        alphas,
        disparity_kept=disparity_kept,
        distribution_parity=distribution_parity,
        max_decision_gap=max_decision_gap,
        thresholds=thresholds,
    )
    weighted = sample_weight is not None
    compared_with = named_others(others, is_classifier(last), weighted)
    steps, prepared = _prepared(estimator, X, y, sensitive_features, sample_weight)
    tables: list[dict[str, np.ndarray]] = []
    models: list[FairKernelRidge] = []
    for kernel in [last.kernel] if kernels is None else _some(kernels):
        folds = FoldMoments.of(clone(grid.model).set_params(kernel=kernel), prepared, y, cv=cv, **given)
        _refuse_unclear(folds)
        fold = np.full(folds.rows.n_passed, -1)
        fold[folds.rows.positions] = folds.fold
        cv = PredefinedSplit(fold)  # a splitter that shuffles would deal every kernel other folds
        table = grid.rows(folds)
        tables.append({"kernel": np.where(table["model"] == OURS, len(models), NONE), **table})
        models.append(folds.model)
    # The constant's row, which comes last, is that of the last kernel.
    parts = [{name: column[:-1] for name, column in table.items()} for table in tables[:-1]] + tables[-1:]
    if compared_with:
        compared = other_rows(compared_with, X, y, sensitive_features, weighted, folds)
        parts.append({"kernel": np.full(len(compared["model"]), NONE), **compared})
    table = {name: np.concatenate([part[name] for part in parts]) for name in ("model", *parts[0])}
    task, words = "classification" if is_classifier(last) else "regression", in_words(folds.model, folds.rows)
    return Frontier(table, task, last, tuple(models), (prepared, y, given), words, steps)


def _prepared(
    estimator: Any, X: Any, y: Any, sensitive_features: Any, sample_weight: Any
) -> tuple[tuple[tuple[str, Any], ...], Any]:
    """The steps of a pipeline, all but the last fitted, and the rows they make; of a bare estimator, none and X."""
    if not isinstance(estimator, Pipeline):
        return (), X
    for name, values in (("y", y), ("sensitive_features", sensitive_features)):
        check_same_index(X, values, name)  # the rows made of X may have no index
    before = clone(estimator)[:-1]
    present = np.flatnonzero(check_weight(sample_weight, np.empty((_num_samples(X), 0))))
    rows = before.fit(_safe_indexing(X, present)).transform(X) if len(before) else X
    return (*before.steps, estimator.steps[-1]), rows


@dataclass(frozen=True)
class _Grid:
    """What is traced for each kernel.

    Parameters
    ----------
    model : FairKernelClassifier or FairKernelRegressor
        With a setting of the grid, so that its own checks speak of what would be refitted.
    alphas : tuple of float or None
    levels, rule_levels : tuple of float
        Of ``disparity_kept``: with plain decisions or moved scores, and with tolerances.
    moves, thresholds : tuple of float
    tolerances : tuple of float or None, or int
    """

    model: FairKernelRidge
    alphas: tuple[float, ...] | None
    levels: tuple[float, ...]
    rule_levels: tuple[float, ...] = ()
    moves: tuple[float, ...] = ()
    thresholds: tuple[float, ...] = ()
    tolerances: Any = (None,)

    @classmethod
    def of(cls, estimator: Any, alphas: Any, **asked: Any) -> "_Grid":
        if not isinstance(estimator, FairKernelRidge) or "disparity_kept" not in estimator.get_params():
            raise TypeError(
                f"estimator must be a FairKernelClassifier or FairKernelRegressor, got {type(estimator).__name__}; "
                "other estimators go into others=[...]."
            )
        make = cls._of_decisions if is_classifier(estimator) else cls._of_scores
        penalties = None if alphas is None else _checked("alphas", alphas, 0.0, np.inf)
        grids = {name: None if values is None else _listed(values) for name, values in asked.items()}
        return make(estimator, penalties, **grids)

    @classmethod
    def _of_decisions(
        cls,
        estimator: Any,
        alphas: tuple[float, ...] | None,
        *,
        disparity_kept: Any,
        distribution_parity: Any,
        max_decision_gap: Any,
        thresholds: Any,
    ) -> "_Grid":
        if distribution_parity is not None:
            raise ValueError(
                "distribution_parity moves the scores of a regressor; what a classifier decides is levelled by "
                "max_decision_gap. Leave it out."
            )
        tolerances = _tolerances(max_decision_gap)
        thresholds = _checked("thresholds", estimator.threshold if thresholds is None else thresholds, 0.0, 1.0)
        levels, rule_levels = _levels(estimator, disparity_kept, LEVELS), _levels(estimator, disparity_kept, (1.0,))
        plain = {"max_decision_gap": None, "aware": False}
        options = plain if tolerances == (None,) else {"max_decision_gap": 1.0}
        for threshold in (thresholds[0], thresholds[-1]):  # the ends are left out, as the estimator says
            model = clone(estimator).set_params(threshold=threshold, disparity_kept=rule_levels[-1], **options)
            model._validate_params()
        return cls(model, alphas, levels, rule_levels, (), thresholds, tolerances)

    @classmethod
    def _of_scores(
        cls,
        estimator: Any,
        alphas: tuple[float, ...] | None,
        *,
        disparity_kept: Any,
        distribution_parity: Any,
        **decisions: Any,
    ) -> "_Grid":
        for name in (name for name, value in decisions.items() if value is not None):
            raise ValueError(f"{name} is about decisions, but a regressor makes none; leave it out.")
        if distribution_parity is not None and not estimator.aware:
            raise ValueError(
                "distribution_parity moves each group's scores, which needs the groups of new rows, but the estimator "
                "has aware=False: trace FairKernelRegressor(aware=True), or leave it out."
            )
        moves: tuple[float, ...] = ()
        if estimator.aware:
            asked = LEVELS if distribution_parity is None else distribution_parity
            moves = _checked("distribution_parity", asked, 0.0, 1.0)
        levels = _levels(estimator, disparity_kept, (0.0, 1.0) if moves else LEVELS)
        model = clone(estimator).set_params(disparity_kept=levels[-1])
        model._validate_params()
        model._refuse_conflicts_of_distributions()
        return cls(model, alphas, levels, moves=moves)

    def rows(self, folds: FoldMoments) -> dict[str, np.ndarray]:
        """The table of one kernel."""
        alphas = self.alphas or tuple(float(folds.model.alpha_ * factor) for factor in AROUND)
        if is_classifier(self.model):
            return decision_rows(folds, alphas, self.thresholds, self.levels, self.rule_levels, self.tolerances)
        return score_rows(folds, alphas, self.levels, self.moves)


def _some(kernels: Sequence[Any]) -> list:
    if isinstance(kernels, str) or not isinstance(kernels, Iterable) or not len(found := list(kernels)):
        raise ValueError(f"kernels must be a sequence of kernels, at least one; got {kernels!r}.")
    return found


def _levels(estimator: FairKernelRidge, disparity_kept: Any, otherwise: tuple[float, ...]) -> tuple[float, ...]:
    if disparity_kept is None and estimator.objective == "printed":
        return (0.0,)  # its features keep the gap they have: there is no other level
    return _checked("disparity_kept", otherwise if disparity_kept is None else disparity_kept, 0.0, 1.0)


def _tolerances(max_decision_gap: Any) -> Any:
    """The tolerances, (None,) where there are none, or how many are to be spread over the plain gap."""
    if max_decision_gap is None:
        return TOLERANCES
    given = _listed(max_decision_gap) or [None]
    numbers = _checked("max_decision_gap", [t for t in given if t is not None], 0.0, 1.0, empty=True)
    return ((None,) if None in given else ()) + numbers


def _checked(name: str, values: Any, low: float, high: float, *, empty: bool = False) -> tuple[float, ...]:
    """Finite numbers within bounds, ascending."""
    listed = _listed(values)
    numbers = [float(value) for value in listed if isinstance(value, Real)]
    within = [number for number in numbers if low <= number <= high and np.isfinite(number)]
    if len(within) < len(listed) or not (listed or empty):
        raise ValueError(f"{name} must be a sequence of numbers from {low:g} to {high:g}, or one; got {values!r}.")
    return tuple(sorted(set(within)))


def _listed(values: Any) -> list:
    """A sequence as a list; a single value is as good as a sequence of one."""
    if isinstance(values, np.ndarray):
        return values.reshape(-1).tolist()
    return list(values) if isinstance(values, Iterable) and not isinstance(values, str) else [values]


def _refuse_unclear(folds: FoldMoments) -> None:
    """Rows that the grid cannot be traced on, or the settings not be refitted to."""
    model, rows = folds.model, folds.rows
    if is_classifier(model):
        if len(rows.classes) > 2:
            raise ValueError(
                f"a frontier is of yes-or-no decisions, but y has {len(rows.classes)} classes: compare one class "
                "with the rest, as y == label."
            )
        model._refuse_undecidable(rows)
        return
    if folds.targets.shape[1] > 1:
        raise ValueError(f"a frontier is of one target, but y has {folds.targets.shape[1]}: pass one column of y.")
    if model.aware and rows.sensitive.numeric_names:
        raise ValueError(
            f"sensitive_features: column {rows.sensitive.numeric_names[0]!r} is numeric with many distinct values, "
            "and aware=True moves the scores of groups. Bin the column, or use aware=False."
        )
