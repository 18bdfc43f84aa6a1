"""Text tables before they are read: their encoding, separator, title lines and header."""

import codecs
import csv
import io
import tempfile
import warnings
import zlib
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any

from greedynet.support.duck import scratch_folder
from greedynet.support.errors import TableWarning
from greedynet.tables.readers.base import TableError, check_names, plain_number

SEPARATORS = (",", ";", "\t", "|")
ENDINGS = (".gz", ".bz2", ".xz", ".zst")

_SAMPLE = 2**16
_LONGEST_HEADER = 2**25
_SAMPLE_LINES = 30
_MOST_TITLES = 10
_PIECE = 2**20
# Bytes that are searched for the first that is not ASCII.
_MOST = 2**25

UTF8 = "utf-8-sig"  # with a mark of the encoding at its beginning, or without
_BYTE_ORDER = (
    (codecs.BOM_UTF32_LE, "utf-32"),
    (codecs.BOM_UTF32_BE, "utf-32"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)
_NAMES = {"cp1252": "Windows-1252 (Western European)", "latin-1": "Latin-1 (ISO 8859-1)"}


@dataclass(frozen=True)
class Layout:
    """How a text table is written.

    Attributes
    ----------
    names : tuple of str
        Of all columns, "" for those without one.
    n_above : int
        Lines above the header.
    """

    names: tuple[str, ...]
    separator: str
    n_above: int
    encoding: str


class TextFile:
    """A CSV or TSV file, compressed or not.

    Parameters
    ----------
    path : Path
    separator, encoding : str or None
        As given by the user; None to detect them.
    expected_encoding : str or None
        What the encoding is likely to be, where the file does not show it.
    """

    def __init__(
        self,
        path: Path,
        separator: str | None = None,
        encoding: str | None = None,
        expected_encoding: str | None = None,
    ) -> None:
        self.path, self.label = path, path.name
        if separator is not None and len(separator) != 1:
            raise TableError(
                f"`separator` must be one character, got {separator!r}: write a comma, for example."
            )
        with self.explained():
            self.encoding = encoding_of(path, encoding, expected_encoding)
            lines = self._first_lines()
        prefers_tab = plain_name(path).suffix.lower() in (".tsv", ".tab")
        order = SEPARATORS if not prefers_tab else ("\t", ",", ";", "|")
        candidates = order if separator is None else (separator,)
        rows = [self._rows(lines, candidate) for candidate in candidates]
        best = max(range(len(rows)), key=lambda i: _quality(rows[i]))
        n_titles = _titles(rows[best])
        header = rows[best][n_titles] if rows[best] else []
        names = tuple(name.strip() for name in header)
        self._check_header(names)
        n_lines = _lines_above(lines, candidates[best], n_titles)
        self.layout = Layout(names, candidates[best], n_lines, self.encoding)
        if n_titles:
            said = f"{n_titles} lines" if n_titles > 1 else "the line"
            first = next((cell.strip() for row in rows[best] for cell in row if cell.strip()), "")
            warnings.warn(
                f"{self.label}: {said} above the names of the columns, {first!r}, "
                f"{'are' if n_titles > 1 else 'is'} skipped.",
                TableWarning,
                stacklevel=2,
            )

    @property
    def noticed(self) -> tuple[str, ...]:
        """What a fit says of it: columns without a name, which are left out."""
        places = [str(i) for i, name in enumerate(self.layout.names, 1) if not name]
        if not places:
            return ()
        which = "columns" if len(places) > 1 else "column"
        return (f"{which} {' and '.join(places)} without a name: left out",)

    @property
    def is_plain(self) -> bool:
        """Whether DuckDB can read it as it is: UTF-8, perhaps in a gzip or zstd file."""
        return self.encoding == UTF8 and compression_of(self.path) in ("none", "gzip", "zstd")

    @contextmanager
    def rewritten(self) -> Iterator[Path]:
        """Lend a copy in UTF-8, without compression, and with line breaks of one kind."""
        with tempfile.TemporaryDirectory(dir=scratch_folder()) as folder, self.explained():
            copy = Path(folder) / "table.csv"
            with (
                io.TextIOWrapper(open_bytes(self.path), encoding=self.encoding) as text,
                open(copy, "w", encoding="utf-8", newline="\n") as file,
            ):
                while piece := text.read(_PIECE):
                    file.write(piece)
            yield copy

    @contextmanager
    def explained(self) -> Iterator[None]:
        """Translate errors of damaged files and wrong encodings."""
        try:
            yield
        except UnicodeDecodeError as error:
            name = "UTF-8" if error.encoding == "utf-8" else error.encoding
            raise TableError(
                f"{self.label} is not {name} text (byte 0x{error.object[error.start]:02x}): save "
                "it as CSV in UTF-8, or name its encoding, such as `encoding='cp1252'`."
            ) from error
        except csv.Error as error:
            raise TableError(f"{self.label} cannot be read as CSV: {error}.") from error
        except Exception as error:
            if not is_damage(error):
                raise
            raise TableError(
                f"{self.label} is damaged and cannot be decompressed ({error}): obtain the file "
                "again."
            ) from error

    def _first_lines(self) -> list[str]:
        with io.TextIOWrapper(open_bytes(self.path), encoding=self.encoding, newline="") as text:
            sample = text.read(_SAMPLE)
            while len(sample) < _LONGEST_HEADER and "\n" not in sample and "\r" not in sample:
                more = text.read(len(sample))
                if not more:
                    break
                sample += more
        lines = sample.splitlines(keepends=True)
        if len(sample) >= _SAMPLE and len(lines) > 1:
            lines.pop()  # truncated
        return lines

    def _rows(self, lines: list[str], separator: str) -> list[list[str]]:
        """Return the first rows, without those of nothing."""
        rows: list[list[str]] = []
        with self.explained():
            for row in csv.reader(lines, delimiter=separator):
                rows += [row] if row else []
                if len(rows) == _SAMPLE_LINES:
                    break
        return rows

    def _check_header(self, names: tuple[str, ...]) -> None:
        if not any(names):
            raise TableError(f"{self.label} is empty: its first line must name the columns.")
        if all(plain_number(name) is not None for name in names if name):
            raise TableError(
                f"{self.label} has numbers in its first line ({', '.join(names[:3])}), where the "
                "names of the columns belong: add a line of names."
            )
        check_names(self.label, list(filter(None, names)))


def _lines_above(lines: list[str], separator: str, n_titles: int) -> int:
    """Return how many lines there are before a row, of which some are empty."""
    reader, start = csv.reader(lines, delimiter=separator), 0
    for row in reader:
        if row and n_titles == 0:
            break
        n_titles -= bool(row)
        start = reader.line_num
    return start


def _quality(rows: list[list[str]]) -> tuple[bool, int, int]:
    """Return whether a separator splits all lines below a title alike, and into how many cells."""
    n_titles = _titles(rows)
    below = rows[n_titles:]
    width = len(below[0]) if below else 0
    return width > 1 and all(len(row) == width for row in below), -n_titles, width


def _titles(rows: list[list[str]]) -> int:
    """Return how many lines stand above the header: each with one text, above wider rows."""
    if len(rows) < 3:
        return 0
    width = Counter(map(len, rows)).most_common(1)[0][0]
    n = 0
    while n < min(_MOST_TITLES, len(rows) - 2) and _is_title(rows[n], width):
        n += 1
    # A line of numbers is no header.
    names = [cell for cell in rows[n] if cell.strip() and plain_number(cell.strip()) is None]
    return n if names and width > 1 and len(rows[n]) == width else 0


def _is_title(row: list[str], width: int) -> bool:
    n_full = sum(1 for cell in row if cell.strip())
    return n_full <= 1 and (len(row) == 1 < width or width > 2)


# Encodings


def encoding_of(path: Path, given: str | None, expected: str | None = None) -> str:
    """Return the encoding of a text file; raise an error for a binary file.

    Without marks, a file is UTF-8 if its first letter beyond ASCII is. If it is not, no other is
    likely to be, and the file is read as `expected`, or else as Windows-1252, which is said in a
    warning. Nearly all bytes are text in some encodings, so what is expected does not count for
    files that show their encoding, as those in UTF-8 do.
    """
    if given is not None:
        return known_encoding(given)
    with open_bytes(path) as file:
        sample = file.read(_SAMPLE)
        for mark, name in _BYTE_ORDER:
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
    try:
        sample.decode("cp1252")
        name = "cp1252"
    except UnicodeDecodeError:
        name = "latin-1"
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
    raise TableError(
        f"{path.name} is a binary file, not a text table: give CSV, TSV, JSON lines, Parquet "
        "(.parquet), Excel (.xlsx), DuckDB (.duckdb) or NumPy (.npz)."
    )


def _beyond_ascii(file: IO[bytes], piece: bytes) -> bytes | None:
    """Return the first four bytes from the first that is not ASCII, None if all are."""
    n_read = 0
    while piece and n_read < _MOST:
        if not piece.isascii():
            at = next(i for i, byte in enumerate(piece) if byte > 127)
            return (piece[at : at + 4] + file.read(4))[:4]
        n_read += len(piece)
        piece = file.read(_PIECE)
    return None


def _begins_in_utf8(data: bytes) -> bool:
    """Whether the first letter is valid UTF-8."""
    decoder = codecs.getincrementaldecoder("utf-8")()
    try:
        return any(decoder.decode(bytes([byte])) for byte in data)
    except UnicodeDecodeError:
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


# Compression

# First bytes of compressed files, which may have any name.
_BEGINNINGS = {
    b"\x1f\x8b": "gzip",
    b"BZh": "bz2",
    b"\xfd7zXZ\x00": "xz",
    b"\x28\xb5\x2f\xfd": "zstd",
}
# Bytes of every bz2 file after the block size, the fourth byte: a text may begin with BZh.
_DAMAGES = ("LZMAError", "ZstdError")
_BZ2_BLOCK = (b"1AY&SY", b"\x17rE8P\x90")


def compression_of(path: Path) -> str:
    """Return how a file is compressed: "none", "gzip", "bz2", "xz" or "zstd"."""
    with open(path, "rb") as file:
        start = file.read(10)
    for beginning, name in _BEGINNINGS.items():
        if start.startswith(beginning) and (name != "bz2" or start[4:] in _BZ2_BLOCK):
            return name
    return "none"


def open_bytes(path: Path) -> Any:
    """Open a file for reading, and decompress it if necessary."""
    kind = compression_of(path)
    if kind == "gzip":
        import gzip

        return gzip.open(path, "rb")
    if kind == "bz2":
        import bz2

        return bz2.open(path, "rb")
    if kind == "xz":
        import lzma

        return lzma.open(path, "rb")
    if kind == "zstd":
        return _open_zstd(path)
    return open(path, "rb")


def _open_zstd(path: Path) -> IO[bytes]:
    try:
        from compression import zstd  # type: ignore[import-not-found, unused-ignore]
    except ImportError:
        try:
            import zstandard
        except ImportError:
            raise TableError(
                f"{path.name} is compressed by zstd, which needs Python 3.14 or the package "
                'zstandard: write `pip install "greedynet[tables]"`, or decompress the file.'
            ) from None
        opened: IO[bytes] = zstandard.open(path, "rb")
        return opened
    found: IO[bytes] = zstd.open(path, "rb")
    return found


def plain_name(path: Path) -> Path:
    """Return the name without the extension of a compressed file: `a.tsv` for `a.tsv.gz`."""
    return path.with_suffix("") if path.suffix.lower() in ENDINGS else path


def is_damage(error: Exception) -> bool:
    """Whether the error was raised by one of the decompressors."""
    if isinstance(error, OSError):
        return error.errno is None  # errors of the file system have a number
    # Python may lack lzma, so its error is recognised by name.
    return isinstance(error, EOFError | zlib.error) or type(error).__name__ in _DAMAGES
