"""Tables in parts: files, data frames or mappings with the same columns, one after the other."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any

from greedynet.tables.readers.base import Block, Table, TableError


class PartsTable:
    """The rows of all parts, in their order; one part is in memory at a time.

    Parameters
    ----------
    parts : iterable
        Yields the same parts every time.
    opened : callable
        Opens a part as a table.
    """

    def __init__(self, parts: Iterable[Any], opened: Callable[[Any], Table]) -> None:
        if iter(parts) is parts:
            raise TypeError(
                f"`source` must yield its parts again for every pass, got a {type(parts).__name__},"
                " which is exhausted after one: pass a list, or an object whose `__iter__` starts "
                "again."
            )
        self._parts, self._opened = parts, opened
        first = next(self._tables(), None)
        if first is None:
            raise TableError("`source` must yield at least one part, got none.")
        self.first, self.names = first, first.names
        self.label = f"{first.label} and the parts after it"

    def blocks(self, names: Sequence[str]) -> Iterator[Block]:
        """Yield the rows of these columns in order, several thousand at a time."""
        for number, table in enumerate(self._tables()):
            absent = sorted(set(names) - set(table.names))
            if absent:
                raise TableError(
                    f"Every part must have the columns of the first, but part {number} "
                    f"({table.label}) has no {absent[0]!r}: add it, or leave the part out."
                )
            yield from table.blocks(names)

    def _tables(self) -> Iterator[Table]:
        for number, part in enumerate(self._parts):
            if isinstance(part, tuple):
                raise TypeError(
                    "`source` must yield tables, such as data frames or mappings from names to "
                    f"columns, got a tuple as part {number}: blocks `(X, y)` have no names; pass "
                    "them to the `fit` of an estimator."
                )
            yield self._opened(part)
