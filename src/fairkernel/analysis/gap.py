"""Which rows and which columns carry the difference between two groups' mean scores.

With c_i = w_i / W_a in group a and −w_i / W_b in group b, the gap is cᵀf. Every row's part is c_i (f_i − mean f). If f
is a sum over columns, f = Σ_j f_j(x_j), so is the gap: column j carries cᵀf_j. Otherwise column j carries what the gap
loses when the column is permuted, and what these parts leave over is the columns' interaction.
"""

import warnings
from collections.abc import Callable, Sequence
from functools import wraps
from inspect import signature
from numbers import Integral
from typing import Any

import numpy as np
from sklearn.pipeline import Pipeline
from sklearn.utils import check_random_state

from ..estimators._base import FairKernelEstimator
from ..exceptions import ContinuousSensitiveWarning, MissingSensitiveWarning, warn
from ..sensitive import Sensitive, check_same_index, read_sensitive
from ..validation import check_weight, column_names, refuse_sparse, take_columns, with_cells_of
from ._score import METHODS, score_function
from .gap_explanation import GapExplanation

Evaluate = Callable[[Any], np.ndarray]
ADDITIVE = np.sqrt(np.finfo(float).eps)  # what rounding may leave of a score, once its columns' parts are taken off


def explain_gap(
    model: Any,
    X: Any,
    *,
    sensitive_features: Any = None,
    groups: Sequence | np.ndarray | None = None,
    score: Callable[[Any], Any] | None = None,
    sample_weight: Any = None,
    n_repeats: int = 10,
    random_state: Any = None,
) -> GapExplanation:
    """Which rows and columns carry the gap between two groups' mean scores.

    Rows are exact: their contributions add up to the gap. Columns are exact where the score is a sum of functions of
    one column each on these rows, which is looked at, not assumed (a linear kernel, logistic regression, boosted
    stumps); any other score is explained by permuting one column at a time over all rows, and what the columns do not
    explain one by one is reported as their interaction. A contribution says what the model does with a column, not
    what causes the groups' difference in it.

    Parameters
    ----------
    model : estimator
        Fitted; any scikit-learn estimator.
    X : data frame or array of shape (n, p)
        Rows to explain, training or new.
    sensitive_features : array-like of shape (n,) or (n, columns)
        Groups; continuous attributes form none. Not needed where X has the columns of a model's
        ``sensitive_feature_ids``. Rows without a value are in neither group, if the model's ``missing_sensitive`` lets
        them pass.
    groups : pair of labels, optional
        The gap is the mean score of the first minus that of the second. By default the two groups whose means differ
        most, the higher mean first.
    score : callable, optional
        A function of X that returns one number per row. By default ``decision_function``, ``predict_proba`` of the
        second class or ``predict``: the first that the model has. One that takes ``sensitive_features`` is given them;
        they stay with their rows while columns are exchanged, and what they add to the gap is interaction. Where a
        pipeline hides that: ``lambda X: pipeline.predict(X, sensitive_features=s)``.
    sample_weight : array-like of shape (n,), optional
        2 is the row twice, 0 the row absent.
    n_repeats : int, default=10
        Permutations per column, at least 2; not used where columns are exact.
    random_state : int, RandomState instance or None, default=None

    Returns
    -------
    GapExplanation

    Examples
    --------
    >>> import fairkernel
    >>> from fairkernel.datasets import make_two_groups
    >>> data = make_two_groups(n_samples=400, random_state=0)
    >>> model = fairkernel.FairKernelClassifier(kernel="linear", disparity_kept=1, random_state=0)
    >>> model = model.fit(data.data, data.target, sensitive_features=data.sensitive_features)
    >>> explain_gap(model, data.data, sensitive_features=data.sensitive_features)
    mean decision_function of 'b' (0.0889) − of 'a' (-0.00595) = 0.0948, by column (exact):
      x0  +0.059
      x1  +0.0343
      x3  +0.00177
      x4  -0.000239
      x2  +3.55e-05
    """
    X = _read_rows(model, X)
    _check_repeats(n_repeats)
    if sensitive_features is None:
        sensitive_features = _named_columns(model, X)
    own = _with_groups(model, sensitive_features) if score is None else None
    evaluate, name = score_function(model, score or own)
    last = model.steps[-1][1] if isinstance(model, Pipeline) else model
    sensitive = _read_groups(sensitive_features, X, getattr(last, "missing_sensitive", "error"))
    check_same_index(X, sample_weight, "sample_weight")
    weight = check_weight(sample_weight, X)
    scores = evaluate(X)
    a, b = _pair(sensitive, weight, scores, groups)
    in_a, in_b = weight * (sensitive.codes == a), weight * (sensitive.codes == b)
    contrast = in_a / in_a.sum() - in_b / in_b.sum()
    gap = float(contrast @ scores)

    effects = _effects_of_columns(evaluate, X, scores, np.flatnonzero(weight))
    if effects is not None:
        parts, errors = contrast @ effects, np.zeros(effects.shape[1])
    else:
        parts, errors = _drops(evaluate, X, weight, contrast, gap, n_repeats, check_random_state(random_state))
    order = np.argsort(-np.abs(parts), kind="stable")
    names = np.array(_names(model, X), dtype=object)
    return GapExplanation(
        gap=gap,
        groups=(sensitive.groups[a], sensitive.groups[b]),
        means=(float(scores @ in_a / in_a.sum()), float(scores @ in_b / in_b.sum())),
        columns={"name": names[order], "contribution": parts[order], "standard_error": errors[order]},
        rows={
            "group": _labels(sensitive),
            "score": scores,
            "coefficient": contrast,
            "contribution": contrast * (scores - np.average(scores, weights=in_a + in_b)),
        },
        interaction=gap - float(parts.sum()),
        exact=effects is not None,
        score_name=name,
    )


