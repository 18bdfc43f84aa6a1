"""Tables: named columns whose rows are read when they are asked for."""

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence

from greedynet.tables.readers.base import AsNumbers, Block, Marks, check_names
from greedynet.tables.readers.store import NotNumbersError, Store


class Table:
    """Named columns of equal length, which DuckDB reads once, when they are asked for.

    Parameters
    ----------
    label : str
        Its name in error messages, such as "data.csv".
    names : sequence of str
    fill : callable
        Adds the rows to a `Store`.
    is_text : bool
        Whether it is a text file, whose cells are separated by a character.
    encoding : str or None
        That of a text file.
    noticed : tuple of str
        What a fit says of it, a line each.
    """

    def __init__(
        self,
        label: str,
        names: Sequence[str],
        fill: Callable[[Store], None],
        *,
        is_text: bool = False,
        encoding: str | None = None,
        noticed: tuple[str, ...] = (),
    ) -> None:
        check_names(label, names)
        self.label, self.names, self.fill = label, tuple(names), fill
        self.is_text, self.encoding, self.noticed = is_text, encoding, noticed
        self.marks, self._is_shortened = Marks(), False
        self.na: tuple[str, ...] = ()
        self.memory_limit: float | None = None
        self._numbers: tuple[str, ...] = ()
        self._store: Store | None = None

    def store(self) -> Store:
        """Return the cells, about all of which it can be asked."""
        if self._store is None:
            try:
                self._store = self._filled(self._numbers)
            except NotNumbersError:
                self._store = self._filled(())
            if self._is_shortened:
                self._store.drop_last_row()
        return self._store

    def _filled(self, numbers: Collection[str]) -> Store:
        store = Store(self.label, self.na, len(self.names), self.memory_limit, numbers)
        self.fill(store)
        return store

    def read_numbers(self, names: Collection[str]) -> None:
        """Say of which columns only the numbers are needed, where all cells are plain numbers."""
        self._numbers = tuple(names)

    @property
    def n_rows(self) -> int:
        """Number of rows."""
        return self.store().n_rows

    def release(self) -> None:
        """Forget the cells until they are asked for again."""
        self._store = None

    def drop_last_row(self) -> None:
        """Leave out the last row from now on."""
        self._is_shortened = True
        self.store().drop_last_row()

    def blocks(
        self, names: Sequence[str], numbers: Mapping[str, AsNumbers] | None = None
    ) -> Iterator[Block]:
        """Yield the rows of these columns in order, several thousand at a time.

        A column of texts may come as numbers if that of `numbers` makes one of each cell that is
        not empty; all others come as they are.
        """
        return self.store().blocks(names, numbers)
