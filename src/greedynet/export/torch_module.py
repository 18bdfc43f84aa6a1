"""PyTorch: modules from networks, networks from modules, and files of their weights."""

import io
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from greedynet.activations import Activation
from greedynet.export.agreement import check_agreement
from greedynet.export.fold import fold_affine as folded
from greedynet.export.fold import folds, with_hidden_layer
from greedynet.export.precision import (
    DType,
    check_dtype,
    exact_bounds,
    rounded_bounds,
    rounded_box,
    rounded_ramps,
    rounded_weights,
)
from greedynet.export.resolve import (
    Model,
    Original,
    as_network,
    comparable,
    translate,
    within_bounds,
)
from greedynet.export.scaling import InputLayer, Scaling, behind_layer
from greedynet.model.bounds import OutputBounds
from greedynet.model.network import Network
from greedynet.model.ramps import Ramps, RampTable
from greedynet.support.files import require, write_atomically
from greedynet.support.types import Float64

if TYPE_CHECKING:
    import torch


def to_torch(
    model: Model,
    *,
    dtype: "torch.dtype | str" = "float32",
    fold_affine: bool = True,
    scaling: Scaling = "layer",
) -> "torch.nn.Module":
    """Return `nn.Sequential(ScalingLayer, BoundsLayer, Linear, activation, Linear)`.

    The `ScalingLayer`, of `greedynet.export.torch_skip`, is `x -> (x - center) / scale`, with
    columns of size one as its outputs, for which optimizers such as Adam have their defaults.
    Center and scale are buffers, which training does not change.

    The activation is a module of `torch.nn` if available; `relu2`, `relu3`, `abs`, `sin` and
    `gaussian` are modules of `greedynet.export.torch_skip`. The module can be trained further.

    A `BoundsLayer` of the same module follows, which clips scaled inputs to the box of the training
    rows, unless the network extrapolates. With two hidden layers, a `RampLayer` follows. Its knots
    are buffers: training changes the weights of the second layer, and the knots stay. Bounds on the
    outputs are a `BoundsLayer` at the end.

    The module of a classifier returns logits: one, of the second class, for two classes, for
    `BCEWithLogitsLoss`; otherwise one for each class, for `CrossEntropyLoss`.

    Parameters
    ----------
    model : Network, fitted estimator, str or path
        The network, or a saved file.
    dtype : torch.dtype or {"float32", "float64"}, default="float32"
        Type of the weights.
    fold_affine : bool, default=True
        Whether an affine term is converted to neurons of the hidden layer (two of them for one
        output). With False it is a separate linear layer: the module is then a `SkipNetwork`, after
        the `RampLayer` if there is one, unless the network has no affine term. This is the only
        option for activations of which two neurons cannot form a linear function: all but ReLU,
        leaky ReLU, GELU and softplus.
    scaling : {"layer", "folded"}, default="layer"
        "folded" includes the scaling of the inputs in the weights: there is no `ScalingLayer`, as
        there is none for a network whose training range is not known. The module computes the
        same, but training it needs inputs of size one.

    Returns
    -------
    module : torch.nn.Module
        Takes inputs `(n_rows, n_features)`, returns outputs `(n_rows, n_outputs)`.

    Raises
    ------
    DisagreementError
        If the outputs differ from those of the network.
    """
    torch = require("torch", "torch", "to_torch")
    from greedynet.export.torch_skip import BoundsLayer, RampLayer, ScalingLayer

    network = as_network(model, "to_torch")
    name = check_dtype(dtype, "to_torch")
    layer, inside = behind_layer(network, scaling, name, "to_torch")
    module, inner = _trained_layers(torch, inside, name, fold_affine=fold_affine)
    first, last, bounds = [], [], rounded_bounds(network, name)
    if layer is not None:
        arrays = {"center": layer.center, "scale": layer.scale}
        first.append(_fixed_layer(torch, ScalingLayer(len(layer.center)), arrays, name))
    box = rounded_box(inside, name)
    if box is not None:
        ends = {"low": box[0], "high": box[1]}
        first.append(_fixed_layer(torch, BoundsLayer(inside.n_features), ends, name))
    ramps = rounded_ramps(inside.ramps, name, "to_torch")
    if ramps is not None:
        arrays = ramps._replace(columns=ramps.columns.astype(np.int64))._asdict()
        first.append(_fixed_layer(torch, RampLayer(len(ramps.columns)), arrays, name))
    if bounds is not None:
        last.append(_fixed_layer(torch, BoundsLayer(network.n_outputs), bounds.state(), name))
    if first or last:
        rest = module if isinstance(module, torch.nn.Sequential) else [module]
        module = torch.nn.Sequential(*first, *rest, *last)
    check_agreement(network, _as_function(torch, module, inner), dtype=name, caller="to_torch")
    return module


