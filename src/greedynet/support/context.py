"""What surrounds a fit: `FitContext` with its `Journal` and `Clock`, and `Scope` for settings.

All stages of a fit share its threads, the journal of a checkpoint, the listener for progress, the
event that cancels it, and the time that it may take. Only the last changes the result, if it runs
out.
"""

import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field, replace
from typing import Any, Generic, TypeVar

from greedynet.support.threads import Pool

T = TypeVar("T")
Listener = Callable[[str], None]
# A step of a journal: numbers, texts, arrays, and lists of them.
Known = Sequence[Any]


class Journal:
    """What a fit has done so far, so that an interrupted one can be resumed; this one is empty.

    A fit is deterministic. To resume an interrupted one, it is started again from the beginning,
    and takes each step that is known from its journal instead of computing it. The result does not
    depend on what the journal contains; only the time does. Steps are known by their order.
    """

    def known(self) -> Known | None:
        """Return the next step of an earlier run; None if it is to be computed, and noted."""
        return None

    def note(self, step: Known) -> None:
        """Record a step, with arrays that are no longer modified."""


NO_JOURNAL = Journal()

_NEVER = float("inf")
# Share of the time that is left, where it is limited: for choosing between candidates; the rest is
# for the network.
FOR_CHOICE = 0.5


@dataclass(frozen=True, eq=False)
class Clock:
    """The time at which a fit, or a part of it, should end."""

    end: float = _NEVER  # by `time.monotonic`; infinity if there is no limit
    # Set when something was left out because the time of its part was over; shared by all parts.
    ran_out: threading.Event = field(default_factory=threading.Event)

    @staticmethod
    def of(max_seconds: float | None) -> "Clock":
        return Clock() if max_seconds is None else Clock(time.monotonic() + max_seconds)

    @property
    def is_limited(self) -> bool:
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


class FitCancelledError(Exception):
    """The user has interrupted the fit: its result is no longer needed."""


@dataclass(frozen=True, eq=False)
class FitContext:
    """Threads, journal, progress, cancellation and time of one fit."""

    pool: Pool = field(default_factory=Pool)
    journal: Journal = NO_JOURNAL
    # Called with a description of each stage as it begins, such as "pruning: 31 neurons", possibly
    # from several threads.
    listener: Listener | None = None
    # Set when the fit has been interrupted. An interrupt reaches the main thread only, and threads
    # cannot be stopped from outside: they must check this event.
    cancelled: threading.Event = field(default_factory=threading.Event)
    clock: Clock = field(default_factory=Clock)

    def tell(self, stage: str) -> None:
        """Report the stage that begins now to the listener."""
        if self.listener is not None:
            self.listener(stage)

    def check(self) -> None:
        """Raise an error if the fit has been cancelled; long computations call this regularly."""
        if self.cancelled.is_set():
            raise FitCancelledError

    def until(self, share: float) -> "FitContext":
        """Return the context of a part that may take this share of the time that is left."""
        return replace(self, clock=self.clock.until(share))

    def single_threaded(self) -> "FitContext":
        """Return the context of a part that itself runs in one of the threads."""
        return replace(self, pool=Pool())


class Scope(Generic[T]):
    """An immutable value that a block of code may replace: scikit-learn's `config_context`."""

    def __init__(self, name: str, default: T) -> None:
        self._variable: ContextVar[T] = ContextVar(name, default=default)

    @property
    def current(self) -> T:
        return self._variable.get()

    @contextmanager
    def use(self, value: T) -> Iterator[None]:
        """Replace the value in this block, and in this thread."""
        token = self._variable.set(value)
        try:
            yield
        finally:
            self._variable.reset(token)
