"""C: the header goes through the system's compiler and computes what the network does."""

import os
import shutil
import subprocess
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from itertools import product
from pathlib import Path

import numpy as np
import pytest

from classifiers import classifier, clear, rows, with_logits
from greedynet import GreedyNetClassifier, Network
from greedynet.export import to_c
from networks import (
    CLOSE,
    DEEP_KINDS,
    DTYPES,
    FEW_KINDS_AND_DTYPES,
    STEEP,
    Ramps,
    assert_close,
    fitted_deep,
    inputs,
    kind,
    random_network,
    steep,
)

COMPILER = shutil.which(os.environ.get("CC", "cc"))
STRICT = ["-std=c99", "-pedantic", "-Wall", "-Wextra", "-Werror", "-Wconversion"]

# Reads rows of numbers, writes rows of outputs.
PROGRAM = """
#include <stdio.h>
#include "model.h"
#include "model.h"

int main(void)
{
    TYPE x[MODEL_N_FEATURES], y[MODEL_N_OUTPUTS];
    double number;
    for (;;) {
        for (int i = 0; i < MODEL_N_FEATURES; ++i) {
            if (scanf("%lf", &number) != 1) return 0;
            x[i] = (TYPE)number;
        }
        model_predict(x, y);
        for (int j = 0; j < MODEL_N_OUTPUTS; ++j) printf("%.17g ", (double)y[j]);
        printf("\\n");
    }
}
"""

# Writes the index of the class, a tab, the class and a byte that no text has.
CLASS_PROGRAM = PROGRAM.replace(
    'printf("\\n");',
    """int k = model_class(x);
        printf("\\t%d\\t", k);
        if (k >= 0 && k < MODEL_N_CLASSES) printf(FORMAT, model_classes[k]);
        putchar(0);""",
)

if COMPILER is None and os.environ.get("GREEDYNET_REQUIRE_EXTRAS") == "1":
    raise RuntimeError("GREEDYNET_REQUIRE_EXTRAS=1 wants a C compiler, and there is none")
compiled = pytest.mark.skipif(COMPILER is None, reason="needs a C compiler")


def run(network: Network, X: np.ndarray, dtype: str, folder: Path) -> np.ndarray:
    """Compile the header into a program and send it the rows."""
    to_c(network, folder / "model.h", dtype=dtype)
    printed = run_program(PROGRAM, X, dtype, folder)
    return np.array([line.split() for line in printed.splitlines()], dtype=dtype)


