"""Tables in DuckDB: questions about all rows, and the rows in blocks.

Its columns are called c0, c1 and so on, so that no name of a user becomes part of a query. They
hold texts, numbers (float64), moments (timestamps) or spans of time (intervals).
"""

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from itertools import islice
from typing import Any

import numpy as np

from greedynet.support.duck import (
    MOMENT,
    NUMBER,
    SPAN,
    TEXT,
    as_double,
    connect,
    kind_of,
    literals,
)
from greedynet.tables.readers import base
from greedynet.tables.readers.base import (
    EMPTY,
    AsNumbers,
    Block,
    Column,
    no_number_sql,
    plain_sql,
    text_column,
)

_SQL_TYPES = {TEXT: "varchar", NUMBER: "double", MOMENT: "timestamp", SPAN: "interval"}
# Of one query: planning takes longer than in proportion to their number.
_MOST_COLUMNS = 100
_SPACES = "\t\n\r\v\f \u00a0\u2007\u202f\u3000"
# Bytes that DuckDB needs.
_LEAST_MEMORY, _OF_COLUMN = 2**26, 2**20
# First rows by which it is decided which columns are read as numbers; of fewer, none is.
SAMPLE = 20_000


class NotNumbersError(Exception):
    """A column of which the first rows are numbers holds something else, too."""


