"""Inputs are clipped to the box of the training rows, or to a wider one, in every prediction."""

import copy
import json
from dataclasses import replace
from functools import cache

import numpy as np
import pytest

import greedynet
import scopes
from extras import need
from greedynet import GreedyNetClassifier, GreedyNetRegressor, OutputBounds
from greedynet.exact import extremes, is_monotone, largest_difference, sensitivity
from greedynet.export import (
    from_jax,
    from_keras,
    from_torch,
    to_jax,
    to_keras,
    to_onnx,
    to_torch,
)
from networks import assert_same, random_deep_network, random_network
from program import output_of
from test_export_c import run

RNG = np.random.default_rng(0)
X = np.column_stack([RNG.uniform(-1, 1, 200), RNG.uniform(1000, 1004, 200)])
Y = np.abs(X[:, 0]) * (X[:, 1] - 1000) + 0.05 * RNG.normal(size=200)
# Inside, at the edges, a little and far outside.
LOW, HIGH = X.min(axis=0), X.max(axis=0)
ROWS = np.concatenate(
    [
        X[:40],
        [LOW, HIGH],
        LOW + RNG.uniform(-1, 2, (100, 2)) * (HIGH - LOW),
        1e6 * RNG.normal(size=(20, 2)),
    ]
)

every_network = pytest.mark.parametrize("make", [random_network, random_deep_network])
every_depth = pytest.mark.parametrize("layers", [1, 2])


every_reach = pytest.mark.parametrize("reach", [0.0, 0.25, 1.0, np.inf])


def clipped(rows, model):
    return np.clip(rows, *model.network_.box)


def line_of(rows):
    return 2 * rows[:, 0] + rows[:, 1] - 1000


@cache
def fitted(layers: int = 1, **parameters) -> GreedyNetRegressor:
    return GreedyNetRegressor(max_nodes=16, hidden_layers=layers, **parameters).fit(X, Y)


@cache
def classified(**parameters) -> GreedyNetClassifier:
    return GreedyNetClassifier(max_nodes=8, **parameters).fit(X, np.median(Y) < Y)


def somewhere(network, seed=1):
    """Return rows inside the box of a network, and around it."""
    low, high = network.input_range
    share = np.random.default_rng(seed).uniform(-1, 2, (200, network.n_features))
    return low + share.clip(0, 1) * (high - low), low + share * (high - low)


# Networks


@every_network
@pytest.mark.parametrize("reach", [0.0, 0.25, 0.5])
def test_a_network_clips_its_inputs(make, reach):
    network = replace(make(8, n_outputs=2), reach=reach)
    inside, around = somewhere(network)
    free = replace(network, reach=np.inf)
    assert_same(network.predict(inside), free.predict(inside))
    assert_same(network.hidden(inside), free.hidden(inside))
    low, high = network.input_range
    room = reach * (high - low)
    edges = np.clip(around, low - room, high + room)
    assert_same(network.predict(around), free.predict(edges))
    assert_same(network.hidden(around), free.hidden(edges))
    assert np.abs(network.predict(around) - free.predict(around)).max() > 0.1
    unknown = replace(network, input_range=None)
    assert unknown.box is None
    assert_same(unknown.predict(around), free.predict(around))


@every_network
def test_a_box_that_reaches_to_infinity_is_none(make):
    network = make(5)
    assert not network.extrapolates
    assert_same(network.box, network.input_range)
    wide = replace(network, reach=1.0)
    assert not wide.extrapolates
    np.testing.assert_allclose(np.ptp(wide.box, axis=0), 3 * np.ptp(network.box, axis=0))
    free = replace(network, reach=np.inf)
    assert free.extrapolates
    assert free.box is None
    assert_same(replace(free, reach=0.0), network)


@every_network
@pytest.mark.parametrize("reach", [0.0, 1.0])
def test_far_rows_do_not_overflow(make, reach):
    network = replace(make(5), reach=reach)
    far = np.full((1, 3), 1e308)
    assert_same(network.predict(far), network.predict(network.box[1:]))


def test_a_wide_box_does_not_overflow():
    largest = np.finfo(float).max
    network = replace(random_network(n_features=1), input_range=[[-largest], [largest]])
    assert_same(replace(network, reach=1.0).box, network.input_range)


