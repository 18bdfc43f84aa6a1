"""Scans: the best threshold of every direction, against twins that try them all."""

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from greedynet.activations import ACTIVATIONS, ReLU, degree_of, get_activation, halves
from greedynet.search.scans import groups, make_group, powers
from greedynet.search.scans import relu as scan
from greedynet.search.scans.groups import BinnedGroup, BlockGroup, Grid, PowerGroup, ReluGroup


def law(**strategies):
    """A property of the scan, on the same hundred examples in every run."""

    def decorate(test):
        return settings(max_examples=100, derandomize=True, deadline=None)(
            given(**strategies)(test)
        )

    return decorate


NO_WEIGHTS = np.empty(0)
BEYOND = np.array([0.3, 1.0, 2.5])
SMOOTH = [name for name, sigma in ACTIVATIONS.items() if degree_of(sigma) is None]
# Homogeneous ones, with halves that no two of them share.
HALVES = [(1.0, 0.0), (1.0, 0.01), (1.0, 1.0), (0.3, -2.0)]


class TwoPowers:
    """`p relu(z)^k + m relu(-z)^k`."""

    def __init__(self, k, p, m):
        self.name, self.degree, self.p, self.m = "two powers", k, p, m

    def value(self, z):
        return self.p * np.maximum(z, 0) ** self.degree + self.m * np.maximum(-z, 0) ** self.degree

    def slope(self, z):
        up, down = np.maximum(z, 0), np.maximum(-z, 0)
        k = self.degree
        return k * (self.p * up ** (k - 1) * (z > 0) - self.m * down ** (k - 1) * (z < 0))


def orthonormal(columns):
    U, sizes, _ = np.linalg.svd(columns, full_matrices=False)
    return U[:, sizes > 1e-9 * sizes.max(initial=1e-300)]


def outside_of(Q, columns):
    rest = columns - Q @ (Q.T @ columns)
    return rest - Q @ (Q.T @ rest)


def upright(W):
    """Neurons or their mirror images: beside an affine term some have the same score."""
    return W * np.sign(W[:, :1])


class Problem:
    """Rows, directions, weights or none, orthonormal columns and residuals outside of them."""

    def __init__(self, n=40, d=2, m=5, n_outputs=2, n_columns=4, *, weighted=True, ties=False):
        rng = np.random.default_rng(n + 10 * d + n_outputs)
        self.X = rng.uniform(-1, 1, (n, d))
        self.directions = rng.standard_normal((m, d))
        self.directions /= np.linalg.norm(self.directions, axis=1, keepdims=True)
        if ties:
            self.X, self.directions = np.round(2 * self.X) / 2, np.eye(d)[:m]
        self.weights = rng.uniform(0.2, 3, n) if weighted else NO_WEIGHTS
        self.scale = np.sqrt(self.weights) if weighted else np.ones(n)
        affine = self.scale[:, None] * np.column_stack([np.ones(n), self.X])
        self.Q = orthonormal(np.column_stack([affine, rng.standard_normal((n, n_columns))]))
        self.r = outside_of(self.Q, rng.standard_normal((n, n_outputs)))

    def rows(self, columns):
        """Columns as the scans take them."""
        return np.ascontiguousarray((columns * self.scale[:, None]).T)

    def group(self, sigma, which=slice(None), *, mirrored=False):
        group = make_group(sigma, self.X, self.weights, mirrored=mirrored)(self.directions[which])
        group.take_off(self.Q * self.scale[:, None], self.Q.shape[1])
        return group

    def score(self, sigma, W, dependent=1e-4):
        """Exact scores of neurons, 0 next to the span."""
        G = sigma.value(self.X @ W[:, :-1].T + W[:, -1]) * self.scale[:, None]
        left = np.sum(outside_of(self.Q, G) ** 2, axis=0)
        free = left > dependent * np.sum(G**2, axis=0)
        gains = np.sum((self.r.T @ G) ** 2, axis=0)
        return np.where(free, gains / np.where(free, left, 1), 0)


