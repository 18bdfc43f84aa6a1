"""Training: a NumPy twin of every step, gradients by finite differences, restarts one by one."""

import subprocess
import sys
from dataclasses import replace

import numpy as np
import pytest
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import check_random_state

from extras import need
from greedynet import GreedyNetRegressor, Network
from greedynet.activations import ACTIVATIONS, LeakyReLU
from greedynet.paper import GreedyShallowNetwork, load_example
from greedynet.rows.rows import Rows
from greedynet.rows.scaling import InputScaling, OutputScaling
from greedynet.train.fit import scaled, unscaled
from networks import assert_same, impostor, inputs, random_deep_network
from problems import SEARCHES, noisy, regressor, relative_error

jax, _ = need("jax"), need("optax")
ravel_pytree = need("jax.flatten_util").ravel_pytree

from greedynet.train import random_networks, train_networks  # noqa: E402
from greedynet.train.checks import check_rows  # noqa: E402
from greedynet.train.loop import (  # noqa: E402
    TRAIN_SETTINGS,
    TrainSettings,
    epoch_order,
    make_blocks,
)
from greedynet.train.model import ACTIVATIONS as FORMS  # noqa: E402
from greedynet.train.model import (  # noqa: E402
    activation_of,
    loss,
    loss_and_gradient,
    stack,
)

pytestmark = pytest.mark.slow

ARRAYS = ("inner_weights", "biases", "outer_weights", "linear_weights", "intercept")


def train_one(network, X, y, **options):
    """Train one network."""
    (result,) = train_networks([network], X, y, **options)
    return result


@pytest.fixture(scope="module")
def example():
    return load_example(1)


@pytest.fixture(scope="module")
def greedy(example):
    return greedy_start(example)


def greedy_start(example):
    model = GreedyShallowNetwork(example.sphere, max_nodes=example.published.n_nodes)
    return model.fit(example.X_train, example.y_train).network_


def general(n_rows=37, affine=True, seed=0, activation="relu"):
    """A network with an affine term and two outputs, rows and sample weights."""
    rng = np.random.RandomState(seed)
    network = Network(
        inner_weights=rng.randn(7, 3),
        biases=rng.randn(7),
        outer_weights=rng.randn(7, 2),
        linear_weights=rng.randn(3, 2) if affine else None,
        intercept=rng.randn(2) if affine else None,
        activation=ACTIVATIONS[activation],
        single_output=False,
    )
    X, Y, weights = rng.randn(n_rows, 3), rng.randn(n_rows, 2), rng.uniform(0.5, 2, n_rows)
    return network, X, Y, weights


def arrays_of(network):
    return [getattr(network, name) for name in ARRAYS if getattr(network, name) is not None]


def assert_equal_networks(found, wanted, tolerance=0.0):
    for a, b in zip(arrays_of(found), arrays_of(wanted), strict=True):
        np.testing.assert_allclose(a, b, rtol=tolerance, atol=tolerance)


def mean_squared_error(network, X, y, weights=None):
    errors = (network.predict(X) - y).reshape(len(X), -1) ** 2
    return np.average(errors.mean(axis=1), weights=weights)


# The twin: backpropagation and Adam written out


def twin_gradient(arrays, X, Y, factors):
    a, b, c, linear, m = arrays
    z = X @ a.T + b
    hidden = np.maximum(z, 0)
    residual = hidden @ c + X @ linear + m - Y
    slope = 2 * factors[:, None] * residual
    back = (slope @ c.T) * (z > 0)
    return [back.T @ X, back.sum(axis=0), hidden.T @ slope, X.T @ slope, slope.sum(axis=0)]


