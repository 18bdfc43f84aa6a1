"""The parts of a classification: log-loss, neurons, all weights together, folds and candidates."""

from dataclasses import replace

import numpy as np
import pytest
from sklearn.datasets import make_moons
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import log_loss as sklearn_log_loss

from greedynet import StopReason
from greedynet.activations import get_activation
from greedynet.correction.limited_memory import _Curvature, minimised
from greedynet.correction.log_loss_descent import (
    PenalisedLogLoss,
    PreparedRows,
    Weights,
    descend,
)
from greedynet.fitting import log_loss as log_loss_objective
from greedynet.fitting.candidates import Blend, lowest_between, ridges_for
from greedynet.fitting.construct import construct
from greedynet.fitting.forms import Form
from greedynet.fitting.log_loss import largest, shares_weights, without_negligible
from greedynet.fitting.measures import LogLosses
from greedynet.fitting.objective import LogLoss
from greedynet.fitting.plan import Limits, Plan, TrainingData
from greedynet.fitting.settings import FitSettings, LogisticSettings
from greedynet.losses.logistic import (
    Logistic,
    log_loss,
    losses_and_residual,
    probabilities,
)
from greedynet.model.candidate import BLEND, LINE, NETWORK, SHARES, Candidate
from greedynet.rows.rows import Rows
from greedynet.rows.sampling import SamplingSettings
from greedynet.rows.scaling import InputScaling
from greedynet.rows.splitting import FoldSettings, n_of_others, stratified_folds
from greedynet.search import Dictionary
from greedynet.search.batch import BatchSearch
from greedynet.support.context import FitContext
from problems import numeric_gradient

RELU = get_activation("relu")
FOLDS = FoldSettings()
RIDGES = LogisticSettings().ridges
OUTPUTS = [1, 3, 10]
each_number_of_outputs = pytest.mark.parametrize("n_outputs", OUTPUTS)
weighted_or_not = pytest.mark.parametrize("weighted", [False, True])


def classes_of(labels, n_outputs):
    """Unit vectors; one column of 0 and 1 for two classes."""
    if n_outputs == 1:
        return labels[:, None].astype(float)
    return np.eye(n_outputs)[labels]


def labels_of(Y):
    return Y[:, 0].astype(int) if Y.shape[1] == 1 else Y.argmax(axis=1)


def some_rows(n=120, d=2, n_outputs=1, weighted=False, noise=0.5, seed=0):
    """Rows whose class depends on a curved function of the inputs, with noise."""
    rng = np.random.default_rng(seed)
    X = rng.uniform(-1, 1, (n, d))
    scores = np.sin(4 * X @ rng.standard_normal((d, max(2, n_outputs))))
    labels = (scores + noise * rng.standard_normal(scores.shape)).argmax(axis=1)
    labels[: max(2, n_outputs)] = np.arange(max(2, n_outputs))
    weights = rng.uniform(0.2, 2, n) if weighted else None
    if weighted:
        weights /= weights.mean()
    return Rows(X, classes_of(labels, n_outputs), weights)


def some_weights(k=5, d=2, n_outputs=1, seed=0, affine=True):
    rng = np.random.default_rng(seed)
    L = rng.standard_normal((d + 1, n_outputs)) * affine
    return Weights(rng.standard_normal((k, d + 1)), rng.standard_normal((k, n_outputs)), L)


def some_columns(rows, k=6, seed=0):
    """Columns that are orthonormal with the row weights in them."""
    rng = np.random.default_rng(seed)
    Q = np.linalg.qr(rows.weighted(np.c_[np.ones(len(rows)), rng.standard_normal((len(rows), k))]))
    return Q[0] / (1.0 if rows.weights is None else np.sqrt(rows.weights)[:, None])


def plan_of(max_neurons=8, exact=False, activation="relu", **settings):
    limits = Limits(max_neurons, exact=exact)
    return Plan(limits=limits, activation=get_activation(activation), **settings)


def weight_of(rows):
    return np.ones(len(rows)) if rows.weights is None else rows.weights


