"""Intervals and sets of classes: how often they hold, how wide they are."""

from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest
from scipy.special import logit
from sklearn.model_selection import ShuffleSplit

import scopes
from greedynet import FewHeldOutRowsWarning, GreedyNetClassifier, GreedyNetRegressor, load
from greedynet.losses import Quantile
from greedynet.losses.logistic import probabilities
from greedynet.model.uncertainty import outside as outside_module
from greedynet.model.uncertainty.calibration import (
    MOST,
    CalibrationData,
    ClassSets,
    HeldOutPredictions,
    Scores,
    n_alike,
)
from greedynet.model.uncertainty.intervals import Intervals
from greedynet.model.uncertainty.local_size import Errors, SizePath, SizeSettings, local_size
from greedynet.model.uncertainty.outside import MOST_ROWS, TrainingSample, share_ahead
from greedynet.rows.rows import Rows
from greedynet.search import Dictionary
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


# Deviations


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


# What they do not depend on


def test_units_of_the_output_do_not_matter():
    X, y = wedge(300, seed=8)
    one, other = (GreedyNetRegressor(max_nodes=6).fit(X, c * y) for c in (1.0, 1024.0))
    np.testing.assert_allclose(
        other.predict_interval(X), 1024 * np.array(one.predict_interval(X)), rtol=1e-12
    )


def test_a_function_that_is_reproduced_has_narrow_intervals():
    X = np.linspace(-1, 1, 100)[:, None]
    model = GreedyNetRegressor().fit(X, 100 + 2 * X[:, 0])
    low, high = model.predict_interval(X)
    assert (high - low < 1e-9).all()
    assert (low < high).all()


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
        assert small.expected_error_ == told * path.unit == small.expectation_.expected_error
        assert small.expected_error_ == pytest.approx(np.sqrt(np.mean(errors**2)), rel=0.15)
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
    assert again.expectation_.expected_error == small.expected_error_
    assert again.fit(X, y).predict_interval(X)[0].shape == (400,)
    assert not hasattr(again, "truncated_from_")


# Sets of classes: what they cover, how large they are; whether probabilities are calibrated


LABELS = np.array(["blue", "green", "red", "white"])


def noisy_classes(n, n_classes, seed=0, strength=3.0):
    """Rows and classes drawn with probabilities that depend on the place, and these."""
    rng = np.random.default_rng(seed)
    X = rng.uniform(-1, 1, (n, 2))
    logits = (
        strength * np.column_stack([X[:, 0], np.abs(X[:, 1]), -X[:, 0], X[:, 1]])[:, :n_classes]
    )
    y = np.argmax(logits + rng.gumbel(size=logits.shape), axis=1)
    return X, LABELS[y], np.exp(logits) / np.exp(logits).sum(axis=1, keepdims=True)


def sets_covered(classifier, X, y, coverage=0.9):
    return classifier.predict_set(X, coverage)[
        np.arange(len(y)), np.searchsorted(classifier.classes_, y)
    ]


@pytest.fixture(scope="module", params=[2, 4])
def classifier(request):
    with scopes.defaults():
        return GreedyNetClassifier(max_nodes=12).fit(*noisy_classes(600, request.param)[:2])


def new_rows(classifier, n=20_000, seed=1):
    return noisy_classes(n, len(classifier.classes_), seed)


def path_of(*networks):
    """A path of networks, of which the last was kept; they are functions."""
    found = [SimpleNamespace(predict=network) for network in networks]
    return SimpleNamespace(
        n_nodes=np.arange(len(found)), network_at=found.__getitem__, kept=found[-1]
    )


