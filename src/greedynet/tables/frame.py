"""Tables that are in memory: data frames, and mappings from names to columns."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from greedynet.tables.base import Block, TableError, as_column, check_names, sliced


class FrameTable:
    """A data frame of any library, or a mapping from names to values.

    Parameters
    ----------
    frame : data frame or mapping
        Gives a column by `frame[name]`; a data frame has `columns`.
    label : str
        What errors call it.
    """

    def __init__(self, frame: Any, label: str = "the table") -> None:
        self.label = label
        names = list(frame) if isinstance(frame, Mapping) else list(frame.columns)
        check_names(label, list(map(str, names)))
        self._columns: Block = {str(name): as_column(frame[name]) for name in names}
        if len({len(column) for column in self._columns.values()}) > 1:
            raise TableError(f"{label} must have columns of equal length.")
        self.names = tuple(self._columns)

    def blocks(self, names: Sequence[str]) -> Iterator[Block]:
        """Yield the rows in order, some thousand at a time, of these columns."""
        return sliced(self._columns, names)
