"""Parquet files and folders -> raw blocks, read by pyarrow."""

import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from greedynet.rows.blocks.base import DEFAULT_SIZES, BlockSizes
from greedynet.rows.blocks.prepare import Raw
from greedynet.support.extras import require
from greedynet.support.files import is_index_column


@dataclass(frozen=True, eq=False)
class ParquetReader:
    """A Parquet file, or a folder of them.

    Attributes
    ----------
    dataset : pyarrow.dataset.Dataset
    features, targets : tuple of str
        Columns of inputs and outputs; a single target gives a 1-D output.
    weight : str or None
        Column of sample weights.
    """

    dataset: Any
    features: tuple[str, ...]
    targets: tuple[str, ...]
    weight: str | None = None
    sizes: BlockSizes = DEFAULT_SIZES

    def __iter__(self) -> Iterator[Raw]:
        weight = [self.weight] if self.weight else []
        names = list(dict.fromkeys([*self.features, *self.targets, *weight]))
        rows = self.sizes.read_rows(len(names))
        for batch in self.dataset.to_batches(columns=names, batch_size=rows):
            column = {name: batch.column(name).to_numpy(zero_copy_only=False) for name in names}
            y = [column[name] for name in self.targets]
            X = np.column_stack([column[name] for name in self.features])
            yield X, y[0] if len(y) == 1 else np.column_stack(y), column.get(self.weight or "")


def parquet_reader(
    path: Path, y: Any, sample_weight: Any, sizes: BlockSizes = DEFAULT_SIZES
) -> ParquetReader:
    """Return the reader of a fit.

    Parameters
    ----------
    path : Path
        A file, or a folder of files with the same columns; folders such as `year=2024` are columns
        too.
    y : str or list of str
        Column or columns to predict.
    sample_weight : str or None
        Column of weights.
    """
    opened = _dataset(path)
    names = list(opened.schema.names)
    targets = _targets(y, names)
    if sample_weight is not None and not isinstance(sample_weight, str):
        raise ValueError(
            "`sample_weight` must name a column if `X` is a Parquet file, got "
            f"{type(sample_weight).__name__}."
        )
    others = {*targets, *([sample_weight] if sample_weight else [])}
    missing = sorted(others - set(names))
    if missing:
        raise ValueError(f"`y` and `sample_weight` must be columns of {names}, got {missing}.")
    features = tuple(n for n in names if n not in others and not is_index_column(n))
    if not features:
        raise ValueError(
            f"`X` must have at least one input column besides {sorted(others)}, got none in "
            f"{os.fspath(path)}."
        )
    _check_files(opened, {name for name in names if not is_index_column(name)})
    _check_numbers(opened, features)
    return ParquetReader(opened, features, targets, sample_weight, sizes)


def _targets(y: Any, names: list[str]) -> tuple[str, ...]:
    targets = (y,) if isinstance(y, str) else tuple(y) if isinstance(y, list | tuple) else ()
    if not targets or not all(isinstance(name, str) for name in targets):
        got = repr(y) if y is None or isinstance(y, list | tuple) else type(y).__name__
        raise ValueError(
            "`y` must name the column to predict if `X` is a Parquet file, or a list of several, "
            f"got {got}; the columns are {names}."
        )
    return targets


def parquet_inputs(path: Path, features: Sequence[str]) -> Iterator[Any]:
    """Yield the inputs of a file or a folder in blocks, ignoring other columns."""
    opened = _dataset(path)
    missing = sorted(set(features) - set(opened.schema.names))
    if missing:
        raise ValueError(f"`X`: {os.fspath(path)} lacks the columns {missing}.")
    _check_files(opened, set(features))
    _check_numbers(opened, features)
    # The last column also serves as output, which is not used.
    for X, *_ in ParquetReader(opened, tuple(features), (features[-1],)):
        if len(X):
            yield X


def _dataset(path: Path) -> Any:
    """Open a Parquet file or a folder of them, with the unified schema of all files.

    By default, pyarrow uses the schema of the first file: integers there would be forced on the
    others.
    """
    dataset = require("pyarrow.dataset", "tables", "fit")
    if not path.exists():
        raise FileNotFoundError(f"`X`: there is no file or folder {os.fspath(path)}.")
    # For a single file, the folders above it are not partitions.
    options = {"format": "parquet", "partitioning": "hive" if path.is_dir() else None}
    try:
        opened = dataset.dataset(path, **options)
        schemas = [opened.schema, *(file.physical_schema for file in opened.get_fragments())]
        unify = require("pyarrow", "tables", "fit").unify_schemas
        return dataset.dataset(path, unify(schemas, promote_options="permissive"), **options)
    except (OSError, TypeError, ValueError) as error:
        reason = str(error).splitlines()[0]
        raise ValueError(f"`X`: {os.fspath(path)} cannot be read as Parquet: {reason}") from None


def _check_files(opened: Any, names: set[str]) -> None:
    """Raise an error unless these columns are in every file: pyarrow would fill in nulls."""
    for file in opened.get_fragments():
        missing = sorted(names - _names(file))
        if missing:
            raise ValueError(
                f"`X` must have the same columns in every file of a folder, got {file.path} "
                f"without {missing}, which others have: add them, or remove the file."
            )


def _names(file: Any) -> set[str]:
    """Return the columns of a file, including those given by the names of its folders."""
    partitions = require("pyarrow.dataset", "tables", "fit").get_partition_keys(
        file.partition_expression
    )
    return {*file.physical_schema.names, *partitions}


def _check_numbers(opened: Any, names: Sequence[str]) -> None:
    """Raise an error for inputs that are dates, text or lists."""
    types = require("pyarrow.types", "tables", "fit")
    tests = (types.is_integer, types.is_floating, types.is_boolean, types.is_decimal)
    kinds = {name: opened.schema.field(name).type for name in names}
    others = [f"{name} ({kind})" for name, kind in kinds.items() if not any(t(kind) for t in tests)]
    if others:
        raise ValueError(
            f"`X` must hold numbers, got other types in the columns {', '.join(others)}: drop or "
            "encode them."
        )
