"""Decisions: the mean, a line or a network, and the error to expect of it."""

import sys
from pathlib import Path

import numpy as np
import pytest
from sklearn.linear_model import RidgeCV

import greedynet
from greedynet import GreedyNetRegressor, ShallowNetwork
from greedynet.fitting.candidates import Table, lies_far
from greedynet.fitting.settings import LadderSettings
from greedynet.fitting.staged import stage_widths
from greedynet.losses import get_loss
from greedynet.losses.mean_size import mean_size
from greedynet.model.ladder import AVERAGES, NETWORK
from greedynet.model.levelled import levelled
from greedynet.model.stop_reason import StopReason
from greedynet.rows.affine import AffineTerm
from greedynet.rows.ridge_line import RIDGES, RidgeLine
from greedynet.rows.rows import Rows

sys.path.insert(0, str(Path(__file__).parents[1] / "benchmarks"))


def standardised(n, d, seed):
    X = np.random.default_rng(seed).normal(size=(n, d))
    return (X - X.mean(axis=0)) / X.std(axis=0)


def rmse(a, b):
    return float(np.sqrt(np.mean((a - b) ** 2)))


# The line


@pytest.mark.parametrize(("n", "d"), [(30, 5), (30, 40), (40, 39), (12, 1)])
def test_the_line_is_that_of_ridge_cv(n, d):
    X = standardised(n, d, 0)
    y = X[:, 0] + 0.5 * np.random.default_rng(1).normal(size=n)
    line = RidgeLine.of(Rows(X, y[:, None]))
    other = RidgeCV(RIDGES[1:] * n).fit(X, y)
    np.testing.assert_allclose(line.linear[:, 0], other.coef_, atol=1e-8)
    np.testing.assert_allclose(line.predict(X)[:, 0], other.predict(X), atol=1e-8)


def test_a_line_without_noise_has_no_ridge():
    X = standardised(50, 4, 0)
    line = RidgeLine.of(Rows(X, (X @ [3.0, 0.0, -1.0, 2.0] + 5.0)[:, None]))
    np.testing.assert_allclose(line.linear[:, 0], [3.0, 0.0, -1.0, 2.0], atol=1e-12)
    assert line.parameters == pytest.approx([5.0])


def test_a_weight_of_the_line_is_a_copy():
    X, weights = standardised(20, 3, 2), np.arange(20) % 3 + 1.0
    y = X[:, :1] ** 2
    repeat = np.repeat(np.arange(20), weights.astype(int))
    for ridge in (1e-3, 1.0):
        lines = []
        for rows in (Rows(X, y, weights), Rows(X[repeat], y[repeat])):
            root = np.sqrt(np.ones(len(rows)) if rows.weights is None else rows.weights)[:, None]
            center = np.average(rows.X, axis=0, weights=rows.weights)
            A = (rows.X - center) * root
            lines.append(np.linalg.solve(A.T @ A + ridge * np.eye(3), A.T @ (rows.Y * root)))
        np.testing.assert_allclose(*lines)


def test_the_shrunk_affine_term_spans_the_constant_and_the_line():
    X = standardised(15, 20, 3)
    rows = Rows(X, X[:, :1] + 0.1 * np.random.default_rng(4).normal(size=(15, 1)))
    line = RidgeLine.of(rows)
    term = AffineTerm.shrunk(rows, line)
    np.testing.assert_allclose(term.columns.T @ term.columns, np.eye(2), atol=1e-12)
    np.testing.assert_allclose(term.evaluate(X), term.columns, atol=1e-12)
    for wanted in (np.ones((15, 1)), line.predict(X)):
        np.testing.assert_allclose(term.columns @ (term.columns.T @ wanted), wanted, atol=1e-10)


# Averages


@pytest.mark.all_folds
def test_an_average_is_one_network_within_the_limit(tmp_path):
    rng = np.random.default_rng(0)
    X = rng.uniform(-1, 1, (260, 4))
    y = np.sin(4 * X[:, 0] * X[:, 1]) + np.abs(X[:, 2] - X[:, 3]) + 0.2 * rng.normal(size=260)
    model = GreedyNetRegressor(max_nodes=40).fit(X, y)
    ladder = model.ladder_
    assert ladder.kind in AVERAGES.values()
    assert model.n_nodes_ == ladder.width + 2 <= 40
    single = ladder.errors[ladder.kinds == NETWORK]
    assert ladder.expected_error**2 < 0.98 * single.min() ** 2
    # The neurons come from two pools of directions, each network with half of the outer weights.
    neurons = np.column_stack([model.network_.inner_weights, model.network_.biases])
    assert len(np.unique(neurons.round(9), axis=0)) == len(neurons)
    # Two growths note what they find in one checkpoint.
    noted = GreedyNetRegressor(max_nodes=40, checkpoint=tmp_path / "c").fit(X, y)
    np.testing.assert_array_equal(noted.network_.inner_weights, model.network_.inner_weights)


