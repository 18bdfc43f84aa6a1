"""Networks of two hidden layers with weights drawn at random, and tables that call for them."""

import numpy as np

from greedynet import DeepNetwork, ShallowNetwork
from greedynet.model.ramps import Ramps

# The second of three columns has no knots.
FEATURES, KNOTS = [0, 0, 0, 0, 2, 2, 2], [-1.0, -0.2, 0.5, 1.0, 5.0, 5.5, 7.0]


def random_deep_network(
    n_neurons: int = 4, n_outputs: int = 1, *, affine: bool = True, seed: int = 0
) -> DeepNetwork:
    rng = np.random.default_rng(seed)
    ramps = Ramps(3, np.array(FEATURES), np.array(KNOTS))
    d = ramps.n_lifted
    low, high = np.array([[-1.0, 0.0, 5.0], [1.0, 1.0, 7.0]])
    over = ShallowNetwork(
        inner_weights=rng.normal(size=(n_neurons, d)),
        biases=rng.normal(size=n_neurons),
        outer_weights=rng.normal(size=(n_neurons, n_outputs)),
        linear_weights=rng.normal(size=(d, n_outputs)) if affine else None,
        intercept=rng.normal(size=n_outputs) if affine else None,
        single_output=n_outputs == 1,
        input_range=np.column_stack([[low, high], np.tile([[0.0], [1.0]], d - 3)]),
    )
    return DeepNetwork(ramps, over, ("age", "height", "weight"))


def bent_columns(n_rows: int = 300, seed: int = 0) -> dict[str, np.ndarray]:
    """Return columns whose product of curves is the target, and one of text."""
    rng = np.random.default_rng(seed)
    age, height = rng.uniform(0, 80, n_rows), rng.uniform(-1, 1, n_rows)
    color = rng.choice(["blue", "red"], n_rows)
    y = np.sin(age / 10) * np.abs(height) + 2.0 * (color == "red") + 0.02 * rng.normal(size=n_rows)
    return {"age": age, "height": height, "color": color, "y": y}
