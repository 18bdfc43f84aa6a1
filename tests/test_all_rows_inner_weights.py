"""The last correction, on all rows: its gradient, its steps and how they are damped."""

import numpy as np
import pytest

from greedynet.activations import get_activation
from greedynet.correction.all_rows.inner_weights import Pulls, corrected_on_all_rows
from greedynet.correction.all_rows.passes import Sums
from greedynet.correction.variable_projection import VariableProjection
from greedynet.model.coordinates import Coordinates
from greedynet.rows.blocks import BlockSizes, MemoryBlocks
from greedynet.rows.rows import Rows
from greedynet.rows.scaling import InputScaling

RIDGE = 1e-2
SIGMA = get_activation("tanh")
SAMPLED = 300


def some_rows(n_rows=2_000, weighted=False, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.uniform(-1, 1, (n_rows, 2))
    y = np.sin(3 * X[:, 0]) + np.abs(X[:, 1]) + 0.2 * rng.standard_normal(n_rows)
    weights = rng.uniform(0.2, 1.8, n_rows) if weighted else None
    return Rows(X, np.column_stack([y, y**2]) if weighted else y[:, None], weights)


def coordinates_of(rows):
    return Coordinates.of(rows, InputScaling.standard(rows), linear_term=True)


def sums_of(rows):
    return Sums(MemoryBlocks(rows, sizes=BlockSizes(rows=256)))


def state_of(rows, coordinates, share=1.0, seed=0):
    """A network on a sample; outputs that are a share of what they are make steps too long."""
    points = np.random.default_rng(seed).standard_normal((6, 3))
    some = coordinates.apply(rows.take(np.arange(SAMPLED)))
    some = Rows(some.X, share * some.Y, some.weights)
    return VariableProjection(some, coordinates.affine_columns(some), points, RIDGE, SIGMA)


# Twins


def solved(points, rows, coordinates):
    """Weights and penalised objective over all rows, by ridge regression."""
    scaled, r = coordinates.apply(rows), coordinates.n_affine
    hidden = SIGMA.value(scaled.X @ points[:, :-1].T + points[:, -1])
    F = scaled.weighted(np.hstack([coordinates.affine.evaluate(scaled.X), hidden]))
    Y = scaled.weighted(scaled.Y)
    penalty = np.diag(np.repeat([0.0, RIDGE], [r, len(points)]))
    weights = np.linalg.solve(F.T @ F + penalty, F.T @ Y)
    size = np.sum(points**2) + np.sum(weights[r:] ** 2)
    return weights, float(np.sum((Y - F @ weights) ** 2) + RIDGE * size)


def gradient_of(points, rows, coordinates, step=1e-5):
    """Minus half the derivative of the objective, by central differences."""
    changes = step * np.eye(points.size).reshape(points.size, *points.shape)
    ends = [
        [solved(points + sign * change, rows, coordinates)[1] for sign in (1, -1)]
        for change in changes
    ]
    return -np.subtract(*np.transpose(ends)).reshape(points.shape) / (4 * step)


@pytest.mark.parametrize("weighted", [False, True])
def test_pulls_are_the_gradient(weighted):
    rows = some_rows(weighted=weighted)
    coordinates = coordinates_of(rows)
    points = np.random.default_rng(1).standard_normal((5, 3))
    weights, _ = solved(points, rows, coordinates)
    pulls = Pulls(coordinates.without_rows(), points, SIGMA, weights)
    found = sums_of(rows).total(pulls) - RIDGE * points
    wanted = gradient_of(points, rows, coordinates)
    np.testing.assert_allclose(found, wanted, rtol=1e-5, atol=1e-5 * np.abs(wanted).max())


def test_damping_follows_how_far_the_objective_fell():
    """A third of it where the step did at least half of what it promised."""
    seen = set()
    for share in (1.0, 0.7):
        for seed in range(12):
            rows = some_rows(seed=seed)
            coordinates = coordinates_of(rows)
            state = state_of(rows, coordinates, share, seed)
            before = state.points.copy()
            after = corrected_on_all_rows(state, sums_of(rows), coordinates, SIGMA, 1)
            step = after.points - before
            if not step.any():
                # The objective would have risen: nothing moves, and the next step is shorter.
                assert after.damping == pytest.approx(0.5 * 6)
                seen.add("rise")
                continue
            objectives = [solved(at, rows, coordinates)[1] for at in (before, after.points)]
            fall = objectives[0] - objectives[1]
            assert fall > 0
            promised = float(np.sum(step * gradient_of(before, rows, coordinates)))
            assert promised > 0
            as_expected = fall > 0.5 * promised
            assert after.damping == pytest.approx(0.5 / 3 if as_expected else 0.5)
            seen.add("as expected" if as_expected else "less")
    assert seen == {"rise", "as expected", "less"}


@pytest.mark.parametrize("share", [1.0, 0.5])
def test_the_objective_over_all_rows_falls(share):
    rows = some_rows(seed=2)
    coordinates = coordinates_of(rows)
    objectives = []
    for n_tries in (0, 1, 3, 6, 12):
        state = state_of(rows, coordinates, share, 2)
        found = corrected_on_all_rows(state, sums_of(rows), coordinates, SIGMA, n_tries)
        objectives.append(solved(found.points, rows, coordinates)[1])
        if n_tries == 0:
            assert found is state
    assert (np.diff(objectives) <= 0).all()
    assert objectives[-1] < 0.9 * objectives[0]
