"""The recipes of `docs/extending.md`, carried out to the letter.

Each is done in a copy of the package: the code of the page becomes the module that the page names,
the lines of the page go where the page says, an import at the top and an entry at the end of a
table. Nothing else is touched.
"""

import json
import os
import re
import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pytest

import greedynet
from browser import chromium
from greedynet import GreedyNetRegressor
from pages import ROOT
from problems import noisy
from reports import contents

pytestmark = pytest.mark.slow

PAGE = ROOT / "docs" / "extending.md"
PACKAGE = Path(greedynet.__file__).parent

_SCRIPT = re.compile(r"In\s`(src/\S+\.js)`:\n\n```js\n(.*?)^```$", re.M | re.S)
_ABOVE = re.compile(
    r"above `(\w+)`, in `(src/\S+\.py)`:\n\n```\{code-block\} python\n(.*?)^```$", re.M | re.S
)
_MODULE = re.compile(r"In\s`(src/\S+\.py)`:\n\n```python\n(.*?)^```$", re.M | re.S)
_IMPORT = re.compile(
    r"at the top of `(src/\S+\.py)`:\n\n```\{code-block\} python\n(.*?)^```$", re.M | re.S
)
_LINE = re.compile(
    r"at the end of `(\w+)`, in `(src/\S+\.py)`:\n\n```\{code-block\} python\n(.*?)^```$",
    re.M | re.S,
)


@dataclass(frozen=True)
class Recipe:
    """What a section of the page says: a module and its text, a table, its place and lines."""

    module: str
    text: str
    table: str
    place: str
    line: str
    imports: str = ""


def section_of(title: str) -> str:
    page = PAGE.read_text(encoding="utf-8")
    return page.split(f"\n## {title}\n")[1].split("\n## ")[0]


def recipe(title: str) -> Recipe:
    section = section_of(title)
    (module,), (line,) = _MODULE.findall(section), _LINE.findall(section)
    imports = _IMPORT.findall(section)
    assert all(place == line[1] for place, _ in imports)
    return Recipe(*module, *line, "".join(text for _, text in imports))


@dataclass(frozen=True)
class Copy:
    """A copy of the package below a folder, in which recipes are carried out."""

    folder: Path

    def write_module(self, wanted: Recipe) -> None:
        path = self.folder / wanted.module
        assert path.parent.is_dir()
        assert not path.exists()
        path.write_text(wanted.text, encoding="utf-8")

    def add_line(self, wanted: Recipe) -> None:
        assert wanted.line.count("\n") == 1
        path = self.folder / wanted.place
        table = re.compile(rf"^({wanted.table}(?:: [^=\n]+)? = [({{]\n.*?)(^[)}}]$)", re.M | re.S)
        text, n_tables = table.subn(rf"\1{wanted.line}\2", path.read_text(encoding="utf-8"))
        assert n_tables == 1
        if wanted.imports:
            # Which line of the imports it is does not matter to Python.
            first = re.search(r"^from greedynet\.", text, re.M)
            text = text[: first.start()] + wanted.imports + text[first.start() :]
        path.write_text(text, encoding="utf-8")

    def python(self, *arguments: object, code: int = 0) -> str:
        """Run Python on the copy and return what it says; it must end with `code`."""
        done = subprocess.run(
            [sys.executable, *map(str, arguments)],
            # Options of the run around this one are not for those within.
            env={**os.environ, "PYTHONPATH": str(self.folder / "src"), "PYTEST_ADDOPTS": ""},
            cwd=self.folder,
            capture_output=True,
            text=True,
        )
        assert done.returncode == code, done.stdout + done.stderr
        return done.stdout + done.stderr

    def program(self, *arguments: object, code: int = 0) -> str:
        return self.python("-m", "greedynet", *arguments, code=code)

    def tests(self, file: str, chosen: str) -> str:
        """Run tests of the library on the copy and return the last line."""
        options = ["-q", "-m", "", "-p", "no:cacheprovider", "-p", "no:xdist", "-k", chosen]
        return self.python("-m", "pytest", *options, ROOT / "tests" / file).splitlines()[-1]


@pytest.fixture
def copy(tmp_path: Path) -> Copy:
    shutil.copytree(PACKAGE, tmp_path / "src" / "greedynet")
    copied = Copy(tmp_path)
    where = copied.python("-c", "import greedynet; print(greedynet.__file__)")
    assert Path(where.strip()).is_relative_to(tmp_path)
    return copied


