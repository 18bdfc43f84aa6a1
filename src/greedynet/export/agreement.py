"""The check that every export passes before it is handed out.

The exported function and `predict` are compared on random points from the training range. The
largest difference may be 1e-12 of the largest output in float64 and 1e-4 of it in float32. So may
that of probabilities; labels must be the same wherever the best two probabilities differ by more.
"""

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from greedynet.activations import degree_of
from greedynet.losses.logistic import probabilities
from greedynet.model.network import ShallowNetwork
from greedynet.support.types import Float64

N_POINTS = 256
RELATIVE_TOLERANCE = {"float32": 1e-4, "float64": 1e-12}

# Rounding of the terms of a sum that cancel is nobody's fault: so many units in the last place.
_ROUNDING = 64 * np.finfo(np.float64).eps


class DisagreementError(ValueError):
    """An export whose outputs are not those of the network."""


def sample_inputs(network: ShallowNetwork, n_points: int = N_POINTS) -> Float64:
    """Draw points from the training range, always the same.

    Parameters
    ----------
    network : ShallowNetwork
        If it does not know its training range, the cube [-1, 1]^d is taken.
    n_points : int
        How many.

    Returns
    -------
    X : ndarray of shape (n_points, n_features)
    """
    low, high = -np.ones(network.n_features), np.ones(network.n_features)
    if network.input_range is not None:
        low, high = network.input_range
    share = np.random.default_rng(0).random((n_points, network.n_features))
    return np.asarray(low * (1 - share) + high * share)


def check_agreement(
    network: ShallowNetwork,
    exported: Callable[[NDArray[np.floating]], ArrayLike],
    *,
    dtype: str,
    caller: str,
) -> None:
    """Demand that an export computes what the network does.

    Parameters
    ----------
    network : ShallowNetwork
        The original.
    exported : callable
        Maps inputs `(n_points, n_features)` of type `dtype` to outputs.
    dtype : {"float32", "float64"}
        The precision of the export.
    caller : str
        The public function, for its errors.

    Raises
    ------
    DisagreementError
        If the outputs differ by more than rounding explains.
    """
    X = _rounded_inputs(network, dtype, caller)
    wanted = network.predict(X).reshape(len(X), -1)
    got = np.asarray(exported(X), dtype=np.float64).reshape(len(X), -1)
    if got.shape != wanted.shape:
        raise DisagreementError(
            f"`{caller}` made a model with {got.shape[1]} outputs of a network with "
            f"{wanted.shape[1]}: please report this."
        )
    size = np.abs(wanted).max(axis=0)
    relative = RELATIVE_TOLERANCE[dtype]
    allowed = np.maximum(relative * size, _ROUNDING * _terms(network, X))
    # Nor is it anybody's fault that a float32 ends at 1e-38: values of neurons below are zero.
    allowed += float(np.finfo(dtype).tiny) * np.abs(network.outer_weights).sum(axis=0)
    difference = np.abs(got - wanted).max(axis=0)
    # Written so that NaN disagrees.
    if not (difference <= allowed).all():
        worst = int(np.argmax(np.where(np.isnan(difference), np.inf, difference - allowed)))
        raise DisagreementError(
            f"`{caller}` made a model that differs from `predict` by {difference[worst]:.2g} "
            f"on outputs of size {size[worst]:.2g}, more than the share of {relative:g} that "
            f"{dtype} allows, so it is not handed out. {_ADVICE[dtype]}"
        )


