"""Model files of tables: every field is checked when they are loaded."""

import copy
import random
import warnings

import numpy as np
import pytest

from greedynet import ModelFileError, TableModel, TableWarning, fit_table, load
from greedynet.support.tensorfile import read_tree, write_tree


def table(n=60):
    rng = np.random.default_rng(0)
    size = rng.uniform(size=n)
    return {
        "size": np.where(rng.random(n) < 0.2, np.nan, size),
        "price": [f"${1000 * v:,.0f}" for v in rng.integers(1, 90, n)],
        "color": rng.choice(["red", "blue"], n),
        "when": [f"2024-01-{1 + i % 28:02d}" for i in range(n)],
        "took": [f"{i % 20}:30:00" for i in range(n)],
        "y": size + rng.normal(size=n),
    }


@pytest.fixture(scope="module")
def tree(tmp_path_factory):
    path = tmp_path_factory.mktemp("model") / "m.safetensors"
    with warnings.catch_warnings(action="ignore", category=TableWarning):
        fit_table(table(), "y", n_nodes=3, hold_out=0.2).save(path)
    return read_tree(path).tree


def forged(tree, path, place, value):
    """Write a file with another value at one place, and load it."""
    changed = copy.deepcopy(dict(tree))
    at = changed
    for key in place[:-1]:
        at = at[key]
    at[place[-1]] = value
    write_tree(path, "TableModel", changed)
    return load(path)


@pytest.mark.parametrize(
    ("place", "value", "message"),
    [
        (("columns", 0, "means"), [1.0, 2.0], r"columns\[0\]\['means'\].*1 finite numbers"),
        (("columns", 0, "means"), [float("inf")], r"columns\[0\]\['means'\]"),
        (("columns", 0, "name"), 5, r"columns\[0\]\['name'\]"),
        (("columns", 1, "name"), "size", "`columns` must be of different names"),
        (("columns", 0, "kind", "type"), "sound", "`type` of a column must be one of"),
        (("columns", 2, "kind", "levels"), ["red", "red"], "`levels` must be different texts"),
        (("target",), ["y"], "`target` must be a text"),
        (("missing",), "never", "`missing` must be one of"),
        (("about", "rows"), "many", r"about\['rows'\]"),
        (("about", "assumed"), "x", r"about\['assumed'\]"),
        (("about", "reading", "decimal"), ";", r"about\['reading'\]\['decimal'\]"),
        (("about", "training", "rmse"), "small", r"about\['training'\]\['rmse'\]"),
        (("about", "held_out", "mask"), "AAAA", r"about\['held_out'\]\['mask'\]"),
        (("about", "created"), "yesterday", r"about\['created'\]"),
    ],
)
def test_fields_that_cannot_be_are_named(tree, tmp_path, place, value, message):
    with pytest.raises(ModelFileError, match=message):
        forged(tree, tmp_path / "m.safetensors", place, value)


def places(value, here=()):
    """Yield the places of all plain values below the description of the table."""
    items = value.items() if isinstance(value, dict) else enumerate(value)
    for key, inner in items:
        if isinstance(inner, dict | list | tuple):
            yield from places(inner, (*here, key))
        yield (*here, key)


VALUES = (None, -1, 3, 1e308, float("nan"), "", "x", "'; drop", [], {}, [1], True, [None], b"x")


def test_forged_files_are_refused_or_sane(tree, tmp_path):
    of_table = {name: tree[name] for name in ("columns", "target", "missing", "about")}
    everywhere, rng = list(places(of_table)), random.Random(0)
    n_refused, said = 0, []
    for i in range(300):
        value = rng.choice(VALUES[:-1])
        try:
            model = forged(tree, tmp_path / f"{i % 2}.safetensors", rng.choice(everywhere), value)
        except ModelFileError:
            n_refused += 1
            continue
        assert isinstance(model, TableModel)
        model.summary()
        try:
            model.predict(table(5))
        except ValueError as error:
            said.append(str(error))
    assert not [text for text in said if "broadcast" in text]
    assert n_refused > 100
