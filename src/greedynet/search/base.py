"""What the greedy loop asks of a search, and the scores by which atoms are ranked."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal, Protocol, runtime_checkable

import numpy as np

from greedynet.linalg.factor import Factor
from greedynet.search.atoms import Dictionary
from greedynet.support.types import Float64

Rule = Literal["ols", "oga"]

RULES: tuple[Rule, ...] = ("ols", "oga")


@dataclass(frozen=True, eq=False)
class Candidate:
    """A neuron a search proposes.

    Attributes
    ----------
    point : ndarray of shape (d + 1,)
        Inner weights, bias last.
    norm : float
        Norm of the neuron on the training rows: the column is the neuron divided by it.
    column : ndarray of shape (n_rows,)
        The normalised neuron on the training rows, sample weights included.
    index : int
        Position among the sampled points.
    """

    point: Float64
    norm: float
    column: Float64
    index: int


class Search(Protocol):
    """Finds the next neuron; is told what became of it."""

    def propose(self, factor: Factor) -> Candidate | None:
        """Return the best next neuron for the factor's residual; None if there is none."""
        ...

    def accept(self, factor: Factor) -> None:
        """Take note that the proposed neuron is now the factor's last column."""
        ...

    def reject(self) -> None:
        """Take note that the proposed neuron depends on the columns; it must not come again."""
        ...


class SearchFactory(Protocol):
    """Begins a search once the rows are known; what `search=` of the estimators takes."""

    def begin(self, X: Float64, row_scale: Float64 | None, seed: int) -> Search:
        """Return a search on some rows.

        Parameters
        ----------
        X : ndarray of shape (n_rows, d)
            Inputs, scaled to mean 0 and deviation 1.
        row_scale : ndarray of shape (n_rows,) or None
            Square roots of the sample weights, by which columns are to be multiplied; None for 1.
        seed : int
            Differs where a fit grows several networks.
        """
        ...


@runtime_checkable
class Recallable(Search, Protocol):
    """A search that another run of it can take up."""

    def memory(self) -> Sequence[Any]:
        """Return what the neuron just proposed is known by; then what it takes to go on."""
        ...

    def recall(self, factor: Factor, found: Any, *rest: Any) -> Candidate:
        """Propose what an earlier run found, without looking for it.

        Parameters
        ----------
        factor : Factor
            The columns so far.
        found, *rest
            What `memory` returned; the rest with the last neuron only.
        """
        ...


def scores(
    correlations: Float64, outside: Float64, rule: Rule, factor: Factor, alpha: float = 0.0
) -> Float64:
    """Squared score of every atom; several outputs count by the norm of their correlations.

        OGA:  || <r, g> ||^2          OLS:  || <r, g> ||^2 / (|| (I - QQ') g ||^2 + alpha)

    The second is what the atom takes from the squared error, less the ridge on its weight.

    Parameters
    ----------
    correlations : ndarray of shape (n_atoms, n_outputs)
        `<r, g_j>` for each output.
    outside : ndarray of shape (n_atoms,)
        `|| (I - QQ') g_j ||^2`, what of each atom lies outside the span.
    rule : {"ols", "oga"}
        Which score.
    factor : Factor
        Atoms that it would refuse as dependent get no score.
    alpha : float
        Ridge on the outer weights.
    """
    squares = np.einsum("ij,ij->i", correlations, correlations)
    free = outside > factor.dependent**2
    if rule == "ols":
        np.divide(squares, outside + alpha, out=squares, where=free)
    squares[~free] = -1.0
    return squares


def candidate(dictionary: Dictionary, atom: int) -> Candidate:
    """Return an atom of the dictionary as a candidate."""
    return Candidate(
        point=dictionary.points[atom],
        norm=float(dictionary.norms[atom]),
        column=dictionary.columns(np.array([atom]))[:, 0],
        index=int(dictionary.labels[atom]),
    )
