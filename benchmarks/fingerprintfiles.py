"""Cases of `fingerprints.py`: files, clusters, interrupted fits, tables, exports, pages."""

import logging
import re
import subprocess
import sys
from contextlib import contextmanager
from functools import partial
from itertools import pairwise
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
import pandas as pd
from fingerprintfits import (
    BANDS,
    CLEAN,
    FRAME,
    HELD,
    MANY,
    NOISY,
    OF_MANY,
    PAIR,
    TEXT,
    TRIPLE,
    TWO,
    Softsign,
    X,
    case,
    digest,
    fitted,
    joined,
    parts_of,
)

import greedynet
from greedynet import GreedyNetClassifier, GreedyNetRegressor, StopReason, export, fit_table, load
from greedynet.search import Dictionary

# Many rows, of which samples are seen: in memory, mapped, in Parquet, in blocks

NAMES = ["a", "b", "c"]
CUTS = [0, 9_000, 9_001, 30_000, 40_000]
SAMPLED = {
    "squares": (GreedyNetRegressor, OF_MANY, {"max_nodes": 10}),
    "squares, as grown": (GreedyNetRegressor, OF_MANY, {"max_nodes": 10, "correct": False}),
    "two outputs": (GreedyNetRegressor, np.column_stack([OF_MANY, MANY**2]), {"n_nodes": 8}),
    "absolute_error": (GreedyNetRegressor, OF_MANY, {"max_nodes": 7, "loss": "absolute_error"}),
    "tanh": (GreedyNetRegressor, OF_MANY, {"max_nodes": 6, "activation": "tanh"}),
    "classes": (GreedyNetClassifier, BANDS, {"max_nodes": 7}),
    "balanced": (GreedyNetClassifier, BANDS, {"n_nodes": 5, "class_weight": "balanced"}),
}


def of_many_rows(kind, y, parameters):
    targets = ["t"] if y.ndim == 1 else [f"t{i}" for i in range(y.shape[1])]
    blocks = [(MANY[i:j], y[i:j]) for i, j in pairwise(CUTS)]
    with TemporaryDirectory() as folder:
        mapped, table = Path(folder, "X.npy"), Path(folder, "table.parquet")
        np.save(mapped, MANY)
        frame = pd.DataFrame(MANY, columns=NAMES)
        frame[targets] = y.reshape(len(y), -1)
        frame.to_parquet(table)
        sources = {
            "in memory": (MANY, y),
            "mapped": (np.load(mapped, mmap_mode="r"), y),
            "Parquet": (table, targets if len(targets) > 1 else "t"),
            "blocks": (blocks, None),
        }
        news = {"Parquet": frame[NAMES]}
        return joined(
            {
                name: fitted(kind, *source, new=news.get(name, MANY), **parameters)
                for name, source in sources.items()
            }
        )


for name, (kind, y, parameters) in SAMPLED.items():
    case(f"many rows, {name}")(partial(of_many_rows, kind, y, parameters))


@case("folder of Parquet, weights, predictions in blocks")
def parquet_folder():
    frame = FRAME.assign(kind=TRIPLE, t=NOISY, w=1.0 + PAIR)
    with TemporaryDirectory() as folder:
        frame.to_parquet(Path(folder, "data"), partition_cols=["kind"])
        model = GreedyNetRegressor(max_nodes=8).fit(Path(folder, "data"), "t", "w")
        parts = {"of files": model.predict(Path(folder, "data"))}
    inputs = frame[[*FRAME.columns, "kind"]]
    parts["of blocks"] = model.predict(iter([inputs[:50], inputs[50:]]))
    return parts | parts_of(model, inputs)


# A cluster


@contextmanager
def client_of(n_workers):
    from distributed import Client, LocalCluster

    settings = {"threads_per_worker": 1, "processes": False, "protocol": "tcp://"}
    settings |= {"host": "127.0.0.1", "dashboard_address": "127.0.0.1:0"}
    with (
        LocalCluster(n_workers, **settings, silence_logs=logging.CRITICAL) as cluster,
        Client(cluster, set_as_default=False) as client,
    ):
        yield client


