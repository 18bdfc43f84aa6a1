"""Arguments and options shared by several commands; imports only click."""

from pathlib import Path
from typing import Any

import click

from greedynet.cli.files import STANDARD, check_standard_output, standard_input
from greedynet.cli.shell import FilePath, StreamPath

# Input and output files.
INPUT = FilePath(exists=True, dir_okay=False, path_type=Path)
OUTPUT = FilePath(path_type=Path)
OUTPUT_OR_STREAM = StreamPath(path_type=Path)

MODEL = click.argument("model", type=INPUT)


def _read(context: click.Context, parameter: click.Parameter, value: Path | str | None) -> Any:
    """Return a path; that of a copy for standard input, which is removed after the command."""
    return context.with_resource(standard_input()) if value == STANDARD else value


def data_argument(*, required: bool = True) -> Any:
    """Return the argument of the table to read; it may be a folder of Parquet files."""
    given = StreamPath(exists=True, path_type=Path)
    return click.argument("data", type=given, callback=_read, required=required)


DATA = data_argument()


def _printed(context: click.Context, parameter: click.Parameter, value: bool) -> bool:
    """Return the option of a command that has nothing to do if nobody reads what it prints."""
    check_standard_output()
    return value


AS_JSON = click.option("--json", "as_json", is_flag=True, callback=_printed, help="Print JSON.")

# The network


def _layers(context: click.Context, parameter: click.Parameter, value: str | None) -> Any:
    return int(value) if value in ("1", "2") else value


HIDDEN_LAYERS = click.option(
    "--hidden-layers",
    type=click.Choice(["1", "2", "auto"]),
    callback=_layers,
    help="One hidden layer, two, of which the first bends single columns, or auto, two where they "
    "are clearly better on held-out rows; one by default, and auto with --increasing.",
)

# The format of text files

SEPARATOR = click.option(
    "--separator",
    metavar="CHAR",
    help="Separator of the cells of a text file; detected by default: comma, semicolon or tab.",
)
DECIMAL = click.option(
    "--decimal",
    type=click.Choice([".", ","]),
    help="Decimal mark of numbers in a text file; by default a point, for a saved model as in "
    "its fit.",
)
THOUSANDS = click.option(
    "--thousands",
    type=click.Choice([",", ".", " ", "'"]),
    help="Mark between groups of three digits; detected where it cannot be meant otherwise, for a "
    "saved model as in its fit.",
)
ENCODING = click.option(
    "--encoding",
    metavar="NAME",
    help="Encoding of a text file, such as cp1252; detected by default.",
)
DATES = click.option(
    "--dates",
    type=click.Choice(["dmy", "mdy"]),
    help="Order of day and month in dates such as 01/02/2024; detected by a day above 12.",
)

# Names of these, as parameters of `open_table`.
TEXT_OPTIONS = ("separator", "decimal", "thousands", "encoding")

MEMORY_LIMIT = click.option(
    "--memory-limit",
    type=click.FloatRange(0, min_open=True),
    metavar="GB",
    callback=lambda _, __, value: None if value is None else 1e9 * value,
    help="Memory that the table may take as numbers, 8 bytes each; a larger one is read in blocks, "
    "several times. A sixth of the machine's memory by default.",
)

# The treatment of rows

TRUE_VALUES = click.option(
    "--target",
    metavar="COLUMN",
    help="Column of the true values; by default the target of the fit.",
)


def _none_for_error(context: click.Context, parameter: click.Parameter, value: str) -> str | None:
    return None if value == "error" else value


MISSING = click.option(
    "--missing",
    type=click.Choice(["learn", "drop", "mean", "error"]),
    default="learn",
    show_default=True,
    callback=_none_for_error,
    help="Empty cells: learn what to insert, drop the rows, insert the mean of the column, or stop "
    "with an error.",
)
MISSING_AS_IN_FIT = click.option(
    "--missing",
    type=click.Choice(["learn", "drop", "mean"]),
    help="Empty cells: as learned; drop the rows; or as learned, and the mean of the training data "
    "in columns without empty cells in the fit, where learn is an error. By default as in the fit.",
)
UNKNOWN = click.option(
    "--unknown",
    type=click.Choice(["error", "zero"]),
    default="error",
    show_default=True,
    help="Values of a text column that did not occur in training: stop with an error, or encode "
    "them as all zeros; where rare values were pooled, they are one of these.",
)
