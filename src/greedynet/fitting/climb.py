"""The climb: candidates from simple to wide, each scored on rows that it has not seen.

    for candidate in candidates:                  # the mean, a line, widths, averages, two layers
        for fold in folds: fold.advance(candidate)                     # grow, then correct
        scores.add(candidate, predictions of held-out rows);  stop if wider ones do not help
    chosen = scores.choice()

Every candidate keeps its network on every fold, and its predictions. A fit that was interrupted
goes on after the last candidate.
"""

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from greedynet.fitting.forms import Form, forms_of
from greedynet.fitting.growth import Growth, State
from greedynet.fitting.objective import Objective
from greedynet.fitting.plan import Plan
from greedynet.fitting.scores import CandidateScores
from greedynet.fitting.split import Folds
from greedynet.model.bounds import REACHES, widened
from greedynet.model.candidate import Candidate
from greedynet.model.network import Network
from greedynet.rows.rows import Rows
from greedynet.rows.splitting import Split
from greedynet.support.context import FOR_CHOICE, FitContext
from greedynet.support.phrases import plural
from greedynet.support.threads import Pool
from greedynet.support.types import Float64

# (network so far, its training error, its number of nodes) -> whether to stop
OnStep = Callable[[Callable[[], Network], float, int], bool]


@dataclass(frozen=True, eq=False)
class Climb:
    """All candidates of a fit, their networks on the folds, and their scores.

    The plan is that by which they were fitted: after a second climb, for rows that are not rounded.
    Seconds are from the start to the end of each candidate.
    """

    plan: Plan
    scores: CandidateScores
    fits: list["FoldFit"]
    chosen: Candidate
    seconds: list[float]
    is_stopped: bool = False


def climb(
    folds: Folds,
    plan: Plan,
    objective: Objective,
    context: FitContext,
    on_step: OnStep | None = None,
) -> Climb:
    """Fit candidates on all folds, until wider ones do not help, and choose one.

    The journal of the context has the candidates of an earlier run. The climb ends if `on_step`
    returns True; see `construct`.
    """
    found = _climb(folds, plan, objective, context.until(FOR_CHOICE), on_step)
    # Rows that are reproduced deserve all their digits: on rounded ones, scores measure rounding.
    if plan.rounds and found.scores.is_exact(found.chosen):
        return _climb(folds, replace(plan, rounded=False), objective, context.until(FOR_CHOICE))
    return found


def _climb(
    folds: Folds,
    plan: Plan,
    objective: Objective,
    context: FitContext,
    on_step: OnStep | None = None,
) -> Climb:
    forms, alone = forms_of(folds, plan), context.single_threaded()
    # A single fold has all threads; several have one each.
    of_fold = context if len(folds.splits) == 1 else alone
    fits = [FoldFit(split, objective, forms, plan, of_fold) for split in folds.splits]
    held, train = [held for _, held in folds.splits], folds.splits[0][0]
    # Rows may be held out several times, but count once in standard errors.
    n_rows = min(sum(map(len, held)), len(held[0]) + len(train))
    scores = CandidateScores(objective.measure(held, n_rows, plan), plan)
    start, needed, seconds, is_stopped = time.monotonic(), 0.0, list[float](), False
    for candidate in objective.candidates(scores, forms, train, plan):
        context.check()
        if scores.candidates and context.clock.is_over(needed):
            break
        what = f" of {plural(candidate.n_neurons, 'neuron')}" if candidate.n_neurons else ""
        context.tell(f"{candidate}{what} on {plural(len(fits), 'fold')}")
        before = time.monotonic()
        is_large = len(fits) > 1 and objective.is_large(candidate, train, plan)
        _add(candidate, fits, scores, (context if is_large else alone).pool, context)
        # A width takes longer than the last one, by about the square of the growth.
        needed = plan.settings.ladder.growth**2 * (time.monotonic() - before)
        seconds.append(time.monotonic() - start)
        if on_step is not None:
            is_stopped = on_step(*fits[0].progress(candidate, scores.training_errors[-1]))
            if is_stopped:
                break
    chosen = scores.choice(folds.n_all / len(folds.rows))
    return Climb(plan, scores, fits, chosen, seconds, is_stopped)


