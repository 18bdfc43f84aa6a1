"""Parquet files and folders, and Arrow tables in memory, read by pyarrow."""

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from greedynet.rows.arrow import ArrowError, ArrowRows, as_numbers, holds_numbers
from greedynet.support.extras import require
from greedynet.tables.readers.base import (
    ROWS,
    Block,
    Column,
    TableError,
    as_column,
    check_names,
    text_column,
)


class ArrowTable:
    """A Parquet file, a folder of them, or an Arrow table, read in batches.

    Parameters
    ----------
    source : Path, pyarrow.Table or RecordBatch
        The rows.
    """

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