def twin_training(network, X, Y, weights, orders, batch_size, rate=1e-3, decay=0.99954):
    arrays = [array.copy() for array in arrays_of(network)]
    m, v = ([np.zeros_like(array) for array in arrays] for _ in range(2))
    weights = weights / weights.mean()
    t = 0
    for epoch, order in enumerate(orders):
        for rows in np.split(order, range(batch_size, len(order), batch_size)):
            factors = weights[rows] / len(rows) / Y.shape[1]
            gradient = twin_gradient(arrays, X[rows], Y[rows], factors)
            t += 1
            for i, g in enumerate(gradient):
                m[i] = 0.9 * m[i] + 0.1 * g
                v[i] = 0.999 * v[i] + 0.001 * g**2
                step = (m[i] / (1 - 0.9**t)) / (np.sqrt(v[i] / (1 - 0.999**t)) + 1e-8)
                arrays[i] -= rate * decay**epoch * step
    return replace(network, **dict(zip(ARRAYS, arrays, strict=True)))


def epoch_orders(n_rows, n_epochs, seed=0):
    """The orders in which the rows are seen; see `batches.py`."""
    key = jax.random.key(check_random_state(seed).randint(np.iinfo(np.int32).max))
    with jax.enable_x64(True):
        keys = [jax.random.fold_in(key, epoch) for epoch in range(n_epochs)]
        return [np.asarray(epoch_order(key, n_rows)) for key in keys]


@pytest.mark.parametrize("batch_size", [None, 1, 5])
def test_steps_equal_the_twin(batch_size):
    network, X, Y, weights = general()
    found = train_one(
        network,
        X,
        Y,
        sample_weight=weights,
        epochs=4,
        batch_size=batch_size,
        keep="last",
        decay=0.7,
    ).network
    orders = epoch_orders(len(X), 4)
    wanted = twin_training(network, X, Y, weights, orders, batch_size or len(X), decay=0.7)
    assert_equal_networks(found, wanted, 1e-10)
    assert relative_error(found.outer_weights, network.outer_weights) > 1e-4


@pytest.mark.parametrize(
    ("activation", "affine", "block_elements"),
    [
        ("relu", True, 100),
        ("relu", True, 2**19),
        *[(name, False, 2**19) for name in ACTIVATIONS],
    ],
)
def test_gradient_equals_finite_difference(block_elements, affine, activation):
    network, X, Y, weights = general(affine=affine, activation=activation)
    settings = TrainSettings(block_elements=block_elements)
    with TRAIN_SETTINGS.use(settings), jax.enable_x64(True):
        blocks = make_blocks(check_rows(network, X, Y, weights), network.n_neurons)
        start = jax.tree.map(lambda a: a[0], stack([network]))
        form = activation_of(network)
        value, gradient = loss_and_gradient(start, blocks, form)
        flat, unflatten = ravel_pytree(start)
        steps = 1e-6 * np.eye(len(flat))
        losses = jax.jit(jax.vmap(lambda flat: loss(unflatten(flat), blocks, form)))
        wanted = (losses(flat + steps) - losses(flat - steps)) / 2e-6
        found, _ = ravel_pytree(gradient)
    np.testing.assert_allclose(found, wanted, rtol=1e-6, atol=1e-8)
    assert float(value) == pytest.approx(mean_squared_error(network, X, Y, weights), rel=1e-12)


# What a training promises


def test_loss_falls_and_histories_are_the_errors(example, greedy):
    X, y = example.X_train, example.y_train
    result = train_one(
        greedy, X, y, X_val=example.X_val, y_val=example.y_val, epochs=100, keep="last"
    )
    assert len(result.loss_history) == len(result.validation_history) == 101 == result.n_epochs + 1
    assert result.loss_history[-1] < result.loss_history[0]
    for history, rows in (
        (result.loss_history, (X, y)),
        (result.validation_history, (example.X_val, example.y_val)),
    ):
        assert history[0] == pytest.approx(mean_squared_error(greedy, *rows), rel=1e-9)
        assert history[-1] == pytest.approx(mean_squared_error(result.network, *rows), rel=1e-9)
    assert not result.interrupted


