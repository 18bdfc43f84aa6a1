"""`train` for fitted estimators, and `train_networks`, which trains the networks themselves.

Adam takes steps of about the same length for every weight, so the scale of the data matters:
`train` transforms the network of an estimator to inputs in [-1, 1]^d and outputs of unit scale,
with its neurons on the unit sphere as the greedy algorithm found them, and transforms it back. Of
two hidden layers, the second one is trained on inputs that the first one has lifted.
"""

import time
import warnings
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from sklearn.exceptions import ConvergenceWarning

from greedynet.activations import degree_of
from greedynet.estimators.regressor import GreedyNetRegressor
from greedynet.estimators.trained import TrainingResult, with_trained_network
from greedynet.fitting.forms import lifted
from greedynet.losses import Squared
from greedynet.model.network import Network
from greedynet.model.uncertainty.calibration import HeldOutPredictions
from greedynet.model.uncertainty.expectation import RMSE, Expectation, errors_by_output
from greedynet.rows.rows import Rows
from greedynet.rows.scaling import InputScaling, OutputScaling
from greedynet.search.sphere import RandomState
from greedynet.support.types import Float64
from greedynet.train.checks import (
    Keep,
    Progress,
    check_networks,
    check_rows,
    check_settings,
    check_trainable,
    check_validation,
)
from greedynet.train.driver import Outcome, drive


def train(
    model: GreedyNetRegressor,
    X: ArrayLike,
    y: ArrayLike,
    sample_weight: ArrayLike | None = None,
    *,
    X_val: ArrayLike | None = None,
    y_val: ArrayLike | None = None,
    sample_weight_val: ArrayLike | None = None,
    epochs: int = 10_000,
    **options: Any,
) -> GreedyNetRegressor:
    """Return a copy of a fitted regressor whose network was trained on by backpropagation (GSN 5).

    All weights are trained for squared errors at the width of the fit, inputs and outputs being
    scaled; of two hidden layers, those of the second one. What held-out rows said of the errors in
    the fit is not true of another network, so the copy promises nothing that was not measured: its
    `expected_error_` is the error on the validation rows, as in a fit with a validation set, and
    None without them. It has no intervals.

    Parameters
    ----------
    model : GreedyNetRegressor
        A fitted regressor for squared errors without `shape`, whose signs of weights steps
        of backpropagation would not keep. It is not changed.
    X : array-like of shape (n_rows, n_features)
        Training inputs, in the form of those in its fit, usually the same.
    y : array-like of shape (n_rows,) or (n_rows, n_outputs)
        Training outputs.
    sample_weight : array-like of shape (n_rows,) or None, default=None
        Weights of the rows.
    X_val, y_val : array-like or None, default=None
        Rows that are not among the training rows: the weights with the smallest error on them are
        kept, and this error is the expected one. None to use the training error.
    sample_weight_val : array-like or None, default=None
        Weights of the validation rows.
    epochs : int, default=10_000
        Number of passes over the training rows.
    **options
        `batch_size`, `learning_rate`, `decay`, `keep`, `random_state` and `progress` as in
        `train_networks`.

    Returns
    -------
    trained : GreedyNetRegressor
        With the history of the training as `training_`, whose errors are of scaled outputs. Its
        `path_` is that of the growth. If no epoch was better than the start, its network is that
        of the fit.

    Examples
    --------
    >>> import numpy as np
    >>> from greedynet import GreedyNetRegressor
    >>> from greedynet.train import train
    >>> X = np.linspace(-1, 1, 50)[:, None]
    >>> y = np.cos(2 * np.pi * X[:, 0])
    >>> model = GreedyNetRegressor(n_nodes=8).fit(X[::2], y[::2])
    >>> trained = train(model, X[::2], y[::2], X_val=X[1::2], y_val=y[1::2], epochs=200)
    >>> bool(trained.expected_error_ < np.std(y[1::2] - model.predict(X[1::2])))
    True
    """
    check_trainable(model)
    network = model.network_
    rows = check_rows(network, model.network_inputs(X), y, sample_weight)
    inputs_val = None if X_val is None else model.network_inputs(X_val)
    validation = check_validation(network, inputs_val, y_val, sample_weight_val)
    result = _train_scaled(network, rows, validation, epochs=epochs, **options)
    trained = with_trained_network(model, result.network)
    trained.training_ = result
    if validation is not None:
        held_out = HeldOutPredictions.of(validation, result.network.predict(validation.X))
        errors = errors_by_output(held_out, Squared())
        assert errors is not None
        figure = tuple(errors.tolist()) if len(errors) > 1 else float(errors[0])
        trained.expectation_ = Expectation(RMSE, figure, n_rows=len(validation))
    return trained


def _train_scaled(
    network: Network, rows: Rows, validation: Rows | None, **options: Any
) -> TrainingResult:
    """Train a network in scaled coordinates; the result is in original units."""
    neuron_rows = _lifted(network, rows)
    inputs = InputScaling.to_cube(neuron_rows.X)
    outputs = OutputScaling.of(neuron_rows, centred=True)
    if validation is not None:
        held_out = _lifted(network, validation)
        options |= {"X_val": inputs.apply(held_out.X), "y_val": outputs.apply(held_out.Y)}
        options["sample_weight_val"] = held_out.weights
    (result,) = train_networks(
        [scaled(network, inputs, outputs)],
        inputs.apply(neuron_rows.X),
        outputs.apply(neuron_rows.Y),
        sample_weight=neuron_rows.weights,
        **options,
    )
    if result.best_epoch == 0 and options.get("keep", "best") == "best":
        # No better weights were found: return the network itself, without rounding errors.
        return replace(result, network=network)
    trained = replace(
        unscaled(result.network, inputs, outputs),
        ramps=network.ramps,
        input_range=_with_range_of(network, rows).input_range,
        feature_names=network.feature_names,
        single_output=network.single_output,
        bounds=network.bounds,
    )
    return replace(result, network=trained)


