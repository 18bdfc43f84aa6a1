"""Samples of many rows, and sums over all of them: the same as with all rows in memory."""

from dataclasses import replace

import numpy as np
import pytest

import scopes
from greedynet import GreedyNetClassifier, GreedyNetRegressor
from greedynet.activations import ReLU, get_activation
from greedynet.correction.all_rows.inner_weights import Pulls, corrected_on_all_rows
from greedynet.correction.all_rows.passes import Looked, Passes, Sums, products_of_all_rows
from greedynet.correction.variable_projection import VariableProjection
from greedynet.fitting.forms import TwoLayers
from greedynet.model.coordinates import Coordinates
from greedynet.rows.blocks import BlockSizes, MemoryBlocks, Preparation, StreamSource
from greedynet.rows.rows import Rows
from greedynet.rows.sampling import (
    OfRareClasses,
    RandomSamples,
    Sampling,
    SamplingSettings,
    at_most,
)
from greedynet.rows.scaling import InputScaling
from greedynet.support.threads import Pool
from networks import Ramps
from problems import numeric_gradient

# Many rows: samples to look for neurons in, all rows to solve for the outer weights


SMALL_BLOCKS = BlockSizes(rows=128)


@pytest.fixture
def small_samples():
    with scopes.sampled(400, blocks={"rows": 128}):
        yield


def problem(n=2_000, seed=0):
    rng = np.random.RandomState(seed)
    X = rng.uniform(-1, 1, (n, 3))
    return X, np.sin(3 * X[:, 0]) + np.abs(X[:, 1]) + 0.1 * rng.randn(n)


def sampling(n_rows, n_features, n_neurons):
    X, Y = (np.broadcast_to(0.0, (n_rows, n)) for n in (n_features, 1))
    return Sampling.of(Rows(X, Y), n_neurons, SamplingSettings())


def test_few_rows_are_not_sampled():
    assert sampling(16_384, 4, 48) is None
    assert sampling(16_385, 4, 48).size == 8_192
    assert sampling(1_000_000, 5, 98).size == 16 * 98 * 6
    assert sampling(1_000_000, 100, 198).size == SamplingSettings().most
    # Nor are rows of which a sample would leave no more than are held out.
    assert sampling(18_204, 20, 198) is None
    assert sampling(18_205, 20, 198).size == SamplingSettings().most


def test_beyond_millions_of_rows_a_larger_sample_stands_for_all():
    assert sampling(2**22, 10, 98).larger == 0
    assert sampling(2**22 + 1, 10, 98).larger == 2**20
    assert sampling(2**22 + 1, 100, 98).larger == 2**25 // 101
    assert sampling(2**22 + 1, 4_000, 98).larger == SamplingSettings().most


def test_a_sample_leaves_the_held_out_rows_alone():
    X = np.arange(1_000.0)[:, None]
    made = RandomSamples(MemoryBlocks(Rows(X, X)), 100, hold_out=0.1, seed=0)
    held = set(made.held_out().X[:, 0])
    sample = set(made.sample().X[:, 0])
    assert len(held) == len(sample) == 100
    assert not sample & held
    # All rows that a sample leaves are held out, but not more than it has.
    for size, n_held in ((800, 200), (600, 400), (300, 300), (950, 100)):
        wide = RandomSamples(MemoryBlocks(Rows(X, X)), size, hold_out=0.1, seed=0)
        assert (len(wide.held_out()), len(wide.sample())) == (n_held, min(size, 1_000 - n_held))
    other = RandomSamples(MemoryBlocks(Rows(X, X)), 100, hold_out=0.1, seed=1)
    assert set(other.sample().X[:, 0]) != sample
    assert RandomSamples(MemoryBlocks(Rows(X, X)), 100, seed=0).held_out() is None


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("n_threads", [1, 3])
def test_products_over_blocks_are_those_over_all_rows(weighted, n_threads):
    X, y = problem(700)
    weights = np.random.RandomState(1).uniform(0.5, 1.5, 700) if weighted else None
    rows = Rows(X, np.column_stack([y, y**2]), weights)
    coordinates = Coordinates.of(rows, InputScaling.standard(rows), linear_term=True)
    points = np.random.RandomState(2).randn(5, 4)
    passes = Passes(MemoryBlocks(rows, Pool(n_threads), SMALL_BLOCKS))
    gram = passes.all.gram(coordinates, points, ReLU())

    scaled = coordinates.apply(rows)
    hidden = np.maximum(scaled.X @ points[:, :-1].T + points[:, -1], 0)
    F = scaled.weighted(np.hstack([coordinates.affine.evaluate(scaled.X), hidden]))
    chosen = np.array([0, 1, 2, 3, 5, 8])
    triangle = gram.triangle(chosen)
    wanted = F[:, chosen].T @ F[:, chosen]
    np.testing.assert_allclose(triangle.R.T @ triangle.R, wanted, atol=1e-9)
    right = F[:, chosen].T @ scaled.weighted(scaled.Y)
    np.testing.assert_allclose(triangle.R.T @ triangle.z, right, atol=1e-9)


