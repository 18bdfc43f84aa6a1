"""The command `greedynet report`: a report on a saved model."""

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from greedynet.cli.files import check_files
from greedynet.cli.options import (
    INPUT,
    MISSING_AS_IN_FIT,
    MODEL,
    OUTPUT,
    READING_OPTIONS,
    TRUE_VALUES,
    data_argument,
    reading,
)
from greedynet.cli.shell import wrote

if TYPE_CHECKING:
    from greedynet.tables.readers import Table


@click.command()
@MODEL
@data_argument(required=False)
@click.option(
    "--out",
    type=OUTPUT,
    metavar="FILE",
    help="The file of the report; by default the name of the model with .html.",
)
@click.option(
    "--held-out",
    type=INPUT,
    metavar="FILE",
    help="Rows that were not used in the fit, on which errors are reported.",
)
@TRUE_VALUES
@MISSING_AS_IN_FIT
@reading
@click.option(
    "--output",
    type=click.IntRange(0),
    metavar="N",
    help="Index of the output to show, from 0, if the model has several.",
)
@click.option(
    "--force",
    is_flag=True,
    help="Overwrite a report with rows by one without.",
)
def report(
    model: Path,
    data: Path | None,
    out: Path | None,
    held_out: Path | None,
    force: bool,
    **options: Any,
) -> None:
    """Write a report on a saved MODEL, with the rows of DATA, such as its training data.

    The report is a self-contained HTML file: the fit and its errors, the growth of the network
    neuron by neuron, its neurons, the importance of the inputs, and the residuals. Without DATA
    some parts are omitted.
    """
    from greedynet.report import write_report
    from greedynet.tables.load import load, open_like

    how = {name: options.pop(name) for name in READING_OPTIONS}

    def opened(file: Path | None) -> "Table | None":
        return None if file is None else open_like(loaded, file, **how)

    page = out or model.with_suffix(".html")
    check_files({"MODEL": model, "DATA": data, "--held-out": held_out}, {"--out": page})
    if data is None and held_out is None and not force:
        _keep_fuller(page)
    loaded = load(model)
    write_report(
        loaded,
        page,
        opened(data),
        held_out=opened(held_out),
        model_file=model.name,
        **options,
    )
    click.echo(wrote(page))
    if data is None:
        click.echo(f"next: greedynet report {model} data.csv, for the parts that require rows")


def _keep_fuller(page: Path) -> None:
    """Raise an error if the page is a report with rows, which one without must not replace."""
    from greedynet.report.page import shows_rows

    if page.is_file() and shows_rows(page.read_text(encoding="utf-8", errors="replace")):
        raise ValueError(
            f"{page} is a report with rows, and would be overwritten by one without: name DATA, "
            "another file by --out, or write --force."
        )
