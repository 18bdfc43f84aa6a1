"""Splits into training and held-out rows: a single one, or folds."""

import warnings
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from itertools import islice
from numbers import Integral
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.model_selection import (
    GroupKFold,
    KFold,
    RepeatedKFold,
    RepeatedStratifiedKFold,
    StratifiedGroupKFold,
    StratifiedKFold,
    check_cv,
)

from greedynet.rows.rows import CANONICAL_ROWS, Rows, class_numbers
from greedynet.rows.scaling import canonical_columns
from greedynet.support.checks import named

Split = tuple[Rows, Rows]
# Where groups are given without a number of folds.
N_FOLDS = 5


@dataclass(frozen=True)
class FoldSettings:
    """Number of stratified folds."""

    n_folds: int = 5  # folds per repeat
    max_repeats: int = 2  # maximum number of repeats
    # Folds are used until this many rows have been held out, and this many outside the largest
    # class: more would add little.
    enough: int = 600
    enough_of_others: int = 200
    # At most so many distinct rows, of which each stands for at least so many copies on average,
    # are a table of categories; the rarest has fewer than `most_copies`.
    few_distinct: int = 250
    least_copies: float = 4.0
    most_copies: int = 2_000


def folds_of(
    rows: Rows,
    cv: Any,
    seed: int,
    merged_up_to: int = CANONICAL_ROWS,
    *,
    stratified: bool = False,
) -> list[Split]:
    """Return training and held-out rows of each fold of `cv`.

    For a number of folds, the canonical rows are split, and groups stay together; a splitter or a
    list of positions refers to the rows as given.

    Where every fold holds out rows that come after all those it trains on, the held-out rows of a
    fold are a group of their own: rows that follow each other have errors that are alike.
    """
    if cv is None or isinstance(cv, Integral):
        rows = rows.canonical(merged_up_to)
        n_folds = None if cv is None else int(cv)
        cv = _splitter(n_folds, rows, seed, stratified)
    splits = _taken(rows, cv, stratified)
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


def go_forward(folds: Sequence[Split]) -> bool:
    """Whether folds hold out rows that come after all those they train on, as `folds_of` found."""
    return all(train.groups is None and held.groups is not None for train, held in folds)


def _in_own_columns(train: Rows, held: Rows) -> Split:
    """Return rows that are sorted by the canonical columns of the training rows."""
    if train.columns is None:
        return train, held
    columns = canonical_columns(train)
    return replace(train, columns=columns), replace(held, columns=columns)


def _splitter(
    cv: int | None,
    rows: Rows,
    seed: int,
    stratified: bool,
) -> Any:
    n_folds = N_FOLDS if cv is None else cv
    if rows.groups is None:
        if n_folds > len(rows):
            raise ValueError(
                f"`cv` must be at most the number of distinct rows, got cv={n_folds} and "
                f"n_samples={len(rows)}."
            )
        return (StratifiedKFold if stratified else KFold)(n_folds, shuffle=True, random_state=seed)
    n_groups = len(np.unique(rows.groups))
    if n_groups < 2:
        raise ValueError(
            "`groups` must have at least two groups among the rows of positive weight, got "
            f"{n_groups}: omit it, or pass groups that can be held out in turn."
        )
    if cv is None:
        n_folds = min(n_folds, n_groups)
    elif n_folds > n_groups:
        raise ValueError(
            f"`cv` must be at most the number of groups, got cv={n_folds} and {n_groups} groups: "
            f"write cv={n_groups}."
        )
    if stratified:
        return StratifiedGroupKFold(n_folds, shuffle=True, random_state=seed)
    return GroupKFold(n_folds)


def _taken(rows: Rows, splitter: Any, stratified: bool) -> list[Split]:
    y: NDArray[Any] = rows.Y[:, 0] if rows.Y.shape[1] == 1 else rows.Y
    if stratified:
        y = class_numbers(rows.Y)
    with named("cv"), warnings.catch_warnings():
        # A rare class is absent from some folds.
        warnings.filterwarnings("ignore", "The least populated class", UserWarning)
        # Whether groups are divided is found below.
        warnings.filterwarnings("ignore", "The groups parameter is ignored", UserWarning)
        is_splitter = hasattr(splitter, "split")
        folds = check_cv(splitter).split(rows.X, y, rows.groups) if is_splitter else splitter
        folds = list(folds)
    positions = [_positions(fold, len(rows)) for fold in folds]
    splits = [(rows.take(a), rows.take(b)) for a, b in positions]
    if _are_forward(positions, len(rows)):
        return _in_blocks(splits)
    if any(_divide_groups(*split) for split in splits):
        warnings.warn(
            "`cv` divides `groups`: a group has training and test rows in the same fold, so that "
            "errors on new groups may be larger than estimated. Write cv=GroupKFold(5), or a "
            "number.",
            UserWarning,
            stacklevel=2,
        )
    return splits


