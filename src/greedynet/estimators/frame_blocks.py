"""Blocks of data frames as inputs of the estimators: columns of categories, as in one frame.

The levels are those of all blocks, which takes one pass more if there are some.
"""

import os
from collections.abc import Iterable, Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from greedynet.estimators.frames import (
    Levels,
    as_features,
    booleans_of,
    categories_of,
    cell_texts,
    check_levels,
    is_frame,
    naming_columns,
)
from greedynet.rows.blocks import Source, gives_blocks


def with_encoded_frames(X: Any, y: Any) -> Any:
    """Return blocks as `EncodedBlocks`, if they can be read repeatedly; all else unchanged."""
    if isinstance(X, str | os.PathLike | Source | np.ndarray) or not gives_blocks(X, y):
        return X
    return X if iter(X) is X else EncodedBlocks(X)


class EncodedBlocks:
    """Blocks with features instead of categories, which can be read repeatedly.

    Parameters
    ----------
    blocks : iterable
        Yields `(X, y)` or `(X, y, sample_weight)`, of which `X` may be a data frame.

    Attributes
    ----------
    levels : dict of str to ndarray, or None
        Levels of the columns of categories by name; None before the first block is read.
    booleans : ndarray of bool, or None
        Which features of the last block that was read are true and false.
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
            self.levels = levels_of_blocks(self._blocks, list(map(str, categories_of(frame))))
        others = [str(name) for name in categories_of(frame) if str(name) not in self.levels]
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


def _frame(block: Any) -> Any:
    """Return the data frame of a block; None if it has none, or is no block, as is said later."""
    is_block = isinstance(block, tuple | list) and len(block) > 0
    return block[0] if is_block and is_frame(block[0]) else None


def levels_of_blocks(blocks: Iterable[Any], names: list[str]) -> Levels:
    """Return the levels of some columns in all blocks.

    Parameters
    ----------
    blocks : iterable
        Yields data frames first.
    names : list of str
        The columns of categories.
    """
    found: dict[str, set[str]] = {name: set() for name in names}
    n_rows = 0
    for frame in map(_frame, blocks) if names else ():
        n_rows += 0 if frame is None else len(frame)
        for name in names:
            if frame is not None and name in frame.columns:
                texts, empty = cell_texts(frame[name])
                found[name].update(np.unique(texts[~empty]).tolist())
                check_levels(found[name], name)
    for name, levels in found.items():
        check_levels(levels, name, n_rows)
    return {name: np.array(sorted(levels)) for name, levels in found.items()}