def test_outer_weights_are_solved_on_all_rows(small_samples):
    """Least squares of all rows on the neurons that were found."""
    X, y = problem()
    model = GreedyNetRegressor(n_nodes=12, correct=False).fit(X, y)
    F = np.column_stack([model.network_.hidden(X), X, np.ones(len(X))])
    best = F @ np.linalg.lstsq(F, y, rcond=None)[0]
    np.testing.assert_allclose(model.predict(X), best, atol=1e-6)


# Samples of labelled rows: every class is there, and counts for what it is


N_RARE = 4_000


def sampled(size, **more):
    """Fits in this scope see so many rows."""
    return scopes.sampled(size, **more)


def rare_rows(shares, n=N_RARE, weighted=False, seed=0):
    """Classes in the shares that are given, the last one the rest; rows of all kinds mixed."""
    rng = np.random.default_rng(seed)
    counts = [round(share * n) for share in shares]
    at = rng.permutation(np.repeat(np.arange(len(counts) + 1), [*counts, n - sum(counts)]))
    Y = 1.0 - at[:, None] if len(counts) == 1 else np.eye(len(counts) + 1)[at]
    weights = rng.uniform(0.5, 1.5, n) if weighted else None
    return Rows(rng.standard_normal((n, 2)) + at[:, None], Y, weights)


def counts_of(rows, weighted=False):
    Y = np.hstack([1 - rows.Y, rows.Y]) if rows.n_outputs == 1 else rows.Y
    return rows.weights @ Y if weighted else Y.sum(axis=0)


def as_set(rows):
    return {tuple(row) for row in np.hstack([rows.X, rows.Y])}


def test_few_rows_are_taken_as_they_are():
    rows = rare_rows([0.01])
    assert at_most(rows, N_RARE, 0) is rows


@pytest.mark.parametrize("shares", [[0.3], [0.3, 0.3]])
def test_a_sample_without_rare_classes_has_no_weights(shares):
    rows = rare_rows(shares)
    sample = at_most(rows, 400, 0)
    assert len(sample) == 400
    assert sample.weights is None
    assert as_set(sample) <= as_set(rows)


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("shares", [[0.01], [0.001], [0.05, 0.002, 0.4], [0.001, 0.001]])
def test_every_class_is_there_and_has_its_share(shares, weighted):
    rows = rare_rows(shares, weighted=weighted)
    sample = at_most(rows, 800, 0)
    assert as_set(sample) <= as_set(rows)
    assert len(as_set(sample)) == len(sample)
    n_classes = len(shares) + 1
    enough = 800 // (4 * n_classes)
    there, whole = counts_of(sample), counts_of(rows)
    assert (there >= np.minimum(whole, 0.8 * enough)).all()
    rare = whole < 0.5 * enough * N_RARE / 800
    assert rare.any()
    np.testing.assert_array_equal(there[rare], np.minimum(whole, enough)[rare])
    assert sample.weights.mean() == pytest.approx(1)
    if not weighted:
        share = counts_of(sample, weighted=True) / len(sample)
        np.testing.assert_allclose(share[rare], whole[rare] / N_RARE, rtol=1e-12)
        assert share[~rare].sum() == pytest.approx(whole[~rare].sum() / N_RARE, rel=1e-12)


def test_weights_of_rows_are_kept():
    """Times what a row stands for, the same for all of a class."""
    rows = rare_rows([0.01], weighted=True)
    own = {tuple(x): w for x, w in zip(rows.X, rows.weights, strict=True)}
    sample = at_most(rows, 800, 0)
    times = sample.weights / [own[tuple(x)] for x in sample.X]
    rare = sample.Y[:, 0] == 1
    assert np.ptp(times[rare]) < 1e-12
    assert np.ptp(times[~rare]) < 1e-12
    assert times[~rare][0] > 3 * times[rare][0]


def test_rare_rows_are_the_same_however_rows_are_cut():
    rows = rare_rows([0.05, 0.05, 0.3], weighted=True)
    rows = Rows(rows.X.round(), rows.Y, rows.weights)  # many are the same
    work = OfRareClasses(np.array([0, 1]), 30, 7)
    whole = work.of(rows)
    sizes = BlockSizes(rows=64, numbers=64)
    cuts = [
        (rows.X[i : i + 700], rows.Y[i : i + 700, :], rows.weights[i : i + 700])
        for i in range(0, N_RARE, 700)
    ]
    streamed = StreamSource(cuts, sizes=sizes).total(Preparation(2, 4), work)[1]
    for found in (MemoryBlocks(rows, sizes=sizes).total(work), streamed):
        np.testing.assert_array_equal(found.rows.X, whole.rows.X)
        np.testing.assert_array_equal(found.rows.weights, whole.rows.weights)
        np.testing.assert_array_equal(found.counts, counts_of(rows)[:2])
    np.testing.assert_array_equal(counts_of(whole.rows), [30, 30, 0, 0])


