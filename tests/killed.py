"""Processes that are killed while they write a checkpoint."""

import dataclasses
import os
import signal
from collections.abc import Iterator
from contextlib import contextmanager

from greedynet.estimators.checkpoint import CheckpointSettings
from greedynet.estimators.settings import ESTIMATOR_SETTINGS, settings_context


@contextmanager
def dying_in_write(number: int) -> Iterator[None]:
    """Have this process killed in its n-th write, when the new file lies beside the old one.

    Everything that is noted is written, so that the moment does not depend on the machine.
    """
    replace, left = os.replace, number

    def replace_or_die(*names) -> None:
        nonlocal left
        left -= 1
        if left == 0:
            os.kill(os.getpid(), signal.SIGKILL)
        replace(*names)

    os.replace = replace_or_die
    at_once = CheckpointSettings(seconds=0.0, pause=0.0)
    with settings_context(dataclasses.replace(ESTIMATOR_SETTINGS.current, checkpoint=at_once)):
        yield
