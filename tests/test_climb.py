"""The climb: candidates, their scores, the choice, and what a told error is worth."""

import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from sklearn.linear_model import QuantileRegressor, RidgeCV

import greedynet
import scopes
from greedynet import GreedyNetRegressor, StopReason
from greedynet.fitting.forms import InnerBox, TwoLayers
from greedynet.fitting.measures import LogLosses, OfLoss, Squares
from greedynet.fitting.plan import Limits, Plan
from greedynet.fitting.reweighted import reweighted_line
from greedynet.fitting.scores import CandidateScores
from greedynet.fitting.settings import FitSettings, LadderSettings
from greedynet.fitting.split import Folds
from greedynet.losses import Absolute, Chebyshev, Huber, Power, Quantile, Squared, get_loss
from greedynet.losses.base import mean_size, power, row_sizes
from greedynet.model.candidate import (
    LINE,
    MEAN,
    NETWORK,
    RAMPS,
    TWO_LAYERS,
    Candidate,
    Ladder,
)
from greedynet.rows.affine import RIDGES, AffineTerm, RidgeLine
from greedynet.rows.rows import Rows
from greedynet.search import Dictionary
from problems import noisy

sys.path.insert(0, str(Path(__file__).parents[1] / "benchmarks"))

LOSSES = [Absolute(), Huber(), Quantile(0.1), Quantile(0.9), Power(1.5)]
every_loss = pytest.mark.parametrize("loss", LOSSES, ids=lambda loss: str(loss.arguments))


def standardised(n, d, seed):
    X = np.random.default_rng(seed).normal(size=(n, d))
    return (X - X.mean(axis=0)) / X.std(axis=0)


def rmse(a, b):
    return float(np.sqrt(np.mean((a - b) ** 2)))


# The line


@pytest.mark.parametrize(("n", "d"), [(30, 5), (30, 40), (40, 39), (12, 1)])
def test_the_line_is_that_of_ridge_cv(n, d):
    X = standardised(n, d, 0)
    y = X[:, 0] + 0.5 * np.random.default_rng(1).normal(size=n)
    line = RidgeLine.of(Rows(X, y[:, None]))
    other = RidgeCV(RIDGES[1:] * n).fit(X, y)
    np.testing.assert_allclose(line.linear[:, 0], other.coef_, atol=1e-8)
    np.testing.assert_allclose(line.predict(X)[:, 0], other.predict(X), atol=1e-8)


def test_a_line_without_noise_has_no_ridge():
    X = standardised(50, 4, 0)
    line = RidgeLine.of(Rows(X, (X @ [3.0, 0.0, -1.0, 2.0] + 5.0)[:, None]))
    np.testing.assert_allclose(line.linear[:, 0], [3.0, 0.0, -1.0, 2.0], atol=1e-12)
    assert line.parameters == pytest.approx([5.0])


def test_the_shrunk_affine_term_spans_the_constant_and_the_line():
    X = standardised(15, 20, 3)
    rows = Rows(X, X[:, :1] + 0.1 * np.random.default_rng(4).normal(size=(15, 1)))
    line = RidgeLine.of(rows)
    term = AffineTerm.shrunk(rows, line)
    np.testing.assert_allclose(term.columns.T @ term.columns, np.eye(2), atol=1e-12)
    np.testing.assert_allclose(term.evaluate(X), term.columns, atol=1e-12)
    for wanted in (np.ones((15, 1)), line.predict(X)):
        np.testing.assert_allclose(term.columns @ (term.columns.T @ wanted), wanted, atol=1e-10)


def line_of(rows, loss):
    """The line of a loss, with the intercept that is best for it."""
    line = reweighted_line(rows, loss)
    left = rows.Y - line.predict(rows.X)
    return line, left - loss.fit(np.ones((len(rows), 1)), left, None).weights[0]


