"""A network in words, its sizes and largest neurons, and the curves of its first layer."""

from dataclasses import dataclass, replace
from textwrap import shorten
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from greedynet.support.phrases import plural
from greedynet.support.types import Float64

if TYPE_CHECKING:
    from greedynet.model.network import Network


@dataclass(frozen=True, eq=False)
class ColumnCurves:
    """The curves of one column, straight between its knots, each with the mean 0 over the knots."""

    feature: int  # the column
    knots: Float64  # (n_knots,): where the curves bend, and the ends of the training data
    # (n_knots,): the curve that is added to the output; None without an affine term.
    direct: Float64 | None
    neurons: NDArray[np.intp]  # (n_shown,): the neurons that the column moves most, in this order
    through: Float64  # (n_shown, n_knots): what they see of the column, times their outer weights

    @property
    def size(self) -> float:
        """The largest range of the curves, in units of the output."""
        direct = [] if self.direct is None else [np.ptp(self.direct)]
        return float(max([*direct, *np.ptp(self.through, axis=1)], default=0.0))


def column_curves(
    network: "Network", output: int = 0, *, most_neurons: int = 3
) -> list[ColumnCurves]:
    """Return the curves of every column with hinges, those with the largest range first.

    They are in the units of `output`, with at most `most_neurons` neurons of each column.
    """
    columns = np.unique(network.hinges()[0]).tolist()
    found = [_curves(network, j, output, most_neurons) for j in columns]
    return sorted(found, key=lambda curves: -curves.size)


def _curves(network: "Network", feature: int, output: int, most: int) -> ColumnCurves:
    knots = _knots(network, feature)
    lifted = _along(network, feature, knots)
    # The other columns are constant, and vanish with the mean.
    lifted -= lifted.mean(axis=0)
    through = network.outer_weights[:, output, None] * (network.inner_weights @ lifted.T)
    chosen = np.argsort(-np.ptp(through, axis=1), kind="stable")[:most]
    linear = network.linear_weights
    direct = None if linear is None else lifted @ linear[:, output]
    return ColumnCurves(feature, knots, direct, chosen, through[chosen])


def _knots(network: "Network", feature: int) -> Float64:
    """Return all knots of a column, none without ramps."""
    ramps = network.ramps
    return np.empty(0) if ramps is None else ramps.knots[ramps.features == feature]


def _along(network: "Network", feature: int, values: Float64) -> Float64:
    """Return what neurons get of rows that are 0 but for a column, which has the given values."""
    at = np.zeros((len(values), network.n_features))
    at[:, feature] = values
    return network.lift(at)


def column_moves(network: "Network") -> Float64:
    """Return by how much each column moves each neuron at most, `(n_neurons, n_features)`.

    The range of the curve of the column in `a_n . u`, over the range of the training data.
    """
    d, known = network.n_features, network.input_range
    low, high = known if known is not None else np.tile([[0.0], [1.0]], d)
    moves = np.empty((network.n_neurons, d))
    for j in range(d):
        values = np.array([low[j], *_knots(network, j), high[j]])
        moves[:, j] = np.ptp(_along(network, j, values) @ network.inner_weights.T, axis=0)
    return moves


def over_hinges(network: "Network") -> "Network":
    """Return the neurons and the affine term over the inputs and the hinges `relu(x_j - t)`.

    This is a network of one layer; `network.hinges()` are the `j` and the `t`.
    """
    if network.ramps is None:
        return network
    inner, constants = network.ramps.as_hinges(network.inner_weights)
    linear, intercept = network.linear_weights, network.intercept
    if linear is not None:
        weights, shift = network.ramps.as_hinges(linear.T)
        linear, intercept = weights.T, shift if intercept is None else shift + intercept
    return replace(
        network,
        inner_weights=inner,
        biases=network.biases + constants,
        linear_weights=linear,
        intercept=intercept,
        input_range=None,
        feature_names=None,
        ramps=None,
    )


# The most that are shown.
_NEURONS, _WEIGHTS, _OUTPUTS, _COLUMNS, _CHARACTERS = 10, 4, 4, 3, 98


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
    form, of_hinges = over_hinges(network), zip(features.tolist(), knots.tolist(), strict=True)
    inputs = [*names, *(f"relu({names[j]} {-t:+.4g})" for j, t in of_hinges)]
    for n in network.largest_neurons()[:_NEURONS].tolist():
        lines.append(f"  neuron {n:3d}: {_formula(form, n, inputs)}")
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


def _formula(network: "Network", neuron: int, names: list[str]) -> str:
    """Return a neuron with the inputs of its largest weights, and its outer weights."""
    weights = network.inner_weights[neuron]
    largest = np.argsort(-np.abs(weights), kind="stable")[:_WEIGHTS].tolist()
    inner = " ".join(f"{weights[j]:+.3g} {names[j]}" for j in largest if weights[j])
    more = " ..." if np.count_nonzero(weights) > _WEIGHTS else ""
    outer = " ".join(f"{c:+.3g}" for c in network.outer_weights[neuron][:_OUTPUTS])
    return f"{outer} {network.activation.name}({inner}{more} {network.biases[neuron]:+.3g})"
