"""Data frames as inputs of the estimators: columns of categories, and errors that name columns.

A column of the type `category` of pandas, or `Categorical` or `Enum` of polars, becomes one feature
for each of its levels in the training rows, `color=blue`, `color=red`, as in tables; one of many
levels, the mean of the target and the number of rows, see `rows.level_means`. A new level is
predicted like the average, which is counted in a warning. Booleans are numbers, 0 and 1. Text is
refused: whether it is a category, a date or a name is not said.
"""

import os
import warnings
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from greedynet.rows.blocks import Source, gives_blocks
from greedynet.rows.level_means import (
    REPEATED,
    class_targets,
    code_names,
    coding_folds,
    has_unit_rows,
    level_features,
)
from greedynet.rows.rows import most_levels
from greedynet.support.errors import TableWarning
from greedynet.support.types import Float64

# Of the names of types in pandas and polars.
_CATEGORIES = ("category", "Categorical", "Enum")


@dataclass(frozen=True, eq=False)
class LevelTable:
    """The levels of a column as text, sorted, and the features of each, at the end of new ones."""

    levels: NDArray[Any]
    features: Float64

    @staticmethod
    def units(counts: Mapping[str, int]) -> "LevelTable":
        """Return a feature for each level, of which new ones have the average."""
        levels = sorted(counts)
        n = np.array([counts[level] for level in levels], dtype=np.float64)
        return LevelTable(np.array(levels), np.vstack([np.eye(len(n)), n / n.sum()]))

    @property
    def are_units(self) -> bool:
        """Whether each level has a feature of its own."""
        n = len(self.levels)
        return self.features.shape[1] == n and np.array_equal(self.features[:-1], np.eye(n))

    def names(self, column: str) -> list[str]:
        """Return the names of the features."""
        if self.are_units:
            return [f"{column}={level}" for level in self.levels]
        n_targets = self.features.shape[1] - 1
        return code_names(column, n_targets)

    def places(self, cells: Any) -> tuple[NDArray[np.intp], NDArray[np.bool_]]:
        """Return the place of each cell, that of new levels also for empty ones, which they are."""
        texts, empty = cell_texts(cells)
        at = np.minimum(np.searchsorted(self.levels, texts), len(self.levels) - 1)
        return np.where((self.levels[at] == texts) & ~empty, at, len(self.levels)), empty

    def new(self, cells: Any) -> NDArray[np.bool_]:
        """Return which cells have levels that are new."""
        at, empty = self.places(cells)
        return (at == len(self.levels)) & ~empty


# By the name of the column.
Levels = dict[str, LevelTable]


def levels_of_frame(
    X: Any, y: Any, weights: Any, groups: Any, *, classes: bool, units: bool, seed: Any
) -> tuple[Levels, dict[str, Float64]]:
    """Return the columns of categories of a data frame, and features of its rows if they differ.

    Columns of many levels have means of the target; where `units` are asked for, features for each
    level if there are enough rows.
    """
    levels, own = {}, {}
    columns, n_rows = _counted([X], categories_of(X))
    for name, counts in columns.items():
        found, n = LevelTable.units(counts), len(counts)
        if n > most_levels(n_rows) and not (units and has_unit_rows(n, n_rows)):
            repeated = sum(count for count in counts.values() if count > 1)
            if repeated < REPEATED * sum(counts.values()):
                raise ValueError(
                    f"`X` has {n:,} categories in the column {name!r} of {n_rows:,} rows, "
                    "most of them once: leave it out, or merge rare ones."
                )
            at, empty = found.places(_cells(X, name))
            # Levels that come once are like new ones.
            once = np.array([counts[level] == 1 for level in found.levels.tolist()])
            place = np.append(np.where(once, n, np.arange(n)), n)
            folds = coding_folds(n_rows, seed, groups)
            targets, w = _targets(y, n_rows, classes=classes), _weights(weights, n_rows)
            features, rows = level_features(place[at], targets, n + 1, folds, w)
            rows[empty] = np.nan
            found = LevelTable(found.levels, features[place])
            own[name] = rows
        levels[name] = found
    return levels, own