def test_a_single_network_wins_against_an_average_that_is_hardly_better():
    Y = np.random.default_rng(0).normal(size=(100, 1))
    for factor, wanted in ((0.995, 0), (0.9, 1)):
        found = Table(Y, np.ones(100), 100)
        found.keys = [(NETWORK, 4), (AVERAGES[2], 6)]
        found.predictions = [0.5 * Y, (1 - 0.5 * factor) * Y]
        assert found.best(LadderSettings()) == wanted


# Levelled networks


def test_a_levelled_network_is_the_same_on_the_rows_and_constant_beyond():
    rng = np.random.default_rng(0)
    network = ShallowNetwork(
        rng.normal(size=(5, 2)),
        rng.normal(size=5),
        rng.normal(size=(5, 1)),
        rng.normal(size=(2, 1)),
        np.array([0.3]),
    )
    X = rng.normal(size=(40, 2))
    level = levelled(network, X)
    np.testing.assert_allclose(level.predict(X), network.predict(X), atol=1e-12)
    far = np.array([[1e3, 2e3], [1e6, 2e6]])
    assert np.ptp(level.predict(far)) < 1e-6 < np.ptp(network.predict(far))
    assert level.n_nodes <= 2 * network.n_neurons + 4


def test_what_lies_far():
    rng = np.random.default_rng(0)
    assert not lies_far(rng.normal(size=(500, 3)), 12.0)
    assert not lies_far(rng.uniform(size=(500, 1)), 12.0)
    assert lies_far(rng.standard_t(1.5, (500, 3)), 12.0)
    # Also where most values agree.
    assert not lies_far((np.arange(500) % 20 == 0)[:, None].astype(float), 12.0)


def test_limits_hold_for_levelled_networks():
    rng = np.random.default_rng(0)
    X = rng.standard_t(1.5, (150, 1))
    y = np.abs(np.clip(X[:, 0], -2, 2)) + 0.1 * rng.normal(size=150)
    for most in (3, 5, 8, 12):
        assert GreedyNetRegressor(max_nodes=most).fit(X, y).n_nodes_ <= most


# The table


def table(*errors, tol=0.0):
    """A table of the mean and networks with given errors on 100 rows."""
    Y = np.zeros((100, 1))
    Y[::2] = 1.0
    found = Table(Y, np.ones(100), 100, tol)
    noise = np.random.default_rng(0).choice([-1.0, 1.0], (100, 1))
    for width, error in enumerate(errors):
        found.add([{("network" if width else "mean", width): Y + error * noise}])
    return found


def test_the_smallest_error_wins_and_ties_go_to_the_smaller():
    settings = LadderSettings()
    assert table(0.5, 0.4, 0.3, 0.35).best(settings) == 2
    assert table(0.5, 0.4, 0.3, 0.2999).best(settings) == 2
    assert table(0.5, 0.5, 0.6).best(settings) == 0


def test_errors_below_the_tolerance_are_the_same():
    settings = LadderSettings()
    assert table(0.5, 1e-3, 1e-6).best(settings) == 2
    assert table(0.5, 1e-3, 1e-6, tol=0.01).best(settings) == 1


def test_no_error_is_zero():
    found = table(0.5, 0.0)
    assert found.errors[1] > 0
    assert found.errors[0] == pytest.approx(0.5)


def test_networks_with_more_parameters_than_rows_stop_at_once():
    settings = LadderSettings(patience=3, min_width=1)
    assert not table(0.5, 0.3, 0.31).stops(settings, 5.0)
    assert table(0.5, 0.3, 0.31).stops(settings, 1.0)
    assert table(0.5, 0.3, 0.31, 0.31, 0.31).stops(settings, 9.0)


def test_widths_of_the_stages():
    assert stage_widths(30, 1.5) == [1, 2, 3, 4, 6, 9, 14, 21, 30]
    assert stage_widths(0, 1.5) == []


# What is chosen


@pytest.mark.all_folds
@pytest.mark.parametrize(("n", "d"), [(200, 20), (100, 30), (60, 60), (40, 3)])
def test_noise_is_not_interpolated(n, d):
    rng = np.random.default_rng(n)
    X, y, new = rng.normal(size=(n, d)), rng.normal(size=n), rng.normal(size=(2000, d))
    model = GreedyNetRegressor().fit(X, y)
    error = rmse(model.predict(new), rng.normal(size=2000))
    assert error < 1.1
    assert 0.7 < error / model.expected_error_ < 1.5


@pytest.mark.all_folds
def test_as_many_columns_as_rows():
    """Least squares would reproduce the rows, and miss new ones by several times the mean."""
    rng = np.random.default_rng(0)
    X, new = rng.normal(size=(30, 30)), rng.normal(size=(1000, 30))
    y = X[:, 0] + 0.3 * rng.normal(size=30)
    model = GreedyNetRegressor().fit(X, y)
    assert rmse(model.predict(new), new[:, 0]) < 1.05 * rmse(y.mean(), new[:, 0])


