"""Fits on a dask cluster: the network of a fit in memory, whatever happens to the workers."""

import asyncio
import gc
import logging
import os
import pickle
import signal
import subprocess
import sys
import time
from contextlib import contextmanager, suppress
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.metrics import r2_score

import greedynet
import scopes
from extras import need
from greedynet import GreedyNetClassifier, GreedyNetRegressor

dask = need("dask")
need("distributed")
psutil = need("psutil")  # distributed needs it too

import dask.array as da  # noqa: E402
import dask.dataframe as dd  # noqa: E402
from distributed import Client, LocalCluster  # noqa: E402
from distributed.comm.core import CommClosedError  # noqa: E402

from greedynet.dask import (  # noqa: E402
    ClusterError,
    DaskGreedyNetClassifier,
    DaskGreedyNetRegressor,
)
from greedynet.dask.cluster import (  # noqa: E402
    PlacedShard,
    Shards,
    Waiting,
    assign,
    explain_lost_scheduler,
)
from greedynet.dask.shard import Shard, fingerprint  # noqa: E402

# The one way that a mistake in waiting shows; far more than any test takes on a busy machine.
TIME_LIMIT = 300


@pytest.fixture(autouse=True)
def time_limit():
    def over(*_):
        raise AssertionError(f"still waiting after {TIME_LIMIT} seconds")

    signal.signal(signal.SIGALRM, over)
    signal.alarm(TIME_LIMIT)
    yield
    signal.alarm(0)


@contextmanager
def cluster_of(n_workers, *, processes=False, threads=1):
    with (
        LocalCluster(
            n_workers=n_workers,
            threads_per_worker=threads,
            processes=processes,
            protocol="tcp://",
            host="127.0.0.1",
            dashboard_address="127.0.0.1:0",
            silence_logs=logging.CRITICAL,
        ) as cluster,
        Client(cluster, set_as_default=False) as client,
    ):
        yield client


@pytest.fixture(scope="module")
def client():
    with cluster_of(2) as client:
        yield client


@pytest.fixture
def process_client():
    """New for every test: dask does not always start a worker again that was killed."""
    with cluster_of(2, processes=True) as client:
        yield client


@pytest.fixture
def small_samples():
    with sampled():
        yield


def sampled(**more):
    """Make samples small in this scope, and leave more rows than these in their order."""
    return scopes.sampled(400, blocks={"rows": 128}, in_order_above=400, **more)


@pytest.fixture
def impatient():
    """Small samples, and workers that are looked for all the time."""
    with sampled(check_every=0.01):
        yield


N = 2_000
UNEVEN = (0, 1, 1_199, 0, 300, 500, 0)


def problem(n=N, seed=0):
    rng = np.random.RandomState(seed)
    X = rng.uniform(-1, 1, (n, 3))
    return X, np.sin(3 * X[:, 0]) + np.abs(X[:, 1]) + 0.1 * rng.randn(n)