def _add(
    candidate: Candidate,
    fits: Sequence["FoldFit"],
    scores: CandidateScores,
    pool: Pool,
    context: FitContext,
) -> None:
    """Fit a candidate on all folds, or recall it from a checkpoint, and add its scores."""
    known = context.journal.known()
    if known is None:
        known = pool.map(lambda fit: fit.recorded(candidate), fits)
        context.journal.note(known)
    else:
        for fit, (_, _, states) in zip(fits, known, strict=True):
            fit.recall(candidate, states)
    by_box = [list(of_box) for of_box in zip(*(of_fold[0] for of_fold in known), strict=True)]
    scores.add(candidate, by_box, float(known[0][1]))


class FoldFit:
    """The candidates of one fold, given as training and held-out rows in original units."""

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
        boxes = [widened(shown, reach) for reach in reaches]
        self._held = _distinct(
            [held if box is None else replace(held, X=np.clip(held.X, *box)) for box in boxes]
        )
        self._objective, self._plan, self._context = objective, plan, context
        self.forms = {form.name: form for form in forms}
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
        form = self.forms[candidate.form]
        if form.name not in self._rows:
            self._rows[form.name] = _once(form.rows, self._held)
        growth = self.growth(candidate)
        return _once(lambda rows: growth.predict(states, rows), self._rows[form.name])

    def states(self, candidate: Candidate) -> list[State]:
        """Return the networks whose mean is a candidate."""
        single = replace(candidate, n_networks=1)
        return [self._state(single, turn) for turn in range(candidate.n_networks)]

    def growth(self, candidate: Candidate, turn: int = 0) -> Growth:
        """Return the growth to which a candidate belongs."""
        key = candidate.form, turn
        if key not in self._growths:
            form = self.forms[candidate.form]
            self._growths[key] = self._objective.begin(
                self.train, form, self._plan, self._context, turn=turn
            )
            self._known[key] = {}
        return self._growths[key]

    def _state(self, candidate: Candidate, turn: int) -> State:
        growth, known = self.growth(candidate, turn), self._known[candidate.form, turn]
        if turn:
            # A network of another turn grows through the same widths.
            for before in self._known[candidate.form, 0]:
                if 0 < before.width < candidate.width and not before.pruned:
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

    def recorded(self, candidate: Candidate) -> list[Any]:
        """Fit a candidate, and return predictions, training error and new states, to be kept."""
        self._new = []
        predictions = self.advance(candidate)
        error = self.growth(candidate).training_error(self.states(candidate))
        return [predictions, error, self._new]

    def recall(self, candidate: Candidate, states: list[Any]) -> None:
        """Restore what an earlier run has recorded of a candidate."""
        self._recorded = list(states)
        self.states(candidate)

    def progress(
        self, candidate: Candidate, error: float
    ) -> tuple[Callable[[], Network], float, int]:
        """Return what `on_step` is called with after a candidate."""
        growth, form = self.growth(candidate), self.forms[candidate.form]
        n_affine = 2 if growth.problem.plan.linear_term else 0
        n_nodes = candidate.n_neurons + form.n_hinges + n_affine
        return lambda: form.network(growth.network(self.states(candidate))), error, n_nodes


def _distinct(held: list[Rows]) -> list[Rows]:
    """Return the same object for rows that boxes do not distinguish: they are predicted once."""
    for i in range(len(held) - 1, 0, -1):
        if np.array_equal(held[i].X, held[i - 1].X):
            held[i - 1] = held[i]
    return held


def _once(function: Callable[[Rows], Any], held: Sequence[Rows]) -> list[Any]:
    """Return a function of each of some rows, of the same ones the same object."""
    found = {id(rows): function(rows) for rows in {id(rows): rows for rows in held}.values()}
    return [found[id(rows)] for rows in held]