@pytest.mark.parametrize(
    "value", ["far", True, None, [1.0], np.array([1.0]), -0.5, np.nan, -np.inf]
)
def test_a_reach_is_a_number_that_is_not_negative(value):
    with pytest.raises(ValueError, match="`reach` must be a number that is not negative"):
        replace(random_network(), reach=value)


def test_a_box_has_low_ends_first():
    with pytest.raises(ValueError, match="the smallest values, then the largest"):
        replace(random_network(n_features=1), input_range=[[1.0], [0.0]])


@every_network
@every_reach
def test_file_of_a_network(make, reach, tmp_path):
    network = replace(make(5), reach=reach)
    network.save(tmp_path / "network.safetensors")
    # JSON has no infinity.
    written = "null" if reach == np.inf else repr(reach)
    content = (tmp_path / "network.safetensors").read_bytes().replace(b"\\", b"")
    assert f'"reach": {written}'.encode() in content
    again = greedynet.load(tmp_path / "network.safetensors")
    assert_same(again, network)
    _, around = somewhere(network)
    assert_same(again.predict(around), network.predict(around))


# Estimators


@every_depth
def test_a_line_without_noise_goes_on_beyond_the_rows(layers):
    """A law that was found exactly needs no box."""
    model = GreedyNetRegressor(max_nodes=8, hidden_layers=layers).fit(X, line_of(X))
    assert model.network_.extrapolates
    assert model.network_.box is None
    far = np.array([HIGH + 10 * (HIGH - LOW), LOW - 10 * (HIGH - LOW)])
    np.testing.assert_allclose(model.predict(far), line_of(far), rtol=1e-6)


@every_depth
def test_a_line_with_noise_ends_at_the_rows(layers):
    y = line_of(X) + np.random.default_rng(1).normal(size=200)
    model = GreedyNetRegressor(max_nodes=8, hidden_layers=layers).fit(X, y)
    assert model.network_.reach == 0.0
    assert_same(model.network_.box, model.network_.input_range)
    width = HIGH - LOW
    edges = model.predict(np.array([HIGH, LOW]))
    for share in (0.1, 10.0):
        beyond = np.array([HIGH + share * width, LOW - share * width])
        assert_same(model.predict(beyond), edges)


@pytest.mark.parametrize("bends", [False, True])
def test_held_out_rows_choose_the_reach(bends):
    """The rows that are held out lie outside: whether they continue the line decides."""
    x, held = np.linspace(-1, 1, 60)[:, None], np.linspace(1.1, 1.5, 20)[:, None]
    target, noise = np.abs if bends else np.asarray, 1e-3 * np.random.default_rng(0).normal(size=60)
    y, goes_on = 3 * target(x[:, 0]) + noise, 3 * target(held[:, 0])
    # Of a line all, of a network as far as it was seen to go on.
    for y_held, reach in ((goes_on, 1.0 if bends else np.inf), (np.full(20, 3.0), 0.0)):
        model = GreedyNetRegressor(max_nodes=4 if bends else 2).fit(x, y, X_val=held, y_val=y_held)
        assert (model.network_.n_neurons > 0) == bends
        assert model.network_.reach == reach
        np.testing.assert_allclose(model.predict(held), y_held, rtol=2e-3)
        error = np.sqrt(np.mean((model.predict(held) - y_held) ** 2))
        assert model.expected_error_ == pytest.approx(error, abs=1e-9)


@every_depth
def test_all_widths_have_the_same_reach(layers):
    networks = fitted(layers).path_.networks
    assert {network.reach for network in networks} == {fitted(layers).network_.reach}
    free = fitted(layers, extrapolate=True)
    assert {network.reach for network in free.path_.networks} == {np.inf}


@every_depth
def test_predictions_beyond_the_rows_are_those_at_the_edge(layers):
    model, free = fitted(layers), fitted(layers, extrapolate=True)
    assert_same(model.predict(X), free.predict(X))
    assert_same(model.predict(ROWS), free.predict(clipped(ROWS, model)))
    for pair in zip(model.path_.networks, free.path_.networks, strict=True):
        ours, theirs = (network.predict(ROWS) for network in pair)
        inside = np.all(clipped(ROWS, model) == ROWS, axis=1)
        np.testing.assert_allclose(ours[inside], theirs[inside], rtol=1e-9, atol=1e-9)
        assert np.abs(ours).max() < 30 < np.abs(theirs).max() or np.ptp(theirs) < 1e-9
    small = model.truncate(int(model.path_.n_nodes[-2]))
    assert_same(small.predict(ROWS), small.predict(clipped(ROWS, model)))


