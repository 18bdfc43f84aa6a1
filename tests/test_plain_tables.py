"""Plain text tables: compiled code reads the same as the careful reader, bit for bit."""

import gzip
import io
import random
import tracemalloc
import warnings
from itertools import islice

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from greedynet import TableWarning, fit_table
from greedynet.tables.columns import Columns, Input
from greedynet.tables.findings import Findings
from greedynet.tables.kinds import Categories, Numbers
from greedynet.tables.memory import TwoPasses
from greedynet.tables.readers import TableError, open_table
from greedynet.tables.readers.base import (
    EMPTY,
    ROWS,
    as_text,
    distinct_texts,
    parse_numbers,
    stripped,
    text_numbers,
)
from greedynet.tables.readers.composed import MarksTable
from greedynet.tables.readers.delimited import DelimitedTable
from greedynet.tables.readers.delimited.compiled import MOST
from greedynet.tables.readers.delimited.plain import Page, PlainCells, PlainRows
from greedynet.tables.survey import survey

# They take long, and vary what other tests check once.
pytestmark = pytest.mark.slow

NEVER = 10**18


def twins(path, separator=None):
    """The same table by compiled code, where it is plain, and by the careful reader."""
    with warnings.catch_warnings(action="ignore", category=TableWarning):
        return tuple(DelimitedTable(path, separator, least) for least in (0, NEVER))


def bits(values):
    return np.ascontiguousarray(values).view(np.uint64).tolist()


def contents(table):
    """All that the library sees of a table, or the error."""
    try:
        blocks = list(table.blocks(table.names))
    except TableError as error:
        return str(error)
    return [
        {name: (as_text(cells).tolist(), _read(cells)) for name, cells in block.items()}
        for block in blocks
    ]


def _read(cells):
    values, text = parse_numbers(cells)
    texts, codes = distinct_texts(cells)
    return bits(values), text.tolist(), [texts[code] for code in codes], list(map(str, cells))


def is_compiled(table):
    return [isinstance(block[table.names[0]], PlainCells) for block in table.blocks(table.names)]


def column(cells):
    """Cells between separators, as compiled code finds them in a file."""
    text = "\n".join(cells).encode() + b"\n"
    ends = np.cumsum([len(cell.encode()) + 1 for cell in cells], dtype=np.int32) - np.int32(1)
    starts = np.concatenate([[0], ends[:-1] + 1]).astype(np.int32)
    return PlainCells(Page(text), starts, ends)


# Numbers


def decimals(n, seed=0):
    """Decimal numbers of all lengths and sizes, many of them close to halfway between floats."""
    rng = random.Random(seed)
    for _ in range(n):
        digits = "".join(rng.choices("0123456789", k=rng.randint(1, 22)))
        point = rng.randint(0, len(digits))
        exponent = rng.choice(["", f"e{rng.randint(-345, 310)}", f"E+{rng.randint(0, 25)}"])
        yield rng.choice(["", "-", "+"]) + digits[:point] + "." + digits[point:] + exponent
        value = np.uint64(rng.getrandbits(63)).view(np.float64)
        yield repr(float(value))
        yield f"{rng.gauss(0, 1):.{rng.randint(0, 20)}g}"
        # Halfway between two neighbours, a little less and a little more.
        whole = (2 * rng.getrandbits(53) + 1) << rng.randint(0, 6)
        yield from (str(whole - 1), str(whole), str(whole + 1))
        odd = 2 * rng.getrandbits(rng.randint(30, 53)) + 1
        yield f"{odd * 5 ** (k := rng.randint(1, 4))}e-{k}"


def test_numbers_are_those_of_python_bit_for_bit():
    cells = list(decimals(30_000))
    found, text = column(cells).numbers()
    wanted, wanted_text = text_numbers(cells)
    assert text.tolist() == wanted_text.tolist()
    different = np.flatnonzero(found.view(np.uint64) != wanted.view(np.uint64))
    assert [cells[i] for i in different] == []