def test_slope_of_the_start_is_trained_with():
    network, X, Y, _ = general()
    steeper = replace(network, activation=LeakyReLU(0.3))
    result = train_one(steeper, X, Y, epochs=1)
    assert result.loss_history[0] == pytest.approx(mean_squared_error(steeper, X, Y), rel=1e-12)
    assert result.network.activation == LeakyReLU(0.3)
    with pytest.raises(ValueError, match=r"one architecture.*=0.3.*=0.4"):
        train_networks([steeper, replace(network, activation=LeakyReLU(0.4))], X, Y)


@pytest.mark.parametrize(("validated", "batch_size"), [(True, 5), (False, None)])
def test_the_best_epoch_is_kept(example, batch_size, validated):
    """A rate so large that the error rises again before the end."""
    rows = (example.X_val, example.y_val) if validated else (example.X_train, example.y_train)
    data = {"X_val": example.X_val, "y_val": example.y_val} if validated else {}
    (start,) = random_networks(1, 1, 23)
    options = {"epochs": 40, "batch_size": batch_size, "learning_rate": 0.3}
    result = train_one(start, example.X_train, example.y_train, **data, **options)
    history = result.validation_history if validated else result.loss_history
    assert 0 < result.best_epoch < 40
    assert result.best_epoch == history.argmin()
    assert mean_squared_error(result.network, *rows) == pytest.approx(history.min(), rel=1e-9)
    assert (result.validation_history is None) is not validated


def test_no_epochs_give_the_network_back(greedy, example):
    result = train_one(greedy, example.X_train, example.y_train, epochs=0)
    assert_equal_networks(replace(result.network, intercept=None), greedy)
    assert (result.n_epochs, result.best_epoch, len(result.loss_history)) == (0, 0, 1)
    np.testing.assert_array_equal(result.network.intercept, [0.0])


def test_affine_term_and_no_neurons():
    X, y = noisy(n_features=2)
    start = Network(np.empty((0, 2)), np.empty(0), np.empty((0, 1)), np.zeros((2, 1)))
    network = train_one(start, X, y, epochs=3000, learning_rate=0.02, decay=0.998).network
    wanted = np.linalg.lstsq(np.column_stack([X, np.ones(len(X))]), y, rcond=None)[0]
    np.testing.assert_allclose(
        [*network.linear_weights[:, 0], *network.intercept], wanted, atol=1e-3
    )
    assert network.n_nodes == 2


def test_other_things_of_the_network_stay():
    network, X, Y, _ = general()
    named = replace(network, feature_names=("u", "v", "w"))
    trained = train_one(named, X, Y, epochs=1).network
    assert trained.feature_names == ("u", "v", "w")
    assert not trained.single_output
    np.testing.assert_array_equal(trained.input_range, [X.min(axis=0), X.max(axis=0)])


def test_networks_over_the_same_ramps_are_trained_at_once():
    first = random_deep_network(6)
    starts = [first, replace(random_deep_network(6, seed=1), ramps=first.ramps)]
    X = inputs(first, 60)
    y = np.sin(X[:, 0]) * X[:, 1]
    for start, result in zip(starts, train_networks(starts, X, y, epochs=20), strict=True):
        alone = train_one(start, X, y, epochs=20)
        np.testing.assert_allclose(result.network.predict(X), alone.network.predict(X), rtol=1e-9)


def test_second_of_two_layers_is_trained():
    start = random_deep_network(6)
    X = inputs(start, 100)
    y = np.sin(X[:, 0]) * X[:, 1]
    result = train_one(start, X, y, X_val=X[:50], y_val=y[:50], epochs=200, learning_rate=1e-2)
    assert_same(result.network.ramps, start.ramps)
    assert result.network.feature_names == start.feature_names
    wide = replace(start, input_range=result.network.input_range)  # the box includes the rows
    losses = [np.mean((network.predict(X) - y) ** 2) for network in (wide, result.network)]
    best = result.loss_history[[0, result.best_epoch]]
    np.testing.assert_allclose(losses, best, rtol=1e-9)
    assert losses[1] < 0.1 * losses[0]
    with pytest.raises(ValueError, match="`X` must have as many columns as the network, 3, got 2"):
        train_one(start, X[:, :2], y)
    with pytest.raises(ValueError, match="X_val contains NaN"):
        train_one(start, X, y, X_val=X * np.nan, y_val=y)
    with pytest.raises(ValueError, match="got no `X_val`"):
        train_one(start, X, y, y_val=y)