def train_networks(
    networks: Sequence[Network],
    X: ArrayLike,
    y: ArrayLike,
    *,
    X_val: ArrayLike | None = None,
    y_val: ArrayLike | None = None,
    sample_weight: ArrayLike | None = None,
    sample_weight_val: ArrayLike | None = None,
    epochs: int = 10_000,
    batch_size: int | None = None,
    learning_rate: float = 1e-3,
    decay: float = 0.99954,
    keep: Keep = "best",
    random_state: RandomState = 0,
    progress: Progress = None,
) -> list[TrainingResult]:
    """Train all weights of networks of one architecture by backpropagation (GSN 5).

    Minimises the mean squared error `sum_i w_i |g(x_i) - y_i|**2 / (t sum_i w_i)` over the inner
    weights, the biases, the outer weights, the affine term if a network has one, and an output
    bias that starts at its intercept, or at 0. Computes in float64 regardless of the settings of
    JAX. Of two hidden layers, the second one is trained, and the knots of the first one stay.

    The optimiser is the paper's Adam, with the learning rate `learning_rate * decay**epoch`; for
    any other, train what `greedynet.export.to_jax` returns. Up to rounding, networks that are
    trained together become those that each would become alone: all see the same batches in the
    same order, which is why ten cost little more than one.

    Parameters
    ----------
    networks : list of Network
        The networks to start from, such as `random_networks(10, ...)`, or the `network_` of a fit.
    X : array-like of shape (n_rows, n_features)
        Training inputs.
    y : array-like of shape (n_rows,) or (n_rows, n_outputs)
        Training outputs.
    X_val, y_val : array-like or None, default=None
        Validation rows by which the best weights are chosen; None to use the training error.
    sample_weight, sample_weight_val : array-like of shape (n_rows,) or None, default=None
        Weights of the rows.
    epochs : int, default=10_000
        Number of passes over the training rows.
    batch_size : int or None, default=None
        Rows in a step, reshuffled in every epoch; None for all rows.
    learning_rate : float, default=1e-3
        Adam's learning rate in the first epoch.
    decay : float, default=0.99954
        Factor of the learning rate from epoch to epoch.
    keep : {"best", "last"}, default="best"
        "best" returns the weights with the smallest validation error, including the initial ones,
        so that the result is never worse than the start. "last" returns those of the last epoch, as
        in the paper.
    random_state : int, RandomState or None, default=0
        Seed of the batches.
    progress : callable or None, default=None
        Called about twice a second with the number of epochs done and the total number of epochs.

    Returns
    -------
    results : list of TrainingResult
        For each network, in the same order: the trained network, without a selection path, and the
        errors after each epoch. The box of its inputs includes the training rows; validation rows
        are clipped to it. Bounds on the outputs are left out in training and in these errors; the
        network has them again. After Ctrl-C, the result so far, with `interrupted=True`.

    Examples
    --------
    >>> import numpy as np
    >>> from greedynet.train import random_networks, train_networks
    >>> X = np.linspace(-1, 1, 50)[:, None]
    >>> y = np.cos(2 * np.pi * X[:, 0])
    >>> results = train_networks(random_networks(2, n_features=1, n_nodes=8), X, y, epochs=200)
    >>> bool(results[0].loss_history[-1] < results[0].loss_history[0])
    True
    """
    begin = time.perf_counter()
    networks = check_networks(networks)
    rows = check_rows(networks[0], X, y, sample_weight)
    networks = [_with_range_of(network, rows) for network in networks]
    validation = check_validation(networks[0], X_val, y_val, sample_weight_val)
    rows = replace(rows, X=networks[0].lift(np.asarray(rows.X, dtype=np.float64)))
    if validation is not None:
        inputs = networks[0].neuron_inputs(np.asarray(validation.X, dtype=np.float64))
        validation = replace(validation, X=inputs)
    settings = check_settings(
        len(rows),
        epochs=epochs,
        batch_size=batch_size,
        learning_rate=learning_rate,
        decay=decay,
        keep=keep,
        progress=progress,
        random_state=random_state,
    )
    outcome = drive(networks, rows, validation, settings, progress)
    _warn_if_diverged(outcome)
    return _results(outcome, validation is not None, time.perf_counter() - begin)


def _with_range_of(network: Network, rows: Rows) -> Network:
    """Return the network with a range of inputs that includes the rows it is trained on."""
    known = rows.X if network.input_range is None else np.vstack([rows.X, network.input_range])
    return replace(network, input_range=np.stack([known.min(axis=0), known.max(axis=0)]))


def _results(outcome: Outcome, validated: bool, seconds: float) -> list[TrainingResult]:
    return [
        TrainingResult(
            network,
            outcome.losses[i],
            outcome.scores[i] if validated else None,
            int(outcome.best_epochs[i]),
            seconds,
            outcome.interrupted,
        )
        for i, network in enumerate(outcome.networks)
    ]


def _warn_if_diverged(outcome: Outcome) -> None:
    diverged = ~np.isfinite(outcome.losses[:, -1])
    if diverged.any():
        epoch = int(np.argmin(np.isfinite(outcome.losses[diverged]), axis=1).min())
        warnings.warn(
            f"{diverged.sum()} of {len(diverged)} trainings diverged, the first in epoch {epoch}: "
            "try a smaller `learning_rate`, or scale the data.",
            ConvergenceWarning,
            stacklevel=3,
        )


# Scaled coordinates


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