@pytest.fixture
def model(copy: Copy) -> GreedyNetRegressor:
    X, y = noisy(n_rows=60)
    fitted = GreedyNetRegressor(8).fit(X, y)
    fitted.save(copy.folder / "model.safetensors")
    return fitted


def one_line(text: str) -> str:
    return " ".join(text.split())


# An activation, a loss, a search

FIT = """
import numpy as np
from greedynet import GreedyNetClassifier, GreedyNetRegressor, load

X = np.random.default_rng(0).uniform(-1, 1, (120, 2))
y = np.tanh(3 * X[:, 0]) + np.abs(X[:, 1])
"""


def test_activation_is_one_module_and_two_lines(copy: Copy):
    wanted = recipe("An activation")
    copy.write_module(wanted)
    fit = FIT + "model = GreedyNetRegressor(8, activation='softsign').fit(X, y)\n"
    refused = copy.python("-c", fit, code=1)
    assert "`activation` must be one of" in refused
    copy.add_line(wanted)
    fit += "model.save('m.safetensors')\nprint(load('m.safetensors').network_.activation)"
    assert copy.python("-c", fit).startswith("Softsign(name='softsign'")
    said = copy.tests("test_activations.py", "softsign and not formula")
    assert int(re.match(r"(\d+) passed, \d+ deselected", said)[1]) > 5


def test_loss_is_one_module_and_two_lines(copy: Copy):
    wanted = recipe("A loss")
    copy.write_module(wanted)
    fit = FIT + "model = GreedyNetRegressor(max_nodes=8, loss='expectile').fit(X, y)\n"
    assert "`loss` must be one of" in copy.python("-c", fit, code=1)
    copy.add_line(wanted)
    # A warning would be an error: it is corrected.
    said = copy.python("-W", "error", "-c", fit + "print(model.expected_error_ > 0)")
    assert said == "True\n"
    said = copy.tests("test_losses.py", "expectile")
    assert int(re.match(r"(\d+) passed, \d+ deselected", said)[1]) > 5


@pytest.mark.parametrize("estimator", ["GreedyNetRegressor", "GreedyNetClassifier"])
def test_search_is_one_module_and_two_lines(copy: Copy, estimator: str):
    wanted = recipe("A search")
    copy.write_module(wanted)
    fit = FIT + f"model = {estimator}(8, search='random').fit(X, np.round(y).astype(int))\n"
    assert "The 'search' parameter" in copy.python("-c", fit, code=1)
    copy.add_line(wanted)
    assert copy.python("-c", fit + "print(model.n_nodes_)") == "8\n"


def test_kind_of_column_is_one_module_and_two_lines(copy: Copy):
    """From outside all tables, and into the model file; a cell that is none is an error."""
    wanted = recipe("A kind of column")
    rows = [f"{i}° {i % 60}' N,{i + i % 60 / 60:.6f}" for i in range(80)]
    text = "\n".join(["at,y", *rows])
    (copy.folder / "a.csv").write_text(text, encoding="utf-8")
    fit = ["fit", "a.csv", "--target", "y", "--nodes", 2, "--out", "m"]
    assert "most of them once, which is no category" in copy.program(*fit, code=2)
    copy.write_module(wanted)
    copy.add_line(wanted)
    assert '"0° 0\' N" is read as an angle, in degrees' in one_line(copy.program(*fit))
    assert "at: an angle, in degrees" in one_line(copy.program("info", "m"))
    (copy.folder / "new.csv").write_text("at\n45° 30' N\n10°12'36\"\n", encoding="utf-8")
    copy.program("predict", "m", "new.csv", "--out", "p.csv")
    found = np.loadtxt(copy.folder / "p.csv", skiprows=1, delimiter=",", usecols=-1)
    np.testing.assert_allclose(found, [45.5, 10.21], atol=1e-3)
    (copy.folder / "new.csv").write_text("at\nnorth\n", encoding="utf-8")
    said = one_line(copy.program("predict", "m", "new.csv", "--out", "p.csv", code=2))
    assert "'at' must hold angles, as in training, but holds 'north'" in said


