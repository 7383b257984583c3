"""Run the paper's experiment: trials in parallel, each written as it finishes, any missing one run on resume."""

import platform
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import joblib
import numpy
import scipy
import sklearn

from .. import __version__
from .closest import RIVALS, Closest, closest_setting
from .context import read_rows
from .selection import Rule
from .spec import CRIME_WITH_LEAK, FIGURE_1, FIGURE_2, FKR, TABLE_METHODS, TABLES, Method, Table
from .store import Key, ResultsFile
from .trial import run_trial

PUBLISHED_SHUFFLES = 50
CLOSEST_SHUFFLES = 5


@dataclass(frozen=True)
class Configuration:
    """What to run.

    Parameters
    ----------
    tables : tuple of str
        Names in ``TABLES``.
    methods : tuple of str
        Rows of Table I; the figures' methods are added on Crime when ``figures`` is set.
    trials : int
        Shuffles 0 to trials − 1 of the 50 published ones, or any number of random ones.
    select : str
        See ``Rule.parse``.
    objective : {"discrepancy", "printed"}
        Of FKR-F2E.
    keep_leak : bool
        Keep the column of Crime that the label is a function of.
    figures : bool
    seed : int, optional
        Of random shuffles in place of the published ones.
    """

    tables: tuple[str, ...] = tuple(TABLES)
    methods: tuple[str, ...] = tuple(method.name for method in TABLE_METHODS)
    trials: int = PUBLISHED_SHUFFLES
    select: str = "published"
    objective: str = "discrepancy"
    keep_leak: bool = False
    figures: bool = True
    seed: int | None = None

    def __post_init__(self) -> None:
        Rule.parse(self.select)
        _check_names("data", self.tables, list(TABLES))
        _check_names("methods", self.methods, [method.name for method in TABLE_METHODS])
        if self.seed is None and not 1 <= self.trials <= PUBLISHED_SHUFFLES:
            raise ValueError(
                f"trials={self.trials} must be between 1 and {PUBLISHED_SHUFFLES}, the published shuffles; with a seed "
                "any number is drawn."
            )
        if self.trials < 1:
            raise ValueError(f"trials={self.trials} must be at least 1.")

    def table(self, name: str) -> Table:
        """A data set with what this configuration changes in it."""
        return replace(CRIME_WITH_LEAK if name == "crime" and self.keep_leak else TABLES[name], seed=self.seed)

    def methods_on(self, name: str) -> tuple[Method, ...]:
        """The methods to run on a data set."""
        chosen = [
            replace(method, objective=self.objective) if method is FKR else method
            for method in TABLE_METHODS
            if method.name in self.methods
        ]
        if self.figures and name == "crime":
            chosen += [replace(method, objective=self.objective) for method in (*FIGURE_1, *FIGURE_2)]
        return tuple(chosen)

    def keys(self) -> list[Key]:
        """Every trial, in the order of the finished file."""
        return [(table, shuffle) for table in self.tables for shuffle in range(self.trials)]

    def header(self) -> dict[str, Any]:
        """What the first line of the results file states; ``trials`` is left out so that a run can be extended."""
        return {
            "tables": list(self.tables),
            "methods": list(self.methods),
            "select": self.select,
            "objective": self.objective,
            "keep_leak": self.keep_leak,
            "figures": self.figures,
            "seed": self.seed,
            "versions": {
                "fairkernel": __version__,
                "python": platform.python_version(),
                "numpy": numpy.__version__,
                "scipy": scipy.__version__,
                "scikit-learn": sklearn.__version__,
            },
        }


def _check_names(name: str, given: Sequence[str], valid: list[str]) -> None:
    # In quotes: names of methods have commas.
    shown = f"{name}={', '.join(map(repr, given)) or 'nothing'}"
    if not given or not set(given) <= set(valid):
        raise ValueError(f"{shown}: valid are {', '.join(map(repr, valid))}.")
    if len(set(given)) < len(given):
        raise ValueError(f"{shown}: name each once.")


def reproduce(
    configuration: Configuration,
    results: Path,
    *,
    jobs: int = 1,
    on_trial: Callable[[int, int], None] | None = None,
) -> list[dict[str, Any]]:
    """Run what is missing from a results file and return all trials.

    Parameters
    ----------
    configuration : Configuration
    results : Path
        JSON lines; created, or resumed if it holds the same configuration.
    jobs : int
        Processes; each uses one BLAS thread, so the numbers do not depend on how many there are.
    on_trial : callable, optional
        Called with (finished, total) at the start and after each trial.

    Returns
    -------
    list of dict
        One per trial, in a fixed order.
    """
    for name in configuration.tables:  # a table that cannot be had is found out before the work
        read_rows(configuration.table(name), 0, include_sensitive=True)
    store, keys = ResultsFile(results, configuration.header()), configuration.keys()
    missing = [key for key in keys if key not in store.trials]
    done = len(keys) - len(missing)
    if on_trial:
        on_trial(done, len(keys))
    run = joblib.delayed(run_trial)
    tasks = (
        run(configuration.table(name), configuration.methods_on(name), shuffle, configuration.select)
        for name, shuffle in missing
    )
    # Always in workers, even with one job: there the number of BLAS threads is fixed before they start.
    with joblib.parallel_config("loky", n_jobs=jobs, inner_max_num_threads=1):
        for trial in joblib.Parallel(return_as="generator_unordered", batch_size=1)(tasks):
            store.append(trial)
            done += 1
            if on_trial:
                on_trial(done, len(keys))
    return store.finish(keys)


def closest_settings(configuration: Configuration, *, jobs: int = 1) -> list[Closest]:
    """For each rival that was run, the setting of its family nearest to the published cell.

    Parameters
    ----------
    configuration : Configuration
    jobs : int

    Returns
    -------
    list of Closest
    """
    run = joblib.delayed(closest_setting)
    shuffles = min(configuration.trials, CLOSEST_SHUFFLES)
    tasks = (
        run(configuration.table(name), method, shuffles)
        for name in configuration.tables
        for method in RIVALS
        if method in configuration.methods
    )
    with joblib.parallel_config("loky", n_jobs=jobs, inner_max_num_threads=1):
        return list(joblib.Parallel(batch_size=1)(tasks))
