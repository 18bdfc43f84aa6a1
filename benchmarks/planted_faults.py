"""Planted faults: how many mistakes in the source do the tests catch?

    python benchmarks/planted_faults.py record --map calls.json
    python benchmarks/planted_faults.py plant --map calls.json --out before.json
    python benchmarks/planted_faults.py plant --map calls.json --again before.json --out after.json

`record` runs the tests once and writes which test calls which function. `plant` copies the
repository, plants one fault after the other there, half of them chosen (`plantedlines.py`), half in
lines drawn at random from every package, and runs tests that call the function, until one fails.
With `--again` the same faults are planted in another state of the repository: a fault whose line is
gone is left out, one whose line has moved is followed to its new module.
"""

import argparse
import ast
import copy
import json
import os
import random
import re
import shutil
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from itertools import zip_longest
from pathlib import Path

from plantedlines import CHOSEN

ROOT = Path(__file__).resolve().parents[1]
SEED = 20240
MOST_FILES = 12
FLIPS: dict[type, type] = {
    ast.Add: ast.Sub,
    ast.Sub: ast.Add,
    ast.Mult: ast.Div,
    ast.Lt: ast.GtE,
    ast.LtE: ast.Gt,
    ast.Gt: ast.LtE,
    ast.GtE: ast.Lt,
    ast.Eq: ast.NotEq,
    ast.NotEq: ast.Eq,
    ast.Is: ast.IsNot,
    ast.IsNot: ast.Is,
    ast.In: ast.NotIn,
    ast.NotIn: ast.In,
    ast.And: ast.Or,
    ast.Or: ast.And,
}


@dataclass(frozen=True)
class Fault:
    """One line of a module, and what stands there instead."""

    module: str  # relative to the package
    line: str
    fault: str
    kind: str  # "chosen", or "random"


# Which test calls which function: a plugin of pytest, in the process that runs the tests.


class CallRecorder:
    def __init__(self, package: Path, out: Path):
        self.prefix, self.out = f"{package}{os.sep}", out
        self.known: dict[object, str | None] = {}
        self.called: set[str | None] = set()
        self.tests: dict[str, dict] = {}

    def __call__(self, frame, event, arg):
        code = frame.f_code
        if code not in self.known:
            inside = code.co_filename.startswith(self.prefix)
            where = code.co_filename.removeprefix(self.prefix)
            self.known[code] = f"{where}:{code.co_qualname}" if inside else None
        self.called.add(self.known[code])

    def pytest_runtest_logreport(self, report):
        if report.when == "call":
            self.tests[report.nodeid] = {
                "seconds": round(report.duration, 3),
                "calls": sorted(filter(None, self.called)),
            }

    def pytest_runtest_setup(self, item):
        self.called = set()
        threading.settrace(self)
        sys.settrace(self)

    def pytest_sessionfinish(self):
        sys.settrace(None)
        known = json.loads(self.out.read_text()) if self.out.exists() else {}
        self.out.write_text(json.dumps(known | self.tests))


def pytest_configure(config):
    """Record, where this module is a plugin of pytest."""
    if "RECORD_CALLS" in os.environ:
        package = Path(os.environ["RECORDED_PACKAGE"])
        config.pluginmanager.register(CallRecorder(package, Path(os.environ["RECORD_CALLS"])))


def record(files: list[str], out: Path, root: Path) -> None:
    package = root / "src" / "greedynet"
    variables = {"RECORD_CALLS": str(out), "RECORDED_PACKAGE": str(package)}
    for file in files or sorted(path.name for path in (root / "tests").glob("test_*.py")):
        begun = time.monotonic()
        run_pytest(root, [f"tests/{file}", "-p", "planted_faults"], 1200, **variables)
        print(f"{file}: {time.monotonic() - begun:.0f} s", flush=True)


def run_pytest(root: Path, arguments: list[str], seconds: float, **variables: str):
    environment = {
        **os.environ,
        "PYTHONPATH": os.pathsep.join([str(root / "src"), str(Path(__file__).parent)]),
        "OMP_NUM_THREADS": "1",
        **variables,
    }
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", *arguments]
    return subprocess.run(
        command, cwd=root, env=environment, capture_output=True, text=True, timeout=seconds
    )


# Lines drawn at random.


class Mistake(ast.NodeTransformer):
    """Make the mistake of this number in what is visited, and count how many there could be."""

    def __init__(self, number: int):
        self.number, self.count = number, 0

    def due(self) -> bool:
        self.count += 1
        return self.count - 1 == self.number

    def visit_BinOp(self, node):
        self.generic_visit(node)
        if type(node.op) in FLIPS and self.due():
            node.op = FLIPS[type(node.op)]()
        return node

    visit_BoolOp = visit_BinOp  # noqa: N815

    def visit_Compare(self, node):
        self.generic_visit(node)
        if type(node.ops[0]) in FLIPS and self.due():
            node.ops[0] = FLIPS[type(node.ops[0])]()
        return node

    def visit_UnaryOp(self, node):
        self.generic_visit(node)
        negates = isinstance(node.op, ast.USub | ast.Not)
        return node.operand if negates and self.due() else node

    def visit_Constant(self, node):
        if type(node.value) is bool and self.due():
            return ast.Constant(not node.value)
        if type(node.value) in (int, float) and self.due():
            return ast.Constant(node.value + 1)
        return node

    def visit_Call(self, node):
        self.generic_visit(node)
        if len(node.args) == 2 and self.due():
            node.args = node.args[::-1]
        return node

    def visit_JoinedStr(self, node):
        return node  # what is said