def test_the_threshold_is_that_of_conformal_prediction():
    rng = np.random.default_rng(0)
    logits, labels = rng.normal(size=(49, 3)), rng.integers(0, 3, 49)
    held_out = HeldOutPredictions(np.zeros((49, 1)), np.eye(3)[labels], logits, np.ones(49), 49)
    p = probabilities(logits)
    # The 45th of 49: 0.9 times 50.
    least = np.sort(p[np.arange(49), labels])[::-1][44]
    evidence = CalibrationData(Rows(held_out.X, held_out.Y), held_out)
    sets = ClassSets.of(evidence, path_of(lambda X: logits)).sets(p, 0.9)
    expected = p >= least - 1e-12
    expected[np.arange(49), p.argmax(axis=1)] = True
    np.testing.assert_array_equal(sets, expected)


def test_the_threshold_is_at_least_that_of_the_training_rows():
    rng = np.random.default_rng(0)
    labels = (np.arange(60) < 21).astype(float)[:, None]
    # Folds say a share of 0.36, and the network that was kept 0.35.
    held_out = HeldOutPredictions(
        np.zeros((60, 1)), labels, np.full((60, 1), logit(0.36)), np.ones(60), 60
    )
    path = path_of(lambda X: np.full(len(X), logit(0.35)))
    found = ClassSets.of(CalibrationData(Rows(rng.normal(size=(60, 1)), labels), held_out), path)
    assert found.sets(np.array([[0.65, 0.35]]), 0.9).all()
    assert not found.sets(np.array([[0.65, 0.35]]), 0.6)[0, 1]
    assert not found.sets(np.array([[0.66, 0.34]]), 0.9)[0, 1]


def test_sets_of_a_width_are_those_of_its_own_predictions():
    rng = np.random.default_rng(0)
    narrow, kept = rng.normal(size=(49, 3)), rng.normal(size=(49, 3))
    rows = Rows(np.zeros((49, 1)), np.eye(3)[rng.integers(0, 3, 49)])

    def evidence(logits, by_width=()):
        return CalibrationData(
            rows, HeldOutPredictions(rows.X, rows.Y, logits, np.ones(49), 49), by_width
        )

    path = path_of(lambda X: narrow, lambda X: kept)
    found = ClassSets.of(evidence(kept, (narrow, kept)), path)
    for position, logits in enumerate((narrow, kept)):
        alone = ClassSets.of(evidence(logits), path_of(path.network_at(position).predict))
        of_width = found.at_width(position)
        np.testing.assert_array_equal(of_width.scores.quantiles, alone.scores.quantiles)
        assert (of_width.n_rows, of_width.scores.n_rows) == (alone.n_rows, alone.scores.n_rows)


def test_sets_cover_new_rows(classifier):
    X, y, _ = new_rows(classifier)
    for coverage in (0.85, 0.9, 0.95):
        found = sets_covered(classifier, X, y, coverage).mean()
        alone = np.mean(classifier.predict(X) == y)
        # 600 held-out rows have a deviation of 0.012; the most likely class alone may cover more.
        assert found == pytest.approx(max(coverage, alone), abs=0.04)


def test_sets_contain_the_prediction_and_grow_with_the_coverage(classifier):
    X, _, _ = new_rows(classifier, 500)
    small, large = classifier.predict_set(X, 0.7), classifier.predict_set(X, 0.97)
    assert (small <= large).all()
    assert large.sum() > small.sum()
    best = np.searchsorted(classifier.classes_, classifier.predict(X))
    assert small[np.arange(500), best].all()
    assert small.shape == (500, len(classifier.classes_))


@pytest.mark.parametrize(
    "parameters",
    [
        {"cv": ShuffleSplit(1, test_size=0.25, random_state=0)},
        {"correct": False},
        {"correct": False, "cv": ShuffleSplit(1, test_size=0.25, random_state=0)},
        {"correct": False, "cv": 3},
        {"n_nodes": 5},
        {"cv": 3},
    ],
)
def test_every_way_to_choose_has_sets(parameters):
    X, y, _ = noisy_classes(2_300, 3, seed=2)
    classifier = GreedyNetClassifier(**{"max_nodes": 8, **parameters}).fit(X[:300], y[:300])
    assert sets_covered(classifier, X[300:], y[300:]).mean() == pytest.approx(0.9, abs=0.1)