@every_depth
def test_extrapolation_is_that_of_the_weights(layers):
    network = fitted(layers, extrapolate=True).network_
    U = network.ramps.lift(ROWS) if layers == 2 else ROWS
    hidden = np.maximum(U @ network.inner_weights.T + network.biases, 0)
    y = hidden @ network.outer_weights + U @ network.linear_weights + network.intercept
    np.testing.assert_allclose(network.predict(ROWS), y[:, 0], rtol=1e-12, atol=1e-9)
    assert np.abs(y).max() > 1e4


# Cells that are mistyped among the training rows


def rows_of(n, seed, *, mistyped=0, factor=1e4):
    rng = np.random.default_rng(seed)
    rows = rng.normal(size=(n, 2))
    y = np.abs(rows[:, 0]) + 0.5 * rows[:, 1] + 0.1 * rng.normal(size=n)
    rows[:mistyped, 0] *= factor
    return rows, y


def error_on_new_rows(model):
    new, y = rows_of(2_000, 1)
    return np.sqrt(np.mean((model.predict(new) - y) ** 2))


@pytest.mark.parametrize("layers", [1, "auto"])
def test_mistyped_cells_do_not_bend_the_network(layers):
    """Five of 400: an error of 0.62 and 0.27 where none is clipped, 0.10 where none is mistyped."""
    model = GreedyNetRegressor(hidden_layers=layers).fit(*rows_of(400, 0, mistyped=5))
    assert "inputs clipped" in model.ladder_.kind
    assert np.ptp(model.network_.input_range[:, 0]) < 10
    assert error_on_new_rows(model) < 0.2


def test_no_candidates_are_clipped_where_no_cell_is_far_out_or_inputs_are_free():
    for rows, options in (
        (rows_of(400, 0), {}),
        (rows_of(400, 0, mistyped=5), {"extrapolate": True}),
    ):
        ladder = GreedyNetRegressor(max_nodes=6, **options).fit(*rows).ladder_
        assert {candidate.form for candidate in ladder.candidates} == {"one layer"}


def test_tails_that_follow_a_law_are_kept():
    rng = np.random.default_rng(0)
    rows = rng.standard_t(1.2, (500, 2))
    model = GreedyNetRegressor(max_nodes=10).fit(
        rows, rows @ [1.0, -2.0] + 0.1 * rng.normal(size=500)
    )
    assert "clipped" in {candidate.form for candidate in model.ladder_.candidates}
    assert model.ladder_.choice.form == "one layer"


def test_mistyped_cells_of_classes_and_of_many_rows():
    rows, y = rows_of(400, 0, mistyped=5)
    clean = rows_of(400, 0)[0]
    model = GreedyNetClassifier(max_nodes=10).fit(rows, y > 0.5)
    assert model.score(clean, y > 0.5) > 0.9
    with scopes.in_order_above(1_000, few_folds=True):
        many, target = rows_of(3_000, 0, mistyped=20)
        model = GreedyNetRegressor(max_nodes=20).fit(many, target)
    assert np.ptp(model.network_.input_range[:, 0]) < 10
    assert error_on_new_rows(model) < 0.2


@every_depth
def test_intervals_see_the_same_inputs(layers):
    model = fitted(layers)
    for ours, wanted in zip(
        model.predict_interval(ROWS), model.predict_interval(clipped(ROWS, model)), strict=True
    ):
        assert_same(ours, wanted)
    near = clipped(ROWS, model)
    assert_same(*(model.predict(rows, return_std=True)[1] for rows in (ROWS, near)))


def test_sizes_of_errors_see_the_same_inputs_where_rows_were_held_out_beyond_the_box():
    rng = np.random.default_rng(0)
    rows = rng.uniform(-2, 2, (1200, 2))
    noise = (0.05 + 0.5 * (rows[:, 0] > 0)) * rng.normal(size=1200)
    y = np.abs(rows[:, 0]) + rows[:, 1] + noise
    inner = np.abs(rows).max(axis=1) < 1
    held = {"X_val": rows[~inner], "y_val": y[~inner]}
    model = GreedyNetRegressor(max_nodes=12).fit(rows[inner], y[inner], **held)
    near = np.clip(rows, *model.network_.box)
    stds = [model.predict(one, return_std=True)[1] for one in (rows, near)]
    assert_same(*stds)
    assert np.ptp(stds[0]) > 0.1


