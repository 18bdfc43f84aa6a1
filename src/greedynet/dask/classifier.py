"""`DaskGreedyNetClassifier`."""

from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from greedynet.dask.base import OnDask
from greedynet.dask.lazy import accuracy
from greedynet.estimators import GreedyNetClassifier
from greedynet.estimators.parameters import check_coverage


class DaskGreedyNetClassifier(OnDask, GreedyNetClassifier):
    """`GreedyNetClassifier` on a dask cluster: dask Arrays and DataFrames in, lazy Arrays out.

    See `DaskGreedyNetRegressor`. The parameters are those of `GreedyNetClassifier`.
    """

    _local = GreedyNetClassifier
    _scored = staticmethod(accuracy)

    def predict(self, X: Any) -> Any:
        """Return the class with the largest probability, lazily.

        Parameters
        ----------
        X : dask Array of shape (n_samples, n_features), or DataFrame
            Inputs, split by rows.

        Returns
        -------
        y : dask Array of shape (n_samples,)
        """
        check_is_fitted(self)
        return self._lazily("predict", X, None, self.classes_.dtype)

    def decision_function(self, X: Any) -> Any:
        """Return the logits, lazily: of the second class for two classes, else one for each.

        Parameters
        ----------
        X : dask Array of shape (n_samples, n_features), or DataFrame
            Inputs, split by rows.

        Returns
        -------
        logits : dask Array of shape (n_samples,) or (n_samples, n_classes)
        """
        check_is_fitted(self)
        width = None if len(self.classes_) == 2 else len(self.classes_)
        return self._lazily("decision_function", X, width, np.float64)

    def predict_proba(self, X: Any) -> Any:
        """Return the probability of every class, lazily.

        Parameters
        ----------
        X : dask Array of shape (n_samples, n_features), or DataFrame
            Inputs, split by rows.

        Returns
        -------
        p : dask Array of shape (n_samples, n_classes)
            In the order of `classes_`.
        """
        check_is_fitted(self)
        return self._lazily("predict_proba", X, len(self.classes_), np.float64)

    def predict_set(self, X: Any, coverage: float = 0.9) -> Any:
        """Return sets of classes that contain the class with a given probability, lazily.

        Parameters
        ----------
        X : dask Array of shape (n_samples, n_features), or DataFrame
            Inputs, split by rows.
        coverage : float, default=0.9
            Share of new rows whose class shall be in their set.

        Returns
        -------
        sets : dask Array of bool, of shape (n_samples, n_classes)
        """
        sets, coverage = self._known_sets(), check_coverage(coverage)
        sets.warn_if_few(coverage)
        return self._lazily("_sets", X, len(self.classes_), np.bool_, coverage=coverage)

    def predict_log_proba(self, X: Any) -> Any:
        """Return the logarithm of the probability of every class, lazily.

        Parameters
        ----------
        X : dask Array of shape (n_samples, n_features), or DataFrame
            Inputs, split by rows.

        Returns
        -------
        log_p : dask Array of shape (n_samples, n_classes)
        """
        check_is_fitted(self)
        return self._lazily("predict_log_proba", X, len(self.classes_), np.float64)
