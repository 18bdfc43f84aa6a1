"""
Neuron by neuron
================

The whole growth in a few lines: score all neurons, select the best one, recompute all outer
weights, and continue with the residual.
"""

import matplotlib.pyplot as plt
import numpy as np

x = np.linspace(-1, 1, 300)
y = np.sin(4 * x) + 0.5 * np.cos(11 * x)
thresholds = np.linspace(-0.98, 0.98, 197)
neurons = np.maximum(x[:, None] - thresholds, 0)  # one column for each threshold

Q, _ = np.linalg.qr(np.column_stack([np.ones_like(x), x]))
chosen, states = [], []
for _ in range(6):
    residual = y - Q @ (Q.T @ y)
    new = neurons - Q @ (Q.T @ neurons)  # the part of each neuron outside the span of Q
    lengths = np.linalg.norm(new, axis=0)
    far = lengths > 0.003 * np.linalg.norm(neurons, axis=0)
    scores = np.where(far, (residual @ neurons / np.where(far, lengths, 1)) ** 2, 0)
    best = int(np.argmax(scores))
    states.append((Q @ (Q.T @ y), scores / (y @ y), list(chosen), thresholds[best]))
    chosen.append(thresholds[best])
    # With orthonormal columns, the projection is the sum of the projections onto each column.
    Q = np.column_stack([Q, new[:, best] / lengths[best]])

figure, axes = plt.subplots(
    2, 4, figsize=(11, 4.2), layout="constrained", sharex=True, height_ratios=(3, 2), sharey="row"
)
for k, (top, bottom) in zip((0, 1, 2, 5), axes.T, strict=True):
    fit, scores, before, best = states[k]
    top.plot(x, y, ":", color="#1f2430", lw=1)
    top.plot(x, fit, color="#d1495b", lw=2)
    top.plot(before, np.full(len(before), -1.9), "|", color="#d1495b", ms=9, mew=1.5)
    top.set(title=f"{k + 2} nodes", ylim=(-2.1, 1.7))
    bottom.plot(thresholds, scores, color="#2f6690")
    bottom.axvline(best, color="#d1495b", lw=1, ls=":")
    bottom.set(xlabel="threshold")
axes[0, 0].set_ylabel("network so far")
axes[1, 0].set_ylabel("score")
plt.show()

# %%
# The lower panels show the score of every neuron; the dotted line marks the one that is selected
# next. Close to a selected neuron the scores are small, since neighbouring neurons would explain
# the same part of the function.
