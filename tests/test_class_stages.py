"""How a classifier grows in stages: the minimiser, neurons from one scan, stages, and the ridge."""

import numpy as np
import pytest
from sklearn.datasets import make_moons

from greedynet import GreedyNetClassifier
from greedynet.activations import get_activation
from greedynet.correction.limited_memory import _Curvature, minimised
from greedynet.correction.log_loss_descent import (
    PenalisedLogLoss,
    PreparedRows,
    Weights,
    _chunks,
    descend,
)
from greedynet.fitting.limits import Limits
from greedynet.fitting.objectives import LogLoss
from greedynet.fitting.objectives.class_stages import _Stages, grown_weights, staged_weights
from greedynet.fitting.objectives.trials import lowest_between
from greedynet.fitting.plan import Plan, TrainingData
from greedynet.fitting.problem import Problem
from greedynet.losses.logistic import log_loss, losses_and_residual
from greedynet.rows.rows import Rows
from greedynet.rows.scaling import InputScaling
from greedynet.search.batch import BatchSearch, _Chosen
from greedynet.support.context import FitContext
from greedynet.support.threads import Pool

RELU = get_activation("relu")


# The minimiser


def two_loops(steps, g):
    """The product with the inverse Hessian by the recursion of the textbooks."""
    q, alphas = g.copy(), []
    for s, y in reversed(steps):
        alphas.append((s @ q) / (s @ y))
        q -= alphas[-1] * y
    s, y = steps[-1]
    q *= (s @ y) / (y @ y)
    for (s, y), alpha in zip(steps, reversed(alphas), strict=True):
        q += (alpha - (y @ q) / (s @ y)) * s
    return q


@pytest.mark.parametrize("n_steps", [1, 3, 4, 5, 8, 9, 21])
def test_curvature_is_that_of_the_last_steps(n_steps):
    rng = np.random.default_rng(0)
    A = rng.normal(size=(7, 7))
    A = A @ A.T + np.eye(7)
    curvature = _Curvature(7, 4)
    steps = [(s, A @ s) for s in rng.normal(size=(n_steps, 7))]
    for step in steps:
        curvature.append(*step)
    g = rng.normal(size=7)
    np.testing.assert_allclose(curvature.times(g), two_loops(steps[-4:], g), rtol=1e-9)
    # A step along which the function is not convex says nothing.
    curvature.append(g, -g)
    np.testing.assert_allclose(curvature.times(g), two_loops(steps[-4:], g), rtol=1e-9)


def test_a_quadratic_is_minimised_exactly():
    rng = np.random.default_rng(0)
    A = rng.normal(size=(30, 30))
    A, b = A @ A.T + 5 * np.eye(30), rng.normal(size=30)
    x = minimised(lambda x: (0.5 * x @ A @ x - b @ x, A @ x - b), np.zeros(30), 500, 10, 1e-8)
    np.testing.assert_allclose(x, np.linalg.solve(A, b), atol=1e-5)


def test_a_curved_valley_is_followed_to_its_end():
    values = []

    def rosenbrock(x):
        a, b = x
        values.append((1 - a) ** 2 + 100 * (b - a * a) ** 2)
        return values[-1], np.array([2 * (a - 1) - 400 * a * (b - a * a), 200 * (b - a * a)])

    np.testing.assert_allclose(minimised(rosenbrock, np.array([-1.2, 1.0]), 200, 5, 1e-10), 1, 1e-4)
    assert len(values) < 100


def test_a_minimum_is_where_one_stays():
    x = np.array([1.0, -2.0])
    found = minimised(lambda z: (float((z - x) @ (z - x)), 2 * (z - x)), x, 10, 5, 1e-6)
    np.testing.assert_array_equal(found, x)


def test_little_progress_is_enough():
    """Of several steps together: the value falls by less than a thousandth over the last five."""
    rng = np.random.default_rng(0)
    scales = np.geomspace(1, 1e4, 40)
    start, values = rng.normal(size=40), []

    def valley(x):
        values.append(1.0 + float(x @ (scales * x)))
        return values[-1], 2 * scales * x

    minimised(valley, start, 200, 5, 1e-9)
    n_all = len(values)
    values.clear()
    x = minimised(valley, start, 200, 5, 1e-9, enough=1e-3)
    lowest = np.minimum.accumulate(values)
    assert len(values) < n_all
    assert valley(x)[0] == lowest[-1]
    assert lowest[-6] - lowest[-1] < 2e-3 * lowest[-1]
    assert lowest[-12] - lowest[-6] > 1e-3 * lowest[-1]


