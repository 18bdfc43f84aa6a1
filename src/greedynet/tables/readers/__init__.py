"""Readers: files and data frames with named columns, behind one small interface, `base.Table`.

DuckDB reads files (`doors`, `text_files`) and answers questions about all rows (`store`); columns
in memory stay where they are.

May import `support` and `rows`, and no other module of `tables`.
"""

import glob
import os
from collections.abc import Iterable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any

from greedynet.tables.readers import doors
from greedynet.tables.readers.base import Block, Column, Marks, TableError
from greedynet.tables.readers.table import Table
from greedynet.tables.readers.text_files import ENDINGS, TextFile, known_encoding, plain_name

__all__ = [
    "Block",
    "Column",
    "Marks",
    "Table",
    "TableError",
    "is_in_parts",
    "open_as_fitted",
    "open_table",
    "reading_record",
]

MARKS = (",", ".", " ", "'")
_PARQUET = (".parquet", ".pq")
_EXCEL = (".xlsx", ".xlsm", ".xls", ".xlsb", ".ods")
_DATABASES = (".duckdb", ".ddb")
_JSON = (".json", ".jsonl", ".ndjson")
# Of `open_table`, as the model remembers them; the separator belongs to each file.
_REMEMBERED = ("decimal", "thousands")


def open_table(
    source: Any,
    separator: str | None = None,
    decimal: str | None = None,
    *,
    thousands: str | None = None,
    encoding: str | None = None,
    expected_encoding: str | None = None,
    na: str | Sequence[str] = (),
    sheet: str | None = None,
    query: str | None = None,
    memory_limit: float | None = None,
) -> Table:
    """Open a table.

    Parameters
    ----------
    source : str, path, data frame, Arrow table, mapping, Table, or iterable of these
        A file of CSV, TSV (also compressed: `data.csv.gz`), JSON lines, Parquet, Excel, DuckDB or
        NPZ; a folder of Parquet files; several files by `*`; columns in memory; or parts with the
        same columns, such as a list of files or of data frames, which are read one after the other.
    separator : str or None, default=None
        Separator of the cells of a text file; None to detect it.
    decimal : {".", ","} or None, default=None
        Decimal mark of numbers in text; None to detect it.
    thousands : {",", ".", " ", "'"} or None, default=None
        Mark between groups of three digits in text, which is removed; None if it is not known.
    encoding : str or None, default=None
        Encoding of a text file, such as "cp1252"; None to detect it.
    expected_encoding : str or None, default=None
        What it is likely to be if the file does not tell, as files in UTF-8 do; None for "cp1252".
    na : str or sequence of str, default=()
        Texts that stand for an empty cell, beside "NA" and the like.
    sheet : str or None, default=None
        Sheet of an Excel file, or table of a DuckDB file; None for the first, or the only one.
    query : str or None, default=None
        What to select from a DuckDB file.
    memory_limit : float or None, default=None
        Bytes that DuckDB may take.
    """
    check_marks(decimal, thousands)
    if expected_encoding is not None:
        expected_encoding = known_encoding(expected_encoding)
    opened = partial(
        _opened,
        text=partial(
            TextFile,
            separator=separator,
            encoding=encoding,
            expected_encoding=expected_encoding,
        ),
        sheet=sheet,
        query=query,
    )
    table = doors.parts_table(source, opened) if is_in_parts(source) else opened(source)
    if decimal is not None or thousands is not None:
        table.marks = Marks(decimal, thousands)
    table.na = table.na or ((na,) if isinstance(na, str) else tuple(map(str, na)))
    table.memory_limit = memory_limit
    return table


def reading_record(
    table: Table, target: Mapping[str, Any], target_gaps: Sequence[str] = ()
) -> dict[str, Any]:
    """Return plain values for the file of a model; `target` is the `state` of the target's kind."""
    return {
        "decimal": table.marks.decimal,
        "thousands": table.marks.thousands,
        "encoding": table.encoding,
        "na": list(table.na),
        "target": dict(target),
        "target_gaps": list(target_gaps),
    }


def open_as_fitted(about: Mapping[str, Any], source: Any, **given: Any) -> Table:
    """Open a table with the marks of numbers of the fit, and expect its encoding.

    `about` is that of the model. A `Table` that is open already is returned. One mark of numbers
    that is given replaces both of the fit.
    """
    if isinstance(source, Table):
        return open_table(source, **given)
    remembered = about.get("reading") or {}
    if all(given.get(name) is None for name in _REMEMBERED):
        given |= {name: remembered.get(name) for name in _REMEMBERED}
    given["na"] = given.get("na") or remembered.get("na") or ()
    return open_table(source, **given, expected_encoding=remembered.get("encoding"))


