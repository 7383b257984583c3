"""The paper's experiment as data: tables, kernels, grids and methods, frozen."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from ..datasets import fetch_communities_crime, fetch_compas, fetch_credit_default

PENALTIES = tuple(float(alpha) for alpha in np.logspace(-3, 2, 6))  # "6 values in [1e-3, 1e2]"
ROWS_PER_COMPONENT = (250, 200, 150, 100)  # k = n/250, n/200, n/150, n/100
LEVELS = (0.0, 0.01, 0.1, 0.5, 1.0)  # share of the disparity kept: FKRR's μ on a scale without units
ETAS = (0.0, 1.0, 5.0, 15.0, 30.0, 100.0)
DIMENSIONS = (1, 2, 5, 10, 15, 20)


@dataclass(frozen=True)
class KernelSetting:
    """A kernel with its parameters, as the estimators take them."""

    kernel: str
    parameters: tuple[tuple[str, float], ...] = ()

    def keywords(self) -> dict[str, Any]:
        """Keyword arguments of an estimator."""
        return {"kernel": self.kernel, **dict(self.parameters)}

    def __str__(self) -> str:
        return " ".join([self.kernel, *(f"{name}={value:g}" for name, value in self.parameters)])


POLYNOMIAL = tuple(
    KernelSetting("poly", (("degree", degree), ("coef0", coef0)))
    for degree in (3, 4, 5, 6)
    for coef0 in (1e-3, 1e-2, 1e-1, 1e0, 1e1)
)
SIGMOID = tuple(KernelSetting("sigmoid", (("coef0", float(c)),)) for c in np.logspace(-4, 1, 5))
LINEAR = (KernelSetting("linear"),)


def rbf(n_columns: int) -> tuple[KernelSetting, ...]:
    """RBF kernels around scikit-learn's default scale of one over the number of columns."""
    return tuple(KernelSetting("rbf", (("gamma", factor / n_columns),)) for factor in (0.1, 0.3, 1.0, 3.0))


@dataclass(frozen=True)
class Table:
    """One of the paper's data sets and what the paper used on it.

    Parameters
    ----------
    name, title : str
    load : callable
        Keyword ``include_sensitive`` to a Bunch with its published shuffles.
    kernels : tuple of KernelSetting
        The grid the paper searched.
    published_kernel : KernelSetting
        The setting under Table I.
    seed : int, optional
        Of random 75/25 shuffles in place of the published ones.
    """

    name: str
    title: str
    load: Callable[..., Any]
    kernels: tuple[KernelSetting, ...]
    published_kernel: KernelSetting
    seed: int | None = None


_DEGREE_4 = KernelSetting("poly", (("degree", 4), ("coef0", 0.1)))

TABLES = {
    "credit": Table("credit", "Credit Default", fetch_credit_default, POLYNOMIAL, _DEGREE_4),
    "crime": Table("crime", "Communities Crime", fetch_communities_crime, POLYNOMIAL, _DEGREE_4),
    "compas": Table("compas", "COMPAS", fetch_compas, SIGMOID, KernelSetting("sigmoid", (("coef0", 0.01),))),
}
CRIME_WITH_LEAK = Table(
    "crime",
    "Communities Crime (with the leak)",
    partial(fetch_communities_crime, drop_leak=False),
    POLYNOMIAL,
    _DEGREE_4,
)


@dataclass(frozen=True)
class Method:
    """A row of Table I or a point of a figure.

    Parameters
    ----------
    name : str
    kind : {"kernel", "kernel_pca", "flr", "frr", "fpca", "constant"}
    family : {"paper", "published", "rbf", "linear", "sigmoid", "poly"}
        Which kernels a kernel method searches; "paper" and "published" depend on the table.
    rows_per_component : tuple of int, or (None,)
        k = n / value; None is all components.
    levels : tuple of float
        disparity_kept.
    objective : {"discrepancy", "printed"}
    searched : bool
        Search the paper's whole grid even where the rule takes the settings under Table I.
    """

    name: str
    kind: str
    family: str = "paper"
    rows_per_component: tuple[int | None, ...] = (None,)
    levels: tuple[float, ...] = (0.0,)
    objective: str = "discrepancy"
    searched: bool = False


FKR = Method("FKR-F2E", "kernel", "paper", ROWS_PER_COMPONENT)
TABLE_METHODS = (
    FKR,
    Method("FKR-F2E, whole grid", "kernel", "paper", ROWS_PER_COMPONENT, searched=True),
    Method("FKR-F2E, as printed", "kernel", "published", ROWS_PER_COMPONENT[:1], objective="printed"),
    Method("FKRR", "kernel", "rbf", levels=LEVELS[:-1]),
    Method("FLR", "flr"),
    Method("FRR", "frr"),
    Method("FPCA", "fpca"),
    Method("Kernel ridge", "kernel", "rbf", levels=(1.0,)),
    Method("Kernel PCA + ridge", "kernel_pca", "paper", ROWS_PER_COMPONENT, searched=True),
    Method("Constant", "constant"),
)
FIGURE_1 = tuple(
    Method(f"Figure 1: {family}", "kernel", family, ROWS_PER_COMPONENT)
    for family in ("poly", "sigmoid", "linear", "rbf")
)
FIGURE_2 = tuple(
    Method(f"Figure 2: n/{rows}", "kernel", "published", (rows,)) for rows in (*ROWS_PER_COMPONENT, 50, 25, 10)
)


def kernels_of(method: Method, table: Table, n_columns: int) -> tuple[KernelSetting, ...]:
    """The kernels a method searches on a table.

    Parameters
    ----------
    method : Method
    table : Table
    n_columns : int

    Returns
    -------
    tuple of KernelSetting
    """
    return {
        "paper": table.kernels,
        "published": (table.published_kernel,),
        "rbf": rbf(n_columns),
        "linear": LINEAR,
        "sigmoid": SIGMOID,
        "poly": POLYNOMIAL,
    }[method.family]
