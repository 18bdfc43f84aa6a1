"""Parquet files and folders -> raw blocks."""

import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from greedynet.rows.arrow import ArrowError, ArrowRows, Batch, as_array, as_numbers
from greedynet.rows.blocks.base import DEFAULT_SIZES, BlockSizes
from greedynet.rows.blocks.prepare import Raw


@dataclass(frozen=True)
class ParquetColumns:
    """Which columns are what in a fit.

    Attributes
    ----------
    features, targets : tuple of str
        Columns of inputs and outputs; a single target gives a 1-D output.
    weight : str or None
        Column of sample weights.
    """

    features: tuple[str, ...]
    targets: tuple[str, ...]
    weight: str | None = None

    @property
    def names(self) -> list[str]:
        """The columns that are read."""
        weight = [self.weight] if self.weight else []
        return list(dict.fromkeys([*self.features, *self.targets, *weight]))

    def raw(self, batch: Batch) -> Raw:
        """Return inputs as float64, outputs as they are, since they may be classes, and weights."""
        X = np.empty((len(batch[self.features[0]]), len(self.features)))
        for j, name in enumerate(self.features):
            X[:, j] = as_numbers(batch[name])
        y = [as_array(batch[name]) for name in self.targets]
        weights = None if self.weight is None else as_array(batch[self.weight])
        return X, y[0] if len(y) == 1 else np.column_stack(y), weights


@dataclass(frozen=True, eq=False)
class ParquetReader:
    """Columns of a Parquet file, or of a folder of them.

    Attributes
    ----------
    rows : ArrowRows
    columns : ParquetColumns
    sizes : BlockSizes
    """

    rows: ArrowRows
    columns: ParquetColumns
    sizes: BlockSizes = DEFAULT_SIZES

    def __iter__(self) -> Iterator[Raw]:
        names = self.columns.names
        return map(self.columns.raw, self.rows.batches(names, self.sizes.read_rows(len(names))))


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
    target = y if isinstance(y, str) else "target"
    check_parquet(
        path,
        f"`greedynet.fit_table({path.name!r}, {target!r})`, which takes CSV, TSV and NPZ files of "
        "any size, and whose `estimator` is this one, fitted",
    )
    rows = _opened(path)
    names = list(rows.names)
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
    features = tuple(name for name in names if name not in others)
    if not features:
        raise ValueError(
            f"`X` must have at least one input column besides {sorted(others)}, got none in "
            f"{os.fspath(path)}."
        )
    _check(rows, names, features)
    return ParquetReader(rows, ParquetColumns(features, targets, sample_weight), sizes)


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
    check_parquet(path, f"`predict(pandas.read_csv({path.name!r})[names])`, for example")
    rows = _opened(path)
    missing = sorted(set(features) - set(rows.names))
    if missing:
        raise ValueError(f"`X`: {os.fspath(path)} lacks the columns {missing}.")
    _check(rows, features, features)
    # The last column also serves as output, which is not used.
    for X, *_ in ParquetReader(rows, ParquetColumns(tuple(features), (features[-1],))):
        if len(X):
            yield X


def check_parquet(path: Path, instead: str) -> None:
    """Raise an error unless a file exists, and its name or its beginning is that of Parquet.

    Parameters
    ----------
    path : Path
        A file; or a folder, whose files are not looked at.
    instead : str
        What to write for files of other kinds, for the error.
    """
    if not path.exists():
        raise FileNotFoundError(f"`X`: there is no file or folder {os.fspath(path)}.")
    if path.is_dir() or path.suffix.lower() in (".parquet", ".pq"):
        return
    with open(path, "rb") as file:
        start = file.read(4)
    if start != b"PAR1":
        raise ValueError(
            "`X` must be the name of a Parquet file or of a folder of them, an array or blocks, "
            f"got the file {os.fspath(path)}: write {instead}."
        )


def _opened(path: Path) -> ArrowRows:
    try:
        return ArrowRows.of_files(path, "fit")
    except ArrowError as error:
        raise ValueError(f"`X`: {error}") from None


def _check(rows: ArrowRows, present: Sequence[str], features: Sequence[str]) -> None:
    """Raise an error unless columns are in every file, and the inputs hold numbers."""
    try:
        rows.check_files(set(present))
    except ArrowError as error:
        raise ValueError(f"`X`: {error}") from None
    others = [f"{name} ({kind})" for name, kind in rows.others(features).items()]
    if others:
        raise ValueError(
            f"`X` must hold numbers, got other types in the columns {', '.join(others)}: drop or "
            "encode them, or write `greedynet.fit_table(path, target)`, which encodes them."
        )
