"""One dictionary of plain values: errors and disparities beside a constant prediction and chance alone."""

from typing import Any

import numpy as np
from sklearn.utils.multiclass import type_of_target

from ._inputs import (
    check_rows_match,
    effective_size,
    group_scores,
    read_class_rows,
    read_column,
    read_numbers,
    read_weight,
    require_sensitive,
)
from ._sections import figures, names_of, pairs_section, plain, score_section, size_notes, text
from .counts import GroupCounts
from .uncertainty.bootstrap import Bootstrap
from .uncertainty.intervals import RATES, check_level, rate_difference_interval, rate_differences, share_interval
from .uncertainty.noise_floor import parity_noise_floor


def fairness_report(
    y_true: Any,
    y_pred: Any,
    *,
    sensitive_features: Any,
    y_score: Any = None,
    sample_weight: Any = None,
    pos_label: Any = None,
    task: str = "auto",
    level: float = 0.95,
    n_resamples: int = 200,
    random_state: Any = 0,
) -> dict:
    """Errors and disparities of one prediction, beside the constant prediction and the noise of exact parity.

    Parameters
    ----------
    y_true : array-like of shape (n,)
        Two class labels, or numbers.
    y_pred : array-like of shape (n,)
        Predicted labels, or numbers.
    sensitive_features : array-like of shape (n,) or (n, columns)
        Groups.
    y_score : array-like of shape (n,), optional
        Scores behind predicted labels; adds their mean and distribution disparities.
    sample_weight : array-like of shape (n,), optional
    pos_label : label, optional
        Default: the larger of the two labels, as in `statistical_disparity`.
    task : {"auto", "classification", "regression"}
        "auto" takes two distinct values of `y_true` for classes and fractional numbers for regression, and
        refuses whatever lies between.
    level : float
        Level of every interval; those of pairs of groups hold simultaneously.
    n_resamples, random_state : int
        Of the bootstrap behind the distribution disparities.

    Returns
    -------
    dict
        Strings, numbers, booleans, None, lists and dictionaries only, ready for ``json.dumps``. Intervals are
        ``{"estimate", "low", "high"}``. What is not defined is None, with the reason under ``"undefined"``;
        ``"notes"`` says in sentences what stands out.

        Both tasks: task, level, n_rows, weight, n_effective, groups (one dictionary each), pairs,
        distinguishable_from_parity, constant, undefined, notes. Classification: positive_label,
        negative_label, error, positive_rate, statistical_disparity, opportunity_difference, odds_difference,
        noise_floor and, with `y_score`, scores. Regression: r2, rmse, mean_disparity, ks, w1,
        target_mean_disparity.

    Examples
    --------
    >>> report = fairness_report([1, 0, 1, 0] * 20, [1, 0, 0, 0] * 20, sensitive_features=["a", "b"] * 40)
    >>> report["statistical_disparity"]["estimate"], report["error"]["estimate"], report["constant"]["error"]
    (0.5, 0.25, 0.5)
    >>> report["undefined"]["opportunity_difference"]
    "group 'b' has no rows of class 1 in y_true: its true positive rate is not defined. ..."
    """
    require_sensitive(sensitive_features)
    if y_true is None:
        raise TypeError(
            "y_true is missing: a report compares errors and disparities. Without it use statistical_disparity."
        )
    check_level(level)
    bootstrap = Bootstrap(level, n_resamples, random_state)
    if _settle_task(task, y_true) == "regression":
        if y_score is not None or pos_label is not None:
            raise ValueError("y_score and pos_label belong to classification; in regression pass y_pred only.")
        return _regression(y_true, y_pred, sensitive_features, sample_weight, bootstrap)
    rows = read_class_rows(y_true, y_pred, sensitive_features, sample_weight, pos_label)
    report = _classification(GroupCounts.from_rows(rows), level)
    if y_score is not None:
        check_rows_match(y_score, read_numbers(y_score, "y_score"), "y_score", y_pred, read_column(y_pred, "y_pred"))
        scores = group_scores(y_true, y_score, sensitive_features, sample_weight)
        report["scores"] = score_section(scores, bootstrap, report["undefined"])
    return report | {"notes": _class_notes(report)}


