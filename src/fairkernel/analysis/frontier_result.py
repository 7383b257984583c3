"""A frontier: settings with their error and disparity, the ones worth having, and a model for a bound."""

from dataclasses import dataclass, replace
from numbers import Integral, Real
from typing import Any

import numpy as np
from sklearn.base import clone

from ..estimators._ridge import FairKernelRidge
from ..kernels import Kernel
from ..report.frontier_plot import frontier_figure
from ..report.html import render_frontier
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
        As it was passed.
    models : tuple of FairKernelClassifier or FairKernelRegressor
        A clone of it for every kernel, with the feature map that all settings of the kernel share.
    data : tuple
        X, y and fit's keyword arguments.
    """

    table: dict[str, np.ndarray]
    task: str
    estimator: FairKernelRidge
    models: tuple[FairKernelRidge, ...]
    data: tuple[Any, Any, dict]

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
        disparity, loss = self.table["disparity"], self.loss
        order = np.lexsort((loss, disparity))
        least = np.minimum.accumulate(np.concatenate([[np.inf], loss[order][:-1]]))
        return self._rows(order[loss[order] < least])

    def best(self, max_disparity: float) -> Any:
        """The estimator of least error among its settings within a bound, fitted on all rows.

        Parameters
        ----------
        max_disparity : float
            Bound on the out-of-fold disparity.

        Returns
        -------
        FairKernelClassifier or FairKernelRegressor
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
        FairKernelClassifier or FairKernelRegressor
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
        return clone(self.estimator).set_params(**setting).fit(X, y, **given)

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
        return frontier_figure(self._to_show(len(self)))

    def __repr__(self) -> str:
        shown = self._to_show(ROWS_SHOWN)
        widths = [max(map(len, column)) for column in zip(shown["headers"], *shown["cells"], strict=True)]
        rows = [shown["headers"], *shown["cells"]]
        lines = ["  ".join(cell.rjust(width) for cell, width in zip(row, widths, strict=True)) for row in rows]
        return "\n".join([shown["sentence"], *lines])

    def _repr_html_(self) -> str | None:
        try:
            return render_frontier(self._to_show(ROWS_SHOWN))
        except ImportError:
            return None  # without jinja2 a notebook shows the text

    def _rows(self, at: np.ndarray) -> "Frontier":
        return replace(self, table={name: column[at] for name, column in self.table.items()})

    def _to_show(self, n_rows: int) -> dict[str, Any]:
        """Plain values for the page and the plot: every point, and the worthwhile settings as cells."""
        worth, score = self.pareto(), "error" if self.task == "classification" else "r2"
        names = ["model", "aware", "alpha", "threshold", "disparity_kept", "max_decision_gap", score, "disparity"]
        names += ["positive_rate", "noise_floor"]
        names = [name for name in names if name in self.table]
        if len(self.models) > 1:
            names.insert(1, "kernel")
        taken = np.unique(np.linspace(0, len(worth) - 1, min(n_rows, len(worth))).round().astype(int))
        constant = self._rows(np.flatnonzero(self.table["model"] == "constant"))
        rows = [(worth, int(i)) for i in taken] + ([] if "constant" in worth.table["model"] else [(constant, 0)])
        others = self._rows(np.flatnonzero(~np.isin(self.table["model"].astype(str), ("fairkernel", "constant"))))
        rows += [(others, i) for i in range(len(others)) if others.table["model"][i] not in worth.table["model"]]
        return {
            "sentence": f"{len(self)} settings, {len(worth)} of them worth having (no other has both less error and "
            "less disparity); out of fold, 95% intervals",
            "headers": [name.replace("_", " ") for name in names],
            "cells": [[_text(found.table, name, i) for name in names] for found, i in rows],
            "score": score,
            "points": _points(self.table, score),
            "pareto": _points(worth.table, score),
            "criterion": self.estimator.criterion,
        }


def _refuse_unless_bound(max_disparity: Any) -> None:
    if not isinstance(max_disparity, Real) or not float(max_disparity) >= 0:
        raise ValueError(f"max_disparity must be a number >= 0; got {max_disparity!r}.")


def _refuse_unless_among(row: Any, n_rows: int) -> None:
    if not isinstance(row, Integral) or not 0 <= int(row) < n_rows:
        raise ValueError(f"row must be the number of a row of the table, from 0 to {n_rows - 1}; got {row!r}.")


def _points(table: dict[str, np.ndarray], score: str) -> list[dict[str, Any]]:
    names = ["model", "aware", "disparity", "disparity_low", "disparity_high", score]
    names += [name for name in (f"{score}_low", f"{score}_high", "noise_floor") if name in table]
    columns = (table[name].tolist() for name in names)
    return [dict(zip(names, cells, strict=True)) for cells in zip(*columns, strict=True)]


def _text(table: dict[str, np.ndarray], name: str, row: int) -> str:
    value = table[name][row]
    if isinstance(value, str):
        return value
    if name == "aware":
        return "aware" if value else "blind"
    if name == "kernel":
        return str(value) if value >= 0 else ""
    if np.isnan(value):
        return ""
    if f"{name}_low" in table:
        return f"{value:.4f} [{table[name + '_low'][row]:.4f}, {table[name + '_high'][row]:.4f}]"
    return f"{value:.3g}"
