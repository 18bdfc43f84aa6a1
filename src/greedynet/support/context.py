"""`FitContext`: the resources shared by all stages of a fit.

Threads, the journal of a checkpoint, the listener for progress, whether the fit has been cancelled,
and the time that it may take. Only the last changes the result, if it runs out.
"""

import threading
from collections.abc import Callable
from dataclasses import dataclass, field, replace

from greedynet.support.clock import Clock
from greedynet.support.journal import NO_JOURNAL, Journal
from greedynet.support.threads import Pool

Listener = Callable[[str], None]


class FitCancelledError(Exception):
    """The user has interrupted the fit: its result is no longer needed."""


@dataclass(frozen=True, eq=False)
class FitContext:
    """Threads, journal, progress, cancellation and time of one fit.

    Attributes
    ----------
    pool : Pool
        Threads.
    journal : Journal
        Steps of an earlier run of the same fit.
    listener : callable or None
        Called with a description of each stage as it begins, such as "pruning: 31 neurons",
        possibly from several threads.
    cancelled : threading.Event
        Set when the fit has been interrupted. An interrupt reaches the main thread only, and
        threads cannot be stopped from outside: they must check this event.
    clock : Clock
        The time that is left; loops end early when it is over.
    """

    pool: Pool = field(default_factory=Pool)
    journal: Journal = NO_JOURNAL
    listener: Listener | None = None
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
