"""The columns that `greedynet predict` writes: predictions, intervals, and those it copies."""

import csv
from collections.abc import Sequence
from typing import IO, TYPE_CHECKING, Any

from greedynet.cli.shell import plural

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from greedynet.tables.columns import Encoded
    from greedynet.tables.model import TableModel
    from greedynet.tables.readers import Block, Column, Table

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
    """Writes rows of cells, and counts those that a spreadsheet would compute."""

    def __init__(self, file: IO[str], separator: str, *, safe: bool) -> None:
        self._writer = csv.writer(file, delimiter=separator, lineterminator="\n")
        self._safe = safe  # an apostrophe in front tells spreadsheets that a cell is text
        self.n_formulas = 0
        self._first = ""

    def write(self, row: Sequence[Any]) -> None:
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


# Whole numbers from here on need not be those of the file.
_EXACT_BELOW = 2.0**53
_MIDNIGHT = " 00:00:00"


class KeptColumns:
    """The columns to copy, and their cells as text.

    Cells of text files stay as they are; of other files, numbers are written in their usual
    notation, dates without a time if all of a column are midnights, and empty cells are left empty.
    """

    def __init__(self, table: "Table", asked: Sequence[str]) -> None:
        from greedynet.tables.findings import check_present, split_names

        self._table = table
        self._is_text = table.is_text
        self._days: dict[str, bool] = {}
        self.names = list(
            dict.fromkeys(name for part in asked for name in split_names(part, table))
        )
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
        if not self.names:
            return [()] * len(next(iter(block.values())))
        return list(zip(*(self._cells(name, block[name]) for name in self.names), strict=True))

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


_BETWEEN = " | "


class PredictionColumns:
    """The columns of the output, block by block."""

    def __init__(
        self, model: "TableModel", interval: float | None, sets: float | None, outside: bool
    ) -> None:
        self._model, self._interval, self._sets, self._says = model, interval, sets, outside
        self.n_outside = 0  # rows so far that are outside the training data
        self._beyond = dict.fromkeys(model.columns.labels, 0)
        self._check()

    def _check(self) -> None:
        for name, share in (("--interval", self._interval), ("--sets", self._sets)):
            if share is not None and not 0 < share < 1:
                raise ValueError(f"{name} must be between 0 and 1, such as 0.9, got {share}.")
        if self._interval is not None and self._model.classes_ is not None:
            raise ValueError("--interval is for numbers, this model predicts classes: use --sets.")
        if self._sets is not None and self._model.classes_ is None:
            raise ValueError("--sets is for classes, this model predicts numbers: use --interval.")

    def names(self) -> list[str]:
        network, classes = self._model.network, self._model.classes_
        several = not network.single_output and classes is None
        each = [str(j) for j in range(network.n_outputs)] if several else [""]
        names = [f"prediction{j}" for j in each]
        if classes is not None:
            names += [f"probability of {label}" for label in self._labels()]
        if self._interval is not None:
            names += [f"{end}{j}" for end in ("lower", "upper") for j in each]
        if self._sets is not None:
            names.append("classes")
        return [*names, "outside"] if self._says else names

    def rows(self, rows: "Encoded") -> list[list[Any]]:
        """Return the cells of some rows, of which only those that are full are counted."""
        import numpy as np

        model, X = self._model, rows.X
        found = model.predict(X)
        columns: list[list[Any]] = [*found.reshape(len(found), -1).T.tolist()]
        if model.classes_ is not None:
            columns += model.predict_proba(X).T.tolist()
        if self._interval is not None:
            ends = model.predict_interval(X, self._interval)
            columns += np.column_stack(ends).T.tolist()
        if self._sets is not None:
            columns.append(self._texts(model.predict_set(X, self._sets)))
        columns += self._outside(rows)
        return [list(row) for row in zip(*columns, strict=True)]

    def sentence(self, n_rows: int) -> str:
        """Return how many of the rows so far are outside the training data."""
        from greedynet.model.uncertainty.outside import outside_sentence

        return outside_sentence(n_rows, self.n_outside, self._beyond)

    def _outside(self, rows: "Encoded") -> list[list[str]]:
        """Count the rows outside, and return the column that says so if it is asked for."""
        if not hasattr(self._model.estimator, "outside") and not self._says:
            return []
        found = self._model.outside_of(rows)
        self.n_outside += int((found.rows & rows.full).sum())
        for name, n in zip(found.names, found.columns[rows.full].sum(axis=0).tolist(), strict=True):
            self._beyond[name] += n
        return [found.describe()] if self._says else []

    def _texts(self, sets: "NDArray[Any]") -> list[str]:
        labels = self._labels()
        return [_BETWEEN.join(labels[j] for j in row.nonzero()[0].tolist()) for row in sets]

    def _labels(self) -> list[str]:
        from greedynet.tables.readers.base import label_text

        classes = self._model.classes_
        found = [] if classes is None else classes.tolist()
        return [label_text(label) for label in found]
