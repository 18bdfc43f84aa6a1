"""A factor for losses other than the squared one: the Chebyshev greedy algorithm.

In a Banach space the residual `r = y - F c` of the best weights has a *norming functional* that
vanishes on the span of the columns, with norm 1 and `<functional, r> = ||r||`. The greedy algorithm
takes the neuron on which the functional is largest: it replaces the residual of a Hilbert space.
For the squared loss the two coincide, and this is the orthogonal greedy algorithm.
"""

import numpy as np

from greedynet.linalg.factor import DEPENDENT, Factor
from greedynet.losses.base import Fit, Loss
from greedynet.support.types import Float64


class LossFactor(Factor):
    """A factor whose weights minimise a loss, in the coordinates of its orthonormal columns.

    The target is given without sample weights; columns are passed multiplied by the square roots of
    the `weights`, as to any factor.
    """

    follows_projection = False

    def __init__(
        self,
        target: Float64,
        weights: Float64 | None,
        loss: Loss,
        dependent: float = DEPENDENT,
    ) -> None:
        super().__init__(target, dependent=dependent)
        self.loss = loss
        self._target = np.asarray(target, dtype=np.float64)
        self._row_weights = weights
        self._row_scale = (
            np.ones((len(target), 1)) if weights is None else np.sqrt(weights)[:, None]
        )
        self._fits: dict[int, Fit] = {}

    @property
    def fit(self) -> Fit:
        """The fit of all columns."""
        if self.size not in self._fits:
            start = self._fits.get(self.size - 1)
            self._fits[self.size] = self._fitted(self.Q / self._row_scale, start)
            if self.size - 1 in self._fits:
                # Of the narrower fit, only the weights are still needed.
                narrower = self._fits[self.size - 1]
                self._fits[self.size - 1] = Fit(narrower.weights, _NONE, _NONE)
        return self._fits[self.size]

    def _fitted(self, columns: Float64, start: Fit | None) -> Fit:
        return self.loss.fit(columns, self._target, self._row_weights, start)

    @property
    def residual(self) -> Float64:
        """The norming functional of the residuals, for columns that include sample weights."""
        return self.fit.functional / self._row_scale

    @property
    def z(self) -> Float64:
        """Weights of the orthonormal columns."""
        return self.fit.weights

    @property
    def target_size(self) -> float:
        """The loss's measure of the target."""
        return self.loss.size(self._target, self._row_weights)

    def square_left(self, weights: Float64, alpha: float) -> float:
        """Return the square of the loss's measure of the residuals."""
        return self.loss.size(self.fit.residuals, self._row_weights) ** 2

    def solutions(self, n_affine: int) -> Float64:
        """Weights of the orthonormal columns at every width from the affine term on, and zeros."""
        padded = np.zeros((self.size - n_affine + 1, self.size, self._target.shape[1]))
        for width, of_width in enumerate(padded, n_affine):
            of_width[:width] = self._fits[width].weights if width < self.size else self.z
        return padded

    def _project(self, added: slice) -> None:
        """Do nothing: the weights are fitted on demand."""


_NONE: Float64 = np.empty((0, 0))
