"""`greedynet fit`, `predict`, `evaluate`, `info`: what they write, and what users get wrong."""

import csv
import errno
import gzip
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import threading
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import greedynet
from deep_networks import bent_columns, random_deep_network
from greedynet import GreedyNetClassifier, GreedyNetRegressor, load
from greedynet.activations import ACTIVATIONS
from greedynet.cli import main
from greedynet.losses import Quantile, get_loss
from networks import random_network
from program import run

COLORS = ("blue", "green", "red")


def make_table(n_rows=60, seed=0):
    rng = np.random.default_rng(seed)
    x, color = rng.uniform(-1, 1, n_rows), rng.choice(COLORS, n_rows)
    y = 2 * x + np.abs(x) + 3.0 * (color == "red")
    return {"x": x, "color": color, "y": y, "label": np.where(y > 1, "high", "low")}


def write(path, table, names=None, separator=","):
    names = names or list(table)
    rows = zip(*(table[name] for name in names), strict=True)
    lines = [separator.join(names), *(separator.join(map(str, row)) for row in rows)]
    path.write_text("\n".join(lines) + "\n")
    return path


def read(path, separator=","):
    with open(path, newline="") as file:
        return list(csv.DictReader(file, delimiter=separator))


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.fixture
def data(folder):
    return write(folder / "data.csv", make_table(), ["x", "color", "y"])


@pytest.fixture
def labels(folder):
    return write(folder / "labels.csv", make_table(), ["x", "color", "label"])


@pytest.fixture(scope="module")
def fitted(tmp_path_factory):
    """Models of numbers and of classes, fitted by the program."""
    folder = tmp_path_factory.mktemp("fitted")
    for target, name in (("y", "model"), ("label", "classes")):
        data = write(folder / f"{name}.csv", make_table(), ["x", "color", target])
        run("fit", data, "--target", target, "--nodes", 3, "--out", folder / f"{name}.safetensors")
    return folder


@pytest.fixture
def model(fitted, data):
    return Path(shutil.copy(fitted / "model.safetensors", data.parent))


@pytest.fixture
def classifier(fitted, labels):
    return Path(shutil.copy(fitted / "classes.safetensors", labels.parent))


def files(folder):
    return sorted(path.name for path in folder.iterdir())


# The help


def test_every_module_of_the_folder_is_a_command_of_the_table():
    folder = Path(greedynet.__file__).parent / "cli" / "commands"
    modules = [path.stem for path in folder.glob("*.py") if path.stem != "__init__"]
    assert sorted(name.replace("-", "_") for name in main.commands) == sorted(modules)