@pytest.mark.parametrize("q", [0.1, 0.5, 0.9])
def test_the_line_of_a_quantile_follows_the_spread(q):
    """Noise that grows with the first column turns the line; least squares would only shift it."""
    X, rng = standardised(400, 2, 0), np.random.default_rng(1)
    y = X[:, 1] + np.exp(0.5 * X[:, 0]) * rng.normal(size=400)
    rows, loss = Rows(X, y[:, None]), Quantile(q)
    _, left = line_of(rows, loss)
    assert np.count_nonzero(left < -1e-9) <= q * 400 + 1e-9
    assert np.count_nonzero(left > 1e-9) <= (1 - q) * 400 + 1e-9
    best = QuantileRegressor(quantile=q, alpha=0.0).fit(X, y).predict(X)
    assert loss.size(left, None) < 1.03 * loss.size((y - best)[:, None], None)
    if q != 0.5:
        squares = rows.Y - RidgeLine.of(rows).predict(X)
        squares -= np.quantile(squares, q)
        assert loss.size(left, None) < 0.97 * loss.size(squares, None)


def test_the_candidates_from_simple_to_wide():
    X, y = noisy(150)
    ladder = GreedyNetRegressor(max_nodes=11, n_networks=2).fit(X, y).ladder_
    single = [c for c in ladder.candidates if c.kind == NETWORK and c.n_networks == 1]
    assert ladder.kinds[:2] == ["mean", "line"]
    assert [c.width for c in single if not c.pruned] == [1, 2, 3, 4, 6, 9]
    assert {c.width for c in ladder.candidates if c.n_networks == 2} <= {1, 2, 3, 4}
    assert len(set(ladder.candidates)) == len(ladder)


@pytest.mark.all_folds
@pytest.mark.parametrize("n", [5, 9])
@pytest.mark.parametrize("loss", ["squared_error", "absolute_error"])
def test_the_mean_wins_against_a_line_that_is_worse_on_held_out_rows(n, loss):
    kinds = []
    for seed in range(6):
        rng = np.random.default_rng(seed)
        X, e = rng.normal(size=(n, 2)), rng.normal(size=n)
        for y in (e, X[:, 0] + 0.01 * e):
            model = GreedyNetRegressor(loss=loss).fit(X, y)
            ladder = model.ladder_
            assert ladder.kinds == ["mean", "line"]
            if ladder.errors[1] > ladder.errors[0]:
                assert ladder.kind == "mean"
                assert not model.network_.linear_weights.any()
            kinds.append(ladder.kind)
    # Noise has no line, and a line is found.
    assert kinds[::2].count("mean") >= 3
    assert kinds[1::2].count("line") == 6


# Averages


def shared(n, seed=0, d=3):
    rng = np.random.default_rng(seed)
    X = rng.uniform(-1, 1, (n, d))
    return X, np.sin(3 * X[:, 0]) + X[:, 0] * X[:, -1] + 0.3 * rng.standard_normal(n)


@pytest.mark.all_folds
def test_an_average_is_one_network_within_the_limit(tmp_path):
    rng = np.random.default_rng(0)
    X = rng.uniform(-1, 1, (260, 4))
    y = np.sin(4 * X[:, 0] * X[:, 1]) + np.abs(X[:, 2] - X[:, 3]) + 0.2 * rng.normal(size=260)
    model = GreedyNetRegressor(max_nodes=40).fit(X, y)
    ladder = model.ladder_
    assert ladder.choice.n_networks > 1
    assert model.n_nodes_ <= ladder.choice.n_neurons + 2 <= 40
    single = [e for c, e in zip(ladder.candidates, ladder.errors, strict=True) if c.n_networks == 1]
    assert ladder.expected_error < min(single)
    # The neurons come from two pools of directions, each network with half of the outer weights.
    neurons = np.column_stack([model.network_.inner_weights, model.network_.biases])
    assert len(np.unique(neurons.round(9), axis=0)) == len(neurons)
    # Two growths note what they find in one checkpoint.
    with greedynet.checkpoint(tmp_path / "c"):
        noted = GreedyNetRegressor(max_nodes=40).fit(X, y)
    np.testing.assert_array_equal(noted.network_.inner_weights, model.network_.inner_weights)