def _trained_layers(
    torch: Any, network: Network, dtype: DType, *, fold_affine: bool
) -> tuple[Any, Any]:
    """Return the module of the layers that can be trained, and the inner layer."""
    layers = with_hidden_layer(folded(network) if fold_affine else network)
    weights = rounded_weights(layers, dtype, "to_torch")
    from greedynet.export.torch_skip import ACTIVATION_MODULES, SkipNetwork

    place = "greedynet.export.torch_skip.ACTIVATION_MODULES"
    make_activation = translate(network, ACTIVATION_MODULES, "to_torch", place)
    activation = make_activation(network.activation)
    intercept = weights.get("intercept", np.zeros(network.n_outputs, dtype=dtype))
    inner = _linear(torch, weights["inner_weights"], weights["biases"])
    if "linear_weights" not in weights:
        outer = _linear(torch, weights["outer_weights"].T, intercept)
        return torch.nn.Sequential(inner, activation, outer), inner
    outer = _linear(torch, weights["outer_weights"].T, None)
    affine = _linear(torch, weights["linear_weights"].T, intercept)
    return SkipNetwork(inner, activation, outer, affine), inner


def _linear(torch: Any, weight: NDArray[Any], bias: NDArray[Any] | None) -> Any:
    """Return a layer with given weights, without drawing from the random generator."""
    n_out, n_in = weight.shape
    dtype = getattr(torch, weight.dtype.name)
    layer = torch.nn.utils.skip_init(
        torch.nn.Linear, n_in, n_out, bias=bias is not None, dtype=dtype
    )
    with torch.no_grad():
        layer.weight.copy_(torch.from_numpy(np.array(weight)))
        if bias is not None:
            layer.bias.copy_(torch.from_numpy(bias))
    return layer


def _fixed_layer(torch: Any, layer: Any, arrays: Mapping[str, NDArray[Any]], dtype: DType) -> Any:
    """Return a layer of `torch_skip` with given buffers."""
    layer = layer.to(getattr(torch, dtype))
    layer.load_state_dict({name: torch.tensor(array) for name, array in arrays.items()})
    return layer


def _as_function(torch: Any, module: Any, inner: Any) -> Callable[[NDArray[Any]], NDArray[Any]]:
    """Return the module as a function of arrays, on the device of its weights."""

    def predict(X: NDArray[Any]) -> NDArray[Any]:
        with torch.no_grad():
            rows = torch.from_numpy(X).to(inner.weight.device)
            return np.asarray(module(rows).cpu().numpy())

    return predict


# A network from a module


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
    scaled, clip, first, rest, last = _divided(torch, module)
    inner, activation, outer, affine = _parts(torch, rest)
    name = check_dtype(inner.weight.dtype, "from_torch")
    bounds = None if last is None else OutputBounds(_array(last.low), _array(last.high))
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
        bounds=exact_bounds(bounds, original.network, name),
        ramps=ramps,
    )
    if layer is not None:
        network = layer.outside(network)
    model = original.given_back(network)
    found = as_network(model, "from_torch")
    predict = within_bounds(found, _as_function(torch, module, inner))
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


def _divided(torch: Any, module: Any) -> tuple[Any, Any, Any, Any, Any]:
    """Return scaling, box, ramps, the module of the layers that are trained, and output bounds.

    None for those that there are not.
    """
    from greedynet.export.torch_skip import BoundsLayer, RampLayer, ScalingLayer

    layers = list(module) if type(module) is torch.nn.Sequential else []
    n_layers = len(layers)
    last = layers.pop() if layers and isinstance(layers[-1], BoundsLayer) else None
    scaling, box, ramps = (
        layers.pop(0) if layers and isinstance(layers[0], kind) else None
        for kind in (ScalingLayer, BoundsLayer, RampLayer)
    )
    if len(layers) < n_layers:
        module = layers[0] if len(layers) == 1 else torch.nn.Sequential(*layers)
    return scaling, box, ramps, module, last


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


# Files: weights only, which PyTorch loads without executing any code


def write_file(model: Model, path: Path, dtype: DType) -> str:
    """Write the file of `greedynet export`, with plain layers if possible; return its usage."""
    network = as_network(model, "greedynet export")
    module = to_torch(network, dtype=dtype, fold_affine=folds(network))
    buffer = io.BytesIO()
    require("torch", "torch", "greedynet export").save(module.state_dict(), buffer)
    write_atomically(path, buffer.getvalue())
    double = ".double()" if dtype == "float64" else ""
    return (
        f"load it into {_constructor(module)}{double} with "
        f'load_state_dict(torch.load("{path}", weights_only=True))'
    )


def _constructor(module: Any) -> str:
    """Return the code that constructs a module with the same layers."""
    children = list(module.children())
    if not children:
        text = repr(module)
    else:
        text = f"{type(module).__name__}({', '.join(map(_constructor, children))})"
    if type(module).__name__ == "Linear":
        bias = "" if module.bias is not None else ", bias=False"
        text = f"Linear({module.in_features}, {module.out_features}{bias})"
    place = type(module).__module__
    return f"nn.{text}" if place.startswith("torch.") else f"{place}.{text}"
