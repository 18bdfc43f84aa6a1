"""Intervals of the regressor: what they cover, how wide they are, what they depend on."""

from dataclasses import replace

import numpy as np
import pytest
from sklearn.exceptions import NotFittedError
from sklearn.model_selection import ShuffleSplit

import scopes
from greedynet import GreedyNetRegressor, load
from greedynet.losses import Quantile
from greedynet.model.uncertainty.calibration import (
    MOST,
    CalibrationData,
    HeldOutPredictions,
    Scores,
)
from greedynet.model.uncertainty.intervals import Intervals, student
from greedynet.model.uncertainty.local_size import Errors, SizePath, SizeSettings, local_size
from greedynet.rows.rows import Rows
from greedynet.search import Dictionary
from greedynet.support.errors import FewHeldOutRowsWarning
from networks import random_network


def wedge(n, seed=0, d=2):
    """Rows with noise that grows from 0.1 to 1.1 in the first column."""
    rng = np.random.default_rng(seed)
    X = rng.uniform(0, 1, (n, d))
    return X, np.abs(X[:, -1] - 0.5) + (0.1 + X[:, 0]) * rng.normal(size=n)


def covered(model, X, y, coverage=0.9):
    low, high = model.predict_interval(X, coverage)
    return (low <= y) & (y <= high)


@pytest.fixture(scope="module")
def model():
    with scopes.defaults():
        return GreedyNetRegressor(max_nodes=10).fit(*wedge(900))


# Scores


@pytest.mark.parametrize("n", [1, 2, 9, 10, 39, 200])
@pytest.mark.parametrize("p", [0.1, 0.5, 0.8, 0.9, 0.95])
def test_the_bound_is_the_score_of_the_rank_of_conformal_prediction(n, p):
    scores = np.random.default_rng(n).normal(size=n)
    rank = int(np.ceil(round(p * (n + 1), 9)))
    found = Scores.of(scores, np.ones(n), n)
    assert found.suffices(p) == (rank <= n)
    assert found.bound(p) == np.sort(scores)[min(rank, n) - 1]


def test_a_new_score_is_within_the_bound_with_the_probability_asked_for():
    # Exactly 28 / 31 for 30 scores without ties; without `n + 1` it would be 27 / 31.
    drawn = np.random.default_rng(0).exponential(size=(20_000, 31))
    bounds = [Scores.of(row[:-1], np.ones(30), 30).bound(0.9) for row in drawn]
    assert np.mean(drawn[:, -1] <= bounds) == pytest.approx(28 / 31, abs=0.006)


def test_whole_weights_are_repeated_scores():
    rng = np.random.default_rng(0)
    scores, weights = rng.normal(size=60), rng.integers(1, 4, 60).astype(float)
    once = Scores.of(scores, weights, 100)
    often = Scores.of(np.repeat(scores, weights.astype(int)), np.ones(int(weights.sum())), 100)
    for p in (0.2, 0.5, 0.77, 0.9):
        # The quantiles of a fixed number of levels are at most one level higher.
        assert often.bound(p) <= once.bound(p) <= often.bound(p + 1 / 60)


def test_many_scores_keep_a_thousand_quantiles():
    scores = np.random.default_rng(0).normal(size=50_000)
    found = Scores.of(scores, np.ones(50_000), 50_000)
    assert len(found.quantiles) == MOST
    share = np.mean(scores <= found.bound(0.9))
    assert 0.9 <= share <= 0.9 + 2 / MOST


# The size of errors


def test_weights_of_the_size_are_stationary():
    rng = np.random.default_rng(0)
    V, w = rng.normal(size=(400, 3)), rng.uniform(0.5, 2, 400)
    V /= np.sqrt(np.average((V - np.average(V, axis=0, weights=w)) ** 2, axis=0, weights=w))
    a = rng.exponential(size=400) * np.exp(V @ [0.5, -0.3, 0.0] - 1)
    for ridge, (b, c) in zip((1.0, 0.1), SizePath(V, a, w, (1.0, 0.1)).coefficients, strict=True):
        excess = w / w.sum() * (a * np.exp(-(V @ b + c)) - 1)
        assert abs(excess.sum()) < 2e-3
        np.testing.assert_allclose(
            (V - np.average(V, axis=0, weights=w)).T @ excess, ridge * b, atol=2e-3
        )