def test_one_network_is_never_averaged():
    model = GreedyNetRegressor(max_nodes=40, n_networks=1).fit(*shared(200))
    assert {c.n_networks for c in model.ladder_.candidates} == {1}


@pytest.mark.parametrize("n_networks", [2, 3])
def test_so_many_networks_share_the_nodes(n_networks):
    model = GreedyNetRegressor(max_nodes=30, n_networks=n_networks).fit(*shared(200))
    assert model.ladder_.kind == f"average of {'two' if n_networks == 2 else 'three'}"
    assert model.ladder_.choice.n_networks == n_networks
    # Neurons without any use are left out.
    n_neurons = model.ladder_.choice.n_neurons
    assert n_neurons - 2 <= model.network_.n_neurons <= n_neurons <= 28


@pytest.mark.parametrize("asked", [{"n_nodes": 20}, {"max_nodes": 20, "select": "last"}], ids=str)
@pytest.mark.parametrize("n_networks", [2, 3])
def test_all_nodes_are_shared(n_networks, asked):
    X, y = shared(120)
    model = GreedyNetRegressor(**asked, n_networks=n_networks).fit(X, y)
    assert model.n_nodes_ == 20
    alone = GreedyNetRegressor(**asked, n_networks=1).fit(X, y)
    assert alone.n_nodes_ == 20
    assert not np.allclose(alone.predict(X), model.predict(X))


def test_averages_of_many_rows():
    X, y = shared(2_000)
    with scopes.sampled(300):
        model = GreedyNetRegressor(max_nodes=20, n_networks=3).fit(X, y)
    assert model.n_nodes_ <= 20
    assert np.sqrt(np.mean((model.predict(X) - y) ** 2)) < 0.4


def test_one_column_has_one_network():
    x = np.linspace(-1, 1, 80)[:, None]
    y = np.abs(x[:, 0])
    one, four = (GreedyNetRegressor(max_nodes=12, n_networks=n).fit(x, y) for n in (1, 4))
    np.testing.assert_array_equal(one.predict(x), four.predict(x))


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"n_networks": 0}, "n_networks"),
        ({"n_networks": 11}, "n_networks"),
        ({"n_networks": 2, "loss": "absolute_error"}, '`n_networks` requires loss="squared_error"'),
        ({"n_networks": 2, "correct": False}, "`n_networks` requires corrected networks"),
        ({"n_networks": 5, "max_nodes": 6}, "`n_networks` must be at most the number of neurons"),
        ({"n_networks": 3, "n_nodes": 12}, r"must divide the number of neurons, .* for 10"),
    ],
)
def test_what_cannot_be_averaged_is_refused(parameters, message):
    X, y = shared(30)
    with pytest.raises(ValueError, match=message):
        GreedyNetRegressor(**parameters).fit(X, y)


# What is chosen


@pytest.mark.all_folds
@pytest.mark.parametrize(("n", "d"), [(200, 20), (100, 30), (60, 60), (40, 3)])
def test_noise_is_not_interpolated(n, d):
    rng = np.random.default_rng(n)
    X, y, new = rng.normal(size=(n, d)), rng.normal(size=n), rng.normal(size=(2000, d))
    model = GreedyNetRegressor().fit(X, y)
    error = rmse(model.predict(new), rng.normal(size=2000))
    assert error < 1.1
    assert 0.7 < error / model.expected_error_ < 1.5


@pytest.mark.all_folds
def test_each_rung_where_it_is_right():
    chosen = []
    for seed in range(4):
        rng = np.random.default_rng(seed)
        X, e = rng.normal(size=(300, 3)), rng.normal(size=300)
        targets = (e, X @ [1.0, 2.0, 0.0] + 0.3 * e, np.abs(X[:, 0]) + 0.2 * e)
        models = [GreedyNetRegressor(max_nodes=12).fit(X, y) for y in targets]
        chosen.append([model.stop_reason_ for model in models])
        new = rng.normal(size=(1000, 3))
        assert rmse(models[1].predict(new), np.clip(new, X.min(0), X.max(0)) @ [1, 2, 0]) < 0.1
    means, lines, networks = zip(*chosen, strict=True)
    assert means.count(StopReason.MEAN) >= 3
    assert lines.count(StopReason.LINE) >= 2
    assert networks.count(StopReason.VALIDATED) == 4


