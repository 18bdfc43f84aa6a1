"""Arrow data: Parquet files, folders of them, and tables in memory, read in batches by pyarrow.

Fits from blocks and fits of tables both read through `ArrowRows`, so that a column is the same
numbers by either way: integers, decimals and floats of any precision as float64, true and false as
1 and 0, and NaN for null.
"""

import os
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from greedynet.support.files import require
from greedynet.support.types import Float64

# Bytes of a column to read at a time: without it, all columns of a million rows are read at once.
_BUFFER = 2**18

# Columns of some rows, as Arrow arrays.
Batch = dict[str, Any]


class ArrowError(ValueError):
    """Files that cannot be read; the message gives the reason."""


def is_index_column(name: str) -> bool:
    """Whether pandas writes an unnamed index under this name: it is not an input."""
    return re.fullmatch(r"__index_level_\d+__", name) is not None


class ArrowRows:
    """The rows of a Parquet file, of a folder of them, or of a table in memory.

    Parameters
    ----------
    dataset : pyarrow.dataset.Dataset
        The rows.
    """

    def __init__(self, dataset: Any) -> None:
        self._dataset = dataset
        self.names = tuple(str(n) for n in dataset.schema.names if not is_index_column(str(n)))

    @staticmethod
    def of_files(path: Path, caller: str) -> "ArrowRows":
        """Open a file, or a folder of files with the same columns.

        Folders such as `year=2024` are columns, too. The types are those that hold the values of
        all files: by default, pyarrow would force those of the first on the others.

        Parameters
        ----------
        path : Path
        caller : str
            The public function that needs pyarrow.
        """
        dataset = require("pyarrow.dataset", "tables", caller)
        unify = require("pyarrow", "tables", caller).unify_schemas
        # For a single file, the folders above it are not partitions.
        options = {"format": "parquet", "partitioning": "hive" if path.is_dir() else None}
        try:
            if path.is_file():
                _check_once(path, require("pyarrow.parquet", "tables", caller).read_schema(path))
            opened = dataset.dataset(path, **options)
            files = list(opened.get_fragments())
            schemas = [opened.schema, *(file.physical_schema for file in files)]
            opened = dataset.dataset(path, unify(schemas, promote_options="permissive"), **options)
        except ArrowError:
            raise
        except (OSError, TypeError, ValueError) as error:
            reason = str(error).splitlines()[0]
            raise ArrowError(f"{os.fspath(path)} cannot be read as Parquet: {reason}") from None
        if not files:
            raise ArrowError(f"{os.fspath(path)} is a folder without Parquet files.")
        return ArrowRows(opened)

    @staticmethod
    def of_table(table: Any, caller: str) -> "ArrowRows":
        """Return the rows of a `pyarrow.Table` or `RecordBatch`."""
        dataset = require("pyarrow.dataset", "tables", caller)
        try:
            return ArrowRows(dataset.dataset(table))
        except (TypeError, ValueError) as error:
            reason = str(error).splitlines()[0]
            raise ArrowError(f"the Arrow table cannot be read: {reason}") from None

    def others(self, names: Sequence[str]) -> dict[str, Any]:
        """Return the types of those of the columns that do not hold numbers."""
        kinds = {name: self._dataset.schema.field(name).type for name in names}
        return {name: kind for name, kind in kinds.items() if not holds_numbers(kind)}

    def check_files(self, names: set[str]) -> None:
        """Raise an error unless these columns are in every file: pyarrow would fill in nulls."""
        for file in self._dataset.get_fragments():
            present = {*file.physical_schema.names, *_partition_keys(file)}
            missing = sorted(names - present)
            if missing:
                raise ArrowError(
                    f"columns must be the same in every file of a folder, got {file.path} "
                    f"without {missing}, which others have: add them, or remove the file."
                )

    def parts(self) -> list["ArrowPart"]:
        """Return the groups of rows of all files, each of which another process can read."""
        groups = (file.split_by_row_group() for file in self._dataset.get_fragments())
        return [ArrowPart(group, self._dataset.schema) for parts in groups for group in parts]

    def batches(self, names: Sequence[str], n_rows: int) -> Iterator[Batch]:
        """Yield at most `n_rows` rows at a time of these columns, in order, as Arrow arrays."""
        if not hasattr(self._dataset, "files"):
            for batch in self._dataset.to_batches(columns=list(names), batch_size=n_rows):
                yield {name: batch.column(name) for name in names}
            return
        for file in self._dataset.get_fragments():
            yield from self._batches_of(file, names, n_rows)

    def _batches_of(self, file: Any, names: Sequence[str], n_rows: int) -> Iterator[Batch]:
        """Yield the rows of one file, page by page: a dataset would hold groups of a million."""
        arrow = require("pyarrow", "tables", "fit")
        parquet = require("pyarrow.parquet", "tables", "fit")
        keys = _partition_keys(file)
        own = [name for name in names if name not in keys]
        kinds = {name: self._dataset.schema.field(name).type for name in names}
        with parquet.ParquetFile(file.open(), pre_buffer=False, buffer_size=_BUFFER) as opened:
            for batch in opened.iter_batches(batch_size=n_rows, columns=own):
                found = {name: batch.column(name) for name in own}
                for name in set(names) & keys.keys():
                    value = arrow.scalar(keys[name], kinds[name])
                    found[name] = arrow.repeat(value, batch.num_rows)
                yield {name: _as_kind(found[name], kinds[name]) for name in names}