@each_number_of_outputs
def test_huge_logits_give_finite_losses(n_outputs):
    Y = some_rows(40, n_outputs=n_outputs).Y
    rng = np.random.default_rng(0)
    for size in (1e3, 1e6, 1e300):
        logits = size * rng.choice([-1.0, 1.0], Y.shape)
        losses, residual = losses_and_residual(logits, Y)
        p = probabilities(logits)
        assert np.isfinite(losses).all()
        assert (losses >= 0).all()
        assert np.abs(residual).max() <= 1
        np.testing.assert_allclose(p.sum(axis=1), 1, rtol=1e-15)
    logits = 4 * rng.standard_normal(Y.shape)
    p, residual = probabilities(logits), losses_and_residual(logits, Y)[1]
    np.testing.assert_allclose(p[:, -n_outputs:], Y - residual, atol=1e-15)
    if n_outputs > 1:  # a constant added to all logits of several classes says nothing
        np.testing.assert_allclose(probabilities(logits + 50.0), p, rtol=1e-12)
    sure = 1e3 * (2 * Y - 1)
    np.testing.assert_array_equal(losses_and_residual(sure, Y)[0], 0)
    wrong = losses_and_residual(-sure, Y)[0]
    # Two wrong classes at the top share the probability.
    shared = np.log(n_outputs - 1) if n_outputs > 2 else 0.0
    np.testing.assert_allclose(wrong, (1e3 if n_outputs == 1 else 2e3) + shared, rtol=1e-12)


@each_number_of_outputs
@weighted_or_not
def test_the_log_loss_is_that_of_scikit_learn(n_outputs, weighted):
    rows = some_rows(60, n_outputs=n_outputs, weighted=weighted)
    logits = 3 * np.random.default_rng(0).standard_normal(rows.Y.shape)
    wanted = sklearn_log_loss(labels_of(rows.Y), probabilities(logits), sample_weight=rows.weights)
    assert log_loss(logits, rows.Y, rows.weights) == pytest.approx(wanted, rel=1e-12)


# Outer weights


def logistic_gradient(columns, rows, outer, ridge):
    """Derivative of mean loss + ridge / 2 mean |f|^2 by weights of columns of length root n."""
    w, root = weight_of(rows) / len(rows), np.sqrt(len(rows))
    residual = losses_and_residual(columns @ outer, rows.Y)[1]
    return ridge * outer / root - root * columns.T @ (residual * w[:, None])


def refitted(loss, columns, rows, times=40):
    fit = loss.fit(columns, rows.Y, rows.weights)
    for _ in range(times):
        fit = loss.fit(columns, rows.Y, rows.weights, start=fit)
    return fit


@each_number_of_outputs
@weighted_or_not
@pytest.mark.parametrize("ridge", [1e-3, 1e-1])
def test_outer_weights_are_where_the_objective_is_flat(n_outputs, weighted, ridge):
    rows = some_rows(n_outputs=n_outputs, weighted=weighted)
    columns = some_columns(rows)
    fit = refitted(Logistic(ridge), columns, rows)
    first = logistic_gradient(columns, rows, np.zeros_like(fit.weights), ridge)
    last = logistic_gradient(columns, rows, fit.weights, ridge)
    assert np.abs(last).max() < 2e-3 * np.abs(first).max()
    # The first solve alone is not far from it.
    once = Logistic(ridge).fit(columns, rows.Y, rows.weights)
    near = logistic_gradient(columns, rows, once.weights, ridge)
    assert np.abs(near).max() < 2e-2 * np.abs(first).max()


@each_number_of_outputs
@weighted_or_not
@pytest.mark.parametrize("ridge", [1e-2, 10.0])
def test_the_functional_is_orthogonal_to_the_columns(n_outputs, weighted, ridge):
    """However far the solve has come, and whatever the ridge leaves."""
    rows = some_rows(n_outputs=n_outputs, weighted=weighted)
    columns = some_columns(rows)
    narrow = Logistic(ridge).fit(columns[:, :2], rows.Y, rows.weights)
    for fit in (
        Logistic(ridge).fit(columns, rows.Y, rows.weights),
        Logistic(ridge).fit(columns, rows.Y, rows.weights, start=narrow),
    ):
        np.testing.assert_allclose(columns.T @ fit.functional, 0, atol=1e-12)
        # What of the weighted residual is outside the span, and nothing else.
        rest = fit.functional - weight_of(rows)[:, None] * fit.residuals
        scale = np.sqrt(weight_of(rows))[:, None]
        Q = columns * scale
        np.testing.assert_allclose(rest / scale, Q @ (Q.T @ (rest / scale)), atol=1e-12)
        wanted = losses_and_residual(columns @ fit.weights, rows.Y)[1]
        np.testing.assert_array_equal(fit.residuals, wanted)


def test_without_columns_there_is_nothing_but_the_classes():
    rows = some_rows(n_outputs=3)
    fit = Logistic().fit(np.empty((len(rows), 0)), rows.Y, None)
    assert fit.weights.shape == (0, 3)
    np.testing.assert_allclose(fit.residuals, rows.Y - 1 / 3, atol=1e-15)
    np.testing.assert_array_equal(fit.functional, fit.residuals)


# All weights together


