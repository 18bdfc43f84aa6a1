"""Threads and progress: the same bits, interrupts that end them, listeners that hear."""

import functools
import io
import operator
import pickle
import re
import signal
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
import threadpoolctl
from sklearn.base import clone

import scopes
from greedynet import GreedyNetClassifier, GreedyNetRegressor, fit_table
from greedynet.cli import progress
from greedynet.support.context import Clock, FitCancelledError, FitContext
from greedynet.support.threads import Pool, deterministic_threads, parts_of
from problems import noisy

# Threads: an interrupt ends what they do, and a fit in any of them is the same


def interrupt():
    """Press Ctrl-C."""
    signal.pthread_kill(threading.main_thread().ident, signal.SIGINT)


def context_of(pool):
    return FitContext(pool, cancelled=pool.cancelled)


def test_an_interrupt_ends_what_threads_do():
    ends, both = [], threading.Barrier(2)

    def long_work(context):
        if both.wait() == 0:
            interrupt()
        try:
            until = time.monotonic() + 60  # so that a failing test ends
            while time.monotonic() < until:
                context.check()
                time.sleep(1e-3)
            ends.append("done")
        except FitCancelledError:
            ends.append("cancelled")
            raise

    with pytest.raises(KeyboardInterrupt, match=r"^$"), deterministic_threads(2) as pool:
        pool.map(long_work, [context_of(pool)] * 2)
    # An interrupt while the second thread is being started leaves it out of those waited for.
    until = time.monotonic() + 30
    while len(ends) < 2 and time.monotonic() < until:
        time.sleep(1e-3)
    assert ends == ["cancelled"] * 2


def caller():
    """The name of the function that asks."""
    return sys._getframe(2).f_code.co_name


@pytest.mark.parametrize("at", ["grow", "settle"])
def test_networks_that_grow_at_once_are_interrupted(monkeypatch, at):
    """Between two neurons, and between two steps of a correction."""
    real, asked, late = FitContext.check, [], []

    def interrupted(context):
        if caller() != at:
            return real(context)
        asked.append(1)
        if len(asked) == 5:
            interrupt()
            until = time.monotonic() + 60  # so that a failing test ends
            while time.monotonic() < until:
                real(context)  # goes on until the main thread has heard of it
                time.sleep(1e-3)
            late.append(1)
        return real(context)

    monkeypatch.setattr(FitContext, "check", interrupted)
    X, y = noisy(600, 3, noise=0.5)
    model = GreedyNetRegressor(n_nodes=40, n_jobs=2)
    # Two folds at once.
    with scopes.parallel_folds(2):
        with pytest.raises(KeyboardInterrupt, match=r"^$"):
            model.fit(X, y)
        assert len(asked) >= 5
        assert not late
        assert not hasattr(model, "network_")
        monkeypatch.undo()
        assert np.isfinite(model.fit(X, y).predict(X)).all()


def blas_threads():
    """Number of threads of each BLAS library."""
    found = threadpoolctl.ThreadpoolController().select(user_api="blas")
    return [library.num_threads for library in found.lib_controllers]


def in_thread(work):
    """Start a thread; return a function that waits for its result."""
    with ThreadPoolExecutor(1) as executor:
        return executor.submit(work).result


@pytest.fixture
def two_blas_threads():
    """BLAS on two threads, even on one core."""
    with threadpoolctl.threadpool_limits(2, user_api="blas"):
        if blas_threads() and set(blas_threads()) != {2}:
            pytest.skip("BLAS has no threads here")
        yield


def test_blas_has_one_thread_in_whichever_thread_a_fit_runs(two_blas_threads):
    """One after another: OpenBLAS would obey only the first thread that sets its limit."""
    before = blas_threads()

    def inside():
        with deterministic_threads(1):
            return blas_threads()

    for run in (inside, in_thread(inside), inside, in_thread(inside)):
        assert set(run()) == {1}
        assert blas_threads() == before


@pytest.mark.parametrize("main_ends_first", [True, False])
def test_blas_limits_are_restored_in_whatever_order_fits_end(two_blas_threads, main_ends_first):
    before, begun, may_end = blas_threads(), threading.Event(), threading.Event()

    def fit_in_thread():
        with deterministic_threads(1):
            begun.set()
            assert may_end.wait(60)
            return blas_threads()

    with ThreadPoolExecutor(1) as executor:
        if main_ends_first:
            with deterministic_threads(1):
                other = executor.submit(fit_in_thread)
                assert begun.wait(60)
            assert set(blas_threads()) == {1}
            may_end.set()
            assert set(other.result()) == {1}
        else:
            other = executor.submit(fit_in_thread)
            assert begun.wait(60)
            with deterministic_threads(1):
                may_end.set()
                assert set(other.result()) == {1}
                assert set(blas_threads()) == {1}
    assert blas_threads() == before


