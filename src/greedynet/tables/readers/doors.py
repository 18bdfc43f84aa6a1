"""Doors: whatever holds a table -> a `Table`, which for columns in memory is a `FrameTable`."""

import json
import re
import zipfile
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from greedynet.rows.parquet import ParquetError, ParquetFiles, is_index_column
from greedynet.support.duck import connect, explained, literal, quoted
from greedynet.support.files import require
from greedynet.tables.readers import base
from greedynet.tables.readers.base import (
    AsNumbers,
    Block,
    Column,
    TableError,
    as_column,
    check_names,
    text_column,
    without,
    without_mask,
)
from greedynet.tables.readers.store import Store
from greedynet.tables.readers.table import Table
from greedynet.tables.readers.text_files import TextFile, compression_of

# Bytes of a text file that DuckDB reads at once; a line has 2 MB at most.
_BUFFER = 2**23


class FrameTable(Table):
    """A data frame of any library, or a mapping from names to values."""

    def __init__(self, frame: Any, label: str = "the table") -> None:
        names = list(frame) if isinstance(frame, Mapping) else list(frame.columns)
        super().__init__(label, list(map(str, names)), self._fill)
        self._columns: dict[str, Column] = {str(name): self._column(frame, name) for name in names}
        lengths = {name: len(column) for name, column in self._columns.items()}
        if len(set(lengths.values())) > 1:
            raise TableError(f"{label} must have columns of equal length, got {lengths}.")

    @property
    def n_rows(self) -> int:
        """Number of rows."""
        return len(next(iter(self._columns.values()), ()))

    def drop_last_row(self) -> None:
        """Leave out the last row from now on."""
        self._columns = {name: column[:-1] for name, column in self._columns.items()}
        self.release()

    def _fill(self, store: Store) -> None:
        columns = {f"c{i}": column for i, column in enumerate(self._columns.values())}
        store.connection.register("frame", columns)
        store.add("frame", dict(zip(self.names, columns, strict=True)))
        store.connection.unregister("frame")

    def blocks(
        self, names: Sequence[str], numbers: Mapping[str, AsNumbers] | None = None
    ) -> Iterator[Block]:
        """Yield the rows of these columns in order, several thousand at a time."""
        for start in range(0, self.n_rows, base.ROWS):
            part = slice(start, start + base.ROWS)
            yield {name: without(self._columns[name][part], self.na) for name in names}

    def _column(self, frame: Any, name: Any) -> Column:
        values = np.asarray(without_mask(frame[name]))
        if values.ndim != 1:
            got = "one value" if values.ndim == 0 else f"an array of shape {values.shape}"
            raise TableError(
                f"{self.label}: column {str(name)!r} must hold a value for each row, got {got}: "
                "write a list of values."
            )
        return as_column(values)


# Text


def text_table(file: TextFile) -> Table:
    """Return a CSV or TSV file."""
    layout = file.layout
    columns = {name: f"c{i}" for i, name in enumerate(layout.names) if name}

    def read(store: Store, path: Path) -> None:
        types = ", ".join(f"'c{i}': 'VARCHAR'" for i in range(len(layout.names)))
        kind = compression_of(path)
        source = (
            f"read_csv({literal(str(path))}, columns = {{{types}}}, header = true, "
            f"delim = {literal(layout.separator)}, quote = '\"', escape = '\"', nullstr = '', "
            f"skip = {layout.n_above}, compression = '{kind}', auto_detect = false, "
            f"buffer_size = {_BUFFER}, "
            "null_padding = false, strict_mode = true)"
        )
        store.add(source, columns)

    def fill(store: Store) -> None:
        import duckdb

        try:
            if file.is_plain:
                try:
                    read(store, file.path)
                    return
                except duckdb.Error as error:
                    # Line breaks of two kinds.
                    if "state machine" not in str(error):
                        raise
            with file.rewritten() as copy:
                read(store, copy)
        except duckdb.Error as error:
            raise _explained(file, str(error)) from None

    return Table(
        file.label,
        list(columns),
        fill,
        is_text=True,
        encoding=layout.encoding,
        noticed=file.noticed,
    )


def _explained(file: TextFile, message: str) -> TableError:
    """Return what an error of DuckDB's reader means."""
    line = re.search(r"CSV Error on Line: (\d+)", message)
    row = int(line[1]) - file.layout.n_above - 1 if line else 0
    where = f"data row {row}" if row > 0 else "the first line"
    found = re.search(r"Expected Number of Columns: (\d+) Found: (\d+)", message)
    if found is not None:
        return TableError(
            f"{file.label}: {where} has {found[2]} cells, the first line {found[1]}: correct the "
            f"row; a cell that contains {file.layout.separator!r} needs quotes."
        )
    if "unterminated quote" in message:
        return TableError(
            f"{file.label} cannot be read as CSV: {where} has a quote that does not end where its "
            "cell does: write two quotes for one within a cell."
        )
    if "nicode" in message or "utf-8" in message.lower():
        return TableError(
            f"{file.label} is not UTF-8 text ({where}): save it as CSV in UTF-8, or name its "
            "encoding, such as `encoding='cp1252'`."
        )
    if "Maximum line size" in message:
        return TableError(f"{file.label}: {where} is longer than 2 MB: is a quote missing?")
    reason = message.splitlines()[0].partition(": ")[2]
    return TableError(f"{file.label} cannot be read as CSV ({where}): {reason}")