# Numbers, empty cells and text, each as it is for a reason of its own.
WORDS = """
0 -0 +0 -0.0 00 007 1. .5 -.5 +.5e-3 . + - e e5 1e 1e+ 1e- 1e5 1E-5 1e+05 1.e3 0e5 0e99999 -0e-400
1..2 1.2.3 1-2 1e5e5 1e5.5 --1 +-1 0x10 1_000 _1 1_ 1,5 1d5 1f 0b1 1j 12abc 0.000e22 00.00100
inf -inf +Inf INF infinity -Infinity iNFinity infinit infx nan -nan +NaN nAn nanx
1e308 1.7976931348623157e308 1.7976931348623159e308 1e309 -1e400 1e99999 1e-99999
5e-324 2.4703282292062327e-324 2.4703282292062328e-324 2.2250738585072011e-308
9007199254740993 9007199254740992.5 18446744073709551616 18446744073709551615
36893488147419103232 10000000000000000000 0.1 0.30000000000000004 123456789012345678
true True no N NO na Na Null none NULLS N/a #N/a <na> n i a"b it's é Köln ½ 日本
"""
ZEROS = "0" * 1100
SPELLINGS = (
    *sorted(EMPTY),
    *WORDS.split(),
    *(ZEROS, f"{ZEROS}5", f"0.{ZEROS}1e1101", f"1{ZEROS}", f"0.{ZEROS[:30]}1", "1" * 30),
    *(f"0.{ZEROS * 91}1e200000", f"0.{ZEROS[:400]}5e399"),
    *(" ", "\t", " 1", "1 ", " 1.5\t", " NA ", "- 1", "1 2", "\x0b1", "\x1c1", "1\x1f", "\x0c"),
    *("\xa01", "\u20031.5\u2003", "\u0661\u0662", "\uff11", "1\u00b2", "\ufeff1", "\U0001d7d9"),
    *("\x7f1", "\x85", "NA\xa0", "\xa0"),
)


@pytest.mark.parametrize("cell", SPELLINGS, ids=lambda cell: ascii(cell[:24]))
def test_every_spelling_means_the_same(cell):
    (value,), (text,) = column([cell]).numbers()
    (wanted,), (wanted_text,) = text_numbers([cell])
    assert (bits([value]), text) == (bits([wanted]), wanted_text)
    assert column([cell]).levels()[0] == stripped([cell])


# Distinct texts


@pytest.mark.parametrize("n_texts", [1, 999, 1000, 1001, MOST, MOST + 1])
@pytest.mark.parametrize("letter", ["x", "é"])
def test_distinct_texts_are_counted_exactly(n_texts, letter):
    # Spaces around a text and the names of an empty cell make no difference.
    cells = [f"{letter}{i}" for i in range(n_texts - 1)] + ["NA", "", " null"]
    spaces = ["{}", " {}\t", "\x1c{}", "{}\x1f"]
    if letter == "é":
        spaces += ["\u2003{}", "{}\xa0"]
    cells = [space.format(cell) for space in spaces for cell in cells]
    wanted = stripped(cells)
    n_distinct = len(set(wanted))
    texts, codes = column(cells).levels()
    assert [texts[code] for code in codes] == wanted
    assert column(cells).levels(n_distinct - 1) is None
    assert set(column(cells).levels(n_distinct)[0]) == set(wanted)


def test_texts_with_the_same_slot_are_told_apart():
    cells = [f"{i:x}" for i in range(MOST)]
    assert column(cells * 2).levels()[1].tolist() == list(range(MOST)) * 2


# Files


def quoted(cell):
    return '"' + cell.replace('"', '""') + '"'


