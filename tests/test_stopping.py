"""Every end has its reason; the width kept is the one with the best score."""

from functools import partial

import numpy as np
import pytest
from sklearn.model_selection import KFold

from greedynet import FewerNodesWarning, GreedyNetRegressor, StopReason
from greedynet.fitting.limits import Limits
from greedynet.fitting.scores import GCV, Validation, neuron_cost
from greedynet.linalg.factor import Factor
from problems import SEARCHES, noisy, planted, regressor, relative_error

dictionary = partial(regressor, "dictionary", n_points=400)


@pytest.fixture(params=SEARCHES)
def small(request):
    """Makes estimators with one of the searches."""
    return partial(regressor, request.param, n_points=400)


@pytest.fixture(params=SEARCHES)
def plain(request):
    """The same, without correction: the network is a part of its path."""
    return partial(regressor, request.param, n_points=400, correct=False)


def test_number_of_nodes(small):
    model = small(n_nodes=7).fit(*noisy())
    assert model.stop_reason_ is StopReason.N_NODES
    assert model.n_nodes_ == model.network_.n_nodes == 7


def test_tolerance_on_the_relative_residual(plain):
    X, y = noisy()
    model = plain(tol=0.3, validation_fraction=0).fit(X, y)
    assert model.stop_reason_ is StopReason.TOLERANCE
    errors = model.path_.training_errors
    assert errors[-1] <= 0.3 < errors[-2]
    centred = relative_error(model.predict(X) - y.mean(), y - y.mean())
    assert centred == pytest.approx(errors[-1], rel=1e-9)


def test_maximum(small):
    model = small(max_nodes=9, validation_fraction=0).fit(*noisy())
    assert model.stop_reason_ is StopReason.MAX_NODES
    assert model.n_nodes_ == 9


def test_exact():
    X, y, points, chosen = planted()
    model = dictionary(points=points, linear_term=False, validation_fraction=0, tol=0).fit(X, y)
    assert model.stop_reason_ is StopReason.EXACT
    assert set(chosen) <= set(model.path_.indices)
    new = np.random.RandomState(5).uniform(-1, 1, (50, 3))
    hidden = np.maximum(new @ points[chosen, :-1].T + points[chosen, -1], 0)
    training = np.maximum(X @ points[chosen, :-1].T + points[chosen, -1], 0)
    weights = np.linalg.lstsq(training, y, rcond=None)[0]
    np.testing.assert_allclose(model.predict(new), hidden @ weights, atol=1e-8)


@pytest.mark.parametrize("asked", [{"max_nodes": 12}, {"n_nodes": 12}])
@pytest.mark.parametrize("scored", [True, False])
def test_a_growth_that_becomes_exact_beyond_the_limit_is_cut_to_it(asked, scored):
    """Eleven kinks interpolate 13 rows; 20 % more than ten neurons are grown."""
    X, y = np.linspace(0, 1, 13)[:, None] ** 1.5, np.random.default_rng(0).normal(size=13)
    model = GreedyNetRegressor(**asked, validation_fraction=None if scored else 0).fit(X, y)
    assert model.n_nodes_ <= 12
    assert model.path_.n_nodes[-1] <= 12
    if "n_nodes" in asked or not scored:
        # Corrected, as no score decides.
        assert model.n_nodes_ == model.path_.n_nodes[-1] == 12
        np.testing.assert_allclose(model.predict(X), y, atol=1e-2)
    assert model.stop_reason_ in (StopReason.MAX_NODES, StopReason.N_NODES, StopReason.MEAN)


def test_exhausted():
    X, y = noisy(n_rows=100)
    with pytest.warns(FewerNodesWarning, match="has 3 nodes, not the 10 requested by `n_nodes`"):
        model = dictionary(n_nodes=10, points=np.eye(3), linear_term=False).fit(X, y)
    assert model.stop_reason_ is StopReason.EXHAUSTED


