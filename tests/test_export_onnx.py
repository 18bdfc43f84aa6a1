"""ONNX: models that onnxruntime runs."""

import json
from itertools import product
from pathlib import Path

import numpy as np
import pytest

import greedynet
from classifiers import KINDS as LABELS
from classifiers import classifier, clear, rows, with_logits
from extras import need
from greedynet import Network
from greedynet.activations import ACTIVATIONS
from greedynet.export import to_onnx
from networks import (
    CLOSE,
    DEEP_KINDS,
    DTYPES,
    FEW_KINDS_AND_DTYPES,
    assert_close,
    inputs,
    kind,
    random_network,
)

onnx = need("onnx")
runtime = need("onnxruntime")


def run(model: Path | bytes, X: np.ndarray) -> np.ndarray:
    return run_all(model, X)[0]


def run_all(model: Path | bytes, X: np.ndarray) -> list[np.ndarray]:
    model = model if isinstance(model, bytes) else str(model)
    session = runtime.InferenceSession(model, providers=["CPUExecutionProvider"])
    return session.run(None, {session.get_inputs()[0].name: X})


@pytest.mark.parametrize(("name", "dtype"), [*FEW_KINDS_AND_DTYPES, *product(DEEP_KINDS, DTYPES)])
def test_file_is_the_network(tmp_path: Path, name: str, dtype: str):
    network = kind(name)
    to_onnx(network, tmp_path / "model.onnx", dtype=dtype)
    for n_rows in (50, 1):
        X = inputs(network, n_rows)
        got = run(tmp_path / "model.onnx", X.astype(dtype))
        if n_rows > 1:
            assert_close(got, network, X, dtype)
        assert got.shape == (n_rows, network.n_outputs)


# Where the tail is small its digits still count.
def test_gelu_has_its_tail_in_float64(tmp_path: Path):
    network = Network(np.ones((1, 1)), np.zeros(1), np.ones((1, 1)), activation=ACTIVATIONS["gelu"])
    to_onnx(network, tmp_path / "model.onnx", dtype="float64")
    X = np.linspace(-30, 30, 601)[:, None]
    got = run(tmp_path / "model.onnx", X)[:, 0]
    np.testing.assert_allclose(got, network.predict(X), rtol=1e-12)


def test_file_says_what_it_is(tmp_path: Path):
    network = random_network(5, 2)
    returned = to_onnx(
        network, tmp_path / "model.onnx", input_name="measured", output_name="biases"
    )
    proto = onnx.load(tmp_path / "model.onnx")
    assert proto == returned
    onnx.checker.check_model(proto, full_check=True)
    assert proto.ir_version == 8
    assert [(o.domain, o.version) for o in proto.opset_import] == [("", 17)]
    assert (proto.producer_name, proto.producer_version) == ("greedynet", greedynet.__version__)
    properties = {p.key: p.value for p in proto.metadata_props}
    assert properties["activation"] == "relu"
    assert json.loads(properties["feature_names"]) == list(network.feature_names)
    assert json.loads(properties["input_range"]) == network.input_range.tolist()
    (given,), (made,) = proto.graph.input, proto.graph.output
    assert (given.name, made.name) == ("measured", "biases")
    for value, width in ((given, 3), (made, 2)):
        rows, columns = value.type.tensor_type.shape.dim
        assert (rows.dim_param, columns.dim_value) == ("n_rows", width)


@pytest.mark.parametrize("names", [("", "y"), ("X", ""), ("same", "same")])
def test_names_must_be_names(tmp_path: Path, names: tuple[str, str]):
    with pytest.raises(ValueError, match="`input_name` and `output_name` must be two different"):
        to_onnx(random_network(), tmp_path / "x", input_name=names[0], output_name=names[1])


