"""The command `greedynet demo`: a fit to the example data, and its report."""

from pathlib import Path
from typing import TYPE_CHECKING

import click

from greedynet.cli.progress import reporter
from greedynet.cli.shell import FilePath, wrote

if TYPE_CHECKING:
    from greedynet.tables.model import TableModel

_HELD_OUT = 0.2


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
    from greedynet.cli.demo_data import daylight_path
    from greedynet.report import write_report
    from greedynet.support.files import check_target
    from greedynet.tables.fit import fit_table

    data = daylight_path()
    model_file, page = (
        check_target(out / f"greedynet-demo.{ending}") for ending in ("safetensors", "html")
    )
    with reporter() as report:
        model = fit_table(data, "hours", hold_out=_HELD_OUT, progress=report, on_stage=report.show)
    model.save(model_file)
    write_report(model, page, data, model_file=model_file.name)
    click.echo(_summary(model, model_file, page))


def _summary(model: "TableModel", model_file: Path, page: Path) -> str:
    """Return the errors to expect first, then what was fitted and written."""
    from greedynet.cli.demo_data import NOISE

    return "\n".join(
        [
            "How long is the day? Hours of daylight from the day of the year and the latitude, as "
            f"noted by observers who are off by {60 * NOISE:.0f} minutes themselves.",
            model.summary(),
            f"wrote {model_file} after {model.about['seconds']:.1f} s",
            wrote(page),
            "next: greedynet fit your.csv --target COLUMN --hold-out 0.2 --out model.safetensors "
            "--report report.html",
        ]
    )