def twin_objective(rows, at, ridge, activation):
    """Mean loss and penalty, written out row by row."""
    sigma = get_activation(activation)
    w, total = weight_of(rows), 0.0
    for x, y, weight in zip(rows.X, rows.Y, w, strict=True):
        f = at.C.T @ sigma.value(at.W[:, :-1] @ x + at.W[:, -1]) + at.L[:-1].T @ x + at.L[-1]
        p = probabilities(f[None])[0]
        likely = p[int(y[0])] if len(y) == 1 else p[y.argmax()]
        total -= weight * np.log(likely)
    penalty = np.sum(at.W**2) + np.sum(at.C**2) + np.sum(at.L[:-1] ** 2)
    return total / w.sum() + 0.5 * ridge * penalty


@each_number_of_outputs
@weighted_or_not
@pytest.mark.parametrize("activation", ["tanh", "gelu", "relu", "relu3"])
def test_the_gradient_of_all_weights_is_that_of_finite_differences(activation, weighted, n_outputs):
    rows = some_rows(30, n_outputs=n_outputs, weighted=weighted)
    start = some_weights(4, n_outputs=n_outputs)
    # No row is near a kink.
    assert np.abs(rows.X @ start.W[:, :-1].T + start.W[:, -1]).min() > 1e-3
    penalised = PenalisedLogLoss(rows, start, 0.1, get_activation(activation), linear_term=True)
    value, gradient = penalised.evaluate(start.flat())

    def twin(flat):
        return twin_objective(rows, start.like(flat), 0.1, activation)

    assert value == pytest.approx(twin(start.flat()), rel=1e-12)
    np.testing.assert_allclose(gradient, numeric_gradient(twin, start.flat()), atol=1e-7)


@pytest.mark.parametrize("activation", ["tanh", "gelu", "softplus", "relu"])
@pytest.mark.parametrize("n_outputs", [1, 3])
@pytest.mark.parametrize("linear_term", [True, False])
def test_where_a_descent_ends_the_objective_is_flat_and_lower(activation, n_outputs, linear_term):
    rows = some_rows(60, n_outputs=n_outputs, weighted=True)
    start = some_weights(4, n_outputs=n_outputs, affine=linear_term)

    def twin(flat):
        at = start.like(flat)
        at = at if linear_term else replace(at, L=np.zeros_like(at.L))
        return twin_objective(rows, at, 0.05, activation)

    values = [twin(start.flat())]
    for n_steps in (1, 5, 30, 2000):
        end = descend(
            rows, start, 0.05, n_steps, get_activation(activation), linear_term=linear_term
        )
        values.append(twin(end.flat()))
    assert (np.diff(values) <= 0).all()
    assert values[-1] < 0.8 * values[0]
    if not linear_term:
        np.testing.assert_array_equal(end.L, 0)
    if activation != "relu":
        first = np.abs(numeric_gradient(twin, start.flat())).max()
        assert np.abs(numeric_gradient(twin, end.flat())).max() < 5e-3 * first


def test_the_scale_of_the_row_weights_changes_no_descent():
    rows = some_rows(weighted=True)
    start, sigma = some_weights(), get_activation("tanh")
    light = descend(rows, start, 0.01, 30, sigma)
    heavy = descend(replace(rows, weights=8 * rows.weights), start, 0.01, 30, sigma)
    np.testing.assert_array_equal(light.flat(), heavy.flat())


@pytest.mark.parametrize(("name", "degree"), [("relu", 1), ("abs", 1), ("relu2", 2), ("relu3", 3)])
@pytest.mark.parametrize("n_outputs", [1, 3])
def test_balance_changes_no_logit_and_has_the_least_penalty(name, degree, n_outputs):
    X, sigma = some_rows().X, get_activation(name)
    start = some_weights(6, n_outputs=n_outputs)
    even = start.balanced(sigma)
    np.testing.assert_allclose(even.logits(X, sigma), start.logits(X, sigma), rtol=1e-10)
    inner, outer = (np.linalg.norm(part, axis=1) for part in (even.W, even.C))
    np.testing.assert_allclose(inner**2, degree * outer**2, rtol=1e-10)
    np.testing.assert_array_equal(even.L, start.L)
    for change in (0.99, 1.01):
        other = np.sum((change * inner) ** 2 + (outer / change**degree) ** 2)
        assert other > np.sum(inner**2 + outer**2)
    np.testing.assert_allclose(even.balanced(sigma).flat(), even.flat(), rtol=1e-12)
    # Neurons without weights on one side stay finite.
    start.C[0], start.W[1] = 0.0, 0.0
    even = start.balanced(sigma)
    assert np.isfinite(even.flat()).all()
    np.testing.assert_allclose(even.logits(X, sigma), start.logits(X, sigma), rtol=1e-10)


@pytest.mark.parametrize("name", ["tanh", "gelu", "sin"])
def test_where_scaling_makes_a_difference_nothing_is_balanced(name):
    start = some_weights()
    assert start.balanced(get_activation(name)) is start


