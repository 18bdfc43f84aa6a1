"""Rows that are not independent, in groups or in order of time: what is told of new ones."""

import numpy as np
import pytest
from sklearn.model_selection import TimeSeriesSplit

from greedynet import (
    Expectation,
    FewHeldOutRowsWarning,
    GreedyNetClassifier,
    GreedyNetRegressor,
    fit_table,
    load,
)


def in_groups(n_groups, rng, per_group=10, effect=1.0):
    """Rows with one error for each group, by whose inputs it is recognised."""
    groups = np.repeat(np.arange(n_groups), per_group)
    X = rng.normal(size=(n_groups, 3))[groups] + 0.01 * rng.normal(size=(len(groups), 3))
    noise = effect * rng.normal(size=n_groups)[groups] + 0.3 * rng.normal(size=len(groups))
    return X, X[:, 0] + noise, groups


def covered(model, X, y, coverage=0.9):
    low, high = model.predict_interval(X, coverage)
    return np.mean((low <= y) & (y <= high))


@pytest.mark.all_folds
def test_intervals_cover_new_groups():
    shares = []
    for seed in range(8):
        rng = np.random.default_rng(seed)
        X, y, groups = in_groups(40, rng)
        model = GreedyNetRegressor(max_nodes=8).fit(X, y, groups=groups)
        shares.append(covered(model, *in_groups(200, rng)[:2]))
    # As if rows were independent, 0.72. Single problems vary by 0.05, as 40 groups are few.
    assert 0.84 < np.mean(shares) < 0.95


def test_a_few_groups_say_little():
    X, y, groups = in_groups(5, np.random.default_rng(0), per_group=40)
    model = GreedyNetRegressor(max_nodes=6).fit(X, y, groups=groups)
    with pytest.warns(
        FewHeldOutRowsWarning, match=r"than 200 held-out rows, .* worth [1-6]\.?\d* indep"
    ):
        model.predict_interval(X, 0.9)
    assert "come from only 5 groups, and may be far off" in model.expectation_.sentence()


def random_walk(n, seed=0, d=2):
    rng = np.random.default_rng(seed)
    return np.cumsum(rng.normal(size=(n, d)), axis=0)


def test_rows_outside_are_told_first(tmp_path):
    X = random_walk(240)
    y = X[:, 0] + np.random.default_rng(1).normal(size=240)
    table = {"a": X[:, 0], "b": X[:, 1], "t": np.arange(240.0), "y": y}
    first = "Rows that come next are outside the training data"
    for options in ({}, {"hold_out": 0.2}):
        model = fit_table(table, "y", time="t", max_nodes=4, **options)
        assert model.summary().startswith(first)
        assert model.summary().count(first) == 1
    assert "_later" not in vars(model.estimator)
    model.save(tmp_path / "m")
    assert load(tmp_path / "m").summary() == model.summary()
    alone = GreedyNetRegressor(max_nodes=4, cv=TimeSeriesSplit()).fit(X, y)
    assert alone.expectation_.sentence().startswith(first)
    calm = np.random.default_rng(0).permutation(240)
    alone = GreedyNetRegressor(max_nodes=4, cv=TimeSeriesSplit()).fit(X[calm], y[calm])
    assert first not in alone.expectation_.sentence()
    assert GreedyNetRegressor(max_nodes=4, cv=3).fit(X, y).expectation_.ahead is None


@pytest.mark.filterwarnings("ignore::greedynet.support.errors.FewHeldOutRowsWarning")
def test_errors_of_the_latest_rows_widen_intervals_and_sets():
    rng = np.random.default_rng(0)
    n = 300
    x, t = rng.normal(size=n), np.arange(n, dtype=float)
    later = t >= 240
    y = x + np.where(later, 2.0, 0.2) * rng.normal(size=n)
    for how in ({"hold_out": 0.2, "time": "t"}, {"hold_out_last": 0.2}):
        table = {"x": x, "y": y, "t": t} if "time" in how else {"x": x, "y": y}
        model = fit_table(table, "y", max_nodes=4, **how)
        low, high = model.predict_interval(table)
        # Folds alone would say 0.66: 1.64 deviations to both sides.
        assert np.median(high - low) > 3
        assert np.mean((low <= y) & (y <= high)) > 0.9
    name = np.where((x > 0) ^ (later & (rng.random(n) < 0.5)), "a", "b")
    sets = fit_table({"x": x, "k": name}, "k", hold_out_last=0.2, max_nodes=4)
    found = sets.predict_set({"x": x}, 0.9)
    # Of the latest rows, half are of the other class.
    assert np.where(name == "a", *found.T)[later].mean() > 0.75