def simple_statements(tree: ast.Module) -> Iterator[ast.stmt]:
    """Yield statements of functions that stand on one line, alone."""
    functions = [n for n in ast.walk(tree) if isinstance(n, ast.FunctionDef)]
    kinds = (ast.Assign, ast.AugAssign, ast.Return, ast.Expr, ast.If, ast.While)
    for function in functions:
        for node in ast.walk(function):
            text = isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)
            if isinstance(node, kinds) and not text:
                yield node


def mistakes_of(path: Path) -> list[tuple[str, str]]:
    """Return lines of a module, each with a fault for every mistake that can be made in it."""
    text = path.read_text(encoding="utf-8")
    lines = text.splitlines()
    stripped = [line.strip() for line in lines]
    found = []
    for node in simple_statements(ast.parse(text)):
        compound = isinstance(node, ast.If | ast.While)
        part = node.test if compound else node
        line = lines[node.lineno - 1]
        if part.end_lineno != node.lineno or stripped.count(line.strip()) != 1:
            continue
        source = ast.get_source_segment(text, part)
        if source is None or (compound and not line.rstrip().endswith(":")):
            continue
        counter = Mistake(-1)
        counter.visit(copy.deepcopy(part))
        for number in range(counter.count):
            changed = ast.unparse(Mistake(number).visit(copy.deepcopy(part)))
            found.append((line.strip(), line.replace(source, changed, 1).strip()))
        if isinstance(node, ast.Expr | ast.AugAssign):
            found.append((line.strip(), line.replace(source, "pass", 1).strip()))
    return found


def random_faults(package: Path, n_faults: int, seed: int) -> list[Fault]:
    """Draw faults: packages take turns, a package's modules are drawn by their length."""
    draw = random.Random(seed)
    packages = sorted(path.parent for path in package.glob("*/__init__.py"))
    draw.shuffle(packages)
    faults: list[Fault] = []
    while len(faults) < n_faults:
        modules = sorted(packages[len(faults) % len(packages)].rglob("*.py"))
        lengths = [len(stripped_lines(path)) for path in modules]
        (path,) = draw.choices(modules, lengths)
        possible = mistakes_of(path)
        if possible:
            where = str(path.relative_to(package))
            faults.append(Fault(where, *draw.choice(possible), "random"))
    return faults


# Planting.


def home_of(fault: Fault, package: Path) -> Path | None:
    """Return the one module where the line stands today."""
    same = package / fault.module
    for path in (same, *sorted(package.rglob("*.py"))):
        if path.is_file() and stripped_lines(path).count(fault.line) == 1:
            return path
    return None


def stripped_lines(path: Path) -> list[str]:
    return [line.strip() for line in path.read_text(encoding="utf-8").splitlines()]


def callers_wanted(path: Path, line: str, package: Path) -> str:
    """Return what a test calls that is concerned: the function, module or folder of the line.

    Calls of compiled functions are not recorded, nor what runs at import.
    """
    number = stripped_lines(path).index(line) + 1
    where, name = str(path.relative_to(package)), ""
    nodes: list[ast.AST] = [ast.parse(path.read_text(encoding="utf-8"))]
    while nodes:
        for child in ast.iter_child_nodes(nodes.pop()):
            if isinstance(child, ast.FunctionDef | ast.ClassDef):
                if child.lineno <= number <= (child.end_lineno or 0):
                    if re.search(
                        "jit|compiled|inlined", " ".join(map(ast.unparse, child.decorator_list))
                    ):
                        return f"{path.parent.relative_to(package)}/"
                    name += child.name + (
                        ".<locals>." if isinstance(child, ast.FunctionDef) else "."
                    )
                    nodes = [child]
                    break
            else:
                nodes.append(child)
    return f"{where}:{name.removesuffix('.').removesuffix('.<locals>')}"