@weighted_or_not
def test_calm_columns_are_standardised_and_rare_ones_divided_by_less(weighted):
    rng = np.random.default_rng(0)
    X = np.column_stack(
        [rng.normal(5, 3, 400), rng.uniform(0, 1, 400), np.zeros(400), rng.normal(0, 1e-4, 400)]
    )
    # Nearly always the same.
    X[:4, 2] = [9.0, 4.0, 7.0, 2.0]
    X[7, 3] = 1.0
    weights = rng.uniform(0.5, 1.5, 400) if weighted else None
    scaling = InputScaling.limiting_kurtosis(Rows(X, np.zeros((400, 1)), weights))
    mean = np.average(X, axis=0, weights=weights)
    m2, m4 = (np.average((X - mean) ** p, axis=0, weights=weights) for p in (2, 4))
    assert (m4[:2] < 10 * m2[:2] ** 2).all()
    assert (m4[2:] > 10 * m2[2:] ** 2).all()
    np.testing.assert_allclose(scaling.center, mean, rtol=1e-12)
    np.testing.assert_allclose(scaling.width[:2], np.sqrt(m2[:2]), rtol=1e-12)
    np.testing.assert_allclose(scaling.width[2:], (m4[2:] / 10) ** 0.25, rtol=1e-10)
    # Calmed columns have fourth moments of 10 at most.
    fourth = np.average(scaling.apply(X) ** 4, axis=0, weights=weights)
    assert (fourth < 10 + 1e-9).all()


def test_every_search_has_its_coordinates():
    rows = some_rows(n_outputs=3)
    points = np.random.default_rng(0).standard_normal((9, 3))
    cube, given, calm = (
        LogLoss().coordinates(rows, plan_of(**settings), None)
        for settings in (
            {"search": "dictionary"},
            {"search": Dictionary(points)},
            {"search": "continuous"},
        )
    )
    np.testing.assert_allclose(np.abs(cube.apply(rows).X).max(axis=0), 1, rtol=1e-12)
    np.testing.assert_array_equal(given.apply(rows).X, rows.X)
    np.testing.assert_allclose(calm.apply_exactly(rows).X.std(axis=0), 1, rtol=1e-12)
    np.testing.assert_allclose(calm.apply(rows).X.std(axis=0), 1, rtol=1e-9)
    for coordinates in (cube, given, calm):
        np.testing.assert_array_equal(coordinates.apply(rows).Y, rows.Y)


def constructed(rows, validation=None, **settings):
    plan = plan_of(**{"correct": False, **settings})
    objective = LogLoss()
    return construct(TrainingData(rows, validation), replace(plan, single_output=False), objective)


def prudent(logits, Y, weights=None, n_rows=None):
    """The log-loss with half a row more, of a class that its label does not say."""
    p, n = probabilities(logits), n_rows or len(Y)
    others = [-np.log(np.delete(row, k)).mean() for row, k in zip(p, labels_of(Y), strict=True)]
    mean = log_loss(logits, Y, weights)
    return (n * mean + 0.5 * np.average(others, weights=weights)) / (n + 0.5)


@each_number_of_outputs
@weighted_or_not
@pytest.mark.parametrize("linear_term", [True, False])
def test_every_width_of_a_path_has_the_log_loss_it_says(n_outputs, weighted, linear_term):
    rows = some_rows(200, n_outputs=n_outputs, weighted=weighted)
    path = constructed(rows, max_neurons=12, exact=True, linear_term=linear_term).path
    first = 2 if linear_term else 1
    np.testing.assert_array_equal(path.n_nodes, np.arange(first, (14 if linear_term else 12) + 1))
    for n_nodes, error in zip(path.n_nodes, path.training_errors, strict=True):
        logits = path.network_at(int(n_nodes)).predict(rows.X)
        assert log_loss(logits, rows.Y, rows.weights) == pytest.approx(error, rel=1e-8)
    # Each width is refitted by a few steps only.
    assert (np.diff(path.training_errors) < 1e-4).all()
    assert path.training_errors[-1] < 0.9 * path.training_errors[0]


# Folds


