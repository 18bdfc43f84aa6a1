"""The continuous search: directions, thresholds, and the polish of what it found."""

from dataclasses import replace

import numpy as np
import pytest
from scipy.optimize import minimize_scalar

from greedynet import GreedyNetRegressor
from greedynet.activations import ACTIVATIONS, degree_of, get_activation
from greedynet.fitting.make_search import SearchTask, make_search
from greedynet.fitting.plan import Limits, Plan
from greedynet.linalg.factor import Factor
from greedynet.rows.affine import AffineTerm
from greedynet.rows.rows import Rows
from greedynet.search import ContinuousSearch
from greedynet.search.polish import Target, _gauss_newton_steps, polish
from greedynet.search.scans import relu as scan
from greedynet.search.sphere import N_PAIRS, N_SPREAD, directions, spread
from problems import noisy, numeric_gradient


def factor_of(rows, affine=True):
    """The factor of the outputs, with the affine functions in it or without."""
    factor = Factor(rows.weighted(rows.Y))
    if affine:
        for column in AffineTerm.of(rows).columns.T:
            factor.append(column)
    return factor


def grown(rows, pool_of_directions, n_neurons, min_active=3, affine=True):
    """Neurons one after the other: the candidates, the factor and the search."""
    search = ContinuousSearch(rows, pool_of_directions, min_active, mirrored=affine)
    factor, candidates = factor_of(rows, affine), []
    for _ in range(n_neurons):
        found = search.propose(factor)
        if found is None or not factor.append(found.column):
            break
        search.accept(factor)
        candidates.append(found)
    return candidates, factor, search


def outside_of(Q, columns):
    rest = columns - Q @ (Q.T @ columns)
    return rest - Q @ (Q.T @ rest)


def scores_of(columns, factor):
    """Scores of explicit columns; 0 next to the span."""
    rest = outside_of(factor.Q, columns)
    size, left = np.sum(columns**2, axis=0), np.sum(rest**2, axis=0)
    usable = left > factor.dependent**2 * size
    gains = np.sum((factor.residual.T @ columns) ** 2, axis=0)
    return np.where(usable, gains / np.where(usable, left, 1), 0)


def score_of(found, factor):
    return float(scores_of(found.column[:, None], factor)[0])


def wavy(n=60, n_outputs=1, weighted=False, seed=0):
    """Rows of smooth functions of one input, with a little noise."""
    rng = np.random.default_rng(seed)
    X = rng.uniform(-1, 1, (n, 1))
    Y = np.sin(5 * X + np.arange(n_outputs)) + 0.05 * rng.standard_normal((n, n_outputs))
    return Rows(X, Y, rng.uniform(0.2, 2, n) if weighted else None)


def several_inputs(n=300, d=3, n_outputs=1, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, d))
    return Rows(X, np.sin(2 * X @ rng.standard_normal((d, n_outputs))))


def best_by_minimiser(rows, factor, min_active, sign=1.0):
    """Largest score of `relu(sign x - t)`, by a bounded minimiser between any two rows."""
    x = np.sort(sign * rows.X[:, 0])

    def score(t):
        column = rows.weighted(np.maximum(sign * rows.X - t, 0))
        return float(scores_of(column, factor)[0])

    inside = range(min_active, len(x) - min_active + 1)
    found = [score(x[i]) for i in inside[:-1]]
    for i in inside:
        best = minimize_scalar(
            lambda t: -score(t), bounds=(x[i - 1], x[i]), method="bounded", options={"xatol": 1e-12}
        )
        found.append(-best.fun)
    return max(found)


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("n_outputs", [1, 2])
@pytest.mark.parametrize("affine", [True, False])
def test_in_one_dimension_every_step_is_the_best_there_is(n_outputs, weighted, affine):
    rows = wavy(60, n_outputs, weighted)
    search = ContinuousSearch(rows, np.ones((1, 1)), 3, mirrored=affine)
    factor = factor_of(rows, affine)
    for _ in range(5):
        found = search.propose(factor)
        wanted = max(best_by_minimiser(rows, factor, 3, sign) for sign in (1.0, -1.0))
        assert score_of(found, factor) == pytest.approx(wanted, rel=1e-9)
        assert factor.append(found.column)
        search.accept(factor)


