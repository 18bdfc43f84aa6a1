"""The command `greedynet demo`: a fit to the example data, and its report."""

import csv
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from greedynet.cli.describe import plural, scores, wrote
from greedynet.cli.progress import reporter
from greedynet.cli.shell import FilePath

if TYPE_CHECKING:
    from greedynet.tables.model import TableModel
    from greedynet.tables.readers import Table

MOST_NODES = 60
# One out of this many rows is held out.
_HELD_OUT = 5


@click.command()
@click.option(
    "--out",
    type=FilePath(exists=True, file_okay=False, path_type=Path),
    default=Path(),
    metavar="DIR",
    help="Folder for the two files; by default the current one.",
)
def demo(out: Path) -> None:
    """Fit a network to the hours of daylight, and write a report on it.

    Writes greedynet-demo.html and greedynet-demo.safetensors. Takes a few seconds.
    """
    from greedynet.cli.daylight import daylight_path
    from greedynet.report import write_report
    from greedynet.support.files import check_target
    from greedynet.tables.fit import fit_table
    from greedynet.tables.score import evaluate

    data = daylight_path()
    model_file, page = (
        check_target(out / f"greedynet-demo.{ending}") for ending in ("safetensors", "html")
    )
    seen, unseen = _split(data)
    with reporter() as report:
        model = fit_table(
            seen, "hours", max_nodes=MOST_NODES, progress=report, on_stage=report.show
        )
    model.save(model_file)
    write_report(model, page, seen, held_out=unseen, model_file=model_file.name)
    click.echo(_summary(model, evaluate(model, unseen), data.name, model_file, page))


def _summary(
    model: "TableModel", found: dict[str, Any], data: str, model_file: Path, page: Path
) -> str:
    """Return a summary, with the errors on the held-out rows."""
    return "\n".join(
        [
            "How long is the day? Hours of daylight from the day of the year and the latitude.",
            f"{data}: {plural(model.about['rows'], 'training row')}, {found['rows']} held out",
            f"network: {model.network.describe().splitlines()[0]}",
            f"training: {scores(model.about['training'])}",
            f"held out: RMSE {found['rmse']:.4g}, MAE {found['mae']:.4g}, R2 {found['r2']:.4g}; "
            f"{60 * found['mae']:.0f} minutes off on average",
            f"wrote {model_file} after {model.about['seconds']:.1f} s",
            wrote(page),
            "next: greedynet fit your.csv --target COLUMN --out model.safetensors "
            "--report report.html",
        ]
    )


def _split(data: Path) -> "tuple[Table, Table]":
    """Return four fifths of the rows, and the remaining ones."""
    from greedynet.tables.readers.frame import FrameTable

    with open(data, newline="", encoding="utf-8") as file:
        rows = list(csv.DictReader(file))

    def table(chosen: list[dict[str, str]]) -> "Table":
        columns = {name: [float(row[name]) for row in chosen] for name in rows[0]}
        return FrameTable(columns, data.name)

    return table([row for i, row in enumerate(rows) if i % _HELD_OUT]), table(rows[::_HELD_OUT])
