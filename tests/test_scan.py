"""The scan of thresholds equals brute force: every interval, with columns written out."""

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from greedynet.search.scans import relu as scan

# Squared share outside the span below which neither the scan nor the twin scores a neuron.
DEPENDENT = 1e-4
NO_WEIGHTS = np.empty(0)


def law(**strategies):
    """A property of the scan, on the same hundred examples in every run."""

    def decorate(test):
        return settings(max_examples=100, derandomize=True, deadline=None)(
            given(**strategies)(test)
        )

    return decorate


# The twin


def neuron(p, t, scale):
    """The column of `relu(p - t)`, times the square roots of the weights."""
    return np.maximum(p - t, 0) * scale


def outside_of(Q, columns):
    """What is left of columns outside the span of orthonormal ones; twice, against rounding."""
    rest = columns - Q @ (Q.T @ columns)
    return rest - Q @ (Q.T @ rest)


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


# The scan


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


# Problems


def orthonormal(columns):
    """An orthonormal basis of the span of columns."""
    U, sizes, _ = np.linalg.svd(columns, full_matrices=False)
    return U[:, sizes > 1e-9 * sizes.max(initial=1e-300)]


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


def some_problem(n=200, n_outputs=2, n_columns=6, weighted=True, seed=0):
    rng = np.random.default_rng(seed)
    p = rng.standard_normal(n)
    weights = rng.uniform(0.2, 3, n) if weighted else NO_WEIGHTS
    scale = np.sqrt(weights) if weighted else np.ones(n)
    Q = orthonormal(np.column_stack([scale, scale * p, rng.standard_normal((n, n_columns))]))
    return p, outside_of(Q, rng.standard_normal((n, n_outputs))), weights, scale, Q


# What the scan promises


@law(problem=problems(), min_active=st.integers(1, 3))
def test_the_scan_is_the_best_of_all_thresholds(problem, min_active):
    p, r, weights, scale, Q = problem
    (found,), (t,) = scanned(p[None], r, weights, Q, min_active)
    wanted = brute_force(p, r, scale, Q, min_active)
    rounding = 1e-12 * np.sum(r**2)
    assert found >= wanted * (1 - 1e-9) - rounding
    most = max(wanted, at_the_ends(p, r, scale, Q, min_active))
    assert found <= most * (1 + 1e-9) + rounding
    if found > 0:
        assert score(p, t, r, scale, Q, dependent=0) == pytest.approx(found, rel=1e-6)


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


def test_a_kink_that_too_few_rows_lie_below_is_come_close_to_from_below_all_rows():
    p = np.arange(12.0)
    r = neuron(p, 0.6, 1.0)[:, None]
    (found,), (t,) = scanned(p[None], r, NO_WEIGHTS, np.empty((12, 0)), 3, reach=11.0)
    assert found == pytest.approx(score(p, 0.0, r, np.ones(12), np.empty((12, 0))), rel=1e-5)
    assert -1e-3 < t < 0


@pytest.mark.parametrize("shift", [0.05, 0.7, 1.9])
def test_a_planted_neuron_that_is_active_on_all_rows_is_found(shift):
    p = np.random.default_rng(0).uniform(-1, 1, 40)
    wanted = p.min() - shift
    r = (p - wanted)[:, None]
    (found,), (t,) = scanned(p[None], r, NO_WEIGHTS, np.empty((40, 0)), 3, reach=2.0)
    assert t == pytest.approx(wanted, abs=1e-9)
    assert found == pytest.approx(np.sum(r**2))
    (without,), (t,) = scanned(p[None], r, NO_WEIGHTS, np.empty((40, 0)), 3)
    assert without < found * (1 - 1e-4)
    assert np.sum(p <= t) >= 3


@pytest.mark.parametrize("n_outputs", [1, 3])
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("seed", range(4))
def test_no_threshold_of_a_fine_grid_is_better(n_outputs, weighted, seed):
    p, r, weights, scale, Q = some_problem(40, n_outputs, 4, weighted, seed)
    r += 3 * outside_of(Q, neuron(p, 0.3, scale))[:, None]
    (found,), _ = scanned(p[None], r, weights, Q, 3)
    fine = finest(p, r, scale, Q, 3, n_points=400)
    assert fine <= found * (1 + 1e-9)
    assert fine >= found * (1 - 1e-3)


