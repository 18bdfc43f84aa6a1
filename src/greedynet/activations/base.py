"""The interface of an activation, properties derived from it, and checks of user-defined ones."""

from typing import Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.floating]


@runtime_checkable
class Activation(Protocol):
    """Interface of an activation, besides its `degree` or its `scales`."""

    @property
    def name(self) -> str:
        """The name under which it is saved and loaded."""
        ...

    def value(self, z: Array) -> Array:
        """Return the activation of `z`, elementwise."""
        ...

    def slope(self, z: Array) -> Array:
        """Return the derivative at `z`, elementwise; at a kink, the derivative from the left."""
        ...


def degree_of(activation: Activation) -> int | None:
    """Return the degree of homogeneity, or None."""
    return getattr(activation, "degree", None)


def shared_degree(activation: Activation) -> int:
    """Return the degree with which a factor of the inner weights acts on the outer ones, or 0."""
    return degree_of(activation) or 0


def scales_of(activation: Activation) -> tuple[float, ...]:
    """Return the norms of inner weights to search; only 1 if the norm does not matter."""
    if degree_of(activation) is not None:
        return (1.0,)
    return tuple(float(scale) for scale in activation.scales)  # type: ignore[attr-defined]


def halves(activation: Activation) -> tuple[float, float]:
    """Return `p, m` of a homogeneous activation `p relu(z)**k + m relu(-z)**k`."""
    up, down = activation.value(np.array([1.0, -1.0]))
    return float(up), float(down)


def odd_part(activation: Activation) -> float | None:
    """Return the nonzero `s` with `sigma(z) - sigma(-z) = s z`; None if there is none.

    Two neurons of such an activation form a linear function, so that in a network with an affine
    term the neurons of `(a, b)` and `(-a, -b)` are equivalent.
    """
    z = np.array([1.0, 0.125, 0.7, 3.0, 17.0])
    with np.errstate(all="ignore"):
        ratio = (activation.value(z) - activation.value(-z)) / z
    s = float(ratio[0])
    return s if s != 0 and np.allclose(ratio, s, rtol=1e-12, atol=0) else None


# Where the slopes of an activation are looked at.
_GRID = np.concatenate([-np.geomspace(50.0, 1e-3, 400), np.geomspace(1e-3, 50.0, 400)])


def has_small_slopes(activation: Activation) -> bool:
    """Whether all slopes lie between 0 and 1, as far as a grid can show."""
    slopes = activation.slope(_GRID.copy())
    return bool((slopes >= 0).all() and (slopes <= 1).all())


def is_convex(activation: Activation) -> bool:
    """Whether slopes never fall, as far as a grid can show."""
    return bool((np.diff(activation.slope(_GRID.copy())) >= 0).all())


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
