"""Rows outside the training data: which columns are, and how far combinations are."""

import numpy as np
import pytest

from greedynet import GreedyNetClassifier, GreedyNetRegressor, fit_table, load


def correlated(n, seed=0, d=3):
    """Columns of which the first two are nearly the same."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d))
    X[:, 1] = X[:, 0] + 0.05 * X[:, 1]
    return X


@pytest.fixture(scope="module")
def model():
    X = correlated(500)
    return GreedyNetRegressor(max_nodes=3).fit(X, X[:, 0])


def test_columns_beyond_what_was_seen(model):
    X = correlated(500)
    inside = model.outside(X)
    assert not inside.columns.any()
    low, high, step = X.min(axis=0), X.max(axis=0), np.eye(3)
    beyond = np.array([high, high + 1e-9 * step[2], low - step[0]])
    expected = [[False] * 3, [False, False, True], [True, False, False]]
    np.testing.assert_array_equal(model.outside(beyond).columns, expected)


def test_one_row_in_a_hundred_is_beyond_the_unit(model):
    found = model.outside(correlated(20_000, seed=1))
    # Between the binomial bounds of the 99th percentile of 500 rows.
    assert 0.001 < np.mean(found.distance > 1) < 0.03
    assert np.mean(found.rows & ~found.columns.any(axis=1)) < 0.01


def test_a_combination_that_was_not_seen_is_far(model):
    found = model.outside([[1.5, 1.5, 0.0], [1.5, -1.5, 0.0]])
    assert not found.columns.any()
    assert found.distance[0] < 1 < found.distance[1]
    assert found.rows.tolist() == [False, True]
    assert found.describe() == ["", "combination"]
    assert str(found) == ("1 of 2 rows is outside the training data, as combinations of columns.")


def test_distances_do_not_depend_on_units_and_axes():
    X, new = correlated(400, seed=2), correlated(50, seed=3)
    new[:, 1] *= -1
    change = np.array([[1e3, 0, 0], [0, 1e-4, 0], [0, 0, 1.0]])
    found = GreedyNetRegressor(max_nodes=3).fit(X, X[:, 0]).outside(new).distance
    moved = GreedyNetRegressor(max_nodes=3).fit(X @ change + 7.0, X[:, 0])
    np.testing.assert_allclose(moved.outside(new @ change + 7.0).distance, found, rtol=1e-3)


@pytest.mark.parametrize("n", [1, 2, 5])
def test_few_rows_equal_rows_and_constant_columns(n):
    X = np.column_stack([np.ones(n), np.arange(n)])
    found = GreedyNetRegressor().fit(X, np.arange(n)).outside([[1.0, 0.0], [2.0, 0.0]])
    assert np.isfinite(found.distance).all()
    assert found.columns[:, 0].tolist() == [False, True]


def test_the_classifier_too(tmp_path):
    X = correlated(200)
    model = GreedyNetClassifier(n_nodes=3).fit(X, X[:, 2] > 0)
    found = model.outside([[9.0, 9.0, 0.0], [0.0, 0.0, 0.0]])
    assert found.columns.tolist() == [[True, True, False], [False] * 3]
    assert found.describe() == ["x0, x1", ""]


def test_tables_name_their_columns(tmp_path):
    rng = np.random.default_rng(0)
    table = {"size": rng.uniform(0, 1, 80), "color": rng.choice(["red", "blue"], 80)}
    table["y"] = table["size"] + (table["color"] == "red")
    model = fit_table(table, "y", max_nodes=4)
    new = {"size": [0.5, 7.0], "color": ["red", "blue"]}
    found = model.outside(new)
    assert found.names == ("size", "color")
    assert found.columns.tolist() == [[False, False], [True, False]]
    low, high = model.predict_interval(new, 0.5)
    assert (low <= high).all()
    np.testing.assert_array_equal(model.predict(new, return_std=True)[0], model.predict(new))
    model.save(tmp_path / "m.safetensors")
    loaded = load(tmp_path / "m.safetensors")
    np.testing.assert_array_equal(loaded.predict_interval(new, 0.5), (low, high))
    np.testing.assert_array_equal(loaded.outside(new).distance, found.distance)
    with pytest.raises(AttributeError, match="`predict_set` is available for classes only"):
        model.predict_set(new)


def test_tables_of_classes_have_sets():
    rng = np.random.default_rng(0)
    table = {"size": rng.uniform(0, 1, 80)}
    table["y"] = np.where(table["size"] + 0.2 * rng.normal(size=80) > 0.5, "big", "small")
    model = fit_table(table, "y", n_nodes=3)
    sets = model.predict_set({"size": [0.0, 0.5, 1.0]}, 0.9)
    assert sets[:, 0].tolist()[::2] == [False, True]
    with pytest.raises(AttributeError, match=r"`predict_interval` .* write `predict_set`"):
        model.predict_interval(table)
