"""Rows: their order, canonical columns, scaling, groups and folds, gaps and what fills them."""

from types import SimpleNamespace

import numpy as np
import pytest
from sklearn.model_selection import KFold, TimeSeriesSplit

from greedynet import GreedyNetRegressor, Network, fit_table
from greedynet.estimators.gap_choice import expects_less
from greedynet.model.uncertainty.calibration import HeldOutPredictions
from greedynet.rows.missing import Filling, GapSurvey
from greedynet.rows.rows import GRID, SMALLEST_WEIGHT, CanonicalColumns, Rows, on_grid
from greedynet.rows.scaling import InputScaling, OutputScaling, canonical_columns
from greedynet.rows.splitting import folds_of, go_forward
from greedynet.tables.columns import Input
from problems import gap_table, in_other_units, mixed, renamed, with_gaps

# Canonical columns


def columns_of(X, y, weights=None):
    return canonical_columns(Rows(X, y[:, None], weights))


def canonical(X, y, weights=None):
    rows = Rows(X, y[:, None], weights)
    return InputScaling.standard(rows).in_canonical_columns(rows).apply(X)


def test_canonical_columns_are_the_same_by_any_name():
    X, y = mixed()
    wanted = canonical(X, y)
    np.testing.assert_array_equal(canonical(renamed(X), y), wanted)
    np.testing.assert_allclose(canonical(in_other_units(X), y), wanted, atol=1e-13)
    np.testing.assert_allclose(canonical(X, -3 * y + 1), wanted, atol=1e-13)
    assert (np.mean(wanted**3, axis=0) > 0).all()


def test_weights_are_repeated_rows_for_canonical_columns():
    X, y = mixed(60)
    weights = np.random.default_rng(0).integers(0, 4, 60).astype(float)
    copies = np.repeat(np.arange(60), weights.astype(int))
    weighted, repeated = columns_of(X, y, weights), columns_of(X[copies], y[copies])
    np.testing.assert_array_equal(weighted.order, repeated.order)
    np.testing.assert_array_equal(weighted.signs, repeated.signs)


def test_columns_with_the_same_numbers_are_told_apart_by_the_rows():
    """All moments of a column agree with those of its permutation."""
    rng = np.random.default_rng(0)
    x = rng.standard_normal(50)
    X = np.column_stack([x, rng.permutation(x), rng.permutation(x)])
    y = X @ [1.0, 2.0, 3.0]
    for order in ([1, 2, 0], [2, 1, 0]):
        np.testing.assert_array_equal(canonical(X[:, order], y), canonical(X, y))
    # Binary columns with as many ones, and a target that none of them determines.
    B = np.column_stack([rng.permutation(np.repeat([0.0, 1.0], 25)) for _ in range(6)])
    for order in (rng.permutation(6) for _ in range(3)):
        np.testing.assert_array_equal(canonical(B[:, order], x), canonical(B, x))
        np.testing.assert_array_equal(canonical(1 - B[:, order], x), canonical(B, x))


def test_a_symmetric_column_has_the_sign_of_its_relation_to_the_outputs():
    x = np.linspace(-1, 1, 21)
    for y in (np.exp(x), x**3):
        found = canonical(x[:, None], y)
        np.testing.assert_array_equal(canonical(-x[:, None], y), found)
        assert np.mean(found[:, 0] * y) > 0


def test_constant_columns_come_last():
    X, y = mixed()
    X = np.column_stack([np.ones(len(X)), X])
    assert columns_of(X, y).order[-1] == 0
    assert not canonical(X, y)[:, -1].any()


