"""`select`: which width is kept; and every end has its reason."""

from functools import partial

import numpy as np
import pytest
from sklearn.model_selection import ShuffleSplit

from greedynet import FewerNodesWarning, GreedyNetClassifier, GreedyNetRegressor, StopReason
from problems import SEARCHES, noisy, planted, regressor, relative_error

dictionary = partial(regressor, "dictionary", n_points=400)


@pytest.fixture(params=SEARCHES)
def small(request):
    """Makes estimators with one of the searches."""
    return partial(regressor, request.param, n_points=400)


@pytest.fixture(params=[True, False], ids=["corrected", "as grown"])
def either(request):
    """Makes estimators that correct their networks, or do not."""
    return partial(GreedyNetRegressor, correct=request.param)


@pytest.mark.parametrize(
    ("make", "correct"),
    [(GreedyNetRegressor, True), (GreedyNetRegressor, False), (GreedyNetClassifier, True)],
)
def test_simpler_choices_have_fewer_nodes(make, correct):
    X, y = noisy(200, noise=0.3)
    y = y if make is GreedyNetRegressor else y > 0
    selects = ("last", "best", 0.05, 0.3, 3.0)
    fits = {s: make(max_nodes=12, correct=correct, select=s).fit(X, y) for s in (*selects, "1se")}
    n_nodes = [fits[select].n_nodes_ for select in selects]
    assert n_nodes == sorted(n_nodes, reverse=True)
    assert n_nodes[0] == 12 > n_nodes[-1]
    assert fits["1se"].n_nodes_ <= fits["best"].n_nodes_
    # The same candidates were tried, and the error told is that of the one kept.
    errors = fits["best"].ladder_.errors
    best = errors.min()
    for share in (0.05, 0.3):
        assert fits[share].expected_error_ <= (1 + share) * best * (1 + 1e-9)
    assert fits[0.3].n_nodes_ < fits["best"].n_nodes_


@pytest.mark.parametrize("make", [GreedyNetRegressor, GreedyNetClassifier])
def test_folds_and_validation_rows_are_refused_together(make):
    X, y = noisy(40)
    message = "`cv` must be None where validation rows are given, got cv=3"
    with pytest.raises(ValueError, match=message):
        make(cv=3).fit(X, (y > 0).astype(int), X_val=[[0.0, 0.0]], y_val=[0])


# Reasons


def test_tolerance_on_the_relative_residual(either):
    X, y = noisy(noise=0.05)
    model = either(tol=0.3, select="last").fit(X, y)
    assert model.stop_reason_ is StopReason.TOLERANCE
    errors = model.path_.training_errors
    assert errors[-1] <= 0.3 < errors[-2]
    centred = relative_error(model.predict(X) - y.mean(), y - y.mean())
    assert centred == pytest.approx(errors[-1], rel=1e-6)


@pytest.mark.parametrize("tol", [0.5, 0.2, 0.05, 1e-3])
def test_a_tolerance_is_reached_or_the_reason_says_why_not(either, tol):
    X, y = noisy(n_rows=60, noise=0.2)
    model = either(tol=tol, max_nodes=20, select="last").fit(X, y)
    if model.path_.kept_error <= tol:
        assert model.stop_reason_ is StopReason.TOLERANCE
    elif model.n_nodes_ < 20:
        # What the first fold has shown it is told of all rows.
        assert model.stop_reason_ is StopReason.NEARLY
        assert model.path_.kept_error < 1.3 * tol
    else:
        assert model.stop_reason_ is StopReason.MAX_NODES
    assert "did not predict held-out rows better" not in str(model.stop_reason_)


def test_maximum(small):
    model = small(max_nodes=9, select="last").fit(*noisy())
    assert model.stop_reason_ is StopReason.MAX_NODES
    assert model.n_nodes_ == 9


