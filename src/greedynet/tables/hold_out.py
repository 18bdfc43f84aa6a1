"""Rows of a table that are set aside: at random, by whole groups, or the last ones."""

import base64
import zlib
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, TypeGuard

import numpy as np
from numpy.typing import NDArray

from greedynet.losses.solvers import weighted_median
from greedynet.support.types import Float64
from greedynet.tables.readers import TableError
from greedynet.tables.roles import NO_ROLES, Roles, latest, mean_of, shares_of
from greedynet.tables.scores import rmse

Mask = NDArray[np.bool_]

_SHARE = 0.2


@dataclass(frozen=True)
class HoldOut:
    """Which rows are set aside, to be predicted by a model that has not seen them.

    About `share` of all: whole groups of the column `by`, the `last` rows, the latest by the column
    `time`, or random ones.
    """

    share: float
    by: str | None = None
    last: bool = False
    time: str | None = None

    @staticmethod
    def of(
        share: float | None, by: str | None, last: float | None, roles: Roles = NO_ROLES
    ) -> "HoldOut | None":
        """Return what was asked for, or None; raise an error for what cannot be.

        `share`, `by` and `last` are `hold_out`, `hold_out_by` and `hold_out_last` of `fit_table`.
        """
        for name, value in (("hold_out", share), ("hold_out_last", last)):
            if value is not None and not 0 < value < 1:
                raise TableError(
                    f"`{name}` must be a share of the rows between 0 and 1, got {value}: write 0.2 "
                    "for a fifth."
                )
        if last is not None and (share is not None or by is not None):
            other = "hold_out" if share is not None else "hold_out_by"
            raise TableError(
                f"`hold_out_last` must be given without `{other}`, got both: the last rows are "
                "neither random rows nor whole groups. Omit one of them."
            )
        if last is not None and (roles.groups is not None or roles.time is not None):
            raise TableError(
                f"`hold_out_last` must be given without `{'time' if roles.time else 'groups'}`, "
                "which decides which rows are set aside: write `hold_out`."
            )
        if last is not None:
            return HoldOut(float(last), last=True)
        if share is None and by is None:
            return None
        share = _SHARE if share is None else float(share)
        return HoldOut(share, roles.groups if by is None else str(by), time=roles.time)

    @property
    def is_later(self) -> bool:
        """Whether the rows come after all others."""
        return self.last or self.time is not None

    @property
    def words(self) -> str:
        """How the rows were chosen."""
        if self.last:
            return "the last ones"
        if self.time is not None:
            return f"the latest by {self.time}"
        return "chosen at random" if self.by is None else f"whole groups of {self.by}"

    def mask(
        self,
        y: NDArray[Any],
        groups: NDArray[Any] | None,
        seed: int,
        *,
        classes: bool,
        times: Float64 | None = None,
    ) -> Mask:
        """Return which rows are set aside; random rows keep the proportions of classes."""
        if self.last:
            chosen = np.arange(len(y)) >= len(y) - round(self.share * len(y))
        elif times is not None:
            chosen = self._latest(times)
        elif groups is not None:
            chosen = self._groups(groups, np.random.default_rng(seed))
        else:
            strata = y if classes else np.zeros(len(y))
            chosen = self.random_rows(strata, np.random.default_rng(seed))
        self._check(chosen, y, classes=classes)
        return chosen

    def _latest(self, times: Float64) -> Mask:
        if (times == times[0]).all():
            raise TableError(
                f"`time` must be a column with at least two times, but {self.time!r} is the same "
                "in every row: omit it."
            )
        return latest(times, self.share)

    def random_rows(self, strata: NDArray[Any], rng: np.random.Generator) -> Mask:
        """Return rows that are evenly spaced among all, in random order within each class."""
        codes = np.unique(strata, return_inverse=True)[1]
        order = np.lexsort((rng.random(len(codes)), codes))
        steps = np.floor(self.share * np.arange(len(codes) + 1) + 0.5)
        chosen = np.zeros(len(codes), dtype=bool)
        chosen[order[np.diff(steps) > 0]] = True
        # A class with a single row is learned rather than tested.
        alone = np.bincount(codes[~chosen], minlength=codes.max() + 1) == 0
        return np.asarray(chosen & ~alone[codes])

    def _groups(self, groups: NDArray[Any], rng: np.random.Generator) -> Mask:
        names, codes, sizes = np.unique(groups, return_inverse=True, return_counts=True)
        if len(names) < 2:
            raise TableError(
                f"`hold_out_by` must be a column with at least two groups, but {self.by!r} is "
                f"{names[0]!r} in every row: write `hold_out` for random rows."
            )
        order = rng.permutation(len(names))
        before = np.cumsum(sizes[order]) - 0.5 * sizes[order]
        n_groups = int(np.clip(np.sum(before <= self.share * len(groups)), 1, len(names) - 1))
        return np.isin(codes, order[:n_groups])

    def _check(self, chosen: Mask, y: NDArray[Any], *, classes: bool) -> None:
        self.check_sizes(len(y), int(chosen.sum()))
        if classes:
            self.check_classes(set(y[chosen].tolist()), set(y[~chosen].tolist()), self.time)

    @staticmethod
    def check_sizes(n_rows: int, n_held: int) -> None:
        """Raise an error if no row is held out, or too few are left."""
        if not n_held or n_rows - n_held < 2:
            raise TableError(
                f"Of {n_rows:,} rows, {n_held:,} would be held out and {n_rows - n_held:,} left to "
                "fit, which needs at least two: choose another share, or give more rows."
            )

    @staticmethod
    def check_classes(held: set[Any], learned: set[Any], time: str | None = None) -> None:
        """Raise an error if rows held out have classes that no other row has."""
        new = sorted(held - learned)
        if new:
            advice = "random ones by `hold_out`" if time is None else "omit `time`"
            raise TableError(
                f"The rows held out contain the class {new[0]!r}, which no other row has, so it "
                f"cannot be learned: hold out fewer rows, or {advice}."
            )


