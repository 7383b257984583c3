"""Which setting of a rival comes closest to its published cell: read off TEST rows, so evidence, never a choice."""

from collections.abc import Iterator
from itertools import product
from typing import Any, NamedTuple

import numpy as np
from sklearn.linear_model import RidgeClassifier
from sklearn.pipeline import make_pipeline

from ..baselines import FairPCA, MeanMatchedRidge, PrejudiceRemover
from ..estimators import FairKernelClassifier
from ..estimators.out_of_fold import new_row_scores
from .context import Rows, error_and_sd, quietly, read_rows
from .methods import FLR_TOLERANCE, decide
from .paper import PUBLISHED, Published
from .spec import DIMENSIONS, LEVELS, LINEAR, PENALTIES, KernelSetting, Table, rbf

RIVALS = ("FKRR", "FLR", "FRR", "FPCA")
ETAS = (0.0, 0.3, 1.0, 3.0, 5.0, 15.0, 30.0, 100.0, 300.0)
FEATURES = 250


class Closest(NamedTuple):
    """The nearest of many settings.

    Attributes
    ----------
    table, method : str
    settings : str
    n_settings : int
        How many were looked at.
    sd, error : float
        Means over the shuffles.
    deviations : float
        The larger of the two distances to the published means, in published deviations; at most 1 is a hit.
    """

    table: str
    method: str
    settings: str
    n_settings: int
    sd: float
    error: float
    deviations: float


def closest_setting(table: Table, method: str, shuffles: int) -> Closest:
    """Look at a rival's whole family on test rows.

    Parameters
    ----------
    table : Table
    method : str
        One of ``RIVALS``.
    shuffles : int
        Published shuffles to average over.

    Returns
    -------
    Closest
    """
    figures: dict[str, list[tuple[float, float]]] = {}
    with quietly():
        for shuffle in range(shuffles):
            rows = read_rows(table, shuffle, include_sensitive=method == "FKRR")
            for settings, decisions in _family(method, rows, shuffle):
                error, sd = error_and_sd(decisions, rows.y_test, rows.s_test)
                figures.setdefault(settings, []).append((float(sd), float(error)))
    published = PUBLISHED[table.name, method]
    means = {settings: np.mean(pairs, axis=0) for settings, pairs in figures.items()}
    best = min(means, key=lambda settings: _distance(means[settings], published))
    sd, error = means[best].tolist()
    return Closest(table.name, method, best, len(means), sd, error, _distance(means[best], published))


def _distance(figures: np.ndarray, published: Published) -> float:
    sd, error = figures
    return float(
        max(
            abs(sd - published.sd) / published.sd_deviation,
            abs(error - published.error) / published.error_deviation,
        )
    )


def _family(method: str, rows: Rows, seed: int) -> Iterator[tuple[str, np.ndarray]]:
    if method == "FKRR":
        yield from _kernel_ridge(rows, seed)
        return
    candidates: list[tuple[str, Any]] = {
        "FLR": [
            (
                f"{variant}, η = {eta:g}, λ = {alpha:g}",
                PrejudiceRemover(eta, alpha=alpha, variant=variant, tol=FLR_TOLERANCE),
            )
            for variant, eta, alpha in product(("two_vectors", "marginal", "one_vector"), ETAS, (1.0, 100.0))
        ],
        "FRR": [
            (
                f"{variant}, {share:g} of the gap removed, λ = {alpha:g}",
                MeanMatchedRidge(variant=variant, gap_removed=share, alpha=alpha),
            )
            for variant, share, alpha in product(("V1", "V2", "V3"), (0.0, 0.5, 1.0), (*PENALTIES, 1e3, 1e4))
        ],
        "FPCA": [
            (f"d = {d}, λ = {alpha:g}", make_pipeline(FairPCA(d), RidgeClassifier(alpha=alpha)))
            for d, alpha in product(DIMENSIONS, (1e-3, 1.0, 1e2))
            if d < rows.X.shape[1]
        ],
    }[method]
    for settings, model in candidates:
        yield settings, decide(model, rows)[0]


def _kernel_ridge(rows: Rows, seed: int) -> Iterator[tuple[str, np.ndarray]]:
    polynomials = (KernelSetting("poly", (("degree", d), ("coef0", c))) for d, c in product((3, 4), (0.1, 1.0, 10.0)))
    for kernel in (*rbf(rows.X.shape[1]), *LINEAR, *polynomials):
        model = FairKernelClassifier(n_features=FEATURES, random_state=seed, **kernel.keywords())
        parity, plain = new_row_scores(model, rows.X, rows.y, rows.X_test, sensitive_features=rows.s, alphas=PENALTIES)
        for (j, alpha), level in product(enumerate(PENALTIES), LEVELS):
            scores = (1 - level) * parity[:, 0, j, 0] + level * plain[:, 0, j, 0]
            yield f"{kernel}, λ = {alpha:g}, {level:g} of the disparity kept", scores >= 0.5