@pytest.mark.parametrize(
    "function",
    [lambda x: x, lambda x: x + 5, np.ones_like, lambda x: 2 - x],
    ids=["x", "x + 5", "1", "2 - x"],
)
@pytest.mark.parametrize("min_active", [1, 3])
def test_without_an_affine_term_an_affine_target_is_found(function, min_active):
    """Two neurons active on all rows are any affine function."""
    x = np.linspace(0, 1, 20)[:, None]
    candidates, factor, _ = grown(Rows(x, function(x)), np.ones((1, 1)), 3, min_active, False)
    assert candidates
    assert factor.residual_norm < 1e-6 * np.linalg.norm(function(x))


# What is proposed


@pytest.mark.parametrize("affine", [True, False])
@pytest.mark.parametrize("weighted", [False, True])
def test_a_candidate_is_what_it_says(affine, weighted):
    rows = several_inputs(n_outputs=2)
    if weighted:
        rows = Rows(rows.X, rows.Y, np.random.default_rng(1).uniform(0.2, 2, len(rows)))
    candidates, _, _ = grown(rows, directions(rows.X, 0), 8, affine=affine)
    assert len(candidates) == 8
    for found in candidates:
        column = np.maximum(rows.X @ found.point[:-1] + found.point[-1], 0)[:, None]
        column = rows.weighted(column)[:, 0]
        assert np.linalg.norm(found.point) == pytest.approx(1)
        assert np.linalg.norm(column) == pytest.approx(found.norm)
        np.testing.assert_allclose(found.column, column / found.norm, atol=1e-12)


def test_the_proposal_is_at_least_as_good_as_any_neuron_of_the_pool():
    rows = several_inputs(150, 3, 2)
    pool = directions(rows.X, 0)
    search, factor = ContinuousSearch(rows, pool, 3), factor_of(rows)
    for _ in range(6):
        found = search.propose(factor)
        thresholds = np.linspace(-1.5, 1.5, 61)
        columns = [np.maximum(rows.X @ u - t, 0) for u in pool for t in thresholds]
        columns = [c for c in columns if 3 <= np.count_nonzero(c) <= len(rows) - 3]
        assert score_of(found, factor) >= scores_of(np.transpose(columns), factor).max()
        factor.append(found.column)
        search.accept(factor)


def test_every_group_of_blocks_knows_what_is_outside_the_span():
    rows = several_inputs(7_000, 3)
    rows = Rows(rows.X, rows.Y, np.random.default_rng(1).uniform(0.2, 2, len(rows)))
    _, factor, search = grown(rows, directions(rows.X, 0), 6)
    search.propose(factor)
    assert len(search.directions) == 3 + N_SPREAD + N_PAIRS + 6
    for group in search._groups:
        for i in (0, len(group.directions) - 1):
            for c in (3, 100, 254):
                g = np.maximum(rows.X @ group.directions[i] - group._ends[i, c], 0)
                left = outside_of(factor.Q, rows.weighted(g[:, None]))[:, 0]
                # Columns of single precision are taken off the whole norm.
                rounding = 1e-6 * group._sizes[i, c]
                assert group._outside[i, c] == pytest.approx(left @ left, rel=1e-6, abs=rounding)


def test_the_directions_of_neurons_that_are_taken_join_the_pool():
    rows = several_inputs()
    candidates, _, search = grown(rows, np.eye(3), 5)
    learned = search.directions[3:]
    # The last one would be added before the next scan.
    for found, u in zip(candidates[:-1], learned, strict=True):
        inner = found.point[:-1] / np.linalg.norm(found.point[:-1])
        assert abs(inner @ u) == pytest.approx(1)


