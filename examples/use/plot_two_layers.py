"""
Two hidden layers
=================

With ``hidden_layers="auto"`` a fit also builds networks of two hidden layers, and keeps one where
it is clearly better on rows that it has not seen. The first layer bends single columns: what it
makes of them can be drawn.
"""

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from sklearn.datasets import load_diabetes, load_wine
from sklearn.model_selection import KFold, cross_val_predict

from greedynet import GreedyNetRegressor
from greedynet.plots import CurvesDisplay

# %%
# A made-up harvest. Growth has an optimum of temperature and levels off with rain and with
# fertiliser, and there is a yield only above a threshold of growth: curves of single columns that
# meet in one neuron. A network of one layer has to piece them together from straight edges.

rng = np.random.default_rng(0)
X = pd.DataFrame(
    {
        "temperature": rng.uniform(5, 35, 800),
        "rain": rng.gamma(4, 20, 800),
        "fertiliser": rng.uniform(0, 120, 800),
    }
)
growth = (
    5 * np.exp(-(((X["temperature"] - 22) / 6) ** 2))
    + 3 * np.tanh(X["rain"] / 60)
    + 2 * np.tanh(X["fertiliser"] / 40)
)
y = np.maximum(growth - 5, 0) + rng.normal(0, 0.1, 800)
model = GreedyNetRegressor(hidden_layers="auto").fit(X, y)
print(model.ladder_)
print(model.network_.contents)

# %%
# The red curve of a column is added to the prediction directly. A neuron of the second layer sees
# one of the blue curves, and adds it while it is active. Ticks mark the knots, where curves bend.

CurvesDisplay.from_estimator(model)
plt.show()

# %%
# Is it better? The fit expects so, from the rows that it held out while it chose; a choice among
# many flatters the one that is chosen. Five other folds, of which no fit sees the rows that judge
# it, say more. On small tables there is hardly any gain, and a choice of two layers can be wrong.
# Where they are not clearly better, "auto" keeps one, and nothing changes but the time, which is
# longer. The default is one layer.

wine = load_wine(as_frame=True).data
diabetes = load_diabetes(as_frame=True, scaled=False)
problems = {
    "harvest": (X, y),
    "proline of wines": (wine.drop(columns="proline"), wine["proline"]),
    "progression of diabetes": (diabetes.data, diabetes.target),
}
folds = KFold(5, shuffle=True, random_state=0)
print(f"{'RMSE on rows not seen':<26}{'one layer':>10}{'auto':>10}")
for name, (inputs, target) in problems.items():
    models = [GreedyNetRegressor(hidden_layers=layers) for layers in (1, "auto")]
    found = [cross_val_predict(one, inputs, target, cv=folds) for one in models]
    errors = [np.sqrt(np.mean((values - target) ** 2)) for values in found]
    print(f"{name:<26}{errors[0]:>10.4g}{errors[1]:>10.4g}")