class Store:
    """The rows of a table, in their order, to which parts are added one after the other.

    Parameters
    ----------
    label : str
        The name of the table.
    na : sequence of str
        Further texts that stand for an empty cell.
    n_columns : int
    memory_limit : float or None
        Bytes that it may take in memory, or what DuckDB needs for so many columns; what is beyond
        is written to a temporary folder.
    numbers : collection of str
        Columns of which only the numbers are needed, and not how they are written.
    """

    def __init__(
        self,
        label: str,
        na: Sequence[str],
        n_columns: int,
        memory_limit: float | None = None,
        numbers: Collection[str] = (),
    ) -> None:
        self.label, self.na, self._numbers = label, tuple(na), numbers
        if memory_limit is not None:
            memory_limit = max(memory_limit, _LEAST_MEMORY + _OF_COLUMN * n_columns)
        self.connection = connect(memory_limit)
        self.names: tuple[str, ...] = ()
        self.n_rows, self._has_parts = 0, False
        self._kinds: dict[str, str] = {}
        self._cells: dict[str, str] = {}
        # Of texts that are read as numbers: whether cells have spaces around them, or stand for
        # empty ones.
        self._plain: dict[str, tuple[bool, bool]] = {}
        self._equal: dict[tuple[str, str], bool] = {}

    # Rows

    def add(self, source: str, columns: Mapping[str, str], parameters: Sequence[Any] = ()) -> None:
        """Add the rows of a query; `columns` are those that it yields, in SQL, by their names."""
        listed = ", ".join(f"{sql} as c{i}" for i, sql in enumerate(columns.values()))
        query = f"select {listed} from {source}"
        described = self.connection.execute(f"describe {query}", parameters).fetchall()
        kinds = dict(zip(columns, (kind_of(str(row[1])) for row in described), strict=True))
        if self._has_parts:
            self._insert(query, columns, kinds, described, parameters)
        else:
            self.names, self._kinds = tuple(columns), kinds
            self._create(query, described, parameters)
        self.n_rows, self._has_parts = self._count(), True

    def _count(self) -> int:
        return int(self.rows("select count(*) from {t}")[0][0])

    def _create(self, query: str, described: Sequence[Any], parameters: Sequence[Any]) -> None:
        """Make the table, with numbers instead of texts in columns of which all are plain ones."""
        normal = {
            name: _normal(self._column(name), str(row[1]))
            for name, row in zip(self.names, described, strict=True)
        }
        texts = [name for name in self.names if self._kinds[name] == TEXT and name in self._numbers]
        if texts:
            self._make(normal, f"({query} limit {SAMPLE})", parameters)
            if self._count() < SAMPLE:
                return
            self._find_plain(texts)
        self._make(normal, f"({query})", parameters)

    def _find_plain(self, names: Sequence[str]) -> None:
        """Find the columns of plain numbers among these, by the first rows."""
        facts = self._learned(names)
        counts = self.ask(
            {n: [f"count({self.cell(n)})", f"count({plain_sql(self.cell(n))})"] for n in names}
        )
        self._plain = {
            name: facts.get(name, (False, False))
            for name in names
            if 0 < counts[name][0] == counts[name][1]
        }
        self._kinds |= dict.fromkeys(self._plain, NUMBER)
        self._cells.clear()

    def _make(self, normal: Mapping[str, str], source: str, parameters: Sequence[Any]) -> None:
        made = ", ".join(
            f"{self._number(name, sql)} as {self._column(name)}" for name, sql in normal.items()
        )
        query = f"create or replace table memory.main.t as select {made} from {source}"
        self._run(query, parameters)

    def _number(self, name: str, sql: str) -> str:
        """Return the SQL of a text as a number, where the column holds plain ones only."""
        if name not in self._plain:
            return sql
        cell = self._bare(sql, *self._plain[name])
        return f"cast(case when {no_number_sql(cell)} then 'text' else {cell} end as double)"

    def _insert(
        self,
        query: str,
        columns: Mapping[str, str],
        kinds: Mapping[str, str],
        described: Sequence[Any],
        parameters: Sequence[Any],
    ) -> None:
        """Add the rows of another part, whose columns may be in another order."""
        places = {name: i for i, name in enumerate(columns)}
        made = []
        for name in self.names:
            i = places[name]
            sql = _normal(f"c{i}", str(described[i][1]))
            if kinds[name] == TEXT and name in self._plain:
                sql = self._number(name, sql)
            elif kinds[name] != self._kinds[name]:
                sql = _as_text(sql, kinds[name])
                self._become_text(name)
            made.append(sql)
        self._run(f"insert into memory.main.t select {', '.join(made)} from ({query})", parameters)

    def _become_text(self, name: str) -> None:
        """Make a column of texts of one that is text in another part."""
        kind, column = self._kinds[name], self._column(name)
        if kind != TEXT:
            self._run(
                f"alter table memory.main.t alter {column} set data type varchar using "
                f"{_as_text(column, kind)}"
            )
            self._kinds[name] = TEXT

    def drop_last_row(self) -> None:
        """Leave out the last row."""
        self.n_rows -= 1
        self._run(f"delete from memory.main.t where rowid = {self.n_rows}")
        self._equal.clear()

    def _run(self, query: str, parameters: Sequence[Any] = ()) -> None:
        from duckdb import ConversionException

        try:
            self.connection.execute(query, parameters).fetchall()
        except ConversionException:
            if not self._plain:
                raise
            raise NotNumbersError from None

    # Cells

    def kind(self, name: str) -> str:
        """Return what DuckDB holds in a column: texts, numbers, moments or spans."""
        return self._kinds[name]

    def _column(self, name: str) -> str:
        return f"c{self.names.index(name)}"

    def cell(self, name: str) -> str:
        """Return the SQL of a cell without spaces around it, null if it is empty."""
        return self._cells.get(name, self._column(name))

    def learn(self, names: Sequence[str]) -> None:
        """Find out which columns of texts have spaces around cells, or words for empty ones."""
        new = [name for name in names if name not in self._cells]
        self._cells |= {name: self._column(name) for name in new}
        self._learned([name for name in new if self._kinds[name] == TEXT])

    def _learned(self, texts: Sequence[str]) -> dict[str, tuple[bool, bool]]:
        """Return of columns of texts whether they have spaces, and words for empty cells."""
        found = self.ask(
            {
                name: [
                    f"bool_or(regexp_matches({self._column(name)}, '^[{_SPACES}]|[{_SPACES}]$'))",
                    f"bool_or({self._column(name)} in ({self._words}))",
                ]
                for name in texts
            }
        )
        facts = {name: (bool(spaces), bool(words)) for name, (spaces, words) in found.items()}
        self._cells |= {n: self._bare(self._column(n), *of) for n, of in facts.items() if any(of)}
        return facts

    @property
    def _words(self) -> str:
        return literals(sorted({*EMPTY, *self.na} - {""}))

    def _bare(self, sql: str, has_spaces: bool, has_words: bool) -> str:
        """Return the SQL of a cell without spaces around it, null for words for empty cells."""
        if has_spaces:
            sql = f"regexp_replace({sql}, '^[{_SPACES}]+|[{_SPACES}]+$', '', 'g')"
        if not (has_spaces or has_words):
            return sql
        return f"case when {sql} in ({self._words}, '') then null else {sql} end"

    def ask(self, aggregates: Mapping[str, Sequence[str]]) -> dict[str, tuple[Any, ...]]:
        """Return the values of some aggregates over all rows, by the names of the columns."""
        found: dict[str, tuple[Any, ...]] = {}
        for part in _parts(aggregates.items()):
            listed = ", ".join(sql for _, column in part for sql in column)
            [row] = self.connection.execute(f"select {listed} from memory.main.t").fetchall()
            values = iter(row)
            found |= {name: tuple(next(values) for _ in column) for name, column in part}
        return found

    def query(self, sql: str) -> dict[str, Any]:
        """Return the arrays of a query, in which `{t}` is the table."""
        found: dict[str, Any] = self.connection.execute(
            sql.replace("{t}", "memory.main.t")
        ).fetchnumpy()
        return found

    def rows(self, sql: str) -> list[tuple[Any, ...]]:
        """Return the rows of a query, in which `{t}` is the table."""
        found: list[tuple[Any, ...]]
        found = self.connection.execute(sql.replace("{t}", "memory.main.t")).fetchall()
        return found

    def blocks(
        self, names: Sequence[str], numbers: Mapping[str, AsNumbers] | None = None
    ) -> Iterator[Block]:
        """Yield the rows of these columns in order, several thousand at a time."""
        self.learn(names)
        columns = [self._read(name, (numbers or {}).get(name)) for name in names]
        step = base.ROWS
        cursor = self.connection.cursor()
        for start in range(0, self.n_rows, step):
            block: Block = {}
            where = f"rowid >= {start} and rowid < {start + step}"
            for part in _parts(zip(names, columns, strict=True)):
                listed = ", ".join(f"{sql} as v{i}" for i, (_, sql) in enumerate(part))
                arrays = cursor.execute(
                    f"select {listed} from memory.main.t where {where}"
                ).fetchnumpy()
                for (name, _), values in zip(part, arrays.values(), strict=True):
                    block[name] = as_block_column(values)
            yield block

    def _read(self, name: str, number: AsNumbers | None) -> str:
        """Return the SQL of a column of a block."""
        if self._kinds[name] != TEXT:
            return self._column(name)
        cell = self.cell(name)
        if number is not None:
            if number.gaps:
                cell = f"case when {cell} in ({literals(number.gaps)}) then null else {cell} end"
            sql = number.expression(cell)
            if self._are_equal(f"count({cell})", f"count({sql})"):
                return sql
        # As they are written, for copies and for errors.
        return f"coalesce({self.cell(name) if self.na else self._column(name)}, '')"

    def _are_equal(self, first: str, second: str) -> bool:
        """Whether two aggregates are the same, which is remembered."""
        if (first, second) not in self._equal:
            self._equal[first, second] = bool(self.ask({"": [f"{first} = {second}"]})[""][0])
        return self._equal[first, second]