@pytest.mark.parametrize(("n", "n_outputs"), [(50, 1), (97, 3), (250, 10), (700, 3), (3000, 1)])
def test_folds_hold_every_class_and_enough_rows(n, n_outputs):
    rows = some_rows(n, n_outputs=n_outputs, noise=0.1)
    # Rows that can be told apart.
    rows = Rows(np.c_[np.arange(n), rows.X], rows.Y, np.random.default_rng(0).uniform(1, 2, n))
    counts = np.bincount(labels_of(rows.Y))
    n_folds = max(2, min(FOLDS.n_folds, counts.min()))
    folds = stratified_folds(rows, 3, FOLDS)
    for train, held in folds:
        both = np.r_[train.X[:, 0], held.X[:, 0]]
        np.testing.assert_array_equal(np.sort(both), np.arange(n))
        of_held = np.bincount(labels_of(held.Y), minlength=len(counts))
        # A fold may have one row of a class more, or less, than its share.
        assert (np.abs(of_held - counts / n_folds) <= 1).all()
        for part in (train, held):
            at = part.X[:, 0].astype(int)
            np.testing.assert_array_equal(part.Y, rows.Y[at])
            np.testing.assert_array_equal(part.weights, rows.weights[at])
    first = np.concatenate([held.X[:, 0] for _, held in folds[:n_folds]])
    assert len(np.unique(first)) == len(first)
    # Twice through all rows at most, and no more folds than it takes.
    n_held = sum(len(held) for _, held in folds)
    assert n_held >= min(FOLDS.enough - n_folds, 2 * n)
    assert n_held - len(folds[-1][1]) < FOLDS.enough
    again, other = stratified_folds(rows, 3, FOLDS), stratified_folds(rows, 4, FOLDS)
    for (a, _), (b, _) in zip(folds, again, strict=True):
        np.testing.assert_array_equal(a.X, b.X)
    assert any(not np.array_equal(a.X, b.X) for (_, a), (_, b) in zip(folds, other, strict=True))


@pytest.mark.parametrize(("n", "n_rare"), [(4_000, 100), (4_000, 500), (20_000, 40)])
def test_folds_hold_out_enough_of_rare_classes(n, n_rare):
    labels = np.zeros(n, dtype=int)
    labels[:n_rare] = 1
    rows = Rows(np.arange(float(n))[:, None], classes_of(labels, 1))
    assert n_of_others(rows) == n_of_others(Rows(rows.X, 1 - rows.Y)) == n_rare
    held = [int(held.Y.sum()) for _, held in stratified_folds(rows, 0, FOLDS)]
    # Twice through all of them at most, and no more folds than it takes.
    assert sum(held) >= min(FOLDS.enough_of_others, 2 * n_rare)
    assert sum(held[:-1]) < FOLDS.enough_of_others


@pytest.mark.parametrize("n_outputs", [1, 3])
def test_a_class_of_one_row_is_always_trained_on(n_outputs):
    rng = np.random.default_rng(0)
    labels = np.r_[rng.integers(0, max(1, n_outputs - 1), 99), max(1, n_outputs - 1)]
    rows = Rows(np.arange(100.0)[:, None], classes_of(labels, n_outputs))
    folds = stratified_folds(rows, 0, FOLDS)
    assert len(folds) == 10
    for train, held in folds:
        assert 99 in train.X
        assert 99 not in held.X
        assert (np.diff(train.X[:, 0]) > 0).all()
        np.testing.assert_array_equal(np.sort(np.r_[train.X, held.X][:, 0]), np.arange(100))


def test_where_every_class_has_one_row_they_are_judged_as_they_are():
    rows = Rows(np.arange(3.0)[:, None], np.eye(3))
    assert stratified_folds(rows, 0, FOLDS) == [(rows, rows)]


# Candidates


def growth_of(rows, max_neurons=8, **settings):
    plan = plan_of(max_neurons, **settings)
    return LogLoss().begin(rows, Form(), plan, FitContext())


def crossed_rows(n=200, seed=0):
    """Classes that no affine function tells apart."""
    X = np.random.default_rng(seed).uniform(-1, 1, (n, 2))
    return Rows(X, (X[:, :1] * X[:, 1:] > 0).astype(float))


def coins(rows, seed=1):
    """Classes that say nothing."""
    n = len(rows)
    return Rows(rows.X, np.random.default_rng(seed).integers(0, 2, (n, 1)).astype(float))


@each_number_of_outputs
@weighted_or_not
def test_losses_of_held_out_rows(n_outputs, weighted):
    """The mean is weighted; half a row of another class is added to what is told."""
    rows = some_rows(90, n_outputs=n_outputs, weighted=weighted)
    held = [held for _, held in stratified_folds(rows, 0, FOLDS)]
    n = sum(map(len, held)) // 2
    measure = LogLosses(held, n)
    logits = np.random.default_rng(0).normal(size=measure.Y.shape)
    losses = losses_and_residual(logits, measure.Y)[0]
    weights = np.concatenate([weight_of(part) for part in held])
    mean = np.average(losses, weights=weights)
    assert measure.mean(measure.losses(logits)) == pytest.approx(mean, rel=1e-12)
    wanted = prudent(logits, measure.Y, weights, n)
    assert measure.score(logits) == measure.error(logits) == pytest.approx(wanted, rel=1e-12)
    if not weighted:
        # Every row is held out twice.
        spread = losses.std() / np.sqrt(n)
        assert measure.standard_error(losses) == pytest.approx(spread, rel=1e-12)


