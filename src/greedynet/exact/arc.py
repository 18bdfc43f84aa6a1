"""The best unit vector along a great circle, exactly, and climbing from one circle to the next.

Along `w(s) = cos(s) w + sin(s) u`, with orthogonal unit vectors, a row is on in one half of the
circle, `x_i . w(s) = p_i cos(s) + q_i sin(s) > 0`, and between two such ends

    F(w(s)) = sum over rows that are on of t_i (p_i cos(s) + q_i sin(s)) = P cos(s) + Q sin(s),

which is largest at its peak, if that lies between them, or at an end. Sorted ends and running sums
give all pieces at once.
"""

import numpy as np

from greedynet.support.types import Float64

_STEPS = 30
# Rows that close to a kink, relative to their length, are on it.
_ON_KINK = 1e-9


def correlation(X1: Float64, target: Float64, points: Float64) -> Float64:
    """Return `|F|` at some unit vectors, `F(w) = sum_i t_i relu(x_i . w)`."""
    return np.abs(target @ np.maximum(X1 @ points.T, 0.0))


def best_on_circle(X1: Float64, target: Float64, w: Float64, u: Float64) -> tuple[Float64, float]:
    """Return the unit vector with the largest `|F|` on a great circle, and that value.

    Parameters
    ----------
    X1 : ndarray of shape (n_rows, d + 1)
    target : ndarray of shape (n_rows,)
    w, u : ndarray of shape (d + 1,)
        Orthogonal unit vectors.
    """
    p, q = X1 @ w, X1 @ u
    # A row is on for angles within a quarter turn of atan2(q, p).
    middle = np.arctan2(q, p)
    begins, ends = middle - np.pi / 2, middle + np.pi / 2
    on = np.cos(middle + np.pi) > 0  # at the angle -pi, where the sweep starts
    first = np.array([target[on] @ p[on], target[on] @ q[on]])
    angles = np.concatenate([_turned(begins), _turned(ends)])
    changes = np.concatenate([target, -target])
    order = np.argsort(angles, kind="stable")
    steps = changes[order, None] * np.tile(np.column_stack([p, q]), (2, 1))[order]
    P, Q = (first + np.vstack([np.zeros(2), np.cumsum(steps, axis=0)])).T
    low = np.concatenate([[-np.pi], angles[order]])
    high = np.append(angles[order], np.pi)
    tops = np.concatenate([np.arctan2(Q, P), np.arctan2(-Q, -P)])
    inside = (tops >= np.tile(low, 2)) & (tops <= np.tile(high, 2))
    sizes = np.where(inside, np.tile(np.hypot(P, Q), 2), 0.0)
    at_ends = np.abs(P * np.cos(low) + Q * np.sin(low))
    s = tops[int(sizes.argmax())] if sizes.max() > at_ends.max() else low[int(at_ends.argmax())]
    point = np.cos(s) * w + np.sin(s) * u
    point /= np.linalg.norm(point)
    return point, float(correlation(X1, target, point[None])[0])


def climbed(X1: Float64, target: Float64, point: Float64) -> tuple[Float64, float]:
    """Return a point with a larger `|F|`: the best along the gradient, again and again.

    On a kink, the gradient along the kink is tried as well.
    """
    value = float(correlation(X1, target, point[None])[0])
    lengths = np.linalg.norm(X1, axis=1)
    for _ in range(_STEPS):
        z = X1 @ point
        on_kink = np.abs(z) <= _ON_KINK * lengths
        pull = (target * (z > 0)) @ X1
        before = value
        for basis in (point[None], np.vstack([point[None], X1[on_kink]])):
            u = _left(pull, basis)
            if u is None:
                continue
            found, size = best_on_circle(X1, target, point, u)
            if size > value * (1 + 1e-12):
                point, value = found, size
                break
        if not value > before:
            break
    return point, value


def _left(v: Float64, basis: Float64) -> Float64 | None:
    """Return the direction of what is left of a vector beside others; None if nothing is."""
    Q, R = np.linalg.qr(basis.T)
    Q = Q[:, np.abs(np.diag(R)) > 1e-12 * np.abs(R).max(initial=1e-300)]
    left = v - Q @ (Q.T @ v)
    left = left - Q @ (Q.T @ left)
    size = np.linalg.norm(left)
    return left / size if size > 1e-10 * np.linalg.norm(v) else None


def _turned(angles: Float64) -> Float64:
    """Return angles between -pi and pi."""
    return np.asarray(np.mod(angles + np.pi, 2 * np.pi) - np.pi)
