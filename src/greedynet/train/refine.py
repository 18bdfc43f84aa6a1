"""Refinement: train a grown network further, in well-scaled coordinates (GSN 5).

Adam takes steps of about the same length for every weight, so the scale of the data matters. The
network is therefore transformed to inputs in [-1, 1]^d and outputs of unit scale, with its neurons
on the unit sphere as the greedy algorithm found them, trained, and transformed back. Of two hidden
layers, the second one is trained on inputs that the first one has lifted.
"""

from dataclasses import replace

import numpy as np

from greedynet.activations import degree_of
from greedynet.fitting.lifted_blocks import lifted
from greedynet.model.network import Network
from greedynet.rows.rows import Rows
from greedynet.rows.scaling import InputScaling, OutputScaling
from greedynet.support.types import Float64
from greedynet.train.fit import train_many
from greedynet.train.result import TrainingResult


def refine_by_adam(
    network: Network,
    rows: Rows,
    validation: Rows | None,
    *,
    epochs: int,
    random_state: int,
) -> TrainingResult:
    """Train a network with Adam; keep the best weights by validation, possibly the initial ones.

    Parameters
    ----------
    network : Network
        The network to start from.
    rows : Rows
        Training data.
    validation : Rows or None
        Data by which the best weights are chosen; None to use the training error.
    epochs : int
        Number of passes over the rows.
    random_state : int
        Seed.

    Returns
    -------
    result : TrainingResult
        Its network takes inputs and gives outputs in their original units.
    """
    rows = _lifted(network, rows)
    validation = None if validation is None else _lifted(network, validation)
    inputs, outputs = InputScaling.to_cube(rows.X), OutputScaling.of(rows, centred=True)
    (result,) = train_many(
        [scaled(network, inputs, outputs)],
        inputs.apply(rows.X),
        outputs.apply(rows.Y),
        sample_weight=rows.weights,
        epochs=epochs,
        random_state=random_state,
        X_val=inputs.apply(validation.X) if validation is not None else None,
        y_val=outputs.apply(validation.Y) if validation is not None else None,
        sample_weight_val=validation.weights if validation is not None else None,
    )
    if result.best_epoch == 0:
        # No better weights were found: return the network itself, without rounding errors.
        return replace(result, network=network)
    trained = replace(
        unscaled(result.network, inputs, outputs),
        ramps=network.ramps,
        input_range=network.input_range,
        feature_names=network.feature_names,
        single_output=network.single_output,
        bounds=network.bounds,
    )
    return replace(result, network=trained)


def _lifted(network: Network, rows: Rows) -> Rows:
    """Return rows as the neurons of a network get them."""
    return rows if network.ramps is None else lifted(rows, network.ramps)


def scaled(network: Network, inputs: InputScaling, outputs: OutputScaling) -> Network:
    """Return the neurons for scaled inputs and outputs, homogeneous ones on the sphere."""
    points = inputs.unfold(np.column_stack([network.inner_weights, network.biases]))
    degree = degree_of(network.activation)
    lengths = np.linalg.norm(points, axis=1, keepdims=True)
    if degree is None:
        # Without homogeneity, neurons cannot be rescaled.
        degree, lengths = 1, np.ones_like(lengths)
    linear, intercept = _affine(network)
    affine = inputs.unfold(np.column_stack([linear.T, intercept])) / outputs.scale[:, None]
    return replace(
        network,
        inner_weights=points[:, :-1] / lengths,
        biases=points[:, -1] / lengths[:, 0],
        outer_weights=network.outer_weights * lengths**degree / outputs.scale,
        linear_weights=None if network.linear_weights is None else affine[:, :-1].T,
        intercept=affine[:, -1] - outputs.center / outputs.scale,
        single_output=False,
        input_range=None,
        feature_names=None,
        ramps=None,  # their values are inputs
        path_factor=None,
        bounds=None,  # of the outputs in original units
    )


def unscaled(network: Network, inputs: InputScaling, outputs: OutputScaling) -> Network:
    """Return the network in original units: inverts `scaled`, up to the norms of the neurons."""
    points = inputs.fold(np.column_stack([network.inner_weights, network.biases]))
    linear, intercept = _affine(network)
    affine = inputs.fold(np.column_stack([linear.T, intercept])) * outputs.scale[:, None]
    return replace(
        network,
        inner_weights=points[:, :-1],
        biases=points[:, -1],
        outer_weights=network.outer_weights * outputs.scale,
        linear_weights=None if network.linear_weights is None else affine[:, :-1].T,
        intercept=affine[:, -1] + outputs.center,
    )


def _affine(network: Network) -> tuple[Float64, Float64]:
    """Return linear weights and intercept, zeros if the network has none."""
    linear, intercept = network.linear_weights, network.intercept
    return (
        np.zeros((network.n_lifted, network.n_outputs)) if linear is None else linear,
        np.zeros(network.n_outputs) if intercept is None else intercept,
    )