@each_number_of_outputs
@weighted_or_not
def test_a_network_of_the_shares(n_outputs, weighted):
    rows = some_rows(90, n_outputs=n_outputs, weighted=weighted)
    weights = shares_weights(rows)
    p = probabilities(weights.logits(rows.X, RELU))
    wanted = np.average(np.c_[1 - rows.Y, rows.Y][:, -max(2, n_outputs) :], axis=0,
                        weights=rows.weights)  # fmt: skip
    np.testing.assert_allclose(p, np.tile(wanted, (90, 1)), rtol=1e-12)


def test_a_blend_has_the_blended_logits():
    rows = some_rows()
    growth = growth_of(rows)
    line, network = Candidate(LINE, ridge=1e-2), Candidate(NETWORK, 4, ridge=1e-2)
    known = {line: some_weights(0, seed=2), network: some_weights(4)}
    blend = Blend(BLEND, 4, line=line, network=network, a=0.3, b=0.6)
    X = growth.problem.rows.X
    states = [growth.fitted(Candidate(SHARES), {}), *known.values()]
    wanted = np.tensordot([0.1, 0.3, 0.6], [growth.outputs(state, X) for state in states], 1)
    found = growth.outputs(growth.fitted(blend, known), X)
    np.testing.assert_allclose(found, wanted, rtol=1e-10, atol=1e-12)


def test_noise_gets_a_larger_ridge_than_what_can_be_learned():
    clear = crossed_rows()
    # Without an affine term nothing but networks is tried.
    found = [
        constructed(rows, correct=True, linear_term=False).ladder.choice.ridge
        for rows in (clear, coins(clear))
    ]
    assert 10 * found[0] < found[1]
    assert all(RIDGES[0] * 0.999 <= ridge <= RIDGES[-1] * 1.001 for ridge in found)


def test_every_candidate_is_told():
    ladder = constructed(crossed_rows(300), correct=True, max_neurons=12).ladder
    assert ladder.kinds[0] == SHARES
    assert ladder.errors[0] == pytest.approx(np.log(2), rel=0.02)
    lines = [c for c in ladder.candidates if c.kind == LINE]
    assert len({line.ridge for line in lines}) == len(lines) > 2
    networks = [c for c in ladder.candidates if c.kind == NETWORK]
    # One width for several ridges, then ever fewer neurons with one ridge.
    grown = [c for c in networks if not c.pruned]
    pruned = [c.width for c in networks if c.pruned]
    assert {c.width for c in grown} == {12}
    assert len({c.ridge for c in grown}) == len(grown) > 2
    assert (np.diff([12, *pruned]) < 0).all()
    # Pruning goes on while it does no harm.
    assert ladder.choice.width in (12, *pruned)


def test_neurons_that_are_next_to_nothing_are_never_kept():
    rows = crossed_rows()
    growth = growth_of(rows)
    start = growth.descend(some_weights(9), 1e-3, 200)
    for tiny in (0.0, 1e-5):
        C = start.C.copy()
        C[[1, 4]] *= tiny
        network = without_negligible(replace(start, C=C))
        kept = [row.tolist() in start.W[[1, 4]].tolist() for row in network.W]
        assert len(network.W)
        assert not any(kept)
        assert (network.sizes > 1e-3 * network.sizes.max()).all()
    # If all are nothing, nothing is kept.
    assert len(without_negligible(replace(start, C=0 * start.C)).W) == 0


def test_the_largest_neurons_are_taken_in_their_order():
    start = some_weights(12)
    network = largest(start, 5)
    at = [start.W.tolist().index(row) for row in network.W.tolist()]
    assert at == sorted(at)
    assert network.sizes.min() >= np.delete(start.sizes, at).max()


@pytest.mark.parametrize("n_outputs", [1, 3])
@pytest.mark.parametrize("linear_term", [True, False])
def test_the_network_has_the_logits_of_the_weights(n_outputs, linear_term):
    rows = some_rows(100, n_outputs=n_outputs)
    rows = replace(rows, X=rows.X * [3.0, 0.01] + [50.0, 2.0])
    growth = growth_of(rows, linear_term=linear_term, single_output=False, activation="tanh")
    weights = some_weights(5, n_outputs=n_outputs, affine=linear_term)
    network = growth.network([weights])
    wanted = growth.outputs(weights, growth.problem.rows.X)
    np.testing.assert_allclose(network.predict(rows.X), wanted, rtol=1e-9, atol=1e-9)
    assert (network.linear_weights is None) == (not linear_term)


