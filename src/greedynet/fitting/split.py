"""`split`: the rows of a fit, divided into training rows and rows to choose by.

| a user asks for       | becomes                                                                  |
| --------------------- | ------------------------------------------------------------------------ |
| nothing               | folds, by the number of rows; of many rows a sample, and some held out   |
| a validation set      | one fold: all rows, and these; its network is the result                 |
| `cv`, `groups`        | their folds                                                              |
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from greedynet.fitting.plan import Plan, TrainingData
from greedynet.rows.blocks import Blocks, as_blocks, in_memory
from greedynet.rows.rows import Rows, class_numbers
from greedynet.rows.sampling import ClassSamples, RandomSamples, Sampling, at_most
from greedynet.rows.scaling import canonical_columns
from greedynet.rows.splitting import (
    N_FOLDS,
    Split,
    folds_of,
    repeated_folds,
    stratified_folds,
    with_copies,
)
from greedynet.support.context import FitContext
from greedynet.support.types import Float64


@dataclass(frozen=True, eq=False)
class Folds:
    """The rows of a fit, divided; all in original units.

    Attributes
    ----------
    splits : list of pairs of Rows
        Training rows, and rows on which the candidates are scored; empty if none can be held out.
    rows : Rows
        Rows of the final network; a sample if there are many, and `samples` gives access to all.
    is_final : bool
        Whether the network of the single fold is the result.
    """

    splits: list[Split]
    rows: Rows
    samples: RandomSamples | None = None
    is_final: bool = False

    @property
    def n_all(self) -> int:
        """Number of all rows."""
        return len(self.rows) if self.samples is None else len(self.samples.blocks)

    @property
    def input_range(self) -> Float64:
        """Smallest and largest inputs of all rows."""
        if self.samples is not None:
            return self.samples.input_range()
        X = self.rows.X
        return np.array([X.min(axis=0), X.max(axis=0)], dtype=np.float64)


def split(data: TrainingData, plan: Plan, context: FitContext, *, classes: bool) -> Folds:
    """Divide the rows of a fit; of classes, folds preserve the shares."""
    folds = (_of_classes if classes else _of_numbers)(data, plan, context)
    _check_same_rows(folds, context)
    return folds


def _of_numbers(data: TrainingData, plan: Plan, context: FitContext) -> Folds:
    """Divide the rows of a regression."""
    if not data.has_folds and isinstance(data.rows, Rows):
        data = replace(data, rows=data.rows.of_positive_weight())
    sampling = data.sampling(plan) if plan.dictionary is None else None
    if data.has_folds:
        rows = _in_memory(data.rows, plan)
        folds = _asked_for(rows, data, plan, stratified=False)
        if sampling is None:
            return Folds(folds, _merged(rows, plan))
        folds = [(_some(train, sampling.size, plan), held) for train, held in folds]
        samples = _samples(data.rows, sampling, plan, context, 0.0)
        return Folds(folds, samples.sample(), samples)
    if data.validation is not None:
        if sampling is not None:
            samples = _samples(data.rows, sampling, plan, context, 0.0)
            return Folds([(samples.sample(), data.validation)], samples.sample(), samples)
        rows = _merged(_in_memory(data.rows, plan), plan)
        return Folds([(rows, _validation(data.validation, rows, plan))], rows, is_final=True)
    if len(data.rows) > plan.settings.merged_up_to or sampling is not None:
        return _held_out(data.rows, sampling, plan, context)
    rows, copies = _merged(_in_memory(data.rows, plan), plan), plan.settings.logistic.folds
    if len(rows) < 2:
        return Folds([], rows)
    n_folds = plan.settings.ladder.n_folds_of(round(rows.n_independent))
    return Folds(repeated_folds(rows, plan.random_state, N_FOLDS, n_folds, copies), rows)


def _check_same_rows(folds: Folds, context: FitContext) -> None:
    """Raise an error if rows or folds are not those of an earlier run: sums do not show it."""
    parts = [folds.rows, *(part for split in folds.splits for part in split)]
    known, digests = context.journal.known(), [part.digest for part in parts]
    if known is None:
        context.journal.note(digests)
    elif known[0] != digests[0]:
        raise ValueError(
            "`X` must yield its rows in the same order as when the fit was started, got a "
            "different one: restore the order, or use another `checkpoint` to start again."
        )
    elif list(known) != digests:
        raise ValueError(
            "`cv` must yield the same folds as when the fit was started, got others: pass a "
            "splitter with a `random_state`, or use another `checkpoint` to start again."
        )


def _validation(held: Rows, train: Rows, plan: Plan) -> Rows:
    """Return validation rows with the columns of training rows."""
    return replace(held, columns=train.columns).canonical(plan.settings.merged_up_to)


def _held_out(
    rows: Rows | Blocks, sampling: Sampling | None, plan: Plan, context: FitContext
) -> Folds:
    """Return one fold of many rows: a sample, and rows that are in no sample."""
    settings = plan.settings.sampling
    if plan.dictionary is not None:
        # All rows are in memory, and all are used.
        all_rows = in_memory(rows).canonical(0)
        order = np.random.default_rng(plan.random_state).permutation(len(all_rows))
        parts = np.split(order, [int(np.ceil(settings.held_out * len(order)))])
        held, train = (all_rows.take(np.sort(part)) for part in parts)
        return Folds([(train, held)], all_rows)
    if sampling is None:
        sampling = Sampling(len(rows) - int(settings.held_out * len(rows)), 0, settings)
    samples = _samples(rows, sampling, plan, context, settings.held_out)
    left_out = samples.held_out()
    assert left_out is not None
    return Folds([(samples.sample(), left_out)], samples.sample(), samples)


def _samples(
    rows: Rows | Blocks, sampling: Sampling, plan: Plan, context: FitContext, held_out: float
) -> RandomSamples:
    if isinstance(rows, Rows):
        rows = rows.canonical(0)
    blocks = as_blocks(rows, context.pool, plan.settings.blocks)
    larger = sampling.larger if plan.correct and plan.alpha is None else 0
    return RandomSamples(
        blocks, sampling.size, seed=plan.random_state, hold_out=held_out, larger=larger
    )


def _of_classes(data: TrainingData, plan: Plan, context: FitContext) -> Folds:
    """Return stratified folds of a sample that preserves rare classes, or of all rows."""
    sampling, settings = data.sampling(plan), plan.settings.logistic.folds
    splits: Sequence[Split] | None = None
    rows = data.rows
    if sampling is None or data.has_folds:
        rows = _in_memory(rows, plan)
    if isinstance(rows, Rows):
        if data.has_folds:
            splits = _asked_for(rows, data, plan, stratified=True)
        rows = rows.canonical(plan.settings.merged_up_to)
    samples = ClassSamples.of(rows, sampling, plan.random_state)
    if data.validation is not None:
        held = _validation(data.validation, samples.few, plan)
        found = _usable(samples.few, held, plan, sampling)
        return Folds(found, samples.many, is_final=samples.many is samples.few and bool(found))
    if splits is None:
        if plan.limits.exact or not plan.correct:
            settings = replace(settings, max_repeats=1)
        splits = stratified_folds(samples.few, plan.random_state, settings)
    return Folds([s for fold in splits for s in _usable(*fold, plan, sampling)], samples.many)


def _usable(train: Rows, held: Rows, plan: Plan, sampling: Sampling | None) -> list[Split]:
    """Return samples of a fold; none if the training rows have one class, or are held out."""
    if train is held:
        return []
    if sampling is not None:
        share = sampling.settings.rare_share
        train, held = (
            at_most(part, sampling.size, plan.random_state, share) for part in (train, held)
        )
    known = np.unique(class_numbers(train.Y))
    # Rows of classes that no training row has say nothing about the candidates.
    held = held.take(np.flatnonzero(np.isin(class_numbers(held.Y), known)))
    return [(train.canonical(), held)] if len(known) > 1 and len(held) else []


def _asked_for(rows: Rows, data: TrainingData, plan: Plan, *, stratified: bool) -> list[Split]:
    """Return the folds of `cv` and of groups."""
    merged_up_to = plan.settings.merged_up_to
    return folds_of(rows, data.cv, plan.random_state, merged_up_to, stratified=stratified)


def _some(rows: Rows, size: int, plan: Plan) -> Rows:
    """Return a sample of the training rows of a fold, or all if they are fewer."""
    if len(rows) <= size:
        return rows
    random = np.random.default_rng(plan.random_state)
    return rows.take(np.sort(random.choice(len(rows), size, replace=False)))


def _in_memory(data: Rows | Blocks, plan: Plan) -> Rows:
    """Return all rows, with canonical columns unless points refer to the columns as given.

    Canonical rows are sorted by them, so that held-out rows and folds do not depend on the order
    and the signs of the columns.
    """
    rows = in_memory(data)
    if plan.dictionary is not None or len(rows) > plan.settings.merged_up_to:
        return rows
    X: Float64 = np.asarray(rows.X, dtype=np.float64)
    return replace(rows, X=X, columns=canonical_columns(rows))


def _merged(rows: Rows, plan: Plan) -> Rows:
    """Return canonical rows that know how many copies they stand for."""
    return with_copies(rows.canonical(plan.settings.merged_up_to), plan.settings.logistic.folds)
