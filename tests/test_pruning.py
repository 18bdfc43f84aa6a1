"""Pruning: the widths that are tried, the one that is kept, and when it ends."""

from dataclasses import dataclass, replace

import numpy as np
import pytest

from greedynet.fitting.pruning import prune
from greedynet.fitting.settings import (
    LeastSquaresSettings,
    LogisticSettings,
    PruningSettings,
)


@dataclass(frozen=True)
class Neurons:
    """A network that is nothing but its number of neurons, and where it came from."""

    n_neurons: int
    wider: "Neurons | None" = None


def narrowed(network, n_neurons):
    assert n_neurons < network.n_neurons
    return Neurons(n_neurons, network)


def twin(n_neurons, score_of, settings):
    """All widths written out, and the choice by its definition."""
    widths = [n_neurons]
    while widths[-1] > 0:
        widths.append(int(widths[-1] * settings.kept_share))
    scores = [score_of(n) for n in widths]
    best = 0
    for i in range(1, len(widths)):
        # Given up after so many in a row that were worse than the best.
        if i - best > settings.patience:
            break
        if scores[i] < settings.as_good * min(scores[: best + 1]):
            best = i
    n_tried = min(best + settings.patience, len(widths) - 1) + 1
    return widths[best], widths[:n_tried]


SETTINGS = [
    PruningSettings(),
    LogisticSettings().pruning,
    PruningSettings(kept_share=0.9, patience=3),
    PruningSettings(kept_share=0.5, as_good=1.1, patience=1),
    PruningSettings(as_good=0.8),
]


@pytest.mark.parametrize("settings", SETTINGS)
@pytest.mark.parametrize("start", [0, 1, 2, 7, 31, 100])
def test_the_width_kept_is_that_of_the_twin(settings, start):
    for seed in range(20):
        rng = np.random.default_rng(seed)
        # Falling, rising or noise, with steps of the size of what is forgiven.
        slope = rng.choice([-0.3, 0.0, 0.05])
        scores = np.exp(
            slope * np.arange(start + 1) / (start + 1) + 0.05 * rng.normal(size=101)[: start + 1]
        )
        tried = []

        def score(network, scores=scores, tried=tried):
            tried.append(network.n_neurons)
            return float(scores[network.n_neurons])

        found = prune(Neurons(start), narrowed, score, settings)
        wanted, widths = twin(start, lambda n, scores=scores: float(scores[n]), settings)
        assert found.n_neurons == wanted
        assert tried == widths


def test_every_network_comes_from_the_last_one():
    # Also where that one was not the best so far.
    scores = {8: 100.0}
    found = prune(
        Neurons(27),
        narrowed,
        lambda network: scores.get(network.n_neurons, network.n_neurons),
        PruningSettings(),
    )
    widths = []
    while found is not None:
        widths.append(found.n_neurons)
        found = found.wider
    assert widths == [0, 1, 2, 3, 5, 8, 12, 18, 27]


@pytest.mark.parametrize("patience", [1, 2, 3])
def test_so_many_may_be_worse_in_a_row(patience):
    # Worse, worse, then better than all: what is behind a hill is seen with patience only.
    scores = {27: 1.0, 18: 1.1, 12: 1.2, 8: 0.9, 5: 2.0, 3: 2.0, 2: 2.0, 1: 2.0, 0: 2.0}
    settings = PruningSettings(patience=patience)
    found = prune(Neurons(27), narrowed, lambda network: scores[network.n_neurons], settings)
    assert found.n_neurons == (8 if patience > 2 else 27)


@pytest.mark.parametrize(("as_good", "wanted"), [(1.0, 9), (1.02, 4), (1.05, 1)])
def test_nearly_as_good_is_compared_with_the_best_and_not_with_the_last(as_good, wanted):
    # Each is a little worse than the one before: together they are much worse.
    scores = {9: 1.0, 6: 1.01, 4: 1.019, 2: 1.03, 1: 1.045, 0: 1.06}
    settings = PruningSettings(as_good=as_good, patience=1)
    found = prune(Neurons(9), narrowed, lambda network: scores[network.n_neurons], settings)
    assert found.n_neurons == wanted


def test_of_equal_scores_the_wider_network_is_kept():
    assert prune(Neurons(9), narrowed, lambda _: 1.0, PruningSettings()).n_neurons == 9
    forgiving = replace(PruningSettings(), as_good=1.001)
    assert prune(Neurons(9), narrowed, lambda _: 1.0, forgiving).n_neurons == 0


def test_what_the_fits_are_set_to():
    assert LeastSquaresSettings().pruning == PruningSettings(2 / 3, 1.0, 2)
    assert LogisticSettings().pruning == PruningSettings(2 / 3, 1.003, 1)
