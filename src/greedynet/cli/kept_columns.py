"""Columns of the table that `greedynet predict` copies to its output, such as keys."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from greedynet.tables.readers import Block, Column, Table

# Whole numbers from here on need not be those of the file.
_EXACT_BELOW = 2.0**53


class KeptColumns:
    """The columns to copy, and their cells as text.

    Cells of text files stay as they are; of other files, numbers are written in their usual
    notation and empty cells are left empty.

    Parameters
    ----------
    table : Table
    asked : sequence of str
        Names, or several names between commas.

    Attributes
    ----------
    names : list of str
        The columns, in the order in which they were asked for.
    """

    def __init__(self, table: "Table", asked: Sequence[str]) -> None:
        from greedynet.tables.findings import check_present
        from greedynet.tables.readers import is_text

        self._table = table
        self._is_text = is_text(table)
        self.names = list(dict.fromkeys(name for part in asked for name in self._split(part)))
        check_present(table, self.names, "column")

    def check_against(self, written: Sequence[str]) -> None:
        """Raise an error if a column has the name of one that is written beside it."""
        twice = [name for name in self.names if name in written]
        if twice:
            raise ValueError(
                f"--keep would write two columns named {twice[0]!r}: rename the one in "
                f"{self._table.label}, or do not keep it."
            )

    def rows(self, block: "Block") -> list[tuple[Any, ...]]:
        """Return the cells of the rows of a block."""
        if not self.names:
            return [()] * len(next(iter(block.values())))
        return list(zip(*(self._cells(name, block[name]) for name in self.names), strict=True))

    def _split(self, part: str) -> list[str]:
        """Return the names in an argument; a column may have a comma in its name."""
        return [part] if part in self._table.names else [name.strip() for name in part.split(",")]

    def _cells(self, name: str, cells: "Column") -> list[str]:
        import numpy as np

        from greedynet.tables.cells import as_text, number_text
        from greedynet.tables.readers.texts import EMPTY

        column = cells if isinstance(cells, np.ndarray) else cells.texts()
        if column.dtype.kind in "Mm":
            return list(as_text(column).tolist())
        if column.dtype != np.float64:
            texts = list(map(str, column.tolist()))
            return texts if self._is_text else ["" if text in EMPTY else text for text in texts]
        if (np.abs(column) >= _EXACT_BELOW).any():
            raise ValueError(
                f"{self._table.label}: --keep cannot copy column {name!r}, whose numbers of more "
                "than 15 digits would be rounded: store it as text."
            )
        return ["" if x != x else number_text(x) for x in column.tolist()]