def test_a_scaling_in_canonical_columns_folds_and_unfolds():
    X, y = mixed()
    rows = Rows(X, y[:, None])
    scaling = InputScaling.standard(rows).in_canonical_columns(rows)
    assert (scaling.width < 0).any() or (np.diff(scaling.order) != 1).any()
    points = np.random.default_rng(0).standard_normal((7, X.shape[1] + 1))
    values = scaling.apply(X) @ points[:, :-1].T + points[:, -1]
    folded = scaling.fold(points)
    np.testing.assert_allclose(X @ folded[:, :-1].T + folded[:, -1], values, atol=1e-12)
    np.testing.assert_allclose(scaling.unfold(folded), points, atol=1e-12)
    # The gradient of `sum(values @ c)` by the points, from sums over rows in original units.
    c = np.random.default_rng(1).standard_normal((7, len(X)))
    gradient = scaling.scaled_gradient(c @ X, c.sum(axis=1, keepdims=True))
    wanted = np.column_stack([c @ scaling.apply(X), c.sum(axis=1)])
    np.testing.assert_allclose(gradient, wanted, atol=1e-10)


def test_the_grid():
    values = np.array([1.0, -0.0, 0.3, 1 / 3])
    found = on_grid(values)
    assert np.abs(found - values).max() <= GRID / 2
    np.testing.assert_array_equal(on_grid(values + 1e-16), found)
    assert not np.signbit(found[1])


def test_statistics_are_compared_up_to_rounding():
    rng = np.random.default_rng(0)
    Z = rng.standard_normal((50, 3))
    Z = np.column_stack([Z, Z[:, 0] * (1 + 1e-15)])
    T = rng.standard_normal((50, 1))
    order = CanonicalColumns.of(Z, T, None).order.tolist()
    assert order.index(3) == order.index(0) + 1


# Weights and groups


def test_the_smallest_weights_are_not_zero():
    weights = np.array([1e-300, 1.0, 1e300])
    for most in (10, 0):
        found = Rows(np.eye(3), np.eye(3), weights).canonical(most).weights
        np.testing.assert_allclose(np.sort(found) / found.max(), [SMALLEST_WEIGHT] * 2 + [1])


@pytest.mark.parametrize("kind", [np.float32, np.float64])
def test_scaled_inputs_and_outputs_are_finite(kind):
    X, y = mixed()
    size = np.finfo(kind).max ** 0.7
    near = Rows((X / size).astype(kind), 1e-200 * y[:, None])
    largest = Rows(np.full((1, X.shape[1]), size, dtype=kind), np.full((1, 1), -1e300))
    inputs, outputs = InputScaling.standard(near), OutputScaling.of(near, centred=True)
    far = inputs.apply(largest.X)
    assert far.dtype == kind
    # As far as all rows beyond, and their cubes are numbers.
    np.testing.assert_array_equal(far, inputs.apply(2 * largest.X))
    assert np.isfinite(far**3).all()
    assert np.isfinite(outputs.apply(largest.Y) ** 2).all()
    # Rows that lie near are as they were.
    np.testing.assert_array_equal(
        inputs.apply(near.X), ((near.X - inputs.center) / inputs.width).astype(kind)
    )


def test_equal_rows_of_two_groups_are_not_merged():
    X = np.repeat([[0.0], [1.0], [2.0], [3.0]], 2, axis=0)
    rows = Rows(X, X.copy(), groups=np.array([0, 1] * 4))
    for train, held in folds_of(rows, 2, 0):
        assert len(train) == len(held) == 4
        assert train.weights is held.weights is None
    # Copies within a group are one row of a larger weight.
    twice = np.r_[np.arange(8), 0]
    for train, held in folds_of(rows.take(twice), 2, 0):
        weights = [part.weights for part in (train, held)]
        assert sum(w is None for w in weights) == 1


def test_weights_of_equal_rows_add_up_in_any_order():
    X, Y, weights = np.zeros((4, 1)), np.zeros((4, 1)), np.array([0.1, 0.2, 0.3, 0.7])
    X, Y = np.r_[X, [[1.0]]], np.r_[Y, [[1.0]]]
    sums = [
        Rows(X, Y, np.r_[weights[order], 1.0]).canonical().weights[0]
        for order in ([0, 1, 2, 3], [3, 2, 1, 0], [2, 3, 0, 1])
    ]
    assert len(set(sums)) == 1


