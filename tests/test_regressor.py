"""GreedyNetRegressor: scikit-learn's contract, and what must not change the result."""

from functools import partial

import numpy as np
import pandas as pd
import pytest
from sklearn.callback import ScoringMonitor
from sklearn.metrics import r2_score
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils.estimator_checks import parametrize_with_checks

from greedynet import FewerNodesWarning, GreedyNetRegressor, StopReason
from greedynet.losses import Quantile
from problems import SEARCHES, noisy, planted, regressor, relative_error
from watching import StopAfter

SETTINGS = {
    "continuous": [
        {"max_nodes": 8},
        {},
        {"correct": False, "select": 0.05},
        {"n_nodes": 5},
        {"cv": 3, "max_nodes": 10},
        {"loss": "absolute_error", "max_nodes": 6},
        {"loss": Quantile(0.4), "max_nodes": 6, "select": "last"},
    ],
    "dictionary": [
        {"rule": "oga", "max_nodes": 20, "cv": 3},
        {"select": "1se", "alpha": 1e-3, "memory_budget": 2_000_000},
        {"n_points": 400, "n_nodes": 5},
    ],
}


def checks_that_fail(estimator):
    """Checks with the reason why they do not apply."""
    sets_alpha = "sets `alpha` where an estimator has one, which goes with squares only"
    return {} if estimator.loss == "squared_error" else {"check_regressors_train": sets_alpha}


OTHERS = [
    regressor(search, **{"n_points": 600, **settings})
    for search in SEARCHES
    for settings in SETTINGS[search][1:]
]
FIRST = [regressor(search, **{"n_points": 600, **SETTINGS[search][0]}) for search in SEARCHES]


@pytest.mark.filterwarnings("ignore::greedynet.FewerNodesWarning")
@parametrize_with_checks(FIRST)
def test_scikit_learn(estimator, check):
    check(estimator)


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::greedynet.FewerNodesWarning")
@parametrize_with_checks(OTHERS, expected_failed_checks=checks_that_fail)
def test_scikit_learn_with_other_settings(estimator, check):
    check(estimator)


dictionary = partial(regressor, "dictionary", n_points=500)


@pytest.fixture(params=SEARCHES)
def small(request):
    """Makes estimators with one of the searches."""
    return partial(regressor, request.param, n_points=500)


@pytest.fixture(scope="module")
def data():
    return noisy(n_rows=150, n_features=3)


@pytest.mark.parametrize("parameters", [{}, {"alpha": 1e-3}, {"correct": False, "alpha": 0.1}])
def test_outer_weights_are_stationary_at_the_ridge_told(data, parameters):
    X, y = data
    model = GreedyNetRegressor(n_nodes=8, n_networks=1, **parameters).fit(X, y)
    network, alpha, scale = model.network_, model.alpha_, y.std()
    assert alpha == parameters.get("alpha", alpha) > 0
    H = network.hidden(X)
    # A ridge that was given is for neurons of norm 1.
    norms = np.linalg.norm(H, axis=0) if parameters else np.ones(H.shape[1])
    weights = norms * network.outer_weights[:, 0] / scale
    gradient = (H / norms).T @ ((network.predict(X) - y) / scale)
    np.testing.assert_allclose(gradient + alpha * weights, 0.0, atol=1e-7)
    assert np.abs(alpha * weights).max() > 1e-5


def test_the_network_that_was_kept_in_numbers(data):
    X, y = data
    model = GreedyNetRegressor(n_nodes=8, n_networks=2, hidden_layers=1).fit(X, y)
    assert (model.n_networks_, model.hidden_layers_, model.n_outputs_) == (2, 1, 1)
    same, smaller = (model.truncate(int(n)) for n in model.path_.n_nodes[[-1, -2]])
    assert (same.n_networks_, smaller.n_networks_) == (2, 1)
    assert (same.alpha_, smaller.alpha_) == (model.alpha_, None)
    deep = GreedyNetRegressor(max_nodes=20, hidden_layers=2).fit(X, np.column_stack([y, X]))
    assert (deep.n_networks_, deep.hidden_layers_, deep.n_outputs_) == (1, 2, 4)
    line = GreedyNetRegressor().fit(X, X @ [1.0, 2.0, 3.0])
    assert (line.alpha_, line.n_networks_, line.hidden_layers_) == (None, 1, 1)


