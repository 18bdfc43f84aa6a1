"""The journal of a fit: intermediate results, so that an interrupted fit can be resumed.

A construction is deterministic. To resume an interrupted one, it is started again from the
beginning, and looks up each result in its journal: a known result is reused, any other is computed
and recorded. The final result does not depend on what the journal contains; only the time does.

Results are identified by their position on a branch, so the requests on a branch must come in the
order of the first run. Computations that run in parallel use separate branches.
"""

from collections.abc import Callable, Sequence
from typing import Any

# Numbers, arrays, and lists of them.
Known = Sequence[Any]


class Record:
    """One result; in this base class it is never known.

    Attributes
    ----------
    known : sequence or None
        The result so far of an earlier run; None if there is none.
    """

    known: Known | None = None

    def note(self, result: Callable[[], Known]) -> None:
        """Record the result so far, replacing what was recorded before.

        Parameters
        ----------
        result : callable
            Returns the result, with arrays that are no longer modified; called only if needed.
        """


class Journal:
    """A branch of a journal; this base class stores nothing."""

    def branch(self, name: str) -> "Journal":
        """Return the branch of a part; every part has a unique name."""
        return self

    def record(self) -> Record:
        """Return the record of the next result."""
        return Record()

    def once(self, compute: Callable[["Journal"], Known]) -> Known:
        """Return a known result, or compute and record it.

        Parameters
        ----------
        compute : callable
            Takes a journal for intermediate results, which are dropped when it returns.
        """
        return compute(self)


NO_JOURNAL = Journal()
