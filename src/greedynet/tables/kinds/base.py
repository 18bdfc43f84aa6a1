"""What a kind of column is: a test, an expression and a few lines."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from greedynet.support.duck import evaluate, literals
from greedynet.support.types import Float64
from greedynet.tables.readers.base import Column, distinct_texts, looked_up

Mask = NDArray[np.bool_]
# Problems of cells by name, "empty", "text", "infinite" or "unknown", each with a mask of its rows.
Problems = dict[str, Mask]

# Words behind a number that make a duration of it.
DURATIONS = "days?|h|hrs?|hours?|mins?|minutes?|secs?|seconds?"


@dataclass(frozen=True, eq=False)
class EffectPart:
    """Features of a column that vary together in a picture of their effect.

    Attributes
    ----------
    at : tuple of int
        Places of the features among those of the column.
    values : ndarray of shape (n_values, len(at)) or None
        Settings of the features; None for a single one that takes values as in the data.
    labels : sequence of str or of float, or None
        What each setting is called, or its place on an axis.
    """

    name: str
    at: tuple[int, ...]
    values: Float64 | None = None
    labels: Sequence[Any] | None = None


@dataclass(frozen=True)
class Wording:
    """What error messages call a column, and what they advise.

    Attributes
    ----------
    what : str
        The column, at the beginning: "data.csv: column 'x'".
    as_text : str
        How to treat its cells as text.
    remedy : str
        What to do about single cells that cannot be read.
    """

    what: str
    as_text: str
    remedy: str


@dataclass(frozen=True)
class Spelling:
    """The cells of a column that are written in one way.

    Attributes
    ----------
    how : Any
        The `form` of their readings.
    n : int
        Number of the cells.
    text, row : str, int
        The first of them, and its row, from 1.
    measures : dict of str to Any
        The `measures` of the kind over the cells.
    """

    how: Any
    n: int
    text: str
    row: int
    measures: Mapping[str, Any]


@dataclass(frozen=True)
class Reading:
    """What a kind can read of the texts of a column: their forms, and the first other text."""

    forms: tuple[Spelling, ...] = ()
    other: tuple[str, int] | None = None

    @property
    def n(self) -> int:
        """Number of cells that can be read."""
        return sum(form.n for form in self.forms)


@dataclass(frozen=True)
class Promises:
    """What the user has said of the cells: marks of numbers, and the order of day and month."""

    decimal: str | None = None
    thousands: str | None = None
    dates: str | None = None


@dataclass(frozen=True)
class Kind:
    """What a column holds; equal to another with the same fields, which a model file stores.

    A subclass says how a text is read, and what is made of it. The fields are texts, truths,
    numbers, or tuples of these.
    """

    # Its name in model files, and what its cells are called in errors.
    name: ClassVar[str] = ""
    nouns: ClassVar[str] = "numbers"
    # The type of NumPy of its values: "f" for numbers, "M" for moments, "m" for spans of time.
    typed: ClassVar[str] = "f"
    # Aggregates in SQL over the readings `p` of the cells of each form.
    measures: ClassVar[Mapping[str, str]] = {}

    # The decision

    def test(self, cell: str) -> str:
        """Return the SQL of whether a text may be of this kind, which takes little time."""
        return f"({self.expression(cell)}) is not null"

    def reading(self, cell: str) -> str:
        """Return the SQL of a struct of a text, null where it is none of this kind.

        Its `form` tells ways to write apart; cells of one form are counted together.
        """
        return f"case when {self.test(cell)} then {{'form': true}} end"

    def is_likely(self, found: Reading) -> bool:
        """Return whether cells that can be read are likely to be of this kind."""
        return True

    def decide(self, found: Reading, words: Wording, said: Promises) -> tuple["Kind", str]:
        """Return the kind of a column, and what was assumed, if anything.

        Raise an error if its cells could be meant in several ways.
        """
        return self, f"{found.forms[0].text!r} is read as {self.describe()}"

    # Cells

    @property
    def wanted(self) -> str:
        """What the cells must be, in errors."""
        return self.nouns

    def expression(self, cell: str) -> str:
        """Return the SQL of the value of a text, null where it has none."""
        raise NotImplementedError

    def features(self, name: str) -> tuple[str, ...]:
        """Return the names of the features of a column with this name."""
        return (name,)

    @property
    def n_features(self) -> int:
        """Number of features."""
        return len(self.features(""))

    @property
    def levels(self) -> tuple[str, ...] | None:
        """The categories, None for all other kinds."""
        return None

    def encode(self, cells: Column, out: Float64) -> Problems:
        """Write the features to `out`, of shape (n_rows, n_features); return the problems.

        Empty cells become NaN in all features, and so may cells with other problems.
        """
        values, text = self.values(cells)
        self.write(values, out)
        none = np.isnan(values)
        if not none.any():
            return {}
        out[none] = np.nan
        return {"empty": none & ~text, "text": text}

    def values(self, cells: Column) -> tuple[NDArray[Any], Mask]:
        """Return the values of cells, NaN or NaT where there is none, and which are other texts."""
        if cells.dtype.kind == self.typed:
            return cells, np.zeros(len(cells), dtype=np.bool_)
        texts, codes = distinct_texts(cells)
        found = evaluate(self.expression, texts, self.typed)
        other = np.array([text != "" for text in texts], dtype=np.bool_) & np.isnan(found)
        return found[codes], other[codes]

    def value(self, text: str) -> Any:
        """Return the value of a text, None if it has none."""
        (found,) = evaluate(self.expression, [text.strip()], self.typed)
        return None if np.isnan(found) else found

    def write(self, values: NDArray[Any], out: Float64) -> None:
        """Write the features of values."""
        out[:, 0] = values

    def parts(self, name: str) -> tuple[EffectPart, ...]:
        """Return what to draw the effects of."""
        return tuple(EffectPart(feature, (i,)) for i, feature in enumerate(self.features(name)))

    def describe(self) -> str:
        """Return what the column holds, in words: "a number"."""
        raise NotImplementedError

    def example(self, means: Sequence[float]) -> Any:
        """Return a cell, given the means of the features: a number or a text."""
        return float(f"{means[0]:.4g}") if means else 0.0

    # Files

    def state(self) -> dict[str, Any]:
        """Return plain values for a file, with the `type`; `kinds.from_state` is the inverse."""
        plain = {field.name: getattr(self, field.name) for field in fields(self)}
        lists = {name: _listed(v) if isinstance(v, tuple) else v for name, v in plain.items()}
        return {"type": self.name, **lists}

    @classmethod
    def from_state(cls, state: Mapping[str, Any]) -> Self:
        """Return the kind from plain values, or raise an error for what cannot be."""
        names = {field.name for field in fields(cls)}
        if set(state) != names:
            raise ValueError(f"a column of {cls.nouns} has {sorted(names)}, got {sorted(state)}.")
        found = cls(**{n: _tupled(v) if isinstance(v, list) else v for n, v in state.items()})
        found.check()
        return found

    def check(self) -> None:
        """Raise an error for fields from a file that cannot be."""


def _listed(values: Sequence[Any]) -> list[Any]:
    return [_listed(value) if isinstance(value, tuple) else value for value in values]


def _tupled(values: Sequence[Any]) -> tuple[Any, ...]:
    return tuple(_tupled(value) if isinstance(value, list) else value for value in values)


def let(steps: Mapping[str, str], body: str) -> str:
    """Return the SQL of an expression in which names stand for values, each in terms of earlier."""
    for name in reversed(list(steps)):
        body = f"list_transform([{steps[name]}], lambda {name}: {body})[1]"
    return body


def pair(places: Float64) -> Float64:
    """Return sine and cosine of positions in a cycle, `(n, 2)`."""
    angles = 2.0 * np.pi * places
    return np.column_stack([np.sin(angles), np.cos(angles)])


def places(
    cells: Column, levels: Sequence[str], rare: Sequence[str]
) -> tuple[NDArray[np.intp], Mask]:
    """Return the place of each cell among the levels, behind them for rare and new ones.

    -1 for empty cells; and which are new.
    """
    n = len(levels)
    if cells.dtype.kind == "i":  # by `place_sql`
        return np.minimum(cells, n), np.zeros(len(cells), dtype=np.bool_)
    place = {level: i for i, level in enumerate(levels)} | {"": -1} | dict.fromkeys(rare, n)
    at = looked_up(cells, lambda text: place.get(text, n + 1))
    return np.minimum(at, n), at > n


def place_sql(cell: str, levels: Sequence[str]) -> str:
    """Return the SQL of the place of a text among levels, null for others."""
    return f"enum_code(try_cast({cell} as enum({literals(levels)})))"


def require(is_right: bool, what: str, got: Any) -> None:
    """Raise an error for a field of a file that cannot be."""
    if not is_right:
        raise ValueError(f"{what}, got {got!r:.80}.")


def check_levels(levels: Any, rare: Any) -> None:
    """Raise an error unless levels from a file are different texts."""
    are_lists = isinstance(levels, tuple) and isinstance(rare, tuple) and len(levels) > 0
    are_texts = are_lists and all(isinstance(level, str) for level in (*levels, *rare))
    is_right = are_texts and len({*levels, *rare}) == len(levels) + len(rare)
    require(is_right, "`levels` must be different texts", levels)
