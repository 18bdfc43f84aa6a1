"""The journal of a fit: what it has done so far, so that an interrupted fit can be resumed.

A fit is deterministic. To resume an interrupted one, it is started again from the beginning, and
takes each step that is known from its journal instead of computing it. The result does not depend
on what the journal contains; only the time does. Steps are known by their order.
"""

from collections.abc import Sequence
from typing import Any

# Numbers, texts, arrays, and lists of them.
Known = Sequence[Any]


class Journal:
    """A journal; this base class stores nothing."""

    def known(self) -> Known | None:
        """Return the next step of an earlier run; None if it is to be computed, and noted."""
        return None

    def note(self, step: Known) -> None:
        """Record a step, with arrays that are no longer modified."""


NO_JOURNAL = Journal()
