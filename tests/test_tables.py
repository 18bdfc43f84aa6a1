"""Tables of every format, what their columns become, and models that know them."""

import bz2
import copy
import gzip
import importlib
import lzma
import random
import tracemalloc
import warnings

import numpy as np
import pytest

import greedynet
from deep_networks import bent_columns, random_deep_network
from extras import need
from greedynet import (
    GreedyNetClassifier,
    GreedyNetRegressor,
    ModelFileError,
    Network,
    TableModel,
    TableWarning,
    fit_table,
    load,
)
from greedynet.export.resolve import as_network
from greedynet.losses import Quantile
from greedynet.support.tensorfile import read_tree, write_tree
from greedynet.tables.columns import Columns, Input, encode_blocks
from greedynet.tables.findings import Findings
from greedynet.tables.kinds import Categories
from greedynet.tables.load import as_table_model
from greedynet.tables.readers import TableError, open_table
from greedynet.tables.readers.base import ROWS, parse_numbers
from greedynet.tables.readers.doors import is_index_column
from greedynet.tables.scores import evaluate
from greedynet.tables.survey import survey

COLORS = ("blue", "green", "red")


def columns(n_rows=120, seed=0):
    """Columns of numbers and text, and a target that both decide."""
    rng = np.random.default_rng(seed)
    x, color = rng.uniform(-1, 1, n_rows), rng.choice(COLORS, n_rows)
    y = 2 * x + np.abs(x) + 3.0 * (color == "red") - 1.0 * (color == "blue")
    return {"x": x, "color": color, "y": y}


def write(path, table, separator=",", encoding="utf-8"):
    lines = [
        separator.join(table),
        *(separator.join(map(str, row)) for row in zip(*table.values(), strict=True)),
    ]
    path.write_text("\n".join(lines) + "\n", encoding=encoding)
    return path


def all_rows(table):
    blocks = list(table.blocks(table.names))
    return {name: np.concatenate([block[name] for block in blocks]) for name in table.names}


# Compressed files

COMPRESS = {".gz": gzip.compress, ".bz2": bz2.compress, ".xz": lzma.compress}


@pytest.mark.slow
@pytest.mark.parametrize("ending", COMPRESS)
@pytest.mark.parametrize("inner", [".csv", ".tsv"])
def test_compressed_text_is_read_as_if_it_were_not(tmp_path, ending, inner):
    plain = write(
        tmp_path / f"data{inner}", columns(2 * ROWS + 7), "\t" if inner == ".tsv" else ","
    )
    packed = tmp_path / f"data{inner}{ending}"
    packed.write_bytes(COMPRESS[ending](plain.read_bytes()))
    table = open_table(packed)
    assert table.label == packed.name
    for _ in range(2):  # as often as one likes
        assert len(list(table.blocks(["x"]))) == 3
    found, wanted = all_rows(table), all_rows(open_table(plain))
    for name in ("x", "color", "y"):
        np.testing.assert_array_equal(found[name], wanted[name])
    # The beginning of the file says what it is, not its name.
    np.testing.assert_array_equal(
        all_rows(open_table(packed.rename(tmp_path / "a.csv")))["x"], found["x"]
    )


def test_text_may_begin_like_a_compressed_file(tmp_path):
    table = open_table(write(tmp_path / "a.csv", {"BZh9": [1, 2], "y": [3, 4]}))
    assert table.names == ("BZh9", "y")


