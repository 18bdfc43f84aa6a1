"""Scans of homogeneous and of smooth neurons equal brute force: all columns written out."""

from math import comb

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from greedynet.activations import ACTIVATIONS, degree_of, get_activation, halves
from greedynet.search.scans import groups, make_group, powers
from greedynet.search.scans.groups import BinnedGroup, Grid, PowerGroup, ReluGroup

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


def law(**strategies):
    """A property of a scan, on the same fifty examples in every run."""

    def decorate(test):
        return settings(max_examples=50, derandomize=True, deadline=None)(given(**strategies)(test))

    return decorate


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


# Sums of powers


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


@pytest.mark.parametrize("k", range(1, 7))
def test_moments_move_by_the_binomial_theorem(k):
    moments = np.random.default_rng(k).standard_normal(k + 1)
    wanted = [
        sum(comb(i, low) * 0.7 ** (i - low) * moments[low] for low in range(i + 1))
        for i in range(k + 1)
    ]
    powers._shift(moments, 0.7)
    np.testing.assert_allclose(moments, wanted, rtol=1e-13)


def sorted_rows(n, m, ties, seed=0):
    rng = np.random.default_rng(seed)
    p = rng.integers(-3, 4, (m, n)).astype(float) if ties else rng.uniform(-2, 2, (m, n))
    order = np.argsort(-p, axis=1, kind="stable")
    return p, np.take_along_axis(p, order, axis=1), order.astype(np.uint32)


@pytest.mark.parametrize("k", [1, 2, 3])
@pytest.mark.parametrize("pm", HALVES)
@pytest.mark.parametrize("ties", [False, True])
def test_squares_and_sizes_are_those_of_explicit_neurons(k, pm, ties):
    """Neurons first, then their mirror images, in the order of the thresholds."""
    p, values, order = sorted_rows(15, 3, ties)
    sigma = TwoPowers(k, *pm)
    rng = np.random.default_rng(1)
    columns, weights = rng.standard_normal((4, 15)), rng.uniform(0.2, 3, 15)
    start = rng.uniform(1, 2, (3, 2, 21))
    total = start.copy()
    powers.add_squares(values, order, columns, k, pm, BEYOND, -1.0, total)
    weighted, plain = np.empty((3, 2, 21)), np.empty((3, 2, 21))
    powers.sizes(values, order, weights, k, pm, BEYOND, weighted)
    powers.sizes(values, order, NO_WEIGHTS, k, pm, BEYOND, plain)
    for i in range(3):
        for j, t in enumerate(all_thresholds(values[i])):
            for side, sign in enumerate((1, -1)):
                g = sigma.value(sign * (p[i] - t))
                taken = start[i, side, j] - total[i, side, j]
                assert taken == pytest.approx(np.sum((columns @ g) ** 2), rel=1e-9, abs=1e-9)
                assert weighted[i, side, j] == pytest.approx(weights @ g**2, rel=1e-10, abs=1e-12)
                assert plain[i, side, j] == pytest.approx(g @ g, rel=1e-10, abs=1e-12)


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


def test_no_threshold_is_left_where_too_many_rows_must_be_active():
    problem = Problem()
    group = problem.group(get_activation("relu2"))
    for min_active in (20, 40, 41, 1000):
        scores, W = group.scan(problem.rows(problem.r), min_active, 1e-4)
        z = problem.X @ W[:, :-1].T + W[:, -1]
        assert ((scores == 0) | (z > 0).all(axis=0)).all()


def test_neurons_in_the_span_have_no_score_by_powers():
    problem = Problem(n=12, weighted=False)
    problem.Q = np.eye(12)
    scores, _ = problem.group(get_activation("relu3")).scan(problem.rows(problem.r), 1, 1e-9)
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


@pytest.mark.parametrize("name", ["relu2", "relu3", *SMOOTH])
def test_weights_are_copies(name):
    sigma, problem = get_activation(name), Problem(weighted=False)
    copies = np.random.default_rng(0).integers(1, 4, 40)
    each = np.repeat(np.arange(40), copies)
    scale = np.sqrt(copies)[:, None]
    Q = orthonormal(problem.Q * scale)
    r = outside_of(Q, problem.r * scale)
    found = []
    for X, weights, columns, residual in (
        (problem.X, copies.astype(float), Q * scale, r * scale),
        (problem.X[each], NO_WEIGHTS, (Q / scale)[each], (r / scale)[each]),
    ):
        group = make_group(sigma, X, weights, mirrored=False)(problem.directions)
        group.take_off(columns, columns.shape[1])
        found.append(group.scan(np.ascontiguousarray(residual.T), 1, 1e-4))
    np.testing.assert_allclose(found[0][0], found[1][0], rtol=1e-8)
    np.testing.assert_allclose(upright(found[0][1]), upright(found[1][1]), rtol=1e-8)


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


@law(seed=st.integers(0, 2**32), n=st.integers(1, 30), ones=st.booleans())
def test_histograms_keep_sums_and_first_moments(seed, n, ones):
    rng = np.random.default_rng(seed)
    # Places that are fractions of a power of two: every share is exact.
    place = rng.integers(0, 15 * 64 + 1, (3, n)) / 64
    nodes = np.minimum(place.astype(np.uint16), 14)
    column = NO_WEIGHTS if ones else rng.integers(-8, 9, n).astype(float)
    out = np.full((3, 16), np.nan)
    powers.histogram(nodes, (place - nodes).astype(np.float32), column, out)
    values = np.ones(n) if ones else column
    np.testing.assert_array_equal(out.sum(axis=1), values.sum())
    np.testing.assert_array_equal(out @ np.arange(16), place @ values)
    for i in range(3):
        hats = np.maximum(1 - np.abs(place[i][:, None] - np.arange(16)), 0)
        np.testing.assert_allclose(out[i], values @ hats, atol=1e-12)


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


@pytest.mark.parametrize("name", SMOOTH)
def test_scores_of_the_grid_are_nearly_exact(name):
    """Of all its neurons that are well outside the span, not only of the best."""
    sigma, problem = get_activation(name), Problem(n=200, m=2, n_columns=6)
    group = problem.group(sigma)
    gains = sum((group._histogram(v) @ group._grid.values) ** 2 for v in problem.rows(problem.r))
    for i in range(2):
        exact = problem.score(sigma, grid_neurons(group, i), 1e-2)
        found = gains[i] / group._outside[i]
        # Small scores are differences of what bins round.
        off = np.abs(found - exact)[exact > 0]
        assert np.sum(exact > 0) > 50
        assert off.max() < 0.03 * exact.max()
        assert np.median(off) < 3e-3 * exact.max()


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
    for name in ("relu2", "abs", "tanh", "gaussian"):
        group = make_group(get_activation(name), X, NO_WEIGHTS, mirrored=False)(np.eye(2))
        group.take_off(ones, ones.shape[1])
        np.testing.assert_array_equal(group.scan(r, 1, 1e-6)[0], 0)
