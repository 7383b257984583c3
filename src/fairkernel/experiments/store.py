"""Results on disk, one JSON line per finished trial: what is written stays, what is torn is dropped and run again."""

import json
import os
from collections.abc import Iterable
from pathlib import Path
from typing import Any

Key = tuple[str, int]  # table, shuffle


class ResultsFile:
    """Append-only results of one configuration.

    The first line states the configuration and versions; each further line is one finished trial. A line is written
    with a single system call and synced, so a killed run leaves whole lines and at most one torn one.

    Parameters
    ----------
    path : Path
    header : dict
        Configuration and versions; a file with another header is refused.
    """

    def __init__(self, path: Path, header: dict[str, Any]) -> None:
        self.path = Path(path)
        self.header = json.loads(json.dumps(header))
        self.trials: dict[Key, dict[str, Any]] = {}
        if self.path.exists() and self.path.stat().st_size:
            self._resume()
        else:
            self.path.parent.mkdir(parents=True, exist_ok=True)
            self._replace([self.header])

    def _resume(self) -> None:
        lines = self.path.read_bytes().split(b"\n")
        # Whatever follows the last newline was being written when the run died.
        whole = [_read(line) for line in lines[:-1]]
        if not whole:
            self._replace([self.header])
            return
        if not isinstance(whole[0], dict):
            raise ValueError(
                f"{self.path}, line 1: no configuration stands there, so that the trials below cannot be told to be of "
                "this one; choose another --out or delete the file."
            )
        if whole[0] != self.header:
            differing = sorted(key for key in {*whole[0], *self.header} if whole[0].get(key) != self.header.get(key))
            raise ValueError(
                f"{self.path} holds results of another configuration (different: {', '.join(differing)}); "
                "choose another --out or delete the file."
            )
        for number, trial in enumerate(whole[1:], 2):
            if not _is_trial(trial, self.header.get("methods", ())):
                raise ValueError(
                    f"{self.path}, line {number}: no finished trial stands there; delete this line and its trial is "
                    "run again, or choose another --out."
                )
            self.trials[trial["table"], trial["shuffle"]] = trial
        if lines[-1]:
            self._replace(whole)

    def append(self, trial: dict[str, Any]) -> None:
        """Add one finished trial.

        Parameters
        ----------
        trial : dict
            With keys "table" and "shuffle".
        """
        with open(self.path, "ab", buffering=0) as file:
            file.write(_line(trial))
            os.fsync(file.fileno())
        self.trials[trial["table"], trial["shuffle"]] = trial

    def finish(self, order: list[Key]) -> list[dict[str, Any]]:
        """Rewrite the file in a fixed order, whatever order the trials finished in.

        Parameters
        ----------
        order : list of (table, shuffle)

        Returns
        -------
        list of dict
            The trials in that order.
        """
        # A shorter run than an earlier one asks for fewer trials; the others stay on disk.
        others = sorted(self.trials.keys() - set(order))
        self._replace([self.header, *(self.trials[key] for key in [*order, *others])])
        return [self.trials[key] for key in order]

    def _replace(self, rows: list[dict[str, Any]]) -> None:
        temporary = self.path.with_suffix(self.path.suffix + ".part")
        with open(temporary, "wb") as file:
            file.writelines(map(_line, rows))
            file.flush()
            os.fsync(file.fileno())
        os.replace(temporary, self.path)


def _read(line: bytes) -> Any:
    try:
        return json.loads(line)
    except ValueError:
        return None


def _is_trial(row: Any, methods: Iterable[str]) -> bool:
    if not isinstance(row, dict) or not isinstance(row.get("table"), str) or not isinstance(row.get("shuffle"), int):
        return False
    results = row.get("results")
    if not isinstance(results, dict) or not results or not set(methods) <= set(results):
        return False
    return all(isinstance(found, dict) for found in results.values())


def _line(row: dict[str, Any]) -> bytes:
    return json.dumps(row, sort_keys=True, ensure_ascii=False, allow_nan=False).encode() + b"\n"
