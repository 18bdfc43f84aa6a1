"""The joint correction keeps its promises; twins write everything out."""

from dataclasses import replace

import numpy as np
import pytest

from greedynet.activations import ACTIVATIONS, degree_of, get_activation
from greedynet.correction.outer_solver import OuterSolver
from greedynet.correction.reduced_problem import spacing, system
from greedynet.correction.variable_projection import MAX_BLOCK, VariableProjection
from greedynet.fitting.forms import Form
from greedynet.fitting.make_search import N_WAITING, WEAKNESS
from greedynet.fitting.objective import Objective
from greedynet.fitting.plan import Limits, Plan
from greedynet.fitting.problem import Problem
from greedynet.fitting.squares import Neurons
from greedynet.linalg import weights as triangles
from greedynet.linalg.factor import Factor
from greedynet.model.candidate import NETWORK, Candidate
from greedynet.rows.affine import AffineTerm
from greedynet.rows.rows import Rows
from greedynet.search import ContinuousSearch
from greedynet.search.sphere import directions
from greedynet.support.context import FitContext
from problems import numeric_gradient


def some_rows(n=80, d=2, n_outputs=1, noise=0.2, weighted=False, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.uniform(-1, 1, (n, d))
    Y = np.sin(3 * X @ rng.standard_normal((d, n_outputs)))
    Y += noise * rng.standard_normal((n, n_outputs))
    return Rows(X, Y, rng.uniform(0.2, 2, n) if weighted else None)


def some_neurons(k, d, seed=0):
    """Inner weights, bias last, of neurons with kinks among the rows."""
    rng = np.random.default_rng(seed)
    W = np.column_stack([rng.standard_normal((k, d)), rng.uniform(-0.5, 0.5, k)])
    W[:, :-1] /= np.linalg.norm(W[:, :-1], axis=1, keepdims=True)
    return W * rng.uniform(0.3, 3, (k, 1))


def affine_of(rows, affine=True):
    return (AffineTerm.of(rows) if affine else AffineTerm.absent(rows)).columns


def state_of(rows, W, ridge=0.1, affine=True, max_block=MAX_BLOCK):
    return VariableProjection(rows, affine_of(rows, affine), W, ridge, max_block=max_block)


def columns_of(rows, W, affine, name="relu"):
    X1 = np.column_stack([rows.X, np.ones(len(rows))])
    return np.column_stack([affine, rows.weighted(get_activation(name).value(X1 @ W.T))])


def penalty_of(F, affine, ridge):
    return np.diag(np.r_[np.zeros(affine.shape[1]), np.full(F.shape[1] - affine.shape[1], ridge)])


def solved(rows, W, affine, ridge, name="relu"):
    """Outer weights and residual of given inner weights, by ridge regression."""
    F, Y = columns_of(rows, W, affine, name), rows.weighted(rows.Y)
    weights = np.linalg.solve(F.T @ F + penalty_of(F, affine, ridge), F.T @ Y)
    return weights, Y - F @ weights


def twin_objective(rows, W, affine, ridge, name="relu"):
    weights, residual = solved(rows, W, affine, ridge, name)
    size = np.sum(W**2) + np.sum(weights[affine.shape[1] :] ** 2)
    return float(np.sum(residual**2) + ridge * size)


def objective(state, ridge=None):
    """`E + lam (|W|^2 + |c|^2)` of a state."""
    outer = state.weights[len(state.weights) - state.n_neurons :]
    size = np.sum(state.points**2) + np.sum(outer**2)
    return float(state.error + (state.ridge if ridge is None else ridge) * size)


def stacked_jacobian(rows, W, C):
    """Derivative of all outputs, one below the other, by the inner weights; `c` is held."""
    X1 = np.column_stack([rows.X, np.ones(len(rows))])
    active = X1 @ W.T > 0
    blocks = []
    for o in range(C.shape[1]):
        slopes = active * C[:, o]
        J = (slopes[:, :, None] * X1[:, None, :]).reshape(len(X1), -1)
        blocks.append(rows.weighted(J))
    return np.concatenate(blocks)


def twin_system(rows, state, affine):
    """The matrix of a Gauss-Newton step with the outer weights eliminated, outputs stacked."""
    F = columns_of(rows, state.points, affine)
    M = F.T @ F + penalty_of(F, affine, state.ridge)
    P = np.eye(len(F)) - F @ np.linalg.inv(M) @ F.T
    C = state.weights[affine.shape[1] :]
    J = stacked_jacobian(rows, state.points, C)
    return J.T @ np.kron(np.eye(C.shape[1]), P) @ J


def symmetric(S):
    return np.tril(S) + np.tril(S, -1).T


class Watched:
    """LAPACK, with the systems it solved."""

    def __init__(self, lapack):
        self._lapack, self.right, self.factors, self.solutions = lapack, [], [], []

    def __getattr__(self, name):
        return getattr(self._lapack, name)

    def dpotrs(self, factor, right, **options):
        solution = self._lapack.dpotrs(factor, right, **options)
        self.right.append(right.copy())
        self.factors.append(np.tril(factor))
        self.solutions.append(solution[0].copy())
        return solution


@pytest.fixture
def lapack(monkeypatch):
    watched = Watched(triangles.lapack)
    monkeypatch.setattr(triangles, "lapack", watched)
    return watched


def test_a_step_solves_the_damped_system(lapack):
    rows = some_rows(n_outputs=2)
    state = state_of(rows, some_neurons(5, 2))
    before, ridge, damping = state.points.copy(), state.ridge, state.damping
    S = twin_system(rows, state, affine_of(rows))
    state.improve(1)
    damped = S + np.diag(ridge + damping * S.diagonal())
    np.testing.assert_allclose(
        lapack.factors[0] @ lapack.factors[0].T, damped, rtol=1e-6, atol=1e-6
    )
    wanted = np.linalg.solve(damped, lapack.right[0])
    np.testing.assert_allclose(lapack.solutions[0], wanted, rtol=1e-4, atol=1e-7)
    taken = (state.points - before).ravel()
    np.testing.assert_array_equal(taken, before.ravel() + lapack.solutions[-1] - before.ravel())


def test_blocks_reach_all_neurons_and_come_as_far():
    rows = some_rows(150, 2, noise=0.05)
    W = some_neurons(9, 2)
    whole = state_of(rows, W).improve(40)
    state = state_of(rows, W, max_block=6)
    assert [block.indices(9)[:2] for block, _ in state.systems()] == [
        (0, 2),
        (2, 4),
        (4, 6),
        (6, 8),
        (8, 9),
    ]
    start, before = state.points.copy(), objective(state)
    state.improve(60)
    assert np.all(np.any(state.points != start, axis=1))
    assert before - objective(state) > 0.8 * (before - objective(whole))


# The ridge and the effective parameters


def twin_dof(rows, state, affine):
    """Effective parameters by explicit inverses: of inner weights, outer weights, affine term."""
    t, k = rows.Y.shape[1], state.n_neurons
    S = twin_system(rows, state, affine)
    inner = len(S) - state.ridge * np.trace(np.linalg.inv(S + state.ridge * np.eye(len(S))))
    F = columns_of(rows, state.points, affine)
    M = F.T @ F + penalty_of(F, affine, state.ridge)
    r = affine.shape[1]
    outer = k - state.ridge * np.trace(np.linalg.inv(M)[r:, r:])
    return inner + t * (outer + r)


def hat_trace(rows, state, affine):
    """Trace of the hat matrix of the linearised problem, all weights at once."""
    t = rows.Y.shape[1]
    F = columns_of(rows, state.points, affine)
    J = stacked_jacobian(rows, state.points, state.weights[affine.shape[1] :])
    both = np.column_stack([np.kron(np.eye(t), F), J])
    penalty = np.r_[np.tile(penalty_of(F, affine, state.ridge).diagonal(), t)]
    penalty = np.r_[penalty, np.full(J.shape[1], state.ridge)]
    return float(np.trace(both @ np.linalg.solve(both.T @ both + np.diag(penalty), both.T)))


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("n_outputs", [1, 3])
@pytest.mark.parametrize("ridge", [1e-3, 0.1, 3.0])
def test_effective_parameters_are_those_of_explicit_inverses(n_outputs, weighted, ridge):
    rows = some_rows(n_outputs=n_outputs, weighted=weighted)
    state = state_of(rows, some_neurons(5, 2), ridge)
    A = affine_of(rows)
    wanted, exact = twin_dof(rows, state, A), hat_trace(rows, state, A)
    state.settle(1)
    assert state.dof == pytest.approx(wanted, rel=1e-5)
    # Not the trace to the last digit: the scale of a neuron, which inner and outer weights share,
    # is none of its parameters and counted as a half.
    assert exact - 1e-6 <= state.dof <= exact + 0.6 * state.n_neurons


def test_the_ridge_follows_the_evidence():
    rows = some_rows(n_outputs=2)
    state = state_of(rows, some_neurons(5, 2), 0.5)
    for _ in range(5):
        outer = state.weights[-5:]
        error, size = state.error, np.sum(state.points**2) + np.sum(outer**2)
        before = state.ridge
        state.settle(1)
        noise = error / (rows.Y.size - state.dof)
        wanted = noise * (state.dof - 3 * 2) / size
        assert state.ridge == pytest.approx(min(wanted, 10 * before), rel=1e-9)


def test_the_ridge_comes_from_below_and_not_too_fast():
    rows = some_rows(noise=1.0)
    state = state_of(rows, some_neurons(5, 2), None)
    A = affine_of(rows)
    left = rows.Y - A @ (A.T @ rows.Y)
    assert state.ridge == pytest.approx(1e-6 * len(rows) * np.sqrt(np.mean(left**2)))
    ridges = [state.ridge]
    for _ in range(12):
        state.settle(1)
        ridges.append(state.ridge)
    assert np.all(np.diff(np.log(ridges)) <= np.log(10) * (1 + 1e-9))
    assert ridges[-1] > 0.1
    assert ridges[-1] == pytest.approx(ridges[-2], rel=0.2)


@pytest.mark.parametrize("noise", [0.1, 0.5])
def test_the_noise_is_found(noise):
    """`E / (n - gamma)` of a network that can be the function is the noise's variance."""
    found = []
    for seed in range(6):
        rng = np.random.default_rng(seed)
        X, W = rng.uniform(-1, 1, (200, 2)), some_neurons(6, 2, seed)
        Y = np.maximum(X @ W[:, :-1].T + W[:, -1], 0).sum(axis=1, keepdims=True)
        rows = Rows(X, Y + noise * rng.standard_normal((200, 1)))
        state = state_of(rows, W, None).settle(8)
        assert 5 < state.dof < 25
        found.append(state.error / (200 - state.dof))
    assert np.sqrt(np.mean(found)) == pytest.approx(noise, rel=0.06)


@pytest.mark.parametrize("n_outputs", [1, 3])
def test_cross_validation_is_its_formula(n_outputs):
    rows = some_rows(n_outputs=n_outputs)
    state = state_of(rows, some_neurons(5, 2)).settle(3)
    n = 80 * n_outputs
    assert 3 * n_outputs < state.dof < 0.9 * n
    assert state.gcv == pytest.approx(state.error / n / (1 - state.dof / n) ** 2)


def test_cross_validation_is_finite_where_there_are_too_many_neurons():
    rows = some_rows(12)
    state = state_of(rows, some_neurons(10, 2), 1e-9)
    assert state.dof > 12
    assert state.gcv == pytest.approx(state.error / 12 / 0.05**2)


def harmless(name):
    """Rows and neurons of a case in which something could become infinite."""
    rows, W = some_rows(40), some_neurons(5, 2)
    X = rows.X
    cases = {
        "noise": lambda: (Rows(X, np.random.default_rng(0).standard_normal((40, 2))), W),
        "zero": lambda: (Rows(X, np.zeros((40, 1))), W),
        "affine": lambda: (Rows(X, X @ np.ones((2, 1)) + 1), W),
        "planted": lambda: (Rows(X, np.maximum(X @ W[:, :-1].T + W[:, -1], 0)), W),
        "twice the same neuron": lambda: (rows, np.concatenate([W, W, 2 * W])),
        "a dead neuron": lambda: (rows, np.concatenate([W, [[0.1, 0.1, -5.0]]])),
        "all neurons dead": lambda: (rows, np.array([[0.1, 0.1, -5.0]])),
        "active on all rows": lambda: (rows, np.concatenate([W, [[0.1, 0.1, 5.0]]])),
        "a neuron of zeros": lambda: (rows, np.concatenate([W, np.zeros((1, 3))])),
        "more neurons than rows": lambda: (rows, some_neurons(50, 2)),
        "no neuron": lambda: (rows, W[:0]),
        "two rows": lambda: (rows.take(np.arange(2)), W),
        "equal rows": lambda: (Rows(np.zeros((40, 2)), rows.Y), W),
        "weights of a huge range": lambda: (Rows(X, rows.Y, np.geomspace(1e-8, 1e2, 40)), W),
    }
    return cases[name]() if name else cases


@pytest.mark.parametrize("name", harmless(None))
def test_settling_keeps_everything_finite(name):
    rows, W = harmless(name)
    for affine in (True, False):
        state = state_of(rows, W, None, affine)
        first = state.error
        for _ in range(8):
            state.settle(1)
            numbers = [state.points, state.weights, state.columns]
            numbers += [state.error, state.ridge, state.dof, state.gcv]
            assert all(np.isfinite(number).all() for number in numbers)
        assert state.error <= max(10 * first, np.sum(rows.weighted(rows.Y) ** 2)) + 1e-9
        assert state.n_neurons == len(W)
        pruned = state.without(len(W) // 2).settle(3)
        assert pruned.n_neurons == len(W) // 2
        assert np.isfinite(pruned.weights).all()
        assert np.isfinite(state.without(0).gcv)


def lines_of(W):
    return W / np.linalg.norm(W, axis=1, keepdims=True)


@pytest.mark.parametrize("n_outputs", [1, 3])
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("ridge", [1e-4, 0.3])
def test_the_neurons_that_cost_least_are_left_out(n_outputs, weighted, ridge):
    """The twin fits anew without each neuron in turn, and leaves out the one least missed."""
    for seed in range(3):
        rows = some_rows(n_outputs=n_outputs, weighted=weighted, seed=seed)
        state = state_of(rows, some_neurons(9, 2, seed), ridge).improve(2)
        A = affine_of(rows)
        total = np.sum(rows.weighted(rows.Y) ** 2)
        left = list(range(9))
        for n_neurons in range(8, -1, -1):
            found = state.without(n_neurons)
            assert found.n_neurons == n_neurons
            assert found.ridge == ridge
            same = lines_of(found.points) @ lines_of(state.points).T > 1 - 1e-9
            np.testing.assert_array_equal(same.sum(axis=1), 1)
            (missing,) = set(left) - set(np.flatnonzero(same.any(axis=0)))
            costs = {}
            for j in left:
                rest = [i for i in left if i != j]
                weights, residual = solved(rows, state.points[rest], A, ridge)
                size = np.sum(weights[A.shape[1] :] ** 2)
                costs[j] = np.sum(residual**2) + ridge * size
            # Of several that cost nothing any one may go.
            assert costs[missing] <= min(costs.values()) + 1e-7 * total
            left.remove(missing)


# Networks of a fit


def growth_of(n=200, d=2, noise=0.3, n_outputs=1, seed=0, **settings):
    """The networks of noisy rows, and the rows as they came."""
    rows = some_rows(n, d, n_outputs, noise, seed=seed)
    plan = Plan(Limits(30), single_output=n_outputs == 1, **settings)
    return Objective().begin(rows, Form(), plan, FitContext()), rows


@pytest.mark.parametrize("n_more", [1, 4])
def test_more_neurons_are_those_that_lower_the_error_most(n_more):
    """The twin continues from the neurons as if they had been grown."""
    growth, _ = growth_of(noise=0.0)
    rows, points, turn = growth.problem.rows, some_neurons(5, 2), 1
    found = growth.problem.more_neurons(points, n_more, turn, rows)
    factor = Factor(rows.weighted(rows.Y), dependent=3e-3)
    for column in columns_of(rows, points, affine_of(rows)).T:
        factor.append(column)
    pool = np.concatenate([directions(rows.X, 2 + turn), lines_of(points[:, :-1])])
    weak = {"n_refined": N_WAITING, "weakness": WEAKNESS}
    search, twin = ContinuousSearch(rows, pool, 2, mirrored=True, **weak), [points]
    for _ in range(n_more):
        candidate = search.propose(factor)
        assert factor.append(candidate.column)
        search.accept(factor)
        twin.append(candidate.point[None])
    np.testing.assert_allclose(found, np.concatenate(twin), rtol=1e-6, atol=1e-9)


@pytest.mark.parametrize("noise", [0.0, 0.5])
def test_wider_networks_have_a_smaller_objective(noise):
    """Neurons are added to a network that was corrected, and all are corrected."""
    growth, _ = growth_of(noise=noise)
    known, before = {}, np.inf
    for width in (1, 2, 3, 4, 6, 9):
        state = growth.fitted(Candidate(NETWORK, width), known)
        known[Candidate(NETWORK, width)] = state
        assert len(state.points) == width
        error = growth.training_error([state])
        assert error < before * (1 + 1e-3)
        before = error
    # Pruned to a width, the network is better than one that was grown to it, or nearly as good.
    pruned = growth.fitted(Candidate(NETWORK, 6, pruned=True), known)
    assert len(pruned.points) == 6
    assert growth.training_error([pruned]) < 1.1 * growth.training_error(
        [known[Candidate(NETWORK, 6)]]
    )


@pytest.mark.parametrize("noise", [0.0, 0.5])
def test_a_refit_never_worsens_cross_validation(noise):
    """Neurons are exchanged only if this lowers the score."""
    for seed in range(2):
        growth, _ = growth_of(120, noise=noise, seed=seed)
        start = Neurons(some_neurons(6, 2, seed), None)
        settled = growth.at(growth._neurons(growth._settled(growth._new(start))))
        found = growth.refitted(Candidate(NETWORK, 6), lambda _, start=start: start, growth.problem)
        assert len(found.points) == 6
        assert growth.at(found).gcv <= settled.gcv * (1 + 1e-6)


def test_an_exchange_where_nothing_grows_changes_nothing(monkeypatch):
    growth, _ = growth_of(120)
    state = growth._settled(growth._new(Neurons(some_neurons(10, 2), None)))
    monkeypatch.setattr(Problem, "more_neurons", lambda problem, points, *_: points)
    assert growth._exchanged(state, 0) is state


@pytest.mark.parametrize("linear_term", [True, False])
@pytest.mark.parametrize("n_outputs", [1, 2])
def test_the_average_of_networks_predicts_the_mean(n_outputs, linear_term):
    growth, rows = growth_of(n_outputs=n_outputs, linear_term=linear_term)
    states = [Neurons(some_neurons(8, 2, seed), 0.1) for seed in (0, 1, 2)]
    X = np.concatenate([rows.X, 3 * rows.X])
    networks = [replace(growth.network([state]), reach=np.inf) for state in states]
    each = [network.predict(X) for network in networks]
    averaged = replace(growth.network(states), reach=np.inf)
    assert averaged.n_neurons == sum(network.n_neurons for network in networks)
    np.testing.assert_allclose(averaged.predict(X), np.mean(each, axis=0), rtol=1e-9, atol=1e-9)
    assert np.abs(each[0] - each[1]).max() > 0.01
    # Of a network with itself, it is the network.
    twice = replace(growth.network([states[0], states[0]]), reach=np.inf)
    np.testing.assert_allclose(twice.predict(X), each[0], rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("n_outputs", [1, 2])
def test_the_network_of_a_state_predicts_what_the_state_does(n_outputs):
    """On the inputs and outputs as they came."""
    growth, rows = growth_of(n_outputs=n_outputs)
    state = Neurons(some_neurons(8, 2), 0.1)
    X = np.concatenate([rows.X, 3 * rows.X])
    wanted = growth.predict([state], Rows(X, np.zeros((len(X), n_outputs))))
    found = replace(growth.network([state]), reach=np.inf).predict(X).reshape(wanted.shape)
    np.testing.assert_allclose(found, wanted, rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("limits", [Limits(6, exact=True), Limits(6)], ids=["exact", "last"])
def test_neurons_that_died_are_replaced_if_all_were_asked_for(limits):
    growth, _ = growth_of()
    plan = replace(growth.problem.plan, limits=limits, select="best" if limits.exact else "last")
    growth = Objective().begin(some_rows(200, noise=0.3), Form(), plan, FitContext())
    W = some_neurons(4, 2)
    start = Neurons(np.concatenate([W, W[:1], [[0.1, 0.1, -50.0]]]), 0.1)
    assert growth.network([start]).n_neurons == 4
    assert growth.network([growth._filled(start, 6)]).n_neurons == 6
    assert growth._filled(start, 5) is start  # a width on the way


# Every activation

SMOOTH = [name for name, sigma in ACTIVATIONS.items() if degree_of(sigma) is None]
each_activation = pytest.mark.parametrize("name", ACTIVATIONS)


def state_for(name, rows, W, ridge=0.1, affine=True, max_block=MAX_BLOCK):
    columns, activation = affine_of(rows, affine), get_activation(name)
    return VariableProjection(rows, columns, W, ridge, activation, max_block=max_block)


@each_activation
@pytest.mark.parametrize("affine", [True, False])
@pytest.mark.parametrize("weighted", [False, True])
def test_the_objective_never_rises(name, weighted, affine):
    for seed, ridge in enumerate((1e-6, 1e-2, 1.0)):
        rows = some_rows(60, 1 + seed, 1 + seed, weighted=weighted, seed=seed)
        W, max_block = some_neurons(6, 1 + seed, seed), (MAX_BLOCK, 8, 1)[seed]
        state = state_for(name, rows, W, ridge, affine, max_block)
        first = before = objective(state)
        for _ in range(8):
            state.improve(1)
            after = objective(state)
            assert after <= before * (1 + 1e-12)
            before = after
        assert after < 0.99 * first
        assert state.ridge == ridge
        if seed:
            # With next to no ridge, and powers of one input, rounding says what the weights are.
            A = affine_of(rows, affine)
            _, residual = solved(rows, state.points, A, ridge, name)
            assert state.error == pytest.approx(np.sum(residual**2), rel=1e-6)


@each_activation
@pytest.mark.parametrize(
    ("weighted", "n_outputs", "affine"),
    [(False, 1, True), (True, 3, True), (True, 1, False), (False, 3, False)],
)
def test_the_gradient_is_that_of_finite_differences(lapack, name, n_outputs, weighted, affine):
    rows = some_rows(n_outputs=n_outputs, weighted=weighted)
    state = state_for(name, rows, some_neurons(5, 2), affine=affine)
    W = state.points.copy()
    # No row is so near a kink that a difference would cross it.
    X1 = np.column_stack([rows.X, np.ones(len(rows))])
    assert np.abs(X1 @ W.T).min() > 1e-5
    numeric = numeric_gradient(
        lambda at: twin_objective(rows, at, affine_of(rows, affine), state.ridge, name), W, 1e-6
    )
    state.improve(1)
    # The step goes down, along half of the derivative.
    atol = 1e-6 * np.abs(numeric).max()
    np.testing.assert_allclose(-2 * lapack.right[0], numeric.ravel(), rtol=1e-5, atol=atol)


@each_activation
@pytest.mark.parametrize("n_outputs", [1, 2])
def test_the_system_is_that_of_the_derivative(name, n_outputs):
    """Kaufman's form, with the projector and the derivatives of all outputs written out."""
    rows = some_rows(n_outputs=n_outputs, weighted=True)
    state, A = state_for(name, rows, some_neurons(4, 2)), affine_of(rows)
    F = columns_of(rows, state.points, A, name)
    P = np.eye(len(F)) - F @ np.linalg.solve(F.T @ F + penalty_of(F, A, state.ridge), F.T)
    X1 = np.column_stack([rows.X, np.ones(len(rows))])
    slope = get_activation(name).slope(X1 @ state.points.T)
    B = rows.weighted((slope[:, :, None] * X1[:, None, :]).reshape(len(X1), -1))
    C = state.weights[A.shape[1] :]
    wanted = np.kron(C @ C.T, np.ones((3, 3))) * (B.T @ P @ B)
    ((_, S),) = state.systems()
    atol = 1e-8 * np.abs(wanted).max()
    np.testing.assert_allclose(symmetric(S), wanted, rtol=1e-6, atol=atol)


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("name", [n for n, s in ACTIVATIONS.items() if degree_of(s) is not None])
def test_balancing_shares_the_size_and_changes_no_prediction(name, weighted):
    """`|w|^2 = k |c|^2` is where `|w|^2 + |c|^2` is least for a given `|c| |w|^k`."""
    k = degree_of(get_activation(name))
    rows = some_rows(n_outputs=2, weighted=weighted)
    W, A, ridge = some_neurons(5, 2), affine_of(rows), 1e-10
    state = state_for(name, rows, W, ridge)
    weights, residual = solved(rows, W, A, ridge, name)
    found = rows.weighted(state.predict(rows.X, AffineTerm.of(rows).evaluate(rows.X)))
    np.testing.assert_allclose(rows.weighted(rows.Y) - found, residual, atol=1e-6)
    inner = np.linalg.norm(state.points, axis=1)
    outer = np.linalg.norm(state.weights[A.shape[1] :], axis=1)
    np.testing.assert_allclose(inner**2, k * outer**2, rtol=1e-4)
    size = np.sum(inner**2 + outer**2)
    before = np.linalg.norm(weights[A.shape[1] :], axis=1) * np.linalg.norm(W, axis=1) ** k
    np.testing.assert_allclose(outer * inner**k, before, rtol=1e-4)
    for change in (0.99, 1.01):
        assert np.sum((change * inner) ** 2 + (outer / change**k) ** 2) > size
    # Once balanced, it stays.
    np.testing.assert_allclose(state.at(state.points).points, state.points, rtol=1e-4)


@pytest.mark.parametrize("name", SMOOTH)
def test_where_scaling_makes_a_difference_nothing_is_scaled(name):
    W = some_neurons(5, 2)
    np.testing.assert_array_equal(state_for(name, some_rows(), W).points, W)


@each_activation
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("affine", [True, False])
def test_predictions_on_the_rows_are_the_rows_less_the_residual(name, weighted, affine):
    rows = some_rows(n_outputs=2, weighted=weighted)
    state = state_for(name, rows, some_neurons(5, 2), affine=affine).improve(3)
    term = AffineTerm.of(rows) if affine else AffineTerm.absent(rows)
    found = rows.weighted(state.predict(rows.X, term.evaluate(rows.X)))
    np.testing.assert_allclose(found, rows.weighted(rows.Y) - state._at.residual, atol=1e-9)
    assert np.sum((rows.weighted(rows.Y) - found) ** 2) == pytest.approx(state.error, rel=1e-9)


@each_activation
def test_the_first_ridge_is_small_and_smaller_for_smooth_neurons(name):
    rows = some_rows()
    A = affine_of(rows)
    left = rows.Y - A @ (A.T @ rows.Y)
    share = 1e-6 if name in ("relu", "leaky_relu", "abs") else 1e-10
    wanted = share * len(rows) * np.sqrt(np.mean(left**2))
    assert state_for(name, rows, some_neurons(5, 2), None).ridge == pytest.approx(wanted)


@each_activation
@pytest.mark.parametrize("affine", [True, False])
def test_neurons_that_were_moved_find_back(name, affine):
    rng = np.random.default_rng(0)
    X = rng.uniform(-1, 1, (300, 2))
    scale = 1.0 if degree_of(get_activation(name)) is not None else 4.0
    W = lines_of(some_neurons(3, 2, seed=2)) * scale
    G = get_activation(name).value(X @ W[:, :-1].T + W[:, -1])
    rows = Rows(X, G @ rng.uniform(1, 2, (3, 2)))
    state = state_for(name, rows, W * (1 + 0.05 * rng.standard_normal(W.shape)), 1e-12, affine)
    before = state.error
    for _ in range(100):
        state.improve(1)
    found = state.points
    if scale == 1.0:
        found = lines_of(found)
    assert state.error < 1e-12 * before
    np.testing.assert_allclose(found, W, atol=1e-6)


@pytest.mark.parametrize("degree", [1, 2, 3])
def test_neurons_that_the_penalty_has_shrunk_to_nothing_are_left_out(degree):
    """Their columns are next to the smallest numbers, and no longer orthogonal to anything."""
    activation = get_activation({1: "relu", 2: "relu2", 3: "relu3"}[degree])
    growth, _ = growth_of(activation=activation)
    rows, coordinates = growth.problem.rows, growth.problem.coordinates
    W = np.vstack([some_neurons(4, 2), 10.0 ** (-155 / degree) * some_neurons(3, 2, seed=1)])
    state = VariableProjection(rows, coordinates.affine_columns(rows), W[:4], 1e-3, activation)
    # As after many steps: balancing would make them larger.
    dead = state.moved(np.vstack([state.points, W[4:]]))
    np.testing.assert_array_equal(dead.alive, np.arange(7) < 4)
    solver = OuterSolver(coordinates, rows, activation, True)
    network, wanted = solver.network([dead]), solver.network([state])
    assert network.n_neurons == 4
    X = coordinates.inputs.apply(rows.X)
    np.testing.assert_allclose(network.predict(X), wanted.predict(X), rtol=1e-9, atol=1e-12)


def test_a_step_on_many_rows_needs_the_matrix_of_some_of_them():
    """The twin is the matrix of evenly spaced rows, times their distance."""
    rows, W = some_rows(n=5_000, d=2), some_neurons(4, 2)
    state = state_of(rows, W)
    S = state.systems()[0][1]
    step = spacing(len(rows), W.size)
    assert step == 4
    some = Rows(rows.X[::step], rows.Y[::step])
    twin = VariableProjection(some, affine_of(rows)[::step], W, state.ridge / step)
    twin = twin.moved(state.points)
    # The matrix depends on the outer weights, which are those of all rows.
    twin._at.weights[:] = state.weights
    np.testing.assert_allclose(np.tril(S), step * np.tril(twin.systems()[0][1]), rtol=1e-8)
    exact = system(state._problem, state._at, state.ridge, slice(None))
    np.testing.assert_allclose(np.diag(S), np.diag(exact), rtol=0.2)


def test_steps_end_when_they_gain_little():
    rows, W = some_rows(noise=1.0), some_neurons(5, 2)
    objectives, state = [], state_of(rows, W)
    for _ in range(30):
        state.settle(1)
        objectives.append(state._at.objective(state.ridge))
    early = state_of(rows, W).settle(30, enough=0.05)
    late = state_of(rows, W).settle(30)
    np.testing.assert_array_equal(late.points, state_of(rows, W).settle(30, enough=0.0).points)
    assert early._at.objective(early.ridge) > late._at.objective(early.ridge) * (1 - 1e-9)
    assert not np.array_equal(early.points, late.points)
