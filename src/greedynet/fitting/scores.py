"""`CandidateScores`: predictions of all candidates on held-out rows, and the choice between them.

Formulas such as generalised cross-validation do not know what the search over directions cost; rows
that were held out do. The candidate with the smallest score wins, and near-ties go to the simpler
one, so that no step makes the result worse than a simpler one by more than the noise of the score.
"""

from collections.abc import Sequence

import numpy as np

from greedynet.fitting.measures import Measure
from greedynet.fitting.plan import Plan, Select
from greedynet.model.bounds import REACHES
from greedynet.model.candidate import LINE, ONE_LAYER, RAMPS, Candidate, single_networks
from greedynet.support.types import Float64

# With so many times the rows of a sample, more neurons are supported than the sample supports; a
# wider network is then taken within this factor of the error.
MANY_MORE, WIDER_WITHIN = 4, 0.98
# A box that reaches beyond the training rows must lower the error on held-out rows by this factor.
FARTHER_BELOW = 0.98
# Relative errors on training and on held-out rows below which a candidate is the law behind them.
REPRODUCED, PREDICTED = 1e-7, 1e-3


class CandidateScores:
    """Candidates in the order in which they were tried, their predictions, and the scores of these.

    Attributes
    ----------
    by_box : list of lists of ndarray
        Predictions on the held-out rows of all folds, in original units, within the bounds, with
        inputs clipped to boxes of each of `REACHES`.
    training_errors : list of float
        Relative errors on the training rows of the first fold.
    as_good : float
        A smaller network wins within this factor of the smallest score. Of networks as grown, the
        best is taken, as in the paper.
    """

    def __init__(self, measure: Measure, plan: Plan) -> None:
        self.measure, self._plan, self._settings = measure, plan, plan.settings
        self.as_good = plan.settings.ladder.as_good if plan.correct else 1.0
        self._least = min(plan.limits.tol, 1.0) ** 2
        self.candidates: list[Candidate] = []
        self.by_box: list[list[Float64]] = []
        self.scores: list[float] = []
        self.training_errors: list[float] = []

    def add(
        self, candidate: Candidate, by_box: Sequence[Sequence[Float64]], training_error: float
    ) -> None:
        """Add a candidate, with predictions fold by fold, for boxes of each of `REACHES`."""
        self.candidates.append(candidate)
        self.by_box.append(self._joined(by_box))
        self.scores.append(self._score(self.by_box[-1]))
        self.training_errors.append(training_error)

    def replace(
        self, candidate: Candidate, by_box: Sequence[Sequence[Float64]], training_error: float
    ) -> None:
        """Replace what is known of a candidate, as for `add`."""
        at = self.candidates.index(candidate)
        self.by_box[at], self.training_errors[at] = self._joined(by_box), training_error
        self.scores[at] = self._score(self.by_box[at])

    def improves(self, candidate: Candidate, by_box: Sequence[Sequence[Float64]]) -> bool:
        """Whether other networks have a better score than those of a candidate."""
        return self._score(self._joined(by_box)) < self.score_of(candidate)

    def _joined(self, by_box: Sequence[Sequence[Float64]]) -> list[Float64]:
        """Return predictions of all folds within the bounds."""
        joined, bounds = map(np.concatenate, by_box), self._plan.bounds
        return [found if bounds is None else bounds.apply(found) for found in joined]

    def _score(self, by_box: Sequence[Float64]) -> float:
        """Return the score by which candidates are compared, with inputs clipped to a wide box.

        With errors that are only those of a clip, all good ones would be the same; but what
        explodes beyond its rows is clipped earlier. Errors below the tolerance are all the same.
        """
        return max(min(map(self.measure.score, by_box[1:])), self._least)

    def of(self, candidate: Candidate) -> Float64:
        """Return the predictions of a candidate."""
        return self.by_box[self.candidates.index(candidate)][1]

    def reach_of(self, candidate: Candidate) -> float:
        """Return how far the box of a candidate reaches beyond the training rows.

        Farther than these only if held-out rows outside are clearly better predicted without a
        clip. New rows lie farther out than those held out: a line that is better at all has no box,
        and neither has a law that was found exactly. It fails where few rows lie outside: the box
        is then that of the training rows.
        """
        scores = list(map(self.measure.score, self.by_box[self.candidates.index(candidate)]))
        if self.is_exact(candidate):
            return REACHES[-1]
        at = 0
        for i, score in enumerate(scores):
            if score < FARTHER_BELOW**self.measure.power * scores[at]:
                at = i
        return REACHES[-1] if at and candidate.width == 0 else REACHES[at]

    def predictions(self, reach: float) -> list[Float64]:
        """Return the predictions of all candidates with boxes of such a reach."""
        # Without a box, all are the same.
        at = REACHES.index(reach) if reach in REACHES else 0
        return [by_box[at] for by_box in self.by_box]

    def score_of(self, candidate: Candidate) -> float:
        """Return the score of a candidate."""
        return self.scores[self.candidates.index(candidate)]

    def best_logistic_regression(self) -> Candidate | None:
        """Return the best line with a ridge; None if there is none, as where nothing is a class."""
        lines = [c for c in self.candidates if c.kind == LINE and c.form == ONE_LAYER]
        return min((c for c in lines if c.ridge is not None), key=self.score_of, default=None)

    def is_exact(self, candidate: Candidate) -> bool:
        """Whether a candidate reproduces its training rows, and predicts those held out."""
        below = self.score_of(candidate) <= PREDICTED**self.measure.power
        return below and self.training_error_of(candidate) <= REPRODUCED

    def training_error_of(self, candidate: Candidate) -> float:
        """Return the training error of a candidate on the first fold."""
        return self.training_errors[self.candidates.index(candidate)]

    def stops(
        self, form: str, n_inputs: int, n_supported: float, patience: int | None = None
    ) -> bool:
        """Whether the last networks of a form did not improve clearly on the best one before.

        With more neurons than `n_supported`, a network has more parameters than there are rows, and
        the first one that is not better ends the search.
        """
        settings = self._settings.ladder
        patience = settings.patience if patience is None else patience
        lowest: dict[int, float] = {}
        for candidate, score in zip(self.candidates, self.scores, strict=True):
            if candidate.form == form or candidate.is_constant:
                width = candidate.width
                lowest[width] = min(score, lowest.get(width, np.inf))
        best, since_best, width, best_width = np.inf, 0, 0, 0
        for width in sorted(lowest):
            if lowest[width] < settings.clearly_better * best:
                best, since_best, best_width = lowest[width], 0, width
            else:
                since_best += 1
        if width > n_supported:
            return since_best > 0
        return since_best >= patience and width >= settings.min_width(n_inputs, best_width)

    def choice(self, times_rows: float) -> Candidate:
        """Return the candidate that is the result, where there are so many times the rows tried.

        Many more rows than a sample support more neurons than it does: the widest network is taken
        that ties with the choice. It fails where the sample is as good as all rows: the network is
        then wider than it need be.
        """
        chosen = self.best(self._plan.choice)
        if times_rows < MANY_MORE or self._plan.choice != "best":
            return chosen
        if not chosen.width or chosen.n_networks > 1:
            return chosen
        most = self.score_of(chosen) / WIDER_WITHIN**self.measure.power
        wide = [
            c
            for c in single_networks(self.candidates, chosen.form)
            if c.width >= chosen.width and self.score_of(c) <= most
        ]
        return max(wide, key=lambda c: c.width, default=chosen)

    def best(self, select: Select = "best", form: str | None = None) -> Candidate:
        """Return the best candidate, or a simpler one, among all or among those of a form.

        "best": the best one, or a simpler one that ties with it. "1se": the simplest within one
        standard error of the best. A share such as 0.05: the simplest with an error within 5 % of
        it. "last": the widest network.
        """
        forms = list(dict.fromkeys(c.form for c in self.candidates if not c.is_constant))
        if form is not None or len(forms) < 2:
            return self.candidates[self._best_of(select, form)]
        chosen = self._best_of(select, forms[0])
        for other in forms[1:]:
            rival = self._best_of(select, other)
            if self._is_clearly_better(rival, chosen):
                chosen = rival
        return self.candidates[chosen]

    def _best_of(self, select: Select, form: str | None) -> int:
        """Return the position of the choice among the candidates of a form."""
        among = [
            i
            for i, c in enumerate(self.candidates)
            if form is None or c.form == form or c.is_constant
        ]
        if (self._plan.n_networks or 1) > 1:
            asked = [i for i in among if self.candidates[i].n_networks == self._plan.n_networks]
            among = asked or among
        if select == "last":
            return self._last(among)
        lowest = min(among, key=self.scores.__getitem__)
        by_size = sorted(among, key=self._size)
        return next(i for i in by_size if i == lowest or self._is_chosen(i, lowest, select))

    def _size(self, i: int) -> tuple[int, bool, float]:
        """Return a key that orders candidates by size; of the same size, the best comes first."""
        candidate = self.candidates[i]
        return candidate.n_neurons, not candidate.is_constant, self.scores[i]

    def _last(self, among: Sequence[int]) -> int:
        """Return the widest network, pruned to its width or not, whichever is better.

        Without neurons, a line is wider than a constant.
        """
        width = max(self.candidates[i].n_neurons for i in among)
        widest = [i for i in among if self.candidates[i].n_neurons == width]
        return min(widest, key=lambda i: (self.candidates[i].is_constant, self.scores[i]))

    def _is_chosen(self, i: int, lowest: int, select: Select) -> bool:
        """Whether a candidate is chosen before a better one that is less simple."""
        score, best = self.scores[i], self.scores[lowest]
        if select == "best":
            return self._ties(i, lowest)
        if select == "1se":
            return score <= best + self.measure.standard_error(self._losses(lowest))
        # Beyond any error, a larger share is none.
        return score <= (1.0 + min(float(select), 1e100)) ** self.measure.power * best

    def _ties(self, i: int, lowest: int) -> bool:
        """Whether a simple candidate is about as good as the best one.

        A smaller network ties within a share of its error. What has no neurons varies less with the
        rows: it ties within the noise of the score.
        """
        if self.candidates[i].n_neurons:
            return self.scores[i] <= self.scores[lowest] / self.as_good
        more = self._losses(i) - self._losses(lowest)
        near = self._settings.ladder.near_tie * self.measure.standard_error(more)
        return self.measure.mean(more) <= near or self.scores[i] <= self.scores[lowest]

    def _is_clearly_better(self, i: int, other: int) -> bool:
        """Whether a candidate of a less simple form is clearly better than the best so far."""
        # Neurons that level off are no less simple than others.
        is_simple = self.candidates[i].form == RAMPS
        clearly = 1.0 if is_simple else self._settings.depth.clearly_better**self.measure.power
        if self.scores[i] >= clearly * self.scores[other]:
            return False
        if self.measure.power > 1:
            return True
        less = self._losses(other) - self._losses(i)
        return self.measure.mean(less) > self.measure.standard_error(less)

    def _losses(self, i: int) -> Float64:
        return self.measure.losses(min(self.by_box[i][1:], key=self.measure.score))
