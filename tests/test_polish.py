"""Polishing moves neurons to better ones, judged by columns that are written out."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from greedynet.activations import ACTIVATIONS, degree_of, get_activation
from greedynet.linalg.factor import Factor
from greedynet.rows.affine import AffineTerm
from greedynet.rows.rows import Rows
from greedynet.search.polish import Target, _gauss_newton_steps, polish


def law(**strategies):
    """A property of polishing, on the same forty examples in every run."""

    def decorate(test):
        return settings(max_examples=40, derandomize=True, deadline=None)(given(**strategies)(test))

    return decorate


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


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("n_outputs", [1, 3])
@pytest.mark.parametrize("affine", [False, True])
def test_scores_are_what_a_neuron_takes_off_the_error(weighted, n_outputs, affine):
    target = target_of(some_rows(80, 3, n_outputs, weighted), n_columns=5, affine=affine)
    W = some_neurons(20, 3)
    scores, weights = target.judge(W)
    for w, found, outer in zip(W, scores, weights, strict=True):
        wanted, wanted_outer = explicit(target, w)
        assert found == pytest.approx(wanted, rel=1e-8)
        np.testing.assert_allclose(outer, wanted_outer, rtol=1e-8, atol=1e-10)


@pytest.mark.parametrize("affine", [False, True])
def test_neurons_on_too_few_rows_have_no_score(affine):
    X = np.arange(10.0)[:, None]
    target = target_of(Rows(X, X**2), min_active=3, affine=affine)
    thresholds = np.array([-5.0, -0.5, 0.5, 1.5, 2.5, 6.5, 7.5, 9.5])
    scores, _ = target.judge(np.column_stack([np.ones(8), -thresholds]))
    # Active on all rows is allowed where no affine term stands for such neurons.
    all_active = not affine
    wanted = [all_active, all_active, False, False, True, True, False, False]
    np.testing.assert_array_equal(scores > 0, wanted)
    np.testing.assert_array_equal(scores[~np.array(wanted)], -1)


def test_neurons_in_the_span_have_no_score():
    rows = some_rows()
    target = target_of(rows)
    w = some_neurons(1, 3)
    assert target.judge(w)[0][0] > 0
    target.factor.append(target.columns(w)[:, 0])
    assert target.judge(w)[0][0] == -1
    assert target.judge(3 * w)[0][0] == -1


@law(
    seed=st.integers(0, 2**32),
    d=st.integers(1, 5),
    n_outputs=st.integers(1, 3),
    weighted=st.booleans(),
    affine=st.booleans(),
    min_active=st.integers(1, 8),
    n_columns=st.integers(0, 6),
)
def test_no_score_ever_falls(seed, d, n_outputs, weighted, affine, min_active, n_columns):
    rows = some_rows(40, d, n_outputs, weighted, seed)
    target = target_of(rows, n_columns, min_active, affine, seed)
    W = some_neurons(6, d, seed)
    before, _ = target.judge(W)
    for n_steps in (0, 1, 3, 10):
        polished, scores = polish(W, target, n_steps)
        assert (scores >= before).all()
        np.testing.assert_allclose(scores, target.judge(polished)[0], rtol=1e-8)
        for w, found in zip(polished, scores, strict=True):
            if found > 0:
                assert found == pytest.approx(explicit(target, w)[0], rel=1e-6, abs=1e-10)
        np.testing.assert_array_equal(polished[before < 0], W[before < 0])
        before = scores


def test_more_steps_are_better_and_the_start_is_not_written_to():
    target = target_of(some_rows(200, 4))
    W = some_neurons(8, 4)
    kept = W.copy()
    means = [polish(W, target, n)[1].mean() for n in (0, 1, 3, 10)]
    assert means[0] * 1.2 < means[1] < means[2] <= means[3]
    np.testing.assert_array_equal(W, kept)
    assert polish(W, target)[1].mean() == means[2]


def test_the_weights_of_the_inputs_have_length_one():
    target = target_of(some_rows(200, 4))
    polished, scores = polish(some_neurons(8, 4), target)
    assert (scores > 0).all()
    np.testing.assert_allclose(np.linalg.norm(polished[:, :-1], axis=1), 1)


def planted_rows(n, d, n_outputs, weighted, seed):
    """Rows of one neuron and an affine function, and the neuron."""
    rng = np.random.default_rng(seed)
    X = rng.uniform(-1, 1, (n, d))
    (w,) = some_neurons(1, d, seed)
    g = np.maximum(X @ w[:-1] + w[-1], 0)
    Y = np.outer(g, rng.uniform(1, 2, n_outputs)) + X @ rng.standard_normal((d, n_outputs)) + 1
    return Rows(X, Y, rng.uniform(0.2, 2, n) if weighted else None), w


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("n_outputs", [1, 3])
@pytest.mark.parametrize("d", [2, 5])
def test_a_neuron_converges_to_the_planted_one(d, n_outputs, weighted):
    for seed in range(5):
        rows, w = planted_rows(300, d, n_outputs, weighted, seed)
        target = target_of(rows)
        start = w + 0.15 * np.random.default_rng(seed).standard_normal(d + 1)
        (found,), (score,) = polish(start[None], target, 100)
        assert score == pytest.approx(target.factor.residual_norm**2, rel=1e-5)
        np.testing.assert_allclose(found, w, atol=1e-3)
        # Three steps, those of the search, do most of it.
        (soon,), _ = polish(start[None], target)
        start /= np.linalg.norm(start[:-1])
        assert np.linalg.norm(soon - w) < 0.35 * np.linalg.norm(start - w)


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("n_outputs", [1, 3])
def test_a_step_solves_the_linearised_problem(n_outputs, weighted):
    """The twin writes out the projector and takes the outer weights into the columns."""
    rows = some_rows(60, 3, n_outputs, weighted)
    target = target_of(rows, n_columns=4)
    W = some_neurons(5, 3)
    _, weights = target.judge(W)
    scale = np.ones((60, 1)) if target.row_scale is None else target.row_scale
    P = np.eye(60) - target.factor.Q @ target.factor.Q.T
    steps = _gauss_newton_steps(W, weights, target)
    for w, c, step in zip(W, weights, steps, strict=True):
        J = (target.X1 @ w > 0)[:, None] * target.X1 * scale
        stacked = np.concatenate([c_o * (P @ J) for c_o in c])
        left = target.factor.residual.T.ravel() - stacked @ w
        damping = 1e-3 * np.trace(J.T @ J) / 4 * (c @ c)
        wanted = np.linalg.solve(stacked.T @ stacked + damping * np.eye(4), stacked.T @ left)
        np.testing.assert_allclose(step, wanted, rtol=1e-8, atol=1e-10)


def test_weights_are_copies():
    rng = np.random.default_rng(1)
    rows = some_rows(60, 3, 2)
    copies = rng.integers(1, 4, 60)
    each = np.repeat(np.arange(60), copies)
    W = some_neurons(6, 3)
    weighted = polish(W, target_of(Rows(rows.X, rows.Y, copies.astype(float))), 2)
    repeated = polish(W, target_of(Rows(rows.X[each], rows.Y[each])), 2)
    np.testing.assert_allclose(weighted[1], repeated[1], rtol=1e-8)
    np.testing.assert_allclose(weighted[0], repeated[0], rtol=1e-6, atol=1e-8)


def test_neurons_polished_together_are_polished_as_if_alone():
    target = target_of(some_rows(100, 4, 2, weighted=True), n_columns=3, min_active=5)
    W = some_neurons(12, 4)
    together = polish(W, target)
    alone = [polish(w[None], target) for w in W]
    np.testing.assert_allclose(together[1], [scores[0] for _, scores in alone], rtol=1e-9)
    np.testing.assert_allclose(together[0], [found[0] for found, _ in alone], atol=1e-9)


# Every activation

SMOOTH = ["relu3", *(name for name, sigma in ACTIVATIONS.items() if degree_of(sigma) is None)]
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


def score_of(target, w):
    """The score of one neuron, from its column; no bound on the rows it lives on."""
    g = target.activation.value(target.X1 @ w)
    if target.row_scale is not None:
        g = g * target.row_scale[:, 0]
    rest = g - target.factor.Q @ (target.factor.Q.T @ g)
    rest -= target.factor.Q @ (target.factor.Q.T @ rest)
    return float(np.sum((target.factor.residual.T @ g) ** 2) / (rest @ rest))


def gradient_of(target, w, step=1e-5):
    """Derivative of the score, by central differences."""
    changes = step * np.eye(len(w))
    return np.array(
        [(score_of(target, w + e) - score_of(target, w - e)) / (2 * step) for e in changes]
    )


@each_activation
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("affine", [True, False])
def test_no_score_falls_whatever_the_activation(name, weighted, affine):
    for seed, n_outputs, min_active in ((0, 1, 1), (1, 2, 4), (2, 3, 8)):
        rows = some_rows(50, 1 + seed, n_outputs, weighted, seed)
        target = target_for(name, rows, 3, min_active, affine)
        W = neurons_for(name, 6, 1 + seed, seed)
        before, _ = target.judge(W)
        start = before
        assert (before > 0).any()
        for n_steps in (0, 1, 3, 10):
            polished, scores = polish(W, target, n_steps)
            assert (scores >= before).all()
            np.testing.assert_array_equal(polished[start < 0], W[start < 0])
            for w, found in zip(polished, scores, strict=True):
                assert found < 0 or found == pytest.approx(score_of(target, w), rel=1e-6)
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
    scores, weights = target.judge(W)
    assert (scores > 0).all()
    scale = np.ones((60, 1)) if target.row_scale is None else target.row_scale
    P = np.eye(60) - target.factor.Q @ target.factor.Q.T
    for w, c, step in zip(W, weights, _gauss_newton_steps(W, weights, target), strict=True):
        J = target.activation.slope(target.X1 @ w)[:, None] * target.X1 * scale
        system = J.T @ P @ J + 1e-3 * np.trace(J.T @ J) / 3 * np.eye(3)
        wanted = gradient_of(target, w) / (2 * c @ c)
        np.testing.assert_allclose(system @ step, wanted, atol=1e-5 * np.abs(wanted).max())


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
def test_a_planted_neuron_of_any_activation_is_nearly_found(name, weighted):
    """Steps that bring next to nothing are not made: what is left of the score is little."""
    for seed in range(4):
        target, w, start = one_neuron(name, seed, weighted)
        (found,), (score,) = polish(start[None], target, 100)
        whole = target.factor.residual_norm**2
        assert (1 - 5e-4) * whole < score <= whole * (1 + 1e-9)
        (first,), _ = target.judge(start[None])
        assert whole - score < 0.1 * (whole - first)
        if degree_of(target.activation) is not None:
            np.testing.assert_allclose(found, w, atol=2e-3)


# Steps without much damping, and as long as they bring anything.
PATIENT = {"damping": 1e-9, "worth": 1 + 1e-14}


@each_activation
@pytest.mark.parametrize("weighted", [False, True])
def test_a_planted_neuron_of_any_activation_is_found_by_patience(name, weighted):
    """Direction, threshold and, where it matters, scale."""
    for seed in range(4):
        target, w, start = one_neuron(name, seed, weighted)
        slow = name in NEARLY_HOMOGENEOUS
        (found,), (score,) = polish(start[None], target, 2000 if slow else 200, **PATIENT)
        assert score == pytest.approx(target.factor.residual_norm**2, rel=1e-10)
        np.testing.assert_allclose(found, w, atol=2e-4 if slow else 1e-5)


@pytest.mark.parametrize("name", SMOOTH)
@pytest.mark.parametrize("weighted", [False, True])
def test_where_polishing_ends_the_score_is_flat(name, weighted):
    for seed in range(4):
        target, _, start = one_neuron(name, seed, weighted, noise=0.2)
        (end,), _ = polish(start[None], target, 300, **PATIENT)
        before, after = gradient_of(target, start), gradient_of(target, end)
        # Much of a nearly homogeneous neuron's length is in its outer weight: it goes slowly.
        share = 1e-2 if name in NEARLY_HOMOGENEOUS else 1e-5
        assert np.linalg.norm(after) < share * np.linalg.norm(before)


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
    np.testing.assert_allclose(scores, target.judge(found)[0], rtol=1e-9)
