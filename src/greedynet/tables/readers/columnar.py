"""Tables of typed columns: data frames and mappings, NumPy archives, Parquet and Arrow."""

import zipfile
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from greedynet.rows.arrow import ArrowError, ArrowRows, as_numbers, holds_numbers
from greedynet.support.files import require
from greedynet.tables.readers.base import (
    ROWS,
    ArrayColumn,
    Block,
    Column,
    TableError,
    as_column,
    check_names,
    sliced,
    text_column,
    without_mask,
)


class FrameTable:
    """A data frame of any library, or a mapping from names to values."""

    def __init__(self, frame: Any, label: str = "the table") -> None:
        self.label = label
        names = list(frame) if isinstance(frame, Mapping) else list(frame.columns)
        check_names(label, list(map(str, names)))
        self._columns: dict[str, ArrayColumn] = {
            str(name): self._column(frame, name) for name in names
        }
        if len({len(column) for column in self._columns.values()}) > 1:
            raise TableError(f"{label} must have columns of equal length.")
        self.names = tuple(self._columns)

    def blocks(self, names: Sequence[str]) -> Iterator[Block]:
        """Yield the rows of these columns in order, several thousand at a time."""
        return sliced(self._columns, names)

    def _column(self, frame: Any, name: Any) -> ArrayColumn:
        values = np.asarray(without_mask(frame[name]))
        if values.ndim != 1:
            got = "one value" if values.ndim == 0 else f"an array of shape {values.shape}"
            raise TableError(
                f"{self.label}: column {str(name)!r} must hold a value for each row, got {got}: "
                "write a list of values."
            )
        return as_column(values)


class NpzTable:
    """An NPZ file; 1-D arrays are columns, and a matrix `X` gives the columns X0, X1 and so on."""

    def __init__(self, path: Path) -> None:
        self.label = path.name
        columns: list[tuple[str, ArrayColumn]] = []
        try:
            # Opened here, because NumPy does not close a damaged file.
            with open(path, "rb") as file:
                archive = np.load(file, allow_pickle=False)
                if not isinstance(archive, Mapping):
                    raise TableError(
                        f"{self.label} contains a single array: write it with `np.savez`."
                    )
                for name, array in archive.items():
                    columns += self._columns_of(name, array)
        except (ValueError, zipfile.BadZipFile, EOFError) as error:
            if isinstance(error, TableError):
                raise
            raise TableError(f"{self.label} cannot be read as NPZ: {error}") from error
        check_names(self.label, [name for name, _ in columns])
        self._columns: dict[str, ArrayColumn] = dict(columns)
        lengths = {name: len(column) for name, column in self._columns.items()}
        if len(set(lengths.values())) > 1:
            raise TableError(
                f"{self.label} has arrays of different lengths, {lengths}: all must have the same "
                "number of rows."
            )
        self.names = tuple(self._columns)

    def blocks(self, names: Sequence[str]) -> Iterator[Block]:
        """Yield the rows of these columns in order, several thousand at a time."""
        return sliced(self._columns, names)

    def _columns_of(self, name: str, array: NDArray[Any]) -> list[tuple[str, ArrayColumn]]:
        """Return the columns of an array with their names."""
        if array.ndim not in (1, 2):
            raise TableError(
                f"{self.label}: the array {name!r} must have one or two dimensions, got "
                f"{array.ndim}."
            )
        if array.ndim == 1:
            return [(name, as_column(array))]
        return [(f"{name}{j}", as_column(column)) for j, column in enumerate(array.T)]


class ArrowTable:
    """A Parquet file, a folder of them, or an Arrow table in memory, read in batches."""

    def __init__(self, source: Any) -> None:
        is_file = isinstance(source, Path)
        self.label = source.name if is_file else "the table"
        if not is_file:
            check_names(self.label, list(map(str, source.schema.names)))
        try:
            opened = ArrowRows.of_files if is_file else ArrowRows.of_table
            self._rows = opened(source, "open_table")
        except ArrowError as error:
            raise TableError(str(error)) from error
        check_names(self.label, self._rows.names)
        self._is_file = is_file
        self._types = require("pyarrow.types", "tables", "open_table")
        self._timestamp = require("pyarrow", "tables", "open_table").timestamp("us")
        self.names = self._rows.names

    def blocks(self, names: Sequence[str]) -> Iterator[Block]:
        """Yield the rows of these columns in order, several thousand at a time."""
        self._check_files(names)
        for batch in self._rows.batches(names, ROWS):
            block = {name: self._column(values) for name, values in batch.items()}
            if len(next(iter(block.values()), ())):
                yield block

    def _check_files(self, names: Sequence[str]) -> None:
        """Raise an error unless the columns that are read are in every file of a folder."""
        try:
            if self._is_file:
                self._rows.check_files(set(names))
        except ArrowError as error:
            raise TableError(f"{self.label}: {error}") from error

    def _column(self, values: Any) -> Column:
        kind = values.type
        # True and false stay text, as in files of text: a target of them is one of classes.
        if holds_numbers(kind) and not self._types.is_boolean(kind):
            return as_numbers(values)
        if self._types.is_date(kind):
            values, kind = values.cast(self._timestamp), self._timestamp
        if (self._types.is_timestamp(kind) and kind.tz is None) or self._types.is_duration(kind):
            return as_column(values.to_numpy(zero_copy_only=False))
        return text_column([str(cell) for cell in values.to_pylist()])
