"""The command line: the program, its commands, and what they share on a terminal.

May import every other package, but only when a command runs: `--help` loads no numerical library.
"""

from greedynet.cli.program import main

__all__ = ["main"]
