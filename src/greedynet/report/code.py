"""Code that uses the model elsewhere, for readers of the page to copy."""

import shlex

from greedynet.report.subject import Subject
from greedynet.support.phrases import plural
from greedynet.tables.columns import Input


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
        cells = ", ".join(f"{c.name!r}: [{_example(c)}]" for c in subject.columns.inputs[:4])
        more = ", ..." if len(subject.columns.inputs) > 4 else ""
        python += f"model.predict({{{cells}{more}}})  # or a data frame, or a file"
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


def _example(column: Input) -> str:
    if column.levels is not None:
        return repr(column.levels[0])
    return f"{column.means[0]:.4g}" if column.means else "0.0"
