"""Tables: files of rows and named columns, behind one small interface, `base.Table`."""

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from greedynet.tables.readers.base import Block, Column, Table, TableError
from greedynet.tables.readers.commas import CommaTable, has_decimal_comma
from greedynet.tables.readers.compressed import plain_name
from greedynet.tables.readers.delimited import DelimitedTable
from greedynet.tables.readers.frame import FrameTable
from greedynet.tables.readers.npz import NpzTable
from greedynet.tables.readers.parquet import ParquetTable

__all__ = ["Block", "Column", "Table", "TableError", "has_decimal_comma", "is_text", "open_table"]


def open_table(source: Any, separator: str | None = None, decimal: str = ".") -> Table:
    """Return the table that is meant.

    Parameters
    ----------
    source : str, path, data frame, mapping or Table
        A file of CSV, TSV, Parquet or NPZ; or columns that are in memory. Text may be compressed,
        by gzip, bzip2 or xz: `data.csv.gz`.
    separator : str or None, default=None
        What stands between the cells of a text file; None to find out.
    decimal : {".", ","}, default="."
        What stands before the decimals of numbers that are text.

    Returns
    -------
    table : Table
    """
    if decimal not in (".", ","):
        raise TableError(f"`decimal` must be '.' or ',', got {decimal!r}.")
    table: Table = source
    if isinstance(source, str | os.PathLike):
        table = _open_file(Path(source), separator)
    elif isinstance(source, Mapping) or hasattr(source, "columns"):
        table = FrameTable(source)
    elif not hasattr(source, "blocks"):
        raise TypeError(
            "`source` must be a file's path, a data frame, a mapping from names to columns or a "
            f"Table, got {type(source).__name__}: write "
            '`{"a": X[:, 0], "b": X[:, 1], "y": y}`, for example.'
        )
    return table if decimal == "." else CommaTable(table)


def is_text(table: Table) -> bool:
    """Whether the table is a file of text, whose cells a separator tells apart."""
    inner = table.table if isinstance(table, CommaTable) else table
    return isinstance(inner, DelimitedTable)


def _open_file(path: Path, separator: str | None) -> Table:
    if not path.exists():
        raise TableError(f"{str(path)!r} does not exist: check the name and the folder.")
    if path.is_dir():
        raise TableError(f"{str(path)!r} is a folder: name a file in it.")
    if not path.is_file():
        raise TableError(
            f"{str(path)!r} is a pipe or a device, and a table is read more than once: write it "
            "to a file first, and give that."
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
        raise TableError(f"{path.name} is compressed twice: give the {inner} file that is in it.")
    return DelimitedTable(path, separator)
