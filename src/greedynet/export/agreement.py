"""The check that every export must pass before it is returned.

The exported function and `predict` are compared at random points of the training range and, if
inputs are clipped to it, at its edges and beyond. The largest difference may be 1e-12 of the
largest output in float64 and 1e-4 of it in float32. The same tolerance applies to probabilities;
labels must agree wherever the two largest probabilities differ by more.
"""

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from greedynet.activations import degree_of
from greedynet.losses.logistic import probabilities
from greedynet.model.network import Network
from greedynet.rows.missing import Filling
from greedynet.support.types import Float64

N_POINTS = 256
RELATIVE_TOLERANCE = {"float32": 1e-4, "float64": 1e-12}

# Share of the values that are missing, in columns that may have gaps.
_MISSING = 0.25

# Tolerance for rounding errors of cancelling terms, in units of the last place.
_ROUNDING = 64 * np.finfo(np.float64).eps


class DisagreementError(ValueError):
    """An export whose outputs differ from those of the network."""


def sample_inputs(network: Network, n_points: int = N_POINTS) -> Float64:
    """Draw points from the training range, with a fixed seed.

    Where the range is not known, they are in [-1, 1] and within the knots of a first layer.
    """
    low, high = _known_range(network)
    share = np.random.default_rng(0).random((n_points, network.n_features))
    return np.asarray(low * (1 - share) + high * share)


