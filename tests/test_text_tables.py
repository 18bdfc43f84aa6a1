"""Text files of every kind: read as Python's CSV reader would, or refused with the row."""

import bz2
import csv
import gzip
import io
import lzma

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from sklearn.preprocessing import TargetEncoder

from greedynet import TableWarning, fit_table, load
from greedynet.rows.level_means import coding_folds, level_means
from greedynet.tables.readers import TableError, open_table
from greedynet.tables.roles import forward_folds
from greedynet.tables.scores import evaluate


def cells_of(table):
    parts = list(table.blocks(table.names))
    return {name: [cell for part in parts for cell in part[name].tolist()] for name in table.names}


def write(path, text):
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return path


QUOTED = st.text(st.sampled_from('ab1,;. "\n'), max_size=4).map(
    lambda text: '"' + text.replace('"', '""') + '"'
)
CELLS = st.one_of(st.text(st.sampled_from("ab1.; é"), max_size=4), QUOTED)


@st.composite
def files(draw):
    """Files of two columns by the rules of CSV."""
    rows = draw(st.lists(st.tuples(CELLS, CELLS), min_size=1, max_size=6))
    end = draw(st.sampled_from(["\n", "\r\n"]))
    return end.join(["first,second", *(",".join(row) for row in rows)]) + draw(
        st.sampled_from(["", end])
    )


@settings(max_examples=150, deadline=None)
@given(files())
@example('first,second\n"a ""b"" c",1\n')
@example("first,second\r\n1,2\r\n\r\n3,4")
@example('first,second\n"a\nb","c,d"\n')
def test_files_are_read_as_python_reads_them(tmp_path_factory, text):
    path = write(tmp_path_factory.mktemp("files") / "a.csv", text)
    _, *rows = [row for row in csv.reader(io.StringIO(text, newline="")) if row]
    found = cells_of(open_table(path, ","))
    wanted = {name: [row[i] for row in rows] for i, name in enumerate(("first", "second"))}
    assert found == {
        name: [cell.replace("\r\n", "\n") for cell in cells] for name, cells in wanted.items()
    }


@pytest.mark.filterwarnings("ignore:.*above the names")
@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("x,y\n1,2\n3\n", "data row 2 has 1 cells, the first line 2"),
        ("x,y\n1,2\n3,4,5\n", "data row 2 has 3 cells, the first line 2"),
        ('x,y\n1,"2"3\n', "data row 1 has a quote that does not end where its cell does"),
        ('x,y\n1,"2\n3,4\n', "data row 1 has a quote that does not end where its cell does"),
        ("Report\nx,y,z\n1,2,3\n3,4\n", "data row 2 has 2 cells, the first line 3"),
    ],
)
def test_rows_that_are_not_like_the_others(tmp_path, text, message):
    path = write(tmp_path / "a.csv", text)
    with pytest.raises(TableError, match=message):
        open_table(path, ",").store()


def test_letters_that_are_not_utf8_are_refused_or_said(tmp_path):
    text = "x,c\n" + "1,a\n" * 10 + "2,größe\n"
    path = write(tmp_path / "a.csv", text.encode("cp1252"))
    with pytest.warns(TableWarning, match=r"not UTF-8 text \(byte 0xf6\) and is read as Windows"):
        assert cells_of(open_table(path))["c"][-1] == "größe"
    with pytest.raises(TableError, match=r"a.csv is not UTF-8 text.*`encoding='cp1252'`"):
        open_table(path, encoding="utf-8").store()
    # The first letter beyond ASCII is UTF-8, a later one is not.
    path = write(tmp_path / "b.csv", "x,c\n1,é\n".encode() + b"2,\xff\n")
    with pytest.raises(TableError, match=r"b.csv is not UTF-8 text \(byte 0xff\)"):
        open_table(path).store()


@pytest.mark.parametrize("pack", [gzip.compress, bz2.compress, lzma.compress])
def test_compressed_files_and_what_damages_them(tmp_path, pack):
    text = b"x,y\n" + b"1.5,red\n" * 30_000
    path = write(tmp_path / "a.csv.packed", pack(text))
    assert cells_of(open_table(path))["y"] == ["red"] * 30_000
    path.write_bytes(pack(text)[:-20])
    with pytest.raises(TableError, match=r"damaged|cannot be read"):
        open_table(path).store()