def test_rows_outside_are_still_marked():
    outside = fitted().outside(ROWS)
    np.testing.assert_array_equal(outside.columns, np.clip(ROWS, LOW, HIGH) != ROWS)


def test_probabilities():
    model, free = classified(), classified(extrapolate=True)
    assert_same(model.predict_proba(ROWS), free.predict_proba(clipped(ROWS, model)))
    assert np.abs(free.decision_function(ROWS)).max() > 1e3


def test_convex_networks_are_not_clipped():
    model = GreedyNetRegressor(max_nodes=12, convex=[1, 0], extrapolate=False).fit(X, X[:, 0] ** 2)
    assert model.network_.box is None
    x = np.linspace(-4, 4, 81)
    y = model.predict(np.column_stack([x, np.full(81, 1002.0)]))
    assert (np.diff(y, 2) >= -1e-9).all()
    assert y[-1] > y[55] + 1  # it goes on


@every_depth
def test_bounds_seen(layers):
    Z = np.column_stack([Y, -3 * Y])
    model = GreedyNetRegressor(max_nodes=8, hidden_layers=layers, bounds="seen", extrapolate=True)
    y = model.fit(X, Z).predict(ROWS)
    np.testing.assert_array_equal(y.min(axis=0), Z.min(axis=0))
    np.testing.assert_array_equal(y.max(axis=0), Z.max(axis=0))


def test_bounds_seen_ignore_rows_without_weight(tmp_path):
    weights = (np.median(Y) < Y).astype(float)
    model = GreedyNetRegressor(n_nodes=4, bounds="seen").fit(X, Y, weights)
    assert model.network_.bounds.pairs() == [(Y[weights > 0].min(), Y.max())]
    model.save(tmp_path / "model.safetensors")
    assert greedynet.load(tmp_path / "model.safetensors").bounds == "seen"


# Exact answers


@every_depth
def test_extremes_of_a_wider_region_are_those_of_the_box(layers):
    model = fitted(layers)
    (low0, low1), (high0, high1) = model.network_.box
    inside = extremes(model, {0: (low0, high0), 1: (low1, high1)})
    wide = extremes(model, {0: (-50, 50), 1: (0, 5000)})
    for a, b in ((inside.lowest, wide.lowest), (inside.highest, wide.highest)):
        assert b.proven
        assert b.value == pytest.approx(a.value, abs=1e-6)
        assert b.value == model.predict(b.point[None])[0]
    beyond = extremes(model, {0: (20, 30), 1: (1001, 1002)})
    line = np.column_stack([np.full(2001, high0), np.linspace(1001, 1002, 2001)])
    assert beyond.lowest.value == pytest.approx(model.predict(line).min(), abs=1e-4)
    assert beyond.highest.value == pytest.approx(model.predict(line).max(), abs=1e-4)
    assert beyond.lowest.proven
    assert 20 <= beyond.lowest.point[0] <= 30


@every_depth
def test_slopes_are_zero_outside(layers):
    model = fitted(layers)
    change = sensitivity(model, [1], {0: 0.9, 1: (1500, 1600)})[1]
    assert (change.steepest_fall, change.steepest_rise) == (0.0, 0.0)
    assert change.proven
    assert is_monotone(model, 1, {0: 0.9, 1: (1500, 1600)})
    # With noise; a line without any goes on.
    line = GreedyNetRegressor(n_nodes=2).fit(X, X[:, 1] + np.random.default_rng(2).normal(size=200))
    slope = sensitivity(line, [1])[1].steepest_fall
    assert slope == pytest.approx(1, rel=0.1)
    wide = sensitivity(line, [1], {1: (0, 5000)})[1]
    assert wide.steepest_fall == pytest.approx(0, abs=1e-9)
    assert wide.steepest_rise == pytest.approx(slope)
    beyond = sensitivity(fitted(layers, extrapolate=True), [1], {0: 0.9, 1: (1500, 1600)})
    assert beyond[1].steepest_rise > 0.1