def _settle_task(task, y_true):
    if task in ("classification", "regression"):
        return task
    if task != "auto":
        raise ValueError(f"task must be 'auto', 'classification' or 'regression'; got {task!r}.")
    kind = type_of_target(read_column(y_true, "y_true"))
    if kind not in ("binary", "continuous"):
        n_values = len(np.unique(read_column(y_true, "y_true")))
        raise ValueError(
            f"y_true has {n_values} distinct whole or text values, neither two classes nor fractional "
            "numbers: pass task='regression' if they are amounts, or compare one class with the rest, "
            "as y == label."
        )
    return "classification" if kind == "binary" else "regression"


def _classification(counts: GroupCounts, level: float) -> dict:
    pooled = counts.pooled()
    error, rate, base = (float(pooled.rates(kind)[0]) for kind in ("error", "positive", "base"))
    n_effective = float(pooled.effective_sizes()[0])
    disparity = rate_difference_interval(counts, RATES["statistical_disparity"], level)
    sizes = counts.effective_sizes()
    floor = {
        "expected": parity_noise_floor(sizes, rate),
        "quantile": parity_noise_floor(sizes, rate, quantile=level),
        "level": level,
        "positive_rate": rate,
    }
    undefined: dict[str, str] = {}
    return {
        "task": "classification",
        "level": level,
        "n_rows": int(counts.rows.sum()),
        "weight": float(counts.weight.sum()),
        "n_effective": n_effective,
        "positive_label": text(counts.labels[1]),
        "negative_label": None if counts.labels[0] is None else text(counts.labels[0]),
        "groups": _class_groups(counts, level),
        "error": plain(share_interval(error, n_effective, level)),
        "positive_rate": plain(share_interval(rate, n_effective, level)),
        "statistical_disparity": plain(disparity),
        "pairs": pairs_section(counts.groups, counts.rates("positive"), *rate_differences(counts, "positive", level)),
        "opportunity_difference": _class_difference(counts, "opportunity_difference", level, undefined),
        "odds_difference": _class_difference(counts, "odds_difference", level, undefined),
        "undefined": undefined,
        "noise_floor": floor,
        "distinguishable_from_parity": disparity.estimate > floor["quantile"],
        "constant": {
            "prediction": text(counts.labels[1] if base >= 0.5 else counts.labels[0]),
            "error": min(base, 1 - base),
            "statistical_disparity": 0.0,
            "positive_rate": float(base >= 0.5),
        },
    }


def _class_groups(counts: GroupCounts, level: float) -> list[dict]:
    sizes = counts.effective_sizes()
    rates = {kind: counts.rates(kind) for kind in ("base", "positive", "error")}
    within = {kind: _rate_where_defined(counts, kind) for kind in ("true_positive", "false_positive")}
    return [
        {
            "group": name,
            "n_rows": int(counts.rows[g].sum()),
            "weight": float(counts.weight[g].sum()),
            "n_effective": float(sizes[g]),
            "base_rate": float(rates["base"][g]),
            "positive_rate": plain(share_interval(float(rates["positive"][g]), sizes[g], level)),
            "error": plain(share_interval(float(rates["error"][g]), sizes[g], level)),
            "true_positive_rate": within["true_positive"][g],
            "false_positive_rate": within["false_positive"][g],
        }
        for g, name in enumerate(names_of(counts.groups))
    ]


def _rate_where_defined(counts: GroupCounts, kind: str) -> list[float | None]:
    truth = int(kind == "true_positive")
    total = counts.weight[:, truth, :].sum(1)
    return [
        float(hit / all_) if all_ > 0 else None for hit, all_ in zip(counts.weight[:, truth, 1], total, strict=True)
    ]


def _class_difference(counts, name, level, undefined):
    try:
        return plain(rate_difference_interval(counts, RATES[name], level))
    except ValueError as reason:
        undefined[name] = str(reason)
        return None