def test_zstandard(tmp_path):
    zstandard = pytest.importorskip("zstandard")
    path = write(tmp_path / "a.csv.zst", zstandard.compress(b"x,y\n1,2\n3,4\n"))
    assert cells_of(open_table(path)) == {"x": ["1", "3"], "y": ["2", "4"]}


def test_line_breaks_of_two_kinds(tmp_path):
    path = write(tmp_path / "a.csv", b"x,y\r\n1,2\n3,4\r\n")
    assert cells_of(open_table(path)) == {"x": ["1", "3"], "y": ["2", "4"]}


@pytest.mark.parametrize("separator", [",", ";", "\t", "|"])
@pytest.mark.parametrize(
    ("titles", "said"),
    [
        (["Sales of 2023", "by region"], "2 lines above the names of the columns, 'Sales of 2023'"),
        (["Report#", ""], "the line above the names of the columns, 'Report'"),
    ],
)
def test_title_lines_are_skipped_and_said(tmp_path, separator, titles, said):
    rows = [*titles, "region#size#price", "a#1,5#3", "b#2#4", "c#3#5"]
    text = "\n".join(row.replace("#", separator) for row in rows).replace("1,5", "1.5")
    if separator == "," and "#" in titles[0]:
        text = text.replace("Report,", "Report,,", 1)
    with pytest.warns(TableWarning, match=said):
        table = open_table(write(tmp_path / "a.csv", text))
    assert table.names == ("region", "size", "price")
    assert cells_of(table)["size"] == ["1.5", "2", "3"]


def test_names_cannot_become_queries(tmp_path):
    names = ['a"b', "c'd", "x); drop table t; --", "select", "c0", "ü{}", "$1"]
    lines = [",".join('"' + name.replace('"', '""') + '"' for name in [*names, "y"])]
    levels = ["it's", '"q"', "'; drop table t; --", "{t}", "%s", "\\", "$1"]
    for i in range(40):
        cells = [levels[(i + j) % len(levels)] for j in range(len(names))]
        lines.append(",".join('"' + c.replace('"', '""') + '"' for c in [*cells, str(i % 7)]))
    path = write(tmp_path / 'it\'s "a" file.csv', "\n".join(lines))
    model = fit_table(path, "y", n_nodes=2, use=names)
    assert model.columns.names == tuple(names)
    frame = {name: [levels[(i + j) % 7] for i in range(40)] for j, name in enumerate(names)}
    np.testing.assert_array_equal(model.predict(frame), model.predict(path))


def test_wide_files(tmp_path):
    names = [f"x{j}" for j in range(2_000)]
    text = ",".join([*names, "y"]) + "\n" + (",".join(["1.25"] * 2_001) + "\n") * 2
    (block,) = open_table(write(tmp_path / "a.csv", text)).blocks(["x0", "x1999"])
    assert [cells.tolist() for cells in block.values()] == [["1.25", "1.25"]] * 2


def with_totals(last):
    rng = np.random.default_rng(0)
    sizes, prices = rng.integers(1, 50, 30), rng.integers(1, 99, 30)
    rows = [f"place {i},{a},{b}" for i, (a, b) in enumerate(zip(sizes, prices, strict=True))]
    return "\n".join(["place,size,price", *rows, f"{last},{sizes.sum()},{prices.sum()}"])


@pytest.mark.parametrize("last", ["Total", "", "GRAND TOTAL"])
@pytest.mark.parametrize("in_memory", [False, True])
def test_a_last_row_of_totals_is_left_out(tmp_path, last, in_memory):
    path = write(tmp_path / "a.csv", with_totals(last))
    source = {name: np.array(c, object) for name, c in cells_of(open_table(path)).items()}
    options = {"n_nodes": 2, "ignore": "place", "missing": "mean"}
    model = fit_table(source if in_memory else path, "price", **options)
    assert model.about["rows"] == 30
    assert "holds totals: left out; `keep_totals=True` keeps it" in model.about["noticed"][0]
    assert evaluate(model, open_table(path))["rows"] == 30
    model = fit_table(path, "price", keep_totals=True, **options)
    assert model.about["rows"] == 31
    # A word alone, or a row that only comes last, holds no totals.
    text = with_totals("Total").rpartition("Total")[0]
    model = fit_table(write(tmp_path / "b.csv", f"{text}Total,3,4\n"), "price", **options)
    assert model.about["rows"] == 31