def test_help_imports_nothing_numerical():
    """Neither that of the program nor that of any command."""
    heavy = {"numpy", "sklearn", "scipy", "numba", "rich", "pyarrow"}
    code = (
        "import sys\nfrom greedynet.cli import main\n"
        "for command in [], *([name] for name in main.commands):\n"
        "    main([*command, '--help'], standalone_mode=False)\n"
        f"print(*({heavy!r} & set(sys.modules)), file=sys.stderr)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.count("Usage:") == 1 + len(main.commands)
    assert done.stderr.split() == []


def test_help_names_all_activations_and_losses():
    text = " ".join(run("fit", "--help").output.replace(",", " ").replace(".", " ").split())
    assert set(ACTIVATIONS) <= set(text.split())
    for loss in ("squared_error", "absolute_error", "huber", "quantile", "chebyshev"):
        assert loss in text.split()
        assert get_loss(loss).name == loss


# What the commands do


def test_fit_of_numbers(data, folder):
    result = run("fit", data, "--target", "y", "--out", "m.safetensors")
    assert "data.csv: 60 rows, 2 columns (1 of text) as 4 features" in result.stdout
    assert "target y: numbers, a regression" in result.stdout
    assert "1 relu neuron and an affine term (3 nodes): 4 inputs -> 1 output" in result.stdout
    assert result.stdout.startswith("On new rows expect to be off by about ")
    assert "; always guessing the mean: " in result.stdout.splitlines()[0]
    assert "R2 1" in result.stdout
    assert "wrote m.safetensors after" in result.stdout
    assert "next: greedynet evaluate m.safetensors other.csv" in result.stdout
    assert "more nodes cannot help" in result.stdout
    assert files(folder) == ["data.csv", "m.safetensors"]


def test_fit_of_classes(labels):
    result = run("fit", labels, "--target", "label", "--nodes", 3, "--out", "m.safetensors")
    assert "target label: 2 classes (high, low), a classifier" in result.stdout
    assert result.stdout.startswith("On new rows expect about ")
    assert "always naming the commonest class: " in result.stdout.splitlines()[0]
    assert "training: accuracy" in result.stdout
    assert isinstance(load("m.safetensors").estimator, GreedyNetClassifier)


def test_numbers_are_classes_only_on_demand(folder):
    table = make_table(40)
    table["k"] = (table["x"] > 0).astype(int)
    data = write(folder / "a.csv", table, ["x", "k"])
    run("fit", data, "--target", "k", "--nodes", 3, "--out", "numbers.safetensors")
    run("fit", data, "--target", "k", "--classes", "--nodes", 3, "--out", "classes.safetensors")
    assert isinstance(load("numbers.safetensors").estimator, GreedyNetRegressor)
    assert load("classes.safetensors").classes_.tolist() == [0, 1]
    run("predict", "classes.safetensors", data, "--out", "p.csv")
    assert list(read(folder / "p.csv")[0]) == ["prediction", "probability of 0", "probability of 1"]
    assert {row["prediction"] for row in read(folder / "p.csv")} == {"0", "1"}


def test_options_reach_the_estimator(data):
    options = ["--nodes", 4, "--activation", "tanh", "--loss", "quantile=0.7"]
    options += ["--seed", 5]
    run("fit", data, "--target", "y", "--out", "m.safetensors", *options)
    parameters = load("m.safetensors").estimator.get_params()
    wanted = {"n_nodes": 4, "activation": "tanh", "loss": Quantile(0.7)}
    assert wanted.items() <= parameters.items()
    assert parameters["random_state"] == 5
    options = ["--max-nodes", 3, "--loss", 1.5, "--select", 0.5]
    run("fit", data, "--target", "y", "--out", "m.safetensors", *options)
    parameters = load("m.safetensors").estimator.get_params()
    assert [parameters[name] for name in ("max_nodes", "loss", "select")] == [3, 1.5, 0.5]


def test_a_warning_is_one_line(folder):
    table = {"x": np.arange(20) % 2, "y": np.arange(20) % 2 + np.arange(20) / 100}
    data = write(folder / "two_values.csv", table, ["x", "y"])
    result = run("fit", data, "--target", "y", "--nodes", 9, "--out", "m.safetensors")
    (note,) = [line for line in result.stderr.splitlines() if line.startswith("note: The")]
    assert re.match(r"note: The network has \d nodes, not the 9 requested by --nodes\.", note)


def test_validation_file(data, folder):
    other = write(folder / "other.csv", make_table(30, seed=1), ["y", "color", "x"])
    result = run("fit", data, "--target", "y", "--validate", other, "--out", "m.safetensors")
    assert "validation: RMSE" in result.stdout
    model, rows = load("m.safetensors"), make_table(30, seed=1)
    rmse = np.sqrt(np.mean((model.predict(rows) - rows["y"]) ** 2))
    path, ladder = model.estimator.path_, model.estimator.ladder_
    held_out = path.held_out_errors[path.position(path.best_n_nodes)] * ladder.error_of("mean")
    assert held_out == pytest.approx(rmse, rel=1e-6, abs=1e-9)


def test_predictions_keep_the_order_and_find_columns_by_name(model, folder):
    table = make_table(50, seed=3)
    table["extra"] = table["x"]
    new = write(folder / "new.csv", table, ["extra", "color", "x"], "\t")
    result = run("predict", model, new, "--out", "p.csv")
    assert "note: columns not in the model are ignored: extra" in result.stderr
    assert "wrote p.csv: 50 rows" in result.stdout
    found = [float(row["prediction"]) for row in read(folder / "p.csv")]
    np.testing.assert_array_equal(found, load(model).predict(table))
    inside = ~load(model).outside(table).columns.any(axis=1)
    assert inside.sum() == 49  # of the other, the value at the edge is known
    np.testing.assert_allclose(np.array(found)[inside], table["y"][inside], atol=1e-9)
    run("predict", model, new, "--out", "p.tsv")
    assert [float(row["prediction"]) for row in read(folder / "p.tsv", "\t")] == found


def test_predictions_of_classes(classifier, labels, folder):
    result = run("predict", classifier, labels, "--out", "p.csv")
    assert result.stderr == ""  # the target is known, so no word about it
    rows = read(folder / "p.csv")
    wanted = load(classifier).predict_proba(labels)
    found = [[float(row[f"probability of {name}"]) for name in ("high", "low")] for row in rows]
    np.testing.assert_array_equal(found, wanted)
    assert [row["prediction"] for row in rows] == load(classifier).predict(labels).tolist()
    run("predict", classifier, labels, "--out", "p.tsv")
    assert read(folder / "p.tsv", "\t") == rows


def test_empty_cells(folder):
    table = {name: values.astype(object) for name, values in make_table(20).items()}
    table["x"][2] = table["x"][5] = ""
    table["color"][7] = "NA"
    data = write(folder / "a.csv", table, ["x", "color", "y"])
    strict = ("--missing", "error")
    result = run("fit", data, "--target", "y", "--out", "m.safetensors", *strict, code=2)
    message = (
        "a.csv: empty cells: 2 in 'x' (first data row 3), 1 in 'color' (first data row 8). Fill "
        "them in, or write --missing mean to insert the mean, or --missing drop to drop the rows."
    )
    assert message in result.stderr
    assert files(folder) == ["a.csv"]
    drop = run("fit", data, "--target", "y", "--out", "d.safetensors", "--missing", "drop")
    assert "17 rows (3 left out)" in drop.stdout
    mean = ["--missing", "mean", "--nodes", 2]
    assert "20 rows," in run("fit", data, "--target", "y", "--out", "m.safetensors", *mean).stdout
    # In predicting, the line stays and is empty, or the means go in, as in the fit.
    result = run("predict", "d.safetensors", data, "--out", "p.csv")
    assert "20 rows, 3 of them without a prediction" in result.stdout
    lines = (folder / "p.csv").read_text().splitlines()[1:]
    assert [i for i, line in enumerate(lines) if line == '""'] == [2, 5, 7]
    run("predict", "m.safetensors", data, "--out", "q.csv")
    assert all(row["prediction"] for row in read(folder / "q.csv"))
    assert "17 rows (3 left out)" in run("evaluate", "d.safetensors", data).stdout
    assert "20 rows\n" in run("evaluate", "d.safetensors", data, "--missing", "mean").stdout
    # By default, it is learned what to do.
    assert "20 rows," in run("fit", data, "--target", "y", "--out", "l.safetensors").stdout
    run("predict", "l.safetensors", data, "--out", "l.csv")
    assert all(row["prediction"] for row in read(folder / "l.csv"))


def test_decimal_commas(folder):
    table = make_table(20)
    german = {name: [str(v).replace(".", ",") for v in table[name]] for name in ("x", "color", "y")}
    data = write(folder / "a.csv", german, separator=";")
    result = run("fit", data, "--target", "y", "--decimal", ".", "--out", "m.safetensors", code=2)
    assert "if the comma is a decimal one, write --decimal ','" in result.stderr
    decimal = ["--decimal", ","]
    run("fit", data, "--target", "y", "--nodes", 3, "--out", "m.safetensors", *decimal)
    # The model remembers it, and a file with points is told apart.
    run("predict", "m.safetensors", data, "--out", "p.csv")
    points = write(folder / "points.csv", {name: table[name] for name in ("x", "color", "y")})
    told = run("evaluate", "m.safetensors", points, code=2).stderr
    assert "they have a decimal point" in told
    assert "write --decimal '.'" in told
    run("evaluate", "m.safetensors", points, "--decimal", ".")
    found = [float(row["prediction"]) for row in read(folder / "p.csv")]
    np.testing.assert_allclose(found, table["y"], atol=1e-9)
    assert "20 rows" in run("evaluate", "m.safetensors", data, *decimal).stdout
    run("report", "m.safetensors", data, "--out", "r.html", *decimal)
    assert (folder / "r.html").exists()


def test_compressed_tables(data, folder):
    packed = folder / "data.csv.gz"
    packed.write_bytes(gzip.compress(data.read_bytes()))
    run("fit", packed, "--target", "y", "--nodes", 3, "--out", "m.safetensors")
    run("predict", "m.safetensors", packed, "--out", "p.csv")
    assert len(read(folder / "p.csv")) == 60
    message = run("predict", "m.safetensors", packed, "--out", "p.csv.gz", code=2).stderr
    assert "--out must end in .csv or .tsv" in message
    packed.write_bytes(packed.read_bytes()[:100])
    result = run("fit", packed, "--target", "y", "--out", "n.safetensors", code=2)
    assert result.stderr.startswith("greedynet: data.csv.gz is damaged and cannot be decompressed")
    assert len(result.stderr.splitlines()) == 1
    assert not (folder / "n.safetensors").exists()


def test_unknown_levels(model, folder):
    new = folder / "new.csv"
    new.write_text("x,color\n0.5,red\n0.5,pink\n0.5,grey\n0.5,pink\n")
    result = run("predict", model, new, "--out", "p.csv", "--outside")
    assert (
        "new.csv: the training data did not contain the values of 3 cells of 'color'"
        in result.stderr
    )
    assert result.stderr.count("did not contain") == 1
    assert "3 of 4 rows are outside the training data" in result.stderr
    rows, fitted = read(folder / "p.csv"), load(model)
    assert [row["outside"] for row in rows] == ["", "color", "color", "color"]
    average = [0.5, *fitted.columns.means[1:]]
    found = fitted.predict([[0.5, 0, 0, 1], *[average] * 3])
    np.testing.assert_allclose([float(row["prediction"]) for row in rows], found)


def test_evaluate(model, classifier, data, labels):
    result = json.loads(run("evaluate", model, data, "--json").stdout)
    assert result["rows"] == 60
    assert result["rmse"] < 1e-9
    assert result["r2"] == pytest.approx(1)
    text = run("evaluate", classifier, labels).stdout
    assert "accuracy" in text
    assert "log-loss" in text
    assert "RMSE" not in text


def test_models_saved_in_python(folder):
    table = make_table(40)
    X = np.column_stack([table["x"], table["x"] ** 2])
    GreedyNetRegressor(3).fit(X, table["y"]).save("estimator.safetensors")
    replace(random_network(), feature_names=None).save("network.safetensors")
    data = write(folder / "a.csv", {"u": X[:, 0], "v": X[:, 1], "y": table["y"]})
    inputs = write(folder / "x.csv", {"u": X[:, 0], "v": X[:, 1]})
    run("predict", "estimator.safetensors", inputs, "--out", "p.csv")
    found = [float(row["prediction"]) for row in read(folder / "p.csv")]
    np.testing.assert_array_equal(found, load("estimator.safetensors").predict(X))
    assert "RMSE" in run("evaluate", "estimator.safetensors", data, "--target", "y").stdout
    result = run("evaluate", "estimator.safetensors", data, code=2)
    assert "takes 2 columns and has no names for them, a.csv has 3" in result.stderr
    result = run("evaluate", "estimator.safetensors", inputs, code=2)
    assert "give --target" in result.stderr
    result = run(
        "predict", "network.safetensors", data.with_name("x.csv"), "--out", "p.csv", code=2
    )
    assert "takes 3 columns and has no names for them, x.csv has 2" in result.stderr
    text = run("info", "network.safetensors").stdout
    assert "a Network by greedynet" in text
    assert "without names" in text
    found = json.loads(run("info", "estimator.safetensors", "--json").stdout)
    assert (found["kind"], found["loss"], found["created"]) == (
        "GreedyNetRegressor",
        "squared_error",
        None,
    )


def test_info(model, classifier):
    text = run("info", model).stdout
    assert "model.safetensors: a GreedyNetRegressor by greedynet" in text
    assert ", made 20" in text
    assert text.splitlines()[1].strip() == load(model).expectation.sentence()
    assert "color: one of blue, green, red" in text
    assert "x: a number" in text
    assert "target      y" in text
    found = json.loads(run("info", model, "--json").stdout)
    network = load(model).network
    assert found["inputs"][1]["name"] == "color"
    assert found["inputs"][1]["levels"] == list(COLORS)
    assert found["inputs"][1]["features"] == [f"color={level}" for level in COLORS]
    assert (found["nodes"], found["activation"]) == (3, "relu")
    assert found["largest_neurons"][0]["weights"] == network.inner_weights[0].tolist()
    assert found["training"]["r2"] == pytest.approx(1)
    assert found["expected"]["expected_error"] == load(model).estimator.expected_error_
    found = json.loads(run("info", classifier, "--json").stdout)
    assert (found["classes"], found["loss"]) == (["high", "low"], "log-loss")


def test_largest_neurons_come_first():
    network = random_network(activation="relu")
    size = np.abs(network.outer_weights).max(axis=1) * np.abs(network.inner_weights).max(axis=1)
    assert (np.diff(size[network.largest_neurons()]) <= 0).all()


# What a user may get wrong


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ("fit data.csv --out m", "Missing option '--target'"),
        ("fit data.csv --target y", "Missing option '--out'"),
        ("fit data.csv --target Yy --out m", "data.csv has no target 'Yy': did you mean 'y'?"),
        ("fit data.csv --target y --ignore colour --out m", "'colour': did you mean 'color'?"),
        ("fit data.csv --target y --out nowhere/m", "create the folder 'nowhere' first"),
        ("fit data.csv --target y --out .", "add a file name to it"),
        ("fit data.csv --target y --separator ; --out m", "has only one column, 'x,color,y'"),
        ("fit data.csv --target y --separator ; --out m", "such as --separator ';'"),
        ("fit data.csv --target y --activation step --out m", "--activation must be one of"),
        ("fit data.csv --target y --loss bad --out m", "--loss must be one of"),
        ("fit data.csv --target y --loss quantile=1 --out m", "`quantile` must lie strictly"),
        ("fit data.csv --target color --loss huber --out m", "'color' contains classes"),
        (
            "fit data.csv --target y --nodes 5 --select 1se --out m",
            "write --max-nodes instead of --nodes, or omit --select.",
        ),
        ("fit data.csv --target y --validate model.safetensors --out m", "is a binary file"),
        ("fit one.csv --target y --out m", "one.csv has one row below the header"),
        ("fit binary.csv --target y --out m", "binary.csv is a binary file"),
        ("fit names.csv --target y --out m", "drop it with --ignore 'name'"),
        ("fit numbers.csv --target y --out m", "or with --text 'x' treat it as text"),
        ("predict data.csv data.csv --out p.csv", "not a model file"),
        ("predict model.safetensors absent.csv --out p.csv", "absent.csv has no column 'color'"),
        ("predict model.safetensors words.csv --out p.csv", "'x' must hold numbers"),
        ("predict model.safetensors header.csv --out p.csv", "header.csv has no rows"),
        ("predict model.safetensors ragged.csv --out p.csv", "data row 2 has 3 cells"),
        ("predict model.safetensors data.csv --out p.parquet", "--out must end in .csv or .tsv"),
        ("predict model.safetensors data.csv --out nowhere/p.csv", "create the folder 'nowhere'"),
        (
            "predict model.safetensors data.csv --out p.csv --interval 90",
            "--interval must be between 0 and 1, such as 0.9, got 90",
        ),
        (
            "predict model.safetensors data.csv --out p.csv --sets 0.9",
            "--sets is for classes, this model predicts numbers: use --interval",
        ),
        ("evaluate model.safetensors absent.csv --target y", "absent.csv has no target 'y'"),
        ("evaluate model.safetensors header.csv", "header.csv has no rows"),
        ("info data.csv", "not a model file"),
    ],
)
def test_mistakes(model, folder, arguments, message):
    texts = {
        "one.csv": "x,y\n1,2\n",
        "names.csv": "name,y\n" + "".join(f"n{i},{i}\n" for i in range(40)),
        "numbers.csv": "x,y\n" + "".join(f"{i},{i}\n" for i in range(40)) + "five,3\n",
        "absent.csv": "x,shade\n1,red\n",
        "words.csv": "x,color\none,red\n",
        "header.csv": "x,color,y\n",
        "ragged.csv": "x,color\n1,red\n1,red,3\n",
    }
    for name, text in texts.items():
        (folder / name).write_text(text)
    (folder / "binary.csv").write_bytes(b"\x89PNG\r\n\0\0\0")
    before = files(folder)
    result = run(*arguments.split(), code=2)
    assert message in result.stderr
    assert files(folder) == before


