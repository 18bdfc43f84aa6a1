"""Levels of a category -> the mean of the target among the rows of each, and their number."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.model_selection import GroupKFold, KFold

from greedynet.support.types import Float64

Positions = NDArray[np.intp]
Folds = Sequence[tuple[Positions, Positions]]


def level_means(at: Positions, Y: Float64, n: int, weights: Float64 | None = None) -> Float64:
    """Return `l_k m_k + (1 - l_k) m` for each of `n` levels and each target, `(n, n_targets)`.

    `m_k` is the mean of the `n_k` rows of a level and `m` that of all, and the share
    `l_k = n_k v / (n_k v + v_k)` is that of empirical Bayes for the variances `v_k` within the
    level and `v` of all: scikit-learn's `TargetEncoder`, here with weights of rows.

    Parameters
    ----------
    at : ndarray of shape (n_rows,)
        The place of each row's level.
    """
    w = np.ones(len(at)) if weights is None else weights
    counts = np.bincount(at, w, n)
    found = np.empty((n, Y.shape[1]))
    for j, y in enumerate(Y.T):
        mean = np.average(y, weights=w)
        means = np.bincount(at, w * y, n) / np.where(counts > 0, counts, 1.0)
        within = np.bincount(at, w * (y - means[at]) ** 2, n) / np.where(counts > 0, counts, 1.0)
        size = counts * np.average((y - mean) ** 2, weights=w)
        share = size / np.where(size + within > 0, size + within, 1.0)
        found[:, j] = share * means + (1.0 - share) * mean
    return found


def level_features(
    at: Positions, Y: Float64, n: int, folds: Folds, weights: Float64 | None = None
) -> tuple[Float64, Float64]:
    """Return the features of each level for new rows, and those of the rows themselves.

    They are the means of the targets, and the logarithm of one plus the number of rows. The means
    of a row that a fold holds out are those of the other rows of the fold, so that they do not
    contain its own target, or that of its group. The last level stands for all that are new.
    """
    counts = np.bincount(at, weights, n).astype(np.float64)
    counts[-1] = 0.0
    values = np.column_stack([level_means(at, Y, n, weights), np.log1p(counts)])
    own = values[at]
    for others, held in folds:
        w = None if weights is None else weights[others]
        if w is None or w.any():
            own[held, :-1] = level_means(at[others], Y[others], n, w)[at[held]]
    return values, own


# Share of rows whose level comes more than once, below which a column holds no categories.
REPEATED = 0.5
# Of categories that are tried with a feature for each level, too.
_MOST_UNITS, _FEWEST_ROWS = 200, 5
_N_FOLDS = 5


def has_unit_rows(n_levels: int, n_rows: int) -> bool:
    """Whether many levels are few enough, and their rows many, to be tried as one feature each."""
    return n_levels <= _MOST_UNITS and n_levels * _FEWEST_ROWS <= n_rows


def coding_folds(n_rows: int, seed: Any, groups: Any = None, later: Folds = ()) -> Folds:
    """Return folds by which means of the target for a row come from others.

    They keep groups together; `later` are those that go forward in time, before which some rows
    only train.
    """
    if groups is not None and (n_groups := len(np.unique(groups))) > 1:
        grouped = GroupKFold(min(_N_FOLDS, n_groups))
        return list(grouped.split(np.zeros(n_rows), groups=groups))
    first = later[0][0] if later else np.arange(n_rows)
    folds = KFold(min(_N_FOLDS, len(first)), shuffle=True, random_state=seed).split(first)
    return [*((first[others], first[held]) for others, held in folds), *later]


def class_targets(labels: NDArray[Any]) -> Float64:
    """Return which rows have each class, the last one of two, in columns."""
    classes = np.unique(labels)
    classes = classes if len(classes) > 2 else classes[-1:]
    return (labels[:, None] == classes).astype(np.float64)


def code_names(column: str, n_targets: int) -> list[str]:
    """Return names for the means of the targets, and for the number of rows."""
    numbers = [""] if n_targets == 1 else [f" {j}" for j in range(n_targets)]
    return [*(f"{column}: mean{number}" for number in numbers), f"{column}: rows"]