def test_texts_for_empty_cells(tmp_path):
    rows = [
        f"{i % 7 if i % 5 else 'none known'},{i % 3 if i % 4 else 'n/a'},{i}" for i in range(40)
    ]
    path = write(tmp_path / "a.csv", "\n".join(["x,z,y", *rows]))
    with pytest.warns(TableWarning, match="column 'z': 'n/a' is read as an empty cell"):
        model = fit_table(path, "y", n_nodes=2, na="none known", missing="mean")
    found = model.inputs(path)
    with pytest.warns(TableWarning, match="column 'z'"):
        again = fit_table(
            {n: np.array(c, object) for n, c in cells_of(open_table(path)).items()},
            "y",
            n_nodes=2,
            na=["none known"],
            missing="mean",
        )
    np.testing.assert_array_equal(again.inputs(path), found)
    np.testing.assert_array_equal(again.predict(path), model.predict(path))


def towns(n=2_000, n_levels=250):
    rng = np.random.default_rng(0)
    effects, at, x = rng.normal(size=n_levels), rng.integers(0, n_levels, n), rng.normal(size=n)
    town = np.array([f"town {i}" for i in at], dtype=object)
    return {"town": town, "x": x, "y": 3 * effects[at] + x + 0.3 * rng.normal(size=n)}


def test_categories_of_many_levels(tmp_path):
    table = towns()
    with pytest.warns(TableWarning, match="'town': 250 distinct values are one input each of"):
        model = fit_table(table, "y", max_nodes=6, hold_out=0.25)
    assert model.columns.features == ("town: mean", "town: rows", "x")
    # The noise is 0.3, and a level has eight rows; without the towns, the error is 3.
    assert model.about["held_out"]["rmse"] < 0.7
    assert model.expectation.expected_error < 0.8
    model.save(tmp_path / "m.safetensors")
    loaded = load(tmp_path / "m.safetensors")
    np.testing.assert_array_equal(loaded.predict(table), model.predict(table))
    new = {"town": ["elsewhere", "town 1"], "x": [0.0, 0.0]}
    with pytest.warns(TableWarning, match="did not contain the values of 1 cell of 'town'"):
        assert np.isfinite(loaded.predict(new)).all()
    with pytest.warns(TableWarning, match="did not contain"):
        assert loaded.outside(new).rows.tolist() == [True, False]
    # On disk, the codes are the same.
    with pytest.warns(TableWarning, match="250 distinct"):
        again = fit_table(table, "y", max_nodes=6, hold_out=0.25, memory_limit=0)
    np.testing.assert_array_equal(
        again.columns.inputs[0].kind.codes, model.columns.inputs[0].kind.codes
    )


@pytest.mark.parametrize("names", [["low", "high"], ["low", "middle", "high"]])
def test_classes_of_categories_of_many_levels(names):
    table = towns()
    cuts = np.quantile(table["y"], np.linspace(0, 1, len(names) + 1)[1:-1])
    table["y"] = np.array(names)[np.searchsorted(cuts, table["y"])]
    with pytest.warns(TableWarning, match="250 distinct"):
        model = fit_table(table, "y", max_nodes=6, hold_out=0.25)
    assert len(model.columns.features) == (3 if len(names) == 2 else 5)
    # Without the towns, x alone says little.
    assert model.about["held_out"]["accuracy"] > 0.75


def test_means_of_training_rows_are_those_of_other_rows():
    # A level of pure noise says nothing, though its own rows would.
    table = towns() | {"y": np.random.default_rng(1).normal(size=2_000)}
    with pytest.warns(TableWarning, match="250 distinct"):
        model = fit_table(table, "y", max_nodes=6)
    assert model.expectation.expected_error > 0.97
    assert np.std(model.predict(table)) < 0.3