def as_block_column(values: Any) -> Column:
    """Return an array of DuckDB as a column: NaN, NaT or "" for empty cells."""
    array = np.ma.getdata(values)
    mask = np.ma.getmaskarray(values) if isinstance(values, np.ma.MaskedArray) else None
    if array.dtype.kind == "f":
        return np.where(mask, np.nan, array) if mask is not None else array
    if array.dtype.kind == "u":  # places of levels
        return np.where(False if mask is None else mask, -1, array.astype(np.intp))
    if array.dtype.kind in "Mm":
        column = array.astype(f"{array.dtype.kind}8[us]")
        if mask is not None and mask.any():
            column[mask] = "NaT"
        return column
    texts = array.tolist()
    if mask is not None and mask.any():
        texts = ["" if gap else text for text, gap in zip(texts, mask.tolist(), strict=True)]
    return text_column(texts)


def _normal(column: str, sql_type: str) -> str:
    """Return the SQL of a column in the one type of its kind, null for empty cells."""
    kind, head = kind_of(sql_type), sql_type.partition("(")[0].upper()
    if kind == NUMBER:
        number = as_double(column, sql_type)
        return number if "INT" in head else f"case when isnan({number}) then null else {number} end"
    if head == "BOOLEAN":
        return f"case {column} when true then 'True' when false then 'False' end"
    if kind == TEXT:
        text = column if head == "VARCHAR" else f"cast({column} as varchar)"
        return f"nullif({text}, '')"
    return f"cast({column} as {_SQL_TYPES[kind]})"


def _as_text(column: str, kind: str) -> str:
    """Return the SQL of the text of a cell, as `number_text` writes it."""
    if kind != NUMBER:
        return f"cast({column} as varchar)"
    whole = f"{column} = floor({column}) and abs({column}) < 1e15"
    return (
        f"case when {whole} then cast(cast({column} as bigint) as varchar) "
        f"else cast({column} as varchar) end"
    )


def _parts(columns: Iterable[Any]) -> Iterator[list[Any]]:
    """Yield as many columns at a time as one query may have."""
    left = iter(columns)
    while part := list(islice(left, _MOST_COLUMNS)):
        yield part
