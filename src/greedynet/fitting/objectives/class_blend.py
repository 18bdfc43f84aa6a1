"""The blend of a classifier: class shares, logistic regression and network, as one network.

    f = (1 - a - b) f_shares + a f_line + b f_network,        a, b >= 0,  a + b <= 1,

with the weights that are best on held-out rows. A part that hardly helps is left out.
"""

from dataclasses import dataclass, field

import numpy as np

from greedynet.correction.log_loss_descent import Weights
from greedynet.fitting.objective import Decision
from greedynet.fitting.objectives.class_held_out import HeldOut
from greedynet.model.ladder import Ladder
from greedynet.model.uncertainty.evidence import Unseen
from greedynet.rows.rows import Rows
from greedynet.support.types import Float64


@dataclass(frozen=True)
class Rung(Decision):
    """The decision of a ladder.

    Attributes
    ----------
    line_ridge, ridge : float
        Ridges of the logistic regression and of the network.
    line, network : float
        Weights `a` and `b` of the blend.
    starts : tuple of Weights
        The network of each fold, from which that of all rows starts; empty if it is grown.
    expected : float or None
        Mean log-loss of the held-out rows.
    unseen : Unseen or None
        Their logits.
    candidates : Ladder or None
        What was compared on these rows; None if nothing was.
    """

    line_ridge: float = 0.0
    ridge: float = 0.0
    line: float = 0.0
    network: float = 1.0
    starts: tuple[Weights, ...] = ()
    expected: float | None = None
    unseen: Unseen | None = field(default=None, compare=False, repr=False)
    candidates: Ladder | None = field(default=None, compare=False, repr=False)


def shares_weights(rows: Rows) -> Weights:
    """Return the network whose logits are those of the class shares."""
    shares = np.average(rows.Y, axis=0, weights=rows.weights)
    # Half a row of an absent class keeps its logit finite.
    shares = np.clip(shares, 0.5 / len(rows), 1 - 0.5 / len(rows))
    constant = np.log(shares / (1 - shares)) if len(shares) == 1 else np.log(shares)
    L = np.zeros((rows.n_features + 1, len(shares)))
    L[-1] = constant - (0.0 if len(shares) == 1 else constant.mean())
    return Weights(np.zeros((0, rows.n_features + 1)), np.zeros((0, len(shares))), L)


def blended(shares: Weights, line: Weights, network: Weights, rung: Rung) -> Weights:
    """Return the blend of three networks, of which only the last has neurons."""
    rest = 1.0 - rung.line - rung.network
    L = rest * shares.L + rung.line * line.L + rung.network * network.L
    return Weights(network.W, rung.network * network.C, L)


def blended_logits(
    shares: Float64, line: Float64, network: Float64 | None, a: float, b: float
) -> Float64:
    """Return the logits of a blend, given those of its parts."""
    other = shares if network is None else network
    return np.asarray(shares + a * (line - shares) + b * (other - shares))


def best_blend(
    held: HeldOut,
    shares: Float64,
    line: Float64,
    network: Float64 | None,
    n_steps: int,
    near_tie: float,
) -> tuple[float, float, float]:
    """Return `a` and `b` of the simplest blend that is nearly as good as the best, and its loss.

    Parameters
    ----------
    held : HeldOut
    shares, line, network : ndarray of shape (n_held_out, n_outputs)
        Logits of the held-out rows; None if no network is worth trying.
    n_steps : int
        Number of steps of each weight from 0 to 1; 1 for no blends.
    near_tie : float
        A simpler blend is kept if it is worse by at most this many standard errors.
    """

    def logits(weights: tuple[float, float]) -> Float64:
        return blended_logits(shares, line, network, *weights)

    best = [
        min(_weights(last, n_steps), key=lambda weights: held.prudent(logits(weights)))
        for last in range(2 if network is None else 3)
    ]
    lowest = held.losses(logits(best[-1]))

    def is_as_good(weights: tuple[float, float]) -> bool:
        more, spread = held.excess(held.losses(logits(weights)), lowest)
        return more <= near_tie * spread

    a, b = next(weights for weights in best if is_as_good(weights))
    return a, b, held.prudent(logits((a, b)))


def _weights(last: int, n_steps: int) -> list[tuple[float, float]]:
    """Return the weights `a`, `b` to try with the shares, up to the line, or up to the network."""
    n = n_steps
    pairs = [(i / n, j / n) for j in range(n + 1) for i in range(n + 1 - j)]
    most = [(0.0, 0.0), (1.0, 0.0), (1.0, 1.0)][last]
    return [(a, b) for a, b in pairs if a <= most[0] and b <= most[1]]
