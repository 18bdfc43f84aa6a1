"""The outer weights of very many rows, from the products of a sample and one look at all rows."""

import numpy as np
import pytest

from greedynet.activations import get_activation
from greedynet.correction.all_rows.passes import Looked, Sums, products_of_all_rows
from greedynet.model.coordinates import Coordinates
from greedynet.rows.blocks import MemoryBlocks
from greedynet.rows.rows import Rows
from greedynet.rows.scaling import InputScaling

N, SAMPLED = 20_000, 4_000


def rows_of(weighted=False, noise=0.3):
    rng = np.random.default_rng(0)
    X = rng.uniform(2, 4, (N, 3))
    y = np.sin(3 * X[:, 0]) + np.abs(X[:, 1] - 3) + noise * rng.standard_normal(N)
    weights = rng.uniform(0.2, 1.8, N) if weighted else None
    return Rows(X, np.column_stack([y, y**2]), weights)


def coordinates_of(rows):
    return Coordinates.of(rows, InputScaling.standard(rows), linear_term=True)


def neurons(n=8, d=3):
    return np.random.default_rng(1).standard_normal((n, d + 1))


def columns(rows, coordinates, points, activation):
    """Affine columns and neurons, written down at length; outputs with them; weights in both."""
    scaled = coordinates.apply(rows)
    hidden = activation.value(scaled.X @ points[:, :-1].T + points[:, -1])
    F = np.hstack([coordinates.affine.evaluate(scaled.X), hidden])
    return scaled.weighted(F), scaled.weighted(scaled.Y)


def sums(rows):
    return Sums(MemoryBlocks(rows))


def products(rows, sampled, points, activation, coordinates=None):
    coordinates = coordinates or coordinates_of(rows)
    some = rows.take(np.arange(sampled))
    return products_of_all_rows(sums(some), sums(rows), coordinates, points, activation)


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("activation", ["relu", "tanh"])
def test_a_look_is_what_its_formulas_say(activation, weighted):
    rows, points, sigma = rows_of(weighted), neurons(), get_activation(activation)
    coordinates = coordinates_of(rows)
    F, Y = columns(rows, coordinates, points, sigma)
    rng = np.random.default_rng(2)
    c, probes = rng.standard_normal((F.shape[1], 2)), rng.standard_normal((F.shape[1], 3))
    look = sums(rows).look(Looked(coordinates.without_rows(), points, sigma, c, probes))
    np.testing.assert_allclose(look.gradient, F.T @ (Y - F @ c), rtol=1e-9)
    np.testing.assert_allclose(look.square, np.sum((Y - F @ c) ** 2), rtol=1e-9)
    np.testing.assert_allclose(look.probes, np.sum((F @ probes) ** 2, axis=0), rtol=1e-9)


def test_a_sample_of_all_rows_gives_their_products():
    rows, points, sigma = rows_of(weighted=True), neurons(), get_activation("relu")
    found = products(rows, N, points, sigma)
    wanted = sums(rows).gram(coordinates_of(rows), points, sigma)
    np.testing.assert_allclose(found.G, wanted.G, rtol=1e-12)
    np.testing.assert_allclose(found.b, wanted.b, rtol=1e-8, atol=1e-8)
    np.testing.assert_allclose(found.square, wanted.square, rtol=1e-10)


@pytest.mark.parametrize("ridge", [0.0, 3.0])
@pytest.mark.parametrize("activation", ["relu", "tanh"])
@pytest.mark.parametrize("weighted", [False, True])
def test_little_is_left_of_the_error_of_the_sample(weighted, activation, ridge):
    """In the norm of all rows, at any small ridge; and the squared error is that of all rows."""
    rows, points, sigma = rows_of(weighted), neurons(), get_activation(activation)
    coordinates = coordinates_of(rows)
    F, Y = columns(rows, coordinates, points, sigma)
    found = products(rows, SAMPLED, points, sigma)
    on_neurons = np.repeat([0.0, ridge], [coordinates.n_affine, len(points)])
    c = found.weights(on_neurons)
    c0 = sums(rows.take(np.arange(SAMPLED))).gram(coordinates, points, sigma)
    best = np.linalg.solve(F.T @ F + np.diag(on_neurons), F.T @ Y)
    left, before = np.linalg.norm(F @ (c - best)), np.linalg.norm(F @ (c0.weights() - best))
    assert left < 0.15 * before
    assert np.linalg.norm(found.G - F.T @ F) > 1e-3 * np.linalg.norm(F.T @ F)  # the sample's
    np.testing.assert_allclose(found.rss(c), np.sum((Y - F @ c) ** 2), rtol=1e-4)


def far_row(rows):
    """One row, the last, a thousand times as far out as all others."""
    rows.X[-1] = 3_000.0


def rare_neuron(points, coordinates, rows):
    """A neuron that is active in the last hundred rows only, none of which is in the sample."""
    direction = np.array([1.0, 0.0, 0.0])
    rows.X[-100:, 0] = 5.0
    z = coordinates.inputs.apply(rows.X)[:, 0]
    points[0] = [*direction, -0.5 * (z[:-100].max() + z[-100:].min())]


def test_far_rows_are_seen_beside_many_neurons():
    """One of three hundred neurons sees rows that are far out; of 24 of them one is sampled."""
    rng = np.random.default_rng(0)
    X = rng.standard_normal((60_000, 3))
    far = np.r_[5, 40_000 + np.arange(23)]
    X[far] += [0.0, 0.0, 60.0]
    rows = Rows(X, np.sin(X[:, :1]) + 0.1 * rng.standard_normal((60_000, 1)))
    coordinates = coordinates_of(rows.take(np.arange(6, 40_000)))
    points = rng.standard_normal((300, 4)) * [1, 1, 0, 1]
    points[0] = [0.0, 0.0, 1.0, -20.0]
    sigma = get_activation("relu")
    found = products(rows, 35_000, points, sigma, coordinates)
    np.testing.assert_array_equal(found.G, sums(rows).gram(coordinates, points, sigma).G)


def test_a_small_sample_is_not_trusted():
    rows, points, sigma = rows_of(), neurons(), get_activation("relu")
    found = products(rows, 1_199, points, sigma)  # a hundred for each column would be 1,200
    np.testing.assert_array_equal(found.G, sums(rows).gram(coordinates_of(rows), points, sigma).G)
    assert (products(rows, 1_200, points, sigma).G != found.G).any()


@pytest.mark.parametrize("what", ["far", "rare"])
def test_products_are_those_of_all_rows_where_a_sample_does_not_stand_for_them(what):
    rows, points, sigma = rows_of(), neurons(), get_activation("relu")
    coordinates = coordinates_of(rows)
    if what == "far":
        far_row(rows)
    else:
        rare_neuron(points, coordinates, rows)
    found = products(rows, SAMPLED, points, sigma, coordinates)
    wanted = sums(rows).gram(coordinates, points, sigma)
    np.testing.assert_array_equal(found.G, wanted.G)
    np.testing.assert_array_equal(found.b, wanted.b)


def test_without_neurons():
    rows = rows_of()
    found = products(rows, SAMPLED, np.empty((0, 4)), get_activation("relu"))
    wanted = sums(rows).gram(coordinates_of(rows), np.empty((0, 4)), get_activation("relu"))
    left = wanted.rss(found.weights()) - wanted.rss(wanted.weights())
    assert 0 <= left < 1e-4 * wanted.square