def test_exact():
    X, y, points, chosen = planted()
    model = dictionary(points=points, select="last", tol=0).fit(X, y)
    assert model.stop_reason_ is StopReason.EXACT
    assert set(chosen) <= set(model.path_.indices)
    new = np.random.RandomState(5).uniform(X.min(axis=0), X.max(axis=0), (50, 3))
    hidden = np.maximum(new @ points[chosen, :-1].T + points[chosen, -1], 0)
    training = np.maximum(X @ points[chosen, :-1].T + points[chosen, -1], 0)
    weights = np.linalg.lstsq(training, y, rcond=None)[0]
    np.testing.assert_allclose(model.predict(new), hidden @ weights, atol=1e-8)


@pytest.mark.parametrize("asked", [{"max_nodes": 12}, {"n_nodes": 12}, {"select": "last"}])
def test_a_growth_that_becomes_exact_beyond_the_limit_is_cut_to_it(asked):
    """Eleven kinks interpolate 13 rows; 20 % more than ten neurons are grown."""
    X, y = np.linspace(0, 1, 13)[:, None] ** 1.5, np.random.default_rng(0).normal(size=13)
    limit = {} if "n_nodes" in asked else {"max_nodes": 12}
    model = GreedyNetRegressor(**limit | asked).fit(X, y)
    assert model.n_nodes_ <= 12
    assert model.path_.n_nodes[-1] <= 12
    if asked != {"max_nodes": 12}:
        assert model.n_nodes_ == model.path_.n_nodes[-1] == 12
    assert model.stop_reason_ in (StopReason.MAX_NODES, StopReason.N_NODES, StopReason.MEAN)


def test_exhausted():
    X, y = noisy(n_rows=100)
    with pytest.warns(FewerNodesWarning, match=r"has \d nodes, not the 10 requested by `n_nodes`"):
        model = dictionary(n_nodes=10, points=np.eye(3)).fit(X, y)
    assert model.stop_reason_ is StopReason.EXHAUSTED


def test_the_best_width_was_not_asked_for(either):
    X, y = noisy(noise=0.5)
    model = either(cv=3).fit(X, y)
    assert 2 < model.n_nodes_ < 40
    assert model.stop_reason_ is model.path_.stop_reason is StopReason.VALIDATED
    assert "More nodes did not predict held-out rows better" in str(model.stop_reason_)
    asked = either(n_nodes=model.n_nodes_, cv=3).fit(X, y)
    assert asked.stop_reason_ is StopReason.N_NODES


def test_folds_that_choose_the_largest_width_say_so(either):
    model = either(cv=3, max_nodes=5).fit(*noisy(noise=0.01))
    assert model.n_nodes_ == 5
    assert model.stop_reason_ is StopReason.MAX_NODES


# By which rows


def test_validation_weights(small):
    X, y = noisy(noise=0.5)
    X_val, y_val = noisy(n_rows=40, seed=1, noise=0.5)
    weights = np.random.RandomState(0).randint(0, 4, 40)
    fit = small(max_nodes=12).fit
    weighted = fit(X, y, X_val=X_val, y_val=y_val, sample_weight_val=weights)
    errors, predictions = weighted.path_.held_out_errors, weighted.predict(X)
    repeat = np.repeat(np.arange(40), weights)
    repeated = fit(X, y, X_val=X_val[repeat], y_val=y_val[repeat])
    np.testing.assert_allclose(errors, repeated.path_.held_out_errors, rtol=1e-9)
    np.testing.assert_array_equal(predictions, repeated.predict(X))


def test_held_out_rows_are_not_trained_on(either):
    """Other outputs of the held-out rows change no network, only what is said of it."""
    X, y = noisy(n_rows=200)
    train, held = next(ShuffleSplit(1, test_size=0.25, random_state=0).split(X))
    other = y.copy()
    other[held] += 5.0
    one, two = (
        either(n_nodes=8).fit(X[train], y[train], X_val=X[held], y_val=of_held)
        for of_held in (y[held], other[held])
    )
    np.testing.assert_array_equal(one.predict(X), two.predict(X))
    assert two.expected_error_ > 3 * one.expected_error_
