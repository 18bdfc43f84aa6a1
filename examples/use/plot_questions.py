"""
Exact questions
===============

What does a network predict at most, and where? Does it ever fall with a column? A sample of rows
can miss the answer. :func:`greedynet.exact.optimise` and its companions prove theirs, for all rows
of a region.
"""

import matplotlib.pyplot as plt
import numpy as np

from greedynet import GreedyNetRegressor
from greedynet.exact import extremes, is_monotone, optimise

# The second input follows the first: two corners of the box are empty.
rng = np.random.default_rng(1)
a = rng.uniform(0, 1, 400)
X = np.column_stack([a, np.clip(a + rng.normal(0, 0.12, 400), 0, 1)])
y = np.sin(5 * X[:, 0]) * (1 + X[:, 1]) + rng.normal(0, 0.1, 400)
model = GreedyNetRegressor(n_nodes=20).fit(X, y)

box = extremes(model)
inside = optimise(model, "max", where={0: (0, 0.4), 1: (0, 0.4)})
print(f"seen: {y.min():.2f} to {y.max():.2f}")
print(box)

grid = np.linspace(0, 1, 200)
points = np.column_stack([m.ravel() for m in np.meshgrid(grid, grid)])
figure, axes = plt.subplots(layout="constrained", figsize=(6, 5))
image = axes.pcolormesh(grid, grid, model.predict(points).reshape(200, 200), cmap="coolwarm")
figure.colorbar(image, label="prediction")
axes.plot(*X.T, ".", color="#1f2430", ms=3)
for found, name in ((box.lowest, "smallest"), (box.highest, "largest"), (inside, "largest here")):
    axes.plot(*found.point, "o", color="white", mec="#1f2430", ms=9, clip_on=False)
    side, by = ("right", -10) if found.point[0] > 0.5 else ("left", 10)
    box_style = {"fc": "white", "ec": "none", "alpha": 0.8, "pad": 2}
    text, place = f"{name}: {found.value:.2f}", {"xytext": (by, -4), "textcoords": "offset points"}
    axes.annotate(text, found.point, **place, ha=side, va="top", bbox=box_style)
axes.add_patch(plt.Rectangle((0, 0), 0.4, 0.4, fill=False, ls="--"))
axes.set(xlabel="first input", ylabel="second input")
plt.show()

# %%
# The largest prediction, above all that was seen, lies at the upper edge, far from all rows, where
# nothing holds the network. Does it rise with the first input where it should, below 0.3? Either
# this is proven, or two rows say otherwise.

for where in ({0: (0, 0.3)}, {0: (0, 0.2), 1: (0, 0.3)}):
    print(f"{where}:\n    {is_monotone(model, 0, where=where)}")
