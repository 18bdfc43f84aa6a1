"""`Clock`: how much of the time that a fit may take is left."""

import threading
import time
from dataclasses import dataclass, field, replace

_NEVER = float("inf")
# Share of the time that is left, where it is limited: for choosing between candidates; the rest is
# for the network.
FOR_CHOICE = 0.5


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

    def is_over(self, needed: float = 0.0) -> bool:
        """Whether less than `needed` seconds are left; whoever asks will then leave work out."""
        over = self.is_limited and time.monotonic() + needed > self.end
        if over:
            self.ran_out.set()
        return over