def commands(data, model):
    return (
        ["fit", data, "--target", "y", "--nodes", 3, "--out", "new.out"],
        ["predict", model, data, "--out", "new.out"],
    )


@pytest.mark.parametrize("number", [0, 1])
def test_full_disk(data, model, folder, monkeypatch, number):
    def full(descriptor):
        raise OSError(errno.ENOSPC, "No space left on device")

    (folder / "new.out").write_text("old")
    before = files(folder)
    monkeypatch.setattr(os, "fsync", full)
    result = run(*commands(data, model)[number], code=2)
    assert "new.out: the disk is full. Nothing was written" in result.stderr
    assert files(folder) == before
    assert (folder / "new.out").read_text() == "old"


@pytest.mark.parametrize("number", [0, 1])
def test_no_permission(data, model, folder, monkeypatch, number):
    def closed(path, mode):
        raise PermissionError(errno.EACCES, "Permission denied", str(path))

    before = files(folder)
    monkeypatch.setattr("greedynet.support.files.open", closed, raising=False)
    result = run(*commands(data, model)[number], code=2)
    assert "new.out: permission denied. Choose another file or folder" in result.stderr
    assert files(folder) == before


@pytest.mark.parametrize("out", ["closed", "nowhere/m", "."])
def test_where_nothing_can_be_written_nothing_is_fitted(data, monkeypatch, out):
    def fit_table(*arguments, **options):
        raise AssertionError("fitted in vain")

    monkeypatch.setattr("greedynet.tables.fit.fit_table", fit_table)
    monkeypatch.setattr(os, "access", lambda path, mode, **_: mode != os.W_OK)
    result = run("fit", data, "--target", "y", "--out", out, code=2)
    assert {"closed": "'closed': permission denied", ".": "add a file name"}.get(
        out, "create the folder 'nowhere'"
    ) in result.stderr


