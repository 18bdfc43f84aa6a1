"""How numbers go in and weights come out: scalings, affine term, the network behind a factor."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from greedynet.activations import Activation
from greedynet.affine import AffineTerm
from greedynet.data import InputScaling, OutputScaling, Rows
from greedynet.factor import Factor
from greedynet.network import ShallowNetwork
from greedynet.search.base import Candidate
from greedynet.trail import Trail

Float64 = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Frame:
    """The coordinates in which a network is grown.

    Inputs are mapped onto the cube [-1, 1]^d, so that points of the sphere put kinks where the data
    are; outputs get unit size, so that several weigh the same. Both maps are undone in the weights.

    Attributes
    ----------
    inputs : InputScaling
    outputs : OutputScaling
    affine : AffineTerm
        On the scaled training rows.
    input_range : ndarray of shape (2, d)
        Smallest and largest inputs, before scaling.
    """

    inputs: InputScaling
    outputs: OutputScaling
    affine: AffineTerm
    input_range: Float64

    @staticmethod
    def of(rows: Rows, *, linear_term: bool, scale_inputs: bool) -> "Frame":
        """Return the frame that fits the training rows."""
        n_features = rows.X.shape[1]
        inputs = InputScaling.to_cube(rows.X) if scale_inputs else InputScaling.identity(n_features)
        outputs = OutputScaling.of(rows, centred=linear_term)
        scaled = Rows(inputs.apply(rows.X), rows.Y, rows.weights)
        affine = AffineTerm.of(scaled) if linear_term else AffineTerm.absent(scaled)
        input_range = np.array([rows.X.min(axis=0), rows.X.max(axis=0)], dtype=np.float64)
        return Frame(inputs, outputs, affine, input_range)

    def apply(self, rows: Rows) -> Rows:
        """Rows in the coordinates of the frame."""
        return Rows(self.inputs.apply(rows.X), self.outputs.apply(rows.Y), rows.weights)

    def factor(self, rows: Rows, dependent: float) -> Factor:
        """Return the factor of the scaled training rows, with the affine columns in it."""
        factor = Factor(rows.weighted(rows.Y), dependent=dependent)
        for column in self.affine.columns.T:
            factor.append(column)
        return factor

    def network(
        self,
        factor: Factor,
        candidates: list[Candidate],
        activation: Activation,
        *,
        alpha: float,
        single_output: bool,
    ) -> ShallowNetwork:
        """Return the network of all columns, on the inputs and outputs as they came."""
        n_features = len(self.inputs.center)
        points = np.array([c.point for c in candidates]).reshape(-1, n_features + 1)
        with np.errstate(over="ignore", invalid="ignore"):
            folded = self.inputs.fold(points)
            affine = self.inputs.fold(self.affine.to_weights.T).T
        trail = Trail(
            R=factor.R.copy(),
            z=factor.z.copy(),
            norms=np.array([c.norm for c in candidates]),
            affine=affine,
            center=self.outputs.center,
            scale=self.outputs.scale,
            alpha=alpha,
        )
        with np.errstate(over="ignore", invalid="ignore"):
            outer, linear, intercept = trail.solve(len(candidates))
        present = self.affine.n_nodes > 0
        _check_scales(folded, outer, linear, sloped=bool(trail.z[1 : affine.shape[1]].any()))
        return ShallowNetwork(
            inner_weights=folded[:, :-1],
            biases=folded[:, -1],
            outer_weights=outer,
            linear_weights=linear if present else None,
            intercept=intercept if present else None,
            activation=activation,
            single_output=single_output,
            trail=trail,
            input_range=self.input_range,
        )


def _check_scales(folded: Float64, outer: Float64, linear: Float64, *, sloped: bool) -> None:
    """Refuse weights that are no numbers any more in the units of the data."""
    weights = (folded, outer, linear)
    dead = (folded == 0).all(axis=1).any() or (sloped and not linear.any())
    if dead or not all(np.isfinite(w).all() for w in weights):
        raise ValueError(
            "`X` and `y` have scales for which the weights of a network are too large or too small "
            "for floating-point numbers: scale them to values near 1 first."
        )
