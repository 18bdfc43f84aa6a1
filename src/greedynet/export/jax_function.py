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

    `apply` is a pure function, so that `jax.jit`, `jax.grad` and `jax.vmap` take it as it is. That
    of a classifier gives logits, as `decision_function` does.

    Parameters
    ----------
    model : ShallowNetwork, fitted estimator, str or path
        The network, or a saved file with it.
    dtype : {"float32", "float64"} or None, default=None
        Type of the weights; None for float64 where JAX has it switched on, else float32.

    Returns
    -------
    params : dict of jax.Array
        The network's arrays under their names, an affine term only if it has one.
    apply : callable
        Takes `params` and inputs `(n_rows, n_features)`, or one row `(n_features,)`, and returns
        outputs of the shape that `predict` gives.

    Raises
    ------
    DisagreementError
        If the function does not compute what the network does.
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
    """The function that trainings use, so that an export is what was trained."""
    from greedynet.train.activations import ACTIVATIONS, jax_form

    translate(network, ACTIVATIONS, "to_jax", "greedynet.train.activations.ACTIVATIONS")
    return jax_form(network.activation)