# What is read -----------------------------------------------------------------------------------------------------


def _read_rows(model: Any, X: Any) -> Any:
    refuse_sparse(X)
    if column_names(X) is None:
        X = np.asarray(X)
        if X.dtype.kind == "f":  # in float32 rounding would hide that a score is a sum over columns
            X = X.astype(np.float64)
    if len(np.shape(X)) != 2:
        raise ValueError(f"X must be a table of shape (n, p); got shape {np.shape(X)}.")
    tags = getattr(model, "__sklearn_tags__", None)
    if tags is not None and tags().input_tags.pairwise:
        raise ValueError(
            "X is a Gram matrix for this model (kernel='precomputed'): its columns are training rows, which explain "
            "nothing. Fit a kernel that takes the columns themselves."
        )
    return X


def _check_repeats(n_repeats: Any) -> None:
    if not isinstance(n_repeats, Integral) or n_repeats < 2:
        raise ValueError(f"n_repeats must be an integer of at least 2; got {n_repeats!r}.")


def _named_columns(model: Any, X: Any) -> Any:
    """The columns of X that the model takes for the groups, or None."""
    if not isinstance(model, FairKernelEstimator) or model.sensitive_feature_ids is None:
        return None
    return take_columns(X, model.sensitive_feature_ids, required=False)[1] if model._has_sensitive_columns(X) else None


def _with_groups(model: Any, sensitive_features: Any) -> Callable[[Any], Any] | None:
    """The model's own score as a function of X alone, where it takes groups too; None where it does not."""
    method = next((getattr(model, name) for name in METHODS if hasattr(model, name)), None)
    if method is None or "sensitive_features" not in signature(method).parameters or not getattr(model, "aware", True):
        return None

    @wraps(method)
    def score(X: Any) -> Any:
        return method(X, sensitive_features=sensitive_features)

    return score


def _read_groups(sensitive_features: Any, X: Any, missing: str) -> Sensitive:
    if sensitive_features is None:
        raise TypeError(
            "sensitive_features is missing: pass one value per row, as explain_gap(model, X, sensitive_features=s), or "
            "an X with the columns of the model's sensitive_feature_ids."
        )
    with warnings.catch_warnings():
        # Continuous columns are refused below, and rows without a group count for no loss here: what is said of either
        # at fit would mislead.
        warnings.simplefilter("ignore", ContinuousSensitiveWarning)
        warnings.simplefilter("ignore", MissingSensitiveWarning)
        sensitive = read_sensitive(
            sensitive_features,
            n_rows=len(X),
            missing=missing,
            rows_like=X,
            way_out="Leave these rows out, give them a label of their own, such as 'missing', or explain a model of "
            "this library with missing_sensitive='group' or 'ignore'.",
        )
    if sensitive.numeric_names:
        raise ValueError(
            f"sensitive_features: column {sensitive.numeric_names[0]!r} is continuous and forms no groups, so there is "
            "no gap between groups to explain. Bin the column, or pass strings."
        )
    if gaps := int((~sensitive.known).sum()):
        warn(
            f"sensitive_features is missing in {gaps} of {len(X)} rows: they count for neither of the two groups.",
            MissingSensitiveWarning,
        )
    return sensitive


