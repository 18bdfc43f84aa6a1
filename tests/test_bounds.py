"""Bounds on the outputs: no prediction leaves them, anywhere, and no error is told without them."""

import json
from dataclasses import replace
from functools import cache

import numpy as np
import pytest
from sklearn.base import clone

import greedynet
import scopes
from corners import corners
from extras import need
from greedynet import (
    GreedyNetRegressor,
    ModelFileError,
    Network,
    OutputBounds,
)
from greedynet.exact import extremes, is_monotone, largest_difference, sensitivity
from greedynet.losses import Quantile
from greedynet.search import Dictionary
from networks import assert_same, random_deep_network, random_network, write_state
from program import output_of
from test_exact import box_of, drawn_network
from test_export_c import compiled, run

RNG = np.random.default_rng(0)
X = RNG.uniform(-1, 1, (300, 2))
Y = np.maximum(0, X[:, 0] + X[:, 1] + 0.3 * RNG.normal(size=300))
Z = X[:, 0] * X[:, 1] + 0.3 * RNG.normal(size=300) > 0
# Far from all rows, where every network is beyond the bounds of the fits below.
FAR = 30 * RNG.normal(size=(400, 2))
LOW, HIGH = 0.0, 2.0


@cache
def fitted(**parameters) -> GreedyNetRegressor:
    return GreedyNetRegressor(
        **{"bounds": (LOW, HIGH), "n_nodes": 8, "extrapolate": True, **parameters}
    ).fit(X, Y)


def assert_fills(values, low=LOW, high=HIGH) -> None:
    """Demand that both bounds are reached, and none is left."""
    assert np.min(values) == low
    assert np.max(values) == high


# Networks


@pytest.mark.parametrize("make", [random_network, random_deep_network])
def test_outputs_of_a_network_are_clipped_at_the_very_end(make):
    network = make(8, n_outputs=2)
    rows = 5 * np.random.default_rng(1).normal(size=(200, network.n_features))
    y = network.predict(rows)
    low, high = np.quantile(y, [0.2, 0.7], axis=0)
    bounded = replace(network, bounds=OutputBounds(low, [None, high[1]]))
    wanted = np.column_stack([np.maximum(y[:, 0], low[0]), np.clip(y[:, 1], low[1], high[1])])
    np.testing.assert_array_equal(bounded.predict(rows), wanted)
    assert (wanted != y).any(axis=0).all()
    assert bounded.describe().splitlines()[1].startswith("  outputs at least")
    assert replace(bounded, bounds=None).predict(rows).tolist() == y.tolist()


@pytest.mark.parametrize(
    ("low", "high", "message"),
    [
        ([1.0], [0.0], "low <= high"),
        ([np.nan], [1.0], "must be a number"),
        ([0.0, 0.0], [1.0, 1.0], "one for each of the 1"),
        ([0.0, 0.0, 0.0], [1.0, 1.0], "as many lower as upper"),
        ([np.inf], [np.inf], "room for finite values"),
    ],
)
def test_forged_bounds_are_refused(low, high, message, tmp_path):
    state = replace(random_network(3), bounds=OutputBounds(0, 1)).state()
    state["bounds"] = {"low": np.array(low), "high": np.array(high)}
    write_state(tmp_path / "forged.safetensors", state)
    with pytest.raises(ModelFileError, match=message):
        greedynet.load(tmp_path / "forged.safetensors")


def test_networks_of_all_widths_keep_bounds():
    model = fitted()
    for network in (model.network_, *model.path_.networks):
        assert network.bounds.pairs() == [(LOW, HIGH)]
    assert_fills(model.truncate(6).predict(FAR))


def test_single_precision_rounds_inwards():
    bounds = OutputBounds(0.1, 0.3).within("float32")
    assert bounds.low[0] == np.nextafter(np.float32(0.1), np.float32(-1)) + np.spacing(
        np.nextafter(np.float32(0.1), np.float32(-1))
    )
    assert 0.1 <= bounds.low[0] < 0.1 + 1e-8
    assert 0.3 - 4e-8 < bounds.high[0] <= 0.3
    assert OutputBounds(0.1, 0.1).within("float32").low[0] == np.float32(0.1)


# Regressors