# Typed files


def parquet_table(paths: Sequence[Path], label: str, *, folders: bool = False) -> Table:
    """Return Parquet files with the same columns; names of folders may be columns, too."""
    try:
        files = ParquetFiles(paths, label, folders=folders)
        files.check_files(list(files.types))
    except ParquetError as error:
        raise TableError(str(error)) from None
    columns = {name: quoted(name) for name in files.types}
    columns |= _pandas_columns(files.paths[0], columns)
    return _typed_table(files.source, label, "Parquet", columns)


def _pandas_columns(path: str, names: Collection[str]) -> dict[str, str]:
    """Return the SQL of columns of which pandas noted what Parquet itself does not hold.

    These are the clock on the wall of times with a zone, and the unit of durations.
    """
    rows = (
        connect()
        .execute(f"select value from parquet_kv_metadata({literal(path)}) where key = 'pandas'")
        .fetchall()
    )
    found = {}
    for column in json.loads(bytes(rows[0][0]))["columns"] if rows else ():
        name, zone = column["name"], (column.get("metadata") or {}).get("timezone")
        unit = re.fullmatch(r"timedelta64\[(ns|us|ms|s)\]", str(column.get("numpy_type")))
        if name not in names:
            continue
        if zone is not None:
            found[name] = f"timezone({literal(str(zone))}, {quoted(name)})"
        elif unit is not None:
            scale = {"ns": "// 1000", "us": "", "ms": "* 1000", "s": "* 1000000"}[unit[1]]
            found[name] = f"to_microseconds({quoted(name)} {scale})"
    return found


def json_table(path: Path) -> Table:
    """Return a file with a JSON object in each line, or a list of them."""
    source = f"read_json({literal(str(path))}, sample_size = -1)"
    with explained(path.name, "JSON", TableError):
        found = connect().execute(f"describe from {source}").fetchall()
    return _typed_table(source, path.name, "JSON", {str(name): quoted(name) for name, *_ in found})


def _typed_table(source: str, label: str, what: str, columns: Mapping[str, str]) -> Table:
    def fill(store: Store) -> None:
        with explained(label, what, TableError):
            store.add(source, columns)

    return Table(label, list(columns), fill)


def database_table(path: Path, table: str | None, query: str | None) -> Table:
    """Return a table of a DuckDB file, or what a query yields from it."""
    import duckdb

    def attached(connection: Any) -> str:
        connection.execute(f"attach {literal(str(path))} as source (read_only)").fetchall()
        connection.execute("use source").fetchall()
        if query is not None:
            return f"({query.strip().rstrip(';')})"
        names = [str(row[0]) for row in connection.execute("show tables").fetchall()]
        if table is None and len(names) != 1:
            raise TableError(
                f"{path.name} has {len(names)} tables, {', '.join(names[:8])}: name one by "
                "`table`, or write a `query`."
            )
        if table is not None and table not in names:
            raise TableError(f"{path.name} has no table {table!r}: it has {', '.join(names[:8])}.")
        return quoted(table or names[0])

    def fill(store: Store) -> None:
        source = attached(store.connection)
        try:
            store.add(source, columns)
        finally:
            store.connection.execute("use memory").fetchall()
            store.connection.execute("detach source").fetchall()

    connection = connect()
    try:
        source = attached(connection)
        found = [str(row[0]) for row in connection.execute(f"describe from {source}").fetchall()]
    except duckdb.Error as error:
        reason = str(error).splitlines()[0]
        raise TableError(f"{path.name} cannot be read by DuckDB: {reason}") from None
    finally:
        connection.close()
    columns = {name: quoted(name) for name in found}
    return Table(path.name, found, fill)


def arrow_table(source: Any) -> Table:
    """Return a table or a dataset of pyarrow."""
    names = [str(name) for name in source.schema.names]
    check_names("the table", names)
    columns = {name: quoted(name) for name in names if not is_index_column(name)}

    def fill(store: Store) -> None:
        store.connection.register("arrow", source)
        store.add("arrow", columns)
        store.connection.unregister("arrow")

    return Table("the table", list(columns), fill)


# Files that Python reads


