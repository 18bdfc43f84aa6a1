"""PyTorch: modules out of networks, starts for layers, networks out of modules."""

import io
from itertools import product
from typing import Any

import numpy as np
import pytest

from classifiers import classifier, rows
from extras import need
from greedynet import Network
from greedynet.activations import ACTIVATIONS
from greedynet.export import fold_affine, from_torch, to_torch
from networks import (
    CLOSE,
    DEEP_KINDS,
    DTYPES,
    FEW_KINDS,
    KINDS,
    STEEP,
    assert_close,
    assert_same,
    fitted,
    fitted_deep,
    folds,
    inputs,
    kind,
    random_deep_network,
    random_network,
    steep,
)
from problems import SEARCHES

torch = need("torch")

SCALINGS = ("layer", "folded")
UNFOLDED = ("abs", "relu2", "relu3", "tanh", "sigmoid", "sin", "gaussian")


def outputs(module: Any, X: np.ndarray, dtype: str) -> np.ndarray:
    with torch.no_grad():
        return module(torch.from_numpy(X.astype(dtype))).numpy()


# Out


@pytest.mark.parametrize("name", FEW_KINDS)
def test_module_is_made_of_layers(name: str):
    network = kind(name)
    for fold, scaling in product({folds(network), False}, SCALINGS):
        module = to_torch(network, fold_affine=fold, scaling=scaling)
        if fold or network.linear_weights is None:
            assert type(module) is torch.nn.Sequential
            *scaled, first, middle, last = (type(layer).__name__ for layer in module)
            assert scaled == ["ScalingLayer"] * (scaling == "layer") + ["BoundsLayer"]
            assert (first, last) == ("Linear", "Linear")
            name = network.activation.name
            assert middle == "ActivationLayer" or middle.lower() == name.replace("_", "")
            assert getattr(module[-2], "name", name) == name
        assert all(p.requires_grad and p.is_contiguous() for p in module.parameters())


@pytest.mark.parametrize("activation", STEEP)
def test_activations_are_read_back(activation: str):
    network = steep(activation)
    assert from_torch(to_torch(network, dtype="float64")).activation == network.activation


# Torch's own softplus is a straight line from 20 on, which is 2e-9 too low there.
def test_softplus_has_all_its_digits():
    network = Network(
        np.ones((1, 1)), np.zeros(1), np.ones((1, 1)), activation=ACTIVATIONS["softplus"]
    )
    X = np.linspace(15, 50, 351)[:, None]
    got = outputs(to_torch(network, dtype="float64"), X, "float64")
    np.testing.assert_allclose(got[:, 0], network.predict(X), rtol=1e-15)


@pytest.mark.parametrize("activation", UNFOLDED)
def test_affine_term_that_cannot_become_neurons(activation: str):
    network = random_network(activation=activation)
    with pytest.raises(ValueError, match=r"`fold_affine` must be False for .* Write `fold_affine="):
        to_torch(network)


def test_types_of_torch_are_understood():
    assert to_torch(random_network(), dtype=torch.float64)[2].weight.dtype == torch.float64
    assert to_torch(random_network())[2].weight.dtype == torch.float32


def test_random_numbers_stay_as_they_are():
    before = torch.get_rng_state()
    to_torch(random_network())
    assert torch.equal(torch.get_rng_state(), before)


def test_module_shares_no_memory_with_the_network():
    network = random_network(affine=False)
    before = network.biases.copy()
    module = to_torch(network, dtype="float64")
    with torch.no_grad():
        for parameter in module.parameters():
            parameter.zero_()
    np.testing.assert_array_equal(network.biases, before)


def test_module_with_a_skip_can_be_saved_whole():
    module = to_torch(random_network(), fold_affine=False)
    file = io.BytesIO()
    torch.save(module, file)
    file.seek(0)
    again = torch.load(file, weights_only=False)
    x = torch.ones(2, 3)
    assert torch.equal(again(x), module(x))


# Back