def _targets(y: Any, n_rows: int, *, classes: bool) -> Float64:
    """Return targets of rows in columns; zeros for those that are refused later."""
    labels = np.asarray(y)
    if labels.shape[:1] == (n_rows,):
        if classes:
            return class_targets(labels.astype(str))
        with suppress(TypeError, ValueError):
            return np.nan_to_num(labels.astype(np.float64).reshape(n_rows, -1))
    return np.zeros((n_rows, 1))


def _weights(given: Any, n_rows: int) -> Float64 | None:
    """Return the weights of rows; None for those that are refused later."""
    with suppress(TypeError, ValueError):
        weights = np.asarray(given, dtype=np.float64)
        if weights.shape == (n_rows,) and weights.sum() > 0:
            return weights
    return None


def encode_categories(estimator: Any, X: Any, argument: str = "X") -> Any:
    """Return inputs with features instead of the categories of the fit, if there were some."""
    known = known_levels(estimator)
    if not known:
        return X
    names = estimator.feature_names_in_.tolist()
    if not is_frame(X):
        raise ValueError(
            f"`{argument}` must be a data frame for a model with categories in the column "
            f"{next(iter(known))!r}, got {type(X).__name__}: write pandas.DataFrame({argument}, "
            "columns=model.feature_names_in_)."
        )
    columns = list(map(str, X.columns))
    missing = [name for name in names if name not in columns]
    if missing:
        raise ValueError(
            f"`{argument}` must have the column {missing[0]!r}, as in the fit, got {columns}."
        )
    if columns != names:
        raise ValueError(
            f"`{argument}` must have the columns of the fit in the same order, {names}, got "
            f"{columns}: write {argument}[model.feature_names_in_]."
        )
    features = as_features(X, known, argument)
    _warn_of_new_levels(X, known, argument)
    return features


def new_levels(estimator: Any, X: Any) -> NDArray[np.bool_] | None:
    """Return which features of a data frame are those of new levels; None without any."""
    known = known_levels(estimator)
    if not known or not is_frame(X):
        return None
    masks = [np.zeros(len(X), np.bool_)[:, None]]
    for name in map(str, X.columns):
        table = known.get(name)
        new = masks[0] if table is None else table.new(_cells(X, name))[:, None]
        masks.append(np.repeat(new, 1 if table is None else table.features.shape[1], axis=1))
    return np.hstack(masks[1:])


def _warn_of_new_levels(X: Any, levels: Levels, argument: str) -> None:
    """Say once which columns have levels that the training data did not contain."""
    said = []
    for name, table in levels.items():
        cells = _cells(X, name)
        new = table.new(cells)
        if new.any():
            example = str(cell_texts(cells)[0][np.argmax(new)])
            said.append(f"{int(new.sum()):,} in the column {name!r}, such as {example!r}")
    if said:
        warnings.warn(
            f"`{argument}` has categories that the training data did not contain, which are "
            f"predicted like the average: {'; '.join(said)}.",
            TableWarning,
            stacklevel=4,
        )


def feature_names(estimator: Any) -> tuple[str, ...] | None:
    """Return the names of the features, one for each level of a category; None without names."""
    names, levels = getattr(estimator, "feature_names_in_", None), known_levels(estimator)
    if names is None:
        return None
    return tuple(feature for name in names for feature in features_of(name, levels))


def features_of(name: str, levels: Levels) -> list[str]:
    return levels[name].names(name) if name in levels else [name]


def store_columns_as_given(estimator: Any) -> None:
    """Store names and number of the columns of `X` in place of those of the features."""
    levels = known_levels(estimator)
    if levels:
        column_of = {feature: name for name in levels for feature in features_of(name, levels)}
        names = dict.fromkeys(column_of.get(f, f) for f in estimator.feature_names_in_)
        estimator.feature_names_in_ = np.array(list(names), dtype=object)
        estimator.n_features_in_ = len(names)


def known_levels(estimator: Any) -> Levels:
    """Return the columns of categories in the fit."""
    features = getattr(estimator, "level_features_", {})
    return {
        name: LevelTable(levels, features[name])
        for name, levels in getattr(estimator, "categories_", {}).items()
    }


