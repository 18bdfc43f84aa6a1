"""A search that begins with given neurons: those of a network that is to grow on."""

import numpy as np

from greedynet.activations import Activation, degree_of
from greedynet.linalg.factor import Factor
from greedynet.rows.rows import Rows
from greedynet.search.base import Candidate, Search
from greedynet.search.continuous import ContinuousSearch
from greedynet.support.types import Float64


class BegunSearch:
    """Proposes given neurons one by one, and then those found by a search.

    Parameters
    ----------
    search : Search
        The search that goes on.
    found_by : Search
        The search itself, without a journal. If it is a continuous one, given neurons are recalled
        by it, as if it had found them, and their directions join its pool; others see them as
        columns of the factor, such as those of the affine term.
    points : ndarray of shape (n, d + 1)
        Inner weights of the neurons for scaled inputs, bias last.
    rows : Rows
        Scaled rows; neurons that are zero on all of them are left out.
    activation : Activation
    """

    def __init__(
        self,
        search: Search,
        found_by: Search,
        points: Float64,
        rows: Rows,
        activation: Activation,
    ) -> None:
        self._search = search
        self._recalling = found_by if isinstance(found_by, ContinuousSearch) else None
        self._left = _candidates(points, rows, activation)
        self._is_given = False

    def propose(self, factor: Factor) -> Candidate | None:
        """Return the next given neuron, or the best next one."""
        self._is_given = bool(self._left)
        if not self._left:
            return self._search.propose(factor)
        given = self._left.pop(0)
        return given if self._recalling is None else self._recalling.recall(factor, given.point)

    def accept(self, factor: Factor) -> None:
        """Update the search after the proposed neuron became the last column of the factor."""
        if not self._is_given:
            self._search.accept(factor)

    def reject(self) -> None:
        """Exclude the proposed neuron, which depends on the columns of the factor."""
        if not self._is_given:
            self._search.reject()


def _candidates(points: Float64, rows: Rows, activation: Activation) -> list[Candidate]:
    """Return neurons as candidates, without those that are zero on all rows."""
    degree, found = degree_of(activation), []
    lengths = np.ones(len(points)) if degree is None else np.linalg.norm(points, axis=1)
    for point in points[lengths > 0] / lengths[lengths > 0, None]:
        values = np.asarray(activation.value(rows.X @ point[:-1] + point[-1]), dtype=np.float64)
        column = rows.weighted(values[:, None])[:, 0]
        norm = float(np.linalg.norm(column))
        if norm > 0:
            found.append(Candidate(point, norm, column / norm, index=-1))
    return found
