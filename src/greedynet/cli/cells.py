"""Rows of text tables as they are written, and cells that a spreadsheet would compute."""

import csv
from collections.abc import Sequence
from typing import IO, Any

from greedynet.cli.describe import plural

_FORMULAS = ("=", "+", "-", "@")
# Spreadsheets take what follows for the beginning of the cell.
_SKIPPED = " \t\r\n"


def is_formula(cell: str) -> bool:
    """Whether a spreadsheet would compute a cell, rather than show it.

    Such a cell begins with `=`, `+`, `-` or `@`, and is neither a number nor a sign alone.
    """
    text = cell.lstrip(_SKIPPED)
    return text.startswith(_FORMULAS) and len(text) > 1 and not _is_number(text)


def _is_number(text: str) -> bool:
    try:
        float(text.replace(",", "."))
    except ValueError:
        return False
    return True


class CellWriter:
    """Writes rows of cells, and counts those that a spreadsheet would compute.

    Parameters
    ----------
    file : text file
    separator : str
        Separator of the cells.
    safe : bool
        Whether to write an apostrophe before such cells, by which spreadsheets know text.

    Attributes
    ----------
    n_formulas : int
        Number of such cells so far.
    """

    def __init__(self, file: IO[str], separator: str, *, safe: bool) -> None:
        self._writer = csv.writer(file, delimiter=separator, lineterminator="\n")
        self._safe = safe
        self.n_formulas = 0
        self._first = ""

    def write(self, row: Sequence[Any]) -> None:
        """Write a row of numbers and texts."""
        found = [i for i, cell in enumerate(row) if type(cell) is str and is_formula(cell)]
        if found:
            self._first = self._first or str(row[found[0]])
            self.n_formulas += len(found)
        if found and self._safe:
            row = [f"'{cell}" if i in found else cell for i, cell in enumerate(row)]
        self._writer.writerow(row)

    def note(self) -> str | None:
        """Return what to know of these cells; None if there are none."""
        if not self.n_formulas:
            return None
        if self._safe:
            cells = "1 cell has" if self.n_formulas == 1 else f"{self.n_formulas:,} cells have"
            return f"{cells} an apostrophe in front, as {self._first!r} would be a formula"
        return (
            f"a spreadsheet would compute {plural(self.n_formulas, 'cell')}, such as "
            f"{self._first!r}: --safe-cells marks them as text"
        )
