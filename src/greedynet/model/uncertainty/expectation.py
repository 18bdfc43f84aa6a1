"""`Expectation`: the errors to expect on new rows, beside those of simple guesses, in one sentence.

held-out rows, ladder, training rows -> errors of the network, a constant and a line -> sentence
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from greedynet.losses import Loss, is_squared
from greedynet.losses.base import mean_size
from greedynet.losses.logistic import class_indicators, log_probabilities
from greedynet.model.candidate import CURVES, LINE, MEAN, SHARES, Ladder
from greedynet.model.network import Network
from greedynet.model.uncertainty.calibration import CalibrationData, HeldOutPredictions, row_weights
from greedynet.support.phrases import number, percent, plural
from greedynet.support.types import Float64

RMSE, MAE, LOG_LOSS = "rmse", "mae", "log_loss"
# An error, or that of each of several outputs in its own units.
Figure = float | tuple[float, ...]
# With fewer held-out rows or groups, the standard error of an error is above a fifth of it:
# `1 / sqrt(2 n)`.
FEW = 10
# An error that exceeds that of a constant by this factor is not worth having.
_WORSE = 1.05
# Of the rows that come next in time; a few are outside by chance.
MANY_OUTSIDE = 0.25

_OFF = {
    RMSE: "to be off by about {} (RMSE)",
    MAE: "to be off by about {} (mean absolute error)",
    "quantile_loss": "a mean pinball loss of about {}",
    "chebyshev_loss": "a largest error of about {}",
}
_LEFT_OUT = "On rows that the fit itself left out"
_ONLY = {
    MEAN: "Neither a line nor a network was clearly better than that constant.",
    LINE: "It is a straight line: no network was clearly better.",
    CURVES: "It is the sum of one curve for each column: no network was clearly better.",
}
_ONLY_OF_CLASSES = {
    SHARES: "It gives every row the shares of the classes: nothing was clearly better.",
    LINE: "It is a logistic regression: no network was clearly better.",
    CURVES: "It is the sum of one curve for each column: no network was clearly better.",
}


@dataclass(frozen=True)
class Expectation:
    """Errors on new rows, estimated by held-out rows, and what to compare them with.

    None for whatever is not known.

    Attributes
    ----------
    measure : str
        "rmse"; "mae" for the losses "absolute_error" and "huber"; the name of another loss, such as
        "quantile_loss"; or "log_loss" for classes.
    expected_error : float, tuple of float or None
        Error on new rows; of several outputs, that of each in its own units, as all that follow.
    constant : float, tuple of float or None
        Error on the same rows of the mean, of the best constant for another loss, or of the shares
        of the classes.
    line : float or None
        Error on the same rows of a straight line; for classes, of a logistic regression.
    on_training : float, tuple of float or None
        Error on the rows that the network was fitted to.
    accuracy, constant_accuracy, training_accuracy : float or None
        For classes, the shares of correct predictions: on new rows, by always naming the most
        frequent class, and on the training rows.
    kind : str or None
        "mean", "class shares", "line" or "curves of single columns" if that is what was
        chosen.
    line_accuracy : float or None
        For classes, the share of correct predictions of the logistic regression.
    n_rows, n_groups : int or None
        Number of different rows that were held out, and of their groups, if there are some.
    ahead : float or None
        Where folds or rows held out go forward in time: share of these rows that are outside those
        which came before.
    """

    measure: str
    expected_error: Figure | None = None
    constant: Figure | None = None
    line: float | None = None
    on_training: Figure | None = None
    accuracy: float | None = None
    constant_accuracy: float | None = None
    training_accuracy: float | None = None
    kind: str | None = None
    line_accuracy: float | None = None
    n_rows: int | None = None
    n_groups: int | None = None
    ahead: float | None = None

    @staticmethod
    def of_numbers(
        calibration: CalibrationData,
        network: Network,
        loss: Loss,
        ladder: Ladder | None,
        ahead: float | None = None,
    ) -> "Expectation":
        """Return what is known after a regression.

        Candidates of the ladder were scored on the same rows; those of several outputs are not
        compared, as their errors are of all outputs together.
        """
        rows, held_out = calibration.rows, calibration.held_out
        residuals = rows.Y - network.predict(rows.X).reshape(rows.Y.shape)
        expected: float | Float64 | None = calibration.expected_error
        if rows.n_outputs > 1:
            expected = errors_by_output(held_out, loss)
        constant: Figure | None = None
        line = kind = None
        has_ladder = ladder is not None and network.has_affine_term
        if ladder is not None and has_ladder:
            kind = ladder.kind if ladder.kind in _ONLY else None
        if ladder is not None and has_ladder and rows.n_outputs == 1:
            constant, line = ladder.error_of(MEAN), ladder.error_of(LINE)
        elif held_out is not None and is_squared(loss):
            mean = np.average(rows.Y, axis=0, weights=rows.weights)
            constant = _figure(_sizes(loss, held_out.Y - mean, held_out.weights))
        return Expectation(
            _measure(loss),
            _figure(expected),
            constant,
            line,
            _figure(_sizes(loss, residuals, rows.weights)),
            kind=kind,
            ahead=ahead,
            **_counts(held_out, ahead),
        )

    @staticmethod
    def of_classes(
        calibration: CalibrationData, network: Network, ahead: float | None = None
    ) -> "Expectation":
        """Return what is known after a classification, by the line and the network of the fit."""
        rows, held_out = calibration.rows, calibration.held_out
        logits = network.predict(rows.X).reshape(rows.Y.shape)
        trained = _class_errors(logits, rows.Y, row_weights(rows))
        if held_out is None:
            return Expectation(
                LOG_LOSS, on_training=trained[0], training_accuracy=trained[1], ahead=ahead
            )
        _, accuracy = _class_errors(held_out.predictions, held_out.Y, held_out.weights)
        line = line_accuracy = None
        if held_out.line is not None:
            line, line_accuracy = _class_errors(held_out.line, held_out.Y, held_out.weights)
        shares = np.average(class_indicators(rows.Y), axis=0, weights=rows.weights)
        log_shares = np.log(np.maximum(shares, np.finfo(np.float64).tiny))
        of_class = class_indicators(held_out.Y)
        return Expectation(
            LOG_LOSS,
            calibration.expected_error,
            constant=float(-np.average(of_class @ log_shares, weights=held_out.weights)),
            line=line,
            line_accuracy=line_accuracy,
            kind=_kind_of_classes(network),
            accuracy=accuracy,
            constant_accuracy=float(
                np.average(of_class[:, shares.argmax()], weights=held_out.weights)
            ),
            on_training=trained[0],
            training_accuracy=trained[1],
            ahead=ahead,
            **_counts(held_out, ahead),
        )

    def sentence(self, *, beside_held_out: bool = False) -> str:
        """Return the errors in words, those on new rows first.

        With `beside_held_out`, errors on rows that were set aside have been stated before: those of
        the fit are then called errors on rows that the fit itself left out.
        """
        if self.measure == LOG_LOSS:
            parts = [self._classes_on_new(beside_held_out), self._classes_on_training()]
        else:
            parts = [self._numbers_on_new(beside_held_out), self._numbers_on_training()]
        only = _ONLY_OF_CLASSES if self.measure == LOG_LOSS else _ONLY
        parts += [only[self.kind]] if self.kind is not None else []
        parts += [self._doubts()]
        first = "" if beside_held_out else self.ahead_sentence()
        return " ".join(part for part in [first, *parts] if part)

    def ahead_sentence(self) -> str:
        """Return that rows which come next are outside what was seen, or an empty text."""
        if self.ahead is None or self.ahead < MANY_OUTSIDE:
            return ""
        return (
            f"Rows that come next are outside the training data: {percent(self.ahead)} of those "
            "held out were unlike all rows before them. Errors may be larger than estimated, and "
            "intervals too narrow."
        )

    def _doubts(self) -> str:
        """Return why the figures may be wrong, or why a constant is better."""
        said = []
        counted = self.n_rows if self.n_groups is None else self.n_groups
        if self.expected_error is not None and counted is not None and counted < FEW:
            few = plural(counted, "row" if self.n_groups is None else "group")
            said.append(f"The errors on new rows come from only {few}, and may be far off.")
        if self._is_worse():
            constant = "the shares of the classes" if self.measure == LOG_LOSS else "a constant"
            said.append(f"There, {constant} did better: do not rely on this model.")
        return " ".join(said)

    def _is_worse(self) -> bool:
        """Whether a constant is clearly better, for every output."""
        if self.expected_error is None or self.constant is None:
            return False
        return bool(np.all(np.array(self.expected_error) > _WORSE * np.array(self.constant)))

    def _numbers_on_new(self, beside_held_out: bool) -> str:
        if self.expected_error is None:
            return "" if beside_held_out else "The error on new rows is not known."
        name = self.measure.removesuffix("_loss")
        off = _OFF.get(self.measure, f"a mean error of about {{}} (loss {name!r})")
        text = f"On new rows expect {off.format(figures(self.expected_error))}"
        if beside_held_out:
            text = f"{_LEFT_OUT}: {figures(self.expected_error)}"
        guess = "always guessing the mean" if self.measure == RMSE else "the best constant"
        others: tuple[tuple[str, Figure | None], ...] = (
            (guess, self.constant),
            ("a straight line", self.line),
        )
        beside = [f"{name}: {figures(error)}" for name, error in others if error is not None]
        return "; ".join([text, *beside]) + "."

    def _numbers_on_training(self) -> str:
        if self.on_training is None:
            return ""
        return f"On the rows it was fitted to: {figures(self.on_training)}."

    def _classes_on_new(self, beside_held_out: bool) -> str:
        if self.expected_error is None:
            return "" if beside_held_out else "The accuracy on new rows is not known."
        if self.accuracy is None:
            said = f"{_LEFT_OUT}: a" if beside_held_out else "On new rows expect a"
            return f"{said} log-loss of about {figures(self.expected_error)}."
        text = f"On new rows expect about {percent(self.accuracy)} of the classes to be right"
        if beside_held_out:
            text = f"{_LEFT_OUT}: {percent(self.accuracy)}"
        text += f" (log-loss {figures(self.expected_error)})"
        others = (
            ("always naming the commonest class", self.constant_accuracy, self.constant),
            ("logistic regression", self.line_accuracy, self.line),
        )
        beside = [
            f"{name}: {percent(right)} (log-loss {figures(error)})"
            for name, right, error in others
            if right is not None and error is not None
        ]
        return "; ".join([text, *beside]) + "."

    def _classes_on_training(self) -> str:
        if self.on_training is None or self.training_accuracy is None:
            return ""
        right = f"{percent(self.training_accuracy)} (log-loss {figures(self.on_training)})"
        return f"On the rows it was fitted to: {right}."


def errors_by_output(held_out: HeldOutPredictions | None, loss: Loss) -> Float64 | None:
    """Return the expected error of each output in its units; never zero, as it may be rounding."""
    if held_out is None:
        return None
    found = _sizes(loss, held_out.Y - held_out.predictions, held_out.weights)
    return np.maximum(found, np.finfo(np.float64).eps * np.abs(held_out.Y).max(axis=0))


def figures(value: Figure) -> str:
    """Return an error for readers; those of several outputs one after the other."""
    if not isinstance(value, tuple):
        return number(value)
    *first, last = map(number, value)
    return f"{', '.join(first)} and {last}"


def _sizes(loss: Loss, residuals: Float64, weights: Float64 | None) -> Float64:
    """Return the mean size of the residuals of each output."""
    columns = np.split(residuals, residuals.shape[1], axis=1)
    return np.array([mean_size(loss, column, weights) for column in columns])


def _figure(errors: float | Float64 | None) -> Figure | None:
    """Return a number for one output, and a tuple for several."""
    if errors is None:
        return None
    found = tuple(np.ravel(errors).tolist())
    return float(found[0]) if len(found) == 1 else found


def _counts(held_out: HeldOutPredictions | None, ahead: float | None) -> dict[str, int]:
    """Return how many rows and groups were held out; blocks of time are no groups."""
    if held_out is None:
        return {}
    if held_out.groups is None or ahead is not None:
        return {"n_rows": held_out.n_rows}
    return {"n_rows": held_out.n_rows, "n_groups": len(np.unique(held_out.groups))}


def _measure(loss: Loss) -> str:
    if is_squared(loss):
        return RMSE
    return MAE if loss.name in ("absolute_error", "huber") else f"{loss.name}_loss"


def _kind_of_classes(network: Network) -> str | None:
    """Return what a network without neurons is."""
    if network.n_neurons or not network.has_affine_term:
        return None
    if network.is_constant:
        return SHARES
    return LINE if network.ramps is None else CURVES


def _class_errors(
    logits: Float64, Y: Float64, weights: NDArray[np.floating]
) -> tuple[float, float]:
    """Return the log-loss and the share of correct predictions."""
    of_class, log_p = class_indicators(Y), log_probabilities(logits)
    right = log_p.argmax(axis=1) == of_class.argmax(axis=1)
    log_loss = -np.average((of_class * log_p).sum(axis=1), weights=weights)
    return float(log_loss), float(np.average(right, weights=weights))
