"""`greedynet predict` beside other programs: columns to keep, `-`, cells of spreadsheets."""

import csv
import io
import subprocess
import sys
from datetime import date

import numpy as np
import pytest

from extras import need
from greedynet import GreedyNetRegressor, fit_table, load
from program import run

N = 60
NAMES = ["=1+1", "-1.5", "mix, 2", '@x "y"', "NA"]


def table(n=N):
    x = np.linspace(-1, 1, n)
    ids = [str(2**53 + 1 + i) for i in range(n)]
    names = [NAMES[i % len(NAMES)] for i in range(n)]
    return {"id": ids, "name": names, "x": x.tolist(), "y": np.abs(x).tolist()}


def as_csv(columns, separator=","):
    text = io.StringIO()
    writer = csv.writer(text, delimiter=separator, lineterminator="\n")
    writer.writerows([list(columns), *zip(*columns.values(), strict=True)])
    return text.getvalue()


def rows_of(text):
    return list(csv.DictReader(io.StringIO(text)))


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("streams")
    columns = table()
    (folder / "data.csv").write_text(as_csv(columns))
    numbers = {name: columns[name] for name in ("x", "y")}
    fit_table(numbers, "y", n_nodes=3).save(folder / "m.safetensors")
    classes = {"x": columns["x"], "k": ["=a" if x > 0 else "-b" for x in columns["x"]]}
    fit_table(classes, "k", n_nodes=3).save(folder / "k.safetensors")
    return folder


@pytest.fixture(autouse=True)
def there(folder, monkeypatch):
    monkeypatch.chdir(folder)


# Columns to keep


@pytest.mark.parametrize("asked", [["name,id"], ["name", "id"], ["name, id"]])
def test_kept_columns_come_first_and_are_unchanged(folder, asked):
    options = [part for name in asked for part in ("--keep", name)]
    result = run("predict", "m.safetensors", "data.csv", "--out", "p.csv", *options)
    rows = rows_of((folder / "p.csv").read_text())
    assert list(rows[0]) == ["name", "id", "prediction"]
    columns = table()
    assert [row["id"] for row in rows] == columns["id"]
    assert [row["name"] for row in rows] == columns["name"]
    found = [float(row["prediction"]) for row in rows]
    np.testing.assert_array_equal(found, load("m.safetensors").predict({"x": columns["x"]}))
    assert "ignored" not in result.stderr


def test_rows_without_a_prediction_keep_their_key(folder):
    (folder / "holes.csv").write_text("id,x\na,0.5\nb,\nc,0.1\n")
    options = ["--keep", "id", "--missing", "drop"]
    run("predict", "m.safetensors", "holes.csv", "--out", "p.csv", *options)
    rows = rows_of((folder / "p.csv").read_text())
    assert [row["id"] for row in rows] == ["a", "b", "c"]
    assert [bool(row["prediction"]) for row in rows] == [True, False, True]


def test_a_column_may_have_a_comma_in_its_name(folder):
    (folder / "comma.csv").write_text('"a,b",x\nk,0.5\n')
    result = run("predict", "m.safetensors", "comma.csv", "--out", "-", "--keep", "a,b")
    assert rows_of(result.stdout)[0]["a,b"] == "k"


def test_numbers_of_archives_are_written_as_numbers(folder):
    np.savez(folder / "a.npz", x=[0.5, -0.5], id=[3.0, np.nan], code=[7, 8])
    result = run("predict", "m.safetensors", "a.npz", "--out", "-", "--keep", "id,code")
    assert [(row["id"], row["code"]) for row in rows_of(result.stdout)] == [("3", "7"), ("", "8")]
    np.savez(folder / "b.npz", x=[0.5], id=[2**53 + 1])
    result = run("predict", "m.safetensors", "b.npz", "--out", "-", "--keep", "id", code=2)
    assert "cannot copy column 'id', whose numbers of more than 15 digits" in result.stderr


def test_dates_without_a_time_are_written_without_one(folder, monkeypatch):
    days = np.array(["2024-01-31", "NaT", "2024-02-01"], dtype="M8[us]")
    times = days + np.array([0, 0, 1], dtype="m8[h]")
    np.savez(folder / "dates.npz", x=[0.5, -0.5, 0.1], day=days, time=times)
    monkeypatch.setattr("greedynet.tables.readers.base.ROWS", 2)  # the first block alone is no day
    result = run("predict", "m.safetensors", "dates.npz", "--out", "-", "--keep", "day,time")
    found = [(row["day"], row["time"]) for row in rows_of(result.stdout)]
    assert found == [
        ("2024-01-31", "2024-01-31 00:00:00"),
        ("", ""),
        ("2024-02-01", "2024-02-01 01:00:00"),
    ]


