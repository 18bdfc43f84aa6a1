"""`FitContext`: what every stage of a fit shares, whatever it computes.

Threads, the journal of a checkpoint, whom to tell about progress, and whether the fit has been
cancelled. None of it changes the result.
"""

import threading
from collections.abc import Callable
from dataclasses import dataclass, field, replace

from greedynet.support.journal import NO_JOURNAL, Journal
from greedynet.support.threads import Pool

Listener = Callable[[str], None]


class FitCancelledError(Exception):
    """The user has interrupted the fit: nobody waits for the result any more."""


@dataclass(frozen=True, eq=False)
class FitContext:
    """Threads, journal, progress and cancelling of one fit.

    Attributes
    ----------
    pool : Pool
        Threads.
    journal : Journal
        Results of an earlier run of the same fit.
    listener : callable or None
        Called with a line about what begins, such as "pruning: 31 neurons", possibly from several
        threads.
    cancelled : threading.Event
        Set when the fit has been interrupted. An interrupt reaches the main thread only, and
        threads cannot be ended from outside: they have to ask.
    """

    pool: Pool = field(default_factory=Pool)
    journal: Journal = NO_JOURNAL
    listener: Listener | None = None
    cancelled: threading.Event = field(default_factory=threading.Event)

    def tell(self, stage: str) -> None:
        """Tell the listener what begins now."""
        if self.listener is not None:
            self.listener(stage)

    def check(self) -> None:
        """Raise if the fit has been cancelled; called now and then by whatever may take long."""
        if self.cancelled.is_set():
            raise FitCancelledError

    def branch(self, name: str) -> "FitContext":
        """Return the context of a part of the fit, with a journal of its own."""
        return replace(self, journal=self.journal.branch(name))

    def with_journal(self, journal: Journal) -> "FitContext":
        """Return the same context with another journal."""
        return replace(self, journal=journal)

    def single_threaded(self) -> "FitContext":
        """Return the context of a part that runs in one of the threads itself."""
        return replace(self, pool=Pool())