def _pair(sensitive: Sensitive, weight: np.ndarray, scores: np.ndarray, groups: Any) -> tuple[int, int]:
    """Numbers of the two groups that are compared."""
    codes, weight, scores = (values[sensitive.known] for values in (sensitive.codes, weight, scores))
    total = np.bincount(codes, weights=weight, minlength=len(sensitive.groups))
    for label, present in zip(sensitive.groups, total, strict=True):
        if not present:
            raise ValueError(f"sensitive_features: every row of group {label!r} has zero weight; leave it out.")
    if groups is None:
        means = np.bincount(codes, weights=weight * scores) / total
        order = np.argsort(means, kind="stable")
        return int(order[-1]), int(order[0])
    pair = groups.tolist() if hasattr(groups, "tolist") else groups
    # An intersection is a tuple, and a list in an array's place.
    pair = [tuple(label) if isinstance(label, list) else label for label in pair] if _is_sequence(pair) else [pair]
    if len(pair) != 2 or pair[0] == pair[1] or not all(label in sensitive.groups for label in pair):
        raise ValueError(
            f"groups={groups!r} must be two different labels out of {', '.join(map(repr, sensitive.groups))}."
        )
    return sensitive.groups.index(pair[0]), sensitive.groups.index(pair[1])


def _is_sequence(values: Any) -> bool:
    return isinstance(values, Sequence) and not isinstance(values, str)


def _names(model: Any, X: Any) -> list[str]:
    names = column_names(X)
    if names is None:
        names = [str(name) for name in getattr(model, "feature_names_in_", ())]
    return names if len(names) == np.shape(X)[1] else [f"x{j}" for j in range(np.shape(X)[1])]


def _labels(sensitive: Sensitive) -> np.ndarray:
    """Label of each row, None where it has no group; labels may be tuples, which an array would take apart."""
    labels = np.empty(len(sensitive.groups) + 1, dtype=object)  # the last is that of code −1
    for number, label in enumerate(sensitive.groups):
        labels[number] = label
    return labels[sensitive.codes]


# The columns' parts -----------------------------------------------------------------------------------------------


def _effects_of_columns(evaluate: Evaluate, X: Any, scores: np.ndarray, present: np.ndarray) -> np.ndarray | None:
    """f_j(x_ij) − f_j(x_1j), shape (n, p), of a score that is a sum over columns; None if it is not one on these rows.

    Column j's effect shows with all other columns held at those of the first row present. A row that exists serves
    text columns too, and no model is asked about cells it cannot read.
    """
    n, p = np.shape(X)
    first = np.full(n, present[0])
    effects = np.column_stack(
        [evaluate(with_cells_of(X, first, [i for i in range(p) if i != j])) - scores[present[0]] for j in range(p)]
    )
    left = np.abs(scores - scores[present[0]] - effects.sum(axis=1))
    # Rows whose columns are all alike score alike, unless the score also depends on groups that stay with the rows.
    left += np.abs(evaluate(with_cells_of(X, first, range(p))) - scores[present[0]])
    largest = np.abs(effects[present]).sum(axis=1).max()
    return effects if left[present].max() <= ADDITIVE * largest else None


def _drops(
    evaluate: Evaluate,
    X: Any,
    weight: np.ndarray,
    contrast: np.ndarray,
    gap: float,
    n_repeats: int,
    rng: np.random.RandomState,
) -> tuple[np.ndarray, np.ndarray]:
    """What the gap loses when a column is permuted over all rows: mean and standard error over repeats."""
    drops = np.array(
        [
            [gap - contrast @ evaluate(with_cells_of(X, _donors(weight, rng), [j])) for _ in range(n_repeats)]
            for j in range(np.shape(X)[1])
        ]
    )
    return drops.mean(axis=1), drops.std(axis=1, ddof=1) / np.sqrt(n_repeats)


def _donors(weight: np.ndarray, rng: np.random.RandomState) -> np.ndarray:
    """The row that each row reads from: any row as often as its weight says, so a permutation where all are equal."""
    present = np.flatnonzero(weight)
    ends = np.cumsum(weight[present])
    points = (np.arange(len(present)) + rng.random_sample()) * (ends[-1] / len(present))
    donors = np.arange(len(weight))
    donors[present] = present[rng.permutation(np.searchsorted(ends[:-1], points, side="right"))]
    return donors
