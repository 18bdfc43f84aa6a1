"""Threads: an interrupt ends what they do, and a fit in any of them is the same."""

import functools
import operator
import signal
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
import threadpoolctl

import scopes
from greedynet import GreedyNetRegressor
from greedynet.support.context import FitCancelledError, FitContext
from greedynet.support.threads import Pool, deterministic_threads, parts_of
from problems import noisy


def interrupt():
    """Press Ctrl-C."""
    signal.pthread_kill(threading.main_thread().ident, signal.SIGINT)


def context_of(pool):
    return FitContext(pool, cancelled=pool.cancelled)


def test_without_threads_work_goes_on():
    FitContext().check()
    for n_threads in (1, 2):
        with deterministic_threads(n_threads) as pool:
            check = context_of(pool).check
            assert pool.map(lambda i, check=check: check() or i, range(3)) == [0, 1, 2]


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


@pytest.mark.parametrize("n", [1, 1_023, 2_048, 5_000])
def test_parts_cover_the_rows(n):
    parts = parts_of(n)
    assert np.concatenate([np.arange(n)[part] for part in parts]).tolist() == list(range(n))
    assert len(parts) == min(max(1, n // 1_024), 4)


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


def test_a_network_and_its_trial_at_once_change_no_bit():
    """With a requested number of nodes, a fold tells the expected error meanwhile."""
    rng = np.random.default_rng(0)
    X = rng.uniform(-1, 1, (2_500, 3))
    y = np.sin(4 * X[:, 0] * X[:, 1]) + np.abs(X[:, 2]) + 0.1 * rng.standard_normal(2_500)
    one, two = (GreedyNetRegressor(n_nodes=20, n_jobs=n).fit(X, y) for n in (1, 2))
    np.testing.assert_array_equal(one.predict(X), two.predict(X))
    assert one.expected_error_ == two.expected_error_


@pytest.mark.parametrize(
    ("n_rows", "max_nodes", "noise"),
    [(4_500, 24, 0.1), pytest.param(40_000, 60, 0.5, marks=pytest.mark.slow)],
)
def test_threads_within_one_network_change_no_bit(n_rows, max_nodes, noise):
    """One fold has all threads; of 40,000 rows, two networks are corrected at once."""
    rng = np.random.default_rng(0)
    X = rng.uniform(-1, 1, (n_rows, 4))
    y = np.sin(4 * X[:, 0] * X[:, 1]) + np.abs(X[:, 2]) + noise * rng.standard_normal(n_rows)
    one, two = (GreedyNetRegressor(max_nodes=max_nodes, n_jobs=n).fit(X, y) for n in (1, 2))
    np.testing.assert_array_equal(one.predict(X), two.predict(X))
    assert one.expected_error_ == two.expected_error_
