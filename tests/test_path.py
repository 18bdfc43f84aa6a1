"""The path is the growth that happened: every width is a network with an error of its own."""

from dataclasses import fields

import numpy as np
import pytest
from sklearn.linear_model import LinearRegression
from sklearn.pipeline import make_pipeline

from extras import need
from greedynet import GreedyNetRegressor, StopReason
from greedynet.search import Dictionary
from problems import noisy


def same_network(one, other):
    """Whether all arrays of two networks are the same, bit by bit."""
    found = []
    for field in fields(one):
        a, b = getattr(one, field.name), getattr(other, field.name)
        if isinstance(a, np.ndarray):
            found.append(np.array_equal(a, b))
    return type(one) is type(other) and all(found)


KINDS = {
    "default": {"max_nodes": 16},
    "n_nodes": {"n_nodes": 11},
    "last": {"max_nodes": 12, "select": "last"},
    "as grown": {"max_nodes": 9, "correct": False},
    "dictionary": {"max_nodes": 9, "search": Dictionary(n_points=200)},
    "absolute_error": {"max_nodes": 8, "loss": "absolute_error"},
    "chebyshev": {"max_nodes": 5, "loss": "chebyshev"},
    "averages": {"max_nodes": 16, "n_networks": 2},
    "two layers": {"max_nodes": 20, "hidden_layers": 2},
    "folds": {"max_nodes": 8, "cv": 3},
}


@pytest.fixture(scope="module")
def fitted():
    X, y = noisy(160)
    return {name: GreedyNetRegressor(**parameters).fit(X, y) for name, parameters in KINDS.items()}


every_kind = pytest.mark.parametrize("name", KINDS)


# The path


@every_kind
def test_the_path_is_the_growth_that_happened(fitted, name):
    model, (X, y) = fitted[name], noisy(160)
    path = model.path_
    assert (np.diff(path.n_nodes) > 0).all()
    assert path.best_n_nodes == model.n_nodes_ == model.network_.n_nodes
    assert same_network(path.kept, model.network_)
    assert len(path.networks) in (1, len(path))
    assert (path.seconds > 0).all()
    assert path.stop_reason is model.stop_reason_
    for i, n_nodes in enumerate(path.n_nodes):
        network = path.network_at(int(n_nodes))
        assert network.n_nodes == n_nodes
        if "loss" not in KINDS[name]:
            left = np.linalg.norm(network.predict(X) - y) / np.linalg.norm(y - y.mean())
            assert path.training_errors[i] == pytest.approx(left, rel=1e-6)


@every_kind
def test_a_truncated_model_is_the_network_of_its_width(fitted, name):
    model, (X, _) = fitted[name], noisy(160)
    path, (new, _) = model.path_, noisy(50, seed=9)
    # The error of the mean is the unit of relative errors.
    unit = model.ladder_.error_of("mean", form=model.ladder_.choice.form)
    for i, n_nodes in enumerate(path.n_nodes.tolist()):
        smaller = model.truncate(n_nodes)
        np.testing.assert_array_equal(smaller.predict(new), path.network_at(n_nodes).predict(new))
        assert smaller.expected_error_ == pytest.approx(path.held_out_errors[i] * unit, rel=1e-9)
        assert smaller.n_nodes_ == n_nodes
        assert smaller.stop_reason_ is StopReason.N_NODES
        assert smaller.truncated_from_ == model.n_nodes_
        np.testing.assert_array_equal(smaller.path_.n_nodes, path.n_nodes[: i + 1])
        low, high = smaller.predict_interval(X)
        assert (low < high).all()
    assert model.truncate(model.n_nodes_).expected_error_ == pytest.approx(model.expected_error_)