# The log-loss of all rows


@pytest.mark.parametrize("n_rows", [0, 1, 511, 512, 513, 1293, 4_000, 16_383, 16_384, 131_072])
def test_blocks_are_all_rows_once(n_rows):
    """In chunks of as many blocks, which do not depend on the number of threads."""
    chunks = _chunks(n_rows)
    assert [i for blocks in chunks for b in blocks for i in range(b.start, b.stop)] == list(
        range(n_rows)
    )
    sizes = [b.stop - b.start for blocks in chunks for b in blocks]
    assert max(sizes, default=0) <= 512
    assert max(sizes, default=0) - min(sizes, default=0) <= 1
    assert len({len(blocks) for blocks in chunks}) <= 1


def many_rows(n=5_000, d=60, t=4, weighted=True):
    rng = np.random.default_rng(0)
    weights = rng.uniform(0.5, 2, n) if weighted else None
    rows = Rows(rng.normal(size=(n, d)), np.eye(t)[rng.integers(0, t, n)], weights)
    shapes = ((30, d + 1), (30, t), (d + 1, t))
    return rows, Weights(*(0.3 * rng.normal(size=shape) for shape in shapes))


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("activation", ["relu", "tanh"])
def test_single_precision_is_that_of_the_products_only(weighted, activation):
    rows, at = many_rows(weighted=weighted)
    sigma = get_activation(activation)
    double, half = (
        PenalisedLogLoss(PreparedRows.of(rows, single=single), at, 0.1, sigma, linear_term=True)
        for single in (False, True)
    )
    (value, slope), (single, slopes) = (some.evaluate(at.flat()) for some in (double, half))
    assert single == pytest.approx(value, rel=1e-7)
    assert single != value
    np.testing.assert_allclose(slopes, slope, atol=1e-6 * np.abs(slope).max())


def test_threads_change_no_bit_of_the_log_loss():
    rows, at = many_rows(9_000)
    pool = Pool(2)
    (value, slope), (again, slopes) = (
        PenalisedLogLoss(rows, at, 0.1, RELU, linear_term=True, pool=p).evaluate(at.flat())
        for p in (None, pool)
    )
    pool.close()
    assert again == value
    np.testing.assert_array_equal(slopes, slope)


