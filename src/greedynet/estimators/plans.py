"""From the parameters of an estimator, checked together, to the `Plan` of its construction."""

import warnings
from typing import Any

from greedynet.activations import get_activation
from greedynet.estimators.parameters import (
    check_loss,
    check_n_networks,
    check_search,
)
from greedynet.estimators.shapes import extrapolates, layers_of, shape_of
from greedynet.fitting.plan import Limits, Plan
from greedynet.losses import Loss, Squared, can_be_corrected, get_loss, is_squared
from greedynet.model.bounds import OutputBounds
from greedynet.rows.blocks import Blocks
from greedynet.rows.rows import Rows
from greedynet.search import Dictionary
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
    """Return the plan of a regressor; `single_output` says whether `y` has one dimension."""
    shared, loss, search = _shared(model, rows, limits, seed), get_loss(model.loss), model.search
    of_dictionary = isinstance(search, Dictionary) or search == "dictionary"
    correct = bool(model.correct) and not of_dictionary
    if correct and is_squared(loss):
        # The same norm in another form; the correction of least squares is the best.
        loss = Squared()
    check_loss(
        loss,
        model.loss,
        # Networks for another loss have no ridge as grown, and one of their own when corrected.
        alpha=model.alpha != "auto" and (correct or model.alpha != 0),
        weakness=isinstance(search, Dictionary) and search.weakness != 1.0,
        n_networks=model.n_networks not in ("auto", 1),
    )
    n_networks = check_n_networks(model.n_networks, limits, correct=correct)
    return Plan(
        **shared,
        correct=correct and _is_correctable(loss, rows.n_outputs),
        loss=loss,
        n_networks=n_networks,
        single_output=single_output,
        bounds=bounds,
    )


def classification_plan(model: Any, rows: Rows | Blocks, limits: Limits, seed: int) -> Plan:
    """Return the plan of a classifier, for rows with classes as unit vectors."""
    return Plan(
        **_shared(model, rows, limits, seed),
        correct=bool(model.correct),
        single_output=rows.n_outputs == 1,
    )


def _shared(model: Any, rows: Rows | Blocks, limits: Limits, seed: int) -> dict[str, Any]:
    """Return what the plans of both estimators have in common."""
    activation = get_activation(model.activation)
    check_search(model.search, rows.n_features)
    if getattr(model.search, "points", None) is not None and model.hidden_layers == 2:
        raise ValueError(
            "`points` are neurons over the columns, got hidden_layers=2: write hidden_layers=1, or "
            "omit `points`."
        )
    return {
        "limits": limits,
        "select": model.select,
        "hidden_layers": layers_of(model),
        "search": model.search,
        "alpha": None if model.alpha == "auto" else float(model.alpha),
        "activation": activation,
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
            stacklevel=6,
        )
        return False
    return True
