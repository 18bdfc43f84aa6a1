"""The command line: the program, and the table of its commands.

A command is a module of `greedynet.cli.commands` with a click command of the same name (with a
hyphen for an underscore). All of them
are imported for `--help`, which is fast because each imports its dependencies only when it runs.
"""

from importlib import import_module

import click

from greedynet.cli.shell import Commands

COMMANDS = (
    "ask",
    "demo",
    "evaluate",
    "export",
    "fit",
    "info",
    "learning_curve",
    "predict",
    "report",
    "reproduce",
)


@click.group(cls=Commands, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(package_name="greedynet")
def main() -> None:
    """Build small neural networks, neuron by neuron."""


for _name in COMMANDS:
    main.add_command(getattr(import_module(f"greedynet.cli.commands.{_name}"), _name))