@pytest.mark.parametrize("name", KINDS)
def test_round_trip_is_exact_in_float64(name: str):
    network = kind(name)
    module = to_torch(network, dtype="float64", fold_affine=False, scaling="folded")
    again = from_torch(module, like=network)
    if network.intercept is None:
        np.testing.assert_array_equal(again.intercept, 0.0)
    for field in ("inner_weights", "biases", "outer_weights", "linear_weights"):
        assert_same(getattr(again, field), getattr(network, field))
    assert again.feature_names == network.feature_names
    assert_same(again.input_range, network.input_range)
    assert again.single_output == network.single_output
    assert again.activation == network.activation


def test_folded_round_trip_is_the_folded_network():
    network = random_network(4, 2)
    again = from_torch(to_torch(network, dtype="float64", scaling="folded"))
    assert_same(again.inner_weights, fold_affine(network).inner_weights)
    X = inputs(network)
    np.testing.assert_allclose(again.predict(X), network.predict(X), rtol=1e-12)


def test_float32_round_trip_rounds_once():
    network = random_network(affine=False)
    again = from_torch(to_torch(network, scaling="folded"))
    np.testing.assert_array_equal(again.biases, network.biases.astype("float32"))


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("n_outputs", [1, 3])
@pytest.mark.parametrize("search", SEARCHES)
def test_trained_module_is_read_back(dtype: str, n_outputs: int, search: str):
    model = fitted(search, n_outputs=n_outputs)
    module = to_torch(model, dtype=dtype)
    X = inputs(model.network_, 200)
    x = torch.from_numpy(X.astype(dtype))
    y = torch.from_numpy(np.sin(X[:, :1] * np.arange(1, n_outputs + 1)).astype(dtype))
    optimizer = torch.optim.Adam(module.parameters(), lr=1e-3)
    losses = []
    for _ in range(50):
        optimizer.zero_grad()
        loss = torch.nn.functional.mse_loss(module(x), y)
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    assert losses[-1] < losses[0]
    trained = from_torch(module, like=model)
    wanted = outputs(module, X, dtype)
    got = trained.predict(X.astype(dtype)).reshape(wanted.shape)
    assert np.abs(got - wanted).max() < CLOSE[dtype] * np.abs(wanted).max()
    assert np.abs(got - model.predict(X).reshape(got.shape)).max() > 1e-3  # it did learn


def test_layers_without_bias_are_read():
    layers = [torch.nn.Linear(2, 3, bias=False), torch.nn.ReLU(), torch.nn.Linear(3, 1, bias=False)]
    network = from_torch(torch.nn.Sequential(*layers))
    assert network.intercept is None
    np.testing.assert_array_equal(network.biases, 0.0)


@pytest.mark.parametrize(
    "module",
    [
        torch.nn.Linear(2, 1),
        torch.nn.Sequential(torch.nn.Linear(2, 3), torch.nn.ELU(), torch.nn.Linear(3, 1)),
        torch.nn.Sequential(torch.nn.Linear(2, 3), torch.nn.GELU("tanh"), torch.nn.Linear(3, 1)),
        torch.nn.Sequential(torch.nn.Linear(2, 3), torch.nn.Softplus(2), torch.nn.Linear(3, 1)),
        torch.nn.Sequential(torch.nn.Linear(2, 3), torch.nn.Linear(3, 1)),
        torch.nn.Sequential(),
        [torch.nn.Linear(2, 3), torch.nn.ReLU(), torch.nn.Linear(3, 1)],
        "model.pt",
    ],
    ids=lambda module: type(module).__name__,
)
def test_other_modules_are_refused(module: object):
    with pytest.raises(TypeError, match=r"`module` must be nn.Sequential\(Linear, activation, "):
        from_torch(module)


def test_half_precision_is_refused():
    module = to_torch(random_network()).to(torch.bfloat16)
    with pytest.raises(ValueError, match=r"`dtype` of `from_torch` must be"):
        from_torch(module)


