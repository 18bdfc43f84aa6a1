"""ONNX: models that onnxruntime runs, and pipelines through skl2onnx."""

import json
from dataclasses import replace
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from sklearn.ensemble import VotingRegressor
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import StandardScaler

import greedynet
from classifiers import KINDS as LABELS
from classifiers import classifier, clear, labels_of, rows, with_logits
from extras import need
from greedynet import GreedyNetClassifier, GreedyNetRegressor, Network
from greedynet.activations import ACTIVATIONS
from greedynet.export import DisagreementError, register_skl2onnx, to_onnx
from networks import (
    CLOSE,
    DEEP_KINDS,
    DTYPES,
    FEW_KINDS_AND_DTYPES,
    assert_close,
    fitted,
    inputs,
    kind,
    random_network,
)
from problems import SEARCHES

onnx = need("onnx")
runtime = need("onnxruntime")


def run(model: Path | bytes, X: np.ndarray) -> np.ndarray:
    return run_all(model, X)[0]


def run_all(model: Path | bytes, X: np.ndarray) -> list[np.ndarray]:
    model = model if isinstance(model, bytes) else str(model)
    session = runtime.InferenceSession(model, providers=["CPUExecutionProvider"])
    return session.run(None, {session.get_inputs()[0].name: X})


def converted(model: Pipeline | GreedyNetRegressor, X: np.ndarray, **how: Any) -> list[np.ndarray]:
    """Return the outputs of what skl2onnx makes of a model."""
    skl2onnx = need("skl2onnx")
    register_skl2onnx()
    register_skl2onnx()  # once more does no harm
    proto = skl2onnx.to_onnx(model, X[:1], target_opset=17, **how)
    return run_all(proto.SerializeToString(), X)


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


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("kind", ["text", "float"])
@pytest.mark.parametrize("n_classes", [2, 5])
def test_classifier_in_a_pipeline(n_classes: int, kind: str, dtype: str):
    X = rows()
    model = make_pipeline(StandardScaler(), GreedyNetClassifier(6, alpha=1e-2))
    model.fit(X, labels_of(X, n_classes, kind))
    given = X.astype(dtype)
    labels, probabilities = converted(model, given, options={"zipmap": False})
    assert probabilities.dtype == dtype
    np.testing.assert_allclose(probabilities, model.predict_proba(given), rtol=0, atol=CLOSE[dtype])
    sure = clear(model, given, 2 * CLOSE[dtype])
    np.testing.assert_array_equal(labels[sure], model.predict(given)[sure])


# Names, types and shapes of the outputs are those of a classifier of scikit-learn's own.
@pytest.mark.parametrize(
    "options",
    [
        {},
        {"zipmap": False},
        {"zipmap": "columns"},
        {"zipmap": False, "nocl": True},
        {"zipmap": False, "output_class_labels": True},
        {"zipmap": False, "raw_scores": True},
    ],
    ids=str,
)
@pytest.mark.parametrize("n_classes", [2, 3])
def test_options_are_those_of_other_classifiers(n_classes: int, options: dict):
    skl2onnx = need("skl2onnx")
    register_skl2onnx()
    X = rows().astype(np.float32)
    y = labels_of(X, n_classes, "text")
    made, outputs = [], []
    for step in (GreedyNetClassifier(6, alpha=1e-2), LogisticRegression()):
        model = make_pipeline(StandardScaler(), step).fit(X, y)
        proto = skl2onnx.to_onnx(model, X[:1], target_opset=17, options={id(step): options})
        made.append([(value.name, value.type) for value in proto.graph.output])
        outputs.append(run_all(proto.SerializeToString(), X))
        if "raw_scores" in options:
            scores = model.decision_function(X)
            scores = np.column_stack([-scores, scores]) if n_classes == 2 else scores
            np.testing.assert_allclose(outputs[-1][1], scores, rtol=1e-3, atol=1e-3)
        elif "nocl" in options:
            np.testing.assert_array_equal(model.classes_[outputs[-1][0]], model.predict(X))
        elif not options:
            found = [[row[label] for label in model.classes_] for row in outputs[-1][1]]
            np.testing.assert_allclose(found, model.predict_proba(X), rtol=0, atol=1e-4)
    assert made[0] == made[1]
    for ours, theirs in zip(*outputs, strict=True):
        assert type(ours) is type(theirs)
        assert np.shape(ours) == np.shape(theirs)


# Pipelines


def pipeline(n_outputs: int, **parameters: Any) -> tuple[Pipeline, np.ndarray]:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(100, 3)) * [1, 20, 300] + [0, 50, 1000]
    Y = np.stack([X[:, 0] ** 2 + X[:, 1], X[:, 2] * X[:, 0]], axis=1)[:, :n_outputs]
    regressor = GreedyNetRegressor(n_nodes=12, **parameters)
    return make_pipeline(StandardScaler(), regressor).fit(X, Y[:, 0] if n_outputs == 1 else Y), X


def assert_converted(model: Pipeline, X: np.ndarray, dtype: str) -> None:
    (got,) = converted(model, X.astype(dtype))
    wanted = model.predict(X.astype(dtype)).reshape(len(X), -1)
    assert got.dtype == dtype
    assert got.shape == wanted.shape
    assert (np.abs(got - wanted).max(axis=0) < CLOSE[dtype] * np.abs(wanted).max(axis=0)).all()


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("n_outputs", [1, 2])
@pytest.mark.parametrize(
    "parameters", [*({"search": search} for search in SEARCHES), {"hidden_layers": 2}], ids=str
)
def test_pipeline_converts(dtype: str, n_outputs: int, parameters: dict):
    model, X = pipeline(n_outputs, **parameters)
    assert (model[-1].network_.ramps is None) == ("hidden_layers" not in parameters)
    assert_converted(model, X, dtype)


def test_whole_numbers_go_in():
    X = np.arange(40).reshape(20, 2) % 7
    model = GreedyNetRegressor(n_nodes=5).fit(X, X[:, 0] * X[:, 1])
    (got,) = converted(model, X)
    np.testing.assert_allclose(got[:, 0], model.predict(X), rtol=1e-4, atol=1e-4)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("activation", ACTIVATIONS)
def test_every_activation_converts(dtype: str, activation: str):
    model, X = pipeline(2)
    network = random_network(12, 2, activation=activation)
    model[-1].network_ = replace(network, input_range=np.array([[-2.0] * 3, [2.0] * 3]))
    assert_converted(model, X, dtype)


def test_two_networks_in_one_graph():
    _, X = pipeline(1)
    parts = [(str(n), GreedyNetRegressor(n_nodes=n)) for n in (4, 9)]
    model = VotingRegressor(parts).fit(X, X[:, 0] ** 2)
    (got,) = converted(model, X)
    np.testing.assert_allclose(got[:, 0], model.predict(X), rtol=1e-10, atol=1e-10)


def test_conversion_refuses_what_disagrees():
    model = fitted()
    # Two neurons that differ by 1e-6 and cancel: their difference is below float32's digits.
    model.network_ = Network(
        np.ones((2, 2)), np.array([1.0, 1.0 + 1e-6]), np.array([[-1e6], [1e6]])
    )
    with pytest.raises(DisagreementError, match="`skl2onnx` made a model that differs"):
        converted(model, np.ones((1, 2), dtype=np.float32))
