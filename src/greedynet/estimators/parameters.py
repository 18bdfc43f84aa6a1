"""Checks of parameters that depend on each other or on the data.

scikit-learn checks each parameter on its own (`_parameter_constraints`). Here an error says which
parameters do not go together, and what to write instead.
"""

from dataclasses import replace
from numbers import Real
from typing import Any

import numpy as np
from sklearn.utils.validation import column_or_1d

from greedynet.fitting.plan import Limits
from greedynet.losses import Loss, Squared
from greedynet.rows.blocks import Blocks
from greedynet.rows.rows import Rows
from greedynet.search import Dictionary
from greedynet.support.checks import check_labels, check_same_length, named


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
    """Raise an error for parameters that require the squared loss.

    Parameters
    ----------
    loss : Loss
    given : str, float or Loss
        The parameter `loss`.
    **changed
        Parameters of the squared loss, and whether they differ from their defaults.
    """
    for name in (name for name, used in changed.items() if used and loss != Squared()):
        raise ValueError(
            f'`{name}` requires loss="squared_error", got it with loss={given!r}: omit `{name}`.'
        )


def check_n_networks(n_networks: int | str, limits: Limits, *, correct: bool) -> int | None:
    """Return the number of networks to average, None for "auto".

    Parameters
    ----------
    n_networks : int or "auto"
    limits : Limits
        With the number of neurons that they share.
    correct : bool
        Whether they are corrected: networks as grown are not averaged.
    """
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
    """Raise an error for parameters that need all rows in memory.

    Parameters
    ----------
    data : Blocks
    **needed
        Such parameters, and whether they are used.
    """
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
