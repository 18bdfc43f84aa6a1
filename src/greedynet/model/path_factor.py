"""`PathFactor`: the triangular factor of a selection path, which gives the weights of any width."""

from dataclasses import dataclass, replace

from greedynet.linalg.triangular import outer_weights
from greedynet.support.types import Float64


@dataclass(frozen=True, eq=False)
class PathFactor:
    """The data needed to solve for the outer weights at any width of a path."""

    # (k, k): upper triangle of all columns, the affine ones first, then the neurons in order.
    R: Float64
    z: Float64  # (k, n_outputs): projections of the scaled outputs
    norms: Float64  # (n_neurons,): norms by which the columns of the neurons were divided
    # (d + 1, n_affine): weights of the affine columns as functions of the inputs, constant last.
    affine: Float64
    center: Float64  # (n_outputs,): the outputs were scaled as `(y - center) / scale`
    scale: Float64
    alpha: float = 0.0  # ridge on the outer weights of the neurons
    # (n_neurons + 1, k, n_outputs): the weights of the orthonormal columns at every width, padded
    # with zeros, for losses other than the squared one, where they do not follow from `z`.
    solutions: Float64 | None = None

    def coefficients(self, n_neurons: int) -> Float64:
        """Return the weights of the affine columns and the first `n_neurons` normalised neurons."""
        n_affine = self.affine.shape[1]
        k = n_affine + n_neurons
        z = self.z[:k] if self.solutions is None else self.solutions[n_neurons, :k]
        return outer_weights(self.R[:k, :k], z, self.alpha, n_affine)

    def solve(self, n_neurons: int) -> tuple[Float64, Float64, Float64]:
        """Return outer weights, linear weights and intercept for the first `n_neurons` neurons."""
        n_affine = self.affine.shape[1]
        weights = self.coefficients(n_neurons) * self.scale
        outer = weights[n_affine:] / self.norms[:n_neurons, None]
        affine = self.affine @ weights[:n_affine]
        return outer, affine[:-1], affine[-1] + self.center

    def truncated(self, n_neurons: int) -> "PathFactor":
        """Return the factor of the first `n_neurons` neurons."""
        k = self.affine.shape[1] + n_neurons
        return replace(
            self,
            R=self.R[:k, :k],
            z=self.z[:k],
            norms=self.norms[:n_neurons],
            solutions=None if self.solutions is None else self.solutions[: n_neurons + 1, :k],
        )

    def fits(self, n_neurons: int, n_features: int, n_outputs: int) -> bool:
        """Whether the arrays have the shapes for a network of this size."""
        n_affine = self.affine.shape[-1]
        k, t = n_affine + n_neurons, n_outputs
        shapes = [(k, k), (k, t), (n_neurons,), (n_features + 1, n_affine), (t,), (t,)]
        arrays = [self.R, self.z, self.norms, self.affine, self.center, self.scale]
        if self.solutions is not None:
            arrays.append(self.solutions)
            shapes.append((n_neurons + 1, k, t))
        return [array.shape for array in arrays] == shapes