# The whole


@pytest.mark.parametrize("alpha", [1e-3, 1e-1])
@pytest.mark.parametrize("n_outputs", [1, 3])
def test_a_network_without_neurons_is_logistic_regression(alpha, n_outputs):
    """`C = 1 / (n alpha)` is the same penalty; the inputs are standardised."""
    rows = some_rows(150, d=3, n_outputs=n_outputs)
    settings = {"correct": True, "max_neurons": 0, "exact": True, "alpha": alpha}
    path = constructed(rows, **settings).path
    scaled = growth_of(rows, **settings).problem.rows.X
    model = LogisticRegression(C=1 / (150 * alpha), tol=1e-10, max_iter=10_000)
    wanted = model.fit(scaled, labels_of(rows.Y)).predict_proba(scaled)
    found = probabilities(path.kept.predict(rows.X))
    np.testing.assert_allclose(found, wanted, atol=1e-3)
    assert path.stop_reason is StopReason.N_NODES


@pytest.mark.parametrize(("share", "n_smaller"), [(0.5, 0), (0.1, 0), (0.03, 1), (0.001, 3)])
def test_ridges_begin_lower_where_a_class_is_rare(share, n_smaller):
    """By the entropy in bits: 1, 0.47, 0.19, 0.011; a step is 3.13."""
    labels = np.zeros(2_000, dtype=int)
    labels[: round(2_000 * share)] = 1
    ridges = [
        ridges_for(Rows(np.zeros((2_000, 1)), classes_of(labels, n_outputs)), LogisticSettings())
        for n_outputs in (1, 3)
    ]
    np.testing.assert_array_equal(*ridges)
    np.testing.assert_array_equal(ridges[0][n_smaller:], RIDGES)
    np.testing.assert_allclose(ridges[0][1:] / ridges[0][:-1], RIDGES[1] / RIDGES[0])
    weights = np.where(labels, 1 / share, 1 / (1 - share))
    even = Rows(np.zeros((2_000, 1)), classes_of(labels, 1), weights)
    np.testing.assert_array_equal(ridges_for(even, LogisticSettings()), RIDGES)


def descents(monkeypatch) -> list:
    """Rows, start and ridge of every descent of the fits that follow."""
    seen = []

    def seeing(rows, start, ridge, *arguments, **settings):
        seen.append((rows, start, ridge))
        return descend(rows, start, ridge, *arguments, **settings)

    monkeypatch.setattr(log_loss_objective, "descend", seeing)
    return seen


@pytest.mark.parametrize("alpha", [None, 0.02])
def test_the_ridge_says_the_same_to_more_rows(monkeypatch, alpha):
    """Five times the rows of a fold get a fifth of its ridge; `alpha` is as given."""
    sampled = FitSettings(sampling=SamplingSettings(least=200, most=200))
    seen = descents(monkeypatch)
    rows = some_rows(800, noise=0.3)
    fitted = constructed(rows, correct=True, max_neurons=4, alpha=alpha, settings=sampled)
    choice = fitted.ladder.choice
    assert choice.width
    # The last descent is that of the network on all rows.
    last = seen[-1][2]
    if alpha is not None:
        assert last == alpha
        return
    # A fold is trained on four fifths of the sample.
    share = 0.8 * 200 / 800
    assert last == pytest.approx(share * choice.ridge, rel=0.15)


def test_the_ridge_asked_for_is_the_ridge_taken(monkeypatch):
    rows, seen = some_rows(), descents(monkeypatch)
    constructed(rows, correct=True, max_neurons=4, alpha=0.02)
    assert {ridge for *_, ridge in seen} == {0.02}
    seen.clear()
    constructed(crossed_rows(), correct=True, max_neurons=8)
    of_networks = [ridge for _, start, ridge in seen if start.n_neurons]
    # From the ridge of the stages upwards.
    assert RIDGES[2:4] == tuple(dict.fromkeys(of_networks))[:2]
    # One of them is nearly the best; all rows get four fifths of what a smooth curve says.
    step = np.sqrt(RIDGES[1] / RIDGES[0])
    tried = [ridge for ridge in RIDGES if ridge in of_networks]
    assert any(1 / step <= of_networks[-1] / (0.8 * ridge) <= step for ridge in tried)
    assert of_networks[-1] not in RIDGES


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