def test_an_earlier_threadpoolctl_lets_any_thread_set_limits(monkeypatch):
    """Releases before 3.7 have no controlling thread to clear."""
    monkeypatch.delattr(threadpoolctl.OpenBLASController, "clear_controlling_thread", raising=False)
    with deterministic_threads(1):
        assert set(blas_threads()) <= {1}


@pytest.mark.all_folds
def test_fits_in_several_threads_are_the_same(two_blas_threads):
    """Bit for bit, at once and one after another."""
    X, y = noisy(600, 8, noise=0.5)

    def fitted():
        return GreedyNetRegressor(n_nodes=12, n_jobs=1).fit(X, y).predict(X)

    expected = fitted()
    alone = in_thread(fitted)()
    with ThreadPoolExecutor(3) as executor:
        at_once = list(executor.map(lambda _: fitted(), range(3)))
    for found in (alone, *at_once):
        np.testing.assert_array_equal(found, expected)


@pytest.mark.parametrize("step", [1, 512, 1_024, 3_072])
@pytest.mark.parametrize("n", [1, 1_500, 5_000, 20_000])
def test_parts_begin_at_multiples_of_the_step(n, step):
    parts = parts_of(n, step)
    assert np.concatenate([np.arange(n)[part] for part in parts]).tolist() == list(range(n))
    assert all(part.start % step == 0 for part in parts)
    assert all(part.stop - part.start >= 1_024 for part in parts[:-1])


def test_sums_over_parts_are_added_in_their_order():
    """The first part ends last; additions in another order would have other bits."""
    values = np.random.default_rng(0).standard_normal(5_000)
    parts = parts_of(len(values))

    def sums(part):
        time.sleep(0.02 * (part.start == 0))
        return values[part].sum(), np.array([values[part].size])

    alone, threads = Pool().sums(sums, parts), Pool(3).sums(sums, parts)
    assert threads[0] == alone[0] == functools.reduce(operator.add, [sums(p)[0] for p in parts])
    assert threads[1] == [5_000]


@pytest.mark.parametrize(
    ("n_rows", "nodes", "noise"),
    [
        (2_500, {"n_nodes": 20}, 0.1),  # a fold tells the expected error meanwhile
        (4_500, {"max_nodes": 24}, 0.1),  # one fold has all threads
        # Two networks are corrected at once.
        pytest.param(40_000, {"max_nodes": 60}, 0.5, marks=pytest.mark.slow),
    ],
)
def test_threads_within_one_network_change_no_bit(n_rows, nodes, noise):
    rng = np.random.default_rng(0)
    X = rng.uniform(-1, 1, (n_rows, 4))
    y = np.sin(4 * X[:, 0] * X[:, 1]) + np.abs(X[:, 2]) + noise * rng.standard_normal(n_rows)
    one, two = (GreedyNetRegressor(**nodes, n_jobs=n).fit(X, y) for n in (1, 2))
    np.testing.assert_array_equal(one.predict(X), two.predict(X))
    assert one.expected_error_ == two.expected_error_


# Progress: what a fit says it is doing, to whom, and that it changes nothing


def told(model, X, y):
    heard = []
    model.set_progress(on_stage=heard.append).fit(X, y)
    model.set_progress()
    return heard


def test_nobody_has_to_listen():
    FitContext().tell("nothing")
    heard = []
    context = FitContext(listener=heard.append)
    context.tell("one")
    FitContext().tell("two")
    # Parts of a fit are heard like the whole.
    context.single_threaded().tell("three")
    assert heard == ["one", "three"]


@pytest.mark.all_folds
def test_fits_in_several_threads_are_heard_each_by_its_own():
    X, y = noisy(n_rows=100, noise=0.3)
    widths = [6, 8, 10, 12]

    def fit(max_nodes):
        return told(GreedyNetRegressor(max_nodes=max_nodes), X, y)

    with ThreadPoolExecutor(4) as others:
        found = list(others.map(fit, widths))
    assert found == [fit(max_nodes) for max_nodes in widths]
    assert len({tuple(stages) for stages in found}) == len(widths)


