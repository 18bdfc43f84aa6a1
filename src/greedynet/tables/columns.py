"""Named columns -> a matrix of numbers: numbers unchanged, categories one-hot encoded.

A column with empty cells has a second input, its indicator, which is 1 for them and else 0: see
`rows.missing`.

`survey` inspects every cell once to find the types of the columns; `Columns` stores them, as part
of a model; `Columns.encode` turns a block into rows of a matrix.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import islice
from typing import Any

import numpy as np
from numpy.typing import NDArray

from greedynet.rows.missing import indicator_name
from greedynet.support.types import Float64
from greedynet.tables.findings import Findings
from greedynet.tables.readers import Block, Column, Table, has_decimal_comma
from greedynet.tables.readers.base import Levels, Mask, text_column
from greedynet.tables.readers.texts import stripped, text_levels, text_numbers

# Maximum number of distinct values that are counted; the limit for categories is lower.
MOST_DISTINCT = 1000


@dataclass(frozen=True)
class Input:
    """One column of the table, which gives one or several features of the network.

    Attributes
    ----------
    name : str
        Name of the column.
    levels : tuple of str or None
        The categories, sorted; None for numbers.
    means : tuple of float
        Mean of each feature over the training rows, which can replace an empty cell.
    pooled : bool
        Whether the last level stands for all that are not listed: rare ones, and unknown ones.
    gaps : bool
        Whether cells of the column were empty in training, with `missing="learn"`.
    gaps_of : str or None
        The column whose empty cells this input indicates by 1; None for a column itself.
    """

    name: str
    levels: tuple[str, ...] | None = None
    means: tuple[float, ...] = ()
    pooled: bool = False
    gaps: bool = False
    gaps_of: str | None = None

    @staticmethod
    def indicator(name: str) -> "Input":
        """Return the input that says whether a cell of a column is empty."""
        return Input(indicator_name(name), gaps_of=name)

    @property
    def source(self) -> str:
        """The column of the table that is read."""
        return self.name if self.gaps_of is None else self.gaps_of

    @property
    def n_features(self) -> int:
        """Number of its features."""
        return 1 if self.levels is None else len(self.levels)

    @property
    def features(self) -> tuple[str, ...]:
        """Names of its features."""
        if self.levels is None:
            return (self.name,)
        return tuple(f"{self.name}={level}" for level in self.levels)

    def encode(self, cells: Column, out: Float64, findings: Findings, start: int) -> None:
        """Write the features of the cells to `out`, NaN for empty cells, and record problems.

        Parameters
        ----------
        cells : Column
            The column of a block.
        out : ndarray of shape (n_rows, n_features)
            Zeros, which are written to.
        findings : Findings
            Records problems.
        start : int
            Number of rows before this block.
        """
        if self.gaps_of is not None:
            out[:, 0] = empty_mask(cells)
            return
        if self.levels is None:
            out[:, 0] = checked_numbers(cells, self.name, findings, start)
            return
        place = {level: i for i, level in enumerate(self.levels)} | {"": -1}
        others = len(self.levels) - 1 if self.pooled else -2
        at = looked_up(cells, lambda text: place.get(text, others))
        known = at >= 0
        if known.all():
            out[np.arange(len(at)), at] = 1.0
            return
        findings.note("empty", self.name, at == -1, cells, start)
        if (at == -2).any():
            findings.note("unknown", self.name, at == -2, as_text(cells), start)
        out[known, at[known]] = 1.0
        out[at == -1] = np.nan


@dataclass(frozen=True)
class Columns:
    """The encoding of rows of a table as rows of a matrix.

    Attributes
    ----------
    inputs : tuple of Input
        The columns, in the order of the features.
    """

    inputs: tuple[Input, ...]

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the columns of the table."""
        return tuple(column.name for column in self.inputs if column.gaps_of is None)

    @property
    def labels(self) -> tuple[str, ...]:
        """Names of the inputs: of the columns, and of their indicators."""
        return tuple(column.name for column in self.inputs)

    @property
    def learned_gaps(self) -> frozenset[str]:
        """Columns with empty cells in training, from which it could be learned what to do."""
        return frozenset(column.name for column in self.inputs if column.gaps)

    @property
    def features(self) -> tuple[str, ...]:
        """Names of the features, `color=red` for the level of a category."""
        return tuple(name for column in self.inputs for name in column.features)

    @property
    def means(self) -> Float64:
        """Means of the features over the training rows."""
        return np.array([mean for column in self.inputs for mean in column.means])

    def encode(
        self, block: Block, findings: Findings, start: int = 0, out: Float64 | None = None
    ) -> Float64:
        """Return the rows of a block, `(n_rows, n_features)`, NaN for empty cells.

        Parameters
        ----------
        block : dict
            Columns by name.
        findings : Findings
            Records problems.
        start : int
            Number of rows before this block.
        out : ndarray of shape (n_rows_of_the_table, n_features) or None
            Zeros, of which the rows of the block are written to if there are so many; None for a
            new matrix.
        """
        n_rows = len(next(iter(block.values()), ()))
        if out is None or len(out) < start + n_rows:
            X = self.zeros(n_rows)
        else:
            X = out[start : start + n_rows]
        first = 0
        for column in self.inputs:
            last = first + column.n_features
            column.encode(block[column.source], X[:, first:last], findings, start)
            first = last
        return X

    def zeros(self, n_rows: int) -> Float64:
        """Return a matrix for the features of some rows."""
        return np.zeros((n_rows, sum(column.n_features for column in self.inputs)))

    def with_means(self, X: Float64) -> "Columns":
        """Return the columns with the means of these rows, ignoring empty cells."""
        full = np.isfinite(X)
        means = np.where(full, X, 0.0).sum(axis=0) / np.maximum(full.sum(axis=0), 1)
        left = iter(means.tolist())
        return Columns(
            tuple(
                replace(column, means=tuple(islice(left, column.n_features)))
                for column in self.inputs
            )
        )

    @property
    def are_indicators(self) -> tuple[bool, ...]:
        """For each feature, whether it indicates empty cells."""
        return tuple(c.gaps_of is not None for c in self.inputs for _ in range(c.n_features))

    def with_features(self, kept: NDArray[np.bool_]) -> "Columns":
        """Return the columns of which some feature is kept, which must be all of a column."""
        starts = np.cumsum([0, *(column.n_features for column in self.inputs)])
        return Columns(tuple(c for c, i in zip(self.inputs, starts, strict=False) if kept[i]))

    def state(self) -> list[dict[str, Any]]:
        """Return plain values for a file; `from_state` is the inverse."""
        return [dict(vars(column)) for column in self.inputs]

    @classmethod
    def from_state(cls, state: Iterable[Mapping[str, Any]]) -> "Columns":
        """Return the columns from their `state`."""
        return cls(
            tuple(
                Input(
                    str(column["name"]),
                    None if column["levels"] is None else tuple(map(str, column["levels"])),
                    tuple(map(float, column["means"])),
                    bool(column.get("pooled", False)),
                    bool(column.get("gaps", False)),
                    column.get("gaps_of"),
                )
                for column in state
            )
        )


