"""Rows in order of time: when they are, the latest ones, and folds that go forward."""

import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime
from numbers import Integral
from typing import Any

import numpy as np
from numpy.typing import NDArray

from greedynet.support.errors import TableWarning
from greedynet.support.types import Float64
from greedynet.tables.kinds.base import Wording
from greedynet.tables.kinds.date_texts import read_moments
from greedynet.tables.kinds.dates import DateTally
from greedynet.tables.readers import TableError
from greedynet.tables.readers.texts import text_numbers

Positions = NDArray[np.intp]

_N_FOLDS = 5
# Share of rows that is never held out: networks are chosen for nearly as many rows as there are,
# and the error of networks from less of the past would be too large. See `benchmarks/coverages.py`.
_ONLY_TRAINING = 0.5


def times_of(texts: NDArray[Any], name: str, label: str, order: str | None = None) -> Float64:
    """Return times as numbers: seconds for dates, numbers unchanged.

    Dates are those that a column of dates may hold, see `kinds.date_texts`. The offsets from
    universal time of dates in ISO 8601 count, as they tell which of two rows is the earlier one.

    Parameters
    ----------
    texts : ndarray of str, of shape (n_rows,)
        Cells, "" for empty ones.
    name, label : str
        The column and the table, for errors.
    order : {"dmy", "mdy"} or None
        Order of day and month in dates such as 01/02/2024, if it is known.
    """
    empty = texts == ""
    if empty.any():
        raise TableError(
            f"{label}: `time` must be known of all rows, but {name!r} is empty in "
            f"{int(empty.sum()):,} of them: fill them in, or remove these rows."
        )
    numbers, is_text = text_numbers(texts.tolist())
    if not is_text.any():
        return numbers
    levels, codes = np.unique(texts, return_inverse=True)
    try:
        seconds = np.array([_seconds(text) for text in levels.tolist()])
    except ValueError:
        seconds = _seconds_of_dates(levels.tolist(), name, label, order)
    return np.asarray(seconds[codes])


def _seconds(text: str) -> float:
    """Return the seconds of a date in ISO 8601."""
    found = datetime.fromisoformat(text)
    # Without a time zone, all are taken to be in the same one.
    return (found if found.tzinfo else found.replace(tzinfo=UTC)).timestamp()


def _seconds_of_dates(texts: Sequence[str], name: str, label: str, order: str | None) -> Float64:
    """Return the seconds of dates in any notation."""
    tally, advice = DateTally(), "sort the rows and write `hold_out_last`"
    tally.add(texts, [1] * len(texts), range(1, len(texts) + 1))
    if tally.n < len(texts):
        other = texts[0] if tally.other is None else tally.other[0]
        raise TableError(
            f"{label}: `time` must be a column of numbers, or of dates such as 2024-01-31 or "
            f"31/01/2024 12:30, but {name!r} holds {other!r}: convert it, or {advice}."
        )
    words = Wording(f"{label}: `time` {name!r}", advice, advice)
    kind, said = tally.decide(words, order)
    if said:
        warnings.warn(f"{label}: `time` {name!r}: {said}.", TableWarning, stacklevel=2)
    seconds: Float64 = read_moments(texts, kind.order).astype(np.int64) / 1e6
    return seconds


def latest(times: Float64, share: float) -> NDArray[np.bool_]:
    """Return the latest rows, about this share; rows of the same time stay together.

    There must be at least two different times.
    """
    ordered = np.sort(times)
    starts = _starts(ordered)
    start = starts[np.argmin(np.abs(len(times) - starts - share * len(times)))]
    return times >= ordered[start]


def forward_folds(times: Float64, n_folds: int | None = None) -> list[tuple[Positions, Positions]]:
    """Return folds that train on all rows before a time and test on those that follow.

    The first half of the rows only trains. The other half is divided into parts, each of which is
    held out once, and rows of the same time stay together.

    Parameters
    ----------
    times : ndarray of shape (n_rows,)
    n_folds : int or None
        Number of parts; None for five, or as many as there are different times for.

    Returns
    -------
    folds : list of pairs of ndarray
        Positions of training and held-out rows.
    """
    order = np.argsort(times, kind="stable")
    starts, n = _starts(times[order]), len(times)
    wanted = _N_FOLDS if n_folds is None else n_folds
    ideal = n * (_ONLY_TRAINING + (1.0 - _ONLY_TRAINING) * np.arange(wanted) / wanted)
    nearest = [starts[np.argmin(np.abs(starts - cut))] for cut in ideal if len(starts)]
    cuts = np.unique(np.array(nearest, dtype=np.intp))
    if not len(cuts) or (n_folds is not None and len(cuts) < n_folds):
        advice = "omit it" if not len(cuts) else f"write at most {len(cuts)} for `cv`"
        raise TableError(
            f"`time` must have enough different values for {wanted} folds that go forward, got "
            f"{len(starts) + 1}: {advice}."
        )
    ends = [*cuts[1:].tolist(), n]
    return [(order[:cut], order[cut:end]) for cut, end in zip(cuts.tolist(), ends, strict=True)]


@contextmanager
def forward_in_time(estimator: Any, times: Float64 | None) -> Iterator[None]:
    """Let the folds of an estimator go forward during a fit, if times are known.

    Parameters
    ----------
    estimator : GreedyNetRegressor or GreedyNetClassifier
        Its parameter `cv` is a number of folds or None, and the same afterwards.
    times : ndarray of shape (n_rows,) or None
        When each row of the fit is.
    """
    given = estimator.cv
    if times is not None:
        if given is not None and not isinstance(given, Integral):
            raise TableError(
                f"`cv` must be a number of folds with `time`, got {type(given).__name__}: write 5, "
                "for example."
            )
        estimator.cv = forward_folds(times, None if given is None else int(given))
    try:
        yield
    finally:
        estimator.cv = given


def _starts(ordered: Float64) -> Positions:
    """Return where a new time begins among ordered ones, but for the first."""
    return np.flatnonzero(np.diff(ordered) > 0) + 1
