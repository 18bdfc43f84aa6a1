"""What all exporters share: what they take, the affine term as neurons, the check of agreement."""

import inspect
import re
import subprocess
import sys
import tomllib
from collections.abc import Callable
from contextlib import nullcontext
from copy import copy
from dataclasses import replace
from functools import partial
from importlib import import_module
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from sklearn.exceptions import NotFittedError
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import greedynet.export
from classifiers import classifier, with_logits
from extras import need
from greedynet import GreedyNetClassifier, GreedyNetRegressor, ModelFileError, Network
from greedynet.activations import ACTIVATIONS, ReLU
from greedynet.export import (
    DisagreementError,
    fold_affine,
    from_torch,
    to_c,
)
from greedynet.export.agreement import (
    check_agreement,
    check_class_agreement,
    sample_inputs,
)
from greedynet.export.registry import EXPORTERS, FILE_EXPORTERS, Exporter
from greedynet.export.scaling import InputLayer
from greedynet.model.ramps import RampTable
from greedynet.support.files import require
from networks import (
    DEEP_KINDS,
    DTYPES,
    FEW_KINDS_AND_DTYPES,
    STEEP,
    Ramps,
    fitted,
    fitted_deep,
    folds,
    impostor,
    inputs,
    kind,
    random_deep_network,
    random_network,
    steep,
)
from pages import ROOT
from problems import with_gaps

# They take long, and vary what other tests check once.
pytestmark = pytest.mark.slow

Export = Callable[..., Any]


def need_libraries(exporter: Exporter) -> None:
    for library in exporter.libraries:
        need(library)


def export_of(exporter: Exporter) -> Export:
    """Return the exporter's function as one of a model and a folder, for those that write files."""

    def export(model: Any, folder: Path, **options: Any) -> None:
        need_libraries(exporter)
        function = getattr(greedynet.export, exporter.function)
        path = (folder / f"model{exporter.suffix}",) if "path" in parameters(function) else ()
        double = options.get("dtype") == "float64"
        options = {name: value for name, value in options.items() if name in parameters(function)}
        with need("jax").enable_x64(True) if double else nullcontext():
            function(model, *path, **options)

    return export


def parameters(function: Callable[..., Any]) -> set[str]:
    return set(inspect.signature(function).parameters)


EXPORTS = {exporter.name: export_of(exporter) for exporter in EXPORTERS}


def attribute(place: str) -> Any:
    module, name = place.rsplit(".", 1)
    return getattr(import_module(module), name)


def replace_in_home(
    exporter: Exporter, name: str, made: Callable[[Any], Any], patch: pytest.MonkeyPatch
) -> None:
    """Put `made(function)` in the place of a function, in all modules of an exporter's home."""
    home = exporter.module().__name__
    modules = [key for key in sys.modules if key == home or key.startswith(f"{home}.")]
    holders = [key for key in modules if hasattr(sys.modules[key], name)]
    assert holders, f"{home} does not use {name}"
    for key in holders:
        patch.setattr(f"{key}.{name}", made(getattr(sys.modules[key], name)))


every_export = pytest.mark.parametrize("export", EXPORTS.values(), ids=EXPORTS)
every_exporter = pytest.mark.parametrize("exporter", EXPORTERS, ids=lambda e: e.name)
exporters_with_labels = pytest.mark.parametrize(
    "exporter", [e for e in EXPORTERS if e.has_labels], ids=lambda e: e.name
)


# The table


def test_every_exporter_has_names_of_its_own():
    for names in (
        [exporter.name for exporter in EXPORTERS],
        [exporter.suffix for exporter in FILE_EXPORTERS.values()],
        [name for exporter in EXPORTERS for name in (exporter.function, *exporter.more)],
    ):
        assert len(names) == len(set(names))


@every_exporter
def test_home_has_what_the_table_says(exporter: Exporter):
    home = exporter.module()
    for name in (exporter.function, *exporter.more):
        assert name in greedynet.export.__all__
        assert getattr(greedynet.export, name) is getattr(home, name)
    assert hasattr(home, "write_file") == (exporter.suffix is not None)
    assert (exporter.extra is None) == (not exporter.libraries)


