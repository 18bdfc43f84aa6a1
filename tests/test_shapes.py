"""Shapes that hold: monotone and convex networks, and what proves them."""

from dataclasses import replace

import numpy as np
import pandas
import pytest
from click.testing import CliRunner
from scipy.optimize import lsq_linear

import greedynet
from greedynet import GreedyNetClassifier, GreedyNetRegressor, Network, StopReason, load
from greedynet.activations import ReLU
from greedynet.activations.family import Ramp
from greedynet.cli import main
from greedynet.correction.all_rows.products import Gram
from greedynet.correction.log_loss_descent import PenalisedLogLoss, ShapedLogLoss, Weights, descend
from greedynet.correction.shaped import ShapedProblem, ShapedProjection, shaped_weights
from greedynet.exact import is_monotone
from greedynet.fitting.forms import Saturating
from greedynet.linalg.weights import signed_weights
from greedynet.model.coordinates import in_shape, proves_shape
from greedynet.rows.affine import AffineTerm
from greedynet.rows.rows import Rows
from greedynet.rows.scaling import InputScaling
from greedynet.rows.shape import Shape
from greedynet.search.batch import SignedSearch
from greedynet.support.threads import Pool


def random_rows(seed=0, n=60, d=3):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, d))
    y = X[:, 0] + np.abs(X[:, 1]) - X[:, -1] + 0.3 * rng.standard_normal(n)
    weights = rng.uniform(0.5, 2.0, n)
    return Rows(X, y[:, None], weights)


def largest_fall(predict, X, column, sign, seed=0):
    """The largest fall against a sign, over pairs of rows in and around the data."""
    rng = np.random.default_rng(seed)
    low, high = X.min(axis=0), X.max(axis=0)
    Z = rng.uniform(low - (high - low), high + (high - low), (4_000, X.shape[1]))
    after = Z.copy()
    after[:, column] += rng.uniform(0, 1, len(Z)) * (high - low)[column]
    return float(np.max(sign * (predict(Z) - predict(after))))


def largest_bend(predict, X, column, sign, seed=0):
    """How far a value lies above the chord along a column, times the sign."""
    rng = np.random.default_rng(seed)
    Z = rng.uniform(X.min(axis=0) - 1, X.max(axis=0) + 1, (4_000, X.shape[1]))
    step = rng.uniform(0, 1, len(Z))
    left, right = Z.copy(), Z.copy()
    left[:, column] -= step
    right[:, column] += step
    return float(np.max(sign * (predict(Z) - (predict(left) + predict(right)) / 2)))


@pytest.mark.parametrize("seed", range(30))
def test_weights_with_signs_are_those_of_bounded_least_squares(seed):
    rng = np.random.default_rng(seed)
    n, k = 40, int(rng.integers(1, 15))
    F, y = rng.standard_normal((n, k)), rng.standard_normal(n)
    if k > 3:
        F[:, 1] = F[:, 0] + 1e-3 * F[:, 1]
    signs = rng.integers(-1, 2, k).astype(float)
    low, high = np.where(signs > 0, 0, -np.inf), np.where(signs < 0, 0, np.inf)
    M = F.T @ F
    weights, free = signed_weights(M, F.T @ y, signs)
    naive = lsq_linear(F, y, (low, high), method="bvls", tol=1e-14).x
    np.testing.assert_allclose(F @ weights, F @ naive, atol=1e-8)
    assert (signs * weights >= 0).all()
    assert (weights[~free] == 0).all()
    gradient = M @ weights - F.T @ y
    assert np.abs(gradient[free]).max(initial=0.0) < 1e-9
    assert (signs * gradient)[~free].min(initial=0.0) > -1e-9


# What the weights prove


def network_of(seed, monotone, extra=0.0):
    """A network with just the slopes that make it monotone, or less of them by `extra`."""
    rng = np.random.default_rng(seed)
    d = len(monotone)
    shape = Shape(np.array(monotone, dtype=float), np.zeros(d))
    inner, outer = rng.standard_normal((9, d)), rng.standard_normal(9)
    linear = np.where(shape.monotone != 0, shape.least(inner, outer), rng.standard_normal(d))
    network = Network(
        inner_weights=inner,
        biases=rng.standard_normal(9),
        outer_weights=outer[:, None],
        linear_weights=(linear - extra * shape.monotone)[:, None],
        intercept=np.zeros(1),
    )
    return network, shape