@pytest.mark.all_folds
@pytest.mark.parametrize("quantile", [None, 0.8])
def test_each_rung_of_another_loss_where_it_is_right(quantile):
    how = {"loss": "huber"} if quantile is None else {"loss": Quantile(quantile)}
    rng = np.random.default_rng(0)
    X, e = rng.normal(size=(200, 3)), rng.normal(size=200)
    targets = (e, X @ [1.0, 2.0, 0.0] + 0.3 * e, np.abs(2 * X[:, 0]) + 0.2 * e)
    models = [GreedyNetRegressor(max_nodes=8, **how).fit(X, y) for y in targets]
    reasons = [model.stop_reason_ for model in models]
    assert reasons == [StopReason.MEAN, StopReason.LINE, StopReason.VALIDATED]
    assert models[2].ladder_.n_neurons[:5].tolist() == [0, 0, 1, 2, 3]
    assert not models[0].network_.linear_weights.any()


@pytest.mark.all_folds
@pytest.mark.parametrize("loss", ["huber", "absolute_error"])
def test_a_line_with_many_columns_has_a_ridge(loss):
    """A line without a ridge is worse than the constant."""
    rng = np.random.default_rng(1)
    w = rng.normal(size=40) / np.sqrt(40)
    X, new = rng.normal(size=(60, 40)), rng.normal(size=(1000, 40))
    y = X @ w + 0.5 * rng.standard_t(3, 60)
    model = GreedyNetRegressor(loss=loss, max_nodes=8).fit(X, y)
    error = np.mean(np.abs(model.predict(new) - new @ w))
    assert error < 0.8 * np.mean(np.abs(np.median(y) - new @ w))


@pytest.mark.all_folds
@pytest.mark.parametrize("loss", ["squared_error", "absolute_error"])
def test_few_distinct_rows_are_learned(loss):
    """Seven rows that count as often as they have copies; as seven they would be noise."""
    x = np.random.default_rng(0).choice(np.linspace(-1, 1, 7), 500)[:, None]
    y = np.sin(12 * x[:, 0])
    assert np.abs(GreedyNetRegressor(loss=loss).fit(x, y).predict(x) - y).max() < 1e-5


@pytest.mark.parametrize(
    "how",
    [
        {},
        {"n_nodes": 8},
        {"cv": 3},
        {"select": "last", "max_nodes": 8},
        {"correct": False},
        {"search": Dictionary(n_points=300)},
        {"activation": "tanh", "max_nodes": 6},
    ],
    ids=str,
)
def test_every_way_of_choosing_tells_its_error(how):
    rng = np.random.default_rng(1)

    def drawn(n):
        X = rng.uniform(-1, 1, (n, 2))
        return X, np.abs(X[:, 0]) + X[:, 1] + 0.2 * rng.normal(size=n)

    (X, y), (new, y_new) = drawn(250), drawn(2000)
    model = GreedyNetRegressor(**how).fit(X, y)
    assert 0.7 < rmse(model.predict(new), y_new) / model.expected_error_ < 1.5


@pytest.mark.parametrize(("loss", "best"), [("absolute_error", 0.16), (Quantile(0.8), 0.056)])
def test_other_losses_tell_their_own(loss, best):
    rng = np.random.default_rng(1)
    X = rng.uniform(-1, 1, (200, 1))
    y = np.abs(X[:, 0]) + 0.2 * rng.normal(size=200)
    model = GreedyNetRegressor(loss=loss, max_nodes=6).fit(X, y)
    assert 0.7 * best < model.expected_error_ < 1.6 * best


def test_noise_does_not_keep_many_nodes_from_the_truth():
    """The ridge follows the noise, however many nodes are asked for."""
    rng = np.random.default_rng(2)
    X = rng.uniform(-1, 1, (600, 1))
    truth = np.sin(3 * X[:, 0])
    model = GreedyNetRegressor(n_nodes=75).fit(X, truth + 0.1 * rng.normal(size=600))
    assert rmse(model.predict(X), truth) < 0.03


