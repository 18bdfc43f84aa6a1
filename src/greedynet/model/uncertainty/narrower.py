"""`NarrowerErrors`: the errors to expect of the narrower networks of a growth.

No row was held out for them, but held-out rows have judged the network `f` that was kept, and the
network `g` of every width of the growth is known. An error of `g` on a held-out row is taken to be

    y - f_held(x) + f(x) - g(x),

where `f_held(x)` is the prediction that was judged: the change from a fit without this row is that
of `f`, which has at least as many neurons as `g`, and is mostly larger than its own. If `f` itself
has not seen the row, as with a validation set, this is the error of `g`. Otherwise `g` has seen it:
a growth that has more than one parameter for four rows is left out.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from greedynet.model.any_network import Network
from greedynet.model.effects import combined
from greedynet.model.uncertainty.evidence import Evidence, row_weights
from greedynet.model.uncertainty.scores import gain, quantiles
from greedynet.support.types import Float64

# Quantiles that are kept for every width, and by how much kept widths grow beyond the first ones.
N_KEPT = 101
_EVERY, _GROWTH = 8, 1.25
# With more parameters, a growth, which has no ridge, reproduces noise that it has seen.
_ROWS_PER_PARAMETER = 4
# Beyond it, scores are the same: sums of squares would overflow.
_LARGEST = 1e100


@dataclass(frozen=True, eq=False)
class NarrowerErrors:
    """Scores of held-out rows for networks of some widths.

    Attributes
    ----------
    n_neurons : ndarray of shape (n_widths,)
        Increasing; nothing is known of networks that are wider than the last.
    quantiles : ndarray of shape (n_widths, n_outputs, k)
        Of the sizes of errors, divided by those of the network that was kept; as in `Scores`.
    deviations : ndarray of shape (n_widths, n_outputs)
        Their root mean squares.
    errors : ndarray of shape (n_widths,)
        Root mean squared errors in the units of the outputs.
    """

    n_neurons: NDArray[np.intp]
    quantiles: Float64
    deviations: Float64
    errors: Float64

    def nearest(self, n_neurons: int) -> int:
        """Return the position of the widest network of at most so many neurons."""
        return int(np.searchsorted(self.n_neurons, n_neurons, side="right")) - 1

    def expected_error(self, n_neurons: int) -> float:
        """Return its root mean squared error."""
        return float(self.errors[self.nearest(n_neurons)])


@dataclass(frozen=True, eq=False)
class GrownNetworks:
    """Networks of all widths, and the one that was judged.

    Attributes
    ----------
    grown : ShallowNetwork or DeepNetwork
        The widest of the growth.
    judged : ShallowNetwork or DeepNetwork
        The network that was kept.
    """

    grown: Network
    judged: Network

    def widths(self, evidence: Evidence) -> list[int]:
        """Return numbers of neurons of which something is known, all of the smallest and others."""
        most = self._most(evidence)
        if most < 0:
            return []
        found = list(range(min(_EVERY, most + 1)))
        while found[-1] < most:
            found.append(min(most, int(_GROWTH * found[-1]) + 1))
        return found

    def _most(self, evidence: Evidence) -> int:
        """Return the largest width of which held-out rows tell something; -1 for none."""
        assert evidence.unseen is not None
        judged, rows = self.judged, evidence.rows
        most = min(self.grown.n_neurons, judged.n_neurons)
        if self.grown.path_factor is None and self.grown.n_neurons:
            return -1
        if evidence.unseen.share == 0:
            return most
        if not most and judged.is_constant:
            return -1  # the mean was kept, and an affine term is more than that
        d = rows.n_features
        return min(most, int((rows.n_independent / _ROWS_PER_PARAMETER - (d + 1)) // (d + 2)))

    def changes(self, inputs: NDArray[np.floating], widths: Sequence[int]) -> Iterator[Float64]:
        """Yield for each width how much its predictions exceed those of the network kept."""
        X: Float64 = np.asarray(inputs, dtype=np.float64)
        with np.errstate(over="ignore", invalid="ignore"):
            hidden = np.ascontiguousarray(self.grown.hidden(X).T)
        kept = self.judged.predict(X).reshape(len(X), -1)
        affine = self.grown.n_nodes - self.grown.n_neurons
        for width in widths:
            with np.errstate(over="ignore", invalid="ignore"):
                change = combined(self.grown.truncate(affine + width), hidden, X) - kept
            yield change


def narrower_errors(
    growth: GrownNetworks, evidence: Evidence, sizes: Float64, of_trained: Float64
) -> NarrowerErrors | None:
    """Return the errors to expect of narrower networks; None if nothing can be said.

    Parameters
    ----------
    growth : GrownNetworks
    evidence : Evidence
    sizes, of_trained : ndarray of shape (n_rows, n_outputs)
        Sizes of the errors of held-out and of training rows, for the network that was kept.
    """
    unseen, rows = evidence.unseen, evidence.rows
    assert unseen is not None
    widths = growth.widths(evidence)
    if not widths:
        return None
    left = unseen.Y - unseen.predictions
    fitted = growth.judged.predict(rows.X).reshape(rows.Y.shape)
    found = []
    changes = growth.changes(unseen.X, widths), growth.changes(rows.X, widths)
    for change, of_rows in zip(*changes, strict=True):
        with np.errstate(over="ignore"):
            scores = _within(np.abs(left - change) / sizes)
            trained = _within(np.abs(rows.Y - fitted - of_rows) / of_trained)
        held = np.average(scores, axis=0, weights=unseen.weights)
        seen = np.average(trained, axis=0, weights=row_weights(rows))
        scores = scores * gain(held, seen, unseen.share)
        found.append(_summarised(scores, sizes, unseen.weights))
    parts = [np.array(part) for part in zip(*found, strict=True)]
    return NarrowerErrors(np.array(widths), *parts)


def _within(scores: Float64) -> Float64:
    """Return scores, limited also where they are infinite, or no numbers."""
    return np.fmin(scores, _LARGEST)


def _summarised(
    scores: Float64, sizes: Float64, weights: Float64
) -> tuple[Float64, Float64, float]:
    """Return quantiles and root mean squares of the scores of each output, and of all errors."""
    levels = np.arange(1, min(len(scores), N_KEPT) + 1) / min(len(scores), N_KEPT)
    unit = float(sizes.max())
    errors = _within(scores * (sizes / unit))
    of_rows = np.sqrt(np.average(np.mean(errors**2, axis=1), weights=weights))
    return (
        np.array([quantiles(of_output, weights, levels) for of_output in scores.T]),
        np.sqrt(np.average(scores**2, axis=0, weights=weights)),
        float(of_rows) * unit,
    )