@law(problem=problems(), min_active=st.integers(1, 3))
def test_no_threshold_is_better_next_to_the_last_row_that_must_be_active_either(
    problem, min_active
):
    """Where the score rises up to the end of what is allowed, the scan goes up to the end."""
    p, r, weights, scale, Q = problem
    (found,), _ = scanned(p[None], r, weights, Q, min_active)
    fine = finest(p, r, scale, Q, min_active)
    assert fine <= found * (1 + 1e-9) + 1e-12 * np.sum(r**2)


def test_a_rare_level_does_not_hide_the_others():
    """Between 0 and 1 every threshold is as good; none may lie between 1 and 2, or at 1."""
    p = np.repeat([0.0, 1.0, 2.0], [20, 20, 1])
    Q = orthonormal(np.column_stack([np.ones(41), p]))
    r = outside_of(Q, (p == 1)[:, None].astype(float))
    (found,), (t,) = scanned(p[None], r, NO_WEIGHTS, Q, 2)
    assert found == pytest.approx(np.sum(r**2))
    # Far from both: next to 0 the neuron would be next to the span, next to 1 its mirror image.
    assert 0.1 < t < 0.9


@pytest.mark.parametrize("side", [1, -1])
def test_a_score_that_rises_towards_the_end_is_followed_to_the_end(side):
    """A kink beyond the last threshold that is allowed: the nearest one is the best."""
    p = np.arange(12.0)
    Q = orthonormal(np.column_stack([np.ones(12), p]))
    r = outside_of(Q, np.maximum(side * (p - 5.5) - 4.2, 0))[:, None]
    (found,), (t,) = scanned(p[None], r, NO_WEIGHTS, Q, 3)
    assert found >= finest(p, r, np.ones(12), Q, 3) * (1 - 1e-9)
    assert t == pytest.approx(9.0 if side > 0 else 2.0, abs=1e-3)


@law(problem=problems(), min_active=st.integers(1, 5))
def test_enough_rows_lie_on_either_side(problem, min_active):
    p, r, weights, _, Q = problem
    (found,), (t,) = scanned(p[None], r, weights, Q, min_active)
    n_active = int(np.sum(p > t))
    assert found == 0 or min_active <= n_active <= len(p) - min_active


@pytest.mark.parametrize("min_active", [1, 3, 10])
def test_a_kink_that_few_rows_lie_beyond_is_taken_only_if_it_may(min_active):
    p = np.arange(40.0)
    r = neuron(p, 35.5, 1.0)[:, None]
    _, (t,) = scanned(p[None], r, NO_WEIGHTS, np.empty((40, 0)), min_active)
    assert (t == pytest.approx(35.5)) == (min_active < 10)
    assert np.sum(p > t) >= min_active


@law(problem=problems(affine=True), min_active=st.integers(1, 3))
def test_beside_an_affine_term_the_mirrored_direction_has_the_same_score(problem, min_active):
    p, r, weights, _, Q = problem
    # The share outside the span is not the same for both: next to none may be enough.
    scores, _ = scanned(np.stack([p, -p]), r, weights, Q, min_active, dependent=1e-9)
    # An end that is not allowed is come close to from one side only.
    assert scores[0] == pytest.approx(scores[1], rel=1e-5, abs=1e-9 * np.sum(r**2))


def test_without_an_affine_term_the_two_directions_differ():
    p = np.linspace(-1, 1, 30)
    r = neuron(p, 0.2, 1.0)[:, None]
    scores, _ = scanned(np.stack([p, -p]), r, NO_WEIGHTS, np.empty((30, 0)), 1)
    assert scores[0] == pytest.approx(np.sum(r**2))
    assert scores[1] < 0.5 * scores[0]


