"""Tables in memory: data frames, and mappings from names to columns."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from greedynet.tables.readers.base import (
    ArrayColumn,
    Block,
    TableError,
    as_column,
    check_names,
    sliced,
    without_mask,
)


class FrameTable:
    """A data frame of any library, or a mapping from names to values.

    Parameters
    ----------
    frame : data frame or mapping
        An object with columns `frame[name]`; a data frame also has `columns`.
    label : str
        Its name in error messages.
    """

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
