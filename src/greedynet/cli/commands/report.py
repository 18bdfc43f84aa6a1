"""The command `greedynet report`: a page about a saved model."""

from pathlib import Path

from greedynet.cli.commands.places import check_places
from greedynet.report import write_report
from greedynet.support.phrases import plural
from greedynet.tables.load import load
from greedynet.tables.model import Missing, Unknown
from greedynet.tables.readers import Table, open_table


def run(
    model: Path,
    data: Path | None,
    *,
    out: Path | None = None,
    held_out: Path | None = None,
    target: str | None = None,
    missing: Missing = None,
    unknown: Unknown = "error",
    separator: str | None = None,
    decimal: str = ".",
    output: int | None = None,
) -> str:
    """Write the page; return the lines that say where it is.

    Parameters
    ----------
    model : Path
        A file written by `save`.
    data : Path or None
        Rows to look at it with.
    out : Path or None
        Where the page goes; None for the model's name with another ending.
    held_out, target, missing, unknown
        As in `write_report`.
    separator, decimal
        As in `open_table`.
    output : int or None
        Which output to show, where the model has several.
    """

    def opened(file: Path | None) -> Table | None:
        return None if file is None else open_table(file, separator, decimal)

    path = out or model.with_suffix(".html")
    check_places({"MODEL": model, "DATA": data, "--held-out": held_out}, {"--out": path})
    write_report(
        load(model),
        path,
        opened(data),
        held_out=opened(held_out),
        target=target,
        missing=missing,
        unknown=unknown,
        output=output,
        model_file=model.name,
    )
    lines = [wrote(path)]
    if data is None:
        lines.append(f"next: greedynet report {model} data.csv, for the parts that need rows")
    return "\n".join(lines)


def wrote(path: Path) -> str:
    """Say where a page is."""
    size = plural(round(path.stat().st_size / 1000), "kilobyte")
    return f"wrote {path} ({size}): open it in a browser"
