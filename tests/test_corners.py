"""Tame corners: predictions in the box of the data stay within a margin of the outputs seen."""

from dataclasses import replace

import numpy as np
import pytest

import greedynet
from greedynet import GreedyNetClassifier, GreedyNetRegressor, ShallowNetwork
from greedynet.correction.corners import Box, Corners, TamingSettings, tamed
from greedynet.correction.corners.ascent import Ascent, apart, input_slopes
from greedynet.correction.corners.box import between_nearest
from greedynet.correction.corners.neurons import corner_neurons
from greedynet.correction.corners.taming import Held, Taming
from greedynet.estimators.margin import bounds_of_both, margin_of
from greedynet.estimators.settings import ESTIMATOR_SETTINGS, settings_context
from greedynet.exact import extremes
from greedynet.model.any_network import with_bounds
from greedynet.model.bounds import OutputBounds
from greedynet.model.deep_network import DeepNetwork
from greedynet.model.ramps import Ramps
from greedynet.rows.rows import Rows
from greedynet.support.context import FitContext
from greedynet.tables.readers.base import TableError

FAR, WEIGHT = 0.02, 0.01


def band(n_rows=150, seed=0):
    """Return rows near a diagonal, with empty corners, and outputs that grow along it."""
    rng = np.random.default_rng(seed)
    t = rng.uniform(-1, 1, n_rows)
    X = np.column_stack([t, t]) + 0.1 * rng.uniform(-1, 1, (n_rows, 2))
    return X, np.sin(3 * t) + 3 * (X[:, 0] - X[:, 1]) + 0.1 * rng.normal(size=n_rows)


def random_network(n_neurons, d, seed, outputs=1):
    rng = np.random.default_rng(seed)
    return ShallowNetwork(
        rng.normal(size=(n_neurons, d)),
        rng.normal(size=n_neurons),
        rng.normal(size=(n_neurons, outputs)),
        rng.normal(size=(d, outputs)),
        rng.normal(size=outputs),
        single_output=outputs == 1,
        input_range=np.array([-np.ones(d), np.ones(d)]),
    )


def deep_network(seed=0):
    ramps = Ramps(2, np.array([0, 0, 0, 0, 1, 1, 1]), np.array([-1, -0.3, 0.4, 1, -1, 0.1, 1]))
    over = replace(random_network(6, ramps.n_lifted, seed), input_range=None)
    return DeepNetwork(ramps, over)


def corners_of(network, low, high, **settings):
    box = Box(-np.ones(network.n_features), np.ones(network.n_features))
    return Corners(OutputBounds(low, high), box, replace(TamingSettings(), **settings))


def bits(network):
    return [
        network.inner_weights.tobytes(),
        network.biases.tobytes(),
        network.outer_weights.tobytes(),
    ]


# The search


@pytest.mark.parametrize("network", [random_network(7, 3, 1, outputs=2), deep_network()])
def test_slopes_are_those_of_small_differences(network):
    rng = np.random.default_rng(0)
    X, output = rng.uniform(-1, 1, (50, network.n_features)), network.n_outputs - 1
    found, step = input_slopes(network, X, output), 1e-7
    for j in range(network.n_features):
        moved = X + step * np.eye(network.n_features)[j]
        rise = (network.predict(moved) - network.predict(X)).reshape(50, -1)[:, output] / step
        assert np.allclose(found[:, j], rise, atol=1e-5)


@pytest.mark.parametrize("seed", range(6))
def test_search_finds_the_exact_extremes(seed):
    network = deep_network(seed) if seed % 2 else random_network(8, 3, seed)
    box = Box(-np.ones(network.n_features), np.ones(network.n_features))
    starts = box.drawn(200, np.random.default_rng(0))
    where = dict.fromkeys(range(network.n_features), (-1.0, 1.0))
    exact = extremes(network, where)
    for sign, end in ((1.0, exact.highest), (-1.0, exact.lowest)):
        places, values = Ascent(network, box, 0, sign).climbed(starts, 40)
        # A ridge of a piecewise linear function is climbed slowly.
        missed = sign * end.value - values.max()
        assert -1e-9 < missed < 5e-4 * (exact.highest.value - exact.lowest.value)
        assert ((places >= 0) & (places <= 1)).all()
        best = box.rows(places[[values.argmax()]])
        assert sign * network.predict(best)[0] == pytest.approx(values.max(), abs=1e-12)


