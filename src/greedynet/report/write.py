"""`write_report`: a model and its rows, written into one HTML file."""

import os
from collections.abc import Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from greedynet.report.page import code_html, list_html, page, paragraphs_html, table_html
from greedynet.report.sections import SECTIONS, section_data
from greedynet.report.subject import (
    GIVEN,
    HELD_OUT,
    Subject,
    SubjectRows,
    array_rows,
    as_columns,
    row_label,
    table_rows,
)
from greedynet.report.summary import code_blocks, paragraphs, score_table, suggestions, title
from greedynet.support.files import check_target, write_atomically
from greedynet.support.threads import deterministic_threads
from greedynet.tables.columns import Missing
from greedynet.tables.hold_out import has_scores, held_out_mask
from greedynet.tables.load import as_labelled_model, open_like
from greedynet.tables.model import TableModel
from greedynet.tables.readers import Table
from greedynet.views.models import check_output, network_inputs


def write_report(
    model: Any,
    path: str | os.PathLike[str],
    X: Any = None,
    y: Any = None,
    *,
    held_out: Any = None,
    target: str | None = None,
    missing: Missing = None,
    separator: str | None = None,
    decimal: str | None = None,
    thousands: str | None = None,
    encoding: str | None = None,
    output: int | None = None,
    model_file: str = "model.safetensors",
) -> None:
    """Write one HTML file about a model: summary, growth, neurons, importance, errors.

    The file is self-contained: it can be sent by mail, and fetches nothing when it is opened. If
    there are more than 1,000 rows, it contains a sample of 1,000; without rows, it contains the
    sections that need none.

    Parameters
    ----------
    model : TableModel, estimator or Network
        A fitted model. Of a pipeline, the last step, with rows as the steps before make them.
    path : str or path
        File to write, such as "report.html".
    X : array-like of shape (n_rows, n_features), or a table, or None, default=None
        Rows on which to inspect the model, such as its training data: inputs, together with `y`; or
        a file or data frame that contains the target too.
    y : array-like of shape (n_rows,) or None, default=None
        Targets of the rows, if `X` is an array.
    held_out : pair of arrays `(X, y)`, or a table, or None, default=None
        Rows that were not used in the fit: all charts and tables are about them, and those about
        the other rows are one click away. By default, the rows that `fit_table` set aside, if `X`
        is the table of the fit.
    target : str or None, default=None
        The column to predict, and its name on the page; None for that of the fit.
    missing : {"learn", "drop", "mean"} or None, default=None
        How to treat empty cells of a table, as for `evaluate`; None for the same as in training.
    separator : str or None, default=None
        Separator of the cells of a text file; None to detect it.
    decimal, thousands : str or None, default=None
        Marks of numbers in text, as for `fit_table`; None for those of the fit.
    encoding : str or None, default=None
        Encoding of a text file; None to detect it.
    output : int or None, default=None
        Output to show, if the model has several.
    model_file : str, default="model.safetensors"
        File of the model, for the code at the end of the page.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> import numpy as np
    >>> import greedynet
    >>> X = np.linspace(-1, 1, 200)[:, None]
    >>> y = np.abs(X[:, 0])
    >>> model = greedynet.GreedyNetRegressor().fit(X, y)
    >>> file = pathlib.Path(tempfile.mkdtemp()) / "report.html"
    >>> greedynet.write_report(model, file, X, y)
    >>> file.read_text(encoding="utf-8")[:15]
    '<!doctype html>'
    """
    check_target(path)
    target = None if target is None else str(target)
    table = as_columns(model)
    which = 0 if table.classes_ is not None else check_output(table.network.n_outputs, output)

    def opened(source: Any) -> Table:
        how = {"decimal": decimal, "thousands": thousands, "encoding": encoding}
        return open_like(model, _check_table(source), separator=separator, **how)

    def read(source: Table) -> SubjectRows:
        return table_rows(table, source, target, missing=missing)

    rows = held = None
    if y is not None:
        rows = array_rows(table, network_inputs(model, X), y, which, GIVEN)
    elif X is not None:
        source = opened(X)
        # With the names of the table, if the model has none.
        table = as_labelled_model(model, source, target)
        rows = read(source)
    if isinstance(held_out, tuple | list):
        held_X, held_y = held_out
        held = array_rows(table, network_inputs(model, held_X), held_y, which, "held-out rows")
    elif held_out is not None:
        held = read(opened(held_out))
    if rows is not None and held is None:
        rows, held = _divided(table, rows)
    name = target or table.target or ("y" if table.classes_ is None else "the class")
    subject = Subject(table, name, rows, held, which)
    with deterministic_threads(1):  # many small products, which threads would slow down
        text = report_page(subject, Path(model_file).name)
    write_atomically(path, text.encode("utf-8"))


def _divided(table: TableModel, rows: SubjectRows) -> tuple[SubjectRows, SubjectRows | None]:
    """Return the rows of the fit and those that it set aside, if these are its rows."""
    mask = held_out_mask(table.about.get("held_out"), rows.y)
    return (rows, None) if mask is None else (rows.taken(~mask), rows.taken(mask))


def _check_table(source: Any) -> Any:
    """Return a table; raise an error for an array, which has no targets."""
    if isinstance(source, str | os.PathLike | Mapping) or hasattr(source, "columns"):
        return source
    if not hasattr(source, "blocks"):
        raise ValueError(
            "`y` must be given together with an array, which has no column to predict, got None: "
            "write `write_report(model, path, X, y)`, or give a file or a data frame; for rows "
            "held out, `held_out=(X, y)`."
        )
    return source


def report_page(subject: Subject, file: str) -> str:
    """Return the page about a model, which has a file."""
    scores = known_scores(subject)
    parts = {
        "summary": paragraphs_html(paragraphs(subject, scores)),
        "scores": table_html(score_table(scores), "Errors of the network"),
        "suggestions": list_html(suggestions(subject, scores, file)),
        "code": code_html(code_blocks(subject, file)),
        "date": datetime.now(UTC).strftime("%Y-%m-%d"),
    }
    return page(title(subject), parts, SECTIONS, section_data(subject))


def known_scores(subject: Subject) -> dict[str, dict[str, Any]]:
    """Return errors by name, for every known set of rows, those held out first."""
    scores = {}
    about = subject.about
    if subject.held_out is not None:
        scores[HELD_OUT] = subject.scores(subject.held_out)
    elif has_scores(found := about.get("held_out")):
        scores[HELD_OUT] = {name: found[name] for name in about["training"]}
    for part in ("validation", "training"):
        if about.get(part) is not None:
            scores[f"{part} rows"] = dict(about[part])
    if subject.rows is not None:
        scores[row_label(subject, subject.rows)] = subject.scores(subject.rows)
    return scores
