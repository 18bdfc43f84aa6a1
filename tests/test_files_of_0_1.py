"""Files that greedynet 0.1.0 wrote: models are loaded, fits that were interrupted go on or not.

Those with a dictionary go on; those whose neurons refer to the columns as given are refused.

`data/0.1` holds saved models with inputs and predictions, and checkpoints of fits that were cut off
at some moment, with their data, their parameters and what they came to when nobody cut them off.

The last bit counts on a machine that computes as the one that wrote the files; on others a product
of matrices differs, and a fit enlarges that.
"""

import json
import shutil
from contextlib import nullcontext
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path

import numpy as np
import pytest

import greedynet
from greedynet import GreedyNetClassifier, GreedyNetRegressor, ShallowNetwork, TableModel, load
from greedynet.losses import Fit
from greedynet.support.errors import NotCorrectedWarning

DATA = Path(__file__).parent / "data" / "0.1"
CHECKPOINTS = json.loads((DATA / "checkpoints.json").read_text())
KINDS = {kind.__name__: kind for kind in (GreedyNetRegressor, GreedyNetClassifier)}
MODELS = {
    "regressor": GreedyNetRegressor,
    "named": GreedyNetRegressor,
    "multi_output": GreedyNetRegressor,
    "huber": GreedyNetRegressor,
    "objects": GreedyNetRegressor,
    "dictionary": GreedyNetRegressor,
    "refined": GreedyNetRegressor,
    "classifier": GreedyNetClassifier,
    "weighted_classes": GreedyNetClassifier,
}


class Bent:
    """An activation of a user's own."""

    name, degree = "bent", 1

    def value(self, z):
        return np.maximum(z, 0.2 * z)

    def slope(self, z):
        return np.where(z > 0, 1.0, 0.2)


@dataclass(frozen=True)
class Expectile:
    """A loss of a user's own.

    It does not say how it weights rows (`row_weights` would): its networks stay as grown.
    """

    share: float
    name: str = "expectile"
    arguments: dict = field(default_factory=dict)

    def _counting(self, residuals, weights):
        sides = np.where(residuals > 0, self.share, 1 - self.share)
        return sides if weights is None else sides * weights[:, None]

    def size(self, residuals, weights):
        return float(np.sqrt(np.sum(self._counting(residuals, weights) * residuals**2)))

    def fit(self, columns, Y, weights, start=None):
        found, residuals = np.zeros((columns.shape[1], Y.shape[1])), Y
        for _ in range(50):
            v = self._counting(residuals, weights)
            for j, root in enumerate(np.sqrt(v).T):
                found[:, j] = np.linalg.lstsq(root[:, None] * columns, root * Y[:, j])[0]
            residuals = Y - columns @ found
        return Fit(found, residuals, v * residuals / (self.size(residuals, weights) or 1.0))


class Blocks:
    """Rows in three blocks."""

    def __init__(self, X, y):
        self.X, self.y = X, y

    def __iter__(self):
        for part in (slice(0, 5_000), slice(5_000, 5_001), slice(5_001, None)):
            yield self.X[part], self.y[part]


def arrays(name):
    with np.load(DATA / f"{name}.npz") as stored:
        return dict(stored)


def computed_here():
    """Products, solutions and exponentials, which differ from machine to machine."""
    A = np.random.default_rng(0).standard_normal((60, 7))
    solved = np.linalg.lstsq(A, A @ A.T @ A)[0]
    return np.concatenate([np.ravel(part) for part in (A.T @ A, solved, np.exp(A), np.tanh(A))])


@cache
def same_machine():
    return np.array_equal(computed_here(), arrays("machine")["computed"])


def assert_same(found, wanted):
    if same_machine() or wanted.dtype.kind != "f":
        np.testing.assert_array_equal(found, wanted)
    else:
        np.testing.assert_allclose(found, wanted, rtol=1e-9, atol=1e-9 * np.abs(wanted).max())
    assert found.dtype == wanted.dtype


# Models


@pytest.mark.parametrize("name", MODELS)
def test_a_model_predicts_what_it_did(name):
    model, stored = load(DATA / f"{name}.safetensors"), arrays(name)
    assert type(model) is MODELS[name]
    # Columns with names would have to come with them.
    predicting = model.network_ if name == "named" else model
    assert_same(predicting.predict(stored["X"]), stored["predictions"])
    if isinstance(model, GreedyNetClassifier):
        assert_same(model.predict_proba(stored["X"]), stored["probabilities"])
        np.testing.assert_array_equal(model.classes_, stored["classes"])


