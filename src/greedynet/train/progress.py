"""A progress bar on the terminal, for long trainings."""

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import numpy as np

from greedynet.support.types import Float64
from greedynet.train.inputs import Progress
from greedynet.train.settings import TRAIN_SETTINGS

Report = Callable[[int, Float64], None]


@contextmanager
def reporter(progress: Progress, epochs: int) -> Iterator[Report]:
    """Yield a function to be called with the number of epochs done and the training errors.

    Parameters
    ----------
    progress : bool, callable or None
        None for a bar after two seconds if standard error is a terminal; True for a bar at once,
        False for none, or a function of the number of epochs done and the total number.
    epochs : int
        Total number of epochs.
    """
    if callable(progress):
        hook = progress
        yield lambda done, losses: hook(done, epochs)
    elif progress is False or (progress is None and not sys.stderr.isatty()):
        yield _silence
    elif progress is not None and progress is not True:
        raise TypeError(
            "`progress` must be None, True, False or a function of the epochs done and their "
            f"total number, got {progress!r}: write True for a bar."
        )
    else:
        bar = _Bar(epochs, 0.0 if progress else TRAIN_SETTINGS.current.seconds_without_bar)
        try:
            yield bar
        finally:
            bar.close()


def _silence(done: int, losses: Float64) -> None:
    """Report nothing."""


class _Bar:
    """A bar that appears once `patience` seconds have passed."""

    def __init__(self, epochs: int, patience: float) -> None:
        from rich.console import Console
        from rich.progress import BarColumn, MofNCompleteColumn, Progress, TimeRemainingColumn

        columns = (
            "[progress.description]{task.description}",
            BarColumn(),
            MofNCompleteColumn(),
            "epochs, loss {task.fields[loss]}",
            TimeRemainingColumn(),
        )
        self._bar = Progress(*columns, console=Console(stderr=True))
        self._task = self._bar.add_task("training", total=epochs, loss="")
        self._show_at = time.perf_counter() + patience

    def __call__(self, done: int, losses: Float64) -> None:
        if time.perf_counter() >= self._show_at:
            self._bar.start()  # repeated calls have no effect
        smallest = np.fmin.reduce(losses)
        self._bar.update(self._task, completed=done, loss=f"{smallest:.3e}")

    def close(self) -> None:
        """Stop updating the bar and restore the terminal."""
        self._bar.stop()