def test_truncated_networks_have_sets_that_cover(classifier, tmp_path):
    X, y, _ = new_rows(classifier)
    assert len(classifier.path_) > 2
    for n_nodes, error in zip(
        classifier.path_.n_nodes, classifier.path_.held_out_errors, strict=True
    ):
        small = classifier.truncate(int(n_nodes))
        wanted = classifier.path_.network_at(n_nodes).predict(X).reshape(len(X), -1)
        np.testing.assert_array_equal(small.predict_proba(X), probabilities(wanted))
        alone = np.mean(small.predict(X) == y)
        assert sets_covered(small, X, y).mean() == pytest.approx(max(0.9, alone), abs=0.04)
        assert (
            small.expected_error_
            == error * classifier.path_.unit
            == small.expectation_.expected_error
        )
        small.save(tmp_path / "m.safetensors")
        again = load(tmp_path / "m.safetensors")
        np.testing.assert_array_equal(again.predict_set(X), small.predict_set(X))
        if n_nodes == classifier.n_nodes_:
            np.testing.assert_array_equal(small.predict_set(X), classifier.predict_set(X))


def test_what_users_get_wrong(classifier):
    with pytest.raises(ValueError, match=r"`coverage` must be a number between 0 and 1.*got 95"):
        classifier.predict_set([[0.0, 0.0]], 95)
    with pytest.warns(FewHeldOutRowsWarning, match="needs more than .* held-out rows: the sets"):
        classifier.predict_set([[0.0, 0.0]], 0.9999)


def test_without_held_out_rows_there_are_no_sets():
    classifier = GreedyNetClassifier(max_nodes=4).fit([[0.0], [1.0]], ["a", "b"])
    for one in (classifier, classifier.truncate(classifier.n_nodes_)):
        with pytest.raises(ValueError, match=r"`predict_set` needs .* two rows of every class"):
            one.predict_set([[0.0]])


# Rows that depend on each other


def held_out_of(groups, weights=None):
    n = len(groups)
    weights = np.ones(n) if weights is None else weights
    return HeldOutPredictions(
        np.zeros((n, 1)), np.zeros((n, 1)), np.zeros((n, 1)), weights, n, groups=groups
    )


@pytest.mark.parametrize(("n_groups", "size"), [(40, 10), (12, 3), (2, 50)])
def test_rows_with_the_score_of_their_group_say_as_much_as_one(n_groups, size):
    groups = np.repeat(np.arange(n_groups), size)
    scores = np.random.default_rng(0).exponential(size=n_groups)[groups]
    assert n_alike(scores, held_out_of(groups)) == pytest.approx(n_groups)
    # The larger of two groups counts more.
    groups = np.r_[np.zeros(30), np.ones(10)].astype(int)
    assert n_alike(groups.astype(float), held_out_of(groups)) == pytest.approx(1.6)


def test_rows_that_have_nothing_to_do_with_their_group_say_nearly_as_much_as_others():
    rng = np.random.default_rng(0)
    groups = np.repeat(np.arange(100), 5)
    found = [n_alike(rng.exponential(size=500), held_out_of(groups)) for _ in range(50)]
    # Two standard errors are added: 28 % more variation between groups than there is.
    assert 380 < np.mean(found) <= 500
    assert n_alike(rng.normal(size=7), held_out_of(np.arange(7))) == pytest.approx(7)
    assert n_alike(rng.normal(size=7), held_out_of(np.zeros(7, dtype=int))) == pytest.approx(1)


def test_the_units_of_weights_and_scores_do_not_matter():
    rng = np.random.default_rng(1)
    groups, scores, weights = (
        rng.integers(0, 9, 80),
        rng.exponential(size=80),
        rng.uniform(1, 2, 80),
    )
    found = n_alike(scores, held_out_of(groups, weights))
    assert n_alike(scores**3, held_out_of(groups, 7 * weights)) == pytest.approx(found)
    assert 2 < found < 80


