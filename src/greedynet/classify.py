"""Classification on one page: from rows of classes to a network of logits.

    scaling -> search on the working residual -> logistic outer weights -> ridge and width by
    folds -> all weights together -> network

One hidden layer serves all classes. Neurons are taken one by one, each the best for `y - p`, the
residual of the logistic model so far.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import islice

import numpy as np
from numpy.typing import NDArray
from sklearn.model_selection import RepeatedStratifiedKFold

from greedynet.activations import Activation
from greedynet.data import InputScaling, OutputScaling, Rows
from greedynet.descent import Weights, descend
from greedynet.factor import Factor
from greedynet.frame import Frame
from greedynet.greedy import Growth, grow
from greedynet.logistic import RIDGE, Logistic, log_loss
from greedynet.lossfactor import LossFactor
from greedynet.network import ShallowNetwork
from greedynet.path import SelectionPath
from greedynet.plan import Plan
from greedynet.search import Candidate
from greedynet.searches import dependent, make_search
from greedynet.site import OnStep
from greedynet.sketch import Sketch, sample_size
from greedynet.stopping import Judge, Limits, StopReason, Validation, neuron_cost
from greedynet.threads import Pool

Float64 = NDArray[np.float64]

N_FOLDS = 5
# Folds are gone through until so many rows have been held out: more say little more.
ENOUGH_HELD_OUT = 600
MAX_REPEATS = 2
RIDGES = tuple(np.geomspace(1e-4, 3e-2, 6))
FOLD_STEPS = 60
FINAL_STEPS = 300
# Rows beyond which the last correction sees a sample.
MAX_FINAL_ROWS = 2**17
MAX_KURTOSIS = 10.0
_NEGLIGIBLE = 1e-3
_PRUNED_TO = 2 / 3
# A narrower network is taken if its log-loss is at most this much of the best.
_AS_GOOD = 1.003


def construct_classifier(
    rows: Rows,
    plan: Plan,
    validation: Rows | None = None,
    *,
    pool: Pool | None = None,
    on_step: OnStep | None = None,
) -> SelectionPath:
    """Construct a network whose outputs are logits.

    Parameters
    ----------
    rows : Rows
        Training data, `Y` the classes as unit vectors, or one column of 0 and 1 for two classes.
    plan : Plan
        How to do it.
    validation : Rows or None
        Data to choose ridge and width by; without them they are chosen by folds.
    pool, on_step
        As in `construct`.

    Returns
    -------
    path : SelectionPath
        Its errors are mean log-losses.
    """
    all_rows, rows = rows, _sampled(rows, plan)
    frame = class_frame(rows, plan)
    scaled = frame.apply(rows)
    held = None if validation is None else frame.apply(validation)
    growth = _grown(scaled, held, frame, plan, pool, on_step)
    path = _path(growth, frame, plan, validated=held is not None)
    if not plan.correct or not growth.factor.size or growth.reason is StopReason.CALLBACK:
        return path

    start = grown_weights(growth, frame, scaled, plan.activation)
    trials = Trials(_folds(scaled, plan.random_state) if held is None else [(scaled, held)], plan)
    ridge = plan.alpha if plan.alpha is not None else trials.best_ridge(start)
    most = frame.apply(_at_most(all_rows, MAX_FINAL_ROWS, plan.random_state))
    final = trials.descend(most, start, ridge, FINAL_STEPS)
    if not plan.limits.exact:
        final = trials.narrowed(final, ridge)
        final = trials.descend(most, final, ridge, FINAL_STEPS)
    return replace(
        path,
        finished=_network(final, frame, plan),
        finished_error=log_loss(final.logits(scaled.X, plan.activation), scaled.Y, scaled.weights),
        finished_score=trials.score([final] * len(trials.folds)),
        best_n_nodes=len(final.W) + frame.affine.n_nodes,
        stop_reason=_reason(len(final.W), plan.limits) if growth.candidates else growth.reason,
    )


def class_frame(rows: Rows, plan: Plan) -> Frame:
    """Return the coordinates of a classification: inputs scaled, classes as they are."""
    if plan.points is not None:
        inputs = InputScaling.identity(rows.X.shape[1])
    elif plan.search == "dictionary":
        inputs = InputScaling.to_cube(rows.X)
    else:
        inputs = calm_scaling(rows)
    frame = Frame.of(rows, inputs, linear_term=plan.linear_term)
    n_outputs = rows.Y.shape[1]
    return replace(frame, outputs=OutputScaling(np.zeros(n_outputs), np.ones(n_outputs)))


def calm_scaling(rows: Rows) -> InputScaling:
    """Return mean 0 and deviation 1, but less for columns that are nearly always the same.

    A pixel that is nearly always 0 has a tiny deviation, and dividing by it blows up its few other
    values. Columns with a kurtosis `m4 / m2^2` above 10 are divided by `(m4 / 10)^(1/4)` instead of
    `m2^(1/2)`.
    """
    standard = InputScaling.standard(rows)
    fourth = np.average(standard.apply(rows.X) ** 4.0, axis=0, weights=rows.weights)
    return replace(standard, width=standard.width * np.maximum(1.0, fourth / MAX_KURTOSIS) ** 0.25)


class LogisticFactor(LossFactor):
    """A factor of the logistic loss; its error is the mean log-loss."""

    @property
    def target_size(self) -> float:
        """One: log-losses are not relative to anything."""
        return 1.0

    def square_left(self, weights: Float64, alpha: float) -> float:
        """Return the square of the mean log-loss."""
        logits = self.Q / self._row_scale @ self.z
        return log_loss(logits, self._target, self._row_weights) ** 2


class HeldOut(Validation):
    """Log-loss of rows kept apart."""

    def score(
        self, factor: Factor, column: Float64 | None, weights: Float64, square: float
    ) -> float:
        """Return the mean log-loss of the validation rows."""
        if column is not None:
            self._append(column * self._row_scale)
        scale = self._row_scale[:, None]
        logits = self._columns[:, : self._used] @ weights / scale
        return log_loss(logits, self._Y / scale, self._row_scale**2)


@dataclass(frozen=True)
class Akaike:
    """Log-loss plus what was spent on it: `loss + C(k) / n`.

    A neuron costs its outer weights and, as in generalised cross-validation of a regression, what
    was searched.
    """

    n_rows: float
    n_affine: int
    n_outputs: int
    searched: float

    def score(
        self, factor: Factor, column: Float64 | None, weights: Float64, square: float
    ) -> float:
        """Return the criterion."""
        k = factor.size - self.n_affine
        spent = factor.size * self.n_outputs + k * self.searched
        return float(np.sqrt(square)) + spent / self.n_rows


@dataclass(frozen=True, eq=False)
class Trials:
    """Networks corrected on folds and judged on what the folds leave out.

    Attributes
    ----------
    folds : sequence of pairs of Rows
        Training and held-out rows, scaled.
    plan : Plan
    """

    folds: Sequence[tuple[Rows, Rows]]
    plan: Plan

    def descend(self, rows: Rows, start: Weights, ridge: float, n_steps: int) -> Weights:
        """Correct all weights together."""
        sigma = self.plan.activation
        return descend(rows, start, ridge, n_steps, sigma, linear_term=self.plan.linear_term)

    def corrected(self, starts: Sequence[Weights], ridge: float, n_steps: int) -> list[Weights]:
        """Correct on every fold, from a start for each."""
        return [
            self.descend(train, start, ridge, n_steps)
            for (train, _), start in zip(self.folds, starts, strict=True)
        ]

    def score(self, networks: Sequence[Weights]) -> float:
        """Mean log-loss of the held-out rows."""
        total = rows = 0.0
        for (_, held), network in zip(self.folds, networks, strict=True):
            weight = float(len(held) if held.weights is None else held.weights.sum())
            logits = network.logits(held.X, self.plan.activation)
            total += weight * log_loss(logits, held.Y, held.weights)
            rows += weight
        return total / rows

    def best_ridge(self, start: Weights) -> float:
        """Return the ridge with the smallest held-out log-loss.

        From the smallest up, each started where the last one ended; then the lowest point of the
        parabola through the best value and its neighbours, over the logarithm.
        """
        networks, scores = [start] * len(self.folds), []
        for i, ridge in enumerate(RIDGES):
            networks = self.corrected(networks, ridge, FOLD_STEPS * (2 if i == 0 else 1))
            scores.append(self.score(networks))
            if i - int(np.argmin(scores)) >= 2:
                break
        return _lowest(np.log(RIDGES[: len(scores)]), np.array(scores))

    def narrowed(self, network: Weights, ridge: float) -> Weights:
        """Return the narrowest network that the folds find as good as any.

        The smallest neurons are left out, a third at a time.
        """
        network = network.take(np.flatnonzero(_counts(network)))
        starts = [network] * len(self.folds)
        best = self.score(self.corrected(starts, ridge, FOLD_STEPS))
        chosen = network
        while len(network.W):
            n = int(len(network.W) * _PRUNED_TO)
            network = network.take(np.sort(np.argsort(-network.sizes, kind="stable")[:n]))
            corrected = self.corrected([network] * len(self.folds), ridge, FOLD_STEPS)
            score = self.score(corrected)
            if score > _AS_GOOD * best:
                break
            best, chosen = min(best, score), network
        return chosen


def _counts(network: Weights) -> NDArray[np.bool_]:
    """Whether neurons are more than next to nothing beside the largest."""
    return np.asarray(network.sizes > _NEGLIGIBLE * max(network.sizes.max(initial=0.0), 1e-12))


def _lowest(x: Float64, y: Float64) -> float:
    """The exponential of the lowest point of the parabola through the smallest of values."""
    i = int(np.argmin(y))
    if 0 < i < len(y) - 1:
        a, b, _ = np.polyfit(x[i - 1 : i + 2] - x[i], y[i - 1 : i + 2], 2)
        if a > 0:
            return float(np.exp(x[i] - b / (2 * a)))
    return float(np.exp(x[i]))


def _folds(rows: Rows, seed: int) -> list[tuple[Rows, Rows]]:
    """Stratified folds, until enough rows have been held out."""
    labels = rows.Y[:, 0] > 0.5 if rows.Y.shape[1] == 1 else rows.Y.argmax(axis=1)
    _, which, counts = np.unique(labels, return_inverse=True, return_counts=True)
    # A class of one row cannot be held out and be trained on: it is always trained on.
    single, many = (np.flatnonzero(rare) for rare in (counts[which] == 1, counts[which] > 1))
    if not len(many):
        return [(rows, rows)]
    n_folds = max(2, min(N_FOLDS, int(counts[counts > 1].min())))
    splitter = RepeatedStratifiedKFold(n_splits=n_folds, n_repeats=MAX_REPEATS, random_state=seed)
    enough = int(np.ceil(ENOUGH_HELD_OUT * n_folds / len(many)))
    splits = islice(splitter.split(many, labels[many]), enough)
    return [
        (rows.take(np.sort(np.r_[single, many[train]])), rows.take(many[held]))
        for train, held in splits
    ]


def _grown(
    rows: Rows,
    validation: Rows | None,
    frame: Frame,
    plan: Plan,
    pool: Pool | None,
    on_step: OnStep | None,
) -> Growth:
    """Grow neuron by neuron on the working residual."""
    factor = LogisticFactor(rows.Y, rows.weights, Logistic(_growth_ridge(plan)), dependent(plan))
    for column in frame.affine_columns(rows).T:
        factor.append(column)
    n_affine = factor.size
    search = make_search(rows, plan, pool=pool)
    growth = Growth(factor, n_affine, search, _judge(rows, validation, frame, plan, n_affine))

    def evaluate(found: Candidate) -> Float64:
        if validation is None:
            return found.column
        z = validation.X @ found.point[:-1] + found.point[-1]
        return np.asarray(plan.activation.value(z) / found.norm)

    def step(growth: Growth) -> bool:
        width = frame.affine.n_nodes + len(growth.candidates)
        if on_step is None:
            return False
        return on_step(lambda: _grown_network(growth, frame, plan), growth.errors[-1], width)

    limits = replace(plan.limits, patience=None) if plan.correct else plan.limits
    return grow(growth, limits, evaluate=evaluate, on_step=step)


def _growth_ridge(plan: Plan) -> float:
    """Ridge of the growth: what was asked for where it is all the ridge there is."""
    return RIDGE if plan.correct or plan.alpha is None else max(plan.alpha, 1e-8)


def _judge(
    rows: Rows, validation: Rows | None, frame: Frame, plan: Plan, n_affine: int
) -> Judge | None:
    """Who scores the widths of the growth."""
    if validation is not None:
        affine = frame.affine.evaluate(validation.X)
        return HeldOut(affine, validation.Y, validation.row_scale)
    if plan.limits.exact or plan.correct or not plan.gcv:
        return None
    return Akaike(len(rows), n_affine, rows.Y.shape[1], neuron_cost(rows.X.shape[1]) - 1.0)


def grown_weights(growth: Growth, frame: Frame, rows: Rows, activation: Activation) -> Weights:
    """Return the grown network as weights: logits as grown, by least squares with a small ridge."""
    factor, r = growth.factor, growth.n_affine
    points = growth.points.reshape(-1, rows.X.shape[1] + 1)
    logits, A = factor.Q @ factor.z, factor.Q[:, :r]
    H = frame.neuron_columns(rows, points, activation)
    norms = np.linalg.norm(H, axis=0)
    H = H / norms
    outside = H - A @ (A.T @ H)
    C = np.linalg.solve(outside.T @ outside + 1e-3 * np.eye(len(points)), outside.T @ logits)
    L = np.zeros((points.shape[1], logits.shape[1]))
    if r:
        # The orthonormal columns are the affine ones up to a triangle.
        affine = np.linalg.solve(factor.R[:r, :r], A.T @ (logits - H @ C))
        L = frame.affine.to_weights @ affine
    return Weights(points, C / norms[:, None], L).balanced(activation)


def _sampled(rows: Rows, plan: Plan) -> Rows:
    """Of very many rows a sample to grow on."""
    size = sample_size(len(rows), rows.X.shape[1], plan.limits.max_neurons)
    if size is None:
        return rows
    return Sketch(rows, size, hold_out=False, seed=plan.random_state).sample(0)


def _at_most(rows: Rows, n: int, seed: int) -> Rows:
    if len(rows) <= n:
        return rows
    return Sketch(rows, n, hold_out=False, seed=seed).sample(0)


def _network(weights: Weights, frame: Frame, plan: Plan) -> ShallowNetwork:
    """Return the network for inputs as they come."""
    inner = frame.inputs.fold(weights.W)
    affine = frame.inputs.fold(weights.L.T).T
    return ShallowNetwork(
        inner_weights=inner[:, :-1],
        biases=inner[:, -1],
        outer_weights=weights.C,
        linear_weights=affine[:-1] if plan.linear_term else None,
        intercept=affine[-1] if plan.linear_term else None,
        activation=plan.activation,
        single_output=plan.single_output,
        input_range=frame.input_range,
    )


def _grown_network(growth: Growth, frame: Frame, plan: Plan) -> ShallowNetwork:
    return frame.network(
        growth.factor,
        growth.candidates,
        plan.activation,
        alpha=0.0,
        single_output=plan.single_output,
    )


def _path(growth: Growth, frame: Frame, plan: Plan, *, validated: bool) -> SelectionPath:
    network = _grown_network(growth, frame, plan)
    widths = frame.affine.n_nodes + np.arange(len(growth.candidates) + 1)
    best = len(growth.candidates) if plan.limits.exact else growth.best
    scores = np.array(growth.scores) if growth.scores else None
    reason = growth.reason
    if best < len(growth.candidates) and reason is not StopReason.CALLBACK:
        reason = StopReason.VALIDATED
    return SelectionPath(
        indices=np.array([found.index for found in growth.candidates], dtype=np.intp),
        n_nodes=widths,
        training_errors=np.array(growth.errors),
        validation_errors=scores if validated else None,
        scores=scores,
        seconds=np.array(growth.seconds),
        best_n_nodes=int(widths[best]),
        stop_reason=reason,
        network=network,
    )


def _reason(n_neurons: int, limits: Limits) -> StopReason:
    full = n_neurons >= limits.max_neurons
    if limits.exact:
        return StopReason.N_NODES if full else StopReason.EXHAUSTED
    return StopReason.MAX_NODES if full else StopReason.VALIDATED
