"""Which candidates a climb tries, the simplest first, and when wider ones are not tried any more.

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
from greedynet.fitting.measures import Measure
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
            yield from _averages(scores, chosen, rows, plan)


def _by_width(scores: CandidateScores, form: Form, rows: Rows, plan: Plan) -> Iterator[Candidate]:
    """Yield networks of increasing width, until wider ones do not help."""
    most, d = form.plan(plan).limits.max_neurons, form.n_inputs(rows.n_features)
    settings = plan.settings.ladder
    widths = widths_up_to(most, settings.growth)
    n_supported, allowed = rows.n_independent / (d + 2), _allowed_work(scores, form, rows, plan)
    # Single rows decide the largest error: what wide networks gain shows later.
    patience = (2 if singles_out_rows(plan.loss) else 1) * settings.patience
    for i, width in enumerate(widths):
        if _work(len(rows), d, widths[: i + 1]) > allowed:
            return
        yield Candidate(NETWORK, width, form=form.name)
        if scores.training_errors[-1] <= max(plan.limits.tol, ZERO_RESIDUAL) and plan.takes_last:
            return
        if not plan.takes_last and scores.stops(form.name, d, n_supported, patience):
            return


def _allowed_work(scores: CandidateScores, form: Form, rows: Rows, plan: Plan) -> float:
    """Return how much work networks of a form may take, beside those of one layer."""
    first = single_networks(scores.candidates, ONE_LAYER)
    if form.name in (ONE_LAYER, CLIPPED) or not first or plan.takes_last:
        return np.inf
    settings = plan.settings.depth
    taken = _work(len(rows), rows.n_features, [c.width for c in first])
    return max(settings.least_work, settings.times_work * taken)


def _averages(
    scores: CandidateScores, chosen: Candidate, rows: Rows, plan: Plan
) -> Iterator[Candidate]:
    """Yield averages of networks of the chosen width, and of wider ones while these help.

    An average varies less than a single network, and so it may be wider.
    """
    settings, asked = plan.settings.ladder, plan.n_networks
    if asked == 1 or rows.n_features == 1 or chosen.n_networks > 1:
        return  # with one input, two networks would be the same
    least, most = settings.rows_averaged
    if asked is None and (not least <= len(rows) <= most or plan.takes_last):
        return
    most = plan.limits.max_neurons
    if plan.takes_last:
        assert asked is not None
        yield replace(chosen, width=most // asked, n_networks=asked)
        return
    grown = sorted(c.width for c in single_networks(scores.candidates, chosen.form))
    if asked is not None:
        for width in [width for width in grown if asked * width <= most]:
            yield replace(chosen, width=width, n_networks=asked)
        return
    # Four vary less than two, but where nodes are few, two may be wide enough and four are not.
    widest = max((width for width in grown if 4 * width <= most), default=0)
    n = 4 if 2 * widest >= chosen.width else 2
    possible = [width for width in grown if n * width <= most]
    wide = [width for width in possible if width >= chosen.width]
    for width in (wide or possible[-1:])[: settings.n_averaged]:
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


def _work(n_rows: int, n_features: int, widths: Sequence[int]) -> float:
    """Return the number of multiplications in a step of the corrections of each width."""
    sizes = [width * (n_features + 1) for width in widths]
    return float(sum(n_rows * size * min(size, MAX_BLOCK) for size in sizes))


# Classification


@dataclass(frozen=True)
class Blend(Candidate):
    """A mixture of class shares, a logistic regression and a network.

    Attributes
    ----------
    line, network : Candidate or None
        What is mixed.
    a, b : float
        Their weights.
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
        # For a given ridge, the weight is all on one of them.
        n_steps = plan.settings.logistic.n_blends if plan.alpha is None else 1
        yield from _blends(scores, form, n_steps)


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
    begin = GROWN_WITH
    yield float(ridges[begin])
    for ahead in (1, -1):
        i, since = begin, 0
        while 0 <= i + ahead < len(ridges) and since < settings.patience:
            i += ahead
            yield float(ridges[i])
            since = 0 if found[float(ridges[i])] <= min(found.values()) else since + 1
        if min(found, key=found.__getitem__) > ridges[begin]:
            return


def _blends(scores: CandidateScores, form: Form, n_steps: int) -> Iterator[Candidate]:
    """Yield the best mixture of shares and regression, and the best of all three."""
    shares = scores.of(next(c for c in scores.candidates if c.kind == SHARES))
    line, network = _best(scores, form, LINE), _best(scores, form, NETWORK)
    assert line is not None
    for part in (None,) if network is None else (None, network):
        other = shares if part is None else scores.of(part)
        n_network = 0 if part is None else n_steps
        a, b = _best_weights(scores.measure, shares, scores.of(line), other, n_steps, n_network)
        if 1.0 in (a, b) or a == b == 0.0:
            continue  # one of them alone
        width, ridge = (0, line.ridge) if part is None else (part.width, part.ridge)
        yield Blend(BLEND, width, form=form.name, ridge=ridge, line=line, network=part, a=a, b=b)


def _best(scores: CandidateScores, form: Form, kind: str) -> Candidate | None:
    """Return the best candidate of a kind, or the narrowest that is about as good."""
    found = [
        (score, c)
        for c, score in zip(scores.candidates, scores.scores, strict=True)
        if c.kind == kind and c.form == form.name
    ]
    if not found:
        return None
    lowest = min(score for score, _ in found)
    good = [(c.width, score, c) for score, c in found if score * scores.as_good <= lowest]
    return min(good, key=lambda row: row[:2])[2]


def _best_weights(
    measure: Measure,
    shares: Float64,
    line: Float64,
    network: Float64,
    n_steps: int,
    n_network: int,
) -> tuple[float, float]:
    """Return the weights `a` and `b` of the best blend, in steps from 0 to 1."""
    n = n_steps
    pairs = [(i / n, j / n) for j in range(n_network + 1) for i in range(n + 1 - j)]

    def score(pair: tuple[float, float]) -> float:
        a, b = pair
        return measure.score(shares + a * (line - shares) + b * (network - shares))

    return min(pairs, key=score)


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
    n_smaller = int(-np.log(bits) / np.log(step)) if 0 < bits < 1 else 0
    n_smaller = min(n_smaller, settings.most_smaller)
    return np.concatenate([ridges[0] * step ** np.arange(-n_smaller, 0.0), ridges])


def lowest_between(found: Mapping[float, float]) -> float:
    """Return the ridge with the smallest loss on a smooth curve.

    The minimum of the parabola through the smallest loss and its neighbours, over the logarithm of
    the ridge; at either end, the ridge itself.
    """
    ridges = np.array(sorted(found))
    losses = np.array([found[ridge] for ridge in ridges.tolist()])
    best = int(np.argmin(losses))
    if not 0 < best < len(ridges) - 1:
        return float(ridges[best])
    before, at, after = losses[best - 1 : best + 2]
    bend = before - 2.0 * at + after
    if not bend > 0:
        return float(ridges[best])
    shift = 0.5 * (before - after) / bend
    step = ridges[best + 1] / ridges[best] if shift > 0 else ridges[best] / ridges[best - 1]
    return float(ridges[best] * step**shift) if shift else float(ridges[best])
