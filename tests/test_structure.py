"""The shape of the source tree: what may import what, and habits that every file keeps.

Each check is a function of a folder that returns its findings, one line each. The first tests run
the checks on this repository; the last ones plant every violation in a small package and demand
that the check finds it, and that it keeps quiet about the lawful neighbour.
"""

import ast
import os
import re
import subprocess
import sys
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
PACKAGE = ROOT / "src" / "greedynet"
TESTS = ROOT / "tests"

# A package may import the packages of earlier lines, and itself; not those of its own line.
ORDER: tuple[tuple[str, ...], ...] = (
    ("support",),
    ("linalg", "activations"),
    ("losses",),
    ("rows",),
    ("model",),
    ("search",),
    ("correction",),
    ("fitting",),
    ("estimators",),
    ("train",),
    ("tables",),
    ("exact",),
    ("views",),
    ("export", "plots", "report", "dask"),
    ("paper",),
    ("cli",),
    ("__main__",),
)
LAYER_OF = {name: layer for layer, names in enumerate(ORDER) for name in names}
# Of `fitting/construct.py`, the algorithm on one page.
MOST_LINES = 60
# Folders of interchangeable modules: folder -> the members that the others may import.
FAMILIES: dict[tuple[str, ...], frozenset[str]] = {
    ("export",): frozenset(
        {"agreement", "fold", "precision", "registry", "resolve", "scaling", "torch_skip"}
    ),
    ("plots",): frozenset({"style"}),
    ("tables", "kinds"): frozenset({"base"}),
}

# A part of a large class that needs its name for annotations, and the module of that class.
NAMED_BY_PARTS = (
    ("model.description", "model.network"),
    ("tables.scores", "tables.model"),
    ("tables.summary", "tables.model"),
)

# What tests may import: public packages, and modules that the documentation names.
PUBLIC = frozenset(
    {
        (),
        *((name,) for name in ("activations", "cli", "dask", "exact", "export", "losses")),
        *((name,) for name in ("paper", "plots", "report", "search", "train")),
        ("export", "registry"),
        ("export", "torch_skip"),
        ("losses", "base"),
        ("search", "base"),
    }
)
# Tests of kernels and invariants look inside, and what helps the others: settings, small
# problems, networks with ramps, and what is seen of a fit while it grows.
MOST_INSIDE = 30
INSIDE = frozenset(
    {
        "test_all_rows",
        "test_blocks",
        "test_checkpoint",
        "test_classify",
        "test_climb",
        "test_continuous",
        "test_correct",
        "test_dask",
        "test_doors",
        "test_effects",
        "test_exact",
        "test_export_shared",
        "test_given_inputs",
        "test_holding",
        "test_intervals",
        "test_kinds",
        "test_large_tables",
        "test_learning",
        "test_losses",
        "test_report",
        "test_reproduce",
        "test_row_roles",
        "test_rows",
        "test_scans",
        "test_selection",
        "test_shapes",
        "test_tables",
        "test_text_tables",
        "test_threads",
        "test_train",
    }
)
HELPERS_INSIDE = frozenset({"networks", "problems", "scopes", "watching"})

HEAVY = (
    "torch",
    "jax",
    "optax",
    "onnx",
    "onnxruntime",
    "keras",
    "dask",
    "distributed",
    "matplotlib",
    "duckdb",
    "pandas",
    "pyarrow",
    "python_calamine",
    "lightgbm",
)


# Reading the sources


def parsed(folder: Path) -> Iterator[tuple[Path, ast.Module]]:
    """Yield every Python file below `folder` with its syntax tree."""
    for path in sorted(folder.rglob("*.py")):
        yield path, tree_of(path.read_text(encoding="utf-8"))


tree_of = cache(ast.parse)


def module_name(path: Path, package: Path) -> tuple[str, ...]:
    """Name a file as a module: `search/base.py` is `("search", "base")`, `__init__` drops out."""
    parts = path.relative_to(package).with_suffix("").parts
    return parts[:-1] if parts[-1] == "__init__" else parts


