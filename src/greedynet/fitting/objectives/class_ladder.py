"""The ladder of a classifier: candidates from simple to complex, scored alike on held-out rows.

    shares of the classes  ->  logistic regression  ->  networks of several ridges and widths

Every fold scales its own training rows and grows its own network on them, so that no candidate has
seen the rows that judge it. The logits of the three rungs are then blended (`class_blend.py`): a
blend is a network of the same form, and with few rows it is better than any of its parts. The
networks of the folds are also where the correction on all rows starts.
"""

import time
from collections.abc import Sequence

import numpy as np

from greedynet.correction.log_loss_descent import Weights
from greedynet.fitting.objectives.class_blend import (
    Rung,
    best_blend,
    blended_logits,
    shares_weights,
)
from greedynet.fitting.objectives.class_held_out import HeldOut
from greedynet.fitting.objectives.trials import (
    Part,
    Trials,
    largest,
    lowest_between,
    ridges_for,
    stage_ridge_for,
)
from greedynet.fitting.settings import LogisticSettings
from greedynet.model.ladder import BLEND, LINE, NETWORK, SHARES
from greedynet.model.ladder import Ladder as Candidates
from greedynet.support.types import Float64

# Weights of the line and of the network with which a blend is one of its parts.
_PURE = {(0.0, 0.0): SHARES, (1.0, 0.0): LINE, (0.0, 1.0): NETWORK}