@dataclass(frozen=True, eq=False)
class ArrowPart:
    """A group of rows of a Parquet file.

    Attributes
    ----------
    fragment : pyarrow.dataset.Fragment
    schema : pyarrow.Schema
        The types that hold the values of all files.
    """

    fragment: Any
    schema: Any

    def read(self, names: Sequence[str]) -> Batch:
        """Return these columns of all its rows."""
        table = self.fragment.to_table(schema=self.schema, columns=list(names)).combine_chunks()
        return {name: table.column(name) for name in names}


def _partition_keys(file: Any) -> dict[str, Any]:
    """Return the columns that the names of folders give, with the value of a file."""
    keys = require("pyarrow.dataset", "tables", "fit").get_partition_keys
    return dict(keys(file.partition_expression))


def _as_kind(values: Any, kind: Any) -> Any:
    """Return numbers in the type that holds those of all files; other values as they are."""
    return values.cast(kind) if values.type != kind and holds_numbers(kind) else values


def _check_once(path: Path, schema: Any) -> None:
    """Raise an error unless the names are distinct; pyarrow would not say which are not."""
    twice = [name for name in schema.names if schema.names.count(name) > 1]
    if twice:
        raise ArrowError(
            f"{os.fspath(path)} has more than one column named {twice[0]!r}: rename them."
        )


def holds_numbers(kind: Any) -> bool:
    """Whether a type of Arrow is one of numbers, or that of true and false."""
    types = require("pyarrow.types", "tables", "fit")
    tests = (types.is_integer, types.is_floating, types.is_boolean, types.is_decimal)
    return any(test(kind) for test in tests)


def as_numbers(values: Any) -> Float64:
    """Return an Arrow array of numbers, or of true and false, as float64 with NaN for null."""
    arrow = require("pyarrow", "tables", "fit")
    if arrow.types.is_decimal(values.type):  # rounded as Python does: Arrow's may differ by a bit
        cells = values.to_pylist()
        return np.array([np.nan if cell is None else float(cell) for cell in cells], dtype=float)
    return as_array(values.cast(arrow.float64(), safe=False))


def as_array(values: Any) -> NDArray[Any]:
    """Return an Arrow array as an array of its own kind, of objects if NumPy has none."""
    return np.asarray(values.to_numpy(zero_copy_only=False))