def encoded(
    columns: Columns,
    table: Table,
    findings: Findings,
    also: Sequence[str] = (),
    out: Float64 | None = None,
) -> Iterator[tuple[Float64, Block]]:
    """Yield the rows of a table as matrices, each with its block.

    After the first serious problem, the remaining rows are only inspected; then all problems are
    raised as one error.

    Parameters
    ----------
    columns : Columns
        The encoding.
    table : Table
        The table to encode.
    findings : Findings
        Records problems, and decides which are serious.
    also : sequence of str
        Further columns to include in the blocks.
    out : ndarray of shape (n_rows, n_features) or None
        Zeros for all rows, of which the matrices are then parts.
    """
    start = 0
    for block in table.blocks(list(dict.fromkeys((*columns.names, *also)))):
        X = columns.encode(block, findings, start, out)
        start += len(X)
        if not findings.serious:
            yield X, block
    findings.check()


# Types of columns


@dataclass
class Survey:
    """Summary of the cells of a column.

    Attributes
    ----------
    rows, numbers, empty : int
        Number of cells, of numbers and of empty cells.
    first_empty : int
        Row of the first empty cell, from 1.
    text : tuple of str and int, or None
        The first cell that is neither a number nor empty, and its row.
    commas : int
        Number of cells that are numbers if their comma is read as a decimal comma.
    distinct : dict of str to int, or None
        The distinct cells and how often they occur; None if there are more than `MOST_DISTINCT`.
    """

    rows: int = 0
    numbers: int = 0
    empty: int = 0
    first_empty: int = 0
    text: tuple[str, int] | None = None
    commas: int = 0
    distinct: dict[str, int] | None = field(default_factory=dict)

    def add(self, cells: Column) -> None:
        """Add more cells to the summary."""
        if self.distinct is not None:
            levels = distinct_texts(cells, MOST_DISTINCT + 1)  # one of them may be ""
            self.distinct = None if levels is None else self._with_levels(levels)
        values, text = parse_numbers(cells)
        missing = np.isnan(values)
        if missing.any():
            self._add_others(cells, missing & ~text, text)
        self.rows += len(cells)
        self.numbers += len(cells) - int(missing.sum())

    def _add_others(self, cells: Column, empty: Mask, text: Mask) -> None:
        """Add the cells that are not numbers."""
        if empty.any() and not self.empty:
            self.first_empty = self.rows + int(np.argmax(empty)) + 1
        if text.any():
            if self.text is None:
                row = int(np.argmax(text))
                self.text = (str(cells[row]).strip(), self.rows + row + 1)
            self.commas += int(looked_up(cells, has_decimal_comma).sum())
        self.empty += int(empty.sum())

    def _with_levels(self, levels: Levels) -> dict[str, int] | None:
        texts, codes = levels
        distinct = dict(self.distinct or {})
        counts = np.bincount(codes, minlength=len(texts)).tolist()
        for text, count in zip(texts, counts, strict=True):
            if text:
                distinct[text] = distinct.get(text, 0) + count
        return distinct if len(distinct) <= MOST_DISTINCT else None