def tests_of(wanted: str, called: dict[str, dict], root: Path, seconds: float) -> list[str]:
    """Return the tests that are concerned, of the files that are most about it, quickest first.

    Tests are known by their names, as they may have moved to another file since.
    """
    whole = wanted.endswith((":", "/"))
    cost: dict[str, float] = {}
    concerned: dict[str, set[str]] = {}
    size: dict[str, int] = {}
    for test, of in called.items():
        file, name = test.split("::")[0], test.split("::")[-1].split("[")[0]
        size[file] = size.get(file, 0) + 1
        if any(call.startswith(wanted) if whole else call == wanted for call in of["calls"]):
            cost[name] = cost.get(name, 0.0) + of["seconds"]
            concerned.setdefault(file, set()).add(name)
    share = {file: len(names) / size[file] for file, names in concerned.items()}
    files = sorted(share, key=lambda file: -share[file])[:MOST_FILES]
    names = sorted(set().union(*(concerned[file] for file in files)), key=cost.__getitem__)
    there = homes_of_tests(root)
    chosen, total = [], 0.0
    for name in names:
        total += cost[name]
        if chosen and total > seconds:
            break
        chosen += [f"{file}::{name}" for file in there.get(name, ())]
    if chosen:
        return chosen
    package = wanted.split("/")[0]
    return [str(path.relative_to(root)) for path in root.glob(f"tests/test_{package}*.py")]


def homes_of_tests(root: Path) -> dict[str, list[str]]:
    found: dict[str, list[str]] = {}
    for path in sorted((root / "tests").glob("test_*.py")):
        for node in ast.parse(path.read_text(encoding="utf-8")).body:
            if isinstance(node, ast.FunctionDef):
                found.setdefault(node.name, []).append(f"tests/{path.name}")
    return found


def plant(faults: list[Fault], root: Path, calls: Path, out: Path, seconds: float) -> None:
    called = json.loads(calls.read_text())
    results = json.loads(out.read_text()) if out.exists() else []
    done = {(result["module"], result["line"], result["fault"]) for result in results}
    with tempfile.TemporaryDirectory() as folder:
        there = Path(folder) / "repository"
        skipped = shutil.ignore_patterns(".git", "__pycache__", "_build", ".venv")
        shutil.copytree(root, there, ignore=skipped)
        for number, fault in enumerate(faults):
            if (fault.module, fault.line, fault.fault) in done:
                continue
            cache = Path(folder) / f"numba{number}"
            by, n_tests = outcome(fault, there, called, seconds, cache)
            results.append({**asdict(fault), "caught_by": by, "n_tests": n_tests})
            out.write_text(json.dumps(results, indent=1))
            print(f"{by or 'MISSED'}: {fault.module}: {fault.fault.strip()}", flush=True)
    summary(results)


def outcome(fault: Fault, root: Path, called: dict, seconds: float, cache: Path):
    """Return the test that caught the fault, "" for none, None if its line is gone."""
    package = root / "src" / "greedynet"
    path = home_of(fault, package)
    if path is None:
        return "the line is gone", 0
    tests = tests_of(callers_wanted(path, fault.line, package), called, root, seconds)
    if not tests:
        return "", 0
    whole = path.read_text(encoding="utf-8")
    variables = {"NUMBA_CACHE_DIR": str(cache)} if "jit" in whole else {}
    lines = whole.splitlines()
    at = stripped_lines(path).index(fault.line)
    lines[at] = lines[at].replace(fault.line, fault.fault)
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    try:
        run = run_pytest(root, [*tests, "-x", "--tb=line", "-m", ""], 20 * seconds, **variables)
    except subprocess.TimeoutExpired:
        return "does not end", len(tests)
    finally:
        path.write_text(whole, encoding="utf-8")
        shutil.rmtree(cache, ignore_errors=True)
    if run.returncode in (0, 5):
        return "", len(tests)
    failed = [line for line in run.stdout.splitlines() if line.startswith(("FAILED", "ERROR"))]
    return (failed[0].split(" - ")[0] if failed else f"exit {run.returncode}"), len(tests)


def summary(results: list[dict]) -> None:
    for kind in ("chosen", "random"):
        there = [r for r in results if r["kind"] == kind and r["caught_by"] != "the line is gone"]
        print(f"{kind}: {sum(bool(r['caught_by']) for r in there)} of {len(there)} caught")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("what", choices=("record", "plant"))
    parser.add_argument("files", nargs="*", help="names of test files to record, all by default")
    parser.add_argument("--root", type=Path, default=ROOT, help="the repository")
    parser.add_argument("--map", type=Path, required=True, help="which test calls what")
    parser.add_argument(
        "--out", type=Path, help="results; what they hold already is not done again"
    )
    parser.add_argument("--again", type=Path, help="results of before, whose faults are planted")
    parser.add_argument("--random", type=int, default=len(CHOSEN), help="how many are drawn")
    parser.add_argument("--seconds", type=float, default=30.0, help="of tests, for each fault")
    given = parser.parse_intermixed_args()
    if given.what == "record":
        record(given.files, given.map.resolve(), given.root.resolve())
        return
    if given.again:
        before = json.loads(given.again.read_text())
        faults = [Fault(r["module"], r["line"], r["fault"], r["kind"]) for r in before]
    else:
        chosen = [Fault(*line, "chosen") for line in CHOSEN]
        drawn = random_faults(given.root / "src" / "greedynet", given.random, SEED)
        faults = [fault for pair in zip_longest(chosen, drawn) for fault in pair if fault]
    plant(faults, given.root, given.map, given.out, given.seconds)


if __name__ == "__main__":
    main()
