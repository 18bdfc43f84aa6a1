"""The growth and the hidden layer of fitted estimators: stages, features, and growing on."""

from copy import copy
from pathlib import Path

import numpy as np
import pytest
from sklearn.linear_model import LinearRegression
from sklearn.pipeline import make_pipeline

from extras import need
from greedynet import GreedyNetClassifier, GreedyNetRegressor
from problems import noisy


def grown(**options) -> tuple[GreedyNetRegressor, np.ndarray, np.ndarray]:
    X, y = noisy(n_rows=150, seed=1)
    return GreedyNetRegressor(**({"n_nodes": 8, "correct": False} | options)).fit(X, y), X, y


def three_classes() -> tuple[np.ndarray, np.ndarray]:
    X = np.random.default_rng(0).uniform(-1, 1, (150, 2))
    return X, np.array(["low", "mid", "top"])[(X[:, 0] > 0).astype(int) + (X[:, 1] > 0.3)]


# Stages


@pytest.mark.parametrize("options", [{}, {"n_nodes": 14, "hidden_layers": 2}, {"several": True}])
def test_stages_are_those_of_truncate(options: dict):
    X, y = noisy(n_rows=150, seed=1)
    options = dict(options)
    targets = np.column_stack([y, np.abs(X[:, 0])]) if options.pop("several", False) else y
    model = GreedyNetRegressor(**({"n_nodes": 8, "correct": False} | options)).fit(X, targets)
    stages = list(model.staged_predict(X))
    assert len(stages) == len(model.path_.n_nodes)
    for n_nodes, stage in zip(model.path_.n_nodes.tolist(), stages, strict=True):
        wanted = model.truncate(n_nodes).predict(X)
        np.testing.assert_allclose(stage, wanted, rtol=1e-12, atol=1e-12)
    if "hidden_layers" not in options:
        np.testing.assert_allclose(stages[-1], model.predict(X), rtol=1e-12)
        errors = [np.sum((stage - targets) ** 2) for stage in stages]
        assert (np.diff(errors) < 0).all()


def test_stages_of_classes():
    X, y = three_classes()
    model = GreedyNetClassifier(n_nodes=7, correct=False).fit(X, y)
    logits = list(model.staged_decision_function(X))
    for shares, labels, found in zip(
        model.staged_predict_proba(X), model.staged_predict(X), logits, strict=True
    ):
        np.testing.assert_allclose(shares, np.exp(found) / np.exp(found).sum(1, keepdims=True))
        np.testing.assert_array_equal(labels, model.classes_[shares.argmax(axis=1)])
    np.testing.assert_allclose(logits[-1], model.decision_function(X), rtol=1e-12, atol=1e-12)
    two = GreedyNetClassifier(n_nodes=5, correct=False).fit(X, y == "top")
    np.testing.assert_array_equal(list(two.staged_predict(X))[-1], two.predict(X))


def test_stages_check_their_inputs_at_once():
    model, X, _ = grown()
    with pytest.raises(ValueError, match=r"X has 1 features, .* expecting 2"):
        model.staged_predict(X[:, :1])


# Features


def test_hidden_layer_is_a_transformer():
    pandas = need("pandas")
    model, X, y = grown()
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


def test_line_has_no_features():
    model, X, _ = grown(n_nodes=2)
    assert model.transform(X).shape == (len(X), 0)
    assert model.get_feature_names_out().shape == (0,)


# Growing on


def test_growing_on_keeps_the_neurons_and_lowers_the_error():
    model, X, y = grown(warm_start=True)
    first, error = model.network_, model.path_.kept_error
    model.set_params(n_nodes=14).fit(X, y)
    assert model.n_nodes_ == 14
    assert model.path_.kept_error < error
    np.testing.assert_allclose(
        model.path_.network.truncate(8).predict(X), first.predict(X), rtol=1e-9, atol=1e-9
    )
    # As the longer growth does.
    longer = GreedyNetRegressor(n_nodes=14, correct=False).fit(X, y)
    assert model.path_.kept_error < 1.1 * longer.path_.kept_error
    # Folds have not seen those neurons: they tell the same.
    assert model.expected_error_ == longer.expected_error_


@pytest.mark.parametrize("search", ["continuous", "dictionary"])
def test_growing_on_to_a_chosen_width(search: str):
    X, y = noisy(n_rows=150, seed=1)
    options = {"warm_start": True, "search": search, "n_nodes": 5}
    options |= {"n_points": 200} if search == "dictionary" else {}
    model = GreedyNetRegressor(**options).fit(X, y)
    model.set_params(n_nodes=None, max_nodes=12).fit(X, y)
    assert 5 <= model.n_nodes_ <= 12
    assert model.expected_error_ is not None


def test_growing_on_with_classes():
    X, y = three_classes()
    model = GreedyNetClassifier(n_nodes=4, correct=False, warm_start=True).fit(X, y)
    first = model.network_
    model.set_params(n_nodes=7).fit(X, y)
    assert model.n_nodes_ == 7
    np.testing.assert_allclose(
        np.sort(model.network_.inner_weights[:2], axis=0),
        np.sort(first.inner_weights, axis=0),
        rtol=1e-9,
    )
    model.set_params(correct=True, n_nodes=8).fit(X, y)
    assert model.n_nodes_ == 8
    assert model.score(X, y) > 0.95
    with pytest.raises(ValueError, match=r"needs `n_nodes`, got None \(networks of a chosen width"):
        model.set_params(n_nodes=None).fit(X, y)
    with pytest.raises(ValueError, match=r"needs the classes as before, \['low', 'mid', 'top'\]"):
        model.set_params(n_nodes=9).fit(X, y == "top")


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"hidden_layers": 2}, r"needs one hidden layer, got 2"),
        ({"activation": "tanh"}, r"needs the activation as before, relu, got tanh"),
        ({"linear_term": False}, r"needs `linear_term` as before, True, got False"),
        ({"loss": "absolute"}, r'needs loss="squared", got \'absolute\''),
        (
            {"n_nodes": 7},
            r"needs .* of at least 8, the nodes so far, got 7",
        ),
        ({"columns": 1}, r"needs columns of `X` as before, 2, got 1"),
    ],
)
def test_what_cannot_grow_on_is_refused(changed: dict, message: str):
    model, X, y = grown(warm_start=True)
    before = model.network_
    columns = changed.get("columns", 2)
    model.set_params(**{name: v for name, v in changed.items() if name != "columns"})
    with pytest.raises(ValueError, match=f"`warm_start=True` on a fitted estimator {message}"):
        model.fit(X[:, :columns], y)
    assert model.network_ is before


# A fit that is interrupted goes on with the same neurons, and another start is another fit.
def test_checkpoint_knows_what_it_grew_from(tmp_path: Path):
    def last_neuron(n_nodes: int, error: float) -> None:
        if n_nodes == 12:
            raise KeyboardInterrupt("stop")

    model, X, y = grown(warm_start=True)
    again, wider = copy(model), grown(warm_start=True, n_nodes=9)[0]
    wanted = model.set_params(n_nodes=12).fit(X, y).predict(X)
    again.set_params(n_nodes=12, checkpoint=tmp_path / "fit.checkpoint")
    with pytest.raises(KeyboardInterrupt, match="stop"):
        again.set_progress(last_neuron).fit(X, y)
    assert (tmp_path / "fit.checkpoint").exists()
    wider.set_params(n_nodes=12, checkpoint=tmp_path / "fit.checkpoint")
    with pytest.raises(ValueError, match="started from"):
        wider.fit(X, y)
    np.testing.assert_array_equal(again.set_progress().fit(X, y).predict(X), wanted)