# Root may write everywhere. Once the rights are gone the interpreter's own folder may be closed
# too, so the command has run once before, and everything is imported.
WITHOUT_RIGHTS = """
import contextlib, io, os, sys
from greedynet.cli import main

with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(io.StringIO()):
    with contextlib.suppress(SystemExit):
        main(sys.argv[1:])
os.remove("new.out")
os.chmod(".", 0o555)
if os.geteuid() == 0:
    os.setgroups([])
    os.setgid(65534)
    os.setuid(65534)
main(sys.argv[1:])
"""


@pytest.mark.slow
@pytest.mark.skipif(not hasattr(os, "geteuid"), reason="permissions are another thing there")
@pytest.mark.parametrize("number", [0, 1])
def test_a_folder_that_is_read_only(data, model, folder, number):
    # By names in the current folder: those above it may be closed to others.
    arguments = [str(getattr(a, "name", a)) for a in commands(data, model)[number]]
    before = files(folder)
    try:
        code = [sys.executable, "-c", WITHOUT_RIGHTS, *arguments]
        done = subprocess.run(code, capture_output=True, text=True)
    finally:
        folder.chmod(0o755)
    assert done.returncode == 2, done.stderr
    assert done.stdout == ""
    (line,) = done.stderr.splitlines()
    assert "'new.out': permission denied. Choose another folder." in line
    assert files(folder) == before


