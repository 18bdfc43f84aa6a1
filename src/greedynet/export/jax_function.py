"""JAX: the network as a pure function of its weights and inputs."""

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from greedynet.export.agreement import check_agreement
from greedynet.export.precision import (
    DType,
    check_dtype,
    check_x64,
    rounded_ramps,
    rounded_weights,
)
from greedynet.export.resolve import Model, as_network, translate
from greedynet.model.any_network import Network, in_layers
from greedynet.model.ramps import Ramps
from greedynet.support.extras import require

if TYPE_CHECKING:
    import jax

    Params = dict[str, jax.Array]


def to_jax(
    model: Model, *, dtype: DType | None = None
) -> "tuple[Params, Callable[[Params, jax.Array], jax.Array]]":
    """Return `(params, apply)` with `apply(params, X)` equal to `predict(X)`.

    `apply` is a pure function, which can be passed to `jax.jit`, `jax.grad` and `jax.vmap`. For a
    classifier it returns logits, as `decision_function` does.

    The ramps of a network with two hidden layers are part of `apply`: training changes the weights
    of its second layer, and the knots stay.

    Parameters
    ----------
    model : ShallowNetwork, DeepNetwork, fitted estimator, str or path
        The network, or a saved file.
    dtype : {"float32", "float64"} or None, default=None
        Type of the weights; None for float64 if it is enabled in JAX, otherwise float32.

    Returns
    -------
    params : dict of jax.Array
        The arrays of the network, or of its second layer, by name, with an affine term only if it
        has one.
    apply : callable
        Takes `params` and inputs `(n_rows, n_features)`, or one row `(n_features,)`, and returns
        outputs in the shape of `predict`.

    Raises
    ------
    DisagreementError
        If the outputs differ from those of the network.
    """
    jax = require("jax", "train", "to_jax")
    network = as_network(model, "to_jax")
    if dtype is None:
        dtype = "float64" if jax.config.jax_enable_x64 else "float32"
    name = check_dtype(dtype, "to_jax")
    check_x64(name, "to_jax")
    activation = _activation(network)
    ramps, over = in_layers(network)
    lift = _lift(jax, ramps, name)
    weights = rounded_weights(over, name, "to_jax")
    params = {key: jax.numpy.asarray(array) for key, array in weights.items()}
    single_output = network.single_output

    def apply(params: dict[str, Any], X: Any) -> Any:
        u = lift(X)
        y = activation(u @ params["inner_weights"].T + params["biases"]) @ params["outer_weights"]
        if "linear_weights" in params:
            y = y + u @ params["linear_weights"]
        if "intercept" in params:
            y = y + params["intercept"]
        return y[..., 0] if single_output else y

    check_agreement(network, lambda X: apply(params, X), dtype=name, caller="to_jax")
    return params, apply


def _lift(jax: Any, ramps: Ramps | None, dtype: DType) -> Callable[[Any], Any]:
    """Return the function from inputs to inputs and ramps, side by side."""
    if ramps is None:
        return lambda X: X
    table = rounded_ramps(ramps, dtype, "to_jax")
    starts, widths, low, high = (jax.numpy.asarray(array) for array in table[1:])

    def lift(X: Any) -> Any:
        X = jax.numpy.asarray(X)
        rises = (X[..., table.columns] - starts) / widths
        return jax.numpy.concatenate([X, jax.numpy.clip(rises, low, high)], axis=-1)

    return lift


def _activation(network: Network) -> Callable[[Any], Any]:
    """Return the function that is also used in training."""
    from greedynet.train.activations import ACTIVATIONS, jax_form

    translate(network, ACTIVATIONS, "to_jax", "greedynet.train.activations.ACTIVATIONS")
    return jax_form(network.activation)
