"""Files that no other process sees incomplete, and libraries that are imported when asked for."""

import os
import secrets
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from glob import escape
from importlib import import_module
from pathlib import Path
from typing import IO, Any


def require(module: str, extra: str, caller: str) -> Any:
    """Import an optional dependency; if it is missing, the error says how to install it.

    `extra` is the extra of greedynet that installs it, and `caller` the public function that needs
    it. Of "onnx.helper", the innermost module is returned.
    """
    try:
        return import_module(module)
    except ModuleNotFoundError as error:
        # An installed library that lacks one of its own dependencies has the better error message.
        if error.name != module.partition(".")[0]:
            raise
        raise ModuleNotFoundError(
            f"`{caller}` needs {error.name}, which is not installed: "
            f'pip install "greedynet[{extra}]"',
            name=error.name,
        ) from None


def write_atomically(path: str | os.PathLike[str], data: bytes) -> None:
    """Write `data` under a temporary name beside `path` and move it into place.

    An existing file is not touched until the new one is complete. A symbolic link is followed: its
    target is written.
    """
    with replacing(path) as file:
        file.write(data)


@contextmanager
def replacing(path: str | os.PathLike[str]) -> Iterator[IO[bytes]]:
    """Yield a file to write to, which replaces `path` once it is complete."""
    target = check_target(path)
    place = _followed(target)
    # Not `tempfile`: only the owner may read its files, also after the move.
    temporary = place.with_name(_temporary(place.name, secrets.token_hex(8)))
    try:
        with open(temporary, "xb") as file:
            yield file
            file.flush()
            os.fsync(file.fileno())
        os.replace(temporary, place)
    except BaseException as error:
        with suppress(OSError):  # it may never have been created
            temporary.unlink()
        if isinstance(error, OSError) and error.filename in (None, str(temporary)):
            # Name the file that the user knows.
            error.filename = str(target)
        raise


def remove_leftovers(path: str | os.PathLike[str]) -> None:
    """Remove temporary files beside `path` that were left by processes killed while writing.

    No other process may be writing to `path`.
    """
    target = _followed(Path(path))
    for left in target.parent.glob(_temporary(escape(target.name), "*")):
        left.unlink(missing_ok=True)


def _followed(path: Path) -> Path:
    """Return the target of a symbolic link; other paths unchanged."""
    return Path(os.path.realpath(path)) if path.is_symlink() else path


def _temporary(name: str, token: str) -> str:
    return f".{name}.{token}.tmp"


def check_target(path: str | os.PathLike[str], name: str = "path") -> Path:
    """Return the path of a file to write; raise an error if it cannot be written."""
    target = Path(path)
    place = _followed(target)
    if not place.parent.is_dir():
        raise FileNotFoundError(
            f"`{name}` must be in an existing folder, got {str(target)!r}: create the folder "
            f"{str(place.parent)!r} first."
        )
    if target.is_dir():
        raise IsADirectoryError(
            f"`{name}` must name a file, got the folder {str(target)!r}: add a file name to it."
        )
    if (target.exists() and not target.is_file()) or place.is_symlink():
        what = "a link to itself" if place.is_symlink() else "a pipe or a device"
        raise FileExistsError(
            f"`{name}` must name a file, got {str(target)!r}, {what}: choose another path."
        )
    if not os.access(place.parent, os.W_OK):
        raise PermissionError(
            f"`{name}` must be in a folder that you may write to, got {str(target)!r}: permission "
            "denied. Choose another folder."
        )
    return target