def test_validation_set_decides_the_width(plain):
    X, y = noisy(noise=0.5)
    X_val, y_val = noisy(seed=1, noise=0.5)
    model = plain(patience=5).fit(X, y, X_val=X_val, y_val=y_val)
    path = model.path_
    assert model.stop_reason_ is StopReason.VALIDATED
    best = int(np.argmin(path.validation_errors))
    assert len(path) == best + 5
    assert model.n_nodes_ == path.n_nodes[best]
    for i in (0, best, len(path)):
        network = path.network.truncate(int(path.n_nodes[i]))
        centred = relative_error(network.predict(X_val) - y.mean(), y_val - y.mean())
        assert centred == pytest.approx(path.validation_errors[i], rel=1e-9)


def test_validation_set_decides_what_is_finished():
    X, y = noisy(noise=0.5)
    X_val, y_val = noisy(seed=1, noise=0.5)
    model = GreedyNetRegressor().fit(X, y, X_val=X_val, y_val=y_val)
    path = model.path_
    assert model.stop_reason_ is StopReason.VALIDATED
    assert model.network_ is path.finished is path.kept
    assert model.n_nodes_ == path.best_n_nodes == path.finished.n_nodes
    found = relative_error(model.predict(X_val) - y.mean(), y_val - y.mean())
    assert found == pytest.approx(path.finished_score, rel=1e-9)
    found = relative_error(model.predict(X) - y.mean(), y - y.mean())
    assert found == pytest.approx(path.finished_error, rel=1e-9)
    assert path.kept_error == path.finished_error
    for i, n_nodes in enumerate(path.n_nodes):
        network = path.network.truncate(int(n_nodes))
        centred = relative_error(network.predict(X_val) - y.mean(), y_val - y.mean())
        # Rows are rounded to nine digits before a network is grown.
        assert centred == pytest.approx(path.validation_errors[i], rel=1e-8)


def test_validation_weights(small):
    X, y = noisy(noise=0.5)
    X_val, y_val = noisy(n_rows=40, seed=1, noise=0.5)
    weights = np.random.RandomState(0).randint(0, 4, 40)
    weighted = small().fit(X, y, X_val=X_val, y_val=y_val, sample_weight_val=weights)
    repeat = np.repeat(np.arange(40), weights)
    repeated = small().fit(X, y, X_val=X_val[repeat], y_val=y_val[repeat])
    np.testing.assert_array_equal(
        weighted.path_.validation_errors, repeated.path_.validation_errors
    )
    np.testing.assert_array_equal(weighted.predict(X), repeated.predict(X))


def test_held_out_rows_are_not_trained_on(small):
    X, y = noisy(n_rows=200)
    model = small(validation_fraction=0.25).fit(X, y)
    assert model.path_.validation_errors is not None
    assert model.path_.network.path_factor.R.shape[0] == len(model.path_) + 3
    far = small(validation_fraction=0.25, random_state=1).fit(X, y)
    assert not np.array_equal(far.path_.training_errors[:3], model.path_.training_errors[:3])


def test_folds(plain):
    X, y = noisy(noise=0.5)
    model = plain(cv=4).fit(X, y)
    path = model.path_
    assert model.n_nodes_ == path.n_nodes[np.argmin(path.validation_errors)]
    assert model.stop_reason_ is path.stop_reason is StopReason.VALIDATED
    splitter = plain(cv=KFold(4, shuffle=True, random_state=0)).fit(X, y)
    given = plain(cv=list(KFold(4, shuffle=True, random_state=0).split(X))).fit(X, y)
    np.testing.assert_array_equal(splitter.predict(X), given.predict(X))
    # The mean over folds, by hand.
    curves = []
    for train, test in KFold(4, shuffle=True, random_state=0).split(X):
        fold = plain().fit(X[train], y[train], X_val=X[test], y_val=y[test])
        curves.append(fold.path_.validation_errors)
    longest = max(map(len, curves))
    padded = [np.pad(curve, (0, longest - len(curve)), mode="edge") for curve in curves]
    mean = np.mean(padded, axis=0)
    reached = len(splitter.path_) + 1
    np.testing.assert_allclose(splitter.path_.validation_errors, mean[:reached], rtol=1e-12)


