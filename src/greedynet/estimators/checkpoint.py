"""`checkpoint`: a journal in a file, so that an interrupted fit can be resumed.

The file contains the steps of the fit, a candidate each, and its *fingerprint*: its parameters, and
digests of its data. It is written every few seconds, completely and atomically, so that the last
complete version is available whenever the process ends. A fit that succeeds removes its file.

A file that cannot be written, as on a full disk, is no reason to end a fit: a warning says so once,
and every later write is tried again.
"""

import os
import time
import warnings
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from hashlib import blake2b
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator

from greedynet.rows.blocks import Blocks
from greedynet.rows.rows import Rows
from greedynet.support.context import NO_JOURNAL, Journal, Known, Scope
from greedynet.support.errors import CheckpointWarning
from greedynet.support.files import check_target, remove_leftovers
from greedynet.support.tensorfile import ModelFileError, library_version, read_tree, write_tree

# The parameters and data of a fit, by name, as text.
Fingerprint = Mapping[str, str]

_KIND = "checkpoint"


@dataclass(frozen=True)
class CheckpointSettings:
    """When a checkpoint is written."""

    seconds: float = 3.0  # minimum time between two writes
    # After a write, the next one is delayed by at least this many times its duration.
    pause: float = 20.0
    clock: Callable[[], float] = time.monotonic


DEFAULT_SETTINGS = CheckpointSettings()


class _File:
    """The file of a block, which belongs to its one fit."""

    def __init__(self, path: Path | None) -> None:
        self._path, self._is_taken = path, False

    def taken(self) -> Path | None:
        """Return the path, for the first fit of the block."""
        if self._path is not None and self._is_taken:
            raise ValueError(
                "`checkpoint` belongs to one fit, got a second one in its block: write "
                "`with greedynet.checkpoint(...)`, with a file of its own, around each."
            )
        self._is_taken = True
        return self._path


_CURRENT = Scope("greedynet_checkpoint", _File(None))


@contextmanager
def checkpoint(path: str | os.PathLike[str] | None) -> Iterator[None]:
    """Save the progress of the fit in this block every few seconds, so that it can be resumed.

    If it is interrupted, the same fit with the same data and parameters resumes from there and
    gives the same network; other data or parameters raise an error. The file is removed when the
    fit is complete. A block has one fit, of an estimator or by `fit_table`, in its own thread.

    Parameters
    ----------
    path : str, path or None
        The file; None for a fit without one.

    Examples
    --------
    >>> import greedynet
    >>> X = [[0.0], [1.0], [2.0], [3.0]]
    >>> with greedynet.checkpoint("fit.checkpoint"):
    ...     model = greedynet.GreedyNetRegressor(max_nodes=3).fit(X, [0.0, 1.0, 1.0, 0.0])
    """
    if path is not None and not isinstance(path, str | os.PathLike):
        raise TypeError(
            f"`checkpoint` must be the name of a file, or None, got {path!r}: write "
            'greedynet.checkpoint("fit.checkpoint").'
        )
    with _CURRENT.use(_File(None if path is None else Path(path))):
        yield


def current_checkpoint() -> Path | None:
    """Return the file of the fit that begins; an error if its block has had a fit."""
    return _CURRENT.current.taken()


@contextmanager
def checkpointed(
    path: str | os.PathLike[str] | None,
    fingerprint: Callable[[], Fingerprint],
    settings: CheckpointSettings = DEFAULT_SETTINGS,
) -> Iterator[Journal]:
    """Yield the journal that is stored in a file; without a file, one that stores nothing."""
    if path is None:
        yield NO_JOURNAL
        return
    book = _Book.opened(Path(path), {"greedynet": library_version(), **fingerprint()}, settings)
    try:
        yield book
    except BaseException:
        book.write()
        raise
    book.remove()


