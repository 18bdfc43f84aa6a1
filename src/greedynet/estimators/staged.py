"""Predictions along the growth: one for each width of `path_`."""

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.utils.validation import check_is_fitted

from greedynet.estimators.predicting import Predicting
from greedynet.estimators.shapes import check_grown
from greedynet.estimators.sparse import dense_rows
from greedynet.losses.logistic import probabilities
from greedynet.model.any_network import in_layers
from greedynet.model.path import DeepPath, ShallowPath
from greedynet.support.types import Float64


def staged_outputs(path: ShallowPath | DeepPath, X: Float64) -> Iterator[Float64]:
    """Yield the outputs of the networks of a path, in the order of `path.n_nodes`.

    `H_n c^(n) + U l^(n) + m^(n)` for the first `n` columns of the hidden layer `H`, which is
    evaluated once; the weights are those of `path.network.truncate`.
    """
    ramps, full = in_layers(path.network)
    U = X if ramps is None else ramps.lift(X)
    H = full.hidden(U)
    for n_nodes in path.n_nodes.tolist():
        _, network = in_layers(path.network.truncate(n_nodes))
        y = H[:, : network.n_neurons] @ network.outer_weights
        if network.linear_weights is not None:
            y += U @ network.linear_weights
        if network.intercept is not None:
            y += network.intercept
        yield network.outputs(y)


class _Staged(Predicting):
    """The outputs along the growth, for both kinds of estimators."""

    path_: ShallowPath | DeepPath

    def _staged(self, X: ArrayLike) -> Iterator[Float64]:
        check_is_fitted(self)
        check_grown(self, "staged_predict", "compare fits with different `n_nodes`")
        # Not when the first is asked for: errors come from the call.
        X, _, _ = dense_rows(X, None, None, np.inf)
        rows = self._checked(X)
        return staged_outputs(self.path_, np.asarray(rows, dtype=np.float64))


class StagedNumbers(_Staged):
    """Stages of a regressor."""

    def staged_predict(self, X: ArrayLike) -> Iterator[Float64]:
        """Yield the predictions along the growth, one for each of `path_.n_nodes`.

        They are those of `truncate(n_nodes)`: of the networks as grown. `predict` uses `network_`,
        whose neurons were corrected jointly in most fits, and which is none of them then.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            Inputs.

        Yields
        ------
        y : ndarray of shape (n_samples,) or (n_samples, n_outputs)
        """
        return self._staged(X)


class StagedClasses(_Staged):
    """Stages of a classifier."""

    classes_: NDArray[Any]

    def staged_decision_function(self, X: ArrayLike) -> Iterator[Float64]:
        """Yield the logits along the growth, one array for each of `path_.n_nodes`.

        They are those of `truncate(n_nodes)`: of the networks as grown. `decision_function` uses
        `network_`, whose neurons were corrected jointly in most fits, and which is none of them
        then.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            Inputs.

        Yields
        ------
        logits : ndarray of shape (n_samples,) or (n_samples, n_classes)
        """
        return self._staged(X)

    def staged_predict_proba(self, X: ArrayLike) -> Iterator[Float64]:
        """Yield the probabilities of the classes along the growth, for each of `path_.n_nodes`.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            Inputs.

        Yields
        ------
        p : ndarray of shape (n_samples, n_classes)
        """
        return (probabilities(logits.reshape(len(logits), -1)) for logits in self._staged(X))

    def staged_predict(self, X: ArrayLike) -> Iterator[NDArray[Any]]:
        """Yield the most likely classes along the growth, for each of `path_.n_nodes`.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            Inputs.

        Yields
        ------
        y : ndarray of shape (n_samples,)
        """
        return (self._classes_of(logits) for logits in self._staged(X))

    def _classes_of(self, logits: Float64) -> NDArray[Any]:
        best = (logits > 0).astype(int) if logits.ndim == 1 else logits.argmax(axis=1)
        return np.asarray(self.classes_[best])
