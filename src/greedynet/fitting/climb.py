"""The climb: candidates from simple to wide, each scored on rows that it has not seen.

    for candidate in candidates:                  # the mean, a line, widths, averages, two layers
        for fold in folds: fold.advance(candidate)                     # grow, then correct
        scores.add(candidate, predictions of held-out rows);  stop if wider ones do not help

Every candidate keeps its network on every fold, and its predictions. A fit that was interrupted
goes on after the last candidate.
"""

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from greedynet.fitting.forms import Form
from greedynet.fitting.objective import Growth, Objective, State
from greedynet.fitting.plan import Plan
from greedynet.fitting.scores import CandidateScores
from greedynet.fitting.split import Folds
from greedynet.model.bounds import REACHES, widened
from greedynet.model.candidate import Candidate
from greedynet.model.network import Network
from greedynet.rows.rows import Rows
from greedynet.rows.splitting import Split, counted
from greedynet.support.context import FitContext
from greedynet.support.phrases import plural
from greedynet.support.types import Float64

# (network so far, its training error, its number of nodes) -> whether to stop
OnStep = Callable[[Callable[[], Network], float, int], bool]
# What a checkpoint keeps of a candidate on a fold: predictions, training error, and new states.
_Record = list[Any]


class FoldFit:
    """The candidates of one fold.

    Parameters
    ----------
    split : pair of Rows
        Training and held-out rows, in original units.
    """

    def __init__(
        self,
        split: Split,
        objective: Objective,
        forms: Sequence[Form],
        plan: Plan,
        context: FitContext,
    ) -> None:
        self.train, held = split
        reaches = [np.inf] * len(REACHES) if plan.extrapolate else REACHES
        shown = np.array([self.train.X.min(axis=0), self.train.X.max(axis=0)], np.float64)
        self._held = _distinct([_clipped(held, widened(shown, reach)) for reach in reaches])
        self._objective, self._plan, self._context = objective, plan, context
        self._forms = {form.name: form for form in forms}
        self._rows: dict[str, list[Rows]] = {}
        self._growths: dict[tuple[str, int], Growth] = {}
        self._known: dict[tuple[str, int], dict[Candidate, State]] = {}
        self._new: list[Any] = []
        self._recorded: list[Any] = []

    def advance(self, candidate: Candidate) -> list[Float64]:
        """Fit a candidate, and return its predictions of the held-out rows, for each box."""
        return self.predict(candidate, self.states(candidate))

    def predict(self, candidate: Candidate, states: Sequence[State]) -> list[Float64]:
        """Return predictions of the held-out rows by networks of a candidate, for each box."""
        growth, held_out = self.growth(candidate), self._held_out(candidate)
        distinct = {id(rows): rows for rows in held_out}
        found = {key: growth.predict(states, rows) for key, rows in distinct.items()}
        return [found[id(rows)] for rows in held_out]

    def states(self, candidate: Candidate) -> list[State]:
        """Return the networks whose mean is a candidate."""
        single = replace(candidate, n_networks=1)
        return [self._state(single, turn) for turn in range(candidate.n_networks)]

    def growth(self, candidate: Candidate, turn: int = 0) -> Growth:
        """Return the growth to which a candidate belongs."""
        key = candidate.form, turn
        if key not in self._growths:
            form = self._forms[candidate.form]
            self._growths[key] = self._objective.begin(
                self.train, form, self._plan, self._context, turn=turn
            )
            self._known[key] = {}
        return self._growths[key]

    def _state(self, candidate: Candidate, turn: int) -> State:
        growth, key = self.growth(candidate, turn), (candidate.form, turn)
        known = self._known[key]
        if turn:
            # A network of another turn grows through the same widths.
            for before in self._known[candidate.form, 0]:
                if before.width < candidate.width and not before.pruned and before.width:
                    self._fit(growth, before, known)
        return self._fit(growth, candidate, known)

    def _fit(self, growth: Growth, candidate: Candidate, known: dict[Candidate, State]) -> State:
        """Return a candidate of a growth, from a checkpoint if it is there."""
        if candidate not in known:
            if self._recorded:
                known[candidate] = growth.unpacked(self._recorded.pop(0))
            else:
                known[candidate] = growth.fitted(candidate, known)
            self._new.append(growth.packed(known[candidate]))
        return known[candidate]

    def recorded(self, candidate: Candidate) -> _Record:
        """Fit a candidate, and return predictions and all that is new, for a checkpoint."""
        self._new = []
        predictions = self.advance(candidate)
        error = self.growth(candidate).training_error(self.states(candidate))
        return [predictions, error, self._new]

    def recall(self, candidate: Candidate, states: list[Any]) -> None:
        """Restore what an earlier run has recorded of a candidate."""
        self._recorded = list(states)
        self.states(candidate)

    def _held_out(self, candidate: Candidate) -> list[Rows]:
        if candidate.form not in self._rows:
            form = self._forms[candidate.form]
            distinct = {id(rows): rows for rows in self._held}
            lifted = {key: form.rows(rows) for key, rows in distinct.items()}
            self._rows[candidate.form] = [lifted[id(rows)] for rows in self._held]
        return self._rows[candidate.form]


