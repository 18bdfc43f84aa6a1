"""What all tests share: their order, and one thread each."""

import pytest
from threadpoolctl import threadpool_limits


def pytest_collection_modifyitems(items):
    """Put the slow tests first, where they run at all: last, one worker would wait for another."""
    items.sort(key=lambda item: item.get_closest_marker("slow") is None)


@pytest.fixture(scope="session", autouse=True)
def one_thread():
    """As in a fit, for BLAS and OpenMP: small products on several take many times as long."""
    with threadpool_limits(1):
        yield