def test_a_planted_size_is_found():
    rng = np.random.default_rng(0)
    V = rng.normal(size=(20_000, 2))
    a = rng.exponential(size=20_000) * np.exp(V @ [0.7, -0.4] + 2)
    ((b, c),) = SizePath(V, a, np.ones(20_000), (1e-6,)).coefficients
    np.testing.assert_allclose([*b, c], [0.7, -0.4, 2.0], atol=0.03)


def errors_like(X, sizes, seed=0):
    rng = np.random.default_rng(seed)
    return Errors(X, np.zeros(len(X)), sizes * rng.normal(size=len(X)), np.ones(len(X)))


def test_noise_without_structure_has_the_same_size_everywhere():
    network = random_network(n_neurons=8, n_features=3)
    X = np.random.default_rng(0).normal(size=(1_000, 3))
    size, sizes = local_size(errors_like(X, np.ones(1_000)), network, SizeSettings())
    found = size(X, np.zeros(1_000), network)
    # The mean absolute value of a normal variable, and 2 % of it.
    np.testing.assert_allclose(found, 1.02 * np.sqrt(2 / np.pi), rtol=0.05)
    np.testing.assert_allclose(sizes, found, rtol=0.05)


def test_sizes_follow_the_noise_and_are_not_extrapolated():
    network = random_network(n_neurons=4, n_features=2)
    X = np.random.default_rng(1).uniform(0, 1, (2_000, 2))
    size, sizes = local_size(errors_like(X, 0.1 + X[:, 0]), network, SizeSettings())
    assert np.corrcoef(sizes, X[:, 0])[0, 1] > 0.95
    far = size(np.array([[0.99, 0.5], [50.0, 0.5]]), np.zeros(2), network)
    assert far[1] == pytest.approx(far[0], rel=0.05)


def test_a_row_does_not_predict_the_size_of_its_own_error():
    network = random_network(n_neurons=4, n_features=2)
    X = np.random.default_rng(2).uniform(0, 1, (200, 2))
    rows, one_ridge = (
        errors_like(X, 0.1 + X[:, 0]),
        SizeSettings(ridges=(0.1,), floor=0.0, edge=0.0),
    )
    before = local_size(rows, network, one_ridge)[1]
    errors = rows.errors.copy()
    errors[7] *= 1.5
    after = local_size(replace(rows, errors=errors), network, one_ridge)[1]
    assert after[7] == pytest.approx(before[7], rel=1e-9)
    assert not np.allclose(after, before, rtol=1e-9)


def test_rows_that_are_held_out_twice_are_left_out_together():
    network = random_network(n_neurons=4, n_features=2)
    X = np.random.default_rng(2).uniform(0, 1, (100, 2))
    rows = errors_like(np.vstack([X, X]), np.tile(0.1 + X[:, 0], 2))
    one_ridge = SizeSettings(ridges=(0.1,), floor=0.0, edge=0.0)
    before = local_size(rows, network, one_ridge)[1]
    errors = rows.errors.copy()
    errors[7] *= 1.5
    after = local_size(replace(rows, errors=errors), network, one_ridge)[1]
    np.testing.assert_allclose(after[[7, 107]], before[[7, 107]], rtol=1e-9)


@pytest.mark.parametrize("degrees", [3.0, 8.0])
def test_students_distribution_is_recovered(degrees):
    z = 2.0 * np.random.default_rng(0).standard_t(degrees, 50_000)
    assert student(z, np.ones(len(z))) == (degrees, pytest.approx(2.0, rel=0.03))


# Coverage


@pytest.mark.all_folds
def test_coverage_of_new_rows():
    # Each fit holds out 200 rows, so that its coverage has a deviation of about 0.02.
    found = []
    for seed in range(6):
        X, y = wedge(2_200, seed)
        model = GreedyNetRegressor(max_nodes=8).fit(X[:200], y[:200])
        found.append([covered(model, X[200:], y[200:], p).mean() for p in (0.5, 0.8, 0.9)])
    beyond = np.abs(np.mean(found, axis=0) - [0.5, 0.8, 0.9])
    assert (beyond < [0.06, 0.04, 0.03]).all()


def test_coverage_does_not_depend_on_the_place(model):
    X, y = wedge(20_000, seed=1)
    inside = covered(model, X, y)
    quarters = [inside[(X[:, 0] * 4).astype(int) == k].mean() for k in range(4)]
    assert all(0.85 < share < 0.95 for share in quarters)
    with scopes.flat_intervals():
        flat = GreedyNetRegressor(max_nodes=10).fit(*wedge(900))
    inside = covered(flat, X, y)
    assert inside[X[:, 0] < 0.25].mean() > 0.97
    assert inside[X[:, 0] > 0.75].mean() < 0.85


