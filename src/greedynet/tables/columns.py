"""Named columns -> a matrix of numbers, each by its kind.

A column with empty cells has a second input, its indicator, which is 1 for them and else 0: see
`rows.missing`.

`Columns` are part of a model; `Columns.encode` turns a block into rows of a matrix. What the
columns hold is found by `survey` and `column_types`.
"""

import os
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import islice
from typing import Any, Literal, get_args

import numpy as np
from numpy.typing import NDArray

from greedynet.rows.missing import indicator_name
from greedynet.support.types import Float64
from greedynet.tables.findings import Findings, check_present
from greedynet.tables.kinds import EffectPart, Kind, Numbers, from_state
from greedynet.tables.memory import means_of
from greedynet.tables.readers import Block, Column, Marks, Table, TableError, is_in_parts
from greedynet.tables.readers.base import AsNumbers, empty_mask, without

Masks = dict[str, NDArray[np.bool_]]


@dataclass(frozen=True)
class Input:
    """One column of the table, which gives one or several features of the network.

    Attributes
    ----------
    means : tuple of float
        Mean of each feature over the training rows, which can replace an empty cell.
    gaps : bool
        Whether cells of the column were empty in training, with `missing="learn"`.
    gaps_of : str or None
        The column whose empty cells this input indicates by 1; None for a column itself.
    na : tuple of str
        Texts such as "n/a" that are empty cells of this column.
    """

    name: str
    kind: Kind = Numbers()
    means: tuple[float, ...] = ()
    gaps: bool = False
    gaps_of: str | None = None
    na: tuple[str, ...] = ()

    @staticmethod
    def indicator(name: str, taken: Collection[str]) -> "Input":
        """Return the input that says whether a cell of a column is empty, with a new name."""
        return Input(indicator_name(name, taken), gaps_of=name)

    @property
    def source(self) -> str:
        """The column of the table that is read."""
        return self.name if self.gaps_of is None else self.gaps_of

    @property
    def levels(self) -> tuple[str, ...] | None:
        """The categories, None for other kinds."""
        return self.kind.levels

    @property
    def is_number(self) -> bool:
        """Whether its only feature is a number."""
        return self.levels is None and self.n_features == 1

    @property
    def n_features(self) -> int:
        """Number of its features."""
        return self.kind.n_features

    @property
    def features(self) -> tuple[str, ...]:
        """Names of its features."""
        return self.kind.features(self.name)

    @property
    def parts(self) -> tuple[EffectPart, ...]:
        """What to draw the effects of."""
        if self.gaps_of is not None:
            return (EffectPart(self.name, (0,), np.array([[0.0], [1.0]]), ("no", "yes")),)
        return self.kind.parts(self.name)

    def written(self, marks: Marks) -> "Input":
        """Return the column with numbers that are written with these marks."""
        if not isinstance(self.kind, Numbers) or self.gaps_of is not None:
            return self
        return replace(self, kind=self.kind.written(marks.decimal, marks.thousands))

    def encode(
        self, cells: Column, out: Float64, findings: Findings, start: int
    ) -> NDArray[np.bool_] | None:
        """Write the features of the cells to `out`, zeros, NaN for empty cells; record problems.

        Returns which cells are levels that the training data did not contain, if there are some:
        they have the means of the training data where the kind has no features for them.
        """
        cells = without(cells, self.na)
        if self.gaps_of is not None:
            out[:, 0] = empty_mask(cells)
            return None
        problems = self.kind.encode(cells, out)
        for what, where in problems.items():
            findings.note(what, self.name, where, cells, start, self.kind.wanted)
        new = problems.get("unknown")
        if new is None or not new.any():
            return None
        out[new & np.isnan(out[:, 0])] = self.means or 0.0
        return new

    def describe(self) -> str:
        """Return what it holds, in words."""
        if self.gaps_of is not None:
            return f"1 where {self.gaps_of} is empty, otherwise 0"
        return self.kind.describe()

    def state(self) -> dict[str, Any]:
        """Return plain values for a file; `from_state` is the inverse."""
        return {**vars(self), "kind": self.kind.state(), "na": list(self.na)}

    @classmethod
    def from_state(cls, state: Mapping[str, Any]) -> "Input":
        """Return the column from its `state`."""
        gaps_of = state["gaps_of"]
        return cls(
            str(state["name"]),
            from_state(state["kind"]),
            tuple(map(float, state["means"])),
            bool(state["gaps"]),
            None if gaps_of is None else str(gaps_of),
            tuple(map(str, state["na"])),
        )


