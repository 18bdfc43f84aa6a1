"""`Intervals`: how far new rows may be from their predictions, learned from held-out rows.

    errors of held-out rows -> local size s(x) -> scores z = error / s(x) -> quantiles of them

An interval is `f(x) - q s(x)` to `f(x) + q s(x)`, where `q` is the quantile of `|z|` of split
conformal prediction: of level `p (n + 1) / n` for the coverage `p` and `n` held-out rows. It is
free of distributions: only their exchangeability with the new rows matters, not the shape of the
errors, nor whether `s` is right. Sizes of the held-out rows are predicted from other rows, so that
their scores are as large as those of new rows. Where large errors are mostly on one side, both
sides have quantiles of their own, of level `(1 + p) / 2`.

Rows of a group have errors that are alike: groups are never divided, and `n` is the number of
independent rows that say as much (`groups`).

Networks of folds have seen fewer rows than the one that is kept: a share `h` of them was held out.
Its mean squared score is taken to be `(1 - h) C + h T`, where `C` is that of the held-out rows, and
`T` that of its own training rows; all sizes are multiplied by the root of this, relative to `C`.
New groups gain nothing from the training rows of others.
"""

import warnings
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from greedynet.model.network import Network
from greedynet.model.uncertainty.calibration import (
    CalibrationData,
    HeldOutPredictions,
    Scores,
    gain,
    known_rows,
    n_alike,
    quantiles,
    row_weights,
)
from greedynet.model.uncertainty.local_size import (
    Errors,
    LocalSize,
    SizeSettings,
    errors_of,
    local_size,
)
from greedynet.support.errors import FewHeldOutRowsWarning
from greedynet.support.magnitudes import LARGEST_SCORE
from greedynet.support.types import Float64


@dataclass(frozen=True)
class IntervalSettings:
    """How intervals are made of the errors of held-out rows."""

    sizes: SizeSettings = SizeSettings()
    # Scores beyond this quantile of their sizes decide whether errors are one-sided.
    large: float = 0.9
    clearly: float = 2.0  # standard errors by which the shares of both sides must differ


@dataclass(frozen=True, eq=False)
class OutputErrors:
    """The errors of one output that new rows may have."""

    size: LocalSize  # the `s(x)`
    above: Scores  # of outputs above their predictions; of the sizes `|z|`, if both sides are alike
    below: Scores | None  # of outputs below their predictions; None if both sides are alike
    deviation: float  # root mean square of the scores

    @staticmethod
    def of(
        held: Errors,
        trained: Errors,
        share: float,
        held_out: HeldOutPredictions,
        network: Network,
        settings: IntervalSettings,
    ) -> "tuple[OutputErrors, Float64]":
        """Return the errors of new rows, given those of other rows, and the `s(x)` of these.

        The size of each is predicted from others. The errors `held` are those of networks that
        had not seen the rows, a `share` of all; `trained` are those of `network`.
        """
        # A power of two near the largest error, so that no square overflows.
        unit = float(2.0 ** np.frexp(np.abs(held.errors).max())[1])
        size, sizes = local_size(held.in_units(unit), network, settings.sizes)
        size, sizes = size.times(unit), sizes * unit
        z, w = held.errors / sizes, held.weights
        n_rows = n_alike(np.abs(z), held_out)
        gained = _gained(z, w, trained, size, share, network)
        # Which side rounding is on says nothing.
        is_noise = np.median(np.abs(held.errors)) > held.rounding
        one_sided = bool(is_noise) and is_one_sided(z, w, n_rows, settings)
        found = OutputErrors(
            size.times(gained),
            Scores.of(z if one_sided else np.abs(z), w, n_rows),
            Scores.of(-z, w, n_rows) if one_sided else None,
            float(np.sqrt(np.average(z**2, weights=w))),
        )
        return found, gained * sizes

    def bounds(self, coverage: float) -> tuple[float, float]:
        """Return the smallest and the largest score of new rows, for a coverage."""
        probability = self._probability(coverage)
        above, below = self.above, self.above if self.below is None else self.below
        return -below.bound(probability), above.bound(probability)

    def suffices(self, coverage: float) -> bool:
        """Whether there are enough held-out rows for a coverage."""
        return self.above.suffices(self._probability(coverage))

    def _probability(self, coverage: float) -> float:
        return coverage if self.below is None else (1.0 + coverage) / 2


