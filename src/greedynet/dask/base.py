"""`OnDask`: the common base of the estimators on a cluster."""

import os
from pathlib import Path
from typing import Any, ClassVar, Self

import dask.array as da
import numpy as np
from dask.base import is_dask_collection
from dask.delayed import Delayed
from distributed import Client, get_client
from sklearn.utils.validation import check_is_fitted, validate_data

from greedynet.dask.collections import Partitions, check_inputs
from greedynet.dask.files import partitions_of_files
from greedynet.dask.lazy import lazily
from greedynet.dask.source import DaskSource
from greedynet.dask.waiting import scheduler_named
from greedynet.estimators.base import BaseGreedyNet
from greedynet.model.uncertainty.seen import Outside


class OnDask(BaseGreedyNet):
    """Common base: the client, conversion to the local estimator, lazy results."""

    _local: ClassVar[type[BaseGreedyNet]]
    # The score of a local estimator over partitions.
    _scored: ClassVar["staticmethod[[Any, list[Delayed], Client], float]"]
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
        """Write the local estimator to a file, from which `greedynet.load` restores it.

        Parameters
        ----------
        path : str or path
            A name such as "model.safetensors". Loading it needs no dask.
        """
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

        Returns
        -------
        self : estimator
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

        Parameters
        ----------
        X, y, sample_weight
            As in `fit`. The score is computed on the cluster.

        Returns
        -------
        score : float
        """
        self._check_inputs(X)
        raws = Partitions.of(X, y, sample_weight, type(self).__name__).raws()
        return self._scored(self._without_names(), raws, self._synchronous_client())

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
        self._check_inputs(X)
        return lazily(self._without_names(), method, X, width, dtype, **arguments)

    def outside(self, X: Any) -> Outside:
        """Return which rows are outside the training data, lazily.

        Parameters
        ----------
        X : dask Array of shape (n_samples, n_features), or DataFrame
            Inputs, split by rows.

        Returns
        -------
        outside : Outside
            With dask Arrays; `dask.compute(outside.columns, outside.distance)` computes both.
        """
        check_is_fitted(self)
        d = self.network_.n_features
        found = self._lazily("_outside_columns", X, d + 1, np.float64)
        return Outside(found[:, :d] > 0, found[:, d], self._input_names())

    def _check_inputs(self, X: Any) -> None:
        """Raise an error unless the inputs match those of the fit, without computing them."""
        check_is_fitted(self)
        check_inputs(X, type(self).__name__)
        columns = X if isinstance(X, da.Array) else X._meta
        validate_data(self, columns, reset=False, skip_check_array=True)

    def _without_names(self) -> Any:
        """Return the local estimator for blocks, which have no feature names."""
        local = self.to_local()
        vars(local).pop("feature_names_in_", None)
        return local


def _gathered(values: Any, client: Client) -> Any:
    """Return validation data as local arrays or data frames."""
    if not is_dask_collection(values):
        return values
    with scheduler_named(client):
        return client.gather(client.compute(values))
