"""Candidates, the scores of their predictions, and the rule of choice, on scores made by hand."""

from dataclasses import FrozenInstanceError, replace

import numpy as np
import pytest

from greedynet.fitting.measures import LogLosses, OfLoss, Squares
from greedynet.fitting.plan import Limits, Plan
from greedynet.fitting.scores import CandidateScores
from greedynet.fitting.settings import FitSettings, LadderSettings
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
    widths_up_to,
)
from greedynet.rows.rows import Rows

LOSSES = [Absolute(), Huber(), Quantile(0.1), Quantile(0.9), Power(1.5)]
every_loss = pytest.mark.parametrize("loss", LOSSES, ids=lambda loss: str(loss.arguments))
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


# Candidates


def test_candidates_are_values():
    one = network(4, form=TWO_LAYERS, ridge=0.1)
    assert one == replace(network(4, ridge=0.1), form=TWO_LAYERS)
    assert {one: "known"}[network(4, form=TWO_LAYERS, ridge=0.1)] == "known"
    assert len({one, replace(one, pruned=True), replace(one, n_networks=2)}) == 3
    with pytest.raises(FrozenInstanceError, match="width"):
        one.width = 5


@pytest.mark.parametrize(
    ("candidate", "name", "n_neurons"),
    [
        (Candidate(MEAN), "mean", 0),
        (Candidate(MEAN, form=TWO_LAYERS), "mean", 0),
        (Candidate(LINE), "line", 0),
        (Candidate(LINE, form=TWO_LAYERS), "curves of single columns", 0),
        (network(4), "network", 4),
        (network(4, pruned=True), "pruned network", 4),
        (network(4, n_networks=2), "average of two", 8),
        (network(4, form=TWO_LAYERS), "network, two layers", 4),
        (network(4, form=RAMPS), "network, of ramps", 8),
    ],
)
def test_a_candidate_says_what_it_is(candidate, name, n_neurons):
    assert str(candidate) == name
    assert candidate.n_neurons == n_neurons
    assert candidate.plain() == candidate


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


def test_widths_grow_by_a_factor():
    assert widths_up_to(30, 1.5) == [1, 2, 3, 4, 6, 9, 14, 21, 30]
    assert widths_up_to(1, 1.5) == [1]
    assert widths_up_to(0, 1.5) == []


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


def test_an_average_wins_unless_a_single_network_is_clearly_better():
    """Errors of the single network are smaller on one half of the rows and larger on the other."""
    average, half = network(3, n_networks=4), np.arange(N_ROWS)[:, None] % 2
    for better, worse, wanted in ((0.48, 0.518, average), (0.4, 0.5, network(8))):
        scores = scores_of()
        left = np.where(half, better, worse)
        for candidate, errors in ((network(8), left), (average, 0.5 * SIGNS)):
            scores.add(candidate, [[Y - errors]] * 3, 0.0)
        assert scores.scores[0] < scores.scores[1]
        assert scores.best() == wanted
    # But a line wins against it by the same rule.
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
    assert 0 < scores.errors(0.0)[1] < 1e-12
    assert scores.errors(0.0)[0] == pytest.approx(0.5)
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


def test_powers():
    losses = [Absolute(), Huber(), Quantile(0.2), Power(1.5), Power(4.0), Squared(), Chebyshev()]
    np.testing.assert_allclose([power(loss) for loss in losses], [1, 1, 1, 1.5, 4, 2, np.inf])


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


def test_the_score_of_classes_is_the_log_loss_and_half_a_row_more():
    classes = np.eye(2)[[0, 1, 1, 0]]
    logits = np.log([[0.9, 0.1], [0.2, 0.8], [0.6, 0.4], [0.7, 0.3]])
    measure = LogLosses([Rows(np.zeros((4, 1)), classes)], 4)
    right, wrong = np.log([0.9, 0.8, 0.4, 0.7]), np.log([0.1, 0.2, 0.6, 0.3])
    np.testing.assert_allclose(measure.losses(logits), -right)
    wanted = -(right.sum() + 0.5 * wrong.mean()) / 4.5
    assert measure.score(logits) == measure.error(logits) == pytest.approx(wanted)
