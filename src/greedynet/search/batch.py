"""Several neurons from one scan: a cheap start for networks that are corrected or have a shape.

Every direction of a pool is scanned once for its best threshold. Of the best of these neurons, the
orthogonal greedy algorithm takes a few, each on what the others leave of the residual, so that they
do not all say the same. Earlier neurons need not be considered: their correction has left nothing
of the residual along them. Nothing is refined: the joint correction moves all of them anyway.
"""

from collections.abc import Sequence

import numpy as np

from greedynet.activations import Activation, degree_of
from greedynet.rows.rows import Rows
from greedynet.rows.shape import Shape
from greedynet.search.base import to_few_digits
from greedynet.search.scans import Group, make_group
from greedynet.search.sphere import directions
from greedynet.support.types import Float64

# From so many times the neurons that are wanted, the best by the scan, they are chosen.
_CHOICE = 4
# Neurons with a smaller share of their square outside the span are left out: with signs, and
# without.
_SIGNED_DEPENDENT, _DEPENDENT = 1e-5, 1e-4
# Directions of the largest neurons so far are scanned again: similar ones matter most.
_LEARNED = 32


class SignedSearch:
    """Finds several monotone neurons at once for a residual.

    At least `min_active` rows lie on either side of a kink.
    """

    def __init__(self, rows: Rows, shape: Shape, min_active: int) -> None:
        self._X = np.ascontiguousarray(rows.X, dtype=np.float64)
        self._scale = np.ones(len(rows)) if rows.row_scale is None else rows.row_scale
        self._shape, self._min_active = shape, min_active
        X1 = np.column_stack([np.ones(len(rows)), self._X])
        self._affine = np.linalg.qr(X1 * self._scale[:, None])[0]

    def propose(
        self, residual: Float64, free: Float64, directions: Float64, n_more: int
    ) -> Float64:
        """Return at most `n_more` neurons, bias last.

        `free` are the columns of the network whose weights are free; like the residual, they
        include the square roots of the sample weights. The directions are unit vectors.
        """
        Q = np.linalg.qr(free)[0]
        residual = residual - Q @ (Q.T @ residual)
        found: list[Float64] = []
        while len(found) < n_more:
            W, signs = self._scanned(residual, directions)
            # Few directions, and always a single input, are scanned again for the other neurons.
            n_taken = min(n_more - len(found), max(1, len(W) // 2))
            W, signs = W[: _CHOICE * n_taken], signs[: _CHOICE * n_taken]
            taken, Q, residual = self._taken(W, signs, Q, residual, n_taken)
            if not taken:
                break
            found += taken
        return np.reshape(found, (-1, self._X.shape[1] + 1))

    def _scanned(self, residual: Float64, directions: Float64) -> tuple[Float64, Float64]:
        """Return the best neuron of every direction and sign, the best one first."""
        along = self._shape.monotone * ((self._scale * residual) @ self._X)
        scores, points, signs = [], [], []
        for u in directions:
            allowed = [
                sign
                for sign in (1.0, -1.0)
                if not ((self._shape.convex != 0) & (self._shape.convex != sign) & (u != 0)).any()
            ]
            gains, sizes, thresholds = self._of_direction(residual, u)
            for sign in allowed:
                given = np.maximum(0.0, -sign * self._shape.monotone * u) @ along
                gain = np.maximum(sign * gains + given, 0.0)
                of_sign = np.where(sizes > 0, gain**2 / np.where(sizes > 0, sizes, 1.0), 0.0)
                best = int(np.argmax(to_few_digits(of_sign)))
                scores.append(of_sign[best])
                points.append(np.append(u, -thresholds[best]))
                signs.append(sign)
        order = np.argsort(-to_few_digits(np.array(scores)), kind="stable")
        order = order[np.array(scores)[order] > 0]
        return np.reshape(points, (-1, self._X.shape[1] + 1))[order], np.array(signs)[order]

    def _of_direction(self, residual: Float64, u: Float64) -> tuple[Float64, Float64, Float64]:
        """Return `<r, g>` and `|(I - AA') g|^2` of `g = relu(u . x - t)`, and all thresholds.

        The squared norm is zero where a threshold has too few rows on one side.
        """
        z = self._X @ u
        order = np.argsort(-z, kind="stable")
        z, scale = z[order], self._scale[order]
        columns = np.column_stack([residual, self._affine])[order] * scale[:, None]
        # <v, relu(z - t)> at t = z_j: the sum of v_i z_i, minus t times that of v_i, over i <= j.
        products = np.cumsum(columns * z[:, None], axis=0) - z[:, None] * np.cumsum(columns, axis=0)
        w = scale**2
        squares = np.cumsum(w * z**2) - 2 * z * np.cumsum(w * z) + z**2 * np.cumsum(w)
        outside = squares - np.einsum("ij,ij->i", products[:, 1:], products[:, 1:])
        n = np.arange(len(z))
        allowed = (n >= self._min_active) & (len(z) - n >= self._min_active)
        allowed &= outside > _SIGNED_DEPENDENT * squares
        return products[:, 0], np.where(allowed, outside, 0.0), z

    def _taken(
        self, W: Float64, signs: Float64, Q: Float64, residual: Float64, n_neurons: int
    ) -> tuple[list[Float64], Float64, Float64]:
        """Take neurons one by one; return them, the new span and what is left of the residual."""
        G = np.maximum(self._X @ W[:, :-1].T + W[:, -1], 0.0)
        G -= self._X @ self._shape.taken(W, signs)[:, :-1].T
        G *= self._scale[:, None]
        size = np.einsum("ij,ij->j", G, G)
        G -= Q @ (Q.T @ G)
        taken, new = [], []
        for _ in range(min(n_neurons, len(W))):
            outside, gains = np.einsum("ij,ij->j", G, G), G.T @ residual
            usable = (outside > _SIGNED_DEPENDENT * size) & (signs * gains > 0)
            scores = np.where(usable, gains**2 / np.where(usable, outside, 1.0), 0.0)
            best = int(np.argmax(to_few_digits(scores)))
            if not scores[best] > 0:
                break
            taken.append(W[best])
            q = G[:, best] / np.sqrt(outside[best])
            new.append(q)
            residual = residual - q * (q @ residual)
            G -= np.outer(q, q @ G)
        return taken, np.column_stack([Q, *new]), residual


class BatchSearch:
    """Finds several neurons at once for a residual.

    `affine` are the orthonormal columns of the affine term; like the residual, they include the
    square roots of the sample weights. At least `min_active` rows lie on either side of a kink.
    """

    def __init__(
        self, rows: Rows, affine: Float64, activation: Activation, min_active: int, seed: int
    ) -> None:
        self._X = np.ascontiguousarray(rows.X, dtype=np.float64)
        self._scale = 1.0 if rows.row_scale is None else rows.row_scale[:, None]
        self._affine, self._activation, self._min_active = affine, activation, min_active
        weights = np.empty(0) if rows.weights is None else rows.weights
        mirrored = affine.shape[1] > 0 and degree_of(activation) == 1
        self._make = make_group(activation, self._X, weights, mirrored=mirrored)
        self._off = np.ascontiguousarray(affine * self._scale)
        self._pool = self._group(directions(self._X, seed))

    def _group(self, found: Float64) -> Group:
        group = self._make(found)
        group.take_off(self._off, self._off.shape[1])
        return group

    def propose(self, residual: Float64, W: Float64, n_more: int) -> tuple[Float64, Float64]:
        """Return at most `n_more` neurons and their outer weights for a residual.

        `W` are the inner weights of the neurons so far, `(k, d + 1)`, the largest first.
        """
        groups = [self._pool, *self._learned(W)]
        chosen = _Chosen(self._affine, residual)
        while chosen.size < n_more:
            n_before = chosen.size
            found = self._scanned(chosen.residual, groups)
            # Few directions, and always a single input, are scanned again for the other neurons.
            n_taken = min(n_more - chosen.size, max(1, len(found) // 2))
            found = found[: _CHOICE * n_taken]
            chosen.take(found, self._columns(found), n_taken)
            if chosen.size == n_before:
                break
        return chosen.neurons(W.shape[1])

    def _columns(self, W: Float64) -> Float64:
        """Return the columns of neurons, times the square roots of the sample weights."""
        values = self._activation.value(self._X @ W[:, :-1].T + W[:, -1])
        return np.asarray(values * self._scale, dtype=np.float64)

    def _learned(self, W: Float64) -> list[Group]:
        """Return the directions of the largest neurons, which new ones often resemble."""
        found = W[:_LEARNED, :-1]
        length = np.linalg.norm(found, axis=1)
        found = found[length > 0] / length[length > 0, None]
        return [self._group(found)] if self._X.shape[1] > 1 and len(found) else []

    def _scanned(self, residual: Float64, groups: Sequence[Group]) -> Float64:
        """Return the best neuron of every direction, the best one first."""
        r = np.ascontiguousarray((residual * self._scale).T)
        scans = [group.scan(r, self._min_active, _DEPENDENT) for group in groups]
        scores, points = (np.concatenate(parts) for parts in zip(*scans, strict=True))
        order = np.argsort(-to_few_digits(scores), kind="stable")
        return np.asarray(points[order[scores[order] > 0]])


class _Chosen:
    """Neurons chosen one by one, and what they leave of a residual, beside the columns `Q`."""

    def __init__(self, Q: Float64, residual: Float64) -> None:
        self._Q, self._new = Q, list[Float64]()
        self.residual = residual - Q @ (Q.T @ residual)
        self._W: list[Float64] = []
        self._weights: list[Float64] = []

    @property
    def size(self) -> int:
        return len(self._W)

    def neurons(self, n_weights: int) -> tuple[Float64, Float64]:
        """Return inner weights, so many for each neuron, and outer ones."""
        t = self.residual.shape[1]
        return np.reshape(self._W, (-1, n_weights)), np.reshape(self._weights, (-1, t))

    def take(self, W: Float64, G: Float64, n_neurons: int) -> None:
        """Take at most `n_neurons` of the neurons `W` with columns `G`.

        Always the one with the largest `|<r, g>|^2 / |g|^2`, where `g` is its component outside the
        span of those before.
        """
        size = np.einsum("ij,ij->j", G, G)
        G = G - self._Q @ (self._Q.T @ G)
        for q in self._new:
            G -= np.outer(q, q @ G)
        for _ in range(min(n_neurons, len(W))):
            outside = np.einsum("ij,ij->j", G, G)
            free = outside > _DEPENDENT * size
            outside = np.where(free, outside, 1.0)
            gains = G.T @ self.residual
            scores = np.where(free, np.einsum("ij,ij->i", gains, gains) / outside, 0.0)
            best = int(np.argmax(to_few_digits(scores)))
            if not scores[best] > 0:
                break
            self._W.append(W[best])
            self._weights.append(gains[best] / outside[best])
            q = G[:, best] / np.sqrt(outside[best])
            self._new.append(q)
            self.residual = self.residual - np.outer(q, q @ self.residual)
            G -= np.outer(q, q @ G)