@dataclass(frozen=True, eq=False)
class Intervals:
    """The errors that new rows may have.

    Attributes
    ----------
    outputs : tuple of OutputErrors
    n_rows : int
        Number of different rows that were held out.
    by_width : tuple of Scores
        Sizes of the errors of every width of the path, width by width and output by output, divided
        by the `s(x)` of the network that was kept.
    errors_by_width : ndarray of shape (n_widths, n_outputs)
        Root mean squared errors in the units of the outputs.
    network : Network or None
        The network on which the `s(x)` depend; None for the one that predicts.
    """

    outputs: tuple[OutputErrors, ...]
    n_rows: int
    by_width: tuple[Scores, ...] = ()
    errors_by_width: Float64 | None = None
    network: Network | None = None

    @staticmethod
    def of(
        calibration: CalibrationData, network: Network, settings: IntervalSettings
    ) -> "Intervals | None":
        """Return the errors that new rows may have; None if no row was held out."""
        held_out, rows = calibration.held_out, calibration.rows
        if held_out is None:
            return None
        fitted = network.predict(rows.X).reshape(rows.Y.shape)
        held = errors_of(
            held_out.X, held_out.Y, held_out.predictions, held_out.weights, held_out.groups
        )
        trained = errors_of(rows.X, rows.Y, fitted, row_weights(rows))
        share = held_out.share if held_out.groups is None else 0.0
        outputs, sizes = zip(
            *(
                OutputErrors.of(*of_output, share, held_out, network, settings)
                for of_output in zip(held, trained, strict=True)
            ),
            strict=True,
        )
        by_width, errors = _by_width(calibration.by_width, held_out, outputs, sizes)
        return Intervals(outputs, held_out.n_rows, by_width, errors)

    def at_width(self, position: int, network: Network) -> "Intervals":
        """Return the errors of the network of a width of the path.

        Their size depends on the place as for `network`, which was kept.
        """
        t = len(self.outputs)
        scores = self.by_width[position * t : (position + 1) * t]
        outputs = tuple(
            OutputErrors(
                of_output.size, of_width, None, float(np.sqrt(np.mean(of_width.quantiles**2)))
            )
            for of_output, of_width in zip(self.outputs, scores, strict=True)
        )
        assert self.errors_by_width is not None
        return Intervals(
            outputs,
            self.n_rows,
            self.by_width[: (position + 1) * t],
            self.errors_by_width[: position + 1],
            self.network or network,
        )

    def around(
        self, predictions: Float64, X: Float64, network: Network, coverage: float
    ) -> tuple[Float64, Float64]:
        """Return the lower and upper ends of intervals around predictions, of the same shape."""
        sizes = self._sizes(predictions, X, network)
        low, high = np.array([of_output.bounds(coverage) for of_output in self.outputs]).T
        return predictions + low * sizes, predictions + high * sizes

    def deviations(self, predictions: Float64, X: Float64, network: Network) -> Float64:
        """Return the standard deviation of the errors: `s(x)` times the root mean square of `z`."""
        deviations = np.array([of_output.deviation for of_output in self.outputs])
        return self._sizes(predictions, X, network) * deviations

    def warn_if_few(self, coverage: float) -> None:
        """Warn if there are too few held-out rows for a coverage."""
        if all(of_output.suffices(coverage) for of_output in self.outputs):
            return
        known = known_rows(self.n_rows, min(of_output.above.n_rows for of_output in self.outputs))
        enough = [c for c in range(1, 100) if all(o.suffices(c / 100) for o in self.outputs)]
        most = max(enough, default=50) / 100
        warnings.warn(
            f"`coverage`={coverage} needs more than {known}: the "
            "intervals are as wide as the largest of their errors, and may cover less. Fit more "
            f"rows, or write a smaller coverage, such as {most:.2g}.",
            FewHeldOutRowsWarning,
            stacklevel=3,
        )

    def _sizes(self, predictions: Float64, X: Float64, network: Network) -> Float64:
        if self.network is not None:
            network, predictions = self.network, self.network.predict(X).reshape(len(X), -1)
        columns = [o.size(X, f, network) for o, f in zip(self.outputs, predictions.T, strict=True)]
        return np.column_stack(columns)


def _by_width(
    predictions: Sequence[Float64],
    held_out: HeldOutPredictions,
    outputs: Sequence[OutputErrors],
    sizes: Sequence[Float64],
) -> tuple[tuple[Scores, ...], Float64]:
    """Return the scores of every width and output, and root mean squared errors.

    Rows that come later, after those of the folds, were predicted by the network kept alone.
    """
    scores, errors = [], []
    for of_width in predictions:
        n = len(of_width)
        left, weights = np.abs(held_out.Y[:n] - of_width), held_out.weights[:n]
        for of_output, known, size in zip(left.T, outputs, sizes, strict=True):
            with np.errstate(over="ignore"):
                z = np.fmin(of_output / size[:n], LARGEST_SCORE)
            scores.append(Scores.of(z, weights, known.above.n_rows))
        unit = left.max(axis=0, initial=0.0)
        unit[unit == 0] = 1.0
        errors.append(unit * np.sqrt(np.average((left / unit) ** 2, axis=0, weights=weights)))
    return tuple(scores), np.array(errors).reshape(len(predictions), len(outputs))


def _gained(
    z: Float64,
    weights: Float64,
    trained: Errors,
    size: LocalSize,
    share: float,
    network: Network,
) -> float:
    """Return the factor by which errors are smaller with all rows than with those of a fold."""
    sizes = size(trained.X, trained.predictions, network)
    of_held = np.average(np.abs(z), weights=weights)
    with np.errstate(over="ignore"):
        scores = np.minimum(np.abs(trained.errors) / sizes, LARGEST_SCORE)
    of_trained = np.average(scores, weights=trained.weights)
    return float(gain(of_held, of_trained, share))


def is_one_sided(
    scores: Float64, weights: Float64, n_rows: float, settings: IntervalSettings
) -> bool:
    """Whether large scores are clearly more often on one side."""
    sizes = np.abs(scores)
    far = sizes >= quantiles(sizes, weights, np.array([settings.large]))
    share = float(np.average(scores[far] > 0, weights=weights[far]))
    n_far = n_rows * float(weights[far].sum() / weights.sum())
    return abs(share - 0.5) > settings.clearly * 0.5 / np.sqrt(n_far)