def long_work(path, n_rows=20_000):
    """Write rows of a function that a network can follow ever more closely, for minutes."""
    X = np.random.default_rng(0).normal(size=(n_rows, 6)).round(3)
    np.savez(path, X=X, y=np.sin(X).prod(axis=1))
    return path


@pytest.mark.slow
@pytest.mark.skipif(sys.platform == "win32", reason="signals are another thing there")
def test_interrupted_fit_leaves_nothing(folder):
    data = long_work(folder / "a.npz")
    command = [sys.executable, "-m", "greedynet", "fit", data, "--target", "y", "--out", "m"]
    command += ["--nodes", "1000"]
    with subprocess.Popen(command, stderr=subprocess.PIPE, text=True) as process:
        told = iter(process.stderr.readline, "")
        assert any(" neurons on " in line for line in told)  # it grows
        process.send_signal(signal.SIGINT)
        too_late = threading.Timer(120, process.kill)
        too_late.start()
        rest = process.stderr.read()
        too_late.cancel()
    assert process.returncode == 130, rest
    assert rest.splitlines()[-1] == "interrupted"
    assert "Traceback" not in rest
    assert files(folder) == ["a.npz"]


# Progress


def test_what_is_done_between_neurons_is_shown(folder, monkeypatch):
    shown = []

    class Report:
        show = staticmethod(shown.append)

        def __call__(self, n_nodes, error):
            self.show(f"{n_nodes} nodes, error {error:.3g}")

    @contextmanager
    def reporter():
        yield Report()

    monkeypatch.setattr("greedynet.cli.commands.fit.reporter", reporter)
    table = make_table(60)
    table["y"] = np.sin(9 * table["x"])
    data = write(folder / "a.csv", table, ["x", "y"])
    run("fit", data, "--target", "y", "--max-nodes", 8, "--out", "m.safetensors")
    neurons = [i for i, state in enumerate(shown) if state.startswith("3 nodes, error 0.")]
    stages = [i for i, state in enumerate(shown) if state.endswith("neurons on all rows")]
    assert neurons[0] < stages[0]


