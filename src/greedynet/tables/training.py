"""Rows of a table to learn from as arrays, with and without indicators of empty cells."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from greedynet.rows.level_means import coding_folds
from greedynet.rows.missing import ENOUGH_ROWS, informative
from greedynet.rows.rows import Rows, unit_vectors
from greedynet.tables.column_types import ColumnTypes
from greedynet.tables.kinds import Coded
from greedynet.tables.labelled import LabelledRows
from greedynet.tables.memory import is_on_disk
from greedynet.tables.roles import forward_folds


@dataclass(frozen=True, eq=False)
class Aside:
    """Rows set aside, how to find them again in the table, and whether they come later."""

    rows: LabelledRows
    record: dict[str, Any]
    later: bool = False


def with_units(
    types: ColumnTypes, data: LabelledRows, aside: Aside | None
) -> tuple[ColumnTypes, LabelledRows, Aside | None] | None:
    """Return rows with a feature for each of many levels, before codes are learned; None if never.

    Levels must be few enough, and rows in memory.
    """
    units = types.one_hot(len(data))
    if units.inputs == types.inputs or is_on_disk(data.X):
        return None

    def expanded(rows: LabelledRows) -> LabelledRows:
        parts = [
            old.kind.unit_columns(part) if isinstance(old.kind, Coded) and old != new else part
            for (old, part), new in zip(
                types.inputs.split(rows.X), units.inputs.inputs, strict=True
            )
        ]
        return replace(rows, X=np.hstack(parts))

    aside = None if aside is None else replace(aside, rows=expanded(aside.rows))
    return units, expanded(data), aside


@dataclass(frozen=True, eq=False)
class FitRows:
    """Everything that has a column for each feature: types, and rows without empty cells.

    `aside` are rows that are set aside, and `held` the validation rows.
    """

    types: ColumnTypes
    data: LabelledRows
    aside: Aside | None = None
    held: LabelledRows | None = None

    @property
    def indicators(self) -> NDArray[np.bool_]:
        """Which features indicate empty cells."""
        return np.array(self.types.inputs.are_indicators, dtype=np.bool_)

    def with_informative_gaps(self) -> "FitRows":
        """Return the rows without indicators that say nothing of the target."""
        of_gaps, data = self.indicators, self.data
        if not of_gaps.any():
            return self
        classes = self.types.target.classes
        if is_on_disk(data.X):
            spread = np.zeros(len(data), dtype=np.bool_)
            spread[np.linspace(0, len(data) - 1, ENOUGH_ROWS).astype(np.intp)] = True
            data = replace(data.taken(spread), X=np.array(data.X[spread]))
        Y = data.y[:, None] if classes is None else unit_vectors(data.y, classes)
        kept = ~of_gaps
        kept[of_gaps] = informative(Rows(data.X[:, ~of_gaps], Y, data.weights), data.X[:, of_gaps])
        return self._with_features(kept)

    @staticmethod
    def learned(
        types: ColumnTypes,
        data: LabelledRows,
        aside: Aside | None,
        validation: Callable[[ColumnTypes], LabelledRows | None],
        seed: int,
    ) -> "FitRows":
        """Learn codes of levels, means, and which empty cells say something, from the rows."""
        if types.has_codes:
            later = () if data.times is None else forward_folds(data.times)
            folds = coding_folds(len(data), seed, data.groups, later)
            types = types.with_codes(data.X, data.y, folds, data.weights)
        if aside is not None:
            types.recode(aside.rows.X)
        types = types.learned(data.X, data.y)
        means = types.inputs.means
        aside = None if aside is None else replace(aside, rows=aside.rows.filled(means))
        rows = FitRows(types, data.filled(means), aside, validation(types))
        return rows.with_informative_gaps()

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
