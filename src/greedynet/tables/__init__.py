"""Tables: files of rows and named columns, behind one small interface, `base.Table`."""

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from greedynet.tables.base import Block, Column, Table, TableError
from greedynet.tables.delimited import DelimitedTable
from greedynet.tables.frame import FrameTable
from greedynet.tables.npz import NpzTable
from greedynet.tables.parquet import ParquetTable

__all__ = ["Block", "Column", "Table", "TableError", "open_table"]


def open_table(source: Any, separator: str | None = None) -> Table:
    """Return the table that is meant.

    Parameters
    ----------
    source : str, path, data frame, mapping or Table
        A file of CSV, TSV, Parquet or NPZ; or columns that are in memory.
    separator : str or None, default=None
        What stands between the cells of a text file; None to find out.

    Returns
    -------
    table : Table
    """
    if isinstance(source, str | os.PathLike):
        return _open_file(Path(source), separator)
    if isinstance(source, Mapping) or hasattr(source, "columns"):
        return FrameTable(source)
    table: Table = source
    return table


def _open_file(path: Path, separator: str | None) -> Table:
    if not path.exists():
        raise TableError(f"{str(path)!r} does not exist: check the name and the folder.")
    if path.is_dir():
        raise TableError(f"{str(path)!r} is a folder: name a file in it.")
    with open(path, "rb") as file:
        start = file.read(4)
    ending = path.suffix.lower()
    if ending in (".parquet", ".pq") or start == b"PAR1":
        return ParquetTable(path)
    if ending == ".npz":
        return NpzTable(path)
    return DelimitedTable(path, separator)
