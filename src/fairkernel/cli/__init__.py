"""The command line: the only folder that prints. One file per subcommand, listed in ``program.COMMANDS``."""

from .program import main

__all__ = ["main"]
