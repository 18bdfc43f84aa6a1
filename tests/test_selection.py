"""Both rules match their definition, step by step; the weak version keeps its promise."""

import numpy as np
import pytest

from greedynet.linalg.factor import Factor
from greedynet.linalg.weights import outer_weights
from greedynet.search import DictionarySearch, WeakSearch
from greedynet.search.atom_search import grouped
from greedynet.search.dictionary import Atoms
from problems import atoms_of, follows_the_rule, noisy, planted, relative_error, some_points

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
def test_full_width_is_least_squares(rule):
    X, y = noisy(n_rows=60)
    points = some_points(2, 40)
    dictionary = Atoms(points, X)
    D, _ = atoms_of(points[dictionary.labels], X)
    _, factor = run(DictionarySearch(dictionary, rule), y, 100)
    wanted = y - D @ np.linalg.lstsq(D, y, rcond=1e-6)[0]
    assert factor.residual_norm == pytest.approx(np.linalg.norm(wanted), rel=1e-6)


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


@pytest.mark.parametrize("rule", RULES)
@pytest.mark.parametrize(("weakness", "n_outputs"), [(1.0, 2), (0.8, 1), (0.5, 2), (0.2, 1)])
def test_weak_choice_is_within_its_factor_of_the_best(rule, weakness, n_outputs):
    X, y = noisy(n_rows=2500, n_features=2)
    Y = np.column_stack([y, np.sin(5 * X[:, 0])])[:, :n_outputs]
    points = some_points(2, 1500)
    order = grouped(points, len(X))
    dictionary = Atoms(points[order], X, labels=order)
    search = WeakSearch(dictionary, rule, weakness)
    assert len(search._groups) > 30
    factor = Factor(Y)
    for _ in range(12):
        found = search.propose(factor)
        correlations = np.linalg.norm(dictionary.correlate(factor.residual), axis=1)
        if rule == "ols":
            outside = 1 - np.sum(dictionary.correlate(factor.Q) ** 2, axis=1)
            correlations = np.where(outside > 1e-10, correlations, 0)
            correlations /= np.sqrt(np.maximum(outside, 1e-10))
        taken = correlations[dictionary.labels == found.index][0]
        assert taken >= weakness * correlations.max() * (1 - 1e-9)
        assert factor.append(found.column)
        search.accept(factor)


def test_weak_search_looks_at_part_of_the_dictionary():
    X, y = noisy(n_rows=2500, n_features=2)
    points = some_points(2, 1500)
    order = grouped(points, len(X))
    dictionary = Atoms(points[order], X, labels=order)
    shares = []
    for weakness in (0.9, 0.3):
        search = WeakSearch(dictionary, "oga", weakness)
        run(search, y, 20)
        shares.append(search.n_seen / (20 * len(dictionary)))
    assert shares[1] < shares[0] < 0.8
    assert shares[1] < 0.4


@pytest.mark.parametrize("rule", RULES)
def test_strong_search_is_the_weak_one_with_factor_one(rule):
    X, y = noisy(n_rows=500, n_features=3)
    points = some_points(3, 600)
    order = grouped(points, len(X))
    dictionary = Atoms(points[order], X, labels=order)
    strong, _ = run(DictionarySearch(dictionary, rule), y, 20)
    weak, _ = run(WeakSearch(dictionary, rule, 1.0), y, 20)
    assert strong == weak


@pytest.mark.parametrize("search", [DictionarySearch, WeakSearch])
def test_search_ends_when_the_atoms_are_spent(search):
    X, y = noisy(n_rows=8)
    chosen, factor = run(search(Atoms(some_points(2, 500), X)), y, 20)
    assert len(chosen) <= 8
    assert relative_error(y - factor.residual[:, 0], y) < 1e-6


@pytest.mark.parametrize("search", [DictionarySearch, WeakSearch])
def test_an_empty_dictionary_proposes_nothing(search):
    X = np.linspace(-1, 1, 9)[:, None]
    empty = Atoms(np.array([[1.0, -5.0]]), X)
    assert run(search(empty), X[:, 0], 3)[0] == []
