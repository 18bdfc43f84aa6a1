"""The ridgelet transform, its collapsed form and the reduction of the dictionary (GSN 2).

For a target `f` on `R^d`, inner weights `a`, bias `b` and the profile

    tau(z) = -(exp(-z^2 / 2))'''' / (2 (2 pi)^(d - 1/2)),

the ridgelet transform (Section 3.1 of the paper) is

    R f(a, b) = int f(x) tau(a . x + b) dx

and its collapsed form on the unit sphere, with `phi = (a, b)`,

    CR f(phi) = int_0^inf R f(r phi) r^(d + 1) dr.

A point of the sphere with a small `|CR f|` contributes little to `f`, so its atom can be omitted.

The integral over `x` becomes a sum over the data with quadrature weights; the radial integral is
truncated at a reach `R`, since a profile narrower than the spacing of the data only resolves single
points. The radial integral has a closed form: for one data point it depends on `z = phi . (x, 1)`
alone,

    int_0^R tau(r z) r^(d + 1) dr = R^(d + 2) T(R z),
    T(u) = u^-(d + 2) int_0^u tau(s) s^(d + 1) ds,

so `CR f` costs one evaluation of `T` per point and row, independent of the reach.
"""

from dataclasses import dataclass
from math import factorial

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.spatial import Delaunay, QhullError

from greedynet.support.checks import check_columns, check_matrix, check_same_length, is_number
from greedynet.support.types import Float64

REACH_PER_SPACING = 1.5
THRESHOLD = 1e-3
_BLOCK_ELEMENTS = 2**21


@dataclass(frozen=True, eq=False)
class CollapsedTransform:
    """Values of `CR f(phi)` for points on the sphere.

    Attributes
    ----------
    points : ndarray of shape (n_points, d + 1)
        Points `phi` on the sphere, bias last.
    values : ndarray of shape (n_points,)
        `CR f(phi)`; for several outputs the norm over them.
    reach : float
        Upper limit of the radial integral.
    """

    points: Float64
    values: Float64
    reach: float

    def keep(self, threshold: float = THRESHOLD) -> NDArray[np.bool_]:
        """Return where `|CR f|` exceeds `threshold` times its maximum: the reduced dictionary."""
        if not is_number(threshold) or not 0 <= threshold < 1:
            raise ValueError(
                f"`threshold` must be at least 0 and below 1 (a fraction of the maximum), got "
                f"{threshold}; the paper uses 0.001."
            )
        size = np.abs(self.values)
        return np.asarray(size > threshold * size.max())


def profile(z: ArrayLike, n_features: int) -> Float64:
    """Return the paper's `tau(z) = -(z^4 - 6 z^2 + 3) exp(-z^2 / 2) / (2 (2 pi)^(d - 1/2))`."""
    square = np.asarray(z, dtype=np.float64) ** 2
    scale = -0.5 * (2 * np.pi) ** (0.5 - n_features)
    return np.asarray(scale * (square**2 - 6 * square + 3) * np.exp(-0.5 * square))


def collapsed_profile(u: ArrayLike, n_features: int) -> Float64:
    """Return `T(u) = u^-(d + 2) int_0^u tau(s) s^(d + 1) ds`, in closed form.

    With `g(s) = exp(-s^2 / 2)` and `m = d + 1`, integrating by parts,

        int_0^u s^m g''''(s) ds = [s^m g''' - m s^(m-1) g'' + m (m-1) s^(m-2) g' - ...]_0^u.

    Below `|u| = 1` the terms cancel, and the power series of the integral is summed instead. `T` is
    even; for odd `d` it decays like a Gaussian, for even `d` like `u^-(d + 2)`: in even dimensions
    the transform is not local, so the reduction removes less.
    """
    size = np.abs(np.asarray(u, dtype=np.float64))
    scale = -0.5 * (2 * np.pi) ** (0.5 - n_features)
    small = size < 1.0
    far = np.where(small, 1.0, size)
    values = _moment_by_parts(far, n_features + 1) / far ** (n_features + 2)
    values[small] = _moment_series(size[small], n_features + 1)
    return np.asarray(scale * values)


def _moment_by_parts(u: Float64, m: int) -> Float64:
    """Integral of `s^m g''''(s)` from 0 to u, for m = 2 or 3."""
    g = np.exp(-0.5 * u**2)
    g1, g2, g3 = -u * g, (u**2 - 1) * g, (3 * u - u**3) * g
    if m == 2:
        return np.asarray(u**2 * g3 - 2 * u * g2 + 2 * g1)
    return np.asarray(u**3 * g3 - 3 * u**2 * g2 + 6 * u * g1 - 6 * g + 6)


def _moment_series(u: Float64, m: int) -> Float64:
    """Integral of `s^m g''''(s)` from 0 to u, over `u^(m + 1)`, by its power series."""
    # g(s) = sum_k (-1/2)^k s^(2k) / k!, so g'''' has (2k)!/(2k-4)! s^(2k-4) in place of s^(2k).
    total = np.zeros_like(u)
    for k in range(2, 16):
        coefficient = (-0.5) ** k / factorial(k) * factorial(2 * k) / factorial(2 * k - 4)
        total += coefficient * u ** (2 * k - 4) / (2 * k - 4 + m + 1)
    return total


