"""The command `greedynet predict`: write predictions for a table, block by block."""

import io
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any

import click

from greedynet.cli.files import check_files, standard_output
from greedynet.cli.options import DATA, MODEL, OUTPUT_OR_STREAM, READING_OPTIONS, reading
from greedynet.cli.prediction_columns import CellWriter, KeptColumns, PredictionColumns
from greedynet.cli.shell import plural

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
    type=OUTPUT_OR_STREAM,
    metavar="FILE",
    help="The file of the predictions, as CSV, or as TSV if FILE ends in .tsv; - for standard "
    "output.",
)
@click.option(
    "--keep",
    multiple=True,
    metavar="COLUMNS",
    help="Columns of DATA to copy, such as id,name, which come first; repeatable.",
)
@click.option(
    "--safe-cells",
    is_flag=True,
    help="Write an apostrophe before text that a spreadsheet would take for a formula, such as "
    "=1+1; by default text stays as it is, and a note says where.",
)
@click.option(
    "--missing",
    type=click.Choice(["learn", "drop", "mean"]),
    help="Empty cells: as learned; leave the prediction empty; or as learned, and the mean of the "
    "training data in columns without empty cells in the fit, of which learn warns. By default "
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
@reading
def predict(model: Path, data: Path, out: Path | str, **options: Any) -> None:
    """Predict the rows of DATA with a saved MODEL.

    Columns are matched by name. The output has one line for each row, in order: the columns to
    keep, the prediction and, for classes, all probabilities. DATA may be larger than memory; -
    reads standard input.
    """
    from greedynet.tables.findings import check_present
    from greedynet.tables.load import as_table_model, load, open_like

    check_files({"MODEL": model, "DATA": data}, {"--out": out})
    if _suffix(out) in _ENDINGS:
        raise ValueError(f"--out must end in .csv or .tsv, got {str(out)!r}.")
    loaded = load(model)
    table = open_like(loaded, data, **{name: options.pop(name) for name in READING_OPTIONS})
    kept = KeptColumns(table, options.pop("keep"))
    fitted = as_table_model(loaded, table, beside=kept.names)
    check_present(table, fitted.columns.names, "column")
    _note_ignored(fitted, table, kept)
    asked = {name: options.pop(name) for name in ("interval", "sets", "outside")}
    columns = PredictionColumns(fitted, **asked)
    kept.check_against(columns.names())
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        n_rows, n_empty, notes = _write(fitted, table, out, columns, kept, **options)
    without = f", {n_empty:,} of them without a prediction" if n_empty else ""
    if isinstance(out, Path):
        click.echo(f"wrote {out}: {plural(n_rows, 'row')}{without}")
    if columns.n_outside:
        notes.append(columns.sentence(n_rows - n_empty))
    for message in dict.fromkeys([*(str(warning.message) for warning in caught), *notes]):
        click.echo(f"note: {message}", err=True)


def _suffix(out: Path | str) -> str:
    return out.suffix.lower() if isinstance(out, Path) else ""


def _note_ignored(model: "TableModel", table: "Table", kept: KeptColumns) -> None:
    of_rows = (model.about.get(role) for role in ("groups", "weights", "time"))
    known = {*model.columns.names, model.target, *kept.names, *of_rows}
    new = [name for name in table.names if name not in known]
    if new:
        listed = ", ".join(new[:5]) + (", ..." if len(new) > 5 else "")
        click.echo(f"note: columns not in the model are ignored: {listed}", err=True)


@contextmanager
def _opened(out: Path | str) -> Iterator[IO[str]]:
    """Lend the output as a text file."""
    from greedynet.support.files import replacing

    with replacing(out) if isinstance(out, Path) else standard_output() as file:
        text = io.TextIOWrapper(file, encoding="utf-8", newline="", write_through=True)
        try:
            yield text
        finally:
            text.detach()  # it would close standard output


def _write(
    model: "TableModel",
    table: "Table",
    out: Path | str,
    columns: PredictionColumns,
    kept: KeptColumns,
    **options: Any,
) -> tuple[int, int, list[str]]:
    """Write the predictions; return the number of rows, how many are empty, and notes."""
    from greedynet.tables.columns import encode_blocks
    from greedynet.tables.readers import TableError

    n_rows = n_empty = 0
    missing = options["missing"] or model.missing
    with _opened(out) as text:
        separator = "\t" if _suffix(out) in (".tsv", ".tab") else ","
        writer = CellWriter(text, separator, safe=options["safe_cells"])
        for rows in encode_blocks(model.columns, table, missing=missing, also=kept.names):
            if n_rows == 0:
                writer.write([*kept.names, *columns.names()])
            are_full = rows.full.tolist()
            found = zip(kept.rows(rows.cells), columns.rows(rows), are_full, strict=True)
            for keys, row, is_full in found:
                writer.write([*keys, *(row if is_full else [""] * len(row))])
            n_rows += len(are_full)
            n_empty += are_full.count(False)
        if n_rows == 0:
            raise TableError(f"{table.label} has no rows below the names.")
    note = writer.note()
    return n_rows, n_empty, [] if note is None else [note]
