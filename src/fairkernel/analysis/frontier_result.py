"""A frontier: settings with their error and disparity, the ones worth having, and a model for a bound."""

from dataclasses import dataclass, replace
from numbers import Integral, Real
from typing import Any

import numpy as np
from sklearn.base import clone
from sklearn.pipeline import Pipeline

from ..estimators._ridge import FairKernelRidge
from ..kernels import Kernel
from ..report.frontier_plot import frontier_figure
from ..report.html import render_frontier
from ._frontier_shown import as_text, to_show
from ._tables import to_pandas

ROWS_SHOWN = 12


@dataclass(frozen=True, eq=False, repr=False)
class Frontier:
    """What ``frontier`` found.

    Parameters
    ----------
    table : dict of str to ndarray
        Columns of equal length. The setting: "model", "kernel" (its place in ``kernels``; −1: none), "aware" (whether
        the groups are known when it is used), "alpha", "disparity_kept", for classes "threshold" and
        "max_decision_gap" (NaN: plain decisions), for numbers "distribution_parity" (NaN: the scores are not moved).
        Out of fold, with 95% bounds "…_low" and "…_high": "disparity" (largest gap of the
        criterion's rates; of mean scores for a regressor), "error" for classes, "r2" and "rmse" for numbers;
        "positive_rate" and "noise_floor", the disparity that chance shows under exact parity.
    task : {"classification", "regression"}
    estimator : FairKernelClassifier or FairKernelRegressor
        As it was passed, or the last step of what was.
    models : tuple of FairKernelClassifier or FairKernelRegressor
        A clone of it for every kernel, with the feature map that all settings of the kernel share.
    data : tuple
        X as the estimator sees it, y and fit's keyword arguments.
    what : dict of str to str
        In words, what the "disparity" is and, for classes, which is the "positive" one.
    steps : tuple of (str, estimator)
        Of the pipeline that was passed, fitted but for the last; none for an estimator by itself.
    """

    table: dict[str, np.ndarray]
    task: str
    estimator: FairKernelRidge
    models: tuple[FairKernelRidge, ...]
    data: tuple[Any, Any, dict]
    what: dict[str, str]
    steps: tuple[tuple[str, Any], ...] = ()

    def __len__(self) -> int:
        return len(self.table["model"])

    @property
    def kernels(self) -> tuple[Kernel, ...]:
        """The kernels, tuned and with numbers for all of their parameters."""
        return tuple(model.kernel_ for model in self.models)

    @property
    def loss(self) -> np.ndarray:
        """What is to be small: the error, or −R²."""
        return self.table["error"] if self.task == "classification" else -self.table["r2"]

    def pareto(self) -> "Frontier":
        """The settings that no other one equals or beats in both error and disparity, by disparity.

        Returns
        -------
        Frontier
        """
        rows = self._worth_having()
        return replace(self, table={name: column[rows] for name, column in self.table.items()})

    def best(self, max_disparity: float) -> Any:
        """The estimator of least error among its settings within a bound, fitted on all rows.

        Parameters
        ----------
        max_disparity : float
            Bound on the out-of-fold disparity.

        Returns
        -------
        FairKernelClassifier or FairKernelRegressor, or a Pipeline that ends in one
        """
        _refuse_unless_bound(max_disparity)
        ours = np.isfinite(self.table["alpha"])
        allowed = np.flatnonzero(ours & (self.table["disparity"] <= max_disparity))
        if not len(allowed):
            least = self.table["disparity"][ours].min()
            raise ValueError(
                f"max_disparity={max_disparity:g}: no setting has so small an out-of-fold disparity; the least is "
                f"{least:.3g}. Raise max_disparity, or add {self._nearer_parity}."
            )
        ranked = np.lexsort((self.table["disparity"][allowed], self.loss[allowed]))
        return self.refit(int(allowed[ranked[0]]))

    def refit(self, row: int) -> Any:
        """The estimator with the setting of one row of the table, fitted on all rows.

        Parameters
        ----------
        row : int

        Returns
        -------
        FairKernelClassifier or FairKernelRegressor, or a Pipeline that ends in one
        """
        _refuse_unless_among(row, len(self))
        setting = {name: self.table[name][row].item() for name in ("alpha", "disparity_kept", "aware")}
        if np.isnan(setting["alpha"]):
            raise ValueError(f"row {row} is {self.table['model'][row]!r}, which is no setting of the estimator.")
        shared = self.models[int(self.table["kernel"][row])]
        # The kernel has its parameters by now; a callable's would be refused beside it.
        setting |= {"kernel": shared.kernel_, "kernel_params": None, "n_features": shared._asked_features}
        if self.task == "classification":
            gap = self.table["max_decision_gap"][row].item()
            setting["max_decision_gap"] = None if np.isnan(gap) else gap
            setting["threshold"] = self.table["threshold"][row].item()
        else:
            setting["distribution_parity"] = float(np.nan_to_num(self.table["distribution_parity"][row]))
        X, y, given = self.data
        model = clone(self.estimator).set_params(**setting).fit(X, y, **given)
        return Pipeline([*self.steps[:-1], (self.steps[-1][0], model)]) if self.steps else model

    @property
    def _nearer_parity(self) -> str:
        """What would trace settings of less disparity."""
        if self.task == "classification":
            return "smaller values to max_decision_gap or disparity_kept"
        moved = np.isfinite(self.table["distribution_parity"]).any()
        return "larger values to distribution_parity" if moved else "smaller values to disparity_kept"

    def to_frame(self) -> Any:
        """The table.

        Returns
        -------
        pandas.DataFrame
        """
        return to_pandas(self.table)

    def plot(self) -> Any:
        """Error against disparity, with intervals for the settings worth having.

        Returns
        -------
        matplotlib.figure.Figure
        """
        return frontier_figure(self._to_show())

    def __repr__(self) -> str:
        return as_text(self._to_show())

    def _repr_html_(self) -> str | None:
        try:
            return render_frontier(self._to_show())
        except ImportError:
            return None  # without jinja2 a notebook shows the text

    def _worth_having(self) -> np.ndarray:
        disparity, loss = self.table["disparity"], self.loss
        order = np.lexsort((loss, disparity))
        least = np.minimum.accumulate(np.concatenate([[np.inf], loss[order][:-1]]))
        return order[loss[order] < least]

    def _to_show(self) -> dict[str, Any]:
        return to_show(self.table, self._worth_having(), self.models, self.what, ROWS_SHOWN)


def _refuse_unless_bound(max_disparity: Any) -> None:
    if not isinstance(max_disparity, Real) or not float(max_disparity) >= 0:
        raise ValueError(f"max_disparity must be a number >= 0; got {max_disparity!r}.")


def _refuse_unless_among(row: Any, n_rows: int) -> None:
    if not isinstance(row, Integral) or not 0 <= int(row) < n_rows:
        raise ValueError(f"row must be the number of a row of the table, from 0 to {n_rows - 1}; got {row!r}.")
