"""HiGHS by way of SciPy, without the lines that it prints whatever it is told."""

import ctypes
import os
import re
import tempfile
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import IO

import scipy.optimize

_STRAY = re.compile(rb"Highs\w*::.*\n?")
_lock = threading.Lock()
_users = 0
_kept: int | None = None
_aside: IO[bytes]


@contextmanager
def without_stray_lines() -> Iterator[None]:
    """Drop lines such as `HighsMipSolverData::... tmpSolver.run();` from the standard output.

    HiGHS 1.12, in SciPy 1.17, prints them in C. So the file descriptor is directed to a temporary
    file by the first thread in here, and back by the last one, which passes on what others have
    written in between.
    """
    global _users
    with _lock:
        if _users == 0:
            _set_aside()
        _users += 1
    try:
        yield
    finally:
        with _lock:
            _users -= 1
            if _users == 0 and _kept is not None:
                _pass_on(_kept)


def _set_aside() -> None:
    global _aside, _kept
    try:
        _kept = os.dup(1)
    except OSError:  # closed: nobody would see a line
        _kept = None
        return
    _aside = tempfile.TemporaryFile()  # noqa: SIM115 - closed by `_pass_on`
    _flush()
    os.dup2(_aside.fileno(), 1)


def _pass_on(kept: int) -> None:
    _flush()
    os.dup2(kept, 1)
    with _aside, open(kept, "wb") as out:
        _aside.seek(0)
        out.write(_STRAY.sub(b"", _aside.read()))


def _flush() -> None:
    """Write what the buffers of C hold."""
    ctypes.CDLL("ucrtbase" if os.name == "nt" else None).fflush(None)


linprog = without_stray_lines()(scipy.optimize.linprog)
milp = without_stray_lines()(scipy.optimize.milp)
