"""Lazy predictions, and scores as sums over partitions."""

from dataclasses import dataclass
from functools import reduce
from typing import Any

import dask.array as da
import numpy as np
from dask.base import tokenize
from dask.delayed import Delayed, delayed
from numpy.typing import NDArray

from greedynet.rows.blocks.prepare import Raw
from greedynet.support.checks import safe_norm
from greedynet.support.types import Float64

# Methods that the estimators call with inputs of the network, in which nothing is missing.
_OF_NETWORK_INPUTS = frozenset({"_ends", "_with_deviations", "_outside_columns"})


def lazily(
    model: Any, method: str, X: Any, width: int | None, dtype: Any, **arguments: Any
) -> da.Array:
    """Return the lazy result of a method of a local estimator, block by block.

    Parameters
    ----------
    model : estimator
        A fitted estimator; it is one task of the graph, on which every block depends.
    method : str
    X : dask Array or DataFrame
        Inputs, split by rows.
    width : int or None
        Number of columns of the result; None for a 1-D result.
    dtype : dtype
    **arguments
        Of the method.
    """
    inputs = X if isinstance(X, da.Array) else X.to_dask_array()
    shape: dict[str, Any] = {"drop_axis": 1}
    if width is not None:
        shape = {"chunks": (inputs.chunks[0], (width,))}
    return da.map_blocks(
        _on_block,
        inputs,
        model=delayed(model, name=f"greedynet-network-{tokenize(model)}", pure=True),
        method=method,
        arguments=arguments,
        name=f"greedynet-{_words(method)}-{tokenize(model, inputs, method, arguments)}",
        dtype=dtype,
        meta=np.empty((0,) if width is None else (0, width), dtype=dtype),
        **shape,
    )


def _words(method: str) -> str:
    return method.strip("_").replace("_", "-")


def _on_block(X: Any, model: Any, method: str, arguments: dict[str, Any]) -> NDArray[Any]:
    X, found = np.asarray(X), getattr(model, method)
    # scikit-learn rejects arrays without rows; a row of zeros gives the shape.
    rows = X if len(X) else np.zeros((1, X.shape[1]))
    if method in _OF_NETWORK_INPUTS:
        rows = model.network_inputs(rows)
    return np.asarray(found(rows, **arguments))[: len(X)]


@dataclass(frozen=True, eq=False)
class Moments:
    """Weight and mean of outputs, and the norms of their deviations and of a model's residuals."""

    weight: float
    mean: Float64
    deviations: Float64
    residuals: Float64

    def join(self, other: "Moments") -> "Moments":
        """Combine both; differences of large sums would lose digits."""
        weight = self.weight + other.weight
        if weight == 0:
            return self
        gap = other.mean - self.mean
        share = other.weight / weight
        return Moments(
            weight,
            self.mean + share * gap,
            np.hypot(
                np.hypot(self.deviations, other.deviations), (self.weight * share) ** 0.5 * gap
            ),
            np.hypot(self.residuals, other.residuals),
        )

    def r2(self) -> float:
        """Return the coefficient of determination, averaged over the outputs."""
        of_constants = np.where(self.residuals == 0, 1.0, 0.0)
        with np.errstate(divide="ignore", invalid="ignore"):
            shares = (self.residuals / self.deviations) ** 2
            r2 = np.where(self.deviations == 0, of_constants, 1 - shares)
        return float(r2.mean())


def r2_score(model: Any, raws: list[Delayed], client: Any) -> float:
    """Return the coefficient of determination over partitions."""
    parts = _gathered(_moments_of, model, raws, client)
    return reduce(Moments.join, parts).r2()


def accuracy(model: Any, raws: list[Delayed], client: Any) -> float:
    """Return the accuracy over partitions."""
    correct, weight = np.sum(_gathered(_correct_of, model, raws, client), axis=0)
    return float(correct / weight)


def _gathered(function: Any, model: Any, raws: list[Delayed], client: Any) -> list[Any]:
    shared = delayed(model, pure=False)
    score = delayed(function, pure=False)
    name = f"greedynet-score-{tokenize(model, raws)}"
    parts = [score(shared, raw, dask_key_name=f"{name}-{i}") for i, raw in enumerate(raws)]
    return list(client.gather(client.compute(parts)))


def _weights(raw: Raw) -> Float64:
    return np.ones(len(raw[0])) if raw[2] is None else np.asarray(raw[2], dtype=np.float64)


def _moments_of(model: Any, raw: Raw) -> Moments:
    X, y, w = raw[0], np.asarray(raw[1], dtype=np.float64), _weights(raw)
    n_outputs = model.network_.n_outputs
    Y = y.reshape(len(y), -1) if len(y) else np.empty((0, n_outputs))
    weight = float(w.sum())
    if weight == 0:
        return Moments(0.0, *np.zeros((3, n_outputs)))
    residuals = Y - model.predict(X).reshape(Y.shape)
    mean = w @ Y / weight
    return Moments(weight, mean, _norms(Y - mean, w), _norms(residuals, w))


def _norms(values: Float64, weights: Float64) -> Float64:
    """Return the norm of each column, weighted, whose square may overflow."""
    return np.array([safe_norm(column) for column in (np.sqrt(weights)[:, None] * values).T])


def _correct_of(model: Any, raw: Raw) -> tuple[float, float]:
    w = _weights(raw)
    if len(w) == 0:
        return 0.0, 0.0
    return float(w @ (model.predict(raw[0]) == raw[1])), float(w.sum())
