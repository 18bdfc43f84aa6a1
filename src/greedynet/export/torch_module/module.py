"""PyTorch: a module from a network, and initialisation of existing layers."""

from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from greedynet.activations import odd_part
from greedynet.export.agreement import check_agreement
from greedynet.export.fold import fold_affine as folded
from greedynet.export.fold import with_hidden_layer
from greedynet.export.precision import (
    DType,
    check_dtype,
    rounded_bounds,
    rounded_box,
    rounded_ramps,
    rounded_weights,
)
from greedynet.export.resolve import Model, as_network, translate
from greedynet.export.scaling import InputLayer, Scaling, behind_layer
from greedynet.model.bounds import OutputBounds
from greedynet.model.network import Network
from greedynet.model.ramps import RampTable
from greedynet.support.files import require

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
    network = as_network(model, "to_torch")
    name = check_dtype(dtype, "to_torch")
    layer, inside = behind_layer(network, scaling, name, "to_torch")
    module, inner = _trained_layers(torch, inside, name, fold_affine=fold_affine)
    first = [] if layer is None else [_scaling_layer(torch, layer, name)]
    box = rounded_box(inside, name)
    if box is not None:
        first.append(_bounds_layer(torch, OutputBounds(*box), name))
    ramps = rounded_ramps(inside.ramps, name, "to_torch")
    if ramps is not None:
        first.append(_ramp_layer(torch, ramps))
    bounds = rounded_bounds(network, name)
    last = [] if bounds is None else [_bounds_layer(torch, bounds, name)]
    if first or last:
        rest = module if isinstance(module, torch.nn.Sequential) else [module]
        module = torch.nn.Sequential(*first, *rest, *last)
    check_agreement(network, as_function(torch, module, inner), dtype=name, caller="to_torch")
    return module


def _trained_layers(
    torch: Any, network: Network, dtype: DType, *, fold_affine: bool
) -> tuple[Any, Any]:
    """Return the module of the layers that can be trained, and the inner layer."""
    layers = with_hidden_layer(folded(network) if fold_affine else network)
    weights = rounded_weights(layers, dtype, "to_torch")
    activation = _activation(network, "to_torch")
    intercept = weights.get("intercept", np.zeros(network.n_outputs, dtype=dtype))
    inner = _linear(torch, weights["inner_weights"], weights["biases"])
    if "linear_weights" not in weights:
        outer = _linear(torch, weights["outer_weights"].T, intercept)
        return torch.nn.Sequential(inner, activation, outer), inner
    from greedynet.export.torch_skip import SkipNetwork

    outer = _linear(torch, weights["outer_weights"].T, None)
    affine = _linear(torch, weights["linear_weights"].T, intercept)
    return SkipNetwork(inner, activation, outer, affine), inner


def init_torch_(linear1: "torch.nn.Linear", linear2: "torch.nn.Linear", network: Model) -> None:
    """Initialise two layers in place with the weights of a network, for training.

    The layers may be wider than the network: additional neurons keep their inner weights and get
    zero outer weights, so that training starts from the network itself. An affine term is converted
    to neurons. Apply the activation of the network between the layers. For a classifier, the
    outputs are logits: one for two classes, otherwise one for each class.

    The layers cannot clip inputs to the box of the training rows: beyond it they extrapolate. They
    take inputs in their original units: scale columns that are not of size one before
    the fit, or write `to_torch`, which has a layer for it; Adam would otherwise ruin the network.

    Parameters
    ----------
    linear1 : torch.nn.Linear
        From the inputs to the hidden layer.
    linear2 : torch.nn.Linear
        From the hidden layer to the outputs.
    network : Network, fitted estimator, str or path
        The network, with one hidden layer, or a saved file.

    Raises
    ------
    DisagreementError
        If the outputs differ from those of the network; the layers are then unchanged.
    """
    torch = require("torch", "torch", "init_torch_")
    original = replace(as_network(network, "init_torch_"), reach=np.inf)
    name = check_dtype(linear1.weight.dtype, "init_torch_")
    activation = _activation(original, "init_torch_")
    if original.ramps is not None:
        raise ValueError(
            "`network` of `init_torch_` must have one hidden layer, for two layers of weights, got "
            "two: write `to_torch(network)`."
        )
    if original.bounds is not None:
        raise ValueError(
            "`network` of `init_torch_` must have no bounds on its outputs, which two layers of "
            f"weights cannot hold, got {original.bounds.sentence()}: write `to_torch(network)`, or "
            "pass `dataclasses.replace(network, bounds=None)` and clip the outputs yourself."
        )
    layers = _without_linear_term(original)
    _check_layers(torch, linear1, linear2, layers)
    weights = rounded_weights(layers, name, "init_torch_")
    module = torch.nn.Sequential(linear1, activation, linear2)
    before = {key: value.clone() for key, value in module.state_dict().items()}
    with torch.no_grad():
        n = layers.n_neurons
        linear1.weight[:n] = torch.from_numpy(weights["inner_weights"])
        linear2.weight[:, :n] = torch.from_numpy(weights["outer_weights"].T)
        linear2.weight[:, n:] = 0.0
        if linear1.bias is not None:
            linear1.bias[:n] = torch.from_numpy(weights["biases"])
        if linear2.bias is not None:
            linear2.bias.zero_()
            if "intercept" in weights:
                linear2.bias[:] = torch.from_numpy(weights["intercept"])
    try:
        predict = as_function(torch, module, linear1)
        check_agreement(original, predict, dtype=name, caller="init_torch_")
    except BaseException:
        module.load_state_dict(before)
        raise