def check_class_agreement(
    network: ShallowNetwork,
    classes: NDArray[Any],
    exported: Callable[[NDArray[np.floating]], tuple[ArrayLike, ArrayLike]],
    *,
    dtype: str,
    caller: str,
) -> None:
    """Demand that an export gives the classes and probabilities of a network of logits.

    Where all probabilities are 0 or 1 they say little about the logits, so that these have to pass
    `check_agreement` too.

    Parameters
    ----------
    network : ShallowNetwork
        The original; its outputs are logits.
    classes : ndarray of shape (n_classes,)
        As in `classes_`.
    exported : callable
        Maps inputs `(n_points, n_features)` of type `dtype` to labels and probabilities.
    dtype : {"float32", "float64"}
        The precision of the export.
    caller : str
        The public function, for its errors.

    Raises
    ------
    DisagreementError
        If probabilities differ by more than rounding explains, or a label that is no tie differs.
    """
    X = _rounded_inputs(network, dtype, caller)
    logits = network.predict(X).reshape(len(X), -1)
    wanted = probabilities(logits)
    labels, found = exported(X)
    got = np.asarray(found, dtype=np.float64)
    names = np.asarray(labels, dtype=object)
    if got.shape != wanted.shape or names.shape != (len(X),):
        raise DisagreementError(
            f"`{caller}` made a model with labels of the shape {names.shape} and probabilities of "
            f"the shape {got.shape}, not {(len(X),)} and {wanted.shape}: please report this."
        )
    # Logits off by d make probabilities that are off by d / 2 at most; digits that a large logit
    # does not have are nobody's fault.
    digits = 4 * float(np.finfo(dtype).eps) * np.abs(logits).max()
    off = max(digits, _ROUNDING * float(_terms(network, X).max()))
    allowed = RELATIVE_TOLERANCE[dtype] + off / 2
    difference = np.abs(got - wanted).max()
    # Written so that NaN disagrees.
    if not difference <= allowed:
        raise DisagreementError(
            f"`{caller}` made a model whose probabilities differ from `predict_proba` by "
            f"{difference:.2g}, more than the {allowed:.2g} that {dtype} allows, so it is not "
            f"handed out. {_ADVICE[dtype]}"
        )
    second, first = np.sort(wanted, axis=1)[:, -2:].T
    expected = classes.astype(object)[wanted.argmax(axis=1)]
    wrong = np.flatnonzero((first - second > 2 * allowed) & (names != expected))
    if len(wrong):
        raise DisagreementError(
            f"`{caller}` made a model that says {names[wrong[0]]!r} where `predict` says "
            f"{expected[wrong[0]]!r}, in {len(wrong)} of {len(X)} rows: please report this."
        )


def _rounded_inputs(network: ShallowNetwork, dtype: str, caller: str) -> NDArray[np.floating]:
    """Points to compare at, in the precision of the export."""
    with np.errstate(over="ignore"):
        X = sample_inputs(network).astype(dtype)
    if not np.isfinite(X).all():
        raise ValueError(
            f"`dtype` of `{caller}` must be able to hold the inputs, got {dtype!r} and inputs up "
            f"to {np.abs(sample_inputs(network)).max():.3g}: write dtype='float64'."
        )
    return X


_ADVICE = {
    "float32": (
        "Digits are lost where large terms cancel, or go into a fast wave: write dtype='float64', "
        "centre inputs that are far from zero, or fit with a ridge such as `alpha=1e-6`."
    ),
    "float64": "An activation of your own with the name of another does this; else report it.",
}


def _terms(network: ShallowNetwork, X: NDArray[np.floating]) -> Float64:
    """Size of the terms that the outputs are sums of, products inside the neurons included."""
    x = np.abs(X).astype(np.float64)
    z = X @ network.inner_weights.T + network.biases
    inside = x @ np.abs(network.inner_weights).T + np.abs(network.biases)
    value, slope = network.activation.value, network.activation.slope
    hidden = np.abs(slope(z)) * inside + np.abs(value(z))
    if degree_of(network.activation) is None:
        # Sums again, of an even and an odd part, as in gelu(z) = z / 2 + z erf(z / sqrt(2)) / 2.
        hidden += np.abs(value(-z))
    terms = hidden @ np.abs(network.outer_weights)
    if network.linear_weights is not None:
        terms += x @ np.abs(network.linear_weights)
    if network.intercept is not None:
        terms += np.abs(network.intercept)
    return np.asarray(terms.max(axis=0))
