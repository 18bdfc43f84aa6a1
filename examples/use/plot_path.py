"""
The path: every width of a growth
=================================

A fit keeps its whole growth. How the errors fell, which width was kept, and what the others look
like can be seen afterwards; nothing is fitted again.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import make_friedman1

from greedynet import GreedyNetRegressor
from greedynet.plots import PathDisplay

X, y = make_friedman1(600, n_features=6, noise=1.0, random_state=0)
X_val, y_val = make_friedman1(300, n_features=6, noise=1.0, random_state=1)
model = GreedyNetRegressor(correct=False, patience=None, max_nodes=60)
model.fit(X, y, X_val=X_val, y_val=y_val)

figure, ax = plt.subplots(figsize=(7, 3.5), layout="constrained")
PathDisplay.from_estimator(model, ax=ax)
plt.show()

# %%
# The training error falls with every neuron, the error on the validation rows does not. The width
# with the smallest one is kept, and any other is a cut of the same growth: its neurons are the
# first ones, its outer weights are solved anew.

for n_nodes in (5, 10, model.n_nodes_, 30, 60):
    network = model.path_.network.truncate(n_nodes)
    error = np.linalg.norm(network.predict(X_val) - y_val) / np.linalg.norm(y_val - y_val.mean())
    print(f"{n_nodes:3d} nodes: {error:.3f} on the validation rows")
