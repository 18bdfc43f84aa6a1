"""Columns that say something about rows: groups, weights and times, and what follows from them."""

import warnings
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from numbers import Integral
from typing import Any

import numpy as np
from numpy.typing import NDArray

from greedynet.support.errors import TableWarning
from greedynet.support.types import Float64
from greedynet.tables.columns import Input
from greedynet.tables.findings import Findings, check_present
from greedynet.tables.kinds import Dates, Promises, Reading, Wording
from greedynet.tables.readers import Block, Table, TableError, open_table
from greedynet.tables.readers.base import as_text, label_text, text_numbers
from greedynet.tables.survey import survey


@dataclass(frozen=True)
class Roles:
    """Names of the columns, None where there is none.

    Attributes
    ----------
    groups : str or None
        Rows of one group, such as a patient, stay together in folds and where rows are set aside.
    time : str or None
        Folds go forward in time, and the rows set aside are the latest. It remains an input.
    dates : {"dmy", "mdy"} or None
        Order of day and month in times such as 01/02/2024, if it is known.
    """

    groups: str | None = None
    weights: str | None = None
    time: str | None = None
    dates: str | None = None

    @staticmethod
    def of(groups: Any, weights: Any, time: Any, dates: str | None) -> "Roles":
        """Return the columns asked for."""
        if groups is not None and time is not None:
            raise TableError(
                "`time` must be given without `groups`, got both: a group may last from the past "
                "into the future. Omit one of them."
            )
        given = {"groups": groups, "weights": weights, "time": time}
        names = {role: str(name) for role, name in given.items() if name is not None}
        return Roles(**names, dates=dates)

    @property
    def no_inputs(self) -> list[str]:
        """Columns that are not inputs."""
        return [name for name in (self.groups, self.weights) if name is not None]

    @property
    def names(self) -> list[str]:
        """All columns."""
        return [*self.no_inputs, *([] if self.time is None else [self.time])]

    def record(self) -> dict[str, str]:
        """Return the columns by role, as plain values."""
        found = {"groups": self.groups, "weights": self.weights, "time": self.time}
        return {role: name for role, name in found.items() if name is not None}

    def check(self, table: Table, target: str) -> None:
        """Raise an error unless the table has the columns, and none is the target."""
        check_present(table, self.names, "column")
        for argument, name in self.record().items():
            if name == target:
                raise TableError(
                    f"`{argument}` must be another column than the target, got {name!r}: name the "
                    f"column of the {argument.rstrip('s')}s."
                )

    def check_choice(self, parameters: Mapping[str, Any], validate: Any) -> None:
        """Raise an error for folds, which groups and time determine, beside validation rows."""
        if validate is None:
            return
        if parameters.get("cv") is not None:
            raise TableError(
                "`cv` must be given without `validate`, got both: the width is chosen by folds or "
                "by validation rows. Omit one of them."
            )
        for name in self.record().keys() - {"weights"}:
            raise TableError(
                f"`{name}` determines the folds by which the width is chosen, and must be given "
                "without `validate`: choose by folds, or validate on rows that were chosen so."
            )

    def read(
        self, cells: Block, findings: Findings, start: int
    ) -> tuple[dict[str, NDArray[Any]], NDArray[np.bool_]]:
        """Return the columns of a block by role, and which rows have a weight; record problems."""
        names = {"groups": self.groups, "time": self.time}
        found = {role: as_text(cells[name]) for role, name in names.items() if name is not None}
        if self.weights is None:
            return found, np.ones(len(next(iter(cells.values()))), dtype=np.bool_)
        weights, column = cells[self.weights], Input(self.weights)
        numbers = np.zeros((len(weights), 1))
        column.encode(weights, numbers, findings, start)
        found["weights"] = numbers[:, 0]
        findings.note("negative", self.weights, numbers[:, 0] < 0, weights, start)
        return found, ~np.isnan(numbers[:, 0])

    def check_some_weight(self, weights: Float64, label: str) -> None:
        """Raise an error if there are rows, and all weights are zero."""
        if len(weights) and not weights.any():
            raise TableError(
                f"{label}: the weights in column {self.weights!r} are all zero: give positive ones "
                "to the rows that count."
            )


NO_ROLES = Roles()


def shares_of(weights: Float64 | None) -> Float64 | None:
    """Return weights that sum to 1; None for None."""
    if weights is None:
        return None
    scaled = weights / weights.max()  # their sum cannot overflow
    return np.asarray(scaled / scaled.sum())


def mean_of(values: NDArray[Any], share: Float64 | None) -> float:
    """Return the mean over rows, which count by their shares, if these are given."""
    return float(np.mean(values) if share is None else share @ values)


def weights_by_class(
    given: Mapping[Any, float], classes: NDArray[Any], target: str
) -> dict[Any, float]:
    """Return weights by class, where classes may be given by their texts."""
    labels = classes.tolist()
    by_text = {label_text(label): label for label in labels}
    unknown = [key for key in given if key not in labels and str(key) not in by_text]
    if unknown:
        raise TableError(
            f"`class_weight` must name classes of {target!r}, {', '.join(by_text)}, got "
            f"{str(unknown[0])!r}: classes that are not named have the weight 1."
        )
    return {key if key in labels else by_text[str(key)]: float(w) for key, w in given.items()}


Positions = NDArray[np.intp]

_N_FOLDS = 5
# Share of rows that is never held out: networks are chosen for nearly as many rows as there are,
# and the error of networks from less of the past would be too large. See `benchmarks/coverages.py`.
_ONLY_TRAINING = 0.5


def times_of(texts: NDArray[Any], name: str, label: str, order: str | None = None) -> Float64:
    """Return times as numbers: seconds for dates, numbers unchanged.

    Dates are those that a column of dates may hold, see `kinds.dates`. The offsets from
    universal time of dates in ISO 8601 count, as they show which of two rows is the earlier one.
    `order` is that of day and month in dates such as 01/02/2024, if it is known.
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
    advice = "sort the rows and write `hold_out_last`"
    found = survey(open_table({name: texts}), [name])[name]
    words = Wording(f"{label}: `time` {name!r}", advice, advice)
    reading = found.readings.get(Dates.name, Reading())
    if reading.n < len(texts):
        other = texts[0] if reading.other is None else reading.other[0]
        raise TableError(
            f"{label}: `time` must be a column of numbers, or of dates such as 2024-01-31 or "
            f"31/01/2024 12:30, but {name!r} holds {other!r}: convert it, or {advice}."
        )
    kind, said = Dates().decide(reading, words, Promises(dates=order))
    if said:
        warnings.warn(f"{label}: `time` {name!r}: {said}.", TableWarning, stacklevel=2)
    moments, _ = kind.values(np.array(texts, dtype=object))
    return np.asarray(moments.astype(np.int64) / 1e6)


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
    held out once, and rows of the same time stay together. There are five parts, or as many as
    there are different times for, unless `n_folds` is given.
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

    Its parameter `cv` is a number of folds or None, and the same afterwards.
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
