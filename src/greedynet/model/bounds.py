"""`OutputBounds`: what the outputs of a network may not leave.

g(x) = min(max(net(x), low), high)
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, DTypeLike

from greedynet.support.checks import named
from greedynet.support.types import Float64

# The shares of the range of the training rows by which a box may reach beyond it.
REACHES = (0.0, 0.1, 1.0, np.inf)


def widened(input_range: Float64 | None, reach: float) -> Float64 | None:
    """Return the box that reaches beyond a range, `(2, n_features)`; None for an unlimited one."""
    if input_range is None or reach == np.inf:
        return None
    if reach == 0:
        return input_range
    low, high = input_range
    with np.errstate(over="ignore"):
        room = reach * (high - low)
        return np.clip([low - room, high + room], -np.finfo(float).max, np.finfo(float).max)


@dataclass(frozen=True, eq=False, init=False)
class OutputBounds:
    """Bounds on the outputs of a network, which hold for all inputs; its arrays are read-only.

    Parameters
    ----------
    low, high : float, array-like of shape (n_outputs,), or None
        The smallest and the largest value of each output; None or an infinity, also in a list,
        for no bound. A number holds for all outputs.

    Examples
    --------
    >>> from greedynet.model.bounds import OutputBounds
    >>> OutputBounds(0, None).apply([[-1.0], [2.0]]).tolist()
    [[0.0], [2.0]]
    """

    low: Float64
    high: Float64

    def __init__(self, low: ArrayLike | None, high: ArrayLike | None) -> None:
        ends = _checked(_end(low, "low", -np.inf), _end(high, "high", np.inf))
        for name, end in zip(("low", "high"), ends, strict=True):
            end.flags.writeable = False
            object.__setattr__(self, name, end)

    def __setstate__(self, state: dict[str, Any]) -> None:
        # Pickle restores arrays as writable.
        OutputBounds.__init__(self, **state)

    @property
    def is_open(self) -> bool:
        """Whether no output has a bound."""
        return bool(np.isneginf(self.low).all() and np.isposinf(self.high).all())

    def apply(self, outputs: ArrayLike) -> Float64:
        """Return outputs, `(n_rows, n_outputs)` or `(n_rows,)` for one, within the bounds.

        NaN stays NaN.
        """
        return np.asarray(np.minimum(np.maximum(outputs, self.low), self.high))

    def for_outputs(self, n_outputs: int) -> "OutputBounds":
        """Return the bounds of each of so many outputs; raise an error for another number."""
        if len(self.low) == n_outputs:
            return self
        if len(self.low) != 1:
            raise ValueError(
                f"`bounds` must have one pair of ends, or one for each of the {n_outputs} "
                f"outputs, got {len(self.low)}."
            )
        return OutputBounds(np.repeat(self.low, n_outputs), np.repeat(self.high, n_outputs))

    def pairs(self) -> list[tuple[float | None, float | None]]:
        """Return the ends of each output, None for an open one."""
        return [
            (low if np.isfinite(low) else None, high if np.isfinite(high) else None)
            for low, high in zip(self.low.tolist(), self.high.tolist(), strict=True)
        ]

    def sentence(self) -> str:
        """Return the bounds in words, such as "between 0 and 100"."""
        said = [_in_words(low, high) for low, high in self.pairs()]
        return said[0] if len(set(said)) == 1 else "; ".join(said)

    def within(self, dtype: DTypeLike) -> "OutputBounds":
        """Return the bounds rounded inwards to the numbers of a precision such as "float32".

        Rounded to the nearest, 0.1 in single precision would be above 0.1. Bounds without any such
        number between them are rounded to the nearest.
        """
        low, high = _rounded(self.low, dtype, np.inf), _rounded(self.high, dtype, -np.inf)
        empty = low > high
        with np.errstate(over="ignore"):
            nearest = [end.astype(dtype) for end in (self.low, self.high)]
        return OutputBounds(np.where(empty, nearest[0], low), np.where(empty, nearest[1], high))

    def state(self) -> dict[str, Float64]:
        """Return the ends as arrays, for a file; inverse of `from_state`."""
        return {"low": self.low, "high": self.high}

    @classmethod
    def from_state(cls, state: Mapping[str, Any]) -> "OutputBounds":
        """Return the bounds with the given `state`."""
        return cls(**state)


def _end(values: ArrayLike | None, name: str, when_open: float) -> Float64:
    """Return one end for each output, infinite where it is open."""
    with named(f"bounds.{name}"):
        given = values if isinstance(values, list | tuple) else [values]
        given = [when_open if value is None else value for value in given]
        ends = np.array(given if len(given) != 1 else given[0], dtype=np.float64)
        if ends.ndim > 1 or not ends.size or np.isnan(ends).any():
            raise ValueError(f"must be a number, or one for each output, got {values!r}.")
    return np.atleast_1d(ends)


def _checked(low: Float64, high: Float64) -> tuple[Float64, Float64]:
    """Return a lower and an upper end for each output, with room between them."""
    if low.shape != high.shape and 1 not in (low.size, high.size):
        raise ValueError(
            "`bounds` must have as many lower as upper ends, or one for all outputs, got "
            f"{low.size} and {high.size}."
        )
    low, high = (np.array(end) for end in np.broadcast_arrays(low, high))
    crossed = low > high
    if crossed.any():
        k = int(np.argmax(crossed))
        raise ValueError(
            f"`bounds` must be (low, high) with low <= high, got ({low[k]:g}, {high[k]:g}): "
            f"write ({high[k]:g}, {low[k]:g})."
        )
    if (low == np.inf).any() or (high == -np.inf).any():
        raise ValueError(
            "`bounds` must leave room for finite values, got a lower end of infinity or an upper "
            "end of minus infinity: write None for an end that is open."
        )
    return low, high


def _rounded(ends: Float64, dtype: DTypeLike, inwards: float) -> Float64:
    """Return the nearest numbers of a precision that are not on the outer side of the ends."""
    with np.errstate(over="ignore"):
        near = ends.astype(dtype)
    outside = near < ends if inwards > 0 else near > ends
    return np.where(outside, np.nextafter(near, np.array(inwards, dtype)), near).astype(np.float64)


def _in_words(low: float | None, high: float | None) -> str:
    if low is None and high is None:
        return "without bounds"
    if low is None:
        return f"at most {high:g}"
    return f"at least {low:g}" if high is None else f"between {low:g} and {high:g}"
