"""Averages: networks that are grown apart and share the nodes of one."""

import numpy as np
import pytest

from greedynet import GreedyNetRegressor
from greedynet.estimators.settings import EstimatorSettings, settings_context
from greedynet.fitting.ladder import Staged
from greedynet.fitting.limits import Limits
from greedynet.fitting.plan import Plan, TrainingData
from greedynet.fitting.problem import Problem
from greedynet.fitting.settings import FitSettings
from greedynet.fitting.staged import StagedGrowth
from greedynet.rows.rows import Rows
from greedynet.rows.sampling import SamplingSettings
from greedynet.support.context import FitContext


def noisy(n, seed=0, d=3):
    rng = np.random.default_rng(seed)
    X = rng.uniform(-1, 1, (n, d))
    return X, np.sin(3 * X[:, 0]) + X[:, 0] * X[:, -1] + 0.3 * rng.standard_normal(n)


def averages(model):
    return [kind for kind in model.ladder_.kinds.tolist() if kind.startswith("average")]


def test_the_average_of_networks_is_one_network():
    """Its neurons are those of all, its outputs the mean of theirs."""
    X, y = noisy(150)
    rows, plan = Rows(X, y[:, None]), Plan(Limits(12), gcv=False)
    problem = Problem(TrainingData(rows), plan, Staged.of(rows, plan), None, FitContext())
    growths = [StagedGrowth(problem, turn) for turn in range(3)]
    for growth in growths:
        growth.advance(4)
    states = [growth.state for growth in growths]
    whole = growths[0].network(*states)
    apart = [growths[0].network(state) for state in states]
    assert whole.n_neurons == 12
    mean = np.mean([network.predict(X) for network in apart], axis=0)
    np.testing.assert_allclose(whole.predict(X), mean, atol=1e-10)
    assert np.ptp([network.predict(X) for network in apart], axis=0).max() > 1e-3


def test_one_network_is_never_averaged():
    X, y = noisy(200)
    model = GreedyNetRegressor(max_nodes=40, n_networks=1).fit(X, y)
    assert not averages(model)


@pytest.mark.parametrize("n_networks", [2, 3])
def test_so_many_networks_share_the_nodes(n_networks):
    X, y = noisy(200)
    model = GreedyNetRegressor(max_nodes=30, n_networks=n_networks).fit(X, y)
    assert model.ladder_.kind == f"average of {'two' if n_networks == 2 else 'three'}"
    assert model.ladder_.n_networks == n_networks
    assert model.ladder_.width == n_networks * model.ladder_.width_of_each
    assert model.n_nodes_ <= 30


@pytest.mark.parametrize("n_networks", [1, 3])
def test_a_requested_number_of_nodes_is_shared(n_networks):
    X, y = noisy(120)
    model = GreedyNetRegressor(n_nodes=12, n_networks=n_networks).fit(X, y)
    assert model.n_nodes_ == 12
    alone = GreedyNetRegressor(n_nodes=12, n_networks=4 - n_networks).fit(X, y)
    assert not np.allclose(alone.predict(X), model.predict(X))


def test_many_rows():
    X, y = noisy(2_000)
    few = EstimatorSettings(fit=FitSettings(sampling=SamplingSettings(least=300, most=300)))
    with settings_context(few):
        model = GreedyNetRegressor(max_nodes=20, n_networks=3).fit(X, y)
    assert model.n_nodes_ <= 20
    assert np.sqrt(np.mean((model.predict(X) - y) ** 2)) < 0.4


def test_one_column_has_one_network():
    x = np.linspace(-1, 1, 80)[:, None]
    y = np.abs(x[:, 0])
    one, four = (GreedyNetRegressor(max_nodes=12, n_networks=n).fit(x, y) for n in (1, 4))
    np.testing.assert_array_equal(one.predict(x), four.predict(x))


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"n_networks": 0}, "n_networks"),
        ({"n_networks": 11}, "n_networks"),
        ({"n_networks": 2, "loss": "absolute"}, '`n_networks` requires loss="squared"'),
        ({"n_networks": 2, "correct": False}, "`n_networks` requires corrected networks"),
        ({"n_networks": 5, "max_nodes": 6}, "`n_networks` must be at most the number of neurons"),
    ],
)
def test_what_cannot_be_averaged_is_refused(parameters, message):
    X, y = noisy(30)
    with pytest.raises(ValueError, match=message):
        GreedyNetRegressor(**parameters).fit(X, y)
