"""A journal in a file, so that an interrupted fit can be resumed.

The file contains the results in the journal and the *fingerprint* of the fit: its parameters, and
digests of its data. It is written every few seconds, completely and atomically, so that the last
complete version is available whenever the process ends. A fit that succeeds removes its file.

A file that cannot be written, as on a full disk, is no reason to end a fit: a warning says so once,
and every later write is tried again.
"""

import os
import threading
import time
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from hashlib import blake2b
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from greedynet.rows.blocks import Blocks
from greedynet.rows.rows import Rows
from greedynet.support.errors import CheckpointWarning
from greedynet.support.files import remove_leftovers
from greedynet.support.journal import NO_JOURNAL, Journal, Known, Record
from greedynet.support.tensorfile import ModelFileError, library_version, read_tree, write_tree

# The parameters and data of a fit, by name, as text.
Fingerprint = Mapping[str, str]

_KIND = "checkpoint"
# The entry of a fingerprint that names the coordinates of the neurons, if not those given.
COORDINATES = "coordinates"
# The number of the recipe by which a fit proceeds; notes of another recipe mean something else.
RECIPE, RECIPE_NUMBER = "recipe", "4"


@dataclass(frozen=True)
class CheckpointSettings:
    """When a checkpoint is written.

    Attributes
    ----------
    seconds : float
        Minimum time between two writes.
    pause : float
        After a write, the next one is delayed by at least this many times its duration, so that
        most of the time is spent on the fit.
    clock : callable
        Returns the time in seconds.
    """

    seconds: float = 3.0
    pause: float = 20.0
    clock: Callable[[], float] = time.monotonic


DEFAULT_SETTINGS = CheckpointSettings()


@contextmanager
def checkpointed(
    path: str | os.PathLike[str] | None,
    fingerprint: Callable[[], Fingerprint],
    settings: CheckpointSettings = DEFAULT_SETTINGS,
) -> Iterator[Journal]:
    """Yield the journal that is stored in a file; without a file, one that stores nothing.

    Parameters
    ----------
    path : str, path or None
        The file, which exists if the fit was interrupted.
    fingerprint : callable
        Returns the fingerprint, which must be unchanged to resume the fit.
    settings : CheckpointSettings
    """
    if path is None:
        yield NO_JOURNAL
        return
    book = _Book.opened(Path(path), {"greedynet": library_version(), **fingerprint()}, settings)
    try:
        yield _Branch(book, "fit")
    except BaseException:
        book.write()
        raise
    book.remove()


class _Book:
    """All results that a fit has recorded, by place, and the file in which they are stored.

    Several threads record results concurrently; the one that finds a write due writes for all.
    """

    def __init__(
        self,
        path: Path,
        fingerprint: Fingerprint,
        notes: dict[str, Known],
        settings: CheckpointSettings,
    ) -> None:
        self._path, self._settings = path, settings
        self._fingerprint = dict(fingerprint)
        self._notes = notes
        self._lock = threading.Lock()
        self._due = settings.clock() + settings.seconds
        self._has_warned = False

    @staticmethod
    def opened(path: Path, fingerprint: Fingerprint, settings: CheckpointSettings) -> "_Book":
        """Read an existing file, or start a new one."""
        _check_target(path)
        remove_leftovers(path)
        notes = _read(path, fingerprint) if path.exists() else {}
        return _Book(path, fingerprint, notes, settings)

    def known(self, place: str) -> Known | None:
        return self._notes.get(place)

    def note(self, place: str, result: Known) -> None:
        with self._lock:
            self._notes[place] = result
            now = self._settings.clock()
            is_due = now >= self._due
            if is_due:
                self._due = float("inf")  # no other thread writes until this is done
        if is_due:
            self.write()
            ended, settings = self._settings.clock(), self._settings
            self._due = ended + max(settings.seconds, settings.pause * (ended - now))

    def drop(self, place: str) -> None:
        """Drop the intermediate results of a completed result."""
        with self._lock:
            for inner in [name for name in self._notes if name.startswith(f"{place}/")]:
                del self._notes[inner]

    def write(self) -> None:
        with self._lock:
            notes = dict(self._notes)
        if not notes:
            return
        try:
            write_tree(self._path, _KIND, {"fingerprint": self._fingerprint, "notes": notes})
        except OSError as error:
            self._warn("written", error, "once interrupted, it resumes from the last one, if any")

    def remove(self) -> None:
        try:
            self._path.unlink(missing_ok=True)
        except OSError as error:
            self._warn("removed", error, "delete it before another fit uses the name")

    def _warn(self, what: str, error: OSError, advice: str) -> None:
        """Say once that something cannot be done with the file."""
        with self._lock:
            said, self._has_warned = self._has_warned, True
        if not said:
            warnings.warn(
                f"The checkpoint {str(self._path)!r} cannot be {what}: {error.strerror or error}. "
                f"The fit goes on; {advice}.",
                CheckpointWarning,
                stacklevel=2,
            )


