"""The interface between the greedy loop and a search."""

from dataclasses import dataclass
from typing import Protocol

import numpy as np

from greedynet.activations import Activation
from greedynet.linalg.factor import Factor
from greedynet.support.types import Float64

# Scores and norms that agree to this fraction are equal up to rounding.
TIE = 1e-8


@dataclass(frozen=True, eq=False)
class Proposal:
    """A neuron proposed by a search.

    Attributes
    ----------
    point : ndarray of shape (d + 1,)
        Inner weights, bias last.
    norm : float
        Norm of the neuron on the training rows, by which the column is divided.
    column : ndarray of shape (n_rows,)
        The normalised neuron on the training rows, sample weights included.
    index : int
        Position among the sampled points; -1 without a dictionary.
    """

    point: Float64
    norm: float
    column: Float64
    index: int


class Search(Protocol):
    """Proposes the next neuron, and is notified whether it was accepted."""

    def propose(self, factor: Factor) -> Proposal | None:
        """Return the best next neuron for the factor's residual; None if there is none."""
        ...

    def accept(self, factor: Factor) -> None:
        """Update the search after the proposed neuron became the last column of the factor."""
        ...

    def reject(self) -> None:
        """Exclude the proposed neuron, which depends on the columns of the factor."""
        ...


class SearchFactory(Protocol):
    """Starts a search once the rows are known; a value for `search=` of the estimators."""

    def begin(
        self, X: Float64, row_scale: Float64 | None, activation: Activation, seed: int
    ) -> Search:
        """Return a search on some rows.

        Parameters
        ----------
        X : ndarray of shape (n_rows, d)
            Inputs, scaled to mean 0 and standard deviation 1, in the canonical order and with the
            canonical signs of the columns (see `greedynet.rows.rows`).
        row_scale : ndarray of shape (n_rows,) or None
            Square roots of the sample weights, by which columns must be multiplied; None for 1.
        activation : Activation
            The activation of the neurons to propose.
        seed : int
            Random seed; it differs between the networks of a fit.
        """
        ...


def to_few_digits(scores: Float64) -> Float64:
    """Return scores in units of the largest one, without the digits that rounding determines."""
    largest = float(scores.max(initial=0.0))
    return np.round(scores / largest / TIE) if largest > 0 else scores
