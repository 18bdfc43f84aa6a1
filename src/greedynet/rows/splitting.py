"""Splits into training and held-out rows: a single one, or folds."""

from collections.abc import Iterable
from dataclasses import dataclass, replace
from itertools import islice
from numbers import Integral
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.model_selection import (
    KFold,
    RepeatedKFold,
    RepeatedStratifiedKFold,
    check_cv,
    train_test_split,
)

from greedynet.rows.classes import class_numbers
from greedynet.rows.rows import CANONICAL_ROWS, Rows
from greedynet.rows.scaling import canonical_columns
from greedynet.support.checks import named

Split = tuple[Rows, Rows]


@dataclass(frozen=True)
class FoldSettings:
    """Number of stratified folds.

    Attributes
    ----------
    n_folds : int
        Folds per repeat.
    max_repeats : int
        Maximum number of repeats.
    enough, enough_of_others : int
        Folds are used until this many rows have been held out, and this many outside the largest
        class: more would add little.
    """

    n_folds: int = 5
    max_repeats: int = 2
    enough: int = 600
    enough_of_others: int = 200


def hold_out(
    rows: Rows,
    fraction: float,
    seed: int,
    *,
    stratified: bool = False,
    merged_up_to: int = CANONICAL_ROWS,
) -> Split:
    """Return training and held-out rows, drawn from the canonical ones.

    Parameters
    ----------
    rows : Rows
    fraction : float
        Fraction of the rows to hold out.
    seed : int
    stratified : bool
        Whether to preserve the class proportions.
    merged_up_to : int
        See `Rows.canonical`.
    """
    rows = rows.canonical(merged_up_to)
    n_held = int(np.ceil(fraction * len(rows)))
    if len(rows) - n_held < 1:
        raise ValueError(
            f"`validation_fraction`={fraction} leaves no training rows, got "
            f"n_samples={len(rows)}: omit it to choose the width without held-out rows."
        )
    with named("validation_fraction"):
        train, held = train_test_split(
            np.arange(len(rows)),
            test_size=n_held,
            random_state=seed,
            stratify=class_numbers(rows.Y) if stratified else None,
        )
    return _in_own_columns(rows.take(np.sort(train)), rows.take(np.sort(held)))


def folds_of(rows: Rows, cv: Any, seed: int, merged_up_to: int = CANONICAL_ROWS) -> list[Split]:
    """Return training and held-out rows of each fold of `cv`.

    For a number of folds, the canonical rows are split; a splitter or a list of positions refers to
    the rows as given.
    """
    if isinstance(cv, Integral):
        rows, n_folds = rows.canonical(merged_up_to), int(cv)
        if n_folds > len(rows):
            raise ValueError(
                f"`cv` must be at most the number of distinct rows, got cv={n_folds} and "
                f"n_samples={len(rows)}."
            )
        cv = KFold(n_folds, shuffle=True, random_state=seed)
    splits = _taken(rows, cv)
    if not splits:
        raise ValueError(
            "`cv` yielded no folds: pass a number, a splitter, or a list of folds. A generator is "
            "exhausted after one fit: write cv=list(folds)."
        )
    if any(part.n_weighted == 0 for fold in splits for part in fold):
        raise ValueError(
            "`cv` yielded a fold without training or test rows of positive weight: choose other "
            "folds."
        )
    own = [_in_own_columns(train, held) for train, held in splits]
    return [(train.canonical(merged_up_to), held.canonical(merged_up_to)) for train, held in own]


def _in_own_columns(train: Rows, held: Rows) -> Split:
    """Return rows that are sorted by the canonical columns of the training rows."""
    if train.columns is None:
        return train, held
    columns = canonical_columns(train)
    return replace(train, columns=columns), replace(held, columns=columns)


def _taken(rows: Rows, splitter: Any) -> list[Split]:
    y = rows.Y[:, 0] if rows.Y.shape[1] == 1 else rows.Y
    with named("cv"):
        try:
            return [(rows.take(a), rows.take(b)) for a, b in check_cv(splitter).split(rows.X, y)]
        except (IndexError, TypeError) as error:
            raise ValueError(
                "`cv` must yield pairs of training and test positions, both of rows of `X`, got "
                f"something else ({error})."
            ) from None


def repeated_folds(rows: Rows, seed: int, n_splits: int, n_folds: int) -> list[Split]:
    """Return the first `n_folds` of repeated splits of canonical rows into `n_splits` parts."""
    n_splits = min(n_splits, len(rows))
    folds = RepeatedKFold(n_splits=n_splits, n_repeats=-(-n_folds // n_splits), random_state=seed)
    splits = islice(folds.split(rows.X), n_folds)
    return [(rows.take(a).canonical(merged_up_to=0), rows.take(b)) for a, b in splits]


def stratified_folds(rows: Rows, seed: int, settings: FoldSettings) -> list[Split]:
    """Return stratified folds, until enough rows have been held out."""
    labels = class_numbers(rows.Y)
    _, which, counts = np.unique(labels, return_inverse=True, return_counts=True)
    # A class of one row cannot be in both parts: it is always used for training.
    single, many = (np.flatnonzero(rare) for rare in (counts[which] == 1, counts[which] > 1))
    if not len(many):
        return [(rows, rows)]
    n_folds = max(2, min(settings.n_folds, int(counts[counts > 1].min())))
    splitter = RepeatedStratifiedKFold(
        n_splits=n_folds, n_repeats=settings.max_repeats, random_state=seed
    )
    enough = max(settings.enough / len(many), settings.enough_of_others / n_of_others(rows))
    splits: Iterable[tuple[NDArray[np.intp], NDArray[np.intp]]] = islice(
        splitter.split(many, labels[many]), int(np.ceil(enough * n_folds))
    )
    return [
        (rows.take(np.sort(np.r_[single, many[train]])), rows.take(many[held]))
        for train, held in splits
    ]


def n_of_others(rows: Rows) -> int:
    """Return the number of rows outside the largest class; at least 1."""
    return max(1, len(rows) - int(np.unique(class_numbers(rows.Y), return_counts=True)[1].max()))
