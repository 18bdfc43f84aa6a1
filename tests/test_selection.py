"""Selection: points on the sphere, ridgelets, the dictionary, rules of choice, the factor."""

import threading

import numpy as np
import pytest
from scipy.integrate import quad
from scipy.linalg import hilbert

from greedynet import collapsed_ridgelet_transform, ridgelet_transform
from greedynet.linalg import unlocked
from greedynet.linalg.factor import Factor
from greedynet.linalg.weights import misfit, outer_weights
from greedynet.paper import load_example
from greedynet.search import DictionarySearch
from greedynet.search.dictionary import Atoms
from greedynet.search.ridgelet import collapsed_profile, profile, quadrature_weights, spacing
from problems import (
    atoms_of,
    circle,
    follows_the_rule,
    golden_spiral,
    noisy,
    planted,
    relative_error,
    sample_sphere,
    some_points,
)

# The growing factor: orthonormal, equal to QR, residual orthogonal, dependent columns refused.


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


def test_orthonormal_however_close_the_columns_are():
    factor = filled(hilbert(12)[:, :4], np.ones((12, 1)))
    np.testing.assert_allclose(factor.Q.T @ factor.Q, np.eye(4), atol=1e-15)


@pytest.mark.parametrize("perturbation", [0.0, 1e-9, 1e-6])
def test_dependent_columns_are_refused(problem, perturbation):
    F, Y = problem
    factor = filled(F, Y)
    residual = factor.residual.copy()
    near = F @ np.arange(1.0, 9.0)
    near += perturbation * np.random.RandomState(1).randn(30)
    assert not factor.append(near)
    assert not factor.append(np.zeros(30))
    assert factor.size == 8
    np.testing.assert_array_equal(factor.residual, residual)
    # By its direction, not by its length.
    assert factor.append(1e-9 * np.random.RandomState(2).randn(30))


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


# BLAS and LAPACK without the lock: the same as NumPy's products and inverses.


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


# The dictionary equals the atoms written out: dense, by blocks, weighted, in single precision.


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


def test_minimum_of_active_rows():
    X = np.linspace(-1, 1, 21)[:, None]
    kinks = np.array([-0.95, -0.5, 0.0, 0.5, 0.95])
    points = np.c_[np.ones(5), -kinks]
    everywhere = np.array([[0.0, 1.0]])
    dictionary = Atoms(np.r_[points, everywhere], X, min_active=3)
    np.testing.assert_array_equal(dictionary.labels, [1, 2, 3, 5])


# Both rules match their definition, step by step; the weak version keeps its promise.


RULES = ["ols", "oga"]


def run(search, Y, n_steps):
    """Chosen labels, and the factor."""
    factor, chosen = Factor(Y.reshape(len(Y), -1)), []
    while len(chosen) < n_steps:
        found = search.propose(factor)
        if found is None:
            break
        if factor.append(found.column):
            search.accept(factor)
            chosen.append(found.index)
        else:
            search.reject()
    return chosen, factor


@pytest.mark.parametrize("rule", RULES)
@pytest.mark.parametrize("n_outputs", [1, 3])
@pytest.mark.parametrize("n_features", [1, 2, 5])
def test_rules_match_the_naive_twin(rule, n_outputs, n_features):
    X, y = noisy(n_features=n_features)
    rng = np.random.RandomState(3)
    Y = np.column_stack([y, *(np.sin(X @ rng.randn(n_features)) for _ in range(n_outputs - 1))])
    points = some_points(n_features, 300)
    dictionary = Atoms(points, X)
    D, _ = atoms_of(points, X)
    chosen, _ = run(DictionarySearch(dictionary, rule), Y, 25)
    assert len(chosen) == 25
    assert follows_the_rule(D, Y, chosen, rule)
    assert not follows_the_rule(D, Y, chosen, "oga" if rule == "ols" else "ols")


@pytest.mark.parametrize("rule", RULES)
def test_weighted_rows_match_the_naive_twin(rule):
    X, y = noisy()
    scale = np.sqrt(np.random.RandomState(1).uniform(0.1, 2, len(X)))
    points = some_points(2)
    dictionary = Atoms(points, X, scale)
    D, _ = atoms_of(points, X, scale)
    chosen, _ = run(DictionarySearch(dictionary, rule), y * scale, 15)
    assert follows_the_rule(D, y * scale, chosen, rule)
    assert not follows_the_rule(atoms_of(points, X)[0], y, chosen, rule)