@pytest.mark.slow
@pytest.mark.all_folds
def test_random_problems():
    """A part of `benchmarks/judgement.py`, of small problems."""
    from randomproblems import draw

    seeds = [seed for seed in range(1, 400, 2) if np.prod(draw(seed).shape) < 4_000][:60]
    ratios, told = [], []
    for seed in seeds:
        problem = draw(seed)
        model = GreedyNetRegressor(n_jobs=1).fit(problem.X, problem.y)
        error = rmse(model.predict(problem.X_new), problem.y_new)
        ratios.append(error / rmse(problem.y.mean(), problem.y_new))
        told.append(error / model.expected_error_)
    assert np.mean(np.array(ratios) > 1.1) <= 0.04
    assert 0.9 < np.median(told) < 1.15
    assert np.mean(np.array(told) > 3) <= 0.05


@pytest.mark.slow
@pytest.mark.all_folds
def test_random_problems_of_other_losses():
    """A part of `benchmarks/judgement_losses.py`, of small problems."""
    from judgement_losses import OURS, judge, measures
    from randomproblems import draw

    seeds = [seed for seed in range(1, 300, 2) if np.prod(draw(seed).shape) < 3_000][:50]
    records = [judge(seed, boosting=False) for seed in seeds]
    found = measures(records)
    assert found["> 1.1 constant, %"] <= 2
    assert found["worst / constant"] < 1.5
    assert found["true / told in 0.7-1.5, %"] >= 80
    assert np.median([r[OURS] / r["constant"] for r in records]) < 0.9


N_ROWS = 100
Y = np.zeros((N_ROWS, 1))
Y[::2] = 1.0  # with the standard deviation 1/2
# Errors of the same size on all rows, so that those of two candidates differ on all alike.
SIGNS = np.random.default_rng(0).choice([-1.0, 1.0], (N_ROWS, 1))


def scores_of(measure=None, *, tol=0.0, n_networks=None, as_good=None, settings=None):
    settings = settings or FitSettings()
    if as_good is not None:
        settings = replace(settings, ladder=replace(settings.ladder, as_good=as_good))
    plan = Plan(Limits(50, tol=tol), n_networks=n_networks, settings=settings)
    return CandidateScores(measure or Squares([Rows(Y, Y)], N_ROWS), plan)


def scored(errors, **options):
    """Scores of candidates with given errors, of the same size on every row."""
    scores = scores_of(**options)
    for candidate, error in errors.items():
        predictions = [Y - error * SIGNS]
        scores.add(candidate, [predictions] * 3, error)
    return scores


def network(width, **options):
    return Candidate(NETWORK, width, **options)


def widths(*errors, **options):
    """Scores of the mean, and of networks of 1, 2, ... neurons."""
    candidates = [Candidate(MEAN), *(network(width) for width in range(1, len(errors)))]
    return scored(dict(zip(candidates, errors, strict=True)), **options)


def test_a_ladder_is_its_candidates_and_their_errors():
    candidates = Candidate(MEAN), Candidate(LINE), network(1), network(2, form=TWO_LAYERS)
    ladder = Ladder(candidates, np.array([4.0, 3.0, 2.0, 1.0]), 2)
    assert len(ladder) == 4
    assert (ladder.kind, ladder.choice, ladder.expected_error) == ("network", candidates[2], 2.0)
    assert ladder.n_neurons.tolist() == [0, 0, 1, 2]
    assert ladder.error_of(MEAN, LINE) == 3.0
    assert ladder.error_of(NETWORK) == 2.0
    assert ladder.error_of(NETWORK, form=TWO_LAYERS) == 1.0
    assert ladder.error_of("blend") is None
    lines = str(ladder).splitlines()
    assert [i for i, line in enumerate(lines) if line.endswith("<- chosen")] == [3]


# The choice