@pytest.mark.parametrize("seed", range(10))
def test_the_least_slopes_make_a_network_monotone(seed):
    network, shape = network_of(seed, [1, -1, 0])
    assert proves_shape(network, shape)
    X = np.random.default_rng(seed).standard_normal((50, 3))
    for column, sign in ((0, 1), (1, -1)):
        assert largest_fall(lambda Z: network.predict(Z).ravel(), X, column, sign) < 1e-12


def test_smaller_slopes_prove_nothing_and_are_mended():
    network, shape = network_of(3, [1, 0], extra=1e-9)
    assert not proves_shape(network, shape)
    mended = in_shape(network, shape)
    assert proves_shape(mended, shape)
    np.testing.assert_allclose(mended.linear_weights, network.linear_weights, atol=2e-9)
    # In one column all patterns occur that make the slope least: less of it does fall.
    single = Network(
        np.array([[1.0]]), np.zeros(1), np.array([[-1.0]]), np.array([[0.9]]), np.zeros(1)
    )
    assert not proves_shape(single, Shape(np.ones(1), np.zeros(1)))
    assert largest_fall(lambda Z: single.predict(Z).ravel(), np.array([[-1.0], [1.0]]), 0, 1) > 0.01


def test_a_neuron_bent_wrongly_is_not_convex():
    shape = Shape(np.zeros(2), np.array([1.0, 0.0]))
    inner, linear = np.array([[1.0, 1.0], [0.0, 2.0]]), np.zeros(2)
    assert shape.is_of(inner, np.array([1.0, -1.0]), linear)
    assert not shape.is_of(inner, np.array([-1.0, -1.0]), linear)


def test_a_shape_follows_scaled_columns():
    inputs = InputScaling(np.zeros(3), np.array([2.0, -1.0, 3.0]), np.array([2, 1, 0]))
    shape = Shape(np.array([1.0, 1.0, 0.0]), np.array([0.0, 1.0, -1.0])).scaled(inputs)
    np.testing.assert_array_equal(shape.monotone, [0, -1, 1])
    np.testing.assert_array_equal(shape.convex, [-1, 1, 0])


# Correction


def problem_of(rows, shape, signs):
    affine = AffineTerm.of_single_columns(rows).columns
    return ShapedProblem(rows, affine, ReLU(), Pool(), shape, signs)


def test_the_descent_is_that_of_the_reduced_objective():
    # Against the shape, so that slopes are held at zero and leave a residual along the columns.
    rows, rng = random_rows(15), np.random.default_rng(115)
    rows = replace(rows, Y=-rows.Y)
    shape, ridge = Shape(np.array([1.0, 0.0, -1.0]), np.zeros(3)), 0.3
    W, signs = rng.standard_normal((5, 4)), np.array([1.0, -1.0, 1.0, -1.0, 1.0])
    problem = problem_of(rows, shape, signs)
    at = problem.at(W, ridge)
    pulls = sum(problem.pull(at, part, slice(None)) for part in problem.parts)
    direction = rng.standard_normal(W.shape)
    step = 1e-6
    ahead, behind = (problem.at(W + s * direction, ridge).objective(ridge) for s in (step, -step))
    slope = -2 * np.sum((pulls - ridge * W) * direction)
    assert (ahead - behind) / (2 * step) == pytest.approx(slope, rel=1e-4)


def test_derivatives_are_those_of_the_columns():
    rows, rng = random_rows(), np.random.default_rng(2)
    shape = Shape(np.array([1.0, -1.0, 0.0]), np.zeros(3))
    W, signs = rng.standard_normal((4, 4)), np.array([1.0, -1.0, -1.0, 1.0])
    problem = problem_of(rows, shape, signs)
    derivative = problem.derivatives(problem.at(W, 0.1), slice(None), slice(None))
    direction, step = rng.standard_normal(W.shape), 1e-7
    ahead, behind = (problem.at(W + s * direction, 0.1).columns for s in (step, -step))
    expected = np.einsum("nkp,kp->nk", derivative, direction)
    np.testing.assert_allclose((ahead - behind) / (2 * step), expected, atol=1e-5)


