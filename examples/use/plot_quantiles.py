"""
Quantiles: prediction intervals
===============================

The noise increases towards both ends of the range. Two networks, one for each end of the interval,
predict where 80 % of new rows will lie.
"""

import matplotlib.pyplot as plt
import numpy as np

from greedynet import GreedyNetRegressor
from greedynet.losses import Quantile

rng = np.random.default_rng(1)


def draw(x):
    return np.sin(2 * x) + (0.1 + 0.3 * np.abs(x)) * rng.standard_normal(len(x))


x = rng.uniform(-3, 3, 1500)
y = draw(x)
fresh = rng.uniform(-3, 3, 10_000)
y_fresh = draw(fresh)

models = {
    quantile: GreedyNetRegressor(loss=Quantile(quantile)).fit(x[:, None], y)
    for quantile in (0.1, 0.5, 0.9)
}

# %%
# What fraction of ten thousand new rows lies below each quantile, and between the outer two?

below = {q: np.mean(y_fresh <= model.predict(fresh[:, None])) for q, model in models.items()}
for quantile, share in below.items():
    print(f"{quantile}: {share:.3f} below, with {models[quantile].n_nodes_} nodes")
print(f"in the interval: {below[0.9] - below[0.1]:.3f}")

# %%

grid = np.linspace(-3, 3, 600)
curves = {quantile: model.predict(grid[:, None]) for quantile, model in models.items()}
figure, ax = plt.subplots(figsize=(8, 3.8), layout="constrained")
ax.plot(x, y, ".", color="#b8bfcc", ms=3)
ax.fill_between(grid, curves[0.1], curves[0.9], color="#2f6690", alpha=0.15, lw=0)
for quantile, curve in curves.items():
    ax.plot(grid, curve, color="#d1495b" if quantile == 0.5 else "#2f6690", lw=2)
    ax.text(3.05, curve[-1], f"{quantile}", va="center")
ax.set(xlabel="x", ylabel="y", xlim=(-3, 3.4))
plt.show()
