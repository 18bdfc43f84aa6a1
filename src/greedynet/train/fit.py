"""`train` and `train_many`: check the arguments, run the training, collect the results."""

import time
import warnings
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from sklearn.exceptions import ConvergenceWarning

from greedynet.model.network import Network
from greedynet.rows.rows import Rows
from greedynet.search.sphere import RandomState
from greedynet.train.driver import Outcome, drive
from greedynet.train.inputs import (
    Keep,
    Progress,
    check_networks,
    check_rows,
    check_settings,
    check_validation,
)
from greedynet.train.result import TrainingResult


def train(
    network: Network,
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
    optimizer: Any = None,
    keep: Keep = "best",
    random_state: RandomState = 0,
    progress: Progress = None,
) -> TrainingResult:
    """Train all weights of a network by backpropagation (GSN 5).

    Minimises the mean squared error `sum_i w_i |g(x_i) - y_i|**2 / (t sum_i w_i)` over the inner
    weights, the biases, the outer weights, the affine term if the network has one, and an output
    bias that starts at the network's intercept, or at 0. Computes in float64 regardless of the
    settings of JAX. Of two hidden layers, the second one is trained, and the knots of the first one
    stay.

    The default is the paper's Adam, with the learning rate `learning_rate * decay**epoch`.

    Parameters
    ----------
    network : Network
        The network to start from: the `network_` of a fit, or one of the `random_networks`.
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
    optimizer : optax.GradientTransformation or None, default=None
        Any optax optimiser, with its own learning rate or schedule, in place of Adam with
        `learning_rate` and `decay`. A schedule counts steps: `ceil(n_rows / batch_size)` per epoch.
    keep : {"best", "last"}, default="best"
        "best" returns the weights with the smallest validation error, including the initial ones,
        so that the result is never worse than the start. "last" returns those of the last epoch, as
        in the paper.
    random_state : int, RandomState or None, default=0
        Seed of the batches.
    progress : bool, callable or None, default=None
        None for a progress bar after two seconds, if standard error is a terminal; True for a bar,
        False for none. A function is called about twice a second with the number of epochs done and
        the total number of epochs.

    Returns
    -------
    result : TrainingResult
        The trained network, without a selection path, and the errors after each epoch. The box of
        its inputs includes the training rows; validation rows are clipped to it. Bounds on
        the outputs are left out in training and in these errors; the network has them again.
        After Ctrl-C, the result so far, with `interrupted=True`.

    Examples
    --------
    >>> import numpy as np
    >>> from greedynet import GreedyNetRegressor
    >>> from greedynet.train import train
    >>> X = np.linspace(-1, 1, 50)[:, None]
    >>> y = np.cos(2 * np.pi * X[:, 0])
    >>> start = GreedyNetRegressor(n_nodes=8).fit(X, y).network_
    >>> result = train(start, X, y, epochs=200)
    >>> bool(result.loss_history[result.best_epoch] < result.loss_history[0])
    True
    """
    if not isinstance(network, Network):
        raise TypeError(
            f"`network` must be a Network, got {type(network).__name__}: a fitted estimator has "
            "one as `network_`."
        )
    (result,) = train_many(
        [network],
        X,
        y,
        X_val=X_val,
        y_val=y_val,
        sample_weight=sample_weight,
        sample_weight_val=sample_weight_val,
        epochs=epochs,
        batch_size=batch_size,
        learning_rate=learning_rate,
        decay=decay,
        optimizer=optimizer,
        keep=keep,
        random_state=random_state,
        progress=progress,
    )
    return result


def train_many(
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
    optimizer: Any = None,
    keep: Keep = "best",
    random_state: RandomState = 0,
    progress: Progress = None,
    n_jobs: int | None = None,
) -> list[TrainingResult]:
    """Train several networks of one architecture at once.

    Up to rounding, each result is that of `train` with the same arguments: all networks see the
    same batches in the same order, which is why ten cost little more than one.

    Parameters
    ----------
    networks : list of Network
        The networks to start from, such as `random_networks(10, ...)`.
    X, y, X_val, y_val, sample_weight, sample_weight_val : array-like
        See `train`.
    epochs, batch_size, learning_rate, decay, optimizer, keep, random_state, progress
        See `train`.
    n_jobs : int or None, default=None
        Number of threads for large networks; None or -1 for all cores. The result does not depend
        on it.

    Returns
    -------
    results : list of TrainingResult
        One result for each network, in the same order.
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
        optimizer=optimizer,
        keep=keep,
        random_state=random_state,
    )
    outcome = drive(networks, rows, validation, settings, progress, n_jobs)
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
