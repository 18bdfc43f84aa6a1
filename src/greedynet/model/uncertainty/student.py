"""Student's t distribution of scores around zero, by maximum likelihood."""

from math import lgamma

import numpy as np

from greedynet.support.types import Float64

# Fewer degrees of freedom have no variance; more than the last are a normal distribution.
_DEGREES = (2.5, 3.0, 4.0, 5.0, 6.0, 8.0, 12.0, 20.0, 50.0, 200.0)
_N_STEPS = 30
# Of ratios of squares, and of the scale, which vanishes if nearly all scores are zero.
_LARGEST, _SMALLEST = 1e300, 1e-290


def student(scores: Float64, weights: Float64) -> tuple[float, float]:
    """Return degrees of freedom `v` and scale `t` of scores.

    For given `v`, the scale is the fixed point of `t^2 = mean of (v + 1) z^2 / (v + z^2 / t^2)`;
    among some `v`, the most likely is taken.
    """
    shares, squares = weights / weights.sum(), scores**2
    start = float(shares @ squares)
    if start == 0.0:
        return _DEGREES[-1], 0.0
    found = []
    for v in _DEGREES:
        t2 = start
        with np.errstate(over="ignore"):  # of scores that are far beyond all others
            for _ in range(_N_STEPS):
                t2 = max(float(shares @ _weighted(squares, v, t2)), _SMALLEST)
            larger = np.log1p(np.minimum(squares / (v * t2), _LARGEST))
        constant = lgamma((v + 1) / 2) - lgamma(v / 2) - 0.5 * np.log(v * np.pi * t2)
        likely = constant - (v + 1) / 2 * float(shares @ larger)
        found.append((likely, v, float(np.sqrt(t2))))
    _, degrees, scale = max(found)
    return degrees, scale


def _weighted(squares: Float64, v: float, t2: float) -> Float64:
    """Return `(v + 1) z^2 / (v + z^2 / t^2)`, which is at most `(v + 1) t^2`."""
    ratio = squares / t2
    return np.where(np.isfinite(ratio), (v + 1) * squares / (v + ratio), (v + 1) * t2)