@pytest.mark.parametrize("make", [GreedyNetRegressor, GreedyNetClassifier])
def test_what_listens_is_no_part_of_the_model(make):
    X, y = noisy(n_rows=60)
    y = y if make is GreedyNetRegressor else (y > 0).astype(int)
    widths, stages = [], []
    model = make(n_nodes=5)
    listening = model.set_progress(lambda n_nodes, error: widths.append(n_nodes), stages.append)
    assert listening is model
    assert model.get_params() == make(n_nodes=5).get_params()
    model.fit(X, y)
    assert widths[-1] == 5
    n_told = len(widths)
    assert n_told == len(model.ladder_)  # once for each candidate
    # Neither clones nor copies tell anybody; a function without a name cannot be pickled.
    n_stages = len(stages)
    for other in (clone(model), pickle.loads(pickle.dumps(model))):
        np.testing.assert_array_equal(other.fit(X, y).predict(X), model.predict(X))
    assert (len(widths), len(stages)) == (n_told, n_stages)
    model.set_progress().fit(X, y)
    assert (len(widths), len(stages)) == (n_told, n_stages)


@pytest.mark.parametrize(
    ("parameters", "wanted"),
    [
        ({"max_nodes": 12}, ["network of 6 neurons on 1 fold"]),
        ({"n_nodes": 12}, ["network of 10 neurons on 1 fold"]),
        ({"max_nodes": 8, "loss": "huber"}, ["network of 1 neuron on 1 fold"]),
        ({"max_nodes": 12, "cv": 3}, ["network of 4 neurons on 3 folds"]),
    ],
)
def test_what_takes_long_is_told(parameters, wanted):
    X, y = noisy(n_rows=150, noise=0.3)
    heard = told(GreedyNetRegressor(**parameters), X, y)
    assert heard[:2] == [heard[0], heard[0].replace("mean", "line")]
    for pattern in (*wanted, r".*correcting \d+ neurons on all rows"):
        assert any(re.fullmatch(pattern, stage) for stage in heard), heard


def test_a_classifier_tells_of_its_candidates():
    X, y = noisy(n_rows=80)
    model = GreedyNetClassifier(max_nodes=6)
    heard = told(model, X, y > 0)
    assert heard[0].startswith("class shares on ")
    assert any(stage.startswith("network of 4 neurons on ") for stage in heard)
    assert len(heard) >= len(model.ladder_)


def test_tables_pass_it_on():
    X, y = noisy(n_rows=80)
    heard = []
    model = fit_table({"u": X[:, 0], "v": X[:, 1], "y": y}, "y", max_nodes=8, on_stage=heard.append)
    assert any(re.fullmatch(r"correcting \d+ neurons on all rows", stage) for stage in heard)
    # Nobody listens any more.
    n_stages = len(heard)
    model.estimator.fit(X, y)
    assert len(heard) == n_stages
    assert model.estimator._on_stage is None
    assert model.estimator._on_neuron is None


def test_parts_of_the_time():
    clock = Clock.of(1_000)
    half = clock.until(0.5)
    assert half.end - time.monotonic() == pytest.approx(500, abs=1)
    assert half.until(0.1).end - time.monotonic() == pytest.approx(50, abs=1)
    assert not half.is_over()
    assert not half.is_over(400)
    assert not clock.ran_out.is_set()
    assert half.is_over(600)
    assert clock.ran_out.is_set(), "all parts share it"
    free = Clock.of(None)
    assert free.until(0.1) is free
    assert not free.is_over(1e300)


# What a command shows of it


def test_lines_where_there_is_no_terminal(monkeypatch):
    two_lines = threading.Event()

    class Lines(io.StringIO):
        def flush(self):
            if self.getvalue().count("\n") > 1:
                two_lines.set()

    monkeypatch.setattr(sys, "stderr", lines := Lines())
    with progress.reporter(progress.Pace(0.01, 0.01, lambda: 3.0)) as report:
        report(12, 0.25)
        assert two_lines.wait(timeout=60)
    assert lines.getvalue().splitlines()[-1] == "greedynet: 12 nodes, error 0.25, 0 s"


def test_silence_where_it_is_quick(capsys):
    with progress.reporter() as report:
        report(12, 0.25)
    assert capsys.readouterr().err == ""


def test_a_bar_on_a_terminal(monkeypatch):
    class Terminal(io.StringIO):
        def isatty(self):
            return True

    terminal = Terminal()
    monkeypatch.setattr(sys, "stderr", terminal)
    monkeypatch.setenv("TERM", "xterm")
    with progress.reporter() as report:
        report(12, 0.25)
    assert "12 nodes, error 0.25" in terminal.getvalue()