def held_out_record(hold: HoldOut, chosen: Mask, y: NDArray[Any]) -> dict[str, Any]:
    """Return plain values by which the rows can be found again in the same table."""
    check = CheckSum()
    check.add(y)
    return packed_record(hold, np.packbits(chosen), int(chosen.sum()), len(chosen), check.value)


def packed_record(
    hold: HoldOut, bits: NDArray[np.uint8], n_held: int, n_rows: int, check: int
) -> dict[str, Any]:
    """Return the record of rows whose mask is given by its bits, and their check sum."""
    packed = base64.b64encode(zlib.compress(bits.tobytes(), 9)).decode("ascii")
    return {"rows": n_held, "how": hold.words, "of": n_rows, "check": check, "mask": packed}


def without_scores(record: Mapping[str, Any] | None) -> dict[str, Any] | None:
    """Return which rows were set aside, for a model whose errors on them are not known."""
    which = ("rows", "how", "of", "check", "mask")
    return None if record is None else {key: record[key] for key in which}


def has_scores(record: Mapping[str, Any] | None) -> TypeGuard[Mapping[str, Any]]:
    """Whether rows were set aside, and the errors on them are known."""
    return record is not None and "measure" in record


def held_out_mask(record: Mapping[str, Any] | None, y: NDArray[Any]) -> Mask | None:
    """Return which rows were set aside, or None unless these are the rows of the fit."""
    if record is None:
        return None
    check = CheckSum()
    check.add(y)
    if record["of"] != len(y) or record["check"] != check.value:
        return None
    raw = np.frombuffer(zlib.decompress(base64.b64decode(record["mask"])), dtype=np.uint8)
    return np.unpackbits(raw, count=len(y)).astype(bool)


class CheckSum:
    """A check sum of targets, which may be added in blocks."""

    def __init__(self) -> None:
        self.value = 0
        self._is_first = True

    def add(self, y: NDArray[Any]) -> None:
        """Add the targets of some rows."""
        if y.dtype.kind in "biuf":
            data = np.ascontiguousarray(y, dtype=np.float64).tobytes()
        else:
            text = "\n".join(map(str, y.tolist()))
            data = (text if self._is_first else f"\n{text}").encode("utf-8")
        self.value, self._is_first = zlib.crc32(data, self.value), False


def guess_of(
    y: NDArray[Any],
    held: NDArray[Any],
    measure: str,
    weights: Float64 | None = None,
    held_weights: Float64 | None = None,
) -> float | None:
    """Return the error of the best constant of the training rows `y` on the rows held out.

    None for other measures than "accuracy", "rmse" and "mae".
    """
    share, of_held = shares_of(weights), shares_of(held_weights)
    if measure == "accuracy":
        names, codes = np.unique(y, return_inverse=True)
        commonest = names[np.bincount(codes, weights).argmax()]
        return mean_of(held == commonest, of_held)
    numbers: Float64 = held
    if measure == "mae":
        return mean_of(np.abs(numbers - weighted_median(y, weights)), of_held)
    return rmse(numbers - mean_of(y, share), of_held) if measure == "rmse" else None
