"""The argument of an exporter, a network, fitted estimator or saved file -> network, and back.

The outputs of the network of a classifier are logits. Some exporters also export its classes. A
network that was trained on in another library becomes a model like the one that was exported.
"""

import os
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any, NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray
from sklearn.pipeline import Pipeline
from sklearn.utils.validation import check_is_fitted

from greedynet.estimators import GreedyNetClassifier
from greedynet.estimators.base import BaseGreedyNet
from greedynet.estimators.saving import SaveMixin
from greedynet.estimators.trained import with_trained_network
from greedynet.model.network import Network
from greedynet.rows.missing import Filling
from greedynet.support.types import Float64
from greedynet.tables.load import load
from greedynet.tables.model import TableModel

T = TypeVar("T")

# The argument of every exporter.
Model = Network | SaveMixin | TableModel | str | os.PathLike[str]

# What a table model says of its errors.
_SCORES = ("training", "validation", "held_out")


class Parts(NamedTuple):
    """What an export consists of.

    `classes` are those of a classifier; `filling` is what the model inserts for missing values.
    """

    network: Network
    classes: NDArray[Any] | None
    filling: Filling | None


def as_parts(model: Model, caller: str) -> Parts:
    """Return the network of a model or of a saved file, and what is around it."""
    found: Any = load(model) if isinstance(model, str | os.PathLike) else model
    found = found.estimator if isinstance(found, TableModel) else found
    classes = filling = None
    if isinstance(found, SaveMixin):
        check_is_fitted(found)
        classes = found.classes_ if isinstance(found, GreedyNetClassifier) else None
        filling = filling_of(found)
        found = found.network_
    if isinstance(found, Network):
        return Parts(found, classes, filling)
    advice = ""
    if isinstance(found, Pipeline):
        advice = " Its last step is `pipeline[-1]`, for inputs that are already transformed."
    raise TypeError(
        f"`model` of `{caller}` must be a Network, a fitted greedynet estimator or a saved "
        f"file, got {type(found).__name__}.{advice}"
    )


def as_network(model: Model, caller: str) -> Network:
    """Return the network of a model; of a classifier, its outputs are logits.

    A network that has learned from missing values is refused: it takes other inputs than its model.
    """
    network, _, filling = as_parts(model, caller)
    if filling is not None:
        raise ValueError(
            f"`{caller}` has no form for missing values, from which the model has learned: pass "
            "`model.network_`, whose inputs are `model.network_inputs(X)`, or use `to_onnx` or "
            "`to_c`, which take NaN."
        )
    return network


class Original:
    """The model that the training began with, as far as it is known."""

    def __init__(self, like: Model | None, caller: str) -> None:
        model: Any = load(like) if isinstance(like, str | os.PathLike) else like
        self.network = None if model is None else as_network(model, caller)
        self._model = model

    def given_back(self, network: Network) -> Any:
        """Return a model of the same kind with a new network, or the network.

        Names and the training range of the inputs are those of the original, and so is whether they
        are clipped to it.
        """
        if self.network is not None:
            _check_sizes(network, self.network)
            network = _with_inputs_of(network, self.network)
        return _in_place(self._model, network)


def _check_sizes(network: Network, known: Network) -> None:
    for what, got, wanted in (
        ("inputs", known.n_features, network.n_features),
        ("outputs", known.n_outputs, network.n_outputs),
    ):
        if got != wanted:
            raise ValueError(
                f"`like` must have as many {what} as the network that is read, {wanted}, got "
                f"{got}: pass the model that was exported."
            )


def _in_place(model: Any, network: Network) -> Any:
    if isinstance(model, TableModel):
        about = {name: value for name, value in model.about.items() if name not in _SCORES}
        return replace(model, estimator=_in_place(model.estimator, network), about=about)
    if isinstance(model, BaseGreedyNet):
        return with_trained_network(model, network)
    return network


def _with_inputs_of(network: Network, known: Network) -> Network:
    """Return the network with the names and the training range of the inputs of another."""
    names = ("single_output", "feature_names", "input_range", "reach")
    return replace(network, **{name: getattr(known, name) for name in names})


def within_bounds(
    network: Network, exported: Callable[[NDArray[Any]], NDArray[Any]]
) -> Callable[[NDArray[Any]], NDArray[Any]]:
    """Return an export with the bounds of a network, which it may have been trained without."""
    bounds = network.bounds
    if bounds is None:
        return exported
    return lambda X: bounds.apply(np.asarray(exported(X)).reshape(len(X), -1))


def comparable(network: Network, box: Float64 | None) -> Network:
    """Return a network that agrees with an export, which may have been trained without a box."""
    return network if box is not None else replace(network, reach=np.inf)


def filling_of(estimator: Any) -> Filling | None:
    """Return what an estimator inserts for missing values; None if it has not seen any."""
    found: Filling | None = getattr(estimator, "filling_", None)
    return None if found is None or not (found.gaps | found.empty).any() else found


def label_table(classes: NDArray[Any], caller: str) -> NDArray[Any]:
    """Return class labels for other languages: text unchanged, all others as integers.

    Booleans become 0 and 1, and floats, which must be integers in value, become integers: each
    label equals its class. The result is of type int64, or object for text.
    """
    values = classes.tolist()
    if all(isinstance(value, str) for value in values):
        return np.array(values, dtype=object)
    whole = all(isinstance(value, bool | int | float) and value == value // 1 for value in values)
    if whole and all(-(2**63) <= value < 2**63 for value in values):
        return np.array([int(value) for value in values], dtype=np.int64)
    raise TypeError(
        f"The classes for `{caller}` must be text or 64-bit integers, got {values[:5]}: fit with "
        "such classes, or export only the logits, `model.network_`."
    )


def translate(network: Network, table: Mapping[str, T], caller: str, place: str) -> T:
    """Return the translation of the activation of the network.

    `place` is the name of the table, for the error message.
    """
    name = network.activation.name
    if name not in table:
        raise ValueError(
            f"`{caller}` has no translation for the activation {name!r}, only for "
            f"{sorted(table)}: fit with one of these, or add yours to `{place}`."
        )
    return table[name]
