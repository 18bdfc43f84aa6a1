"""Checks of user-defined activations."""

import numpy as np

from greedynet.activations.base import Activation, Array

INTERFACE = "`name`, `value(z)`, `slope(z)` and either `degree` or `scales`"


def check_activation(activation: Activation) -> None:
    """Raise an error for an activation whose parts are inconsistent."""
    z = np.array([-2.3, -1.1, -0.4, 0.3, 0.9, 2.7])
    value = _numbers(activation, "value", z)
    slope = _numbers(activation, "slope", z)
    step = 1e-6
    ahead, behind = (_numbers(activation, "value", z + s) for s in (step, -step))
    if not np.allclose((ahead - behind) / (2 * step), slope, rtol=1e-4, atol=1e-4):
        raise ValueError(
            f"`activation` must return the derivative of `value` from `slope`, got {activation!r}, "
            f"whose value has the numerical derivative {(ahead - behind) / (2 * step)} at {z}, but "
            f"the slope {slope}."
        )
    degree, scales = (getattr(activation, what, None) for what in ("degree", "scales"))
    if degree is None:
        lengths = () if scales is None else tuple(scales)
        if not lengths or not all(0 < length < np.inf for length in lengths):
            raise ValueError(
                f"`activation` must have a `degree` or `scales`, got {activation!r} with degree "
                f"None and scales {scales!r}: write `degree = k` if value(s z) = s**k value(z) for "
                "every s > 0, otherwise `scales = (1.0, 2.0, 4.0, 8.0)`, the inner weights to try "
                "for inputs in [-1, 1]."
            )
    elif not isinstance(degree, int) or degree < 1:
        raise ValueError(
            f"`activation` must have an integer of at least 1 as `degree`, got {degree!r}: remove "
            "`degree` and define `scales` instead."
        )
    elif not np.allclose(_numbers(activation, "value", 3 * z), 3.0**degree * value, rtol=1e-9):
        raise ValueError(
            f"`activation` must be homogeneous of its `degree`, value(3 z) = {3**degree} value(z), "
            f"got {activation!r}: remove `degree` and define `scales` instead."
        )


def _numbers(activation: Activation, what: str, z: Array) -> Array:
    """Return `value` or `slope` at some points, which must be finite numbers."""
    numbers = np.asarray(getattr(activation, what)(z.copy()))
    if numbers.shape != z.shape or not np.isfinite(numbers).all():
        raise ValueError(
            f"`activation` must return one finite number for each z from `{what}`, got {numbers!r} "
            f"for {z}."
        )
    return numbers
