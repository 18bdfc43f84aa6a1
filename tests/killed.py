"""Processes that are killed while they write a checkpoint."""

import os
import signal
from collections.abc import Iterator
from contextlib import contextmanager

from scopes import checkpoints_at_once


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
    with checkpoints_at_once():
        yield
