"""Effects of features: the mean prediction, against scikit-learn's and by definition."""

import numpy as np
import pytest
from sklearn.inspection import partial_dependence

from greedynet import GreedyNetClassifier, GreedyNetRegressor
from greedynet.activations import ACTIVATIONS
from greedynet.views.effects import effect_grid, feature_effect


@pytest.fixture(scope="module")
def table():
    rng = np.random.default_rng(0)
    X = rng.uniform(-1, 1, size=(150, 3))
    return X, np.abs(X[:, 0] + 0.3) + X[:, 1] * X[:, 2] + 0.1 * X[:, 2]


@pytest.mark.parametrize("activation", sorted(ACTIVATIONS))
def test_equals_partial_dependence(table, activation):
    X, y = table
    model = GreedyNetRegressor(n_nodes=7, activation=activation, correct=False).fit(X, y)
    twin = partial_dependence(model, X, [1], method="brute", grid_resolution=9)
    found = feature_effect(model.network_, X, 1, twin["grid_values"][0])
    np.testing.assert_allclose(found[:, 0], twin["average"][0], rtol=1e-10, atol=1e-12)


@pytest.mark.parametrize("n_classes", [2, 3])
def test_classes_equal_partial_dependence(table, n_classes):
    X, y = table
    labels = np.digitize(y, np.quantile(y, np.arange(1, n_classes) / n_classes))
    model = GreedyNetClassifier(n_nodes=6).fit(X, labels)
    twin = partial_dependence(
        model, X, [0], method="brute", grid_resolution=7, response_method="predict_proba"
    )
    found = feature_effect(model.network_, X, 0, twin["grid_values"][0], classes=True)
    np.testing.assert_allclose(found.sum(axis=1), 1.0)
    np.testing.assert_allclose(found.T[-len(twin["average"]) :], twin["average"], rtol=1e-10)


def test_several_outputs(table):
    X, y = table
    model = GreedyNetRegressor(n_nodes=6).fit(X, np.column_stack([y, X[:, 0] - y**2]))
    twin = partial_dependence(model, X, [2], method="brute", grid_resolution=5)
    found = feature_effect(model.network_, X, 2, twin["grid_values"][0])
    np.testing.assert_allclose(found.T, twin["average"], rtol=1e-10, atol=1e-12)


def test_levels_of_a_category_are_set_together(table):
    X, y = table
    levels = np.eye(3)[np.arange(len(X)) % 3]
    rows = np.hstack([X, levels])
    model = GreedyNetRegressor(n_nodes=8).fit(rows, y + levels @ [0.0, 1.0, 5.0])
    found = feature_effect(model.network_, rows, [3, 4, 5], np.eye(3))[:, 0]
    by_hand = [model.predict(np.hstack([X, np.tile(np.eye(3)[k], (len(X), 1))])) for k in range(3)]
    np.testing.assert_allclose(found, np.mean(by_hand, axis=1), rtol=1e-10)


def test_rows_stay_as_they_are(table):
    X, y = table
    X = X.copy()
    X.flags.writeable = False
    network = GreedyNetRegressor(n_nodes=4).fit(X, y).network_
    feature_effect(network, X, 0, [0.0])
    feature_effect(network, X, 0, [0.0], classes=True)


def test_grid_has_the_values_themselves_or_the_range_without_its_ends():
    assert effect_grid([3, 1, 1, 3, 2]).tolist() == [1, 2, 3]
    x = np.append(np.linspace(0, 1, 1000), [1e6, -1e6])
    grid = effect_grid(x, 21)
    assert len(grid) == 21
    assert grid[0] >= 0
    assert grid[-1] <= 1
    # A column that is nearly always the same still has a range.
    grid = effect_grid(np.append(np.zeros(10_000), np.arange(20.0)))
    assert grid[0] == 0
    assert grid[-1] == 19
