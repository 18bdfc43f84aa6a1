"""Arguments and options shared by several commands; imports only click."""

from pathlib import Path

import click

from greedynet.cli.shell import FilePath

# Input and output files.
INPUT = FilePath(exists=True, dir_okay=False, path_type=Path)
OUTPUT = FilePath(path_type=Path)

MODEL = click.argument("model", type=INPUT)
DATA = click.argument("data", type=INPUT)

AS_JSON = click.option("--json", "as_json", is_flag=True, help="Print JSON.")

# The format of text files

SEPARATOR = click.option(
    "--separator",
    metavar="CHAR",
    help="Separator of the cells of a text file; detected by default: comma, semicolon or tab.",
)
DECIMAL = click.option(
    "--decimal",
    type=click.Choice([".", ","]),
    default=".",
    show_default=True,
    help="Decimal mark of numbers in a text file.",
)

# The treatment of rows

TRUE_VALUES = click.option(
    "--target",
    metavar="COLUMN",
    help="Column of the true values; by default the target of the fit.",
)
MISSING_AS_IN_FIT = click.option(
    "--missing",
    type=click.Choice(["drop", "mean"]),
    help="Empty cells: drop the rows, or insert the mean of the training data; by default as in "
    "the fit.",
)
UNKNOWN = click.option(
    "--unknown",
    type=click.Choice(["error", "zero"]),
    default="error",
    show_default=True,
    help="Values of a text column that did not occur in training: stop with an error, or encode "
    "them as all zeros.",
)
