"""What a fit writes down as it goes, so that the same fit, begun again, need not find it again.

A construction is deterministic. One that was interrupted is therefore begun again from the start,
and asks its journal before it computes: what is known is taken, what is not is computed and noted.
The result is the same whatever the journal knows; only the time it takes is not.

Results are known by the place where they are asked for, so the order of the questions on a branch
must be that of the first run. Things that are done at once are on branches of their own.
"""

from collections.abc import Callable, Sequence
from typing import Any

# Numbers, arrays, and lists of such.
Known = Sequence[Any]


class Record:
    """One result; this one is never known.

    Attributes
    ----------
    known : sequence or None
        The result, as far as an earlier run came; None for nothing.
    """

    known: Known | None = None

    def note(self, result: Callable[[], Known]) -> None:
        """Take note of the result so far, in place of what was noted before.

        Parameters
        ----------
        result : callable
            Returns it, with arrays that are not written to any more; called if it is wanted.
        """


class Journal:
    """A branch of a journal; this one remembers nothing."""

    def branch(self, name: str) -> "Journal":
        """Return the journal of a part; every part has its own name."""
        return self

    def record(self) -> Record:
        """Return the record of the next result."""
        return Record()

    def once(self, compute: Callable[["Journal"], Known]) -> Known:
        """Return a result that is known, or compute it and take note.

        Parameters
        ----------
        compute : callable
            Takes a journal for what it finds on its way, which is dropped when it is done.
        """
        return compute(self)


NO_JOURNAL = Journal()
