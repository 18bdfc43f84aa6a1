"""The command `greedynet report`: a page about a saved model."""

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from greedynet.cli.describe import wrote
from greedynet.cli.options import (
    DECIMAL,
    INPUT,
    MISSING_AS_IN_FIT,
    MODEL,
    OUTPUT,
    SEPARATOR,
    TRUE_VALUES,
    UNKNOWN,
)
from greedynet.cli.places import check_places

if TYPE_CHECKING:
    from greedynet.tables.readers import Table


@click.command()
@MODEL
@click.argument("data", required=False, type=INPUT)
@click.option(
    "--out",
    type=OUTPUT,
    metavar="FILE",
    help="Where the page goes; by default the model's name with .html.",
)
@click.option(
    "--held-out",
    type=INPUT,
    metavar="FILE",
    help="Rows that the fit has not seen, to tell the errors on.",
)
@TRUE_VALUES
@MISSING_AS_IN_FIT
@UNKNOWN
@SEPARATOR
@DECIMAL
@click.option(
    "--output",
    type=click.IntRange(0),
    metavar="N",
    help="Which output to show, from 0, where the model has several.",
)
def report(
    model: Path,
    data: Path | None,
    out: Path | None,
    held_out: Path | None,
    separator: str | None,
    decimal: str,
    **options: Any,
) -> None:
    """Write a page that shows a saved MODEL, with the rows of DATA, such as its training data.

    One HTML file that stands alone: what was fitted and how good it is, the network growing neuron
    by neuron, its neurons, what it needs and where it misses. Without DATA some of it is left out.
    """
    from greedynet.report import write_report
    from greedynet.tables.load import load
    from greedynet.tables.readers import open_table

    def opened(file: Path | None) -> "Table | None":
        return None if file is None else open_table(file, separator, decimal)

    page = out or model.with_suffix(".html")
    check_places({"MODEL": model, "DATA": data, "--held-out": held_out}, {"--out": page})
    write_report(
        load(model),
        page,
        opened(data),
        held_out=opened(held_out),
        model_file=model.name,
        **options,
    )
    click.echo(wrote(page))
    if data is None:
        click.echo(f"next: greedynet report {model} data.csv, for the parts that need rows")