def test_the_smallest_error_wins_and_ties_go_to_the_smaller():
    assert widths(0.5, 0.4, 0.3, 0.35).best() == network(2)
    assert widths(0.5, 0.4, 0.3, 0.2999).best() == network(2)
    assert widths(0.5, 0.4, 0.3, 0.2999, as_good=1.0).best() == network(3)
    assert widths(0.5, 0.5, 0.6).best() == Candidate(MEAN)


def test_the_simplest_within_a_share_of_the_error():
    scores = widths(0.5, 0.32, 0.31, 0.3)
    assert scores.best(0.0) == scores.best(0.03) == network(3)
    assert scores.best(0.05) == network(2)
    assert scores.best(0.1) == network(1)
    assert scores.best(1.0) == Candidate(MEAN)


def test_the_simplest_within_a_standard_error():
    """Losses of 0 and 4 times the variance: their mean has the standard error 2 / sqrt(n)."""
    scores, best = scores_of(), Y - np.where(np.arange(N_ROWS)[:, None] % 4 < 2, 1.0, 0.0)
    scores.add(network(3), [[best]] * 3, 0.0)
    assert scores.scores[0] == pytest.approx(2.0)
    for width, loss in ((1, 2.21), (2, 2.19)):
        predictions = [Y - 0.5 * np.sqrt(loss) * SIGNS]
        scores.add(network(width), [predictions] * 3, 0.0)
    assert scores.best("1se") == network(2)
    assert scores.best() == network(3)


def test_the_last_is_the_widest_whatever_its_error():
    scores = widths(0.1, 0.5, 0.6, 0.7)
    assert scores.best("last") == network(3)
    for error, wanted in ((0.6, True), (0.8, False)):
        pruned = {network(3): 0.7, network(3, pruned=True): error, network(2): 0.1}
        assert scored(pruned).best("last").pruned is wanted


def test_errors_below_the_tolerance_are_the_same():
    assert widths(0.5, 1e-3, 1e-6).best() == network(2)
    assert widths(0.5, 1e-3, 1e-6, tol=0.01).best() == network(1)


def test_a_line_wins_against_a_network_that_is_hardly_better():
    """Its errors are smaller on one half of the rows and larger on the other: by chance."""
    line, half = Candidate(LINE), np.arange(N_ROWS)[:, None] % 2
    for better, worse, wanted in ((0.48, 0.518, line), (0.4, 0.5, network(1))):
        scores = scores_of()
        for candidate, left in ((line, 0.5 * SIGNS), (network(1), np.where(half, better, worse))):
            scores.add(candidate, [[Y - left]] * 3, 0.0)
        assert scores.scores[1] < scores.scores[0]
        assert scores.best() == wanted


def test_an_average_wins_only_if_it_is_better_by_more_than_a_tie():
    """It has the neurons of all of its networks: the smaller one is a single network."""
    average, single = network(3, n_networks=4), network(8)
    assert scored({Candidate(MEAN): 0.5, single: 0.2, average: 0.1999}).best() == single
    assert scored({Candidate(MEAN): 0.5, single: 0.2, average: 0.199}).best() == average
    # But a line wins against it within the noise of the score.
    assert scored({Candidate(LINE): 0.25, average: 0.25, network(8): 0.25}).best().kind == LINE


def test_an_average_that_was_asked_for_is_taken():
    average = network(2, n_networks=3)
    errors = {Candidate(MEAN): 0.5, network(2): 0.1, average: 0.4}
    assert scored(errors).best() == network(2)
    assert scored(errors, n_networks=3).best() == average
    assert scored(errors, n_networks=3).best("last") == average
    assert scored(errors, n_networks=1).best() == network(2)


@pytest.mark.parametrize(
    ("form", "clearly"), [(TWO_LAYERS, FitSettings().depth.clearly_better), (RAMPS, 1.0)]
)
def test_another_form_wins_only_if_it_is_clearly_better(form, clearly):
    """Two layers by one per cent of the error; neurons that level off are as simple as others."""
    other = network(3, form=form)
    for factor, wanted in ((clearly + 0.002, network(8)), (clearly - 0.002, other)):
        errors = {Candidate(MEAN): 0.5, network(8): 0.2, other: 0.2 * factor}
        assert scored(errors).best() == wanted
    # Among those of a form, the best.
    assert scored({network(8): 0.1, other: 0.2}).best(form=form) == other


