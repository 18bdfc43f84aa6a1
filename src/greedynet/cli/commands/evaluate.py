"""The command `greedynet evaluate`: the errors of a saved model on a table."""

import json
from pathlib import Path
from typing import Any

import click

from greedynet.cli.options import (
    AS_JSON,
    DATA,
    MISSING_AS_IN_FIT,
    MODEL,
    READING_OPTIONS,
    TRUE_VALUES,
    reading,
)
from greedynet.cli.shell import plural, score_name


@click.command()
@MODEL
@DATA
@TRUE_VALUES
@MISSING_AS_IN_FIT
@reading
@click.option(
    "--weights",
    metavar="COLUMN",
    help="Weights of the rows, by which they count; by default every row counts once.",
)
@AS_JSON
def evaluate(
    model: Path,
    data: Path,
    target: str | None,
    as_json: bool,
    **options: Any,
) -> None:
    """Compare the predictions of a saved MODEL with the true values in DATA.

    For classes, also shows the precision of each, which is the share of its predictions that are
    right, and its recall, the share of its rows that are found. DATA may be -, standard input.
    """
    from greedynet.tables.load import as_labelled_model, load, open_like
    from greedynet.tables.scores import evaluate as errors_of

    loaded = load(model)
    table = open_like(loaded, data, **{name: options.pop(name) for name in READING_OPTIONS})
    fitted = as_labelled_model(loaded, table, target)
    found = errors_of(fitted, table, target, **options)
    weights = fitted.about.get("weights")
    if weights is not None and options["weights"] is None:
        click.echo(f"note: every row counts once; the fit had --weights {weights}", err=True)
    click.echo(json.dumps(found, indent=1) if as_json else _text(data, found))


def _text(data: Path, found: dict[str, Any]) -> str:
    left = f" ({found['left_out']:,} left out)" if found["left_out"] else ""
    lines = [f"{data.name}: {plural(found['rows'], 'row')}{left}"]
    for name, value in found.items():
        if name in ("rows", "left_out", "by_class"):
            continue
        shown = "not defined: all targets are the same" if value is None else f"{value:.6g}"
        lines.append(f"  {score_name(name):<16} {shown}")
    return "\n".join([*lines, *_class_lines(found.get("by_class", []))])


def _class_lines(found: list[dict[str, Any]]) -> list[str]:
    """Return a table of the classes, with a dash for what is not defined."""
    if not found:
        return []
    width = max(len("class"), *(len(scores["class"]) for scores in found))
    lines = [f"  {'class':<{width}}  {'rows':>9}  precision  recall"]
    for scores in found:
        shown = ("-" if scores[k] is None else f"{scores[k]:.3f}" for k in ("precision", "recall"))
        precision, recall = shown
        lines.append(
            f"  {scores['class']:<{width}}  {scores['rows']:>9,}  {precision:>9}  {recall:>6}"
        )
    return lines
