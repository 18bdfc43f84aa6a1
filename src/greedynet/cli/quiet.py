"""`without_stray_output`: what C libraries print to standard output is dropped."""

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def without_stray_output() -> Iterator[None]:
    """Drop what is written to the file of standard output, which Python's `print` is not.

    HiGHS 1.12, in SciPy 1.17, prints lines of its own even when told not to.
    """
    sys.stdout.flush()
    kept, nowhere = os.dup(1), os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, 1)
    os.close(nowhere)
    try:
        yield
    finally:
        os.dup2(kept, 1)
        os.close(kept)
