"""The command `greedynet fit`: fit a model to a table, save it and print a summary."""

import warnings
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from greedynet.cli.files import check_files
from greedynet.cli.options import (
    DATA,
    DATES,
    IGNORE,
    MEMORY_LIMIT,
    MISSING,
    OUTPUT,
    READING_OPTIONS,
    estimator_parameters,
    fit_options,
    reading,
)
from greedynet.cli.progress import reporter
from greedynet.cli.shell import as_options, scores, wrote

if TYPE_CHECKING:
    from greedynet.model.path import StopReason
    from greedynet.tables.model import TableModel

_NO_ROWS = (
    "note: the report shows no rows, since DATA is too large to be held in memory: write "
    "`greedynet report` with some of its rows for a report that does."
)


@click.command()
@DATA
@click.option("--target", required=True, metavar="COLUMN", help="The column to predict.")
@click.option(
    "--out",
    required=True,
    type=OUTPUT,
    metavar="FILE",
    help="The file of the model, such as model.safetensors.",
)
@fit_options
@click.option(
    "--classes",
    is_flag=True,
    help="Treat the numbers in the target as classes. A target of text always contains classes.",
)
@MISSING
@IGNORE
@click.option(
    "--keep-totals",
    is_flag=True,
    help="Use the last row although it holds the totals of the others.",
)
@click.option(
    "--text",
    multiple=True,
    metavar="COLUMNS",
    help="Treat columns of numbers, such as codes, as text.",
)
@click.option(
    "--use",
    multiple=True,
    metavar="COLUMNS",
    help="Use columns that would be left out: keys, row numbers, constants.",
)
@reading
@DATES
@MEMORY_LIMIT
@click.option(
    "--report",
    type=OUTPUT,
    metavar="FILE",
    help="Also write a report on the network, such as report.html.",
)
@click.option(
    "--checkpoint",
    type=OUTPUT,
    metavar="FILE",
    help="Save the progress of the fit every few seconds; if it is interrupted, the same command "
    "resumes from there.",
)
def fit(data: Path, target: str, out: Path, report: Path | None, **options: Any) -> None:
    """Fit a network to DATA: CSV, TSV, JSON lines, Parquet, Excel, DuckDB or NPZ, or -.

    Text may be compressed. DATA may be larger than memory, and a folder of Parquet files.

    Every column except the target is an input; columns of text are one-hot encoded, dates become
    elapsed time and positions in the year, the week and the day. The fit is a regression, or a
    classification if the target is text.
    """
    from greedynet.estimators.checkpoint import checkpoint
    from greedynet.report import write_report
    from greedynet.support.errors import TableWarning
    from greedynet.tables.fit import fit_table
    from greedynet.tables.readers import open_table

    check_files(
        {"DATA": data, "--validate": options["validate"]},
        {"--out": out, "--report": report, "--checkpoint": options["checkpoint"]},
    )
    parameters = estimator_parameters(options)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        with reporter() as shown, checkpoint(options.pop("checkpoint")):
            options |= {"progress": shown, "on_stage": shown.show}
            model = fit_table(data, target, **options, **parameters)
    said = [*(str(warning.message) for warning in caught), *model.about["noticed"]]
    for message in dict.fromkeys(map(as_options, said)):
        click.echo(f"note: {message}", err=True)
    model.save(out)
    # Before the report: the model has been saved even if the report fails.
    click.echo(summary(model, out, chose_nodes="n_nodes" not in parameters))
    if report is not None:
        table = None
        if model.about.get("in_blocks"):
            click.echo(_NO_ROWS, err=True)
        else:
            with warnings.catch_warnings(action="ignore", category=TableWarning):  # said above
                table = open_table(data, **{name: options[name] for name in READING_OPTIONS})
        write_report(model, report, table, model_file=out.name)
        click.echo(wrote(report))


def summary(model: "TableModel", out: Path, *, chose_nodes: bool = True) -> str:
    """Return the errors to expect, what was fitted, and suggestions for the next steps."""
    about, lines = model.about, [model.summary()]
    lines.append(f"training: {scores(about['training'])}")
    if about.get("in_blocks"):
        lines.append("read in blocks, since it would take more memory than --memory-limit")
    if about["validation"] is not None:
        lines.append(f"validation: {scores(about['validation'])}")
    if about["held_out"] is not None:
        found = {name: about["held_out"][name] for name in about["training"]}
        lines.append(f"held out: {scores(found)}")
    lines.append(f"wrote {out} after {about['seconds']:.1f} s")
    lines += [f"next: {advice}" for advice in _advice(model, out, chose_nodes)]
    return "\n".join(lines)


def _advice(model: "TableModel", out: Path, chose_nodes: bool) -> list[str]:
    advice = []
    if model.about["validation"] is None and model.about["held_out"] is None:
        advice.append(f"greedynet evaluate {out} other.csv, for rows that were not used in the fit")
    advice.append(f"greedynet predict {out} new.csv --out predictions.csv")
    width = _width_advice(model.estimator.stop_reason_) if chose_nodes else None
    return advice if width is None else [*advice, width]


def _width_advice(reason: "StopReason") -> str | None:
    """Return what the model says of its width where the user may do something about it."""
    from greedynet.model.path import StopReason

    R = StopReason
    helps = (R.MAX_NODES, R.MAX_SECONDS, R.EXHAUSTED, R.TOLERANCE, R.NEARLY, R.EXACT)
    return as_options(str(reason)) if reason in helps else None