def on_dask(name, X, y, **parameters):
    import dask.array as da

    from greedynet import dask

    n = len(X)
    chunks = (n // 2, 0, 1, n - n // 2 - 1)
    with client_of(2) as client:
        model = getattr(dask, name)(**parameters)
        model.client = client
        model.fit(da.from_array(X, (chunks, 3)), da.from_array(y, (chunks,)))
        lazy = model.predict(da.from_array(X[:50], (25, 3))).compute()
        return parts_of(model.to_local(), X) | {"lazy": lazy}


ON_DASK = {
    "regressor": ("DaskGreedyNetRegressor", X, NOISY, {"max_nodes": 8}),
    "regressor, many rows": ("DaskGreedyNetRegressor", MANY, OF_MANY, {"n_nodes": 6}),
    "classifier": ("DaskGreedyNetClassifier", X, TEXT, {"max_nodes": 6}),
    "classifier, many rows": ("DaskGreedyNetClassifier", MANY, BANDS, {"n_nodes": 5}),
}
for name, (*where, parameters) in ON_DASK.items():
    case(f"dask, {name}")(partial(on_dask, *where, **parameters))


# Checkpoints


class Cut:
    """What a fit tells of its progress, as lines; Ctrl-C at one of them."""

    def __init__(self, left=0):
        self.left, self.said = left, ""

    def write(self, line):
        self.said += f"[greedynet] {line}\n"
        self.left -= 1
        if self.left == 0:
            raise KeyboardInterrupt

    def on(self, model):
        """Let a model tell it."""
        what = "log-loss" if isinstance(model, GreedyNetClassifier) else "relative error"

        def on_neuron(n, error):
            self.write(f"{n} nodes: {what} {error:.3e}")

        return model.set_progress(on_neuron, self.write)


def interrupted(cuts, kind, X, y, new=X, calls=None, **parameters):
    """Interrupt a fit at some lines, one run after the other, then let it end."""
    with TemporaryDirectory() as folder:
        file = Path(folder, "fit.checkpoint")
        for n in cuts:
            Softsign.calls_left = calls or np.inf
            try:
                with greedynet.checkpoint(file):
                    Cut(n).on(kind(**parameters, n_jobs=1)).fit(X, y)
            except KeyboardInterrupt:
                assert file.exists()
            else:
                raise AssertionError(f"the fit wrote fewer than {n} lines")
        Softsign.calls_left = np.inf
        with greedynet.checkpoint(file):
            parts = fitted(kind, X, y, new=new, **parameters)
        assert not file.exists()
    whole = fitted(kind, X, y, new=new, **parameters)
    assert {k: digest(v) for k, v in parts.items()} == {k: digest(v) for k, v in whole.items()}
    return parts


R, C = GreedyNetRegressor, GreedyNetClassifier
BLOCKS = [(MANY[:25_000], OF_MANY[:25_000]), (MANY[25_000:], OF_MANY[25_000:])]
INTERRUPTED = {
    "not at all": ((), R, X, NOISY, {"max_nodes": 12}),
    "not at all, classes": ((), C, X, TEXT, {"max_nodes": 6}),
    "in the growth": ((4,), R, X, NOISY, {"max_nodes": 12}),
    "in the correction": ((12,), R, X, NOISY, {"max_nodes": 12}),
    "again and again": ((2, 7, 12, 14, 15), R, X, CLEAN, {"max_nodes": 12}),
    "as grown": ((3, 6), R, X, NOISY, {"max_nodes": 12, "correct": False}),
    "dictionary": ((3,), R, X, NOISY, {"search": Dictionary(n_points=400), "n_nodes": 9}),
    "absolute_error": ((3, 6, 9), R, X, NOISY, {"loss": "absolute_error", "max_nodes": 8}),
    "classes": ((3, 7, 9), C, X, TEXT, {"max_nodes": 6}),
    "cv": ((4,), R, X, NOISY, {"cv": 3, "max_nodes": 10}),
    "blocks": ((3, 8), R, BLOCKS, None, {"max_nodes": 8, "new": MANY}),
    "own activation, cv": (
        (99,),
        R,
        X,
        NOISY,
        {"cv": 3, "max_nodes": 6, "activation": Softsign(), "calls": 100},
    ),
}
for name, (*fit, parameters) in INTERRUPTED.items():
    case(f"interrupted, {name}")(partial(interrupted, *fit, **parameters))


@case("what fits say")
def lines():
    """The stages of fits, which tell the way that they went."""
    fits = {
        "numbers": (R, CLEAN, {}),
        "loss": (R, NOISY, {"loss": "huber"}),
        "classes": (C, TEXT, {}),
    }
    said = {}
    for name, (kind, y, parameters) in fits.items():
        told = Cut()
        told.on(kind(max_nodes=10, n_jobs=1, **parameters)).fit(X, y)
        said[name] = told.said
    return said


# Tables and files

TABLE = FRAME.assign(colour=np.array(["red", "green", "blue"])[np.digitize(X[:, 1], [-0.4, 0.3])])
TABLE = TABLE.assign(code=PAIR + 10, price=NOISY + X[:, 1] ** 2, grade=TEXT)
HOLES = TABLE.mask(np.random.default_rng(5).random(TABLE.shape) < 0.03)


def table_fit(table, target, **settings):
    with TemporaryDirectory() as folder:
        table.to_csv(Path(folder, "table.csv"), index=False)
        model = fit_table(Path(folder, "table.csv"), target, max_nodes=10, **settings)
        model.save(Path(folder, "model.safetensors"))
        again = load(Path(folder, "model.safetensors"))
    few = TABLE[::15].drop(columns=target)
    scores = {key: model.about[key] for key in ("rows", "left_out", "training", "validation")}
    parts = {"predictions": again.predict(few), "features": str(again.columns.features)}
    if again.classes_ is not None:
        parts |= {"labels": again.predict(few), "predictions": again.predict_proba(few)}
    inputs = again.inputs(few)
    return parts_of(again.estimator, inputs) | parts | {"inputs": inputs, "about": str(scores)}


TABLES = {
    "numbers, codes as text": (TABLE, "price", {"ignore": "grade", "text": "code"}),
    "text as target": (TABLE, "grade", {"ignore": ["price"], "validate": TABLE[::3]}),
    "codes as target": (TABLE, "code", {"classes": True, "ignore": "grade"}),
    "means for empty cells": (HOLES, "price", {"missing": "mean", "ignore": "code"}),
    "without empty cells": (HOLES, "grade", {"missing": "drop", "ignore": "code"}),
}
for name, (table, target, settings) in TABLES.items():
    case(f"table, {name}")(partial(table_fit, table, target, **settings))


@case("commands")
def commands():
    """Fit and predict on the command line."""
    with TemporaryDirectory() as folder:
        TABLE.to_csv(Path(folder, "t.csv"), index=False)
        for line in (
            "fit t.csv --target price --out m.safetensors --max-nodes 10 --ignore grade",
            "predict m.safetensors t.csv --out p.csv",
            "export m.safetensors --to c --out m.h",
        ):
            command = [sys.executable, "-m", "greedynet", *line.split()]
            subprocess.run(command, cwd=folder, check=True, capture_output=True)
        return {name: Path(folder, name).read_text() for name in ("p.csv", "m.h")}


def model_of(name):
    """A model to save and to export."""
    if name == "classes":
        return GreedyNetClassifier(max_nodes=6).fit(X, TEXT)
    if name == "tanh":
        return GreedyNetRegressor(max_nodes=6, activation="tanh").fit(X, NOISY)
    return GreedyNetRegressor(max_nodes=8).fit(X, TWO if name == "two outputs" else NOISY)


def files_of(name):
    model = model_of(name)
    with TemporaryDirectory() as folder:
        model.save(Path(folder, "model"))
        model.network_.save(Path(folder, "network"))
        again, network = load(Path(folder, "model")), load(Path(folder, "network"))
        stored = np.frombuffer(Path(folder, "network").read_bytes(), dtype=np.uint8)
    return parts_of(again, X) | {"network": network.predict(X), "bytes": stored}


def exports_of(name):
    import onnxruntime
    import torch

    model, rows = model_of(name), X[:20].astype(np.float32)
    parts = {"predictions": model.network_.predict(rows)}
    with TemporaryDirectory() as folder:
        export.to_c(model, Path(folder, "model.h"))
        parts["c"] = Path(folder, "model.h").read_text()
        export.to_onnx(model, Path(folder, "model.onnx"))
        session = onnxruntime.InferenceSession(Path(folder, "model.onnx"))
    for i, output in enumerate(session.run(None, {session.get_inputs()[0].name: rows})):
        parts[f"onnx {i}"] = np.array(output)
    fold = name != "tanh"
    module = export.to_torch(model, fold_affine=fold)
    parts["torch"] = module(torch.tensor(rows)).detach().numpy()
    parts["keras"] = np.array(export.to_keras(model, fold_affine=fold)(rows))
    weights, apply = export.to_jax(model)
    parts["jax"] = np.array(apply(weights, rows))
    return parts


for name in ("numbers", "two outputs", "classes", "tanh"):
    case(f"files, {name}")(partial(files_of, name))
    case(f"exports, {name}")(partial(exports_of, name))


# The rest


class StopAfter:
    """A callback of scikit-learn's that asks to stop after some neurons."""

    def __init__(self, n):
        self.left = n

    def setup(self, estimator, context): ...
    def teardown(self, estimator, context): ...
    def on_fit_task_begin(self, estimator, context): ...

    def on_fit_task_end(self, estimator, context):
        self.left -= context.task_name == "neuron"
        return self.left == 0


@case("stopped by a callback")
def stopped():
    models = {"numbers": (GreedyNetRegressor(), NOISY), "classes": (GreedyNetClassifier(), TEXT)}
    return joined(
        {
            name: parts_of(m.set_callbacks(StopAfter(4)).fit(X, y), X)
            for name, (m, y) in models.items()
        }
    )


@case("parameters and reasons")
def defaults():
    parts = {reason.name: str(reason) for reason in StopReason}
    return parts | {kind.__name__: str(kind().get_params()) for kind in (R, C)}


@case("trained")
def trained():
    from greedynet import train

    start = GreedyNetRegressor(max_nodes=8).fit(X, NOISY).network_
    (one,) = train.train_networks([start], X, NOISY, epochs=30, batch_size=64, **HELD)
    starts = train.random_networks(3, 3, 6, random_state=1)
    results = [one, *train.train_networks(starts, X, NOISY, epochs=30, keep="last")]
    parts = {f"losses {i}": result.loss_history for i, result in enumerate(results)}
    return parts | {"predictions": np.stack([r.network.predict(X[:20]) for r in results])}


@case("ridgelet transforms")
def ridgelets():
    points = np.random.default_rng(6).standard_normal((50, 3))
    collapsed = greedynet.collapsed_ridgelet_transform(points, X[:, :2], CLEAN)
    full = greedynet.ridgelet_transform(points, [0.5, 2.0, 7.0], X[:, :2], CLEAN)
    return {**vars(collapsed), "full": full}


@case("report")
def report():
    with TemporaryDirectory() as folder:
        for name, y in (("numbers", NOISY), ("classes", TEXT)):
            greedynet.write_report(model_of(name), Path(folder, name), X, y)
        pages = {name: Path(folder, name).read_text() for name in ("numbers", "classes")}
    return {name: re.sub(r"\d{4}-\d\d-\d\d", "today", page) for name, page in pages.items()}