def test_parameter_is_written_in_three_places(copy: Copy):
    section = section_of("A parameter of an estimator")
    entry, default, assignment, use = re.findall(
        r"```\{code-block\} python\n(.*?)^```$", section, re.M | re.S
    )
    table = copy.folder / "src" / "greedynet" / "support" / "parameters.py"
    estimator = copy.folder / "src" / "greedynet" / "estimators" / "regressor.py"
    change(table, r"^(PARAMETERS = \(\n.*?)(?=^\)$)", entry)
    change(estimator, r"(    def __init__\(\n.*?)(?=^    \) -> None:$)", default)
    change(estimator, r"(    def __init__\(\n.*?        self\.n_jobs = n_jobs\n)", assignment)
    text = estimator.read_text(encoding="utf-8")
    assert text.count("            return self._outputs(X)\n") == 1
    estimator.write_text(
        text.replace("            return self._outputs(X)\n", use), encoding="utf-8"
    )

    fit = FIT + "model = GreedyNetRegressor(8, decimals=1).fit(X, y)\nmodel.save('m.safetensors')\n"
    fit += "model = load('m.safetensors')\nprint(model.predict(X[:3]), model.get_params())"
    said = copy.python("-c", fit)
    assert re.match(r"\[[- ]*\d\.\d? +-?\d\.\d? +-?\d\.\d?\]", said)
    assert "'decimals': 1" in said
    wrong = copy.python("-c", fit.replace("decimals=1", "decimals=-1"), code=1)
    assert (
        "'decimals' parameter of GreedyNetRegressor must be an int in the range [0, inf)" in wrong
    )
    shown = copy.python("-c", "import greedynet; help(greedynet.GreedyNetRegressor)")
    assert "decimals : int or None, default=None" in shown

    lines = [f"{a},{y},{'yes' if a > 0 else 'no'}" for a, y in noisy()[0].tolist()]
    (copy.folder / "t.csv").write_text("\n".join(["a,y,sign", *lines]))
    command = ["fit", "t.csv", "--out", "m.safetensors", "--target", "y", "--decimals"]
    assert "--decimals N" in copy.program("fit", "--help")
    copy.program(*command, 1)
    copy.program("predict", "m.safetensors", "t.csv", "--out", "p.csv")
    assert re.fullmatch(r"prediction\n(-?\d+\.\d\n)+", (copy.folder / "p.csv").read_text())
    copy.program(*command, -1, code=2)
    of_classes = copy.program(*command, 1, "--target", "sign", code=2)
    assert of_classes.startswith("greedynet: --decimals applies to a target of numbers")


def change(path: Path, place: str, lines: str) -> None:
    """Add lines after a place that there is once."""
    text, n = re.subn(
        place, lambda m: m[1] + lines, path.read_text(encoding="utf-8"), flags=re.M | re.S
    )
    assert n == 1
    path.write_text(text, encoding="utf-8")


# An exporter


def test_exporter_is_one_module_and_one_line(copy: Copy, model: GreedyNetRegressor):
    wanted = recipe("An exporter")
    copy.write_module(wanted)
    refused = copy.program("export", "model.safetensors", "--to", "json", code=2)
    assert "'json' is not one of" in refused  # the line is what makes it known
    copy.add_line(wanted)

    said = copy.program("export", "model.safetensors", "--to", "json", "--dtype", "float64")
    assert said.startswith("wrote model.json: ")
    assert said.endswith('load it with json.load(open("model.json"))\n')
    weights = json.loads((copy.folder / "model.json").read_text())
    assert weights.pop("activation")["name"] == "relu"
    a, b, c, linear, constant = (
        np.array(weights[name])
        for name in ("inner_weights", "biases", "outer_weights", "linear_weights", "intercept")
    )
    X = noisy(n_rows=20, seed=3)[0]
    found = np.maximum(X @ a.T + b, 0) @ c + X @ linear + constant
    np.testing.assert_allclose(found[:, 0], model.predict(X), rtol=1e-12, atol=1e-12)

    # It is named wherever exporters are.
    help_text = one_line(copy.program("export", "--help"))
    assert re.search(r"--to \[[a-z|]+\|json\]", help_text)
    assert "Keras, C or JSON, checked" in help_text
    assert "json" in copy.program("export", "model.safetensors", "--to", "cobol", code=2)
    code = "import greedynet.export as e; print('to_json' in e.__all__, e.to_json.__module__)"
    assert copy.python("-c", code).split() == ["True", "greedynet.export.json_file"]


def test_new_exporter_passes_the_tests_of_all_exporters(copy: Copy):
    wanted = recipe("An exporter")
    copy.write_module(wanted)
    copy.add_line(wanted)
    said = copy.tests("test_export_shared.py", "json")
    n_passed = int(re.match(r"(\d+) passed, \d+ deselected", said)[1])
    assert n_passed > 30