def test_the_climb_ends_after_some_widths_that_are_not_better():
    settings = FitSettings(ladder=LadderSettings(patience=3, min_widths=(1, 1)))
    errors = 0.5, 0.3, 0.31, 0.31, 0.31
    assert not widths(*errors[:4], settings=settings).stops("one layer", 1, 9.0)
    assert widths(*errors, settings=settings).stops("one layer", 1, 9.0)
    # With more parameters than rows, at once.
    assert not widths(*errors[:3], settings=settings).stops("one layer", 1, 5.0)
    assert widths(*errors[:3], settings=settings).stops("one layer", 1, 1.0)
    # Up to some neurons, in no case; up to more of them while none is better than a line.
    patient = FitSettings(ladder=LadderSettings(patience=3, min_widths=(5, 5)))
    assert not widths(*errors, settings=patient).stops("one layer", 1, 9.0)
    late = FitSettings(ladder=LadderSettings(patience=3, min_widths=(1, 9), min_weights=18))
    assert widths(*errors, settings=late).stops("one layer", 1, 9.0)
    assert not widths(0.3, 0.31, 0.31, 0.31, settings=late).stops("one layer", 1, 9.0)


# Measures


def test_no_error_is_zero():
    scores = widths(0.5, 0.0)
    mean, perfect = map(scores.measure.error, scores.predictions(0.0))
    assert 0 < perfect < 1e-12
    assert mean == pytest.approx(0.5)
    assert scores.scores[0] == pytest.approx(1.0)  # the outputs have the deviation 1/2


def test_weights_of_held_out_rows_are_copies():
    rng = np.random.default_rng(0)
    found, w = Y + rng.normal(size=Y.shape), rng.integers(1, 4, N_ROWS)
    each = np.repeat(np.arange(N_ROWS), w)
    for measure in (Squares, lambda *a: OfLoss(*a, Absolute())):
        weighted = measure([Rows(Y, Y, w.astype(float))], N_ROWS)
        copied = measure([Rows(Y[each], Y[each])], N_ROWS)
        assert weighted.score(found) == pytest.approx(copied.score(found[each]), rel=1e-12)
        assert weighted.error(found) == pytest.approx(copied.error(found[each]), rel=1e-12)


@pytest.mark.parametrize("loss", [*LOSSES, Squared()], ids=lambda loss: str(loss.arguments))
def test_rows_add_up_to_the_size(loss):
    rng = np.random.default_rng(0)
    r, w = rng.standard_t(2, (40, 1)), rng.uniform(0.2, 3.0, 40)
    p = power(loss)
    assert (w @ row_sizes(loss, r)) ** (1 / p) == pytest.approx(loss.size(r, w), rel=1e-12)
    mean = np.average(row_sizes(loss, r), weights=w) ** (1 / p)
    assert mean == pytest.approx(mean_size(loss, r, w), rel=1e-12)


def test_mean_sizes():
    r = np.array([[3.0], [-4.0]])
    assert mean_size(get_loss("squared_error"), r, None) == pytest.approx(np.sqrt(12.5))
    assert mean_size(get_loss("absolute_error"), r, None) == pytest.approx(3.5)
    assert mean_size(get_loss("chebyshev"), r, None) == pytest.approx(4.0)
    assert mean_size(get_loss("quantile", quantile=0.9), r, None) == pytest.approx((2.7 + 0.4) / 2)
    assert mean_size(get_loss("absolute_error"), r, np.array([3.0, 1.0])) == pytest.approx(13 / 4)


def best_by(loss, *left):
    """Which of some residuals is the best by a loss; the first are those of the mean."""
    settings = FitSettings(ladder=LadderSettings(near_tie=0.0))
    scores = scores_of(OfLoss([Rows(Y, Y)], N_ROWS, loss), settings=settings)
    for width, r in enumerate(left):
        scores.add(network(width) if width else Candidate(MEAN), [[Y - r]] * 3, 0.0)
    return scores.best().width


