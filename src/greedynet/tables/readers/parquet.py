"""Parquet files, read by pyarrow."""

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from greedynet.support.extras import require
from greedynet.support.files import is_index_column
from greedynet.tables.readers.base import (
    ROWS,
    Block,
    Column,
    TableError,
    as_column,
    check_names,
    text_column,
)


class ParquetTable:
    """A Parquet file, read in batches.

    Parameters
    ----------
    path : Path
        The file.
    """

    def __init__(self, path: Path) -> None:
        self.label = path.name
        self._arrow = require("pyarrow", "tables", "open_table")
        parquet = require("pyarrow.parquet", "tables", "open_table")
        try:
            self._file = parquet.ParquetFile(path)
        except self._arrow.ArrowInvalid as error:
            reason = str(error).splitlines()[0]
            raise TableError(f"{self.label} is not a Parquet file: {reason}") from error
        names = [str(name) for name in self._file.schema_arrow.names if not is_index_column(name)]
        check_names(self.label, names)
        self.names = tuple(names)

    def blocks(self, names: Sequence[str]) -> Iterator[Block]:
        """Yield the rows of these columns in order, several thousand at a time."""
        for batch in self._file.iter_batches(batch_size=ROWS, columns=list(names)):
            yield {name: self._column(batch.column(name)) for name in names}

    def _column(self, values: Any) -> Column:
        types = self._arrow.types
        kind = values.type
        if types.is_integer(kind) or types.is_floating(kind) or types.is_decimal(kind):
            cast = values.cast(self._arrow.float64(), safe=False)
            return as_column(cast.to_numpy(zero_copy_only=False))
        if types.is_date(kind):
            values, kind = values.cast(self._arrow.timestamp("us")), self._arrow.timestamp("us")
        if (types.is_timestamp(kind) and kind.tz is None) or types.is_duration(kind):
            return as_column(values.to_numpy(zero_copy_only=False))
        return text_column([str(cell) for cell in values.to_pylist()])