# Intervals, sets of classes, rows outside the training data


def test_intervals_are_two_more_columns(model, folder):
    new = write(folder / "new.csv", make_table(20, seed=3), ["x", "color"])
    run("predict", model, new, "--out", "p.csv", "--interval", "0.8")
    rows = read(folder / "p.csv")
    assert list(rows[0]) == ["prediction", "lower", "upper"]
    found = [[float(row[name]) for row in rows] for name in ("lower", "upper")]
    np.testing.assert_array_equal(found, load(model).predict_interval(str(new), 0.8))
    result = run("predict", model, new, "--out", "p.csv", "--interval", "0.999")
    assert "note: `coverage`=0.999 needs more than" in result.stderr


def test_sets_are_one_more_column(classifier, labels, folder):
    run("predict", classifier, labels, "--out", "p.csv", "--sets", "0.8")
    rows = read(folder / "p.csv")
    assert list(rows[0])[-1] == "classes"
    sets = load(classifier).predict_set(str(labels), 0.8)
    names = [["high", "low"][j] for j in sets[0].nonzero()[0]]
    assert rows[0]["classes"] == " | ".join(names)


def test_rows_outside_are_counted_and_named(model, folder):
    new = write(folder / "new.csv", {"x": [0.1, 5.0, ""], "color": ["red", "blue", "red"]})
    result = run("predict", model, new, "--out", "p.csv", "--outside", "--missing", "drop")
    assert [row["outside"] for row in read(folder / "p.csv")] == ["", "x", ""]
    assert "note: 1 of 2 rows is outside the training data, beyond the range of x (1)." in (
        result.stderr
    )


