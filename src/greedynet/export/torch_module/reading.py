"""PyTorch: a network from a module."""

from typing import TYPE_CHECKING, Any

import numpy as np

from greedynet.activations import Activation
from greedynet.export.agreement import check_agreement
from greedynet.export.precision import DType, check_dtype, exact_bounds, rounded_ramps
from greedynet.export.resolve import Model, Original, as_network, comparable, within_bounds
from greedynet.export.scaling import InputLayer
from greedynet.export.torch_module.module import as_function
from greedynet.model.bounds import OutputBounds
from greedynet.model.network import Network
from greedynet.model.ramps import Ramps, RampTable
from greedynet.support.files import require
from greedynet.support.types import Float64

if TYPE_CHECKING:
    import torch


def from_torch(module: "torch.nn.Module", *, like: Model | None = None) -> Any:
    """Read a network back from a module, trained or not, and give back an estimator like another.

    Parameters
    ----------
    module : torch.nn.Module
        `nn.Sequential(Linear, activation, Linear)`, or any other result of `to_torch`. The scaling
        of a first layer is included in the weights of the network; what a layer after it clips
        inputs to is the training range.
    like : fitted estimator, TableModel, network, str, path or None, default=None
        The model that was exported, or a saved file of it: its feature names, training range, shape
        of the outputs and classes are those of the result, and so are knots and bounds that were
        rounded for the module, and bounds and a box that the module does not have.

    Returns
    -------
    model : fitted estimator, TableModel or Network
        Of the kind of `like`, a network if that is None. An estimator predicts by the new network;
        nothing is known of its errors on new rows, so that it gives no intervals or sets. The
        network has no selection path; `truncate` of an estimator goes back to the growth before.
    """
    torch = require("torch", "torch", "from_torch")
    original = Original(like, "from_torch")
    rest, last = _bounds_layer(torch, module)
    scaled, clip, first, rest = _fixed_layers(torch, rest)
    inner, activation, outer, affine = _parts(torch, rest)
    name = check_dtype(inner.weight.dtype, "from_torch")
    bounds = exact_bounds(_bounds(last), original.network, name)
    layer = None if scaled is None else InputLayer(_array(scaled.center), _array(scaled.scale))
    ramps = None
    if first is not None:
        ramps = _ramps(first, inner.in_features, original.network, layer, name)
    box = None if clip is None else np.stack([_array(clip.low), _array(clip.high)])
    biased = outer if affine is None else affine
    network = Network(
        inner_weights=_array(inner.weight),
        biases=np.zeros(inner.out_features) if inner.bias is None else _array(inner.bias),
        outer_weights=_array(outer.weight).T,
        linear_weights=None if affine is None else _array(affine.weight).T,
        intercept=None if biased.bias is None else _array(biased.bias),
        activation=activation,
        single_output=outer.out_features == 1,
        input_range=box,
        bounds=bounds,
        ramps=ramps,
    )
    if layer is not None:
        network = layer.outside(network)
    model = original.given_back(network)
    found = as_network(model, "from_torch")
    predict = within_bounds(found, as_function(torch, module, inner))
    check_agreement(comparable(found, box), predict, dtype=name, caller="from_torch")
    return model


def _ramps(
    first: Any, n_lifted: int, known: Network | None, layer: InputLayer | None, dtype: DType
) -> Ramps:
    """Return the first layer of ramps; as in a known network, if it is the same up to rounding."""
    table = RampTable(*(getattr(first, name).detach().cpu().numpy() for name in RampTable._fields))
    if known is not None and known.ramps is not None:
        ramps = known.ramps if layer is None else layer.ramps_inside(known.ramps)
        rounded = rounded_ramps(ramps, dtype, "from_torch")
        if rounded is not None and all(map(np.array_equal, rounded, table)):
            return ramps
    columns, starts = table.columns, table.starts.astype(np.float64)
    last = np.flatnonzero(np.diff(columns, append=n_lifted))
    return Ramps(
        n_lifted - len(columns),
        np.insert(columns, last + 1, columns[last]),
        np.insert(starts, last + 1, (starts + table.widths)[last]),
    )


def _bounds_layer(torch: Any, module: Any) -> tuple[Any, Any]:
    """Return a module without the bounds after all others, and these, if any."""
    from greedynet.export.torch_skip import BoundsLayer

    layers = list(module) if type(module) is torch.nn.Sequential else []
    if not layers or not isinstance(layers[-1], BoundsLayer):
        return module, None
    *rest, last = layers
    return rest[0] if len(rest) == 1 else torch.nn.Sequential(*rest), last


def _bounds(last: Any) -> OutputBounds | None:
    return None if last is None else OutputBounds(_array(last.low), _array(last.high))


def _fixed_layers(torch: Any, module: Any) -> tuple[Any, Any, Any, Any]:
    """Return the scaling, the box and the first of two hidden layers, and a module of the others.

    None for those that there are not.
    """
    from greedynet.export.torch_skip import BoundsLayer, RampLayer, ScalingLayer

    layers = list(module) if type(module) is torch.nn.Sequential else []
    n_layers, fixed = len(layers), []
    for kind in (ScalingLayer, BoundsLayer, RampLayer):
        fixed.append(layers.pop(0) if layers and isinstance(layers[0], kind) else None)
    if len(layers) == n_layers:
        return None, None, None, module
    return *fixed, layers[0] if len(layers) == 1 else torch.nn.Sequential(*layers)


def _parts(torch: Any, module: Any) -> tuple[Any, Activation, Any, Any]:
    """Return the parts of a module: inner layer, activation, outer layer, affine layer."""
    from greedynet.export.torch_skip import ACTIVATION_MODULES, SkipNetwork, read_activation

    children = list(module.children()) if isinstance(module, torch.nn.Module) else []
    match children:
        case [torch.nn.Linear(), middle, torch.nn.Linear(), *rest]:
            activation = read_activation(middle)
            wanted = {0: torch.nn.Sequential, 1: SkipNetwork}.get(len(rest))
            if activation is not None and type(module) is wanted:
                return children[0], activation, children[2], rest[0] if rest else None
    # Show the parameters of activations, which may be the cause of the error.
    got = ", ".join(
        repr(child)
        if isinstance(child, torch.nn.GELU | torch.nn.Softplus)
        else type(child).__name__
        for child in children
    )
    raise TypeError(
        "`module` must be nn.Sequential(Linear, activation, Linear) with one of the activations "
        f"{sorted(ACTIVATION_MODULES)}, got {type(module).__name__}({got}): combine your layers in "
        "such a module."
    )


def _array(parameter: Any) -> Float64:
    return np.asarray(parameter.detach().cpu().numpy(), dtype=np.float64)