@dataclass(frozen=True)
class Columns:
    """The encoding of rows of a table as rows of a matrix, inputs in the order of the features."""

    inputs: tuple[Input, ...]

    @property
    def of_table(self) -> tuple[Input, ...]:
        """The columns of the table, without indicators of their empty cells."""
        return tuple(column for column in self.inputs if column.gaps_of is None)

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the columns of the table."""
        return tuple(column.name for column in self.of_table)

    @property
    def labels(self) -> tuple[str, ...]:
        """Names of the inputs: of the columns, and of their indicators."""
        return tuple(column.name for column in self.inputs)

    @property
    def learned_gaps(self) -> frozenset[str]:
        """Columns with empty cells in training, from which it could be learned what to do."""
        return frozenset(column.name for column in self.inputs if column.gaps)

    @property
    def features(self) -> tuple[str, ...]:
        """Names of the features, `color=red` for the level of a category."""
        return tuple(name for column in self.inputs for name in column.features)

    @property
    def n_features(self) -> int:
        """Number of features of all columns."""
        return sum(column.n_features for column in self.inputs)

    @property
    def means(self) -> Float64:
        """Means of the features over the training rows."""
        return np.array([mean for column in self.inputs for mean in column.means])

    def encode(
        self, block: Block, findings: Findings, start: int = 0, out: Float64 | None = None
    ) -> tuple[Float64, Masks]:
        """Return the rows of a block, `(n_rows, n_features)`, NaN for empty cells.

        `start` rows came before the block. They are written to their place in `out`, zeros for all
        rows of the table, if it has so many. The masks are of new levels, by the label of a column.
        """
        n_rows = len(next(iter(block.values()), ()))
        if out is None or len(out) < start + n_rows:
            X = self.zeros(n_rows)
        else:
            X = out[start : start + n_rows]
        first, new = 0, {}
        for column in self.inputs:
            last = first + column.n_features
            mask = column.encode(block[column.source], X[:, first:last], findings, start)
            first = last
            if mask is not None:
                new[column.name] = mask
        return X, new

    def split(self, X: Float64) -> Iterator[tuple[Input, Float64]]:
        """Yield each column, and its part of a matrix."""
        ends = np.cumsum([column.n_features for column in self.inputs]).tolist()
        for column, end in zip(self.inputs, ends, strict=True):
            yield column, X[:, end - column.n_features : end]

    def written(self, marks: Marks) -> "Columns":
        """Return the columns with numbers that are written with these marks, if any."""
        if not marks:
            return self
        return Columns(tuple(column.written(marks) for column in self.inputs))

    def zeros(self, n_rows: int) -> Float64:
        """Return a matrix for the features of some rows."""
        return np.zeros((n_rows, self.n_features))

    def with_means(self, X: Float64) -> "Columns":
        """Return the columns with the means of these rows, ignoring empty cells."""
        return self.holding(means_of(X))

    def holding(self, means: Float64) -> "Columns":
        """Return the columns with these means of all features."""
        left = iter(means.tolist())
        return Columns(
            tuple(
                replace(column, means=tuple(islice(left, column.n_features)))
                for column in self.inputs
            )
        )

    @property
    def are_indicators(self) -> tuple[bool, ...]:
        """For each feature, whether it indicates empty cells."""
        return tuple(c.gaps_of is not None for c in self.inputs for _ in range(c.n_features))

    def with_features(self, kept: NDArray[np.bool_]) -> "Columns":
        """Return the columns of which some feature is kept, which must be all of a column."""
        starts = np.cumsum([0, *(column.n_features for column in self.inputs)])
        return Columns(tuple(c for c, i in zip(self.inputs, starts, strict=False) if kept[i]))

    def state(self) -> list[dict[str, Any]]:
        """Return plain values for a file; `from_state` is the inverse."""
        return [column.state() for column in self.inputs]

    @classmethod
    def from_state(cls, state: Iterable[Mapping[str, Any]]) -> "Columns":
        """Return the columns from their `state`."""
        return cls(tuple(Input.from_state(column) for column in state))


@dataclass(frozen=True, eq=False)
class Encoded:
    """Some rows of a table.

    Attributes
    ----------
    X : ndarray of shape (n_rows, n_features)
        Inputs of the estimator; in rows that are not complete, NaN for empty cells, or zeros.
    full : ndarray of bool, of shape (n_rows,)
        Which rows are complete.
    cells : dict
        Columns by name.
    new : dict of str to ndarray of bool
        Where levels are ones that the training data did not contain, by the column.
    """

    X: Float64
    full: NDArray[np.bool_]
    cells: Block
    new: Masks = field(default_factory=dict)


def read_blocks(
    columns: Columns,
    table: Table,
    findings: Findings,
    *,
    also: Sequence[str] = (),
    target: Input | None = None,
    out: Float64 | None = None,
) -> Iterator[Encoded]:
    """Yield the rows of a table in order, several thousand at a time, NaN for empty cells.

    After the first serious problem, the remaining rows are only inspected; then all problems are
    raised as one error. New levels are warned of at the end.

    Parameters
    ----------
    also : sequence of str
        Columns to include in the blocks as they are written.
    target : Input or None
        A column to include as it is read.
    out : ndarray of shape (n_rows, n_features) or None
        Zeros, into which the rows are written.
    """
    columns = columns.written(table.marks)
    inputs = [*columns.of_table, *([] if target is None else [target])]
    names = list(dict.fromkeys((*(one.name for one in inputs), *also)))
    check_present(table, names, "column")
    numbers = {
        one.name: AsNumbers(one.kind.expression, one.na)
        for one in inputs
        if one.name not in also and not (one is target and one.levels is not None)
    }
    start = 0
    for block in table.blocks(names, numbers):
        X, new = columns.encode(block, findings, start, out)
        start += len(X)
        if not findings.serious:
            yield Encoded(X, np.asarray(~np.isnan(X).any(axis=1)), block, new)
    findings.check()
    findings.warn_of_new()


_Ways = Literal["learn", "drop", "mean"]
Missing = _Ways | None


def check_missing(missing: Any) -> None:
    """Raise an error for other values of `missing` than there are."""
    known = (*get_args(_Ways), None)
    if missing not in known:
        raise ValueError(f"`missing` must be one of {known}, got {missing!r}.")


def is_table(given: Any) -> bool:
    """Whether something is a table, or names one; a matrix is not."""
    known = isinstance(given, str | os.PathLike | Mapping) or is_in_parts(given)
    return known or hasattr(given, "columns") or hasattr(given, "blocks")


def joined(columns: Columns, parts: Iterable[Encoded]) -> Encoded:
    """Return all rows, without their cells."""
    found = [Encoded(columns.zeros(0), np.zeros(0, dtype=np.bool_), {}), *parts]
    sizes = [len(part.X) for part in found]
    new = {
        name: np.concatenate(
            [p.new.get(name, np.zeros(n, np.bool_)) for p, n in zip(found, sizes, strict=True)]
        )
        for name in dict.fromkeys(name for part in found for name in part.new)
    }
    X, full = (np.concatenate([getattr(part, what) for part in found]) for what in ("X", "full"))
    return Encoded(X, full, {}, new)


def blanked(values: NDArray[Any], full: NDArray[np.bool_], blank: Any = np.nan) -> NDArray[Any]:
    """Return values with a blank in the rows that are not complete.

    A blank None makes an array of objects.
    """
    if full.all():
        return values
    found = values.astype(object) if blank is None else values.copy()
    found[~full] = blank
    return found


def filled_means(columns: Columns, missing: Missing) -> Float64 | None:
    """Return the means that replace empty cells; None if none are replaced."""
    means = columns.means
    if missing == "mean" and len(means) != columns.n_features:
        raise TableError(
            "The model does not know the means of its training data, because it was not fitted "
            "on a table: fill in the empty cells."
        )
    return means if missing in ("learn", "mean") and len(means) == columns.n_features else None


def encode_blocks(
    columns: Columns, table: Table, *, missing: Missing = None, also: Sequence[str] = ()
) -> Iterator[Encoded]:
    """Yield the rows of a table in order, several thousand at a time.

    Parameters
    ----------
    missing : {"learn", "drop", "mean"} or None
        How to treat empty cells: as learned, and elsewhere insert the mean of the training data,
        which is warned of; leave the row incomplete; the same as the first without a warning; or
        raise an error.
    also : sequence of str
        Columns to include in the blocks as they are written.
    """
    means = filled_means(columns, missing)
    findings = Findings(table.label, missing, columns.learned_gaps)
    for rows in read_blocks(columns, table, findings, also=also):
        if rows.full.all():
            yield rows
        elif means is not None:
            X = np.where(np.isnan(rows.X), means, rows.X)
            yield replace(rows, X=X, full=np.ones(len(X), dtype=np.bool_))
        else:
            yield replace(rows, X=np.where(rows.full[:, None], rows.X, 0.0))