def test_a_correction_lowers_the_objective_and_keeps_the_shape():
    rows, rng = random_rows(), np.random.default_rng(3)
    shape = Shape(np.array([1.0, 0.0, -1.0]), np.array([0.0, 1.0, 0.0]))
    affine = AffineTerm.of_single_columns(rows)
    state = ShapedProjection(rows, affine.columns, rng.standard_normal((8, 4)), shape, 0.5)
    before = state.error + state.ridge * state._at.size
    state.improve(20)
    assert state.error + state.ridge * state._at.size < 0.999 * before
    outer, linear = state.weights[4:, 0], affine.to_weights @ state.weights[:4, 0]
    slopes = linear[:-1] - state.shape.taken(state.points, state.signs)[:, :-1].T @ outer
    slopes = np.where(shape.monotone * slopes < 0, 0.0, slopes)
    rounded = np.where(shape.monotone != 0, slopes + 1e-12 * shape.monotone, slopes)
    assert shape.is_of(state.points[:, :-1], outer, rounded)


def test_weights_by_products_are_those_of_the_columns():
    rows = random_rows(8)
    rows = replace(rows, Y=-rows.Y)
    shape = Shape(np.array([1.0, 0.0, -1.0]), np.zeros(3))
    affine = AffineTerm.of_single_columns(rows)
    W = np.random.default_rng(8).standard_normal((6, 4))
    state = ShapedProjection(rows, affine.columns, W, shape, 0.1)
    hidden = np.maximum(rows.X @ state.points[:, :-1].T + state.points[:, -1], 0.0)
    F, Y = np.hstack([affine.columns, rows.weighted(hidden)]), rows.weighted(rows.Y)
    gram = Gram(F.T @ F, F.T @ Y, float(np.sum(Y**2)))
    weights = shaped_weights(gram, state.points, shape, state.signs, np.full(6, 0.1))
    assert float(np.sum((Y[:, 0] - F @ weights) ** 2)) == pytest.approx(state.error, rel=1e-8)


def test_the_log_loss_of_a_shape_has_its_gradient():
    rng = np.random.default_rng(5)
    X = rng.standard_normal((80, 3))
    rows = Rows(X, (X[:, :1] > 0).astype(float), None)
    start = Weights(rng.standard_normal((5, 4)), rng.standard_normal((5, 1)), np.zeros((4, 1)))
    penalised = PenalisedLogLoss(rows, start, 0.01, ReLU(), linear_term=True)
    shape = Shape(np.array([1.0, -1.0, 0.0]), np.zeros(3))
    shaped = ShapedLogLoss(penalised.evaluate, start, shape)
    at = shaped.start + 0.1 * np.abs(rng.standard_normal(len(shaped.start))) * np.sign(shaped.start)
    gradient, direction = shaped.evaluate(at)[1], rng.standard_normal(len(at))
    ahead, behind = (shaped.evaluate(at + s * direction)[0] for s in (1e-6, -1e-6))
    assert (ahead - behind) / 2e-6 == pytest.approx(gradient @ direction, rel=1e-4)


def test_a_descent_in_a_shape_ends_at_a_network_of_it():
    rng = np.random.default_rng(6)
    X = rng.standard_normal((200, 2))
    rows = Rows(X, (X[:, :1] - X[:, 1:] ** 2 > rng.standard_normal((200, 1))).astype(float), None)
    start = Weights(rng.standard_normal((6, 3)), rng.standard_normal((6, 1)), np.zeros((3, 1)))
    shape = Shape(np.array([1.0, 0.0]), np.array([0.0, -1.0]))
    found = descend(rows, start, 1e-3, 200, ReLU(), shape=shape)
    slopes = np.where(shape.monotone != 0, found.L[:-1, 0] + 1e-12, found.L[:-1, 0])
    assert shape.is_of(found.W[:, :-1], found.C[:, 0], slopes)


