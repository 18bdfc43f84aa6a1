"""A network on standardised rows, and lower bounds of all networks by the dual problem.

Correction minimises, on standardised rows, with the affine term free,

    P = || y - g(X) ||^2 + 2 lam sum_j |c_j| |w_j|,    w_j = (a_j, b_j).

Over networks of any width this is a convex problem. Its dual: for every `t` that is orthogonal to
the affine functions and has `|<t, relu(X1 w)>| <= lam |w|` for all `w`,

    P >= 2 <t, y> - |t|^2,

because `|y - g|^2 >= 2 <t, y - g> - |t|^2` and `<t, g> <= sum_j |c_j| lam |w_j|`. The residual `r`
of a network, scaled by `s = min(<r, y> / |r|^2, lam / M)`, `M = max over |w| = 1 of
|<r, relu(X1 w)>|`, is such a `t` (`peak.py` bounds `M`).

At a small ridge, the residual of the network itself is a poor choice. Better ones are residuals of
the lasso whose columns are the network's neurons and, one round after the other, the neurons that
attain `M`: its objective falls towards that of the best network, and `M` towards `lam`.
"""

import time
from dataclasses import dataclass

import numpy as np

from greedynet.activations import halves
from greedynet.exact.lasso import ActiveLasso
from greedynet.exact.peak import Peak, best_neurons, peak
from greedynet.model.network import Network
from greedynet.rows.affine import AffineTerm
from greedynet.rows.rows import Rows
from greedynet.rows.scaling import InputScaling, OutputScaling
from greedynet.support.types import Float64

# With more columns, the sphere is too large to cover: `M` is estimated.
MOST_PROVEN = 3
# Rounds of columns, and the gap of the lasso to its dual at which they end.
_ROUNDS, _CLOSE = 400, 1e-3
# Share of the time for rounds; the rest is for the proof.
_SHARE = 0.5
# Points from which an estimate of `M` climbs: drawn at random, and near each neuron.
_DRAWN, _NEAR = 2_048, 8


@dataclass(frozen=True)
class Dual:
    """A lower bound of all networks, the best objective found, and whether the bound is proven."""

    bound: float
    best: float
    proven: bool


