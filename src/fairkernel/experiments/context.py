"""What the methods of one trial share: rows, the selection rule, and cross-validated figures per kernel."""

import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any

import numpy as np
from sklearn.preprocessing import StandardScaler

from ..estimators.out_of_fold import FoldMoments, OutOfFoldScores
from ..exceptions import FairKernelWarning
from .selection import Rule
from .spec import LEVELS, PENALTIES, ROWS_PER_COMPONENT, KernelSetting, Table

FOLDS = 5
TRAINING_SHARE = 0.75
SEARCH_FEATURES = 250  # landmarks while settings are compared; the chosen one is refitted with more


@dataclass(frozen=True)
class Rows:
    """Training and test rows of one shuffle, columns scaled on the training rows."""

    X: np.ndarray
    y: np.ndarray
    s: np.ndarray
    X_test: np.ndarray
    y_test: np.ndarray
    s_test: np.ndarray


@dataclass(frozen=True)
class Outcome:
    """What a method did on the test rows, and the settings it chose.

    Parameters
    ----------
    settings : dict
    predicted : ndarray of shape (test rows,)
        0 or 1.
    mean_gap : float or None
        Gap of the mean scores on the test rows.
    cv_error, cv_sd : float or None
        What the choice was based on.
    """

    settings: dict[str, Any]
    predicted: np.ndarray
    mean_gap: float | None = None
    cv_error: float | None = None
    cv_sd: float | None = None


@dataclass
class Trial:
    """Everything methods share within a trial: the rows, the rule, and cross-validated figures per kernel."""

    rows: Rows
    blind_rows: Rows
    table: Table
    rule: Rule
    seed: int
    estimator_types: tuple[type, ...]
    _cross_validated: dict = field(default_factory=dict)

    def cross_validated(
        self, kernel: KernelSetting, estimator_type: type, objective: str, extra: tuple[int, ...] = ()
    ) -> tuple[np.ndarray, np.ndarray]:
        """Error and SD of one kernel's whole grid.

        One feature pass serves every estimator type of the trial: they are all scored when the first one asks.

        Parameters
        ----------
        kernel : KernelSetting
        estimator_type : type
            One of ``estimator_types``.
        objective : str
        extra : tuple of int
            Rows per component beyond the paper's four.

        Returns
        -------
        error, sd : ndarray of shape (components, penalties, levels)
            The components are n over the paper's four values, all of them, and n over the extra values.
        """
        key = kernel, objective, extra
        if key not in self._cross_validated:
            settings = {**kernel.keywords(), "objective": objective, "n_features": SEARCH_FEATURES}
            # The printed features do not depend on what is done about the gap.
            kinds = (estimator_type,) if objective == "printed" else self.estimator_types
            models = {kind: kind(random_state=self.seed, **settings) for kind in kinds}
            folds = FoldMoments.of(
                models[estimator_type], self.rows.X, self.rows.y, sensitive_features=self.rows.s, cv=FOLDS
            )
            self._cross_validated[key] = {
                kind: self._figures(folds.scores(model, self._components(extra), PENALTIES), objective)
                for kind, model in models.items()
            }
        return self._cross_validated[key][estimator_type]

    def _components(self, extra: tuple[int, ...]) -> list[int | None]:
        n = len(self.rows.X)
        return [None if rows is None else max(1, n // rows) for rows in (*ROWS_PER_COMPONENT, None, *extra)]

    def _figures(self, scores: OutOfFoldScores, objective: str) -> tuple[np.ndarray, np.ndarray]:
        levels = (0.0,) if objective == "printed" else LEVELS
        figures = [error_and_sd(scores.at(level)[..., 0] >= 0.5, self.rows.y, self.rows.s) for level in levels]
        error, sd = (np.stack(part, axis=-1) for part in zip(*figures, strict=True))
        return error, sd


def error_and_sd(decisions: np.ndarray, y: np.ndarray, s: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Error and SD (Eq. 16) of many predictors at once.

    Parameters
    ----------
    decisions : ndarray of bool, shape (n, ...)
    y, s : ndarray of shape (n,)
        0 or 1.

    Returns
    -------
    error, sd : ndarray of shape (...)
    """
    error = (decisions != y.reshape(-1, *[1] * (decisions.ndim - 1))).mean(axis=0)
    return error, np.abs(decisions[s == 1].mean(axis=0) - decisions[s == 0].mean(axis=0))


@contextmanager
def quietly() -> Iterator[None]:
    """Without the library's warnings: the paper keeps s among the inputs, and sigmoid kernels are indefinite."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", FairKernelWarning)
        yield


@lru_cache(maxsize=4)
def _loaded(load: Any, include_sensitive: bool) -> Any:
    return load(include_sensitive=include_sensitive, as_frame=False)


def read_rows(table: Table, shuffle: int, *, include_sensitive: bool) -> Rows:
    """The rows of one shuffle.

    Parameters
    ----------
    table : Table
    shuffle : int
    include_sensitive : bool
        Whether s is among the inputs, as the paper has it.

    Returns
    -------
    Rows
    """
    bunch = _loaded(table.load, include_sensitive)
    if table.seed is None:
        train, test = bunch.splits[shuffle]
    else:
        order = np.random.default_rng([table.seed, shuffle]).permutation(len(bunch.target))
        train, test = np.split(order, [int(TRAINING_SHARE * len(order))])
    scaler = StandardScaler().fit(bunch.data[train])
    X, s = scaler.transform(bunch.data), np.ravel(bunch.sensitive_features)
    return Rows(X[train], bunch.target[train], s[train], X[test], bunch.target[test], s[test])
