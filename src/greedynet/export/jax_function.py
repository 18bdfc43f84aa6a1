"""JAX: the network as a pure function of its weights and inputs."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from greedynet.activations import Activation
from greedynet.export.agreement import check_agreement
from greedynet.export.precision import (
    DType,
    check_dtype,
    check_x64,
    rounded_ramps,
    rounded_weights,
)
from greedynet.export.resolve import Model, Original, as_network, comparable, translate
from greedynet.export.scaling import InputLayer, Scaling, behind_layer
from greedynet.model.bounds import OutputBounds
from greedynet.model.network import WEIGHTS, Network
from greedynet.model.ramps import Ramps, RampTable
from greedynet.support.files import require
from greedynet.support.types import Float64

if TYPE_CHECKING:
    import jax

    Params = dict[str, jax.Array]

# The weights that every network has.
REQUIRED = WEIGHTS[:3]


@dataclass(frozen=True, eq=False)
class Apply:
    """The function of `to_jax`, with all that training does not change.

    Ramps and box are those of scaled inputs; `table` has the ramps in the precision of the weights.
    """

    activation: Activation
    single_output: bool
    layer: InputLayer | None
    ramps: Ramps | None
    table: RampTable | None
    dtype: DType
    bounds: OutputBounds | None = None
    box: Float64 | None = None

    def __call__(self, params: "Params", X: Any) -> Any:
        """Return the outputs, in the shape of `predict`."""
        from greedynet.train.model import jax_form

        jnp = require("jax", "train", "to_jax").numpy
        u = X
        if self.layer is not None:
            center, scale = (a.astype(self.dtype) for a in (self.layer.center, self.layer.scale))
            u = (u - center) / scale
        if self.box is not None:
            u = jnp.clip(u, *self.box.astype(self.dtype))
        if self.table is not None:
            columns, starts, widths, low, high = self.table
            u = jnp.asarray(u)
            rises = jnp.clip((u[..., columns] - starts) / widths, low, high)
            u = jnp.concatenate([u, rises], axis=-1)
        neurons = jax_form(self.activation)(u @ params["inner_weights"].T + params["biases"])
        y = neurons @ params["outer_weights"]
        if "linear_weights" in params:
            y = y + u @ params["linear_weights"]
        if "intercept" in params:
            y = y + params["intercept"]
        if self.bounds is not None:
            ends = self.bounds.within(self.dtype)
            y = jnp.clip(y, ends.low.astype(self.dtype), ends.high.astype(self.dtype))
        return y[..., 0] if self.single_output else y


def to_jax(
    model: Model, *, dtype: DType | None = None, scaling: Scaling = "layer"
) -> "tuple[Params, Apply]":
    """Return `(params, apply)` with `apply(params, X)` equal to `predict(X)`.

    `apply` is a pure function, which can be passed to `jax.jit`, `jax.grad` and `jax.vmap`. For a
    classifier it returns logits, as `decision_function` does.

    The scaling of the inputs, `x -> (x - center) / scale`, is part of `apply`, so that `params`
    refer to columns of size one, for which optimizers such as Adam have their defaults. So is the
    box of the training rows, to which inputs are clipped unless the network extrapolates, and the
    ramps of a network with two hidden layers: training changes the weights of its second layer, and
    the knots stay. Bounds on the outputs are part of `apply`, too; where an output is outside of
    them, no weight has a gradient.

    Parameters
    ----------
    model : Network, fitted estimator, str or path
        The network, or a saved file.
    dtype : {"float32", "float64"} or None, default=None
        Type of the weights; None for float64 if it is enabled in JAX, otherwise float32.
    scaling : {"layer", "folded"}, default="layer"
        "folded" for `params` that include the scaling; as for `to_torch`.

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
    from greedynet.train.model import ACTIVATIONS

    translate(network, ACTIVATIONS, "to_jax", "greedynet.train.model.ACTIVATIONS")
    layer, inside = behind_layer(network, scaling, name, "to_jax")
    weights = rounded_weights(inside, name, "to_jax")
    params = {key: jax.numpy.asarray(array) for key, array in weights.items()}
    table = rounded_ramps(inside.ramps, name, "to_jax")
    fixed = (layer, inside.ramps, table, name, network.bounds, inside.box)
    apply = Apply(network.activation, network.single_output, *fixed)
    check_agreement(network, lambda X: apply(params, X), dtype=name, caller="to_jax")
    return params, apply


def from_jax(params: "Params", apply: Any, *, like: Model | None = None) -> Any:
    """Read a network back, trained or not, and give back an estimator like another.

    Parameters
    ----------
    params : dict of arrays
        As returned by `to_jax`, with new values.
    apply : callable
        As returned by `to_jax`, which knows the scaling and the knots.
    like : fitted estimator, TableModel, network, str, path or None, default=None
        The model that was exported, as for `from_torch`.

    Returns
    -------
    model : fitted estimator, TableModel or Network
        Of the kind of `like`, a network if that is None; see `from_torch`.
    """
    require("jax", "train", "from_jax")
    found = getattr(apply, "__wrapped__", apply)  # by `jax.jit`
    if not isinstance(found, Apply):
        raise TypeError(
            "`apply` of `from_jax` must be the function that `to_jax` returned with the `params`, "
            f"got {type(apply).__name__}."
        )
    if not isinstance(params, Mapping) or not set(REQUIRED) <= set(params) <= set(WEIGHTS):
        got = sorted(params) if isinstance(params, Mapping) else type(params).__name__
        raise TypeError(
            f"`params` of `from_jax` must be a dict of arrays with the names {list(REQUIRED)} and "
            f"those of an affine term, as returned by `to_jax`, got {got}."
        )
    arrays: dict[str, Any] = {
        name: np.asarray(array, dtype=np.float64) for name, array in params.items()
    }
    network = Network(
        **arrays,
        activation=found.activation,
        single_output=found.single_output,
        bounds=found.bounds,
        input_range=found.box,
        ramps=found.ramps,
    )
    if found.layer is not None:
        network = found.layer.outside(network)
    model = Original(like, "from_jax").given_back(network)
    known = as_network(model, "from_jax")
    known = comparable(known, found.box)
    check_agreement(known, lambda X: apply(params, X), dtype=found.dtype, caller="from_jax")
    return model
