"""Certificates: bounds of all networks hold against brute force, and tell good from bad."""

from dataclasses import replace

import numpy as np
import pytest
from click.testing import CliRunner

import greedynet
from greedynet import GreedyNetRegressor, Network
from greedynet.cli.program import main
from greedynet.exact import certificate
from greedynet.exact.arc import best_on_circle, correlation
from greedynet.exact.lasso import ActiveLasso
from greedynet.exact.peak import _evaluate, peak
from networks import random_network


def small_problem(d: int, n: int = 12, seed: int = 0):
    """Return few rows, and a network that roughly fits them."""
    rng = np.random.default_rng(seed)
    X = rng.uniform(-1, 1, (n, d))
    y = np.abs(X[:, 0]) + 0.5 * X[:, -1] + 0.1 * rng.normal(size=n)
    network = Network(
        np.eye(1, d), np.zeros(1), np.array([[1.5]]), np.full((d, 1), -0.2), np.zeros(1)
    )
    return X, y, network


def directions(d: int, n: int, seed: int = 0):
    points = np.random.default_rng(seed).normal(size=(n, d + 1))
    return points / np.linalg.norm(points, axis=1)[:, None]


def best_by_brute_force(X, y, ridge, points):
    """Return the smallest objective of networks of many given neurons, in its usual units."""
    Z = (X - X.mean(axis=0)) / X.std(axis=0)
    X1 = np.column_stack([Z, np.ones(len(Z))])
    t = (y - y.mean()) / y.std()
    Q = np.linalg.qr(X1)[0]
    t = t - Q @ (Q.T @ t)
    H = np.maximum(X1 @ points.T, 0)
    lasso = ActiveLasso(t, ridge * len(t))
    lasso.extend(H - Q @ (Q.T @ H))
    lasso.solve()
    return lasso.objective / (t @ t)


@pytest.mark.parametrize("d", [1, 2])
def test_no_network_is_below_the_bound(d):
    for seed in range(3):
        X, y, network = small_problem(d, seed=seed)
        for ridge in (0.003, 0.03):
            found = certificate(network, X, y, ridge=ridge)
            wide = best_by_brute_force(X, y, ridge, directions(d, 1_500))
            assert found.proven
            assert found.bound <= found.best_found * (1 + 1e-12)
            assert found.bound <= wide * (1 + 1e-9)
            # And it is close to what a network attains, one better than those drawn at random.
            assert found.best_found <= wide * (1 + 2e-3)
            assert found.bound >= found.best_found * (1 - 3e-3)
            assert found.gap == pytest.approx(1 - found.bound / found.objective)


def test_a_worse_network_has_a_larger_gap():
    X, y, network = small_problem(1)
    ridge = certificate(network, X, y).ridge
    gaps = []
    for worse in (0.0, 0.2, 0.5, 1.0):
        moved = replace(network, biases=network.biases + worse)
        gaps.append(certificate(moved, X, y, ridge=ridge).gap)
    assert gaps == sorted(gaps)
    assert gaps[0] < gaps[-1] - 0.05


def test_objective_is_error_and_penalty_in_standard_units():
    X, y, network = small_problem(1)
    found = certificate(network, X, y, ridge=0.01)
    center, width, scale = X.mean(), X.std(), y.std()
    w = np.array([network.inner_weights[0, 0] * width, network.inner_weights[0, 0] * center])
    size = np.linalg.norm(w) * network.outer_weights[0, 0] / scale
    left = (y - network.predict(X)) / scale
    X1 = np.column_stack([X, np.ones(len(X))])
    t = y / scale
    t = t - X1 @ np.linalg.lstsq(X1, t, rcond=None)[0]
    assert found.error == pytest.approx(left @ left / (t @ t))
    assert found.penalty == pytest.approx(2 * 0.01 * len(X) * size / (t @ t))
    assert found.objective == pytest.approx(found.error + found.penalty)


def test_units_and_repeated_rows_do_not_matter():
    X, y, network = small_problem(2)
    found = certificate(network, X, y)
    other = replace(
        network,
        inner_weights=network.inner_weights / 10,
        biases=network.biases - network.inner_weights.sum(axis=1) * 0.3,
        outer_weights=network.outer_weights * 7,
        linear_weights=network.linear_weights * 0.7,
        intercept=network.intercept * 7 - 7 * 0.3 * network.linear_weights.sum(axis=0) + 100,
    )
    moved = certificate(other, 10 * X + 3, 7 * y + 100)
    assert moved.objective == pytest.approx(found.objective)
    assert moved.bound == pytest.approx(found.bound, rel=3e-3)
    weights = np.ones(len(y))
    weights[:3] = 2
    twice = certificate(network, np.vstack([X, X[:3]]), np.append(y, y[:3]), ridge=0.01)
    weighted = certificate(network, X, y, sample_weight=weights, ridge=0.01 * (len(y) + 3) / len(y))
    assert weighted.objective == pytest.approx(twice.objective)
    assert weighted.bound == pytest.approx(twice.bound, rel=3e-3)


def test_the_peak_on_a_circle_is_exact():
    rng = np.random.default_rng(0)
    X1 = np.column_stack([rng.normal(size=(40, 1)), np.ones(40)])
    for _ in range(20):
        target = rng.normal(size=40)
        point, value = best_on_circle(X1, target, np.array([1.0, 0]), np.array([0, 1.0]))
        angles = np.linspace(-np.pi, np.pi, 20_001)
        brute = correlation(X1, target, np.column_stack([np.cos(angles), np.sin(angles)])).max()
        assert np.linalg.norm(point) == pytest.approx(1)
        assert brute <= value * (1 + 1e-9) <= brute * (1 + 1e-3)


