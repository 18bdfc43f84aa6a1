"""`greedynet export`: every target from the command line, and what a user may get wrong."""

import re

import numpy as np
import pytest

import greedynet.export
from classifiers import classifier
from extras import need
from greedynet import GreedyNetRegressor
from greedynet.export.registry import EXPORTERS, FILE_EXPORTERS
from networks import fitted_deep, inputs, random_deep_network, random_network
from problems import noisy
from program import run


@pytest.fixture(scope="module")
def model():
    X, y = noisy(n_rows=60)
    return GreedyNetRegressor(6).fit(X, y)


@pytest.fixture
def saved(model, tmp_path):
    path = tmp_path / "model.safetensors"
    model.save(path)
    return path


def export(file, target, *options):
    """Write a model for a target, whose libraries are there."""
    for library in FILE_EXPORTERS[target].libraries:
        need(library)
    return run("export", file, "--to", target, *options).output


def test_help_names_what_can_be_written():
    text = " ".join(run("export", "--help").output.split())
    assert f"--to [{'|'.join(FILE_EXPORTERS)}]" in text
    for exporter in EXPORTERS:
        assert (exporter.title in text) == (exporter.name in FILE_EXPORTERS)


# Keras reads its own weights in a way that NumPy 2 warns of.
@pytest.mark.filterwarnings("ignore:__array__ implementation:DeprecationWarning")
@pytest.mark.parametrize("hidden_layers", [1, 2])
@pytest.mark.parametrize("target", FILE_EXPORTERS)
def test_file_has_the_ending_of_the_table(model, tmp_path, target, hidden_layers):
    (model if hidden_layers == 1 else fitted_deep()).save(tmp_path / "model.safetensors")
    said, hint = export(tmp_path / "model.safetensors", target).splitlines()
    path = tmp_path / f"model{FILE_EXPORTERS[target].suffix}"
    assert path.stat().st_size > 0
    assert said.startswith(f"wrote {path}: ")
    hinges = re.search(r": \d+ hinges along single columns, \d+ relu neurons", said)
    assert (hinges is not None) == (hidden_layers == 2)
    assert str(path) in hint


def test_onnx(model, saved):
    runtime = need("onnxruntime")
    said = export(saved, "onnx", "--dtype", "float64")
    assert "4 relu neurons and an affine term (6 nodes)" in said
    session = runtime.InferenceSession(saved.with_suffix(".onnx"))
    X = noisy(n_rows=20, seed=3)[0]
    (found,) = session.run(None, {"X": X})
    np.testing.assert_allclose(found.ravel(), model.predict(X), atol=1e-12)


@pytest.mark.parametrize(
    ("network", "layers"),
    [
        (
            random_network(activation="softplus"),
            "BoundsLayer(3), nn.Linear(3, 7), nn.Softplus(",
        ),
        (
            random_network(activation="sin", affine=False),
            "nn.Linear(3, 5), greedynet.export.torch_skip.ActivationLayer('sin'), nn.",
        ),
        (
            random_deep_network(activation="tanh"),
            "nn.Sequential(greedynet.export.torch_skip.ScalingLayer(3), "
            "greedynet.export.torch_skip.BoundsLayer(3), "
            "greedynet.export.torch_skip.RampLayer(7), "
            "greedynet.export.torch_skip.SkipNetwork(nn.Linear(10, 5), nn.Tanh(), nn.",
        ),
    ],
)
def test_torch_says_what_loads_the_file(tmp_path, network, layers):
    torch = need("torch")
    network.save(tmp_path / "model.safetensors")
    hint = export(tmp_path / "model.safetensors", "torch", "--dtype", "float64").splitlines()[-1]
    assert layers in hint
    # What it says is done, to the letter.
    written, loading = re.match(r"load it into (.*) with (load_state_dict.*)", hint).groups()
    names = {"nn": torch.nn, "torch": torch, "greedynet": greedynet}
    module = eval(written, names)
    eval(f"module.{loading}", names | {"module": module})
    X = inputs(network)
    found = module(torch.from_numpy(X)).detach().numpy()
    np.testing.assert_allclose(found[:, 0], network.predict(X), rtol=1e-12)


# Keras reads its own weights in a way that NumPy 2 warns of.
@pytest.mark.filterwarnings("ignore:__array__ implementation:DeprecationWarning")
def test_keras(saved, tmp_path):
    message = run("export", saved, "--to", "keras", "--out", tmp_path / "net.h5", code=2).output
    assert "`--out` must end in .keras" in message
    # An affine term that cannot become neurons is a layer of its own.
    random_network(activation="tanh").save(tmp_path / "tanh.safetensors")
    export(tmp_path / "tanh.safetensors", "keras")


# Keras reads its own weights in a way that NumPy 2 warns of.
@pytest.mark.filterwarnings("ignore:__array__ implementation:DeprecationWarning")
@pytest.mark.parametrize("n_classes", [2, 5])
@pytest.mark.parametrize("target", FILE_EXPORTERS)
def test_classifier(tmp_path, target, n_classes):
    model = classifier(n_classes)
    saved = tmp_path / "model.safetensors"
    model.save(saved)
    said = export(saved, target)
    assert f"{FILE_EXPORTERS[target].class_outputs} of the classes " in said
    assert repr(model.classes_.tolist()[1]) in said
    assert ("outputs are logits of" in said) == (target in ("torch", "keras"))
    if target == "c":
        assert "int model_class(" in saved.with_suffix(".h").read_text(encoding="ascii")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["{saved}"], "Missing option '--to'"),
        (["{saved}", "--to", "c", "--out", "nowhere/net.h"], "create the folder 'nowhere' first"),
        (["{damaged}", "--to", "c"], "damaged.safetensors"),
    ],
)
def test_mistakes(saved, tmp_path, monkeypatch, arguments, message):
    monkeypatch.chdir(tmp_path)
    damaged = tmp_path / "damaged.safetensors"
    damaged.write_bytes(saved.read_bytes()[:50])
    names = {"{saved}": saved, "{damaged}": damaged}
    given = (names.get(argument, argument) for argument in arguments)
    assert message in run("export", *given, code=2).output
    assert not (tmp_path / "damaged.h").exists()
