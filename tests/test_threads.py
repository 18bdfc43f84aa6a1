"""Threads: an interrupt ends what they do."""

import signal
import sys
import threading
import time

import numpy as np
import pytest

from greedynet import GreedyNetRegressor
from greedynet.estimators.settings import EstimatorSettings, settings_context
from greedynet.fitting.settings import FitSettings
from greedynet.support.context import FitCancelledError, FitContext
from greedynet.support.threads import deterministic_threads
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
    with settings_context(EstimatorSettings(fit=FitSettings(min_rows_parallel=0))):
        with pytest.raises(KeyboardInterrupt, match=r"^$"):
            model.fit(X, y)
        assert len(asked) >= 5
        assert not late
        assert not hasattr(model, "network_")
        monkeypatch.undo()
        assert np.isfinite(model.fit(X, y).predict(X)).all()
