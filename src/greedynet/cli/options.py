"""Arguments and options shared by several commands; imports only click."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import click

from greedynet.cli.files import STANDARD, check_standard_output, standard_input
from greedynet.cli.shell import FilePath, StreamPath
from greedynet.support.parameters import OF_TABLES, PARAMETERS, Names, Number, Option, Whole

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

# Options that are parameters, by the table of these


def _number_or_name(text: str) -> Any:
    try:
        return float(text)
    except ValueError:
        return text


def _loss(text: str) -> Any:
    """Return a name, a power, or the loss of a quantile such as quantile=0.9."""
    name, _, number = text.partition("=")
    if name != "quantile" or not number:
        return _number_or_name(text)
    from greedynet.losses import Quantile

    return Quantile(_number_or_name(number))


def _class_weight(values: tuple[str, ...]) -> Any:
    """Return "balanced", or weights by the names of the classes; None if there are none."""
    if not values or values == ("balanced",):
        return values[0] if values else None
    found = {}
    for value in values:
        name, sign, number = value.rpartition("=")
        weight = _number_or_name(number) if sign else None
        if not isinstance(weight, float) or not 0 <= weight < float("inf"):
            raise click.BadParameter(
                f"write balanced, or a class and a number, such as yes=3, got {value!r}."
            )
        found[name.strip()] = weight
    return found


# How the texts of some options are read.
_READERS: dict[str, Callable[[Any], Any]] = {
    "number": _number_or_name,
    "loss": _loss,
    "class_weight": _class_weight,
    "layers": lambda text: int(text) if text.isdigit() else text,
}


def option_of(option: Option) -> Any:
    kinds: dict[str, Any] = {"float": float, "end": float, "int": int, "file": INPUT}
    how: dict[str, Any] = {"metavar": option.metavar, "help": option.help}
    match option.values:
        case Whole(low, high):
            how["type"] = click.IntRange(low, high)
        case Number(low, is_open):
            how["type"] = click.FloatRange(low, min_open=is_open)
        case Names(names):
            how["type"] = click.Choice(names)
        case "flag":
            how |= {"is_flag": True, "default": None}
        case kind:
            how["type"] = kinds.get(kind, str)
    if option.reader in _READERS:
        read = _READERS[option.reader]
        how["callback"] = lambda _, __, value: None if value is None else read(value)
    return click.option(option.flag, option.variable, multiple=option.is_repeatable, **how)


def fit_options(command: Any) -> Any:
    """Decorate a command with the options that are parameters of `fit_table`."""
    of_estimators = [option for p in PARAMETERS for option in p.options]
    for option in reversed([*OF_TABLES, *of_estimators]):
        command = option_of(option)(command)
    return command


def parameter_option(name: str) -> Any:
    return next(option_of(p.options[0]) for p in PARAMETERS if p.name == name)


def estimator_parameters(options: dict[str, Any]) -> dict[str, Any]:
    """Take the parameters of the estimators from the options of a command, but for those unset."""
    found: dict[str, Any] = {}
    for parameter in PARAMETERS:
        given = {option: options.pop(option.variable) for option in parameter.options}
        value = _value_of(parameter.options, given)
        if value is not None:
            found[parameter.name] = value
    return found


def _value_of(options: tuple[Option, ...], given: dict[Option, Any]) -> Any:
    """Return the value of a parameter that one option spells, or several."""
    if len(options) < 2:
        return next(iter(given.values()), None)
    if options[0].means is not None:
        return _shape(given)
    ends = tuple(value for option, value in given.items() if option.values == "end")
    (name,) = (value for option, value in given.items() if option.values != "end")
    if name is None or ends == (None, None):
        return name if ends == (None, None) else ends
    raise click.UsageError("--bounds must be given without --at-least and --at-most.")


def _shape(given: dict[Option, tuple[str, ...]]) -> dict[str, int] | None:
    """Return the numbers of columns that are named by options of a shape."""
    found: dict[str, int] = {}
    for option, columns in given.items():
        for column in columns:
            if found.get(column, option.means) != option.means:
                flags = " and ".join(o.flag for o in given)
                raise click.UsageError(f"{flags} must name other columns, got {column} in both.")
            found[column] = option.means or 0
    return found or None


# The format of text files

SEPARATOR = click.option(
    "--separator",
    metavar="CHAR",
    help="Separator of the cells of a text file; detected by default: comma, semicolon, tab or |.",
)
DECIMAL = click.option(
    "--decimal",
    type=click.Choice([".", ","]),
    help="Decimal mark of numbers in a text file; detected for each column where it cannot be "
    "meant otherwise, for a saved model as in its fit.",
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

NA = click.option(
    "--na",
    multiple=True,
    metavar="TEXT",
    help="A text that stands for an empty cell, beside NA and the like; repeatable. n/a, -, ? and "
    ". do so in any case where the other cells of a column are numbers or dates.",
)
SHEET = click.option(
    "--sheet", metavar="NAME", help="Sheet of an Excel file, or table of a DuckDB file."
)
QUERY = click.option(
    "--query", metavar="SQL", help="What to select from a DuckDB file: 'select * from sales'."
)

_READING = (SEPARATOR, DECIMAL, THOUSANDS, ENCODING, NA, SHEET, QUERY)
# Names of these, as parameters of `open_table`.
READING_OPTIONS = ("separator", "decimal", "thousands", "encoding", "na", "sheet", "query")


def reading(command: Any) -> Any:
    for option in reversed(_READING):
        command = option(command)
    return command


MEMORY_LIMIT = click.option(
    "--memory-limit",
    type=click.FloatRange(0, min_open=True),
    metavar="GB",
    callback=lambda _, __, value: None if value is None else 1e9 * value,
    help="Memory that the table may take as numbers, 8 bytes each; a larger one is read in blocks, "
    "several times. A sixth of the machine's memory by default.",
)

IGNORE = click.option(
    "--ignore",
    multiple=True,
    metavar="COLUMNS",
    help="Ignore columns: one, or id,name; repeatable.",
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
    help="Empty cells: as learned, and the mean of the training data in columns without empty "
    "cells in the fit, of which learn warns; or drop the rows. By default as in the fit.",
)