class _Book(Journal):
    """The steps of a fit, and the file in which they are stored."""

    def __init__(
        self,
        path: Path,
        fingerprint: Fingerprint,
        steps: list[Known],
        settings: CheckpointSettings,
    ) -> None:
        self._path, self._settings = path, settings
        self._fingerprint = dict(fingerprint)
        self._steps, self._n_taken = steps, 0
        self._due = settings.clock() + settings.seconds
        self._has_warned = False

    @staticmethod
    def opened(path: Path, fingerprint: Fingerprint, settings: CheckpointSettings) -> "_Book":
        """Read an existing file, or start a new one."""
        check_target(path, "checkpoint")
        remove_leftovers(path)
        steps = _read(path, fingerprint) if path.exists() else []
        return _Book(path, fingerprint, steps, settings)

    def known(self) -> Known | None:
        """Return the next step of an earlier run; None if there is none."""
        if self._n_taken == len(self._steps):
            return None
        self._n_taken += 1
        return self._steps[self._n_taken - 1]

    def note(self, step: Known) -> None:
        """Record a step, and write all of them if a write is due."""
        self._steps.append(step)
        self._n_taken = len(self._steps)
        now = self._settings.clock()
        if now >= self._due:
            self.write()
            ended, settings = self._settings.clock(), self._settings
            self._due = ended + max(settings.seconds, settings.pause * (ended - now))

    def write(self) -> None:
        if not self._steps:
            return
        try:
            write_tree(self._path, _KIND, {"fingerprint": self._fingerprint, "steps": self._steps})
        except OSError as error:
            self._warn("written", error, "once interrupted, it resumes from the last one, if any")

    def remove(self) -> None:
        try:
            self._path.unlink(missing_ok=True)
        except OSError as error:
            self._warn("removed", error, "delete it before another fit uses the name")

    def _warn(self, what: str, error: OSError, advice: str) -> None:
        """Say once that something cannot be done with the file."""
        said, self._has_warned = self._has_warned, True
        if not said:
            warnings.warn(
                f"The checkpoint {str(self._path)!r} cannot be {what}: {error.strerror or error}. "
                f"The fit goes on; {advice}.",
                CheckpointWarning,
                stacklevel=2,
            )


def _read(path: Path, fingerprint: Fingerprint) -> list[Known]:
    """Return the recorded steps of the same fit from a file."""
    foreign = (
        f"`checkpoint` must name the checkpoint of this fit, or a file that does not exist yet, "
        f"got {str(path)!r}"
    )
    try:
        contents = read_tree(path)
    except ModelFileError as error:
        raise ValueError(f"{foreign}. {error} Use another name, or delete the file.") from error
    if contents.kind != _KIND:
        raise ValueError(f"{foreign}, which contains a {contents.kind!r}: use another name.")
    known: Fingerprint = contents.tree["fingerprint"]
    differences = _differences(known, fingerprint)
    if differences:
        raise ValueError(
            f"{foreign}, which belongs to a fit with {'; '.join(differences)}. Use another name, "
            "or delete the file to start again."
        )
    steps: list[Known] = contents.tree["steps"]
    return steps


def _differences(old: Fingerprint, new: Fingerprint) -> list[str]:
    changed = [name for name in {**old, **new} if old.get(name) != new.get(name)]
    return [f"{name}={old.get(name)}, not {new.get(name)}" for name in changed]


# The text of a longer list is replaced by its digest.
_LONG = 200


def described(value: Any, depth: int = 5) -> str:
    """Return a parameter as text that is the same in every process.

    Objects without an informative `repr` are described by their attributes, up to `depth` levels.
    """
    if isinstance(value, np.generic):
        value = value.item()
    if depth < 0:
        return type(value).__qualname__
    if isinstance(value, np.ndarray | list | tuple):
        numbers = _numbers(value)
        if numbers is not None:
            return f"{numbers.shape} {_digest(numbers.tobytes())}"
        shown = f"[{', '.join(described(part, depth - 1) for part in value)}]"
        return shown if len(shown) < _LONG else f"{len(value)} {_digest(shown.encode())}"
    if isinstance(value, dict):
        return f"dict({described(list(value.items()), depth)})"
    if isinstance(value, BaseEstimator):  # whose `repr` shortens arrays
        return _with_fields(value, value.get_params(deep=False), depth)
    shown = repr(value)
    # The address of an object differs between processes.
    if " at 0x" not in shown:
        return shown
    return _with_fields(value, vars(value) if hasattr(value, "__dict__") else {}, depth)


def _with_fields(value: Any, fields: Mapping[str, Any], depth: int) -> str:
    parts = [f"{name}={described(fields[name], depth - 1)}" for name in sorted(fields)]
    return f"{getattr(value, '__qualname__', type(value).__qualname__)}({', '.join(parts)})"


def _numbers(values: Any) -> NDArray[Any] | None:
    """Return numbers, given as an array or in lists, as an array; None for anything else."""
    try:
        array = np.asarray(values)
    except ValueError:  # lists of different lengths
        return None
    return array if array.dtype.kind in "biufc" else None


def data_described(data: Rows | Blocks | None) -> str:
    """Return data as text: the number of rows, and a digest."""
    if data is None or len(data) == 0:
        return "none"
    if isinstance(data, Rows):
        return f"{len(data)} rows {data.digest}"
    # The checksum depends neither on the order nor on the division of the rows into blocks.
    return f"{len(data)} rows in blocks {_digest(data.survey().checksum.tobytes())}"


def _digest(data: bytes) -> str:
    return blake2b(data, digest_size=8).hexdigest()
