"""
A starting point for training
=============================

This example compares backpropagation from a greedy start and from random weights, with the same
width, data, optimiser and number of epochs. It needs the extra ``train`` (JAX); for PyTorch, see
:doc:`/recipes`.
"""

import matplotlib.pyplot as plt
import numpy as np

from greedynet.paper import GreedyShallowNetwork, load_example
from greedynet.train import random_networks, train_networks

example = load_example(2)
X, y = example.X_train, example.y_train
greedy = GreedyShallowNetwork(max_nodes=40).fit(X, y).network_
starts = [greedy, *random_networks(5, n_features=1, n_nodes=40)]
labels = ["greedy start"] + ["random starts"] * 5
results = train_networks(starts, X, y, epochs=2000)

figure, ax = plt.subplots(figsize=(7, 3.5), layout="constrained")
for label, result in zip(labels, results, strict=True):
    ax.plot(result.loss_history, color="C3" if label == "greedy start" else "C0", label=label)
# Epoch 0 is the start, so the logarithmic axis must include zero.
ax.set_xscale("symlog", linthresh=1)
ax.set(yscale="log", xlabel="epoch", ylabel="training loss")
ax.legend(*ax.get_legend_handles_labels(), ncols=2, fontsize="small")
plt.show()

# %%
# Errors on the test rows:

for label, result in zip(labels, results, strict=True):
    errors = result.network.predict(example.X_test) - example.y_test
    print(f"{label}: {np.linalg.norm(errors) / np.linalg.norm(example.y_test):.3f}")
