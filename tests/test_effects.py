"""Views: effects of features, and the curves into which two layers turn their columns."""

from dataclasses import replace

import numpy as np
import pytest
from sklearn.inspection import partial_dependence

from deep_networks import random_deep_network
from greedynet import GreedyNetClassifier, GreedyNetRegressor, OutputBounds, fit_table
from greedynet.model.description import column_curves, over_hinges
from greedynet.plots import CurvesDisplay
from greedynet.views.effects import effect_grid, effect_inputs, feature_effect
from networks import inputs, random_network
from networks import random_deep_network as wide_deep_network

# Effects of features: the mean prediction, against scikit-learn's and by definition


@pytest.fixture(scope="module")
def table():
    rng = np.random.default_rng(0)
    X = rng.uniform(-1, 1, size=(150, 3))
    return X, np.abs(X[:, 0] + 0.3) + X[:, 1] * X[:, 2] + 0.1 * X[:, 2]


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


def test_levels_of_a_category_are_set_together(table):
    X, y = table
    levels = np.eye(3)[np.arange(len(X)) % 3]
    rows = np.hstack([X, levels])
    model = GreedyNetRegressor(n_nodes=8).fit(rows, y + levels @ [0.0, 1.0, 5.0])
    found = feature_effect(model.network_, rows, [3, 4, 5], np.eye(3))[:, 0]
    by_hand = [model.predict(np.hstack([X, np.tile(np.eye(3)[k], (len(X), 1))])) for k in range(3)]
    np.testing.assert_allclose(found, np.mean(by_hand, axis=1), rtol=1e-10)


def test_effects_of_the_columns_of_a_table():
    rng = np.random.RandomState(0)
    size, colour = rng.uniform(0, 9, 60), rng.choice(["red", "blue", "green"], 60)
    columns = {"colour": colour, "size": size, "price": np.abs(size - 4) + 2 * (colour == "red")}
    model = fit_table(columns, "price", max_nodes=12)
    X = model.inputs(columns)
    (levels,), (number,) = effect_inputs(model.columns)
    assert (levels.name, levels.labels, number.name) == ("colour", ("blue", "green", "red"), "size")
    for part, settings in ((levels, levels.labels), (number, number.values(X, 5))):
        found = feature_effect(model.network, X, part.at, part.values(X, 5))[:, 0]
        tables = [{**columns, part.name: [setting] * 60} for setting in settings]
        wanted = [model.predict(one).mean() for one in tables]
        np.testing.assert_allclose(found, wanted, rtol=1e-9)


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


# The curves into which two layers turn their columns: a network can be put together from them


def rows(n=50, seed=0):
    """Rows between the outer knots; the column without knots is constant."""
    rng = np.random.default_rng(seed)
    return np.column_stack([rng.uniform(-1, 1, n), np.full(n, 0.3), rng.uniform(5, 7, n)])


def at_rows(X, found, values):
    """Return the sum over the columns of curves, read at the rows between the knots."""
    pairs = zip(found, values, strict=True)
    return sum(np.interp(X[:, one.feature], one.knots, curve) for one, curve in pairs)


def test_curves_without_neurons_add_up_to_the_prediction():
    network, X = random_deep_network(0), rows()
    found = column_curves(network)
    total = at_rows(X, found, [one.direct for one in found])
    np.testing.assert_allclose(np.diff(network.predict(X) - total), 0, atol=1e-12)
    assert all(len(one.neurons) == len(one.through) == 0 for one in found)


def test_neurons_can_be_computed_from_what_they_see():
    network, X, output = random_deep_network(4, 2), rows(), 1
    found = column_curves(network, output, most_neurons=4)
    c = network.outer_weights[:, output]
    hidden = []
    for n in range(4):
        seen = at_rows(X, found, [one.through[one.neurons.tolist().index(n)] for one in found])
        sums = network.inner_weights[n] @ network.ramps.lift(X[:1])[0] + network.biases[n]
        hidden.append(np.maximum((seen - seen[0]) / c[n] + sums, 0))
    np.testing.assert_allclose(np.array(hidden).T, network.hidden(X), atol=1e-12)


def test_curves_have_mean_zero_and_come_in_order():
    found = column_curves(random_deep_network(6), most_neurons=2)
    assert {one.feature for one in found} == {0, 2}
    assert found[0].size >= found[1].size
    for one in found:
        assert len(one.neurons) == 2
        assert np.ptp(one.through[0]) >= np.ptp(one.through[1])
        np.testing.assert_allclose([*one.through.mean(axis=1), one.direct.mean()], 0, atol=1e-12)


def test_curves_without_an_affine_term():
    found = column_curves(random_deep_network(3, affine=False))
    assert all(one.direct is None and one.size > 0 for one in found)


WIDE = {
    "bounded": replace(random_network(), bounds=OutputBounds(0, 1)),
    "two outputs": random_network(n_outputs=2),
    "two layers": wide_deep_network(5, 2),
    "without box": replace(random_network(), reach=np.inf),
}


@pytest.mark.parametrize("name", WIDE)
def test_effects_are_means_of_predictions_within_bounds_and_box(name):
    network, values = WIDE[name], [-9.0, -0.5, 0.3, 99.0]
    X = inputs(network)
    moved = [np.column_stack([np.full(len(X), v), X[:, 1:]]) for v in values]
    wanted = [network.predict(rows).reshape(len(X), -1).mean(axis=0) for rows in moved]
    np.testing.assert_allclose(feature_effect(network, X, 0, values), wanted, rtol=1e-9, atol=1e-9)


# As they are drawn


def test_curves_of_columns():
    network = random_deep_network(5, 2)
    display = CurvesDisplay.from_estimator(network, ["weight", 0], output=1, most_neurons=2)
    wanted = {one.feature: one for one in column_curves(network, 1, most_neurons=2)}
    for panel, feature in enumerate((2, 0)):
        one = wanted[feature]
        np.testing.assert_array_equal(display.direct_[panel].get_data(), [one.knots, one.direct])
        for line, values in zip(display.neurons_[panel], one.through, strict=True):
            np.testing.assert_array_equal(line.get_data(), [one.knots, values])
        np.testing.assert_array_equal(display.knots_[panel].get_xdata(), one.knots[1:-1])
    assert [ax.get_xlabel() for ax in display.ax_] == ["weight", "age"]
    assert display.ax_[0].get_ylim() == display.ax_[1].get_ylim()


def test_the_form_with_hinges_is_the_same_network():
    network = random_deep_network(5, 2)
    X = rows()
    form, (features, knots) = over_hinges(network), network.hinges()
    u = np.column_stack([X, np.maximum(X[:, features] - knots, 0)])
    hidden = np.maximum(u @ form.inner_weights.T + form.biases, 0)
    found = hidden @ form.outer_weights + u @ form.linear_weights + form.intercept
    np.testing.assert_allclose(found, network.predict(X), rtol=1e-9)
    arrays = (form.inner_weights, form.biases, form.outer_weights, form.linear_weights)
    assert network.n_parameters == sum(a.size for a in (*arrays, form.intercept, knots))
    assert network.n_nodes == 5 + 2 + network.n_hinges == 5 + 2 + 3
    assert network.n_multiplications == 5 * (3 + 3 + 2) + (3 + 3) * 2
