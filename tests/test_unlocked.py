"""BLAS and LAPACK without the lock: the same as NumPy's products and inverses."""

import threading

import numpy as np
import pytest

from greedynet.linalg import unlocked


def positive(n, seed=0):
    A = np.random.default_rng(seed).standard_normal((n + 3, n))
    return np.asfortranarray(A.T @ A)


@pytest.mark.parametrize(("n", "k"), [(1, 1), (5, 3), (7, 40), (130, 64), (4, 0)])
@pytest.mark.parametrize("alpha", [1.0, -2.5])
def test_squares_are_added_to_the_lower_triangle(n, k, alpha):
    rng = np.random.default_rng(0)
    A, C = np.asfortranarray(rng.standard_normal((n, k))), np.asfortranarray(np.ones((n, n)))
    unlocked.add_square(C, A, alpha)
    np.testing.assert_allclose(np.tril(C), np.tril(1 + alpha * A @ A.T), rtol=1e-11, atol=1e-11)
    assert (np.triu(C, 1)[np.triu_indices(n, 1)] == 1).all(), "the upper one is not touched"


@pytest.mark.parametrize(("m", "n"), [(1, 1), (6, 4), (3, 90), (200, 40)])
def test_a_triangle_is_solved_from_the_right(m, n):
    B = np.asfortranarray(np.random.default_rng(1).standard_normal((m, n)))
    L = np.asfortranarray(np.linalg.cholesky(positive(n)))
    found = B.copy(order="F")
    unlocked.solve_right(found, L)
    np.testing.assert_allclose(found @ L.T, B, rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("n", [1, 2, 33, 150])
def test_factors_and_inverses(n):
    A = positive(n)
    found = A.copy(order="F")
    assert unlocked.cholesky(found)
    np.testing.assert_allclose(np.tril(found), np.linalg.cholesky(A), rtol=1e-9, atol=1e-9)
    unlocked.invert(found)
    inverse = np.tril(found) + np.tril(found, -1).T
    np.testing.assert_allclose(inverse @ A, np.eye(n), atol=1e-7)


def test_a_matrix_without_a_factor():
    assert not unlocked.cholesky(np.asfortranarray(-np.eye(3)))


@pytest.mark.parametrize("wrong", [np.ones((2, 3)), np.ones((2, 3), dtype=np.float32, order="F")])
def test_other_arrays_are_refused_before_memory_is_touched(wrong):
    with pytest.raises(ValueError, match="Fortran order"):
        unlocked.add_square(np.zeros((2, 2), order="F"), wrong, 1.0)


def test_another_thread_runs_meanwhile():
    """While one thread is in a long product, this one counts."""
    A, C = np.asfortranarray(np.ones((1500, 3000))), np.zeros((1500, 1500), order="F")
    running = threading.Event()

    def multiply():
        running.set()
        unlocked.add_square(C, A, 1.0)
        running.clear()

    thread = threading.Thread(target=multiply)
    thread.start()
    running.wait()
    n_counted = 0
    while running.is_set():
        n_counted += 1
    thread.join()
    assert n_counted > 1_000
