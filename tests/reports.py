"""Models and their reports: one input, two, many with a category, classes, and no rows."""

import base64
import json
import re
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from deep_networks import bent_columns
from greedynet import GreedyNetClassifier, GreedyNetRegressor, fit_table, write_report

HOSTILE = "</script><script>document.title='harm'</script>"
HOSTILE_LEVEL = "<img src=x onerror=\"document.title='harm'\">"
HOSTILE_TARGET = "y<!--<b>\u2028&amp;"


@dataclass(frozen=True)
class Case:
    """A model, what it is given, and its rows as arrays."""

    model: Any
    data: tuple[Any, ...]
    X: Any
    y: Any

    def write(self, path: Path) -> Path:
        """Write the report of the model."""
        write_report(self.model, path, *self.data)
        return path


def contents(path: Path) -> Any:
    """Return the data that a page draws."""
    text = path.read_text(encoding="utf-8")
    found = re.search(r'id="data">(.*?)</script>', text, re.DOTALL)
    assert found is not None
    return json.loads(found.group(1))


def unpacked(part: dict[str, Any]) -> NDArray[Any]:
    """Return packed numbers: between their limits, or whole ones where they have none."""
    raw = np.frombuffer(base64.b64decode(part["data"]), dtype=f"<u{part['bits'] // 8}")
    whole = raw.reshape(part["shape"])
    if "low" not in part:
        return whole
    return part["low"] + whole / (2.0 ** part["bits"] - 1) * (part["high"] - part["low"])


@cache
def case(name: str) -> Case:
    """Return a case by its name."""
    return CASES[name]()


def _one() -> Case:
    rng = np.random.default_rng(0)
    X = np.sort(rng.uniform(-2, 3, (150, 1)), axis=0)
    y = 1 + np.sin(3 * X[:, 0]) + 0.05 * rng.normal(size=150)
    model = GreedyNetRegressor(max_nodes=12).fit(X, y)
    return Case(model, (X, y), X, y)


def _two() -> Case:
    rng = np.random.default_rng(1)
    X = rng.uniform(-1, 1, (250, 2))
    y = 3.0 + np.maximum(X[:, 0] + X[:, 1], 0)
    model = GreedyNetRegressor(max_nodes=12).fit(X, y)
    return Case(model, (X, y), X, y)


def _many() -> Case:
    rng = np.random.default_rng(2)
    X = rng.normal(size=(200, 9))
    levels = np.array(["blue", HOSTILE_LEVEL, "red"])
    kinds = rng.integers(0, 3, 200)
    table = {f"column {j}": X[:, j] for j in range(9)}
    y = np.abs(X[:, 0]) + X[:, 1] * X[:, 2] + 2.0 * kinds
    table |= {HOSTILE: levels[kinds], HOSTILE_TARGET: y}
    model = fit_table(table, HOSTILE_TARGET, max_nodes=14)
    inputs = np.column_stack([X, *(levels[kinds] == level for level in sorted(levels))])
    return Case(model, (table,), inputs, y)


def _classes() -> Case:
    rng = np.random.default_rng(3)
    X = rng.normal(size=(180, 4))
    y = np.array(["low", HOSTILE_LEVEL, "high"])[np.digitize(X[:, 0] + np.abs(X[:, 1]), [0.0, 1.5])]
    model = GreedyNetClassifier(max_nodes=10).fit(X, y)
    # Rows of which some are other than the network thinks.
    y = np.where(np.arange(180) % 7 == 0, "low", y)
    return Case(model, (X, y), X, y)


def _two_classes() -> Case:
    rng = np.random.default_rng(4)
    X = rng.uniform(-1, 1, (200, 2))
    y = np.where(np.abs(X[:, 0]) > X[:, 1], "out", "in")
    model = GreedyNetClassifier(max_nodes=10).fit(X, y)
    return Case(model, (X, y), X, y)


def _bare() -> Case:
    known = case("many")
    return Case(known.model, (), known.X, known.y)


def _one_class() -> Case:
    known = case("one")
    y = known.y > 1.0
    return Case(GreedyNetClassifier(max_nodes=8).fit(known.X, y), (known.X, y), known.X, y)


def _constant() -> Case:
    X = np.linspace(0, 1e12, 30)[:, None]
    y = np.ones(30)
    return Case(GreedyNetRegressor().fit(X, y), (X, y), X, y)


def _held_out() -> Case:
    """Return prices of cars by their year, of which some are held out."""
    rng = np.random.default_rng(5)
    year = rng.integers(1970, 2011, 240).astype(float)
    noise = 100 + 10 * (year - 1970)  # grows with the year
    table = {"year": year, "price": 8950 + 190 * np.abs(year - 1990) + noise * rng.normal(size=240)}
    model = fit_table(table, "price", max_nodes=8, hold_out=0.25)
    return Case(model, (table,), year[:, None], table["price"])


def _two_layers() -> Case:
    """Return a network of two layers over bent columns, one of them with a hostile name."""
    columns = bent_columns()
    table = {"age": columns["age"], HOSTILE: columns["height"], "color": columns["color"]}
    table[HOSTILE_TARGET] = columns["y"]
    model = fit_table(table, HOSTILE_TARGET, max_nodes=60, hidden_layers=2, hold_out=0.2)
    levels = [columns["color"] == level for level in ("blue", "red")]
    return Case(
        model, (table,), np.column_stack([columns["age"], columns["height"], *levels]), columns["y"]
    )


def _curves() -> Case:
    """Return a sum of curves, one for each column: two layers without neurons."""
    rng = np.random.default_rng(6)
    X = rng.uniform(-1, 1, (300, 3))
    y = np.sin(5 * X[:, 0]) + np.abs(X[:, 1]) + 0.5 * X[:, 2] + 0.5 * rng.normal(size=300)
    model = GreedyNetRegressor(hidden_layers=2).fit(X, y)
    return Case(model, (X, y), X, y)


CASES: dict[str, Callable[[], Case]] = {
    "one": _one,
    "two": _two,
    "many": _many,
    "classes": _classes,
    "one input, classes": _one_class,
    "two inputs, classes": _two_classes,
    "without rows": _bare,
    "constant": _constant,
    "held out": _held_out,
    "two layers": _two_layers,
    "curves": _curves,
}
