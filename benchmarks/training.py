"""Training: the compiled loop against steps called one by one, and the paper's protocol in seconds.

    python benchmarks/training.py [--examples 1 2 3 4 5] [--epochs 300]

Prints, in one run:

- microseconds a step of ten 1-23-1 networks at once with batches of one row, in the compiled loop
  and with the same step, compiled, called from Python, and their ratio;
- for each of the paper's examples, seconds of 10,000 epochs of ten random starts with batches of a
  hundredth of the rows, and of one network with all rows in a batch, as from a greedy start. Fewer
  epochs are run and the fastest stretch of them is scaled up; `--epochs 10000` runs all.
"""

import argparse
import time
from math import ceil

import jax
import jax.numpy as jnp
import numpy as np
import optax

from greedynet.paper import load_example
from greedynet.train import random_networks, train_networks

EPOCHS = 10_000  # of the paper


def seconds_per_epoch(networks, example, batch_size, epochs):
    """Fastest stretch between two reports, compilation left out."""
    reports = []
    train_networks(
        networks,
        example.X_train,
        example.y_train,
        batch_size=batch_size,
        epochs=epochs,
        keep="last",
        progress=lambda done, total: reports.append((time.perf_counter(), done)),
    )
    times, done = np.array(reports).T
    # Short stretches, while the loop feels its way to a good length, measure the call.
    long = np.diff(done) >= max(np.diff(done)) / 2
    return (np.diff(times) / np.diff(done))[long].min()


def one_by_one(networks, example, n_steps=2_000, rounds=3):
    """Seconds per step of the same step, compiled and called from Python."""
    optimizer = optax.adam(1e-3)

    def loss(weights, x, y):
        a, b, c, m = weights
        return jnp.mean((jax.nn.relu(x @ a.T + b) @ c + m - y) ** 2)

    @jax.jit
    def step(weights, memory, x, y):
        gradient = jax.vmap(jax.grad(loss), in_axes=(0, None, None))(weights, x, y)
        change, memory = optimizer.update(gradient, memory)
        return optax.apply_updates(weights, change), memory

    with jax.enable_x64(True):
        names = ("inner_weights", "biases", "outer_weights", "intercept")
        weights = [jnp.stack([getattr(network, name) for network in networks]) for name in names]
        memory = optimizer.init(weights)
        X = example.X_train
        rows = [(x[None], y[None, None]) for x, y in zip(X, example.y_train, strict=True)]
        best = np.inf
        for _ in range(rounds):
            start = time.perf_counter()
            for i in range(n_steps):
                weights, memory = step(weights, memory, *rows[i % len(rows)])
            jax.block_until_ready(weights)
            best = min(best, time.perf_counter() - start)
    return best / n_steps


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--examples", type=int, nargs="*", default=[1, 2, 3, 4, 5])
    parser.add_argument("--epochs", type=int, default=300)
    arguments = parser.parse_args()

    example = load_example(1)
    networks = random_networks(10, 1, 23)
    ours = seconds_per_epoch(networks, example, 1, 5_000) / len(example.X_train)
    theirs = one_by_one(networks, example)
    print("ten 1-23-1 networks, batches of one row, microseconds a step:")
    print(
        f"  one loop {1e6 * ours:.1f} (at most 10)   one by one {1e6 * theirs:.1f}   "
        f"ratio {theirs / ours:.0f}"
    )
    total = 0.0
    for number in arguments.examples:
        example = load_example(number)
        n, d = example.X_train.shape
        width, batch_size = example.published.n_nodes, ceil(n / 100)
        networks = random_networks(10, d, width)
        random = EPOCHS * seconds_per_epoch(networks, example, batch_size, arguments.epochs)
        whole = EPOCHS * seconds_per_epoch(networks[:1], example, None, 3 * arguments.epochs)
        total += random + whole
        print(
            f"example {number}, {d}-{width}-1, {n} rows: ten random starts {random:6.1f} s "
            f"({1e6 * random / EPOCHS / ceil(n / batch_size):5.1f} us a step), "
            f"all rows in a batch {whole:5.1f} s",
            flush=True,
        )
    print(f"together {total:.0f} s for {EPOCHS:,} epochs")


if __name__ == "__main__":
    main()
