"""What all cells of a column are, asked of DuckDB, and what the column holds, decided from it."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from greedynet.rows.rows import MOST_LEVELS
from greedynet.support.duck import MOMENT, SPAN
from greedynet.tables.kinds import Kind, Numbers
from greedynet.tables.kinds.base import MOSTLY, TextTally, Wording
from greedynet.tables.kinds.dates import DateTally
from greedynet.tables.kinds.durations import DurationTally
from greedynet.tables.kinds.numbers import NotationTally, PlainTally
from greedynet.tables.readers import Table, TableError
from greedynet.tables.readers.base import GAPS, Marks, as_text, number_text, plain_sql
from greedynet.tables.readers.store import Store, as_block_column

# Maximum number of distinct values that are counted; the limit for categories is lower.
MOST_DISTINCT = 1000
# The estimate of their number may be too large by so much.
_ESTIMATE = 1.2
# Texts by which it is seen that a column holds nothing but text.
_FIRST_TEXTS = 400


@dataclass
class TextTallies:
    """What the texts of a column can be read as, beside categories."""

    notation: NotationTally = field(default_factory=NotationTally)
    dates: DateTally = field(default_factory=DateTally)
    durations: DurationTally = field(default_factory=DurationTally)

    def add(self, texts: list[str], counts: list[int], rows: list[int]) -> None:
        """Add distinct texts, how often each comes, and the row of the first, from 1."""
        for tally in (self.notation, self.dates, self.durations):
            tally.add(texts, counts, rows)

    @property
    def are_hopeless(self) -> bool:
        """Whether none could be read, of many."""
        tallies: tuple[TextTally, ...] = (self.notation, self.dates, self.durations)
        return all(tally.is_hopeless for tally in tallies) and not self.notation.n_others


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
    gaps : dict of str to tuple of int
        Texts such as "n/a", which are empty cells if the others are numbers: how many, and the
        first row.
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
    gaps: dict[str, tuple[int, int]] = field(default_factory=dict)
    distinct: dict[str, int] | None = field(default_factory=dict)
    all_differ: bool = False
    estimate: int = 0

    @property
    def full(self) -> int:
        """Number of cells that are not empty."""
        return self.rows - self.empty

    @property
    def n_gaps(self) -> int:
        """Number of cells such as "n/a"."""
        return sum(count for count, _ in self.gaps.values())


def survey(table: Table, names: Sequence[str]) -> dict[str, Survey]:
    """Summarise all cells of these columns."""
    store = table.store()
    store.learn(names)
    found = _counted(store, names, table.marks.decimal)
    for name, column in found.items():
        _complete(store, name, column, table.marks)
    return found


def _number(store: Store, name: str, decimal: str | None) -> str:
    """Return the SQL of a cell as a plain number, null for all other cells."""
    cell = store.cell(name)
    match store.kind(name):
        case "number":
            return cell
        case "text":
            number = plain_sql(cell)
            # A point may separate thousands.
            if decimal == ",":
                number = f"case when not contains({cell}, '.') then {number} end"
            return number
    return "cast(null as double)"


def _counted(store: Store, names: Sequence[str], decimal: str | None) -> dict[str, Survey]:
    """Return the surveys with what one query about all rows tells."""
    asked = {}
    for name in names:
        number, cell = _number(store, name, decimal), store.cell(name)
        asked[name] = [
            f"count({cell})",
            f"count({number})",
            f"min({number})",
            f"max({number})",
            f"bool_or({number} <> floor({number}))",
            f"approx_count_distinct({cell})",
        ]
    surveys = {}
    for name, (full, numbers, low, high, fractions, distinct) in store.ask(asked).items():
        found = Survey(store.n_rows, numbers, store.n_rows - full)
        found.plain = PlainTally(numbers, low, high, bool(fractions))
        found.estimate = distinct
        found.distinct = {} if distinct <= _ESTIMATE * MOST_DISTINCT else None
        surveys[name] = found
    return surveys


def _complete(store: Store, name: str, found: Survey, marks: Marks) -> None:
    """Add what is known of some columns only: distinct values, texts, the first empty cell."""
    cell, number = store.cell(name), _number(store, name, marks.decimal)
    if found.empty:
        (row,) = store.ask({name: [f"min(case when {cell} is null then rowid end)"]})[name]
        found.first_empty = int(row) + 1
    plain = found.plain
    low, high = plain.low, plain.high
    if (
        low is not None
        and high is not None
        and plain.n == found.rows
        and high - low == found.rows - 1
        and not plain.has_fractions
    ):
        (plain.is_counting,) = store.ask({name: [f"bool_and({number} = {low!r} + rowid)"]})[name]
    if found.distinct is not None:
        found.distinct = _distinct(store, cell)
    if found.distinct is not None:
        found.all_differ = len(found.distinct) == found.rows
    elif found.estimate * _ESTIMATE >= found.rows and not plain.has_fractions:
        (found.all_differ,) = store.ask({name: [f"count(distinct {cell}) = {store.n_rows}"]})[name]
    if found.numbers == found.full:
        return
    kind = store.kind(name)
    if kind in (MOMENT, SPAN):
        found.texts = TextTallies()
        values = as_block_column(
            store.query(f"select {cell} as v from {{t}} where {cell} is not null")["v"]
        )
        found.text = (as_text(values[:1])[0], (found.first_empty == 1 and 2) or 1)
        if kind == MOMENT:
            found.texts.dates.add_moments(values)
        else:
            found.texts.durations.add_spans(values)
        return
    found.texts = _texts(store, cell, number, found, marks.decimal or ".", marks)
    notation = found.texts.notation
    if notation.n_others and marks.decimal is None and not _has_points(store, cell, number):
        # Perhaps the comma is the decimal mark, and points separate thousands.
        other = _number(store, name, ",")
        again = _counted(store, [name], ",")[name]
        texts = _texts(store, cell, other, again, ",", marks)
        if texts.notation.n and not texts.notation.n_others:
            found.numbers, found.plain, found.texts = again.numbers, again.plain, texts


def _has_points(store: Store, cell: str, number: str) -> bool:
    """Whether a cell has a decimal point, which cannot separate thousands."""
    group = r"^[-+]?[1-9][0-9]{0,2}(\.[0-9]{3})+$"
    condition = f"contains({cell}, '.') and {number} is not null"
    found = store.query(
        f"select count(*) as n from {{t}} where {condition} and not "
        f"regexp_matches({cell}, '{group}')"
    )
    return bool(found["n"][0])


def _distinct(store: Store, cell: str) -> dict[str, int] | None:
    found = store.query(
        f"select {cell} as v, count(*) as n from {{t}} where {cell} is not null group by 1 "
        f"order by min(rowid) limit {MOST_DISTINCT + 1}"
    )
    values = found["v"].tolist()
    if len(values) > MOST_DISTINCT:
        return None
    texts = [number_text(v) if isinstance(v, float) else str(v) for v in values]
    return dict(zip(texts, found["n"].tolist(), strict=True))


def _texts(
    store: Store, cell: str, number: str, found: Survey, decimal: str, marks: Marks
) -> TextTallies:
    """Return what the texts can be read as; note gaps and the first text."""
    tallies = TextTallies(NotationTally(decimal, is_promised=marks.decimal is not None))
    query = (
        f"select {cell} as v, count(*) as n, min(rowid) + 1 as r from {{t}} "
        f"where {cell} is not null and {number} is null group by 1 order by r"
    )
    first = store.query(f"{query} limit {_FIRST_TEXTS}")
    texts = first["v"].tolist()
    found.text = (texts[0], int(first["r"][0]))
    _add(tallies, found, first)
    if len(texts) == _FIRST_TEXTS and not tallies.are_hopeless:
        _add(tallies, found, store.query(f"{query} offset {_FIRST_TEXTS}"))
    tallies.notation.settle()
    return tallies


def _add(tallies: TextTallies, found: Survey, groups: dict[str, Any]) -> None:
    texts, counts, rows = (groups[key].tolist() for key in ("v", "n", "r"))
    for text, count, row in zip(texts, counts, rows, strict=True):
        if text.lower() in GAPS:
            found.gaps[text] = (count, row)
    kept = [i for i, text in enumerate(texts) if text.lower() not in GAPS]
    tallies.add([texts[i] for i in kept], [counts[i] for i in kept], [rows[i] for i in kept])


# Decisions


def wording_of_input(label: str, name: str) -> Wording:
    """Return the words for a column to predict from."""
    return Wording(
        f"{label}: column {name!r}",
        f"`text={name!r}` to treat them as text",
        f"correct or empty such cells, or drop the column with `ignore={name!r}`, or with "
        f"`text={name!r}` treat it as text",
    )


def wording_of_target(label: str, name: str) -> Wording:
    """Return the words for the column to predict."""
    return Wording(
        f"{label}: the target {name!r}",
        "`classes=True` to treat them as text",
        'correct such cells, empty them and write `missing="drop"`, or write `classes=True` to '
        "treat it as text",
    )


def decide(
    found: Survey,
    words: Wording,
    dates: str | None = None,
    marks: Marks = Marks(),  # noqa: B008
) -> tuple[Kind | None, str]:
    """Return the kind of a column, None for categories, and what was assumed, if anything.

    Nine in ten of the cells decide; the first that is different is then an error, as are cells that
    could be meant in several ways. `dates` is the order of day and month, if it is known. Cells
    such as "n/a" are empty, unless the column holds categories.
    """
    texts, enough = found.texts, MOSTLY * (found.full - found.n_gaps)
    if texts is None:
        return Numbers(), ""
    kind: Kind | None = None
    n_numbers = found.numbers + texts.notation.n
    if n_numbers + texts.notation.n_others >= enough and n_numbers + texts.notation.n_others:
        kind, said = _numbers(found, texts, words, marks)
    elif texts.dates.n >= enough:
        _refuse_others(found, texts.dates, "dates", words)
        kind, said = texts.dates.decide(words, dates)
    elif texts.durations.n >= enough:
        _refuse_others(found, texts.durations, "durations", words)
        kind, said = texts.durations.decide(words)
    if kind is None:
        _refuse_units(found, texts.notation, words)
        found.gaps = {}
        return None, ""
    if found.gaps:
        rows = [row for _, row in found.gaps.values()]
        first = min(rows)
        found.first_empty = min(found.first_empty or first, first)
        found.empty += found.n_gaps
        said = "; ".join(filter(None, [said, f"{_listed(found.gaps)} is read as an empty cell"]))
    return kind, said


def _listed(texts: dict[str, Any]) -> str:
    return " or ".join(map(repr, texts))


def _numbers(found: Survey, texts: TextTallies, words: Wording, marks: Marks) -> tuple[Kind, str]:
    notation = texts.notation
    if notation.first_other is not None:
        cell, row = notation.first_other
        if notation.decimal == ",":
            raise TableError(
                f"{words.what} holds {cell!r} in data row {row}, a number with a point, but "
                '`decimal=","` requires commas: write `decimal="."`, or `thousands="."` if points '
                "separate thousands."
            )
        cells = f"{notation.n_others:,} cells such as {cell!r} (data row {row})"
        if notation.is_promised:
            said = f'{cells}: if the comma is a decimal one, write `decimal=","`'
        else:
            said = f"{cells}, with a comma, beside numbers with a point: write all of them alike"
        raise TableError(f"{words.what} holds {said}, or {words.as_text}.")
    _refuse_others(found, notation, "numbers", words)
    return notation.decide(words, found.plain, marks.thousands)


def _refuse_units(found: Survey, notation: NotationTally, words: Wording) -> None:
    """Raise an error for numbers of different units, unless they are few enough for categories."""
    n_levels = len(found.distinct) if found.distinct is not None else MOST_DISTINCT + 1
    enough = MOSTLY * (found.full - found.n_gaps)
    if notation.mixed and notation.n_mixed + notation.n >= enough and n_levels > MOST_LEVELS:
        cells = " and ".join(map(repr, notation.mixed))
        raise TableError(
            f"{words.what} holds {cells}, numbers of different units: convert them to one, or "
            f"{words.as_text}."
        )


def _refuse_others(found: Survey, tally: TextTally, nouns: str, words: Wording) -> None:
    """Raise an error for cells that are not like most of the column."""
    n_read = tally.n + (found.numbers if nouns == "numbers" else 0)
    if n_read == found.full - found.n_gaps:
        return
    # Numbers among dates are no texts, and not in the tally.
    low = 0.0 if found.plain.low is None else found.plain.low
    cell, row = tally.other or (number_text(low), None)
    where = "elsewhere" if row is None else f"in data row {row}"
    raise TableError(
        f"{words.what} has {n_read:,} {nouns}, but {cell!r} {where}: if that is an empty cell, "
        f"write `na={cell!r}`; else {words.remedy}."
    )