def test_the_loss_decides():
    """One gross error is better than many small ones by absolute values, worse by squares."""
    many, one = np.full((N_ROWS, 1), 0.2), np.zeros((N_ROWS, 1))
    one[0] = 10.0
    assert best_by(Absolute(), np.ones((N_ROWS, 1)), many, one) == 2
    assert best_by(Power(2.0), np.ones((N_ROWS, 1)), many, one) == 1
    assert best_by(Chebyshev(), 20 * many, one, many) == 2
    above, below = np.full((N_ROWS, 1), 0.2), np.full((N_ROWS, 1), -0.3)
    assert best_by(Quantile(0.9), 5 * above, above, below) == 2
    assert best_by(Quantile(0.1), 5 * above, above, below) == 1


@every_loss
def test_errors_are_mean_sizes_in_any_unit(loss):
    left = np.random.default_rng(0).normal(size=(N_ROWS, 1))
    measure, huge = (OfLoss([Rows(Y, t * Y)], N_ROWS, loss) for t in (1.0, 1e200))
    wanted = mean_size(loss, left, None)
    assert measure.error(Y - left) == pytest.approx(wanted, rel=1e-12)
    assert measure.score(Y - 0.5 * left) == pytest.approx(measure.score(Y - left) / 4, rel=1e-12)
    assert huge.error(1e200 * (Y - left)) == pytest.approx(1e200 * wanted, rel=1e-9)
    assert huge.score(1e200 * (Y - left)) == pytest.approx(measure.score(Y - left), rel=1e-9)


# Forms


def test_the_box_of_the_bulk_is_that_of_the_cells_within_thirty_robust_deviations():
    rows = np.column_stack([np.linspace(-1, 1, 401), np.zeros(401), np.linspace(0, 1, 401)])
    deviation = np.subtract(*np.quantile(rows[1:, 0], [0.75, 0.25])) / 1.349
    for far, is_far in ((29, False), (31, True)):
        rows[0, 0], rows[0, 1] = far * deviation, 5.0
        form = InnerBox.of(Folds([], Rows(rows, np.zeros((401, 1)))))
        assert (form is not None) is is_far
    np.testing.assert_array_equal(form.box[:, 0], [rows[1, 0], 1.0])
    # Half of the cells are equal: no cell of the column is far out.
    np.testing.assert_array_equal(form.box[:, 1], [0.0, 5.0])
    seen = form.rows(Rows(rows, np.zeros((401, 1)))).X
    np.testing.assert_array_equal(seen[1:], rows[1:])
    np.testing.assert_array_equal(seen[0], [1.0, 5.0, 0.0])


def test_few_nodes_leave_no_room_for_a_first_layer():
    rows = Rows(np.random.default_rng(0).standard_normal((50, 8)), np.zeros((50, 1)))
    folds = Folds([], rows)
    assert TwoLayers.of(folds, Plan(Limits(15))) is None
    assert TwoLayers.of(folds, Plan(Limits(48))).n_hinges == 24
    assert TwoLayers.of(folds, Plan(Limits(198))).n_hinges == 8 * 7


def test_a_lower_loss_of_one_row_is_no_evidence():
    """Two layers need lower losses by more than their standard error."""

    def wins(logits):
        held = Rows(np.zeros((50, 1)), np.ones((50, 1)))
        scores = CandidateScores(LogLosses([held], 50), Plan(Limits(9)))
        one, two = Candidate(NETWORK, 3), Candidate(NETWORK, 3, form=TWO_LAYERS)
        scores.add(one, [[np.zeros((50, 1))]] * 3, 0.0)
        scores.add(two, [[logits[:, None]]] * 3, 0.0)
        return scores.best() == two

    assert wins(5.0 * (np.arange(50) % 5 > 0))
    # A mean that is 2 % lower, but because of a single row.
    assert not wins(np.where(np.arange(50) == 0, 5.0, -0.001))
    assert not wins(np.zeros(50))
