"""Threads: an interrupt ends what they do."""

import signal
import threading
import time

import numpy as np
import pytest

from greedynet import GreedyNetRegressor
from greedynet.correction import variable_projection as correct
from greedynet.fitting import growth as greedy
from greedynet.support.threads import AbandonedError, deterministic_threads, go_on
from problems import noisy


def interrupt():
    """Press Ctrl-C."""
    signal.pthread_kill(threading.main_thread().ident, signal.SIGINT)


def test_without_threads_work_goes_on():
    go_on()
    with deterministic_threads(1) as pool:
        assert pool.map(lambda i: go_on() or i, range(3)) == [0, 1, 2]
    with deterministic_threads(2) as pool:
        assert pool.map(lambda i: go_on() or i, range(3)) == [0, 1, 2]


def test_an_interrupt_ends_what_threads_do():
    ends, both = [], threading.Barrier(2)

    def long_work(number):
        if both.wait() == 0:
            interrupt()
        try:
            until = time.monotonic() + 60  # so that a failing test ends
            while time.monotonic() < until:
                go_on()
                time.sleep(1e-3)
            ends.append("done")
        except AbandonedError:
            ends.append("abandoned")
            raise

    with pytest.raises(KeyboardInterrupt, match=r"^$"), deterministic_threads(2) as pool:
        pool.map(long_work, range(2))
    assert ends == ["abandoned"] * 2


@pytest.mark.parametrize("at", ["propose", "step"])
def test_networks_that_grow_at_once_are_interrupted(monkeypatch, at):
    """Between two neurons, and between two steps of a correction."""
    module = {"propose": greedy, "step": correct}[at]
    real, asked, late = module.go_on, [], []

    def interrupted():
        asked.append(1)
        if len(asked) == 5:
            interrupt()
            until = time.monotonic() + 60  # so that a failing test ends
            while time.monotonic() < until:
                real()  # goes on until the main thread has heard of it
                time.sleep(1e-3)
            late.append(1)
        real()

    monkeypatch.setattr(module, "go_on", interrupted)
    monkeypatch.setattr("greedynet.fitting.problem.MIN_ROWS_TOGETHER", 0)
    X, y = noisy(600, 3, noise=0.5)
    model = GreedyNetRegressor(n_nodes=40, n_jobs=2)
    with pytest.raises(KeyboardInterrupt, match=r"^$"):
        model.fit(X, y)
    assert len(asked) >= 5
    assert not late
    assert not hasattr(model, "network_")
    monkeypatch.undo()
    assert np.isfinite(model.fit(X, y).predict(X)).all()
