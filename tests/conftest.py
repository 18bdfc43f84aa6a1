"""The order of the tests."""


def pytest_collection_modifyitems(items):
    """Put the slow tests first, where they run at all: last, one worker would wait for another."""
    items.sort(key=lambda item: item.get_closest_marker("slow") is None)
