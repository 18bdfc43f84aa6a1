"""The command `greedynet reproduce`: run the examples of the paper, and write the results."""

import json
from datetime import date
from pathlib import Path
from typing import TYPE_CHECKING

import click

from greedynet.cli.shell import FilePath
from greedynet.support.files import require

if TYPE_CHECKING:
    from rich.console import Console

    from greedynet.paper.reproduce import Part, Settings

    # By the number of the example and the name of the part.
    Results = dict[int, dict[str, Part]]


@click.command()
@click.argument("numbers", nargs=-1, type=click.IntRange(1, 5), metavar="[1 2 3 4 5]")
@click.option("--quick", is_flag=True, help="A short version, which takes less than a minute.")
@click.option(
    "--out",
    type=FilePath(file_okay=False, path_type=Path),
    default=None,
    metavar="DIR",
    help="Folder for the results; by default reproduction, or reproduction-quick.",
)
def reproduce(numbers: tuple[int, ...], quick: bool, out: Path | None) -> None:
    """Run the examples of the paper: greedy start, training from it and from random starts.

    Writes report.md, with a table and the figures, and results.json to DIR.
    """
    chosen = sorted(set(numbers)) or [1, 2, 3, 4, 5]
    folder = out or Path("reproduction-quick" if quick else "reproduction")
    require("matplotlib", "plots", "greedynet reproduce")
    from rich.console import Console
    from rich.table import Table

    from greedynet.paper.figures import draw
    from greedynet.paper.report import HEADER, markdown, rows
    from greedynet.paper.reproduce import Settings

    settings = Settings.quick() if quick else Settings()
    console = Console()
    figures = folder / "figures"
    try:
        figures.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise ValueError(
            f"cannot write to the folder {str(folder)!r}: name another with --out."
        ) from error
    results = _with_progress(chosen, settings, console)
    with console.status("drawing figures"):
        pictures = {number: draw(number, parts) for number, parts in results.items()}
    for drawn in pictures.values():
        for picture in drawn:
            (figures / f"{picture.name}.png").write_bytes(picture.png)
    note = _note(settings, quick)
    (folder / "results.json").write_text(json.dumps(summary(results, settings), indent=1))
    page = folder / "report.md"
    page.write_text(markdown(results, pictures, note))
    table = Table(*HEADER[:7], box=None, pad_edge=False)
    for row in rows(results):
        table.add_row(*row[:7], style="dim" if row[1] == "published" else None)
    console.print(table)
    console.print(f"\n{note}\nReport: {page}", highlight=False, soft_wrap=True)


def summary(results: "Results", settings: "Settings") -> "Part":
    """Return the numbers of a run without weights and curves, small enough to commit."""
    from importlib.metadata import version

    def numbers(part: "Part") -> "Part":
        kept = {}
        for name, value in part.items():
            if isinstance(value, dict):
                kept[name] = numbers(value)
            elif isinstance(value, (int, float, type(None))) or name == "test_errors":
                kept[name] = value
        return kept

    return {
        "date": date.today().isoformat(),
        "greedynet": version("greedynet"),
        "settings": vars(settings),
        "examples": {
            str(k): {name: numbers(part) for name, part in parts.items()}
            for k, parts in results.items()
        },
    }


def _note(settings: "Settings", quick: bool) -> str:
    what = (
        f"{settings.epochs:,} epochs, {settings.restarts} random starts, batches of a "
        f"{settings.batches}th of the training data for the random starts, of all of it for the "
        "greedy start."
    )
    warning = " This is a short version: the paper uses 10,000 epochs, ten random starts and "
    return what + (warning + "batches of a hundredth." if quick else "")


def _with_progress(numbers: list[int], settings: "Settings", console: "Console") -> "Results":
    from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn

    from greedynet.paper.reproduce import part_names, reproduce

    names = [name for number in numbers for name in part_names(number)]
    columns = (
        TextColumn("{task.description:28}"),
        BarColumn(),
        TextColumn("{task.percentage:3.0f} %"),
        TimeElapsedColumn(),
    )
    with Progress(*columns, console=console) as bars:
        whole = bars.add_task("all", total=len(names))
        single = bars.add_task("", total=1.0)
        seen = dict.fromkeys(names, 0.0)

        def progress(name: str, share: float) -> None:
            if seen[name] == share == 0.0:
                bars.reset(single, total=1.0, description=name)
            seen[name] = share
            bars.update(single, completed=share)
            bars.update(whole, completed=sum(seen.values()))

        return reproduce(numbers, settings, progress)