@pytest.mark.parametrize("rule", RULES)
@pytest.mark.parametrize("n_outputs", [1, 2])
def test_planted_network_is_recovered(rule, n_outputs):
    """The residual vanishes as soon as all planted neurons are in; others get no weight."""
    X, y, points, planted_points = planted(n_outputs=n_outputs)
    chosen, factor = run(DictionarySearch(Atoms(points, X), rule), y, 60)
    done = 1 + max(chosen.index(atom) for atom in planted_points)
    assert done < 60
    assert np.linalg.norm(factor.z[done:]) < 1e-10 * np.linalg.norm(y)
    weights = outer_weights(factor.R[:done, :done], factor.z[:done])
    extra = [atom not in planted_points for atom in chosen[:done]]
    np.testing.assert_allclose(weights[extra], 0, atol=1e-9 * np.linalg.norm(y))
    assert np.abs(weights[~np.array(extra)]).min() > 0.1


@pytest.mark.parametrize("rule", RULES)
def test_drift_does_not_show(rule):
    """After many steps and a residual fallen far, running correlations equal fresh ones."""
    X, _ = noisy(n_rows=300, n_features=3)
    y = np.exp(-(X**2).sum(axis=1))
    dictionary = Atoms(some_points(3, 2000), X)
    search = DictionarySearch(dictionary, rule)
    chosen, factor = run(search, y, 150)
    correlations = search._update(factor)
    fresh = dictionary.correlate(factor.residual)
    outside = 1 - np.sum(dictionary.correlate(factor.Q) ** 2, axis=1)
    scale = factor.residual_norm
    np.testing.assert_allclose(correlations, fresh, atol=1e-9 * scale)
    unused = np.isin(dictionary.labels, chosen, invert=True)
    np.testing.assert_allclose(search._outside[unused], outside[unused], atol=1e-12)


def test_search_ends_when_the_atoms_are_spent():
    X, y = noisy(n_rows=8)
    chosen, factor = run(DictionarySearch(Atoms(some_points(2, 500), X)), y, 20)
    assert len(chosen) <= 8
    assert relative_error(y - factor.residual[:, 0], y) < 1e-6


def test_an_empty_dictionary_proposes_nothing():
    X = np.linspace(-1, 1, 9)[:, None]
    empty = Atoms(np.array([[1.0, -5.0]]), X)
    assert run(DictionarySearch(empty), X[:, 0], 3)[0] == []


# Points on the sphere: on it, evenly spread, the protocol's own, seeded


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


def test_a_turn_keeps_the_distances():
    turned, plain = golden_spiral(40, random_state=0), golden_spiral(40)
    np.testing.assert_allclose(turned @ turned.T, plain @ plain.T, atol=1e-12)


# The ridgelet transforms: admissible profile, closed form, kinks found, scattered data


def test_reconstruction_in_one_dimension():
    """f(x) = int CR f(phi) relu(phi . (x, 1)) d phi, the closer the further the reach."""
    x = np.linspace(-1, 1, 400)[:, None]
    f = np.exp(-25 * x[:, 0] ** 2)
    points = circle(20_000)
    atoms = np.maximum(x @ points[:, :1].T + points[:, 1], 0)
    errors = []
    for reach in (20, 60, 100):
        values = collapsed_ridgelet_transform(points, x, f, reach=reach).values
        errors.append(relative_error(atoms @ values * 2 * np.pi / len(points), f))
    assert errors[0] > errors[1] > errors[2]
    assert errors[2] < 0.003


def test_reconstruction_in_two_dimensions_up_to_the_constant():
    side = np.linspace(-1, 1, 41)
    X = np.column_stack([g.ravel() for g in np.meshgrid(side, side, indexing="ij")])
    f = np.exp(-9 * (X**2).sum(axis=1))
    points = golden_spiral(20_000)
    values = collapsed_ridgelet_transform(points, X, f, reach=20).values
    inner = X[np.linalg.norm(X, axis=1) < 0.5]
    atoms = np.maximum(inner @ points[:, :2].T + points[:, 2], 0)
    found = atoms @ values * 4 * np.pi / len(points)
    ratio = found / np.exp(-9 * (inner**2).sum(axis=1))
    assert np.median(ratio) == pytest.approx(np.sqrt(np.pi / 2), rel=0.05)


