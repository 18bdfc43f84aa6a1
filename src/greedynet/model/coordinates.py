"""How numbers go in and weights come out: scalings, affine term, the network behind a factor."""

from dataclasses import dataclass, replace
from typing import Protocol

import numpy as np

from greedynet.activations import Activation
from greedynet.linalg.factor import Factor
from greedynet.losses import Loss, Squared
from greedynet.losses.loss_factor import LossFactor
from greedynet.model.network import ShallowNetwork
from greedynet.model.path_factor import Trail
from greedynet.rows.affine import AffineTerm
from greedynet.rows.rows import InputScaling, OutputScaling, Rows
from greedynet.search.base import Candidate
from greedynet.support.journal import NO_JOURNAL, Journal
from greedynet.support.types import Float64


class Solved(Protocol):
    """What a network is solved from: `F = QR` and `z = Q'Y`."""

    @property
    def R(self) -> Float64:
        """Upper triangle."""
        ...

    @property
    def z(self) -> Float64:
        """Projections of the outputs."""
        ...


@dataclass(frozen=True, eq=False)
class Frame:
    """The coordinates in which a network is grown.

    Inputs are scaled, so that neurons put kinks where the data are; outputs get unit size, so that
    several weigh the same. Both maps are undone in the weights.

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
    def of(rows: Rows, inputs: InputScaling, *, linear_term: bool) -> "Frame":
        """Return the frame that fits the training rows, with inputs scaled as given."""
        outputs = OutputScaling.of(rows, centred=linear_term)
        scaled = Rows(inputs.apply(rows.X), rows.Y, rows.weights)
        affine = AffineTerm.of(scaled) if linear_term else AffineTerm.absent(scaled)
        input_range = np.array([rows.X.min(axis=0), rows.X.max(axis=0)], dtype=np.float64)
        return Frame(inputs, outputs, affine, input_range)

    @property
    def n_affine(self) -> int:
        """Number of affine columns."""
        return int(self.affine.to_weights.shape[1])

    def without_rows(self) -> "Frame":
        """Return the frame without the affine columns on the training rows: a few numbers."""
        return replace(self, affine=replace(self.affine, columns=self.affine.columns[:0]))

    def apply(self, rows: Rows) -> Rows:
        """Rows in the coordinates of the frame."""
        X, Y = self.inputs.apply(rows.X), self.outputs.apply(rows.Y)
        return Rows(X, Y, rows.weights, rows.worth)

    def affine_columns(self, rows: Rows) -> Float64:
        """Return the affine columns on scaled rows, sample weights included."""
        return rows.weighted(self.affine.evaluate(rows.X))

    def neuron_columns(self, rows: Rows, points: Float64, activation: Activation) -> Float64:
        """Return neurons on scaled rows, sample weights included."""
        values = rows.X @ points[:, :-1].T + points[:, -1]
        return rows.weighted(np.asarray(activation.value(values), dtype=np.float64))

    def column(self, found: Candidate, activation: Activation, rows: Rows | None) -> Float64:
        """Return a candidate's normalised column on other scaled rows; its own if there are none.

        Without sample weights, and with the norm of the *training* rows.
        """
        if rows is None:
            return found.column
        z = rows.X @ found.point[:-1] + found.point[-1]
        return np.asarray(activation.value(z) / found.norm)

    def factor(
        self,
        rows: Rows,
        dependent: float,
        loss: Loss | None = None,
        journal: Journal = NO_JOURNAL,
    ) -> Factor:
        """Return the factor of scaled rows, with the affine columns in it."""
        if loss is None or isinstance(loss, Squared):
            factor = Factor(rows.weighted(rows.Y), dependent=dependent)
        else:
            factor = LossFactor(rows.Y, rows.weights, loss, dependent, journal)
        for column in self.affine_columns(rows).T:
            factor.append(column)
        return factor

    def network(
        self,
        factor: Solved,
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
            solutions=_solutions(factor, self.n_affine),
        )
        with np.errstate(over="ignore", invalid="ignore"):
            outer, linear, intercept = trail.solve(len(candidates))
        present = self.affine.n_nodes > 0
        slopes = trail.coefficients(len(candidates))[1 : self.n_affine]
        _check_scales(folded, outer, linear, sloped=bool(slopes.any()))
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


def _solutions(factor: Solved, n_affine: int) -> Float64 | None:
    """Weights at every width, where they do not follow from those of the last."""
    return factor.solutions(n_affine) if isinstance(factor, LossFactor) else None


def _check_scales(folded: Float64, outer: Float64, linear: Float64, *, sloped: bool) -> None:
    """Refuse weights that are no numbers any more in the units of the data."""
    weights = (folded, outer, linear)
    dead = (folded == 0).all(axis=1).any() or (sloped and not linear.any())
    if dead or not all(np.isfinite(w).all() for w in weights):
        raise ValueError(
            "`X` and `y` have scales for which the weights of a network are too large or too small "
            "for floating-point numbers: scale them to values near 1 first."
        )
