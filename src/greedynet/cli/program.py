"""The command line. Everything but click is imported inside the commands: `--help` is instant."""

from pathlib import Path
from typing import Any

import click

from greedynet.cli.shell import Commands, FilePath
from greedynet.export.registry import FILE_EXPORTERS

_INPUT = FilePath(exists=True, dir_okay=False, path_type=Path)
_OUTPUT = FilePath(path_type=Path)

_MODEL = click.argument("model", type=_INPUT)
_DATA = click.argument("data", type=_INPUT)


@click.group(cls=Commands, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(package_name="greedynet")
def main() -> None:
    """Build small neural networks, neuron by neuron."""


@main.command()
@click.argument("numbers", nargs=-1, type=click.IntRange(1, 5), metavar="[1 2 3 4 5]")
@click.option("--quick", is_flag=True, help="A short version, under a minute, for a first look.")
@click.option(
    "--out",
    type=FilePath(file_okay=False, path_type=Path),
    default=None,
    metavar="DIR",
    help="Where results go; reproduction, or reproduction-quick, by default.",
)
@click.option("--fresh", is_flag=True, help="Run again what DIR holds already.")
def reproduce(numbers: tuple[int, ...], quick: bool, out: Path | None, fresh: bool) -> None:
    """Run the paper's examples: greedy start, training from it and from random starts.

    Writes report.html, table.md, results.json and the figures to DIR. Finished parts are kept
    there: an interrupted run goes on where it stopped.
    """
    from greedynet.cli.commands.reproduce import run

    run(
        sorted(set(numbers)) or [1, 2, 3, 4, 5],
        out or Path("reproduction-quick" if quick else "reproduction"),
        quick=quick,
        fresh=fresh,
    )


@main.command()
@_MODEL
@click.option(
    "--to",
    "target",
    type=click.Choice(list(FILE_EXPORTERS)),
    required=True,
    help="What to write.",
)
@click.option(
    "--out",
    type=_OUTPUT,
    default=None,
    metavar="FILE",
    help="Where to write it; by default the model's name with another ending.",
)
@click.option(
    "--dtype",
    type=click.Choice(["float32", "float64"]),
    default="float32",
    show_default=True,
    help="Precision of the weights.",
)
def export(model: Path, target: str, out: Path | None, dtype: str) -> None:
    """Write a saved MODEL for PyTorch, ONNX, Keras or C, checked against its predictions."""
    from greedynet.cli.commands.export import run

    click.echo(run(model, target, out, dtype))


_SEPARATOR = click.option(
    "--separator",
    metavar="CHAR",
    help="What stands between cells of a text file; by default found out: comma, semicolon or tab.",
)
_DECIMAL = click.option(
    "--decimal",
    type=click.Choice([".", ","]),
    default=".",
    show_default=True,
    help="What stands before the decimals of numbers in a text file.",
)
_TRUE_VALUES = click.option(
    "--target", metavar="COLUMN", help="The true values; by default the fit's target."
)
_MISSING_AS_IN_FIT = click.option(
    "--missing",
    type=click.Choice(["drop", "mean"]),
    help="Rows with empty cells: leave them out, or put the training mean in; by default as in "
    "the fit.",
)
_UNKNOWN = click.option(
    "--unknown",
    type=click.Choice(["error", "zero"]),
    default="error",
    show_default=True,
    help="Values of a text column that training has not seen: refuse, or take as none of them.",
)


def _number_or_name(context: click.Context, parameter: click.Parameter, value: str | None) -> Any:
    try:
        return None if value is None else float(value)
    except ValueError:
        return value


@main.command()
@_DATA
@click.option("--target", required=True, metavar="COLUMN", help="The column to learn.")
@click.option(
    "--out",
    required=True,
    type=_OUTPUT,
    metavar="FILE",
    help="Where the model goes, such as model.safetensors.",
)
@click.option(
    "--validate",
    type=_INPUT,
    metavar="FILE",
    help="Rows to choose the width by; else DATA alone decide.",
)
@click.option("--max-nodes", type=click.IntRange(1), metavar="N", help="At most so many nodes.")
@click.option("--nodes", type=click.IntRange(1), metavar="N", help="Exactly so many nodes.")
@click.option(
    "--activation",
    metavar="NAME",
    help="relu (default), relu2, relu3, leaky_relu, abs, tanh, sigmoid, gelu, softplus, sin or "
    "gaussian.",
)
@click.option(
    "--loss",
    metavar="NAME|P",
    callback=_number_or_name,
    help="squared (default), absolute, huber, quantile, chebyshev, or a power above 1.",
)
@click.option("--quantile", type=float, metavar="Q", help="For --loss quantile: 0.9, for example.")
@click.option(
    "--classes",
    is_flag=True,
    help="The target's numbers name classes. A target of text always does.",
)
@click.option(
    "--missing",
    type=click.Choice(["drop", "mean"]),
    help="Rows with empty cells: leave them out, or put the column's mean in; by default refuse.",
)
@click.option("--ignore", multiple=True, metavar="COLUMN", help="Leave a column out; repeatable.")
@click.option(
    "--text",
    multiple=True,
    metavar="COLUMN",
    help="Take a column of numbers, such as codes, as text; repeatable.",
)
@_SEPARATOR
@_DECIMAL
@click.option("--seed", type=int, metavar="N", help="Seed of all that is random; 0 by default.")
@click.option(
    "--report",
    type=_OUTPUT,
    metavar="FILE",
    help="Write a page that shows the network, such as report.html.",
)
@click.option(
    "--checkpoint",
    type=_OUTPUT,
    metavar="FILE",
    help="Note every few seconds how far the fit is; the same command, given again after it was "
    "interrupted, goes on from there.",
)
def fit(data: Path, target: str, out: Path, **options: Any) -> None:
    """Fit a network to DATA: a table as CSV, TSV (also .gz, .bz2, .xz), Parquet or NPZ.

    Every column but the target is an input; columns of text become one input for each of their
    values. Learns numbers, or classes where the target is text.
    """
    from greedynet.cli.commands.fit import run

    run(data, target, out, **options)


@main.command()
@_MODEL
@_DATA
@click.option(
    "--out",
    required=True,
    type=_OUTPUT,
    metavar="FILE",
    help="Where the predictions go, as CSV, or as TSV if FILE ends in .tsv.",
)
@click.option(
    "--missing",
    type=click.Choice(["drop", "mean"]),
    help="Rows with empty cells: their line stays empty, or put the training mean in; by default "
    "as in the fit.",
)
@_UNKNOWN
@_SEPARATOR
@_DECIMAL
def predict(model: Path, data: Path, out: Path, **options: Any) -> None:
    """Predict the rows of DATA with a saved MODEL.

    Columns are found by name. One line for each row, in order: the prediction and, for classes,
    all probabilities. DATA may be larger than the memory.
    """
    from greedynet.cli.commands.predict import run

    run(model, data, out, **options)


@main.command()
@_MODEL
@_DATA
@_TRUE_VALUES
@_MISSING_AS_IN_FIT
@_UNKNOWN
@_SEPARATOR
@_DECIMAL
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
def evaluate(model: Path, data: Path, **options: Any) -> None:
    """Compare the predictions of a saved MODEL with the true values in DATA."""
    from greedynet.cli.commands.evaluate import run

    click.echo(run(model, data, **options))


@main.command()
@_MODEL
@click.argument("data", required=False, type=_INPUT)
@click.option(
    "--out",
    type=_OUTPUT,
    metavar="FILE",
    help="Where the page goes; by default the model's name with .html.",
)
@click.option(
    "--held-out",
    type=_INPUT,
    metavar="FILE",
    help="Rows that the fit has not seen, to tell the errors on.",
)
@_TRUE_VALUES
@_MISSING_AS_IN_FIT
@_UNKNOWN
@_SEPARATOR
@_DECIMAL
@click.option(
    "--output",
    type=click.IntRange(0),
    metavar="N",
    help="Which output to show, from 0, where the model has several.",
)
def report(model: Path, data: Path | None, **options: Any) -> None:
    """Write a page that shows a saved MODEL, with the rows of DATA, such as its training data.

    One HTML file that stands alone: what was fitted and how good it is, the network growing neuron
    by neuron, its neurons, what it needs and where it misses. Without DATA some of it is left out.
    """
    from greedynet.cli.commands.report import run

    click.echo(run(model, data, **options))


@main.command()
@click.option(
    "--out",
    type=FilePath(exists=True, file_okay=False, path_type=Path),
    default=Path(),
    metavar="DIR",
    help="Where the two files go; the current folder by default.",
)
def demo(out: Path) -> None:
    """Fit a network to the hours of daylight, and write a page that shows it.

    Writes greedynet-demo.html and greedynet-demo.safetensors. Takes a few seconds.
    """
    from greedynet.cli.commands.demo import run

    click.echo(run(out))


@main.command()
@_MODEL
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
def info(model: Path, as_json: bool) -> None:
    """Tell what a saved MODEL holds."""
    from greedynet.cli.commands.info import run

    click.echo(run(model, as_json))