def test_rare_rows_are_drawn_evenly():
    """Also where few of them differ: each kind has its share; another seed takes others."""
    rng = np.random.default_rng(0)
    kinds = rng.choice(4, 40_000, p=[0.4, 0.3, 0.2, 0.1])
    rows = Rows(np.c_[kinds % 2, kinds // 2].astype(float), np.ones((40_000, 1)))
    taken = [OfRareClasses(np.array([1]), 5_000, seed).of(rows) for seed in (0, 1)]
    whole = np.bincount(kinds) / len(kinds)
    for found in taken:
        share = np.bincount((found.rows.X @ [1, 2]).astype(int)) / 5_000
        assert (np.abs(share - whole) < 4 * np.sqrt(whole / 5_000)).all()
        assert len(np.unique(found.keys)) == 5_000
    assert len(np.intersect1d(taken[0].keys, taken[1].keys)) == 0


def test_equal_rows_of_a_rare_class_have_their_share():
    """Probabilities of four kinds of rows come out right, however often each is there."""
    rng = np.random.default_rng(0)
    kinds = np.array([[0.0, 0.0], [1.0, 0.0], [0.0, 1.0], [1.0, 1.0]])
    at, truth = rng.integers(0, 4, 60_000), np.array([0.03, 0.05, 0.08, 0.1])
    y = rng.uniform(size=len(at)) < truth[at]
    with sampled(2_000, classified=8_000):
        model = GreedyNetClassifier(max_nodes=6).fit(kinds[at], y)
    np.testing.assert_allclose(model.predict_proba(kinds)[:, 1], truth, rtol=0.25)


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


def gradient_of(points, rows, coordinates):
    """Minus half the derivative of the objective."""
    return -0.5 * numeric_gradient(lambda at: solved(at, rows, coordinates)[1], points)


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


# The outer weights of very many rows, from the products of a sample and one look at all rows


N_OUTER, SAMPLED_OUTER = 20_000, 4_000


def rows_of(weighted=False, noise=0.3):
    rng = np.random.default_rng(0)
    X = rng.uniform(2, 4, (N_OUTER, 3))
    y = np.sin(3 * X[:, 0]) + np.abs(X[:, 1] - 3) + noise * rng.standard_normal(N_OUTER)
    weights = rng.uniform(0.2, 1.8, N_OUTER) if weighted else None
    return Rows(X, np.column_stack([y, y**2]), weights)


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
    look = sums(rows).total(Looked(coordinates.without_rows(), points, sigma, c, probes))
    np.testing.assert_allclose(look.gradient, F.T @ (Y - F @ c), rtol=1e-9)
    np.testing.assert_allclose(look.square, np.sum((Y - F @ c) ** 2), rtol=1e-9)
    np.testing.assert_allclose(look.probes, np.sum((F @ probes) ** 2, axis=0), rtol=1e-9)


def test_a_sample_of_all_rows_gives_their_products():
    rows, points, sigma = rows_of(weighted=True), neurons(), get_activation("relu")
    found = products(rows, N_OUTER, points, sigma)
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
    found = products(rows, SAMPLED_OUTER, points, sigma)
    on_neurons = np.repeat([0.0, ridge], [coordinates.n_affine, len(points)])
    c = found.weights(on_neurons)
    c0 = sums(rows.take(np.arange(SAMPLED_OUTER))).gram(coordinates, points, sigma)
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
    found = products(rows, SAMPLED_OUTER, points, sigma, coordinates)
    wanted = sums(rows).gram(coordinates, points, sigma)
    np.testing.assert_array_equal(found.G, wanted.G)
    np.testing.assert_array_equal(found.b, wanted.b)


class OuterProducts:
    """Something to sum: `[X, 1]'[X, 1]`."""

    width = 1

    def of(self, rows):
        with_ones = np.column_stack([rows.X, np.ones(len(rows))])
        return with_ones.T @ with_ones

    def join(self, one, other):
        return one + other


def test_blocks_are_lifted_where_they_are_summed():
    inputs = np.random.default_rng(0).standard_normal((60, 3)) * [1.0, 1e-3, 1e4]
    rows = Rows(inputs, np.zeros((60, 1)), start=0)
    ramps = Ramps.at_quantiles(inputs, None, 4)
    blocks = TwoLayers(ramps).blocks(MemoryBlocks(rows, sizes=BlockSizes(rows=16)))
    whole = replace(rows, X=ramps.lift(inputs))
    assert (len(blocks), blocks.n_features, blocks.n_outputs) == (60, ramps.n_lifted, 1)
    np.testing.assert_allclose(blocks.total(OuterProducts()), OuterProducts().of(whole), rtol=1e-12)
    np.testing.assert_array_equal(blocks.take(np.array([3, 50])).X, whole.X[[3, 50]])
    np.testing.assert_array_equal(
        blocks.survey().input_range, [whole.X.min(axis=0), whole.X.max(axis=0)]
    )