def test_nothing_leaves_the_bounds():
    model = fitted()
    assert_fills(model.predict(FAR))
    assert_fills(model.network_.predict(FAR))
    assert_fills(np.array([network.predict(FAR) for network in model.path_.networks]))
    low, high = model.predict_interval(FAR)
    assert_fills(np.array([low, high]))
    assert (low <= model.predict(FAR)).all()
    assert (model.predict(FAR) <= high).all()


@pytest.mark.slow
@pytest.mark.parametrize(
    "parameters",
    [
        {"n_nodes": None},
        {"hidden_layers": 2, "n_nodes": 16},
        {"hidden_layers": "auto", "n_nodes": None, "max_nodes": 16},
        {"loss": "absolute_error", "n_nodes": None},
        {"loss": "chebyshev"},
        {"loss": Quantile(0.2)},
        {"n_nodes": None, "cv": 3},
        {"n_nodes": None, "correct": False},
        {"n_nodes": None, "select": "last"},
        {"search": Dictionary(n_points=300)},
        {"n_networks": 2, "n_nodes": 12},
    ],
    ids=str,
)
def test_bounds_hold_in_every_setting_and_lower_every_error(parameters):
    model, free = fitted(**parameters), fitted(bounds=None, **parameters)
    widths = [network.predict(FAR) for network in model.path_.networks]
    for values in (model.predict(FAR), *widths, *model.predict_interval(FAR)):
        assert values.min() >= LOW
        assert values.max() <= HIGH
    if model.n_nodes_ == free.n_nodes_:  # candidates are compared within the bounds
        assert model.expected_error_ <= free.expected_error_
    assert (model.path_.training_errors <= free.path_.training_errors + 1e-12).all()


def test_errors_are_those_of_what_is_delivered():
    """Of the network, of every width of the growth, and of validation rows."""
    scale, held = Y.std(), slice(0, 100)
    model = fitted()
    left = Y - model.predict(X)
    assert model.path_.kept_error == pytest.approx(np.sqrt(np.mean(left**2)) / scale, rel=1e-8)
    networks = model.path_.networks
    grown = [np.sqrt(np.mean((Y - g.predict(X)) ** 2)) / scale for g in networks]
    np.testing.assert_allclose(model.path_.training_errors, grown, rtol=1e-8)
    assert model.expectation_.on_training == pytest.approx(np.sqrt(np.mean(left**2)))
    validated = GreedyNetRegressor(bounds=(LOW, HIGH), max_nodes=8, correct=False)
    near = np.clip(X[held], X[100:].min(axis=0), X[100:].max(axis=0))
    validated.fit(X[100:], Y[100:], X_val=near, y_val=Y[held])
    wanted = np.sqrt(np.mean((Y[held] - validated.predict(near)) ** 2))
    assert validated.expected_error_ == pytest.approx(wanted)
    size = np.sqrt(np.mean((Y[held] - Y[100:].mean()) ** 2))
    networks = validated.path_.networks
    errors = [np.sqrt(np.mean((Y[held] - g.predict(near)) ** 2)) / size for g in networks]
    np.testing.assert_allclose(validated.path_.held_out_errors, errors, rtol=1e-6)


def test_candidates_are_compared_within_the_bounds():
    """With bounds that leave no room, all are equal, and the simplest one wins."""
    y = np.where(X[:, 0] > 0, 1.0, -1.0)
    model = GreedyNetRegressor(max_nodes=4, bounds=(-1, 1)).fit(X, y)
    free = GreedyNetRegressor(max_nodes=4).fit(X, y)
    assert (model.ladder_.errors < free.ladder_.errors)[-1]
    assert model.ladder_.errors[0] == free.ladder_.errors[0]  # the mean is within
    assert model.expected_error_ < free.expected_error_


