"""Model files that are damaged or forged: `draw(seed)` makes one, `verdict` tries it.

A *damaged* file has bytes that were flipped, cut, inserted or repeated. A *forged* one has changes
to its tree, header or arrays and the right checksum, as an attacker would make it. Promised is that
`greedynet.load` raises `ModelFileError`, or returns a model with which every prediction works.
"""

import hashlib
import json
import random
import tempfile
import warnings
from datetime import date, timedelta
from functools import cache
from pathlib import Path

import numpy as np
from click.testing import CliRunner
from promises import BrokenPromiseError, no_other_warnings

from greedynet import (
    GreedyNetClassifier,
    GreedyNetRegressor,
    ModelFileError,
    TableWarning,
    fit_table,
    load,
)
from greedynet.cli import main
from greedynet.estimators.settings import EstimatorSettings, settings_context
from greedynet.fitting.settings import FitSettings, LadderSettings

REFUSED, LOADED = "refused", "loaded"
# More inputs than this from a file of some kilobytes are a demand for memory.
MOST_INPUTS = 100_000


# Models to begin with


def rich_table(n=40):
    """Return a table with a column of every kind, as texts."""
    rng = np.random.default_rng(1)
    x, at, days = rng.normal(size=n), rng.integers(0, 3, n), rng.integers(0, 900, n)
    dates = [date(2020, 1, 1) + timedelta(days=int(day)) for day in days]
    return {
        "x": [f"{v:.3f}" for v in x],
        "gaps": ["" if i % 7 == 0 else f"{v:.2f}" for i, v in enumerate(x**2)],
        "share": [f"{v % 100} %" for v in days],
        "paid": [f"${1000 * v:,.2f}" for v in 1 + np.abs(x)],
        "flag": ["true" if v else "false" for v in at > 0],
        "color": [("red", "green", "blue")[v] for v in at],
        "day": [day.isoformat() for day in dates],
        "length": [f"{v // 60}:{v % 60:02}:00" for v in days],
        "y": [f"{abs(v) + w:.3f}" for v, w in zip(x, at, strict=True)],
    }


OF_TABLES = ("table of all kinds", "classes of all kinds", "table", "table of classes")


