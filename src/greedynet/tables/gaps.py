"""`FitRows`: the rows of a fit with their columns, with and without indicators of empty cells."""

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from greedynet.rows.classes import unit_vectors
from greedynet.rows.missing import telling
from greedynet.rows.rows import Rows
from greedynet.tables.column_types import ColumnTypes
from greedynet.tables.training import TrainingRows


@dataclass(frozen=True, eq=False)
class Aside:
    """Rows set aside, how to find them again in the table, and whether they come later."""

    rows: TrainingRows
    record: dict[str, Any]
    later: bool = False


@dataclass(frozen=True, eq=False)
class FitRows:
    """Everything that has a column for each feature.

    Attributes
    ----------
    types : ColumnTypes
        What the columns hold.
    data : TrainingRows
        Rows to learn from, without empty cells.
    aside : Aside or None
        Rows that are set aside.
    held : TrainingRows or None
        Validation rows.
    """

    types: ColumnTypes
    data: TrainingRows
    aside: Aside | None = None
    held: TrainingRows | None = None

    @property
    def indicators(self) -> NDArray[np.bool_]:
        """Which features indicate empty cells."""
        return np.array(self.types.inputs.are_indicators, dtype=np.bool_)

    def with_telling_gaps(self) -> "FitRows":
        """Return the rows without indicators that say nothing of the target."""
        of_gaps, data = self.indicators, self.data
        if not of_gaps.any():
            return self
        classes = self.types.classes
        Y = data.y[:, None] if classes is None else unit_vectors(data.y, classes)
        kept = ~of_gaps
        kept[of_gaps] = telling(Rows(data.X[:, ~of_gaps], Y, data.weights), data.X[:, of_gaps])
        return self._with_features(kept)

    def without_indicators(self) -> "FitRows":
        """Return the rows with the mean in empty cells, and nothing else."""
        return self._with_features(~self.indicators)

    def _with_features(self, kept: NDArray[np.bool_]) -> "FitRows":
        aside, held = self.aside, self.held
        return FitRows(
            replace(self.types, inputs=self.types.inputs.with_features(kept)),
            self.data.with_features(kept),
            None if aside is None else replace(aside, rows=aside.rows.with_features(kept)),
            None if held is None else held.with_features(kept),
        )
