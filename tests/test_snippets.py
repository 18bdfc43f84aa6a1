"""Every snippet of the README and of the pages runs as it stands: Python, commands, and C."""

import shlex
import shutil
import subprocess

import click
import numpy as np
import pytest
from click.testing import CliRunner

from extras import need
from greedynet.cli import main
from pages import PAGES, ROOT, snippets

# What a snippet needs beyond the core, by a word in it.
NEEDS = {
    "to_torch": "torch",
    "import torch": "torch",
    "to_onnx": "onnxruntime",
    "pandas": "pandas",
    "as_frame": "pandas",
}


def run_python(page, having=""):
    """Run the Python of a page, one snippet after the other, and return the names it made."""
    names = {"__name__": "snippet"}
    for code in (code for code in snippets(page, "python") if having in code):
        for word, library in NEEDS.items():
            if word in code:
                need(library)
        exec(compile(code, str(page), "exec"), names)
    return names


LONG = {"recipes.md", "scaling.md"}


@pytest.mark.parametrize(
    "page",
    [pytest.param(p, marks=[pytest.mark.slow] if p.name in LONG else []) for p in PAGES],
    ids=lambda page: page.name,
)
def test_python_of_a_page_runs(page, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    run_python(page)


def test_there_are_snippets():
    counts = {page.name: len(snippets(page, "python")) for page in PAGES}
    assert counts["README.md"] >= 3
    assert counts["recipes.md"] >= 7
    assert counts["extending.md"] >= 3


# Commands


def command_lines(page):
    """Return the arguments of every `greedynet ...` in a page's shell snippets."""
    lines = "\n".join(snippets(page, "bash")).replace("\\\n", " ").splitlines()
    parts = [part for line in lines for part in line.split("&&")]
    return [words[1:] for part in parts if (words := shlex.split(part))[:1] == ["greedynet"]]


COMMAND_LINES = [(page.name, args) for page in PAGES for args in command_lines(page)]


def parsed(arguments):
    """Return a command and its values, all options known and all values of their type.

    Files need not be there.
    """
    name, *rest = arguments
    command = main.commands.get(name)
    assert command is not None, f"greedynet has no command {name!r}"
    context = click.Context(command, info_name=name)
    values, extra, _ = command.make_parser(context).parse_args(list(rest))
    assert not extra, f"{name} takes no {extra}"
    for parameter in command.params:
        value = values.get(parameter.name)
        is_missing = value is None or parameter.value_is_missing(value)
        assert not (parameter.required and is_missing), f"{name} needs {parameter.name}"
        if isinstance(value, str) and not isinstance(parameter.type, click.Path):
            parameter.type_cast_value(context, value)
    return command, values


@pytest.mark.parametrize(("page", "arguments"), COMMAND_LINES, ids=str)
def test_command_of_a_page_is_one(page, arguments):
    parsed(arguments)


def write_houses(folder):
    """Write the tables that the pages speak of."""
    rng = np.random.default_rng(0)
    for name, n_rows in (("houses.csv", 120), ("other.csv", 40), ("new.csv", 40)):
        area, rooms = rng.uniform(30, 150, n_rows), rng.integers(1, 6, n_rows)
        district = rng.choice(["Nord", "Altstadt"], n_rows)
        price = 2000 * area + 9000 * rooms + 30_000 * (district == "Altstadt")
        lines = [
            f"{a:.0f},{r},{d},{p:.0f}"
            for a, r, d, p in zip(area, rooms, district, price, strict=True)
        ]
        (folder / name).write_text("\n".join(["area,rooms,district,price", *lines]) + "\n")


@pytest.mark.parametrize("name", ["README.md", "getting_started.md"])
def test_commands_of_a_page_run_one_after_the_other(name, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    write_houses(tmp_path)
    ran = [args for page, args in COMMAND_LINES if page == name and args[0] != "reproduce"]
    assert len(ran) >= 4
    for arguments in ran:
        result = CliRunner().invoke(main, arguments)
        assert result.exit_code == 0, f"{arguments}: {result.output}"


def test_c_of_the_recipe_computes_what_the_network_does(tmp_path, monkeypatch):
    if shutil.which("cc") is None:
        pytest.skip("needs a C compiler")
    monkeypatch.chdir(tmp_path)
    page = ROOT / "docs" / "recipes.md"
    names = run_python(page, having="to_c(")
    (program,), compilations = snippets(page, "c"), snippets(page, "bash")
    (tmp_path / "predict.c").write_text(program)
    (shell,) = [code for code in compilations if "cc " in code]
    printed = subprocess.run(shell, shell=True, check=True, capture_output=True, text=True).stdout
    assert float(printed) == pytest.approx(names["tiny"].predict([[31.5, 0.4]])[0], rel=1e-5)