def _beyond_box(network: Network, dtype: str) -> Float64:
    """Return points of which every other input is at an edge of the box, or beyond it."""
    X = sample_inputs(network, N_POINTS // 4)
    if network.box is None:
        return X[:0]
    low, high = network.box
    with np.errstate(over="ignore"):
        away = high - low + np.abs(low) + 1.0
        places = np.array([low, high, low - away, high + away])
    chosen = np.random.default_rng(2).integers(0, 2 * len(places), X.shape)
    columns = np.arange(network.n_features)
    X = np.where(chosen < len(places), places[chosen % len(places), columns], X)
    most = float(np.finfo(dtype).max)
    return np.clip(X, -most, most)


def _known_range(network: Network) -> tuple[Float64, Float64]:
    """Return the smallest and the largest value of each input, as far as they are known."""
    if network.input_range is not None:
        return network.input_range[0], network.input_range[1]
    low, high = -np.ones(network.n_features), np.ones(network.n_features)
    ramps = network.ramps
    if ramps is not None:
        # Knots ascend within a column: the last one in each order stays.
        low[ramps.features[::-1]], high[ramps.features] = ramps.knots[::-1], ramps.knots
    return low, high


def check_agreement(
    network: Network,
    exported: Callable[[NDArray[np.floating]], ArrayLike],
    *,
    dtype: str,
    caller: str,
    filling: Filling | None = None,
) -> None:
    """Raise an error unless an export computes the same outputs as the network.

    `exported` maps inputs of type `dtype` to outputs. With a `filling`, it gets NaN in some places.
    """
    given, X = _points(network, filling, dtype, caller)
    wanted = network.predict(X).reshape(len(X), -1)
    got = np.asarray(exported(given), dtype=np.float64).reshape(len(X), -1)
    if got.shape != wanted.shape:
        raise DisagreementError(
            f"`{caller}` made a model with {got.shape[1]} outputs of a network with "
            f"{wanted.shape[1]}: please report this."
        )
    size = np.abs(wanted).max(axis=0)
    relative = RELATIVE_TOLERANCE[dtype]
    allowed = np.maximum(relative * size, _ROUNDING * _terms(network, X))
    # Values of neurons below the smallest float32, 1e-38, are rounded to zero.
    allowed += float(np.finfo(dtype).tiny) * np.abs(network.outer_weights).sum(axis=0)
    difference = np.abs(got - wanted).max(axis=0)
    # Written so that NaN counts as a difference.
    if not (difference <= allowed).all():
        worst = int(np.argmax(np.where(np.isnan(difference), np.inf, difference - allowed)))
        raise DisagreementError(
            f"`{caller}` made a model that differs from `predict` by {difference[worst]:.2g} "
            f"on outputs of magnitude {size[worst]:.2g}, more than the fraction {relative:g} "
            f"allowed for {dtype}, so it is not returned. {_ADVICE[dtype]}"
        )


def check_class_agreement(
    network: Network,
    classes: NDArray[Any],
    exported: Callable[[NDArray[np.floating]], tuple[ArrayLike, ArrayLike]],
    *,
    dtype: str,
    caller: str,
    filling: Filling | None = None,
) -> None:
    """Raise an error unless an export returns the same classes and probabilities.

    `exported` maps inputs to labels and probabilities. Probabilities close to 0 or 1 hardly depend
    on the logits, so the logits must pass `check_agreement` as well.
    """
    given, X = _points(network, filling, dtype, caller)
    logits = network.predict(X).reshape(len(X), -1)
    wanted = probabilities(logits)
    labels, found = exported(given)
    got = np.asarray(found, dtype=np.float64)
    names = np.asarray(labels, dtype=object)
    if got.shape != wanted.shape or names.shape != (len(X),):
        raise DisagreementError(
            f"`{caller}` made a model with labels of the shape {names.shape} and probabilities of "
            f"the shape {got.shape}, not {(len(X),)} and {wanted.shape}: please report this."
        )
    # An error d of the logits changes probabilities by at most d / 2; the rounding of large logits
    # is allowed for.
    digits = 4 * float(np.finfo(dtype).eps) * np.abs(logits).max()
    off = max(digits, _ROUNDING * float(_terms(network, X).max()))
    allowed = RELATIVE_TOLERANCE[dtype] + off / 2
    difference = np.abs(got - wanted).max()
    # Written so that NaN counts as a difference.
    if not difference <= allowed:
        raise DisagreementError(
            f"`{caller}` made a model whose probabilities differ from `predict_proba` by "
            f"{difference:.2g}, more than the {allowed:.2g} allowed for {dtype}, so it is not "
            f"returned. {_ADVICE[dtype]}"
        )
    second, first = np.sort(wanted, axis=1)[:, -2:].T
    expected = classes.astype(object)[wanted.argmax(axis=1)]
    wrong = np.flatnonzero((first - second > 2 * allowed) & (names != expected))
    if len(wrong):
        raise DisagreementError(
            f"`{caller}` made a model that predicts {names[wrong[0]]!r} instead of "
            f"{expected[wrong[0]]!r}, in {len(wrong)} of {len(X)} rows: please report this."
        )


def _points(
    network: Network, filling: Filling | None, dtype: str, caller: str
) -> tuple[NDArray[np.floating], NDArray[np.floating]]:
    """Return the points of the comparison: as the export gets them, and as the network does."""
    X = _rounded_inputs(network, dtype, caller)
    if filling is None:
        return X, X
    given = X[:, : len(filling.values)]
    given[(np.random.default_rng(1).random(given.shape) < _MISSING) & filling.gaps] = np.nan
    return given, filling.apply(given)


def _rounded_inputs(network: Network, dtype: str, caller: str) -> NDArray[np.floating]:
    """Return the points of the comparison, in the precision of the export."""
    with np.errstate(over="ignore"):
        X = np.concatenate([sample_inputs(network), _beyond_box(network, dtype)]).astype(dtype)
    if not np.isfinite(X).all():
        raise ValueError(
            f"`dtype` of `{caller}` must be able to represent the inputs, got {dtype!r} and inputs "
            f"up to {np.abs(sample_inputs(network)).max():.3g}: write dtype='float64'."
        )
    return X


_ADVICE = {
    "float32": (
        "Digits are lost when large terms cancel or are arguments of an oscillating activation: "
        "write dtype='float64', centre inputs that are far from zero, or fit with a ridge such as "
        "`alpha=1e-6`."
    ),
    "float64": (
        "A user-defined activation with the name of a built-in one can cause this; otherwise, "
        "please report it."
    ),
}


def _terms(network: Network, X: NDArray[np.floating]) -> Float64:
    """Return the magnitude of the terms of the outputs, including products in the neurons."""
    U = network.neuron_inputs(X.astype(np.float64))
    u = np.abs(U)
    z = U @ network.inner_weights.T + network.biases
    inside = u @ np.abs(network.inner_weights).T + np.abs(network.biases)
    value, slope = network.activation.value, network.activation.slope
    hidden = np.abs(slope(z)) * inside + np.abs(value(z))
    if degree_of(network.activation) is None:
        # Sums of an even and an odd part, as in gelu(z) = z / 2 + z erf(z / sqrt(2)) / 2.
        hidden += np.abs(value(-z))
    terms = hidden @ np.abs(network.outer_weights)
    if network.linear_weights is not None:
        terms += u @ np.abs(network.linear_weights)
    if network.intercept is not None:
        terms += np.abs(network.intercept)
    return np.asarray(terms.max(axis=0))
