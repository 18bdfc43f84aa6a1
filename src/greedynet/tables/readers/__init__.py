"""Readers: files and data frames with named columns, behind one small interface, `base.Table`.

May import `support` and `rows.arrow`, and no other module of `tables`.
"""

import os
from collections.abc import Callable, Iterable, Mapping
from functools import partial
from pathlib import Path
from typing import Any

from greedynet.tables.readers.base import Block, Column, Table, TableError
from greedynet.tables.readers.columnar import ArrowTable, FrameTable, NpzTable
from greedynet.tables.readers.composed import MARKS, MarksTable, PartsTable
from greedynet.tables.readers.delimited import DelimitedTable, known_encoding, plain_name

__all__ = [
    "Block",
    "Column",
    "Table",
    "TableError",
    "is_in_parts",
    "is_text",
    "open_as_fitted",
    "open_table",
    "reading_record",
    "text_encoding",
]

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
) -> Table:
    """Open a table.

    Parameters
    ----------
    source : str, path, data frame, Arrow table, mapping, Table, or iterable of these
        A CSV, TSV, Parquet or NPZ file, or a folder of Parquet files; columns in memory; or parts
        with the same columns, such as a list of files or of data frames, which are read one after
        the other. Text files may be compressed by gzip, bzip2 or xz: `data.csv.gz`.
    separator : str or None, default=None
        Separator of the cells of a text file; None to detect it.
    decimal : {".", ","} or None, default=None
        Decimal mark of numbers in text; None for a point.
    thousands : {",", ".", " ", "'"} or None, default=None
        Mark between groups of three digits in text, which is removed; None if it is not known.
    encoding : str or None, default=None
        Encoding of a text file, such as "cp1252"; None to detect it.
    expected_encoding : str or None, default=None
        What it is likely to be if the file does not tell, as files in UTF-8 do; None for "cp1252".
    """
    _check_marks(decimal, thousands)
    if expected_encoding is not None:
        expected_encoding = known_encoding(expected_encoding)
    text = partial(
        DelimitedTable,
        separator=separator,
        encoding=encoding,
        expected_encoding=expected_encoding,
    )
    opened = partial(_opened, text=text)
    table = PartsTable(source, opened) if is_in_parts(source) else opened(source)
    if decimal != "," and thousands is None:
        return table
    return MarksTable(table, decimal or ".", thousands)


def reading_record(
    table: Table, decimal: str, thousands: str | None, target: Mapping[str, Any]
) -> dict[str, Any]:
    """Return plain values for the file of a model; `target` is the `state` of the target's kind."""
    return {
        "decimal": decimal,
        "thousands": thousands,
        "encoding": text_encoding(table),
        "target": dict(target),
    }


def open_as_fitted(about: Mapping[str, Any], source: Any, **given: Any) -> Table:
    """Open a table with the marks of numbers of the fit, and expect its encoding.

    `about` is that of the model. A `Table` that is open already is returned. One mark of numbers
    that is given replaces both of the fit.
    """
    if hasattr(source, "blocks"):
        return open_table(source, **given)
    remembered = about.get("reading") or {}
    if all(given.get(name) is None for name in _REMEMBERED):
        given |= {name: remembered.get(name) for name in _REMEMBERED}
    return open_table(source, **given, expected_encoding=remembered.get("encoding"))


def _opened(source: Any, text: Callable[[Path], Table]) -> Table:
    """Open one part of a table; `text` opens text files."""
    if isinstance(source, str | os.PathLike):
        return _open_file(Path(source), text)
    if _is_arrow(source):
        return ArrowTable(source)
    advice = '`{"a": X[:, 0], "b": X[:, 1], "y": y}`, for example.'
    if hasattr(source, "collect"):  # a lazy frame, whose values are not known yet
        advice = "`frame.collect()`."
    elif isinstance(source, Mapping) or hasattr(source, "columns"):
        return FrameTable(source)
    elif hasattr(source, "blocks"):
        table: Table = source
        return table
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


def is_text(table: Table) -> bool:
    """Whether the table is a text file, whose cells are separated by a character."""
    return isinstance(_as_written(table), DelimitedTable)


def text_encoding(table: Table) -> str | None:
    """Return the encoding of a text file, or of the first of several; None for all else."""
    inner = _as_written(table)
    first = inner.first if isinstance(inner, PartsTable) else inner
    return first.encoding if isinstance(first, DelimitedTable) else None


def _as_written(table: Table) -> Table:
    return table.table if isinstance(table, MarksTable) else table


def _check_marks(decimal: str | None, thousands: str | None) -> None:
    if decimal not in (None, ".", ","):
        raise TableError(f"`decimal` must be '.' or ',', got {decimal!r}.")
    if thousands is not None and (thousands not in MARKS or thousands == (decimal or ".")):
        others = [mark for mark in MARKS if mark != (decimal or ".")]
        raise TableError(
            f"`thousands` must be one of {others}, and another mark than the decimal one, got "
            f"{thousands!r}."
        )


def _open_file(path: Path, text: Callable[[Path], Table]) -> Table:
    if not path.exists():
        raise TableError(f"{str(path)!r} does not exist: check the name and the folder.")
    if path.is_dir():
        return ArrowTable(path)
    if not path.is_file():
        raise TableError(
            f"{str(path)!r} is a pipe or a device, but a table is read more than once: write it "
            "to a file first."
        )
    with open(path, "rb") as file:
        start = file.read(4)
    ending = path.suffix.lower()
    if ending in (".parquet", ".pq") or start == b"PAR1":
        return ArrowTable(path)
    if ending == ".npz":
        return NpzTable(path)
    inner = plain_name(path).suffix.lower()
    if inner != ending and inner in (".parquet", ".pq", ".npz"):
        raise TableError(
            f"{path.name} is compressed twice: give the {inner} file that it contains."
        )
    return text(path)
