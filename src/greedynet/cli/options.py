"""Arguments and options that several commands share; click alone."""

from pathlib import Path

import click

from greedynet.cli.shell import FilePath

# Files that are read, and files that are written.
INPUT = FilePath(exists=True, dir_okay=False, path_type=Path)
OUTPUT = FilePath(path_type=Path)

MODEL = click.argument("model", type=INPUT)
DATA = click.argument("data", type=INPUT)

AS_JSON = click.option("--json", "as_json", is_flag=True, help="Print JSON.")

# How a text file is written

SEPARATOR = click.option(
    "--separator",
    metavar="CHAR",
    help="What stands between cells of a text file; by default found out: comma, semicolon or tab.",
)
DECIMAL = click.option(
    "--decimal",
    type=click.Choice([".", ","]),
    default=".",
    show_default=True,
    help="What stands before the decimals of numbers in a text file.",
)

# What becomes of the rows

TRUE_VALUES = click.option(
    "--target", metavar="COLUMN", help="The true values; by default the fit's target."
)
MISSING_AS_IN_FIT = click.option(
    "--missing",
    type=click.Choice(["drop", "mean"]),
    help="Rows with empty cells: leave them out, or put the training mean in; by default as in "
    "the fit.",
)
UNKNOWN = click.option(
    "--unknown",
    type=click.Choice(["error", "zero"]),
    default="error",
    show_default=True,
    help="Values of a text column that training has not seen: refuse, or take as none of them.",
)
