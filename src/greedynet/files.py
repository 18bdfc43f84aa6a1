"""Writing a file so that nobody ever sees half of it."""

import os
import secrets
from pathlib import Path


def write_atomically(path: str | os.PathLike[str], data: bytes) -> None:
    """Write `data` under a temporary name beside `path` and move it into place.

    What stood there before stays untouched until the new file is complete.

    Parameters
    ----------
    path : str or path
        File to write; its folder must exist.
    data : bytes
        What to write.
    """
    target = Path(path)
    if not target.parent.is_dir():
        raise FileNotFoundError(
            f"`path` must lie in a folder that exists, got {str(target)!r}: make the folder "
            f"{str(target.parent)!r} first."
        )
    if target.is_dir():
        raise IsADirectoryError(
            f"`path` must name a file, got the folder {str(target)!r}: add a file name to it."
        )
    # Not `tempfile`: its files are closed to everybody else, and would stay so after the move.
    temporary = target.with_name(f".{target.name}.{secrets.token_hex(8)}.tmp")
    try:
        with open(temporary, "xb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        os.replace(temporary, target)
    except BaseException:
        temporary.unlink(missing_ok=True)
        raise
