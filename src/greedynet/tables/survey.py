"""A summary of all cells of each column, and what the column holds, decided from it."""

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from greedynet.tables.kinds import Kind, Numbers
from greedynet.tables.kinds.base import MOSTLY, TextTally, Wording
from greedynet.tables.kinds.dates import DateTally
from greedynet.tables.kinds.durations import DurationTally
from greedynet.tables.kinds.numbers import NotationTally, PlainTally
from greedynet.tables.readers import Column, Table, TableError
from greedynet.tables.readers.base import Levels, Mask, distinct_texts, is_typed, parse_numbers

# Maximum number of distinct values that are counted; the limit for categories is lower.
MOST_DISTINCT = 1000


@dataclass
class TextTallies:
    """What the texts of a column can be read as, beside categories."""

    notation: NotationTally = field(default_factory=NotationTally)
    dates: DateTally = field(default_factory=DateTally)
    durations: DurationTally = field(default_factory=DurationTally)

    def add(self, cells: Column, text: Mask, start: int) -> None:
        """Add the cells that are text, the first of a block that begins after `start` rows."""
        if is_typed(cells, "M"):
            self.dates.add_moments(np.asarray(cells))
        elif is_typed(cells, "m"):
            self.durations.add_spans(np.asarray(cells))
        else:
            found = _distinct(cells, text, start)
            for tally in (self.notation, self.dates, self.durations):
                tally.add(*found)


def _distinct(cells: Column, text: Mask, start: int) -> tuple[list[str], list[int], list[int]]:
    """Return the distinct texts of some cells, their counts, and their first rows."""
    levels = distinct_texts(cells)
    assert levels is not None  # there is no limit
    texts, codes = levels
    rows = np.flatnonzero(text)
    kept, first, counts = np.unique(codes[rows], return_index=True, return_counts=True)
    first_rows = (rows[first] + start + 1).tolist()
    return [texts[code] for code in kept.tolist()], counts.tolist(), first_rows


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
    texts : TextTallies or None
        The texts, if there are any.
    distinct : dict of str to int, or None
        The distinct cells and how often they occur; None if there are more than `MOST_DISTINCT`.
    """

    rows: int = 0
    numbers: int = 0
    empty: int = 0
    first_empty: int = 0
    text: tuple[str, int] | None = None
    plain: PlainTally = field(default_factory=PlainTally)
    texts: TextTallies | None = None
    distinct: dict[str, int] | None = field(default_factory=dict)

    @property
    def full(self) -> int:
        """Number of cells that are not empty."""
        return self.rows - self.empty

    def add(self, cells: Column) -> None:
        """Add more cells to the summary."""
        if self.distinct is not None:
            levels = distinct_texts(cells, MOST_DISTINCT + 1)  # one of them may be ""
            self.distinct = None if levels is None else self._with_levels(levels)
        values, text = parse_numbers(cells)
        missing = np.isnan(values)
        if missing.any():
            self._add_others(cells, missing & ~text, text)
            values = values[~missing]
        self.plain.add(values)
        self.rows += len(cells)
        self.numbers += len(values)

    def _add_others(self, cells: Column, empty: Mask, text: Mask) -> None:
        """Add the cells that are not numbers."""
        if empty.any() and not self.empty:
            self.first_empty = self.rows + int(np.argmax(empty)) + 1
        if text.any():
            if self.texts is None:
                self.texts = TextTallies()
                row = int(np.argmax(text))
                self.text = (str(cells[row]).strip(), self.rows + row + 1)
            self.texts.add(cells, text, self.rows)
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


def wording_of_input(label: str, name: str, decimal: str = ".") -> Wording:
    """Return the words for a column to predict from."""
    return Wording(
        f"{label}: column {name!r}",
        f"`text={name!r}` to treat them as text",
        f"correct or empty such cells, or drop the column with `ignore={name!r}`, or with "
        f"`text={name!r}` treat it as text",
        decimal,
    )


def wording_of_target(label: str, name: str, decimal: str = ".") -> Wording:
    """Return the words for the column to predict."""
    return Wording(
        f"{label}: the target {name!r}",
        "`classes=True` to treat them as text",
        'correct such cells, empty them and write `missing="drop"`, or write `classes=True` to '
        "treat it as text",
        decimal,
    )


def decide(found: Survey, words: Wording, dates: str | None = None) -> tuple[Kind | None, str]:
    """Return the kind of a column, None for categories, and what was assumed, if anything.

    Nine in ten of the cells decide; the first that is different is then an error, as are cells that
    could be meant in several ways. `dates` is the order of day and month, if it is known.
    """
    texts, enough = found.texts, MOSTLY * found.full
    if texts is None:
        return Numbers(), ""
    if found.numbers + texts.notation.n + texts.notation.n_commas >= enough:
        return _numbers(found, texts, words)
    if texts.dates.n >= enough:
        _refuse_others(found, texts.dates, "dates", words)
        return texts.dates.decide(words, dates)
    if texts.durations.n >= enough:
        _refuse_others(found, texts.durations, "durations", words)
        return texts.durations.decide(words)
    return None, ""


def _numbers(found: Survey, texts: TextTallies, words: Wording) -> tuple[Kind, str]:
    notation = texts.notation
    if notation.comma is not None:
        cell, row = notation.comma
        raise TableError(
            f"{words.what} holds {notation.n_commas:,} cells such as {cell!r} (data row {row}): if "
            f'the comma is a decimal one, write `decimal=","`, or {words.as_text}.'
        )
    _refuse_others(found, notation, "numbers", words)
    return notation.decide(words, found.plain)


def _refuse_others(found: Survey, tally: TextTally, nouns: str, words: Wording) -> None:
    """Raise an error for cells that are not like most of the column."""
    n_read = tally.n + (found.numbers if nouns == "numbers" else 0)
    if n_read == found.full:
        return
    # Numbers among dates are no texts, and not in the tally.
    cell, row = tally.other or (f"{found.plain.low:.10g}", None)
    where = "elsewhere" if row is None else f"in data row {row}"
    raise TableError(f"{words.what} has {n_read:,} {nouns}, but {cell!r} {where}: {words.remedy}.")
