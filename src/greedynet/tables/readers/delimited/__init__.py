"""Text tables with one line per row, CSV and TSV, compressed or not, in any encoding.

A careful reader of every file; `plain` reads large plain ones by the code in `compiled`.
"""

import codecs
import csv
import importlib
import io
import math
import warnings
import zlib
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from itertools import islice
from pathlib import Path
from typing import IO, Any

from greedynet.support.errors import TableWarning
from greedynet.tables.readers.base import ROWS, Block, TableError, check_names, text_column

SEPARATORS = (",", ";", "\t")

# Separators that are no part of a number.
_PLAIN = (*SEPARATORS, "|", ":", " ")

# Bytes of a file that Python takes about as long to read as to load the compiled code.
LARGE = 2**21
# Columns for which twice the size is needed.
_MANY_COLUMNS = 2000

_SAMPLE = 2**16
_SAMPLE_LINES = 20


class DelimitedTable:
    """A CSV or TSV file, compressed or not, which is read again for every pass.

    Its first line names the columns. The separator, a comma, semicolon or tab, and the encoding are
    detected if they are None. Compiled code is used from `least_bytes` on, where the file is plain.
    """

    def __init__(
        self,
        path: Path,
        separator: str | None = None,
        least_bytes: int = LARGE,
        encoding: str | None = None,
        expected_encoding: str | None = None,
    ) -> None:
        self.label = path.name
        self._least_bytes = least_bytes
        self._path = path
        with _damage_explained(path.name):
            self.encoding = encoding_of(path, encoding, expected_encoding)
        if separator is None:
            separator = self._sniffed()
        elif len(separator) != 1:
            raise TableError(
                f"`separator` must be one character, got {separator!r}: write a comma, for example."
            )
        self.separator = separator
        with self._rows() as rows:
            header = next(rows, [])
        self._n_cells = len(header)
        self._places = self._check_header([name.strip() for name in header])
        self.names = tuple(self._places)

    def blocks(self, names: Sequence[str]) -> Iterator[Block]:
        """Yield the rows of these columns in order, several thousand at a time, as text."""
        places = {name: self._places[name] for name in names}
        n_rows = position = 0
        if self._may_be_plain():
            with open_bytes(self._path) as file, self._explained():
                plain = self._plain_rows(file)
                for rows in plain.blocks():
                    yield {name: rows.column(place) for name, place in places.items()}
                    n_rows += len(rows)
            if plain.is_plain:
                return
            position = plain.position
        yield from self._careful_blocks(places, n_rows, position)

    def _careful_blocks(self, places: dict[str, int], start: int, position: int) -> Iterator[Block]:
        """Yield the blocks from a byte on, by the rules of Python's CSV reader."""
        with self._rows(position) as rows:
            if position == 0:
                next(rows, None)
            while block := list(islice(rows, ROWS)):
                self._check_widths(block, start)
                columns = list(zip(*block, strict=True))
                yield {name: text_column(columns[place]) for name, place in places.items()}
                start += len(block)

    def _may_be_plain(self) -> bool:
        """Whether to try compiled code: for large files in UTF-8."""
        # Each column of a block has a cost of its own, which few rows do not repay.
        least_bytes = self._least_bytes * (1 + self._n_cells / _MANY_COLUMNS)
        is_large = self._path.stat().st_size >= least_bytes
        return is_large and self.separator in _PLAIN and self.encoding == UTF8

    def _plain_rows(self, file: IO[bytes]) -> Any:
        # Loads compiled code, for which a small file is not worth waiting.
        from greedynet.tables.readers.delimited.plain import PlainRows

        return PlainRows(file, self.separator, self._n_cells)

    @contextmanager
    def _rows(self, position: int = 0) -> Iterator[Iterator[list[str]]]:
        """Yield an iterator over the rows from a byte on, without empty lines."""
        with self._open(position) as file, self._explained():
            yield filter(None, csv.reader(file, delimiter=self.separator, strict=True))

    def _open(self, position: int = 0) -> IO[str]:
        file = open_bytes(self._path)
        file.seek(position)
        # Only the beginning of a file may be a mark of its encoding; others are read from there.
        encoding = self.encoding if position == 0 else "utf-8"
        return io.TextIOWrapper(file, encoding=encoding, newline="")

    @contextmanager
    def _explained(self) -> Iterator[None]:
        try:
            with _damage_explained(self.label):
                yield
        except UnicodeDecodeError as error:
            name = "UTF-8" if error.encoding == "utf-8" else error.encoding
            raise TableError(
                f"{self.label} is not {name} text (byte 0x{error.object[error.start]:02x}): save "
                "it as CSV in UTF-8, or name its encoding, such as `encoding='cp1252'`."
            ) from error
        except csv.Error as error:
            raise TableError(f"{self.label} cannot be read as CSV: {error}.") from error

    def _sniffed(self) -> str:
        """Return the separator that splits the first lines into the most cells, evenly."""
        with self._open() as file, self._explained():
            sample = file.read(_SAMPLE)
        lines = sample.splitlines()
        if len(sample) == _SAMPLE and len(lines) > 1:
            lines.pop()  # truncated
        lines = [line for line in lines if line.strip()][:_SAMPLE_LINES]

        def quality(separator: str) -> tuple[bool, int]:
            with self._explained():
                widths = [len(row) for row in csv.reader(lines, delimiter=separator) if row]
            width = widths[0] if widths else 0
            return width > 1 and len(set(widths)) == 1, width

        prefer_tab = plain_name(self._path).suffix.lower() in (".tsv", ".tab")
        return max(SEPARATORS[::-1] if prefer_tab else SEPARATORS, key=quality)

    def _check_header(self, names: list[str]) -> dict[str, int]:
        if not any(names):
            raise TableError(f"{self.label} is empty: its first line must name the columns.")
        if all(_is_number(name) for name in names if name):
            raise TableError(
                f"{self.label} has numbers in its first line ({', '.join(names[:3])}), where the "
                "names of the columns belong: add a line of names."
            )
        check_names(self.label, list(filter(None, names)))
        # A column without a name is an index written by pandas, not a property of the row.
        return {name: place for place, name in enumerate(names) if name}

    def _check_widths(self, block: list[list[str]], start: int) -> None:
        for number, row in enumerate(block, start + 1):
            if len(row) != self._n_cells:
                raise TableError(
                    f"{self.label}: data row {number} has {len(row)} cells, the first line "
                    f"{self._n_cells}: correct the row; a cell that contains {self.separator!r} "
                    "needs quotes."
                )


@contextmanager
def _damage_explained(label: str) -> Iterator[None]:
    try:
        yield
    except Exception as error:
        if not is_damage(error):
            raise
        raise TableError(
            f"{label} is damaged and cannot be decompressed ({error}): obtain the file again."
        ) from error


def _is_number(cell: str) -> bool:
    try:
        return not math.isnan(float(cell))
    except ValueError:
        return False


UTF8 = "utf-8-sig"  # with a mark of the encoding at its beginning, or without

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
    likely to be, and the file is read as `expected`, or else as Windows-1252, which is said in a
    warning. Nearly all bytes are text in some encodings, so what is expected does not count for
    files that show their encoding, as those in UTF-8 do.
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
