"""A network in words: what it is made of, its sizes, and its largest neurons."""

from textwrap import shorten
from typing import TYPE_CHECKING

import numpy as np

from greedynet.model.curves import column_moves
from greedynet.support.phrases import plural

if TYPE_CHECKING:
    from greedynet.model.network import Network

# The most that are shown.
_NEURONS, _WEIGHTS, _OUTPUTS, _COLUMNS, _CHARACTERS = 10, 8, 4, 3, 98


def contents(network: "Network") -> str:
    """Return what a network is made of: hinges, neurons and an affine term, or a straight line."""
    hinges = plural(network.n_hinges, "hinge")
    if network.n_neurons or not network.has_affine_term:
        found = plural(network.n_neurons, f"{network.activation.name} neuron")
        if network.ramps is not None:
            found = f"{hinges} along single columns, {found} over them"
        return f"{found} and an affine term" if network.has_affine_term else found
    if network.ramps is not None:
        return f"curves of single columns with {hinges}, without neurons"
    return "a constant" if network.is_constant else "a straight line, without neurons"


def overview(network: "Network") -> str:
    """Return a few lines: what a network is made of, its sizes, shapes of weights, bounds, box."""
    names = ("inner_weights", "outer_weights", "linear_weights")
    weights = {name: getattr(network, name) for name in names}
    lines = [
        f"Network: {network.contents}",
        _sizes(network),
        ", ".join(f"{name} {array.shape}" for name, array in weights.items() if array is not None),
        f"inputs {_box(network)}",
    ]
    if network.bounds is not None:
        lines.append(f"outputs {network.bounds.sentence()}")
    return "\n  ".join(shorten(line, _CHARACTERS, placeholder=" ...") for line in lines)


def describe(network: "Network") -> str:
    """Return a short description of a network: its hinges and its largest neurons."""
    nodes = plural(network.n_nodes, "node")
    lines = [f"{network.contents} ({nodes}): {_sizes(network)}"]
    if network.bounds is not None:
        lines.append(f"  outputs {network.bounds.sentence()}")
    names, (features, knots) = _names(network), network.hinges()
    for j in np.unique(features).tolist():
        bends = " ".join(f"{t:.4g}" for t in knots[features == j].tolist())
        lines.append(f"  {names[j]}: hinges at {bends}")
    weights = _inner_weights if network.ramps is None else _main_columns
    for n in network.largest_neurons()[:_NEURONS].tolist():
        c = " ".join(f"{w:+.3g}" for w in network.outer_weights[n][:_OUTPUTS])
        lines.append(f"  neuron {n:3d}: {weights(network, n)}  c = [{c}]")
    if network.n_neurons > _NEURONS:
        lines.append(f"  ... and {network.n_neurons - _NEURONS} more with smaller weights")
    return "\n".join(lines)


def _sizes(network: "Network") -> str:
    """Return the numbers of inputs, outputs, parameters and multiplications."""
    counts = f"{plural(network.n_features, 'input')} -> {plural(network.n_outputs, 'output')}"
    parameters = plural(network.n_parameters, "parameter")
    return f"{counts}, {parameters}, {plural(network.n_multiplications, 'multiplication')}"


def _names(network: "Network") -> tuple[str, ...]:
    return network.feature_names or tuple(f"x{j}" for j in range(network.n_features))


def _box(network: "Network") -> str:
    """Return what inputs are clipped to."""
    if network.box is None:
        return "taken as they are"
    low, high = network.box[:, :_COLUMNS].tolist()
    ends = zip(_names(network), low, high, strict=False)
    more = ", ..." if network.n_features > _COLUMNS else ""
    return f"clipped to {', '.join(f'{n} in [{a:.3g}, {b:.3g}]' for n, a, b in ends)}{more}"


def _inner_weights(network: "Network", neuron: int) -> str:
    a = " ".join(f"{w:+.3g}" for w in network.inner_weights[neuron][:_WEIGHTS])
    more = " ..." if network.n_features > _WEIGHTS else ""
    return f"a = [{a}{more}]  b = {network.biases[neuron]:+.3g}"


def _main_columns(network: "Network", neuron: int) -> str:
    """Return the columns that move a neuron most over the training data."""
    moves, names = column_moves(network)[neuron], _names(network)
    first = np.argsort(-moves, kind="stable")[:3].tolist()
    return f"mainly of {', '.join(names[j] for j in first if moves[j] > 0) or 'no column'}"
