"""`LogLoss`: classification, with logits that share one hidden layer.

Ridge and width are chosen first, by a ladder of candidates on folds. Then neurons are added one by
one, each the best for `y - p`, the residual of the current logistic model, and all weights are
corrected jointly.
"""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from greedynet.correction.log_loss_descent import Weights
from greedynet.fitting.growth import Growth
from greedynet.fitting.limits import Limits
from greedynet.fitting.make_search import dependent, input_scaling
from greedynet.fitting.objective import Decision, Finished, Objective
from greedynet.fitting.objectives.class_blend import Rung, blended, shares_weights
from greedynet.fitting.objectives.class_held_out import standard_errors_below
from greedynet.fitting.objectives.class_ladder import Ladder
from greedynet.fitting.objectives.class_stages import grown_weights, staged_weights
from greedynet.fitting.objectives.trials import Part, Trials
from greedynet.fitting.plan import Plan, TrainingData
from greedynet.fitting.problem import Problem
from greedynet.fitting.scores import Akaike, HeldOutLogLoss, Judge, neuron_cost
from greedynet.losses.logistic import RIDGE, Logistic, LogisticFactor, log_loss
from greedynet.model.any_network import with_bounds
from greedynet.model.coordinates import Coordinates, check_weights_exist
from greedynet.model.network import ShallowNetwork
from greedynet.model.path import ShallowPath
from greedynet.model.shaped import in_shape
from greedynet.model.stop_reason import StopReason
from greedynet.model.uncertainty.evidence import Unseen
from greedynet.rows.blocks import Blocks
from greedynet.rows.classes import class_numbers
from greedynet.rows.rare_classes import ClassSamples, at_most
from greedynet.rows.rows import Rows
from greedynet.rows.sampling import Sampling
from greedynet.rows.scaling import InputScaling, OutputScaling
from greedynet.rows.splitting import Split, n_copies, n_of_others, stratified_folds
from greedynet.support.clock import FOR_CHOICE, FOR_GROWTH
from greedynet.support.context import FitContext
from greedynet.support.types import Float64


