"""Estimators as trees of plain values and arrays, and back.

    estimator <-> parameters and fitted attributes <-> tree of plain values and arrays

A tree contains numbers and text. The classes that it may refer to are fixed here and by the
subclasses of `SaveMixin`; nothing in it is executed.
"""

import os
import re
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from greedynet.activations import Activation, get_activation, saved_name
from greedynet.estimators.trained import TrainingResult
from greedynet.losses import Loss, get_loss
from greedynet.model.candidate import Candidate, Ladder
from greedynet.model.network import Network
from greedynet.model.path import SelectionPath, StopReason
from greedynet.model.uncertainty.calibration import ClassSets, Scores
from greedynet.model.uncertainty.expectation import Expectation
from greedynet.model.uncertainty.intervals import Intervals, OutputErrors
from greedynet.model.uncertainty.local_size import LocalSize
from greedynet.model.uncertainty.outside import TrainingSample
from greedynet.rows.missing import Filling
from greedynet.search import Dictionary
from greedynet.support.tensorfile import ModelFileError, StoredTree, write_tree

_ESTIMATORS: dict[str, "type[SaveMixin]"] = {}


class SaveMixin:
    """Saving and loading of an estimator: its parameters and every attribute `..._`."""

    network_: Network

    def __init_subclass__(cls, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        _ESTIMATORS[cls.__name__] = cls

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the fitted estimator to a file, from which `greedynet.load` restores it.

        Parameters
        ----------
        path : str or path
            A name such as "model.safetensors". The file contains numbers and text, no code.
        """
        write_tree(path, type(self).__name__, self.state())

    def state(self) -> dict[str, Any]:
        """Return parameters and fitted attributes as arrays and plain values, for a file."""
        check_is_fitted(self)
        parameters = self.get_params(deep=False)  # type: ignore[attr-defined]
        fitted = {k: v for k, v in vars(self).items() if is_fitted_name(k)}
        return {
            "parameters": {name: _encode(value, name) for name, value in parameters.items()},
            "fitted": {name: _encode(value, name) for name, value in fitted.items()},
        }


def is_fitted_name(name: str) -> bool:
    """Whether scikit-learn's convention makes it the name of a fitted attribute."""
    return name.endswith("_") and not name.startswith("_")


def restore(contents: StoredTree) -> Any:
    """Return the network or estimator described by the contents of a file."""
    if contents.kind == "network":
        return Network.from_state(contents.tree)
    if contents.kind not in _ESTIMATORS:
        raise ModelFileError(
            f"The file contains a {contents.kind!r} of greedynet {contents.library_version}, which "
            f"is none of {['network', *sorted(_ESTIMATORS)]}: import the module that defines it, "
            "or pip install --upgrade greedynet"
        )
    parts = {
        part: {name: _decode(value) for name, value in contents.tree[part].items()}
        for part in ("parameters", "fitted")
    }
    estimator = _ESTIMATORS[contents.kind](**parts["parameters"])
    for name in parts["fitted"]:
        if not is_fitted_name(name):
            raise ValueError(f"`{name}` is not the name of a fitted attribute, such as `network_`.")
    vars(estimator).update(parts["fitted"])
    check_is_fitted(estimator)
    return estimator


# Values that are not plain become {kind of value: plain value}.


def _encode(value: Any, name: str) -> Any:
    """Return the value as plain values and arrays."""
    if isinstance(value, np.generic):
        value = value.item()
    if value is None or isinstance(value, bool | int | float | str):
        return value
    if isinstance(value, os.PathLike):
        return os.fspath(value)
    if isinstance(value, Network):
        return {"network": value.state()}
    if type(value).__name__ in _RECORDS:
        encoded = {key: _encode(part, f"{name}.{key}") for key, part in vars(value).items()}
        return {type(value).__name__: encoded}
    if isinstance(value, StopReason):
        return {"stop_reason": value.name}
    if isinstance(value, Activation):
        return {"activation": saved_name(value)}
    if isinstance(value, Loss) and _has_arguments(value):
        return {"loss": {key: _encode(part, name) for key, part in value.arguments.items()}}
    if isinstance(value, tuple) and value and _is_record(value[0]):
        return {"records": [_encode(part, name) for part in value]}
    if isinstance(value, tuple) and value and all(_is_end(part) for part in value):
        return {"tuple": [_encode(part, name) for part in value]}
    if isinstance(value, dict):
        return {"pairs": [_encode_pair(key, part, name) for key, part in value.items()]}
    return _encode_array(value, name)


def _is_record(value: Any) -> bool:
    return isinstance(value, Network) or type(value).__name__ in _RECORDS


def _is_end(value: Any) -> bool:
    """Whether a value is a number or nothing, as each of a pair of bounds."""
    return value is None or isinstance(value, int | float | np.number)


def _has_arguments(loss: Loss) -> bool:
    """Whether a loss can be restored from its arguments, which user-defined ones cannot."""
    try:
        return get_loss(**loss.arguments) == loss
    except (TypeError, ValueError):
        return False


def _encode_pair(key: Any, value: Any, name: str) -> list[Any]:
    """Return a key, which is a number or text, and its value, such as a class and its weight."""
    plain = _encode(key, name)
    if isinstance(plain, dict | np.ndarray):
        raise TypeError(
            f"`{name}` must have numbers or text as keys to be saved, got {key!r}: set it to a "
            "dict with such keys by `set_params`, or save only the network by `network_.save`."
        )
    return [plain, _encode(value, f"{name}[{key!r}]")]


def _encode_array(value: Any, name: str) -> Any:
    try:
        array = np.asarray(value)
    except ValueError:  # rows of different lengths
        array = np.array(None)
    if array.dtype.kind in "biuf" and array.dtype.itemsize <= 8:
        return array
    if array.ndim == 1 and all(isinstance(text, str) for text in array):
        return {"text": {"dtype": array.dtype.str, "values": array.tolist()}}
    raise TypeError(
        f"`{name}` must be a number, text or an array to be saved, because files contain no code, "
        f"got {type(value).__name__}: set it to such a value by `set_params`, or save only the "
        "network by `network_.save`."
    )


def _decode(value: Any) -> Any:
    if not isinstance(value, dict):
        return value
    ((what, state),) = value.items()
    if what in _RECORDS:
        return _RECORDS[what](**{key: _decode(part) for key, part in state.items()})
    return _DECODERS[what](state)


# Widest type of text that is restored for shorter texts: each would take this much memory.
_MOST_WIDTH = 1_024


def _decode_text(state: Mapping[str, Any]) -> NDArray[Any]:
    """Return an array of text, with the type that it had: objects, or of a fixed width."""
    dtype, values = state["dtype"], state["values"]
    if not isinstance(values, list) or not all(isinstance(text, str) for text in values):
        raise TypeError(f"`values` must be a list of texts, got {type(values).__name__}.")
    if dtype == "|O":
        return np.array(values, dtype=object)
    if re.fullmatch(r"[<>]U\d{1,9}", dtype) is None:
        raise ValueError(f"`dtype` must be '|O' or of text, such as '<U5', got {dtype!r}.")
    longest = max(map(len, values), default=0)
    # In memory, every text takes as much as the longest one may.
    if longest > _MOST_WIDTH and longest * len(values) > 2 * sum(map(len, values)):
        return np.array(values, dtype=object)
    width = min(int(dtype[2:]), max(longest, _MOST_WIDTH))
    if width < longest:
        raise ValueError(f"`dtype` must have room for {longest} characters, got {dtype!r}.")
    return np.array(values, dtype=f"{dtype[:2]}{width}")


# Dataclasses that are saved field by field.
_RECORDS: dict[str, Callable[..., Any]] = {
    record.__name__: record
    for record in (
        SelectionPath,
        Ladder,
        Intervals,
        OutputErrors,
        Candidate,
        LocalSize,
        Scores,
        ClassSets,
        TrainingSample,
        Filling,
        Dictionary,
        Expectation,
        TrainingResult,
    )
}

_DECODERS: dict[str, Callable[[Any], Any]] = {
    "network": Network.from_state,
    "stop_reason": lambda name: StopReason[name],
    "activation": get_activation,
    "loss": lambda arguments: get_loss(**arguments),
    "pairs": lambda pairs: {key: _decode(value) for key, value in pairs},
    "records": lambda parts: tuple(_decode(part) for part in parts),
    "tuple": tuple,
    "text": _decode_text,
}