def test_float32_stays_the_users_setting(example, greedy):
    train_one(greedy, example.X_train, example.y_train, epochs=1)
    assert jax.numpy.ones(1).dtype == np.float32


# Several at once


@pytest.mark.parametrize("batch_size", [1, None])
def test_ten_restarts_equal_ten_runs(example, batch_size):
    X, y = example.X_train, example.y_train
    options = {
        "epochs": 10,
        "batch_size": batch_size,
        "X_val": example.X_val,
        "y_val": example.y_val,
    }
    starts = random_networks(10, 1, 23)
    together = train_networks(starts, X, y, **options)
    for start, result in zip(starts, together, strict=True):
        alone = train_one(start, X, y, **options)
        assert_equal_networks(result.network, alone.network, 1e-10)
        np.testing.assert_allclose(result.loss_history, alone.loss_history, rtol=1e-10)
        np.testing.assert_allclose(result.validation_history, alone.validation_history, rtol=1e-10)
        assert result.best_epoch == alone.best_epoch
    assert len({result.loss_history[-1] for result in together}) == 10


# Progress and Ctrl-C


@pytest.mark.parametrize("keep", ["best", "last"])
def test_interrupted_training_returns_what_it_has(example, keep):
    seen = []

    def stop(done, total):
        seen.append((done, total))
        if done >= 5:
            raise KeyboardInterrupt

    (start,) = random_networks(1, 1, 23)
    options = {"keep": keep, "batch_size": 5}
    X, y = example.X_train, example.y_train
    result = train_one(start, X, y, epochs=100_000, progress=stop, **options)
    done, total = seen[-1]
    assert result.interrupted
    assert total == 100_000
    assert result.n_epochs == done < 100
    shorter = train_one(start, X, y, epochs=done, **options)
    assert_equal_networks(result.network, shorter.network)
    np.testing.assert_array_equal(result.loss_history, shorter.loss_history)


def test_progress_reaches_the_end(example, greedy):
    seen = []
    hook = lambda done, total: seen.append(done)  # noqa: E731
    train_one(greedy, example.X_train, example.y_train, epochs=50, progress=hook)
    assert seen == sorted(set(seen))
    assert seen[-1] == 50


def test_random_weights_have_the_right_spread():
    networks, deviation = random_networks(30, 4, 400, 3), 0.05 * 0.87962566
    for name in ("inner_weights", "outer_weights"):
        weights = np.stack([getattr(network, name) for network in networks])
        assert weights.std() == pytest.approx(deviation, rel=0.02)
        assert abs(weights.mean()) < 0.02 * deviation
        # Cut at two deviations of the whole normal.
        assert 0.98 * 0.1 < np.abs(weights).max() <= 0.1 * (1 + 1e-6)
    assert not any(network.biases.any() or network.intercept.any() for network in networks)


def test_random_networks_are_prefixes():
    three, ten = random_networks(3, 2, 5), random_networks(10, 2, 5)
    for a, b in zip(three, ten[:3], strict=True):
        assert_equal_networks(a, b)
    assert relative_error(ten[1].inner_weights, ten[0].inner_weights) > 0.1
    other = random_networks(1, 2, 5, random_state=1)[0]
    assert relative_error(other.inner_weights, ten[0].inner_weights) > 0.1


# Bad input


