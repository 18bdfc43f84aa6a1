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
    def of(share: float | None, last: float | None, roles: Roles = NO_ROLES) -> "HoldOut | None":
        """Return what was asked for, or None; raise an error for what cannot be.

        `share` and `last` are `hold_out` and `hold_out_last` of `fit_table`.
        """
        for name, value in (("hold_out", share), ("hold_out_last", last)):
            if value is not None and not 0 < value < 1:
                raise TableError(
                    f"`{name}` must be a share of the rows between 0 and 1, got {value}: write 0.2 "
                    "for a fifth."
                )
        if last is None:
            return None if share is None else HoldOut(float(share), roles.groups, time=roles.time)
        if share is not None:
            raise TableError(
                "`hold_out_last` must be given without `hold_out`, got both: the last rows are "
                "no random rows. Omit one of them."
            )
        if roles.groups is not None or roles.time is not None:
            raise TableError(
                f"`hold_out_last` must be given without `{'time' if roles.time else 'groups'}`, "
                "which decides which rows are set aside: write `hold_out`."
            )
        return HoldOut(float(last), last=True)

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
            chosen = self._random_rows(strata, np.random.default_rng(seed))
        self._check(chosen, y, classes=classes)
        return chosen

    def _latest(self, times: Float64) -> Mask:
        if (times == times[0]).all():
            raise TableError(
                f"`time` must be a column with at least two times, but {self.time!r} is the same "
                "in every row: omit it."
            )
        return latest(times, self.share)

    def _random_rows(self, strata: NDArray[Any], rng: np.random.Generator) -> Mask:
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
                f"`groups` must be a column with at least two groups, but {self.by!r} is "
                f"{names[0]!r} in every row: omit it for random rows."
            )
        order = rng.permutation(len(names))
        before = np.cumsum(sizes[order]) - 0.5 * sizes[order]
        n_groups = int(np.clip(np.sum(before <= self.share * len(groups)), 1, len(names) - 1))
        return np.isin(codes, order[:n_groups])

    def _check(self, chosen: Mask, y: NDArray[Any], *, classes: bool) -> None:
        """Raise an error if no row is held out, too few are left, or some class is not learned."""
        n_rows, n_held = len(y), int(chosen.sum())
        if not n_held or n_rows - n_held < 2:
            raise TableError(
                f"Of {n_rows:,} rows, {n_held:,} would be held out and {n_rows - n_held:,} left to "
                "fit, which needs at least two: choose another share, or give more rows."
            )
        new = sorted(set(y[chosen].tolist()) - set(y[~chosen].tolist())) if classes else []
        if new:
            advice = "random ones by `hold_out`" if self.time is None else "omit `time`"
            raise TableError(
                f"The rows held out contain the class {new[0]!r}, which no other row has, so it "
                f"cannot be learned: hold out fewer rows, or {advice}."
            )


def held_out_record(hold: HoldOut, chosen: Mask, y: NDArray[Any]) -> dict[str, Any]:
    """Return plain values by which the rows can be found again in the same table."""
    packed = base64.b64encode(zlib.compress(np.packbits(chosen).tobytes(), 9)).decode("ascii")
    which = {"of": len(chosen), "check": _check_sum(y), "mask": packed}
    return {"rows": int(chosen.sum()), "how": hold.words, **which}


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
    if record["of"] != len(y) or record["check"] != _check_sum(y):
        return None
    raw = np.frombuffer(zlib.decompress(base64.b64decode(record["mask"])), dtype=np.uint8)
    return np.unpackbits(raw, count=len(y)).astype(bool)


def _check_sum(y: NDArray[Any]) -> int:
    """Return a check sum of targets."""
    if y.dtype.kind in "biuf":
        return zlib.crc32(np.ascontiguousarray(y, dtype=np.float64).tobytes())
    return zlib.crc32("\n".join(map(str, y.tolist())).encode("utf-8"))


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
