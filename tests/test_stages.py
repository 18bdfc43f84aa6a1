"""Stages: what a fit says it is doing, to whom, and that it changes nothing."""

import re
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

from greedynet import GreedyNetClassifier, GreedyNetRegressor, fit_table
from greedynet.support.progress import heard_by, tell
from greedynet.support.threads import Pool
from problems import noisy


def told(model, X, y):
    heard = []
    model._on_stage = heard.append
    model.fit(X, y)
    del model._on_stage
    return heard


def test_nobody_has_to_listen():
    tell("nothing")
    heard = []
    with heard_by(heard.append):
        tell("one")
        with heard_by(None):
            tell("two")
        tell("three")
    tell("four")
    assert heard == ["one", "three"]


def test_threads_of_a_fit_are_heard_and_those_of_others_are_not():
    def fit(number):
        heard = []
        with heard_by(heard.append):
            pool = Pool(2)
            pool.map(lambda i: tell(f"{number}"), range(20))
            pool.close()
        return heard

    with ThreadPoolExecutor(4) as others:
        found = list(others.map(fit, range(8)))
    assert found == [[str(number)] * 20 for number in range(8)]


@pytest.mark.parametrize(
    ("parameters", "wanted"),
    [
        ({"max_nodes": 12}, [r"correcting \d+ neurons", r"pruning: \d+ neurons"]),
        ({"max_nodes": 30}, ["growing another network, to average"]),
        ({"max_nodes": 8, "loss": "huber"}, [r"correcting \d+ neurons for the loss"]),
        ({"max_nodes": 8, "correct": False}, []),
    ],
)
def test_what_takes_long_is_told(parameters, wanted):
    X, y = noisy(n_rows=150, noise=0.3)
    heard = told(GreedyNetRegressor(**parameters), X, y)
    for pattern in wanted:
        assert any(re.fullmatch(pattern, stage) for stage in heard), heard
    if not wanted:
        assert heard == []


def test_a_classifier_tells_of_ridge_and_width():
    X, y = noisy(n_rows=80)
    heard = told(GreedyNetClassifier(max_nodes=6), X, y > 0)
    assert heard[0] == "choosing the ridge: 1.0e-04 on 10 folds"
    assert "correcting 4 neurons" in heard
    assert any(stage.startswith("pruning: ") for stage in heard)


@pytest.mark.parametrize("make", [GreedyNetRegressor, GreedyNetClassifier])
def test_listening_changes_no_bit(make, capsys):
    X, y = noisy(n_rows=120)
    y = y if make is GreedyNetRegressor else (y > 0).astype(int)
    plain, heard = make(max_nodes=10).fit(X, y), make(max_nodes=10, verbose=1)
    stages = told(heard, X, y)
    for name in ("inner_weights", "biases", "outer_weights"):
        np.testing.assert_array_equal(getattr(heard.network_, name), getattr(plain.network_, name))
    # `verbose` says it too.
    lines = capsys.readouterr().err.splitlines()
    assert [line.removeprefix("[greedynet] ") for line in lines if "nodes: " not in line] == stages


def test_tables_pass_it_on():
    X, y = noisy(n_rows=80)
    heard = []
    model = fit_table({"u": X[:, 0], "v": X[:, 1], "y": y}, "y", max_nodes=8, on_stage=heard.append)
    assert any(stage.startswith("correcting") for stage in heard)
    assert "_on_stage" not in vars(model.estimator)
    assert "_progress" not in vars(model.estimator)