def test_the_weak_search_takes_what_is_nearly_as_good_without_a_scan():
    rows = several_inputs()
    factor, weakness = factor_of(rows), 0.4
    pool = directions(rows.X, 0)
    search = ContinuousSearch(rows, pool, 3, n_refined=6, weakness=weakness)
    n_scans, scan = 0, search._scan

    def counted(factor):
        nonlocal n_scans
        n_scans += 1
        return scan(factor)

    search._scan = counted
    for step in range(12):
        n_before = n_scans
        found = search.propose(factor)
        score = score_of(found, factor)
        if n_scans > n_before:
            best = score
        assert score >= weakness * best * (1 - 1e-9), step
        assert factor.append(found.column)
        search.accept(factor)
    assert n_scans < 12


def test_a_search_that_ended_proposes_nothing():
    rows = several_inputs()
    search = ContinuousSearch(rows, np.eye(3), 3)
    assert search.propose(factor_of(rows)) is not None
    search.reject()
    assert search.propose(factor_of(rows)) is None


def test_nothing_is_proposed_where_nothing_is_left():
    rows = several_inputs()
    rows = Rows(rows.X, np.zeros((len(rows), 1)))
    assert ContinuousSearch(rows, np.eye(3), 3).propose(factor_of(rows)) is None
    few = Rows(np.array([[0.0], [1.0]]), np.array([[0.0], [1.0]]))
    assert ContinuousSearch(few, np.ones((1, 1)), 1).propose(factor_of(few)) is None


# Directions


@pytest.mark.parametrize("d", [2, 3, 10, 40, 200])
def test_directions_are_unit_vectors_with_the_axes_among_them(d):
    X = np.random.default_rng(0).standard_normal((50, d))
    found = directions(X, 3)
    np.testing.assert_allclose(np.linalg.norm(found, axis=1), 1)
    n_axes = min(d, 128)
    # A pair may be one row twice.
    assert n_axes + N_SPREAD + N_PAIRS - 4 <= len(found) <= n_axes + N_SPREAD + N_PAIRS
    assert np.sum(np.max(np.abs(found), axis=1) == 1) == n_axes
    np.testing.assert_array_equal(found, directions(X, 3))
    assert not np.array_equal(found, directions(X, 4))


def test_there_is_one_direction_in_one_dimension():
    for X in (np.zeros((5, 1)), np.arange(5.0)[:, None]):
        np.testing.assert_array_equal(directions(X, 0), [[1.0]])


def test_nothing_is_looked_for_along_a_constant_column():
    X = np.random.default_rng(0).standard_normal((50, 4))
    X[:, 2] = 0
    found = directions(X, 0)
    np.testing.assert_array_equal(found[:, 2], 0)
    np.testing.assert_allclose(np.linalg.norm(found, axis=1), 1)
    assert np.isfinite(directions(np.zeros((50, 4)), 0)).all()


def farthest(vectors):
    """Degrees from the vectors, either way round, to the direction farthest from them."""
    d = vectors.shape[1]
    anywhere = np.random.default_rng(0).standard_normal((5000, d))
    anywhere /= np.linalg.norm(anywhere, axis=1, keepdims=True)
    vectors = vectors / np.linalg.norm(vectors, axis=1, keepdims=True)
    return np.degrees(np.arccos(np.abs(anywhere @ vectors.T).max(axis=1).min()))


@pytest.mark.parametrize("d", [2, 3, 4])
def test_vectors_that_are_spread_leave_smaller_gaps_than_random_ones(d):
    spread_out = [farthest(spread(d, 32, np.random.default_rng(seed))) for seed in range(10)]
    by_chance = [
        farthest(np.random.default_rng(seed).standard_normal((32, d))) for seed in range(10)
    ]
    assert np.mean(spread_out) < 0.95 * np.mean(by_chance)
    if d == 2:
        assert max(spread_out) < 180 / 32 / 2 + 0.1


# Fits