def naive(p, v, k, t):
    """`D` and `U`, by definition."""
    return (
        sum(v_i * (p_i - t) ** k for p_i, v_i in zip(p, v, strict=True) if p_i > t),
        sum(v_i * (t - p_i) ** k for p_i, v_i in zip(p, v, strict=True) if p_i < t),
    )


def all_thresholds(values, beyond=BEYOND):
    return np.r_[values, values[-1] - beyond, values[0] + beyond]


@law(
    seed=st.integers(0, 2**32),
    n=st.integers(1, 12),
    k=st.integers(1, 6),
    ties=st.booleans(),
    offset=st.sampled_from([0.0, 100.0]),
)
def test_sums_are_those_of_the_definition(seed, n, k, ties, offset):
    rng = np.random.default_rng(seed)
    values = rng.integers(-3, 4, n).astype(float) if ties else rng.uniform(-2, 2, n)
    values = np.sort(values)[::-1] + offset
    column = rng.standard_normal(n)
    down, up = np.full(n + 6, np.nan), np.full(n + 6, np.nan)
    powers.sums(values, column, k, BEYOND, down, up)
    wanted = np.array([naive(values, column, k, t) for t in all_thresholds(values)])
    size = np.abs(wanted).max() + 1
    np.testing.assert_allclose(down, wanted[:, 0], rtol=1e-9, atol=1e-12 * size)
    np.testing.assert_allclose(up, wanted[:, 1], rtol=1e-9, atol=1e-12 * size)


# Scans of powers


def neurons_of(u, X, min_active):
    """All that a scan may find along one direction: at rows with enough on either side, beyond."""
    p = X @ u
    inside = [t for t in p if min(np.sum(p > t), np.sum(p < t)) >= min_active]
    outside = np.sqrt(np.sum(X**2, axis=1).max()) * groups._BEYOND
    t = np.r_[inside, p.min() - outside, p.max() + outside]
    W = np.column_stack([np.tile(u, (len(t), 1)), -t])
    return np.concatenate([W, -W])


@pytest.mark.parametrize("min_active", [1, 4])
@pytest.mark.parametrize("kind", ["plain", "weighted", "ties", "weighted ties"])
@pytest.mark.parametrize("pm", HALVES)
@pytest.mark.parametrize("k", [1, 2, 3])
def test_the_scan_of_powers_is_the_best_of_its_thresholds_and_signs(k, pm, kind, min_active):
    sigma = TwoPowers(k, *pm)
    problem = Problem(weighted="weighted" in kind, ties="ties" in kind, n_outputs=k)
    group = problem.group(sigma)
    if k == 1 and pm[1] == 0:
        # Running sums find all thresholds of a ReLU: at least as good.
        assert isinstance(group, ReluGroup)
        sigma_of_group = (1, pm, np.sqrt(np.sum(problem.X**2, axis=1).max()) * groups._BEYOND)
        group = PowerGroup(problem.directions, problem.X, problem.weights, sigma_of_group)
        group.take_off(problem.Q * problem.scale[:, None], problem.Q.shape[1])
    assert isinstance(group, PowerGroup)
    scores, W = group.scan(problem.rows(problem.r), min_active, 1e-4)
    for u, found, w in zip(problem.directions, scores, W, strict=True):
        wanted = problem.score(sigma, neurons_of(u, problem.X, min_active))
        assert found == pytest.approx(wanted.max(), rel=1e-8)
        assert problem.score(sigma, w[None])[0] == pytest.approx(found, rel=1e-8)
        p = problem.X @ w[:-1] + w[-1]
        above, below = np.sum(p > 1e-12), np.sum(p < -1e-12)
        assert min(above, below) >= min_active or max(above, below) == len(p)


@pytest.mark.parametrize("name", ["relu2", "relu3"])
def test_rows_beyond_a_kink_are_enough_or_the_neuron_is_a_polynomial(name):
    """A neuron planted at the end is found only if it may be."""
    sigma = get_activation(name)
    x = np.linspace(-1, 1, 41)[:, None]
    r = sigma.value(x - x[-4])
    for min_active, allowed in ((3, True), (4, False)):
        group = make_group(sigma, x, NO_WEIGHTS, mirrored=False)(np.ones((1, 1)))
        (score,), ((a, b),) = group.scan(np.ascontiguousarray(r.T), min_active, 1e-8)
        assert (score == pytest.approx(np.sum(r**2), rel=1e-9)) == allowed
        assert (-b / a == pytest.approx(x[-4, 0])) == allowed


