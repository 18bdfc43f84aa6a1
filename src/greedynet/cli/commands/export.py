"""The command `greedynet export`: a saved model into a file for somewhere else."""

from pathlib import Path
from typing import Any

from greedynet.cli.commands.places import check_places
from greedynet.export.registry import FILE_EXPORTERS
from greedynet.export.resolve import as_network_and_classes
from greedynet.tables.load import load


def run(model: Path, target: str, out: Path | None, dtype: str) -> str:
    """Write the model for the target; return the lines that say what to do with the file.

    Parameters
    ----------
    model : Path
        A file written by `save`.
    target : str
        What to write, a name in `FILE_EXPORTERS`.
    out : Path or None
        Where to; None for the model's name with the target's ending.
    dtype : {"float32", "float64"}
        Precision of the weights.
    """
    exporter = FILE_EXPORTERS[target]
    path = out or model.with_suffix(str(exporter.suffix))
    check_places({"MODEL": model}, {"--out": path})
    saved = load(model)
    network, classes = as_network_and_classes(saved, "greedynet export")
    hint = exporter.write_file(saved, path, dtype)
    lines = [f"wrote {path}: {network.describe().splitlines()[0]}", hint]
    if classes is not None:
        lines.insert(1, f"{exporter.class_outputs} of the classes {_listed(classes.tolist())}")
    return "\n".join(lines)


def _listed(classes: list[Any]) -> str:
    shown = ", ".join(map(repr, classes[:6]))
    return f"{shown}, ... ({len(classes)})" if len(classes) > 6 else shown
