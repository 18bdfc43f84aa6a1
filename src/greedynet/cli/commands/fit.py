"""The command `greedynet fit`: a table into a saved model, and a summary."""

import warnings
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from greedynet.cli.describe import features, plural, scores, wrote
from greedynet.cli.options import DATA, DECIMAL, INPUT, OUTPUT, SEPARATOR
from greedynet.cli.places import check_places
from greedynet.cli.progress import reporter

if TYPE_CHECKING:
    from greedynet.model.stop_reason import StopReason
    from greedynet.tables.model import TableModel

# Options under the names they have in `fit_table`.
_PARAMETERS = {
    "max_nodes": "max_nodes",
    "nodes": "n_nodes",
    "activation": "activation",
    "loss": "loss",
    "quantile": "quantile",
    "seed": "random_state",
    "checkpoint": "checkpoint",
}


def _number_or_name(context: click.Context, parameter: click.Parameter, value: str | None) -> Any:
    try:
        return None if value is None else float(value)
    except ValueError:
        return value


@click.command()
@DATA
@click.option("--target", required=True, metavar="COLUMN", help="The column to learn.")
@click.option(
    "--out",
    required=True,
    type=OUTPUT,
    metavar="FILE",
    help="Where the model goes, such as model.safetensors.",
)
@click.option(
    "--validate",
    type=INPUT,
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
@SEPARATOR
@DECIMAL
@click.option("--seed", type=int, metavar="N", help="Seed of all that is random; 0 by default.")
@click.option(
    "--report",
    type=OUTPUT,
    metavar="FILE",
    help="Write a page that shows the network, such as report.html.",
)
@click.option(
    "--checkpoint",
    type=OUTPUT,
    metavar="FILE",
    help="Note every few seconds how far the fit is; the same command, given again after it was "
    "interrupted, goes on from there.",
)
def fit(data: Path, target: str, out: Path, report: Path | None, **options: Any) -> None:
    """Fit a network to DATA: a table as CSV, TSV (also .gz, .bz2, .xz), Parquet or NPZ.

    Every column but the target is an input; columns of text become one input for each of their
    values. Learns numbers, or classes where the target is text.
    """
    from greedynet.report import write_report
    from greedynet.tables.fit import fit_table
    from greedynet.tables.readers import open_table

    check_places(
        {"DATA": data, "--validate": options["validate"]},
        {"--out": out, "--report": report, "--checkpoint": options["checkpoint"]},
    )
    given = {ours: options.pop(name) for name, ours in _PARAMETERS.items()}
    parameters = {name: value for name, value in given.items() if value is not None}
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        with reporter() as shown:
            options |= {"progress": shown, "on_stage": shown.show}
            model = fit_table(data, target, **options, **parameters)
    for message in dict.fromkeys(str(warning.message) for warning in caught):
        click.echo(f"note: {message}", err=True)
    model.save(out)
    # Before the report: the model is there, whatever becomes of the page.
    click.echo(summary(model, data, out, chose_nodes="n_nodes" not in parameters))
    if report is not None:
        table = open_table(data, options["separator"], options["decimal"])
        write_report(model, report, table, model_file=out.name)
        click.echo(wrote(report))


def summary(model: "TableModel", data: Path, out: Path, *, chose_nodes: bool = True) -> str:
    """Say in a few lines what was fitted, how good it is and what to do next."""
    about = model.about
    left = f" ({about['left_out']:,} left out)" if about["left_out"] else ""
    lines = [f"{data.name}: {plural(about['rows'], 'row')}{left}, {features(model.columns)}"]
    if model.classes is not None:
        names = ", ".join(map(str, model.classes[:5])) + (", ..." if len(model.classes) > 5 else "")
        lines.append(f"target {model.target}: {len(model.classes)} classes ({names}), a classifier")
    else:
        lines.append(f"target {model.target}: numbers, a regression")
    lines.append(f"network: {model.network.describe().splitlines()[0]}")
    lines.append(f"training: {scores(about['training'])}")
    if about["validation"] is not None:
        lines.append(f"validation: {scores(about['validation'])}")
    lines.append(f"wrote {out} after {about['seconds']:.1f} s")
    lines += [f"next: {advice}" for advice in _advice(model, out, chose_nodes)]
    return "\n".join(lines)


def _advice(model: "TableModel", out: Path, chose_nodes: bool) -> list[str]:
    advice = []
    if model.about["validation"] is None:
        advice.append(f"greedynet evaluate {out} other.csv, for rows it has not seen")
    advice.append(f"greedynet predict {out} new.csv --out predictions.csv")
    width = _width_advice(model.estimator.stop_reason_) if chose_nodes else None
    return advice if width is None else [*advice, width]


def _width_advice(reason: "StopReason") -> str | None:
    """What to try about the number of nodes, in the words of the command line."""
    from greedynet.model.stop_reason import StopReason

    match reason:
        case StopReason.MAX_NODES:
            return "The most nodes were reached; allow more with --max-nodes."
        case StopReason.EXHAUSTED:
            return "More nodes take more distinct rows."
        case StopReason.TOLERANCE | StopReason.EXACT:
            return "The training rows are reproduced; more nodes cannot help."
    return None