def test_command_is_one_module_and_one_line(copy: Copy, model: GreedyNetRegressor):
    wanted = recipe("A command")
    copy.write_module(wanted)
    call = ("shorten", "model.safetensors", "--nodes", 5, "--out", "small.safetensors")
    assert "No such command 'shorten'" in copy.program(*call, code=2)
    copy.add_line(wanted)

    assert "wrote small.safetensors, of 5 nodes" in copy.program(*call)
    small = greedynet.load(copy.folder / "small.safetensors")
    assert small.n_nodes_ == 5
    X = noisy(n_rows=20, seed=3)[0]
    np.testing.assert_array_equal(small.predict(X), model.truncate(5).predict(X))

    too_many = copy.program(*call[:3], 1000, *call[4:], code=2)
    assert too_many.startswith("greedynet: ")
    assert too_many.count("\n") == 1

    listed = copy.program("--help")
    assert re.search(r"^  shorten +Write what a saved MODEL was", listed, re.M)
    assert "--nodes N" in copy.program("shorten", "--help")
    # Those of the table, and those of its help.
    said = copy.tests("test_commands.py", "every_module or help_imports")
    assert re.match(r"2 passed, \d+ deselected", said)


REPORT = """
import numpy as np
from greedynet import GreedyNetClassifier, GreedyNetRegressor, write_report

X = np.random.default_rng(0).uniform(-1, 1, (150, 3))
y = np.tanh(3 * X[:, 0]) + np.abs(X[:, 1])
model = GreedyNetRegressor(6).fit(X[:100], y[:100])
write_report(model, "report.html", X[:100], y[:100], held_out=(X[100:], y[100:]))
write_report(model, "bare.html")
write_report(GreedyNetClassifier(3).fit(X, y > 1), "classes.html", X, y > 1)
np.save("errors.npy", np.sort(np.abs(y[100:] - model.predict(X[100:]))))
np.save("others.npy", np.sort(np.abs(y[:100] - model.predict(X[:100]))))
"""


def test_chart_is_one_script_and_an_entry_with_its_data(copy: Copy, tmp_path: Path):
    section = section_of("A chart of the report")
    ((script, text),) = _SCRIPT.findall(section)
    ((table, place, function),) = _ABOVE.findall(section)
    ((same_table, same_place, line),) = _LINE.findall(section)
    assert (table, place) == (same_table, same_place), "the data and the entry are one place"
    path = copy.folder / place
    before = path.read_text(encoding="utf-8")
    assert before.count(f"\n{table} = (\n") == 1
    written = before.replace(f"\n{table} = (\n", f"\n{function}\n\n{table} = (\n")
    path.write_text(written, encoding="utf-8")
    assert not (copy.folder / script).exists()
    (copy.folder / script).write_text(text, encoding="utf-8")
    copy.add_line(Recipe("", "", table, place, line))

    copy.python("-c", REPORT)
    data = contents(copy.folder / "report.html")
    errors, others = (np.load(copy.folder / f"{name}.npy") for name in ("errors", "others"))
    np.testing.assert_allclose(data["shares"]["errors"], errors, rtol=1e-4)
    np.testing.assert_allclose(data["other"]["shares"]["errors"], others, rtol=1e-4)
    assert contents(copy.folder / "bare.html")["shares"] is None
    assert contents(copy.folder / "classes.html")["shares"] is None

    with chromium(tmp_path / "profile") as driver:
        driver.get((copy.folder / "report.html").as_uri())
        assert driver.find_element("css selector", 'nav a[href="#shares"]').text == "Shares"
        assert driver.find_element("css selector", "#shares h2").text == "Errors in order"
        drawn = driver.find_element("css selector", "#shares-picture path.line.blue")
        assert drawn.get_attribute("d").count("L") == len(errors) - 1
        said = driver.find_element("css selector", "#shares-text").text
        assert said == "How many rows have at most this error. All 50 held-out rows."
        driver.execute_script("document.querySelectorAll('#rows-switch button')[1].click()")
        said = driver.find_element("css selector", "#shares-text").text
        assert said == "How many rows have at most this error. All 100 rows given."
        driver.get((copy.folder / "classes.html").as_uri())
        assert not driver.find_element("css selector", "#shares").is_displayed()
        assert driver.get_log("browser") == []