def _opened(source: Any, text: Any, sheet: str | None, query: str | None) -> Table:
    """Open one part of a table; `text` looks at text files."""
    if isinstance(source, str | os.PathLike):
        return _open_path(os.fspath(source), text, sheet, query)
    if _is_arrow(source):
        return doors.arrow_table(source)
    advice = '`{"a": X[:, 0], "b": X[:, 1], "y": y}`, for example.'
    if hasattr(source, "collect"):  # a lazy frame, whose values are not known yet
        advice = "`frame.collect()`."
    elif isinstance(source, Mapping) or hasattr(source, "columns"):
        return doors.FrameTable(source)
    elif isinstance(source, Table):
        return source
    raise TypeError(
        "`source` must be a file's path, a data frame, an Arrow table, a mapping from names to "
        f"columns, a Table, or an iterable of these, got {type(source).__name__}: write {advice}"
    )


def is_in_parts(source: Any) -> bool:
    """Whether this yields tables, rather than being one, a matrix or lists of numbers."""
    if isinstance(source, list | tuple):
        return len(source) > 0 and not isinstance(source[0], list | tuple | int | float)
    one = isinstance(source, str | bytes | os.PathLike | Mapping) or _is_arrow(source)
    has_rows = any(hasattr(source, name) for name in ("collect", "columns", "blocks", "__array__"))
    return isinstance(source, Iterable) and not one and not has_rows


def _is_arrow(source: Any) -> bool:
    """Whether this is a table or a dataset of pyarrow, of which `columns` are not the names."""
    # By its name: pyarrow is not imported for other tables. A reader of batches ends after a pass.
    kinds = type(source).__mro__
    is_arrow = any(kind.__module__.partition(".")[0] == "pyarrow" for kind in kinds)
    return is_arrow and hasattr(source, "schema") and not hasattr(source, "read_next_batch")


def check_marks(decimal: str | None, thousands: str | None) -> None:
    """Raise an error unless the marks of numbers can be told apart."""
    if decimal not in (None, ".", ","):
        raise TableError(f"`decimal` must be '.' or ',', got {decimal!r}.")
    if thousands is not None and (thousands not in MARKS or thousands == (decimal or ".")):
        others = [mark for mark in MARKS if mark != (decimal or ".")]
        raise TableError(
            f"`thousands` must be one of {others}, and another mark than the decimal one, got "
            f"{thousands!r}."
        )


def _open_path(name: str, text: Any, sheet: str | None, query: str | None) -> Table:
    path = Path(name)
    if not path.exists() and any(sign in name for sign in "*?["):
        files = sorted(map(Path, glob.glob(name, recursive=True)))
        if not files:
            raise TableError(f"{name!r} stands for no file: check the name and the folder.")
        if all(file.suffix.lower() in _PARQUET for file in files):
            return doors.parquet_table(files, path.name)
        return doors.parts_table(files, lambda file: _open_file(file, text, sheet, query))
    if not path.exists():
        raise TableError(f"{name!r} does not exist: check the name and the folder.")
    if path.is_dir():
        files = sorted(
            file for file in path.rglob("*") if file.suffix.lower() in _PARQUET and file.is_file()
        )
        if not files:
            raise TableError(f"{name} is a folder without Parquet files.")
        return doors.parquet_table(files, path.name, folders=True)
    if not path.is_file():
        raise TableError(
            f"{name!r} is a pipe or a device, but a table is read more than once: write it "
            "to a file first."
        )
    return _open_file(path, text, sheet, query)


def _open_file(path: Path, text: Any, sheet: str | None, query: str | None) -> Table:
    with open(path, "rb") as file:
        start = file.read(16)
    ending = path.suffix.lower()
    is_database = start[8:12] == b"DUCK" or ending in _DATABASES
    if query is not None and not is_database:
        raise TableError(f"`query` selects from a DuckDB file, got {path.name}: omit it.")
    if ending in _PARQUET or start.startswith(b"PAR1"):
        return doors.parquet_table([path], path.name)
    if ending == ".npz":
        return doors.npz_table(path)
    if ending in _EXCEL:
        return doors.excel_table(path, sheet)
    if is_database:
        return doors.database_table(path, sheet, query)
    inner = plain_name(path).suffix.lower()
    if inner in _JSON:
        return doors.json_table(path)
    if ending in ENDINGS and inner in (*_PARQUET, ".npz", *_EXCEL):
        raise TableError(
            f"{path.name} is compressed twice: give the {inner} file that it contains."
        )
    return doors.text_table(text(path))
