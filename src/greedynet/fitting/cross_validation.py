"""Cross-validation of networks as grown: the error of each width on held-out rows."""

from collections.abc import Iterable
from dataclasses import replace

import numpy as np

from greedynet.fitting.construct import construct
from greedynet.fitting.objective import Objective
from greedynet.fitting.plan import Plan, TrainingData
from greedynet.rows.rows import Rows
from greedynet.rows.splitting import Split
from greedynet.support.context import FitContext
from greedynet.support.journal import Journal
from greedynet.support.types import Float64


def cross_validate(
    folds: Iterable[Split], plan: Plan, objective: Objective, context: FitContext | None = None
) -> Float64:
    """Return the mean validation error over folds of each width, for networks as grown."""
    context = context or FitContext()
    plan = replace(plan, correct=False)

    def curve(train: Rows, held_out: Rows, context: FitContext) -> Float64:
        sampling = objective.sampling(train, plan)

        def scores(journal: Journal) -> tuple[Float64]:
            data = TrainingData(train, held_out, sampling)
            path = construct(data, plan, objective, context=context.with_journal(journal))
            return (np.array(path.scores),)

        return np.asarray(context.journal.once(scores)[0])

    folds = list(folds)
    # If time is limited, all folds have the same share of it.
    shares = [1.0 / (len(folds) - i) for i in range(len(folds))]
    curves = [
        curve(train, held_out, context.until(share))
        for (train, held_out), share in zip(folds, shares, strict=True)
    ]
    if context.clock.ran_out.is_set():
        shortest = min(len(curve) for curve in curves)
        curves = [curve[:shortest] for curve in curves]
    # A path that ended early keeps its last error: it would not have grown further.
    longest = max(len(curve) for curve in curves)
    padded = [np.pad(curve, (0, longest - len(curve)), mode="edge") for curve in curves]
    return np.asarray(np.mean(padded, axis=0))
