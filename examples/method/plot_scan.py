"""
The scan along one direction
============================

Along a direction only the threshold is left to choose. Every threshold has a score: how much of
the squared error its neuron would take away. The library computes all of them in one pass over
the sorted rows; here it is done the slow way, one threshold after the other.
"""

import matplotlib.pyplot as plt
import numpy as np

from greedynet import GreedyNetRegressor

rng = np.random.default_rng(0)
x = np.sort(rng.uniform(-1, 1, 120))
y = np.abs(x - 0.35) + 0.05 * rng.standard_normal(len(x))

# What is there already: a straight line.
Q, _ = np.linalg.qr(np.column_stack([np.ones_like(x), x]))
residual = y - Q @ (Q.T @ y)


def score(threshold):
    g = np.maximum(x - threshold, 0)
    new = g - Q @ (Q.T @ g)  # what of the neuron the line cannot do
    return (residual @ g) ** 2 / (new @ new)


thresholds = np.linspace(x[2], x[-3], 400)
scores = np.array([score(t) for t in thresholds]) / (residual @ residual)
best = thresholds[np.argmax(scores)]

# %%
# The network of three nodes, of which the affine term is two, has its kink there:

network = GreedyNetRegressor(n_nodes=3, correct=False).fit(x[:, None], y).network_
kink = -network.biases[0] / network.inner_weights[0, 0]
print(f"best threshold of the scan: {best:.3f}, the network's kink: {kink:.3f}")

# %%

figure, (left, right) = plt.subplots(1, 2, figsize=(10, 3.2), layout="constrained")
left.plot(x, y, ".", color="#b8bfcc")
left.plot(x, y - residual, color="#1f2430", lw=1, ls=":", label="before: a line")
left.plot(x, network.predict(x[:, None]), color="#d1495b", lw=2, label="with the best neuron")
left.legend(frameon=False)
left.set(xlabel="x", ylabel="y")
right.plot(thresholds, scores, color="#2f6690", lw=2)
right.axvline(best, color="#d1495b", lw=1, ls=":")
right.set(xlabel="threshold", ylabel="share of the squared error taken", ylim=(0, 1))
plt.show()
