"""NumPy archives: each 1-D array is a column, and each column of a matrix."""

import zipfile
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from greedynet.tables.readers.base import (
    ArrayColumn,
    Block,
    TableError,
    as_column,
    check_names,
    sliced,
)


class NpzTable:
    """An NPZ file; a matrix `X` gives the columns X0, X1 and so on.

    Parameters
    ----------
    path : Path
        The file.
    """

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
