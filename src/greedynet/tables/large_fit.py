"""A fit to a large table: division, means and classes, the estimator, and the errors.

Each stage is one pass over the rows, but for the estimator, which makes several.
"""

from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from greedynet.estimators import GreedyNetClassifier
from greedynet.losses import Squared
from greedynet.rows.missing import ENOUGH_ROWS
from greedynet.support.checks import safe_norm
from greedynet.support.types import Float64
from greedynet.tables.column_types import ColumnTypes
from greedynet.tables.columns import Missing
from greedynet.tables.hold_out import HoldOut
from greedynet.tables.large_rows import Division, LargeRows
from greedynet.tables.readers import Table, TableError
from greedynet.tables.scores import loss_of, measure_of, scores_of
from greedynet.tables.training import FitRows, TrainingRows, first_rows

# Parameters of the estimators that need all rows at once, and the values that do not.
_IN_MEMORY = {
    "cv": (None,),
    "search": ("continuous",),
}


@dataclass(frozen=True, eq=False)
class LargeFit:
    """Types with means and classes, the validation rows, and the errors, after the fit."""

    types: ColumnTypes
    n_rows: int
    validation: TrainingRows | None
    training: dict[str, Any]
    held_out: dict[str, Any] | None


def check_large(estimator: Any, n_rows: int, **columns: str | None) -> None:
    """Raise an error for what needs all rows in memory, such as columns of groups, by argument."""
    of_estimator = {name: getattr(estimator, name, fine[0]) for name, fine in _IN_MEMORY.items()}
    for name, value in {**columns, **of_estimator}.items():
        if not any(value is fine or value == fine for fine in _IN_MEMORY.get(name, (None,))):
            raise TableError(
                f"`{name}` needs all rows in memory, got {name}={value!r} for {n_rows:,} rows that "
                f"are read in blocks: omit `{name}`, give fewer rows, or raise `memory_limit`."
            )


def fit_large(
    estimator: Any,
    rows: LargeRows,
    types: ColumnTypes,
    hold: HoldOut | None,
    seed: int,
    validation: Callable[[ColumnTypes], TrainingRows | None],
) -> LargeFit:
    """Fit an estimator to rows that are read in blocks.

    `validation` returns the rows by which the width is chosen, given the means.
    """
    division = Division(rows, hold, seed, classes=types.classes is not None)
    learned = Learned.of(division, types)
    blocks = FilledBlocks(division, learned.types.inputs.means)
    held = validation(learned.types)
    estimator.fit(blocks, **({} if held is None else {"X_val": held.X, "y_val": held.y}))
    training = RunningScores(estimator)
    for block in blocks.learned():
        training.add(block)
    found = None
    if division.record is not None:
        found = {**division.record, **_held_out_scores(estimator, blocks, learned, training.mean)}
    return LargeFit(learned.types, learned.n_rows, held, training.scores(), found)


@dataclass(frozen=True, eq=False)
class Learned:
    """Means and classes of the rows to learn from, and the number of rows of each class."""

    types: ColumnTypes
    n_rows: int
    classes: "Counter[Any]"

    @staticmethod
    def of(division: Division, types: ColumnTypes) -> "Learned":
        """Learn them in one pass."""
        n_rows, sums, counts, classes = 0, 0.0, 0, Counter[Any]()
        for rows in division.learned():
            full = np.isfinite(rows.X)
            sums = sums + np.where(full, rows.X, 0.0).sum(axis=0)
            counts = counts + full.sum(axis=0)
            n_rows += len(rows)
            if types.classes is not None:
                classes.update(_counted(rows))
        if n_rows < 2:
            raise TableError(f"A fit needs at least two rows without empty cells, got {n_rows}.")
        inputs = types.inputs.holding(np.asarray(sums / np.maximum(counts, 1)))
        labels = None if types.classes is None else np.array(sorted(classes), types.classes.dtype)
        return Learned(replace(types, inputs=inputs, classes=labels), n_rows, classes)


def _counted(rows: TrainingRows) -> dict[Any, int]:
    labels, counts = np.unique(rows.y, return_counts=True)
    return dict(zip(labels.tolist(), counts.tolist(), strict=True))


@dataclass(frozen=True, eq=False)
class FilledBlocks:
    """Blocks `(X, y)` for the fit of an estimator, with the means in empty cells."""

    division: Division
    means: Float64

    def __iter__(self) -> Iterator[tuple[Float64, Any]]:
        for rows in self.learned():
            yield rows.X, rows.y

    def learned(self) -> Iterator[TrainingRows]:
        """Yield the rows to learn from."""
        return (rows.filled(self.means) for rows in self.division.learned())

    def set_aside(self) -> Iterator[TrainingRows]:
        """Yield the rows that were set aside."""
        return (rows.filled(self.means) for rows in self.division.set_aside())


