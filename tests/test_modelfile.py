"""The model file: exact round trips, and a clear error for every file that is not a good one."""

import hashlib
import json
import os
import pickle
import sys
import zipfile
from collections.abc import Callable
from dataclasses import fields, replace
from pathlib import Path

import numpy as np
import pytest
from safetensors import safe_open
from safetensors.numpy import load_file, save_file
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.model_selection import KFold

import greedynet
from classifiers import KINDS as LABELS
from classifiers import classifier, labels_of, rows
from extras import need
from greedynet import (
    GreedyNetClassifier,
    GreedyNetRegressor,
    ModelFileError,
    Network,
    load,
)
from greedynet.activations import ACTIVATIONS, LeakyReLU, ReLU
from greedynet.losses import Absolute, Chebyshev, Huber, Power, Quantile, Squared
from greedynet.search import Dictionary
from networks import (
    KINDS,
    assert_same,
    fitted,
    impostor,
    inputs,
    kind,
    random_deep_network,
    random_network,
    write_state,
)
from problems import SEARCHES, regressor

FILE = "model.safetensors"


@pytest.fixture
def file(tmp_path: Path) -> Path:
    """Return a small network's file."""
    random_network(2).save(tmp_path / FILE)
    return tmp_path / FILE


def loaded_again(model: Network | GreedyNetRegressor, folder: Path):
    model.save(folder / FILE)
    return load(folder / FILE)


def forge(file: Path, change: Callable[[dict], None]) -> None:
    """Change a file's header and make the checksum right again, as an attacker would."""
    data = file.read_bytes()
    start = 8 + int.from_bytes(data[:8], "little")
    header = json.loads(data[8:start])
    change(header)
    metadata = header["__metadata__"]
    if isinstance(metadata, dict):
        metadata["sha256"] = "0" * 64
    text = json.dumps(header).encode()
    text += b" " * (-len(text) % 8)
    forged = len(text).to_bytes(8, "little") + text + data[start:]
    digest = hashlib.sha256(forged).hexdigest().encode()
    file.write_bytes(forged.replace(b"0" * 64, digest, 1))


def in_model(change: Callable[[dict], None]) -> Callable[[dict], None]:
    """Return the change of a header that makes a change to the tree in it."""

    def changed(header: dict) -> None:
        tree = json.loads(header["__metadata__"]["model"])
        change(tree)
        header["__metadata__"]["model"] = json.dumps(tree)

    return changed


# Round trips


@pytest.mark.parametrize("name", KINDS)
def test_network_comes_back_bit_for_bit(tmp_path: Path, name: str):
    network = kind(name)
    again = loaded_again(network, tmp_path)
    assert_same(again, network)
    X = inputs(network)
    assert_same(again.predict(X), network.predict(X))
    assert not again.biases.flags.writeable


@pytest.mark.parametrize("search", SEARCHES)
@pytest.mark.parametrize("settings", [{}, {"n_outputs": 3}, {"alpha": 0.1}])
def test_loaded_models_truncate_to_the_same_widths(tmp_path: Path, search: str, settings: dict):
    model = fitted(search, **settings)
    again = loaded_again(model, tmp_path)
    for n in model.path_.n_nodes.tolist():
        assert_same(again.truncate(n).network_, model.truncate(n).network_)


@pytest.mark.parametrize(
    ("search", "settings"),
    [
        *[
            (search, settings)
            for search in SEARCHES
            for settings in (
                {},
                {"n_outputs": 3},
                {"dtype": "float32"},
                {"cv": 3, "random_state": np.int64(4)},
                {"activation": ReLU(), "n_nodes": 6, "random_state": None},
            )
        ],
        ("dictionary", {"points": np.random.default_rng(0).normal(size=(40, 3)), "rule": "oga"}),
        ("continuous", {"correct": False}),
        *[("continuous", {"activation": name}) for name in ACTIVATIONS if name != "relu"],
        ("continuous", {"alpha": 0.1, "extrapolate": True}),
    ],
)
def test_estimator_comes_back_bit_for_bit(tmp_path: Path, search: str, settings: dict):
    model = fitted(search, **settings)
    again = loaded_again(model, tmp_path)
    assert type(again) is GreedyNetRegressor
    assert str(again.search) == str(model.search)
    for name, value in model.get_params().items():
        if name != "search":
            np.testing.assert_equal(again.get_params()[name], value)
    assert set(vars(again)) == set(vars(model))
    for name in ("network_", "path_", "n_nodes_", "stop_reason_", "n_features_in_"):
        assert_same(getattr(again, name), getattr(model, name))
    X = np.random.default_rng(0).normal(size=(9, 2))
    assert_same(again.predict(X), model.predict(X))