def test_names_that_are_not_there_are_refused_with_those_that_are():
    with pytest.raises(AttributeError, match=r"no attribute 'to_cobol', only .*to_c, .*to_torch"):
        _ = greedynet.export.to_cobol
    assert set(greedynet.export.__all__) <= set(dir(greedynet.export))


# What they take


MODELS = {
    "continuous": fitted,
    "dictionary": partial(fitted, "dictionary"),
    "two layers": fitted_deep,
    "two classes": classifier,
    "five classes": partial(classifier, 5),
}


@every_export
@pytest.mark.parametrize("make", MODELS.values(), ids=MODELS)
def test_estimator_network_and_file_are_taken(
    tmp_path: Path, export: Export, make: Callable[[], Any]
):
    model = make()
    model.save(tmp_path / "estimator.safetensors")
    model.network_.save(tmp_path / "network.safetensors")
    for given in (
        model,
        model.network_,
        tmp_path / "estimator.safetensors",
        str(tmp_path / "network.safetensors"),
    ):
        export(given, tmp_path)


# Other languages have text and whole numbers.
@exporters_with_labels
@pytest.mark.parametrize(
    "classes",
    [
        np.array(["2020-01-01", "2021-01-01"], dtype="M8[D]"),
        np.array([1, 2**64 - 1], dtype=np.uint64),
        np.array([0.0, 1e300]),
        np.array([0.5, np.nan]),
        np.array(["a", 1], dtype=object),
    ],
    ids=lambda classes: str(classes.dtype),
)
def test_classes_that_have_no_name_elsewhere_are_refused(
    tmp_path: Path, exporter: Exporter, classes: np.ndarray
):
    model = copy(classifier())
    model.classes_ = classes
    with pytest.raises(
        TypeError, match=r"`to_\w+` must be text or 64-bit integers.*`model.network_`"
    ):
        EXPORTS[exporter.name](model, tmp_path)
    assert not list(tmp_path.iterdir())


@every_export
def test_other_things_are_refused(tmp_path: Path, export: Export):
    (tmp_path / "foreign").write_text("not a model", encoding="utf-8")
    pipeline = make_pipeline(StandardScaler(), fitted())
    for given, error, message in (
        (GreedyNetRegressor(), NotFittedError, "not fitted yet"),
        (GreedyNetClassifier(), NotFittedError, "not fitted yet"),
        (pipeline, TypeError, r"`model` of `to_\w+` must be .* got Pipeline.*`pipeline\[-1\]`"),
        (np.ones(3), TypeError, r"`model` of `to_\w+` must be a Network.* got ndarray"),
        (tmp_path / "foreign", ModelFileError, "not a model file"),
        (tmp_path / "nowhere", FileNotFoundError, "nowhere"),
    ):
        with pytest.raises(error, match=message):
            export(given, tmp_path)


@every_export
@pytest.mark.parametrize("dtype", ["float16", "int32", np.float16, float, 7])
def test_other_precisions_are_refused(tmp_path: Path, export: Export, dtype: object):
    with pytest.raises(ValueError, match=r"`dtype` of `to_\w+` must be 'float32' or 'float64'"):
        export(random_network(), tmp_path, dtype=dtype)


@every_export
def test_unknown_activation_is_refused(tmp_path: Path, export: Export):
    network = replace(random_network(), activation=ReLU(name="cube"))
    message = r"`to_\w+` has no translation for .* 'cube'.*'tanh'.*, or add yours to `(.*)`\."
    with pytest.raises(ValueError, match=message) as caught:
        export(network, tmp_path)
    table = attribute(re.search(message, str(caught.value))[1])
    assert sorted(table) == sorted(ACTIVATIONS)


class Double:
    """`2 z` for positive `z`: an activation of a user's own."""

    name, degree = "double", 1

    def value(self, z):
        return 2 * np.maximum(z, 0)

    def slope(self, z):
        return 2.0 * (z > 0)