def imported_modules(path: Path, tree: ast.Module, package: Path) -> Iterator[tuple[int, tuple]]:
    """Yield line and module of every import of the package's own modules, wherever it stands."""
    here = path.parent.relative_to(package).parts
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            for alias in node.names:
                top, *rest = alias.name.split(".")
                if top == package.name:
                    yield node.lineno, tuple(rest)
        elif isinstance(node, ast.ImportFrom):
            named = tuple(node.module.split(".")) if node.module else ()
            if node.level:
                source = here[: len(here) - (node.level - 1)] + named
            elif named[0] == package.name:
                source = named[1:]
            else:
                continue
            for alias in node.names:
                target = package.joinpath(*source, alias.name)
                is_module = target.is_dir() or target.with_suffix(".py").is_file()
                yield node.lineno, (*source, alias.name) if is_module else source


# The checks


def upward_imports(package: Path) -> list[str]:
    """Find imports that point up or sideways, and packages that the table does not know."""
    findings = []
    for path, tree in parsed(package):
        module = module_name(path, package)
        if not module:
            continue  # the package's own __init__ may import anything
        if module[0] not in LAYER_OF:
            findings.append(f"{path}: `{module[0]}` has no line: add it to ORDER in {__file__}")
            continue
        for line, target in imported_modules(path, tree, package):
            reason = forbidden_arrow(module, target)
            if reason:
                findings.append(f"{path}:{line}: {reason}")
    return findings


def forbidden_arrow(module: tuple[str, ...], target: tuple[str, ...]) -> str | None:
    """Say why `module` may not import `target`, or None where it may."""
    arrow = f"`{'.'.join(module)}` imports `{'.'.join(target) or '__init__'}`"
    if not target:
        return f"{arrow}: the package itself stands above all its modules"
    if target[0] not in LAYER_OF:
        return f"{arrow}, which has no line: add it to ORDER in {__file__}"
    if target[0] != module[0]:
        lower, upper = LAYER_OF[target[0]], LAYER_OF[module[0]]
        return None if lower < upper else f"{arrow}: line {upper} may not import line {lower}"
    for folder, shared in FAMILIES.items():
        n = len(folder)
        if module[:n] != folder or target[:n] != folder or len(module) == n:
            continue  # another folder, or the family's own __init__
        if target[: n + 1] == module[: n + 1]:
            continue  # one member's own folder
        if module[n] in shared or len(target) == n or target[n] not in shared:
            return f"{arrow}: members of `{'.'.join(folder)}` may import only {sorted(shared)}"
    return None


def circular_imports(package: Path) -> list[str]:
    """Find modules that import each other, directly or by way of others, wherever it stands.

    Imports inside functions and for types only count, too: modules have an order within packages.
    """
    imports = {
        ".".join(module_name(path, package)): {
            ".".join(target) for _, target in imported_modules(path, tree, package)
        }
        for path, tree in parsed(package)
    }
    for module, target in NAMED_BY_PARTS:
        if target in imports.get(module, ()):
            imports[module].discard(target)
        elif module in imports:
            return [f"{module} -> {target}: not imported, take it from NAMED_BY_PARTS"]
    findings, done = [], set()

    def visit(module: str, way: tuple[str, ...]) -> None:
        if module in way:
            findings.append(" -> ".join((*way[way.index(module) :], module)))
        elif module not in done:
            for target in sorted(imports.get(module, ())):
                # A package's __init__ stands for its members, and imports them.
                if not f"{module}.".startswith(f"{target}."):
                    visit(target, (*way, module))
            done.add(module)

    for module in imports:
        visit(module, ())
    return findings


def untrue_docstrings(package: Path) -> list[str]:
    """Find packages that import what their docstring does not say, or say what ORDER forbids."""
    findings = []
    for folder in sorted(path.parent for path in package.glob("*/__init__.py")):
        text = ast.get_docstring(ast.parse((folder / "__init__.py").read_text(encoding="utf-8")))
        own = LAYER_OF.get(folder.name, 0)
        said = said_imports(text or "", own)
        findings += [
            f"{folder}: its docstring says it may import `{name}`, which stands above it"
            for name in sorted(said)
            if LAYER_OF.get(name, own) >= own
        ]
        used = {
            target[0]
            for path, tree in parsed(folder)
            for _, target in imported_modules(path, tree, package)
            if target and target[0] != folder.name
        }
        findings += [
            f"{folder}: it imports `{name}`, which its docstring does not say"
            for name in sorted(used - said)
        ]
    return findings