@pytest.mark.parametrize("kind", [*SEARCHES, "classes"])
def test_loaded_estimator_is_a_full_one(tmp_path: Path, kind: str):
    pandas = pytest.importorskip("pandas")
    X = pandas.DataFrame(np.random.default_rng(0).normal(size=(30, 2)), columns=["größe", "b c"])
    model, y = GreedyNetClassifier(4), X["größe"] > 0
    if kind != "classes":
        model, y = regressor(kind, n_nodes=4, n_points=50), X["größe"] ** 2
    again = loaded_again(model.fit(X, y), tmp_path)
    assert_same(again.feature_names_in_, model.feature_names_in_)
    assert again.network_.feature_names == ("größe", "b c")
    with pytest.raises(ValueError, match="feature names should match"):
        again.predict(X.rename(columns={"b c": "other"}))
    assert_same(clone(again).fit(X, y).network_, model.network_)


def test_training_comes_back(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    need("jax")
    need("optax")
    from greedynet.train import train

    X = np.random.default_rng(3).uniform(-1, 1, (80, 2)) * [1, 10] + [0, 50]
    model = train(fitted(), X, np.abs(X[:, 0]), epochs=3)
    again = loaded_again(model, tmp_path)
    assert_same(again.training_, model.training_)
    assert_same(again.network_, model.network_)
    # Where JAX is missing the numbers are still there.
    monkeypatch.setitem(sys.modules, "greedynet.train", None)
    again = loaded_again(load(tmp_path / FILE), tmp_path)
    assert_same(again.training_.loss_history, model.training_.loss_history)
    assert_same(again.network_, model.network_)


def test_subclass_is_loaded_as_itself(tmp_path: Path):
    class OwnRegressor(GreedyNetRegressor):
        pass

    model = OwnRegressor(n_nodes=4).fit([[0.0], [1], [3], [4]], [0.0, 1, 5, 2])
    again = loaded_again(model, tmp_path)
    assert type(again) is OwnRegressor
    assert_same(again.network_, model.network_)


def assert_same_classifier(again: GreedyNetClassifier, model: GreedyNetClassifier) -> None:
    assert type(again) is type(model)
    given, wanted = again.get_params(), model.get_params()
    assert str(given.pop("search")) == str(wanted.pop("search"))
    assert given == wanted
    assert set(vars(again)) == set(vars(model))
    names = ("classes_", "network_", "path_", "ladder_", "n_nodes_", "stop_reason_")
    for name in (*names, "n_features_in_"):
        assert_same(getattr(again, name), getattr(model, name))
    X = rows(9, seed=1)
    for method in ("predict", "predict_proba", "predict_log_proba", "decision_function"):
        assert_same(getattr(again, method)(X), getattr(model, method)(X))


@pytest.mark.parametrize("kind", LABELS)
@pytest.mark.parametrize("n_classes", [2, 5])
def test_classifier_comes_back_bit_for_bit(tmp_path: Path, n_classes: int, kind: str):
    n_classes = min(n_classes, len(LABELS[kind]))
    model = classifier(n_classes, kind)
    again = loaded_again(model, tmp_path)
    assert_same_classifier(again, model)
    assert again.classes_.dtype == LABELS[kind].dtype


@pytest.mark.parametrize(
    "parameters",
    [
        {"correct": False},
        {"n_nodes": None, "max_nodes": 8, "select": "1se"},
        {"class_weight": "balanced"},
        {"activation": LeakyReLU(), "alpha": 0.1},
        {"activation": "tanh", "extrapolate": True},
        {"search": Dictionary(n_points=100), "correct": False},
    ],
    ids=str,
)
def test_classifier_of_any_parameters_comes_back(tmp_path: Path, parameters: dict):
    model = classifier(2, "text", **parameters)
    assert_same_classifier(loaded_again(model, tmp_path), model)


@pytest.mark.parametrize("kind", LABELS)
@pytest.mark.parametrize("plain", [True, False])
def test_weights_of_classes_come_back(tmp_path: Path, kind: str, plain: bool):
    X = rows()
    y = labels_of(X, 2, kind)
    classes = np.unique(y)
    # Keys as Python has them, and as NumPy has them.
    keys = classes.tolist() if plain else list(classes)
    weights = dict(zip(keys, [0.1, np.float64(1 / 3)], strict=True))
    model = GreedyNetClassifier(4, alpha=1e-2, class_weight=weights).fit(X, y)
    again = loaded_again(model, tmp_path)
    assert again.class_weight == weights
    assert [type(key) for key in again.class_weight] == [type(key) for key in classes.tolist()]
    assert_same_classifier(again, model)
    assert_same(clone(again).fit(X, y).network_, model.network_)


@pytest.mark.parametrize(
    "loss",
    [Squared(), Absolute(), Huber(), Chebyshev(), Quantile(0.9), Quantile(1 / 3), Power(1.7)],
)
def test_loss_comes_back(tmp_path: Path, loss: object):
    model = fitted(loss=loss, n_nodes=4)
    again = loaded_again(model, tmp_path)
    assert again.loss == loss
    assert type(again.loss) is type(loss)
    assert_same(again.network_, model.network_)


def test_same_model_gives_the_same_file(tmp_path: Path):
    model = fitted()
    for name in ("a", "b"):
        model.save(tmp_path / name)
    assert (tmp_path / "a").read_bytes() == (tmp_path / "b").read_bytes()


def test_other_programs_can_read_the_file(tmp_path: Path):
    model = fitted(n_outputs=3)
    model.save(tmp_path / FILE)
    arrays = load_file(tmp_path / FILE)
    assert_same(arrays["fitted.network_.network.biases"], np.array(model.network_.biases))
    assert_same(arrays["fitted.path_.SelectionPath.training_errors"], model.path_.training_errors)
    with safe_open(tmp_path / FILE, "numpy") as opened:
        metadata = opened.metadata()
    assert metadata["format"] == "greedynet"
    assert metadata["format_version"] == "1"
    assert metadata["library_version"] == greedynet.__version__
    assert metadata["kind"] == "GreedyNetRegressor"
    tree = json.loads(metadata["model"])["fitted"]
    assert tree["network_"]["network"]["activation"] == "relu"
    assert tree["path_"]["SelectionPath"]["best_n_nodes"] == model.n_nodes_


def test_strided_arrays_are_written_in_their_order(tmp_path: Path):
    model = fitted()
    axes = model.training_sample_.axes
    model.training_sample_ = replace(model.training_sample_, axes=np.asfortranarray(axes))
    assert not model.training_sample_.axes.flags.c_contiguous
    assert_same(loaded_again(model, tmp_path).training_sample_.axes, axes)


# What cannot be saved, and writing


def test_only_plain_parameters_are_saved(tmp_path: Path):
    model = fitted(cv=KFold(3))
    with pytest.raises(TypeError, match=r"`cv` must be a number, text or an array.*KFold"):
        model.save(tmp_path / FILE)
    assert not list(tmp_path.iterdir())
    again = loaded_again(model.set_params(cv=None), tmp_path)
    assert_same(again.network_, model.network_)


class OwnLoss(Quantile):
    """A loss of a user's own, whose arguments give another."""


@pytest.mark.parametrize(
    ("parameter", "value", "message"),
    [
        ("class_weight", {("a", 1): 0.5}, r"`class_weight` must have numbers or text as keys"),
        ("class_weight", {None: {1: KFold(3)}}, r"`class_weight\[None\]\[1\]` must be .*KFold"),
        ("activation", OwnLoss(0.9), r"`activation` must be a number, text or an array.*OwnLoss"),
    ],
)
def test_other_objects_are_not_saved(tmp_path: Path, parameter: str, value: object, message: str):
    model = clone(classifier()).fit(rows(), labels_of(rows(), 2, "text"))
    setattr(model, parameter, value)
    with pytest.raises(TypeError, match=message):
        model.save(tmp_path / FILE)
    assert not list(tmp_path.iterdir())


def test_numbers_that_the_file_does_not_have_are_named(tmp_path: Path):
    X = rows()
    y = labels_of(X, 2, "float").astype(np.longdouble)
    if y.dtype == np.float64:
        pytest.skip("long double is double here")
    model = GreedyNetClassifier(4).fit(X, y)
    with pytest.raises(TypeError, match=r"`classes_` must be a number, text or an array"):
        model.save(tmp_path / FILE)


def test_unfitted_estimator_is_not_saved(tmp_path: Path):
    with pytest.raises(NotFittedError, match="not fitted yet"):
        GreedyNetRegressor().save(tmp_path / FILE)


def test_unknown_activation_is_not_saved_until_it_is_known(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    class Softer(ReLU):
        pass

    own = replace(random_network(), activation=Softer(name="softer"))
    for network in (own, impostor(random_network())):
        with pytest.raises(ValueError, match=r"`activation` must be one of .* to be saved"):
            network.save(tmp_path / FILE)
    monkeypatch.setitem(ACTIVATIONS, "softer", own.activation)
    assert loaded_again(own, tmp_path).activation == own.activation
    monkeypatch.undo()
    with pytest.raises(ModelFileError, match="`activation` must be one of"):
        load(tmp_path / FILE)


def test_failed_write_leaves_the_old_file(file: Path, monkeypatch: pytest.MonkeyPatch):
    before = file.read_bytes()

    def full_disk(*_: object) -> None:
        raise OSError(28, "No space left on device")

    for broken in ("replace", "fsync"):
        with monkeypatch.context() as patch:
            patch.setattr(os, broken, full_disk)
            with pytest.raises(OSError, match="No space left"):
                random_network(7).save(file)
        assert file.read_bytes() == before
        assert list(file.parent.iterdir()) == [file]
    random_network(7).save(str(file))
    assert load(file).n_neurons == 7


def test_bad_paths_are_named(tmp_path: Path):
    with pytest.raises(FileNotFoundError, match="`path` must be in an existing folder"):
        random_network().save(tmp_path / "nowhere" / FILE)
    with pytest.raises(IsADirectoryError, match="`path` must name a file"):
        random_network().save(tmp_path)
    with pytest.raises(FileNotFoundError, match=FILE):
        load(tmp_path / FILE)


def test_file_has_ordinary_permissions(file: Path):
    other = file.with_name("other")
    other.write_bytes(b"")
    assert file.stat().st_mode == other.stat().st_mode


# Files that are no good


@pytest.mark.parametrize(
    "make",
    [lambda: random_network(3), fitted, lambda: classifier(2, "text", class_weight="balanced")],
    ids=["network", "estimator", "classifier"],
)
def test_cut_file_is_refused(tmp_path: Path, make: Callable):
    file = tmp_path / FILE
    make().save(file)
    data = file.read_bytes()
    for length in range(0, len(data), 31):
        file.write_bytes(data[:length])
        with pytest.raises(ModelFileError, match=r"truncated|damaged"):
            load(file)


@pytest.mark.parametrize("bits", [0x01, 0x80])
def test_flipped_or_appended_byte_is_refused(file: Path, bits: int):
    data = bytearray(file.read_bytes())
    for place in range(len(data)):
        data[place] ^= bits
        file.write_bytes(data)
        with pytest.raises(ModelFileError, match=r"truncated|damaged|greedynet|not a model file"):
            load(file)
        data[place] ^= bits
    file.write_bytes(data + b"\0")
    with pytest.raises(ModelFileError, match="damaged"):
        load(file)
    file.write_bytes(data)
    assert load(file).n_neurons == 2


def test_foreign_files_are_refused(tmp_path: Path):
    file = tmp_path / FILE
    with zipfile.ZipFile(file, "w") as archive:
        archive.writestr("weights", "1 2 3")
    contents = [
        b"",
        b"x,y\n1,2\n",
        pickle.dumps(random_network()),
        file.read_bytes(),
        b"\x89PNG\r\n\x1a\n" + bytes(100),
        (2).to_bytes(8, "little") + b"[]",
        (4).to_bytes(8, "little") + b"null",
        bytes(8),
        (50_000).to_bytes(8, "little") + b"[" * 50_000,
        (5_001).to_bytes(8, "little") + b"1" * 5_001,
    ]
    for data in contents:
        file.write_bytes(data)
        with pytest.raises(ModelFileError, match="not a model file"):
            load(file)


@pytest.mark.parametrize("metadata", [None, {"format": "pt"}])
def test_foreign_safetensors_are_refused(tmp_path: Path, metadata: dict | None):
    save_file({"weight": np.ones(3)}, tmp_path / FILE, metadata)
    with pytest.raises(ModelFileError, match="was not written by greedynet"):
        load(tmp_path / FILE)


@pytest.mark.parametrize("length", [2**63, 2**64 - 1, 2**40, 10**6])
def test_absurd_header_length_is_refused(file: Path, length: int):
    file.write_bytes(length.to_bytes(8, "little") + file.read_bytes()[8:])
    with pytest.raises(ModelFileError, match=f"its header alone has {length}"):
        load(file)


def test_header_as_large_as_the_memory_is_refused(file: Path):
    with open(file, "wb") as sparse:
        sparse.write((2**32).to_bytes(8, "little"))
        sparse.truncate(2**33)
    with pytest.raises(ModelFileError, match="its header alone has 4294967296"):
        load(file)


def set_in(header: dict, *place: str, value: object) -> None:
    for name in place[:-1]:
        header = header[name]
    header[place[-1]] = value


@pytest.mark.parametrize(
    ("place", "value"),
    [
        (("shape",), [2**40, 2**40]),
        (("shape",), [2**62]),
        (("shape",), [0, 2**62]),
        (("shape",), [10**30]),
        (("shape",), [-2]),
        (("shape",), "2"),
        (("data_offsets",), [0, 2**60]),
        (("data_offsets",), [2**60, 2**60 + 16]),
        (("dtype",), "F128"),
        (("dtype",), "BF16"),
        (("dtype",), "F32"),
    ],
)
def test_absurd_array_is_refused(file: Path, place: tuple, value: object):
    forge(file, lambda header: set_in(header, "biases", *place, value=value))
    with pytest.raises(ModelFileError, match="do not match its header"):
        load(file)


@pytest.mark.parametrize("version", ["0", "2", "one"])
def test_another_format_is_refused(file: Path, version: str):
    forge(file, lambda header: header["__metadata__"].update(format_version=version))
    with pytest.raises(ModelFileError, match=f"format version {version}.*reads version 1"):
        load(file)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda h: h["__metadata__"].pop("format_version"), "no format version"),
        (lambda h: h["__metadata__"].update(format_version=1), "metadata must be text"),
        (lambda h: h.update(__metadata__=[]), "was not written by greedynet"),
        (lambda h: h["__metadata__"].update(kind="GreedyNetOracle"), "none of .*'network'"),
        (lambda h: h["__metadata__"].update(kind="GreedyNetRegressor"), "does not describe a Gr"),
        (lambda h: h["__metadata__"].update(model="{"), "do not match its header"),
        (lambda h: h["__metadata__"].update(model="[" * 9_000), "do not match its header"),
        (lambda h: h["__metadata__"].pop("model"), "do not match its header"),
        (lambda h: h.pop("biases"), "do not match its header"),
        (in_model(lambda tree: tree.pop("biases")), "does not describe a network"),
        (
            in_model(lambda tree: tree.update(biases={"array": "weights"})),
            "do not match its header",
        ),
        (in_model(lambda tree: tree.update(biases=[1.0])), "`biases` must have the shape"),
        (in_model(lambda tree: tree.update(biases=["a", "b"])), "does not describe a network"),
        (in_model(lambda tree: tree.update(colour="red")), "does not describe a network"),
        (in_model(lambda tree: tree.update(activation="os.system")), "must be one of"),
        (in_model(lambda tree: tree.update(feature_names=["a"])), "`feature_names` must have one"),
    ],
)
def test_forged_file_is_refused(file: Path, change: Callable[[dict], None], message: str):
    forge(file, change)
    with pytest.raises(ModelFileError, match=message):
        load(file)


