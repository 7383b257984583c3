"""Synthetic rows of two groups whose population gap is known exactly."""

from numbers import Integral
from typing import Any, Literal

import numpy as np
from sklearn.utils import Bunch, check_random_state

from ._bunch import Card, make_bunch


def make_two_groups(
    n_samples: int = 1000,
    *,
    n_features: int = 5,
    gap: float = 0.2,
    base_rate: float = 0.5,
    share_b: float = 0.3,
    signal: float = 2.0,
    proxy: float = 1.0,
    task: Literal["classification", "regression"] = "classification",
    random_state: int | np.random.RandomState | None = None,
    as_frame: bool = False,
) -> Bunch:
    """Make rows of two groups, a and b, with a known gap between them.

    With π = ``share_b``, the population is::

        E[y | a] = base_rate - π gap
        E[y | b] = base_rate + (1 - π) gap        so that E[y | b] - E[y | a] = gap and E[y] = base_rate
        y | s      Bernoulli (classification) or normal with variance 1 (regression) of that mean
        x | y, s   normal with variance 1 in each column and means
                   x0: signal y,    x1: proxy [s = b],    x2, x3, ...: 0 (noise)

    Hence E[x0 | b] - E[x0 | a] = signal gap and E[x1 | b] - E[x1 | a] = proxy: only x0 carries the target,
    and only x1 carries the group beyond what the target says of it.

    Parameters
    ----------
    n_samples : int, default=1000
        Rows; round(share_b * n_samples) of them, in random places, are of group b.
    n_features : int, default=5
        Columns, at least 2.
    gap : float, default=0.2
        Population mean of y in group b minus that in group a; for classes a difference of rates.
    base_rate : float, default=0.5
        Population mean of y; for classes a rate.
    share_b : float, default=0.3
        Share of group b, between 0 and 1.
    signal, proxy : float
        Strength of the target in x0 and of the group in x1.
    task : {"classification", "regression"}, default="classification"
    random_state : int, RandomState or None
        An int gives the same rows every time.
    as_frame : bool, default=False
        Arrays where False, which need no pandas; pandas objects where True.

    Returns
    -------
    Bunch
        The shape of every other data set: ``frame``, ``data``, ``target``, ``sensitive_features`` ("a" or
        "b"), ``feature_names``, ``target_names``, ``splits`` (None) and ``DESCR``.

    Examples
    --------
    >>> from fairkernel.datasets import make_two_groups
    >>> made = make_two_groups(100_000, gap=0.2, random_state=0)
    >>> in_b = made.sensitive_features == "b"
    >>> round(float(made.target[in_b].mean() - made.target[~in_b].mean()), 2)
    0.2
    """
    _check(n_samples, n_features, share_b, task)
    n_b = round(share_b * n_samples)
    mean_a, mean_b = base_rate - share_b * gap, base_rate + (1 - share_b) * gap
    if task == "classification" and not (0 <= mean_a <= 1 and 0 <= mean_b <= 1):
        raise ValueError(
            f"gap={gap}, base_rate={base_rate} and share_b={share_b} give the groups rates of {mean_a:.3g} "
            f"and {mean_b:.3g}, which must lie between 0 and 1; take a smaller gap or a base_rate nearer 0.5"
        )
    rng = check_random_state(random_state)
    in_b = rng.permutation(n_samples) < n_b
    mean = np.where(in_b, mean_b, mean_a)
    if task == "classification":
        y = (rng.uniform(size=n_samples) < mean).astype(np.int64)
    else:
        y = mean + rng.standard_normal(n_samples)
    x = rng.standard_normal((n_samples, n_features))
    x[:, 0] += signal * y
    x[:, 1] += proxy * in_b
    card = Card(
        title="Synthetic rows of two groups",
        source="fairkernel.datasets.make_two_groups",
        about=f"Population: E[y | a] = {mean_a:.4g}, E[y | b] = {mean_b:.4g}, gap {gap}.",
        columns={
            "x0": f"{signal} y + noise",
            "x1": f"{proxy} [group b] + noise",
            **{f"x{j}": "noise" for j in range(2, n_features)},
            "y": "the target",
        },
        sensitive={"group": "a or b"},
        target_names=["0", "1"] if task == "classification" else None,
    )
    data = {f"x{j}": x[:, j] for j in range(n_features)}
    group = {"group": np.where(in_b, "b", "a").astype(object)}
    return make_bunch(card, data, ("y", y), group, as_frame=as_frame)


def _check(n_samples: Any, n_features: Any, share_b: float, task: str) -> None:
    for name, value in (("n_samples", n_samples), ("n_features", n_features)):
        if not isinstance(value, Integral):
            raise ValueError(f"{name} must be a whole number, got {value!r}")
    if task not in ("classification", "regression"):
        raise ValueError(f"task must be 'classification' or 'regression', got {task!r}")
    if n_features < 2:
        raise ValueError(f"n_features must be at least 2 (x0 carries the target, x1 the group), got {n_features}")
    if not 0 < share_b < 1 or not 0 < round(share_b * n_samples) < n_samples:
        raise ValueError(
            f"n_samples={n_samples} with share_b={share_b} leaves a group without rows; share_b must lie "
            "strictly between 0 and 1, and both groups need at least one row"
        )
