"""The greedy loop: search, append to the factor, until there are enough neurons (GSN 3)."""

from greedynet.linalg.factor import Factor
from greedynet.search.base import Proposal, Search
from greedynet.support.context import FitContext


def grow(factor: Factor, search: Search, n_more: int, context: FitContext) -> list[Proposal]:
    """Return the next neurons, each the best beside those before; the factor contains them.

    Parameters
    ----------
    factor : Factor
        The target and the columns so far, modified in place.
    search : Search
        Proposes neurons.
    n_more : int
        Number of neurons to find; fewer are returned if no others lie outside the span.
    context : FitContext
        Checked before every neuron for cancellation of the fit, and for the time that is left.
    """
    found: list[Proposal] = []
    while len(found) < n_more:
        context.check()
        # A network without any node would be nothing.
        if factor.size and context.clock.is_over():
            break
        proposed = search.propose(factor)
        if proposed is None:
            break
        if factor.append(proposed.column):
            search.accept(factor)
            found.append(proposed)
        else:
            search.reject()
    return found