def _clipped(rows: Rows, box: Float64 | None) -> Rows:
    return rows if box is None else replace(rows, X=np.clip(rows.X, *box))


def _distinct(held: list[Rows]) -> list[Rows]:
    """Return the same object for rows that boxes do not distinguish: they are predicted once."""
    for i in range(len(held) - 1, 0, -1):
        if np.array_equal(held[i].X, held[i - 1].X):
            held[i - 1] = held[i]
    return held


@dataclass(frozen=True, eq=False)
class Climb:
    """All candidates of a fit, their networks on the folds, and their scores.

    Attributes
    ----------
    forms : dict
        By name.
    seconds : list of float
        Time from the start to the end of each candidate.
    is_stopped : bool
        Whether the user ended it.
    """

    scores: CandidateScores
    fits: list[FoldFit]
    forms: dict[str, Form]
    seconds: list[float]
    is_stopped: bool

    def replaced(
        self, candidate: Candidate, states: Sequence[State], *, only_if_better: bool
    ) -> bool:
        """Take other networks for a candidate of a single fold; whether they were taken."""
        (fit,) = self.fits
        by_box = [[of_box] for of_box in fit.predict(candidate, states)]
        error = fit.growth(candidate).training_error(states)
        return self.scores.replaced(candidate, by_box, error, only_if_better=only_if_better)


def climb(
    folds: Folds,
    plan: Plan,
    objective: Objective,
    forms: Sequence[Form],
    context: FitContext,
    on_step: OnStep | None = None,
) -> Climb:
    """Fit candidates on all folds, until wider ones do not help.

    Parameters
    ----------
    forms : sequence of Form
        Forms of networks to try.
    context : FitContext
        Its journal has the candidates of an earlier run.
    on_step : callable or None
        Called after each candidate with a function that returns the network so far, its training
        error and its number of nodes; the climb ends if it returns True.
    """
    alone = context.single_threaded()
    # A single fold has all threads; several have one each.
    of_fold = context if len(folds.splits) == 1 else alone
    fits = [FoldFit(split, objective, forms, plan, of_fold) for split in folds.splits]
    held = [held for _, held in folds.splits]
    train = folds.splits[0][0]
    # Rows may be held out several times, but count once in standard errors.
    n_rows = min(sum(map(len, held)), len(held[0]) + len(train))
    scores = CandidateScores(objective.measure(held, n_rows, plan), plan, objective.as_good(plan))
    found = Climb(scores, fits, {form.name: form for form in forms}, [], False)
    start, needed = time.monotonic(), 0.0
    for candidate in objective.candidates(scores, forms, train, plan):
        context.check()
        if scores.candidates and context.clock.is_over(needed):
            break
        _tell(candidate, len(fits), context)
        before = time.monotonic()
        is_large = len(fits) > 1 and objective.is_large(candidate, train, plan)
        pool = context.pool if is_large else alone.pool
        _add(candidate, found, pool.map, context)
        # A width takes longer than the last one, by about the square of the growth.
        needed = plan.settings.ladder.growth**2 * (time.monotonic() - before)
        found.seconds.append(time.monotonic() - start)
        if on_step is not None and _is_stopped(candidate, found, on_step):
            return replace(found, is_stopped=True)
    return found


def _add(
    candidate: Candidate, found: Climb, over: Callable[..., list[Any]], context: FitContext
) -> None:
    """Fit a candidate on all folds, or recall it from a checkpoint, and add its scores."""
    known = context.journal.known()
    if known is None:
        known = over(lambda fit: fit.recorded(candidate), found.fits)
        context.journal.note(known)
    else:
        for fit, (_, _, states) in zip(found.fits, known, strict=True):
            fit.recall(candidate, states)
    by_box = [list(of_box) for of_box in zip(*(of_fold[0] for of_fold in known), strict=True)]
    found.scores.add(candidate, by_box, float(known[0][1]))


def _tell(candidate: Candidate, n_folds: int, context: FitContext) -> None:
    what = str(candidate)
    if candidate.n_neurons:
        what = f"{what} of {plural(candidate.n_neurons, 'neuron')}"
    context.tell(f"{what} on {counted(n_folds)}")


def _is_stopped(candidate: Candidate, found: Climb, on_step: OnStep) -> bool:
    """Report a candidate; whether the user ends the climb."""
    fit, form = found.fits[0], found.forms[candidate.form]
    growth = fit.growth(candidate)

    def network() -> Network:
        return form.network(growth.network(fit.states(candidate)))

    n_affine = 2 if growth.problem.plan.linear_term else 0
    n_nodes = candidate.n_neurons + form.n_hinges + n_affine
    return on_step(network, found.scores.training_errors[-1], n_nodes)
