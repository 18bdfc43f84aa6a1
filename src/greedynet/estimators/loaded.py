"""A model that was read from a file predicts some rows before anyone else uses it.

The checksum of a file says that its bytes are those that were written, not who wrote them. Fields
that do not belong together would be noticed only when something is predicted; so everything is
predicted once, for a few rows in the middle of the training data.
"""

import warnings
from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from greedynet.estimators.classifier import GreedyNetClassifier
from greedynet.estimators.frames import known_levels
from greedynet.estimators.regressor import GreedyNetRegressor
from greedynet.model.network import Network
from greedynet.support.types import Float64

# An array of the wrong length may agree with one number of rows by chance, not with both.
_ROWS = (1, 3)

# What an estimator does, the answer, and the shape that it should have.
_Answer = tuple[str, NDArray[Any], tuple[int, ...]]


def validate_loaded(model: Any) -> Any:
    """Return the model after it has predicted some rows; raise the error if it cannot."""
    network = model if isinstance(model, Network) else model.network_
    if not isinstance(network, Network):
        raise TypeError(f"`network_` must be a network, got {type(network).__name__}.")
    _check_levels(model)
    with warnings.catch_warnings(), np.errstate(over="raise", divide="raise", invalid="raise"):
        warnings.simplefilter("ignore")
        for n_rows in _ROWS:
            X = np.tile(_middle(network), (n_rows, 1))
            for what, answer, shape in _answers(model, network, X):
                _check(what, answer, shape)
    return model


def _check_levels(model: Any) -> None:
    """Raise an error unless levels are different texts, each with finite features."""
    for name, table in known_levels(model).items():
        levels, features = np.asarray(table.levels), np.asarray(table.features)
        are_texts = levels.dtype.kind == "U" and levels.ndim == 1 and len(levels) > 0
        if not are_texts or (np.unique(levels) != levels).any():
            raise ValueError(f"`categories_` must be sorted, different texts for {name!r}.")
        is_right = features.dtype.kind == "f" and features.ndim == 2 and features.shape[1] > 0
        if not is_right or len(features) != len(levels) + 1 or not np.isfinite(features).all():
            raise ValueError(f"`level_features_` must be finite, a row for each level of {name!r}.")


def _middle(network: Network) -> Float64:
    """Return the middle of the training data, where no honest prediction overflows."""
    if network.input_range is None:
        return np.zeros(network.n_features)
    low, high = network.input_range
    return low / 2 + high / 2


def _answers(model: Any, network: Network, X: Float64) -> Iterator[_Answer]:
    """Yield whatever the model can say about rows."""
    n = len(X)
    of_outputs = (n,) if network.single_output else (n, network.n_outputs)
    yield "predict", network.predict(X), of_outputs
    if isinstance(model, Network):
        return
    model = model.without_categories()
    filling = getattr(model, "filling_", None)
    if filling is not None:
        X = X[:, : len(filling.values)]  # the indicators of gaps come last
    yield "outside", model.outside(X).rows, (n,)
    if isinstance(model, GreedyNetClassifier):
        yield from _of_classes(model, X, 2 if network.n_outputs == 1 else network.n_outputs)
    elif isinstance(model, GreedyNetRegressor):
        yield from _of_numbers(model, X, of_outputs)
    # What is shown rather than computed.
    for shown in (model.stop_reason_.value, model.path_, model.ladder_):
        str(shown)
    model.expectation_.sentence()


# Of the library's own classes: what a subclass does is not the business of the file.


def _of_numbers(model: Any, X: Float64, shape: tuple[int, ...]) -> Iterator[_Answer]:
    yield "predict", GreedyNetRegressor.predict(model, X), shape
    if model.intervals_ is None:
        return
    for end in GreedyNetRegressor.predict_interval(model, X):
        yield "predict_interval", end, shape
    for part in GreedyNetRegressor.predict(model, X, return_std=True):
        yield "predict(return_std=True)", part, shape


def _of_classes(model: Any, X: Float64, n_classes: int) -> Iterator[_Answer]:
    shape = (len(X), n_classes)
    yield "classes_", np.arange(np.shape(model.classes_)[0]), (n_classes,)
    yield "predict", GreedyNetClassifier.predict(model, X), (len(X),)
    yield "predict_proba", GreedyNetClassifier.predict_proba(model, X), shape
    yield "predict_log_proba", GreedyNetClassifier.predict_log_proba(model, X), shape
    if model.sets_ is not None:
        yield "predict_set", GreedyNetClassifier.predict_set(model, X), shape


def _check(what: str, answer: NDArray[Any], shape: tuple[int, ...]) -> None:
    if answer.shape != shape:
        raise ValueError(f"`{what}` must give the shape {shape}, got {answer.shape}.")
    if answer.dtype.kind == "f" and not np.isfinite(answer).all():
        raise ValueError(f"`{what}` must give finite numbers in the middle of the training data.")
