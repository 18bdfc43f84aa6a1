"""From the parameters of an estimator, checked together, to the `Plan` of its construction.

scikit-learn checks each parameter on its own, by `described`. Here an error says which parameters
do not go together, and what to write instead.
"""

import warnings
from dataclasses import replace
from numbers import Real
from typing import Any

import numpy as np
from sklearn.utils.validation import column_or_1d

from greedynet.activations import get_activation
from greedynet.estimators.shapes import extrapolates, layers_of, shape_of
from greedynet.fitting.plan import Limits, Plan
from greedynet.losses import Loss, Squared, can_be_corrected, get_loss, is_squared
from greedynet.model.bounds import OutputBounds
from greedynet.rows.blocks import Blocks
from greedynet.rows.rows import Rows
from greedynet.search import Dictionary
from greedynet.support.checks import check_labels, check_same_length, named
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


# Checks of parameters that depend on each other or on the data


def check_n_neurons(n_nodes: int | None, max_nodes: int | None, most_nodes: int) -> int:
    """Return the maximum number of neurons; the affine term counts as two nodes."""
    nodes = n_nodes or max_nodes or most_nodes
    if n_nodes is not None and max_nodes is not None and max_nodes < nodes:
        raise ValueError(
            f"`n_nodes` must be at most `max_nodes`, got n_nodes={n_nodes} and "
            f"max_nodes={max_nodes}: pass only one of them."
        )
    if nodes < 2:
        name = "max_nodes" if n_nodes is None else "n_nodes"
        raise ValueError(
            f"`{name}` must be at least 2, the nodes of the affine term, got {nodes}: write "
            f"{name}=2 for a line."
        )
    return nodes - 2


def check_search(search: Any, n_features: int) -> None:
    """Raise an error for a class, and for wrong parameters of a dictionary."""
    if isinstance(search, type):
        raise TypeError(
            f"`search` must be an object, got the class {search.__name__}: write "
            f"search={search.__name__}()."
        )
    if isinstance(search, Dictionary):
        search.check(n_features)


def check_loss(loss: Loss, given: Any, **changed: bool) -> None:
    """Raise an error for parameters of the squared loss that are changed, with another one."""
    for name in (name for name, used in changed.items() if used and loss != Squared()):
        raise ValueError(
            f'`{name}` requires loss="squared_error", got it with loss={given!r}: omit `{name}`.'
        )


def check_n_networks(n_networks: int | str, limits: Limits, *, correct: bool) -> int | None:
    """Return the number of networks to average, None for "auto"; as grown, none are averaged."""
    if n_networks == "auto":
        return None
    n, max_neurons = int(n_networks), limits.max_neurons
    if n > 1 and not correct:
        raise ValueError(
            f"`n_networks` requires corrected networks, got n_networks={n} with correct=False or a "
            "dictionary: write n_networks=1, or correct=True with the continuous search."
        )
    if n > max(1, max_neurons):
        raise ValueError(
            f"`n_networks` must be at most the number of neurons, which the networks share, got "
            f"n_networks={n} for {max_neurons}: write a larger max_nodes, or n_networks=1."
        )
    if limits.exact and max_neurons % n:
        raise ValueError(
            "`n_networks` must divide the number of neurons, which the networks share equally, got "
            f"n_networks={n} for {max_neurons}: write another n_nodes, or max_nodes instead."
        )
    return n


def check_select(select: Any, n_nodes: int | None) -> None:
    """Raise an error for a choice where the number of nodes is given."""
    if n_nodes is not None and select != "best":
        raise ValueError(
            f"`select` chooses the number of nodes, got select={select!r} with n_nodes={n_nodes}: "
            "write `max_nodes` instead of `n_nodes`, or omit `select`."
        )


def in_groups(groups: Any, data: Rows | Blocks, validation: Rows | None) -> Rows | Blocks:
    """Return the rows with their groups; raise an error where these would have no effect."""
    if groups is None:
        return data
    if validation is not None:
        raise ValueError(
            "`groups` must be passed without `X_val`, because it determines folds, got it with "
            "`X_val`: validate on whole groups, and omit `groups`."
        )
    if not isinstance(data, Rows):
        raise ValueError(
            f"`groups` needs all rows in memory, got {len(data):,} rows in blocks: pass "
            "arrays, or whole groups as `X_val` and `y_val`."
        )
    with named("groups"):
        labels = column_or_1d(groups)
    check_labels(labels, "groups", what="group")
    check_same_length(X=data.X, groups=labels)
    return replace(data, groups=np.unique(labels, return_inverse=True)[1])


def check_cv(cv: Any, validation: Rows | None) -> None:
    """Raise an error for folds beside a validation set."""
    if cv is not None and validation is not None:
        raise ValueError(
            f"`cv` must be None where validation rows are given, got cv={cv!r} with `X_val`: omit "
            "one of them."
        )


def check_in_blocks(data: Blocks, **needed: bool) -> None:
    """Raise an error for parameters that need all rows in memory, if they are used."""
    for name in (name for name, used in needed.items() if used):
        raise ValueError(
            f"`{name}` needs all rows in memory, got {len(data):,} rows in blocks: omit "
            f"`{name}`, or pass arrays; pass validation data as `X_val` and `y_val`."
        )


def check_reproducible(random_state: Any, max_seconds: float | None) -> None:
    """Raise an error for a checkpoint of a fit that could not be repeated."""
    if max_seconds is not None:
        raise ValueError(
            f"`checkpoint` needs a reproducible fit, got max_seconds={max_seconds}: what is left "
            "out for lack of time would be missing when the fit is resumed. Write "
            "max_seconds=None, or fit without a checkpoint."
        )
    if random_state is None:
        raise ValueError(
            "`checkpoint` needs a reproducible fit, got random_state=None, which gives a "
            "different fit every time: write random_state=0, or any other integer."
        )


def check_coverage(coverage: Any) -> float:
    """Return a share of new rows between 0 and 1, or raise an error."""
    is_number = isinstance(coverage, Real) and not isinstance(coverage, bool)
    if not is_number or not 0 < coverage < 1:
        raise ValueError(
            "`coverage` must be a number between 0 and 1, both excluded, such as 0.9 for 90 % of "
            f"new rows, got {coverage!r}."
        )
    return float(coverage)