@pytest.mark.parametrize("symmetric", [True, False])
def test_no_neuron_is_above_the_peak(symmetric):
    rng = np.random.default_rng(1)
    for d in (2, 3):
        X1 = np.column_stack([rng.normal(size=(30, d)), np.ones(30)])
        target = rng.normal(size=30)
        if symmetric:
            target -= X1 @ np.linalg.lstsq(X1, target, rcond=None)[0]
        found = peak(
            X1, target, symmetric=symmetric, starts=directions(d, 20), close=0.01, seconds=20
        )
        drawn = correlation(X1, target, directions(d, 100_000))
        assert found.value <= found.bound <= 1.01 * found.value * (1 + 1e-9)
        assert drawn.max() <= found.bound
        assert found.value == pytest.approx(correlation(X1, target, found.points[:1])[0])
        # Without time the bound is loose, but holds.
        rough = peak(X1, target, symmetric=symmetric, starts=directions(d, 2), close=0, seconds=0)
        assert rough.bound >= drawn.max()


def test_the_bound_of_a_cone_counts_what_lies_between_its_corners():
    cone = np.eye(3)[None]
    values, bounds = _evaluate(np.ones((1, 3)), np.ones(1), cone)
    assert values.max() == 1.0
    assert bounds[0] == pytest.approx(np.sqrt(3))  # relu(w1 + w2 + w3) in the middle


def test_the_lasso_meets_its_conditions():
    rng = np.random.default_rng(0)
    H, y = rng.normal(size=(30, 50)), rng.normal(size=30)
    H[:, 25:] = H[:, :25] + 1e-6 * rng.normal(size=(30, 25))  # nearly the same columns
    lasso = ActiveLasso(y, 2.0)
    for part in (H[:, :20], H[:, 20:]):
        lasso.extend(part)
        lasso.solve()
    pull = H.T @ lasso.residual
    active = lasso.weights != 0
    assert 0 < active.sum() < 30
    assert np.abs(pull).max() <= 2.0 * (1 + 1e-6)
    np.testing.assert_allclose(pull[active], 2.0 * np.sign(lasso.weights[active]), rtol=1e-6)


def test_more_columns_are_an_estimate_and_a_line_is_best_at_its_ridge():
    X, y, _ = small_problem(5, n=40)
    network = random_network(3, n_features=5, seed=1)
    found = certificate(network, X, y, ridge=0.01, max_seconds=1)
    assert not found.proven
    assert "an estimate, not a proof" in found.sentence()
    X, y, _ = small_problem(1)
    slope, middle = np.polyfit(X[:, 0], y, 1)
    line = Network(
        np.zeros((0, 1)), np.zeros(0), np.zeros((0, 1)), np.array([[slope]]), np.array([middle])
    )
    assert certificate(line, X, y).gap == pytest.approx(0, abs=1e-9)


def test_fits_of_one_column_are_near_the_best():
    rng = np.random.default_rng(0)
    X = rng.uniform(-1, 1, (120, 1))
    y = np.sin(4 * X[:, 0]) + 0.2 * rng.normal(size=120)
    found = certificate(GreedyNetRegressor(n_nodes=12).fit(X, y), X, y)
    assert found.proven
    assert found.gap < 0.05
    assert found.best_found - found.bound <= 3e-3 * found.objective


@pytest.mark.parametrize(
    ("ask", "match"),
    [
        (lambda: certificate(random_network(2, 2), np.ones((3, 3)), np.ones(3)), "several outputs"),
        (lambda: certificate(random_network(activation="tanh"), [[1, 2, 3]], [1]), "'tanh'"),
        (lambda: certificate(random_network(), [[1, 2]], [1]), "`X` must have 3 columns"),
        (
            lambda: certificate(random_network(affine=False, activation="abs"), [[1, 2, 3]], [1]),
            "'abs' without one",
        ),
        (lambda: certificate(random_network(), [[1, 2, 3]]), "`y` must be given together"),
    ],
)
def test_refused_certificates(ask, match):
    with pytest.raises(ValueError, match=match):
        ask()


def test_rows_of_another_problem_are_recognised():
    X, y, network = small_problem(1)
    with pytest.raises(ValueError, match="Are they the training rows"):
        certificate(network, X, -y)


def test_info_and_report_tell_it(tmp_path):
    rng = np.random.default_rng(0)
    x = rng.uniform(-1, 1, 80)
    table = {"x": x, "y": np.abs(x) + 0.05 * rng.normal(size=80)}
    file = tmp_path / "data.csv"
    rows = "\n".join(f"{a},{b}" for a, b in zip(*table.values(), strict=True))
    file.write_text(f"x,y\n{rows}\n", encoding="utf-8")
    model = greedynet.fit_table(file, "y", n_nodes=4)
    model.save(tmp_path / "model.safetensors")
    said = certificate(model, file).sentence()
    run = CliRunner().invoke(
        main, ["info", str(tmp_path / "model.safetensors"), "--data", str(file)]
    )
    assert said in run.output
    greedynet.write_report(model, tmp_path / "report.html", file)
    assert said in (tmp_path / "report.html").read_text(encoding="utf-8")
