"""Names, levels and paths that would be code if they were pasted into a query.

`draw(seed)` makes one attempt, `verdict` tries it. Promised is that a table with such names of
columns, levels or files gives the same network, to the last bit, as one with plain words in their
place, or a ValueError; that a model file with such words at any place is refused or predicts; and
that nothing is written or read on the side.
"""

import csv
import io
import random
import warnings
from contextlib import chdir
from dataclasses import dataclass
from functools import cache

import numpy as np
from hostilefiles import opened, signed
from promises import BrokenPromiseError, no_other_warnings

from greedynet import ModelFileError, TableWarning, fit_table, load

SAME, REFUSED, LOADED = "the same network", "refused", "loaded"
N = 90
QUICK = {"n_nodes": 4, "correct": False, "n_jobs": 1, "missing": "mean"}
# A file of this name is written by code that runs.
PROOF = "PROOF"

CODE = (
    f"copy (select 1) to '{PROOF}'",
    f"select * from (copy (select 1) to '{PROOF}')",
    f"attach '{PROOF}' as other",
    "drop table rows",
    "select * from read_csv('/etc/hostname')",
    f"write_csv('{PROOF}')",
    "install httpfs; load httpfs",
    "set memory_limit = '1B'",
    "error('code has run')",
    "pragma database_list",
)
FORMS = (
    "{}",
    "; {}; --",
    "'; {}; --",
    '"; {}; --',
    '""; {}; --',
    "'); {}; --",
    '"); {}; --',
    "') from (select 1); {}; --",
    '" from rows; {}; --',
    "'' || ({}) || ''",
    '" || ({}) || "',
    "\\'; {}; --",
    '\\"; {}; --',
    "$$; {}; --",
    "$1 {}",
    "{{{}}}",
    "/* */ {} --",
    "a\n; {}; --",
    "a\r\n'; {}",
    "`{}`",
    "E'\\x27; {}'",
    "\u2019; {}; --",
    "{}\u00a0",
)
WORDS = (
    *("*", "columns(*)", "rowid", "select", "from", "null", "NULL", "true", "1", "1.5", "-", "--"),
    *("'", "''", '"', '""', '"""', "\\", "\\'", "`", "$$", "$1", "?", ":name", "{}", "%s", "%"),
    *("a.b", "main.rows", "a b", "a\tb", "a\nb", "a'b", 'a"b', "a;b", "a,b", "a\\nb", "A", "a"),
    *("x::int", "cast(x as int)", "0x1F", "é", "Ł", "北京", "🙂", "\u202etxt", "a\u0301", "ﬁ"),
    *("a" * 3000, '"' * 300, "'" * 301, "[a]", "(a)", "a=b", "=1+1", "@a", "#a", "a|b"),
)


@dataclass(frozen=True)
class Attempt:
    """What is hostile, the door through which the table comes, and the words."""

    kind: str
    door: str
    words: tuple[str, ...]
    seed: int


def _word(chance):
    if chance.random() < 0.5:
        return chance.choice(FORMS).format(chance.choice(CODE))
    return chance.choice(WORDS)


def draw(seed):
    """Return the attempt of a seed."""
    chance = random.Random(seed)
    kind = chance.choice(["names", "names", "levels", "levels", "paths", "models"])
    words = tuple(_word(chance) for _ in range(4))
    return Attempt(kind, chance.choice(["csv", "parquet", "frame", "mapping"]), words, seed)


# Tables


@cache
def _cells():
    rng = np.random.default_rng(0)
    x, whole, at = rng.normal(size=N), rng.integers(0, 50, N), rng.integers(0, 3, N)
    y = np.abs(x) + 0.1 * whole + at + 0.1 * rng.normal(size=N)
    return [float(v) for v in x], [int(v) for v in whole], [int(v) for v in at], y.tolist()


def table(names, levels):
    """Return a table of two inputs of numbers, one of three levels, and a target."""
    x, whole, at, y = _cells()
    return dict(zip(names, (x, whole, [levels[i] for i in at], y), strict=True))


def source_of(columns, door, path):
    """Return a table by way of a door; files are written to the path."""
    if door == "mapping":
        return columns
    if door == "csv":
        text = io.StringIO(newline="")
        writer = csv.writer(text, quoting=csv.QUOTE_ALL)
        writer.writerow(columns)
        writer.writerows(zip(*columns.values(), strict=True))
        path.write_bytes(text.getvalue().encode())
        return path
    import pandas as pd

    frame = pd.DataFrame(columns)
    if door == "frame":
        return frame
    frame.to_parquet(path)
    return path


NAMES, LEVELS = ("w", "x", "kind", "y"), ("a", "b", "c")


@cache
def _plain():
    with warnings.catch_warnings(action="ignore", category=TableWarning):
        return fit_table(table(NAMES, LEVELS), "y", **QUICK)


def _weights(model):
    arrays = (model.network.inner_weights, model.network.biases, model.network.outer_weights)
    return [array.tolist() for array in arrays]


# What becomes of it


def verdict(attempt, folder):
    """Try the words; return what came of it, or raise what is wrong."""
    with chdir(folder):
        found = _tried(attempt, folder)
    if any(folder.rglob(PROOF)):
        raise BrokenPromiseError("code has run")
    return found


def _tried(attempt, folder):
    names, levels, name = NAMES, LEVELS, "table"
    if attempt.kind == "models":
        return _of_model(attempt, folder)
    if attempt.kind == "names":
        # Endings keep four names apart.
        names = tuple(f"{word}{i}" for i, word in enumerate(attempt.words))
    elif attempt.kind == "levels":
        # Beginnings keep the order of levels.
        levels = tuple(f"{a}{word}" for a, word in zip("abc", attempt.words[:3], strict=True))
    else:
        name = attempt.words[0].replace("/", "_").replace("\0", "")[:60]
    door = "csv" if attempt.kind == "paths" and attempt.door != "parquet" else attempt.door
    return _of_table(table(names, levels), names[3], door, folder / f"{name}.{door}")


def _of_table(columns, target, door, path):
    source = source_of(columns, door, path)
    with no_other_warnings():
        try:
            model = fit_table(source, target, **QUICK)
        except ValueError:
            return REFUSED
        model.save(path.parent / "model")
        again = load(path.parent / "model").predict(source)
        if (again != model.predict(source)).any():
            raise BrokenPromiseError("the saved model predicts something else")
    if _weights(model) != _weights(_plain()):
        raise BrokenPromiseError("another network than with plain words")
    return SAME


def _of_model(attempt, folder):
    """Put the words at places of a model file where there is text."""
    chance, path = random.Random(attempt.seed), folder / "model"
    _plain().save(path)
    header, tree, body = opened(path.read_bytes())
    places = [*_texts(tree["columns"]), (tree, "target")]
    for word in attempt.words[: chance.choice([1, 2, 4])]:
        parent, key = chance.choice(places)
        parent[key] = word
    path.write_bytes(signed(header, tree, body))
    with no_other_warnings():
        try:
            model = load(path)
        except ModelFileError:
            return REFUSED
        model.summary()
        names = [column.name for column in model.columns.inputs]
        try:
            model.predict(dict(zip(names, table(NAMES, LEVELS).values(), strict=False)))
        except ValueError:
            return REFUSED
    return LOADED


def _texts(tree):
    """Yield the places of a tree that hold text."""
    items = tree.items() if isinstance(tree, dict) else enumerate(tree)
    for key, value in items:
        if isinstance(value, str):
            yield tree, key
        elif isinstance(value, dict | list):
            yield from _texts(value)