@pytest.mark.parametrize("ending", COMPRESS)
def test_damaged_archives_are_one_line(tmp_path, ending):
    rng = np.random.default_rng(0)
    text = "x,y\n" + "".join(f"{a},{b}\n" for a, b in rng.uniform(size=(40_000, 2)))
    whole = COMPRESS[ending](text.encode())
    for name, spoiled in (
        ("cut", whole[: len(whole) // 2]),
        ("short", whole[:12]),
        ("flipped", whole[:100] + bytes(b ^ 255 for b in whole[100:2000]) + whole[2000:]),
    ):
        path = tmp_path / f"{name}.csv{ending}"
        path.write_bytes(spoiled)
        with pytest.raises(
            TableError, match=f"{name}.csv{ending} is damaged and cannot be"
        ) as caught:
            all_rows(open_table(path))
        assert "\n" not in str(caught.value)


def test_tables_that_are_compressed_twice(tmp_path):
    path = tmp_path / "a.parquet.gz"
    path.write_bytes(gzip.compress(b"PAR1"))
    with pytest.raises(TableError, match=r"compressed twice: give the .parquet file"):
        open_table(path)


@pytest.mark.slow
def test_reading_compressed_text_takes_no_more_memory_for_more_rows(tmp_path):
    def peak(n_rows):
        path = tmp_path / "a.csv.gz"
        path.write_bytes(gzip.compress(b"x,y\n" + b"1.25,2.5\n" * n_rows))
        table = open_table(path)
        tracemalloc.start()
        assert sum(len(block["x"]) for block in table.blocks(["x"])) == n_rows
        _, most = tracemalloc.get_traced_memory()
        tracemalloc.stop()
        return most

    peak(10)
    assert peak(8 * ROWS) < 1.5 * peak(2 * ROWS)


# Decimal commas


def comma(values):
    return [str(value).replace(".", ",") for value in values]


def test_decimal_commas_are_read_where_they_are_promised(tmp_path):
    wanted = columns(40)
    path = write(
        tmp_path / "a.csv", wanted | {"x": comma(wanted["x"]), "y": comma(wanted["y"])}, ";"
    )
    model, plain = fit_table(path, "y", decimal=",", n_nodes=3), fit_table(wanted, "y", n_nodes=3)
    assert model.columns.features == plain.columns.features
    assert model.columns.means.tolist() == plain.columns.means.tolist()
    found = model.predict(open_table(path, decimal=","))
    np.testing.assert_array_equal(found, plain.predict(wanted))


def numbers_of(cells, **options):
    """The numbers that a fit makes of the cells of its only input."""
    table = {"x": np.array(cells, object), "y": np.arange(float(len(cells)))}
    model = fit_table(table, "y", n_nodes=2, missing="mean", **options)
    return model.columns, model.inputs(open_table(table, options.get("decimal")))[:, 0]


def test_all_spellings_of_numbers_with_commas():
    columns, found = numbers_of(["1,5", "-,25", " +3,e2 ", "7", "1e3"], decimal=",")
    np.testing.assert_array_equal(found, [1.5, -0.25, 300.0, 7.0, 1000.0])
    assert columns.inputs[0].kind.decimal == ","


def test_points_where_commas_are_promised_are_refused():
    # Read as 1.5 it would be a thousandth of what was meant.
    cells = np.array(["1,5"] * ROWS + ["1.25"], object)
    with pytest.raises(TableError, match=rf"column 'x' holds '1.25' in data row {ROWS + 1}, a num"):
        fit_table({"x": cells, "y": np.arange(len(cells))}, "y", decimal=",")
    with pytest.raises(TableError, match=r"`decimal` must be '.' or ',', got ';'"):
        open_table({"x": [1]}, decimal=";")


@pytest.mark.parametrize("cells", [["1,5", "2,25"], ["1", "2", "2,5"], ["42.000,00", "1.500"]])
def test_commas_with_one_meaning_are_read(tmp_path, cells):
    cells = cells * (20 // len(cells))
    y = np.arange(len(cells))
    path = write(tmp_path / "a.csv", {"x": cells, "y": y}, ";")
    with pytest.warns(TableWarning, match=r"'[\d.]+,\d+' is read as"):
        model = fit_table(path, "y", n_nodes=2)
    promised = fit_table(path, "y", n_nodes=2, decimal=",", thousands=".")
    np.testing.assert_array_equal(model.predict(path), promised.predict(path))
    wanted = [float(cell.replace(".", "").replace(",", ".")) for cell in cells]
    np.testing.assert_array_equal(model.inputs(path)[:, 0], wanted)


def test_commas_beside_other_things_are_refused():
    y = np.arange(20.0)
    with pytest.raises(TableError, match="has 19 numbers, but 'red' in data row 20"):
        fit_table({"x": ["1,5"] * 19 + ["red"], "y": y}, "y")
    with pytest.raises(TableError, match=r"19 cells such as '1,5' .*beside numbers with a point"):
        fit_table({"x": ["1,5"] * 19 + ["2.5"], "y": y}, "y")


def test_commas_in_names_are_categories():
    names = ["a, b", "c", "1,5 m", "2,3"] * 5
    model = fit_table({"x": names, "y": np.arange(20.0)}, "y", n_nodes=2)
    assert model.columns.inputs[0].levels == ("1,5 m", "2,3", "a, b", "c")


def test_decimal_commas_in_new_data_are_explained(tmp_path):
    model = fit_table(columns(40), "y", n_nodes=3)
    path = write(tmp_path / "new.csv", {"x": ["0,5", "0,25"], "color": ["red", "blue"]}, ";")
    message = r"holds '0,5', '0,25' \(2 rows.*if the comma is a decimal one, write `decimal=\",\"`"
    with pytest.raises(TableError, match=message):
        model.predict(path)
    found = model.predict(open_table(path, decimal=","))
    np.testing.assert_array_equal(
        found, model.predict({"x": [0.5, 0.25], "color": ["red", "blue"]})
    )


# Reading


@pytest.mark.parametrize("separator", [",", ";", "\t"])
@pytest.mark.parametrize("ending", [".csv", ".tsv", ".txt"])
def test_separator_is_found(tmp_path, separator, ending):
    wanted = columns(20)
    table = open_table(write(tmp_path / f"data{ending}", wanted, separator))
    assert table.names == ("x", "color", "y")
    found = all_rows(table)
    np.testing.assert_array_equal(found["x"].astype(float), wanted["x"])
    assert found["color"].tolist() == wanted["color"].tolist()


def test_decimal_commas_do_not_count_as_separators(tmp_path):
    (tmp_path / "a.csv").write_text("x;y\n1,5;2,5\n2,5;3,5\n")
    assert open_table(tmp_path / "a.csv").names == ("x", "y")


def test_a_row_of_another_length_does_not_hide_the_separator(tmp_path):
    (tmp_path / "a.csv").write_text("x,y\n1,2\n1,2,3\n")
    assert open_table(tmp_path / "a.csv").names == ("x", "y")


def test_quotes_blank_lines_marks_and_a_nameless_index(tmp_path):
    (tmp_path / "a.csv").write_bytes(
        b'\xef\xbb\xbf,"name, first",x\r\n0,"a ""b""\nc",1\r\n\r\n1,d,2\r\n'
    )
    table = open_table(tmp_path / "a.csv")
    assert table.names == ("name, first", "x")
    assert all_rows(table)["name, first"].tolist() == ['a "b"\nc', "d"]


def test_excel_unicode_text(tmp_path):
    table = open_table(write(tmp_path / "a.txt", {"größe": [1, 2], "y": [3, 4]}, "\t", "utf-16"))
    assert table.names == ("größe", "y")


def test_formats_agree(tmp_path):
    arrow, parquet = need("pyarrow"), need("pyarrow.parquet")
    wanted = columns(ROWS + 10)
    wanted["flag"] = wanted["x"] > 0
    wanted["whole"] = np.arange(ROWS + 10)
    parquet.write_table(
        arrow.table({name: list(values) for name, values in wanted.items()}),
        tmp_path / "a.parquet",
    )
    np.savez(tmp_path / "a.npz", **wanted)
    write(tmp_path / "a.csv", wanted)
    names = ["x", "color", "flag", "whole"]
    tables = [open_table(tmp_path / f"a.{ending}") for ending in ("csv", "parquet", "npz")]
    found = []
    for table in [*tables, open_table(wanted), open_table(need("pandas").DataFrame(wanted))]:
        surveys = survey(table, names)
        assert [surveys[name].text is None for name in names] == [True, False, False, True]
        inputs = Columns(
            (
                Input("x"),
                Input("color", Categories(COLORS)),
                Input("flag", Categories(("False", "True"))),
                Input("whole"),
            )
        )
        parts = list(table.blocks(names))
        assert [len(part["x"]) for part in parts] == [ROWS, 10]
        found.append(np.vstack([inputs.encode(part, Findings("a"))[0] for part in parts]))
    for other in found[1:]:
        np.testing.assert_array_equal(found[0], other)


def test_empty_cells_of_every_format(tmp_path):
    arrow, parquet, pandas = need("pyarrow"), need("pyarrow.parquet"), need("pandas")
    data = {"a": [1, None, 3], "b": ["u", "v", None]}
    parquet.write_table(arrow.table(data), tmp_path / "a.parquet")
    (tmp_path / "a.csv").write_text("a,b\n1,u\nNA,v\n3, \n")
    sources = (tmp_path / "a.parquet", tmp_path / "a.csv", pandas.DataFrame(data), data)
    for source in sources:
        found = survey(open_table(source), ["a", "b"])
        assert (found["a"].empty, found["a"].first_empty, found["a"].text) == (1, 2, None)
        assert (found["b"].empty, found["b"].first_empty) == (1, 3)
        assert found["b"].distinct == {"u": 1, "v": 1}


def test_columns_of_a_matrix(tmp_path):
    np.savez(tmp_path / "a.npz", X=np.arange(6.0).reshape(3, 2), y=np.ones(3))
    table = open_table(tmp_path / "a.npz")
    assert table.names == ("X0", "X1", "y")
    assert all_rows(table)["X1"].tolist() == [1, 3, 5]


def test_an_index_of_pandas_is_no_column(tmp_path):
    need("pyarrow")
    frame = need("pandas").DataFrame({"x": [1.0, 2.0], "y": [3.0, 4.0]}, index=[5, 9])
    frame.to_parquet(tmp_path / "a.parquet", index=True)
    frame.to_csv(tmp_path / "a.csv")
    names = {open_table(tmp_path / f"a.{ending}").names for ending in ("csv", "parquet")}
    assert names == {("x", "y")}
    assert all_rows(open_table(tmp_path / "a.parquet"))["y"].tolist() == [3, 4]


@pytest.mark.parametrize("name", ["__index_level_0__", "__index_level_12__"])
def test_names_of_an_index(name):
    assert is_index_column(name)
    for other in (name[1:], name + "x", "x" + name, "__index_level___", "index"):
        assert not is_index_column(other)


def test_names_that_come_twice(tmp_path):
    arrow, parquet, pandas = need("pyarrow"), need("pyarrow.parquet"), need("pandas")
    twice = arrow.Table.from_arrays([arrow.array([1.0, 2.0])] * 3, names=["a", "y", "a"])
    parquet.write_table(twice, tmp_path / "dup.parquet")
    with pytest.raises(TableError, match=r"dup.parquet has more than one column named 'a': rena"):
        open_table(tmp_path / "dup.parquet")
    for names in (["a", "y", "a"], [0, "y", "0"]):
        frame = pandas.DataFrame(np.ones((2, 3)), columns=names)
        with pytest.raises(TableError, match=f"more than one column named '{names[0]}'"):
            fit_table(frame, "y")
    with pytest.raises(TableError, match="more than one column named '0'"):
        open_table({0: [1, 2], "0": [3, 4]})
    matrix = {"X": np.ones((2, 2)), "y": np.ones(2)}
    for arrays in (matrix | {"X0": np.ones(2)}, {"X1": np.ones(2)} | matrix):
        np.savez(tmp_path / "a.npz", **arrays)
        with pytest.raises(TableError, match=r"a.npz has more than one column named 'X[01]'"):
            open_table(tmp_path / "a.npz")


@pytest.mark.parametrize(
    ("name", "data", "message"),
    [
        ("a.csv", b"\x00\x01\x02,\xff", "a.csv is a binary file"),
        ("a.xlsx", b"PK\x03\x04\x00\x00", "a.xlsx cannot be read as an Excel file"),
        (
            "a.csv",
            "é,größe\n".encode() + b"\xf6,1\n",
            r"is not UTF-8 text \(byte 0xf6\).*encoding=",
        ),
        ("a.csv", b"", "a.csv is empty"),
        ("a.csv", b"1,2\n3,4\n", r"numbers in its first line \(1, 2\)"),
        ("a.csv", b"x,x\n3,4\n", "more than one column named 'x'"),
        ("a.npz", b"nonsense", "a.npz cannot be read as NPZ"),
        ("a.npz", b"PK\x03\x04nonsense", "a.npz cannot be read as NPZ"),
    ],
)
def test_files_that_are_no_tables(tmp_path, name, data, message):
    (tmp_path / name).write_bytes(data)
    with pytest.raises(TableError, match=message):
        open_table(tmp_path / name)


def test_a_parquet_file_that_is_none(tmp_path):
    need("pyarrow")
    (tmp_path / "a.parquet").write_bytes(b"PAR1 and nothing else at all")
    with pytest.raises(TableError, match=r"a.parquet cannot be read as Parquet"):
        open_table(tmp_path / "a.parquet")


def test_arrays_that_are_no_columns(tmp_path):
    np.savez(tmp_path / "a.npz", x=np.ones(3), y=np.ones(4))
    with pytest.raises(TableError, match=r"different lengths, \{'x': 3, 'y': 4\}"):
        open_table(tmp_path / "a.npz")
    np.savez(tmp_path / "b.npz", x=np.ones((2, 2, 2)))
    with pytest.raises(TableError, match="'x' must have one or two dimensions, got 3"):
        open_table(tmp_path / "b.npz")
    for arrays in ({}, {"X": np.ones((3, 0))}):
        np.savez(tmp_path / "e.npz", **arrays)
        with pytest.raises(TableError, match=r"e.npz has no columns: give a table with columns"):
            open_table(tmp_path / "e.npz")
    np.savez(tmp_path / "c.npz", x=np.array([{}], dtype=object))
    np.save(tmp_path / "d.npy", np.ones(3))
    with pytest.raises(TableError, match=r"d.npz contains a single array"):
        open_table((tmp_path / "d.npy").rename(tmp_path / "d.npz"))
    with pytest.raises(TableError, match=r"c.npz cannot be read as NPZ: .*allow_pickle"):
        open_table(tmp_path / "c.npz")


@pytest.mark.parametrize(
    ("source", "got"),
    [(np.ones((3, 2)), "ndarray"), ([[1, 2], [3, 4]], "list"), (3.0, "float"), (None, "NoneType")],
)
def test_what_is_no_table_at_all(source, got):
    with pytest.raises(TypeError, match=f"`source` must be a file's path.*, got {got}: write `{{"):
        fit_table(source, "y")


@pytest.mark.parametrize(
    ("value", "got"),
    [(3, "one value"), ("abc", "one value"), (np.ones((2, 1)), r"an array of shape \(2, 1\)")],
)
def test_columns_that_are_none(value, got):
    message = f"the table: column 'a' must hold a value for each row, got {got}: write a list"
    with pytest.raises(TableError, match=message):
        fit_table({"a": value, "y": [1, 2]}, "y")


def test_names_that_are_numbers():
    x = np.arange(8.0)
    frame = need("pandas").DataFrame({0: x, 1: -x, 2: x % 2, 3: np.abs(x - 3)})
    model = fit_table(frame, 3, ignore=[1], text=[2], n_nodes=2)
    assert (model.target, model.columns.names) == ("3", ("0", "2"))
    assert model.columns.inputs[1].levels == ("0", "1")
    assert evaluate(model, open_table(frame), 3) == evaluate(model, open_table(frame))
    with pytest.raises(TableError, match="the table has no target '7'"):
        fit_table(frame, 7)


def test_a_name_to_ignore_may_stand_alone():
    table = {"name": ["u", "v"] * 4, "code": [1, 2] * 4, "x": np.arange(8), "y": np.arange(8)}
    model = fit_table(table, "y", ignore="name", text="code", n_nodes=2)
    assert [(c.name, c.levels) for c in model.columns.inputs] == [("code", ("1", "2")), ("x", None)]


@pytest.mark.parametrize("classes", [False, True])
@pytest.mark.parametrize("missing", [None, "mean", "drop"])
def test_targets_that_are_empty(missing, classes):
    for cells, where in (([np.nan] * 3, "every row"), ([np.nan, 1, np.nan], "every row but one")):
        message = f"the target 'y' is empty in {where}: fill it in, or choose another target"
        with pytest.raises(TableError, match=message):
            fit_table({"x": [1, 2, 3], "y": cells}, "y", missing=missing, classes=classes)


def test_separators_are_advice_for_text_only(tmp_path):
    (tmp_path / "a.csv").write_text(",,y\n1,2,3\n4,5,6\n")
    message = r"no columns except the target 'y': .*`separator=\";\"`.*without a name are ignored"
    with pytest.raises(TableError, match=message):
        fit_table(tmp_path / "a.csv", "y")
    with pytest.raises(TableError, match=message):
        fit_table(tmp_path / "a.csv", "y", decimal=",")
    with pytest.raises(TableError, match=r"target 'y': give columns to predict it from\.$"):
        fit_table({"y": [1, 2]}, "y")
    model = fit_table(columns(20), "y", n_nodes=2)
    with pytest.raises(TableError, match=r"the table has no column 'color': it has 'x'\.$"):
        model.predict({"x": [1.0]})
    (tmp_path / "b.csv").write_text("x:color\n1:red\n")
    with pytest.raises(TableError, match=r"b.csv has only one column.*such as `separator="):
        model.predict(tmp_path / "b.csv")


def test_a_row_with_too_many_cells_is_named(tmp_path):
    text = "x,y\n" + "1,2\n" * ROWS + "1,2,3\n"
    (tmp_path / "a.csv").write_text(text)
    table = open_table(tmp_path / "a.csv")
    with pytest.raises(TableError, match=f"data row {ROWS + 1} has 3 cells, the first line 2"):
        list(table.blocks(["x"]))


def test_a_quote_that_never_ends(tmp_path):
    (tmp_path / "a.csv").write_text('x,y\n1,"2\n3,4\n5,6\n')
    with pytest.raises(TableError, match="data row 1 has a quote that does not end"):
        fit_table(tmp_path / "a.csv", "y")


def test_dates_are_text():
    dates = np.array(["2024-01-31", "2024-02-01"], dtype="datetime64[ns]")
    found = survey(open_table({"when": dates}), ["when"])["when"]
    assert found.text is not None
    assert found.text[0].startswith("2024-01-31")


def test_missing_file_and_folder(tmp_path):
    with pytest.raises(TableError, match="does not exist"):
        open_table(tmp_path / "none.csv")
    with pytest.raises(TableError, match="is a folder without Parquet files"):
        open_table(tmp_path)


# Encoding


def test_cells_that_are_numbers():
    cells = np.array(["1", " 2.5 ", "1e3", "-inf", "", "NaN", " ", "1_000", "x"], dtype=object)
    values, text = parse_numbers(cells)
    np.testing.assert_array_equal(values, [1, 2.5, 1e3, -np.inf] + [np.nan] * 5)
    assert text.tolist() == [False] * 7 + [True, True]
    assert parse_numbers(np.array(["1_000"], dtype=object))[1].all()


def test_one_hot_by_hand():
    known = Columns((Input("c", Categories(("a", "b"))), Input("x")))
    block = {"x": np.array([1.0, np.nan, 3.0]), "c": np.array(["b", "a", ""], dtype=object)}
    findings = Findings("t")
    X, _ = known.encode(block, findings)
    np.testing.assert_array_equal(X, [[0, 1, 1], [1, 0, np.nan], [np.nan, np.nan, 3]])
    assert known.features == ("c=a", "c=b", "x")
    assert {name: tally.first for name, tally in findings.tallies("empty").items()} == {
        "x": 2,
        "c": 3,
    }
    means = known.with_means(X)
    np.testing.assert_allclose(means.means, [0.5, 0.5, 2.0])
    assert Columns.from_state(means.state()) == means


def test_rows_are_counted_across_blocks(tmp_path):
    cells = ["red"] * (2 * ROWS + 50)
    cells[2 * ROWS + 4] = cells[2 * ROWS + 9] = "pink"
    cells[3] = "grey"
    network = Network(np.ones((1, 1)), np.zeros(1), np.ones((1, 1)))
    model = TableModel(Columns((Input("c", Categories(("red",))),)), network)
    with pytest.warns(TableWarning, match="values of 3 cells of 'c', such as 'grey'"):
        rows = list(encode_blocks(model.columns, open_table({"c": cells})))
    assert [np.flatnonzero(part.new.get("c", [])).tolist() for part in rows] == [[3], [], [4, 9]]
    with pytest.warns(TableWarning, match="3 cells"):
        assert np.flatnonzero(model.predict({"c": cells}) == 0).tolist() == [
            3,
            2 * ROWS + 4,
            2 * ROWS + 9,
        ]
    model = TableModel(Columns((Input("c"),)), network)
    message = rf"'c' must hold numbers, .* 'pink' \(2 rows, first data row {2 * ROWS + 5}\)"
    with pytest.raises(TableError, match=message):
        model.predict({"c": ["1" if cell != "pink" else cell for cell in cells]})


def test_columns_are_surveyed_across_blocks():
    cells = ["1"] * (ROWS + 9)
    cells[ROWS + 2] = cells[ROWS + 5] = ""
    cells[ROWS + 3] = "x"
    found = survey(open_table({"a": cells}), ["a"])["a"]
    assert (found.rows, found.numbers, found.empty) == (ROWS + 9, ROWS + 6, 2)
    assert found.first_empty == ROWS + 3
    assert found.text == ("x", ROWS + 4)


def test_targets_that_are_wrong_are_counted_across_blocks():
    network = Network(np.ones((1, 1)), np.zeros(1), np.ones((1, 1)))
    model = TableModel(Columns((Input("x"),)), network, "y")
    y = ["1"] * (ROWS + 9)
    y[ROWS + 4] = y[ROWS + 6] = "one"
    with pytest.raises(TableError, match=rf"'one' \(2 rows, first data row {ROWS + 5}\)"):
        evaluate(model, open_table({"x": np.zeros(len(y)), "y": y}))


def test_rows_that_are_left_out_are_counted_across_blocks():
    x = np.linspace(-1, 1, ROWS + 9)
    y = 2 * x
    x[3] = y[ROWS + 2] = y[ROWS + 5] = np.nan
    model = fit_table({"x": x, "y": y}, "y", missing="drop", n_nodes=2)
    assert (model.about["rows"], model.about["left_out"]) == (ROWS + 6, 3)
    found = evaluate(model, open_table({"x": x, "y": y}))
    assert (found["rows"], found["left_out"]) == (ROWS + 6, 3)


# Fitting


def test_nine_of_ten_numbers_are_meant_to_be_numbers():
    y = np.arange(20.0)
    for n_numbers in (18, 19):
        cells = ["1"] * n_numbers + ["x"] * (20 - n_numbers)
        row = n_numbers + 1
        with pytest.raises(
            TableError, match=rf"has {n_numbers} numbers, but 'x' in data row {row}"
        ):
            fit_table({"a": cells, "y": y}, "y")
        with pytest.raises(
            TableError, match=rf"has {n_numbers} numbers, but 'x' in data row {row}"
        ):
            fit_table({"a": y, "y": cells}, "y")
    cells = ["1"] * 17 + ["x"] * 3
    assert fit_table({"a": cells, "y": y}, "y", n_nodes=2).columns.features == ("a=1", "a=x")
    assert fit_table({"a": y, "y": cells}, "y", n_nodes=2).classes_.tolist() == ["1", "x"]


def test_categories_are_learned():
    table = columns()
    model = fit_table(table, "y", max_nodes=6)
    assert model.columns.features == ("x", "color=blue", "color=green", "color=red")
    new = {"color": ["red", "blue", "green"], "x": [0.5, 0.5, 0.5]}
    np.testing.assert_allclose(model.predict(new), [4.5, 0.5, 1.5], atol=1e-9)
    assert model.network.feature_names == model.columns.features
    assert as_network(model, "test") is model.network
    matrix = np.array([[0.5, 0, 0, 1]])
    np.testing.assert_allclose(model.predict(matrix), [4.5], atol=1e-9)


def test_order_of_columns_and_format_do_not_matter(tmp_path):
    table = columns(40)
    first = fit_table(table, "y", n_nodes=3)
    again = fit_table(write(tmp_path / "a.csv", table), "y", n_nodes=3)
    turned = {name: table[name] for name in ("y", "color", "x")}
    wanted = first.predict(table)
    np.testing.assert_array_equal(wanted, again.predict(turned))
    np.testing.assert_array_equal(wanted, again.predict(tmp_path / "a.csv"))


@pytest.mark.parametrize("target", ["y", "label", "number"])
def test_round_trip(tmp_path, target):
    table = columns(60)
    table["label"] = np.where(table["y"] > 1, "high", "low")
    table["number"] = np.where(table["y"] > 1, 7, 3)
    ignore = [name for name in ("y", "label", "number") if name != target]
    model = fit_table(
        table, target, ignore=ignore, n_nodes=3, missing="mean", classes=target == "number"
    )
    model.save(tmp_path / "model.safetensors")
    again = load(tmp_path / "model.safetensors")
    assert isinstance(again, TableModel)
    assert (again.columns, again.target, again.missing) == (model.columns, target, "mean")
    assert dict(again.about) == dict(model.about)
    np.testing.assert_array_equal(again.predict(table), model.predict(table))
    if target == "y":
        assert isinstance(again.estimator, GreedyNetRegressor)
        with pytest.raises(AttributeError, match="is available for classes only"):
            again.predict_proba(table)
    else:
        assert isinstance(again.estimator, GreedyNetClassifier)
        assert again.classes_.tolist() == (["high", "low"] if target == "label" else [3, 7])
        np.testing.assert_array_equal(again.predict_proba(table), model.predict_proba(table))


def test_missing_cells_by_the_mean_and_left_out():
    table = columns(30)
    table["x"][4] = np.nan
    table["color"] = table["color"].astype(object)
    table["color"][7] = None
    table["y"][9] = np.nan
    dropped = fit_table(table, "y", missing="drop", n_nodes=2)
    rest = {name: np.delete(values, [4, 7, 9]) for name, values in table.items()}
    np.testing.assert_array_equal(
        dropped.predict(rest), fit_table(rest, "y", n_nodes=2).predict(rest)
    )
    assert (dropped.about["rows"], dropped.about["left_out"]) == (27, 3)
    filled = fit_table(table, "y", missing="mean", n_nodes=2)
    assert (filled.about["rows"], filled.about["left_out"]) == (29, 1)
    kept = np.delete(table["color"], [7, 9])
    assert filled.columns.means[1:] == pytest.approx([np.mean(kept == c) for c in COLORS])
    assert filled.columns.means[0] == pytest.approx(np.nanmean(np.delete(table["x"], 9)))
    lacking = {"x": [np.nan], "color": ["red"]}
    matrix = [[filled.columns.means[0], 0, 0, 1]]
    np.testing.assert_allclose(filled.predict(lacking), filled.predict(matrix))
    with pytest.raises(TableError, match=r"empty cells: 1 in 'x' \(first data row 1\)"):
        dropped.predict(lacking)


def test_validation_chooses_the_width():
    train, held = columns(60), columns(60, seed=1)
    model = fit_table(train, "y", validate=held, max_nodes=8)
    score = model.about["validation"]
    assert score == {
        key: value
        for key, value in evaluate(model, open_table(held)).items()
        if key not in ("rows", "left_out")
    }
    assert model.estimator.path_.held_out_errors is not None


def test_scores_by_hand():
    table = columns(50)
    table["y"] += np.sin(9 * table["x"])
    model = fit_table(table, "y", n_nodes=4, loss=Quantile(0.8))
    residuals = table["y"] - model.predict(table)
    found = evaluate(model, open_table(table))
    assert found["rmse"] == pytest.approx(np.sqrt(np.mean(residuals**2)))
    assert found["mae"] == pytest.approx(np.mean(np.abs(residuals)))
    assert found["r2"] == pytest.approx(model.estimator.score(model.inputs(table), table["y"]))
    pinball = np.where(residuals > 0, 0.8 * residuals, -0.2 * residuals)
    assert found["quantile_loss"] == pytest.approx(np.mean(pinball))


def test_the_score_of_huge_outputs():
    x = np.linspace(-1, 1, 40)
    table = {"x": x, "y": np.sin(3 * x)}
    huge = {"x": x, "y": 2.0**660 * np.sin(3 * x)}
    wanted = fit_table(table, "y", n_nodes=3).score(table)
    assert 0 < wanted < 1
    assert fit_table(huge, "y", n_nodes=3).score(huge) == pytest.approx(wanted)


def test_scores_do_not_depend_on_the_unit():
    table = columns(30)
    table["y"] += np.sin(9 * table["x"])
    found = fit_table(table, "y", n_nodes=3).about["training"]
    far = fit_table({**table, "y": 1e200 * table["y"]}, "y", n_nodes=3).about["training"]
    assert far["r2"] == pytest.approx(found["r2"])
    assert far["rmse"] == pytest.approx(1e200 * found["rmse"])


def test_scores_of_classes_by_hand():
    table = columns(50)
    rng = np.random.default_rng(1)
    table["y"] = np.where(table["y"] + rng.normal(size=50) > 1, "b", "a")
    model = fit_table(table, "y", n_nodes=2)
    found = evaluate(model, open_table(table))
    p = model.predict_proba(table)[np.arange(50), (table["y"] == "b").astype(int)]
    assert found["log_loss"] == pytest.approx(-np.mean(np.log(p)))
    assert found["accuracy"] == np.mean(model.predict(table) == table["y"])
    assert 0.5 < found["accuracy"] < 1


@pytest.mark.parametrize("kind", [object, bool])
def test_classes_of_a_saved_estimator_are_found_in_text(tmp_path, kind):
    table = columns(40)
    y = np.where(table["x"] > 0, "pos", "neg").astype(object) if kind is object else table["x"] > 0
    estimator = GreedyNetClassifier(2).fit(table["x"][:, None], y)
    estimator.save(tmp_path / "m.safetensors")
    data = open_table(write(tmp_path / "a.csv", {"x": table["x"], "label": y}))
    model = as_table_model(load(tmp_path / "m.safetensors"), data, "label")
    found = evaluate(model, data, "label")
    assert found["accuracy"] == np.mean(estimator.predict(table["x"][:, None]) == y)


def test_numbers_as_text():
    table = columns(60)
    table["code"] = np.arange(60) % 3
    model = fit_table(table, "y", text=["code"], n_nodes=2)
    assert model.columns.features[-3:] == ("code=0", "code=1", "code=2")
    cells = {**table, "code": [str(code) for code in table["code"]]}
    np.testing.assert_array_equal(model.predict(table), model.predict(cells))


def test_progress_is_reported_and_not_kept():
    seen = []
    model = fit_table(columns(40), "y", n_nodes=3, progress=lambda *step: seen.append(step))
    assert seen
    assert all(n > 0 and error >= 0 for n, error in seen)
    assert model.estimator._on_neuron is None


def long_text(n_rows=60):
    return {"x": range(n_rows), "name": [f"n{i}" for i in range(n_rows)], "y": range(n_rows)}


@pytest.mark.parametrize(
    ("table", "options", "message"),
    [
        ({"x": [1], "y": [2]}, {}, "has one row below the header"),
        ({"x": [], "y": []}, {}, "has no rows below the header"),
        ({"y": [1, 2]}, {}, "has no columns except the target 'y'"),
        ({"x": [1, 2], "z": [1, 2]}, {}, "has no target 'y': it has 'x', 'z'"),
        ({"x": [1, 2], "yy": [1, 2]}, {}, "has no target 'y': did you mean 'yy'"),
        ({"x:y": ["1:2"]}, {"file": True}, r"has only one column, 'x:y', and no target 'y'"),
        ({"x": [1, 2], "y": [1, 2]}, {"ignore": ["X"]}, "no column 'X': did you mean 'x'"),
        (
            {"x": [1, None, None], "y": [1, 2, None]},
            {"missing": None},
            r"2 in 'x' \(first data row 2\), 1 in 'y'",
        ),
        ({"x": [1, None, None], "y": [1, 2, 3]}, {"missing": "drop"}, "1 rows without empty cells"),
        ({"e": [None] * 2, "y": [1, 2]}, {"missing": "mean"}, "column 'e' is empty"),
        ({"x": [1, np.inf], "y": [1, 2]}, {}, "'x' holds infinite numbers"),
        ({"x": [1, 2], "y": [1, -np.inf]}, {}, "'y' holds infinite numbers"),
        (
            long_text(),
            {"use": "name"},
            "'name' is text with 60 distinct values such as 'n0' in 60 rows",
        ),
        (long_text(2000), {"use": "name"}, "'name' is text with more than 1,000 distinct values"),
        (
            {"x": [*range(50), "five"], "y": range(51)},
            {},
            "50 numbers, but 'five' in data row",
        ),
        (
            {"x": range(51), "y": [*range(50), "five"]},
            {},
            "50 numbers, but 'five' in data row",
        ),
        ({"x": range(60), "y": [f"n{i}" for i in range(60)]}, {}, "'y' is text .* too many for cl"),
        ({"x": range(60), "y": range(60)}, {"classes": True}, "'y' has 60 distinct values"),
        ({"x": [1, 2], "y": ["a", "a"]}, {}, "'y' is 'a' in every row"),
        (
            {"x": [1, 2], "y": ["a", "b"]},
            {"loss": "huber"},
            "`loss` applies to a target of numbers",
        ),
        ({"x": [1, 2], "y": [1, 2]}, {"separator": "::", "file": True}, "must be one character"),
    ],
)
def test_bad_tables(tmp_path, table, options, message):
    options = dict(options)
    source = write(tmp_path / "a.csv", table) if options.pop("file", False) else table
    with pytest.raises(TableError, match=message):
        fit_table(source, "y", **options)


def test_validation_that_does_not_fit():
    table = columns(20)
    with pytest.raises(TableError, match="has no column 'color'"):
        fit_table(table, "y", validate={"x": [1], "y": [1]})
    strange = {"x": [1], "color": ["pink"], "y": [1]}
    with pytest.warns(TableWarning, match="did not contain the values of 1 cell of 'color'"):
        fit_table(table, "y", validate=strange)
    table["y"] = np.where(table["y"] > 0, "a", "b")
    strange = {"x": [1], "color": ["red"], "y": ["c"]}
    with pytest.raises(
        TableError, match="'y' holds 'c', which is not a class of the training data"
    ):
        fit_table(table, "y", validate=strange)


def test_tables_that_do_not_fit_the_model():
    model = fit_table(columns(20), "y", n_nodes=2)
    with pytest.raises(TableError, match="has no column 'color': it has 'x', 'shade'"):
        model.predict({"x": [1], "shade": ["red"]})
    with pytest.raises(TableError, match=r"'x' must hold numbers, .* holds 'one' \(1 row, first"):
        model.predict({"x": ["one"], "color": ["red"]})
    with pytest.raises(TableError, match="does not know which column it predicts"):
        evaluate(TableModel(model.columns, model.estimator), open_table(columns(5)))
    bare = as_table_model(model.network, open_table(columns(3)))
    assert bare.columns.names == model.columns.features


def test_a_network_without_names_takes_the_columns_in_order():
    X = np.random.default_rng(0).uniform(size=(30, 2))
    estimator = GreedyNetRegressor(2).fit(X, X.sum(axis=1))
    table = open_table({"b": X[:, 0], "a": X[:, 1]})
    model = as_table_model(estimator, table)
    np.testing.assert_array_equal(model.predict(table), estimator.predict(X))
    with pytest.raises(
        TableError, match="takes 2 columns and has no names for them, the table has 1"
    ):
        as_table_model(estimator, open_table({"a": [1]}))
    with pytest.raises(TableError, match="does not know the means"):
        model.predict(table, missing="mean")


def test_an_estimator_of_a_data_frame_finds_its_columns_by_name():
    pandas = need("pandas")
    frame = pandas.DataFrame({"a": [1.0, 2, 3, 4], "b": [2.0, 1, 4, 3]})
    estimator = GreedyNetRegressor(2).fit(frame, frame["a"] - 2 * frame["b"])
    table = open_table({"b": frame["b"], "other": frame["a"], "a": frame["a"]})
    found = as_table_model(estimator, table).predict(table)
    np.testing.assert_allclose(found, frame["a"] - 2 * frame["b"], atol=1e-8)


def test_predicting_takes_no_more_memory_for_more_rows(tmp_path):
    rng = np.random.default_rng(0)
    model = fit_table(columns(40), "y", n_nodes=3)

    def peak(n_rows):
        x, color = rng.uniform(size=n_rows).round(4), rng.choice(COLORS, n_rows)
        table = open_table(write(tmp_path / "a.csv", {"x": x, "color": color}))
        tracemalloc.start()
        n_seen = sum(len(model.predict(rows.X)) for rows in encode_blocks(model.columns, table))
        _, most = tracemalloc.get_traced_memory()
        tracemalloc.stop()
        assert n_seen == n_rows
        return most

    peak(10)  # imports
    assert peak(8 * ROWS) < 1.5 * peak(2 * ROWS)


def test_public_names():
    for name in ("fit_table", "TableModel"):
        home = importlib.import_module(f"greedynet.{greedynet._HOMES[name]}")
        assert getattr(greedynet, name) is getattr(home, name)


# Two hidden layers


@pytest.fixture(scope="module")
def bent():
    table = bent_columns()
    return table, fit_table(table, "y", hidden_layers=2, max_nodes=40)


def test_table_of_two_layers(bent, tmp_path):
    table, model = bent
    assert model.network.ramps is not None
    assert model.network.feature_names == ("age", "height", "color=blue", "color=red")
    assert model.estimator.path_.network.feature_names == model.network.feature_names
    assert set(model.network.ramps.features) == {0, 1}  # two values need no curve
    assert f"network: {model.network.contents}" in model.summary()
    model.save(tmp_path / "model.safetensors")
    loaded = load(tmp_path / "model.safetensors")
    np.testing.assert_array_equal(loaded.predict(table), model.predict(table))
    assert loaded.summary() == model.summary()
    assert evaluate(loaded, open_table(table))["r2"] > 0.9


def test_table_model_of_a_bare_deep_network(bent, tmp_path):
    table, model = bent
    bare = TableModel(model.columns, model.network)
    bare.save(tmp_path / "bare.safetensors")
    loaded = load(tmp_path / "bare.safetensors")
    assert loaded.estimator.ramps is not None
    np.testing.assert_array_equal(loaded.predict(table), model.predict(table))
    with pytest.raises(AttributeError, match="contains only its network"):
        loaded.outside(table)


def test_bare_deep_network_file(tmp_path):
    network = random_deep_network()
    network.save(tmp_path / "network.safetensors")
    loaded = load(tmp_path / "network.safetensors")
    X = np.random.default_rng(0).normal(size=(20, 3))
    assert loaded.feature_names == network.feature_names
    np.testing.assert_array_equal(loaded.predict(X), network.predict(X))


def test_layers_are_for_numbers():
    with pytest.raises(TableError, match="`n_networks` applies to a target of numbers"):
        fit_table(bent_columns(), "color", n_networks=2)


# Model files


def messy_table(n=60):
    rng = np.random.default_rng(0)
    size = rng.uniform(size=n)
    return {
        "size": np.where(rng.random(n) < 0.2, np.nan, size),
        "price": [f"${1000 * v:,.0f}" for v in rng.integers(1, 90, n)],
        "color": rng.choice(["red", "blue"], n),
        "when": [f"2024-01-{1 + i % 28:02d}" for i in range(n)],
        "took": [f"{i % 20}:30:00" for i in range(n)],
        "y": size + rng.normal(size=n),
    }


@pytest.fixture(scope="module")
def tree(tmp_path_factory):
    path = tmp_path_factory.mktemp("model") / "m.safetensors"
    with warnings.catch_warnings(action="ignore", category=TableWarning):
        fit_table(messy_table(), "y", n_nodes=3, hold_out=0.2).save(path)
    return read_tree(path).tree


def forged(tree, path, place, value):
    """Write a file with another value at one place, and load it."""
    changed = copy.deepcopy(dict(tree))
    at = changed
    for key in place[:-1]:
        at = at[key]
    at[place[-1]] = value
    write_tree(path, "TableModel", changed)
    return load(path)


@pytest.mark.parametrize(
    ("place", "value", "message"),
    [
        (("columns", 0, "means"), [1.0, 2.0], r"columns\[0\]\['means'\].*1 finite numbers"),
        (("columns", 0, "means"), [float("inf")], r"columns\[0\]\['means'\]"),
        (("columns", 0, "means"), [], "`columns` must be with means, all or none"),
        (("estimator", "parameters", "loss"), "EXACT", "`loss` must be one of"),
        (("columns", 0, "name"), 5, r"columns\[0\]\['name'\]"),
        (("columns", 1, "name"), "size", "`columns` must be of different names"),
        (("columns", 2, "kind", "levels", 0), "\ud800", "`columns` must be of valid Unicode"),
        (("columns", 0, "kind", "type"), "sound", "`type` of a column must be one of"),
        (("columns", 2, "kind", "levels"), ["red", "red"], "`levels` must be different texts"),
        (("target",), ["y"], "`target` must be a text"),
        (("missing",), "never", "`missing` must be one of"),
        (("about", "rows"), "many", r"about\['rows'\]"),
        (("about", "assumed"), "x", r"about\['assumed'\]"),
        (("about", "reading", "decimal"), ";", r"about\['reading'\]\['decimal'\]"),
        (("about", "training", "rmse"), "small", r"about\['training'\]\['rmse'\]"),
        (("about", "held_out", "mask"), "AAAA", r"about\['held_out'\]\['mask'\]"),
        (("about", "created"), "yesterday", r"about\['created'\]"),
    ],
)
def test_fields_that_cannot_be_are_named(tree, tmp_path, place, value, message):
    with pytest.raises(ModelFileError, match=message):
        forged(tree, tmp_path / "m.safetensors", place, value)


def places(value, here=()):
    """Yield the places of all plain values below the description of the table."""
    items = value.items() if isinstance(value, dict) else enumerate(value)
    for key, inner in items:
        if isinstance(inner, dict | list | tuple):
            yield from places(inner, (*here, key))
        yield (*here, key)


VALUES = (None, -1, 3, 1e308, float("nan"), "", "x", "'; drop", [], {}, [1], True, [None], b"x")


@pytest.mark.filterwarnings("ignore:.*the training data did not contain")
def test_forged_files_are_refused_or_sane(tree, tmp_path):
    of_table = {name: tree[name] for name in ("columns", "target", "missing", "about")}
    everywhere, rng = list(places(of_table)), random.Random(0)
    n_refused, said = 0, []
    for i in range(300):
        value = rng.choice(VALUES[:-1])
        try:
            model = forged(tree, tmp_path / f"{i % 2}.safetensors", rng.choice(everywhere), value)
        except ModelFileError:
            n_refused += 1
            continue
        assert isinstance(model, TableModel)
        model.summary()
        try:
            model.predict(messy_table(5))
        except ValueError as error:
            said.append(str(error))
    assert not [text for text in said if "broadcast" in text]
    assert n_refused > 100
