"""Settings of the estimators that are no parameters: values with defaults; tests inject others."""

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
        Rows up to which equal ones are merged and all are sorted.
    held_out : float
        Share of more rows than that which is held out to choose the width of a regression.
    check_every : float
        Seconds between checks of a fit on a cluster whether a worker that does not answer is still
        alive.
    """

    fit: FitSettings = FitSettings()
    checkpoint: CheckpointSettings = CheckpointSettings()
    merged_up_to: int = CANONICAL_ROWS
    held_out: float = 0.1
    check_every: float = 1.0


_current: ContextVar[EstimatorSettings | None] = ContextVar("greedynet_settings", default=None)


def current_settings() -> EstimatorSettings:
    """Return the settings of fits that begin here."""
    return _current.get() or EstimatorSettings()


@contextmanager
def settings_context(settings: EstimatorSettings) -> Iterator[None]:
    """Let fits that begin in this block, and in this thread, have other settings."""
    token = _current.set(settings)
    try:
        yield
    finally:
        _current.reset(token)
