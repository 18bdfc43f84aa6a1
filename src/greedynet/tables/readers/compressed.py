"""Decompression of files, by the standard library."""

import importlib
import zlib
from pathlib import Path
from typing import IO, Any

ENDINGS = (".gz", ".bz2", ".xz")

# First bytes of compressed files, which may have any name, and the modules that read them.
_BEGINNINGS = {b"\x1f\x8b": "gzip", b"BZh": "bz2", b"\xfd7zXZ\x00": "lzma"}
# Bytes of every bz2 file after the block size, the fourth byte: a text may begin with BZh.
_BZ2_BLOCK = (b"1AY&SY", b"\x17rE8P\x90")


def open_bytes(path: Path) -> IO[bytes]:
    """Open a file for reading, and decompress it if necessary."""
    with open(path, "rb") as file:
        start = file.read(10)
    for beginning, name in _BEGINNINGS.items():
        if start.startswith(beginning) and (name != "bz2" or start[4:] in _BZ2_BLOCK):
            module: Any = importlib.import_module(name)
            opened: IO[bytes] = module.open(path, "rb")
            return opened
    return open(path, "rb")


def plain_name(path: Path) -> Path:
    """Return the name without the extension of a compressed file: `a.tsv` for `a.tsv.gz`."""
    return path.with_suffix("") if path.suffix.lower() in ENDINGS else path


def is_damage(error: Exception) -> bool:
    """Whether the error was raised by one of the decompressors."""
    if isinstance(error, OSError):
        return error.errno is None  # errors of the file system have a number
    # Python may lack lzma, so its error is recognised by name.
    return isinstance(error, EOFError | zlib.error) or type(error).__name__ == "LZMAError"