def test_rows_keep_their_groups():
    rows = Rows(
        np.array([[1.0], [0.0], [1.0], [1.0]]), np.zeros((4, 1)), groups=np.array([2, 0, 1, 2])
    )
    found = rows.canonical()
    np.testing.assert_array_equal(found.X[:, 0], [0.0, 1.0, 1.0])
    np.testing.assert_array_equal(found.groups, [0, 1, 2])
    np.testing.assert_allclose(found.weights, [0.75, 0.75, 1.5])
    np.testing.assert_array_equal(rows.take(np.array([3, 1])).groups, [2, 0])
    assert rows.digest != Rows(rows.X, rows.Y).digest


def test_rows_that_follow_each_other_are_a_group():
    rows = Rows(np.arange(60.0)[:, None], np.zeros((60, 1)))
    folds = folds_of(rows, TimeSeriesSplit(3), 0)
    assert go_forward(folds)
    assert [set(held.groups.tolist()) for _, held in folds] == [{0}, {1}, {2}]
    found = HeldOutPredictions.of_folds(folds, np.zeros(45))
    assert found.n_rows == 45
    np.testing.assert_array_equal(np.bincount(found.groups), [15, 15, 15])
    for cv in (KFold(3), 3):
        folds = folds_of(rows, cv, 0)
        assert not go_forward(folds)
        assert HeldOutPredictions.of_folds(folds, np.zeros(60)).groups is None


# Gaps

ALL = np.ones(3, dtype=bool)


def test_indicators_are_filling_values_of_each_neuron():
    rng = np.random.default_rng(0)
    filling = Filling(rng.normal(size=3), ALL, ~ALL, ALL)
    W, V, c = rng.normal(size=(4, 3)), rng.normal(size=(4, 3)), rng.normal(size=(4, 2))
    b, linear, of_gaps = rng.normal(size=4), rng.normal(size=(3, 2)), rng.normal(size=(3, 2))
    network = Network(
        np.hstack([W, V]), b, c, np.vstack([linear, of_gaps]), np.zeros(2), single_output=False
    )
    X = rng.normal(size=(50, 3))
    X[rng.random(X.shape) < 0.4] = np.nan

    def filled(values):
        return np.where(np.isnan(X), values, X)

    neurons = [filled(filling.values + V[n] / W[n]) @ W[n] + b[n] for n in range(4)]
    affine = [filled(filling.values + of_gaps[:, j] / linear[:, j]) @ linear[:, j] for j in (0, 1)]
    wanted = np.maximum(0, neurons).T @ c + np.transpose(affine)
    np.testing.assert_allclose(network.predict(filling.apply(X)), wanted, rtol=1e-12, atol=1e-12)


def test_only_gaps_that_tell_something_are_indicated():
    X, y = with_gaps()
    filling = Filling.of(Rows(X, y[:, None]))
    assert filling.indicated.tolist() == [True, False, False]
    assert filling.gaps.tolist() == [True, True, False]
    np.testing.assert_allclose(filling.values, np.nanmean(X, axis=0), rtol=1e-11)
    inputs = filling.apply(X)
    assert inputs.shape == (240, 4)
    np.testing.assert_array_equal(inputs[:, 3], np.isnan(X[:, 0]))
    np.testing.assert_array_equal(inputs[~np.isnan(X[:, 1]), 1], X[~np.isnan(X[:, 1]), 1])


def test_gaps_at_random_are_hardly_ever_indicated():
    rng = np.random.default_rng(1)
    X, found = rng.normal(size=(300, 40)), 0
    X[rng.random(X.shape) < 0.2] = np.nan
    y = np.nan_to_num(X[:, :1]) + rng.normal(size=(300, 1))
    for seed in range(5):
        found += Filling.of(Rows(X, np.random.default_rng(seed).permutation(y))).indicated.sum()
    assert found <= 4  # of 200; 0.3 % are beyond three standard errors by chance


