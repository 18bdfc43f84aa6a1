"""Homogeneous activations on the paper's examples: relative l2 test error and nodes.

    python benchmarks/activations.py

The width is chosen by the example's validation set, at most 200 nodes. A few minutes.
"""

import numpy as np

from greedynet import GreedyNetRegressor
from greedynet.paper import load_example

ACTIVATIONS = ("relu", "leaky_relu", "abs", "relu2", "relu3")


def fitted(number, activation):
    """Return the test error and the number of nodes, as a cell of the table."""
    example = load_example(number)
    model = GreedyNetRegressor(activation=activation).fit(
        example.X_train, example.y_train, X_val=example.X_val, y_val=example.y_val
    )
    misses = model.predict(example.X_test) - example.y_test
    return f"{np.linalg.norm(misses) / np.linalg.norm(example.y_test):.1e} ({model.n_nodes_})"


def main():
    print("| example |", " | ".join(ACTIVATIONS), "|")
    print("| --- |", " | ".join("---" for _ in ACTIVATIONS), "|")
    for number in range(1, 6):
        cells = [fitted(number, activation) for activation in ACTIVATIONS]
        print(f"| {number} |", " | ".join(cells), "|", flush=True)


if __name__ == "__main__":
    main()
