"""What all cells of a column are, asked of DuckDB, and what the column holds, decided from it."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from greedynet.rows.rows import MOST_LEVELS
from greedynet.support.duck import MOMENT, NUMBER, TEXT, literals
from greedynet.tables.kinds import (
    FOUND,
    Dates,
    Durations,
    Kind,
    Numbers,
    Promises,
    Reading,
    Spelling,
)
from greedynet.tables.kinds.base import Wording
from greedynet.tables.kinds.numbers import PlainTally, read_numbers
from greedynet.tables.readers import Table, TableError
from greedynet.tables.readers.base import GAPS, Marks, as_text, number_text, plain_sql
from greedynet.tables.readers.store import Store, as_block_column

# Maximum number of distinct values that are counted; the limit for categories is lower.
MOST_DISTINCT = 1000
# The estimate of their number may be too large by so much.
_ESTIMATE = 1.2
# A column with at least this share of cells of a kind is taken to be of that kind.
_MOSTLY = 0.9


@dataclass
class Survey:
    """Summary of the cells of a column.

    Attributes
    ----------
    rows, numbers, empty : int
        Number of cells, of plain numbers and of empty cells.
    first_empty : int
        Row of the first empty cell, from 1.
    text : tuple of str and int, or None
        The first cell that is neither a number nor empty, and its row.
    decimal : {".", ","}
        The decimal mark by which numbers are told from texts.
    readings : dict of str to Reading
        What kinds can read of the texts, by the names of the kinds; empty without texts.
    gaps : dict of str to tuple of int
        Texts such as "n/a", which are empty cells if the others are numbers: how many, and the
        first row.
    distinct : dict of str to int, or None
        The distinct cells and how often they occur; None if there are more than `MOST_DISTINCT`.
    all_differ : bool
        Whether no cell comes twice.
    """

    rows: int = 0
    numbers: int = 0
    empty: int = 0
    first_empty: int = 0
    text: tuple[str, int] | None = None
    plain: PlainTally = field(default_factory=PlainTally)
    decimal: str = "."
    readings: dict[str, Reading] = field(default_factory=dict)
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

    @property
    def enough(self) -> float:
        """Number of cells of a kind that make a column of it."""
        return max(_MOSTLY * (self.full - self.n_gaps), 1)


def survey(table: Table, names: Sequence[str]) -> dict[str, Survey]:
    """Summarise all cells of these columns."""
    store = table.store()
    store.learn(names)
    found = _counted(store, names, table.marks.decimal or ".")
    for name, column in found.items():
        _add_ends(store, name, column)
        _add_distinct(store, name, column)
        if column.numbers < column.full:
            _read_texts(store, name, column)
        if table.marks.decimal is None and _has_commas_only(store, name, column):
            found[name] = _with_commas(store, name, column)
    return found


def _number(store: Store, name: str, decimal: str) -> str:
    """Return the SQL of a cell as a plain number, null for all other cells."""
    cell, kind = store.cell(name), store.kind(name)
    if kind == NUMBER:
        return cell
    if kind != TEXT:
        return "cast(null as double)"
    number = plain_sql(cell)
    # A point may separate thousands.
    return number if decimal == "." else f"case when not contains({cell}, '.') then {number} end"


def _counted(store: Store, names: Sequence[str], decimal: str) -> dict[str, Survey]:
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
        plain = PlainTally(numbers, low, high, bool(fractions))
        surveys[name] = Survey(
            store.n_rows,
            numbers,
            store.n_rows - full,
            plain=plain,
            decimal=decimal,
            distinct={} if distinct <= _ESTIMATE * MOST_DISTINCT else None,
            estimate=distinct,
        )
    return surveys


def _add_ends(store: Store, name: str, found: Survey) -> None:
    """Add the first empty cell, and whether the column counts the rows."""
    cell, number, plain = store.cell(name), _number(store, name, found.decimal), found.plain
    if found.empty:
        (row,) = store.ask({name: [f"min(case when {cell} is null then rowid end)"]})[name]
        found.first_empty = int(row) + 1
    low, high = plain.low, plain.high
    if low is None or high is None or plain.n < found.rows or plain.has_fractions:
        return
    if high - low == found.rows - 1:
        (plain.is_counting,) = store.ask({name: [f"bool_and({number} = {low!r} + rowid)"]})[name]


def _add_distinct(store: Store, name: str, found: Survey) -> None:
    """Add the distinct values, if they are few, and whether all differ."""
    cell = store.cell(name)
    if found.distinct is not None:
        groups = store.query(
            f"select {cell} as v, count(*) as n from {{t}} where {cell} is not null group by 1 "
            f"order by min(rowid) limit {MOST_DISTINCT + 1}"
        )
        values, counts = groups["v"].tolist(), groups["n"].tolist()
        texts = [number_text(v) if isinstance(v, float) else str(v) for v in values]
        few = len(texts) <= MOST_DISTINCT
        found.distinct = dict(zip(texts, counts, strict=True)) if few else None
    if found.distinct is not None:
        found.all_differ = len(found.distinct) == found.rows
    elif found.estimate * _ESTIMATE >= found.rows and not found.plain.has_fractions:
        (found.all_differ,) = store.ask({name: [f"count(distinct {cell}) = {store.n_rows}"]})[name]


def _read_texts(store: Store, name: str, found: Survey) -> None:
    """Add what kinds can read of the texts, and texts that are gaps."""
    cell, number = store.cell(name), _number(store, name, found.decimal)
    if store.kind(name) != TEXT:
        kind: Any = Dates() if store.kind(name) == MOMENT else Durations()
        cells = f"select {cell} as v, 1 as n, rowid + 1 as r from {{t}} where {cell} is not null"
        found.readings = _readings(store, cells, {kind: kind.typed_reading("v")})
        [(row,)] = store.rows(f"select min(r) from ({cells})")
        first = store.query(f"select v from ({cells}) where r = {row}")
        found.text = (as_text(as_block_column(first["v"]))[0], row)
        return
    store.rows(
        f"create or replace temp table texts as select {cell} as v, count(*) as n, "
        f"min(rowid) + 1 as r, lower(v) in ({literals(sorted(GAPS))}) as is_gap from {{t}} "
        f"where {cell} is not null and {number} is null group by 1"
    )
    [found.text] = store.rows("select arg_min(v, r), min(r) from texts")
    gaps = store.rows("select v, n, r from texts where is_gap order by r")
    found.gaps = {text: (count, row) for text, count, row in gaps}
    kinds = (Numbers(decimal=found.decimal), *FOUND[1:])
    texts = "select v, n, r from texts where not is_gap"
    tests = ", ".join(
        f"coalesce(sum(n) filter ({kind.test('v')}), 0) as n{i}, "
        f"min({{'r': r, 'v': v}}) filter (not {kind.test('v')}) as other{i}"
        for i, kind in enumerate(kinds)
    )
    [tested] = store.rows(f"select {tests} from ({texts})")
    for kind, n, other in zip(kinds, tested[::2], tested[1::2], strict=True):
        n_numbers = found.numbers if isinstance(kind, Numbers) else 0
        if n and n + n_numbers >= found.enough:
            found.readings |= _readings(store, texts, {kind: kind.reading("v")})
        else:
            found.readings[kind.name] = Reading((), other and (other["v"], other["r"]))


def _readings(store: Store, texts: str, asked: dict[Kind, str]) -> dict[str, Reading]:
    """Return what kinds read in texts `v`, of which each comes `n` times, first in row `r`."""
    found = {}
    for kind, reading in asked.items():
        measures = "".join(f", {sql} as {name}" for name, sql in kind.measures.items())
        rows = store.rows(
            f"select p.form as form, cast(sum(n) as bigint) as n, arg_min(v, r) as v, "
            f"min(r) as r{measures} from (select *, {reading} as p from ({texts})) "
            "group by 1 order by r"
        )
        forms = tuple(
            Spelling(how, n, str(text), row, dict(zip(kind.measures, measured, strict=True)))
            for how, n, text, row, *measured in rows
        )
        other = next(((form.text, form.row) for form in forms if form.how is None), None)
        found[kind.name] = Reading(tuple(form for form in forms if form.how is not None), other)
    return found


def _has_commas_only(store: Store, name: str, found: Survey) -> bool:
    """Whether numbers have a comma, and none a point that does not separate thousands."""
    reading = found.readings.get(Numbers.name, Reading())
    if not any(form.how["comma"] for form in reading.forms):
        return False
    cell, number = store.cell(name), _number(store, name, found.decimal)
    group = r"[-+]?[1-9][0-9]{0,2}(\.[0-9]{3})+"
    (has_points,) = store.ask(
        {
            name: [
                f"bool_or(contains({cell}, '.') and {number} is not null and not "
                f"regexp_full_match({cell}, '{group}'))"
            ]
        }
    )[name]
    return not has_points


def _with_commas(store: Store, name: str, found: Survey) -> Survey:
    """Return the survey with commas as decimal marks, if all numbers can be read so."""
    again = _counted(store, [name], ",")[name]
    again.distinct, again.all_differ = found.distinct, found.all_differ
    _add_ends(store, name, again)
    _read_texts(store, name, again)
    numbers, commas, _ = read_numbers(again.readings[Numbers.name])
    return again if numbers.n and not commas.n else found


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
    if found.text is None:
        return Numbers(), ""
    kind, said = _read(found, words, Promises(marks.decimal, marks.thousands, dates))
    if kind is None:
        found.gaps = {}
        return None, ""
    if found.gaps:
        first = min(row for _, row in found.gaps.values())
        found.first_empty = min(found.first_empty or first, first)
        found.empty += found.n_gaps
        listed = " or ".join(map(repr, found.gaps))
        said = "; ".join(filter(None, [said, f"{listed} is read as an empty cell"]))
    return kind, said


def _read(found: Survey, words: Wording, promises: Promises) -> tuple[Kind | None, str]:
    """Return the kind that reads nine in ten cells, None without one, and what was assumed."""
    numbers, commas, mixed = read_numbers(found.readings.get(Numbers.name, Reading()))
    n_numbers = found.numbers + numbers.n
    if n_numbers + commas.n >= found.enough:
        if commas.n:
            _refuse_marks(commas, found.decimal, words, promises)
        _refuse_others(found, numbers, Numbers.nouns, words)
        return Numbers(decimal=found.decimal).decide(numbers, words, promises, found.plain)
    for kind in FOUND[1:]:
        reading = found.readings.get(kind.name, Reading())
        if reading.n >= found.enough and kind.is_likely(reading):
            _refuse_others(found, reading, kind.nouns, words)
            return kind.decide(reading, words, promises)
    n_levels = MOST_DISTINCT + 1 if found.distinct is None else len(found.distinct)
    if mixed.n and mixed.n + numbers.n >= found.enough and n_levels > MOST_LEVELS:
        units = {form.how["unit"]: form.text for form in reversed(mixed.forms)}
        cells = " and ".join(map(repr, reversed(units.values())))
        raise TableError(
            f"{words.what} holds {cells}, numbers of different units: convert them to one, or "
            f"{words.as_text}."
        )
    return None, ""


def _refuse_marks(commas: Reading, decimal: str, words: Wording, promises: Promises) -> None:
    """Raise an error for numbers with the other decimal mark."""
    cell, row = commas.forms[0].text, commas.forms[0].row
    if decimal == ",":
        raise TableError(
            f"{words.what} holds {cell!r} in data row {row}, a number with a point, but "
            '`decimal=","` requires commas: write `decimal="."`, or `thousands="."` if points '
            "separate thousands."
        )
    cells = f"{commas.n:,} cells such as {cell!r} (data row {row})"
    if promises.decimal is not None:
        said = f'{cells}: if the comma is a decimal one, write `decimal=","`'
    else:
        said = f"{cells}, with a comma, beside numbers with a point: write all of them alike"
    raise TableError(f"{words.what} holds {said}, or {words.as_text}.")


def _refuse_others(found: Survey, reading: Reading, nouns: str, words: Wording) -> None:
    """Raise an error for cells that are not like most of the column."""
    n_read = reading.n + (found.numbers if nouns == Numbers.nouns else 0)
    if n_read == found.full - found.n_gaps:
        return
    # Numbers among dates are no texts, and not among the readings.
    cell, row = reading.other or (number_text(found.plain.low or 0.0), None)
    where = "elsewhere" if row is None else f"in data row {row}"
    raise TableError(
        f"{words.what} has {n_read:,} {nouns}, but {cell!r} {where}: if that is an empty cell, "
        f"write `na={cell!r}`; else {words.remedy}."
    )
