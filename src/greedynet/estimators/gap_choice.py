"""Inputs of which held-out rows decide: indicators of gaps, and levels of categories.

Gaps may say something about the outputs, and a network of more inputs still be worse. So where
`rows.missing` finds informative gaps, the network is fitted with their indicators and without, and
that of the smaller expected error on new rows is kept; and likewise for categories of many levels
with means of the target, and with a feature for each level.
"""

import warnings
from typing import Any

import numpy as np

from greedynet.estimators.checkpoint import checkpoint
from greedynet.estimators.frames import known_levels
from greedynet.rows.blocks import gives_blocks
from greedynet.rows.level_means import has_unit_rows


def expects_less(one: Any, other: Any) -> bool:
    """Whether a fitted estimator expects a smaller error on new rows than another one.

    Of several outputs, the geometric mean of the errors counts, in which units do not matter.
    """
    errors = (one.expected_error_, other.expected_error_)
    if any(error is None for error in errors):
        return False
    logs = [np.log(np.maximum(error, np.finfo(np.float64).tiny)) for error in errors]
    return bool(np.mean(logs[0] - logs[1]) < 0)


def keep_better_inputs(model: Any, X: Any, y: Any, weights: Any, **more: Any) -> None:
    """Fit with other inputs, too, and keep the best of the fits in `model`.

    Not for rows in blocks, where a fit is long, nor with `max_seconds`. Further fits have no
    checkpoint.
    """
    if model.max_seconds is not None or gives_blocks(X, y):
        return
    levels = known_levels(model).values()
    if any(not t.are_units and has_unit_rows(len(t.levels), len(X)) for t in levels):
        _keep_if_better(model, X, y, weights, _units=True, _indicates=model._indicates, **more)
    filling = getattr(model, "filling_", None)
    if filling is not None and filling.indicated.any():
        _keep_if_better(model, X, y, weights, _units=model._units, _indicates=False, **more)


def _keep_if_better(
    model: Any, X: Any, y: Any, weights: Any, *, _units: bool, _indicates: bool, **more: Any
) -> None:
    """Fit with these inputs, too, and keep the better of both fits."""
    other = type(model)(**model.get_params(deep=False))
    other.set_progress(model._on_neuron, model._on_stage)
    other._units, other._indicates = _units, _indicates
    with warnings.catch_warnings(), checkpoint(None):
        warnings.simplefilter("ignore")  # those of the first fit have been seen
        other.fit(X, y, weights, **more)
    if expects_less(other, model):
        fitted = [name for name in vars(model) if name.endswith("_") and name[0] != "_"]
        for name in fitted:
            delattr(model, name)
        vars(model).update({k: v for k, v in vars(other).items() if k.endswith("_")})