def said_imports(text: str, own: int) -> set[str]:
    """Return what a docstring allows: names, "everything up to" one, or all of the lines above."""
    found = re.search(r"May import ([^.;]*)", text)
    said = " ".join(found[1].split()) if found else ""
    names = set(re.findall(r"`(\w+)`", said))
    if said.startswith("everything up to"):
        (last,) = names
        return {name for name, layer in LAYER_OF.items() if layer <= LAYER_OF.get(last, own)}
    if said.startswith("every"):
        return {name for name, layer in LAYER_OF.items() if layer < own}
    return names


def heavy_imports(package: Path) -> list[str]:
    """Find the heavy libraries that the package's public names load into a fresh interpreter.

    scikit-learn 1.9 itself loads pandas where it is installed. To see only our own doing, pandas is
    hidden: scikit-learn then does without, and an import of ours fails.
    """
    code = (
        f"import sys; sys.modules['pandas'] = None; import {package.name}; "
        f"[getattr({package.name}, name) for name in getattr({package.name}, '__all__', ())]; "
        f"print(*[name for name in {HEAVY!r} if sys.modules.get(name)])"
    )
    run = subprocess.run(
        [sys.executable, "-c", code],
        env={**os.environ, "PYTHONPATH": str(package.parent)},
        capture_output=True,
        text=True,
    )
    return run.stderr.splitlines()[-1:] if run.returncode else run.stdout.split()


def tuple_messages(folder: Path) -> list[str]:
    """Find `raise SomeError("text", value)`, which shows the user a tuple."""
    return [
        f"{path}:{node.lineno}: `{ast.unparse(node)}` passes a value beside its message"
        for path, tree in parsed(folder)
        for node in ast.walk(tree)
        if isinstance(node, ast.Raise)
        and isinstance(node.exc, ast.Call)
        and ast.unparse(node.exc.func).rpartition(".")[2].lstrip("_")[:1].isupper()
        and len(node.exc.args) > 1
    ]


def unmatched_expectations(folder: Path) -> list[str]:
    """Find `pytest.raises` and `pytest.warns` that would accept any message."""
    return [
        f"{path}:{node.lineno}: `{ast.unparse(node)}` has no match="
        for path, tree in parsed(folder)
        for node in ast.walk(tree)
        if isinstance(node, ast.Call)
        and ast.unparse(node.func) in {"pytest.raises", "pytest.warns", "raises", "warns"}
        and "match" not in {keyword.arg for keyword in node.keywords}
    ]


def internal_imports(folder: Path) -> list[str]:
    """Find tests that import modules or names which are no part of the public surface."""
    findings = []
    for path, tree in parsed(folder):
        if path.stem in INSIDE | HELPERS_INSIDE:
            continue
        for node in ast.walk(tree):
            if isinstance(node, ast.Import):
                found = [tuple(alias.name.split(".")) for alias in node.names]
            elif isinstance(node, ast.ImportFrom) and node.module:
                source = tuple(node.module.split("."))
                found = [source, *((*source, alias.name) for alias in node.names)]
                found = [name for name in found if name == source or is_inside(name)]
            else:
                continue
            findings += [
                f"{path}:{node.lineno}: `{'.'.join(name)}` is no part of the public surface"
                for name in found
                if name[0] == PACKAGE.name and name[1:] not in PUBLIC
            ]
    return findings


def is_inside(name: tuple[str, ...]) -> bool:
    """Whether what is imported is a module of the package, or private."""
    place = PACKAGE.joinpath(*name[1:])
    return name[-1].startswith("_") or place.is_dir() or place.with_suffix(".py").is_file()