def test_the_scan_finds_the_best_monotone_neuron():
    rows = random_rows(7, n=40, d=2)
    shape = Shape(np.array([1.0, -1.0]), np.zeros(2))
    rng = np.random.default_rng(7)
    free = rows.weighted(np.ones((40, 1)))
    residual = rows.weighted(rng.standard_normal((40, 1)))[:, 0]
    residual -= free[:, 0] * (free[:, 0] @ residual) / (free[:, 0] @ free[:, 0])
    u = np.array([[0.6, 0.8]])
    (found,) = SignedSearch(rows, shape, 2).propose(residual, free, u, 1)
    scale, best = rows.row_scale, (0.0, None)
    A = np.linalg.qr(np.column_stack([np.ones(40), rows.X]) * scale[:, None])[0]
    for threshold in rows.X @ u[0]:
        z = rows.X @ u[0] - threshold
        if not 2 <= np.count_nonzero(z > 1e-12) <= 38:
            continue
        for sign in (1.0, -1.0):
            W = np.append(u[0], -threshold)[None]
            taken = shape.taken(W, np.array([sign]))[0, :-1]
            gain = sign * (scale * (np.maximum(z, 0) - rows.X @ taken)) @ residual
            bare = scale * np.maximum(z, 0)
            outside = np.sum((bare - A @ (A.T @ bare)) ** 2)
            if gain > 0 and gain**2 / outside > best[0]:
                best = gain**2 / outside, threshold
    assert -found[-1] == pytest.approx(best[1])


# Fits


def problem(seed=0, n=150, d=3):
    rng = np.random.default_rng(seed)
    X = rng.uniform(-1, 1, (n, d)) * [1.0, 10.0, 0.1][:d]
    Z = X / [1.0, 10.0, 0.1][:d]
    return X, np.tanh(3 * Z[:, 0]) - Z[:, 1] ** 3 + Z[:, 2] ** 2 + 0.2 * rng.standard_normal(n)


def check_monotone(model, X, shape):
    predict = model.decision_function if hasattr(model, "classes_") else model.predict
    size = np.ptp(predict(X)) or 1.0
    for column in np.flatnonzero(shape):
        sign = shape[column]
        assert largest_fall(predict, X, column, sign) <= 1e-12 * size
        assert is_monotone(model, int(column), increasing=sign > 0).holds


@pytest.mark.parametrize("shape", [[1, -1, 0], [-1, 1, 0], [0, 0, 1]])
@pytest.mark.parametrize("layers", [1, 2])
def test_regressions_are_monotone(shape, layers):
    X, y = problem()
    model = GreedyNetRegressor(monotonic_cst=shape, hidden_layers=layers, max_nodes=30).fit(X, y)
    check_monotone(model, X, shape)


def test_a_shape_holds_within_bounds():
    X, y = problem()
    bounds = (float(y.min()), float(y.max()))
    model = GreedyNetRegressor(monotonic_cst=[1, -1, 0], bounds=bounds, max_nodes=20).fit(X, y)
    assert model.network_.bounds is not None
    check_monotone(model, X, [1, -1, 0])


@pytest.mark.parametrize("shape", [[1, -1, 0], pytest.param([-1, 0, 1], marks=pytest.mark.slow)])
def test_classifications_are_monotone(shape):
    X, y = problem(1)
    model = GreedyNetClassifier(monotonic_cst=shape, max_nodes=20).fit(X, y > 0)
    check_monotone(model, X, shape)


@pytest.mark.slow
@pytest.mark.parametrize("activation", ["tanh", "softplus"])
def test_other_activations_are_monotone(activation):
    X, y = problem(1)
    shape = [1, -1, 0]
    model = GreedyNetRegressor(monotonic_cst=shape, activation=activation, max_nodes=8).fit(X, y)
    for column in (0, 1):
        assert largest_fall(model.predict, X, column, shape[column]) <= 1e-12