def test_the_difference_of_networks_with_other_boxes():
    a = random_network(4, n_features=2)
    b = replace(random_network(4, n_features=2, seed=1), input_range=[[-2.0, 0.3], [1.0, 3.0]])
    found = largest_difference(a, b, {0: (-4, 4), 1: (-4, 4)})
    grid = np.stack(np.meshgrid(*[np.linspace(-4, 4, 401)] * 2), axis=-1).reshape(-1, 2)
    apart = np.abs(a.predict(grid) - b.predict(grid))
    assert found.proven
    assert found.value >= apart.max() - 1e-9
    assert found.value == pytest.approx(apart.max(), rel=0.02)
    assert found.value == pytest.approx(
        abs(a.predict(found.point[None]) - b.predict(found.point[None]))[0]
    )


# Exports


def close(found, model, dtype):
    """Demand the predictions of a model, and that no output leaves its bounds, to the last bit."""
    found = np.asarray(found)
    assert found.dtype == dtype
    values, wanted = found.astype(np.float64).ravel(), model.predict(ROWS.astype(dtype))
    atol = {"float32": 2e-3, "float64": 1e-9}[dtype]
    np.testing.assert_allclose(values, wanted, atol=atol)
    ((low, high),) = model.network_.bounds.pairs()
    assert low <= values.min() < low + 1e-6
    assert high - 1e-6 < values.max() <= high


@pytest.fixture(params=[(1, "float32"), (1, "float64"), (2, "float32"), (2, "float64")])
def exported(request):
    """A model of one layer or of two with a box, and bounds that its outputs reach."""
    layers, dtype = request.param
    model = copy.copy(fitted(layers))
    bounds = OutputBounds(*np.quantile(model.predict(X), [0.2, 0.9]))
    model.network_ = replace(model.network_, bounds=bounds)
    return model, dtype


def assert_same_limits(network, model, dtype):
    wanted = model.network_.box
    if dtype == "float64":
        np.testing.assert_array_equal(network.box, wanted)
    else:  # of columns of size one
        np.testing.assert_allclose(network.box, wanted, atol=1e-6)
    assert network.bounds.pairs() == model.network_.bounds.within(dtype).pairs()


def assert_equal_limits(network, model):
    assert_same(network.box, model.network_.box)
    assert_same(network.bounds, model.network_.bounds)


@pytest.mark.slow
@pytest.mark.parametrize("fold", [True, False])
@pytest.mark.parametrize("scaling", ["layer", "folded"])
def test_torch(exported, fold, scaling):
    torch = need("torch")
    model, dtype = exported
    if scaling == "folded" and dtype == "float32":
        return  # 1,002 +- 2 without a layer that takes the difference
    module = to_torch(model, dtype=dtype, fold_affine=fold, scaling=scaling)
    with torch.no_grad():
        close(module(torch.tensor(ROWS.astype(dtype))), model, dtype)
    back = from_torch(module)
    assert_same_limits(back, model, dtype)
    assert_equal_limits(from_torch(module, like=model).network_, model)
    # Trained without the layers of the box and the bounds, the model has them again.
    without = [layer for layer in module if type(layer).__name__ != "BoundsLayer"]
    again = from_torch(
        torch.nn.Sequential(*without) if len(without) > 1 else without[0], like=model
    )
    assert_equal_limits(again.network_, model)
    free = to_torch(fitted(model.hidden_layers, extrapolate=True), dtype=dtype)
    assert "BoundsLayer" not in str(free)
    assert from_torch(free).box is None


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore:__array__ implementation:DeprecationWarning")
def test_keras(exported, tmp_path):
    jax, keras = need("jax"), need("keras")
    model, dtype = exported
    with jax.enable_x64(dtype == "float64"):
        made = to_keras(model, dtype=dtype)
        made.save(tmp_path / "model.keras")
        for one in (made, keras.saving.load_model(tmp_path / "model.keras")):
            close(keras.ops.convert_to_numpy(one(ROWS.astype(dtype))), model, dtype)
            if model.hidden_layers == 1:
                assert_same_limits(from_keras(one), model, dtype)
            assert_equal_limits(from_keras(one, like=model).network_, model)


@pytest.mark.slow
def test_jax(exported):
    jax = need("jax")
    model, dtype = exported
    with jax.enable_x64(dtype == "float64"):
        params, apply = to_jax(model, dtype=dtype)
        close(jax.jit(apply)(params, ROWS.astype(dtype)), model, dtype)
        assert_same_limits(from_jax(params, apply), model, "float64")
        assert_equal_limits(from_jax(params, apply, like=model).network_, model)