any_cell = st.one_of(
    st.sampled_from(SPELLINGS),
    st.floats().map(repr),
    st.integers().map(str),
    st.decimals(allow_nan=False, allow_infinity=False).map(str),
    st.text(st.sampled_from("0123456789.eE+-_ \t"), max_size=25),
    st.text(st.sampled_from("ab,; \t\"é'\n\r\x00\x0b\u2003"), max_size=5),
    st.text(st.characters(codec="utf-8"), max_size=4),
)
written_cell = st.one_of(
    any_cell.filter(lambda cell: not set(cell) & set(',"\n\r\x00')),
    any_cell.filter(lambda cell: "\x00" not in cell).map(quoted),
)
# Columns of one kind of cells, as in most files, and of all kinds.
columns = st.sampled_from(
    [
        st.integers().map(str),
        st.floats(allow_nan=False).map(repr),
        st.sampled_from(["a", "b", "", "NA"]),
        written_cell,
    ]
)
# Most files are plain, otherwise only the careful reader would be compared with itself.
odd_columns = st.just(st.one_of(any_cell, any_cell.map(quoted), st.just('"'), st.just('"a"b')))


@st.composite
def files(draw):
    """Tables in bytes, plain or not, with lines of one length or not."""
    kinds = odd_columns if draw(st.integers(0, 3)) == 0 else columns
    cells = draw(st.lists(kinds, min_size=1, max_size=4))
    rows = draw(st.lists(st.tuples(*cells).map(list), max_size=12))
    if draw(st.integers(0, 5)) == 0:
        rows.insert(draw(st.integers(0, len(rows))), draw(st.lists(cells[0], max_size=5)))
    names = [
        draw(st.sampled_from(["{}", '"{}"', " {} "])).format(f"n{j}") for j in range(len(cells))
    ]
    line_end = draw(st.sampled_from(["\n", "\r\n"]))
    lines = [",".join(row) for row in [names, *rows]]
    for _ in range(draw(st.integers(0, 2))):
        lines.insert(draw(st.integers(0, len(lines))), draw(st.sampled_from(["", "", " ", "\r"])))
    text = line_end.join(lines) + draw(st.sampled_from(["", line_end, line_end * 2, ","]))
    data = draw(st.sampled_from([b"", b"\xef\xbb\xbf"])) + text.encode("utf-8", "surrogatepass")
    return data + (draw(st.binary(max_size=3)) if draw(st.integers(0, 9)) == 0 else b"")


@settings(max_examples=600, deadline=None)
@given(files())
@example(b'a,b\n1,"2"\n"3\n4",5\n')
@example(b'a,b\n1,"2\n')
@example(b'a,b\n1,"2""3"\n')
@example(b'a,b\n1,"2"3\n')
@example(b"a,b\r1,2\r")
@example(b"a,b\n1,2\r\r\n")
@example(b"a,b\n1,2\r")
@example(b"a,b\n1,2,\n")
@example(b"a,b,\n1,2,\n")
@example(b'a\n\n""\n\n1')
@example(b"a,b\n1,\xff\n")
def test_files_are_read_as_by_the_careful_reader(tmp_path_factory, data):
    path = tmp_path_factory.mktemp("files") / "a.csv"
    path.write_bytes(data)
    try:
        plain, careful = twins(path, ",")
    except TableError:
        return  # about the header, which only the careful reader reads
    assert contents(plain) == contents(careful)
    if isinstance(contents(careful), list):
        found, wanted = survey(plain, plain.names), survey(careful, careful.names)
        assert found == wanted
    assert findings(plain) == findings(careful)


def findings(table):
    """The error of a model that takes numbers and the texts "a" and "b"."""
    inputs = [
        Input(name, Numbers() if j % 2 else Categories(("a", "b")))
        for j, name in enumerate(table.names)
    ]
    found = Findings(table.label)
    try:
        for block in table.blocks(table.names):
            Columns(tuple(inputs)).encode(block, found)
        found.check()
    except TableError as error:
        return str(error)
    return None


