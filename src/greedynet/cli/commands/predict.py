"""The command `greedynet predict`: write predictions for a table, block by block."""

import csv
import io
import warnings
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from greedynet.cli.describe import plural
from greedynet.cli.files import check_files
from greedynet.cli.options import DATA, DECIMAL, MODEL, OUTPUT, SEPARATOR, UNKNOWN
from greedynet.cli.prediction_columns import PredictionColumns

if TYPE_CHECKING:
    from greedynet.tables.model import TableModel
    from greedynet.tables.readers import Table

_ENDINGS = (".parquet", ".pq", ".npz", ".xlsx", ".json", ".gz", ".bz2", ".xz")


@click.command()
@MODEL
@DATA
@click.option(
    "--out",
    required=True,
    type=OUTPUT,
    metavar="FILE",
    help="The file of the predictions, as CSV, or as TSV if FILE ends in .tsv.",
)
@click.option(
    "--missing",
    type=click.Choice(["learn", "drop", "mean"]),
    help="Empty cells: as learned; leave the prediction empty; or as learned, and the mean of the "
    "training data in columns without empty cells in the fit, where learn is an error. By default "
    "as in the fit.",
)
@click.option(
    "--interval",
    type=float,
    metavar="SHARE",
    help="Add the columns lower and upper, between which this share of new values lies, such as "
    "0.9.",
)
@click.option(
    "--sets",
    type=float,
    metavar="SHARE",
    help="Add the column classes: the classes that a row may have, of which one is right for this "
    "share of new rows.",
)
@click.option(
    "--outside",
    is_flag=True,
    help="Add the column outside: the columns in which a row is beyond the training data, or "
    "'combination' if only its values together are.",
)
@UNKNOWN
@SEPARATOR
@DECIMAL
def predict(
    model: Path, data: Path, out: Path, separator: str | None, decimal: str, **options: Any
) -> None:
    """Predict the rows of DATA with a saved MODEL.

    Columns are matched by name. The output has one line for each row, in order: the prediction and,
    for classes, all probabilities. DATA may be larger than memory.
    """
    from greedynet.tables.any_model import as_table_model
    from greedynet.tables.findings import check_present
    from greedynet.tables.load import load
    from greedynet.tables.readers import open_table

    check_files({"MODEL": model, "DATA": data}, {"--out": out})
    if out.suffix.lower() in _ENDINGS:
        raise ValueError(f"--out must end in .csv or .tsv, got {str(out)!r}.")
    table = open_table(data, separator, decimal)
    fitted = as_table_model(load(model), table)
    check_present(table, fitted.columns.names, "column")
    known = {*fitted.columns.names, fitted.target}
    new = [name for name in table.names if name not in known]
    if new:
        listed = ", ".join(new[:5]) + (", ..." if len(new) > 5 else "")
        click.echo(f"note: columns not in the model are ignored: {listed}", err=True)
    asked = {name: options.pop(name) for name in ("interval", "sets", "outside")}
    columns = PredictionColumns(fitted, **asked)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        n_rows, n_empty = _write(fitted, table, out, columns, **options)
    for message in dict.fromkeys(str(warning.message) for warning in caught):
        click.echo(f"note: {message}", err=True)
    without = f", {n_empty:,} of them without a prediction" if n_empty else ""
    click.echo(f"wrote {out}: {plural(n_rows, 'row')}{without}")
    if columns.n_outside:
        click.echo(f"note: {columns.sentence(n_rows - n_empty)}", err=True)


def _write(
    model: "TableModel", table: "Table", out: Path, columns: PredictionColumns, **options: Any
) -> tuple[int, int]:
    """Write the predictions; return the number of rows, and how many are empty."""
    from greedynet.support.files import replacing
    from greedynet.tables.readers import TableError

    n_rows = n_empty = 0
    missing, unknown = options["missing"] or model.missing, options["unknown"]
    with replacing(out) as file:
        text = io.TextIOWrapper(file, encoding="utf-8", newline="", write_through=True)
        separator = "\t" if out.suffix.lower() in (".tsv", ".tab") else ","
        writer = csv.writer(text, delimiter=separator, lineterminator="\n")
        for X, full, _ in model.encode_blocks(table, missing=missing, unknown=unknown):
            X[~full] = 0.0
            if n_rows == 0:
                writer.writerow(columns.names())
            for row, is_full in zip(columns.rows(X, full), full.tolist(), strict=True):
                writer.writerow(row if is_full else [""] * len(row))
            n_rows += len(X)
            n_empty += int((~full).sum())
        if n_rows == 0:
            raise TableError(f"{table.label} has no rows below the names.")
        text.detach()
    return n_rows, n_empty
