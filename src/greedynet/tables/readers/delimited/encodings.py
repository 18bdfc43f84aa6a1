"""The encoding of a text file: as given, or as its bytes tell."""

import codecs
import warnings
from pathlib import Path
from typing import IO

from greedynet.support.errors import TableWarning
from greedynet.tables.readers.base import TableError
from greedynet.tables.readers.compressed import is_damage, open_bytes

UTF8 = "utf-8-sig"  # with a mark of the encoding at its beginning, or without

_SAMPLE = 2**16
_PIECE = 2**20
# Bytes that are searched for the first that is not ASCII.
_MOST = 2**25
_MARKS = (
    (codecs.BOM_UTF32_LE, "utf-32"),
    (codecs.BOM_UTF32_BE, "utf-32"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)
_NAMES = {"cp1252": "Windows-1252 (Western European)", "latin-1": "Latin-1 (ISO 8859-1)"}


def encoding_of(path: Path, given: str | None, expected: str | None = None) -> str:
    """Return the encoding of a text file; raise an error for a binary file.

    Without marks, a file is UTF-8 if its first letter beyond ASCII is. If it is not, no other is
    likely to be, and the file is read as expected, or else as Windows-1252, which is said in a
    warning.

    Parameters
    ----------
    path : Path
        The file, compressed or not.
    given : str or None
        The name of the encoding; None to detect it.
    expected : str or None
        The encoding of files before it, if known. Nearly all bytes are text in some encodings, so
        it does not count for files that tell theirs, as those in UTF-8 do.
    """
    if given is not None:
        return known_encoding(given)
    with open_bytes(path) as file:
        sample = file.read(_SAMPLE)
        for mark, name in _MARKS:
            if sample.startswith(mark):
                return name
        likely = expected if expected is not None and _may_be(sample, expected) else None
        if b"\0" in sample:
            return likely or _with_nul(path, sample)
        beyond = _beyond_ascii(file, sample)
    if beyond is None or (_begins_in_utf8(beyond) and (likely is None or _may_be(sample, UTF8))):
        return UTF8
    if likely is not None:
        return likely
    name = "cp1252" if _decodes(sample, "cp1252") else "latin-1"
    warnings.warn(
        f"{path.name}: it is not UTF-8 text (byte 0x{beyond[0]:02x}) and is read as "
        f"{_NAMES[name]}; if its letters are wrong, write `encoding=` with another.",
        TableWarning,
        stacklevel=2,
    )
    return name


def known_encoding(given: str) -> str:
    """Return the usual name of an encoding, or raise an error if there is none such."""
    try:
        name = codecs.lookup(given).name
        "".encode(name)
    except LookupError as error:
        raise TableError(
            f"`encoding` must be one that Python knows, such as 'utf-8', 'cp1252' or 'utf-16', got "
            f"{given!r}."
        ) from error
    return UTF8 if name == "utf-8" else name


def _with_nul(path: Path, sample: bytes) -> str:
    """Return the encoding of a text with NUL bytes, which is that of Windows or none."""
    even, odd = sample[0::2].count(0), sample[1::2].count(0)
    if len(sample) > 8 and max(even, odd) > 0.4 * len(sample) and min(even, odd) == 0:
        return "utf-16-le" if odd else "utf-16-be"
    kind = " an Excel file" if path.suffix.lower().startswith(".xls") else " a binary file"
    raise TableError(
        f"{path.name} is{kind}, not a text table: give CSV, TSV, Parquet (.parquet) or NumPy "
        "(.npz)."
    )


def _beyond_ascii(file: IO[bytes], piece: bytes) -> bytes | None:
    """Return the first four bytes from the first that is not ASCII, None if all are."""
    n_read = 0
    while piece and n_read < _MOST:
        if not piece.isascii():
            at = next(i for i, byte in enumerate(piece) if byte > 127)
            return (piece[at : at + 4] + file.read(4))[:4]
        n_read += len(piece)
        try:
            piece = file.read(_PIECE)
        except Exception as error:
            if not is_damage(error):
                raise
            break  # the rows before the damage are read, and then it is explained
    return None


def _begins_in_utf8(data: bytes) -> bool:
    """Whether the first letter is valid UTF-8."""
    decoder = codecs.getincrementaldecoder("utf-8")()
    for byte in data:
        try:
            if decoder.decode(bytes([byte])):
                return True
        except UnicodeDecodeError:
            return False
    return False


def _may_be(sample: bytes, encoding: str) -> bool:
    """Whether the beginning of a file is text in an encoding, which has NUL bytes or none."""
    try:
        if (b"\0" in sample) != (b"\0" in "a".encode(encoding)):
            return False
        codecs.getincrementaldecoder(encoding)().decode(sample)  # its last letter may be incomplete
    except UnicodeError:
        return False
    return True


def _decodes(sample: bytes, encoding: str) -> bool:
    try:
        sample.decode(encoding)
    except UnicodeDecodeError:
        return False
    return True