def test_chosen_places_are_apart_and_the_highest():
    places = np.array([[0.0, 0.0], [0.01, 0.0], [1.0, 0.0], [0.0, 1.0]])
    assert apart(places, np.array([1.0, 3.0, 2.0, 0.5]), 0.05, 2).tolist() == [1, 2]
    assert apart(places, np.array([1.0, 3.0, 2.0, 0.5]), 0.05, 9).tolist() == [1, 2, 3]


def test_box_of_a_constant_column():
    box = Box(np.array([0.0, 2.0]), np.array([1.0, 2.0]))
    X = np.array([[0.25, 2.0], [3.0, 5.0]])
    assert box.places(X).tolist() == [[0.25, 0.0], [1.0, 1.0]]
    assert box.rows(box.places(X)).tolist() == [[0.25, 2.0], [1.0, 2.0]]


def test_rows_between_neighbours_stay_on_lines_and_in_the_box():
    rng = np.random.default_rng(0)
    line = np.column_stack([t := np.linspace(0, 1, 30), t])
    found = between_nearest(line, 3, 10, rng)
    assert found.shape == (90, 2)
    assert np.allclose(found[:, 0], found[:, 1])
    assert ((found >= 0) & (found <= 1)).all()
    nearest = np.abs(found[:, None] - np.tile(line, (3, 1))[None]).max(axis=2)
    assert (np.diag(nearest) < 11 / 29).all()  # at most as far as the tenth neighbour
    assert len(between_nearest(line[:1], 3, 10, rng)) == 0


def test_neurons_in_corners_are_not_activated_by_rows():
    X, _ = band()
    corners = np.array([[1.0, -1.0], [-1.0, 1.0], X[0]])
    points = corner_neurons(X, corners)
    assert points.shape == (2, 3)  # no neuron for a row
    assert np.allclose(np.linalg.norm(points[:, :-1], axis=1), 1)
    assert (X @ points[:, :-1].T + points[:, -1] <= 1e-12).all()
    assert (np.sum(corners[:2] * points[:, :-1], axis=1) + points[:, -1] > 0.5).all()


# Taming


def test_tame_network_is_returned_as_it_is():
    network = random_network(5, 2, 0)
    rows = Rows(np.random.default_rng(0).uniform(-1, 1, (40, 2)), np.zeros((40, 1)))
    found = tamed(network, rows, corners_of(network, -1e3, 1e3), lambda _: 9.0, FitContext())
    assert found.network is network
    assert (found.beyond, found.growth) == (0.0, 1.0)


def test_network_stays_where_every_change_costs_error():
    network = random_network(5, 2, 0)
    rows = Rows(np.random.default_rng(0).uniform(-1, 1, (40, 2)), np.zeros((40, 1)))
    corners = corners_of(network, -0.1, 0.1, n_rounds=2)
    found = tamed(network, rows, corners, lambda _: 1.02, FitContext(), 3)
    assert found.network is network
    assert found.beyond > 0
    allowed = tamed(network, rows, corners, lambda _: 1.0, FitContext(), 3)
    assert allowed.network.n_neurons == 8
    assert allowed.beyond < found.beyond


@pytest.mark.parametrize("layers", [1, 2])
def test_tamed_network_stays_in_its_margin_and_predicts_as_before(layers):
    X, y = band()
    before = GreedyNetRegressor(16, hidden_layers=layers, n_networks=1).fit(X, y).network_
    room = 0.3 * np.ptp(y)
    corners = Corners(
        OutputBounds(y.min() - room, y.max() + room), Box(*before.input_range), TamingSettings()
    )
    found = tamed(before, Rows(X, y[:, None]), corners, lambda _: 1.0, FitContext(), n_more=10)
    after = found.network
    assert type(after) is type(before)
    assert beyond(before, corners) > 0.2
    assert beyond(after, corners) < 0.01
    moved = np.sqrt(np.mean((after.predict(X) - before.predict(X)) ** 2))
    assert moved < 0.2 * np.sqrt(np.mean((before.predict(X) - y) ** 2))