@pytest.mark.parametrize("name", ["relu", "relu3"])
def test_neurons_in_the_span_have_no_score(name):
    problem = Problem(n=12, weighted=False)
    problem.Q = np.eye(12)
    scores, _ = problem.group(get_activation(name)).scan(problem.rows(problem.r), 1, 1e-9)
    np.testing.assert_array_equal(scores, 0)


@pytest.mark.parametrize("name", ["relu2", "relu3", "tanh", "gaussian", "relu"])
def test_two_groups_joined_are_one_group_of_both(name):
    problem = Problem()
    sigma = get_activation(name)
    both = problem.group(sigma, slice(0, 2), mirrored=name == "relu").joined(
        problem.group(sigma, slice(2, None), mirrored=name == "relu")
    )
    whole = problem.group(sigma, mirrored=name == "relu")
    np.testing.assert_array_equal(both.directions, whole.directions)
    rows = problem.rows(problem.r)
    # Columns taken off afterwards reach all of it.
    extra = orthonormal(outside_of(problem.Q, np.random.default_rng(0).standard_normal((40, 2))))
    for _ in range(2):
        for found, wanted in zip(both.scan(rows, 3, 1e-6), whole.scan(rows, 3, 1e-6), strict=True):
            np.testing.assert_allclose(found, wanted, rtol=1e-9)
        both.take_off(extra * problem.scale[:, None], 2)
        whole.take_off(extra * problem.scale[:, None], 2)


@pytest.mark.parametrize("name", ["relu2", "relu3", "sigmoid", "gaussian", "softplus"])
def test_columns_taken_off_one_by_one_or_at_once_are_the_same(name):
    problem = Problem()
    at_once = problem.group(get_activation(name))
    one_by_one = make_group(get_activation(name), problem.X, problem.weights, mirrored=False)(
        problem.directions
    )
    for q in problem.Q.T:
        one_by_one.take_off((q * problem.scale)[:, None], 1)
    rows = problem.rows(problem.r)
    scores, W = one_by_one.scan(rows, 3, 1e-6)
    np.testing.assert_allclose(scores, at_once.scan(rows, 3, 1e-6)[0], rtol=1e-8)
    np.testing.assert_allclose(upright(W), upright(at_once.scan(rows, 3, 1e-6)[1]), rtol=1e-9)


@pytest.mark.parametrize("name", ["abs", "leaky_relu"])
@pytest.mark.parametrize("weighted", [False, True])
def test_beside_an_affine_term_a_broken_line_scores_as_a_relu(name, weighted):
    """With thresholds at rows, and with those of the ReLU's scan."""
    problem, sigma = Problem(weighted=weighted), get_activation(name)
    assert isinstance(problem.group(sigma, mirrored=True), ReluGroup)
    scores, W = problem.group(sigma, mirrored=True).scan(problem.rows(problem.r), 3, 1e-6)
    relu = get_activation("relu")
    np.testing.assert_allclose(problem.score(sigma, W, 1e-9), scores, rtol=1e-8)
    np.testing.assert_allclose(problem.score(relu, W, 1e-9), scores, rtol=1e-8)
    longest = np.sqrt(np.sum(problem.X**2, axis=1).max())
    at_rows = []
    for broken in (sigma, relu):
        parameters = (1, halves(broken), longest * groups._BEYOND)
        group = PowerGroup(problem.directions, problem.X, problem.weights, parameters)
        group.take_off(problem.Q * problem.scale[:, None], problem.Q.shape[1])
        at_rows.append(group.scan(problem.rows(problem.r), 3, 1e-6)[0])
    np.testing.assert_allclose(at_rows[0], at_rows[1], rtol=1e-7)
    assert (scores >= at_rows[0] * (1 - 1e-9)).all()


