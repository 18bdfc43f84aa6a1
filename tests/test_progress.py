"""Progress: what a fit says it is doing, to whom, and that it changes nothing."""

import pickle
import re
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from sklearn.base import clone

from greedynet import GreedyNetClassifier, GreedyNetRegressor, fit_table
from greedynet.support.context import FitContext
from greedynet.support.threads import Pool
from problems import noisy


def told(model, X, y):
    heard = []
    model.set_progress(on_stage=heard.append).fit(X, y)
    model.set_progress()
    return heard


def test_nobody_has_to_listen():
    FitContext().tell("nothing")
    heard = []
    context = FitContext(listener=heard.append)
    context.tell("one")
    FitContext().tell("two")
    # Parts of a fit are heard like the whole.
    context.single_threaded().tell("three")
    assert heard == ["one", "three"]


def test_threads_of_a_fit_are_heard_and_those_of_others_are_not():
    def fit(number):
        heard = []
        pool = Pool(2)
        context = FitContext(pool, listener=heard.append)
        pool.map(lambda i: context.tell(f"{number}"), range(20))
        pool.close()
        return heard

    with ThreadPoolExecutor(4) as others:
        found = list(others.map(fit, range(8)))
    assert found == [[str(number)] * 20 for number in range(8)]


@pytest.mark.all_folds
def test_fits_in_several_threads_are_heard_each_by_its_own():
    X, y = noisy(n_rows=100, noise=0.3)
    widths = [6, 8, 10, 12]

    def fit(max_nodes):
        return told(GreedyNetRegressor(max_nodes=max_nodes), X, y)

    with ThreadPoolExecutor(4) as others:
        found = list(others.map(fit, widths))
    assert found == [fit(max_nodes) for max_nodes in widths]
    assert len({tuple(stages) for stages in found}) == len(widths)


@pytest.mark.parametrize("make", [GreedyNetRegressor, GreedyNetClassifier])
def test_what_listens_is_no_part_of_the_model(make):
    X, y = noisy(n_rows=60)
    y = y if make is GreedyNetRegressor else (y > 0).astype(int)
    widths, stages = [], []
    model = make(n_nodes=5)
    listening = model.set_progress(lambda n_nodes, error: widths.append(n_nodes), stages.append)
    assert listening is model
    assert model.get_params() == make(n_nodes=5).get_params()
    model.fit(X, y)
    assert widths[-1] == 5
    n_told = len(widths)
    assert n_told == len(model.ladder_)  # once for each candidate
    # Neither clones nor copies tell anybody; a function without a name cannot be pickled.
    n_stages = len(stages)
    for other in (clone(model), pickle.loads(pickle.dumps(model))):
        np.testing.assert_array_equal(other.fit(X, y).predict(X), model.predict(X))
    assert (len(widths), len(stages)) == (n_told, n_stages)
    model.set_progress().fit(X, y)
    assert (len(widths), len(stages)) == (n_told, n_stages)


@pytest.mark.parametrize(
    ("parameters", "wanted"),
    [
        ({"max_nodes": 12}, ["network of 6 neurons on 1 fold"]),
        ({"n_nodes": 12}, ["network of 10 neurons on 1 fold"]),
        ({"max_nodes": 8, "loss": "huber"}, ["network of 1 neuron on 1 fold"]),
        ({"max_nodes": 12, "cv": 3}, ["network of 4 neurons on 3 folds"]),
    ],
)
def test_what_takes_long_is_told(parameters, wanted):
    X, y = noisy(n_rows=150, noise=0.3)
    heard = told(GreedyNetRegressor(**parameters), X, y)
    assert heard[:2] == [heard[0], heard[0].replace("mean", "line")]
    for pattern in (*wanted, r".*correcting \d+ neurons on all rows"):
        assert any(re.fullmatch(pattern, stage) for stage in heard), heard


def test_a_classifier_tells_of_its_candidates():
    X, y = noisy(n_rows=80)
    model = GreedyNetClassifier(max_nodes=6)
    heard = told(model, X, y > 0)
    assert heard[0].startswith("class shares on ")
    assert any(stage.startswith("network of 4 neurons on ") for stage in heard)
    assert len(heard) >= len(model.ladder_)


@pytest.mark.parametrize("make", [GreedyNetRegressor, GreedyNetClassifier])
def test_listening_changes_no_bit(make):
    X, y = noisy(n_rows=120)
    y = y if make is GreedyNetRegressor else (y > 0).astype(int)
    plain, heard = make(max_nodes=10).fit(X, y), make(max_nodes=10)
    assert told(heard, X, y)
    for name in ("inner_weights", "biases", "outer_weights"):
        np.testing.assert_array_equal(getattr(heard.network_, name), getattr(plain.network_, name))


def test_tables_pass_it_on():
    X, y = noisy(n_rows=80)
    heard = []
    model = fit_table({"u": X[:, 0], "v": X[:, 1], "y": y}, "y", max_nodes=8, on_stage=heard.append)
    assert any(re.fullmatch(r"correcting \d+ neurons on all rows", stage) for stage in heard)
    # Nobody listens any more.
    n_stages = len(heard)
    model.estimator.fit(X, y)
    assert len(heard) == n_stages
    assert model.estimator._on_stage is None
    assert model.estimator._on_neuron is None