def test_the_size_of_errors_is_not_learned_from_rows_of_the_same_group():
    """Each group has errors of its own size, which its inputs tell, but not for other groups."""
    rng = np.random.default_rng(3)
    groups = np.repeat(np.arange(40), 10)
    X = rng.normal(size=(40, 3))[groups]
    errors = np.exp(rng.normal(size=40))[groups] * rng.normal(size=400)
    network, settings = random_network(6), SizeSettings()
    rows = Errors(X, X[:, 0], errors, np.ones(400), groups=groups)
    assert not len(local_size(rows, network, settings)[0].weights)
    apart = Errors(X + 1e-6 * rng.normal(size=X.shape), X[:, 0], errors, np.ones(400))
    assert len(local_size(apart, network, settings)[0].weights)


def test_rows_ahead_that_are_outside():
    X, clock = np.random.default_rng(0).normal(size=(400, 2)), np.arange(400.0)[:, None]
    assert share_ahead([(X[:300], X[300:])]) < 0.06
    # Every row is beyond all times before it, which says nothing.
    both = np.hstack([X, clock])
    assert share_ahead([(both[:300], both[300:])]) == share_ahead([(X[:300], X[300:])])
    assert share_ahead([(clock[:300], clock[300:])]) == 0.0
    assert share_ahead([(X[:300], X[300:] + np.array([5.0, 0.0]))]) > 0.9
    # A column that is beyond all before only once is no clock.
    moved = X[300:] + np.array([9.0, 0.0])
    assert share_ahead([(X[:200], X[200:300]), (X[:300], moved)]) > 0.5
    # Half of the rows of one time.
    moved = X[300:] + np.where(np.arange(100) < 50, 9.0, 0.0)[:, None]
    assert share_ahead([(X[:200], X[200:300]), (X[:300], moved)]) == pytest.approx(0.25, abs=0.05)


def test_later_rows_count_as_much_as_all_others():
    rows = Rows(np.zeros((40, 1)), np.zeros((40, 1)))
    later = Rows(np.zeros((10, 1)), np.ones((10, 1)))
    network = SimpleNamespace(predict=lambda X: np.zeros(len(X)))
    found = (
        CalibrationData(rows, HeldOutPredictions.of(rows, np.zeros(40)))
        .with_later(later, network)
        .held_out
    )
    assert found.n_rows == 50
    assert np.average(found.Y[:, 0], weights=found.weights) == pytest.approx(0.5)
    assert len(np.unique(found.groups)) == 41
    assert CalibrationData(rows).with_later(later, network).held_out.n_rows == 10


# Rows outside the training data


def test_distances_of_a_naive_twin():
    X = np.random.default_rng(0).uniform(-1, 1, (300, 2))
    sample = TrainingSample.of(X)
    new = np.array([[0.1, 0.2], [3.0, -4.0]])
    coordinates = (new - sample.center) @ sample.axes
    gaps = np.linalg.norm(coordinates[:, None] - sample.rows.astype(float), axis=2).min(axis=1)
    np.testing.assert_allclose(sample.distance(new), gaps / sample.unit, rtol=1e-6)
    assert len(sample.rows) == MOST_ROWS
    # Uncorrelated columns of unit deviation.
    np.testing.assert_allclose(np.cov(((X - sample.center) @ sample.axes).T), np.eye(2), atol=0.01)


def test_many_columns_keep_few_axes():
    X = np.random.default_rng(0).normal(size=(100, 150))
    sample = TrainingSample.of(X)
    assert sample.axes.shape == (150, 64)
    assert sample.distance(10 * X[:1])[0] > 2


def test_axes_of_wide_tables_are_those_of_the_correlations(monkeypatch):
    Z = np.random.default_rng(0).normal(size=(6, 20))
    values, vectors = outside_module._principal(Z)
    monkeypatch.setattr(outside_module, "_WIDE", 3)
    few, axes = outside_module._principal(Z)
    assert len(few) == 6
    np.testing.assert_allclose(few, values[:6])
    np.testing.assert_allclose(np.abs(axes), np.abs(vectors[:, :6]), atol=1e-12)
