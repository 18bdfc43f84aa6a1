"""Readers: files and data frames with named columns, behind one small interface, `base.Table`.

May import `support`, and no other module of `tables`.
"""

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from greedynet.tables.readers.base import Block, Column, Table, TableError
from greedynet.tables.readers.compressed import plain_name
from greedynet.tables.readers.delimited import DelimitedTable
from greedynet.tables.readers.frame import FrameTable
from greedynet.tables.readers.marks_table import MARKS, MarksTable
from greedynet.tables.readers.npz import NpzTable
from greedynet.tables.readers.parquet import ParquetTable

__all__ = ["Block", "Column", "Table", "TableError", "is_text", "open_table"]


def open_table(
    source: Any,
    separator: str | None = None,
    decimal: str | None = None,
    *,
    thousands: str | None = None,
    encoding: str | None = None,
) -> Table:
    """Open a table.

    Parameters
    ----------
    source : str, path, data frame, mapping or Table
        A CSV, TSV, Parquet or NPZ file; or columns in memory. Text files may be compressed by gzip,
        bzip2 or xz: `data.csv.gz`.
    separator : str or None, default=None
        Separator of the cells of a text file; None to detect it.
    decimal : {".", ","} or None, default=None
        Decimal mark of numbers in text; None for a point.
    thousands : {",", ".", " ", "'"} or None, default=None
        Mark between groups of three digits in text, which is removed; None if it is not known.
    encoding : str or None, default=None
        Encoding of a text file, such as "cp1252"; None to detect it.

    Returns
    -------
    table : Table
    """
    _check_marks(decimal, thousands)
    table: Table = source
    if isinstance(source, str | os.PathLike):
        table = _open_file(Path(source), separator, encoding)
    elif isinstance(source, Mapping) or hasattr(source, "columns"):
        table = FrameTable(source)
    elif not hasattr(source, "blocks"):
        raise TypeError(
            "`source` must be a file's path, a data frame, a mapping from names to columns or a "
            f"Table, got {type(source).__name__}: write "
            '`{"a": X[:, 0], "b": X[:, 1], "y": y}`, for example.'
        )
    if decimal != "," and thousands is None:
        return table
    return MarksTable(table, decimal or ".", thousands)


def is_text(table: Table) -> bool:
    """Whether the table is a text file, whose cells are separated by a character."""
    inner = table.table if isinstance(table, MarksTable) else table
    return isinstance(inner, DelimitedTable)


def _check_marks(decimal: str | None, thousands: str | None) -> None:
    if decimal not in (None, ".", ","):
        raise TableError(f"`decimal` must be '.' or ',', got {decimal!r}.")
    if thousands is not None and (thousands not in MARKS or thousands == (decimal or ".")):
        others = [mark for mark in MARKS if mark != (decimal or ".")]
        raise TableError(
            f"`thousands` must be one of {others}, and another mark than the decimal one, got "
            f"{thousands!r}."
        )


def _open_file(path: Path, separator: str | None, encoding: str | None) -> Table:
    if not path.exists():
        raise TableError(f"{str(path)!r} does not exist: check the name and the folder.")
    if path.is_dir():
        raise TableError(f"{str(path)!r} is a folder: name a file in it.")
    if not path.is_file():
        raise TableError(
            f"{str(path)!r} is a pipe or a device, but a table is read more than once: write it "
            "to a file first."
        )
    with open(path, "rb") as file:
        start = file.read(4)
    ending = path.suffix.lower()
    if ending in (".parquet", ".pq") or start == b"PAR1":
        return ParquetTable(path)
    if ending == ".npz":
        return NpzTable(path)
    inner = plain_name(path).suffix.lower()
    if inner != ending and inner in (".parquet", ".pq", ".npz"):
        raise TableError(
            f"{path.name} is compressed twice: give the {inner} file that it contains."
        )
    return DelimitedTable(path, separator, encoding=encoding)
