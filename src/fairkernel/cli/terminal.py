"""What the subcommands share: arguments, progress, files."""

import argparse
import os
import tempfile
from collections.abc import Callable
from importlib.util import find_spec
from pathlib import Path
from typing import Any


class Progress:
    """A bar with the time left on a terminal, a few plain lines elsewhere.

    Parameters
    ----------
    console : rich.console.Console
    total : int
    noun : str
        What is counted, in the plural.
    """

    LINES = 10  # at most, where there is no bar

    def __init__(self, console: Any, total: int, noun: str) -> None:
        self.console, self.total, self.noun, self.done = console, total, noun, 0
        self.bar: Any = None

    def __enter__(self) -> "Progress":
        if self.console.is_terminal and not os.environ.get("CI"):
            from rich import progress

            columns = (
                progress.TextColumn(f"running {self.noun}"),
                progress.BarColumn(),
                progress.MofNCompleteColumn(),
                progress.TimeElapsedColumn(),
                progress.TextColumn("left"),
                progress.TimeRemainingColumn(),
            )
            self.bar = progress.Progress(*columns, console=self.console, transient=True)
            self.bar.start()
            self.bar.add_task("", total=self.total)
        else:
            self.console.print(f"running {self.total} {self.noun}")
        return self

    def to(self, done: int) -> None:
        """Show that so many are finished."""
        step, before = max(1, self.total // self.LINES), self.done
        self.done = done
        if self.bar is not None:
            self.bar.update(self.bar.task_ids[0], completed=done)
        elif done > before and (done % step == 0 or done == self.total):
            self.console.print(f"{self.noun}: {done} of {self.total}")

    def advance(self) -> None:
        """Show that one more is finished."""
        self.to(self.done + 1)

    def __exit__(self, *_: object) -> None:
        if self.bar is not None:
            self.bar.stop()


def whole(at_least: int) -> Callable[[str], int]:
    """A type of argument: a whole number from a bound up."""

    def read(text: str) -> int:
        try:
            value = int(text)
        except ValueError:
            value = at_least - 1
        if not at_least <= value < 2**32:
            raise argparse.ArgumentTypeError(f"must be a whole number of at least {at_least}, got {text!r}")
        return value

    return read


def require(command: str, *libraries: str) -> None:
    """Find out before the work which optional libraries are not there."""
    absent = [library for library in libraries if find_spec(library) is None]
    if absent:
        raise ImportError(f'{command} needs {", ".join(absent)}, which is not installed: pip install "fairkernel[app]"')


def console_on(stderr: bool = False) -> Any:
    """Where to print."""
    from rich.console import Console

    # Names from data are shown as they are: no markup, no guessed colours.
    return Console(stderr=stderr, markup=False, emoji=False, highlight=False)


def prepare_folder(folder: Path) -> None:
    """Find out before the work, not after it, that nothing can be written."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=folder):
            pass
    except OSError as error:
        raise OSError(f"--out {folder}: cannot write there ({error.strerror}); name another folder") from error


def write(path: Path, content: bytes) -> None:
    """Under a temporary name, then renamed: the path never holds half a file."""
    descriptor, temporary = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
    try:
        with os.fdopen(descriptor, "wb") as file:
            file.write(content)
        os.chmod(temporary, 0o644)  # mkstemp's files are the owner's alone; a report is to be shown
        os.replace(temporary, path)
    except BaseException:
        Path(temporary).unlink(missing_ok=True)
        raise
