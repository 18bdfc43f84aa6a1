"""Predictions along the growth: one for each width of `path_`."""

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.utils.validation import check_is_fitted

from greedynet.estimators.predicting import Predicting
from greedynet.estimators.sparse import dense_rows
from greedynet.losses.logistic import probabilities
from greedynet.model.path import SelectionPath
from greedynet.support.types import Float64


class _Staged(Predicting):
    """The outputs along the growth, for both kinds of estimators."""

    path_: SelectionPath

    def _staged(self, X: ArrayLike) -> Iterator[Float64]:
        check_is_fitted(self)
        # Not when the first is asked for: errors come from the call.
        X, _, _ = dense_rows(X, None, None, np.inf)
        rows = np.asarray(self._checked(X), dtype=np.float64)
        path = self.path_
        return (path.network_at(n_nodes).predict(rows) for n_nodes in path.n_nodes.tolist())


class StagedNumbers(_Staged):
    """Stages of a regressor."""

    def staged_predict(self, X: ArrayLike) -> Iterator[Float64]:
        """Yield the predictions along the growth, one for each of `path_.n_nodes`.

        They are those of `truncate(n_nodes)`; the width that was kept is one of them.

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

        They are those of `truncate(n_nodes)`; the width that was kept is one of them.

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
