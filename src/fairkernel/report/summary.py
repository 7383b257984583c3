"""Trials over repeated splits → one row per method, with intervals, and what the rows say in two sentences."""

from collections import Counter
from collections.abc import Sequence

import numpy as np

from ..metrics import mean_over_splits

MEASURES = ("statistical_disparity", "error", "positive_rate")
NOTES = (
    "Each number is the mean over {n_splits} stratified splits ({n_train} training, {n_test} test rows).",
    "[low, high]: {level:.0%} corrected resampled t interval (Nadeau and Bengio, 2003), "
    "mean ± t·s·√(1/{n_splits} + {n_test}/{n_train}). The splits share rows, so s/√{n_splits} would be too narrow. "
    "No interval: the same value in every split (stratification fixes the base rates).",
    "SD: largest difference of positive rates between groups, an absolute value, so never below 0.",
    "floor: the SD expected by chance if the groups' rates were exactly equal, at the row's positive rate and "
    "the group sizes of a test set. *: the interval of SD reaches the floor, so this SD cannot be told from chance.",
)


def summarise(trials: Sequence[dict], *, n_train: int, n_test: int, level: float = 0.95) -> dict:
    """One row per method, in the order of the trials.

    Parameters
    ----------
    trials : sequence of dict
        With ``split``, ``method``, ``family``, ``disparity_kept``, the three measures, ``noise_floor`` and
        ``group_positive_rates``.
    n_train, n_test : int
        Rows of a split.
    level : float
        Level of the intervals.

    Returns
    -------
    dict
        ``rows``, ``notes`` (what the columns mean), ``level``, ``n_splits``, ``n_train`` and ``n_test``; plain
        values only. ``beside_floor`` is "above", "within" (the interval of the disparity reaches the noise
        floor) or "constant" (every row of every split got the same label).

    Examples
    --------
    >>> trial = {"method": "m", "family": "ridge", "disparity_kept": 1.0, "error": 0.1, "positive_rate": 0.5,
    ...          "noise_floor": 0.01, "group_positive_rates": {"a": 0.45, "b": 0.55}}
    >>> trials = [trial | {"split": i, "statistical_disparity": sd} for i, sd in enumerate([0.09, 0.10, 0.11])]
    >>> row = summarise(trials, n_train=75, n_test=25)["rows"][0]
    >>> {name: round(value, 4) for name, value in row["statistical_disparity"].items()}
    {'estimate': 0.1, 'low': 0.0649, 'high': 0.1351}
    >>> row["beside_floor"]
    'above'
    """
    methods = list(dict.fromkeys(trial["method"] for trial in trials))
    n_splits = len({trial["split"] for trial in trials})
    rows = []
    for method in methods:
        own = [trial for trial in trials if trial["method"] == method]
        first = own[0]
        row = {name: first[name] for name in ("method", "family", "disparity_kept")}
        for measure in MEASURES:
            row[measure] = corrected_interval([trial[measure] for trial in own], n_test / n_train, level)
        row["group_positive_rates"] = {
            group: float(np.mean([trial["group_positive_rates"][group] for trial in own]))
            for group in first["group_positive_rates"]
        }
        row["noise_floor"] = float(np.mean([trial["noise_floor"] for trial in own]))
        row["beside_floor"] = _beside_floor(row)
        rows.append(row)
    facts = {"n_splits": n_splits, "n_train": n_train, "n_test": n_test, "level": level}
    return {"rows": rows, "notes": [note.format(**facts) for note in NOTES], **facts}


def corrected_interval(values: Sequence[float], test_to_train: float, level: float) -> dict[str, float]:
    """Mean of a share over J splits that overlap, with the interval of Nadeau and Bengio (2003).

    Parameters
    ----------
    values : sequence of float
        One per split, at least two.
    test_to_train : float
        Test rows per training row.
    level : float

    Returns
    -------
    dict
        ``estimate``, ``low`` and ``high``, within [0, 1].

    Examples
    --------
    >>> corrected_interval([0.25, 0.25, 0.25], 1 / 3, 0.95)
    {'estimate': 0.25, 'low': 0.25, 'high': 0.25}
    """
    if len(values) < 2:
        raise ValueError(f"an interval over splits needs at least 2 splits; got {len(values)}.")
    if min(values) == max(values):  # the mean of equal numbers may round away from them
        return dict.fromkeys(("estimate", "low", "high"), float(values[0]))
    found = mean_over_splits(values, test_to_train / (1 + test_to_train), level=level)
    return {"estimate": found.mean, "low": max(0.0, found.low), "high": min(1.0, found.high)}


