"""JAX: the network as a pure function of its weights and inputs."""

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from greedynet.export.agreement import check_agreement
from greedynet.export.precision import DType, check_dtype, check_x64, rounded_weights
from greedynet.export.resolve import Model, as_network, translate
from greedynet.model.network import ShallowNetwork
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

    Parameters
    ----------
    model : ShallowNetwork, fitted estimator, str or path
        The network, or a saved file.
    dtype : {"float32", "float64"} or None, default=None
        Type of the weights; None for float64 if it is enabled in JAX, otherwise float32.

    Returns
    -------
    params : dict of jax.Array
        The arrays of the network by name, with an affine term only if it has one.
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
    weights = rounded_weights(network, name, "to_jax")
    params = {key: jax.numpy.asarray(array) for key, array in weights.items()}
    single_output = network.single_output

    def apply(params: dict[str, Any], X: Any) -> Any:
        y = activation(X @ params["inner_weights"].T + params["biases"]) @ params["outer_weights"]
        if "linear_weights" in params:
            y = y + X @ params["linear_weights"]
        if "intercept" in params:
            y = y + params["intercept"]
        return y[..., 0] if single_output else y

    check_agreement(network, lambda X: apply(params, X), dtype=name, caller="to_jax")
    return params, apply


def _activation(network: ShallowNetwork) -> Callable[[Any], Any]:
    """Return the function that is also used in training."""
    from greedynet.train.activations import ACTIVATIONS, jax_form

    translate(network, ACTIVATIONS, "to_jax", "greedynet.train.activations.ACTIVATIONS")
    return jax_form(network.activation)
