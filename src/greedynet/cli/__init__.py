"""The command line: its program, what a terminal asks for, and the commands."""

from greedynet.cli.program import main

__all__ = ["main"]