BAD_ROWS = [
    ({"X": np.ones(5)}, r"`X`: Expected 2D array, got 1D array"),
    ({"X": np.ones((50, 2))}, "`X` must have as many columns as the network, 1, got 2"),
    ({"X": np.empty((0, 1)), "y": []}, r"X.*Found array with 0 sample"),
    ({"X": [[1.0], [np.nan], [2.0]]}, "X contains NaN"),
    ({"X": [["a"], ["b"]]}, "`X`: could not convert string to float"),
    ({"y": np.full(50, np.inf)}, "y contains infinity"),
    ({"y": np.ones(49)}, "`X` and `y` must have the same number of rows, got 50 and 49"),
    ({"y": np.ones((50, 2))}, "`y` must have as many columns as the network, 1, got 2"),
    ({"sample_weight": np.ones(3)}, "`sample_weight` must have one weight for each of the 50 rows"),
    ({"sample_weight": -np.ones(50)}, "`sample_weight` must be non-negative.*got negative values"),
    ({"sample_weight": np.zeros(50)}, "`sample_weight` must be.*got zeros only"),
    ({"X_val": np.ones((5, 1))}, "`X_val` and `y_val` must be given together, got no `y_val`"),
    ({"X_val": np.ones((5, 2)), "y_val": np.ones(5)}, "`X_val` must have as many columns"),
    ({"X_val": np.ones((5, 1)), "y_val": np.ones(4)}, "`X_val` and `y_val` must have the same"),
]
BAD_SETTINGS = [
    ({"epochs": -1}, ValueError, "`epochs` must be an integer of at least 0, got -1"),
    ({"epochs": 1.5}, TypeError, "`epochs` must be an integer of at least 0, got 1.5"),
    (
        {"batch_size": 51},
        ValueError,
        "`batch_size` must be at most.* 50, got 51: .*batch_size=None",
    ),
    ({"batch_size": 0}, ValueError, "`batch_size` must be an integer of at least 1, got 0"),
    ({"learning_rate": 0}, ValueError, "`learning_rate` must be a number above 0, such as 1e-3"),
    ({"learning_rate": "fast"}, TypeError, "`learning_rate` must be a number above 0.*'fast'"),
    ({"decay": 1.1}, ValueError, "`decay` must be a number above 0 and at most 1"),
    ({"keep": "worst"}, ValueError, "`keep` must be 'best'.*or 'last'.*got 'worst'"),
    ({"progress": "yes"}, TypeError, "`progress` must be None or a function.*'yes'"),
]


@pytest.mark.parametrize(("bad", "message"), BAD_ROWS)
def test_bad_rows(example, greedy, bad, message):
    good = {"X": example.X_train, "y": example.y_train}
    with pytest.raises(ValueError, match=message):
        train_one(greedy, **(good | bad), epochs=1)


@pytest.mark.parametrize(("bad", "error", "message"), BAD_SETTINGS)
def test_bad_settings(example, greedy, bad, error, message):
    with pytest.raises(error, match=message):
        train_one(greedy, example.X_train, example.y_train, **bad)


def test_bad_networks(example, greedy):
    X, y = example.X_train, example.y_train
    with pytest.raises(TypeError, match=r"must hold Network objects, got Greedy.*`network_`"):
        train_one(GreedyNetRegressor(), X, y)
    with pytest.raises(TypeError, match=r"`networks` must be a list.*write \[network\] for one"):
        train_networks(greedy, X, y)
    with pytest.raises(TypeError, match="`networks` must hold Network objects, got int"):
        train_networks([3], X, y)
    with pytest.raises(ValueError, match="`networks` must hold at least one"):
        train_networks([], X, y)
    with pytest.raises(ValueError, match=r"`networks` must have one architecture.*1-23-1.*1-4-1"):
        train_networks([greedy, *random_networks(1, 1, 4)], X, y)
    with pytest.raises(ValueError, match=r"must have the same `ramps`.*call `train_networks` for"):
        train_networks([greedy, random_deep_network()], X, y)
    odd = replace(greedy, activation=replace(greedy.activation, name="swish"))
    with pytest.raises(ValueError, match=r"`network` must have one of the activations.*'swish'"):
        train_one(odd, X, y)
    with pytest.raises(ValueError, match=r"must have an activation that agrees with its JAX form"):
        train_one(impostor(greedy), X, y)


