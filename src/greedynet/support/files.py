"""Writing a file so that nobody ever sees half of it."""

import os
import re
import secrets
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from glob import escape
from pathlib import Path
from typing import IO


def write_atomically(path: str | os.PathLike[str], data: bytes) -> None:
    """Write `data` under a temporary name beside `path` and move it into place.

    What stood there before stays untouched until the new file is complete. A link stays one: what
    it leads to is written.

    Parameters
    ----------
    path : str or path
        File to write; its folder must exist.
    data : bytes
        What to write.
    """
    with replacing(path) as file:
        file.write(data)


@contextmanager
def replacing(path: str | os.PathLike[str]) -> Iterator[IO[bytes]]:
    """Lend a file to write to, which takes the place of `path` once it is complete.

    Parameters
    ----------
    path : str or path
        File to write; its folder must exist.
    """
    target = check_target(path)
    place = _followed(target)
    # Not `tempfile`: its files are closed to everybody else, and would stay so after the move.
    temporary = place.with_name(_temporary(place.name, secrets.token_hex(8)))
    try:
        with open(temporary, "xb") as file:
            yield file
            file.flush()
            os.fsync(file.fileno())
        os.replace(temporary, place)
    except BaseException as error:
        with suppress(OSError):  # it may never have been there
            temporary.unlink()
        if isinstance(error, OSError) and error.filename in (None, str(temporary)):
            # Of the file that the user knows.
            error.filename = str(target)
        raise


def remove_leftovers(path: str | os.PathLike[str]) -> None:
    """Remove what processes that were killed while they wrote have left beside `path`.

    Parameters
    ----------
    path : str or path
        File that nobody else is writing to.
    """
    target = _followed(Path(path))
    for left in target.parent.glob(_temporary(escape(target.name), "*")):
        left.unlink(missing_ok=True)


def _followed(path: Path) -> Path:
    """Return what a link leads to; any other path as it is, whose folders may be closed to us."""
    return Path(os.path.realpath(path)) if path.is_symlink() else path


def _temporary(name: str, token: str) -> str:
    return f".{name}.{token}.tmp"


def check_target(path: str | os.PathLike[str], name: str = "path") -> Path:
    """Return the path of a file to write, or say why there can be none.

    Parameters
    ----------
    path : str or path
        File to write.
    name : str, default="path"
        What errors call it.
    """
    target = Path(path)
    place = _followed(target)
    if not place.parent.is_dir():
        raise FileNotFoundError(
            f"`{name}` must lie in a folder that exists, got {str(target)!r}: make the folder "
            f"{str(place.parent)!r} first."
        )
    if target.is_dir():
        raise IsADirectoryError(
            f"`{name}` must name a file, got the folder {str(target)!r}: add a file name to it."
        )
    if (target.exists() and not target.is_file()) or place.is_symlink():
        what = "a link to itself" if place.is_symlink() else "a pipe or a device"
        raise FileExistsError(
            f"`{name}` must name a file, got {str(target)!r}, {what}: write another path."
        )
    if not os.access(place.parent, os.W_OK):
        raise PermissionError(
            f"`{name}` must lie in a folder that you may write to, got {str(target)!r}: there is "
            "no permission. Choose another folder."
        )
    return target


def is_index_column(name: str) -> bool:
    """Whether pandas has written an index without a name under this one: no property of the row."""
    return re.fullmatch(r"__index_level_\d+__", name) is not None
