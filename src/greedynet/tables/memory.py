"""How much memory a table may take as a matrix of numbers; a larger one is read in blocks.

The matrix of `n` rows and `d` features takes `8 n (d + 1)` bytes. A fit in memory holds it about
three times (`benchmarks/largetables.py`): as it is read, with empty cells filled, and in parts in
the work of the fit. So the limit is a sixth of the memory that the process may use.
"""

import os
from pathlib import Path
from typing import Any

from greedynet.tables.readers import TableError

_SHARE = 1 / 6
# Where the system does not tell how much memory there is.
_UNKNOWN = 2**32
# Files of Linux with the limit of a container.
_LIMITS = ("/sys/fs/cgroup/memory.max", "/sys/fs/cgroup/memory/memory.limit_in_bytes")


def matrix_bytes(n_rows: int, n_features: int) -> int:
    """Return the size of the inputs and the target of rows as numbers."""
    return 8 * n_rows * (n_features + 1)


def limit_of(asked: Any) -> float:
    """Return the size of the largest matrix to be held in memory.

    Parameters
    ----------
    asked : float or None
        A number of bytes, or None for a sixth of the memory.
    """
    if asked is None:
        return usable_memory() * _SHARE
    if isinstance(asked, bool) or not isinstance(asked, int | float) or not asked >= 0:
        raise TableError(
            f"`memory_limit` must be a number of bytes, or None for a sixth of the memory, got "
            f"{asked!r}: write 2e9 for 2 GB, for example."
        )
    return float(asked)


def usable_memory() -> int:
    """Return the memory of the machine, or less if the process may use less."""
    known = [_of_machine(), *_of_process(), *filter(None, map(_of_container, _LIMITS))]
    return min(known)


def _of_machine() -> int:
    try:
        return os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    except (AttributeError, OSError, ValueError):  # not on Windows
        return _UNKNOWN


def _of_process() -> list[int]:
    try:
        import resource
    except ModuleNotFoundError:  # not on Windows
        return []
    limits = [resource.getrlimit(kind)[0] for kind in (resource.RLIMIT_AS, resource.RLIMIT_DATA)]
    return [limit for limit in limits if limit != resource.RLIM_INFINITY]


def _of_container(path: str) -> int | None:
    try:
        return int(Path(path).read_text(encoding="ascii"))
    except (OSError, ValueError):  # no such file, or "max"
        return None
