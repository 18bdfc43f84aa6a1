"""Blocks of data frames as inputs of the estimators: columns of categories, as in one frame.

The levels are those of all blocks, which takes one pass more.
"""

import os
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from greedynet.estimators.frames import (
    Levels,
    as_features,
    categories_of,
    cell_texts,
    check_levels,
    is_frame,
    naming_columns,
)
from greedynet.rows.blocks import Source, gives_blocks


def yields_frames(X: Any, y: Any) -> bool:
    """Whether inputs are blocks `(X, y)`, which can be read repeatedly, and begin with a frame."""
    if isinstance(X, str | os.PathLike | Source | np.ndarray) or not gives_blocks(X, y):
        return False
    return iter(X) is not X and is_frame(next(_inputs(X), None))


def levels_of_blocks(X: Iterable[Any]) -> Levels:
    """Return the levels of the columns of categories in all blocks, by name."""
    found: dict[str, set[str]] = {name: set() for name in categories_of(next(_inputs(X)))}
    n_rows = 0
    for frame in _inputs(X) if found else ():
        n_rows += len(frame)
        for name, levels in found.items():
            if is_frame(frame) and name in frame.columns:
                texts, empty = cell_texts(frame[name])
                levels.update(np.unique(texts[~empty]).tolist())
                check_levels(levels, name)
    for name, levels in found.items():
        check_levels(levels, name, n_rows)
    return {name: np.array(sorted(levels)) for name, levels in found.items()}


@dataclass(frozen=True, eq=False)
class EncodedBlocks:
    """Blocks with features instead of categories, which can be read repeatedly.

    Attributes
    ----------
    blocks : iterable
        Yields `(X, y)` or `(X, y, sample_weight)`, data frames first.
    levels : dict of str to ndarray
        Levels of the columns of categories; other columns must not hold categories.
    """

    blocks: Iterable[Any]
    levels: Levels

    def __iter__(self) -> Iterator[Any]:
        for number, block in enumerate(self.blocks):
            is_known = isinstance(block, tuple | list) and len(block) and is_frame(block[0])
            yield (self._encoded(block[0], number), *block[1:]) if is_known else block

    def _encoded(self, frame: Any, number: int) -> Any:
        others = [name for name in categories_of(frame) if name not in self.levels]
        if others:
            raise ValueError(
                f"`X` must hold categories in the same columns of every block, got some in the "
                f"column {others[0]!r} of block {number}, and none in that of the first: declare "
                "them in every block, or in none."
            )
        # Other errors, for missing columns, are those of blocks without categories.
        if set(self.levels) <= set(map(str, frame.columns)):
            frame = as_features(frame, self.levels, "X")
        if any(np.asarray(frame[name][:0]).dtype.kind not in "biuf" for name in frame.columns):
            with naming_columns(frame):
                np.asarray(frame, dtype=np.float64)
        return frame


def _inputs(X: Iterable[Any]) -> Iterator[Any]:
    """Yield the inputs of blocks; what is no block is refused where it is read."""
    return (block[0] for block in X if isinstance(block, tuple | list) and len(block))