@law(problem=problems(weighted=False), seed=st.integers(0, 2**32))
def test_weights_are_copies(problem, seed):
    p, r, _, _, Q = problem
    copies = np.random.default_rng(seed).integers(1, 4, len(p))
    scale = np.sqrt(copies)[:, None]
    Q = orthonormal(Q * scale) if Q.shape[1] else Q
    r = outside_of(Q, r * scale)
    weighted = scanned(p[None], r, copies.astype(float), Q, 1)
    each = np.repeat(np.arange(len(p)), copies)
    repeated = scanned(p[each][None], (r / scale)[each], NO_WEIGHTS, (Q / scale)[each], 1)
    assert weighted[0][0] == pytest.approx(repeated[0][0], rel=1e-9, abs=1e-12 * np.sum(r**2))


def test_weights_put_the_threshold_where_copies_put_it():
    rng = np.random.default_rng(3)
    p, y, copies = rng.standard_normal(60), rng.standard_normal((60, 2)), rng.integers(1, 5, 60)
    each = np.repeat(np.arange(60), copies)
    scale = np.sqrt(copies)[:, None]
    Q = orthonormal(np.column_stack([np.ones(60), p]) * scale)
    r = outside_of(Q, y * scale)
    weighted = scanned(p[None], r, copies.astype(float), Q, 1)
    repeated = scanned(p[each][None], (r / scale)[each], NO_WEIGHTS, (Q / scale)[each], 1)
    np.testing.assert_allclose(np.ravel(weighted), np.ravel(repeated), rtol=1e-9)


def test_many_directions_at_once_are_the_same_as_one_at_a_time():
    rng = np.random.default_rng(0)
    projections = rng.standard_normal((7, 50))
    _, r, weights, _, Q = some_problem(50)
    together = scanned(projections, r, weights, Q, 3)
    alone = [scanned(p[None], r, weights, Q, 3) for p in projections]
    np.testing.assert_array_equal(together[0], [found[0][0] for found in alone])
    np.testing.assert_array_equal(together[1], [found[1][0] for found in alone])


@law(problem=problems())
def test_the_sums_are_those_of_explicit_columns(problem):
    """`outside` holds what is left of the active rows and of the neuron, and their product."""
    p, _, weights, scale, Q = problem
    values, order, outside = measured(p[None], weights, Q)
    for j in range(len(p)):
        active = np.zeros(len(p))
        active[order[0, : j + 1]] = 1
        ones = outside_of(Q, scale * active)
        g = outside_of(Q, neuron(p, values[0, j], scale))
        wanted = [ones @ ones, ones @ g, g @ g]
        np.testing.assert_allclose(outside[0, j], wanted, atol=1e-11)


@pytest.mark.parametrize("weighted", [False, True])
def test_what_is_outside_the_span_after_take_off_is_that_of_explicit_columns(weighted):
    p, _, weights, scale, Q = some_problem(weighted=weighted)
    values, _, outside = measured(p[None], weights, Q)
    for j in range(199):
        for share in (0.0, 0.3, 0.9):
            s = share * (values[0, j] - values[0, j + 1])
            g = outside_of(Q, neuron(p, values[0, j] - s, scale))
            g0, g1, g2 = outside[0, j]
            assert g2 + 2 * g1 * s + g0 * s**2 == pytest.approx(g @ g, rel=1e-9, abs=1e-11)


def test_columns_taken_off_one_by_one_or_at_once_are_the_same():
    p, _, weights, scale, Q = some_problem()
    values, order, at_once = measured(p[None], weights, Q)
    one_by_one = np.empty_like(at_once)
    scan.measure(values, order, weights, one_by_one)
    for q in Q.T:
        scan.take_off(values, order, (q * scale)[:, None], 1, one_by_one)
    np.testing.assert_allclose(one_by_one, at_once, rtol=1e-12, atol=1e-12)


@law(problem=problems(affine=True, max_rows=5))
def test_neurons_in_the_span_have_no_score(problem):
    """All columns there can be are in the span: nothing is left."""
    p, _, weights, _, _ = problem
    r = np.random.default_rng(0).standard_normal((len(p), 1))
    (found,), _ = scanned(p[None], r, weights, np.eye(len(p)), 1)
    assert found == 0


@pytest.mark.parametrize("n_rows", [1, 2, 5])
def test_equal_rows_have_no_threshold_between_them(n_rows):
    (found,), _ = scanned(
        np.ones((1, n_rows)), np.ones((n_rows, 1)), NO_WEIGHTS, np.empty((n_rows, 0)), 1
    )
    assert found == 0


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
