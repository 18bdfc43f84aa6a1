"""Two hidden layers: in fits of numbers and of classes."""

import warnings
from functools import cache

import numpy as np
import pytest
from sklearn.metrics import log_loss

import greedynet
import scopes
from greedynet import GreedyNetClassifier, GreedyNetRegressor
from greedynet.search import Dictionary
from networks import Ramps

CURVES = "curves of single columns"


# Two hidden layers: ramps along single columns, and the same construction over them


@pytest.fixture
def inputs():
    return np.random.default_rng(0).standard_normal((60, 3)) * [1.0, 1e-3, 1e4]


def curves(n, seed=0, noise=0.0):
    """A neuron over curves of single columns, which oblique neurons can only approximate."""
    rng = np.random.default_rng(seed)
    X = rng.uniform(-1, 1, (n, 4))
    y = np.maximum(np.cos(4 * X).sum(axis=1), 0)
    return X, y + noise * rng.standard_normal(n)


def test_ramps_are_hinges(inputs):
    """The formula of `as_hinges`, also outside the knots."""
    X = inputs
    ramps = Ramps.at_quantiles(X, None, 5)
    assert (ramps.n_ramps, ramps.n_hinges, ramps.n_lifted) == (15, 12, 18)
    rng = np.random.default_rng(1)
    weights, new = rng.standard_normal((4, 18)), 3 * X
    found, constants = ramps.as_hinges(weights)
    features, knots = ramps.hinges()
    u = np.column_stack([new, np.maximum(new[:, features] - knots, 0)])
    np.testing.assert_allclose(ramps.lift(new) @ weights.T, u @ found.T + constants, rtol=1e-10)


def test_each_ramp_rises_by_one_between_its_knots(inputs):
    X = inputs
    ramps = Ramps.at_quantiles(X, None, 4)
    column = ramps.knots[ramps.features == 1]
    at = np.zeros((5, 3))
    at[:, 1] = column
    lifted = ramps.lift(at)[:, 3 + 4 : 3 + 8]
    np.testing.assert_allclose(lifted, np.tri(5, 4, -1), atol=1e-12)
    at[:, 1] = (column[0] - 1e-3, *(column[1:4]), column[4] + 1e-3)
    beyond = ramps.lift(at)[:, 3 + 4 : 3 + 8]
    assert beyond[0, 0] < 0
    assert beyond[-1, -1] > 1


def test_a_weight_is_as_many_rows(inputs):
    X = inputs
    counts = np.random.default_rng(2).integers(1, 4, len(X))
    weighted = Ramps.at_quantiles(X, counts.astype(float), 7)
    repeated = Ramps.at_quantiles(np.repeat(X, counts, axis=0), None, 7)
    np.testing.assert_allclose(weighted.knots, repeated.knots, rtol=1e-12)


def test_columns_of_two_values_have_no_ramps(inputs):
    X = inputs
    X[:, 1] = X[:, 1] > 0
    ramps = Ramps.at_quantiles(X, None, 4)
    assert set(ramps.features.tolist()) == {0, 2}


@pytest.mark.parametrize(
    ("features", "knots", "match"),
    [
        ([0, 0, 0], [0.0, 2.0, 1.0], "`knots` must ascend"),
        ([1, 1, 1, 0, 0, 0], [0, 1, 2, 0, 1, 2], "columns must ascend"),
        ([0, 0], [0.0, 1.0], "never, or at least three"),
        ([3, 3, 3], [0.0, 1.0, 2.0], "each of 3 columns"),
    ],
)
def test_knots_are_checked(features, knots, match):
    with pytest.raises(ValueError, match=match):
        Ramps(3, np.array(features), np.array(knots))


def test_two_layers_are_better_where_curves_meet():
    X, y = curves(500, noise=0.05)
    new, wanted = curves(2_000, seed=1)
    models = {h: GreedyNetRegressor(hidden_layers=h).fit(X, y) for h in (1, 2, "auto")}
    errors = {h: np.sqrt(np.mean((m.predict(new) - wanted) ** 2)) for h, m in models.items()}
    assert errors[2] < 0.4 * errors[1]
    assert models["auto"].expected_error_ == models[2].expected_error_
    np.testing.assert_array_equal(models["auto"].predict(new), models[2].predict(new))
    assert "two layers" in models["auto"].ladder_.kind
    assert models["auto"].ladder_.expected_error == models["auto"].expected_error_
    assert {"mean", "line", CURVES} <= set(models["auto"].ladder_.kinds)


def test_auto_keeps_one_layer_where_that_is_right():
    rng = np.random.default_rng(0)
    X = rng.uniform(-1, 1, (300, 3))
    y = np.maximum(X @ [1.0, -2.0, 0.5], 0) + 0.05 * rng.standard_normal(300)
    one, auto = (GreedyNetRegressor(hidden_layers=h).fit(X, y) for h in (1, "auto"))
    assert auto.network_.ramps is None
    np.testing.assert_array_equal(auto.predict(X), one.predict(X))
    assert auto.expected_error_ == one.expected_error_
    assert len(auto.ladder_) > len(one.ladder_)


@pytest.mark.all_folds
@pytest.mark.parametrize(
    "parameters",
    [
        {"hidden_layers": 2, "max_nodes": 24},
        {"hidden_layers": 2, "n_nodes": 24, "n_networks": 2},
        {"monotonic_cst": [1, 1], "max_nodes": 24},
    ],
)
def test_averages_have_as_many_nodes_as_there_may_be(parameters):
    """Their hinges count, and a neuron that levels off is two."""
    rng = np.random.default_rng(1)
    X = rng.standard_normal((150, 2))
    y = 3 * X[:, 0] * X[:, 1] + 0.1 * rng.standard_normal(150)
    model = GreedyNetRegressor(**parameters)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", greedynet.FewerNodesWarning)
        assert model.fit(X, y).n_nodes_ <= 24
    assert any(candidate.n_networks > 1 for candidate in model.ladder_.candidates)


