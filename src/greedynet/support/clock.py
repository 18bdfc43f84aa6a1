"""`Clock`: how much of the time that a fit may take is left."""

import threading
import time
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace
from typing import TypeVar

_NEVER = float("inf")
# Shares of the time that is left, where it is limited: for choosing between candidates, the rest is
# for the network; and for the growth of a network, the rest is for its correction.
FOR_CHOICE = 0.5
FOR_ONE_LAYER = 0.4
FOR_GROWTH = 0.4

_T = TypeVar("_T")


@dataclass(frozen=True, eq=False)
class Clock:
    """The time at which a fit, or a part of it, should end.

    Attributes
    ----------
    end : float
        By `time.monotonic`; infinity if there is no limit.
    ran_out : threading.Event
        Set when something was left out because the time of its part was over; shared by all parts.
    """

    end: float = _NEVER
    ran_out: threading.Event = field(default_factory=threading.Event)

    @staticmethod
    def of(max_seconds: float | None) -> "Clock":
        """Return a clock that starts now."""
        return Clock() if max_seconds is None else Clock(time.monotonic() + max_seconds)

    @property
    def is_limited(self) -> bool:
        """Whether there is a limit."""
        return self.end != _NEVER

    def until(self, share: float) -> "Clock":
        """Return the clock of a part that may take this share of the time that is left."""
        if not self.is_limited:
            return self
        now = time.monotonic()
        return replace(self, end=now + share * (self.end - now))

    def paced(self, items: Iterable[_T], growth: float = 1.0, least: int = 0) -> Iterator[_T]:
        """Yield items while there is time for the next one.

        Parameters
        ----------
        items : iterable
        growth : float, default=1
            How much longer an item takes than the one before it.
        least : int, default=0
            Number of items to yield in any case.
        """
        needed = 0.0
        for i, item in enumerate(items):
            if i >= least and self.is_over(needed):
                break
            start = time.monotonic()
            yield item
            needed = growth * (time.monotonic() - start)

    def is_over(self, needed: float = 0.0) -> bool:
        """Whether less than `needed` seconds are left; whoever asks will then leave work out."""
        over = self.is_limited and time.monotonic() + needed > self.end
        if over:
            self.ran_out.set()
        return over