def test_keys_are_no_inputs_of_a_model_without_names(folder):
    X = np.column_stack([np.linspace(-1, 1, 30), np.linspace(0, 1, 30) ** 2])
    model = GreedyNetRegressor(2).fit(X, X[:, 0] + X[:, 1])
    model.save("estimator.safetensors")
    given = as_csv({"id": [f"k{i}" for i in range(30)], "u": X[:, 0], "v": X[:, 1]})
    options = ["--keep", "id", "--out", "-"]
    result = run("predict", "estimator.safetensors", "-", *options, given=given)
    found = [float(row["prediction"]) for row in rows_of(result.stdout)]
    np.testing.assert_allclose(found, model.predict(X), atol=1e-12)


def test_texts_of_a_large_file_are_unchanged(folder):
    columns = {"id": [f' "{i}", ' if i % 3 else "NA" for i in range(4000)]}
    columns |= {"filling": ["x" * 600] * 4000, "x": np.linspace(-1, 1, 4000).tolist()}
    (folder / "large.csv").write_text(as_csv(columns))
    assert (folder / "large.csv").stat().st_size > 2**21  # compiled code reads it
    result = run("predict", "m.safetensors", "large.csv", "--keep", "id", "--out", "-")
    assert [row["id"] for row in rows_of(result.stdout)] == columns["id"]


def test_cells_of_parquet(folder):
    need("pyarrow")
    import pyarrow
    from pyarrow import parquet

    columns = {"x": [0.5, 0.1], "id": [7, None], "day": [date(2024, 1, 31), None]}
    columns |= {"name": ["None of them", None], "is": [True, False]}
    parquet.write_table(pyarrow.table(columns), "a.parquet")
    result = run("predict", "m.safetensors", "a.parquet", "--keep", "id,day,name,is", "--out", "-")
    first, second = (list(row.values())[:4] for row in rows_of(result.stdout))
    assert first == ["7", "2024-01-31", "None of them", "True"]
    assert second == ["", "", "", "False"]


@pytest.mark.parametrize(
    ("keep", "message"),
    [
        ("key", "data.csv has no column 'key'"),
        ("nmae", "did you mean 'name'?"),
        ("prediction", "--keep would write two columns named 'prediction'"),
    ],
)
def test_columns_that_cannot_be_kept(folder, keep, message):
    (folder / "twice.csv").write_text("x,prediction\n1,2\n")
    data = "twice.csv" if keep == "prediction" else "data.csv"
    result = run("predict", "m.safetensors", data, "--out", "q.csv", "--keep", keep, code=2)
    assert message in result.stderr
    assert not (folder / "q.csv").exists()


# Standard input and output


def test_streams_give_what_files_give(folder):
    run("predict", "m.safetensors", "data.csv", "--out", "p.csv", "--keep", "id")
    given = as_csv(table(), ";")
    result = run("predict", "m.safetensors", "-", "--out", "-", "--keep", "id", given=given)
    assert result.stdout == (folder / "p.csv").read_text()
    assert "wrote" not in result.stderr


def test_a_table_is_fitted_and_evaluated_from_standard_input():
    given = as_csv({name: table()[name] for name in ("x", "y")})
    options = ["--target", "y", "--nodes", 3, "--out", "n.safetensors"]
    result = run("fit", "-", *options, "--report", "n.html", given=given)
    assert "standard input: 60 rows, 1 column as 1 feature" in result.stdout
    assert "standard input: 60 rows" in run("evaluate", "n.safetensors", "-", given=given).stdout
    run("report", "n.safetensors", "-", "--out", "r.html", given=given)
    message = "standard input is empty: its first line must name the columns"
    assert message in run("evaluate", "n.safetensors", "-", given="", code=2).stderr


def test_an_archive_from_standard_input():
    archive = io.BytesIO()
    np.savez(archive, x=[0.5, -0.5])
    result = run("predict", "m.safetensors", "-", "--out", "-", given=archive.getvalue())
    assert len(rows_of(result.stdout)) == 2


