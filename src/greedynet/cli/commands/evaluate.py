"""The command `greedynet evaluate`: how good a saved model is on a table."""

import json
from pathlib import Path

from greedynet.cli.commands.words import plural, score_name
from greedynet.tables.load import load
from greedynet.tables.model import Missing, Unknown
from greedynet.tables.readers import open_table
from greedynet.tables.score import as_labelled_model, evaluate


def run(
    model: Path,
    data: Path,
    *,
    target: str | None = None,
    missing: Missing = None,
    unknown: Unknown = "error",
    separator: str | None = None,
    decimal: str = ".",
    as_json: bool = False,
) -> str:
    """Return the errors, a line each.

    Parameters
    ----------
    model : Path
        A file written by `save`.
    data : Path
        The table.
    target, missing, unknown : str or None
        As in `tablescore.evaluate`.
    separator : str or None
        What stands between cells of a text file.
    decimal : {".", ","}
        What stands before the decimals of numbers.
    as_json : bool
        Whether to return JSON instead.
    """
    table = open_table(data, separator, decimal)
    fitted = as_labelled_model(load(model), table, target)
    found = evaluate(fitted, table, target, missing=missing, unknown=unknown)
    if as_json:
        return json.dumps(found, indent=1)
    left = f" ({found['left_out']:,} left out)" if found["left_out"] else ""
    lines = [f"{data.name}: {plural(found['rows'], 'row')}{left}"]
    for name, value in found.items():
        if name in ("rows", "left_out"):
            continue
        shown = "not defined: all targets are the same" if value is None else f"{value:.6g}"
        lines.append(f"  {score_name(name):<16} {shown}")
    return "\n".join(lines)
