"""What a fresh process loads: no more than it needs, so that it starts quickly."""

import subprocess
import sys

import pytest

pytestmark = pytest.mark.slow

OUTER = {"tables", "export", "plots", "report", "dask", "paper", "cli", "train"}
NUMERICAL = {"numba", "llvmlite", "scipy", "sklearn", "pandas", "pyarrow", "joblib"}


def loaded(code, *arguments):
    """The modules that a fresh interpreter has loaded after the code."""
    code = f"import sys\n{code}\nprint(*sys.modules, sep='\\n', file=sys.stderr)"
    command = [sys.executable, "-c", code, *map(str, arguments)]
    run = subprocess.run(command, capture_output=True, text=True, check=True)
    return set(run.stderr.split())


def libraries(modules):
    """The libraries of modules, other than Python's own and this one."""
    return {name.partition(".")[0] for name in modules} - sys.stdlib_module_names - {"greedynet"}


def test_importing_the_package_loads_no_other_library():
    # What the environment itself loads at the start is no doing of ours.
    assert libraries(loaded("import greedynet")) <= libraries(loaded(""))


@pytest.mark.parametrize(
    "use",
    [
        "exact.optimise",
        "export.to_c",
        "train.train",
        "paper.load_example",
        "dask.DaskGreedyNetRegressor",
    ],
)
def test_submodules_need_no_import_of_their_own(use):
    name = use.partition(".")[0]
    assert f"greedynet.{name}" in loaded(f"import greedynet\ngreedynet.{use}")


@pytest.mark.parametrize("name", ["GreedyNetRegressor", "GreedyNetClassifier", "Network"])
def test_estimators_do_not_load_the_packages_around_them(name):
    modules = loaded(f"from greedynet import {name}")
    assert {package for package in OUTER if f"greedynet.{package}" in modules} == set()


def test_text_tables_are_read_without_compiled_code(tmp_path):
    path = tmp_path / "a.csv"
    path.write_text("x,c\n1.5,red\n,blue\n")
    code = (
        "from greedynet.tables.readers import open_table\n"
        "table = open_table(sys.argv[1])\n"
        "assert [len(block['x']) for block in table.blocks(table.names)] == [2]\n"
    )
    modules = libraries(loaded(code, path))
    assert modules & NUMERICAL == set()
    assert "duckdb" in modules


def test_duckdb_is_loaded_for_tables_only(tmp_path):
    code = "from greedynet.tables.fit import fit_table\nfrom greedynet.cli import main\n"
    assert "duckdb" not in libraries(loaded(code))
