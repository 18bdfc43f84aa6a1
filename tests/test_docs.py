"""The pages know every public name, every parameter and every file they speak of.

What Sphinx finds by itself, with warnings as errors, is not tested again here.
"""

import ast
import importlib
import inspect
import re
import runpy
from pathlib import Path

import pytest

import greedynet
from extras import need
from greedynet import GreedyNetClassifier, GreedyNetRegressor, activations, fit_table
from pages import PAGES, ROOT
from scopes import parameters_of

DOCS, EXAMPLES = ROOT / "docs", ROOT / "examples"
PUBLIC = ("", ".exact", ".export", ".losses", ".paper", ".plots", ".train")


def listed_names():
    """Return the names of the API page, by module."""
    found, module = {}, None
    for line in (DOCS / "api.rst").read_text(encoding="utf-8").splitlines():
        if line.startswith(".. currentmodule::"):
            module = line.split()[-1]
        elif match := re.fullmatch(r"   (\w+)", line):
            found.setdefault(module, []).append(match.group(1))
    return found


@pytest.mark.slow
@pytest.mark.all_folds
def test_the_front_page_says_what_its_fit_says():
    page = (DOCS / "index.md").read_text(encoding="utf-8")
    quoted = " ".join(line[2:] for line in page.splitlines() if line.startswith("> "))
    said = (
        fit_table(Path(greedynet.__file__).parent / "cli" / "daylight.csv", "hours", hold_out=0.2)
        .summary()
        .splitlines()[0]
    )
    figure = r"\d+(?:\.\d+)?"
    assert re.sub(figure, "?", quoted) == re.sub(figure, "?", said)
    figures = [[float(found) for found in re.findall(figure, text)] for text in (quoted, said)]
    assert len(figures[0]) == 7
    assert figures[0] == pytest.approx(figures[1], rel=0.15)


@pytest.mark.parametrize("module", [f"greedynet{part}" for part in PUBLIC])
def test_every_public_name_is_on_the_api_page(module):
    public = importlib.import_module(module).__all__
    assert sorted(listed_names()[module]) == sorted(public)


def test_every_module_of_the_api_page_is_an_attribute():
    listed = {module.partition(".")[2] for module in listed_names()} - {""}
    assert listed | {"dask"} == greedynet._SUBMODULES
    assert listed <= set(dir(greedynet))


def test_every_activation_is_on_the_api_page():
    classes = {
        name
        for name, value in vars(activations).items()
        if inspect.isclass(value) and value.__module__.startswith(activations.__name__)
    }
    assert set(listed_names()[activations.__name__]) == classes | {"get_activation"}


def test_public_names_have_docstrings():
    """Except where the interface of a family says what a method does."""
    of_families = {"greedynet.activations", "greedynet.losses"}
    silent = []
    for module, names in listed_names().items():
        for name in names:
            value = getattr(importlib.import_module(module), name)
            own = vars(value) if inspect.isclass(value) and module not in of_families else {}
            kinds = (property, classmethod, staticmethod)
            parts = {
                f"{name}.{key}": part
                for key, part in own.items()
                if key[0] != "_" and (inspect.isfunction(part) or isinstance(part, kinds))
            }
            silent += [key for key, part in {name: value, **parts}.items() if not part.__doc__]
    assert not silent


@pytest.mark.parametrize("estimator", [GreedyNetRegressor, GreedyNetClassifier])
def test_the_table_of_parameters_is_that_of_the_constructor(estimator):
    """In the same order; the page, docstrings, checks and options come from the table."""
    kind = estimator.__name__.removeprefix("GreedyNet").lower()
    names = [parameter.name for parameter in parameters_of(kind)]
    assert names == list(inspect.signature(estimator).parameters)
    assert len(names) <= {"regressor": 20, "classifier": 17}[kind]
    assert list(estimator._parameter_constraints) == names
    entries = re.findall(r"^    (\w+) : .*, default=.*$", estimator.__doc__, re.M)
    assert entries == names
    assert "```{parameter-list}" in (DOCS / "parameters.md").read_text(encoding="utf-8")


# Files


def built_from(path):
    """Return the example that a page or a picture of the gallery is built from, else the path."""
    picture = re.fullmatch(r"auto_examples/(\w+)/images/sphx_glr_(\w+)_\d+\.png", path)
    page = re.fullmatch(r"auto_examples/(\w+)/(\w+)\.rst", path)
    if match := picture or page:
        return EXAMPLES / match.group(1) / f"{match.group(2)}.py"
    if path == "auto_examples/index.rst":
        return EXAMPLES / "GALLERY_HEADER.rst"
    return None


@pytest.mark.parametrize("page", [*PAGES, ROOT / "CONTRIBUTING.md"], ids=lambda page: page.name)
def test_every_link_of_a_page_leads_somewhere(page):
    text = page.read_text(encoding="utf-8")
    links = re.findall(r"\]\(([^)\s#]+)[^)]*\)", text)
    links += re.findall(r"^```\{(?:literal)?include\} (\S+)", text, re.M)
    inner = [link for link in links if not link.startswith(("http:", "https:"))]
    missing = [link for link in inner if not (built_from(link) or page.parent / link).exists()]
    assert not missing


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_source_that_a_page_shows_is_there(page):
    text = page.read_text(encoding="utf-8")
    for file, name in re.findall(r"^```\{literalinclude\} (\S+)\n:pyobject: (\S+)", text, re.M):
        node = ast.parse((page.parent / file).read_text(encoding="utf-8"))
        for part in name.split("."):
            inner = {n.name: n for n in node.body if isinstance(n, ast.ClassDef | ast.FunctionDef)}
            assert part in inner, f"{file} has no {name}"
            node = inner[part]


def test_kept_pictures_are_those_that_the_script_draws():
    need("matplotlib")
    made = runpy.run_path(str(DOCS / "images" / "make.py"))["PICTURES"]
    # The figure of the random problems is that of `benchmarks/judgement.py --figure`.
    drawn = {path.name for path in (DOCS / "images").glob("*.png")} - {"judgement.png"}
    assert drawn == set(made)
    examples = [example for example in made.values() if example is not None]
    assert all((EXAMPLES / example).is_file() for example in examples)


# The extensions of Sphinx


def extension(name):
    need("sphinx")
    return runpy.run_path(str(DOCS / "_ext" / f"{name}.py"))


def test_order_has_every_example():
    need("sphinx_gallery")
    order = extension("order")["EXAMPLES"]
    assert sorted(order) == sorted(path.name for path in EXAMPLES.rglob("plot_*.py"))


def test_help_is_that_of_every_command():
    from greedynet.cli import main

    texts = extension("command_help")["help_texts"]()
    assert set(texts) == {"", *main.commands}
    assert all(text.startswith("Usage: greedynet") for text in texts.values())
    assert "--max-nodes" in texts["fit"]


@pytest.mark.parametrize(
    ("text", "is_found"),
    [
        ('<script defer src="https://cdn.example/x.js">', True),
        ('<script src="//cdn.example/x.js">', True),
        ('<link rel="stylesheet" href="https://cdn.example/x.css">', True),
        ('<img alt="x" src="http://example.org/x.png">', True),
        ("@font-face { src: url(https://fonts.example/x.woff2) }", True),
        ('@import "https://fonts.example/x.css";', True),
        ('<a href="https://example.org">x</a>', False),
        ('<script src="_static/x.js"></script>', False),
        ("background: url(data:image/png;base64,AA//BB)", False),
    ],
)
def test_what_a_browser_would_fetch_is_found(text, is_found):
    assert bool(extension("no_network")["fetched"](text)) == is_found
