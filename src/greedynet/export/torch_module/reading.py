"""PyTorch: a network from a module."""

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from greedynet.activations import Activation
from greedynet.export.agreement import check_agreement
from greedynet.export.precision import DType, check_dtype, rounded_ramps
from greedynet.export.resolve import Model, as_network
from greedynet.export.torch_module.module import as_function
from greedynet.model.any_network import Network, is_deep
from greedynet.model.deep_network import DeepNetwork
from greedynet.model.network import ShallowNetwork
from greedynet.model.ramps import Ramps, RampTable
from greedynet.support.extras import require
from greedynet.support.types import Float64

if TYPE_CHECKING:
    import torch


def from_torch(module: "torch.nn.Module", *, like: Model | None = None) -> Network:
    """Read a network back from a module, trained or not.

    Parameters
    ----------
    module : torch.nn.Module
        `nn.Sequential(Linear, activation, Linear)`, or any other result of `to_torch`.
    like : ShallowNetwork, DeepNetwork, fitted estimator, str, path or None, default=None
        A network for the same data, such as the initial one: its feature names, training range and
        shape of the outputs are copied, and knots that were rounded for the module.

    Returns
    -------
    network : ShallowNetwork or DeepNetwork
        It has no selection path, so it cannot be truncated.
    """
    torch = require("torch", "torch", "from_torch")
    known = None if like is None else as_network(like, "from_torch")
    first, rest = _first_layer(torch, module)
    inner, activation, outer, affine = _parts(torch, rest)
    name = check_dtype(inner.weight.dtype, "from_torch")
    over = _network(inner, activation, outer, affine)
    if known is not None:
        over = replace(over, single_output=known.single_output)
    network: Network = over
    if first is not None:
        network = DeepNetwork(_ramps(first, inner.in_features, known, name), over)
    if known is not None:
        network = _with_inputs_of(network, known)
    check_agreement(network, as_function(torch, module, inner), dtype=name, caller="from_torch")
    return network


def _network(inner: Any, activation: Activation, outer: Any, affine: Any) -> ShallowNetwork:
    """Return the network of layers."""
    biased = outer if affine is None else affine
    return ShallowNetwork(
        inner_weights=_array(inner.weight),
        biases=np.zeros(inner.out_features) if inner.bias is None else _array(inner.bias),
        outer_weights=_array(outer.weight).T,
        linear_weights=None if affine is None else _array(affine.weight).T,
        intercept=None if biased.bias is None else _array(biased.bias),
        activation=activation,
        single_output=outer.out_features == 1,
    )


def _ramps(first: Any, n_lifted: int, known: Network | None, dtype: DType) -> Ramps:
    """Return the first layer; as in a known network, if it is the same up to rounding."""
    table = RampTable(*(getattr(first, name).detach().cpu().numpy() for name in RampTable._fields))
    if known is not None and is_deep(known):
        rounded = rounded_ramps(known.ramps, dtype, "from_torch")
        if all(map(np.array_equal, rounded, table)):
            return known.ramps
    columns, starts = table.columns, table.starts.astype(np.float64)
    last = np.flatnonzero(np.diff(columns, append=n_lifted))
    return Ramps(
        n_lifted - len(columns),
        np.insert(columns, last + 1, columns[last]),
        np.insert(starts, last + 1, (starts + table.widths)[last]),
    )


def _with_inputs_of(network: Network, known: Network) -> Network:
    """Return the network with the names and the training range of the inputs of another."""
    found, names = known.input_range, known.feature_names
    if isinstance(network, ShallowNetwork):
        return replace(network, input_range=found, feature_names=names)
    # Ramps ascend: their range is that of their column.
    lifted = None if found is None else network.ramps.lift(found)
    return replace(network, over=replace(network.over, input_range=lifted), feature_names=names)


def _first_layer(torch: Any, module: Any) -> tuple[Any, Any]:
    """Return the first of two hidden layers, if any, and a module of the others."""
    from greedynet.export.torch_skip import RampLayer

    match list(module) if type(module) is torch.nn.Sequential else []:
        case [RampLayer() as first, rest]:
            return first, rest
        case [RampLayer() as first, *rest]:
            return first, torch.nn.Sequential(*rest)
    return None, module


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