@settings(max_examples=300, deadline=None)
@given(files(), st.booleans())
@example(b"a,b\n1,2\n3,4\n", False)
@example(b"a,b\n1.5,2\n.5,x\n", True)
@example(b"a,b\n1.5,2\n.5,x\n", False)
@example(b'a,b\n"1,5",2\n"2,25",3\n', False)
def test_decimal_commas_are_read_as_by_the_careful_reader(tmp_path_factory, data, swap):
    # Points are refused where commas are promised: most files have commas instead.
    path = tmp_path_factory.mktemp("files") / "a.csv"
    path.write_bytes(data.replace(b",", b";").replace(b".", b",") if swap else data)
    try:
        plain, careful = (MarksTable(table, ",") for table in twins(path, ";" if swap else ","))
    except TableError:
        return
    assert contents(plain) == contents(careful)


def test_cells_with_decimal_commas_are_compiled(tmp_path):
    path = tmp_path / "a.csv"
    path.write_text('x;when;c\n1,5;1.2.2024;a\n-2,5e3;2.3.2024;"1,25"\n7;3.3.2024;,\n')
    (block,) = MarksTable(DelimitedTable(path, least_bytes=0), ",").blocks(["x", "when", "c"])
    assert isinstance(block["x"], PlainCells)
    assert block["x"].numbers()[0].tolist() == [1.5, -2500.0, 7.0]
    assert list(block["x"]) == ["1.5", "-2.5e3", "7"]
    assert list(block["c"]) == ["a", "1.25", ","]
    assert isinstance(block["when"], np.ndarray)


@settings(max_examples=200, deadline=None)
@given(files(), st.integers(3, 40))
def test_files_may_be_read_in_pieces_of_any_length(data, piece):
    def rows(piece):
        reader = PlainRows(io.BytesIO(data), ",", 2, piece)
        found = [[list(rows.column(j)) for j in range(2)] for rows in reader.blocks()]
        return found, reader.is_plain, reader.position

    assert rows(piece) == rows(10**6)


@pytest.mark.parametrize("separator", [",", ";", "\t", "|", ":", " "])
@pytest.mark.parametrize("ending", ["\n", "\r\n"])
def test_plain_files_are_read_by_compiled_code(tmp_path, separator, ending):
    lines = ["x", "c"], ["1.5", '"red"'], ["", ""], ['"2"', "grün"], [".", "a'b"]
    path = tmp_path / "a.csv"
    path.write_bytes(ending.join(map(separator.join, lines)).encode())
    plain, careful = twins(path, separator)
    assert (is_compiled(plain), is_compiled(careful)) == ([True], [False])
    assert contents(plain) == contents(careful)


@pytest.mark.parametrize("separator", ["1", "e", ".", "-", '"', "é"])
def test_separators_that_could_be_part_of_a_cell_are_left_to_the_careful_reader(
    tmp_path, separator
):
    path = tmp_path / "a.csv"
    path.write_text(f"x{separator}y\n2{separator}3\n", encoding="utf-8")
    plain, careful = twins(path, separator)
    assert is_compiled(plain) == [False]
    assert contents(plain) == contents(careful)


def test_other_encodings_are_left_to_the_careful_reader(tmp_path):
    (tmp_path / "a.csv").write_text("x,y\n1,2\n", encoding="utf-16")
    plain, careful = twins(tmp_path / "a.csv")
    assert is_compiled(plain) == [False]
    assert contents(plain) == contents(careful)


def test_files_that_are_small_or_have_few_rows_need_no_compiled_code(tmp_path):
    path = tmp_path / "a.csv"
    path.write_text("x,y\n" + "1,2\n" * 10)
    assert is_compiled(open_table(path)) == [False]
    path.write_text("x,y\n" + "1.0000000000000000,2\n" * 100_000)
    assert all(is_compiled(open_table(path)))
    n_columns = 20_000
    row = ",".join(["1.0000000000000000"] * n_columns)
    path.write_text(",".join(f"x{j}" for j in range(n_columns)) + f"\n{row}" * 10)
    assert is_compiled(open_table(path)) == [False]