@pytest.mark.parametrize(
    ("activation", "mirrored", "kind"),
    [
        ("relu", True, ReluGroup),
        ("relu", False, ReluGroup),
        ("abs", True, ReluGroup),
        ("abs", False, PowerGroup),
        ("leaky_relu", False, PowerGroup),
        (TwoPowers(1, 0.0, 1.0), False, PowerGroup),
        ("relu2", False, PowerGroup),
        (TwoPowers(2, 1.0, 1.0), False, PowerGroup),
        ("tanh", False, BinnedGroup),
    ],
)
def test_each_activation_has_its_group(activation, mirrored, kind):
    problem = Problem(n=10)
    assert type(problem.group(get_activation(activation), mirrored=mirrored)) is kind


# Histograms


def test_the_grid_is_that_of_the_projections():
    """Also at both ends: the largest projection belongs to the last node."""
    problem = Problem(n=30, weighted=False)
    group = make_group(get_activation("tanh"), problem.X, NO_WEIGHTS, mirrored=False)(
        problem.directions
    )
    p = problem.directions @ problem.X.T
    at = (group._nodes + group._shares.astype(float)) / (groups.N_NODES - 1)
    low, high = p.min(axis=1, keepdims=True), p.max(axis=1, keepdims=True)
    np.testing.assert_allclose(low + at * (high - low), p, atol=1e-8)
    assert group._nodes.max() == groups.N_NODES - 2


def grid_neurons(group, i):
    """The neurons of the grid along a direction of a group, by their meaning."""
    p_low, p_high = group._center[i] - group._half[i], group._center[i] + group._half[i]
    t = (p_low + p_high) / 2 + group._grid.thresholds * (p_high - p_low) / 2
    slopes = group._grid.slopes / ((p_high - p_low) / 2)
    return slopes[:, None] * np.column_stack([np.tile(group.directions[i], (len(t), 1)), -t])


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("name", SMOOTH)
def test_the_scan_of_a_grid_finds_nearly_its_best(name, weighted):
    sigma, problem = get_activation(name), Problem(n=200, n_columns=6, weighted=weighted)
    group = problem.group(sigma)
    scores, W = group.scan(problem.rows(problem.r), 1, 1e-4)
    for i, (found, w) in enumerate(zip(scores, W, strict=True)):
        wanted = problem.score(sigma, grid_neurons(group, i)).max()
        exact = problem.score(sigma, w[None])[0]
        assert 0.97 * wanted < exact <= wanted * (1 + 1e-9)
        assert found == pytest.approx(exact, rel=0.03)


def test_the_grid_spans_the_rows_with_every_scale():
    """Both signs, unless the mirror image is the neuron itself up to its sign."""
    for name in SMOOTH:
        sigma = get_activation(name)
        grid = Grid(sigma)
        signs = {-1.0, 1.0} if name in ("sigmoid", "gelu", "softplus") else {1.0}
        assert set(np.sign(grid.slopes)) == signs
        assert set(np.abs(grid.slopes)) == set(sigma.scales)
        pairs = set(zip(grid.slopes, grid.thresholds, strict=True))
        assert len(pairs) == len(signs) * len(sigma.scales) * (groups.N_THRESHOLDS + 1)
        assert (grid.thresholds.min(), grid.thresholds.max()) == (-1, 1)
        x = np.linspace(-1, 1, groups.N_NODES)
        j = len(grid.slopes) - 3
        wanted = sigma.value(grid.slopes[j] * (x - grid.thresholds[j]))
        np.testing.assert_allclose(grid.values[:, j], wanted, atol=1e-14)


@pytest.mark.parametrize("name", ["tanh", "sigmoid", "gelu", "softplus", "gaussian"])
def test_neurons_of_a_grid_live_on_enough_rows(name):
    """One row far from the rest of the function draws no neuron of its own."""
    sigma = get_activation(name)
    x = np.sort(np.random.default_rng(0).uniform(-1, 1, (100, 1)), axis=0)
    for row in (50, 99):
        r = np.zeros((1, 100))
        r[0, row] = 1.0
        for min_active in (1, 10, 40):
            group = make_group(sigma, x, NO_WEIGHTS, mirrored=False)(np.ones((1, 1)))
            (score,), W = group.scan(r, min_active, 1e-6)
            h = sigma.value(x @ W[:, :-1].T + W[:, -1])
            h = h - h.mean()
            assert score > 0
            assert np.sum(h**2) ** 2 / np.sum(h**4) > min_active - 0.5


