"""The command line: its program, what a terminal asks for, and the commands.

May import everything; nothing heavy is imported before a command runs.
"""

from greedynet.cli.program import main

__all__ = ["main"]
