"""Columns of the table that `greedynet predict` copies to its output, such as keys."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from greedynet.tables.readers import Block, Column, Table

# Whole numbers from here on need not be those of the file.
_EXACT_BELOW = 2.0**53
_MIDNIGHT = " 00:00:00"


class KeptColumns:
    """The columns to copy, and their cells as text.

    Cells of text files stay as they are; of other files, numbers are written in their usual
    notation, dates without a time if all of a column are midnights, and empty cells are left empty.

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
        self._days: dict[str, bool] = {}
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

        from greedynet.tables.readers.base import EMPTY, as_text, number_text

        column = cells if isinstance(cells, np.ndarray) else cells.texts()
        if column.dtype.kind in "Mm":
            texts = list(as_text(column).tolist())
            are_days = column.dtype.kind == "M" and self._are_days(name)
            return [text.removesuffix(_MIDNIGHT) for text in texts] if are_days else texts
        if column.dtype != np.float64:
            texts = list(map(str, column.tolist()))
            return texts if self._is_text else ["" if text in EMPTY else text for text in texts]
        if (np.abs(column) >= _EXACT_BELOW).any():
            raise ValueError(
                f"{self._table.label}: --keep cannot copy column {name!r}, whose numbers of more "
                "than 15 digits would be rounded: store it as text."
            )
        return ["" if x != x else number_text(x) for x in column.tolist()]

    def _are_days(self, name: str) -> bool:
        """Whether all dates of a column of the whole table are midnights, which takes a pass."""
        import numpy as np

        if name not in self._days:
            columns = (np.asarray(block[name]) for block in self._table.blocks([name]))
            full = (dates[~np.isnat(dates)] for dates in columns)
            self._days[name] = all((dates == dates.astype("M8[D]")).all() for dates in full)
        return self._days[name]