def beyond(network, corners):
    """Return by how much of its width a network leaves its margin in the box, by exact answers."""
    found, (low, high) = extremes(network), corners.margin.pairs()[0]
    assert found.proven
    return max(low - found.lowest.value, found.highest.value - high, 0.0) / (high - low)


def test_far_rows_pull_as_if_they_were_nearer():
    corners = corners_of(random_network(2, 1, 0), -1.0, 1.0, inside=0.0)
    outputs = np.array([[0.0], [1.0], [1.04], [-1.08], [5.0]])
    found = corners.weights(outputs, 0.02)
    assert np.allclose(found, WEIGHT / np.array([1, 1, 1, 2, 100]))


def test_steps_never_raise_the_objective():
    """The penalty is majorised by least squares, which a step does not increase."""
    network = random_network(6, 2, 3)
    X = np.random.default_rng(1).uniform(-0.3, 0.3, (60, 2))
    corners = corners_of(network, -1.0, 1.0, ridge=0.0, steps_a_round=1, inside=0.0)
    held = Held.of(network, Rows(X, np.zeros((60, 1))), corners)
    wild, _ = corners.wild(network, corners.drawn(1))
    taming, calm, scale = Taming(held, FitContext()), held.places[:1], held.outputs.scale[0]

    def objective():
        change = (held.outputs_of(taming.network, held.places) - held.predictions)[:, 0]
        away = np.abs(held.outputs_of(taming.network, wild))[:, 0]
        away, far = np.maximum(away - 1.0, 0.0), FAR * 2.0
        huber = np.where(away < far, away**2, 2 * far * away - far**2)
        return (held.weights @ change**2 + WEIGHT * huber.sum()) / scale**2

    values = [objective()]
    for _ in range(8):
        taming.step(wild, calm, FAR)
        values.append(objective())
    assert len(wild)
    assert (np.diff(values) <= 1e-9 * values[0]).all()
    assert values[-1] < 0.2 * values[0]


# The parameter


@pytest.fixture(scope="module")
def fits():
    X, y = band()
    margins = {"none": None, "small": 0.2, "wide": 50.0}
    return (
        X,
        y,
        {k: GreedyNetRegressor(max_nodes=30, margin=m).fit(X, y) for k, m in margins.items()},
    )


def test_fit_with_a_margin_is_tame_in_the_box_and_bounded_everywhere(fits):
    _, y, models = fits
    model, room = models["small"], 0.2 * np.ptp(y)
    low, high = y.min() - room, y.max() + room
    free = with_bounds(model.network_, None)
    assert (
        np.ptp(with_bounds(models["none"].network_, None).predict([[1, -1], [-1, 1]])) > high - low
    )
    for network, more in ((free, 2e-3 * (high - low)), (model.network_, 0.0)):
        found = extremes(network)
        assert found.lowest.value >= low - more
        assert found.highest.value <= high + more
    far = np.random.default_rng(0).uniform(-99, 99, (500, 2))
    assert model.predict(far).min() >= low
    assert model.predict(far).max() <= high
    assert model.n_nodes_ == model.network_.n_nodes <= 30


def test_told_error_grows_by_at_most_one_percent(fits):
    _, _, models = fits
    ratio = models["small"].expected_error_ / models["none"].expected_error_
    assert 1.0 <= ratio <= 1.01 + 1e-9


def test_margin_that_holds_already_changes_no_bit(fits):
    X, _, models = fits
    assert bits(models["wide"].network_) == bits(models["none"].network_)
    assert (models["wide"].predict(X) == models["none"].predict(X)).all()


