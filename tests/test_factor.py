"""The growing factor: orthonormal, equal to QR, residual orthogonal, dependent columns refused."""

import numpy as np
import pytest
from scipy.linalg import hilbert

from greedynet.linalg.factor import Factor
from greedynet.linalg.weights import misfit, outer_weights


def filled(F, Y):
    factor = Factor(Y, capacity=2)
    for column in F.T:
        assert factor.append(column)
    return factor


@pytest.fixture
def problem():
    rng = np.random.RandomState(0)
    return rng.randn(30, 8), rng.randn(30, 2)


def test_factor_is_a_qr_decomposition(problem):
    F, Y = problem
    factor = filled(F, Y)
    np.testing.assert_allclose(factor.Q.T @ factor.Q, np.eye(8), atol=1e-14)
    np.testing.assert_allclose(factor.Q @ factor.R, F, atol=1e-13)
    np.testing.assert_array_equal(factor.R, np.triu(factor.R))
    np.testing.assert_allclose(factor.z, factor.Q.T @ Y, atol=1e-13)
    np.testing.assert_allclose(factor.residual, Y - factor.Q @ factor.Q.T @ Y, atol=1e-13)


def test_every_width_is_least_squares(problem):
    F, Y = problem
    factor = filled(F, Y)
    for k in range(1, 9):
        wanted = np.linalg.lstsq(F[:, :k], Y, rcond=None)[0]
        found = outer_weights(factor.R[:k, :k], factor.z[:k])
        np.testing.assert_allclose(found, wanted, atol=1e-12)


def test_residual_never_grows_and_is_orthogonal(problem):
    F, Y = problem
    factor, before = Factor(Y), np.inf
    for k, column in enumerate(F.T, start=1):
        factor.append(column)
        assert factor.residual_norm < before
        before = factor.residual_norm
        np.testing.assert_allclose(F[:, :k].T @ factor.residual, 0, atol=1e-12)


def test_orthonormal_however_close_the_columns_are():
    F = hilbert(12)[:, :6]
    factor = filled(F[:, :4], np.ones((12, 1)))
    np.testing.assert_allclose(factor.Q.T @ factor.Q, np.eye(4), atol=1e-15)


@pytest.mark.parametrize("perturbation", [0.0, 1e-9, 1e-6])
def test_dependent_columns_are_refused(problem, perturbation):
    F, Y = problem
    factor = filled(F, Y)
    residual = factor.residual.copy()
    near = F @ np.arange(1.0, 9.0)
    near += perturbation * np.random.RandomState(1).randn(30)
    assert not factor.append(near)
    assert factor.size == 8
    np.testing.assert_array_equal(factor.residual, residual)


def test_zero_column_is_refused():
    assert not Factor(np.ones((4, 1))).append(np.zeros(4))


def test_ridge_equals_the_normal_equations(problem):
    F, Y = problem
    factor, alpha = filled(F, Y), 0.7
    penalty = alpha * np.diag([0, 0, 1, 1, 1, 1, 1, 1])
    wanted = np.linalg.solve(F.T @ F + penalty, F.T @ Y)
    found = outer_weights(factor.R, factor.z, alpha, n_affine=2)
    np.testing.assert_allclose(found, wanted, atol=1e-12)
    sse = factor.residual_norm**2 + misfit(factor.R, factor.z, found)
    assert sse == pytest.approx(np.sum((Y - F @ wanted) ** 2))


@pytest.mark.parametrize("n_first", [0, 3])
def test_columns_appended_at_once_are_those_appended_one_by_one(problem, n_first):
    F, Y = problem
    wanted, factor = filled(F, Y), filled(F[:, :n_first], Y)
    assert factor.extend(F[:, n_first:]).all()
    assert factor.size == 8
    for name in ("Q", "R", "z", "residual"):
        np.testing.assert_allclose(getattr(factor, name), getattr(wanted, name), atol=1e-12)


def test_dependent_columns_among_several_are_left_out(problem):
    F, Y = problem
    factor = filled(F[:, :2], Y)
    kept = factor.extend(np.column_stack([F[:, 2], F[:, :2] @ [1.0, 2.0], F[:, 3]]))
    np.testing.assert_array_equal(kept, [True, False, True])
    np.testing.assert_allclose(factor.Q, filled(F[:, :4], Y).Q, atol=1e-12)


def test_columns_stay_orthonormal_if_many_are_appended_next_to_the_span():
    rng = np.random.default_rng(0)
    F = rng.standard_normal((200, 30))
    near = F @ rng.standard_normal((30, 20)) + 1e-3 * rng.standard_normal((200, 20))
    factor = filled(F, rng.standard_normal((200, 1)))
    factor.extend(near)
    assert factor.size == 50
    np.testing.assert_allclose(factor.Q.T @ factor.Q, np.eye(50), atol=1e-12)
    np.testing.assert_allclose(factor.Q @ factor.R, np.hstack([F, near]), atol=1e-11)
    np.testing.assert_allclose(factor.Q.T @ factor.residual, 0, atol=1e-12)