@pytest.mark.parametrize(
    ("bounds", "message"),
    [
        ((1, 0), r"`bounds` must be \(low, high\) with low <= high, got \(1, 0\): write \(0, 1\)"),
        ((np.nan, 1), r"`bounds` must be a pair .* got \(nan, 1\): write bounds=\(0, None\)"),
        ((0, 1, 2), r"`bounds` must be a pair"),
        (
            (-(10**400), None),
            r"`bounds` must be at most .* got a number of about 400 digits: write",
        ),
        ((True, 2), r"`bounds` must be a pair"),
        (("0", "1"), r"`bounds` must be a pair"),
        (5, r"The 'bounds' parameter of GreedyNetRegressor must be an array-like, a str among"),
        ((np.inf, None), r"`bounds` must leave room for finite values"),
        ((0, 1), r"`y` must lie within `bounds`, between 0 and 1, got 1\.97\d*: remove such rows"),
        ((0.5, None), r"within `bounds`, at least 0.5, got 0.0: .* write bounds=\(0.0, None\)"),
    ],
)
def test_bad_bounds_are_refused_by_name(bounds, message):
    with pytest.raises(ValueError, match=message):
        GreedyNetRegressor(n_nodes=3, bounds=bounds).fit(X, Y)


def test_rows_without_weight_may_be_outside():
    y, weights = np.append(Y, 99.0), np.append(np.ones(300), 0.0)
    rows = np.vstack([X, [[0.0, 0.0]]])
    model = GreedyNetRegressor(n_nodes=8, extrapolate=True, bounds=(LOW, HIGH))
    assert_same(clone(model).fit(rows, y, weights).network_, fitted().network_)
    blocks = [(rows[:150], y[:150], weights[:150]), (rows[150:], y[150:], weights[150:])]
    assert_fills(model.fit(blocks).predict(FAR))


def test_validation_targets_outside_are_refused():
    with pytest.raises(ValueError, match=r"`y_val` must lie within `bounds`, at most 2, got 9.0"):
        GreedyNetRegressor(bounds=(None, 2)).fit(X, Y, X_val=X[:3], y_val=[0.0, 9.0, 1.0])


@pytest.mark.parametrize("bounds", [(None, None), [0, 2.5], np.array([0.0, 2.5]), (0, np.inf)])
def test_pairs_of_any_kind(bounds, tmp_path):
    model = GreedyNetRegressor(n_nodes=3, bounds=bounds).fit(X, Y)
    is_open = all(end is None for end in bounds)
    assert (model.network_.bounds is None) == is_open
    model.save(tmp_path / "model.safetensors")
    loaded = greedynet.load(tmp_path / "model.safetensors")
    assert_same(loaded.network_, model.network_)
    assert list(loaded.bounds) == list(bounds)
    assert list(clone(model).bounds) == list(bounds)


def test_rows_in_blocks():
    order = np.argsort(Y)  # the largest is in the last block
    blocks = [(X[at], Y[at]) for at in np.array_split(order, 5)]
    with scopes.sampled(80):
        models = [
            GreedyNetRegressor(
                max_nodes=6, extrapolate=True, bounds=(LOW, HIGH), correct=correct
            ).fit(blocks)
            for correct in (True, False)
        ]
        with pytest.raises(ValueError, match=r"`y` must lie within `bounds`, .* got 1\.97"):
            GreedyNetRegressor(max_nodes=6, bounds=(LOW, 1)).fit(blocks)
    for model in models:
        assert_fills(model.predict(FAR))
        assert model.expected_error_ > 0


@pytest.mark.slow
@pytest.mark.parametrize("hidden_layers", [1, 2])
def test_trained_networks_keep_bounds(hidden_layers):
    need("jax")
    need("optax")
    from greedynet.train import train

    how = {"hidden_layers": hidden_layers, "n_nodes": 12}
    model, free = (train(fitted(**how, **more), X, Y, epochs=30) for more in ({}, {"bounds": None}))
    assert_fills(model.predict(FAR))
    assert_same(replace(model.network_, bounds=None), free.network_)


@compiled
def test_c(tmp_path):
    for i, ends in enumerate([(-0.1, 2.1), (-0.1, None), (None, 2.1)]):
        network = replace(fitted().network_, bounds=OutputBounds(*ends))
        (folder := tmp_path / str(i)).mkdir()
        found = run(network, FAR, "float32", folder).astype(np.float64)
        text = (folder / "model.h").read_text()
        assert f"Outputs {network.bounds.sentence()}." in text
        assert ("lowest" in text, "highest" in text) == tuple(end is not None for end in ends)
        assert ends[0] is None or ends[0] <= found.min() < ends[0] + 1e-6
        assert ends[1] is None or ends[1] - 1e-6 < found.max() <= ends[1]
        assert ends[0] is not None or found.min() < -1
        assert ends[1] is not None or found.max() > 3