def degrees_between(A, u):
    """Angles of vectors to the line of `u`."""
    cosines = np.abs(A @ u) / np.linalg.norm(A, axis=-1) / np.linalg.norm(u)
    return np.degrees(np.arccos(np.minimum(cosines, 1)))


def single_direction(function, scales, seed):
    rng = np.random.default_rng(seed)
    X = rng.uniform(-1, 1, (1000, 10)) * scales + 5 * scales
    u = rng.standard_normal(10)
    u /= np.linalg.norm(u)
    return X, function(((X - 5 * scales) / scales) @ u), u / scales


@pytest.mark.parametrize("scales", [1.0, 10.0 ** np.linspace(-2, 2, 10)], ids=["same", "mixed"])
@pytest.mark.parametrize("seed", range(2))
def test_the_direction_of_a_kink_is_found_by_the_first_neuron_in_ten_dimensions(seed, scales):
    """One neuron and the affine term are the function: nothing of it is left to mislead."""
    X, y, u = single_direction(lambda s: np.abs(s - 0.2), scales, seed)
    network = GreedyNetRegressor(correct=False, n_nodes=3).fit(X, y).network_
    # Weights are on the inputs as they come; compared where all inputs have the same scale.
    assert degrees_between(network.inner_weights * scales, u * scales)[0] < 1


def test_the_scan_is_compiled_without_the_lock():
    """Threads can only run at once where Python's lock is released."""
    for function in (scan.measure, scan.take_off, scan.best_thresholds):
        assert function.targetoptions["nogil"]


def test_directions_of_neurons_that_died_are_left_out():
    """A neuron whose direction is zero, to the last bit or exactly, has none to search along."""
    X, y = noisy(200, 2)
    learned = np.array([[3.0, -4.0], [0.0, 0.0], [0.0, 1e-100]])
    found = make_search(
        SearchTask(Rows(X, y[:, None]), Plan(Limits(1)), learned=learned)
    ).directions
    np.testing.assert_allclose(found[-2:], [[0.6, -0.8], [0.0, 1.0]], rtol=1e-14)
    np.testing.assert_allclose(np.linalg.norm(found, axis=1), 1, rtol=1e-14)


# Polishing moves neurons to better ones, judged by columns that are written out


def target_of(rows, n_columns=0, min_active=1, affine=True, seed=0):
    """What neurons are to fit, beside the affine functions and some other columns."""
    factor = Factor(rows.weighted(rows.Y))
    if affine:
        for column in AffineTerm.of(rows).columns.T:
            factor.append(column)
    for column in np.random.default_rng(seed).standard_normal((n_columns, len(rows))):
        factor.append(column)
    X1 = np.column_stack([rows.X, np.ones(len(rows))])
    scale = rows.row_scale
    return Target(X1, None if scale is None else scale[:, None], factor, min_active, not affine)