class _Record(Record):
    def __init__(self, book: _Book, place: str) -> None:
        self.known = book.known(place)
        self.place = place
        self._book = book

    def note(self, result: Callable[[], Known]) -> None:
        self._book.note(self.place, result())


class _Branch(Journal):
    def __init__(self, book: _Book, place: str) -> None:
        self._book, self._place = book, place
        self._n_records = 0
        self._names: set[str] = set()

    @property
    def is_used(self) -> bool:
        return bool(self._n_records or self._names)

    def branch(self, name: str) -> Journal:
        assert name not in self._names, f"two branches {name!r} of {self._place!r}"
        self._names.add(name)
        return _Branch(self._book, f"{self._place}/{name}")

    def record(self) -> _Record:
        record = _Record(self._book, f"{self._place}/{self._n_records}")
        self._n_records += 1
        return record

    def once(self, compute: Callable[[Journal], Known]) -> Known:
        record = self.record()
        if record.known is not None:
            return record.known
        inner = _Branch(self._book, record.place)
        found = compute(inner)
        if inner.is_used:
            self._book.drop(record.place)
        record.note(lambda: found)
        return found


def _check_target(path: Path) -> None:
    """Raise an error before the fit if the file cannot be written."""
    if path.is_dir():
        raise IsADirectoryError(
            f"`checkpoint` must name a file, got the folder {str(path)!r}: add a file name to it."
        )
    if not path.parent.is_dir() or not os.access(path.parent, os.W_OK):
        raise FileNotFoundError(
            f"`checkpoint` must be in an existing folder that you may write to, got "
            f"{str(path)!r}: create the folder {str(path.parent)!r} first, or choose another."
        )


def _read(path: Path, fingerprint: Fingerprint) -> dict[str, Known]:
    """Return the recorded results of the same fit from a file."""
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
    if RECIPE in fingerprint and COORDINATES in known and known.get(RECIPE) != fingerprint[RECIPE]:
        raise ValueError(
            f"{foreign}, which was written by another version of greedynet, whose fits take other "
            "steps. Use another name, or delete the file to start again."
        )
    if COORDINATES in fingerprint and COORDINATES not in known:
        raise ValueError(
            f"{foreign}, which was written by an earlier greedynet: its neurons refer to the "
            "columns as given, where fits now use a canonical order of them. Use another name, or "
            "delete the file to start again."
        )
    differences = _differences(known, fingerprint)
    if differences:
        raise ValueError(
            f"{foreign}, which belongs to a fit with {'; '.join(differences)}. Use another name, "
            "or delete the file to start again."
        )
    notes: dict[str, Known] = contents.tree["notes"]
    return {_present_place(place): result for place, result in notes.items()}


# Places of the first files of 0.1.0, and the current ones.
_MOVED = (
    ("fit/network/sample/", "fit/network/passes/"),
    ("fit/network/growth/growth 0/", "fit/network/growth 0/"),
    ("fit/sample/", "fit/passes/"),
    ("fit/growth/", "fit/growth 0/"),
)


def _present_place(place: str) -> str:
    """Return the current place of a result."""
    for old, new in _MOVED:
        if place.startswith(old):
            return new + place.removeprefix(old)
    return place


def _differences(old: Fingerprint, new: Fingerprint) -> list[str]:
    """Return the differences between two fits."""
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
    shown = repr(value)
    # The address of an object differs between processes.
    if " at 0x" not in shown:
        return shown
    held = vars(value) if hasattr(value, "__dict__") else {}
    parts = [f"{name}={described(held[name], depth - 1)}" for name in sorted(held)]
    return f"{getattr(value, '__qualname__', type(value).__qualname__)}({', '.join(parts)})"


def _numbers(values: Any) -> NDArray[Any] | None:
    """Return numbers, given as an array or in lists, as an array; None for anything else."""
    try:
        array = np.asarray(values)
    except ValueError:  # lists of different lengths
        return None
    return array if array.dtype.kind in "biufc" else None


def data_described(data: Rows | Blocks | Sequence[tuple[Rows, Rows]] | None) -> str:
    """Return data as text: the number of rows, and a digest."""
    if data is None or len(data) == 0:
        return "none"
    if isinstance(data, Sequence):
        digests = "".join(part.digest for fold in data for part in fold)
        return f"{len(data)} folds {_digest(digests.encode())}"
    if isinstance(data, Rows):
        return f"{len(data)} rows {data.digest}"
    # The checksum depends neither on the order nor on the division of the rows into blocks.
    return f"{len(data)} rows in blocks {_digest(data.survey().checksum.tobytes())}"


def _digest(data: bytes) -> str:
    return blake2b(data, digest_size=8).hexdigest()