def test_little_progress_is_enough():
    """Of several steps together: the value falls by less than a thousandth over the last five."""
    rng = np.random.default_rng(0)
    scales = np.geomspace(1, 1e4, 40)
    start, values = rng.normal(size=40), []

    def valley(x):
        values.append(1.0 + float(x @ (scales * x)))
        return values[-1], 2 * scales * x

    minimised(valley, start, 2000, 5, 1e-9)
    n_all = len(values)
    values.clear()
    x = minimised(valley, start, 2000, 5, 1e-9, enough=1e-3)
    lowest = np.minimum.accumulate(values)
    assert len(values) < n_all
    assert valley(x)[0] == lowest[-1]
    assert lowest[-6] - lowest[-1] < 2e-3 * lowest[-1]
    assert lowest[-12] - lowest[-6] > 1e-3 * lowest[-1]


# The log-loss of all rows


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


def test_a_network_is_carried_from_one_scaling_to_another():
    """Its logits stay; columns have another order and other signs, and one is constant."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(50, 4)) * [1.0, 20.0, 0.1, 0.0] + [0.0, 1e3, 5.0, 7.0]
    orders = np.array([[2, 0, 3, 1], [1, 2, 0, 3]])
    centers = np.array([[0.1, 990.0, 5.0, 7.0], [0.0, 1e3, 5.1, 7.0]])
    widths = np.array([[1.0, -15.0, 0.2, 1.0], [-1.5, 20.0, 0.1, np.inf]])
    one, other = map(InputScaling, centers, widths, orders)
    at = Weights(rng.normal(size=(5, 5)), rng.normal(size=(5, 2)), rng.normal(size=(5, 2)))
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


def test_where_nothing_is_left_nothing_is_proposed():
    X = np.random.default_rng(0).normal(size=(50, 2))
    search, *_ = batch(X)
    for residual in (np.zeros((50, 2)), X @ np.ones((2, 2))):
        W, C = search.propose(1e-30 * residual, none_yet(2), 4)
        assert W.shape[1] == 3
        assert C.shape == (len(W), 2)
    assert len(search.propose(np.zeros((50, 2)), none_yet(2), 4)[0]) == 0


def moons_growth(n=300, max_neurons=40, **settings):
    X, labels = make_moons(n, noise=0.25, random_state=0)
    return growth_of(Rows(X, labels[:, None].astype(float)), max_neurons, **settings)


@pytest.mark.parametrize("linear_term", [True, False])
def test_stages_reach_the_width_and_a_smaller_loss(linear_term):
    growth = moons_growth(linear_term=linear_term)
    networks = [growth._staged(n) for n in (8, 20, 40)]
    assert [network.n_neurons for network in networks] == [8, 20, 40]
    losses = [growth.loss(growth.descend(network, 1e-3, 200)) for network in networks]
    assert losses[2] <= losses[0] * 1.01
    if not linear_term:
        assert not any(network.L.any() for network in networks)


@pytest.mark.parametrize("n_neurons", [1, 8, 40])
def test_new_neurons_are_as_large_as_is_best(n_neurons):
    """Together they need smaller weights than alone: of four factors, the best."""
    growth = moons_growth()
    rows = growth.problem.rows
    line = growth.descend(shares_weights(rows), 1e-3, 50)
    logits = line.logits(rows.X, RELU)
    residual = losses_and_residual(logits, rows.Y)[1]
    W, C = growth._search.propose(residual, line.W, n_neurons)
    more = Weights(W, C, np.zeros_like(line.L)).logits(rows.X, RELU)
    losses = [log_loss(logits + times * more, rows.Y) for times in (3.0, 1.5, 0.75, 0.375)]
    wider = growth._wider(line, n_neurons)
    assert wider.n_neurons == n_neurons
    assert log_loss(wider.logits(rows.X, RELU), rows.Y) == pytest.approx(min(losses), rel=1e-9)


@pytest.mark.parametrize("at", [-0.45, -0.1, 0.0, 0.3])
@pytest.mark.parametrize("ascending", [True, False])
def test_the_ridge_is_the_minimum_of_a_parabola(at, ascending):
    steps = np.arange(-2.0, 3.0)
    order = steps if ascending else steps[::-1]
    found = {1e-3 * 3.0**step: 0.5 + 0.1 * (step - at) ** 2 for step in order}
    assert lowest_between(found) == pytest.approx(1e-3 * 3.0**at)


def test_at_an_end_or_on_a_plain_the_ridge_is_one_of_those_tried():
    ridges = [1.0, 2.0, 4.0]
    for losses, best in (([1, 2, 3], 0), ([3, 2, 1], 2), ([1, 1, 1], 0), ([2, 2, 2], 0)):
        assert lowest_between(dict(zip(ridges, losses, strict=True))) == ridges[best]
    assert lowest_between({1.0: 0.3}) == 1.0
    # Two equal neighbours: the middle between them.
    found = lowest_between(dict(zip(ridges, [1.0, 0.5, 0.5], strict=True)))
    assert found == pytest.approx(2 * np.sqrt(2))
