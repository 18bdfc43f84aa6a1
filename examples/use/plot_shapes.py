"""
Shapes that hold
================

More of the drug never helps less, a larger house is never cheaper: where this is known, say so. A
network of a given shape has it for all rows, also between and beyond the data, and needs fewer of
them.
"""

# %%
# Doses and noisy answers
# -----------------------
# The answer to a dose saturates. A free network follows the noise of the first rows, and falls;
# one that is told that answers never fall does not, and is nearer to the truth.

import matplotlib.pyplot as plt
import numpy as np

from greedynet import GreedyNetRegressor
from greedynet.exact import is_monotone

rng = np.random.default_rng(8)
dose = np.sort(rng.uniform(0, 10, 80))[:, None]
truth = dose[:, 0] ** 3 / (dose[:, 0] ** 3 + 64)
answer = truth + 0.2 * rng.standard_normal(80)

free = GreedyNetRegressor().fit(dose, answer)
rising = GreedyNetRegressor(monotonic_cst=[1]).fit(dose, answer)

line = np.linspace(-1, 12, 400)[:, None]
fig, ax = plt.subplots(figsize=(7, 4), layout="constrained")
ax.plot(dose, answer, ".", color="0.6", label="rows")
ax.plot(line, np.maximum(line[:, 0], 0) ** 3 / (np.maximum(line[:, 0], 0) ** 3 + 64), "k:", lw=1)
ax.plot(line, free.predict(line), label="free")
ax.plot(line, rising.predict(line), label="increasing")
ax.set(xlabel="dose", ylabel="answer", title="The dotted line is the truth")
ax.legend()
plt.show()

# %%
# The proof is in the weights: every neuron comes with as much slope as it may take away. Questions
# about all doses agree.

print(is_monotone(free, 0))
print(is_monotone(rising, 0))
for name, model in (("free", free), ("increasing", rising)):
    error = np.sqrt(np.mean((model.predict(dose) - truth) ** 2))
    print(f"{name:11} {model.n_nodes_:3} nodes, distance to the truth {error:.3f}")

# %%
# Several columns
# ---------------
# A price rises with the size and falls with the distance; nothing is known about the age. A
# dictionary names columns of a data frame, a list has a number for each column.

n = 120
size, distance, age = rng.uniform(30, 200, n), rng.uniform(0, 30, n), rng.uniform(0, 100, n)
X = np.column_stack([size, distance, age])


def price_of(X):
    """A price without noise, in thousands."""
    size, distance, age = X.T
    return 3 * size * (1.2 - np.tanh(distance / 10)) + 40 * np.cos(age / 16)


price = price_of(X) + 80 * rng.standard_normal(n)
models = {
    "free": GreedyNetRegressor().fit(X, price),
    "shaped": GreedyNetRegressor(monotonic_cst=[1, -1, 0]).fit(X, price),
}

fig, axes = plt.subplots(1, 2, figsize=(9, 3.6), sharey=True, layout="constrained")
for ax, column, name in zip(axes, (0, 1), ("size", "distance"), strict=True):
    rows = np.tile(np.median(X, axis=0), (200, 1))
    rows[:, column] = np.linspace(X[:, column].min(), X[:, column].max(), 200)
    ax.plot(rows[:, column], price_of(rows), "k:", lw=1, label="truth")
    for label, model in models.items():
        ax.plot(rows[:, column], model.predict(rows), label=label)
    ax.set(xlabel=name, title="other columns at their medians")
axes[0].set_ylabel("price")
axes[0].legend()
plt.show()

# %%
# Convex and concave
# ------------------
# A cost with a discount is concave in the quantity: the second fifty cost less than the first. Here
# the free network happens to be concave, too; but only the other one had to be.

quantity = rng.uniform(0, 100, 80)[:, None]
cost = 10 * np.sqrt(quantity[:, 0]) + 8 * rng.standard_normal(80)
concave = GreedyNetRegressor(monotonic_cst=[1], convex=[-1]).fit(quantity, cost)
free = GreedyNetRegressor().fit(quantity, cost)

line = np.linspace(0, 100, 300)[:, None]
fig, ax = plt.subplots(figsize=(7, 4), layout="constrained")
ax.plot(quantity, cost, ".", color="0.6")
ax.plot(line, 10 * np.sqrt(line[:, 0]), "k:", lw=1, label="truth")
ax.plot(line, free.predict(line), label="free")
ax.plot(line, concave.predict(line), label="increasing and concave")
ax.set(xlabel="quantity", ylabel="cost")
ax.legend()
plt.show()
