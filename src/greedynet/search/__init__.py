"""Search for the next neuron: interchangeable searches behind one interface.

May import `support`, `linalg`, `activations`, `losses`, `rows` and `model`; it knows the factor of
the chosen columns and the residual, and nothing of the greedy loop that calls it.
"""

from greedynet.search.atom_search import DictionarySearch
from greedynet.search.base import Proposal, Search, SearchFactory
from greedynet.search.continuous import ContinuousSearch
from greedynet.search.dictionary import Dictionary

__all__ = [
    "ContinuousSearch",
    "Dictionary",
    "DictionarySearch",
    "Proposal",
    "Search",
    "SearchFactory",
]