@pytest.mark.parametrize("n_features", [1, 2])
@pytest.mark.parametrize("u", [1e-3, 0.4, 0.999, 1.001, 2.5, 6.0])
def test_collapsed_profile_is_the_radial_integral(n_features, u):
    integral = quad(lambda s: profile(s, n_features) * s ** (n_features + 1), 0, u, limit=200)[0]
    found = collapsed_profile(np.array([u, -u]), n_features)
    np.testing.assert_allclose(found, integral / u ** (n_features + 2), rtol=1e-9, atol=1e-13)


def test_collapsed_transform_is_the_sum_of_the_transform_over_radii():
    example = load_example(1)
    points = circle(64)
    reach, n_radii = 20.0, 2000
    radii = (np.arange(n_radii) + 0.5) * reach / n_radii
    transform = ridgelet_transform(points, radii, example.X_train, example.y_train)
    assert transform.shape == (64, n_radii)
    summed = (transform * radii**2).sum(axis=1) * reach / n_radii
    found = collapsed_ridgelet_transform(points, example.X_train, example.y_train, reach=reach)
    np.testing.assert_allclose(found.values, summed, atol=1e-4 * np.abs(summed).max())


def test_transform_is_the_integral_by_its_definition():
    x = np.linspace(-1, 1, 400)
    f = np.cos(3 * x)
    found = ridgelet_transform([[0.6, 0.8]], [5.0], x[:, None], f)[0, 0]
    wanted = quad(lambda s: np.cos(3 * s) * profile(5 * (0.6 * s + 0.8), 1), -1, 1, limit=200)[0]
    assert found == pytest.approx(wanted, rel=1e-3)


def test_cells_of_a_grid_and_of_scattered_points_fill_the_domain():
    rng = np.random.RandomState(0)
    x = rng.uniform(-1, 1, (50, 1))
    assert quadrature_weights(x).sum() == pytest.approx(np.ptp(x))
    corners = np.array([[-1, -1], [-1, 1], [1, -1], [1, 1]])
    X = np.r_[corners, rng.uniform(-1, 1, (300, 2))]
    assert quadrature_weights(X).sum() == pytest.approx(4)
    f = np.cos(X[:, 0]) * X[:, 1] ** 2
    assert quadrature_weights(X) @ f == pytest.approx(2 * np.sin(1) * 2 / 3, rel=0.02)


def test_repeated_points_share_their_cell():
    x = np.array([[0.0], [0.5], [0.5], [1.0]])
    np.testing.assert_allclose(quadrature_weights(x), [0.25, 0.25, 0.25, 0.25])


@pytest.mark.parametrize(("number", "h"), [(1, 2 / 49), (2, 2 / 99), (3, 2 / 15), (4, 2 / 31)])
def test_spacing_of_the_grids(number, h):
    X = load_example(number).X_train
    assert spacing(X, quadrature_weights(X)) == pytest.approx(h)


@pytest.mark.parametrize(("number", "low", "high"), [(1, 0.45, 0.50), (2, 0.45, 0.50)])
def test_reduction_removes_what_the_paper_says(number, low, high):
    example = load_example(number)
    transform = collapsed_ridgelet_transform(example.sphere, example.X_train, example.y_train)
    assert low <= 1 - transform.keep(0.001).mean() <= high


@pytest.mark.parametrize("number", [1, 3])
def test_scattered_points_give_the_transform_of_the_grid(number):
    example = load_example(number)
    rng = np.random.RandomState(0)
    d = example.X_train.shape[1]
    X = np.r_[example.X_train, rng.uniform(-1, 1, (50 * 20**d, d))]
    points = example.sphere[:: 50 * d]
    grid = collapsed_ridgelet_transform(points, example.X_train, example.y_train, reach=5)
    scattered = collapsed_ridgelet_transform(points, X, example.target(X), reach=5)
    size = np.abs(grid.values).max()
    np.testing.assert_allclose(scattered.values, grid.values, atol=0.05 * size)


def test_several_outputs_count_by_their_norm():
    x = np.linspace(-1, 1, 30)[:, None]
    Y = np.c_[np.sin(3 * x), np.cos(2 * x)]
    points = circle(100)
    each = [collapsed_ridgelet_transform(points, x, y).values for y in Y.T]
    both = collapsed_ridgelet_transform(points, x, Y).values
    np.testing.assert_allclose(both, np.hypot(*each))
