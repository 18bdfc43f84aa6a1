"""Estimators on a cluster: they fit a `DaskSource`, and predict lazily, block by block."""

import os
from pathlib import Path
from typing import Any, ClassVar, Self

import dask.array as da
import numpy as np
from dask.base import is_dask_collection, tokenize
from dask.delayed import delayed
from distributed import Client, get_client
from numpy.typing import NDArray
from sklearn.metrics import accuracy_score
from sklearn.utils.validation import check_is_fitted, validate_data

from greedynet.dask.cluster import explain_lost_scheduler
from greedynet.dask.partitions import Partitions, checked_inputs, partitions_of_files
from greedynet.dask.shard import predicted
from greedynet.dask.source import DaskSource
from greedynet.estimators import GreedyNetClassifier, GreedyNetRegressor
from greedynet.estimators.base import BaseGreedyNet
from greedynet.estimators.plans import check_coverage
from greedynet.estimators.predicting import r_squared
from greedynet.model.uncertainty.outside import Outside

# Methods that the estimators call with inputs of the network, in which nothing is missing.
_OF_NETWORK_INPUTS = frozenset({"_ends", "_with_deviations", "_outside_columns"})


class DaskEstimator(BaseGreedyNet):
    """Common base: the client, conversion to the local estimator, lazy results."""

    _local: ClassVar[type[BaseGreedyNet]]
    # Of outputs, predicted ones, and weights.
    _score: ClassVar["staticmethod[[Any, Any, Any], Any]"]
    # Not a parameter: clones and unpickled copies look up their own client.
    _client: Client | None = None

    @property
    def client(self) -> Client:
        """The client of the cluster: the one that was set, or else the current one."""
        if self._client is not None:
            return self._client
        try:
            return get_client()
        except ValueError:
            raise ValueError(
                f"`{type(self).__name__}` needs a client of a dask cluster, but there is none: "
                "write `client = distributed.Client()` first, or set `model.client`."
            ) from None

    @client.setter
    def client(self, client: Client | None) -> None:
        if client is not None and not isinstance(client, Client):
            raise TypeError(
                f"`client` must be a distributed.Client or None, got {type(client).__name__}."
            )
        self._client = client

    def __getstate__(self) -> dict[str, Any]:
        state = dict(super().__getstate__())
        state.pop("_client", None)
        return state

    def to_local(self) -> Any:
        """Return the same estimator for arrays in memory, fitted if this one is."""
        local: Any = self._local(**self.get_params(deep=False))
        fitted = {k: v for k, v in vars(self).items() if k.endswith("_") and k[0] != "_"}
        vars(local).update(fitted)
        return local

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the local estimator to a file; `greedynet.load` restores it without dask."""
        self.to_local().save(path)

    def fit(
        self,
        X: Any,
        y: Any = None,
        sample_weight: Any = None,
        *,
        X_val: Any = None,
        y_val: Any = None,
        sample_weight_val: Any = None,
        groups: Any = None,
    ) -> Self:
        """Build the network.

        Parameters
        ----------
        X : dask Array of shape (n_samples, n_features), DataFrame, or path
            Inputs, split by rows. Partitions may have any size, be empty, or be of unknown size.
            Or the name of a Parquet file, or of a folder of them, which the workers read.
        y : dask Array of shape (n_samples,) or (n_samples, n_outputs), Series, DataFrame or str
            Outputs or classes, split into the same partitions; the name of a column, or a list of
            names, for Parquet.
        sample_weight : dask Array of shape (n_samples,), Series, str or None, default=None
            Weights of the rows, split into the same partitions; the name of a column for Parquet.
        X_val, y_val, sample_weight_val : array-like, dask collection or None, default=None
            Validation data by which the width is chosen; they are gathered on the client.
        groups : None
            Must be None: folds that keep groups together need all rows in memory. Pass whole groups
            as `X_val` and `y_val`.
        """
        if groups is not None:
            raise ValueError(
                f"`groups` needs all rows in memory, and `{type(self).__name__}` has them on a "
                "cluster: pass whole groups as `X_val` and `y_val`, or fit "
                f"`{self._local.__name__}`."
            )
        if isinstance(X, str | os.PathLike):
            partitions = partitions_of_files(Path(X), y, sample_weight)
        else:
            partitions = Partitions.of(X, y, sample_weight, type(self).__name__)
        client = self._synchronous_client()
        validation = {"X_val": X_val, "y_val": y_val, "sample_weight_val": sample_weight_val}
        held_out = {name: _gathered(values, client) for name, values in validation.items()}
        with DaskSource(partitions, client, self._settings.check_every) as source:
            super().fit(source, None, **held_out)
        return self

    def score(self, X: Any, y: Any, sample_weight: Any = None) -> float:
        """Return R^2 for regression, and the accuracy for classification.

        `X`, `y` and `sample_weight` are as in `fit`. The workers predict; outputs and predictions
        are gathered on the client, some numbers for each row.
        """
        self._checked_inputs(X)
        raws = Partitions.of(X, y, sample_weight, type(self).__name__).raws()
        model, client = self._without_names(), self._synchronous_client()
        shared, predict = delayed(model, pure=False), delayed(predicted, pure=False)
        name = f"greedynet-score-{tokenize(model, raws)}"
        parts = [predict(shared, raw, dask_key_name=f"{name}-{i}") for i, raw in enumerate(raws)]
        found = [part for part in client.gather(client.compute(parts)) if len(part[0])]
        return float(self._score(*map(np.concatenate, zip(*found, strict=True))))

    def _synchronous_client(self) -> Client:
        if self.client.status in ("closing", "closed"):
            raise ValueError(
                "`client` must be connected to a cluster, got one that is closed: set another "
                "`model.client`, or None for the current one."
            )
        if self.client.asynchronous:
            raise TypeError(
                "`client` must be a synchronous client, got an asynchronous one: fit in a thread, "
                "with `Client(address)` there."
            )
        return self.client

    def _lazily(self, method: str, X: Any, width: int | None, dtype: Any, **arguments: Any) -> Any:
        """Return the lazy result of a method of the local estimator, block by block.

        It has `width` columns, or one dimension for None. The model is one task of the graph, on
        which every block depends.
        """
        X = self._checked_inputs(X)
        model = self._without_names()
        inputs = X if isinstance(X, da.Array) else X.to_dask_array()
        words = method.strip("_").replace("_", "-")
        shape: dict[str, Any] = {"drop_axis": 1}
        if width is not None:
            shape = {"chunks": (inputs.chunks[0], (width,))}
        return da.map_blocks(
            _on_block,
            inputs,
            model=delayed(model, name=f"greedynet-network-{tokenize(model)}", pure=True),
            method=method,
            arguments=arguments,
            name=f"greedynet-{words}-{tokenize(model, inputs, method, arguments)}",
            dtype=dtype,
            meta=np.empty((0,) if width is None else (0, width), dtype=dtype),
            **shape,
        )

    def outside(self, X: Any) -> Outside:
        """Return which rows are outside the training data, lazily.

        The result has dask Arrays; `dask.compute(outside.columns, outside.distance)` computes both.
        """
        check_is_fitted(self)
        d = self.network_.n_features
        found = self._lazily("_outside_columns", X, d + 1, np.float64)
        return Outside(found[:, :d] > 0, found[:, d], self._input_names())

    def _checked_inputs(self, X: Any) -> Any:
        """Return inputs, split by rows, that match those of the fit, without computing them."""
        check_is_fitted(self)
        X = checked_inputs(X, type(self).__name__)
        columns = X if isinstance(X, da.Array) else X._meta
        validate_data(self, columns, reset=False, skip_check_array=True)
        return X

    def _without_names(self) -> Any:
        """Return the local estimator for blocks, which have no feature names."""
        local = self.to_local()
        vars(local).pop("feature_names_in_", None)
        return local


class DaskGreedyNetRegressor(DaskEstimator, GreedyNetRegressor):
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

    The parameters and methods are those of `GreedyNetRegressor`. Inputs are dask Arrays of shape
    (n_samples, n_features) or DataFrames, split by rows; results are dask Arrays of the shapes that
    `GreedyNetRegressor` returns. The client is not a parameter: set `model.client`; the default is
    the current client.

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
    _score = staticmethod(r_squared)

    def predict(self, X: Any, return_std: bool = False) -> Any:
        """Predict with the network, lazily; with `return_std`, return standard deviations, too."""
        check_is_fitted(self)
        if return_std:
            self._known_intervals("predict(X, return_std=True)")
            return self._pair("_with_deviations", X)
        width = None if self.network_.single_output else self.network_.n_outputs
        return self._lazily("predict", X, width, np.float64)

    def predict_interval(self, X: Any, coverage: float = 0.9) -> tuple[Any, Any]:
        """Return lazily the ends of intervals that contain new outputs with a given probability."""
        intervals, coverage = self._known_intervals("predict_interval"), check_coverage(coverage)
        intervals.warn_if_few(coverage)
        return self._pair("_ends", X, coverage=coverage)

    def _pair(self, method: str, X: Any, **arguments: Any) -> tuple[Any, Any]:
        """Return two lazy results, which a method of the local estimator has side by side."""
        t = self.network_.n_outputs
        found = self._lazily(method, X, 2 * t, np.float64, **arguments)
        if self.network_.single_output:
            return found[:, 0], found[:, 1]
        return found[:, :t], found[:, t:]


class DaskGreedyNetClassifier(DaskEstimator, GreedyNetClassifier):
    """`GreedyNetClassifier` on a dask cluster: dask Arrays and DataFrames in, lazy Arrays out.

    The parameters and methods are those of `GreedyNetClassifier`; see `DaskGreedyNetRegressor` for
    what happens on the cluster.
    """

    _local = GreedyNetClassifier

    @staticmethod
    def _score(y: Any, found: Any, weights: Any) -> float:
        return float(accuracy_score(y, found, sample_weight=weights))

    def predict(self, X: Any) -> Any:
        """Return the class with the largest probability, lazily."""
        check_is_fitted(self)
        return self._lazily("predict", X, None, self.classes_.dtype)

    def decision_function(self, X: Any) -> Any:
        """Return the logits, lazily: of the second class for two classes, else one for each."""
        check_is_fitted(self)
        width = None if len(self.classes_) == 2 else len(self.classes_)
        return self._lazily("decision_function", X, width, np.float64)

    def predict_proba(self, X: Any) -> Any:
        """Return the probability of every class in the order of `classes_`, lazily."""
        check_is_fitted(self)
        return self._lazily("predict_proba", X, len(self.classes_), np.float64)

    def predict_set(self, X: Any, coverage: float = 0.9) -> Any:
        """Return lazily sets of classes that contain the class with a given probability."""
        sets, coverage = self._known_sets(), check_coverage(coverage)
        sets.warn_if_few(coverage)
        return self._lazily("_sets", X, len(self.classes_), np.bool_, coverage=coverage)

    def predict_log_proba(self, X: Any) -> Any:
        """Return the logarithm of the probability of every class, lazily."""
        check_is_fitted(self)
        return self._lazily("predict_log_proba", X, len(self.classes_), np.float64)


def _gathered(values: Any, client: Client) -> Any:
    """Return validation data as local arrays or data frames."""
    if not is_dask_collection(values):
        return values
    with explain_lost_scheduler(client):
        return client.gather(client.compute(values))


def _on_block(X: Any, model: Any, method: str, arguments: dict[str, Any]) -> NDArray[Any]:
    X, found = np.asarray(X), getattr(model, method)
    # scikit-learn rejects arrays without rows; a row of zeros gives the shape.
    rows = X if len(X) else np.zeros((1, X.shape[1]))
    if method in _OF_NETWORK_INPUTS:
        rows = model.network_inputs(rows)
    return np.asarray(found(rows, **arguments))[: len(X)]