def test_widths_grow_with_the_noise(model):
    X = np.column_stack([[0.05, 0.5, 0.95], [0.5, 0.5, 0.5]])
    low, high = model.predict_interval(X)
    _, std = model.predict(X, return_std=True)
    np.testing.assert_allclose(std, 0.1 + X[:, 0], rtol=0.3)
    assert (np.diff(high - low) > 0.3).all()


def test_more_coverage_is_wider(model):
    X = wedge(50, seed=2)[0]
    widths = [np.subtract(*model.predict_interval(X, p)[::-1]) for p in (0.5, 0.8, 0.9, 0.97)]
    assert (np.diff(widths, axis=0) > 0).all()


def test_validation_rows_are_split_conformal():
    X, y = wedge(500, seed=3)
    with scopes.flat_intervals():
        model = GreedyNetRegressor(max_nodes=6).fit(X[:300], y[:300], X_val=X[300:], y_val=y[300:])
    errors = np.sort(np.abs(y[300:] - model.predict(X[300:])))
    low, high = model.predict_interval(X)
    np.testing.assert_allclose(high - low, 2 * errors[int(np.ceil(0.9 * 201)) - 1], rtol=1e-9)


@pytest.mark.all_folds
def test_one_sided_errors_have_ends_of_their_own():
    rng = np.random.default_rng(0)
    X = rng.uniform(0, 1, (600, 1))
    y = X[:, 0] + rng.exponential(size=600)
    model = GreedyNetRegressor(max_nodes=5).fit(X, y)
    low, high = model.predict_interval(X)
    found = model.predict(X)
    assert np.median(high - found) > 1.5 * np.median(found - low)
    new = rng.uniform(0, 1, (20_000, 1))
    assert covered(model, new, new[:, 0] + rng.exponential(size=20_000)).mean() == pytest.approx(
        0.9, abs=0.03
    )


@pytest.mark.parametrize(
    "parameters",
    [
        {"loss": Quantile(0.8)},
        {"loss": "huber"},
        {"loss": "chebyshev"},
        {"n_nodes": 5},
        {"cv": 3},
        {"correct": False},
        {"cv": ShuffleSplit(1, test_size=0.25, random_state=0)},
        {"select": "last", "max_nodes": 6},
        {"search": Dictionary(n_points=200)},
    ],
)
def test_every_way_to_choose_has_intervals(parameters):
    X, y = wedge(4_300, seed=4)
    model = GreedyNetRegressor(**{"max_nodes": 8, **parameters}).fit(X[:300], y[:300])
    # One fold of 60 rows has a deviation of 0.04.
    assert covered(model, X[300:], y[300:]).mean() == pytest.approx(0.9, abs=0.1)


@pytest.mark.parametrize("parameters", [{"n_nodes": 4}, {"correct": False}, {"max_nodes": 4}])
def test_the_errors_are_those_of_the_network_that_is_kept(parameters):
    rng = np.random.default_rng(0)
    X = rng.uniform(-1, 1, (300, 1))
    y = 10 * np.abs(X[:, 0]) + 0.1 * rng.normal(size=300)
    std = GreedyNetRegressor(**parameters).fit(X, y).predict(X, return_std=True)[1]
    assert np.median(std) == pytest.approx(0.1, rel=0.4)


@pytest.mark.parametrize("parameters", [{}, {"n_nodes": 6}])
def test_sampled_rows_have_intervals(parameters):
    found = []
    for seed in range(5, 11):
        X, y = wedge(6_000, seed)
        with scopes.sampled(400, blocks={"rows": 128}):
            model = GreedyNetRegressor(**{"max_nodes": 8, **parameters}).fit(X[:3_000], y[:3_000])
        found.append(covered(model, X[3_000:], y[3_000:]).mean())
    # Each fit holds out 300 rows, so that its coverage has a deviation of about 0.02.
    assert np.mean(found) == pytest.approx(0.9, abs=0.03)


