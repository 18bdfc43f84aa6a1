"""What users have -> raw blocks, read as often as one likes: memory maps, Parquet, iterables."""

import mmap
import os
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from greedynet.blocks.prepare import Raw
from greedynet.blocks.source import Source
from greedynet.extras import require

# A block in memory: large enough to be read at full speed.
_BLOCK_BYTES = 2**25


@dataclass(frozen=True, eq=False)
class ArrayReader:
    """Arrays of any size, some of them mapped from files; read pages do not stay in memory.

    Attributes
    ----------
    X, y : ndarray
    weights : ndarray or None
    """

    X: NDArray[Any]
    y: NDArray[Any]
    weights: NDArray[Any] | None = None

    def __post_init__(self) -> None:
        lengths = {"X": len(self.X), "y": len(self.y)}
        if self.weights is not None:
            lengths["sample_weight"] = len(self.weights)
        if len(set(lengths.values())) > 1:
            names = " and ".join(f"`{name}`" for name in lengths)
            raise ValueError(
                f"{names} must have the same number of rows, got {[*lengths.values()]}."
            )

    def __iter__(self) -> Iterator[Raw]:
        arrays = (self.X, self.y, self.weights)
        step = max(1, _BLOCK_BYTES // (8 * (self.X.shape[1] + 1)))
        for start in range(0, len(self.X), step):
            part = slice(start, start + step)
            # A copy: what is mapped is let go of below.
            X, y, weights = (None if a is None else np.array(a[part]) for a in arrays)
            for array in arrays:
                _let_go(array)
            yield X, y, weights


def _let_go(array: Any) -> None:
    """Give the pages of a mapped file back; they stay in the file, and in the system's cache."""
    mapped = getattr(array, "_mmap", None)
    # Changes to a private mapping are nowhere else.
    if isinstance(mapped, mmap.mmap) and array.mode != "c" and hasattr(mmap, "MADV_DONTNEED"):
        mapped.madvise(mmap.MADV_DONTNEED)


@dataclass(frozen=True, eq=False)
class IterableReader:
    """Any re-iterable of `(X, y)` or `(X, y, sample_weight)`."""

    blocks: Iterable[Any]

    def __iter__(self) -> Iterator[Raw]:
        for number, block in enumerate(self.blocks):
            if not isinstance(block, tuple | list) or len(block) not in (2, 3):
                raise TypeError(
                    "`X` must give blocks `(X, y)` or `(X, y, sample_weight)`, got "
                    f"{type(block).__name__} as block {number}."
                )
            yield (*block, None) if len(block) == 2 else tuple(block)


@dataclass(frozen=True, eq=False)
class ParquetReader:
    """A Parquet file, or a folder of them, by pyarrow.

    Attributes
    ----------
    path : Path
    features, targets : tuple of str
        Columns of inputs and outputs; one target alone is a plain column.
    weight : str or None
        Column of sample weights.
    """

    path: Path
    features: tuple[str, ...]
    targets: tuple[str, ...]
    weight: str | None = None

    def __iter__(self) -> Iterator[Raw]:
        weight = [self.weight] if self.weight else []
        names = list(dict.fromkeys([*self.features, *self.targets, *weight]))
        rows = max(1, _BLOCK_BYTES // (8 * len(names)))
        for batch in parquet_dataset(self.path).to_batches(columns=names, batch_size=rows):
            column = {name: batch.column(name).to_numpy(zero_copy_only=False) for name in names}
            y = [column[name] for name in self.targets]
            X = np.column_stack([column[name] for name in self.features])
            yield X, y[0] if len(y) == 1 else np.column_stack(y), column.get(self.weight or "")


def parquet_dataset(path: Path) -> Any:
    """Open a Parquet file or a folder of them."""
    dataset = require("pyarrow.dataset", "tables", "fit")
    if not path.exists():
        raise FileNotFoundError(f"`X`: there is no file or folder {os.fspath(path)}.")
    try:
        return dataset.dataset(path, format="parquet")
    except (OSError, ValueError) as error:
        reason = str(error).splitlines()[0]
        raise ValueError(f"`X`: {os.fspath(path)} holds no Parquet data: {reason}") from None


def gives_blocks(X: Any, y: Any) -> bool:
    """Whether `X` is something to read blocks from, rather than a matrix."""
    if isinstance(X, str | os.PathLike | Source) or (isinstance(X, np.memmap) and X.ndim == 2):
        return True
    is_matrix = hasattr(X, "__array__") or hasattr(X, "shape")  # a sparse one is no array
    if y is not None or is_matrix or isinstance(X, Mapping | bytes):
        return False
    if isinstance(X, list | tuple):
        return len(X) > 0 and isinstance(X[0], tuple) and np.ndim(X[0][0]) == 2
    return isinstance(X, Iterable)


def reader_of(X: Any, y: Any, sample_weight: Any) -> tuple[Iterable[Raw], tuple[str, ...] | None]:
    """Return what reads the blocks, and the names of the inputs if they have some."""
    if isinstance(X, str | os.PathLike):
        reader = _parquet_reader(Path(X), y, sample_weight)
        return reader, reader.features
    if isinstance(X, np.memmap):
        if y is None:
            raise ValueError("`y` must be given where `X` is a memory map, got None.")
        return ArrayReader(
            X, _array(y), None if sample_weight is None else _array(sample_weight)
        ), (None)
    if iter(X) is X:
        raise TypeError(
            f"`X` must give its blocks again for every pass, got a {type(X).__name__}, which is "
            "spent after one: pass a list, or an object whose `__iter__` starts anew."
        )
    if sample_weight is not None:
        raise ValueError(
            "`sample_weight` must be None where `X` gives blocks, got values: give blocks "
            "`(X, y, sample_weight)`."
        )
    return IterableReader(X), None


def _array(values: Any) -> NDArray[Any]:
    return values if isinstance(values, np.memmap) else np.asarray(values)


def _parquet_reader(path: Path, y: Any, sample_weight: Any) -> ParquetReader:
    names = [str(name) for name in parquet_dataset(path).schema.names]
    targets = (y,) if isinstance(y, str) else tuple(y or ())
    if not targets or not all(isinstance(name, str) for name in targets):
        raise ValueError(
            "`y` must name the column to learn where `X` is a Parquet file, or several in a list, "
            f"got {y!r}; there are {names}."
        )
    if sample_weight is not None and not isinstance(sample_weight, str):
        raise ValueError(
            "`sample_weight` must name a column where `X` is a Parquet file, got "
            f"{type(sample_weight).__name__}."
        )
    others = {*targets, *([sample_weight] if sample_weight else [])}
    missing = sorted(others - set(names))
    if missing:
        raise ValueError(f"`y` and `sample_weight` must be columns of {names}, got {missing}.")
    features = tuple(name for name in names if name not in others)
    return ParquetReader(path, features, targets, sample_weight)


def input_blocks(X: Any, features: tuple[str, ...] | None) -> Iterator[Any]:
    """Yield the inputs of what gives blocks, outputs and weights left aside.

    Parameters
    ----------
    X : str, path, memmap or iterable
        Of the kinds that a fit takes; blocks may be inputs alone.
    features : tuple of str or None
        Columns of a file.
    """
    if isinstance(X, str | os.PathLike):
        if features is None:
            raise ValueError(
                "`X` must be an array for a model that was not fitted on named columns, got the "
                f"file {os.fspath(X)}."
            )
        missing = sorted(set(features) - set(parquet_dataset(Path(X)).schema.names))
        if missing:
            raise ValueError(f"`X`: {os.fspath(X)} lacks the columns {missing}.")
        # The last one twice: as inputs, and as outputs that nobody looks at.
        blocks: Iterable[Any] = ParquetReader(Path(X), features, features[-1:])
    elif isinstance(X, np.memmap):
        blocks = ArrayReader(X, np.broadcast_to(0.0, len(X)))
    else:
        blocks = X
    for block in blocks:
        inputs = block[0] if isinstance(block, tuple) else block
        if len(inputs):
            yield inputs
