"""What an exporter is given, network, fitted estimator or saved file -> `ShallowNetwork`.

The network of a classifier gives logits. Exporters that can write more ask for its classes too.
"""

import os
from collections.abc import Mapping
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray
from sklearn.pipeline import Pipeline
from sklearn.utils.validation import check_is_fitted

from greedynet.estimators import GreedyNetClassifier
from greedynet.estimators.saving import SaveMixin
from greedynet.model.network import ShallowNetwork
from greedynet.tables.load import load
from greedynet.tables.model import TableModel

T = TypeVar("T")

# What every exporter takes.
Model = ShallowNetwork | SaveMixin | TableModel | str | os.PathLike[str]


def as_network(model: Model, caller: str) -> ShallowNetwork:
    """Return the network that is meant.

    Parameters
    ----------
    model : ShallowNetwork, fitted estimator, str or path
        A path names a file written by `save`.
    caller : str
        The public function, for its errors.

    Returns
    -------
    network : ShallowNetwork
        That of a classifier gives logits.
    """
    return as_network_and_classes(model, caller)[0]


def as_network_and_classes(model: Model, caller: str) -> tuple[ShallowNetwork, NDArray[Any] | None]:
    """Return the network that is meant, and the classes if it is a classifier's; else None."""
    found: Any = load(model) if isinstance(model, str | os.PathLike) else model
    found = found.estimator if isinstance(found, TableModel) else found
    classes = None
    if isinstance(found, SaveMixin):
        check_is_fitted(found)
        classes = found.classes_ if isinstance(found, GreedyNetClassifier) else None
        found = found.network_
    if isinstance(found, ShallowNetwork):
        return found, classes
    advice = ""
    if isinstance(found, Pipeline):
        advice = (
            " Its last step alone is `pipeline[-1]`, on inputs already transformed; a whole "
            "pipeline goes through skl2onnx after `greedynet.export.register_skl2onnx()`."
        )
    raise TypeError(
        f"`model` of `{caller}` must be a ShallowNetwork, a fitted greedynet estimator or a file "
        f"saved by one, got {type(found).__name__}.{advice}"
    )


def label_table(classes: NDArray[Any], caller: str) -> NDArray[Any]:
    """Return classes as other languages have them: text as it is, all else as whole numbers.

    Booleans are 0 and 1, and floats, which are whole where they are classes, integers: each label
    equals its class.

    Parameters
    ----------
    classes : ndarray of shape (n_classes,)
        As in `classes_`.
    caller : str
        The public function, for its errors.

    Returns
    -------
    labels : ndarray of shape (n_classes,)
        Of type int64, or object with text in it.
    """
    values = classes.tolist()
    if all(isinstance(value, str) for value in values):
        return np.array(values, dtype=object)
    whole = all(isinstance(value, bool | int | float) and value == value // 1 for value in values)
    if whole and all(-(2**63) <= value < 2**63 for value in values):
        return np.array([int(value) for value in values], dtype=np.int64)
    raise TypeError(
        f"The classes for `{caller}` must be text or whole numbers of 64 bits, got "
        f"{values[:5]}: fit with such classes, or export the logits alone, `model.network_`."
    )


def translate(network: ShallowNetwork, table: Mapping[str, T], caller: str, place: str) -> T:
    """Return what the target calls the network's activation.

    Parameters
    ----------
    network : ShallowNetwork
        Whose activation is meant.
    table : mapping
        Translations by the activation's name.
    caller, place : str
        The public function and where the table is found, for the error.

    Returns
    -------
    translation : what the table holds
    """
    name = network.activation.name
    if name not in table:
        raise ValueError(
            f"`{caller}` has no translation for the activation {name!r}, only for "
            f"{sorted(table)}: fit with one of these, or add yours to `{place}`."
        )
    return table[name]
