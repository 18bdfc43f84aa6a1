"""Which candidates a climb tries, the simplest first, and when wider ones are not tried any more.

    as grown         a constant, the affine term, and every width of one growth
    regression       the mean, and for each form: a line, networks of 1, 2, 3, 4, 6, 9, ... neurons,
                     averages of networks of the best width
    classification   the shares of the classes, and for each form: logistic regressions and networks
                     of several ridges, pruned networks, and blends of all three

A generator yields a candidate, and goes on when its score is in the table.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from greedynet.correction.variable_projection import MAX_BLOCK
from greedynet.fitting.forms import Form
from greedynet.fitting.plan import ZERO_RESIDUAL, Plan
from greedynet.fitting.scores import CandidateScores
from greedynet.fitting.settings import LogisticSettings
from greedynet.losses.base import singles_out_rows
from greedynet.model.candidate import (
    BLEND,
    CLIPPED,
    LINE,
    MEAN,
    NETWORK,
    ONE_LAYER,
    RAMPS,
    SHARES,
    Candidate,
    single_networks,
    widths_up_to,
)
from greedynet.rows.rows import Rows
from greedynet.support.types import Float64

# Position of the ridge with which networks of classes grow among those that are tried.
GROWN_WITH = 2


# Regression


def every_width(
    scores: CandidateScores, forms: Sequence[Form], plan: Plan, constant: str
) -> Iterator[Candidate]:
    """Yield a constant, the affine term, and every width of a growth that is not corrected."""
    for form in forms:
        yield Candidate(constant, form=form.name)
        if plan.linear_term:
            yield Candidate(LINE, form=form.name)
        for width in range(1, form.plan(plan).limits.max_neurons + 1):
            yield Candidate(NETWORK, width, form=form.name)
            if scores.training_errors[-1] <= max(plan.limits.tol, ZERO_RESIDUAL):
                break
            if not plan.takes_last and scores.stops(form.name, 0, np.inf, patience=20):
                break


def networks_and_averages(
    scores: CandidateScores, forms: Sequence[Form], rows: Rows, plan: Plan
) -> Iterator[Candidate]:
    """Yield the mean, a line, and for each form networks and averages."""
    yield Candidate(MEAN, form=forms[0].name)
    for form in forms:
        if plan.linear_term and form.name != RAMPS:
            yield Candidate(LINE, form=form.name)
        if n_effective(rows) < plan.settings.ladder.min_rows and not plan.takes_last:
            continue
        yield from _by_width(scores, form, rows, plan)
        chosen = scores.best(plan.choice, form.name)
        if chosen.width:
            yield from _averages(scores, chosen, rows, form.plan(plan))


def _by_width(scores: CandidateScores, form: Form, rows: Rows, plan: Plan) -> Iterator[Candidate]:
    """Yield networks of increasing width, until wider ones do not help."""
    most, d = form.plan(plan).limits.max_neurons, form.n_inputs(rows.n_features)
    settings = plan.settings.ladder
    n_supported, allowed, work = rows.n_independent / (d + 2), np.inf, 0.0
    first = single_networks(scores.candidates, ONE_LAYER)
    if form.name not in (ONE_LAYER, CLIPPED) and first and not plan.takes_last:
        taken = sum(_work(rows, c.width, rows.n_features) for c in first)
        # So many multiplications take no time.
        allowed = max(4e8, plan.settings.depth.times_work * taken)
    # Single rows decide the largest error: what wide networks gain shows later.
    patience = (2 if singles_out_rows(plan.loss) else 1) * settings.patience
    for width in widths_up_to(most, settings.growth):
        work += _work(rows, width, d)
        if work > allowed:
            return
        yield Candidate(NETWORK, width, form=form.name)
        if scores.training_errors[-1] <= max(plan.limits.tol, ZERO_RESIDUAL) and plan.takes_last:
            return
        if not plan.takes_last and scores.stops(form.name, d, n_supported, patience):
            return


def _work(rows: Rows, width: int, n_features: int) -> float:
    """Return the number of multiplications in a step of the correction of a width."""
    size = width * (n_features + 1)
    return float(len(rows) * size * min(size, MAX_BLOCK))


def _averages(
    scores: CandidateScores, chosen: Candidate, rows: Rows, plan: Plan
) -> Iterator[Candidate]:
    """Yield averages of networks of the chosen width, and of wider ones while these help.

    An average varies less than a single network, and so it may be wider.
    """
    settings, asked, most = plan.settings.ladder, plan.n_networks, plan.limits.max_neurons
    if asked == 1 or rows.n_features == 1 or chosen.n_networks > 1:
        return  # with one input, two networks would be the same
    if plan.takes_last:
        if asked is not None and most >= asked:
            yield replace(chosen, width=most // asked, n_networks=asked)
        return
    grown = sorted(c.width for c in single_networks(scores.candidates, chosen.form))
    if asked is not None:
        for width in grown:
            if asked * width <= most:
                yield replace(chosen, width=width, n_networks=asked)
        return
    fewest_rows, most_rows = settings.rows_averaged
    if not fewest_rows <= len(rows) <= most_rows:
        return
    many, few = settings.n_averaged
    widest = max((width for width in grown if many * width <= most), default=0)
    n = many if 2 * widest >= chosen.width else few
    possible = [width for width in grown if n * width <= most]
    wide = [width for width in possible if width >= chosen.width]
    for width in (wide or possible[-1:])[: settings.widths_averaged]:
        yield replace(chosen, width=width, n_networks=n)
        if scores.scores[-1] >= min(scores.scores[:-1]):
            return


def n_effective(rows: Rows) -> float:
    """Return the number of rows of equal weight that carry as much information.

    `(sum w)^2 / sum w^2`, or the number of copies that rows stand for.
    """
    if rows.weights is None or rows.effective_size is not None:
        return rows.n_independent
    share = rows.weights / rows.weights.max()
    return float(share.sum() ** 2 / np.sum(share**2))


# Classification


@dataclass(frozen=True)
class Blend(Candidate):
    """A mixture of class shares, a logistic regression and a network, with weights of the last two.

    One without a network is a mixture of the other two.
    """

    line: Candidate | None = None
    network: Candidate | None = None
    a: float = 0.0
    b: float = 0.0


def regressions_and_blends(
    scores: CandidateScores, forms: Sequence[Form], rows: Rows, plan: Plan
) -> Iterator[Candidate]:
    """Yield shares, regressions, and for each form networks, pruned networks and a blend."""
    if not plan.linear_term or plan.limits.exact:
        for form in forms:
            yield from _networks(scores, form, rows, plan)
        return
    yield Candidate(SHARES, form=forms[0].name)
    for form in forms:
        yield from _lines(scores, form, plan)
        if len(rows) >= plan.settings.ladder.min_rows and plan.limits.max_neurons:
            yield from _networks(scores, form, rows, plan)
        # Weights in steps of a tenth; for a given ridge, the weight is all on one of them.
        yield from _blends(scores, form, 10 if plan.alpha is None else 1)


def _lines(scores: CandidateScores, form: Form, plan: Plan) -> Iterator[Candidate]:
    """Yield logistic regressions, from the largest ridge down, until smaller ones do not help."""
    settings = plan.settings.logistic
    found: dict[float, float] = {}
    for ridge in settings.line_ridges if plan.alpha is None else (plan.alpha,):
        yield Candidate(LINE, form=form.name, ridge=ridge)
        found[ridge] = scores.scores[-1]
        best = min(found, key=found.__getitem__)
        if len(found) - 1 - list(found).index(best) > settings.patience:
            break
    ridge = lowest_between(found)
    if ridge not in found:
        yield Candidate(LINE, form=form.name, ridge=ridge)


def _networks(scores: CandidateScores, form: Form, rows: Rows, plan: Plan) -> Iterator[Candidate]:
    """Yield networks for several ridges, and pruned ones for the best of them."""
    width = _grown_to(form.plan(plan), rows)
    found: dict[float, float] = {}
    for ridge in _ridges(found, rows, plan):
        yield Candidate(NETWORK, width, form=form.name, ridge=ridge)
        found[ridge] = scores.scores[-1]
    ridge = lowest_between(found)
    if ridge not in found:
        yield Candidate(NETWORK, width, form=form.name, ridge=ridge)
    if plan.takes_last:
        return
    settings, lowest = plan.settings.ladder, min(found.get(ridge, np.inf), scores.scores[-1])
    while width > 1:
        width = int(width / settings.growth)
        yield Candidate(NETWORK, width, form=form.name, ridge=ridge, pruned=True)
        if settings.as_good * scores.scores[-1] > lowest:
            return
        lowest = min(lowest, scores.scores[-1])


def _ridges(found: Mapping[float, float], rows: Rows, plan: Plan) -> Iterator[float]:
    """Yield ridges: from that with which networks grow upwards, or downwards, while these help.

    From a larger one, neurons that have vanished would not come back.
    """
    settings = plan.settings.logistic
    if plan.alpha is not None:
        yield plan.alpha
        return
    ridges = ridges_for(rows, settings)
    yield float(ridges[GROWN_WITH])
    for ahead in (1, -1):
        i, since = GROWN_WITH, 0
        while 0 <= i + ahead < len(ridges) and since < settings.patience:
            i += ahead
            yield float(ridges[i])
            since = 0 if found[float(ridges[i])] <= min(found.values()) else since + 1
        if min(found, key=found.__getitem__) > ridges[GROWN_WITH]:
            return


def _blends(scores: CandidateScores, form: Form, n: int) -> Iterator[Candidate]:
    """Yield the best mixture of shares and regression, and of all three, in `n` steps of weights.

    Weights that leave one of them alone yield nothing new.
    """
    shares = scores.of(next(c for c in scores.candidates if c.kind == SHARES))
    line, network = _best(scores, form, LINE), _best(scores, form, NETWORK)
    assert line is not None
    to_line = scores.of(line) - shares
    for part in (None,) if network is None else (None, network):
        to_part = 0.0 * shares if part is None else scores.of(part) - shares

        def score(pair: tuple[float, float], to_part: Float64 = to_part) -> float:
            return scores.measure.score(shares + pair[0] * to_line + pair[1] * to_part)

        parts = range(1 if part is None else n + 1)
        a, b = min(((i / n, j / n) for j in parts for i in range(n + 1 - j)), key=score)
        if 1.0 in (a, b) or a == b == 0.0:
            continue
        width, ridge = (0, line.ridge) if part is None else (part.width, part.ridge)
        yield Blend(BLEND, width, form=form.name, ridge=ridge, line=line, network=part, a=a, b=b)


def _best(scores: CandidateScores, form: Form, kind: str) -> Candidate | None:
    """Return the best candidate of a kind, or the narrowest that is about as good."""
    found = [c for c in scores.candidates if c.kind == kind and c.form == form.name]
    lowest = min(map(scores.score_of, found), default=0.0)
    good = [c for c in found if scores.score_of(c) * scores.as_good <= lowest]
    return min(good, key=lambda c: (c.width, scores.score_of(c)), default=None)


def _grown_to(plan: Plan, rows: Rows) -> int:
    """Return how many neurons to grow: few rows do not support many."""
    most, settings = plan.limits.max_neurons, plan.settings
    if plan.takes_last:
        return most
    supported = int(len(rows) / settings.ladder.rows_per_input)
    return min(most, max(settings.logistic.first_stage, supported))


def ridges_for(rows: Rows, settings: LogisticSettings) -> Float64:
    """Return the ridges to try, with smaller ones if rare classes make the loss small.

    A network can lower the loss by at most the entropy of the classes. If that is less than a bit,
    the ridges start lower by the same factor, in whole steps: with larger ones, neurons that lower
    a small loss would vanish as they grow.
    """
    shares = np.average(rows.Y, axis=0, weights=rows.weights)
    if len(shares) == 1:
        shares = np.append(shares, 1 - shares)
    shares = shares[shares > 0]
    bits = -float(np.sum(shares * np.log2(shares)))
    ridges = np.array(settings.ridges)
    step = ridges[1] / ridges[0]
    n_smaller = min(6, int(-np.log(bits) / np.log(step))) if 0 < bits < 1 else 0
    return np.concatenate([ridges[0] * step ** np.arange(-n_smaller, 0.0), ridges])


def lowest_between(found: Mapping[float, float]) -> float:
    """Return the ridge with the smallest loss on a smooth curve.

    The minimum of the parabola through the smallest loss and its neighbours, over the logarithm of
    the ridge; at either end, the ridge itself.
    """
    ridges = sorted(found)
    best = min(range(len(ridges)), key=lambda i: found[ridges[i]])
    if not 0 < best < len(ridges) - 1:
        return ridges[best]
    before, at, after = (found[ridge] for ridge in ridges[best - 1 : best + 2])
    bend = before - 2.0 * at + after
    shift = 0.5 * (before - after) / bend if bend > 0 else 0.0
    if not shift:
        return ridges[best]
    step = ridges[best + 1] / ridges[best] if shift > 0 else ridges[best] / ridges[best - 1]
    return float(ridges[best] * step**shift)