@cache
def models():
    """Return the bytes of a file for each kind of model."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(40, 3))
    y = np.abs(X[:, 0]) + X[:, 1] + 0.1 * rng.normal(size=40)
    names = np.array(["red", "green", "blue"])[np.digitize(y, [0.3, 1.5])]
    table = {"a": X[:, 0], "color": names, "y": y}
    few = EstimatorSettings(
        fit=FitSettings(ladder=LadderSettings(used=((0, 3),), widths_averaged=0))
    )
    with settings_context(few), warnings.catch_warnings(action="ignore", category=TableWarning):
        deep = GreedyNetRegressor(n_nodes=9, hidden_layers=2).fit(X, y)
        regressor = GreedyNetRegressor(n_nodes=5).fit(X, y)
        found = {
            "regressor": regressor,
            "two outputs": GreedyNetRegressor(n_nodes=4).fit(X, np.column_stack([y, -y])),
            "two classes": GreedyNetClassifier(4, class_weight={0: 1, 1: 2.0}).fit(X, y > 0.5),
            "three classes": GreedyNetClassifier(4).fit(X, names),
            "two layers": deep,
            "two layers, classes": GreedyNetClassifier(9, hidden_layers=2).fit(X, names),
            "table": fit_table(table, "y", n_nodes=4),
            "table of classes": fit_table(table, "color", n_nodes=4),
            "table of all kinds": fit_table(rich_table(), "y", n_nodes=4),
            "classes of all kinds": fit_table(rich_table(), "color", n_nodes=4),
            "network": regressor.network_,
            "network of two layers": deep.network_,
        }
    return {name: _bytes_of(model) for name, model in found.items()}


def _bytes_of(model):
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "model"
        model.save(path)
        return path.read_bytes()


def opened(data):
    """Return header, tree and body of a file."""
    start = 8 + int.from_bytes(data[:8], "little")
    header = json.loads(data[8:start])
    return header, json.loads(header["__metadata__"].pop("model")), data[start:]


def signed(header, tree, body):
    """Return a file with the right checksum."""
    metadata = {**header["__metadata__"], "sha256": "0" * 64, "model": json.dumps(tree)}
    text = json.dumps({**header, "__metadata__": metadata}).encode()
    text += b" " * (-len(text) % 8)
    data = len(text).to_bytes(8, "little") + text + body
    digest = hashlib.sha256(data).hexdigest().encode()
    return data.replace(b"0" * 64, digest, 1)


# Changes


def draw(seed, names=None):
    """Return the kind of a file and its bytes; of all models, or of some."""
    chance = random.Random(seed)
    name = chance.choice(list(names or models()))
    data = models()[name]
    if chance.random() < 0.25:
        return f"damaged {name}", damaged(data, chance)
    return f"forged {name}", forged(data, chance)


def damaged(data, chance):
    """Return a file with some bytes changed, and the checksum as it was."""
    start, length = chance.randrange(len(data)), chance.choice([1, 2, 8, 100, 1000])
    part = data[start : start + length]
    changed = chance.choice(
        [
            bytes(byte ^ chance.randrange(1, 256) for byte in part),
            b"",
            bytes(len(part)) if any(part) else b"\xff" * len(part),
            part + part,
            part + chance.randbytes(length),
        ]
    )
    found = data[:start] + changed + data[start + length :]
    return data[:start] if chance.random() < 0.1 else found


def forged(data, chance):
    """Return a file with one to three changes and the right checksum."""
    header, tree, body = opened(data)
    for _ in range(chance.choice([1, 1, 2, 3])):
        kind = chance.choice(["tree", "tree", "tree", "numbers", "shape", "type", "kind"])
        if kind == "tree":
            tree = _changed_tree(tree, chance)
        elif kind == "numbers":
            body = _changed_numbers(header, body, chance)
        elif kind == "kind":
            _change_kind(header["__metadata__"], chance)
        else:
            _change_array(header, kind, chance)
    return signed(header, tree, body)


def _change_kind(metadata, chance):
    if chance.random() < 0.5:
        kinds = ["network", "TableModel", "checkpoint", "", "os.system"]
        metadata["kind"] = chance.choice([*kinds, "GreedyNetRegressor", "GreedyNetClassifier"])
    else:
        metadata[chance.choice(["format_version", "library_version", "format"])] = chance.choice(
            ["0", "1", "2", "-1", "", "9" * 5000, "greedynet", "1.5"]
        )


_JUNK = [
    *(None, True, False, 0, 1, 2, 3, -1, 10**6, 10**12, 2**63, -(2**63), 10**400),
    *(0.5, 1e308, -1e308, 5e-324, float("nan"), float("inf"), -float("inf")),
    *("", "a", "relu", "tanh", "EXACT", "red", "<U200000000", "a" * 5000, "\ud800", "\0"),
    *([], [[]], [1], [1, 2, 3], [0.5, None], ["a", "b", "c"], [10**400], [float("nan")] * 3),
    *({}, {"a": 1}, {"array": "nothing"}, {"pairs": [[1, 2]]}, {"pairs": []}, {"records": []}),
    *({"activation": "tanh"}, {"activation": "leaky_relu"}, {"stop_reason": "EXACT"}),
    *({"loss": {"loss": "absolute_error"}}, {"network": {}}, {"TrainingSample": {}}),
    {"text": {"dtype": "<U200000000", "values": ["a"]}},
    {"text": {"dtype": "|O", "values": ["a", "b"]}},
    {"text": {"dtype": "<U1", "values": ["red", "green"]}},
    {"text": {"dtype": "i8,(9000000000)f8", "values": ["a"]}},
    {"text": {"dtype": "<U9", "values": [1, None, []]}},
]


def _changed_tree(tree, chance):
    """Return the tree with a change at a random place."""
    places = list(_places(tree))
    place = chance.choice(places)
    kind = chance.choice(["junk", "junk", "delete", "other", "rename", "twice", "number"])
    parent, key = _parent(tree, place), place[-1] if place else None
    if parent is None:
        return chance.choice(_JUNK) if chance.random() < 0.05 else tree
    if kind == "delete":
        del parent[key]
    elif kind == "other":
        parent[key] = _copy(_at(tree, chance.choice(places)))
    elif kind == "rename" and isinstance(parent, dict):
        parent[str(chance.choice(["predict", "x", "", "network_", f"{key}_"]))] = parent.pop(key)
    elif kind == "twice" and isinstance(parent, list):
        parent.insert(key, _copy(parent[key]))
    elif kind == "number" and isinstance(parent[key], int | float):
        parent[key] = chance.choice([-1, 2, 1e300, 0]) * parent[key] + chance.choice([0, 1, -1])
    else:
        parent[key] = _copy(chance.choice(_JUNK))
    return tree


def _places(tree, place=()):
    yield place
    if isinstance(tree, dict):
        for key, value in tree.items():
            yield from _places(value, (*place, key))
    elif isinstance(tree, list):
        for i, value in enumerate(tree):
            yield from _places(value, (*place, i))


def _at(tree, place):
    for key in place:
        tree = tree[key]
    return tree


def _parent(tree, place):
    return _at(tree, place[:-1]) if place else None


def _copy(value):
    return json.loads(json.dumps(value))


def _arrays(header):
    return [name for name in header if name != "__metadata__"]


def _changed_numbers(header, body, chance):
    """Return the body with other numbers in one array."""
    name = chance.choice(_arrays(header))
    start, end = header[name]["data_offsets"]
    kinds = {"F64": np.float64, "F32": np.float32, "I64": np.int64, "BOOL": np.uint8}
    dtype = np.dtype(kinds.get(header[name]["dtype"], np.uint8))
    values = np.frombuffer(body[start:end], dtype).copy()
    if not len(values):
        return body
    at = slice(None) if chance.random() < 0.5 else chance.randrange(len(values))
    new = chance.choice([0, 1, -1, 7, 1e300, -1e300, np.nan, np.inf, 2**40, 1e-320])
    with np.errstate(all="ignore"), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        values[at] = np.array(new).astype(dtype)
    return body[:start] + values.tobytes() + body[end:]


def _change_array(header, kind, chance):
    """Change the shape, the type or the name of an array in the header."""
    name = chance.choice(_arrays(header))
    entry = header[name]
    n = (entry["data_offsets"][1] - entry["data_offsets"][0]) // 8
    if kind == "type":
        one_byte = ["U8", "I8", "BOOL", "F8_E4M3"]
        dtype = chance.choice(["I64", "U64", "F32", "I32", "C64", "BF16", "F16", *one_byte])
        entry["dtype"] = dtype
        if dtype not in ("I64", "U64", "C64"):
            times = 8 if dtype in one_byte else 4 if dtype.endswith("16") else 2
            entry["shape"] = [*entry["shape"][:-1], (entry["shape"] or [1])[-1] * times]
        return
    if chance.random() < 0.2:
        header[f"{name}_"] = header.pop(name)
        return
    shape = entry["shape"]
    entry["shape"] = chance.choice(
        [shape[::-1], [n], [n, 1], [1, n], [1, *shape], [*shape, 1], [0, 2**62], [0, 2**40], [n, 2]]
    )


# What becomes of it


def verdict(data, path):
    """Load the bytes by way of a file; return what became of them, or raise what is wrong."""
    path.write_bytes(data)
    with no_other_warnings():
        try:
            model = load(path)
        except ModelFileError:
            return REFUSED
        use(model, path)
    return LOADED


def use(model, path):
    """Call every prediction of a model."""
    estimator = getattr(model, "estimator", model)
    network = getattr(estimator, "network_", estimator)
    if network.n_features > MOST_INPUTS:
        raise BrokenPromiseError(f"{network.n_features} inputs")
    for n_rows in (1, 4):
        X = np.random.default_rng(n_rows).normal(size=(n_rows, network.n_features))
        _use(model, X, network)
        _use(estimator, X, network)
    if model is not estimator:
        _use_table(model, path)


def _use_table(model, path):
    """Predict rows as they were in training, and print what the file is said to contain."""
    rich, names = rich_table(), [column.name for column in model.columns.inputs]
    rows = {name: rich.get(name, rich["x"])[:4] for name in names}
    with warnings.catch_warnings(action="ignore", category=TableWarning):
        try:
            found = np.asarray(model.predict(rows))
        except ValueError as error:
            # Forged levels, units and formats may make any cell of these rows wrong.
            if not any(repr(name) in str(error) for name in names):
                raise
        else:
            if found.size not in (4, 4 * model.network.n_outputs):
                raise BrokenPromiseError(f"{found.size} numbers for 4 rows")
    model.summary()
    said = CliRunner().invoke(main, ["info", str(path)])
    if said.exit_code:
        # Not the exception itself, which may be an exit.
        raise BrokenPromiseError(said.output) from said.exception


def _use(model, X, network):
    n, outputs = len(X), network.n_outputs
    classes = getattr(model, "classes_", None)
    if hasattr(model, "columns"):
        classes = model.classes_
    _expect(model.predict, X, {n, n * outputs})
    if isinstance(model, GreedyNetClassifier):
        _expect(model.predict_proba, X, {n * len(classes)})
        _expect(model.predict_log_proba, X, {n * len(classes)})
        _expect(model.predict_set, X, {n * len(classes)})
    if isinstance(model, GreedyNetRegressor):
        _expect(model.predict_interval, X, {2 * n, 2 * n * outputs})
        _expect(lambda X: model.predict(X, return_std=True), X, {2 * n, 2 * n * outputs})
    if isinstance(model, GreedyNetClassifier | GreedyNetRegressor):
        _expect(lambda X: model.outside(X).rows, X, {n})
        repr(model), repr(model.path_), str(getattr(model, "ladder_", None))
        if getattr(model, "expectation_", None) is not None:
            model.expectation_.sentence()


def _expect(method, X, sizes):
    """Demand an answer of one of the sizes; or an error that the model's own numbers explain."""
    try:
        answer = np.asarray(method(X))
    except ValueError as error:
        # A forged level, such as "None", may be what an empty cell is.
        if any(why in str(error) for why in ("held-out rows", "must be closer", "empty cells")):
            return
        raise
    if answer.size not in sizes:
        raise BrokenPromiseError(f"{answer.size} numbers for {len(X)} rows")