def test_where_it_costs_error_the_network_stays_and_only_its_bounds_hold():
    X, y = band(60)
    now, room = ESTIMATOR_SETTINGS.current, 0.1 * np.ptp(y)
    pair = (y.min() - room, y.max() + room)
    never = replace(now.fit.taming, most_error=1.0, n_rounds=1)
    with settings_context(replace(now, fit=replace(now.fit, taming=never))):
        model = GreedyNetRegressor(6, margin=0.1).fit(X, y)
    assert model.network_.bounds.pairs() == [pair]
    assert bits(model.network_) == bits(GreedyNetRegressor(6, bounds=pair).fit(X, y).network_)


def test_same_network_for_the_same_data_and_the_number_of_nodes_asked_for():
    X, y = band(40)
    first, second = (GreedyNetRegressor(5, margin=0.1, n_jobs=n).fit(X, y) for n in (1, 2))
    assert bits(first.network_) == bits(second.network_)
    assert first.n_nodes_ == 5


SLOW = pytest.mark.slow


@pytest.mark.parametrize(
    "kind",
    [
        "blocks",
        pytest.param("outputs", marks=SLOW),
        pytest.param("loss", marks=SLOW),
        pytest.param("smooth", marks=SLOW),
        pytest.param("no affine term", marks=SLOW),
    ],
)
def test_margin_holds_for_other_fits(kind):
    X, y = band(120)
    parameters = {
        "loss": {"loss": "absolute"},
        "smooth": {"activation": "tanh"},
        "no affine term": {"linear_term": False},
    }.get(kind, {})
    Y = np.column_stack([y, 100 * X[:, 0]]) if kind == "outputs" else y
    model = GreedyNetRegressor(max_nodes=8, margin=0.1, n_networks=1 if kind != "loss" else "auto")
    model.set_params(**parameters)
    if kind == "blocks":
        model.fit([(X[:60], y[:60]), (X[60:], y[60:])])
    else:
        model.fit(X, Y)
    far = np.random.default_rng(0).uniform(-9, 9, (300, 2))
    room = 0.1 * np.ptp(Y, axis=0)
    assert (model.predict(far) >= Y.min(axis=0) - room).all()
    assert (model.predict(far) <= Y.max(axis=0) + room).all()


def test_margin_is_that_of_rows_with_weight_and_within_bounds():
    rows = Rows(np.zeros((3, 1)), np.array([[0.0], [4.0], [99.0]]), np.array([1.0, 1.0, 0.0]))
    margin = margin_of(GreedyNetRegressor(margin=0.25), rows)
    assert margin.pairs() == [(-1.0, 5.0)]
    assert bounds_of_both(OutputBounds(0, None), margin).pairs() == [(0.0, 5.0)]
    assert bounds_of_both(None, margin) is margin
    assert bounds_of_both(margin, None) is margin
    assert margin_of(GreedyNetRegressor(), rows) is None


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"correct": False}, "write correct=True, or margin=None"),
        ({"search": "dictionary"}, 'write search="continuous", or margin=None'),
        ({"refine": "adam"}, "write refine=None, or margin=None"),
        ({"margin": -0.1}, "'margin' parameter"),
    ],
)
def test_what_does_not_go_together_is_refused(parameters, message):
    X, y = band(30)
    with pytest.raises(ValueError, match=message):
        GreedyNetRegressor(**{"margin": 0.1, **parameters}).fit(X, y)


def test_tables():
    X, y = band(40)
    table = {"a": X[:, 0], "b": X[:, 1], "y": y}
    model = greedynet.fit_table(table, "y", margin=0.1, n_nodes=4)
    room = 0.1 * np.ptp(y)
    assert model.predict({"a": [50.0], "b": [-50.0]})[0] in (y.min() - room, y.max() + room)
    with pytest.raises(TableError, match="`margin` applies to a target of numbers"):
        greedynet.fit_table({**table, "y": np.where(y > 0, "A", "B")}, "y", margin=0.1)
    assert "margin" not in GreedyNetClassifier().get_params()
