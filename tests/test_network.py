"""Network: what it computes, frozen, truncated along the path, described."""

import pickle
from dataclasses import replace

import numpy as np
import pytest

from greedynet import Network, OutputBounds
from networks import Ramps, random_deep_network, random_network
from problems import SEARCHES, noisy, regressor


@pytest.fixture
def network():
    rng = np.random.RandomState(0)
    return Network(
        rng.randn(5, 3),
        rng.randn(5),
        rng.randn(5, 2),
        linear_weights=rng.randn(3, 2),
        intercept=rng.randn(2),
        single_output=False,
    )


def test_prediction_by_the_formula(network):
    X = np.random.RandomState(1).randn(7, 3)
    wanted = np.zeros((7, 2))
    for a, b, c in zip(network.inner_weights, network.biases, network.outer_weights, strict=True):
        wanted += np.maximum(X @ a + b, 0)[:, None] * c
    wanted += X @ network.linear_weights + network.intercept
    np.testing.assert_allclose(network.predict(X), wanted, atol=1e-13)
    hidden = np.maximum(X @ network.inner_weights.T + network.biases, 0)
    np.testing.assert_allclose(network.hidden(X), hidden, atol=1e-14)


@pytest.mark.parametrize("max_elements", [1, 20, 49])
def test_prediction_by_blocks(network, max_elements):
    X = np.random.RandomState(1).randn(50, 3)
    whole = network.predict(X)
    found = network.predict_of(X, max_elements)
    np.testing.assert_allclose(found, whole, atol=1e-14)


@pytest.mark.parametrize("name", ["inner_weights", "biases", "outer_weights", "intercept"])
def test_arrays_are_frozen_also_after_pickling(network, name):
    for held in (network, pickle.loads(pickle.dumps(network))):
        with pytest.raises(ValueError, match="read-only"):
            getattr(held, name)[0] = 1.0
    with pytest.raises(AttributeError, match="cannot assign"):
        network.biases = np.zeros(5)


def test_ramps_are_frozen_also_after_pickling():
    network = random_deep_network()
    for held in (network, pickle.loads(pickle.dumps(network))):
        with pytest.raises(ValueError, match="read-only"):
            held.ramps.knots[0] = 1.0


def test_ramps_without_knots_are_none():
    network = random_network()
    assert replace(network, ramps=Ramps(3, np.empty(0), np.empty(0))).ramps is None


def test_arrays_are_copies():
    weights = np.ones((2, 1))
    network = Network(weights, np.zeros(2), np.ones((2, 1)))
    weights[:] = 7
    assert network.inner_weights.max() == 1


@pytest.mark.parametrize("search", SEARCHES)
@pytest.mark.parametrize("alpha", [0.0, 0.01])
@pytest.mark.parametrize("n_outputs", [1, 2])
def test_truncation_equals_a_fit_of_that_width(search, alpha, n_outputs):
    X, y = noisy()
    Y = np.column_stack([y, y**2])[:, :n_outputs]
    settings = {"alpha": alpha, "n_points": 500, "correct": False}
    long = regressor(search, n_nodes=14, **settings).fit(X, Y)
    for width in (2, 3, 9):
        short = regressor(search, n_nodes=width, **settings).fit(X, Y).network_
        cut = long.path_.network_at(width)
        np.testing.assert_allclose(cut.predict(X), short.predict(X), atol=1e-10)
        np.testing.assert_array_equal(cut.inner_weights, short.inner_weights)
        np.testing.assert_allclose(cut.outer_weights, short.outer_weights, atol=1e-8)


@pytest.mark.parametrize("search", SEARCHES)
def test_description_names_the_largest_neurons(search):
    X, y = noisy(n_features=3)
    model = regressor(search, n_nodes=14, n_points=200)
    network = model.fit(X, y).network_
    text = network.describe()
    assert text.startswith("12 relu neurons and an affine term (14 nodes): 3 inputs -> 1 out")
    assert text.count("neuron ") == 10
    assert "and 2 more" in text


@pytest.mark.parametrize(
    ("made", "said"),
    [
        (random_network(), ("5 relu neurons and an affine term", "(5, 3)", "clipped to feature 0")),
        (random_deep_network(), ("5 hinges along single columns", "(5, 10)", "c in [5, 7]")),
        (random_network(1000, 3, affine=False, activation="tanh"), ("1,000 tanh", "(1000, 3)")),
        (replace(random_network(), reach=np.inf), ("inputs taken as they are",)),
        (replace(random_network(), bounds=OutputBounds(0, 1)), ("outputs between 0 and 1",)),
        (
            replace(
                random_network(2, 900, n_features=400),
                feature_names=["a long name " * 9] * 400,
                input_range=np.outer([-1e300, 1e300], np.ones(400)),
                bounds=OutputBounds(np.arange(900.0), None),
            ),
            ("2 relu neurons", "(2, 400)", "(2, 900)", "(400, 900)", "clipped", "at least 0"),
        ),
    ],
)
def test_representation_fits_on_a_screen(made, said):
    lines = repr(made).splitlines()
    assert lines[0].startswith("Network: ")
    assert len(lines) <= 5
    assert max(map(len, lines)) <= 100
    assert all(part in repr(made) for part in said)