class Problem:
    """A network on standardised rows, its neurons as unit vectors with outer weights.

    Attributes
    ----------
    X1 : ndarray of shape (n_rows, d + 1)
        Sample weights included, which a ReLU lets through.
    Y : ndarray of shape (n_rows,)
        Orthogonal to the affine columns.
    points : ndarray of shape (n_neurons, d + 1)
        Inner weights as unit vectors, bias last.
    outer : ndarray of shape (n_neurons,)
        Outer weights of the unit vectors: their absolute values are the sizes of the neurons.
    """

    def __init__(self, network: Network, rows: Rows) -> None:
        inputs = InputScaling.standard(rows)
        outputs = OutputScaling.of(rows, centred=network.has_affine_term)
        scaled = Rows(inputs.apply(rows.X), outputs.apply(rows.Y), rows.weights)
        has_affine = network.has_affine_term
        self.affine = (AffineTerm.of if has_affine else AffineTerm.absent)(scaled).columns
        self.symmetric = has_affine
        ones = np.ones((len(rows), 1))
        self.X1 = scaled.weighted(np.column_stack([scaled.X, ones]))
        self.Y = self.free(scaled.weighted(scaled.Y)[:, 0])
        left = scaled.weighted((rows.Y - network.predict(rows.X)[:, None]) / outputs.scale)[:, 0]
        self.error = float(left @ left)
        self.residual = self.free(left)
        points = inputs.unfold(np.column_stack([network.inner_weights, network.biases]))
        sizes = np.linalg.norm(points, axis=1)
        self.points = points / np.where(sizes > 0, sizes, 1.0)[:, None]
        up, down = halves(network.activation)
        # sigma(z) = (up + down) relu(z) - down z, whose last part belongs to the affine term.
        self.up = up + down
        self.outer = network.outer_weights[:, 0] * sizes / outputs.scale[0]
        drawn = np.random.default_rng(0).normal(size=(_DRAWN, self.X1.shape[1]))
        drawn /= np.linalg.norm(drawn, axis=1)[:, None]
        self.starts = np.concatenate([self.points, drawn])

    def free(self, v: Float64) -> Float64:
        """Return the part of columns that is orthogonal to the affine functions."""
        for _ in range(2):
            v = v - self.affine @ (self.affine.T @ v)
        return v

    def implied_ridge(self) -> float:
        """Return the ridge at which a common factor of all outer weights is best."""
        size = float(np.abs(self.outer).sum())
        if size == 0:
            return self._all_off()
        hidden = self.up * np.maximum(self.X1 @ self.points.T, 0.0)
        found = float(self.outer @ (hidden.T @ self.residual)) / size
        if found <= 0:
            raise ValueError(
                "`ridge` must be given: the neurons of this network do not fit these rows at any "
                f"ridge (it would be {found / len(self.Y):.3g}). Are they the training rows?"
            )
        return found

    def _all_off(self) -> float:
        """Return the ridge at which a line is best: the largest correlation of a neuron."""
        return self.peak(self.Y, 1.0).bound or 1.0

    @property
    def proves(self) -> bool:
        """Whether `M` is bounded, and not only estimated."""
        return self.X1.shape[1] - 1 <= MOST_PROVEN

    def likely_peak(self, target: Float64, near: Float64) -> Peak:
        """Return the neurons most like a vector that climbing finds, with a bound that may fail.

        Climbing starts from points drawn at random, and from some near those that are given.
        """
        rng = np.random.default_rng(0)
        scales = 10.0 ** rng.uniform(-4, -0.5, (_NEAR, 1, 1))
        moved = near + scales * rng.normal(size=(_NEAR, *near.shape))
        moved = moved.reshape(-1, near.shape[1])
        moved /= np.linalg.norm(moved, axis=1)[:, None]
        points, value = best_neurons(self.X1, target, np.concatenate([self.starts, moved]))
        return Peak(points, abs(self.up) * value, abs(self.up) * value)

    def peak(self, target: Float64, seconds: float) -> Peak:
        """Return the neurons most like a vector, with a bound that holds if it can be proven."""
        if not self.proves:
            return self.likely_peak(target, self.points)
        symmetric, starts = self.symmetric, self.starts
        found = peak(
            self.X1, target, symmetric=symmetric, starts=starts, close=_CLOSE / 2, seconds=seconds
        )
        return Peak(found.points, abs(self.up) * found.value, abs(self.up) * found.bound)

    def dual(self, lam: float, end: float) -> Dual:
        """Return the largest lower bound that was found before the time is over."""
        lasso = ActiveLasso(self.Y, lam)
        points = self.points
        lasso.extend(self.columns(points))
        best = self.error + 2.0 * lam * float(np.abs(self.outer).sum())
        soon = time.perf_counter() + _SHARE * (end - time.perf_counter())
        bound = 0.0
        for round_ in range(_ROUNDS):
            lasso.solve()
            best = min(best, lasso.objective)
            used = lasso.weights != 0
            points = points[used]
            lasso.keep(used)
            found = self.likely_peak(lasso.residual, points)
            last = round_ == _ROUNDS - 1 or time.perf_counter() > soon
            if last or best - self.bound_of(lasso.residual, lam, found) <= _CLOSE * best:
                # What climbing found may be too small: only this is a bound.
                found = self.peak(lasso.residual, end - time.perf_counter())
                bound = max(bound, self.bound_of(lasso.residual, lam, found))
                if last or best - bound <= 2 * _CLOSE * best:
                    break
            points = np.vstack([points, found.points])
            lasso.extend(self.columns(found.points))
        return Dual(bound, best, self.proves)

    def columns(self, points: Float64) -> Float64:
        """Return the columns of neurons beside the affine ones."""
        return self.free(self.up * np.maximum(self.X1 @ points.T, 0.0))

    def bound_of(self, residual: Float64, lam: float, found: Peak) -> float:
        """Return `2 <t, y> - |t|^2` of the residual, scaled to be feasible and best."""
        size, along = float(residual @ residual), float(residual @ self.Y)
        if size == 0 or along <= 0:
            return 0.0
        s = min(along / size, lam / found.bound if found.bound > 0 else np.inf)
        return 2.0 * s * along - s**2 * size