# Classifiers


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("kind", ["text", "int64"])
@pytest.mark.parametrize("n_classes", [2, 5])
def test_classifier_gives_labels_and_probabilities(
    tmp_path: Path, n_classes: int, kind: str, dtype: str
):
    model = classifier(n_classes, kind)
    to_onnx(model, tmp_path / "model.onnx", dtype=dtype)
    for n_rows in (200, 1, 0):
        X = rows(n_rows, seed=1).astype(dtype)
        labels, probabilities = run_all(tmp_path / "model.onnx", X)
        assert labels.shape == (n_rows,)
        assert labels.dtype == (object if kind == "text" else np.int64)
        assert probabilities.shape == (n_rows, n_classes)
        assert probabilities.dtype == dtype
        if n_rows:
            wanted = model.predict_proba(X)
            np.testing.assert_allclose(probabilities, wanted, rtol=0, atol=CLOSE[dtype])
            sure = clear(model, X, 2 * CLOSE[dtype])
            assert sure.any()
            np.testing.assert_array_equal(labels[sure], model.predict(X)[sure])


@pytest.mark.parametrize("kind", LABELS)
def test_labels_equal_the_classes(tmp_path: Path, kind: str):
    model = classifier(2, kind)
    X = rows(50, seed=1)
    to_onnx(model, tmp_path / "model.onnx", dtype="float64")
    labels = run_all(tmp_path / "model.onnx", X)[0]
    assert labels.dtype == (object if kind in ("text", "objects") else np.int64)
    assert set(labels) == set(model.classes_)
    np.testing.assert_array_equal(labels, model.predict(X))


# Small probabilities have all their digits, as their logarithms are what losses are made of.
@pytest.mark.parametrize(
    ("dtype", "largest", "digits"), [("float32", 80, 1e-5), ("float64", 700, 1e-13)]
)
@pytest.mark.parametrize("n_classes", [2, 3])
def test_probabilities_of_large_logits(
    tmp_path: Path, n_classes: int, dtype: str, largest: float, digits: float
):
    weights = np.array([[1.0]]) if n_classes == 2 else np.array([[1.0, 0.0, 0.5]])
    model = with_logits(weights, n_classes)
    to_onnx(model, tmp_path / "model.onnx", dtype=dtype)
    X = np.linspace(-largest, largest, 1401)[:, None].astype(dtype)
    labels, probabilities = run_all(tmp_path / "model.onnx", X)
    np.testing.assert_allclose(probabilities, model.predict_proba(X), rtol=digits)
    np.testing.assert_array_equal(labels, model.predict(X))
    # Far beyond what `exp` can hold.
    X = np.array([[1e30], [-1e30]], dtype=dtype)
    labels, probabilities = run_all(tmp_path / "model.onnx", X)
    np.testing.assert_array_equal(probabilities, model.predict_proba(X))
    np.testing.assert_array_equal(labels, model.predict(X))


def test_classifier_file_says_what_it_is(tmp_path: Path):
    proto = to_onnx(classifier(5), tmp_path / "model.onnx", input_name="measured")
    properties = {p.key: p.value for p in proto.metadata_props}
    assert json.loads(properties["classes"]) == classifier(5).classes_.tolist()
    assert [(o.domain, o.version) for o in proto.opset_import] == [("", 17)]
    assert [value.name for value in proto.graph.input] == ["measured"]
    label, probabilities = proto.graph.output
    assert (label.name, probabilities.name) == ("label", "probabilities")
    (n_rows,) = label.type.tensor_type.shape.dim
    again, columns = probabilities.type.tensor_type.shape.dim
    assert (n_rows.dim_param, again.dim_param, columns.dim_value) == ("n_rows", "n_rows", 5)


def test_names_of_a_classifiers_outputs_are_fixed(tmp_path: Path):
    with pytest.raises(ValueError, match="`output_name` must be None for a classifier"):
        to_onnx(classifier(), tmp_path / "x", output_name="y")
    with pytest.raises(ValueError, match="`input_name` and `output_name` must be two different"):
        to_onnx(classifier(), tmp_path / "x", input_name="label")
    to_onnx(classifier().network_, tmp_path / "x", output_name="logit", dtype="float64")
    X = rows(20)
    np.testing.assert_allclose(
        run(tmp_path / "x", X)[:, 0], classifier().decision_function(X), rtol=1e-10
    )
