"""Noise or approximation error: what the errors of a path say, and what is done about it."""

from dataclasses import replace

import numpy as np
import pytest

from greedynet import GreedyNetRegressor
from greedynet.fitting.growth import Growth
from greedynet.fitting.limits import Limits
from greedynet.fitting.objectives import LeastSquares
from greedynet.fitting.objectives.least_squares import approximation_error_left
from greedynet.fitting.plan import Plan, TrainingData
from greedynet.fitting.problem import Problem
from greedynet.fitting.settings import FitSettings, LeastSquaresSettings
from greedynet.linalg.factor import Factor
from greedynet.model.stop_reason import StopReason
from greedynet.rows.rows import Rows
from greedynet.support.context import FitContext
from problems import noisy, relative_error

MANY = 1e9  # rows, so that neurons cost nothing


def falling(factor, n_neurons=32):
    """Errors whose squares fall by a factor with every doubling of the neurons."""
    return np.maximum(np.arange(n_neurons + 1), 0.5) ** (-0.5 * np.log2(factor))


@pytest.mark.parametrize("still_falling", [1.5, 3.0, 6.0])
@pytest.mark.parametrize("n_neurons", [16, 32, 100])
def test_squares_that_fall_by_more_than_the_factor_are_not_noise(still_falling, n_neurons):
    for share, wanted in ((0.9, False), (1.1, True)):
        errors = falling(share * still_falling, n_neurons)
        assert approximation_error_left(errors, MANY, 3, 2, still_falling) is wanted


def test_a_path_that_stopped_early_is_noise_however_it_fell_before():
    errors = falling(10.0, 32)
    assert approximation_error_left(errors, MANY, 3, 2, 3.0)
    for n_flat, wanted in ((5, True), (10, True), (11, False), (30, False)):
        # Least at neuron 32 of so many more.
        longer = np.append(errors, np.full(n_flat, 1.01 * errors[-1]))
        assert approximation_error_left(longer, MANY, 3, 2, 3.0) is wanted


def test_neurons_cost_what_cross_validation_counts():
    """With few rows the squared errors are those of `(1 - C(k) / n)^2`, infinite at the end."""
    errors, n_rows, n_affine, d = falling(4.0, 32), 100, 3, 2
    spent = n_affine + 2.5 * np.arange(33)
    squares = errors**2 / (1 - spent / n_rows) ** 2
    best = int(np.argmin(squares))
    assert 0 < best < 24
    assert not approximation_error_left(errors, n_rows, n_affine, d, 3.0)
    assert approximation_error_left(errors, 5_000, n_affine, d, 3.0)
    with np.errstate(all="raise", divide="ignore"):
        assert not approximation_error_left(errors, 20, n_affine, d, 3.0)


def problem_of(settings=None):
    X, y = noisy(n_rows=5_000)
    plan = Plan(Limits(40), gcv=True, settings=settings or FitSettings())
    return Problem(TrainingData(Rows(X, y[:, None])), plan, LeastSquares(), None, FitContext())


def growth_of(errors, reason=StopReason.MAX_NODES):
    return Growth(Factor(np.ones((4, 1))), 3, None, errors=errors.tolist(), reason=reason)


@pytest.mark.parametrize(
    ("factor", "is_noise"), [(1.1, True), (1.6, True), (1.9, True), (2.1, False), (8.0, False)]
)
def test_a_fit_asks_for_a_factor_of_two(factor, is_noise):
    assert LeastSquares().is_noise(problem_of(), growth_of(falling(factor))) is is_noise


@pytest.mark.parametrize("d", [2, 3, 4, 10])
def test_the_rate_of_greedy_approximation_is_no_noise(d):
    """Without noise the squared error falls by `2^(1 + 2/d)` with every doubling."""
    assert not LeastSquares().is_noise(problem_of(), growth_of(falling(2 ** (1 + 2 / d))))


def test_the_factor_is_a_setting():
    growth = growth_of(falling(1.7))
    settings = FitSettings(least_squares=LeastSquaresSettings(still_falling=1.5))
    assert LeastSquares().is_noise(problem_of(), growth)
    assert not LeastSquares().is_noise(problem_of(settings), growth)
    assert LeastSquaresSettings().still_falling == 2.0


@pytest.mark.parametrize("name", ["EXACT", "TOLERANCE", "CALLBACK"])
def test_what_is_to_stay_as_it_is_is_no_noise(name):
    growth = growth_of(falling(1.7), StopReason[name])
    assert not LeastSquares().is_noise(problem_of(), growth)
    assert LeastSquares().is_noise(problem_of(), replace(growth, reason=StopReason.VALIDATED))


@pytest.mark.parametrize(
    ("d", "n_rows", "n_nodes"),
    [(4, 1_000, 24), pytest.param(3, 1_000, 40, marks=pytest.mark.slow)],
)
def test_without_noise_a_corrected_network_is_much_better_than_as_grown(d, n_rows, n_nodes):
    """Averaged halves would be worse than the network as grown, by 13 and 30 per cent."""
    rng = np.random.default_rng(0)
    X, T = rng.uniform(size=(n_rows, d)), rng.uniform(size=(5_000, d))

    def error(correct):
        model = GreedyNetRegressor(n_nodes=n_nodes, correct=correct).fit(X, sines(X))
        return relative_error(model.predict(T), sines(T))

    assert error(correct=True) < 0.75 * error(correct=False)


def test_noise_that_a_growth_has_fitted_does_not_keep_it():
    """Its training error is small, as each neuron is the best of many."""
    rng = np.random.default_rng(2)
    X = rng.uniform(-1, 1, (600, 1))
    truth = np.sin(3 * X[:, 0])
    model = GreedyNetRegressor(n_nodes=75).fit(X, truth + 0.1 * rng.normal(size=600))
    assert model.path_.finished is not None
    assert np.sqrt(np.mean((model.predict(X) - truth) ** 2)) < 0.03


def sines(X):
    return np.prod(np.sin(np.pi * X), axis=1)
