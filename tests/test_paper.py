"""The paper's numbers: errors at the published widths, honest widths, the reduced dictionary."""

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.utils.estimator_checks import parametrize_with_checks

from extras import need
from greedynet import GreedyNetRegressor
from greedynet.paper import GreedyShallowNetwork, load_example
from problems import relative_error

# Nodes, error with rule ols (and how far near-ties may move it), error with rule oga, honest width.
EXPECTED = {
    1: (23, 1.02e-02, 0.05, 1.579e-02, 29),
    2: (40, 2.61e-02, 0.02, 3.964e-02, 40),
    3: (50, 4.250e-02, 0.005, 1.080e-01, 58),
    4: (84, 4.255e-02, 0.005, 1.482e-01, 100),
    5: (109, 3.201e-01, 0.005, 8.767e-01, 188),
}
NUMBERS = [1, 2, 3, 4, pytest.param(5, marks=pytest.mark.slow)]


def error_of(example, network):
    return relative_error(network.predict(example.X_test), example.y_test)


@pytest.mark.parametrize("number", NUMBERS)
def test_ols_at_the_published_and_at_the_validated_width(number):
    """One growth has all widths; that a shorter one is its beginning, test_network.py shows."""
    nodes, error, tolerance, _, validated = EXPECTED[number]
    example = load_example(number)
    assert example.published.n_nodes == nodes
    model = GreedyShallowNetwork(example.sphere, max_nodes=example.published.max_nodes)
    model.fit(example.X_train, example.y_train, X_val=example.X_val, y_val=example.y_val)
    published = error_of(example, model.path_.network_at(nodes))
    assert published == pytest.approx(error, rel=tolerance)
    assert model.n_nodes_ == validated
    path = model.path_
    assert path.n_nodes[path.held_out_errors.argmin()] == model.n_nodes_
    found = relative_error(model.predict(example.X_val), example.y_val)
    assert found == pytest.approx(path.held_out_errors.min(), rel=1e-9)
    if number < 5:  # the ridgelet transform is for one or two inputs
        reduced = GreedyShallowNetwork(example.sphere, reduction=0.001, max_nodes=nodes)
        reduced.fit(example.X_train, example.y_train)
        assert error_of(example, reduced) == pytest.approx(published, rel=0.02)


@pytest.mark.parametrize("number", NUMBERS)
def test_oga_at_the_published_width(number):
    nodes, _, _, error, _ = EXPECTED[number]
    example = load_example(number)
    model = GreedyShallowNetwork(example.sphere, rule="oga", max_nodes=nodes)
    model.fit(example.X_train, example.y_train)
    assert error_of(example, model) == pytest.approx(error, rel=0.005)


@parametrize_with_checks([GreedyShallowNetwork(300, max_nodes=10)])
def test_scikit_learn(estimator, check):
    check(estimator)


def test_without_a_validation_set_all_nodes_are_kept_and_epochs_train_them():
    need("jax")
    example = load_example(1)
    data = example.X_train, example.y_train
    model = GreedyShallowNetwork(example.sphere, max_nodes=12).fit(*data)
    assert model.n_nodes_ == len(model.network_.inner_weights) == 12
    assert model.network_.linear_weights is None
    assert model.training_ is None
    trained = clone(model).set_params(epochs=30).fit(*data)
    losses = trained.training_.loss_history
    assert len(losses) == 31
    assert losses[-1] < losses[0]
    assert losses[-1] == pytest.approx(np.mean((trained.predict(data[0]) - data[1]) ** 2), rel=1e-6)
    np.testing.assert_array_equal(trained.path_.kept.predict(data[0]), model.predict(data[0]))


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"points": np.ones((3, 4))}, "`points` must have 2 columns.*got 4"),
        ({"rule": "omp"}, "'rule' parameter of GreedyShallowNetwork must be a str among"),
        ({"reduction": 1.0}, "'reduction' parameter of GreedyShallowNetwork"),
        ({"max_nodes": 0}, "'max_nodes' parameter of GreedyShallowNetwork"),
    ],
)
def test_wrong_parameters(parameters, message):
    example = load_example(1)
    with pytest.raises(ValueError, match=message):
        GreedyShallowNetwork(**parameters).fit(example.X_train, example.y_train)


@pytest.mark.parametrize("number", [1, 2, 3, 4, 5])
def test_data_are_those_of_the_protocol(number):
    example = load_example(number)
    d = example.X_train.shape[1]
    n_train, n_val, n_test = {
        1: (50, 15, 1000),
        2: (100, 20, 1000),
        3: (256, 50, 10_000),
        4: (1024, 200, 10_000),
        5: (4000, 400, 10_000),
    }[number]
    assert example.X_train.shape == (n_train, d)
    assert example.X_val.shape == (n_val, d)
    assert example.X_test.shape == (n_test, d)
    assert example.sphere.shape == (10_000 * d, d + 1)
    for X, y in ((example.X_train, example.y_train), (example.X_val, example.y_val)):
        np.testing.assert_array_equal(y, example.target(X))
        assert np.abs(X).max() <= 1
    assert (np.diff(example.X_val[:, 0]) >= 0).all()


def test_the_stream_is_drawn_in_the_order_of_the_protocol():
    stream = np.random.RandomState(0)
    train, val, test = (
        np.column_stack([stream.uniform(-1, 1, n) for _ in range(4)]) for n in (4000, 400, 10_000)
    )
    sphere = stream.randn(40_000, 5)
    example = load_example(5)
    for drawn, given in ((train, example.X_train), (val, example.X_val), (test, example.X_test)):
        np.testing.assert_array_equal(drawn[np.argsort(drawn[:, 0])], given)
    sphere /= np.linalg.norm(sphere, axis=1, keepdims=True)
    np.testing.assert_array_equal(sphere[np.argsort(sphere[:, 0])], example.sphere)


@pytest.mark.all_folds
@pytest.mark.parametrize(
    ("number", "bar"),
    [
        (1, 1.00e-02),
        (2, 2.44e-02),
        (3, 3.31e-02),
        pytest.param(4, 3.59e-02, marks=pytest.mark.slow),
        pytest.param(5, 2.5e-02, marks=pytest.mark.slow),
    ],
)
def test_the_default_search_is_as_good_as_the_published_trained_network(number, bar):
    example = load_example(number)
    model = GreedyNetRegressor(n_nodes=example.published.n_nodes)
    model.fit(example.X_train, example.y_train)
    assert model.n_nodes_ == example.published.n_nodes
    assert relative_error(model.predict(example.X_test), example.y_test) <= bar
