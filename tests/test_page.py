"""The page of the algorithm is what runs: nearly all of the time of a fit is below `construct`."""

import cProfile
import pstats
import time

import pytest

from greedynet import GreedyNetClassifier, GreedyNetRegressor
from problems import noisy

# Checks of parameters and rows, and intervals of the result, take the rest.
LEAST_SHARE = 0.9


def profiled_share(fit, *data):
    """Share of the time of a fit that passes in `construct`."""
    # The time of this process, in all threads: others do not count.
    profile = cProfile.Profile(time.process_time)
    profile.runcall(fit, *data)
    stats = pstats.Stats(profile)
    ((n_calls, _, _, seconds, _),) = (
        entry
        for (file, _, name), entry in stats.stats.items()
        if name == "construct" and file.endswith("construct.py")
    )
    assert n_calls == 1
    return seconds / stats.total_tt


@pytest.mark.all_folds
@pytest.mark.parametrize("make", [GreedyNetRegressor, GreedyNetClassifier])
def test_a_fit_is_its_construction(make):
    """Whatever else the machine does makes the share smaller, never larger: one of three."""
    X, y = noisy(300, 3)
    model, y = make(max_nodes=15), (y if make is GreedyNetRegressor else y > 0)
    model.fit(X, y)  # what is compiled or loaded once does not count
    assert any(profiled_share(model.fit, X, y) > LEAST_SHARE for _ in range(3))
