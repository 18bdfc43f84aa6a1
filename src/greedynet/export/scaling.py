"""The scaling of the inputs as a fixed first layer, for formats in which networks are trained on.

    x  ->  x' = (x - center) / scale,        g(x) = g'(x'),

    a . x + b  =  a' . x' + b',     a'_j = a_j scale_j,     b' = b + a . center

The layer is fixed: it holds no weights that training would change. Those of `g'` refer to columns
of size one, as optimizers with steps of a fixed size expect: Adam changes every weight by about its
learning rate, and for a column of values near 1,000 this is a thousand times too much.

No digit is lost. A scale is a power of two, the first that is at least the largest `|x - center|`
of the training data, so that the division is exact. A column is shifted to the middle of its range
only if the range is further from zero than it is wide: then all its numbers are within a factor of
two of the center, and the difference of two such numbers is exact. Others keep their zero, next to
which numbers have the most digits. So `g'(x')` equals `g(x)` up to the rounding of `b'`.
"""

from dataclasses import dataclass, replace
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from greedynet.model.network import Network
from greedynet.model.ramps import Ramps
from greedynet.support.types import Float64

Scaling = Literal["layer", "folded"]

# Exponents of the scales. Keras takes no smaller scale than 1e-7, and squares scales in float32.
SMALLEST, LARGEST = -20, 60


@dataclass(frozen=True, eq=False)
class InputLayer:
    """The layer `x -> (x - center) / scale`.

    The precision of the export can represent all of its numbers.
    """

    center: Float64
    scale: Float64

    @staticmethod
    def of(input_range: Float64, dtype: str) -> "InputLayer":
        """Return the layer for columns with the given smallest and largest values."""
        low, high = input_range
        nearest = np.where(np.sign(low) == np.sign(high), np.minimum(np.abs(low), np.abs(high)), 0)
        middle = (low / 2 + high / 2).astype(dtype).astype(np.float64)
        center = np.where(nearest > high - low, middle, 0.0)
        largest = np.maximum(np.abs(low - center), np.abs(high - center))
        exponents = np.ceil(np.log2(np.where(largest > 0, largest, 1.0)))
        return InputLayer(center, 2.0 ** np.clip(exponents, SMALLEST, LARGEST))

    def apply(self, X: NDArray[Any]) -> Float64:
        """Return scaled inputs."""
        return np.asarray((X - self.center) / self.scale, dtype=np.float64)

    def inside(self, network: Network) -> Network:
        """Return the network `g'` of scaled inputs that is equal to `g` of inputs as they come."""
        found = None if network.input_range is None else self.apply(network.input_range)
        d = len(self.center)  # ramps, which may follow, stay as they are
        inner, linear = network.inner_weights.copy(), network.linear_weights
        biases, intercept = network.biases + inner[:, :d] @ self.center, network.intercept
        inner[:, :d] *= self.scale
        if linear is not None:
            shift = self.center @ linear[:d]
            intercept = shift if intercept is None else intercept + shift
            linear = np.concatenate([linear[:d] * self.scale[:, None], linear[d:]])
        return replace(
            network,
            inner_weights=inner,
            biases=biases,
            linear_weights=linear,
            intercept=intercept,
            input_range=found,
            ramps=None if network.ramps is None else self.ramps_inside(network.ramps),
        )

    def outside(self, network: Network) -> Network:
        """Return the network `g` of inputs as they come, given `g'` of scaled ones."""
        back = InputLayer(-self.center / self.scale, 1.0 / self.scale)
        return back.inside(network)

    def ramps_inside(self, ramps: Ramps) -> Ramps:
        """Return ramps with scaled knots: their values stay."""
        at = ramps.features
        return replace(ramps, knots=(ramps.knots - self.center[at]) / self.scale[at])


def behind_layer(
    network: Network, scaling: Scaling, dtype: str, caller: str
) -> tuple[InputLayer | None, Network]:
    """Return the first layer of an export, and the network of its outputs.

    No layer, None, for "folded" or where the training range is not known.
    """
    if scaling not in ("layer", "folded"):
        raise ValueError(
            f'`scaling` of `{caller}` must be "layer", for a fixed first layer that scales the '
            f'inputs, or "folded", for weights that include the scaling, got {scaling!r}.'
        )
    if scaling == "folded" or network.input_range is None:
        return None, network
    layer = InputLayer.of(network.input_range, dtype)
    return layer, layer.inside(network)