@pytest.mark.all_folds
def test_several_outputs_have_intervals_of_their_own():
    X, y = wedge(2_500, seed=6)
    Y = np.column_stack([y, 100 * X[:, 1] + np.random.default_rng(0).normal(size=2_500)])
    model = GreedyNetRegressor(max_nodes=8).fit(X[:500], Y[:500])
    low, high = model.predict_interval(X)
    found, std = model.predict(X, return_std=True)
    assert low.shape == high.shape == std.shape == found.shape == (2_500, 2)
    inside = ((low <= Y) & (high >= Y))[500:]
    np.testing.assert_allclose(inside.mean(axis=0), 0.9, atol=0.05)
    assert np.corrcoef(std[:, 0], X[:, 0])[0, 1] > 0.8
    assert std[:, 1].std() < 0.3 * std[:, 1].mean()
    assert model.predict_distribution(X).logpdf(Y).shape == (2_500, 2)


# Deviations and distributions


def test_squared_errors_divided_by_deviations_have_the_mean_one():
    rng = np.random.default_rng(0)
    rows = Rows(rng.uniform(0, 1, (400, 2)), np.zeros((400, 1)))
    errors = (0.1 + rows.X[:, :1]) * rng.standard_t(4, (400, 1))
    held_out = HeldOutPredictions(rows.X, errors, np.zeros((400, 1)), rng.uniform(0.5, 2, 400), 400)
    network = replace(random_network(n_features=2, n_neurons=3), single_output=True)
    intervals = Intervals.of(CalibrationData(rows, held_out), network, scopes.FLAT)
    std = intervals.deviations(np.zeros((400, 1)), rows.X, network)
    assert np.average((errors / std)[:, 0] ** 2, weights=held_out.weights) == pytest.approx(1.0)


def test_networks_that_have_seen_more_rows_are_better():
    rng = np.random.default_rng(0)
    X, network = rng.uniform(0, 1, (400, 2)), random_network(n_features=2, n_neurons=3)
    fitted = network.predict(X).reshape(-1, 1)
    errors = rng.normal(size=(400, 1))
    rows = Rows(X, fitted + 0.5 * errors)  # errors half as large on the training rows
    held_out = HeldOutPredictions(X, errors, np.zeros((400, 1)), np.ones(400), 400)
    widths = [
        Intervals.of(
            CalibrationData(rows, replace(held_out, share=h)), network, scopes.FLAT
        ).deviations(np.zeros((400, 1)), X, network)[0, 0]
        for h in (0.0, 0.2)
    ]
    assert widths[1] / widths[0] == pytest.approx(np.sqrt(0.8 + 0.2 * 0.25), rel=1e-6)


def test_distributions_are_likely(model):
    X, y = wedge(20_000, seed=7)
    distribution = model.predict_distribution(X)
    true = 0.5 * np.log(2 * np.pi * (0.1 + X[:, 0]) ** 2) + 0.5  # the entropy of the noise
    assert -distribution.logpdf(y).mean() == pytest.approx(true.mean(), abs=0.06)
    np.testing.assert_allclose(
        np.quantile(distribution.cdf(y), [0.1, 0.5, 0.9]), [0.1, 0.5, 0.9], atol=0.04
    )
    np.testing.assert_array_equal(distribution.mean(), model.predict(X))


# What they do not depend on


def test_units_of_the_output_do_not_matter():
    X, y = wedge(300, seed=8)
    one, other = (GreedyNetRegressor(max_nodes=6).fit(X, c * y) for c in (1.0, 1024.0))
    np.testing.assert_allclose(
        other.predict_interval(X), 1024 * np.array(one.predict_interval(X)), rtol=1e-12
    )


def test_the_same_bits_for_any_order_and_any_number_of_threads():
    X, y = wedge(300, seed=9)
    order = np.random.default_rng(0).permutation(300)
    one = GreedyNetRegressor(max_nodes=6, n_jobs=1).fit(X, y).predict_interval(X)
    other = GreedyNetRegressor(max_nodes=6, n_jobs=2).fit(X[order], y[order]).predict_interval(X)
    np.testing.assert_array_equal(one, other)


def test_order_and_units_of_the_columns_do_not_matter():
    X, y = wedge(300, seed=9, d=3)
    other = np.array([1e3, 1e-3, 1.0]) * X[:, [2, 0, 1]]
    one = GreedyNetRegressor(max_nodes=6).fit(X, y).predict_interval(X)
    two = GreedyNetRegressor(max_nodes=6).fit(other, y).predict_interval(other)
    np.testing.assert_allclose(one, two, rtol=1e-6, atol=1e-6)