# Exact answers


def drawn(seed: int):
    """Return a random network, the same with bounds, and a box."""
    network, low, high = drawn_network(seed)
    rng = np.random.default_rng(seed)
    y = network.predict(rng.uniform(low, high, (500, len(low))))
    ends = np.sort(rng.uniform(y.min() - 0.2 * np.ptp(y), y.max() + 0.2 * np.ptp(y), 2)).tolist()
    left_out = rng.integers(4)
    bounds = OutputBounds(*(None if left_out == i else end for i, end in enumerate(ends)))
    return network, replace(network, bounds=bounds), low, high


def check_exact(seed: int) -> None:
    free, network, low, high = drawn(seed)
    box, rng = box_of(low, high), np.random.default_rng(seed + 10**6)
    rows = rng.uniform(low, high, (2000, len(low)))
    everywhere = np.concatenate([corners(free, low, high), rows])
    y = network.predict(everywhere)
    found, close = extremes(network, box), 1e-9 * (1 + np.abs(y).max())
    assert found.proven, seed
    assert found.lowest.value == pytest.approx(y.min(), abs=close), seed
    assert found.highest.value == pytest.approx(y.max(), abs=close), seed
    for one in (free, network):
        _check_directions(one, box, rows, np.ptp(one.predict(rows)))
        _check_slopes(one, box, rows)
    _, other, *_ = drawn(seed + 5000)
    if other.n_features == network.n_features:
        most = largest_difference(network, other, box)
        assert most.proven, seed
        apart = np.abs(y - other.predict(everywhere)).max()
        assert most.value >= apart * (1 - 1e-9) - close, seed


def _check_directions(network, box, rows, spread):
    steps = np.linspace(*box[0], 300)
    lines = np.repeat(rows[:60], 300, axis=0)
    lines[:, 0] = np.tile(steps, 60)
    y = network.predict(lines).reshape(60, 300)
    for sign in (1, -1):
        said = is_monotone(network, 0, box, increasing=sign > 0)
        falls = np.maximum.accumulate(sign * y, axis=1) - sign * y
        if said.holds:
            assert falls.max() <= 1e-7 * spread
        else:
            assert said.holds is False
            first, second = network.predict(np.array(said.pair))
            assert sign * (first - second) > 0


def _check_slopes(network, box, rows):
    low, high = box[0]
    step = 1e-6 * (high - low)
    before, after = rows.copy(), rows.copy()
    before[:, 0] = np.clip(before[:, 0], low, high - step)
    after[:, 0] = before[:, 0] + step
    slopes = (network.predict(after) - network.predict(before)) / step
    said = sensitivity(network, [0], box)[0]
    close = 1e-4 * (1 + np.abs(slopes).max())
    assert said.proven
    assert said.steepest_fall <= slopes.min() + close
    assert said.steepest_rise >= slopes.max() - close
    for slope, row in zip((said.steepest_fall, said.steepest_rise), said.rows, strict=True):
        at = np.array([[row[f"x{j}"] for j in range(len(box))]])
        by = np.eye(len(box))[:1] * 1e-7 * (high - low)
        ends = [
            (network.predict(at + s * by) - network.predict(at)) / (s * by[0, 0]) for s in (1, -1)
        ]
        assert min(abs(float(end[0]) - slope) for end in ends) < 1e-3 * (1 + abs(slope))


@pytest.mark.parametrize(
    "seeds", [range(4), pytest.param(range(1000, 1050), marks=pytest.mark.slow)], ids=len
)
def test_exact_answers_are_those_of_brute_force(seeds):
    for seed in seeds:
        check_exact(seed)


