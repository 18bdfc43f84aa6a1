"""Many rows: samples to look for neurons in, all rows to solve for the outer weights."""

import numpy as np
import pytest

import scopes
from greedynet import GreedyNetRegressor
from greedynet.activations import ReLU
from greedynet.correction.all_rows.passes import Passes
from greedynet.fitting.plan import Limits, Plan, TrainingData
from greedynet.fitting.split import split
from greedynet.model.coordinates import Coordinates
from greedynet.rows.blocks import BlockSizes, MemoryBlocks
from greedynet.rows.rows import Rows
from greedynet.rows.sampling import RandomSamples, Sampling, SamplingSettings
from greedynet.rows.scaling import InputScaling
from greedynet.support.context import FitContext
from greedynet.support.threads import Pool

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


@pytest.mark.parametrize("parameters", [{}, {"n_nodes": 20}, {"correct": False}])
def test_a_sample_gives_a_good_network(small_samples, parameters):
    X, y = problem()
    model = GreedyNetRegressor(max_nodes=40, **parameters).fit(X, y)
    T, _ = problem(seed=1)
    truth = np.sin(3 * T[:, 0]) + np.abs(T[:, 1])
    assert np.sqrt(np.mean((model.predict(T) - truth) ** 2)) < 0.08
    np.testing.assert_allclose(model.network_.input_range, [X.min(axis=0), X.max(axis=0)])


def test_threads_change_nothing(small_samples):
    X, y = problem()
    one, two = (GreedyNetRegressor(max_nodes=20, n_jobs=n).fit(X, y) for n in (1, 2))
    np.testing.assert_array_equal(one.predict(X), two.predict(X))


# Typing errors among more than 10,000 rows


N_MANY = 12_000


def tails(n, seed):
    """Columns without an end, so that a cell times ten lies far outside."""
    rng = np.random.default_rng(seed)
    X = rng.normal(loc=5.0, size=(n, 4))
    return X, np.abs(X[:, 0] - 5) + X[:, 1] + 0.2 * rng.normal(size=n)


def fitted(X, y):
    return GreedyNetRegressor(max_nodes=8, n_jobs=1).fit(X, y)


def errors(model, X, y):
    """The error that is told, and the true one."""
    return np.array([model.expected_error_, np.sqrt(np.mean((model.predict(X) - y) ** 2))])


@pytest.fixture(scope="module")
def honest():
    """Rows, new rows, and the errors of a fit without any typing error."""
    (X, y), new = tails(N_MANY, 0), tails(3_000, 1)
    model = fitted(X, y)
    return X, y, new, model


def position(held_out):
    """A row that is held out, or one that is not."""
    rows = Rows(np.arange(float(N_MANY))[:, None], np.zeros((N_MANY, 1)))
    plan = Plan(Limits(6), random_state=GreedyNetRegressor()._seed())
    ((train, held),) = split(TrainingData(rows), plan, FitContext(), classes=False).splits
    assert len(train) + len(held) == N_MANY
    return int((held if held_out else train).X[7, 0])


@pytest.mark.parametrize("column", [0, 1])
@pytest.mark.parametrize("held_out", [False, True])
def test_a_mistyped_cell_of_a_row_does_not_ruin_the_model(honest, held_out, column):
    X, y, new, model = honest
    wrong = X.copy()
    wrong[position(held_out), column] *= 10
    ratios = errors(fitted(wrong, y), *new) / errors(model, *new)
    assert (ratios < 1.5).all()
    assert (ratios > 1 / 1.5).all()


@pytest.mark.parametrize("column", [0, 1])
def test_a_mistyped_cell_of_a_new_row_is_as_wrong_as_the_data_is_wide(honest, column):
    _, _, (X, y), model = honest
    wrong = X.copy()
    wrong[7, column] *= 10
    assert errors(model, wrong, y)[1] < 1.5 * errors(model, X, y)[1]