def test_a_network_is_carried_from_one_scaling_to_another():
    """Its logits stay; columns have another order and other signs."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(50, 3)) * [1.0, 20.0, 0.1] + [0.0, 1e3, 5.0]
    orders = np.array([[2, 0, 1], [1, 2, 0]])
    one = InputScaling(np.array([0.1, 990.0, 5.0]), np.array([1.0, -15.0, 0.2]), orders[0])
    other = InputScaling(np.array([0.0, 1e3, 5.1]), np.array([-1.5, 20.0, 0.1]), orders[1])
    at = Weights(rng.normal(size=(5, 4)), rng.normal(size=(5, 2)), rng.normal(size=(4, 2)))
    carried = at.carried(one, other)
    wanted = at.logits(one.apply(X), RELU)
    np.testing.assert_allclose(carried.logits(other.apply(X), RELU), wanted, rtol=1e-6, atol=1e-6)


@pytest.mark.parametrize("weighted", [False, True])
def test_the_log_loss_of_blocks_is_that_of_all_rows(weighted):
    """Rows beyond the first block count like its own: copies change neither value nor gradient."""
    rng = np.random.default_rng(0)
    X, labels = rng.normal(size=(400, 3)), rng.integers(0, 3, 400)
    weights = rng.uniform(0.5, 2, 400) if weighted else None
    rows = Rows(X, np.eye(3)[labels], weights)
    copies = rows.take(np.tile(np.arange(400), 4))
    at = Weights(rng.normal(size=(5, 4)), rng.normal(size=(5, 3)), rng.normal(size=(4, 3)))
    (value, slope), (again, slopes) = (
        PenalisedLogLoss(some, at, 0.1, RELU, linear_term=True).evaluate(at.flat())
        for some in (rows, copies)
    )
    assert again == pytest.approx(value, rel=1e-12)
    np.testing.assert_allclose(slopes, slope, rtol=1e-9, atol=1e-13)


# Several neurons from one scan


def batch(X, weights=None, seed=0):
    rows = Rows(X, np.zeros((len(X), 1)), weights)
    affine = np.linalg.qr(rows.weighted(np.c_[X, np.ones(len(X))]))[0]
    return BatchSearch(rows, affine, RELU, 2, seed), rows, affine


def none_yet(d):
    return np.zeros((0, d + 1))


def test_planted_kinks_are_found_one_by_one():
    """A single input has one direction: it is scanned again for each neuron."""
    X = np.linspace(-1, 1, 201)[:, None]
    search, *_ = batch(X)
    W, C = search.propose(3 * np.maximum(X - 0.5, 0), none_yet(1), 1)
    assert -W[0, 1] / W[0, 0] == pytest.approx(0.5)
    assert C.item() == pytest.approx(3 / np.abs(W[0, 0]))
    residual = 3 * np.maximum(X - 0.5, 0) - 2 * np.maximum(X + 0.4, 0)
    W, C = search.propose(residual, none_yet(1), 6)
    assert W.shape == (6, 2)
    assert C.shape == (6, 1)
    columns = np.hstack([X, np.ones_like(X), np.maximum(X @ W[:, :1].T + W[:, 1], 0)])
    of_line, of_all = (
        residual - part @ np.linalg.lstsq(part, residual, rcond=None)[0]
        for part in (columns[:, :2], columns)
    )
    assert np.linalg.norm(of_all) < 0.15 * np.linalg.norm(of_line)


@pytest.mark.parametrize("weighted", [False, True])
def test_no_neuron_repeats_another(weighted):
    """Their columns are independent, beside the affine functions too."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(150, 3))
    search, rows, affine = batch(X, rng.uniform(0.5, 2, 150) if weighted else None)
    residual = rows.weighted(np.sign(X[:, :1] * X[:, 1:2]))
    W, _ = search.propose(residual, none_yet(3), 12)
    assert len(W) == 12
    columns = rows.weighted(np.maximum(X @ W[:, :3].T + W[:, 3], 0))
    columns = np.hstack([affine, columns / np.linalg.norm(columns, axis=0)])
    assert np.linalg.svd(columns, compute_uv=False).min() > 1e-3
    left = residual - columns @ np.linalg.lstsq(columns, residual, rcond=None)[0]
    assert np.linalg.norm(left) < 0.75 * np.linalg.norm(residual)


def test_what_is_left_is_outside_the_span_of_all_that_were_taken():
    """Also of those that were taken before from other candidates."""
    rng = np.random.default_rng(0)
    Q, residual = np.linalg.qr(rng.normal(size=(60, 3)))[0], rng.normal(size=(60, 2))
    G = rng.normal(size=(60, 12))
    chosen, numbers = _Chosen(Q, residual), np.arange(12.0)[:, None]
    for candidates in (slice(0, 6), slice(6, 12)):
        chosen.take(numbers[candidates], G[:, candidates], 3)
    taken = [int(w[0]) for w in chosen.neurons(1)[0]]
    assert len(set(taken)) == 6
    F = np.c_[Q, G[:, taken]]
    wanted = residual - F @ np.linalg.lstsq(F, residual, rcond=None)[0]
    np.testing.assert_allclose(chosen.residual, wanted, atol=1e-12)


def test_weights_are_copies_in_a_scan():
    rng = np.random.default_rng(0)
    X, times = rng.normal(size=(80, 2)), rng.integers(1, 4, 80)
    r = np.sign(X[:, :1] * X[:, 1:])
    heavy, rows, _ = batch(X, times.astype(float))
    many, _, _ = batch(np.repeat(X, times, axis=0))
    # The directions between two rows are drawn by their positions.
    many._pool, heavy._pool = (s._group(np.eye(2)) for s in (many, heavy))
    found = [
        heavy.propose(rows.weighted(r), none_yet(2), 3),
        many.propose(np.repeat(r, times, axis=0), none_yet(2), 3),
    ]
    for a, b in zip(*found, strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-6, atol=1e-9)


def test_where_nothing_is_left_nothing_is_proposed():
    X = np.random.default_rng(0).normal(size=(50, 2))
    search, *_ = batch(X)
    for residual in (np.zeros((50, 2)), X @ np.ones((2, 2))):
        W, C = search.propose(1e-30 * residual, none_yet(2), 4)
        assert W.shape[1] == 3
        assert C.shape == (len(W), 2)
    assert len(search.propose(np.zeros((50, 2)), none_yet(2), 4)[0]) == 0


# Stages