def test_codes_are_those_of_the_target_encoder_and_weights_are_copies():
    rng = np.random.default_rng(0)
    at, y, weights = rng.integers(0, 12, 200), rng.normal(size=200), rng.integers(1, 4, 200)
    encoder = TargetEncoder(target_type="continuous").fit(at[:, None], y)
    np.testing.assert_allclose(level_means(at, y[:, None], 13)[:12, 0], encoder.encodings_[0])
    np.testing.assert_allclose(level_means(at, y[:, None], 13)[12], y.mean())
    copies = np.repeat(np.arange(200), weights)
    np.testing.assert_allclose(
        level_means(at, y[:, None], 13, weights.astype(float)),
        level_means(at[copies], y[copies, None], 13),
    )


def test_the_error_of_categories_within_groups_is_honest():
    """Sites lie within regions: a new region has new sites, and their means say nothing of it."""
    rng = np.random.default_rng(0)
    n, n_sites, effects = 2_400, 480, 3 * np.repeat(rng.normal(size=40), 12)
    site, x = rng.integers(0, n_sites, n), rng.normal(size=n)
    y = effects[site] + x + 0.3 * rng.normal(size=n)
    table = {"site": [f"s{i}" for i in site], "region": [f"r{i // 12}" for i in site]}
    table |= {"x": x, "y": y}
    with pytest.warns(TableWarning, match="478 distinct"):
        model = fit_table(table, "y", groups="region", max_nodes=6, hold_out=0.25)
    assert model.about["held_out"]["rmse"] == pytest.approx(3, rel=0.3)
    # With means of rows of the same region, it expected 0.72.
    assert model.expectation.expected_error > 0.7 * model.about["held_out"]["rmse"]


def test_codes_of_rows_in_order_of_time_come_from_earlier_rows():
    n = 2_000
    for others, held in coding_folds(n, 0, later=forward_folds(np.arange(n, dtype=float))):
        assert (others.max() < held.min()) or held.max() < n // 2


def test_levels_have_features_of_their_own_where_held_out_rows_say_so():
    table = towns(n_levels=120)
    with pytest.warns(TableWarning, match="120 distinct"):
        model = fit_table(table, "y", max_nodes=6, hold_out=0.25)
    assert len(model.columns.features) == 121
    assert model.about["held_out"]["rmse"] < 0.4
    with pytest.warns(TableWarning, match="1 cell of 'town', such as 'elsewhere'"):
        found = model.predict({"town": ["elsewhere"], "x": [1.0]})
    assert abs(found[0] - 1) < 1.5
    with pytest.warns(TableWarning, match="120 distinct"):
        coded = fit_table(table, "y", max_nodes=6, hold_out=0.25, memory_limit=0)
    assert len(coded.columns.features) == 3
    assert coded.about["held_out"]["rmse"] > model.about["held_out"]["rmse"]


def test_texts_that_come_once_are_no_categories():
    names = np.array([f"{i}" * 3 + "a" for i in range(2_000)], dtype=object)
    table = towns() | {"town": names, "name": names}
    model = fit_table(table, "y", max_nodes=3)
    assert not {"town", "name"} & set(model.columns.names)
    said = "the table: 'town', 'name' are texts that hardly repeat, such as '000a': left out"
    assert said in model.about["noticed"]
    for asked in ({"use": ["town"]}, {"text": "town"}):
        with pytest.raises(TableError, match=r"most of them once, which is no category: drop it"):
            fit_table(table, "y", **asked)
    with pytest.raises(TableError, match=r"'town' is text (?s:.*)'name' is text"):
        fit_table({"town": names, "name": names, "y": table["y"]}, "y")


def test_all_problems_are_said_at_once():
    n = 20
    table = {
        "a": ["1,144", "2,350"] * 10,
        "b": ["$5", "€7"] * 10,
        "when": ["01/02/2024", "03/04/2024"] * 10,
        "y": np.arange(n),
    }
    with pytest.raises(TableError, match="column 'a'") as caught:
        fit_table(table, "y")
    lines = str(caught.value).splitlines()
    for name, line in zip(("a", "b", "when"), lines, strict=True):
        assert f"column {name!r}" in line
        assert "write" in line or "convert" in line