def run_classes(
    model: GreedyNetClassifier, X: np.ndarray, dtype: str, folder: Path
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return logits, indices and classes of the compiled header."""
    to_c(model, folder / "model.h", dtype=dtype)
    text = model.classes_.dtype.kind in "UO"
    program = CLASS_PROGRAM.replace("FORMAT", '"%s"' if text else '"%lld"')
    lines = [line.split("\t") for line in run_program(program, X, dtype, folder).split("\0")[:-1]]
    logits = np.array([line[0].split() for line in lines], dtype=dtype)
    classes = [line[2] if text or not line[2] else int(line[2]) for line in lines]
    return logits, np.array([int(line[1]) for line in lines]), np.array(classes, dtype=object)


def run_program(program: str, X: np.ndarray, dtype: str, folder: Path) -> str:
    (folder / "main.c").write_text(program, encoding="ascii")
    kind = {"float32": "float", "float64": "double"}[dtype]
    command = [COMPILER, *STRICT, f"-DTYPE={kind}", "main.c", "-o", "main", "-lm"]
    made = subprocess.run(command, cwd=folder, capture_output=True, text=True)
    assert made.returncode == 0, made.stderr
    lines = "\n".join(" ".join(map(repr, row)) for row in X.tolist())
    ran = subprocess.run([folder / "main"], input=lines.encode(), capture_output=True, check=True)
    return ran.stdout.decode()


@compiled
@pytest.mark.parametrize(("name", "dtype"), [*FEW_KINDS_AND_DTYPES, *product(DEEP_KINDS, DTYPES)])
def test_program_is_the_network(tmp_path: Path, name: str, dtype: str):
    network = kind(name)
    X = inputs(network).astype(dtype).astype("float64")
    assert_close(run(network, X, dtype, tmp_path), network, X, dtype)


@compiled
@pytest.mark.parametrize(
    ("activation", "dtype"),
    [*product(STEEP, ["float64"]), ("leaky_relu of a third", "float32")],
)
def test_program_computes_large_arguments(tmp_path: Path, activation: str, dtype: str):
    network = steep(activation)
    X = inputs(network).astype(dtype).astype("float64")
    assert_close(run(network, X, dtype, tmp_path), network, X, dtype)


# C has no arrays without elements.
UNUSUAL = {
    "no neurons, plain": partial(random_network, 0, affine=False),
    "no neurons, affine": partial(random_network, 0),
    "no ramps": lambda: replace(random_network(), ramps=Ramps(3, np.empty(0), np.empty(0))),
    "units far from one": lambda: fitted_deep(2).network_,
}


@compiled
@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("make", UNUSUAL.values(), ids=UNUSUAL)
def test_program_of_an_unusual_network(tmp_path: Path, make: Callable[[], Network], dtype: str):
    network = make()
    X = inputs(network).astype(dtype).astype("float64")
    got = run(network, X, dtype, tmp_path)
    wanted = network.predict(X.astype(dtype)).reshape(got.shape)
    assert (np.abs(got - wanted) <= CLOSE[dtype] * np.abs(wanted).max(axis=0)).all()


@pytest.mark.parametrize(
    ("activation", "call"),
    [("relu", None), ("relu3", None), ("leaky_relu", None), ("abs", "fabs"), ("softplus", "log1p")],
)
def test_math_is_included_where_it_is_called(tmp_path: Path, activation: str, call: str | None):
    for dtype, suffix in (("float32", "f"), ("float64", "")):
        to_c(random_network(activation=activation), tmp_path / "model.h", dtype=dtype)
        text = (tmp_path / "model.h").read_text(encoding="ascii")
        assert ("#include <math.h>" in text) == ("-lm" in text) == (call is not None)
        assert call is None or f"{call}{suffix}(" in text


@compiled
def test_names_of_features_cannot_break_out(tmp_path: Path):
    names = ('*/ int bad = 1; "', "größe\\\n#error", "??/")
    network = replace(random_network(), feature_names=names)
    X = inputs(network)
    assert_close(run(network, X, "float32", tmp_path), network, X.astype("float32"), "float32")


@compiled
@pytest.mark.parametrize("activation", ["relu", "relu2", "leaky_relu", "softplus"])
def test_nan_stays_nan(tmp_path: Path, activation: str):
    network = random_network(affine=False, activation=activation)
    assert np.isnan(run(network, np.array([[1.0, np.nan, 2.0]]), "float64", tmp_path)).all()


def test_numbers_come_back_exactly(tmp_path: Path):
    special = [1e-310, -0.0, 5e-324, -1e300, 0.1, 1 / 3]
    network = Network(np.ones((6, 1)), np.zeros(6), np.zeros((6, 1)))
    network = replace(network, biases=special)
    to_c(network, tmp_path / "model.h", dtype="float64")
    text = (tmp_path / "model.h").read_text(encoding="ascii")
    body = text.split("model_biases[6] = {")[1].split("}")[0]
    got = np.array([float(word) for word in body.split(",")])
    assert got.tobytes() == network.biases.tobytes()


def test_same_network_gives_the_same_header(tmp_path: Path):
    for name in ("a", "b"):
        to_c(random_network(), tmp_path / name, name="model")
    assert (tmp_path / "a").read_bytes() == (tmp_path / "b").read_bytes()


@pytest.mark.parametrize(
    ("file", "prefix"),
    [
        ("model.h", "model"),
        ("my-model v2.h", "my_model_v2"),
        ("3d.h", "model_3d"),
        ("größe.h", "gr_e"),
        ("__.h", "model"),
    ],
)
def test_names_come_from_the_file(tmp_path: Path, file: str, prefix: str):
    to_c(random_network(), tmp_path / file)
    text = (tmp_path / file).read_text(encoding="ascii")
    assert f"void {prefix}_predict(" in text
    assert f"#ifndef {prefix.upper()}_H" in text


@pytest.mark.parametrize("name", ["", "3d", "a b", "a-b", "größe", "_x"])
def test_names_must_be_identifiers(tmp_path: Path, name: str):
    with pytest.raises(ValueError, match=r"`name` must be a C identifier.*write name='"):
        to_c(random_network(), tmp_path / "model.h", name=name)
    assert not list(tmp_path.iterdir())


# Classifiers


@compiled
@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("kind", ["text", "int64"])
@pytest.mark.parametrize("n_classes", [2, 5])
def test_program_gives_the_class(tmp_path: Path, n_classes: int, kind: str, dtype: str):
    model = classifier(n_classes, kind)
    X = rows(200, seed=1).astype(dtype).astype("float64")
    logits, indices, classes = run_classes(model, X, dtype, tmp_path)
    assert_close(logits, model.network_, X, dtype)
    sure = clear(model, X, 1e-3)
    assert len(set(indices[sure])) == n_classes
    np.testing.assert_array_equal(classes[sure], model.predict(X)[sure])
    np.testing.assert_array_equal(model.classes_[indices], classes)


@compiled
@pytest.mark.parametrize("kind", ["objects", "bool", "float"])
def test_program_has_classes_of_every_kind(tmp_path: Path, kind: str):
    model = classifier(2, kind)
    X = rows(50, seed=1)
    np.testing.assert_array_equal(run_classes(model, X, "float64", tmp_path)[2], model.predict(X))


@compiled
@pytest.mark.parametrize("n_classes", [2, 5])
def test_not_a_number_is_no_class(tmp_path: Path, n_classes: int):
    X = np.array([[np.nan, 50.0], [0.1, 50.0]])
    indices = run_classes(classifier(n_classes), X, "float64", tmp_path)[1]
    assert indices[0] == -1
    assert indices[1] >= 0


@compiled
@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("n_classes", [2, 3])
def test_the_first_of_equal_logits_is_the_class(tmp_path: Path, n_classes: int, dtype: str):
    n_logits = 1 if n_classes == 2 else n_classes
    model = with_logits(np.eye(n_logits), n_classes)
    X = np.array(list(product([-1.0, -0.0, 0.0, 2.0], repeat=n_logits)))
    logits, indices, classes = run_classes(model, X, dtype, tmp_path)
    np.testing.assert_array_equal(logits, X)
    wanted = (X[:, 0] > 0).astype(int) if n_classes == 2 else X.argmax(axis=1)
    np.testing.assert_array_equal(indices, wanted)
    np.testing.assert_array_equal(classes, model.predict(X))


def test_logits_alone_have_no_classes(tmp_path: Path):
    to_c(classifier().network_, tmp_path / "model.h")
    assert "class" not in (tmp_path / "model.h").read_text(encoding="ascii")
