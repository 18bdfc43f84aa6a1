"""The command `greedynet export`: convert a saved model to another format."""

from pathlib import Path
from typing import Any

import click

from greedynet.cli.files import check_files
from greedynet.cli.options import MODEL, OUTPUT
from greedynet.cli.shell import either
from greedynet.export.registry import FILE_EXPORTERS

_TITLES = either([exporter.title for exporter in FILE_EXPORTERS.values()])


@click.command(help=f"Export a saved MODEL to {_TITLES}, checked against its predictions.")
@MODEL
@click.option(
    "--to",
    "target",
    type=click.Choice(list(FILE_EXPORTERS)),
    required=True,
    help="The format.",
)
@click.option(
    "--out",
    type=OUTPUT,
    default=None,
    metavar="FILE",
    help="The output file; by default the name of the model with another suffix.",
)
@click.option(
    "--dtype",
    type=click.Choice(["float32", "float64"]),
    default="float32",
    show_default=True,
    help="Precision of the weights.",
)
def export(model: Path, target: str, out: Path | None, dtype: str) -> None:
    """Write the file, and print how to use it."""
    from greedynet.export.resolve import as_parts
    from greedynet.tables.load import load

    exporter = FILE_EXPORTERS[target]
    path = out or model.with_suffix(str(exporter.suffix))
    check_files({"MODEL": model}, {"--out": path})
    saved = load(model)
    network, classes, _ = as_parts(saved, "greedynet export")
    hint = exporter.write_file(saved, path, dtype)
    click.echo(f"wrote {path}: {network.describe().splitlines()[0]}")
    if classes is not None:
        click.echo(f"{exporter.class_outputs} of the classes {_listed(classes.tolist())}")
    click.echo(hint)


def _listed(classes: list[Any]) -> str:
    shown = ", ".join(map(repr, classes[:6]))
    return f"{shown}, ... ({len(classes)})" if len(classes) > 6 else shown
