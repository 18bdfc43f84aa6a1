"""The scan of blocks of rows equals explicit columns at the ends of the blocks."""

import numpy as np
import pytest

from greedynet.activations import ReLU
from greedynet.search.scans import ReluGroup, groups, make_group
from greedynet.search.scans.groups import BlockGroup

N, D = 1_100, 3
NO_WEIGHTS = np.empty(0)


class Problem:
    """Rows, orthonormal columns with the affine ones among them, and a residual outside them."""

    def __init__(self, *, weighted=False, n_values=None, n_columns=20, n_outputs=1, seed=0):
        rng = np.random.default_rng(seed)
        self.X = rng.standard_normal((N, D))
        if n_values is not None:
            self.X = rng.integers(0, n_values, (N, D)) - (n_values - 1) / 2
        self.weights = rng.uniform(0.5, 2, N) if weighted else NO_WEIGHTS
        self.scale = np.sqrt(self.weights) if weighted else np.ones(N)
        affine = np.column_stack([self.X, np.ones(N)]) * self.scale[:, None]
        columns = np.hstack([affine, rng.standard_normal((N, n_columns - D - 1))])
        self.Q = np.linalg.qr(columns)[0]
        r = np.abs(self.X).sum(axis=1)[:, None] + rng.standard_normal((N, n_outputs))
        self.r = r - self.Q @ (self.Q.T @ r)
        self.directions = np.vstack([np.eye(D), rng.standard_normal((4, D)) / 2])

    def group(self, directions=None):
        made = BlockGroup(
            self.directions if directions is None else directions, self.X, self.weights
        )
        taken = self.Q * self.scale[:, None]
        made.take_off(taken.astype(np.float32), self.Q.shape[1])
        return made

    def scan(self, group, min_active=3, dependent=1e-6):
        rows = np.ascontiguousarray((self.r * self.scale[:, None]).T)
        return group.scan(rows, min_active, dependent)

    def score(self, w):
        """The score of one neuron, from its explicit column."""
        g = np.maximum(self.X @ w[:-1] + w[-1], 0) * self.scale
        rest = g - self.Q @ (self.Q.T @ g)
        return np.sum((self.r.T @ g) ** 2) / (rest @ rest)


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("n_outputs", [1, 3])
@pytest.mark.parametrize("n_columns", [5, 40])
def test_the_best_end_of_a_block_has_the_score_of_its_explicit_column(
    weighted, n_outputs, n_columns
):
    problem = Problem(weighted=weighted, n_outputs=n_outputs, n_columns=n_columns)
    group = problem.group()
    scores, W = problem.scan(group)
    np.testing.assert_allclose([problem.score(w) for w in W], scores, rtol=1e-5)
    for u, of_direction in zip(problem.directions, scores, strict=True):
        p = np.sort(problem.X @ u)[::-1]
        inner = p[np.arange(1, 137) * N // 137][3:-3]
        assert max(problem.score(np.r_[u, -t]) for t in inner) <= of_direction * (1 + 1e-5)


def test_few_values_are_all_tried():
    problem = Problem(n_values=7)
    scores, W = problem.scan(problem.group(np.eye(D)))
    for j, (of_direction, w) in enumerate(zip(scores, W, strict=True)):
        values = np.unique(problem.X[:, j])[1:-1]
        tried = [problem.score(np.r_[np.eye(D)[j], -t]) for t in values]
        assert -w[-1] == values[np.argmax(tried)]
        assert of_direction == pytest.approx(max(tried), rel=1e-5)


def test_a_rare_value_among_few_is_tried():
    """Blocks of equal numbers of rows would miss it."""
    problem = Problem(n_values=4)
    problem.X[:5, 0] = 9.0
    problem.X[5:10, 0] = 7.0
    problem.Q = np.linalg.qr(np.column_stack([problem.X, np.ones(N)]))[0]
    g = np.maximum(problem.X[:, 0] - 7.0, 0.0)
    problem.r = (g - problem.Q @ (problem.Q.T @ g))[:, None]
    scores, W = problem.scan(problem.group(np.eye(D)[:1]))
    assert -W[0, -1] == 7.0
    assert scores[0] == pytest.approx(np.sum(problem.r**2), rel=1e-5)


def test_the_best_of_some_thresholds_is_nearly_the_best_of_all():
    problem = Problem()
    exact = ReluGroup(problem.directions, problem.X, problem.weights, mirrored=True)
    exact.take_off(problem.Q * problem.scale[:, None], problem.Q.shape[1])
    scores, best = problem.scan(problem.group())[0], problem.scan(exact)[0]
    assert (scores <= best * (1 + 1e-5)).all()
    assert (scores > 0.97 * best).all()


@pytest.mark.parametrize("min_active", [1, 50, 400])
def test_enough_rows_lie_on_either_side(min_active):
    problem = Problem(n_values=30)
    scores, W = problem.scan(problem.group(), min_active)
    for score, w in zip(scores, W, strict=True):
        active = np.count_nonzero(problem.X @ w[:-1] + w[-1] > 1e-9)
        assert score == 0 or min_active <= active <= N - min_active


def test_columns_taken_off_one_by_one_or_at_once_are_the_same():
    problem = Problem(n_columns=24)
    at_once, by_one = problem.group(), BlockGroup(problem.directions, problem.X, NO_WEIGHTS)
    for q in problem.Q.T.astype(np.float32):
        by_one.take_off(np.ascontiguousarray(q[:, None]), 1)
    np.testing.assert_allclose(by_one._outside, at_once._outside, rtol=1e-4, atol=1e-3)


def test_two_groups_joined_are_one_group_of_both():
    problem = Problem()
    some, others = problem.group(problem.directions[:3]), problem.group(problem.directions[3:])
    both, whole = problem.scan(some.joined(others)), problem.scan(problem.group())
    np.testing.assert_array_equal(both[0], whole[0])
    np.testing.assert_array_equal(both[1], whole[1])


def test_neurons_in_the_span_have_no_score():
    problem = Problem(n_values=2)
    # With two values, every neuron along an axis is affine.
    assert (problem.scan(problem.group(np.eye(D)))[0] == 0).all()


def test_equal_rows_have_no_threshold_between_them():
    problem = Problem()
    problem.X[:] = 1.0
    assert (problem.scan(BlockGroup(problem.directions, problem.X, NO_WEIGHTS))[0] == 0).all()


def test_blocks_are_for_many_rows_refined_neurons_and_an_affine_term():
    def kind(n, d, *, mirrored=True):
        X = np.random.default_rng(0).standard_normal((n, d))
        return type(make_group(ReLU(), X, NO_WEIGHTS, mirrored=mirrored)(np.eye(1, d)))

    many = groups.MIN_ROWS_IN_BLOCKS
    assert kind(many, 2) is BlockGroup
    assert kind(many - 1, 2) is ReluGroup
    assert kind(many, 1) is ReluGroup
    assert kind(many, 2, mirrored=False) is ReluGroup
