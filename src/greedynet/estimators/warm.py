"""`WarmStart`: the network of an earlier fit, from which the growth of the next one goes on.

With `warm_start=True`, a second `fit` grows `g + c sigma(a . x + b) + ...` from the fitted network
`g`: its neurons come first, those with the largest weights before others, new ones are searched for
on the residual, and all outer weights are solved anew. Then all neurons are corrected jointly and
pruned, as in every fit with `correct=True`.

What held-out rows say must not come from neurons that have seen them. So the errors to expect are
those of networks that folds grow from nothing. The width is requested by `n_nodes`; a regressor
also chooses one up to `max_nodes`, by validation rows or, without any, by folds in which networks
grow from nothing; then it is at least that of the fitted network.
"""

from dataclasses import dataclass, replace
from hashlib import sha256
from typing import Any

import numpy as np
from numpy.typing import NDArray

from greedynet.fitting.plan import Plan
from greedynet.losses import is_squared
from greedynet.model.any_network import Network
from greedynet.model.deep_network import DeepNetwork
from greedynet.model.network import ShallowNetwork


@dataclass(frozen=True, eq=False)
class WarmStart:
    """A fitted network.

    Attributes
    ----------
    network : ShallowNetwork
    classes : ndarray or None
        The classes of a classifier.
    """

    network: ShallowNetwork
    classes: NDArray[Any] | None

    @staticmethod
    def of(model: Any) -> "WarmStart | None":
        """Return the network of an earlier fit, if the growth shall go on from it."""
        network: Network | None = getattr(model, "network_", None)
        if not model.warm_start or network is None:
            return None
        if isinstance(network, DeepNetwork) or model.hidden_layers not in (None, 1):
            got = 2 if isinstance(network, DeepNetwork) else model.hidden_layers
            raise _refusal("one hidden layer", repr(got), "ramps of columns do not grow on")
        if not isinstance(model.search, str):
            got = type(model.search).__name__
            raise _refusal("a search by name", got, "own searches take no given neurons")
        return WarmStart(network, getattr(model, "classes_", None))

    def continued(self, plan: Plan, n_features: int, n_outputs: int) -> Plan:
        """Return the plan that goes on from the network; raise an error if it cannot.

        Parameters
        ----------
        plan : Plan
        n_features, n_outputs : int
            Of the rows of the next fit.
        """
        old = self.network
        for what, got, wanted in (
            ("columns of `X`", n_features, old.n_features),
            ("outputs", n_outputs, old.n_outputs),
            ("the activation", plan.activation.name, old.activation.name),
            ("`linear_term`", plan.linear_term, old.has_affine_term),
        ):
            if got != wanted:
                raise _refusal(f"{what} as before, {wanted}", str(got), "the network has these")
        if not is_squared(plan.loss):
            raise _refusal('loss="squared"', repr(plan.loss.name), "other losses grow in rounds")
        if plan.n_networks not in (None, 1):
            raise _refusal("one network", f"n_networks={plan.n_networks}", "an average is one")
        if plan.limits.max_neurons < old.n_neurons:
            affine = 2 if plan.linear_term else 0
            most = plan.limits.max_neurons + affine
            raise _refusal(
                f"`n_nodes` or `max_nodes` of at least {old.n_neurons + affine}, the nodes so far",
                str(most),
                "`truncate` gives fewer",
            )
        return replace(plan, start=old)

    def of_classes(self, plan: Plan, classes: NDArray[Any], n_features: int) -> Plan:
        """Return the plan of a classifier that goes on from the network."""
        if self.classes is None or not np.array_equal(self.classes, classes):
            known = None if self.classes is None else self.classes.tolist()
            got = str(classes.tolist())
            raise _refusal(f"the classes as before, {known}", got, "the network has these")
        if not plan.limits.exact:
            raise _refusal("`n_nodes`", "None", "networks of a chosen width grow in stages")
        return self.continued(plan, n_features, self.network.n_outputs)


def network_digest(network: Network) -> str:
    """Return a text that differs between networks, for checkpoints."""
    over = network.over if isinstance(network, DeepNetwork) else network
    arrays = (over.inner_weights, over.biases, over.outer_weights)
    return sha256(b"".join(array.tobytes() for array in arrays)).hexdigest()


def _refusal(wanted: str, got: str, why: str) -> ValueError:
    return ValueError(
        f"`warm_start=True` on a fitted estimator needs {wanted}, got {got} ({why}): write "
        "warm_start=False to fit from nothing."
    )