# The checks on this repository


@pytest.mark.parametrize(
    ("check", "folder"),
    [
        (upward_imports, PACKAGE),
        (circular_imports, PACKAGE),
        (untrue_docstrings, PACKAGE),
        (heavy_imports, PACKAGE),
        (tuple_messages, PACKAGE),
        (unmatched_expectations, TESTS),
        (internal_imports, TESTS),
    ],
)
def test_repository(check: Callable[[Path], list[str]], folder: Path):
    assert any(folder.rglob("*.py")), f"nothing to check in {folder}"
    findings = check(folder)
    assert not findings, "\n".join(findings)


# The checks on planted files


def plant(folder: Path, files: dict[str, str]) -> Path:
    """Write the files below `folder`, with the folders and `__init__.py` files they need."""
    for name, text in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        (path.parent / "__init__.py").touch()
        path.write_text(text, encoding="utf-8")
    return folder


@pytest.mark.parametrize(
    ("importer", "text", "finding"),
    [
        ("fitting/page", "from greedynet.estimators import X", "may not import line"),
        ("fitting/page", "import greedynet.estimators", "may not import line"),
        ("fitting/page", "from greedynet import estimators", "may not import line"),
        ("fitting/page", "from ..estimators import X", "may not import line"),
        ("fitting/page", "from .. import rows, estimators", "may not import line"),
        ("fitting/page", "def f():\n    from ..cli import X", "page.py:2: `fitting.page` imports"),
        ("fitting/page", "if TYPE_CHECKING:\n    import greedynet.cli", "may not import line"),
        ("fitting/__init__", "from ..cli import X", "may not import line"),
        ("linalg/factor", "from ..activations import X", "may not import line"),
        ("plots/lines", "from ..report.page import X", "may not import line"),
        ("export/c", "from .onnx import X", "may import only ['agreement', 'fold'"),
        ("export/c", "from . import onnx", "may import only ['agreement', 'fold'"),
        ("export/agreement", "from .onnx import X", "may import only ['agreement', 'fold'"),
        ("tables/kinds/colors", "from .sounds import X", "may import only ['base']"),
        ("fitting/page", "from greedynet import __version__", "stands above all its modules"),
        ("fitting/page", "from ..novelty import X", "`novelty`, which has no line: add it"),
        ("novelty/leaf", "", "`novelty` has no line: add it to ORDER"),
    ],
)
def test_upward_import_is_found(tmp_path: Path, importer: str, text: str, finding: str):
    names = ("estimators/base", "cli/program", "rows/rows", "plots/lines", "export/onnx")
    package = plant(tmp_path / "greedynet", {f"{name}.py": "" for name in names})
    plant(package, {"tables/kinds/sounds.py": "", f"{importer}.py": text})
    findings = upward_imports(package)
    assert findings
    assert all(finding in found for found in findings)


@pytest.mark.parametrize("where", ["", "if TYPE_CHECKING:\n    ", "def f():\n    "])
def test_circular_import_is_found(tmp_path: Path, where: str):
    plant(
        tmp_path / "greedynet", {"a/b.py": "from ..a.c import X", "a/d.py": "import greedynet.a.b"}
    )
    package = plant(tmp_path / "greedynet", {"a/c.py": "import numpy"})
    assert circular_imports(package) == []
    plant(package, {"a/c.py": f"{where}from greedynet.a.d import X"})
    assert circular_imports(package) == ["a.b -> a.c -> a.d -> a.b"]


@pytest.mark.parametrize(
    ("said", "finding"),
    [
        ("May import `support`, `rows` and `linalg`.", None),
        ("May import everything up to `rows`; knows `cli`.", None),
        ("May import everything, but only late.", None),
        ("May import `support` and `linalg`. It knows `rows`.", "imports `rows`, which"),
        ("May import everything up to `losses`.", "imports `rows`, which its docstring"),
        ("May import nothing.", "imports `rows`, which its docstring does not say"),
        ("May import `rows` and `cli`.", "may import `cli`, which stands above it"),
    ],
)
def test_untrue_docstring_is_found(tmp_path: Path, said: str, finding: str | None):
    page = "def f():\n    from ..rows.rows import X"
    package = plant(tmp_path / "greedynet", {"rows/rows.py": "", "search/page.py": page})
    for name, text in {"rows": "May import `support`.", "search": said}.items():
        (package / name / "__init__.py").write_text(f'"""Planted.\n\n{text}\n"""')
    findings = untrue_docstrings(package)
    assert bool(findings) == (finding is not None)
    assert all(finding in found for found in findings)