class Ladder:
    """Candidates, and their logits on the held-out rows.

    Parameters
    ----------
    parts : sequence of Part
    trials : Trials
        Corrects networks.
    repeats : float
        How often a row is held out, on average.
    prunes : bool
        Whether narrower networks are tried, too.
    """

    def __init__(
        self,
        parts: Sequence[Part],
        trials: Trials,
        repeats: float = 1.0,
        *,
        prunes: bool = True,
    ) -> None:
        self._prunes = prunes
        self._parts, self._trials = parts, trials
        self._plan, self._context = trials.plan, trials.context
        self._settings: LogisticSettings = trials.plan.settings.logistic
        self._held = HeldOut(parts, repeats, self._plan.bounds)
        # Losses of networks that differ in their width only.
        self._of_widths: dict[int, float] = {}

    def _logits(self, networks: Sequence[Weights], parts: Sequence[Part] | None = None) -> Float64:
        """Return the logits of the held-out rows of folds, one network for each."""
        sigma, parts = self._plan.activation, self._parts if parts is None else parts
        return np.concatenate(
            [n.logits(part.held.X, sigma) for part, n in zip(parts, networks, strict=True)]
        )

    @property
    def _is_late(self) -> bool:
        """Whether the time for the choice is over."""
        return self._context.clock.is_over()

    def _score(self, networks: Sequence[Weights]) -> float:
        """Return the loss by which candidates are compared."""
        return self._held.prudent(self._logits(networks))

    def decided(self) -> Rung:
        """Return the best blend, with the simplest rungs that are as good."""
        plan, settings = self._plan, self._settings
        if not plan.linear_term or plan.limits.exact:
            return self._network_only()
        shares = self._logits([shares_weights(part.train) for part in self._parts])
        line_ridge, line = self._best_line()
        ridge, networks = self._best_network(shares, line)
        network = self._logits(networks) if networks else None
        # For a given ridge, the weight is all on one of them.
        n_steps = settings.n_blends if plan.alpha is None else 1
        n, tie = len(self._held.Y), settings.near_tie
        a, b, expected = best_blend(self._held, shares[:n], line[:n], network, n_steps, tie)
        blend = blended_logits(shares[:n], line[:n], network, a, b)
        is_straight = b == 0 or not any(start.n_neurons for start in networks)
        return Rung(
            0 if is_straight else None,
            line_ridge,
            ridge,
            a,
            b,
            starts=() if b == 0 else tuple(networks),
            expected=expected,
            unseen=self._held.unseen(blend, line[:n]),
            candidates=self._compared(shares[:n], line[:n], networks, (a, b), expected),
        )

    def _compared(
        self,
        shares: Float64,
        line: Float64,
        networks: Sequence[Weights],
        blend: tuple[float, float],
        expected: float,
    ) -> Candidates:
        """Return the candidates, and the blend with its loss if it is none of them."""
        found = [(SHARES, 0, self._held.prudent(shares)), (LINE, 0, self._held.prudent(line))]
        found += self._networks_compared()
        width = _widest(networks) if blend[1] > 0 else 0
        kind = _PURE.get(blend, BLEND)
        if kind == BLEND:
            found.append((BLEND, width, expected))
        return _candidates(found, (kind, width))

    def _networks_compared(self) -> list[tuple[str, int, float]]:
        return [(NETWORK, width, self._of_widths[width]) for width in sorted(self._of_widths)]

    def _network_only(self) -> Rung:
        """Return the best ridge of networks that are neither blended nor replaced."""
        start = time.monotonic()
        first = self._explored(self._parts[: self._settings.n_first_folds])
        self._leave_out_late(time.monotonic() - start)
        ridge, networks = self._ridge_of(self._on_all(first))
        starts, candidates = tuple[Weights, ...](), None
        if not self._plan.limits.exact:
            starts = tuple(networks := self._narrowed(ridge, networks))
            candidates = _candidates(self._networks_compared(), (NETWORK, _widest(networks)))
        logits = self._logits(networks)
        return Rung(
            None,
            ridge=ridge,
            starts=starts,
            expected=self._held.prudent(logits),
            unseen=self._held.unseen(logits),
            candidates=candidates,
        )

    def line(self, ridge: float) -> Rung:
        """Return logistic regression with a given ridge."""
        networks = [shares_weights(part.train) for part in self._parts]
        networks = self._trials.corrected(self._parts, networks, ridge, self._settings.line_steps)
        logits = self._logits(networks)
        expected, unseen = self._held.prudent(logits), self._held.unseen(logits, logits)
        return Rung(0, ridge, line=1.0, network=0.0, expected=expected, unseen=unseen)

    # The rungs.

    def _best_line(self) -> tuple[float, Float64]:
        """Return the best ridge of a logistic regression, and its logits.

        From the largest ridge down, each from the previous solution, until it no longer helps.
        """
        settings = self._settings
        ridges = settings.line_ridges if self._plan.alpha is None else (self._plan.alpha,)
        networks = [shares_weights(part.train) for part in self._parts]
        found: dict[float, list[Weights]] = {}
        losses: list[float] = []
        for ridge in ridges:
            if losses and self._is_late:
                break
            self._context.tell(f"logistic regression: ridge {ridge:.1e}")
            networks = self._trials.corrected(self._parts, networks, ridge, settings.line_steps)
            found[ridge] = networks
            losses.append(self._score(networks))
            if len(losses) - int(np.argmin(losses)) > settings.line_patience:
                break
        ridge, networks = self._between(found, losses, settings.line_steps)
        return ridge, self._logits(networks)

    def _between(
        self, found: dict[float, list[Weights]], losses: Sequence[float], n_steps: int
    ) -> tuple[float, list[Weights]]:
        """Return the ridge at the minimum of a smooth curve, and the networks of it."""
        ridges = np.array(list(found))
        ridge, nearest = lowest_between(ridges, np.array(losses))
        networks = found[float(ridges[nearest])]
        if ridge != ridges[nearest]:
            networks = self._trials.corrected(self._parts, networks, ridge, n_steps)
        return ridge, networks

    def _best_network(self, shares: Float64, line: Float64) -> tuple[float, list[Weights]]:
        """Return the best ridge of a network, and the network of each fold; none if hopeless."""
        if self._plan.limits.max_neurons == 0 or self._is_late:
            return 0.0, []
        few, start = self._settings.n_first_folds, time.monotonic()
        first = self._explored(self._parts[:few])
        if len(self._parts) > few and self._is_hopeless(first, shares, line):
            return 0.0, []
        self._leave_out_late(time.monotonic() - start)
        ridge, networks = self._ridge_of(self._on_all(first))
        return ridge, self._narrowed(ridge, networks)

    def _leave_out_late(self, seconds: float) -> None:
        """Leave out all but the first folds if there is no time to try the others, too."""
        few = self._settings.n_first_folds
        n_others = len(self._parts) - few
        if n_others > 0 and self._context.clock.is_over(seconds * n_others / few):
            self._parts = self._parts[:few]
            self._held = HeldOut(self._parts, bounds=self._plan.bounds)

    def _ridges(self) -> Float64:
        if self._plan.alpha is not None:
            return np.array([self._plan.alpha])
        return ridges_for(self._parts[0].train, self._settings)

    def _explored(self, parts: Sequence[Part]) -> dict[float, list[Weights]]:
        """Correct the networks of folds for larger ridges, or smaller ones, while these help.

        The walk begins at the ridge with which the networks have grown: from a larger one, neurons
        that have vanished would not come back.
        """
        ridges, held = self._ridges(), HeldOut(parts, bounds=self._plan.bounds)
        grown = stage_ridge_for(self._parts[0].train, self._settings)
        begin = int(np.argmin(np.abs(ridges - grown)))
        found = {begin: self._begun(parts, ridges[begin])}
        losses = {begin: held.prudent(self._logits(found[begin], parts))}
        for ahead in (1, -1):
            i, since = begin, 0
            while 0 <= i + ahead < len(ridges) and since < 2 and not self._is_late:
                i += ahead
                found[i] = self._at_ridge(parts, found[i - ahead], ridges[i])
                losses[i] = held.prudent(self._logits(found[i], parts))
                since = 0 if losses[i] <= min(losses.values()) else since + 1
                if losses[i] > self._settings.clearly_worse * min(losses.values()):
                    break
            if min(losses, key=lambda i: losses[i]) > begin:
                break
        return {float(ridges[i]): found[i] for i in sorted(found)}

    def _begun(self, parts: Sequence[Part], ridge: float) -> list[Weights]:
        """Correct the networks as grown, with twice the steps."""
        return self._at_ridge(parts, self._trials.grown(parts), ridge, 2)

    def _at_ridge(
        self, parts: Sequence[Part], networks: Sequence[Weights], ridge: float, times: int = 1
    ) -> list[Weights]:
        self._context.tell(f"choosing the ridge: {ridge:.1e} on {len(parts)} folds")
        return self._trials.corrected(parts, networks, ridge, times * self._settings.fold_steps)

    def _on_all(self, first: dict[float, list[Weights]]) -> dict[float, list[Weights]]:
        """Return the networks of all folds, for the ridges near the best on the first folds."""
        ridges, few = list(first), self._settings.n_first_folds
        if len(self._parts) <= few:
            return first
        parts, rest = self._parts[:few], self._parts[few:]
        held = HeldOut(parts, bounds=self._plan.bounds)
        best = int(np.argmin([held.prudent(self._logits(first[r], parts)) for r in ridges]))
        begun = self._begun(rest, ridges[best])
        found = {ridges[best]: first[ridges[best]] + begun}
        for near in (best - 1, best + 1):
            if 0 <= near < len(ridges):
                others = self._at_ridge(rest, begun, ridges[near])
                found[ridges[near]] = first[ridges[near]] + others
        return {ridge: found[ridge] for ridge in sorted(found)}

    def _is_hopeless(
        self, first: dict[float, list[Weights]], shares: Float64, line: Float64
    ) -> bool:
        """Whether the networks of the first folds are clearly worse than something simpler."""
        parts = self._parts[: self._settings.n_first_folds]
        held = HeldOut(parts, bounds=self._plan.bounds)
        n = len(held.Y)
        losses = [held.losses(self._logits(networks, parts)) for networks in first.values()]
        best = min(losses, key=held.mean)
        simple = min((held.losses(logits[:n]) for logits in (shares, line)), key=held.mean)
        more, spread = held.excess(best, simple)
        return more > self._settings.hopeless * spread

    def _ridge_of(self, found: dict[float, list[Weights]]) -> tuple[float, list[Weights]]:
        """Return the ridge with the smallest loss, and its networks."""
        losses = [self._score(networks) for networks in found.values()]
        return self._between(found, losses, self._settings.fold_steps)

    def _narrowed(self, ridge: float, networks: list[Weights]) -> list[Weights]:
        """Prune the networks of all folds alike as long as they are as good."""
        settings, trials = self._settings, self._trials
        networks = [trials.without_negligible(network) for network in networks]
        best, lowest, worse = networks, self._score(networks), 0
        width = _widest(networks)
        self._of_widths = {width: lowest}
        width = width if self._prunes else 0
        while width > 0 and worse < settings.pruning.patience and not self._is_late:
            width = int(width * settings.pruning.kept_share)
            self._context.tell(f"pruning: {width} neurons on {len(networks)} folds")
            networks = [largest(network, width) for network in networks]
            networks = trials.corrected(self._parts, networks, ridge, settings.fold_steps)
            loss = self._of_widths[width] = self._score(networks)
            if loss < settings.pruning.as_good * lowest:
                best, lowest, worse = networks, min(lowest, loss), 0
            else:
                worse += 1
        return best


def _widest(networks: Sequence[Weights]) -> int:
    return max(network.n_neurons for network in networks)


def _candidates(found: Sequence[tuple[str, int, float]], chosen: tuple[str, int]) -> Candidates:
    """Return candidates, given what they are, their widths and losses, and which was chosen."""
    kinds, widths, losses = zip(*found, strict=True)
    at = list(zip(kinds, widths, strict=True)).index(chosen)
    return Candidates(
        np.array(kinds), np.array(widths), np.array(losses), at, score=float(losses[at])
    )