@pytest.mark.parametrize("power", [660, -660])
def test_the_score_has_no_unit(data, power):
    X, y = data
    y, factor = np.column_stack([y, y[::-1]]), np.array([1.0, 2.0**power])
    weights = np.linspace(0.0, 2.0, len(y))
    model = GreedyNetRegressor(n_nodes=6).fit(X, y)
    wanted = r2_score(y, model.predict(X), sample_weight=weights)
    model = GreedyNetRegressor(n_nodes=6).fit(X, factor * y)
    assert model.score(X, factor * y, weights) == pytest.approx(wanted, rel=1e-6)


def test_an_affine_target_needs_no_neuron(small, data):
    X, _ = data
    model = small().fit(X, 3 * X[:, 0] - X[:, 2] + 5)
    assert model.network_.n_neurons == 0
    assert model.n_nodes_ == 2
    np.testing.assert_allclose(model.network_.linear_weights[:, 0], [3, 0, -1], atol=1e-12)
    np.testing.assert_allclose(model.network_.intercept, [5], atol=1e-12)


@pytest.mark.parametrize("memory_budget", [2**30, 500_000])
def test_same_seed_same_result_whatever_the_threads(data, memory_budget):
    X, y = data
    predictions = [
        dictionary(n_jobs=n_jobs, memory_budget=memory_budget).fit(X, y).predict(X)
        for n_jobs in (1, 3, None)
    ]
    for other in predictions[1:]:
        np.testing.assert_array_equal(predictions[0], other)


def test_dense_equals_blocks(data):
    X, y = data
    dense, blocks = dictionary(), dictionary(memory_budget=60_000, n_jobs=1)
    np.testing.assert_array_equal(dense.fit(X, y).path_.indices, blocks.fit(X, y).path_.indices)
    np.testing.assert_allclose(dense.predict(X), blocks.predict(X), rtol=1e-10)


def test_seed_decides(small, data):
    X, y = data
    assert not np.array_equal(
        small().fit(X, y).predict(X), small(random_state=1).fit(X, y).predict(X)
    )


@pytest.mark.parametrize("n_outputs", [1, 3])
@pytest.mark.parametrize("parameters", [{}, {"n_nodes": 6}, {"n_nodes": 8}])
def test_a_planted_network_is_found_without_its_points(n_outputs, parameters):
    """Four neurons and an affine term are six nodes."""
    X, Y, _, _ = planted(n_outputs=n_outputs)
    model = GreedyNetRegressor(**parameters).fit(X[:150], Y[:150])
    assert relative_error(model.predict(X[:150]), Y[:150]) < 1e-4
    assert relative_error(model.predict(X[150:]), Y[150:]) < 1e-2


def test_shape_of_the_outputs_is_kept(small, data):
    X, y = data
    assert small().fit(X, y).predict(X).shape == (150,)
    assert small().fit(X, y[:, None]).predict(X).shape == (150, 1)


@pytest.mark.parametrize("y", [np.zeros(20), np.full(20, 7.5)])
def test_zero_and_constant_targets(small, y):
    X = np.linspace(0, 1, 20)[:, None]
    model = small().fit(X, y)
    np.testing.assert_allclose(model.predict(X), y, atol=1e-6)
    assert model.network_.n_neurons == 0


def test_one_row_and_two_rows(small):
    np.testing.assert_allclose(small().fit([[1.0, 2.0]], [3.0]).predict([[1.0, 2.0]]), [3.0])
    # Of two rows, neither predicts the other better than their mean does.
    model = small().fit([[0.0], [1.0]], [3.0, 5.0])
    np.testing.assert_allclose(model.predict([[0.0], [1.0]]), [4.0, 4.0], atol=1e-10)
    assert model.expected_error_ == pytest.approx(2.0)


