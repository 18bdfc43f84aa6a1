"""Samples of labelled rows: every class is there, and counts for what it is."""

import numpy as np
import pytest

from greedynet import GreedyNetClassifier, classify, sketch
from greedynet.blocks import MemoryBlocks, base
from greedynet.classify import samples
from greedynet.classify.samples import OfRareClasses, at_most
from greedynet.data import Rows
from greedynet.logistic import log_loss

N = 4_000


def rows_of(shares, n=N, weighted=False, seed=0):
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
    rows = rows_of([0.01])
    assert at_most(rows, N, 0) is rows


@pytest.mark.parametrize("shares", [[0.3], [0.3, 0.3]])
def test_a_sample_without_rare_classes_has_no_weights(shares):
    rows = rows_of(shares)
    sample = at_most(rows, 400, 0)
    assert len(sample) == 400
    assert sample.weights is None
    assert as_set(sample) <= as_set(rows)


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("shares", [[0.01], [0.001], [0.05, 0.002, 0.4], [0.001, 0.001]])
def test_every_class_is_there_and_has_its_share(shares, weighted):
    rows = rows_of(shares, weighted=weighted)
    sample = at_most(rows, 800, 0)
    assert as_set(sample) <= as_set(rows)
    assert len(as_set(sample)) == len(sample)
    n_classes = len(shares) + 1
    enough = 800 // (4 * n_classes)
    there, whole = counts_of(sample), counts_of(rows)
    assert (there >= np.minimum(whole, 0.8 * enough)).all()
    rare = whole < 0.5 * enough * N / 800
    assert rare.any()
    np.testing.assert_array_equal(there[rare], np.minimum(whole, enough)[rare])
    assert sample.weights.mean() == pytest.approx(1)
    if not weighted:
        share = counts_of(sample, weighted=True) / len(sample)
        np.testing.assert_allclose(share[rare], whole[rare] / N, rtol=1e-12)
        assert share[~rare].sum() == pytest.approx(whole[~rare].sum() / N, rel=1e-12)


def test_weights_of_rows_are_kept():
    """Times what a row stands for, the same for all of a class."""
    rows = rows_of([0.01], weighted=True)
    own = {tuple(x): w for x, w in zip(rows.X, rows.weights, strict=True)}
    sample = at_most(rows, 800, 0)
    times = sample.weights / [own[tuple(x)] for x in sample.X]
    rare = sample.Y[:, 0] == 1
    assert np.ptp(times[rare]) < 1e-12
    assert np.ptp(times[~rare]) < 1e-12
    assert times[~rare][0] > 3 * times[rare][0]


def test_rare_rows_are_the_same_however_rows_are_cut(monkeypatch):
    rows = rows_of([0.05, 0.05, 0.3], weighted=True)
    work = OfRareClasses(np.array([0, 1]), 30, 7)
    whole = work.of(rows)
    monkeypatch.setattr(base, "BLOCK_ROWS", 64)
    monkeypatch.setattr(base, "BLOCK_NUMBERS", 64)
    mixed = rows.take(np.random.default_rng(3).permutation(N))
    for other in (MemoryBlocks(rows), MemoryBlocks(mixed)):
        found = other.total(work)
        np.testing.assert_array_equal(found.rows.X, whole.rows.X)
        np.testing.assert_array_equal(found.rows.weights, whole.rows.weights)
        np.testing.assert_array_equal(found.counts, counts_of(rows)[:2])
    np.testing.assert_array_equal(counts_of(whole.rows), [30, 30, 0, 0])


def test_rare_rows_are_drawn_evenly():
    """Hashes do not prefer some inputs; another seed takes others."""
    rows = rows_of([0.5], n=20_000)
    rare = Rows(np.round(rows.X, 1), rows.Y)  # few bits differ
    first, second = (OfRareClasses(np.array([1]), 4_000, seed).of(rare).rows for seed in (0, 1))
    of_class = rare.X[rare.Y[:, 0] == 1]
    spread = of_class.std(axis=0) / np.sqrt(4_000)
    for taken in (first, second):
        assert (np.abs(taken.X.mean(axis=0) - of_class.mean(axis=0)) < 4 * spread).all()
    both = as_set(Rows(first.X, first.Y)) & as_set(Rows(second.X, second.Y))
    assert len(both) < 0.9 * len(as_set(first))


def test_a_rare_class_is_learned_better(monkeypatch):
    """From its own rows, rather than from the few that a plain sample has."""
    monkeypatch.setattr(sketch, "MIN_SAMPLE", 500)
    monkeypatch.setattr(sketch, "MAX_SAMPLE", 500)
    monkeypatch.setattr(classify, "MAX_FINAL_ROWS", 1_000)

    def problem(seed):
        rng = np.random.default_rng(seed)
        X = rng.uniform(-2, 2, (40_000, 2))
        z = 3 - 5 * np.abs(X[:, 0]) - 3 * np.abs(X[:, 1])
        return X, (rng.uniform(size=len(X)) < 1 / (1 + np.exp(-z))).astype(float)

    def loss():
        model = GreedyNetClassifier(max_nodes=10).fit(*problem(0))
        X, y = problem(1)
        return log_loss(model.decision_function(X)[:, None], y[:, None], None)

    found = loss()
    monkeypatch.setattr(samples, "_RARE", 0.0)
    assert found < 0.97 * loss()
