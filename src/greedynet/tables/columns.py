"""Named columns -> a matrix of numbers: numbers unchanged, categories one-hot encoded.

`survey` inspects every cell once to find the types of the columns; `Columns` stores them, as part
of a model; `Columns.encode` turns a block into rows of a matrix.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from greedynet.support.types import Float64
from greedynet.tables.findings import Findings
from greedynet.tables.readers import Block, Column, Table, has_decimal_comma
from greedynet.tables.readers.base import text_column

Mask = NDArray[np.bool_]

# Texts that stand for an empty cell.
EMPTY = frozenset(
    ("", "NA", "N/A", "#N/A", "<NA>", "NaN", "nan", "NAN", "null", "NULL", "None", "NaT")
)

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
    """

    name: str
    levels: tuple[str, ...] | None = None
    means: tuple[float, ...] = ()

    @property
    def features(self) -> tuple[str, ...]:
        """Names of its features."""
        if self.levels is None:
            return (self.name,)
        return tuple(f"{self.name}={level}" for level in self.levels)

    def encode(self, cells: Column, findings: Findings, start: int) -> Float64:
        """Return the features of the cells, NaN for empty cells, and record problems."""
        if self.levels is None:
            values, text = parse_numbers(cells)
            findings.note("text", self.name, text, cells, start)
            findings.note("infinite", self.name, np.isinf(values), cells, start)
            findings.note("empty", self.name, np.isnan(values) & ~text, cells, start)
            return values[:, None]
        texts = as_text(cells)
        place = {level: i for i, level in enumerate(self.levels)} | {"": -1}
        at = np.array([place.get(text, -2) for text in texts], dtype=np.intp)
        findings.note("empty", self.name, at == -1, cells, start)
        findings.note("unknown", self.name, at == -2, texts, start)
        features = np.zeros((len(at), len(self.levels)))
        features[at >= 0, at[at >= 0]] = 1.0
        features[at == -1] = np.nan
        return features


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
        """Names of the columns."""
        return tuple(column.name for column in self.inputs)

    @property
    def features(self) -> tuple[str, ...]:
        """Names of the features, `color=red` for the level of a category."""
        return tuple(name for column in self.inputs for name in column.features)

    @property
    def means(self) -> Float64:
        """Means of the features over the training rows."""
        return np.array([mean for column in self.inputs for mean in column.means])

    def encode(self, block: Block, findings: Findings, start: int = 0) -> Float64:
        """Return the rows of a block, `(n_rows, n_features)`, NaN for empty cells.

        Parameters
        ----------
        block : dict
            Columns by name.
        findings : Findings
            Records problems.
        start : int
            Number of rows before this block.
        """
        parts = [column.encode(block[column.name], findings, start) for column in self.inputs]
        return np.concatenate(parts, axis=1)

    def with_means(self, X: Float64) -> "Columns":
        """Return the columns with the means of these rows, ignoring empty cells."""
        full = np.isfinite(X)
        means = np.where(full, X, 0.0).sum(axis=0) / np.maximum(full.sum(axis=0), 1)
        left, inputs = means.tolist(), []
        for column in self.inputs:
            n = len(column.features)
            inputs.append(replace(column, means=tuple(left[:n])))
            left = left[n:]
        return Columns(tuple(inputs))

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
                )
                for column in state
            )
        )


def encoded(
    columns: Columns, table: Table, findings: Findings, also: Sequence[str] = ()
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
    """
    start = 0
    for block in table.blocks(list(dict.fromkeys((*columns.names, *also)))):
        X = columns.encode(block, findings, start)
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
    distinct : set of str or None
        The distinct cells; None if there are more than `MOST_DISTINCT`.
    """

    rows: int = 0
    numbers: int = 0
    empty: int = 0
    first_empty: int = 0
    text: tuple[str, int] | None = None
    commas: int = 0
    distinct: set[str] | None = None

    def __post_init__(self) -> None:
        self.distinct = set()

    def add(self, cells: Column) -> None:
        """Add more cells to the summary."""
        values, text = parse_numbers(cells)
        empty = np.isnan(values) & ~text
        if empty.any() and not self.empty:
            self.first_empty = self.rows + int(np.argmax(empty)) + 1
        if text.any() and self.text is None:
            row = int(np.argmax(text))
            self.text = (str(cells[row]).strip(), self.rows + row + 1)
        if self.distinct is not None:
            self.distinct.update(as_text(cells))
            self.distinct.discard("")
            if len(self.distinct) > MOST_DISTINCT:
                self.distinct = None
        self.commas += sum(map(has_decimal_comma, cells[text]))
        self.rows += len(cells)
        self.empty += int(empty.sum())
        self.numbers += int((~text & ~empty).sum())


def survey(table: Table, names: Sequence[str]) -> dict[str, Survey]:
    """Summarise all cells of these columns."""
    surveys = {name: Survey() for name in names}
    for block in table.blocks(names):
        for name, cells in block.items():
            surveys[name].add(cells)
    return surveys


# Cells


def parse_numbers(cells: Column) -> tuple[Float64, Mask]:
    """Return the cells as numbers, NaN where there is none, and a mask of the text cells."""
    if cells.dtype == np.float64:
        return cells, np.zeros(len(cells), dtype=np.bool_)
    plain = ["nan" if cell in EMPTY else cell for cell in cells]
    # Python reads 1_000 as a number; in a table it is a name.
    if not any("_" in cell for cell in plain):
        try:
            return np.array(plain, dtype=np.float64), np.zeros(len(cells), dtype=np.bool_)
        except ValueError:
            pass
    values = np.full(len(plain), np.nan)
    text = np.zeros(len(plain), dtype=np.bool_)
    for i, cell in enumerate(plain):
        if cell.strip() in EMPTY:
            continue
        try:
            if "_" in cell:
                raise ValueError
            values[i] = float(cell)
        except ValueError:
            text[i] = True
    return values, text


def as_text(cells: Column) -> Column:
    """Return the cells as stripped text, "" for empty cells."""
    if cells.dtype == np.float64:
        return text_column(["" if x != x else number_text(x) for x in cells.tolist()])
    stripped = (cell.strip() for cell in cells)
    return text_column(["" if cell in EMPTY else cell for cell in stripped])


def number_text(value: float) -> str:
    """Return a number in its usual notation: 3 for 3.0."""
    return str(int(value)) if value.is_integer() else repr(value)
