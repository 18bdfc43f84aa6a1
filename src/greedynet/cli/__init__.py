"""The command line: the program, its commands, and their common options and output.

May import every other package, but only when a command is run: `--help` loads no numerical library.
"""

from greedynet.cli.program import main

__all__ = ["main"]
