"""Which neuron next: interchangeable searches behind one interface."""

from greedynet.search.base import Candidate, Recallable, Search
from greedynet.search.continuous import ContinuousSearch
from greedynet.search.dictionary import DictionarySearch
from greedynet.search.recorded import RecordedSearch
from greedynet.search.weak import WeakSearch

__all__ = [
    "Candidate",
    "ContinuousSearch",
    "DictionarySearch",
    "Recallable",
    "RecordedSearch",
    "Search",
    "WeakSearch",
]