def ridgelet_transform(points: ArrayLike, radii: ArrayLike, X: ArrayLike, y: ArrayLike) -> Float64:
    """Ridgelet transform `R f(r phi)` of values given on data points.

    Parameters
    ----------
    points : array-like of shape (n_points, d + 1)
        Points `phi` on the sphere, bias last.
    radii : array-like of shape (n_radii,)
        Radii `r > 0`.
    X : array-like of shape (n_rows, d)
        Data points, on a grid or scattered; `d` is 1 or 2.
    y : array-like of shape (n_rows,)
        Values of the target.

    Returns
    -------
    values : ndarray of shape (n_points, n_radii)
        `R f(r phi)`.
    """
    phi, rows, f = _check(points, X, y)
    r = check_columns(radii, "radii")
    if r.shape[1] != 1 or r.min() <= 0:
        raise ValueError(
            f"`radii` must be positive numbers of shape (n_radii,), got {r.shape[1]} columns and "
            f"the smallest number {r.min()}."
        )
    r = r[:, 0]
    if f.shape[1] != 1:
        raise ValueError(
            f"`y` must have one output, got {f.shape[1]}: transform one column at a time."
        )
    weighted = quadrature_weights(rows) * f[:, 0]
    values = np.empty((len(phi), len(r)))
    for block in _blocks(len(phi), len(rows)):
        z = phi[block, :-1] @ rows.T + phi[block, -1:]
        for k in range(len(r)):
            values[block, k] = profile(r[k] * z, rows.shape[1]) @ weighted
    return values


def collapsed_ridgelet_transform(
    points: ArrayLike, X: ArrayLike, y: ArrayLike, *, reach: float | None = None
) -> CollapsedTransform:
    """Collapsed ridgelet transform `CR f(phi)` of values given on data points.

    Parameters
    ----------
    points : array-like of shape (n_points, d + 1)
        Points `phi` on the sphere, bias last.
    X : array-like of shape (n_rows, d)
        Data points, on a grid or scattered; `d` is 1 or 2.
    y : array-like of shape (n_rows,) or (n_rows, n_outputs)
        Values of the target.
    reach : float or None, default=None
        Upper limit of the radial integral; None for 1.5 over the spacing of the data.

    Returns
    -------
    transform : CollapsedTransform
    """
    phi, rows, f = _check(points, X, y)
    d = rows.shape[1]
    weights = quadrature_weights(rows)
    if reach is None:
        reach = REACH_PER_SPACING / spacing(rows, weights)
    if not is_number(reach) or not 0 < reach < np.inf:
        raise ValueError(f"`reach` must be a positive number or None, got {reach}.")
    weighted = weights[:, None] * f
    values = np.empty(len(phi))
    for block in _blocks(len(phi), len(rows)):
        z = phi[block, :-1] @ rows.T + phi[block, -1:]
        transform = collapsed_profile(reach * z, d) @ weighted
        values[block] = transform[:, 0] if f.shape[1] == 1 else np.linalg.norm(transform, axis=1)
    return CollapsedTransform(phi, reach ** (d + 2) * values, float(reach))


def quadrature_weights(X: Float64) -> Float64:
    """Return the volume of the cell of each data point; repeated points share a cell.

    In one dimension the cells extend half-way to the neighbours; in two, each triangle of the
    Delaunay triangulation contributes a third of its area to each of its vertices.
    """
    check_dimension(X.shape[1])
    distinct, place, count = np.unique(X, axis=0, return_inverse=True, return_counts=True)
    cells = _cells_1d(distinct[:, 0]) if X.shape[1] == 1 else _cells_2d(distinct)
    place = place.reshape(-1)
    return np.asarray(cells[place] / count[place])


def spacing(X: Float64, weights: Float64) -> float:
    """Return the spacing of a regular grid with as many points on the same domain.

    For volume `V` and `n` distinct points it is `V^(1/d) / (n^(1/d) - 1)`, exact on tensor grids.
    """
    d = X.shape[1]
    n = len(np.unique(X, axis=0))
    return float(weights.sum() ** (1 / d) / (n ** (1 / d) - 1))


def check_dimension(n_features: int) -> None:
    """Raise an error beyond two dimensions, where data do not suffice for the transform."""
    if n_features > 2:
        raise ValueError(
            f"The ridgelet transform needs data with 1 or 2 features, got {n_features}: its "
            "integral over the inputs cannot be computed from scattered data in higher dimensions. "
            "Write `reduction=None`; if the dictionary is too large, lower `n_points`."
        )


def _cells_1d(x: Float64) -> Float64:
    if len(x) < 2:
        raise ValueError(
            f"The ridgelet transform needs at least 2 distinct data points, got {len(x)}: write "
            "`reduction=None`."
        )
    gaps = np.diff(x)
    return 0.5 * (np.append(gaps, 0.0) + np.append(0.0, gaps))


def _cells_2d(X: Float64) -> Float64:
    try:
        corners = Delaunay(X).simplices
    except (QhullError, ValueError):
        raise ValueError(
            f"The ridgelet transform needs data points that span the plane, got {len(X)} distinct "
            "points on a line: write `reduction=None`, or remove the dependent feature."
        ) from None
    sides = X[corners[:, 1:]] - X[corners[:, :1]]
    areas = 0.5 * np.abs(np.linalg.det(sides))
    thirds = np.repeat(areas / 3, 3)
    return np.asarray(np.bincount(corners.ravel(), thirds, len(X)), dtype=np.float64)


def _check(points: ArrayLike, X: ArrayLike, y: ArrayLike) -> tuple[Float64, Float64, Float64]:
    phi, rows, f = check_matrix(points, "points"), check_matrix(X, "X"), check_columns(y, "y")
    check_same_length(X=rows, y=f)
    check_dimension(rows.shape[1])
    if phi.shape[1] != rows.shape[1] + 1:
        raise ValueError(
            f"`points` must have one column more than `X` (the bias, last): {rows.shape[1] + 1}, "
            f"got {phi.shape[1]}."
        )
    return phi, rows, f


def _blocks(n_points: int, n_rows: int) -> list[slice]:
    step = max(1, _BLOCK_ELEMENTS // n_rows)
    return [slice(start, start + step) for start in range(0, n_points, step)]
