"""The arguments of a training, checked: rows that match the network, valid settings.

Every message names the argument, what it must be, what was given and what to write instead.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, is_dataclass
from numbers import Real
from typing import Any, Literal, get_args

import numpy as np
from numpy.typing import ArrayLike
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted

from greedynet.activations import ACTIVATIONS
from greedynet.estimators.regressor import GreedyNetRegressor
from greedynet.estimators.shapes import is_asked_for
from greedynet.model.network import Network
from greedynet.model.uncertainty.expectation import RMSE
from greedynet.rows.rows import Rows
from greedynet.search.sphere import RandomState
from greedynet.support.checks import (
    check_columns,
    check_count,
    check_matrix,
    check_same_length,
    check_weights,
)
from greedynet.support.types import Float64

Keep = Literal["best", "last"]
# Called with the number of epochs done, and that of all.
Progress = Callable[[int, int], None] | None


@dataclass(frozen=True)
class Schedule:
    """How to train; see `train`."""

    epochs: int
    batch_size: int
    learning_rate: float
    decay: float
    keep: Keep
    seed: int


def check_settings(
    n_rows: int,
    *,
    epochs: int,
    batch_size: int | None,
    learning_rate: float,
    decay: float,
    keep: Keep,
    progress: Progress,
    random_state: RandomState,
) -> Schedule:
    """Return the settings of a training on `n_rows` rows; raise an error if they are not valid."""
    check_count(epochs, "epochs", 0)
    if batch_size is not None:
        check_count(batch_size, "batch_size")
        if batch_size > n_rows:
            raise ValueError(
                f"`batch_size` must be at most the number of training rows, {n_rows}, got "
                f"{batch_size}: write `batch_size=None` for all rows in every step."
            )
    _check_positive(learning_rate, "learning_rate", np.inf, "such as 1e-3")
    _check_positive(decay, "decay", 1.0, "such as 0.99954; 1 keeps the learning rate")
    if keep not in get_args(Keep):
        raise ValueError(
            f"`keep` must be 'best' (by validation) or 'last' (the weights of the last epoch), "
            f"got {keep!r}."
        )
    if progress is not None and not callable(progress):
        raise TypeError(
            "`progress` must be None or a function of the epochs done and their total number, got "
            f"{progress!r}: write progress=print for two numbers now and then."
        )
    seed = int(check_random_state(random_state).randint(np.iinfo(np.int32).max))
    size = n_rows if batch_size is None else int(batch_size)
    return Schedule(int(epochs), size, float(learning_rate), float(decay), keep, seed)


def check_trainable(model: Any) -> None:
    """Raise an error unless a model is a regressor whose training keeps what it promises."""
    if not isinstance(model, GreedyNetRegressor):
        instead = {
            True: "write train_networks([network], X, y)",
            False: "write `greedynet.export.to_torch` to train a classifier elsewhere",
        }[isinstance(model, Network)]
        raise TypeError(
            f"`model` must be a fitted GreedyNetRegressor, got {type(model).__name__}: {instead}."
        )
    check_is_fitted(model)
    if model.expectation_.measure != RMSE:
        raise ValueError(
            f'`model` must have loss="squared_error", which is trained, got loss={model.loss!r}.'
        )
    if is_asked_for(model.monotonic_cst) or is_asked_for(model.convex):
        raise ValueError(
            "`model` must have no shape, got one with `monotonic_cst` or `convex`: steps of "
            "backpropagation would not keep the signs of the weights."
        )


def check_networks(networks: Sequence[Network]) -> list[Network]:
    """Raise an error unless there is at least one network, and all have the same architecture."""
    if isinstance(networks, Network) or not isinstance(networks, Sequence):
        raise TypeError(
            f"`networks` must be a list of Network, got {type(networks).__name__}: write "
            "[network] for one; `train` takes a fitted regressor."
        )
    if not networks:
        raise ValueError("`networks` must hold at least one network, got an empty list.")
    for network in networks:
        if not isinstance(network, Network):
            raise TypeError(
                f"`networks` must hold Network objects, got {type(network).__name__}: a fitted "
                "estimator has one as `network_`; `train` takes the estimator itself."
            )
    if any(network.ramps is not networks[0].ramps for network in networks):
        raise ValueError(
            "`networks` must have the same `ramps` to be trained at once, got different ones: call "
            "`train_networks` for each."
        )
    shapes = {_architecture(network): None for network in networks}
    if len(shapes) > 1:
        first, other, *_ = shapes
        raise ValueError(
            f"`networks` must have one architecture to be trained at once, got {first} and "
            f"{other}: call `train_networks` for each."
        )
    return list(networks)


def check_rows(
    network: Network,
    X: ArrayLike,
    y: ArrayLike,
    sample_weight: ArrayLike | None,
    suffix: str = "",
) -> Rows:
    """Return rows that match the network; raise an error if `X`, `y` or the weights do not."""
    inputs, outputs = check_matrix(X, f"X{suffix}"), check_columns(y, f"y{suffix}")
    check_same_length(**{f"X{suffix}": inputs, f"y{suffix}": outputs})
    for name, got, wanted in (
        (f"X{suffix}", inputs.shape[1], network.n_features),
        (f"y{suffix}", outputs.shape[1], network.n_outputs),
    ):
        if got != wanted:
            raise ValueError(
                f"`{name}` must have as many columns as the network, {wanted}, got {got}."
            )
    weights = _mean_one(check_weights(sample_weight, f"sample_weight{suffix}", len(inputs)))
    return Rows(inputs, outputs, weights)


def check_validation(
    network: Network,
    X_val: ArrayLike | None,
    y_val: ArrayLike | None,
    sample_weight_val: ArrayLike | None,
) -> Rows | None:
    """Return validation rows, or None if none are given."""
    if X_val is None and y_val is None and sample_weight_val is None:
        return None
    if X_val is None or y_val is None:
        missing = "X_val" if X_val is None else "y_val"
        raise ValueError(
            f"`X_val` and `y_val` must be given together, got no `{missing}`: give both or neither."
        )
    return check_rows(network, X_val, y_val, sample_weight_val, "_val")


def _check_positive(value: Any, name: str, most: float, example: str) -> None:
    limit = "" if np.isinf(most) else f" and at most {most:g}"
    message = f"`{name}` must be a number above 0{limit}, {example}, got {value!r}."
    if not isinstance(value, Real):
        raise TypeError(message)
    if not 0 < float(value) <= most or not np.isfinite(float(value)):
        raise ValueError(message)


def _architecture(network: Network) -> str:
    affine = "" if network.linear_weights is None else " with an affine term"
    activation = network.activation
    # Activations of the same name may still differ in a parameter, such as a slope.
    known = ACTIVATIONS.get(activation.name) == activation
    parameters = "" if known or not is_dataclass(activation) else f" {activation}"
    return (
        f"{network.n_features}-{network.n_neurons}-{network.n_outputs} "
        f"{activation.name}{parameters}{affine}"
    )


def _mean_one(weights: Float64 | None) -> Float64 | None:
    """Return the weights scaled to mean 1, or None."""
    if weights is None:
        return None
    # Divide by the largest first: the sum of huge weights must not overflow.
    weights = weights / weights.max()
    return np.asarray(weights / weights.mean())