def test_hidden_falls_are_no_falls():
    """A network that falls only where it is above its bound never falls."""
    hill = Network([[1.0], [1.0]], [0.0, -2.0], [[1.0], [-2.0]], input_range=[[0.0], [4.0]])
    assert is_monotone(hill, 0).holds is False
    flat = replace(hill, bounds=OutputBounds(None, 0.0))
    low = replace(hill, bounds=OutputBounds(None, 1.0))
    assert is_monotone(flat, 0).holds
    assert is_monotone(flat, 0, increasing=False).holds
    found = is_monotone(low, 0)
    assert found.holds is False  # it falls behind the hill, below the bound
    assert found.predictions[0] == pytest.approx(1.0)
    change = sensitivity(replace(hill, bounds=OutputBounds(1.5, 5.0)), [0])[0]
    assert (change.steepest_fall, change.steepest_rise) == (-1.0, 1.0)
    change = sensitivity(replace(hill, bounds=OutputBounds(3.0, 5.0)), [0])[0]
    assert (change.steepest_fall, change.steepest_rise) == (0.0, 0.0)
    assert change.proven


@pytest.mark.slow
def test_many_hidden_falls_need_one_programme():
    """A saw above the bound, behind a rise, with more falling pieces than could be excluded."""
    n = 60
    kinks = np.linspace(1, 4, 2 * n + 1)
    slopes = np.where(np.arange(2 * n + 1) % 2 == 0, -3.0 - 0.01 * np.arange(2 * n + 1), 3.0)
    steps = np.diff(slopes, prepend=10.0)
    saw = Network(
        np.ones((2 * n + 1, 1)),
        -kinks,
        steps[:, None],
        [[10.0]],
        [0.0],
        input_range=[[0.0], [4.0]],
        bounds=OutputBounds(None, 5.0),
    )
    assert replace(saw, bounds=None).predict(kinks[:, None]).min() > 5
    assert is_monotone(saw, 0).holds


# Tables and commands


@pytest.fixture
def table(tmp_path):
    lines = ["a,b,y,kind"]
    kinds = np.where(Z, "yes", "no")
    lines += [
        f"{a!r},{b!r},{y!r},{k}" for (a, b), y, k in zip(X.tolist(), Y.tolist(), kinds, strict=True)
    ]
    (tmp_path / "data.csv").write_text("\n".join(lines))
    return tmp_path / "data.csv"


def test_commands_for_numbers(table):
    out, report = table.with_name("model.safetensors"), table.with_name("report.html")
    fit = ("fit", table, "--target", "y", "--ignore", "kind", "--nodes", 6, "--out", out)
    assert "write --at-least 0.0" in output_of(*fit, "--at-least", 0.5)
    assert "a regression, within bounds: at least 0" in output_of(
        *fit, "--at-least", 0, "--extrapolate", "--report", report
    )
    assert "No prediction leaves its bounds, at least 0, also far" in report.read_text()
    assert "  bounds      predictions at least 0, everywhere" in output_of("info", out)
    assert json.loads(output_of("info", out, "--json"))["bounds"] == [[0.0, None]]
    asked = output_of("ask", out, "--min", "--where", "-90<=a<=90", "--where", "-90<=b<=90")
    assert "smallest prediction: 0 (proven)" in asked
    model = greedynet.load(out)
    assert model.predict({"a": FAR[:, 0], "b": FAR[:, 1]}).min() == 0
    assert model.estimator.bounds == (0.0, None)


def test_commands_refuse_them_for_classes(table):
    out = table.with_name("model.safetensors")
    fit = ("fit", table, "--target", "kind", "--ignore", "y", "--nodes", 6, "--out", out)
    said = output_of(*fit, "--at-most", 1)
    assert "--at-least and --at-most applies to a target of numbers" in said


@pytest.mark.slow
def test_fits_on_a_cluster():
    distributed = need("distributed")
    import dask.array as da

    from greedynet.dask import DaskGreedyNetRegressor

    with distributed.Client(processes=False, dashboard_address=None):
        rows, y = da.from_array(X, chunks=(100, 2)), da.from_array(Y, chunks=100)
        model = DaskGreedyNetRegressor(n_nodes=6, extrapolate=True, bounds=(LOW, HIGH)).fit(rows, y)
        assert_fills(model.predict(da.from_array(FAR, chunks=(100, 2))).compute())
        with pytest.raises(ValueError, match="`y` must lie within `bounds`"):
            DaskGreedyNetRegressor(n_nodes=6, bounds=(LOW, 1)).fit(rows, y)
