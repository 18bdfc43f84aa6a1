"""The curves into which two layers turn their columns: a network can be put together from them."""

import numpy as np
import pytest

from deep_networks import random_deep_network
from greedynet.model.description import column_curves
from greedynet.model.ramps import Ramps


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


@pytest.mark.parametrize("weights", [None, np.array([1.0, 1.0, 1.0, 1.0, 0.0])])
def test_columns_with_two_values_have_no_ramps(weights):
    # Half of the weight is on each value, so that the median lies between them.
    x = np.array([0.0, 0.0, 1.0, 1.0] if weights is None else [0.0, 0.0, 1.0, 1.0, 0.5])
    assert Ramps.at_quantiles(x[:, None], weights, 4).n_ramps == 0
    assert Ramps.at_quantiles(np.append(x, 2.0)[:, None], None, 4).n_ramps > 0
