"""What an exporter is given, network, fitted estimator or saved file -> `ShallowNetwork`."""

import os
from collections.abc import Mapping
from typing import Any, TypeVar

from sklearn.pipeline import Pipeline
from sklearn.utils.validation import check_is_fitted

from greedynet.modelfile import load
from greedynet.network import ShallowNetwork
from greedynet.saving import SaveMixin

T = TypeVar("T")

# What every exporter takes.
Model = ShallowNetwork | SaveMixin | str | os.PathLike[str]


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
    """
    found: Any = load(model) if isinstance(model, str | os.PathLike) else model
    if isinstance(found, SaveMixin):
        check_is_fitted(found)
        found = found.network_
    if isinstance(found, ShallowNetwork):
        return found
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
