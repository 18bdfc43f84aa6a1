"""Files of a command: writable outputs that overwrite no inputs, and `-`, standard streams."""

import os
import shutil
import sys
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from itertools import combinations
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
    """Return the file under a name that shows its format, where the contents would not."""
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


# By the name of the argument; None where it was not given, text for standard output.
Files = Mapping[str, Path | str | None]


def check_files(inputs: Files, outputs: Files) -> None:
    """Raise an error unless every output can be written and differs from all other files."""
    from greedynet.support.files import check_target

    read = {name: path for name, path in inputs.items() if isinstance(path, Path)}
    written = {name: path for name, path in outputs.items() if isinstance(path, Path)}
    for name, path in written.items():
        check_target(path, name)
    pairs = [(old, new) for new in written for old in read]
    for old, new in [*pairs, *combinations(written, 2)]:
        if _is_same_file((read | written)[old], written[new]):
            raise ValueError(
                f"`{new}` must be a separate file, got {str(written[new])!r}, which is also "
                f"`{old}`: use another name for {new}."
            )


def _is_same_file(one: Path, other: Path) -> bool:
    if one.exists() and other.exists():
        return one.samefile(other)
    return os.path.realpath(one) == os.path.realpath(other)