def _held_out_scores(
    estimator: Any, blocks: FilledBlocks, learned: Learned, mean: float
) -> dict[str, Any]:
    """Return the scores on the rows set aside, with that of a constant where it is known."""
    held, classes = RunningScores(estimator), Counter[Any]()
    for rows in blocks.set_aside():
        if learned.types.classes is not None:
            classes.update(_counted(rows))
            HoldOut.check_classes(set(classes), set(learned.classes))
        held.add(rows)
    found = held.scores()
    measure, constant = measure_of(found), None
    if measure == "accuracy":
        # Of several that are as common, the first by name, as among rows in memory.
        commonest = min(learned.classes, key=lambda label: (-learned.classes[label], label))
        constant = classes[commonest] / held.n_rows
    elif measure == "rmse":
        constant = held.error_of(mean)
    return {**found, "measure": measure, "constant": constant}


class RunningScores:
    """Scores of a fitted estimator, to which blocks of rows are added.

    Of blocks with `n` and `m` targets, means `a` and `b`, and sums of squared deviations `S` and
    `T`, the deviations of both together are `S + T + (a - b)^2 n m / (n + m)`. Square roots are
    added instead, which do not overflow.
    """

    def __init__(self, estimator: Any) -> None:
        self._estimator = estimator
        self._is_classifier = isinstance(estimator, GreedyNetClassifier)
        loss = loss_of(estimator)
        # A loss that is no sum over rows needs their residuals at once.
        self._residuals: list[NDArray[Any]] | None = None
        if loss is not None and not isinstance(loss, Squared):
            self._residuals = []
        self._loss = loss
        self.n_rows = 0
        self.mean = self.spread = 0.0
        self._norm = 0.0
        self._sums: dict[str, float] = {}

    def add(self, rows: TrainingRows) -> None:
        """Add a block of rows."""
        if not len(rows):
            return
        found, y = self._estimator.predict(rows.X), rows.y
        p = self._estimator.predict_proba(rows.X) if self._is_classifier else None
        for name, value in scores_of(self._estimator, y, found, p).items():
            if name in ("accuracy", "log_loss", "mae"):
                self._sums[name] = self._sums.get(name, 0.0) + len(y) * value
        if p is None:
            self._norm = float(np.hypot(self._norm, safe_norm(y - found)))
            self._add_targets(y)
            if self._residuals is not None:
                self._residuals.append(y - found)
        self.n_rows += len(y)

    def _add_targets(self, y: NDArray[Any]) -> None:
        n, mean = len(y), float(y.mean())
        share = n / (self.n_rows + n)
        apart = abs(mean - self.mean) * (share * self.n_rows) ** 0.5
        self.spread = float(np.hypot(np.hypot(self.spread, safe_norm(y - mean)), apart))
        self.mean += share * (mean - self.mean)

    def scores(self) -> dict[str, Any]:
        """Return the scores of all rows, by name and in the order of `scores_of`."""
        means = {name: value / self.n_rows for name, value in self._sums.items()}
        if self._is_classifier:
            return means
        r2 = 1.0 - (self._norm / self.spread) ** 2 if self.spread > 0 else None
        found = {"rmse": self._norm / self.n_rows**0.5, **means, "r2": r2}
        if self._residuals is not None and self._loss is not None:
            weights = np.full(self.n_rows, 1.0 / self.n_rows)
            residuals = np.concatenate(self._residuals)[:, None]
            found[f"{self._loss.name}_loss"] = self._loss.size(residuals, weights)
        return found

    def error_of(self, constant: float) -> float:
        """Return the root mean squared error of a constant on these rows."""
        return float(np.hypot(self.spread / self.n_rows**0.5, self.mean - constant))


def with_telling_gaps(table: Table, types: ColumnTypes, missing: Missing) -> ColumnTypes:
    """Return the columns without indicators that say nothing of the target in the first rows.

    In a file that is sorted, the first rows may not be like the others.
    """
    if not any(types.inputs.are_indicators):
        return types
    data = first_rows(table, types, missing, ENOUGH_ROWS)
    learned = types.learned(data.X, data.y)
    found = FitRows(learned, data.filled(learned.inputs.means)).with_telling_gaps()
    return replace(types, inputs=found.types.inputs)
