"""The rows of a table that a model was fitted to, without those that the fit set aside."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from greedynet.support.types import Float64
from greedynet.tables.any_model import as_labelled_model, open_like
from greedynet.tables.encoding import is_table
from greedynet.tables.holding import held_out_mask
from greedynet.tables.readers import TableError
from greedynet.tables.score import labelled_blocks


def fitted_rows(model: Any, source: Any) -> tuple[Float64, NDArray[Any]]:
    """Return inputs and targets of the training rows.

    Parameters
    ----------
    model : TableModel, estimator or network
    source : str, path, data frame, mapping or Table
        The table of the fit.
    """
    if not is_table(source):
        raise ValueError("`y` must be given together with an array, got None.")
    table = open_like(model, source)
    fitted = as_labelled_model(model, table, None)
    weights = fitted.about.get("weights")
    if weights is not None:
        raise TableError(
            f"The model was fitted with the weights in {weights!r}, and certificates are for rows "
            "that count once: fit without weights to have one."
        )
    parts = [(X, y) for X, y, *_ in labelled_blocks(fitted, table) if len(y)]
    if not parts:
        raise TableError(f"{table.label} has no rows with a target.")
    X, y = (np.concatenate(arrays) for arrays in zip(*parts, strict=True))
    aside = held_out_mask(fitted.about.get("held_out"), y)
    return (X, y) if aside is None else (X[~aside], y[~aside])