def test_digest_of_surrogates_is_refused(file: Path):
    forge(file, lambda header: None)
    data = file.read_bytes()
    digest = safe_digest(data)
    file.write_bytes(data.replace(digest, rb"\ud800" * 10 + b"0000", 1))
    with pytest.raises(ModelFileError, match="do not match its checksum"):
        load(file)


def safe_digest(data: bytes) -> bytes:
    start = 8 + int.from_bytes(data[:8], "little")
    return json.loads(data[8:start])["__metadata__"]["sha256"].encode()


@pytest.mark.parametrize(
    "forged",
    [
        {"n_features": 4},
        {"n_features": -1},
        {"n_features": "3"},
        {"n_features": 2.0},
        {"n_features": 10**12},
        {"n_features": 10**400},
        {"knots": np.zeros(9)},
        {"knots": np.full(9, np.nan)},
        {"features": np.full(9, 7)},
        {"features": np.zeros(2, dtype=int)},
        {"features": None},
        {"more": 1},
    ],
)
def test_forged_ramps_are_refused(forged: dict, tmp_path: Path):
    state, file = random_deep_network().state(), tmp_path / "network.safetensors"
    write_state(file, state)
    assert_same(load(file), random_deep_network())
    write_state(file, state | {"ramps": state["ramps"] | forged})
    with pytest.raises(ModelFileError, match="network"):
        load(file)


@pytest.mark.parametrize(
    ("field", "value", "message"),
    [
        ("feature_names", ("a",), "`feature_names` must have one name for each of the 3 inputs"),
        ("input_range", np.ones((2, 4)), r"`input_range` must have the shape \(2, 3\)"),
    ],
)
def test_bad_fields_are_named(field: str, value: object, message: str):
    assert field in {f.name for f in fields(Network)}
    with pytest.raises(ValueError, match=message):
        replace(random_network(), **{field: value})