@pytest.mark.parametrize("sign", [1, -1])
def test_regressions_are_convex_or_concave(sign):
    X, y = problem(2)
    model = GreedyNetRegressor(convex=[0, 0, sign], max_nodes=30).fit(X, y)
    assert model.network_.ramps is None
    assert largest_bend(model.predict, X, 2, sign) <= 1e-12 * np.ptp(y)


def test_a_classification_is_convex():
    X, y = problem(3)
    model = GreedyNetClassifier(convex=[0, 0, 1], n_nodes=8).fit(X, y > 0)
    assert largest_bend(model.decision_function, X, 2, 1) <= 1e-10


@pytest.mark.slow
def test_two_layers_rise_between_plateaus_and_one_does_not():
    X = np.linspace(-1, 1, 200)[:, None]
    y = np.clip(5 * X[:, 0], -1, 1)
    one, two, chosen = (
        GreedyNetRegressor(monotonic_cst=[1], hidden_layers=layers).fit(X, y)
        for layers in (1, 2, None)
    )
    assert two.network_.ramps is not None
    assert np.std(two.predict(X) - y) < 0.05 < np.std(one.predict(X) - y)
    # The best of both and of ramps is a ramp.
    assert chosen.n_nodes_ == 4
    assert np.std(chosen.predict(X) - y) < 1e-6


def test_against_the_data_nothing_is_left_of_a_column():
    X = problem(4)[0][:, :1]
    model = GreedyNetRegressor(monotonic_cst=[-1], max_nodes=20).fit(X, X[:, 0])
    assert np.ptp(model.predict(X)) < 1e-9


def test_no_shape_is_any_shape():
    X, y = problem(5)
    one, other = (
        GreedyNetRegressor(monotonic_cst=c, convex=v, max_nodes=12).fit(X, y)
        for c, v in ((None, None), ([0, 0, 0], {}))
    )
    np.testing.assert_array_equal(one.predict(X), other.predict(X))


@pytest.mark.slow
def test_a_shape_of_names_is_that_of_positions(tmp_path):
    X, y = problem(6)
    frame = pandas.DataFrame(X, columns=["a", "b", "c"])
    named = GreedyNetRegressor(monotonic_cst={"a": 1, "b": -1}, max_nodes=12).fit(frame, y)
    listed = GreedyNetRegressor(monotonic_cst=[1, -1, 0], max_nodes=12).fit(X, y)
    np.testing.assert_array_equal(named.predict(frame), listed.predict(X))
    named.save(tmp_path / "m.safetensors")
    loaded = load(tmp_path / "m.safetensors")
    assert loaded.monotonic_cst == {"a": 1, "b": -1}
    np.testing.assert_array_equal(loaded.predict(frame), named.predict(frame))


@pytest.mark.parametrize("n", [1, 2, 3, 6])
def test_few_rows(n):
    X, y = problem(8, n=n)
    model = GreedyNetRegressor(monotonic_cst=[1, -1, 0]).fit(X, y)
    assert proves_shape(model.network_, Shape(np.array([1.0, -1.0, 0.0]), np.zeros(3)))


@pytest.mark.filterwarnings("ignore::greedynet.FewerNodesWarning")
def test_what_a_line_reproduces_a_shape_may_not():
    x = np.linspace(0, 1, 30)
    model = GreedyNetRegressor(5, monotonic_cst=[-1], hidden_layers=1).fit(x[:, None], x)
    assert model.n_nodes_ < 5
    assert model.stop_reason_ is StopReason.SHAPE
    np.testing.assert_allclose(model.predict(x[:, None]), x.mean(), atol=1e-6)


@pytest.mark.filterwarnings("ignore::greedynet.FewerNodesWarning")
@pytest.mark.parametrize(
    "how",
    [
        {"n_nodes": 9},
        {"select": "last", "max_nodes": 9},
        pytest.param({"cv": 3}, marks=pytest.mark.slow),
    ],
)
def test_however_the_width_is_chosen(how):
    X, y = problem(9)
    model = GreedyNetRegressor(monotonic_cst=[1, -1, 0], hidden_layers=1, **how)
    check_monotone(model.fit(X, y), X, [1, -1, 0])


