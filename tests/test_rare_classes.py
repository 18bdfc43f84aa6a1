"""Samples of labelled rows: every class is there, and counts for what it is."""

import numpy as np
import pytest

import scopes
from greedynet import GreedyNetClassifier
from greedynet.losses.logistic import log_loss
from greedynet.rows.blocks import BlockSizes, MemoryBlocks, Preparation, StreamSource
from greedynet.rows.rows import Rows
from greedynet.rows.sampling import OfRareClasses, at_most

N = 4_000


def sampled(size, **more):
    """Fits in this scope see so many rows."""
    return scopes.sampled(size, **more)


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


def test_rare_rows_are_the_same_however_rows_are_cut():
    rows = rows_of([0.05, 0.05, 0.3], weighted=True)
    rows = Rows(rows.X.round(), rows.Y, rows.weights)  # many are the same
    work = OfRareClasses(np.array([0, 1]), 30, 7)
    whole = work.of(rows)
    sizes = BlockSizes(rows=64, numbers=64)
    cuts = [
        (rows.X[i : i + 700], rows.Y[i : i + 700, :], rows.weights[i : i + 700])
        for i in range(0, N, 700)
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


@pytest.mark.slow
def test_a_rare_class_is_learned_better():
    """From its own rows, rather than from the few that a plain sample has."""

    def problem(seed):
        rng = np.random.default_rng(seed)
        X = rng.uniform(-2, 2, (40_000, 2))
        z = 3 - 5 * np.abs(X[:, 0]) - 3 * np.abs(X[:, 1])
        return X, (rng.uniform(size=len(X)) < 1 / (1 + np.exp(-z))).astype(float)

    def loss(**more):
        with sampled(500, classified=1_000, **more):
            model = GreedyNetClassifier(max_nodes=10).fit(*problem(0))
        X, y = problem(1)
        return log_loss(model.decision_function(X)[:, None], y[:, None], None)

    assert loss() < 0.97 * loss(rare_share=0.0)
