"""The same network whatever the names: order, signs and units of the columns, precision."""

from functools import partial

import numpy as np
import pytest

import scopes
from greedynet import GreedyNetClassifier, GreedyNetRegressor
from greedynet.losses import Quantile
from problems import in_other_units, mixed, renamed

# They take long, and vary what other tests check once.
pytestmark = pytest.mark.slow

regressor = partial(GreedyNetRegressor, random_state=0, n_jobs=1)
classifier = partial(GreedyNetClassifier, random_state=0, n_jobs=1)


def assert_same(found, wanted, share):
    """Predictions agree up to a share of their range."""
    assert np.ptp(wanted) > 0
    np.testing.assert_allclose(found, wanted, rtol=0, atol=share * np.ptp(wanted))


REGRESSORS = {
    "plain": regressor(max_nodes=12),
    "as grown": regressor(n_nodes=12, correct=False),
    "all nodes": regressor(max_nodes=12, select="last"),
    "folds": regressor(max_nodes=8, cv=5),
    "tanh": regressor(n_nodes=4, activation="tanh"),
    "absolute_error": regressor(max_nodes=6, loss="absolute_error"),
    "huber": regressor(max_nodes=6, loss="huber"),
    "quantile": regressor(max_nodes=6, loss=Quantile(0.8)),
    "chebyshev": regressor(max_nodes=5, loss="chebyshev"),
    "two layers": regressor(max_nodes=24, hidden_layers=2),
}


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("name", REGRESSORS)
def test_order_and_signs_of_columns_are_nothing(name, weighted):
    X, y = mixed()
    weights = np.random.default_rng(1).uniform(0.1, 2, len(y)) if weighted else None
    model = REGRESSORS[name]
    wanted = model.fit(X, y, weights).predict(X)
    assert model.network_.n_neurons > 0
    other = renamed(X)
    assert_same(model.fit(other, y, weights).predict(other), wanted, 1e-9)


@pytest.mark.parametrize("name", REGRESSORS)
def test_units_are_nothing(name):
    X, y = mixed()
    model = REGRESSORS[name]
    wanted = model.fit(X, y).predict(X)
    others = (1000 * X + 7, 1e-3 * X, 1.8 * X + 32) if name == "plain" else ()
    for other in (*others, in_other_units(X)):
        assert_same(model.fit(other, y).predict(other), wanted, 1e-6)
    assert_same((model.fit(X, 1000 * y + 7).predict(X) - 7) / 1000, wanted, 1e-6)


@pytest.mark.parametrize("parameters", [{}, {"select": "last"}, {"correct": False}, {"cv": 3}])
def test_a_classifier_too(parameters):
    X, y = mixed(100)
    labels = np.digitize(y, np.quantile(y, [0.3, 0.7]))
    weights = np.random.default_rng(1).uniform(0.1, 2, len(y))
    model = classifier(max_nodes=5, **parameters)
    wanted = model.fit(X, labels, weights).decision_function(X)
    for other, share in ((renamed(X), 1e-9), (1000 * X + 7, 1e-6), (in_other_units(X), 1e-6)):
        assert_same(model.fit(other, labels, weights).decision_function(other), wanted, share)


def test_validation_rows_too():
    X, y = mixed(150)
    train, held = slice(0, 100), slice(100, None)

    def fitted(X):
        return regressor(max_nodes=12).fit(X[train], y[train], X_val=X[held], y_val=y[held])

    wanted = fitted(X).predict(X)
    for other, share in ((renamed(X), 1e-9), (in_other_units(X), 1e-6)):
        assert_same(fitted(other).predict(other), wanted, share)


@pytest.mark.parametrize("make", [regressor, partial(classifier, correct=False)])
def test_the_precision_of_storage_is_nothing(make):
    X, y = mixed()
    X, y = X.astype(np.float32), y if make is regressor else np.sign(y)
    double, single = (make(max_nodes=8).fit(X.astype(kind), y) for kind in (np.float64, np.float32))
    for name in ("inner_weights", "biases", "outer_weights", "linear_weights", "intercept"):
        np.testing.assert_array_equal(
            getattr(single.network_, name), getattr(double.network_, name)
        )


def test_samples_too():
    """Order, signs and precision for rows that are sampled, with a pass over all of them."""
    X, y = mixed(3_000)
    X = X.astype(np.float32).astype(np.float64)
    with scopes.sampled(300, 600, in_order_above=500):
        model = regressor(max_nodes=10)
        wanted = model.fit(X, y).predict(X)
        other = renamed(X)
        assert_same(model.fit(other, y).predict(other), wanted, 1e-9)
        assert_same(model.fit(X.astype(np.float32), y).predict(X), wanted, 1e-9)


def test_an_exact_network_is_found_to_the_last_digits():
    rng = np.random.default_rng(0)
    X = rng.uniform(-1, 1, (200, 2)) * [1e3, 1e-3]
    y = np.abs(X[:, 0] / 1e3 - 0.2) + 3 * X[:, 1]
    steps = []
    model = regressor(max_nodes=6).set_progress(on_neuron=lambda n, _: steps.append(n))
    assert_same(model.fit(X, y).predict(X), y, 1e-12)
    assert model.n_nodes_ == 3
    # It was constructed twice, but every candidate is reported once.
    assert len(steps) == len(model.ladder_)


def random_problem(seed):
    """Any number of rows and columns, of one kind or of many, with a target of many kinds."""
    rng = np.random.default_rng(seed)
    n, d = int(np.exp(rng.uniform(3, 6))), int(np.exp(rng.uniform(0, 3)))
    kinds = [
        lambda: rng.uniform(-1, 1, n),
        lambda: rng.standard_normal(n),
        lambda: 0.1 * rng.integers(0, 5, n),
        lambda: rng.lognormal(size=n),
        lambda: 1.0 * (rng.random(n) < 0.4),
    ]
    kind = int(rng.integers(0, 6))
    X = np.column_stack([kinds[kind if kind < 5 else rng.integers(0, 5)]() for _ in range(d)])
    Z = (X - X.mean(axis=0)) / (X.std(axis=0) + 1e-12)
    a, b = (Z @ rng.standard_normal((2, d)).T / np.sqrt(d)).T
    targets = [np.sin(2 * a) + b**2, np.maximum(a, 0) - 2 * np.maximum(b, 0.3), (a > 0) + b / 2]
    y = [*targets, rng.standard_normal(n)][rng.integers(0, 4)]
    return X, y + rng.choice([0, 0.1, 0.3, 1]) * rng.standard_normal(n)


@pytest.mark.parametrize("change", [renamed, in_other_units, lambda X: 1000 * X + 7])
def test_random_problems(change):
    shares = []
    for seed in range(40):
        X, y = random_problem(seed)
        wanted = regressor(max_nodes=16).fit(X, y).predict(X)
        other = change(X)
        found = regressor(max_nodes=16).fit(other, y).predict(other)
        shares.append(np.abs(found - wanted).max() / (np.ptp(wanted) or 1.0))
    assert np.quantile(shares, 0.95) < (1e-9 if change is renamed else 1e-6)
    assert max(shares) < (1e-9 if change is renamed else 1e-2)