def test_few_tests_look_inside():
    assert len(INSIDE) <= MOST_INSIDE
    there = {path.stem for path in TESTS.glob("*.py")}
    assert there >= INSIDE | HELPERS_INSIDE


def test_every_layer_is_named_once():
    assert len(LAYER_OF) == sum(len(names) for names in ORDER)


def test_no_file_has_a_path_of_this_machine():
    """The folder around the repository, or the repository at the root of the file system."""
    around = ROOT if ROOT.parent == Path(ROOT.anchor) else ROOT.parent
    absolute = rf"(?<![\w.~-]){re.escape(str(around))}(?![\w-])"
    search = ["git", "-C", str(ROOT), "grep", "--untracked", "--line-number", "-IP", absolute]
    found = subprocess.run(search, capture_output=True, text=True)
    if found.returncode > 1:
        pytest.skip(f"needs git and a git checkout: {found.stderr}")
    assert found.stdout == ""


def test_the_algorithm_is_one_page():
    assert len((PACKAGE / "fitting" / "construct.py").read_text().splitlines()) <= MOST_LINES


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("import torch", ["torch"]),
        ("from .edge import f\nf()", ["torch", "dask"]),
        ("from .edge import f", ["torch"]),
        ("import pandas", ["ModuleNotFoundError: import of pandas halted; None in sys.modules"]),
    ],
)
def test_heavy_import_is_found(tmp_path: Path, text: str, expected: list[str]):
    plant(tmp_path / "torch", {"nn.py": ""})
    plant(tmp_path / "dask", {"array.py": ""})
    edge = "import torch.nn\ndef f():\n    import dask"
    package = plant(tmp_path / "greedynet", {"__init__.py": text, "edge.py": edge})
    assert heavy_imports(package) == expected


@pytest.mark.parametrize(
    ("check", "bad", "good"),
    [
        (tuple_messages, 'raise ValueError("no", x)', 'raise ValueError(f"no {x}")'),
        (tuple_messages, 'raise errors._Bad("no", x) from e', 'raise errors.Bad("no", got=x)'),
        (unmatched_expectations, "pytest.raises(E)", 'pytest.raises(E, match="x")'),
        (unmatched_expectations, "with pytest.warns(E) as w: f()", 'pytest.warns(E, match="x")'),
        (unmatched_expectations, "raises(E, **options)", "mock.raises(E)"),
        (internal_imports, "from greedynet.fitting.climb import X", "from greedynet import load"),
        (internal_imports, "import greedynet.model", "import greedynet.export"),
        (internal_imports, "from greedynet.cli import options", "from greedynet.cli import main"),
        (internal_imports, "def f():\n    from greedynet import _HOMES", "import greedynet"),
    ],
)
def test_bad_habit_is_found(
    tmp_path: Path, check: Callable[[Path], list[str]], bad: str, good: str
):
    plant(tmp_path, {"__init__.py": '"""Planted."""', "deep/__init__.py": '"""Planted."""'})
    plant(tmp_path, {"deep/bad.py": bad, "good.py": good})
    (finding,) = check(tmp_path)
    assert finding.startswith(str(tmp_path / "deep" / "bad.py"))


def test_every_public_name_is_there():
    import greedynet

    assert set(greedynet.__all__) <= set(dir(greedynet))
    assert set(greedynet.__all__) == set(greedynet._HOMES)
    for name in greedynet.__all__:
        assert getattr(greedynet, name) is not None
    with pytest.raises(AttributeError, match="no attribute 'GreedyNet'"):
        _ = greedynet.GreedyNet