@pytest.mark.all_folds
def test_each_rung_where_it_is_right():
    chosen = []
    for seed in range(5):
        rng = np.random.default_rng(seed)
        X, e = rng.normal(size=(300, 3)), rng.normal(size=300)
        targets = (e, X @ [1.0, 2.0, 0.0] + 0.3 * e, np.abs(X[:, 0]) + 0.2 * e)
        models = [GreedyNetRegressor(max_nodes=20).fit(X, y) for y in targets]
        chosen.append([model.stop_reason_ for model in models])
        new = rng.normal(size=(1000, 3))
        assert rmse(models[1].predict(new), new @ [1.0, 2.0, 0.0]) < 0.1
    means, lines, networks = zip(*chosen, strict=True)
    assert means.count(StopReason.MEAN) >= 4
    assert lines.count(StopReason.LINE) >= 2
    assert networks.count(StopReason.VALIDATED) == 5


@pytest.mark.all_folds
def test_few_distinct_rows_are_learned():
    rng = np.random.default_rng(0)
    x = rng.choice(np.linspace(-1, 1, 7), 500)[:, None]
    model = GreedyNetRegressor().fit(x, np.sin(12 * x[:, 0]))
    assert rmse(model.predict(x), np.sin(12 * x[:, 0])) < 1e-6


@pytest.mark.parametrize(
    "how",
    [
        {},
        {"n_nodes": 8},
        {"cv": 3},
        {"validation_fraction": 0.3},
        {"validation_fraction": 0, "max_nodes": 8},
        {"correct": False},
        {"search": "dictionary", "n_points": 300},
        {"linear_term": False},
        {"activation": "tanh", "max_nodes": 6},
    ],
    ids=str,
)
def test_every_way_of_choosing_tells_its_error(how, tmp_path):
    rng = np.random.default_rng(1)

    def drawn(n):
        X = rng.uniform(-1, 1, (n, 2))
        return X, np.abs(X[:, 0]) + X[:, 1] + 0.2 * rng.normal(size=n)

    (X, y), (new, y_new) = drawn(250), drawn(2000)
    model = GreedyNetRegressor(**how).fit(X, y)
    assert 0.7 < rmse(model.predict(new), y_new) / model.expected_error_ < 1.5
    model.save(tmp_path / "model.safetensors")
    loaded = greedynet.load(tmp_path / "model.safetensors")
    assert loaded.expected_error_ == model.expected_error_
    assert str(loaded.ladder_) == str(model.ladder_)


@pytest.mark.parametrize(("loss", "best"), [("absolute", 0.16), ("quantile", 0.056)])
def test_other_losses_tell_their_own(loss, best):
    rng = np.random.default_rng(1)
    X = rng.uniform(-1, 1, (200, 1))
    y = np.abs(X[:, 0]) + 0.2 * rng.normal(size=200)
    quantile = 0.8 if loss == "quantile" else None
    model = GreedyNetRegressor(loss=loss, quantile=quantile, max_nodes=6).fit(X, y)
    assert 0.7 * best < model.expected_error_ < 1.6 * best


@pytest.mark.parametrize("loss", ["absolute", "huber"])
def test_other_losses_do_not_fit_noise(loss):
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(80, 10)), rng.standard_t(2, 80)
    model = GreedyNetRegressor(loss=loss, max_nodes=12).fit(X, y)
    new = rng.normal(size=(500, 10))
    y_new = rng.standard_t(2, 500)
    error = np.mean(np.abs(model.predict(new) - y_new))
    assert error < 1.1 * np.mean(np.abs(np.median(y) - y_new))


def test_mean_sizes():
    r = np.array([[3.0], [-4.0]])
    assert mean_size(get_loss("squared"), r, None) == pytest.approx(np.sqrt(12.5))
    assert mean_size(get_loss("absolute"), r, None) == pytest.approx(3.5)
    assert mean_size(get_loss("chebyshev"), r, None) == pytest.approx(4.0)
    assert mean_size(get_loss("quantile", 0.9), r, None) == pytest.approx((2.7 + 0.4) / 2)
    assert mean_size(get_loss("absolute"), r, np.array([3.0, 1.0])) == pytest.approx(13 / 4)


# The campaign


@pytest.mark.slow
@pytest.mark.all_folds
def test_random_problems():
    """A part of `benchmarks/judgement.py`, of small problems."""
    from randomproblems import draw

    seeds = [seed for seed in range(1, 400, 2) if np.prod(draw(seed).shape) < 4_000][:60]
    ratios, told = [], []
    for seed in seeds:
        problem = draw(seed)
        model = GreedyNetRegressor(n_jobs=1).fit(problem.X, problem.y)
        error = rmse(model.predict(problem.X_new), problem.y_new)
        ratios.append(error / rmse(problem.y.mean(), problem.y_new))
        told.append(error / model.expected_error_)
    assert np.mean(np.array(ratios) > 1.1) <= 0.04
    assert 0.9 < np.median(told) < 1.15
    assert np.mean(np.array(told) > 3) <= 0.05