def on_dask(values, chunks):
    rows = chunks if isinstance(chunks, tuple) else (chunks,) * (len(values) // chunks)
    return da.from_array(values, chunks=(rows, *((n,) for n in values.shape[1:])))


def fit(client, model, *given, chunks=500, **validation):
    """Fit on the cluster; arrays in memory are split first."""
    model.client = client
    lazy = (values if hasattr(values, "dask") else on_dask(values, chunks) for values in given)
    return model.fit(*lazy, **validation)


def assert_same_network(one, other, atol=1e-8):
    a, b = one.network_, other.network_
    assert (a.n_nodes, a.n_neurons) == (b.n_nodes, b.n_neurons)
    assert one.stop_reason_ is other.stop_reason_
    for name in ("inner_weights", "biases", "outer_weights", "linear_weights", "intercept"):
        np.testing.assert_allclose(getattr(a, name), getattr(b, name), atol=atol, rtol=0)
    np.testing.assert_array_equal(a.input_range, b.input_range)


# The same network


def test_few_rows_give_the_very_network_of_memory(client):
    X, y = problem(600)
    wanted = GreedyNetRegressor(max_nodes=8).fit(X, y)
    got = fit(client, DaskGreedyNetRegressor(max_nodes=8), X, y, chunks=(0, 1, 399, 0, 200))
    assert_same_network(got, wanted, atol=0)


@pytest.mark.parametrize(
    ("n_workers", "parameters"),
    [(1, {"n_nodes": 8}), (2, {"max_nodes": 8}), (4, {"correct": False}), (4, {"n_nodes": 8})],
)
def test_many_rows_give_the_network_of_memory(small_samples, n_workers, parameters):
    X, y = problem()
    wanted = GreedyNetRegressor(**parameters).fit(X, y)
    with cluster_of(n_workers) as client:
        for chunks in (250, UNEVEN):
            got = fit(client, DaskGreedyNetRegressor(**parameters), X, y, chunks=chunks)
            assert_same_network(got, wanted)
            np.testing.assert_allclose(got.to_local().predict(X), wanted.predict(X), atol=1e-8)


def test_two_layers_of_many_rows(client, small_samples):
    """Rows are lifted on the workers: they send sums over ramps, never rows."""
    X, y = problem()
    wanted = GreedyNetRegressor(hidden_layers=2, max_nodes=30).fit(X, y)
    got = fit(client, DaskGreedyNetRegressor(hidden_layers=2, max_nodes=30), X, y, chunks=250)
    assert got.network_.ramps.n_hinges > 0
    np.testing.assert_array_equal(got.network_.ramps.knots, wanted.network_.ramps.knots)
    np.testing.assert_allclose(got.to_local().predict(X), wanted.predict(X), atol=1e-8)


def test_inputs_are_clipped_to_the_box_of_all_rows(client, small_samples):
    X, y = problem()
    model = fit(client, DaskGreedyNetRegressor(n_nodes=8), X, y)
    far = 3 * X
    near = np.clip(far, X.min(axis=0), X.max(axis=0))
    found = model.predict(on_dask(far, 500)).compute()
    np.testing.assert_array_equal(found, model.predict(on_dask(near, 500)).compute())
    free = fit(client, DaskGreedyNetRegressor(n_nodes=8, extrapolate=True), X, y)
    assert np.abs(free.predict(on_dask(far, 500)).compute() - found).max() > 0.1


@pytest.mark.parametrize("sampled", [False, True])
def test_weights_and_several_outputs(client, sampled, request):
    if sampled:
        request.getfixturevalue("small_samples")
    X, y = problem()
    Y = np.column_stack([y, X[:, 2] ** 2])
    weights = np.random.RandomState(3).choice([0.0, 1.0, 2.5], N)
    wanted = GreedyNetRegressor(n_nodes=7).fit(X, Y, weights)
    got = fit(client, DaskGreedyNetRegressor(n_nodes=7), X, Y, weights, chunks=UNEVEN)
    assert_same_network(got, wanted)
    assert got.predict(on_dask(X, 500)).shape == (N, 2)
    assert_same_intervals(got, wanted, X)
    score = got.score(*(on_dask(values, UNEVEN) for values in (X, Y, weights)))
    assert score == pytest.approx(wanted.score(X, Y, weights), abs=1e-9)


def assert_same_intervals(got, wanted, X):
    """Those of the local estimator with the same attributes, and nearly those of the other."""
    lazy, local = on_dask(X, UNEVEN), got.to_local()
    for ask in (
        lambda model, X: model.predict_interval(X, 0.8),
        lambda model, X: model.truncate(4).predict_interval(X),
        lambda model, X: model.predict(X, return_std=True),
    ):
        result, exactly = ask(got, lazy), ask(local, X)
        assert all(isinstance(part, da.Array) for part in result)
        np.testing.assert_allclose(dask.compute(*result), exactly, rtol=1e-12, atol=1e-12)
        np.testing.assert_allclose(exactly, ask(wanted, X), rtol=1e-4, atol=1e-4)
    found, expected = got.outside(10 * lazy), local.outside(10 * X)
    columns, distance = dask.compute(found.columns, found.distance)
    np.testing.assert_array_equal(columns, expected.columns)
    np.testing.assert_allclose(distance, expected.distance, rtol=1e-9)


@pytest.mark.parametrize("sampled", [False, True])
@pytest.mark.parametrize("n_classes", [2, 3])
def test_text_classes_and_class_weights(client, sampled, n_classes, request):
    if sampled:
        request.getfixturevalue("small_samples")
    X, y = problem()
    labels = np.array(["low", "middle", "top"])[np.digitize(y, [0.2, 1.0][: n_classes - 1])]
    weights = np.random.RandomState(3).choice([0.0, 1.0, 2.0], N)
    parameters = {"n_nodes": 6, "class_weight": "balanced"}
    wanted = GreedyNetClassifier(**parameters).fit(X, labels, weights)
    model = DaskGreedyNetClassifier(**parameters)
    got = fit(client, model, X, labels, weights, chunks=UNEVEN)
    assert got.classes_.tolist() == wanted.classes_.tolist()
    assert_same_network(got, wanted)
    inputs = on_dask(X, UNEVEN)
    sets = got.predict_set(inputs, 0.8)
    assert isinstance(sets, da.Array)
    np.testing.assert_array_equal(sets.compute(), got.to_local().predict_set(X, 0.8))
    for method in ("predict_proba", "predict_log_proba", "decision_function"):
        here = getattr(wanted, method)(X)
        there = getattr(got, method)(inputs)
        assert there.shape == here.shape
        np.testing.assert_allclose(there.compute(), here, atol=1e-8)
    np.testing.assert_array_equal(got.predict(inputs).compute(), wanted.predict(X))
    score = got.score(inputs, on_dask(labels, UNEVEN), on_dask(weights, UNEVEN))
    assert score == pytest.approx(wanted.score(X, labels, weights))


def test_data_frames_with_names_and_text(client):
    X, y = problem(600)
    frame = pd.DataFrame(X, columns=["a", "b", "c"])
    frame["y"], frame["kind"] = y, np.where(y > 0.5, "up", "down")
    table = dd.from_pandas(frame, npartitions=4)
    inputs = table[["a", "b", "c"]]

    model = fit(client, DaskGreedyNetRegressor(n_nodes=6), inputs, table["y"])
    wanted = GreedyNetRegressor(n_nodes=6).fit(frame[["a", "b", "c"]], y)
    assert_same_network(model, wanted, atol=0)
    assert model.feature_names_in_.tolist() == ["a", "b", "c"]
    np.testing.assert_allclose(
        model.predict(inputs).compute(), wanted.predict(frame[["a", "b", "c"]])
    )
    assert model.score(inputs, table["y"]) == pytest.approx(wanted.score(frame[["a", "b", "c"]], y))
    with pytest.raises(ValueError, match="feature names should match"):
        model.predict(table[["c", "b", "a"]])

    classes = fit(client, DaskGreedyNetClassifier(n_nodes=4), inputs, table["kind"])
    assert classes.classes_.tolist() == ["down", "up"]
    assert classes.score(inputs, table["kind"]) > 0.9
    assert set(classes.predict(inputs).compute()) == {"down", "up"}


def test_partitions_of_unknown_sizes(client):
    X, y = problem(600)
    keep = X[:, 2] < 0.3
    wanted = GreedyNetRegressor(n_nodes=6).fit(X[keep], y[keep])
    lazy, outputs = on_dask(X, 200), on_dask(y, 200)
    chosen = lazy[:, 2] < 0.3
    model = fit(client, DaskGreedyNetRegressor(n_nodes=6), lazy[chosen], outputs[chosen])
    assert_same_network(model, wanted, atol=0)
    np.testing.assert_allclose(model.predict(lazy[chosen]).compute(), wanted.predict(X[keep]))


@pytest.mark.parametrize("kind", ["numpy", "dask"])
def test_validation_data_are_brought_to_the_client(client, small_samples, kind):
    X, y = problem()
    X_val, y_val = problem(300, seed=1)
    wanted = GreedyNetRegressor(max_nodes=8).fit(X, y, X_val=X_val, y_val=y_val)
    given = {"X_val": X_val, "y_val": y_val}
    if kind == "dask":
        given = {name: on_dask(values, 100) for name, values in given.items()}
    got = fit(client, DaskGreedyNetRegressor(max_nodes=8), X, y, **given)
    assert_same_network(got, wanted)


def test_threads_of_a_worker_do_not_change_the_network(small_samples, client):
    X, y = problem()
    with cluster_of(1, threads=3) as wide:
        one = fit(wide, DaskGreedyNetRegressor(n_nodes=6), X, y)
    with cluster_of(1) as narrow:
        assert_same_network(fit(narrow, DaskGreedyNetRegressor(n_nodes=6), X, y), one, atol=0)


def test_float32_inputs(client, small_samples):
    X, y = problem()
    X = X.astype(np.float32)
    wanted = GreedyNetRegressor(n_nodes=6).fit(X, y)
    assert_same_network(fit(client, DaskGreedyNetRegressor(n_nodes=6), X, y), wanted, atol=1e-5)


@pytest.mark.slow
def test_an_activation_that_no_worker_can_import(process_client, small_samples):
    class Bent:
        name, degree = "bent", 1

        def value(self, z):
            return np.maximum(z, 0.2 * z)

        def slope(self, z):
            return np.where(z > 0, 1.0, 0.2)

    X, y = problem()
    wanted = GreedyNetRegressor(n_nodes=5, activation=Bent()).fit(X, y)
    got = fit(process_client, DaskGreedyNetRegressor(n_nodes=5, activation=Bent()), X, y)
    assert_same_network(got, wanted)


PROCESS = """
import sys
sys.path.insert(0, {tests!r})
from contextlib import nullcontext
import greedynet
from distributed import Client
from greedynet.dask import DaskGreedyNetRegressor
from killed import dying_in_write
from test_dask import fit, problem, sampled

with sampled(), {scope}, Client({address!r}, set_as_default=False) as client:
    with greedynet.checkpoint({checkpoint!r}):
        model = fit(client, DaskGreedyNetRegressor(n_nodes=8), *problem())
    model.save({out!r})
"""


@pytest.mark.slow
@pytest.mark.parametrize("numbers", [(3, 2), (9,)])
def test_the_process_of_the_client_is_killed(client, small_samples, tmp_path, numbers):
    file, out = tmp_path / "fit.checkpoint", tmp_path / "model.safetensors"
    places = {"tests": os.path.dirname(__file__), "checkpoint": str(file), "out": str(out)}
    for number in (*numbers, None):
        scope = f"dying_in_write({number})" if number else "nullcontext()"
        code = PROCESS.format(address=client.scheduler.address, scope=scope, **places)
        done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
        assert done.returncode == (-signal.SIGKILL if number else 0), done.stderr
        assert out.exists() == (not number)
    assert not file.exists()
    whole = fit(client, DaskGreedyNetRegressor(n_nodes=8), *problem())
    assert_same_network(greedynet.load(out), whole, atol=1e-10)
    wait_until_nothing_is_left(client)


# What a cluster sees


def test_task_names_and_nothing_left_behind(small_samples):
    X, y = problem()
    with cluster_of(2) as client:
        fit(client, DaskGreedyNetRegressor(n_nodes=5), X, y)
        names = client.run_on_scheduler(lambda dask_scheduler: set(dask_scheduler.task_prefixes))
        assert {"greedynet-partition", "greedynet-shard"} <= names
        wait_until_nothing_is_left(client)


def test_nothing_is_left_behind_of_partitions_that_were_waited_for(impatient):
    def slow(block):
        time.sleep(0.05)
        return block

    X, y = problem()
    with cluster_of(2) as client, no_garbage_collection():
        fit(
            client,
            DaskGreedyNetRegressor(n_nodes=5),
            on_dask(X, 500).map_blocks(slow, dtype=float),
            y,
        )
        wait_until_nothing_is_left(client)


@contextmanager
def no_garbage_collection():
    gc.disable()
    try:
        yield
    finally:
        gc.enable()


def wait_until_nothing_is_left(client):
    """The scheduler and the workers hear of the end of a fit after the client."""

    def tasks(dask_scheduler):
        return [key for key in map(str, dask_scheduler.tasks) if "greedynet" in key]

    def actors(dask_worker):
        return len(dask_worker.state.actors)

    while client.run_on_scheduler(tasks) or any(client.run(actors).values()):
        time.sleep(0.05)


def test_what_a_pass_returns_does_not_grow_with_the_rows(small_samples, monkeypatch):
    sizes = []
    real = Shard.total

    def total(self, preparation, work, starts):
        answer = real(self, preparation, work, starts)
        # The seconds are a number of eight bytes whatever they are.
        sizes.append((len(preparation), len(work), len(pickle.dumps(answer))))
        return answer

    monkeypatch.setattr(Shard, "total", total)
    per_fit = []
    for n in (1_000, 20_000):
        sizes.clear()
        X, y = problem(n)
        with cluster_of(1) as client:
            fit(client, DaskGreedyNetRegressor(n_nodes=6), X, y, chunks=n // 2)
        per_fit.append(max(sizes))
    few, many = np.array(per_fit)
    assert (np.abs(many - few) < 64).all()


def test_partitions_are_spread_and_stay_where_they_are():
    stay = ["a", "a", "b", "b"]
    assert assign([5, 5, 5, 5], stay, ["a", "b"]) == stay
    assert assign([5, 5, 5, 5], ["a"] * 4, ["a", "b"]).count("b") == 2
    assert assign([5, 0, 5], ["gone", None, "b"], ["a", "b"])[::2] == ["a", "b"]
    # What is held besides counts.
    assert assign([3, 3], [None, None], ["a", "b"], {"a": 6}) == ["b", "b"]


@pytest.mark.parametrize("seed", range(20))
def test_no_worker_has_much_more_than_its_share(seed):
    rng = np.random.RandomState(seed)
    workers = [f"w{i}" for i in range(rng.randint(1, 6))]
    rows = rng.randint(0, 100, rng.randint(1, 40)).tolist()
    holders = rng.choice([*workers, "gone"], len(rows)).tolist()
    targets = assign(rows, holders, workers)
    assert set(targets) <= set(workers)
    load = dict.fromkeys(workers, 0)
    for worker, n in zip(targets, rows, strict=True):
        load[worker] += n
    # No list of partitions can be cut finer than its largest one.
    assert max(load.values()) <= sum(rows) / len(workers) + max(rows)


# Estimators


@pytest.fixture(scope="module")
def fitted(client):
    return fit(client, DaskGreedyNetRegressor(n_nodes=5), *problem(600), chunks=200)


@pytest.mark.parametrize("off", [0.0, 1.0])
def test_score_on_constants_is_scikit_learns(client, off):
    X = problem(600)[0]
    model = fit(client, DaskGreedyNetRegressor(), X, np.full(600, 2.0), chunks=200)
    y = model.to_local().predict(X) + off
    np.testing.assert_array_equal(y, y[0])
    found = model.score(on_dask(X, 200), on_dask(y, 200))
    assert found == r2_score(y, y - off) == (0.0 if off else 1.0)


@pytest.mark.parametrize("factor", [1.0, 2.0**660, 2.0**-660])
def test_score_is_that_of_the_local_estimator_in_any_unit(client, factor):
    X, y = problem(600)
    model = fit(client, DaskGreedyNetRegressor(n_nodes=5), X, factor * y, chunks=200)
    found = model.score(on_dask(X, 200), on_dask(factor * y, 200))
    assert found == pytest.approx(model.to_local().score(X, factor * y), rel=1e-12)
    assert 0 < found < 1


def test_to_local_has_the_same_attributes(fitted):
    local = fitted.to_local()
    assert type(local) is GreedyNetRegressor
    assert local.get_params() == fitted.get_params()
    assert local.network_ is fitted.network_
    assert {k for k in vars(local) if k.endswith("_")} == {
        k for k in vars(fitted) if k.endswith("_") and k[0] != "_"
    }


def test_clone_and_pickle_leave_the_client_behind(fitted, client):
    assert fitted.client is client
    copy = pickle.loads(pickle.dumps(fitted))
    assert_same_network(copy, fitted, atol=0)
    for other in (copy, clone(fitted)):
        assert other.get_params() == fitted.get_params()
        with pytest.raises(ValueError, match=r"write `client = distributed.Client\(\)` first"):
            other.client  # noqa: B018
    assert "client" not in fitted.get_params()


def test_the_current_client_is_taken():
    X, y = problem(300)
    with cluster_of(1) as client, client.as_current():
        model = DaskGreedyNetRegressor(n_nodes=4).fit(on_dask(X, 100), on_dask(y, 100))
        assert model.client is client
    assert_same_network(model, GreedyNetRegressor(n_nodes=4).fit(X, y), atol=0)


def test_saved_and_loaded_as_the_local_one(fitted, tmp_path):
    fitted.save(tmp_path / "model.safetensors")
    loaded = greedynet.load(tmp_path / "model.safetensors")
    assert type(loaded) is GreedyNetRegressor
    assert_same_network(loaded, fitted, atol=0)


def test_predictions_are_lazy(fitted, monkeypatch):
    X, _ = problem(600)
    inputs = on_dask(X, (0, 100, 500))
    monkeypatch.setattr(dask.config, "config", {**dask.config.config, "scheduler": refuse})
    lazy = fitted.predict(inputs)
    assert isinstance(lazy, da.Array)
    assert (lazy.chunks, lazy.dtype, lazy.shape) == (((0, 100, 500),), np.float64, (600,))
    monkeypatch.undo()
    np.testing.assert_array_equal(lazy.compute(), fitted.to_local().predict(X))
    # The network is one node of the graph, whatever the number of blocks.
    graph = dict(fitted.predict(on_dask(X, 10)).__dask_graph__())
    assert sum(str(key).startswith("greedynet-network") for key in graph) == 1
    blocks = [v for k, v in graph.items() if str(k).startswith("('greedynet-predict")]
    assert len(blocks) == 60
    assert max(len(pickle.dumps(block)) for block in blocks) < len(pickle.dumps(fitted))


def refuse(*args, **kwargs):
    raise AssertionError("computed")


def test_plain_estimators_take_arrays_of_dask(fitted):
    X, y = problem(600)
    plain = GreedyNetRegressor(n_nodes=5).fit(on_dask(X, 200), on_dask(y, 200))
    assert_same_network(plain, fitted, atol=0)


# Mistakes


X_, Y_ = problem(600)
LAZY_X, LAZY_Y = da.from_array(X_, chunks=(200, 3)), da.from_array(Y_, chunks=200)
TABLE = dd.from_pandas(pd.DataFrame({"a": Y_, "b": ["x", "y"] * 300}), npartitions=3)
WORDS = LAZY_Y.astype(str).map_blocks(lambda y: y + "!")
GAPS = da.where(da.arange(600, chunks=200)[:, None] == 450, np.nan, LAZY_X)
NO_LABEL = da.from_array(np.array(["a", "b"] * 299 + [None, "a"], dtype=object), chunks=200)
BAG = need("dask.bag").from_sequence([1, 2])
# What is given, and what is said of it.
WRONG_KINDS = {
    r"`X` must be a dask Array .* got numpy.ndarray: .*": (X_, LAZY_Y),
    "`y` must be a dask Array or DataFrame": (LAZY_X, Y_),
    "`sample_weight` must be a dask Array": (LAZY_X, LAZY_Y, Y_),
    "or use GreedyNetRegressor": (pd.DataFrame(X_), LAZY_Y),
    "got a dask Bag": (BAG, LAZY_Y),
}
MISTAKES = {
    "`y` must be given": (LAZY_X, None),
    "`X` must have rows and columns, got 1 dim": (LAZY_Y, LAZY_Y),
    r"known number of columns, .*compute_chunk_sizes\(\)": (LAZY_X[:, (LAZY_X[0] > 0)], LAZY_Y),
    "got 600 and 500": (LAZY_X, LAZY_Y[:500]),
    "`y` must have as many partitions as `X`, 3, got 2": (
        LAZY_X,
        TABLE["a"].repartition(npartitions=2),
    ),
    "Every block must have the same number of rows of `X` and `y`, got .* in partition 0": (
        LAZY_X[LAZY_X[:, 0] > 0],
        LAZY_Y,
    ),
    r"other types in the columns \['b'\]": (TABLE, TABLE["a"]),
    "`X` must hold numbers, got <U": (LAZY_X.astype(str), LAZY_Y),
    "`y` must hold numbers, got .* in partition 0: for classes": (LAZY_X, WORDS),
    "1 or 2 dimensions, got 3": (LAZY_X, LAZY_X[:, :, None]),
    "`sample_weight` must have 1 dim": (LAZY_X, LAZY_Y, LAZY_X),
    "negative .* in partition 0": (LAZY_X, LAZY_Y, LAZY_Y * 0 - 1),
    "positive weight, got none": (LAZY_X, LAZY_Y, LAZY_Y * 0),
    "`X` must hold finite numbers only, got NaN or infinity in row 50 of partition 2": (
        GAPS,
        LAZY_Y,
    ),
    "must have rows": (LAZY_X[:0], LAZY_Y[:0]),
}
MISTAKES_OF_CLASSES = {
    "`y` must be one column of classes": (LAZY_X, LAZY_X),
    "at least two classes": (LAZY_X, da.ones(600, chunks=200)),
    "must have rows, got none": (LAZY_X[:0], LAZY_Y[:0]),
    r"`y` .* partition 2": (LAZY_X, NO_LABEL),
}


@pytest.mark.parametrize(
    ("kind", "error", "message", "given"),
    [
        *((DaskGreedyNetRegressor, TypeError, *case) for case in WRONG_KINDS.items()),
        *((DaskGreedyNetRegressor, ValueError, *case) for case in MISTAKES.items()),
        *((DaskGreedyNetClassifier, ValueError, *case) for case in MISTAKES_OF_CLASSES.items()),
    ],
)
def test_mistakes_are_named(client, kind, error, message, given):
    model = kind(n_nodes=4)
    model.client = client
    with pytest.raises(error, match=message):
        model.fit(*given)
    assert not hasattr(model, "network_")


def test_other_chunks_give_the_same_network(client):
    """Columns are put together, and outputs and weights divided as the inputs."""
    weights = da.ones(600, chunks=600)
    model = DaskGreedyNetRegressor(n_nodes=4)
    model.client = client
    wanted = model.fit(LAZY_X, LAZY_Y).network_
    columns = LAZY_X.rechunk({1: 2})
    found = model.fit(columns, LAZY_Y.rechunk(300), weights)
    np.testing.assert_array_equal(found.network_.predict(X_), wanted.predict(X_))
    np.testing.assert_array_equal(found.predict(columns).compute(), wanted.predict(X_))


def test_very_many_rows_with_a_rare_class(client):
    """A larger sample and one look at all rows; rows of the rare class from wherever they are."""
    X, y = problem()
    rare = (y > np.quantile(y, 0.98)).astype(int)
    with sampled(corrected=1_500, many=1_400, classified=600):
        wanted = GreedyNetRegressor(n_nodes=8).fit(X, y)
        found = fit(client, DaskGreedyNetRegressor(n_nodes=8), X, y, chunks=500)
        assert_same_network(found, wanted)
        wanted = GreedyNetClassifier(n_nodes=5).fit(X, rare)
        found = fit(client, DaskGreedyNetClassifier(n_nodes=5), X, rare, chunks=400).to_local()
    np.testing.assert_allclose(found.predict_proba(X), wanted.predict_proba(X), atol=1e-8)


def test_a_closed_client_says_so(client):
    model = DaskGreedyNetRegressor(n_nodes=5)
    with Client(client.scheduler.address, set_as_default=False) as closed:
        model.client = closed
    with pytest.raises(ValueError, match=r"`client` must be connected .* set another"):
        model.fit(LAZY_X, LAZY_Y)


def test_a_cluster_may_begin_without_workers():
    """One that starts them when there is something to do."""
    with cluster_of(0) as client:
        client.cluster.adapt(minimum=0, maximum=1, interval="50 ms")
        with dask.config.set({"greedynet.worker-timeout": "120 s"}):
            got = fit(client, DaskGreedyNetRegressor(n_nodes=5), *problem(), chunks=500)
    assert_same_network(got, GreedyNetRegressor(n_nodes=5).fit(*problem()))


def test_labels_that_are_equal_have_equal_checksums():
    """Whether or not they are the same objects in memory."""
    word = "".join(["wo", "rd"])
    once, twice = [word, word], ["".join(["wo", "rd"]), "".join(["wor", "d"])]
    found = [
        fingerprint((np.zeros((2, 1)), np.array(labels, dtype=object), None))
        for labels in (once, twice, ["word", "ward"])
    ]
    assert found[0] == found[1]
    assert found[0] != found[2]


def test_no_client_says_what_to_write():
    with pytest.raises(ValueError, match=r"needs a client of a dask cluster, but there is none"):
        DaskGreedyNetRegressor().fit(LAZY_X, LAZY_Y)
    with pytest.raises(TypeError, match=r"`client` must be a distributed.Client or None, got str"):
        DaskGreedyNetRegressor().client = "tcp://127.0.0.1:8786"


def test_predicting_arrays_in_memory_says_what_to_write(fitted):
    with pytest.raises(TypeError, match="or use GreedyNetRegressor"):
        fitted.predict(X_)
    with pytest.raises(ValueError, match="expecting 3 features"):
        fitted.predict(LAZY_X[:, :2])


def test_an_error_in_the_collection_names_the_partition(client):
    def broken(block, block_info=None):
        if block_info[0]["chunk-location"][0] == 1:
            raise ZeroDivisionError("no such luck")
        return block

    model, broken_X = DaskGreedyNetRegressor(n_nodes=4), LAZY_X.map_blocks(broken, dtype=float)
    with pytest.raises(ZeroDivisionError, match="no such luck") as caught:
        fit(client, model, broken_X, LAZY_Y)
    assert "partition 1" in "".join(caught.value.__notes__)


def test_dask_that_is_missing_says_what_to_install():
    code = "import sys; sys.modules['distributed'] = None; import greedynet.dask"
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert 'pip install "greedynet[dask]"' in run.stderr


# Workers that come and go


class Meddling:
    """Does something in the middle of a chosen pass, after its questions have been sent."""

    def __init__(self, monkeypatch, at, act):
        self.passes, self.done = 0, False
        real_ask, real_called = Shards.ask, Shards._called

        def ask(shards, what):
            self.passes += 1
            return real_ask(shards, what)

        def called(shards, shard, what):
            future = real_called(shards, shard, what)
            if not self.done and self.passes > at:
                self.done = True
                act(shard)
            return future

        monkeypatch.setattr(Shards, "ask", ask)
        monkeypatch.setattr(Shards, "_called", called)


@pytest.fixture(scope="module")
def wanted_after_faults():
    with sampled():
        return GreedyNetRegressor(n_nodes=8).fit(*problem())


def survive(client, monkeypatch, wanted, at, act):
    """Fit while something happens to the workers, and compare."""
    meddling = Meddling(monkeypatch, at, act)
    got = fit(client, DaskGreedyNetRegressor(n_nodes=8), *problem(), chunks=200)
    monkeypatch.undo()
    assert meddling.done
    assert_same_network(got, wanted)


def killer(client):
    """Return what ends the process of a shard's worker, the hard way."""
    pids = client.run(os.getpid)

    def kill(shard):
        os.kill(pids[shard.worker], signal.SIGKILL)

    return kill


@pytest.mark.parametrize(
    "at", [0, *(pytest.param(at, marks=pytest.mark.slow) for at in range(1, 7))]
)
def test_a_worker_is_killed_at_any_pass(
    process_client, small_samples, monkeypatch, wanted_after_faults, at
):
    kill = killer(process_client)
    survive(process_client, monkeypatch, wanted_after_faults, at, kill)


@pytest.mark.slow
def test_all_workers_are_killed_at_once(
    process_client, small_samples, monkeypatch, wanted_after_faults
):
    pids = process_client.run(os.getpid).values()

    def kill_all(_):
        for pid in pids:
            os.kill(pid, signal.SIGKILL)
        # dask does not always start a worker again that was killed.
        process_client.cluster.scale(3)

    survive(process_client, monkeypatch, wanted_after_faults, 2, kill_all)


@pytest.mark.slow
def test_a_worker_hangs(small_samples, monkeypatch, wanted_after_faults):
    """One that is stopped closes no connection: that it is silent is for the scheduler to see."""
    stopped = []

    def stop(shard):
        (pid,) = client.run(os.getpid, workers=[shard.worker]).values()
        stopped.append(psutil.Process(pid))
        stopped[0].suspend()

    settings = {
        "distributed.scheduler.worker-ttl": "5 s",
        # A worker is silent while it imports: let it be ready before it is listened to.
        "distributed.worker.preload": ["greedynet.dask.shard"],
    }
    with dask.config.set(settings), cluster_of(2, processes=True) as client:
        try:
            survive(client, monkeypatch, wanted_after_faults, 2, stop)
        finally:
            for process in stopped:
                with suppress(psutil.NoSuchProcess):
                    process.kill()


@pytest.mark.slow
def test_a_worker_is_killed_while_partitions_are_placed(
    process_client, small_samples, monkeypatch, wanted_after_faults
):
    pids = process_client.run(os.getpid)
    real = Shards._targets
    killed = []

    def targets(shards, numbers, futures):
        found = real(shards, numbers, futures)
        if not killed:
            killed.append(found[numbers[0]])
            os.kill(pids[killed[0]], signal.SIGKILL)
        return found

    monkeypatch.setattr(Shards, "_targets", targets)
    got = fit(process_client, DaskGreedyNetRegressor(n_nodes=8), *problem(), chunks=200)
    assert killed
    assert_same_network(got, wanted_after_faults)


def close(client, shard):
    """End a worker without the goodbye in which it hands on what it has."""
    workers = client.cluster.workers.values()
    (worker,) = [worker for worker in workers if worker.address == shard.worker]
    client.cluster.sync(worker.close, executor_wait=False, nanny=False)


@pytest.mark.parametrize("at", [0, 3])
def test_a_worker_leaves(small_samples, monkeypatch, wanted_after_faults, at):
    with cluster_of(3) as client:
        survive(client, monkeypatch, wanted_after_faults, at, lambda shard: close(client, shard))


def test_a_worker_joins_and_gets_its_share(small_samples, monkeypatch, wanted_after_faults):
    with cluster_of(1) as client:

        def join(_):
            client.cluster.scale(2)
            client.wait_for_workers(2)

        held = []
        real = Shard.total

        def total(self, *asked):
            held.append(len(self._raws))
            return real(self, *asked)

        monkeypatch.setattr(Shard, "total", total)
        meddling = Meddling(monkeypatch, 2, join)
        got = fit(client, DaskGreedyNetRegressor(n_nodes=8), *problem(), chunks=200)
        monkeypatch.undo()
    assert meddling.done
    assert_same_network(got, wanted_after_faults)
    assert held[0] == 10
    assert held[-2:] == [5, 5]


def test_scattered_data_that_are_lost_say_so(small_samples, monkeypatch):
    X, y = problem()
    with cluster_of(1) as client:
        pieces = client.scatter([X[:1_000], X[1_000:]])
        blocks = [da.from_delayed(dask.delayed(piece), (1_000, 3), float) for piece in pieces]

        def replace(shard):
            # By a worker that joins too late to have got a copy of anything.
            client.cluster.scale(2)
            client.wait_for_workers(2)
            close(client, shard)

        Meddling(monkeypatch, 2, replace)
        model, lost = DaskGreedyNetRegressor(n_nodes=5), da.concatenate(blocks)
        with pytest.raises(ClusterError, match=r"Partition \d .* cannot be recomputed"):
            fit(client, model, lost, y, chunks=1_000)


def test_partitions_that_come_out_different_are_refused(small_samples, monkeypatch):
    """A collection that draws anew whenever it is computed has no rows to fit."""
    X, y = problem()

    def noisy(block):
        return block + 1e-6 * np.random.default_rng().normal(size=block.shape)

    with cluster_of(2) as client:
        model, drawn = (
            DaskGreedyNetRegressor(n_nodes=5),
            on_dask(X, 500).map_blocks(noisy, dtype=float),
        )
        Meddling(monkeypatch, 1, lambda shard: close(client, shard))
        with pytest.raises(ClusterError, match="was recomputed with a different result"):
            fit(client, model, drawn, y)


def test_a_pass_may_take_longer_than_the_patience(client, impatient, monkeypatch):
    """A worker that does not answer for a while is looked for, found, and waited for."""
    real = Shard.total

    def slow(self, *asked):
        time.sleep(0.05)
        return real(self, *asked)

    monkeypatch.setattr(Shard, "total", slow)
    wanted = GreedyNetRegressor(n_nodes=5).fit(*problem())
    assert_same_network(fit(client, DaskGreedyNetRegressor(n_nodes=5), *problem()), wanted)


def test_a_scheduler_may_take_longer_than_the_patience(impatient):
    """dask breaks its client where the time is over while it fetches a result."""
    wanted = GreedyNetRegressor(n_nodes=5).fit(*problem())
    with cluster_of(2) as client:
        handlers = client.cluster.scheduler.handlers
        gather = handlers["gather"]

        async def slow(*given, **named):
            await asyncio.sleep(0.1)
            return await gather(*given, **named)

        handlers["gather"] = slow
        assert_same_network(fit(client, DaskGreedyNetRegressor(n_nodes=5), *problem()), wanted)


def test_an_answer_that_comes_when_the_time_is_over_is_taken(client):
    class Late:
        come = False

        def done(self):
            return self.come

        def result(self, timeout=None):
            if self.come:
                return 7
            self.come = True
            raise TimeoutError

    worker, *_ = client.nthreads()
    shard = PlacedShard(worker, (0,), SimpleNamespace(status="finished"), None)
    assert Waiting(client, check_every=1.0).answer(shard, Late()) == 7


def test_rows_that_vanish_are_noticed(client, small_samples, monkeypatch):
    real = Shard._rows
    passes = []

    def rows(self, preparation):
        passes.append(1)
        found = real(self, preparation)
        if len(passes) > 6:
            number = max(found)
            found = {**found, number: found[number].take(np.arange(100))}
        return found

    monkeypatch.setattr(Shard, "_rows", rows)
    with pytest.raises(ValueError, match=r"500 in partition \d the first time, got 100 now"):
        fit(client, DaskGreedyNetRegressor(n_nodes=6), *problem())


def test_a_partition_that_is_summed_twice_is_noticed(client, small_samples, monkeypatch):
    real = Shards.ask
    monkeypatch.setattr(Shards, "ask", lambda *given: real(*given) * 2)
    with pytest.raises(RuntimeError, match="must be summed exactly once"):
        fit(client, DaskGreedyNetRegressor(n_nodes=6), *problem())


def test_no_workers_at_all():
    with (
        cluster_of(0) as client,
        dask.config.set({"greedynet.worker-timeout": "200 ms"}),
        pytest.raises(ClusterError, match=r"no worker for 0.2 seconds: start workers"),
    ):
        fit(client, DaskGreedyNetRegressor(n_nodes=4), *problem(300), chunks=100)


@pytest.mark.parametrize("kind", [DaskGreedyNetRegressor, DaskGreedyNetClassifier])
def test_groups_need_all_rows_in_memory(kind):
    X = da.ones((10, 2), chunks=(5, 2))
    with pytest.raises(ValueError, match=r"`groups` needs all rows in memory.* as `X_val`"):
        kind().fit(X, X[:, 0], groups=[0] * 10)


# Files


@pytest.mark.parametrize("where", ["all.parquet", "parts"])
def test_parquet_files_are_read_by_the_workers(client, small_samples, tmp_path, where):
    rng = np.random.default_rng(0)
    X, weights = rng.normal(size=(900, 2)), rng.uniform(1, 2, 900)
    frame = pd.DataFrame({"a": X[:, 0], "b": X[:, 1], "flag": X[:, 0] > 0, "w": weights})
    frame["t"] = np.abs(X[:, 0]) + X[:, 1] * frame["flag"] + rng.normal(size=900)
    frame.to_parquet(tmp_path / "all.parquet", row_group_size=250)
    frame.assign(side=np.arange(900) // 450).to_parquet(tmp_path / "parts", partition_cols=["side"])
    model = DaskGreedyNetRegressor(n_nodes=5, correct=False)
    model.client = client
    local = GreedyNetRegressor(n_nodes=5, correct=False)
    for arguments in (("t", "w"), (["t", "b"],)):
        model.fit(tmp_path / where, *arguments)
        local.fit(tmp_path / where, *arguments)
        assert list(model.feature_names_in_) == list(local.feature_names_in_)
        np.testing.assert_allclose(
            model.network_.outer_weights, local.network_.outer_weights, rtol=1e-6, atol=1e-9
        )
    with pytest.raises(ValueError, match=r"must be columns of .* got \['z'\]"):
        model.fit(tmp_path / where, "z")


@pytest.mark.slow
def test_missing_values_are_learned_as_in_memory(client):
    X, y = problem()
    gaps = np.random.RandomState(1).rand(*X.shape) < [0.2, 0.2, 0.0]
    y[gaps[:, 0]] += 2.0
    X[gaps] = np.nan
    with sampled():
        model = DaskGreedyNetRegressor(n_nodes=5, missing="learn")
        model.client = client
        model.fit(on_dask(X, UNEVEN), on_dask(y, UNEVEN))
        local = GreedyNetRegressor(n_nodes=5, missing="learn")
        local.fit([(X[:1200], y[:1200]), (X[1200:], y[1200:])])
    assert model.filling_.indicated.tolist() == [True, False, False]
    inputs = on_dask(X, UNEVEN)
    np.testing.assert_allclose(model.predict(inputs).compute(), local.predict(X), rtol=1e-8)
    found, wanted = model.predict_interval(inputs), local.predict_interval(X)
    np.testing.assert_allclose([end.compute() for end in found], wanted, rtol=1e-8)
    assert model.outside(inputs).columns.compute().shape == (N, 4)


class OfScheduler:
    """A client, as far as the loss of its scheduler is concerned."""

    class scheduler:  # noqa: N801
        address = "tcp://10.0.0.1:8786"

    def __init__(self, status):
        self.status = status


def test_the_loss_of_a_scheduler_is_named():
    lost = r"The scheduler of `client` at tcp://10.0.0.1:8786 was lost.*`checkpoint`"
    for status, error in (
        ("running", CommClosedError("in <TCP (closed)>")),
        ("connecting", OSError("whatever")),
        ("closed", RuntimeError("Client is closed")),
        ("running", OSError("Timed out trying to connect to tcp://10.0.0.1:8786 after 60 s")),
    ):
        with pytest.raises(ClusterError, match=lost), explain_lost_scheduler(OfScheduler(status)):
            raise error
    with (
        pytest.raises(FileNotFoundError, match="rows"),
        explain_lost_scheduler(OfScheduler("running")),
    ):
        raise FileNotFoundError("rows.parquet")