@pytest.mark.parametrize("name", MODELS)
def test_a_model_knows_how_it_grew(name):
    model, stored = load(DATA / f"{name}.safetensors"), arrays(name)
    assert model.stop_reason_.name == stored["stop"]
    assert model.n_nodes_ == stored["n_nodes"]
    np.testing.assert_array_equal(model.path_.training_errors, stored["training_errors"])
    width = int(model.path_.n_nodes[len(model.path_) // 2])
    assert_same(model.path_.network.truncate(width).predict(stored["X"]), stored["truncated"])


def test_parameters_that_are_objects():
    model = load(DATA / "objects.safetensors")
    assert (model.activation.name, model.loss.name, model.loss.p) == ("tanh", "power", 1.5)
    assert load(DATA / "weighted_classes.safetensors").class_weight == {"low": 3.0, "top": 0.5}
    assert load(DATA / "dictionary.safetensors").points.shape == (40, 4)
    assert len(load(DATA / "refined.safetensors").training_.loss_history) == 11
    names = load(DATA / "named.safetensors").feature_names_in_
    assert names.tolist() == ["size", "age", "distance"]


def test_a_network():
    network, stored = load(DATA / "network.safetensors"), arrays("network")
    assert type(network) is ShallowNetwork
    assert_same(network.predict(stored["X"]), stored["predictions"])
    assert network.describe() == str(stored["describe"]).replace("1 outputs", "1 output")


@pytest.mark.parametrize("name", ["table", "table_of_classes"])
def test_a_table_model_predicts_what_it_did(name):
    model, stored = load(DATA / f"{name}.safetensors"), arrays(name)
    assert type(model) is TableModel
    assert_same(model.predict(DATA / "table.csv"), stored["predictions"])
    assert model.columns.features == tuple(stored["features"])
    if model.classes is not None:
        assert_same(model.predict_proba(DATA / "table.csv"), stored["probabilities"])


def test_an_earlier_model_knows_its_columns_but_no_intervals():
    model = load(DATA / "regressor.safetensors")
    X = arrays("regressor")["X"]
    assert not model.outside(X[:1] * 0 + model.network_.input_range.mean(axis=0)).rows.any()
    with pytest.raises(ValueError, match="saved by an earlier version of greedynet: fit it again"):
        model.predict_interval(X)
    with pytest.raises(ValueError, match="saved by an earlier version of greedynet: fit it again"):
        load(DATA / "classifier.safetensors").predict_set(arrays("classifier")["X"])


# Fits that were interrupted


def estimator(name, **more):
    told = CHECKPOINTS[name]
    own = {"bent": Bent(), "expectile": Expectile(0.8)}
    parameters = {key: own.get(value, value) for key, value in told["parameters"].items()}
    return KINDS[told["estimator"]](**parameters, **more)


def data_of(name):
    """Inputs and outputs; very many rows are drawn anew, without a function that could differ."""
    if CHECKPOINTS[name]["target"] == "many":
        X = np.random.default_rng(7).integers(-1024, 1024, (17_000, 2)) / 1024
        return X, np.abs(X[:, 0]) + X[:, 0] * X[:, 1]
    stored = arrays("checkpoints")
    return stored["X"], stored[CHECKPOINTS[name]["target"]]


def fitted(name, checkpoint=None, rows=slice(None)):
    X, y = (values[rows] for values in data_of(name))
    source = (Blocks(X, y), None) if CHECKPOINTS[name].get("in_blocks") else (X, y)
    model = estimator(name, checkpoint=checkpoint)
    as_grown = pytest.warns(NotCorrectedWarning, match="is kept as grown")
    with as_grown if name == "own_loss" else nullcontext():
        return model.fit(*source)


def outputs(name, model):
    return model.network_.predict(data_of(name)[0][:40])


# A checkpoint is for the version that wrote it: another one refuses it.
same_version = pytest.mark.skipif(
    greedynet.__version__ != "0.1.0", reason="checkpoints go with the version that wrote them"
)


@pytest.fixture
def file(name, tmp_path):
    """A copy of a checkpoint: it is gone when the fit has ended."""
    return shutil.copy(DATA / f"{name}.checkpoint", tmp_path / "fit.checkpoint")


# Classifiers choose in another way since: what these files know is of no use to them.
OF_CLASSES = [n for n, told in CHECKPOINTS.items() if "Classifier" in told["estimator"]]
RESUMED = [name for name in CHECKPOINTS if name not in OF_CLASSES]


@same_version
@pytest.mark.parametrize("name", ["dictionary"])
def test_an_interrupted_fit_goes_on(name, file):
    model = fitted(name, file)
    assert not file.exists()
    if same_machine():
        assert model.n_nodes_ == CHECKPOINTS[name]["n_nodes"]
        wanted = arrays("checkpoints")[f"{name} outputs"]
        np.testing.assert_array_equal(outputs(name, model), wanted)


@same_version
@pytest.mark.parametrize("name", [name for name in CHECKPOINTS if name != "dictionary"])
def test_neurons_in_the_columns_as_given_are_refused(name, file):
    """Their points would be taken for points in canonical columns."""
    with pytest.raises(ValueError, match="its neurons refer to the columns as given"):
        fitted(name, file)
    assert file.exists()


@same_version
@pytest.mark.parametrize("name", CHECKPOINTS)
def test_a_file_of_another_fit_is_refused(name, file):
    with pytest.raises(ValueError, match="`checkpoint` must name the checkpoint of this fit"):
        fitted(name, file, rows=slice(1, None))
    assert file.exists()
