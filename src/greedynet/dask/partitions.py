"""dask Arrays and DataFrames -> partitions, checked as far as possible without computing them."""

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from uuid import uuid4

import dask.array as da
import numpy as np
from dask.base import is_dask_collection
from dask.delayed import Delayed, delayed

from greedynet.rows.blocks.prepare import Raw
from greedynet.rows.blocks.readers import ParquetColumns, check_parquet, parquet_reader
from greedynet.rows.blocks.source import column_names
from greedynet.rows.parquet import Part, PartReader


@dataclass(frozen=True, eq=False)
class Partitions:
    """Inputs, outputs and weights, if given, split into the same rows: a tuple for each partition.

    `output_shape` is the shape of the outputs of one row.
    """

    pieces: list[tuple[Delayed, ...]]
    n_features: int
    output_shape: tuple[int, ...]
    feature_names: tuple[str, ...] | None

    @staticmethod
    def of(X: Any, y: Any, sample_weight: Any, owner: str) -> "Partitions":
        X = checked_inputs(X, owner)
        if y is None:
            raise ValueError(f"`y` must be given to {owner}, got None.")
        parts = {"X": _pieces(X)}
        for name, values in (("y", y), ("sample_weight", sample_weight)):
            if values is not None:
                parts[name] = _aligned(values, name, X, parts["X"], owner)
        pieces = list(zip(*parts.values(), strict=True))
        names = None if isinstance(X, da.Array) else column_names(X._meta)
        return Partitions(pieces, int(X.shape[1]), tuple(map(int, y.shape[1:])), names)

    def __len__(self) -> int:
        return len(self.pieces)

    def raws(self, numbers: Iterable[int] | None = None) -> list[Delayed]:
        """Return partitions that compute tuples of arrays `(X, y, weights or None)`.

        Their keys are new: the scheduler may still be forgetting the old keys of a worker that was
        lost.
        """
        name = f"greedynet-partition-{uuid4().hex[:12]}"
        chosen = range(len(self)) if numbers is None else numbers
        return [_arrays(*self.pieces[n], dask_key_name=f"{name}-{n}") for n in chosen]


@delayed(pure=False)
def _arrays(X: Any, y: Any, weights: Any = None) -> Raw:
    """Return a partition as arrays; this runs on the worker that holds it."""
    return np.asarray(X), np.asarray(y), None if weights is None else np.asarray(weights)


def check_collection(values: Any, name: str, owner: str) -> None:
    """Raise an error unless `values` is a dask Array, DataFrame or Series."""
    if not is_dask_collection(values) or not hasattr(values, "to_delayed"):
        kind = type(values)
        local = owner.removeprefix("Dask")
        raise TypeError(
            f"`{name}` must be a dask Array or DataFrame for {owner}, got "
            f"{kind.__module__}.{kind.__qualname__}: write `dask.array.from_array({name}, chunks)` "
            f"or `dask.dataframe.from_pandas({name}, npartitions)`, or use {local}."
        )
    if not isinstance(values, da.Array) and not hasattr(values, "dtypes"):
        raise TypeError(
            f"`{name}` must be a dask Array or DataFrame for {owner}, got a dask "
            f"{type(values).__name__}: write `.to_dataframe()`, or "
            "`dask.dataframe.from_delayed`."
        )


def checked_inputs(X: Any, owner: str) -> Any:
    """Return inputs, split by rows; raise an error unless they are a numeric matrix."""
    check_collection(X, "X", owner)
    if X.ndim != 2:
        raise ValueError(
            f"`X` must have rows and columns, got {X.ndim} dimensions: write `X[:, None]` or "
            "`X.to_frame()` for one input."
        )
    if not isinstance(X, da.Array):
        others = [
            str(n) for n, kind in X.dtypes.items() if getattr(kind, "kind", "O") not in "biuf"
        ]
        if others:
            raise ValueError(
                f"`X` must hold numbers, got other types in the columns {others}: drop or encode "
                "them, such as categories by `dask.dataframe.get_dummies(X.categorize())`."
            )
        return X
    if X.dtype.kind not in "biufO":
        raise ValueError(f"`X` must hold numbers, got {X.dtype}.")
    if np.isnan(X.shape[1]):
        raise ValueError(
            "`X` must have a known number of columns, got an unknown one: write "
            "`X.compute_chunk_sizes()` first."
        )
    return X.rechunk({1: -1})


def row_chunks(values: Any) -> tuple[int, ...] | None:
    """Return the sizes of the partitions; None if they are not known without computing."""
    if not isinstance(values, da.Array) or np.isnan(values.chunks[0]).any():
        return None
    return values.chunks[0]


def _pieces(values: Any) -> list[Delayed]:
    pieces = values.to_delayed()
    return list(pieces.ravel()) if isinstance(pieces, np.ndarray) else list(pieces)


def _aligned(values: Any, name: str, X: Any, inputs: list[Delayed], owner: str) -> list[Delayed]:
    """Return the partitions of outputs or weights, which must match those of the inputs."""
    check_collection(values, name, owner)
    dimensions = (1, 2) if name == "y" else (1,)
    if values.ndim not in dimensions:
        raise ValueError(
            f"`{name}` must have {' or '.join(map(str, dimensions))} dimensions, got {values.ndim}."
        )
    mine, theirs = row_chunks(values), row_chunks(X)
    if mine and theirs and sum(mine) != sum(theirs):
        raise ValueError(
            f"`X` and `{name}` must have the same number of rows, got {sum(theirs):,} and "
            f"{sum(mine):,}."
        )
    if isinstance(values, da.Array):
        along_rows = {0: theirs} if mine and theirs else {}
        values = values.rechunk(along_rows | ({1: -1} if values.ndim == 2 else {}))
    pieces = _pieces(values)
    if len(pieces) != len(inputs):
        raise ValueError(
            f"`{name}` must have as many partitions as `X`, {len(inputs)}, got {len(pieces)}: "
            "split both in the same way, or take them from one DataFrame."
        )
    return pieces


def partitions_of_files(path: Path, y: Any, sample_weight: Any) -> Partitions:
    """Return one partition for each group of rows of a Parquet file, or of a folder of them."""
    check_parquet(
        path,
        f"`frame = dask.dataframe.read_csv({path.name!r})` and pass its columns, or write it to "
        "Parquet first",
    )
    reader = parquet_reader(path, y, sample_weight)
    columns = reader.columns
    read = columns.reader(reader.files)
    raws = [_read(read, part, columns) for part in reader.files.groups()]
    places = (0, 1) if columns.weight is None else (0, 1, 2)
    pieces = [tuple(raw[place] for place in places) for raw in raws]
    shape = () if len(columns.targets) == 1 else (len(columns.targets),)
    return Partitions(pieces, len(columns.features), shape, columns.features)


@delayed(pure=False)
def _read(read: PartReader, part: Part, columns: ParquetColumns) -> Raw:
    """Read a part; this runs on the worker that will hold it."""
    return columns.raw(read(part))