# Two hidden layers


@pytest.fixture(scope="module")
def deep(tmp_path_factory):
    folder = tmp_path_factory.mktemp("deep")
    data = write(folder / "data.csv", bent_columns())
    out = folder / "model.safetensors"
    options = ["--target", "y", "--hidden-layers", 2, "--max-nodes", 40, "--out", out]
    run("fit", data, *options, "--report", folder / "report.html")
    assert "What it makes of each column" in (folder / "report.html").read_text(encoding="utf-8")
    return data, out


def test_fit_of_two_layers(deep, tmp_path):
    data, out = deep
    network = load(out).network
    assert network.ramps is not None
    run("predict", out, data, "--out", tmp_path / "p.csv")
    found = [float(row["prediction"]) for row in read(tmp_path / "p.csv")]
    np.testing.assert_allclose(found, load(out).predict(data), rtol=1e-6)
    assert "R2" in run("evaluate", out, data).stdout


def test_info_of_two_layers(deep):
    _, out = deep
    network = load(out).network
    found = json.loads(run("info", out, "--json").stdout)
    assert (found["hidden_layers"], found["neurons"]) == (2, network.n_neurons)
    assert found["parameters"] == network.n_parameters
    assert found["multiplications"] == network.n_multiplications
    assert [part["column"] for part in found["hinges"]] == ["age", "height"]
    assert sum(len(part["knots"]) for part in found["hinges"]) == network.n_hinges
    # The weights are those of the columns and the hinges: neurons can be computed from them.
    X = load(out).inputs(bent_columns(20))
    columns = [X]
    for part, j in zip(found["hinges"], (0, 1), strict=True):
        columns.append(np.maximum(X[:, [j]] - part["knots"], 0))
    first = found["largest_neurons"][0]
    value = np.maximum(np.hstack(columns) @ first["weights"] + first["bias"], 0)
    np.testing.assert_allclose(value, network.hidden(X)[:, first["neuron"]], atol=1e-9)
    text = run("info", out).stdout
    assert "  age: hinges at " in text
    assert f"{network.n_multiplications} multiplications" in text
    assert "relu(height -" in text


def test_info_of_a_bare_deep_network(tmp_path):
    network = replace(random_deep_network(), feature_names=None)
    network.save(tmp_path / "network.safetensors")
    found = json.loads(run("info", tmp_path / "network.safetensors", "--json").stdout)
    assert found["kind"] == "Network"
    assert found["hinges"] == [
        {"column": "x0", "knots": [-0.2, 0.5]},
        {"column": "x2", "knots": [5.5]},
    ]