@pytest.mark.slow
def test_onnx(exported, tmp_path):
    need("onnx")
    runtime = need("onnxruntime")
    model, dtype = exported
    proto = to_onnx(model, tmp_path / "model.onnx", dtype=dtype)
    session = runtime.InferenceSession(proto.SerializeToString())
    close(session.run(None, {"X": ROWS.astype(dtype)})[0], model, dtype)
    told = {part.key: part.value for part in proto.metadata_props}
    assert json.loads(told["bounds"]) == [list(pair) for pair in model.network_.bounds.pairs()]


@pytest.mark.slow
@pytest.mark.parametrize("export", ["torch", "onnx", "c"])
def test_edges_that_float32_rounds(export, tmp_path):
    """Edges between two numbers of float32, the last one too far from the box to be one of them."""
    low, high = 0.1, 16_777_217.0 + 0.1
    x = np.concatenate([[low, high], np.random.default_rng(0).uniform(low, high, 60)])
    model = GreedyNetRegressor(n_nodes=6).fit(x[:, None], np.sqrt(x))
    rows = np.array([[-1.0], [0.1], [high], [2 * high], [3e38]], dtype="float32")
    if export == "torch":
        torch = need("torch")
        found = to_torch(model)(torch.tensor(rows)).detach().numpy()
    elif export == "onnx":
        session = need("onnxruntime").InferenceSession(
            to_onnx(model, tmp_path / "model.onnx").SerializeToString()
        )
        found = session.run(None, {"X": rows})[0]
    else:
        found = run(model, rows, "float32", tmp_path)
    np.testing.assert_allclose(found[:, 0], model.predict(rows), rtol=1e-5, atol=1)


# Tables and commands


@pytest.fixture
def table(tmp_path):
    rows = zip(X.tolist(), Y.tolist(), strict=True)
    lines = ["a,b,y", *(f"{a!r},{b!r},{y!r}" for (a, b), y in rows)]
    (tmp_path / "data.csv").write_text("\n".join(lines))
    return tmp_path / "data.csv"


def test_commands(table):
    out, report = table.with_name("model.safetensors"), table.with_name("report.html")
    fit = ("fit", table, "--target", "y", "--nodes", 6, "--out", out)
    output_of(*fit, "--report", report)
    said = "A value beyond all training rows counts as the nearest one among them"
    assert said in report.read_text()
    assert json.loads(output_of("info", out, "--json"))["extrapolates"] is False
    far = {"a": ROWS[:, 0], "b": ROWS[:, 1]}
    model = greedynet.load(out)
    a, b = np.clip(ROWS, LOW, HIGH).T
    near = {"a": a, "b": b}
    assert_same(model.predict(far), model.predict(near))
    output_of(*fit, "--extrapolate", "--report", report)
    assert said not in report.read_text()
    assert json.loads(output_of("info", out, "--json"))["extrapolates"] is True
    free = greedynet.load(out)
    assert_same(free.predict(near), model.predict(near))
    assert np.abs(free.predict(far)).max() > 1e4
    output_of(*fit, "--extrapolate", "--bounds", "seen")
    y = greedynet.load(out).predict(far)
    assert (y.min(), y.max()) == (Y.min(), Y.max())
    assert "--bounds must be given without" in output_of(*fit, "--bounds", "seen", "--at-least", 0)


def test_a_report_tells_that_a_line_goes_on(tmp_path):
    rows = zip(X[:, 0].tolist(), (3 * X[:, 0]).tolist(), strict=True)
    (tmp_path / "line.csv").write_text("\n".join(["a,y", *(f"{a!r},{y!r}" for a, y in rows)]))
    out, report = tmp_path / "model.safetensors", tmp_path / "report.html"
    output_of("fit", tmp_path / "line.csv", "--target", "y", "--out", out, "--report", report)
    assert "Inputs are not clipped: beyond the training rows, predictions" in report.read_text()
    assert "counts as the nearest one among them" not in report.read_text()
    found = greedynet.load(out).predict({"a": [HIGH[0] + 5.0]})
    np.testing.assert_allclose(found, 3 * HIGH[0] + 15.0)
    assert json.loads(output_of("info", out, "--json"))["extrapolates"] is True


def test_a_report_tells_of_a_wide_box(tmp_path):
    model = copy.copy(fitted())
    model.network_ = replace(model.network_, reach=0.1)
    greedynet.write_report(model, tmp_path / "report.html")
    assert "farther out than 10% of their range" in (tmp_path / "report.html").read_text()