@pytest.mark.slow
def test_a_reader_that_closes_the_pipe_gets_no_traceback(folder):
    (folder / "long.csv").write_text(as_csv({"x": np.linspace(-1, 1, 50_000).tolist()}))
    command = [sys.executable, "-m", "greedynet", "predict", "m.safetensors", "long.csv"]
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
    with subprocess.Popen([*command, "--out", "-"], text=True, **pipes) as process:
        assert process.stdout.readline() == "prediction\n"
        process.stdout.close()
        assert process.stderr.read() == ""
    assert process.returncode == 1


@pytest.mark.slow
@pytest.mark.parametrize(
    ("command", "closed", "message"),
    [
        ("ask m.safetensors", ">&-", "Standard output is closed: redirect it to a file"),
        ("info m.safetensors", ">&-", "Standard output is closed"),
        ("evaluate m.safetensors data.csv --target y", ">&-", "Standard output is closed"),
        ("predict m.safetensors data.csv --out -", ">&-", "Standard output is closed"),
        ("predict m.safetensors - --out p.csv", "<&-", "Standard input is closed: pipe a table"),
        ("fit - --target y --out n.safetensors", "<&-", "Standard input is closed"),
    ],
)
def test_closed_streams_are_errors_of_one_line(command, closed, message):
    line = f"{sys.executable} -m greedynet {command} {closed}"
    done = subprocess.run(["sh", "-c", line], capture_output=True, text=True)
    assert done.returncode == 2
    lines = done.stderr.splitlines()
    assert lines.pop().startswith(f"greedynet: {message}")
    assert [line for line in lines if not line.startswith("note: ")] == []


@pytest.mark.slow
@pytest.mark.parametrize("closed", [">&-", "2>&-", "<&- >&- 2>&-"])
def test_closed_streams_that_are_not_needed(folder, closed):
    (folder / "c.safetensors").unlink(missing_ok=True)
    command = "fit data.csv --target y --ignore id --ignore name --nodes 3 --out c.safetensors"
    line = f"{sys.executable} -m greedynet {command} {closed}"
    done = subprocess.run(["sh", "-c", line], capture_output=True, text=True)
    assert (done.returncode, done.stderr if "2>" in closed else "") == (0, "")
    assert load("c.safetensors").network.n_nodes == 3


# Cells that a spreadsheet would compute

FORMULAS = ["=1+1", "+1+1", "-x", "@SUM(A1)", " =1", "\t=1", "-1+2", "--1"]
OTHERS = ["-1.5", "+3", "-1e-5", "-1,5", "-inf", "+", "-", "a=b", "1-2", "<=50K"]


def test_formulas_are_marked_and_numbers_and_names_are_not():
    cells = FORMULAS + OTHERS
    given = as_csv({"x": [0.5] * len(cells), "name": cells})
    options = ["--keep", "name", "--safe-cells"]
    result = run("predict", "m.safetensors", "-", "--out", "-", *options, given=given)
    found = [row["name"] for row in rows_of(result.stdout)]
    assert found == [f"'{cell}" for cell in FORMULAS] + OTHERS


def test_formulas_are_said_and_marked_on_demand(folder):
    raw = run("predict", "m.safetensors", "data.csv", "--out", "-", "--keep", "name")
    assert [row["name"] for row in rows_of(raw.stdout)] == table()["name"]
    message = "note: a spreadsheet would compute 24 cells, such as '=1+1': --safe-cells marks them"
    assert message in raw.stderr
    options = ["--keep", "name", "--safe-cells"]
    safe = run("predict", "m.safetensors", "data.csv", "--out", "-", *options)
    names = [row["name"] for row in rows_of(safe.stdout)]
    assert names[:5] == ["'=1+1", "-1.5", "mix, 2", '\'@x "y"', "NA"]
    assert "24 cells have an apostrophe in front" in safe.stderr
    # Predictions are numbers, also negative ones.
    assert [row["prediction"] for row in rows_of(safe.stdout)] == [
        row["prediction"] for row in rows_of(raw.stdout)
    ]


def test_names_of_classes_and_columns_are_cells_too():
    given = "=x,x\n1,0.5\n2,-0.5\n"
    options = ["--keep", "=x", "--sets", 0.9, "--safe-cells"]
    result = run("predict", "k.safetensors", "-", "--out", "-", *options, given=given)
    rows = rows_of(result.stdout)
    assert list(rows[0])[:2] == ["'=x", "prediction"]
    assert [row["prediction"] for row in rows] == ["'=a", "'-b"]
    assert rows[0]["classes"] == "'=a"
    assert "note" not in run("predict", "m.safetensors", "data.csv", "--out", "-").stderr.replace(
        "note: columns not in the model are ignored: id, name", ""
    )