def test_rows_of_weight_zero_do_not_count():
    X, y = wedge(300, seed=10)
    far = np.vstack([X, 10 * X[:50]]), np.append(y, 1e6 * y[:50])
    weights = np.repeat([1.0, 0.0], [300, 50])
    one = GreedyNetRegressor(max_nodes=6).fit(X, y)
    other = GreedyNetRegressor(max_nodes=6).fit(*far, sample_weight=weights)
    np.testing.assert_array_equal(one.predict_interval(X), other.predict_interval(X))


def test_a_function_that_is_reproduced_has_narrow_intervals():
    X = np.linspace(-1, 1, 100)[:, None]
    model = GreedyNetRegressor().fit(X, 100 + 2 * X[:, 0])
    low, high = model.predict_interval(X)
    assert (high - low < 1e-9).all()
    assert (low < high).all()
    assert np.isfinite(model.predict_distribution(X).logpdf(100 + 2 * X[:, 0])).all()


# Files


def test_files_keep_every_bit(model, tmp_path):
    X = wedge(100, seed=11)[0]
    model.save(tmp_path / "m.safetensors")
    loaded = load(tmp_path / "m.safetensors")
    np.testing.assert_array_equal(loaded.predict_interval(X), model.predict_interval(X))
    np.testing.assert_array_equal(
        loaded.predict(X, return_std=True), model.predict(X, return_std=True)
    )


def test_files_of_several_outputs_keep_every_bit(tmp_path):
    X, y = wedge(60, seed=11)
    model = GreedyNetRegressor(n_nodes=4).fit(X, np.column_stack([y, y**2]))
    model.save(tmp_path / "m.safetensors")
    loaded = load(tmp_path / "m.safetensors")
    np.testing.assert_array_equal(loaded.predict_interval(X), model.predict_interval(X))


def test_intervals_of_files_and_blocks(model):
    X = wedge(90, seed=12)[0]
    blocks = model.predict_interval([(X[:40],), (X[40:],)])
    np.testing.assert_allclose(blocks, model.predict_interval(X), rtol=1e-12)


# What users get wrong


@pytest.mark.parametrize("coverage", [0, 1, 90, -0.1, "0.9", True, None, float("nan")])
def test_coverage_is_a_share(model, coverage):
    with pytest.raises(ValueError, match="`coverage` must be a number between 0 and 1"):
        model.predict_interval([[0.0, 0.0]], coverage)


@pytest.mark.all_folds
def test_too_few_rows_for_a_coverage():
    X, y = wedge(12, seed=13)
    model = GreedyNetRegressor(max_nodes=3).fit(X, y)
    with pytest.warns(FewHeldOutRowsWarning, match=r"more than 12 held-out .* such as 0.92"):
        low, high = model.predict_interval(X, 0.99)
    assert np.isfinite(high - low).all()
    np.testing.assert_array_equal(
        high - low, np.subtract(*model.predict_interval(X, 12 / 13)[::-1])
    )


def test_a_single_row_has_no_intervals():
    model = GreedyNetRegressor().fit([[0.0]], [1.0])
    with pytest.raises(ValueError, match=r"`predict_interval` needs .* fit at least two rows"):
        model.predict_interval([[0.0]])
    with pytest.raises(ValueError, match=r"return_std=True.* needs the errors of held-out rows"):
        model.predict([[0.0]], return_std=True)


def test_intervals_need_a_fit():
    with pytest.raises(NotFittedError, match="not fitted"):
        GreedyNetRegressor().predict_interval([[0.0]])


# Truncated networks


def kinks(n, seed=0, noise=0.2):
    rng = np.random.default_rng(seed)
    X = rng.uniform(-1, 1, (n, 2))
    return X, np.sin(4 * X[:, 0]) + np.abs(X[:, 1]) + noise * rng.normal(size=n)