def test_the_smallest_within_a_share_of_the_error(fitted):
    model = fitted["default"]
    path, kept = model.path_, model.expected_error_
    for within in (0.0, 0.05, 0.5, 10.0):
        smaller = model.truncate(within=within)
        assert smaller.expected_error_ <= (1 + within) * kept * (1 + 1e-9)
        at = path.position(smaller.n_nodes_)
        errors = path.held_out_errors / path.held_out_errors[path.position(model.n_nodes_)]
        assert (errors[:at] > 1 + within).all()
    assert model.truncate(within=10.0).n_nodes_ == path.n_nodes[0]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({}, "takes either `n_nodes` or `within`, got none"),
        ({"n_nodes": 4, "within": 0.1}, "takes either `n_nodes` or `within`, got both"),
        ({"n_nodes": 1000}, r"`n_nodes` must be a width of the path, one of 2, .*, got 1000"),
        ({"n_nodes": -1}, "must be a width of the path, one of 2, .*, got -1"),
        ({"n_nodes": 4.5}, "must be a width of the path"),
        ({"n_nodes": "3"}, "`n_nodes`.*'3'"),
    ],
)
def test_widths_that_are_not_there(fitted, arguments, message):
    with pytest.raises((ValueError, TypeError), match=message):
        fitted["default"].truncate(**arguments)


def test_nothing_is_within_an_error_that_nobody_knows():
    model = GreedyNetRegressor().fit([[0.0]], [1.0])
    assert model.path_.held_out_errors is None
    assert model.ladder_ is None
    with pytest.raises(ValueError, match="no row was held out in the fit: pass `n_nodes`"):
        model.truncate(within=0.1)
    assert model.truncate(model.n_nodes_).expected_error_ is None


def test_validation_rows_are_those_of_the_path():
    """Its networks are those of the single fold, trained on all rows."""
    (X, y), (X_val, y_val) = noisy(150, noise=0.5), noisy(80, noise=0.5, seed=1)
    for parameters in ({}, {"correct": False}, {"n_nodes": 8}, {"loss": "absolute_error"}):
        model = GreedyNetRegressor(**({"max_nodes": 12} | parameters))
        model.fit(X, y, X_val=X_val, y_val=y_val)
        for n_nodes in model.path_.n_nodes.tolist():
            left = model.truncate(n_nodes).predict(X_val) - y_val
            size = np.mean(np.abs(left)) if "loss" in parameters else np.sqrt(np.mean(left**2))
            assert model.truncate(n_nodes).expected_error_ == pytest.approx(size, rel=1e-6)


@pytest.mark.parametrize("options", [{}, {"n_nodes": 14, "hidden_layers": 2}, {"several": True}])
def test_networks_of_the_path_are_those_of_truncate(options):
    X, y = noisy(n_rows=150, seed=1)
    options = dict(options)
    targets = np.column_stack([y, np.abs(X[:, 0])]) if options.pop("several", False) else y
    model = GreedyNetRegressor(**({"n_nodes": 8, "correct": False} | options)).fit(X, targets)
    stages = [network.predict(X) for network in model.path_.networks]
    assert len(stages) == len(model.path_.n_nodes)
    for n_nodes, stage in zip(model.path_.n_nodes.tolist(), stages, strict=True):
        wanted = model.truncate(n_nodes).predict(X)
        np.testing.assert_allclose(stage, wanted, rtol=1e-12, atol=1e-12)
    if "hidden_layers" not in options:
        np.testing.assert_allclose(stages[-1], model.predict(X), rtol=1e-12)
        errors = [np.sum((stage - targets) ** 2) for stage in stages]
        assert (np.diff(errors) < 0).all()


# The hidden layer


def test_hidden_layer_is_a_transformer():
    pandas = need("pandas")
    X, y = noisy(150, seed=1)
    model = GreedyNetRegressor(n_nodes=8, correct=False).fit(X, y)
    H = model.transform(X)
    network = model.network_
    rest = X @ network.linear_weights[:, 0] + network.intercept
    np.testing.assert_allclose(H @ network.outer_weights[:, 0] + rest, model.predict(X))
    names = [f"greedynetregressor{n}" for n in range(6)]
    assert model.get_feature_names_out().tolist() == names
    shown = model.set_output(transform="pandas").transform(X)
    assert isinstance(shown, pandas.DataFrame)
    assert list(shown.columns) == names
    pipeline = make_pipeline(GreedyNetRegressor(n_nodes=8, correct=False), LinearRegression())
    assert pipeline.fit(X, y).score(X, y) > 0.5
    line = GreedyNetRegressor(n_nodes=2).fit(X, y)
    assert line.transform(X).shape == (len(X), 0)
    assert line.get_feature_names_out().shape == (0,)