def test_duplicate_and_constant_columns(small, data):
    X, y = data
    wide = np.column_stack([X, X[:, 0], np.full(len(X), 4.0)])
    model = small().fit(wide, y)
    assert np.isfinite(model.predict(wide)).all()
    assert model.score(wide, y) > 0.8


def test_near_dependent_atoms_do_not_explode():
    """Every point twice, the copies a hair apart: weights stay of the data's size."""
    X, y = noisy(n_rows=60, noise=0.3)
    points = np.random.RandomState(0).randn(80, 3)
    twins = points + 1e-9 * np.random.RandomState(1).randn(80, 3)
    given = dictionary
    with pytest.warns(FewerNodesWarning, match=r"has \d\d nodes, not the 70 requested"):
        model = given(n_nodes=70, points=np.r_[points, twins]).fit(X, y)
    assert np.abs(model.network_.outer_weights).max() < 1e5 * np.abs(y).max()
    alone = given(n_nodes=40, points=points).fit(X, y)
    both = given(n_nodes=40, points=np.r_[points, twins]).fit(X, y)
    np.testing.assert_allclose(both.predict(X), alone.predict(X), atol=1e-6)


def test_explicit_points_are_the_neurons(data):
    X, y = data
    points = np.random.RandomState(0).randn(50, 4)
    model = dictionary(n_nodes=6, points=points).fit(X, y)
    chosen = model.path_.indices
    np.testing.assert_allclose(model.network_.inner_weights, points[chosen, :3], rtol=1e-15)
    np.testing.assert_allclose(model.network_.biases, points[chosen, 3], rtol=1e-15)


@pytest.mark.parametrize("correct", [True, False])
@pytest.mark.parametrize("n_nodes", [2, 3, 10])
def test_exactly_so_many_nodes(small, data, n_nodes, correct):
    model = small(n_nodes=n_nodes, correct=correct).fit(*data)
    assert model.n_nodes_ == model.network_.n_nodes == n_nodes


def test_frames_keep_their_names(small, data):
    X, y = data
    frame = pd.DataFrame(X, columns=["a", "b", "c"])
    model = small(n_nodes=5).fit(frame, pd.Series(y), X_val=frame, y_val=pd.Series(y))
    assert list(model.feature_names_in_) == ["a", "b", "c"]
    other = small(n_nodes=5).fit(X, y, X_val=X, y_val=y)
    np.testing.assert_array_equal(model.predict(frame), other.predict(X))


def test_parameters_of_the_search_are_searched_in_a_pipeline(data):
    rules = {"greedynetregressor__search__rule": ["ols", "oga"]}
    model = make_pipeline(StandardScaler(), dictionary(max_nodes=12))
    assert GridSearchCV(model, rules, cv=3).fit(*data).best_score_ > 0.5


def test_scoring_monitor_sees_every_candidate(small, data):
    """The network of a fold, as far as it has grown."""
    X, y = data
    monitor = ScoringMonitor(scoring="r2")
    model = small(n_nodes=8).set_callbacks(monitor).fit(X, y)
    found = [row["r2"] for row in monitor.get_logs().data if row["task_name"] == "neuron"]
    assert len(found) == len(model.ladder_)
    assert found[0] == pytest.approx(0, abs=0.01)  # the mean
    assert found[-1] == pytest.approx(model.score(X, y), abs=0.1)
    of_networks = found[1:-1]
    assert (np.diff(of_networks) > -0.02).all()


def test_callbacks_can_stop(small, data):
    """After the mean, a line, and networks of one and two neurons."""
    model = small(select="last").set_callbacks(StopAfter(4)).fit(*data)
    assert model.stop_reason_ is StopReason.CALLBACK
    assert model.network_.n_neurons == 2


def test_a_slope_that_neurons_take_over_may_be_zero():
    """A network without slope is no sign of weights that are too small for numbers."""
    X, Y = np.array([[-3.0], [-2.0], [-1.0]]), np.array([[0.0, 0.0], [0.0, 0.0], [0.0, 1.0]])
    for weights in ([1, 3, 1], [3, 1, 1], [1, 1, 2]):
        model = GreedyNetRegressor(3).fit(X, Y, weights)
        np.testing.assert_allclose(model.predict(X), Y, atol=1e-5)