def _divide_groups(train: Rows, test: Rows) -> bool:
    """Whether a group has rows on both sides of a fold."""
    if train.groups is None or test.groups is None:
        return False
    return bool(np.isin(test.groups, train.groups).any())


def _positions(fold: Any, n_rows: int) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """Return the training and test positions of a fold, or raise an error."""
    try:
        train, test = (np.arange(n_rows)[np.asarray(part)] for part in fold)
        if train.ndim == test.ndim == 1:
            return train, test
    except (IndexError, TypeError, ValueError):
        pass
    raise ValueError(
        "`cv` must yield pairs of two arrays, the positions of training and of test rows from 0 "
        f"to {n_rows - 1}, got {' '.join(repr(fold).split())[:80]}: write cv=5, a splitter such as "
        "KFold(5), or a list of such pairs."
    )


def _are_forward(positions: Sequence[tuple[Any, Any]], n_rows: int) -> bool:
    """Whether no fold trains on rows that it, or a later fold, holds out."""
    if len(positions) < 2:
        return False
    trained = np.zeros(n_rows, dtype=bool)
    for train, held in positions:
        trained[train] = True
        if trained[held].any():
            return False
    return True


def _in_blocks(splits: list[Split]) -> list[Split]:
    """Return folds whose held-out rows are a group each, and whose training rows have none."""
    return [
        (replace(train, groups=None), replace(held, groups=np.full(len(held), i)))
        for i, (train, held) in enumerate(splits)
    ]


def repeated_folds(
    rows: Rows, seed: int, n_splits: int, n_folds: int, settings: FoldSettings
) -> list[Split]:
    """Return the first `n_folds` of repeated splits of canonical rows into `n_splits` parts.

    Copies of a few distinct rows are split one by one; see `n_copies`.
    """
    copies = n_copies(rows, settings)
    if copies is not None:
        X, Y = np.repeat(rows.X, copies, axis=0), np.repeat(rows.Y, copies, axis=0)
        rows = Rows(X, Y, columns=rows.columns)
    n_splits = min(n_splits, len(rows))
    folds = RepeatedKFold(n_splits=n_splits, n_repeats=-(-n_folds // n_splits), random_state=seed)
    splits = islice(folds.split(rows.X), n_folds)
    if copies is None:
        return [(rows.take(a).canonical(merged_up_to=0), rows.take(b)) for a, b in splits]
    return [
        (replace(rows.take(a).canonical(len(a)), effective_size=float(len(a))), rows.take(b))
        for a, b in splits
    ]


def with_copies(rows: Rows, settings: FoldSettings) -> Rows:
    """Return canonical rows that count as often as they have copies, if few are distinct."""
    copies = n_copies(rows, settings)
    return rows if copies is None else replace(rows, effective_size=float(copies.sum()))


def stratified_folds(rows: Rows, seed: int, settings: FoldSettings) -> list[Split]:
    """Return stratified folds, until enough rows have been held out.

    Copies of a few distinct rows are split one by one; see `n_copies`.
    """
    copies = n_copies(rows, settings)
    if copies is not None:
        rows = Rows(np.repeat(rows.X, copies, axis=0), np.repeat(rows.Y, copies, axis=0))
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


def n_copies(rows: Rows, settings: FoldSettings) -> NDArray[np.intp] | None:
    """Return how many copies each of a few distinct rows stands for; None for other rows.

    A table of categories has few distinct rows, each very often: to hold out all copies of one
    would be to ask for the class of a category that was never seen. Other weights are no copies.
    """
    if rows.weights is None or len(rows) > settings.few_distinct:
        return None
    if rows.weights.min() < 1e-6 * rows.weights.max():
        return None
    # Weights have the mean 1: so many copies of the rarest row make all numbers whole.
    rarest = np.arange(1.0, settings.most_copies)
    copies = rows.weights / rows.weights.min() * rarest[:, None]
    whole = np.flatnonzero((np.abs(copies - np.rint(copies)) < 1e-9 * copies).all(axis=1))
    if not len(whole) or copies[whole[0]].mean() < settings.least_copies:
        return None
    found = np.rint(copies[whole[0]])
    return np.ceil(found * min(1.0, CANONICAL_ROWS / found.sum())).astype(np.intp)


def n_of_others(rows: Rows) -> int:
    """Return the number of rows outside the largest class; at least 1."""
    return max(1, len(rows) - int(np.unique(class_numbers(rows.Y), return_counts=True)[1].max()))
