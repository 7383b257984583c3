"""One number per row from any fitted estimator."""

from collections.abc import Callable
from typing import Any

import numpy as np

from ..backend import to_numpy

METHODS = ("decision_function", "predict_proba", "predict")  # the first one there is


def score_function(model: Any, score: Any = None) -> tuple[Callable[[Any], np.ndarray], str]:
    """What turns rows into the score whose gap is looked at, and its name.

    Parameters
    ----------
    model : estimator
    score : callable, optional
        A function of X; by default the model's own.

    Returns
    -------
    evaluate, name
    """
    if score is not None and not callable(score):
        raise TypeError(f"score must be a function of X that returns one number per row; got {score!r}.")
    name = next((method for method in METHODS if hasattr(model, method)), None)
    if score is None and name is None:
        raise TypeError(
            f"model is a {type(model).__name__} and has none of {', '.join(METHODS)}: pass a fitted estimator, or "
            "score=, a function of X that returns one number per row."
        )
    function = getattr(model, str(name)) if score is None else score
    label = str(name) if score is None else getattr(score, "__name__", "score").replace("<lambda>", "score")

    def evaluate(X: Any) -> np.ndarray:
        return _one_number_per_row(function(X), len(X), label)

    return evaluate, label


def _one_number_per_row(values: Any, n_rows: int, name: str) -> np.ndarray:
    values = np.asarray(to_numpy(values))
    if name == "predict_proba" and values.ndim == 2 and values.shape[1] == 2:
        values = values[:, 1]
    elif values.shape == (n_rows, 1):
        values = values[:, 0]
    if values.shape != (n_rows,):
        raise ValueError(
            f"{name} returns shape {values.shape} for {n_rows} rows, but a gap needs one number per row: pass "
            "score=lambda X: ..., for instance model.decision_function(X)[:, 0] for the first of several outputs."
        )
    if values.dtype.kind not in "biuf":
        raise ValueError(
            f"{name} returns labels such as {values.tolist()[0]!r}, but a gap needs numbers: pass score=lambda X: "
            "model.predict(X) == label."
        )
    if not np.isfinite(values).all():
        raise ValueError(f"{name} is not finite in {(~np.isfinite(values)).sum()} rows, so it has no mean.")
    return values.astype(np.float64)
