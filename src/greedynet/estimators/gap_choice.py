"""Indicators of gaps, or the mean alone: held-out rows decide.

Gaps may tell something about the outputs, and a network of more inputs still be worse. So where
`rows.missing` finds informative gaps, the network is fitted with their indicators and without, and
that of the smaller expected error on new rows is kept.
"""

import warnings
from typing import Any

import numpy as np

from greedynet.estimators.checkpoint import checkpoint
from greedynet.rows.blocks import gives_blocks


def expects_less(one: Any, other: Any) -> bool:
    """Whether a fitted estimator expects a smaller error on new rows than another one.

    Of several outputs, the geometric mean of the errors counts, in which units do not matter.
    """
    errors = (one.expected_error_, other.expected_error_)
    if any(error is None for error in errors):
        return False
    logs = [np.log(np.maximum(error, np.finfo(np.float64).tiny)) for error in errors]
    return bool(np.mean(logs[0] - logs[1]) < 0)


def keep_indicators_if_better(model: Any, X: Any, y: Any, weights: Any, **more: Any) -> None:
    """Fit without indicators, too, and keep the better of both fits in `model`.

    Not for rows in blocks, where a fit is long, nor with `max_seconds`: the indicators then stay.
    The second fit has no checkpoint.
    """
    filling = getattr(model, "filling_", None)
    if filling is None or not filling.indicated.any() or model.max_seconds is not None:
        return
    if gives_blocks(X, y):
        return
    plain = type(model)(**model.get_params(deep=False))
    plain.set_progress(model._on_neuron, model._on_stage)
    plain._indicates = False
    with warnings.catch_warnings(), checkpoint(None):
        warnings.simplefilter("ignore")  # those of the first fit have been seen
        plain.fit(X, y, weights, **more)
    if expects_less(plain, model):
        fitted = [name for name in vars(model) if name.endswith("_") and name[0] != "_"]
        for name in fitted:
            delattr(model, name)
        vars(model).update({k: v for k, v in vars(plain).items() if k.endswith("_")})
