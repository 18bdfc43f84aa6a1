"""Other settings for the fits in a scope: tests of the surface need not know where they live."""

from contextlib import AbstractContextManager
from dataclasses import replace
from typing import Any

from greedynet.estimators.checkpoint import CheckpointSettings
from greedynet.estimators.settings import ESTIMATOR_SETTINGS, EstimatorSettings, settings_context
from greedynet.fitting.settings import (
    CorrectionSettings,
    FitSettings,
    LadderSettings,
    LogisticSettings,
)
from greedynet.model.uncertainty.intervals import IntervalSettings
from greedynet.model.uncertainty.local_size import SizeSettings
from greedynet.rows.blocks import BlockSizes
from greedynet.rows.sampling import SamplingSettings
from greedynet.rows.splitting import FoldSettings
from greedynet.support.parameters import parameters_of  # noqa: F401

Scope = AbstractContextManager[Any]

# Fits that choose and tell their error by one fold instead of many, and do not try averages, take
# a fraction of the time.
FEW_FOLDS = EstimatorSettings(
    fit=FitSettings(
        ladder=LadderSettings(used=((0, 3), (30, 1)), widths_averaged=0),
        logistic=LogisticSettings(folds=FoldSettings(max_repeats=1)),
    )
)
# Rows are too few for widths that vary.
FLAT = IntervalSettings(sizes=SizeSettings(min_rows=10**9))


def few_folds() -> Scope:
    return settings_context(FEW_FOLDS)


def defaults() -> Scope:
    """As users have it, with all folds."""
    return settings_context(EstimatorSettings())


def in_order_above(n_rows: int, *, few_folds: bool = False) -> Scope:
    """More rows than these are not sorted; with `few_folds`, folds stay few."""
    base = FEW_FOLDS if few_folds else EstimatorSettings()
    return settings_context(replace(base, fit=replace(base.fit, merged_up_to=n_rows)))


def sampled(
    n_rows: int,
    most: int | None = None,
    *,
    in_order_above: int | None = None,
    blocks: dict[str, int] | None = None,
    averages: bool = True,
    n_tries: int | None = None,
    check_every: float | None = None,
    **sampling: Any,
) -> Scope:
    """Fits see samples of `n_rows` rows, or of up to `most`, and blocks of these sizes."""
    fit = FitSettings(sampling=SamplingSettings(least=n_rows, most=most or n_rows, **sampling))
    if in_order_above is not None:
        fit = replace(fit, merged_up_to=in_order_above)
    if blocks is not None:
        fit = replace(fit, blocks=BlockSizes(**blocks))
    if not averages:
        fit = replace(fit, ladder=LadderSettings(widths_averaged=0))
    if n_tries is not None:
        fit = replace(fit, correction=CorrectionSettings(n_tries_on_all_rows=n_tries))
    settings = EstimatorSettings(fit=fit)
    if check_every is not None:
        settings = replace(settings, check_every=check_every)
    return settings_context(settings)


def parallel_folds(n_folds: int = 2) -> Scope:
    """Folds are fitted side by side, however few rows there are."""
    ladder = LadderSettings(used=((0, n_folds),), parallel_from=0)
    return settings_context(EstimatorSettings(fit=FitSettings(ladder=ladder)))


def flat_intervals() -> Scope:
    """Intervals are as wide everywhere."""
    return settings_context(EstimatorSettings(intervals=FLAT))


def checkpoints(**when: Any) -> Scope:
    """Checkpoints are written at other times."""
    settings = replace(ESTIMATOR_SETTINGS.current, checkpoint=CheckpointSettings(**when))
    return settings_context(settings)


def checkpoints_at_once() -> Scope:
    return checkpoints(seconds=0.0, pause=0.0)
