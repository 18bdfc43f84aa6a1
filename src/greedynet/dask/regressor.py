"""`DaskGreedyNetRegressor`."""

from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from greedynet.dask.base import OnDask
from greedynet.dask.lazy import r2_score
from greedynet.estimators import GreedyNetRegressor
from greedynet.estimators.parameters import check_coverage


class DaskGreedyNetRegressor(OnDask, GreedyNetRegressor):
    """`GreedyNetRegressor` on a dask cluster: dask Arrays and DataFrames in, lazy Arrays out.

    The network is the one that `GreedyNetRegressor` finds on the same rows. Large data stay on
    their workers: neurons are searched for on a sample, and each pass over all rows sends the
    network and gathers sums, whose size does not depend on the number of rows. Small data are
    gathered on the client.

    A worker that is lost during a fit costs time, but no rows: its partitions are recomputed on the
    others. A worker that joins gets a share of the rows before the next pass. For a worker that
    hangs, the fit waits until the scheduler gives it up (`distributed.scheduler.worker-ttl`); for a
    cluster without workers, it waits a minute (`greedynet.worker-timeout` in the configuration of
    dask).

    The parameters are those of `GreedyNetRegressor`. The client is not a parameter: set
    `model.client`; the default is the current client.

    Examples
    --------
    >>> import dask.array as da
    >>> from distributed import Client
    >>> from greedynet.dask import DaskGreedyNetRegressor
    >>> client = Client(processes=False, dashboard_address=None)
    >>> X = da.random.default_rng(0).uniform(-1, 1, (2000, 2), chunks=(500, 2))
    >>> model = DaskGreedyNetRegressor(max_nodes=8).fit(X, abs(X[:, 0]) - X[:, 1])
    >>> bool(model.score(X, abs(X[:, 0]) - X[:, 1]) > 0.999)
    True
    >>> model.predict(X).chunks
    ((500, 500, 500, 500),)
    >>> client.close()
    """

    _local = GreedyNetRegressor
    _scored = staticmethod(r2_score)

    def predict(self, X: Any, return_std: bool = False) -> Any:
        """Predict with the network, lazily.

        Parameters
        ----------
        X : dask Array of shape (n_samples, n_features), or DataFrame
            Inputs, split by rows.
        return_std : bool, default=False
            Whether to return the standard deviations of the errors to expect, too.

        Returns
        -------
        y : dask Array of shape (n_samples,) or (n_samples, n_outputs)
        std : dask Array of the same shape
            Only if `return_std`.
        """
        check_is_fitted(self)
        if return_std:
            self._known_intervals("predict(X, return_std=True)")
            return self._pair("_with_deviations", X)
        width = None if self.network_.single_output else self.network_.n_outputs
        return self._lazily("predict", X, width, np.float64)

    def predict_interval(self, X: Any, coverage: float = 0.9) -> tuple[Any, Any]:
        """Return intervals that contain new outputs with a given probability, lazily.

        Parameters
        ----------
        X : dask Array of shape (n_samples, n_features), or DataFrame
            Inputs, split by rows.
        coverage : float, default=0.9
            Share of new outputs that the intervals shall contain.

        Returns
        -------
        low, high : dask Array of shape (n_samples,) or (n_samples, n_outputs)
        """
        intervals, coverage = self._known_intervals("predict_interval"), check_coverage(coverage)
        intervals.warn_if_few(coverage)
        return self._pair("_ends", X, coverage=coverage)

    def predict_distribution(self, X: Any) -> Any:
        """Refuse: distributions of SciPy are not lazy.

        Parameters
        ----------
        X : dask Array of shape (n_samples, n_features), or DataFrame
        """
        raise NotImplementedError(
            "`predict_distribution` is not lazy: write "
            "`model.to_local().predict_distribution(X.compute())`, or use `predict_interval`."
        )

    def _pair(self, method: str, X: Any, **arguments: Any) -> tuple[Any, Any]:
        """Return two lazy results, which a method of the local estimator has side by side."""
        t = self.network_.n_outputs
        found = self._lazily(method, X, 2 * t, np.float64, **arguments)
        if self.network_.single_output:
            return found[:, 0], found[:, 1]
        return found[:, :t], found[:, t:]