# The losses of trainings are the log-loss of the classifier's probabilities.
@pytest.mark.parametrize("n_classes", [2, 5])
def test_module_of_a_classifier_gives_logits(n_classes: int):
    model = classifier(n_classes)
    X = rows(100, seed=1)
    index = np.random.default_rng(2).integers(n_classes, size=len(X))
    wanted = -model.predict_log_proba(X)[np.arange(len(X)), index].mean()
    module = to_torch(model, dtype="float64")
    logits, target = module(torch.from_numpy(X)), torch.from_numpy(index)
    if n_classes == 2:
        loss = torch.nn.functional.binary_cross_entropy_with_logits(logits[:, 0], target.double())
    else:
        loss = torch.nn.functional.cross_entropy(logits, target)
    assert loss.item() == pytest.approx(wanted, rel=1e-10)
    again = from_torch(module, like=model)
    np.testing.assert_allclose(
        again.decision_function(X), model.decision_function(X), rtol=1e-9, atol=1e-9
    )
    np.testing.assert_array_equal(again.predict(X), model.predict(X))


# Two hidden layers


@pytest.mark.parametrize(("dtype", "scaling"), [*product(DTYPES, SCALINGS)])
@pytest.mark.parametrize("name", DEEP_KINDS)
def test_two_layers_go_out_and_come_back(name: str, dtype: str, scaling: str):
    network = kind(name)
    X = inputs(network)
    for fold in {folds(network), False}:
        module = to_torch(network, dtype=dtype, fold_affine=fold, scaling=scaling)
        assert_close(outputs(module, X, dtype), network, X, dtype)
        second = "Linear" if fold or not network.has_affine_term else "SkipNetwork"
        layers = ["ScalingLayer"] * (scaling == "layer") + ["BoundsLayer", "RampLayer", second]
        assert [type(layer).__name__ for layer in module][: len(layers)] == layers
        again = from_torch(module, like=network)
        assert_same(again.ramps, network.ramps)
        assert_same(again.input_range, network.input_range)
        assert again.feature_names == network.feature_names
        assert again.single_output == network.single_output
        rounded = from_torch(module)
        np.testing.assert_allclose(rounded.ramps.knots, network.ramps.knots, rtol=1e-7)
        for found in (again, rounded):
            y = found.predict(X.astype(dtype)).reshape(len(X), -1)
            assert_close(y.astype(dtype), network, X, dtype)


def test_round_trip_of_two_layers_is_exact_in_float64():
    network = fitted_deep(2).network_
    for like in (network, None):
        module = to_torch(network, dtype="float64", fold_affine=False, scaling="folded")
        again = from_torch(module, like=like)
        np.testing.assert_allclose(again.ramps.knots, network.ramps.knots, rtol=1e-15)
        for field in ("inner_weights", "biases", "outer_weights", "linear_weights", "intercept"):
            assert_same(getattr(again, field), getattr(network, field))


def test_training_moves_the_second_layer_and_no_knots():
    network = random_deep_network(8)
    module = to_torch(network)
    before = {name: value.clone() for name, value in module.state_dict().items()}
    x = torch.from_numpy(inputs(network, 200).astype("float32"))
    optimizer = torch.optim.Adam(module.parameters(), lr=1e-2)
    losses = []
    for _ in range(50):
        optimizer.zero_grad()
        loss = torch.nn.functional.mse_loss(module(x), torch.sin(x[:, :1]))
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    assert losses[-1] < 0.5 * losses[0]
    for name, value in module.state_dict().items():
        assert torch.equal(value, before[name]) == name.startswith(("0.", "1.", "2."))
    again = from_torch(module, like=network)
    assert_same(again.ramps, network.ramps)
    X = x.numpy()
    assert_close(outputs(module, X, "float32"), again, X, "float32")


def test_module_of_two_layers_moves_between_precisions():
    network = random_deep_network()
    module = to_torch(network, dtype="float64").float()
    X = inputs(network)
    assert_close(outputs(module, X, "float32"), network, X, "float32")
