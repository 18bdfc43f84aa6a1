"""Code that uses the model elsewhere, for readers of the page to copy."""

import shlex
from collections.abc import Sequence

from greedynet.report.subject import Subject
from greedynet.support.phrases import plural
from greedynet.tables.columns import Input

_ON_A_LINE = 4
_OF_PIPELINE = """pipeline.predict(X)  # columns as they were before the first step

# The network alone, for inputs as the steps before it make them:
pipeline[-1].save("model.safetensors")"""


def code_blocks(subject: Subject, model_file: str | None) -> dict[str, str]:
    """Return code examples by the name of their language or tool.

    Parameters
    ----------
    subject : Subject
        The model.
    model_file : str or None
        Name of its file; None for a pipeline, which has none.
    """
    if model_file is None:
        return {"Python": _OF_PIPELINE}
    file = model_file.replace("\\", "\\\\").replace('"', '\\"')
    python = f'import greedynet\n\nmodel = greedynet.load("{file}")\n'
    if subject.about:
        python += f"model.predict({_cells(subject.columns.inputs)})  # or a data frame, or a file"
    else:
        n_columns = sum(column.gaps_of is None for column in subject.columns.inputs)
        python += f"model.predict(X)  # {plural(n_columns, 'column')}"
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
    example = column.kind.example(column.means)
    if isinstance(example, str):
        return repr(example)
    return f"{example:.4g}" if column.means else "0.0"