def test_equal_rows_have_no_neuron():
    X = np.ones((6, 2))
    ones = orthonormal(np.ones((6, 1)))
    r = np.random.default_rng(0).standard_normal((1, 6))
    for name in ("relu", "relu2", "abs", "tanh", "gaussian"):
        group = make_group(get_activation(name), X, NO_WEIGHTS, mirrored=False)(np.eye(2))
        group.take_off(ones, ones.shape[1])
        np.testing.assert_array_equal(group.scan(r, 1, 1e-6)[0], 0)


# The scan of blocks of rows equals explicit columns at the ends of the blocks


N, D = 1_100, 3


class BlocksProblem:
    """Rows, orthonormal columns with the affine ones among them, and a residual outside them."""

    def __init__(self, *, weighted=False, n_values=None, n_columns=20, n_outputs=1, seed=0):
        rng = np.random.default_rng(seed)
        self.X = rng.standard_normal((N, D))
        if n_values is not None:
            self.X = rng.integers(0, n_values, (N, D)) - (n_values - 1) / 2
        self.weights = rng.uniform(0.5, 2, N) if weighted else NO_WEIGHTS
        self.scale = np.sqrt(self.weights) if weighted else np.ones(N)
        affine = np.column_stack([self.X, np.ones(N)]) * self.scale[:, None]
        columns = np.hstack([affine, rng.standard_normal((N, n_columns - D - 1))])
        self.Q = np.linalg.qr(columns)[0]
        r = np.abs(self.X).sum(axis=1)[:, None] + rng.standard_normal((N, n_outputs))
        self.r = r - self.Q @ (self.Q.T @ r)
        self.directions = np.vstack([np.eye(D), rng.standard_normal((4, D)) / 2])

    def group(self, directions=None):
        made = BlockGroup(
            self.directions if directions is None else directions, self.X, self.weights
        )
        taken = self.Q * self.scale[:, None]
        made.take_off(taken.astype(np.float32), self.Q.shape[1])
        return made

    def scan(self, group, min_active=3, dependent=1e-6):
        rows = np.ascontiguousarray((self.r * self.scale[:, None]).T)
        return group.scan(rows, min_active, dependent)

    def score(self, w):
        """The score of one neuron, from its explicit column."""
        g = np.maximum(self.X @ w[:-1] + w[-1], 0) * self.scale
        rest = g - self.Q @ (self.Q.T @ g)
        return np.sum((self.r.T @ g) ** 2) / (rest @ rest)


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("n_outputs", [1, 3])
@pytest.mark.parametrize("n_columns", [5, 40])
def test_the_best_end_of_a_block_has_the_score_of_its_explicit_column(
    weighted, n_outputs, n_columns
):
    problem = BlocksProblem(weighted=weighted, n_outputs=n_outputs, n_columns=n_columns)
    group = problem.group()
    scores, W = problem.scan(group)
    np.testing.assert_allclose([problem.score(w) for w in W], scores, rtol=1e-5)
    for u, of_direction in zip(problem.directions, scores, strict=True):
        p = np.sort(problem.X @ u)[::-1]
        inner = p[np.arange(1, 137) * N // 137][3:-3]
        assert max(problem.score(np.r_[u, -t]) for t in inner) <= of_direction * (1 + 1e-5)


def test_few_values_are_all_tried():
    problem = BlocksProblem(n_values=7)
    scores, W = problem.scan(problem.group(np.eye(D)))
    for j, (of_direction, w) in enumerate(zip(scores, W, strict=True)):
        values = np.unique(problem.X[:, j])[1:-1]
        tried = [problem.score(np.r_[np.eye(D)[j], -t]) for t in values]
        assert -w[-1] == values[np.argmax(tried)]
        assert of_direction == pytest.approx(max(tried), rel=1e-5)


def test_a_rare_value_among_few_is_tried():
    """Blocks of equal numbers of rows would miss it."""
    problem = BlocksProblem(n_values=4)
    problem.X[:5, 0] = 9.0
    problem.X[5:10, 0] = 7.0
    problem.Q = np.linalg.qr(np.column_stack([problem.X, np.ones(N)]))[0]
    g = np.maximum(problem.X[:, 0] - 7.0, 0.0)
    problem.r = (g - problem.Q @ (problem.Q.T @ g))[:, None]
    scores, W = problem.scan(problem.group(np.eye(D)[:1]))
    assert -W[0, -1] == 7.0
    assert scores[0] == pytest.approx(np.sum(problem.r**2), rel=1e-5)


def test_the_best_of_some_thresholds_is_nearly_the_best_of_all():
    problem = BlocksProblem()
    exact = ReluGroup(problem.directions, problem.X, problem.weights, mirrored=True)
    exact.take_off(problem.Q * problem.scale[:, None], problem.Q.shape[1])
    scores, best = problem.scan(problem.group())[0], problem.scan(exact)[0]
    assert (scores <= best * (1 + 1e-5)).all()
    assert (scores > 0.97 * best).all()


@pytest.mark.parametrize("min_active", [1, 50, 400])
def test_enough_rows_of_blocks_lie_on_either_side(min_active):
    problem = BlocksProblem(n_values=30)
    scores, W = problem.scan(problem.group(), min_active)
    for score, w in zip(scores, W, strict=True):
        active = np.count_nonzero(problem.X @ w[:-1] + w[-1] > 1e-9)
        assert score == 0 or min_active <= active <= N - min_active


def test_two_groups_of_blocks_joined_are_one():
    problem = BlocksProblem()
    some, others = problem.group(problem.directions[:3]), problem.group(problem.directions[3:])
    both, whole = problem.scan(some.joined(others)), problem.scan(problem.group())
    np.testing.assert_array_equal(both[0], whole[0])
    np.testing.assert_array_equal(both[1], whole[1])


def test_neurons_of_blocks_in_the_span_have_no_score():
    problem = BlocksProblem(n_values=2)
    # With two values, every neuron along an axis is affine.
    assert (problem.scan(problem.group(np.eye(D)))[0] == 0).all()


def test_equal_rows_of_blocks_have_no_threshold_between_them():
    problem = BlocksProblem()
    problem.X[:] = 1.0
    assert (problem.scan(BlockGroup(problem.directions, problem.X, NO_WEIGHTS))[0] == 0).all()


def test_blocks_are_for_many_rows_refined_neurons_and_an_affine_term():
    def kind(n, d, *, mirrored=True):
        X = np.random.default_rng(0).standard_normal((n, d))
        return type(make_group(ReLU(), X, NO_WEIGHTS, mirrored=mirrored)(np.eye(1, d)))

    many = groups.MIN_ROWS_IN_BLOCKS
    assert kind(many, 2) is BlockGroup
    assert kind(many - 1, 2) is ReluGroup
    assert kind(many, 1) is ReluGroup
    assert kind(many, 2, mirrored=False) is ReluGroup


# Squared share outside the span below which neither the scan nor the twin scores a neuron.
DEPENDENT = 1e-4


def neuron(p, t, scale):
    """The column of `relu(p - t)`, times the square roots of the weights."""
    return np.maximum(p - t, 0) * scale


def score(p, t, r, scale, Q, dependent=DEPENDENT):
    """The score of one threshold, from explicit columns; 0 for a column next to the span."""
    g = neuron(p, t, scale)
    rest = outside_of(Q, g)
    if not rest @ rest > dependent * (g @ g):
        return 0.0
    return float(np.sum((r.T @ g) ** 2) / (rest @ rest))


def intervals(p, min_active, reach=0.0):
    """Open intervals of thresholds with enough rows on either side: upper end and length.

    The last, below all rows, has the length `reach`.
    """
    levels = np.unique(p)[::-1]
    for high, low in pairwise(levels):
        if min(np.sum(p >= high), np.sum(p <= low)) >= min_active:
            yield high, high - low
    if reach > 0:
        yield levels[-1], reach


def square(slope, start):
    """Coefficients of `|start + slope s|^2`, highest power first."""
    return np.array([slope @ slope, 2 * (slope @ start), start @ start])


def maxima(p, high, gap, r, scale, Q):
    """Thresholds within `(high - gap, high)` where the score has a maximum."""
    g, ones = neuron(p, high, scale), scale * (p >= high)
    above = square(r.T @ ones, r.T @ g)
    below = square(outside_of(Q, ones), outside_of(Q, g))
    rise, fall = np.convolve(np.polyder(above), below), np.convolve(above, np.polyder(below))
    # The cubic terms cancel; where all do, the score is constant and the ends say what it is.
    slope = (rise - fall)[-3:]
    if np.abs(slope).max() < 1e-10 * np.abs(rise).max():
        return []
    roots = np.roots(slope)
    roots = roots[np.abs(roots.imag) <= 1e-7 * np.abs(roots)].real
    bend = np.polyder(slope)
    return [high - s for s in roots if 0 < s < gap and np.polyval(bend, s) < 0]


def brute_force(p, r, scale, Q, min_active, reach=0.0):
    """Best score over all thresholds: maxima, and rows with enough on either side."""
    at = [t for t in np.unique(p) if min(np.sum(p > t), np.sum(p < t)) >= min_active]
    for high, gap in intervals(p, min_active, reach):
        at += maxima(p, high, gap, r, scale, Q)
    return max((score(p, t, r, scale, Q) for t in at), default=0.0)


def at_the_ends(p, r, scale, Q, min_active):
    """Best score at the ends of the intervals, which thresholds within come close to."""
    ends = {t for high, gap in intervals(p, min_active) for t in (high, high - gap)}
    return max((score(p, t, r, scale, Q) for t in ends), default=0.0)


def finest(p, r, scale, Q, min_active, reach=0.0, n_points=60):
    """Best score on a fine grid of every interval, close to its ends too."""
    shares = np.r_[1e-4, np.arange(1, n_points) / n_points, 1 - 1e-4]
    found = [
        score(p, high - share * gap, r, scale, Q)
        for high, gap in intervals(p, min_active, reach)
        for share in shares
    ]
    return max(found, default=0.0)


def laid_out(projections):
    """Projections of each direction, largest first, and their rows."""
    order = np.argsort(-projections, axis=1, kind="stable")
    return np.take_along_axis(projections, order, axis=1), order.astype(np.uint32)


def measured(projections, weights, Q):
    """Sorted projections, rows and sums, with the columns taken off."""
    values, order = laid_out(projections)
    outside = np.empty((*values.shape, 3))
    scan.measure(values, order, weights, outside)
    scale = np.sqrt(weights) if len(weights) else np.ones(values.shape[1])
    scan.take_off(values, order, Q * scale[:, None], Q.shape[1], outside)
    return values, order, outside


def scanned(projections, r, weights, Q, min_active, reach=0.0, dependent=DEPENDENT):
    """Best scores and thresholds of directions."""
    values, order, outside = measured(projections, weights, Q)
    scale = np.sqrt(weights) if len(weights) else np.ones(len(r))
    residual = np.ascontiguousarray((r * scale[:, None]).T)
    scores, thresholds = np.empty(len(values)), np.empty(len(values))
    scan.best_thresholds(
        values,
        order,
        weights,
        residual,
        outside,
        min_active,
        reach,
        dependent,
        scores,
        thresholds,
    )
    return scores, thresholds


whole = st.integers(-4, 4).map(float)
real = st.floats(-2, 2).map(lambda value: round(value, 3))


@st.composite
def problems(draw, affine=None, weighted=None, max_rows=14):
    """Projections with ties or without, residuals, weights or none, and columns of a span."""
    n = draw(st.integers(2, max_rows))
    p = draw(arrays(float, n, elements=draw(st.sampled_from([whole, real]))))
    rng = np.random.default_rng(draw(st.integers(0, 2**32)))
    if weighted is None:
        weighted = draw(st.booleans())
    weights = rng.uniform(0.2, 3, n) if weighted else NO_WEIGHTS
    scale = np.sqrt(weights) if weighted else np.ones(n)
    n_outputs, n_columns = draw(st.integers(1, 3)), draw(st.integers(0, 3))
    columns = rng.standard_normal((n, n_columns))
    if draw(st.booleans()) if affine is None else affine:
        columns = np.column_stack([scale, scale * p, columns])
    Q = orthonormal(columns)
    r = outside_of(Q, rng.standard_normal((n, n_outputs)))
    return p, r, weights, scale, Q


# What the scan promises


@law(problem=problems(), min_active=st.integers(1, 5))
def test_the_scan_is_the_best_of_all_thresholds_with_enough_rows_on_either_side(
    problem, min_active
):
    p, r, weights, scale, Q = problem
    (found,), (t,) = scanned(p[None], r, weights, Q, min_active)
    wanted = brute_force(p, r, scale, Q, min_active)
    rounding = 1e-12 * np.sum(r**2)
    assert found >= wanted * (1 - 1e-9) - rounding
    most = max(wanted, at_the_ends(p, r, scale, Q, min_active))
    assert found <= most * (1 + 1e-9) + rounding
    if found > 0:
        assert score(p, t, r, scale, Q, dependent=0) == pytest.approx(found, rel=1e-6)
        assert min_active <= np.sum(p > t) <= len(p) - min_active


@law(problem=problems(affine=False), reach=st.floats(0.1, 5))
def test_neurons_active_on_all_rows_count_down_to_the_reach(problem, reach):
    p, r, weights, scale, Q = problem
    (found,), (t,) = scanned(p[None], r, weights, Q, 1, reach)
    ends = [score(p, t, r, scale, Q) for t in (p.min(), p.min() - reach)]
    best = max(brute_force(p, r, scale, Q, 1, reach), *ends)
    assert found == pytest.approx(best, rel=1e-9, abs=1e-12 * np.sum(r**2))
    assert t >= p.min() - reach * (1 + 1e-12) or found == 0


@law(problem=problems(affine=False), min_active=st.integers(1, 3), reach=st.floats(0.1, 5))
def test_no_threshold_is_better_next_to_the_smallest_projection_either(problem, min_active, reach):
    """Just below it all rows are active, which is allowed; at it the smallest is not."""
    p, r, weights, scale, Q = problem
    (found,), _ = scanned(p[None], r, weights, Q, min_active, reach)
    fine = finest(p, r, scale, Q, min_active, reach)
    assert fine <= found * (1 + 1e-6) + 1e-9 * np.sum(r**2)


def test_a_rare_level_does_not_hide_the_others():
    """Between 0 and 1 every threshold is as good; none may lie between 1 and 2, or at 1."""
    p = np.repeat([0.0, 1.0, 2.0], [20, 20, 1])
    Q = orthonormal(np.column_stack([np.ones(41), p]))
    r = outside_of(Q, (p == 1)[:, None].astype(float))
    (found,), (t,) = scanned(p[None], r, NO_WEIGHTS, Q, 2)
    assert found == pytest.approx(np.sum(r**2))
    # Far from both: next to 0 the neuron would be next to the span, next to 1 its mirror image.
    assert 0.1 < t < 0.9


@law(problem=problems(affine=True), min_active=st.integers(1, 3))
def test_beside_an_affine_term_the_mirrored_direction_has_the_same_score(problem, min_active):
    p, r, weights, _, Q = problem
    # The share outside the span is not the same for both: next to none may be enough.
    scores, _ = scanned(np.stack([p, -p]), r, weights, Q, min_active, dependent=1e-9)
    # An end that is not allowed is come close to from one side only.
    assert scores[0] == pytest.approx(scores[1], rel=1e-5, abs=1e-9 * np.sum(r**2))


def test_a_large_offset_costs_no_digits():
    """Sums are taken from the nearest projection, not from zero."""
    p = np.random.default_rng(0).integers(0, 2**20, 300) / 2**20
    y = np.sin(7 * p)[:, None]
    Q = orthonormal(np.column_stack([np.ones(300), p]))
    r = outside_of(Q, y)
    near = scanned(p[None], r, NO_WEIGHTS, Q, 3)
    far = scanned(p[None] + 2.0**20, r, NO_WEIGHTS, Q, 3)
    assert far[0][0] == pytest.approx(near[0][0], rel=1e-12)
    assert far[1][0] - 2.0**20 == pytest.approx(near[1][0], abs=1e-9)