def npz_table(path: Path) -> FrameTable:
    """Return an NPZ file; a matrix `X` gives the columns X0, X1 and so on."""
    columns: list[tuple[str, Column]] = []
    try:
        # Opened here, because NumPy does not close a damaged file.
        with open(path, "rb") as file:
            archive = np.load(file, allow_pickle=False)
            if not isinstance(archive, Mapping):
                raise TableError(f"{path.name} contains a single array: write it with `np.savez`.")
            for name, array in archive.items():
                columns += _array_columns(path.name, name, array)
    except (ValueError, zipfile.BadZipFile, EOFError) as error:
        if isinstance(error, TableError):
            raise
        raise TableError(f"{path.name} cannot be read as NPZ: {error}") from error
    check_names(path.name, [name for name, _ in columns])
    lengths = {name: len(column) for name, column in columns}
    if len(set(lengths.values())) > 1:
        raise TableError(
            f"{path.name} has arrays of different lengths, {lengths}: all must have the same "
            "number of rows."
        )
    return FrameTable(dict(columns), path.name)


def _array_columns(label: str, name: str, array: NDArray[Any]) -> list[tuple[str, Column]]:
    """Return the columns of an array with their names."""
    if array.ndim not in (1, 2):
        raise TableError(
            f"{label}: the array {name!r} must have one or two dimensions, got {array.ndim}."
        )
    if array.ndim == 1:
        return [(name, as_column(array))]
    return [(f"{name}{j}", as_column(column)) for j, column in enumerate(array.T)]


def excel_table(path: Path, sheet: str | None) -> FrameTable:
    """Return a sheet of an Excel file, whose first full row names the columns."""
    calamine = require("python_calamine", "excel", "open_table")
    try:
        book = calamine.CalamineWorkbook.from_path(str(path))
        names = list(book.sheet_names)
        if sheet is not None and sheet not in names:
            raise TableError(
                f"{path.name} has no sheet {sheet!r}: it has {', '.join(map(repr, names))}."
            )
        rows = book.get_sheet_by_name(sheet or names[0]).to_python(skip_empty_area=True)
    except TableError:
        raise
    except Exception as error:
        raise TableError(f"{path.name} cannot be read as an Excel file: {error}") from error
    rows = [row for row in rows if any(cell != "" for cell in row)]
    width = max(map(len, rows), default=0)
    n_titles = next(
        (i for i, row in enumerate(rows) if sum(cell != "" for cell in row) > width / 2), 0
    )
    if not rows:
        raise TableError(f"{path.name} is empty: its first row must name the columns.")
    header = [str(cell).strip() for cell in rows[n_titles]]
    cells = list(zip(*rows[n_titles + 1 :], strict=True)) or [()] * len(header)
    columns = {name: cells[i] for i, name in enumerate(header) if name}
    check_names(path.name, [name for name in header if name])
    return FrameTable({name: _excel_column(of) for name, of in columns.items()}, path.name)


def _excel_column(cells: Sequence[Any]) -> Column:
    """Return cells of Python's types as a column."""
    full = [cell for cell in cells if cell != ""]
    if full and all(isinstance(cell, int | float) and not isinstance(cell, bool) for cell in full):
        return np.array([np.nan if cell == "" else float(cell) for cell in cells])
    return text_column([_excel_text(cell) for cell in cells])


def _excel_text(cell: Any) -> str:
    if isinstance(cell, float) and cell.is_integer():
        return str(int(cell))
    return str(cell)


def parts_table(parts: Iterable[Any], opened: Callable[[Any], Any]) -> Table:
    """Return the rows of all parts, one after the other; one part is opened at a time."""
    if iter(parts) is parts:
        raise TypeError(
            f"`source` must yield its parts again for every pass, got a {type(parts).__name__},"
            " which is exhausted after one: pass a list, or an object whose `__iter__` starts "
            "again."
        )

    def one(part: Any) -> Any:
        if isinstance(part, tuple):
            raise TypeError(
                "`source` must yield tables, such as data frames or mappings from names to "
                "columns, got a tuple as a part: blocks `(X, y)` have no names; pass them to the "
                "`fit` of an estimator."
            )
        return opened(part)

    first = next(map(one, parts), None)
    if first is None:
        raise TableError("`source` must yield at least one part, got none.")

    def fill(store: Store) -> None:
        for number, table in enumerate(map(one, parts)):
            absent = sorted(set(first.names) - set(table.names))
            if absent:
                raise TableError(
                    f"Every part must have the columns of the first, but part {number} "
                    f"({table.label}) has no {absent[0]!r}: add it, or leave the part out."
                )
            table.fill(store)

    label = f"{first.label} and the parts after it"
    about = {name: getattr(first, name) for name in ("is_text", "encoding", "noticed")}
    return Table(label, first.names, fill, **about)
