"""Networks of two hidden layers with weights drawn at random, and tables that call for them."""

import numpy as np

from greedynet import Network
from networks import Ramps

# The second of three columns has no knots.
FEATURES, KNOTS = [0, 0, 0, 0, 2, 2, 2], [-1.0, -0.2, 0.5, 1.0, 5.0, 5.5, 7.0]


def random_deep_network(
    n_neurons: int = 4, n_outputs: int = 1, *, affine: bool = True, seed: int = 0
) -> Network:
    rng = np.random.default_rng(seed)
    ramps = Ramps(3, np.array(FEATURES), np.array(KNOTS))
    d = ramps.n_lifted
    return Network(
        inner_weights=rng.normal(size=(n_neurons, d)),
        biases=rng.normal(size=n_neurons),
        outer_weights=rng.normal(size=(n_neurons, n_outputs)),
        linear_weights=rng.normal(size=(d, n_outputs)) if affine else None,
        intercept=rng.normal(size=n_outputs) if affine else None,
        single_output=n_outputs == 1,
        input_range=[[-1.0, 0.0, 5.0], [1.0, 1.0, 7.0]],
        feature_names=("age", "height", "weight"),
        ramps=ramps,
    )


def bent_columns(n_rows: int = 300, seed: int = 0) -> dict[str, np.ndarray]:
    """Return columns whose product of curves is the target, and one of text."""
    rng = np.random.default_rng(seed)
    age, height = rng.uniform(0, 80, n_rows), rng.uniform(-1, 1, n_rows)
    color = rng.choice(["blue", "red"], n_rows)
    y = np.sin(age / 10) * np.abs(height) + 2.0 * (color == "red") + 0.02 * rng.normal(size=n_rows)
    return {"age": age, "height": height, "color": color, "y": y}