@pytest.mark.all_folds
def test_intervals_of_truncated_networks_cover_and_are_wider():
    X, y = kinks(4_400)
    model = GreedyNetRegressor(max_nodes=12).fit(X[:400], y[:400])
    path = model.path_
    assert len(path) > 5
    stds = []
    for n_nodes, told in zip(path.n_nodes.tolist(), path.held_out_errors, strict=True):
        small = model.truncate(n_nodes)
        np.testing.assert_array_equal(small.predict(X), path.network_at(n_nodes).predict(X))
        assert covered(small, X[400:], y[400:]).mean() == pytest.approx(0.9, abs=0.06)
        std = small.predict(X[400:], return_std=True)[1]
        errors = y[400:] - small.predict(X[400:])
        assert np.sqrt(np.mean((errors / std) ** 2)) == pytest.approx(1.0, abs=0.15)
        assert small.expected_error_ == told * path.unit == small.expectation_.on_new
        assert small.expected_error_ == pytest.approx(np.sqrt(np.mean(errors**2)), rel=0.15)
        likely = small.predict_distribution(X[400:]).logpdf(y[400:]).mean()
        normal = -0.5 * np.log(2 * np.pi * np.mean(errors**2)) - 0.5
        assert likely > normal - 0.1
        stds.append(np.median(std))
    # The affine function alone is off by much more than the network.
    kept = path.position(model.n_nodes_)
    assert stds[0] > 2 * stds[kept]
    assert min(stds[:kept]) > 0.9 * np.median(model.predict(X, return_std=True)[1])


def test_errors_of_truncated_networks_by_hand():
    """Validation rows were seen by no network: their errors are those of each."""
    X, y = kinks(600)
    new = slice(400, None)
    with scopes.flat_intervals():
        model = GreedyNetRegressor(max_nodes=10)
        model.fit(X[:400], y[:400], X_val=X[new], y_val=y[new])
    for position, n_nodes in enumerate(model.path_.n_nodes.tolist()):
        small = model.truncate(n_nodes)
        errors = np.abs(y[new] - small.predict(X[new]))
        rms = np.sqrt(np.mean(errors**2))
        assert small.expected_error_ == pytest.approx(rms)
        assert model.intervals_.errors_by_width[position, 0] == pytest.approx(rms)
        np.testing.assert_allclose(small.predict(X, return_std=True)[1], rms, rtol=1e-6)
        low, high = small.predict_interval(X)
        of_rank = np.sort(errors)[int(np.ceil(0.9 * 201)) - 1]
        np.testing.assert_allclose(high - low, 2 * of_rank, rtol=1e-6)


def test_truncated_models_are_saved_and_truncated_again(tmp_path):
    X, y = kinks(400)
    model = GreedyNetRegressor(max_nodes=10).fit(X, y)
    small = model.truncate(6)
    small.save(tmp_path / "m.safetensors")
    again = load(tmp_path / "m.safetensors")
    assert again.n_nodes_ == again.network_.n_nodes == 6
    for found, wanted in zip(again.predict_interval(X), small.predict_interval(X), strict=True):
        np.testing.assert_array_equal(found, wanted)
    # The model itself has not changed, and one that was truncated can be truncated further.
    assert model.n_nodes_ > 6
    for found, wanted in zip(
        again.truncate(4).predict_interval(X), model.truncate(4).predict_interval(X), strict=True
    ):
        np.testing.assert_array_equal(found, wanted)
    assert again.expectation_.on_new == small.expected_error_
    assert again.fit(X, y).predict_interval(X)[0].shape == (400,)
    assert not hasattr(again, "truncated_from_")


def test_several_outputs_are_truncated_together():
    X, y = kinks(2_400)
    Y = np.column_stack([y, 1_000 - 100 * y])
    model = GreedyNetRegressor(max_nodes=8).fit(X[:400], Y[:400])
    low, high = model.truncate(5).predict_interval(X[400:])
    np.testing.assert_allclose((high - low)[:, 1], 100 * (high - low)[:, 0], rtol=0.2)
    inside = (low <= Y[400:]) & (Y[400:] <= high)
    np.testing.assert_allclose(inside.mean(axis=0), 0.9, atol=0.08)


@pytest.mark.parametrize(
    ("n", "noise"), [(60, 0.2), (400, 50.0)], ids=["few rows", "the mean was kept"]
)
def test_every_width_of_the_path_has_intervals(n, noise):
    X, y = kinks(n + 4_000, noise=noise)
    model = GreedyNetRegressor(max_nodes=14).fit(X[:n], y[:n])
    for n_nodes, error in zip(model.path_.n_nodes, model.path_.held_out_errors, strict=True):
        small = model.truncate(int(n_nodes))
        # Few rows have a deviation of 0.04, and one fold of them holds out fewer.
        assert covered(small, X[n:], y[n:]).mean() == pytest.approx(0.9, abs=0.1)
        assert small.expected_error_ == error * model.path_.unit
