"""Settings of the estimators that are not parameters; tests inject other values."""

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass

from greedynet.estimators.checkpoint import CheckpointSettings
from greedynet.fitting.settings import FitSettings
from greedynet.rows.rows import CANONICAL_ROWS


@dataclass(frozen=True)
class EstimatorSettings:
    """All settings of an estimator.

    Attributes
    ----------
    fit : FitSettings
    checkpoint : CheckpointSettings
    merged_up_to : int
        Maximum number of rows for which equal rows are merged and all are sorted.
    held_out : float
        With more rows, the fraction that is held out to choose the width of a regression.
    """

    fit: FitSettings = FitSettings()
    checkpoint: CheckpointSettings = CheckpointSettings()
    merged_up_to: int = CANONICAL_ROWS
    held_out: float = 0.1


_current: ContextVar[EstimatorSettings | None] = ContextVar("greedynet_settings", default=None)


def current_settings() -> EstimatorSettings:
    """Return the current settings."""
    return _current.get() or EstimatorSettings()


@contextmanager
def settings_context(settings: EstimatorSettings) -> Iterator[None]:
    """Use other settings for fits that start in this block, in this thread."""
    token = _current.set(settings)
    try:
        yield
    finally:
        _current.reset(token)