def test_a_handful_of_gaps_is_too_few_to_tell():
    X, y = with_gaps()
    first = np.flatnonzero(np.isnan(X[:, 0]))
    for kept, indicated in ((9, False), (10, True)):
        few = X.copy()
        few[first[kept:], 0] = 5.0
        assert Filling.of(Rows(few, y[:, None])).indicated[0] == indicated


def test_weights_are_copies_and_rows_have_no_order():
    X, y = with_gaps(60)
    weights = np.random.default_rng(0).integers(0, 3, 60)
    one = Filling.of(Rows(X, y[:, None], weights.astype(float)))
    copies = np.repeat(np.arange(60), weights)[::-1]
    two = Filling.of(Rows(X[copies], y[copies, None]))
    for name in ("values", "gaps", "indicated"):
        np.testing.assert_array_equal(getattr(one, name), getattr(two, name))


def test_a_survey_of_parts_is_that_of_all():
    X = with_gaps(60)[0]
    X[:20, 2] = np.nan
    joined = GapSurvey.of(X[:20]).join(GapSurvey.of(X[20:])).filling()
    whole = GapSurvey.of(X).filling()
    np.testing.assert_array_equal(joined.values, whole.values)
    np.testing.assert_array_equal(joined.gaps, whole.gaps)


def test_held_out_rows_decide_about_indicators(monkeypatch):
    one, other, unknown = (SimpleNamespace(expected_error_=e) for e in (1.0, 2.0, None))
    assert expects_less(one, other)
    assert not expects_less(other, one)
    assert not expects_less(one, unknown)
    X, y = with_gaps(60)
    filled = np.where(np.isnan(X), Filling.of(Rows(X, y[:, None])).values, X)
    plain = GreedyNetRegressor(n_nodes=3).fit(filled, y)
    for place in ("estimators.gap_choice", "tables.fit"):
        monkeypatch.setattr(f"greedynet.{place}.expects_less", lambda one, other: True)
    model = GreedyNetRegressor(n_nodes=3, missing="learn").fit(X, y)
    assert not model.filling_.indicated.any()
    np.testing.assert_array_equal(model.predict(X), plain.predict(filled))
    of_table = fit_table(gap_table(60), "y", n_nodes=3)
    assert of_table.columns.features == ("a", "b", "c")
    assert of_table.columns.learned_gaps == {"a", "b"}
    np.testing.assert_allclose(of_table.predict(gap_table(60)), plain.predict(filled), rtol=1e-9)


@pytest.mark.parametrize("unit", [1e-200, 1e200])
def test_units_of_the_outputs_do_not_decide_what_gaps_tell(unit):
    rng = np.random.default_rng(0)
    X, gaps = rng.normal(size=(100, 2)), rng.random((100, 2)) < 0.3
    y = X[:, 0] + 2.0 * gaps[:, 0] + 0.1 * rng.normal(size=100)
    X[gaps] = np.nan
    found = Filling.of(Rows(X, unit * y[:, None])).indicated
    assert found.tolist() == [True, False]


def test_units_do_not_decide_which_of_two_models_expects_less():
    def expecting(*errors):
        return SimpleNamespace(expected_error_=np.array(errors))

    assert expects_less(expecting(0.5, 1_000.0), expecting(1.0, 1_010.0))
    assert not expects_less(expecting(1.1, 1_000.0), expecting(1.0, 1_010.0))


def test_an_indicator_is_drawn_as_no_and_yes():
    (part,) = Input.indicator("age", ["age"]).parts
    assert (part.name, part.labels) == ("age is missing", ("no", "yes"))
    np.testing.assert_array_equal(part.values, [[0.0], [1.0]])
