"""Classes by two hidden layers: when they are chosen, and that all else is as with one."""

from functools import cache

import numpy as np
import pytest
from sklearn.metrics import log_loss

import greedynet
import scopes
from greedynet import GreedyNetClassifier
from greedynet.fitting.measures import LogLosses
from greedynet.fitting.plan import Limits, Plan
from greedynet.fitting.scores import CandidateScores
from greedynet.model.candidate import CURVES, LINE, NETWORK, SHARES, TWO_LAYERS, Candidate
from greedynet.rows.rows import Rows
from greedynet.search import Dictionary

N_COLUMNS = 6


def curves(X):
    """A sum of one curve for each of four columns: the logit of the planted classes."""
    return 3 * (np.sin(5 * X[:, 0]) + np.abs(2 * X[:, 1]) - 1 + np.cos(6 * X[:, 2]) + X[:, 3] ** 3)


def line(X):
    return 3 * X[:, 0] - 2 * X[:, 1]


def drawn(logit, n_rows, seed):
    rng = np.random.default_rng(seed)
    X = rng.uniform(-1, 1, (n_rows, N_COLUMNS))
    is_second = rng.uniform(size=n_rows) < 1 / (1 + np.exp(-logit(X)))
    return X, np.where(is_second, "yes", "no")


@cache
def fitted(logit, hidden_layers):
    return GreedyNetClassifier(hidden_layers=hidden_layers).fit(*drawn(logit, 300, 0))


def loss_on_new(model, logit):
    X, y = drawn(logit, 4_000, 1)
    return log_loss(y, model.predict_proba(X))


def test_sums_of_curves_are_found_by_two_layers_and_auto_chooses_them():
    one, auto = fitted(curves, 1), fitted(curves, "auto")
    assert auto.network_.ramps is not None
    assert loss_on_new(auto, curves) < 0.85 * loss_on_new(one, curves)
    assert auto.expected_error_ == pytest.approx(loss_on_new(auto, curves), rel=0.25)


def test_auto_keeps_one_layer_where_a_line_is_right():
    one, auto = fitted(line, 1), fitted(line, "auto")
    assert auto.network_.ramps is None
    X, _ = drawn(line, 50, 2)
    np.testing.assert_array_equal(auto.predict_proba(X), one.predict_proba(X))
    assert auto.expected_error_ == one.expected_error_


def test_one_layer_is_the_default():
    X, y = drawn(curves, 80, 3)
    default, one = GreedyNetClassifier().fit(X, y), GreedyNetClassifier(hidden_layers=1).fit(X, y)
    np.testing.assert_array_equal(default.predict_proba(X), one.predict_proba(X))


def test_candidates_of_both_are_shown_with_the_shares_once():
    one, auto = fitted(curves, 1).ladder_, fitted(curves, "auto").ladder_
    kinds = auto.kinds
    assert kinds.count(SHARES) == 1
    assert {LINE, CURVES} <= set(kinds)
    np.testing.assert_array_equal(auto.errors[: len(one)], one.errors)
    assert auto.expected_error == fitted(curves, "auto").expected_error_


def test_the_logistic_regression_that_is_told_is_over_the_columns():
    """Not over the ramps, which would nearly be the network itself."""
    assert fitted(curves, "auto").expectation_.line == fitted(curves, 1).expectation_.line
    X, y = drawn(curves, 120, 0)
    assert GreedyNetClassifier(hidden_layers=2).fit(X, y).expectation_.line is None


def test_a_lower_loss_of_one_row_is_no_evidence():
    """Two layers need lower losses by more than their standard error."""

    def wins(logits):
        held = Rows(np.zeros((50, 1)), np.ones((50, 1)))
        scores = CandidateScores(LogLosses([held], 50), Plan(Limits(9)))
        one, two = Candidate(NETWORK, 3), Candidate(NETWORK, 3, form=TWO_LAYERS)
        scores.add(one, [[np.zeros((50, 1))]] * 3, 0.0)
        scores.add(two, [[logits[:, None]]] * 3, 0.0)
        return scores.best() == two

    assert wins(5.0 * (np.arange(50) % 5 > 0))
    # A mean that is 2 % lower, but because of a single row.
    assert not wins(np.where(np.arange(50) == 0, 5.0, -0.001))
    assert not wins(np.zeros(50))


def test_files_contain_both_layers(tmp_path):
    model = fitted(curves, "auto")
    model.save(tmp_path / "model.safetensors")
    again = greedynet.load(tmp_path / "model.safetensors")
    X, _ = drawn(curves, 100, 4)
    np.testing.assert_array_equal(again.predict_proba(X), model.predict_proba(X))
    np.testing.assert_array_equal(again.predict_set(X), model.predict_set(X))
    assert again.hidden_layers == "auto"


def test_probabilities_and_sets_of_three_classes_with_weights():
    X, _ = drawn(curves, 240, 5)
    y = np.digitize(curves(X), [-1, 1.5])
    model = GreedyNetClassifier(hidden_layers=2, class_weight="balanced", max_nodes=40).fit(X, y)
    p = model.predict_proba(X)
    assert p.shape == (240, 3)
    np.testing.assert_allclose(p.sum(axis=1), 1, atol=1e-12)
    assert model.predict_set(X).any(axis=1).all()
    assert model.n_nodes_ <= 40


def test_given_points_are_refused():
    X, y = drawn(line, 60, 6)
    points = np.ones((5, N_COLUMNS + 1))
    model = GreedyNetClassifier(hidden_layers=2, search=Dictionary(points))
    with pytest.raises(ValueError, match=r"`points` are neurons over the columns"):
        model.fit(X, y)


def test_rows_in_blocks_give_the_two_layers_of_memory():
    X, y = drawn(curves, 1_000, 7)
    with scopes.sampled(200, in_order_above=100):
        model = GreedyNetClassifier(hidden_layers=2, max_nodes=20)
        in_memory = model.fit(X, y).predict_proba(X)
        assert model.network_.ramps is not None
        in_blocks = model.fit([(X[:500], y[:500]), (X[500:], y[500:])]).predict_proba(X)
    assert model.network_.ramps is not None
    np.testing.assert_allclose(in_blocks, in_memory, atol=1e-9)
