"""The texts of the page: the summary at its top, and code to copy at its end."""

import shlex
from collections.abc import Sequence
from typing import Any

from greedynet.model.path import StopReason
from greedynet.report.growth import is_trained
from greedynet.report.subject import TRAINING, Subject, row_label
from greedynet.report.trust import (
    bounds_sentence,
    box_sentence,
    coverage_sentence,
    outside_text,
    reach_sentences,
)
from greedynet.support.phrases import number, percent, plural, score_name
from greedynet.tables.columns import Input
from greedynet.tables.hold_out import guess_of
from greedynet.tables.scores import measure_of
from greedynet.tables.summary import (
    errors_in_words,
    first_sentences,
    held_out_sentence,
    roles_text,
)


def title(subject: Subject) -> str:
    network = subject.network
    if network.n_neurons or not network.has_affine_term:
        return f"A network for {subject.target}"
    line = "straight line" if network.ramps is None else "sum of curves"
    return f"A {'constant' if network.is_constant else line} for {subject.target}"


def paragraphs(subject: Subject, scores: dict[str, dict[str, Any]]) -> list[str]:
    """Return what was fitted, how good it is, and why the network has the width it has.

    Errors on rows, `scores`, are in a table of their own.
    """
    said = [first_sentence(subject), _fitted(subject)]
    said.append("" if scores else "No rows were given, so its accuracy is not known.")
    said += [_trust(subject), bounds_sentence(subject), box_sentence(subject)]
    said += [reach_sentences(subject), _width(subject)]
    return [text for text in said if text]


def first_sentence(subject: Subject) -> str:
    """Return the errors to expect on new rows, or an empty text."""
    if subject.held_out is None:
        return first_sentences(subject.table)
    return errors_in_words(subject.table, held_out_sentence(_held_out(subject)))


def _trust(subject: Subject) -> str:
    """Return the coverage of the intervals, and how many rows are outside the training data."""
    rows = subject.inspected
    if rows is None:
        return ""
    label = row_label(subject, rows)
    said = [coverage_sentence(subject, rows, label)]
    if label != TRAINING:
        said.append(outside_text(subject, rows, label))
    return " ".join(text for text in said if text)


def _held_out(subject: Subject) -> dict[str, Any]:
    """Return the errors on the held-out rows, and that of a constant of the other rows."""
    known, held = subject.about.get("held_out") or {}, subject.held_out
    assert held is not None
    found = subject.scores(held)
    measure = measure_of(found)
    others = held if subject.rows is None else subject.rows
    how = known.get("how") if known.get("rows") == len(held) else None
    constant = guess_of(others.y, held.y, measure, others.weights, held.weights)
    return {"rows": len(held), "how": how, "measure": measure, "constant": constant, **found}


def suggestions(subject: Subject, scores: dict[str, dict[str, Any]], model_file: str) -> list[str]:
    """Return suggestions for improvement."""
    found = []
    if subject.shown is None:
        found.append(
            "Predictions, effects, importance and residuals need rows. Pass them with: greedynet "
            f"report {model_file} data.csv"
        )
    gap = _gap(scores)
    if gap is not None and gap > 1.5:
        found.append(
            f"The error on held-out rows is {gap:.1f} times the training error: more training "
            "rows would help most."
        )
    if subject.held_out is None and subject.about.get("validation") is None:
        found.append(
            "Evaluate it on rows that were not used in the fit: greedynet evaluate "
            f"{model_file} other.csv"
        )
    r2 = min((s["r2"] for s in scores.values() if s.get("r2") is not None), default=1.0)
    if r2 < 0.5:
        found.append("Much of the variance is unexplained: look for more informative inputs.")
    return found


def _fitted(subject: Subject) -> str:
    names = subject.columns.names
    n_text = sum(column.levels is not None for column in subject.columns.inputs)
    more = f" and {len(names) - 6} more" if len(names) > 6 else ""
    listed = ", ".join(names[:6]) + more
    source, rows = subject.about.get("source"), subject.about.get("rows")
    of_source = "" if source in (None, "") else f" of {source}"
    fitted = f"{plural(rows or 0, 'row')}{of_source}{roles_text(subject.about)}"
    fitted = "" if rows is None else f" It was fitted to {fitted}."
    what = "a number" if subject.classes is None else f"one of {len(subject.classes)} classes"
    text = f", {n_text} of them text" if n_text else ""
    return (
        f"This network predicts {subject.target} ({what}) from "
        f"{plural(len(names), 'column')}{text}: {listed}.{fitted}"
    )


def _width(subject: Subject) -> str:
    network, path = subject.network, subject.path
    affine = ", which counts as two" if network.has_affine_term else ""
    text = (
        f"The network has {plural(network.n_nodes, 'node')} ({network.contents}{affine}) and "
        f"{plural(network.n_parameters, 'weight')}"
    )
    if network.n_neurons == 0 and network.has_affine_term:
        what = "" if network.ramps is None else "the sum of "
        text = f"It is {what}{network.contents}, with {plural(network.n_parameters, 'weight')}"
    if path is None:
        return f"{text}. How it was grown is not known: its file contains the network alone."
    why = str(path.stop_reason).replace("`", "")
    select: Any = getattr(subject.table.estimator, "select", "best")
    if path.stop_reason is StopReason.VALIDATED and select != "best":
        within = "a standard error" if select == "1se" else percent(select)
        why = f"It is the smallest whose error on held-out rows is within {within} of the best."
    trained = " Finally it was trained further by backpropagation." if is_trained(subject) else ""
    return f"{text}. {why}{trained}"


def _gap(scores: dict[str, dict[str, Any]]) -> float | None:
    """Return the ratio of the error on held-out rows to the training error."""
    seen, unseen = scores.get("training rows"), scores.get("held-out rows")
    if seen is None or unseen is None:
        return None
    name = "rmse" if "rmse" in seen else "log_loss"
    return float(unseen[name] / seen[name]) if seen[name] > 0 else None


def score_table(scores: dict[str, dict[str, Any]]) -> list[list[str]]:
    """Return the errors as a table of text, header first."""
    if not scores:
        return []
    names = list(next(iter(scores.values())))
    body = [
        [label, *("" if found.get(name) is None else number(found[name], 4) for name in names)]
        for label, found in scores.items()
    ]
    return [["", *map(score_name, names)], *body]


_ON_A_LINE = 4


def code_blocks(subject: Subject, model_file: str) -> dict[str, str]:
    """Return code examples by the name of their language or tool."""
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