@pytest.mark.slow
def test_many_rows_are_sampled_and_in_blocks():
    rng = np.random.default_rng(0)
    X = rng.uniform(-1, 1, (30_000, 3))
    y = np.tanh(3 * X[:, 0]) - X[:, 1] + 0.3 * rng.standard_normal(len(X))
    blocks = [(X[i : i + 5_000], y[i : i + 5_000]) for i in range(0, len(X), 5_000)]
    for arguments in ((X, y), (blocks,)):
        for layers in (1, 2):
            model = GreedyNetRegressor(
                monotonic_cst=[1, -1, 1], hidden_layers=layers, max_nodes=30
            ).fit(*arguments)
            check_monotone(model, X, [1, -1, 1])


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(12))
def test_random_shapes_hold(seed):
    rng = np.random.default_rng(seed)
    X = rng.standard_t(3, (120, 4))
    y = rng.standard_normal(4) @ X.T + np.abs(X[:, 0] * X[:, 1]) + rng.standard_normal(120)
    shape = rng.integers(-1, 2, 4)
    kind = (GreedyNetRegressor, GreedyNetClassifier)[seed % 2]
    target = y > np.median(y) if seed % 2 else y
    model = kind(monotonic_cst=shape, max_nodes=25).fit(X, target)
    check_monotone(model, X, shape)


# Tables and commands


def table_of(n=120):
    rng = np.random.default_rng(0)
    size, kind = rng.uniform(20, 200, n), rng.choice(["A", "B"], n)
    price = 3 * size + 50 * (kind == "B") + 20 * rng.standard_normal(n)
    return {"size": size, "kind": kind, "price": price}


def test_tables_have_shapes_by_name():
    model = greedynet.fit_table(
        table_of(), "price", monotonic_cst={"size": -1}, hidden_layers=1, max_nodes=8
    )
    assert is_monotone(model, "size", increasing=False).holds
    assert sorted(model.estimator.monotonic_cst) == [-1, 0, 0]


@pytest.mark.parametrize(
    ("shape", "message"),
    [
        ({"kind": 1}, "must name columns of numbers, got 'kind'"),
        ({"sizes": 1}, "must name columns of the table"),
        ([1, 0], "must be a dict of column names"),
    ],
)
def test_tables_refuse_other_columns(shape, message):
    with pytest.raises(ValueError, match=message):
        greedynet.fit_table(table_of(), "price", monotonic_cst=shape)


def test_commands_have_shapes(tmp_path):
    table = table_of()
    rows = zip(*(np.asarray(table[name]).tolist() for name in table), strict=True)
    lines = [",".join(table), *(",".join(map(str, row)) for row in rows)]
    (tmp_path / "d.csv").write_text("\n".join(lines))
    out = tmp_path / "m.safetensors"
    start = ["fit", str(tmp_path / "d.csv"), "--target", "price", "--out", str(out)]
    options = ["--decreasing", "size", "--hidden-layers", "1", "--max-nodes", "8"]
    assert CliRunner().invoke(main, [*start, *options]).exit_code == 0
    assert is_monotone(load(out), "size", increasing=False).holds
    both = CliRunner().invoke(main, [*start, "--increasing", "size", "--decreasing", "size"])
    assert both.exit_code == 2
    assert "--increasing and --decreasing must name other columns" in both.output
    wrong = CliRunner().invoke(main, [*start, "--convex", "kind"])
    assert "--convex or --concave must name columns of numbers" in wrong.output


