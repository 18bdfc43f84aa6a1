"""`Expectation`: the errors to expect on new rows, beside those of simple guesses, in one sentence.

held-out rows, ladder, training rows -> errors of the network, a constant and a line -> sentence
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from greedynet.losses import Loss, is_squared
from greedynet.losses.logistic import log_probabilities
from greedynet.losses.mean_size import mean_size
from greedynet.model.any_network import Network
from greedynet.model.deep_network import DeepNetwork
from greedynet.model.ladder import CURVES, LINE, MEAN, SHARES, Ladder
from greedynet.model.uncertainty.evidence import Evidence, row_weights
from greedynet.support.phrases import number, percent
from greedynet.support.types import Float64

RMSE, MAE, LOG_LOSS = "rmse", "mae", "log_loss"

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
        "rmse"; "mae" for the losses "absolute" and "huber"; the name of another loss, such as
        "quantile_loss"; or "log_loss" for classes.
    on_new : float or None
        Error on new rows.
    constant : float or None
        Error on the same rows of the mean, of the best constant for another loss, or of the shares
        of the classes.
    line : float or None
        Error on the same rows of a straight line; for classes, of a logistic regression.
    on_training : float or None
        Error on the rows that the network was fitted to.
    accuracy, constant_accuracy, training_accuracy : float or None
        For classes, the shares of correct predictions: on new rows, by always naming the most
        frequent class, and on the training rows.
    kind : str or None
        "mean", "class shares", "line" or "curves of single columns" if that is what was
        chosen.
    line_accuracy : float or None
        For classes, the share of correct predictions of the logistic regression.
    """

    measure: str
    on_new: float | None = None
    constant: float | None = None
    line: float | None = None
    on_training: float | None = None
    accuracy: float | None = None
    constant_accuracy: float | None = None
    training_accuracy: float | None = None
    kind: str | None = None
    line_accuracy: float | None = None

    @staticmethod
    def of_numbers(
        evidence: Evidence,
        network: Network,
        loss: Loss,
        on_new: float | None,
        ladder: Ladder | None,
    ) -> "Expectation":
        """Return what is known after a regression.

        Parameters
        ----------
        evidence : Evidence
        network : Network
            The network that was kept.
        loss : Loss
        on_new : float or None
            Its expected error.
        ladder : Ladder or None
            Candidates that were scored on the same rows.
        """
        rows, unseen = evidence.rows, evidence.unseen
        residuals = rows.Y - network.predict(rows.X).reshape(rows.Y.shape)
        on_training = float(mean_size(loss, residuals, rows.weights))
        constant = line = kind = None
        if ladder is not None and network.has_affine_term:
            constant, line = _error_of(ladder, MEAN), _error_of(ladder, LINE)
            kind = ladder.kind if ladder.kind in _ONLY else None
        elif unseen is not None and is_squared(loss):
            mean = np.average(rows.Y, axis=0, weights=rows.weights)
            constant = float(mean_size(loss, unseen.Y - mean, unseen.weights))
        return Expectation(_measure(loss), on_new, constant, line, on_training, kind=kind)

    @staticmethod
    def of_classes(evidence: Evidence, network: Network, on_new: float | None) -> "Expectation":
        """Return what is known after a classification; the parameters are as above.

        The line and the network are those of the fit, on the same held-out rows.
        """
        rows, unseen = evidence.rows, evidence.unseen
        logits = network.predict(rows.X).reshape(rows.Y.shape)
        trained = _class_errors(logits, rows.Y, row_weights(rows))
        if unseen is None:
            return Expectation(
                LOG_LOSS, on_new, on_training=trained[0], training_accuracy=trained[1]
            )
        error, accuracy = _class_errors(unseen.predictions, unseen.Y, unseen.weights)
        line = line_accuracy = None
        if unseen.line is not None:
            line, line_accuracy = _class_errors(unseen.line, unseen.Y, unseen.weights)
        shares = np.average(_indicators(rows.Y), axis=0, weights=rows.weights)
        log_shares = np.log(np.maximum(shares, np.finfo(np.float64).tiny))
        of_class = _indicators(unseen.Y)
        return Expectation(
            LOG_LOSS,
            error if on_new is None else on_new,
            constant=float(-np.average(of_class @ log_shares, weights=unseen.weights)),
            line=line,
            line_accuracy=line_accuracy,
            kind=_kind_of_classes(network),
            accuracy=accuracy,
            constant_accuracy=float(
                np.average(of_class[:, shares.argmax()], weights=unseen.weights)
            ),
            on_training=trained[0],
            training_accuracy=trained[1],
        )

    def sentence(self, *, beside_held_out: bool = False) -> str:
        """Return the errors in words, those on new rows first.

        Parameters
        ----------
        beside_held_out : bool, default=False
            Whether errors on rows that were set aside are told before: those of the fit are then
            said to be of rows that the fit itself left out.
        """
        if self.measure == LOG_LOSS:
            parts = [self._classes_on_new(beside_held_out), self._classes_on_training()]
        else:
            parts = [self._numbers_on_new(beside_held_out), self._numbers_on_training()]
        only = _ONLY_OF_CLASSES if self.measure == LOG_LOSS else _ONLY
        parts += [only[self.kind]] if self.kind is not None else []
        return " ".join(part for part in parts if part)

    def _numbers_on_new(self, beside_held_out: bool) -> str:
        if self.on_new is None:
            return "" if beside_held_out else "The error on new rows is not known."
        name = self.measure.removesuffix("_loss")
        off = _OFF.get(self.measure, f"a mean error of about {{}} (loss {name!r})")
        text = f"On new rows expect {off.format(number(self.on_new))}"
        if beside_held_out:
            text = f"{_LEFT_OUT}: {number(self.on_new)}"
        guess = "always guessing the mean" if self.measure == RMSE else "the best constant"
        others = ((guess, self.constant), ("a straight line", self.line))
        told = [f"{name}: {number(error)}" for name, error in others if error is not None]
        return "; ".join([text, *told]) + "."

    def _numbers_on_training(self) -> str:
        if self.on_training is None:
            return ""
        return f"On the rows it was fitted to: {number(self.on_training)}."

    def _classes_on_new(self, beside_held_out: bool) -> str:
        if self.on_new is None:
            return "" if beside_held_out else "The accuracy on new rows is not known."
        if self.accuracy is None:
            said = f"{_LEFT_OUT}: a" if beside_held_out else "On new rows expect a"
            return f"{said} log-loss of about {number(self.on_new)}."
        text = f"On new rows expect about {percent(self.accuracy)} of the classes to be right"
        if beside_held_out:
            text = f"{_LEFT_OUT}: {percent(self.accuracy)}"
        text += f" (log-loss {number(self.on_new)})"
        others = (
            ("always naming the commonest class", self.constant_accuracy, self.constant),
            ("logistic regression", self.line_accuracy, self.line),
        )
        told = [
            f"{name}: {percent(right)} (log-loss {number(error)})"
            for name, right, error in others
            if right is not None and error is not None
        ]
        return "; ".join([text, *told]) + "."

    def _classes_on_training(self) -> str:
        if self.on_training is None or self.training_accuracy is None:
            return ""
        told = f"{percent(self.training_accuracy)} (log-loss {number(self.on_training)})"
        return f"On the rows it was fitted to: {told}."


