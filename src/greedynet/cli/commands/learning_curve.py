"""The command `greedynet learning-curve`: whether more rows would help."""

import json
from pathlib import Path
from typing import Any

import click

from greedynet.cli.files import check_files
from greedynet.cli.options import (
    AS_JSON,
    DATA,
    DATES,
    IGNORE,
    MISSING,
    OUTPUT,
    parameter_option,
    reading,
)
from greedynet.cli.progress import reporter


@click.command("learning-curve")
@DATA
@click.option("--target", required=True, metavar="COLUMN", help="The column to predict.")
@click.option(
    "--repeats",
    type=click.IntRange(1),
    default=3,
    show_default=True,
    metavar="N",
    help="How often another fifth of the rows is held out.",
)
@click.option("--groups", metavar="COLUMN", help="Hold out whole groups of this column.")
@click.option(
    "--classes", is_flag=True, help="Treat the numbers in the target as classes, as in fit."
)
@MISSING
@IGNORE
@parameter_option("max_nodes")
@parameter_option("hidden_layers")
@click.option(
    "--plot", type=OUTPUT, metavar="FILE", help="Also draw the curve, such as curve.png or .svg."
)
@reading
@DATES
@AS_JSON
def learning_curve(
    data: Path, target: str, plot: Path | None, as_json: bool, **options: Any
) -> None:
    """Would more rows help? Fits growing parts of DATA, and compares errors on held-out rows."""
    from greedynet.tables.learning import learning_curve as curve_of

    check_files({"DATA": data}, {"--plot": plot})
    given = {name: value for name, value in options.items() if value is not None}
    with reporter() as shown:
        curve = curve_of(data, target, on_fit=lambda n: shown.show(f"{n:,} rows"), **given)
    click.echo(json.dumps(_plain(curve), indent=1) if as_json else str(curve))
    if plot is not None:
        _draw(curve, plot)
        click.echo(f"wrote {plot}")


def _plain(curve: Any) -> dict[str, Any]:
    return {
        "rows": curve.sizes.tolist(),
        "measure": curve.measure,
        "held_out": curve.held_out.tolist(),
        "training": curve.training.tolist(),
        "gain": curve.gain,
        "would_help": curve.is_clear,
    }


def _draw(curve: Any, plot: Path) -> None:
    from greedynet.plots import draw_learning_curve

    draw_learning_curve(curve).figure_.savefig(plot, bbox_inches="tight")
