"""Data of users -> raw blocks, which can be read repeatedly: memory maps, iterables, Parquet."""

import mmap
import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from greedynet.rows.blocks.base import DEFAULT_SIZES, BlockSizes
from greedynet.rows.blocks.prepare import Raw
from greedynet.rows.blocks.source import Source, column_names
from greedynet.rows.parquet import ENDINGS, Batch, ParquetError, ParquetFiles, PartReader
from greedynet.support.checks import check_same_length, check_weight_shape, check_weights


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

    def reader(self, files: ParquetFiles) -> PartReader:
        """Return what reads the inputs and weights as float64, and outputs, perhaps classes."""
        weight = () if self.weight is None else (self.weight,)
        numbers = (*self.features, *weight)
        return files.reader(numbers, [name for name in self.targets if name not in numbers])

    def raw(self, batch: Batch) -> Raw:
        """Return inputs, outputs and weights."""
        X = np.column_stack([batch[name] for name in self.features])
        y = [batch[name] for name in self.targets]
        weights = None if self.weight is None else batch[self.weight]
        return X, y[0] if len(y) == 1 else np.column_stack(y), weights


@dataclass(frozen=True, eq=False)
class ParquetReader:
    """Columns of Parquet files."""

    files: ParquetFiles
    columns: ParquetColumns
    sizes: BlockSizes = DEFAULT_SIZES

    def __iter__(self) -> Iterator[Raw]:
        reader = self.columns.reader(self.files)
        most = self.sizes.read_rows(len(reader.columns))
        return map(self.columns.raw, self.files.batches(reader, most))


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
    files = _opened(path)
    names = list(files.types)
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
    _check(files, names, features)
    return ParquetReader(files, ParquetColumns(features, targets, sample_weight), sizes)


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
    files = _opened(path)
    missing = sorted(set(features) - set(files.types))
    if missing:
        raise ValueError(f"`X`: {os.fspath(path)} lacks the columns {missing}.")
    _check(files, features, features)
    # The last column also serves as output, which is not used.
    for X, *_ in ParquetReader(files, ParquetColumns(tuple(features), (features[-1],))):
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
    if path.is_dir() or path.suffix.lower() in ENDINGS:
        return
    with open(path, "rb") as file:
        start = file.read(4)
    if start != b"PAR1":
        raise ValueError(
            "`X` must be the name of a Parquet file or of a folder of them, an array or blocks, "
            f"got the file {os.fspath(path)}: write {instead}."
        )


def _opened(path: Path) -> ParquetFiles:
    try:
        return ParquetFiles.of(path)
    except ParquetError as error:
        raise ValueError(f"`X`: {error}") from None


def _check(files: ParquetFiles, present: Sequence[str], features: Sequence[str]) -> None:
    """Raise an error unless columns are in every file, and the inputs hold numbers."""
    try:
        files.check_files(present)
    except ParquetError as error:
        raise ValueError(f"`X`: {error}") from None
    others = [f"{name} ({kind})" for name, kind in files.others(features).items()]
    if others:
        raise ValueError(
            f"`X` must hold numbers, got other types in the columns {', '.join(others)}: drop or "
            "encode them, or write `greedynet.fit_table(path, target)`, which encodes them."
        )


@dataclass(frozen=True, eq=False)
class ArrayReader:
    """Arrays of any size, some of them memory-mapped; pages are released after reading.

    Attributes
    ----------
    X, y : ndarray
    weights : ndarray or None
    """

    X: NDArray[Any]
    y: NDArray[Any]
    weights: NDArray[Any] | None = None
    sizes: BlockSizes = DEFAULT_SIZES

    @staticmethod
    def of(
        X: NDArray[Any], y: Any, sample_weight: Any, sizes: BlockSizes = DEFAULT_SIZES
    ) -> "ArrayReader":
        """Return a reader of arrays with matching rows."""
        if y is None or np.ndim(y) == 0:
            raise ValueError(
                f"`y` must have a value for each row if `X` is a memory map, got {y!r}: give an "
                "array; column names are for Parquet files."
            )
        outputs = _array(y)
        check_same_length(X=X, y=outputs)
        if isinstance(sample_weight, np.memmap):
            check_weight_shape(sample_weight, "sample_weight", len(X))
            return ArrayReader(X, outputs, sample_weight, sizes)
        weights = check_weights(sample_weight, "sample_weight", len(X))
        return ArrayReader(X, outputs, weights, sizes)

    def __iter__(self) -> Iterator[Raw]:
        arrays = (self.X, self.y, self.weights)
        step = self.sizes.read_rows(self.X.shape[1] + 1)
        for start in range(0, len(self.X), step):
            part = slice(start, start + step)
            # A copy, as the mapped pages are released below.
            X, y, weights = (None if a is None else np.array(a[part]) for a in arrays)
            for array in arrays:
                release_pages(array)
            yield X, y, weights


