"""Code that uses the model elsewhere, for readers of the page to copy."""

import shlex
from collections.abc import Sequence

from greedynet.report.subject import Subject
from greedynet.support.phrases import plural
from greedynet.tables.columns import Input

_ON_A_LINE = 4


def code_blocks(subject: Subject, model_file: str) -> dict[str, str]:
    """Return code examples by the name of their language or tool.

    Parameters
    ----------
    subject : Subject
        The model.
    model_file : str
        Name of its file.
    """
    file = model_file.replace("\\", "\\\\").replace('"', '\\"')
    python = f'import greedynet\n\nmodel = greedynet.load("{file}")\n'
    if subject.about:
        python += f"model.predict({_cells(subject.columns.inputs)})  # or a data frame, or a file"
    else:
        python += f"model.predict(X)  # {plural(len(subject.columns.features), 'column')}"
    shell = shlex.quote(model_file)
    return {
        "Python": python,
        "Command line": f"greedynet predict {shell} new.csv --out predictions.csv\n"
        f"greedynet info {shell}",
        "Other libraries": f"greedynet export {shell} --to onnx\n"
        "greedynet export --help  # lists the other formats",
    }


def _cells(inputs: Sequence[Input]) -> str:
    """Return a row of all columns as a dictionary, one column per line if there are many."""
    cells = [f"{c.name!r}: [{_example(c)}]" for c in inputs if c.gaps_of is None]
    if len(cells) <= _ON_A_LINE:
        return "{" + ", ".join(cells) + "}"
    return "{\n" + "".join(f"    {cell},\n" for cell in cells) + "}"


def _example(column: Input) -> str:
    if column.levels is not None:
        return repr(column.levels[0])
    return f"{column.means[0]:.4g}" if column.means else "0.0"