@contextmanager
def naming_columns(X: Any) -> Iterator[None]:
    """Add the first column that is not made of numbers to errors raised within."""
    try:
        yield
    except (TypeError, ValueError) as error:
        found = _culprit(X)
        if found is None:
            raise
        name, example = found
        kind = ValueError if isinstance(error, ValueError) else TypeError
        if not isinstance(example, str | np.datetime64 | np.timedelta64):
            what = "empty cell" if example is None else "of them"
            raise kind(f"{error} The first {what} is in the column {name!r}.") from error
        what, advice = _what_it_is(name, example)
        raise kind(
            f"`X` must hold numbers, got {what} such as {str(example)!r} in the column {name!r}. "
            f"{advice}"
        ) from error


def is_frame(X: Any) -> bool:
    """Whether something is a data frame of pandas or polars, or like one."""
    return hasattr(X, "columns") and hasattr(X, "dtypes")


def categories_of(X: Any) -> list[str]:
    """Return the columns of categories, of which there are none in an array."""
    if not is_frame(X):
        return []
    kinds = ((name, str(getattr(X[name], "dtype", ""))) for name in X.columns)
    return [str(name) for name, kind in kinds if kind.startswith(_CATEGORIES)]


def _cells(X: Any, name: str) -> Any:
    """Return a column of a frame, whose names may be no texts."""
    return X[next(column for column in X.columns if str(column) == name)]


def booleans_of(X: Any) -> NDArray[np.bool_] | None:
    """Return which columns are true and false, empty cells aside; None for no frame or array."""
    if is_frame(X):
        return np.array([_is_boolean(np.asarray(X[name])) for name in X.columns], dtype=np.bool_)
    if isinstance(X, np.ndarray) and X.ndim == 2:
        return np.full(X.shape[1], X.dtype.kind == "b")
    return None


def _is_boolean(cells: NDArray[Any]) -> bool:
    if cells.dtype.kind == "O":
        texts, empty = cell_texts(cells)
        return not empty.all() and bool(np.isin(texts[~empty], ["False", "True"]).all())
    return cells.dtype.kind == "b"


def _counted(frames: Iterable[Any], names: list[str]) -> tuple[dict[str, Counter[str]], int]:
    """Return the levels of columns as text, and how often each comes; and the number of rows."""
    found: dict[str, Counter[str]] = {name: Counter() for name in names}
    n_rows = 0
    for frame in frames if names else ():
        n_rows += len(frame)
        for name in set(names).intersection(map(str, frame.columns)):
            texts, empty = cell_texts(_cells(frame, name))
            found[name].update(texts[~empty].tolist())
    for name, counts in found.items():
        if not counts:
            raise ValueError(f"`X` has nothing but empty cells in the column {name!r}.")
    return found, n_rows


def cell_texts(column: Any) -> tuple[NDArray[Any], NDArray[np.bool_]]:
    """Return the cells of a column as text, and which are empty."""
    values = np.asarray(column).tolist()
    # NaN is not equal to itself, and pandas.NA is neither.
    empty = np.array([v is None or str(v) in ("nan", "<NA>", "NaT") for v in values], dtype=bool)
    texts = np.array(["" if gap else str(v) for v, gap in zip(values, empty, strict=True)])
    return texts.astype(str), empty


def as_features(
    X: Any, levels: Levels, argument: str, own: Mapping[str, Float64] | None = None
) -> Any:
    """Return a data frame of the same library, with features in the place of categories.

    `own` are features of the rows themselves, by column, for those of their levels.
    """
    columns: dict[str, Any] = {}
    for name in map(str, X.columns):
        new = {name: _cells(X, name)}
        if name in levels:
            values = (own or {}).get(name)
            if values is None:
                at, empty = levels[name].places(new[name])
                values = levels[name].features[at]
                values[empty] = np.nan
            new = dict(zip(levels[name].names(name), values.T, strict=True))
        for feature in new.keys() & columns.keys():
            raise ValueError(
                f"`{argument}` must have one column {feature!r}, also among the levels of "
                "categories, got two: rename one of them."
            )
        columns |= new
    return type(X)(columns)


def _culprit(X: Any) -> tuple[Any, Any] | None:
    """Return the first column that does not hold numbers, and an example; None for an empty one."""
    columns: Iterator[tuple[Any, NDArray[Any]]]
    if isinstance(X, np.ndarray) and X.dtype == object and X.ndim == 2:
        columns = ((j, X[:, j]) for j in range(X.shape[1]))
    elif is_frame(X):
        columns = ((str(name), np.asarray(X[name])) for name in X.columns)
    else:
        return None
    for name, cells in columns:
        found = _not_a_number(cells)
        if found is not None:
            return name, None if found == "" else found
    return None