def problem_of(n=300, max_neurons=40, **settings):
    X, labels = make_moons(n, noise=0.25, random_state=0)
    plan = Plan(limits=Limits(max_neurons), correct=True, **settings)
    rows = Rows(X, labels[:, None].astype(float))
    return Problem(TrainingData(rows), plan, LogLoss(), None, FitContext())


@pytest.mark.parametrize("linear_term", [True, False])
def test_stages_reach_the_width_and_a_smaller_loss(linear_term):
    problem = problem_of(linear_term=linear_term)
    networks = [staged_weights(problem, n, FitContext()) for n in (8, 20, 40)]
    assert [network.n_neurons for network in networks] == [8, 20, 40]
    rows = problem.rows
    ends = [descend(rows, w, 1e-3, 200, RELU, linear_term=linear_term) for w in networks]
    losses = [log_loss(end.logits(rows.X, RELU), rows.Y) for end in ends]
    assert losses[2] <= losses[0] * 1.01
    if not linear_term:
        assert not any(network.L.any() for network in networks)


@pytest.mark.parametrize("n_neurons", [1, 8, 40])
def test_new_neurons_are_as_large_as_is_best(n_neurons):
    """Together they need smaller weights than alone: of four factors, the best."""
    problem = problem_of()
    rows, stages = problem.rows, _Stages(problem, FitContext())
    line = descend(rows, stages._affine(), 1e-3, 50, RELU)
    logits = line.logits(rows.X, RELU)
    residual = losses_and_residual(logits, rows.Y)[1]
    W, C = stages._search.propose(residual, line.W, n_neurons)
    more = Weights(W, C, np.zeros_like(line.L)).logits(rows.X, RELU)
    losses = [log_loss(logits + times * more, rows.Y) for times in (3.0, 1.5, 0.75, 0.375)]
    wider = stages._wider(line, n_neurons)
    assert wider.n_neurons == n_neurons
    assert log_loss(wider.logits(rows.X, RELU), rows.Y) == pytest.approx(min(losses), rel=1e-9)


def test_stages_are_as_good_as_a_plain_growth():
    """After the correction, though neurons are neither refined nor refitted one by one."""
    problem = problem_of(400)
    rows = problem.rows
    plain = grown_weights(problem.grow(problem.start(0, FitContext()), 40), problem)
    staged = staged_weights(problem, 40, FitContext())
    values = []
    for start in (plain, staged):
        end = descend(rows, start, 1e-3, 300, RELU)
        penalised = PenalisedLogLoss(rows, end, 1e-3, RELU, linear_term=True)
        values.append(penalised.evaluate(end.flat())[0])
    assert values[1] < 1.02 * values[0]


def test_the_path_shows_a_plain_growth_and_the_network_may_be_wider():
    X, y = make_moons(300, noise=0.2, random_state=0)
    model = GreedyNetClassifier(max_nodes=40).fit(X, y)
    plain = GreedyNetClassifier(max_nodes=len(model.path_.n_nodes) + 1, correct=False).fit(X, y)
    shown = model.path_.training_errors[:3]
    np.testing.assert_allclose(shown, plain.path_.training_errors[: len(shown)], rtol=1e-6)
    assert (np.diff(model.path_.training_errors) < 1e-6).all()
    assert model.n_nodes_ <= 40


# The ridge


@pytest.mark.parametrize("at", [-0.45, -0.1, 0.0, 0.3])
@pytest.mark.parametrize("ascending", [True, False])
def test_the_ridge_is_the_minimum_of_a_parabola(at, ascending):
    steps = np.arange(-2.0, 3.0)
    ridges = 1e-3 * 3.0**steps
    losses = 0.5 + 0.1 * (steps - at) ** 2
    order = slice(None) if ascending else slice(None, None, -1)
    ridge, nearest = lowest_between(ridges[order], losses[order])
    assert ridge == pytest.approx(1e-3 * 3.0**at)
    assert nearest == 2


def test_at_an_end_or_on_a_plain_the_ridge_is_one_of_those_tried():
    ridges = np.array([1.0, 2.0, 4.0])
    for losses, best in (([1, 2, 3], 0), ([3, 2, 1], 2), ([1, 1, 1], 0), ([2, 2, 2], 0)):
        assert lowest_between(ridges, np.array(losses, dtype=float)) == (ridges[best], best)
    assert lowest_between(ridges[:1], np.array([0.3])) == (1.0, 0)
    # Two equal neighbours: the middle between them.
    ridge, _ = lowest_between(ridges, np.array([1.0, 0.5, 0.5]))
    assert ridge == pytest.approx(2 * np.sqrt(2))
