"""Points on the sphere: on it, evenly spread, the protocol's own, seeded."""

import numpy as np
import pytest

from greedynet.search.sphere import circle, gaussian, golden_spiral, sample_sphere


@pytest.mark.parametrize("n_features", [1, 2, 3, 7])
@pytest.mark.parametrize("random_state", [None, 3])
def test_points_are_unit_rows_with_the_bias_last(n_features, random_state):
    points = sample_sphere(n_features, 500, random_state=random_state)
    assert points.shape == (500, n_features + 1)
    np.testing.assert_allclose(np.linalg.norm(points, axis=1), 1, atol=1e-12)


@pytest.mark.parametrize("n_features", [1, 2, 5])
def test_points_have_no_preferred_direction(n_features):
    points = sample_sphere(n_features, 20_000, random_state=0)
    assert np.linalg.norm(points.mean(axis=0)) < 0.02
    second = points.T @ points / len(points)
    np.testing.assert_allclose(second, np.eye(n_features + 1) / (n_features + 1), atol=0.01)


def test_circle_of_the_protocol():
    theta = 2 * np.pi * np.arange(10_000) / 10_000
    points = circle(10_000)
    np.testing.assert_allclose(points[:, 0], np.sin(theta), atol=1e-12)
    np.testing.assert_allclose(points[:, 1], np.cos(theta), atol=1e-12)


def test_golden_spiral_of_the_protocol():
    n = 1000
    i = np.arange(n) + 2 / (1 + np.sqrt(5))
    phi, psi = np.pi * (1 + np.sqrt(5)) * i % (2 * np.pi), np.arccos(1 - 2 * i / n)
    wanted = np.c_[np.sin(phi) * np.sin(psi), np.cos(phi) * np.sin(psi), np.cos(psi)]
    np.testing.assert_array_equal(golden_spiral(n), wanted)


def test_gaussian_of_the_protocol():
    vectors = np.random.RandomState(5).randn(50, 4)
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
    wanted = vectors[np.argsort(vectors[:, 0])]
    np.testing.assert_array_equal(gaussian(50, 3, random_state=np.random.RandomState(5)), wanted)


@pytest.mark.parametrize("n_features", [1, 2, 4])
def test_seeds_decide(n_features):
    first, again, other = (sample_sphere(n_features, 30, random_state=s) for s in (1, 1, 2))
    np.testing.assert_array_equal(first, again)
    assert not np.allclose(first, other)


def test_a_turn_keeps_the_distances():
    turned, plain = golden_spiral(40, random_state=0), golden_spiral(40)
    np.testing.assert_allclose(turned @ turned.T, plain @ plain.T, atol=1e-12)


@pytest.mark.parametrize("n_features", [1, 2, 3])
def test_default_number_of_points(n_features):
    assert len(sample_sphere(n_features, random_state=0)) == 10_000 * n_features


@pytest.mark.parametrize("sample", [circle, golden_spiral])
def test_a_single_point(sample):
    assert np.linalg.norm(sample(1)) == pytest.approx(1)


def test_no_points():
    with pytest.raises(ValueError, match="`n_points` must be an integer of at least 1, got 0"):
        circle(0)
