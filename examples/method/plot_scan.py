"""
The scan along one direction
============================

Along a given direction, only the threshold of a neuron has to be chosen. The score of a threshold
is the reduction of the squared error by its neuron. The library computes the scores of all
thresholds in one pass over the sorted rows; this example computes them the slow way, one after the
other.
"""

import matplotlib.pyplot as plt
import numpy as np

from greedynet import GreedyNetRegressor

rng = np.random.default_rng(0)
x = np.sort(rng.uniform(-1, 1, 120))
y = np.abs(x - 0.35) + 0.05 * rng.standard_normal(len(x))

# The network so far is a straight line.
Q, _ = np.linalg.qr(np.column_stack([np.ones_like(x), x]))
residual = y - Q @ (Q.T @ y)


def score(threshold):
    g = np.maximum(x - threshold, 0)
    new = g - Q @ (Q.T @ g)  # the part of the neuron that the line cannot represent
    return (residual @ g) ** 2 / (new @ new)


thresholds = np.linspace(x[2], x[-3], 400)
scores = np.array([score(t) for t in thresholds]) / (residual @ residual)
best = thresholds[np.argmax(scores)]

# %%
# A network with three nodes, that is one neuron and the affine term, has its kink there:

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
right.set(xlabel="threshold", ylabel="relative reduction of squared error", ylim=(0, 1))
plt.show()
