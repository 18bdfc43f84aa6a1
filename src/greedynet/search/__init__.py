"""Which neuron next: interchangeable searches behind one interface."""

from greedynet.search.base import Candidate, Search
from greedynet.search.dictionary import DictionarySearch
from greedynet.search.weak import WeakSearch

__all__ = ["Candidate", "DictionarySearch", "Search", "WeakSearch"]