def test_activation_of_ones_own_is_trained_once_it_is_in_the_table(monkeypatch, example, greedy):
    own = replace(impostor(greedy).activation, name="own")
    monkeypatch.setitem(FORMS, "own", lambda z: jax.numpy.maximum(0.5 * z, z))
    result = train_one(replace(greedy, activation=own), example.X_train, example.y_train, epochs=20)
    assert result.loss_history[result.best_epoch] < result.loss_history[0]


@pytest.mark.parametrize(
    ("bad", "error", "message"),
    [
        ({"n_networks": 0}, ValueError, "`n_networks` must be an integer of at least 1, got 0"),
        ({"n_nodes": 2.0}, TypeError, "`n_nodes` must be an integer of at least 1, got 2.0"),
    ],
)
def test_bad_random_networks(bad, error, message):
    with pytest.raises(error, match=message):
        random_networks(**({"n_networks": 1, "n_features": 1, "n_nodes": 1} | bad))


def test_the_first_divergence_is_told(example, greedy):
    X, y = example.X_train, example.y_train
    larger = replace(greedy, outer_weights=1e160 * greedy.outer_weights)
    with pytest.warns(ConvergenceWarning, match="2 of 2 trainings diverged") as told:
        results = train_networks([greedy, larger], X, y, epochs=5, learning_rate=1e80)
    finite = [np.isfinite(result.loss_history) for result in results]
    late, early = (int(np.argmin(each)) for each in finite)
    assert early < late
    assert f"the first in epoch {early}:" in str(told[0].message)
    assert "`learning_rate`" in str(told[0].message)
    # The best network is kept.
    error = mean_squared_error(results[0].network, X, y)
    assert error <= results[0].loss_history[0] * (1 + 1e-12)


@pytest.mark.parametrize("missing", ["jax", "optax"])
def test_without_the_extra_one_line_says_what_to_install(missing):
    code = f"import sys; sys.modules['{missing}'] = None; import greedynet.train"
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert run.returncode == 1
    last = run.stderr.splitlines()[-1]
    assert f"needs {missing}" in last
    assert 'pip install "greedynet[train]"' in last


@pytest.mark.parametrize(
    ("number", "low", "high"),
    [(1, 1.00e-02, 1.06e-02), (2, 2.445e-02, 2.445e-02), (3, 3.301e-02, 3.301e-02)],
)
def test_paper_training_from_the_greedy_start(number, low, high):
    """Issue 3's figures, within 3 %."""
    example = load_example(number)
    result = train_one(greedy_start(example), example.X_train, example.y_train, keep="last")
    error = relative_error(result.network.predict(example.X_test), example.y_test)
    assert 0.97 * low <= error <= 1.03 * high


@pytest.mark.parametrize("search", SEARCHES)
def test_scaled_network_computes_the_scaled_function(search):
    X, y = noisy(n_features=3)
    X, Y = X * [1e3, 1.0, 1e-4] + [5.0, 0.0, 1.0], np.column_stack([1e6 * y, y**2 - 7])
    model = regressor(search, n_nodes=9, n_points=300)
    network = model.fit(X, Y).network_
    inputs, outputs = InputScaling.to_cube(X), OutputScaling.of(Rows(X, Y), centred=True)
    inner = scaled(network, inputs, outputs)
    lengths = np.linalg.norm(np.column_stack([inner.inner_weights, inner.biases]), axis=1)
    np.testing.assert_allclose(lengths, 1)
    wanted = outputs.apply(network.predict(X))
    np.testing.assert_allclose(inner.predict(inputs.apply(X)), wanted, atol=1e-9)
    back = unscaled(inner, inputs, outputs).predict(X)
    np.testing.assert_allclose(back, network.predict(X), rtol=1e-6, atol=1e-9)
