"""Parquet files, read by DuckDB: their columns, and their rows in blocks.

A column is the same numbers by any way: integers, decimals and floats of any precision as float64,
true and false as 1 and 0, and NaN for null.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from greedynet.support.duck import NUMBER, as_double, connect, explained, kind_of, literals, quoted

ENDINGS = (".parquet", ".pq")
# The place of a row in its file, by DuckDB: groups of rows that it excludes are not read.
_PLACE = "file_row_number"

# Columns of some rows.
Batch = dict[str, NDArray[Any]]


class ParquetError(ValueError):
    """Files that cannot be read; the message gives the reason."""


class ParquetFiles:
    """Files with the same columns, one after the other.

    Parameters
    ----------
    paths : sequence of Path
    label : str
        Their name in errors.
    folders : bool
        Whether the names of folders such as `year=2024` are columns, too.
    """

    def __init__(self, paths: Sequence[Path], label: str, *, folders: bool = False) -> None:
        self.label, self.paths, self._folders = label, list(map(str, paths)), folders
        self.source = _source(self.paths, f"hive_partitioning = {str(folders).lower()}")
        listed, connection = literals(self.paths), connect()
        with explained(label, "Parquet", ParquetError):
            described = connection.execute(f"describe from {self.source}").fetchall()
            fields = connection.execute(
                f"select file_name, name from parquet_schema([{listed}]) "
                "where num_children is null or num_children = 0"
            ).fetchall()
            self._groups = connection.execute(
                "select distinct file_name, row_group_id, row_group_num_rows "
                f"from parquet_metadata([{listed}])"
            ).fetchall()
        connection.close()
        self._by_file: dict[str, list[str]] = {path: [] for path in self.paths}
        for path, name in fields:
            self._by_file[path].append(str(name))
        for names in self._by_file.values():
            twice = next((name for name in names if names.count(name) > 1), None)
            if twice is not None:
                raise ParquetError(
                    f"{label} has more than one column named {twice!r}: rename them."
                )
            if _PLACE in names:
                raise ParquetError(f"{label} has a column named {_PLACE!r}: rename it.")
        self.types = {
            str(name): str(kind) for name, kind, *_ in described if not is_index_column(str(name))
        }

    @staticmethod
    def of(path: Path) -> "ParquetFiles":
        """Open a file, or those of a folder and of the folders within."""
        if path.is_file():
            return ParquetFiles([path], str(path))
        files = sorted(
            file for file in path.rglob("*") if file.suffix.lower() in ENDINGS and file.is_file()
        )
        if not files:
            raise ParquetError(f"{path} is a folder without Parquet files.")
        return ParquetFiles(files, str(path), folders=True)

    def check_files(self, names: Sequence[str]) -> None:
        """Raise an error unless these columns are in every file: DuckDB would fill in nulls."""
        of_files = set(names) & set().union(*self._by_file.values())
        for path, present in self._by_file.items():
            missing = sorted(of_files - set(present))
            if missing:
                raise ParquetError(
                    f"columns must be the same in every file of a folder, got {path} without "
                    f"{missing}, which others have: add them, or remove the file."
                )

    def others(self, names: Sequence[str]) -> dict[str, str]:
        """Return the types of those of the columns that do not hold numbers."""
        kinds = {name: self.types[name] for name in names}
        return {n: k.lower() for n, k in kinds.items() if kind_of(k) != NUMBER and k != "BOOLEAN"}

    def reader(self, numbers: Sequence[str], others: Sequence[str]) -> "PartReader":
        """Return what reads columns of a part: some as float64, others as they are."""
        columns = {n: f"cast({quoted(n)} as {self.types[n]})" for n in others}
        columns |= {n: as_double(quoted(n), self.types[n]) for n in numbers}
        return PartReader(self.label, columns, frozenset(numbers), self._folders)

    def groups(self) -> list["Part"]:
        """Return the groups of rows of all files, each of which another process can read."""
        parts: list[Part] = []
        for path in self.paths:
            start = 0
            for _, n_rows in sorted(group[1:] for group in self._groups if group[0] == path):
                parts.append(Part(path, start, start + n_rows))
                start += n_rows
        return parts

    def batches(self, reader: "PartReader", most: int) -> Iterator[Batch]:
        """Yield at most so many rows at a time, in order."""
        connection = connect()
        n_rows = {part.path: part.stop for part in self.groups()}
        for path, n in n_rows.items():
            for start in range(0, n, most):
                yield reader(Part(path, start, min(n, start + most)), connection)


@dataclass(frozen=True)
class Part:
    """The rows of a file from `start` on, up to `stop`."""

    path: str
    start: int
    stop: int


@dataclass(frozen=True)
class PartReader:
    """Reads columns of a part, here or in another process.

    Attributes
    ----------
    label : str
        The name of the files in errors.
    columns : dict of str to str
        The SQL of each column.
    numbers : frozenset of str
        Those of float64, which have NaN for null.
    folders : bool
        Whether the names of folders are columns.
    """

    label: str
    columns: Mapping[str, str]
    numbers: frozenset[str]
    folders: bool

    def __call__(self, part: Part, connection: Any = None) -> Batch:
        """Return the columns of a part."""
        listed = ", ".join(f"{sql} as c{i}" for i, sql in enumerate(self.columns.values()))
        # As text, of which each column gets the type that holds the values of all folders.
        folders = f"hive_partitioning = {str(self.folders).lower()}, hive_types_autocast = false"
        with explained(self.label, "Parquet", ParquetError):
            found = (connection or connect()).execute(
                f"select {listed} from {_source([part.path], folders)} "
                f"where {_PLACE} >= {part.start} and {_PLACE} < {part.stop}"
            )
            arrays = found.fetchnumpy().values()
        return {
            name: _filled(values, name in self.numbers)
            for name, values in zip(self.columns, arrays, strict=True)
        }


def _source(paths: Sequence[str], folders: str) -> str:
    return f"read_parquet([{literals(paths)}], union_by_name = true, {folders})"


def _filled(values: Any, is_number: bool) -> NDArray[Any]:
    """Return an array with NaN for null, or None where it holds no numbers."""
    if not isinstance(values, np.ma.MaskedArray) or not np.ma.getmaskarray(values).any():
        return np.ma.getdata(values)
    if is_number or values.dtype.kind in "iuf":
        return np.asarray(np.ma.filled(values.astype(np.float64), np.nan))
    return np.asarray(np.ma.filled(values.astype(object), None))


def is_index_column(name: str) -> bool:
    """Whether pandas writes an unnamed index under this name: it is not an input."""
    return re.fullmatch(r"__index_level_\d+__", name) is not None