def _class_notes(report: dict) -> list[str]:
    found, floor, constant = report["statistical_disparity"], report["noise_floor"], report["constant"]
    measured = f"The measured statistical disparity is {figures(found, report['level'])}"
    bound = (
        f"{floor['quantile']:.4f}, which exact parity at these group sizes stays below "
        f"with probability {floor['level']:.0%}"
    )
    if report["positive_rate"]["estimate"] in (0.0, 1.0):
        notes = ["All rows receive the same prediction: the disparity is zero because nothing is distinguished."]
    elif report["distinguishable_from_parity"]:
        notes = [f"{measured}, more than {bound}."]
    else:
        notes = [f"{measured}, not more than {bound}: these rows cannot tell it from parity, nor show parity."]
    if report["error"]["high"] >= constant["error"]:
        notes.append(
            f"The error, {figures(report['error'], report['level'])}, is not distinguishably below the "
            f"{constant['error']:.4f} of predicting {constant['prediction']} for everyone, "
            "which has no disparity."
        )
    notes += [f"{name.replace('_', ' ')} is left out: {reason}" for name, reason in report["undefined"].items()]
    return notes + size_notes(report)


def _regression(y_true: Any, y_pred: Any, sensitive_features: Any, sample_weight: Any, bootstrap: Bootstrap) -> dict:
    rows = group_scores(y_true, y_pred, sensitive_features, sample_weight)
    weight = read_weight(sample_weight, len(read_column(y_pred, "y_pred")), y_pred)
    target = read_numbers(y_true, "y_true")[weight > 0]
    codes, n_groups = rows.sensitive.codes, len(rows.sensitive.groups)
    total = np.bincount(codes, rows.weight, n_groups)
    target_means = np.bincount(codes, rows.weight * target, n_groups) / total
    group_mse = np.bincount(codes, rows.weight * (target - rows.values) ** 2, n_groups) / total
    constant = float(np.average(target, weights=rows.weight))
    mse = float(np.average((target - rows.values) ** 2, weights=rows.weight))
    variance = float(np.average((target - constant) ** 2, weights=rows.weight))
    undefined: dict[str, str] = {}
    scores = score_section(rows, bootstrap, undefined)
    if np.ptp(target) == 0:
        undefined["r2"] = "y_true is constant: there is no variance to explain."
    groups = [
        found | {"mean_target": float(target_means[g]), "rmse": float(np.sqrt(group_mse[g]))}
        for g, found in enumerate(scores.pop("groups"))
    ]
    report = {
        "task": "regression",
        "level": bootstrap.level,
        "n_rows": len(rows.values),
        "weight": float(rows.weight.sum()),
        "n_effective": effective_size(rows.weight),
        "groups": groups,
        "r2": None if "r2" in undefined else 1 - mse / variance,
        "rmse": float(np.sqrt(mse)),
        **scores,
        "target_mean_disparity": float(np.ptp(target_means)),
        "undefined": undefined,
        "constant": {
            "prediction": constant,
            "r2": 0.0,
            "rmse": float(np.sqrt(variance)),
            "mean_disparity": 0.0,
        },
    }
    return report | {"notes": _regression_notes(report)}


def _regression_notes(report: dict) -> list[str]:
    found, constant = report["mean_disparity"], report["constant"]
    notes = [f"The measured mean disparity is {figures(found, report['level'])}, in the unit of the prediction."]
    if report["distinguishable_from_parity"] is False:
        notes.append(
            "The interval reaches zero: these rows cannot tell the mean predictions from equal ones, "
            "nor show that they are equal."
        )
    if report["rmse"] >= constant["rmse"]:
        notes.append(
            f"The error (RMSE {report['rmse']:.4g}) is not below the {constant['rmse']:.4g} of predicting "
            f"{constant['prediction']:.4g} for everyone, which has no disparity."
        )
    notes += [f"{name} is left out: {reason}" for name, reason in report["undefined"].items()]
    return notes + size_notes(report)
