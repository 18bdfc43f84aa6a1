"""The dictionary equals the atoms written out: dense, by blocks, weighted, in single precision."""

import numpy as np
import pytest

from greedynet.search.dictionary import Atoms
from greedynet.support.threads import Pool
from problems import atoms_of, noisy, some_points

BLOCKS = 60_000  # bytes: far less than the atoms of these problems


@pytest.fixture(params=[None, "weights"])
def row_scale(request):
    return None if request.param is None else np.sqrt(np.random.RandomState(2).uniform(0.1, 3, 120))


@pytest.mark.parametrize("memory_budget", [2**30, BLOCKS])
def test_products_and_columns_equal_the_atoms_written_out(row_scale, memory_budget):
    X, y = noisy()
    points = some_points(2)
    D, norms = atoms_of(points, X, row_scale)
    dictionary = Atoms(points, X, row_scale, memory_budget=memory_budget)
    kept = dictionary.labels
    assert set(kept) == set(np.flatnonzero(norms >= 1e-6))
    np.testing.assert_allclose(dictionary.norms, norms[kept], rtol=1e-13)
    np.testing.assert_allclose(dictionary.correlate(y), D[:, kept].T @ y, atol=1e-13)
    vectors = np.random.RandomState(0).randn(len(X), 3)
    np.testing.assert_allclose(dictionary.correlate(vectors), D[:, kept].T @ vectors, atol=1e-12)
    np.testing.assert_allclose(dictionary.columns(np.arange(5)), D[:, kept[:5]], atol=1e-14)


@pytest.mark.parametrize("memory_budget", [2**30, BLOCKS])
@pytest.mark.parametrize("power", [1.0, 1.5, 2.0, np.inf])
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_lengths_equal_those_of_the_atoms_written_out(row_scale, memory_budget, power, dtype):
    X, _ = noisy()
    points = some_points(2)
    dictionary = Atoms(points, X, row_scale, memory_budget=memory_budget, dtype=dtype)
    # The neurons themselves, their weights as those of the sum: an atom has length 1 for p = 2.
    weights = np.ones(len(X)) if row_scale is None else row_scale**2
    values = np.maximum(X @ dictionary.points[:, :-1].T + dictionary.points[:, -1], 0)
    values /= np.sqrt(weights @ values**2)
    wanted = values.max(axis=0) if np.isinf(power) else (weights @ values**power) ** (1 / power)
    accuracy = 1e-12 if dtype is np.float64 else 1e-5
    np.testing.assert_allclose(dictionary.lengths(power), wanted, rtol=accuracy)


def test_blocks_keep_the_budget():
    X, _ = noisy(n_rows=400)
    points = some_points(2, 2000)
    whole = Atoms(points, X)
    assert whole.held_bytes == len(whole) * len(X) * 8
    part = Atoms(points, X, memory_budget=1_000_000)
    assert 0 < part.held_bytes < 1_000_000


def test_other_rows_keep_the_training_norms():
    X, _ = noisy()
    points = some_points(2)
    dictionary = Atoms(points, X)
    other = np.random.RandomState(9).uniform(-1, 1, (7, 2))
    atoms = np.array([0, 3, 11])
    hidden = np.maximum(other @ dictionary.points[atoms, :-1].T + dictionary.points[atoms, -1], 0)
    found = dictionary.evaluate(atoms, other)
    np.testing.assert_allclose(found, hidden / dictionary.norms[atoms], atol=1e-14)


def test_atoms_have_unit_norm_and_dead_points_are_dropped():
    X = np.linspace(-1, 1, 20)[:, None]
    dead, alive = [1.0, -5.0], [1.0, 0.0]
    dictionary = Atoms(np.array([dead, alive]), X)
    np.testing.assert_array_equal(dictionary.labels, [1])
    assert np.linalg.norm(dictionary.columns(np.array([0]))) == pytest.approx(1)


def test_labels_follow_the_points():
    X, _ = noisy()
    dictionary = Atoms(some_points(2, 50), X, labels=np.arange(100, 150))
    assert set(dictionary.labels) <= set(range(100, 150))


def test_minimum_of_active_rows():
    X = np.linspace(-1, 1, 21)[:, None]
    kinks = np.array([-0.95, -0.5, 0.0, 0.5, 0.95])
    points = np.c_[np.ones(5), -kinks]
    everywhere = np.array([[0.0, 1.0]])
    dictionary = Atoms(np.r_[points, everywhere], X, min_active=3)
    np.testing.assert_array_equal(dictionary.labels, [1, 2, 3, 5])


def test_single_precision_is_near_double():
    X, y = noisy()
    points = some_points(2)
    double, single = Atoms(points, X), Atoms(points, X, dtype=np.float32)
    assert single.held_bytes * 2 == double.held_bytes
    np.testing.assert_allclose(single.correlate(y), double.correlate(y), atol=1e-5)


@pytest.mark.parametrize("memory_budget", [2**30, BLOCKS])
def test_threads_change_nothing(memory_budget):
    X, y = noisy()
    points = some_points(2, 500)
    one = Atoms(points, X, memory_budget=memory_budget).correlate(y)
    two = Atoms(points, X, memory_budget=memory_budget, pool=Pool(2)).correlate(y)
    np.testing.assert_array_equal(one, two)


def test_a_budget_too_small_for_the_data():
    X, _ = noisy()
    with pytest.raises(ValueError, match="`memory_budget` must cover the data and one atom"):
        Atoms(some_points(2), X, memory_budget=100)