class LogLoss(Objective):
    """The mean log-loss; its errors are absolute, not relative."""

    def sampling(self, rows: Rows | Blocks, plan: Plan, held_out: float = 0.0) -> Sampling | None:
        """Return how rows are sampled, for any search: folds multiply the cost of rows."""
        return plan.sampling(rows, held_out)

    def samples(self, data: TrainingData, plan: Plan, context: FitContext) -> ClassSamples:
        """Return all rows, or samples that preserve rare classes."""
        return ClassSamples.of(data.rows, data.sampling, plan.random_state, context)

    def coordinates(self, rows: Rows, plan: Plan) -> Coordinates:
        """Return coordinates with scaled inputs and unscaled classes."""
        inputs = input_scaling(rows, plan)
        if plan.search != "dictionary":
            inputs = InputScaling.limiting_kurtosis(rows).in_canonical_columns(rows)
        t = rows.n_outputs
        outputs = OutputScaling(np.zeros(t), np.ones(t))
        return Coordinates.of(
            rows, inputs, linear_term=plan.linear_term, outputs=outputs, rounded=plan.rounds
        )

    def factor(self, rows: Rows, plan: Plan, context: FitContext) -> LogisticFactor:
        """Return the factor whose residual is `y - p`."""
        # If the network is not corrected, the requested ridge is the only one.
        own = RIDGE if plan.correct or plan.alpha is None else max(plan.alpha, 1e-8)
        loss = Logistic(own)
        return LogisticFactor(rows.Y, rows.weights, loss, dependent(plan), context.journal)

    def judge(self, problem: Problem) -> Judge | None:
        """Return validation, Akaike's criterion, or None if folds will choose the width."""
        plan, coordinates, rows = problem.plan, problem.coordinates, problem.rows
        held_out = problem.validation
        if held_out is not None:
            affine = coordinates.affine.evaluate(held_out.X)
            return HeldOutLogLoss(affine, held_out.Y, held_out.row_scale, bounds=plan.bounds)
        if plan.limits.exact or plan.correct or not plan.gcv:
            return None
        searched = neuron_cost(rows.n_features) - 1.0
        return Akaike(len(rows), coordinates.n_affine, rows.n_outputs, searched)

    def size(self, outputs: Float64, rows: Rows, problem: Problem) -> float:
        """Return the mean log-loss of logits."""
        return log_loss(outputs, rows.Y, rows.weights)

    def growth_limits(self, limits: Limits, plan: Plan) -> Limits:
        """Return the limits, without patience if folds will choose the width."""
        return replace(limits, patience=None) if plan.correct else limits

    def ridge(self, plan: Plan) -> float:
        """Return 0: the factor has its own ridge."""
        return 0.0

    def is_final(self, growth: Growth, path: ShallowPath) -> bool:
        """Whether there is nothing to correct; even a mere affine term has a ridge to choose."""
        return not growth.factor.size or growth.reason is StopReason.CALLBACK

    def decided(self, problem: Problem) -> Decision:
        """Choose by folds, each with a growth of its own; validation rows choose afterwards."""
        n_neurons = self._grown_to(problem)
        if not problem.is_corrected or problem.validation is not None:
            return Decision(n_neurons)
        context = problem.context.until(FOR_CHOICE)
        parts = self._parts(problem, n_neurons, context)
        ladder = self._ladder(problem, parts, context) if parts else None
        if ladder is None or self._n_judged(problem) < problem.settings.logistic.least_judged:
            return self._undecided(problem, ladder, n_neurons)
        rung = self._for_all_rows(ladder.decided(), problem, parts)
        if rung.n_neurons is not None:
            return rung
        if self._is_staged(problem):
            n_neurons = self._shown(problem, rung, n_neurons)
        return replace(rung, n_neurons=n_neurons)

    def _for_all_rows(self, rung: Rung, problem: Problem, parts: Sequence[Part]) -> Rung:
        """Return the networks of the folds as starts for all rows, and the ridges for them.

        More rows tell more, and the ridge is relative to the mean loss: it decreases with their
        number.
        """
        inputs = problem.coordinates.inputs
        starts = [part.carried(w, inputs) for part, w in zip(parts, rung.starts, strict=False)]
        if problem.plan.start is not None:
            starts = []  # the growth goes on from a network of all rows
        rung = replace(rung, starts=tuple(starts))
        if problem.plan.alpha is not None:
            return rung
        held = sum(len(part.held) for part in parts) / len(parts)
        kept = max(0.5, 1.0 - held / self._n_judged(problem))
        return replace(rung, ridge=kept * rung.ridge, line_ridge=kept * rung.line_ridge)

    def _shown(self, problem: Problem, rung: Rung, n_neurons: int) -> int:
        """Return how far the path shows the plain growth, on which nothing else depends."""
        kept = max((start.n_neurons for start in rung.starts), default=n_neurons)
        return min(kept, problem.settings.logistic.most_shown)

    def _undecided(self, problem: Problem, ladder: Ladder | None, n_neurons: int) -> Rung:
        """Return a logistic regression with a mild ridge, for a handful of rows."""
        plan = problem.plan
        ridge = 0.1 / len(problem.rows) if plan.alpha is None else plan.alpha
        if plan.limits.exact or not plan.linear_term:
            return Rung(n_neurons, ridge=ridge)
        if ladder is None:
            return Rung(0, line_ridge=ridge, line=1.0, network=0.0)
        return ladder.line(ridge)

    def standard_errors_below(self, unseen: Unseen | None, others: Unseen | None) -> float:
        """Return by how many standard errors log-losses are below others; 0 for other rows."""
        if unseen is None or others is None or not np.array_equal(unseen.Y, others.Y):
            return 0.0
        return standard_errors_below(unseen, others)

    def as_grown(self, problem: Problem, growth: Growth, path: ShallowPath) -> ShallowPath:
        """Return the path with the expected log-loss of the network that is kept."""
        if growth.reason is StopReason.CALLBACK:
            return path
        if path.scores is not None and path.validation_errors is not None:
            expected = float(path.scores[int(path.best_n_nodes - path.n_nodes[0])])
            held = problem.held_out
            if held is not None:
                path = path.with_unseen(Unseen.of(held, path.kept.predict(held.X)))
            return replace(path, expected_error=expected)
        unseen = self._on_folds(problem)
        if unseen is None:
            return replace(path, expected_error=None)
        expected = log_loss(unseen.predictions, unseen.Y, unseen.weights)
        return replace(path.with_unseen(unseen), expected_error=expected)

    def _on_folds(self, problem: Problem) -> Unseen | None:
        """Return the held-out logits of networks grown in the same way on folds."""
        folds, logits = self._folds(problem), []
        context = problem.context.branch("expected")
        for i, (train, held) in enumerate(folds):
            context.tell(f"expected error: fold {i + 1}")
            of_fold = context.branch(f"fold {i}")
            plan = problem.plan.from_nothing()
            part = Problem(TrainingData(train), plan, self, None, of_fold)
            grown = part.path(part.grow(part.start(0, of_fold), part.reach)).kept
            logits.append(grown.predict(held.X).reshape(len(held), -1))
        return Unseen.of_folds(folds, np.concatenate(logits)) if folds else None

    def _grown_to(self, problem: Problem) -> int:
        """Return how many neurons to grow: few rows do not support many, nor may all weights."""
        limits, settings = problem.limits, problem.settings.logistic
        if limits.exact or not problem.is_corrected:
            return limits.max_neurons
        supported = len(problem.rows) // settings.rows_per_neuron
        allowed = settings.max_weights // (problem.n_features + 1)
        return min(limits.max_neurons, int(max(settings.least_grown, min(supported, allowed))))

    def _parts(self, problem: Problem, n_neurons: int, context: FitContext) -> list[Part]:
        """Return the folds, each scaled by its own training rows."""
        folds, context = self._folds(problem), context.branch("ladder")
        if len(folds) > 1 and self._is_staged(problem):
            # Folds are computed in parallel.
            context = context.single_threaded()
        return [
            self._part(train, held, problem.plan, n_neurons, context.branch(f"fold {i}"))
            for i, (train, held) in enumerate(folds)
        ]

    def _folds(self, problem: Problem) -> list[Split]:
        """Return the given folds, or stratified ones of the rows, in original units."""
        plan, settings = problem.plan, problem.settings.logistic.folds
        folds = problem.folds
        if folds is None:
            if plan.limits.exact or not problem.is_corrected:
                settings = replace(settings, max_repeats=1)
            folds = stratified_folds(problem.sample, plan.random_state, settings)
        return [split for fold in folds for split in self._usable(*fold, plan)]

    def _usable(self, train: Rows, held: Rows, plan: Plan) -> list[Split]:
        """Return samples of a fold; none if the training rows have one class, or all rows."""
        if train is held:
            return []
        sampling = self.sampling(train, plan)
        if sampling is not None:
            train, held = (
                at_most(part, sampling.size, plan.random_state, sampling.settings.rare_share)
                for part in (train, held)
            )
        known = np.unique(class_numbers(train.Y))
        # Rows of classes that no training row has say nothing about the candidates.
        held = held.take(np.flatnonzero(np.isin(class_numbers(held.Y), known)))
        return [(train.canonical(), held)] if len(known) > 1 and len(held) else []

    def _part(
        self, train: Rows, held: Rows, plan: Plan, n_neurons: int, context: FitContext
    ) -> Part:
        problem = Problem(TrainingData(train), plan.from_nothing(), self, None, context)

        def grow() -> Weights:
            growing = context.until(FOR_GROWTH)
            if self._is_staged(problem):
                return staged_weights(problem, n_neurons, growing)
            growth = problem.grow(problem.start(0, growing), n_neurons, context=growing)
            return grown_weights(growth, problem)

        coordinates = problem.coordinates
        held, descents = coordinates.apply(held), context.branch("descents")
        return Part(problem.rows, held, grow, coordinates.inputs, descents, problem.shape)

    def _is_staged(self, problem: Problem) -> bool:
        """Whether networks grow in stages; requested widths and other searches grow plainly."""
        return problem.plan.search == "continuous" and not problem.limits.exact

    def _ladder(self, problem: Problem, parts: Sequence[Part], context: FitContext) -> Ladder:
        trials = Trials(problem.plan, context.branch("descents"), problem.shape)
        n_held = sum(len(part.held) for part in parts)
        assert isinstance(problem.samples, ClassSamples)
        # The width that a sample supports would be too small for many more rows.
        prunes = len(problem.samples.many) == len(problem.rows)
        return Ladder(parts, trials, n_held / self._n_judged(problem), prunes=prunes)

    def _n_judged(self, problem: Problem) -> int:
        """Return the number of rows that folds hold out, with the copies that are split."""
        copies = n_copies(problem.sample, problem.settings.logistic.folds)
        return len(problem.rows) if copies is None else int(copies.sum())

    def _start(self, problem: Problem, growth: Growth) -> Weights:
        """Return the network from which all weights are corrected, if folds have none."""
        if not self._is_staged(problem):
            return grown_weights(growth, problem)
        context = problem.context.until(FOR_GROWTH).branch("stages")
        return staged_weights(problem, self._grown_to(problem), context)

    def correct(self, problem: Problem, growths: Sequence[Growth], path: ShallowPath) -> Finished:
        """Correct all weights with the ridge and the width that were chosen, and blend."""
        plan, rows, held_out = problem.plan, problem.rows, problem.validation
        rung = problem.decision
        if held_out is not None:
            rung = self._validated(problem, growths[0])
        assert isinstance(rung, Rung)
        final = self._corrected(problem, rung, growths[0])
        loss = log_loss(_logits(final, rows, plan), rows.Y, rows.weights)
        told, unseen = rung.expected, rung.unseen
        if told is not None and problem.context.clock.ran_out.is_set():
            # The network may be worse than those of the folds, whose error is then too small.
            told = max(told, loss)
        if held_out is not None:
            logits = _logits(final, held_out, plan)
            told = log_loss(logits, held_out.Y, held_out.weights)
            line = None if unseen is None else unseen.line
            unseen = replace(Unseen.of(held_out, logits), line=line)
        network = _network(final, problem)
        if plan.shape is not None:
            network = in_shape(network, plan.shape)
        network = with_bounds(network, plan.bounds)
        return Finished(network, loss, told, told, unseen=unseen, ladder=rung.candidates)

    def _validated(self, problem: Problem, growth: Growth) -> Rung:
        """Return the decision of validation rows, on which networks of all rows are tried."""
        assert problem.validation is not None
        context = problem.context.until(FOR_CHOICE)
        part = Part(
            problem.rows,
            problem.validation,
            lambda: self._start(problem, growth),
            context=context.branch("validation"),
            shape=problem.shape,
        )
        return self._ladder(problem, [part], context).decided()

    def _corrected(self, problem: Problem, rung: Rung, growth: Growth) -> Weights:
        """Return the blend of a decision, each part corrected on as many rows as are kept."""
        plan, rows, settings = problem.plan, problem.rows, problem.settings.logistic
        assert isinstance(problem.samples, ClassSamples)
        most = problem.coordinates.apply(problem.samples.many)
        # The ridge is relative to the mean loss: it decreases with the number of rows.
        share = n_of_others(rows) / n_of_others(most) if plan.alpha is None else 1.0
        trials = Trials(plan, problem.context.branch("last descents"), problem.shape)
        shares = shares_weights(most)
        line = network = shares
        if rung.line > 0:
            line = trials.corrected_on(most, shares, share * rung.line_ridge, settings.final_steps)
        if rung.network > 0:
            ridge, starts = share * rung.ridge, rung.starts or [self._start(problem, growth)]
            is_begun = bool(rung.starts) and len(most) == len(rows)
            n_steps = settings.further_steps if is_begun else settings.final_steps
            start = trials.best_start(most, starts, ridge)
            network = trials.corrected_on(most, start, ridge, n_steps)
        return blended(shares, line, network, rung)


def _logits(weights: Weights, rows: Rows, plan: Plan) -> Float64:
    """Return the logits of scaled rows, within the bounds."""
    logits = weights.logits(rows.X, plan.activation)
    return logits if plan.bounds is None else plan.bounds.apply(logits)


def _network(weights: Weights, problem: Problem) -> ShallowNetwork:
    """Return the network for inputs in their original units."""
    coordinates, plan = problem.coordinates, problem.plan
    with np.errstate(over="ignore", invalid="ignore"):
        inner = coordinates.inputs.fold(weights.W)
        affine = coordinates.inputs.fold(weights.L.T).T
    check_weights_exist(inner, affine)
    return ShallowNetwork(
        inner_weights=inner[:, :-1],
        biases=inner[:, -1],
        outer_weights=weights.C,
        linear_weights=affine[:-1] if plan.linear_term else None,
        intercept=affine[-1] if plan.linear_term else None,
        activation=plan.activation,
        single_output=plan.single_output,
        input_range=coordinates.input_range,
    )
