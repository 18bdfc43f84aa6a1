"""The page of the algorithm is what runs: nearly all of the time of a fit is below `construct`."""

import cProfile
import pstats
import time

import numpy as np
import pytest

import scopes
from greedynet import GreedyNetClassifier, GreedyNetRegressor
from greedynet.search import Dictionary
from problems import noisy

# Checks of parameters and rows, and intervals of the result, take the rest.
LEAST_SHARE = 0.9


def wide(**parameters):
    """With all nodes that there may be, so that the fits take long enough to be measured."""
    return GreedyNetRegressor(**({"max_nodes": 60, "select": "last"} | parameters))


FITS = {
    "default": (GreedyNetRegressor(max_nodes=30), {}),
    "n_nodes": (GreedyNetRegressor(60), {}),
    "X_val": (wide(max_nodes=80), dict(zip(("X_val", "y_val"), noisy(60, 3, seed=1), strict=True))),
    "cv": (wide(cv=2), {}),
    "groups": (wide(), {"groups": np.arange(300) // 20}),
    "absolute_error": (wide(max_nodes=20, loss="absolute_error"), {}),
    "chebyshev": (wide(max_nodes=5, loss="chebyshev"), {}),
    "correct=False": (wide(max_nodes=80, cv=3, correct=False), {}),
    "dictionary": (wide(max_nodes=60, search=Dictionary(n_points=40_000)), {}),
    "two layers": (wide(cv=3, hidden_layers=2), {}),
    "monotone": (wide(max_nodes=12, monotonic_cst=[1, 0, 0], hidden_layers=1), {}),
    "classifier": (GreedyNetClassifier(max_nodes=10), {}),
    "classifier, correct=False": (GreedyNetClassifier(max_nodes=10, correct=False), {}),
}


class Blocks:
    """Rows that come in blocks."""

    def __iter__(self):
        X, y = noisy(3_000, 3)
        return zip(np.array_split(X, 4), np.array_split(y, 4), strict=True)


def is_construct(model, *data, **more):
    """Whether at least one of three fits passes nearly all of its time in `construct`.

    What else the machine does makes the share of short fits smaller, never larger.
    """
    model.fit(*data, **more)  # what is compiled or loaded once does not count
    return any(profiled_share(model.fit, *data, **more) > LEAST_SHARE for _ in range(3))


def profiled_share(fit, *data, **more):
    """Share of the time of a fit that passes in `construct`."""
    # The time of this process, in all threads: others do not count.
    profile = cProfile.Profile(time.process_time)
    profile.runcall(fit, *data, **more)
    stats = pstats.Stats(profile)
    ((n_calls, _, _, seconds, _),) = (
        entry
        for (file, _, name), entry in stats.stats.items()
        if name == "construct" and file.endswith("construct.py")
    )
    assert n_calls == 1
    return seconds / stats.total_tt


@pytest.mark.parametrize(
    "name",
    [pytest.param(name, marks=pytest.mark.all_folds if name == "default" else ()) for name in FITS],
)
def test_a_fit_is_its_construction(name):
    model, more = FITS[name]
    X, y = noisy(300, 3)
    y = y > 0 if isinstance(model, GreedyNetClassifier) else y
    assert is_construct(model, X, y, **more)


def test_so_is_a_fit_to_many_rows():
    with scopes.in_order_above(1_000, few_folds=True):
        assert is_construct(wide(max_nodes=50), *noisy(3_000, 3))


def test_so_is_a_fit_to_rows_in_blocks():
    with scopes.in_order_above(1_000, few_folds=True):
        assert is_construct(wide(max_nodes=50), Blocks())
