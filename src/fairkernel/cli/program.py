"""Arguments in, exit status out."""

import argparse
import sys
from collections.abc import Sequence

from .. import __version__
from . import data, demo, reproduce

COMMANDS = (demo, reproduce, data)  # each adds its arguments and names the function that runs it


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command line.

    Parameters
    ----------
    argv : sequence of str, optional
        Arguments after the program's name; those of the process where None.

    Returns
    -------
    int
        Exit status: 0, or 1 when a file, a download, a library or a value was at fault, 130 when interrupted.
        Wrong arguments leave through ``SystemExit(2)``.
    """
    arguments = _parser().parse_args(argv)
    try:
        arguments.command(arguments)
    except (ImportError, OSError, ValueError) as error:
        print(f"fairkernel: {error}", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        print("fairkernel: interrupted", file=sys.stderr)
        return 130
    return 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="fairkernel", description="Kernel models whose disparity between groups is measured and chosen."
    )
    parser.add_argument("--version", action="version", version=f"fairkernel {__version__}")
    subparsers = parser.add_subparsers(title="commands", required=True)
    for command in COMMANDS:
        command.add_arguments(subparsers)
    return parser
