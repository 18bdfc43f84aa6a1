"""
The path: networks of every width
=================================

A fit stores the whole path of its growth. Afterwards you can see how the errors decreased and which
width was kept, and use networks of other widths, without refitting.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import make_friedman1

from greedynet import GreedyNetRegressor
from greedynet.plots import PathDisplay

X, y = make_friedman1(600, n_features=6, noise=1.0, random_state=0)
X_val, y_val = make_friedman1(300, n_features=6, noise=1.0, random_state=1)
model = GreedyNetRegressor(correct=False, select="last", max_nodes=60)
model.fit(X, y, X_val=X_val, y_val=y_val)

figure, ax = plt.subplots(figsize=(7, 3.5), layout="constrained")
PathDisplay.from_estimator(model, ax=ax)
plt.show()

# %%
# The training error decreases with every neuron, but the error on the validation rows does not. The
# width with the smallest validation error is kept. The path has the networks of all other widths,
# too.

for n_nodes in (5, 10, model.n_nodes_, 30, 60):
    network = model.path_.network_at(n_nodes)
    error = np.linalg.norm(network.predict(X_val) - y_val) / np.linalg.norm(y_val - y_val.mean())
    print(f"{n_nodes:3d} nodes: {error:.3f} on the validation rows")