def _not_a_number(cells: NDArray[Any]) -> Any:
    """Return the first cell that is no number, "" for an empty one, or None if there is none."""
    if cells.ndim != 1 or not len(cells) or cells.dtype.kind in "biu":
        return None
    if cells.dtype.kind == "f":
        return "" if np.isnan(cells).any() else None
    if cells.dtype.kind in "Mm":
        return cells[0]
    for cell in cells.tolist():
        try:
            if not np.isfinite(float(cell)):
                return ""
        except (TypeError, ValueError):
            return "" if cell is None or str(cell) in ("<NA>", "NaT") else cell
    return None


def _what_it_is(name: Any, example: Any) -> tuple[str, str]:
    """Return what a column holds by one of its cells, and what to do about it."""
    if not isinstance(example, str):
        return "dates or times", (
            "Subtract a date and divide by np.timedelta64(1, 'D'), for example, or use "
            "greedynet.fit_table(frame, target)."
        )
    if not isinstance(name, str):
        return "text", "Use OneHotEncoder in a pipeline, or greedynet.fit_table with a data frame."
    return "text", (
        "Text is understood by greedynet.fit_table(frame, target); or declare categories by "
        f"frame.astype({{{name!r}: 'category'}}), or use OneHotEncoder in a pipeline."
    )


def with_encoded_frames(X: Any, y: Any) -> Any:
    """Return blocks as `EncodedBlocks`, if they can be read repeatedly; all else unchanged."""
    if isinstance(X, str | os.PathLike | Source | np.ndarray) or not gives_blocks(X, y):
        return X
    return X if iter(X) is X else EncodedBlocks(X)


class EncodedBlocks:
    """Blocks with features instead of categories, which can be read repeatedly.

    The `levels`, by the names of the columns, are known once the first block is read; `booleans`
    says which features of the last block are true and false.
    """

    def __init__(self, blocks: Iterable[Any]) -> None:
        self._blocks = blocks
        self.levels: Levels | None = None
        self.booleans: NDArray[np.bool_] | None = None

    def __iter__(self) -> Iterator[Any]:
        for number, block in enumerate(self._blocks):
            frame = _frame(block)
            yield block if frame is None else (self._encoded(frame, number), *block[1:])

    def _encoded(self, frame: Any, number: int) -> Any:
        if self.levels is None:
            self.levels = self._levels(categories_of(frame))
        others = [name for name in categories_of(frame) if name not in self.levels]
        if others:
            raise ValueError(
                "`X` must hold categories in the same columns of every block, got some in the "
                f"column {others[0]!r} of block {number}, and none in that of the first: declare "
                "them in every block, or in none."
            )
        # If one is missing, the names are not those of the first block, which is said elsewhere.
        if self.levels and set(self.levels) <= set(map(str, frame.columns)):
            frame = as_features(frame, self.levels, "X")
        if any(np.asarray(frame[name][:0]).dtype.kind not in "biuf" for name in frame.columns):
            with naming_columns(frame):
                np.asarray(frame, dtype=np.float64)
        self.booleans = booleans_of(frame)
        return frame

    def _levels(self, names: list[str]) -> Levels:
        """Return the levels of the named columns in all blocks."""
        frames = (frame for block in self._blocks if (frame := _frame(block)) is not None)
        found, n_rows = _counted(frames, names)
        for name, counts in found.items():
            if len(counts) > most_levels(n_rows):
                raise ValueError(
                    f"`X` must have at most {most_levels(n_rows)} categories in each column of "
                    f"{n_rows:,} rows in blocks, got {len(counts):,} in the column {name!r}: "
                    "leave it out, or merge rare ones."
                )
        return {name: LevelTable.units(counts) for name, counts in found.items()}


def _frame(block: Any) -> Any:
    """Return the data frame of a block, None without one; errors are raised later."""
    is_block = isinstance(block, tuple | list) and len(block) > 0
    return block[0] if is_block and is_frame(block[0]) else None
