"""Text tables with one line per row: CSV and TSV."""

import csv
import io
import math
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from itertools import islice
from pathlib import Path
from typing import IO, TYPE_CHECKING

from greedynet.tables.readers.base import ROWS, Block, TableError, check_names, text_column
from greedynet.tables.readers.compressed import is_damage, open_bytes, plain_name
from greedynet.tables.readers.delimited.encodings import UTF8, encoding_of

if TYPE_CHECKING:
    from greedynet.tables.readers.delimited.plain import PlainRows

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

    Parameters
    ----------
    path : Path
        The file. Its first line names the columns.
    separator : str or None
        Separator of the cells; None to detect it: comma, semicolon or tab.
    least_bytes : int
        Size of a file with few columns from which compiled code is used, where the file is plain.
    encoding : str or None
        Encoding of the text; None to detect it.
    expected_encoding : str or None
        What it is likely to be if it does not tell.
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

    def _plain_rows(self, file: IO[bytes]) -> "PlainRows":
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