def _activation(network: Network, caller: str) -> Any:
    """Return the module between the layers."""
    from greedynet.export.torch_skip import ACTIVATION_MODULES

    place = "greedynet.export.torch_skip.ACTIVATION_MODULES"
    return translate(network, ACTIVATION_MODULES, caller, place)(network.activation)


def _without_linear_term(network: Network) -> Network:
    """Convert the affine term to neurons, since there are only two layers."""
    if network.linear_weights is not None and odd_part(network.activation) is None:
        raise ValueError(
            "`network` of `init_torch_` must have no linear term with the activation "
            f"{network.activation.name!r}, of which two neurons cannot form a linear function: "
            "write `to_torch(network, fold_affine=False)`, or fit with `linear_term=False`."
        )
    return folded(network)


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


def _scaling_layer(torch: Any, layer: InputLayer, dtype: DType) -> Any:
    """Return the layer before all others."""
    from greedynet.export.torch_skip import ScalingLayer

    module = ScalingLayer(len(layer.center)).to(getattr(torch, dtype))
    arrays = {"center": layer.center, "scale": layer.scale}
    module.load_state_dict({name: torch.tensor(array) for name, array in arrays.items()})
    return module


def _bounds_layer(torch: Any, bounds: OutputBounds, dtype: DType) -> Any:
    """Return the layer of the box of the inputs, or of the bounds on the outputs."""
    from greedynet.export.torch_skip import BoundsLayer

    layer = BoundsLayer(len(bounds.low)).to(getattr(torch, dtype))
    layer.load_state_dict({name: torch.tensor(end) for name, end in bounds.state().items()})
    return layer


def _ramp_layer(torch: Any, table: RampTable) -> Any:
    """Return the first layer with given ramps."""
    from greedynet.export.torch_skip import RampLayer

    layer = RampLayer(len(table.columns)).to(getattr(torch, table.starts.dtype.name))
    arrays = table._replace(columns=table.columns.astype(np.int64))._asdict()
    layer.load_state_dict({name: torch.tensor(array) for name, array in arrays.items()})
    return layer


def as_function(torch: Any, module: Any, inner: Any) -> Callable[[NDArray[Any]], NDArray[Any]]:
    """Return the module as a function of arrays, on the device of its weights."""

    def predict(X: NDArray[Any]) -> NDArray[Any]:
        with torch.no_grad():
            rows = torch.from_numpy(X).to(inner.weight.device)
            return np.asarray(module(rows).cpu().numpy())

    return predict


def _check_layers(torch: Any, linear1: Any, linear2: Any, network: Network) -> None:
    for argument, layer in (("linear1", linear1), ("linear2", linear2)):
        if not isinstance(layer, torch.nn.Linear):
            raise TypeError(
                f"`{argument}` must be a torch.nn.Linear, got {type(layer).__name__}: pass the "
                "layer itself, such as `module[0]`."
            )
    n, d, t = network.n_neurons, network.n_features, network.n_outputs
    if linear1.in_features != d or linear1.out_features < n:
        raise ValueError(
            f"`linear1` must be nn.Linear({d}, {n}) or wider, for {d} inputs and {n} neurons "
            f"(including an affine term), got nn.Linear({linear1.in_features}, "
            f"{linear1.out_features})."
        )
    if (linear2.in_features, linear2.out_features) != (linear1.out_features, t):
        raise ValueError(
            f"`linear2` must be nn.Linear({linear1.out_features}, {t}), from the neurons of "
            f"`linear1` to {t} outputs, got nn.Linear({linear2.in_features}, "
            f"{linear2.out_features})."
        )
    for argument, layer, needed in (
        ("linear1", linear1, network.biases),
        ("linear2", linear2, network.intercept),
    ):
        if layer.bias is None and needed is not None and needed.any():
            raise ValueError(
                f"`{argument}` must have a bias, because the network has one, got bias=False: "
                f"write nn.Linear({layer.in_features}, {layer.out_features})."
            )