@pytest.mark.parametrize("loss", ["squared", "absolute"])
@pytest.mark.parametrize("correct", [True, False])
def test_a_width_that_folds_have_chosen_was_not_asked_for(loss, correct):
    X, y = noisy(noise=0.5)
    model = GreedyNetRegressor(cv=3, loss=loss, correct=correct, patience=4).fit(X, y)
    assert 2 < model.n_nodes_ < 40
    assert model.stop_reason_ is model.path_.stop_reason is StopReason.VALIDATED
    assert "the width with the best score was kept" in str(model.stop_reason_)
    asked = GreedyNetRegressor(model.n_nodes_, cv=3, loss=loss, correct=correct).fit(X, y)
    assert asked.stop_reason_ is StopReason.N_NODES


@pytest.mark.parametrize("correct", [True, False])
def test_folds_that_choose_the_largest_width_say_so(correct):
    X, y = noisy(noise=0.01)
    model = GreedyNetRegressor(cv=3, max_nodes=5, correct=correct).fit(X, y)
    assert model.n_nodes_ == 5
    assert model.stop_reason_ is StopReason.MAX_NODES


def test_gcv_by_its_formula(plain):
    X, y = noisy()
    model = plain(linear_term=True).fit(X, y)
    path, n = model.path_, len(X)
    assert path.validation_errors is None
    spent = 3 + neuron_cost(2) * np.arange(len(path) + 1)
    wanted = path.training_errors**2 / (1 - spent / n) ** 2
    np.testing.assert_allclose(path.scores / path.scores[0], wanted / wanted[0], rtol=1e-9)
    assert model.n_nodes_ == path.n_nodes[np.argmin(path.scores)]


def test_gcv_is_infinite_where_nothing_is_left():
    factor = Factor(np.ones((4, 1)))
    judge = GCV(4, 0, 2.0)
    factor.append(np.eye(4)[0])
    assert np.isfinite(judge.score(factor, np.eye(4)[0], np.ones((1, 1)), 1.0))
    factor.append(np.eye(4)[1])
    assert np.isinf(judge.score(factor, np.eye(4)[1], np.ones((2, 1)), 1.0))


def test_noise_is_not_fitted(small):
    """As a rule: some noise looks like a function."""
    widths = []
    for seed in range(5):
        rng = np.random.RandomState(seed)
        X = rng.uniform(-1, 1, (300, 3))
        widths.append(small().fit(X, rng.randn(300)).n_nodes_)
    assert np.median(widths) <= 4


def test_large_data_hold_out_a_share(small):
    X, y = noisy(n_rows=10_001, n_features=1)
    model = small(max_nodes=8).fit(X, y)
    assert model.path_.validation_errors is not None
    assert small(max_nodes=8).fit(X[:10_000], y[:10_000]).path_.validation_errors is None


def test_limits_in_their_order():
    assert Limits(5, tol=0.1).reached([0.05], []) is StopReason.TOLERANCE
    assert Limits(1).reached([1.0, 0.5], []) is StopReason.MAX_NODES
    assert Limits(1, exact=True).reached([1.0, 0.5], []) is StopReason.N_NODES
    assert Limits(9, patience=2).reached([1.0] * 4, [3, 1, 2, 2]) is StopReason.VALIDATED
    assert Limits(9, patience=3).reached([1.0] * 4, [3, 1, 2, 2]) is None


def test_reasons_say_what_to_try():
    for reason in StopReason:
        assert str(reason) == reason.value
        assert str(reason).endswith(".")


def test_validation_grows_its_room():
    judge = Validation(np.empty((3, 0)), np.ones((3, 1)))
    factor = Factor(np.ones((200, 1)))
    for k in range(100):
        factor.append(np.eye(200)[k])
        column = np.full(3, 0.01)
        found = judge.score(factor, column, np.ones((k + 1, 1)), 0.0)
        assert found == pytest.approx(abs(1 - 0.01 * (k + 1)), abs=1e-12)