def test_activation_of_ones_own_is_exported_once_it_is_in_the_table(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    jax, torch = need("jax"), need("torch")

    class DoubleModule(torch.nn.Module):
        def forward(self, z):
            return 2 * torch.relu(z)

    translations = {
        "torch": ("export.torch_skip.ACTIVATION_MODULES", lambda own: DoubleModule()),
        "onnx": (
            "export.onnx_model.ACTIVATION_OPERATORS",
            lambda graph, z, own: graph.add("Mul", graph.add("Relu", z), 2.0),
        ),
        "keras": (
            "export.keras_model.ACTIVATION_FUNCTIONS",
            lambda keras, own, z: keras.ops.relu(z + z),
        ),
        "jax": ("train.model.ACTIVATIONS", lambda z: 2 * jax.nn.relu(z)),
        "c": (
            "export.c_header.ACTIVATION_EXPRESSIONS",
            ("z < 0 ? 0 : 2 * z", lambda z, own: np.where(z < 0, 0, 2 * z)),
        ),
    }
    for name, (place, translation) in translations.items():
        monkeypatch.setitem(attribute(f"greedynet.{place}"), "double", translation)
        EXPORTS[name](replace(random_network(affine=False), activation=Double()), tmp_path)


@every_export
@pytest.mark.parametrize("affine", [False, True])
def test_network_without_neurons_is_exported(tmp_path: Path, export: Export, affine: bool):
    export(random_network(0, affine=affine), tmp_path)
    export(random_network(0, 2, affine=affine), tmp_path)
    export(random_deep_network(0, affine=affine), tmp_path)
    export(random_deep_network(0, 2, affine=affine), tmp_path)


# Two hidden layers


@every_export
@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("n_outputs", [1, 2])
def test_two_layers_in_units_far_from_one(
    tmp_path: Path, export: Export, n_outputs: int, dtype: str
):
    export(fitted_deep(n_outputs), tmp_path, dtype=dtype)


@every_exporter
@pytest.mark.parametrize("part", ["starts", "widths"])
def test_wrong_ramp_is_refused(
    tmp_path: Path, exporter: Exporter, part: str, monkeypatch: pytest.MonkeyPatch
):
    def one_sign_wrong(right: Callable[..., RampTable]) -> Callable[..., RampTable]:
        def wrong(*given: Any) -> RampTable:
            table = right(*given)
            getattr(table, part)[0] *= -1
            return table

        return wrong

    need_libraries(exporter)
    replace_in_home(exporter, "rounded_ramps", one_sign_wrong, monkeypatch)
    with pytest.raises(DisagreementError, match=r"`to_\w+` made a model that differs"):
        EXPORTS[exporter.name](random_deep_network(4, 2), tmp_path)
    assert not list(tmp_path.iterdir())


@every_export
@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("scale", [1e-60, 1e60])
def test_knots_beyond_float32_are_refused(tmp_path: Path, export: Export, scale: float):
    network = random_deep_network(affine=False)
    ramps = Ramps(3, network.ramps.features, scale * network.ramps.knots)
    network = replace(network, ramps=ramps, input_range=None)
    message = r"knots of the network must be finite and different in float32, .*float64"
    with pytest.raises(ValueError, match=message):
        export(network, tmp_path, dtype="float32")


# A step of one part in a billion: float32 has one number for both of its ends.
@every_export
def test_knots_that_float32_cannot_tell_apart_are_a_step(tmp_path: Path, export: Export):
    network = random_deep_network()
    knots = np.where(network.ramps.knots == 5.501, 5.5 * (1 + 1e-9), network.ramps.knots)
    export(replace(network, ramps=Ramps(3, network.ramps.features, knots)), tmp_path)


@pytest.mark.parametrize("n_neurons", [0, 5])
def test_affine_term_is_folded_into_the_second_layer(n_neurons: int):
    network = random_deep_network(n_neurons, 2)
    folded = fold_affine(network)
    assert not folded.has_affine_term
    assert folded.n_neurons == n_neurons + 4
    X = inputs(network)
    np.testing.assert_allclose(folded.predict(X), network.predict(X), rtol=1e-12, atol=1e-11)
    assert fold_affine(folded) is folded
    with pytest.raises(ValueError, match=r"Write `fold_affine=False`"):
        fold_affine(random_deep_network(n_neurons, activation="tanh"))


# The check of agreement


def with_one_sign_wrong(weight: str, index: int) -> Callable[[Export], Export]:
    """Return what makes `rounded_weights` round one of them to its opposite."""

    def made(right: Export) -> Export:
        def one_sign_wrong(*arguments: Any) -> dict[str, np.ndarray]:
            weights = right(*arguments)
            weights[weight].flat[index] *= -1
            return weights

        return one_sign_wrong

    return made


@every_exporter
@pytest.mark.parametrize("weight", ["inner_weights", "biases", "outer_weights", "intercept"])
def test_disagreement_is_refused(
    tmp_path: Path, exporter: Exporter, weight: str, monkeypatch: pytest.MonkeyPatch
):
    need_libraries(exporter)
    replace_in_home(exporter, "rounded_weights", with_one_sign_wrong(weight, 0), monkeypatch)
    with pytest.raises(DisagreementError, match=r"`to_\w+` made a model that differs"):
        EXPORTS[exporter.name](random_network(4, 2), tmp_path)
    assert not list(tmp_path.iterdir())


@every_export
def test_impostor_of_an_activation_is_refused(tmp_path: Path, export: Export):
    network = impostor(random_network(affine=False))
    with pytest.raises(DisagreementError, match="differs from `predict`"):
        export(network, tmp_path)
    assert not list(tmp_path.iterdir())


# float32 has seven digits: of a wave of thousands of turns there is nothing left.
@every_export
def test_fast_wave_is_refused_in_float32(tmp_path: Path, export: Export):
    with pytest.raises(DisagreementError, match=r"oscillating activation: write dtype='float64'"):
        export(steep("sin"), tmp_path, dtype="float32")


# An exporter checks what it has made: that these are made is that they are the network.
@every_export
@pytest.mark.parametrize(("name", "dtype"), [*FEW_KINDS_AND_DTYPES, *product(DEEP_KINDS, DTYPES)])
def test_every_kind_of_network_is_exported(tmp_path: Path, export: Export, name: str, dtype: str):
    network = kind(name)
    for fold in {folds(network), False}:
        export(network, tmp_path, dtype=dtype, fold_affine=fold)


@every_export
@pytest.mark.parametrize(
    ("name", "dtype"), [pair for pair in product(STEEP, DTYPES) if pair != ("sin", "float32")]
)
def test_large_arguments_are_computed(tmp_path: Path, export: Export, name: str, dtype: str):
    export(steep(name), tmp_path, dtype=dtype)


# A ridge so far away that float32 has no number for it but zero.
@every_export
def test_what_float32_cannot_hold_is_zero(tmp_path: Path, export: Export):
    network = random_network(1, affine=False, activation="gaussian")
    network = replace(network, biases=network.biases + 15)
    assert 0 < np.abs(network.predict(sample_inputs(network))).max() < 1e-38
    export(network, tmp_path, dtype="float32")


@every_export
def test_lost_digits_are_refused_in_float32(tmp_path: Path, export: Export):
    # Two neurons that differ by 1e-6 and cancel: their difference is below float32's digits.
    network = Network(
        np.array([[1.0], [1.0]]), np.array([1.0, 1.0 + 1e-6]), np.array([[-1e6], [1e6]])
    )
    with pytest.raises(DisagreementError, match=r"write dtype='float64'"):
        export(network, tmp_path, dtype="float32")


@every_export
def test_float64_is_not_blamed_for_cancelling_terms(tmp_path: Path, export: Export):
    network = Network(
        np.array([[1.0], [1.0]]), np.array([1.0, 1.0 + 1e-9]), np.array([[-1e9], [1e9]])
    )
    export(network, tmp_path, dtype="float64")


# Small differences of numbers near 1, such as the 1 + erf of which torch makes GELU.
@every_export
@pytest.mark.parametrize("name", ["sigmoid", "gelu", "softplus"])
def test_float64_is_not_blamed_for_tails(tmp_path: Path, export: Export, name: str):
    network = Network(
        np.ones((1, 1)), np.array([-7.0]), np.ones((1, 1)), activation=ACTIVATIONS[name]
    )
    export(network, tmp_path, dtype="float64")


@every_export
@pytest.mark.filterwarnings("error")
def test_weights_beyond_float32_are_refused(tmp_path: Path, export: Export):
    network = Network(np.ones((1, 1)), np.zeros(1), np.array([[1e200]]))
    with pytest.raises(ValueError, match=r"`outer_weights` .* must be finite in float32.*1e\+200"):
        export(network, tmp_path, dtype="float32")


def test_inputs_beyond_float32_are_refused():
    network = Network(
        np.full((1, 1), 1e-200), np.zeros(1), np.ones((1, 1)), input_range=[[0.0], [1e200]]
    )
    with pytest.raises(ValueError, match=r"`dtype` of `f` must be able to represent the inputs"):
        check_agreement(network, network.predict, dtype="float32", caller="f")
    check_agreement(network, network.predict, dtype="float64", caller="f")


def test_nan_and_missing_outputs_disagree():
    network = random_network(4, 2)
    with pytest.raises(DisagreementError, match="differs from `predict` by nan"):
        check_agreement(network, lambda X: network.predict(X) * np.nan, dtype="float64", caller="f")
    with pytest.raises(DisagreementError, match="1 outputs of a network with 2"):
        check_agreement(network, lambda X: network.predict(X)[:, 0], dtype="float64", caller="f")


def test_each_output_is_judged_by_its_own_size():
    network = random_network(4, 2)
    small = replace(
        network,
        outer_weights=network.outer_weights * [1.0, 1e-9],
        linear_weights=network.linear_weights * [1.0, 1e-9],
        intercept=network.intercept * [1.0, 1e-9],
    )

    def wrong(X: np.ndarray) -> np.ndarray:
        return small.predict(X) + np.array([0.0, 1e-12])

    with pytest.raises(DisagreementError, match="differs from `predict`"):
        check_agreement(small, wrong, dtype="float32", caller="f")


@pytest.mark.parametrize(("dtype", "share"), [("float32", 1e-4), ("float64", 1e-12)])
def test_tolerance_is_what_it_says(dtype: str, share: float):
    network = random_network()
    size = np.abs(network.predict(sample_inputs(network))).max()

    def off_by(error: float) -> Callable[[np.ndarray], np.ndarray]:
        return lambda X: network.predict(X) + error * size

    check_agreement(network, off_by(0.5 * share), dtype=dtype, caller="f")
    with pytest.raises(DisagreementError, match=f"fraction {share:g} allowed"):
        check_agreement(network, off_by(2 * share), dtype=dtype, caller="f")


def right_answers(model: GreedyNetClassifier) -> Callable[[np.ndarray], list[np.ndarray]]:
    return lambda X: [model.predict(X).astype(object), model.predict_proba(X)]


def check_classes(model: GreedyNetClassifier, exported: Callable, dtype: str = "float64") -> None:
    check_class_agreement(model.network_, model.classes_, exported, dtype=dtype, caller="f")


@pytest.mark.parametrize("n_classes", [2, 5])
def test_labels_and_probabilities_must_agree(n_classes: int):
    model = classifier(n_classes)
    right = right_answers(model)
    check_classes(model, right)

    def one_label_wrong(X: np.ndarray) -> list[np.ndarray]:
        labels, p = right(X)
        labels[np.ptp(p, axis=1).argmax()] = "other"
        return [labels, p]

    with pytest.raises(DisagreementError, match=r"predicts 'other' instead of .* 1 of 320"):
        check_classes(model, one_label_wrong)
    with pytest.raises(DisagreementError, match="labels of the shape"):
        check_classes(model, lambda X: [right(X)[0], right(X)[1][:, 1:]])
    with pytest.raises(DisagreementError, match=r"labels of the shape \(320, 1\)"):
        check_classes(model, lambda X: [right(X)[0][:, None], right(X)[1]])
    with pytest.raises(DisagreementError, match="differ from `predict_proba` by nan"):
        check_classes(model, lambda X: [right(X)[0], right(X)[1] * np.nan])


@pytest.mark.parametrize(("dtype", "share"), [("float32", 1e-4), ("float64", 1e-12)])
def test_tolerance_of_probabilities_is_what_it_says(dtype: str, share: float):
    model = with_logits(np.array([[1.0, 0.0, 2.0]]), 3)

    def off_by(error: float) -> Callable[[np.ndarray], list[np.ndarray]]:
        return lambda X: [model.predict(X), model.predict_proba(X) + error]

    check_classes(model, off_by(0.5 * share), dtype)
    with pytest.raises(DisagreementError, match="differ from `predict_proba`"):
        check_classes(model, off_by(2 * share), dtype)


# Whoever rounds otherwise may call a tie otherwise.
def test_ties_have_no_right_label():
    model = with_logits(np.array([[0.0, 0.0, 0.0]]), 3)
    check_classes(model, lambda X: [np.full(len(X), "any"), model.predict_proba(X)])


@exporters_with_labels
@pytest.mark.parametrize("n_classes", [2, 5])
def test_classes_in_another_order_are_refused(
    tmp_path: Path, exporter: Exporter, n_classes: int, monkeypatch: pytest.MonkeyPatch
):
    need_libraries(exporter)
    replace_in_home(
        exporter, "label_table", lambda right: lambda *given: right(*given)[::-1], monkeypatch
    )
    with pytest.raises(DisagreementError, match=r"`to_\w+` made a model that predicts .* instead"):
        EXPORTS[exporter.name](classifier(n_classes), tmp_path)
    assert not list(tmp_path.iterdir())


# Probabilities of 0 and 1 would not show it.
@every_exporter
def test_wrong_logits_are_refused_where_no_probability_shows_it(
    tmp_path: Path, exporter: Exporter, monkeypatch: pytest.MonkeyPatch
):
    export = EXPORTS[exporter.name]
    model = with_logits(np.array([[0.0, 1.0, 2.0]]), 3)
    model.network_ = replace(
        model.network_, intercept=np.array([0.0, 1e3, 2e3]), input_range=[[50.0], [60.0]]
    )
    assert set(np.unique(model.predict_proba(sample_inputs(model.network_)))) == {0.0, 1.0}
    export(model, tmp_path)
    replace_in_home(exporter, "rounded_weights", with_one_sign_wrong("intercept", 1), monkeypatch)
    with pytest.raises(DisagreementError, match="differs from `predict`"):
        export(model, tmp_path)


# Where the range is not known, from -1 to 1, and from the first knot to the last.
@pytest.mark.parametrize(
    ("network", "box"),
    [
        (random_network(), random_network().input_range),
        (replace(random_network(), input_range=None), [[-1.0] * 3, [1.0] * 3]),
        (
            replace(random_deep_network(), input_range=None),
            [[-1.0, -1.0, 5.0], [2.0, 1.0, 7.0]],
        ),
    ],
    ids=["known", "unknown", "knots"],
)
def test_points_fill_the_training_range(network: Network, box: np.ndarray):
    X, (low, high) = sample_inputs(network, 1000), np.array(box)
    assert ((low <= X) & (high >= X)).all()
    assert (np.ptp(X, axis=0) > 0.98 * (high - low)).all()


@pytest.mark.parametrize(
    ("n_features", "n_outputs", "n_more"), [(3, 1, 2), (3, 2, 4), (3, 3, 6), (2, 3, 4), (1, 3, 2)]
)
@pytest.mark.parametrize("n_neurons", [0, 5])
def test_folded_network_is_the_same_function(
    n_features: int, n_outputs: int, n_more: int, n_neurons: int
):
    network = random_network(n_neurons, n_outputs, n_features=n_features)
    folded = fold_affine(network)
    assert folded.linear_weights is None
    assert folded.n_neurons == n_neurons + n_more
    np.testing.assert_array_equal(folded.intercept, network.intercept)
    X = 100 * inputs(network)  # exact everywhere, not only where the data are
    np.testing.assert_allclose(folded.predict(X), network.predict(X), rtol=1e-12, atol=1e-11)


@pytest.mark.parametrize("name", ["abs", "relu2", "relu3", "tanh", "sigmoid", "sin", "gaussian"])
def test_folding_needs_an_activation_with_an_odd_part(name):
    network = replace(random_network(), activation=name)
    with pytest.raises(ValueError, match=r"Write `fold_affine=False`"):
        fold_affine(network)
    plain = replace(network, linear_weights=None)
    assert fold_affine(plain) is plain


# Missing libraries


@pytest.mark.parametrize(
    ("exporter", "library"),
    [(exporter, library) for exporter in EXPORTERS for library in exporter.libraries],
    ids=lambda part: part if isinstance(part, str) else part.name,
)
def test_missing_library_is_named_with_its_extra(
    tmp_path: Path, exporter: Exporter, library: str, monkeypatch: pytest.MonkeyPatch
):
    for other in set(exporter.libraries) - {library}:
        need(other)
    monkeypatch.setattr(f"{__name__}.need", lambda module: None)  # the one is not there now
    monkeypatch.setitem(sys.modules, library, None)
    message = rf'needs {library}.*pip install "greedynet\[{exporter.extra}\]"'
    with pytest.raises(ModuleNotFoundError, match=message):
        EXPORTS[exporter.name](random_network(), tmp_path)


@pytest.mark.parametrize(
    ("call", "module", "extra"),
    [
        (lambda: from_torch(None), "torch", "torch"),
    ],
)
def test_library_of_another_function_is_named_with_its_extra(
    call: Callable[[], object], module: str, extra: str, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setitem(sys.modules, module, None)
    with pytest.raises(ImportError, match=rf'needs {module}.*pip install "greedynet\[{extra}\]"'):
        call()


def test_every_extra_is_one_that_can_be_installed():
    about = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    extras = about["project"]["optional-dependencies"]
    for exporter in EXPORTERS:
        brought = extras.get(exporter.extra, [])
        assert set(exporter.libraries) <= set(brought), f"{exporter.extra} of {exporter.name}"


def test_broken_library_speaks_for_itself(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    (tmp_path / "halfthere.py").write_text("import nosuchthing", encoding="utf-8")
    monkeypatch.syspath_prepend(tmp_path)
    with pytest.raises(ModuleNotFoundError, match="No module named 'nosuchthing'"):
        require("halfthere", "torch", "to_torch")


def test_importing_the_exporters_loads_no_library():
    heavy = ("torch", "jax", "onnx", "onnxruntime", "keras")
    code = (
        "import sys; from greedynet.export import *; "
        f"print(*[name for name in {heavy!r} if name in sys.modules])"
    )
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert run.stdout.split() == []


IN_RAW_UNITS = np.array([[1990.0, 0.0, -3.0, 7.0, 1e-9], [2020.0, 1e5, 1e-3, 7.0, 3e-9]])


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_scaling_is_exact_and_columns_have_size_one(dtype: str):
    layer = InputLayer.of(IN_RAW_UNITS, dtype)
    np.testing.assert_array_equal(layer.center, [2005, 0, 0, 7, 0])
    np.testing.assert_array_equal(np.log2(layer.scale) % 1, 0)
    share = np.random.default_rng(0).random((1000, 5))
    X = (IN_RAW_UNITS[0] + share * np.ptp(IN_RAW_UNITS, axis=0)).astype(dtype)
    got = (X - layer.center.astype(dtype)) / layer.scale.astype(dtype)
    assert got.dtype == dtype
    np.testing.assert_array_equal(got, layer.apply(X.astype(np.float64)))
    # All but the last column, which no layer of Keras would scale.
    assert (np.abs(got[:, :4]).max(axis=0) <= 1).all()
    assert (np.abs(got[:, :3]).max(axis=0) > 0.4).all()


@pytest.mark.parametrize("name", ["relu-3out-affine-1", "tanh-1out-plain-20", *DEEP_KINDS])
def test_network_behind_the_layer_is_the_same_function(name: str):
    network = kind(name)
    X, layer = inputs(network), InputLayer.of(network.input_range, "float64")
    inside = layer.inside(network)
    wanted = network.predict(X)
    np.testing.assert_allclose(inside.predict(layer.apply(X)), wanted, rtol=1e-11, atol=1e-11)
    np.testing.assert_allclose(inside.input_range, layer.apply(network.input_range), rtol=1e-15)
    again = layer.outside(inside)
    np.testing.assert_allclose(again.predict(X), wanted, rtol=1e-11, atol=1e-11)
    if name in DEEP_KINDS:
        np.testing.assert_array_equal(again.ramps.knots, network.ramps.knots)


def test_exports_differ_where_the_filling_does(tmp_path, monkeypatch):
    X, y = with_gaps(60)
    model = GreedyNetRegressor(n_nodes=3, missing="learn").fit(X, y)
    told = model.filling_
    from greedynet.export.c_header import text

    write = text._filling_part
    other = replace(told, values=told.values + 1)
    monkeypatch.setattr(text, "_filling_part", lambda _, words, dtype: write(other, words, dtype))
    with pytest.raises(ValueError, match="differs from `predict`"):
        to_c(model, tmp_path / "m.h")
