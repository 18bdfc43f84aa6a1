"""From the parameters of an estimator, checked together, to the `Plan` of its construction."""

import warnings
from typing import Any

from greedynet.activations import get_activation
from greedynet.estimators.parameters import (
    check_loss,
    check_n_networks,
    check_points,
    check_search,
)
from greedynet.estimators.shapes import extrapolates, layers_of, shape_of
from greedynet.fitting.plan import Limits, Plan
from greedynet.losses import Loss, Squared, can_be_corrected, get_loss, is_squared
from greedynet.model.bounds import OutputBounds
from greedynet.rows.blocks import Blocks
from greedynet.rows.rows import Rows
from greedynet.search.ridgelet import THRESHOLD, check_dimension
from greedynet.support.errors import NotCorrectedWarning


def regression_plan(
    model: Any,
    rows: Rows | Blocks,
    limits: Limits,
    seed: int,
    bounds: OutputBounds | None = None,
    *,
    single_output: bool,
) -> Plan:
    """Return the plan of a regressor.

    Parameters
    ----------
    model : GreedyNetRegressor
    rows : Rows or Blocks
    limits : Limits
    seed : int
    bounds : OutputBounds or None
        What the outputs may not leave.
    single_output : bool
        Whether the outputs are one column, as given.
    """
    if model.reduction is not None:
        check_dimension(rows.n_features)
    of_dictionary = {
        "reduction": model.reduction is not None,
        "weakness": model.weakness != 1.0,
        "rule": model.rule != "ols",
    }
    shared = _shared(model, rows, limits, seed, of_dictionary)
    loss = get_loss(model.loss, model.quantile)
    correct = bool(model.correct) and model.search != "dictionary"
    if correct and is_squared(loss):
        # The same norm in another form; the correction of least squares is the best.
        loss = Squared()
    check_loss(
        loss,
        model.loss,
        # Networks for another loss have no ridge as grown, and one of their own when corrected.
        alpha=model.alpha != "auto" and (correct or model.alpha != 0),
        weakness=model.weakness != 1.0,
        n_networks=model.n_networks not in ("auto", 1),
    )
    n_networks = check_n_networks(model.n_networks, limits, correct=correct)
    return Plan(
        **shared,
        correct=correct and _is_correctable(loss, rows.n_outputs),
        rule=model.rule,
        weakness=float(model.weakness),
        reduction=THRESHOLD if model.reduction == "ridgelet" else model.reduction,
        loss=loss,
        n_networks=n_networks,
        single_output=single_output,
        bounds=bounds,
    )


def classification_plan(
    model: Any, rows: Rows | Blocks, limits: Limits, seed: int, bounds: OutputBounds | None = None
) -> Plan:
    """Return the plan of a classifier.

    Parameters
    ----------
    model : GreedyNetClassifier
    rows : Rows or Blocks
        With classes as unit vectors.
    limits : Limits
    seed : int
    bounds : OutputBounds or None
        What the logit of the second of two classes may not leave.
    """
    return Plan(
        **_shared(model, rows, limits, seed, {}),
        correct=bool(model.correct),
        single_output=rows.n_outputs == 1,
        bounds=bounds,
    )


def _shared(
    model: Any, rows: Rows | Blocks, limits: Limits, seed: int, of_dictionary: dict[str, bool]
) -> dict[str, Any]:
    """Return what the plans of both estimators have in common."""
    activation = get_activation(model.activation)
    check_search(
        model.search,
        points=model.points is not None,
        n_points=model.n_points is not None,
        **of_dictionary,
    )
    if model.points is not None and model.hidden_layers == 2:
        raise ValueError(
            "`points` are neurons over the columns, got hidden_layers=2: write hidden_layers=1, or "
            "omit `points`."
        )
    return {
        "limits": limits,
        "select": model.select,
        "hidden_layers": layers_of(model),
        "search": model.search,
        "points": check_points(model.points, rows.n_features),
        "n_points": model.n_points,
        "min_active": model.min_active,
        "linear_term": bool(model.linear_term),
        "alpha": None if model.alpha == "auto" else float(model.alpha),
        "activation": activation,
        "memory_budget": int(model.memory_budget),
        "random_state": seed,
        "settings": model._settings.fit,
        "extrapolate": extrapolates(model),
        "shape": shape_of(model, rows.n_features, rows.n_outputs),
    }


def _is_correctable(loss: Loss, n_outputs: int) -> bool:
    """Whether neurons can be corrected for the loss; a warning explains why not."""
    if n_outputs > 1 and not is_squared(loss):
        return False  # row weights apply to all outputs, but each would need its own
    if not can_be_corrected(loss):
        warnings.warn(
            f"The network is kept as grown: `loss={loss.name!r}` does not define row weights, "
            "so its neurons cannot be corrected. Add `row_weights(residuals, weights)` to it, "
            "or write `correct=False`.",
            NotCorrectedWarning,
            stacklevel=5,
        )
        return False
    return True