def some_rows(n=80, d=3, n_outputs=1, weighted=False, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.uniform(-1, 1, (n, d))
    Y = np.sin(3 * X @ rng.standard_normal((d, n_outputs))) + 0.1 * rng.standard_normal((n, 1))
    return Rows(X, Y, rng.uniform(0.2, 2, n) if weighted else None)


def some_neurons(m, d, seed=0):
    """Inner weights of length 1 for the inputs, with kinks among the rows."""
    rng = np.random.default_rng(seed)
    U = rng.standard_normal((m, d))
    U /= np.linalg.norm(U, axis=1, keepdims=True)
    return np.column_stack([U, rng.uniform(-0.5, 0.5, m)])


def explicit(target, w):
    """Score and outer weights of one neuron, by least squares on explicit columns."""
    g = np.maximum(target.X1 @ w, 0)
    if target.row_scale is not None:
        g = g * target.row_scale[:, 0]
    Q = target.factor.Q
    rest = g - Q @ (Q.T @ g)
    rest -= Q @ (Q.T @ rest)
    weights = np.linalg.lstsq(rest[:, None], target.factor.residual, rcond=None)[0][0]
    left = target.factor.residual - np.outer(rest, weights)
    return np.sum(target.factor.residual**2) - np.sum(left**2), weights


@pytest.mark.parametrize("affine", [False, True])
def test_neurons_on_too_few_rows_have_no_score(affine):
    X = np.arange(10.0)[:, None]
    target = target_of(Rows(X, X**2), min_active=3, affine=affine)
    thresholds = np.array([-5.0, -0.5, 0.5, 1.5, 2.5, 6.5, 7.5, 9.5])
    scores, _ = target.scores(np.column_stack([np.ones(8), -thresholds]))
    # Active on all rows is allowed where no affine term stands for such neurons.
    all_active = not affine
    wanted = [all_active, all_active, False, False, True, True, False, False]
    np.testing.assert_array_equal(scores > 0, wanted)
    np.testing.assert_array_equal(scores[~np.array(wanted)], -1)


def test_neurons_in_the_span_have_no_score():
    rows = some_rows()
    target = target_of(rows)
    w = some_neurons(1, 3)
    assert target.scores(w)[0][0] > 0
    target.factor.append(target.columns(w)[:, 0])
    assert target.scores(w)[0][0] == -1
    assert target.scores(3 * w)[0][0] == -1


def test_neurons_polished_together_are_polished_as_if_alone():
    target = target_of(some_rows(100, 4, 2, weighted=True), n_columns=3, min_active=5)
    W = some_neurons(12, 4)
    together = polish(W, target)
    alone = [polish(w[None], target) for w in W]
    np.testing.assert_allclose(together[1], [scores[0] for _, scores in alone], rtol=1e-9)
    np.testing.assert_allclose(together[0], [found[0] for found, _ in alone], atol=1e-9)


# Every activation

NEARLY_HOMOGENEOUS = ["gelu", "softplus"]
each_activation = pytest.mark.parametrize("name", ACTIVATIONS)


def target_for(name, rows, n_columns=0, min_active=1, affine=True):
    return replace(target_of(rows, n_columns, min_active, affine), activation=get_activation(name))


def neurons_for(name, m, d, seed=0):
    """Neurons among the rows, of several lengths if the length matters."""
    W = some_neurons(m, d, seed)
    if degree_of(get_activation(name)) is not None:
        return W
    return W * np.random.default_rng(seed + 1).uniform(1, 4, (m, 1))


def score_of_neuron(target, w):
    """The score of one neuron, from its column; no bound on the rows it lives on."""
    g = target.activation.value(target.X1 @ w)
    if target.row_scale is not None:
        g = g * target.row_scale[:, 0]
    rest = g - target.factor.Q @ (target.factor.Q.T @ g)
    rest -= target.factor.Q @ (target.factor.Q.T @ rest)
    return float(np.sum((target.factor.residual.T @ g) ** 2) / (rest @ rest))


@each_activation
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("affine", [True, False])
def test_no_score_falls_whatever_the_activation(name, weighted, affine):
    for seed, n_outputs, min_active in ((0, 1, 1), (1, 2, 4), (2, 3, 8)):
        rows = some_rows(50, 1 + seed, n_outputs, weighted, seed)
        target = target_for(name, rows, 3, min_active, affine)
        W = neurons_for(name, 6, 1 + seed, seed)
        W.flags.writeable = False
        before, _ = target.scores(W)
        start = before
        assert (before > 0).any()
        for n_steps in (0, 1, 3, 10):
            polished, scores = polish(W, target, n_steps)
            assert (scores >= before).all()
            np.testing.assert_array_equal(polished[start < 0], W[start < 0])
            for w, found in zip(polished, scores, strict=True):
                assert found < 0 or found == pytest.approx(score_of_neuron(target, w), rel=1e-6)
            before = scores
        moved = start > 0
        assert before[moved].sum() > 1.05 * start[moved].sum()


@each_activation
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("n_outputs", [1, 2])
def test_a_step_goes_up_the_score_by_gauss_and_newton(name, weighted, n_outputs):
    """`(J' P J + mu) step` is the derivative of the score, over `2 |c|^2`."""
    rows = some_rows(60, 2, n_outputs, weighted)
    target = target_for(name, rows, n_columns=4)
    W = neurons_for(name, 5, 2, seed=3)
    # No row is so near a kink that a difference would cross it.
    assert np.abs(target.X1 @ W.T).min() > 1e-4
    scores, weights = target.scores(W)
    assert (scores > 0).all()
    scale = np.ones((60, 1)) if target.row_scale is None else target.row_scale
    P = np.eye(60) - target.factor.Q @ target.factor.Q.T
    steps = _gauss_newton_steps(W, weights, target, damping=1e-3)
    for w, c, step in zip(W, weights, steps, strict=True):
        J = target.activation.slope(target.X1 @ w)[:, None] * target.X1 * scale
        system = J.T @ P @ J + 1e-3 * np.trace(J.T @ J) / 3 * np.eye(3)
        gradient = numeric_gradient(lambda at: score_of_neuron(target, at), w)
        wanted = gradient / (2 * c @ c)
        np.testing.assert_allclose(system @ step, wanted, atol=1e-5 * np.abs(wanted).max())


# Steps without much damping, and as long as they bring anything.
PATIENT = {"damping": 1e-9, "worth": 1 + 1e-14}


def one_neuron(name, seed, weighted, noise=0.0):
    """A target of one neuron beside an affine function, the neuron, and a start near it."""
    rng = np.random.default_rng(seed)
    scale = 1.0 if degree_of(get_activation(name)) is not None else 5.0
    X, w = rng.uniform(-1, 1, (300, 2)), scale * some_neurons(1, 2, seed)[0]
    g = get_activation(name).value(X @ w[:-1] + w[-1])
    Y = np.outer(g, [1.5, -1.0]) + X @ rng.standard_normal((2, 2)) + 1
    Y += noise * np.std(g) * rng.standard_normal(Y.shape)
    target = target_for(name, Rows(X, Y, rng.uniform(0.2, 2, 300) if weighted else None))
    return target, w, w + 0.1 * scale * rng.standard_normal(3)


@each_activation
@pytest.mark.parametrize("weighted", [False, True])
def test_a_planted_neuron_is_nearly_found_and_found_by_patience(name, weighted):
    """Steps that bring next to nothing are not made: what is left of the score is little."""
    slow = name in NEARLY_HOMOGENEOUS
    for seed in range(4):
        target, w, start = one_neuron(name, seed, weighted)
        (found,), (score,) = polish(start[None], target, 100)
        whole = target.factor.residual_norm**2
        assert (1 - 5e-4) * whole < score <= whole * (1 + 1e-9)
        (first,), _ = target.scores(start[None])
        assert whole - score < 0.1 * (whole - first)
        if degree_of(target.activation) is not None:
            np.testing.assert_allclose(found, w, atol=2e-3)
        # Direction, threshold and, where it matters, scale.
        (found,), (score,) = polish(start[None], target, 2000 if slow else 200, **PATIENT)
        assert score == pytest.approx(whole, rel=1e-10)
        np.testing.assert_allclose(found, w, atol=2e-4 if slow else 1e-5)


@pytest.mark.parametrize(
    ("n", "d", "moves"),
    [(1_000, 200, True), (1_100, 1_000, False), (100, 1_000, True), (100, 1_001, False)],
)
def test_expensive_steps_are_not_taken(n, d, moves):
    """With many rows the matrix is expensive, with few of them the solution."""
    X = np.random.default_rng(0).normal(size=(n, d))
    rows = Rows(X, np.maximum(X @ some_neurons(1, d, seed=1)[:, :-1].T, 0))
    target, W = target_of(rows, affine=False, min_active=5), some_neurons(1, d)
    found, scores = polish(W, target, 1)
    assert np.array_equal(found, W) == (not moves)
    np.testing.assert_allclose(scores, target.scores(found)[0], rtol=1e-9)