def release_pages(array: Any) -> None:
    """Release the pages of a mapped file; they remain in the file, and in the system's cache."""
    mapped = getattr(array, "_mmap", None)
    # Changes to a private mapping exist only in its pages.
    if isinstance(mapped, mmap.mmap) and array.mode != "c" and hasattr(mmap, "MADV_DONTNEED"):
        mapped.madvise(mmap.MADV_DONTNEED)


@dataclass(frozen=True, eq=False)
class IterableReader:
    """Any re-iterable of `(X, y)` or `(X, y, sample_weight)`, all with the same columns."""

    blocks: Iterable[Any]

    def __iter__(self) -> Iterator[Raw]:
        first: _Kind | None = None
        for number, block in enumerate(self.blocks):
            raw = _unpacked(block, number)
            if len(raw[0]):
                kind = _Kind(column_names(raw[0]), raw[2] is not None)
                first = first or kind
                kind.check_like(first, f"block {number}")
            yield raw


@dataclass(frozen=True)
class _Kind:
    """Properties that all blocks must share: names of columns, presence of weights."""

    names: tuple[str, ...] | None
    weighted: bool

    def check_like(self, first: "_Kind", name: str) -> None:
        if self.names != first.names:
            raise ValueError(
                "`X` must have the same columns in the same order in every block, "
                f"{_described(first.names)} as in the first, got {_described(self.names)} in "
                f"{name}: give data frames block[columns], or arrays only."
            )
        if self.weighted != first.weighted:
            have, got = ("some", "none") if first.weighted else ("none", "some")
            raise ValueError(
                f"`sample_weight` must be in every block or in no block, got {have} in the first "
                f"and {got} in {name}: write weights of 1 in blocks without any."
            )


def _described(names: tuple[str, ...] | None) -> str:
    return "columns without names" if names is None else str(list(names))


def _unpacked(block: Any, number: int) -> Raw:
    if not isinstance(block, tuple | list) or len(block) not in (2, 3):
        raise TypeError(
            "`X` must yield blocks `(X, y)` or `(X, y, sample_weight)`, got "
            f"{type(block).__name__} as block {number}."
        )
    return (*block, None) if len(block) == 2 else (block[0], block[1], block[2])


def gives_blocks(X: Any, y: Any) -> bool:
    """Whether `X` yields blocks, rather than being a matrix."""
    if isinstance(X, str | os.PathLike | Source) or (isinstance(X, np.memmap) and X.ndim == 2):
        return True
    is_matrix = hasattr(X, "__array__") or hasattr(X, "shape")  # sparse matrices are not arrays
    if y is not None or is_matrix or isinstance(X, Mapping | bytes):
        return False
    if isinstance(X, list | tuple):
        return len(X) > 0 and isinstance(X[0], tuple) and np.ndim(X[0][0]) == 2
    return isinstance(X, Iterable)


def reader_of(
    X: Any, y: Any, sample_weight: Any, sizes: BlockSizes = DEFAULT_SIZES
) -> tuple[Iterable[Raw], tuple[str, ...] | None]:
    """Return the reader of the blocks, and the names of the inputs if files provide them."""
    if isinstance(X, str | os.PathLike):
        files = parquet_reader(Path(X), y, sample_weight, sizes)
        return files, files.columns.features
    if isinstance(X, np.memmap):
        return ArrayReader.of(X, y, sample_weight, sizes), None
    if iter(X) is X:
        raise TypeError(
            f"`X` must yield its blocks again for every pass, got a {type(X).__name__}, which is "
            "exhausted after one: pass a list, or an object whose `__iter__` starts again."
        )
    if sample_weight is not None:
        raise ValueError(
            "`sample_weight` must be None if `X` yields blocks, got values: yield blocks `(X, y, "
            "sample_weight)`."
        )
    return IterableReader(X), None


def _array(values: Any) -> NDArray[Any]:
    return values if isinstance(values, np.memmap) else np.asarray(values)


def input_blocks(X: Any) -> Iterator[Any]:
    """Yield the inputs of blocks, without outputs and weights.

    Parameters
    ----------
    X : memmap or iterable
        As in a fit; blocks may also consist of inputs only.
    """
    mapped = isinstance(X, np.memmap)
    for block in ArrayReader(X, np.broadcast_to(0.0, len(X))) if mapped else X:
        inputs = block[0] if isinstance(block, tuple) else block
        if len(inputs):
            yield inputs
