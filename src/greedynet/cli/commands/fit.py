"""The command `greedynet fit`: a table into a saved model, and a summary."""

import warnings
from pathlib import Path
from typing import Any

import click

from greedynet.cli.commands.places import check_places
from greedynet.cli.commands.progress import reporter
from greedynet.cli.commands.report import wrote
from greedynet.cli.commands.words import features, plural, scores
from greedynet.model.stop_reason import StopReason
from greedynet.report import write_report
from greedynet.tables.fit import fit_table
from greedynet.tables.model import TableModel
from greedynet.tables.readers import open_table

_PARAMETERS = {
    "max_nodes": "max_nodes",
    "nodes": "n_nodes",
    "activation": "activation",
    "loss": "loss",
    "quantile": "quantile",
    "seed": "random_state",
    "checkpoint": "checkpoint",
}

# What to try, in the words of the command line.
_ADVICE = {
    StopReason.MAX_NODES: "The most nodes were reached; allow more with --max-nodes.",
    StopReason.EXHAUSTED: "More nodes take more distinct rows.",
    StopReason.TOLERANCE: "The training rows are reproduced; more nodes cannot help.",
    StopReason.EXACT: "The training rows are reproduced; more nodes cannot help.",
}


def run(data: Path, target: str, out: Path, report: Path | None = None, **options: Any) -> None:
    """Fit, save, and say how it went.

    Parameters
    ----------
    data : Path
        The table.
    target : str
        The column to learn.
    out : Path
        Where the model goes.
    report : Path or None
        Where a report goes, if one is wanted.
    **options
        The command's options by name; None where they were not given.
    """
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


def summary(model: TableModel, data: Path, out: Path, *, chose_nodes: bool = True) -> str:
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


def _advice(model: TableModel, out: Path, chose_nodes: bool) -> list[str]:
    advice = []
    if model.about["validation"] is None:
        advice.append(f"greedynet evaluate {out} other.csv, for rows it has not seen")
    advice.append(f"greedynet predict {out} new.csv --out predictions.csv")
    reason = model.estimator.stop_reason_
    if chose_nodes and reason in _ADVICE:
        advice.append(_ADVICE[reason])
    return advice