def sentences(summary: dict, labels: Sequence[str] = ("negative", "positive")) -> tuple[str, str]:
    """What the rows show: disparity without and with the constraint, then both beside the constant prediction.

    Parameters
    ----------
    summary : dict
        From :func:`summarise`, with rows of the families "constant" and "ridge".
    labels : sequence of str
        Words for the two classes.

    Returns
    -------
    (str, str)
    """
    rows = summary["rows"]
    constant = next(row for row in rows if row["family"] == "constant")
    models = [row for row in rows if row["family"] != "constant"]
    ridge = sorted((row for row in rows if row["family"] == "ridge"), key=lambda row: row["disparity_kept"])
    parity, plain = ridge[0], ridge[-1]
    majority = labels[round(constant["positive_rate"]["estimate"])]
    better = [row["method"] for row in models if row["error"]["high"] < constant["error"]["estimate"]]
    if len(better) == len(models):
        verdict = "the interval of every model's error lies below that"
    elif better:
        verdict = f"an interval of the error that lies below that is found only for {_listed(better)}"
    else:
        verdict = "no model has an interval of the error below that"
    first = (
        f"{plain['method']} has {_disparity(plain)}, and {parity['method']} has {_disparity(parity)}, while the "
        f"error goes from {show(plain['error']['estimate'])} to {show(parity['error']['estimate'])}."
    )
    second = (
        f"Predicting {majority} for everyone has no disparity and an error of {show(constant['error']['estimate'])}: "
        f"{verdict}, and {parity['method']} predicts {labels[1]} for {parity['positive_rate']['estimate']:.1%} of "
        "the rows."
    )
    return first[0].upper() + first[1:], second


def describe_choices(chosen: Sequence[dict]) -> dict[str, str]:
    """How often cross-validation took which value, over the splits.

    Parameters
    ----------
    chosen : sequence of dict
        One per split, with the same keys; ``split`` is left out.

    Returns
    -------
    dict

    Examples
    --------
    >>> describe_choices([{"split": 0, "alpha": 1.0}, {"split": 1, "alpha": 3.0}, {"split": 2, "alpha": 3.0}])
    {'alpha': '3 in 2 of 3 splits, 1 in 1'}
    """
    described = {}
    for name in (key for key in chosen[0] if key != "split"):
        (value, times), *rest = Counter(choice[name] for choice in chosen).most_common()
        texts = [f"{_text(value)} in {times} of {len(chosen)} splits"]
        described[name] = ", ".join(texts + [f"{_text(value)} in {times}" for value, times in rest])
    return described


def show(value: float) -> str:
    """A share with three decimals, as every table here prints it."""
    return f"{value:.3f}"


def show_interval(found: dict[str, float]) -> str:
    """Estimate and interval; the estimate alone where every split had the same value.

    Examples
    --------
    >>> show_interval({"estimate": 0.1, "low": 0.05, "high": 0.15})
    '0.100 [0.050, 0.150]'
    """
    if found["low"] == found["high"]:
        return show(found["estimate"])
    return f"{show(found['estimate'])} [{show(found['low'])}, {show(found['high'])}]"


def _beside_floor(row: dict) -> str:
    rate = row["positive_rate"]
    if rate["low"] == rate["high"] and rate["estimate"] in (0.0, 1.0):
        return "constant"
    return "within" if row["statistical_disparity"]["low"] <= row["noise_floor"] else "above"


def _disparity(row: dict) -> str:
    floor = show(row["noise_floor"])
    relation = {
        "above": f"which is above the {floor} that chance alone would show",
        "within": f"which cannot be told from the {floor} that chance alone would show",
        "constant": "as everyone gets the same label",
    }[row["beside_floor"]]
    return f"a measured disparity (SD) of {show_interval(row['statistical_disparity'])}, {relation}"


def _listed(names: Sequence[str]) -> str:
    return " and ".join([", ".join(names[:-1]), names[-1]]) if len(names) > 1 else names[0]


def _text(value: object) -> str:
    return f"{value:g}" if isinstance(value, float) else str(value)