@pytest.mark.parametrize("parameters", [{}, {"n_nodes": 30}, {"max_nodes": 40}])
def test_hinges_count_as_nodes(parameters):
    X, y = curves(300, noise=0.02)
    model = GreedyNetRegressor(hidden_layers=2, **parameters).fit(X, y)
    network = model.network_
    assert model.n_nodes_ == network.n_hinges + network.n_neurons + 2
    assert model.n_nodes_ <= parameters.get("max_nodes", 200)
    if "n_nodes" in parameters:
        assert model.n_nodes_ == 30
    assert 0 < network.n_hinges <= 0.5 * parameters.get("max_nodes", 200)
    assert model.path_.n_nodes[0] == network.n_hinges + 2


@pytest.fixture
def small_samples():
    with scopes.sampled(400, in_order_above=100):
        yield


def test_rows_in_blocks_give_the_two_layers_of_memory(small_samples):
    X, y = curves(1_500, noise=0.05)
    model = GreedyNetRegressor(hidden_layers=2, max_nodes=40)
    in_memory = model.fit(X, y).predict(X)
    assert model.network_.ramps is not None
    in_blocks = model.fit([(X[:600], y[:600]), (X[600:], y[600:])])
    assert in_blocks.network_.ramps is not None
    np.testing.assert_allclose(in_blocks.predict(X), in_memory, atol=1e-9)


@pytest.mark.parametrize("wrong", [0, 3, "both"])
def test_the_number_of_layers_is_checked(wrong):
    with pytest.raises(ValueError, match="hidden_layers"):
        GreedyNetRegressor(hidden_layers=wrong).fit([[0.0], [1.0]], [0.0, 1.0])


# Classes by two hidden layers: when they are chosen, and that all else is as with one


N_COLUMNS = 6


def class_curves(X):
    """A sum of one curve for each of four columns: the logit of the planted classes."""
    return 3 * (np.sin(5 * X[:, 0]) + np.abs(2 * X[:, 1]) - 1 + np.cos(6 * X[:, 2]) + X[:, 3] ** 3)


def line(X):
    return 3 * X[:, 0] - 2 * X[:, 1]


def drawn(logit, n_rows, seed):
    rng = np.random.default_rng(seed)
    X = rng.uniform(-1, 1, (n_rows, N_COLUMNS))
    is_second = rng.uniform(size=n_rows) < 1 / (1 + np.exp(-logit(X)))
    return X, np.where(is_second, "yes", "no")


@cache
def fitted(logit, hidden_layers):
    return GreedyNetClassifier(hidden_layers=hidden_layers).fit(*drawn(logit, 300, 0))


def loss_on_new(model, logit):
    X, y = drawn(logit, 4_000, 1)
    return log_loss(y, model.predict_proba(X))


def test_sums_of_curves_are_found_by_two_layers_and_auto_chooses_them():
    one, auto = fitted(class_curves, 1), fitted(class_curves, "auto")
    assert auto.network_.ramps is not None
    assert loss_on_new(auto, class_curves) < 0.85 * loss_on_new(one, class_curves)
    assert auto.expected_error_ == pytest.approx(loss_on_new(auto, class_curves), rel=0.25)


def test_auto_keeps_one_layer_where_a_line_is_right():
    one, auto = fitted(line, 1), fitted(line, "auto")
    assert auto.network_.ramps is None
    X, _ = drawn(line, 50, 2)
    np.testing.assert_array_equal(auto.predict_proba(X), one.predict_proba(X))
    assert auto.expected_error_ == one.expected_error_


def test_candidates_of_both_are_shown_with_the_shares_once():
    one, auto = fitted(class_curves, 1).ladder_, fitted(class_curves, "auto").ladder_
    kinds = auto.kinds
    assert kinds.count("class shares") == 1
    assert {"line", CURVES} <= set(kinds)
    np.testing.assert_array_equal(auto.errors[: len(one)], one.errors)
    assert auto.expected_error == fitted(class_curves, "auto").expected_error_


def test_the_logistic_regression_that_is_told_is_over_the_columns():
    """Not over the ramps, which would nearly be the network itself."""
    assert (
        fitted(class_curves, "auto").expectation_.line == fitted(class_curves, 1).expectation_.line
    )
    X, y = drawn(class_curves, 120, 0)
    assert GreedyNetClassifier(hidden_layers=2).fit(X, y).expectation_.line is None


def test_given_points_are_refused():
    X, y = drawn(line, 60, 6)
    points = np.ones((5, N_COLUMNS + 1))
    model = GreedyNetClassifier(hidden_layers=2, search=Dictionary(points))
    with pytest.raises(ValueError, match=r"`points` are neurons over the columns"):
        model.fit(X, y)


def test_classes_in_blocks_give_the_two_layers_of_memory():
    X, y = drawn(class_curves, 1_000, 7)
    with scopes.sampled(200, in_order_above=100):
        model = GreedyNetClassifier(hidden_layers=2, max_nodes=20)
        in_memory = model.fit(X, y).predict_proba(X)
        assert model.network_.ramps is not None
        in_blocks = model.fit([(X[:500], y[:500]), (X[500:], y[500:])]).predict_proba(X)
    assert model.network_.ramps is not None
    np.testing.assert_allclose(in_blocks, in_memory, atol=1e-9)