def test_every_output_has_an_error_in_its_units(tmp_path):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(300, 2))
    y, z = X[:, 0] + 0.1 * rng.normal(size=300), X[:, 1] + 0.5 * rng.normal(size=300)
    model = GreedyNetRegressor(max_nodes=4).fit(X, np.column_stack([y, 1_000 * z]))
    assert model.expected_error_ == pytest.approx([0.1, 500], rel=0.2)
    assert model.expectation_.constant == pytest.approx([1.0, 1_100], rel=0.15)
    assert model.expectation_.expected_error == tuple(model.expected_error_)
    told = "to be off by about {:.3g} and {:.0f} (RMSE)".format(*model.expected_error_)
    assert told in model.expectation_.sentence()
    model.save(tmp_path / "m")
    again = load(tmp_path / "m")
    np.testing.assert_array_equal(again.expected_error_, model.expected_error_)
    assert again.expectation_ == model.expectation_
    one = GreedyNetRegressor(max_nodes=4).fit(X, y[:, None])
    assert isinstance(one.expected_error_, float)


@pytest.mark.parametrize("unit", [2.0**-10, 2.0**10])
def test_units_of_an_output_do_not_decide_how_far_the_box_reaches(unit):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(300, 2))
    # Rows outside the box of a fold cost much of the accuracy of the first output only.
    Y = X + np.column_stack([0.1 * rng.normal(size=300), 0.5 * rng.normal(size=300)])
    one, other = (GreedyNetRegressor(max_nodes=4).fit(X, Y * [1.0, u]) for u in (1.0, unit))
    assert one.network_.reach == other.network_.reach > 0
    np.testing.assert_allclose(other.expected_error_, one.expected_error_ * [1.0, unit])


def test_few_rows_are_said_to_be_few():
    said = Expectation("rmse", 56_201.0, 15_598.0, n_rows=7).sentence()
    assert said == (
        "On new rows expect to be off by about 56,201 (RMSE); always guessing the mean: 15,598. "
        "The errors on new rows come from only 7 rows, and may be far off. There, a constant did "
        "better: do not rely on this model."
    )
    assert "far off" not in Expectation("rmse", 1.0, 2.0, n_rows=10).sentence()
    assert "did better" not in Expectation("rmse", 1.0, 0.99, n_rows=100).sentence()
    assert (
        "the shares of the classes did better"
        in Expectation(
            "log_loss", 0.9, 0.7, accuracy=0.5, constant_accuracy=0.6, n_rows=100
        ).sentence()
    )
    X = np.random.default_rng(0).normal(size=(7, 2))
    assert (
        "rows, and may be far off"
        in GreedyNetRegressor().fit(X, X[:, 0] ** 2).expectation_.sentence()
    )


# Mistakes


@pytest.mark.parametrize("groups", [[object()] * 40, [b"a", b"b"] * 20])
def test_groups_that_cannot_be(groups):
    X = np.random.default_rng(0).normal(size=(40, 2))
    with pytest.raises(ValueError, match=r"`groups` must hold"):
        GreedyNetRegressor().fit(X, X[:, 0], groups=groups)


@pytest.mark.parametrize("labels", [[b"a", b"b"] * 20, [object()] * 40])
def test_classes_that_cannot_be(labels):
    X = np.random.default_rng(0).normal(size=(40, 2))
    with pytest.raises(ValueError, match=r"`y` must hold"):
        GreedyNetClassifier().fit(X, labels)
    model = GreedyNetClassifier(max_nodes=3).fit(X, X[:, 0] > 0)
    with pytest.raises(ValueError, match=r"`y` must hold"):
        model.score(X, labels)
    assert model.score(X, X[:, 0] > 0) == np.mean(model.predict(X) == (X[:, 0] > 0))


def test_scores_name_what_is_wrong():
    X = np.random.default_rng(0).normal(size=(40, 2))
    model = GreedyNetRegressor(max_nodes=3).fit(X, X[:, 0])
    with pytest.raises(TypeError, match=r"`y`: .* not 'object'"):
        model.score(X, [object()] * 40)
    with pytest.raises(ValueError, match="`y`: could not convert"):
        model.score(X, ["a"] * 40)
    assert model.score(X, X[:, 0]) == pytest.approx(1.0)
