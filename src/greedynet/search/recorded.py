"""A search with a journal: neurons found in an earlier run are not searched for again."""

from typing import Any

from greedynet.linalg.factor import Factor
from greedynet.search.base import Candidate, Recallable, Search
from greedynet.support.journal import NO_JOURNAL, Journal, Record


def recorded(search: Search, journal: Journal) -> Search:
    """Return a search that records its neurons in a journal, if there is one."""
    if isinstance(search, Recallable):
        return RecordedSearch(search, journal.record())
    if journal is NO_JOURNAL:
        return search
    raise ValueError(
        f"`checkpoint` needs a search that can be resumed, got a {type(search).__name__} without "
        "`memory` and `recall`: implement these two methods, or omit `checkpoint`."
    )


class RecordedSearch:
    """Proposes the recorded neurons, and then those found by a search.

    Parameters
    ----------
    search : Recallable
        The search.
    record : Record
        The neurons found so far, and the state needed to continue after the last one.
    """

    def __init__(self, search: Recallable, record: Record) -> None:
        self._search, self._record = search, record
        found, *self._rest = record.known or [[]]
        self._known: list[Any] = list(found)
        self._n_proposed = 0

    def propose(self, factor: Factor) -> Candidate | None:
        """Return the best next neuron."""
        if self._n_proposed < len(self._known):
            self._n_proposed += 1
            is_last = self._n_proposed == len(self._known)
            rest = self._rest if is_last else []
            return self._search.recall(factor, self._known[self._n_proposed - 1], *rest)
        proposed = self._search.propose(factor)
        if proposed is not None:
            self._n_proposed += 1
            self._record.note(self._memory)
        return proposed

    def accept(self, factor: Factor) -> None:
        """Update the search after the proposed neuron became the last column of the factor."""
        self._search.accept(factor)

    def reject(self) -> None:
        """Exclude the proposed neuron, which depends on the columns of the factor."""
        self._search.reject()

    def _memory(self) -> list[Any]:
        found, *rest = self._search.memory()
        self._known.append(found)
        return [list(self._known), *rest]
