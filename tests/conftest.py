"""What all tests share: their order, one thread each, and Ctrl-C."""

import signal

import pytest
from threadpoolctl import threadpool_limits

import scopes

# Shells start what runs in the background with interrupts ignored, and some tests send them.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)


def pytest_collection_modifyitems(items):
    """Put the slow tests first, where they run at all: last, one worker would wait for another."""
    items.sort(key=lambda item: item.get_closest_marker("slow") is None)


@pytest.fixture(scope="session", autouse=True)
def one_thread():
    """As in a fit, for BLAS and OpenMP: small products on several take many times as long."""
    with threadpool_limits(1):
        yield


@pytest.fixture(scope="session", autouse=True)
def few_folds():
    """Save time."""
    with scopes.few_folds():
        yield


@pytest.fixture(autouse=True)
def all_folds(request):
    """Choose as by default in tests of the choice itself, which are marked `all_folds`."""
    if request.node.get_closest_marker("all_folds") is None:
        yield
        return
    with scopes.defaults():
        yield
