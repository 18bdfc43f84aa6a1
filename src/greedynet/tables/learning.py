"""`learning_curve`: would more rows help? Fits to growing parts of a table, all on the same test.

rows held out, the others in random order -> fits to the first of them -> errors by size
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from greedynet.support.phrases import number, percent, plural, score_name
from greedynet.support.types import Float64
from greedynet.tables.column_types import target_of
from greedynet.tables.columns import Missing
from greedynet.tables.findings import Findings, check_present
from greedynet.tables.fit import fit_table
from greedynet.tables.hold_out import HoldOut
from greedynet.tables.readers import Table, TableError, open_table
from greedynet.tables.readers.base import as_text
from greedynet.tables.readers.doors import FrameTable
from greedynet.tables.scores import evaluate, measure_of
from greedynet.tables.survey import survey

_SHARES = (0.125, 0.25, 0.5, 1.0)
_HELD_OUT, _FEWEST = 0.2, 20
# A gain counts if it exceeds so many of its standard errors, and this share of the error: the next
# doubling brings less than the last. See `benchmarks/learning.py` for how often this is right.
_CLEARLY, _WORTHWHILE = 2.0, 0.05


@dataclass(frozen=True, eq=False)
class LearningCurve:
    """Errors of fits to growing numbers of rows.

    Attributes
    ----------
    sizes : ndarray of shape (n_sizes,)
        Numbers of training rows, increasing; each is about half of the next.
    held_out, training : ndarray of shape (n_repeats, n_sizes)
        Errors on the held-out rows of each repeat, the same for all sizes, and on the training
        rows.
    measure : str
        The name of the errors: "rmse"; "mae" or the name of another loss; "log_loss" for classes.
    """

    sizes: NDArray[np.intp]
    held_out: Float64
    training: Float64
    measure: str

    @property
    def gain(self) -> float:
        """By which share of itself the error fell when the rows were doubled the last time."""
        return float(self._gains().mean())

    @property
    def is_clear(self) -> bool:
        """Whether that gain is more than chance, and more than 5 %."""
        gains = self._gains()
        error = gains.std(ddof=1) / np.sqrt(len(gains)) if len(gains) > 1 else np.inf
        return bool(gains.mean() > max(_CLEARLY * error, _WORTHWHILE))

    def _gains(self) -> Float64:
        before, after = self.held_out[:, -2], self.held_out[:, -1]
        return 1.0 - after / np.where(before > 0, before, 1.0)

    def sentence(self) -> str:
        """Return whether more rows would help, in words; it is right a little more often than not.

        On 120 drawn problems of 100 to 600 rows, twice the rows lowered the error by more than 2 %
        in 53: in 19 of 28 where this said that they probably would, and in 18 of 65 where it said
        that they may hardly help. Nearly all of this is from the half of the problems by which the
        constants were chosen; on the other half it was 8 of 14 and 13 of 29 (`docs/trust.md`).
        """
        means, (before, after) = self.held_out.mean(axis=0), self.sizes[-2:].tolist()
        change = "fell" if self.gain >= 0 else "rose"
        said = (
            f"From {before:,} to {plural(after, 'row')} the {score_name(self.measure)} on held-out "
            f"rows {change} by {percent(abs(self.gain))}, from {number(means[-2])} to "
            f"{number(means[-1])}"
        )
        if self.is_clear:
            return f"{said}: more rows would probably help."
        if self.gain > _WORTHWHILE:
            return f"{said}, which may be chance: more repeats would tell whether more rows help."
        return f"{said}: more rows may hardly help; more informative columns might."

    def __str__(self) -> str:
        """Return a table and the sentence."""
        name = score_name(self.measure)
        lines = [f"{'rows':>10}  {name + ', held out':>20}  {name + ', training':>20}"]
        both = (self.held_out.mean(axis=0), self.training.mean(axis=0))
        for size, held, trained in zip(self.sizes.tolist(), *both, strict=True):
            lines.append(f"{size:>10,}  {number(held):>20}  {number(trained):>20}")
        return "\n".join([*lines, self.sentence()])


def learning_curve(
    source: Any,
    target: str,
    *,
    repeats: int = 3,
    groups: str | None = None,
    separator: str | None = None,
    decimal: str | None = None,
    thousands: str | None = None,
    encoding: str | None = None,
    na: str | Sequence[str] = (),
    sheet: str | None = None,
    query: str | None = None,
    on_fit: Callable[[int], None] | None = None,
    **options: Any,
) -> LearningCurve:
    """Fit an eighth, a quarter, a half and all of the rows, and compare errors on held-out ones.

    Parameters
    ----------
    source : str, path, data frame, mapping or Table
        As for `fit_table`.
    target : str
        The column to predict.
    repeats : int, default=3
        How often another fifth of the rows is held out; with less than two, nothing can be said
        about chance.
    groups : str or None, default=None
        Column of groups, which are held out as a whole, and kept together in the folds of each fit.
    separator, decimal, thousands, encoding, na, sheet, query
        As for `fit_table`.
    on_fit : callable or None, default=None
        Called before each fit with the number of its rows.
    **options
        Options and parameters of `fit_table`, such as `missing`, `ignore` or `max_nodes`.

    Returns
    -------
    curve : LearningCurve

    Examples
    --------
    >>> import numpy as np
    >>> import greedynet
    >>> x = np.linspace(-1, 1, 400)
    >>> noise = np.random.default_rng(0).normal(size=400)
    >>> curve = greedynet.learning_curve({"x": x, "y": x + noise}, "y", n_nodes=2)
    >>> curve.sizes
    array([ 40,  80, 160, 320])
    """
    if repeats < 1:
        raise TableError(f"`repeats` must be at least 1, got {repeats}: write 3, for example.")
    how: dict[str, Any] = {"thousands": thousands, "encoding": encoding}
    how |= {"na": na, "sheet": sheet, "query": query}
    table, target = open_table(source, separator, decimal, **how), str(target)
    check_present(table, [target, *([] if groups is None else [groups])], "column")
    columns = _in_memory(table)
    found = survey(table, [target])[target]
    predicted, _ = target_of(table, target, found, classes=bool(options.get("classes")))
    cells, findings = columns[target], Findings(table.label, "drop")
    labels, _ = predicted.read(cells, predicted.column, findings, 0)
    classes = predicted.classes is not None
    options |= {"na": na, "groups": groups}
    members = None if groups is None else as_text(columns[groups])
    hold, rows_of_errors, sizes = HoldOut(_HELD_OUT, groups), [], np.zeros(0, dtype=np.intp)
    for repeat in range(repeats):
        mask = hold.mask(labels, members, repeat, classes=classes)
        order = np.random.default_rng(repeat).permutation(np.flatnonzero(~mask))
        if classes:
            order = _every_class_first(order, labels)
        if not len(sizes):
            sizes = _sizes(len(order), table.label)
        held = _taken(columns, np.flatnonzero(mask), table.label)
        errors = []
        for size in np.minimum(sizes, len(order)).tolist():
            if on_fit is not None:
                on_fit(size)
            part = _taken(columns, order[:size], table.label)
            errors.append(_errors(part, held, target, options))
        rows_of_errors.append(errors)
    measure = rows_of_errors[0][0][2]
    pairs = np.array([[error[:2] for error in row] for row in rows_of_errors])
    held_out, training = np.moveaxis(pairs, 2, 0)
    return LearningCurve(sizes, held_out, training, measure)


def _errors(
    part: Table, held: Table, target: str, options: dict[str, Any]
) -> tuple[float, float, str]:
    """Return the errors on held-out and training rows, and their name."""
    model = fit_table(part, target, **options)
    # A part may have no empty cells, and not all levels.
    missing: Missing = "mean" if model.missing == "learn" else model.missing
    weights = options.get("weights")
    scores = evaluate(model, held, missing=missing, weights=weights)
    name = measure_of(scores)
    name = "log_loss" if name == "accuracy" else name
    return scores[name], model.about["training"][name], name


def _sizes(n: int, label: str) -> NDArray[np.intp]:
    sizes = np.array([round(share * n) for share in _SHARES if share * n >= _FEWEST])
    if len(sizes) < 2:
        raise TableError(
            f"{label} has {n} rows beside those held out, and a learning curve needs at least "
            f"{2 * _FEWEST}: give more rows."
        )
    return sizes


def _in_memory(table: Table) -> dict[str, NDArray[Any]]:
    parts = list(table.blocks(table.names))
    if not parts:
        raise TableError(f"{table.label} has no rows below the header.")
    return {name: np.concatenate([part[name] for part in parts]) for name in table.names}


def _taken(columns: dict[str, NDArray[Any]], rows: NDArray[np.intp], label: str) -> Table:
    return FrameTable({name: cells[rows] for name, cells in columns.items()}, label)


def _every_class_first(order: NDArray[np.intp], labels: NDArray[Any]) -> NDArray[np.intp]:
    """Return the rows with one of each class in front, so that every part has all classes."""
    first = np.sort(np.unique(labels[order], return_index=True)[1])
    return np.concatenate([order[first], np.delete(order, first)])
