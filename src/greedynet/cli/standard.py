"""Standard input and output, written `-` on the command line."""

import shutil
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Literal

STANDARD: Literal["-"] = "-"

# A table is known by this name in messages.
_NAME = "standard input"


@contextmanager
def standard_input() -> Iterator[Path]:
    """Lend the path of a copy of standard input: tables are read more than once."""
    if sys.stdin is None:
        raise OSError("Standard input is closed: pipe a table into it, or pass a file.")
    with tempfile.TemporaryDirectory(prefix="greedynet-") as folder:
        copy = Path(folder, _NAME)
        with open(copy, "wb") as file:
            shutil.copyfileobj(sys.stdin.buffer, file)
        yield _named(copy)


def _named(copy: Path) -> Path:
    """Return the file under a name by which its format is known; most tell it by their contents."""
    with open(copy, "rb") as file:
        is_archive = file.read(4) == b"PK\x03\x04"
    return copy.rename(copy.with_name(f"{_NAME}.npz")) if is_archive else copy


@contextmanager
def standard_output() -> Iterator[IO[bytes]]:
    """Lend standard output; what has been written to it cannot be taken back."""
    check_standard_output()
    stream = sys.stdout.buffer
    yield stream
    stream.flush()


def check_standard_output() -> None:
    """Raise an error if standard output is closed, as after `>&-`."""
    if sys.stdout is None:
        raise OSError("Standard output is closed: redirect it to a file, or to /dev/null.")