# Lines that compiled code does not read, and which the careful reader reads or explains.
SURPRISES = {
    "a row with another number of cells": "1,2,3\n",
    "text after a quote": '1,"2"3\n',
    "a quote that never ends": '1,"2\n',
    "a lone carriage return": "1,2\r3,4\n",
    "a cell that is too long": "1," + "9" * 140_000 + "\n",
    "a NUL byte": "1,2\x00\n",
    "no text in UTF-8": "1,\udcff\n",
}
# In the first rows, these are found when the file is opened.
FOUND_EARLY = ("a NUL byte", "no text in UTF-8")


@pytest.mark.parametrize("before", [0, 10, ROWS - 1, ROWS, 2 * ROWS + 5])
@pytest.mark.parametrize("what", SURPRISES)
def test_the_careful_reader_takes_over(tmp_path, what, before):
    if before <= 10 and what in FOUND_EARLY:
        return
    path = tmp_path / "a.csv"
    text = "\ufeffx,y\n" + "1.5,some é\n" * before + SURPRISES[what] + "7,8\n" * 20
    path.write_bytes(text.encode("utf-8", "surrogateescape"))
    plain, careful = twins(path, ",")
    assert contents(plain) == contents(careful)
    blocks = plain.blocks(["x"])
    for _ in range(before // ROWS):
        assert isinstance(next(blocks)["x"], PlainCells)


def test_a_header_that_is_not_plain_is_left_to_the_careful_reader(tmp_path):
    (tmp_path / "a.csv").write_bytes(b"\xef\xbb\xbfx,y\r1,2\n3,4\n")
    plain, careful = twins(tmp_path / "a.csv")
    assert contents(plain) == contents(careful)
    assert is_compiled(plain) == [False]


def test_quotes_inside_quotes(tmp_path):
    # The same bytes are another text without quotes around them.
    path = tmp_path / "a.csv"
    path.write_text('"x ""1""",y\n"a""b",1\na""b,2\n"""","""3"""\n"c",""""""\n" a""b ",\n')
    plain, careful = twins(path)
    assert plain.names == ('x "1"', "y")
    assert is_compiled(plain) == [True]
    (block,) = plain.blocks(plain.names)
    assert list(block['x "1"']) == ['a"b', 'a""b', '"', "c", ' a"b ']
    assert contents(plain) == contents(careful)
    assert contents(MarksTable(plain, ",")) == contents(MarksTable(careful, ","))


def test_reading_takes_no_more_memory_for_more_rows(tmp_path):
    def peak(n_rows):
        path = tmp_path / "a.csv"
        path.write_text("x,y\n" + "1.2345678,red\n" * n_rows)
        table = DelimitedTable(path, least_bytes=0)
        tracemalloc.start()
        assert sum(int(block["x"].numbers()[0].size) for block in table.blocks(["x"])) == n_rows
        _, most = tracemalloc.get_traced_memory()
        tracemalloc.stop()
        return most

    peak(10)  # loads compiled code
    assert peak(64 * ROWS) < 1.5 * peak(16 * ROWS)


def test_compressed_files_and_what_damages_them(tmp_path):
    text = "x,y\n" + "1.5,red\n" * (3 * ROWS) + "2,3\r4,5\n"
    packed = gzip.compress(text.encode())
    path = tmp_path / "a.csv.gz"
    path.write_bytes(packed)
    plain, careful = twins(path)
    assert is_compiled(plain) == [True, True, True, False]
    assert contents(plain) == contents(careful)
    path.write_bytes(packed[:-20])
    plain, careful = twins(path)
    assert "is damaged and cannot be decompressed" in contents(plain)
    assert contents(plain) == contents(careful)


def test_rows_that_are_longer_than_a_piece(tmp_path):
    n_columns = 3 * 2**16
    names = ",".join(f"x{j}" for j in range(n_columns))
    path = tmp_path / "a.csv"
    path.write_text(names + "\n" + (",".join(["1.25"] * n_columns) + "\n") * 2)
    (block,) = DelimitedTable(path, least_bytes=0).blocks(["x0", f"x{n_columns - 1}"])
    for cells in block.values():
        assert cells.numbers()[0].tolist() == [1.25, 1.25]


# Two passes


def test_the_second_pass_reads_no_file(tmp_path):
    path = tmp_path / "a.csv"
    path.write_text("x,c,y\n" + "1.5,red,2\n" * (ROWS + 1))
    rows = TwoPasses(DelimitedTable(path, least_bytes=0))
    first = list(rows.blocks(["x", "c", "y"]))
    path.unlink()
    second = list(rows.blocks(["c", "x"]))
    assert [block["x"] is other["x"] for block, other in zip(first, second, strict=True)] == [
        True
    ] * 2
    with pytest.raises(FileNotFoundError, match=r"a\.csv"):
        next(rows.blocks(["x"]))


@pytest.mark.parametrize(
    ("least_bytes", "most_bytes", "names"),
    [(NEVER, NEVER, ["x"]), (0, 8 * ROWS, ["x"]), (0, NEVER, ["x", "y"])],
    ids=["strings", "large", "other columns"],
)
def test_the_second_pass_reads_again_what_was_not_kept(tmp_path, least_bytes, most_bytes, names):
    path = tmp_path / "a.csv"
    path.write_text("x,y\n" + "1.5,2\n" * (2 * ROWS))
    rows = TwoPasses(DelimitedTable(path, least_bytes=least_bytes), most_bytes)
    list(rows.blocks(["x"]))
    path.write_text("x,y\n" + "3,4\n" * (2 * ROWS))
    assert [set(as_text(block["x"])) for block in rows.blocks(names)] == [{"3"}, {"3"}]


def test_a_pass_that_ended_early_is_not_kept(tmp_path):
    path = tmp_path / "a.csv"
    path.write_text("x,y\n" + "1.5,2\n" * (2 * ROWS + 1))
    rows = TwoPasses(DelimitedTable(path, least_bytes=0))
    list(islice(rows.blocks(["x"]), 2))
    assert sum(len(block["x"]) for block in rows.blocks(["x"])) == 2 * ROWS + 1


@pytest.mark.parametrize("n_rows", [ROWS + 2, ROWS + 5, ROWS - 3])
def test_a_table_that_changes_between_the_passes(n_rows):
    class Changing:
        label, names = "the table", ("x", "y")

        def __init__(self):
            self.lengths = [ROWS + 2, n_rows]

        def blocks(self, names):
            x = np.arange(self.lengths.pop(0), dtype=float)
            for part in (x[:ROWS], x[ROWS:]):
                yield dict.fromkeys(names, part)

    model = fit_table(Changing(), "y", n_nodes=2)
    assert model.about["rows"] == n_rows
    np.testing.assert_allclose(model.predict({"x": [3.0, 5.5]}), [3.0, 5.5])


def test_fits_to_large_and_small_files_agree(tmp_path):
    rng = np.random.default_rng(0)
    x, color = rng.uniform(-1, 1, 200), rng.choice(["blue", "grün"], 200)
    y = np.where(color == "blue", np.abs(x), x)
    path = tmp_path / "a.csv"
    lines = [f"{a},{b},{c}" for a, b, c in zip(x.tolist(), color, y.tolist(), strict=True)]
    path.write_text("\n".join(["x,color,y", *lines]), encoding="utf-8")
    plain, careful = (fit_table(table, "y", n_nodes=3) for table in twins(path))
    assert plain.columns == careful.columns
    np.testing.assert_array_equal(
        *(model.predict({"x": x, "color": color}) for model in (plain, careful))
    )
    np.testing.assert_array_equal(
        plain.predict(DelimitedTable(path, least_bytes=0)), plain.predict(path)
    )