def survey(table: Table, names: Sequence[str]) -> dict[str, Survey]:
    """Summarise all cells of these columns."""
    surveys = {name: Survey() for name in names}
    for block in table.blocks(names):
        for name, cells in block.items():
            surveys[name].add(cells)
    return surveys


# Cells


def cell_texts(cells: Column) -> NDArray[Any]:
    """Return cells as text, without spaces around it; numbers as `number_text` writes them."""
    column = cells if isinstance(cells, np.ndarray) else cells.texts()
    if column.dtype == np.float64:
        return np.array([number_text(value) for value in column.tolist()], dtype=object)
    return np.array([str(text).strip() for text in column.tolist()], dtype=object)


def checked_numbers(cells: Column, name: str, findings: Findings, start: int) -> Float64:
    """Return cells as numbers, NaN where there is none, and record all that are not finite.

    Parameters
    ----------
    cells : Column
        The column of a block.
    name : str
        Its name.
    findings : Findings
        Records problems.
    start : int
        Number of rows before the block.
    """
    values, text = parse_numbers(cells)
    if not np.isfinite(values).all():
        findings.note("text", name, text, cells, start)
        findings.note("infinite", name, np.isinf(values), cells, start)
        findings.note("empty", name, np.isnan(values) & ~text, cells, start)
    return values


def parse_numbers(cells: Column) -> tuple[Float64, Mask]:
    """Return the cells as numbers, NaN where there is none, and a mask of the text cells."""
    if not isinstance(cells, np.ndarray):
        return cells.numbers()
    if cells.dtype == np.float64:
        return cells, np.zeros(len(cells), dtype=np.bool_)
    return text_numbers(cells)


def empty_mask(cells: Column) -> Mask:
    """Return which cells are empty."""
    values, text = parse_numbers(cells)
    return np.isnan(values) & ~text


def as_text(cells: Column) -> NDArray[Any]:
    """Return the cells as stripped text, "" for empty cells."""
    if not isinstance(cells, np.ndarray):
        cells = cells.texts()
    if cells.dtype == np.float64:
        return text_column(["" if x != x else number_text(x) for x in cells.tolist()])
    return text_column(stripped(cells))


def distinct_texts(cells: Column, most: int | None = None) -> Levels | None:
    """Return the distinct texts, as `Cells.levels` does; None if there are more than `most`."""
    if not isinstance(cells, np.ndarray):
        return cells.levels(most)
    levels = text_levels(as_text(cells))
    return None if most is not None and len(levels[0]) > most else levels


def looked_up(cells: Column, find: Callable[[str], int]) -> NDArray[np.intp]:
    """Return for each cell what `find` says of its text, stripped, "" for empty."""
    levels = distinct_texts(cells)
    assert levels is not None  # there is no limit
    texts, codes = levels
    return np.array([find(text) for text in texts], dtype=np.intp)[codes]


def number_text(value: float) -> str:
    """Return a number in its usual notation: 3 for 3.0."""
    return str(int(value)) if value.is_integer() else repr(value)