# Refusals


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"monotonic_cst": [1, 0]}, r"for each column.* shape \(2,\) .* has 3 features"),
        ({"convex": [[1, 0, 0]]}, r"`convex` has the shape \(1, 3\), not one dimension"),
        ({"monotonic_cst": [1, 0, 2]}, "1 for increasing, -1 for decreasing"),
        ({"monotonic_cst": {"a": 1}}, "feature names. Pass `monotonic_cst` as an integer array"),
        ({"convex": [1, 0, 0], "hidden_layers": 2}, "hidden_layers=1"),
        ({"monotonic_cst": [1, 0, 0], "activation": "sin"}, 'activation="relu"'),
        ({"convex": [1, 0, 0], "activation": "tanh"}, 'activation="relu" or "softplus"'),
        ({"monotonic_cst": [1, 0, 0], "loss": "absolute_error"}, 'loss="squared_error"'),
        ({"monotonic_cst": [1, 0, 0], "correct": False}, "correct=True"),
        ({"monotonic_cst": [1, 0, 0], "search": "dictionary"}, 'search="continuous"'),
        ({"convex": [1, 0, 0], "bounds": "seen"}, "no upper end for a convex function"),
        ({"convex": [1, 0, 0], "bounds": (None, 99)}, "no upper end for a convex function"),
        ({"convex": {"a": -1}, "bounds": (-99, None)}, "feature names"),
        ({"convex": [-1, 0, 0], "bounds": (-99, None)}, "no lower end for a concave function"),
    ],
)
def test_refusals_name_the_way_out(parameters, message):
    X, y = problem(n=30)
    with pytest.raises(ValueError, match=message):
        GreedyNetRegressor(**parameters).fit(X, y)


def test_several_outputs_several_classes_and_unknown_names_are_refused():
    X, y = problem(n=30)
    model, frame = (
        GreedyNetRegressor(monotonic_cst=[1, 0, 0]),
        pandas.DataFrame(X, columns=[*"abc"]),
    )
    with pytest.raises(ValueError, match="one model for each output"):
        model.fit(X, np.column_stack([y, y]))
    with pytest.raises(ValueError, match="each class against the others"):
        GreedyNetClassifier(monotonic_cst=[1, 0, 0]).fit(X, np.arange(30) % 3)
    with pytest.raises(ValueError, match=r"unexpected feature names.*'z'"):
        model.set_params(monotonic_cst={"z": 1}).fit(frame, y)


def test_all_widths_have_the_shape():
    X, y = problem(n=60)
    model = GreedyNetRegressor(monotonic_cst=[1, 0, 0], hidden_layers=1, max_nodes=8).fit(X, y)
    assert len(model.path_) > 2
    for n_nodes in model.path_.n_nodes.tolist():
        check_monotone(model.truncate(n_nodes), X, [1, 0, 0])


# Neurons that level off


def test_ramps_become_relus():
    rng = np.random.default_rng(0)
    ramps = Network(
        rng.standard_normal((4, 2)),
        rng.standard_normal(4),
        rng.standard_normal((4, 1)),
        rng.standard_normal((2, 1)),
        np.ones(1),
        activation=Ramp(),
    )
    X = 3 * rng.standard_normal((200, 2))
    np.testing.assert_allclose(Saturating().network(ramps).predict(X), ramps.predict(X), atol=1e-12)


def test_neurons_of_one_direction_take_away_only_what_their_sums_do():
    shape = Shape(np.array([1.0, -1.0]), np.zeros(2))
    inner = np.array([[1.0, -2.0], [1.0, -2.0], [0.5, 0.5]])
    outer, biases = np.array([3.0, -3.0, 0.0]), np.array([1.0, -1.0, 0.0])
    np.testing.assert_array_equal(shape.least(inner, outer, biases), [0, 0])
    # The other way round, the neuron that falls begins first.
    np.testing.assert_allclose(shape.least(inner, outer, -biases), [3, -6])
    np.testing.assert_allclose(shape.least(inner, outer), [3, -6])


@pytest.mark.slow
def test_an_oblique_rise_between_plateaus_is_made_of_ramps():
    rng = np.random.default_rng(1)
    X = rng.uniform(-1, 1, (250, 4))
    truth = np.clip(2 * X.sum(axis=1), -1, 1)
    model = GreedyNetRegressor(monotonic_cst=[1] * 4, max_nodes=20)
    model.fit(X, truth + 0.1 * rng.standard_normal(250))
    assert model.ladder_.kind.endswith("of ramps")
    assert model.network_.ramps is None
    assert np.sqrt(np.mean((model.predict(X) - truth) ** 2)) < 0.06
    check_monotone(model, X, [1] * 4)