def _measure(loss: Loss) -> str:
    if is_squared(loss):
        return RMSE
    return MAE if loss.name in ("absolute", "huber") else f"{loss.name}_loss"


def _kind_of_classes(network: Network) -> str | None:
    """Return what a network without neurons is."""
    if network.n_neurons or not network.has_affine_term:
        return None
    if network.is_constant:
        return SHARES
    return CURVES if isinstance(network, DeepNetwork) else LINE


def _error_of(ladder: Ladder, kind: str) -> float | None:
    at = np.flatnonzero(ladder.kinds == kind)
    return float(ladder.errors[at[0]]) if len(at) else None


def _indicators(Y: Float64) -> Float64:
    """Return indicators of all classes; for two, `Y` holds that of the second."""
    return Y if Y.shape[1] > 1 else np.hstack([1.0 - Y, Y])


def _class_errors(
    logits: Float64, Y: Float64, weights: NDArray[np.floating]
) -> tuple[float, float]:
    """Return the log-loss and the share of correct predictions."""
    of_class, log_p = _indicators(Y), log_probabilities(logits)
    right = log_p.argmax(axis=1) == of_class.argmax(axis=1)
    log_loss = -np.average((of_class * log_p).sum(axis=1), weights=weights)
    return float(log_loss), float(np.average(right, weights=weights))
